"""Arrays on a GPU that is none: the recording fake of NVIDIA's driver (tests/support/driver), whose device memory is
the host's.

Array stands for an array of a library such as CuPy: it owns a block of that driver's memory, offers it by DLPack or by
__cuda_array_interface__, records what it is asked for, and counts who holds it.  Nothing here shows that a real GPU
works."""
import ctypes, os

import numpy as np


class Launch(ctypes.Structure):
    _fields_ = [("sizes", ctypes.c_uint * 5), ("slot", ctypes.c_uint64 * 64)]


class Order(ctypes.Structure):
    _fields_ = [("first", ctypes.c_void_p), ("then", ctypes.c_void_p)]


class Record(ctypes.Structure):
    """FakeCuda of fake_cuda.h"""
    _fields_ = [("hooks", ctypes.c_void_p * 5)] + \
        [(n, ctypes.c_int) for n in ("devices", "capability", "max_threads", "blocks")] + \
        [("jit_log", ctypes.c_char_p), ("jit_at", ctypes.c_char_p)] + \
        [(n, ctypes.c_int) for n in ("local", "registers", "newer", "pools")] + \
        [("others", ctypes.c_size_t), ("fail_after", ctypes.c_long)] + \
        [(n, ctypes.c_int) for n in ("fail_with", "defer", "deaf", "capturing", "dead")] + \
        [(n, ctypes.c_int) for n in ("retained", "streams", "events", "modules", "pinned", "depth")] + \
        [("allocated", ctypes.c_size_t), ("misuse", ctypes.c_uint), ("wrong", ctypes.c_char * 256),
         ("links", ctypes.c_int), ("compiled", ctypes.c_int), ("nlaunches", ctypes.c_int),
         ("launch", Launch * 8), ("norders", ctypes.c_int), ("order", Order * 8), ("log", ctypes.c_char * (1 << 16)),
         ("failed", ctypes.c_char * 64), ("uploaded", ctypes.c_size_t), ("downloaded", ctypes.c_size_t)]


driver = ctypes.PyDLL(os.environ["FAKE_CUDA"])  # one thread at a time: the fake is made for no more
driver.fake_cuda.restype = ctypes.POINTER(Record)
driver.fake_cuda_size.restype = ctypes.c_size_t
assert driver.fake_cuda_size() == ctypes.sizeof(Record), "Record differs from FakeCuda of fake_cuda.h"
record = driver.fake_cuda().contents
record.devices = 2


def copies(f):
    """The number of copies requested from the driver meanwhile."""
    record.log = b""
    f()
    return record.log.count(b"Memcpy")


def orders(since):
    """(first, then) of the streams that were made to wait for others."""
    assert record.norders - since <= 8, "more orders than the record holds"
    return [(record.order[i % 8].first or 0, record.order[i % 8].then or 0) for i in range(since, record.norders)]


class Context:
    """The device's primary context, as the runtime of CUDA would use it."""

    def __init__(self, device):
        self.handle = ctypes.c_void_p()
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(self.handle), device)

    def __enter__(self):
        assert driver.cuCtxPushCurrent_v2(self.handle) == 0

    def __exit__(self, *error):
        assert driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())) == 0


contexts = [Context(0), Context(1)]


def memcpy_dtod(to, source, n):
    with contexts[0]:
        assert driver.cuMemcpyDtoDAsync_v2(ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(n), None) == 0


def stream(device=0):
    s = ctypes.c_void_p()
    with contexts[device]:
        assert driver.cuStreamCreate(ctypes.byref(s), 1) == 0
    return s.value


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", DELETER), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
held = {}  # of capsules that were given out: what their deleter lets go


class Array:
    """Memory of the fake driver with the elements, layout and permission of a NumPy array."""
    DEVICE_TYPE = 2

    def __init__(self, a, device=0, stream=None):
        base = a
        while isinstance(base.base, np.ndarray):
            base = base.base
        self.a, self.base, self.device, self.stream = a, np.ascontiguousarray(base), device, stream
        self.offset, self.asked, self.holders = address(a) - address(base) if a.size else 0, [], 0
        block = ctypes.c_uint64()
        with contexts[device]:
            assert driver.cuMemAlloc_v2(ctypes.byref(block), max(base.nbytes, 1)) == 0
        self.block = block.value
        ctypes.memmove(self.block, base.ctypes.data, base.nbytes)

    def __del__(self):
        assert not self.holders, "freed while in use"
        with contexts[self.device]:
            driver.cuMemFree_v2(ctypes.c_uint64(self.block))

    @property
    def pointer(self):
        return self.block + self.offset

    def get(self):
        """The elements, read as the host never could from a real GPU."""
        whole = np.frombuffer((ctypes.c_char * max(self.base.nbytes, 1)).from_address(self.block), np.uint8)
        return np.ndarray(self.a.shape, self.a.dtype, whole, self.offset, self.a.strides).copy()


class ByInterface(Array):
    """As Numba offers it."""
    mask = None

    @property
    def __cuda_array_interface__(self):
        d = {"shape": self.a.shape, "typestr": self.a.dtype.str, "version": 3, "stream": self.stream,
             "data": (self.pointer if self.a.size else 0, not self.a.flags.writeable)}
        if not self.a.flags.c_contiguous:
            d["strides"] = self.a.strides
        return dict(d, mask=self.mask) if self.mask is not None else d


