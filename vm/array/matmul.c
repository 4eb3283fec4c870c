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

/* Returns whether the matrix is stored by columns, without gaps. */
static bool is_transposed(const Array *a) {
    return !a->contiguous && a->rank == 2 && a->strides[0] == 1 && a->strides[1] == a->dims[0] && qarr_aligned(a);
}

/* Returns the array as an array of dtype d that is stored by rows or by columns, a new reference. */
static qs_status packed_operand(qs_vm *vm, Array *a, qs_dtype d, Array **out) {
    if ((qs_dtype)a->dtype != d) return qarr_convert(vm, a, d, out);
    if (!is_transposed(a)) return qarr_contiguous(vm, a, out);
    return *out = a, a->hdr.refs++, QS_OK;
}

static void swap_operands(Gemm *g) {
    Gemm s = *g;
    g->a = s.b, g->b = s.a, g->ta = !s.tb, g->tb = !s.ta;
    g->size.m = s.size.n, g->size.n = s.size.m;
}

/* Multiplies with an operand that is stored by columns.  A product with one row or column is its own transpose, and is
 * computed from the transposed operands. *done false: contiguous copies of the operands are needed. */
static qs_status multiply_transposed(qs_vm *vm, Gemm g, bool *done) {
    bool line = g.size.m == 1 || g.size.n == 1;
    if (g.size.n == 1) g.tb = true; /* a line is stored by rows and by columns */
    else if (g.size.m == 1) g.ta = true;
    if (line && g.ta && g.tb) return swap_operands(&g), qgemm_run(vm, &g), *done = true, QS_OK;
    return *done = qgemm_transposed(vm, &g), QS_OK;
}

static qs_status multiply_packed(qs_vm *vm, Array *a, Array *b, GemmSize of, Array *out, bool *done) {
    Gemm g = {.d = (qs_dtype)a->dtype, .size = of, .ta = is_transposed(a), .tb = is_transposed(b)};
    *done = true;
    TRY(qarr_read(vm, a, &g.a));
    TRY(qarr_read(vm, b, &g.b));
    TRY(qarr_write(vm, out, &g.c));
    if (!of.k || !of.m || !of.n) return QS_OK;
    if (g.ta || g.tb) return multiply_transposed(vm, g, done);
    return qgemm_run(vm, &g), QS_OK;
}

static qs_status multiply_copies(qs_vm *vm, Array *a, Array *b, GemmSize of, Array *out) {
    Array *x, *y;
    bool done;
    TRY(qarr_contiguous(vm, a, &x));
    qs_status s = qarr_contiguous(vm, b, &y);
    if (!s) {
        s = multiply_packed(vm, x, y, of, out, &done);
        qarr_release(vm, y);
    }
    return qarr_release(vm, x), s;
}

static qs_status multiply(qs_vm *vm, Array *a, Array *b, GemmSize of, Array **out) {
    bool done = true;
    TRY(qarr_new(vm, (qs_dtype)a->dtype, 2, (int64_t[]){of.m, of.n}, of.k == 0, out));
    qs_status s = multiply_packed(vm, a, b, of, *out, &done);
    if (!s && !done) s = multiply_copies(vm, a, b, of, *out);
    if (s) qarr_release(vm, *out);
    return s;
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
    TRY(packed_operand(vm, a, compute, &x));
    qs_status s = packed_operand(vm, b, compute, &y);
    if (!s) {
        s = multiply(vm, x, y, of, &r);
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
