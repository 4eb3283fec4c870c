/* canvas.h -- a small drawing surface for figures without a display: antialiased strokes and text. */
#ifndef STDLIB_CANVAS_H
#define STDLIB_CANVAS_H
#include <stddef.h>
#include <stdint.h>

typedef struct { uint8_t r, g, b; } Rgb;
typedef struct { int width, height; uint8_t *rgb; } Canvas; /* rgb: height*width*3, owned by the caller */

void qcanvas_fill(Canvas *c, int x, int y, int w, int h, Rgb color);
void qcanvas_line(Canvas *c, double x0, double y0, double x1, double y1, double thickness, Rgb color);
/* UTF-8.  Capital letters are `size` pixels high; (x, y) is the left end of the base line.  Characters without strokes
 * (all but ASCII and the letters of Latin-1) are boxes: nothing is left out. */
void qcanvas_text(Canvas *c, double x, double y, double size, const char *s, Rgb color);
double qcanvas_text_width(double size, const char *s);
#endif
