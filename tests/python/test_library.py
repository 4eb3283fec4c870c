"""Built-in functions on whole arrays, against NumPy: random and odd sizes, empty arrays, NaN, every element type."""
import math
import os
import tempfile
import unittest

import pyquasar as q
from optional import library

np = library("numpy")
if np is None:
    raise unittest.SkipTest("NumPy is not installed")

REAL = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
        "float64")
random = np.random.default_rng(7)
# What the stream of seed 3 has always given.
PERMUTATION = [8, 0, 2, 11, 9, 6, 1, 10, 3, 4, 7, 5]
WHOLE = [816, 116, 656, 765, 268, 551, 224, 607, 768]


def setUpModule():
    q.init("cpu")


def array(kind, *dims):
    kind = np.dtype(kind)
    if kind.kind == "f":
        return (random.random(dims)*8 - 4).astype(kind)
    if kind.kind == "c":
        return (random.random(dims) - 0.5 + 1j*(random.random(dims) - 0.5)).astype(kind)
    return random.integers(0, 2 if kind.kind == "b" else 100, dims).astype(kind)


class Morphology(unittest.TestCase):
    def test_types_of_images(self):
        """A mask that is no rectangle takes the same types as one that is."""
        x = np.random.default_rng(3).integers(0, 255, (20, 30))
        cross = q.strel("diamond", 1)
        for dtype in "uint8", "int16", "int32", "float32", "float64":
            y = np.asarray(q.imopen(x.astype(dtype), cross))
            self.assertEqual(y.dtype, dtype)
            np.testing.assert_array_equal(y, np.asarray(q.imopen(x.astype("float64"), cross)))
        self.assertEqual(q.imerode(x > 100, cross).dtype, bool)


