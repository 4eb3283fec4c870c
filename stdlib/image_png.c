/* image_png.c -- PNG through libpng. */
#include "stdlib/image.h"

#include <string.h>

#ifdef QUASAR_HAVE_PNG
#include <png.h>
#include <setjmp.h>

/* Errors of libpng jump.  What must survive a jump lives here, in the frame above the one that calls setjmp. */
typedef struct {
    Image *m;
    size_t at;
    char why[160];
    png_structp png;
    png_infop info;
    png_bytep pixels;
    size_t size;
} Codec;

static void fail(png_structp png, png_const_charp why) {
    Codec *c = png_get_error_ptr(png);
    snprintf(c->why, sizeof c->why, "%s", why);
    longjmp(png_jmpbuf(png), 1);
}
static void ignore(png_structp png, png_const_charp why) { (void)png, (void)why; }

static void feed(png_structp png, png_bytep out, size_t n) {
    Codec *c = png_get_io_ptr(png);
    if (n > c->m->nbytes - c->at) png_error(png, "it ends too early");
    memcpy(out, c->m->bytes + c->at, n);
    c->at += n;
}

static qs_status decode(Codec *c) {
    Image *m = c->m;
    png_structp png = c->png;
    png_read_info(png, c->info);
    qs_dtype d = png_get_bit_depth(png, c->info) == 16 ? QS_U16 : QS_U8;
    png_set_expand(png); /* palettes, 1 to 4 bit gray, transparent colours */
    if (d == QS_U16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) png_set_swap(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, c->info);
    int channels = png_get_channels(png, c->info);
    int64_t width = png_get_image_width(png, c->info), height = png_get_image_height(png, c->info);
    qs_status s;
    if (!qimage_begin(m, height, width, channels, channels % 2 == 0, d == QS_U16 ? 16 : 8, &s)) return s;
    size_t row = png_get_rowbytes(png, c->info), size = row * (size_t)height;
    c->pixels = qmem_try(qvm_ctx(m->vm), size), c->size = size;
    if (!c->pixels) return qs_fail(m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", m->fn, size);
    memset(c->pixels, 0, size); /* the passes of an interlaced file fill it in turn */
    for (; passes > 0; passes--)
        for (int64_t y = 0; y < height; y++) png_read_row(png, c->pixels + (size_t)y * row, NULL);
    for (int64_t y = 0; y < height && s == QS_OK; y++) s = qimage_row(m, y, d, c->pixels + (size_t)y * row);
    return s;
}

static qs_status guarded_read(Codec *c) {
    if (setjmp(png_jmpbuf(c->png))) return qimage_corrupt(c->m, c->why);
    return decode(c);
}

qs_status qimage_png_read(Image *m) {
    Codec c = {.m = m};
    m->format = "png";
    c.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &c, fail, ignore);
    c.info = c.png ? png_create_info_struct(c.png) : NULL;
    if (!c.info)
        return png_destroy_read_struct(&c.png, NULL, NULL),
               qs_fail(m->vm, QS_ENOMEM, "%s: libpng is out of memory", m->fn);
    png_set_read_fn(c.png, &c, feed);
    png_set_user_limits(c.png, 1 << 24, 1 << 24);
    qs_status s = guarded_read(&c);
    if (c.pixels) qmem_try_free(qvm_ctx(m->vm), c.pixels, c.size);
    png_destroy_read_struct(&c.png, &c.info, NULL);
    return s;
}

static void drain(png_structp png, png_bytep p, size_t n) { qtext_add(png_get_io_ptr(png), (const char *)p, n); }
static void flush(png_structp png) { (void)png; }

static qs_status guarded_write(Codec *c, const Pixels *x) {
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(c->png))) return qs_fail(x->vm, QS_EVALUE, "imwrite: %s: %s", x->path, c->why);
    png_set_user_limits(c->png, 1 << 24, 1 << 24);
    png_set_IHDR(c->png, c->info, (png_uint_32)x->width, (png_uint_32)x->height, x->bits, types[x->channels],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(c->png, c->info);
    if (x->bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) png_set_swap(c->png);
    size_t row = x->size / (size_t)x->height;
    for (int64_t y = 0; y < x->height; y++) png_write_row(c->png, x->data + (size_t)y * row);
    png_write_end(c->png, c->info);
    return QS_OK;
}

qs_status qimage_png_write(const Pixels *x, int n, Text *out) {
    (void)n;
    Codec c = {.m = NULL};
    c.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &c, fail, ignore);
    c.info = c.png ? png_create_info_struct(c.png) : NULL;
    if (!c.info)
        return png_destroy_write_struct(&c.png, NULL), qs_fail(x->vm, QS_ENOMEM, "imwrite: libpng is out of memory");
    png_set_write_fn(c.png, out, drain, flush);
    qs_status s = guarded_write(&c, x);
    png_destroy_write_struct(&c.png, &c.info);
    return s;
}
#else
qs_status qimage_png_read(Image *m) {
    return qs_fail(m->vm, QS_EVALUE, "%s: %s is a PNG file; this build has no libpng", m->fn, m->path);
}
qs_status qimage_png_write(const Pixels *x, int n, Text *out) {
    (void)n, (void)out;
    return qs_fail(x->vm, QS_EVALUE, "imwrite: this build has no libpng; .ppm and .pgm always work");
}
#endif
