#!/usr/bin/env python3
"""The programs of this folder elsewhere, served to tests/bench/grad.py: torch, JAX; in_warp.py and in_taichi.py.

    peers.py torch|jax|warp|taichi

Lines on the standard input: "case NAME THREADS PATH" prepares a case, writes its gradient (raw float32) to PATH and
answers "ready", or "none: why"; "value N" and "grad N" are answered with the shortest of N runs, in milliseconds.
torch runs operators one by one (torch.compile is left away: its cost is that of a C++ compiler); JAX compiles the
whole function."""
import importlib, os, sys, time
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
from inputs import f32, gauss_weights, pattern


def image(n, m=None, a=37, b=1021):
    m = m or n
    return pattern(n * m, a, b).reshape(n, m)


def mixture():
    n, d, k = 10000, 10, 25
    return (image(n, d), pattern(k, 53, 1019), image(k, d, 71, 1013), image(k, d, 37, 1009),
            image(k, d * (d - 1) // 2, 11, 1021))


def bundle():
    n, nc, npt = 31843, 49, 7776
    cams = (0.1 + 0.2 * image(nc, 11)).astype(f32)
    points = image(npt, 3, 53, 1019).copy()
    points[:, 2] += 4
    i = np.arange(n)
    return cams, points, (0.5 + 0.5 * pattern(n, 71, 1013)).astype(f32), image(2, n, 37, 1009), i % nc, i * 7 % npt


def options():
    n = 1048576
    return (10 + 20 * pattern(n, 37, 1021), 10 + 20 * pattern(n, 53, 1019), f32(0.25) + 2 * pattern(n, 71, 1013))


def bodies():
    return (np.stack([pattern(1024, 37, 1021), pattern(1024, 53, 1019), pattern(1024, 71, 1013)]),)


INPUTS = {  # the first one is what the gradient is taken to, or argument ARG
    "saxpy": lambda: (pattern(4194304, 37, 1021), pattern(4194304, 53, 1019)),
    "fused": lambda: (pattern(4194304, 37, 1021),), "box": lambda: (image(1024),),
    "gauss": lambda: (image(1024), gauss_weights()), "jacobi": lambda: (image(512),), "nbody": bodies,
    "blackscholes": options, "nlmeans": lambda: (image(128),),
    "matmul": lambda: (image(512), image(512, 512, 53, 1019)), "gmm": mixture, "ba": bundle,
    "lstm": lambda: (image(19, 14) - f32(0.5), image(1000, 14, 53, 1019)),
}
ARG = {"gmm": 2}


class Common:
    """What both write alike; xp is torch or jax.numpy, and self has what they call differently."""

    def saxpy(self, x, y):
        z = 2 * x + y
        return (z * z).sum()

    def fused(self, x):
        return (self.xp.exp(-x * x) * self.xp.sin(3 * x) + 2 * x / (1 + x * x)).sum()

    def jacobi(self, f):
        u = self.xp.zeros_like(f)
        for _ in range(10):
            p = self.pad(u, 1, "constant")
            u = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + f)
        return (u * u).sum()

    def nbody(self, p):
        d = p[:, None, :] - p[:, :, None]
        r2 = (d * d).sum(0) + 0.01
        f = (d / (r2 * self.xp.sqrt(r2))).sum(2)
        return (f * f).mean()

    def blackscholes(self, s, k, t):
        r, v = 0.02, 0.3
        root = v * self.xp.sqrt(t)
        d1 = (self.xp.log(s / k) + (r + 0.5 * v * v) * t) / root
        d2 = d1 - root
        n1, n2 = 0.5 * self.erfc(-0.70710678 * d1), 0.5 * self.erfc(-0.70710678 * d2)
        return (s * n1 - k * self.xp.exp(-r * t) * n2).sum()

    def nlmeans(self, x):
        n, xp = x.shape[0], self.xp
        p = self.pad(x, 6, "mirror")
        total, weights = 0, 0
        here = p[5:5 + n + 2, 5:5 + n + 2]
        for dm in range(-5, 6):
            for dn in range(-5, 6):
                e = here - p[5 + dm:5 + dm + n + 2, 5 + dn:5 + dn + n + 2]
                e = e * e
                rows = e[:-2] + e[1:-1] + e[2:]
                w = xp.exp(-8 * (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]))
                total = total + w * p[6 + dm:6 + dm + n, 6 + dn:6 + dn + n]
                weights = weights + w
        y = total / weights
        return (y * y).sum()

    def matmul(self, a, b):
        c = a @ b
        return (c * c).mean()

    def gmm(self, x, alpha, mu, q, l):
        xp, (n, d), k = self.xp, x.shape, mu.shape[0]
        rows, cols = np.tril_indices(d, -1)
        low = self.triangle(l, rows, cols, k, d)
        c = x[:, None, :] - mu[None]
        z = xp.exp(q) * c + xp.einsum("kab,nkb->nka", low, c)
        p = alpha + q.sum(1) - 0.5 * (z * z).sum(2)
        prior = 0.5 * (xp.exp(2 * q).sum() + (l * l).sum()) - q.sum()
        return (self.logsumexp(p, 1).sum() - n * self.logsumexp(alpha, 0) - prior) / n

    def ba(self, cams, points, w, seen, c, p):
        xp = self.xp
        a, x = cams[c], points[p]
        r, x = a[:, :3], x - a[:, 3:6]
        t2 = (r * r).sum(1)
        t = xp.sqrt(t2)
        co, si = xp.cos(t), xp.sin(t) / t
        y = x * co[:, None] + self.cross(r, x) * si[:, None] + r * ((r * x).sum(1) * (1 - co) / t2)[:, None]
        u, v = y[:, 0] / y[:, 2], y[:, 1] / y[:, 2]
        rr = u * u + v * v
        m = 1 + a[:, 9] * rr + a[:, 10] * rr * rr
        e = xp.stack([w * (u * m * a[:, 6] + a[:, 7] - seen[0]), w * (v * m * a[:, 6] + a[:, 8] - seen[1])])
        return 0.5 * (e * e).mean() + 0.5 * ((1 - w * w) ** 2).mean()

    def lstm_turn(self, w, state, letters):
        xp, (h0, c0, h1, c1, s) = self.xp, state

        def gate(x):
            return 1 / (1 + xp.exp(-x))

        def cell(first, x, h, c):
            f, i = gate(x * w[first] + w[first + 4]), gate(h * w[first + 1] + w[first + 5])
            o, a = gate(x * w[first + 2] + w[first + 6]), xp.tanh(h * w[first + 3] + w[first + 7])
            c = c * f + i * a
            return o * xp.tanh(c), c
        h0, c0 = cell(0, letters[0] * w[16], h0, c0)
        h1, c1 = cell(8, h0, h1, c1)
        y = h1 * w[17] + w[18]
        return (h0, c0, h1, c1, s + (letters[1] * (y - xp.log(xp.exp(y).sum() + 2))).sum()), None

    def lstm(self, w, text):
        zero = self.xp.zeros_like(w[0])
        state = zero, zero, zero, zero, 0
        for t in range(text.shape[0] - 1):
            state, _ = self.lstm_turn(w, state, (text[t], text[t + 1]))
        return state[4] / (text.shape[0] - 1)


