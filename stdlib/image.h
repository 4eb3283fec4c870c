/* image.h -- declares the interface that the image codecs share.  A codec works on bytes in memory: a reader passes
 * rows to an Image, a writer receives Pixels.
 *
 * Files are not trusted: before qimage_begin allocates memory, it refuses extents that so few bytes cannot contain. */
#ifndef STDLIB_IMAGE_H
#define STDLIB_IMAGE_H
#include "stdlib/stdlib.h"

typedef struct Image { /* an image that is being read */
    qs_vm *vm;
    const char *fn, *path; /* function and file named in messages */
    const uint8_t *bytes;
    size_t nbytes;
    int page; /* page or frame to read; TIFF and GIF */
    int64_t height, width;
    int channels;     /* channels in a row of the file, including alpha */
    bool has_alpha;   /* the last channel is alpha */
    int orientation;  /* as in EXIF and TIFF, 1: the first row is the top */
    double delay;     /* seconds for which a frame of a GIF is shown; < 0: another format */
    int depth, pages; /* bits per sample and number of pages, for imfinfo */
    const char *format;
    bool info_only;          /* stop after the header */
    qs_value picture, alpha; /* owned arrays of scalars */
} Image;

/* Called after the header.  false: stop and return *status; true: pass the rows to qimage_row. */
bool qimage_begin(Image *m, int64_t height, int64_t width, int channels, bool has_alpha, int depth, qs_status *status);
qs_status qimage_row(Image *m, int64_t y, qs_dtype d, const void *row); /* takes width*channels samples */
qs_status qimage_corrupt(Image *m, const char *why);                    /* sets QS_EVALUE with path and format */

typedef enum { COMPRESS_LZW, COMPRESS_NONE, COMPRESS_DEFLATE, COMPRESS_PACKBITS } ImageCompression;
typedef struct Pixels { /* an image to be written: height*width*channels samples of bits/8 bytes in host byte order */
    qs_vm *vm;
    const char *path;
    int64_t height, width;
    int channels, bits;           /* 8 or 16; 32: float (TIFF, HDR) */
    int quality;                  /* JPEG only, 1 … 100 */
    double delay;                 /* GIF only: seconds per frame */
    ImageCompression compression; /* TIFF only */
    uint8_t *data;
    size_t size;
} Pixels;

typedef qs_status ImageReader(Image *m);
typedef qs_status ImageWriter(const Pixels *pages, int n, Text *out);
ImageReader qimage_png_read, qimage_jpeg_read, qimage_tiff_read, qimage_bmp_read, qimage_gif_read, qimage_hdr_read;
ImageWriter qimage_png_write, qimage_jpeg_write, qimage_tiff_write, qimage_bmp_write, qimage_gif_write,
    qimage_hdr_write;
/* Warns if all of n floats, shown or written with `white` as white, are in [0,1] and some are fractional.  otherwise:
 * "", or an alternative to multiplication that the warning suggests. */
qs_status qimage_check_white(qs_vm *vm, const char *fn, const char *what, qs_dtype d, const void *x, size_t n,
                             double white, const char *otherwise);
/* Return whether the codec library can be opened.  The functions below report why it cannot. */
bool qimage_png_here(void), qimage_jpeg_here(void), qimage_tiff_here(void);
#define QIMAGE_UNBUILT "its header was not there when this was built"
qs_status qimage_unread(const Image *m, const char *what, const char *library, const char *why);
qs_status qimage_unwritten(const Pixels *x, const char *library, const char *why);
#endif
