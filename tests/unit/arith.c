/* Elementwise arithmetic: every operator, pair of dtypes and many layouts, element by element against plain C. */
#include "vm/array/arith.h"
#include "lang/kernel/elem/elem.h"
#include "lang/syntax/operators.h"
#include "tests/unit/machine.h"
#include "vm/array/contiguous.h"
#include "vm/array/gemm.h"
#include "vm/array/map_elements.h"
#include "vm/base/dtype.h"
#include "vm/base/reduction.h"

#include <math.h>

static const Op arithmetic[] = {OP_ADD, OP_SUB, OP_PWMUL, OP_PWDIV,  OP_PWPOW, OP_EQ,    OP_NE,   OP_LT,
                                OP_LE,  OP_GT,  OP_GE,    OP_ANDAND, OP_OROR,  OP_MAXEQ, OP_MINEQ};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static double plain(Op op, double x, double y) {
    switch (op) {
    case OP_ADD: return x + y;
    case OP_SUB: return x - y;
    case OP_PWMUL:
    case OP_MUL: return x * y;
    case OP_PWDIV:
    case OP_DIV: return x / y;
    case OP_PWPOW: return pow(x, y);
    case OP_EQ: return x == y;
    case OP_NE: return x != y;
    case OP_LT: return x < y;
    case OP_LE: return x <= y;
    case OP_GT: return x > y;
    case OP_GE: return x >= y;
    case OP_ANDAND: return x && y;
    case OP_OROR: return x || y;
    case OP_MAXEQ: return fmax(x, y);
    default: return fmin(x, y);
    }
}

static double tolerance(qs_dtype d) {
    return d == QS_BF16 ? 1e-2 : d == QS_F16 ? 2e-3 : d == QS_F32 || d == QS_C64 ? 1e-6 : 1e-12;
}

static bool near(double got, double want, double tol) {
    if (isnan(want)) return isnan(got);
    return got == want || fabs(got - want) <= tol * fmax(1, fabs(want));
}

static double real_at(qs_vm *vm, qs_value v, size_t k) {
    qs_value e = v;
    if (v.kind == QS_ARRAY && qarr_get(vm, qval_array(v), k, &e)) return NAN;
    if (e.kind != QS_COMPLEX) return qval_number(e);
    double re = ((Complex *)e.u.p)->re;
    if (v.kind == QS_ARRAY) qval_release(vm, e);
    return re;
}

/* -- layouts: the same 2x3 (or 6) elements packed, reversed, transposed, spread out, repeated, off alignment ------- */
enum { LAYOUTS = 6 };

static Array *in_layout(qs_vm *vm, int layout, qs_dtype d, int rank, const int64_t *dims, const double *x,
                        char *memory) {
    int64_t strides[QS_MAX_RANK];
    size_t size = qdtype_size(d), n = 1;
    int64_t step = layout == 3 ? 3 : 1;
    for (int i = rank - 1; i >= 0; i--) strides[i] = step, step *= dims[i];
    if (layout == 2 && rank == 2) strides[0] = 1, strides[1] = dims[0];
    char *first = memory + 64 + (layout == 4 ? 1 : 0); /* not aligned */
    for (int i = 0; i < rank; i++) {
        n *= (size_t)dims[i];
        if (layout == 1) first += (dims[i] - 1) * strides[i] * (int64_t)size, strides[i] = -strides[i];
        if (layout == 5) strides[i] = 0;
    }
    qs_array_info info = {.dtype = d, .rank = rank};
    memcpy(info.dims, dims, sizeof info.dims / 8 * (size_t)rank);
    memcpy(info.strides, strides, sizeof info.strides / 8 * (size_t)rank);
    Array *a = NULL;
    CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)first}, &a) == QS_OK);
    for (size_t k = 0; k < n; k++) CHECK(qarr_put(vm, a, k, as_element(d, x[layout == 5 ? 0 : k])) == QS_OK);
    return a;
}

static void check_pair(qs_vm *vm, Op op, qs_value a, qs_value b, size_t n, size_t na, size_t nb) {
    qs_value r = qs_nil();
    qs_status s = qarith_binary(vm, op, a, b, &r);
    if (s) { /* complex numbers have no order */
        CHECK(s == QS_ETYPE);
        qerr_clear(qvm_ctx(vm));
        return;
    }
    CHECK(qval_array(r)->count == n);
    bool is_bool = (op >= OP_EQ && op <= OP_GE) || op == OP_ANDAND || op == OP_OROR;
    CHECK(!is_bool || qval_array(r)->dtype == QS_B1);
    for (size_t k = 0; k < n; k++) {
        double x = real_at(vm, a, na == 1 ? 0 : k % na), y = real_at(vm, b, nb == 1 ? 0 : k % nb),
               want = plain(op, x, y);
        if (want < 0 && (qval_array(r)->dtype == QS_U32 || qval_array(r)->dtype == QS_U64)) continue; /* wraps around */
        if (!near(real_at(vm, r, k), want, tolerance((qs_dtype)qval_array(r)->dtype)) && isfinite(want)) {
            printf("  %s dtype %d %d: %g %g -> %g not %g\n", qop_text(op),
                   a.kind == QS_ARRAY ? qval_array(a)->dtype : -1, b.kind == QS_ARRAY ? qval_array(b)->dtype : -1, x, y,
                   real_at(vm, r, k), want);
            CHECK(false);
        }
    }
    qval_release(vm, r);
}

