"""Makes functions and kernels primitives of JAX, with derivatives of any order.

    call_p   the function                      jvp: linear_p of the same arguments and their tangents
    linear_p its derivative along tangents     transpose: call_p of the function that computes adjoints (_operator.py)
                                               jvp: that of call_p of the derivative

On the CPU, XLA calls both through its foreign function interface, on its own memory (bridge/xla.c); if that is missing,
or on other platforms, through a host callback, which copies.  vmap runs the calls one after the other.  JAX does not
conjugate adjoints, but this package does.  So the adjoints that a function takes or returns are conjugated, and so are
tangents of such an argument or result."""
import functools, secrets, warnings, weakref

from ._grad import _q
from ._operator import all_arguments, found_by_running, number_of_results, of_script, results_of, type_of_numbers


# Calls by key, for XLA.  An operator keeps its calls alive, and so does each program that JAX has compiled with them.
# Keys are random, so that a program that XLA has cached on disk never finds the operator of a different process.
_calls = weakref.WeakValueDictionary()


class _Call:
    """An operator with the shapes and types of its arguments and results."""

    def __init__(self, op, given, wanted):
        self.op, self.given, self.wanted = op, given, wanted
        self.key = secrets.randbits(62)
        _calls[self.key] = self


def _called(key, args, results):
    """Computes a call from XLA: arguments are read-only memory, results are memory to write."""
    import numpy as np
    call = _calls.get(key)
    if call is None:
        raise RuntimeError("this operator was made by another process")
    args, results = ([np.ndarray(s.shape, s.dtype, v) for s, v in zip(shapes, memory)]
                     for shapes, memory in ((call.given, args), (call.wanted, results)))
    call.op.fill(args, results)


@functools.cache
def _ffi():
    """Returns JAX's FFI module, after registering the handler with XLA; None: this JAX has none."""
    try:
        from jax import ffi
    except ImportError:
        return None
    from . import _bridge
    ffi.register_ffi_target("quasar_call", _bridge._xla_handler(_called), platform="cpu")
    return ffi


@functools.cache
def _primitives():
    """Creates the primitives, once, when JAX is available."""
    import jax, numpy as np
    from jax import core
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
    call_p, linear_p = Primitive("quasar_call"), Primitive("quasar_derivative")
    call_p.multiple_results = linear_p.multiple_results = True

    def by_callback(*args, op, which=()):
        op = op.forward(which) if which else op
        return jax.pure_callback(op.run, op.imagine(args), *args)

    def by_ffi(*args, op, which=()):
        if not op.ffi:
            return by_callback(*args, op=op, which=which)
        op = op.forward(which) if which else op
        return _ffi().ffi_call("quasar_call", op.imagine(args))(*args, key=np.int64(op.call(args).key))

    def lower_ffi(context, *args, op, which=()):
        if op.ffi:
            called = op.forward(which) if which else op
            context.module_context.add_keepalive(called.call(context.avals_in))
        return mlir.lower_fun(by_ffi, multiple_results=True)(context, *args, op=op, which=which)

    def shapes(*args, op, which=()):
        return [core.ShapedArray(s.shape, s.dtype) for s in op.imagine(args[:len(op.function.parameters)])]

    def register(p):
        p.def_impl(lambda *args, op, **static: op.compiled(p, **static)(*args))
        p.def_abstract_eval(shapes)
        mlir.register_lowering(p, mlir.lower_fun(by_callback, multiple_results=True))
        if _ffi():
            mlir.register_lowering(p, lower_ffi, platform="cpu")
        batching.primitive_batchers[p] = functools.partial(batch, p)

    def batch(p, args, dims, **static):
        moved = [a if d is None else jax.numpy.moveaxis(a, d, 0) for a, d in zip(args, dims)]

        def one(rows):
            rows = iter(rows)
            return p.bind(*(a if d is None else next(rows) for a, d in zip(moved, dims)), **static)
        out = jax.lax.map(one, [a for a, d in zip(moved, dims) if d is not None])
        return out, [0]*len(out)

    def tangents(primals, given, op):
        which = tuple(k for k, t in enumerate(given) if not isinstance(t, ad.Zero) and _is_smooth(primals[k]))
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

    register(call_p)
    register(linear_p)
    ad.primitive_jvps[call_p], ad.primitive_jvps[linear_p] = call_jvp, linear_jvp
    ad.primitive_transposes[linear_p] = transpose
    return call_p, linear_p


def _is_smooth(x):
    return x.dtype.kind in "fcV"  # V: bfloat16


def _type_of_numbers(arrays):
    import numpy as np
    return type_of_numbers(arrays, _is_smooth, np.promote_types, np.dtype("float32"), np.dtype("float64"))


