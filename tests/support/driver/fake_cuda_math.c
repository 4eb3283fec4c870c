/* fake_cuda_math.c -- see fake_cuda_math.h.  Straight from the definitions, in double. */
#include "tests/support/driver/fake_cuda_math.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef double complex Number;
enum { OK, EXEC_FAILED = 13, PLANS = 64, C2C = 0x29 };

static FakeMath fake = {.fail_after = -1};
static struct { bool alive, stream, workspace; } blas;
static struct {
    bool alive, made, own_area, stream;
    int rank, n[3], stride, apart, type, batch;
    uint64_t area;
} plans[PLANS];

#define CUMATH(lib, name, symbol, args) int fake_##name args __asm__(symbol);
#include "devices/cuda_math.def"

FakeMath *fake_math(void) { return &fake; }

static int begin(const char *name) {
    size_t n = strlen(fake.log);
    if (n + strlen(name) + 2 < sizeof fake.log) snprintf(fake.log + n, sizeof fake.log - n, "%s ", name);
    if (fake.fail_after < 0 || fake.fail_after-- != 0) return OK;
    snprintf(fake.failed, sizeof fake.failed, "%s", name);
    return fake.fail_with;
}
#define BEGIN(name)                                                                                                    \
    int error = begin(name);                                                                                           \
    if (error) return error

static int misused(void) { return fake.misuse++, EXEC_FAILED; }

static bool ready(const void *handle) { return handle == &blas && blas.alive && blas.stream && blas.workspace; }

static void *at(uint64_t p) { return (void *)(uintptr_t)p; }

/* -- cuBLAS -------------------------------------------------------------------------------------------------------- */
int fake_BlasCreate(void **handle) {
    BEGIN("BlasCreate");
    if (blas.alive) return misused();
    memset(&blas, 0, sizeof blas), blas.alive = true;
    fake.handles++;
    return *handle = &blas, OK;
}

int fake_BlasDestroy(void *handle) {
    int error = begin("BlasDestroy");
    if (handle != &blas || !blas.alive) return misused();
    blas.alive = false;
    fake.handles--;
    return error;
}

int fake_BlasSetStream(void *handle, void *stream) {
    BEGIN("BlasSetStream");
    if (handle != &blas || !blas.alive || !stream) return misused();
    return blas.stream = true, OK;
}

int fake_BlasSetWorkspace(void *handle, uint64_t block, size_t n) {
    BEGIN("BlasSetWorkspace");
    if (handle != &blas || !blas.alive || !block || !n) return misused();
    return blas.workspace = true, OK;
}

enum { SINGLE, DOUBLE, COMPLEX_SINGLE, COMPLEX_DOUBLE };

static Number get(int kind, const void *p, int64_t i) {
    switch (kind) {
    case SINGLE: return ((const float *)p)[i];
    case DOUBLE: return ((const double *)p)[i];
    case COMPLEX_SINGLE: return ((const float complex *)p)[i];
    default: return ((const Number *)p)[i];
    }
}

static void put(int kind, void *p, int64_t i, Number v) {
    switch (kind) {
    case SINGLE: ((float *)p)[i] = (float)creal(v); break;
    case DOUBLE: ((double *)p)[i] = creal(v); break;
    case COMPLEX_SINGLE: ((float complex *)p)[i] = (float complex)v; break;
    default: ((Number *)p)[i] = v; break;
    }
}

static int product(int kind, const void *handle, int ta, int tb, int m, int n, int k, const void *alpha, uint64_t a,
                   int lda, uint64_t b, int ldb, const void *beta, uint64_t c, int ldc) {
    bool bad = ta < 0 || ta > 1 || tb < 0 || tb > 1 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m;
    bool plain = get(kind, alpha, 0) == 1 && get(kind, beta, 0) == 0;
    if (!ready(handle) || bad || !a || !b || !c || !plain) return misused();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            Number sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += get(kind, at(a), ta ? i * (int64_t)lda + l : l * lda + i) *
                       get(kind, at(b), tb ? l * ldb + j : j * (int64_t)ldb + l);
            put(kind, at(c), (int64_t)j * ldc + i, sum);
        }
    return OK;
}

