/* Making arrays, shapes, views of foreign memory, conversions between all element types, literals, ranges. */
#include "tests/unit/machine.h"
#include "vm/array/convert.h"
#include "vm/base/dtype.h"

#include <math.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int released;
static void release(void *owner) { (void)owner, released++; }

/* -- shapes -------------------------------------------------------------------------------------------------------- */
static void check_shape(qs_vm *vm, int rank, const int64_t *dims, const char *want, int want_rank) {
    char text[SHAPE_TEXT];
    Array *a;
    CHECK(qarr_new(vm, QS_F32, rank, dims, true, &a) == QS_OK);
    CHECK_TEXT(qarr_shape_text(a, text), want);
    CHECK(a->rank == want_rank && a->contiguous);
    qarr_release(vm, a);
}

static void shapes(qs_vm *vm) {
    check_shape(vm, 1, (int64_t[]){5}, "1x5", 1);
    check_shape(vm, 2, (int64_t[]){1, 5}, "1x5", 1);
    check_shape(vm, 2, (int64_t[]){5, 1}, "5x1", 2);
    check_shape(vm, 3, (int64_t[]){4, 5, 1}, "4x5", 2);
    check_shape(vm, 3, (int64_t[]){1, 5, 1}, "1x5", 1);
    check_shape(vm, 3, (int64_t[]){1, 5, 2}, "1x5x2", 3);
    check_shape(vm, 4, (int64_t[]){1, 1, 1, 1}, "1x1", 1);
    check_shape(vm, 1, (int64_t[]){0}, "1x0", 1);
    check_shape(vm, 2, (int64_t[]){0, 3}, "0x3", 2);
    check_shape(vm, 3, (int64_t[]){1 << 20, 0, (int64_t)1 << 40}, "1048576x0x1099511627776", 3);
}

static void sizes_refused(qs_vm *vm) {
    Array *a;
    int64_t million = 1000000;
    CHECK_ERROR(vm, qarr_new(vm, QS_F32, 2, (int64_t[]){3, -1}, true, &a), QS_ESHAPE,
                "the size of an array must be ≥ 0, got 3x-1");
    CHECK_ERROR(vm, qarr_new(vm, QS_F64, 4, (int64_t[]){million, million, million, million}, true, &a), QS_ENOMEM,
                "out of memory: an array of 1000000x1000000x1000000x1000000 elements of type float64 is larger than "
                "any memory");
    CHECK_ERROR(vm, qarr_new(vm, QS_F32, 2, (int64_t[]){million, million}, true, &a), QS_ENOMEM,
                "out of memory: an array needs 3.638 TB");
    CHECK_ERROR(vm, qarr_new(vm, QS_F32, 9, (int64_t[9]){0}, true, &a), QS_ESHAPE,
                "an array has at most 8 dimensions, not 9");
    CHECK_ERROR(vm, qarr_new(vm, QS_F32, 3, (int64_t[]){(int64_t)1 << 40, 0, (int64_t)1 << 40}, true, &a), QS_ENOMEM,
                "out of memory: an array of 1099511627776x0x1099511627776 elements of type float32 is larger than any "
                "memory");
    qvm_ctx(vm)->fail_after = 2; /* the buffer is allocated, its data are not */
    CHECK(qarr_new(vm, QS_F32, 1, &million, true, &a) == QS_ENOMEM);
    qerr_clear(qvm_ctx(vm));
    qvm_ctx(vm)->fail_after = 2; /* the buffer is allocated, the header is not */
    CHECK(qarr_new(vm, QS_F32, 1, (int64_t[]){4}, true, &a) == QS_ENOMEM);
    qerr_clear(qvm_ctx(vm));
    qvm_ctx(vm)->fail_after = 0;
}