def _complex_if(yes, kind):
    import numpy as np
    return np.promote_types(kind, "complex64") if yes else kind


class Operator:
    def __init__(self, function, results, shape, ffi, conj_in=frozenset(), conj_out=frozenset()):
        """shape: a function from descriptions of the arguments to a list of descriptions of the results; None: found by
        a run.  conj_in, conj_out: indices of arguments and results of which JAX has the conjugates."""
        self.function, self.results, self.ffi = function, results, ffi
        self.conj_in, self.conj_out = conj_in, conj_out
        self.derived, self.imagined, self.calls = {}, {}, {}
        self.shape, self.fills = shape, function.fills and shape is None
        self.checks = False  # whether to check results against shape

    def value(self, k, x, loans):
        """Converts a NumPy array to an argument of the function: a number if declared so, else the memory of the array,
        borrowed for the call."""
        kind = self.function.parameters[k][0]
        if kind != "Tensor":
            return {"float": float, "int": int, "bool": bool}[kind](x)
        if not x.ndim:
            return x.item()
        value, loan = _q()._bridge._lent_until(x)
        loans.append(loan)
        return value

    def apply(self, args, use, **more):
        """Calls the function and returns use(results).  Arguments that are still referenced afterwards are copied."""
        loans = []
        try:
            return use(self.function.f(*[self.value(k, x, loans) for k, x in enumerate(args)], **more))
        finally:
            _q()._bridge._take_back(loans)

    def run(self, *args):
        import numpy as np
        args = [np.asarray(a) for a in args]
        args = [a.conj() if k in self.conj_in else a for k, a in enumerate(args)]
        shapes = self.imagine(args)

        def fitting(r):
            r = self.all_results(r)
            for i, (x, s) in enumerate(zip(r, shapes)):
                _check(self.function.name, i, x, s, self.checks)
            r = [np.asarray(x, dtype=s.dtype).reshape(s.shape) for x, s in zip(r, shapes)]
            return [x.conj() if i in self.conj_out else x for i, x in enumerate(r)]
        return self.apply(args, fitting)

    def fill(self, args, results):
        import numpy as np
        if self.fills:
            for r in results:
                r.fill(0)
            self.apply(args, lambda r: None, made=results)
        else:
            for to, r in zip(results, self.run(*args)):
                np.copyto(to, r)

    @staticmethod
    def shapes_of(args):
        return tuple((tuple(a.shape), str(a.dtype)) for a in args)

    def call(self, args):
        """Returns the _Call for arguments of these shapes."""
        import jax
        shapes = self.shapes_of(args)
        if shapes not in self.calls:
            given = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args]
            self.calls[shapes] = _Call(self, given, self.imagine(args))
        return self.calls[shapes]

    def compiled(self, p, **static):
        import jax
        how = (p, *static.values())
        if how not in self.derived:
            self.derived[how] = jax.jit(functools.partial(p.bind, op=self, **static))
        return self.derived[how]

    def all_results(self, r):
        r = results_of(r)
        if len(r) != self.results:
            raise TypeError("%s gives %d results, got %d" % (self.function.name, self.results, len(r)))
        return r

    def imagine(self, args):
        """Returns the shapes and types of the results, cached by the shapes of the arguments."""
        import jax
        key = self.shapes_of(args)
        if key not in self.imagined:
            like = [jax.ShapeDtypeStruct(*a) for a in key]
            self.imagined[key] = self.found(like) if self.shape is None else self.shape(*like)
        return self.imagined[key]

    def found(self, like):
        import jax, numpy as np
        r = found_by_running(lambda args: self.apply(args, self.all_results), np, [(a.shape, a.dtype) for a in like],
                             self.function.name)
        kind = _type_of_numbers(like)
        kinds = [np.dtype(x.dtype) if hasattr(x, "dtype") else _complex_if(isinstance(x, complex), kind) for x in r]
        self.fills = self.fills and all(jax.dtypes.canonicalize_dtype(d) == d for d in kinds)
        return [jax.ShapeDtypeStruct(tuple(getattr(x, "shape", ())), jax.dtypes.canonicalize_dtype(d))
                for x, d in zip(r, kinds)]

    def reverse(self, which):
        """A value that JAX has conjugated has the same adjoint in JAX as here."""
        if ("reverse", which) not in self.derived:
            n = len(self.function.parameters)
            adjoints = {n + i for i in range(self.results) if i not in self.conj_out}
            gradients = {i for i, k in enumerate(which) if k not in self.conj_in}
            self.derived["reverse", which] = Operator(
                self.function.reverse(which, self.results), len(which), lambda *args: [args[k] for k in which],
                self.ffi, self.conj_in | adjoints, gradients)
        return self.derived["reverse", which]

    def forward(self, which):
        """A tangent is conjugated like its primal."""
        if ("forward", which) not in self.derived:
            n = len(self.function.parameters)
            tangents = {n + i for i, k in enumerate(which) if k in self.conj_in}
            self.derived["forward", which] = Operator(
                self.function.forward(which), self.results, lambda *args: self.imagine(args[:n]), self.ffi,
                self.conj_in | tangents, self.conj_out)
        return self.derived["forward", which]


