"""Derivatives of built-ins against torch.autograd and JAX in float64: pullbacks of weights, of functions they have.

What differs on purpose is not here: the median of an even number of elements is the mean of the two middle ones; of a
determinant that is 0 the derivative is that of the cofactors, where torch gives 0 (differences show it).

Beside the list are chains of linear algebra at random: QUASAR_TEST_SEED says which, QUASAR_TEST_COUNT how many."""
import os
import unittest

import pyquasar as q
from optional import library

np = library("numpy")
torch, jax = library("torch"), library("jax")

RNG = np.random.default_rng(3)


def near(*shape): return RNG.uniform(-1, 1, shape)
def positive(*shape): return RNG.uniform(0.5, 1.5, shape)
def round_(*shape): return near(*shape) + 1j*near(*shape)
def regular(n): return near(n, n) + 3*np.eye(n)
def definite(n): a = near(n, n); return a @ a.T + n*np.eye(n)


J = jax and jax.numpy
F, L = (torch.nn.functional, torch.linalg) if torch else (None, None)

# the function here, the same in torch, its arguments
CASES = [
    ("x -> sum(x, 0)", lambda x: x.sum(0, keepdim=True), [near(3, 4)]),
    ("x -> prod(x)", lambda x: x.prod(), [np.array([[0.5, 0.0, 2.0]])]),
    ("x -> prod(x)", lambda x: x.prod(), [np.array([[0.0, 0.0, 2.0]])]),
    ("x -> prod(x, 1)", lambda x: x.prod(1, keepdim=True), [near(3, 4)]),
    ("x -> mean(x, 1)", lambda x: x.mean(1, keepdim=True), [near(3, 4)]),
    ("x -> var(x, 0)", lambda x: x.var(0, keepdim=True), [near(4, 3)]),
    ("x -> std(x)", lambda x: x.std(), [near(4, 3)]),
    ("x -> median(x)", lambda x: x.median(), [near(1, 7)]),
    ("x -> max(x)", lambda x: x.amax(), [np.array([[1.0, 3.0, 3.0, 2.0]])]),
    ("x -> min(x, [], 0)", lambda x: x.min(0, keepdim=True).values, [near(4, 3)]),
    ("(a, b) -> max(a, b)", torch and torch.maximum, [np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])]),
    ("(a, b) -> min(a, b)", torch and torch.minimum, [np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])]),
    ("x -> cumsum(x, 1)", lambda x: x.cumsum(1), [near(3, 4)]),
    ("x -> cumprod(x, 0)", lambda x: x.cumprod(0), [near(3, 4)]),
    ("x -> cumprod(x, 1)", lambda x: x.cumprod(1), [np.array([[1.0, 0.0, 2.0, 0.0, 3.0]])]),
    ("x -> diff(x, 1)", lambda x: x.diff(dim=1), [near(3, 4)]),
    ("(x, y) -> trapz(x, y)", lambda x, y: torch.trapezoid(y[0], x[0]), [np.sort(near(1, 5)), near(1, 5)]),
    ("x -> quantile(x, 0.3)", lambda x: torch.quantile(x, 0.3), [near(1, 6)]),
    ("x -> nansum(x, 0)", lambda x: x.nansum(0, keepdim=True), [np.array([[1.0, np.nan], [2.0, 3.0]])]),
    ("x -> nanmean(x)", lambda x: x.nanmean(), [np.array([[1.0, np.nan], [2.0, 3.0]])]),
    ("x -> sort(x, 1)", lambda x: x.sort(1).values, [near(3, 5)]),
    ("x -> norm(x)", lambda x: L.norm(x), [near(3, 4)]),
    ("x -> norm(x)", lambda x: L.norm(x), [np.zeros((2, 2))]),
    ("(a, b) -> kron(a, b)", torch and torch.kron, [near(2, 3), near(3, 2)]),
    ("(a, b) -> cross(a, b)", lambda a, b: L.cross(a, b, dim=1), [near(4, 3), near(4, 3)]),
    ("x -> repmat(x, [2,3])", lambda x: x.repeat(2, 3), [near(2, 3)]),
    ("x -> circshift(x, [1,2])", lambda x: x.roll((1, 2), (0, 1)), [near(3, 4)]),
    ("x -> triu(x, 1)", lambda x: x.triu(1), [near(3, 4)]),
    ("x -> diag(x)", lambda x: x.diagonal()[None], [near(4, 3)]),
    ("x -> permute(x, [2,0,1])", lambda x: x.permute(2, 0, 1), [near(2, 3, 4)]),
    ("x -> x[[0,2,0],:]", lambda x: x[[0, 2, 0], :], [near(3, 4)]),
    ("(c, a) -> where(c > 0, a, c)", lambda c, a: torch.where(c > 0, a, c), [near(3, 4), near(3, 4)]),
    ("x -> clamp(x, -0.3, 0.4)", lambda x: x.clamp(-0.3, 0.4), [near(3, 4)]),
    ("x -> abs(x)", lambda x: x.abs(), [np.array([[-1.0, 0.0, 2.0]])]),
    ("x -> sqrt(x)", lambda x: x.sqrt(), [np.array([[0.0, 4.0]])]),
    ("(x, a) -> x.^a", lambda x, a: x**a, [np.array([[0.0, 2.0, 3.0]]), np.array([[2.0, 0.5, 0.0]])]),
    ("x -> sign(x) + floor(x)", lambda x: x.sign() + x.floor(), [near(3, 4)]),
    ("(x, y) -> hypot(x, y)", torch and torch.hypot, [near(3, 4), near(3, 4)]),
    ("(x, y) -> atan2(x, y)", torch and torch.atan2, [near(3, 4), near(3, 4)]),
    ("x -> lgamma(x)", torch and torch.lgamma, [positive(3, 4)]),
    ("x -> erf(x)", torch and torch.erf, [near(3, 4)]),
    ("x -> tanh(x)", torch and torch.tanh, [near(3, 4)]),
    ("x -> abs(x)", lambda x: x.abs(), [np.array([[3+4j, 0, -2j]])]),
    ("x -> exp(x).*x", lambda x: x.exp()*x, [round_(2, 3)]),
    ("x -> angle(x)", torch and torch.angle, [round_(2, 3)]),
    ("(a, b) -> a*b", lambda a, b: a @ b, [near(3, 4), near(4, 2)]),
    ("(a, b) -> a*b", lambda a, b: a @ b, [round_(3, 4), round_(4, 2)]),
    ("(a, b) -> solve(a, b)", torch and L.solve, [regular(3), near(3, 2)]),
    ("(a, b) -> solve(a, b)", torch and (lambda a, b: L.lstsq(a, b).solution), [near(5, 3), near(5, 2)]),
    ("a -> inv(a)", torch and L.inv, [regular(3)]),
    ("a -> inv(a)", torch and L.inv, [round_(3, 3)]),
    ("a -> pinv(a)", torch and L.pinv, [near(4, 3)]),
    ("a -> det(a)", torch and L.det, [regular(3)]),
    ("a -> logdet(a)", torch and torch.logdet, [definite(3)]),
    ("a -> trace(a)", torch and torch.trace, [near(3, 3)]),
    ("a -> cond(a)", torch and L.cond, [regular(3)]),
    ("a -> chol(a)", lambda a: L.cholesky(a, upper=True), [definite(3)]),
    ("a -> q_of(a)", lambda a: signed_qr(a)[0], [near(4, 3)]),
    ("a -> r_of(a)", lambda a: signed_qr(a)[1], [near(4, 3)]),
    ("a -> svd(a)", torch and (lambda a: L.svdvals(a)[None]), [near(4, 3)]),
    ("a -> projection(a)", lambda a: L.svd(a, full_matrices=False)[0][:, :2] @ L.svd(a, full_matrices=False)[2][:2, :],
     [near(4, 3)]),
    ("a -> symeig(a)", torch and (lambda a: L.eigvalsh(a)[None]), [definite(3)]),
    ("a -> first_space(a)", lambda a: L.eigh(a)[1][:, :1] @ L.eigh(a)[1][:, :1].T, [definite(4)]),
    ("a -> eig_sizes(a)", lambda a: (L.eigvals(a).abs()**2).sum(), [near(4, 4)]),
    ("x -> abs(fft1(x, 1))", lambda x: torch.fft.fft(x, dim=1).abs(), [near(3, 5)]),
    ("x -> fft2(x)", lambda x: torch.fft.fft2(x), [round_(3, 5)]),
    ("x -> ifft2(x)", lambda x: torch.fft.ifft2(x), [round_(3, 5)]),
    ("x -> fftshift2(x)", lambda x: torch.fft.fftshift(x), [near(3, 4)]),
    ("(x, w) -> conv2(x, w, \"valid\")",
     lambda x, w: F.conv2d(x[None, None], w.flip(0, 1)[None, None])[0, 0], [near(5, 6), near(2, 3)]),
    ("x -> cov(x)", lambda x: x.T.cov(), [near(5, 3)]),
    ("x -> corrcoef(x)", lambda x: x.T.corrcoef(), [near(5, 3)]),
]