static void shape_arguments(qs_vm *vm) {
    int rank;
    int64_t dims[QS_MAX_RANK];
    qs_value size = make_vec(vm, QS_F32, 3, (double[]){2, 3, 4}), bad = make_vec(vm, QS_F32, 2, (double[]){2, -3}),
             s = make_string(vm, "x");
    CHECK(qarr_shape_args(vm, "zeros", 1, &size, &rank, dims) == QS_OK && rank == 3 && dims[2] == 4);
    CHECK(qarr_shape_args(vm, "zeros", 2, (qs_value[]){qs_num(2.9), qs_int(7)}, &rank, dims) == QS_OK && rank == 2 &&
          dims[0] == 2);
    CHECK_ERROR(vm, qarr_shape_args(vm, "zeros", 1, &bad, &rank, dims), QS_EVALUE, "zeros: size must be ≥ 0, got -3");
    CHECK_ERROR(vm, qarr_shape_args(vm, "ones", 1, (qs_value[]){qs_num(NAN)}, &rank, dims), QS_EVALUE,
                "ones: size must be ≥ 0, got nan");
    CHECK_ERROR(vm, qarr_shape_args(vm, "ones", 2, (qs_value[]){qs_num(1), s}, &rank, dims), QS_ETYPE,
                "ones: size 2 must be a number, got a string; elements of another type come from a "
                "conversion: uint8(zeros(2,3))");
    CHECK_ERROR(vm, qarr_shape_args(vm, "ones", 0, NULL, &rank, dims), QS_EVALUE, "ones: a size is needed");
    qval_release(vm, size);
    qval_release(vm, bad);
    qval_release(vm, s);
}

/* -- foreign memory ------------------------------------------------------------------------------------------------ */
static void foreign(qs_vm *vm) {
    double m[4][6];
    for (int i = 0; i < 24; i++) m[i / 6][i % 6] = i;
    qs_array_info info = {.dtype = QS_F64, .rank = 2, .dims = {3, 2}, .strides = {-6, 3}};
    Array *a, *copy, *b;
    qs_value e;
    released = 0;
    CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)&m[3][1], .release = release}, &a) == QS_OK);
    CHECK(!a->contiguous);
    CHECK(qarr_get(vm, a, 3, &e) == QS_OK && e.u.f == m[2][4]);
    CHECK(qarr_contiguous(vm, a, &copy) == QS_OK && copy->contiguous && copy != a);
    CHECK(qarr_get(vm, copy, 5, &e) == QS_OK && e.u.f == m[1][4]);
    CHECK(qarr_put(vm, a, 5, qs_num(-1)) == QS_OK && m[1][4] == -1);
    CHECK(qarr_view(vm, a, 1, (int64_t[]){2}, (int64_t[]){3}, a->offset, &b) == QS_OK);
    qarr_release(vm, a);
    CHECK(released == 0); /* the view keeps the memory */
    CHECK(qarr_get(vm, b, 1, &e) == QS_OK && e.u.f == m[3][4]);
    qarr_release(vm, b);
    CHECK(released == 1);
    qarr_release(vm, copy);
    info.readonly = true;
    CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)&m[3][1], .release = release}, &a) == QS_OK);
    CHECK_ERROR(vm, qarr_fill(vm, a, qs_num(0)), QS_ELOCK,
                "the array (mat[float64], 3x2) is read-only and cannot be written");
    qarr_release(vm, a);
    info.dims[0] = -1;
    CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)m, .release = release}, &a) == QS_ESHAPE && released == 3);
    qerr_clear(qvm_ctx(vm));
    info.dims[0] = 2, info.strides[0] = INT64_MIN;
    CHECK_ERROR(vm, qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)m, .release = release}, &a), QS_ESHAPE,
                "the strides of a foreign array reach beyond any memory");
    info.dims[0] = 1, released = 3;
    CHECK_ERROR(vm, qarr_wrap(vm, &info, &(Wrapped){0}, &a), QS_EVALUE,
                "a foreign array with elements must have an address");
    CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)m}, &a) == QS_OK && qarr_get(vm, a, 1, &e) == QS_OK &&
          e.u.f == m[0][3]);
    qarr_release(vm, a);
    info.dims[0] = INT64_MAX / 4, info.dims[1] = 1, info.strides[0] = INT64_MAX / 2;
    CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)m, .release = release}, &a) != QS_OK && released == 4);
    qerr_clear(qvm_ctx(vm));
}

