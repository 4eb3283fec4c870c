/* math_formulas.h -- defines exp, tanh, logarithms, sin, cos and pow, and the parts that other functions have in common
 * with them.
 *
 * A formula is written once.  It is a C function that combines values by the operations `add`, `fused`, `choose` …, and
 * the file that includes this one defines these operations and the types of values:
 *
 *     libm.c        a value is a double, an operation computes it: the functions of the host and of the evaluator
 *     emit_math.c a value is the name of an LLVM value, an operation appends an instruction: the functions of loops,
 *                   and those of GPUs
 *
 * Both therefore compute the same operations, each of which IEEE 754 defines; the results have the same bits.
 *
 * V, I, B: types of floating-point values, of integers of the same width, and of conditions.  m->wide: float64,
 * otherwise float32.  The formulas have no branches: they compute both sides and select one, so that loops with them
 * can be vectorized.  No operation may be contracted; fma is used explicitly.
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

/* Rounds to the nearest integer; returns it as a float and sets *k to it as an integer.  |x| < 2^(digits - 2). */
static inline V nearest(Maker *m, V x, I *k) {
    V by = num(m, magic(m)), shifted = add(m, x, by);
    *k = iop(m, "sub", bits_of(m, shifted), bits_of(m, by));
    return sub(m, shifted, by);
}

/* Evaluates c[0] + x*(c[1] + x*(…)). */
static inline V horner(Maker *m, V x, const double *c, size_t n) {
    V sum = num(m, c[n - 1]);
    for (size_t i = n - 1; i-- > 0;) sum = fused(m, sum, x, num(m, c[i]));
    return sum;
}

/* Evaluates c[0] + x*(c[1] + x*(…)) in a tree, which has fewer steps that depend on each other; a tree has at most 16
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
static inline V tree(Maker *m, V x, const double *c, size_t n) {
    if (n > 16) return horner(m, x, c, n);
    V x2 = mul(m, x, x), x4 = mul(m, x2, x2);
    if (n <= 8) return tree_8(m, x, x2, x4, c, n);
    return fused(m, tree_8(m, x, x2, x4, c + 8, n - 8), mul(m, x4, x4), tree_8(m, x, x2, x4, c, 8));
}
#define COUNT(a)                  (sizeof(a) / sizeof *(a))
#define POLYNOMIAL_64(m, name, x) tree(m, x, name##_64, COUNT(name##_64))
#define POLYNOMIAL_32(m, name, x) horner(m, x, name##_32, COUNT(name##_32))
#define POLYNOMIAL(m, name, x)    ((m)->wide ? POLYNOMIAL_64(m, name, x) : POLYNOMIAL_32(m, name, x))

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

/* -- exponentials -------------------------------------------------------------------------------------------------- */
static inline V clamp(Maker *m, V x, double low, double high) { /* NaN stays */
    x = choose(m, is(m, "olt", x, num(m, low)), num(m, low), x);
    return choose(m, is(m, "ogt", x, num(m, high)), num(m, high), x);
}

/* Returns (a.h + a.l) * 2^(n + shift) for an integer n, computed with two factors, so that each is a normal number;
 * only the sum and the last product are rounded. */
static inline V times_power(Maker *m, D a, V n, int shift) {
    V biased = num(m, magic(m) + bias(m)), first = fused(m, n, half(m), biased);
    V rest = add(m, sub(m, n, sub(m, first, biased)), num(m, magic(m) + bias(m) + shift));
    V by = power_of_low_bits(m, first);
    return mul(m, fused(m, a.l, by, mul(m, a.h, by)), power_of_low_bits(m, rest));
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
    V r = add(m, near, low), rest = add(m, sub(m, near, r), low), square = mul(m, r, r);
    D sum = d_fast(m, one(m), r);
    if (m->wide) rest = fused(m, mul(m, square, r), POLYNOMIAL_64(m, exp_rest, r), fused(m, rest, r, rest));
    sum.l = add(m, sum.l, fused(m, square, m->wide ? half(m) : POLYNOMIAL_32(m, exp, r), rest));
    return sum;
}

/* Returns e^(x + tail) * 2^shift.  If x is out of range, the result is chosen at the end, as most values can wait for
 * that. */
static inline V scaled_exp(Maker *m, V x, const V *tail, int shift) {
    V n;
    D sum = d_exp(m, x, tail, &n);
    V value = times_power(m, sum, n, shift);
    value = choose(m, is(m, "olt", x, num(m, m->wide ? -750 : -110)), zero(m), value);
    return choose(m, is(m, "ogt", x, num(m, m->wide ? 715 : 95)), infinity(m), value);
}

static inline V odd_series(Maker *m, V x, V p, V z) { return fused(m, mul(m, x, z), p, x); } /* x + x z p */

