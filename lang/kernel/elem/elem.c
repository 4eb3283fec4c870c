/* elem.c -- generates KIR from the rows of elem.def. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/elem/elem_build.h"
#include "lang/syntax/operators.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* -- table of rows ------------------------------------------------------------------------------------------------- */
#define REAL(...)          ELEM_NUMBER
#define TRUTH(...)         ELEM_TRUTH
#define JOIN(...)          ELEM_COMPLEX
#define NOTHING            ELEM_NOTHING
#define FLOATS             ELEM_FLOATS
#define SAME               ELEM_SAME
#define ARITH              ELEM_ARITH
#define ITSELF             ELEM_ITSELF
#define WHOLE(...)         ELEM_INTEGERS
#define FIRST(...)         ELEM_FIRST
#define COMPLEX(how, ...)  ELEM_COMPLEX, ELEM_##how
#define PART_OF(how, ...)  ELEM_NUMBER, ELEM_##how
#define TEST(...)          ELEM_TRUTH
#define HEAD_OF(a, ...)    a
#define NEXT_OF(a, b, ...) b
#define KIND_OF(...)       HEAD_OF(__VA_ARGS__, 0)
#define PRECISION_OF(...)  NEXT_OF(__VA_ARGS__, ELEM_OWN, 0)
#define ELEM(id, nargs, bound, reals, integers, pairs, ...)                                                            \
    [EL_##id] = {#id, nargs, reals, KIND_OF(pairs), integers, PRECISION_OF(pairs)},
const ElemInfo kelem_info[EL__COUNT] = {
#include "lang/kernel/elem/elem.def"
};
#undef REAL
#undef TRUTH
#undef JOIN
#undef NOTHING
#undef FLOATS
#undef SAME
#undef ARITH
#undef ITSELF
#undef WHOLE
#undef FIRST
#undef COMPLEX
#undef PART_OF
#undef TEST

/* The built-ins by name.  Variants with a different number of arguments than the row of the same name have their own
 * entries. */
typedef struct {
    const char *name;
    uint8_t nargs, elem;
} Named;
static const Named named[] = {
#define ELEM(id, nargs, ...) {#id, nargs, EL_##id},
#define FORM(...)
#define OPERATOR(...)
#include "lang/kernel/elem/elem.def"
    {"min", 2, EL_min},         {"max", 2, EL_max},  {"mod", 2, EL_mod},    {"periodize", 2, EL_mod},
    {"complex", 2, EL_complex}, {"shl", 2, EL_shl},  {"shr", 2, EL_shr},    {"not", 1, EL_bitnot},
    {"and", 2, EL_bitand},      {"or", 2, EL_bitor}, {"xor", 2, EL_bitxor}, {"clamp", 3, EL_clamp},
    {"clamp", 2, EL_clamp2},
};

Elem kelem_find(const char *name, int nargs) {
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].nargs == nargs && !strcmp(named[i].name, name)) return (Elem)named[i].elem;
    return EL__COUNT;
}

const char *kelem_name(Elem e) {
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].elem == e) return named[i].name;
    return kelem_info[e].name;
}

Elem kelem_operator(Op op) {
    switch (op) {
    case OP_ADD: return EL_add;
    case OP_SUB: return EL_sub;
    case OP_MUL:
    case OP_PWMUL: return EL_mul;
    case OP_DIV:
    case OP_PWDIV: return EL_div;
    case OP_POW:
    case OP_PWPOW: return EL_pow;
    case OP_NEG: return EL_neg;
    case OP_MINEQ: return EL_min;
    case OP_MAXEQ: return EL_max;
    case OP_EQ: return EL_eq;
    case OP_NE: return EL_ne;
    case OP_LT: return EL_lt;
    case OP_LE: return EL_le;
    case OP_GT: return EL_gt;
    case OP_GE: return EL_ge;
    case OP_BITAND: return EL_bitand;
    case OP_BITOR: return EL_bitor;
    case OP_BITXOR: return EL_bitxor;
    default: return EL__COUNT;
    }
}