/* -- every pair of dtypes ------------------------------------------------------------------------------------------ */
static double expect(qs_dtype to, double x) { /* through dtype.c, element by element */
    char room[16];
    qdtype_put(to, room, x);
    return qdtype_get(to, room);
}

static void conversions(void) {
    static const double x[] = {
        0,      1,          -1,           2.5,          -2.5,         100,           127.9, 128,
        -129,   255,        256,          300,          32768,        65535,         65536, -40000,
        1e6,    2147483647, 2147483648.0, 4294967295.0, 4294967296.0, -2147483649.0, 1e10,  1e18,
        9.3e18, 1.9e19,     -1e19,        1e30,         -1e30,        1e-3,          6e-8,  65504,
        65520,  1e39,       INFINITY,     -INFINITY,    NAN};
    enum { N = COUNT(x) };
    _Alignas(16) char src[2 * N * 16], dst[2 * N * 16];
    for (qs_dtype from = 0; from <= QS_C128; from++)
        for (qs_dtype to = 0; to <= QS_C128; to++)
            for (int spread = 1; spread <= 2; spread++) {
                ptrdiff_t ss = (ptrdiff_t)qdtype_size(from) * spread, ds = (ptrdiff_t)qdtype_size(to) * spread;
                for (int i = 0; i < N; i++) qdtype_put(from, src + i * ss, x[i]);
                qconv_run(from, src, ss, to, dst, ds, N);
                for (int i = 0; i < N; i++) {
                    double in = qdtype_get(from, src + i * ss), got = qdtype_get(to, dst + i * ds),
                           want = expect(to, in);
                    if ((from == QS_I64 || from == QS_U64) && fabs(in) > 0x1p53)
                        continue; /* double is not a reference there */
                    if (to == QS_B1 && isnan(in)) want = 1;
                    bool ok = got == want || (isnan(got) && isnan(want));
                    if (!ok)
                        printf("  %s to %s: %g gives %g, not %g\n", qdtype_info[from].name, qdtype_info[to].name, in,
                               got, want);
                    CHECK(ok);
                }
            }
}

static void halves(void) {
    static uint16_t h[65536], back[65536];
    static float f[65536];
    int wrong = 0;
    for (int i = 0; i < 65536; i++) h[i] = (uint16_t)i;
    qconv_run(QS_F16, h, 2, QS_F32, f, 4, 65536);
    for (int i = 0; i < 65536; i++) {
        float want = qdtype_half_to_float((uint16_t)i);
        wrong += !(f[i] == want || (isnan(f[i]) && isnan(want)));
    }
    CHECK(wrong == 0);
    qconv_run(QS_F32, f, 4, QS_F16, back, 2, 65536);
    for (int i = 0; i < 65536; i++) wrong += back[i] != qdtype_float_to_half(f[i]);
    CHECK(wrong == 0);
    uint32_t bits = 1;
    for (int i = 0; i < 65536; i++, bits = bits * 1664525 + 1013904223) memcpy(&f[i], &bits, 4);
    qconv_run(QS_F32, f, 4, QS_F16, back, 2, 65536);
    for (int i = 0; i < 65536; i++) wrong += back[i] != qdtype_float_to_half(f[i]);
    CHECK(wrong == 0);
    qconv_run(QS_F32, f, 4, QS_BF16, back, 2, 65536);
    for (int i = 0; i < 65536; i++) wrong += back[i] != qdtype_float_to_bf16(f[i]);
    CHECK(wrong == 0);
}

static void wide_integers(qs_vm *vm) {
    Array *i64, *u64;
    qs_value e;
    CHECK(qarr_new(vm, QS_I64, 1, (int64_t[]){2}, true, &i64) == QS_OK);
    CHECK(qarr_put(vm, i64, 0, qs_int(INT64_MAX)) == QS_OK && qarr_put(vm, i64, 1, qs_int(-5)) == QS_OK);
    CHECK(qarr_convert(vm, i64, QS_U64, &u64) == QS_OK);
    CHECK(qarr_get(vm, u64, 0, &e) == QS_OK && e.kind == QS_INT && e.u.i == INT64_MAX);
    CHECK(qarr_get(vm, u64, 1, &e) == QS_OK && e.u.i == 0);
    CHECK(qarr_put(vm, u64, 0, qs_num(1.5e19)) == QS_OK && qarr_get(vm, u64, 0, &e) == QS_OK && e.kind == QS_NUM &&
          e.u.f == 1.5e19);
    qarr_release(vm, i64);
    qarr_release(vm, u64);
}

