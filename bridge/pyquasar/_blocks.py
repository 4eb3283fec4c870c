"""Runs kernels and functions on blocks of larger arrays: halo gives the access range of a kernel, dask_op applies a
function to Dask arrays."""
import inspect


def _q():
    import pyquasar
    return pyquasar


def _arguments(kernel, args, named):
    """Returns the arguments for halo of the language: in the order of the parameters, None for missing ones."""
    names = list(inspect.signature(kernel).parameters)
    for wrong in (n for n in named if n not in names):
        raise TypeError("%s has no parameter %s; there are %s" % (kernel.__name__, wrong, ", ".join(names)))
    if len(args) > len(names) or any(n in named for n in names[:len(args)]):
        raise TypeError("%s takes %d arguments, each of them once" % (kernel.__name__, len(names)))
    return list(args) + [named.get(n) for n in names[len(args):]]


def _is_kernel(f):
    return getattr(f, "_is_kernel", False)


def halo(kernel, *args, **named):
    """Returns how far a kernel reads around its own position along each dimension, which is the border that a block
    needs of its neighbours.  The arguments are those of parallel_do, by position or by name; only those that affect the
    result are needed: halo(q.blur, r=2).

    A function is called with the arguments, and the ranges of the kernels that it launches are added up, because one
    may read the result of another; () if it launches none.  Accesses outside of kernels are not included."""
    if _is_kernel(kernel):
        reach = _q()._bridge._built_in("halo")(kernel, *_arguments(kernel, args, named))
    else:
        reach, y = _look(kernel, args, named)
    return tuple(int(n) for n in reach)


def _look(f, args, named):
    """Returns the access range of the kernels that f launches, and the result of f."""
    if not callable(f):
        raise TypeError("halo: a kernel or a function is wanted, got %r" % (f,))
    y = []
    reach = _q()._bridge._built_in("halo")(lambda: y.append(f(*args, **named)))
    return reach, y[0]


# -- arrays of Dask ----------------------------------------------------------------------------------------------------

_BOUNDARY = {"mirror": "reflect", "circular": "periodic", "clamped": "nearest", "safe": 0,
             "none": "none"}  # names for map_overlap


def _kernel_on(kernel, x, named):
    """Runs a kernel on x: it reads its first parameter, writes its second one, and takes the others by name."""
    q = _q()
    x = q.value(x)
    y = q._bridge._built_in("uninit_like")(x)
    others = list(inspect.signature(kernel).parameters)[2:]
    q.parallel_do(x.shape, x, y, *[named[n] for n in others if n in named], kernel)
    return y


def _run(content, *chunks):
    import numpy as np
    f, named, depth = content
    chunks = [np.require(x, requirements="A") if isinstance(x, np.ndarray) else x for x in chunks]
    if _is_kernel(f):
        return _kernel_on(f, *chunks, named)
    return f(*chunks, **named) if depth is not None else _alone(f, chunks, named)


def _alone(f, chunks, named):
    """Applies f to chunks without border elements of their neighbours."""
    reach, y = _look(f, chunks, named)
    if any(n > 0 for n in reach):
        raise ValueError("dask_op: %s launches kernels that read %s elements around a position, and depth, how many "
                         "elements of its neighbours a chunk shows, is not given" %
                         (getattr(f, "__name__", "the function"), tuple(int(n) for n in reach)))
    return y


def _of_chunks(*chunks, program, promised):
    y = program(*chunks)
    if str(getattr(y, "dtype", promised)) != promised:
        raise TypeError("dask_op: the function gives %s, and its result was to be of %s: dtype=%r says so" %
                        (y.dtype, promised, str(y.dtype)))
    return y if hasattr(chunks[0], "_kind") or not hasattr(y, "__array__") else y.__array__()


