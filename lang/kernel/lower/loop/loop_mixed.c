/* loop_mixed.c -- computes with numbers whose type only the running code knows.
 *
 * Where paths meet with values of different types (`m = 0`, then `m = x[i]` of an array of ints), the value becomes a
 * LOOP_MIXED: the value as float64, an int64, and whether it is an int or a truth value.  The int64 holds the value of
 * an int.  If the numbers are integral and of at most 53 bits, it holds every value, and then most operations are the
 * same for all types and need no branch: they compute the int64, and the type of the result.
 *
 * A truth value counts as a number in arithmetic.  An int beside a number is a number.  So only an operation of ints
 * alone depends on the types; if it cannot be computed for all types at once, it is computed in branches
 * (kloop_split). */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <math.h>

static KRef emit_select(Loops *L, KRef c, KRef a, KRef b) {
    return a == b ? a : kbuild_pure(&L->walk, (KMake){K_SELECT, .a = c, .b = a, .c = b});
}

static KRef emit_truth(Loops *L, bool v) { return kbuild_int(&L->walk, QS_B1, v); }

bool kloop_may_be_int(Number a) { return a.kind == LOOP_INT || (a.kind == LOOP_MIXED && a.is_int); }

bool kloop_is_integral(Number a) {
    if (a.kind == LOOP_NUM) return a.twin;
    return a.kind == LOOP_MIXED ? a.integral : a.kind != LOOP_COMPLEX;
}

KRef kloop_as_int(Loops *L, Number a) {
    if (a.kind == LOOP_INT) return a.v;
    return a.kind == LOOP_MIXED ? (a.integral ? a.twin : 0) : kloop_twin(L, a);
}

static bool is_unsigned(Number a) { return a.kind == LOOP_INT || a.kind == LOOP_BOOL || a.unsigned_zero; }

Number kloop_mixed(Loops *L, Number a) {
    if (a.kind == LOOP_MIXED) return a;
    Number m = {
        .kind = LOOP_MIXED, .v = kloop_real(L, a), .twin = kloop_as_int(L, a), .integral = kloop_is_integral(a)};
    m.lo = m.integral ? a.lo : INFINITY, m.hi = m.integral ? a.hi : -INFINITY;
    m.unsigned_zero = is_unsigned(a);
    if (a.kind == LOOP_INT) m.is_int = emit_truth(L, true);
    if (a.kind == LOOP_BOOL) m.is_bool = emit_truth(L, true);
    return m;
}

/* -- values that meet ---------------------------------------------------------------------------------------------- */
/* Returns the properties of a value that is a or b, with the instructions of b. */
static Number meet_facts(Number a, Number b) {
    Number m = b;
    m.kind = a.kind == b.kind ? a.kind : LOOP_MIXED;
    m.integral = kloop_is_integral(a) && kloop_is_integral(b);
    m.unsigned_zero = is_unsigned(a) && is_unsigned(b);
    bool whole_a = m.integral || kloop_may_be_int(a), whole_b = m.integral || kloop_may_be_int(b);
    m.lo = fmin(whole_a ? a.lo : INFINITY, whole_b ? b.lo : INFINITY);
    m.hi = fmax(whole_a ? a.hi : -INFINITY, whole_b ? b.hi : -INFINITY);
    return m;
}

/* The value with these facts; `is_int` and `is_bool` are ignored where it never is one. */
static Number make_number(Number facts, KRef real, KRef integral, KRef truth, KRef is_int, KRef is_bool) {
    Number n = facts;
    n.is_int = n.is_bool = n.f32 = n.wide = n.im = n.guess = n.fits = 0, n.quotient = NULL;
    n.v = facts.kind == LOOP_INT ? integral : facts.kind == LOOP_BOOL ? truth : real;
    n.twin = facts.kind == LOOP_MIXED || (facts.kind == LOOP_NUM && facts.integral) ? integral : 0;
    if (facts.kind == LOOP_MIXED) n.is_int = is_int, n.is_bool = is_bool;
    if (facts.kind == LOOP_NUM && !n.twin) n.unsigned_zero = false;
    return n;
}

static Number choose_complex(Loops *L, KRef c, Number a, Number b) {
    return kloop_complex(emit_select(L, c, a.v, b.v), emit_select(L, c, a.im, b.im));
}

static KRef choose_type(Loops *L, KRef c, KRef a, KRef b) {
    if (!a && !b) return 0;
    return emit_select(L, c, a ? a : emit_truth(L, false), b ? b : emit_truth(L, false));
}

