"""import pyquasar: arrays keep the number of dimensions that they were made with; every function that NumPy has, too,
gives its shape and its values, for rows, columns, batches of one, extents of 1 at the end, and empty arrays.

What differs from NumPy on purpose is in the cases, and docs/python.md says it: the dimensions of a vec are 0 and 1, for
it is one row; functions along a dimension keep it with extent 1, and without one choose the first longer than 1."""
import os, re, subprocess, sys, unittest

import pyquasar as q
from optional import library

np = library("numpy")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

KEPT = [(3,), (1, 3), (3, 1), (1, 5, 1), (4, 5, 1), (1, 4, 1), (1,), (1, 1), (1, 1, 1), (1, 1, 3), (2, 1, 3),
        (2, 3, 1, 1), (0,), (1, 0), (0, 1), (0, 1, 1), (1, 0, 1), (2, 0, 1)]
SHAPES = KEPT + [(4, 5), (2, 3, 4), (1, 3, 4), (2, 3, 4, 1), (0, 3), (3, 0)]
WHOLE = [s for s in SHAPES if 0 not in s]


def numbers(shape, dtype="f4"):
    n = int(np.prod(shape))
    return (np.arange(n) * 7 % 11 - 3.5).reshape(shape).astype(dtype)


def rows(x):
    """As the language sees it: a vec is one row."""
    return np.atleast_2d(x)


def trimmed(r):
    """Without extents of 1 at the end, beyond the second."""
    while r.ndim > 2 and r.shape[-1] == 1: r = r[..., 0]
    return r


def main(x):
    """The dimension that functions choose."""
    return next((d for d, n in enumerate(rows(x).shape) if n != 1), 0)


def like(x, w):
    """A one-row result for a vec is a vec."""
    return w.reshape(-1) if x.ndim < 2 and w.shape[0] == 1 else w


SAME = {  # names in NumPy of functions of elements
    "asin": "arcsin", "acos": "arccos", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "atan": "arctan",
    **{n: n for n in ("abs real imag conj angle sqrt cbrt exp exp2 expm1 log log2 log10 log1p sinh cosh tanh "
                      "sin cos tan floor ceil trunc sign isnan isinf isfinite").split()}}
OF_ONE = {  # those whose result has the shape of the argument
    **{n: (lambda x, f=f: getattr(np, f)(x)) for n, f in SAME.items()},
    "frac": lambda x: np.mod(x, 1), "saturate": lambda x: np.clip(x, 0, 1), "softsign": lambda x: x / (1 + np.abs(x)),
    "round": lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5),
    "zeros_like": lambda x: np.zeros_like(x), "ones_like": lambda x: np.ones_like(x), "copy": lambda x: x,
    "float": lambda x: x, "float64": lambda x: x, "uninit_like": None,
    "fftshift2": lambda x: like(x, np.fft.fftshift(rows(x), (0, 1))),
    "ifftshift2": lambda x: like(x, np.fft.ifftshift(rows(x), (0, 1))),
    "fliplr": lambda x: like(x, np.fliplr(rows(x))), "flipud": lambda x: like(x, np.flipud(rows(x)))}
OF_TWO = {"pow": lambda x, y: np.power(np.abs(x), y), "mod": lambda x, y: np.mod(x, y),
          "periodize": lambda x, y: np.mod(x, y), "atan2": lambda x, y: np.arctan2(x, y),
          "hypot": lambda x, y: np.hypot(x, y), "min": lambda x, y: np.minimum(x, y),
          "max": lambda x, y: np.maximum(x, y), "clamp": lambda x, y: np.fmin(np.fmax(x, 0), np.abs(y)),
          "complex": lambda x, y: x + 1j * y, "isclose": lambda x, y: np.isclose(x, y)}
OF_INTEGERS = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "shl": "left_shift",
               "shr": "right_shift"}
ALONG = {"sum": "sum", "prod": "prod", "mean": "mean", "any": "any", "all": "all", "min": "min", "max": "max",
         "median": "median", "argmin": "argmin", "argmax": "argmax", "nansum": "nansum", "nanmean": "nanmean",
         "nanmin": "nanmin", "nanmax": "nanmax", "nanmedian": "nanmedian"}
