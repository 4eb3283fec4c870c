/* math.c -- implements elementwise mathematics: the functions of elem.def, bit operations, conversions, closeness. */
#define NATIVES_OF_ELEM
#include "lang/syntax/operators.h"
#include "stdlib/builtins.h"
#include "vm/array/arith.h"
#include "vm/array/map_elements.h"
#include "vm/array/operand.h"
#include "vm/base/reduction.h"

#include "lang/kernel/elem/elem.h"
#include "lang/kernel/elem/elem_host.h"

#include <math.h>
#include <string.h>

static bool is_numeric(qs_value v) { return qval_is_scalar(v) || v.kind == QS_ARRAY; }

/* Checks that every argument is a number or an array; `names` has one letter for each argument. */
static qs_status numeric(qs_vm *vm, const qs_call_args *c, const char *names) {
    for (int i = 0; i < c->nin; i++)
        if (!is_numeric(c->in[i]))
            return qarg_wrong(vm, c->name, (char[]){names[i], 0}, "a number or an array", c->in[i]);
    return QS_OK;
}

/* -- the rows of elem.def ------------------------------------------------------------------------------------------ */
/* Extracts the one-letter argument names from a signature such as "atan2(y, x)". */
static void letters(const char *signature, char *names, int n) {
    const char *p = strchr(signature, '(');
    for (int i = 0; i < n; i++) {
        names[i] = p ? p[1] : 'x';
        p = p ? strchr(p, ' ') : NULL;
    }
    names[n] = '\0';
}

static qs_status apply_row(qs_vm *vm, qs_call_args *c, Elem e, const char *signature) {
    char names[4];
    for (int i = 0; i < c->nin; i++) {
        if (is_numeric(c->in[i])) continue;
        letters(signature, names, kelem_info[e].nargs);
        return numeric(vm, c, names);
    }
    if (kelem_is_itself(e, qarr_is_complex(c->in[0]))) return c->out[0] = qval_retain(c->in[0]), QS_OK;
    return qmapelem_apply(vm, e, c->in, &c->out[0]);
}

#define FORM(...)
#define OPERATOR(...)
#define ELEM(id, nargs, bound, reals, integers, pairs, derivative, signature, ...)                                     \
    qs_status qmath_##id(qs_vm *vm, qs_call_args *c) { return apply_row(vm, c, EL_##id, signature); }
#include "lang/kernel/elem/elem.def"

qs_status qmath_complex(qs_vm *vm, qs_call_args *c) {
    /* not re + im*j, which gives a real part of nan if im is infinite */
    qs_value parts[2] = {c->in[0], c->nin == 2 ? c->in[1] : qs_num(0)};
    if (c->nin == 1 && qarr_is_complex(parts[0])) return c->out[0] = qval_retain(parts[0]), QS_OK;
    for (int i = 0; i < 2; i++)
        if (!is_numeric(parts[i]) || qarr_is_complex(parts[i]))
            return qarg_wrong(vm, c->name, i ? "im" : "re", "a real number or array", parts[i]);
    return qmapelem_apply(vm, EL_complex, parts, &c->out[0]);
}

/* clamp(x, hi) clips to [0, hi]; clamp(x, lo, hi) to [lo, hi]. */
qs_status qmath_clamp(qs_vm *vm, qs_call_args *c) {
    TRY(numeric(vm, c, c->nin == 3 ? "xlh" : "xh"));
    return qmapelem_apply(vm, c->nin == 3 ? EL_clamp : EL_clamp2, c->in, &c->out[0]);
}

/* where(c, a, b): c ? a : b elementwise, also if c is a single value. */
qs_status qmath_where(qs_vm *vm, qs_call_args *c) {
    Array *condition;
    TRY(numeric(vm, c, "cab"));
    bool single = c->in[0].kind != QS_ARRAY, number = c->in[1].kind != QS_ARRAY && c->in[2].kind != QS_ARRAY, truth;
    if (single && number) {
        TRY(qval_truth(vm, c->in[0], &truth));
        return c->out[0] = qval_retain(c->in[truth ? 1 : 2]), QS_OK;
    }
    TRY(qarg_array(vm, c, 0, "c", &condition));
    return qarith_where(vm, c->in[0], c->in[1], c->in[2], &c->out[0]);
}

