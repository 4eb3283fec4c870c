/* typed_math.h -- defines functions of the Array API standard that the language defines differently or does not have.
 *
 * The names are typed_<function>_<type>.  loops.c includes this file after elem_host.h. */
#ifndef VM_TYPED_MATH_H
#define VM_TYPED_MATH_H
#pragma GCC diagnostic ignored "-Wtype-limits" /* the macros also test the sign of unsigned types */
#define TYPED_FN __attribute__((unused)) static inline

/* -- integers ------------------------------------------------------------------------------------------------------ */
#define WHOLE_FNS(D, T, U, IS_SIGNED, BITS)                                                                            \
    TYPED_FN T typed_floor_divide_##D(T x, T y) {                                                                      \
        if (y == 0) return 0;                                                                                          \
        if (IS_SIGNED && y == (T)-1) return (T)(0 - (U)x);                                                             \
        T q = x / y;                                                                                                   \
        return (T)(q - (IS_SIGNED && (x % y != 0) && ((x < 0) != (y < 0))));                                           \
    }                                                                                                                  \
    TYPED_FN T typed_square_##D(T x) { return (T)((U)x * (U)x); }                                                      \
    /* With a negative exponent the fraction is truncated to 0, except for x = 1 and -1. */                            \
    TYPED_FN T typed_power_##D(T x, T y) {                                                                             \
        U r = 1, p = (U)x;                                                                                             \
        if (IS_SIGNED && y < 0) return x == 1 ? 1 : x == (T)-1 ? (y % 2 ? x : 1) : 0;                                  \
        for (U e = (U)y; e; e >>= 1, p *= p)                                                                           \
            if (e & 1) r *= p;                                                                                         \
        return (T)r;                                                                                                   \
    }                                                                                                                  \
    TYPED_FN T typed_shift_left_##D(T x, T y) { return y < 0 || y >= BITS ? 0 : (T)((U)x << y); }                      \
    TYPED_FN T typed_shift_right_##D(T x, T y) { return y < 0 || y >= BITS ? (T)(x < 0 ? -1 : 0) : (T)(x >> y); }
WHOLE_FNS(I32, int32_t, uint32_t, true, 32)
WHOLE_FNS(I64, int64_t, uint64_t, true, 64)
WHOLE_FNS(U32, uint32_t, uint32_t, false, 32)
WHOLE_FNS(U64, uint64_t, uint64_t, false, 64)
#undef WHOLE_FNS

/* -- floats -------------------------------------------------------------------------------------------------------- */
#define REAL_FNS(D, T, S)                                                                                              \
    TYPED_FN T typed_remainder_##D(T x, T y) {                                                                         \
        T r = fmod##S(x, y);                                                                                           \
        return r == 0 ? copysign##S(0, y) : (r < 0) != (y < 0) ? r + y : r;                                            \
    }                                                                                                                  \
    /* The quotient is computed after subtracting the remainder, so that both results are consistent. */               \
    TYPED_FN T typed_floor_divide_##D(T x, T y) {                                                                      \
        if (y == 0 || !isfinite(x) || !isfinite(y)) return x / y;                                                      \
        T r = fmod##S(x, y), q = (x - r) / y;                                                                          \
        if (r != 0 && (r < 0) != (y < 0)) q -= 1;                                                                      \
        if (q == 0) return copysign##S(0, x / y);                                                                      \
        T f = floor##S(q);                                                                                             \
        return q - f > (T)0.5 ? f + 1 : f;                                                                             \
    }                                                                                                                  \
    TYPED_FN T typed_maximum_##D(T x, T y) { return x >= y || x != x ? x : y; }                                        \
    TYPED_FN T typed_minimum_##D(T x, T y) { return x <= y || x != x ? x : y; }                                        \
    TYPED_FN T typed_power_##D(T x, T y) {                                                                             \
        if (!qtyped_is_short_power((double)y)) return elem_pow_##D(x, y);                                              \
        return y == 2 ? x * x : y < 0 ? 1 / x : elem_half_power_##D(x);                                                \
    }                                                                                                                  \
    TYPED_FN T typed_round_##D(T x) { return rint##S(x); }                                                             \
    TYPED_FN T typed_copysign_##D(T x, T y) { return copysign##S(x, y); }                                              \
    TYPED_FN T typed_nextafter_##D(T x, T y) { return nextafter##S(x, y); }                                            \
    TYPED_FN T typed_logaddexp_##D(T x, T y) {                                                                         \
        if (x == y) return x + (T)M_LN2; /* also for infinities */                                                     \
        T d = x - y;                                                                                                   \
        return d > 0 ? x + log1p##S(exp##S(-d)) : d <= 0 ? y + log1p##S(exp##S(d)) : d;                                \
    }
