/* libm.h -- computes some math functions in the next wider format and rounds the result.  The gamma functions of the C
 * library have errors of some units in the last place, and its lgamma writes a global variable.  Its hypotf is accurate
 * but cannot be inlined. */
#ifndef VM_BASE_LIBM_H
#define VM_BASE_LIBM_H
#include <math.h>

static inline double qlibm_lgamma(double x) {
    int sign;
    return (double)lgammal_r((long double)x, &sign);
}
static inline float qlibm_lgammaf(float x) {
    int sign;
    return (float)lgamma_r((double)x, &sign);
}
/* The squares of floats neither overflow nor underflow in double.  Inline, so that loops over it are vectorized. */
static inline float qlibm_hypotf(float x, float y) {
    return isinf(x) || isinf(y) ? INFINITY : (float)sqrt((double)x * (double)x + (double)y * (double)y);
}
static inline double qlibm_tgamma(double x) { return (double)tgammal((long double)x); }
static inline float qlibm_tgammaf(float x) { return (float)tgamma((double)x); }
#endif