qs_dtype kelem_meet(Elem e, const Term *args, qs_dtype scalar_dtype) {
    ElemIntegers integers = (ElemIntegers)kelem_info[e].integers;
    int n = kelem_info[e].nargs;
    bool keeps = kelem_keeps(e), fraction = integers == ELEM_FLOATS;
    if (integers == ELEM_FIRST) return args[0].number ? QS_I64 : qdtype_promote(args[0].dtype, args[0].dtype);
    if (kelem_truths_divide(e, args[0].dtype, args[n - 1].dtype)) fraction = true;
    for (int i = 0; i < n; i++) keeps = keeps && !args[i].number && args[i].dtype == args[0].dtype;
    if (n == 1 && args[0].dtype == QS_B1) keeps = false, fraction = true;
    if (keeps || (n == 1 && !fraction)) return args[0].dtype;
    Term all = args[0];
    int met = -1;
    for (int numbers = 0; numbers < 2; numbers++) /* arrays first, then numbers; arrays of one type count once */
        for (int i = 0; i < n; i++) {
            if (args[i].number != numbers || (met >= 0 && !numbers && args[i].dtype == all.dtype)) continue;
            Term both = {qdtype_meet(all, args[i], fraction, scalar_dtype), all.number && args[i].number};
            all = met < 0 ? args[i] : both, met++;
        }
    return met ? all.dtype : qdtype_meet(all, all, fraction, scalar_dtype);
}

/* -- builder that adds to a function ------------------------------------------------------------------------------- */
static KRef into_fold(void *ud, KMake i) {
    const KInto *to = ud;
    if ((i.op == K_MIN || i.op == K_MAX) && to->zeros) i.flag = KFLAG_ZEROS;
    i.pos = *to->pos;
    return kir_fold(to->f, i);
}

static KRef into_num(void *ud, qs_dtype d, double v) {
    const KInto *to = ud;
    return kir_const_num(to->f, d, v, *to->pos);
}

KBuild kelem_into(KInto *into) { return (KBuild){.ud = into, .fold = into_fold, .num = into_num}; }

/* -- bodies -------------------------------------------------------------------------------------------------------- */
static inline KRef op(const KBuild *build, KOp k, KRef x, KRef y) {
    return build->fold(build->ud, (KMake){k, .a = x, .b = y});
}
static inline KRef select_op(const KBuild *build, KRef c, KRef x, KRef y) {
    return build->fold(build->ud, (KMake){K_SELECT, .a = c, .b = x, .c = y});
}
static inline KRef math_op(const KBuild *build, MathFn fn, KRef x, KRef y) {
    return build->fold(build->ud, (KMake){K_MATH, .flag = fn, .a = x, .b = y});
}
static inline KPair analytic(const KBuild *build, Elem e, KPair v, KPair x) {
    KMake i = {K_ANALYTIC, .b = x.re, .c = x.im, .imm = 2 * (uint64_t)e}, j = i;
    i.a = v.re, j.a = v.im, j.imm++;
    return (KPair){build->fold(build->ud, i), build->fold(build->ud, j)};
}
static inline KPair as_pair(KRef v) { return (KPair){v, 0}; }
static inline KPair itself(KPair v) { return v; }

