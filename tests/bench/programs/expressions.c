/* The programs of expressions, as loops in C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define FOR(i, from, end) for (int i = from; i < end; i++)

void smooth_steps(int n, float u[n][n], float r[restrict n][n]) {
    float(*v)[n] = malloc(sizeof(float) * n * n);
    memcpy(r, u, sizeof(float) * n * n);
    memcpy(v, u, sizeof(float) * n * n);
    FOR(t, 0, 20) {
        FOR(i, 1, n - 1)
        FOR(j, 1, n - 1)
        v[i][j] = r[i][j] + 0.2f * (r[i - 1][j] + r[i + 1][j] + r[i][j - 1] + r[i][j + 1] - 4 * r[i][j]);
        memcpy(r, v, sizeof(float) * n * n);
    }
    free(v);
}

static float normal(float x) { return 0.5f + 0.5f * erff(x / sqrtf(2)); }
void black_scholes(int n, float *price, float *strike, float *time, float *restrict call, float *restrict put) {
    FOR(i, 0, n) {
        float s = 0.3f * sqrtf(time[i]), a = (logf(price[i] / strike[i]) + (0.02f + 0.045f) * time[i]) / s, b = a - s;
        float discounted = strike[i] * expf(-0.02f * time[i]);
        call[i] = price[i] * normal(a) - discounted * normal(b);
        put[i] = discounted * normal(-b) - price[i] * normal(-a);
    }
}

void softmax(int n, float x[n][n], float y[restrict n][n]) {
    FOR(i, 0, n) {
        float m = x[i][0], s = 0;
        FOR(j, 1, n) m = fmaxf(m, x[i][j]);
        FOR(j, 0, n) s += y[i][j] = expf(x[i][j] - m);
        FOR(j, 0, n) y[i][j] /= s;
    }
}

void standardize(int n, float x[n][n], float y[restrict n][n]) {
    float *m = calloc(n, sizeof *m), *s = calloc(n, sizeof *s);
    FOR(i, 0, n) FOR(j, 0, n) m[j] += x[i][j];
    FOR(i, 0, n) FOR(j, 0, n) y[i][j] = x[i][j] - m[j] / n, s[j] += y[i][j] * y[i][j];
    FOR(j, 0, n) s[j] = 1 / sqrtf(s[j] / n);
    FOR(i, 0, n) FOR(j, 0, n) y[i][j] *= s[j];
    free(m), free(s);
}

void distance_matrix(int n, float x[n][16], float d[restrict n][n]) {
    FOR(i, 0, n) FOR(j, 0, n) {
        float s = 0;
        FOR(k, 0, 16) s += (x[i][k] - x[j][k]) * (x[i][k] - x[j][k]);
        d[i][j] = s;
    }
}

void arc_distance(int n, float *a1, float *b1, float *a2, float *b2, float *restrict d) {
    FOR(i, 0, n) {
        float s = sinf((a2[i] - a1[i]) / 2), u = sinf((b2[i] - b1[i]) / 2);
        float t = s * s + cosf(a1[i]) * cosf(a2[i]) * u * u;
        d[i] = 2 * atan2f(sqrtf(t), sqrtf(1 - t));
    }
}

void radial_mean(int n, float x[n][n], float *restrict y) {
    float s[20] = {0};
    int count[20] = {0};
    FOR(i, 0, n) FOR(j, 0, n) {
        int m = sqrtf((i - n / 2.0f) * (i - n / 2.0f) + (j - n / 2.0f) * (j - n / 2.0f));
        if (m < 20) s[m] += x[i][j], count[m]++;
    }
    FOR(m, 0, 20) y[m] = s[m] / count[m];
}

void mandelbrot_masks(int n, int unused, float steps[restrict n][n]) {
    FOR(i, 0, n) FOR(j, 0, n) {
        float cx = 3.0f * j / n - 2.25f, cy = 3.0f * i / n - 1.5f, x = 0, y = 0;
        int k = 0;
        while (k < 50 && x * x + y * y < 4) {
            float t = x * x - y * y + cx;
            y = 2 * x * y + cy, x = t, k++;
        }
        steps[i][j] = k;
    }
}

void convolution_layer(int n, float x[8][n][n], float w[8][8][9], float y[restrict 8][n - 2][n - 2]) {
    FOR(o, 0, 8) FOR(i, 0, n - 2) FOR(j, 0, n - 2) {
        float s = 0;
        FOR(c, 0, 8) FOR(k, 0, 9) s += w[o][c][k] * x[c][i + k / 3][j + k % 3];
        y[o][i][j] = fmaxf(s, 0);
    }
}

static void layer(int n, int m, float x[n][n], float w[n][m], float y[restrict n][m], float scale, float bias) {
    memset(y, 0, sizeof(float[n][m]));
    FOR(i, 0, n) {
        FOR(k, 0, n) FOR(j, 0, m) y[i][j] += x[i][k] * w[k][j];
        FOR(j, 0, m) y[i][j] = fmaxf(y[i][j] * scale + bias, 0);
    }
}
void perceptron(int n, float x[n][n], float u[n][n], float v[n][n], float w[n][10], float y[restrict n][10]) {
    float(*g)[n] = malloc(sizeof(float[n][n])), (*h)[n] = malloc(sizeof(float[n][n]));
    layer(n, n, x, u, g, 1, 0.1f);
    layer(n, n, g, v, h, 1.0f / n, 0.1f);
    memset(y, 0, sizeof(float[n][10]));
    FOR(i, 0, n) {
        float m = -1e30f, s = 0;
        FOR(k, 0, n) FOR(j, 0, 10) y[i][j] += h[i][k] * w[k][j];
        FOR(j, 0, 10) m = fmaxf(m, y[i][j] / 10);
        FOR(j, 0, 10) s += y[i][j] = expf(y[i][j] / 10 - m);
        FOR(j, 0, 10) y[i][j] /= s;
    }
    free(g), free(h);
}

void cavity_flow(int n, int unused, float u[restrict n][n], float v[restrict n][n], float p[restrict n][n]) {
    size_t bytes = sizeof(float[n][n]);
    float(*b)[n] = malloc(bytes), (*un)[n] = malloc(bytes), (*vn)[n] = malloc(bytes), (*pn)[n] = malloc(bytes);
    float h = 2.0f / (n - 1), dt = h * h;
    memset(u, 0, bytes), memset(v, 0, bytes), memset(p, 0, bytes);
    FOR(t, 0, 20) {
        FOR(i, 1, n - 1) FOR(j, 1, n - 1) {
            float du = (u[i][j + 1] - u[i][j - 1]) / (2 * h), dv = (v[i + 1][j] - v[i - 1][j]) / (2 * h);
            b[i][j] = (du + dv) / dt - du * du - dv * dv;
        }
        FOR(q, 0, 10) {
            memcpy(pn, p, bytes);
            FOR(i, 1, n - 1)
            FOR(j, 1, n - 1)
            p[i][j] = (pn[i][j + 1] + pn[i][j - 1] + pn[i + 1][j] + pn[i - 1][j] - h * h * b[i][j]) / 4;
            FOR(i, 0, n) p[i][n - 1] = p[i][n - 2];
            FOR(i, 0, n) p[0][i] = p[1][i];
            FOR(i, 0, n) p[i][0] = p[i][1];
            FOR(i, 0, n) p[n - 1][i] = 0;
        }
        memcpy(un, u, bytes), memcpy(vn, v, bytes);
        FOR(i, 1, n - 1) FOR(j, 1, n - 1) {
            float x = un[i][j], y = vn[i][j];
            u[i][j] = x - dt / h * (x * (x - un[i][j - 1]) + y * (x - un[i - 1][j])) -
                      dt / (2 * h) * (p[i][j + 1] - p[i][j - 1]) +
                      0.1f * dt / (h * h) * (un[i][j + 1] + un[i][j - 1] + un[i + 1][j] + un[i - 1][j] - 4 * x);
            v[i][j] = y - dt / h * (x * (y - vn[i][j - 1]) + y * (y - vn[i - 1][j])) -
                      dt / (2 * h) * (p[i + 1][j] - p[i - 1][j]) +
                      0.1f * dt / (h * h) * (vn[i][j + 1] + vn[i][j - 1] + vn[i + 1][j] + vn[i - 1][j] - 4 * y);
        }
        FOR(i, 0, n) u[n - 1][i] = 1;
    }
    free(b), free(un), free(vn), free(pn);
}

void burgers(int n, float *x, float *restrict u) {
    float *restrict w = malloc(sizeof(float) * n);
    memcpy(u, x, sizeof(float) * n);
    FOR(t, 0, 100) {
        FOR(i, 1, n - 1) w[i] = u[i] - 0.1f * u[i] * (u[i] - u[i - 1]) + 0.2f * (u[i + 1] - 2 * u[i] + u[i - 1]);
        memcpy(u + 1, w + 1, sizeof(float) * (n - 2));
        u[0] = u[n - 2], u[n - 1] = u[1];
    }
    free(w);
}

void horizontal_diffusion(int n, float x[16][n][n], float y[restrict 16][n - 4][n - 4]) {
    float(*lap)[n] = malloc(sizeof(float[n][n])), (*fx)[n] = malloc(sizeof(float[n][n]));
    float(*fy)[n] = malloc(sizeof(float[n][n]));
    FOR(k, 0, 16) {
        FOR(i, 1, n - 1)
        FOR(j, 1, n - 1)
        lap[i][j] = 4 * x[k][i][j] - x[k][i + 1][j] - x[k][i - 1][j] - x[k][i][j + 1] - x[k][i][j - 1];
        FOR(i, 1, n - 2) FOR(j, 1, n - 2) {
            float a = lap[i + 1][j] - lap[i][j], b = lap[i][j + 1] - lap[i][j];
            fx[i][j] = a * (x[k][i + 1][j] - x[k][i][j]) > 0 ? 0 : a;
            fy[i][j] = b * (x[k][i][j + 1] - x[k][i][j]) > 0 ? 0 : b;
        }
        FOR(i, 2, n - 2)
        FOR(j, 2, n - 2)
        y[k][i - 2][j - 2] = x[k][i][j] - 0.1f * (fx[i][j] - fx[i - 1][j] + fy[i][j] - fy[i][j - 1]);
    }
    free(lap), free(fx), free(fy);
}

void tridiagonal(int n, float b[n][n], float x[restrict n][n]) {
    float(*c)[n] = malloc(sizeof(float[n][n]));
    FOR(j, 0, n) c[0][j] = -0.25f, x[0][j] = b[0][j] / 4;
    FOR(i, 1, n) FOR(j, 0, n) {
        c[i][j] = -1 / (4 + c[i - 1][j]);
        x[i][j] = (b[i][j] + x[i - 1][j]) / (4 + c[i - 1][j]);
    }
    for (int i = n - 2; i >= 0; i--) FOR(j, 0, n) x[i][j] -= c[i][j] * x[i + 1][j];
    free(c);
}

void gravity_matrix(int n, float p[3][n], float a[restrict 3][n]) {
    FOR(i, 0, n) {
        float ax = 0, ay = 0, az = 0;
        FOR(j, 0, n) {
            float dx = p[0][j] - p[0][i], dy = p[1][j] - p[1][i], dz = p[2][j] - p[2][i];
            float r = dx * dx + dy * dy + dz * dz + 0.01f, w = 1 / (r * sqrtf(r));
            ax += dx * w, ay += dy * w, az += dz * w;
        }
        a[0][i] = ax, a[1][i] = ay, a[2][i] = az;
    }
}

void trace_tanh(int n, float a[n][n], float y[restrict n][n]) {
    float s = 0;
    FOR(i, 0, n) s += tanhf(a[i][i]);
    FOR(i, 0, n) FOR(j, 0, n) y[i][j] = a[i][j] + s;
}

void clip_and_scale(int n, int *a, int *b, int *restrict y) {
    FOR(i, 0, n) y[i] = (a[i] < 200 ? 200 : a[i] > 700 ? 700 : a[i]) * 3 + b[i] * 9 + 7;
}

void correlation_matrix(int n, float x[n][n], float c[restrict n][n]) {
    float(*d)[n] = malloc(sizeof(float[n][n])), m[n], s[n];
    memset(m, 0, sizeof m), memset(s, 0, sizeof s), memset(c, 0, sizeof(float[n][n]));
    FOR(i, 0, n) FOR(j, 0, n) m[j] += x[i][j];
    FOR(i, 0, n) FOR(j, 0, n) d[i][j] = x[i][j] - m[j] / n, s[j] += d[i][j] * d[i][j];
    FOR(j, 0, n) s[j] = 1 / sqrtf(s[j]);
    FOR(i, 0, n) FOR(j, 0, n) d[i][j] *= s[j];
    FOR(i, 0, n) FOR(k, 0, n) FOR(j, 0, n) c[i][j] += d[k][i] * d[k][j];
    free(d);
}

void wave(int n, float x[n][n], float r[restrict n][n]) {
    float(*u)[n] = malloc(sizeof(float[n][n])), (*before)[n] = malloc(sizeof(float[n][n]));
    float(*next)[n] = malloc(sizeof(float[n][n])), (*t)[n];
    memcpy(u, x, sizeof(float[n][n])), memcpy(before, x, sizeof(float[n][n]));
    memcpy(next, x, sizeof(float[n][n]));
    FOR(k, 0, 20) {
        FOR(i, 1, n - 1)
        FOR(j, 1, n - 1)
        next[i][j] =
            2 * u[i][j] - before[i][j] + 0.1f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
        t = before, before = u, u = next, next = t;
    }
    memcpy(r, u, sizeof(float[n][n]));
    free(u), free(before), free(next);
}

static float around(int n, float x[n][n], int i, int j) {
    int up = i ? i - 1 : n - 1, down = i < n - 1 ? i + 1 : 0, left = j ? j - 1 : n - 1, right = j < n - 1 ? j + 1 : 0;
    return x[up][j] + x[down][j] + x[i][left] + x[i][right] - 4 * x[i][j];
}
void gray_scott(int n, float a[n][n], float b[n][n], float u[restrict n][n], float v[restrict n][n]) {
    float(*p)[n] = malloc(sizeof(float[n][n])), (*q)[n] = malloc(sizeof(float[n][n]));
    memcpy(u, a, sizeof(float[n][n])), memcpy(v, b, sizeof(float[n][n]));
    FOR(t, 0, 10) {
        FOR(i, 0, n) FOR(j, 0, n) {
            float r = u[i][j] * v[i][j] * v[i][j];
            p[i][j] = u[i][j] + 0.16f * around(n, u, i, j) - r + 0.035f * (1 - u[i][j]);
            q[i][j] = v[i][j] + 0.08f * around(n, v, i, j) + r - 0.1f * v[i][j];
        }
        memcpy(u, p, sizeof(float[n][n])), memcpy(v, q, sizeof(float[n][n]));
    }
    free(p), free(q);
}
