"""The cases in Numba: njit(parallel=True, fastmath=True), prange over the outer loop, buffers made once.

Borders are written apart from interiors where that is a line or two; elsewhere index maps are inlined."""
import math, os
import numba as nb
import numpy as np
from numba import prange
from inputs import *

NAME = "Numba"
jit = nb.njit(parallel=True, fastmath=True, cache=True)
nb.set_num_threads(min(int(os.environ["BENCH_THREADS"]), nb.config.NUMBA_NUM_THREADS))


@nb.njit(inline="always")
def mirror(i, n):
    return -1 - i if i < 0 else (2 * n - 1 - i if i >= n else i)


@nb.njit(inline="always")
def nearest(i, n):
    return 0 if i < 0 else (n - 1 if i >= n else i)


@jit
def saxpy_(a, x, y):
    for i in prange(x.size):
        y[i] += a * x[i]


def saxpy():
    x, y = pattern(16777216, 37, 1021), pattern(16777216, 53, 1019)
    return lambda: saxpy_(f32(0.5), x, y), lambda: y


@jit
def triad_(b, c, y):
    for i in prange(y.size):
        y[i] = b[i] + f32(3) * c[i]


def triad():
    b, c = pattern(8388608, 37, 1021), pattern(8388608, 53, 1019)
    y = np.empty_like(b)
    return lambda: triad_(b, c, y), lambda: y


@jit
def fused_(x, y):
    for i in prange(y.size):
        y[i] = math.exp(-x[i] * x[i]) * math.sin(x[i])


def fused():
    x = 6 * pattern(4194304, 37, 1021) - 3
    y = np.empty_like(x)
    return lambda: fused_(x, y), lambda: y


@jit
def sum_(x):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    return s


def one(work):
    last = []

    def run():
        last[:] = [work()]
    return run, lambda: np.array(last, f32)


def sum():
    x = pattern(16777216, 37, 1021)
    return one(lambda: sum_(x))


@jit
def dot_(x, y):
    s = 0.0
    for i in prange(x.size):
        s += x[i] * y[i]
    return s


def dot():
    x, y = pattern(8388608, 37, 1021), pattern(8388608, 53, 1019)
    return one(lambda: dot_(x, y))


