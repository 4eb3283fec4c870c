/* emit_math.c -- the mathematical functions of mathfn.def as LLVM IR: for NVIDIA devices without libdevice, and some of
 * them for the loops of a processor.
 *
 * Every function is written once, for float and double: what differs are constants, and polynomials with as many
 * coefficients as the type needs (mathpoly.def).  C functions here append instructions and return the operand that
 * holds the result, so a formula reads as it is computed; one that starts with d_ computes with a value in two parts,
 * high and low, where the last place of the result depends on more digits than the type has.
 *
 * All of it is without branches (both sides computed, one selected: threads of a warp stay together), except for the
 * sine of huge arguments and the remainder of far quotients, which are functions of their own.  No operation may be
 * contracted: products that need no rounding say fma.
 *
 * The IR of a kernel calls functions by the names of libdevice.  What is linked, libdevice or ours, is decided when PTX
 * is made; the key of the cache holds the text of ours either way, so that code made with one is found by a machine
 * with the other.  The same IR runs on the processor, which is how its errors are measured.  tools/mathpoly.py makes
 * the polynomials.
 *
 * On the cpu sin, cos, asin, acos, exp and exp2 of float32 are part of the loop.  LLVM makes vectors of them together
 * with what is around, so nothing is saved around calls, and an element has the same bits in a whole vector as in the
 * rest of a row.  Their constants are loaded from memory of which LLVM does not know that it is constant: so it keeps
 * them in registers, instead of giving a load to each operation.  Short loops run two vectors side by side, because the
 * steps of a polynomial wait for each other.  Beyond 2^17 sin and cos are those of the C library; whether any lane is
 * so large is asked once for each vector, by a function of vectors that is inlined after the vectoriser has chosen it.
 * All 2^32 floats were tried (`unit_math_ulp -a sin`): exp is off by at most 1.5 units of the last place, sin by 2.5.
 * All other functions are calls of the C library's vector functions, which are as fast or faster by themselves (log,
 * pow, float64).  Loops of the program have the scalar functions of the C library, as the interpreter has: its vector
 * variants have other bits, and no two versions of the library need have the same.
 *
 * Sources: argument reduction by Cody and Waite, and by Payne and Hanek (ACM SIGNUM 18, 1983) for huge arguments; exact
 * sums and products of Dekker and Knuth; erfc after Shepherd and Laframboise (Math. Comp. 36, 1981); gamma after
 * Stirling and the reflection formula.  What the functions keep to is in mathfn.def and tested by unit_math_ulp. */
#include "lang/kernel/codegen/emit_llvm.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char s[24];
} V; /* an operand: "%t12", "0x3FF0000000000000" */
typedef struct {
    V h, l;
} D; /* h + l, |l| at most about half a unit of the last place of h */

typedef struct {
    Text *out;
    bool wide; /* double, else float */
    /* For a loop of a processor: the module, and what loads the numbers.  Such a loop has no branches, rare cases are
     * calls.  Else NULL. */
    Emit *module;
    Text *numbers;
    uint32_t next; /* number of the next temporary or label */
} Maker;

#define POLY(name, bits, ...) static const double name##_##bits[] = {__VA_ARGS__};
#include "lang/kernel/codegen/mathpoly.def"

/* Constants as sums of floats and of doubles. */
typedef const double Parts[2][3];
static Parts one_log2e = {{0x1.715476p+0, 0x1.4ae0cp-26, 0}, {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 0}},
             log_2 = {{0x1.62e43p-1, -0x1.05c61p-29, 0}, {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0}},
             one_log10e = {{0x1.bcb7b2p-2, -0x1.5b235ep-27, 0}, {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0}},
             log10_2 = {{0x1.344136p-2, -0x1.ec10cp-27, 0}, {0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59, 0}},
             half_pi = {{0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50},
                        {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}},
             two_thirds = {{0x1.555556p-1, -0x1.555556p-26, 0}, {0x1.5555555555555p-1, 0x1.5555555555555p-55, 0}};

static const double pi = 0x1.921fb54442d18p+1, pi_low = 0x1.1a62633145c07p-53, log_pi = 0x1.250d048e7a1bdp+0,
                    half_log_2pi = 0x1.d67f1c864beb5p-1, half_log_2pi_low = -0x1.65b5a1b7ff5dfp-55;

/* -- instructions -------------------------------------------------------------------------------------------------- */
static const char *real(const Maker *m) { return m->wide ? "double" : "float"; }
static const char *whole(const Maker *m) { return m->wide ? "i64" : "i32"; }
static const char *mangled(const Maker *m) { return m->wide ? "f64" : "f32"; }
static int digits(const Maker *m) { return m->wide ? DBL_MANT_DIG : FLT_MANT_DIG; }

QS_PRINTF(2, 3) static V def(Maker *m, const char *fmt, ...) {
    V v;
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(v.s, sizeof v.s, "%%t%u", m->next++);
    qtext_printf(m->out, "  %s = %s\n", v.s, text);
    return v;
}

/* A float that LLVM must not know to be a constant: it would load it for each operation, instead of once before the
 * loop. */
static V held_number(const Maker *m, V literal) {
    V v;
    snprintf(v.s, sizeof v.s, "%%k%.20s", literal.s);
    if (m->numbers->len && strstr(m->numbers->s, v.s)) return v;
    emit_declare(m->module, "@k%s = internal global float %s", literal.s, literal.s);
    qtext_printf(m->numbers, "  %s = load float, ptr @k%s, !invariant.load !10\n", v.s, literal.s);
    return v;
}

/* LLVM writes floats as doubles of the same value. */
static V num(const Maker *m, double x) {
    V v;
    uint64_t bits;
    double rounded = m->wide ? x : (double)(float)x;
    memcpy(&bits, &rounded, sizeof bits);
    snprintf(v.s, sizeof v.s, "0x%016llX", (unsigned long long)bits);
    return m->numbers ? held_number(m, v) : v;
}

static V integer(int64_t n) {
    V v;
    snprintf(v.s, sizeof v.s, "%lld", (long long)n);
    return v;
}

static V part(const Maker *m, Parts c, int i) { return num(m, c[m->wide][i]); }
static V scaled_part(const Maker *m, Parts c, int i, double by) { return num(m, c[m->wide][i] * by); }
static D parts(const Maker *m, Parts c) { return (D){part(m, c, 0), part(m, c, 1)}; }

static V op(Maker *m, const char *name, V a, V b) { return def(m, "%s %s %s, %s", name, real(m), a.s, b.s); }
static V add(Maker *m, V a, V b) { return op(m, "fadd", a, b); }
static V sub(Maker *m, V a, V b) { return op(m, "fsub", a, b); }
static V mul(Maker *m, V a, V b) { return op(m, "fmul", a, b); }
static V quot(Maker *m, V a, V b) { return op(m, "fdiv", a, b); }
static V neg(Maker *m, V a) { return def(m, "fneg %s %s", real(m), a.s); }
static V is(Maker *m, const char *how, V a, V b) { return def(m, "fcmp %s %s %s, %s", how, real(m), a.s, b.s); }
static V both(Maker *m, V a, V b) { return def(m, "and i1 %s, %s", a.s, b.s); }
static V choose(Maker *m, V c, V a, V b) {
    return def(m, "select i1 %s, %s %s, %s %s", c.s, real(m), a.s, real(m), b.s);
}
static V call(Maker *m, const char *name, V a) {
    return def(m, "call %s @llvm.%s.%s(%s %s)", real(m), name, mangled(m), real(m), a.s);
}
static V fused(Maker *m, V a, V b, V c) {
    const char *t = real(m);
    return def(m, "call %s @llvm.fma.%s(%s %s, %s %s, %s %s)", t, mangled(m), t, a.s, t, b.s, t, c.s);
}
static V with_sign(Maker *m, V a, V sign) {
    return def(m, "call %s @llvm.copysign.%s(%s %s, %s %s)", real(m), mangled(m), real(m), a.s, real(m), sign.s);
}
static V magnitude(Maker *m, V a) { return call(m, "fabs", a); }
static V root(Maker *m, V a) { return call(m, "sqrt", a); }

