"""Converts arrays from and to other libraries: NumPy, torch, Warp and Taichi, CuPy, Paddle and JAX, by the buffer
protocol and DLPack."""


def _q():
    import pyquasar
    return pyquasar


def _import(name):
    import importlib
    return importlib.import_module(name)


def _choice(function, what, x):
    """Requires True, False or None, because an element type passed by mistake would count as True."""
    if x is not None and not hasattr(type(x), "__bool__"):
        raise TypeError("%s: %s must be True, False or None, got %r" % (function, what, x))


def _check_elements(a, dtype, shape, strides, itemsize, name):
    """Returns the array if its elements have the type: a scalar type ("float32"), or one formed by the last dimensions
    ("vec3", "mat2x2"); otherwise raises an error."""
    import re
    from ._values import element_name
    dtype = element_name(dtype)
    inner = re.fullmatch(r"(?:vec|mat)(\d+)(?:x(\d+))?", dtype)
    if not inner:
        return _reinterpreted(a, name, dtype) if name != dtype else a
    wanted = tuple(int(n) for n in inner.groups() if n)
    packed = tuple(itemsize*n for n in (1, *wanted[:0:-1]))[::-1]
    if tuple(shape[-len(wanted):]) != wanted:
        raise ValueError("an array of %s ends with dimensions %s, got %s" % (dtype, wanted, tuple(shape)))
    if tuple(strides[-len(wanted):]) != packed:
        raise ValueError("the elements of a %s must lie one behind the other" % dtype)
    return a


_WIDTHS = {"bool": 8, **{kind + str(n): n for kind in ("int", "uint") for n in (8, 16, 32, 64)}}


def _reinterpreted(a, name, dtype):
    """Returns the same memory with another element type of the same width: signed and unsigned integers, and bool."""
    if name not in _WIDTHS or _WIDTHS[name] != _WIDTHS.get(dtype):
        raise TypeError("elements of type %s are wanted, got %s" % (dtype, name))
    if dtype == "bool" and bool(((a != 0) & (a != 1)).any()):
        raise ValueError("elements of type bool are wanted, and those of type %s are not all 0 or 1" % name)
    module = _import("numpy" if hasattr(a, "__array_interface__") else "torch")
    return a.view(getattr(module, "bool_" if dtype == "bool" and module.__name__ == "numpy" else dtype))


# -- NumPy -------------------------------------------------------------------------------------------------------------

def from_numpy(a, copy=None, dtype=None):
    """Returns a NumPy array as an array on the same memory.

    copy   True: always copies; None: only if the elements cannot be used in place; False: then ValueError
    dtype  required element type: "float32"; "vec3" for an array n x 3, "mat2x2" for n x 2 x 2"""
    numpy = _import("numpy")
    if not isinstance(a, numpy.ndarray):
        raise TypeError("from_numpy: a NumPy array is wanted, got %s" % type(a).__name__)
    _choice("from_numpy", "copy", copy)
    if dtype is not None:
        a = _check_elements(a, dtype, a.shape, a.strides, a.itemsize, a.dtype.name)
    if copy is not None and not copy:
        try:
            r = _q().descriptor(a)
        except TypeError as e:
            raise ValueError("from_numpy: %s" % e) from None
        return r if r._kind == "array" else _q().value(a)
    return _q().value(numpy.array(a, copy=True) if copy else a)


def to_numpy(self, copy=None):
    """Returns a NumPy array: on the same memory if possible; copy=True: a copy; copy=False: ValueError if a copy is
    needed."""
    _choice("to_numpy", "copy", copy)
    return self.to_py() if copy is None else self.__array__(copy=copy)


