"""Functions that the bridge calls and that are shorter in Python."""
import io, os, sys, types  # rarely used modules are imported in the functions that need them

when_open = []  # called after the VM has been opened
when_closed = []  # called after the VM has been closed by destroy


# -- errors ------------------------------------------------------------------------------------------------------------

class QuasarError(Exception):
    """An error of a script."""


QuasarError.__module__ = "pyquasar"


def _error(name, *bases):
    return type(name, (QuasarError,) + bases, {"__module__": "pyquasar"})


class QuasarNameError(QuasarError, AttributeError):
    """An undefined name.  The message suggests a similar name, which is searched for when the message is read.  Most
    are never read: hasattr, and libraries that test for protocols, only check whether the name exists."""
    _unknown = None  # the name

    def __str__(self):
        if self._unknown is not None:
            try:
                import pyquasar
                return pyquasar._bridge._unknown(self._unknown)
            except Exception:  # the VM is closed
                pass
        return QuasarError.__str__(self)


QuasarNameError.__module__ = "pyquasar"


def unknown_name(name):
    e = QuasarNameError("unknown name %s" % name)
    e._unknown = name
    return e


# Indexed by qs_status (quasar.h).
error_types = [
    QuasarError,
    _error("QuasarSyntaxError", SyntaxError),
    _error("QuasarTypeError", TypeError),
    _error("QuasarShapeError", ValueError),
    _error("QuasarIndexError", IndexError),
    QuasarNameError,
    _error("QuasarValueError", ValueError),
    _error("QuasarMemoryError", MemoryError),
    _error("QuasarDeviceError", RuntimeError),
    _error("QuasarLockError", RuntimeError),
    _error("QuasarIOError", OSError),
    _error("QuasarForeignError"),
    _error("QuasarInterrupt"),
    _error("QuasarAssertionError", AssertionError),
    _error("QuasarUserError"),
    _error("QuasarInternalError"),
]

class QuasarWarning(UserWarning):
    """Legal but suspicious code in a script."""


QuasarWarning.__module__ = "pyquasar"


def warn(message, filename, line):
    import warnings
    warnings.warn_explicit(message, QuasarWarning, filename, line)


# The VM is not open: an attribute is missing, or a call cannot run.
closed_error = _error("QuasarClosedError", RuntimeError, AttributeError)


def syntax_error(message, filename, line, column, source):
    """Creates a SyntaxError with its source location.  The end of the text is reported behind its last line."""
    lines = source.rstrip().splitlines() or [""]
    if line > len(lines):
        line, column = len(lines), len(lines[-1]) + 1
    return error_types[1](message, (_place(filename, source), line, column, lines[line - 1]))


_failing, _texts = {}, {}
_MANY = 1000  # maximum number of cached locations


def name_text(text, name):
    """Sets the file name that tracebacks show for an evaluated text."""
    if len(_texts) >= _MANY:
        _texts.clear()
        _failing.clear()
    _texts[text] = name


def _place(filename, source):
    """Returns the file name under which lines are found in linecache.  Evaluated texts are all called input; each gets
    a distinct name here, so that later texts do not replace it."""
    if source is None:
        return filename
    import linecache
    if filename == "input" and source not in _texts:
        name_text(source, "input %d" % (len(_texts) + 1) if _texts else "input")
    name = _texts[source] if filename == "input" else filename
    linecache.cache[name] = len(source), None, source.splitlines(True) + _beyond, name
    return name


# Appended to a text as the position where its functions begin, for code that parses them as Python (inspect,
# IPython): a line that looks like a decorator, too far from the last line to be shown with it.
_beyond = ["\n"]*4 + ["@\n"]


def _fail(filename, line, function):
    """Returns a generator function that fails at filename, line, under the given function name.  This creates traceback
    entries with public means only.

    The entry has no columns, which would be wrong, and its function begins at the last line (_beyond)."""
    import linecache
    last = len(linecache.getlines(filename))
    key = filename, line, function, last
    if key in _failing:
        return _failing[key]
    import ast
    if len(_failing) >= _MANY:
        _failing.clear()
    tree = ast.parse("def fail():\n raise __exc__\n yield")
    for node in ast.walk(tree):
        node.lineno = node.end_lineno = max(last if isinstance(node, ast.FunctionDef) else line, 1)
        node.col_offset = node.end_col_offset = -1
    names = {"co_name": function}
    if sys.version_info >= (3, 11):
        names["co_qualname"] = function
    scope = {"__exc__": QuasarError(), "__name__": "quasar"}
    exec(compile(tree, filename, "exec"), scope)
    return _failing.setdefault(key, types.FunctionType(scope["fail"].__code__.replace(**names), scope))