/* -- integers ------------------------------------------------------------------------------------------------------ */
static bool is_integer(qs_value v) {
    return v.kind == QS_INT || (v.kind == QS_ARRAY && qdtype_is_int((qs_dtype)qval_array(v)->dtype));
}

static qs_dtype dtype_of(qs_value v) { return v.kind == QS_ARRAY ? (qs_dtype)qval_array(v)->dtype : QS_I32; }

/* The host version of kelem_mod_signs. */
static Int128 floor_mod_ints(Int128 x, Int128 a) {
    Int128 r = a == 0 ? 0 : x % a;
    return r != 0 && (r < 0) != (a < 0) ? r + a : r;
}

/* Returns whether one operand is unsigned and the other one may be negative. */
static bool mixes_signs(qs_value x, qs_value a) {
    bool first = qdtype_info[dtype_of(x)].cls == DC_UINT;
    qs_value other = first ? a : x;
    if (!first && qdtype_info[dtype_of(a)].cls != DC_UINT) return false;
    return other.kind == QS_INT ? other.u.i < 0 : qdtype_mixes_signs(dtype_of(x), dtype_of(a));
}

qs_status qmath_mod(qs_vm *vm, qs_call_args *c) {
    TRY(numeric(vm, c, "xa"));
    qs_value x = qoperand_integral(dtype_of(c->in[1]), c->in[0]), a = qoperand_integral(dtype_of(c->in[0]), c->in[1]);
    if (!is_integer(x) || !is_integer(a) || !mixes_signs(x, a))
        return qmapelem_apply(vm, EL_mod, (qs_value[]){x, a}, &c->out[0]);
    return qapply_integers(vm, "mod", floor_mod_ints, qdtype_promote(dtype_of(x), dtype_of(a)), x, a, &c->out[0]);
}

/* Extracts the shift counts of one direction: max(n, 0) if `positive`, otherwise max(-n, 0). */
static qs_status counts(qs_vm *vm, qs_value n, bool positive, qs_value *out) {
    Array *few; /* saturated, so that negation cannot overflow */
    qs_value negated = qs_nil();
    TRY(qarr_convert(vm, qval_array(n), QS_I16, &few));
    qs_status s = positive ? QS_OK : qarith_unary(vm, OP_NEG, qarr_value(few), &negated);
    if (s == QS_OK) s = qarith_binary(vm, OP_MAXEQ, positive ? qarr_value(few) : negated, qs_int(0), out);
    qval_release(vm, qarr_value(few)), qval_release(vm, negated);
    return s;
}

static qs_status shift_by(qs_vm *vm, Elem e, qs_value x, qs_value n, qs_value *out) {
    Elem other = e == EL_shl ? EL_shr : EL_shl;
    qs_value on = qs_nil(), back = qs_nil(), first = qs_nil();
    if (n.kind != QS_ARRAY) {
        int64_t count = n.u.i < -64 ? -64 : n.u.i;
        return qmapelem_apply(vm, count < 0 ? other : e, (qs_value[]){x, qs_int(count < 0 ? -count : count)}, out);
    }
    qs_status s = counts(vm, n, true, &on);
    if (s == QS_OK) s = counts(vm, n, false, &back);
    if (s == QS_OK) s = qmapelem_apply(vm, e, (qs_value[]){x, on}, &first);
    if (s == QS_OK) s = qmapelem_apply(vm, other, (qs_value[]){first, back}, out);
    qval_release(vm, on), qval_release(vm, back), qval_release(vm, first);
    return s;
}

static qs_status apply_shift(qs_vm *vm, qs_call_args *c, Elem e) {
    qs_value *x = &c->in[0], *r = &c->out[0];
    qs_dtype back = QS_B1, ignored = QS_B1;
    TRY(numeric(vm, c, "an"));
    if (qarr_is_complex(*x) || qarr_is_complex(c->in[1]))
        return qmapelem_apply(vm, e, c->in, r); /* reports the error */
    TRY(qoperand_to_int64(vm, c->name, x, &back));
    TRY(qoperand_to_int64(vm, c->name, &c->in[1], &ignored));
    bool is_float = x->kind == QS_NUM;
    qs_value integers[2] = {*x, c->in[1]};
    for (int i = 0; i < 2; i++) {
        if (integers[i].kind == QS_ARRAY) continue;
        TRY(qscalar_int64(vm, c->name, integers[i], &integers[i].u.i));
        integers[i].kind = QS_INT;
    }
    TRY(shift_by(vm, e, integers[0], integers[1], r));
    if (is_float && r->kind == QS_INT) *r = qs_num((double)r->u.i);
    return qoperand_from_int64(vm, r, back);
}
qs_status qmath_shl(qs_vm *vm, qs_call_args *c) { return apply_shift(vm, c, EL_shl); }
qs_status qmath_shr(qs_vm *vm, qs_call_args *c) { return apply_shift(vm, c, EL_shr); }