class Watershed(unittest.TestCase):
    def test_level_of_the_water(self):
        """A low pixel behind a high one gets the level of the high one, so that another marker may reach it first."""
        x = np.array([[1, 2, 3], [2, 3, 2], [0, 1, 0], [0, 1, 0], [3, 2, 1], [0, 0, 0]], float)
        marks = np.zeros((6, 3))
        marks[2, 1] = marks[5, 1] = 4
        marks[4, 2] = 3
        wanted = np.full((6, 3), 4.)
        wanted[3:5, 2] = 3
        np.testing.assert_array_equal(np.asarray(q.watershed(x, marks, 4)), wanted)

    def test_lines_beside_markers_that_touch(self):
        y = q.watershed(np.ones((5, 1)), np.array([[0, 2, 1, 0, 0]]).T, 4, True)
        self.assertEqual(np.asarray(y).ravel().tolist(), [2, 2, 1, 1, 1])
        y = q.watershed(np.ones((5, 1)), np.array([[2, 0, 0, 0, 1]]).T, 4, True)
        self.assertEqual(np.asarray(y).ravel().tolist(), [2, 2, 0, 1, 1])

    def test_tiny_images_against_scikit_image(self):
        segmentation = library("skimage.segmentation")
        if not segmentation:
            self.skipTest("scikit-image is not installed")
        for k in range(80):
            h, w = random.integers(1, 9, 2)
            x = random.integers(0, 4, (h, w)).astype(float) if k % 3 else random.random((h, w))
            marks = np.where(random.random((h, w)) < 0.2, random.integers(1, 5, (h, w)), 0)
            mask = random.random((h, w)) < (0.8 if k % 2 else 1.1)
            wanted = segmentation.watershed(x, marks, connectivity=1 + k//2 % 2, mask=mask)
            got = q.watershed(x, marks, 8 if k//2 % 2 else 4, False, mask)
            np.testing.assert_array_equal(np.asarray(got), wanted)


class WrongArguments(unittest.TestCase):
    def test_the_class_is_that_of_numpy(self):
        """Checks of check.q, assert and error in the library, and assert in a program."""
        x = np.ones((4, 4), np.float32)
        for call in (lambda: q.butter(0, 0.5), lambda: q.interp1([1, 2], [1, 2], [1.5], "x"), lambda: q.edge(x, "y"),
                     lambda: q.kmeans(x, 9)):
            with self.assertRaises(ValueError) as e:
                call()
            self.assertIs(type(e.exception), q.QuasarValueError)
        with self.assertRaises(TypeError):
            q.butter("a", 0.5)
        q.compile_string("checks", """
            function y = caught()
                try
                    y = butter(0, 0.5)
                catch e
                    y = e.message
                end
            end
            function y = asserts(x)
                assert(x > 0, "not positive")
                y = x
            end
            function y = in_library()
                y = fminsearch(asserts, [-1])
            end""")
        self.assertEqual(q.caught(), "butter: n must be an integer of at least 1, got 0")
        for call in (lambda: q.asserts(-1)), q.in_library:
            with self.assertRaisesRegex(q.QuasarAssertionError, "not positive"):
                call()


class Callbacks(unittest.TestCase):
    def test_functions_may_give_arrays_lists_and_numbers_of_numpy(self):
        times = [q.ode45(f, [0.0, 1.0], [1.0, 2.0])[1].tolist()
                 for f in (lambda t, y: -y, lambda t, y: -np.asarray(y), lambda t, y: [-v for v in np.ravel(y)])]
        self.assertEqual(times[0], times[1])
        self.assertEqual(times[0], times[2])
        for f in (lambda x: np.float64(x) - 0.25, lambda x: [x - 0.25], lambda x: np.array([x - 0.25])):
            self.assertAlmostEqual(q.fzero(f, [0.0, 1.0])[0], 0.25, 12)
        with self.assertRaisesRegex(ValueError, "ode45: f must give as many real numbers as y has, 2, got"):
            q.ode45(lambda t, y: "none", [0.0, 1.0], [1.0, 2.0])

    def test_python_functions_get_one_dimension(self):
        """A function of Python gets a vector with one dimension, and may return a list or an array of any shape."""
        seen = set()

        def spy(f):
            def spied(*args):
                seen.update(np.shape(a) for a in args if np.ndim(a))
                return f(*args)
            return spied

        A, b = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
        turn = spy(lambda t, y: [y[1], -y[0]])
        last = [math.cos(1), -math.sin(1)]
        product = spy(lambda x: [4*x[0] + x[1], x[0] + 3*x[1]])
        for start in ([1.0, 0.0], np.array([1.0, 0.0]), np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]])):
            for solver in q.ode45, q.ode23s, q.ode15s:
                constant = [[0, 1], [-1, 0]]
                for J in constant, spy(lambda t, y: constant), spy(lambda t, y: np.array(constant)), None:
                    names = {} if J is None or solver is q.ode45 else {"J": J}
                    t, y, te, ye = solver(turn, [0.0, 1.0], start, 1e-6, 1e-8, **names)
                    self.assertEqual((t.shape, y.shape[1], te, ye), ((len(t),), 2, None, None))
                    np.testing.assert_allclose(y[-1], last, atol=1e-4)
                te, ye = solver(turn, [0.0, 3.0], start, 1e-6, 1e-8, event=spy(lambda t, y: [y[0]]))[2:]
                self.assertAlmostEqual(te, math.pi/2, 4)
                np.testing.assert_allclose(ye, [0, -1], atol=1e-4)
            x = q.fminsearch(spy(lambda x: [(x[0] - 3)**2 + (x[1] - 4)**2]), start)[0]
            np.testing.assert_allclose(x, [3, 4], atol=1e-3)
            for residual in lambda x: [x[0] - 3, x[1] - 4], lambda x: np.asarray(x)[:, None] - [[3], [4]]:
                x, resnorm, r = q.lsqnonlin(spy(residual), start)
                np.testing.assert_allclose(x, [3, 4])
                self.assertEqual(np.asarray(r).size, 2)
            x = q.lsqcurvefit(spy(lambda p, x: [p[0]*v + p[1] for v in x]), start, np.arange(2), [4, 7])[0]
            np.testing.assert_allclose(x, [3, 4])
        for solver in q.cg, q.pcg, q.bicgstab, q.gmres:
            for A_ in A, product, spy(lambda x: A @ np.asarray(x)), spy(lambda x: (A @ np.asarray(x))[:, None]):
                for M in None, spy(lambda x: [x[0]/4, x[1]/3]):
                    np.testing.assert_allclose(solver(A_, b, M=M)[0], np.linalg.solve(A, b), rtol=1e-5)
        self.assertEqual(seen, {(2,)})
        for f in lambda x: np.exp(-np.asarray(x)**2), lambda x: [math.exp(-v*v) for v in x], lambda x: np.exp(-x*x):
            self.assertAlmostEqual(q.integral(f, -math.inf, math.inf)[0], math.sqrt(math.pi), 12)
        for start in 1, [1], [1, 2], np.array([1.0]), np.float32(1), np.array([[1, 2]]):
            self.assertIs(type(q.fzero(lambda x: [x*x - 2], start)[0]), type(q.evaluate("1.5")))
            self.assertAlmostEqual(q.fzero(lambda x: [x*x - 2], start)[0], math.sqrt(2), 12)
        img = np.arange(16.0).reshape(4, 4)
        for f in lambda x: x.T, lambda x: np.asarray(x).T, lambda x: np.asarray(x).T.tolist():
            wanted = img.reshape(2, 2, 2, 2).swapaxes(1, 3).reshape(4, 4)
            np.testing.assert_array_equal(q.blockproc(img, [2, 2], f), wanted)
        for f, message in [(lambda t, y: [1], "f must give as many real numbers as y has, 2, got")]:
            with self.assertRaisesRegex(ValueError, message):
                q.ode15s(f, [0.0, 1.0], [1.0, 2.0])
        with self.assertRaisesRegex(ValueError, r"cg: A\(x\) must have 2 elements, got size \[1,3\]"):
            q.cg(lambda x: [1, 2, 3], b)
        with self.assertRaisesRegex(ValueError, "ode45: event must give one real number"):
            q.ode45(turn, [0.0, 1.0], [1.0, 0.0], event=lambda t, y: y)
        with self.assertRaises(ZeroDivisionError):
            q.ode23s(lambda t, y: [1/0, 1], [0.0, 1.0], [1.0, 2.0])

    def test_arguments_of_derivatives(self):
        for derive in q.grad, q.jacobian, q.hessian, q.value_and_grad:
            for x in np.array([1.0, 2.0]), q.value([1.0, 2.0]), 1.5, [1.0, 2.0]:
                with self.assertRaisesRegex(TypeError, r"argnums must be positions of arguments.*\(f\)\(x\)"):
                    derive(lambda x: x, x)


