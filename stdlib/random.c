/* random.c -- generates random numbers from a counter: Philox4x32-10.
 *
 * Block n of the stream is a function of (seed, n) alone, so a program draws the same numbers on every computer,
 * whatever the device, the number of threads or the order of evaluation.  Source: Salmon, Moraes, Dror, Shaw: Parallel
 * random numbers: as easy as 1, 2, 3 (SC 2011). */
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "vm/base/libm.h"
#include "vm/value/machine.h"
#include "vm/value/random_block.h"

#include <math.h>

static double unit24(uint32_t w) { return (w >> 8) * 0x1p-24; } /* [0,1) in steps that float32 represents exactly */
static double unit53(uint32_t hi, uint32_t lo) { return (double)((uint64_t)hi << 21 | lo >> 11) * 0x1p-53; }

/* Box-Muller: computes two normal numbers from two uniform ones; 1-u is in (0,1].  Loops compute the same bits. */
static void normal_pair(double u, double v, double out[2]) {
    double r = sqrt(-2 * qlibm_log(1 - u)), t = 6.28318530717958647693 * v;
    out[0] = r * qlibm_cos(t), out[1] = r * qlibm_sin(t);
}

/* Computes block n of the stream: four float32 numbers or two float64 numbers. */
static int block(uint64_t seed, uint64_t n, bool normal, bool wide, double x[4]) {
    uint32_t w[4];
    qrandom_block(seed, n, w);
    int m = wide ? 2 : 4;
    for (int i = 0; i < m; i++) x[i] = wide ? unit53(w[2 * i], w[2 * i + 1]) : unit24(w[i]);
    for (int i = 0; normal && i < m; i += 2) normal_pair(x[i], x[i + 1], x + i);
    return m;
}

static void draw(qs_vm *vm, bool normal, double x[4]) {
    const RandomStream *from = qvm_random(vm);
    block(from->seed, from->drawn, normal, true, x);
    qvm_drew(vm, 1);
}

typedef struct {
    RandomStream from;
    bool normal, wide;
    double whole; /* not 0: integers below this number */
    size_t count;
    void *out;
} Filling;

/* Returns u*n, rounded down; conversion of small numbers is faster than floor. */
static float whole_f32(float u, float n) { return u * n < 0x1p30f ? (float)(int32_t)(u * n) : floorf(u * n); }
static double whole_f64(double u, double n) { return u * n < 0x1p30 ? (double)(int32_t)(u * n) : floor(u * n); }

static void fill_blocks(void *ud, int64_t first, int64_t last, int worker) {
    const Filling *s = ud;
    double x[4];
    (void)worker;
    for (uint64_t n = (uint64_t)first; n < (uint64_t)last; n++) {
        size_t m = (size_t)block(s->from.seed, s->from.drawn + n, s->normal, s->wide, x), at = n * m;
        for (size_t i = 0; i < m && at + i < s->count; i++)
            if (s->wide) ((double *)s->out)[at + i] = s->whole > 0 ? whole_f64(x[i], s->whole) : x[i];
            else ((float *)s->out)[at + i] = s->whole > 0 ? whole_f32((float)x[i], (float)s->whole) : (float)x[i];
    }
}

/* whole: not 0 for integers below this number. */
static qs_status random_array(qs_vm *vm, qs_call_args *c, bool normal, double whole) {
    enum { GRAIN = 1 << 13 /* minimum blocks per thread */ };
    if (c->nin == 0) {
        double x[4];
        draw(vm, normal, x);
        c->out[0] = qs_num(whole > 0 ? whole_f64(x[0], whole) : x[0]);
        return QS_OK;
    }
    int rank;
    int64_t dims[QS_MAX_RANK];
    Array *a;
    Filling s = {*qvm_random(vm), normal, qvm_ctx(vm)->scalar_dtype == QS_F64, whole, 0, NULL};
    TRY(qarr_shape_args(vm, c->name, c->nin, c->in, &rank, dims));
    TRY(qarg_result(vm, c, 0, qvm_ctx(vm)->scalar_dtype, rank, dims, &a, &s.out));
    s.count = a->count;
    uint64_t blocks = (s.count + (s.wide ? 1 : 3)) / (s.wide ? 2 : 4);
    qdoing_stage(&qvm_ctx(vm)->doing, 0, 1, 0);
    qthreads_run(qthreads_of(qvm_ctx(vm)), (int64_t)blocks, GRAIN, fill_blocks, &s);
    qvm_drew(vm, blocks);
    return QS_OK;
}
qs_status qrandom_rand(qs_vm *vm, qs_call_args *c) { return random_array(vm, c, false, 0); }
qs_status qrandom_randn(qs_vm *vm, qs_call_args *c) { return random_array(vm, c, true, 0); }

/* randi(n, size…): integers 0 … n-1. */
qs_status qrandom_randi(qs_vm *vm, qs_call_args *c) {
    int64_t n;
    TRY(qarg_int(vm, c->name, "n", c->in[0], &n));
    if (n < 1) return qs_fail(vm, QS_EVALUE, "randi: n must be ≥ 1, got %lld", (long long)n);
    qs_call_args rest = {c->nin - 1, 1, c->in + 1, c->out, .name = c->name};
    return random_array(vm, &rest, false, (double)n);
}

/* Puts the numbers 0 … n-1 in random order (Fisher-Yates), and converts them to the elements of `out`. */
#define SHUFFLE(T)                                                                                                     \
    static void shuffle_##T(const RandomStream *from, size_t n, T *x, qs_dtype d, void *out) {                         \
        for (size_t i = 0; i < n; i++) {                                                                               \
            double u[4];                                                                                               \
            block(from->seed, from->drawn + i, false, true, u);                                                        \
            size_t j = (size_t)(u[0] * (double)(i + 1));                                                               \
            x[i] = x[j], x[j] = (T)i;                                                                                  \
        }                                                                                                              \
        if (d == QS_F32)                                                                                               \
            for (size_t i = 0; i < n; i++) ((float *)out)[i] = (float)x[i];                                            \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) ((double *)out)[i] = (double)x[i];                                          \
    }
SHUFFLE(uint32_t)
SHUFFLE(uint64_t)

qs_status qrandom_randperm(qs_vm *vm, qs_call_args *c) {
    int64_t n;
    Array *a;
    void *out;
    TRY(qarg_count(vm, c->name, "n", c->in[0], &n));
    bool narrow = n <= UINT32_MAX;
    Ctx *ctx = qvm_ctx(vm);
    size_t bytes = qmem_size((size_t)n, narrow ? sizeof(uint32_t) : sizeof(uint64_t), 0);
    void *x = qmem_try(ctx, bytes);
    if (!x) return qs_fail(vm, QS_ENOMEM, "randperm: no memory for %lld numbers", (long long)n);
    qs_dtype d = n - 1 > 1 << 24 ? QS_F64 : ctx->scalar_dtype; /* float32 represents integers up to 2^24 */
    qs_status s = qarg_result(vm, c, 0, d, 1, &n, &a, &out);
    if (s == QS_OK) {
        if (narrow) shuffle_uint32_t(qvm_random(vm), (size_t)n, x, d, out);
        else shuffle_uint64_t(qvm_random(vm), (size_t)n, x, d, out);
        qvm_drew(vm, (uint64_t)n);
    }
    qmem_try_free(ctx, x, bytes);
    return s;
}

qs_status qrandom_seed(qs_vm *vm, qs_call_args *c) {
    int64_t seed;
    TRY(qarg_int(vm, c->name, "seed", c->in[0], &seed));
    *qvm_random(vm) = (RandomStream){(uint64_t)seed, 0};
    return QS_OK;
}
