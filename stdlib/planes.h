/* planes.h -- the loops of convolutions of neural layers (planes.c), for one element type and one kind of processor.
 *
 * A convolution of any stride and dilation becomes sums of shifted planes: an image is laid out as one padded plane for
 * each remainder of its rows and columns by the stride, so that neighbouring outputs read neighbouring elements, and a
 * weight reads all outputs at one distance from them:
 *
 *     out[m][p] = bias[m] + sum over t of  w[m][t] * x[off[t] + p]          gather: outputs, gradients of inputs
 *     dw[m][t]  = sum over images and p of  d[m][p] * x[off[t] + p]         dot: gradients of weights
 *
 * p runs over whole rows of a plane; what falls between the rows of the result is computed and dropped. */
#ifndef STDLIB_PLANES_H
#define STDLIB_PLANES_H
#include "stdlib/stdlib.h"

enum {
    PLANES_ROWS = 8,   /* most rows of a tile */
    PLANES_SPAN = 48,  /* most positions of one */
    PLANES_SLACK = 64, /* elements that are read in vain behind the last ones */
};

typedef struct { /* where positions (y, x) go: to element (y*step + first, …) of the plane of a result, or nowhere */
    int64_t pitch, columns;               /* positions of a row of planes; those of them that are results */
    int64_t rows;                         /* rows of results */
    int64_t step[2], first[2], extent[2]; /* of the result: rows, columns */
} PlanesTarget;

typedef struct {
    int64_t lanes, span;    /* elements of a vector; positions of a tile */
    int rows;               /* most rows of a tile: what fits the registers */
    int dot_rows, dot_taps; /* the same of sums for weights */
    /* rows: 8, 4, 2 or 1, of which w has the weights side by side; n positions from `p` of x; out: the first plane. */
    void (*gather)(int rows, size_t taps, const void *w, const void *x, const int64_t *off, int64_t p, int64_t n,
                   const void *bias, const PlanesTarget *to, void *out, int64_t plane);
    /* Sums over `images`, whose planes are at distances dn and xn; n: a multiple of the
     * lanes; dw [m*pitch + t] gets what is added up, or it in addition to what it holds. */
    void (*dot)(int rows, int taps, int64_t images, int64_t n, const void *d, int64_t dplane, int64_t dn, const void *x,
                const int64_t *off, int64_t xn, bool add, void *dw, int64_t pitch);
} PlanesLoops;

const PlanesLoops *qplanes_loops(bool wide); /* of float64, or of float32; SSE2 or what the compiler has */
const PlanesLoops *qplanes_loops_avx2(bool wide);
const PlanesLoops *qplanes_loops_avx512(bool wide);
#endif
