/* math_formulas.h -- defines the mathematical functions, except the gamma functions.
 *
 * A formula is written once.  It is a C function that combines values by the operations `add`, `fused`, `choose` …, and
 * the file that includes this one defines these operations and the types of values:
 *
 *     libm_functions.h  a value is a number, an operation computes it: the functions of the host and of the evaluator
 *     emit_math.c       a value is the name of an LLVM value, an operation appends an instruction: the functions of
 *                       loops, and those of GPUs
 *
 * Both therefore compute the same operations, each of which IEEE 754 defines; the results have the same bits.
 *
 * V, I, B: types of floating-point values, of integers of the same width, and of conditions.  m->wide: float64,
 * otherwise float32.  The formulas have no branches: they compute both sides and select one, so that loops with them
 * can be vectorized.  The host computes only the side of choose_lazily that it needs.
 * No operation may be contracted; fma is used explicitly.
 *
 * Functions with the prefix d_ compute with a value in two parts, high and low, where the result needs more precision
 * than the type has. */
#ifndef VM_BASE_MATH_FORMULAS_H
#define VM_BASE_MATH_FORMULAS_H
#include <float.h>
#include <stddef.h>

typedef struct {
    V h, l;
} D; /* the value h + l; |l| is at most about half a unit in the last place of h */

#define POLY(name, bits, ...) __attribute__((unused)) static const double name##_##bits[] = {__VA_ARGS__};
#include "vm/base/mathpoly.def"

/* Constants as sums of floats ([0]) and of doubles ([1]). */
typedef const double Parts[2][3];
static Parts one_log2e = {{0x1.715476p+0, 0x1.4ae0cp-26, 0}, {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 0}},
             log_2 = {{0x1.62e43p-1, -0x1.05c61p-29, 0}, {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0}},
             half_pi = {{0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50},
                        {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}},
             one_log10e = {{0x1.bcb7b2p-2, -0x1.5b235ep-27, 0}, {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0}},
             log10_2 = {{0x1.344136p-2, -0x1.ec10cp-27, 0}, {0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59, 0}},
             two_thirds = {{0x1.555556p-1, -0x1.555556p-26, 0}, {0x1.5555555555555p-1, 0x1.5555555555555p-55, 0}};
/* log 2, whose first part has so few digits that its product with an exponent is exact */
static const double short_log_2[2][2] = {{0x1.62e4p-1, 0x1.7f7d1cp-20}, {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45}};

static inline V constant_part(const Maker *m, Parts c, int i) { return num(m, c[m->wide][i]); }
static inline D parts(const Maker *m, Parts c) { return (D){constant_part(m, c, 0), constant_part(m, c, 1)}; }
static inline V zero(const Maker *m) { return num(m, 0); }
static inline V one(const Maker *m) { return num(m, 1); }
static inline V half(const Maker *m) { return num(m, 0.5); }
static inline V scaled(Maker *m, V a, double by) { return mul(m, a, num(m, by)); }
static inline B is_zero(Maker *m, V a) { return is(m, "oeq", a, zero(m)); }
static inline int digits(const Maker *m) { return m->wide ? DBL_MANT_DIG : FLT_MANT_DIG; }
static inline int bias(const Maker *m) { return (m->wide ? DBL_MAX_EXP : FLT_MAX_EXP) - 1; }

/* A number whose unit in the last place is 1.  A smaller number plus it is rounded to an integer, which is in the low
 * bits of the sum. */
static inline double magic(const Maker *m) { return m->wide ? 0x1.8p52 : 0x1.8p23; }

/* Returns 2^k, for the low bits k + bias of a number; 2^k must be a normal number. */
static inline V power_of_low_bits(Maker *m, V low) {
    return of_bits(m, iop(m, "shl", bits_of(m, low), integer(digits(m) - 1)));
}

/* Evaluates c[0] + x*(c[1] + x*(…)). */
static inline V horner(Maker *m, V x, const double *c, size_t n) {
    V sum = num(m, c[n - 1]);
    for (size_t i = n - 1; i-- > 0;) sum = fused(m, sum, x, num(m, c[i]));
    return sum;
}

/* Evaluates c[0] + x*(c[1] + x*(…)) in a tree, which has fewer steps that depend on each other; a tree has at most 32
 * coefficients. */
static inline V tree_2(Maker *m, V x, const double *c, size_t n) {
    return n == 1 ? num(m, c[0]) : fused(m, num(m, c[1]), x, num(m, c[0]));
}
static inline V tree_4(Maker *m, V x, V x2, const double *c, size_t n) {
    return n <= 2 ? tree_2(m, x, c, n) : fused(m, tree_2(m, x, c + 2, n - 2), x2, tree_2(m, x, c, 2));
}
static inline V tree_8(Maker *m, V x, V x2, V x4, const double *c, size_t n) {
    return n <= 4 ? tree_4(m, x, x2, c, n) : fused(m, tree_4(m, x, x2, c + 4, n - 4), x4, tree_4(m, x, x2, c, 4));
}
static inline V tree_16(Maker *m, V x, V x2, V x4, V x8, const double *c, size_t n) {
    if (n <= 8) return tree_8(m, x, x2, x4, c, n);
    return fused(m, tree_8(m, x, x2, x4, c + 8, n - 8), x8, tree_8(m, x, x2, x4, c, 8));
}
static inline V tree(Maker *m, V x, const double *c, size_t n) {
    V x2 = mul(m, x, x), x4 = n > 2 ? mul(m, x2, x2) : x2;
    if (n <= 8) return tree_8(m, x, x2, x4, c, n);
    V x8 = mul(m, x4, x4);
    if (n <= 16) return tree_16(m, x, x2, x4, x8, c, n);
    return fused(m, tree_16(m, x, x2, x4, x8, c + 16, n - 16), mul(m, x8, x8), tree_16(m, x, x2, x4, x8, c, 16));
}
#define COUNT(a)                  (sizeof(a) / sizeof *(a))
#define POLYNOMIAL_64(m, name, x) tree(m, x, name##_64, COUNT(name##_64))
#define POLYNOMIAL_32(m, name, x) horner(m, x, name##_32, COUNT(name##_32))
#define POLYNOMIAL(m, name, x)    ((m)->wide ? POLYNOMIAL_64(m, name, x) : POLYNOMIAL_32(m, name, x))