/* Integers as wide as the type. */
static V iop(Maker *m, const char *name, V a, V b) { return def(m, "%s %s %s, %s", name, whole(m), a.s, b.s); }
static V bits_of(Maker *m, V a) { return def(m, "bitcast %s %s to %s", real(m), a.s, whole(m)); }
static V of_bits(Maker *m, V a) { return def(m, "bitcast %s %s to %s", whole(m), a.s, real(m)); }
static V bit(Maker *m, V a, int mask) {
    return def(m, "icmp ne %s %s, 0", whole(m), iop(m, "and", a, integer(mask)).s);
}

static V infinity(const Maker *m) { return (void)m, (V){"0x7FF0000000000000"}; }
static V not_a_number(const Maker *m) { return (void)m, (V){"0x7FF8000000000000"}; }
static V zero(const Maker *m) { return num(m, 0); }
static V one(const Maker *m) { return num(m, 1); }
static V half(const Maker *m) { return num(m, 0.5); }
static V scaled(Maker *m, V a, double by) { return mul(m, a, num(m, by)); }
static V negative(Maker *m, V a) { return def(m, "icmp slt %s %s, 0", whole(m), bits_of(m, a).s); }
static V is_zero(Maker *m, V a) { return is(m, "oeq", a, zero(m)); }

/* 2^k for k among the exponents of normal numbers. */
static V power_of_2(Maker *m, V k) {
    V biased = iop(m, "add", k, integer(m->wide ? DBL_MAX_EXP - 1 : FLT_MAX_EXP - 1));
    return of_bits(m, iop(m, "shl", biased, integer(digits(m) - 1)));
}

/* Rounds to the nearest integer: the value, and in *k as an integer.  |x| < 2^(digits - 2). */
static V nearest(Maker *m, V x, V *k) {
    V magic = num(m, m->wide ? 0x1.8p52 : 0x1.8p23), shifted = add(m, x, magic);
    *k = iop(m, "sub", bits_of(m, shifted), bits_of(m, magic));
    return sub(m, shifted, magic);
}

/* c[0] + x*(c[1] + x*(…)) */
static V horner(Maker *m, V x, const double *c, size_t n) {
    V sum = num(m, c[n - 1]);
    for (size_t i = n - 1; i-- > 0;) sum = fused(m, sum, x, num(m, c[i]));
    return sum;
}
#define COUNT(a)                  (sizeof(a) / sizeof *(a))
#define POLYNOMIAL_64(m, name, x) horner(m, x, name##_64, COUNT(name##_64))
#define POLYNOMIAL_32(m, name, x) horner(m, x, name##_32, COUNT(name##_32))
#define POLYNOMIAL(m, name, x)    ((m)->wide ? POLYNOMIAL_64(m, name, x) : POLYNOMIAL_32(m, name, x))

/* -- values in two parts ------------------------------------------------------------------------------------------- */
/* a + b exactly; in d_fast |a| >= |b|, or a is 0. */
static D d_fast(Maker *m, V a, V b) {
    V h = add(m, a, b);
    return (D){h, sub(m, b, sub(m, h, a))};
}

static D d_sum(Maker *m, V a, V b) {
    V h = add(m, a, b), of_b = sub(m, h, a), of_a = sub(m, h, of_b);
    return (D){h, add(m, sub(m, a, of_a), sub(m, b, of_b))};
}

static D d_product(Maker *m, V a, V b) {
    V h = mul(m, a, b);
    return (D){h, fused(m, a, b, neg(m, h))};
}

static D d_mul(Maker *m, D a, D b) {
    D p = d_product(m, a.h, b.h);
    return d_fast(m, p.h, fused(m, a.h, b.l, fused(m, a.l, b.h, p.l)));
}

/* |a| >= |b|, or a is 0 */
static D d_add(Maker *m, D a, D b) {
    D s = d_fast(m, a.h, b.h);
    return d_fast(m, s.h, add(m, s.l, add(m, a.l, b.l)));
}

static D d_scaled(Maker *m, D a, double power_of_2) {
    return (D){scaled(m, a.h, power_of_2), scaled(m, a.l, power_of_2)};
}

/* -- exponentials -------------------------------------------------------------------------------------------------- */
/* Takes the nearest multiple k of log 2 off x. */
static V reduce_exp(Maker *m, V x, V *k) {
    V n = nearest(m, mul(m, x, part(m, one_log2e, 0)), k), down = neg(m, n);
    return fused(m, down, part(m, log_2, 1), fused(m, down, part(m, log_2, 0), x));
}

static V small_expm1(Maker *m, V r) { return fused(m, mul(m, r, r), POLYNOMIAL(m, exp, r), r); }

/* a * 2^k in two steps, of which only the last one rounds. */
static V times_power(Maker *m, V a, V k) {
    V first = iop(m, "ashr", k, integer(1));
    return mul(m, mul(m, a, power_of_2(m, first)), power_of_2(m, iop(m, "sub", k, first)));
}

static V clamp(Maker *m, V x, double low, double high) { /* NaN stays */
    x = choose(m, is(m, "olt", x, num(m, low)), num(m, low), x);
    return choose(m, is(m, "ogt", x, num(m, high)), num(m, high), x);
}

static V clamp_exp(Maker *m, V x) { return m->wide ? clamp(m, x, -750, 715) : clamp(m, x, -110, 95); }

/* e^(x + tail) * 2^shift; tail counts only where x is in range. */
static V scaled_exp(Maker *m, V x, V tail, int shift) {
    V k, limited = clamp_exp(m, x);
    tail = choose(m, is(m, "oeq", limited, x), tail, zero(m));
    V r = add(m, reduce_exp(m, limited, &k), tail);
    return times_power(m, add(m, one(m), small_expm1(m, r)), iop(m, "add", k, integer(shift)));
}

/* e^x = 2^(2k) e^r of a float: in two equal factors, both normal, and with the exponent's bias added before k is an
 * integer, the power of 2 costs a shift and two products, for which r may be as large as log 2. */
static V float_power(Maker *m, V k_and_bias, V r) {
    V by = of_bits(m, iop(m, "shl", bits_of(m, k_and_bias), integer(FLT_MANT_DIG - 1)));
    V e = fused(m, r, fused(m, r, POLYNOMIAL_32(m, exp_wide, r), one(m)), one(m));
    return mul(m, mul(m, e, by), by);
}

static const double biased_magic = 0x1.8p23 + FLT_MAX_EXP - 1; /* what rounds to an integer with the bias in its end */

static V float_exp(Maker *m, V x) {
    V magic = num(m, biased_magic);
    x = clamp_exp(m, x);
    V shifted = fused(m, x, scaled_part(m, one_log2e, 0, 0.5), magic), down = sub(m, magic, shifted);
    V r = fused(m, down, scaled_part(m, log_2, 1, 2), fused(m, down, scaled_part(m, log_2, 0, 2), x));
    return float_power(m, shifted, r);
}

static V float_exp2(Maker *m, V x) {
    V magic = num(m, biased_magic);
    x = clamp(m, x, -160, 135);
    V shifted = fused(m, x, half(m), magic), r = fused(m, num(m, 2), sub(m, magic, shifted), x);
    return float_power(m, shifted, mul(m, r, part(m, log_2, 0)));
}

static V make_exp(Maker *m, V x, V y) { return (void)y, m->wide ? scaled_exp(m, x, zero(m), 0) : float_exp(m, x); }

static V make_exp2(Maker *m, V x, V y) {
    if (!m->wide) return float_exp2(m, x);
    V k, limited = clamp(m, x, -1100, 1030);
    V r = mul(m, sub(m, limited, nearest(m, limited, &k)), part(m, log_2, 0));
    return (void)y, times_power(m, add(m, one(m), small_expm1(m, r)), k);
}

/* 2^k (e^r - 1) + 2^k - 1, with halves, so that 2^k does not overflow. */
static V make_expm1(Maker *m, V x, V y) {
    V k, limited = m->wide ? clamp(m, x, -50, 715) : clamp(m, x, -30, 95), r = reduce_exp(m, limited, &k);
    V by = power_of_2(m, iop(m, "sub", k, integer(1)));
    V halved = fused(m, by, small_expm1(m, r), sub(m, by, half(m)));
    V far = is(m, "ogt", x, num(m, m->wide ? 709.8 : 88.73)); /* k may be beyond the exponents */
    V value = choose(m, far, infinity(m), scaled(m, halved, 2));
    return (void)y, choose(m, is(m, "oeq", add(m, one(m), mul(m, x, half(m))), one(m)), x, value);
}

