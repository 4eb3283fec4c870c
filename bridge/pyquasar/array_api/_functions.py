"""Implements functions that move, search, sort and sum the elements of arrays."""
import math as _math
from builtins import max as builtin_max, min as builtin_min, sum as builtin_sum
from collections import namedtuple as _namedtuple
from itertools import accumulate as _accumulate
import warnings as _warnings

from .. import _bridge
from ._core import (arange, Array, asarray, astype, axes_of, axis_of, bool_, broadcast_shapes, broadcast_to, dtype_of,
                    EVERY, FLOATS, gather, iinfo, int64, INTEGERS, item, new, nonzero_places, packed, places, plain,
                    promote, result_type, scatter, shape_of, strides_of, uint64, uint8, unravel, view, with_shape,
                    zeros)

_where, _maximum, _minimum = _bridge._xp_where, _bridge._xp_maximum, _bridge._xp_minimum

# -- functions of the language with several results --------------------------------------------------------------------

_TEXT = """
function [y, i] = array_api_sort(x, how)
    [y, i] = sort(x, 1, how)
end
function [q, r] = array_api_qr(x)
    [q, r] = qr(x)
end
function [u, s, v] = array_api_svd(x)
    [u, s, v] = svd(x)
end
function [v, d] = array_api_symeig(x)
    [v, d] = symeig(x)
end
"""
_program = {}


def language(name, *args):
    """Calls a function of the language with plain values, and returns arrays of the standard."""
    import pyquasar
    args = [plain(x) if type(x) is Array else x for x in args]
    for again in (False, True):
        if name not in _program or again:
            if name.startswith("array_api_"):
                _program[name] = getattr(pyquasar.compile_string("array_api", _TEXT), name)
            else:
                _program[name] = _bridge._built_in(name)
        try:
            r = _program[name](*args)
        except pyquasar.QuasarClosedError:  # belongs to a closed VM
            if again:
                raise
            continue
        break
    wrap = lambda v: _bridge._xp__wrap(v) if getattr(v, "_kind", "") == "array" else v
    return tuple(map(wrap, r)) if isinstance(r, tuple) else wrap(r)


# -- manipulation ------------------------------------------------------------------------------------------------------

