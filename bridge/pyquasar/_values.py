"""What qvalue can do that is shorter to say in Python: the methods at the end are put into the type."""


def _machine():
    import pyquasar
    return pyquasar


# -- as Python's own ---------------------------------------------------------------------------------------------------

def _memory(self):
    """A memoryview of the elements, of a copy where others use them on a device."""
    try:
        return memoryview(self)
    except BufferError:
        return memoryview(_machine().copy(self))


def tolist(self):
    """The elements of an array or cell as nested lists of Python's own numbers."""
    if self._kind == "array":
        known = self.ndim and not self.dtype.startswith(("complex", "float16", "bfloat16"))  # to memoryview
        return (_memory(self) if known else self.to_py()).tolist()
    if self._kind != "cell":
        return self.to_py()
    return [x.tolist() if isinstance(x, type(self)) else x for x in self]


def item(self):
    """The only element, as a number of Python."""
    for convert in (float, complex):
        try:
            x = convert(self)
        except TypeError:
            continue
        exact = self._kind == "array" and ("int" in self.dtype or self.dtype == "bool")
        return int(self) if exact and self.dtype != "bool" else bool(x) if exact else x
    raise TypeError("a value of type %s is no number" % self.typename)


def transposed(self):
    """The same memory with the dimensions in reverse order, as in NumPy."""
    return _wrapped(self.to_py().T)


class locked:
    """with A.locked(LOCK_READ) as pointer: ..."""

    def __init__(self, owner, *args):
        self.owner, self.args = owner, args

    def __enter__(self):
        return self.owner.lock(*self.args)

    def __exit__(self, *error):
        self.owner.unlock(*self.args)


def lock_for(self, mode=3, device=0):
    """A context that holds a lock and gives the address of the elements."""
    return locked(self, mode, device)


# -- NumPy -------------------------------------------------------------------------------------------------------------

def array(self, dtype=None, copy=None):
    import numpy
    a = self.to_py()
    if a is self:
        raise TypeError("a value of type %s is no array" % self.typename)
    a = numpy.asarray(a)
    if copy is False and self._kind == "array" and self.dtype == "bfloat16":
        raise ValueError("NumPy has no bfloat16, so the elements must be copied")
    if copy is False and self._kind == "array" and not a.flags.writeable and not self.readonly:
        raise ValueError("others use the elements on a device, so NumPy needs a copy")
    if dtype is not None and a.dtype != dtype:
        if copy is False:
            raise ValueError("an array of %s cannot become one of %s without a copy" % (a.dtype, numpy.dtype(dtype)))
        return a.astype(dtype)
    return a.copy() if copy else a


def _typestr(name):
    """What the interfaces call an element type: float32 is <f4."""
    import sys
    kind, bits = name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz") or "8"
    order = "|" if bits == "8" else "<" if sys.byteorder == "little" else ">"
    return "%s%s%d" % (order, kind[0], int(bits) // 8)


def _interface(self, name, on_device):
    if self._kind != "array" or self.dtype == "bfloat16":
        raise AttributeError("%s: only arrays have it, and bfloat16 has no name there" % name)
    address = self._address(on_device)
    if address is None:
        place = "in the memory of the cpu" if on_device else "on a device"
        raise AttributeError("%s: the elements are %s" % (name, place))
    return {"shape": self.shape, "strides": self.strides, "typestr": _typestr(self.dtype), "version": 3,
            "data": (address if self.size else 0, self.readonly)}


def array_interface(self):
    return _interface(self, "__array_interface__", False)


def cuda_array_interface(self):
    d = _interface(self, "__cuda_array_interface__", True)
    return dict(d, stream=_machine()._bridge._queue(self.__dlpack_device__()[1]))


_operators = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv",
              "floor_divide": "floordiv", "remainder": "mod", "power": "pow", "matmul": "matmul", "negative": "neg",
              "positive": "pos", "absolute": "abs", "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le",
              "greater": "gt", "greater_equal": "ge"}


def array_ufunc(self, ufunc, method, *inputs, **options):
    """NumPy's functions of qvalues give qvalues.  Its operators are those of the language, whichever comes first."""
    if method == "__call__" and not options and ufunc.__name__ in _operators:
        import operator
        value = _machine().value
        operands = (x if isinstance(x, type(self)) else value(x) for x in inputs)
        return getattr(operator, _operators[ufunc.__name__])(*operands)
    out = options.pop("out", ())
    if out:
        options["out"] = tuple(map(_plain, out))
    r = getattr(ufunc, method)(*map(_plain, inputs), **options)
    if out:
        return out[0] if len(out) == 1 else out
    return tuple(map(_wrapped, r)) if isinstance(r, tuple) else _wrapped(r)


def _plain(x):
    return x.to_py() if hasattr(x, "_kind") else x


def _wrapped(x):
    return _machine().value(x) if getattr(x, "ndim", 0) else x


def _key(key):
    return tuple(map(_plain, key)) if isinstance(key, tuple) else _plain(key)


def get_item(a, key):
    """a[key] where only NumPy knows what that means."""
    return _wrapped(a.to_py()[_key(key)])


def set_item(a, key, x):
    view = a.to_py()
    shared = view.flags.writeable or a.readonly  # not a copy of what is on a device
    if not shared:
        view = view.copy()
    view[_key(key)] = _plain(x)
    if not shared:
        a[...] = view


# -- copies and pickles ------------------------------------------------------------------------------------------------

def _make_cell(typename, shape, items):
    import itertools
    c = _machine().typename(typename)(*shape)
    for place, x in zip(itertools.product(*map(range, shape)), items):
        c[place] = x
    return c


