"""Methods of qvalue that are shorter in Python; `install` adds them to the type."""
import collections.abc
import math


def _machine():
    import pyquasar
    return pyquasar


def _built_in(name):
    return _machine()._bridge._built_in(name)


# -- as Python's own ---------------------------------------------------------------------------------------------------

def contains(self, x):
    """Implements x in A: whether an element equals x; for a cell, a string or a dictionary as for a Python list, str
    or dict."""
    if self._kind == "array":
        try:
            same = self == x
        except OverflowError:  # an integer that no element can equal
            return False
        return bool(same.any()) if isinstance(same, type(self)) else bool(same)
    if self._kind == "string":
        return x in str(self)
    if self._kind == "object":
        try:
            self[x]
        except KeyError:
            return False
        return True
    return any(y is x or y == x for y in self)


def _memory(self):
    """Returns a memoryview of the elements, or of a copy if they are used on a device."""
    try:
        return memoryview(self)
    except BufferError:
        return memoryview(_built_in("copy")(self))


def backwards(self):
    """Implements reversed(A)."""
    return reversed(list(self)) if self._kind == "object" else iter(self[::-1])


def item(self, *place):
    """Returns the only element, or the one at an index, as a Python number."""
    if place:
        place = place[0] if len(place) == 1 else place
        return self[place] if isinstance(place, tuple) else self.ravel()[place]
    if self._kind == "array" and self.size != 1:
        raise ValueError("item: the array has %d elements; item(i) is one of them" % self.size)
    if self._recorded:
        return self if self._kind == "number" else self.reshape(-1)[0]
    for convert in (float, complex):
        try:
            x = convert(self)
        except TypeError:
            continue
        exact = self._kind == "array" and ("int" in self._dtype or self._dtype == "bool")
        return int(self) if exact and self._dtype != "bool" else bool(x) if exact else x
    raise TypeError("a value of type %s is no number" % self.typename)


class locked:
    """Implements with A.locked(LOCK_READ) as pointer: ..."""

    def __init__(self, owner, *args):
        self.owner, self.args = owner, args

    def __enter__(self):
        return self.owner.lock(*self.args)

    def __exit__(self, *error):
        self.owner.unlock(*self.args)


def lock_for(self, mode=3, device=0):
    """Returns a context manager that holds a lock and provides the address of the elements."""
    return locked(self, mode, device)


# -- array methods with the names and meanings of NumPy, computed by functions of the language -------------------------

class for_arrays:
    """A method of arrays.  Other values do not have it, so that objects may have functions of that name."""

    def __init__(self, function, name=None):
        self.function, self.__doc__, self.__name__ = function, function.__doc__, name or function.__name__

    def __get__(self, x, owner=None):
        if x is None:
            return self.function
        if x._kind != "array":
            raise AttributeError("only arrays have the attribute %s" % self.__name__)
        return _MethodType(self.function, x)


class property_of_arrays(for_arrays):
    def __get__(self, x, owner=None):
        return self if x is None else for_arrays.__get__(self, x)()


_MethodType = type(for_arrays(len, "len").__init__)


def whole(what, x):
    import operator
    try:
        return operator.index(x)
    except TypeError:
        raise TypeError("%s must be an integer, got %r" % (what, x)) from None


class AxisError(ValueError, IndexError):
    """An axis that the array does not have; derives from both types, like numpy.exceptions.AxisError."""
    __module__ = "pyquasar"


def _axis(self, axis):
    axis = whole("axis", axis)
    if not -self.ndim <= axis < self.ndim:
        raise AxisError("axis %d is outside an array of %d dimensions" % (axis, self.ndim))
    return axis % self.ndim


def _finished(r, shape, out):
    """Gives a result of the language the shape that NumPy would give it."""
    if shape is not None:
        r = (r if hasattr(r, "_kind") else _machine().value([r])).reshape(shape)
    if out is None:
        return r
    if not hasattr(out, "shape"):
        raise TypeError("out must be an array, got %s" % type(out).__name__)
    out[...] = r
    return out


def _along(self, axis):
    """Returns (array, axis) for one axis; several axes are merged into a last one."""
    if not isinstance(axis, tuple):
        return self, _axis(self, axis)
    axes = [_axis(self, i) for i in axis]
    if len(set(axes)) < len(axes):
        raise ValueError("axis: a dimension is named twice in %s" % (axis,))
    kept = [i for i in range(self.ndim) if i not in axes]
    last = math.prod(self.shape[i] for i in axes)
    return self.transpose(kept + axes).reshape([self.shape[i] for i in kept] + [last]), len(kept)


def _reduced(f, x, axis, rest):
    """Calls the reduction of the language; axis None reduces all elements.  Uses min(x, [], axis), because min(x, y) is
    elementwise."""
    if axis is None:
        return f(x, None, *rest) if rest else f(x)
    return f(x, [], axis) if f.__name__ in ("min", "max") else f(x, axis, *rest)


class _NotGiven:
    def __repr__(self):
        return "<no value>"


_NOT_GIVEN = _NotGiven()
_NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}  # replaces the elements excluded by where=


