/* planes.h -- declares the loops of convolutions of neural layers (planes.c), for one element type and instruction set.
 *
 * A convolution of any stride and dilation becomes sums of shifted planes.  An image is stored as one padded plane for
 * each remainder of its rows and columns modulo the stride.  Neighbouring outputs then read neighbouring elements, and
 * one weight reads the elements of all outputs at the same offset:
 *
 *     out[m][p] = bias[m] + sum over t of  w[m][t] * x[off[t] + p]          gather: outputs, gradients of inputs
 *     dw[m][t]  = sum over images and p of  d[m][p] * x[off[t] + p]         dot: gradients of weights
 *
 * p runs over whole rows of a plane; positions between the rows of the result are computed and dropped. */
#ifndef STDLIB_PLANES_H
#define STDLIB_PLANES_H
#include "stdlib/stdlib.h"

enum {
    PLANES_ROWS = 8,   /* maximum rows of a tile */
    PLANES_SPAN = 48,  /* maximum positions of a tile */
    PLANES_SLACK = 64, /* elements behind the last ones that loops may read, without using them */
};

/* Maps position (y, x) to element (y*step[0] + first[0], …) of a plane of the result; positions outside are dropped. */
typedef struct {
    int64_t pitch, columns;               /* positions per row of a plane; how many of them are results */
    int64_t rows;                         /* rows that are results */
    int64_t step[2], first[2], extent[2]; /* for rows and columns of the result */
} PlanesTarget;

typedef struct {
    int64_t lanes, span;    /* elements of a vector; positions of a tile */
    int rows;               /* maximum rows of a tile that fit the registers */
    int dot_rows, dot_taps; /* maximum tile of `dot` */
    /* Computes `rows` (8, 4, 2 or 1) planes at n positions from `p`.  w: the weights of the rows, interleaved; out: the
     * first plane. */
    void (*gather)(int rows, size_t taps, const void *w, const void *x, const int64_t *off, int64_t p, int64_t n,
                   const void *bias, const PlanesTarget *to, void *out, int64_t plane);
    /* Sums over `images`, whose planes are at distances dn and xn; n: a multiple of the lanes.  Writes the sums to
     * dw[m*pitch + t], or adds them to it if `add` is set. */
    void (*dot)(int rows, int taps, int64_t images, int64_t n, const void *d, int64_t dplane, int64_t dn, const void *x,
                const int64_t *off, int64_t xn, bool add, void *dw, int64_t pitch);
} PlanesLoops;

/* Wide: float64, else float32; compiled for SSE2 or the compiler's default. */
const PlanesLoops *qplanes_loops(bool wide);
const PlanesLoops *qplanes_loops_avx2(bool wide);
const PlanesLoops *qplanes_loops_avx512(bool wide);
#endif
