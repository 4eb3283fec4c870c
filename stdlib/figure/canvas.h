/* canvas.h -- declares a drawing surface that uses cairo and pango, which are loaded when the first figure is drawn.
 *
 * A canvas takes paths, fills, text and pictures in units of 1/72 inch with y down, and produces a PNG, SVG or PDF file
 * or pixels.  It does not know axes, and no other file uses cairo. */
#ifndef FIGURE_CANVAS_H
#define FIGURE_CANVAS_H
#include "vm/quasar_types.h"

struct Text;
typedef struct {
    double r, g, b;
} Colour; /* components from 0 to 1 */
typedef struct Canvas Canvas;
typedef struct CanvasLib CanvasLib; /* the loaded libraries cairo and pango */
typedef enum { CANVAS_PIXELS, CANVAS_SVG, CANVAS_PDF } CanvasKind;

/* Returns the libraries.  NULL: they are missing, and *why names the packages that contain them. */
const CanvasLib *qcanvas_library(const char **why);

/* Pixel buffers that are no longer shown, kept for the next pictures of the same size: clearing fresh memory page by
 * page would take a considerable part of the time of a frame. */
enum { BLOCKS_KEPT = 3 };
typedef struct {
    struct {
        uint32_t *pixels;
        size_t n;
    } of[BLOCKS_KEPT];
    int next;
} PixelBlocks;
uint32_t *qcanvas_block(PixelBlocks *, size_t n); /* returns n pixels with undefined contents; NULL: out of memory */
void qcanvas_block_done(PixelBlocks *, uint32_t *pixels, size_t n); /* pixels may be NULL */
void qcanvas_blocks_free(PixelBlocks *);

/* Creates a white surface.  scale: pixels per unit for CANVAS_PIXELS, whose memory is taken from `blocks`.  NULL: out
 * of memory. */
Canvas *qcanvas_new(const CanvasLib *lib, CanvasKind kind, double width, double height, double scale,
                    PixelBlocks *blocks);
void qcanvas_free(Canvas *c);
/* Returns why nothing more was drawn, NULL if everything was. */
const char *qcanvas_failure(const Canvas *c);
/* Returns four bytes per pixel: blue, green, red and an unused one.  Borrowed from the canvas. */
const uint8_t *qcanvas_pixels(Canvas *c, int *width, int *height);
/* Detaches the pixels (owned by the caller, malloc) and frees the canvas. */
uint32_t *qcanvas_take(Canvas *c, int *width, int *height);
/* Returns the contents of the file (PNG for pixels), which the caller frees.  NULL: failed, with the reason in *why. */
char *qcanvas_file(Canvas *c, size_t *n, const char **why);

/* -- paths: built, then stroked or filled, which starts a new path ------------------------------------------------- */
void qcanvas_move(Canvas *c, double x, double y);
void qcanvas_line(Canvas *c, double x, double y);
void qcanvas_close(Canvas *c);
void qcanvas_box(Canvas *c, double x, double y, double width, double height);
void qcanvas_circle(Canvas *c, double x, double y, double radius);
/* dash: lengths in units of the line width. */
typedef struct {
    double width, alpha;
    const double *dash;
    int ndash;
} Stroke;
void qcanvas_stroke(Canvas *c, Colour colour, Stroke how);
void qcanvas_fill(Canvas *c, Colour colour, double alpha);
void qcanvas_fill_and_stroke(Canvas *c, Colour fill, double alpha, Colour edge, double width);

void qcanvas_clip(Canvas *c, double x, double y, double width, double height); /* active until the next unclip */
void qcanvas_unclip(Canvas *c);

/* -- text: UTF-8; x^{2} is raised, x_{i} lowered ------------------------------------------------------------------- */
typedef struct {
    double size, angle; /* size of the letters; number of quarter turns to the left */
    /* Anchor: the part of the text that is at the given position; 0 left or bottom, 0.5 middle, 1 right or top. */
    double across, up;
    bool bold;
    Colour colour;
    double room; /* longer text is cut off with …; 0: no limit */
} Lettering;
void qcanvas_text(Canvas *c, double x, double y, const char *s, const Lettering *l);
void qcanvas_text_size(Canvas *c, const char *s, const Lettering *l, double *width, double *height);

/* Pixels in the format of qcanvas_pixels, stretched over a box.  smooth: interpolates between pixels when scaled.
 * has_alpha: the fourth byte is the opacity, and colours are premultiplied. */
typedef struct {
    const uint32_t *pixels;
    int width, height;
    bool smooth, has_alpha;
} Picture;
void qcanvas_picture(Canvas *c, const Picture *p, double x, double y, double width, double height);
#endif
