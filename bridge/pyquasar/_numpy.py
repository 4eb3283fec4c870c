"""Implements NumPy functions of arrays on which a derivative depends.

    np.sum(x), np.reshape(x, s) …        call a method of x and need no code here
    np.concatenate, np.roll, np.where …  only move elements: NumPy moves the indices of the elements instead, and
                                         x[places] is recorded
    np.dot, np.linalg.solve …            are implemented below with operators and functions of the language
    all others                           raise an error that suggests an alternative"""
import inspect
import math

from . import _grad

MOVING = {  # indices of the arguments that hold the elements
    **dict.fromkeys("concatenate stack vstack hstack dstack column_stack block atleast_1d atleast_2d atleast_3d roll "
                    "flip fliplr flipud rot90 tile repeat expand_dims broadcast_to moveaxis rollaxis take delete pad "
                    "tril triu diag diagflat split array_split hsplit vsplit resize take_along_axis".split(), (0,)),
    "where": (1, 2), "append": (0, 1), "insert": (0, 2), "select": (1, 2), "compress": (1,), "extract": (1,),
}
CONSTANT = ("zeros_like", "ones_like", "full_like", "empty_like")  # they use only the shape of the first argument
CHANGING = {"dtype", "out", "casting", "constant_values", "reflect_type"}  # with these they do not only move elements
PADDING = ("constant", "edge", "reflect", "symmetric", "wrap")
INSTEAD = {  # alternatives that have a derivative
    "einsum": "x @ y, and (x*y).sum(axis)", "tensordot": "x @ y", "kron": "x[:, None, :, None]*y[None, :, None, :]",
    "convolve": "q.conv(x, y)", "interp": "q.interp1(x, y, at)", "median": "q.median(x)", "linalg.qr": "q.qr(A)",
    "linalg.cholesky": "q.chol(A)", "linalg.svd": "q.svd(A)", "linalg.eigh": "q.symeig(A)", "linalg.eig": "q.eig(A)",
    "linalg.pinv": "q.pinv(A)", "linalg.lstsq": "q.solve(A, b)", "linalg.slogdet": "q.logdet(A)",
    "fft.fft": "q.fft1(x)", "fft.ifft": "q.ifft1(x)", "fft.fft2": "q.fft2(x)", "fft.ifft2": "q.ifft2(x)",
    "linalg.cond": "q.cond(A)", "quantile": "q.quantile(x, p)", "percentile": "q.quantile(x, p/100)",
}


class NoDerivative(TypeError):
    """A NumPy function would read elements on which a derivative depends."""
    __module__ = "pyquasar"


def _q():
    import pyquasar
    return pyquasar


def is_recorded(x):
    return getattr(x, "_recorded", False) or (isinstance(x, (list, tuple)) and any(map(is_recorded, x)))


def _is_built_in(name):
    try:
        return bool(_q()._bridge._built_in(name))
    except Exception:
        return False


def refuse(name):
    instead = INSTEAD.get(name) or ("q.%s" % name if _is_built_in(name) else None)
    raise NoDerivative("numpy.%s has no derivative here; %s" % (name, instead + " has one" if instead else
                    "functions of the language have one, such as q.cat(0, x, y), operators as x @ y, and methods as "
                    "x.sum(); stop_gradient(x) counts as constant")) from None


def function(f, args, names):
    """Computes f(*args, **names) if a derivative depends on one of args."""
    name = ("%s.%s" % (f.__module__, f.__name__))[len("numpy."):]
    try:
        if name in OWN:
            return _own(OWN[name], *_by_place(f, args, names))
        if name in CONSTANT:
            return _constant(f, *args, **names)
        if name in MOVING:
            return _moved(f, MOVING[name], args, names)
        return f._implementation(*args, **names)
    except NoDerivative:
        refuse(name)


# -- elements that move ------------------------------------------------------------------------------------------------

