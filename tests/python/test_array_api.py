"""pyquasar.array_api: what the text of the standard says, and the values of NumPy on random inputs.

    python tests/python/test_array_api.py --write     writes docs/array_api.md and the stub anew (tools/array_api.py)"""
import itertools, os, subprocess, sys, unittest

import pyquasar as q
from optional import library

np = library("numpy")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
q.init("cpu")
import pyquasar.array_api as xp

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS, PAIRS = ["float32", "float64"], ["complex64", "complex128"]
ALL = ["bool"] + INTEGERS + FLOATS + PAIRS

# The names of version 2024.12.
NAMES = """
    __array_namespace_info__ e inf nan newaxis pi arange asarray empty empty_like eye from_dlpack full full_like
    linspace meshgrid ones ones_like tril triu zeros zeros_like astype can_cast finfo iinfo isdtype result_type
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
    bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide
    greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp
    logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal
    positive pow real reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc take
    take_along_axis matmul matrix_transpose tensordot vecdot broadcast_arrays broadcast_to concat expand_dims
    flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero
    nonzero searchsorted where unique_all unique_counts unique_inverse unique_values argsort sort
    cumulative_prod cumulative_sum max mean min prod std sum var all any diff""".split() + ALL
LINALG = """
    cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose
    outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm""".split()
FFT = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift".split()


def numpy_of(x):
    return np.asarray(xp.plain(x).to_py()) if x.ndim else np.asarray(xp.plain(xp.reshape(x, (1,))).to_py())[0]


def random(rng, shape, dtype, small=False):
    """Of a type: small numbers, and edges unless small."""
    d = np.dtype(dtype)
    if d.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if d.kind in "iu":
        info = np.iinfo(d)
        low, high = (0 if d.kind == "u" else -9, 9) if small else (info.min, info.max)
        return np.asarray(rng.integers(low, high, shape, d, endpoint=True))
    x = rng.normal(0, 2, shape)
    x = x + 1j*rng.normal(0, 2, shape) if d.kind == "c" else x
    return np.asarray(x, d)


NUMPY_NAMES = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
               "atan2": "arctan2", "atanh": "arctanh", "pow": "power", "bitwise_left_shift": "left_shift",
               "bitwise_right_shift": "right_shift", "bitwise_invert": "invert", "abs": "absolute",
               "concat": "concatenate", "permute_dims": "transpose", "cumulative_sum": "cumsum",
               "cumulative_prod": "cumprod"}


class Case(unittest.TestCase):
    def same(self, got, want, ulps=0, text=""):
        """Shape, type and values; floats to so many units, absolutely where they are small."""
        want = np.asarray(want)
        self.assertIs(type(got), xp.Array, text)
        self.assertEqual(got.shape, want.shape, text)
        self.assertEqual(got.dtype.name, want.dtype.name, text)
        got = np.asarray(numpy_of(got))
        if want.dtype.kind not in "fc" or not ulps:
            np.testing.assert_array_equal(got, want, text)
        else:
            eps = np.finfo(want.dtype).eps
            scale = np.maximum(np.abs(want), 1) if want.dtype.kind == "c" else np.abs(want)
            with np.errstate(all="ignore"):
                bound = ulps*eps*np.where(np.isfinite(scale), scale, 0) + np.finfo(want.dtype).tiny
                close = np.abs(got - want) <= bound
            fine = close | (got == want) | (np.isnan(got) & np.isnan(want))
            self.assertTrue(fine.all(), "%s: %s, wanted %s" % (text, got[~fine][:5], want[~fine][:5]))


class Names(Case):
    def test_every_name_of_the_standard_is_here(self):
        self.assertEqual([n for n in NAMES if not hasattr(xp, n)], [])
        self.assertEqual([n for n in LINALG if not hasattr(xp.linalg, n)], [])
        self.assertEqual([n for n in FFT if not hasattr(xp.fft, n)], [])

    def test_namespace_of_an_array(self):
        x = xp.asarray([1, 2])
        self.assertIs(x.__array_namespace__(), xp)
        self.assertIs(x.__array_namespace__(api_version="2024.12"), xp)
        with self.assertRaisesRegex(ValueError, "1999"):
            x.__array_namespace__(api_version="1999")

    def test_documentation_and_stub_are_those_of_the_tables(self):
        r = subprocess.run([sys.executable, os.path.join(ROOT, "tools/array_api.py"), "--check"], capture_output=True,
                           text=True, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)


