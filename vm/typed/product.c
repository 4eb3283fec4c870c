/* product.c -- multiplies stacks of matrices, each by qgemm_run.
 *
 * qgemm_run only supports int64, floats and complex numbers.  Other integers are converted to int64, and the result is
 * truncated to their type, which wraps around exactly as arithmetic in that type. */
#include "vm/base/dtype.h"
#include "vm/quasar.h"
#include "vm/typed/typed.h"

#include <string.h>

static qs_status widen_array(qs_vm *vm, Array *a, qs_dtype d, Array **out) {
    TypedArg x;
    int64_t dims[QS_MAX_RANK];
    int ndim = qarr_shape(a, dims, NULL);
    if (a->dtype == d && a->contiguous) return *out = a, qval_retain(qarr_value(a)), QS_OK;
    TRY(qarr_new(vm, d, ndim, dims, false, out));
    qs_status s = qtyped_open(vm, a, &x);
    if (s == QS_OK && x.dtype == QS_U64) x.dtype = d; /* copies the bits unchanged */
    if (s == QS_OK) s = qtyped_store(vm, *out, &x);
    if (s != QS_OK) qarr_release(vm, *out);
    return s;
}

static qs_status multiply_stack(qs_vm *vm, Array *a, Array *b, GemmSize of, Array *out) {
    Gemm g = {.d = (qs_dtype)out->dtype, .size = of};
    int64_t size = (int64_t)qdtype_size(g.d), stack = of.m && of.n ? (int64_t)out->count / (of.m * of.n) : 0;
    TRY(qarr_read(vm, a, &g.a));
    TRY(qarr_read(vm, b, &g.b));
    TRY(qarr_write(vm, out, &g.c));
    if (!of.k) return memset(g.c, 0, out->count * (size_t)size), QS_OK;
    for (; stack--; g.c = (char *)g.c + of.m * of.n * size) {
        qgemm_run(vm, &g);
        g.a = (const char *)g.a + of.m * of.k * size, g.b = (const char *)g.b + of.k * of.n * size;
    }
    return QS_OK;
}

/* Truncates int64 elements to the low bytes, which are stored first, for a type of the same size or smaller. */
static qs_status truncate_elements(qs_vm *vm, Array *wide, qs_dtype d, int ndim, const int64_t *dims, Array **out) {
    const void *from;
    void *to;
    size_t size = qdtype_size(d);
    TRY(qarr_read(vm, wide, &from));
    TRY(qarr_make(vm, d, ndim, dims, false, out, &to));
    for (size_t i = 0; i < wide->count; i++) memcpy((char *)to + i * size, (const char *)from + i * 8, size);
    return QS_OK;
}

qs_status qproduct_run(qs_vm *vm, Array *a, Array *b, GemmSize of, int ndim, const int64_t *dims, Array **out) {
    qs_dtype own = (qs_dtype)a->dtype, d = qdtype_is_int(own) ? QS_I64 : own;
    Array *p, *q, *r = NULL;
    if (own == QS_B1) return qs_fail(vm, QS_ETYPE, "matmul is not defined for truth values");
    TRY(widen_array(vm, a, d, &p));
    qs_status s = widen_array(vm, b, d, &q);
    if (s != QS_OK) return qarr_release(vm, p), s;
    s = qarr_new(vm, d, ndim, dims, false, &r);
    if (s == QS_OK) s = multiply_stack(vm, p, q, of, r);
    if (s == QS_OK && own != d) s = truncate_elements(vm, r, own, ndim, dims, out);
    else if (s == QS_OK) *out = r, r = NULL;
    if (r) qarr_release(vm, r);
    qarr_release(vm, p);
    qarr_release(vm, q);
    return s;
}