class dask_op:
    """A function of a script, or a kernel, applied to Dask arrays.

        blur = q.dask_op(q.blur, r=2)          # a kernel: the first parameter is read, the second one written
        y = blur(x)                            # x, y: Dask arrays

    Each chunk of x includes `depth` elements of its neighbours along each dimension.  For a kernel depth is its access
    range (halo); it must be given for a function that launches kernels which read around their positions.  `mode`
    defines the values outside of x: safe (0), mirror, circular or clamped; for a kernel its own mode; none: chunks end
    where x ends.  Further parameters are passed by name.  The result of a function has the size of its chunk.  dtype is
    the type of the result, by default that of x; a result of any other type is an error.

    The program is sent to each worker once.  Applied to other arrays, the object is the function of a chunk, for
    map_blocks and map_overlap: da.map_overlap(blur, x, **blur.overlap)."""

    def __init__(self, f, depth=None, mode=None, dtype=None, **named):
        if not callable(f):
            raise TypeError("dask_op: a function or a kernel is wanted, got %r" % (f,))
        self.f, self.named, self.dtype, self.depth, self.mode = f, named, dtype, depth, mode or "safe"
        if _is_kernel(f):
            self._know_kernel(depth, mode)
        if self.mode not in _BOUNDARY:
            raise ValueError("dask_op: mode must be %s, got %r" % (", ".join(_BOUNDARY), self.mode))

    def _know_kernel(self, depth, mode):
        if depth is not None:
            raise TypeError("dask_op: how far a kernel reads follows from its code; depth is for functions")
        q = _q()
        q.evaluate('import "cluster.q"')
        n, how = q._bridge._attribute("cluster_roles")([self.f] + _arguments(self.f, (), self.named))
        self.depth, read = tuple(int(i) for i in n), str(how[0])
        own = read if read in _BOUNDARY else "safe"
        if any(self.depth) and (read not in _BOUNDARY or mode not in (None, own)):
            raise ValueError("dask_op: the kernel reads its argument as '%s%s" % (
                read, "" if mode is None else ", which is not %s" % mode))
        self.mode = own

    @property
    def overlap(self):
        """Returns the arguments for map_overlap."""
        depth = self.depth if self.depth is not None else 0
        depth = dict(enumerate(depth)) if isinstance(depth, (tuple, list)) else depth
        return {"depth": depth, "boundary": _BOUNDARY[self.mode]}

    def _content(self):
        return self.f, self.named, self.depth

    def _program(self):
        """Returns the program as a separate task, whose result each worker fetches once."""
        import dask, hashlib, pickle
        from ._cluster import Program
        blob = pickle.dumps((_run, self._content()), protocol=5)
        name = "quasar-" + hashlib.sha256(blob).hexdigest()[:32]
        return dask.delayed(Program(_q()._machine(), blob), name=name, traverse=False)

    def _check_chunks(self, arrays):
        if not _is_kernel(self.f):
            return
        if len(arrays) > 1:
            raise TypeError("dask_op: a kernel takes one array of Dask, got %d" % len(arrays))
        for d, sizes in enumerate(arrays[0].chunks):
            if d >= len(self.depth) and len(sizes) > 1:
                raise ValueError("dask_op: the positions of the kernel have %d dimensions, and chunks may be cut along "
                                 "these only, got %d chunks along dimension %d" % (len(self.depth), len(sizes), d))

    def __call__(self, *arrays):
        if not any(hasattr(x, "__dask_graph__") for x in arrays):
            return _run(self._content(), *arrays)
        import numpy as np, dask.array as da
        self._check_chunks(arrays)
        dtype = np.dtype(self.dtype or arrays[0].dtype)
        how = dict(self.overlap, trim=True, allow_rechunk=True)
        n = max(x.ndim for x in arrays)
        how["depth"] = {d: (how["depth"].get(d, 0) if isinstance(how["depth"], dict) else how["depth"])
                        for d in range(n)}
        rest = {"program": self._program(), "promised": str(dtype), "dtype": dtype, "meta": np.empty((0,)*n, dtype)}
        if not any(how["depth"].values()):
            return da.map_blocks(_of_chunks, *arrays, **rest)
        return da.map_overlap(_of_chunks, *arrays, **how, **rest)