SPREAD = {"var": "var", "std": "std", "nanvar": "nanvar", "nanstd": "nanstd"}
CHOOSES = {  # along a dimension that is given, or the first longer than 1; the shape stays
    "cumsum": lambda x, d: np.cumsum(x, d), "cumprod": lambda x, d: np.cumprod(x, d),
    "sort": lambda x, d: np.sort(x, d), "flip": lambda x, d: np.flip(x, d), "diff": lambda x, d: np.diff(x, axis=d),
    "fft1": lambda x, d: np.fft.fft(x, axis=d), "ifft1": lambda x, d: np.fft.ifft(x, axis=d)}
WITHOUT = {  # the same without a dimension
    "fftshift1": lambda x, d: np.fft.fftshift(x, d), "ifftshift1": lambda x, d: np.fft.ifftshift(x, d)}
LISTS = {"union": "union1d", "intersect": "intersect1d", "setdiff": "setdiff1d", "setxor": "setxor1d"}
MATRICES = {"inv": lambda a: np.linalg.inv(a), "pinv": lambda a: np.linalg.pinv(a),
            "chol": lambda a: np.linalg.cholesky(a).T}
NUMBERS = {"det": lambda a: np.linalg.det(a), "logdet": lambda a: np.linalg.slogdet(a)[1],
           "trace": lambda a: np.trace(a), "rank": lambda a: np.linalg.matrix_rank(a),
           "cond": lambda a: np.linalg.cond(a)}
MADE = {"zeros": "zeros", "ones": "ones", "uninit": "empty", "czeros": "zeros", "cones": "ones"}
# Those that have tests of their own below, or no array among arguments and results.
OTHERS = {"reshape", "permute", "moveaxis", "squeeze", "vertcat", "horzcat", "cat", "repmat", "circshift",
          "diag", "diagm", "triu", "tril", "kron", "cross", "eye", "linspace", "meshgrid", "percentile",
          "quantile", "trapz", "find", "unique", "dotprod", "norm", "squared_norm", "ismember", "interp1",
          "histogram", "bincount", "polyfit", "polyval", "roots", "conv", "cov", "corrcoef", "solve",
          "linsolve", "qr", "svd", "symeig", "eig", "fft2", "ifft2", "fft3", "ifft3", "fftshift3",
          "ifftshift3", "isequal", "allclose", "find_index_min", "find_index_max", "norm1", "not", "transpose", "where",
          "take_along",
          "add_along", "rank_positions"}
NO_ARRAYS = {"pi", "inf", "nan", "eps", "maxint", "minint", "cell", "randseed", "rng", "ind2pos", "int2pos", "pos2ind",
             "isscalar", "isreal", "iscomplex", "csvread", "csvwrite", "save", "load", "x.to_py", "npy_create",
             "block_size",
             "read_block", "write_block", "toascii"}