class Fft(unittest.TestCase):
    def check(self, got, wanted):
        got = np.asarray(got)
        self.assertEqual(got.shape, wanted.shape)
        eps = 2e-6 if got.dtype == np.complex64 else 1e-14
        scale = np.linalg.norm(wanted)/math.sqrt(max(wanted.size, 1)) + 1e-30
        self.assertLess(np.abs(got - wanted).max(initial=0)/scale, eps*math.log2(wanted.size + 2))

    def test_lengths(self):
        lengths = list(range(1, 70)) + [97, 121, 128, 130, 169, 178, 186, 254, 256, 1000, 1009, 1024, 1036, 1250, 2187,
                                        3721, 4096, 6006, 8192, 10007, 16384, 19683, 30030, 65536, 100000]
        for n in lengths:
            for kind in ("float32", "complex64", "float64", "complex128"):
                with self.subTest(n=n, kind=kind):
                    x = array(kind, n)
                    wide = x.astype(np.complex128)
                    self.check(q.fft1(x), np.fft.fft(wide))
                    self.check(q.ifft1(x), np.fft.ifft(wide))

    def test_dimensions(self):
        shapes = (8, 1000), (1000, 8), (129, 130), (3, 5, 7), (64, 6, 40), (2, 300, 9), (17, 1, 4), (66, 67), (70, 71)
        for shape in shapes:
            for kind in ("float32", "complex64", "float64", "uint8"):
                x = array(kind, *shape)
                wide = x.astype(np.complex128)
                for dim in range(len(shape)):
                    with self.subTest(shape=shape, kind=kind, dim=dim):
                        if shape[dim] > 1:
                            self.check(q.fft1(x, dim), np.fft.fft(wide, axis=dim))
                            self.check(q.ifft1(x, dim), np.fft.ifft(wide, axis=dim))
                with self.subTest(shape=shape, kind=kind):
                    self.check(q.fft2(x), np.fft.fft2(wide, axes=(0, 1)))
                    self.check(q.ifft2(x), np.fft.ifft2(wide, axes=(0, 1)))
                    if len(shape) == 3:
                        self.check(q.fft3(x), np.fft.fftn(wide))
                        self.check(q.ifft3(x), np.fft.ifftn(wide))

    def test_long_columns(self):
        x = array("complex64", 20000, 3)
        self.check(q.fft1(x, 0), np.fft.fft(x.astype(np.complex128), axis=0))

    def test_types_and_views(self):
        for kind in REAL:
            x = array(kind, 300)
            self.check(q.fft1(x), np.fft.fft(x.astype(np.float64)))
        x = array("float32", 40, 50)
        self.check(q.fft2(x.T), np.fft.fft2(x.T.astype(np.float64)))
        self.check(q.fft1(x[::2, ::3], 1), np.fft.fft(x[::2, ::3].astype(np.float64), axis=1))

    def test_real_input_is_exactly_symmetric(self):
        for n in (256, 1000, 4096):
            y = np.asarray(q.fft1(array("float32", n)))
            self.assertEqual(y[0].imag, 0)
            self.assertTrue(np.array_equal(y[1:], np.conj(y[1:][::-1])))

    def test_plans_are_kept_and_dropped(self):
        for n in list(range(1000, 1100)) + [1 << 20, 1 << 21, 1000]:
            x = array("complex64", n)
            self.check(q.fft1(x), np.fft.fft(x.astype(np.complex128)))

    def test_convolution(self):
        for n, m in ((2048, 2048), (5000, 3001), (10000, 2049)):
            for kind in ("float64", "complex128"):
                a, b = array(kind, n), array(kind, m)
                wanted = np.convolve(a, b)
                self.assertLess(np.abs(np.asarray(q.conv(a, b)) - wanted).max(), 1e-12*np.abs(wanted).max())
        a, b = array("int32", 4000), array("int32", 3000)
        self.assertTrue(np.array_equal(np.asarray(q.conv(a, b)), np.convolve(a, b).astype(np.float64)))

    def test_not_finite(self):
        x = array("float32", 300)
        x[7] = np.nan
        self.assertTrue(np.isnan(np.asarray(q.fft1(x))).all())
        self.assertEqual(np.asarray(q.fft1(np.zeros((0, 5), np.float32), 1)).size, 0)


