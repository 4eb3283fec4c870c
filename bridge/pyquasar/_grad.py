"""Implements derivatives, with the names and conventions of JAX, of script functions and of Python functions that
compute with values.  It uses two functions of the bridge: _record runs a function and records what it computes; _sweep
computes a backward pass from its results or a forward pass from its arguments.

Complex numbers follow torch: the gradient of a real loss points in the direction of steepest ascent, dL/dRe + i
dL/dIm."""
import array, dataclasses, functools, math, operator, sys


def _q():
    import pyquasar
    return pyquasar


def _numbers(argnums, n, what):
    """Returns argnums as a tuple of indices among n arguments, and whether it was a sequence."""
    several = isinstance(argnums, (tuple, list))
    places = tuple(map(operator.index, argnums if several else (argnums,)))
    if not n:
        raise TypeError("%s: derivatives are taken to positional arguments, and the call has none" % what)
    for k in places:
        if not -n <= k < n:
            raise TypeError("%s: argnums must be positions among %d arguments, got %r" % (what, n, argnums))
    places = tuple(k % n for k in places)
    if len(set(places)) < len(places):
        raise TypeError("%s: argnums names an argument twice: %r" % (what, argnums))
    return places, several


def _function(what, f):
    """Checks f early, not when the function derived from it is called."""
    if not callable(f):
        raise TypeError("%s: f must be a function, got %s" % (what, type(f).__name__))
    return f


def _places(what, argnums, name="argnums"):
    for k in argnums if isinstance(argnums, (tuple, list)) else (argnums,):
        try:
            if not isinstance(k, bool) and operator.index(k) is not None:
                continue
        except TypeError:  # also an array, which has __index__ for the case that it is one integer
            pass
        raise TypeError("%s: %s must be positions of arguments, integers, got %r; the arguments of f belong to the "
                        "function that %s returns: %s(f)(x)" % (what, name, argnums, what, what))


def _arguments(what, args, name="args"):
    if not isinstance(args, (tuple, list)):
        raise TypeError("%s: %s must be a tuple, with an element for each argument of f, got %s" %
                        (what, name, type(args).__name__))
    return args


def _name(f):
    return getattr(f, "__name__", None) or type(f).__name__


def _value(x):
    """Converts an argument to a value of the language: memory of other libraries and lists of numbers to arrays, a
    tensor without dimensions to a number."""
    if hasattr(x, "shape") and not hasattr(x, "_kind"):
        return _q().value(x) if len(x.shape) else x.item()
    return _q().value(x) if isinstance(x, (list, tuple)) and _is_smooth(x) else x


def _check_smooth(what, f, args, chosen):
    """Rejects integers and truth values among the chosen arguments, by their types or by the declarations of f.  Python
    ints are accepted, because they become numbers of the language, which are floats; so are lists of them."""
    for k in chosen:
        x = args[k]
        kind = type(x).__name__ if isinstance(x, bool) else str(x.dtype).rpartition(".")[2] if (
            hasattr(x, "dtype") and not _is_smooth(x)) else None
        if kind:
            raise TypeError("%s: argument %d is %s of %s, and derivatives are taken to floats and complex numbers" %
                            (what, k, "an array" if _shape(x) else "a number", kind))
        why = _why_constant(f, k)
        if why:
            raise TypeError("%s: %s" % (what, why))


def _why_constant(f, k):
    """Returns the reason why argument k of f has no derivative by its declaration; None: it may have one."""
    while isinstance(f, (functools.partial, _Derivative, custom_vjp)):
        f, k = (f.func, k + len(f.args)) if isinstance(f, functools.partial) else (f.__wrapped__, k)
    return f._constant(k) if hasattr(f, "_constant") else None


def _record(f, args, chosen):
    return _q()._bridge._record(f, args, tuple(chosen))


# -- arguments and results that hold several numbers and arrays --------------------------------------------------------
# Trees of dicts, lists, tuples, dataclasses, and objects and cells of the language.  Derivatives are taken with
# respect to the leaves and have the form of the tree, with None for leaves without a derivative.

def _is_numbers(x):
    """Whether x is a number, or a list that forms one array."""
    return isinstance(x, (int, float, complex)) or (isinstance(x, (list, tuple)) and all(map(_is_numbers, x)))


