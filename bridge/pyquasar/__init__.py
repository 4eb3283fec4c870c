"""The Quasar array language in Python.

    import pyquasar as q
    q.init("cpu")
    q.compile_string("louder", "function y = louder(x : vec, gain)\\n  y = x*gain\\nend")
    q.louder(q.value([1, 2, 3]), 2)

After init, every built-in function and every function, variable and type of compiled programs is an attribute of this
module: q.zeros(20, 20, 3), q.parallel_do(...)."""
import _imp, atexit as _atexit, os as _os, sys as _sys
from builtins import any as _any, bool as _bool, type as _type  # names of the language, too (keep_name)
from _thread import RLock as _RLock

if _sys.version_info < (3, 9):
    raise ImportError("pyquasar needs Python 3.9 or later; this one is %d.%d" % _sys.version_info[:2])
_folder = _os.path.dirname(_os.path.abspath(__file__))
_in_script = getattr(_sys, "_quasar_inside", False)  # Python was started by a script, whose VM is in the program
if not _in_script and not _any(_os.path.exists(_folder + "/_bridge" + s) for s in _imp.extension_suffixes()):
    raise ImportError("this pyquasar was built for another Python than this one, %d.%d%s: one without the global "
                      "interpreter lock needs a pyquasar of its own" % (*_sys.version_info[:2], _sys.abiflags))

from . import _support
from ._support import QuasarError, QuasarWarning
if _in_script:
    from . import _inside as _bridge
else:
    from . import _bridge

from ._values import install as _install

_bridge._claim()
_install(_bridge.qvalue, _bridge.qfunction)
qvalue, qfunction, memcpy, value = _bridge.qvalue, _bridge.qfunction, _bridge.memcpy, _bridge.value
globals().update((t.__name__, t) for t in _support.error_types + [_support.closed_error])

__version__ = _bridge._version()
LOCK_READ, LOCK_WRITE, LOCK_READWRITE = 1, 2, 3
MEMRESOURCE_CPU, MEMRESOURCE_SINGLE_CUDA, MEMRESOURCE_SINGLE_OPENCL = 0, 1, 2
MEMRESOURCE_DEVICE0 = 16  # the device that runs kernels; DEVICE0 + 1 is the processor, DEVICE0 + n is devices()[n - 1]
MEMRESOURCE_DEVICE1, MEMRESOURCE_DEVICE2, MEMRESOURCE_DEVICE3, MEMRESOURCE_DEVICE4 = 17, 18, 19, 20

_opened = None      # the options of init: {name: value}
_turn = _RLock()    # lock of threads that open and close the VM
_inherited = False  # in the child of a fork, which has its parent's VM; init may replace it


# -- the VM ------------------------------------------------------------------------------------------------------------

# options: begin (written by tools/options.py)
def init(device=None, *, loadCompiler=True, load_compiler=True, library_path="", cache_dir=None, memory_limit=0,
         precision=32, threads=None, checked=False, fast_math=False, tune=False, explain=False, loops=None):
    """Opens the VM.  All other functions need it.

    device        the device of kernels: cpu (used if no device is named), cuda, opencl; cuda:1 is the second one;
                  gpu is the first GPU; cpu,opencl opens both, and kernels run on the first; auto opens the
                  processor and every GPU, and each launch runs where it ends soonest; auto:cpu,opencl does the same
                  among these; machine.xml opens the devices that the file lists; ref is the slow reference
                  implementation
    library_path  folders, separated by ':', in which import searches for files before the installed library
    cache_dir     folder for compiled kernels; "": none are kept; not given: ~/.cache/quasar
    memory_limit  limit in bytes for arrays on a device, for qrun also as 500M or 4G; 0: none
    precision     32 or 64: bits of an array element of type scalar
    threads       threads of the cpu device; not given: all that the process may use
    checked       an access outside an array is an error in kernels, too
    fast_math     kernels, array expressions and loops may approximate quotients and roots, and reorder sums
    tune          measure with which block sizes the kernels, loops and array expressions run fastest, report it on
                  standard error, and keep it in the cache for later runs
    explain       report on standard error how each loop and array expression was compiled, or why not
    loops         host loops and array expressions as machine code: auto (when it pays off; used if not given),
                  always, never

    The compiler is always available; load_compiler is accepted for compatibility."""
# options: end
    options = {**locals()}
    del options["loadCompiler"], options["load_compiler"]
    with _turn:
        _open(_bridge._check_options(options))


def _suggesting(function):
    """Makes an unknown argument an error that names the nearest option."""
    def init(*args, **options):
        unknown = [name for name in options if name not in known]
        if unknown:
            near = __import__("difflib").get_close_matches(unknown[0], known, 1)
            hint = ", did you mean %s?" % near[0] if near else ""
            raise TypeError("init: there is no option %s%s" % (unknown[0], hint))
        return function(*args, **options)
    code = function.__code__
    known = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    init.__doc__, init.__wrapped__, init.__qualname__ = function.__doc__, function, "init"
    init.__module__, init.__kwdefaults__ = function.__module__, None
    return init


