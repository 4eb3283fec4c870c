/* Fourier transforms against the definition, for every small length and some awkward long ones. */
#include "stdlib/stdlib.h"
#include "tests/unit/natives.h"

#include <math.h>
#include <stdlib.h>

static uint64_t seed = 1;
static double noise(void) {
    return (double)((seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> 40) * 0x1p-24 - 0.5;
}

static qs_value random_complex(qs_vm *vm, qs_dtype d, int rank, const int64_t *dims) {
    Array *a;
    void *p;
    CHECK(qarr_new(vm, d, rank, dims, true, &a) == QS_OK);
    CHECK(qarr_write(vm, a, &p) == QS_OK);
    for (size_t i = 0; i < 2 * a->count; i++)
        if (d == QS_C64) ((float *)p)[i] = (float)noise();
        else ((double *)p)[i] = noise();
    return qarr_value(a);
}

static qs_vm *machine;
static double part(qs_value v, size_t i) { /* of a packed complex array seen as reals */
    const void *p = NULL;
    if (qarr_read(machine, qval_array(v), &p) != QS_OK) return NAN;
    return qval_array(v)->dtype == QS_C64 ? (double)((const float *)p)[i] : ((const double *)p)[i];
}

static double distance_from_definition(qs_value x, qs_value y, size_t n, double sign) {
    double worst = 0, *in = malloc(2 * n * sizeof *in), *turn = malloc(2 * n * sizeof *turn);
    for (size_t j = 0; j < n; j++) {
        double t = sign * 6.28318530717958647693 * (double)j / (double)n;
        turn[2 * j] = cos(t), turn[2 * j + 1] = sin(t);
        in[2 * j] = part(x, 2 * j), in[2 * j + 1] = part(x, 2 * j + 1);
    }
    for (size_t k = 0; k < n; k++) {
        double re = 0, im = 0;
        for (size_t j = 0, at = 0; j < n; j++, at = at + k < n ? at + k : at + k - n) { /* at = j*k % n */
            double c = turn[2 * at], s = turn[2 * at + 1];
            re += in[2 * j] * c - in[2 * j + 1] * s, im += in[2 * j] * s + in[2 * j + 1] * c;
        }
        worst = fmax(worst, hypot(part(y, 2 * k) - re, part(y, 2 * k + 1) - im));
    }
    free(in), free(turn);
    return worst / sqrt((double)n);
}

static void length(qs_vm *vm, qs_dtype d, int64_t n) {
    qs_value x = random_complex(vm, d, 1, &n), y = native1(vm, qfft_fft1, qval_retain(x));
    double eps = d == QS_C64 ? 2e-6 : 4e-15;
    bool good = distance_from_definition(x, y, (size_t)n, -1) < eps * log2((double)n + 1);
    CHECK(good);
    if (!good) printf("  length %lld, %s\n", (long long)n, qdtype_info[d].name);
    qs_value back = native1(vm, qfft_ifft1, y);
    double worst = 0;
    for (size_t i = 0; i < 2 * (size_t)n; i++) worst = fmax(worst, fabs(part(back, i) - part(x, i)));
    CHECK(worst < eps);
    qval_release(vm, x), qval_release(vm, back);
}

/* A two-dimensional transform is one of the rows and then of the columns. */
static void dimensions(qs_vm *vm) {
    int64_t dims[3] = {37, 20, 3};
    qs_value x = random_complex(vm, QS_C128, 3, dims), y = native1(vm, qfft_fft2, qval_retain(x));
    for (int d = 0; d < 2; d++) {
        qs_value in[2] = {x, qs_num(d)}, out;
        CHECK(native(vm, qfft_fft1, 2, in, 1, &out) == QS_OK);
        x = out;
    }
    for (size_t i = 0; i < 2 * qval_array(x)->count; i++) CHECK(fabs(part(x, i) - part(y, i)) < 1e-12);
    qval_release(vm, x), qval_release(vm, y);
}

static void real_input(qs_vm *vm) {
    qs_value y = native1(vm, qfft_fft1, make_vec(vm, QS_U8, 4, (double[]){1, 2, 3, 4}));
    static const double want[] = {10, 0, -2, 2, -2, 0, -2, -2};
    CHECK(qval_array(y)->dtype == QS_C64);
    for (size_t i = 0; i < 8; i++) CHECK(part(y, i) == want[i]);
    qval_release(vm, y);
}

int main(void) {
    qs_vm *vm = machine = machine_open();
    Lib library = {0}; /* keeps the plans */
    qvm(vm)->lib = &library;
    for (int64_t n = 1; n <= 130; n++) length(vm, QS_C64, n), length(vm, QS_C128, n);
    static const int64_t awkward[] = {151, 256, 307, 360, 563, 953, 1001, 1021, 1583, 2048, 2187, 4001};
    for (size_t i = 0; i < sizeof awkward / sizeof *awkward; i++)
        length(vm, QS_C64, awkward[i]), length(vm, QS_C128, awkward[i]);
    dimensions(vm);
    real_input(vm);
    qfft_close(vm);
    machine_close(vm);
    return check_done();
}
