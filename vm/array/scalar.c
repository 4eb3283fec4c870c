/* scalar.c -- implements operators on two values without arrays: numbers, strings, and equality of other values. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/elem/elem_host.h"
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/array/operand.h"
#include "vm/base/number.h"
#include "vm/quasar.h"

#include <math.h>
#include <string.h>

const char *qscalar_op_name(Op op) {
    switch (op) {
    case OP_BITAND: return "and";
    case OP_BITOR: return "or";
    case OP_BITXOR: return "xor";
    case OP_MAXEQ: return "max";
    case OP_MINEQ: return "min";
    default: return qop_text(op);
    }
}

qs_status qscalar_mismatch(qs_vm *vm, Op op, qs_value a, qs_value b) {
    bool grow = op == OP_ADD && a.kind == QS_CELL;
    const char *hint = grow && b.kind == QS_CELL                        ? "; vertcat(a, b) joins two cells"
                       : grow                                           ? "; append(a, b) adds an item to a cell"
                       : a.kind == QS_FUNCTION || b.kind == QS_FUNCTION ? "; a call is written with parentheses: f(x)"
                                                                        : "";
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined between %s and %s%s", qscalar_op_name(op),
                    qval_type_name(vm, a), qval_type_name(vm, b), hint);
}

/* -- two numbers --------------------------------------------------------------------------------------------------- */
static qs_status overflow(qs_vm *vm) { return qerr_set(qvm_ctx(vm), QS_EVALUE, "integer overflow"); }

static qs_status int_power(qs_vm *vm, int64_t x, int64_t n, qs_value *out) {
    int64_t r = 1;
    bool lost = false;
    KELEM_CHAIN(n, r = x, lost |= __builtin_mul_overflow(r, x, &r), lost |= __builtin_mul_overflow(x, x, &x))
    if (lost) return overflow(vm);
    *out = qs_int(r);
    return QS_OK;
}

