"""Implements the Python part of cluster.q: Dask workers, and files that are read by Python.

A program is sent to a worker once, as one task.  Its result is the function with the data common to all blocks, which
Dask keeps and passes between workers.  The task of a block consists of that result, a number, and the elements of the
block if the worker cannot read them itself."""
import itertools, os, pickle, time, uuid

import pyquasar as q
from . import _support


# -- on a worker -------------------------------------------------------------------------------------------------------

class Program:
    """A pickle made by the client; unpickling it opens the VM that it needs."""

    def __init__(self, machine, blob):
        self.machine, self.blob, self.content = machine, blob, None

    def __reduce__(self):
        return Program, (self.machine, self.blob)

    def __call__(self, *args):
        if self.content is None:
            q._open_like(_own_device(self.machine))
            self.content = pickle.loads(self.blob)
        function, common = self.content
        return function(common, *args)


def _own_device(machine):
    """Assigns each worker the GPU whose index is the number in its name.  None: no VM settings are known."""
    if machine is None:
        return None
    try:
        from distributed import get_worker
        name = str(get_worker().name)
    except (ImportError, ValueError):  # threads or processes of Dask without distributed
        return machine
    device, digits = machine["device"], name.rsplit("-", 1)[-1]
    numbered = device in ("cuda", "opencl") and digits.isdigit()
    return dict(machine, device="%s:%s" % (device, digits)) if numbered else machine


def load(machine, blob):
    return Program(machine, blob)


def _elements(x):
    """Returns a block as a NumPy array, whose memory Dask sends without pickling; other objects are returned
    unchanged."""
    import numpy as np
    return np.asarray(x) if getattr(x, "_kind", None) == "array" else x


def _aligned(x):
    """Copies arrays at unaligned addresses, because Dask packs small arrays together."""
    import numpy as np
    return np.require(x, requirements="A") if isinstance(x, np.ndarray) else x


def part(program, *args):
    return _elements(program(*map(_aligned, args)))


def versions():
    """Versions that client and workers must share for pickles."""
    import dask, distributed, sys
    return {"pyquasar": q.__version__, "Python": "%d.%d" % sys.version_info[:2], "dask": dask.__version__,
            "distributed": distributed.__version__}


# -- the client --------------------------------------------------------------------------------------------------------

_open = []  # Workers


def _close_all():
    while _open:
        _open[-1].close()


_support.when_closed.append(_close_all)


def _number(x):
    return int(x) if isinstance(x, (int, float)) else None


class Workers:
    """An open cluster: at an address, or processes of this host."""

    def __init__(self, where, threads, device, precision):
        try:
            import distributed
        except ImportError as e:
            raise q.QuasarError("cluster_open: the package distributed is wanted (pip install distributed): %s" % e)
        try:
            distributed.get_worker()
        except ValueError:
            pass
        else:
            raise q.QuasarError("cluster_open: this is a worker; what opens a cluster stands in main(), which workers "
                                "do not run")
        self.distributed, self.cluster = distributed, None
        self.machine = dict(q._machine(), device=device, precision=64 if precision == "float64" else 32,
                            threads=threads)
        self.client = self._start(where) if _number(where) is not None else self._connect(where)
        _open.append(self)
        try:
            self._check_versions()
        except BaseException:
            self.close()
            raise

    def _start(self, n):
        if n < 1 or n != int(n):
            raise q.QuasarError("cluster_open: an integer of workers ≥ 1 is wanted, or an address, got %g" % n)
        self.cluster = self.distributed.LocalCluster(n_workers=int(n), threads_per_worker=1, processes=True,
                                                     dashboard_address=None)
        return self.distributed.Client(self.cluster, set_as_default=False)

    def _connect(self, address):
        limit = float(os.environ.get("QUASAR_CLUSTER_TIMEOUT", 10))
        for attempt in range(5):
            try:
                return self.distributed.Client(str(address), set_as_default=False, timeout=limit)
            except AssertionError:  # by distributed, if a worker comes or goes while the client connects
                time.sleep(0.2*(attempt + 1))
            except (OSError, TimeoutError, ValueError) as e:
                raise q.QuasarError("cluster_open: no scheduler of Dask answers at %s: %s" % (address, e)) from None
        raise q.QuasarError("cluster_open: the scheduler at %s refuses each of five attempts to connect" % address)

    def _check_versions(self):
        if not self.client.scheduler_info()["workers"]:
            self.client.wait_for_workers(1, timeout=30)
        try:
            there = self.client.run(versions)
        except (AttributeError, ImportError) as e:  # in the function `versions`
            raise q.QuasarError("cluster_open: the workers have another pyquasar than this process, or none: %s" % e)
        for worker, found in there.items():
            for name, v in versions().items():
                if found[name] != v:
                    raise q.QuasarError("cluster_open: the worker %s has %s %s, this process %s" %
                                        (worker, name, found[name], v))

    def close(self):
        _open[:] = [w for w in _open if w is not self]
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()

    def check_room(self, elements, element):
        """Checks that a block with its border and its result fits into the memory of each worker."""
        wanted = 2*elements*q.zeros(1).astype(element).itemsize
        limits = [w["memory_limit"] for w in self.client.scheduler_info()["workers"].values() if w["memory_limit"]]
        if limits and wanted > min(limits):
            raise q.QuasarError("cluster_map: a block and its result, %.3g MB, do not fit the memory of a worker, "
                                "%.3g MB" % (wanted/1e6, min(limits)/1e6))

    def results(self, function, common, first, n, given, ordered):
        """Yields (i, result) for each block, in order of completion or in block order.  Only a few blocks are in flight
        at a time; in block order, at most twice as many results are computed and not yet yielded."""
        client, first, n = self.client, int(first), int(n)
        name = "quasar-%s" % uuid.uuid4().hex
        import dask
        silent = {"distributed.admin.large-graph-warning-threshold": "1TB"}  # blocks are large on purpose
        blob = pickle.dumps((function, common), protocol=5)
        program = client.submit(load, self.machine, blob, key=name, pure=False)
        program.exception()  # waits for it; an error is reported by the first block
        client.replicate([program])  # otherwise all tasks would run on the worker that has it
        numbers, places, waiting = iter(range(first, n)), {}, {}

        def submit(i):
            block = _elements(given(float(i)))
            with dask.config.set(silent):
                future = client.submit(part, program, float(i), block, key="%s-%d" % (name, i), pure=False)
            places[future.key] = i
            return future
        room = 2*max(1, sum(client.nthreads().values())) + 1
        most = 2*room if ordered else room
        ready = self.distributed.as_completed([submit(i) for i in itertools.islice(numbers, room)],
                                             loop=client.loop)
        try:
            for future in ready:
                waiting[places.pop(future.key)] = self._result(future)
                future.release()
                while first in waiting or (waiting and not ordered):
                    i = first if ordered else next(iter(waiting))
                    yield float(i), waiting.pop(i)
                    first += 1
                for i in itertools.islice(numbers, min(room - len(places), most - len(places) - len(waiting))):
                    ready.add(submit(i))
        finally:
            client.cancel(list(ready.futures))

    def _result(self, future):
        try:
            x = future.result()
            return q.value(x) if hasattr(x, "__array_interface__") else x
        except self.distributed.KilledWorker as e:
            raise q.QuasarError("cluster_map: workers that computed a block were killed again and again, perhaps for "
                                "their memory: %s" % e) from None