qs_status qmath_pow(qs_vm *vm, qs_call_args *c) {
    TRY(numeric(vm, c, "xa"));
    return qarith_binary(vm, OP_PWPOW, c->in[0], c->in[1], &c->out[0]);
}

static qs_status bits(qs_vm *vm, qs_call_args *c, Op op) {
    TRY(numeric(vm, c, "ab"));
    return qarith_binary(vm, op, c->in[0], c->in[1], &c->out[0]);
}
qs_status qmath_and(qs_vm *vm, qs_call_args *c) { return bits(vm, c, OP_BITAND); }
qs_status qmath_or(qs_vm *vm, qs_call_args *c) { return bits(vm, c, OP_BITOR); }
qs_status qmath_xor(qs_vm *vm, qs_call_args *c) { return bits(vm, c, OP_BITXOR); }

/* Boolean values are negated; integers have every bit inverted. */
qs_status qmath_not(qs_vm *vm, qs_call_args *c) {
    qs_value *x = &c->in[0];
    qs_dtype back = QS_B1;
    TRY(numeric(vm, c, "a"));
    if (x->kind == QS_NUM) TRY(qscalar_int64(vm, c->name, *x, &(int64_t){0}));
    bool truth = x->kind == QS_BOOL || (x->kind == QS_ARRAY && dtype_of(*x) == QS_B1);
    if (truth) return qarith_unary(vm, OP_NOT, *x, &c->out[0]);
    /* The row of elem.def would compute these as int. */
    bool small = x->kind == QS_ARRAY && qdtype_size(dtype_of(*x)) < 4;
    if (small || x->kind == QS_NUM) return qarith_binary(vm, OP_BITXOR, *x, qs_int(-1), &c->out[0]);
    TRY(qoperand_to_int64(vm, c->name, x, &back));
    TRY(qmapelem_apply(vm, EL_bitnot, x, &c->out[0]));
    return qoperand_from_int64(vm, &c->out[0], back);
}

/* -- conversions --------------------------------------------------------------------------------------------------- */
qs_status qmath_int(qs_vm *vm, qs_call_args *c) {
    qs_value x = c->in[0];
    if (qval_is_number(x)) {
        c->out[0] = x.kind == QS_NUM ? qs_int(qdtype_sat_i64(x.u.f, INT64_MIN, INT64_MAX)) : qs_int(x.u.i);
        return QS_OK;
    }
    if (x.kind != QS_ARRAY || qarr_is_complex(x)) return qarg_wrong(vm, c->name, "x", "a real number or array", x);
    Array *r;
    TRY(qarr_convert(vm, qval_array(x), QS_I32, &r));
    c->out[0] = qarr_value(r);
    return QS_OK;
}

qs_status qmath_float(qs_vm *vm, qs_call_args *c) {
    qs_value x = c->in[0];
    if (qval_is_number(x)) return c->out[0] = qs_num(qval_number(x)), QS_OK;
    if (x.kind != QS_ARRAY || qarr_is_complex(x)) return qarg_wrong(vm, c->name, "x", "a real number or array", x);
    Array *a = qval_array(x), *r;
    qs_dtype d = (qs_dtype)a->dtype;
    TRY(qarr_convert(vm, a, qdtype_is_real(d) ? d : qdtype_promote_scalar(d, false, qvm_ctx(vm)->scalar_dtype), &r));
    c->out[0] = qarr_value(r);
    return QS_OK;
}

/* A number has no element type and is returned unchanged. */
qs_status qmath_cast_like(qs_vm *vm, qs_call_args *c) {
    Array *x, *y, *r;
    if (c->in[0].kind != QS_ARRAY) {
        if (!qval_is_number(c->in[0]) && c->in[0].kind != QS_COMPLEX)
            return qarg_wrong(vm, c->name, "x", "a number or an array", c->in[0]);
        return c->out[0] = qval_retain(c->in[0]), QS_OK;
    }
    x = qval_array(c->in[0]);
    TRY(qarg_listed(vm, c, 1, "y", &y));
    if (qdtype_is_complex(x->dtype) && !qdtype_is_complex(y->dtype))
        return qarg_wrong(vm, c->name, "x", "real when y is", c->in[0]);
    TRY(qarr_convert(vm, x, (qs_dtype)y->dtype, &r));
    return c->out[0] = qarr_value(r), QS_OK;
}

