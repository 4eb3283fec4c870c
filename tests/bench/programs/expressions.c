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
