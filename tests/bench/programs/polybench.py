"""The programs of PolyBench, as loops for Numba."""
import numpy as np
from peers import numba, f, f32, field, i, integers, pattern


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


@numba(320, 14, lambda n: (field(n, n), field(n, n, 53), field(n, n, 71), field(n, n, 91)), lambda n: [f(n, n)])
def two_mm(A, B, C, D):
    n = A.shape[0]
    D = D.copy()
    T = np.zeros((n, n), np.float32)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                T[i, j] += 1.5*A[i, k]*B[k, j]
    for i in range(n):
        for j in range(n):
            D[i, j] *= 1.2
            for k in range(n):
                D[i, j] += T[i, k]*C[k, j]
    return D


def product(A, B):
    n = A.shape[0]
    C = np.zeros((n, n), np.float32)
    for i in range(n):
        for j in range(n):
            s = np.float32(0)
            for k in range(n):
                s += A[i, k]*B[k, j]
            C[i, j] = s
    return C


@numba(240, 14, lambda n: (field(n, n), field(n, n, 53), field(n, n, 71), field(n, n, 91)), lambda n: [f(n, n)])
def three_mm(A, B, C, D):
    return product(product(A, B), product(C, D))


@numba(3000, 20, lambda n: (field(n, n), pattern(n, 53)), lambda n: [f(n)])
def atax(A, x):
    n = A.shape[0]
    y = np.zeros(n, np.float32)
    for i in range(n):
        t = np.float32(0)
        for j in range(n):
            t += A[i, j]*x[j]
        for j in range(n):
            y[j] += A[i, j]*t
    return y


@numba(3000, 20, lambda n: (field(n, n), pattern(n, 53), pattern(n, 71)), lambda n: [f(n), f(n)])
def bicg(A, p, r):
    n = A.shape[0]
    s, q = np.zeros(n, np.float32), np.zeros(n, np.float32)
    for i in range(n):
        for j in range(n):
            s[j] += r[i]*A[i, j]
            q[i] += A[i, j]*p[j]
    return s, q


@numba(1500, 20, lambda n: (field(n, n), *(pattern(n, a) for a in (53, 71, 91, 31))), lambda n: [f(n), f(n)])
def mvt(A, x1, x2, y1, y2):
    n = A.shape[0]
    x1, x2 = x1.copy(), x2.copy()
    for i in range(n):
        for j in range(n):
            x1[i] += A[i, j]*y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += A[j, i]*y2[j]
    return x1, x2


@numba(1200, 20, lambda n: (field(n, n), *(pattern(n, a) for a in (53, 71, 91, 31, 11, 13))),
       lambda n: [f(n, n), f(n), f(n)])
def gemver(A, u1, v1, u2, v2, y, z):
    n = A.shape[0]
    A = A.copy()
    x, w = np.zeros(n, np.float32), np.zeros(n, np.float32)
    for i in range(n):
        for j in range(n):
            A[i, j] += u1[i]*v1[j] + u2[i]*v2[j]
    for i in range(n):
        for j in range(n):
            x[i] += 1.2*A[j, i]*y[j]
    for i in range(n):
        x[i] += z[i]
    for i in range(n):
        for j in range(n):
            w[i] += 1.5*A[i, j]*x[j]
    return A, x, w


@numba(2500, 20, lambda n: (field(n, n), field(n, n, 53), pattern(n, 71)), lambda n: [f(n)])
def gesummv(A, B, x):
    n = A.shape[0]
    y = np.zeros(n, np.float32)
    for i in range(n):
        s = np.float32(0)
        t = np.float32(0)
        for j in range(n):
            s += A[i, j]*x[j]
            t += B[i, j]*x[j]
        y[i] = 1.5*s + 1.2*t
    return y


@numba(250, 14, lambda n: (field(n, n), field(n, n, 53), field(n, n, 71)), lambda n: [f(n, n)])
def symm(A, B, C):
    n = A.shape[0]
    C = C.copy()
    for i in range(n):
        for j in range(n):
            t = np.float32(0)
            for k in range(i):
                C[k, j] += 1.5*B[i, j]*A[i, k]
                t += B[k, j]*A[i, k]
            C[i, j] = 1.2*C[i, j] + 1.5*B[i, j]*A[i, i] + 1.5*t
    return C