def _storable(into, a, casting, name):
    """Returns what to store; checks that an integer array can hold all elements, unless casting is "unsafe", which
    allows truncation and makes nan 0."""
    if casting not in (None, "unsafe"):
        raise ValueError('%s: casting must be "unsafe" or None, got %r' % (name, casting))
    np = _import("numpy")
    x, to = np.asarray(a), np.dtype(into.dtype)
    if to.kind not in "biu" or x.dtype.kind not in "iuf" or not x.size:
        return a
    if casting:
        return np.where(x == x, x, 0) if x.dtype.kind == "f" else a
    low, high = (0, 1) if to.kind == "b" else (np.iinfo(to).min, np.iinfo(to).max)
    with np.errstate(invalid="ignore"):
        beyond = x >= float(high) + 1 if x.dtype.kind == "f" else x > high
        bad = (x < low) | beyond | (x != np.trunc(x))
    if bad.any():
        raise ValueError('%s: an array of %s does not hold %s; casting="unsafe" cuts it off'
                         % (name, to, x[bad].flat[0]))
    return a


def fill_from(self, a, casting=None):
    """Copies the elements of a NumPy array of exactly the same shape into this one.

    casting  None: integer elements must be representable; "unsafe": fractions are truncated, large numbers saturate,
    and nan becomes 0"""
    if not hasattr(a, "shape") or not hasattr(a, "dtype"):
        raise TypeError("from_numpy: a NumPy array is wanted, got %s" % type(a).__name__)
    shape = tuple(a.shape)
    if shape != self.shape:
        raise ValueError("from_numpy: the shape must be %s, got %s" % (self.shape, shape))
    self[...] = _storable(self, a, casting, "from_numpy")
    return self


# -- torch -------------------------------------------------------------------------------------------------------------

def _gradient(t, requires_grad):
    """Returns the gradient of a tensor, allocated if it has none yet, as torch would do later."""
    torch = _import("torch")
    if not (t.requires_grad if requires_grad is None else requires_grad):
        return None
    if not t.is_leaf:
        return torch.zeros_like(t)
    if t.grad is None:
        t.grad = torch.zeros_like(t)
    return t.grad


def from_torch(t, requires_grad=None, grad=None, dtype=None):
    """Returns a tensor on the CPU, or on an open CUDA device, as an array on the same memory.

    requires_grad  whether the gradient is converted, too, as A.grad; None: as the tensor specifies
    grad           tensor to use as the gradient
    dtype          required element type, as for from_numpy"""
    torch = _import("torch")
    if not isinstance(t, torch.Tensor):
        raise TypeError("from_torch: a tensor is wanted, got %s" % type(t).__name__)
    _choice("from_torch", "requires_grad", requires_grad)
    if dtype is not None:
        strides = [n*t.element_size() for n in t.stride()]
        t = _check_elements(t, dtype, t.shape, strides, t.element_size(), str(t.dtype).replace("torch.", ""))
    data = t.detach()
    a = _q()._bridge.descriptor(data) if t.ndim else _q().from_dlpack(data)
    grad = _gradient(t, requires_grad) if grad is None else grad
    if grad is not None:
        a.grad = from_torch(grad, requires_grad=False)
    return a


def _same_device(a, b):
    return a.type == b.type and (a.index or 0) == (b.index or 0)


def to_torch(a, requires_grad=None, device=None, copy=None):
    """Returns a tensor on the same memory, with the array's gradient as its own.

    requires_grad  None: if the array has a gradient
    device         a different device requires a copy
    copy           True: always copies; False: ValueError if a copy is needed"""
    torch = _import("torch")
    _choice("to_torch", "requires_grad", requires_grad), _choice("to_torch", "copy", copy)
    if _own("to_torch", a)._kind == "array" and a.readonly:
        if not copy:
            raise ValueError("to_torch: the array is read-only, which no tensor can be; "
                             "copy=True makes one of its own memory")
        a = a.__copy__()
        copy = None
    t = torch.from_dlpack(a)
    away = device is not None and not _same_device(t.device, torch.device(device))
    if away and copy is not None and not copy:
        raise ValueError("to_torch: the elements are on %s, so a tensor on %s is a copy" % (t.device, device))
    t = t.to(device) if away else t.clone() if copy else t
    differentiable = a.grad is not None if requires_grad is None else requires_grad
    if differentiable:
        t.requires_grad_()
    if differentiable and a.grad is not None:
        t.grad = to_torch(a.grad, False, device, copy)
    return t


