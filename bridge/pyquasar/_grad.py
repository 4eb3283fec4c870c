"""Derivatives, with the names and conventions of JAX: of functions of scripts, and of Python functions that compute
with values.  Two functions of the bridge do the work: _record runs a function with a record of what it computes, _sweep
goes through the record, back from its results or forward from its arguments.

Complex numbers are as in torch: the gradient of a real loss points where the loss grows most, dL/dRe + i dL/dIm."""
import array, functools, math


def _q():
    import pyquasar
    return pyquasar


def _numbers(argnums, n, what):
    """argnums as a tuple of places among n arguments."""
    several = isinstance(argnums, (tuple, list))
    places = tuple(argnums) if several else (argnums,)
    for k in places:
        if not -n <= k < n:
            raise TypeError("%s: argnums must be places among %d arguments, got %r" % (what, n, argnums))
    return tuple(k % n for k in places), several


def _function(what, f):
    """Said at once, and not when the function that is made of it is called."""
    if not callable(f):
        raise TypeError("%s: f must be a function, got %s" % (what, type(f).__name__))
    return f


def _places(what, argnums):
    for k in argnums if isinstance(argnums, (tuple, list)) else (argnums,):
        if not isinstance(k, int):
            raise TypeError("%s: argnums must be places of arguments, whole numbers, got %r" % (what, argnums))


def _arguments(what, args, name="args"):
    if not isinstance(args, (tuple, list)):
        raise TypeError("%s: %s must be a tuple, with an element for each argument of f, got %s" %
                        (what, name, type(args).__name__))
    return args


def _name(f):
    return getattr(f, "__name__", None) or type(f).__name__


def _value(x):
    """An argument as a value of the language: memory of others and lists of numbers as arrays, a tensor without
    dimensions as a number."""
    if hasattr(x, "shape") and not hasattr(x, "_kind"):
        return _q().value(x) if len(x.shape) else x.item()
    return _q().value(x) if isinstance(x, (list, tuple)) and _is_smooth(x) else x


def _record(f, args, chosen):
    return _q()._bridge._record(f, args, tuple(chosen))


def _tuple(y):
    return y if isinstance(y, tuple) else (y,)


# -- arguments that hold several numbers and arrays --------------------------------------------------------------------
# dicts, lists and tuples, objects and cells of the language, in each other: derivatives are taken to the leaves of such
# a tree, and have its form, with None in the place of what has none.

def _is_numbers(x):
    """Whether a list is one array."""
    return isinstance(x, (int, float, complex)) or (isinstance(x, (list, tuple)) and all(map(_is_numbers, x)))


def _parts(x):
    """What a tree holds, and a function that makes the same form of others; of a leaf, None."""
    from . import _values
    kind = getattr(x, "_kind", None)
    if isinstance(x, dict):
        return list(x.values()), lambda parts: dict(zip(x, parts))
    if isinstance(x, (list, tuple)) and not _is_numbers(x):
        return list(x), type(x)._make if hasattr(type(x), "_make") else tuple if isinstance(x, tuple) else list
    if kind == "object" and x.typename == "object":
        names = [name for name, _ in x._fields()]
        return [v for _, v in x._fields()], lambda parts: _values._make_object("object", zip(names, parts))
    if kind == "cell":
        return _values._items(x), lambda parts: _values._make_cell("cell", x.shape, parts)
    return None, None


def _split(x):
    """The leaves of x, and a function that takes others from an iterator and gives the same form."""
    parts, form = _parts(x)
    if form is None:
        return [x], next
    split = [_split(part) for part in parts]
    return [v for leaves, _ in split for v in leaves], lambda rest: form([build(rest) for _, build in split])


