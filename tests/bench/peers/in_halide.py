"""The cases in Halide that are pictures or pointwise: one algorithm, the fastest of several schedules.

One or two schedules are written by hand, as is usual for such stencils; the others are those of Halide's automatic
schedulers (Mullapudi 2016, Adams 2019).  Stages that Halide's users would write apart are apart: a sum over a window is
one along rows, then one along columns, also that of the squares of one shift of nlmeans, which all other sides add up
anew for each position."""
import os, time
import halide as hl
import numpy as np
from inputs import *

NAME = "Halide"
THREADS = int(os.environ["BENCH_THREADS"])
os.environ["HL_NUM_THREADS"] = str(THREADS)
TARGET = hl.get_jit_target_from_environment()
LANES = TARGET.natural_vector_size(hl.Float(32))
i, j = hl.Var("i"), hl.Var("j")  # i: along a row


def plugins():
    folder = os.path.join(os.path.dirname(hl.__file__), "lib64")
    for name, scheduler in (("mullapudi2016", "Mullapudi2016"), ("adams2019", "Adams2019")):
        try:
            hl.load_plugin(os.path.join(folder, f"libautoschedule_{name}.so"))
            yield scheduler
        except RuntimeError:
            pass


SCHEDULERS = list(plugins())



def automatic(f, y, scheduler):
    for v, extent in zip((i, j), y.shape[::-1]):
        f.set_estimate(v, 0, extent)
    p = hl.Pipeline(f)
    p.apply_autoscheduler(TARGET, hl.AutoschedulerParams(scheduler, {"parallelism": str(THREADS)}))
    return p


def schedules(make, by_hand, y, schedulers):
    for schedule in by_hand:
        f, *stages = make()
        schedule(f, *stages)
        yield hl.Pipeline(f)
    for scheduler in schedulers:
        try:
            yield automatic(make()[0], y, scheduler)
        except RuntimeError:
            pass  # it has no answer for this algorithm


def seconds(p, buffer):
    p.compile_jit(TARGET)
    p.realize(buffer)
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        p.realize(buffer)
        best = min(best, time.perf_counter() - start)
    return best


def case(make, by_hand, shape, *inputs, schedulers=SCHEDULERS):
    """`make(*buffers)` gives the last function and those before it, which each of `by_hand` schedules."""
    y = np.zeros(shape, f32)
    buffers, out = [hl.Buffer(a) for a in inputs], hl.Buffer(y)
    best = min(schedules(lambda: make(*buffers), by_hand, y, schedulers), key=lambda p: seconds(p, out))

    def run():
        best.realize(out)
    run.inputs = inputs  # a buffer of Halide does not keep the array whose memory it has
    return run, lambda: y


def named(name, value, *where):
    f = hl.Func(name)
    f[where or (i, j)] = value
    return f


def triad(b, c):
    return named("triad", b[i] + hl.f32(3) * c[i], i),


def fused(x):
    return named("fused", hl.exp(-x[i] * x[i]) * hl.sin(x[i]), i),


def line(f, task=1 << 16):
    x, inner = hl.Var("x"), hl.Var("inner")
    f.split(i, x, inner, task).vectorize(inner, 2 * LANES)
    if THREADS > 1:
        f.parallel(x)


def strips(f, height):
    """The usual schedule of a picture: strips of rows by thread, vectors along the row."""
    y, inner = hl.Var("y"), hl.Var("inner")
    f.split(j, y, inner, height).vectorize(i, LANES)
    if THREADS > 1:
        f.parallel(y)
    return y, inner


def sliding(f, across):
    """The rows of the stage before are kept while the window slides down a strip."""
    y, inner = strips(f, 64)
    across.store_at(f, y).compute_at(f, inner).vectorize(i, LANES)


def by_strip(f, across):
    y, _ = strips(f, 32)
    across.compute_at(f, y).vectorize(i, LANES)


def box(x):
    x = hl.BoundaryConditions.repeat_edge(x)
    across = named("across", sum((x[i + k, j] for k in range(-1, 3)), x[i - 2, j]))
    return named("box", sum((across[i, j + k] for k in range(-1, 3)), across[i, j - 2]) / hl.f32(25)), across


