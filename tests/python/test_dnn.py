"""Layers of dnn.q against torch: values and pullbacks of every layer, at shapes, strides, paddings, dilations and
groups at random, in float32 and in float64."""
import random
import unittest

import pyquasar as q
from optional import library

np = library("numpy")
torch = library("torch")
F = torch.nn.functional if torch else None

ROUNDS = 12
SCRIPT = """
import "Quasar.DNN.dll"
function result = pulled(f, weights, ...arguments)
    list = cell(numel(arguments)+1)
    list[0] = f
    for i = 0..numel(arguments)-1
        list[i+1] = arguments[i]
    end
    [y, pull] = apply(vjp, list)
    d = pull(weights)
    result = {y, numel(arguments) == 1 ? {d} : d}
end
"""


class Draw:
    """The parts of a case."""

    def __init__(self, seed, dtype):
        self.r, self.rng, self.dtype = random.Random(seed), np.random.default_rng(seed), dtype

    def __call__(self, *shape): return self.rng.standard_normal(shape).astype(self.dtype)
    def n(self, a, b): return self.r.randint(a, b)
    def pair(self, a, b): return [self.n(a, b), self.n(a, b)]
    def one(self, *of): return self.r.choice(of)


def convolution(d):
    while True:
        groups, stride, pad, dilation = d.one(1, 1, 2, 3), d.pair(1, 3), d.pair(0, 3), d.pair(1, 3)
        x, kernel = (d.n(1, 3), groups*d.one(1, 2, 5), d.n(1, 14), d.n(1, 33)), d.pair(1, 4)
        if all(x[2+i] + 2*pad[i] > dilation[i]*(kernel[i]-1) for i in (0, 1)):
            break
    m = groups*d.one(1, 2, 9)
    return (f"(x,w,b) -> conv2d(x, w, b, {stride}, {pad}, {dilation}, {groups})",
            lambda x, w, b: F.conv2d(x, w, b, stride, pad, dilation, groups),
            [d(*x), d(m, x[1]//groups, *kernel), d(m)])


def wide(d):
    """Taps that reach further than a tile is wide."""
    k, dilation = d.n(20, 40), d.n(2, 4)
    return (f"(x,w) -> conv2d(x, w, null, 1, [0,{dilation*k//2}], {dilation})",
            lambda x, w: F.conv2d(x, w, None, 1, [0, dilation*k//2], dilation), [d(1, 2, 1, 170), d(3, 2, 1, k)])


def same_size(d):
    k, dilation, c = d.one(1, 3, 5), d.n(1, 2), d.n(1, 4)
    return (f'(x,w) -> conv2d(x, w, padding:="same", dilation:={dilation})',
            lambda x, w: F.conv2d(x, w, None, 1, "same", dilation), [d(2, c, 9, 12), d(3, c, k, k)])


def depthwise(d):
    c, times, k = d.n(1, 6), d.n(1, 2), d.n(1, 3)
    return (f"(x,w,b) -> depthwise_conv2d(x, w, b, padding:={k//2})",
            lambda x, w, b: F.conv2d(x, w, b, 1, k//2, 1, c), [d(2, c, 8, 11), d(c*times, 1, k, k), d(c*times)])


def transposed(d):
    while True:
        groups, stride, dilation = d.one(1, 1, 2), d.pair(1, 3), d.pair(1, 2)
        kernel, pad = d.pair(1, 4), d.pair(0, 2)
        more = [d.n(0, s-1) for s in stride]
        x = (d.n(1, 3), groups*d.n(1, 3), d.n(1, 9), d.n(1, 20))
        out = [(x[2+i]-1)*stride[i] - 2*pad[i] + dilation[i]*(kernel[i]-1) + more[i] + 1 for i in (0, 1)]
        if min(out) > 0:
            break
    m = d.n(1, 4)
    return (f"(x,w,b) -> conv_transpose2d(x, w, b, {stride}, {pad}, {more}, {dilation}, {groups})",
            lambda x, w, b: F.conv_transpose2d(x, w, b, stride, pad, more, groups, dilation),
            [d(*x), d(x[1], m, *kernel), d(m*groups)])


def max_pool(d):
    k = d.pair(1, 4)
    s, p, e = d.pair(1, 4), [d.n(0, n//2) for n in k], d.pair(1, 2)
    return (f"x -> max_pool2d(x, {k}, {s}, {p}, {e})", lambda x: F.max_pool2d(x, k, s, p, e),
            [d(2, 3, d.n(7, 13), d.n(7, 20))])


def max_pool_ties(d):
    return ("x -> max_pool2d(x, 3, 2, 1)", lambda x: F.max_pool2d(x, 3, 2, 1), [np.round(d(2, 2, 9, 8))])


def avg_pool(d):
    k = d.pair(1, 4)
    s, p = d.pair(1, 4), [d.n(0, n//2) for n in k]
    return f"x -> avg_pool2d(x, {k}, {s}, {p})", lambda x: F.avg_pool2d(x, k, s, p), [d(2, 3, d.n(4, 13), d.n(4, 20))]


def global_pool(d):
    return "x -> global_avg_pool2d(x)", lambda x: x.mean((2, 3)), [d(3, 4, 5, 6)]


def upsampled(d):
    method, f = d.one("nearest", "bilinear"), d.one([2, 2], [1, 3], [4, 2], [1.5, 1.25], [2.5, 1])
    extra = {"align_corners": False} if method == "bilinear" else {}
    return (f'x -> upsample(x, {f}, "{method}")', lambda x: F.interpolate(x, scale_factor=f, mode=method, **extra),
            [d(2, 3, d.n(1, 6), d.n(4, 9))])


def batch_norm(d):
    c, shape = d.n(1, 5), d.one((), (6,), (5, 4))
    return ("(x,g,b) -> batch_norm(x, g, b)", lambda x, g, b: F.batch_norm(x, None, None, g, b, True),
            [3*d(4, c, *shape) + 2, d(c), d(c)])


def batch_norm_running(d):
    c = d.n(1, 5)
    m, v = d(c), abs(d(c)) + 0.5
    return (f"(x,g,b) -> batch_norm(x, g, b, {m.tolist()}, {v.tolist()}, training:=false)",
            lambda x, g, b: F.batch_norm(x, torch.tensor(m, dtype=torch.float32).to(x),
                                         torch.tensor(v, dtype=torch.float32).to(x), g, b, False),
            [d(2, c, 3, 4), d(c), d(c)])


def group_norm(d):
    groups = d.n(1, 3)
    c = groups*d.n(1, 3)
    return (f"(x,g,b) -> group_norm(x, {groups}, g, b)", lambda x, g, b: F.group_norm(x, groups, g, b),
            [d(3, c, 5, 4) - 1, d(c), d(c)])


def instance_norm(d):
    return "x -> instance_norm(x)", lambda x: F.instance_norm(x), [d(2, 3, 5, 6)]


def layer_norm(d):
    count, last = d.n(1, 2), (4, 5)
    return (f"(x,g,b) -> layer_norm(x, g, b, {count})", lambda x, g, b: F.layer_norm(x, last[2-count:], g, b),
            [2*d(2, 3, *last) + 1, d(*last[2-count:]), d(*last[2-count:])])


def activation(text, f):
    return lambda d: (text, f, [2*d(3, 4, 5)])


def cross(d):
    c, plane = d.n(2, 6), d.one((), (3, 4))
    labels, smoothing, left_out = d.rng.integers(0, c, (4, *plane)), d.one(0.0, 0.1), d.one(-100, 0)
    labels.flat[0], labels.flat[1] = left_out, 1
    return (f"x -> cross_entropy(x, {labels.tolist()}, {smoothing}, {left_out})",
            lambda x: F.cross_entropy(x, torch.tensor(labels), ignore_index=left_out, label_smoothing=smoothing),
            [3*d(4, c, *plane)])


def looked_up(d):
    ids = d.rng.integers(0, 7, d.one((5,), (2, 3)))
    return f"t -> embedding(t, {ids.tolist()})", lambda t: F.embedding(torch.tensor(ids), t), [d(7, 4)]


def attended(d):
    b, h, l, s, e, f = (d.n(1, 5) for _ in range(6))
    mask, causal = d(l, s), d.one(True, False)
    if causal:
        return ("(q,k,v) -> attention(q, k, v, causal:=true)",
                lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
                [d(b, h, l, e), d(b, h, l, e), d(b, h, l, f)])
    return (f"(q,k,v,m) -> attention(q, k, v, m)",
            lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
            [d(b, h, l, e), d(b, h, s, e), d(b, h, s, f), mask])


ACTIVATIONS = [
    activation("x -> relu(x)", lambda x: x.relu()),
    activation("x -> leaky_relu(x, 0.2)", lambda x: F.leaky_relu(x, 0.2)),
    activation("x -> elu(x, 1.5)", lambda x: F.elu(x, 1.5)),
    activation("x -> sigmoid(x)", lambda x: x.sigmoid()),
    activation("x -> silu(x)", lambda x: F.silu(x)),
    activation("x -> gelu(x)", lambda x: F.gelu(x)),
    activation("x -> gelu(x, true)", lambda x: F.gelu(x, approximate="tanh")),
    activation("x -> softplus(x)", lambda x: F.softplus(x)),
    activation("x -> tanh(x)", lambda x: x.tanh()),
    activation("x -> softmax(x)", lambda x: x.softmax(1)),
    activation("x -> log_softmax(x, 2)", lambda x: x.log_softmax(2))]
LAYERS = [convolution]*6 + [
    wide, same_size, depthwise, transposed, transposed, max_pool, max_pool, max_pool_ties, avg_pool, global_pool,
    upsampled, upsampled, batch_norm, batch_norm_running, group_norm, instance_norm, layer_norm, cross, looked_up,
    attended] + ACTIVATIONS + [
    lambda d: ("(x,t) -> mse_loss(x, t)", F.mse_loss, [d(3, 4), d(3, 4)]),
    lambda d: ("(x,t) -> l1_loss(x, t)", F.l1_loss, [d(3, 4), d(3, 4)]),
    lambda d: ("(x,w,b) -> linear(x, w, b)", F.linear, [d(d.n(1, 4), 3, 5), d(2, 5), d(2)])]


@unittest.skipUnless(torch, "torch is not here")
class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        q.init("cpu")
        q.compile_string("dnn_test", SCRIPT)

    def near(self, got, wanted, what):
        wanted = wanted.detach().numpy()
        got = np.asarray(got).astype(wanted.dtype).reshape(wanted.shape)
        scale = max(np.abs(wanted).max(initial=0), 1.0)
        bound = (1e-5 if wanted.dtype == np.float32 else 2e-13)*scale
        self.assertLessEqual(np.abs(got - wanted).max(initial=0), bound, what)

    def compare(self, layer, seed, dtype):
        text, f, arguments = layer(Draw(seed, dtype))
        x = [torch.tensor(a, requires_grad=True) for a in arguments]
        y = f(*x)
        w = np.random.default_rng(7).uniform(0.5, 1.5, tuple(y.shape)).astype(dtype)
        (y*torch.tensor(w)).sum().backward()
        weights = float(w) if w.ndim == 0 else w
        with self.subTest(text, shapes=[a.shape for a in arguments], seed=seed, dtype=dtype):
            value, pulled = q.pulled(q.evaluate(text), weights, *[np.array(a) for a in arguments])
            self.near(value, y, "value")
            for k, t in enumerate(x):
                self.near(pulled[k], t.grad, f"derivative {k}")

    def test_layers(self):
        for k, layer in enumerate(LAYERS):
            for turn in range(ROUNDS):
                self.compare(layer, 1000*k + turn, "float32" if turn % 3 else "float64")

    def test_nan_reaches_what_it_reaches_in_torch(self):
        """One nan, in what comes back or in an argument.  Left out is where torch goes now one way and now the other:
        parts of 0 of bilinear neighbours, zeros around images whose every channel is by itself, elu."""
        both = [convolution]*6 + [wide, same_size, max_pool, avg_pool, global_pool, batch_norm_running]
        for where, layers in (("adjoint", both + [transposed]*2), (0, both)):
            found = 0
            for k, layer in enumerate(layers + [a for a in ACTIVATIONS if a is not ACTIVATIONS[2]]):
                found += sum(self.compare_nan(layer, 1000*k + turn, where) for turn in range(4))
            self.assertGreater(found, 100)

    def compare_nan(self, layer, seed, where):
        d = Draw(seed, "float32")
        text, f, arguments = layer(d)
        if where == 0:
            arguments[0].flat[d.rng.integers(arguments[0].size)] = np.nan
        x = [torch.tensor(a, requires_grad=True) for a in arguments]
        y = f(*x)
        w = np.ones(tuple(y.shape), "float32")
        if where == "adjoint":
            w.flat[d.rng.integers(w.size)] = np.nan
        y.backward(torch.tensor(w))
        wanted = [t.detach().numpy() for t in (y, *(t.grad for t in x))]
        with self.subTest(text, shapes=[a.shape for a in arguments], seed=seed, where=where):
            value, pulled = q.pulled(q.evaluate(text), w, *[np.array(a) for a in arguments])
            for a, b in zip((value, *pulled), wanted):
                np.testing.assert_allclose(np.asarray(a).reshape(b.shape), b, rtol=1e-4, atol=1e-4)
        return sum(int(np.isnan(t).sum()) for t in wanted)

    def test_small_probabilities(self):
        """Results near 0 have full precision."""
        x = np.linspace(-80, -2, 333).astype("float32")
        for name, f in (("sigmoid", torch.sigmoid), ("silu", F.silu)):
            t = torch.tensor(x.astype("float64"), requires_grad=True)
            f(t).sum().backward()
            value, pulled = q.pulled(q.evaluate(f"x -> {name}(x)"), np.ones_like(x), x)
            np.testing.assert_allclose(np.asarray(value), f(t).detach().numpy(), rtol=2e-6)
            np.testing.assert_allclose(np.asarray(pulled[0]), t.grad.numpy(), rtol=5e-6, atol=1e-30)

    def test_impossible_classes(self):
        x = np.array([[1, 2, -np.inf], [0, -np.inf, 1]])
        loss, pulled = q.pulled(q.evaluate("x -> cross_entropy(x, [0,2])"), 1.0, x)
        t = torch.tensor(x, requires_grad=True)
        wanted = F.cross_entropy(t, torch.tensor([0, 2]))
        wanted.backward()
        self.assertAlmostEqual(float(loss), float(wanted), 12)
        np.testing.assert_allclose(np.asarray(pulled[0]), t.grad.numpy(), atol=1e-15)

    def test_far_from_zero(self):
        """With a large mean the gradient of normalisation loses little precision."""
        x = (1000 + np.random.default_rng(5).standard_normal((4, 2, 30))*1e-2).astype("float32")
        w = np.random.default_rng(6).standard_normal(x.shape).astype("float32")
        t = torch.tensor(x.astype("float64"), requires_grad=True)
        (F.batch_norm(t, None, None, training=True)*torch.tensor(w)).sum().backward()
        _, pulled = q.pulled(q.evaluate("x -> batch_norm(x)"), w, x)
        np.testing.assert_allclose(np.asarray(pulled[0]), t.grad.numpy(), atol=0.02*float(t.grad.abs().max()))

    def train(self, ours, theirs):
        """Ten steps of an optimiser on a line, with both."""
        rng = np.random.default_rng(1)
        x, t = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
        w = torch.zeros((2, 3), dtype=torch.float64, requires_grad=True)
        optimiser, v, state = theirs([w]), q.value(np.zeros((2, 3))), None
        step = q.evaluate("(w, x, t, state) -> (g = grad(w -> mse_loss(linear(x, w), t), w); "
                          f"[w, state] = {ours}; {{w, state}})")
        for _ in range(10):
            optimiser.zero_grad()
            F.mse_loss(F.linear(torch.tensor(x), w), torch.tensor(t)).backward()
            optimiser.step()
            v, state = step(v, x, t, state)
        np.testing.assert_allclose(np.asarray(v), w.detach().numpy(), rtol=1e-9, atol=1e-12)

    def test_optimisers(self):
        self.train("sgd(w, g, state, rate:=0.1, momentum:=0.9, decay:=0.01)",
                   lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.01))
        self.train("adam(w, g, state, rate:=0.1, decay:=0.02)", lambda p: torch.optim.AdamW(p, 0.1, weight_decay=0.02))

    def test_running_statistics(self):
        x = np.random.default_rng(2).standard_normal((4, 3, 5, 6)).astype("float32")
        m, v = np.zeros(3, "float32"), np.ones(3, "float32")
        tm, tv = torch.zeros(3), torch.ones(3)
        F.batch_norm(torch.tensor(x), tm, tv, training=True, momentum=0.2)
        statistics = q.evaluate("(x, m, v) -> ([y, m, v] = batch_norm(x, null, null, m, v, momentum:=0.2); {m, v})")
        for got, wanted in zip(statistics(x, m, v), (tm, tv)):
            np.testing.assert_allclose(np.asarray(got).ravel(), wanted.numpy(), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
