/* ptx_approx.c -- the functions that a GPU estimates, as far off as PTX's manual allows and no farther.
 *
 * How far off is decided by the operand's bits, so that one operand always has one result; results that are exact stay
 * so.  A program that relies on more than is promised is seen with one operand or another. */
#include "tests/support/ptx/ptx_machine.h"

#include <math.h>
#include <string.h>

/* Between -1 and 1, from the bits. */
static double noise(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits = (bits ^ bits >> 29) * 0x9E3779B97F4A7C15u;
    bits ^= bits >> 32;
    return (double)(int32_t)(uint32_t)bits / 2147483648.0;
}

/* exact + error·noise, unless float holds the exact value. */
static float off(double exact, double error, double a) {
    float nearest = (float)exact;
    if (!isfinite(nearest) || (double)nearest == exact) return nearest;
    return (float)(exact + error * noise(a));
}

static float relative(double exact, double error, double a) { return off(exact, fabs(exact) * error, a); }

/* 2 ulp; for divisors of more than 2^126 the result is 0 or NaN */
float ptx_div(float a, float b) {
    if (isfinite(b) && fabsf(b) > 0x1p126f) return isinf(a) ? NAN : copysignf(0, signbit(a) != signbit(b) ? -1.f : 1.f);
    return relative((double)a / b, 0x1p-23, a + 3.0 * b);
}
float ptx_rcp(float a) { return relative(1 / a, 0x1p-23, a); }
float ptx_sqrt(float a) { return relative(sqrt(a), 0x1p-23, a); }
float ptx_rsqrt(float a) { return relative(1 / sqrt(a), 0x1.1p-23, a); }

/* Beyond ±2π the error grows with the operand; the manual says no more than that. */
static float wave(double exact, float a) {
    double turns = fabs(a) / 6.2831853;
    float y = off(exact, 0x1p-20 * 0.7 * (turns > 1 ? turns : 1), a);
    return y > 1 ? 1 : y < -1 ? -1 : y;
}
float ptx_sin(float a) { return wave(sin(a), a); }
float ptx_cos(float a) { return wave(cos(a), a); }
/* 2^-22 is stated; NVIDIA's own functions, whose errors are stated, too, only keep them with less. */
float ptx_ex2(float a) { return relative(exp2(a), 0x1.4p-23, a); }
/* An absolute error of 2^-22 within (0.5, 2), a relative one outside. */
float ptx_lg2(float a) {
    double y = log2(a);
    return a > 0.5f && a < 2 ? off(y, 0x1p-22, a) : relative(y, 0x1p-22, a);
}
float ptx_tanh(float a) { return relative(tanh(a), 0x1p-11, a); }

/* The upper 32 bits of a double: 20 bits behind the point. */
static double top(double a) {
    uint64_t bits;
    if (a != a) return a;
    memcpy(&bits, &a, sizeof bits);
    bits &= ~(uint64_t)UINT32_MAX;
    memcpy(&a, &bits, sizeof bits);
    return a;
}
static double flush_wide(double a) { return fabs(a) < 0x1p-1022 ? copysign(0, a) : a; }
double ptx_rcp_top(double a) { return top(flush_wide(1 / top(flush_wide(a)))); }
double ptx_rsqrt_top(double a) { return top(1 / sqrt(top(flush_wide(a)))); }