def with_nan(x, part=0.2):
    x = x.copy()
    if x.dtype.kind == "f":
        x[random.random(x.shape) < part] = np.nan
    return x


SIZES = ((1, 1), (1, 7), (7, 1), (3, 5), (64, 65), (33, 1000), (700, 3))


class Extremes(unittest.TestCase):
    def place(self, x, dim, largest):
        """The first position of the extreme of what is not NaN, else 0."""
        worst = -np.inf if largest else np.inf
        y = x if x.dtype.kind != "f" else np.where(np.isnan(x), worst, x.astype(np.float64))
        return (y.argmax if largest else y.argmin)(axis=dim, keepdims=True)

    def test_positions(self):
        for kind in REAL:
            for shape in SIZES + ((4, 5, 6), (1, 600, 3)):
                x = with_nan(array(kind, *shape))
                if x.dtype.kind == "f":
                    x[..., 0] = np.nan
                for dim in range(len(shape)):
                    with self.subTest(kind=kind, shape=shape, dim=dim):
                        for f, largest in ((q.max, True), (q.min, False)):
                            m, i = f(x, np.zeros(0, np.float32), dim, nargout=2)
                            self.assertTrue(np.array_equal(np.asarray(i), self.place(x, dim, largest)))
                            best = np.asarray(f(x, np.zeros(0, np.float32), dim))
                            self.assertTrue(np.array_equal(m, best, equal_nan=x.dtype.kind == "f"))

    def test_position_in_all(self):
        for kind in REAL:
            for n in (1, 5, 1023, 1024, 5000):
                x = with_nan(array(kind, n))
                with self.subTest(kind=kind, n=n):
                    self.assertEqual(int(q.max(x, nargout=2)[1]), self.place(x, 0, True)[0])
                    self.assertEqual(int(q.find_index_min(x)), self.place(x, 0, False)[0])

    def test_zeros_and_infinite(self):
        x = np.array([[0.0, -0.0, 0.0], [-0.0, np.inf, np.inf], [-np.inf, np.nan, -np.inf]], np.float32)
        self.assertEqual(np.asarray(q.max(x, np.zeros(0, np.float32), 1, nargout=2)[1]).ravel().tolist(), [0, 1, 0])
        self.assertEqual(np.asarray(q.min(x, np.zeros(0, np.float32), 1, nargout=2)[1]).ravel().tolist(), [0, 0, 0])


