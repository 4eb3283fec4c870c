/* libm_functions.h -- defines the functions of libm.h for one type: libm.c does it for double, libm_float.c for float.
 *
 * The file that includes this one has defined V, the type; I and U, integers of its width; WIDE, whether it is double;
 * HOST(f), the name of a function in libm.h; and EACH_FUNCTION(ONE, TWO), which names the functions by their numbers of
 * arguments.  `fma`, `sin` … are the type-generic functions of C. */
#include "vm/base/libm.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <tgmath.h>
#undef I /* the imaginary unit */

/* -- the operations of the formulas -------------------------------------------------------------------------------- */
typedef struct {
    bool wide;
} Maker;
typedef bool B;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("fma")
#endif

static inline V num(const Maker *m, double x) { return (void)m, (V)x; }
static inline I integer(int64_t n) { return (I)n; }
static inline V infinity(const Maker *m) { return (void)m, (V)INFINITY; }
static inline V not_a_number(const Maker *m) { return (void)m, (V)NAN; }
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
    U x = (U)a, y = (U)b, r;
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

#define make_sin(m, x, y) (fabs(x) >= FAR ? sin(x) : near_wave(m, x, false))
#define make_cos(m, x, y) (fabs(x) >= FAR ? cos(x) : near_wave(m, x, true))
#define make_tan(m, x, y) (fabs(x) >= FAR ? tan(x) : near_wide_tan(m, x))
#define FAR               ((V)(WIDE ? far_double : far_float))
static inline V near_wave(Maker *m, V x, bool cosine) {
    return WIDE ? near_wide_wave(m, x, cosine) : near_float_wave(m, x, cosine);
}
static inline V make_pow(Maker *m, V x, V y) {
    V value = ordinary_power(m, x, y);
    return isnan(value) ? pow(x, y) : value;
}

#define FLAT __attribute__((flatten)) /* inline all of the formula */
#define DEFINE_ONE(f)                                                                                                  \
    FLAT static V own_##f(V x) { return make_##f((&(Maker){WIDE}), x, 0); }
#define DEFINE_TWO(f)                                                                                                  \
    FLAT static V own_##f(V x, V y) { return make_##f((&(Maker){WIDE}), x, y); }
EACH_FUNCTION(DEFINE_ONE, DEFINE_TWO)
#undef DEFINE_ONE
#undef DEFINE_TWO

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#ifdef __x86_64__
#define HAS_FMA __builtin_cpu_supports("fma")
#else
#define HAS_FMA true
#endif

#define DEFINE_ONE(f)                                                                                                  \
    V HOST(f)(V x) { return HAS_FMA ? own_##f(x) : f(x); }
#define DEFINE_TWO(f)                                                                                                  \
    V HOST(f)(V x, V y) { return HAS_FMA ? own_##f(x, y) : f(x, y); }
EACH_FUNCTION(DEFINE_ONE, DEFINE_TWO)
