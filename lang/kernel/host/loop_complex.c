/* loop_complex.c -- complex numbers of the host: two doubles, with the operations of vm/array/packed.c step by step. */
#include "lang/kernel/host/looping.h"
#include "lang/kernel/host/pair.h"

#include <math.h>
#include <string.h>

Number kloop_complex(KRef re, KRef im) { return (Number){.kind = LOOP_COMPLEX, .v = re, .im = im}; }

Number kloop_to_complex(Loops *L, Number a) {
    return a.kind == LOOP_COMPLEX ? a : kloop_complex(kloop_real(L, a), kloop_f64(L, 0));
}

/* -- operators --------------------------------------------------------------------------------------------------- */
static KPair pair(Number a) { return (KPair){a.v, a.im}; }
static Number number(KPair p) { return kloop_complex(p.re, p.im); }

/* Known whole powers are products, squared as often as the exponent has bits. */
static qs_status power(Loops *L, Number a, Number b, Number *out) {
    enum { MOST = 64 };
    double n, im;
    bool known = kir_is_const(L->f, b.v, &n) && kir_is_const(L->f, b.im, &im) && im == 0;
    bool whole = known && n == trunc(n) && fabs(n) <= MOST;
    if (!known && !(kir_is_const(L->f, b.im, &im) && im != 0))
        return kloop_decline(L, L->pos, "a power of a complex number, to an exponent that may be whole");
    if (!whole) return *out = number(kpair_power(L->f, pair(a), pair(b), L->pos)), QS_OK;
    return *out = number(kpair_whole_power(L->f, pair(a), (int)n, L->pos)), QS_OK;
}

static KRef is_zero(Loops *L, Number a) {
    KRef zero = kloop_f64(L, 0);
    return kpair_equal(L->f, pair(a), (KPair){zero, zero}, L->pos);
}

static qs_status operation(Loops *L, Op op, Number a, Number b, Number *out) {
    KPair x = pair(a), y = pair(b);
    switch (op) {
    case OP_ADD: *out = number(kpair_each(L->f, K_ADD, x, y, L->pos)); return QS_OK;
    case OP_SUB: *out = number(kpair_each(L->f, K_SUB, x, y, L->pos)); return QS_OK;
    case OP_MUL: case OP_PWMUL: *out = number(kpair_times(L->f, x, y, L->pos)); return QS_OK;
    case OP_DIV: case OP_PWDIV: *out = number(kpair_over(L->f, x, y, L->pos)); return QS_OK;
    case OP_POW: case OP_PWPOW: return power(L, a, b, out);
    case OP_EQ: *out = kloop_bool(kpair_equal(L->f, x, y, L->pos)); return QS_OK;
    case OP_NE: *out = kloop_bool(kloop_not(L, kpair_equal(L->f, x, y, L->pos))); return QS_OK;
    default:
        return kloop_decline(L, L->pos, "the operator `%s` of complex numbers",
                             *qop_text(op) ? qop_text(op) : qop_inplace(op));
    }
}

static qs_status undecided(Loops *L) {
    return kloop_decline(L, L->pos, "a number that is complex here, or perhaps real");
}

static uint8_t maybe_of(Number a) { return a.kind == LOOP_COMPLEX ? a.maybe : MAYBE_REAL; }

/* Beside a surely complex number a real one counts as complex.  What is perhaps real stays so under addition, and under
 * multiplication where it is 0: other products have an imaginary part of -0, or nan. */
static bool decide(Loops *L, Op op, Number x, Number y, uint8_t *maybe) {
    uint8_t a = maybe_of(x), b = maybe_of(y);
    double n;
    *maybe = SURELY_COMPLEX;
    if (a == SURELY_COMPLEX || b == SURELY_COMPLEX) return true;
    bool zeros = a == MAYBE_ZERO && b == MAYBE_ZERO && (op == OP_MUL || op == OP_PWMUL);
    if (op == OP_POW && a == MAYBE_ZERO && kloop_known(L, y, &n) && n >= 1) zeros = true;
    *maybe = zeros ? MAYBE_ZERO : MAYBE_REAL;
    return zeros || op == OP_ADD || op == OP_SUB;
}

