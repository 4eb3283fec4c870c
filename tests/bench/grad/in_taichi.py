"""The programs of this folder in Taichi, on its CPU: kernels in ti.ad.Tape, as Taichi's documentation does it.  Sums
over more than a few terms are atomic additions to fields, which is what its rules for differentiable kernels ask for;
states of each iteration are elements of their own.  matmul is left away, and blackscholes, as Taichi has no erfc."""
import taichi as ti


def field(shape, dtype=ti.f32):
    return ti.field(dtype, shape, needs_grad=dtype == ti.f32)


@ti.kernel
def squares(y: ti.template(), scale: ti.f32, s: ti.template()):
    for i in ti.grouped(y):
        s[None] += scale * y[i] * y[i]


@ti.func
def mirror(i, n):
    return ti.select(i < 0, -1 - i, ti.select(i >= n, 2 * n - 1 - i, i))


@ti.kernel
def saxpy_(x: ti.template(), y: ti.template(), z: ti.template()):
    for i in x:
        z[i] = 2.0 * x[i] + y[i]


def saxpy(x, y):
    z = field(x.shape)
    return [], lambda s: (saxpy_(x, y, z), squares(z, 1.0, s))


@ti.kernel
def fused_(x: ti.template(), s: ti.template()):
    for i in x:
        s[None] += ti.exp(-x[i] * x[i]) * ti.sin(3 * x[i]) + 2 * x[i] / (1 + x[i] * x[i])


def fused(x):
    return [], lambda s: fused_(x, s)


@ti.kernel
def box_(x: ti.template(), y: ti.template(), n: ti.i32):
    for i, j in y:
        s = 0.0
        for a in ti.static(range(-2, 3)):
            for b in ti.static(range(-2, 3)):
                s += x[ti.math.clamp(i + a, 0, n - 1), ti.math.clamp(j + b, 0, n - 1)]
        y[i, j] = s / 25


def box(x):
    y = field(x.shape)
    return [], lambda s: (box_(x, y, x.shape[0]), squares(y, 1.0, s))


@ti.kernel
def rows_(x: ti.template(), y: ti.template(), w: ti.template(), n: ti.i32):
    for i, j in y:
        s = 0.0
        for k in ti.static(range(-6, 7)):
            s += w[k + 6] * x[i, mirror(j + k, n)]
        y[i, j] = s


@ti.kernel
def columns_(x: ti.template(), y: ti.template(), w: ti.template(), n: ti.i32):
    for i, j in y:
        s = 0.0
        for k in ti.static(range(-6, 7)):
            s += w[k + 6] * x[mirror(i + k, n), j]
        y[i, j] = s


def gauss(x, w):
    t, y, n = field(x.shape), field(x.shape), x.shape[0]
    return [], lambda s: (rows_(x, t, w, n), columns_(t, y, w, n), squares(y, 1.0, s))


@ti.kernel
def sweep_(u: ti.template(), f: ti.template(), v: ti.template(), n: ti.i32):
    for i, j in v:
        s = f[i, j]
        if i > 0:
            s += u[i - 1, j]
        if i < n - 1:
            s += u[i + 1, j]
        if j > 0:
            s += u[i, j - 1]
        if j < n - 1:
            s += u[i, j + 1]
        v[i, j] = 0.25 * s


def jacobi(f):
    u = [field(f.shape) for _ in range(11)]

    def run(s):
        for k in range(10):
            sweep_(u[k], f, u[k + 1], f.shape[0])
        squares(u[10], 1.0, s)
    return [], run


@ti.kernel
def forces_(p: ti.template(), f: ti.template(), n: ti.i32):
    for i, j in ti.ndrange(n, n):
        dx, dy, dz = p[0, j] - p[0, i], p[1, j] - p[1, i], p[2, j] - p[2, i]
        d = dx * dx + dy * dy + dz * dz + 0.01
        r = 1 / (d * ti.sqrt(d))
        f[0, i] += dx * r
        f[1, i] += dy * r
        f[2, i] += dz * r


