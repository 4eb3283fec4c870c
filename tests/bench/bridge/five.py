"""Five arrays into an empty kernel on the CPU, 100 000 times: us per call, by pyquasar and what else is installed."""
import importlib.util, time

TIMES, PARTS = 100_000, 100  # in parts, of which the best counts: other programs interrupt some of them


def show(who, what, call):
    def part():
        start = time.perf_counter()
        for _ in range(TIMES // PARTS):
            call()
        return (time.perf_counter() - start) / (TIMES // PARTS)
    call()
    print("%s|%s|%.2f" % (who, what, min(part() for _ in range(PARTS)) * 1e6), flush=True)


def sets(make):
    yield "NumPy", [make.zeros(16, make.float32) for _ in range(5)]
    if importlib.util.find_spec("torch"):
        import torch
        yield "torch", [torch.zeros(16) for _ in range(5)]


def pyquasar(np):
    import pyquasar as q
    q.init("cpu")
    q.compile_string("five", "function [] = __kernel__ k(a : vec, b : vec, c : vec, d : vec, e : vec, pos : int)\nend")
    launch, k = q.parallel_do, q.k
    for what, (a, b, c, d, e) in sets(np):
        show("pyquasar", what, lambda: launch(16, a, b, c, d, e, k))


def numba(np):
    import numba

    @numba.njit
    def k(a, b, c, d, e):
        pass
    a, b, c, d, e = next(sets(np))[1]
    show("Numba", "NumPy", lambda: k(a, b, c, d, e))


def taichi(np):
    import taichi as ti
    ti.init(arch=ti.cpu, log_level=ti.ERROR)
    array = ti.types.ndarray(dtype=ti.f32, ndim=1)

    @ti.kernel
    def k(a: array, b: array, c: array, d: array, e: array):
        pass
    for what, (a, b, c, d, e) in sets(np):
        show("Taichi", what, lambda: k(a, b, c, d, e))


def warp(np):
    import warp as wp
    wp.config.quiet = True
    wp.init()
    array = wp.array(dtype=float)

    @wp.kernel
    def k(a: array, b: array, c: array, d: array, e: array):
        wp.tid()
    for what, arrays in sets(np):
        show("Warp", what, lambda: wp.launch(k, dim=16, inputs=arrays, device="cpu"))


if __name__ == "__main__":
    import numpy
    for library in (pyquasar, numba, taichi, warp):
        if importlib.util.find_spec(library.__name__):
            library(numpy)
        else:
            print("%s|not installed|" % library.__name__)