class _Taken:
    """A call f(*args) as one of the leaves of its arguments.  Of the chosen arguments those leaves are chosen that are
    floats or complex numbers, and each that is an argument itself, which must be one."""

    def __init__(self, f, args, chosen, names={}):
        self.f, self.names, self.chosen, self.__name__ = f, names, chosen, _name(f)
        split = [_split(x) if k in chosen else ([x], next) for k, x in enumerate(args)]
        self.builds = [build for _, build in split]
        self.leaves, of = [], []
        for leaves, build in split:
            first, leaves = len(self.leaves), [_value(v) for v in leaves]
            self.leaves += leaves
            of.append([first + i if build is next or _is_smooth(v) else None for i, v in enumerate(leaves)])
        self.places = [of[k] for k in chosen]  # of their leaves; None: it has no derivative
        self.wanted = [i for places in self.places for i in places if i is not None]

    def __call__(self, *leaves):
        rest = iter(leaves)
        return self.f(*[build(rest) for build in self.builds], **self.names)

    def record(self):
        return _record(self, tuple(self.leaves), self.wanted)

    def formed(self, found):
        """Derivatives by the wanted leaves, as a tuple with one for each chosen argument, of its form."""
        found = iter(found)
        return tuple(self.builds[k](iter([None if i is None else next(found) for i in places]))
                     for k, places in zip(self.chosen, self.places))

    def along(self, what, tangents):
        """Tangents of the chosen arguments, as those of the wanted leaves."""
        out = []
        for k, t, places in zip(self.chosen, tangents, self.places):
            leaves, _ = _split(t) if self.builds[k] is not next else ([t], next)
            if len(leaves) != len(places):
                raise TypeError("%s: tangent %d must have the form of its argument, with %d leaves, got %d" %
                                (what, k, len(places), len(leaves)))
            out += [v for v, i in zip(leaves, places) if i is not None]
        return tuple(out)


def _one(y, what, f):
    """The adjoint of a result that must be one real number."""
    size = getattr(y, "size", 1)
    if isinstance(y, tuple) or size != 1 or isinstance(y, complex) or "complex" in str(getattr(y, "dtype", "")):
        shape = "%d results" % len(y) if isinstance(y, tuple) else getattr(y, "shape", type(y).__name__)
        raise TypeError("%s: %s must give one real number, got %s; of several there is jacobian, or vjp" %
                        (what, _name(f), shape))
    return 1.0 if not hasattr(y, "shape") or y.shape == () else _q().ones_like(y)


def value_and_grad(f, argnums=0):
    """A function like f, which gives (f(*args), gradient).  The gradient has the shape of argument argnums; of several
    arguments, argnums=(0, 2), it is a tuple.  An argument may be a dict, list or tuple of arrays, or an object or cell
    of the language: the gradient has its form, with None in the place of what is no float."""
    _function("value_and_grad", f), _places("value_and_grad", argnums)

    @functools.wraps(f, updated=())
    def value_and_gradient(*args, **names):
        chosen, several = _numbers(argnums, len(args), "grad")
        taken = _Taken(f, args, chosen, names)
        if not taken.wanted:
            raise TypeError("grad: there is no float among the arguments")
        y, record = taken.record()
        dx = taken.formed(_q()._bridge._sweep(record, False, (_one(y, "grad", f),)))
        return y, dx if several else dx[0]
    return value_and_gradient


def grad(f, argnums=0):
    """A function like f, which gives the gradient of f's result, one real number, with respect to argument argnums."""
    _function("grad", f), _places("grad", argnums)
    both = value_and_grad(f, argnums)

    @functools.wraps(f, updated=())
    def gradient(*args, **names):
        return both(*args, **names)[1]
    return gradient


def vjp(f, *args):
    """(y, pullback) of y = f(*args).  pullback(adjoint) gives a tuple, an adjoint for each argument, of its form; where
    f gives a tuple, it takes one.  It may be called as often as wanted.  None stands for zero, and for what has no
    derivative (a whole number, a string)."""
    _function("vjp", f)
    taken = _Taken(f, args, tuple(k for k, x in enumerate(args) if _parts(x)[1] or _is_smooth(_value(x))))
    given = [v for x, build in zip(args, taken.builds) for v in ([x] if build is next else _split(x)[0])]
    # copies of memory of others, who may change it before the pullback is called
    taken.leaves = [v.copy() if v is not x and _shape(v) else v for v, x in zip(taken.leaves, given)]
    y, record = taken.record()

    def pullback(adjoint):
        found = iter(taken.formed(_back(f, y, record, adjoint)))
        return tuple(next(found) if k in taken.chosen else None for k in range(len(args)))
    return y, pullback


