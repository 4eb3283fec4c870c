/* bilinear.c -- implements bilinear.h; also compiled from bilinear_avx2.c for processors with AVX2.
 *
 * First the cells of all positions are found, then their corners are fetched, then the values are computed.  The first
 * and the last loop consist of vector instructions. */
#include "stdlib/bilinear.h"
#include "vm/array/contiguous.h"

#include <string.h>
LOOPS_WITHOUT_TRAPS

/* Finds the cells, between neighbours of 0 ... last, and the fractions in them; returns whether all positions are
 * inside. */
static bool find_cells(const double *x, size_t n, double last, int32_t *restrict cell, double *restrict fraction) {
    int32_t last_cell = (int32_t)last - 1;
    int64_t outside = 0;
    for (size_t i = 0; i < n; i++) {
        double at = x[i] > 0 ? x[i] : 0;
        at = at < last ? at : last;
        int32_t k = (int32_t)at;
        k = k < last_cell ? k : last_cell;
        cell[i] = k, fraction[i] = at - k;
    }
    for (size_t i = 0; i < n; i++) outside |= -(int64_t) !((x[i] >= 0) & (x[i] <= last));
    return !outside;
}

#define BILINEAR(T)                                                                                                    \
    static bool sample_##T(const T *z, size_t h, size_t w, const double *x, const double *y, size_t n, double *out) {  \
        double s[BILINEAR_MOST], t[BILINEAR_MOST];                                                                     \
        T above[BILINEAR_MOST][2], below[BILINEAR_MOST][2];                                                            \
        int32_t column[BILINEAR_MOST], row[BILINEAR_MOST];                                                             \
        bool inside = find_cells(x, n, (double)w - 1, column, s);                                                      \
        inside &= find_cells(y, n, (double)h - 1, row, t);                                                             \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const T *p = z + (size_t)row[i] * w + (size_t)column[i];                                                   \
            memcpy(above[i], p, sizeof above[i]), memcpy(below[i], p + w, sizeof below[i]);                            \
        }                                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                                               \
            double a = qbilinear_blend(above[i][0], above[i][1], s[i]);                                                \
            double b = qbilinear_blend(below[i][0], below[i][1], s[i]);                                                \
            out[i] = qbilinear_blend(a, b, t[i]);                                                                      \
        }                                                                                                              \
        return inside;                                                                                                 \
    }
BILINEAR(float)
BILINEAR(double)

static const BilinearLoops loops = {sample_float, sample_double};

#ifdef QBILINEAR_AVX2
const BilinearLoops *qbilinear_loops_avx2(void) { return &loops; }
#else
const BilinearLoops *qbilinear_loops(void) { return QCPU_AVX2 ? qbilinear_loops_avx2() : &loops; }
#endif