@unittest.skipUnless(np, "needs numpy")
class Shapes(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def same(self, got, wanted, case):
        wanted = np.asarray(wanted)
        self.assertEqual(getattr(got, "shape", ()), wanted.shape, case)
        np.testing.assert_allclose(np.asarray(got), wanted, 2e-4, 2e-4, err_msg=str(case))

    def both(self, f, *args):
        """With arrays of NumPy, and with values that hold them."""
        return [f(*args), f(*(q.value(a) if isinstance(a, np.ndarray) else a for a in args))]

    def test_every_function_of_numpy_has_a_case(self):
        with open(os.path.join(ROOT, "docs/builtins.md"), encoding="utf-8") as f:
            text = f.read()
        shared = {m[1] for m in re.finditer(r"^\| `(?:\[.*?\] = )?([\w.]+)[(`].*`np\..*$", text, re.M)}
        known = {*OF_ONE, *OF_TWO, *OF_INTEGERS, *ALONG, *SPREAD, *CHOOSES, *WITHOUT, *LISTS, *MATRICES, *NUMBERS,
                 *MADE, *OTHERS, *NO_ARRAYS}
        self.assertEqual(shared - known, set())

    def test_functions_of_elements(self):
        with np.errstate(all="ignore"):
            for shape in SHAPES:
                x = numbers(shape)
                for name, f in OF_ONE.items():
                    for r in self.both(getattr(q, name), x):
                        if f is None: self.assertEqual(r.shape, shape, name)
                        else: self.same(r, f(x.astype("f8")), (name, shape))

    def test_arrays_meet_from_their_ends(self):
        pairs = [(a, b) for a in SHAPES for b in SHAPES + [(), (4,), (5, 1), (3, 4), (5,)]]
        operators = [("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide), ("<", np.less),
                     ("==", np.equal), ("%", np.mod), ("//", np.floor_divide)]
        with np.errstate(all="ignore"):
            for a, b in pairs:
                x, y = numbers(a), numbers(b) + 1 if b else 2.5
                try:
                    np.broadcast_shapes(a, b)
                except ValueError:
                    continue
                for name, f in OF_TWO.items():
                    z = (np.abs(x), y) if name == "pow" else (x, np.abs(y)) if name == "clamp" else (x, y)
                    for r in self.both(getattr(q, name), *z):
                        self.same(r, f(*z), (name, a, b))
                    one_way = name in ("pow", "isclose", "clamp")
                    for r in () if one_way else self.both(getattr(q, name), *z[::-1]):
                        self.same(r, f(*z[::-1]), (name, b, a))
                for sign, f in operators:
                    self.same(eval("v %s y" % sign, {"v": q.value(x), "y": y}), f(x, y), (sign, a, b))
                whole, n = x.astype("i4"), (np.abs(y).astype("i4") if b else 2)
                for name, f in OF_INTEGERS.items():
                    for r in self.both(getattr(q, name), whole, n):
                        self.same(r, getattr(np, f)(whole, n), (name, a, b))
                for r in self.both(q.where, x > 3, x, y):
                    self.same(r, np.where(x > 3, x, y), ("where", a, b))
                self.same(q.value(x).clip(y), np.fmax(x, y), ("clip", a, b))
                self.same(np.clip(q.value(x), y, None), np.fmax(x, y), ("np.clip", a, b))

    def test_along_a_dimension(self):
        for shape in WHOLE:
            x = numbers(shape)
            for dim in range(rows(x).ndim):
                for name, f in ALONG.items():
                    w = getattr(np, f)(rows(x), axis=dim, keepdims=True)
                    args = (x, [], dim) if name in ("min", "max") else (x, dim)
                    for r in self.both(getattr(q, name), *args):
                        self.same(r, like(x, w), (name, shape, dim))
                for name, f in SPREAD.items():
                    w = getattr(np, f)(rows(x), axis=dim, keepdims=True, ddof=0)
                    for r in self.both(getattr(q, name), x, dim, 0):
                        self.same(r, like(x, w), (name, shape, dim))
                for name, f in CHOOSES.items():
                    for r in self.both(getattr(q, name), x, dim):
                        self.same(r, like(x, f(rows(x), dim)), (name, shape, dim))
                for qs in (0.25, [0.25], [0.25, 0.5]):
                    w = np.moveaxis(np.quantile(rows(x), np.atleast_1d(qs), axis=dim), 0, dim)
                    percents = [100 * p for p in np.atleast_1d(qs)]
                    for r in self.both(q.quantile, x, qs, dim) + self.both(q.percentile, x, percents, dim):
                        self.same(r, like(x, w), ("quantile", shape, dim, qs))
                if rows(x).shape[dim] > 1:
                    w = np.expand_dims(np.sum((np.delete(rows(x), 0, dim) + np.delete(rows(x), -1, dim)) / 2, dim), dim)
                    self.same(q.trapz([], x, dim), like(x, w), ("trapz", shape, dim))
            for name, f in {**CHOOSES, **WITHOUT}.items():
                for r in self.both(getattr(q, name), x):
                    self.same(r, like(x, f(rows(x), main(x))), (name, shape))
        for shape in SHAPES:  # the sum of an empty array is defined
            x = numbers(shape)
            for dim in range(rows(x).ndim):
                for name in ("sum", "prod", "any", "all"):
                    self.same(getattr(q, name)(x, dim), like(x, getattr(np, name)(rows(x), axis=dim, keepdims=True)),
                              (name, shape, dim))
                for name in ("cumsum", "cumprod"):
                    self.same(getattr(q, name)(x, dim), x if x.size == 0 else like(x, CHOOSES[name](rows(x), dim)),
                              (name, shape, dim))

    def test_methods(self):
        for shape in SHAPES:
            x = numbers(shape)
            v = q.value(x)
            for axis in (None, *range(x.ndim)):
                for name in ("sum", "prod", "any", "all") + (("mean", "min", "max", "var", "std") if x.size else ()):
                    for keep in (False, True):
                        how = {"axis": axis, "keepdims": keep}
                        self.same(getattr(v, name)(**how), getattr(x, name)(**how), (name, shape, how))
                for name in ("cumsum", "cumprod"):
                    self.same(getattr(v, name)(axis=axis), getattr(x, name)(axis=axis), (name, shape, axis))
                if x.size:
                    for name in ("argmin", "argmax"):
                        self.same(getattr(v, name)(axis=axis), getattr(x, name)(axis=axis), (name, shape, axis))
            for f in (lambda a: a.T, lambda a: a.squeeze(), lambda a: a.ravel(), lambda a: a.copy(), lambda a: a[None],
                      lambda a: a[..., None], lambda a: a[:1], lambda a: a.astype("float64"), lambda a: -a,
                      lambda a: abs(a), lambda a: a.reshape(-1), lambda a: a.reshape(-1, 1), lambda a: a.flatten(),
                      lambda a: a.round(), lambda a: a.real, lambda a: a.clip(0, 1), lambda a: a.conj(),
                      lambda a: np.asarray(a.tolist(), "f4").reshape(shape)):
                self.same(f(v), f(x), shape)
            self.assertEqual((v.ndim, v.size, len(v)), (x.ndim, x.size, len(x)))
            self.assertEqual(np.asarray(v).shape, shape)
            self.assertEqual(memoryview(v).shape, shape)

    def test_elements_are_moved(self):
        for shape in SHAPES:
            x = numbers(shape)
            r = rows(x)
            n, nothing, is_nothing = r.ndim, np.zeros((0, 0)), trimmed(r).shape == (1, 0)  # [] takes no part in joins
            cases = [("squeeze", (x,), np.squeeze(x).reshape(-1) if x.size == 1 else np.squeeze(x)),
                     ("transpose", (x,), np.swapaxes(r, 0, 1)), ("permute", (x, list(range(n))), like(x, r)),
                     ("permute", (x, list(range(n))[::-1]), np.transpose(r)),
                     ("moveaxis", (x, 0, n - 1), np.moveaxis(r, 0, n - 1)),
                     ("circshift", (x, [1, 2]), like(x, np.roll(r, (1, 2), (0, 1)))),
                     ("circshift", (x, 1), like(x, np.roll(r, 1, main(x)))),
                     ("repmat", (x, 2), like(x, np.concatenate([r, r], 1))),
                     ("repmat", (x, [2, 1]), np.concatenate([r, r], 0)),
                     ("repmat", (x, [1, 2]), np.concatenate([r, r], 1)),
                     ("horzcat", (x, x), nothing if is_nothing else like(x, np.concatenate([r, r], 1))),
                     ("vertcat", (x, x), nothing if is_nothing else np.concatenate([r, r], 0)),
                     ("cat", (n - 1, x, x), nothing if is_nothing else like(x, np.concatenate([r, r], n - 1))),
                     ("reshape", (x, [x.size]), x.reshape(-1)), ("reshape", (x, [1, x.size]), x.reshape(1, -1)),
                     ("reshape", (x, [x.size, 1, 1]), x.reshape(-1, 1, 1)),
                     ("not", (x.astype("i4"),), ~x.astype("i4")),
                     ("isequal", (x, x), True), ("allclose", (x, x), True),
                     ("find", (x > 0,), np.argwhere(trimmed(r) > 0)),
                     ("ismember", (x, np.float32([1, 2])), np.isin(x, [1, 2])),
                     ("norm", (x,), np.linalg.norm(x.ravel())), ("squared_norm", (x,), np.vdot(x, x)),
                     ("dotprod", (x, x), np.vdot(x, x)),
                     ("polyval", (np.float32([1, 2, 3]), x), np.polyval([1, 2, 3], x)),
                     ("interp1", (np.float32([-9, 9]), np.float32([0, 1]), x), np.interp(x, [-9, 9], [0, 1])),
                     ("fft2", (x,), like(x, np.fft.fft2(r, axes=(0, 1)) if x.size else r)),
                     ("ifft2", (x,), like(x, np.fft.ifft2(r, axes=(0, 1)) if x.size else r))]
            if x.size:
                three = r.reshape(r.shape + (1,)) if n < 3 else r
                axes = (0, 1, 2)
                cases += [("fft3", (x,), np.fft.fftn(three, axes=axes).reshape(x.shape)),
                          ("ifft3", (x,), np.fft.ifftn(three, axes=axes).reshape(x.shape)),
                          ("fftshift3", (x,), np.fft.fftshift(three, axes).reshape(x.shape)),
                          ("ifftshift3", (x,), np.fft.ifftshift(three, axes).reshape(x.shape)),
                          ("find_index_min", (x,), np.argmin(x)), ("find_index_max", (x,), np.argmax(x))]
            if x.size and trimmed(r).ndim == 2 and 1 in r.shape[:2]:  # of a column, too, a row
                row = (-1,) if x.ndim == 1 else (1, -1) + (1,) * (x.ndim - 2)
                cases += [("conv", (x, np.float32([1, 2])), np.convolve(x.ravel(), [1, 2]).reshape(row))]
            if n == 2 or x.ndim <= 2:
                cases += [("triu", (x,), like(x, np.triu(r))), ("tril", (x, -1), like(x, np.tril(r, -1)))]
                cases += [("kron", (x, np.float32([1, 2])), like(x, np.kron(r, [[1, 2]])))]
            for name, args, wanted in cases:
                for got in self.both(getattr(q, name), *args):
                    self.same(got, wanted, (name, shape, args[1:]))

    def test_lists_of_elements(self):
        other = np.float32([0.5, 1.5])
        for shape in SHAPES:
            x = numbers(shape)
            for name, f in LISTS.items():
                for got in self.both(getattr(q, name), x, other):
                    self.same(got, getattr(np, f)(x, other), (name, shape))
            self.same(q.unique(x), np.unique(x), shape)
            self.same(q.value(x)[q.value(x) > 0], x[x > 0], shape)
            whole = np.abs(x).astype("i4")
            self.same(q.bincount(whole, 9), np.bincount(whole.ravel(), minlength=9), shape)
            self.same(q.histogram(x, 3, [-4, 8])[0] if isinstance(q.histogram(x, 3, [-4, 8]), tuple)
                      else q.histogram(x, 3, [-4, 8]), np.histogram(x, 3, (-4, 8))[0], shape)

    def test_signals_and_polynomials(self):
        """Results for a signal of one dimension have one dimension; detrend and dct1 keep the shape of any signal."""
        x, p = numbers((40,), "f8"), np.array([1.0, 5.0, 6.0, 2.0])
        for name, args in (("pwelch", (x, 16)), ("periodogram", (x,)), ("cpsd", (x, x, 16)), ("mscohere", (x, x, 16)),
                           ("deconv", (p, p[:2])), ("residue", (p, p[:3])), ("freqz", (p, p)), ("butter", (3, 0.2)),
                           ("butter", (3, np.array([0.2, 0.3]), "bandpass"))):
            results = getattr(q, name)(*args)[:2]
            self.assertEqual({np.ndim(r) for r in results} - {0}, {1}, name)
        for shape in ((40,), (1, 40), (40, 1)):
            for name in "detrend", "dct1", "idct1":
                self.assertEqual(getattr(q, name)(x.reshape(shape)).shape, shape, name)

    def test_matrices(self):
        for n in (1, 2, 4):
            for more in ((), (1,), (1, 1)):
                a = (numbers((n, n), "f8") + 20 * np.eye(n))
                a = a @ a.T
                x = a.reshape((n, n) + more)
                for name, f in MATRICES.items():
                    self.same(getattr(q, name)(x), f(a), (name, x.shape))
                for name, f in NUMBERS.items():
                    self.same(getattr(q, name)(x), f(a), (name, x.shape))
                for name in ("solve", "linsolve"):
                    b = numbers((n, 2), "f8")
                    self.same(getattr(q, name)(x, b), np.linalg.solve(a, b), (name, x.shape))
                for k in range(1 + bool(not more)):
                    self.same(q.value(x) @ q.value(a[:, :k + 1]), a @ a[:, :k + 1], x.shape) if not more else None
        for m, n in ((1, 3), (3, 1), (4, 2), (2, 4), (1, 1)):
            x = numbers((m, n), "f8")
            u, s, v = np.linalg.svd(x, full_matrices=False)
            q.compile_string("svds", "function [u, s, v] = factors(x)\n [u, s, v] = svd(x)\nend\n"
                                     "function [a, b] = qrs(x)\n [a, b] = qr(x)\nend")
            self.assertEqual([np.shape(r) for r in q.factors(x)][::2], [u.shape, (n, s.size)], (m, n))
            self.assertEqual([r.shape for r in q.qrs(x)], [r.shape for r in np.linalg.qr(x)], (m, n))
            self.assertEqual(q.pinv(x).shape, (n, m))
            d = q.cov(x)
            self.same(d, np.cov(x.ravel() if m == 1 else x, rowvar=False), ("cov", m, n)) if m*n > 1 else None
        v = np.float64([1, 2, 3])
        for shape in ((3,), (1, 3)):
            self.same(q.cross(v.reshape(shape), v[::-1].reshape(shape)), np.cross(v, v[::-1]).reshape(shape), shape)
            self.same(q.diag(v.reshape(shape)), np.diag(v), shape)
            self.same(q.diagm(v.reshape(shape)), np.diag(v), shape)
        self.same(q.diag(numbers((3, 4))), np.diag(numbers((3, 4))), "diag")
        self.same(q.roots(np.float64([1, -3, 2])), [2, 1], "roots")
        self.same(q.polyfit(v, 2*v, 1), [2, 0], "polyfit")

    def test_what_is_made(self):
        for shape in SHAPES:
            for name, f in MADE.items():
                for args in ((list(shape),), shape, (np.float32(shape),), (np.array(shape),)):
                    if len(args) == 1 and len(shape) == 1 and not isinstance(args[0], list):
                        continue
                    r = getattr(q, name)(*args)
                    self.assertEqual(r.shape, shape, (name, args))
                    if f != "empty": self.same(r, getattr(np, f)(shape), (name, args))
            self.assertEqual(q.rand(*shape).shape, shape)
            self.assertEqual(q.cube(*shape).shape, shape) if len(shape) == 3 else None
        for m, n in ((1, 3), (3, 1), (1, 1), (2, 0)):
            self.same(q.eye(m, n), np.eye(m, n), (m, n))
            x, y = np.arange(n, dtype="f4"), np.arange(m, dtype="f4")
            q.compile_string("mesh", "function [x, y] = grid_of(a, b)\n [x, y] = meshgrid(a, b)\nend")
            for got, wanted in zip(q.grid_of(x, y), np.meshgrid(x, y)):
                self.same(got, wanted, (m, n))
        for n in (1, 2, 5):
            self.same(q.linspace(0, 1, n), np.linspace(0, 1, n) if n > 1 else [1], n)


@unittest.skipUnless(np, "needs numpy")
class Programs(unittest.TestCase):
    """The same in programs: what they give back has the shape of what came, whoever computes it."""
    TEXT = """
    function y = times(x) y = x.*0 end
    function y = same(x) y = copy(x) end
    function y = room(x) y = uninit(size(x)) end
    function y = nothing(x) y = zeros(size(x)) end
    function y = twice(x) y = transpose(transpose(x)) end
    function y = hermitian(x) y = herm_transpose(herm_transpose(x)) end
    function y = noise(x) y = rand(size(x)) end
    function y = typed(x) y = cube(size(x)) end
    function y = kept(x)
      s = size(x)
      y = ones(s)
    end
    function y = again(x) y = reshape(x, size(x)) end
    function y = several(x) y = sin(x).*x + 2*x - x./(1 + abs(x)) end
    function y = looped(x)
      y = zeros(size(x))
      for i = 0..2
        y += x.*i
      end
    end
    function y = mapped(x)
      y = uninit(size(x))
      [h, w, d] = size(x, 0..2)
      for m = 0..h-1
        for n = 0..w-1
          for k = 0..d-1
            y[m,n,k] = x[m,n,k] + 1
          end
        end
      end
    end
    function y = first(x : vec) y = x[0] + numel(x) + x[0,0] end
    function y = corner(x : mat) y = x[0,0] + 10*size(x,0) + 100*size(x,1) end
    function y = summed(x : vec)
      y = 0
      for i = 0..numel(x)-1
        y += x[i]
      end
    end
    function y = which(x : cube) y = 3 end
    function y = which(x : mat) y = 2 end
    function y = which(x : vec) y = 1 end
    function [] = __kernel__ row(x : vec, y : vec, pos : int) y[pos] = 2*x[pos] + x[0,pos] end
    function [] = __kernel__ area(x : mat, y : mat, pos : ivec2) y[pos] = 2*x[pos] + x[pos[0],pos[1]] end
    function [] = __kernel__ any_rank(x, y, pos : ivec3) y[pos] = 3*x[pos] end
    function [] = rows_of(n, x : vec, y : vec) parallel_do(n, x, y, row) end
    """

    def open(self, device):
        q.init(device)
        one_line = r"\) (y = .*|\w+\[.*|parallel_do.*) end$"
        q.compile_string("shapes", re.sub(one_line, r")\n \1\n end", self.TEXT, flags=re.M))

    def test_shapes_come_back(self):
        self.open("cpu")
        names = ("times same room nothing twice hermitian noise typed kept again several looped mapped").split()
        for shape in KEPT + [(40000,), (1, 40000), (1, 40000, 1), (40000, 1), (200, 200, 1)]:
            x = numbers(shape)
            for name in names:
                for v in (x, q.value(x)):
                    for _ in range(3):  # a loop or an expression that comes again is compiled
                        self.assertEqual(getattr(q, name)(v).shape, shape, name)

    def test_vec_and_mat_are_tests_of_type(self):
        for device in ("ref", "cpu", "opencl"):
            try:
                self.open(device)
            except q.QuasarError:
                continue  # no such device here
            base = np.arange(1, 6, dtype="f4")
            for shape in ((5,), (1, 5), (1, 5, 1), (1, 5, 1, 1)):
                x = base.reshape(shape)
                for v, y in ((x, np.zeros(shape, "f4")), (q.value(x), q.zeros(*shape))):
                    self.assertEqual((q.first(v), q.summed(v), q.which(v)), (7, 15, 1), (device, shape))
                    q.parallel_do(5, v, y, q.row)
                    self.assertEqual(np.ravel(y).tolist(), (3 * base).tolist(), (device, shape))
                    q.rows_of(5, v, y)
                    self.assertEqual(q.value(x).typename, "vec")
                    q.parallel_do((1, 5), v, y, q.any_rank)
                    self.assertEqual(np.ravel(y).tolist(), (3 * base).tolist(), (device, shape))
            for shape in ((5, 1), (1, 5), (5, 1, 1), (1, 5, 1)):
                x = base.reshape(shape)
                for v, y in ((x, np.zeros(shape, "f4")), (q.value(x), q.zeros(*shape))):
                    self.assertEqual(q.corner(v), 1 + 10*shape[0] + 100*shape[1], (device, shape))
                    self.assertEqual(q.which(v), 1 if shape[0] == 1 else 2)
                    q.parallel_do(shape[:2], v, y, q.area)
                    self.assertEqual(np.ravel(y).tolist(), (3 * base).tolist(), (device, shape))
            for wrong in ((5, 1), (2, 5), (1, 1, 5)):
                with self.assertRaises(TypeError):
                    q.first(np.zeros(wrong, "f4"))
                with self.assertRaises(TypeError):
                    q.parallel_do(5, np.zeros(wrong, "f4"), np.zeros(5, "f4"), q.row)
            with self.assertRaisesRegex(TypeError, "kernel area: x must be mat, got vec of size 1x2; pass value"):
                q.parallel_do((1, 2), np.ones(2, "f4"), np.ones((1, 2), "f4"), q.area)
            q.parallel_do((1, 2), q.value(np.ones(2, "f4")), np.ones((1, 2), "f4"), q.area)
        q.init("cpu")

    def test_products(self):
        self.open("cpu")
        q.compile_string("products", "function y = product(a, b)\n y = a*b\nend")
        for batch in (1, 2):
            for n in (1, 3, 4):
                a, b = numbers((batch, 3)), numbers((3, n))
                self.assertEqual(q.product(a, b).shape, (batch, n), (batch, n))
                self.assertEqual(q.product(a[0], b).shape, (n,), n)
        self.assertEqual(q.product(numbers((3, 1)), numbers((1, 4))).shape, (3, 4))

    def test_what_a_size_remembers(self):
        self.open("cpu")
        q.compile_string("sizes", """
            function y = changed(x)
              s = size(x)
              s[0] = 2
              y = zeros(s)
            end
            function y = half(x)
              y = zeros(size(x)/1)
            end""")
        self.assertEqual(q.changed(numbers((3,))).shape, (2, 3))
        self.assertEqual(q.half(numbers((4, 5, 1))).shape, (4, 5))  # computed: a list of numbers as any other
        self.assertEqual(q.zeros(q.size(numbers((1, 4, 1)))).shape, (1, 4, 1))

    # What a loop leaves in v, given x; compiled, as loops of so many turns are, or not.
    LOOPS = {"made": "v = zeros(1,3); v[1] = i", "operators": "v = x*0.5 + [1,2,3]", "list": "v = [i,2,3]",
             "nested": "v = [[i,2,3]]", "turned": "v = transpose([[i],[2],[3]])", "mapped": "v = sqrt(x)",
             "product": "v = x*[[1,2,3],[4,5,6],[7,8,i]]", "carried": "v = v*0.5", "one": "v = ones(1,1)*i",
             "row": "v = m[0,:]"}

    def test_short_vectors_that_loops_make(self):
        self.open("cpu")
        m = numbers((3, 3))
        for name, body in self.LOOPS.items():
            q.compile_string(name, "\n".join(f"""function v = {name}{n}(x, m)
                v = x
                for i = 0..{n}
                    {body}
                end
            end""" for n in (3, 300000)))
            for x in (numbers((3,)), numbers((1, 3))):
                shapes = [getattr(q, f"{name}{n}")(x, m).shape for n in (3, 300000)]
                self.assertEqual(shapes[0], shapes[1], (name, x.shape))

    def test_methods_are_the_built_ins(self):
        names = "mean sum prod min max any all var std cumsum cumprod copy abs floor conj real imag mod".split()
        text = "".join("function y = %s(x, varargs = 0)\n y = 77\nend\n" % n for n in names)
        program = """if True:
            import numpy as np, pyquasar as q
            q.init("ref")
            q.compile_string("mine", %r)
            a = np.arange(12, dtype="f4").reshape(3, 4) - 5
            v = q.value(a)
            for name in "mean sum prod min max any all std var copy cumsum cumprod conj".split():
                np.testing.assert_allclose(getattr(v, name)(), getattr(a, name)(), 1e-4, err_msg=name)
            for got, wanted in ((abs(v), abs(a)), (v %% 2, a %% 2), (v // 2, a // 2), (np.mean(v), np.mean(a)),
                                (v.clip(0, 1), a.clip(0, 1)), (q.mean(v), 77)):
                np.testing.assert_allclose(got, wanted, 1e-5)""" % text
        r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(r.stderr, "")


if __name__ == "__main__":
    unittest.main()
