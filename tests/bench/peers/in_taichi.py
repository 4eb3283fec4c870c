"""The cases in Taichi, on its CPU, that are one parallel loop."""
import os
import numpy as np
import taichi as ti
from inputs import *

NAME = "Taichi"
ti.init(arch=ti.cpu, log_level=ti.ERROR, fast_math=True, cpu_max_num_threads=int(os.environ["BENCH_THREADS"]),
        offline_cache=False)


def field(a):
    f = ti.field(ti.f32 if a.dtype == f32 else ti.u8, a.shape)
    f.from_numpy(a)
    return f


def case(kernel, *inputs, shape=None):
    """The last argument of the kernel is its result, like the first input or of `shape`."""
    fields = [field(a) for a in inputs]
    y = field(np.zeros(shape or inputs[0].shape, inputs[0].dtype if inputs else f32))

    def run():
        kernel(*fields, y)
        ti.sync()
    return run, y.to_numpy


@ti.func
def mirror(i, n):
    return ti.select(i < 0, -1 - i, ti.select(i >= n, 2 * n - 1 - i, i))


@ti.kernel
def saxpy_(x: ti.template(), y: ti.template()):
    for i in x:
        y[i] += 0.5 * x[i]


def saxpy():
    x, y = field(pattern(16777216, 37, 1021)), field(pattern(16777216, 53, 1019))

    def run():
        saxpy_(x, y)
        ti.sync()
    return run, y.to_numpy


@ti.kernel
def triad_(b: ti.template(), c: ti.template(), y: ti.template()):
    for i in y:
        y[i] = b[i] + 3.0 * c[i]


@ti.kernel
def fused_(x: ti.template(), y: ti.template()):
    for i in y:
        y[i] = ti.exp(-x[i] * x[i]) * ti.sin(x[i])


@ti.kernel
def box_(x: ti.template(), y: ti.template()):
    for m, n in y:
        s = 0.0
        for a in ti.static(range(-2, 3)):
            for b in ti.static(range(-2, 3)):
                s += x[ti.math.clamp(m + a, 0, 2047), ti.math.clamp(n + b, 0, 2047)]
        y[m, n] = s / 25


@ti.kernel
def nlmeans_(x: ti.template(), y: ti.template()):
    for m, n in y:
        total, weights = 0.0, 0.0
        for a in range(-5, 6):
            for b in range(-5, 6):
                d = 0.0
                for p in ti.static(range(-1, 2)):
                    for q in ti.static(range(-1, 2)):
                        e = (x[mirror(m + p, 256), mirror(n + q, 256)] -
                             x[mirror(m + a + p, 256), mirror(n + b + q, 256)])
                        d += e * e
                w = ti.exp(-8 * d)
                total += w * x[mirror(m + a, 256), mirror(n + b, 256)]
                weights += w
        y[m, n] = total / weights


@ti.kernel
def bilateral_(x: ti.template(), y: ti.template()):
    for m, n in y:
        total, weights = 0.0, 0.0
        for a in range(-3, 4):
            for b in range(-3, 4):
                v = x[ti.math.clamp(m + a, 0, 511), ti.math.clamp(n + b, 0, 511)]
                d = v - x[m, n]
                w = ti.exp(-(a * a + b * b) / 8 - 12.5 * d * d)
                total += w * v
                weights += w
        y[m, n] = total / weights


@ti.kernel
def mandelbrot_(y: ti.template()):
    for m, n in y:
        a, b = n * (3 / 512) - 2.25, m * (2.5 / 384) - 1.25
        u, v, k = 0.0, 0.0, 0
        while k < 200 and u * u + v * v < 4:
            u, v = u * u - v * v + a, 2 * u * v + b
            k += 1
        y[m, n] = k


@ti.kernel
def nbody_(p: ti.template(), f: ti.template()):
    for i in range(4096):
        fx, fy, fz = 0.0, 0.0, 0.0
        for j in range(4096):
            dx, dy, dz = p[0, j] - p[0, i], p[1, j] - p[1, i], p[2, j] - p[2, i]
            d = dx * dx + dy * dy + dz * dz + 0.01
            r = 1 / (d * ti.sqrt(d))
            fx += dx * r
            fy += dy * r
            fz += dz * r
        f[0, i], f[1, i], f[2, i] = fx, fy, fz


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