class ByDLPack(Array):
    """As CuPy and JAX offer it."""

    def __dlpack_device__(self):
        return self.DEVICE_TYPE, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked.append(dict(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy))
        if dl_device == (1, 0):
            return np.ascontiguousarray(self.get()).__dlpack__()
        return self.capsule(max_version is not None and max_version[0] >= 1)

    def capsule(self, versioned):
        a, n = self.a, max(self.a.ndim, 1)
        shape, strides = (ctypes.c_int64 * n)(*a.shape), (ctypes.c_int64 * n)(*(s // a.itemsize for s in a.strides))
        kind = a.dtype.kind
        numbers = ctypes.POINTER(ctypes.c_int64)
        t = Tensor(self.block if a.size else None, Device(self.DEVICE_TYPE, self.device), a.ndim, CODES[kind],
                   8 * a.itemsize, 1, ctypes.cast(shape, numbers), ctypes.cast(strides, numbers), self.offset)
        self.holders += 1

        def delete(p):
            self.holders -= 1
            assert held.pop(p)
        deleter = DELETER(delete)
        m = Versioned(1, 0, None, deleter, 0 if a.flags.writeable else 1, t) if versioned else Managed(t, None, deleter)
        held[ctypes.addressof(m)] = m, deleter, shape, strides
        return new_capsule(ctypes.addressof(m), b"dltensor_versioned" if versioned else b"dltensor", None)


class ByOldDLPack(ByDLPack):
    """As libraries offer it that are from before there were versions."""

    def __dlpack__(self, stream=None):
        self.asked.append(dict(stream=stream))
        return self.capsule(False)


class LikeCuPy(ByDLPack):
    """What CuPy's ndarray does with others, as its sources say: both protocols, the stream in use and strides of None
    in the interface, no way to NumPy but get(), operands by the interface alone."""
    __array_priority__ = 100

    @property
    def __cuda_array_interface__(self):
        a = self.a
        return {"shape": a.shape, "typestr": a.dtype.str, "descr": a.dtype.descr, "version": 3,
                "strides": None if a.flags.c_contiguous else a.strides, "stream": self.stream or 1,
                "data": (self.pointer if a.size else 0, False)}

    def __array__(self, *args, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return NotImplemented

    def __add__(self, other):
        return LikeCuPy(self.get() + asarray(other).get())

    def __iadd__(self, other):
        whole = (ctypes.c_char * self.base.nbytes).from_address(self.block)
        here = np.ndarray(self.a.shape, self.a.dtype, whole, self.offset, self.a.strides)
        here += asarray(other).get()
        return self


class Unowned:
    """cupy.asarray of what has the interface: the memory of another one, whose stream is waited for."""

    def __init__(self, owner):
        d = owner.__cuda_array_interface__
        assert d["version"] >= 2 and d.get("mask") is None and d.get("stream") != 0
        self.owner, self.pointer, self.stream = owner, d["data"][0], d.get("stream")
        self.shape, self.strides, self.dtype = d["shape"], d.get("strides"), np.dtype(d["typestr"])
        if self.stream is not None:
            with contexts[0]:
                assert driver.cuStreamSynchronize(ctypes.c_void_p(self.stream)) == 0

    def get(self):
        steps = self.strides or np.empty(self.shape, self.dtype).strides
        low = sum(s * (n - 1) for s, n in zip(steps, self.shape) if s < 0)
        size = sum(abs(s) * (n - 1) for s, n in zip(steps, self.shape)) + self.dtype.itemsize
        raw = (ctypes.c_char * size).from_address(self.pointer + low)
        return np.ndarray(self.shape, self.dtype, raw, -low, steps).copy()


def asarray(x):
    return x if isinstance(x, LikeCuPy) else Unowned(x)


def from_dlpack(x):
    """cupy.from_dlpack: (device, address, elements)."""
    assert x.__dlpack_device__()[0] == 2
    return read(x, stream=1)


def read(x, **options):
    """What a consumer of a capsule sees: (device, address, elements).  It takes the capsule and lets it go."""
    capsule = x.__dlpack__(**options)
    versioned = "versioned" in repr(capsule)
    name = b"dltensor_versioned" if versioned else b"dltensor"
    p = capsule_pointer(capsule, name)
    m = (Versioned if versioned else Managed).from_address(p)
    t, n = m.tensor, m.tensor.ndim
    shape, kind = tuple(t.shape[:n]), {v: k for k, v in CODES.items()}[t.code]
    dtype = np.dtype("%s%d" % (kind, t.bits // 8))
    strides = [s * dtype.itemsize for s in t.strides[:n]]
    low = sum(s * (d - 1) for s, d in zip(strides, shape) if s < 0) if all(shape) else 0
    size = sum(abs(s) * (d - 1) for s, d in zip(strides, shape)) + dtype.itemsize if all(shape) else 0
    raw = (ctypes.c_char * size).from_address(t.data + t.offset + low) if size else b""
    elements = np.ndarray(shape, dtype, raw, -low if size else 0, strides).copy()
    return (t.device.type, t.device.id), t.data, elements


def address(a):
    return a.__array_interface__["data"][0]
