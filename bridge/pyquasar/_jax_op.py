"""Functions and kernels as primitives of JAX, with their derivatives, to any order.

    call_p   the function                      jvp: linear_p of the same arguments and their tangents
    linear_p its derivative along tangents     transposed: call_p of the function that gives adjoints (_operator.py)
                                               jvp: that of call_p of the derivative

Both run in a callback of the host.  vmap runs one after the other.  JAX's adjoints are not conjugated, ours are: what
crosses here is conjugated on both ways."""
import functools

from ._operator import of_script, results_of


@functools.cache
def _primitives():
    """Made when JAX is there, once."""
    import jax
    from jax import core
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
    call_p, linear_p = Primitive("quasar_call"), Primitive("quasar_derivative")
    call_p.multiple_results = linear_p.multiple_results = True

    def run(*args, op):
        return jax.pure_callback(op.run, op.imagine(args), *args)

    def run_linear(*args, op, which):
        return run(*args, op=op.forward(which))

    def shapes(*args, op, which=()):
        return [core.ShapedArray(s.shape, s.dtype) for s in op.imagine(args[:len(op.function.parameters)])]

    def register(p, impl):
        p.def_impl(lambda *args, **static: jax.jit(functools.partial(impl, **static))(*args))
        p.def_abstract_eval(shapes)
        mlir.register_lowering(p, mlir.lower_fun(impl, multiple_results=True))
        batching.primitive_batchers[p] = functools.partial(batch, p)

    def batch(p, args, dims, **static):
        moved = [a if d is None else jax.numpy.moveaxis(a, d, 0) for a, d in zip(args, dims)]

        def one(rows):
            rows = iter(rows)
            return p.bind(*(a if d is None else next(rows) for a, d in zip(moved, dims)), **static)
        out = jax.lax.map(one, [a for a, d in zip(moved, dims) if d is not None])
        return out, [0]*len(out)

    def tangents(primals, given, op):
        which = tuple(k for k, t in enumerate(given) if not isinstance(t, ad.Zero) and op.is_smooth(primals[k]))
        if not which:
            return [ad.Zero.from_primal_value(y) for y in op.imagine(primals)]
        return linear_p.bind(*primals, *(given[k] for k in which), op=op, which=which)

    def call_jvp(primals, given, *, op):
        return call_p.bind(*primals, op=op), tangents(primals, given, op)

    def linear_jvp(primals, given, *, op, which):
        return linear_p.bind(*primals, op=op, which=which), tangents(primals, given, op.forward(which))

    def transpose(adjoints, *args, op, which):
        n = len(op.function.parameters)
        dx = call_p.bind(*args[:n], *map(ad.instantiate_zeros, adjoints), op=op.reverse(which))
        return [None]*n + list(dx)

    register(call_p, run)
    register(linear_p, run_linear)
    ad.primitive_jvps[call_p], ad.primitive_jvps[linear_p] = call_jvp, linear_jvp
    ad.primitive_transposes[linear_p] = transpose
    return call_p, linear_p


class Operator:
    def __init__(self, function, results, conjugated=()):
        """conjugated: the arguments that JAX and we mean differently; then the results, too."""
        self.function, self.results, self.conjugated = function, results, conjugated
        self.derived, self.imagined = {}, {}

    @staticmethod
    def is_smooth(x):
        return x.dtype.kind in "fcV"  # V: bfloat16

    def value(self, k, x):
        """What the function gets for an array of NumPy: a number where that is declared."""
        kind = self.function.parameters[k][0]
        if kind == "Tensor":
            return x if x.ndim else x.item()
        return {"float": float, "int": int, "bool": bool}[kind](x)

    def run(self, *args):
        import numpy as np
        args = [np.asarray(a) for a in args]
        args = [a.conj() if k in self.conjugated else a for k, a in enumerate(args)]
        shapes = self.imagine(args)
        r = results_of(self.function(*map(self.value, range(len(args)), args)))
        r = [np.asarray(x, dtype=s.dtype).reshape(s.shape) for x, s in zip(r, shapes)]
        return [x.conj() for x in r] if self.conjugated else r

    def imagine(self, args):
        """Shapes and types of the results: from one run on ones, for each combination of shapes."""
        import jax, numpy as np
        key = tuple((tuple(a.shape), str(a.dtype)) for a in args)
        if key not in self.imagined:
            ones = [np.ones(shape, dtype) for shape, dtype in key]
            r = results_of(self.function(*map(self.value, range(len(ones)), ones)))
            if len(r) != self.results:
                raise TypeError("%s gives %d results, got %d" % (self.function.name, self.results, len(r)))
            floating = next((a.dtype for a in ones if a.dtype.kind in "fc"), np.dtype("float32"))
            kinds = [np.dtype(x.dtype) if hasattr(x, "dtype") else np.result_type(floating, x) if isinstance(x, complex)
                     else floating for x in r]
            self.imagined[key] = [jax.ShapeDtypeStruct(tuple(getattr(x, "shape", ())), jax.dtypes.canonicalize_dtype(d))
                                  for x, d in zip(r, kinds)]
        return self.imagined[key]

    def reverse(self, which):
        n = len(self.function.parameters)
        if ("reverse", which) not in self.derived:
            f = self.function.reverse(which, self.results)
            self.derived["reverse", which] = Operator(f, len(which), tuple(range(n, n + self.results)))
        return self.derived["reverse", which]

    def forward(self, which):
        if ("forward", which) not in self.derived:
            self.derived["forward", which] = Operator(self.function.forward(which), self.results)
        return self.derived["forward", which]


def jax_op(function, dims=None, out=None, results=None):
    """A function of JAX that calls a function of a script, a kernel, or a Python function that computes with values, on
    the host.  It works under jit, grad, jvp, vmap and their combinations.

    dims, out  of a kernel: the grid, and the names of the parameters that it writes, as for torch_op
    results    how many results a Python function gives; 1 without it

    Shapes of results are found by running the function once on ones, for each combination of shapes."""
    import jax
    f, parameters = of_script(function, dims, out)
    if results is None:
        results = len(out) if isinstance(out, (dict, tuple, list)) else 1 if out else getattr(function, "_results", 1)
    op = Operator(f, results)
    call_p, _ = _primitives()

    def called(*args):
        if len(args) != len(parameters):
            args += tuple(p.default for p in parameters[len(args):])
        if len(args) != len(parameters) or any(a is p.empty for a, p in zip(args, parameters)):
            raise TypeError("%s takes %d arguments (%s), got %d" % (f.name, len(parameters),
                                                                    ", ".join(p.name for p in parameters), len(args)))
        y = call_p.bind(*map(jax.numpy.asarray, args), op=op)
        return tuple(y) if results > 1 else y[0]
    called.__name__ = f.name
    called.__doc__ = getattr(function, "__doc__", None)
    return called