def fill_from_torch(self, t, casting=None):
    """Copies the elements of a tensor of exactly the same shape into this array; casting as for from_numpy."""
    if not isinstance(t, _import("torch").Tensor):
        raise TypeError("from_torch: a tensor is wanted, got %s" % type(t).__name__)
    if tuple(t.shape) != self.shape:
        raise ValueError("from_torch: the shape must be %s, got %s" % (self.shape, tuple(t.shape)))
    if self.size:
        try:
            t = from_torch(t, requires_grad=False)
        except TypeError:  # on a device that is not open
            t = from_torch(t.detach().cpu(), requires_grad=False)
        self[...] = _storable(self, t, casting, "from_torch")
    return self


def torch_function(cls, function, types, args=(), names=None):
    """Implements __torch_function__.  Arrays become tensors if the tensor is modified (t *= A, t[0] = A, t.add_(A)) or
    indexed (t[A]).  In all other cases raises TypeError, so that torch leaves the operator to the array on the
    right."""
    name = function.__name__
    in_place = name.endswith("_") and not name.endswith("__") or name.startswith("__i") or name == "__setitem__"
    if not (in_place or name == "__getitem__") or not isinstance(args[0], _import("torch").Tensor):
        raise TypeError("%s: functions of torch take tensors; to_torch(x) makes one of the memory of x" % name)
    return function(*_operands(name, args), **{k: _operand(name, x) for k, x in (names or {}).items()})


def _operands(name, args):
    return tuple(_operand(name, x) for x in args)


def _operand(name, x):
    """Converts arrays to tensors; those that no tensor can represent are copied."""
    if isinstance(x, (tuple, list)):
        return type(x)(_operands(name, x))
    if not isinstance(x, _q().qvalue):
        return x
    if x._recorded:  # not a TypeError, because then the tensor would be replaced
        raise ValueError("%s: a derivative is being taken with respect to the array, and torch would not see it" % name)
    if x._kind in ("object", "type", "foreign"):
        raise TypeError("%s: a value of type %s is no number and no array" % (name, x.typename))
    if x._kind != "array":
        return x.to_py()
    return to_torch(x.copy() if x.readonly or any(n < 0 for n in x.strides) else x, requires_grad=False)


def collate(batch, *, collate_fn_map=None):
    """Converts a batch of values for torch's default_collate: arrays become tensors, cells lists of their items."""
    torch = _import("torch")
    if batch[0]._kind in ("object", "type", "foreign"):
        raise TypeError("default_collate: let the Dataset return arrays, numbers, texts, or lists and dicts of them, "
                        "not a value of type %s" % batch[0].typename)
    items = [list(x) if batch[0]._kind == "cell" else _operand("default_collate", x) for x in batch]
    return torch.utils.data._utils.collate.collate(items, collate_fn_map=collate_fn_map)


# -- DLPack and others -------------------------------------------------------------------------------------------------

_take = _q()._bridge._from_dlpack


def from_dlpack(x, copy=None, device=None):
    """Returns the memory of a tensor, or of a DLPack capsule, as an array.

    copy    True: always copies, also from a device that is not open
    device  target of the elements: None, where they are; "cpu", to which elements on a device are copied"""
    if not hasattr(x, "__dlpack__") and type(x).__name__ != "PyCapsule":
        raise TypeError("from_dlpack: a tensor, or something else with __dlpack__, is wanted, got %s" %
                        type(x).__name__)
    _choice("from_dlpack", "copy", copy)
    if device is None:
        return _take(x, copy)
    if device != "cpu":
        raise ValueError('from_dlpack: device must be "cpu" or None, got %r' % (device,))
    away = hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] != 1
    if away and copy is not None and not copy:
        raise ValueError("from_dlpack: the elements are on a device, so an array on the cpu is a copy")
    return _take(x, copy or away)


def _own(function, a):
    if not isinstance(a, _q().qvalue):
        raise TypeError("%s: an array of the language is wanted, got %s; value(x) makes one" %
                        (function, type(a).__name__))
    return a


