"""Arrays of other libraries: the names that users of NumPy, torch, Warp and Taichi look for, all over two mechanisms, the
buffer protocol and DLPack."""


def _q():
    import pyquasar
    return pyquasar


def _import(name):
    import importlib
    return importlib.import_module(name)


# -- NumPy ---------------------------------------------------------------------------------------------------------------

def from_numpy(a, copy=None):
    """A NumPy array as an array of the same memory.  copy=True: always of memory of its own; None: only when its elements
    cannot be used where they are; False: never, but ValueError instead."""
    numpy = _import("numpy")
    if not isinstance(a, numpy.ndarray):
        raise TypeError("from_numpy: a NumPy array is wanted, got %s" % type(a).__name__)
    if copy:
        a = numpy.array(a, copy=True)
    r = _q().value(a)
    if copy is False and not (r._kind == "array" and numpy.shares_memory(a, r.to_py()) or a.size == 0):
        raise ValueError("from_numpy: %s elements with strides %s cannot be used without a copy" % (a.dtype.str, a.strides))
    return r


def to_numpy(self, copy=None):
    """A NumPy array of the same memory, or of its own when copy is true."""
    return self.to_py().copy() if copy else self.to_py()


def fill_from(self, a):
    """Puts the elements of a NumPy array of exactly the same shape into this one."""
    shape = tuple(getattr(a, "shape", ()))
    if shape != self.shape:
        raise ValueError("from_numpy: the shape must be %s, got %s" % (self.shape, shape))
    self[...] = a
    return self


# -- torch and others ----------------------------------------------------------------------------------------------------

def from_torch(t):
    """A tensor on the CPU as an array of the same memory; of one that requires a gradient, its data."""
    torch = _import("torch")
    if not isinstance(t, torch.Tensor):
        raise TypeError("from_torch: a tensor is wanted, got %s" % type(t).__name__)
    return _q().from_dlpack(t.detach().resolve_conj().resolve_neg())


def to_torch(a, requires_grad=None, device=None, copy=None):
    """A tensor of the same memory; on another device, or with copy=True, of its own."""
    torch = _import("torch")
    t = torch.from_dlpack(a)
    if copy:
        t = t.clone()
    if device is not None:
        t = t.to(device)
    return t if requires_grad is None else t.requires_grad_(requires_grad)


def fill_from_torch(self, t):
    """Puts the elements of a tensor of exactly the same shape into this array."""
    return fill_from(self, t.detach().cpu().numpy())


def to_dlpack(a, versioned=False):
    """A DLPack capsule of the array's memory, for libraries that want one."""
    return a.__dlpack__(max_version=(1, 0)) if versioned else a.__dlpack__()


def _to(module, function="from_dlpack"):
    def to(a):
        library = _import(module)
        return getattr(library, function)(a)
    to.__doc__ = "The array as one of %s, without a copy where that library can." % module.split(".")[0]
    return to


to_jax, to_cupy, to_paddle = _to("jax.dlpack"), _to("cupy"), _to("paddle.utils.dlpack")


def from_jax(x):
    """The memory of an array of any library that speaks DLPack as an array of the language."""
    return _q().from_dlpack(x)


from_cupy = from_paddle = from_jax


# -- names of element types and devices ----------------------------------------------------------------------------------

_types = {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128"}


def _known(name, what):
    if name not in _types:
        raise TypeError("elements of type %s have no counterpart in %s" % (name, what))
    return name


def dtype_from_numpy(dtype):
    """The name of an element type: dtype_from_numpy(np.float32) is "float32"."""
    return _known(_import("numpy").dtype(dtype).name, "the language")


def dtype_to_numpy(name):
    if _known(name, "NumPy") == "bfloat16":
        raise TypeError("elements of type bfloat16 have no counterpart in NumPy")
    return _import("numpy").dtype(name)


def dtype_from_torch(dtype):
    return _known(str(dtype).replace("torch.", ""), "the language")


def dtype_to_torch(name):
    return getattr(_import("torch"), _known(name, "torch"))


def device_from_torch(device):
    """The device of devices() that a device of torch is, by its kind."""
    kind = _import("torch").device(device).type
    for d in _q().devices():
        if d.kind == kind or kind == "cpu" and d.kind == "ref":
            return d
    raise RuntimeError("no %s device is open" % kind)


def device_to_torch(device):
    return _import("torch").device("cuda" if device.kind == "cuda" else "cpu")