SCRIPT = """
function y = q_of(a)
    [y, r] = qr(a)
end
function y = r_of(a)
    [q, y] = qr(a)
end
function y = projection(a)
    [u, s, v] = svd(a)
    y = u[:,0..1]*herm_transpose(v[:,0..1])
end
function y = first_space(a)
    [v, d] = symeig(a)
    y = v[:,[0]]*transpose(v[:,[0]])
end
function y = eig_sizes(a)
    y = sum(abs(eig(a)).^2)
end
function [] = __kernel__ largest(x : vec[float64], y : vec[float64]'unchecked, i : vec[int64], pos : int)
    y[i[pos]] ^^= x[pos]
end
function s = met(x, start, i)
    y = copy(start)
    parallel_do(numel(x), x, y, i, largest)
    s = y[0] + 10*y[1]
end
function d = pulled(f, weights, ...arguments)
    list = cell(numel(arguments)+1)
    list[0] = f
    for i = 0..numel(arguments)-1
        list[i+1] = arguments[i]
    end
    [y, pull] = apply(vjp, list)
    d = pull(weights)
end

function d = pulled_twice(f, w, u, z)
    first = x -> grad(y -> real(sum(conj(w).*f(y))), x)
    d = grad(x -> real(sum(conj(u).*first(x))), z)
end
function y = squares_of(z)
    [u, s, v] = svd(z)
    y = u*s.^2*herm_transpose(v)
end
function y = exp_of(z)
    [v, d] = symeig(z)
    y = v*diagm(exp(d))*herm_transpose(v)
end

% steps of random chains: of a matrix that depends on both arguments and is far from singular, and of a right side
mixed = (a, x) -> a + 0.3*(x*herm_transpose(x))
definite = (a, x) -> a*herm_transpose(a) + x*herm_transpose(x)
eased = x -> x/(1 + norm(x))
solved = (a, x) -> eased(solve(mixed(a, x), x))
function y = both_ways(a, x)
    m = mixed(a, x)
    [y, F] = solve(m, x)
    y = eased(solve_back(m, y + x, F) + y)
end
inverted = (a, x) -> eased(inv(mixed(a, x))*x)
by_det = (a, x) -> eased(x*det(mixed(a, x)))
by_logdet = (a, x) -> eased(x*logdet(definite(a, x)))
rooted = (a, x) -> eased(chol(definite(a, x))*x)
by_triangles = (a, x) -> eased(solve(triu(mixed(a, x)), solve(tril(mixed(a, x)), x)))
function y = by_qr(a, x)
    [Q, R] = qr(mixed(a, x))
    y = eased(Q*x + R*x)
end
squares = (a, x) -> eased(pinv(vertcat(mixed(a, x), a))*vertcat(x, x))
function y = each(f, a, x)
    y = zeros_like(x)
    for k = 0..size(x,2)-1
        y[:,:,k] = f(a[:,:,k], x[:,:,k])
    end
end
"""