def _parts(x):
    """Returns the parts of a tree by key, and a function that builds a tree of the same form from other parts; (None,
    None) for a leaf."""
    from . import _values
    kind = getattr(x, "_kind", None)
    if isinstance(x, dict):
        keys = tuple(x)  # f may change the dict
        return x, lambda parts: dict(zip(keys, parts))
    if isinstance(x, (list, tuple)):
        form = type(x)._make if hasattr(type(x), "_make") else tuple if isinstance(x, tuple) else list
        return dict(enumerate(x)), form
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        fields = {field.name: getattr(x, field.name) for field in dataclasses.fields(x) if field.init}
        return fields, lambda parts: type(x)(**dict(zip(fields, parts)))
    if kind == "object" and x.typename == "object":
        fields, made_as = dict(x._fields()), _values._type_of(x)
        return fields, lambda parts: _values._make_object(made_as, zip(fields, parts))
    if kind == "cell":
        return dict(enumerate(_values._items(x))), lambda parts: _values._make_cell("cell", x.shape, parts)
    return None, None


class _Form:
    """The form of a tree.  A list of numbers is one leaf among arguments, but a tree as a result."""

    def __init__(self, x, result=False):
        parts, self.make = (None, None) if not result and _is_numbers(x) else _parts(x)
        self.parts = {key: _Form(v, result) for key, v in parts.items()} if parts is not None else None

    def leaves(self, x, told=""):
        """Returns the leaves of x, which has this form; dicts are matched by key, in any order.  None in x replaces a
        subtree of None leaves.  told: description of x for errors."""
        if self.parts is None:
            return [x]
        parts = dict.fromkeys(self.parts) if x is None else _parts(x)[0]
        if parts is None or set(parts) != set(self.parts):
            raise TypeError("%s must have the form of its value, %s; got %s" %
                            (told, _keys(self.parts), _keys(parts) if parts is not None else type(x).__name__))
        return [v for key, form in self.parts.items() for v in form.leaves(parts[key], told)]

    def build(self, rest):
        """Builds a tree of this form from an iterator of leaves."""
        return next(rest) if self.parts is None else self.make([form.build(rest) for form in self.parts.values()])


def _keys(parts):
    """Describes the keys of a tree for errors."""
    names = [str(k) if isinstance(k, int) else repr(k) for k in parts]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return "a tree with %s" % shown if names else "an empty tree"


class _Taken:
    """A call f(*args) as a function of the leaves of its arguments.  The chosen leaves are the floats and complex
    numbers in the chosen arguments, and every chosen argument that is a leaf itself."""

    def __init__(self, f, args, chosen, names={}):
        self.f, self.names, self.chosen, self.__name__ = f, names, chosen, _name(f)
        self.forms = [_Form(x if k in chosen else None) for k, x in enumerate(args)]
        self.leaves, of = [], []
        for form, x in zip(self.forms, args):
            first, leaves = len(self.leaves), [_value(v) for v in form.leaves(x)]
            if form.parts is None and len(of) in chosen and isinstance(leaves[0], (list, tuple)):
                leaves = [_q().value(leaves[0])]  # a list of integers only
            self.leaves += leaves
            of.append([first + i if form.parts is None or _is_smooth(v) else None for i, v in enumerate(leaves)])
        self.places = [of[k] for k in chosen]  # indices of their leaves; None: no derivative
        self.wanted = [i for places in self.places for i in places if i is not None]

    def __call__(self, *leaves):
        rest = iter(leaves)
        return self.f(*[form.build(rest) for form in self.forms], **self.names)

    def flat(self, *leaves):
        """Returns the leaves of the result, and saves its form."""
        y = self(*leaves)
        self.result = _Form(y, result=True)
        return tuple(self.result.leaves(y))

    def record(self):
        """Returns the leaves of the result, and the record."""
        return _record(self.flat, tuple(self.leaves), self.wanted)

    def record_beside(self):
        """The same for y, if f returns (y, aux); also returns aux.  The floats in aux are results, too, because an
        enclosing derivative may record them."""
        def both(*leaves):
            nonlocal form, more
            y = self(*leaves)
            if not isinstance(y, tuple) or len(y) != 2:
                raise TypeError("%s: with has_aux=True a function gives a tuple (value, aux), got %s" % (
                    self.__name__, "%d results" % len(y) if isinstance(y, tuple) else type(y).__name__))
            self.result, form = _Form(y[0], result=True), _Form(y[1], result=True)
            more = form.leaves(y[1])
            return (*self.result.leaves(y[0]), *filter(_is_smooth, more))
        form = more = None
        y, record = _record(both, tuple(self.leaves), self.wanted)
        n = len(y) - sum(map(_is_smooth, more))
        settled = iter(y[n:])
        return y, record, form.build(iter([next(settled) if _is_smooth(v) else v for v in more]))

    def formed(self, found):
        """Returns the derivatives of the wanted leaves as a tuple with one entry for each chosen argument, of its
        form."""
        found = iter(found)
        return tuple(self.forms[k].build(iter([None if i is None else next(found) for i in places]))
                     for k, places in zip(self.chosen, self.places))

    def along(self, what, tangents):
        """Returns the tangents of the chosen arguments as tangents of the wanted leaves."""
        leaves = [self.forms[k].leaves(t, "%s: tangent %d" % (what, k)) for k, t in zip(self.chosen, tangents)]
        return tuple(v for row, places in zip(leaves, self.places) for v, i in zip(row, places) if i is not None)


