/* operand.c -- prepares the operands of elementwise operations: shape, type of the computation, type of the result. */
#include "vm/array/operand.h"
#include "lang/kernel/elem/elem.h"
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/array/convert.h"
#include "vm/base/dtype.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- shapes -------------------------------------------------------------------------------------------------------- */
qs_status qoperand_shape_error(qs_vm *vm, const char *what, const Array *a, const Array *b) {
    char ta[SHAPE_TEXT], tb[SHAPE_TEXT];
    return qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s: shapes %s and %s do not match", what, qarr_shape_text(a, ta),
                    qarr_shape_text(b, tb));
}

/* Computes the broadcast shape.  Extents of 1 are stretched; a vec counts as 1xN; missing trailing dimensions have
 * extent 1, because a HxWx1 cube is a mat in this language. */
static qs_status stretch(qs_vm *vm, const char *what, const Array *const *arrays, int n, int *rank, int64_t *dims) {
    *rank = 0;
    for (int k = 0; k < n; k++) {
        int64_t have[QS_MAX_RANK];
        int own = qarr_size(arrays[k], have), rest = *rank;
        if (own > *rank) *rank = own;
        for (int i = rest; i < *rank; i++) dims[i] = 1;
        for (int i = 0; i < own; i++) {
            if (have[i] != dims[i] && have[i] != 1 && dims[i] != 1)
                return qoperand_shape_error(vm, what, arrays[k - 1], arrays[k]);
            if (dims[i] == 1) dims[i] = have[i];
        }
    }
    *rank = qarr_normalise(*rank, dims);
    return QS_OK;
}

qs_status qoperand_shapes(qs_vm *vm, const char *what, const qs_value *args, int n, Extents *out) {
    enum { MOST = 3 };
    const Array *arrays[MOST];
    int count = 0;
    bool equal = true;
    for (int i = 0; i < n; i++)
        if (args[i].kind == QS_ARRAY) arrays[count++] = qval_array(args[i]);
    out->ndim = 0;
    for (int k = 0; k < count; k++) {
        equal = equal && qarr_same_shape(arrays[0], arrays[k]);
        if (arrays[k]->ndim > out->ndim) out->ndim = arrays[k]->ndim;
    }
    if (!equal) return stretch(vm, what, arrays, count, &out->rank, out->dims);
    out->rank = arrays[0]->rank;
    for (int i = 0; i < out->rank; i++) out->dims[i] = arrays[0]->dims[i];
    return QS_OK;
}

qs_status qoperand_result(qs_vm *vm, qs_dtype d, const Extents *x, Array **out) {
    TRY(qarr_new(vm, d, x->rank, x->dims, false, out));
    return qarr_keep(*out, x->ndim), QS_OK;
}

qs_status qoperand_shape(qs_vm *vm, const char *what, qs_value a, qs_value b, Extents *out) {
    return qoperand_shapes(vm, what, (qs_value[]){a, b}, 2, out);
}

/* -- types --------------------------------------------------------------------------------------------------------- */
typedef enum { CLASS_ARITH, CLASS_FRACTION, CLASS_CHOICE, CLASS_ORDER, CLASS_LOGIC, CLASS_BITS } OpClass;
typedef struct {
    OpClass cls;
    LoopOp loop;
} OpPlan;
static const OpPlan op_plans[OP__COUNT] = {
    [OP_ADD] = {CLASS_ARITH, LOOP_ADD},    [OP_SUB] = {CLASS_ARITH, LOOP_SUB},
    [OP_MUL] = {CLASS_ARITH, LOOP_MUL},    [OP_PWMUL] = {CLASS_ARITH, LOOP_MUL},
    [OP_DIV] = {CLASS_FRACTION, LOOP_DIV}, [OP_PWDIV] = {CLASS_FRACTION, LOOP_DIV},
    [OP_POW] = {CLASS_FRACTION, LOOP_POW}, [OP_PWPOW] = {CLASS_FRACTION, LOOP_POW},
    [OP_MAXEQ] = {CLASS_CHOICE, LOOP_MAX}, [OP_MINEQ] = {CLASS_CHOICE, LOOP_MIN},
    [OP_EQ] = {CLASS_ORDER, LOOP_EQ},      [OP_NE] = {CLASS_ORDER, LOOP_NE},
    [OP_LT] = {CLASS_ORDER, LOOP_LT},      [OP_LE] = {CLASS_ORDER, LOOP_LE},
    [OP_GT] = {CLASS_ORDER, LOOP_GT},      [OP_GE] = {CLASS_ORDER, LOOP_GE},
    [OP_ANDAND] = {CLASS_LOGIC, LOOP_AND}, [OP_OROR] = {CLASS_LOGIC, LOOP_OR},
    [OP_BITAND] = {CLASS_BITS, LOOP_AND},  [OP_BITOR] = {CLASS_BITS, LOOP_OR},
    [OP_BITXOR] = {CLASS_BITS, LOOP_XOR},
};

