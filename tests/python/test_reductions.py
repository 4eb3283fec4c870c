"""The reductions of reduce.def that NumPy or SciPy has, too, give the same results for every type and shape."""
import itertools, unittest

import pyquasar as q
from optional import library

np = library("numpy")
special = library("scipy.special")

TYPES = ("float32", "float64", "int8", "uint8", "int16", "int32", "int64", "uint64", "bool")
SHAPES = [(1,), (7,), (3, 5), (5, 1), (2, 3, 4), (600, 3), (3, 600), (70000,)]


def call(name, x, axis, shape):
    """axis: that of NumPy; a vec of the language is one row."""
    r = getattr(q, name)(x) if axis is None else getattr(q, name)(x, axis + (x.ndim == 1))
    return np.asarray(r, np.float64).reshape(shape)


@unittest.skipUnless(np and special, "needs numpy and scipy")
class Reductions(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def wanted(self, name, a, axis):
        keep = {"axis": axis, "keepdims": axis is not None}
        with np.errstate(all="ignore"):
            if name == "norm1":
                return np.sum(np.abs(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)), **keep)
            if name == "logsumexp":
                return special.logsumexp(a.astype(np.float64), **keep)
            best = np.fmin if name == "argmin" else np.fmax  # nanargmin takes nan for inf
            return np.argmax(a == best.reduce(a, **keep), **keep)

    def compare(self, name, a):
        for axis in (None, *range(a.ndim)):
            wanted = self.wanted(name, a, axis)
            np.testing.assert_allclose(call(name, a, axis, np.shape(wanted)), wanted, 2e-6, 1e-6,
                                       err_msg=f"{name} {a.dtype} {a.shape} {axis}")

    def test_every_type_and_shape(self):
        for shape, dtype in itertools.product(SHAPES, TYPES):
            a = (np.arange(np.prod(shape)) * 7 % 11 - 3).reshape(shape)
            a = (a % 2 == 0 if dtype == "bool" else abs(a) if dtype[0] == "u" else a).astype(dtype)
            for name in ("norm1", "logsumexp", "argmin", "argmax"):
                self.compare(name, a)
                self.compare(name, a.T)
                self.compare(name, a[::-1])

    def test_infinite_elements_and_nan(self):
        for row in itertools.product((np.nan, np.inf, -np.inf, 1.0), repeat=3):
            a = np.array([row, (3.0, 1.0, 2.0)])
            for name in ("norm1", "logsumexp"):
                self.compare(name, a)
            if not np.isnan(row).all():
                for name in ("argmin", "argmax"):
                    self.compare(name, a)

    def test_complex_elements(self):
        z = np.array([[3 + 4j, 1j, 1e300 + 1e300j], [0, -1, 2 - 2j]])
        self.compare("norm1", z)
        self.compare("norm1", z[:, :2].astype(np.complex64))
        for name in ("logsumexp", "argmin", "argmax"):
            for args in ((z,), (z, 0)):
                with self.assertRaisesRegex(TypeError, name if name == "logsumexp" else "real|order"):
                    getattr(q, name)(*args)

    def test_no_elements(self):
        none = np.zeros(0)
        self.assertEqual((q.norm1(none), q.logsumexp(none)), (0, -np.inf))
        self.assertTrue((np.asarray(q.logsumexp(np.zeros((0, 3)), 0)) == -np.inf).all())
        for name in ("argmin", "argmax"):
            with self.assertRaisesRegex(ValueError, "empty"):
                getattr(q, name)(none)

    def test_large_numbers_neither_overflow_nor_vanish(self):
        a = np.array([[1e4, 1e4 + 1], [-1e4, -1e4 - 1]])
        self.compare("logsumexp", a)
        self.compare("norm1", np.full((3, 4), 3e38, np.float32).astype(np.float64))


if __name__ == "__main__":
    unittest.main()
