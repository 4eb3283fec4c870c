"""Results that are an argument, or a part of one, have memory of their own or keep that of the argument.

Each way to call a function, with each kind of argument, and each form in which the argument comes back.  Then the
argument is deleted, its memory is used for something else, and the values must still be there.  `make dev` runs this
file with the address sanitizer (tests/python/inside.py)."""
import gc, pickle, sys, unittest
import numpy as np
import pyquasar as q
from optional import library

torch = library("torch")
jax = library("jax")
if jax:
    jax.config.update("jax_enable_x64", True)

PROGRAM = """
function y = same(x)
    y = x
end
function [y, z] = twice(x)
    y = x
    z = x
end
function y = part(x)
    y = x[1..numel(x)-1]
end
function y = shaped(x)
    y = reshape(x, [2, numel(x)/2])
end
function y = in_cell(x)
    y = {x, {x}}
end
function y = in_object(x)
    y = object()
    y.a = x
end
{!adjoint ruled_back}
function [y, z] = ruled(x)
    y = x
    z = x
end
function dx = ruled_back(x, y, z, dy, dz)
    dx = dy + 3*dz
end
"""


def numbers(n):
    return np.arange(1.0, n + 1)


def read_only(x):
    x.flags.writeable = False
    return x


# -- the argument, and the array in it ---------------------------------------------------------------------------------
ARGUMENTS = {
    "small": lambda: numbers(6),
    "large": lambda: numbers(3000),
    "float32": lambda: numbers(6).astype(np.float32),
    "complex": lambda: numbers(6) + 1j,
    "not contiguous": lambda: np.repeat(numbers(600), 3)[::3],
    "backward": lambda: numbers(6)[::-1],
    "column-major": lambda: np.asfortranarray(numbers(600).reshape(20, 30)),
    "read-only": lambda: read_only(numbers(600)),
    "value": lambda: q.value(numbers(6)),
    "large value": lambda: q.value(numbers(3000)),
    "slice of a value": lambda: q.value(numbers(3000))[1:-1],
    "number": lambda: 2.5,
    "list": lambda: [1.0, 2.5, 3.0, 4.0],
    "tuple": lambda: (1.0, 2.5, 3.0, 4.0),
    "dict": lambda: {"a": numbers(600), "b": 2.0},
    "list of arrays": lambda: [numbers(600), numbers(6)],
}
if torch:
    ARGUMENTS["tensor"] = lambda: torch.arange(1, 601, dtype=torch.float64)
    ARGUMENTS["transposed tensor"] = lambda: torch.arange(1, 601, dtype=torch.float64).reshape(20, 30).T
if jax:
    ARGUMENTS["jax"] = lambda: jax.numpy.arange(1.0, 601.0)


def inside(x):
    return x["a"] if isinstance(x, dict) else x[0] if isinstance(x, list) and not isinstance(x[0], float) else x


# -- what the function makes of it, for values and for arrays of NumPy alike -------------------------------------------
def flat(x):
    return x.reshape(-1) if np.ndim(x) != 1 else x


RESULTS = {
    "the argument": lambda x: inside(x),
    "the whole argument": lambda x: x,
    "a slice": lambda x: inside(x)[1:],
    "every other": lambda x: inside(x)[::2],
    "reshaped": lambda x: inside(x).reshape(2, -1),
    "with one dimension more": lambda x: inside(x)[None],
    "transposed": lambda x: inside(x).T if np.ndim(inside(x)) == 2 else inside(x),
    "a tree": lambda x: {"a": inside(x), "b": [inside(x)]},
    "twice": lambda x: (inside(x), inside(x)),
}
OF_NUMBERS = ("the argument", "the whole argument", "a tree", "twice")


def total(x):
    """One real number of all that is in x."""
    x = inside(x)
    if isinstance(x, (list, tuple)):
        x = q.value(x)
    return x*1.0 if not hasattr(x, "shape") or not x.shape else q.sum(q.real(x*x))


# -- ways to call f of x: what comes out -------------------------------------------------------------------------------
def tangent(x):
    """Ones of the form of x."""
    if isinstance(x, dict):
        return {k: tangent(v) for k, v in x.items()}
    if isinstance(x, list) and not isinstance(x[0], float):
        return [tangent(v) for v in x]
    return np.ones(np.shape(x)) if np.shape(x) else 1.0


def by_rule(f):
    g = q.custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: (f(x), x), lambda kept, dy: (None,))
    return g