class _Elements:
    """The elements of several arrays in a row, numbered from 1; number 0 stands for a zero."""

    def __init__(self):
        self.rows, self.n = [], 0

    def numbered(self, x):
        """Returns x with its elements replaced by their numbers."""
        import numpy
        if isinstance(x, (list, tuple)) and any(hasattr(v, "__len__") or is_recorded(v) for v in x):
            return [self.numbered(v) for v in x]
        x = x if hasattr(x, "_kind") or isinstance(x, (int, float, complex)) else _q().value(numpy.asarray(x))
        shape = tuple(getattr(x, "shape", ()))
        first, size = self.n + 1, getattr(x, "size", 1)
        self.rows.append(x.reshape(1, size) if shape else x)
        self.n += size
        return numpy.arange(first, first + size).reshape(shape)

    def at(self, places):
        import numpy
        if isinstance(places, (list, tuple)):
            return type(places)(map(self.at, places))
        zero = [0.0] if (places == 0).any() else []
        row = _grad.joined(1, zero + self.rows).reshape(-1)
        places = numpy.asarray(places) - (not zero)
        return row[places] if places.ndim else row[int(places)]


def _own(f, args, names):
    try:
        inspect.signature(f).bind(*args, **names)
    except TypeError:
        raise NoDerivative from None
    return f(*args, **names)


def _constant(f, x, *args, **names):
    if any(map(is_recorded, args)) or any(map(is_recorded, names.values())):
        raise NoDerivative
    return f._implementation(_plain(_q().stop_gradient(x)), *args, **names)


def _by_place(f, args, names):
    """Returns arguments for a NumPy function, with named arguments moved to their positions where possible."""
    try:
        bound = inspect.signature(f).bind(*args, **names)
    except ValueError:  # a C function, in some versions
        return args, names
    return bound.args, bound.kwargs


def _moved(f, which, args, names):
    changing = set(names) & CHANGING
    args, names = _by_place(f, args, names)
    if any(is_recorded(v) for k, v in enumerate(args) if k not in which) or any(map(is_recorded, names.values())):
        raise NoDerivative
    mode = names.get("mode", args[2] if f.__name__ == "pad" and len(args) > 2 else "constant")
    if changing or (f.__name__ == "pad" and mode not in PADDING):
        raise NoDerivative
    elements = _Elements()
    args = [elements.numbered(x) if k in which else _plain(x) for k, x in enumerate(args)]
    return elements.at(f._implementation(*args, **{name: _plain(x) for name, x in names.items()}))


def _plain(x):
    return x.to_py() if hasattr(x, "_kind") else type(x)(map(_plain, x)) if isinstance(x, (list, tuple)) else x


def _sorted(x, axis=-1, kind=None):
    import numpy
    values = numpy.asarray(_q().stop_gradient(x))
    elements = _Elements()
    numbers = elements.numbered(x)
    if axis is None:
        values, numbers, axis = values.ravel(), numbers.ravel(), 0
    return elements.at(numpy.take_along_axis(numbers, numpy.argsort(values, axis, kind=kind), axis))


# -- with operators ----------------------------------------------------------------------------------------------------

def _value(x):
    return x if hasattr(x, "_kind") else _q().value(x)


def _rank(x):
    return len(getattr(x, "shape", ()))


def _product(a, b):
    a, b = _value(a), _value(b)
    if not _rank(a) or not _rank(b):
        return a*b
    if max(_rank(a), _rank(b)) > 2:
        raise NoDerivative
    return a @ b


def _inner(a, b):
    b = _value(b)
    return _product(a, b.T if _rank(b) == 2 else b)


def _outer(a, b):
    return _value(a).reshape(-1, 1)*_value(b).reshape(1, -1)


def _norm(x, ord=None, axis=None, keepdims=False):
    q = _q()
    vector = _rank(x) == 1 or isinstance(axis, int)
    if vector and not keepdims and ord in (1, math.inf):
        size, along = _q().abs(x), axis if isinstance(axis, int) else 0
        return size.sum(axis=along) if ord == 1 else _largest("max")(size, along)
    if ord == "fro" and _rank(x) == 2 and axis is None or ord == 2 and vector:
        ord = None
    if ord is not None or keepdims and axis is None:
        raise NoDerivative
    if axis is None:
        return q.norm(x.reshape(-1))
    return q.sqrt((q.abs(x)**2).sum(axis=axis, keepdims=keepdims))