#define ADD(x, y)        op(build, K_ADD, x, y)
#define SUB(x, y)        op(build, K_SUB, x, y)
#define MUL(x, y)        op(build, K_MUL, x, y)
#define DIV(x, y)        op(build, K_DIV, x, y)
#define MOD(x, y)        op(build, K_MOD, x, y)
#define MIN(x, y)        op(build, K_MIN, x, y)
#define MAX(x, y)        op(build, K_MAX, x, y)
#define NEG(x)           op(build, K_NEG, x, 0)
#define ABS(x)           op(build, K_ABS, x, 0)
#define LT(x, y)         op(build, K_LT, x, y)
#define LE(x, y)         op(build, K_LE, x, y)
#define EQ(x, y)         op(build, K_EQ, x, y)
#define NE(x, y)         op(build, K_NE, x, y)
#define BOTH(x, y)       op(build, K_AND, x, y)
#define EITHER(x, y)     op(build, K_OR, x, y)
#define SELECT(c, x, y)  select_op(build, c, x, y)
#define BITAND(x, y)     op(build, K_AND, x, y)
#define BITOR(x, y)      op(build, K_OR, x, y)
#define BITXOR(x, y)     op(build, K_XOR, x, y)
#define BITNOT(x)        op(build, K_NOT, x, 0)
#define SHL(x, y)        op(build, K_SHL, x, y)
#define SHR(x, y)        op(build, K_SHR, x, y)
#define NUM(v)           build->num(build->ud, build->d, v)
#define MATH1(f, x)      math_op(build, MF_##f, x, 0)
#define MATH2(f, x, y)   math_op(build, MF_##f, x, y)
#define RE(x)            (x).re
#define IM(x)            (x).im
#define PAIR(re, im)     ((KPair){re, im})
#define CALL1(id, x)     real_##id(build, x, 0, 0).re
#define CALLZ1(id, x)    complex_##id(build, x, absent, absent)
#define CALLP1(id, x)    complex_##id(build, x, absent, absent).re
#define CALLZ2(id, x, y) complex_##id(build, x, y, absent)
#define OF(id, v)        analytic(build, EL_##id, v, x)
#define LARGEST          (build->d == QS_F32 ? (double)FLT_MAX : DBL_MAX)
#define LEAST            (build->d == QS_F32 ? (double)FLT_MIN : DBL_MIN)
#define EXP_MOST         (build->d == QS_F32 ? 88.0 : 709.0)
#define EXP_OF_MOST      (build->d == QS_F32 ? 1.6516362549940018e38 : 8.218407461554972e307)
#define LET(name, v)     const __auto_type name = v;
#define GIVE(v)          return _Generic((v), KPair : itself, default : as_pair)(v);

/* A body uses as many of the three arguments as its row has. */
#define BODY(kind, id, Type, ...)                                                                                      \
    static KPair kind##_##id(const KBuild *build, Type x, Type y, Type z) {                                            \
        (void)build, (void)x, (void)y, (void)z;                                                                        \
        __VA_ARGS__                                                                                                    \
    }

#define REAL(...)                          __VA_ARGS__
#define TRUTH(...)                         __VA_ARGS__
#define JOIN(...)                          __VA_ARGS__
#define NOTHING                            return (KPair){0, 0};
#define ELEM(id, nargs, bound, reals, ...) BODY(real, id, KRef, reals)
#include "lang/kernel/elem/elem.def"

#define FLOATS     return (KPair){0, 0};
#define SAME       return real_of(build, x, y, z);
#define ARITH      return real_of(build, x, y, z);
#define ITSELF     return as_pair(x);
#define WHOLE(...) __VA_ARGS__
#define FIRST(...) __VA_ARGS__
#define ELEM(id, nargs, bound, reals, integers, ...)                                                                   \
    static KPair whole_##id(const KBuild *build, KRef x, KRef y, KRef z) {                                             \
        KPair (*const real_of)(const KBuild *, KRef, KRef, KRef) = real_##id;                                          \
        (void)real_of, (void)build, (void)x, (void)y, (void)z;                                                         \
        integers                                                                                                       \
    }
#include "lang/kernel/elem/elem.def"

#define COMPLEX(how, ...) __VA_ARGS__
#define PART_OF(how, ...) __VA_ARGS__
#define TEST(...)         __VA_ARGS__
static const KPair absent = {0, 0};
#define ELEM(id, nargs, bound, reals, integers, pairs, ...) BODY(complex, id, KPair, pairs)
#include "lang/kernel/elem/elem.def"