/* -- elements, assignment ------------------------------------------------------------------------------------------ */
static void elements(qs_vm *vm) {
    qs_value v = make_vec(vm, QS_B1, 2, (double[]){1, 0}), e, z, s = make_string(vm, "x");
    CHECK(qarr_get(vm, qval_array(v), 0, &e) == QS_OK && e.kind == QS_BOOL && e.u.i == 1);
    CHECK(qval_complex(vm, 1, 2, &z) == QS_OK);
    CHECK_ERROR(vm, qarr_put(vm, qval_array(v), 0, z), QS_ETYPE, "an array of bool cannot hold a complex number");
    CHECK_ERROR(vm, qarr_put(vm, qval_array(v), 0, s), QS_ETYPE,
                "an array of bool holds numbers, got a value of type string");
    Array *c;
    CHECK(qarr_from_value(vm, z, QS_C64, &c) == QS_OK && qarr_get(vm, c, 0, &e) == QS_OK &&
          ((Complex *)e.u.p)->im == 2);
    qval_release(vm, e);
    qarr_release(vm, c);
    qval_release(vm, v);
    qval_release(vm, z);
    qval_release(vm, s);
}

static void assignment(qs_vm *vm) {
    Array *m = make_array(vm, QS_F32, 2, (int64_t[]){2, 3}, (double[]){0, 1, 2, 3, 4, 5}), *t, *one;
    qs_value e;
    int64_t dims[] = {3, 2}, strides[] = {1, 3};
    CHECK(qarr_view(vm, m, 2, dims, strides, 0, &t) == QS_OK);
    Array *square = make_array(vm, QS_U8, 2, dims, (double[]){10, 20, 30, 40, 50, 60});
    CHECK(qarr_assign(vm, t, square) == QS_OK && qarr_get(vm, m, 1, &e) == QS_OK && e.u.f == 30);
    CHECK_ERROR(vm, qarr_assign(vm, m, square), QS_ESHAPE, "cannot assign an array of 3x2 to one of 2x3");
    one = make_array(vm, QS_F64, 1, (int64_t[]){1}, (double[]){7});
    CHECK(qarr_assign(vm, t, one) == QS_OK && qarr_get(vm, m, 5, &e) == QS_OK && e.u.f == 7);
    CHECK(qarr_fill(vm, t, qs_num(1.5)) == QS_OK && qarr_get(vm, m, 4, &e) == QS_OK && e.u.f == 1.5);
    qarr_release(vm, t);
    /* A shift within one array: as if the right side had been copied first. */
    Array *x = make_array(vm, QS_F32, 1, (int64_t[]){5}, (double[]){0, 1, 2, 3, 4}), *low, *high;
    CHECK(qarr_view(vm, x, 1, (int64_t[]){4}, (int64_t[]){1}, 0, &low) == QS_OK);
    CHECK(qarr_view(vm, x, 1, (int64_t[]){4}, (int64_t[]){1}, 1, &high) == QS_OK);
    CHECK(qarr_overlap(low, high) && qarr_assign(vm, high, low) == QS_OK);
    for (size_t k = 1; k < 5; k++) CHECK(qarr_get(vm, x, k, &e) == QS_OK && e.u.f == (double)(k - 1));
    Array *all[] = {m, square, one, x, low, high};
    for (size_t i = 0; i < COUNT(all); i++) qarr_release(vm, all[i]);
}

