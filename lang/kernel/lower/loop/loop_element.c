/* loop_element.c -- computes with one element of slices of unknown length (loop_row.c), as the host's arrays do.
 *
 * An element of a float array is a vector of one element (loop_vector.c).  An element of an array of integers or truth
 * values is a WHAT_TYPED: a number with the element type of its array.  Integers compute in the type that the host's
 * arrays have, and wrap there: int for 8 and 16 bits, otherwise their own.  Beside floats and numbers they become
 * floats first.  Comparisons give truth values. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/loop/loop_internal.h"
#include "vm/base/dtype.h"

#include <string.h>

/* The element of an array of type d whose value is v, an integer of 64 bits or a truth value. */
static Value typed(Loops *L, qs_dtype d, KRef v) {
    Value x = kloop_vector(L, 1);
    double lo, hi;
    x.what = WHAT_TYPED, x.dtype = (uint8_t)d;
    if (d == QS_B1) return x.at[0] = kloop_bool(v), x;
    qdtype_int_span(d, &lo, &hi);
    return x.at[0] = d == QS_I64 ? kloop_wide(L, v) : kloop_int(v, lo, hi), x;
}

Value kloop_typed(Loops *L, qs_dtype d, Number n) { return typed(L, d, n.v); }

static qs_dtype float_dtype(Loops *L, const Value *v) {
    double k;
    return v->f64 && kir_is_const(L->f, v->f64, &k) && k != 0 ? QS_F64 : L->c->scalar_dtype;
}

static qs_status find_term(Loops *L, const Value *v, Term *out) {
    if (v->what == WHAT_TYPED) return *out = (Term){(qs_dtype)v->dtype, false}, QS_OK;
    if (v->what == WHAT_VECTOR) return *out = (Term){float_dtype(L, v), false}, QS_OK;
    switch (v->num.kind) {
    case LOOP_NUM: return *out = (Term){QS_F64, true}, QS_OK;
    case LOOP_INT:
    case LOOP_BOOL: return *out = (Term){QS_I64, true}, QS_OK;
    default:
        return kloop_decline(L, L->pos,
                             "a slice of integers beside a number of several types; write float(…) of the number");
    }
}

/* The element as one of a float array of type d. */
static Value as_float(Loops *L, const Value *v, qs_dtype d) {
    if (v->what == WHAT_NUMBER) return *v;
    Value x = kloop_vector(L, 1);
    x.at[0] = kloop_to_num(L, v->at[0]), x.f64 = kloop_or(L, v->f64, kloop_width(L, d));
    return x;
}

static KRef as_integer(Loops *L, const Value *v, qs_dtype d) {
    Number n = v->what == WHAT_NUMBER ? v->num : v->at[0];
    return kloop_cast(L, n.v, d);
}

static bool is_order(Op op) { return op >= OP_EQ && op <= OP_GE; }

/* Whether the number is certainly an element of an array of type d. */
static bool holds_number(const Value *v, qs_dtype d) {
    double lo, hi;
    if (v->what != WHAT_NUMBER || v->num.kind == LOOP_BOOL) return true;
    qdtype_int_span(d, &lo, &hi);
    return v->num.lo >= lo && v->num.hi <= hi;
}

static Value truth_value(Loops *L, const Value *v) { return typed(L, QS_B1, v->at[0].v); }

/* Computes in floats. */
static qs_status real_binary(Loops *L, Op op, const Value *a, const Value *b, qs_dtype d, Value *out) {
    Value x = as_float(L, a, d), y = as_float(L, b, d);
    TRY(kloop_vector_binary(L, op, &x, &y, out));
    if (out->what == WHAT_TRUTHS) *out = truth_value(L, out);
    return QS_OK;
}

static qs_status decline_type(Loops *L, const char *what, qs_dtype d) {
    return kloop_decline(L, L->pos, "%s of a slice of %s; write float64(…) of the slice", what, qdtype_info[d].name);
}

/* Integers of 64 bits are compared exactly: beside an integral number as such. */
static Value as_integral(Op op, const Value *v, const Value *beside) {
    Value x = *v;
    bool wide = beside->what == WHAT_TYPED && beside->dtype == QS_I64;
    if (!wide || !is_order(op) || v->what != WHAT_NUMBER || v->num.kind != LOOP_NUM || !v->num.twin) return x;
    return x.num = kloop_int(v->num.twin, v->num.lo, v->num.hi), x;
}