static qs_dtype array_dtype(qs_value v) { return v.kind == QS_ARRAY ? (qs_dtype)qval_array(v)->dtype : QS_B1; }

static bool int_fits(int64_t i, qs_dtype d) {
    switch (d) {
    case QS_I32: return i >= INT32_MIN && i <= INT32_MAX;
    case QS_U32: return i >= 0 && i <= UINT32_MAX;
    case QS_U64: return i >= 0;
    default: return true;
    }
}

/* If an integer array cannot hold the int, comparisons use float64, and arithmetic is an error. */
qs_status qoperand_int(qs_vm *vm, const char *what, bool order, qs_dtype d, qs_value number, qs_dtype *out) {
    *out = d;
    if (number.kind != QS_INT || int_fits(number.u.i, d)) return QS_OK;
    if (order) return *out = QS_F64, QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: the integer %lld does not fit an array of %s", what,
                    (long long)number.u.i, qdtype_info[d].name);
}

static qs_status as_bits(qs_vm *vm, Op op, qs_dtype d, qs_value *number) {
    int64_t n;
    int bits = (int)qdtype_size(d) * 8;
    TRY(qscalar_int64(vm, qscalar_op_name(op), *number, &n));
    bool fits = bits == 64 ? d == QS_I64 || n >= 0 : n >= -((int64_t)1 << (bits - 1)) && n < (int64_t)1 << bits;
    if (!fits) {
        char shown[24];
        snprintf(shown, sizeof shown, "%lld", (long long)n);
        return qerr_set(qvm_ctx(vm), QS_EVALUE, KELEM_OTHER_BITS, qscalar_op_name(op), shown, bits,
                        qdtype_info[d].name);
    }
    bool is_signed = qdtype_info[d].cls == DC_SINT;
    if (bits < 64) n &= ((int64_t)1 << bits) - 1;
    if (bits < 64 && is_signed && n >> (bits - 1)) n -= (int64_t)1 << bits;
    return *number = qs_int(n), QS_OK;
}

qs_value qoperand_integral(qs_dtype d, qs_value v) {
    double x = v.u.f;
    bool fits = (d == QS_I64 || d == QS_U64) && v.kind == QS_NUM && x == floor(x) && fabs(x) <= 0x1p53;
    return fits && int_fits((int64_t)x, d) ? qs_int((int64_t)x) : v;
}

qs_status qoperand_number(qs_vm *vm, Op op, qs_dtype d, bool keeps, qs_value *number) {
    OpClass cls = op_plans[op].cls;
    if (number->kind == QS_ARRAY || !qdtype_is_int(d)) return QS_OK;
    if (cls == CLASS_BITS) return as_bits(vm, op, d, number);
    if (cls == CLASS_ORDER || cls == CLASS_CHOICE || (keeps && cls == CLASS_ARITH))
        *number = qoperand_integral(d, *number);
    return QS_OK;
}

