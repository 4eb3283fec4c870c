/* image_png.c -- reads and writes PNG with libpng. */
#include "stdlib/image.h"

#include <string.h>

#ifdef QUASAR_PNG
#include <png.h>
#include <setjmp.h>

#define LAZY      libpng
#define LAZY_API  "stdlib/png_api.def"
#define LAZY_FILE QUASAR_PNG
#include "vm/base/lazy_library.h"
#include "vm/program/python.h"

#define jump_of(png) (*libpng.png_set_longjmp_fn(png, longjmp, sizeof(jmp_buf)))

/* libpng reports errors by longjmp.  Data that must survive a jump is here, in the frame above the one that calls
 * setjmp. */
typedef struct {
    Image *m;
    size_t at;
    char why[160];
    png_structp png;
    png_infop info;
    png_bytep pixels;
    size_t size;
} Codec;

static void raise_error(png_structp png, png_const_charp why) {
    Codec *c = libpng.png_get_error_ptr(png);
    snprintf(c->why, sizeof c->why, "%s", why);
    longjmp(jump_of(png), 1);
}
static void ignore(png_structp png, png_const_charp why) { (void)png, (void)why; }

static void feed(png_structp png, png_bytep out, size_t n) {
    Codec *c = libpng.png_get_io_ptr(png);
    if (n > c->m->nbytes - c->at) libpng.png_error(png, "it ends too early");
    memcpy(out, c->m->bytes + c->at, n);
    c->at += n;
}

static qs_status decode_rows(Codec *c) {
    Image *m = c->m;
    png_structp png = c->png;
    libpng.png_read_info(png, c->info);
    qs_dtype d = libpng.png_get_bit_depth(png, c->info) == 16 ? QS_U16 : QS_U8;
    libpng.png_set_expand(png); /* palettes, 1 to 4 bit gray, transparent colours */
    if (d == QS_U16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) libpng.png_set_swap(png);
    int passes = libpng.png_set_interlace_handling(png);
    libpng.png_read_update_info(png, c->info);
    int channels = libpng.png_get_channels(png, c->info);
    int64_t width = libpng.png_get_image_width(png, c->info), height = libpng.png_get_image_height(png, c->info);
    qs_status s;
    if (!qimage_begin(m, height, width, channels, channels % 2 == 0, d == QS_U16 ? 16 : 8, &s)) return s;
    size_t row = libpng.png_get_rowbytes(png, c->info), size = qmem_size((size_t)height, row, 0);
    c->pixels = qmem_try(qvm_ctx(m->vm), size), c->size = size;
    if (!c->pixels) return qs_fail(m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", m->fn, size);
    memset(c->pixels, 0, size); /* the passes of an interlaced file fill it gradually */
    Doing *doing = &qvm_ctx(m->vm)->doing;
    qdoing_stage(doing, 0, 0.8f, passes * height);
    for (; passes > 0; passes--)
        for (int64_t y = 0; y < height; y++, qdoing_add(doing, 1)) {
            libpng.png_read_row(png, c->pixels + (size_t)y * row, NULL);
            TRY(qthread_safe_point(m->vm));
        }
    qdoing_stage(doing, 0.8f, 1, height);
    for (int64_t y = 0; y < height && s == QS_OK; y++) s = qimage_row(m, y, d, c->pixels + (size_t)y * row);
    return s;
}

static qs_status guarded_read(Codec *c) {
    if (setjmp(jump_of(c->png))) return qimage_corrupt(c->m, c->why);
    return decode_rows(c);
}

qs_status qimage_png_read(Image *m) {
    Codec c = {.m = m};
    m->format = "png";
    if (missing()) return qimage_unread(m, "PNG", "libpng", missing());
    c.png = libpng.png_create_read_struct(PNG_LIBPNG_VER_STRING, &c, raise_error, ignore);
    c.info = c.png ? libpng.png_create_info_struct(c.png) : NULL;
    if (!c.info)
        return libpng.png_destroy_read_struct(&c.png, NULL, NULL),
               qs_fail(m->vm, QS_ENOMEM, "%s: libpng is out of memory", m->fn);
    libpng.png_set_read_fn(c.png, &c, feed);
    libpng.png_set_user_limits(c.png, 1 << 24, 1 << 24);
    qs_status s = guarded_read(&c);
    if (c.pixels) qmem_try_free(qvm_ctx(m->vm), c.pixels, c.size);
    libpng.png_destroy_read_struct(&c.png, &c.info, NULL);
    return s;
}

static void drain(png_structp png, png_bytep p, size_t n) { qtext_add(libpng.png_get_io_ptr(png), (const char *)p, n); }
static void flush(png_structp png) { (void)png; }

static qs_status guarded_write(Codec *c, const Pixels *x) {
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(jump_of(c->png))) return qs_fail(x->vm, QS_EVALUE, "imwrite: %s: %s", x->path, c->why);
    libpng.png_set_user_limits(c->png, 1 << 24, 1 << 24);
    libpng.png_set_IHDR(c->png, c->info, (png_uint_32)x->width, (png_uint_32)x->height, x->bits, types[x->channels],
                        PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    libpng.png_write_info(c->png, c->info);
    if (x->bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) libpng.png_set_swap(c->png);
    size_t row = x->size / (size_t)x->height;
    qdoing_stage(&qvm_ctx(x->vm)->doing, 0, 1, x->height);
    for (int64_t y = 0; y < x->height; y++, qdoing_add(&qvm_ctx(x->vm)->doing, 1)) {
        libpng.png_write_row(c->png, x->data + (size_t)y * row);
        TRY(qthread_safe_point(x->vm));
    }
    libpng.png_write_end(c->png, c->info);
    return QS_OK;
}

qs_status qimage_png_write(const Pixels *x, int n, Text *out) {
    (void)n;
    Codec c = {.m = NULL};
    if (missing()) return qimage_unwritten(x, "libpng", missing());
    c.png = libpng.png_create_write_struct(PNG_LIBPNG_VER_STRING, &c, raise_error, ignore);
    c.info = c.png ? libpng.png_create_info_struct(c.png) : NULL;
    if (!c.info)
        return libpng.png_destroy_write_struct(&c.png, NULL),
               qs_fail(x->vm, QS_ENOMEM, "imwrite: libpng is out of memory");
    libpng.png_set_write_fn(c.png, out, drain, flush);
    qs_status s = guarded_write(&c, x);
    libpng.png_destroy_write_struct(&c.png, &c.info);
    return s;
}

bool qimage_png_here(void) { return !missing(); }
#else
qs_status qimage_png_read(Image *m) { return qimage_unread(m, "PNG", "libpng", QIMAGE_UNBUILT); }
qs_status qimage_png_write(const Pixels *x, int n, Text *out) {
    return (void)n, (void)out, qimage_unwritten(x, "libpng", QIMAGE_UNBUILT);
}
bool qimage_png_here(void) { return false; }
#endif