def _taken(what, f, args, argnums, names):
    """Returns the call with the arguments argnums chosen, and a function that selects the result from a tuple with one
    entry for each of them."""
    chosen, several = _numbers(argnums, len(args), what)
    _check_smooth(what, f, args, chosen)
    taken = _Taken(f, args, chosen, names)
    if not taken.wanted:
        raise TypeError("%s: there is no float among the arguments" % what)
    return taken, (lambda found: found) if several else lambda found: found[0]


def _one(taken, found, what):
    """Returns the adjoint of a result that must be one real number."""
    y, tree = (None, taken.result.parts) if taken.result.parts is not None else (found[0], None)
    if tree is None and getattr(y, "size", 1) == 1 and not _is_complex(y):
        return 1.0 if not hasattr(y, "shape") or y.shape == () else _q().ones_like(y)
    shape = getattr(y, "shape", type(y).__name__) if tree is None else (
        "%d results" % len(tree) if all(isinstance(k, int) for k in tree) else _keys(tree))
    hint = "; what comes beside the number is taken with has_aux=True" if tree is not None else ""
    raise TypeError("%s: %s must give one real number, got %s; of several there is jacobian, or vjp%s" %
                    (what, _name(taken.f), shape, hint))


def _is_complex(x):
    return isinstance(x, complex) or "complex" in str(getattr(x, "dtype", ""))


class _Derivative:
    """A function derived from f.  It can be pickled if f can, and is created again when unpickled."""

    def __init__(self, call, f, maker, given):
        self.__name__ = _name(f)
        functools.update_wrapper(self, f, updated=())
        self._call, self._made = call, (maker, given)

    def __call__(self, *args, **names):
        return self._call(*args, **names)

    def __get__(self, of, kind=None):  # binds like a function in a class
        return self if of is None else functools.partial(self, of)

    def __repr__(self):
        return "<%s(%s)>" % (self._made[0].__name__.lstrip("_"), self.__name__)

    def __reduce__(self):
        return _name_of(self) or self._made


def _name_of(made):
    """Returns the name by which pickle finds a function that was replaced by its decorator; None: not found by name."""
    name = getattr(made, "__qualname__", "")
    try:
        found = functools.reduce(getattr, name.split("."), sys.modules.get(made.__module__))
    except AttributeError:
        return None
    return name if found is made else None


def _like(f, maker, *given):
    """A decorator for the function that maker(*given) returns, which is called like f."""
    return lambda call: _Derivative(call, f, maker, given)


def value_and_grad(f, argnums=0, has_aux=False):
    """Returns a function like f that returns (f(*args), gradient).  The gradient has the shape of argument argnums; for
    several arguments, argnums=(0, 2), it is a tuple.  An argument may be a dict, list or tuple of arrays, or an object
    or cell of the language; then the gradient has its form, with None for leaves that are not floats.  has_aux: f
    returns (y, aux), y is differentiated, and the result is ((y, aux), gradient)."""
    return _value_and_grad("value_and_grad", f, argnums, has_aux)


