/* What nvcc makes of tests/cuda/cases.cu, executed by the interpreter of PTX, against what this machine's C compiler
 * makes of the same functions, or against what is said here.  tests/nvcc.py makes the text and calls this:
 *
 *     ptx_cases file.ptx [name …]
 *
 * The kernels wrong_… must be told as mistakes, each in its words. */
#include "tests/support/ptx/ptx.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 256, FRAME = 64 };

static PtxModule *module;
static int failures, wrong_ones, done;
static struct { uint64_t begin, end; } blocks[8];
static int nblocks;

static bool find(void *ud, uint64_t at, uint64_t *begin, uint64_t *end) {
    (void)ud;
    for (int i = 0; i < nblocks; i++)
        if (at >= blocks[i].begin && at < blocks[i].end) return *begin = blocks[i].begin, *end = blocks[i].end, true;
    return false;
}

static void *block(size_t n) {
    void *p = NULL;
    if (posix_memalign(&p, 256, n + FRAME)) exit(2);
    memset(p, 0, n + FRAME);
    blocks[nblocks].begin = (uintptr_t)p, blocks[nblocks++].end = (uintptr_t)p + n;
    return p;
}

static void fail(const char *name, const char *what) {
    printf("%s: %s\n", name, what);
    failures++;
}

static uint32_t noise(uint32_t i) {
    i = (i + 1) * 2654435761u;
    i ^= i >> 15, i *= 2246822519u;
    return i ^ i >> 13;
}

/* -- functions of one position ------------------------------------------------------------------------------------- */
static const double reals[] = {0, -0.0, 1, -1, 0.5, 2.5, -2.5, 3.5, 1e-40, -1e-40, 1e30, -1e30, 16777217, 0.1};

static void fill(void *p, char type, size_t size, uint32_t seed) {
    for (uint32_t i = 0; i < N; i++) {
        uint32_t r = noise(i * 2 + seed);
        int64_t whole = i < 12 ? (int64_t)i - 6 : (int32_t)(r >> (i % 3 * 8));
        if (i >= 12 && i < 24) whole = (int64_t)(INT32_MAX - 24 + (int)i);
        double real = i < 14 ? reals[(i + seed) % 14] : (double)(int32_t)r / (1 << 27);
        if (size == 8 && i > 200) whole = (int64_t)((uint64_t)noise(r) << 32 | r);
        if (type == 'i') memcpy((char *)p + i * size, &whole, size);
        else if (size == 8) memcpy((char *)p + i * size, &real, size);
        else *(float *)(void *)((char *)p + i * size) = (float)real;
    }
}

/* How many numbers of the type lie between. */
static double distance(double a, double b, size_t size) {
    if (a == b || (a != a && b != b)) return 0;
    if (a != a || b != b || isinf(a) || isinf(b)) return INFINITY;
    int e;
    frexp(fabs(a) > fabs(b) ? a : b, &e);
    double unit = ldexp(1, (size == 4 ? (e < -125 ? -125 : e) - 24 : (e < -1021 ? -1021 : e) - 53));
    return fabs(a - b) / unit;
}

static double as_double(const void *p, size_t size) {
    float f;
    double d;
    if (size == 8) return memcpy(&d, p, 8), d;
    return memcpy(&f, p, 4), (double)f;
}

typedef void Expect(const void *a, const void *b, void *y);
typedef struct {
    const char *name;
    char type, result;
    size_t size, rsize;
    double ulps;
    Expect *expect;
} Each;

static int launch(const char *name, int grid, int x, int z, unsigned shared, int n, const void *a, const void *b,
                  void *y) {
    struct {
        int32_t n, pad;
        uint64_t a, b, y;
    } p = {n, 0, (uintptr_t)a, (uintptr_t)b, (uintptr_t)y};
    if (!b) p.b = p.y;
    PtxLaunch l = {.grid = {(unsigned)grid, 1, 1},
                   .block = {(unsigned)x, (unsigned)z, 1},
                   .shared = shared,
                   .params = &p,
                   .nparams = b ? 32 : 24};
    int entry = ptx_entry(module, name);
    return entry < 0 ? -1 : ptx_run(module, entry, &l);
}