static void reshaping(qs_vm *vm) {
    Array *m = make_array(vm, QS_F32, 2, (int64_t[]){2, 3}, (double[]){0, 1, 2, 3, 4, 5}), *r, *t;
    qs_value e;
    CHECK(qarr_reshape(vm, m, 3, (int64_t[]){3, 2, 1}, &r) == QS_OK && r->rank == 2 && r->buf == m->buf);
    CHECK(qarr_get(vm, r, 3, &e) == QS_OK && e.u.f == 3);
    qarr_release(vm, r);
    CHECK(qarr_view(vm, m, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3}, 0, &t) == QS_OK);
    CHECK(qarr_reshape(vm, t, 1, (int64_t[]){6}, &r) == QS_OK && r->buf != m->buf);
    CHECK(qarr_get(vm, r, 1, &e) == QS_OK && e.u.f == 3);
    CHECK_ERROR(vm, qarr_reshape(vm, m, 1, (int64_t[]){5}, &m), QS_ESHAPE,
                "reshape: an array of 2x3 has 6 elements, 1x5 needs 5");
    qarr_release(vm, r);
    qarr_release(vm, t);
    qarr_release(vm, m);
}

/* Programs see the normal form; the number of dimensions is stored beside it. */
static void kept_dimensions(qs_vm *vm) {
    static const struct {
        int ndim, rank;
        int64_t dims[4], normal[3];
    } rows[] = {{1, 1, {3}, {3}},          {2, 1, {1, 3}, {3}},
                {3, 1, {1, 3, 1}, {3}},    {2, 2, {3, 1}, {3, 1}},
                {3, 2, {4, 5, 1}, {4, 5}}, {3, 3, {1, 1, 3}, {1, 1, 3}},
                {3, 1, {1, 1, 1}, {1}},    {2, 1, {1, 0}, {0}},
                {3, 2, {0, 1, 1}, {0, 1}}, {4, 3, {2, 1, 3, 1}, {2, 1, 3}},
                {0, 1, {0}, {1}},          {1, 1, {1}, {1}}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
        Array *a = make_array(vm, QS_F32, rows[i].ndim, rows[i].dims, NULL), *view;
        CHECK(a->rank == rows[i].rank && !memcmp(a->dims, rows[i].normal, (size_t)a->rank * sizeof *dims));
        CHECK(qarr_shape(a, dims, strides) == rows[i].ndim);
        CHECK(!memcmp(dims, rows[i].dims, (size_t)rows[i].ndim * sizeof *dims));
        CHECK(qarr_has_shape(a, rows[i].ndim, rows[i].dims));
        CHECK(qarr_view(vm, a, rows[i].ndim, dims, strides, 0, &view) == QS_OK && view->contiguous);
        CHECK(view->ndim == a->ndim && qarr_same_shape(a, view) && view->strides[0] == a->strides[0]);
        qarr_release(vm, view);
        qarr_keep(a, 1);
        CHECK(a->ndim == a->rank);
        qarr_keep(a, QS_MAX_RANK);
        CHECK(qarr_shape(a, dims, NULL) == QS_MAX_RANK);
        qarr_keep(a, 0);
        CHECK(a->ndim == (a->count == 1 ? 0 : a->rank));
        qarr_release(vm, a);
    }
}

/* -- ranges and literals ------------------------------------------------------------------------------------------- */
static void check_range(qs_vm *vm, double lo, double step, double hi, size_t count, double last) {
    Array *a;
    qs_value e;
    CHECK(qarr_range(vm, QS_F32, lo, step, hi, &a) == QS_OK);
    CHECK(a->count == count);
    if (a->count && a->count == count)
        CHECK(qarr_get(vm, a, count - 1, &e) == QS_OK && fabs(e.u.f - last) <= 1e-6 * fabs(last));
    qarr_release(vm, a);
}

static void ranges(qs_vm *vm) {
    Array *a;
    check_range(vm, 1, 3, 10, 4, 10);
    check_range(vm, 1, 0.5, 10, 19, 10);
    check_range(vm, 0, 0.1, 1, 11, 1);
    check_range(vm, 0.1, 0.1, 0.9, 9, 0.9);
    check_range(vm, 0, 1.0 / 65535, 1, 65536, 1);
    check_range(vm, 0, 1, -1, 0, 0);
    check_range(vm, 5, -1, 0, 6, 0);
    check_range(vm, 0, 1, 0, 1, 0);
    check_range(vm, 0, 2, 5, 3, 4);
    check_range(vm, -3, 1, 2.5, 6, 2);
    CHECK_ERROR(vm, qarr_range(vm, QS_F32, 0, 0, 1, &a), QS_EVALUE,
                "a range needs finite bounds and a step other than 0, got 0..0..1");
    CHECK(qarr_range(vm, QS_F32, 0, 1, 1e15, &a) == QS_ENOMEM);
    qerr_clear(qvm_ctx(vm));
}

