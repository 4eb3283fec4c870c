/* libm.h -- lgamma of the C library writes a global variable; these two do not. */
#ifndef VM_BASE_LIBM_H
#define VM_BASE_LIBM_H
#include <math.h>

static inline double qlibm_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}
static inline float qlibm_lgammaf(float x) {
    int sign;
    return lgammaf_r(x, &sign);
}
#endif
