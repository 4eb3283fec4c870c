"""The programs of this folder in Warp, on its CPU, which has one thread: kernels that a tape records, as Warp's
documentation does it.  What is summed up in a loop of run-time length and used after it is an element of an array: of a
variable Warp loses the adjoint there.  Loops that are short and constant are unrolled by Warp.  matmul is left away."""
import warp as wp

wp.config.quiet = True
wp.init()
wp.set_module_options({"fast_math": True})
Vec, Mat, Ints = wp.array(dtype=float), wp.array2d(dtype=float), wp.array(dtype=int)


def empty(*shape):
    return wp.zeros(shape, dtype=float, device="cpu", requires_grad=True)


def launch(kernel, size, *args):
    wp.launch(kernel, size, args, device="cpu")


@wp.kernel
def squares1(y: Vec, scale: float, s: Vec):
    i = wp.tid()
    wp.atomic_add(s, 0, scale * y[i] * y[i])


@wp.kernel
def squares2(y: Mat, scale: float, s: Vec):
    i, j = wp.tid()
    wp.atomic_add(s, 0, scale * y[i, j] * y[i, j])


@wp.func
def mirror(i: int, n: int):
    return wp.where(i < 0, -1 - i, wp.where(i >= n, 2 * n - 1 - i, i))


@wp.kernel
def saxpy_(x: Vec, y: Vec, z: Vec):
    i = wp.tid()
    z[i] = 2.0 * x[i] + y[i]


def saxpy(x, y):
    z = empty(x.size)
    return lambda s: (launch(saxpy_, x.size, x, y, z), launch(squares1, x.size, z, 1.0, s))


@wp.kernel
def fused_(x: Vec, s: Vec):
    i = wp.tid()
    v = x[i]
    wp.atomic_add(s, 0, wp.exp(-v * v) * wp.sin(3.0 * v) + 2.0 * v / (1.0 + v * v))


def fused(x):
    return lambda s: launch(fused_, x.size, x, s)


@wp.kernel
def box_(x: Mat, y: Mat, n: int):
    i, j = wp.tid()
    s = float(0.0)
    for a in range(-2, 3):
        for b in range(-2, 3):
            s += x[wp.clamp(i + a, 0, n - 1), wp.clamp(j + b, 0, n - 1)]
    y[i, j] = s / 25.0


def box(x):
    y = empty(*x.shape)
    return lambda s: (launch(box_, x.shape, x, y, x.shape[0]), launch(squares2, x.shape, y, 1.0, s))


@wp.kernel
def rows_(x: Mat, y: Mat, w: Vec, n: int):
    i, j = wp.tid()
    s = float(0.0)
    for k in range(-6, 7):
        s += w[k + 6] * x[i, mirror(j + k, n)]
    y[i, j] = s


@wp.kernel
def columns_(x: Mat, y: Mat, w: Vec, n: int):
    i, j = wp.tid()
    s = float(0.0)
    for k in range(-6, 7):
        s += w[k + 6] * x[mirror(i + k, n), j]
    y[i, j] = s


def gauss(x, w):
    t, y, n = empty(*x.shape), empty(*x.shape), x.shape[0]
    return lambda s: (launch(rows_, x.shape, x, t, w, n), launch(columns_, x.shape, t, y, w, n),
                      launch(squares2, x.shape, y, 1.0, s))


@wp.func
def inside(u: Mat, i: int, j: int, n: int):
    r = float(0.0)
    if i >= 0 and i < n and j >= 0 and j < n:
        r = u[i, j]
    return r


@wp.kernel
def sweep_(u: Mat, f: Mat, v: Mat, n: int):
    i, j = wp.tid()
    v[i, j] = 0.25 * (inside(u, i - 1, j, n) + inside(u, i + 1, j, n) + inside(u, i, j - 1, n) +
                      inside(u, i, j + 1, n) + f[i, j])


def jacobi(f):
    u = [empty(*f.shape) for _ in range(11)]

    def run(s):
        for k in range(10):
            launch(sweep_, f.shape, u[k], f, u[k + 1], f.shape[0])
        launch(squares2, f.shape, u[10], 1.0, s)
    return run


@wp.kernel
def forces_(p: Mat, f: Mat, n: int):
    i = wp.tid()
    fx = float(0.0)
    fy = float(0.0)
    fz = float(0.0)
    for j in range(n):
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


