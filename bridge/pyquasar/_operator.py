"""Shared code of torch_op and jax_op: a function of arrays with a fixed list of parameters, and its derivatives, which
are functions of the same form.  So higher derivatives need no further code."""
import functools

from . import _grad


class Function:
    """f(*arguments) returns a value or a tuple of values.

    parameters  (type, name) of each: "Tensor", "float", "int" or "bool"
    name        for messages
    fills       f(*arguments, made=arrays) writes its results into these zeroed arrays instead of creating arrays
    of_values   whether it computes with values of the language; False: with tensors"""
    of_values = True

    def __init__(self, f, parameters, name):
        self.f, self.parameters, self.name = f, parameters, name
        self.fills = getattr(f, "fills", False)
        self._derived = {}

    def __call__(self, *args):
        return self.f(*args)

    def tensors(self):
        return [k for k, (kind, _) in enumerate(self.parameters) if kind == "Tensor"]

    def reverse(self, which, results):
        """Returns the function of the arguments and the adjoints of all results that computes the adjoints of the
        arguments `which`, as a tuple."""
        n = len(self.parameters)

        def adjoints(*given):
            args, dy = given[:n], given[n:]
            y, pullback = self._once_more(_grad.vjp, self.f, *args)
            dx = pullback(dy if isinstance(y, tuple) else dy[0])
            return tuple(args[k]*0 if dx[k] is None else dx[k] for k in which)
        names = [("Tensor", "d%d_%d" % (len(self.parameters), i)) for i in range(results)]  # unique in nested adjoints
        return self._derive(("reverse", which), adjoints, names)

    def forward(self, which):
        """Returns the function of the arguments and the tangents of the arguments `which` that computes the tangents of
        the results."""
        n = len(self.parameters)

        def tangents(*given):
            args, dx = given[:n], [None]*n
            for k, t in zip(which, given[n:]):
                dx[k] = t
            return self._once_more(_grad.jvp, self.f, args, dx)[1]
        return self._derive(("forward", which), tangents, [("Tensor", "t%d_%d" % (n, k)) for k in which])

    def _once_more(self, derivative, *args):
        """Runs the function again.  Rejects a function that draws random numbers, because it would compute something
        else."""
        r, drew = _grad._q()._bridge._drawing(derivative, args)
        if drew:
            raise ValueError("%s draws random numbers: its derivative, for which it runs once more here, would be that "
                             "of others; give it the numbers as an argument" % self.name)
        return r

    def _derive(self, key, f, more):
        if key not in self._derived:
            self._derived[key] = Function(f, self.parameters + more, self.name + "_" + key[0])
        return self._derived[key]


def of_script(function, dims=None, out=None):
    """Makes a Function of a script function, a kernel with its grid and outputs, or a Python callable."""
    import inspect
    if not callable(function):
        raise TypeError("an operator is made of a function or a kernel, got %r" % (function,))
    kinds = {"scalar": "float", "int": "int", "bool": "bool", float: "float", int: "int", bool: "bool"}
    parameters = list(inspect.signature(function).parameters.values())
    name = getattr(function, "__name__", "function")
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise TypeError("%s: an operator has a fixed list of arguments, and %s is the built-in function of this name, "
                        "or takes any number of them; make a function with a list of its own" % (name, name))
    if out is not None or dims is not None or getattr(function, "_is_kernel", False):
        function, parameters = _launch(function, parameters, dims, out, name)
    return Function(function, [(kinds.get(p.annotation, "Tensor"), p.name) for p in parameters], name), parameters


def number_of_results(function, out, results):
    if results is None:
        return len(out) if isinstance(out, (dict, tuple, list)) else 1 if out else getattr(function, "_results", 1)
    if not isinstance(results, int) or results < 1:
        raise TypeError("results must be how many results there are, got %r" % (results,))
    return results