def signed_qr(a):
    """torch leaves the signs open: here the diagonal of R is not negative."""
    r = L.qr(a)
    s = r.R.diagonal().sgn()
    return r.Q*s, r.R*s.conj()[:, None]


def by_torch(f, arguments):
    x = [torch.tensor(a, requires_grad=True) for a in arguments]
    y = f(*x)
    w = np.random.default_rng(7).uniform(0.5, 1.5, tuple(y.shape))
    w = w + 1j*w[::-1] if y.is_complex() and w.ndim else w
    (y*torch.tensor(w).conj()).real.sum().backward() if y.is_complex() else (y*torch.tensor(w)).sum().backward()
    return w, [np.zeros_like(a) if t.grad is None else t.grad.numpy() for t, a in zip(x, arguments)]


def compare(test, cases, other):
    for text, f, arguments in cases:
        with test.subTest(text, shapes=[a.shape for a in arguments]):
            w, wanted = other(f, arguments)
            weights = float(w) if w.ndim == 0 else w
            got = q.pulled(q.evaluate(text), weights, *[np.array(a) for a in arguments])
            got = [got] if len(arguments) == 1 else list(got)
            for g, t in zip(got, wanted):
                np.testing.assert_allclose(np.asarray(g).reshape(t.shape), t, rtol=1e-9, atol=1e-12)


