/* The programs of polybench as a user writes them in C: n is the size; outputs are the last parameters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define FOR(i, from, end) for (int i = from; i < end; i++)

void gemm(int n, float A[n][n], float B[n][n], float C[n][n], float R[restrict n][n]) {
    memcpy(R, C, sizeof(float) * n * n);
    FOR(i, 0, n) {
        FOR(j, 0, n) R[i][j] *= 1.2f;
        FOR(k, 0, n) FOR(j, 0, n) R[i][j] += 1.5f * A[i][k] * B[k][j];
    }
}

void jacobi_2d(int n, float X[n][n], float A[restrict n][n]) {
    float(*B)[n] = malloc(sizeof(float[n][n]));
    memcpy(A, X, sizeof(float) * n * n);
    memcpy(B, X, sizeof(float) * n * n);
    FOR(t, 0, 20) {
        FOR(i, 1, n - 1)
        FOR(j, 1, n - 1) B[i][j] = 0.2f * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
        FOR(i, 1, n - 1)
        FOR(j, 1, n - 1) A[i][j] = 0.2f * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
    }
    free(B);
}

void two_mm(int n, float A[n][n], float B[n][n], float C[n][n], float X[n][n], float D[restrict n][n]) {
    float(*T)[n] = calloc(n, sizeof(float[n]));
    memcpy(D, X, sizeof(float[n][n]));
    FOR(i, 0, n) FOR(j, 0, n) FOR(k, 0, n) T[i][j] += 1.5f * A[i][k] * B[k][j];
    FOR(i, 0, n) FOR(j, 0, n) {
        D[i][j] *= 1.2f;
        FOR(k, 0, n) D[i][j] += T[i][k] * C[k][j];
    }
    free(T);
}

static void product(int n, float A[n][n], float B[n][n], float C[restrict n][n]) {
    FOR(i, 0, n) FOR(j, 0, n) {
        float s = 0;
        FOR(k, 0, n) s += A[i][k] * B[k][j];
        C[i][j] = s;
    }
}
void three_mm(int n, float A[n][n], float B[n][n], float C[n][n], float D[n][n], float G[restrict n][n]) {
    float(*E)[n] = malloc(sizeof(float[n][n])), (*F)[n] = malloc(sizeof(float[n][n]));
    product(n, A, B, E);
    product(n, C, D, F);
    product(n, E, F, G);
    free(E), free(F);
}

void atax(int n, float A[n][n], float *x, float *restrict y) {
    memset(y, 0, sizeof(float) * n);
    FOR(i, 0, n) {
        float t = 0;
        FOR(j, 0, n) t += A[i][j] * x[j];
        FOR(j, 0, n) y[j] += A[i][j] * t;
    }
}

void bicg(int n, float A[n][n], float *p, float *r, float *restrict s, float *restrict q) {
    memset(s, 0, sizeof(float) * n);
    memset(q, 0, sizeof(float) * n);
    FOR(i, 0, n) FOR(j, 0, n) {
        s[j] += r[i] * A[i][j];
        q[i] += A[i][j] * p[j];
    }
}

void mvt(int n, float A[n][n], float *a, float *b, float *y1, float *y2, float *restrict x1, float *restrict x2) {
    memcpy(x1, a, sizeof(float) * n);
    memcpy(x2, b, sizeof(float) * n);
    FOR(i, 0, n) FOR(j, 0, n) x1[i] += A[i][j] * y1[j];
    FOR(i, 0, n) FOR(j, 0, n) x2[i] += A[j][i] * y2[j];
}

void gemver(int n, float X[n][n], float *u1, float *v1, float *u2, float *v2, float *y, float *z,
            float A[restrict n][n], float *restrict x, float *restrict w) {
    memcpy(A, X, sizeof(float[n][n]));
    memset(x, 0, sizeof(float) * n);
    memset(w, 0, sizeof(float) * n);
    FOR(i, 0, n) FOR(j, 0, n) A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
    FOR(i, 0, n) FOR(j, 0, n) x[i] += 1.2f * A[j][i] * y[j];
    FOR(i, 0, n) x[i] += z[i];
    FOR(i, 0, n) FOR(j, 0, n) w[i] += 1.5f * A[i][j] * x[j];
}

void gesummv(int n, float A[n][n], float B[n][n], float *x, float *restrict y) {
    FOR(i, 0, n) {
        float s = 0, t = 0;
        FOR(j, 0, n) s += A[i][j] * x[j], t += B[i][j] * x[j];
        y[i] = 1.5f * s + 1.2f * t;
    }
}

void symm(int n, float A[n][n], float B[n][n], float X[n][n], float C[restrict n][n]) {
    memcpy(C, X, sizeof(float[n][n]));
    FOR(i, 0, n) FOR(j, 0, n) {
        float t = 0;
        FOR(k, 0, i) {
            C[k][j] += 1.5f * B[i][j] * A[i][k];
            t += B[k][j] * A[i][k];
        }
        C[i][j] = 1.2f * C[i][j] + 1.5f * B[i][j] * A[i][i] + 1.5f * t;
    }
}

void syrk(int n, float A[n][n], float X[n][n], float C[restrict n][n]) {
    memcpy(C, X, sizeof(float[n][n]));
    FOR(i, 0, n) {
        FOR(j, 0, i + 1) C[i][j] *= 1.2f;
        FOR(k, 0, n) FOR(j, 0, i + 1) C[i][j] += 1.5f * A[i][k] * A[j][k];
    }
}

void syr2k(int n, float A[n][n], float B[n][n], float X[n][n], float C[restrict n][n]) {
    memcpy(C, X, sizeof(float[n][n]));
    FOR(i, 0, n) {
        FOR(j, 0, i + 1) C[i][j] *= 1.2f;
        FOR(k, 0, n) FOR(j, 0, i + 1) C[i][j] += 1.5f * (A[j][k] * B[i][k] + B[j][k] * A[i][k]);
    }
}

void trmm(int n, float A[n][n], float X[n][n], float B[restrict n][n]) {
    memcpy(B, X, sizeof(float[n][n]));
    FOR(i, 0, n) FOR(j, 0, n) {
        FOR(k, i + 1, n) B[i][j] += A[k][i] * B[k][j];
        B[i][j] *= 1.5f;
    }
}

void doitgen(int n, float X[n][n][n], float B[n][n], float A[restrict n][n][n]) {
    float s[n];
    memcpy(A, X, sizeof(float[n][n][n]));
    FOR(r, 0, n) FOR(q, 0, n) {
        FOR(p, 0, n) {
            s[p] = 0;
            FOR(k, 0, n) s[p] += A[r][q][k] * B[k][p];
        }
        FOR(p, 0, n) A[r][q][p] = s[p];
    }
}

static void covariances(int n, float A[restrict n][n], float C[restrict n][n]) {
    FOR(i, 0, n) FOR(j, i, n) {
        float s = 0;
        FOR(k, 0, n) s += A[k][i] * A[k][j];
        C[j][i] = C[i][j] = s / (n - 1);
    }
}
void covariance(int n, float X[n][n], float C[restrict n][n]) {
    float(*A)[n] = malloc(sizeof(float[n][n]));
    memcpy(A, X, sizeof(float[n][n]));
    FOR(j, 0, n) {
        float m = 0;
        FOR(i, 0, n) m += A[i][j];
        m /= n;
        FOR(i, 0, n) A[i][j] -= m;
    }
    covariances(n, A, C);
    free(A);
}

void correlation(int n, float X[n][n], float C[restrict n][n]) {
    float(*A)[n] = malloc(sizeof(float[n][n]));
    memcpy(A, X, sizeof(float[n][n]));
    memset(C, 0, sizeof(float[n][n]));
    FOR(j, 0, n) {
        float m = 0, d = 0;
        FOR(i, 0, n) m += A[i][j];
        m /= n;
        FOR(i, 0, n) d += (A[i][j] - m) * (A[i][j] - m);
        d = sqrtf(d);
        if (d <= 0.001f) d = 1;
        FOR(i, 0, n) A[i][j] = (A[i][j] - m) / d;
    }
    FOR(i, 0, n) {
        C[i][i] = 1;
        FOR(j, i + 1, n) {
            FOR(k, 0, n) C[i][j] += A[k][i] * A[k][j];
            C[j][i] = C[i][j];
        }
    }
    free(A);
}

void cholesky(int n, float X[n][n], float A[restrict n][n]) {
    memcpy(A, X, sizeof(float[n][n]));
    FOR(i, 0, n) {
        FOR(j, 0, i) {
            FOR(k, 0, j) A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        FOR(k, 0, i) A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = sqrtf(A[i][i]);
    }
}

void lu(int n, float X[n][n], float A[restrict n][n]) {
    memcpy(A, X, sizeof(float[n][n]));
    FOR(i, 0, n) {
        FOR(j, 0, i) {
            FOR(k, 0, j) A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        FOR(j, i, n) FOR(k, 0, i) A[i][j] -= A[i][k] * A[k][j];
    }
}

void ludcmp(int n, float X[n][n], float *b, float *restrict x) {
    float(*A)[n] = malloc(sizeof(float[n][n])), y[n];
    memcpy(A, X, sizeof(float[n][n]));
    FOR(i, 0, n) {
        FOR(j, 0, i) {
            float w = A[i][j];
            FOR(k, 0, j) w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        FOR(j, i, n) {
            float w = A[i][j];
            FOR(k, 0, i) w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }
    FOR(i, 0, n) {
        float w = b[i];
        FOR(j, 0, i) w -= A[i][j] * y[j];
        y[i] = w;
    }
    for (int i = n - 1; i >= 0; i--) {
        float w = y[i];
        FOR(j, i + 1, n) w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
    free(A);
}

void trisolv(int n, float L[n][n], float *b, float *restrict x) {
    FOR(i, 0, n) {
        x[i] = b[i];
        FOR(j, 0, i) x[i] -= L[i][j] * x[j];
        x[i] /= L[i][i];
    }
}

void durbin(int n, float *r, float *restrict y) {
    float *z = malloc(sizeof(float) * n), beta = 1, alpha = -r[0];
    y[0] = -r[0];
    FOR(k, 1, n) {
        float s = 0;
        beta *= 1 - alpha * alpha;
        FOR(i, 0, k) s += r[k - i - 1] * y[i];
        alpha = -(r[k] + s) / beta;
        FOR(i, 0, k) z[i] = y[i] + alpha * y[k - i - 1];
        FOR(i, 0, k) y[i] = z[i];
        y[k] = alpha;
    }
    free(z);
}

void gramschmidt(int n, float X[n][n], float Q[restrict n][n], float R[restrict n][n]) {
    float(*A)[n] = malloc(sizeof(float[n][n]));
    memcpy(A, X, sizeof(float[n][n]));
    memset(R, 0, sizeof(float[n][n]));
    FOR(k, 0, n) {
        float s = 0;
        FOR(i, 0, n) s += A[i][k] * A[i][k];
        R[k][k] = sqrtf(s);
        FOR(i, 0, n) Q[i][k] = A[i][k] / R[k][k];
        FOR(j, k + 1, n) {
            FOR(i, 0, n) R[k][j] += Q[i][k] * A[i][j];
            FOR(i, 0, n) A[i][j] -= Q[i][k] * R[k][j];
        }
    }
    free(A);
}

void floyd_warshall(int n, float X[n][n], float D[restrict n][n]) {
    memcpy(D, X, sizeof(float[n][n]));
    FOR(k, 0, n) FOR(i, 0, n) FOR(j, 0, n) D[i][j] = D[i][j] < D[i][k] + D[k][j] ? D[i][j] : D[i][k] + D[k][j];
}

static int larger(int a, int b) { return a > b ? a : b; }
void nussinov(int n, int *s, int T[restrict n][n]) {
    memset(T, 0, sizeof(int[n][n]));
    for (int i = n - 1; i >= 0; i--) FOR(j, i + 1, n) {
            T[i][j] = larger(T[i][j], T[i][j - 1]);
            T[i][j] = larger(T[i][j], T[i + 1][j]);
            if (i < j - 1) T[i][j] = larger(T[i][j], T[i + 1][j - 1] + (s[i] + s[j] == 3));
            else T[i][j] = larger(T[i][j], T[i + 1][j - 1]);
            FOR(k, i + 1, j) T[i][j] = larger(T[i][j], T[i][k] + T[k + 1][j]);
        }
}

void deriche(int n, float x[n][n], float y[restrict n][n]) {
    float(*t)[n] = malloc(sizeof(float[n][n])), (*u)[n] = malloc(sizeof(float[n][n]));
    float a = 0.25f, e = expf(-a), k = (1 - e) * (1 - e) / (1 + 2 * a * e - expf(2 * a));
    float a2 = k * e * (a - 1), a3 = k * e * (a + 1), a4 = -k * e * e, b1 = powf(2, -a), b2 = -e * e;
    FOR(i, 0, n) {
        float y1 = 0, y2 = 0, x1 = 0, x2 = 0;
        FOR(j, 0, n) {
            t[i][j] = k * x[i][j] + a2 * x1 + b1 * y1 + b2 * y2;
            x1 = x[i][j], y2 = y1, y1 = t[i][j];
        }
        y1 = y2 = x1 = 0;
        for (int j = n - 1; j >= 0; j--) {
            u[i][j] = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
            x2 = x1, x1 = x[i][j], y2 = y1, y1 = u[i][j];
        }
        FOR(j, 0, n) y[i][j] = t[i][j] + u[i][j];
    }
    FOR(j, 0, n) {
        float y1 = 0, y2 = 0, x1 = 0, x2 = 0;
        FOR(i, 0, n) {
            t[i][j] = k * y[i][j] + a2 * x1 + b1 * y1 + b2 * y2;
            x1 = y[i][j], y2 = y1, y1 = t[i][j];
        }
        y1 = y2 = x1 = 0;
        for (int i = n - 1; i >= 0; i--) {
            u[i][j] = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
            x2 = x1, x1 = y[i][j], y2 = y1, y1 = u[i][j];
        }
    }
    FOR(i, 0, n) FOR(j, 0, n) y[i][j] = t[i][j] + u[i][j];
    free(t), free(u);
}

void adi(int n, float X[n][n], float u[restrict n][n]) {
    float(*v)[n] = calloc(n, sizeof(float[n])), (*p)[n] = calloc(n, sizeof(float[n]));
    float(*q)[n] = calloc(n, sizeof(float[n])), a = -0.3f, b = 1.6f, d = -0.45f, e = 1.9f;
    memcpy(u, X, sizeof(float[n][n]));
    FOR(t, 0, 4) {
        FOR(i, 1, n - 1) {
            v[0][i] = 1, p[i][0] = 0, q[i][0] = 1;
            FOR(j, 1, n - 1) {
                p[i][j] = -a / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - d * u[j][i + 1] - a * q[i][j - 1]) /
                          (a * p[i][j - 1] + b);
            }
            v[n - 1][i] = 1;
            for (int j = n - 2; j > 0; j--) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        FOR(i, 1, n - 1) {
            u[i][0] = 1, p[i][0] = 0, q[i][0] = 1;
            FOR(j, 1, n - 1) {
                p[i][j] = -d / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - a * v[i + 1][j] - d * q[i][j - 1]) /
                          (d * p[i][j - 1] + e);
            }
            u[i][n - 1] = 1;
            for (int j = n - 2; j > 0; j--) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
    free(v), free(p), free(q);
}

void fdtd_2d(int n, float X[n][n], float Y[n][n], float Z[n][n], float ex[restrict n][n], float ey[restrict n][n],
             float hz[restrict n][n]) {
    memcpy(ex, X, sizeof(float[n][n]));
    memcpy(ey, Y, sizeof(float[n][n]));
    memcpy(hz, Z, sizeof(float[n][n]));
    FOR(t, 0, 10) {
        FOR(j, 0, n) ey[0][j] = t;
        FOR(i, 1, n) FOR(j, 0, n) ey[i][j] -= 0.5f * (hz[i][j] - hz[i - 1][j]);
        FOR(i, 0, n) FOR(j, 1, n) ex[i][j] -= 0.5f * (hz[i][j] - hz[i][j - 1]);
        FOR(i, 0, n - 1) FOR(j, 0, n - 1) hz[i][j] -= 0.7f * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

#define HEAT(A, i, j, k)                                                                                               \
    0.125f * (A[i + 1][j][k] - 2 * A[i][j][k] + A[i - 1][j][k]) +                                                      \
        0.125f * (A[i][j + 1][k] - 2 * A[i][j][k] + A[i][j - 1][k]) +                                                  \
        0.125f * (A[i][j][k + 1] - 2 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k]
void heat_3d(int n, float X[n][n][n], float A[restrict n][n][n]) {
    float(*B)[n][n] = malloc(sizeof(float[n][n][n]));
    memcpy(A, X, sizeof(float[n][n][n]));
    memcpy(B, X, sizeof(float[n][n][n]));
    FOR(t, 0, 10) {
        FOR(i, 1, n - 1) FOR(j, 1, n - 1) FOR(k, 1, n - 1) B[i][j][k] = HEAT(A, i, j, k);
        FOR(i, 1, n - 1) FOR(j, 1, n - 1) FOR(k, 1, n - 1) A[i][j][k] = HEAT(B, i, j, k);
    }
    free(B);
}

void jacobi_1d(int n, float *x, float *restrict A) {
    float *restrict B = malloc(sizeof(float) * n);
    memcpy(A, x, sizeof(float) * n);
    memcpy(B, x, sizeof(float) * n);
    FOR(t, 0, 1000) {
        FOR(i, 1, n - 1) B[i] = 0.33333f * (A[i - 1] + A[i] + A[i + 1]);
        FOR(i, 1, n - 1) A[i] = 0.33333f * (B[i - 1] + B[i] + B[i + 1]);
    }
    free(B);
}

void seidel_2d(int n, float X[n][n], float A[restrict n][n]) {
    memcpy(A, X, sizeof(float[n][n]));
    FOR(t, 0, 5) FOR(i, 1, n - 1) FOR(j, 1, n - 1) {
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                   A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                  9;
    }
}