init = _suggesting(init)


def _open(wanted):
    """Opens a VM with these options: {name: value}, as _bridge._check_options returns them."""
    global _opened, _inherited
    if _inherited and _bridge._is_open() and (wanted != _opened or _any(d.kind == "lost" for d in devices())):
        destroy()
    if _bridge._is_open():
        if wanted == _opened or _opened and _is_same(wanted, _opened):
            return
        where = " on %s" % (_opened["device"] or "the processor") if _opened else ""
        raise QuasarError("init: the machine is open already%s; call destroy first" % where)
    # Locations for pip and for make install.
    installed = [_os.path.join(_folder, "stdlib"), _os.path.join(_folder, "../../../../share/quasar/stdlib")]
    given = {"device": (wanted["device"] or "").removeprefix("helios:"), "llvmlite": _llvmlite(),
             "library_path": ":".join(path for path in [wanted["library_path"]] + installed if path)}
    _bridge._open({**wanted, **given})
    _opened, _inherited = wanted, False
    for started in _support.when_open:
        started()


def _is_same(a, b):
    """Compares two settings; None is equal to the processor if that is the open device."""
    both = {a["device"], b["device"]} == {None, "cpu"} and [d.kind for d in devices() if d.default] == ["cpu"]
    return both and {**a, "device": None} == {**b, "device": None}


def _llvmlite():
    """Finds the library of the package llvmlite, which the VM uses if the system has no LLVM."""
    places = (_os.path.join(p or ".", "llvmlite", "binding", "libllvmlite.so") for p in _sys.path)
    return next((place for place in places if _os.path.exists(place)), None)


def _machine():
    """Returns the settings with which another process can open a similar VM: _open_like(_machine())."""
    return _opened or _bridge._settings()


def _open_like(wanted):
    """Opens a VM with the settings of another process, unless one is open."""
    if _bridge._is_open():
        return
    if wanted is None:
        raise QuasarClosedError("a value of a script is unpickled: call pyquasar.init first")
    init(**wanted)


def destroy():
    """Closes the VM and any cluster that it has opened; init may then open a new one.  Its values can no longer be
    used, but NumPy arrays that share their memory stay valid."""
    with _turn:
        _bridge._close()
        for ended in _support.when_closed:
            ended()


def devices():
    """Returns the open devices: name, type, bytes of memory (0: unknown), whether kernels run there, index among
    devices of its type, limit in bytes for arrays (0: none), and maximum block size."""
    return [_support.device(*d) for d in _bridge._devices()]


def run_gui():
    """Waits until all windows are closed, while their event handlers run.  Figures are written to files if there is no
    display."""
    if not _bridge._is_open():
        raise QuasarClosedError("run_gui: call pyquasar.init first")
    _bridge._attribute("run_gui")()


_atexit.register(_bridge._end)  # exit handlers run in reverse order, so this one runs after those registered later


def _forked():
    global _inherited, _turn
    _inherited, _turn = True, _RLock()
    _bridge._forked()


if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_forked)


# -- batches of torch --------------------------------------------------------------------------------------------------

class _Collating:
    """Registers a collate function for values when torch is imported, by an import hook that imports nothing itself."""
    name = "torch.utils.data._utils.collate"

    @staticmethod
    def tell(module):
        def collate(batch, **options):
            from . import _interop
            return _interop.collate(batch, **options)
        getattr(module, "default_collate_fn_map", {}).setdefault(qvalue, collate)  # torch 2.0

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        _sys.meta_path.remove(self)
        spec = __import__("importlib.util").util.find_spec(name)
        if not spec:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            self.tell(module)
        spec.loader.exec_module = exec_module
        return spec


if _Collating.name in _sys.modules:
    _Collating.tell(_sys.modules[_Collating.name])
else:
    _sys.meta_path.insert(0, _Collating())


# -- programs ----------------------------------------------------------------------------------------------------------

_assigned = {}  # {module: variables assigned from Python}


class module:
    """The definitions of one text or file: m.f is its own f, even if other modules define f; m.x = 1 sets its variable
    x."""

    def __init__(self, name):
        self.__dict__["__name__"] = name

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _bridge._attribute_in(self.__name__, name, self.__dict__)

    def __setattr__(self, name, x):
        _bridge._assign_in(self.__name__, name, x)
        _assigned.setdefault(self.__name__, set()).add(name)

    def __reduce__(self):
        from . import _pickles
        return _pickles.reduce_module(self)

    def __dask_tokenize__(self):
        from . import _pickles
        return _pickles.token(self)

    def __dir__(self):
        return _bridge._names(self.__name__)

    def __repr__(self):
        return "<quasar module %s>" % self.__name__