class stream:
    """A CUDA stream beside the VM's own.  Work queued in `with stream(s):` is ordered after the earlier work on s, and
    later work on s after it.  Needed for streams on which another library works instead of the default stream.

    s       a stream of torch or CuPy, any object with __cuda_stream__, or the address of a stream; None: the VM's own
    device  number of the CUDA device; None: the first open one"""

    def __init__(self, s=None, device=None):
        from ._values import whole
        self.device = -1 if device is None else whole("stream: device", device)
        queue = _q()._bridge._queue(self.device)
        self.ptr = queue if s is None else _q()._bridge._stream(_stream_address(s))

    def __cuda_stream__(self):
        return 0, self.ptr

    def __enter__(self):
        _q()._bridge._order(self.device, self.ptr, False)
        return self

    def __exit__(self, *error):
        _q()._bridge._order(self.device, self.ptr, True)


def _stream_address(s):
    if isinstance(s, int):
        return s
    if hasattr(s, "__cuda_stream__"):
        return s.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):
        if hasattr(s, name):
            return getattr(s, name)
    raise TypeError("stream: a stream of torch or CuPy, or an address, is wanted, got %s" % type(s).__name__)


def stream_from_torch(s):
    """Returns a stream of torch as a context manager for calls."""
    return stream(s)


def stream_to_torch(device=None):
    """Returns the VM's own stream as a torch stream, for `with torch.cuda.stream(...)`."""
    own = stream(None, device)
    return _import("torch").cuda.ExternalStream(own.ptr)


def to_dlpack(a, versioned=False):
    """Returns a DLPack capsule of the array's memory."""
    _choice("to_dlpack", "versioned", versioned)
    _own("to_dlpack", a)
    return a.__dlpack__(max_version=(1, 0)) if versioned else a.__dlpack__()


def _to(module, function="from_dlpack"):
    def to(a):
        _own("to_" + module.split(".")[0], a)
        return getattr(_import(module), function)(a)
    to.__doc__ = "The array as one of %s, without a copy where that library can." % module.split(".")[0]
    return to


to_cupy, to_paddle = _to("cupy"), _to("paddle.utils.dlpack")


def to_jax(a):
    """Returns the array as a JAX array, without a copy if JAX supports that; a read-only array is copied.  JAX treats
    it as a constant, so it must not be written to."""
    return _import("jax.dlpack").from_dlpack(a.__copy__() if _own("to_jax", a).readonly else a)


def from_jax(x):
    """Returns the memory of an array of any library that supports DLPack as an array of the language."""
    return _q().from_dlpack(x)


from_cupy = from_paddle = from_jax


# -- names of element types and devices --------------------------------------------------------------------------------

def _known(name, what):
    name = str(name)
    if name not in _q()._support.ELEMENTS:
        raise TypeError("elements of type %s have no counterpart in %s" % (name, what))
    return name


def dtype_from_numpy(dtype):
    """Returns the name of an element type: dtype_from_numpy(np.float32) is "float32"."""
    return _known(_import("numpy").dtype(dtype).name, "the language")


def dtype_to_numpy(name):
    if _known(name, "NumPy") in _q()._support.NOT_IN_NUMPY:
        raise TypeError("elements of type %s have no counterpart in NumPy" % name)
    return _import("numpy").dtype(name)


def dtype_from_torch(dtype):
    return _known(str(dtype).replace("torch.", ""), "the language")


def dtype_to_torch(name):
    return getattr(_import("torch"), _known(name, "torch"))


def device_from_torch(device):
    """Returns the element of devices() for a torch device, by type and number."""
    wanted = _import("torch").device(device)
    for d in _q().devices():
        if d.kind == wanted.type and d.index == (wanted.index or 0) or wanted.type == "cpu" and d.kind == "ref":
            return d
    raise RuntimeError("device %s is not open" % wanted)


def device_to_torch(device):
    """Returns the torch device for an element of devices()."""
    if not hasattr(device, "kind") or not hasattr(device, "index"):
        raise TypeError("device_to_torch: one of devices() is wanted, got %s" % type(device).__name__)
    return _import("torch").device("cuda", device.index) if device.kind == "cuda" else _import("torch").device("cpu")
