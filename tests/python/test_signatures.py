"""import pyquasar: methods of arrays, and functions of pyquasar.array_api, have the arguments that NumPy gives them.

The arguments are read from NumPy, so that one that NumPy gets is missed here.  Each of them is tried with some values
and gives what NumPy's method gives, or it is among REFUSED, with the reason."""
import inspect, itertools, unittest, warnings

import pyquasar as q
from optional import library

np = library("numpy")

# Arguments that mean nothing here, or cannot be honoured.  They are a TypeError that names them.
REFUSED = {
    ("clip", "signature"): "chooses a loop of NumPy's own, and the language computes",
    ("sort", "order"): "names fields of records, which arrays do not have: NumPy's own error",
    ("argsort", "order"): "names fields of records, which arrays do not have: NumPy's own error",
}
UFUNC = ("casting", "order", "dtype", "subok", "where", "signature")  # what **kwargs of clip takes
METHODS = ("all any argmax argmin argsort astype clip conj copy cumprod cumsum diagonal dot fill flatten max mean min "
           "nonzero prod ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take tobytes trace "
           "transpose var").split()


def numpys(name):
    """The parameters of NumPy's method behind self; what its **kwargs are for is said by the function behind it."""
    listed = list(inspect.signature(getattr(np.ndarray, name)).parameters.values())[1:]
    if not any(p.kind == p.VAR_KEYWORD for p in listed):
        return listed
    from numpy._core import _methods
    behind = getattr(_methods, "_" + {"max": "amax", "min": "amin"}.get(name, name))
    listed = list(inspect.signature(behind).parameters.values())[1:]
    if listed[-1].kind == inspect.Parameter.VAR_KEYWORD:
        listed[-1:] = [inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY) for option in UFUNC]
    return listed


def ours(name):
    return list(inspect.signature(getattr(q.qvalue, name)).parameters.values())[1:]


def readable():
    try:
        return bool(numpys("sum") and numpys("sort"))
    except (ImportError, ValueError, AttributeError):
        return False


def same_default(name, a, b):
    given = inspect.Parameter.empty
    if str(b) == "<no value>":  # NumPy's sum has it for 0, which its manual says
        return str(a) == "<no value>" or (name, a) in (("sum", 0), ("prod", 1))
    return a is b or a == b or b is given


def arrays():
    for dtype in ("bool", "int8", "int64", "uint64", "float32", "complex64"):
        a = (np.arange(12) * 7 % 5 - (2 if dtype not in ("bool", "uint64") else 0)).reshape(3, 4).astype(dtype)
        yield a
        yield a.T
        if dtype == "float32":
            yield a[:, ::2]
            yield a[0]


def options(name, a):
    """{argument: values} that are tried."""
    some = (np.arange(a.size) % 3 > 0).reshape(a.shape)
    axis = [None, 0, -1, a.ndim - 1]
    orders = ["C", "F", "A", "K"]
    known = {
        "axis": axis, "keepdims": [True, False], "initial": [0, 1, 3], "ddof": [0, 1, 2],
        "where": [True, some, some.any(axis=0), np.zeros(a.shape, bool)], "decimals": [0, 1, -1],
        "mean": [1, a.astype("f8" if a.dtype.kind != "c" else "c16").mean()], "out": [None],
        "dtype": ["float64"] if a.dtype.kind != "c" else ["complex128"],
        "order": orders, "casting": ["no", "equiv", "safe", "same_kind", "unsafe"], "subok": [True, False],
        "copy": [True, False, None], "offset": [0, 1, -1], "axis1": [0, 1], "axis2": [1, 0], "mode": ["clip", "wrap"],
        "side": ["left", "right"], "sorter": [np.argsort(a, axis=None, kind="stable")], "kind": ["stable", None],
        "stable": [True, None], "min": [1, None], "max": [2, None], "indices": [[0, 1]], "repeats": [2],
        "other": [2], "value": [1], "v": [[1]],
    }
    if name in ("reshape", "tobytes"):
        known["order"] = ["C", "F", "A"]
    if name == "reshape":
        known["copy"] = [True, None]
    if name == "astype":
        known.update(dtype=["float64", "float32", "int64", "complex128", "int8", "bool"])
    if name in ("argmax", "argmin", "cumsum", "cumprod", "argsort"):
        known["axis"] = [None, 0, -1]
    if name == "squeeze":
        known["axis"] = [None, 0, -1, (0, -1)]
    if name == "sort":
        known["axis"] = [0, -1]
    return known