def _value_and_grad(what, f, argnums, has_aux=False):
    _function(what, f), _places(what, argnums)

    @_like(f, _value_and_grad, what, f, argnums, has_aux)
    def value_and_gradient(*args, **names):
        taken, chosen = _taken(what, f, args, argnums, names)
        y, record, *aux = taken.record_beside() if has_aux else taken.record()
        adjoints = (_one(taken, y, what),) + (None,)*(len(y) - 1)
        dx = chosen(taken.formed(_q()._bridge._sweep(record, False, adjoints)))
        return ((y[0], *aux) if has_aux else y[0]), dx
    return value_and_gradient


def grad(f, argnums=0, has_aux=False):
    """Returns a function like f that returns the gradient of f's result, one real number, with respect to argument
    argnums.  has_aux: f returns (y, aux), and the result is (gradient, aux)."""
    return _grad("grad", f, argnums, has_aux)


def _grad(what, f, argnums, has_aux=False):
    both = _value_and_grad(what, f, argnums, has_aux)

    @_like(f, _grad, what, f, argnums, has_aux)
    def gradient(*args, **names):
        y, dx = both(*args, **names)
        return (dx, y[1]) if has_aux else dx
    return gradient


def vjp(f, *args):
    """Returns (y, pullback) for y = f(*args).  pullback(adjoint) takes an adjoint of the form of y, a tuple if f
    returns one, and returns a tuple with an adjoint for each argument, of its form.  It may be called repeatedly.  None
    stands for zero, and for arguments without a derivative (an integer, a string)."""
    _function("vjp", f)
    taken = _Taken(f, args, tuple(k for k, x in enumerate(args) if not _why_constant(f, k) and (
        _Form(x).parts is not None or _is_smooth(_value(x)))))
    given = [v for x, form in zip(args, taken.forms) for v in form.leaves(x)]
    # copies borrowed memory, which may change before the pullback is called
    taken.leaves = [v.copy() if v is not x and _shape(v) else v for v, x in zip(taken.leaves, given)]
    y, record = taken.record()

    def pullback(*given):
        if len(given) != 1:
            raise TypeError("the pullback of %s takes one adjoint, of the form of the result: a tuple where that is "
                            "one; got %d arguments" % (_name(f), len(given)))
        adjoints = tuple(taken.result.leaves(given[0], "the adjoint that the pullback of %s takes" % _name(f)))
        found = iter(taken.formed(_q()._bridge._sweep(record, False, adjoints)))
        return tuple(next(found) if k in taken.chosen else None for k in range(len(args)))
    return taken.result.build(iter(y)), pullback


def _back(f, y, record, adjoint):
    given = adjoint if isinstance(y, tuple) else (adjoint,)
    if not isinstance(given, tuple):
        raise TypeError("the pullback of %s takes a tuple of %d adjoints, got %s" %
                        (_name(f), len(y), type(given).__name__))
    return _q()._bridge._sweep(record, False, given)


def recorded(f, args, chosen):
    """Like vjp for the arguments `chosen`, without copies: memory of the arguments must not be changed."""
    y, record = _record(f, args, chosen)

    def pullback(adjoint):
        found = iter(_back(f, y, record, adjoint))
        return tuple(next(found) if k in chosen else None for k in range(len(args)))
    return y, pullback


def jvp(f, args, tangents):
    """Returns (y, dy): f(*args), and its derivative along the tangents, a tuple with one for each argument (None:
    zero)."""
    _function("jvp", f)
    args, tangents = tuple(_arguments("jvp", args)), tuple(_arguments("jvp", tangents, "tangents"))
    if len(args) != len(tangents):
        raise TypeError("jvp: %d arguments, but %d tangents" % (len(args), len(tangents)))
    chosen = tuple(k for k, t in enumerate(tangents) if t is not None)
    _check_smooth("jvp", f, args, chosen)
    taken = _Taken(f, args, chosen)
    y, record = taken.record()
    dy = _q()._bridge._sweep(record, True, taken.along("jvp", tuple(tangents[k] for k in chosen)))
    dy = [_zero(v) if d is None else d for d, v in zip(dy, y)]
    return taken.result.build(iter(y)), taken.result.build(iter(dy))