def reads_memory(f):
    """A rule whose function reads its argument as an array of NumPy."""
    def fwd(x):
        for leaf in leaves_of(x):
            if hasattr(leaf, "_kind"):
                a = np.asarray(leaf)
                assert not a.flags.writeable and np.isfinite(a).all()
                seen.append(a)
        return f(x), x
    seen = []
    g = q.custom_vjp(lambda x: f(x))
    g.defvjp(fwd, lambda kept, dy: (None,))
    g.seen = seen
    return g


def leaves_of(y):
    if isinstance(y, dict):
        y = list(y.values())
    return [leaf for v in y for leaf in leaves_of(v)] if isinstance(y, (list, tuple)) else [y]


def leaked(f, x):
    kept = []

    def g(x):
        kept.append(f(x))
        return total(x)
    q.grad(g)(x)
    return kept[0]


ENTRIES = {
    "value_and_grad": lambda f, x: q.value_and_grad(lambda x: (total(x), f(x)), has_aux=True)(x)[0][1],
    "grad": lambda f, x: q.grad(lambda x: (total(x), f(x)), has_aux=True)(x)[1],
    "grad of grad": lambda f, x: q.grad(lambda s: q.value_and_grad(lambda x: (s*total(x), f(x)), has_aux=True)(x)[0],
                                        has_aux=True)(1.0)[1],
    "jvp": lambda f, x: q.jvp(f, (x,), (tangent(x),))[0],
    "vjp": lambda f, x: q.vjp(f, x)[0],
    "checkpoint": lambda f, x: q.vjp(q.checkpoint(f), x)[0],
    "checkpoint alone": lambda f, x: q.checkpoint(f)(x),
    "custom_vjp": lambda f, x: q.vjp(by_rule(f), x)[0],
    "custom_vjp alone": lambda f, x: by_rule(f)(x),
    "custom_vjp that reads memory": lambda f, x: q.vjp(reads_memory(f), x)[0],
    "jacobian around it": lambda f, x: around(q.jacobian, f, x),
    "hessian around it": lambda f, x: around(q.hessian, f, x),
    "after the derivative": leaked,
}


def around(derivative, f, x):
    """The result of f when it ran for a derivative of another function."""
    kept = []
    small = q.value(numbers(2))

    def g(s):
        kept.append(q.vjp(f, x)[0])
        return q.sum(s*s)
    derivative(g)(small)
    return kept[-1]


def skip(entry, result, x):
    plain = isinstance(inside(x), (list, tuple))
    if entry == "after the derivative" and any(isinstance(v, float) for v in leaves_of(x)):
        return True  # a number on which a derivative depends remains an error
    if not np.shape(inside(x)) and result not in OF_NUMBERS:
        return True
    return plain and ("alone" in entry or "custom_vjp" in entry)  # f gets the list itself where nothing is recorded


def as_numpy(v):
    return np.asarray(v.detach() if torch and isinstance(v, torch.Tensor) else v)