/* e^|x|/2 with q = e^-|x|/2 */
static V half_exp(Maker *m, V x, V *q) {
    V e = scaled_exp(m, magnitude(m, x), zero(m), -1);
    *q = quot(m, num(m, 0.25), e);
    return e;
}

static V odd_series(Maker *m, V x, V p, V z) { return fused(m, mul(m, x, z), p, x); } /* x + x z p */

static V make_sinh(Maker *m, V x, V y) {
    V q, e = half_exp(m, x, &q), z = mul(m, x, x), near = odd_series(m, magnitude(m, x), POLYNOMIAL(m, sinh, z), z);
    V far = sub(m, e, q);
    return (void)y, with_sign(m, choose(m, is(m, "olt", magnitude(m, x), one(m)), near, far), x);
}

static V make_cosh(Maker *m, V x, V y) {
    V q, e = half_exp(m, x, &q);
    return (void)y, add(m, e, q);
}

static V make_tanh(Maker *m, V x, V y) {
    V z = mul(m, x, x), a = magnitude(m, x), near = odd_series(m, a, POLYNOMIAL(m, tanh, z), z);
    V e = scaled_exp(m, add(m, a, a), zero(m), 0);
    V far = sub(m, one(m), quot(m, num(m, 2), add(m, e, one(m))));
    return (void)y, with_sign(m, choose(m, is(m, "olt", a, num(m, 0.55)), near, far), x);
}

/* -- logarithms ---------------------------------------------------------------------------------------------------- */
/* x = 2^k m, m between sqrt(1/2) and sqrt(2); x positive and finite. */
static V split(Maker *m, V x, V *k) {
    double up = m->wide ? 0x1p54 : 0x1p25;
    V tiny = is(m, "olt", x, num(m, m->wide ? DBL_MIN : (double)FLT_MIN)), shift = integer(digits(m) - 1);
    V bits = bits_of(m, choose(m, tiny, scaled(m, x, up), x));
    V exponent = iop(m, "ashr", iop(m, "sub", bits, bits_of(m, num(m, 0x1.6a09e667f3bcdp-1))), shift);
    V offset = def(m, "select i1 %s, %s %d, %s 0", tiny.s, whole(m), digits(m) + 1, whole(m));
    *k = def(m, "sitofp %s %s to %s", whole(m), iop(m, "sub", exponent, offset).s, real(m));
    return of_bits(m, iop(m, "sub", bits, iop(m, "shl", exponent, shift)));
}

/* log(1 + f) - f = -s (f - z p), s = f/(2 + f): a sum whose rounding counts little, because s is small. */
static V log_tail(Maker *m, V f) {
    V s = quot(m, f, add(m, num(m, 2), f)), z = mul(m, s, s);
    return neg(m, mul(m, s, fused(m, neg(m, z), POLYNOMIAL(m, log, z), f)));
}

/* The value of a logarithm at 0, below, at infinity and of NaN. */
static V log_special(Maker *m, V x, V value) {
    value = choose(m, is_zero(m, x), neg(m, infinity(m)), value);
    value = choose(m, is(m, "olt", x, zero(m)), not_a_number(m), value);
    return choose(m, is(m, "ult", x, infinity(m)), choose(m, is(m, "uno", x, x), x, value), x);
}

/* k log 2 + log(1 + f) + extra */
static V log_sum(Maker *m, V k, V f, V extra) {
    V tail = fused(m, k, part(m, log_2, 1), add(m, log_tail(m, f), extra));
    return fused(m, k, part(m, log_2, 0), add(m, f, tail));
}

static V make_log(Maker *m, V x, V y) {
    V k, f = sub(m, split(m, x, &k), one(m));
    return (void)y, log_special(m, x, log_sum(m, k, f, zero(m)));
}

/* u = 1 + x rounded; what the rounding took away comes back as extra. */
static V log_of_1p(Maker *m, V x) {
    D u = d_sum(m, one(m), x);
    V k, f = sub(m, split(m, u.h, &k), one(m)), lost = quot(m, u.l, u.h);
    V near = both(m, is(m, "ogt", x, num(m, -0.29)), is(m, "olt", x, num(m, 0.41)));
    V close = add(m, x, log_tail(m, x)), far = log_sum(m, k, f, lost);
    V value = log_special(m, u.h, choose(m, is(m, "oeq", u.h, infinity(m)), u.h, far));
    value = choose(m, near, close, value);
    return choose(m, is_zero(m, x), x, value);
}

static V make_log1p(Maker *m, V x, V y) { return (void)y, log_of_1p(m, x); }

/* k times the logarithm of 2 plus log(1 + f) in another base: `unit` is log e, `two` is log 2. */
static V log_based(Maker *m, V x, D unit, D two) {
    V k, f = sub(m, split(m, x, &k), one(m));
    D l = d_fast(m, f, log_tail(m, f)), p = d_product(m, l.h, unit.h), n = d_product(m, k, two.h);
    V low = fused(m, l.h, unit.l, fused(m, l.l, unit.h, p.l));
    D s = d_fast(m, n.h, p.h);
    low = add(m, add(m, s.l, low), fused(m, k, two.l, n.l));
    return log_special(m, x, add(m, s.h, low));
}

static V make_log2(Maker *m, V x, V y) { return (void)y, log_based(m, x, parts(m, one_log2e), (D){one(m), zero(m)}); }

static V make_log10(Maker *m, V x, V y) { return (void)y, log_based(m, x, parts(m, one_log10e), parts(m, log10_2)); }

/* log x in two parts, good to some 12 digits more than the type; x positive and finite. */
static D d_log(Maker *m, V x) {
    V k, f = sub(m, split(m, x, &k), one(m));
    D by = d_fast(m, num(m, 2), f), s;
    s.h = quot(m, f, by.h);
    V down = neg(m, s.h), rest = fused(m, down, by.l, fused(m, down, by.h, f));
    s.l = quot(m, rest, by.h);
    D z = d_mul(m, s, s), cube = d_mul(m, d_mul(m, s, z), parts(m, two_thirds));
    V fifth = mul(m, mul(m, mul(m, s.h, z.h), z.h), POLYNOMIAL(m, log_rest, z.h));
    cube.l = add(m, cube.l, fifth);
    D n = d_product(m, k, part(m, log_2, 0));
    n.l = fused(m, k, part(m, log_2, 1), n.l);
    return d_add(m, n, d_add(m, d_scaled(m, s, 2), cube));
}

/* -- powers -------------------------------------------------------------------------------------------------------- */
/* e^(y log a) for positive finite a and finite y. */
static V positive_power(Maker *m, V a, V y) {
    D l = d_log(m, a), p = d_product(m, y, l.h);
    return scaled_exp(m, p.h, fused(m, y, l.l, p.l), 0);
}

/* y an integer; y an odd one. */
static V is_integer(Maker *m, V y) { return is(m, "oeq", call(m, "trunc", y), y); }
static V is_odd(Maker *m, V y) {
    V h = mul(m, y, half(m)); /* exact but for denormals, which are no integers */
    return both(m, is_integer(m, y), def(m, "xor i1 %s, true", is_integer(m, h).s));
}

static V make_pow(Maker *m, V x, V y) {
    V a = magnitude(m, x), below = is(m, "olt", x, zero(m)), rising = is(m, "ogt", y, zero(m));
    V ordinary = both(m, is(m, "ogt", a, zero(m)), is(m, "olt", a, infinity(m)));
    V value = positive_power(m, choose(m, ordinary, a, one(m)), y);
    V up = choose(m, rising, infinity(m), zero(m)), down = choose(m, rising, zero(m), infinity(m));
    value = choose(m, is_zero(m, x), down, value);
    value = choose(m, is(m, "oeq", a, infinity(m)), up, value);
    V endless = is(m, "oeq", magnitude(m, y), infinity(m)), with_one = choose(m, is(m, "ogt", a, one(m)), up, down);
    value = choose(m, endless, choose(m, is(m, "oeq", a, one(m)), one(m), with_one), value);
    V undefined = both(m, both(m, below, is(m, "olt", a, infinity(m))), is(m, "one", call(m, "trunc", y), y));
    value = choose(m, undefined, not_a_number(m), value);
    value = choose(m, both(m, negative(m, x), is_odd(m, y)), neg(m, value), value);
    value = choose(m, is(m, "uno", x, y), not_a_number(m), value);
    value = choose(m, is(m, "oeq", x, one(m)), one(m), value);
    return choose(m, is_zero(m, y), one(m), value);
}

