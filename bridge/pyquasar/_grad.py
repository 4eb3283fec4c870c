"""Derivatives, with the names and conventions of JAX: of functions of scripts, and of Python functions that compute with
values.  Two functions of the bridge do the work: _record runs a function with a record of what it computes, _sweep goes
through the record, back from its results or forward from its arguments.

Complex numbers are as in torch: the gradient of a real loss points where the loss grows most, dL/dRe + i dL/dIm."""
import functools


def _q():
    import pyquasar
    return pyquasar


def _numbers(argnums, n, what):
    """argnums as a tuple of places among n arguments."""
    several = isinstance(argnums, (tuple, list))
    places = tuple(argnums) if several else (argnums,)
    for k in places:
        if not isinstance(k, int) or not -n <= k < n:
            raise TypeError("%s: argnums must be places among %d arguments, got %r" % (what, n, argnums))
    return tuple(k % n for k in places), several


def _name(f):
    return getattr(f, "__name__", None) or type(f).__name__


def _record(f, args, chosen):
    return _q()._bridge._record(f, tuple(args), tuple(chosen))


def _tuple(y):
    return y if isinstance(y, tuple) else (y,)


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
    arguments, argnums=(0, 2), it is a tuple."""
    @functools.wraps(f, updated=())
    def value_and_gradient(*args, **names):
        chosen, several = _numbers(argnums, len(args), "grad")
        y, record = _record(functools.partial(f, **names) if names else f, args, chosen)
        dx = _q()._bridge._sweep(record, False, (_one(y, "grad", f),))
        return y, dx if several else dx[0]
    return value_and_gradient


def grad(f, argnums=0):
    """A function like f, which gives the gradient of f's result, one real number, with respect to argument argnums."""
    both = value_and_grad(f, argnums)

    @functools.wraps(f, updated=())
    def gradient(*args, **names):
        return both(*args, **names)[1]
    return gradient


def vjp(f, *args):
    """(y, pullback) of y = f(*args).  pullback(adjoint) gives a tuple, an adjoint for each argument; where f gives a
    tuple, it takes one.  It may be called as often as wanted.  None stands for zero, and for an argument that has no
    derivative (a whole number, a string)."""
    chosen = tuple(k for k, x in enumerate(args) if _is_smooth(x))
    y, record = _record(f, args, chosen)

    def pullback(adjoint):
        given = adjoint if isinstance(y, tuple) else (adjoint,)
        if not isinstance(given, tuple):
            raise TypeError("the pullback of %s takes a tuple of %d adjoints, got %s" % (_name(f), len(y), type(given).__name__))
        found = iter(_q()._bridge._sweep(record, False, given))
        return tuple(next(found) if k in chosen else None for k in range(len(args)))
    return y, pullback


def jvp(f, args, tangents):
    """(y, dy): f(*args), and its derivative along the tangents, a tuple with one for each argument (None: zero)."""
    args, tangents = tuple(args), tuple(tangents)
    if len(args) != len(tangents):
        raise TypeError("jvp: %d arguments, but %d tangents" % (len(args), len(tangents)))
    chosen = tuple(k for k, t in enumerate(tangents) if t is not None)
    y, record = _record(f, args, chosen)
    dy = _q()._bridge._sweep(record, True, tuple(tangents[k] for k in chosen))
    dy = tuple(_zero_like(v) if d is None else d for d, v in zip(dy, _tuple(y)))
    return y, dy if isinstance(y, tuple) else dy[0]


def jacobian(f, argnums=0):
    """A function like f, which gives all derivatives of its result: an array of the shape of the result followed by that
    of the argument.  As many sweeps as the smaller of the two has elements."""
    @functools.wraps(f, updated=())
    def all_derivatives(*args, **names):
        chosen, several = _numbers(argnums, len(args), "jacobian")
        y, record = _record(functools.partial(f, **names) if names else f, args, chosen)
        if isinstance(y, tuple):
            raise TypeError("jacobian: %s gives %d results, and must give one" % (_name(f), len(y)))
        found = tuple(_all(record, y, args[k], i, len(chosen)) for i, k in enumerate(chosen))
        return found if several else found[0]
    return all_derivatives


