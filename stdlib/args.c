#include "stdlib/builtins.h"
#include "vm/array/convert.h"
#include "vm/base/warning.h"

#include <math.h>
#include <string.h>

qs_status qarg_wrong(qs_vm *vm, const char *fn, const char *what, const char *wanted, qs_value got) {
    bool list = got.kind == QS_CELL && strstr(wanted, "array");
    return qs_fail(vm, QS_ETYPE, "%s: %s must be %s, got %s%s", fn, what, wanted, qval_type_name(vm, got),
                   list ? ", a cell; cell2mat makes an array of its numbers" : "");
}

qs_status qarg_num(qs_vm *vm, const char *fn, const char *what, qs_value v, double *out) {
    qs_value item = v;
    if (v.kind == QS_ARRAY && qval_array(v)->count == 1 && !qdtype_is_complex(qval_array(v)->dtype))
        TRY(qarr_get(vm, qval_array(v), 0, &item));
    if (!qval_is_number(item)) return qarg_wrong(vm, fn, what, "a number", v);
    *out = qval_number(item);
    return QS_OK;
}

qs_status qarg_int(qs_vm *vm, const char *fn, const char *what, qs_value v, int64_t *out) {
    double x;
    TRY(qarg_num(vm, fn, what, v, &x));
    if (v.kind == QS_INT) return *out = v.u.i, QS_OK;
    if (x != floor(x) || fabs(x) >= 0x1p63)
        return qs_fail(vm, QS_EVALUE, "%s: %s must be an integer, got %g", fn, what, x);
    *out = (int64_t)x;
    return QS_OK;
}

qs_status qarg_count(qs_vm *vm, const char *fn, const char *what, qs_value v, int64_t *out) {
    int64_t n;
    TRY(qarg_int(vm, fn, what, v, &n));
    if (n < 0) return qs_fail(vm, QS_EVALUE, "%s: %s must be ≥ 0, got %lld", fn, what, (long long)n);
    *out = n;
    return QS_OK;
}

qs_status qarg_string(qs_vm *vm, const char *fn, const char *what, qs_value v, const char **s, size_t *n) {
    if (v.kind != QS_STRING) return qarg_wrong(vm, fn, what, "a string", v);
    size_t len;
    *s = qs_to_string(v, &len);
    if (n) *n = len;
    else if (strlen(*s) != len) return qs_fail(vm, QS_EVALUE, "%s: %s must not hold a NUL byte", fn, what);
    return QS_OK;
}

qs_status qarg_dim(qs_vm *vm, const char *fn, qs_value v, int *out) {
    int64_t d;
    if (v.kind == QS_BOOL) return qarg_wrong(vm, fn, "dimension", "an integer", v);
    TRY(qarg_int(vm, fn, "dimension", v, &d));
    if (d < 0 || d >= QS_MAX_RANK)
        return qs_fail(vm, QS_EVALUE, "%s: dimension must be 0 to %d, got %lld", fn, QS_MAX_RANK - 1, (long long)d);
    *out = (int)d;
    return QS_OK;
}

/* Warns if x has one element along dim, so that fn has no effect, and the program names this dimension by a literal:
 * that is probably a mistake.  Callers without source code (Python, C) get no warning. */
static qs_status check_extent(qs_vm *vm, const char *fn, const Array *x, int dim) {
    bool nothing = x->ndim == 1 ? dim == 0 || dim > 1 : x->ndim == 2 && dim > 1;
    if (!nothing || !x->count || !qwarn_dimension_is_noted(qvm_here(vm))) return QS_OK;
    return qwarn_dimension(qvm_ctx(vm), qvm_here(vm), fn, x->ndim, dim);
}

qs_status qarg_dim_of(qs_vm *vm, const char *fn, qs_value x, qs_value v, int *out) {
    enum { OF_IMAGES = 3 };
    int n = x.kind == QS_ARRAY && qval_array(x)->ndim > 2 ? qval_array(x)->ndim : 2;
    TRY(qarg_dim(vm, fn, v, out));
    if (*out < n || *out < OF_IMAGES) return x.kind == QS_ARRAY ? check_extent(vm, fn, qval_array(x), *out) : QS_OK;
    return qs_fail(vm, QS_EVALUE, "%s: x has the dimensions 0 to %d, got dimension %d", fn, n - 1, *out);
}

static void replace(qs_vm *vm, qs_value *slot, Array *a) {
    qs_value old = *slot;
    *slot = qarr_value(a);
    qval_release(vm, old);
}

qs_dtype qarg_meet(qs_vm *vm, const qs_call_args *c, int from, int to) {
    return qoperand_meet(vm, (to < c->nin ? to : c->nin) - from, c->in + from);
}

qs_dtype qarg_meet_float(qs_vm *vm, const qs_call_args *c, int from, int to) {
    qs_dtype d = qarg_meet(vm, c, from, to), part = qdtype_real_of(d);
    qs_dtype real = part == QS_F64 || (part >= QS_I32 && part <= QS_U64) ? QS_F64 : qvm_ctx(vm)->scalar_dtype;
    return qdtype_is_complex(d) ? qdtype_complex_of(real) : real;
}