qs_status qoperand_dtype(qs_vm *vm, Op op, qs_value a, qs_value b, qs_dtype *out) {
    OpClass cls = op_plans[op].cls;
    qs_dtype d = qdtype_meet(qoperand_term(a), qoperand_term(b), cls == CLASS_FRACTION, qvm_ctx(vm)->scalar_dtype);
    qs_value number = a.kind == QS_ARRAY ? b : a;
    if (number.kind == QS_ARRAY) return *out = d, QS_OK;
    return qoperand_int(vm, qscalar_op_name(op), cls == CLASS_ORDER, d, number, out);
}

static qs_dtype arrays_meet(int n, const qs_value *v, bool *any) {
    qs_dtype d = QS_B1;
    for (int i = 0; i < n; i++) {
        if (v[i].kind != QS_ARRAY) continue;
        qs_dtype next = array_dtype(v[i]);
        d = !*any || d == next ? next : qdtype_promote(d, next);
        *any = true;
    }
    return d;
}

static qs_dtype numbers_meet(int n, const qs_value *v) {
    Term all = {QS_B1, true};
    bool only_bools = true, any = false;
    for (int i = 0; i < n; i++) {
        if (!qval_is_scalar(v[i])) continue;
        all = (Term){any ? qdtype_meet(all, qoperand_term(v[i]), false, QS_F64) : qoperand_term(v[i]).dtype, true};
        only_bools = only_bools && v[i].kind == QS_BOOL, any = true;
    }
    return only_bools ? QS_B1 : all.dtype;
}

qs_dtype qoperand_meet(qs_vm *vm, int n, const qs_value *v) {
    bool any = false;
    qs_dtype d = arrays_meet(n, v, &any);
    if (!any) return numbers_meet(n, v);
    for (int i = 0; i < n; i++) {
        if (!qval_is_scalar(v[i]) || (v[i].kind == QS_BOOL && d == QS_B1)) continue;
        d = qdtype_meet((Term){d, false}, qoperand_term(v[i]), false, qvm_ctx(vm)->scalar_dtype);
        (void)qoperand_int(vm, "", true, d, v[i], &d);
    }
    return d;
}

bool qoperand_is_exact(Op op, qs_dtype d, qs_value b) {
    qs_dtype other = b.kind == QS_ARRAY ? array_dtype(b) : b.kind == QS_NUM ? QS_F64 : QS_I64;
    if (op_plans[op].cls != CLASS_ARITH || (d != QS_I64 && d != QS_U64) || b.kind == QS_COMPLEX) return false;
    if (b.kind == QS_INT && (d == QS_I64 || b.u.i >= 0)) return false;
    if (b.kind == QS_BOOL || qdtype_is_complex(other)) return false;
    return qdtype_is_real(other) || qdtype_mixes_signs(d, other);
}

qs_dtype qoperand_compute(qs_dtype d) {
    if (qdtype_is_short(d)) return QS_F32;
    return d < QS_I32 ? QS_I32 : d;
}

static qs_status check_whole(qs_vm *vm, double x, const char *fn) {
    return qscalar_int64(vm, fn, qs_num(x), &(int64_t){0});
}

qs_status qoperand_to_int64(qs_vm *vm, const char *fn, qs_value *x, qs_dtype *back) {
    Array *a;
    qs_dtype d = array_dtype(*x);
    if (!qdtype_is_real(d)) return QS_OK;
    TRY(qarr_check(vm, qval_array(*x), check_whole, fn));
    *back = *back == QS_B1 ? d : qdtype_promote(*back, d);
    TRY(qarr_convert(vm, qval_array(*x), QS_I64, &a));
    qval_release(vm, *x);
    return *x = qarr_value(a), QS_OK;
}

qs_status qoperand_from_int64(qs_vm *vm, qs_value *x, qs_dtype back) {
    Array *r;
    if (back == QS_B1) return QS_OK;
    TRY(qarr_convert(vm, qval_array(*x), back, &r));
    qval_release(vm, *x);
    return *x = qarr_value(r), QS_OK;
}

