/* libm.c -- computes the float64 functions of math_formulas.h on the host; see libm.h. */
#include "vm/base/libm.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* -- the operations of the formulas, for doubles ------------------------------------------------------------------- */
typedef struct {
    bool wide;
} Maker;
typedef double V;
typedef int64_t I;
typedef bool B;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("fma")
#endif

static inline V num(const Maker *m, double x) { return (void)m, x; }
static inline I integer(int64_t n) { return n; }
static inline V infinity(const Maker *m) { return (void)m, (double)INFINITY; }
static inline V not_a_number(const Maker *m) { return (void)m, (double)NAN; }
static inline V add(Maker *m, V a, V b) { return (void)m, a + b; }
static inline V sub(Maker *m, V a, V b) { return (void)m, a - b; }
static inline V mul(Maker *m, V a, V b) { return (void)m, a * b; }
static inline V quot(Maker *m, V a, V b) { return (void)m, a / b; }
static inline V neg(Maker *m, V a) { return (void)m, -a; }
static inline V fused(Maker *m, V a, V b, V c) { return (void)m, fma(a, b, c); }
static inline V magnitude(Maker *m, V a) { return (void)m, fabs(a); }
static inline V with_sign(Maker *m, V a, V sign) { return (void)m, copysign(a, sign); }
static inline V root(Maker *m, V a) { return (void)m, sqrt(a); }
static inline V whole(Maker *m, V a) { return (void)m, trunc(a); }
static inline V choose(Maker *m, B c, V a, V b) { return (void)m, c ? a : b; }
#define choose_lazily(m, c, a, b) ((c) ? (a) : (b))
static inline B both(Maker *m, B a, B b) { return (void)m, a & b; }
static inline B either(Maker *m, B a, B b) { return (void)m, a | b; }
static inline B not(Maker * m, B a) { return (void)m, !a; }
static inline I bits_of(Maker *m, V a) {
    I n;
    return (void)m, memcpy(&n, &a, sizeof n), n;
}
static inline V of_bits(Maker *m, I n) {
    V a;
    return (void)m, memcpy(&a, &n, sizeof a), a;
}
static inline B negative(Maker *m, V a) { return bits_of(m, a) < 0; }
static inline B bit(Maker *m, I a, int mask) { return (void)m, (a & mask) != 0; }

/* Compares as LLVM's fcmp does.  The compiler evaluates the comparisons of names. */
static inline B is(Maker *m, const char *how, V a, V b) {
    (void)m;
    if (!strcmp(how, "olt")) return a < b;
    if (!strcmp(how, "ole")) return a <= b;
    if (!strcmp(how, "ogt")) return a > b;
    if (!strcmp(how, "oge")) return a >= b;
    if (!strcmp(how, "oeq")) return a == b;
    if (!strcmp(how, "one")) return a < b || a > b;
    if (!strcmp(how, "ult")) return !(a >= b);
    if (!strcmp(how, "ule")) return !(a > b);
    return a != a || b != b; /* uno */
}

/* Computes as LLVM's integer instructions do. */
static inline I iop(Maker *m, const char *name, I a, I b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b, r;
    if (!strcmp(name, "add")) r = x + y;
    else if (!strcmp(name, "sub")) r = x - y;
    else if (!strcmp(name, "and")) r = x & y;
    else if (!strcmp(name, "or")) r = x | y;
    else if (!strcmp(name, "xor")) r = x ^ y;
    else if (!strcmp(name, "shl")) r = x << y;
    else r = x >> y; /* lshr */
    return (void)m, (I)r;
}

#include "vm/base/math_formulas.h"

#define FLAT                __attribute__((flatten)) /* inline all of the formula */
#define MAKER               (&(Maker){true})
#define EACH_ARC(ONE)       ONE(asin) ONE(acos) ONE(atan) ONE(asinh) ONE(acosh) ONE(atanh)
#define EACH_LOG(ONE)       ONE(log) ONE(log2) ONE(log10) ONE(log1p)
#define EACH_EXP(ONE)       ONE(expm1) ONE(sinh) ONE(cosh) ONE(tanh) ONE(erf) ONE(erfc)
#define EACH_NEAR(ONE, TWO) EACH_ARC(ONE) EACH_LOG(ONE) EACH_EXP(ONE) ONE(cbrt) TWO(atan2) TWO(hypot)
#define DEFINE_ONE(f)                                                                                                  \
    FLAT static double own_##f(double x) { return make_##f(MAKER, x, 0); }
#define DEFINE_TWO(f)                                                                                                  \
    FLAT static double own_##f(double x, double y) { return make_##f(MAKER, x, y); }
EACH_NEAR(DEFINE_ONE, DEFINE_TWO)
#undef DEFINE_ONE
#undef DEFINE_TWO
FLAT static double own_exp(double x) { return scaled_exp(MAKER, x, NULL, 0); }
FLAT static double own_exp2(double x) { return wide_exp2(MAKER, x); }
FLAT static double own_sin(double x) { return fabs(x) >= far_double ? sin(x) : near_wide_wave(MAKER, x, false); }
FLAT static double own_cos(double x) { return fabs(x) >= far_double ? cos(x) : near_wide_wave(MAKER, x, true); }
FLAT static double own_tan(double x) { return fabs(x) >= far_double ? tan(x) : near_wide_tan(MAKER, x); }
FLAT static double own_pow(double x, double y) {
    double value = ordinary_power(MAKER, x, y);
    return isnan(value) ? pow(x, y) : value;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#ifdef __x86_64__
#define HAS_FMA __builtin_cpu_supports("fma")
#else
#define HAS_FMA true
#endif

#define EACH_FUNCTION(ONE, TWO) EACH_NEAR(ONE, TWO) ONE(exp) ONE(exp2) ONE(sin) ONE(cos) ONE(tan) TWO(pow)
#define DEFINE_ONE(f)                                                                                                  \
    double qlibm_##f(double x) { return HAS_FMA ? own_##f(x) : f(x); }
#define DEFINE_TWO(f)                                                                                                  \
    double qlibm_##f(double x, double y) { return HAS_FMA ? own_##f(x, y) : f(x, y); }
EACH_FUNCTION(DEFINE_ONE, DEFINE_TWO)

void *qlibm_symbol(const char *name) {
#define RETURN(f)                                                                                                      \
    if (!strcmp(name, "qlibm_" #f)) return (void *)(uintptr_t)qlibm_##f;
    EACH_FUNCTION(RETURN, RETURN)
    return NULL;
}