/* -- derivatives --------------------------------------------------------------------------------------------------- */
static KRef less_slope(const KBuild *build, KRef t, KRef x, KRef y) {
    KRef wins = EITHER(LT(x, y), NE(y, y)), half = MUL(t, NUM(0.5));
    return SELECT(wins, t, SELECT(EQ(x, y), half, NUM(0)));
}

/* Returns t*(x/w), 0 if w is 0.  Derivatives of this must not contain 0/0, because the branch not selected would be
 * 0 times nan. */
static KRef part_slope(const KBuild *build, KRef t, KRef x, KRef w) {
    KRef none = EQ(w, NUM(0));
    return MUL(SELECT(none, NUM(0), t), DIV(x, SELECT(none, NUM(1), w)));
}

/* Returns the digamma function.  For y >= 10 it is log(y) - 1/(2y) - sum of B(2k)/(2k y^2k) (Abramowitz and Stegun
 * 6.3.18); psi(x) = psi(x+1) - 1/x brings x there.  Below 1/2 it is psi(1-x) - pi/tan(pi x), where the angle is
 * reduced to the nearest pole, because that difference is exact. */
static KRef digamma(const KBuild *build, KRef x) {
    enum { STEPS = 10, TERMS = 7 };
    static const double b[TERMS] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
    KRef below = LT(x, NUM(0.5)), y = SELECT(below, SUB(NUM(1), x), x), sum = NUM(0), tail = NUM(b[TERMS - 1]);
    for (int k = 0; k < STEPS; k++) sum = ADD(sum, DIV(NUM(1), ADD(y, NUM(k))));
    KRef far = ADD(y, NUM(STEPS)), r = DIV(NUM(1), far), r2 = MUL(r, r);
    for (int k = TERMS - 2; k >= 0; k--) tail = ADD(NUM(b[k]), MUL(r2, tail));
    KRef psi = SUB(SUB(SUB(MATH1(log, far), MUL(NUM(0.5), r)), MUL(r2, tail)), sum);
    KRef angle = MUL(NUM(M_PI), SUB(x, MATH1(round, x)));
    return SELECT(below, SUB(psi, DIV(NUM(M_PI), MATH1(tan, SELECT(below, angle, NUM(1))))), psi);
}

#define LESS(t, x, y)                less_slope(build, t, x, y)
#define PART(t, x, w)                part_slope(build, t, x, w)
#define DIGAMMA(x)                   digamma(build, x)
#define SLOPES(...)                  return SLOPE_OF(__VA_ARGS__, 0, )
#define SLOPE_OF(first, second, ...) arg == 0 ? (first) : (second)
#define FLAT                         return 0
#define ELEM(id, nargs, bound, reals, integers, pairs, derivative, ...)                                                \
    static KRef slope_##id(const KBuild *build, int arg, KRef x, KRef y, KRef w, KRef t) {                             \
        (void)build, (void)arg, (void)x, (void)y, (void)w, (void)t;                                                    \
        derivative;                                                                                                    \
    }
#define ANALYTIC(id, ...)                                                                                              \
    static KPair analytic_##id(const KBuild *build, KPair x) { __VA_ARGS__ }
#undef BODY
#define BODY return 0
#include "lang/kernel/elem/elem.def"
#undef SLOPES
#undef FLAT
#undef BODY
#define SLOPES(...) ELEM_SLOPES
#define FLAT        ELEM_FLAT
#define BODY        ELEM_BODY
typedef KRef Slope(const KBuild *, int arg, KRef x, KRef y, KRef w, KRef t);
static const struct {
    Slope *slope;
    uint8_t kind;
} slopes[EL__COUNT] = {
#define ELEM(id, nargs, bound, reals, integers, pairs, derivative, ...) [EL_##id] = {slope_##id, derivative},
#include "lang/kernel/elem/elem.def"
};

typedef KPair Analytic(const KBuild *, KPair x);
static Analytic *const analytics[EL__COUNT] = {
#define ELEM(...)
#define ANALYTIC(id, ...) [EL_##id] = analytic_##id,
#include "lang/kernel/elem/elem.def"
};

