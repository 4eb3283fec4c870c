"""Pickles values and functions, with the information that another process needs to recreate them.

A function, a type or an object of a class is pickled with the program that defines it: the texts of its file and of its
imports (not their paths), and variables assigned from Python.  Unpickling opens a similar VM unless one is open, and
loads the program unless it is already loaded."""
import pickle


def _q():
    import pyquasar
    return pyquasar


# -- out ---------------------------------------------------------------------------------------------------------------

def program_of(name):
    """Returns (name, texts, assigned variables) of a module."""
    q = _q()
    texts = q._bridge._texts(name)
    if texts is None:
        raise pickle.PicklingError("program %s was replaced by another one" % name)
    return name, texts, {x: q._bridge._attribute_in(name, x) for x in q._assigned.get(name, ())}


def _pickled(home, kind, *parts):
    return restore, (_q()._machine(), home and program_of(home), kind, *parts)


def reduce_value(self):
    from . import _values
    kind, home = self._kind, _q()._bridge._home(self)
    if kind == "array":
        return _pickled(home, kind, self._dtype, self.shape, _values._memory(self).tobytes())
    if kind == "cell":
        return _pickled(home, kind, self.typename, self.shape, _values._items(self))
    if kind == "object":
        return _pickled(home, kind, _values._type_of(self), self._fields())
    return _pickled(home, "type", str(self)) if kind == "type" else _pickled(home, "value", self.to_py())


_FORMATS = frozenset("?bBhHiIlLqQfd")  # formats to which memory can be cast


def reduce_by_protocol(self, protocol):
    """From protocol 5 on the elements of an array are not copied; the pickler gets their memory."""
    if protocol < 5 or self._kind != "array" or type(self).__reduce__ is not _q().qvalue.__reduce__:
        return self.__reduce__()
    from . import _values
    try:
        memory = _values._memory(self)
    except (BufferError, TypeError):  # an element type that the buffer protocol lacks
        return self.__reduce__()
    if not self.size or not self.ndim or not memory.c_contiguous or memory.format not in _FORMATS:
        return self.__reduce__()
    return restore_memory, (_q()._machine(), memory.format, self.shape, pickle.PickleBuffer(memory))


def token(self):
    """Returns a token for Dask, which is equal for equal contents in all processes whose VMs were opened alike."""
    import hashlib, uuid
    parts = []
    try:
        text = pickle.dumps(self, protocol=5, buffer_callback=parts.append)
    except pickle.PicklingError:  # a lambda
        return "pyquasar", uuid.uuid4().hex
    digest = hashlib.sha256(text)
    for part in parts:
        digest.update(part.raw())
    return "pyquasar", digest.hexdigest()


def _is(self, look_up, *where):
    try:
        return look_up(*where) == self
    except AttributeError:
        return False


def reduce_function(self):
    """Pickles a function by name, as Python does."""
    q, name = _q(), self.__name__
    if self._wraps is not None:
        from ._grad import checkpoint
        return checkpoint, (self._wraps,)
    home = q._bridge._home(self)
    if home is None and _is(self, q._bridge._built_in, name):
        return _pickled(None, "built-in", name)
    if home is not None and _is(self, q._bridge._attribute_in, home, name):
        return _pickled(home, "function", name)
    if home is not None and _is(self, getattr, q, name):
        why = "that name means functions of several programs"
    else:
        why = "a function that is pickled has a name in a program of compile_string or compile_file"
    raise pickle.PicklingError("%r cannot be pickled: %s" % (self, why))


def reduce_module(self):
    return restore_module, (_q()._machine(), program_of(self.__name__))


# -- in ----------------------------------------------------------------------------------------------------------------

def _load_library(path):
    """Imports a library file, which every installation has at its own path; its text is not sent."""
    q, file = _q(), path.rsplit("/", 1)[-1]
    here = q._bridge._library(path)
    if here is None:
        raise pickle.UnpicklingError("the library has no file %s here" % file)
    q.evaluate('import "%s"' % file)
    return here


def _load(program):
    """Returns the module of the program: the one loaded here or a new one, renamed if a different program has its
    name."""
    q = _q()
    name, texts, variables = program
    if not texts:
        return _load_library(name)
    here, imported = q._bridge._texts(name), texts  # with circular imports, including the last one
    if here is not None and here != texts:
        import hashlib
        name = "%s#%s" % (name, hashlib.sha256(repr(texts).encode()).hexdigest()[:8])
        here, imported = q._bridge._texts(name), texts[:-1]
    if here is None:
        for path, text in imported:
            q._bridge._carry(path, text)
        q._bridge._load(name, texts[-1][1])
        for x, value in variables.items():
            setattr(q.module(name), x, value)
    return name


def restore_memory(machine, form, shape, memory):
    """Creates an array on this memory."""
    def array(memory):
        return _q().value(memoryview(memory).cast("B").cast(form, shape))
    _q()._open_like(machine)
    try:
        return array(memory)
    except TypeError:  # unaligned, because Dask packs small buffers together
        return array(bytearray(memory))


def restore_module(machine, program):
    _q()._open_like(machine)
    return _q().module(_load(program))


def restore(machine, program, kind, *parts):
    from . import _values
    q = _q()
    q._open_like(machine)
    home = program and _load(program)
    make = {"array": q._bridge._array, "cell": _values._make_cell, "object": _values._make_object, "type": q.typename,
            "value": q.value, "built-in": q._bridge._built_in,
            "function": lambda name: q._bridge._attribute_in(home, name)}
    return make[kind](*parts)
