#include "lang/kernel/host/pair.h"

#include <float.h>
#include <math.h>

static KRef op(KFunc *f, KOp k, KRef a, KRef b, uint32_t pos) { return kir_fold(f, k, QS_B1, 0, a, b, 0, pos); }
static KRef constant(KFunc *f, KRef like, double x, uint32_t pos) {
    return kir_const_num(f, (qs_dtype)f->ins[like].dtype, x, pos);
}
static KRef choose(KFunc *f, KRef c, KRef a, KRef b, uint32_t pos) {
    return kir_fold(f, K_SELECT, QS_B1, 0, c, a, b, pos);
}

KPair kpair_each(KFunc *f, KOp k, KPair a, KPair b, uint32_t pos) {
    return (KPair){op(f, k, a.re, b.re, pos), op(f, k, a.im, b.im, pos)};
}

KPair kpair_negative(KFunc *f, KPair a, uint32_t pos) {
    return (KPair){op(f, K_NEG, a.re, 0, pos), op(f, K_NEG, a.im, 0, pos)};
}

KPair kpair_times(KFunc *f, KPair a, KPair b, uint32_t pos) {
    KRef rr = op(f, K_MUL, a.re, b.re, pos), ii = op(f, K_MUL, a.im, b.im, pos);
    KRef ri = op(f, K_MUL, a.re, b.im, pos), ir = op(f, K_MUL, a.im, b.re, pos);
    return (KPair){op(f, K_SUB, rr, ii, pos), op(f, K_ADD, ri, ir, pos)};
}

/* The squares of floats neither overflow nor vanish in float64. */
static KPair over_by_squares(KFunc *f, KPair a, KPair b, uint32_t pos) {
    KRef *const parts[] = {&a.re, &a.im, &b.re, &b.im};
    for (int i = 0; i < 4; i++) *parts[i] = kir_fold(f, K_CAST, QS_F64, 0, *parts[i], 0, 0, pos);
    KPair conjugate = {b.re, op(f, K_NEG, b.im, 0, pos)}, z = kpair_times(f, a, conjugate, pos);
    KRef q = op(f, K_ADD, op(f, K_MUL, b.re, b.re, pos), op(f, K_MUL, b.im, b.im, pos), pos);
    z = (KPair){op(f, K_DIV, z.re, q, pos), op(f, K_DIV, z.im, q, pos)};
    return (KPair){kir_fold(f, K_CAST, QS_F32, 0, z.re, 0, 0, pos), kir_fold(f, K_CAST, QS_F32, 0, z.im, 0, 0, pos)};
}

/* By the larger part of b. */
static KPair over_by_smith(KFunc *f, KPair a, KPair b, uint32_t pos) {
    KRef zero = constant(f, b.re, 0, pos);
    KRef wide = op(f, K_LE, op(f, K_ABS, b.im, 0, pos), op(f, K_ABS, b.re, 0, pos), pos);
    KRef none = op(f, K_AND, op(f, K_EQ, b.re, zero, pos), op(f, K_EQ, b.im, zero, pos), pos);
    KRef large = choose(f, wide, b.re, b.im, pos), small = choose(f, wide, b.im, b.re, pos);
    KRef r = choose(f, op(f, K_AND, wide, none, pos), zero, op(f, K_DIV, small, large, pos), pos);
    KRef d = op(f, K_ADD, large, op(f, K_MUL, small, r, pos), pos);
    KRef re_r = op(f, K_MUL, a.re, r, pos), im_r = op(f, K_MUL, a.im, r, pos);
    KRef re = choose(f, wide, op(f, K_ADD, a.re, im_r, pos), op(f, K_ADD, re_r, a.im, pos), pos);
    KRef im = choose(f, wide, op(f, K_SUB, a.im, re_r, pos), op(f, K_SUB, im_r, a.re, pos), pos);
    return (KPair){op(f, K_DIV, re, d, pos), op(f, K_DIV, im, d, pos)};
}

KPair kpair_over(KFunc *f, KPair a, KPair b, uint32_t pos) {
    return f->ins[b.re].dtype == QS_F32 ? over_by_squares(f, a, b, pos) : over_by_smith(f, a, b, pos);
}

KPair kpair_whole_power(KFunc *f, KPair a, int n, uint32_t pos) {
    KPair one = {constant(f, a.re, 1, pos), constant(f, a.re, 0, pos)}, product = one;
    for (unsigned bits = n < 0 ? 0u - (unsigned)n : (unsigned)n; bits; bits >>= 1) {
        if (bits & 1) product = kpair_times(f, product, a, pos);
        if (bits > 1) a = kpair_times(f, a, a, pos);
    }
    return n < 0 ? kpair_over(f, one, product, pos) : product;
}

static KRef math(KFunc *f, MathFn fn, KRef a, KRef b, uint32_t pos) {
    return kir_fold(f, K_MATH, QS_B1, (uint16_t)fn, a, b, 0, pos);
}

static KPair turned(KFunc *f, KRef size, KRef angle, uint32_t pos) {
    KRef re = math(f, MF_cos, angle, 0, pos), im = math(f, MF_sin, angle, 0, pos);
    return (KPair){op(f, K_MUL, size, re, pos), op(f, K_MUL, size, im, pos)};
}