static void literals(qs_vm *vm) {
    qs_value v, m, c, z, e;
    CHECK(qarr_literal(vm, QS_F32, 0, NULL, &v) == QS_OK && qval_array(v)->count == 0 && qval_array(v)->rank == 1);
    qval_release(vm, v);
    CHECK(qarr_literal(vm, QS_F32, 3, (qs_value[]){qs_num(1), qs_int(2), qs_bool(true)}, &v) == QS_OK &&
          qval_array(v)->dtype == QS_F32);
    CHECK(qarr_literal(vm, QS_F32, 2, (qs_value[]){v, v}, &m) == QS_OK && qval_array(m)->rank == 2 &&
          qval_array(m)->dims[1] == 3);
    CHECK(qarr_literal(vm, QS_F32, 2, (qs_value[]){m, m}, &c) == QS_OK && qval_array(c)->rank == 3);
    CHECK(qarr_get(vm, qval_array(c), 10, &e) == QS_OK && e.u.f == 2);
    qval_release(vm, c);
    CHECK(qarr_literal(vm, QS_F32, 1, &v, &c) == QS_OK && qval_array(c)->rank == 1 &&
          c.u.p != v.u.p); /* [0..9] is the same vec */
    CHECK_ERROR(vm, qarr_literal(vm, QS_F32, 2, (qs_value[]){v, m}, &z), QS_ESHAPE,
                "matrix literal: item 1 has shape 1x3, item 2 has 2x3");
    CHECK_ERROR(vm, qarr_literal(vm, QS_F32, 2, (qs_value[]){v, qs_num(1)}, &z), QS_ESHAPE,
                "matrix literal: numbers and arrays or ranges cannot stand in one list; horzcat joins them: "
                "horzcat(1..3, [5])");
    qval_release(vm, c);
    CHECK(qval_complex(vm, 1, 2, &z) == QS_OK);
    CHECK(qarr_literal(vm, QS_F32, 2, (qs_value[]){z, qs_num(1)}, &c) == QS_OK && qval_array(c)->dtype == QS_C64);
    qs_value all[] = {v, m, c, z};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

static void lists(qs_vm *vm) {
    double *x;
    size_t n;
    qs_value v = make_vec(vm, QS_U8, 3, (double[]){1, 2, 3}), c = make_cell(vm, 2, (qs_value[]){qs_num(4), qs_int(5)});
    qs_value bad = make_cell(vm, 1, (qs_value[]){make_string(vm, "x")});
    CHECK(qarr_doubles(vm, v, "x", &x, &n) == QS_OK && n == 3 && x[2] == 3);
    qmem_free(qvm_ctx(vm), x, n * 8);
    CHECK(qarr_doubles(vm, c, "x", &x, &n) == QS_OK && n == 2 && x[1] == 5);
    qmem_free(qvm_ctx(vm), x, n * 8);
    CHECK(qarr_doubles(vm, qs_num(2), "x", &x, &n) == QS_OK && n == 1 && x[0] == 2);
    qmem_free(qvm_ctx(vm), x, n * 8);
    CHECK_ERROR(vm, qarr_doubles(vm, bad, "the sizes", &x, &n), QS_ETYPE,
                "the sizes must be numbers, got a value of type string");
    qs_value all[] = {v, c, bad};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

int main(void) {
    qs_vm *vm = machine_open();
    shapes(vm);
    sizes_refused(vm);
    shape_arguments(vm);
    foreign(vm);
    conversions();
    halves();
    wide_integers(vm);
    elements(vm);
    assignment(vm);
    reshaping(vm);
    kept_dimensions(vm);
    ranges(vm);
    literals(vm);
    lists(vm);
    machine_close(vm);
    return check_done();
}