def gauss(x):
    x = hl.BoundaryConditions.mirror_image(x)
    w = [hl.f32(float(v)) for v in gauss_weights()]
    across = named("across", sum((w[k + 6] * x[i + k, j] for k in range(-5, 7)), w[0] * x[i - 6, j]))
    return named("gauss", sum((w[k + 6] * across[i, j + k] for k in range(-5, 7)), w[0] * across[i, j - 6])), across


def jacobi(rhs):
    n = rhs.dim(0).extent()
    rhs = hl.BoundaryConditions.constant_exterior(rhs, hl.f32(0))
    sweeps = [named("first", hl.f32(0.25) * rhs[i, j])]
    for _ in range(9):
        u = hl.BoundaryConditions.constant_exterior(sweeps[-1], hl.f32(0), [hl.Range(0, n), hl.Range(0, n)])
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        sweeps.append(named("sweep", hl.f32(0.25) * (around + rhs[i, j])))
    return sweeps[::-1]


def each_alone(*sweeps):
    for f in sweeps[1:]:
        f.compute_root()
    for f in sweeps:
        strips(f, 64)


def nlmeans(x):
    x = hl.BoundaryConditions.mirror_image(x)
    r = hl.RDom([hl.Range(-5, 11), hl.Range(-5, 11)])
    p, q = hl.Var("p"), hl.Var("q")
    e = x[i, j] - x[i + p, j + q]
    square = named("square", e * e, i, j, p, q)
    across = named("across", square[i - 1, j, p, q] + square[i, j, p, q] + square[i + 1, j, p, q], i, j, p, q)
    d = across[i, j - 1, r.x, r.y] + across[i, j, r.x, r.y] + across[i, j + 1, r.x, r.y]
    w = hl.exp(hl.f32(-8) * d)
    total = named("total", hl.Tuple([hl.f32(0), hl.f32(0)]))
    total[i, j] = hl.Tuple([total[i, j][0] + w * x[i + r.x, j + r.y], total[i, j][1] + w])
    return named("nlmeans", total[i, j][0] / total[i, j][1]), total, across, r


def by_shift(f, total, across, r):
    """Over a strip one shift after the other: squares summed along rows, then weights, added to the totals."""
    y, _ = strips(f, 32)
    total.compute_at(f, y).vectorize(i, LANES)
    total.update().reorder(i, j, r.x, r.y).vectorize(i, LANES)
    across.compute_at(total, r.x).vectorize(i, LANES)


def bilateral(x):
    x = hl.BoundaryConditions.repeat_edge(x)
    r = hl.RDom([hl.Range(-3, 7), hl.Range(-3, 7)])
    v = x[i + r.x, j + r.y]
    d = v - x[i, j]
    w = hl.exp(-hl.cast(hl.Float(32), r.x * r.x + r.y * r.y) / hl.f32(8) - hl.f32(12.5) * d * d)
    total = named("total", hl.Tuple([hl.f32(0), hl.f32(0)]))
    total[i, j] = hl.Tuple([total[i, j][0] + w * v, total[i, j][1] + w])
    return named("bilateral", total[i, j][0] / total[i, j][1]), total, r


def in_registers(f, total, r):
    strips(f, 16)
    total.compute_at(f, i).vectorize(i, LANES)
    total.update().reorder(i, j, r.x, r.y).vectorize(i, LANES).unroll(r.x).unroll(r.y)


CASES = {
    "triad": lambda: case(triad, [line], 8388608, pattern(8388608, 37, 1021), pattern(8388608, 53, 1019)),
    "fused": lambda: case(fused, [line], 4194304, 6 * pattern(4194304, 37, 1021) - 3),
    "box": lambda: case(box, [sliding, by_strip], (2048, 2048), image(2048)),
    "gauss": lambda: case(gauss, [sliding, by_strip], (2048, 2048), image(2048)),
    # Of ten sweeps the schedulers join some, which takes minutes to compile and three times as long to run; for nlmeans
    # on two threads Adams 2019 takes minutes, too.
    "jacobi": lambda: case(jacobi, [each_alone], (1024, 1024), image(1024), schedulers=[]),
    "nlmeans": lambda: case(nlmeans, [by_shift], (256, 256), image(256),
                            schedulers=SCHEDULERS[:1]),
    "bilateral": lambda: case(bilateral, [in_registers], (512, 512), image(512)),
}