def _back(f, y, record, adjoint):
    given = adjoint if isinstance(y, tuple) else (adjoint,)
    if not isinstance(given, tuple):
        raise TypeError("the pullback of %s takes a tuple of %d adjoints, got %s" %
                        (_name(f), len(y), type(given).__name__))
    return _q()._bridge._sweep(record, False, given)


def recorded(f, args, chosen):
    """vjp of the arguments `chosen`, without copies: whoever owns memory of the arguments must leave it as it is."""
    y, record = _record(f, args, chosen)

    def pullback(adjoint):
        found = iter(_back(f, y, record, adjoint))
        return tuple(next(found) if k in chosen else None for k in range(len(args)))
    return y, pullback


def jvp(f, args, tangents):
    """(y, dy): f(*args), and its derivative along the tangents, a tuple with one for each argument (None: zero)."""
    _function("jvp", f)
    args, tangents = tuple(_arguments("jvp", args)), tuple(_arguments("jvp", tangents, "tangents"))
    if len(args) != len(tangents):
        raise TypeError("jvp: %d arguments, but %d tangents" % (len(args), len(tangents)))
    chosen = tuple(k for k, t in enumerate(tangents) if t is not None)
    taken = _Taken(f, args, chosen)
    y, record = taken.record()
    dy = _q()._bridge._sweep(record, True, taken.along("jvp", tuple(tangents[k] for k in chosen)))
    dy = tuple(_zero(v) if d is None else d for d, v in zip(dy, _tuple(y)))
    return y, dy if isinstance(y, tuple) else dy[0]


def jacobian(f, argnums=0):
    """A function like f, which gives all derivatives of its result: an array of the shape of the result followed by
    that of the argument.  As many sweeps as the smaller of the two has elements."""
    _function("jacobian", f), _places("jacobian", argnums)

    @functools.wraps(f, updated=())
    def all_derivatives(*args, **names):
        args, (chosen, several) = tuple(map(_value, args)), _numbers(argnums, len(args), "jacobian")
        y, record = _record(functools.partial(f, **names) if names else f, args, chosen)
        if isinstance(y, tuple):
            raise TypeError("jacobian: %s gives %d results, and must give one" % (_name(f), len(y)))
        found = tuple(_all(record, y, args[k], i, len(chosen)) for i, k in enumerate(chosen))
        return found if several else found[0]
    return all_derivatives


def _shape(x):
    return tuple(getattr(x, "shape", ()))


def _filled(x, numbers):
    """A constant of the shape and type of x, a number or an array of floats, with these elements."""
    if not _shape(x):
        return numbers[0]
    wide = _q()._bridge._array("float64", _shape(x), array.array("d", numbers).tobytes())
    return wide if str(x.dtype) == "float64" else wide.astype(str(x.dtype))


def _wide(x):
    return x.astype("complex128" if "complex" in str(x.dtype) else "float64", copy=False) if (
        _shape(x) and _is_smooth(x)) else x


def _zero(x):
    return _filled(x, [0.0]*getattr(x, "size", 1))


def _uneven(x):
    """Weights without a pattern that a derivative could have; the program's random numbers stay what they are."""
    return _filled(x, [1.2 + math.sin(1.7*k*k) for k in range(1, getattr(x, "size", 1) + 1)])


def _units(x):
    """For each element of x, an array of its shape that is 1 there and 0 elsewhere; of a number, 1."""
    n = getattr(x, "size", 1)
    for i in range(n):
        yield _filled(x, [0.0]*i + [1.0] + [0.0]*(n - 1 - i))


def _all(record, y, x, i, n):
    """dy/dx of the i-th of n arguments, from a sweep for each element of y, or of x where it has fewer."""
    sweep = _q()._bridge._sweep
    if getattr(y, "size", 1) <= getattr(x, "size", 1):
        rows = [sweep(record, False, (unit,))[i] for unit in _units(y)]
        return _stacked(rows).reshape(_shape(y) + _shape(x)) if _shape(y) or _shape(x) else rows[0]
    columns = [sweep(record, True, tuple(unit if k == i else None for k in range(n)))[0] for unit in _units(x)]
    columns = [_zero(y) if c is None else c for c in columns]
    whole = _stacked(columns).reshape(_shape(x) + _shape(y))
    outer, inner = len(_shape(x)), len(_shape(y))
    return whole.transpose(tuple(range(outer, outer + inner)) + tuple(range(outer)))