# -- files that Python opens -------------------------------------------------------------------------------------------

def _zarr(path, **how):
    try:
        import zarr
    except ImportError as e:
        raise q.QuasarError("%s: the package zarr is wanted (pip install zarr): %s" % (path, e))
    return zarr.open_array(path, **how)


def _tiff(path, **how):
    try:
        import tifffile
    except ImportError as e:
        raise q.QuasarError("%s: the package tifffile is wanted (pip install tifffile): %s" % (path, e))
    try:
        return tifffile.memmap(path, **how)
    except ValueError as e:
        raise q.QuasarError("%s cannot be read in parts: its samples are compressed or not side by side: %s" %
                            (path, e))


def _kind(path):
    for end, kind in ((".zarr", _zarr), (".tif", _tiff), (".tiff", _tiff)):
        if path.rstrip("/").lower().endswith(end):
            return kind
    raise q.QuasarError("%s: a file that is read by blocks ends in .npy, .zarr, .tif or .tiff" % path)


class store:
    """An array in a file, parts of which are read and written."""

    def __init__(self, path):
        self.path, kind = path, _kind(path)
        if not os.path.exists(path):
            raise q.QuasarError("%s is not there" % path)
        self.array = kind(path, mode="r+" if os.access(path, os.W_OK) else "r")

    def dims(self):
        return q.value([float(n) for n in self.array.shape]).astype("float64")

    def element(self):
        import numpy as np
        return str(np.dtype(self.array.dtype).newbyteorder("="))

    def _slices(self, first, last):
        return tuple(slice(int(a), int(b)) for a, b in zip(first, last))

    def read(self, first, last):
        import numpy as np
        return np.ascontiguousarray(self.array[self._slices(first, last)])

    def write(self, first, y):
        import numpy as np
        y = np.asarray(y)
        first = [int(a) for a in first]
        y = y.reshape(y.shape + (1,)*(len(first) - y.ndim))
        self.array[self._slices(first, [a + n for a, n in zip(first, y.shape)])] = y
        getattr(self.array, "flush", lambda: None)()


def create(path, dims, element, block):
    """Creates a file of zeros whose chunks are the blocks, because two workers that write to one chunk overwrite each
    other."""
    import numpy as np
    shape = tuple(int(n) for n in dims)
    if _kind(path) is _zarr:
        _zarr(path, mode="w", shape=shape, dtype=np.dtype(element), chunks=tuple(int(n) for n in block))
    else:
        _tiff(path, shape=shape, dtype=np.dtype(element), photometric="minisblack")