class Types(Case):
    def test_promotion(self):  # the tables of the standard
        signed, unsigned = INTEGERS[:4], INTEGERS[4:]
        for a, b in itertools.product(ALL, ALL):
            kinds = [("b" if d == "bool" else "i" if d in signed else "u" if d in unsigned else "f") for d in (a, b)]
            if a == b:
                want = a
            elif "b" in kinds or kinds.count("f") == 1 or (set(kinds) == {"i", "u"} and "uint64" in (a, b)):
                want = None
            else:
                want = np.result_type(np.dtype(a), np.dtype(b)).name
            if want is None:
                with self.assertRaises(TypeError, msg=(a, b)):
                    xp.result_type(getattr(xp, a), getattr(xp, b))
                with self.assertRaises(TypeError, msg=(a, b)):
                    xp.ones(2, dtype=getattr(xp, a)) == xp.ones(2, dtype=getattr(xp, b))
                continue
            self.assertEqual(xp.result_type(getattr(xp, a), getattr(xp, b)).name, want)
            if a != "bool":
                got = xp.ones(2, dtype=getattr(xp, a)) + xp.ones(2, dtype=getattr(xp, b))
                self.assertEqual(got.dtype.name, want)
                self.same(got, np.full(2, 2, want))

    def test_numbers_take_the_type_of_arrays(self):
        for d in INTEGERS:
            x = xp.ones(3, dtype=getattr(xp, d))
            self.same(x + 1, np.full(3, 2, d))
            self.same(1 + x, np.full(3, 2, d))
            for bad in (1.5, 1j, True):
                with self.assertRaises(TypeError):
                    x + bad
            with self.assertRaises(OverflowError):
                x + 2**64
        x = xp.ones(3, dtype=xp.float32)
        self.same(x*2, np.full(3, 2, "float32"))
        self.same(x*2.5, np.full(3, 2.5, "float32"))
        self.same(x*2j, np.full(3, 2j, "complex64"))
        with self.assertRaises(TypeError):
            x + True

    def test_whole_numbers_wrap(self):
        x = xp.asarray([100, -128, 127], dtype=xp.int8)
        self.same(x + x, np.asarray([-56, 0, -2], "int8"))
        self.same(-x, np.asarray([-100, -128, -127], "int8"))
        self.same(abs(x), np.asarray([100, -128, 127], "int8"))
        self.same(x*x, np.asarray([16, 0, 1], "int8"))
        big = xp.asarray([2**63 - 1, -2**63])
        self.same(big + 1, np.asarray([-2**63, -2**63 + 1]))
        self.same(xp.asarray([2**64 - 1], dtype=xp.uint64) + 1, np.asarray([0], "uint64"))
        self.same(big - 1, np.asarray([2**63 - 2, 2**63 - 1]))
        self.same(xp.asarray([-128], dtype=xp.int8)//-1, np.asarray([-128], "int8"))
        self.same(xp.asarray([5, -5], dtype=xp.int8)//0, np.asarray([0, 0], "int8"))
        self.assertEqual(int(xp.sum(big)), -1)
        self.assertEqual(int(xp.sum(xp.asarray([2**63 - 1, 1]))), -2**63)
        self.same(xp.sum(xp.asarray([100, 100], dtype=xp.int8), dtype=xp.int8), np.int8(-56))

    def test_64_bits_are_exact(self):
        a, b = 2**53 + 1, 2**62 + 3
        x = xp.asarray([a, b, -a])
        self.assertEqual([int(v) for v in x + 1], [a + 1, b + 1, 1 - a])
        self.assertEqual([int(v) for v in x*3], [3*a, 3*b - 2**64, -3*a])
        self.assertEqual([int(v) for v in x//7], [a//7, b//7, -a//7])
        self.assertEqual([int(v) for v in x % 7], [a % 7, b % 7, -a % 7])
        u = xp.asarray([2**64 - 1], dtype=xp.uint64)
        self.assertEqual(int(u[0]), 2**64 - 1)
        self.assertEqual(int((u//10)[0]), (2**64 - 1)//10)
        self.assertTrue(bool((u > 2**63)[0]))

    def test_kinds(self):
        self.assertTrue(xp.isdtype(xp.int8, "integral") and xp.isdtype(xp.int8, ("bool", xp.int8)))
        self.assertFalse(xp.isdtype(xp.bool, "numeric") or xp.isdtype(xp.float32, "integral"))
        self.assertTrue(xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.int16, xp.int8))
        for d in FLOATS + PAIRS:
            for name in ("eps", "max", "min", "smallest_normal"):
                self.assertEqual(getattr(xp.finfo(getattr(xp, d)), name), float(getattr(np.finfo(d), name)))
        for d in INTEGERS:
            self.assertEqual((xp.iinfo(getattr(xp, d)).min, xp.iinfo(getattr(xp, d)).max),
                             (np.iinfo(d).min, np.iinfo(d).max))

    def test_conversion(self):
        rng = np.random.default_rng(1)
        for a, b in itertools.product(ALL, ALL):
            x = random(rng, (3, 4), a, small=True)
            if np.dtype(a).kind == "c" and np.dtype(b).kind != "c":
                with self.assertRaises(TypeError):
                    xp.astype(xp.asarray(x), getattr(xp, b))
                continue
            if np.dtype(b).kind == "u":
                x = np.abs(x)
            self.same(xp.astype(xp.asarray(x), getattr(xp, b)), x.astype(b), 0, (a, b))


class Elementwise(Case):
    SHAPES = [((), ()), ((5,), (5,)), ((3, 1), (1, 4)), ((2, 3, 4), (4,)), ((0, 3), (1, 3)), ((1, 1), ()),
              ((700,), (700,))]
    POSITIVE = {"sqrt", "log", "log2", "log10", "acosh"}
    ULPS = {"pow": 64, "acosh": 64, "asin": 16, "acos": 16, "atanh": 64, "log1p": 16, "expm1": 16, "tanh": 16}

    def arguments(self, rng, name, d, shapes):
        x = [random(rng, s, d, small=name in ("pow", "floor_divide", "remainder") or "shift" in name) for s in shapes]
        kind = np.dtype(d).kind
        if kind == "f" and name in ("asin", "acos", "atanh"):
            x = [np.asarray(np.tanh(v), d) for v in x]
        if kind == "f" and (name in self.POSITIVE or name == "log1p" or name == "pow"):
            x = [np.asarray(np.abs(v) + 1, d) for v in x]
        if kind in "iu" and name in ("pow", "floor_divide", "remainder") or "shift" in name:
            x[1] = np.asarray(np.abs(x[1]) % 7 + (name != "pow" and "shift" not in name), d)
        return x

    def test_every_function_on_every_type(self):
        rng = np.random.default_rng(2)
        for name, nargs, gives, _, types in xp.ELEMENTWISE:
            f = getattr(np, NUMPY_NAMES.get(name, name))
            for d, shapes in itertools.product(ALL, self.SHAPES):
                if not types >> getattr(xp, d).code & 1:
                    continue
                text = "%s of %s %s" % (name, d, shapes)
                x = self.arguments(rng, name, d, shapes[:nargs] if nargs < 3 else shapes)
                if name == "where":
                    x.insert(0, random(rng, shapes[0], "bool"))
                with np.errstate(all="ignore"):
                    want = np.asarray(f(*x))
                if gives == 0:
                    want = want.astype(d)
                self.same(getattr(xp, name)(*map(xp.asarray, x)), want, self.ULPS.get(name, 8), text)

    def test_undefined_types_are_refused(self):
        for name, nargs, gives, _, types in xp.ELEMENTWISE:
            for d in ALL:
                if not types >> getattr(xp, d).code & 1:
                    x = [xp.ones((2,), dtype=getattr(xp, d))]*nargs
                    with self.assertRaisesRegex(TypeError, name + ".*not defined", msg=(name, d)):
                        getattr(xp, name)(*x)

    def test_strides_and_broadcasting(self):
        rng = np.random.default_rng(3)
        for d in ("int8", "float32", "float64", "complex128"):
            a, b = random(rng, (4, 6, 5), d), random(rng, (6, 5), d)
            x, y = xp.asarray(a), xp.asarray(b)
            self.same(x[::-1, ::2, ::-2] + y[::-2, ::2], a[::-1, ::2, ::-2] + b[::-2, ::2])
            self.same(xp.permute_dims(x, (2, 0, 1)) + y.T[:, None, :], a.transpose(2, 0, 1) + b.T[:, None, :])
            self.same(xp.broadcast_to(x[:, :1, :1], (4, 6, 5))*x, a[:, :1, :1]*a, 2)
        with self.assertRaisesRegex(ValueError, r"\(2, 3\) and \(4,\)"):
            xp.ones((2, 3)) + xp.ones(4)

    def test_large_arrays_are_as_small_ones(self):  # by several threads, by vectors and what is left of them
        rng = np.random.default_rng(4)
        a = rng.normal(size=200003)
        x = xp.asarray(a)
        for f in (xp.sin, xp.exp, xp.tanh, xp.add):
            args = (x, x) if f is xp.add else (x,)
            whole = numpy_of(f(*args))
            for at in (0, 1, 65536, 131071, 200002):
                one = f(*(v[at:at + 1] for v in args))
                self.assertEqual(float(one[0]), float(whole[at]))

    def test_powers_that_are_products_roots_and_quotients(self):
        edges = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, -2.0, 5e-324])
        with np.errstate(all="ignore"):
            for dtype in (np.float32, np.float64):
                a = np.concatenate([edges, np.random.default_rng(5).normal(size=1000)**2]).astype(dtype)
                halves = np.where(a == -np.inf, np.inf, np.sqrt(a) + 0.0)
                x = xp.asarray(a)
                for y, expected in ((2, a*a), (0.5, halves), (-1, 1/a)):
                    self.same(x**y, expected)
                    self.same(xp.pow(x, xp.asarray(y, dtype=x.dtype)), expected)
                    self.same(x[1::3]**y, expected[1::3])

    def test_edges(self):
        inf, nan = float("inf"), float("nan")
        x, y = xp.asarray([1.0, nan, 2.0, nan, -0.0]), xp.asarray([nan, 1.0, 1.0, nan, 0.0])
        self.same(xp.maximum(x, y), [nan, nan, 2, nan, 0])
        self.same(xp.minimum(x, y), [nan, nan, 1, nan, 0])
        self.same(xp.max(x), np.float64(nan))
        self.same(xp.argmax(x), np.int64(1))
        self.same(xp.clip(x, 0.5, 1.5), [1, nan, 1.5, nan, 0.5])
        self.same(xp.logaddexp(xp.asarray([-inf, inf, inf, 0.0]), xp.asarray([-inf, inf, -inf, -inf])),
                  [-inf, inf, inf, 0])
        self.same(xp.signbit(xp.asarray([0.0, -0.0, -nan, nan])), [False, True, True, False])
        self.same(xp.round(xp.asarray([0.5, 1.5, 2.5, -0.5])), [0, 2, 2, -0.0])
        self.same(xp.nextafter(xp.asarray([1.0], dtype=xp.float32), xp.asarray([2.0], dtype=xp.float32)),
                  np.nextafter(np.float32([1]), np.float32([2])))
        self.same(xp.bitwise_left_shift(xp.asarray([1, 1, -1], dtype=xp.int8), xp.asarray([7, 8, 9], dtype=xp.int8)),
                  np.asarray([-128, 0, 0], "int8"))
        self.same(xp.bitwise_right_shift(xp.asarray([-1, 64], dtype=xp.int8), xp.asarray([100, 100], dtype=xp.int8)),
                  np.asarray([-1, 0], "int8"))
        tiny = 1e-12 + 1e-13j
        self.assertLess(abs(complex(xp.expm1(xp.asarray(tiny))) - (tiny + tiny*tiny/2)), 1e-27)
        self.assertLess(abs(complex(xp.log1p(xp.asarray(tiny))) - (tiny - tiny*tiny/2)), 1e-27)
        z = complex(xp.tanh(xp.asarray(complex(inf, 2.0))))
        self.assertEqual((z, str(z.imag)), (1, "0.0"))
        z = complex(xp.acos(xp.asarray(complex(nan, inf))))
        self.assertTrue(z.real != z.real and z.imag == -inf)

    def test_in_place(self):
        x = xp.asarray([[1, 2], [3, 4]], dtype=xp.int16)
        view = x[0, :]
        x += xp.asarray([1, 1], dtype=xp.int8)
        x *= 2
        x[:, 1] -= 1
        self.same(view, np.asarray([4, 5], "int16"))
        with self.assertRaises(TypeError):
            x += xp.ones((2, 2), dtype=xp.int32)
        with self.assertRaises(TypeError):
            view += x


class Shapes(Case):
    def test_creation(self):
        for d in ALL:
            t = getattr(xp, d)
            self.same(xp.zeros((2, 3), dtype=t), np.zeros((2, 3), d))
            self.same(xp.ones((0, 3), dtype=t), np.ones((0, 3), d))
            self.same(xp.eye(3, 4, k=-1, dtype=t), np.eye(3, 4, k=-1, dtype=d))
        self.same(xp.full(3, 7), np.full(3, 7))
        self.same(xp.full((), 2.5), np.float64(2.5))
        self.same(xp.arange(5), np.arange(5))
        self.same(xp.arange(10, 0, -3, dtype=xp.int8), np.arange(10, 0, -3, dtype="int8"))
        self.same(xp.arange(0., 1., 0.1), np.arange(0., 1., 0.1), 2)
        self.same(xp.linspace(0., 1., 7), np.linspace(0, 1, 7), 2)
        self.same(xp.linspace(0., 1., 4, endpoint=False, dtype=xp.float32), np.linspace(0, 1, 4, False, dtype="f4"), 2)
        self.same(xp.asarray([[1, 2], [3, 4.5]]), np.asarray([[1, 2], [3, 4.5]]))
        self.same(xp.asarray([]), np.asarray([]))
        self.same(xp.asarray(True), np.bool_(True))
        for got, want in zip(xp.meshgrid(xp.arange(3), xp.arange(2)), np.meshgrid(np.arange(3), np.arange(2))):
            self.same(got, want)
        for bad in (lambda: xp.asarray([[1], [2, 3]]), lambda: xp.zeros(3, device="gpu"), lambda: xp.asarray("abc"),
                    lambda: xp.asarray([1], copy=False)):
            self.assertRaises(ValueError if bad.__code__.co_consts[-1:] != ("abc",) else Exception, bad)

    def test_manipulation(self):
        rng = np.random.default_rng(5)
        for d in ("bool", "int8", "float64", "complex128"):
            a = random(rng, (2, 3, 4), d)
            x = xp.asarray(a)
            self.same(xp.reshape(x, (4, -1)), a.reshape(4, -1))
            self.same(xp.reshape(x[:, ::-1], (-1,)), a[:, ::-1].reshape(-1))
            self.same(xp.permute_dims(x, (2, 0, 1)), a.transpose(2, 0, 1))
            self.same(xp.moveaxis(x, 0, -1), np.moveaxis(a, 0, -1))
            self.same(xp.expand_dims(x, axis=1), a[:, None])
            self.same(xp.squeeze(x[:, :1, :], axis=1), a[:, 0])
            self.same(xp.flip(x, axis=(0, 2)), np.flip(a, (0, 2)))
            self.same(xp.concat([x, x[:, :1]], axis=1), np.concatenate([a, a[:, :1]], 1))
            self.same(xp.concat([x, x], axis=None), np.concatenate([a, a], None))
            self.same(xp.stack([x, x], axis=-1), np.stack([a, a], -1))
            self.same(xp.tile(x, (2, 1, 1, 3)), np.tile(a, (2, 1, 1, 3)))
            self.same(xp.repeat(x, 2, axis=1), np.repeat(a, 2, 1))
            self.same(xp.repeat(x, xp.asarray([0, 2, 1]), axis=1), np.repeat(a, [0, 2, 1], 1))
            self.same(xp.roll(x, (1, -2), axis=(0, 2)), np.roll(a, (1, -2), (0, 2)))
            self.same(xp.roll(x, 5), np.roll(a, 5))
            self.same(xp.tril(x, k=1), np.tril(a, 1))
            self.same(xp.triu(x, k=-1), np.triu(a, -1))
            self.same(xp.matrix_transpose(x), a.swapaxes(1, 2))
            for got, want in zip(xp.unstack(x, axis=1), np.moveaxis(a, 1, 0)):
                self.same(got, want)
            for shape in ((3,), (1, 3), (3, 1), (1, 1, 3), (1, 3, 1, 1), (0, 1)):
                b = random(rng, shape, d)
                self.same(xp.asarray(b), b)
                self.same(xp.permute_dims(xp.asarray(b), tuple(reversed(range(b.ndim)))), b.T)
        with self.assertRaisesRegex(ValueError, "24 elements"):
            xp.reshape(x, (5, 5))
        with self.assertRaisesRegex(ValueError, "copied"):
            xp.reshape(x[:, ::-1], (-1,), copy=False)

    KEYS = [np.s_[1], np.s_[-1, 2], np.s_[..., 0], np.s_[:, None, 1:], np.s_[::-1, ::2, 3:0:-2], np.s_[2:1],
            np.s_[None, ..., None], ([0, 1, 1],), (np.s_[:], [2, 0]), ([1, 0], [0, 2]), ([1, 0], np.s_[:], [3, 1]),
            (0, np.s_[:], [3, 1]), ([[0, 1], [1, 0]], np.s_[1:], 2), (np.s_[1:], [[0], [2]], [[1, 2, 3]]), ([],),
            (np.s_[...], [-1, 0]), (np.s_[:], [0, 1], np.s_[...], [3, 1]), ([1, 0], np.s_[...], [2, 0], [3, 1])]

    def test_items(self):
        rng = np.random.default_rng(6)
        of = lambda k, make: make(k) if isinstance(k, list) else k
        arrays = lambda key, make: tuple(of(k, make) for k in key) if isinstance(key, tuple) else key
        for d, key in itertools.product(("bool", "int16", "float64", "complex128"), self.KEYS):
            a = random(rng, (2, 3, 4), d)
            x = xp.asarray(a, copy=True)
            theirs = arrays(key, lambda k: np.asarray(k, "int64"))
            ours = arrays(key, lambda k: xp.asarray(k, dtype=xp.int64))
            self.same(x[ours], np.asarray(a[theirs]), 0, key)
            value = random(rng, (), d)[()].item()
            a[theirs] = value
            x[ours] = value
            self.same(x, a, 0, key)
            new = random(rng, a[theirs].shape, d)
            if isinstance(key, tuple) and any(isinstance(k, list) and k == [0, 1, 1] for k in key):
                continue  # which of two values stays is left open
            a[theirs] = new
            x[ours] = xp.asarray(new)
            self.same(x, a, 0, key)

    def test_masks(self):
        rng = np.random.default_rng(7)
        a, x = (f(random(rng, (3, 4), "int32")) for f in (np.copy, xp.asarray))
        x = xp.asarray(a, copy=True)
        for mask in (a > 0, a[:, 0] > 0, np.zeros((3, 4), bool)):
            self.same(x[xp.asarray(mask)], a[mask])
            a[mask] = 5
            x[xp.asarray(mask)] = 5
            self.same(x, a)
        self.same(x[xp.asarray([True, False, True]), 1:], a[[True, False, True], 1:])

    def test_wrong_indices(self):
        x = xp.ones((2, 3))
        for key in (2, (0, 0, 0), (0, -4), (xp.asarray([0, 2]),), (Ellipsis, Ellipsis), xp.ones((3, 3), dtype=xp.bool)):
            with self.assertRaises(IndexError, msg=key):
                x[key]
        with self.assertRaises(TypeError):
            xp.ones(3, dtype=xp.int8)[0:2] = 1.5
        with self.assertRaises(TypeError):
            xp.ones(3, dtype=xp.int8)[...] = xp.ones(3, dtype=xp.int16)
        with self.assertRaises(OverflowError):
            xp.ones(3, dtype=xp.int8)[...] = 128

    def test_overlapping_assignment(self):
        x, a = xp.arange(10), np.arange(10)
        x[1:] = x[:-1]
        a[1:] = a[:-1].copy()
        self.same(x, a)

    def test_take(self):
        rng = np.random.default_rng(8)
        a = random(rng, (3, 4, 5), "float32")
        at = np.asarray([[3, 0], [-1, 2]])
        self.same(xp.take(xp.asarray(a), xp.asarray(at), axis=1), np.take(a, at, 1))
        order = np.argsort(a, axis=1)
        self.same(xp.take_along_axis(xp.asarray(a), xp.asarray(order), axis=1), np.take_along_axis(a, order, 1))
        with self.assertRaisesRegex(IndexError, "index 4"):
            xp.take(xp.asarray(a), xp.asarray([4]), axis=1)


class Folds(Case):
    AXES = [None, 0, -1, (0, 2), (1,), (0, 1, 2)]

    def test_sums_and_extremes(self):
        rng = np.random.default_rng(9)
        for d, shape, keep in itertools.product(ALL, [(2, 3, 4), (40, 1, 70), (3, 300, 2)], (False, True)):
            a = random(rng, shape, d, small=True)
            for x, a in ((xp.asarray(a), a), (xp.asarray(a)[::-1, :, ::2], a[::-1, :, ::2])):
                for axis in self.AXES:
                    text = (d, shape, axis, keep)
                    if d != "bool":
                        ulps = 0 if d in INTEGERS else 4e3
                        wide = a.astype("complex128" if d in PAIRS else "float64") if d in FLOATS + PAIRS else a
                        want = np.asarray(np.sum(wide, axis=axis, keepdims=keep))
                        want = want.astype(d) if d in FLOATS + PAIRS else want
                        got = xp.sum(x, axis=axis, keepdims=keep)
                        self.assertEqual((got.shape, got.dtype.name), (want.shape, want.dtype.name), text)
                        bound = ulps*np.finfo(d).eps if ulps else 0
                        self.assertLessEqual(np.max(np.abs(numpy_of(got) - want), initial=0), bound, text)
                    if d in INTEGERS + FLOATS:
                        self.same(xp.max(x, axis=axis, keepdims=keep), np.max(a, axis=axis, keepdims=keep), 0, text)
                        self.same(xp.min(x, axis=axis, keepdims=keep), np.min(a, axis=axis, keepdims=keep), 0, text)
                    if d in INTEGERS:
                        self.same(xp.prod(x, axis=axis, keepdims=keep), np.prod(a, axis=axis, keepdims=keep), 0, text)
                    self.same(xp.any(x, axis=axis, keepdims=keep), np.any(a, axis=axis, keepdims=keep), 0, text)
                    self.same(xp.all(x, axis=axis, keepdims=keep), np.all(a, axis=axis, keepdims=keep), 0, text)
                    self.same(xp.count_nonzero(x, axis=axis, keepdims=keep),
                              np.count_nonzero(a, axis=axis, keepdims=keep), 0, text)

    def test_long_lines(self):  # which are cut into blocks
        rng = np.random.default_rng(10)
        for d in ("int8", "uint64", "int64", "float32", "float64"):
            a = random(rng, (300007,), d)
            x = xp.asarray(a)
            for name in ("max", "min"):
                self.same(getattr(xp, name)(x), getattr(np, name)(a))
            self.same(xp.argmax(x), np.argmax(a))
            self.same(xp.argmin(x[::-1]), np.argmin(a[::-1]))
            self.same(xp.sum(x), np.sum(a, dtype="float64").astype(d) if d in FLOATS else np.sum(a), 1e4)
            self.assertEqual(int(xp.count_nonzero(x)), np.count_nonzero(a))
        self.assertEqual(float(xp.prod(xp.full(100001, 1.00001))), float(xp.prod(xp.full(100001, 1.00001))))
        self.assertLess(abs(float(xp.prod(xp.full(100001, 1.00001)))/1.00001**100001 - 1), 1e-10)
        a = np.full(70000, 0.1)
        a[66666] = np.nan
        self.assertEqual(int(xp.argmax(xp.asarray(a))), 66666)
        self.assertTrue(np.isnan(float(xp.min(xp.asarray(a)))))

    def test_empty(self):
        x = xp.zeros((0, 3))
        self.same(xp.sum(x, axis=0), np.zeros(3))
        self.same(xp.prod(x, axis=0), np.ones(3))
        self.same(xp.all(x), np.bool_(True))
        self.same(xp.max(x, axis=1), np.zeros(0))
        for f in (xp.max, xp.argmin):
            with self.assertRaisesRegex(ValueError, "no element"):
                f(x, axis=0)

    def test_means_and_running_sums(self):
        rng = np.random.default_rng(11)
        for d in FLOATS:
            a = random(rng, (5, 6, 7), d)
            x = xp.asarray(a)
            for axis in (None, 1, (0, 2)):
                self.same(xp.mean(x, axis=axis), np.mean(a, axis=axis), 1e3)
                self.same(xp.var(x, axis=axis, correction=1), np.var(a, axis=axis, ddof=1), 1e2)
                self.same(xp.std(x, axis=axis, keepdims=True), np.std(a, axis=axis, keepdims=True), 1e2)
        for d in INTEGERS:
            a = random(rng, (4, 5), d)
            x = xp.asarray(a)
            for axis in (0, 1):
                self.same(xp.cumulative_sum(x, axis=axis), np.cumsum(a, axis=axis))
                self.same(xp.cumulative_prod(x, axis=axis), np.cumprod(a, axis=axis))
                self.same(xp.cumulative_sum(x, axis=axis, include_initial=True)[1:, ...] if not axis else
                          xp.cumulative_sum(x, axis=axis, include_initial=True)[:, 1:], np.cumsum(a, axis=axis))
            self.same(xp.diff(x, axis=0, n=2), np.diff(a, axis=0, n=2))


class Order(Case):
    def test_sorting(self):
        rng = np.random.default_rng(12)
        for d in ["bool"] + INTEGERS + FLOATS:
            a = random(rng, (5, 40), d, small=True)
            x = xp.asarray(a)
            for axis in (0, 1):
                self.same(xp.sort(x, axis=axis), np.sort(a, axis=axis))
                self.same(xp.sort(x, axis=axis, descending=True), np.flip(np.sort(a, axis=axis), axis))
                self.same(xp.argsort(x, axis=axis), np.argsort(a, axis=axis, kind="stable"))
                down = xp.argsort(x, axis=axis, descending=True)
                behind = a.shape[axis] - 1 - np.flip(np.argsort(np.flip(a, axis), axis=axis, kind="stable"), axis)
                self.same(down, behind)
            if d != "bool":
                line = np.sort(a[0])
                for side in ("left", "right"):
                    self.same(xp.searchsorted(xp.asarray(line), x, side=side), np.searchsorted(line, a, side))
        with self.assertRaisesRegex(TypeError, "order"):
            xp.sort(xp.asarray([1j]))
        self.same(xp.argmax(xp.asarray([[1, 3, 3], [5, 2, 5]]), axis=1, keepdims=True), [[1], [0]])

    def test_sets(self):
        rng = np.random.default_rng(13)
        for d in ALL:
            a = random(rng, (4, 9), d, small=True)
            if np.dtype(d).kind in "fc":
                a = np.round(a)
            x = xp.asarray(a)
            values, indices, inverse, counts = np.unique(a, True, True, True)
            r = xp.unique_all(x)
            self.same(r.values, values)
            self.same(r.indices, indices)
            self.same(r.counts, counts)
            self.same(xp.take(r.values, xp.reshape(r.inverse_indices, (-1,))), a.reshape(-1))
            self.assertEqual(r.inverse_indices.shape, a.shape)
            self.same(xp.unique_values(x), values)
            for got, want in zip(xp.nonzero(x), np.nonzero(a)):
                self.same(got, want)
        self.assertEqual(xp.unique_values(xp.asarray([float("nan")]*2)).shape, (2,))


class Linear(Case):
    def close(self, got, want, tolerance):
        self.assertEqual(got.shape, np.shape(want))
        np.testing.assert_allclose(numpy_of(got), want, atol=tolerance, rtol=tolerance)

    def test_products(self):
        rng = np.random.default_rng(14)
        for d in INTEGERS + FLOATS + PAIRS:
            for s, t in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((5, 1, 2, 3), (4, 3, 2)), ((2, 0), (0, 3))):
                a, b = random(rng, s, d), random(rng, t, d)
                with np.errstate(all="ignore"):
                    want = np.asarray(a @ b)
                self.same(xp.asarray(a) @ xp.asarray(b), want, 0 if d in INTEGERS else 1e3)
            a, b = random(rng, (2, 3, 4), d, True), random(rng, (4, 3, 5), d, True)
            self.same(xp.tensordot(xp.asarray(a), xp.asarray(b), axes=((1, 2), (1, 0))),
                      np.tensordot(a, b, ((1, 2), (1, 0))), 1e3)
            self.same(xp.vecdot(xp.asarray(a), xp.asarray(a[0])), np.vecdot(a, a[0]), 1e3)

    def test_factors(self):
        rng = np.random.default_rng(15)
        for d in FLOATS + PAIRS:
            tolerance = 1e-3 if d in ("float32", "complex64") else 1e-10
            a = random(rng, (2, 3, 4, 4), d) + 4*np.eye(4, dtype=d)
            x, la = xp.asarray(a), xp.linalg
            self.close(la.inv(x), np.linalg.inv(a), tolerance)
            self.close(la.det(x), np.linalg.det(a), 100*tolerance)
            sign, size = la.slogdet(x)
            self.close(size, np.linalg.slogdet(a)[1], tolerance)
            self.close(sign, np.linalg.slogdet(a)[0], tolerance)
            self.close(la.solve(x, x[..., :2]), np.linalg.solve(a, a[..., :2]), tolerance)
            self.close(la.matrix_power(x, 3), np.linalg.matrix_power(a, 3), 100*tolerance)
            h = a @ a.conj().swapaxes(-1, -2)
            l = la.cholesky(xp.asarray(h))
            self.close(l @ xp.conj(l.mT), h, 10*tolerance)
            w, v = la.eigh(xp.asarray(h))
            self.close((v*xp.astype(w, v.dtype)[..., None, :]) @ xp.conj(v.mT), h, 100*tolerance)
            for m, n in ((5, 3), (3, 5), (4, 4), (1, 3), (0, 2)):
                b = random(rng, (2, m, n), d)
                for mode in ("reduced", "complete"):
                    Q, R = la.qr(xp.asarray(b), mode=mode)
                    self.assertEqual(Q.shape, (2, m, min(m, n) if mode == "reduced" else m))
                    self.close(Q @ R, b, tolerance)
                    self.close(xp.conj(Q.mT) @ Q, np.stack([np.eye(Q.shape[-1])]*2), tolerance)
                for full in (False, True):
                    u, s, vh = la.svd(xp.asarray(b), full_matrices=full)
                    k = min(m, n)
                    self.assertEqual((u.shape[-1], vh.shape[-2]), (m, n) if full else (k, k))
                    self.close((u[..., :k]*xp.astype(s, u.dtype)[..., None, :]) @ vh[..., :k, :], b, tolerance)
                    self.close(xp.conj(u.mT) @ u, np.stack([np.eye(u.shape[-1])]*2), tolerance)
                if k:
                    self.close(la.pinv(xp.asarray(b)), np.linalg.pinv(b), tolerance)
                    self.assertEqual(numpy_of(la.matrix_rank(xp.asarray(b))).tolist(), [k, k])
            for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
                self.close(la.matrix_norm(x, ord=ord), np.linalg.norm(a, ord, (-2, -1)), 10*tolerance)
            for ord in (0, 1, 2, 3, 0.5, np.inf, -np.inf):
                self.close(la.vector_norm(x, ord=ord, axis=1), np.linalg.norm(a, ord, 1), 10*tolerance)
            c = random(rng, (5, 3), d)
            self.close(la.cross(xp.asarray(c), xp.asarray(c[::-1].copy())), np.cross(c, c[::-1]), tolerance)
            self.close(la.outer(xp.asarray(c[0]), xp.asarray(c[1])), np.outer(c[0], c[1]), tolerance)
            for k in (0, 1, -2, 7):
                self.close(la.diagonal(x, offset=k), np.diagonal(a, k, -2, -1), tolerance)
            self.close(la.trace(x), np.trace(a, axis1=-2, axis2=-1), tolerance)
        with self.assertRaises(Exception):
            xp.linalg.inv(xp.zeros((2, 2)))

    def test_transforms(self):
        rng = np.random.default_rng(16)
        for d in FLOATS + PAIRS:
            tolerance = 1e-4 if d in ("float32", "complex64") else 1e-10
            a = random(rng, (3, 4, 5), d)
            x = xp.asarray(a)
            for n, axis, norm in itertools.product((None, 3, 8), (-1, 0, 1), ("backward", "ortho", "forward")):
                for name in ("fft", "ifft", "irfft", "hfft") + (("rfft", "ihfft") if d in FLOATS else ()):
                    got = getattr(xp.fft, name)(x, n=n, axis=axis, norm=norm)
                    self.close(got, getattr(np.fft, name)(a, n=n, axis=axis, norm=norm), 10*tolerance)
                    single = d in ("float32", "complex64")
                    real = name in ("irfft", "hfft")
                    bits = (32 if single else 64)*(2 - real)
                    self.assertEqual(got.dtype.name, "%s%d" % ("float" if real else "complex", bits))
            self.close(xp.fft.fftn(x, axes=(0, 2)), np.fft.fftn(a, axes=(0, 2)), 10*tolerance)
            self.close(xp.fft.ifftn(x), np.fft.ifftn(a), tolerance)
            self.close(xp.fft.irfftn(x), np.fft.irfftn(a), tolerance)
            if d in FLOATS:
                self.close(xp.fft.rfftn(x), np.fft.rfftn(a), 10*tolerance)
            self.same(xp.fft.fftshift(x), np.fft.fftshift(a))
            self.same(xp.fft.ifftshift(x, axes=2), np.fft.ifftshift(a, axes=2))
        for n in (1, 4, 7):
            self.same(xp.fft.fftfreq(n, d=0.5), np.fft.fftfreq(n, 0.5), 2)
            self.same(xp.fft.rfftfreq(n, d=0.5), np.fft.rfftfreq(n, 0.5), 2)


class Exchange(Case):
    def test_memory_is_shared(self):
        a = np.arange(6.0).reshape(2, 3)
        x = xp.asarray(a)
        x[0, 0] = 9.0
        self.assertEqual(a[0, 0], 9.0)
        value = xp.plain(x)
        self.assertIs(type(value), q.qvalue)
        value[1, 1] = -1
        self.assertEqual(float(x[1, 1]), -1)
        back = xp.asarray(value)
        back[1, 2] = 5.0
        self.assertEqual(a[1, 2], 5.0)
        y = xp.asarray(x, copy=True)
        y[0, 0] = 0.0
        self.assertEqual(a[0, 0], 9.0)
        b = np.from_dlpack(x)
        b[0, 1] = 7
        self.assertEqual(float(x[0, 1]), 7)
        self.same(xp.from_dlpack(a), a)
        self.same(xp.from_dlpack(np.asarray(3.5)), np.float64(3.5))

    def test_functions_and_kernels_of_scripts(self):
        m = q.compile_string("test_array_api", """
            function y = twice(x) y = 2*x end
            function [] = __kernel__ add_one(x : mat[scalar], pos : ivec2)
                x[pos] += 1
            end""".replace("y = twice(x) y", "y = twice(x)\n y").replace("2*x end", "2*x\nend"))
        x = xp.ones((2, 3), dtype=xp.float32)
        self.assertIsInstance(x, q.qvalue)
        self.assertEqual(m.twice(x).tolist(), [[2, 2, 2]]*2)
        q.parallel_do(x.shape, x, m.add_one)
        self.same(x, np.full((2, 3), 2, "float32"))
        small = xp.asarray([100], dtype=xp.int8)
        self.assertEqual(m.twice(small).tolist(), [200])      # the arithmetic of the language
        self.assertEqual(xp.asarray(2*small).dtype, xp.int8)  # the minimum of the standard

    def test_other_element_types_are_refused(self):
        half = q.value(np.ones(3, "float16"))
        with self.assertRaisesRegex(TypeError, "float16"):
            xp.asarray(half)

    def test_objects(self):
        import copy, pickle
        x = xp.asarray([[1, 2], [3, 4]], dtype=xp.uint8)
        for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            self.assertIsNot(y, x)
            self.same(y, [[1, 2], [3, 4]] and np.asarray([[1, 2], [3, 4]], "uint8"))
        self.assertIs(pickle.loads(pickle.dumps(xp.int8)), xp.int8)
        self.assertEqual(repr(x), "Array([[1, 2], [3, 4]], dtype=uint8)")
        self.assertEqual([10, 20, 30][xp.asarray(1)], 20)
        self.assertEqual((float(xp.asarray(2)), complex(xp.asarray(2.5)), bool(xp.asarray(0))), (2.0, 2.5 + 0j, False))
        for f in (bool, int, float):
            with self.assertRaises(TypeError):
                f(x)
        with self.assertRaises(TypeError):
            hash(x)
        self.assertEqual((x.device, x.shape, x.ndim, x.size, len(x)), ("cpu", (2, 2), 2, 4, 2))
        self.assertIs(x.to_device("cpu"), x)

    def test_derivatives_are_refused(self):
        with self.assertRaisesRegex(Exception, "derivative"):
            q.grad(lambda v: q.sum(xp.sin(v)))(q.value([1.0, 2.0]))

    def test_a_machine_is_opened_when_it_is_needed(self):
        text = ("import pyquasar as q, pyquasar.array_api as xp\n"
                "x = xp.arange(3); print(float(xp.linalg.det(xp.eye(2))), xp.sort(x)); q.destroy()\n"
                "print(float(xp.linalg.det(xp.eye(2))), xp.argsort(xp.arange(2)))\n"
                "try: x + 1\nexcept q.QuasarError as e: print(e)")
        r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                           env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual(r.stdout, "1.0 [0, 1, 2]\n1.0 [0, 1]\nthe machine of this value was closed\n", r.stderr)


class Users(Case):
    """Functions of other packages that dispatch by the standard, on our arrays: docs/array_api.md lists them."""
    SCIPY = """
    special.erf(x) special.gammaln(x) special.logsumexp(x) special.softmax(m,axis=1) special.expit(x)
    special.xlogy(x,y) fft.fft(x) fft.rfft(x) fft.dct(x) stats.zscore(x) stats.skew(x) stats.kurtosis(x)
    stats.moment(x,3) stats.gmean(x) stats.hmean(x) stats.ttest_ind(x,y).pvalue stats.ttest_rel(x,y).pvalue
    stats.pearsonr(x,y).statistic stats.variation(x) stats.describe(x).variance stats.entropy(x)
    stats.chisquare(x).statistic stats.f_oneway(x,y).statistic stats.iqr(x) stats.rankdata(x)
    stats.normaltest(x).statistic stats.trim_mean(x,0.1) stats.circmean(x) cluster.vq.whiten(m)
    cluster.hierarchy.linkage(m) signal.detrend(x) signal.fftconvolve(x,y) signal.convolve(x,y)
    signal.correlate(x,y) signal.hilbert(x) signal.savgol_filter(x,5,2) ndimage.gaussian_filter(m,1.0)
    ndimage.median_filter(m,3) integrate.trapezoid(x) integrate.cumulative_trapezoid(x) optimize.rosen(x)
    differentiate.derivative(lambda_t:t**3,x).df constants.convert_temperature(x,"C","K")"""

    def run_in_process(self, text, **variables):
        """With the variables that are read when a package is imported."""
        r = subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True,
                           env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), **variables))
        self.assertEqual((r.returncode, r.stdout), (0, "fine\n"), r.stdout + r.stderr)

    @unittest.skipUnless(library("scipy"), "SciPy is not here")
    def test_scipy(self):
        calls = [c.replace("lambda_", "lambda ") for c in self.SCIPY.split()]
        self.run_in_process("""
import numpy as np, pyquasar.array_api as xp, scipy
from scipy import special, fft, stats, cluster, signal, ndimage, integrate, optimize, differentiate, constants
import scipy.cluster.vq, scipy.cluster.hierarchy
rng = np.random.default_rng(0)
theirs = dict(x=rng.random(20), y=rng.random(20), m=rng.random((6, 4)))
ours = {k: xp.asarray(v) for k, v in theirs.items()}
for call in %r:
    want, got = eval(call, globals(), dict(theirs)), eval(call, globals(), dict(ours))
    assert type(got) is xp.Array, (call, type(got))
    got = np.asarray(xp.plain(xp.reshape(got, (-1,))).to_py())
    np.testing.assert_allclose(got, np.ravel(want), 1e-6, 1e-9, err_msg=call)
print("fine")""" % calls, SCIPY_ARRAY_API="1")

    @unittest.skipUnless(library("sklearn"), "scikit-learn is not here")
    def test_scikit_learn(self):
        self.run_in_process("""
import numpy as np, pyquasar.array_api as xp, sklearn
from sklearn import decomposition, linear_model, metrics, preprocessing
rng = np.random.default_rng(0)
A, b = rng.random((30, 4)), rng.integers(0, 2, 30)
X, y = xp.asarray(A), xp.asarray(b)
back = lambda v: np.asarray(xp.plain(v).to_py()) if type(v) is xp.Array else np.asarray(v)
for f in (lambda A, b: preprocessing.StandardScaler().fit_transform(A),
          lambda A, b: preprocessing.MinMaxScaler().fit_transform(A),
          lambda A, b: preprocessing.MaxAbsScaler().fit_transform(A),
          lambda A, b: linear_model.Ridge(solver="svd").fit(A, A[:, 0]).coef_,
          lambda A, b: np.abs(back(decomposition.PCA(2, svd_solver="full").fit_transform(A))),
          lambda A, b: metrics.accuracy_score(b, b), lambda A, b: metrics.mean_squared_error(A[:, 0], A[:, 1]),
          lambda A, b: metrics.r2_score(A[:, 0], A[:, 1]), lambda A, b: metrics.zero_one_loss(b, 1 - b)):
    want = f(A, b)
    with sklearn.config_context(array_api_dispatch=True):
        got = f(X, y)
    np.testing.assert_allclose(back(got), back(want), 1e-6, 1e-9)
print("fine")""", SCIPY_ARRAY_API="1")


if __name__ == "__main__":
    if "--write" in sys.argv:
        sys.exit(subprocess.call([sys.executable, os.path.join(ROOT, "tools/array_api.py")]))
    unittest.main()