qs_status qarg_array(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out) {
    if (qval_is_scalar(c->in[i])) {
        Array *a;
        TRY(qarr_from_value(vm, c->in[i], qoperand_meet(vm, 1, &c->in[i]), &a));
        replace(vm, &c->in[i], a);
    }
    if (c->in[i].kind != QS_ARRAY) return qarg_wrong(vm, c->name, what, "a number or an array", c->in[i]);
    *out = qval_array(c->in[i]);
    return QS_OK;
}

qs_status qarg_listed(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out) {
    if (qval_is_scalar(c->in[i])) {
        qs_value list;
        TRY(qarr_literal(vm, qvm_ctx(vm)->scalar_dtype, 1, &c->in[i], &list));
        replace(vm, &c->in[i], qval_array(list));
    }
    return qarg_array(vm, c, i, what, out);
}

qs_status qarg_typed(qs_vm *vm, qs_call_args *c, int i, const char *what, qs_dtype d, Array **out) {
    Array *a;
    if (qarg_parts(c, i, i + 1) > 1 && !qdtype_is_complex(d)) return qarg_wrong(vm, c->name, what, "real", c->in[i]);
    TRY(qarg_array(vm, c, i, what, &a));
    TRY(qarr_convert(vm, a, d, out));
    return replace(vm, &c->in[i], *out), QS_OK;
}

qs_status qarg_packed(qs_vm *vm, qs_call_args *c, int i, const char *what, qs_dtype d, Array **out, const void **p) {
    Array *a, *b;
    TRY(qarg_typed(vm, c, i, what, d, &b));
    TRY(qarr_contiguous(vm, b, &a));
    replace(vm, &c->in[i], a);
    *out = a;
    return qarr_read(vm, a, p);
}

qs_status qarg_floats(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out, const void **p) {
    Array *a;
    TRY(qarg_array(vm, c, i, what, &a));
    qs_dtype d = a->dtype;
    if (d < QS_F32) d = d >= QS_I32 && d <= QS_U64 ? QS_F64 : QS_F32;
    return qarg_packed(vm, c, i, what, d, out, p);
}

qs_status qarg_result(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, int rank, const int64_t *dims, Array **out,
                      void **p) {
    TRY(qarr_new(vm, d, rank, dims, false, out));
    c->out[i] = qarr_value(*out);
    return qarr_write(vm, *out, p);
}

qs_status qarg_result_like(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, const Array *x, Array **out, void **p) {
    TRY(qarr_like(vm, x, d, out));
    c->out[i] = qarr_value(*out);
    return qarr_write(vm, *out, p);
}

qs_status qarg_set_field(qs_vm *vm, Object *o, const char *name, qs_value v) {
    qs_status s = qobj_set(vm, o, qstr_name(qvm_ctx(vm), name, strlen(name)), v);
    return qval_release(vm, v), s;
}

qs_status qarg_exact(qs_vm *vm, const double *x, int rank, const int64_t *dims, qs_value *out) {
    size_t n = 1;
    for (int i = 0; i < rank; i++) n *= (size_t)dims[i];
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    for (size_t i = 0; i < n; i++)
        if (fabs(x[i]) > 0x1p24) d = QS_F64;
    Array *a;
    void *p;
    TRY(qarr_make(vm, d, rank, dims, false, &a, &p));
    *out = qarr_value(a);
    qconv_run(QS_F64, x, sizeof *x, d, p, (ptrdiff_t)qdtype_size(d), n);
    return QS_OK;
}

int qarg_parts(const qs_call_args *c, int from, int to) {
    for (int i = from; i < to && i < c->nin; i++)
        if (c->in[i].kind == QS_COMPLEX ||
            (c->in[i].kind == QS_ARRAY && qdtype_is_complex(qval_array(c->in[i])->dtype)))
            return 2;
    return 1;
}

qs_status qarg_wide(qs_vm *vm, qs_call_args *c, int i, const char *what, int parts, Numbers *out) {
    const void *p;
    TRY(qarg_packed(vm, c, i, what, parts == 2 ? QS_C128 : QS_F64, &out->a, &p));
    out->x = p, out->n = out->a->count, out->parts = parts;
    return QS_OK;
}

qs_status qarg_narrow(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, int rank, const int64_t *dims, const double *x) {
    Array *r;
    void *p;
    bool complex = qdtype_is_complex(d);
    if (rank < 0 && complex) return qval_complex(vm, x[0], x[1], &c->out[i]);
    if (rank < 0) return c->out[i] = qs_num(x[0]), QS_OK;
    TRY(qarg_result(vm, c, i, d, rank, dims, &r, &p));
    size_t n = r->count * (complex ? 2 : 1);
    qs_dtype part = qdtype_real_of(d);
    qconv_run(QS_F64, x, sizeof *x, part, p, (ptrdiff_t)qdtype_size(part), n);
    return QS_OK;
}