def _shape(x):
    return tuple(getattr(x, "shape", ()))


def _units(x):
    """For each element of x, an array of its shape that is 1 there and 0 elsewhere; of a number, 1."""
    if not _shape(x):
        yield 1.0
        return
    n = x.size
    for i in range(n):
        unit = _zero_like(x)
        unit.reshape(-1)[i] = 1
        yield unit


def _all(record, y, x, i, n):
    """dy/dx, of the i-th of n arguments: by rows where y has fewer elements, else by columns."""
    sweep = _q()._bridge._sweep
    x = _q().value(x) if _shape(x) and not hasattr(x, "_kind") else x
    dx_shape, dy_shape = _shape(x), _shape(y)
    if getattr(y, "size", 1) <= getattr(x, "size", 1):
        rows = [sweep(record, False, (unit,))[i] for unit in _units(y)]
        return _stack(rows, dy_shape, dx_shape, False)
    columns = [sweep(record, True, tuple(unit if k == i else None for k in range(n)))[0] for unit in _units(x)]
    columns = [_zero_like(y) if c is None else c for c in columns]
    return _stack(columns, dx_shape, dy_shape, True)


def _stack(parts, outer, inner, turned):
    """parts, one for each place in a shape `outer`, of shape `inner`, as one array; turned: inner comes first."""
    if not outer and not inner:
        return parts[0]
    q = _q()
    count = len(parts)
    dtype = getattr(parts[0], "dtype", "float64")
    whole = q.from_dlpack(q._support.empty((count,) + inner, dtype)) if False else _empty(count, inner, dtype)
    for k, part in enumerate(parts):
        whole[k] = part
    whole = whole.reshape(outer + inner)
    if not turned or not outer or not inner:
        return whole
    axes = tuple(range(len(outer), len(outer) + len(inner))) + tuple(range(len(outer)))
    return whole.transpose(axes)


def hessian(f, argnums=0):
    """A function like f, whose result is one real number, which gives its second derivatives."""
    return jacobian(grad(f, argnums), argnums)


def hvp(f, args, vectors):
    """The Hessian of f, whose result is one real number, times a vector: a tuple with the shapes of the arguments.  The
    Hessian is never made."""
    places = tuple(range(len(args)))
    return jvp(grad(f, places), args, vectors)[1]


def gradcheck(f, *args, rtol=1e-5, atol=1e-7):
    """Compares the derivatives of f with central differences, in float64; ValueError tells the first that differs."""
    q = _q()
    y, pullback = vjp(f, *args)
    for n, u in enumerate(_tuple(y)):
        adjoint = _random_like(u)
        given = tuple(adjoint if i == n else None for i in range(len(_tuple(y)))) if isinstance(y, tuple) else adjoint
        for k, dx in enumerate(pullback(given)):
            if dx is not None:
                _compare(q, f, args, k, dx, n, adjoint, rtol, atol)
    return True


def _compare(q, f, args, k, dx, n, adjoint, rtol, atol):
    v = _random_like(args[k])
    size = max(1.0, float(q.max(q.abs(args[k]))))
    h = 6e-6 * size

    def at(step):
        moved = list(args)
        moved[k] = args[k] + v*step
        return _dot(q, adjoint, _tuple(f(*moved))[n])
    wanted, got = (at(h) - at(-h))/(2*h), _dot(q, dx, v)
    if not abs(wanted - got) <= atol*size + rtol*max(abs(wanted), abs(got)):
        raise ValueError("gradcheck: %s: along argument %d differences give %.9g, the derivative gives %.9g" %
                         (_name(f), k, wanted, got))


def _dot(q, a, b):
    return float(q.real(q.sum(q.conj(a)*b)))
