/* triangle.h -- decides from the triangle of a factorisation whether the matrix lacks rank. */
#ifndef STDLIB_TRIANGLE_H
#define STDLIB_TRIANGLE_H
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether columns are linearly dependent up to rounding: the smallest diagonal element is negligible compared
 * with the largest.  diagonal: n numbers of `parts` doubles, `step` numbers apart; longer: the larger extent of the
 * matrix. */
static inline bool qtriangle_lacks_rank(const double *diagonal, size_t n, size_t step, int parts, size_t longer) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++) {
        const double *d = diagonal + i * step * (size_t)parts;
        double size = parts == 2 ? hypot(d[0], d[1]) : fabs(d[0]);
        least = fmin(least, size), most = fmax(most, size);
    }
    return least <= most * DBL_EPSILON * (double)longer;
}
#endif