def both_ways(m, x):
    y = L.solve(m, x)
    return L.solve(m.mH, y + x) + y


def of_mixed(step):
    return lambda a, x: step(a + 0.3*(x @ x.mH), x)


def of_definite(step):
    return lambda a, x: step(a @ a.mH + x @ x.mH, x)


STEPS = torch and {
    "solved": of_mixed(L.solve), "both_ways": of_mixed(both_ways), "inverted": of_mixed(lambda m, x: L.inv(m) @ x),
    "by_det": of_mixed(lambda m, x: x*L.det(m)), "by_logdet": of_definite(lambda m, x: x*m.logdet()),
    "rooted": of_definite(lambda m, x: L.cholesky(m).mH @ x),
    "by_triangles": of_mixed(lambda m, x: L.solve_triangular(m.triu(), L.solve_triangular(m.tril(), x, upper=False),
                                                             upper=True)),
    "by_qr": of_mixed(lambda m, x: sum(f @ x for f in signed_qr(m))),
    "squares": lambda a, x: L.pinv(torch.cat([a + 0.3*(x @ x.mH), a])) @ torch.cat([x, x]),
}


def chain(seed):
    """Some steps of linear algebra, one after the other, of matrices of random sizes, or of several of them."""
    r = np.random.default_rng(seed)
    n, m, k = (int(r.integers(a, b)) for a, b in ((1, 6), (1, 5), (0, 4)))
    steps = list(r.choice(list(STEPS), r.integers(1, 4)))
    if n == 1 or m == 1:
        k = 0  # slices would have another shape
    a, x = (r.uniform(-1, 1, (n, c, k) if k else (n, c)) for c in (n, m))
    if r.random() < 0.5:
        a, x = a + 1j*r.uniform(-1, 1, a.shape), x + 1j*r.uniform(-1, 1, x.shape)
    a = a + (4*np.eye(n)[:, :, None] if k else 4*np.eye(n))
    here = "x"
    for s in steps:
        here = "%s(a, %s)" % (s, here)

    def there(a, x):
        for s in steps:
            x = STEPS[s](a, x)
            x = x/(1 + L.norm(x))
        return x

    def several(a, x):
        return torch.stack([there(a[..., i], x[..., i]) for i in range(k)], -1)
    text = "(a, x) -> " + ("each((a, x) -> %s, a, x)" % here if k else here)
    return text, several if k else there, [a, x]