/* A third of the exponent, Halley's iteration, and a step of Newton's whose residue is computed exactly. */
static V make_cbrt(Maker *m, V x, V y) {
    V a = magnitude(m, x), tiny = is(m, "olt", a, num(m, m->wide ? DBL_MIN : (double)FLT_MIN));
    V huge = is(m, "ogt", a, num(m, m->wide ? 0x1p1000 : 0x1p120)), up = num(m, 0x1p54), down = num(m, 0x1p-54);
    V v = mul(m, a, choose(m, tiny, up, choose(m, huge, down, one(m))));
    double bias = m->wide ? 1023 : 127, unit = m->wide ? 0x1p52 : 0x1p23;
    V third = iop(m, "udiv", bits_of(m, v), integer(3));
    V t = of_bits(m, iop(m, "add", third, integer((int64_t)((bias * 2 / 3 - 0.0331) * unit))));
    for (int i = 0; i < (m->wide ? 3 : 2); i++) {
        V cube = mul(m, mul(m, t, t), t);
        V above = fused(m, num(m, 2), v, cube), below = fused(m, num(m, 2), cube, v);
        t = mul(m, t, quot(m, above, below));
    }
    D square = d_product(m, t, t);
    V residue = fused(m, square.l, t, fused(m, square.h, t, neg(m, v)));
    t = sub(m, t, quot(m, residue, scaled(m, square.h, 3)));
    t = mul(m, t, choose(m, tiny, num(m, 0x1p-18), choose(m, huge, num(m, 0x1p18), one(m))));
    V usual = both(m, is(m, "olt", a, infinity(m)), is(m, "ogt", a, zero(m)));
    return (void)y, choose(m, usual, with_sign(m, t, x), x);
}

static V make_hypot(Maker *m, V x, V y) {
    V a = magnitude(m, x), b = magnitude(m, y), larger = is(m, "olt", a, b);
    V most = choose(m, larger, b, a), least = choose(m, larger, a, b);
    V huge = is(m, "ogt", most, num(m, m->wide ? 0x1p511 : 0x1p63));
    V tiny = is(m, "olt", most, num(m, m->wide ? 0x1p-459 : 0x1p-45));
    V down = num(m, m->wide ? 0x1p-600 : 0x1p-100), up = num(m, m->wide ? 0x1p600 : 0x1p100);
    V by = choose(m, huge, down, choose(m, tiny, up, one(m)));
    V back = choose(m, huge, up, choose(m, tiny, down, one(m)));
    most = mul(m, most, by), least = mul(m, least, by);
    V value = mul(m, root(m, fused(m, most, most, mul(m, least, least))), back);
    value = choose(m, is(m, "uno", x, y), not_a_number(m), value);
    V endless = def(m, "or i1 %s, %s", is(m, "oeq", a, infinity(m)).s, is(m, "oeq", b, infinity(m)).s);
    return choose(m, endless, infinity(m), value);
}

/* -- circular functions -------------------------------------------------------------------------------------------- */
/* Takes multiples of pi/2 off |x| up to 2^30 (2^17): three parts of pi/2, and what each step rounds away. */
static D reduce_near(Maker *m, V x, V *k) {
    V n = nearest(m, scaled(m, x, 0x1.45f306dc9c883p-1), k), down = neg(m, n);
    V first = fused(m, down, part(m, half_pi, 0), x);
    D off = d_product(m, down, part(m, half_pi, 1)), r = d_sum(m, first, off.h);
    return d_fast(m, r.h, fused(m, down, part(m, half_pi, 2), add(m, r.l, off.l)));
}

/* The same for any |x| from 2^17 on, in double, by the digits of 2/pi that matter; a function of its own. */
static const char far_text[] =
    "@two_over_pi = internal unnamed_addr$A constant [21 x i64] [i64 0, i64 -6703182060581546711, "
    "i64 -277156292786332224, i64 -2638381946312093631, i64 -121206125134887583, i64 -5249950069107600672, "
    "i64 452944820249399836, i64 -135693905287338178, i64 -1692731182770600828, i64 -1613291254968254911, "
    "i64 4148332274289687028, i64 -7168499653074671557, i64 2303758334597371919, i64 -1211730484530615009, "
    "i64 7869616827067468215, i64 5712322887342352941, i64 8441921394348257659, i64 4397547296490951402, "
    "i64 7780917995555872008, i64 6197850593633725355, i64 -1094449336203069923]\n"
    "define internal { double, double, i64 } @reduce_far(double %x) noinline cold nounwind {\n"
    "  %xb = bitcast double %x to i64\n  %e0 = lshr i64 %xb, 52\n  %e = and i64 %e0, 2047\n"
    "  %f = and i64 %xb, 4503599627370495\n  %frac = or i64 %f, 4503599627370496\n"
    /* x = frac 2^(e - 1075); the first digit that counts is number e - 1077 behind the point, 64 zeros before them */
    "  %at = sub i64 %e, 1013\n  %i0 = lshr i64 %at, 6\n  %s = and i64 %at, 63\n"
    "  %i1 = add i64 %i0, 1\n  %i2 = add i64 %i0, 2\n  %i3 = add i64 %i0, 3\n"
    "  %p0 = getelementptr i64, ptr$A @two_over_pi, i64 %i0\n  %p1 = getelementptr i64, ptr$A @two_over_pi, i64 %i1\n"
    "  %p2 = getelementptr i64, ptr$A @two_over_pi, i64 %i2\n  %p3 = getelementptr i64, ptr$A @two_over_pi, i64 %i3\n"
    "  %w0 = load i64, ptr$A %p0\n  %w1 = load i64, ptr$A %p1\n"
    "  %w2 = load i64, ptr$A %p2\n  %w3 = load i64, ptr$A %p3\n"
    "  %v0 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %s)\n"
    "  %v1 = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %s)\n"
    "  %v2 = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %s)\n"
    /* the upper 128 of the lower 192 bits of frac times them: a number of quarter turns, modulo 4 */
    "  %m = zext i64 %frac to i128\n  %x0 = zext i64 %v0 to i128\n  %x1 = zext i64 %v1 to i128\n"
    "  %x2 = zext i64 %v2 to i128\n  %y0 = mul i128 %m, %x0\n  %y1 = mul i128 %m, %x1\n  %y2 = mul i128 %m, %x2\n"
    "  %z0 = shl i128 %y0, 64\n  %z2 = lshr i128 %y2, 64\n  %z1 = add i128 %y1, %z2\n  %z = add i128 %z0, %z1\n"
    "  %up = add i128 %z, 42535295865117307932921825928971026432\n" /* 2^125: half a quarter */
    "  %q0 = lshr i128 %up, 126\n  %q = trunc i128 %q0 to i64\n"
    "  %r = shl i128 %z, 2\n  %minus = icmp slt i128 %r, 0\n  %nr = sub i128 0, %r\n"
    "  %a0 = select i1 %minus, i128 %nr, i128 %r\n  %a = or i128 %a0, 1\n"
    "  %n = call i128 @llvm.ctlz.i128(i128 %a, i1 true)\n  %b = shl i128 %a, %n\n"
    /* its first 53 bits, and 64 more, as doubles */
    "  %h0 = lshr i128 %b, 75\n  %h1 = trunc i128 %h0 to i64\n  %h2 = uitofp i64 %h1 to double\n"
    "  %l0 = lshr i128 %b, 11\n  %l1 = trunc i128 %l0 to i64\n  %l2 = uitofp i64 %l1 to double\n"
    "  %k = trunc i128 %n to i64\n  %k1 = sub i64 970, %k\n  %k2 = sub i64 906, %k\n" /* 2^(-53 - n), 2^(-117 - n) */
    "  %sb = shl i64 %k1, 52\n  %sl = shl i64 %k2, 52\n"
    "  %s1 = bitcast i64 %sb to double\n  %s2 = bitcast i64 %sl to double\n"
    "  %fh = fmul double %h2, %s1\n  %fl = fmul double %l2, %s2\n"
    "  %t = fmul double %fh, 0x3FF921FB54442D18\n  %tn = fneg double %t\n"
    "  %te = call double @llvm.fma.f64(double %fh, double 0x3FF921FB54442D18, double %tn)\n"
    "  %u = call double @llvm.fma.f64(double %fh, double 0x3C91A62633145C07, double %te)\n"
    "  %v = call double @llvm.fma.f64(double %fl, double 0x3FF921FB54442D18, double %u)\n"
    "  %xneg = icmp slt i64 %xb, 0\n  %turn = xor i1 %minus, %xneg\n  %tm = fneg double %t\n  %vm = fneg double %v\n"
    "  %rh = select i1 %turn, double %tm, double %t\n  %rl = select i1 %turn, double %vm, double %v\n"
    "  %qm = sub i64 0, %q\n  %rq = select i1 %xneg, i64 %qm, i64 %q\n"
    "  %o0 = insertvalue { double, double, i64 } poison, double %rh, 0\n"
    "  %o1 = insertvalue { double, double, i64 } %o0, double %rl, 1\n"
    "  %o2 = insertvalue { double, double, i64 } %o1, i64 %rq, 2\n  ret { double, double, i64 } %o2\n}\n";