def _text(function, what, x):
    if not isinstance(x, str):
        raise TypeError("%s: %s must be a string, got %s" % (function, what, _type(x).__name__))
    return x


def _path(function, what, x):
    try:
        return _os.fsdecode(x)
    except TypeError:
        raise TypeError("%s: %s must be a string or a path, got %r" % (function, what, x)) from None


def compile_string(name, text):
    """Compiles and runs a program.  Its definitions become attributes of this package and of the returned module.  A
    program compiled earlier under the same name is replaced."""
    _text("compile_string", "name", name)
    _bridge._load(name, _text("compile_string", "text", text).encode("utf-8", "surrogateescape"))
    _assigned.pop(name, None)
    return module(name)


def compile_file(path):
    """Like compile_string for a file; its imports are searched for beside it."""
    path = _os.path.realpath(_path("compile_file", "path", path))
    with open(path, "rb") as f:
        text = f.read()
    _bridge._load(path, text)
    _assigned.pop(path, None)
    return module(path)




def evaluate(text):
    """Runs statements as if typed at the prompt of qrun, and returns the value of the last one if it is an
    expression."""
    return _bridge._evaluate(_text("evaluate", "text", text))


def import_dll(name):
    """Imports a library by name.  Quasar.UI.dll and similar libraries are built in."""
    evaluate('import "%s"' % _text("import_dll", "name", name))


def import_native(name):
    """Imports a library made by qrun --make-lib (filters: also libfilters.so, filters.64.so), by path or from the
    current folder.  Its definitions become attributes of this package and of the returned module."""
    path = _bridge._import_native(_path("import_native", "name", name))
    return path and module(path)


def typename(text):
    """Returns a type of the language: typename("vec[mat]")(4) creates a value of it."""
    return _bridge._typename(_text("typename", "text", text))


def load_ipython_extension(shell):
    """Implements %load_ext pyquasar: cells that begin with %%quasar are in the language."""
    from . import _notebook
    _notebook.load(shell)


# -- arrays of other libraries: the functions of _interop.py, which is read when one of them is wanted -----------------

descriptor = _bridge.descriptor
_interop_names = frozenset("""from_numpy from_torch to_torch from_dlpack to_dlpack from_jax to_jax from_cupy
    to_cupy from_paddle to_paddle dtype_from_numpy dtype_to_numpy dtype_from_torch dtype_to_torch device_from_torch
    device_to_torch stream stream_from_torch stream_to_torch""".split())
_elsewhere = {  # hints for names of JAX, Warp and Taichi
    "jacrev": "jacobian(f) takes the way with fewer sweeps", "jacfwd": "jacobian(f) takes the way with fewer sweeps",
    "vmap": "a kernel runs at every position; jax_op(f) and torch_op(f) are batched by the vmap of JAX and torch",
    "jit": "kernels, loops and expressions of programs are compiled as they are",
    "Tape": "grad(f), value_and_grad(f) and vjp(f, *args) record what a function computes",
    "launch": "parallel_do(size, *arguments, kernel) launches a kernel",
    "custom_jvp": "custom_vjp is there, whose rule is followed forward, too"}
_grad_names = frozenset("grad value_and_grad vjp jvp jacobian hessian hvp gradcheck stop_gradient checkpoint "
                        "custom_vjp".split())
_block_names = frozenset(["halo", "dask_op"])


# -- names of the language ---------------------------------------------------------------------------------------------

def __getattr__(name):
    if name in _interop_names:
        from . import _interop
        return globals().setdefault(name, getattr(_interop, name))
    if name in ("torch_op", "jax_op"):
        module = __import__("pyquasar._" + name, fromlist=[name])
        return globals().setdefault(name, getattr(module, name))
    if name in _block_names:
        from . import _blocks
        return globals().setdefault(name, getattr(_blocks, name))
    if name in _grad_names:
        from . import _grad
        return globals().setdefault(name, getattr(_grad, name))
    try:
        return _bridge._attribute(name)
    except AttributeError:
        if name not in _elsewhere:
            raise
    raise AttributeError("pyquasar has no %s: %s" % (name, _elsewhere[name]))


class _Package(_type(_sys)):
    """Makes q.x = 1 set the variable x of a program, if there is one."""

    def __reduce__(self):  # called by cloudpickle for modules of a derived class
        return __import__("importlib").import_module, (self.__name__,)

    def __setattr__(self, name, x):
        if name.startswith("_") or name in globals() or not _bridge._assign(name, x):
            super().__setattr__(name, x)


_sys.modules[__name__].__class__ = _Package


def __dir__():
    own = {n for n in globals() if not n.startswith("_") or n.endswith("__")}
    of_programs = {name for name in _bridge._names(None) if name.isidentifier()}
    return sorted(own | _interop_names | _grad_names | _block_names | {"torch_op", "jax_op"} | of_programs)