qs_status kloop_complex_binary(Loops *L, Op op, Number x, Number y, Number *out) {
    uint8_t maybe;
    if (!decide(L, op, x, y, &maybe)) return undecided(L);
    TRY(operation(L, op, kloop_to_complex(L, x), kloop_to_complex(L, y), out));
    if (out->kind == LOOP_COMPLEX) out->maybe = maybe;
    return QS_OK;
}

qs_status kloop_complex_unary(Loops *L, Op op, Number a, Number *out) {
    if (a.maybe) return undecided(L);
    if (op == OP_NOT) return *out = kloop_bool(is_zero(L, a)), QS_OK;
    if (op == OP_NEG) a = number(kpair_negative(L->f, pair(a), L->pos));
    return *out = a, QS_OK;
}

/* -- built-ins --------------------------------------------------------------------------------------------------- */
static KRef math2(Loops *L, MathFn fn, KRef a, KRef b) {
    return kir_fold(L->f, K_MATH, QS_B1, (uint16_t)fn, a, b, 0, L->pos);
}

static qs_status of_real(Loops *L, const char *name, Number a, bool *found, Number *out) {
    bool is_int = a.kind == LOOP_INT;
    if (!strcmp(name, "real") || !strcmp(name, "conj")) *out = a;
    else if (!strcmp(name, "imag")) *out = is_int ? kloop_int(kloop_i64(L, 0), 0, 0) : kloop_const(L, 0);
    else if (!strcmp(name, "angle")) *out = kloop_num(math2(L, MF_atan2, kloop_f64(L, 0), kloop_real(L, a)));
    else *found = false;
    return QS_OK;
}

static qs_status of_complex(Loops *L, const char *name, Number a, bool *found, Number *out) {
    bool part = !strcmp(name, "real") || !strcmp(name, "imag") || !strcmp(name, "abs");
    if (a.maybe && !part) return undecided(L);
    if (!strcmp(name, "real")) *out = kloop_num(a.v);
    else if (!strcmp(name, "imag")) *out = kloop_num(a.im);
    else if (!strcmp(name, "conj")) *out = kloop_complex(a.v, kir_fold(L->f, K_NEG, QS_B1, 0, a.im, 0, 0, L->pos));
    else if (!strcmp(name, "abs")) *out = kloop_num(math2(L, MF_hypot, a.v, a.im));
    else if (!strcmp(name, "angle")) *out = kloop_num(math2(L, MF_atan2, a.im, a.v));
    else if (!strcmp(name, "complex")) *out = a;
    else if (!strcmp(name, "exp")) *out = number(kpair_exp(L->f, pair(a), L->pos));
    else if (!strcmp(name, "sqrt")) *out = number(kpair_sqrt(L->f, pair(a), L->pos));
    else return kloop_decline(L, L->pos, "%s of a complex number", name);
    return *found = true, QS_OK;
}

qs_status kloop_complex_call(Loops *L, const char *name, const Number *args, int nargs, bool *found, Number *out) {
    bool complex = false;
    for (int i = 0; i < nargs; i++) complex |= args[i].kind == LOOP_COMPLEX;
    *found = true;
    if (nargs == 1 && complex) return of_complex(L, name, args[0], found, out);
    if (complex) return kloop_decline(L, L->pos, "%s of a complex number", name);
    if (!strcmp(name, "complex") && (nargs == 1 || nargs == 2)) {
        KRef im = nargs == 2 ? kloop_real(L, args[1]) : kloop_f64(L, 0);
        return *out = kloop_complex(kloop_real(L, args[0]), im), QS_OK;
    }
    if (nargs == 1) return of_real(L, name, args[0], found, out);
    return *found = false, QS_OK;
}