static const double far_float = 0x1p17;

/* What reduce_far says, as values of the type. */
static D reduce_far(Maker *m, V x, V *k) {
    if (!m->wide) x = def(m, "fpext float %s to double", x.s);
    V all = def(m, "call { double, double, i64 } @reduce_far(double %s)", x.s);
    V h = def(m, "extractvalue { double, double, i64 } %s, 0", all.s);
    V l = def(m, "extractvalue { double, double, i64 } %s, 1", all.s);
    *k = def(m, "extractvalue { double, double, i64 } %s, 2", all.s);
    if (m->wide) return (D){h, l};
    *k = def(m, "trunc i64 %s to i32", k->s);
    V narrow = def(m, "fptrunc double %s to float", h.s), rest = def(m, "fpext float %s to double", narrow.s);
    rest = def(m, "fsub double %s, %s", h.s, rest.s);
    return (D){narrow, def(m, "fptrunc double %s to float", rest.s)};
}

static void place(Maker *m, unsigned to) { qtext_printf(m->out, "L%u:\n", to); }
static void jump(Maker *m, unsigned to) { qtext_printf(m->out, "  br label %%L%u\n", to); }
static void branch(Maker *m, V c, unsigned yes, unsigned no) {
    qtext_printf(m->out, "  br i1 %s, label %%L%u, label %%L%u\n", c.s, yes, no);
}

static V join(Maker *m, const char *type, V a, unsigned from_a, V b, unsigned from_b) {
    return def(m, "phi %s [ %s, %%L%u ], [ %s, %%L%u ]", type, a.s, from_a, b.s, from_b);
}

static unsigned label(Maker *m) { return m->next++; }

/* x = k pi/2 + r, |r| about pi/4 at most. */
static D reduce(Maker *m, V x, V *k) {
    unsigned near = label(m), far = label(m), end = label(m);
    V close = is(m, "olt", magnitude(m, x), num(m, m->wide ? 0x1p30 : far_float)), kn, kf;
    branch(m, close, near, far), place(m, near);
    D n = reduce_near(m, x, &kn);
    jump(m, end), place(m, far);
    D f = reduce_far(m, x, &kf);
    jump(m, end), place(m, end);
    *k = join(m, whole(m), kn, near, kf, far);
    return (D){join(m, real(m), n.h, near, f.h, far), join(m, real(m), n.l, near, f.l, far)};
}

static V small_sin(Maker *m, D r) {
    V z = mul(m, r.h, r.h), tail = fused(m, mul(m, num(m, -0.5), z), r.l, r.l);
    return add(m, r.h, fused(m, mul(m, z, r.h), POLYNOMIAL(m, sin, z), tail));
}

static V small_cos(Maker *m, D r) {
    V z = mul(m, r.h, r.h), hz = mul(m, half(m), z), w = sub(m, one(m), hz);
    V rest = fused(m, mul(m, z, z), POLYNOMIAL(m, cos, z), neg(m, mul(m, r.h, r.l)));
    return add(m, w, add(m, sub(m, sub(m, one(m), w), hz), rest));
}

/* sin(r + k pi/2) */
static V sin_turned(Maker *m, D r, V k) {
    V value = choose(m, bit(m, k, 1), small_cos(m, r), small_sin(m, r));
    return choose(m, bit(m, k, 2), neg(m, value), value);
}

static V finite_only(Maker *m, V x, V value) {
    return choose(m, is(m, "olt", magnitude(m, x), infinity(m)), value, not_a_number(m));
}

/* All above 0, so that what is taken off -0 leaves -0. */
static const double float_pi[3] = {0x1.921fb4p+1, 0x1.4442dp-23, 0x1.84698ap-47};

/* sin(x), or cos(x) by the odd multiples of pi/2, of a float below 2^17: what is left of it, a quarter turn at most,
 * comes of three parts of pi whose products are not rounded, and the lowest bit of the number of half turns is the
 * sign. */
static V near_wave(Maker *m, V x, bool cosine) {
    V magic = num(m, cosine ? 0x1.8p23 + 1 : 0x1.8p23), turn = num(m, 1 / pi), n, r;
    if (cosine) x = magnitude(m, x);
    V shifted = cosine ? add(m, fused(m, x, turn, num(m, -0.5)), magic) : fused(m, x, turn, magic);
    n = sub(m, shifted, magic), r = x;
    if (cosine) n = add(m, n, half(m));
    for (int i = 0; i < 3; i++) r = fused(m, n, num(m, -float_pi[i]), r);
    V z = mul(m, r, r), value = mul(m, r, fused(m, z, POLYNOMIAL_32(m, sin_wide, z), one(m)));
    V sign = iop(m, "shl", bits_of(m, shifted), integer(31));
    return of_bits(m, iop(m, "xor", bits_of(m, value), sign));
}

static V far_wave(Maker *m, V x, bool cosine) {
    V k;
    D r = reduce_far(m, x, &k);
    return finite_only(m, x, sin_turned(m, r, cosine ? iop(m, "add", k, integer(1)) : k));
}

static V float_wave(Maker *m, V x, bool cosine) {
    V near = near_wave(m, x, cosine);
    if (m->module)
        return def(m, "call float @far_%s(float %s, float %s) #%d", cosine ? "cos" : "sin", x.s, near.s,
                   emit_call_attributes(cosine ? MF_cos : MF_sin, QS_F32));
    unsigned start = label(m), beyond = label(m), end = label(m);
    jump(m, start), place(m, start);
    branch(m, is(m, "oge", magnitude(m, x), num(m, far_float)), beyond, end), place(m, beyond);
    V far = far_wave(m, x, cosine);
    jump(m, end), place(m, end);
    return join(m, "float", near, start, far, beyond);
}

static V make_wave(Maker *m, V x, bool cosine) {
    if (!m->wide) return float_wave(m, x, cosine);
    V k;
    D r = reduce(m, x, &k);
    V value = sin_turned(m, r, cosine ? iop(m, "add", k, integer(1)) : k);
    return finite_only(m, x, cosine ? value : choose(m, is_zero(m, x), x, value));
}

static V make_sin(Maker *m, V x, V y) { return (void)y, make_wave(m, x, false); }
static V make_cos(Maker *m, V x, V y) { return (void)y, make_wave(m, x, true); }

static V make_tan(Maker *m, V x, V y) {
    V k;
    D r = reduce(m, x, &k);
    V s = small_sin(m, r), c = small_cos(m, r), odd = bit(m, k, 1);
    V value = quot(m, choose(m, odd, neg(m, c), s), choose(m, odd, s, c));
    return (void)y, finite_only(m, x, choose(m, is_zero(m, x), x, value));
}

/* -- their inverses ------------------------------------------------------------------------------------------------ */
/* Beyond a half by the half angle: asin(x) = pi/2 - 2 asin(s), s = sqrt((1 - x)/2). */
static V make_asin(Maker *m, V x, V y) {
    V a = magnitude(m, x), small = is(m, "olt", a, half(m)), halved = mul(m, sub(m, one(m), a), half(m));
    V z = choose(m, small, mul(m, a, a), halved), t = choose(m, small, a, root(m, halved));
    V v = mul(m, mul(m, t, z), POLYNOMIAL(m, asin, z)), twice = fused(m, num(m, 2), v, neg(m, part(m, half_pi, 1)));
    V large = sub(m, part(m, half_pi, 0), fused(m, num(m, 2), t, twice));
    return (void)y, with_sign(m, choose(m, small, add(m, t, v), large), x);
}

