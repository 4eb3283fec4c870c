/* loop_complex.c -- computes with complex numbers: two doubles, by the rows of elem.def.
 *
 * A variable that begins as the real number 0 and becomes complex (`z = 0`, then `z = z^2 + c`) is complex from the
 * beginning if the difference cannot be observed: everything done to it must give the same result for a real number as
 * for one with the imaginary part +0.  That holds for sums, for products of zeros, and if the other operand is
 * complex. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/loop/loop_internal.h"

#include <string.h>

Number kloop_complex(KRef re, KRef im) { return (Number){.kind = LOOP_COMPLEX, .v = re, .im = im}; }

Number kloop_to_complex(Loops *L, Number a) {
    return a.kind == LOOP_COMPLEX ? a : kloop_complex(kloop_real(L, a), kloop_f64(L, 0));
}

/* -- operators ----------------------------------------------------------------------------------------------------- */
static KPair pair_of(Number a) { return (KPair){a.v, a.im}; }
static Number number_of(KPair p) { return kloop_complex(p.re, p.im); }

static KPair complex_row(Loops *L, Elem e, const Number *a) {
    KPair x[LOOP_ROW_ARGS];
    for (int i = 0; i < kelem_info[e].nargs; i++) x[i] = pair_of(kloop_to_complex(L, a[i]));
    return kelem_complex(kbuild_rows(&L->walk), e, QS_F64, x);
}
static Number of_row(Loops *L, Elem e, const Number *a) {
    KPair z = complex_row(L, e, a);
    ElemGives gives = (ElemGives)kelem_info[e].complex;
    return gives == ELEM_TRUTH ? kloop_bool(z.re) : gives == ELEM_NUMBER ? kloop_num(z.re) : number_of(z);
}

/* A known integral power is computed by repeated squaring. */
static qs_status complex_power(Loops *L, Number a, Number b, Number *out) {
    double n, im;
    KPair z;
    bool known = kir_is_const(L->f, b.v, &n) && kir_is_const(L->f, b.im, &im) && im == 0;
    if (!known && !(kir_is_const(L->f, b.im, &im) && im != 0))
        return kloop_decline(L, L->pos, "a power of a complex number, to an exponent that may be whole");
    if (known && kelem_power(kbuild_rows(&L->walk), QS_F64, pair_of(a), n, &z)) return *out = number_of(z), QS_OK;
    return *out = of_row(L, EL_pow, (Number[]){a, b}), QS_OK;
}

static KRef is_zero(Loops *L, Number a) {
    KRef zero = kloop_f64(L, 0);
    return complex_row(L, EL_eq, (Number[]){a, kloop_complex(zero, zero)}).re;
}

static qs_status complex_operation(Loops *L, Op op, Number a, Number b, Number *out) {
    Elem e = kelem_operator(op);
    if (e == EL_pow) return complex_power(L, a, b, out);
    if (e == EL__COUNT || kelem_info[e].complex == ELEM_NOTHING)
        return kloop_decline(L, L->pos, "the operator `%s` of complex numbers",
                             *qop_text(op) ? qop_text(op) : qop_inplace(op));
    return *out = of_row(L, e, (Number[]){a, b}), QS_OK;
}

static qs_status undecided(Loops *L) {
    return kloop_decline(L, L->pos, "a number that is complex here, or perhaps real");
}

static uint8_t maybe_of(Number a) { return a.kind == LOOP_COMPLEX ? a.maybe : MAYBE_REAL; }

/* Determines whether the result is certainly complex; returns false if that matters and is unknown.  Beside a certainly
 * complex number, a real one counts as complex.  A possibly real number stays so under addition, and under
 * multiplication if it is 0: other products have an imaginary part of -0 or NaN. */
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
    TRY(complex_operation(L, op, kloop_to_complex(L, x), kloop_to_complex(L, y), out));
    if (out->kind == LOOP_COMPLEX) out->maybe = maybe;
    return QS_OK;
}

qs_status kloop_complex_unary(Loops *L, Op op, Number a, Number *out) {
    if (a.maybe) return undecided(L);
    if (op == OP_NOT) return *out = kloop_bool(is_zero(L, a)), QS_OK;
    if (op == OP_NEG) a = of_row(L, EL_neg, &a);
    return *out = a, QS_OK;
}

/* -- built-ins ----------------------------------------------------------------------------------------------------- */
/* A row that makes a complex number of real arguments. */
static qs_status of_real(Loops *L, Elem e, const Number *a, Number *out) {
    KRef x[2] = {kloop_real(L, a[0]), kelem_info[e].nargs == 2 ? kloop_real(L, a[1]) : 0};
    return *out = number_of(kelem_real(kbuild_rows(&L->walk), e, QS_F64, x)), QS_OK;
}

static qs_status of_complex(Loops *L, Elem e, const char *name, const Number *a, Number *out) {
    if (!strcmp(name, "complex")) return *out = a[0], a[0].maybe ? undecided(L) : QS_OK;
    if (e == EL__COUNT || kelem_info[e].complex == ELEM_NOTHING)
        return kloop_decline(L, L->pos, "%s of a complex number", name);
    bool part = e == EL_real || e == EL_imag || e == EL_abs;
    for (int i = 0; i < kelem_info[e].nargs && !part; i++)
        if (a[i].kind == LOOP_COMPLEX && a[i].maybe) return undecided(L);
    return *out = of_row(L, e, a), QS_OK;
}

qs_status kloop_complex_call(Loops *L, const char *name, const Number *args, int nargs, bool *found, Number *out) {
    bool complex = false;
    Elem e = kelem_find(name, nargs);
    for (int i = 0; i < nargs; i++) complex |= args[i].kind == LOOP_COMPLEX;
    *found = true;
    if (complex) return of_complex(L, e, name, args, out);
    if (e != EL__COUNT && kelem_info[e].real == ELEM_COMPLEX) return of_real(L, e, args, out);
    if (nargs == 1 && !strcmp(name, "complex"))
        return *out = kloop_complex(kloop_real(L, args[0]), kloop_f64(L, 0)), QS_OK;
    return *found = false, QS_OK;
}
