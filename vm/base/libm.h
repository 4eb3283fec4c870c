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

double qlibm_exp(double x);
double qlibm_exp2(double x);
double qlibm_expm1(double x);
double qlibm_log(double x);
double qlibm_log2(double x);
double qlibm_log10(double x);
double qlibm_log1p(double x);
double qlibm_cbrt(double x);
double qlibm_sin(double x);
double qlibm_cos(double x);
double qlibm_tan(double x);
double qlibm_asin(double x);
double qlibm_acos(double x);
double qlibm_atan(double x);
double qlibm_sinh(double x);
double qlibm_cosh(double x);
double qlibm_tanh(double x);
double qlibm_asinh(double x);
double qlibm_acosh(double x);
double qlibm_atanh(double x);
double qlibm_erf(double x);
double qlibm_erfc(double x);
double qlibm_atan2(double x, double y);
double qlibm_hypot(double x, double y);
double qlibm_pow(double x, double y);

/* Returns the function for the symbol "qlibm_…" in compiled code; NULL: there is none. */
void *qlibm_symbol(const char *name);

/* The host's function of a row, by the column `how64`. */
#define MATH_HOST_exact(f64)  f64
#define MATH_HOST_own(f64)    f64
#define MATH_HOST_host(f64)   qlibm_##f64
#define MATH_HOST_near(f64)   qlibm_##f64
#define MATH_HOST(how64, f64) MATH_HOST_##how64(f64)

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