def jacobian(f, argnums=0):
    """Returns a function like f that returns all derivatives of its result: an array with the dimensions of the
    result, then the dimensions of the argument.  For trees, returns a tree with the form of the result, whose leaves
    have the form of the argument.  Takes as many passes as the smaller of the two has elements."""
    _function("jacobian", f), _places("jacobian", argnums)

    @_like(f, jacobian, f, argnums)
    def all_derivatives(*args, **names):
        taken, chosen = _taken("jacobian", f, args, argnums, names)
        rows = [chosen(taken.formed(row)) for row in _all(taken)]
        return taken.result.build(iter(rows))
    return all_derivatives


def _shape(x):
    return tuple(getattr(x, "shape", ()))


def _filled(x, numbers):
    """Returns a constant of the shape and type of x, a number or an array of floats, with these elements."""
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
    """Returns weights without a regular pattern; does not use the program's random numbers."""
    return _filled(x, [1.2 + math.sin(1.7*k*k) for k in range(1, getattr(x, "size", 1) + 1)])


def _units(x):
    """Yields, for each element of x, an array of its shape that is 1 there and 0 elsewhere; for a number, 1."""
    n = getattr(x, "size", 1)
    for i in range(n):
        yield _filled(x, [0.0]*i + [1.0] + [0.0]*(n - 1 - i))


def _all(taken):
    """Returns for each leaf of the result the derivatives by the wanted leaves.  Runs one backward pass per element of
    the result, or one forward pass per wanted element if there are fewer.  Complex arguments need backward passes."""
    y, record = taken.record()
    x = [taken.leaves[i] for i in taken.wanted]
    if any(map(_is_complex, y)):
        raise TypeError("jacobian: %s gives complex numbers; take it of their real and imaginary parts" %
                        _name(taken.f))
    if any(map(_is_complex, x)) or sum(map(_size, y)) <= sum(map(_size, x)):
        return [[_shaped([dx[j] for dx in found], v, u) for j, u in enumerate(x)]
                for v, found in zip(y, _swept(record, False, y))]
    columns = [[[_zero(v) if d is None else d for d, v in zip(dy, y)] for dy in found]
               for found in _swept(record, True, x)]
    return [[_turned(_shaped([dy[k] for dy in found], u, v), u, v) for u, found in zip(x, columns)]
            for k, v in enumerate(y)]


def _swept(record, forward, of):
    """Yields for each item the results of one pass per element."""
    for k, v in enumerate(of):
        given = [None]*len(of)
        yield [_q()._bridge._sweep(record, forward, (*given[:k], unit, *given[k + 1:])) for unit in _units(v)]


def _size(x):
    return getattr(x, "size", 1)


def _shaped(rows, by, of):
    """Stacks rows, one of the shape of `of` for each element of `by`, to an array with both shapes."""
    shape = _shape(by) + _shape(of)
    if not rows:
        return _q()._bridge._array("float64", shape, b"")
    return _stacked(rows).reshape(shape) if shape else rows[0]


def _turned(whole, first, then):
    """Moves the dimensions of `then` to the front."""
    n, m = len(_shape(first)), len(_shape(then))
    return whole.transpose(tuple(range(n, n + m)) + tuple(range(n))) if n and m else whole


def _stacked(parts):
    """Stacks arrays of one shape, or numbers, along a new first dimension."""
    q = _q()
    if all(isinstance(p, float) for p in parts):
        return q._bridge._array("float64", (len(parts),), array.array("d", parts).tobytes())
    return joined(0, [p.reshape((1,) + p.shape) if _shape(p) else p for p in parts])


def joined(axis, parts):
    """Concatenates any number of arrays and numbers, in groups, because a call takes a limited number of arguments."""
    most = 250
    while len(parts) > most:
        parts = [joined(axis, parts[i:i + most]) for i in range(0, len(parts), most)]
    return _q().cat(axis, *parts)


def hessian(f, argnums=0):
    """Returns a function like f, whose result is one real number, that returns its second derivatives; for trees, a
    tree of the form of the argument whose leaves have that form again."""
    _function("hessian", f), _places("hessian", argnums)

    @_like(f, hessian, f, argnums)
    def second_derivatives(*args, **names):
        taken, chosen = _taken("hessian", f, args, argnums, names)
        return chosen(taken.formed(chosen(taken.formed(row)) for row in _all(_gradient("hessian", taken))))
    return second_derivatives