def nbody(p):
    f, n = field(p.shape), p.shape[1]
    return [f], lambda s: (forces_(p, f, n), squares(f, 1 / (3 * n), s))


@ti.kernel
def nlmeans_(x: ti.template(), total: ti.template(), weights: ti.template(), n: ti.i32):
    for i, j, a, b in ti.ndrange(n, n, (-5, 6), (-5, 6)):
        d = 0.0
        for p in ti.static(range(-1, 2)):
            for q in ti.static(range(-1, 2)):
                e = (x[mirror(i + p, n), mirror(j + q, n)] - x[mirror(i + a + p, n), mirror(j + b + q, n)])
                d += e * e
        w = ti.exp(-8 * d)
        total[i, j] += w * x[mirror(i + a, n), mirror(j + b, n)]
        weights[i, j] += w


@ti.kernel
def quotients(a: ti.template(), b: ti.template(), s: ti.template()):
    for i, j in a:
        s[None] += (a[i, j] / b[i, j]) ** 2


def nlmeans(x):
    total, weights = field(x.shape), field(x.shape)
    return [total, weights], lambda s: (nlmeans_(x, total, weights, x.shape[0]), quotients(total, weights, s))


@ti.kernel
def exponents_(x: ti.template(), alpha: ti.template(), mu: ti.template(), q: ti.template(), l: ti.template(),
               p: ti.template()):
    for k, i in p:
        total, logs = 0.0, 0.0
        for a in ti.static(range(10)):
            z = ti.exp(q[k, a]) * (x[i, a] - mu[k, a])
            logs += q[k, a]
            for b in ti.static(range(a)):
                z += l[k, a * (a - 1) // 2 + b] * (x[i, b] - mu[k, b])
            total += z * z
        p[k, i] = alpha[k] + logs - 0.5 * total


@ti.ad.no_grad
@ti.kernel
def largest(p: ti.template(), m: ti.template(), count: ti.i32):
    for i in m:
        x = p[0, i]
        for k in range(1, count):
            x = ti.max(x, p[k, i])
        m[i] = x


@ti.kernel
def exponentials(p: ti.template(), m: ti.template(), e: ti.template()):
    for k, i in p:
        e[i] += ti.exp(p[k, i] - m[i])


@ti.kernel
def logarithms(e: ti.template(), m: ti.template(), scale: ti.f32, s: ti.template()):
    for i in e:
        s[None] += scale * (ti.log(e[i]) + m[i])


@ti.kernel
def prior(alpha: ti.template(), q: ti.template(), l: ti.template(), n: ti.f32, s: ti.template()):
    for k, a in q:
        s[None] -= (0.5 * ti.exp(2 * q[k, a]) - q[k, a]) / n
    for k, b in l:
        s[None] -= 0.5 * l[k, b] * l[k, b] / n


def gmm(x, alpha, mu, q, l):
    n, count = x.shape[0], mu.shape[0]
    p, e, m = field((count, n)), field(n), ti.field(ti.f32, n)
    a, ea, ma = field((count, 1)), field(1), ti.field(ti.f32, 1)
    a.from_numpy(alpha.to_numpy()[:, None])

    def run(s):
        exponents_(x, alpha, mu, q, l, p)
        largest(p, m, count)
        exponentials(p, m, e)
        logarithms(e, m, 1 / n, s)
        largest(a, ma, count)
        exponentials(a, ma, ea)
        logarithms(ea, ma, -1.0, s)
        prior(alpha, q, l, float(n), s)
    return [e, ea], run


@ti.kernel
def errors_(cams: ti.template(), points: ti.template(), w: ti.template(), seen: ti.template(), c: ti.template(),
            p: ti.template(), n: ti.f32, s: ti.template()):
    for i in w:
        a, b = c[i], p[i]
        r = ti.Vector([cams[a, 0], cams[a, 1], cams[a, 2]])
        x = ti.Vector([points[b, 0] - cams[a, 3], points[b, 1] - cams[a, 4], points[b, 2] - cams[a, 5]])
        t2 = r.dot(r)
        t = ti.sqrt(t2)
        co, si = ti.cos(t), ti.sin(t) / t
        y = x * co + r.cross(x) * si + r * (r.dot(x) * (1 - co) / t2)
        u, v = y[0] / y[2], y[1] / y[2]
        rr = u * u + v * v
        m = 1 + cams[a, 9] * rr + cams[a, 10] * rr * rr
        e0 = w[i] * (u * m * cams[a, 6] + cams[a, 7] - seen[0, i])
        e1 = w[i] * (v * m * cams[a, 6] + cams[a, 8] - seen[1, i])
        s[None] += 0.25 / n * (e0 * e0 + e1 * e1) + 0.5 / n * (1 - w[i] * w[i]) ** 2


def ba(cams, points, w, seen, c, p):
    return [], lambda s: errors_(cams, points, w, seen, c, p, float(w.shape[0]), s)


@ti.func
def gate(x):
    return 1 / (1 + ti.exp(-x))


@ti.kernel
def turn(w: ti.template(), text: ti.template(), h0: ti.template(), c0: ti.template(), h1: ti.template(),
         c1: ti.template(), y: ti.template(), e: ti.template(), t: ti.i32, d: ti.i32):
    for k in range(d):
        x, h = text[t, k] * w[16, k], h0[t, k]
        c = c0[t, k] * gate(x * w[0, k] + w[4, k]) + gate(h * w[1, k] + w[5, k]) * ti.tanh(h * w[3, k] + w[7, k])
        o = gate(x * w[2, k] + w[6, k]) * ti.tanh(c)
        h0[t + 1, k] = o
        c0[t + 1, k] = c
        g = h1[t, k]
        b = c1[t, k] * gate(o * w[8, k] + w[12, k]) + gate(g * w[9, k] + w[13, k]) * ti.tanh(g * w[11, k] + w[15, k])
        u = gate(o * w[10, k] + w[14, k]) * ti.tanh(b)
        h1[t + 1, k] = u
        c1[t + 1, k] = b
        y[t, k] = u * w[17, k] + w[18, k]
        e[t] += ti.exp(u * w[17, k] + w[18, k])


@ti.kernel
def letters(y: ti.template(), text: ti.template(), e: ti.template(), scale: ti.f32, s: ti.template()):
    for t, k in y:
        s[None] += scale * text[t + 1, k] * (y[t, k] - ti.log(e[t] + 2))


def lstm(w, text):
    n, d = text.shape[0] - 1, text.shape[1]
    states, y, e = [field((n + 1, d)) for _ in range(4)], field((n, d)), field(n)

    def run(s):
        for t in range(n):
            turn(w, text, *states, y, e, t, d)
        letters(y, text, e, 1 / n, s)
    return [e], run


class Peer:
    def __init__(self, threads):
        ti.init(arch=ti.cpu, log_level=ti.ERROR, fast_math=True, cpu_max_num_threads=threads, offline_cache=False)

    def make(self, name, args, at):
        if name not in globals():
            raise NotImplementedError("it is not written in Taichi")
        fields = []
        for a in args:
            fields.append(field(a.shape, ti.i32 if a.dtype.kind == "i" else ti.f32))
            fields[-1].from_numpy(a.astype("int32") if a.dtype.kind == "i" else a)
        sums, run = globals()[name](*fields)
        loss = field(())

        def begin():
            loss[None] = 0
            for f in sums:
                f.fill(0)

        def value():
            begin()
            run(loss)
            ti.sync()

        def grad():
            begin()
            with ti.ad.Tape(loss):
                run(loss)
            ti.sync()
            return fields[at].grad
        return value, grad, lambda g: g.to_numpy()