# complex functions off their cuts: the function here, in torch and in JAX (None: not asked), a point
POINTS = np.concatenate([round_(12), 20*round_(6), 1e-3*round_(6)])[None]
SMALL, TALL, WIDE, SQUARE = POINTS[:, :12], round_(4, 2), round_(2, 4), round_(3, 3)
OF_COMPLEX = [(n, torch and getattr(torch, t or n), jax and getattr(J, j or t or n), POINTS) for n, t, j in [
    ("abs", "", ""), ("real", "", ""), ("imag", "", ""), ("conj", "conj_physical", "conj"), ("angle", "", ""),
    ("sqrt", "", ""), ("exp", "", ""), ("exp2", "", ""), ("log", "", ""), ("log2", "", ""), ("log10", "", ""),
    ("sinh", "", ""), ("cosh", "", ""), ("sin", "", ""), ("cos", "", ""), ("asinh", "", "arcsinh"),
    ("asin", "", "arcsin"), ("acos", "", "arccos"), ("atan", "", "arctan"), ("atanh", "", "arctanh")]] + [
    ("tanh", torch and torch.tanh, jax and J.tanh, SMALL), ("tan", torch and torch.tan, jax and J.tan, SMALL),
    # (JAX's derivative of acosh is that of another branch in the left half)
    ("acosh", torch and torch.acosh, None, POINTS), ("sign", torch and torch.sgn, lambda z: z/J.abs(z), POINTS),
    ("softsign", lambda z: z/(1 + z.abs()), lambda z: z/(1 + J.abs(z)), POINTS),
    ("z -> lerp(z, z.*z, conj(z))", lambda z: z*(1 - z.conj()) + z*z*z.conj(), None, POINTS),
    ("z -> complex(imag(z), 2*real(z))", lambda z: torch.complex(z.imag, 2*z.real), None, POINTS),
    ("z -> z.^3 - z.^-2", lambda z: z**3 - z**-2, lambda z: z**3 - z**-2, SMALL),
    ("z -> z.^2.5 + z.^(1+2j)", lambda z: z**2.5 + z**(1+2j), lambda z: z**2.5 + z**(1+2j), SMALL),
    ("z -> z.^z", lambda z: z**z, None, SMALL), ("z -> (1+2j).^z", lambda z: (1+2j)**z, None, SMALL),
    ("z -> (1+2j)./z - z./conj(z)", lambda z: (1+2j)/z - z/z.conj(), lambda z: (1+2j)/z - z/J.conj(z), SMALL),
    ("z -> sum(z, 0).*mean(z, 1)", lambda z: z.sum(0, keepdim=True)*z.mean(1, keepdim=True), None, TALL),
    ("z -> prod(z)", lambda z: z.prod(), None, TALL), ("z -> cumprod(z, 0)", lambda z: z.cumprod(0), None, TALL),
    ("z -> cumsum(z, 1)", lambda z: z.cumsum(1), None, TALL), ("z -> diff(z, 1)", lambda z: z.diff(dim=1), None, WIDE),
    ("z -> var(z, 0) + std(z)", lambda z: z.var(0, keepdim=True) + z.std(), None, TALL),
    ("z -> norm(z)", lambda z: L.norm(z), lambda z: J.linalg.norm(z), TALL),
    ("z -> squared_norm(z)", lambda z: (z.abs()**2).sum(), None, TALL),
    ("z -> dotprod(z, z)", lambda z: (z*z).sum(), None, TALL),
    ("z -> kron(z, z)", lambda z: torch.kron(z, z), None, WIDE),
    ("z -> cov(z)", lambda z: z.T.cov(), None, TALL), ("z -> corrcoef(z)", lambda z: z.T.corrcoef(), None, TALL),
    ("z -> herm_transpose(z)*z", lambda z: z.mH @ z, lambda z: J.conj(z).T @ z, TALL),
    ("z -> triu(z) + tril(z, -1).*z", lambda z: z.triu() + z.tril(-1)*z, None, SQUARE),
    ("z -> inv(z)", torch and L.inv, lambda z: J.linalg.inv(z), SQUARE), ("z -> pinv(z)", torch and L.pinv, None, TALL),
    ("z -> pinv(z)", torch and L.pinv, None, WIDE), ("z -> det(z)", torch and L.det, None, SQUARE),
    ("z -> logdet(z)", lambda z: z.logdet(), None, SQUARE), ("z -> cond(z)", torch and L.cond, None, SQUARE),
    ("z -> solve(z, z*z + 1)", lambda z: L.solve(z, z @ z + 1), None, SQUARE),
    ("z -> chol(z*herm_transpose(z) + eye(3))", lambda z: L.cholesky(z @ z.mH + torch.eye(3), upper=True), None,
     SQUARE),
    ("z -> q_of(z)", lambda z: signed_qr(z)[0], None, TALL), ("z -> q_of(z)", lambda z: signed_qr(z)[0], None, WIDE),
    ("z -> r_of(z)", lambda z: signed_qr(z)[1], None, TALL), ("z -> r_of(z)", lambda z: signed_qr(z)[1], None, WIDE),
    ("z -> svd(z)", lambda z: L.svdvals(z)[None], None, WIDE), ("z -> squares_of(z)", lambda z: by_svd(z), None, TALL),
    ("z -> squares_of(z)", lambda z: by_svd(z), None, WIDE), ("z -> squares_of(z)", lambda z: by_svd(z), None, SQUARE),
    ("z -> exp_of(z + herm_transpose(z))", lambda z: L.matrix_exp(z + z.mH), None, SQUARE),
    ("z -> sum(eig(z).^3)", lambda z: (L.eigvals(z)**3).sum(), None, SQUARE),
    ("z -> fft1(z, 0)", lambda z: torch.fft.fft(z, dim=0), lambda z: J.fft.fft(z, axis=0), TALL),
    ("z -> fft2(z).*ifft2(z)", lambda z: torch.fft.fft2(z)*torch.fft.ifft2(z), None, TALL),
    ("z -> fftshift2(z)", lambda z: torch.fft.fftshift(z), None, TALL),
    ("z -> conv2(z, z)", lambda z: torch.fft.ifft2(torch.fft.fft2(z, s=(7, 3))**2), None, TALL),
    ("z -> polyval([1,2,3], z)", lambda z: z*z + 2*z + 3, None, TALL),
    ("z -> z[[0,1,0],:]", lambda z: z[[0, 1, 0], :], None, TALL),
]