def _entry(place):
    filename, line, function, source = place
    try:
        next(_fail(_place(filename, source), line, function)())
    except QuasarError as e:
        try:
            return e.__traceback__.tb_next
        finally:
            e.__traceback__ = None


def make_frames(places):
    """Creates traceback entries of script frames.  From Python 3.12 on they reference their callers.  Therefore no
    variable here may hold them or the exception that they belong to, which would create a cycle; and none is reused."""
    return list(map(_entry, places))


def add_frames(exception, entries):
    """Adds script frames, innermost first, to the front of the traceback."""
    tb = exception.__traceback__
    for f in entries:
        tb = types.TracebackType(tb, f.tb_frame, f.tb_lasti, f.tb_lineno)
    exception.__traceback__ = tb


def _sayable(text):
    """Replaces halves of surrogate pairs, which strings of the language cannot represent."""
    try:
        text.encode("utf-8", "surrogateescape")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")


def _wants_int(text):
    """Whether an int was expected and a float passed: "must be a positive integer, not 2.0"."""
    import re

    return re.search(r"\bint(eger)?s?\b", text) and re.search(r"\bfloat\b|\b\d+\.0\b", text)


def describe(e):
    """Returns the last line of a traceback, without details that need several lines."""
    return summary(e) + suggestion(e)


def summary(e):
    """The same without the suggestion of similar names, whose search is slow."""
    kind = type(e)
    try:
        text = _sayable(str(e))
    except Exception as other:
        text = "(its text cannot be made: %s)" % type(other).__name__
    if isinstance(e, QuasarError):
        return text
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = kind.__module__ + "." + name
    if kind in (TypeError, ValueError) and _wants_int(text):
        text += " (numbers of a script are floats; pyint(x) hands over an int)"
    return name + ": " + text if text else name


def kind(x):
    """Describes an object in messages where a value of the language is expected."""
    t = type(x)
    library = t.__module__.partition(".")[0]
    name = t.__qualname__ if library == "builtins" else library + "." + t.__qualname__
    made = {list: "a cell", tuple: "a cell", dict: "a dictionary", bytes: "an array"}.get(t)
    dtype = getattr(x, "dtype", None) if library in ("numpy", "pandas") else None
    if getattr(dtype, "kind", "") in tuple("OUSTVmM"):  # value(x) makes no array of these
        name += " of " + ("strings" if dtype.kind in "UST" else "objects" if dtype.kind == "O" else str(dtype))
        made = "" if dtype.kind in "mM" else "a cell"
    else:
        made = made or ("an array" if hasattr(t, "__array__") else "")
    return _sayable(name + ("; value(x), or from_py(x) in a script, makes %s of it" % made if made else ""))


def suggestion(e):
    """Returns "; did you mean …?" for a missing attribute."""
    owner, wanted = getattr(e, "obj", None), getattr(e, "name", None)
    if type(e) is not AttributeError or owner is None or not wanted or wanted in dir(owner):
        return ""
    import difflib
    near = difflib.get_close_matches(wanted, dir(owner), 1)
    return "; did you mean %s?" % near[0] if near else ""


def traceback_text(e):
    """Returns the Python part of the traceback; empty if the error occurred in the call itself."""
    import traceback
    whole = traceback.TracebackException.from_exception(e)
    part = whole
    while part is not None:
        part.stack = traceback.StackSummary.from_list(_shown(f) for f in part.stack
                                                      if not f.filename.startswith("<frozen "))
        part = part.__cause__ or part.__context__
    if not whole.stack and e.__cause__ is None and e.__context__ is None:
        return ""
    return _sayable("".join(whole.format()))


def _shown(f):
    """Formats a frame in the same way for all Python versions, with a path relative to the current folder."""
    import traceback
    here = os.path.join(os.getcwd(), "")
    name = f.filename[len(here):] if f.filename.startswith(here) else f.filename
    return traceback.FrameSummary(name, f.lineno, f.name, lookup_line=False, line=f.line)