Number kloop_choose(Loops *L, KRef c, Number a, Number b) {
    if (a.kind == LOOP_COMPLEX) return choose_complex(L, c, a, b);
    Number facts = meet_facts(a, b);
    if (facts.kind == LOOP_BOOL) return kloop_bool(emit_select(L, c, a.v, b.v));
    if (facts.kind == LOOP_INT) return kloop_int(emit_select(L, c, a.v, b.v), facts.lo, facts.hi);
    Number x = kloop_mixed(L, a), y = kloop_mixed(L, b);
    KRef zero = kloop_i64(L, 0);
    KRef integral = x.twin || y.twin ? emit_select(L, c, x.twin ? x.twin : zero, y.twin ? y.twin : zero) : zero;
    bool same = facts.integral && facts.unsigned_zero && kloop_is_exact(facts.lo, facts.hi);
    KRef real = same ? kloop_cast(L, integral, QS_F64) : emit_select(L, c, x.v, y.v);
    Number n = make_number(facts, real, integral, 0, choose_type(L, c, x.is_int, y.is_int),
                           choose_type(L, c, x.is_bool, y.is_bool));
    return kloop_guess_choice(L, c, a, b, &n), n;
}

Join kloop_begin_join(Loops *L) {
    Join j = {.any = false};
    j.real = kbuild_local(&L->walk, kloop_f64(L, 0)), j.im = kbuild_local(&L->walk, kloop_f64(L, 0));
    j.integral = kbuild_local(&L->walk, kloop_i64(L, 0)), j.truth = kbuild_local(&L->walk, emit_truth(L, false));
    j.is_int = kbuild_local(&L->walk, emit_truth(L, false)), j.is_bool = kbuild_local(&L->walk, emit_truth(L, false));
    return j;
}

qs_status kloop_join_add(Loops *L, Join *j, Number a) {
    const Number *b = &j->value;
    bool complex = a.kind == LOOP_COMPLEX;
    if (j->any && (complex != (b->kind == LOOP_COMPLEX) || a.maybe || b->maybe))
        return kloop_decline(L, L->pos, "a complex number or a real one");
    kbuild_set(&L->walk, j->real, kloop_real(L, a));
    if (complex) kbuild_set(&L->walk, j->im, a.im);
    if (a.kind == LOOP_BOOL) kbuild_set(&L->walk, j->truth, a.v);
    if (!complex) {
        Number m = kloop_mixed(L, a);
        if (m.twin) kbuild_set(&L->walk, j->integral, m.twin);
        kbuild_set(&L->walk, j->is_int, m.is_int ? m.is_int : emit_truth(L, false));
        kbuild_set(&L->walk, j->is_bool, m.is_bool ? m.is_bool : emit_truth(L, false));
    }
    bool is_int = kloop_may_be_int(a) || (j->any && b->is_int);
    bool is_bool = a.kind == LOOP_BOOL || a.is_bool || (j->any && b->is_bool);
    j->value = j->any && !complex ? meet_facts(*b, a) : a;
    if (!j->any) j->value.integral = kloop_is_integral(a);
    j->value.is_int = is_int ? j->is_int : 0, j->value.is_bool = is_bool ? j->is_bool : 0;
    return j->any = true, QS_OK;
}

Number kloop_join_end(Loops *L, const Join *j) {
    const Number *x = &j->value;
    if (x->kind == LOOP_COMPLEX) {
        Number z = kloop_complex(kbuild_get(&L->walk, j->real), kbuild_get(&L->walk, j->im));
        return z.maybe = x->maybe, z;
    }
    if (x->kind == LOOP_BOOL) return kloop_bool(kbuild_get(&L->walk, j->truth));
    KRef real = kbuild_get(&L->walk, j->real), integral = kbuild_get(&L->walk, j->integral);
    return make_number(*x, real, integral, 0, x->is_int ? kbuild_get(&L->walk, j->is_int) : 0,
                       x->is_bool ? kbuild_get(&L->walk, j->is_bool) : 0);
}

/* -- branches by type ---------------------------------------------------------------------------------------------- */
typedef struct {
    NumberFn *fn;
    const void *ud;
    const Number *args;
    int n, at;
    Join join;
} Split;

static qs_status add_case(Loops *L, Split *s, Number as) {
    enum { MOST = 4 };
    Number args[MOST], out;
    for (int i = 0; i < s->n && i < MOST; i++) args[i] = i == s->at ? as : s->args[i];
    TRY(kloop_split(L, s->fn, s->ud, args, s->n, &out));
    return kloop_join_add(L, &s->join, out);
}

static qs_status split_real(Loops *L, Split *s, Number a) {
    Number number = kloop_num(a.v);
    if (a.integral && kloop_is_exact(a.lo, a.hi)) number = kloop_to_num(L, a);
    if (!a.is_bool) return add_case(L, s, number);
    kloop_flow(L, K_IF, a.is_bool);
    TRY(add_case(L, s, kloop_bool(kloop_op(L, K_NE, a.v, kloop_f64(L, 0)))));
    kloop_flow(L, K_ELSE, 0);
    TRY(add_case(L, s, number));
    kloop_flow(L, K_END, 0);
    return QS_OK;
}

