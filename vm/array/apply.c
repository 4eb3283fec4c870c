/* apply.c -- functions of one and two elements, over arrays and numbers. */
#include "vm/base/dtype.h"
#include "vm/value/convert.h"
#include "vm/array/nest.h"
#include "vm/array/operand.h"

#include <string.h>

static void map_reals(const MapFn *fn, qs_dtype d, void *p, size_t n) {
    if (d == QS_F64)
        for (double *x = p; n--; x++) *x = fn->real(*x);
    else if (fn->real32)
        for (float *x = p; n--; x++) *x = fn->real32(*x);
    else
        for (float *x = p; n--; x++) *x = (float)fn->real((double)*x);
}

/* Functions that keep integers give x, -x or something small: exact even where doubles cannot tell neighbours apart. */
static void map_int64(const MapFn *fn, int64_t *x, size_t n) {
    for (; n--; x++) {
        double before = (double)*x, after = fn->real(before);
        if (after == before) continue;
        if (after == -before) *x = *x == INT64_MIN ? INT64_MAX : -*x;
        else *x = qdtype_sat_i64(after, INT64_MIN, INT64_MAX);
    }
}

static void map_uint64(const MapFn *fn, uint64_t *x, size_t n) {
    for (; n--; x++) {
        double after = fn->real((double)*x);
        if (after != (double)*x) *x = qdtype_sat_u64(after, UINT64_MAX);
    }
}

static void map_complex(const MapFn *fn, QComplexD *z, size_t n) {
    for (; n--; z++) {
        double in[2] = {z->re, z->im}, out[2];
        fn->cplx(in, out);
        *z = (QComplexD){out[0], out[1]};
    }
}

/* In which type a function is evaluated on elements of type d. */
static qs_dtype map_compute(qs_dtype out) {
    if (qdtype_is_complex(out)) return QS_C128;
    if (out == QS_U64 || qdtype_is_real(out)) return qoperand_compute(out);
    return QS_I64;
}

static void map_piece(const MapFn *fn, qs_dtype d, void *p, size_t n) {
    if (d == QS_C128) map_complex(fn, p, n);
    else if (d == QS_I64) map_int64(fn, p, n);
    else if (d == QS_U64) map_uint64(fn, p, n);
    else map_reals(fn, d, p, n);
}

static void map_run(const MapFn *fn, qs_dtype from, const char *src, ptrdiff_t sstep, qs_dtype to, char *dst,
                    size_t n) {
    _Alignas(64) char piece[PIECE_BYTES];
    qs_dtype compute = map_compute(to);
    ptrdiff_t size = (ptrdiff_t)qdtype_size(compute), dstep = (ptrdiff_t)qdtype_size(to);
    for (size_t m; n; n -= m, src += sstep * (ptrdiff_t)m, dst += dstep * (ptrdiff_t)m) {
        m = n < PIECE ? n : PIECE;
        qconv_run(from, src, sstep, compute, piece, size, m);
        map_piece(fn, compute, piece, m);
        qconv_run(compute, piece, size, to, dst, dstep, m);
    }
}

static qs_status map_array(qs_vm *vm, const MapFn *fn, Array *a, qs_value *out) {
    qs_dtype from = (qs_dtype)a->dtype;
    bool keeps = fn->keeps_int && from != QS_B1 && from < QS_F16;
    qs_dtype to = keeps ? from : qoperand_fraction(vm, from);
    const void *src;
    void *dst;
    Array *r;
    Nest n;
    TRY(qarr_read(vm, a, &src));
    TRY(qarr_like(vm, a, to, &r));
    qs_status s = qarr_write(vm, r, &dst);
    if (s) return qarr_release(vm, r), s;
    qnest_begin(&n, a->rank, a->dims);
    qnest_array(&n, src, a);
    qnest_fuse(&n);
    for (char *at = dst; qnest_next(&n); at += n.count * qdtype_size(to))
        map_run(fn, from, n.at[0], n.step[0], to, at, n.count);
    *out = qarr_value(r);
    return QS_OK;
}

static qs_status map_number(qs_vm *vm, const MapFn *fn, qs_value x, qs_value *out) {
    if (x.kind == QS_COMPLEX) {
        double in[2] = {qscalar_complex(x).re, qscalar_complex(x).im}, z[2];
        fn->cplx(in, z);
        return qval_complex(vm, z[0], z[1], out);
    }
    if (x.kind == QS_INT && fn->keeps_int) {
        int64_t i = x.u.i;
        map_int64(fn, &i, 1);
        *out = qs_int(i);
    } else *out = qs_num(fn->real(qval_number(x)));
    return QS_OK;
}

qs_status qapply_one(qs_vm *vm, const MapFn *fn, qs_value x, qs_value *out) {
    if (!qoperand_fits(x))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for %s", fn->name, qval_type_name(vm, x));
    bool cplx = x.kind == QS_COMPLEX || (x.kind == QS_ARRAY && qdtype_is_complex((qs_dtype)qval_array(x)->dtype));
    if (cplx && !fn->cplx) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for complex numbers", fn->name);
    return x.kind == QS_ARRAY ? map_array(vm, fn, qval_array(x), out) : map_number(vm, fn, x, out);
}