def by_svd(z):
    u, s, v = L.svd(z, full_matrices=False)
    return (u*s**2) @ v


def directions(shape, is_complex):
    w = np.random.default_rng(7).uniform(0.5, 1.5, (2, *shape))
    return w[0] + 1j*w[1] if is_complex else w[0]


def near_all(test, got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    np.testing.assert_allclose(got.reshape(wanted.shape), wanted, rtol=1e-8, atol=1e-10*(1 + abs(wanted).max()))


def second_by_torch(f, z, u):
    """The pullback of weights w, the pushforward of u, and the derivative of <u, pullback of w>."""
    x = torch.tensor(z, requires_grad=True)
    y, dy = torch.autograd.functional.jvp(f, x, torch.tensor(u))
    y = f(x)
    w = directions(y.shape, y.is_complex())
    first, = torch.autograd.grad((y*torch.tensor(w).conj()).real.sum(), x, create_graph=True)
    again = [None]
    if first.requires_grad:
        again = torch.autograd.grad((first*torch.tensor(u).conj()).real.sum(), x, allow_unused=True)
    again = torch.zeros_like(x) if again[0] is None else again[0]
    return w, [t.resolve_conj().detach().numpy() for t in (first, dy, again)]


def second_by_jax(f, z, u):
    y, dy = jax.jvp(f, (z,), (u,))
    w = directions(y.shape, y.dtype == complex)
    first = lambda x: jax.grad(lambda x: (f(x)*w.conj()).real.sum())(x).conj()
    return w, [first(z), dy, jax.grad(lambda x: (first(x)*u.conj()).real.sum())(z).conj()]


def compare_complex(test, rows, other):
    rows = [(text, f, z, round_(*z.shape)) for text, f, z in rows]
    for (text, f, z, u), (w, wanted) in zip(rows, other([row[1:] for row in rows])):
        with test.subTest(text, shape=z.shape):
            g, w = q.evaluate(text), w if w.ndim else complex(w) if np.iscomplexobj(w) else float(w)
            got = q.pulled(g, w, z), q.jvp(g, (z,), (u,))[1], q.pulled_twice(g, w, u, z)
            for a, b in zip(got, wanted):
                near_all(test, a, b)



@unittest.skipUnless(torch, "torch is not here")
class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        q.init("cpu")
        q.compile_string("gradients_of_torch", SCRIPT)

    def test_pullbacks(self):
        compare(self, CASES, by_torch)

    def test_chains_of_linear_algebra(self):
        first = int(os.environ.get("QUASAR_TEST_SEED", 1))
        compare(self, [chain(s) for s in range(first, first + int(os.environ.get("QUASAR_TEST_COUNT", 25)))], by_torch)

    def test_complex_functions(self):
        compare_complex(self, [(text, f, z) for text, f, _, z in OF_COMPLEX],
                        lambda rows: [second_by_torch(*row) for row in rows])

    def test_winners_where_positions_meet(self):
        x, i = np.array([1.0, 3.0, 3.0, -2.0, 0.5]), np.array([0, 0, 0, 1, 1])
        for start in ([0.0, 9.0], [3.0, -5.0], [0.0, -2.0]):
            t, s = (torch.tensor(a, requires_grad=True, dtype=torch.float64) for a in (x, start))
            y = s.scatter_reduce(0, torch.tensor(i), t, "amax")
            (y*torch.tensor([1.0, 10.0])).sum().backward()
            dx, ds = q.grad(lambda x, s: q.met(x, s, i), (0, 1))(x, np.array(start))
            self.assertTrue(np.array_equal(dx, t.grad) and np.array_equal(ds, s.grad), (start, dx, t.grad, ds, s.grad))


# the same in JAX; what its gradient of a real number is, is the conjugate of ours
CASES_OF_JAX = [
    ("x -> sum(x, 0)", lambda x: x.sum(0, keepdims=True), [near(3, 4)]),
    ("x -> prod(x)", lambda x: x.prod(), [np.array([[0.5, 0.0, 2.0]])]),
    ("x -> prod(x, 1)", lambda x: x.prod(1, keepdims=True), [near(3, 4)]),
    ("x -> var(x, 0)", lambda x: x.var(0, ddof=1, keepdims=True), [near(4, 3)]),
    ("x -> std(x)", lambda x: x.std(ddof=1), [near(4, 3)]),
    ("x -> median(x)", lambda x: J.median(x), [near(1, 7)]),
    ("x -> max(x)", lambda x: x.max(), [np.array([[1.0, 3.0, 3.0, 2.0]])]),
    ("x -> min(x, [], 0)", lambda x: x.min(0, keepdims=True), [near(4, 3)]),
    ("(a, b) -> max(a, b)", lambda a, b: J.maximum(a, b), [np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])]),
    ("x -> cumsum(x, 1)", lambda x: x.cumsum(1), [near(3, 4)]),
    ("x -> cumprod(x, 0)", lambda x: x.cumprod(0), [near(3, 4)]),
    ("x -> diff(x, 1)", lambda x: J.diff(x, axis=1), [near(3, 4)]),
    ("x -> quantile(x, 0.3)", lambda x: J.quantile(x, 0.3), [near(1, 6)]),
    ("x -> sort(x, 1)", lambda x: J.sort(x, 1), [near(3, 5)]),
    ("x -> norm(x)", lambda x: J.linalg.norm(x), [near(3, 4)]),
    ("(a, b) -> kron(a, b)", lambda a, b: J.kron(a, b), [near(2, 3), near(3, 2)]),
    ("x -> repmat(x, [2,3])", lambda x: J.tile(x, (2, 3)), [near(2, 3)]),
    ("x -> circshift(x, [1,2])", lambda x: J.roll(x, (1, 2), (0, 1)), [near(3, 4)]),
    ("x -> triu(x, 1)", lambda x: J.triu(x, 1), [near(3, 4)]),
    ("x -> x[[0,2,0],:]", lambda x: x[np.array([0, 2, 0]), :], [near(3, 4)]),
    ("(x, y) -> hypot(x, y)", lambda x, y: J.hypot(x, y), [near(3, 4), near(3, 4)]),
    ("(x, y) -> atan2(x, y)", lambda x, y: J.arctan2(x, y), [near(3, 4), near(3, 4)]),
    ("x -> lgamma(x)", lambda x: jax.scipy.special.gammaln(x), [positive(3, 4)]),
    ("x -> erf(x)", lambda x: jax.scipy.special.erf(x), [near(3, 4)]),
    ("(x, a) -> x.^a", lambda x, a: x**a, [positive(2, 3), near(2, 3)]),
    ("x -> exp(x).*x", lambda x: J.exp(x)*x, [round_(2, 3)]),
    ("x -> abs(x)", lambda x: J.abs(x), [round_(2, 3)]),
    ("x -> angle(x)", lambda x: J.angle(x), [round_(2, 3)]),
    ("(a, b) -> a*b", lambda a, b: a @ b, [near(3, 4), near(4, 2)]),
    ("(a, b) -> a*b", lambda a, b: a @ b, [round_(3, 4), round_(4, 2)]),
    ("(a, b) -> solve(a, b)", lambda a, b: J.linalg.solve(a, b), [regular(3), near(3, 2)]),
    ("(a, b) -> solve(a, b)", lambda a, b: J.linalg.solve(a, b), [round_(3, 3), round_(3, 2)]),
    ("(a, b) -> solve(triu(a), b)", lambda a, b: J.linalg.solve(J.triu(a), b), [regular(3), near(3, 2)]),
    ("(a, b) -> solve(tril(a), b)", lambda a, b: J.linalg.solve(J.tril(a), b),
     [round_(3, 3) + 3*np.eye(3), near(3, 2)]),
    ("a -> inv(a)", lambda a: J.linalg.inv(a), [regular(3)]),
    ("a -> pinv(a)", lambda a: J.linalg.pinv(a), [near(4, 3)]),
    ("a -> det(a)", lambda a: J.linalg.det(a), [regular(3)]),
    ("a -> logdet(a)", lambda a: J.linalg.slogdet(a)[1], [definite(3)]),
    ("a -> chol(a)", lambda a: J.linalg.cholesky(a).T, [definite(4)]),
    ("a -> real(fft1(a))", lambda a: J.fft.fft(a, axis=1).real, [near(1, 6)]),
]


