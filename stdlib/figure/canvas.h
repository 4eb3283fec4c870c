/* canvas.h -- a surface to draw on, by cairo and pango, which are opened when the first figure is drawn.
 *
 * Paths, fills, text and pictures come in, in units of 1/72 inch with y down; a PNG, SVG or PDF file goes out, or
 * pixels.  Nothing here knows of axes, and nobody else knows of cairo. */
#ifndef FIGURE_CANVAS_H
#define FIGURE_CANVAS_H
#include "vm/quasar_types.h"

struct Text;
typedef struct {
    double r, g, b;
} Colour; /* 0 to 1 */
typedef struct Canvas Canvas;
typedef struct CanvasLib CanvasLib; /* cairo and pango, opened */
typedef enum { CANVAS_PIXELS, CANVAS_SVG, CANVAS_PDF } CanvasKind;

/* NULL: they are not here, and *why says which packages have them. */
const CanvasLib *qcanvas_library(const char **why);

/* Blocks of pixels that nobody shows any more, for the next pictures of their sizes: the system clears fresh memory
 * page by page, which takes a quarter of the time of a frame. */
enum { BLOCKS_KEPT = 3 };
typedef struct {
    struct {
        uint32_t *pixels;
        size_t n;
    } of[BLOCKS_KEPT];
    int next;
} PixelBlocks;
uint32_t *qcanvas_block(PixelBlocks *, size_t n); /* of n pixels, whatever they hold; NULL: no memory */
void qcanvas_block_done(PixelBlocks *, uint32_t *pixels, size_t n); /* pixels may be NULL */
void qcanvas_blocks_free(PixelBlocks *);

/* A white surface.  scale: pixels for a unit, of CANVAS_PIXELS, whose memory is one of `blocks`.  NULL: no memory. */
Canvas *qcanvas_new(const CanvasLib *lib, CanvasKind kind, double width, double height, double scale,
                    PixelBlocks *blocks);
void qcanvas_free(Canvas *c);
/* Four bytes for a pixel, blue green red and one that says nothing; as long as the canvas lives. */
const uint8_t *qcanvas_pixels(Canvas *c, int *width, int *height);
uint32_t *qcanvas_take(Canvas *c, int *width, int *height); /* the same, of a malloc: the caller's; the canvas ends */
/* The whole file, of a malloc that the caller frees: of pixels a PNG.  NULL: it could not be made, *why says it. */
char *qcanvas_file(Canvas *c, size_t *n, const char **why);

/* -- paths: made, then stroked or filled, which ends them ---------------------------------------------------------- */
void qcanvas_move(Canvas *c, double x, double y);
void qcanvas_line(Canvas *c, double x, double y);
void qcanvas_close(Canvas *c);
void qcanvas_box(Canvas *c, double x, double y, double width, double height);
void qcanvas_circle(Canvas *c, double x, double y, double radius);
/* dash: lengths, in widths of the line. */
typedef struct {
    double width, alpha;
    const double *dash;
    int ndash;
} Stroke;
void qcanvas_stroke(Canvas *c, Colour colour, Stroke how);
void qcanvas_fill(Canvas *c, Colour colour, double alpha);
void qcanvas_fill_and_stroke(Canvas *c, Colour fill, double alpha, Colour edge, double width);

void qcanvas_clip(Canvas *c, double x, double y, double width, double height); /* until the unclip */
void qcanvas_unclip(Canvas *c);

/* -- text: UTF-8; x^{2} is raised, x_{i} lowered ------------------------------------------------------------------- */
typedef struct {
    double size, angle; /* of the letters; turned by so many quarter turns to the left */
    double across, up;  /* which part of the text is at the place: 0 left or bottom, 0.5 middle, 1 right or top */
    bool bold;
    Colour colour;
    double room; /* of what is longer an end is left out, for which … stands; 0: of nothing */
} Lettering;
void qcanvas_text(Canvas *c, double x, double y, const char *s, const Lettering *l);
void qcanvas_text_size(Canvas *c, const char *s, const Lettering *l, double *width, double *height);

/* Pixels as qcanvas_pixels gives them, stretched over a box; smooth: where they are made smaller, and between pixels
 * where they are made larger.  has_alpha: the fourth byte covers (colours are multiplied by it already). */
typedef struct {
    const uint32_t *pixels;
    int width, height;
    bool smooth, has_alpha;
} Picture;
void qcanvas_picture(Canvas *c, const Picture *p, double x, double y, double width, double height);
#endif