def _choose(ffi):
    if ffi is None and not _ffi():
        warnings.warn("jax_op: this JAX has no jax.ffi; its calls come by a callback, and are copied", stacklevel=3)
    if ffi and not _ffi():
        raise RuntimeError("jax_op: ffi=True wants a JAX with jax.ffi (0.5 or newer)")
    return bool(_ffi()) if ffi is None else bool(ffi)


def _told(name, shape, results):
    """Returns a function that checks the shapes given by the user."""
    import jax
    if not callable(shape):
        raise TypeError("jax_op: shape must be a function, got %r" % (shape,))

    def like(*args):
        r = results_of(shape(*args))
        if len(r) != results or not all(hasattr(x, "shape") and hasattr(x, "dtype") for x in r):
            raise TypeError("%s: shape= must give an array or a jax.ShapeDtypeStruct like each result, of which there "
                            "are %d; got %r" % (name, results, r))
        return [jax.ShapeDtypeStruct(tuple(x.shape), jax.dtypes.canonicalize_dtype(x.dtype)) for x in r]
    return like


def _check(name, i, x, told, exactly):
    """Checks that a result matches shape=, or that it is not complex where a real result was found."""
    import jax, numpy as np
    if not exactly and np.iscomplexobj(x) and told.dtype.kind != "c":
        raise TypeError("%s: result %d is complex, and was real when shapes were found; shape= tells types" % (name, i))
    if not exactly:
        return
    shape, number = tuple(getattr(x, "shape", ())), not hasattr(x, "dtype")
    kind = None if number else jax.dtypes.canonicalize_dtype(np.dtype(x.dtype))
    if shape != told.shape or (not np.can_cast(type(x), told.dtype, "same_kind") if number else
                                not np.can_cast(kind, told.dtype)):
        raise TypeError("%s: shape= tells %s of shape %s for result %d, and it is %s of shape %s" %
                        (name, told.dtype, told.shape, i, kind or type(x).__name__, shape))


def jax_op(function, dims=None, out=None, results=None, ffi=None, shape=None):
    """Returns a JAX function that calls a script function, a kernel, or a Python function that computes with values, on
    the host.  It works under jit, grad, jvp, vmap and their combinations.

    dims, out  for a kernel: the grid, and the names of the parameters that it writes, as for torch_op
    results    number of results of a Python function; default 1
    shape      shape(*arguments): takes descriptions of the arguments (jax.ShapeDtypeStruct) and returns that of the
               result, or a tuple for several results; by default the function runs once on ones, or on uneven numbers
               if that fails, for each combination of shapes
    ffi        True: use XLA's foreign function interface, on the memory of JAX; False: a host callback, which copies;
               None: the interface if this JAX has it, otherwise a callback and a warning.  Platforms other than the CPU
               always use a callback"""
    import jax
    f, parameters = of_script(function, dims, out)
    results = number_of_results(function, out, results)
    op = Operator(f, results, None if shape is None else _told(f.name, shape, results), _choose(ffi))
    op.checks = shape is not None
    call_p, _ = _primitives()

    def fitted(r, args):
        """Prevents a Python number, which is exact, from widening a scalar result computed from arrays."""
        own = [a for a in args if not a.weak_type]
        if r.ndim or not _is_smooth(r) or len(own) == len(args) or not any(map(_is_smooth, own)):
            return r
        return r.astype(_complex_if(r.dtype.kind == "c", _type_of_numbers(own)))

    class operator:
        __doc__, __name__ = getattr(function, "__doc__", None), f.name

        def __call__(self, *args, **names):
            args = tuple(map(jax.numpy.asarray, all_arguments(f.name, parameters, args, names)))
            for p, x in zip(parameters, args):
                if x.dtype.kind == "V":  # bfloat16 and smaller floats, whose memory NumPy cannot describe
                    raise TypeError("%s: argument %s is an array of %s; x.astype(jax.numpy.float32) is one that "
                                    "operators take" % (f.name, p.name, x.dtype))
            y = [fitted(r, args) for r in call_p.bind(*args, op=op)]
            return tuple(y) if results > 1 else y[0]

        def __reduce__(self):  # created again when unpickled
            return jax_op, (function, dims, out, results, ffi, shape)
    return operator()