def _gradient(what, taken):
    """Returns the gradient by the wanted leaves, as a call that can be differentiated again."""
    return _Taken(_grad(what, taken, tuple(taken.wanted)), taken.leaves, tuple(taken.wanted))


def hvp(f, args, vectors):
    """Returns the Hessian of f, whose result is one real number, times a vector: a tuple with the shapes of the
    arguments.  The Hessian is not computed."""
    places = tuple(range(len(_arguments("hvp", args))))
    vectors = _arguments("hvp", vectors, "vectors")
    if len(vectors) != len(places):
        raise TypeError("hvp: %d arguments, but %d vectors" % (len(places), len(vectors)))
    _check_smooth("hvp", _function("hvp", f), args, [k for k in places if vectors[k] is not None])
    taken = _Taken(f, args, places)
    record = _gradient("hvp", taken).record()[1]
    found = _q()._bridge._sweep(record, True, taken.along("hvp", vectors))
    return taken.formed(_zero(taken.leaves[i]) if d is None else d for i, d in zip(taken.wanted, found))


def stop_gradient(x):
    """Returns x as a constant, which has no derivative."""
    return _q()._bridge._built_in("stop_gradient")(x)


def checkpoint(f):
    """Returns a function like f for which a record saves only the arguments; f runs again in the backward pass.
    Arguments and results may be trees of at most 16 arrays and numbers; those of the result have one type."""
    def kept(f):
        return _q()._bridge._built_in("checkpoint")(f)
    if hasattr(_function("checkpoint", f), "_known"):  # a function of the language
        return kept(f)

    @_like(f, checkpoint, f)
    def again(*args, **names):
        taken, beside = _Taken(f, args, range(len(args)), names), []
        leaves, taken.leaves = taken.leaves, None
        if not any(getattr(v, "_recorded", False) for v in leaves):
            return f(*args, **names)

        def joined(*leaves):
            y = taken.flat(*leaves)
            floats = [v for v in y if _is_smooth(v)]
            beside[:] = [None if _is_smooth(v) else v for v in y], [_shape(v) for v in floats]
            return floats[0] if taken.result.parts is None and floats else _joined(floats)
        row = kept(joined)(*leaves)
        if taken.result.parts is None:
            return row
        parts = iter(_taken_apart(row, beside[1]))
        return taken.result.build(iter([next(parts) if v is None else v for v in beside[0]]))
    return again


def _joined(arrays):
    """Concatenates all elements, which must have one type, so that none is rounded."""
    types = {str(v.dtype) if _shape(v) else "number" for v in arrays}
    if types - {"number", "float64"} and len(types) > 1:
        raise TypeError("checkpoint: results must have one type of elements, got %s" % ", ".join(sorted(types)))
    if not arrays:
        raise TypeError("checkpoint: its function must give floats")
    return joined(1, [v.reshape(1, -1) if _shape(v) else v for v in arrays]).reshape(-1)


def _taken_apart(row, shapes):
    at = 0
    for shape in shapes:
        n = math.prod(shape)
        yield row[at:at + n].reshape(shape) if shape else row[at]
        at += n