KPair kelem_analytic(KBuild b, const KIns *i, KPair x) {
    return b.d = (qs_dtype)i->dtype, analytics[i->imm / 2](&b, x);
}

ElemSlope kelem_slope_kind(Elem e) { return (ElemSlope)slopes[e].kind; }

KRef kelem_slope(KBuild b, Elem e, qs_dtype d, int arg, const KRef *args, KRef result, KRef t) {
    return b.d = d, slopes[e].slope(&b, arg, args[0], kelem_info[e].nargs > 1 ? args[1] : 0, result, t);
}

Elem kelem_instruction(const KIns *i) {
    switch ((KOp)i->op) {
    case K_ADD: return EL_add;
    case K_SUB: return EL_sub;
    case K_MUL: return EL_mul;
    case K_DIV: return EL_div;
    case K_MOD: return EL_mod;
    case K_MIN: return EL_min;
    case K_MAX: return EL_max;
    case K_NEG: return EL_neg;
    case K_ABS: return EL_abs;
    case K_MATH: break;
    default: return EL__COUNT;
    }
    static const uint8_t functions[MF__COUNT] = {
#define MATHFN(id, ...) [MF_##id] = EL_##id,
#include "lang/kernel/ir/mathfn.def"
    };
    return (Elem)functions[i->flag];
}

/* -- generating code ----------------------------------------------------------------------------------------------- */
typedef KPair RealBody(const KBuild *, KRef, KRef, KRef);
typedef KPair ComplexBody(const KBuild *, KPair, KPair, KPair);
static const struct {
    RealBody *real, *integers;
    ComplexBody *complex;
} bodies[EL__COUNT] = {
#define ELEM(id, ...) [EL_##id] = {real_##id, whole_##id, complex_##id},
#include "lang/kernel/elem/elem.def"
};

KPair kelem_real(KBuild b, Elem e, qs_dtype d, const KRef *args) {
    int n = kelem_info[e].nargs;
    RealBody *body = d < QS_F16 ? bodies[e].integers : bodies[e].real;
    return b.d = d, body(&b, args[0], n > 1 ? args[1] : 0, n > 2 ? args[2] : 0);
}

KPair kelem_complex(KBuild b, Elem e, qs_dtype d, const KPair *args) {
    int n = kelem_info[e].nargs;
    return b.d = d, bodies[e].complex(&b, args[0], n > 1 ? args[1] : absent, n > 2 ? args[2] : absent);
}

static KRef cast_op(KBuild b, KRef x, qs_dtype d) { return b.fold(b.ud, (KMake){K_CAST, .own = d, .a = x}); }

KRef kelem_compare_signs(KBuild b, Elem e, KRef x, KRef y, bool x_signed) {
    KRef s = x_signed ? x : y, same = cast_op(b, s, QS_U64), zero = b.num(b.ud, QS_I64, 0);
    s = cast_op(b, s, QS_I64);
    KRef below = kelem_real(b, e, QS_I64, x_signed ? (KRef[]){s, zero} : (KRef[]){zero, s}).re;
    KRef above = kelem_real(b, e, QS_U64, x_signed ? (KRef[]){same, y} : (KRef[]){x, same}).re;
    KRef negative = op(&b, K_LT, s, zero);
    return select_op(&b, negative, below, above);
}