def nbody(p):
    f, n = empty(*p.shape), p.shape[1]
    return lambda s: (launch(forces_, n, p, f, n), launch(squares2, p.shape, f, 1.0 / (3 * n), s))


@wp.kernel
def price_(s: Vec, k: Vec, t: Vec, sum: Vec):
    i = wp.tid()
    root = 0.3 * wp.sqrt(t[i])
    d1 = (wp.log(s[i] / k[i]) + (0.02 + 0.045) * t[i]) / root
    d2 = d1 - root
    n1 = 0.5 * wp.erfc(-0.70710678 * d1)
    n2 = 0.5 * wp.erfc(-0.70710678 * d2)
    wp.atomic_add(sum, 0, s[i] * n1 - k[i] * wp.exp(-0.02 * t[i]) * n2)


def blackscholes(a, k, t):
    return lambda s: launch(price_, a.size, a, k, t, s)


@wp.kernel
def nlmeans_(x: Mat, total: Mat, weights: Mat, n: int):
    i, j, a, b = wp.tid()
    a -= 5
    b -= 5
    d = float(0.0)
    for p in range(-1, 2):
        for q in range(-1, 2):
            e = (x[mirror(i + p, n), mirror(j + q, n)] - x[mirror(i + a + p, n), mirror(j + b + q, n)])
            d += e * e
    w = wp.exp(-8.0 * d)
    wp.atomic_add(total, i, j, w * x[mirror(i + a, n), mirror(j + b, n)])
    wp.atomic_add(weights, i, j, w)


@wp.kernel
def quotients(a: Mat, b: Mat, s: Vec):
    i, j = wp.tid()
    y = a[i, j] / b[i, j]
    wp.atomic_add(s, 0, y * y)


def nlmeans(x):
    total, weights, n = empty(*x.shape), empty(*x.shape), x.shape[0]

    def run(s):
        total.zero_(), weights.zero_()
        launch(nlmeans_, (n, n, 11, 11), x, total, weights, n)
        launch(quotients, x.shape, total, weights, s)
    return run


@wp.kernel
def exponents_(x: Mat, alpha: Vec, mu: Mat, q: Mat, l: Mat, p: Mat):
    k, i = wp.tid()
    total = float(0.0)
    logs = float(0.0)
    for a in range(10):
        z = wp.exp(q[k, a]) * (x[i, a] - mu[k, a])
        logs += q[k, a]
        for b in range(a):
            z += l[k, a * (a - 1) / 2 + b] * (x[i, b] - mu[k, b])
        total += z * z
    p[k, i] = alpha[k] + logs - 0.5 * total


@wp.kernel
def largest_(p: Mat, m: Vec, count: int):
    i = wp.tid()
    x = p[0, i]
    for k in range(1, count):
        x = wp.max(x, p[k, i])
    m[i] = x


@wp.kernel
def exponentials(p: Mat, m: Vec, e: Vec):
    k, i = wp.tid()
    wp.atomic_add(e, i, wp.exp(p[k, i] - m[i]))


@wp.kernel
def logarithms(e: Vec, m: Vec, scale: float, sum: Vec):
    i = wp.tid()
    wp.atomic_add(sum, 0, scale * (wp.log(e[i]) + m[i]))


@wp.kernel
def prior_(alpha: Vec, q: Mat, l: Mat, n: float, d: int, nl: int, sum: Vec):
    k = wp.tid()
    prior = float(0.0)
    for a in range(d):
        prior += 0.5 * wp.exp(2.0 * q[k, a]) - q[k, a]
    for b in range(nl):
        prior += 0.5 * l[k, b] * l[k, b]
    wp.atomic_add(sum, 0, -prior / n)


def gmm(x, alpha, mu, q, l):
    n, count = x.shape[0], mu.shape[0]
    p, e, m = empty(count, n), empty(n), wp.zeros(n, dtype=float, device="cpu")
    a = wp.array(alpha.numpy()[:, None], dtype=float, device="cpu")
    ea, ma = empty(1), wp.zeros(1, dtype=float, device="cpu")

    def run(s):
        e.zero_(), ea.zero_()
        launch(exponents_, p.shape, x, alpha, mu, q, l, p)
        launch(largest_, n, p, m, count)
        launch(exponentials, p.shape, p, m, e)
        launch(logarithms, n, e, m, 1.0 / n, s)
        launch(largest_, 1, a, ma, count)
        launch(exponentials, a.shape, a, ma, ea)
        launch(logarithms, 1, ea, ma, -1.0, s)
        launch(prior_, count, alpha, q, l, float(n), q.shape[1], l.shape[1], s)
    return run


