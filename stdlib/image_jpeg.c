/* image_jpeg.c -- reads and writes JPEG with libjpeg-turbo. */
#include "stdlib/bytes.h"
#include "stdlib/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef QUASAR_JPEG
#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>

#define LAZY      libjpeg
#define LAZY_API  "stdlib/jpeg_api.def"
#define LAZY_FILE QUASAR_JPEG
#include "vm/base/lazy_library.h"
#include "vm/program/python.h"

/* libjpeg reports errors by longjmp.  Data that must survive a jump is in the frame above the one that calls setjmp. */
typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf jump;
    char why[JMSG_LENGTH_MAX];
} Errors;

static void raise_error(j_common_ptr j) {
    Errors *e = (Errors *)(void *)j->err;
    j->err->format_message(j, e->why);
    longjmp(e->jump, 1);
}
static void ignore(j_common_ptr j) { (void)j; }
/* Refuses files whose pixels are missing, which libjpeg would make gray; other warnings are ignored. */
static void check_warning(j_common_ptr j, int level) {
    int code = j->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) raise_error(j);
}

static struct jpeg_error_mgr *handlers(Errors *e) {
    libjpeg.jpeg_std_error(&e->base);
    e->base.error_exit = raise_error, e->base.output_message = ignore, e->base.emit_message = check_warning;
    return &e->base;
}

/* Converts Adobe's inverted CMYK to RGB, in place. */
static void rgb_of_cmyk(JSAMPLE *row, int64_t width) {
    for (int64_t i = 0; i < width; i++)
        for (int k = 0; k < 3; k++) row[3 * i + k] = (JSAMPLE)(row[4 * i + k] * row[4 * i + 3] / 255);
}

/* Finds the orientation, 1 to 8, in the data that cameras add: a TIFF file after "Exif" and two NUL bytes. */
static int exif_orientation(const uint8_t *p, size_t n) {
    if (n < 14 || memcmp(p, "Exif\0\0", 6) != 0) return 1;
    const ByteReader tiff = {.p = p + 6, .n = n - 6, .swapped = p[6] == 'M'};
    ByteReader b = tiff;
    qbytes_take(&b, 4);
    uint64_t at = qbytes_number(&b, 4);
    b = tiff;
    qbytes_take(&b, at);
    for (uint64_t count = qbytes_number(&b, 2); count > 0 && !b.short_of; count--) {
        uint64_t tag = qbytes_number(&b, 2), type = qbytes_number(&b, 2);
        qbytes_take(&b, 4);
        uint64_t value = qbytes_number(&b, 2);
        qbytes_take(&b, 2);
        if (tag == 0x112 && type == 3 && value >= 1 && value <= 8) return (int)value;
    }
    return 1;
}

static qs_status decode_rows(Image *m, struct jpeg_decompress_struct *j) {
    libjpeg.jpeg_mem_src(j, m->bytes, m->nbytes);
    libjpeg.jpeg_save_markers(j, JPEG_APP0 + 1, 0xFFFF);
    libjpeg.jpeg_read_header(j, TRUE);
    for (jpeg_saved_marker_ptr x = j->marker_list; x && m->orientation == 1; x = x->next)
        m->orientation = exif_orientation(x->data, x->data_length);
    bool cmyk = j->jpeg_color_space == JCS_CMYK || j->jpeg_color_space == JCS_YCCK;
    bool gray = j->jpeg_color_space == JCS_GRAYSCALE;
    j->out_color_space = cmyk ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
    qs_status s;
    if (!qimage_begin(m, j->image_height, j->image_width, gray ? 1 : 3, false, 8, &s)) return s;
    libjpeg.jpeg_start_decompress(j);
    JSAMPARRAY row =
        j->mem->alloc_sarray((j_common_ptr)j, JPOOL_IMAGE, j->output_width * (JDIMENSION)j->output_components, 1);
    while (s == QS_OK && j->output_scanline < j->output_height) {
        int64_t y = j->output_scanline;
        libjpeg.jpeg_read_scanlines(j, row, 1);
        if (cmyk) rgb_of_cmyk(row[0], m->width);
        s = qimage_row(m, y, QS_U8, row[0]);
    }
    return s;
}

static qs_status guarded_decode(Image *m, struct jpeg_decompress_struct *j, Errors *e) {
    if (setjmp(e->jump)) return qimage_corrupt(m, e->why);
    libjpeg.jpeg_CreateDecompress(j, JPEG_LIB_VERSION, sizeof *j);
    return decode_rows(m, j);
}

qs_status qimage_jpeg_read(Image *m) {
    struct jpeg_decompress_struct j = {0}; /* zeroed: it may be destroyed before it is created */
    Errors e;
    m->format = "jpeg";
    if (missing()) return qimage_unread(m, "JPEG", "libjpeg", missing());
    j.err = handlers(&e);
    qs_status s = guarded_decode(m, &j, &e);
    libjpeg.jpeg_destroy_decompress(&j);
    return s;
}

typedef struct {
    unsigned char *p;
    unsigned long n;
} Block;

static qs_status encode(const Pixels *x, struct jpeg_compress_struct *j, Block *out) {
    libjpeg.jpeg_mem_dest(j, &out->p, &out->n);
    j->image_width = (JDIMENSION)x->width, j->image_height = (JDIMENSION)x->height;
    j->input_components = x->channels;
    j->in_color_space = x->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    libjpeg.jpeg_set_defaults(j);
    libjpeg.jpeg_set_quality(j, x->quality, TRUE);
    if (x->quality >= 90) j->comp_info[0].h_samp_factor = j->comp_info[0].v_samp_factor = 1; /* no chroma subsampling */
    libjpeg.jpeg_start_compress(j, TRUE);
    qdoing_stage(&qvm_ctx(x->vm)->doing, 0, 1, x->height);
    for (; j->next_scanline < j->image_height; qdoing_add(&qvm_ctx(x->vm)->doing, 1)) {
        JSAMPROW row = x->data + (size_t)j->next_scanline * (size_t)x->width * (size_t)x->channels;
        libjpeg.jpeg_write_scanlines(j, &row, 1);
        TRY(qthread_safe_point(x->vm));
    }
    libjpeg.jpeg_finish_compress(j);
    return QS_OK;
}

static qs_status guarded_encode(const Pixels *x, struct jpeg_compress_struct *j, Errors *e, Block *out) {
    if (setjmp(e->jump)) return qs_fail(x->vm, QS_EVALUE, "imwrite: %s: %s", x->path, e->why);
    libjpeg.jpeg_CreateCompress(j, JPEG_LIB_VERSION, sizeof *j);
    return encode(x, j, out);
}

qs_status qimage_jpeg_write(const Pixels *x, int n, Text *out) {
    (void)n;
    struct jpeg_compress_struct j = {0};
    Errors e;
    Block block = {NULL, 0};
    if (missing()) return qimage_unwritten(x, "libjpeg", missing());
    j.err = handlers(&e);
    qs_status s = guarded_encode(x, &j, &e, &block);
    if (s == QS_OK) qtext_add(out, (const char *)block.p, block.n);
    libjpeg.jpeg_destroy_compress(&j);
    free(block.p);
    return s;
}

bool qimage_jpeg_here(void) { return !missing(); }
#else
qs_status qimage_jpeg_read(Image *m) { return qimage_unread(m, "JPEG", "libjpeg", QIMAGE_UNBUILT); }
qs_status qimage_jpeg_write(const Pixels *x, int n, Text *out) {
    return (void)n, (void)out, qimage_unwritten(x, "libjpeg", QIMAGE_UNBUILT);
}
bool qimage_jpeg_here(void) { return false; }
#endif
