/* The programs of images in C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define FOR(i, from, end) for (int i = from; i < end; i++)

static int mirrored(int i, int n) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; }
void box_blur(int n, float x[n][n], float y[restrict n][n]) {
    FOR(i, 0, n) FOR(j, 0, n) {
        float s = 0;
        FOR(a, -3, 4) FOR(b, -3, 4) s += x[mirrored(i + a, n)][mirrored(j + b, n)];
        y[i][j] = s / 49;
    }
}

static int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
void sobel(int n, float x[n][n], float y[restrict n][n]) {
    FOR(i, 0, n) FOR(j, 0, n) {
        float *a = x[clamped(i - 1, n)], *b = x[i], *c = x[clamped(i + 1, n)];
        int l = clamped(j - 1, n), r = clamped(j + 1, n);
        float dy = c[l] + 2 * c[j] + c[r] - a[l] - 2 * a[j] - a[r];
        float dx = a[r] + 2 * b[r] + c[r] - a[l] - 2 * b[l] - c[l];
        y[i][j] = sqrtf(dx * dx + dy * dy);
    }
}

void median_3x3(int n, float x[n][n], float y[restrict n][n]) {
    float w[9];
    memcpy(y, x, sizeof(float[n][n]));
    FOR(i, 1, n - 1) FOR(j, 1, n - 1) {
        FOR(k, 0, 9) {
            float v = x[i - 1 + k / 3][j - 1 + k % 3];
            int m = k;
            for (; m > 0 && w[m - 1] > v; m--) w[m] = w[m - 1];
            w[m] = v;
        }
        y[i][j] = w[4];
    }
}

void equalize(int n, unsigned char x[n][n], unsigned char y[restrict n][n]) {
    int counts[256] = {0}, below = 0;
    float table[256];
    FOR(i, 0, n) FOR(j, 0, n) counts[x[i][j]]++;
    FOR(k, 0, 256) below += counts[k], table[k] = 255LL * below / (n * n);
    FOR(i, 0, n) FOR(j, 0, n) y[i][j] = table[x[i][j]];
}

void zoom(int n, float x[n][n], float *restrict y) {
    int m = 2.5f * n;
    FOR(i, 0, m) FOR(j, 0, m) {
        float p = i / 2.5f, q = j / 2.5f;
        int k = p, l = q, k1 = clamped(k + 1, n), l1 = clamped(l + 1, n);
        float a = x[k][l] * (1 - (q - l)) + x[k][l1] * (q - l), b = x[k1][l] * (1 - (q - l)) + x[k1][l1] * (q - l);
        y[(size_t)i * m + j] = a * (1 - (p - k)) + b * (p - k);
    }
}

void dilate(int n, float in[n][n], float y[restrict n][n]) {
    float(*restrict x)[n] = malloc(sizeof(float[n][n]));
    memcpy(y, in, sizeof(float[n][n]));
    FOR(t, 0, 5) {
        memcpy(x, y, sizeof(float[n][n]));
        FOR(i, 1, n - 1) FOR(j, 1, n - 1) {
            float m = x[i][j];
            FOR(a, -1, 2) FOR(b, -1, 2) m = m > x[i + a][j + b] ? m : x[i + a][j + b];
            y[i][j] = m;
        }
    }
    free(x);
}

void fir_filter(int n, float *x, float *c, float *restrict y) {
    memset(y, 0, sizeof(float) * n);
    FOR(i, 31, n) {
        float s = 0;
        FOR(k, 0, 32) s += c[k] * x[i - k];
        y[i] = s;
    }
}

void biquad(int n, float *x, float *restrict y) {
    memcpy(y, x, sizeof(float) * n);
    FOR(t, 0, 3) {
        float a = 0, b = 0;
        FOR(i, 0, n) {
            float w = y[i] + 1.2f * a - 0.5f * b;
            y[i] = 0.1f * w + 0.2f * a + 0.1f * b;
            b = a, a = w;
        }
    }
}

void integral_image(int n, float x[n][n], float s[restrict n + 1][n + 1]) {
    FOR(j, 0, n + 1) s[0][j] = 0;
    FOR(i, 0, n) {
        float row = s[i + 1][0] = 0;
        FOR(j, 0, n) {
            row += x[i][j];
            s[i + 1][j + 1] = s[i][j + 1] + row;
        }
    }
}

void haar(int n, float x[n][n], float y[restrict n][n]) {
    int m = n;
    float t[n];
    memcpy(y, x, sizeof(float[n][n]));
    FOR(level, 0, 3) {
        int h = m / 2;
        FOR(i, 0, m) {
            FOR(j, 0, h) t[j] = (y[i][2 * j] + y[i][2 * j + 1]) / 2, t[h + j] = (y[i][2 * j] - y[i][2 * j + 1]) / 2;
            FOR(j, 0, m) y[i][j] = t[j];
        }
        FOR(j, 0, m) {
            FOR(i, 0, h) t[i] = (y[2 * i][j] + y[2 * i + 1][j]) / 2, t[h + i] = (y[2 * i][j] - y[2 * i + 1][j]) / 2;
            FOR(i, 0, m) y[i][j] = t[i];
        }
        m = h;
    }
}

void edges(int n, float x[n][n], float y[restrict n][n]) {
    float(*gx)[n] = calloc(n, sizeof *gx), (*gy)[n] = calloc(n, sizeof *gy), (*m)[n] = calloc(n, sizeof *m);
    memset(y, 0, sizeof(float[n][n]));
    FOR(i, 1, n - 1) FOR(j, 1, n - 1) {
        float *a = x[i - 1] + j, *b = x[i] + j, *c = x[i + 1] + j;
        gx[i][j] = a[1] + 2 * b[1] + c[1] - a[-1] - 2 * b[-1] - c[-1];
        gy[i][j] = c[-1] + 2 * c[0] + c[1] - a[-1] - 2 * a[0] - a[1];
        m[i][j] = sqrtf(gx[i][j] * gx[i][j] + gy[i][j] * gy[i][j]);
    }
    FOR(i, 1, n - 1) FOR(j, 1, n - 1) {
        float a = fabsf(gx[i][j]), b = fabsf(gy[i][j]), p, q;
        if (a > 2.5f * b) p = m[i][j - 1], q = m[i][j + 1];
        else if (b > 2.5f * a) p = m[i - 1][j], q = m[i + 1][j];
        else if (gx[i][j] * gy[i][j] > 0) p = m[i - 1][j - 1], q = m[i + 1][j + 1];
        else p = m[i - 1][j + 1], q = m[i + 1][j - 1];
        if (m[i][j] >= 0.99f * p && m[i][j] >= 0.99f * q) y[i][j] = m[i][j];
    }
    free(gx), free(gy), free(m);
}

void bilateral(int n, float x[n][n], float y[restrict n][n]) {
    memcpy(y, x, sizeof(float[n][n]));
    FOR(i, 2, n - 2) FOR(j, 2, n - 2) {
        float s = 0, total = 0;
        FOR(a, -2, 3) FOR(b, -2, 3) {
            float d = x[i + a][j + b] - x[i][j], w = expf(-(a * a + b * b) / 8.0f - d * d / 0.02f);
            s += w * x[i + a][j + b], total += w;
        }
        y[i][j] = s / total;
    }
}

void box_sums(int n, float x[n][n], float y[restrict n][n]) {
    float(*s)[n + 1] = calloc(n + 1, sizeof *s);
    FOR(i, 0, n) FOR(j, 0, n) s[i + 1][j + 1] = x[i][j] + s[i][j + 1] + s[i + 1][j] - s[i][j];
    FOR(i, 0, n) FOR(j, 0, n) {
        int a = i > 5 ? i - 5 : 0, b = i + 6 < n ? i + 6 : n, c = j > 5 ? j - 5 : 0, d = j + 6 < n ? j + 6 : n;
        y[i][j] = (s[b][d] - s[a][d] - s[b][c] + s[a][c]) / ((b - a) * (d - c));
    }
    free(s);
}