KPair kpair_power(KFunc *f, KPair a, KPair b, uint32_t pos) {
    KRef zero = constant(f, a.re, 0, pos), size = math(f, MF_log, math(f, MF_hypot, a.re, a.im, pos), 0, pos);
    KRef angle = math(f, MF_atan2, a.im, a.re, pos);
    KRef r = op(f, K_SUB, op(f, K_MUL, b.re, size, pos), op(f, K_MUL, b.im, angle, pos), pos);
    KRef turn = op(f, K_ADD, op(f, K_MUL, b.im, size, pos), op(f, K_MUL, b.re, angle, pos), pos);
    KRef none = op(f, K_AND, kpair_equal(f, a, (KPair){zero, zero}, pos), op(f, K_LT, zero, b.re, pos), pos);
    KPair z = turned(f, math(f, MF_exp, r, 0, pos), turn, pos);
    return (KPair){choose(f, none, zero, z.re, pos), choose(f, none, zero, z.im, pos)};
}

/* qpacked_complex_exp */
KPair kpair_exp(KFunc *f, KPair a, uint32_t pos) {
    KRef zero = constant(f, a.re, 0, pos), one = constant(f, a.re, 1, pos), inf = constant(f, a.re, INFINITY, pos);
    KRef most = constant(f, a.re, KPAIR_EXP_MOST, pos), large = op(f, K_LT, most, a.re, pos);
    KRef r = math(f, MF_exp, choose(f, large, op(f, K_SUB, a.re, most, pos), a.re, pos), 0, pos);
    KPair z = turned(f, choose(f, large, constant(f, a.re, KPAIR_EXP_OF_MOST, pos), one, pos), a.im, pos);
    KRef endless = op(f, K_NE, op(f, K_SUB, a.im, a.im, pos), zero, pos); /* inf or nan */
    KRef re_endless = op(f, K_EQ, op(f, K_ABS, a.re, 0, pos), inf, pos);
    KRef vanishes = op(f, K_AND, endless, op(f, K_AND, re_endless, op(f, K_LT, a.re, zero, pos), pos), pos);
    KRef im = choose(f, vanishes, zero, op(f, K_MUL, r, z.im, pos), pos);
    return (KPair){choose(f, op(f, K_AND, endless, re_endless, pos), r, op(f, K_MUL, r, z.re, pos), pos),
                   choose(f, op(f, K_EQ, a.im, zero, pos), a.im, im, pos)};
}

/* qpacked_complex_sqrt */
KPair kpair_sqrt(KFunc *f, KPair a, uint32_t pos) {
    KRef zero = constant(f, a.re, 0, pos), one = constant(f, a.re, 1, pos), half = constant(f, a.re, 0.5, pos);
    KRef inf = constant(f, a.re, INFINITY, pos), x = op(f, K_ABS, a.re, 0, pos), y = op(f, K_ABS, a.im, 0, pos);
    KRef most = constant(f, a.re, DBL_MAX / 4, pos), least = constant(f, a.re, 2 * DBL_MIN, pos);
    KRef large = op(f, K_OR, op(f, K_LT, most, x, pos), op(f, K_LT, most, y, pos), pos);
    KRef small = op(f, K_AND, op(f, K_LT, x, least, pos), op(f, K_LT, y, least, pos), pos);
    KRef scale = choose(f, small, constant(f, a.re, 0x1p54, pos), one, pos);
    KRef back = choose(f, small, constant(f, a.re, 0x1p-27, pos), one, pos);
    scale = choose(f, large, constant(f, a.re, 0.25, pos), scale, pos);
    back = choose(f, large, constant(f, a.re, 2, pos), back, pos);
    x = op(f, K_MUL, x, scale, pos), y = op(f, K_MUL, y, scale, pos);
    KRef sum = op(f, K_ADD, math(f, MF_hypot, x, y, pos), x, pos), endless = op(f, K_EQ, y, inf, pos);
    KRef t = choose(f, endless, inf, math(f, MF_sqrt, op(f, K_MUL, half, sum, pos), 0, pos), pos);
    KRef u = op(f, K_MUL, half, op(f, K_DIV, y, t, pos), pos);
    u = choose(f, op(f, K_OR, endless, op(f, K_EQ, x, zero, pos), pos), t, u, pos);
    t = op(f, K_MUL, t, back, pos), u = op(f, K_MUL, u, back, pos);
    KRef left = op(f, K_LT, a.re, zero, pos), im = choose(f, left, t, u, pos);
    KRef below = op(f, K_OR, op(f, K_LT, a.im, zero, pos), op(f, K_LT, op(f, K_DIV, one, a.im, pos), zero, pos), pos);
    return (KPair){choose(f, left, u, t, pos), choose(f, below, op(f, K_NEG, im, 0, pos), im, pos)};
}

KRef kpair_equal(KFunc *f, KPair a, KPair b, uint32_t pos) {
    return op(f, K_AND, op(f, K_EQ, a.re, b.re, pos), op(f, K_EQ, a.im, b.im, pos), pos);
}