def _launch(kernel, parameters, dims, out, name):
    """Makes a function of a kernel: the outputs are created and returned as results.

    out   names of the parameters that the kernel writes: "y", ("y", "z"), or {"y": shape} with the shape or a function
          of the other arguments; without a shape, the shape of the first array
    dims  the grid, or a function of the arguments; None: the shape of the first output"""
    import pyquasar as q
    if not isinstance(out, (dict, str, tuple, list, type(None))):
        raise TypeError("%s: out must be names of parameters, got %r" % (name, out))
    shapes = dict(out) if isinstance(out, dict) else dict.fromkeys((out,) if isinstance(out, str) else tuple(out or ()))
    known = [p.name for p in parameters]
    if not shapes:
        raise TypeError("%s is a kernel: out= names what it writes" % name)
    for wrong in (n for n in shapes if n not in known):
        raise TypeError("%s: out names %s, which is no parameter; there are %s" % (name, wrong, ", ".join(known)))
    inputs = [p for p in parameters if p.name not in shapes]
    if not inputs and None in shapes.values():
        raise TypeError("%s: out names all parameters, and outputs are no arguments: they begin as zeros; a kernel "
                        "that updates an array takes it as one parameter, and writes into another" % name)

    def run(*args, made=None):
        made = make(args) if made is None else fitting(args, made)
        given = dict(zip((p.name for p in inputs), args))
        grid = dims(*args) if callable(dims) else dims
        grid = tuple(next(iter(made.values())).shape) if grid is None else grid
        q.parallel_do(grid, *[made[n] if n in made else given[n] for n in known], kernel)
        return tuple(made.values()) if len(made) > 1 else next(iter(made.values()))

    def fitting(args, made):
        for (n, shape), r in zip(shapes.items(), made):
            wanted = tuple(shape(*args)) if callable(shape) else tuple(r.shape)
            if wanted != tuple(r.shape):
                raise ValueError("%s: %s has the shape %s for these arguments, and was made with %s: it may depend on "
                                 "the shapes of arguments, not on their values" % (name, n, wanted, tuple(r.shape)))
        return dict(zip(shapes, made))

    def make(args):
        arrays = [x for x in args if len(getattr(x, "shape", ()))]
        first = next((x for x in arrays if "float" in str(x.dtype) or "complex" in str(x.dtype)), None)
        made = {}
        for n, shape in shapes.items():
            shape = shape(*args) if callable(shape) else shape
            if shape is None and first is None:
                came = ", ".join("%s is %s" % (p.name, _told(x)) for p, x in zip(inputs, args))
                raise TypeError("%s: %s gets its shape and elements from the first array of floats or complex numbers "
                                "among the arguments, and there is none: %s; out={'%s': shape} tells its shape" %
                                (name, n, came or "no arguments came", n))
            made[n] = q.zeros_like(first, tuple(first.shape if shape is None else shape)) if first is not None else (
                q.zeros(tuple(shape)))
        return made
    run.fills = True
    return run, inputs


def _told(x):
    """Describes an argument in messages."""
    if not hasattr(x, "dtype"):
        return "None" if x is None else "a number" if isinstance(x, (int, float, complex)) else type(x).__name__
    kind = str(x.dtype).rpartition(".")[2]
    return "an array of %s of shape %s" % (kind, tuple(x.shape)) if len(x.shape) else "one number of %s" % kind


def results_of(y):
    return y if isinstance(y, tuple) else (y,)


def all_arguments(name, parameters, args, names):
    """Returns positional arguments, named arguments and defaults in the order of the parameters."""
    full = list(args)
    for p in parameters[len(args):]:
        if p.name not in names and p.default is p.empty:
            raise TypeError("%s: argument %s is missing" % (name, p.name))
        full.append(names.pop(p.name, p.default))
    if names or len(full) > len(parameters):
        known = [p.name for p in parameters]
        got = ["%s twice" % n if n in known else n for n in names] or ["%d" % len(args)]
        raise TypeError("%s takes %d arguments (%s), got %s" % (name, len(known), ", ".join(known), ", ".join(got)))
    return full


def type_of_numbers(args, is_smooth, promote, single, double):
    """Returns the type of a scalar result, which the language does not define: the widest type of the floating-point
    arguments with dimensions, else of those without; for integers, the type with which the language computes arrays."""
    smooth = [a for a in args if is_smooth(a)]
    widest = [a.dtype for a in smooth if a.ndim] or [a.dtype for a in smooth]
    if widest:
        return functools.reduce(promote, widest)
    return double if any(a.dtype.itemsize > 2 for a in args) else single


def found_by_running(run, library, arguments, name):
    """Runs a function on arrays of ones like the arguments, (shape, type) each, or numbers.  If that fails, as the
    inverse of a matrix does, runs it on numbers from 1 to 2 that ascend along all axes, with a dominant diagonal."""
    def made(numbers):
        return [numbers(library, *a) if isinstance(a, tuple) else a for a in arguments]
    try:
        return run(made(lambda library, shape, dtype: library.ones(shape, dtype=dtype)))
    except Exception as e:
        first = e
    try:
        return run(made(_uneven))
    except Exception:
        raise ValueError("%s: a run on ones, which finds the shapes of results, stops: %s; shape= tells them" %
                         (name, first)) from first


def _uneven(library, shape, dtype):
    x = library.ones(shape)
    if "float" not in str(dtype) and "complex" not in str(dtype):
        return library.ones(shape, dtype=dtype)
    for axis, n in enumerate(shape):
        rises = library.arange(n)/max(sum(shape), 1)
        x = x + rises.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    if len(shape) > 1 and min(shape[-2:]) > 1:
        x = x + 2*max(shape[-2:])*library.eye(*shape[-2:])
    return library.asarray(x, dtype=dtype)