#define GEMM(name, kind, type)                                                                                         \
    int fake_##name(void *h, int ta, int tb, int m, int n, int k, const type *alpha, uint64_t a, int lda, uint64_t b,  \
                    int ldb, const type *beta, uint64_t c, int ldc) {                                                  \
        BEGIN(#name);                                                                                                  \
        return product(kind, h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                 \
    }
GEMM(Sgemm, SINGLE, float)
GEMM(Dgemm, DOUBLE, double)
GEMM(Cgemm, COMPLEX_SINGLE, void)
GEMM(Zgemm, COMPLEX_DOUBLE, void)

#define COPY(name, kind)                                                                                               \
    int fake_##name(void *h, int n, uint64_t x, int dx, uint64_t y, int dy) {                                          \
        BEGIN(#name);                                                                                                  \
        if (!ready(h) || !x || !y) return misused();                                                                   \
        for (int64_t i = 0; i < n; i++) put(kind, at(y), i * dy, get(kind, at(x), i * dx));                            \
        return OK;                                                                                                     \
    }
COPY(Scopy, SINGLE)
COPY(Dcopy, DOUBLE)

#define SCALE(name, kind, type)                                                                                        \
    int fake_##name(void *h, int n, const type *by, uint64_t x, int dx) {                                              \
        BEGIN(#name);                                                                                                  \
        if (!ready(h) || !x || dx != 1) return misused();                                                              \
        for (int64_t i = 0; i < n; i++) put(kind, at(x), i, get(kind, at(x), i) * (double)*by);                        \
        return OK;                                                                                                     \
    }
SCALE(Csscal, COMPLEX_SINGLE, float)
SCALE(Zdscal, COMPLEX_DOUBLE, double)

/* -- cuFFT --------------------------------------------------------------------------------------------------------- */
static bool is_plan(int p) { return p > 0 && p < PLANS && plans[p].alive; }

int fake_FftCreate(int *plan) {
    BEGIN("FftCreate");
    int p = 1;
    while (p < PLANS && plans[p].alive) p++;
    if (p == PLANS) return misused();
    memset(&plans[p], 0, sizeof plans[p]), plans[p].alive = true, plans[p].own_area = true;
    fake.plans++;
    return *plan = p, OK;
}

int fake_FftDestroy(int p) {
    int error = begin("FftDestroy");
    if (!is_plan(p)) return misused();
    plans[p].alive = false;
    fake.plans--;
    return error;
}

int fake_FftOwnArea(int p, int ours) {
    BEGIN("FftOwnArea");
    if (!is_plan(p) || plans[p].made) return misused();
    return plans[p].own_area = ours, OK;
}

int fake_FftMakePlan(int p, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
                     int odist, int type, int batch, size_t *area) {
    BEGIN("FftMakePlan");
    bool same = inembed == n && onembed == n && istride == ostride && idist == odist;
    if (!is_plan(p) || plans[p].made || rank < 1 || rank > 3 || !same || batch < 1) return misused();
    plans[p].made = true, plans[p].rank = rank, plans[p].stride = istride, plans[p].apart = idist;
    plans[p].type = type, plans[p].batch = batch;
    for (int i = 0; i < 3; i++) plans[p].n[i] = i < rank ? n[i] : 1;
    return *area = 1000 + (size_t)n[0], OK;
}

int fake_FftSetArea(int p, uint64_t area) {
    BEGIN("FftSetArea");
    if (!is_plan(p) || !area || plans[p].own_area) return misused();
    return plans[p].area = area, OK;
}

int fake_FftSetStream(int p, void *stream) {
    BEGIN("FftSetStream");
    if (!is_plan(p) || !stream) return misused();
    return plans[p].stream = true, OK;
}

/* One sequence, by definition. */
static void line(int kind, void *data, int64_t first, int64_t step, int n, int direction) {
    const double turn = 6.283185307179586;
    Number x[4096], y;
    for (int i = 0; i < n; i++) x[i] = get(kind, data, first + i * step);
    for (int k = 0; k < n; k++) {
        y = 0;
        for (int i = 0; i < n; i++) y += x[i] * cexp(direction * turn * I * (double)((int64_t)i * k % n) / n);
        put(kind, data, first + k * step, y);
    }
}

static void transform(int p, int kind, void *data, int64_t origin, int direction) {
    int n0 = plans[p].n[0], n1 = plans[p].n[1], n2 = plans[p].n[2], rank = plans[p].rank;
    int64_t s[3] = {plans[p].stride, plans[p].stride, plans[p].stride};
    for (int a = rank - 2; a >= 0; a--) s[a] = s[a + 1] * plans[p].n[a + 1];
    for (int i = 0; i < n1; i++)
        for (int j = 0; j < n2; j++) line(kind, data, origin + i * s[1] + j * s[2], s[0], n0, direction);
    for (int i = 0; rank > 1 && i < n0; i++)
        for (int j = 0; j < n2; j++) line(kind, data, origin + i * s[0] + j * s[2], s[1], n1, direction);
    for (int i = 0; rank > 2 && i < n0; i++)
        for (int j = 0; j < n1; j++) line(kind, data, origin + i * s[0] + j * s[1], s[2], n2, direction);
}

static int execute(int p, int kind, uint64_t from, uint64_t to, int direction) {
    bool good = is_plan(p) && plans[p].made && plans[p].area && plans[p].stream && from == to && from;
    if (!good || (direction != 1 && direction != -1)) return misused();
    if ((plans[p].type == C2C) != (kind == COMPLEX_SINGLE)) return misused();
    for (int i = 0; i < plans[p].batch; i++) transform(p, kind, at(to), (int64_t)i * plans[p].apart, direction);
    return OK;
}

int fake_FftC2C(int p, uint64_t from, uint64_t to, int direction) {
    BEGIN("FftC2C");
    return execute(p, COMPLEX_SINGLE, from, to, direction);
}

int fake_FftZ2Z(int p, uint64_t from, uint64_t to, int direction) {
    BEGIN("FftZ2Z");
    return execute(p, COMPLEX_DOUBLE, from, to, direction);
}