NEEDED = {"astype": {"dtype": "float64"}, "take": {"indices": [0, 1]}, "repeat": {"repeats": 2}, "dot": {"other": 2},
          "fill": {"value": 1}, "clip": {"min": 1, "max": 2}, "searchsorted": {"v": [1]}}
PLACED = {"reshape": [-1], "swapaxes": [0, -1], "transpose": []}
# Which elements they are not defined for.
UNDEFINED = {"bool": "prod min max argmin argmax cumsum cumprod clip round std var dot fill sort argsort searchsorted",
             "complex64": "min max argmin argmax clip sort argsort searchsorted std var round any all"}


def call(x, name, given, needed):
    given, placed = dict(needed, **given), list(PLACED.get(name, []))
    for p in list(inspect.signature(getattr(np.ndarray, name)).parameters.values())[1:]:
        if (p.kind == p.POSITIONAL_ONLY or name == "fill") and p.name in given:  # fill's takes no names
            placed.append(given.pop(p.name))
    r = getattr(x, name)(*placed, **given)
    return x if name in ("sort", "fill") else r


@unittest.skipUnless(np and readable(), "needs a NumPy that says what arguments its methods have: 2.4")
class Methods(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def test_names_order_and_defaults_are_those_of_numpy(self):
        from pyquasar import _values
        self.assertEqual(sorted(METHODS), sorted(_values.ARRAY_METHODS))
        for name in METHODS:
            wanted, got = numpys(name), {p.name: p for p in ours(name)}
            for p in wanted:
                if (name, p.name) in REFUSED and p.name not in got:
                    continue
                self.assertIn(p.name, got, name)
                self.assertTrue(same_default(name, got[p.name].default, p.default), (name, p, got[p.name]))
            order = [p.name for p in wanted if p.kind != p.KEYWORD_ONLY]
            self.assertEqual([p.name for p in ours(name) if p.kind != p.KEYWORD_ONLY], order, name)
            self.assertLessEqual(set(got), {p.name for p in wanted}, name)

    def test_each_argument_means_what_it_means_in_numpy(self):
        for name in METHODS:
            tried = 0
            for a in arrays():
                if name in UNDEFINED.get(a.dtype.name, "").split():
                    continue
                if name in ("diagonal", "trace", "swapaxes") and a.ndim < 2:
                    continue
                if name == "searchsorted" and a.ndim > 1:
                    continue
                a = a[None, ..., None] if name == "squeeze" else a
                known = options(name, a)
                for p in numpys(name):
                    if (name, p.name) in REFUSED or p.name not in known or p.kind == p.VAR_POSITIONAL:
                        continue
                    for value in known[p.name]:
                        self.try_argument(name, a, p.name, value)
                        tried += 1
            self.assertTrue(tried or name in ("conj", "nonzero", "squeeze", "swapaxes", "transpose"), name)

    def try_argument(self, name, a, argument, value):
        case = name, a.dtype.name, a.shape, a.strides, argument, value
        needed = dict(NEEDED.get(name, {}))
        if argument == "where" and name in ("min", "max"):
            needed["initial"] = 1
        if argument in ("axis1", "axis2"):
            needed["axis2" if argument == "axis1" else "axis1"] = 1 - value
        if argument == "casting":
            needed.update({"dtype": "int32"} if name == "astype" else
                          {"dtype": a.dtype.name, "min": a.dtype.type(1), "max": a.dtype.type(2)})
        if argument == "out":
            return self.try_out(name, a, needed, case)
        if name == "clip" and argument == "where" and value is not True:
            return self.try_out(name, a, dict(needed, where=value), case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            b = a.copy(order="K")
            try:
                wanted = call(b, name, {argument: value}, needed)
            except TypeError as e:  # a conversion that is not allowed, or a method that NumPy does not define there
                with self.assertRaises(TypeError, msg=(case, str(e))):
                    call(q.value(a.copy(order="K")), name, {argument: value}, needed)
                return
        self.same(call(q.value(a.copy(order="K")), name, {argument: value}, needed), wanted, case, argument)

    def try_out(self, name, a, needed, case):
        if "axis" in (p.name for p in ours(name)) and name != "take":
            needed["axis"] = 0
        b, mine = a.copy(), q.value(a.copy())
        some = call(b, name, {}, {k: x for k, x in needed.items() if k != "where"})
        if not np.ndim(some):
            return
        wanted = call(b, name, {"out": np.zeros_like(some)}, needed)
        out = q.value(np.zeros_like(some))
        self.assertIs(call(mine, name, {"out": out}, needed), out, case)
        self.same(out, wanted, case, "out")

    def same(self, got, wanted, case, argument):
        if isinstance(wanted, bytes):
            return self.assertEqual(got, wanted, case)
        self.assertEqual(getattr(got, "shape", ()), np.shape(wanted), case)
        np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), 1e-5, 1e-6, err_msg=str(case))
        if argument == "order" and np.ndim(wanted) and case[0] in ("copy", "astype"):
            self.assertEqual(np.asarray(got).strides, wanted.strides, case)

    def test_memory_is_shared_where_numpys_is(self):
        for a in arrays():
            v = q.value(a)
            for name, args, names in itertools.chain(
                    (("ravel", (), {"order": o}) for o in "CFAK"), (("flatten", (), {"order": o}) for o in "CFAK"),
                    (("reshape", (-1,), {"order": o, "copy": c}) for o in "CFA" for c in (None, True)),
                    (("astype", (a.dtype.name,), {"order": o, "copy": c}) for o in "CFAK" for c in (False, True)),
                    (("copy", (), {"order": o}) for o in "CFAK")):
                case = name, args, names, a.dtype, a.shape, a.strides
                got, wanted = getattr(v, name)(*args, **names), getattr(a, name)(*args, **names)
                self.same(got, wanted, case, "")
                shared = np.shares_memory(wanted, a)
                if np.shares_memory(np.asarray(got), a) != shared:
                    # a view of one dimension that goes through memory in steps is a copy in NumPy's ravel
                    self.assertTrue(name == "ravel" and not shared, case)

    def test_what_is_refused_names_the_argument(self):
        v = q.ones(2, 3)
        for (name, argument), why in REFUSED.items():
            self.assertTrue(why)
            with self.assertRaises((TypeError, ValueError)) as caught:
                getattr(v, name)(**{argument: "x"})
            self.assertRegex(str(caught.exception), argument + "|fields")
        for name in METHODS:
            if any(p.kind == p.VAR_KEYWORD for p in ours(name)):
                self.fail("%s takes any argument" % name)
            with self.assertRaisesRegex(TypeError, "nonsense"):
                getattr(v, name)(*PLACED.get(name, []), nonsense=1, **NEEDED.get(name, {}))
        for f, kind, why in ((lambda: v.astype("int8", casting="safe"), TypeError, "float32 cannot become int8"),
                             (lambda: v.astype("int8", casting="x"), ValueError, "casting must be one of"),
                             (lambda: v.copy(order="X"), ValueError, "copy: order must be one of C, F, A, K, got 'X'"),
                             (lambda: v.reshape(6, order="K"), ValueError, "reshape: order must be one of C, F, A"),
                             (lambda: v.T.reshape(6, copy=False), ValueError, "reshape: the elements do not lie so"),
                             (lambda: v.clip(0, 1, where=v > 1), ValueError, "clip: with where=, out= has"),
                             (lambda: v.max(where=v > 1), ValueError, "max: with where=, initial= says"),
                             (lambda: v.sum(where=np.ones((2, 2, 3), bool)), ValueError, "where has 3 dimensions")):
            with self.assertRaisesRegex(kind, why):
                f()

    def test_types_that_numpy_lacks(self):
        v = q.value([1, 2.5]).astype("bfloat16")
        for name, casting, may in (("float32", "safe", True), ("float16", "safe", False), ("bfloat16", "no", True),
                                   ("float16", "same_kind", True), ("int8", "same_kind", False)):
            if may:
                self.assertEqual(str(v.astype(name, casting=casting).dtype), name)
            else:
                with self.assertRaisesRegex(TypeError, "bfloat16 cannot become " + name):
                    v.astype(name, casting=casting)

    def test_numpys_functions_hand_their_arguments_over(self):
        a = np.arange(6, dtype=np.float32).reshape(2, 3)
        v, some = q.value(a), a > 1
        for f in (lambda x: np.sum(x, where=some, initial=5), lambda x: np.mean(x, axis=0, where=some | True),
                  lambda x: np.max(x, initial=9), lambda x: np.var(x, ddof=1, mean=2), lambda x: np.all(x, where=some),
                  lambda x: np.ravel(x, order="F"), lambda x: np.reshape(x, (3, 2), order="F"),
                  lambda x: np.std(x, axis=1, where=some | True, keepdims=True), lambda x: np.clip(x, 1, 2, dtype="f8"),
                  lambda x: np.take(x, [[0, 5]], mode="wrap"), lambda x: np.argmax(x, axis=1, keepdims=True)):
            self.same(f(v), f(a), inspect.getsource(f), "")

    @unittest.skipUnless(library("zarr"), "needs zarr")
    def test_parts_of_files_of_zarr_are_set(self):
        z = library("zarr").zeros((4, 3), chunks=(2, 2), dtype="f4")
        z[0, :] = q.value([1, 2, 3])
        z[1:3, 1] = q.value([7, 8])
        z[3] = q.value(np.array([0.5, 1, 2], np.float64))
        self.assertEqual(z[:].tolist(), [[1, 2, 3], [0, 7, 0], [0, 8, 0], [0.5, 1, 2]])

    def test_derivatives_pass_through_them(self):
        x = np.array([[1.0, 2, 3], [4, 5, 6]])
        some = np.array([[True, False, True], [False, True, True]])
        for f, wanted in ((lambda v: v.sum(where=some), some), (lambda v: v.sum(initial=3), np.ones((2, 3))),
                          (lambda v: v.mean(where=some), some / 4),
                          (lambda v: v.max(initial=0, where=some), np.eye(2, 3, 1) * 0 + (x == 6)),
                          (lambda v: (v.ravel(order="F")*np.arange(6.0)).sum(), np.arange(6.0).reshape(3, 2).T),
                          (lambda v: (v.reshape(3, 2, order="F")*2).sum(), np.full((2, 3), 2.0)),
                          (lambda v: v.astype("float64", order="F").sum(), np.ones((2, 3)))):
            np.testing.assert_allclose(np.asarray(q.grad(f)(q.value(x))), wanted, 1e-5)