class Torch(Common):
    def __init__(self, threads):
        import torch
        self.xp = self.torch = torch
        torch.set_num_threads(threads)
        self.erfc, self.logsumexp = torch.special.erfc, torch.logsumexp

    def cross(self, a, b):
        return self.torch.linalg.cross(a, b)

    def pad(self, x, n, how):
        if how == "constant":
            return self.torch.nn.functional.pad(x, (n, n, n, n))
        i = np.arange(-n, x.shape[0] + n)
        i = np.where(i < 0, -1 - i if MIRROR_REPEATS else -i, i)
        last = x.shape[0] - 1
        i = self.torch.from_numpy(np.where(i > last, 2 * last + MIRROR_REPEATS - i, i))
        return x[i][:, i]

    def box(self, x):
        p = self.torch.nn.functional.pad(x[None, None], (2, 2, 2, 2), mode="replicate")
        y = self.torch.nn.functional.avg_pool2d(p, 5, 1)
        return (y * y).sum()

    def gauss(self, x, w):
        conv, p = self.torch.nn.functional.conv2d, self.pad(x, 6, "mirror")
        y = conv(conv(p[None, None], w[None, None, None]), w[None, None, :, None])
        return (y * y).sum()

    def triangle(self, l, rows, cols, k, d):
        low = self.torch.zeros(k, d, d)
        low[:, rows, cols] = l
        return low

    def make(self, name, args, at):
        torch, f = self.torch, getattr(self, name)
        args = [torch.from_numpy(np.ascontiguousarray(a)) for a in args]
        leaf = [a.requires_grad_() if i == at else a for i, a in enumerate(args)]

        def value():
            with torch.no_grad():
                return f(*leaf)
        return value, lambda: torch.autograd.grad(f(*leaf), leaf[at])[0], lambda g: g.numpy()


