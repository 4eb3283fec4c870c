"""Inputs of the cases, made as kernels/measure.q makes them."""
import numpy as np

f32 = np.float32


def pattern(n, a, m):
    return (np.arange(n, dtype=np.int64) * a % m * a % m).astype(f32) / f32(m)


def image(n):
    return pattern(n * n, 37, 1021).reshape(n, n)


def gauss_weights():
    w = np.exp(-(np.arange(-6, 7, dtype=f32) / 2) ** 2 / 2).astype(f32)
    return w / w.sum()


def bodies():
    return np.stack([pattern(4096, 37, 1021), pattern(4096, 53, 1019), pattern(4096, 71, 1013)])


def options():
    n = 1048576
    return (10 + 20 * pattern(n, 37, 1021), 10 + 20 * pattern(n, 53, 1019),
            f32(0.25) + 2 * pattern(n, 71, 1013))


def points():
    n = 1048576
    return pattern(n, 37, 1021), pattern(n, 53, 1019), np.stack([pattern(16, 5, 17), pattern(16, 11, 19)])


def living():
    return (image(1024) < f32(0.3)).astype(np.uint8)


def bytes_in():
    return (256 * pattern(16777216, 37, 1021)).astype(np.uint8)


def keyed():
    n = 1000003
    return pattern(n, 1103, n), pattern(n, 37, 1021)
