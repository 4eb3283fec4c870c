"""Defines element types and arrays, creates arrays and indexes them.  The VM computes (vm/typed); this file implements
the rules of the standard for shapes, types and arguments."""
import math, operator

from .. import _bridge, _support
from .._values import AxisError

QuasarClosedError = _support.closed_error
Array = _bridge.qtyped
item = _bridge._xp__item
strides_of = _bridge._xp__strides
view = _bridge._xp__view
gather, scatter = _bridge._xp__gather, _bridge._xp__scatter


# -- element types -----------------------------------------------------------------------------------------------------

class DType:
    """An element type of the standard."""
    __slots__ = "name", "code", "kind", "bits"

    def __init__(self, name, code, kind, bits):
        self.name, self.code, self.kind, self.bits = name, code, kind, bits

    itemsize = property(lambda self: max(self.bits // 8, 1))

    def __repr__(self):
        return "pyquasar.array_api." + self.name

    def __reduce__(self):
        return _dtype_named, (self.name,)


bool_ = DType("bool", 0, "bool", 8)
int8, int16, int32, int64 = (DType("int%d" % (8 << i), 2*i + 1, "signed integer", 8 << i) for i in range(4))
uint8, uint16, uint32, uint64 = (DType("uint%d" % (8 << i), 2*i + 2, "unsigned integer", 8 << i) for i in range(4))
float32, float64 = DType("float32", 11, "real floating", 32), DType("float64", 12, "real floating", 64)
complex64, complex128 = DType("complex64", 13, "complex floating", 64), DType("complex128", 14, "complex floating", 128)
DTYPES = (bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128)
BY_CODE = {d.code: d for d in DTYPES}
DEFAULTS = {"bool": bool_, "integral": int64, "real floating": float64, "complex floating": complex128}
INTEGERS = ("signed integer", "unsigned integer")
FLOATS = ("real floating", "complex floating")
KINDS = {"bool": ("bool",), "signed integer": ("signed integer",), "unsigned integer": ("unsigned integer",),
         "integral": INTEGERS, "real floating": ("real floating",), "complex floating": ("complex floating",),
         "numeric": INTEGERS + FLOATS}


def _dtype_named(name):
    return next(d for d in DTYPES if d.name == name)


def dtype_of(x):
    try:
        return BY_CODE[x._code]
    except AttributeError:
        raise TypeError("an array of the standard is wanted, got %s; asarray(x) makes one" % type(x).__name__) from None
    except KeyError:
        raise TypeError("the standard has no type %s; astype of the language makes another one" % x._dtype) from None


def real_of(d):
    return float32 if d is complex64 else float64 if d is complex128 else d


def complex_of(d):
    return complex64 if d in (float32, complex64) else complex128


def promote(a, b, what="result_type"):
    code = _bridge._xp__promote(a.code, b.code)
    if code is None:
        raise TypeError("%s: elements of type %s and %s do not meet" % (what, a.name, b.name))
    return BY_CODE[code]


_RANKS = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2, "complex floating": 3}


def _number_rank(x):
    return 0 if isinstance(x, bool) else 2 if isinstance(x, float) else 3 if isinstance(x, complex) else 1


def _are_of_one_type(xs):
    """Returns whether these are arrays, at least one, with elements of one type."""
    for x in xs:
        if type(x) is not Array or x._code != xs[0]._code:
            return False
    return len(xs) > 0


def result_type(*arrays_and_dtypes):
    """The type to which arrays, types and Python numbers are promoted."""
    if _are_of_one_type(arrays_and_dtypes):
        return dtype_of(arrays_and_dtypes[0])
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one argument is wanted")
    d, numbers = None, []
    for x in arrays_and_dtypes:
        if isinstance(x, (bool, int, float, complex)):
            numbers.append(x)
            continue
        own = x if isinstance(x, DType) else dtype_of(x)
        d = own if d is None else promote(d, own)
    if d is None:
        raise ValueError("result_type: one argument must be an array or an element type")
    for x in numbers:
        rank = _number_rank(x)
        if rank == 3 and d.kind == "real floating":
            d = complex_of(d)
        elif rank > _RANKS[d.kind] or (rank == 0) != (d is bool_):
            raise TypeError("result_type: a %s does not go with elements of type %s" % (type(x).__name__, d.name))
    return d


def isdtype(dtype, kind):
    """Whether the type equals kind, belongs to this kind ("bool", "integral", "numeric" ...), or to one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError("isdtype: there is no kind %r; the kinds are %s" % (kind, ", ".join(KINDS)))
        return dtype.kind in KINDS[kind]
    return dtype is kind


def can_cast(from_, to, /):
    """Whether the promotion rules allow a conversion from one type to the other."""
    code = _bridge._xp__promote((from_ if isinstance(from_, DType) else dtype_of(from_)).code, to.code)
    return code == to.code


class finfo_object:
    """The limits of a floating-point type."""

    def __init__(self, d):
        single = d.bits == 32
        self.bits, self.dtype = d.bits, d
        self.eps = 2.0**-23 if single else 2.0**-52
        self.max = (2 - self.eps)*(2.0**127 if single else 2.0**1023)
        self.min, self.smallest_normal = -self.max, 2.0**-126 if single else 2.0**-1022

    def __repr__(self):
        return "finfo(%s)" % self.dtype.name


class iinfo_object:
    """The limits of an integer type."""

    def __init__(self, d):
        signed = d.kind == "signed integer"
        self.bits, self.dtype = d.bits, d
        self.max, self.min = 2**(d.bits - signed) - 1, -2**(d.bits - 1) if signed else 0

    def __repr__(self):
        return "iinfo(%s)" % self.dtype.name


def finfo(type, /):
    """The limits of a floating-point type, or of the parts of a complex type."""
    d = real_of(type if isinstance(type, DType) else dtype_of(type))
    if d.kind != "real floating":
        raise TypeError("finfo: a type of floats is wanted, got %s" % d.name)
    return finfo_object(d)


def iinfo(type, /):
    """The limits of an integer type."""
    d = type if isinstance(type, DType) else dtype_of(type)
    if d.kind not in INTEGERS:
        raise TypeError("iinfo: a type of integers is wanted, got %s" % d.name)
    return iinfo_object(d)


_LIMITS = {d: iinfo_object(d) for d in DTYPES if d.kind in INTEGERS}


# -- arguments ---------------------------------------------------------------------------------------------------------

_OF_PYTHON = {bool: bool_, int: int64, float: float64, complex: complex128}


def type_of(dtype, default=None):
    """Converts an argument dtype: a type of the standard, or a Python type, which means the default type of its kind;
    None: default."""
    d = default if dtype is None else _OF_PYTHON.get(dtype, dtype)
    if d is not None and not isinstance(d, DType):
        raise TypeError("dtype: an element type of the standard is wanted, got %r" % (dtype,))
    return d


def check_device(device):
    if device is not None and device != "cpu":
        raise ValueError('device: arrays of the standard lie on the device "cpu", not on %r' % (device,))


def shape_of(shape):
    if type(shape) is int:
        return (shape,)
    if isinstance(shape, tuple) and all(type(n) is int for n in shape):
        return shape
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(operator.index(n) for n in shape)


def axis_of(axis, ndim, what="axis"):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError("%s %d is outside an array of %d dimensions" % (what, axis, ndim))
    return axis % ndim


def axes_of(axis, ndim):
    """Returns a sorted tuple of dimensions."""
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        return (axis_of(axis, ndim),)
    axes = sorted([axis_of(i, ndim) for i in axis])
    if len(set(axes)) < len(axes):
        raise ValueError("axis: a dimension is named twice in %s" % (axis,))
    return tuple(axes)


def packed_strides(shape):
    steps, step = [], 1
    for n in reversed(shape):
        steps.append(step)
        step *= n
    return tuple(reversed(steps))


def packed(x):
    """Returns x itself if its elements are contiguous, otherwise a copy."""
    return x if _bridge._xp__is_packed(x) else _bridge._xp__convert(x, x._code)


def new(shape, d, zeroed=False):
    try:
        return _bridge._xp__new(d.code, shape, zeroed)
    except QuasarClosedError:
        _support.sys.modules["pyquasar"].init("cpu")
    return _bridge._xp__new(d.code, shape, zeroed)


with_shape = _bridge._xp__shaped  # contiguous elements in another shape of the same size: with_shape(x, shape)
EVERY = [(slice(None),)*i for i in range(9)]  # EVERY[n]: the key that selects all elements of n dimensions


# -- making arrays -----------------------------------------------------------------------------------------------------

def _flatten(x, depth, shape, out):
    if isinstance(x, (list, tuple)):
        if len(shape) == depth:
            shape.append(len(x))
        elif shape[depth] != len(x):
            raise ValueError("asarray: lists inside a list must have one length")
        for y in x:
            _flatten(y, depth + 1, shape, out)
        return
    if hasattr(x, "ndim") and not isinstance(x, (int, float, complex)):
        x = asarray(x)
        if x.ndim:
            raise TypeError("asarray: lists of arrays are made one by stack(arrays)")
        x = item(x)
    if len(shape) != depth or not isinstance(x, (bool, int, float, complex)):
        raise ValueError("asarray: a number or a list of numbers is wanted, got %r" % (x,))
    out.append(x)


def _of_numbers(x, d):
    shape, numbers = [], []
    _flatten(x, 0, shape, numbers)
    rank = max(map(_number_rank, numbers), default=2 if d is None else 0)
    if d is None:
        d = (bool_, int64, float64, complex128)[rank]
    elif rank > _RANKS[d.kind]:
        raise TypeError("asarray: a %s cannot be of type %s" % (("bool", "int", "float", "complex")[rank], d.name))
    return _bridge._xp__fill(new(tuple(shape), d), numbers)


def _foreign(x):
    """Wraps memory of another library in place."""
    machine = _support.sys.modules["pyquasar"]
    new((0,), bool_)  # the VM is open
    if getattr(x, "ndim", 1) == 0:
        return with_shape(_foreign(x.reshape(1)), ())
    value = machine.value(x)
    if getattr(value, "_kind", None) != "array":
        raise TypeError("asarray: a number, a list of numbers or an array is wanted, got %s" % type(x).__name__)
    return _bridge._xp__wrap(value)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of numbers, of nested lists, or of the elements of another array, in its memory if possible; copy
    requires (True) or forbids (False) a copy."""
    if type(obj) is Array and dtype is None and device is None and copy is None:
        dtype_of(obj)  # is one of the standard's
        return obj
    check_device(device)
    dtype = type_of(dtype)
    if isinstance(obj, (bool, int, float, complex, list, tuple)):
        if copy is False:
            raise ValueError("asarray: numbers of Python cannot be used without a copy")
        return _of_numbers(obj, dtype)
    x = obj if type(obj) is Array else _bridge._xp__wrap(obj) if getattr(obj, "_kind", "") == "array" else _foreign(obj)
    d = dtype_of(x)
    if dtype is not None and dtype is not d:
        if copy is False:
            raise ValueError("asarray: elements of type %s cannot become %s without a copy" % (d.name, dtype.name))
        return astype(x, dtype)
    return _bridge._xp__convert(x, d.code) if copy else x


def astype(x, dtype, /, *, copy=True, device=None):
    """The elements converted to another type; integer types round toward zero and saturate at their limits."""
    check_device(device)
    dtype = type_of(dtype, dtype)
    if not copy and dtype is dtype_of(x):
        return x
    if dtype_of(x).kind == "complex floating" and dtype.kind != "complex floating":
        raise TypeError("astype: complex numbers become real ones by real(x) or abs(x)")
    return _bridge._xp__convert(x, dtype.code)


def from_dlpack(x, /, *, device=None, copy=None):
    """The memory of another library as an array."""
    check_device(device)
    machine = _support.sys.modules["pyquasar"]
    new((0,), bool_)
    if type(x) is Array:
        return asarray(x, copy=copy)
    r = machine.from_dlpack(x)
    if getattr(r, "_kind", None) != "array":
        r = with_shape(_foreign(x.reshape(1)), ())
    else:
        r = _bridge._xp__wrap(r)
    dtype_of(r)
    return _bridge._xp__convert(r, r._code) if copy else r


def empty(shape, *, dtype=None, device=None):
    """An array with undefined elements."""
    check_device(device)
    return new(shape_of(shape), type_of(dtype, float64))


def zeros(shape, *, dtype=None, device=None):
    """An array of zeros."""
    check_device(device)
    return new(shape_of(shape), type_of(dtype, float64), True)


def full(shape, fill_value, *, dtype=None, device=None):
    """An array filled with one number; its type is by default the default type of that kind of number."""
    check_device(device)
    if isinstance(fill_value, Array):
        fill_value = item(fill_value)
    dtype = type_of(dtype, (bool_, int64, float64, complex128)[_number_rank(fill_value)])
    x = new(shape_of(shape), dtype)
    x[...] = fill_value
    return x


def ones(shape, *, dtype=None, device=None):
    """An array of ones."""
    dtype = type_of(dtype, float64)
    return full(shape, True if dtype is bool_ else 1, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """empty(x.shape), of the type of x."""
    check_device(device)
    return new(x.shape, type_of(dtype, dtype_of(x)))


def zeros_like(x, /, *, dtype=None, device=None):
    """zeros(x.shape), of the type of x."""
    check_device(device)
    return new(x.shape, type_of(dtype, dtype_of(x)), True)


def ones_like(x, /, *, dtype=None, device=None):
    """ones(x.shape), of the type of x."""
    return ones(x.shape, dtype=dtype or dtype_of(x), device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """full(x.shape, fill_value), of the type of x."""
    return full(x.shape, fill_value, dtype=dtype or dtype_of(x), device=device)


def _range(d, n, first, step):
    try:
        return _bridge._xp__range(d.code, n, first, step)
    except QuasarClosedError:
        new((0,), bool_)
    return _bridge._xp__range(d.code, n, first, step)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """The numbers from start, in steps of step, up to but not including stop."""
    check_device(device)
    if stop is None:
        start, stop = 0, start
    whole = isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)
    if not step:
        raise ValueError("arange: the step must not be 0")
    n = max(0, -((start - stop) // step) if whole else math.ceil((stop - start)/step))
    d = type_of(dtype, int64 if whole else float64)
    if d.kind in INTEGERS:
        if not whole:
            return astype(_range(float64, n, float(start), float(step)), d)
        limits = _LIMITS[d]
        if n and not (limits.min <= start <= limits.max and limits.min <= start + (n - 1)*step <= limits.max):
            raise OverflowError("arange: not all numbers are of type %s" % d.name)
        return _range(d, n, start % 2**64, step % 2**64)
    if d.kind != "real floating":
        raise TypeError("arange: a type of real numbers is wanted, got %s" % d.name)
    return _range(d, n, float(start), float(step))


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num evenly spaced numbers from start to stop; endpoint=False excludes stop."""
    check_device(device)
    if num < 0:
        raise ValueError("linspace: num must be at least 0, got %d" % num)
    pairs = isinstance(start, complex) or isinstance(stop, complex)
    d = type_of(dtype, complex128 if pairs else float64)
    parts = num - 1 if endpoint else num
    if pairs or d.kind == "complex floating":
        re, im = ((getattr(complex(start), p), getattr(complex(stop), p)) for p in ("real", "imag"))
        re, im = (linspace(*ends, num, endpoint=endpoint) for ends in (re, im))
        return astype(re + im*1j, d)
    step = (stop - start)/parts if parts else math.nan
    x = _range(float64, num, float(start), step if parts > 0 and num > 1 else 0.0)
    if endpoint and num > 1:
        x[-1] = float(stop)
    return x if d is float64 else astype(x, d)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on the k-th diagonal, zeros elsewhere."""
    check_device(device)
    n_cols = n_rows if n_cols is None else n_cols
    dtype = type_of(dtype, float64)
    x = zeros((n_rows, n_cols), dtype=dtype)
    n = min(n_rows + min(k, 0), n_cols - max(k, 0))
    if n > 0:
        view(x, (n,), (n_cols + 1,), k if k >= 0 else -k*n_cols)[...] = True if dtype is bool_ else 1
    return x


def _triangle(x, k, lower):
    if x.ndim < 2:
        raise ValueError("%s: a matrix, or a stack of them, is wanted" % ("tril" if lower else "triu"))
    rows, columns = arange(x.shape[-2])[:, None], arange(x.shape[-1])[None, :]
    mask = columns - rows <= k if lower else columns - rows >= k
    return _bridge._xp_where(mask, x, new((), dtype_of(x), True))


def tril(x, /, *, k=0):
    """x on and below the k-th diagonal, zeros above."""
    return _triangle(x, k, True)


def triu(x, /, *, k=0):
    """x on and above the k-th diagonal, zeros below."""
    return _triangle(x, k, False)


def broadcast_shapes(*shapes):
    if len(set(shapes)) == 1:
        return shapes[0]
    ndim = max(map(len, shapes), default=0)
    out = [1]*ndim
    for shape in shapes:
        for i, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and out[i] not in (1, n):
                raise ValueError("shapes do not meet: %s" % " and ".join(map(str, shapes)))
            out[i] = n if n != 1 else out[i]
    return tuple(out)


def broadcast_to(x, /, shape):
    """x broadcast to a larger shape, in the same memory."""
    shape = tuple(shape)
    if shape == x.shape:
        return view(x, shape, strides_of(x), 0)
    if broadcast_shapes(x.shape, shape) != shape:
        raise ValueError("broadcast_to: an array of shape %s does not fill %s" % (x.shape, shape))
    steps = [0 if n == 1 else s for n, s in zip(x.shape, strides_of(x))]
    return view(x, shape, (0,)*(len(shape) - x.ndim) + tuple(steps), 0)


def broadcast_arrays(*arrays):
    """The arrays broadcast to their common shape."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def meshgrid(*arrays, indexing="xy"):
    """Arrays of the coordinates of each grid point."""
    if indexing not in ("xy", "ij"):
        raise ValueError('meshgrid: indexing must be "xy" or "ij", got %r' % (indexing,))
    if len({dtype_of(x) for x in arrays}) > 1:
        raise ValueError("meshgrid: the arrays must have one type of elements")
    n = len(arrays)
    order = [1, 0] + list(range(2, n)) if indexing == "xy" and n > 1 else list(range(n))
    at = [view(x,
               tuple((x.shape[0] if x.ndim else 1) if k == order[i] else 1 for k in range(n)),
               tuple((strides_of(x)[0] if x.ndim else 1) if k == order[i] else 1 for k in range(n)), 0)
          for i, x in enumerate(arrays)]
    return [packed(x) for x in broadcast_arrays(*at)]


# -- items -------------------------------------------------------------------------------------------------------------

def places(x, n, axis=None):
    """Checks indices into n elements, where negative ones count from the end; returns them as contiguous int64."""
    if dtype_of(x).kind not in INTEGERS:
        raise IndexError("index: integers or truth values are wanted, got elements of type %s" % dtype_of(x).name)
    if x.size:
        code, axes = x._code, (1 << x.ndim) - 1
        low, high = (item(_bridge._xp__fold(name, x, axes, False, code)) for name in ("min", "max"))
        if low < -n or high >= n:
            where = "" if axis is None else "axis %d of " % axis
            raise IndexError("index %d is outside %s%d elements" % (low if low < -n else high, where, n))
    x = x if dtype_of(x) is int64 else astype(x, int64)
    return packed(_bridge._xp_where(x < 0, x + n, x) if x.size and low < 0 else x)


def nonzero_places(mask):
    """Returns the linear indices at which a mask is true."""
    return _bridge._xp__nonzero(packed(mask))


def unravel(flat, shape):
    """Converts linear indices to one array of indices per dimension."""
    out = []
    for step, n in zip(packed_strides(shape), shape):
        out.append(flat // max(step, 1) % max(n, 1) if len(shape) > 1 else flat)
    return tuple(out)


def _expanded(x, key):
    """Returns the key with one part per dimension of x: slices, None, and index arrays, which replace masks."""
    parts = []
    for k in key if isinstance(key, tuple) else (key,):
        if getattr(k, "_kind", "") == "array" or hasattr(k, "__array_namespace__") or hasattr(k, "__array__"):
            k = asarray(k)
            if dtype_of(k) is bool_:
                parts.append(("mask", k))
                continue
        elif isinstance(k, list):
            k = asarray(k, dtype=None if k else int64)
            parts.append(("mask", k) if dtype_of(k) is bool_ else k)
            continue
        elif isinstance(k, bool):
            parts.append(("mask", asarray(k)))
            continue
        parts.append(k)
    used = sum(p[1].ndim if isinstance(p, tuple) else p is not None and p is not Ellipsis for p in parts)
    if used > x.ndim:
        raise IndexError("%d indices for an array of %d dimensions" % (used, x.ndim))
    dots = [i for i, p in enumerate(parts) if p is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has at most one '...'")
    at = dots[0] if dots else len(parts)
    return parts[:at] + [slice(None)]*(x.ndim - used) + parts[at + bool(dots):]


def _is_parted(key):
    """Returns whether an Ellipsis separates arrays, which it does even if it represents no dimension."""
    at = [k is Ellipsis for k in key].index(True) if isinstance(key, tuple) and any(k is Ellipsis for k in key) else 0
    picks = lambda part: any(k is not None and not isinstance(k, slice) for k in part)
    return at > 0 and picks(key[:at]) and picks(key[at + 1:])


def _offsets(x, key):
    """Returns the offsets in the memory of x of the elements that a key selects, in the shape of the result."""
    parts, basic, arrays, axis = _expanded(x, key), [], [], 0
    for p in parts:  # first a view for slices and None; v has one dimension for each part that is not a mask
        if isinstance(p, tuple):
            shape = x.shape[axis:axis + p[1].ndim]
            if any(m not in (0, n) for m, n in zip(p[1].shape, shape)):
                raise IndexError("index: a mask of shape %s for extents of %s" % (p[1].shape, shape))
            found = nonzero_places(p[1])
            if not p[1].ndim:
                basic.append(None)
                arrays.append((len(basic) - 1, new((found.size,), int64, True)))
            for k in unravel(found, shape):
                basic.append(slice(None))
                arrays.append((len(basic) - 1, k))
                axis += 1
            continue
        if p is None or isinstance(p, slice):
            basic.append(p)
        else:
            p = p if isinstance(p, Array) else asarray(operator.index(p))
            basic.append(slice(None))
            arrays.append((len(basic) - 1, places(p, x.shape[axis], axis)))
        axis += p is not None
    v = x[tuple(basic)]
    steps, met = strides_of(v), broadcast_shapes(*(k.shape for _, k in arrays))
    at = [i for i, _ in arrays]
    front = at[0] if at == list(range(at[0], at[0] + len(at))) and not _is_parted(key) else 0
    kept = [i for i in range(v.ndim) if i not in at]
    shape = tuple(v.shape[i] for i in kept[:front]) + met + tuple(v.shape[i] for i in kept[front:])
    off = new(shape, int64, True)
    for i, k in arrays:
        k = k*steps[i]
        behind = (1,)*(len(kept) - front)
        off += view(packed(k), k.shape + behind, packed_strides(k.shape) + behind, 0)
    for j, i in enumerate(kept):
        behind = len(kept) - j - 1 + (len(met) if j < front else 0)
        off += with_shape(_range(int64, v.shape[i], 0, steps[i] % 2**64), (v.shape[i],) + (1,)*behind)
    return v, off


def _is_whole_mask(x, key):
    return type(key) is Array and key._code == 0 and key.shape == x.shape and x.ndim > 0


def get(x, key):
    """Computes x[key] for a key with arrays."""
    if type(key) is Array and key._code != 0 and x.ndim and _bridge._xp__is_packed(x):
        n, rest = x.shape[0], x.shape[1:]
        at = places(key, n, 0)
        return _bridge._xp__take(x, 1, n, math.prod(rest), at, at.shape + rest)
    if _is_whole_mask(x, key):
        at = nonzero_places(key)
        return _bridge._xp__take(packed(x), 1, x.size, 1, at, at.shape)
    return gather(*_offsets(x, key))


def put(x, key, value):
    """Computes x[key] = value for a key with arrays."""
    if _is_whole_mask(x, key) and packed(x) is x:
        v, off = x, nonzero_places(key)
    else:
        v, off = _offsets(x, key)
    source = new(() if isinstance(value, (bool, int, float, complex)) or value.ndim == 0 else off.shape, dtype_of(x))
    source[...] = value
    if off.size:
        scatter(v, off, source)


_bridge._xp__items(get, put)


# -- arrays as objects -------------------------------------------------------------------------------------------------

def _number(kind, x):
    if x.ndim:
        raise TypeError("%s: only an array without dimensions is a number, this one has shape %s" % (kind, x.shape))
    return item(x)


def _index(x):
    if dtype_of(x).kind not in INTEGERS:
        raise TypeError("an array of type %s is no index" % dtype_of(x).name)
    return _number("index", x)


def _real(kind, convert):
    def method(self):
        n = _number(kind, self)
        if isinstance(n, complex):
            raise TypeError("%s: the number is complex" % kind)
        return convert(n)
    return method


def _namespace(self, /, *, api_version=None):
    from pyquasar import array_api
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError("__array_namespace__: version %s of the standard is not here" % api_version)
    return array_api


def _to_device(self, device, /, *, stream=None):
    check_device(device)
    if stream is not None:
        raise ValueError("to_device: the processor has no streams")
    return self


def _transposed(x):
    if x.ndim != 2:
        raise ValueError("T: a matrix is wanted, got %d dimensions; mT and permute_dims take more" % x.ndim)
    return matrix_transpose(x)


def matrix_transpose(x, /):
    """x with the last two dimensions exchanged."""
    if x.ndim < 2:
        raise ValueError("matrix_transpose: at least two dimensions are wanted, got %d" % x.ndim)
    s, d = strides_of(x), x.shape
    return view(x, d[:-2] + (d[-1], d[-2]), s[:-2] + (s[-1], s[-2]), 0)


def _text(x):
    if not x.ndim:
        return repr(item(x))
    n = x.shape[0]
    rows = [_text(x[i]) for i in (range(n) if n <= 8 else (0, 1, 2, n - 3, n - 2, n - 1))]
    return "[%s]" % ", ".join(rows if n <= 8 else rows[:3] + ["..."] + rows[3:])


def _repr(self):
    return "Array(%s, dtype=%s)" % (_text(self), dtype_of(self).name)


def _rebuild(value):
    return _bridge._xp__wrap(value)


def plain(x):
    """A plain value of the language on the same elements, whose operators follow the language."""
    return _bridge._xp__plain(x)


def _dlpack(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
    return plain(self).__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


METHODS = {
    "dtype": property(dtype_of), "device": property(lambda self: "cpu"), "T": property(_transposed),
    "mT": property(matrix_transpose), "__array_namespace__": _namespace, "to_device": _to_device,
    "__bool__": lambda self: bool(_number("bool", self)), "__int__": _real("int", int),
    "__float__": _real("float", float), "__complex__": lambda self: complex(_number("complex", self)),
    "__index__": _index, "__repr__": _repr, "__str__": lambda self: _text(self), "item": lambda self: item(self),
    "__dlpack__": _dlpack,
    "__copy__": lambda self: _bridge._xp__convert(self, self._code),
    "__deepcopy__": lambda self, memo: _bridge._xp__convert(self, self._code),
    "__reduce__": lambda self: (_rebuild, (plain(self),)),
}
for _name, _method in METHODS.items():
    setattr(Array, _name, _method)