@numba(320, 14, lambda n: (field(n, n), field(n, n, 53)), lambda n: [f(n, n)])
def syrk(A, C):
    n = A.shape[0]
    C = C.copy()
    for i in range(n):
        for j in range(i+1):
            C[i, j] *= 1.2
        for k in range(n):
            for j in range(i+1):
                C[i, j] += 1.5*A[i, k]*A[j, k]
    return C


@numba(240, 14, lambda n: (field(n, n), field(n, n, 53), field(n, n, 71)), lambda n: [f(n, n)])
def syr2k(A, B, C):
    n = A.shape[0]
    C = C.copy()
    for i in range(n):
        for j in range(i+1):
            C[i, j] *= 1.2
        for k in range(n):
            for j in range(i+1):
                C[i, j] += 1.5*(A[j, k]*B[i, k] + B[j, k]*A[i, k])
    return C


@numba(320, 14, lambda n: (field(n, n), field(n, n, 53)), lambda n: [f(n, n)])
def trmm(A, B):
    n = A.shape[0]
    B = B.copy()
    for i in range(n):
        for j in range(n):
            for k in range(i+1, n):
                B[i, j] += A[k, i]*B[k, j]
            B[i, j] *= 1.5
    return B


@numba(64, 10, lambda n: (pattern(n*n*n, 37).reshape(n, n, n), field(n, n, 53)), lambda n: [f(n, n, n)])
def doitgen(A, B):
    n = B.shape[0]
    A = A.copy()
    s = np.zeros(n, np.float32)
    for r in range(n):
        for q in range(n):
            for p in range(n):
                s[p] = 0
                for k in range(n):
                    s[p] += A[r, q, k]*B[k, p]
            for p in range(n):
                A[r, q, p] = s[p]
    return A


@numba(260, 14, lambda n: (field(n, n),), lambda n: [f(n, n)])
def covariance(A):
    n = A.shape[0]
    A, C = A.copy(), np.zeros((n, n), np.float32)
    for j in range(n):
        m = np.float32(0)
        for i in range(n):
            m += A[i, j]
        m /= n
        for i in range(n):
            A[i, j] -= m
    for i in range(n):
        for j in range(i, n):
            s = np.float32(0)
            for k in range(n):
                s += A[k, i]*A[k, j]
            C[i, j] = s/(n - 1)
            C[j, i] = C[i, j]
    return C


@numba(260, 14, lambda n: (field(n, n),), lambda n: [f(n, n)])
def correlation(A):
    n = A.shape[0]
    A, C = A.copy(), np.zeros((n, n), np.float32)
    for j in range(n):
        m = np.float32(0)
        d = np.float32(0)
        for i in range(n):
            m += A[i, j]
        m /= n
        for i in range(n):
            d += (A[i, j] - m)**2
        d = np.sqrt(d)
        if d <= 0.001:
            d = 1
        for i in range(n):
            A[i, j] = (A[i, j] - m)/d
    for i in range(n):
        C[i, i] = 1
        for j in range(i+1, n):
            for k in range(n):
                C[i, j] += A[k, i]*A[k, j]
            C[j, i] = C[i, j]
    return C


def dominant(n):
    A = f32(0.5)*field(n, n)
    A[range(n), range(n)] += f32(n)
    return A


@numba(450, 14, lambda n: (dominant(n),), lambda n: [f(n, n)])
def cholesky(A):
    n = A.shape[0]
    A = A.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k]*A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k]**2
        A[i, i] = np.sqrt(A[i, i])
    return A


@numba(320, 14, lambda n: (dominant(n),), lambda n: [f(n, n)])
def lu(A):
    n = A.shape[0]
    A = A.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k]*A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k]*A[k, j]
    return A


@numba(320, 14, lambda n: (dominant(n), pattern(n, 53)), lambda n: [f(n)])
def ludcmp(A, b):
    n = A.shape[0]
    A = A.copy()
    x, y = np.zeros(n, np.float32), np.zeros(n, np.float32)
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k]*A[k, j]
            A[i, j] = w/A[j, j]
        for j in range(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k]*A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j]*y[j]
        y[i] = w
    for i in range(n-1, -1, -1):
        w = y[i]
        for j in range(i+1, n):
            w -= A[i, j]*x[j]
        x[i] = w/A[i, i]
    return x


def small_lower(n):
    L = field(n, n)/f32(n)
    L[range(n), range(n)] += f32(1)
    return L