def _matrices(*all):
    if any(_rank(x) != 2 for x in all):
        raise NoDerivative


def _solve(a, b):
    a, b = _value(a), _value(b)
    _matrices(a, *([b] if _rank(b) != 1 else []))
    x = _q().solve(a, b.reshape(-1, 1) if _rank(b) == 1 else b)
    return x.reshape(-1) if _rank(b) == 1 else x


def _of_matrix(name):
    def f(a):
        _matrices(a)
        return getattr(_q(), name)(a)
    return f


def _differences(x, n=1, axis=-1):
    for _ in range(n):
        around = (slice(None),)*(axis % _rank(x))
        x = x[around + (slice(1, None),)] - x[around + (slice(None, -1),)]
    return x


def _largest(name):
    """Returns nan if there is one, as NumPy does; the method ignores nan."""
    def f(a, axis=None, out=None, keepdims=False):
        import numpy
        if out is not None:
            raise NoDerivative
        r = getattr(a, name)(axis=axis, keepdims=keepdims)
        holes = numpy.isnan(_plain(_q().stop_gradient(a))).any(axis, keepdims=keepdims)
        return _q().where(holes, math.nan, r) if holes.any() else r
    return f


def _trace(a):
    return _q().sum(_q().diag(a)) if _rank(a) == 2 and min(a.shape) > 1 else refuse("trace")


def _average(a, axis=None, weights=None):
    if weights is None:
        return a.mean() if axis is None else a.mean(axis=axis)
    if _grad._shape(weights) != _grad._shape(a):
        raise NoDerivative
    products, weights = a*_value(weights), _value(weights)
    return products.sum()/weights.sum() if axis is None else products.sum(axis=axis)/weights.sum(axis=axis)


def _trapezoid(y, x=None, dx=1.0):
    if _rank(y) != 1 or x is not None and _rank(x) != 1:
        raise NoDerivative
    widths = dx if x is None else _value(x)[1:] - _value(x)[:-1]
    return ((y[1:] + y[:-1])*widths).sum()/2


OWN = {"max": _largest("max"), "min": _largest("min"), "amax": _largest("max"), "amin": _largest("min"),
       "ptp": lambda a: _largest("max")(a) - _largest("min")(a), "ravel": lambda a: a.reshape(-1), "trace": _trace,
       "average": _average, "trapezoid": _trapezoid, "sort": _sorted, "dot": _product, "inner": _inner, "outer": _outer,
       "linalg.norm": _norm, "linalg.solve": _solve, "linalg.inv": _of_matrix("inv"),
       "linalg.det": _of_matrix("det"), "diff": _differences}


# -- functions of elements, which NumPy calls ufuncs -------------------------------------------------------------------

def _extreme(name):
    """Returns nan where one operand is nan, as NumPy does; the language returns the other operand."""
    def f(x, y):
        q = _q()
        r = getattr(q, name)(x, y)
        for v in (x, y):
            r = q.where(v != v, math.nan, r)
        return r
    return f


def _sum_of_powers(x, y):
    """Computes log(exp(x) + exp(y)) without overflow."""
    q = _q()
    return q.max(x, y) + q.log1p(q.exp(-q.abs(x - y)))


UFUNCS = {"fabs": lambda x: _q().abs(x), "logaddexp": _sum_of_powers, "square": lambda x: x*x,
          "reciprocal": lambda x: 1/x, "sign": lambda x: _q().sign(x), "maximum": _extreme("max"),
          "minimum": _extreme("min"), "fmax": lambda x, y: _q().max(x, y), "fmin": lambda x, y: _q().min(x, y),
          "deg2rad": lambda x: x*(math.pi/180), "rad2deg": lambda x: x*(180/math.pi)}
TRUTHS = ("isnan", "isfinite", "isinf", "signbit", "logical_and", "logical_or", "logical_not", "logical_xor")