class custom_vjp:
    """A Python function with a custom derivative, as in JAX:

        @q.custom_vjp
        def f(x, y): …                      the value
        f.defvjp(fwd, bwd)
        def fwd(x, y): …  return f(x, y), kept
        def bwd(kept, dy): …  return dx, dy     an adjoint of each argument, of its form; None: it has none

    When a derivative is taken, fwd runs without a record, and bwd runs in the backward pass.  Higher derivatives
    differentiate fwd and bwd, which must then compute with values.  nondiff_argnums: indices of arguments without an
    adjoint, which bwd gets before `kept`."""

    def __init__(self, fun, nondiff_argnums=()):
        _function("custom_vjp", fun)
        _places("custom_vjp", nondiff_argnums, "nondiff_argnums")
        functools.update_wrapper(self, fun, updated=())
        places = nondiff_argnums if isinstance(nondiff_argnums, (tuple, list)) else (nondiff_argnums,)
        self._fun, self._constant, self._rule = fun, tuple(places), None

    def __get__(self, of, kind=None):  # binds like a function in a class
        return self if of is None else functools.partial(self, of)

    def __reduce__(self):
        return _name_of(self) or (_with_rule, (self._fun, self._constant, self._rule))

    def defvjp(self, fwd, bwd):
        self._rule = _function("defvjp", fwd), _function("defvjp", bwd)

    def __call__(self, *args, **names):
        if names:
            args = self._all_places(args, names)
        constant = _numbers(self._constant, len(args), _name(self))[0] if self._constant else ()
        forms = [_Form(x) for x in args]
        leaves = [[_value(v) for v in form.leaves(x)] for form, x in zip(forms, args)]
        if not any(getattr(v, "_recorded", False) for row in leaves for v in row):
            return self._fun(*args)
        if self._rule is None:
            raise AttributeError("%s: a derivative is taken, and defvjp(fwd, bwd) has not told its rule" % _name(self))
        for k in constant:
            if any(getattr(v, "_recorded", False) for v in leaves[k]):
                raise TypeError("%s: argument %d is one of nondiff_argnums, and a derivative depends on it" %
                                (_name(self), k))
        return _RuleCall(self, args, constant, forms, leaves).run()

    def _all_places(self, args, names):
        import inspect
        bound = inspect.signature(self._fun).bind(*args, **names)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError("%s: arguments by name alone have no place in a rule: %s" %
                            (_name(self), ", ".join(bound.kwargs)))
        return bound.args


def _with_rule(fun, constant, rule):
    f = custom_vjp(fun, constant)
    f._rule = rule
    return f


class _RuleCall:
    """A call of a function with a custom rule: the data needed in the backward pass."""

    def __init__(self, of, args, constant, forms, leaves):
        self.fwd, self.bwd = of._rule
        self.name, self.constant, self.forms = _name(of), constant, forms
        self.given = [args[k] for k in constant]
        self.places = [(k, i) for k, row in enumerate(leaves) if k not in constant
                       for i, v in enumerate(row) if _is_smooth(v)]
        self.smooth = tuple(leaves[k][i] for k, i in self.places)
        for k, i in self.places:  # saved in the record
            leaves[k][i] = None
        self.leaves = leaves

    def run(self):
        smooth, self.smooth = self.smooth, None
        y = _q()._bridge._by_rule(self.forward, self.back, smooth)
        return self.result.build(iter(y))

    def call_fwd(self, smooth):
        leaves = [list(row) for row in self.leaves]
        for (k, i), v in zip(self.places, smooth):
            leaves[k][i] = v
        pair = self.fwd(*[form.build(iter(row)) for form, row in zip(self.forms, leaves)])
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("%s: fwd must give a tuple (result, what bwd gets), got %s" % (
                self.name, "%d elements" % len(pair) if isinstance(pair, tuple) else type(pair).__name__))
        return pair

    def forward(self, *smooth):
        y, self.kept = self.call_fwd(smooth)
        self.result = _Form(y, result=True)
        return tuple(self.result.leaves(y))

    def back(self, smooth, adjoints):
        kept = self.kept
        if any(getattr(v, "_recorded", False) for v in smooth):  # a higher derivative depends on `kept`
            (_, kept), drew = _q()._bridge._drawing(self.call_fwd, (smooth,))
            if drew:
                raise ValueError("%s draws random numbers: a derivative of its derivative, for which fwd runs once "
                                 "more, would be that of others; give it the numbers as an argument" % self.name)
        got = self.bwd(*self.given, kept, self.result.build(iter(adjoints)))
        wanted = [k for k in range(len(self.forms)) if k not in self.constant]
        if not isinstance(got, tuple) or len(got) != len(wanted):
            raise TypeError("%s: bwd must give a tuple of %d adjoints, one of each argument, got %s" % (
                self.name, len(wanted), len(got) if isinstance(got, tuple) else type(got).__name__))
        rows = {k: self.forms[k].leaves(dx, "%s: the adjoint of argument %d" % (self.name, k))
                for k, dx in zip(wanted, got)}
        return tuple(self.fitting(k, rows[k][i], x) for (k, i), x in zip(self.places, smooth))

    def fitting(self, k, dx, x):
        """Checks the adjoint of x in argument k; it is not broadcast."""
        dx = _value(dx)
        if dx is None or (_shape(dx) == _shape(x) and (_shape(dx) or isinstance(dx, int) or _is_smooth(dx))):
            return dx
        got = "one of %s" % (_shape(dx),) if _shape(dx) else "a number" if _is_smooth(dx) else type(dx).__name__
        raise TypeError("%s: the adjoint of argument %d must be a number or an array, of the shape of its value, %s; "
                        "bwd gave %s" % (self.name, k, _shape(x) or "a number", got))


