"""The programs of PolyBench, as loops for Numba."""
import numpy as np
from peers import numba, f, field, pattern


@numba(300, 14, lambda n: (field(n, n), field(n, n, 53), field(n, n, 71)), lambda n: [f(n, n)])
def gemm(A, B, C):
    C = C.copy()
    n = C.shape[0]
    for i in range(n):
        for j in range(n):
            C[i, j] *= 1.2
        for k in range(n):
            for j in range(n):
                C[i, j] += 1.5*A[i, k]*B[k, j]
    return C


@numba(500, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def jacobi_2d(A):
    A, B = A.copy(), A.copy()
    n = A.shape[0]
    for t in range(20):
        for i in range(1, n-1):
            for j in range(1, n-1):
                B[i, j] = 0.2*(A[i, j] + A[i, j-1] + A[i, j+1] + A[i+1, j] + A[i-1, j])
        for i in range(1, n-1):
            for j in range(1, n-1):
                A[i, j] = 0.2*(B[i, j] + B[i, j-1] + B[i, j+1] + B[i+1, j] + B[i-1, j])
    return A