static V make_acos(Maker *m, V x, V y) {
    V a = magnitude(m, x), small = is(m, "olt", a, half(m)), halved = mul(m, sub(m, one(m), a), half(m));
    V z = choose(m, small, mul(m, x, x), halved), t = choose(m, small, x, root(m, halved));
    V v = mul(m, mul(m, t, z), POLYNOMIAL(m, asin, z)), sum = mul(m, num(m, 2), add(m, t, v));
    V middle = sub(m, part(m, half_pi, 0), add(m, t, sub(m, v, part(m, half_pi, 1))));
    V low = scaled(m, part(m, half_pi, 1), 2), high = scaled(m, part(m, half_pi, 0), 2);
    V left = sub(m, high, sub(m, sum, low));
    return (void)y, choose(m, small, middle, choose(m, is(m, "olt", x, zero(m)), left, sum));
}

/* The angle of (u, v), both not negative, or with `left` of (-u, v), as n pi/4 plus or minus (t + tail): t is the
 * quotient of the smaller by the larger one, or of difference and sum, so that it is at most tan(pi/8). */
static V angle(Maker *m, V u, V v, V left) {
    V steep = is(m, "olt", u, v), a = choose(m, steep, v, u), b = choose(m, steep, u, v);
    V middle = is(m, "ogt", b, scaled(m, a, 0x1.a827999fcef32p-2)); /* tan(pi/8) */
    V t = quot(m, choose(m, middle, sub(m, b, a), b), choose(m, middle, add(m, b, a), a));
    V z = mul(m, t, t), tail = mul(m, mul(m, t, z), POLYNOMIAL(m, atan, z));
    V n = choose(m, middle, half(m), zero(m)), back = choose(m, steep, num(m, -1), one(m)); /* of pi/2 */
    n = choose(m, steep, sub(m, one(m), n), n);
    n = choose(m, left, sub(m, num(m, 2), n), n), back = choose(m, left, neg(m, back), back);
    D base = d_product(m, n, part(m, half_pi, 0)); /* exact for 1/2, 1 and 2 */
    V low = fused(m, n, part(m, half_pi, 1), base.l);
    t = mul(m, t, back), tail = fused(m, tail, back, low);
    D sum = d_sum(m, base.h, t);
    return add(m, sum.h, add(m, sum.l, tail));
}

static V make_atan2(Maker *m, V y, V x) {
    V v = magnitude(m, y), u = magnitude(m, x), left = negative(m, x);
    V most = choose(m, is(m, "ogt", u, v), u, v);
    V up = num(m, m->wide ? 0x1p100 : 0x1p30), down = num(m, 0.25), small = num(m, m->wide ? 0x1p-900 : 0x1p-90);
    V large = num(m, m->wide ? 0x1p1000 : 0x1p120);
    V by = choose(m, is(m, "ogt", most, large), down, choose(m, is(m, "olt", most, small), up, one(m)));
    V endless = both(m, is(m, "oeq", u, infinity(m)), is(m, "oeq", v, infinity(m))), none = is_zero(m, most);
    v = choose(m, endless, one(m), mul(m, v, by)), u = choose(m, endless, one(m), mul(m, u, by));
    V value = with_sign(m, angle(m, choose(m, none, one(m), u), v, left), y);
    return choose(m, is(m, "uno", x, y), not_a_number(m), value);
}

static V make_atan(Maker *m, V x, V y) {
    V value = angle(m, one(m), magnitude(m, x), (V){"false"});
    return (void)y, choose(m, is(m, "uno", x, x), x, with_sign(m, value, x));
}

static V make_asinh(Maker *m, V x, V y) {
    V z = mul(m, x, x), a = magnitude(m, x), near = odd_series(m, a, POLYNOMIAL(m, asinh, z), z), k;
    V huge = is(m, "ogt", a, num(m, m->wide ? 0x1p30 : 0x1p14));
    V sum = choose(m, huge, a, add(m, a, root(m, fused(m, a, a, one(m))))), f = sub(m, split(m, sum, &k), one(m));
    k = choose(m, huge, add(m, k, one(m)), k);
    V far = choose(m, is(m, "olt", a, infinity(m)), log_sum(m, k, f, zero(m)), a);
    return (void)y, with_sign(m, choose(m, is(m, "olt", a, num(m, 0.75)), near, far), x);
}

static V make_acosh(Maker *m, V x, V y) {
    V t = sub(m, x, one(m)), k, f = sub(m, split(m, x, &k), one(m));
    V near = log_of_1p(m, add(m, t, root(m, mul(m, t, add(m, t, num(m, 2))))));
    V far = log_special(m, x, log_sum(m, add(m, k, one(m)), f, zero(m)));
    V value = choose(m, is(m, "olt", x, num(m, m->wide ? 0x1p30 : 0x1p14)), near, far);
    return (void)y, choose(m, is(m, "olt", x, one(m)), not_a_number(m), value);
}

static V make_atanh(Maker *m, V x, V y) {
    V a = magnitude(m, x), twice = add(m, a, a), rest = sub(m, one(m), a), share = quot(m, twice, rest);
    V low = fused(m, share, a, twice), t = choose(m, is(m, "olt", a, half(m)), low, share);
    V value = with_sign(m, mul(m, half(m), log_of_1p(m, t)), x);
    return (void)y, choose(m, is(m, "ule", a, one(m)), value, not_a_number(m));
}

/* -- the error function -------------------------------------------------------------------------------------------- */
static V near_erf(Maker *m, V x) { return fused(m, x, POLYNOMIAL(m, erf, mul(m, x, x)), x); }

/* erfc(a) for a >= 1/2 */
static V far_erfc(Maker *m, V a) {
    a = choose(m, is(m, "olt", a, num(m, 28)), a, num(m, 28)); /* where it is 0 */
    D square = d_product(m, a, a);
    V t = quot(m, sub(m, a, num(m, 4)), add(m, a, num(m, 4))), g = POLYNOMIAL(m, erfc, t);
    D by = d_fast(m, add(m, a, a), one(m));
    V q = quot(m, g, by.h), down = neg(m, q), rest = fused(m, down, by.l, fused(m, down, by.h, g));
    V e = scaled_exp(m, neg(m, square.h), neg(m, square.l), 0);
    return fused(m, e, q, mul(m, e, quot(m, rest, by.h)));
}

static V make_erf(Maker *m, V x, V y) {
    V a = magnitude(m, x), far = with_sign(m, sub(m, one(m), far_erfc(m, a)), x);
    V value = choose(m, is(m, "olt", a, one(m)), near_erf(m, x), far);
    return (void)y, choose(m, is(m, "uno", x, x), x, value);
}

static V make_erfc(Maker *m, V x, V y) {
    V a = magnitude(m, x), far = far_erfc(m, a), near = sub(m, one(m), near_erf(m, x));
    V value = choose(m, is(m, "olt", x, zero(m)), sub(m, num(m, 2), far), far);
    value = choose(m, is(m, "olt", a, half(m)), near, value);
    return (void)y, choose(m, is(m, "uno", x, x), x, value);
}

/* -- gamma; in double only: the float of a double's value is what float functions return --------------------------- */
/* log gamma(x) by Stirling's series, in two parts, for finite x >= 8. */
static D d_stirling(Maker *m, V x) {
    D l = d_log(m, x), p;
    V by = sub(m, x, half(m)), inverse = quot(m, one(m), x);
    p = d_product(m, by, l.h);
    p.l = fused(m, by, l.l, p.l);
    V rest = mul(m, inverse, POLYNOMIAL_64(m, stirling, mul(m, inverse, inverse)));
    D s = d_fast(m, p.h, neg(m, x)), all = d_sum(m, s.h, num(m, half_log_2pi));
    V low = add(m, add(m, all.l, num(m, half_log_2pi_low)), add(m, s.l, p.l));
    return d_fast(m, all.h, add(m, low, rest));
}

/* x between 3 and 8 comes down to y in [2, 3): the product of what lies between, 1 below. */
static V come_down(Maker *m, V x, V *y) {
    V product = one(m), v = x;
    for (int i = 0; i < 5; i++) {
        V more = is(m, "oge", v, num(m, 3)), less = sub(m, v, one(m));
        product = choose(m, more, mul(m, product, less), product);
        v = choose(m, more, less, v);
    }
    return *y = v, product;
}