KRef kelem_mod_signs(KBuild b, KRef x, KRef y, bool x_signed) {
    KRef s = cast_op(b, x_signed ? x : y, QS_I64), below = op(&b, K_LT, s, b.num(b.ud, QS_I64, 0));
    KRef flipped = op(&b, K_NOT, s, 0); /* -1 - s, which does not overflow as -s may */
    KRef size = cast_op(b, select_op(&b, below, flipped, s), QS_U64);
    KRef one = b.num(b.ud, QS_U64, 1), zero = b.num(b.ud, QS_U64, 0);
    if (x_signed) {
        KRef r = kelem_real(b, EL_mod, QS_U64, (KRef[]){size, y}).re;
        KRef rest = op(&b, K_SUB, op(&b, K_SUB, y, one), r);
        KRef other = op(&b, K_AND, below, op(&b, K_NE, y, zero));
        return cast_op(b, select_op(&b, other, rest, r), QS_F64);
    }
    size = select_op(&b, below, op(&b, K_ADD, size, one), size);
    KRef r = kelem_real(b, EL_mod, QS_U64, (KRef[]){x, size}).re;
    KRef other = op(&b, K_AND, below, op(&b, K_NE, r, zero));
    KRef rest = cast_op(b, op(&b, K_SUB, size, r), QS_F64);
    return select_op(&b, other, op(&b, K_NEG, rest, 0), cast_op(b, r, QS_F64));
}

/* Counts beyond 64 are limited to 64, so that the negation does not overflow.  One of the two shifts has count 0. */
KRef kelem_shift(KBuild b, Elem e, qs_dtype d, KRef x, KRef n, qs_dtype of_n, bool never_negative) {
    bool is_signed = of_n == QS_I32 || of_n == QS_I64;
    if (never_negative || !is_signed) return kelem_real(b, e, d, (KRef[]){x, cast_op(b, n, d)}).re;
    KRef zero = b.num(b.ud, of_n, 0), near = op(&b, K_MAX, n, b.num(b.ud, of_n, -64));
    KRef back = op(&b, K_NEG, op(&b, K_MIN, near, zero), 0);
    x = kelem_real(b, e, d, (KRef[]){x, cast_op(b, op(&b, K_MAX, n, zero), d)}).re;
    return kelem_real(b, e == EL_shl ? EL_shr : EL_shl, d, (KRef[]){x, cast_op(b, back, d)}).re;
}

/* hi + 1 is a power of 2, which d can represent if its range exceeds hi. */
KRef kelem_holds(KBuild b, qs_dtype to, KRef x, qs_dtype d, double least, double most) {
    double lo, hi, first, last;
    bool real = qdtype_is_real(d);
    KRef holds = b.num(b.ud, QS_B1, 1);
    if (d == QS_B1) return holds;
    qdtype_int_span(to, &lo, &hi);
    if (!real) qdtype_int_span(d, &first, &last), least = fmax(least, first), most = fmin(most, last);
    if (real) holds = op(&b, K_EQ, math_op(&b, MF_trunc, x, 0), x);
    if (least < lo) holds = op(&b, K_AND, holds, op(&b, K_LE, b.num(b.ud, d, lo), x));
    if (real ? most >= hi + 1 : most > hi) holds = op(&b, K_AND, holds, op(&b, K_LT, x, b.num(b.ud, d, hi + 1)));
    return holds;
}

/* Generates x op y of unsigned integers, where `size` is the absolute value of y and `below` tells its sign. */
static KRef update_unsigned(KBuild b, Elem e, KRef x, KRef size, KRef below) {
    KRef up = kelem_real(b, e, QS_U64, (KRef[]){x, size}).re, down = b.num(b.ud, QS_U64, 0);
    if (e != EL_mul) down = kelem_real(b, e == EL_add ? EL_sub : EL_add, QS_U64, (KRef[]){x, size}).re;
    return select_op(&b, below, down, up);
}

static KRef update_by_int(KBuild b, Elem e, qs_dtype d, KRef x, KRef y, qs_dtype of_y) {
    if (d == QS_I64 && of_y == QS_U64) { /* a conversion saturates, so the highest bit is moved on its own */
        KRef half = b.num(b.ud, QS_U64, 0x1p63), high = op(&b, K_LE, half, y);
        KRef low = cast_op(b, select_op(&b, high, op(&b, K_SUB, y, half), y), QS_I64);
        y = op(&b, K_ADD, low, select_op(&b, high, b.num(b.ud, QS_I64, -0x1p63), b.num(b.ud, QS_I64, 0)));
    }
    if (d == QS_I64 || !qdtype_mixes_signs(d, of_y)) return kelem_real(b, e, d, (KRef[]){x, cast_op(b, y, d)}).re;
    y = cast_op(b, y, QS_I64);
    KRef below = op(&b, K_LT, y, b.num(b.ud, QS_I64, 0)), one = b.num(b.ud, QS_U64, 1);
    KRef size = cast_op(b, select_op(&b, below, op(&b, K_NOT, y, 0), y), QS_U64);
    return update_unsigned(b, e, x, select_op(&b, below, op(&b, K_ADD, size, one), size), below);
}

