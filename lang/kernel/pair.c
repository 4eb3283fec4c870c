#include "lang/kernel/pair.h"

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

KRef kpair_equal(KFunc *f, KPair a, KPair b, uint32_t pos) {
    return op(f, K_AND, op(f, K_EQ, a.re, b.re, pos), op(f, K_EQ, a.im, b.im, pos), pos);
}
