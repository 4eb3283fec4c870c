/* libm.h -- declares mathematical functions that replace those of the C library on the host.
 *
 * exp, log …: if the CPU has fma, they compute the formulas of math_formulas.h, with the bits of compiled loops, which
 * compute these formulas in vectors.  Otherwise they call the C library, and loops call them.
 * lgamma, tgamma, hypotf: compute in the next wider format and round the result.  The gamma functions of the C library
 * have errors of some units in the last place, and its lgamma writes a global variable.  Its hypotf is accurate but
 * cannot be inlined. */
#ifndef VM_BASE_LIBM_H
#define VM_BASE_LIBM_H
#include <math.h>

/* The functions of both types, by their numbers of arguments.  tan and hypot of floats are those of the C library and
 * the one below. */
/* clang-format off */
#define QLIBM_EACH(ONE, TWO)                                                                                           \
    ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(cbrt) ONE(sin) ONE(cos) ONE(asin)       \
    ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh) ONE(asinh) ONE(acosh) ONE(atanh) ONE(erf) ONE(erfc)              \
    TWO(atan2) TWO(pow)
/* clang-format on */
#define QLIBM_ONE(name)                                                                                                \
    double qlibm_##name(double x);                                                                                     \
    float qlibm_##name##f(float x);
#define QLIBM_TWO(name)                                                                                                \
    double qlibm_##name(double x, double y);                                                                           \
    float qlibm_##name##f(float x, float y);
QLIBM_EACH(QLIBM_ONE, QLIBM_TWO)
double qlibm_tan(double x);
double qlibm_hypot(double x, double y);

/* Returns the function for the symbol "qlibm_…" in compiled code; NULL: there is none. */
void *qlibm_symbol(const char *name);

/* The host's function of a row with the C function f, by its column `how32` or `how64`. */
#define MATH_HOST_exact(f) f
#define MATH_HOST_own(f)   f
#define MATH_HOST_host(f)  qlibm_##f
#define MATH_HOST_near(f)  qlibm_##f
#define MATH_HOST(how, f)  MATH_HOST_##how(f)

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