KRef kelem_update(KBuild b, Elem e, qs_dtype d, KRef x, KRef y, qs_dtype of_y) {
    if (!qdtype_is_real(of_y)) return update_by_int(b, e, d, x, y, of_y);
    if (of_y != QS_F64) y = cast_op(b, y, QS_F64);
    KRef real = cast_op(b, kelem_real(b, e, QS_F64, (KRef[]){cast_op(b, x, QS_F64), y}).re, d), size = y, integer;
    if (d == QS_U64) {
        size = op(&b, K_ABS, y, 0);
        integer = update_unsigned(b, e, x, cast_op(b, size, d), op(&b, K_LT, y, b.num(b.ud, QS_F64, 0)));
    } else integer = kelem_real(b, e, d, (KRef[]){x, cast_op(b, y, d)}).re;
    return select_op(&b, kelem_holds(b, d, size, QS_F64, -INFINITY, INFINITY), integer, real);
}

static KPair multiply_pairs(KBuild b, qs_dtype d, bool is_complex, KPair x, KPair y) {
    if (is_complex) return kelem_complex(b, EL_mul, d, (KPair[]){x, y});
    return kelem_real(b, EL_mul, d, (KRef[]){x.re, y.re});
}

/* A power between two integral ones.  The root of 0 has no derivative, but the product has one, which is 0: so that it
 * is not lost, 0 takes another branch. */
static KRef build_root_chain(KBuild b, qs_dtype d, KRef x, double n) {
    int count = (int)fabs(n);
    b.d = d;
    KRef zero = b.num(b.ud, d, 0), one = b.num(b.ud, d, 1), is_zero = op(&b, K_EQ, x, zero), product = 0;
    KRef base = count ? select_op(&b, is_zero, one, x) : x, root = kelem_real(b, EL_half_power, d, &base).re;
    KRef square = op(&b, K_ABS, base, 0);
    KELEM_CHAIN(count, product = square, product = kelem_real(b, EL_mul, d, (KRef[]){product, square}).re,
                square = kelem_real(b, EL_mul, d, (KRef[]){square, square}).re)
    if (count) product = select_op(&b, is_zero, zero, kelem_real(b, EL_mul, d, (KRef[]){product, root}).re);
    else product = root;
    return n < 0 ? kelem_real(b, EL_div, d, (KRef[]){one, product}).re : product;
}

bool kelem_power(KBuild b, qs_dtype d, KPair x, double n, KPair *out) {
    bool is_complex = x.im != 0;
    KRef one = b.num(b.ud, d, 1), zero = is_complex ? b.num(b.ud, d, 0) : 0;
    KPair unit = {one, zero}, product = unit;
    if (kelem_is_root_chain(n) && !is_complex) return out->re = build_root_chain(b, d, x.re, n), out->im = 0, true;
    if (is_complex || !qdtype_is_real(d) ? !kelem_is_long_chain(n) : !kelem_is_chain(n)) return false;
    KELEM_CHAIN(n, product = x, product = multiply_pairs(b, d, is_complex, product, x),
                x = multiply_pairs(b, d, is_complex, x, x))
    if (n < 0 && is_complex) product = kelem_complex(b, EL_div, d, (KPair[]){unit, product});
    else if (n < 0) product = kelem_real(b, EL_div, d, (KRef[]){one, product.re});
    return *out = product, true;
}
