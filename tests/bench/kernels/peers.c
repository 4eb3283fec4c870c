/* The same work in C as a fair hand writes it: gcc -O3 -march=native -ffast-math where the kernel allows reassociation,
 * OpenMP over the outer loop with as many threads as the other side uses.  usage: peers NAME; prints "ms checksum". */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static float *floats(size_t n) { return aligned_alloc(64, n * sizeof(float)); }
static double total(const float *x, size_t n) { double s = 0; for (size_t i = 0; i < n; i++) s += x[i]; return s; }
/* TIMED(n) statement: runs it n times, keeps the shortest in `best`. */
static double best, started;
static int timing(int *k, int times) {
    double t = now() - started;
    if (*k >= 0 && t < best) best = t;
    if (*k < 0) best = 1e300;
    started = now();
    return ++*k < times;
}
#define TIMED(times) for (int k_ = -1; timing(&k_, times);)

static void saxpy(void) {
    size_t n = 16777216; float *x = floats(n), *y = floats(n);
    for (size_t i = 0; i < n; i++) x[i] = 1, y[i] = 0;
    TIMED(12) {
        #pragma omp parallel for schedule(static)
        for (size_t i = 0; i < n; i++) y[i] = 0.5f * x[i] + y[i];
    }
    printf("%g %g\n", best, total(y, n));
}

static int mirror(int i, int n) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; }

static void stencil_row(const float *x, float *y, const float *w, int h, int m) {
    for (int n = 0; n < h; n++) {
        if (n >= 2 && n < h - 2 && m >= 2 && m < h - 2) continue;
        float s = 0;
        for (int a = -2; a <= 2; a++)
            for (int b = -2; b <= 2; b++) s += w[(a + 2) * 5 + b + 2] * x[mirror(m + a, h) * h + mirror(n + b, h)];
        y[m * h + n] = s;
    }
    if (m < 2 || m >= h - 2) return;
    for (int n = 2; n < h - 2; n++) {
        float s = 0;
        for (int a = -2; a <= 2; a++)
            for (int b = -2; b <= 2; b++) s += w[(a + 2) * 5 + b + 2] * x[(m + a) * h + n + b];
        y[m * h + n] = s;
    }
}

static void stencil(void) {
    int h = 2048; size_t n = (size_t)h * (size_t)h; float *x = floats(n), *y = floats(n), w[25];
    for (size_t i = 0; i < n; i++) x[i] = (float)i / (float)n;
    for (int i = 0; i < 25; i++) w[i] = 1.0f / 25;
    TIMED(12) {
        #pragma omp parallel for schedule(static)
        for (int m = 0; m < h; m++) stencil_row(x, y, w, h, m);
    }
    printf("%g %g\n", best, total(y, n));
}

static void mathmap(void) {
    size_t n = 4194304; float *x = floats(n), *y = floats(n);
    for (size_t i = 0; i < n; i++) x[i] = (float)i * (6.0f / (float)n) - 3;
    TIMED(12) {
        #pragma omp parallel for simd schedule(static)
        for (size_t i = 0; i < n; i++) y[i] = expf(-x[i] * x[i]) * sinf(x[i]);
    }
    for (size_t i = 0; i < n; i++) y[i] = fabsf(y[i]);
    printf("%g %g\n", best, total(y, n));
}

static void nbody(void) {
    int n = 4096; float *p = floats((size_t)n * 3), *f = floats((size_t)n * 3);
    for (int i = 0; i < n; i++)
        p[i] = (float)(i * 37 % 101) / 101, p[n + i] = (float)(i * 53 % 103) / 103,
        p[2 * n + i] = (float)(i * 71 % 107) / 107;
    TIMED(8) {
        #pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++) {
            float fx = 0, fy = 0, fz = 0;
            for (int j = 0; j < n; j++) {
                float dx = p[j] - p[i], dy = p[n + j] - p[n + i], dz = p[2 * n + j] - p[2 * n + i];
                float d = dx * dx + dy * dy + dz * dz + 0.01f, r = 1 / (d * sqrtf(d));
                fx += dx * r; fy += dy * r; fz += dz * r;
            }
            f[i] = fx; f[n + i] = fy; f[2 * n + i] = fz;
        }
    }
    for (int i = 0; i < 3 * n; i++) f[i] = fabsf(f[i]);
    printf("%g %g\n", best, total(f, (size_t)n * 3));
}