static qs_status plan_bits(qs_vm *vm, Op op, qs_value a, qs_value b, Plan *p) {
    qs_dtype da = array_dtype(a), db = array_dtype(b);
    int64_t number;
    if (qdtype_is_complex(p->out) || da >= QS_F16 || db >= QS_F16) return qscalar_mismatch(vm, op, a, b);
    if (a.kind != QS_ARRAY) TRY(qscalar_int64(vm, qscalar_op_name(op), a, &number));
    if (b.kind != QS_ARRAY) TRY(qscalar_int64(vm, qscalar_op_name(op), b, &number));
    if (da == QS_B1 && db == QS_B1 && (a.kind == QS_ARRAY || a.kind == QS_BOOL) &&
        (b.kind == QS_ARRAY || b.kind == QS_BOOL))
        p->out = p->compute = QS_B1;
    else if (a.kind != QS_ARRAY) p->out = db == QS_B1 ? QS_I32 : db;
    else if (b.kind != QS_ARRAY) p->out = da == QS_B1 ? QS_I32 : da;
    else if (da == db) p->out = da;
    if (p->out == QS_B1) return QS_OK;
    p->compute = qoperand_compute(p->out);
    return p->compute >= QS_F16 ? qscalar_mismatch(vm, op, a, b) : QS_OK;
}

qs_status qoperand_plan(qs_vm *vm, Op op, qs_value a, qs_value b, Plan *p) {
    OpClass cls = op_plans[op].cls;
    p->loop = op_plans[op].loop, p->exact = false;
    p->signs = cls == CLASS_ORDER && qdtype_mixes_signs(array_dtype(a), array_dtype(b));
    bool arrays = a.kind == QS_ARRAY && b.kind == QS_ARRAY;
    if (arrays && kelem_is_mask(kelem_operator(op), array_dtype(a), array_dtype(b))) {
        p->loop = LOOP_AND;
        return p->compute = p->gives = p->out = QS_B1, QS_OK;
    }
    if (cls == CLASS_LOGIC) return p->compute = p->gives = p->out = QS_B1, QS_OK;
    if (cls == CLASS_BITS) {
        p->out = qdtype_promote(array_dtype(a), array_dtype(b));
        TRY(plan_bits(vm, op, a, b, p));
        p->gives = p->compute;
        return QS_OK;
    }
    TRY(qoperand_dtype(vm, op, a, b, &p->out));
    p->compute = p->gives = qoperand_compute(p->out);
    if (cls == CLASS_CHOICE && a.kind == b.kind && array_dtype(a) == array_dtype(b)) p->out = array_dtype(a);
    if (cls == CLASS_ORDER) p->gives = p->out = QS_B1;
    if (!qcontig_get(p->loop, p->compute, LOOP_VV)) return qscalar_mismatch(vm, op, a, b);
    return QS_OK;
}

/* -- reading ------------------------------------------------------------------------------------------------------- */
static const int64_t one_extent[1] = {1}, no_stride[1] = {0};

qs_status qoperand_open(qs_vm *vm, qs_value v, qs_dtype compute, Operand *o) {
    if (v.kind == QS_ARRAY) {
        Array *a = qval_array(v);
        o->dtype = (qs_dtype)a->dtype;
        o->rank = a->rank;
        o->dims = a->dims;
        o->strides = a->strides;
        return qarr_read(vm, a, &o->p);
    }
    o->dtype = compute;
    o->rank = 1;
    o->dims = one_extent;
    o->strides = no_stride;
    o->p = &o->room;
    if (v.kind == QS_NUM) qconv_run(QS_F64, &v.u.f, 0, compute, &o->room, 0, 1);
    else if (v.kind == QS_COMPLEX)
        qconv_run(QS_C128, &(QComplexD){qscalar_complex(v).re, qscalar_complex(v).im}, 0, compute, &o->room, 0, 1);
    else qconv_run(QS_I64, &v.u.i, 0, compute, &o->room, 0, 1);
    return QS_OK;
}
