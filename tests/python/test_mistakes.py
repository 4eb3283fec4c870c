"""import pyquasar: error messages about arguments of a wrong type."""
import inspect, re, types, unittest, warnings

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