static float nlm_at(const float *x, int h, int m, int n, int inside) {
#define AT(i, j) (inside ? x[(i) * h + (j)] : x[mirror(i, h) * h + mirror(j, h)])
    float sum = 0, weights = 0;
    for (int dm = -5; dm <= 5; dm++) for (int dn = -5; dn <= 5; dn++) {
        float d = 0;
        for (int pm = -1; pm <= 1; pm++) for (int pn = -1; pn <= 1; pn++) {
            float e = AT(m + pm, n + pn) - AT(m + dm + pm, n + dn + pn);
            d += e * e;
        }
        float w = expf(-d * 0.002f);
        sum += w * AT(m + dm, n + dn);
        weights += w;
    }
    return sum / weights;
}

static void nlmeans(void) {
    int h = 512; size_t n = (size_t)h * (size_t)h; float *x = floats(n), *y = floats(n);
    for (size_t i = 0; i < n; i++) x[i] = (float)(i * 7 % 251);
    TIMED(4) {
        #pragma omp parallel for schedule(static)
        for (int m = 0; m < h; m++) {
            int in = m >= 6 && m < h - 6;
            for (int j = 0; j < 6; j++)
                y[m * h + j] = nlm_at(x, h, m, j, 0), y[m * h + h - 1 - j] = nlm_at(x, h, m, h - 1 - j, 0);
            if (in) {
                #pragma omp simd
                for (int j = 6; j < h - 6; j++) y[m * h + j] = nlm_at(x, h, m, j, 1);
            } else for (int j = 6; j < h - 6; j++) y[m * h + j] = nlm_at(x, h, m, j, 0);
        }
    }
    printf("%g %g\n", best, total(y, n));
}

static void histogram(void) {
    size_t n = 16777216; uint8_t *x = malloc(n); int h[256];
    for (size_t i = 0; i < n; i++) x[i] = (uint8_t)(i % 251);
    TIMED(8) {
        memset(h, 0, sizeof h);
        #pragma omp parallel for schedule(static) reduction(+ : h[:256])
        for (size_t i = 0; i < n; i++) h[x[i]]++;
    }
    printf("%g %d\n", best, h[1]);
}

static void fused(void) {
    size_t n = 8388608; float *a = floats(n), *b = floats(n), *c = floats(n), *y = floats(n);
    for (size_t i = 0; i < n; i++) a[i] = (float)i / (float)n, b[i] = 1, c[i] = 2;
    TIMED(12) {
        #pragma omp parallel for schedule(static)
        for (size_t i = 0; i < n; i++) y[i] = a[i] + b[i] * c[i] - a[i] * a[i];
    }
    printf("%g %g\n", best, total(y, n));
}

static void sum(void) {
    size_t n = 16777216; float *x = floats(n); double s = 0;
    for (size_t i = 0; i < n; i++) x[i] = 1;
    TIMED(12) {
        s = 0;
        #pragma omp parallel for simd schedule(static) reduction(+ : s)
        for (size_t i = 0; i < n; i++) s += x[i];
    }
    printf("%g %g\n", best, s);
}

int main(int argc, char **argv) {
    static const struct { const char *name; void (*run)(void); } all[] = {
        {"saxpy", saxpy}, {"stencil", stencil}, {"mathmap", mathmap}, {"nbody", nbody}, {"nlmeans", nlmeans},
        {"histogram", histogram}, {"fused", fused}, {"sum", sum}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc > 1 && !strcmp(argv[1], all[i].name)) return all[i].run(), 0;
    return 2;
}