class Ranks(unittest.TestCase):
    def test_median_and_percentiles(self):
        for kind in ("float32", "float64", "int32", "uint8"):
            for n in (1, 2, 3, 100, 16384, 30001, 100000):
                for x in (array(kind, n), np.sort(array(kind, n)), np.zeros(n, kind), np.arange(n).astype(kind) % 7):
                    with self.subTest(kind=kind, n=n):
                        wide = x.astype(np.float64)
                        self.assertAlmostEqual(float(q.median(x)), np.median(wide), 5)
                        for p in (0, 0.01, 30, 99.99, 100):
                            self.assertAlmostEqual(float(q.percentile(x, p)), np.percentile(wide, p), 5)

    def test_columns_and_nan(self):
        x = array("float32", 20001, 3)
        self.assertTrue(np.allclose(np.asarray(q.median(x, 0)), np.median(x, 0, keepdims=True)))
        expected = np.percentile(x, [10, 50, 70], axis=0)
        self.assertTrue(np.allclose(np.asarray(q.percentile(x, [10, 50, 70], 0)), expected))
        x[5, 1] = np.nan
        self.assertTrue(np.isnan(np.asarray(q.median(x, 0))[0, 1]))
        self.assertTrue(np.allclose(np.asarray(q.nanmedian(x, 0)), np.nanmedian(x, 0, keepdims=True)))


