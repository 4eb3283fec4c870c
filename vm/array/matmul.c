/* matmul.c -- implements the matrix product `*`: types, shapes, and the choice between host and device. */
#include "vm/array/arith.h"
#include "vm/array/array.h"
#include "vm/array/device_math.h"
#include "vm/array/gemm.h"
#include "vm/base/dtype.h"

/* Small integers and 16-bit floats are multiplied in a wider type; the result is converted at the end, and saturates.
 * */
static qs_dtype compute_dtype(qs_dtype d) {
    if (d < QS_F16) return QS_I64;
    return d < QS_F32 ? QS_F32 : d;
}

static qs_status product_error(qs_vm *vm, const Array *a, const Array *b) {
    char ta[SHAPE_TEXT], tb[SHAPE_TEXT];
    const char *hint =
        qarr_same_shape(a, b) ? "; for the product of elements write .*, for the inner product of vectors dotprod"
        : b->rank == 1 && a->rank == 2 && a->dims[1] == b->dims[0] ? "; a vec is a row, transpose(x) is a column"
                                                                   : "";
    return qerr_set(qvm_ctx(vm), QS_ESHAPE, "*: shapes %s and %s do not match as a matrix product%s",
                    qarr_shape_text(a, ta), qarr_shape_text(b, tb), hint);
}

/* Returns the array as a contiguous array of dtype d, a new reference. */
static qs_status contiguous_operand(qs_vm *vm, Array *a, qs_dtype d, Array **out) {
    return (qs_dtype)a->dtype == d ? qarr_contiguous(vm, a, out) : qarr_convert(vm, a, d, out);
}

static qs_status multiply_contiguous(qs_vm *vm, Array *a, Array *b, GemmSize of, Array **out) {
    Gemm g = {.d = (qs_dtype)a->dtype, .size = of};
    TRY(qarr_read(vm, a, &g.a));
    TRY(qarr_read(vm, b, &g.b));
    TRY(qarr_new(vm, g.d, 2, (int64_t[]){of.m, of.n}, of.k == 0, out));
    qs_status s = qarr_write(vm, *out, &g.c);
    if (s) return qarr_release(vm, *out), s;
    if (of.k) qgemm_run(vm, &g);
    return QS_OK;
}

static qs_status in_dtype(qs_vm *vm, Array *a, qs_dtype d, qs_value *out) {
    Array *r;
    qs_status s = qarr_convert(vm, a, d, &r);
    qarr_release(vm, a);
    if (!s) *out = qarr_value(r);
    return s;
}

static qs_status matmul(qs_vm *vm, Array *a, Array *b, qs_value *out) {
    int64_t da[QS_MAX_RANK], db[QS_MAX_RANK];
    int ra = qarr_size(a, da), rb = qarr_size(b, db);
    if (ra != 2 || rb != 2 || da[1] != db[0]) return product_error(vm, a, b);
    qs_dtype result = qdtype_promote((qs_dtype)a->dtype, (qs_dtype)b->dtype), compute = compute_dtype(result);
    GemmSize of = {da[0], db[1], da[1]};
    Array *x, *y, *r = NULL;
    TRY(qdevmath_product(vm, a, b, of, &r));
    if (r) return *out = qarr_value(r), QS_OK;
    TRY(contiguous_operand(vm, a, compute, &x));
    qs_status s = contiguous_operand(vm, b, compute, &y);
    if (!s) {
        s = multiply_contiguous(vm, x, y, of, &r);
        qarr_release(vm, y);
    }
    qarr_release(vm, x);
    return s ? s : in_dtype(vm, r, result, out);
}

/* The result has one dimension if a has one (vec times matrix), and two if a is a matrix with one row. */
qs_status qarith_matmul(qs_vm *vm, Array *a, Array *b, qs_value *out) {
    TRY(matmul(vm, a, b, out));
    if (a->ndim < 2) qarr_keep(qval_array(*out), 1);
    return QS_OK;
}