class Jax(Common):
    def __init__(self, threads):
        import jax
        self.jax, self.xp = jax, jax.numpy
        self.erfc, self.logsumexp = jax.scipy.special.erfc, jax.scipy.special.logsumexp
        self.cross = jax.numpy.cross

    def pad(self, x, n, how):
        return self.xp.pad(x, n, mode="constant" if how == "constant" else "symmetric" if MIRROR_REPEATS else "reflect")

    def box(self, x):
        n, p = x.shape[0], self.xp.pad(x, 2, mode="edge")
        rows = sum(p[k:k + n] for k in range(5))
        y = sum(rows[:, k:k + n] for k in range(5)) / 25
        return (y * y).sum()

    def gauss(self, x, w):
        n, p = x.shape[0], self.pad(x, 6, "mirror")
        t = sum(w[k] * p[:, k:k + n] for k in range(13))
        y = sum(w[k] * t[k:k + n] for k in range(13))
        return (y * y).sum()

    def nlmeans(self, x):  # unrolled, compiling takes minutes
        n, xp, lax, p = x.shape[0], self.xp, self.jax.lax, self.pad(x, 6, "mirror")
        here = p[5:5 + n + 2, 5:5 + n + 2]

        def add(sums, at):
            m, k = at
            e = here - lax.dynamic_slice(p, (m, k), (n + 2, n + 2))
            e = e * e
            rows = e[:-2] + e[1:-1] + e[2:]
            w = xp.exp(-8 * (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]))
            return (sums[0] + w * lax.dynamic_slice(p, (m + 1, k + 1), (n, n)), sums[1] + w), None
        m, k = np.divmod(np.arange(121), 11)
        (total, weights), _ = lax.scan(add, (xp.zeros_like(x), xp.zeros_like(x)), (m, k))
        y = total / weights
        return (y * y).sum()

    def lstm(self, w, text):
        zero, lax = self.xp.zeros_like(w[0]), self.jax.lax
        step = lambda state, ab: self.lstm_turn(w, state, ab)
        (*_, s), _ = lax.scan(step, (zero, zero, zero, zero, 0.0), (text[:-1], text[1:]))
        return s / (text.shape[0] - 1)

    def triangle(self, l, rows, cols, k, d):
        return self.xp.zeros((k, d, d), l.dtype).at[:, rows, cols].set(l)

    def make(self, name, args, at):
        jax, f = self.jax, getattr(self, name)
        args = [jax.numpy.asarray(a) for a in args]
        value, grad = jax.jit(f), jax.jit(jax.grad(f, at))
        return (lambda: value(*args).block_until_ready(), lambda: grad(*args).block_until_ready(), np.asarray)


MIRROR_REPEATS = True  # 'mirror


def make_peer(name, threads):
    kind = {"torch": Torch, "jax": Jax}.get(name) or importlib.import_module(f"in_{name}").Peer
    return kind(threads)


def shortest(run, times):
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer, runs = None, {}
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "case":
            name, threads, path = rest
            runs = {}
            try:
                peer = peer or make_peer(sys.argv[1], int(threads))
                value, grad, array = peer.make(name, INPUTS[name](), ARG.get(name, 0))
            except NotImplementedError as why:
                out.write(f"none: {why}\n")
                out.flush()
                continue
            value()
            array(grad()).astype(f32).tofile(path)
            runs = {"value": value, "grad": grad}
            answer = "ready"
        else:
            answer = f"{shortest(runs[word], int(rest[0])):.6f}"
        out.write(answer + "\n")
        out.flush()


if __name__ == "__main__":
    main()