def gradcheck(f, *args, rtol=1e-5, atol=1e-7):
    """Compares the derivatives of f, backward and forward, with central differences along a fixed direction and at each
    element (1000 of them for larger arguments).  Raises ValueError for the first that differs.  Computes in float64,
    because differences in float32 are too coarse."""
    taken = _Taken(_function("gradcheck", f), args, range(len(args)))
    f = functools.wraps(taken, updated=())(lambda *leaves: taken.flat(*leaves))
    args = tuple(map(_wide, taken.leaves))
    if not any(map(_is_smooth, args)):
        raise TypeError("gradcheck: there is no float among the arguments")
    y, pullback = vjp(f, *args)
    for n, u in enumerate(y):
        adjoint = _uneven(u)
        back = pullback(tuple(adjoint if i == n else None for i in range(len(y))))
        for k, dx in enumerate(back):
            if dx is not None:
                _compare(f, args, k, dx, n, adjoint, rtol, atol)
    return True


_CHECKED = 1000  # elements checked per argument


def _compare(f, args, k, dx, n, adjoint, rtol, atol):
    q, v = _q(), _uneven(args[k])
    h = 6e-6*max(1.0, float(q.max(q.abs(args[k]))))

    def along(x):
        return _dot(q, adjoint, f(*args[:k], x, *args[k + 1:])[n])

    def compare(v, place, way, got):
        ahead, behind = along(args[k] + v*h), along(args[k] - v*h)
        wanted = (ahead - behind)/(2*h)
        noise = 1e-15*max(abs(ahead), abs(behind))/h  # rounding errors, amplified by the difference
        if not abs(wanted - got) <= atol + noise + rtol*max(abs(wanted), abs(got)):
            raise ValueError("gradcheck: %s: along argument %d%s differences give %.9g, the sweep %s gives %.9g%s" %
                             (_name(f), k, place, wanted, way, got, _why_apart(f, args, n)))
    dy = jvp(f, args, tuple(v if i == k else None for i in range(len(args))))[1][n]
    compare(v, "", "back", _dot(q, dx, v))
    compare(v, "", "forward", _dot(q, adjoint, dy))
    size = getattr(args[k], "size", 1)
    for i in range(0, size if _shape(args[k]) else 0, max(1, math.ceil(size/_CHECKED))):
        unit = _filled(args[k], [0.0]*i + [1.0] + [0.0]*(size - 1 - i))
        for v in (unit, 1j*unit) if _is_complex(unit) else (unit,):
            compare(v, ", element %d," % i, "back", _dot(q, dx, v))


def _why_apart(f, args, n):
    """Explains why differences may not be comparable."""
    y, again = f(*args)[n], f(*args)[n]
    if _q()._bridge._drawing(f, args)[1]:
        return "; the function draws random numbers: give them to it as an argument"
    if not _q().all(y == again):
        return "; the function gives something else each time"
    if str(getattr(y, "dtype", "")) in ("float16", "float32", "complex64", "bfloat16"):
        return "; its result is %s, of which differences are too coarse: compute in float64" % y.dtype
    return ""


def _dot(q, a, b):
    """Returns the real inner product of two values of one shape."""
    return float(q.real(q.sum(q.conj(a)*b)))


def _is_smooth(x):
    """Whether derivatives can be taken with respect to x: a float or complex number, or an array of them."""
    if isinstance(x, (list, tuple)):  # a list of numbers that are not all integers
        return any(map(_is_smooth, x)) and all(isinstance(n, (int, list, tuple)) or _is_smooth(n) for n in x)
    dtype = str(getattr(x, "dtype", type(x).__name__))
    return (isinstance(x, (float, complex)) or "float" in dtype or "complex" in dtype or
            "number" in (dtype, getattr(x, "_kind", None)))