/* -- closeness ----------------------------------------------------------------------------------------------------- */
static double gap(double a, double b) { return a == b ? 0 : isinf(a) || isinf(b) ? NAN : fabs(a - b); }

/* Computes the gap between one part (qmath_real or qmath_imag) of a and b, which are argument slots. */
static qs_status gap_of(qs_vm *vm, const char *fn, qs_native_fn *part, qs_value ab[2], qs_value *out) {
    qs_value a = qs_nil(), b = qs_nil();
    qs_status s = part(vm, &(qs_call_args){1, 1, &ab[0], &a, .name = fn});
    if (s == QS_OK) s = part(vm, &(qs_call_args){1, 1, &ab[1], &b, .name = fn});
    if (s == QS_OK) s = qapply_two(vm, fn, gap, a, b, out);
    qval_release(vm, a), qval_release(vm, b);
    return s;
}

static qs_status distance_of(qs_vm *vm, const char *fn, qs_value ab[2], qs_value *out) {
    if (!qarr_is_complex(ab[0]) && !qarr_is_complex(ab[1])) return qapply_two(vm, fn, gap, ab[0], ab[1], out);
    qs_value re = qs_nil(), im = qs_nil();
    qs_status s = gap_of(vm, fn, qmath_real, ab, &re);
    if (s == QS_OK) s = gap_of(vm, fn, qmath_imag, ab, &im);
    if (s == QS_OK) s = qapply_two(vm, fn, hypot, re, im, out);
    qval_release(vm, re), qval_release(vm, im);
    return s;
}

/* Converts an argument slot to float64 or complex128, because float16 represents neither 1e-8 nor the gap
 * accurately. */
static qs_status widened(qs_vm *vm, qs_value *x) {
    Array *wide;
    if (x->kind != QS_ARRAY) return QS_OK;
    TRY(qarr_convert(vm, qval_array(*x), qarr_is_complex(*x) ? QS_C128 : QS_F64, &wide));
    qval_release(vm, *x);
    return *x = qarr_value(wide), QS_OK;
}

/* Compares the gap with a limit that grows with |b|; both broadcast. */
static qs_status closeness(qs_vm *vm, qs_call_args *c, qs_value *out) {
    double rtol = 1e-5, atol = 1e-8;
    qs_value distance = qs_nil(), size = qs_nil(), part = qs_nil(), limit = qs_nil();
    if (qarg_given(c, 2)) TRY(qarg_num(vm, c->name, "rtol", c->in[2], &rtol));
    if (qarg_given(c, 3)) TRY(qarg_num(vm, c->name, "atol", c->in[3], &atol));
    bool both = is_numeric(c->in[0]) && is_numeric(c->in[1]);
    for (int i = 0; i < 2 && both; i++) TRY(widened(vm, &c->in[i]));
    TRY(distance_of(vm, c->name, c->in, &distance));
    qs_call_args modulus = {1, 1, &c->in[1], &size, .name = c->name};
    qs_status s = qmath_abs(vm, &modulus);
    if (s == QS_OK) s = qarith_binary(vm, OP_MUL, size, qs_num(rtol), &part);
    if (s == QS_OK) s = qarith_binary(vm, OP_ADD, part, qs_num(atol), &limit);
    if (s == QS_OK) s = qarith_binary(vm, OP_LE, distance, limit, out);
    qval_release(vm, distance), qval_release(vm, size), qval_release(vm, part), qval_release(vm, limit);
    return s;
}
qs_status qmath_isclose(qs_vm *vm, qs_call_args *c) { return closeness(vm, c, &c->out[0]); }
qs_status qmath_allclose(qs_vm *vm, qs_call_args *c) {
    qs_value close = qs_nil();
    TRY(closeness(vm, c, &close));
    qs_status s = close.kind == QS_ARRAY ? qred_run(vm, RED_all, close, DIM_ALL, &c->out[0]) : QS_OK;
    if (close.kind != QS_ARRAY) c->out[0] = close;
    else qval_release(vm, close);
    return s;
}
