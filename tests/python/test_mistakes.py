"""import pyquasar: error messages about arguments of a wrong type."""
import inspect, math, re, types, unittest, warnings

import pyquasar as q
from optional import library

np, torch, jax = library("numpy"), library("torch"), library("jax")

WRONG = None, 3, "x", [], object(), unittest
MISHAPS = AttributeError, KeyError, NameError, SystemError, AssertionError, RecursionError
UNCLEAR = "has no attribute|is not iterable|not supported between|item assignment|cannot be interpreted"


@unittest.skipUnless(np and torch and jax, "needs numpy, torch and JAX")
class WrongTypes(unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        warnings.simplefilter("ignore")
        self.addCleanup(warnings.resetwarnings)

    def parameters(self, f):
        try:
            return [p.name for p in inspect.signature(f).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        except (TypeError, ValueError):
            return []

    def check(self, name, f, names, *given):
        """Each argument behind those that are given right is wrong in turn."""
        for x in WRONG:
            for args, named in [(given + (x,), {})] + [(given, {n: x}) for n in names]:
                try:
                    f(*args, **named)
                except q.QuasarError:
                    pass
                except Exception as e:
                    self.assertNotIsInstance(e, MISHAPS, (name, args, named))
                    self.assertNotRegex(str(e), UNCLEAR, (name, args, named))

    def test_functions(self):
        a, t = np.ones((2, 3), "f"), torch.ones(2, 3)
        first = {"from_numpy": a, "from_torch": t, "from_dlpack": a, "compile_string": "u", "descriptor": a,
                 **dict.fromkeys(("to_torch", "to_dlpack", "to_jax"), q.value(a)),
                 **dict.fromkeys(q._grad_names | {"torch_op", "jax_op", "dask_op", "halo"}, q.sin)}
        for name in dir(q):
            f = getattr(q, name)
            exception = isinstance(f, type) and issubclass(f, Exception)
            if name.startswith("_") or exception or name in ("init", "destroy", "run_gui", "module"):
                continue
            if isinstance(f, (types.FunctionType, types.BuiltinFunctionType, type)):
                self.check(name, f, ())
                if name in first:
                    self.check(name, f, self.parameters(f)[1:], first[name])

    def test_dimensions_that_the_array_lacks(self):
        """Each function with a parameter dim, whether a built-in or of the library, raises ValueError."""
        index = lambda x: np.zeros(x.shape)
        others = {"add_along": (index, 3), "take_along": (index,), "circshift": (1,), "movmax": (3,), "movmin": (3,),
                  "percentile": (50,), "prctile": (50,), "quantile": (0.5,), "rank_positions": (1,), "skewness": (1,),
                  "kurtosis": (1,), "mad": (0,), "zscore": (0,), "max": ([],), "min": ([],), "sort": ("descend",)}
        names = [n for n in dir(q) if "dim" in self.parameters(getattr(q, n, None)) and n != "cat"]
        self.assertGreater(len(names), 45)
        for name in sorted({*names, *others, "trapz", "cumulative_trapezoid", "moveaxis", "size"}):
            f = getattr(q, name)
            between = [g for g in others.get(name, ()) if name != "add_along" or callable(g)]
            arrays = np.arange(5.0), np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4)
            for x in arrays[:2] if name in ("dct1", "idct1") else arrays:
                given = [x] + [g(x) if callable(g) else g for g in between]
                if name in ("trapz", "cumulative_trapezoid"):
                    given = [np.arange(x.shape[-1]), x]
                for dim in max(x.ndim, 2), 3, 7, 8, -9, 1.5, math.nan, 1e300, [7]:
                    behind = [3] if name == "add_along" else [0] if name == "moveaxis" else []
                    for args, named in [(given + [dim] + behind, {}), (given, {"dim": dim})]:
                        if (behind or name not in names) and named:
                            continue
                        error = (ValueError, TypeError) if dim == [7] else ValueError
                        with self.subTest(name=name, dim=dim, ndim=x.ndim, named=named), self.assertRaises(error):
                            f(*args, **named)

    def test_arrays_without_numbers(self):
        for x, message in ((np.array(["a"]), "numpy.ndarray of strings; value.* makes a cell"),
                           (np.array([1, None], object), "numpy.ndarray of objects; value.* makes a cell"),
                           (np.array(["2020"], "M8[D]"), r"numpy.ndarray of datetime64\[D\]\)$")):
            with self.assertRaisesRegex(TypeError, message):
                q.sum(x)
        for x, cure in (np.zeros(1, "M8[D]"), "int64"), (np.zeros(1, "g"), "float64"), (np.zeros(1, "G"), "complex128"):
            with self.assertRaisesRegex(TypeError, 'no counterpart in the language; x.astype."%s"' % cure):
                q.value(x)

    def test_nan_is_no_integer(self):
        """NumPy refuses it, too; it was stored as 0."""
        a = q.value(np.array([1, 2]))
        for x in math.nan, np.float32(math.nan), np.array(math.nan):
            for key in 0, slice(None), a > 0:
                with self.assertRaisesRegex(ValueError, "elements of int64 cannot be nan"):
                    a[key] = x
        lists = [math.nan, 1], (1, math.nan), np.array([math.nan, 1], "f2"), np.array([[7, math.nan, 3]])[:, :0:-1]
        for x in lists + (q.value([1, math.nan]),):
            for key in slice(None), a > 0, [1, 0], (..., slice(None, None, -1)):
                with self.assertRaisesRegex(ValueError, "elements of int64 cannot be nan|float NaN to integer"):
                    a[key] = x
        wide = q.value(np.zeros((3, 200), np.uint8))
        with self.assertRaisesRegex(ValueError, "elements of uint8 cannot be nan"):
            wide[:, ::2] = np.where(np.arange(300).reshape(3, 100) == 280, math.nan, 1)
        self.assertEqual(a.tolist(), [1, 2])
        self.assertEqual(wide.sum(), 0)
        a[:] = [math.inf, 1.5]
        self.assertEqual(a.tolist(), [2**63 - 1, 1])

    def test_methods(self):
        # The errors of `pop` and `update` are Python's own.
        by_others = "argsort", "clip", "diagonal", "lock", "pop", "repeat", "searchsorted", "sort", "take", "trace", \
                    "unlock", "update"
        array, dictionary = lambda: q.value(np.ones((2, 3), "f")), lambda: q.value({"a": 1})
        for name in dir(q.qvalue):
            make = array if hasattr(array(), name) else dictionary
            if not name.startswith("_") and callable(getattr(make(), name)) and name not in by_others:
                self.check(name, lambda *args, **names: getattr(make(), name)(*args, **names),
                           self.parameters(getattr(q.qvalue, name))[1:])

    def test_sentences_about_wrong_types(self):
        q.init("cpu")
        v = q.ones(2, 3)
        for f, sentence in (
                (lambda: q.device_to_torch(3), "device_to_torch: one of devices() is wanted, got int"),
                (lambda: q.load_ipython_extension(3),
                 "load_ipython_extension: the shell of IPython is wanted, got int"),
                (lambda: q.torch_op(q.sin, name=3), 'torch_op: name must be as "namespace::name", got 3'),
                (lambda: q.torch_op(q.sin, 3), "torch_op: backward must be a function, got 3"),
                (lambda: q.torch_op(q.sin, results="x"), "results must be how many results there are, got 'x'"),
                (lambda: q.jax_op(q.sin, out=3), "sin: out must be names of parameters, got 3"),
                (lambda: q.from_numpy(np.ones(3), "vec3"), "from_numpy: copy must be True, False or None, got 'vec3'"),
                (lambda: v.from_torch(3), "from_torch: a tensor is wanted, got int"),
                (lambda: v.from_numpy([1]), "from_numpy: a NumPy array is wanted, got list"),
                (lambda: v.to_torch("x"), "to_torch: requires_grad must be True, False or None, got 'x'"),
                (lambda: v.sum(axis="x"), "axis must be an integer, got 'x'"),
                (lambda: v.sum(axis=0, out=3), "out must be an array, got int"),
                (lambda: v.reshape(None), "integers are wanted, or a tuple of them, got None"),
                (lambda: v.round("x"), "decimals must be an integer, got 'x'")):
            with self.assertRaisesRegex(TypeError, "^" + re.escape(sentence) + "$"):
                f()


if __name__ == "__main__":
    unittest.main()