def exit_code(e):
    if e.code is None:
        return 0
    if isinstance(e.code, int) or isinstance(e.code, float) and e.code.is_integer():
        return int(e.code) & 0xff
    print(e.code, file=sys.stderr)
    return 1


# -- the program's output ----------------------------------------------------------------------------------------------

class Bytes(io.RawIOBase):
    """sys.stdout.buffer: bytes, in order with what the script prints."""
    name, mode = "<stdout>", "wb"

    def writable(self):
        return True

    def write(self, data):
        _write_bytes(bytes(data))
        return len(data)

    def flush(self):
        _flush()

    def fileno(self):
        return 1

    def isatty(self):
        return os.isatty(1)


class Output(io.TextIOBase):
    """sys.stdout: a single stream for the output of Python and of the script."""
    name, mode, encoding, errors, newlines, line_buffering = "<stdout>", "w", "utf-8", "surrogateescape", None, False

    def __init__(self, write, flush):
        self.write, self.flush, self.buffer = write, flush, Bytes()

    def writable(self):
        return True

    def fileno(self):
        return 1

    def isatty(self):
        return os.isatty(1)

    def reconfigure(self, **options):
        pass


def begin(argv, folder, write, write_bytes, flush):
    """Sets up a Python that was started for a script, as `python script.py` would."""
    import signal
    global _write_bytes, _flush
    _write_bytes, _flush = write_bytes, flush
    sys.argv = argv
    sys.path.insert(0, folder)
    sys.stdout = sys.__stdout__ = Output(write, flush)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def end():
    """Ends the script: performs the final steps of `python script.py` while everything still works."""
    import atexit
    threads = sys.modules.get("threading")
    for step in (threads._shutdown if threads else int, atexit._run_exitfuncs):
        try:
            step()
        except SystemExit:
            pass
        except BaseException as e:
            sys.excepthook(type(e), e, e.__traceback__)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def device(*fields):
    """An element of devices()."""
    global device
    import collections
    device = collections.namedtuple("device", "name kind memory default index limit max_block")
    device.__module__ = "pyquasar"
    return device(*fields)


# -- small things ------------------------------------------------------------------------------------------------------

def missing_attribute(e, owner, name):
    """Completes an AttributeError that lacks its object (tensors, or before 3.10), and explains a dict with that
    key."""
    if isinstance(owner, dict) and name in owner:
        e.args = 'a dict of Python has no fields: write d["%s"], or pass q.value(d), an object' % name,
    if getattr(e, "name", None) is None:
        try:
            e.name, e.obj = name, owner
        except Exception:
            pass


def maximum(x, y):
    return _numpy().maximum(x, y) if hasattr(x, "dtype") else max(x, y)


def minimum(x, y):
    return _numpy().minimum(x, y) if hasattr(x, "dtype") else min(x, y)


method = types.MethodType


def get_item(a, key):
    from ._values import get_item
    return get_item(a, key)


def set_item(a, key, x):
    from ._values import set_item
    set_item(a, key, x)


# -- NumPy -------------------------------------------------------------------------------------------------------------

def _numpy():
    try:
        import numpy
    except ImportError as e:
        raise ImportError("NumPy is needed for arrays in Python; install it for %s (-m pip install numpy)"
                          % sys.executable) from e
    return numpy


def open_numpy():
    return (_numpy().asarray,)


def numpy_sample():
    """Returns an array, its address and its type number, to verify the C structure of NumPy arrays."""
    numpy = _numpy()
    a = numpy.zeros((2, 4), numpy.float32)[::-1, :3]
    return a, a.__array_interface__["data"][0], a.dtype.num


def cell_array(items, shape, kind):
    """Converts {…} of the language to an array; without NumPy to a list."""
    try:
        import numpy
    except ImportError:
        return list(items) if len(shape) == 1 else [cell_array(items[i * shape[1]:(i + 1) * shape[1]], shape[1:], kind)
                                                    for i in range(shape[0])]
    if kind != "object" or items and all(isinstance(i, (int, float, complex, numpy.number)) for i in items):
        return numpy.array(items, None if kind == "object" else kind or None).reshape(shape)
    a = numpy.empty(len(items), object)
    for i, item in enumerate(items):
        a[i] = item
    return a.reshape(shape)


