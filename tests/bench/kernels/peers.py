"""The same work in NumPy, and in Numba, Taichi and Warp where they are installed.

usage: peers.py numpy|numba|taichi|warp NAME; prints "ms checksum", or "none" for a case that is not written for it.
Arrays are of the library's own kind and on the CPU; compiling is not counted.  Warp runs CPU kernels on one thread."""
import math, sys, time
import numpy as np

which, name = sys.argv[1], sys.argv[2]
f32 = np.float32


def best(times, work):
    work()
    spent = []
    for _ in range(times):
        t = time.perf_counter()
        work()
        spent.append((time.perf_counter() - t) * 1e3)
    return min(spent)


def numpy_case():
    if name == "saxpy":
        n = 16777216
        x, y = np.ones(n, f32), np.zeros(n, f32)
        def work(): np.add(np.multiply(x, f32(0.5)), y, out=y)
        return best(12, work), y.sum(dtype=float)
    if name == "mathmap":
        n = 4194304
        x = np.arange(n, dtype=f32) * f32(6 / n) - f32(3)
        return best(8, lambda: np.exp(-x * x) * np.sin(x)), 0
    if name == "fused":
        n = 8388608
        a, b, c = np.arange(n, dtype=f32) / n, np.ones(n, f32), 2 * np.ones(n, f32)
        return best(8, lambda: a + b * c - a * a), 0
    if name == "sum":
        x = np.ones(16777216, f32)
        return best(12, lambda: x.sum()), 0
    if name == "stencil":
        x = (np.arange(2048 * 2048, dtype=f32) / (2048 * 2048)).reshape(2048, 2048)
        def work():
            p = np.pad(x, 2, mode="symmetric")
            y = np.zeros_like(x)
            for m in range(5):
                for n in range(5):
                    y += f32(1 / 25) * p[m:m + 2048, n:n + 2048]
            return y
        return best(3, work), 0
    if name == "histogram":
        x = (np.arange(16777216, dtype=np.int64) % 251).astype(np.uint8)
        return best(3, lambda: np.bincount(x, minlength=256)), 0
    return None


def numba_case():
    import numba as nb
    jit = nb.njit(parallel=True, fastmath=True, cache=False)
    prange = nb.prange
    if name == "saxpy":
        n = 16777216
        x, y = np.ones(n, f32), np.zeros(n, f32)
        @jit
        def k(a, x, y):
            for i in prange(x.size):
                y[i] = a * x[i] + y[i]
        return best(12, lambda: k(f32(0.5), x, y)), 0
    if name == "mathmap":
        n = 4194304
        x = np.arange(n, dtype=f32) * f32(6 / n) - f32(3)
        y = np.zeros(n, f32)
        @jit
        def k(x, y):
            for i in prange(x.size):
                y[i] = math.exp(-x[i] * x[i]) * math.sin(x[i])
        return best(8, lambda: k(x, y)), 0
    if name == "nbody":
        n = 4096
        p, f = np.random.rand(3, n).astype(f32), np.zeros((3, n), f32)
        @jit
        def k(p, f):
            for i in prange(p.shape[1]):
                fx = f32(0); fy = f32(0); fz = f32(0)
                for j in range(p.shape[1]):
                    dx = p[0, j] - p[0, i]; dy = p[1, j] - p[1, i]; dz = p[2, j] - p[2, i]
                    d = dx * dx + dy * dy + dz * dz + f32(0.01)
                    r = f32(1) / (d * math.sqrt(d))
                    fx += dx * r; fy += dy * r; fz += dz * r
                f[0, i] = fx; f[1, i] = fy; f[2, i] = fz
        return best(5, lambda: k(p, f)), 0
    if name in ("stencil", "nlmeans"):
        h = 2048 if name == "stencil" else 512
        x = np.random.rand(h, h).astype(f32)
        y = np.zeros((h, h), f32)
        w = np.full((5, 5), f32(1 / 25))
        @nb.njit(inline="always")
        def mirror(i, n):
            return -1 - i if i < 0 else (2 * n - 1 - i if i >= n else i)
        @jit
        def stencil(x, y, w):
            for m in prange(h):
                for n in range(h):
                    s = f32(0)
                    for a in range(-2, 3):
                        for b in range(-2, 3):
                            s += w[a + 2, b + 2] * x[mirror(m + a, h), mirror(n + b, h)]
                    y[m, n] = s
        @jit
        def nlm(x, y):
            for m in prange(h):
                for n in range(h):
                    total = f32(0); weights = f32(0)
                    for dm in range(-5, 6):
                        for dn in range(-5, 6):
                            d = f32(0)
                            for pm in range(-1, 2):
                                for pn in range(-1, 2):
                                    e = x[mirror(m + pm, h), mirror(n + pn, h)] - x[mirror(m + dm + pm, h), mirror(n + dn + pn, h)]
                                    d += e * e
                            wt = math.exp(-d * f32(0.002))
                            total += wt * x[mirror(m + dm, h), mirror(n + dn, h)]
                            weights += wt
                    y[m, n] = total / weights
        return best(3, (lambda: stencil(x, y, w)) if name == "stencil" else (lambda: nlm(x, y))), 0
    return None


