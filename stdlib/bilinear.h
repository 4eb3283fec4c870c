/* bilinear.h -- declares loops that interpolate between the elements of a matrix, which are compiled twice: bilinear.c
 * and bilinear_avx2.c. */
#ifndef STDLIB_BILINEAR_H
#define STDLIB_BILINEAR_H
#include "vm/base/dtype.h"

enum { BILINEAR_MOST = 256 }; /* maximum number of positions of a call */

/* Interpolates z, a matrix of h x w elements, at columns x and rows y.  Returns whether all positions are inside; the
 * values of others are undefined.  h and w: at least 2, less than 2^31. */
typedef struct {
    bool (*floats)(const float *z, size_t h, size_t w, const double *x, const double *y, size_t n, double *out);
    bool (*doubles)(const double *z, size_t h, size_t w, const double *x, const double *y, size_t n, double *out);
} BilinearLoops;

const BilinearLoops *qbilinear_loops(void);
const BilinearLoops *qbilinear_loops_avx2(void);

/* Returns the value between a (t = 0) and b (t = 1). */
static inline __attribute__((always_inline)) double qbilinear_blend(double a, double b, double t) {
    double between = a + t * (b - a);
    bool at_a = t == 0, at_b = t == 1; /* variables, so that gcc vectorizes */
    between = at_a ? a : between;
    return at_b ? b : between;
}
#endif