def overwrite(sizes):
    """Uses memory of these sizes again, of NumPy, of the language, and of Python."""
    kept = []
    for n in {*sizes, 48, 64}:
        for _ in range(4):
            kept += [np.full(n, 77, np.uint8), bytearray(b"M"*n), q.value(np.full(max(n//8, 1), 7e7))*1.0]
    return kept


class Ownership(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        q.init("cpu")
        gc.freeze()  # what libraries have is not looked through a thousand times
        cls.addClassCleanup(gc.unfreeze)
        q.compile_string("ownership", PROGRAM)

    def check(self, cases):
        """cases: (what it is, a function that gives a result of an argument which goes, the leaves of that result)."""
        made = []
        for what, make, wanted in cases:
            with self.subTest(**what):
                made.append((what, leaves_of(make()), wanted))
        gc.collect()
        sizes = {w.nbytes for _, _, wanted in made for w in wanted}
        junk, views = overwrite(sizes), []
        for what, leaves, wanted in made:
            with self.subTest(**what):
                self.assertEqual(len(leaves), len(wanted))
                for leaf, w in zip(leaves, wanted):
                    np.testing.assert_array_equal(as_numpy(leaf), w)
                    if hasattr(leaf, "_kind"):
                        np.testing.assert_array_equal(pickle.loads(pickle.dumps(leaf)), w)
                    views.append((what, as_numpy(leaf), w))
        leaf = leaves = made = junk = None  # the views of NumPy are all that is left
        gc.collect()
        junk = overwrite(sizes)
        for what, v, w in views:
            with self.subTest(**what):
                np.testing.assert_array_equal(v, w)
        del junk

    def expected(self, result, x):
        """A list that is an argument is an array inside, but what comes back as it is may be either."""
        x = {k: as_numpy(v) for k, v in x.items()} if isinstance(x, dict) else (
            [as_numpy(v) for v in x] if isinstance(x, list) and not isinstance(x[0], float) else as_numpy(x))
        return [np.array(as_numpy(v)) for v in leaves_of(RESULTS[result](x))]

    def test_derivatives(self):
        for argument, source in ARGUMENTS.items():
            self.check([({"entry": entry, "argument": argument, "result": result},
                         lambda call=call, f=f: call(f, source()), self.expected(result, source()))
                        for result, f in RESULTS.items() for entry, call in ENTRIES.items()
                        if not skip(entry, result, source())])

    def test_calls(self):
        """Functions of a program."""
        of = {"same": lambda x: [x], "twice": lambda x: [x, x], "part": lambda x: [flat(x)[1:]],
              "shaped": lambda x: [x.reshape(2, -1)]}
        held = {"in_cell": lambda y: [y[0], y[1][0]], "in_object": lambda y: y.a}
        cases = []
        for argument, source in ARGUMENTS.items():
            x = as_numpy(inside(source()))
            if not np.ndim(x):
                continue
            for name, parts in of.items():
                if np.ndim(x) == 1:
                    cases.append(({"function": name, "argument": argument},
                                  lambda name=name, source=source: getattr(q, name)(inside(source())),
                                  [np.array(v) for v in parts(x)]))
            for name, take in held.items():
                cases.append(({"function": name, "argument": argument},
                              lambda name=name, source=source, take=take: take(getattr(q, name)(inside(source()))),
                              [np.array(x)]*(1 + (name == "in_cell"))))
        self.check(cases)

    def test_operators(self):
        """Of torch and of JAX; the results of torch share no memory with the arguments."""
        cases = []
        for name, f in RESULTS.items():
            if name in ("a tree", "twice", "the whole argument"):
                continue
            for n in (6, 3000):
                wanted, what = [np.array(f(numbers(n)))], {"result": name, "n": n}
                if torch:
                    op = q.torch_op(f)
                    for grad in (False, True):
                        cases.append(({"operator": "torch", "grad": grad, **what}, lambda op=op, n=n, grad=grad: op(
                            torch.from_numpy(numbers(n)).requires_grad_(grad)), wanted))
                if jax:
                    op = q.jax_op(f)
                    cases.append(({"operator": "jax", **what},
                                  lambda op=op, n=n: op(jax.numpy.asarray(numbers(n))), wanted))
                    cases.append(({"operator": "jax, vjp", **what},
                                  lambda op=op, n=n: jax.vjp(op, jax.numpy.asarray(numbers(n)))[0], wanted))
        if torch:
            both = q.torch_op(q.twice)
            cases.append(({"operator": "torch, twice"},
                          lambda: both(torch.from_numpy(numbers(3000)).requires_grad_()), [numbers(3000)]*2))
        self.check(cases)

    def test_nothing_is_copied(self):
        x = numbers(3000)
        for y in (q.jvp(lambda x: x, (x,), (x,))[0], q.grad(lambda x: (q.sum(x), x), has_aux=True)(x)[1],
                  q.same(x)):
            self.assertTrue(np.shares_memory(np.asarray(y), x))
            self.assertTrue(np.asarray(y).flags.writeable)

    def test_results_are_ordinary_arrays(self):
        """They may be written, and what a pullback needs stays as it was."""
        x = q.value(numbers(300))
        y, pull = q.vjp(lambda x: (x, q.sum(x*x)), x)
        y[0][0] = 50.0
        np.asarray(y[0])[1] = 60.0
        self.assertEqual((y[0][0], y[0][1]), (50.0, 60.0))
        np.testing.assert_array_equal(np.asarray(pull((None, 1.0))[0]), 2*numbers(300))

    def test_results_of_a_rule_have_derivatives_of_their_own(self):
        """Both are the argument itself."""
        def loss(x):
            y, z = q.ruled(x)
            return q.sum(y*y) + q.sum(z*5.0)
        np.testing.assert_allclose(np.asarray(q.grad(loss)(numbers(4))), 2*numbers(4) + 15)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