class Neighbourhoods(unittest.TestCase):
    def median(self, x, r):
        padded = np.pad(x, r, mode="symmetric") if min(x.shape) >= r else None
        windows = np.lib.stride_tricks.sliding_window_view(padded, (2*r+1, 2*r+1)).reshape(*x.shape, -1)
        return np.sort(windows, -1)[..., (2*r+1)**2//2]

    def test_medians(self):
        for kind in REAL:
            for shape in ((2, 2), (2, 9), (9, 2), (31, 33), (5, 300)):
                for r in (1, 2, 3):
                    if min(shape) < r:
                        continue
                    x = with_nan(array(kind, *shape), 0.3)
                    with self.subTest(kind=kind, shape=shape, r=r):
                        self.assertTrue(np.array_equal(np.asarray(q.medfilt(x, r)), self.median(x, r),
                                                       equal_nan=x.dtype.kind == "f"))
        x = array("float32", 20, 21, 3)
        for r in (1, 2):
            wanted = np.stack([self.median(x[..., k], r) for k in range(3)], -1)
            self.assertTrue(np.array_equal(np.asarray(q.medfilt(x, r)), wanted))
        self.assertEqual(np.asarray(q.medfilt(np.ones((1, 1), np.float32), 2)).tolist(), [[1]])

    def convolve(self, a, b):
        out = np.zeros((a.shape[0] + b.shape[0] - 1, a.shape[1] + b.shape[1] - 1), np.result_type(a, b, np.float64))
        for i in range(b.shape[0]):
            for j in range(b.shape[1]):
                out[i:i + a.shape[0], j:j + a.shape[1]] += a*b[i, j]
        return out

    def test_convolution(self):
        shapes = (((5, 7), (3, 3)), ((40, 50), (9, 4)), ((1, 9), (6, 1)), ((3, 100), (12, 4)), ((2, 3), (20, 150)),
                  ((17, 1), (3, 3)), ((64, 1100), (5, 5)))
        for left, right in shapes:
            for kind in ("float32", "float64", "complex64", "int16", "uint8"):
                a, b = array(kind, *left), array(kind, *right)
                wanted = self.convolve(a.astype(np.result_type(kind, np.float64)), b)
                with self.subTest(left=left, right=right, kind=kind):
                    limit = 1e-6*np.abs(wanted).max()
                    self.assertLess(np.abs(np.asarray(q.conv2(a, b)) - wanted).max(), limit)
                    top, side = right[0]//2, right[1]//2
                    same = wanted[top:top + left[0], side:side + left[1]]
                    self.assertLess(np.abs(np.asarray(q.conv2(a, b, "same")) - same).max(), limit)
        a = array("float64", 30, 40)
        a[10, 20] = np.inf
        got = np.asarray(q.conv2(a, np.ones((3, 3))))
        self.assertEqual(np.isinf(got).sum(), 9)
        self.assertFalse(np.isnan(got).any())

    def test_rectangles_of_morphology(self):
        scope = q.compile_string("test_library_morphology", """import "immorphology.q"
            function y = eroded(x, m) y = imerode(x, m) end
            function y = dilated(x, m) y = imdilate(x, m) end""".replace(") y", ")\n y").replace(") end", ")\n end"))
        for shape in ((1, 1), (3, 4), (30, 41), (20, 5)):
            for size in ((3, 3), (1, 5), (4, 2), (7, 9), (15, 15)):
                x = with_nan(array("float32", *shape))
                with self.subTest(shape=shape, size=size):
                    top, side = (size[0] - 1)//2, (size[1] - 1)//2
                    pads = ((top, size[0] - 1 - top), (side, size[1] - 1 - side))
                    view = np.lib.stride_tricks.sliding_window_view(np.pad(x, pads, constant_values=np.nan), size)
                    wanted = np.fmin.reduce(np.fmin.reduce(view, -1), -1)
                    got = np.asarray(scope.eroded(x, np.ones(size, np.float32)))
                    self.assertTrue(np.array_equal(got, wanted, equal_nan=True))
                    pads = tuple(p[::-1] for p in pads)
                    view = np.lib.stride_tricks.sliding_window_view(np.pad(x, pads, constant_values=np.nan), size)
                    wanted = np.fmax.reduce(np.fmax.reduce(view, -1), -1)
                    got = np.asarray(scope.dilated(x, np.ones(size, np.float32)))
                    self.assertTrue(np.array_equal(got, wanted, equal_nan=True))

    def test_samples_between_four_neighbours(self):
        for shape in ((1, 1), (1, 5), (4, 1), (3, 4), (30, 41)):
            for kind in ("float32", "float64"):
                z = array(kind, *shape)
                x, y = (random.random((9, 50))*(n + 1) - 1 for n in (shape[1], shape[0]))
                x[0, 0], y[0, 1], x[0, 2], y[0, 2] = np.nan, np.inf, shape[1] - 1, shape[0] - 1
                inside = (x >= 0) & (y >= 0) & (x <= shape[1] - 1) & (y <= shape[0] - 1)
                u, v = np.where(inside, x, 0), np.where(inside, y, 0)
                j, i = (np.clip(np.floor(w).astype(int), 0, max(n - 2, 0)) for w, n in ((u, shape[1]), (v, shape[0])))
                right, down = np.minimum(j + 1, shape[1] - 1), np.minimum(i + 1, shape[0] - 1)
                s, t = u - j, v - i
                upper, lower = (z[k, j]*(1 - s) + z[k, right]*s for k in (i, down))
                with self.subTest(shape=shape, kind=kind):
                    got = np.asarray(q.interp2(z, x, y))
                    self.assertTrue(np.array_equal(np.isnan(got), ~inside))
                    self.assertLess(np.abs(got - (upper*(1 - t) + lower*t))[inside].max(), 1e-5)
                    got = np.asarray(q.interp2(z, x, y, "nearest", 7))[inside]
                    nearest = np.where(t >= 0.5, np.where(s >= 0.5, z[down, right], z[down, j]),
                                       np.where(s >= 0.5, z[i, right], z[i, j]))[inside]
                    self.assertTrue(np.array_equal(got, nearest.astype(got.dtype)))

    def test_cosine_transforms(self):
        scope = q.compile_string("test_library_cosines", """import "dct.q"
            forward = (x, dim) -> dct1(x, dim)
            back = (x, dim) -> idct1(x, dim)
            both = x -> dct2(x)""")
        def matrix(n):
            k = np.arange(n)[:, None]
            m = np.cos(np.pi*k*(2*np.arange(n) + 1)/(2*n))*np.sqrt(2/n)
            m[0] = np.sqrt(1/n)
            return m
        for shape in ((1, 1), (1, 2), (2, 1), (3, 3), (1, 7), (5, 4), (4, 9), (33, 64), (1, 1000), (1000, 2)):
            for kind, limit in (("float32", 1e-4), ("float64", 1e-11)):
                x, down, right = array(kind, *shape), matrix(shape[0]), matrix(shape[1])
                with self.subTest(shape=shape, kind=kind):
                    for got, wanted in ((scope.forward(x, 0), down @ x), (scope.forward(x, 1), x @ right.T),
                                        (scope.back(x, 0), down.T @ x), (scope.back(x, 1), x @ right),
                                        (scope.both(x), down @ x @ right.T)):
                        self.assertEqual(np.asarray(got).dtype, x.dtype)
                        self.assertLess(np.abs(np.asarray(got).reshape(shape) - wanted).max(), limit)


class Products(unittest.TestCase):
    def test_products(self):
        sizes = (1, 2, 3, 5, 6, 7, 12, 13, 16, 17, 31, 64, 100)
        for kind in ("float32", "float64", "complex64", "int64"):
            for m in sizes:
                n, k = random.choice(sizes), random.choice(sizes)
                for shape in ((m, k, n), (m, k, 1), (1, k, m)):
                    a, b = array(kind, shape[0], shape[1]), array(kind, shape[1], shape[2])
                    with self.subTest(kind=kind, shape=shape):
                        wanted = a.astype(np.result_type(kind, np.float64)) @ b
                        got = np.asarray(q.evaluate("(a, b) -> a*b")(a, b)).reshape(wanted.shape)
                        self.assertLess(np.abs(got - wanted).max(), 1e-5*(1 + np.abs(wanted).max()))
        a, b = array("float64", 3, 5000), array("float64", 5000, 2)
        self.assertTrue(np.allclose(np.asarray(q.evaluate("(a, b) -> a*b")(a, b)), a @ b))
        a, b = array("float64", 1, 700), array("float64", 700, 5000)
        self.assertTrue(np.allclose(np.asarray(q.evaluate("(a, b) -> a*b")(a, b)).ravel(), (a @ b).ravel()))


class Others(unittest.TestCase):
    def test_membership(self):
        for kind in REAL:
            for n, m in ((1, 1), (1000, 1), (1000, 20), (20, 1000), (5000, 70000)):
                x, b = with_nan(array(kind, n)), with_nan(array(kind, m))
                there, place = (np.asarray(r) for r in q.ismember(x, b, nargout=2))
                first = {}
                for k, v in enumerate(b.tolist()):
                    first.setdefault(v, k)
                wanted = np.array([-1 if v != v else first.get(v, -1) for v in x.tolist()]) # nan equals nothing
                with self.subTest(kind=kind, n=n, m=m):
                    self.assertTrue(np.array_equal(place, wanted))
                    self.assertTrue(np.array_equal(there, wanted >= 0))
        there = q.ismember(np.array([2**63 + 1], np.uint64), np.array([-1], np.int64))
        self.assertEqual(np.asarray(there).tolist(), [False])

    def test_random_streams(self):
        q.randseed(3)
        self.assertEqual(np.asarray(q.randperm(12)).tolist(), PERMUTATION)
        q.randseed(3)
        self.assertEqual(np.asarray(q.randi(1000, 9)).tolist(), WHOLE)
        q.randseed(5)
        self.assertEqual(sorted(np.asarray(q.randperm(50000)).tolist()), list(range(50000)))
        self.assertEqual(np.asarray(q.randperm(0)).size, 0)

    def test_case(self):
        text = "".join(map(chr, range(1, 128)))*50 + "äÖß"
        self.assertEqual(q.ucase(text), text.upper())
        self.assertEqual(q.lcase(text), text.lower())
        self.assertEqual(q.ucase(""), "")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.npy")
            for kind in [k for k in REAL] + ["complex64", ">f4", ">i2"]:
                for shape in ((0,), (7,), (3, 5), (2, 3, 4)):
                    for order in "CF":
                        x = array(kind, *shape).copy(order)
                        np.save(path, x)
                        with self.subTest(kind=kind, shape=shape, order=order):
                            self.assertTrue(np.array_equal(np.asarray(q.load(path)).reshape(shape), x))
            with open(path, "rb") as f:
                data = f.read()
            with open(path, "wb") as f:
                f.write(data[:-1])
            with self.assertRaises(Exception):
                q.load(path)


if __name__ == "__main__":
    unittest.main()
