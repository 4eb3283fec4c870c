/* Reductions over everything and along each dimension, of every dtype and layout, against plain loops. */
#include "devices/buffer.h"
#include "tests/unit/machine.h"
#include "vm/base/dtype.h"
#include "vm/base/reduction.h"

#include <math.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
enum { FIRST_REDUCE = RED_sum, LAST_REDUCE = RED_logsumexp };

static uint32_t seed = 7;
static int below(int n) {
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)n);
}

static double combine(Reduce r, double acc, double x, bool first) {
    switch (r) {
    case RED_sum:
    case RED_mean: return first ? x : acc + x;
    case RED_prod: return first ? x : acc * x;
    case RED_min: return first ? x : fmin(acc, x);
    case RED_max: return first ? x : fmax(acc, x);
    case RED_any: return (!first && acc) || x != 0;
    case RED_all: return (first || acc) && x != 0;
    case RED_norm1: return (first ? 0 : acc) + fabs(x);
    case RED_logsumexp: return (first ? 0 : acc) + exp(x);
    default: return (first ? 0 : acc) + x * x;
    }
}

static double number_at(qs_vm *vm, qs_value v, size_t k) {
    qs_value e = v;
    if (v.kind == QS_ARRAY) CHECK(qarr_get(vm, qval_array(v), k, &e) == QS_OK);
    if (e.kind != QS_COMPLEX) return qval_number(e);
    double re = ((Complex *)e.u.p)->re;
    if (v.kind == QS_ARRAY) qval_release(vm, e);
    return re;
}

static char memory[1 << 20];

static qs_value random_array(qs_vm *vm, qs_dtype d, int rank, const int64_t *dims) {
    qs_array_info info = {.dtype = d, .rank = rank};
    int layout = below(3);
    int64_t step = layout == 2 ? 2 : 1;
    for (int i = rank - 1; i >= 0; i--)
        info.dims[i] = dims[i], info.strides[i] = layout == 1 ? -step : step, step *= dims[i];
    Array *a = NULL;
    if (layout == 0) CHECK(qarr_new(vm, d, rank, dims, false, &a) == QS_OK);
    else CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)(memory + sizeof memory / 2)}, &a) == QS_OK);
    for (size_t k = 0; k < a->count; k++) CHECK(qarr_put(vm, a, k, as_element(d, below(5) ? below(3) : 1)) == QS_OK);
    return qarr_value(a);
}

static bool near(double got, double want, qs_dtype d) {
    double tol = d == QS_BF16 ? 1e-2 : d == QS_F16 ? 1e-3 : d == QS_F32 || d == QS_C64 ? 1e-6 : 1e-13;
    return got == want || fabs(got - want) <= tol * fabs(want) || (isinf(got) && fabs(want) > 60000);
}

static void check_reduce(qs_vm *vm, Reduce r, qs_value a, int rank, const int64_t *dims, int dim) {
    qs_value out = qs_nil();
    qs_status s = qred_run(vm, r, a, dim, &out);
    qs_dtype d = (qs_dtype)qval_array(a)->dtype;
    if (qdtype_is_complex(d) && (r == RED_min || r == RED_max || r == RED_logsumexp)) {
        CHECK_ERROR(vm, s, QS_ETYPE,
                    r == RED_min   ? "min: complex numbers have no order"
                    : r == RED_max ? "max: complex numbers have no order"
                                   : "logsumexp: complex numbers have no order");
        return;
    }
    if (s == QS_EVALUE && r == RED_prod) {
        qerr_clear(qvm_ctx(vm));
        return;
    } /* integers that overflow */
    CHECK(s == QS_OK);
    int64_t outer = 1, n = 1, inner = 1, at = rank == 1 ? 1 : 0; /* a vec is 1xN */
    if (dim == DIM_ALL) n = (int64_t)qval_array(a)->count;
    else
        for (int i = 0; i < rank; i++, at++) *(at < dim ? &outer : at == dim ? &n : &inner) *= dims[i];
    CHECK(dim == DIM_ALL ? out.kind != QS_ARRAY
                         : out.kind == QS_ARRAY && qval_array(out)->count == (size_t)(outer * inner));
    for (int64_t k = 0; k < outer * inner; k++) {
        double want = 0;
        for (int64_t i = 0; i < n; i++)
            want = combine(r, want, number_at(vm, a, (size_t)((k / inner * n + i) * inner + k % inner)), i == 0);
        if (r == RED_mean) want /= (double)n;
        if (r == RED_norm) want = sqrt(want);
        if (r == RED_logsumexp) want = log(want);
        qs_dtype to = out.kind == QS_ARRAY ? (qs_dtype)qval_array(out)->dtype : QS_F64;
        if (!near(number_at(vm, out, (size_t)k), want, to)) {
            printf("  reduce %d dtype %d dim %d: %g not %g\n", r, d, dim, number_at(vm, out, (size_t)k), want);
            CHECK(false);
        }
    }
    qval_release(vm, out);
}