def plain(x):
    """Converts x to an object whose memory can be used, or to a list or dict."""
    if isinstance(x, (dict, tuple)):
        return dict(x) if isinstance(x, dict) else list(x)
    if isinstance(x, list) and not _numbers(x):
        return list(x)
    if isinstance(x, (bool, int, float, complex, str)):  # subclasses: an IntEnum
        return next(t(x) for t in (bool, int, float, complex, str) if isinstance(x, t))
    if not isinstance(x, list) and not hasattr(x, "__array__") and not hasattr(x, "__array_interface__"):
        raise TypeError("from_py: a value of type %s has no counterpart in the language" % type(x).__name__)
    numpy = _numpy()
    a = numpy.asarray(x)
    if a.dtype.kind in "OUST" or a.dtype.kind == "V":
        return a.tolist() if a.ndim else [a.item()]
    if a.ndim > 8:
        raise TypeError("from_py: an array of the language has at most 8 dimensions, not %d" % a.ndim)
    if a.dtype.kind in "mM" or a.dtype.itemsize > 16 or (a.dtype.kind == "f" and a.dtype.itemsize > 8):
        cure = "int64" if a.dtype.kind in "mM" else "float64" if a.dtype.kind == "f" else "complex128"
        raise TypeError("from_py: elements of type %s have no counterpart in the language; x.astype(\"%s\") has one"
                        % (a.dtype, cure))
    usable = a is not x and a.dtype.isnative and a.flags.aligned and not any(s % a.itemsize for s in a.strides)
    return a if usable else numpy.array(a, a.dtype.newbyteorder("="), order="C", copy=True)


def misplaced(a):
    """Explains why the elements of a NumPy array cannot be used in place, and what to do instead."""
    if a.ndim > 8:
        return "an array has at most 8 dimensions, not %d" % a.ndim
    if not a.dtype.isnative:
        return "elements of type %s are in the byte order of another machine; value(x) makes a copy" % a.dtype.str
    if a.dtype.itemsize > 16 or a.dtype.kind == "f" and a.dtype.itemsize > 8:
        return "elements of type %s have no counterpart in the language" % a.dtype
    return "the elements lie at addresses that are no multiples of their size; value(x) makes a copy"


# -- memory of other libraries -----------------------------------------------------------------------------------------

def capsule(x, queue, away):
    """Returns (DLPack capsule of x, whether its elements are constant, stream on which x is used or 0, x or None).  The
    capsule is ordered before the VM's queue; with away, it holds a copy on the host.  The last item is the tensor whose
    writes must be counted.  JAX arrays are constant, which their capsules do not report."""
    constant = not away and type(x).__module__.partition(".")[0] in ("jax", "jaxlib")
    torch = sys.modules.get("torch")
    counted = not away and torch is not None and isinstance(x, torch.Tensor)
    return _capsule(x, queue, away), constant, _stream_of(x) if queue else 0, x.detach() if counted else None


def _stream_of(x):
    torch = sys.modules.get("torch")
    if torch and isinstance(x, torch.Tensor):
        return torch.cuda.current_stream(x.device).cuda_stream
    try:
        return x.__cuda_array_interface__.get("stream") or 0
    except Exception:  # objects without the interface may raise anything
        return 0


def _capsule(x, queue, away):
    if hasattr(x, "detach") and not (getattr(x, "requires_grad", False) and records_gradients()):
        x = lasting(x)
    options = {"stream": queue} if queue else {}
    newer = dict(options, max_version=(1, 0), **({"dl_device": (1, 0), "copy": True} if away else {}))
    try:
        return x.__dlpack__(**newer)
    except TypeError:  # DLPack without versions
        if away:
            raise
        return x.__dlpack__(**options)


def lasting(t):
    """Returns a tensor that keeps the current memory of t: t.data = … gives t different memory, and t.resize_() fails
    from now on, as after t.numpy()."""
    same = t.detach()
    try:
        same.numpy()
    except TypeError:  # NumPy lacks the type, or the tensor is on a device
        torch = sys.modules["torch"]
        if t.is_cpu and hasattr(t, "untyped_storage"):  # torch 2.0
            torch.empty(0, dtype=torch.uint8).set_(same.untyped_storage()).numpy()
    except (AttributeError, RuntimeError):  # a different library, or no NumPy
        pass
    return same


