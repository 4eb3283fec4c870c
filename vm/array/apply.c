/* apply.c -- applies binary functions that are not in elem.def to arrays and numbers, in double, or exactly for
 * integers of any two types. */
#include "lang/syntax/operators.h"
#include "vm/array/convert.h"
#include "vm/array/operand.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"

#include <string.h>

/* A binary elementwise operation. */
typedef struct Pairs {
    void (*run)(const struct Pairs *p, const Nest *n, qs_dtype da, qs_dtype db);
    qs_status (*open)(qs_vm *vm, qs_value v, qs_dtype d, Operand *o);
    double (*real)(double, double);
    Int128 (*integers)(Int128, Int128);
    qs_dtype d, out; /* type in which results are written; element type of the result array */
} Pairs;

static void run_reals(const Pairs *p, const Nest *n, qs_dtype da, qs_dtype db) {
    double x[PIECE], y[PIECE];
    const ptrdiff_t size = sizeof(double);
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < PIECE ? n->count - at : PIECE;
        qconv_run(da, n->at[1] + n->step[1] * (ptrdiff_t)at, n->step[1], QS_F64, x, size, m);
        qconv_run(db, n->at[2] + n->step[2] * (ptrdiff_t)at, n->step[2], QS_F64, y, size, m);
        for (size_t i = 0; i < m; i++) x[i] = p->real(x[i], y[i]);
        qconv_run(QS_F64, x, size, p->d, n->at[0] + n->step[0] * (ptrdiff_t)at, n->step[0], m);
    }
}

static Int128 int_of_bits(qs_dtype d, uint64_t bits) { return d == QS_U64 ? (Int128)bits : (Int128)(int64_t)bits; }

static uint64_t saturated(qs_dtype d, Int128 x) { /* returns the bits of the value */
    Int128 least = d == QS_U64 ? 0 : INT64_MIN, most = d == QS_U64 ? (Int128)UINT64_MAX : INT64_MAX;
    uint64_t bits = (uint64_t)(x < least ? least : x > most ? most : x);
    if (d == QS_F64) memcpy(&bits, &(double){(double)x}, sizeof bits);
    return bits;
}

static void run_wholes(const Pairs *p, const Nest *n, qs_dtype da, qs_dtype db) {
    uint64_t x[PIECE], y[PIECE];
    const ptrdiff_t size = sizeof *x;
    qs_dtype dx = da == QS_U64 ? QS_U64 : QS_I64, dy = db == QS_U64 ? QS_U64 : QS_I64;
    qs_dtype wide = p->d == QS_U64 || p->d == QS_F64 ? p->d : QS_I64;
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < PIECE ? n->count - at : PIECE;
        qconv_run(da, n->at[1] + n->step[1] * (ptrdiff_t)at, n->step[1], dx, x, size, m);
        qconv_run(db, n->at[2] + n->step[2] * (ptrdiff_t)at, n->step[2], dy, y, size, m);
        for (size_t i = 0; i < m; i++)
            x[i] = saturated(wide, p->integers(int_of_bits(dx, x[i]), int_of_bits(dy, y[i])));
        qconv_run(wide, x, size, p->d, n->at[0] + n->step[0] * (ptrdiff_t)at, n->step[0], m);
    }
}

/* Opens an operand as float64.  A number is first rounded to the type of the result, as in kernels. */
static qs_status open_weak(qs_vm *vm, qs_value v, qs_dtype result, Operand *o) {
    QComplexD rounded;
    TRY(qoperand_open(vm, v, QS_F64, o));
    if (v.kind == QS_ARRAY || result == QS_F64) return QS_OK;
    qconv_run(QS_F64, &o->room, 0, result, &rounded, 0, 1);
    qconv_run(result, &rounded, 0, QS_F64, &o->room, 0, 1);
    return QS_OK;
}

static qs_status open_whole(qs_vm *vm, qs_value v, qs_dtype result, Operand *o) {
    return (void)result, qoperand_open(vm, v, QS_I64, o);
}

static qs_status apply_pairs(qs_vm *vm, const char *name, const Pairs *p, qs_value a, qs_value b, qs_value *out) {
    Extents shape;
    Operand x, y;
    Array *r;
    void *to;
    Nest n;
    TRY(qoperand_shape(vm, name, a, b, &shape));
    TRY(p->open(vm, a, p->d, &x));
    TRY(p->open(vm, b, p->d, &y));
    TRY(qoperand_result(vm, p->out, &shape, &r));
    qs_status s = qarr_write(vm, r, &to);
    if (s) return qarr_release(vm, r), s;
    qstrided_begin(&n, r->rank, r->dims);
    qstrided_array(&n, to, r);
    qstrided_operand(&n, x.p, qdtype_size(x.dtype), x.rank, x.dims, x.strides);
    qstrided_operand(&n, y.p, qdtype_size(y.dtype), y.rank, y.dims, y.strides);
    qstrided_fuse(&n);
    qstrided_lengthen(&n);
    while (qstrided_next(&n)) p->run(p, &n, x.dtype, y.dtype);
    *out = qarr_value(r);
    return QS_OK;
}

static bool is_real(qs_value v) {
    return qval_is_number(v) || (v.kind == QS_ARRAY && !qdtype_is_complex((qs_dtype)qval_array(v)->dtype));
}

static qs_status check_real(qs_vm *vm, const char *name, qs_value a, qs_value b) {
    if (is_real(a) && is_real(b)) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined between %s and %s", name, qval_type_name(vm, a),
                    qval_type_name(vm, b));
}

qs_status qapply_two(qs_vm *vm, const char *name, double (*fn)(double, double), qs_value a, qs_value b, qs_value *out) {
    qs_dtype d;
    TRY(check_real(vm, name, a, b));
    if (a.kind != QS_ARRAY && b.kind != QS_ARRAY) {
        *out = qs_num(fn(qval_number(a), qval_number(b)));
        return QS_OK;
    }
    TRY(qoperand_dtype(vm, OP_DIV, a, b, &d));
    return apply_pairs(vm, name, &(Pairs){.run = run_reals, .open = open_weak, .real = fn, .d = d, .out = d}, a, b,
                       out);
}

static Int128 int_param(qs_value v) { return v.kind == QS_NUM ? qdtype_sat_i64(v.u.f, INT64_MIN, INT64_MAX) : v.u.i; }

qs_status qapply_integers(qs_vm *vm, const char *name, Int128 (*fn)(Int128, Int128), qs_dtype d, qs_value a, qs_value b,
                          qs_value *out) {
    TRY(check_real(vm, name, a, b));
    if (a.kind != QS_ARRAY && b.kind != QS_ARRAY) {
        *out = qs_int((int64_t)saturated(QS_I64, fn(int_param(a), int_param(b))));
        return QS_OK;
    }
    return apply_pairs(vm, name, &(Pairs){.run = run_wholes, .open = open_whole, .integers = fn, .d = d, .out = d}, a,
                       b, out);
}