static void check_running(qs_vm *vm, qs_value a, int rank, const int64_t *dims, int dim) {
    Array *out;
    CHECK(qred_cum(vm, RED_sum, qval_array(a), dim, &out) == QS_OK);
    int64_t n = 1, inner = 1, at = rank == 1 ? 1 : 0;
    for (int i = 0; i < rank; i++, at++) {
        if (at == dim) n = dims[i];
        else if (at > dim) inner *= dims[i];
    }
    bool ok = out->count == qval_array(a)->count;
    for (size_t k = 0; k < out->count; k++) {
        double want = number_at(vm, a, k),
               before = (int64_t)k / inner % n ? number_at(vm, qarr_value(out), k - (size_t)inner) : 0;
        ok = ok && near(number_at(vm, qarr_value(out), k), before + want, (qs_dtype)out->dtype);
    }
    CHECK(ok);
    qarr_release(vm, out);
}

static void everything(qs_vm *vm) {
    static const int64_t shapes[][4] = {{1}, {7}, {600}, {2, 3}, {3, 1}, {40, 33}, {5, 100}, {4, 5, 3}, {2, 3, 4, 2}};
    static const int ranks[] = {1, 1, 1, 2, 2, 2, 2, 3, 4};
    for (qs_dtype d = 0; d <= QS_C128; d++)
        for (size_t i = 0; i < COUNT(ranks); i++) {
            qs_value a = random_array(vm, d, ranks[i], shapes[i]);
            for (int r = FIRST_REDUCE; r <= LAST_REDUCE; r++)
                for (int dim = DIM_ALL; dim < 5; dim++)
                    if (!((d == QS_F16 || d == QS_BF16) && r == RED_prod))
                        check_reduce(vm, (Reduce)r, a, ranks[i], shapes[i], dim);
            if (d != QS_F16 && d != QS_BF16)
                for (int dim = 0; dim < 4; dim++) check_running(vm, a, ranks[i], shapes[i], dim);
            qval_release(vm, a);
        }
}

/* -- types, empties, NaN, exactness -------------------------------------------------------------------------------- */
static qs_value reduce(qs_vm *vm, Reduce r, qs_value x) {
    qs_value out = qs_nil();
    CHECK(qred_run(vm, r, x, DIM_ALL, &out) == QS_OK);
    return out;
}

static void kinds(qs_vm *vm) {
    qs_value u8 = make_vec(vm, QS_U8, 3, (double[]){200, 100, 7}), b = make_vec(vm, QS_B1, 3, (double[]){1, 0, 1});
    CHECK(reduce(vm, RED_sum, u8).kind == QS_INT && reduce(vm, RED_sum, u8).u.i == 307);
    CHECK(reduce(vm, RED_max, u8).kind == QS_INT && reduce(vm, RED_mean, u8).kind == QS_NUM);
    CHECK(reduce(vm, RED_sum, b).kind == QS_NUM && reduce(vm, RED_sum, b).u.f == 2);
    CHECK(reduce(vm, RED_any, b).kind == QS_BOOL && reduce(vm, RED_all, b).u.i == 0 &&
          reduce(vm, RED_max, b).kind == QS_BOOL);
    CHECK(reduce(vm, RED_sum, qs_int(5)).kind == QS_INT && reduce(vm, RED_sum, qs_num(0.5)).u.f == 0.5);
    qs_value s = make_string(vm, "x"), out;
    CHECK_ERROR(vm, qred_run(vm, RED_sum, s, DIM_ALL, &out), QS_ETYPE, "sum: not defined for string");
    CHECK_ERROR(vm, qred_run(vm, RED_sum, u8, 8, &out), QS_EVALUE, "sum: the dimension must be 0 to 7, got 8");
    CHECK(qred_run(vm, RED_sum, u8, 1, &out) == QS_OK && qval_array(out)->dtype == QS_I64);
    qs_value all[] = {u8, b, s, out};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

static void empties(qs_vm *vm) {
    qs_value v = make_vec(vm, QS_F32, 0, NULL), m = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){0, 3}, NULL)), out;
    CHECK(reduce(vm, RED_sum, v).u.f == 0 && reduce(vm, RED_prod, v).u.f == 1 && isnan(reduce(vm, RED_mean, v).u.f));
    CHECK(reduce(vm, RED_any, v).u.i == 0 && reduce(vm, RED_all, v).u.i == 1);
    CHECK_ERROR(vm, qred_run(vm, RED_min, v, DIM_ALL, &out), QS_EVALUE, "min: x must not be empty");
    CHECK_ERROR(vm, qred_run(vm, RED_max, m, 0, &out), QS_EVALUE, "max: the dimension is empty");
    CHECK(qred_run(vm, RED_prod, m, 0, &out) == QS_OK && qval_array(out)->count == 3 && number_at(vm, out, 2) == 1);
    qval_release(vm, out);
    CHECK(qred_run(vm, RED_max, m, 1, &out) == QS_OK && qval_array(out)->count == 0);
    qs_value all[] = {v, m, out};
    for (size_t i = 0; i < COUNT(all); i++) qval_release(vm, all[i]);
}

