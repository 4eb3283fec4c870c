/* lower_math.c -- lowers elementwise built-ins.
 *
 * elem.def defines what they compute; this file and lower_num.c determine the result type and fold constants. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/kernel/lower_builtin_table.h"

#include <math.h>

static qs_status need_real(Lower *L, const BuiltinCall *c, Num a) {
    return qdtype_is_complex(a.dtype) ? klbuiltin_refuse(L, c, "of a complex number is not available in kernels")
                                      : QS_OK;
}

static qs_status apply_each(Lower *L, const BuiltinCall *c, Elem e, MapFn *f, Val *out) {
    return klval_each(L, e, c->args, c->nargs, f, c, out);
}

/* -- the rows of elem.def ------------------------------------------------------------------------------------------ */
static qs_status row_of(Lower *L, const Num *x, const void *ud, Num *out) {
    const BuiltinCall *c = ud;
    Elem e = (Elem)c->imm;
    for (int i = 0; i < kelem_info[e].nargs && kelem_info[e].complex == ELEM_NOTHING; i++) TRY(need_real(L, c, x[i]));
    return *out = klnum_apply(L, e, x), QS_OK;
}

/* floor(a/b), trunc(a/b) and int(a/b) of integral numbers are exact.  The operands are lowered once more for this,
 * which leaves no code behind if they are simple. */
static qs_status exact_quotient(Lower *L, const BuiltinCall *c, bool down, Val *out, bool *done) {
    const Node *n =
        c->site && c->site->kind == N_CALL && c->site->u.call.args.n == 1 ? c->site->u.call.args.at[0].value : NULL;
    *done = n && klexpr_is_quotient(n) && klexpr_cheap(n);
    return *done ? klexpr_quotient(L, c->site->u.call.args.at[0].value, down, out, done) : QS_OK;
}

qs_status klmath_row(Lower *L, const BuiltinCall *c, Val *out) {
    bool done = false, down = c->imm == EL_floor;
    if (down || c->imm == EL_trunc) TRY(exact_quotient(L, c, down, out, &done));
    return done ? QS_OK : apply_each(L, c, (Elem)c->imm, row_of, out);
}

/* A built-in with several rows: uses the one with this number of arguments. */
qs_status klmath_form(Lower *L, const BuiltinCall *c, Val *out) {
    BuiltinCall form = *c;
    form.imm = kelem_find(c->name, c->nargs);
    return apply_each(L, &form, (Elem)form.imm, row_of, out);
}

qs_status klmath_minmax(Lower *L, const BuiltinCall *c, Val *out) {
    return c->nargs == 2 ? klmath_form(L, c, out) : klreduce_elements(L, c, out);
}

/* -- operators with names ------------------------------------------------------------------------------------------ */
static qs_status operator_of(Lower *L, const Num *x, const void *ud, Num *out) {
    return klnum_binary(L, (Op)((const BuiltinCall *)ud)->imm, x[0], x[1], out);
}

qs_status klmath_operator(Lower *L, const BuiltinCall *c, Val *out) {
    return apply_each(L, c, kelem_operator((Op)c->imm), operator_of, out);
}

static qs_status flipped(Lower *L, const Num *x, const void *ud, Num *out) {
    TRY(need_real(L, ud, *x));
    return *out = klnum_flip(L, *x), QS_OK;
}

qs_status klmath_not(Lower *L, const BuiltinCall *c, Val *out) { return apply_each(L, c, EL_bitnot, flipped, out); }

static qs_status shifted(Lower *L, const Num *x, const void *ud, Num *out) {
    const BuiltinCall *c = ud;
    TRY(need_real(L, c, x[0]));
    TRY(need_real(L, c, x[1]));
    return *out = klnum_shift(L, (Elem)c->imm, x[0], x[1], !c->args[0].rank && c->args[1].rank), QS_OK;
}

qs_status klmath_shift(Lower *L, const BuiltinCall *c, Val *out) {
    return apply_each(L, c, (Elem)c->imm, shifted, out);
}

qs_status klmath_where(Lower *L, const BuiltinCall *c, Val *out) {
    TRY(apply_each(L, c, EL__COUNT, klnum_choose, out));
    return klval_make_together(L, out, c->args + 1, 2, true), QS_OK;
}

/* -- conversions --------------------------------------------------------------------------------------------------- */
static qs_status int_of(Lower *L, const Num *x, const void *ud, Num *out) {
    double v, lo, hi;
    Num a = *x;
    TRY(need_real(L, ud, a));
    qdtype_int_span(L->indexing ? QS_I64 : QS_I32, &lo, &hi);
    if (klnum_is_weak(a) && klnum_known(L, a, &v))
        return *out = klbuiltin_integer(L, isnan(v) ? 0 : trunc(fmin(fmax(v, lo), hi))), QS_OK;
    bool is = qdtype_is_int(a.dtype) && (L->indexing || !klnum_is_weak(a)); /* a host number may have 64 bits */
    if (((const BuiltinCall *)ud)->args[0].rank) is = a.dtype == QS_I32 && !klnum_is_weak(a);
    return *out = is ? a : klnum_cast(L, a, L->indexing ? QS_I64 : QS_I32), QS_OK;
}

static void declare_int(Lower *L, Val *v) {
    Weak *w = qarena_alloc(L->arena, sizeof *w);
    *w = *v->at[0].weak, w->declared = true;
    klval_number(L, klnum_from_weak(L, w), v);
}

qs_status klmath_int(Lower *L, const BuiltinCall *c, Val *out) {
    bool done;
    TRY(exact_quotient(L, c, false, out, &done));
    if (!done) TRY(apply_each(L, c, EL__COUNT, int_of, out));
    if (out->rank) out->made = klval_made(QS_I32);
    else if (out->kind == V_NUM && out->at[0].weak) declare_int(L, out);
    return QS_OK;
}

static qs_status float_of(Lower *L, const Num *x, const void *ud, Num *out) {
    TRY(need_real(L, ud, *x));
    return *out = qdtype_is_real(x->dtype) ? *x : klnum_cast(L, *x, L->c->scalar_dtype), QS_OK;
}

qs_status klmath_float(Lower *L, const BuiltinCall *c, Val *out) { return apply_each(L, c, EL__COUNT, float_of, out); }
