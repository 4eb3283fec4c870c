/* image.h -- what the codecs share.  A codec works on bytes in memory: reading gives rows to an Image, writing gets
 * Pixels.
 *
 * Files are not trusted.  qimage_begin refuses extents that so few bytes cannot hold before it takes memory. */
#ifndef STDLIB_IMAGE_H
#define STDLIB_IMAGE_H
#include "stdlib/stdlib.h"

typedef struct Image { /* being read */
    qs_vm *vm;
    const char *fn, *path; /* as messages call them */
    const uint8_t *bytes;
    size_t nbytes;
    int page; /* wanted; TIFF only */
    int64_t height, width;
    int channels;     /* in a row of the file, alpha included */
    bool has_alpha;   /* the last one is */
    int depth, pages; /* for imfinfo */
    const char *format;
    bool info_only;          /* stop after the header */
    qs_value picture, alpha; /* owned; scalar arrays */
} Image;

/* After the header.  false: stop, with *status; true: give the rows. */
bool qimage_begin(Image *m, int64_t height, int64_t width, int channels, bool has_alpha, int depth, qs_status *status);
qs_status qimage_row(Image *m, int64_t y, qs_dtype d, const void *row); /* width*channels samples */
qs_status qimage_corrupt(Image *m, const char *why);                    /* QS_EVALUE with path and format */

typedef struct Pixels { /* to be written: height*width*channels samples of bits/8 bytes, host byte order */
    qs_vm *vm;
    const char *path;
    int64_t height, width;
    int channels, bits; /* 8, 16; 32: float (TIFF) */
    int quality;        /* JPEG, 1 … 100 */
    uint8_t *data;
    size_t size;
} Pixels;

typedef qs_status ImageReader(Image *m);
typedef qs_status ImageWriter(const Pixels *pages, int n, Text *out);
ImageReader qimage_png_read, qimage_jpeg_read, qimage_tiff_read, qimage_bmp_read;
ImageWriter qimage_png_write, qimage_jpeg_write, qimage_tiff_write, qimage_bmp_write;
/* A warning when n floats, of what is shown or written with `white` as white, are all in [0,1], and some a fraction.
 * otherwise: "", or what may be written instead of a product. */
qs_status qimage_check_white(qs_vm *vm, const char *fn, const char *what, qs_dtype d, const void *x, size_t n,
                             double white, const char *otherwise);
/* Whether the library for it can be opened.  Where it cannot, why: */
bool qimage_png_here(void), qimage_jpeg_here(void), qimage_tiff_here(void);
#define QIMAGE_UNBUILT "its header was not there when this was built"
qs_status qimage_unread(const Image *m, const char *what, const char *library, const char *why);
qs_status qimage_unwritten(const Pixels *x, const char *library, const char *why);
#endif