static void all_dtypes(qs_vm *vm) {
    static const double x[6] = {1, 2, 3, 4, 7, 0}, y[6] = {3, 2, 1, 0, 5, 2};
    static char ma[512], mb[512];
    int64_t dims[2] = {2, 3};
    for (qs_dtype da = 0; da <= QS_C128; da++)
        for (qs_dtype db = 0; db <= QS_C128; db++)
            for (int la = 0; la < LAYOUTS; la++)
                for (int lb = 0; lb < LAYOUTS; lb += 1 + (la != 0)) {
                    qs_value a = qarr_value(in_layout(vm, la, da, 2, dims, x, ma));
                    qs_value b = qarr_value(in_layout(vm, lb, db, 2, dims, y, mb));
                    for (size_t i = 0; i < COUNT(arithmetic); i++) check_pair(vm, arithmetic[i], a, b, 6, 6, 6);
                    qval_release(vm, a);
                    qval_release(vm, b);
                }
}

static void with_numbers(qs_vm *vm) {
    static const double x[6] = {1, 2, 3, 4, 7, 0};
    static char memory[512];
    int64_t dims[2] = {2, 3};
    qs_value numbers[] = {qs_num(2), qs_int(3), qs_bool(true), qs_num(0.5)};
    for (qs_dtype d = 0; d <= QS_C128; d++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            qs_value a = qarr_value(in_layout(vm, layout, d, 2, dims, x, memory));
            for (size_t k = 0; k < COUNT(numbers); k++)
                for (size_t i = 0; i < COUNT(arithmetic); i++) {
                    check_pair(vm, arithmetic[i], a, numbers[k], 6, 6, 1);
                    check_pair(vm, arithmetic[i], numbers[k], a, 6, 1, 6);
                }
            qval_release(vm, a);
        }
}

/* Long runs, so that contiguous loops, slices and their remainders are all tested. */
static void long_runs(qs_vm *vm) {
    enum { N = 1337 };
    static double x[N], y[N];
    for (int i = 0; i < N; i++) x[i] = (i * 37) % 101, y[i] = (i * 53) % 97 + 1;
    static const qs_dtype pairs[][2] = {{QS_F32, QS_F32}, {QS_F64, QS_F64}, {QS_F32, QS_U8},
                                        {QS_I32, QS_I32}, {QS_U8, QS_U8},   {QS_F16, QS_F16},
                                        {QS_I64, QS_F64}, {QS_C64, QS_F32}, {QS_B1, QS_F32}};
    for (size_t p = 0; p < COUNT(pairs); p++) {
        qs_value a = make_vec(vm, pairs[p][0], N, x), b = make_vec(vm, pairs[p][1], N, y);
        for (size_t i = 0; i < COUNT(arithmetic); i++)
            if (arithmetic[i] != OP_PWPOW) check_pair(vm, arithmetic[i], a, b, N, N, N);
        qval_release(vm, a);
        qval_release(vm, b);
    }
}

/* -- broadcasting -------------------------------------------------------------------------------------------------- */
static qs_value counted(qs_vm *vm, int rank, const int64_t *dims, double from) {
    Array *a = make_array(vm, QS_F32, rank, dims, NULL);
    for (size_t k = 0; k < a->count; k++) CHECK(qarr_put(vm, a, k, qs_num(from + (double)k)) == QS_OK);
    return qarr_value(a);
}

