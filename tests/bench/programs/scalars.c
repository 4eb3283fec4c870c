/* The programs of scalars in C; double where the programs have numbers, float where they have arrays. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define FOR(i, from, end) for (int i = from; i < end; i++)

void collatz(int n, int unused, double *best) {
    int longest = 0;
    for (int start = 1; start < n; start++) {
        int64_t x = start;
        int steps = 0;
        while (x != 1) x = x % 2 == 0 ? x / 2 : 3 * x + 1, steps++;
        if (steps > longest) longest = steps, *best = start;
    }
}

void sieve(int n, int unused, double *result) {
    int *composite = calloc(n, sizeof *composite), count = 0;
    FOR(i, 2, n) if (!composite[i]) {
        count++;
        for (int64_t j = (int64_t)i * i; j < n; j += i) composite[j] = 1;
    }
    *result = count;
    free(composite);
}

void gcd_sum(int n, int unused, double *result) {
    int64_t total = 0;
    FOR(i, 1, n) FOR(j, i, n) {
        int a = i, b = j;
        while (b) {
            int t = a % b;
            a = b, b = t;
        }
        total += a;
    }
    *result = total;
}

void monte_carlo(int n, int unused, double *y) {
    int64_t seed = 12345, inside = 0;
    FOR(k, 0, n) {
        seed = (seed * 1103 + 12347) % 2147483;
        double x = seed / 2147483.0;
        seed = (seed * 1103 + 12347) % 2147483;
        double z = seed / 2147483.0;
        inside += x * x + z * z < 1;
    }
    *y = 4.0 * inside / n;
}

void leibniz(int n, int unused, double *y) {
    double s = 0, sign = 1;
    FOR(k, 0, n) s += sign / (2 * k + 1), sign = -sign;
    *y = 4 * s;
}

static double curve(double x) { return exp(-x * x) * sin(3 * x) + 1 / (1 + x * x); }
void simpson(int n, int unused, double *y) {
    double h = 4.0 / n, s = curve(0) + curve(4);
    FOR(k, 1, n) s += (k % 2 ? 4 : 2) * curve(k * h);
    *y = s * h / 3;
}

static double acceleration(double x, double v) { return (1 - x * x) * v - x; }
void runge_kutta(int n, int unused, double *rx, double *rv) {
    double x = 0.5, v = 0, h = 0.001;
    FOR(k, 0, n) {
        double k1 = v, l1 = acceleration(x, v);
        double k2 = v + 0.5 * h * l1, l2 = acceleration(x + 0.5 * h * k1, v + 0.5 * h * l1);
        double k3 = v + 0.5 * h * l2, l3 = acceleration(x + 0.5 * h * k2, v + 0.5 * h * l2);
        double k4 = v + h * l3, l4 = acceleration(x + h * k3, v + h * l3);
        x += h * (k1 + 2 * k2 + 2 * k3 + k4) / 6;
        v += h * (l1 + 2 * l2 + 2 * l3 + l4) / 6;
    }
    *rx = x, *rv = v;
}

void newton_fractal(int n, int unused, int steps[restrict n][n]) {
    FOR(i, 0, n) FOR(j, 0, n) {
        double x = 4 * (j + 0.3) / n - 2, y = 4 * (i + 0.3) / n - 2;
        int k = 0;
        while (k < 40) {
            double x2 = x * x, y2 = y * y, a = x * x2 - 3 * x * y2 - 1, b = 3 * x2 * y - y * y2;
            if (a * a + b * b < 0.000001) break;
            double c = 3 * (x2 - y2), e = 6 * x * y, m = c * c + e * e;
            x -= (a * c + b * e) / m;
            y -= (b * c - a * e) / m;
            k++;
        }
        steps[i][j] = k;
    }
}

void mandelbrot(int n, int unused, int steps[restrict n][n]) {
    FOR(i, 0, n) FOR(j, 0, n) {
        double cx = 3.0 * j / n - 2.25, cy = 3.0 * i / n - 1.5, x = 0, y = 0;
        int k = 0;
        while (k < 100 && x * x + y * y < 4) {
            double t = x * x - y * y + cx;
            y = 2 * x * y + cy, x = t, k++;
        }
        steps[i][j] = k;
    }
}

void digit_sums(int n, int unused, double *result) {
    int count = 0;
    FOR(k, 1, n) {
        int s = 0;
        for (int x = k; x > 0; x /= 10) s += x % 10;
        count += k % s == 0;
    }
    *result = count;
}

void perfect_numbers(int n, int unused, double *result) {
    int total = 0;
    FOR(k, 2, n) {
        int s = 1, end = sqrt(k);
        for (int m = 2; m <= end; m++)
            if (k % m == 0) {
                s += m;
                if (m * m != k) s += k / m;
            }
        if (s == k) total += k;
    }
    *result = total;
}

static int smaller(int a, int b) { return a < b ? a : b; }
void edit_distance(int n, int *a, int *b, double *y) {
    int *row = malloc(sizeof(int) * (n + 1));
    FOR(j, 0, n + 1) row[j] = j;
    FOR(i, 1, n + 1) {
        int corner = row[0];
        row[0] = i;
        FOR(j, 1, n + 1) {
            int cost = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            row[j] = smaller(cost, smaller(row[j] + 1, row[j - 1] + 1));
        }
    }
    *y = row[n];
    free(row);
}

void knapsack(int n, int *weight, int *value, double *y) {
    int capacity = 20 * n;
    float *best = calloc(capacity + 1, sizeof *best);
    FOR(i, 0, n) for (int c = capacity; c >= weight[i]; c--) best[c] = fmaxf(best[c], best[c - weight[i]] + value[i]);
    *y = best[capacity];
    free(best);
}

void binary_search(int n, float *list, float *wanted, int *restrict y) {
    FOR(i, 0, n) {
        int lo = 0, hi = n - 1;
        while (lo < hi) {
            int middle = (lo + hi) / 2;
            if (list[middle] < wanted[i]) lo = middle + 1;
            else hi = middle;
        }
        y[i] = lo;
    }
}

void insertion_sort(int n, float *y, float *restrict x) {
    memcpy(x, y, sizeof(float) * n);
    FOR(i, 1, n) {
        float key = x[i];
        int j = i - 1;
        for (; j >= 0 && x[j] > key; j--) x[j + 1] = x[j];
        x[j + 1] = key;
    }
}

void quick_sort(int n, float *y, float *restrict x) {
    int bounds[200] = {0, n - 1}, top = 2;
    memcpy(x, y, sizeof(float) * n);
    while (top > 0) {
        top -= 2;
        int lo = bounds[top], hi = bounds[top + 1], i = lo, j = hi;
        if (lo >= hi) continue;
        float pivot = x[(lo + hi) / 2];
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i <= j) {
                float t = x[i];
                x[i++] = x[j], x[j--] = t;
            }
        }
        bounds[top] = lo, bounds[top + 1] = j, bounds[top + 2] = i, bounds[top + 3] = hi;
        top += 4;
    }
}

void sparse_product(int n, int *columns, float *values, float *start, float *restrict x) {
    float *restrict y = malloc(sizeof(float) * n);
    memcpy(x, start, sizeof(float) * n);
    FOR(t, 0, 40) {
        FOR(i, 0, n) {
            float s = 0;
            FOR(k, 8 * i, 8 * i + 8) s += values[k] * x[columns[k]];
            y[i] = s;
        }
        FOR(i, 0, n) x[i] = y[i];
    }
    free(y);
}

void gravity(int n, float q[n][3], float u[n][3], float p[restrict n][3]) {
    float(*v)[3] = malloc(sizeof(float[n][3]));
    memcpy(p, q, sizeof(float[n][3]));
    memcpy(v, u, sizeof(float[n][3]));
    FOR(t, 0, 10) {
        FOR(i, 0, n) {
            float ax = 0, ay = 0, az = 0;
            FOR(j, 0, n) {
                float dx = p[j][0] - p[i][0], dy = p[j][1] - p[i][1], dz = p[j][2] - p[i][2];
                float r = dx * dx + dy * dy + dz * dz + 0.01f, w = 1 / (r * sqrtf(r));
                ax += dx * w, ay += dy * w, az += dz * w;
            }
            v[i][0] += 0.0001f * ax, v[i][1] += 0.0001f * ay, v[i][2] += 0.0001f * az;
        }
        FOR(i, 0, n) FOR(k, 0, 3) p[i][k] += 0.01f * v[i][k];
    }
    free(v);
}

void hash_table(int n, int unused, double *result) {
    int size = 2 * n + 1, *table = calloc(size, sizeof *table), found = 0;
    int64_t key = 17;
    FOR(k, 0, n) {
        key = (key * 1103 + 12347) % 1000003;
        int at = key * 31 % size;
        while (table[at] != 0 && table[at] != key)
            if (++at == size) at = 0;
        table[at] = key;
    }
    for (int k = 1; k <= n; k++) {
        int at = (int64_t)k * 31 % size;
        while (table[at] != 0 && table[at] != k)
            if (++at == size) at = 0;
        found += table[at] == k;
    }
    *result = found;
    free(table);
}

void logistic_map(int n, int unused, int *restrict counts) {
    double x = 0.3;
    memset(counts, 0, 100 * sizeof *counts);
    FOR(k, 0, n) x = 3.9 * x * (1 - x), counts[(int)(100 * x)]++;
}

void gauss_seidel(int n, float A[n][n], float *b, float *restrict x) {
    FOR(i, 0, n) x[i] = 0;
    FOR(t, 0, 10) FOR(i, 0, n) {
        float s = b[i];
        FOR(j, 0, n) if (j != i) s -= A[i][j] * x[j];
        x[i] = s / A[i][i];
    }
}

void qr_columns(int n, float A[n][n], float Q[restrict n][n], float R[restrict n][n]) {
    memcpy(Q, A, sizeof(float[n][n]));
    memset(R, 0, sizeof(float[n][n]));
    FOR(k, 0, n) {
        float s = 0;
        FOR(i, 0, n) s += Q[i][k] * Q[i][k];
        R[k][k] = sqrtf(s);
        FOR(i, 0, n) Q[i][k] /= R[k][k];
        FOR(j, k + 1, n) {
            float t = 0;
            FOR(i, 0, n) t += Q[i][k] * Q[i][j];
            R[k][j] = t;
            FOR(i, 0, n) Q[i][j] -= t * Q[i][k];
        }
    }
}