static void not_numbers(qs_vm *vm) {
    qs_value v = make_vec(vm, QS_F32, 3, (double[]){NAN, -2, NAN}), n = make_vec(vm, QS_F64, 2, (double[]){NAN, NAN});
    CHECK(reduce(vm, RED_min, v).u.f == -2 && reduce(vm, RED_max, v).u.f == -2 && isnan(reduce(vm, RED_sum, v).u.f));
    CHECK(isnan(reduce(vm, RED_max, n).u.f) && reduce(vm, RED_any, n).u.i == 1);
    qval_release(vm, v);
    qval_release(vm, n);
}

static void exactness(qs_vm *vm) {
    enum { N = 1 << 20 };
    Array *f = make_array(vm, QS_F32, 1, (int64_t[]){N}, NULL), *i = make_array(vm, QS_I64, 1, (int64_t[]){1000}, NULL);
    CHECK(qarr_fill(vm, f, qs_num(0.1)) == QS_OK);
    CHECK(fabs(reduce(vm, RED_sum, qarr_value(f)).u.f - N * (double)0.1f) < 1e-6);
    CHECK(qarr_put(vm, f, 0, qs_num(1e8)) == QS_OK && qarr_put(vm, f, 1, qs_num(-1e8)) == QS_OK);
    CHECK(fabs(reduce(vm, RED_sum, qarr_value(f)).u.f - (N - 2) * (double)0.1f) < 1e-4);
    CHECK(qarr_fill(vm, i, qs_int(9007199254740993)) == QS_OK);
    CHECK(reduce(vm, RED_sum, qarr_value(i)).u.i == 9007199254740993000);
    qs_value out;
    CHECK(qarr_fill(vm, i, qs_int(INT64_MAX / 500)) == QS_OK);
    CHECK_ERROR(vm, qred_run(vm, RED_sum, qarr_value(i), DIM_ALL, &out), QS_EVALUE, "sum: integer overflow");
    for (size_t k = 0; k < 1000; k += 2) CHECK(qarr_put(vm, i, k, qs_int(-(INT64_MAX / 500))) == QS_OK);
    CHECK(reduce(vm, RED_sum, qarr_value(i)).u.i == 0); /* a wrap in between is no overflow */
    CHECK_ERROR(vm, qred_run(vm, RED_prod, qarr_value(i), DIM_ALL, &out), QS_EVALUE, "prod: integer overflow");
    CHECK(qarr_put(vm, i, 3, qs_int(0)) == QS_OK && reduce(vm, RED_prod, qarr_value(i)).u.i == 0);
    qarr_release(vm, f);
    qarr_release(vm, i);
}

/* -- threads ------------------------------------------------------------------------------------------------------- */
static const void *elements(const Array *a) { return (const void *)(uintptr_t)a->buf->block[HOST_MEMORY]; }

static bool same_bits(qs_value x, qs_value y) {
    if (x.kind != QS_ARRAY) return x.kind == y.kind && x.u.i == y.u.i;
    const Array *a = qval_array(x), *b = qval_array(y);
    return a->count == b->count && !memcmp(elements(a), elements(b), a->count * qdtype_size((qs_dtype)a->dtype));
}