static void broadcasting(qs_vm *vm) {
    qs_value mat = counted(vm, 2, (int64_t[]){2, 3}, 0), row = counted(vm, 1, (int64_t[]){3}, 10), r;
    qs_value column = counted(vm, 2, (int64_t[]){2, 1}, 100), cube = counted(vm, 3, (int64_t[]){2, 3, 2}, 0);
    CHECK(qarith_binary(vm, OP_ADD, mat, row, &r) == QS_OK && real_at(vm, r, 5) == 5 + 12);
    qval_release(vm, r);
    CHECK(qarith_binary(vm, OP_ADD, column, row, &r) == QS_OK && qval_array(r)->count == 6 &&
          real_at(vm, r, 4) == 101 + 11);
    qval_release(vm, r);
    CHECK(qarith_binary(vm, OP_PWMUL, cube, mat, &r) == QS_OK && qval_array(r)->rank == 3 &&
          real_at(vm, r, 11) == 11 * 5);
    qval_release(vm, r);
    qs_value other = counted(vm, 2, (int64_t[]){3, 2}, 0), narrow = counted(vm, 2, (int64_t[]){2, 2}, 0);
    CHECK_ERROR(vm, qarith_binary(vm, OP_ADD, mat, other, &r), QS_ESHAPE, "+: shapes 2x3 and 3x2 do not match");
    CHECK_ERROR(vm, qarith_binary(vm, OP_PWMUL, cube, narrow, &r), QS_ESHAPE, ".*: shapes 2x3x2 and 2x2 do not match");
    CHECK_ERROR(vm, qarith_binary(vm, OP_DIV, mat, row, &r), QS_ESHAPE,
                "/: shapes 2x3 and 1x3 do not match; ./ stretches extents of 1, and solve(A, B) divides by a matrix");
    CHECK_ERROR(vm, qarith_binary(vm, OP_POW, mat, qs_num(2), &r), QS_ETYPE,
                "^: defined between numbers only; write .^ for the power of each element");
    CHECK_ERROR(vm, qarith_update(vm, OP_ADD, row, mat), QS_ESHAPE, "+=: shapes 1x3 and 2x3 do not match");
    CHECK(qarith_update(vm, OP_ADD, mat, row) == QS_OK && real_at(vm, mat, 3) == 13);
    qs_value empty = counted(vm, 2, (int64_t[]){0, 3}, 0);
    CHECK(qarith_binary(vm, OP_ADD, empty, row, &r) == QS_OK && qval_array(r)->count == 0 &&
          qval_array(r)->dims[1] == 3);
    qval_release(vm, r);
    qs_value all[] = {mat, row, column, cube, other, narrow, empty};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

/* A rank-0 array from outside, and eight dimensions. */
static void ranks(qs_vm *vm) {
    float one = 5;
    qs_array_info info = {.dtype = QS_F32};
    Array *zero;
    qs_value r;
    CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)&one}, &zero) == QS_OK);
    CHECK(zero->count == 1 && zero->ndim == 0);
    CHECK(qarith_binary(vm, OP_ADD, qarr_value(zero), qs_num(1), &r) == QS_OK && qval_array(r)->ndim == 0 &&
          real_at(vm, r, 0) == 6);
    qval_release(vm, r);
    qs_value a = counted(vm, 8, (int64_t[]){2, 1, 2, 1, 2, 1, 2, 3}, 0),
             b = counted(vm, 8, (int64_t[]){1, 2, 1, 2, 1, 2, 1, 3}, 0);
    CHECK(qarith_binary(vm, OP_ADD, a, b, &r) == QS_OK && qval_array(r)->count == 384 &&
          real_at(vm, r, 383) == 47 + 23);
    CHECK(real_at(vm, r, 0) == 0 && real_at(vm, r, 3) == 3); /* [0,…,0,1,0]: a moves on, b does not */
    qval_release(vm, r);
    CHECK(qarith_binary(vm, OP_ADD, qarr_value(zero), a, &r) == QS_OK && real_at(vm, r, 47) == 52);
    qval_release(vm, r);
    qval_release(vm, a);
    qval_release(vm, b);
    qarr_release(vm, zero);
}

/* -- result types and values at the edges -------------------------------------------------------------------------- */
static void check_dtype(qs_vm *vm, Op op, qs_dtype a, qs_value b, qs_dtype want) {
    double x[2] = {1, 2};
    qs_value v = make_vec(vm, a, 2, x), r = qs_nil();
    CHECK(qarith_binary(vm, op, v, b, &r) == QS_OK);
    if (r.kind == QS_ARRAY && qval_array(r)->dtype != want)
        printf("  %s on dtype %d gives %d, not %d\n", qop_text(op), a, qval_array(r)->dtype, want);
    CHECK(r.kind == QS_ARRAY && qval_array(r)->dtype == want);
    qval_release(vm, v);
    qval_release(vm, r);
}