/* What is done with two operands that meet element by element. */
typedef struct Pairs {
    void (*run)(const struct Pairs *p, const Nest *n, qs_dtype da, qs_dtype db);
    qs_status (*open)(qs_vm *vm, qs_value v, qs_dtype d, Operand *o);
    double (*real)(double, double);
    Whole (*whole)(Whole, Whole);
    qs_dtype d, out; /* of the parts that are written; of the elements that they make */
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

static Whole whole(qs_dtype d, uint64_t bits) { return d == QS_U64 ? (Whole)bits : (Whole)(int64_t)bits; }

static uint64_t saturated(qs_dtype d, Whole x) { /* the bits of it */
    Whole least = d == QS_U64 ? 0 : INT64_MIN, most = d == QS_U64 ? (Whole)UINT64_MAX : INT64_MAX;
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
        for (size_t i = 0; i < m; i++) x[i] = saturated(wide, p->whole(whole(dx, x[i]), whole(dy, y[i])));
        qconv_run(wide, x, size, p->d, n->at[0] + n->step[0] * (ptrdiff_t)at, n->step[0], m);
    }
}

static void run_join(const Pairs *p, const Nest *n, qs_dtype da, qs_dtype db) {
    char *im = (char *)n->at[0] + qdtype_size(p->d);
    qconv_run(da, n->at[1], n->step[1], p->d, n->at[0], n->step[0], n->count);
    qconv_run(db, n->at[2], n->step[2], p->d, im, n->step[0], n->count);
}

/* An operand read as float64; a number takes part with the precision of the result, as it does in kernels. */
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

static qs_status pairs(qs_vm *vm, const char *name, const Pairs *p, qs_value a, qs_value b, qs_value *out) {
    int rank;
    int64_t dims[QS_MAX_RANK];
    Operand x, y;
    Array *r;
    void *to;
    Nest n;
    TRY(qoperand_shape(vm, name, a, b, &rank, dims));
    TRY(p->open(vm, a, p->d, &x));
    TRY(p->open(vm, b, p->d, &y));
    TRY(qarr_new_raw(vm, p->out, rank, dims, false, &r));
    qs_status s = qarr_write(vm, r, &to);
    if (s) return qarr_release(vm, r), s;
    qnest_begin(&n, r->rank, r->dims);
    qnest_array(&n, to, r);
    qnest_operand(&n, x.p, qdtype_size(x.dtype), x.rank, x.dims, x.strides);
    qnest_operand(&n, y.p, qdtype_size(y.dtype), y.rank, y.dims, y.strides);
    qnest_fuse(&n);
    qnest_lengthen(&n);
    while (qnest_next(&n)) p->run(p, &n, x.dtype, y.dtype);
    *out = qarr_value(r);
    return QS_OK;
}

static bool is_real(qs_value v) {
    return qval_is_number(v) || (v.kind == QS_ARRAY && !qdtype_is_complex((qs_dtype)qval_array(v)->dtype));
}

static qs_status reals(qs_vm *vm, const char *name, qs_value a, qs_value b) {
    if (is_real(a) && is_real(b)) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined between %s and %s", name, qval_type_name(vm, a),
                    qval_type_name(vm, b));
}

qs_status qapply_two(qs_vm *vm, const char *name, double (*fn)(double, double), qs_value a, qs_value b, qs_value *out) {
    qs_dtype d;
    TRY(reals(vm, name, a, b));
    if (a.kind != QS_ARRAY && b.kind != QS_ARRAY) {
        *out = qs_num(fn(qval_number(a), qval_number(b)));
        return QS_OK;
    }
    TRY(qoperand_dtype(vm, OP_DIV, a, b, &d));
    return pairs(vm, name, &(Pairs){.run = run_reals, .open = open_weak, .real = fn, .d = d, .out = d}, a, b, out);
}

qs_status qapply_join(qs_vm *vm, const char *name, qs_value re, qs_value im, qs_value *out) {
    qs_dtype d;
    TRY(reals(vm, name, re, im));
    if (re.kind != QS_ARRAY && im.kind != QS_ARRAY) return qval_complex(vm, qval_number(re), qval_number(im), out);
    TRY(qoperand_dtype(vm, OP_DIV, re, im, &d));
    Pairs p = {.run = run_join, .open = open_weak, .d = d, .out = qdtype_complex_of(d)};
    return pairs(vm, name, &p, re, im, out);
}

static Whole whole_number(qs_value v) {
    return v.kind == QS_NUM ? qdtype_sat_i64(v.u.f, INT64_MIN, INT64_MAX) : v.u.i;
}

qs_status qapply_whole(qs_vm *vm, const char *name, Whole (*fn)(Whole, Whole), qs_dtype d, qs_value a, qs_value b,
                       qs_value *out) {
    TRY(reals(vm, name, a, b));
    if (a.kind != QS_ARRAY && b.kind != QS_ARRAY) {
        *out = qs_int((int64_t)saturated(QS_I64, fn(whole_number(a), whole_number(b))));
        return QS_OK;
    }
    return pairs(vm, name, &(Pairs){.run = run_wholes, .open = open_whole, .whole = fn, .d = d, .out = d}, a, b, out);
}