def _stacked(parts):
    """Arrays of one shape, or numbers, one after the other along a new first dimension."""
    q = _q()
    if all(isinstance(p, float) for p in parts):
        return q._bridge._array("float64", (len(parts),), array.array("d", parts).tobytes())
    return q.cat(0, *[p.reshape((1,) + p.shape) if _shape(p) else p for p in parts])


def hessian(f, argnums=0):
    """A function like f, whose result is one real number, which gives its second derivatives."""
    return jacobian(grad(_function("hessian", f), argnums), argnums)


def hvp(f, args, vectors):
    """The Hessian of f, whose result is one real number, times a vector: a tuple with the shapes of the arguments.  The
    Hessian is never made."""
    places = tuple(range(len(_arguments("hvp", args))))
    vectors = _arguments("hvp", vectors, "vectors")
    if len(vectors) != len(places):
        raise TypeError("hvp: %d arguments, but %d vectors" % (len(places), len(vectors)))
    taken = _Taken(_function("hvp", f), args, places)
    gradient = _Taken(lambda *leaves: grad(taken, tuple(taken.wanted))(*leaves), taken.leaves, tuple(taken.wanted))
    record = gradient.record()[1]
    found = _q()._bridge._sweep(record, True, taken.along("hvp", vectors))
    return taken.formed(_zero(taken.leaves[i]) if d is None else d for i, d in zip(taken.wanted, found))


def stop_gradient(x):
    """x as a constant: no derivative goes through it."""
    return _q()._bridge._built_in("stop_gradient")(x)


def checkpoint(f):
    """A function like f, of which a record keeps the arguments alone: it runs again when the sweep comes to it."""
    return _q()._bridge._built_in("checkpoint")(_function("checkpoint", f))


def gradcheck(f, *args, rtol=1e-5, atol=1e-7):
    """Compares the derivatives of f, back and forward, with central differences along random directions; ValueError
    tells the first that differs.  All in float64, since in float32 differences are too coarse."""
    f = _Taken(_function("gradcheck", f), args, range(len(args)))
    args = tuple(map(_wide, f.leaves))
    y, pullback = vjp(f, *args)
    several = isinstance(y, tuple)
    for n, u in enumerate(_tuple(y)):
        adjoint = _uneven(u)
        back = pullback(tuple(adjoint if i == n else None for i in range(len(y))) if several else adjoint)
        for k, dx in enumerate(back):
            if dx is not None:
                _compare(f, args, k, dx, n, adjoint, rtol, atol)
    return True


def _compare(f, args, k, dx, n, adjoint, rtol, atol):
    q, v = _q(), _uneven(args[k])
    h = 6e-6*max(1.0, float(q.max(q.abs(args[k]))))

    def along(x):
        return _dot(q, adjoint, _tuple(f(*args[:k], x, *args[k + 1:]))[n])
    by_differences = (along(args[k] + v*h) - along(args[k] - v*h))/(2*h)
    dy = _tuple(jvp(f, args, tuple(v if i == k else None for i in range(len(args))))[1])[n]
    for way, got in (("back", _dot(q, dx, v)), ("forward", _dot(q, adjoint, dy))):
        if not abs(by_differences - got) <= atol + rtol*max(abs(by_differences), abs(got)):
            raise ValueError("gradcheck: %s: along argument %d differences give %.9g, the sweep %s gives %.9g" %
                             (_name(f), k, by_differences, way, got))


def _dot(q, a, b):
    """The real inner product of two values of one shape."""
    return float(q.real(q.sum(q.conj(a)*b)))


def _is_smooth(x):
    """Whether derivatives can be taken to it: a float or complex number, or an array of them."""
    if isinstance(x, (list, tuple)):  # of numbers, of which some are no whole ones
        return any(map(_is_smooth, x)) and all(isinstance(n, (int, list, tuple)) or _is_smooth(n) for n in x)
    dtype = str(getattr(x, "dtype", type(x).__name__))
    return (isinstance(x, (float, complex)) or "float" in dtype or "complex" in dtype or
            "number" in (dtype, getattr(x, "_kind", None)))