def reshape(x, /, shape, *, copy=None):
    """The elements in another shape, in the same memory if possible; copy requires (True) or forbids (False) a copy."""
    shape, size = shape_of(shape), x.size
    if shape.count(-1) > 1:
        raise ValueError("reshape: at most one extent can be -1, got %s" % (shape,))
    if -1 in shape:
        at, rest = shape.index(-1), -_product(shape)
        shape = shape[:at] + (size // rest if rest else 0,) + shape[at + 1:]
        if not rest or size % rest:
            raise ValueError("reshape: %d elements do not fill %s" % (size, shape[:at] + (-1,) + shape[at + 1:]))
    if _product(shape) != size:
        raise ValueError("reshape: %d elements do not fill %s" % (size, shape))
    same = packed(x)
    if copy is False and same is not x:
        raise ValueError("reshape: the elements do not lie one behind the other, so they must be copied")
    if copy and same is x:
        same = _bridge._xp__convert(x, x._code)
    return with_shape(same, shape)


_product = _math.prod


def _flat(x):
    """The elements as a vector, in the memory of x if possible."""
    return x if x.ndim == 1 else with_shape(packed(x), (x.size,))


def permute_dims(x, /, axes):
    """x with its dimensions in another order."""
    axes = tuple(axes)
    y = _bridge._xp__permuted(x, axes)
    if y is None:
        axes = [axis_of(i, x.ndim) for i in axes]
        raise ValueError("permute_dims: the axes must name each of %d dimensions once, got %s" % (x.ndim, axes))
    return y


def moveaxis(x, source, destination, /):
    """x with some dimensions moved to other positions; the others keep their order."""
    if source == destination:
        axes_of(source, x.ndim)
        return view(x, x.shape, strides_of(x), 0)
    source = [axis_of(i, x.ndim) for i in (source if isinstance(source, (tuple, list)) else (source,))]
    target = [axis_of(i, x.ndim) for i in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    if len(source) != len(target) or len(set(source)) < len(source) or len(set(target)) < len(target):
        raise ValueError("moveaxis: as many different dimensions are wanted on both sides")
    order = [i for i in range(x.ndim) if i not in source]
    for to, i in sorted(zip(target, source)):
        order.insert(to, i)
    return permute_dims(x, order)


def expand_dims(x, /, axis=0):
    """x with a new dimension of extent 1 at the index axis."""
    return x[EVERY[axis_of(axis, x.ndim + 1)] + (None,)]


def squeeze(x, /, axis):
    """x without some dimensions of extent 1."""
    axes, shape = axes_of(axis, x.ndim), x.shape
    for i in axes:
        if shape[i] != 1:
            raise ValueError("squeeze: not all of the axes %s of shape %s have extent 1" % (axes, shape))
    return x[tuple([0 if i in axes else slice(None) for i in range(len(shape))])]


def flip(x, /, *, axis=None):
    """The elements in reverse order along dimensions."""
    axes = axes_of(axis, x.ndim)
    return x[tuple([_REVERSED if i in axes else slice(None) for i in range(x.ndim)])]


_REVERSED = slice(None, None, -1)


def concat(arrays, /, *, axis=0):
    """The arrays concatenated along a dimension; None: as vectors."""
    arrays = [_flat(x) for x in arrays] if axis is None else list(arrays)
    if not arrays:
        raise ValueError("concat: at least one array is wanted")
    axis = axis_of(axis or 0, arrays[0].ndim)
    shapes = [x.shape for x in arrays]
    before, behind = shapes[0][:axis], shapes[0][axis + 1:]
    for shape in shapes:
        if shape[:axis] != before or shape[axis + 1:] != behind or len(shape) != len(shapes[0]):
            raise ValueError("concat: shapes differ beside axis %d: %s" % (axis, shapes))
    ends = list(_accumulate(shape[axis] for shape in shapes))
    out = new(before + (ends[-1],) + behind, result_type(*arrays))
    every = EVERY[axis]
    for x, shape, end in zip(arrays, shapes, ends):
        out[every + (slice(end - shape[axis], end),)] = x
    return out


def stack(arrays, /, *, axis=0):
    """The arrays joined along a new dimension."""
    arrays = list(arrays)
    if len({x.shape for x in arrays}) != 1:
        raise ValueError("stack: arrays of one shape are wanted, got %s" % [x.shape for x in arrays])
    return concat([expand_dims(x, axis) for x in arrays], axis=axis_of(axis, arrays[0].ndim + 1))


def unstack(x, /, *, axis=0):
    """The arrays that x contains along a dimension."""
    axis = axis_of(axis, x.ndim)
    return tuple(x[(slice(None),)*axis + (i,)] for i in range(x.shape[axis]))


def tile(x, repetitions, /):
    """The array repeated the given number of times along each dimension."""
    n = builtin_max(len(repetitions), x.ndim)
    times = (1,)*(n - len(repetitions)) + tuple(repetitions)
    shape = (1,)*(n - x.ndim) + x.shape
    if n > 4 and 2*n > 8:
        for i, k in enumerate(times):
            x = concat([reshape(x, shape) if i == 0 else x]*k, axis=i) if k else \
                zeros(shape[:i] + (0,) + shape[i + 1:], dtype=dtype_of(x))
            shape = x.shape
        return x
    pairs = [m for pair in zip(times, shape) for m in pair]
    steps = [m for s in (0,)*(n - x.ndim) + strides_of(x) for m in (0, s)]
    spread = _bridge._xp__convert(view(x, tuple(pairs), tuple(steps), 0), x._code)
    return with_shape(spread, tuple([k*m for k, m in zip(times, shape)]))


def repeat(x, repeats, /, *, axis=None):
    """Each element repeated the given number of times along a dimension; None: as a vector."""
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = axis_of(axis, x.ndim)
    n = x.shape[axis]
    if isinstance(repeats, int) and x.ndim < 8:
        before, behind, s = x.shape[:axis + 1], x.shape[axis + 1:], strides_of(x)
        if repeats > 8 or _product(behind) > 8:
            each = view(x, before + (repeats,) + behind, s[:axis + 1] + (0,) + s[axis + 1:], 0)
            each = _bridge._xp__convert(each, x._code)
        else:  # long strides are faster than many short rows
            each = new(before + (repeats,) + behind, dtype_of(x))
            for i in range(repeats):
                each[EVERY[axis + 1] + (i,)] = x
        return with_shape(each, before[:-1] + (n*repeats,) + behind)
    if isinstance(repeats, int):
        at = reshape(broadcast_to(arange(n)[:, None], (n, repeats)), (-1,))
    else:
        repeats = broadcast_to(astype(repeats, int64), (n,))
        ends = cumulative_sum(repeats)
        total = item(ends[-1]) if n else 0
        at = searchsorted(ends, arange(total), side="right")
    return take(x, at, axis=axis)


def roll(x, /, shift, *, axis=None):
    """The elements shifted along dimensions, cyclically."""
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)*len(axes)
    if len(shifts) == 1:
        shifts = tuple(shifts)*len(axes)
    if len(axes) != len(shifts):
        raise ValueError("roll: as many shifts as axes are wanted")
    y = x
    for k, i in zip(shifts, axes):
        i = axis_of(i, x.ndim)
        n = x.shape[i]
        k = k % n if n else 0
        if k:
            before = (slice(None),)*i
            y = concat([y[before + (slice(n - k, n),)], y[before + (slice(0, n - k),)]], axis=i)
    return y if y is not x else _bridge._xp__convert(x, x._code)


# -- indexing ----------------------------------------------------------------------------------------------------------

def take(x, indices, /, *, axis=None):
    """The elements at the given indices along a dimension."""
    if axis is None and x.ndim != 1:
        raise ValueError("take: the axis of an array of %d dimensions must be named" % x.ndim)
    axis = axis_of(axis or 0, x.ndim)
    at = places(indices, x.shape[axis], axis)
    outer, inner = _product(x.shape[:axis]), _product(x.shape[axis + 1:])
    return _bridge._xp__take(packed(x), outer, x.shape[axis], inner, at, x.shape[:axis] + at.shape + x.shape[axis + 1:])


def take_along_axis(x, indices, /, *, axis=-1):
    """For each index, the element at this index along a dimension; the other dimensions broadcast."""
    axis = axis_of(axis, x.ndim)
    if indices.ndim != x.ndim:
        raise ValueError("take_along_axis: as many dimensions are wanted, got %d and %d" % (x.ndim, indices.ndim))
    if x.ndim == 1:
        return take(x, indices, axis=0)
    others = broadcast_shapes(x.shape[:axis] + (1,) + x.shape[axis + 1:],
                              indices.shape[:axis] + (1,) + indices.shape[axis + 1:])
    y = broadcast_to(x, others[:axis] + (x.shape[axis],) + others[axis + 1:])
    at = broadcast_to(places(indices, x.shape[axis], axis), others[:axis] + (indices.shape[axis],) + others[axis + 1:])
    off = at*strides_of(y)[axis]
    for i, step in enumerate(strides_of(y)):
        if i != axis:
            off = off + with_shape(arange(y.shape[i])*step, (y.shape[i],) + (1,)*(x.ndim - i - 1))
    return gather(y, off)


def nonzero(x, /):
    """The indices of the elements that are not 0: one array per dimension."""
    if not x.ndim:
        raise ValueError("nonzero: an array without dimensions has no places")
    return unravel(nonzero_places(x if dtype_of(x) is bool_ else x != 0), x.shape)


def clip(x, /, min=None, max=None):
    """The elements limited to the range from min to max; nan stays."""
    d = dtype_of(x)
    if d.kind == "bool" or d.kind == "complex floating":
        raise TypeError("clip: real numbers are wanted, got elements of type %s" % d.name)
    for limit, choose in ((min, _maximum), (max, _minimum)):
        if limit is None:
            continue
        if isinstance(limit, int) and d.kind in INTEGERS:
            info = iinfo(d)
            limit = info.min if limit < info.min else info.max if limit > info.max else limit
        elif not isinstance(limit, (int, float)):
            limit = asarray(limit)
            if dtype_of(limit) is not d and promote(dtype_of(limit), d, "clip") is not d:
                x = choose(x, limit)
                continue
        x = choose(x, limit)
    return astype(x, d, copy=min is None and max is None)


# -- reductions --------------------------------------------------------------------------------------------------------

def _fold(which, x, axis, keepdims, d):
    axes = (1 << x.ndim) - 1 if axis is None else builtin_sum(1 << i for i in axes_of(axis, x.ndim))
    return _bridge._xp__fold(which, x, axes, keepdims, d.code)


def _summed(x, dtype):
    """Returns (x, the type of its sum)."""
    d = dtype_of(x)
    if dtype is None:
        dtype = int64 if d.kind == "signed integer" or d is bool_ else uint64 if d.kind == "unsigned integer" else d
    if d is bool_:
        x = astype(x, uint8)
    if dtype.kind != dtype_of(x).kind and not (dtype.kind in INTEGERS and dtype_of(x).kind in INTEGERS):
        x = astype(x, dtype)
    return x, dtype


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum of all elements, or along dimensions; for integers in int64 or uint64, where it wraps."""
    x, dtype = _summed(x, dtype)
    return _fold("sum", x, axis, keepdims, dtype)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product of all elements, or along dimensions; for integers in int64 or uint64, where it wraps."""
    x, dtype = _summed(x, dtype)
    return _fold("prod", x, axis, keepdims, dtype)


def min(x, /, *, axis=None, keepdims=False):
    """The smallest element; nan if there is one."""
    return _fold("min", x, axis, keepdims, dtype_of(x))


def max(x, /, *, axis=None, keepdims=False):
    """The greatest element; nan if there is one."""
    return _fold("max", x, axis, keepdims, dtype_of(x))


def any(x, /, *, axis=None, keepdims=False):
    """Whether any element is not 0."""
    return _fold("any", x, axis, keepdims, bool_)


def all(x, /, *, axis=None, keepdims=False):
    """Whether no element is 0."""
    return _fold("all", x, axis, keepdims, bool_)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """The number of elements that are not 0."""
    return _fold("count_nonzero", x, axis, keepdims, int64)


def _elements(x, axis):
    return _product(x.shape[i] for i in axes_of(axis, x.ndim))


def _check_floats(x, what):
    if dtype_of(x).kind not in FLOATS:
        raise TypeError("%s: floats are wanted, got elements of type %s" % (what, dtype_of(x).name))


def _warn_of_nan(text, result):
    """Gives NumPy's warning for results that are nan because there are too few elements."""
    if result.size:
        _warnings.warn(text, RuntimeWarning, stacklevel=3)
    return result


def _mean(x, axis, keepdims):
    return sum(x, axis=axis, keepdims=keepdims)/float(_elements(x, axis))


def mean(x, /, *, axis=None, keepdims=False):
    """The mean of all elements, or along dimensions."""
    _check_floats(x, "mean")
    result = _mean(x, axis, keepdims)
    return result if _elements(x, axis) else _warn_of_nan("Mean of empty slice", result)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance: the sum of squared deviations from the mean, divided by n - correction."""
    _check_floats(x, "var")
    apart = x - _mean(x, axis, True)
    if dtype_of(x).kind == "complex floating":
        apart = _bridge._xp_abs(apart)
    n = float(_elements(x, axis) - correction)
    result = sum(apart*apart, axis=axis, keepdims=keepdims)/(n if n > 0 else 0.0)
    return result if n > 0 else _warn_of_nan("Degrees of freedom <= 0 for slice", result)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation, the square root of var."""
    return _bridge._xp_sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def _running(which, x, axis, dtype, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise ValueError("the axis of an array of %d dimensions must be named" % x.ndim)
        axis = 0
    x, dtype = _summed(x, dtype)
    return _bridge._xp__running(which, x, axis_of(axis, x.ndim), include_initial, dtype.code)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The cumulative sums; include_initial adds a 0 at the beginning."""
    return _running("sum", x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The cumulative products; include_initial adds a 1 at the beginning."""
    return _running("prod", x, axis, dtype, include_initial)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours along a dimension, repeated n times."""
    axis = axis_of(axis, x.ndim)
    parts = [p for p in (prepend, x, append) if p is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    before = (slice(None),)*axis
    for _ in range(n):
        high, low = x[before + (slice(1, None),)], x[before + (slice(None, -1),)]
        x = high != low if dtype_of(x) is bool_ else high - low
    return x


# -- searching and sorting ---------------------------------------------------------------------------------------------

def _place(largest, x, axis, keepdims):
    if dtype_of(x) is bool_:
        x = astype(x, uint8)
    if axis is None:
        r = _bridge._xp__place(largest, packed(_flat(x)), 0)
        return with_shape(r, (1,)*x.ndim) if keepdims else r
    axis = axis_of(axis, x.ndim)
    r = _bridge._xp__place(largest, packed(x), axis)
    return with_shape(r, x.shape[:axis] + (1,) + x.shape[axis + 1:]) if keepdims else r


def argmax(x, /, *, axis=None, keepdims=False):
    """The first index of the greatest element; nan is the greatest."""
    return _place(True, x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """The first index of the smallest element; nan is the smallest."""
    return _place(False, x, axis, keepdims)


def _rows(x, axis):
    """Returns (the elements along a dimension as rows, a function that restores the shape)."""
    axis, last = axis_of(axis, x.ndim), x.ndim - 1
    y = x if axis == last else moveaxis(x, axis, last)
    shape = y.shape

    def back(r):
        r = with_shape(packed(r), shape)
        return r if axis == last else moveaxis(r, last, axis)
    return with_shape(packed(y), (_product(shape[:-1]), shape[-1])), back


def _check_order(x, what):
    if dtype_of(x).kind == "complex floating":
        raise TypeError("%s: complex numbers have no order" % what)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements sorted along a dimension; nan last."""
    _check_order(x, "sort")
    if dtype_of(x) is bool_:
        return astype(sort(astype(x, uint8), axis=axis, descending=descending), bool_)
    rows, back = _rows(x, axis)
    if not x.size:
        return packed(x)
    return packed(back(language("sort", rows, 1, "descend" if descending else "ascend")))


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The indices of the elements in sorted order; equal elements keep their order."""
    _check_order(x, "argsort")
    rows, back = _rows(astype(x, uint8) if dtype_of(x) is bool_ else x, axis)
    if not x.size:
        return zeros(x.shape, dtype=int64)
    at = language("array_api_sort", rows, "descend" if descending else "ascend")[1]
    return packed(back(astype(at, int64)))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """The indices at which the elements of x2 belong in sorted x1; side="right": after equal elements."""
    if side not in ("left", "right"):
        raise ValueError('searchsorted: side must be "left" or "right", got %r' % (side,))
    if x1.ndim != 1:
        raise ValueError("searchsorted: a vector is wanted, got %d dimensions" % x1.ndim)
    x2 = asarray(x2, dtype=dtype_of(x1)) if isinstance(x2, (int, float)) else x2
    x1 = x1 if sorter is None else take(x1, sorter)
    d = result_type(x1, x2)
    return _bridge._xp__search(packed(astype(x1, d, copy=False)), packed(astype(x2, d, copy=False)), side == "right")


def _order(flat):
    """Returns the indices that sort a vector; complex numbers by their real parts first."""
    if dtype_of(flat).kind != "complex floating":
        return argsort(flat)
    by_imaginary = argsort(_bridge._xp_imag(flat))
    return take(by_imaginary, argsort(take(_bridge._xp_real(flat), by_imaginary)))


def _unique(x):
    """Returns (sorted values, which of them begin a group of equal values, indices before sorting)."""
    flat = _flat(x)
    order = _order(flat)
    ordered = take(flat, order)
    begins = zeros(flat.shape, dtype=bool_)
    if flat.size:
        begins[0] = True
        begins[1:] = ordered[1:] != ordered[:-1]
    return ordered, begins, order


def unique_all(x, /):
    """The distinct elements, their first indices, the index of each element among them, and their counts."""
    ordered, begins, order = _unique(x)
    at = nonzero_places(begins)
    inverse = new(ordered.shape, int64)
    if ordered.size:
        scatter(inverse, order, packed(cumulative_sum(astype(begins, int64)) - 1))
    counts = diff(at, append=asarray([ordered.size], dtype=int64))
    return UniqueAll(take(ordered, at), take(order, at), reshape(inverse, x.shape), counts)


def unique_counts(x, /):
    """The distinct elements and their counts."""
    r = unique_all(x)
    return UniqueCounts(r.values, r.counts)


def unique_inverse(x, /):
    """The distinct elements, and the index of each element among them."""
    r = unique_all(x)
    return UniqueInverse(r.values, r.inverse_indices)


def unique_values(x, /):
    """The distinct elements, sorted."""
    flat = _flat(x)
    if dtype_of(x).kind == "complex floating" or not x.size:
        return unique_all(x).values
    ordered = sort(flat)
    begins = zeros(flat.shape, dtype=bool_)
    begins[0] = True
    begins[1:] = ordered[1:] != ordered[:-1]
    return ordered[begins]


UniqueAll = _namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = _namedtuple("UniqueCounts", "values counts")
UniqueInverse = _namedtuple("UniqueInverse", "values inverse_indices")


# -- products ----------------------------------------------------------------------------------------------------------

def matmul(x1, x2, /):
    """Matrix products of the last two dimensions; the other dimensions broadcast."""
    d = result_type(x1, x2)
    if not x1.ndim or not x2.ndim:
        raise ValueError("matmul: arrays with dimensions are wanted")
    a = astype(x1[None, :] if x1.ndim == 1 else x1, d, copy=False)
    b = astype(x2[:, None] if x2.ndim == 1 else x2, d, copy=False)
    left, right = a.shape, b.shape
    m, k, n = left[-2], left[-1], right[-1]
    if k != right[-2]:
        raise ValueError("matmul: shapes %s and %s do not match" % (x1.shape, x2.shape))
    stack = broadcast_shapes(left[:-2], right[:-2])
    if stack:
        a, b = broadcast_to(a, stack + (m, k)), broadcast_to(b, stack + (k, n))
    r = _bridge._xp__product(a, b, m, n, k, stack + (m, n))
    shape = stack + ((m,) if x1.ndim > 1 else ()) + ((n,) if x2.ndim > 1 else ())
    return with_shape(r, shape) if shape != stack + (m, n) else r


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of conj(x1)*x2 along a dimension."""
    d = result_type(x1, x2)
    x1, x2 = _met(x1, x2, axis, "vecdot")
    x1 = astype(x1, d, copy=False)
    x1 = _bridge._xp_conj(x1) if d.kind == "complex floating" else x1
    return sum(x1*x2, axis=-1, dtype=d)


def _met(x1, x2, axis, what):
    """Moves that dimension, counted from the end, to the end of both arrays."""
    if not -builtin_min(x1.ndim, x2.ndim) <= axis < 0:
        if not (x1.ndim == x2.ndim and 0 <= axis < x1.ndim):
            raise IndexError("%s: axis %d is outside the dimensions of both" % (what, axis))
        axis -= x1.ndim
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError("%s: extents %d and %d do not match" % (what, x1.shape[axis], x2.shape[axis]))
    return (x1, x2) if axis == -1 else (moveaxis(x1, axis, -1), moveaxis(x2, axis, -1))


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products along several dimensions of both."""
    if isinstance(axes, int):
        axes = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    first, second = ([axis_of(i, x.ndim) for i in a] for a, x in zip(axes, (x1, x2)))
    if [x1.shape[i] for i in first] != [x2.shape[i] for i in second]:
        raise ValueError("tensordot: extents do not match along %s and %s" % (first, second))
    left = [i for i in range(x1.ndim) if i not in first]
    right = [i for i in range(x2.ndim) if i not in second]
    k = _product(x1.shape[i] for i in first)
    a = reshape(permute_dims(x1, left + first), (_product(x1.shape[i] for i in left), k))
    b = reshape(permute_dims(x2, second + right), (k, _product(x2.shape[i] for i in right)))
    return with_shape(matmul(a, b), tuple(x1.shape[i] for i in left) + tuple(x2.shape[i] for i in right))


Array.__matmul__ = lambda self, other: matmul(self, other) if hasattr(other, "_kind") else NotImplemented
Array.__rmatmul__ = lambda self, other: matmul(other, self) if hasattr(other, "_kind") else NotImplemented


def _matmul_in_place(self, other):
    self[...] = matmul(self, other)
    return self


Array.__imatmul__ = _matmul_in_place