static void result_types(qs_vm *vm) {
    double x[2] = {1, 2};
    qs_value u8 = make_vec(vm, QS_U8, 2, x), i32 = make_vec(vm, QS_I32, 2, x), f16 = make_vec(vm, QS_F16, 2, x), z;
    CHECK(qval_complex(vm, 0, 1, &z) == QS_OK);
    check_dtype(vm, OP_ADD, QS_F32, qs_num(2.5), QS_F32);
    check_dtype(vm, OP_ADD, QS_F64, qs_num(2.5), QS_F64);
    check_dtype(vm, OP_ADD, QS_U8, qs_num(2), QS_F32);
    check_dtype(vm, OP_ADD, QS_U8, qs_int(2), QS_I32);
    check_dtype(vm, OP_ADD, QS_I32, qs_num(2), QS_F64);
    check_dtype(vm, OP_ADD, QS_F16, qs_num(2), QS_F16);
    check_dtype(vm, OP_ADD, QS_F16, f16, QS_F16);
    check_dtype(vm, OP_ADD, QS_U8, u8, QS_I32);
    check_dtype(vm, OP_MAXEQ, QS_U8, u8, QS_U8);
    check_dtype(vm, OP_BITAND, QS_U8, u8, QS_U8);
    check_dtype(vm, OP_BITAND, QS_U8, qs_num(3), QS_U8);
    check_dtype(vm, OP_PWDIV, QS_U8, u8, QS_F32);
    check_dtype(vm, OP_DIV, QS_U8, qs_int(2), QS_F32);
    check_dtype(vm, OP_DIV, QS_I32, i32, QS_F64);
    check_dtype(vm, OP_ADD, QS_F32, z, QS_C64);
    check_dtype(vm, OP_ADD, QS_F64, z, QS_C128);
    check_dtype(vm, OP_LT, QS_U8, qs_num(2), QS_B1);
    check_dtype(vm, OP_SUB, QS_B1, qs_num(1), QS_F32);
    qs_value all[] = {u8, i32, f16, z};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

static void edges(qs_vm *vm) {
    qs_value r, u32 = make_vec(vm, QS_U32, 1, (double[]){5}), i32 = make_vec(vm, QS_I32, 1, (double[]){5});
    CHECK_ERROR(vm, qarith_binary(vm, OP_ADD, i32, qs_int((int64_t)1 << 40), &r), QS_EVALUE,
                "+: the integer 1099511627776 does not fit an array of int");
    for (qs_dtype d = QS_U32; d <= QS_U64; d += QS_U64 - QS_U32) {
        qs_value u = make_vec(vm, d, 1, (double[]){5});
        CHECK(qarith_binary(vm, OP_GT, u, qs_int(-1), &r) == QS_OK && real_at(vm, r, 0) == 1);
        qval_release(vm, r);
        CHECK(qarith_binary(vm, OP_ADD, u, qs_int(-1), &r) == QS_EVALUE);
        CHECK_TEXT(qvm_ctx(vm)->err.text, d == QS_U32 ? "+: the integer -1 does not fit an array of uint32"
                                                      : "+: the integer -1 does not fit an array of uint64");
        qerr_clear(qvm_ctx(vm));
        qval_release(vm, u);
    }
    CHECK(qarith_unary(vm, OP_NEG, u32, &r) == QS_OK && real_at(vm, r, 0) == 4294967291);
    qval_release(vm, r);
    qs_value zero = make_vec(vm, QS_F32, 2, (double[]){0, NAN});
    CHECK(qarith_unary(vm, OP_NEG, zero, &r) == QS_OK && signbit(real_at(vm, r, 0)));
    qval_release(vm, r);
    CHECK(qarith_unary(vm, OP_NOT, zero, &r) == QS_OK && real_at(vm, r, 0) == 1 && real_at(vm, r, 1) == 0);
    qval_release(vm, r);
    CHECK(qarith_binary(vm, OP_MAXEQ, zero, qs_num(-1), &r) == QS_OK && real_at(vm, r, 1) == -1); /* NaN loses */
    qval_release(vm, r);
    CHECK(qarith_binary(vm, OP_DIV, qs_num(1), zero, &r) == QS_OK && isinf(real_at(vm, r, 0)));
    qval_release(vm, r);
    qval_release(vm, zero);
    qs_value u8 = make_vec(vm, QS_U8, 2, (double[]){200, 3});
    CHECK(qarith_update(vm, OP_ADD, u8, qs_num(100)) == QS_OK && real_at(vm, u8, 0) == 255 &&
          real_at(vm, u8, 1) == 103);
    CHECK(qarith_update(vm, OP_SUB, u8, qs_num(150.5)) == QS_OK && real_at(vm, u8, 0) == 104 &&
          real_at(vm, u8, 1) == 0);
    qs_value z;
    CHECK(qval_complex(vm, 0, 1, &z) == QS_OK);
    CHECK_ERROR(vm, qarith_update(vm, OP_PWMUL, u8, z), QS_ETYPE, ".*=: an array of uint8 cannot hold complex numbers");
    CHECK_ERROR(vm, qarith_binary(vm, OP_LT, z, qs_num(1), &r), QS_ETYPE, "<: not defined between cscalar and scalar");
    CHECK_ERROR(vm, qarith_binary(vm, OP_BITAND, u8, qs_num(0.5), &r), QS_ETYPE,
                "and: an integer of 64 bits is needed, got 0.5");
    qs_value all[] = {u8, u32, i32, z};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

/* -- numbers, strings, identity ------------------------------------------------------------------------------------ */
static qs_value binary(qs_vm *vm, Op op, qs_value a, qs_value b) {
    qs_value r = qs_nil();
    CHECK(qarith_binary(vm, op, a, b, &r) == QS_OK);
    return r;
}

static void numbers(qs_vm *vm) {
    qs_value r = binary(vm, OP_ADD, qs_int(2), qs_int(3));
    CHECK(r.kind == QS_INT && r.u.i == 5);
    r = binary(vm, OP_DIV, qs_int(6), qs_int(3));
    CHECK(r.kind == QS_NUM && r.u.f == 2);
    r = binary(vm, OP_ADD, qs_int(2), qs_num(0.5));
    CHECK(r.kind == QS_NUM && r.u.f == 2.5);
    r = binary(vm, OP_ADD, qs_bool(true), qs_bool(true));
    CHECK(r.kind == QS_NUM && r.u.f == 2);
    r = binary(vm, OP_LT, qs_num(1), qs_int(2));
    CHECK(r.kind == QS_BOOL && r.u.i == 1);
    r = binary(vm, OP_POW, qs_num(3), qs_num(5));
    CHECK(r.u.f == 243);
    r = binary(vm, OP_POW, qs_num(2), qs_num(-2));
    CHECK(r.u.f == 0.25);
    r = binary(vm, OP_POW, qs_int(3), qs_int(4));
    CHECK(r.kind == QS_INT && r.u.i == 81);
    r = binary(vm, OP_BITXOR, qs_num(6), qs_num(3));
    CHECK(r.kind == QS_INT && r.u.i == 5);
    CHECK_ERROR(vm, qarith_binary(vm, OP_ADD, qs_int(INT64_MAX), qs_int(1), &r), QS_EVALUE, "integer overflow");
    CHECK_ERROR(vm, qarith_binary(vm, OP_POW, qs_int(10), qs_int(19), &r), QS_EVALUE, "integer overflow");
    r = binary(vm, OP_POW, qs_int(-2), qs_int(63));
    CHECK(r.kind == QS_INT && r.u.i == INT64_MIN);
    CHECK_ERROR(vm, qarith_unary(vm, OP_NEG, qs_int(INT64_MIN), &r), QS_EVALUE, "integer overflow");
}

static void complex_numbers(qs_vm *vm) {
    qs_value a = qs_nil(), b = qs_nil(), r;
    CHECK(qval_complex(vm, 1, 2, &a) == QS_OK && qval_complex(vm, 3, -1, &b) == QS_OK);
    r = binary(vm, OP_MUL, a, b);
    CHECK(((Complex *)r.u.p)->re == 5 && ((Complex *)r.u.p)->im == 5);
    qval_release(vm, r);
    r = binary(vm, OP_DIV, a, b);
    CHECK(near(((Complex *)r.u.p)->re, 0.1, 1e-15) && near(((Complex *)r.u.p)->im, 0.7, 1e-15));
    qval_release(vm, r);
    r = binary(vm, OP_POW, a, qs_num(2));
    CHECK(((Complex *)r.u.p)->re == -3 && ((Complex *)r.u.p)->im == 4);
    qval_release(vm, r);
    r = binary(vm, OP_POW, a, b); /* exp((3-i) log(1+2i)) */
    CHECK(near(((Complex *)r.u.p)->re, -27.43638199160605, 1e-14) &&
          near(((Complex *)r.u.p)->im, 19.789310365010714, 1e-14));
    qval_release(vm, r);
    r = binary(vm, OP_EQ, a, a);
    CHECK(r.kind == QS_BOOL && r.u.i);
    qval_release(vm, a);
    qval_release(vm, b);
}

static void others(qs_vm *vm) {
    qs_value a = make_string(vm, "ab"), b = make_string(vm, "cd"), r = binary(vm, OP_ADD, a, b),
             v = make_vec(vm, QS_F32, 1, NULL);
    CHECK_TEXT(((Str *)r.u.p)->s, "abcd");
    qval_release(vm, r);
    r = binary(vm, OP_ADD, a, qs_num(2.5));
    CHECK_TEXT(((Str *)r.u.p)->s, "ab2.5");
    qval_release(vm, r);
    CHECK(binary(vm, OP_EQ, a, a).u.i == 1 && binary(vm, OP_NE, a, b).u.i == 1 && binary(vm, OP_LT, a, b).u.i == 1);
    CHECK(binary(vm, OP_EQ, qs_nil(), qs_nil()).u.i == 1 && binary(vm, OP_EQ, v, qs_nil()).u.i == 0);
    CHECK(binary(vm, OP_NE, a, qs_num(1)).u.i == 1);
    qs_value c = make_cell(vm, 1, (qs_value[]){qs_num(1)}), d = make_cell(vm, 1, (qs_value[]){qs_num(1)});
    CHECK(binary(vm, OP_EQ, c, d).u.i == 1);
    CHECK_ERROR(vm, qarith_binary(vm, OP_SUB, a, b, &r), QS_ETYPE, "-: not defined between string and string");
    CHECK_ERROR(vm, qarith_binary(vm, OP_ADD, c, qs_num(1), &r), QS_ETYPE,
                "+: not defined between vec[??] and scalar; append(a, b) adds an item to a cell");
    qs_value all[] = {a, b, c, d, v};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

/* -- storage ------------------------------------------------------------------------------------------------------- */
static void reuse(qs_vm *vm) {
    qs_value a = counted(vm, 1, (int64_t[]){4}, 0), b = counted(vm, 1, (int64_t[]){4}, 10), r;
    void *was = a.u.p;
    CHECK(qarith_binary_reuse(vm, OP_ADD, a, b, ARITH_OWNS_A, &r) == QS_OK && r.u.p == was && real_at(vm, r, 3) == 16);
    CHECK(qarith_binary_reuse(vm, OP_SUB, b, qval_retain(r), ARITH_OWNS_B, &a) == QS_OK &&
          a.u.p != was); /* r still refers to it */
    qval_release(vm, a);
    CHECK(qarith_binary_reuse(vm, OP_SUB, b, r, ARITH_OWNS_B, &a) == QS_OK && a.u.p == was && real_at(vm, a, 0) == 0);
    CHECK(qarith_binary_reuse(vm, OP_LT, a, b, ARITH_OWNS_A, &r) == QS_OK && qval_array(r)->dtype == QS_B1);
    qval_release(vm, r);
    a = make_string(vm, "x");
    CHECK(qarith_binary_reuse(vm, OP_SUB, a, b, ARITH_OWNS_A, &r) == QS_ETYPE); /* consumed all the same */
    qerr_clear(qvm_ctx(vm));
    qval_release(vm, b);
}

/* x op= a view of x: the right side has its value from before the assignment. */
static void overlap(qs_vm *vm) {
    qs_value a = counted(vm, 1, (int64_t[]){6}, 0);
    Array *part, *shifted;
    CHECK(qarr_view(vm, qval_array(a), 1, (int64_t[]){5}, (int64_t[]){1}, 0, &part) == QS_OK);
    CHECK(qarr_view(vm, qval_array(a), 1, (int64_t[]){5}, (int64_t[]){1}, 1, &shifted) == QS_OK);
    CHECK(qarith_update(vm, OP_ADD, qarr_value(shifted), qarr_value(part)) == QS_OK);
    for (size_t k = 1; k < 6; k++) CHECK(real_at(vm, a, k) == (double)(2 * k - 1));
    CHECK(qarith_update(vm, OP_PWMUL, a, a) == QS_OK && real_at(vm, a, 5) == 81);
    qarr_release(vm, part);
    qarr_release(vm, shifted);
    qval_release(vm, a);
}

/* -- functions ----------------------------------------------------------------------------------------------------- */
static qs_status each(qs_vm *vm, Elem e, qs_value x, qs_value *out) { return qmapelem_apply(vm, e, &x, out); }

static void maps(qs_vm *vm) {
    qs_value r, v = make_vec(vm, QS_U8, 3, (double[]){4, 9, 25}), big = make_vec(vm, QS_I64, 1, NULL);
    CHECK(each(vm, EL_sqrt, v, &r) == QS_OK && qval_array(r)->dtype == QS_F32 && real_at(vm, r, 2) == 5);
    qval_release(vm, r);
    CHECK(qarr_put(vm, qval_array(big), 0, qs_int(-9007199254740993)) == QS_OK);
    CHECK(each(vm, EL_abs, big, &r) == QS_OK && qval_array(r)->dtype == QS_I64);
    qs_value e;
    CHECK(qarr_get(vm, qval_array(r), 0, &e) == QS_OK && e.u.i == 9007199254740993);
    qval_release(vm, r);
    CHECK(each(vm, EL_abs, qs_int(-3), &r) == QS_OK && r.kind == QS_INT && r.u.i == 3);
    CHECK(each(vm, EL_sqrt, qs_int(4), &r) == QS_OK && r.kind == QS_NUM && r.u.f == 2);
    qs_value z, zs = make_vec(vm, QS_C64, 2, (double[]){1, 2});
    CHECK(qval_complex(vm, 1, 2, &z) == QS_OK && each(vm, EL_conj, z, &r) == QS_OK && ((Complex *)r.u.p)->im == -2);
    qval_release(vm, r);
    CHECK(each(vm, EL_conj, zs, &r) == QS_OK && qval_array(r)->dtype == QS_C64 && real_at(vm, r, 1) == 2);
    qval_release(vm, r);
    CHECK_ERROR(vm, each(vm, EL_erf, z, &r), QS_ETYPE, "erf: not defined for complex numbers");
    CHECK(qapply_two(vm, "atan2", atan2, v, qs_num(1), &r) == QS_OK && near(real_at(vm, r, 0), atan2(4, 1), 1e-6));
    qval_release(vm, r);
    qs_value all[] = {v, big, z, zs};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

/* Small integral powers are chains of multiplications: exact if the product is. */
static void powers(qs_vm *vm) {
    enum { N = 100 };
    double x[N];
    for (int i = 0; i < N; i++) x[i] = i - 50;
    for (int n = -6; n <= 8; n++) {
        qs_value v = make_vec(vm, QS_F64, N, x), r = binary(vm, OP_PWPOW, v, qs_num(n));
        for (int i = 0; i < N; i++) {
            double want = 1;
            for (int k = 0; k < abs(n); k++) want *= x[i];
            if (n < 0) want = 1 / want;
            CHECK(real_at(vm, r, (size_t)i) == want || (isinf(want) && isinf(real_at(vm, r, (size_t)i))));
        }
        qval_release(vm, v);
        qval_release(vm, r);
    }
}

/* -- matrix products ----------------------------------------------------------------------------------------------- */
static void products(qs_vm *vm) {
    static const int sizes[][3] = {{1, 1, 1},   {3, 4, 5},    {4, 16, 8},   {17, 33, 9},    {1, 20, 7},
                                   {20, 1, 30}, {5, 37, 300}, {64, 64, 64}, {200, 200, 200}};
    static const qs_dtype dtypes[] = {QS_F32, QS_F64, QS_C64, QS_C128, QS_I32, QS_U8, QS_F16};
    for (size_t t = 0; t < COUNT(dtypes); t++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
            if (dtypes[t] == QS_F16 && k > 20) continue;
            Array *a = make_array(vm, dtypes[t], 2, (int64_t[]){m, k}, NULL),
                  *b = make_array(vm, dtypes[t], 2, (int64_t[]){k, n}, NULL);
            for (size_t e = 0; e < a->count; e++) CHECK(qarr_put(vm, a, e, qs_num((double)(e * 7 % 5))) == QS_OK);
            for (size_t e = 0; e < b->count; e++) CHECK(qarr_put(vm, b, e, qs_num((double)(e * 11 % 3))) == QS_OK);
            qs_value r = qs_nil();
            CHECK(qarith_matmul(vm, a, b, &r) == QS_OK);
            bool ok = qval_array(r)->count == (size_t)(m * n);
            for (int64_t y = 0; y < m; y++)
                for (int64_t x = 0; x < n; x++) {
                    double want = 0;
                    for (int64_t p = 0; p < k; p++)
                        want += (double)((size_t)(y * k + p) * 7 % 5) * (double)((size_t)(p * n + x) * 11 % 3);
                    ok = ok && real_at(vm, r, (size_t)(y * n + x)) == want;
                }
            CHECK(ok);
            qval_release(vm, r);
            qarr_release(vm, a);
            qarr_release(vm, b);
        }
}

/* A product large enough for BLAS, when there is one, against our own loops. */
static void large_products(qs_vm *vm) {
    enum { N = 340 };
    static const qs_dtype dtypes[] = {QS_F32, QS_F64, QS_C64, QS_C128};
    for (size_t t = 0; t < COUNT(dtypes); t++) {
        Array *a = make_array(vm, dtypes[t], 2, (int64_t[]){N, N}, NULL),
              *own = make_array(vm, dtypes[t], 2, a->dims, NULL);
        for (size_t e = 0; e < a->count; e++) CHECK(qarr_put(vm, a, e, qs_num((double)(e * 7 % 13))) == QS_OK);
        const void *x;
        void *y = NULL;
        qs_value r = qs_nil(), differs = qs_nil(), any = qs_nil();
        CHECK(qarr_read(vm, a, &x) == QS_OK && qarr_write(vm, own, &y) == QS_OK);
        qgemm_own(&(Gemm){.d = dtypes[t], .size = {N, N, N}, .a = x, .b = x, .c = y});
        CHECK(qarith_matmul(vm, a, a, &r) == QS_OK); /* sums of small integers: exact in any order */
        CHECK(qarith_binary(vm, OP_NE, r, qarr_value(own), &differs) == QS_OK);
        CHECK(qred_run(vm, RED_any, differs, DIM_ALL, &any) == QS_OK && !any.u.i);
        qs_value all[] = {qarr_value(a), qarr_value(own), r, differs};
        for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
    }
    printf("BLAS: %s\n", qvm(vm)->blas.gemm[0] ? "found" : "not found, own loops only");
}

/* A product of small integers, which are exact in any order, against our own loops. */
static bool as_own(qs_vm *vm, qs_dtype d, int64_t m, int64_t n, int64_t k) {
    Array *a = make_array(vm, d, 2, (int64_t[]){m, k}, NULL), *b = make_array(vm, d, 2, (int64_t[]){k, n}, NULL),
          *y = make_array(vm, d, 2, (int64_t[]){m, n}, NULL), *own = make_array(vm, d, 2, y->dims, NULL);
    for (size_t e = 0; e < a->count; e++) CHECK(qarr_put(vm, a, e, qs_num((double)(e * 7 % 13))) == QS_OK);
    for (size_t e = 0; e < b->count; e++) CHECK(qarr_put(vm, b, e, qs_num((double)(e * 5 % 17))) == QS_OK);
    const void *pa, *pb;
    void *py, *pown;
    CHECK(qarr_read(vm, a, &pa) == QS_OK && qarr_read(vm, b, &pb) == QS_OK);
    CHECK(qarr_write(vm, y, &py) == QS_OK && qarr_write(vm, own, &pown) == QS_OK);
    qgemm_own(&(Gemm){.d = d, .size = {m, n, k}, .a = pa, .b = pb, .c = pown});
    qgemm_run(vm, &(Gemm){.d = d, .size = {m, n, k}, .a = pa, .b = pb, .c = py});
    bool same = !memcmp(py, pown, y->count * qdtype_size(d));
    Array *all[] = {a, b, y, own};
    for (size_t i = 0; i < COUNT(all); i++) qarr_release(vm, all[i]);
    return same;
}

/* Bands of rows that threads share, and parts that they pass to a library. */
static void products_by_threads(void) {
    static const qs_dtype dtypes[] = {QS_I64, QS_F32, QS_F64, QS_C128};
    static const int64_t sizes[][3] = {
        {600, 340, 320}, {1801, 97, 211}, {97, 1801, 211}, {9, 410, 4100}, {410, 9, 4100}};
    for (int threads = 1; threads <= 5; threads += 2) {
        qs_vm *vm = machine_open();
        qvm_ctx(vm)->nthreads = threads;
        for (size_t t = 0; t < COUNT(dtypes); t++) CHECK(as_own(vm, dtypes[t], 197, 131, 150));
        for (int64_t n = 2; threads == 1 && n < 70; n++) /* every number of rows and columns that tiles leave over */
            for (size_t t = 1; t < 3; t++) CHECK(as_own(vm, dtypes[t], 2 + n * 5 % 27, n, n % 8 ? 33 : 300));
        CHECK(!qvm(vm)->blas.tried);
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (size_t t = 0; t < (i ? 2 : COUNT(dtypes)); t++)
                CHECK(as_own(vm, dtypes[t], sizes[i][0], sizes[i][1], sizes[i][2]));
        machine_close(vm);
    }
}

static void threads_of_blas(void) {
    qs_vm *vm = machine_open();
    qvm_ctx(vm)->nthreads = 1;
    large_products(vm); /* opens it */
    if (qvm(vm)->blas.threads) {
        int had = qvm(vm)->blas.threads(), other = had == 2 ? 3 : 2;
        qvm(vm)->blas.set_threads(other);
        large_products(vm);
        CHECK(qvm(vm)->blas.threads() == other); /* another user's library keeps its number of threads */
        qvm(vm)->blas.set_threads(had);
    }
    machine_close(vm);
}

static void product_shapes(qs_vm *vm) {
    qs_value row = counted(vm, 1, (int64_t[]){3}, 1), mat = counted(vm, 2, (int64_t[]){3, 2}, 0), r;
    qs_value empty = counted(vm, 2, (int64_t[]){2, 0}, 0), flat = counted(vm, 2, (int64_t[]){0, 3}, 0);
    r = binary(vm, OP_MUL, row, mat);
    CHECK(qval_array(r)->rank == 1 && real_at(vm, r, 0) == 0 + 4 + 12 && real_at(vm, r, 1) == 1 + 6 + 15);
    qval_release(vm, r);
    r = binary(vm, OP_MUL, empty, flat);
    CHECK(qval_array(r)->count == 6 && real_at(vm, r, 5) == 0);
    qval_release(vm, r);
    CHECK_ERROR(
        vm, qarith_binary(vm, OP_MUL, row, row, &r), QS_ESHAPE,
        "*: shapes 1x3 and 1x3 do not match as a matrix product; for the product of elements write .*, for the inner "
        "product of vectors dotprod");
    CHECK_ERROR(vm, qarith_binary(vm, OP_MUL, mat, row, &r), QS_ESHAPE,
                "*: shapes 3x2 and 1x3 do not match as a matrix product");
    qs_value all[] = {row, mat, empty, flat};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

int main(void) {
    qs_vm *vm = machine_open();
    all_dtypes(vm);
    with_numbers(vm);
    long_runs(vm);
    broadcasting(vm);
    ranks(vm);
    result_types(vm);
    edges(vm);
    numbers(vm);
    complex_numbers(vm);
    others(vm);
    reuse(vm);
    overlap(vm);
    maps(vm);
    powers(vm);
    products(vm);
    large_products(vm);
    product_shapes(vm);
    products_by_threads();
    threads_of_blas();
    machine_close(vm);
    return check_done();
}