@unittest.skipUnless(np, "needs numpy")
class Standard(unittest.TestCase):
    """Functions of pyquasar.array_api that NumPy has, too: what the standard says of their arguments, and no more."""

    def test_their_arguments_are_numpys(self):
        import pyquasar.array_api as xp
        spaces = ((xp, np), (xp.linalg, np.linalg), (xp.fft, np.fft))
        seen = 0
        for here, there in spaces:
            for name in here.__all__:
                f, g = getattr(here, name), getattr(there, name, None)
                if not callable(f) or not callable(g) or inspect.isclass(f) or isinstance(g, (type, np.ufunc)):
                    continue
                try:
                    mine, theirs = inspect.signature(f).parameters, inspect.signature(g).parameters
                except ValueError:
                    continue
                seen += 1
                more = [p.name for p in mine.values() if p.name not in theirs and p.kind == p.KEYWORD_ONLY
                        and (name, p.name) not in NOT_IN_NUMPY]
                self.assertEqual(more, [], name)
                for p in theirs.values():  # what is not in the standard is refused by its name
                    if p.kind == p.KEYWORD_ONLY and p.name not in mine:
                        with self.assertRaisesRegex(TypeError, p.name):
                            f(*(q.ones(2) for m in mine.values() if m.default is m.empty), **{p.name: None})
        self.assertGreater(seen, 60)


NOT_IN_NUMPY = {  # arguments of the standard
    ("argsort", "descending"), ("sort", "descending"), ("fftfreq", "dtype"), ("rfftfreq", "dtype"),
}

if __name__ == "__main__":
    unittest.main()