static qs_status split_int(Loops *L, Split *s, Number a) {
    if (!a.is_int) return split_real(L, s, a);
    kloop_flow(L, K_IF, a.is_int);
    TRY(add_case(L, s, kloop_int(a.twin, a.lo, a.hi)));
    kloop_flow(L, K_ELSE, 0);
    TRY(split_real(L, s, a));
    kloop_flow(L, K_END, 0);
    return QS_OK;
}

qs_status kloop_split(Loops *L, NumberFn *fn, const void *ud, const Number *args, int n, Number *out) {
    Split s = {.fn = fn, .ud = ud, .args = args, .n = n};
    while (s.at < n && args[s.at].kind != LOOP_MIXED) s.at++;
    if (s.at == n) return fn(L, ud, args, n, out);
    s.join = kloop_begin_join(L);
    TRY(split_int(L, &s, args[s.at]));
    return *out = kloop_join_end(L, &s.join), QS_OK;
}

/* -- operators ----------------------------------------------------------------------------------------------------- */
static qs_status apply_operator(Loops *L, const void *ud, const Number *args, int n, Number *out) {
    const Op *op = ud;
    return n == 2 ? kloop_binary(L, *op, args[0], args[1], out) : kloop_unary(L, *op, args[0], out);
}

static bool is_comparison(Op op) { return op >= OP_EQ && op <= OP_GE; }

/* Whether the float64 is the number, whatever its type. */
static bool holds_exactly(Number a) { return !kloop_may_be_int(a) || kloop_is_exact(a.lo, a.hi); }

Number kloop_int_if(Loops *L, Number n, KRef is_int) {
    Number m = kloop_mixed(L, n);
    if (!m.unsigned_zero) m.v = emit_select(L, is_int, kloop_cast(L, m.twin, QS_F64), m.v);
    return m.is_int = is_int, m.is_bool = 0, m;
}

qs_status kloop_mixed_binary(Loops *L, Op op, Number a, Number b, Number *out) {
    bool ints = kloop_may_be_int(a) && kloop_may_be_int(b), divides = op == OP_DIV || op == OP_PWDIV;
    if (is_comparison(op) && kloop_is_integral(a) && kloop_is_integral(b)) {
        a = kloop_int(kloop_as_int(L, a), a.lo, a.hi), b = kloop_int(kloop_as_int(L, b), b.lo, b.hi);
        return kloop_binary(L, op, a, b, out);
    }
    if (is_comparison(op) && holds_exactly(a) && holds_exactly(b))
        return kloop_binary(L, op, kloop_num(kloop_real(L, a)), kloop_num(kloop_real(L, b)), out);
    if (is_comparison(op)) return kloop_split(L, apply_operator, &op, (Number[]){a, b}, 2, out);
    bool power = op == OP_POW || op == OP_PWPOW;
    bool integral = ints && !divides && !power && (kloop_expect_int(L, &a) & kloop_expect_int(L, &b));
    if (ints && !divides && !integral) return kloop_split(L, apply_operator, &op, (Number[]){a, b}, 2, out);
    Number x = a.kind == LOOP_BOOL ? a : kloop_to_num(L, a), y = b.kind == LOOP_BOOL ? b : kloop_to_num(L, b);
    if (!integral) return kloop_binary(L, op, a.kind == LOOP_INT ? a : x, b.kind == LOOP_INT ? b : y, out);
    TRY(kloop_binary(L, op, x, y, out));
    if (!kloop_expect_int(L, out)) return kloop_split(L, apply_operator, &op, (Number[]){a, b}, 2, out);
    KRef p = a.kind == LOOP_INT ? 0 : a.is_int, q = b.kind == LOOP_INT ? 0 : b.is_int;
    return *out = kloop_int_if(L, *out, p && q ? kloop_op(L, K_AND, p, q) : p ? p : q), QS_OK;
}

qs_status kloop_mixed_unary(Loops *L, Op op, Number a, Number *out) {
    if (!a.is_int) return kloop_unary(L, op, kloop_to_num(L, a), out);
    if (op != OP_NEG) return *out = a, out->is_bool = 0, QS_OK;
    if (!kloop_expect_int(L, &a)) return kloop_split(L, apply_operator, &op, &a, 1, out);
    TRY(kloop_unary(L, op, kloop_to_num(L, a), out));
    return *out = kloop_int_if(L, *out, a.is_int), QS_OK;
}
