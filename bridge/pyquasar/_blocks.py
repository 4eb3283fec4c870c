"""Kernels and functions on blocks of larger arrays: how far a kernel reads, and a function of one block."""
import inspect


def _q():
    import pyquasar
    return pyquasar


def _arguments(kernel, args, named):
    """As halo of the language takes them: in the order of the parameters, None for what is not said."""
    names = list(inspect.signature(kernel).parameters)
    for wrong in (n for n in named if n not in names):
        raise TypeError("%s has no parameter %s; there are %s" % (kernel.__name__, wrong, ", ".join(names)))
    if len(args) > len(names) or any(n in named for n in names[:len(args)]):
        raise TypeError("%s takes %d arguments, each of them once" % (kernel.__name__, len(names)))
    return list(args) + [named.get(n) for n in names[len(args):]]


def _is_kernel(f):
    return getattr(f, "_is_kernel", False)


def halo(kernel, *args, **named):
    """How far a kernel reads around its own position, along each dimension: what a block of a larger array needs of its
    neighbours.  Arguments are those of parallel_do, by place or by name; only those are wanted on which the answer
    depends: halo(q.blur, r=2).

    A function is called with the arguments, and what the kernels that it launches read is added up, because one may
    read what another has written; () where it launches none.  What it reads by itself is not seen."""
    if _is_kernel(kernel):
        reach = _q()._bridge._built_in("halo")(kernel, *_arguments(kernel, args, named))
    else:
        reach, y = _look(kernel, args, named)
    return tuple(int(n) for n in reach)


def _look(f, args, named):
    """What the kernels that f launches read, and what f gives."""
    if not callable(f):
        raise TypeError("halo: a kernel or a function is wanted, got %r" % (f,))
    y = []
    reach = _q()._bridge._built_in("halo")(lambda: y.append(f(*args, **named)))
    return reach, y[0]


# -- arrays of Dask ----------------------------------------------------------------------------------------------------

_BOUNDARY = {"mirror": "reflect", "circular": "periodic", "clamped": "nearest", "safe": 0,
             "none": "none"}  # as map_overlap says it


def _kernel_on(kernel, x, named):
    """A kernel of x: it reads its first parameter, writes its second one, and takes the others by name."""
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
    """f of chunks that show nothing of their neighbours."""
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
    """A function of a script, or a kernel, as one of arrays of Dask.

        blur = q.dask_op(q.blur, r=2)          # a kernel: the first parameter is read, the second one written
        y = blur(x)                            # x, y: arrays of Dask

    Each chunk of x comes with its neighbours' elements: `depth` of them along each dimension, of a kernel as many as it
    reads (halo); a function that launches kernels which read around their positions wants one.  What is outside of x
    follows `mode`: safe (0), mirror, circular or clamped, of a kernel its own; none: chunks end where x ends.
    Further parameters are named.  A function gives a result of the size of its chunk; dtype is that of the result, and
    where it is not said, that of x; a result of another one is an error.

    The program goes to each worker once.  Of arrays that are no arrays of Dask it is the function of a chunk, for
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
        """What map_overlap is to be told."""
        depth = self.depth if self.depth is not None else 0
        depth = dict(enumerate(depth)) if isinstance(depth, (tuple, list)) else depth
        return {"depth": depth, "boundary": _BOUNDARY[self.mode]}

    def _content(self):
        return self.f, self.named, self.depth

    def _program(self):
        """As a task of its own, of which each worker fetches the result once."""
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