/* sin(pi a) for a >= 0: quarter turns are exact. */
static V sin_pi(Maker *m, V a) {
    V k, twice = call(m, "rint", add(m, a, a)), r = fused(m, num(m, -0.5), twice, a);
    D angle = d_product(m, r, num(m, pi));
    angle.l = fused(m, r, num(m, pi_low), angle.l);
    /* the turns modulo 4 */
    V quarter = scaled(m, twice, 0.25), turns = sub(m, twice, scaled(m, call(m, "floor", quarter), 4));
    nearest(m, turns, &k);
    return sin_turned(m, angle, k);
}

/* log(x) of an ordinary number. */
static V plain_log(Maker *m, V x) {
    V k, f = sub(m, split(m, x, &k), one(m));
    return log_sum(m, k, f, zero(m));
}

static V positive_lgamma(Maker *m, V a) {
    V ends = is(m, "olt", a, num(m, 1)), large = is(m, "oge", a, num(m, 8)), y;
    /* below 2: with the zeros at 1 and 2 as factors; below 1 by log gamma(a + 1) */
    V t = choose(m, ends, a, sub(m, a, one(m))), u = sub(m, t, half(m));
    V low = mul(m, mul(m, t, sub(m, t, one(m))), POLYNOMIAL_64(m, lgamma1, u));
    low = choose(m, ends, sub(m, low, plain_log(m, a)), add(m, low, zero(m))); /* 0 at 1 and 2, not -0 */
    V product = come_down(m, choose(m, large, num(m, 3), a), &y), near = sub(m, y, num(m, 2));
    V middle = fused(m, near, POLYNOMIAL_64(m, lgamma2, sub(m, y, num(m, 2.5))), plain_log(m, product));
    V far = d_stirling(m, choose(m, large, a, num(m, 8))).h, huge = is(m, "ogt", a, num(m, 0x1p60));
    far = choose(m, huge, mul(m, a, sub(m, plain_log(m, a), one(m))), far);
    return choose(m, large, far, choose(m, is(m, "olt", a, num(m, 2)), low, middle));
}

static V make_lgamma(Maker *m, V x, V y) {
    V a = magnitude(m, x), value = positive_lgamma(m, choose(m, is(m, "olt", a, infinity(m)), a, one(m)));
    V wave = magnitude(m, mul(m, a, sin_pi(m, a))); /* gamma(-a) gamma(a) = -pi/(a sin(pi a)) */
    V pole = is_zero(m, wave), mirrored = sub(m, sub(m, num(m, log_pi), plain_log(m, wave)), value);
    V tiny = is(m, "olt", a, num(m, 0x1p-60)), whole = is(m, "oge", a, num(m, 0x1p53)); /* twice a may be infinite */
    mirrored = choose(m, tiny, neg(m, plain_log(m, a)), choose(m, pole, infinity(m), mirrored));
    mirrored = choose(m, whole, infinity(m), mirrored);
    value = choose(m, is(m, "olt", x, zero(m)), mirrored, value);
    value = choose(m, is_zero(m, x), infinity(m), value);
    value = choose(m, is(m, "oeq", a, infinity(m)), infinity(m), value);
    return (void)y, choose(m, is(m, "uno", x, x), x, value);
}

/* gamma(a) and its inverse for a >= 0, so that one of them is good where the other overflows. */
static V positive_gamma(Maker *m, V a, V *inverse) {
    V large = is(m, "oge", a, num(m, 8)), small = is(m, "olt", a, num(m, 2)), tiny = is(m, "olt", a, one(m)), y;
    V product = come_down(m, choose(m, large, num(m, 3), a), &y);
    V above = choose(m, tiny, a, choose(m, small, sub(m, a, one(m)), sub(m, y, num(m, 2))));
    V p = POLYNOMIAL_64(m, gamma, sub(m, above, half(m)));
    V down = choose(m, tiny, mul(m, a, add(m, a, one(m))), choose(m, small, a, one(m)));
    V near = mul(m, quot(m, p, down), choose(m, small, one(m), product));
    V limited = choose(m, is(m, "olt", a, num(m, 200)), a, num(m, 200));
    D l = d_stirling(m, choose(m, large, limited, num(m, 8)));
    *inverse = choose(m, large, scaled_exp(m, neg(m, l.h), neg(m, l.l), 0), quot(m, one(m), near));
    return choose(m, large, scaled_exp(m, l.h, l.l, 0), near);
}

static V make_tgamma(Maker *m, V x, V y) {
    V a = magnitude(m, x), inverse, value = positive_gamma(m, a, &inverse);
    V wave = mul(m, a, sin_pi(m, choose(m, is(m, "olt", a, infinity(m)), a, one(m))));
    V mirrored = mul(m, quot(m, num(m, -pi), wave), inverse);
    mirrored = choose(m, is(m, "olt", a, num(m, 0x1p-60)), quot(m, one(m), x), mirrored);
    mirrored = choose(m, is(m, "oeq", call(m, "trunc", x), x), not_a_number(m), mirrored);
    value = choose(m, is(m, "olt", x, zero(m)), mirrored, value);
    value = choose(m, is_zero(m, x), with_sign(m, infinity(m), x), value);
    return (void)y, choose(m, is(m, "uno", x, x), x, value);
}

/* -- the remainder ------------------------------------------------------------------------------------------------- */
/* Takes off the largest quotient of fewer than 48 (19) bits as long as there is one; every step is exact. */
static V make_fmod(Maker *m, V x, V y) {
    unsigned start = label(m), more = label(m), grow = label(m), body = label(m), end = label(m);
    unsigned r1 = label(m), t1 = label(m), t2 = label(m), rest = label(m);
    const char *type = real(m);
    V a = magnitude(m, x), b = magnitude(m, y), r, t, up, q;
    V good = both(m, is(m, "olt", a, infinity(m)), is(m, "ogt", b, zero(m)));
    V first = choose(m, good, a, not_a_number(m));
    jump(m, start), place(m, start), jump(m, more), place(m, more);
    snprintf(r.s, sizeof r.s, "%%t%u", r1), snprintf(t.s, sizeof t.s, "%%t%u", t1);
    qtext_printf(m->out, "  %s = phi %s [ %s, %%L%u ], [ %%t%u, %%L%u ]\n", r.s, type, first.s, start, rest, body);
    branch(m, is(m, "oge", r, b), grow, end), place(m, grow);
    qtext_printf(m->out, "  %s = phi %s [ %s, %%L%u ], [ %%t%u, %%L%u ]\n", t.s, type, b.s, more, t2, grow);
    up = num(m, m->wide ? 0x1p48 : 0x1p19);
    qtext_printf(m->out, "  %%t%u = fmul %s %s, %s\n", t2, type, t.s, up.s);
    snprintf(up.s, sizeof up.s, "%%t%u", t2);
    branch(m, is(m, "ole", up, r), grow, body), place(m, body);
    q = call(m, "trunc", quot(m, r, t));
    V left = fused(m, neg(m, q), t, r), minus = is(m, "olt", left, zero(m)), back = add(m, left, t);
    qtext_printf(m->out, "  %%t%u = select i1 %s, %s %s, %s %s\n", rest, minus.s, type, back.s, type, left.s);
    jump(m, more), place(m, end);
    return with_sign(m, r, x);
}

/* -- the module ---------------------------------------------------------------------------------------------------- */
typedef V make_fn(Maker *m, V x, V y);
#define MATH_exact(id) NULL
#define MATH_own(id)   make_##id
#define MATH_near      MATH_own
#define MATH_far       MATH_own
static make_fn *const makers[MF__COUNT] = {
#define MATHFN(id, nargs, f32, f64, how, ...) [MF_##id] = MATH_##how(id),
#include "lang/kernel/ir/mathfn.def"
};
#undef MATH_exact
#undef MATH_own
#undef MATH_near
#undef MATH_far

static bool only_double(make_fn *make) { return make == make_lgamma || make == make_tgamma; }

static V compute(Maker *m, make_fn *make) {
    V x = {"%x"}, y = {"%y"};
    if (m->wide || !only_double(make)) return make(m, x, y);
    m->wide = true;
    V value = make(m, def(m, "fpext float %%x to double"), y);
    m->wide = false;
    return def(m, "fptrunc double %s to float", value.s);
}