#define COMPARISONS(D)                                                                                                 \
    case OP_EQ: *out = qs_bool(elem_eq_##D(x, y)); return QS_OK;                                                       \
    case OP_NE: *out = qs_bool(elem_ne_##D(x, y)); return QS_OK;                                                       \
    case OP_LT: *out = qs_bool(elem_lt_##D(x, y)); return QS_OK;                                                       \
    case OP_LE: *out = qs_bool(elem_le_##D(x, y)); return QS_OK;                                                       \
    case OP_GT: *out = qs_bool(elem_gt_##D(x, y)); return QS_OK;                                                       \
    case OP_GE: *out = qs_bool(elem_ge_##D(x, y)); return QS_OK;

static qs_status int_binary(qs_vm *vm, Op op, int64_t x, int64_t y, qs_value *out) {
    int64_t r = 0;
    bool lost = false;
    switch (op) {
    case OP_ADD: lost = __builtin_add_overflow(x, y, &r); break;
    case OP_SUB: lost = __builtin_sub_overflow(x, y, &r); break;
    case OP_MUL:
    case OP_PWMUL: lost = __builtin_mul_overflow(x, y, &r); break;
    case OP_DIV:
    case OP_PWDIV: *out = qs_num((double)x / (double)y); return QS_OK;
    case OP_POW:
    case OP_PWPOW:
        if (y >= 0) return int_power(vm, x, y, out);
        *out = qs_num(qcontig_power((double)x, (double)y));
        return QS_OK;
    case OP_MAXEQ: r = elem_max_I64(x, y); break;
    case OP_MINEQ: r = elem_min_I64(x, y); break;
    case OP_BITAND: r = elem_bitand_I64(x, y); break;
    case OP_BITOR: r = elem_bitor_I64(x, y); break;
    case OP_BITXOR:
        r = elem_bitxor_I64(x, y);
        break;
        COMPARISONS(I64)
    case OP_ANDAND: *out = qs_bool(x && y); return QS_OK;
    case OP_OROR: *out = qs_bool(x || y); return QS_OK;
    default: return qscalar_mismatch(vm, op, qs_int(x), qs_int(y));
    }
    if (lost) return overflow(vm);
    *out = qs_int(r);
    return QS_OK;
}

qs_status qscalar_int64(qs_vm *vm, const char *fn, qs_value v, int64_t *out) {
    double x = v.kind == QS_COMPLEX ? NAN : qval_number(v);
    char text[NUMBER_TEXT];
    if (v.kind == QS_NUM && !kelem_number_has_bits(x))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: " KELEM_NO_BITS "%s", fn, qnum_shown(x, text));
    if (v.kind == QS_COMPLEX) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for complex numbers", fn);
    *out = v.kind == QS_NUM ? (int64_t)x : v.u.i;
    return QS_OK;
}

/* Applies a bitwise operator to integral numbers of any type. */
static qs_status bits_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    int64_t x, y;
    TRY(qscalar_int64(vm, qscalar_op_name(op), a, &x));
    TRY(qscalar_int64(vm, qscalar_op_name(op), b, &y));
    TRY(int_binary(vm, op, x, y, out));
    if (a.kind == QS_BOOL && b.kind == QS_BOOL) *out = qs_bool(out->u.i != 0);
    return QS_OK;
}

static qs_status number_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    if (a.kind == QS_INT && b.kind == QS_INT) return int_binary(vm, op, a.u.i, b.u.i, out);
    if (op >= OP_EQ && op <= OP_GE && (a.kind == QS_INT || b.kind == QS_INT) && a.kind + b.kind == QS_INT + QS_NUM)
        return *out = qs_bool(qarith_order(op, a, b)), QS_OK;
    double x = qval_number(a), y = qval_number(b);
    switch (op) {
    case OP_ADD: *out = qs_num(elem_add_F64(x, y)); return QS_OK;
    case OP_SUB: *out = qs_num(elem_sub_F64(x, y)); return QS_OK;
    case OP_MUL:
    case OP_PWMUL: *out = qs_num(elem_mul_F64(x, y)); return QS_OK;
    case OP_DIV:
    case OP_PWDIV: *out = qs_num(elem_div_F64(x, y)); return QS_OK;
    case OP_POW:
    case OP_PWPOW: *out = qs_num(qcontig_power(x, y)); return QS_OK;
    case OP_MAXEQ: *out = qs_num(elem_max_F64(x, y)); return QS_OK;
    case OP_MINEQ:
        *out = qs_num(elem_min_F64(x, y));
        return QS_OK;
        COMPARISONS(F64)
    case OP_ANDAND: *out = qs_bool(x != 0 && y != 0); return QS_OK;
    case OP_OROR: *out = qs_bool(x != 0 || y != 0); return QS_OK;
    default: return bits_binary(vm, op, a, b, out);
    }
}

QComplexD qscalar_complex(qs_value v) {
    if (v.kind != QS_COMPLEX) return (QComplexD){qval_number(v), 0};
    const Complex *z = v.u.p;
    return (QComplexD){z->re, z->im};
}

static qs_status complex_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    QComplexD x = qscalar_complex(a), y = qscalar_complex(b), z;
    bool xtrue = x.re != 0 || x.im != 0, ytrue = y.re != 0 || y.im != 0;
    switch (op) {
    case OP_ADD: z = elem_add_C128(x, y); break;
    case OP_SUB: z = elem_sub_C128(x, y); break;
    case OP_MUL:
    case OP_PWMUL: z = elem_mul_C128(x, y); break;
    case OP_DIV:
    case OP_PWDIV: z = elem_div_C128(x, y); break;
    case OP_POW:
    case OP_PWPOW: z = qcontig_complex_power(x, y); break;
    case OP_EQ: *out = qs_bool(elem_eq_C128(x, y)); return QS_OK;
    case OP_NE: *out = qs_bool(elem_ne_C128(x, y)); return QS_OK;
    case OP_ANDAND: *out = qs_bool(xtrue && ytrue); return QS_OK;
    case OP_OROR: *out = qs_bool(xtrue || ytrue); return QS_OK;
    default: return qscalar_mismatch(vm, op, a, b);
    }
    return qval_complex(vm, z.re, z.im, out);
}

/* -- strings, and equality of other values ------------------------------------------------------------------------- */
static qs_status append_text(qs_vm *vm, qs_value v, Text *t) {
    if (v.kind != QS_STRING) return qfmt_value(vm, v, t);
    const Str *s = v.u.p;
    qtext_add(t, s->s, s->len);
    return QS_OK;
}

static qs_status concatenate(qs_vm *vm, qs_value a, qs_value b, qs_value *out) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = append_text(vm, a, &t);
    if (!s) s = append_text(vm, b, &t);
    return qval_text(vm, &t, s, out);
}

static bool same_value(qs_vm *vm, qs_value a, qs_value b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case QS_NIL: return true;
    case QS_STRING: return qstr_equal(a.u.p, b.u.p);
    case QS_CELL:
    case QS_TYPE: return qval_equal(vm, a, b);
    default: return a.u.p == b.u.p;
    }
}

static qs_status other_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    if (a.kind == QS_FOREIGN || b.kind == QS_FOREIGN) {
        const Foreign *f = a.kind == QS_FOREIGN ? a.u.p : b.u.p;
        if (f->ftype->op) return f->ftype->op(vm, (int)op, a, b, out);
    }
    if (op == OP_EQ || op == OP_NE) return *out = qs_bool(same_value(vm, a, b) == (op == OP_EQ)), QS_OK;
    bool strings = a.kind == QS_STRING && b.kind == QS_STRING;
    if (op == OP_ADD &&
        (strings || (a.kind == QS_STRING && qval_is_scalar(b)) || (qval_is_scalar(a) && b.kind == QS_STRING)))
        return concatenate(vm, a, b, out);
    if (strings && op >= OP_LT && op <= OP_GE) {
        int order = qstr_compare(a.u.p, b.u.p);
        return int_binary(vm, op, order, 0, out);
    }
    return qscalar_mismatch(vm, op, a, b);
}

qs_status qscalar_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    if (qval_is_number(a) && qval_is_number(b)) return number_binary(vm, op, a, b, out);
    if (qval_is_scalar(a) && qval_is_scalar(b)) return complex_binary(vm, op, a, b, out);
    return other_binary(vm, op, a, b, out);
}

qs_status qscalar_negate(qs_vm *vm, qs_value x, qs_value *out) {
    switch (x.kind) {
    case QS_NUM: *out = qs_num(-x.u.f); return QS_OK;
    case QS_BOOL: *out = qs_num(-(double)x.u.i); return QS_OK;
    case QS_INT:
        if (x.u.i == INT64_MIN) return overflow(vm);
        *out = qs_int(-x.u.i);
        return QS_OK;
    default: return qval_complex(vm, elem_neg_C128(qscalar_complex(x)).re, elem_neg_C128(qscalar_complex(x)).im, out);
    }
}
