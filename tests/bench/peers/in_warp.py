"""The cases in Warp, on its CPU (one thread), that are one parallel loop."""
import numpy as np
import warp as wp
from inputs import *

NAME = "Warp"
wp.config.quiet = True
wp.config.enable_backward = False
wp.init()
Vec, Mat = wp.array(dtype=float), wp.array2d(dtype=float)


def case(kernel, *inputs, shape=None):
    """The last argument of the kernel is its result, like the first input or of `shape`."""
    arrays = [wp.array(a, dtype=float, device="cpu") for a in inputs]
    y = wp.zeros(shape or inputs[0].shape, dtype=float, device="cpu")
    size = 4096 if kernel is nbody_ else y.shape
    return lambda: wp.launch(kernel, size, arrays + [y], device="cpu"), y.numpy


@wp.func
def mirror(i: int, n: int):
    return wp.where(i < 0, -1 - i, wp.where(i >= n, 2 * n - 1 - i, i))


@wp.kernel
def saxpy_(x: Vec, y: Vec):
    i = wp.tid()
    y[i] = 0.5 * x[i] + y[i]


def saxpy():
    x, y = (wp.array(pattern(16777216, *p), dtype=float, device="cpu") for p in ((37, 1021), (53, 1019)))
    return lambda: wp.launch(saxpy_, x.size, [x, y], device="cpu"), y.numpy


@wp.kernel
def triad_(b: Vec, c: Vec, y: Vec):
    i = wp.tid()
    y[i] = b[i] + 3.0 * c[i]


@wp.kernel
def fused_(x: Vec, y: Vec):
    i = wp.tid()
    y[i] = wp.exp(-x[i] * x[i]) * wp.sin(x[i])


@wp.kernel
def box_(x: Mat, y: Mat):
    m, n = wp.tid()
    s = float(0.0)
    for a in range(-2, 3):
        for b in range(-2, 3):
            s += x[wp.clamp(m + a, 0, 2047), wp.clamp(n + b, 0, 2047)]
    y[m, n] = s / 25.0


@wp.kernel
def nlmeans_(x: Mat, y: Mat):
    m, n = wp.tid()
    total = float(0.0)
    weights = float(0.0)
    for a in range(-5, 6):
        for b in range(-5, 6):
            d = float(0.0)
            for p in range(-1, 2):
                for q in range(-1, 2):
                    e = (x[mirror(m + p, 256), mirror(n + q, 256)] -
                         x[mirror(m + a + p, 256), mirror(n + b + q, 256)])
                    d += e * e
            w = wp.exp(-8.0 * d)
            total += w * x[mirror(m + a, 256), mirror(n + b, 256)]
            weights += w
    y[m, n] = total / weights


@wp.kernel
def bilateral_(x: Mat, y: Mat):
    m, n = wp.tid()
    total = float(0.0)
    weights = float(0.0)
    for a in range(-3, 4):
        for b in range(-3, 4):
            v = x[wp.clamp(m + a, 0, 511), wp.clamp(n + b, 0, 511)]
            d = v - x[m, n]
            w = wp.exp(-float(a * a + b * b) / 8.0 - 12.5 * d * d)
            total += w * v
            weights += w
    y[m, n] = total / weights


@wp.kernel
def mandelbrot_(y: Mat):
    m, n = wp.tid()
    a = float(n) * (3.0 / 512.0) - 2.25
    b = float(m) * (2.5 / 384.0) - 1.25
    u = float(0.0)
    v = float(0.0)
    k = int(0)
    while k < 200 and u * u + v * v < 4.0:
        t = u * u - v * v + a
        v = 2.0 * u * v + b
        u = t
        k += 1
    y[m, n] = float(k)


@wp.kernel
def nbody_(p: Mat, f: Mat):
    i = wp.tid()
    fx = float(0.0)
    fy = float(0.0)
    fz = float(0.0)
    for j in range(4096):
        dx = p[0, j] - p[0, i]
        dy = p[1, j] - p[1, i]
        dz = p[2, j] - p[2, i]
        d = dx * dx + dy * dy + dz * dz + 0.01
        r = 1.0 / (d * wp.sqrt(d))
        fx += dx * r
        fy += dy * r
        fz += dz * r
    f[0, i] = fx
    f[1, i] = fy
    f[2, i] = fz


CASES = {
    "saxpy": saxpy,
    "triad": lambda: case(triad_, pattern(8388608, 37, 1021), pattern(8388608, 53, 1019)),
    "fused": lambda: case(fused_, 6 * pattern(4194304, 37, 1021) - 3),
    "box": lambda: case(box_, image(2048)),
    "nlmeans": lambda: case(nlmeans_, image(256)),
    "bilateral": lambda: case(bilateral_, image(512)),
    "mandelbrot": lambda: case(mandelbrot_, shape=(384, 512)),
    "nbody": lambda: case(nbody_, bodies()),
}
