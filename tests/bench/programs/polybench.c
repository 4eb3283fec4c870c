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