def _make_object(typename, fields):
    if typename != "object":
        return _machine().typename(typename)(**dict(fields))
    o = _machine().evaluate("object()")
    for name, x in fields:
        setattr(o, name, x)
    return o


def _items(cell):
    import itertools
    return [cell[place] for place in itertools.product(*map(range, cell.shape))]


def duplicate(self):
    """A copy: arrays and cells get storage of their own, and objects fields."""
    if self._kind == "object":
        return _make_object(self.typename, self._fields())
    return _machine().copy(self) if self._kind in ("array", "cell") else self


def deep_duplicate(self, memo):
    import copy
    if self._kind == "object":
        return _make_object(self.typename, copy.deepcopy(self._fields(), memo))
    if self._kind == "cell":
        return _make_cell(self.typename, self.shape, copy.deepcopy(_items(self), memo))
    return duplicate(self)


def restore(kind, *parts):
    """A value from its pickle."""
    q = _machine()
    make = {"array": q._bridge._array, "cell": _make_cell, "object": _make_object, "type": q.typename, "value": q.value,
            "function": lambda name: getattr(q, name)}
    return make[kind](*parts)


def reduce(self):
    kind = self._kind
    if kind == "array":
        return restore, (kind, self.dtype, self.shape, _memory(self).tobytes())
    if kind == "cell":
        return restore, (kind, self.typename, self.shape, _items(self))
    if kind == "object":
        return restore, (kind, self.typename, self._fields())
    return restore, ("type", str(self)) if kind == "type" else ("value", self.to_py())


def reduce_function(self):
    """By its name, as Python's own functions."""
    import pickle
    if getattr(_machine(), self.__name__, None) != self:
        raise pickle.PicklingError("%r is not found as pyquasar.%s" % (self, self.__name__))
    return restore, ("function", self.__name__)


# -- functions ---------------------------------------------------------------------------------------------------------

def doc(f):
    known = f._known
    if isinstance(known, str):
        return known.split("\n", 1)[1]
    return known[0] if known else None


def signature(f):
    """For inspect.signature and help; (*args) where several functions share the name."""
    from inspect import Parameter, Signature
    known, parameters = f._known, []
    if isinstance(known, str):
        return _signature_of_text(known.split("\n", 1)[0])
    if not known:
        return Signature([Parameter("args", Parameter.VAR_POSITIONAL)])
    for name, kind, rest, *default in known[1]:
        parameters.append(Parameter(name, Parameter.VAR_POSITIONAL if rest else Parameter.POSITIONAL_OR_KEYWORD,
                                    default=default[0] if default else Parameter.empty,
                                    annotation=kind or Parameter.empty))
    return Signature(parameters)


def _signature_of_text(text):
    """clamp(x, lo [, hi]) of the manual."""
    import re
    from inspect import Parameter, Signature
    inner = re.fullmatch(r"\w+\(([\w, \[\]]*)\)", text)
    if not inner:
        return Signature([Parameter("args", Parameter.VAR_POSITIONAL)])
    optional, parameters = False, []
    for bracket, name in re.findall(r"(\[?)\s*,?\s*(\w+)", inner.group(1)):
        optional = optional or bool(bracket)
        parameters.append(Parameter(name, Parameter.POSITIONAL_ONLY, default=None if optional else Parameter.empty))
    return Signature(parameters)


# -- notebooks ---------------------------------------------------------------------------------------------------------

def is_picture(self):
    """Values of colour or grey that are worth a picture: height x width x 3 or 4, or a matrix of bytes."""
    if self._kind != "array" or self.size == 0 or self.dtype.startswith("complex"):
        return False
    shape = self.shape
    large = len(shape) >= 2 and min(shape[:2]) >= 16
    return large and (len(shape) == 3 and shape[2] in (3, 4) or len(shape) == 2 and self.dtype == "uint8")


def repr_png(self):
    """An image of values 0 to 255; None when it does not look like one."""
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
    """Indices that are shown of n, with None where some are left out."""
    half = most // 2
    return list(range(n)) if n <= most else list(range(half)) + [None] + list(range(n - half, n))


def repr_html(self):
    """A table of a vector or matrix, large ones by their corners."""
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


def _later(name):
    """A method that lives in _interop.py, which is read when it is called."""
    def method(self, *args, **options):
        from . import _interop
        return getattr(_interop, name)(self, *args, **options)
    method.__name__ = name
    return method


METHODS = {
    "to_numpy": _later("to_numpy"), "from_numpy": _later("fill_from"), "to_torch": _later("to_torch"),
    "from_torch": _later("fill_from_torch"),
    "numpy": lambda self: self.to_py(), "tolist": tolist, "item": item, "T": property(transposed), "locked": lock_for,
    "requires_grad": property(lambda self: self.grad is not None),
    "__array__": array, "__array_interface__": property(array_interface), "__array_ufunc__": array_ufunc,
    "__cuda_array_interface__": property(cuda_array_interface),
    "__copy__": duplicate, "__deepcopy__": deep_duplicate, "__reduce__": reduce,
    "_repr_png_": repr_png, "_repr_html_": repr_html,
}
METHODS["numpy"].__doc__ = "A NumPy array of the same memory."
METHODS["numpy"].__name__ = "numpy"


def install(qvalue, qfunction):
    for name, method in METHODS.items():
        setattr(qvalue, name, method)
    qfunction.__reduce__ = reduce_function
    qfunction.__doc__ = property(doc)
    qfunction.__signature__ = property(signature)
