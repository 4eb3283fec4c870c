/* libm.h -- the gamma functions, computed in the next wider format and rounded: those of the C library are some units
 * of the last place off, and its lgamma writes a global variable. */
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
static inline double qlibm_tgamma(double x) { return (double)tgammal((long double)x); }
static inline float qlibm_tgammaf(float x) { return (float)tgamma((double)x); }
#endif