@jit
def histogram_(x, parts, h):
    p = parts.shape[0]
    for t in prange(p):
        part = np.zeros(256, np.int32)
        for i in range(x.size * t // p, x.size * (t + 1) // p):
            part[x[i]] += 1
        parts[t] = part
    for k in range(256):
        h[k] = parts[:, k].sum()


def histogram():
    x, h = bytes_in(), np.zeros(256, np.int32)
    parts = np.zeros((nb.get_num_threads(), 256), np.int32)
    return lambda: histogram_(x, parts, h), lambda: h


@jit
def scan_(x, sums, y):
    p = sums.size
    for t in prange(p):
        s = 0.0
        for i in range(x.size * t // p, x.size * (t + 1) // p):
            s += x[i]
        sums[t] = s
    for t in prange(p):
        s = sums[:t].sum()
        for i in range(x.size * t // p, x.size * (t + 1) // p):
            s += x[i]
            y[i] = s


def scan():
    x = pattern(8388608, 37, 1021) - f32(0.5)
    y, sums = np.empty_like(x), np.zeros(nb.get_num_threads())
    return lambda: scan_(x, sums, y), lambda: y


@jit
def transpose_(x, y):
    h = x.shape[0]
    for b in prange(h // 16):
        m = b * 16
        for k in range(0, h, 16):
            for i in range(m, m + 16):
                for j in range(k, k + 16):
                    y[i, j] = x[j, i]


def transpose():
    x = image(2048)
    y = np.empty_like(x)
    return lambda: transpose_(x, y), lambda: y


@jit
def box_(x, y):
    h = x.shape[0]
    for m in prange(h):
        for n in range(h):
            s = f32(0)
            if m >= 2 and m < h - 2 and n >= 2 and n < h - 2:
                for a in range(-2, 3):
                    for b in range(-2, 3):
                        s += x[m + a, n + b]
            else:
                for a in range(-2, 3):
                    for b in range(-2, 3):
                        s += x[nearest(m + a, h), nearest(n + b, h)]
            y[m, n] = s / f32(25)


def box():
    x = image(2048)
    y = np.empty_like(x)
    return lambda: box_(x, y), lambda: y


@jit
def gauss_(x, t, y, w):
    h = x.shape[0]
    for m in prange(h):
        for n in range(6):
            s, r = f32(0), f32(0)
            for k in range(-6, 7):
                s += w[k + 6] * x[m, mirror(n + k, h)]
                r += w[k + 6] * x[m, mirror(h - 1 - n + k, h)]
            t[m, n] = s
            t[m, h - 1 - n] = r
        for n in range(6, h - 6):
            s = f32(0)
            for k in range(-6, 7):
                s += w[k + 6] * x[m, n + k]
            t[m, n] = s
    for m in prange(h):
        for n in range(h):
            s = f32(0)
            for k in range(-6, 7):
                s += w[k + 6] * t[mirror(m + k, h), n]
            y[m, n] = s


def gauss():
    x, w = image(2048), gauss_weights()
    t, y = np.empty_like(x), np.empty_like(x)
    return lambda: gauss_(x, t, y, w), lambda: y


@jit
def jacobi_(u, f, v):
    h = u.shape[0]
    for m in prange(h):
        for n in range(h):
            if m > 0 and m < h - 1 and n > 0 and n < h - 1:
                v[m, n] = f32(0.25) * (u[m - 1, n] + u[m + 1, n] + u[m, n - 1] + u[m, n + 1] + f[m, n])
            else:
                s = f[m, n]
                if m > 0:
                    s += u[m - 1, n]
                if m < h - 1:
                    s += u[m + 1, n]
                if n > 0:
                    s += u[m, n - 1]
                if n < h - 1:
                    s += u[m, n + 1]
                v[m, n] = f32(0.25) * s


def jacobi():
    f = image(1024)
    a, b = np.zeros_like(f), np.zeros_like(f)

    def run():
        u, v = a, b
        u[:] = 0
        for _ in range(10):
            jacobi_(u, f, v)
            u, v = v, u
    return run, lambda: a


@jit
def nlmeans_(x, y):
    h = x.shape[0]
    for m in prange(h):
        for n in range(h):
            total, weights = f32(0), f32(0)
            for a in range(-5, 6):
                for b in range(-5, 6):
                    d = f32(0)
                    for p in range(-1, 2):
                        for q in range(-1, 2):
                            e = x[mirror(m + p, h), mirror(n + q, h)] - x[mirror(m + a + p, h), mirror(n + b + q, h)]
                            d += e * e
                    w = math.exp(f32(-8) * d)
                    total += w * x[mirror(m + a, h), mirror(n + b, h)]
                    weights += w
            y[m, n] = total / weights


def nlmeans():
    x = image(256)
    y = np.empty_like(x)
    return lambda: nlmeans_(x, y), lambda: y


@jit
def bilateral_(x, y):
    h = x.shape[0]
    for m in prange(h):
        for n in range(h):
            total, weights = f32(0), f32(0)
            for a in range(-3, 4):
                for b in range(-3, 4):
                    v = x[nearest(m + a, h), nearest(n + b, h)]
                    d = v - x[m, n]
                    w = math.exp(-f32(a * a + b * b) / f32(8) - f32(12.5) * d * d)
                    total += w * v
                    weights += w
            y[m, n] = total / weights


def bilateral():
    x = image(512)
    y = np.empty_like(x)
    return lambda: bilateral_(x, y), lambda: y


@jit
def mandelbrot_(y):
    for m in prange(384):
        for n in range(512):
            a, b = f32(n) * f32(3 / 512) - f32(2.25), f32(m) * f32(2.5 / 384) - f32(1.25)
            u, v, k = f32(0), f32(0), 0
            while k < 200 and u * u + v * v < f32(4):
                u, v = u * u - v * v + a, f32(2) * u * v + b
                k += 1
            y[m, n] = k


def mandelbrot():
    y = np.zeros((384, 512), f32)
    return lambda: mandelbrot_(y), lambda: y


@jit
def nbody_(p, f):
    for i in prange(p.shape[1]):
        fx, fy, fz = f32(0), f32(0), f32(0)
        for j in range(p.shape[1]):
            dx, dy, dz = p[0, j] - p[0, i], p[1, j] - p[1, i], p[2, j] - p[2, i]
            d = dx * dx + dy * dy + dz * dz + f32(0.01)
            r = f32(1) / (d * math.sqrt(d))
            fx += dx * r
            fy += dy * r
            fz += dz * r
        f[0, i] = fx
        f[1, i] = fy
        f[2, i] = fz


def nbody():
    p = bodies()
    f = np.zeros_like(p)
    return lambda: nbody_(p, f), lambda: f


@jit
def blackscholes_(s, k, t, c):
    r, v = f32(0.02), f32(0.3)
    for i in prange(s.size):
        root = v * math.sqrt(t[i])
        d1 = (math.log(s[i] / k[i]) + (r + f32(0.5) * v * v) * t[i]) / root
        d2 = d1 - root
        n1 = f32(0.5) * math.erfc(f32(-0.70710678) * d1)
        n2 = f32(0.5) * math.erfc(f32(-0.70710678) * d2)
        c[i] = s[i] * n1 - k[i] * math.exp(-r * t[i]) * n2


def blackscholes():
    s, k, t = options()
    c = np.empty_like(s)
    return lambda: blackscholes_(s, k, t, c), lambda: c


@jit
def life_(u, v):
    h = u.shape[0]
    for m in prange(h):
        up, down = m - 1 if m > 0 else h - 1, m + 1 if m < h - 1 else 0
        for n in range(h):
            left, right = n - 1 if n > 0 else h - 1, n + 1 if n < h - 1 else 0
            s = (u[up, left] + u[up, n] + u[up, right] + u[m, left] + u[m, n] + u[m, right] +
                 u[down, left] + u[down, n] + u[down, right])
            v[m, n] = s == 3 or (s == 4 and u[m, n] == 1)


def life():
    world = living()
    a, b = np.empty_like(world), np.empty_like(world)

    def run():
        u, v = a, b
        u[:] = world
        for _ in range(10):
            life_(u, v)
            u, v = v, u
    return run, lambda: a


@jit
def kmeans_(x, y, c, parts, out):
    p = parts.shape[0]
    for t in prange(p):
        sums = np.zeros((3, 16), f32)
        for i in range(x.size * t // p, x.size * (t + 1) // p):
            best, at = f32(1e30), 0
            for k in range(16):
                dx, dy = x[i] - c[0, k], y[i] - c[1, k]
                d = dx * dx + dy * dy
                if d < best:
                    best, at = d, k
            sums[0, at] += x[i]
            sums[1, at] += y[i]
            sums[2, at] += f32(1)
        parts[t] = sums
    for k in range(16):
        size = parts[:, 2, k].sum()
        out[0, k] = parts[:, 0, k].sum() / size
        out[1, k] = parts[:, 1, k].sum() / size


def kmeans():
    x, y, c = points()
    parts, out = np.zeros((nb.get_num_threads(), 3, 16), f32), np.zeros((2, 16), f32)
    return lambda: kmeans_(x, y, c, parts, out), lambda: out


@jit
def tiles_(a, b, c):
    h = a.shape[0]
    for t in prange(h // 64):
        m = t * 64
        for i in range(m, m + 64):
            for j in range(h):
                c[i, j] = f32(0)
        for k in range(0, h, 64):
            for j in range(0, h, 64):
                for i in range(m, m + 64):
                    for l in range(k, k + 64):
                        v = a[i, l]
                        for q in range(j, j + 64):
                            c[i, q] += v * b[l, q]


def tiles():
    a, b = image(512), pattern(262144, 53, 1019).reshape(512, 512)
    c = np.empty_like(a)
    return lambda: tiles_(a, b, c), lambda: c


CASES = {f.__name__: f for f in (
    saxpy, triad, fused, sum, dot, histogram, scan, transpose, box, gauss, jacobi, nlmeans, bilateral, mandelbrot,
    nbody, blackscholes, life, kmeans, tiles)}