/* The same, where the first coefficients, one or two, are added last: more steps, but less of the sum is rounded. */
static inline V first_last(Maker *m, V x, const double *c, size_t n, size_t first) {
    V sum = tree(m, x, c + first, n - first);
    while (first-- > 0) sum = fused(m, x, sum, num(m, c[first]));
    return sum;
}
#define SERIES(m, name, x, first)                                                                                      \
    ((m)->wide ? first_last(m, x, name##_64, COUNT(name##_64), first) : POLYNOMIAL_32(m, name, x))

/* -- values in two parts ------------------------------------------------------------------------------------------- */
/* d_fast and d_sum return a + b exactly; d_fast requires |a| >= |b| or a = 0. */
static inline D d_fast(Maker *m, V a, V b) {
    V h = add(m, a, b);
    return (D){h, sub(m, b, sub(m, h, a))};
}

static inline D d_sum(Maker *m, V a, V b) {
    V h = add(m, a, b), of_b = sub(m, h, a), of_a = sub(m, h, of_b);
    return (D){h, add(m, sub(m, a, of_a), sub(m, b, of_b))};
}

static inline D d_product(Maker *m, V a, V b) {
    V h = mul(m, a, b);
    return (D){h, fused(m, a, b, neg(m, h))};
}

/* Return a/b, and the square root of a > 0, in two parts.  The parts of the arguments do not overlap. */
static inline D d_quotient(Maker *m, D a, D b) {
    V inverse = quot(m, one(m), b.h), q = mul(m, a.h, inverse), down = neg(m, q);
    return (D){q, mul(m, fused(m, down, b.l, add(m, fused(m, down, b.h, a.h), a.l)), inverse)};
}

static inline D d_root(Maker *m, D a) {
    V h = root(m, a.h), rest = add(m, fused(m, neg(m, h), h, a.h), a.l);
    return (D){h, quot(m, mul(m, rest, half(m)), h)};
}

static inline V d_round(Maker *m, D a) { return add(m, a.h, a.l); }

/* -- exponentials -------------------------------------------------------------------------------------------------- */
/* Returns (a.h + a.l) * 2^(n + shift) for an integer n, computed with two factors, so that each is a normal number;
 * only the sum and the last product are rounded. */
static inline V times_power(Maker *m, D a, V n, int shift) {
    V biased = num(m, magic(m) + bias(m)), first = fused(m, n, half(m), biased);
    V rest = add(m, sub(m, n, sub(m, first, biased)), num(m, magic(m) + bias(m) + shift));
    V by = power_of_low_bits(m, first);
    return mul(m, fused(m, a.l, by, mul(m, a.h, by)), power_of_low_bits(m, rest));
}

static inline V odd_series(Maker *m, V x, V p, V z) { return fused(m, mul(m, x, z), p, x); } /* x + x z p */

/* Returns the value; below `low` returns `less`, above `high` infinity.  Most values can wait for this at the end. */
static inline V in_range(Maker *m, V x, double low, double high, V less, V value) {
    value = choose(m, is(m, "olt", x, num(m, low)), less, value);
    return choose(m, is(m, "ogt", x, num(m, high)), infinity(m), value);
}

/* Returns e^r as a sum, whose second part is at most a tenth of the first one; |r| is at most about log(2)/2. */
static inline D d_small_exp(Maker *m, D r) {
    V square = mul(m, r.h, r.h);
    D sum = d_fast(m, one(m), r.h);
    if (!m->wide) return (D){sum.h, add(m, sum.l, fused(m, square, POLYNOMIAL_32(m, exp, r.h), r.l))};
    V low = fused(m, square, half(m), add(m, sum.l, fused(m, r.l, r.h, r.l)));
    return (D){sum.h, fused(m, mul(m, square, r.h), POLYNOMIAL_64(m, exp_rest, r.h), low)};
}

/* Returns e^(x + tail)/2^n as a sum, whose second part is at most a tenth of the first one, and sets *n to an integer;
 * tail may be NULL.  The argument x + tail is reduced to
 * n log 2 + r + rest, where x - n*log_2[0] is exact. */
static inline D d_exp(Maker *m, V x, const V *tail, V *n) {
    V by = num(m, magic(m));
    *n = sub(m, fused(m, x, constant_part(m, one_log2e, 0), by), by);
    V down = neg(m, *n), near = fused(m, down, constant_part(m, log_2, 0), x);
    V low = mul(m, down, constant_part(m, log_2, 1));
    if (tail) low = add(m, low, *tail);
    V r = add(m, near, low);
    return d_small_exp(m, (D){r, add(m, sub(m, near, r), low)});
}

/* Returns e^(x + tail) * 2^shift.  If x is out of range, the result is chosen at the end, as most values can wait for
 * that. */
static inline V scaled_exp(Maker *m, V x, const V *tail, int shift) {
    V n;
    D sum = d_exp(m, x, tail, &n);
    return in_range(m, x, m->wide ? -750 : -110, m->wide ? 715 : 95, zero(m), times_power(m, sum, n, shift));
}

/* Returns 2^x for doubles. */
static inline V wide_exp2(Maker *m, V x) {
    V by = num(m, magic(m)), n = sub(m, add(m, x, by), by), rest = sub(m, x, n);
    D r = d_product(m, rest, constant_part(m, log_2, 0));
    r.l = fused(m, rest, constant_part(m, log_2, 1), r.l);
    return in_range(m, x, -1100, 1030, zero(m), times_power(m, d_small_exp(m, r), n, 0));
}

static inline V scaled_part(const Maker *m, Parts c, int i, double by) { return num(m, c[m->wide][i] * by); }

static inline V clamp(Maker *m, V x, double low, double high) { /* NaN stays */
    x = choose(m, is(m, "olt", x, num(m, low)), num(m, low), x);
    return choose(m, is(m, "ogt", x, num(m, high)), num(m, high), x);
}

/* Returns 2^(2k) e^r for floats, |r| <= log 2.  The factor 2^k is applied twice, so that it is a normal number.
 * k_and_bias has the biased exponent k in its lowest bits, so computing 2^k takes one shift. */
static inline V float_power(Maker *m, V k_and_bias, V r) {
    V by = of_bits(m, iop(m, "shl", bits_of(m, k_and_bias), integer(FLT_MANT_DIG - 1)));
    V e = fused(m, r, fused(m, r, POLYNOMIAL_32(m, exp_wide, r), one(m)), one(m));
    return mul(m, mul(m, e, by), by);
}

static inline V clamp_exp(Maker *m, V x) { return clamp(m, x, -110, 95); }

static const double biased_magic = 0x1.8p23 + FLT_MAX_EXP - 1; /* adding it leaves integer plus bias in the low bits */

static inline V float_exp(Maker *m, V x) {
    V magic = num(m, biased_magic);
    x = clamp_exp(m, x);
    V shifted = fused(m, x, scaled_part(m, one_log2e, 0, 0.5), magic), down = sub(m, magic, shifted);
    V r = fused(m, down, scaled_part(m, log_2, 1, 2), fused(m, down, scaled_part(m, log_2, 0, 2), x));
    return float_power(m, shifted, r);
}

static inline V float_exp2(Maker *m, V x) {
    V magic = num(m, biased_magic);
    x = clamp(m, x, -160, 135);
    V shifted = fused(m, x, half(m), magic), r = fused(m, num(m, 2), sub(m, magic, shifted), x);
    return float_power(m, shifted, mul(m, r, constant_part(m, log_2, 0)));
}

static inline V make_exp(Maker *m, V x, V y) { return (void)y, m->wide ? scaled_exp(m, x, NULL, 0) : float_exp(m, x); }

static inline V make_exp2(Maker *m, V x, V y) { return (void)y, m->wide ? wide_exp2(m, x) : float_exp2(m, x); }

/* Computes (2^n e^r - 1)/2, so that nothing overflows, and doubles it. */
static inline V make_expm1(Maker *m, V x, V y) {
    V n;
    D e = d_exp(m, x, NULL, &n);
    V by = power_of_low_bits(m, add(m, n, num(m, magic(m) + bias(m) - 1)));
    D sum = d_sum(m, mul(m, e.h, by), num(m, -0.5));
    V value = scaled(m, add(m, sum.h, fused(m, e.l, by, sum.l)), 2);
    value = in_range(m, x, m->wide ? -50 : -30, m->wide ? 709.8 : 88.73, num(m, -1), value);
    return (void)y, choose(m, is(m, "olt", magnitude(m, x), num(m, m->wide ? 0x1p-54 : 0x1p-25)), x, value);
}

/* Returns (e^|x| + e^-|x|)/2, or the difference of these, computed in two parts. */
static inline V half_exps(Maker *m, V x, bool minus) {
    V n, a = magnitude(m, x);
    D e = d_exp(m, a, NULL, &n);
    e = d_fast(m, e.h, e.l);
    V few = choose(m, is(m, "ogt", n, num(m, 40)), num(m, 40), n);
    V by = power_of_low_bits(m, fused(m, few, num(m, -2), num(m, magic(m) + bias(m))));
    V inverse = quot(m, one(m), e.h), low = fused(m, inverse, neg(m, e.h), one(m));
    low = mul(m, inverse, fused(m, inverse, neg(m, e.l), low));
    if (minus) by = neg(m, by);
    D sum = d_fast(m, e.h, mul(m, inverse, by));
    sum.l = add(m, sum.l, fused(m, low, by, e.l));
    return in_range(m, a, 0, m->wide ? 715 : 95, zero(m), times_power(m, sum, n, -1));
}

static inline V make_sinh(Maker *m, V x, V y) {
    V a = magnitude(m, x), z = mul(m, x, x);
    B small = is(m, "olt", a, one(m));
    V value = choose_lazily(m, small, odd_series(m, a, SERIES(m, sinh, z, 1), z), half_exps(m, x, true));
    return (void)y, with_sign(m, value, x);
}

static inline V make_cosh(Maker *m, V x, V y) { return (void)y, half_exps(m, x, false); }

/* Returns 1 - 2/(e^2a + 1), computed in two parts. */
static inline V far_tanh(Maker *m, V a) {
    V limited = choose(m, is(m, "ogt", a, num(m, 22)), num(m, 22), a), n; /* the result is 1 */
    D e = d_exp(m, add(m, limited, limited), NULL, &n);
    V by = power_of_low_bits(m, add(m, n, num(m, magic(m) + bias(m))));
    e = d_fast(m, e.h, e.l);
    D sum = d_fast(m, mul(m, e.h, by), one(m));
    sum.l = fused(m, e.l, by, sum.l);
    V q = quot(m, num(m, 2), sum.h), down = neg(m, q);
    V low = mul(m, mul(m, q, half(m)), fused(m, down, sum.l, fused(m, down, sum.h, num(m, 2))));
    D far = d_fast(m, one(m), down);
    return add(m, far.h, sub(m, far.l, low));
}

static inline V make_tanh(Maker *m, V x, V y) {
    V a = magnitude(m, x), z = mul(m, x, x);
    B small = is(m, "olt", a, num(m, 0.55));
    V value = choose_lazily(m, small, odd_series(m, a, SERIES(m, tanh, z, 1), z), far_tanh(m, a));
    return (void)y, with_sign(m, value, x);
}

/* -- logarithms ---------------------------------------------------------------------------------------------------- */
/* Splits a positive finite x into 2^k m, with m between sqrt(1/2) and sqrt(2); returns m. */
static inline V split(Maker *m, V x, V *k) {
    double up = m->wide ? 0x1p54 : 0x1p25, start = m->wide ? 0x1p52 : 0x1p23;
    B tiny = is(m, "olt", x, num(m, m->wide ? DBL_MIN : (double)FLT_MIN));
    I lowest = bits_of(m, num(m, 0x1.6a09e667f3bcdp-1)), shift = integer(digits(m) - 1);
    /* the exponent of x/sqrt(1/2), to which bias + 1 is added so that it is positive */
    I room = iop(m, "shl", integer(bias(m) + 1), shift);
    I bits = iop(m, "add", bits_of(m, choose(m, tiny, scaled(m, x, up), x)), iop(m, "sub", room, lowest));
    V exponent = of_bits(m, iop(m, "or", iop(m, "lshr", bits, shift), bits_of(m, num(m, start))));
    double least = start + bias(m) + 1;
    *k = sub(m, exponent, choose(m, tiny, num(m, least + digits(m) + 1), num(m, least)));
    return of_bits(m, iop(m, "add", iop(m, "and", bits, integer(((int64_t)1 << (digits(m) - 1)) - 1)), lowest));
}

/* Returns log(1 + f) - f = -s (f - z p), where s = f/(2 + f).  The rounding error is small because s is small. */
static inline V log_tail(Maker *m, V f) {
    V s = quot(m, f, add(m, num(m, 2), f)), z = mul(m, s, s);
    return neg(m, mul(m, s, fused(m, neg(m, z), POLYNOMIAL(m, log, z), f)));
}

/* Replaces the value of a logarithm for zero, negative numbers, infinity and NaN. */
static inline V log_special(Maker *m, V x, V value) {
    V other = choose(m, is_zero(m, x), neg(m, infinity(m)), not_a_number(m));
    value = choose(m, is(m, "ogt", x, zero(m)), value, other);
    return choose(m, is(m, "olt", x, infinity(m)), value, x);
}

/* Returns k log 2 + log(1 + f) + extra. */
static inline V log_sum(Maker *m, V k, V f, V extra) {
    V tail = fused(m, k, constant_part(m, log_2, 1), add(m, log_tail(m, f), extra));
    return fused(m, k, constant_part(m, log_2, 0), add(m, f, tail));
}

static inline V short_product(Maker *m, V k) { return scaled(m, k, short_log_2[m->wide][0]); }

/* Returns k log 2 + log(1 + f) for doubles: the sum of k log 2, f, -f^2/2 and s (f^2/2 + z p), where s = f/(2 + f).
 * All but the last term, which is small, have two parts.  *extra is added; the pointer may be NULL. */
static inline V precise_log_sum(Maker *m, V k, V f, const V *extra) {
    V s = quot(m, f, add(m, num(m, 2), f)), z = mul(m, s, s);
    D square = d_product(m, scaled(m, f, 0.5), f);
    D first = d_fast(m, short_product(m, k), f), sum = d_fast(m, first.h, neg(m, square.h));
    V low = sub(m, add(m, first.l, sum.l), square.l);
    low = fused(m, k, num(m, short_log_2[m->wide][1]), extra ? add(m, low, *extra) : low);
    return add(m, sum.h, fused(m, s, fused(m, z, POLYNOMIAL(m, log, z), square.h), low));
}

static inline V any_log_sum(Maker *m, V k, V f, const V *extra) {
    return m->wide ? precise_log_sum(m, k, f, extra) : log_sum(m, k, f, extra ? *extra : zero(m));
}

static inline V make_log(Maker *m, V x, V y) {
    V k, f = sub(m, split(m, x, &k), one(m));
    return (void)y, log_special(m, x, any_log_sum(m, k, f, NULL));
}

/* Return log(1 + x + tail) for x near 0, and for others; tail may be NULL.  u is 1 + x; its rounded part u.l is added
 * as `extra`. */
static inline V near_log_of_1p(Maker *m, V x, const V *tail, D u) {
    V rest = log_tail(m, x);
    return add(m, x, tail ? add(m, rest, quot(m, *tail, u.h)) : rest);
}
static inline V far_log_of_1p(Maker *m, const V *tail, D u) {
    V k, f = sub(m, split(m, u.h, &k), one(m)), lost = quot(m, tail ? add(m, u.l, *tail) : u.l, u.h);
    V value = any_log_sum(m, k, f, &lost);
    return log_special(m, u.h, choose(m, is(m, "oeq", u.h, infinity(m)), u.h, value));
}

static inline V log_of_1p(Maker *m, V x, const V *tail) {
    D u = d_sum(m, one(m), x);
    B near = both(m, is(m, "ogt", x, num(m, -0.29)), is(m, "olt", x, num(m, 0.41)));
    V value = choose_lazily(m, near, near_log_of_1p(m, x, tail, u), far_log_of_1p(m, tail, u));
    return choose(m, is_zero(m, x), x, value);
}

static inline V make_log1p(Maker *m, V x, V y) { return (void)y, log_of_1p(m, x, NULL); }

/* Returns the logarithm of x in another base.  unit: log e in that base; two: log 2 in that base. */
static inline V log_based(Maker *m, V x, D unit, D two) {
    V k, f = sub(m, split(m, x, &k), one(m));
    D l = d_fast(m, f, log_tail(m, f)), p = d_product(m, l.h, unit.h), n = d_product(m, k, two.h);
    V low = fused(m, l.h, unit.l, fused(m, l.l, unit.h, p.l));
    D s = d_fast(m, n.h, p.h);
    low = add(m, add(m, s.l, low), fused(m, k, two.l, n.l));
    return log_special(m, x, add(m, s.h, low));
}

static inline V make_log2(Maker *m, V x, V y) {
    return (void)y, log_based(m, x, parts(m, one_log2e), (D){one(m), zero(m)});
}

static inline V make_log10(Maker *m, V x, V y) {
    return (void)y, log_based(m, x, parts(m, one_log10e), parts(m, log10_2));
}

/* Returns log x in two parts, with about 12 more digits than the type, for positive finite x: the sum of k log 2, 2s
 * and s^3 (2/3 + z p), where s = f/(2 + f) and z = s^2. */
static inline D d_log(Maker *m, V x) {
    V k, f = sub(m, split(m, x, &k), one(m));
    D by = d_fast(m, num(m, 2), f), s, z, t, u;
    V inverse = quot(m, one(m), by.h);
    s.h = mul(m, f, inverse);
    V down = neg(m, s.h), left = fused(m, down, by.l, fused(m, down, by.h, f));
    s.l = mul(m, left, inverse);
    z = d_product(m, s.h, s.h), z.l = fused(m, add(m, s.h, s.h), s.l, z.l);
    t = d_product(m, s.h, z.h), t.l = fused(m, s.h, z.l, fused(m, s.l, z.h, t.l));
    D c = d_fast(m, constant_part(m, two_thirds, 0), mul(m, z.h, POLYNOMIAL(m, log_rest, z.h)));
    c.l = add(m, c.l, constant_part(m, two_thirds, 1));
    u = d_product(m, t.h, c.h), u.l = fused(m, t.h, c.l, fused(m, t.l, c.h, u.l));
    D sum = d_fast(m, short_product(m, k), add(m, s.h, s.h)), all = d_fast(m, sum.h, u.h);
    V low = fused(m, num(m, 2), s.l, add(m, u.l, add(m, sum.l, all.l)));
    return d_fast(m, all.h, fused(m, k, num(m, short_log_2[m->wide][1]), low));
}

/* -- powers -------------------------------------------------------------------------------------------------------- */
/* Returns e^(y log a) for positive finite a and finite y. */
static inline V positive_power(Maker *m, V a, V y) {
    D l = d_log(m, a), p = d_product(m, y, l.h);
    V tail = fused(m, y, l.l, p.l);
    return scaled_exp(m, p.h, &tail, 0);
}

/* Returns x^y for positive finite x and finite y, otherwise NaN. */
static inline V ordinary_power(Maker *m, V x, V y) {
    B ordinary = both(m, is(m, "ogt", x, zero(m)), is(m, "olt", x, infinity(m)));
    ordinary = both(m, ordinary, is(m, "olt", magnitude(m, y), infinity(m)));
    return choose(m, ordinary, positive_power(m, x, y), not_a_number(m));
}

/* -- roots --------------------------------------------------------------------------------------------------------- */
/* Computes the cube root of 2^k v with y, an estimate of 1/cbrt(v), which Halley's iteration improves; v y^2 is then
 * improved by a Newton step with an exact residue. */
static inline V make_cbrt(Maker *m, V x, V y) {
    V a = magnitude(m, x), k, v = split(m, a, &k), by = num(m, magic(m));
    V shifted = fused(m, k, num(m, 1.0 / 3), by), third = sub(m, shifted, by), left = fused(m, third, num(m, -3), k);
    B up = is(m, "ogt", left, zero(m)), down = is(m, "olt", left, zero(m));
    V scale = choose(m, down, num(m, 0x1.428a2f98d728bp+0), one(m)); /* 2^(1/3), 2^(-1/3) */
    scale = choose(m, up, num(m, 0x1.965fea53d6e3dp-1), scale);
    V root = mul(m, POLYNOMIAL(m, cbrt, v), scale);
    v = mul(m, v, choose(m, up, num(m, 2), choose(m, down, half(m), one(m))));
    V e = fused(m, mul(m, neg(m, v), mul(m, root, root)), root, one(m));
    root = fused(m, root, mul(m, e, fused(m, e, num(m, 2.0 / 9), num(m, 1.0 / 3))), root);
    V square = mul(m, root, root), t = mul(m, v, square);
    D cube = d_product(m, t, t);
    V residue = fused(m, cube.l, t, fused(m, cube.h, t, neg(m, v)));
    t = fused(m, mul(m, residue, num(m, -1.0 / 3)), square, t);
    t = mul(m, t, power_of_low_bits(m, add(m, shifted, num(m, bias(m)))));
    B usual = both(m, is(m, "olt", a, infinity(m)), is(m, "ogt", a, zero(m)));
    return (void)y, choose(m, usual, with_sign(m, t, x), x);
}

/* The square root of the sum of squares, from which an estimate of its error is subtracted. */
static inline V make_hypot(Maker *m, V x, V y) {
    V a = magnitude(m, x), b = magnitude(m, y), none = zero(m);
    B larger = is(m, "olt", a, b);
    V most = choose(m, larger, b, a), least = choose(m, larger, a, b);
    B huge = is(m, "ogt", most, num(m, m->wide ? 0x1p511 : 0x1p63));
    B tiny = is(m, "olt", most, num(m, m->wide ? 0x1p-459 : 0x1p-45));
    V down = num(m, m->wide ? 0x1p-600 : 0x1p-100), up = num(m, m->wide ? 0x1p600 : 0x1p100);
    V by = choose(m, huge, down, choose(m, tiny, up, one(m)));
    V back = choose(m, huge, up, choose(m, tiny, down, one(m)));
    most = mul(m, most, by), least = mul(m, least, by);
    D square = d_product(m, most, most);
    V value = root(m, fused(m, least, least, square.h)), low = fused(m, neg(m, value), value, square.h);
    low = quot(m, add(m, fused(m, least, least, low), square.l), value);
    value = choose(m, is(m, "ogt", most, none), mul(m, fused(m, low, half(m), value), back), none);
    value = choose(m, is(m, "uno", x, y), not_a_number(m), value);
    B endless = either(m, is(m, "oeq", a, infinity(m)), is(m, "oeq", b, infinity(m)));
    return choose(m, endless, infinity(m), value);
}

/* -- circular functions -------------------------------------------------------------------------------------------- */
/* Returns x - k pi/2 for |x| up to 2^30 (2^17 for float), with pi/2 in three parts and the rounding error of each
 * step.  The low bits of *k are right.  For doubles |r.l| may be a few units in the last place of r.h. */
static inline D reduce_near(Maker *m, V x, I *k) {
    V by = num(m, magic(m)), shifted = fused(m, x, num(m, 0x1.45f306dc9c883p-1), by), down = sub(m, by, shifted);
    V first = fused(m, down, constant_part(m, half_pi, 0), x); /* exact */
    D off = d_product(m, down, constant_part(m, half_pi, 1)), r = d_sum(m, first, off.h);
    r.l = fused(m, down, constant_part(m, half_pi, 2), add(m, r.l, off.l));
    *k = bits_of(m, shifted);
    return m->wide ? r : d_fast(m, r.h, r.l);
}

/* Return sin r, or cos r, as a sum of two numbers that has not been rounded. */
static inline D small_sin(Maker *m, D r) {
    V z = mul(m, r.h, r.h), cube = mul(m, z, r.h), tail = fused(m, mul(m, num(m, -0.5), z), r.l, r.l);
    if (!m->wide) return (D){r.h, fused(m, cube, POLYNOMIAL_32(m, sin, z), tail)};
    tail = fused(m, mul(m, cube, z), tree(m, z, sin_64 + 1, COUNT(sin_64) - 1), tail);
    return (D){r.h, fused(m, cube, num(m, sin_64[0]), tail)};
}

static inline D small_cos(Maker *m, D r) {
    D z = d_product(m, r.h, r.h);
    V hz = mul(m, half(m), z.h), w = sub(m, one(m), hz), tail = neg(m, mul(m, r.h, r.l));
    if (m->wide) tail = fused(m, z.l, num(m, -0.5), tail);
    V rest = fused(m, mul(m, z.h, z.h), POLYNOMIAL(m, cos, z.h), tail);
    return (D){w, add(m, sub(m, sub(m, one(m), w), hz), rest)};
}

/* Returns sin(r + k pi/2); only the low bits of k count. */
static inline V sin_of_quadrant(Maker *m, D r, I k) {
    V value = choose(m, bit(m, k, 1), d_round(m, small_cos(m, r)), d_round(m, small_sin(m, r)));
    I sign = iop(m, "and", iop(m, "shl", k, integer(m->wide ? 62 : 30)), integer(m->wide ? INT64_MIN : INT32_MIN));
    return of_bits(m, iop(m, "xor", bits_of(m, value), sign));
}

/* Returns sin(x) or cos(x), where r + k pi/2 is x. */
static inline V finish_wave(Maker *m, V x, D r, I k, bool cosine) {
    V value = sin_of_quadrant(m, r, cosine ? iop(m, "add", k, integer(1)) : k);
    return cosine ? value : choose(m, is_zero(m, x), x, value);
}

static const double far_double = 0x1p30, far_float = 0x1p17; /* from here on, arguments are reduced in another way */

/* Returns sin(x) or cos(x) of a double, |x| < far_double. */
static inline V near_wide_wave(Maker *m, V x, bool cosine) {
    I k;
    D r = reduce_near(m, x, &k);
    return finish_wave(m, x, r, k, cosine);
}

static const double one_pi = 0x1.45f306dc9c883p-2; /* 1/pi */
/* Three parts of pi.  All are positive, so that subtracting multiples keeps -0. */
static const double float_pi[3] = {0x1.921fb4p+1, 0x1.4442dp-23, 0x1.84698ap-47};

/* Returns sin(x) or cos(x) of a float below 2^17.  The remainder, at most a quarter turn, is computed by subtracting a
 * multiple of pi, or for cos an odd multiple of pi/2, in three parts whose products are not rounded.  The lowest bit of
 * the number of half turns determines the sign. */
static inline V near_float_wave(Maker *m, V x, bool cosine) {
    V magic = num(m, cosine ? 0x1.8p23 + 1 : 0x1.8p23), turn = num(m, one_pi), n, r;
    if (cosine) x = magnitude(m, x);
    V shifted = cosine ? add(m, fused(m, x, turn, num(m, -0.5)), magic) : fused(m, x, turn, magic);
    n = sub(m, shifted, magic), r = x;
    if (cosine) n = add(m, n, half(m));
    for (int i = 0; i < 3; i++) r = fused(m, n, num(m, -float_pi[i]), r);
    V z = mul(m, r, r), value = mul(m, r, fused(m, z, POLYNOMIAL_32(m, sin_wide, z), one(m)));
    I sign = iop(m, "shl", bits_of(m, shifted), integer(31));
    return of_bits(m, iop(m, "xor", bits_of(m, value), sign));
}

/* Returns tan(x), where r + k pi/2 is x: the quotient of sin r and cos r, or of -cos r and sin r. */
static inline V finish_tan(Maker *m, V x, D r, I k) {
    D s = small_sin(m, r), c = small_cos(m, r), above, below;
    B odd = bit(m, k, 1);
    s = d_fast(m, s.h, s.l), c = d_fast(m, c.h, c.l);
    above = (D){choose(m, odd, neg(m, c.h), s.h), choose(m, odd, neg(m, c.l), s.l)};
    below = (D){choose(m, odd, s.h, c.h), choose(m, odd, s.l, c.l)};
    return choose(m, is_zero(m, x), x, d_round(m, d_quotient(m, above, below)));
}

/* Returns tan(x) of a double, |x| < far_double. */
static inline V near_wide_tan(Maker *m, V x) {
    I k;
    D r = reduce_near(m, x, &k);
    return finish_tan(m, x, r, k);
}

/* -- inverse circular functions ------------------------------------------------------------------------------------ */
/* Returns asin(t) as the sum of *t and the result, where *t is |x|, or for |x| >= 1/2 the sine of half of the angle
 * that is pi/2 less: asin(x) = pi/2 - 2 asin(t), t = sqrt((1 - x)/2). */
static inline V asin_series(Maker *m, V x, B *small, V *t) {
    V a = magnitude(m, x), halved = mul(m, sub(m, one(m), a), half(m));
    *small = is(m, "olt", a, half(m));
    V z = choose(m, *small, mul(m, a, a), halved), by = root(m, halved);
    *t = choose(m, *small, a, by);
    V rest = mul(m, mul(m, *t, z), SERIES(m, asin, z, 1));
    if (!m->wide) return rest;
    V lost = quot(m, scaled(m, fused(m, neg(m, by), by, halved), 0.5), by); /* the rounding error of the root */
    return add(m, rest, choose(m, either(m, *small, is_zero(m, by)), zero(m), lost));
}

/* Returns n pi/2 + a + b for small n and |a|, |b| < 2, computed in two parts. */
static inline V quarters_and(Maker *m, double n, V a, V b) {
    V high = scaled(m, constant_part(m, half_pi, 0), n);
    if (!m->wide) return add(m, high, add(m, a, fused(m, num(m, n), constant_part(m, half_pi, 1), b)));
    D sum = d_sum(m, high, a);
    return add(m, sum.h, add(m, sum.l, fused(m, num(m, n), constant_part(m, half_pi, 1), b)));
}

static inline V make_asin(Maker *m, V x, V y) {
    V t, rest;
    B small;
    rest = asin_series(m, x, &small, &t);
    V large = quarters_and(m, 1, scaled(m, t, -2), scaled(m, rest, -2));
    return (void)y, with_sign(m, choose(m, small, add(m, t, rest), large), x);
}

static inline V make_acos(Maker *m, V x, V y) {
    V t, rest;
    B small;
    rest = asin_series(m, x, &small, &t);
    V middle = quarters_and(m, 1, neg(m, x), neg(m, with_sign(m, rest, x)));
    V left = quarters_and(m, 2, scaled(m, t, -2), scaled(m, rest, -2)), right = scaled(m, add(m, t, rest), 2);
    return (void)y, choose(m, small, middle, choose(m, is(m, "olt", x, zero(m)), left, right));
}

/* Returns the angle of (u, v), or of (-u, v) if *left, which may be NULL, for u, v >= 0.  It is computed as n pi/4 plus
 * or minus (t + tail), where t is the smaller coordinate divided by the larger one, or their difference divided by
 * their sum, so that it is at most tan(pi/8). */
static inline V angle(Maker *m, V u, V v, const B *left) {
    B steep = is(m, "olt", u, v);
    V a = choose(m, steep, v, u), b = choose(m, steep, u, v);
    B middle = is(m, "ogt", b, scaled(m, a, 0x1.a827999fcef32p-2)); /* tan(pi/8) */
    D above = d_fast(m, a, neg(m, b)), below = d_fast(m, a, b);
    above = (D){choose(m, middle, neg(m, above.h), b), choose(m, middle, neg(m, above.l), zero(m))};
    below = (D){choose(m, middle, below.h, a), choose(m, middle, below.l, zero(m))};
    D t = m->wide ? d_quotient(m, above, below) : (D){quot(m, above.h, below.h), zero(m)};
    V z = mul(m, t.h, t.h), tail = mul(m, mul(m, t.h, z), SERIES(m, atan, z, 1));
    if (m->wide) tail = add(m, tail, fused(m, neg(m, t.l), z, t.l)); /* the derivative is about 1 - z */
    V n = choose(m, middle, half(m), zero(m)), back = choose(m, steep, num(m, -1), one(m)); /* of pi/2 */
    n = choose(m, steep, sub(m, one(m), n), n);
    if (left) n = choose(m, *left, sub(m, num(m, 2), n), n), back = choose(m, *left, neg(m, back), back);
    D base = d_product(m, n, constant_part(m, half_pi, 0)); /* exact for 1/2, 1 and 2 */
    V low = fused(m, n, constant_part(m, half_pi, 1), base.l);
    tail = fused(m, tail, back, low);
    D sum = d_sum(m, base.h, mul(m, t.h, back));
    return add(m, sum.h, add(m, sum.l, tail));
}

static inline V make_atan2(Maker *m, V y, V x) {
    V v = magnitude(m, y), u = magnitude(m, x), most = choose(m, is(m, "ogt", u, v), u, v);
    B left = negative(m, x), none = is_zero(m, most), endless = is(m, "oeq", most, infinity(m));
    V limit = num(m, m->wide ? 0x1p500 : 0x1p60), up = num(m, m->wide ? 0x1p400 : 0x1p40);
    V by = choose(m, is(m, "olt", most, limit), up, num(m, m->wide ? 0x1p-400 : 0x1p-40));
    V u1 = choose(m, is(m, "oeq", u, infinity(m)), one(m), zero(m));
    V v1 = choose(m, is(m, "oeq", v, infinity(m)), one(m), zero(m));
    u = choose(m, none, one(m), choose(m, endless, u1, mul(m, u, by))), v = choose(m, endless, v1, mul(m, v, by));
    V value = with_sign(m, angle(m, u, v, &left), y);
    return choose(m, is(m, "uno", x, y), not_a_number(m), value);
}

static inline V make_atan(Maker *m, V x, V y) {
    V a = magnitude(m, x), most = num(m, m->wide ? 0x1p60 : 0x1p30); /* atan is pi/2 from there on */
    return (void)y, with_sign(m, angle(m, one(m), choose(m, is(m, "ogt", a, most), most, a), NULL), x);
}

/* -- inverse hyperbolic functions ---------------------------------------------------------------------------------- */
/* Returns log(a + sqrt(a^2 + 1)), or log(2a). */
static inline V far_asinh(Maker *m, V a) {
    B huge = is(m, "ogt", a, num(m, m->wide ? 0x1p60 : 0x1p30));
    D square = d_product(m, a, a), above = d_sum(m, square.h, one(m));
    above.l = add(m, above.l, square.l);
    D r = d_root(m, above), sum = d_sum(m, a, r.h);
    V h = choose(m, huge, a, sum.h), k, f = sub(m, split(m, h, &k), one(m));
    V rest = choose(m, huge, zero(m), quot(m, add(m, sum.l, r.l), h));
    k = choose(m, huge, add(m, k, one(m)), k);
    return choose(m, is(m, "olt", a, infinity(m)), any_log_sum(m, k, f, &rest), a);
}

static inline V make_asinh(Maker *m, V x, V y) {
    V z = mul(m, x, x), a = magnitude(m, x);
    B small = is(m, "olt", a, num(m, 0.75));
    V value = choose_lazily(m, small, odd_series(m, a, SERIES(m, asinh, z, 1), z), far_asinh(m, a));
    return (void)y, with_sign(m, value, x);
}

/* Returns log(1 + t + sqrt(t (t + 2))), t = x - 1. */
static inline V near_acosh(Maker *m, V x) {
    V t = sub(m, x, one(m));
    D above = d_sum(m, t, num(m, 2)), product = d_product(m, t, above.h);
    product.l = fused(m, t, above.l, product.l);
    B none = is_zero(m, t);
    D r = d_root(m, (D){choose(m, none, one(m), product.h), product.l}), sum = d_sum(m, t, r.h);
    sum.l = add(m, sum.l, r.l);
    return choose(m, none, zero(m), log_of_1p(m, sum.h, &sum.l));
}

static inline V log_of_twice(Maker *m, V x) {
    V k, f = sub(m, split(m, x, &k), one(m));
    return log_special(m, x, any_log_sum(m, add(m, k, one(m)), f, NULL));
}

static inline V make_acosh(Maker *m, V x, V y) {
    B usual = is(m, "olt", x, num(m, m->wide ? 0x1p60 : 0x1p30));
    V value = choose_lazily(m, usual, near_acosh(m, x), log_of_twice(m, x));
    return (void)y, choose(m, is(m, "olt", x, one(m)), not_a_number(m), value);
}

/* Computes log(1 + 2a/(1 - a))/2. */
static inline V make_atanh(Maker *m, V x, V y) {
    V a = magnitude(m, x);
    B inside = is(m, "olt", a, one(m)), tiny = is(m, "olt", a, num(m, m->wide ? 0x1p-30 : 0x1p-15));
    D rest = d_fast(m, one(m), neg(m, choose(m, inside, a, zero(m))));
    D share = d_quotient(m, (D){add(m, a, a), zero(m)}, rest);
    V value = choose(m, tiny, a, mul(m, half(m), log_of_1p(m, share.h, &share.l)));
    V edge = choose(m, is(m, "oeq", a, one(m)), infinity(m), not_a_number(m));
    return (void)y, with_sign(m, choose(m, inside, value, edge), x);
}

/* -- the error function -------------------------------------------------------------------------------------------- */
static inline V small_erf(Maker *m, V x) { return mul(m, x, SERIES(m, erf, mul(m, x, x), 2)); } /* erf(x) - x */

/* Returns 2^-n erfc(a) in two parts, for a >= 1/2: the product of exp(-a^2) and (5/4 + p)/(1 + 2a), where p is a
 * polynomial. */
static inline D d_far_erfc(Maker *m, V a, V *n) {
    V most = num(m, m->wide ? 28 : 10.5); /* erfc is 0 there */
    a = choose(m, is(m, "olt", a, most), a, most);
    D square = d_product(m, a, a);
    V t = quot(m, sub(m, a, num(m, 4)), add(m, a, num(m, 4))), low = neg(m, square.l);
    D e = d_exp(m, neg(m, square.h), &low, n), by = d_fast(m, add(m, a, a), one(m));
    e = d_fast(m, e.h, e.l);
    D q = d_quotient(m, d_fast(m, num(m, 1.25), POLYNOMIAL(m, erfc, t)), by), value = d_product(m, e.h, q.h);
    value.l = add(m, value.l, fused(m, e.h, q.l, mul(m, e.l, q.h)));
    return value;
}

static inline V far_erf(Maker *m, V a) {
    V n;
    D f = d_far_erfc(m, a, &n);
    n = choose(m, is(m, "olt", n, num(m, -90)), num(m, -90), n); /* the result is 1 */
    V by = power_of_low_bits(m, add(m, n, num(m, magic(m) + bias(m))));
    D sum = d_fast(m, one(m), neg(m, mul(m, f.h, by)));
    return add(m, sum.h, fused(m, neg(m, f.l), by, sum.l));
}

static inline V make_erf(Maker *m, V x, V y) {
    V a = magnitude(m, x);
    V value = choose_lazily(m, is(m, "olt", a, num(m, 0.86)), add(m, a, small_erf(m, a)), far_erf(m, a));
    return (void)y, choose(m, is(m, "uno", x, x), x, with_sign(m, value, x));
}

static inline V near_erfc(Maker *m, V x) {
    D rest = d_fast(m, one(m), neg(m, x));
    return add(m, rest.h, sub(m, rest.l, small_erf(m, x)));
}
static inline V far_erfc(Maker *m, V x, V a) {
    V n;
    D f = d_far_erfc(m, a, &n);
    V value = times_power(m, f, n, 0);
    return choose(m, is(m, "olt", x, zero(m)), sub(m, num(m, 2), value), value);
}

static inline V make_erfc(Maker *m, V x, V y) {
    V a = magnitude(m, x);
    V value = choose_lazily(m, is(m, "olt", a, num(m, 0.65)), near_erfc(m, x), far_erfc(m, x, a));
    return (void)y, choose(m, is(m, "uno", x, x), x, value);
}
#endif