qs_status kloop_element_binary(Loops *L, Op op, const Value *x, const Value *y, Value *out) {
    Term s, t;
    const Value both[2] = {as_integral(op, x, y), as_integral(op, y, x)}, *a = &both[0], *b = &both[1];
    bool fraction = op == OP_DIV || op == OP_PWDIV || op == OP_PWPOW;
    bool extreme = op == OP_MAXEQ || op == OP_MINEQ;
    if (a->what != WHAT_TYPED && b->what != WHAT_TYPED) return real_binary(L, op, a, b, L->c->scalar_dtype, out);
    TRY(find_term(L, a, &s));
    TRY(find_term(L, b, &t));
    qs_dtype d = qdtype_meet(s, t, fraction, L->c->scalar_dtype);
    bool wide = s.dtype == QS_I64 || t.dtype == QS_I64;
    const char *shown = *qop_text(op) ? qop_text(op) : qop_inplace(op);
    if (qdtype_is_real(d)) {
        bool exact = !wide || (!is_order(op) && !extreme);
        return exact ? real_binary(L, op, a, b, d, out) : decline_type(L, shown, QS_I64);
    }
    bool truths = s.dtype == QS_B1 && t.dtype == QS_B1;
    if (truths && op == OP_PWMUL) return *out = typed(L, QS_B1, kloop_op(L, K_AND, a->at[0].v, b->at[0].v)), QS_OK;
    if (!holds_number(a, d) || !holds_number(b, d) || (truths && extreme))
        return decline_type(L, shown, a->what == WHAT_TYPED ? s.dtype : t.dtype);
    KRef z[2] = {as_integer(L, a, d), as_integer(L, b, d)};
    KRef r = kelem_real(kbuild_rows(&L->walk), kelem_operator(op), d, z).re;
    if (is_order(op)) return *out = typed(L, QS_B1, r), QS_OK;
    qs_dtype kept = extreme && !s.number && !t.number && s.dtype == t.dtype ? s.dtype : d;
    return *out = typed(L, kept, kloop_cast(L, r, QS_I64)), QS_OK;
}

qs_status kloop_element_unary(Loops *L, Op op, const Value *a, Value *out) {
    Value zero = {.what = WHAT_NUMBER, .num = kloop_int(kloop_i64(L, 0), 0, 0)};
    if (op == OP_NOT) return *out = typed(L, QS_B1, kloop_not(L, kloop_truth(L, a->at[0]))), QS_OK;
    if (a->what != WHAT_TYPED) return kloop_vector_unary(L, op, a, out);
    if (op == OP_NEG) return kloop_element_binary(L, OP_SUB, &zero, a, out);
    return decline_type(L, qop_text(op), (qs_dtype)a->dtype);
}

bool kloop_element_converts(const char *name) {
    return !strcmp(name, "float") || !strcmp(name, "float32") || !strcmp(name, "float64");
}

/* The conversions float, float32 and float64; the first one leaves floats as they are. */
static Value convert_element(Loops *L, const char *name, const Value *x) {
    qs_dtype d;
    if (!qdtype_from_name(name, &d)) {
        if (x->what != WHAT_TYPED) return *x;
        d = qdtype_promote_scalar((qs_dtype)x->dtype, false, L->c->scalar_dtype);
    }
    Value v = kloop_vector(L, 1);
    v.at[0] = kloop_to_num(L, x->at[0]), v.f64 = kloop_width(L, d);
    if (!v.f64) v.at[0] = kloop_rounded(L, v.at[0]);
    return v;
}

qs_status kloop_element_call(Loops *L, const char *name, const Value *x, int n, Value *out) {
    qs_dtype d = L->c->scalar_dtype;
    Value args[LOOP_ROW_ARGS];
    bool typed_args = false;
    if (n == 1 && kloop_element_converts(name)) return *out = convert_element(L, name, x), QS_OK;
    if (n == 2 && (!strcmp(name, "max") || !strcmp(name, "min")))
        return kloop_element_binary(L, name[1] == 'a' ? OP_MAXEQ : OP_MINEQ, &x[0], &x[1], out);
    Elem e = kelem_find(name, n);
    for (int i = 0; i < n; i++) {
        if (x[i].what != WHAT_TYPED) continue;
        bool floats = e != EL__COUNT && kelem_info[e].integers == ELEM_FLOATS && n == 1;
        if (!floats) return decline_type(L, name, (qs_dtype)x[i].dtype);
        d = qdtype_promote_scalar((qs_dtype)x[i].dtype, false, d), typed_args = true;
    }
    for (int i = 0; i < n; i++) args[i] = typed_args ? as_float(L, &x[i], d) : x[i];
    return kloop_vector_call(L, name, args, n, out);
}