/* The same bits, whatever the number of threads. */
static void by_threads(void) {
    static const int64_t dims[2] = {701, 503};
    qs_vm *vms[2] = {machine_open(), machine_open()};
    qs_value x[2], y[2];
    for (int i = 0; i < 2; i++) {
        seed = 11, qvm_ctx(vms[i])->nthreads = 1 + 2 * i;
        x[i] = qarr_value(make_array(vms[i], QS_F32, 2, dims, NULL));
        for (size_t k = 0; k < qval_array(x[i])->count; k++)
            CHECK(qarr_put(vms[i], qval_array(x[i]), k, qs_num(0.9 + below(1000) / 4999.5)) == QS_OK);
    }
    for (int r = FIRST_REDUCE; r <= LAST_REDUCE; r++)
        for (int dim = DIM_ALL; dim < 2; dim++) {
            for (int i = 0; i < 2; i++) CHECK(qred_run(vms[i], (Reduce)r, x[i], dim, &y[i]) == QS_OK);
            CHECK(same_bits(y[0], y[1]));
            for (int i = 0; i < 2; i++) qval_release(vms[i], y[i]);
        }
    for (int dim = 0; dim < 2; dim++) {
        Array *a[2];
        for (int i = 0; i < 2; i++) CHECK(qred_cum(vms[i], RED_prod, qval_array(x[i]), dim, &a[i]) == QS_OK);
        CHECK(same_bits(qarr_value(a[0]), qarr_value(a[1])));
        for (int i = 0; i < 2; i++) qarr_release(vms[i], a[i]);
    }
    double dot[2], spread[2];
    for (int i = 0; i < 2; i++) {
        const void *p = elements(qval_array(x[i]));
        dot[i] = qred_dot(vms[i], QS_F32, qval_array(x[i])->count, p, p);
        spread[i] = qred_spread(vms[i], QS_F32, qval_array(x[i])->count, p, 1);
        qval_release(vms[i], x[i]);
        machine_close(vms[i]);
    }
    CHECK(dot[0] == dot[1] && spread[0] == spread[1] && dot[0] > spread[0] && spread[0] > 0);
}

/* Running results of rows around the limits of strands, parts and blocks: the same bits for any number of threads, with
 * or without gaps; close to the results of one sum; and monotonic if no element is negative. */
static void check_long_row(qs_dtype d, int64_t n, int64_t rows) {
    Array *first = NULL;
    qs_vm *vms[4];
    for (int t = 0; t < 4; t++) {
        qs_vm *vm = vms[t] = machine_open();
        Array *x = make_array(vm, d, 2, (int64_t[]){rows, 2 * n}, NULL), *y, *gaps, *packed;
        qvm_ctx(vm)->nthreads = t + 1;
        seed = 17;
        for (size_t k = 0; k < x->count; k++) CHECK(qarr_put(vm, x, k, qs_num(below(1000) / 999.0)) == QS_OK);
        CHECK(qarr_view(vm, x, 2, (int64_t[]){rows, n}, (int64_t[]){2 * n, 2}, 0, &gaps) == QS_OK);
        CHECK(qarr_copy(vm, gaps, &packed) == QS_OK);
        CHECK(qred_cum(vm, RED_sum, gaps, 1, &y) == QS_OK);
        qarr_release(vm, gaps);
        CHECK(qred_cum(vm, RED_sum, packed, 1, &gaps) == QS_OK);
        CHECK(same_bits(qarr_value(y), qarr_value(gaps)));
        if (t) CHECK(same_bits(qarr_value(y), qarr_value(first)));
        bool grows = true, close = true;
        double sum = 0, last = 0;
        for (size_t k = 0; k < y->count; k++) {
            double now = number_at(vm, qarr_value(y), k);
            if (k % (size_t)n == 0) sum = last = 0;
            sum += number_at(vm, qarr_value(packed), k);
            grows = grows && now >= last, close = close && near(now, sum, (qs_dtype)y->dtype), last = now;
        }
        CHECK(grows && close);
        qarr_release(vm, x), qarr_release(vm, packed), qarr_release(vm, gaps);
        if (t) qarr_release(vm, y);
        else first = y;
    }
    qarr_release(vms[0], first);
    for (int t = 0; t < 4; t++) machine_close(vms[t]);
}

static void long_rows(void) {
    static const int64_t lengths[] = {63, 64, 65, 511, 512, 513, 65535, 65536, 65537};
    for (size_t i = 0; i < COUNT(lengths); i++) check_long_row(i & 1 ? QS_F32 : QS_F64, lengths[i], 3);
    check_long_row(QS_F32, 65536 * 4 + 1, 1);
    check_long_row(QS_F64, 65536 * 5 - 1, 2);
    check_long_row(QS_C64, 65536 * 4, 1);
    check_long_row(QS_I32, 65536 * 4 + 577, 1);
}

int main(void) {
    by_threads();
    long_rows();
    qs_vm *vm = machine_open();
    everything(vm);
    kinds(vm);
    empties(vm);
    not_numbers(vm);
    exactness(vm);
    machine_close(vm);
    return check_done();
}
