/* triangle.h -- what the triangle of a factorisation says of the rank of its matrix. */
#ifndef STDLIB_TRIANGLE_H
#define STDLIB_TRIANGLE_H
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether columns depend on each other, as far as rounding lets it be told: there is next to nothing on the diagonal
 * then.  Its n numbers, of so many parts, lie `step` apart; longer: the longer side of the matrix. */
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