@numba(3000, 20, lambda n: (small_lower(n), pattern(n, 53)), lambda n: [f(n)])
def trisolv(L, b):
    n = L.shape[0]
    x = np.zeros(n, np.float32)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j]*x[j]
        x[i] /= L[i, i]
    return x


@numba(5000, 20, lambda n: (f32(0.1)*pattern(n, 37)/f32(n),), lambda n: [f(n)])
def durbin(r):
    n = len(r)
    y, z = np.zeros(n, np.float32), np.zeros(n, np.float32)
    y[0] = -r[0]
    beta = np.float32(1)
    alpha = -r[0]
    for k in range(1, n):
        beta = (1 - alpha*alpha)*beta
        s = np.float32(0)
        for i in range(k):
            s += r[k-i-1]*y[i]
        alpha = -(r[k] + s)/beta
        for i in range(k):
            z[i] = y[i] + alpha*y[k-i-1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y


@numba(200, 14, lambda n: (dominant(n),), lambda n: [f(n, n), f(n, n)])
def gramschmidt(A):
    n = A.shape[0]
    A, Q, R = A.copy(), np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    for k in range(n):
        s = np.float32(0)
        for i in range(n):
            s += A[i, k]**2
        R[k, k] = np.sqrt(s)
        for i in range(n):
            Q[i, k] = A[i, k]/R[k, k]
        for j in range(k+1, n):
            for i in range(n):
                R[k, j] += Q[i, k]*A[i, j]
            for i in range(n):
                A[i, j] -= Q[i, k]*R[k, j]
    return Q, R


@numba(300, 14, lambda n: (np.floor(1000*field(n, n)) + f32(1),), lambda n: [f(n, n)])
def floyd_warshall(D):
    n = D.shape[0]
    D = D.copy()
    for k in range(n):
        for i in range(n):
            for j in range(n):
                D[i, j] = min(D[i, j], D[i, k] + D[k, j])
    return D


@numba(400, 20, lambda n: (integers(n, 4),), lambda n: [i(n, n)])
def nussinov(s):
    n = len(s)
    T = np.zeros((n, n), np.int32)
    for i in range(n-1, -1, -1):
        for j in range(i+1, n):
            T[i, j] = max(T[i, j], T[i, j-1])
            T[i, j] = max(T[i, j], T[i+1, j])
            if i < j-1:
                T[i, j] = max(T[i, j], T[i+1, j-1] + (1 if s[i] + s[j] == 3 else 0))
            else:
                T[i, j] = max(T[i, j], T[i+1, j-1])
            for k in range(i+1, j):
                T[i, j] = max(T[i, j], T[i, k] + T[k+1, j])
    return T


@numba(700, 14, lambda n: (field(n, n),), lambda n: [f(n, n)])
def deriche(x):
    h, w = x.shape
    one = np.float32(1)
    a = np.float32(0.25)
    e = np.exp(-a)
    k = (one - e)**2/(one + 2*a*e - np.exp(2*a))
    a2, a3, a4, b1, b2 = k*e*(a - one), k*e*(a + one), -k*e*e, np.float32(2**-0.25), -e*e
    t, u, y = np.zeros((h, w), np.float32), np.zeros((h, w), np.float32), np.zeros((h, w), np.float32)
    for i in range(h):
        y1 = y2 = x1 = x2 = np.float32(0)
        for j in range(w):
            t[i, j] = k*x[i, j] + a2*x1 + b1*y1 + b2*y2
            x1, y2, y1 = x[i, j], y1, t[i, j]
        y1 = y2 = x1 = np.float32(0)
        for j in range(w-1, -1, -1):
            u[i, j] = a3*x1 + a4*x2 + b1*y1 + b2*y2
            x2, x1, y2, y1 = x1, x[i, j], y1, u[i, j]
        for j in range(w):
            y[i, j] = t[i, j] + u[i, j]
    for j in range(w):
        y1 = y2 = x1 = x2 = np.float32(0)
        for i in range(h):
            t[i, j] = k*y[i, j] + a2*x1 + b1*y1 + b2*y2
            x1, y2, y1 = y[i, j], y1, t[i, j]
        y1 = y2 = x1 = np.float32(0)
        for i in range(h-1, -1, -1):
            u[i, j] = a3*x1 + a4*x2 + b1*y1 + b2*y2
            x2, x1, y2, y1 = x1, y[i, j], y1, u[i, j]
    for i in range(h):
        for j in range(w):
            y[i, j] = t[i, j] + u[i, j]
    return y


@numba(350, 14, lambda n: (field(n, n),), lambda n: [f(n, n)])
def adi(u):
    n = u.shape[0]
    u = u.copy()
    v, p, q = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    a, b, d, e = np.float32(-0.3), np.float32(1.6), np.float32(-0.45), np.float32(1.9)
    for t in range(4):
        for i in range(1, n-1):
            v[0, i] = 1
            p[i, 0] = 0
            q[i, 0] = 1
            for j in range(1, n-1):
                p[i, j] = -a/(a*p[i, j-1] + b)
                q[i, j] = (-d*u[j, i-1] + (1 + 2*d)*u[j, i] - d*u[j, i+1] - a*q[i, j-1])/(a*p[i, j-1] + b)
            v[n-1, i] = 1
            for j in range(n-2, 0, -1):
                v[j, i] = p[i, j]*v[j+1, i] + q[i, j]
        for i in range(1, n-1):
            u[i, 0] = 1
            p[i, 0] = 0
            q[i, 0] = 1
            for j in range(1, n-1):
                p[i, j] = -d/(d*p[i, j-1] + e)
                q[i, j] = (-a*v[i-1, j] + (1 + 2*a)*v[i, j] - a*v[i+1, j] - d*q[i, j-1])/(d*p[i, j-1] + e)
            u[i, n-1] = 1
            for j in range(n-2, 0, -1):
                u[i, j] = p[i, j]*u[i, j+1] + q[i, j]
    return u


@numba(600, 14, lambda n: (field(n, n), field(n, n, 53), field(n, n, 71)), lambda n: [f(n, n), f(n, n), f(n, n)])
def fdtd_2d(ex, ey, hz):
    n = ex.shape[0]
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(10):
        for j in range(n):
            ey[0, j] = t
        for i in range(1, n):
            for j in range(n):
                ey[i, j] -= 0.5*(hz[i, j] - hz[i-1, j])
        for i in range(n):
            for j in range(1, n):
                ex[i, j] -= 0.5*(hz[i, j] - hz[i, j-1])
        for i in range(n-1):
            for j in range(n-1):
                hz[i, j] -= 0.7*(ex[i, j+1] - ex[i, j] + ey[i+1, j] - ey[i, j])
    return ex, ey, hz


@numba(70, 8, lambda n: (pattern(n*n*n, 37).reshape(n, n, n),), lambda n: [f(n, n, n)])
def heat_3d(A):
    n = A.shape[0]
    A, B = A.copy(), A.copy()
    for t in range(10):
        for i in range(1, n-1):
            for j in range(1, n-1):
                for k in range(1, n-1):
                    B[i, j, k] = (0.125*(A[i+1, j, k] - 2*A[i, j, k] + A[i-1, j, k])
                                  + 0.125*(A[i, j+1, k] - 2*A[i, j, k] + A[i, j-1, k])
                                  + 0.125*(A[i, j, k+1] - 2*A[i, j, k] + A[i, j, k-1]) + A[i, j, k])
        for i in range(1, n-1):
            for j in range(1, n-1):
                for k in range(1, n-1):
                    A[i, j, k] = (0.125*(B[i+1, j, k] - 2*B[i, j, k] + B[i-1, j, k])
                                  + 0.125*(B[i, j+1, k] - 2*B[i, j, k] + B[i, j-1, k])
                                  + 0.125*(B[i, j, k+1] - 2*B[i, j, k] + B[i, j, k-1]) + B[i, j, k])
    return A


@numba(20000, 20, lambda n: (pattern(n, 37),), lambda n: [f(n)])
def jacobi_1d(A):
    n = len(A)
    A, B = A.copy(), A.copy()
    for t in range(1000):
        for i in range(1, n-1):
            B[i] = 0.33333*(A[i-1] + A[i] + A[i+1])
        for i in range(1, n-1):
            A[i] = 0.33333*(B[i-1] + B[i] + B[i+1])
    return A


@numba(500, 14, lambda n: (field(n, n),), lambda n: [f(n, n)])
def seidel_2d(A):
    n = A.shape[0]
    A = A.copy()
    for t in range(5):
        for i in range(1, n-1):
            for j in range(1, n-1):
                A[i, j] = (A[i-1, j-1] + A[i-1, j] + A[i-1, j+1] + A[i, j-1] + A[i, j] + A[i, j+1]
                           + A[i+1, j-1] + A[i+1, j] + A[i+1, j+1])/9
    return A