static void compare(const Each *e, const char *y, const char *want, const void *a, const void *b) {
    for (size_t i = 0; i < N; i++) {
        const char *p = y + i * e->rsize, *q = want + i * e->rsize;
        bool same = e->result == 'r' ? distance(as_double(p, e->rsize), as_double(q, e->rsize), e->rsize) <= e->ulps
                                     : !memcmp(p, q, e->rsize);
        if (same) continue;
        int64_t g = 0, w = 0;
        char text[200];
        memcpy(&g, p, e->rsize), memcpy(&w, q, e->rsize);
        snprintf(text, sizeof text, "at %zu: %.17g or %" PRIi64 " instead of %.17g or %" PRIi64 " from %.9g, %.9g", i,
                 as_double(p, e->rsize), g, as_double(q, e->rsize), w,
                 as_double((const char *)a + i * e->size, e->size), as_double((const char *)b + i * e->size, e->size));
        fail(e->name, text);
        return;
    }
}

static void run_each(const Each *e) {
    nblocks = 0;
    char *a = block(N * e->size), *b = block(N * e->size), *y = block(N * e->rsize), want[N * 8];
    fill(a, e->type, e->size, 1), fill(b, e->type, e->size, 77);
    e->expect(a, b, want);
    int error = launch(e->name, 9, 32, 1, 0, N, a, b, y);
    if (error) fail(e->name, "it does not run");
    else compare(e, y, want, a, b);
    free(a), free(b), free(y);
    done++;
}

#define EACH(name, T, R, ulps, ...)                                                                                    \
    static void expect_##name(const void *as, const void *bs, void *ys) {                                              \
        for (int i = 0; i < N; i++) {                                                                                  \
            T a = ((const T *)as)[i], b = ((const T *)bs)[i];                                                          \
            R y = 0;                                                                                                   \
            (void)a;                                                                                                   \
            (void)b;                                                                                                   \
            __VA_ARGS__;                                                                                               \
            ((R *)ys)[i] = y;                                                                                          \
        }                                                                                                              \
    }
#include "tests/cuda/each.cuh"

#define KIND(T) ((T)0.5 ? 'r' : 'i')
static const Each each[] = {
#define EACH(name, T, R, ulps, ...) {#name, KIND(T), KIND(R), sizeof(T), sizeof(R), ulps, expect_##name},
#include "tests/cuda/each.cuh"
};

/* -- threads together ---------------------------------------------------------------------------------------------- */
static int *a, *y, *want;

static int popcount_odd(int from, int to) {
    int c = 0;
    for (int i = from; i < to; i++) c += a[i] & 1;
    return c;
}