/* Computes a series, or 1 - 2/(e^2a + 1) in two parts for a = |x|. */
static inline V make_tanh(Maker *m, V x, V y) {
    V z = mul(m, x, x), a = magnitude(m, x), near = odd_series(m, a, POLYNOMIAL(m, tanh, z), z), n;
    V limited = choose(m, is(m, "ogt", a, num(m, 22)), num(m, 22), a); /* the result is 1 */
    D e = d_exp(m, add(m, limited, limited), NULL, &n);
    V by = power_of_low_bits(m, add(m, n, num(m, magic(m) + bias(m))));
    e = d_fast(m, e.h, e.l);
    D sum = d_fast(m, mul(m, e.h, by), one(m));
    sum.l = fused(m, e.l, by, sum.l);
    V q = quot(m, num(m, 2), sum.h), down = neg(m, q);
    V low = mul(m, mul(m, q, half(m)), fused(m, down, sum.l, fused(m, down, sum.h, num(m, 2))));
    D far = d_fast(m, one(m), down);
    V value = choose(m, is(m, "olt", a, num(m, 0.55)), near, add(m, far.h, sub(m, far.l, low)));
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
 * All but the last term, which is small, have two parts. */
static inline V precise_log_sum(Maker *m, V k, V f) {
    V s = quot(m, f, add(m, num(m, 2), f)), z = mul(m, s, s);
    D square = d_product(m, scaled(m, f, 0.5), f);
    D first = d_fast(m, short_product(m, k), f), sum = d_fast(m, first.h, neg(m, square.h));
    V low = fused(m, k, num(m, short_log_2[m->wide][1]), sub(m, add(m, first.l, sum.l), square.l));
    return add(m, sum.h, fused(m, s, fused(m, z, POLYNOMIAL(m, log, z), square.h), low));
}

static inline V make_log(Maker *m, V x, V y) {
    V k, f = sub(m, split(m, x, &k), one(m));
    return (void)y, log_special(m, x, m->wide ? precise_log_sum(m, k, f) : log_sum(m, k, f, zero(m)));
}

/* Returns log(1 + x).  u is 1 + x rounded; the rounding error is added as `extra`. */
static inline V log_of_1p(Maker *m, V x) {
    D u = d_sum(m, one(m), x);
    V k, f = sub(m, split(m, u.h, &k), one(m)), lost = quot(m, u.l, u.h);
    B near = both(m, is(m, "ogt", x, num(m, -0.29)), is(m, "olt", x, num(m, 0.41)));
    V close = add(m, x, log_tail(m, x)), far = log_sum(m, k, f, lost);
    V value = log_special(m, u.h, choose(m, is(m, "oeq", u.h, infinity(m)), u.h, far));
    value = choose(m, near, close, value);
    return choose(m, is_zero(m, x), x, value);
}

static inline V make_log1p(Maker *m, V x, V y) { return (void)y, log_of_1p(m, x); }

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

static inline V small_sin(Maker *m, D r) {
    V z = mul(m, r.h, r.h), cube = mul(m, z, r.h), tail = fused(m, mul(m, num(m, -0.5), z), r.l, r.l);
    if (!m->wide) return add(m, r.h, fused(m, cube, POLYNOMIAL_32(m, sin, z), tail));
    tail = fused(m, mul(m, cube, z), tree(m, z, sin_64 + 1, COUNT(sin_64) - 1), tail);
    return add(m, r.h, fused(m, cube, num(m, sin_64[0]), tail));
}

static inline V small_cos(Maker *m, D r) {
    D z = d_product(m, r.h, r.h);
    V hz = mul(m, half(m), z.h), w = sub(m, one(m), hz), tail = neg(m, mul(m, r.h, r.l));
    if (m->wide) tail = fused(m, z.l, num(m, -0.5), tail);
    V rest = fused(m, mul(m, z.h, z.h), POLYNOMIAL(m, cos, z.h), tail);
    return add(m, w, add(m, sub(m, sub(m, one(m), w), hz), rest));
}

/* Returns sin(r + k pi/2); only the low bits of k count. */
static inline V sin_of_quadrant(Maker *m, D r, I k) {
    V value = choose(m, bit(m, k, 1), small_cos(m, r), small_sin(m, r));
    I sign = iop(m, "and", iop(m, "shl", k, integer(m->wide ? 62 : 30)), integer(m->wide ? INT64_MIN : INT32_MIN));
    return of_bits(m, iop(m, "xor", bits_of(m, value), sign));
}

/* Returns sin(x) or cos(x), where r + k pi/2 is x. */
static inline V finish_wave(Maker *m, V x, D r, I k, bool cosine) {
    V value = sin_of_quadrant(m, r, cosine ? iop(m, "add", k, integer(1)) : k);
    return cosine ? value : choose(m, is_zero(m, x), x, value);
}

static const double far_double = 0x1p30; /* from here on, arguments are reduced in another way */

/* Returns sin(x) or cos(x) of a double, |x| < far_double. */
static inline V near_wide_wave(Maker *m, V x, bool cosine) {
    I k;
    D r = reduce_near(m, x, &k);
    return finish_wave(m, x, r, k, cosine);
}
#endif