@wp.kernel
def errors_(cams: Mat, points: Mat, w: Vec, seen: Mat, c: Ints, p: Ints, n: float, sum: Vec):
    i = wp.tid()
    a = c[i]
    b = p[i]
    r = wp.vec3(cams[a, 0], cams[a, 1], cams[a, 2])
    x = wp.vec3(points[b, 0] - cams[a, 3], points[b, 1] - cams[a, 4], points[b, 2] - cams[a, 5])
    t2 = wp.dot(r, r)
    t = wp.sqrt(t2)
    co = wp.cos(t)
    si = wp.sin(t) / t
    y = x * co + wp.cross(r, x) * si + r * (wp.dot(r, x) * (1.0 - co) / t2)
    u = y[0] / y[2]
    v = y[1] / y[2]
    rr = u * u + v * v
    m = 1.0 + cams[a, 9] * rr + cams[a, 10] * rr * rr
    e0 = w[i] * (u * m * cams[a, 6] + cams[a, 7] - seen[0, i])
    e1 = w[i] * (v * m * cams[a, 6] + cams[a, 8] - seen[1, i])
    z = 1.0 - w[i] * w[i]
    wp.atomic_add(sum, 0, 0.25 / n * (e0 * e0 + e1 * e1) + 0.5 / n * z * z)


def ba(cams, points, w, seen, c, p):
    return lambda s: launch(errors_, w.size, cams, points, w, seen, c, p, float(w.size), s)


@wp.func
def gate(x: float):
    return 1.0 / (1.0 + wp.exp(-x))


@wp.kernel
def lstm_(w: Mat, text: Mat, h0: Mat, c0: Mat, h1: Mat, c1: Mat, y: Mat, n: int, d: int):
    k = wp.tid()
    for t in range(n):
        x = text[t, k] * w[16, k]
        h = h0[t, k]
        c = c0[t, k] * gate(x * w[0, k] + w[4, k]) + gate(h * w[1, k] + w[5, k]) * wp.tanh(h * w[3, k] + w[7, k])
        o = gate(x * w[2, k] + w[6, k]) * wp.tanh(c)
        h0[t + 1, k] = o
        c0[t + 1, k] = c
        g = h1[t, k]
        b = c1[t, k] * gate(o * w[8, k] + w[12, k]) + gate(g * w[9, k] + w[13, k]) * wp.tanh(g * w[11, k] + w[15, k])
        u = gate(o * w[10, k] + w[14, k]) * wp.tanh(b)
        h1[t + 1, k] = u
        c1[t + 1, k] = b
        y[t, k] = u * w[17, k] + w[18, k]


@wp.kernel
def letters_(y: Mat, text: Mat, scale: float, sum: Vec):
    t = wp.tid()
    e = float(2.0)
    for k in range(14):
        e += wp.exp(y[t, k])
    s = float(0.0)
    for k in range(14):
        s += text[t + 1, k] * (y[t, k] - wp.log(e))
    wp.atomic_add(sum, 0, scale * s)


def lstm(w, text):
    n, d = text.shape[0] - 1, text.shape[1]
    states, y = [empty(n + 1, d) for _ in range(4)], empty(n, d)
    return lambda s: (launch(lstm_, d, w, text, *states, y, n, d), launch(letters_, n, y, text, 1.0 / n, s))


class Peer:
    def __init__(self, threads):
        if threads > 1:
            raise NotImplementedError("its CPU has one thread")

    def make(self, name, args, at):
        if name not in globals():
            raise NotImplementedError("it is not written in Warp")
        arrays = [wp.array(a, dtype=int if a.dtype.kind == "i" else float, device="cpu", requires_grad=i == at)
                  for i, a in enumerate(args)]
        run, loss, last = globals()[name](*arrays), empty(1), []

        def value():
            loss.zero_()
            run(loss)

        def grad():
            if last:
                last.pop().zero()
            loss.zero_()
            tape = wp.Tape()
            with tape:
                run(loss)
            tape.backward(loss)
            last.append(tape)
            return arrays[at].grad
        return value, grad, lambda g: g.numpy()