static void want_block_sum(void) {
    for (int i = 0; i < N; i++) want[i / 128] += a[i];
}
static void want_warp_sum(void) {
    for (int i = 0; i < N; i++) want[0] += a[i];
}
static void want_butterfly(void) {
    for (int i = 0; i < N; i++) {
        want[i] = a[i / 32 * 32];
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) want[i] = a[k] > want[i] ? a[k] : want[i];
    }
}
static void want_scan(void) {
    for (int i = 0; i < N; i++) want[i] = a[i] + (i % 32 ? want[i - 1] : 0);
}
static void want_rotated(void) {
    for (int i = 0; i < N; i++) want[i] = a[i / 8 * 8 + (i + 3) % 8];
}
static void want_votes(void) {
    for (int i = 0; i < N; i += 32) {
        unsigned m = 0;
        for (int k = 0; k < 32; k++) m |= (unsigned)(a[i + k] % 3 == 0) << k;
        for (int k = 0; k < 32; k++) want[i + k] = (int)m ^ ((m == UINT32_MAX) * 5) ^ ((m != 0) * 9);
    }
}
static void want_matches(void) {
    for (int i = 0; i < N; i++) {
        unsigned m = 0;
        for (int k = 0; k < 32; k++) m |= (unsigned)((a[i / 32 * 32 + k] & 3) == (a[i] & 3)) << k;
        want[i] = (int)m + (m == UINT32_MAX);
    }
}
static void want_active(void) {
    for (int i = 0; i < N; i++) want[i] = a[i] & 1 ? 1 : 2;
}
static void want_transposed(void) {
    for (int i = 0; i < N; i++) want[i] = a[i % 16 * 16 + i / 16];
}
static void want_histogram(void) {
    for (int i = 0; i < N; i++) want[a[i] & 31]++;
}
static void want_atomics(void) {
    long long sum = 0;
    want[3] = -1;
    float count = 0;
    y[3] = -1;
    for (int i = 0; i < N; i++) {
        want[0] = a[i] > want[0] ? a[i] : want[0], want[1] = a[i] < want[1] ? a[i] : want[1];
        want[2] |= a[i], want[3] &= a[i], want[4] ^= a[i], sum += a[i], want[10] += a[i] & 7;
        want[8] = want[8] >= 9 ? 0 : want[8] + 1, count++;
    }
    memcpy(want + 6, &sum, 8), memcpy(want + 9, &count, 4);
}
static void want_counted(void) {
    for (int i = 0; i < N; i++) want[i] = popcount_odd(i / 64 * 64, i / 64 * 64 + 64) * 4 + 3;
}
static void want_left_early(void) {
    for (int i = 0; i < 77; i++) want[i] = a[76 - i];
}
static void want_weighted(void) {
    static const int weights[5] = {3, -1, 4, 1, -5};
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 5; k++) want[i] += weights[(k + i) % 5] * (k + 1);
}
static void want_within_warp(void) {
    for (int i = 0; i < 64; i++) want[i] = a[i ^ 3 ^ 1] * 2;
}
static void want_diverging(void) {
    int steps[N];
    for (int i = 0; i < N; i++) {
        steps[i] = 0;
        for (int v = a[i] & 0xffff; v > 1;) {
            v = v & 1 ? v * 3 + 1 : v >> 1;
            if (++steps[i] > 60) break;
        }
    }
    for (int i = 0; i < N; i++) {
        want[i] = steps[i];
        for (int k = 0; k < 32; k++) want[i] += steps[i / 32 * 32 + k] > 10;
    }
}
static void want_reduced(void) {
    for (int i = 0; i < N; i++) {
        int sum = 0, most = INT_MIN;
        unsigned x = 0;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++)
            sum = (int)((unsigned)sum + (unsigned)a[k]), most = a[k] > most ? a[k] : most, x ^= (unsigned)a[k];
        want[i] = sum ^ most ^ (int)x;
    }
}

typedef struct {
    const char *name;
    int grid, x, z;
    unsigned shared;
    int n;
    void (*expect)(void);
} Together;
static const Together together[] = {
    {"block_sum", 2, 128, 1, 0, N, want_block_sum},    {"warp_sum", 2, 128, 1, 0, N, want_warp_sum},
    {"butterfly", 4, 64, 1, 0, N, want_butterfly},     {"scan", 1, 256, 1, 0, N, want_scan},
    {"rotated", 4, 64, 1, 0, N, want_rotated},         {"votes", 4, 64, 1, 0, N, want_votes},
    {"matches", 4, 64, 1, 0, N, want_matches},         {"active", 4, 64, 1, 0, N, want_active},
    {"transposed", 1, 16, 16, 0, N, want_transposed},  {"histogram", 3, 96, 1, 128, N, want_histogram},
    {"atomics", 3, 96, 1, 0, N, want_atomics},         {"counted", 4, 64, 1, 0, N, want_counted},
    {"left_early", 1, 128, 1, 0, 77, want_left_early}, {"weighted", 4, 64, 1, 0, N, want_weighted},
    {"within_warp", 1, 64, 1, 0, N, want_within_warp}, {"diverging", 4, 64, 1, 0, N, want_diverging},
    {"reduced", 4, 64, 1, 0, N, want_reduced}};

static void run_together(const Together *t) {
    if (ptx_entry(module, t->name) < 0 && !strcmp(t->name, "reduced")) return; /* from sm_80 on */
    nblocks = 0;
    a = block(N * 4), y = block(N * 4), want = calloc(N, 4);
    for (uint32_t i = 0; i < N; i++) a[i] = (int)(noise(i) >> 9) - (i % 5 ? 0 : 4000);
    t->expect();
    unsigned before = ptx_mistakes();
    if (launch(t->name, t->grid, t->x, t->z, t->shared, t->n, a, NULL, y)) fail(t->name, "it does not run");
    else if (memcmp(y, want, N * 4) != 0) fail(t->name, "other values");
    if (ptx_mistakes() != before) fail(t->name, "a mistake that is none");
    free(a), free(y), free(want);
    done++;
}