REAL_FNS(F32, float, f)
REAL_FNS(F64, double, )
#undef REAL_FNS

/* -- complex numbers ----------------------------------------------------------------------------------------------- */
#define COMPLEX_FNS(D, Z, RD)                                                                                          \
    TYPED_FN Z typed_square_##D(Z x) { return elem_mul_##D(x, x); }                                                    \
    TYPED_FN Z typed_reciprocal_##D(Z x) { return elem_div_##D((Z){1, 0}, x); }                                        \
    TYPED_FN Z typed_round_##D(Z x) { return (Z){typed_round_##RD(x.re), typed_round_##RD(x.im)}; }
COMPLEX_FNS(C64, QComplexF, F32)
COMPLEX_FNS(C128, QComplexD, F64)
#undef COMPLEX_FNS

/* Uses exp(x)cos(y)-1 = expm1(x)cos(y) - 2 sin(y/2)^2, which avoids the difference of two numbers near 1. */
TYPED_FN QComplexD typed_expm1_C128(QComplexD z) {
    if (!isfinite(z.re) || !isfinite(z.im) || fabs(z.re) > 700) {
        QComplexD e = elem_exp_C128(z);
        return (QComplexD){e.re - 1, e.im};
    }
    double half = sin(z.im / 2);
    return (QComplexD){expm1(z.re) * cos(z.im) - 2 * half * half + 0.0, exp(z.re) * sin(z.im)};
}

/* Computes the real part near z = 0 as log1p(|1+z|^2 - 1) / 2 (W. Kahan). */
TYPED_FN QComplexD typed_log1p_C128(QComplexD z) {
    double x = z.re, y = z.im;
    if (!isfinite(x) || !isfinite(y) || fabs(x) > 0.5 || fabs(y) > 0.5) return elem_log_C128((QComplexD){1 + x, y});
    return (QComplexD){0.5 * log1p(x * (2 + x) + y * y), atan2(y, 1 + x)};
}
TYPED_FN QComplexF typed_expm1_C64(QComplexF z) { return elem_narrow(typed_expm1_C128(elem_wide(z))); }
TYPED_FN QComplexF typed_log1p_C64(QComplexF z) { return elem_narrow(typed_log1p_C128(elem_wide(z))); }

/* If the real part is infinite, the imaginary zero has the sign of the imaginary part; in C, the sign of sin(2y). */
TYPED_FN QComplexD typed_tanh_C128(QComplexD z) {
    if (isinf(z.re) && isfinite(z.im)) return (QComplexD){copysign(1, z.re), copysign(0, z.im)};
    return elem_tanh_C128(z);
}
TYPED_FN QComplexF typed_tanh_C64(QComplexF z) { return elem_narrow(typed_tanh_C128(elem_wide(z))); }

/* Computes small integral powers by multiplication, so that (1+0j)**2 is exact. */
TYPED_FN QComplexD typed_power_C128(QComplexD x, QComplexD y) {
    if (y.im != 0 || y.re != rint(y.re) || fabs(y.re) > 64) return elem_pow_C128(x, y);
    QComplexD r = {1, 0};
    int n = (int)fabs(y.re);
    for (QComplexD p = x; n; n >>= 1) {
        if (n & 1) r = elem_mul_C128(r, p);
        if (n > 1) p = elem_mul_C128(p, p);
    }
    return y.re < 0 ? elem_div_C128((QComplexD){1, 0}, r) : r;
}
TYPED_FN QComplexF typed_power_C64(QComplexF x, QComplexF y) {
    return elem_narrow(typed_power_C128(elem_wide(x), elem_wide(y)));
}
#endif