def _reduced_axes(self, axis):
    axes = tuple(range(self.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return {_axis(self, i) for i in axes}


def _reduce_all(name, self, axis, keepdims, ddof=None):
    """Reduces all elements with the function of the language, with NumPy's result shape."""
    x, f, rest = self, _built_in(name), () if ddof is None else (ddof,)
    axes = _reduced_axes(self, axis)
    endless = rest and 0 < math.prod(self.shape[i] for i in axes) <= rest[0]  # divisor <= 0, counts as 0
    rest = (0,) if endless else rest
    shape = tuple(1 if i in axes else n for i, n in enumerate(self.shape) if keepdims or i not in axes)
    if len(axes) < self.ndim:
        x, axis = _along(x, axis)
    else:  # an array result of one element keeps the element type
        huge = name in ("min", "max") and x._dtype == "uint64"  # a number of the language may not represent it
        x, axis = (x.reshape(1, -1), 1) if shape or huge else (x, None)
    r = _reduced(f, x, axis, rest)
    r = r*math.inf if endless else r
    return _finished(r if shape or not hasattr(r, "_kind") else r.item(), shape or None, None)


def _one(self, n):
    """Returns a number as an array of one element of the type of self; integers lose their fraction, as in NumPy."""
    if self._recorded:
        return n
    if "int" in self._dtype:
        return _whole(self._dtype, int(n))
    return _machine().value([n]).astype(self._dtype)


def _mask(self, where):
    """Returns where= as an array of truth values that broadcasts to self; None: all elements count."""
    if where is True:
        return None
    mask = where if hasattr(where, "_kind") else _machine().value(where if hasattr(where, "__len__") else [where])
    if mask._kind != "array":
        raise TypeError("where must be an array of truth values, got %r" % (where,))
    if mask.ndim > self.ndim:
        raise ValueError("where has %d dimensions, the array %d" % (mask.ndim, self.ndim))
    return mask != 0


def _check_number(name, argument, x):
    if isinstance(x, (str, bytes)) or not (hasattr(type(x), "__float__") or hasattr(type(x), "__complex__")):
        raise TypeError("%s: %s must be a number, got %r" % (name, argument, x))


def _with_initial(name, self, r, initial, axes):
    """Combines the reduction r with `initial`."""
    if name in ("sum", "prod"):
        initial = int(initial) if "int" in self._dtype or self._dtype == "bool" else initial
        return r + initial if name == "sum" else r*initial
    if not hasattr(r, "_kind"):
        initial = int(initial) if "int" in self._dtype else initial
        return initial if r != r else min(r, initial) if name == "min" else max(r, initial)
    return _built_in(name)(r, _one(self, initial))


def _reduce(name, self, axis, dtype, out, keepdims, initial=_NOT_GIVEN, where=True):
    """Implements sum, prod, min, max, any and all with the arguments of NumPy."""
    x, mask = self if dtype is None else self.astype(dtype), _mask(self, where)
    given = initial is not _NOT_GIVEN and initial is not None
    if given:
        _check_number(name, "initial", initial)
    if mask is None and not given:
        return _finished(_reduce_all(name, x, axis, keepdims), None, out)
    extreme = name in ("min", "max")
    if mask is not None and extreme and not given:
        raise ValueError("%s: with where=, initial= says what is left of no element" % name)
    if mask is not None:  # replaces excluded elements by the neutral element
        x = _built_in("where")(mask, x, _one(x, initial if extreme else _NEUTRAL[name]))
    axes = _reduced_axes(x, axis)
    if given and extreme and not math.prod(x.shape[i] for i in axes):  # only the initial value is left
        x = _filled(_one(x, initial), tuple(1 if i in axes else n for i, n in enumerate(x.shape)))
    r = _reduce_all(name, x, axis, keepdims)
    return _finished(_with_initial(name, x, r, initial, axes) if given else r, None, out)


def _filled(one, shape):
    return duplicate(one._view(shape, (0,)*len(shape)))


def _count(self, mask, axis, keepdims):
    """Returns the number of elements that take part."""
    if mask is None:
        return math.prod(self.shape[i] for i in _reduced_axes(self, axis))
    return _reduce("sum", _filled(_float_one(1), self.shape), axis, None, None, keepdims, where=mask)


def _float_one(x):
    return _machine()._bridge._array("float64", (1,), __import__("struct").pack("d", x))


def _float_of(self):
    return self if "float" in self._dtype or "complex" in self._dtype else self.astype("float64")


def _quotient(x, n):
    """Returns x/n; nan or infinite where n is 0, also for plain numbers."""
    if hasattr(x, "_kind") or hasattr(n, "_kind"):
        return x/n
    return x/n if n else x*math.inf if x == x and x else x*math.nan


def _mean_of(self, axis, dtype, out, keepdims, where):
    x, mask = self if dtype is None else self.astype(dtype), _mask(self, where)
    if mask is None:
        return _finished(_reduce_all("mean", x, axis, keepdims), None, out)
    x = _float_of(x)
    total = _reduce("sum", x, axis, None, None, keepdims, where=mask)
    return _finished(_quotient(total, _count(x, mask, axis, keepdims)), None, out)


def _spread_of(name, self, axis, dtype, out, ddof, keepdims, where, mean):
    """Implements var and std; computes them by definition if a mask or the mean is given."""
    _check_number(name, "ddof", ddof)
    x, mask = self if dtype is None else self.astype(dtype), _mask(self, where)
    if mask is None and mean is None:
        return _finished(_reduce_all(name, x, axis, keepdims, ddof), None, out)
    x = _float_of(x)
    away = x - (_mean_of(x, axis, None, None, True, True if mask is None else mask) if mean is None else mean)
    squares = (away*away.conj()).real if "complex" in x._dtype else away*away
    total = _reduce("sum", squares, axis, None, None, keepdims, where=True if mask is None else mask)
    n = _count(x, mask, axis, keepdims) - ddof
    n = _built_in("max")(n, 0) if hasattr(n, "_kind") else max(n, 0)
    r = _quotient(total, n)
    return _finished(r if name == "var" else _built_in("sqrt")(r) if hasattr(r, "_kind") else r**0.5, None, out)


def sum_of(self, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    """The sum of all elements, or along an axis."""
    return _reduce("sum", self, axis, dtype, out, keepdims, _NOT_GIVEN if initial == 0 else initial, where)


def prod_of(self, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    """The product of all elements, or along an axis."""
    return _reduce("prod", self, axis, dtype, out, keepdims, _NOT_GIVEN if initial == 1 else initial, where)


def min_of(self, axis=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=True):
    """The smallest element, or those along an axis."""
    return _reduce("min", self, axis, None, out, keepdims, initial, where)


def max_of(self, axis=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=True):
    """The largest element, or those along an axis."""
    return _reduce("max", self, axis, None, out, keepdims, initial, where)


def any_of(self, axis=None, out=None, keepdims=False, *, where=True):
    """Whether any element is not 0, or any along an axis."""
    return _reduce("any", self, axis, None, out, keepdims, where=where)


def all_of(self, axis=None, out=None, keepdims=False, *, where=True):
    """Whether no element is 0, or none along an axis."""
    return _reduce("all", self, axis, None, out, keepdims, where=where)


def mean_of(self, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The mean of all elements, or along an axis."""
    return _mean_of(self, axis, dtype, out, keepdims, where)


def var_of(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    """The variance of all elements, or along an axis; as in NumPy it divides by n unless ddof=1."""
    return _spread_of("var", self, axis, dtype, out, ddof, keepdims, where, mean)


def std_of(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    """The square root of var."""
    return _spread_of("std", self, axis, dtype, out, ddof, keepdims, where, mean)


def _cumulative(name, doc):
    def method(self, axis=None, dtype=None, out=None):
        x = self if dtype is None else self.astype(dtype)
        if axis is None:
            x, axis = x.reshape(-1), 0
        r = _built_in(name)(x, _axis(x, axis)) if x.ndim > 1 else _built_in(name)(x)
        return _finished(r, x.shape, out)
    method.__name__, method.__doc__ = name, doc
    return for_arrays(method)


def _whole(dtype, n):
    """Returns an array of one integer."""
    import sys
    bits = n.to_bytes(_bytes_of(dtype), sys.byteorder, signed=dtype[0] == "i")
    return _machine()._bridge._array(dtype, (1,), bits)


def _place(name, doc):
    def method(self, axis=None, out=None, *, keepdims=False):
        if axis is None:
            place, shape = int(_built_in(name)(self)), (1,)*self.ndim
            return _finished(_whole("int64", place) if keepdims else place, shape if keepdims else None, out)
        axis = _axis(self, axis)
        best = getattr(self, name[3:])(axis=axis, keepdims=True)
        places = _wrapped((self == best).to_py().argmax(axis=axis))
        return _finished(places, best.shape if keepdims else None, out)
    method.__name__, method.__doc__ = name, doc
    return for_arrays(method)


def _numbers(shape):
    one = len(shape) == 1 and not hasattr(shape[0], "__index__")
    if one and (isinstance(shape[0], str) or not hasattr(shape[0], "__iter__")):
        raise TypeError("integers are wanted, or a tuple of them, got %r" % (shape[0],))
    return [whole("each of them", n) for n in (shape[0] if one else shape)]


# -- the order of elements in memory: C, F, A and K of NumPy ---------------------------------------------------------

def _is_packed(self, axes):
    """Whether the elements are packed when the dimensions are taken in this order."""
    steps, shape = _steps(self), [self.shape[i] for i in axes]
    return not self.size or all(n == 1 or steps[i] == step for i, n, step in zip(axes, shape, _packed(shape)))


def _axes_of(what, self, order, orders="CFAK"):
    """Returns the dimensions from the outermost in memory to the innermost."""
    order = "C" if order is None else order
    if not isinstance(order, str) or len(order) != 1 or order.upper() not in orders:
        raise ValueError("%s: order must be one of %s, got %r" % (what, ", ".join(orders), order))
    axes, order = list(range(self.ndim)), order.upper()
    if len(axes) < 2 or order == "C":
        return axes
    if order == "K":
        steps = [abs(n) for n in self.strides]
        return sorted(axes, key=lambda i: -steps[i])
    fortran = order == "F" or order == "A" and _is_packed(self, axes[::-1]) and not _is_packed(self, axes)
    return axes[::-1] if fortran else axes


def _in_order(self, axes, make):
    """Returns make(view), where the view has its dimensions in this order: the result is in C order of the view, with
    the dimensions of self."""
    if axes == sorted(axes):
        return make(self)
    return make(self.transpose(axes)).transpose([axes.index(i) for i in range(self.ndim)])


def reshape(self, *shape, order="C", copy=None):
    """The elements in another shape, in which one extent may be -1: a view if strides can express it, else a copy."""
    wanted = _numbers(shape)
    known = 1
    for n in wanted:
        known *= n if n != -1 else 1
    if wanted.count(-1) == 1 and known and self.size % known == 0:
        wanted[wanted.index(-1)] = self.size // known
        known = self.size
    if known != self.size or any(n < 0 for n in wanted):
        raise ValueError("reshape: an array of %s has no shape %s" % (self.shape, tuple(_numbers(shape))))
    axes = _axes_of("reshape", self, order, "CFA")
    if axes != sorted(axes):
        return self.transpose().reshape(*wanted[::-1], copy=copy).transpose()
    strides = _regrouped(self, wanted) if self.size else _packed(wanted)
    if strides is None and copy is not None and not copy:
        raise ValueError("reshape: the elements do not lie so that a view has the shape %s" % (tuple(wanted),))
    if strides is None or copy:
        return duplicate(self)._view(tuple(wanted), _packed(wanted))
    return self._view(tuple(wanted), strides)


def _packed(shape):
    """Returns the strides, in elements, of packed memory."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.insert(0, step)
        step *= max(n, 1)
    return tuple(strides)


def _steps(self):
    size = _itemsize(self)
    return [n // size for n in self.strides]


def _regrouped(self, wanted):
    """Returns strides for the same memory in another shape; None if there are none.  Contiguous dimensions are merged
    into runs, and the wanted extents must divide the runs, beginning with the last."""
    runs, strides = [], []
    for n, step in zip(self.shape, _steps(self)):
        if n != 1 and runs and runs[-1][1] == n*step:
            runs[-1] = runs[-1][0]*n, step
        elif n != 1:
            runs.append((n, step))
    left, step = runs.pop() if runs else (1, 1)
    for n in reversed(wanted):
        if left == 1 and n != 1 and runs:
            left, step = runs.pop()
        if left % n:
            return None
        strides.insert(0, step)
        left, step = left//n, step*n
    return tuple(strides)


def _bytes_of(dtype):
    return int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz") or 8) // 8


def _itemsize(self):
    return _bytes_of(self._dtype)


def transpose(self, *axes):
    """The same memory with its dimensions in another order; reversed if none is given."""
    axes = [] if axes in ((), (None,)) else [_axis(self, n) for n in _numbers(axes)]
    axes = axes or list(range(self.ndim))[::-1]
    if sorted(axes) != list(range(self.ndim)):
        raise ValueError("transpose: the axes must be those of %d dimensions, got %s" % (self.ndim, tuple(axes)))
    steps = _steps(self)
    return self._view(tuple(self.shape[i] for i in axes), tuple(steps[i] for i in axes))


def swapaxes(self, axis1, axis2):
    """The same memory with two dimensions exchanged."""
    axes = list(range(self.ndim))
    a, b = _axis(self, axis1), _axis(self, axis2)
    axes[a], axes[b] = b, a
    return self.transpose(axes)


def squeeze(self, axis=None):
    """The same memory without dimensions of extent 1."""
    gone = [i for i, n in enumerate(self.shape) if n == 1]
    if axis is not None:
        gone = [_axis(self, i) for i in (axis if isinstance(axis, tuple) else (axis,))]
    if any(self.shape[i] != 1 for i in gone):
        raise ValueError("squeeze: only dimensions of extent 1 can go, the shape is %s" % (self.shape,))
    kept = [i for i in range(self.ndim) if i not in gone]
    steps = _steps(self)
    return self._view(tuple(self.shape[i] for i in kept), tuple(steps[i] for i in kept))


def ravel(self, order="C"):
    """All elements in one dimension: a view if they are packed."""
    return self.transpose(_axes_of("ravel", self, order)).reshape(-1)


def flatten(self, order="C"):
    """A copy of all elements in one dimension."""
    return duplicate(self.transpose(_axes_of("flatten", self, order))).reshape(-1)


def element_name(dtype):
    """Returns the name of an element type: "f4", numpy.float32, torch.float32 are "float32"."""
    own = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}
    name = own.get(dtype) if isinstance(dtype, type) else dtype if isinstance(dtype, str) else None
    name = name or getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype).replace("torch.", "")
    if name in _machine()._support.ELEMENTS or not isinstance(dtype, str):
        return name
    try:
        import numpy
        known = numpy.dtype(dtype)
    except (ImportError, TypeError):
        return name
    return known.name if known.isnative else name


_CASTINGS = ("no", "equiv", "safe", "same_kind", "same_value", "unsafe")


def _may_cast(have, want, casting):
    """Like numpy.can_cast, extended by bfloat16, to which no other 16-bit float can be cast safely."""
    if casting not in _CASTINGS:
        raise ValueError("casting must be one of %s, got %r" % (", ".join(map(repr, _CASTINGS)), casting))
    if casting == "unsafe" or have == want:
        return True
    if casting == "same_value":
        raise TypeError("astype: casting='same_value' is not known here; compare the result with the array")
    if {have, want} == {"bfloat16", "float16"}:
        return casting == "same_kind"
    known = ["float16" if name == "bfloat16" else name for name in (have, want)]
    return _machine()._support._numpy().can_cast(*known, casting)


def _cast(self, name):
    if self._recorded:
        return _built_in("cast_like")(self, _machine()._bridge._array(name, (1,), None))
    return self._converted(name, True)


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """A copy with another element type ("float32", "f4", numpy.float32, int), converted by the rules of the language:
    integers saturate.  copy=False: the array itself if it already has that type and order."""
    name = element_name(dtype)
    if order == "K" and casting == "unsafe" and self.ndim < 2:  # the common case, where the order is irrelevant
        return self if not copy and name == self._dtype else _cast(self, name)
    axes = _axes_of("astype", self, order)
    if not _may_cast(self._dtype, name, casting):
        raise TypeError("astype: elements of %s cannot become %s by the rule %r" % (self._dtype, name, casting))
    lies = order == "K" or _is_packed(self, axes)
    return self if not copy and name == self._dtype and lies else _in_order(self, axes, lambda x: _cast(x, name))


def copy_of(self, order="C"):
    """An array of its own with the same elements."""
    return _in_order(self, _axes_of("copy", self, order), duplicate)


def _range(self):
    """Returns the smallest and the largest value of an integer element type."""
    bits = 8*_itemsize(self)
    least = -(1 << bits - 1) if self._dtype[0] == "i" else 0
    return least, least + (1 << bits) - 1


def _limit(self, x):
    """Converts an integral limit for integer elements to their type, so that the result keeps it."""
    import operator
    if "int" not in self._dtype or getattr(x, "ndim", 0):
        return x
    try:
        n = operator.index(x)
    except TypeError:
        return x
    least, most = _range(self)
    return _whole(self._dtype, max(least, min(most, n)))


def _clipped(x, least, most):
    r = _built_in("copy")(x) if least is None else _built_in("max")(x, _limit(x, least))
    return r if most is None else _built_in("min")(r, _limit(x, most))


def clip(self, min=None, max=None, out=None, *, dtype=None, casting="same_kind", order="K", subok=True, where=True):
    """Elements between two bounds."""
    if dtype is not None and not _may_cast(self._dtype, element_name(dtype), casting):
        raise TypeError("clip: elements of %s cannot become %s by the rule %r" %
                        (self._dtype, element_name(dtype), casting))
    x = self if dtype is None else self.astype(dtype)
    mask, axes = _mask(self, where), _axes_of("clip", x, order)
    r = _clipped(x, min, max)
    if getattr(r, "ndim", 0) > x.ndim:  # the bounds have more dimensions
        axes = _axes_of("clip", r, order)
    r = r if axes == sorted(axes) else _in_order(r, axes, duplicate)
    if mask is not None and out is None:
        raise ValueError("clip: with where=, out= has the elements that are not clipped")
    return _finished(r if mask is None else _built_in("where")(mask, r, out), None, out)


def rounded(self, decimals=0, out=None):
    """Elements rounded to integers, or to some decimals, as in NumPy: halves to even."""
    decimals = whole("decimals", decimals)
    if decimals < 0 and "int" in self._dtype:
        least, most = _range(self)
        exact = _machine()._support._numpy().frompyfunc(lambda n: max(least, min(most, round(n, decimals))), 1, 1)
        r = exact(self.to_py()).astype(self._dtype)
    else:
        r = _machine()._support._numpy().asarray(self.to_py().round(decimals))
    return _finished(_machine().value(r).astype(self._dtype, copy=False), self.shape, out)


def round_of(self, decimals=0):
    """Implements round(): arrays as by A.round(), numbers as in Python."""
    if self._recorded and self._kind == "number":  # its derivative is 0
        return round(_built_in("stop_gradient")(self), *([decimals] if decimals else []))
    return rounded(self, decimals) if self._kind == "array" else round(self.to_py(), *([decimals] if decimals else []))


def formatted(self, spec):
    """Implements f"{x:.3f}" for numbers; other values accept no format specification."""
    if not spec:
        return str(self)
    if self._kind == "array" and not self.ndim:
        return format(self.item(), spec)
    if self._kind in ("array", "cell", "object", "type"):
        raise TypeError("a value of type %s has no format %r" % (self.typename, spec))
    return format(_built_in("stop_gradient")(self) if self._recorded else self.to_py(), spec)


def dot(self, other, out=None):
    """self @ other, or self*other if one is a number."""
    return _finished(self @ other if getattr(other, "ndim", 0) else self*other, None, out)


def fill(self, value):
    """Sets all elements to one number."""
    self[...] = value


def conj(self):
    """The complex conjugates."""
    return _finished(_built_in("conj")(self), self.shape, None)


def tobytes(self, order="C"):
    """The elements as packed bytes."""
    return _memory(self.transpose(_axes_of("tobytes", self, order))).tobytes()


_INDICES = {"take": (0, "indices"), "repeat": (0, "repeats"), "searchsorted": (2, "sorter")}


def _by_numpy(f):
    """Makes a method that calls NumPy's method of that name on the same memory; f has its parameters and its
    docstring."""
    import functools
    name = f.__name__

    @functools.wraps(f)
    def method(self, *args, **options):
        f(self, *args, **options)  # rejects other arguments
        if self._recorded and name in _OF_RECORDS:
            return _OF_RECORDS[name](self, name, args, options)
        out, which = options.get("out"), _INDICES.get(name, ())
        args = [_index(x) if i in which else _plain(x) for i, x in enumerate(args)]
        options = {key: _index(x) if key in which else _plain(x) for key, x in options.items()}
        r = getattr(self.to_py(), name)(*args, **options)
        if out is not None:
            return out
        return tuple(map(_wrapped, r)) if isinstance(r, tuple) else _wrapped(r)
    return for_arrays(method)


def _of_places(self, name, args, options):
    """Handles a NumPy method that moves elements, on recorded arrays: applies it to their indices."""
    return _taken(self, lambda places: getattr(places, name)(*args, **options))


def _of_values(self, name, args, options):
    """Handles a NumPy method with integer results, which have no derivative."""
    return getattr(_built_in("stop_gradient")(self), name)(*args, **options)


# NumPy methods on arrays on which a derivative depends.
_OF_RECORDS = {
    "take": _of_places, "repeat": _of_places, "diagonal": _of_places,
    "argsort": _of_values, "nonzero": _of_values, "searchsorted": _of_values,
    "trace": lambda self, name, args, options: self.diagonal(*args, **options).sum(axis=-1),
}

@_by_numpy
def sort(self, axis=-1, kind=None, order=None, *, stable=None):
    """Sorts the elements in place along an axis; nan last."""


@_by_numpy
def argsort(self, axis=-1, kind=None, order=None, *, stable=None):
    """The positions of the elements in sorted order along an axis."""


@_by_numpy
def nonzero(self):
    """The positions of the nonzero elements: an array of indices per dimension."""


@_by_numpy
def take(self, indices, axis=None, out=None, mode="raise"):
    """The elements at some positions along an axis."""


@_by_numpy
def repeat(self, repeats, axis=None):
    """Repeats each element along an axis."""


@_by_numpy
def diagonal(self, offset=0, axis1=0, axis2=1):
    """The elements of a diagonal."""


@_by_numpy
def trace(self, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum of a diagonal."""


@_by_numpy
def searchsorted(self, v, side="left", sorter=None):
    """The positions where v would be inserted into sorted elements."""


ARRAY_METHODS = {
    "sum": sum_of, "prod": prod_of, "min": min_of, "max": max_of, "any": any_of, "all": all_of, "mean": mean_of,
    "var": var_of, "std": std_of,
    "cumsum": _cumulative("cumsum", "Sums of what comes before, of all elements or along an axis."),
    "cumprod": _cumulative("cumprod", "Products of what comes before, of all elements or along an axis."),
    "argmin": _place("argmin", "The number of the smallest element, or those along an axis."),
    "argmax": _place("argmax", "The number of the largest element, or those along an axis."),
    "reshape": reshape, "transpose": transpose, "swapaxes": swapaxes, "squeeze": squeeze, "ravel": ravel,
    "flatten": flatten, "astype": astype, "copy": copy_of, "clip": clip, "round": rounded, "dot": dot, "fill": fill,
    "conj": conj, "tobytes": tobytes, "sort": sort, "argsort": argsort, "nonzero": nonzero, "take": take,
    "repeat": repeat, "diagonal": diagonal, "trace": trace, "searchsorted": searchsorted,
}


def real(self):
    """The real parts."""
    return _finished(_built_in("real")(self), self.shape, None)


def imag(self):
    """The imaginary parts."""
    return _finished(_built_in("imag")(self), self.shape, None)


_dtypes = {}  # NumPy's dtypes, by name


def dtype(self):
    """The element type as a NumPy dtype; its name if NumPy is missing or has no such type."""
    name = self._dtype
    if name not in _dtypes:
        try:
            import numpy
        except ImportError:
            return name
        _dtypes[name] = name if name in _machine()._support.NOT_IN_NUMPY else numpy.dtype(name)
    return _dtypes[name]


def nbytes(self):
    """Bytes of all elements."""
    return self.size*_itemsize(self)


def _asks_for_a_mask(frame):
    """Whether pandas is testing for a mask; its isinstance checks run in frames of the module of its abstract
    classes."""
    while frame and frame.f_globals.get("__name__") == "pandas.core.dtypes.generic":
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "is_bool_indexer"


def pandas_kind(self):
    """Makes pandas accept arrays as masks.  pandas accepts only its own arrays or NumPy's as masks; otherwise the
    indices of df.iloc[A] would be 0 and 1, and it has no hook for other arrays.  pandas 3 recognizes its wrapper of a
    NumPy array by this name and then only calls to_numpy.  In earlier versions this name does not mark a mask, and the
    other name promises a complete ExtensionArray; so it is returned only where pandas distinguishes masks from
    indices."""
    import sys
    pandas = sys.modules.get("pandas")
    if pandas and int(pandas.__version__.split(".")[0]) < 3 and _asks_for_a_mask(sys._getframe(2)):
        return "extension"
    return "npy_extension"


ARRAY_PROPERTIES = {"T": transpose, "itemsize": _itemsize, "nbytes": nbytes, "real": real, "imag": imag,
                    "_typ": pandas_kind}


# -- NumPy -------------------------------------------------------------------------------------------------------------

def array(self, dtype=None, copy=None):
    import numpy
    a = self.to_py()
    if a is self:
        hint = "; list(d.values()) has its values" if self.typename == "object" else ""
        raise TypeError("a value of type %s is no array%s" % (self.typename, hint))
    a = numpy.asarray(a)
    never = copy is not None and not copy
    if never and self._kind == "array" and self._dtype in _machine()._support.NOT_IN_NUMPY:
        raise ValueError("NumPy has no %s, so the elements must be copied" % self._dtype)
    if never and self._kind == "array" and not a.flags.writeable and not self.readonly:
        raise ValueError("others use the elements on a device, so NumPy needs a copy")
    if dtype is not None and a.dtype != dtype:
        if never:
            raise ValueError("an array of %s cannot become one of %s without a copy" % (a.dtype, numpy.dtype(dtype)))
        return a.astype(dtype)
    return a.copy() if copy else a


def _typestr(name):
    """Returns the type string of the array interfaces: <f4 for float32."""
    import sys
    kind, bits = name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz") or "8"
    order = "|" if bits == "8" else "<" if sys.byteorder == "little" else ">"
    return "%s%s%d" % (order, kind[0], int(bits) // 8)


def _interface(self, name, on_device):
    if self._kind != "array" or self._dtype in _machine()._support.NOT_IN_NUMPY:
        raise AttributeError("%s: only arrays have it, and not all types of elements have a name there" % name)
    if self._recorded:
        from . import _numpy
        raise _numpy.NoDerivative("NumPy computes with elements, and no derivative of that is known here; functions of "
                                  "the language have one, such as q.cat(0, x, y), q.where(c, x, y), q.solve(A, b), and "
                                  "operators, as x @ y, and methods, as x.round(); np.stack([x, y]) makes an array of "
                                  "numbers; stop_gradient(x) counts as constant")
    address = self._address(on_device)
    if address is None:
        place = "in the memory of the cpu" if on_device else "on a device"
        raise AttributeError("%s: the elements are %s" % (name, place))
    packed = tuple(n*self.itemsize for n in _packed(self.shape))
    return {"shape": self.shape, "strides": None if self.strides == packed else self.strides,
            "typestr": _typestr(self._dtype), "version": 3, "data": (address if self.size else 0, self.readonly)}


def array_interface(self):
    return _interface(self, "__array_interface__", False)


def cuda_array_interface(self):
    d = _interface(self, "__cuda_array_interface__", True)
    return dict(d, stream=_machine()._bridge._queue(self.__dlpack_device__()[1]))


_operators = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv",
              "floor_divide": "floordiv", "remainder": "mod", "power": "pow", "matmul": "matmul", "negative": "neg",
              "positive": "pos", "absolute": "abs", "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le",
              "greater": "gt", "greater_equal": "ge"}


# NumPy functions that the language has, with its names.
_same = {name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2",
                                 "log10", "log1p", "sqrt", "cbrt", "hypot", "floor", "ceil", "trunc")}
_same.update({"arc" + name: "a" + name for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")})
_same.update(conjugate="conj")


def _operands(self, inputs):
    return (x if isinstance(x, type(self)) else _machine().value(x) for x in inputs)


def array_ufunc(self, ufunc, method, *inputs, **options):
    """Implements __array_ufunc__: NumPy functions of qvalues return qvalues.  Operators are those of the language,
    whichever operand comes first; so are functions if a derivative depends on an argument."""
    if any(getattr(x, "_recorded", False) for x in inputs):
        from . import _numpy
        name = ufunc.__name__
        if method == "__call__" and not options and name in _same:
            return _finished(_built_in(_same[name])(*inputs), None, None)
        if method == "__call__" and not options and name in _numpy.UFUNCS:
            return _numpy.UFUNCS[name](*_operands(self, inputs))
        if method == "__call__" and name in _numpy.TRUTHS:
            return _wrapped(ufunc(*map(_plain, map(_machine().stop_gradient, inputs)), **options))
        if method != "__call__" or options or name not in _operators:
            _numpy.refuse(name)
    if method == "__call__" and not options and ufunc.__name__ in _operators:
        import operator
        return getattr(operator, _operators[ufunc.__name__])(*_operands(self, inputs))
    out = options.pop("out", ())
    if out:
        options["out"] = tuple(map(_plain, out))
    r = getattr(ufunc, method)(*map(_plain, inputs), **options)
    if out:
        return out[0] if len(out) == 1 else out
    return tuple(map(_wrapped, r)) if isinstance(r, tuple) else _wrapped(r)


def array_function(self, function, types, args, names):
    """Implements __array_function__, also for arrays in lists: calls NumPy's implementation unless a derivative depends
    on an argument."""
    from . import _numpy
    if any(map(_numpy.is_recorded, args)) or any(map(_numpy.is_recorded, names.values())):
        return _numpy.function(function, args, names)
    return function._implementation(*args, **names)


def _plain(x):
    if getattr(x, "_recorded", False):
        raise TypeError("functions of NumPy have no derivatives here; those of the language do, as q.sin(x)")
    return x.to_py() if hasattr(x, "_kind") else x


def _wrapped(x):
    return _machine().value(x) if getattr(x, "ndim", 0) else x


def _index(x):
    """Converts an index for NumPy.  Positions computed by the language (find, sort, unique …) are floats and are
    converted to integers.  Floats of NumPy or Python are unchanged, so that NumPy rejects them."""
    if isinstance(x, list):
        return _index_list(x)
    if isinstance(x, float) and hasattr(x, "__index__"):  # a number of the language
        return x.__index__()
    a = _plain(x)
    if a is x or getattr(a, "dtype", None) is None or a.dtype.kind != "f":
        return a
    numpy = _machine()._support._numpy()
    wrong = a[~(numpy.isfinite(a) & (numpy.floor(a) == a) & (abs(a) < 2.0**53))]
    if wrong.size:
        raise IndexError("an index must be an integer, got %s" % wrong.flat[0])
    return a.astype(numpy.int64)


def _index_list(x):
    """Converts a list of positions or truth values at once.  Other lists, which may hold floats of the language, are
    converted item by item."""
    numpy = _machine()._support._numpy()
    try:
        a = numpy.asarray(x)
    except (TypeError, ValueError):  # NumPy makes no array of it
        a = None
    return list(map(_index, x)) if a is None or a.dtype.kind not in "biu" else a


def _key(key):
    return tuple(map(_index, key)) if isinstance(key, tuple) else _index(key)


def get_item(a, key):
    """Evaluates a[key] for keys that only NumPy handles."""
    return _taken(a, lambda x: x[_key(key)]) if a._recorded else _wrapped(a.to_py()[_key(key)])


def _taken(a, choose):
    """Selects elements of an array on which a derivative depends: NumPy determines the positions, and a recorded
    function of the language takes the elements.  Where NumPy returns a view (a diagonal), so does this."""
    numpy = _machine()._support._numpy()
    every = numpy.arange(a.size).reshape(a.shape)
    places = numpy.asarray(choose(every))
    if not places.size:
        raise ValueError("no element is chosen, so there is nothing to take a derivative of")
    steps = tuple(n//places.itemsize for n in places.strides)
    if numpy.may_share_memory(places, every) and min(steps, default=0) >= 0:
        return a.reshape(-1)[int(places.flat[0]):]._view(places.shape, steps)
    taken = _machine().evaluate("(x, places) -> x[places]")(a.reshape(-1), places.reshape(-1))
    return taken.reshape(places.shape) if places.ndim else taken


def set_item(a, key, x):
    view = a.to_py()
    shared = view.flags.writeable or a.readonly  # otherwise it is a copy of device memory
    if not shared:
        view = view.copy()
    x = _plain(x)
    if view.dtype.kind in "iu" and getattr(x, "dtype", None) is not None and x.dtype.kind == "f" and (x != x).any():
        raise ValueError("elements of %s cannot be nan" % a.dtype)
    view[_key(key)] = x
    if not shared:
        a[...] = view


# -- copies ------------------------------------------------------------------------------------------------------------

def _make_cell(typename, shape, items):
    import itertools
    c = _machine().typename(typename)(*shape)
    for place, x in zip(itertools.product(*map(range, shape)), items):
        c[place] = x
    return c


_DICTIONARY = "dict()"  # stands for the type of a dictionary, which is object


def _type_of(o):
    return _DICTIONARY if o._is_dictionary() else o.typename


def _make_object(typename, fields):
    if typename not in ("object", _DICTIONARY):
        return _machine().typename(typename)(**dict(fields))
    o = _machine().evaluate(typename if typename == _DICTIONARY else "object()")
    for key, x in fields:
        o[key] = x
    return o


def _items(cell):
    import itertools
    return [cell[place] for place in itertools.product(*map(range, cell.shape))]


def duplicate(self):
    """Returns a copy: arrays and cells get their own storage, and objects their own fields."""
    if self._kind == "object":
        return _make_object(_type_of(self), self._fields())
    if self._kind == "array" and not self._recorded:  # also without dimensions, where functions see a number
        return self._converted(self._dtype, True)
    return _built_in("copy")(self) if self._kind in ("array", "cell") else self


def deep_duplicate(self, memo):
    import copy
    if self._kind == "object":
        return _make_object(_type_of(self), copy.deepcopy(self._fields(), memo))
    if self._kind == "cell":
        return _make_cell(self.typename, self.shape, copy.deepcopy(_items(self), memo))
    return duplicate(self)


# -- dictionaries ------------------------------------------------------------------------------------------------------

class for_dictionaries(for_arrays):
    """A method of dictionaries with the meaning that it has for a dict.  Objects of a class do not have it."""

    def __get__(self, x, owner=None):
        if x is None:
            return self.function
        if x._kind != "object" or x.typename != "object":
            raise AttributeError("only dictionaries have the attribute %s" % self.__name__)
        return _MethodType(self.function, x)


def clear(self):
    """Removes all entries."""
    for key in self:
        del self[key]


def pop(self, key, default=_NOT_GIVEN):
    """Removes an entry and returns its value; if there is none, returns the default value."""
    if default is not _NOT_GIVEN and key not in self:
        return default
    x = self[key]
    del self[key]
    return x


DICTIONARY_METHODS = {name: getattr(collections.abc.MutableMapping, name)
                      for name in ("keys", "values", "items", "get", "setdefault", "update")}
DICTIONARY_METHODS.update(pop=pop, clear=clear)


# -- functions ---------------------------------------------------------------------------------------------------------

def doc(f):
    known = f._known
    if isinstance(known, str):
        return known.split("\n", 1)[1]
    return known[0] if known else None


def signature(f):
    """Implements inspect.signature and help; (*args) if several functions share the name."""
    from inspect import Parameter, Signature
    known, parameters = f._known, []
    if isinstance(known, str):
        from ._signatures import signature_of
        return signature_of(known.split("\n", 1)[0])
    if not known:
        return Signature([Parameter("args", Parameter.VAR_POSITIONAL)])
    for name, kind, rest, *default in known[1]:
        parameters.append(Parameter(name, Parameter.VAR_POSITIONAL if rest else Parameter.POSITIONAL_OR_KEYWORD,
                                    default=default[0] if default else Parameter.empty,
                                    annotation=kind or Parameter.empty))
    return Signature(parameters)


# -- notebooks ---------------------------------------------------------------------------------------------------------

def is_picture(self):
    """Whether the array is shown as a picture: height x width x 3 or 4, or a matrix of bytes."""
    if self._kind != "array" or self.size == 0 or self._dtype.startswith("complex"):
        return False
    shape = self.shape
    large = len(shape) >= 2 and min(shape[:2]) >= 16
    return large and (len(shape) == 3 and shape[2] in (3, 4) or len(shape) == 2 and self._dtype == "uint8")


def repr_png(self):
    """Returns a PNG of values 0 to 255; None if the array is not a picture."""
    if not is_picture(self):
        return None
    import struct, zlib
    numpy = _machine()._support._numpy()
    a = numpy.ascontiguousarray(numpy.clip(self.to_py(), 0, 255).astype(numpy.uint8))
    height, width = a.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in a)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    colour = {2: 0, 3: 2, 4: 6}[2 if a.ndim == 2 else a.shape[2]]
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


def _places(n, most=12):
    """Returns the indices to show out of n, with None where some are omitted."""
    half = most // 2
    return list(range(n)) if n <= most else list(range(half)) + [None] + list(range(n - half, n))


def repr_html(self):
    """Returns an HTML table of a vector or matrix; of large ones the corners."""
    import html
    if self._kind != "array" or self.ndim > 2 or is_picture(self):
        return None if is_picture(self) else "<pre>%s</pre>" % html.escape(repr(self))
    if self.ndim == 0 or self.size == 0:
        return "<pre>%s</pre>" % html.escape(repr(self))
    rows = [self] if self.ndim == 1 else None
    height, width = (1, len(self)) if rows else self.shape
    text = []
    for i in _places(height):
        row = None if i is None else self if rows else self[i]
        cells = ("&#8943;" if i is None or j is None
                 else html.escape("%.6g" % row[j] if isinstance(row[j], float) else str(row[j]))
                 for j in _places(width))
        text.append("<tr>%s</tr>" % "".join("<td>%s</td>" % c for c in cells))
    return "<table>%s</table><p>%s, %s</p>" % ("".join(text), self.typename, " &times; ".join(map(str, self.shape)))


def _later(name, module="_interop"):
    """Returns a method whose module is imported when it is called."""
    def method(self, *args, **options):
        from importlib import import_module
        return getattr(import_module("." + module, __package__), name)(self, *args, **options)
    method.__name__ = name
    return method


def size_of(self):
    """Implements sys.getsizeof; Dask uses it to estimate the memory of its workers."""
    return object.__sizeof__(self) + (self.nbytes if self._kind == "array" else 0)


METHODS = {
    "to_numpy": _later("to_numpy"), "from_numpy": _later("fill_from"), "to_torch": _later("to_torch"),
    "from_torch": _later("fill_from_torch"), "__jax_array__": _later("to_jax"),
    "__contains__": contains, "__reversed__": backwards, "__round__": round_of, "__format__": formatted,
    "numpy": lambda self: self.to_py(), "item": item, "locked": lock_for,
    "dtype": property(dtype), "requires_grad": property(lambda self: self.grad is not None),
    "__array__": array, "__array_interface__": property(array_interface), "__array_ufunc__": array_ufunc,
    "__array_function__": array_function,
    "__cuda_array_interface__": property(cuda_array_interface),
    "__torch_function__": classmethod(_later("torch_function")),
    "__copy__": duplicate, "__deepcopy__": deep_duplicate, "__reduce__": _later("reduce_value", "_pickles"),
    "__reduce_ex__": _later("reduce_by_protocol", "_pickles"), "__dask_tokenize__": _later("token", "_pickles"),
    "__sizeof__": size_of,
    "_repr_png_": repr_png, "_repr_html_": repr_html,
}
METHODS["numpy"].__doc__ = "A NumPy array of the same memory."
METHODS["numpy"].__name__ = "numpy"


def install(qvalue, qfunction):
    for name, method in METHODS.items():
        setattr(qvalue, name, method)
    for name, method in ARRAY_METHODS.items():
        if not isinstance(method, for_arrays):
            method.__name__ = method.__qualname__ = name  # used in Python's messages about arguments
            method = for_arrays(method, name)
        setattr(qvalue, name, method)
    for name, method in DICTIONARY_METHODS.items():
        setattr(qvalue, name, for_dictionaries(method, name))
    for name, function in ARRAY_PROPERTIES.items():
        setattr(qvalue, name, property_of_arrays(function, name))
    qfunction.__reduce__ = _later("reduce_function", "_pickles")
    qfunction.__dask_tokenize__ = _later("token", "_pickles")
    qfunction.__doc__ = property(doc)
    qfunction.__signature__ = property(signature)