/* -- grids of three dimensions ------------------------------------------------------------------------------------- */
static void run_grids(void) {
    nblocks = 0;
    enum { X = 3 * 4, Y = 2 * 4, Z = 2 * 2 };
    int32_t *out = block(X * Y * Z * 4);
    struct {
        int32_t n, pad;
        uint64_t a, y;
    } p = {0, 0, (uintptr_t)out, (uintptr_t)out};
    PtxLaunch l = {.grid = {3, 2, 2}, .block = {4, 4, 2}, .params = &p, .nparams = sizeof p};
    bool right = ptx_run(module, ptx_entry(module, "grids"), &l) == 0;
    for (int i = 0; i < X * Y * Z; i++) right &= out[i] == i % X + 100 * (i / X % Y) + 10000 * (i / X / Y);
    if (!right) fail("grids", "other values");
    free(out);
    done++;
}

/* -- errors -------------------------------------------------------------------------------------------------------- */
static const struct {
    const char *name, *word;
    int error;
    unsigned shared;
    int n;
} wrong[] = {{"wrong_outside", "nobody owns", PTX_ILLEGAL_ADDRESS, 0, N},
             {"wrong_misaligned", "no multiple", PTX_MISALIGNED, 0, N},
             {"wrong_race", "a race", 0, 0, N},
             {"wrong_uninitialised", "before anybody wrote it", 0, 0, N},
             {"wrong_barrier", "divergent", 0, 0, N},
             {"wrong_shuffle", "does not take part", 0, 0, N},
             {"wrong_wait", "for ever", PTX_LAUNCH_FAILED, 0, N},
             {"wrong_shared", "nobody owns", PTX_ILLEGAL_ADDRESS, 256, 32},
             {"wrong_trap", "trap", PTX_TRAP, 0, N}};

static void run_wrong(int k) {
    nblocks = 0;
    a = block(N * 4), y = block(N * 4);
    ptx_forget_mistakes();
    int error = launch(wrong[k].name, 1, 64, 1, wrong[k].shared, wrong[k].n, a, NULL, y);
    if (error != wrong[k].error) fail(wrong[k].name, "another error");
    const char *told = ptx_first_mistake();
    if (!strstr(told, wrong[k].word)) fail(wrong[k].name, *told ? told : "not told");
    ptx_forget_mistakes();
    free(a), free(y);
    wrong_ones++;
}

static char *slurp(const char *name) {
    FILE *f = fopen(name, "rb");
    if (!f || fseek(f, 0, SEEK_END)) return NULL;
    size_t n = (size_t)ftell(f);
    char *text = calloc(n + 1, 1);
    rewind(f);
    n = fread(text, 1, n, f);
    fclose(f);
    return text;
}

static bool asked(int argc, char **argv, const char *name) {
    for (int i = 2; i < argc; i++)
        if (strstr(name, argv[i])) return true;
    return argc <= 2;
}

int main(int argc, char **argv) {
    char why[300];
    char *text = argc > 1 ? slurp(argv[1]) : NULL;
    if (!text) return fprintf(stderr, "ptx_cases file.ptx [name ...]\n"), 2;
    const char *seed = getenv("FAKE_GPU_SEED");
    PtxHost host = {.find = find, .seed = seed ? strtoull(seed, NULL, 10) : 1};
    module = ptx_load(text, &host, why, sizeof why);
    free(text);
    if (!module) return printf("%s: %s\n", argv[1], why), 1;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (asked(argc, argv, each[i].name)) run_each(&each[i]);
    for (size_t i = 0; i < sizeof together / sizeof *together; i++)
        if (asked(argc, argv, together[i].name)) run_together(&together[i]);
    if (asked(argc, argv, "grids")) run_grids();
    for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); i++)
        if (asked(argc, argv, wrong[i].name)) run_wrong(i);
    ptx_unload(module);
    printf("%d kernels, %d with a mistake, %d failures\n", done, wrong_ones, failures);
    return failures != 0;
}
