"""import pyquasar: array methods in Python with the names of NumPy have NumPy's semantics."""
import copy, itertools, operator, pickle, unittest, warnings

import pyquasar as q
from optional import library

np = library("numpy")

SHAPES = [(5,), (1,), (2, 3), (1, 4), (4, 1), (3, 1, 2), (2, 3, 4), (1, 1, 1)]


def axes(n):
    """Every axis and set of axes, from either end, and none."""
    one = list(range(-n, n))
    return [None, *one, *(c for k in range(2, n + 1) for c in itertools.permutations(range(n), k))]


@unittest.skipUnless(np, "needs numpy")
class Methods(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def same(self, got, wanted, case):
        self.assertEqual(getattr(got, "shape", ()), np.shape(wanted), case)
        np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), 1e-5, 1e-6, err_msg=str(case))

    def arrays(self):
        for shape in SHAPES:
            a = (np.arange(np.prod(shape)) * 7 % 11 - 3.5).reshape(shape).astype(np.float32)
            yield a
            yield a.astype(np.float64)[..., ::-1] / 3  # not a float32
            yield a.T.astype(np.int32)
            yield a > 0

    def test_reductions(self):
        for a in self.arrays():
            for name in ("sum", "prod", "mean", "min", "max", "any", "all", "var", "std"):
                if a.dtype == bool and name not in ("sum", "any", "all", "mean"):
                    continue
                for axis in axes(a.ndim):
                    for keep in (False, True):
                        case = name, a.dtype, a.shape, axis, keep
                        self.same(getattr(q.value(a), name)(axis=axis, keepdims=keep),
                                  getattr(a, name)(axis=axis, keepdims=keep), case)

    def test_numpys_functions_come_to_them(self):
        a = np.arange(6, dtype=np.float32).reshape(2, 3)
        v = q.value(a)
        for f in (np.sum, np.mean, np.std, np.max, np.min, np.any, np.cumsum, np.argmax, np.transpose, np.ravel,
                  np.squeeze,
                  lambda x: np.sum(x, axis=0), lambda x: np.var(x, axis=1, ddof=1), lambda x: np.reshape(x, (3, 2)),
                  lambda x: np.clip(x, 1, 3), lambda x: np.round(x / 3, 1), lambda x: np.swapaxes(x, 0, 1),
                  lambda x: np.mean(x, dtype=np.float64), lambda x: np.max(x, axis=(0, 1), keepdims=True)):
            self.same(f(v), f(a), f)
        out = q.zeros(3)
        self.assertIs(v.sum(axis=0, out=out), out)
        self.assertEqual(out.tolist(), [3, 5, 7])

    def test_what_is_kept_of_all_dimensions_has_the_type_of_the_elements(self):
        self.assertEqual(q.value(np.array([0.1, 0.25])).max(axis=0, keepdims=True).tolist(), [0.25])
        self.assertEqual(q.value(np.array([0.1, 0.05])).max(keepdims=True).tolist(), [0.1])
        self.assertEqual(q.value(np.array([[2**60, 1]])).sum(axis=(0, 1), keepdims=True).tolist(), [[2**60 + 1]])

    def test_a_spread_without_degrees_of_freedom_is_infinite_or_nan(self):
        a = np.array([[1.0, 2]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, axis, ddof in itertools.product(("std", "var"), (None, 0, 1), (0, 1, 1.5, 2, 3)):
                case = name, axis, ddof
                self.same(getattr(q.value(a), name)(axis=axis, ddof=ddof), getattr(a, name)(axis=axis, ddof=ddof), case)

    def test_whole_numbers_stay_whole_beside_64_bits(self):
        a = np.array([2**53 + 1, 2**62 + 3, 5])
        for dtype in ("int64", "uint64"):
            b = a.astype(dtype)
            v = q.value(b)
            for f in (lambda x: x + 1, lambda x: x - 1, lambda x: 2**63 - 1 - x, lambda x: x*1, lambda x: x == 2**53,
                      lambda x: x > 2**53, lambda x: x < 2**53 + 2, lambda x: 2**53 in x, lambda x: 2**53 + 1 in x,
                      lambda x: 2**70 in x):
                self.assertEqual(np.asarray(f(v)).tolist(), np.asarray(f(b)).tolist(), dtype)
            v += 1
            self.assertEqual(v.tolist(), (a + 1).tolist())
            self.assertEqual((v % 10).tolist(), (b % 10).tolist(), dtype)
            self.assertEqual(((2**53 + 1) % v).tolist(), ((2**53 + 1) % b).tolist(), dtype)
        b = np.array([2**64 - 1, 2**63, 7], np.uint64)
        v = q.value(b)
        for f in (lambda x: x == 2**64 - 1, lambda x: x > 2**63, lambda x: x - 2**63, lambda x: x == b[0],
                  lambda x: 2**64 - 1 in x, lambda x: 2**64 in x):
            self.assertEqual(np.asarray(f(v)).tolist(), np.asarray(f(b)).tolist())
        self.assertEqual((v > -1).tolist(), [True]*3)
        self.assertEqual((v.max(), v.min(axis=0), v[:2].min(), v.reshape(3, 1).max(axis=0).tolist()),
                         (2**64 - 1, 7, 2**63, [2**64 - 1]))
        v[2] = 2**64 - 3
        v[v == 2**63] = 2**63 + 1
        self.assertEqual(b.tolist(), [2**64 - 1, 2**63 + 1, 2**64 - 3])
        with self.assertRaises(OverflowError):
            v + 2**64

    def test_places_keep_dimensions(self):
        a = np.array([[1, 5, 2], [7, 0, 7]])
        for name, axis in itertools.product(("argmin", "argmax"), (None, 0, 1, -1)):
            self.same(getattr(q.value(a), name)(axis=axis, keepdims=True),
                      getattr(a, name)(axis=axis, keepdims=True), (name, axis))

    def test_shapes_are_compared_from_their_ends(self):
        shapes = [(3,), (1,), (3, 3), (1, 3), (3, 1), (2, 3, 3), (3, 1, 1), (2, 1, 3), (2, 2, 1, 3), (2, 3, 3, 1)]
        operators = (operator.add, operator.truediv, operator.mod, operator.floordiv, operator.lt, operator.eq,
                     np.multiply, np.maximum)
        for left, right in itertools.product(shapes, shapes):
            a, b = (np.arange(1.0, 1 + np.prod(s)).reshape(s) for s in (left, right))
            try:
                wanted = np.broadcast_shapes(left, right)
            except ValueError:
                with self.assertRaises(ValueError, msg=(left, right)):
                    q.value(a) + b
                continue
            for f in operators:
                for other in (b, q.value(b)):
                    self.same(f(q.value(a), other), f(a, b), (f.__name__, left, right))
                self.same(f(a, q.value(b)), f(a, b), (f.__name__, left, right))
            if wanted == left:
                v = q.value(a.copy())
                v += b
                v *= q.value(b)
                self.same(v, (a + b) * b, (left, right))

    def test_places_and_sums_of_what_comes_before(self):
        for a in self.arrays():
            v = q.value(a)
            if a.dtype == bool:
                continue
            for axis in (None, *range(-a.ndim, a.ndim)):
                for name in ("argmin", "argmax", "cumsum", "cumprod"):
                    self.same(getattr(v, name)(axis=axis), getattr(a, name)(axis=axis), (name, a.dtype, a.shape, axis))
        self.assertIsInstance(q.value([1, 3, 2]).argmax(), int)

    def test_where_chooses_elements(self):
        q.compile_string("choice", "function y = positive(x, other)\n  y = x > 0 ? x : other\nend")
        for a in self.arrays():
            A = q.value(a)
            self.same(q.where(A > 0, A, 0), np.where(a > 0, a, 0), a.shape)
            self.same(q.where(A > 0, 1, 2), np.where(a > 0, 1, 2), a.shape)
            if a.size > 1: self.same(q.positive(A, -1), np.where(a > 0, a, -1), a.shape)
        big, least = np.array([2**63, 2**64 - 1], np.uint64), np.array([-1, 2**63 - 1], np.int64)
        for op in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
            want = [op(int(x), int(y)) for x, y in zip(big, least)]
            self.assertEqual(np.asarray(op(q.value(big), q.value(least))).tolist(), want, op)
        mask = (q.value([1, 2, 3]) > 1) * (q.value([1, 2, 3]) < 3)
        self.assertEqual(np.asarray(mask).dtype, np.bool_)
        with self.assertRaisesRegex(Exception, "neither true nor false"):
            mask[0] = 5

    def test_shapes_are_views_where_numpys_are(self):
        for a in self.arrays():
            v = q.value(a)
            n = a.size
            made = [("T",), ("ravel",), ("flatten",), ("reshape", -1), ("reshape", (n, 1)), ("reshape", 1, -1, 1),
                    ("squeeze",),
                    ("swapaxes", 0, -1), ("copy",), *(("transpose", p) for p in itertools.permutations(range(a.ndim)))]
            for name, *args in made:
                got, wanted = (getattr(x, name) if name == "T" else getattr(x, name)(*args) for x in (v, a))
                case = name, args, a.dtype, a.shape, a.strides
                self.assertEqual(got.dtype, wanted.dtype.name, case)
                if wanted.ndim:
                    self.same(got, wanted, case)
                shared = np.shares_memory(np.asarray(got), a)
                self.assertTrue(shared or not np.shares_memory(wanted, a) or not a.size, case)
                self.assertFalse(shared and not np.shares_memory(wanted, a) and name != "ravel", case)

    def test_types(self):
        a = np.array([1.7, -2.2, 300])
        v = q.value(a)
        for dtype in ("float32", np.float16, np.dtype("int16"), int, float, "complex64", "float64", "f4", "<i8", "d"):
            got = v.astype(dtype)
            self.same(got, a.astype(dtype), dtype)
            self.assertEqual(got.dtype, np.dtype(dtype).name)
        self.assertEqual(v.astype("uint8").tolist(), [1, 0, 255])  # the language's conversion
        self.assertEqual(v.astype(bool).dtype, "bool")
        self.assertIs(v.astype("float64", copy=False), v)
        w = v.astype("float64")
        w[0] = 9
        self.assertEqual(v[0], 1.7)
        self.assertEqual((v.itemsize, v.nbytes), (8, 24))
        for wrong in ("float33", ">f4", "U3", str, 7):
            with self.assertRaisesRegex(TypeError, "there is no element type"):
                v.astype(wrong)

    def test_the_type_of_elements_is_one_of_numpy(self):
        for name in ("bool", "int8", "uint64", "float16", "float64", "complex64"):
            v = q.value(np.ones(2, name))
            self.assertIs(v.dtype, np.dtype(name))
            self.assertTrue(v.dtype == name and v.dtype == np.dtype(name).type and v.dtype.name == name)
            self.assertEqual(np.result_type(v), name)
            self.assertEqual(v.astype(v.dtype).dtype, q.dtype_to_numpy(v.dtype))
        self.assertEqual(q.from_numpy(np.ones(2), dtype=float).sum(), 2)
        self.assertFalse(hasattr(q.value([1, "a"]), "dtype"))

    def test_lists_have_pythons_own_numbers(self):
        def same(x, y):
            nested = isinstance(x, list)
            return type(x) is type(y) and (len(x) == len(y) and all(map(same, x, y)) if nested else x == y)
        codes = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128"
        for dtype, shape in itertools.product(codes.split(), SHAPES + [(2, 0), (0,)]):
            a = (np.arange(np.prod(shape)) % 7 / 2).reshape(shape).astype(dtype)
            if a.size and a.dtype.kind in "iu":
                a.flat[0] = np.iinfo(dtype).max
            v = q.value(a)
            for x, y in ((v, a), (v.T, a.T), (v[::-1], a[::-1]), (v[..., ::2], a[..., ::2])):
                self.assertTrue(same(x.tolist(), y.tolist()), (dtype, shape, x.tolist(), y.tolist()))
        cell = q.evaluate('{[1,2],"a",{[3],4,{}}}').tolist()
        self.assertTrue(same(cell, [[1.0, 2.0], "a", [[3.0], 4.0, []]]), cell)
        self.assertTrue(same(q.evaluate("bfloat16([1,2.5])").tolist(), [1.0, 2.5]))

    def test_membership(self):
        a = np.arange(6.0).reshape(2, 3)
        v = q.value(a)
        for x in (3, 3.5, np.float32(5), a[0], a[:, :1], a + 1):
            self.assertEqual((x in v, q.value(x) in v), (x in a, x in a), x)
        c = q.value([1, "a", None])
        self.assertTrue(1 in c and "a" in c and None in c and 3 not in c and "b" not in c)
        self.assertTrue("ab" in q.value("cabd") and "ad" not in q.value("cabd"))

    def test_those_that_numpy_computes(self):
        a = np.array([[3.0, 1, 2], [6, 5, 4]])
        v = q.value(a.copy())
        for name, *args in (("argsort",), ("argsort", 0), ("take", [1, 5]), ("take", q.value([0, 2]).astype(int), 1),
                            ("repeat", 2), ("repeat", [1, 2], 0), ("diagonal",), ("diagonal", 1), ("trace",)):
            self.same(getattr(v, name)(*args), getattr(a, name)(*(np.asarray(x) for x in args)), (name, args))
        self.same(v[0].searchsorted(2), a[0].searchsorted(2), "searchsorted")
        for got, wanted in zip(q.value(a > 2).nonzero(), (a > 2).nonzero()):
            self.same(got, wanted, "nonzero")
        self.assertEqual((v.tobytes(), v.T.tobytes(), v.item(4), v.item(1, 2), v.item((0, 0))),
                         (a.tobytes(), a.T.tobytes(), 5, 4, 3))
        with self.assertRaisesRegex(ValueError, "the array has 6 elements"):
            v.item()
        w = v[0]
        w.sort()
        self.assertEqual(v.tolist(), [[1, 2, 3], [6, 5, 4]])
        self.assertIsNone(v.__array_interface__["strides"])
        self.assertEqual(v.T.__array_interface__["strides"], (8, 24))

    def test_the_others(self):
        a = np.array([[1.26, -2], [3, 4]])
        v = q.value(a)
        for name, *args in (("round",), ("round", 1), ("clip", 0, 2), ("clip", None, 2), ("dot", a),
                            ("dot", np.ones(2)), ("conj",)):
            self.same(getattr(v, name)(*args), getattr(a, name)(*args), name)
        v.fill(7)
        self.assertEqual(a.tolist(), [[7, 7], [7, 7]])
        self.assertEqual(pickle.loads(pickle.dumps(v.T)).tolist(), [[7, 7], [7, 7]])

    def test_every_shape_stays(self):
        for a in self.arrays():
            if a.dtype == bool:
                continue
            z = a * (1 + 2j)
            for name, *args in (("round",), ("round", 1), ("round", -1), ("clip", 0, 2), ("clip", None, 2), ("clip", 1),
                                ("conj",), ("copy",), ("astype", "float64")):
                got, wanted = getattr(q.value(a), name)(*args), getattr(a, name)(*args)
                self.same(got, wanted, (name, args, a.dtype, a.shape))
                self.assertEqual(got.dtype, wanted.dtype.name, (name, args, a.dtype))
            for name in ("real", "imag"):
                self.same(getattr(q.value(z), name), getattr(z, name), (name, z.shape))
                self.same(getattr(q.value(a), name), getattr(a, name), (name, a.shape))
            self.same(q.value(z).conj(), z.conj(), ("conj", z.shape))
            self.same(q.value(z).round(1), z.round(1), ("round", z.shape))

    def test_whole_elements_stay_exact(self):
        for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            i = np.iinfo(dtype)
            a = np.array([[i.min, i.min + 1, 2, i.max // 2 + 2, i.max - 1, i.max]], dtype)
            v = q.value(a)
            for least, most in ((0, None), (None, 5), (i.min + 1, i.max - 1), (-2**70, 2**70), (np.int8(1), i.max)):
                wanted = [[max(i.min if least is None else int(least), min(i.max if most is None else most, n))
                           for n in a[0].tolist()]]
                got = v.clip(least, most)
                self.assertEqual((got.dtype, got.tolist()), (dtype, wanted), (least, most))
            self.assertEqual((v.round().dtype, v.round().tolist()), (dtype, a.tolist()))
            self.assertEqual(v.clip(0.5, 7).tolist(), a.clip(0.5, 7).tolist())
        self.assertEqual(q.value(np.array([14, 15, 25, 2**31 - 1], "i4")).round(-1).tolist(), [10, 20, 20, 2**31 - 1])
        self.assertEqual(q.value(np.array([2**62 + 1, -15, 25])).round(-1).tolist(), [2**62 - 4, -20, 20])
        self.assertEqual(q.value(np.zeros((0, 2), "u1")).round(-9).shape, (0, 2))
        self.same(q.value(np.arange(-4.5, 5)).round(), np.arange(-4.5, 5).round(), "halves")

    def test_limits_may_be_arrays(self):
        a, low = np.arange(6.0).reshape(2, 3), np.array([1.0, 2, 3])
        self.same(q.value(a).clip(low, 4), a.clip(low, 4), "row")
        self.same(q.value(a[0]).clip(a), a[0].clip(a), "matrix")

    def test_nan_loses_along_every_axis(self):
        nan, inf = np.nan, np.inf
        for row in ([1, nan, 3], [nan, 1, 3], [nan, -inf, -inf], [inf, nan, inf], [nan, nan, nan], [3, nan, 1]):
            for name in ("argmax", "argmin"):
                f = getattr(np, "nan" + name) if not np.isnan(row).all() else np.argmax
                for v, axis in ((q.value(np.array([row])), 1), (q.value(np.array([row]).T), 0)):
                    place = getattr(v, name)(axis=axis).tolist()
                    self.assertEqual(place, [getattr(v, name)()], (name, row))
                    best = getattr(v, name[3:])()
                    self.assertIn(row[place[0]], [best] if best == best else row, (name, row))
                    self.assertTrue(f(row) == place[0] or np.isinf(row).any(), (name, row))
        z = q.value(np.ones((2, 2)) * 1j)
        for axis in (None, 0):
            with self.assertRaises(TypeError):
                z.argmax(axis=axis)

    def test_sums_over_nothing(self):
        for shape in ((2, 0, 3), (0, 2), (2, 0)):
            a = np.zeros(shape, np.float32)
            for axis in axes(a.ndim):
                for name in ("sum", "prod", "any", "all"):
                    self.same(getattr(q.value(a), name)(axis=axis), getattr(a, name)(axis=axis), (name, shape, axis))

    def test_wrong_arguments(self):
        v = q.ones(2, 3)
        for f, kind, why in ((lambda: v.sum(axis=2), IndexError, "axis 2 is outside an array of 2 dimensions"),
                             (lambda: v.sum(axis=2), ValueError, "axis 2 is outside an array of 2 dimensions"),
                             (lambda: v.sum(axis=1.5), TypeError, "axis must be an integer, got 1.5"),
                             (lambda: v.sum(axis=(0, 0)), ValueError, "named twice"),
                             (lambda: v.sum(ddof=1), TypeError, "argument 'ddof'"),
                             (lambda: v.std(nonsense=1), TypeError, "argument 'nonsense'"),
                             (lambda: v.reshape(4, 2), ValueError, r"an array of \(2, 3\) has no shape \(4, 2\)"),
                             (lambda: v.reshape(-1, 4), ValueError, r"has no shape \(-1, 4\)"),
                             (lambda: v.reshape(-1, -1), ValueError, "has no shape"),
                             (lambda: v.reshape(6, order="K"), ValueError, "order must be one of C, F, A, got 'K'"),
                             (lambda: v.transpose(0, 0), ValueError, "axes must be those"),
                             (lambda: v.squeeze(0), ValueError, "extent 1"),
                             (lambda: q.zeros(0).max(), q.QuasarError, "empty")):
            with self.assertRaisesRegex(kind, why):
                f()

    def test_a_dimension_that_no_argument_has_is_an_error(self):
        """Of every built-in that takes one; programs may name the third of an image, where the extent is 1."""
        line, matrix = np.ones(4, np.float32), np.ones((3, 4), np.float32)
        seen = 0
        for name in dir(q):
            f = getattr(q, name) if not name.startswith("_") else None
            text = getattr(f, "_known", None)
            if not isinstance(text, str) or not isinstance(f, q.qfunction):
                continue
            for form in text.split("\n", 1)[0].split(" or "):
                if "(" not in form or ")" not in form:
                    continue
                inside = form[form.index("(") + 1:form.rindex(")")].replace("[", "").replace("]", "").split(",")
                names = [part.strip() for part in inside]
                places = [i for i, n in enumerate(names) if i and n in ("dim", "dims", "from", "to")]
                if not places or name in ("npy_create", "read_block", "write_block", "movefile", "copyfile") or (
                        "block" in name):
                    continue
                if names[places[0]] == "dims" and name != "size":
                    continue
                for x, wrong in ((matrix, 2), (line, 2), (np.ones((2, 3, 4)), 3), (matrix, 5)):
                    args = [[] if n == "" and name in ("min", "max") else 1 if n in ("p", "q", "n", "from", "to") else x
                            for n in names[:places[0] + 1]]
                    args[places[0]] = wrong
                    if name == "moveaxis":
                        args = [x, 0, wrong]
                    with self.assertRaisesRegex(ValueError, "%s: x has the dimensions 0 to .*, got dimension %d"
                                                % (name, wrong), msg=(name, form, args)):
                        f(*args)
                    seen += 1
        self.assertGreater(seen, 4*25)
        with self.assertRaisesRegex(ValueError, "size: x has the dimensions 0 to 1, got dimension 2"):
            q.size(matrix, [0, 2])
        with self.assertRaisesRegex(ValueError, "sum: x has the dimensions 0 to 1, got dimension 2"):
            q.sum(matrix, dim=2)
        self.assertEqual(q.sum(np.ones((3, 4, 1)), 2).shape, (3, 4, 1))
        self.assertEqual((q.sum(line, 1).tolist(), q.size(line, [0, 1]).tolist(), q.size(matrix, 1)),
                         ([4] if q.sum(line, 1).ndim == 1 else [[4]], [1, 4], 4))
        self.assertEqual(q.cat(2, matrix, matrix).shape, (3, 4, 2))
        m = q.compile_string("third", "function y = third(x)\n  y = size(x, 2)\nend")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(m.third(matrix), 1)

    def test_only_arrays_have_them(self):
        for x in (q.value("text"), q.value({"a": 1}), q.value([1, "a"]), q.typename("vec")):
            self.assertFalse(hasattr(x, "itemsize") or hasattr(x, "T") or hasattr(x, "swapaxes"), x)
        q.compile_string("mine", """
            type point : class
                x : scalar
            end
            function y = sum(p : point)
                y = 10*p.x
            end""")
        self.assertEqual(q.point(x=4).sum(), 40)

    def test_matrix_products(self):
        """Of vectors and matrices of every small extent: NumPy's result in NumPy's shape, or as in NumPy an error."""
        shapes = [*itertools.product(range(4)), *itertools.product(range(4), range(4))]
        for a, b in itertools.product([np.arange(1.0, 1 + np.prod(s)).reshape(s) for s in shapes], repeat=2):
            ways = (lambda: q.value(a) @ q.value(b), lambda: q.value(a) @ b, lambda: a @ q.value(b),
                    lambda: q.value(a).dot(b))
            for way in ways:
                if a.shape[-1] == b.shape[0]:
                    self.same(way(), a @ b, (a.shape, b.shape))
                else:
                    with self.assertRaisesRegex(ValueError, "do not match", msg=(a.shape, b.shape)):
                        way()
        A, v = np.arange(6.0).reshape(2, 3), np.arange(3.0)[::-1]
        self.same(q.value(A.T).T @ v, A @ v, "strides")
        self.same(q.value(A.astype(np.complex64)) @ v, A @ v, "types")
        self.same(q.value(A).dot(2), A.dot(2), "dot with a number")
        for wrong in (2, q.value(2), np.float64(2), np.ones((2, 3, 1)), q.ones(2, 2, 2)):
            with self.assertRaisesRegex((TypeError, ValueError), "vectors and matrices are wanted"):
                q.value(A) @ wrong

    def test_sides_of_a_system(self):
        with self.assertRaisesRegex(ValueError,
                                    r"as many rows, got 2 and 1; a vec is one row, and transpose\(B\) a column"):
            q.solve(np.eye(2), np.ones(2))


@unittest.skipUnless(np, "needs numpy")
class Lists(unittest.TestCase):
    def test_every_type_and_length(self):
        q.init("cpu")
        for dtype in "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64".split():
            for n in (0, 1, 63, 64, 65, 200):
                a = (np.arange(-3, n - 3) * (1 if dtype[0] in "bu" else 0.7)).astype(dtype)
                for x in (a, a[::-3], np.stack([a, a])[:, ::2], a.reshape(1, n, 1)):
                    r = q.value(x).tolist()
                    self.assertEqual((r, repr(r)), (x.tolist(), repr(x.tolist())), (dtype, x.shape))
        for x in ([np.inf, -0.0], [2**63 - 1, -2**63], [2**64 - 1]):
            self.assertEqual(repr(q.value(np.array(x)).tolist()), repr(np.array(x).tolist()))


@unittest.skipUnless(np, "needs numpy")
class WithoutDimensions(unittest.TestCase):
    """np.array(3.5): an array from every door, and what is done with it gives what it gives in NumPy."""
    def setUp(self):
        q.init("cpu")

    def test_doors(self):
        a = np.array(3.5)
        doors = [q.value(a), q.value(a.astype(">f8")), q.value(np.asarray(q.value(a))), q.value(q.value(a)),
                 q.from_numpy(a), q.from_numpy(a, copy=True), q.from_numpy(a, copy=False), q.from_dlpack(a),
                 q.from_dlpack(a, copy=True), q.from_dlpack(q.value(a).__dlpack__()), q.value(np.ones(1)).reshape(()),
                 q.value(np.ones((1, 1))).squeeze(), q.value(np.ones(2))[1, ...], q.value(a)[...]]
        for module, make in (("torch", "tensor"), ("jax.numpy", "asarray")):
            if library(module):
                t = getattr(library(module), make)(3.5)
                doors += [q.value(t), q.from_dlpack(t), getattr(q, "from_" + module.split(".")[0])(t)]
        for k, x in enumerate(doors):
            self.assertEqual((type(x), x.shape, x._kind), (q.qvalue, (), "array"), k)

    def test_copies_are_arrays_of_their_own(self):
        for make in (lambda x: x.copy(), copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)),
                     lambda x: x.astype("float64")):
            x = q.value(np.array(3.5))
            y = make(x)
            y[...] = 4
            self.assertEqual((y.shape, y.item(), x.item()), ((), 4, 3.5))

    def test_reading_and_methods(self):
        x, a = q.value(np.array(3.5)), np.array(3.5)
        for f in (lambda x: x.flatten().tolist(), lambda x: x.ravel().shape, lambda x: x[None].shape, lambda x: x[()],
                  lambda x: x.clip(0, 1), lambda x: x.clip(4), lambda x: x.sum(),
                  lambda x: x.T.shape, lambda x: x.cumsum().tolist(), lambda x: x.argmax(), lambda x: x.item(),
                  lambda x: x.tolist(), lambda x: "%.2f" % x, lambda x: f"{x:.2f}", lambda x: x.take(0), float, int):
            self.assertEqual(f(x), f(a))
        self.assertIsInstance(x[()], float)
        view = x[...]
        view[()] = 2
        self.assertEqual((x.item(), (x + 1).shape, (x + 1).item()), (2, (), 3))
        for f in (len, list):
            self.assertRaises(TypeError, f, x)


if __name__ == "__main__":
    unittest.main()
