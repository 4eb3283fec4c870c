"""Programs on images and signals, for Numba."""
import numpy as np
from peers import numba, f, field, pattern


def mirrored(k, n):
    return -1 - k if k < 0 else 2*n - 1 - k if k >= n else k


@numba(700, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def box_blur(x):
    n = x.shape[0]
    y = np.zeros((n, n), np.float32)
    for k in range(n):
        for j in range(n):
            s = np.float32(0)
            for a in range(-3, 4):
                for b in range(-3, 4):
                    s += x[mirrored(k + a, n), mirrored(j + b, n)]
            y[k, j] = s/49
    return y


def clamped(k, n):
    return min(max(k, 0), n - 1)


@numba(1000, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def sobel(x):
    n = x.shape[0]
    y = np.zeros((n, n), np.float32)
    for k in range(n):
        for j in range(n):
            a, b, c = clamped(k - 1, n), k, clamped(k + 1, n)
            l, r = clamped(j - 1, n), clamped(j + 1, n)
            dy = x[c, l] + 2*x[c, j] + x[c, r] - x[a, l] - 2*x[a, j] - x[a, r]
            dx = x[a, r] + 2*x[b, r] + x[c, r] - x[a, l] - 2*x[b, l] - x[c, l]
            y[k, j] = np.sqrt(dx*dx + dy*dy)
    return y


@numba(350, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def median_3x3(x):
    n = x.shape[0]
    y = x.copy()
    w = np.zeros(9, np.float32)
    for k in range(1, n-1):
        for j in range(1, n-1):
            for q in range(9):
                v = x[k - 1 + q//3, j - 1 + q % 3]
                m = q
                while m > 0 and w[m-1] > v:
                    w[m] = w[m-1]
                    m -= 1
                w[m] = v
            y[k, j] = w[4]
    return y


def bytes_of(n):
    return np.floor(200*field(n, n)**2).astype(np.uint8)


@numba(1500, 20, lambda n: (bytes_of(n),), lambda n: [np.empty((n, n), np.uint8)])
def equalize(x):
    h, w = x.shape
    counts = np.zeros(256, np.int32)
    table = np.zeros(256, np.float32)
    y = np.zeros((h, w), np.uint8)
    for k in range(h):
        for j in range(w):
            counts[x[k, j]] += 1
    below = 0
    for k in range(256):
        below += counts[k]
        table[k] = 255*below//(h*w)
    for k in range(h):
        for j in range(w):
            y[k, j] = np.uint8(table[x[k, j]])
    return y


@numba(400, 12, lambda n: (field(n, n),), lambda n: [f(int(2.5*n), int(2.5*n))])
def zoom(x):
    n = x.shape[0]
    m = int(2.5*n)
    y = np.zeros((m, m), np.float32)
    one = np.float32(1)
    for k in range(m):
        for j in range(m):
            p, q = np.float32(k)/np.float32(2.5), np.float32(j)/np.float32(2.5)
            r, s = int(p), int(q)
            r1, s1 = clamped(r + 1, n), clamped(s + 1, n)
            u, v = np.float32(p - r), np.float32(q - s)
            a = x[r, s]*(one - v) + x[r, s1]*v
            b = x[r1, s]*(one - v) + x[r1, s1]*v
            y[k, j] = a*(one - u) + b*u
    return y


@numba(1200, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def dilate(x):
    h, w = x.shape
    for t in range(5):
        y = x.copy()
        for k in range(1, h-1):
            for j in range(1, w-1):
                m = x[k, j]
                for a in range(-1, 2):
                    for b in range(-1, 2):
                        m = max(m, x[k+a, j+b])
                y[k, j] = m
        x = y
    return x


@numba(1000000, 60, lambda n: (pattern(n, 37), pattern(32, 53)), lambda n: [f(n)])
def fir_filter(x, c):
    n = len(x)
    y = np.zeros(n, np.float32)
    for k in range(31, n):
        s = np.float32(0)
        for j in range(32):
            s += c[j]*x[k-j]
        y[k] = s
    return y


@numba(1000000, 60, lambda n: (pattern(n, 37),), lambda n: [f(n)])
def biquad(x):
    y = x.copy()
    for t in range(3):
        a = b = 0.0
        for k in range(len(y)):
            w = y[k] + 1.2*a - 0.5*b
            y[k] = 0.1*w + 0.2*a + 0.1*b
            a, b = w, a
    return y


@numba(2000, 20, lambda n: (field(n, n),), lambda n: [f(n+1, n+1)])
def integral_image(x):
    h, w = x.shape
    s = np.zeros((h + 1, w + 1), np.float32)
    for k in range(h):
        row = np.float32(0)
        for j in range(w):
            row += x[k, j]
            s[k+1, j+1] = s[k, j+1] + row
    return s


@numba(1024, 16, lambda n: (field(n, n),), lambda n: [f(n, n)])
def haar(x):
    n = x.shape[0]
    y = x.copy()
    t = np.zeros(n, np.float32)
    for level in range(3):
        h = n//2
        for k in range(n):
            for j in range(h):
                t[j] = (y[k, 2*j] + y[k, 2*j+1])/2
                t[h+j] = (y[k, 2*j] - y[k, 2*j+1])/2
            for j in range(n):
                y[k, j] = t[j]
        for j in range(n):
            for k in range(h):
                t[k] = (y[2*k, j] + y[2*k+1, j])/2
                t[h+k] = (y[2*k, j] - y[2*k+1, j])/2
            for k in range(n):
                y[k, j] = t[k]
        n = h
    return y


@numba(700, 12, lambda n: (field(n, n),), lambda n: [f(n, n)], mean=True)
def edges(x):
    n = x.shape[0]
    gx, gy = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    m, y = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    for k in range(1, n-1):
        for j in range(1, n-1):
            gx[k, j] = x[k-1, j+1] + 2*x[k, j+1] + x[k+1, j+1] - x[k-1, j-1] - 2*x[k, j-1] - x[k+1, j-1]
            gy[k, j] = x[k+1, j-1] + 2*x[k+1, j] + x[k+1, j+1] - x[k-1, j-1] - 2*x[k-1, j] - x[k-1, j+1]
            m[k, j] = np.sqrt(gx[k, j]**2 + gy[k, j]**2)
    for k in range(1, n-1):
        for j in range(1, n-1):
            a, b = abs(gx[k, j]), abs(gy[k, j])
            if a > 2.5*b:
                p, q = m[k, j-1], m[k, j+1]
            elif b > 2.5*a:
                p, q = m[k-1, j], m[k+1, j]
            elif gx[k, j]*gy[k, j] > 0:
                p, q = m[k-1, j-1], m[k+1, j+1]
            else:
                p, q = m[k-1, j+1], m[k+1, j-1]
            if m[k, j] >= np.float32(0.99)*p and m[k, j] >= np.float32(0.99)*q:
                y[k, j] = m[k, j]
    return y


@numba(200, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def bilateral(x):
    n = x.shape[0]
    y = x.copy()
    for k in range(2, n-2):
        for j in range(2, n-2):
            s = np.float32(0)
            total = np.float32(0)
            for a in range(-2, 3):
                for b in range(-2, 3):
                    d = x[k + a, j + b] - x[k, j]
                    w = np.exp(-np.float32(a*a + b*b)/np.float32(8) - d*d/np.float32(0.02))
                    s += w*x[k + a, j + b]
                    total += w
            y[k, j] = s/total
    return y


@numba(700, 16, lambda n: (field(n, n),), lambda n: [f(n, n)], tolerance=5e-2)
def box_sums(x):
    n = x.shape[0]
    s = np.zeros((n + 1, n + 1), np.float32)
    for k in range(n):
        for j in range(n):
            s[k+1, j+1] = x[k, j] + s[k, j+1] + s[k+1, j] - s[k, j]
    y = np.zeros((n, n), np.float32)
    for k in range(n):
        for j in range(n):
            a, b, c, d = max(k - 5, 0), min(k + 6, n), max(j - 5, 0), min(j + 6, n)
            y[k, j] = (s[b, d] - s[a, d] - s[b, c] + s[a, c])/np.float32((b - a)*(d - c))
    return y