def taichi_case():
    import taichi as ti
    ti.init(arch=ti.cpu, log_level=ti.ERROR, fast_math=True)
    if name == "saxpy":
        n = 16777216
        x, y = ti.field(ti.f32, n), ti.field(ti.f32, n)
        x.fill(1)
        @ti.kernel
        def saxpy(a: ti.f32):
            for i in x:
                y[i] = a * x[i] + y[i]
        return best(12, lambda: saxpy(0.5)), 0
    if name == "mathmap":
        n = 4194304
        x, y = ti.field(ti.f32, n), ti.field(ti.f32, n)
        x.from_numpy(np.arange(n, dtype=f32) * f32(6 / n) - f32(3))
        @ti.kernel
        def mathmap():
            for i in x:
                y[i] = ti.exp(-x[i] * x[i]) * ti.sin(x[i])
        return best(8, mathmap), 0
    if name == "nbody":
        n = 4096
        p, f = ti.field(ti.f32, (3, n)), ti.field(ti.f32, (3, n))
        p.from_numpy(np.random.rand(3, n).astype(f32))
        @ti.kernel
        def forces():
            for i in range(n):
                fx, fy, fz = 0.0, 0.0, 0.0
                for j in range(n):
                    dx, dy, dz = p[0, j] - p[0, i], p[1, j] - p[1, i], p[2, j] - p[2, i]
                    d = dx * dx + dy * dy + dz * dz + 0.01
                    r = 1 / (d * ti.sqrt(d))
                    fx += dx * r
                    fy += dy * r
                    fz += dz * r
                f[0, i], f[1, i], f[2, i] = fx, fy, fz
        return best(5, forces), 0
    if name == "stencil":
        h = 2048
        x, y, w = ti.field(ti.f32, (h, h)), ti.field(ti.f32, (h, h)), ti.field(ti.f32, (5, 5))
        x.from_numpy(np.random.rand(h, h).astype(f32))
        w.fill(1 / 25)
        @ti.func
        def mirror(i):
            return ti.select(i < 0, -1 - i, ti.select(i >= h, 2 * h - 1 - i, i))
        @ti.kernel
        def stencil():
            for m, n in y:
                s = 0.0
                for a in range(-2, 3):
                    for b in range(-2, 3):
                        s += w[a + 2, b + 2] * x[mirror(m + a), mirror(n + b)]
                y[m, n] = s
        return best(5, stencil), 0
    return None


def warp_case():
    import warp as wp
    wp.config.quiet = True
    wp.init()
    if name == "saxpy":
        n = 16777216
        x, y = wp.ones(n, dtype=float, device="cpu"), wp.zeros(n, dtype=float, device="cpu")
        @wp.kernel
        def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
            i = wp.tid()
            y[i] = a * x[i] + y[i]
        return best(12, lambda: wp.launch(saxpy, n, [0.5, x, y], device="cpu")), 0
    if name == "mathmap":
        n = 4194304
        x = wp.array(np.arange(n, dtype=f32) * f32(6 / n) - f32(3), dtype=float, device="cpu")
        y = wp.zeros(n, dtype=float, device="cpu")
        @wp.kernel
        def mathmap(x: wp.array(dtype=float), y: wp.array(dtype=float)):
            i = wp.tid()
            y[i] = wp.exp(-x[i] * x[i]) * wp.sin(x[i])
        return best(8, lambda: wp.launch(mathmap, n, [x, y], device="cpu")), 0
    return None


result = {"numpy": numpy_case, "numba": numba_case, "taichi": taichi_case, "warp": warp_case}[which]()
print("none" if result is None else f"{result[0]:.4f} {result[1]}")
