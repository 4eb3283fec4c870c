"""The cases in NumPy, as whole-array operations."""
import math
import numpy as np
from inputs import *

NAME = "NumPy"


def value(make):
    """A case whose result is what its function returns."""
    def case():
        work, last = make(), []

        def run():
            last[:] = [work()]
        return run, lambda: np.asarray(last[0])
    return case


def saxpy():
    x, y = pattern(16777216, 37, 1021), pattern(16777216, 53, 1019)

    def work():
        y[:] += f32(0.5) * x
        return y
    return work


def triad():
    b, c = pattern(8388608, 37, 1021), pattern(8388608, 53, 1019)
    return lambda: b + 3 * c


def fused():
    x = 6 * pattern(4194304, 37, 1021) - 3
    return lambda: np.exp(-x * x) * np.sin(x)


def sum_():
    x = pattern(16777216, 37, 1021)
    return lambda: np.array([x.sum()])


def dot():
    x, y = pattern(8388608, 37, 1021), pattern(8388608, 53, 1019)
    return lambda: np.array([np.dot(x, y)])


def histogram():
    x = bytes_in()
    return lambda: np.bincount(x, minlength=256).astype(np.int32)


def scan():
    x = pattern(8388608, 37, 1021) - f32(0.5)
    return lambda: np.cumsum(x)


def transpose():
    x = image(2048)
    return lambda: np.ascontiguousarray(x.T)


def box():
    x = image(2048)

    def work():
        p, s = np.pad(x, 2, mode="edge"), np.zeros_like(x)
        for m in range(5):
            for n in range(5):
                s += p[m:m + 2048, n:n + 2048]
        s /= 25
        return s
    return work


def gauss():
    x, w = image(2048), gauss_weights()

    def along(x, axis):
        p = np.pad(x, [(6, 6) if a == axis else (0, 0) for a in (0, 1)], mode="symmetric")
        s = np.zeros_like(x)
        for k in range(13):
            s += w[k] * (p[k:k + 2048] if axis == 0 else p[:, k:k + 2048])
        return s
    return lambda: along(along(x, 1), 0)


def jacobi():
    f = image(1024)

    def work():
        u = np.zeros((1026, 1026), f32)
        for _ in range(10):
            v = f.copy()
            v += u[:-2, 1:-1]
            v += u[2:, 1:-1]
            v += u[1:-1, :-2]
            v += u[1:-1, 2:]
            v *= f32(0.25)
            u[1:-1, 1:-1] = v
        return np.ascontiguousarray(u[1:-1, 1:-1])
    return work


def nlmeans():
    x = image(256)

    def work():
        p = np.pad(x, 6, mode="symmetric")
        total, weights = np.zeros_like(x), np.zeros_like(x)
        for a in range(-5, 6):
            for b in range(-5, 6):
                d = np.zeros_like(x)
                for i in range(5, 8):
                    for j in range(5, 8):
                        e = p[i:i + 256, j:j + 256] - p[i + a:i + a + 256, j + b:j + b + 256]
                        d += e * e
                w = np.exp(-8 * d)
                total += w * p[6 + a:262 + a, 6 + b:262 + b]
                weights += w
        return total / weights
    return work


def bilateral():
    x = image(512)

    def work():
        p = np.pad(x, 3, mode="edge")
        total, weights = np.zeros_like(x), np.zeros_like(x)
        for m in range(-3, 4):
            for n in range(-3, 4):
                v = p[3 + m:515 + m, 3 + n:515 + n]
                w = np.exp(f32(-(m * m + n * n) / 8) - f32(12.5) * (v - x) ** 2)
                total += w * v
                weights += w
        return total / weights
    return work


def mandelbrot():
    a = (np.arange(512, dtype=f32) * f32(3 / 512) - f32(2.25))[None, :]
    b = (np.arange(384, dtype=f32) * f32(2.5 / 384) - f32(1.25))[:, None]
    a, b = (np.ascontiguousarray(np.broadcast_to(v, (384, 512))).ravel() for v in (a, b))

    def work():
        count, left = np.zeros(a.size, f32), np.arange(a.size)
        c, d, u, v = a, b, np.zeros_like(a), np.zeros_like(a)
        for _ in range(200):
            u, v = u * u - v * v + c, 2 * u * v + d
            count[left] += 1
            stay = u * u + v * v < 4
            left, c, d, u, v = left[stay], c[stay], d[stay], u[stay], v[stay]
        return count
    return work


def nbody():
    p = bodies()

    def work():
        f = np.empty_like(p)
        for i in range(0, 4096, 64):
            d = p[:, None, :] - p[:, i:i + 64, None]
            q = (d * d).sum(0) + f32(0.01)
            f[:, i:i + 64] = (d / (q * np.sqrt(q))).sum(2)
        return f
    return work


def erfc(x):
    """Abramowitz and Stegun 7.1.26 would be too coarse: a fit of Numerical Recipes, 1.2e-7."""
    z = np.abs(x)
    t = 1 / (1 + f32(0.5) * z)
    s = f32(0.17087277)
    for c in (-0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368,
              -1.26551223):
        s = s * t + f32(c)
    r = t * np.exp(-z * z + s)
    return np.where(x >= 0, r, 2 - r)


def blackscholes():
    s, k, t = options()

    def work():
        r, v = f32(0.02), f32(0.3)
        root = v * np.sqrt(t)
        d1 = (np.log(s / k) + (r + f32(0.5) * v * v) * t) / root
        d2 = d1 - root
        n1, n2 = f32(0.5) * erfc(f32(-0.70710678) * d1), f32(0.5) * erfc(f32(-0.70710678) * d2)
        return s * n1 - k * np.exp(-r * t) * n2
    return work


def life():
    world = living()

    def work():
        u = world
        for _ in range(10):
            p = np.pad(u, 1, mode="wrap")
            rows = p[:-2] + p[1:-1] + p[2:]
            s = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
            u = ((s == 3) | ((s == 4) & (u == 1))).astype(np.uint8)
        return u
    return work


def kmeans():
    x, y, c = points()

    def work():
        best, at = np.full(x.size, f32(1e30)), np.zeros(x.size, np.int32)
        for k in range(16):
            d = (x - c[0, k]) ** 2 + (y - c[1, k]) ** 2
            near = d < best
            best[near] = d[near]
            at[near] = k
        size = np.bincount(at, minlength=16)
        return np.stack([np.bincount(at, x, 16) / size, np.bincount(at, y, 16) / size]).astype(f32)
    return work


def matmul():
    a, b = image(1024), pattern(1048576, 53, 1019).reshape(1024, 1024)
    return lambda: a @ b


def sortkey():
    keys, values = keyed()
    return lambda: values[np.argsort(keys, kind="stable")]


CASES = {f.__name__.strip("_"): value(f) for f in (
    saxpy, triad, fused, sum_, dot, histogram, scan, transpose, box, gauss, jacobi, nlmeans, bilateral, mandelbrot,
    nbody, blackscholes, life, kmeans, matmul, sortkey)}