def by_jax(f, arguments):
    w = np.random.default_rng(7).uniform(0.5, 1.5, jax.eval_shape(f, *arguments).shape)
    w = w + 1j*w[::-1] if J.iscomplexobj(f(*arguments)) else w
    loss = lambda *x: (f(*x)*w.conj()).real.sum()
    return w, [np.conj(d) for d in jax.grad(loss, tuple(range(len(arguments))))(*map(J.asarray, arguments))]


@unittest.skipUnless(jax, "JAX is not here")
class Jax(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        jax.config.update("jax_enable_x64", True)
        q.init("cpu")
        q.compile_string("gradients_of_torch", SCRIPT)

    def test_pullbacks(self):
        compare(self, CASES_OF_JAX, by_jax)

    def test_complex_functions(self):
        compare_complex(self, [(text, f, z) for text, _, f, z in OF_COMPLEX if f],
                        lambda rows: jax.jit(lambda: [second_by_jax(*row) for row in rows])()) # one compilation


AT_ZERO = ["abs(z)", "abs(z).^2", "abs(z).^3", "angle(z)", "hypot(real(z), imag(z))", "sign(z)", "z.^2", "z.*z",
           "real(z)", "imag(z)", "conj(z)"]


@unittest.skipUnless(np, "needs numpy")
class ComplexZero(unittest.TestCase):
    """Both ways at complex 0: <v, J u> is <J' v, u>, and neither is nan."""

    @classmethod
    def setUpClass(cls):
        q.init("cpu")

    def test_both_ways_agree(self):
        z, u = np.array([0, 1 + 1j, 0]), round_(3)
        for body in AT_ZERO:
            f = q.compile_string("at_zero", f"function s = of_zero(z)\n s = {body}\nend").of_zero
            with self.subTest(body):
                y, tangent = q.jvp(f, (z,), (u,))
                v = round_(3) if np.iscomplexobj(np.asarray(y)) else near(3)
                adjoint = np.asarray(q.vjp(f, z)[1](v)).reshape(3)
                self.assertTrue(np.isfinite(adjoint).all())
                np.testing.assert_allclose(np.vdot(v, tangent).real, np.vdot(adjoint, u).real, rtol=1e-9)


if __name__ == "__main__":
    unittest.main()