static void define(Text *out, const char *name, int nargs, bool wide, make_fn *make) {
    Maker m = {.out = out, .wide = wide};
    const char *t = real(&m);
    qtext_printf(out, "define %s @%s(%s %%x", t, name, t);
    if (nargs == 2) qtext_printf(out, ", %s %%y", t);
    qtext_puts(out, ") nounwind {\n");
    V value = compute(&m, make);
    qtext_printf(out, "  ret %s %s\n}\n", t, value.s);
}

/* Says what the functions here call to `declare`. */
static void each_intrinsic(void declare(void *to, const char *line), void *to) {
    static const char *const one_argument[] = {"fabs", "sqrt", "trunc", "rint", "floor"};
    static const char *const types[][2] = {{"float", "f32"}, {"double", "f64"}};
    char line[128];
    for (int k = 0; k < 2; k++) {
        const char *t = types[k][0], *n = types[k][1];
        for (size_t i = 0; i < COUNT(one_argument); i++) {
            snprintf(line, sizeof line, "declare %s @llvm.%s.%s(%s)", t, one_argument[i], n, t);
            declare(to, line);
        }
        snprintf(line, sizeof line, "declare %s @llvm.copysign.%s(%s, %s)", t, n, t, t);
        declare(to, line);
        snprintf(line, sizeof line, "declare %s @llvm.fma.%s(%s, %s, %s)", t, n, t, t, t);
        declare(to, line);
    }
    declare(to, "declare i64 @llvm.fshl.i64(i64, i64, i64)");
    declare(to, "declare i128 @llvm.ctlz.i128(i128, i1)");
}

static void declare_in_text(void *text, const char *line) { qtext_printf(text, "%s\n", line); }

/* Whether the text calls the function; then defines it. */
static bool define_called(Text *out, const char *ir, const char *name, int nargs, bool wide, make_fn *make) {
    char mark[32];
    snprintf(mark, sizeof mark, "@%s(", name);
    if (!strstr(ir, mark)) return false;
    define(out, name, nargs, wide, make);
    return true;
}

bool kemit_math(const char *ir, const KTarget *t, Text *out) {
    bool any = false;
    for (int fn = 0; fn < MF__COUNT; fn++) {
        if (!makers[fn]) continue;
        any |= define_called(out, ir, kir_math[fn].nv[0], kir_math[fn].nargs, false, makers[fn]);
        any |= define_called(out, ir, kir_math[fn].nv[1], kir_math[fn].nargs, true, makers[fn]);
    }
    any |= define_called(out, ir, "__nv_fmodf", 2, false, make_fmod);
    any |= define_called(out, ir, "__nv_fmod", 2, true, make_fmod);
    if (any) each_intrinsic(declare_in_text, out);
    if (any) emit_fill(out, far_text, "A", (const char *[]){t->wave ? " addrspace(4)" : ""}); /* AMD's of constants */
    return any;
}

/* -- in the loops of a processor -----------------------------------------------------------------------------------
 *
 * There the formula becomes part of the loop, so constants stay in registers, nothing is saved around calls, and LLVM
 * makes vectors of what is there; the rest of a row has the bits of whole vectors. */

/* What $F is beyond $L, where the C library says it: of one number; of $N that lie in memory, which is rare, so the
 * loop keeps its registers beside the call and not before it; of a vector, which takes the place of the first in the
 * loop.  That one is not internal: LLVM would take constant arguments out of it.  No preserve_allcc: such a function
 * ends with vzeroupper, after it has restored the vector registers. */
static const char far_one_text[] =
    "define float @far_$F(float %x, float %near) noinline nounwind willreturn memory(none) {\n"
    "entry:\n  %a = call float @llvm.fabs.f32(float %x)\n  %far = fcmp oge float %a, $L\n"
    "  br i1 %far, label %rare, label %usual\n"
    "rare:\n  %v = call float @$Ff(float %x) #1\n  ret float %v\nusual:\n  ret float %near\n}\n"
    "define internal preserve_mostcc void @far_$F_each(ptr %xs, ptr %vs, i64 %n) noinline cold nounwind {\n"
    "entry:\n  br label %loop\n"
    "loop:\n  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]\n"
    "  %px = getelementptr inbounds float, ptr %xs, i64 %i\n  %pv = getelementptr inbounds float, ptr %vs, i64 %i\n"
    "  %x = load float, ptr %px\n  %near = load float, ptr %pv\n"
    "  %v = call float @far_$F(float %x, float %near)\n  store float %v, ptr %pv\n"
    "  %i1 = add nuw nsw i64 %i, 1\n  %more = icmp ult i64 %i1, %n\n"
    "  br i1 %more, label %loop, label %end, !llvm.loop !3\nend:\n  ret void\n}\n";
static const char far_vector_text[] =
    "define $T @$V($T %x, $T %near) alwaysinline nounwind willreturn memory(none) {\n"
    "entry:\n  %xs = alloca $T\n  %vs = alloca $T\n"
    "  %one = insertelement $T poison, float $L, i32 0\n"
    "  %all = shufflevector $T %one, $T poison, <$N x i32> zeroinitializer\n"
    "  %a = call $T @llvm.fabs.v$Nf32($T %x)\n  %far = fcmp oge $T %a, %all\n"
    "  %bits = bitcast <$N x i1> %far to i$N\n  %none = icmp eq i$N %bits, 0\n"
    "  br i1 %none, label %usual, label %rare, !prof !{!\"branch_weights\", i32 100000, i32 1}\n"
    "rare:\n  store $T %x, ptr %xs\n  store $T %near, ptr %vs\n"
    "  call preserve_mostcc void @far_$F_each(ptr %xs, ptr %vs, i64 $N)\n"
    "  %v = load $T, ptr %vs\n  br label %usual\n"
    "usual:\n  %r = phi $T [ %near, %entry ], [ %v, %rare ]\n  ret $T %r\n}\n";

static void declare_in_module(void *e, const char *line) { emit_declare(e, "%s", line); }

static void define_far(Emit *e, MathFn fn) {
    const char *name = kir_math[fn].name;
    char type[32], variant[64], lanes[8];
    V limit = num(&(Maker){0}, far_float);
    Text list;
    qtext_init(&list, e->c);
    emit_declare(e, "declare float @%sf(float) #1", name);
    emit_fill(&e->decls, far_one_text, "FL", (const char *[]){name, limit.s});
    for (const char *isa = e->t->mvec; *isa; isa++) {
        int n = emit_lanes(*isa, QS_F32);
        snprintf(type, sizeof type, "<%d x float>", n), snprintf(lanes, sizeof lanes, "%d", n);
        snprintf(variant, sizeof variant, "_ZGV%cN%dvv_far_%s", *isa, n, name);
        emit_declare(e, "declare %s @llvm.fabs.v%df32(%s)", type, n, type);
        emit_fill(&e->decls, far_vector_text, "FLTVN", (const char *[]){name, limit.s, type, variant, lanes});
        qtext_printf(&list, "%s%s(%s)", list.len ? "," : "", variant, variant);
    }
    emit_declare(e, "attributes #%u = { nounwind willreturn memory(none)%s%s%s }", emit_call_attributes(fn, QS_F32),
                 list.len ? " \"vector-function-abi-variant\"=\"" : "", list.len ? list.s : "", list.len ? "\"" : "");
    qtext_free(&list);
}

bool emit_math_inlines(const Emit *e, MathFn fn, qs_dtype d) {
    return d == QS_F32 && kir_math[fn].how >= MATH_near && !e->t->libdevice && e->t->fma && !e->f->strict;
}

void emit_math_inline(Emit *e, MathFn fn) {
    char start[32];
    Text numbers, body;
    snprintf(start, sizeof start, "@own_%s(", kir_math[fn].name);
    if (e->decls.len && strstr(e->decls.s, start)) return;
    qtext_init(&numbers, e->c), qtext_init(&body, e->c);
    Maker m = {.out = &body, .module = e, .numbers = &numbers};
    V value = makers[fn](&m, (V){"%x"}, (V){""});
    each_intrinsic(declare_in_module, e);
    qtext_printf(&e->decls, "define internal float %sfloat %%x) alwaysinline nounwind willreturn memory(none) {\n",
                 start);
    qtext_add(&e->decls, numbers.s, numbers.len), qtext_add(&e->decls, body.s, body.len);
    qtext_printf(&e->decls, "  ret float %s\n}\n", value.s);
    if (kir_math[fn].how == MATH_far) define_far(e, fn);
    qtext_free(&numbers), qtext_free(&body);
}