def nowhere(x):
    """Explains why an array or tensor has no usable elements, and what to do instead; None: unknown."""
    jax, torch = sys.modules.get("jax"), sys.modules.get("torch")
    if jax and isinstance(x, jax.core.Tracer):
        return ("the array has no elements while JAX traces (jit, grad, vmap); jax_op makes an operator that it can "
                "trace")
    if not torch or not isinstance(x, torch.Tensor):
        return None
    functorch = torch._C._functorch
    if type(x).__name__ in ("FakeTensor", "FunctionalTensor") or functorch.is_functorch_wrapped_tensor(x):
        return ("the tensor has no elements while torch traces (compile, export, vmap, torch.func); torch_op makes an "
                "operator that it can trace")
    if x.layout != torch.strided:
        return "the tensor is sparse; x.to_dense() is one whose elements lie in memory"
    return "the tensor is on the device meta and has no elements" if x.is_meta else None


def version_counter():
    """Returns the function that reports a write to torch."""
    torch = sys.modules["torch"]
    return getattr(torch.autograd.graph, "increment_version", _count_change)


def _count_change(t):  # before torch 2.1: writing none of its elements counts as well
    with sys.modules["torch"].no_grad():
        t.detach().unsqueeze(0)[:0].zero_()


def records_gradients():
    """Whether torch records computations with a tensor that requires grad; false in the forward of a Function."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.is_grad_enabled()


_kinds = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def cuda_interface(x):
    """Reads __cuda_array_interface__: (address, shape, strides in bytes, element type, read-only, stream)."""
    d = x.__cuda_array_interface__
    order, kind, size = d["typestr"][:1], d["typestr"][1:2], d["typestr"][2:]
    size = int(size) if size.isdigit() else 0
    name = "bool" if kind == "b" and size == 1 else "%s%d" % (_kinds.get(kind, "?"), 8 * size)
    if name not in ELEMENTS or order == (">" if sys.byteorder == "little" else "<") and size > 1:
        raise TypeError("elements of type %s have no counterpart in the language" % d["typestr"])
    if d.get("mask") is not None:
        raise NotImplementedError("an array with a mask in __cuda_array_interface__ cannot be used")
    shape, strides, (address, readonly), stream = tuple(d["shape"]), d.get("strides"), d["data"], d.get("stream")
    if stream == 0:
        raise ValueError("__cuda_array_interface__: stream 0 is not allowed; 1 is the default stream")
    if len(shape) > 8:
        raise TypeError("an array has at most 8 dimensions, not %d" % len(shape))
    if strides is None:
        strides, step = [], size
        for n in reversed(shape):
            strides.insert(0, step)
            step *= n
    return address or 0, shape, tuple(strides), name, bool(readonly), stream or 0


ELEMENTS = {}  # element types by name, with NumPy's code; set by the bridge when it is loaded
NOT_IN_NUMPY = set()


def know_elements(codes):
    ELEMENTS.update(codes)
    NOT_IN_NUMPY.update(name for name, code in codes.items() if not code)


def _numbers(x):
    return all(type(i) in (int, float, bool) or isinstance(i, list) and _numbers(i) for i in x)


# -- the prompt --------------------------------------------------------------------------------------------------------

def _at(x, path):
    """Returns x.path without running code: no properties, no __getattr__."""
    import inspect
    for name in filter(None, path.split(".")):
        x = inspect.getattr_static(x, name)
        if isinstance(x, (classmethod, staticmethod)):
            x = x.__func__
    return x


def members(x, path):
    try:
        names = dir(_at(x, path))
    except AttributeError:
        names = []
    return "".join(n + "\n" for n in names if not n.startswith("__"))


def description(x, path):
    import inspect
    x = _at(x, path)
    name = path or getattr(x, "__name__", type(x).__name__)
    try:
        head = name + str(inspect.signature(x)) if callable(x) else name + ": " + type(x).__name__
    except (TypeError, ValueError):
        head = name
    return head + "\n" + (inspect.getdoc(x) or "").split("\n\n")[0] + "\n"
