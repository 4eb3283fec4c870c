"""Blocks of larger arrays: how far kernels read; the workers of Dask; tasks of Ray, ranks of MPI."""
import importlib.util, os, pickle, re, shutil, signal, subprocess, sys, tempfile, threading, time, unittest
from unittest import mock

import pyquasar as q
from optional import library

np, distributed, zarr, tifffile = library("numpy"), library("distributed"), library("zarr"), library("tifffile")
array = library("dask.array")

PROGRAM = """
    function [] = __kernel__ box(x : mat'mirror, y : mat, r : int, pos : ivec2)
      total = 0.0
      for m = -r..r
        for n = -r..r
          total += x[pos+[m,n]]
        end
      end
      y[pos] = total/(2*r+1)^2
    end
    function [] = __kernel__ two(x : vec, y : vec, z : vec, pos : int)
      y[pos] = x[pos] + z[pos]
    end
    function [] = __kernel__ rows(x : mat, y : mat, pos : int)
      y[pos,0] = x[pos,1]
    end
    function y = host(x)
      y = x
    end
    function y = slow(x, ms)
      pause(ms)
      y = 3*x
    end
    function y = twice(x, r)
      y = uninit(size(x))
      parallel_do(size(x), x, y, r, box)
      x = y
      y = uninit(size(x))
      parallel_do(size(x), x, y, r, box)
    end
    function y = late_first(path, i, x)
      while i == 0 && !isfile(path)
        pause(20)
      end
      y = i
    end
    function y = whole(x)
      y = sum(x)
    end
    function y = fails(x)
      y = x
      if max(x) >= 0
        error("no such luck")
      end
    end"""


class Halo(unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        self.addCleanup(q.destroy)
        self.m = q.compile_string("p", PROGRAM)

    def test_arguments_have_names(self):
        self.assertEqual(q.halo(self.m.box, r=3), (3, 3))
        self.assertEqual(q.halo(self.m.box, None, None, 2), (2, 2))

    def test_what_is_wrong_is_said(self):
        for call, what in ((lambda: q.halo(self.m.box), "value of r, which has to be given"),
                           (lambda: q.halo(self.m.box, k=1), "no parameter k; there are x, y, r"),
                           (lambda: q.halo(self.m.box, 1, 2, 3, 4), "takes 3 arguments"),
                           (lambda: q.halo(self.m.box, 1, x=2), "each of them once"),
                           (lambda: q.halo(3), "a kernel or a function is wanted"),
                           (lambda: q.halo(self.m.twice, 1), "twice")):
            with self.assertRaisesRegex(Exception, what):
                call()

    def test_functions_are_what_they_launch(self):
        x = q.zeros(9, 9)
        self.assertEqual(q.halo(self.m.twice, x, r=2), (4, 4))
        self.assertEqual(q.halo(lambda: self.m.twice(x, 1)), (2, 2))
        self.assertEqual(q.halo(self.m.host, x), ())


@unittest.skipUnless(np, "needs numpy")
class Pickles(unittest.TestCase):
    """Protocol 5, by which Dask, Ray and MPI send arrays: the elements are not copied."""

    def setUp(self):
        q.init("cpu")
        self.addCleanup(q.destroy)

    def test_elements_stay_where_they_are(self):
        a, parts = q.value(np.arange(12, dtype=np.float32).reshape(3, 4)), []
        text = pickle.dumps(a, 5, buffer_callback=parts.append)
        self.assertEqual([p.raw().nbytes for p in parts], [48])
        self.assertLess(len(text), 300)
        b = pickle.loads(text, buffers=parts)
        self.assertTrue(np.shares_memory(np.asarray(a), np.asarray(b)))
        self.assertEqual((b.shape, b.dtype), (a.shape, a.dtype))
        odd = bytearray(49)
        odd[1:] = parts[0].raw()
        c = pickle.loads(text, buffers=[memoryview(odd)[1:]])
        self.assertTrue(np.array_equal(np.asarray(a), np.asarray(c)))

    def test_all_types_and_shapes(self):
        types = ("uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 bool complex64 complex128"
                 .split())
        for t in types:
            for shape in ((3,), (1, 4), (2, 3, 1), (0, 3), (1, 1, 1), ()):
                a = q.value(np.ones(shape, t))
                for protocol in (2, 4, 5):
                    b = pickle.loads(pickle.dumps(a, protocol))
                    self.assertTrue(np.array_equal(np.asarray(a), np.asarray(b)))
                    self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        t = q.value(np.arange(6.).reshape(2, 3)).T
        self.assertTrue(np.array_equal(np.asarray(pickle.loads(pickle.dumps(t, 5))), np.asarray(t)))
        b = pickle.loads(pickle.dumps(q.value([1, 2]), 5))
        b[0] = 7
        self.assertEqual(b[0], 7)

    def test_tokens_and_sizes(self):
        m = q.compile_string("p", PROGRAM)
        a = q.value(np.zeros(1000, np.float32))
        self.assertGreaterEqual(sys.getsizeof(a), 4000)
        self.assertEqual(a.__dask_tokenize__(), q.zeros(1000).__dask_tokenize__())
        self.assertNotEqual(a.__dask_tokenize__(), q.ones(1000).__dask_tokenize__())
        self.assertEqual(m.box.__dask_tokenize__(), m.box.__dask_tokenize__())
        self.assertNotEqual(m.box.__dask_tokenize__(), m.host.__dask_tokenize__())
        self.assertEqual(m.__dask_tokenize__(), m.__dask_tokenize__())
        f = q.evaluate("x -> 2*x")
        self.assertNotEqual(f.__dask_tokenize__(), f.__dask_tokenize__())

    def test_functions_of_the_library(self):
        q.evaluate('import "cluster.q"')
        text = pickle.dumps(q.cluster_map)
        q.destroy()
        q.init("cpu")
        y = pickle.loads(text)(q.evaluate("x -> 2*x"), q.value([1, 2, 3]), 2)
        self.assertEqual(list(y), [2, 4, 6])


class Arrays:
    """Arrays of Dask; whose scheduler is at work is said by who derives from this."""

    def check(self, y, wanted):
        self.assertEqual(np.asarray(y).tobytes(), np.asarray(wanted).tobytes())

    def prepare(self):
        x = np.random.default_rng(1).standard_normal((60, 50)).astype(np.float32)
        m = q.compile_string("p", PROGRAM)
        y = q.zeros(60, 50)
        q.parallel_do((60, 50), x, y, 2, m.box)
        return m, x, array.from_array(x, chunks=(20, 50)), y

    def test_kernels(self):
        m, x, d, y = self.prepare()
        box = q.dask_op(m.box, r=2)
        self.assertEqual(box.overlap, {"depth": {0: 2, 1: 2}, "boundary": "reflect"})
        self.assertLess(np.abs(np.asarray(box(d)) - np.asarray(y)).max(), 1e-6)
        again = array.map_overlap(box, d, **box.overlap, dtype=np.float32)
        self.assertLess(np.abs(np.asarray(again) - np.asarray(y)).max(), 1e-6)

    def test_functions(self):
        m, x, d, y = self.prepare()
        self.check(array.map_blocks(q.dask_op(m.slow, ms=0), d, dtype=np.float32), 3*x)
        self.check(q.dask_op(m.slow, ms=1)(d), 3*x)

    def test_functions_that_launch_kernels(self):
        m, x, d, y = self.prepare()
        with self.assertRaisesRegex(ValueError, r"twice launches kernels that read \(4, 4\) elements"):
            q.dask_op(m.twice, r=2)(d).compute()
        inside = q.dask_op(m.twice, r=2, depth=4, mode="none")(d)
        self.assertLess(np.abs(np.asarray(inside) - np.asarray(m.twice(x, 2))).max(), 1e-6)
        q.dask_op(m.twice, r=2, depth=0)(d).compute()  # as it was said

    def test_chunks_of_ours(self):
        m, x, d, y = self.prepare()
        ours = array.from_array(q.value(x), chunks=(20, 50), asarray=False)
        self.assertIsInstance(ours.blocks[0, 0].compute(), q.qvalue)
        self.check(ours, x)
        self.check(ours + 1, x + 1)
        self.check(q.dask_op(m.slow, ms=0)(ours), 3*x)


@unittest.skipUnless(array, "needs dask.array")
class Threads(Arrays, unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        self.addCleanup(q.destroy)

    def test_what_is_wrong_is_said(self):
        m, x, d, y = self.prepare()
        for call, what in ((lambda: q.dask_op(3), "a function or a kernel is wanted"),
                           (lambda: q.dask_op(m.box), "value of r"),
                           (lambda: q.dask_op(m.box, depth=3, r=1), "depth is for functions"),
                           (lambda: q.dask_op(m.two), "argument 2 at its position, but only the first one"),
                           (lambda: q.dask_op(m.rows)(array.zeros((8, 8), chunks=4)), "2 chunks along dimension 1"),
                           (lambda: q.dask_op(m.box, mode="safe", r=1), "'mirror, which is not safe"),
                           (lambda: q.dask_op(m.host, mode="odd"), "mode must be mirror, circular, clamped, safe")):
            with self.assertRaisesRegex(Exception, what):
                call()


    def test_dask_alone(self):
        code = """if True:
            import sys
            sys.modules["distributed"] = None  # is not installed
            import numpy as np, dask.array as array, pyquasar as q
            q.init("cpu")
            q.compile_string("p", "function y = thrice(x)\\n y = 3*x\\nend")
            print(q.dask_op(q.thrice)(array.arange(4.0, chunks=2)).compute().tolist())"""
        r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                           env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual(r.stdout, "[0.0, 3.0, 6.0, 9.0]\n", r.stderr)

    def test_a_type_that_was_not_promised(self):
        q.compile_string("halves", "function y = half_of(x)\n y = x/2\nend")
        x = array.from_array(np.arange(6), chunks=3)
        with self.assertRaisesRegex(TypeError, "the function gives float64, and its result was to be of int64"):
            q.dask_op(q.half_of)(x).compute()
        self.assertEqual(q.dask_op(q.half_of, dtype="float64")(x).compute().tolist(), [0, 0.5, 1, 1.5, 2, 2.5])


def connect(address):
    """Opens a client that is not the default of dask: one that fails while it starts would stay the default.

    distributed asserts that the scheduler's first message arrives alone, which is wrong when a worker comes or goes at
    that moment."""
    for pause in (0.2, 0.5, 1, 2):
        try:
            return distributed.Client(address, set_as_default=False)
        except AssertionError:
            time.sleep(pause)
    return distributed.Client(address, set_as_default=False)


def workers_of(address):
    with connect(address) as client:
        return client.run(os.getpid, on_error="ignore")  # a worker may have ended


@unittest.skipUnless(np and distributed, "needs numpy and dask.distributed")
class Workers(Arrays, unittest.TestCase):
    """Two processes, of one thread each."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="600MB",
                                               dashboard_address=None, silence_logs=50)
        cls.address = cls.cluster.scheduler_address

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def setUp(self):
        q.init("cpu", threads=1)
        self.addCleanup(q.destroy)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        q.evaluate('import "cluster.q"')
        self.m = q.compile_string("p", PROGRAM)
        self.x = np.random.default_rng(1).standard_normal((60, 50)).astype(np.float32)

    def open(self):
        with connect(self.address) as client:
            client.wait_for_workers(2, timeout=60)  # another test kills one, which comes again
        q.cluster_open(self.address)
        self.addCleanup(q.cluster_close)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_the_bits_are_those_of_one_process(self):
        block = q.value([13, 50])
        alone = np.asarray(q.cluster_map(self.m.box, self.x, block, args=q.evaluate("{2}")))
        np.save(self.path("x.npy"), self.x)
        self.open()
        def check(y):
            self.assertEqual(np.asarray(y).tobytes(), alone.tobytes())
        check(q.cluster_map(self.m.box, self.x, block, args=q.evaluate("{2}")))
        check(q.cluster_map(self.m.box, self.path("x.npy"), block, args=q.evaluate("{2}")))
        q.cluster_map(self.m.box, self.path("x.npy"), block, args=q.evaluate("{2}"), into=self.path("y.npy"))
        check(np.load(self.path("y.npy")))
        sums = q.evaluate("(a, b) -> a + b")
        both = np.asarray(q.cluster_map(self.m.twice, self.x, block, args=q.evaluate("{1}")))
        self.assertLess(np.abs(both - np.asarray(self.m.twice(self.x, 1))).max(), 1e-6)
        one = q.cluster_reduce(self.m.whole, sums, self.x, block)
        q.cluster_close()
        self.assertEqual(one, q.cluster_reduce(self.m.whole, sums, self.x, block))

    def test_results_behind_a_slow_block_are_few(self):
        from pyquasar import _cluster
        self.open()
        workers, asked, before = _cluster._open[-1], [], []
        workers.client.wait_for_workers(2, timeout=60)  # a client hears of workers later than the scheduler
        on_their_way = 2*sum(workers.client.nthreads().values()) + 1

        def end_the_first():
            while len(before) < 60 and (len(asked) < 2*on_their_way or len(asked) != before[-1]):
                before.append(len(asked))
                time.sleep(0.7)
            open(self.path("go"), "w").close()
        threading.Thread(target=end_the_first).start()
        results = workers.results(self.m.late_first, self.path("go"), 0, 40, lambda i: asked.append(i) or 1., True)
        self.assertEqual(next(results)[0], 0)
        self.assertEqual(len(asked), 2*on_their_way)  # as many results wait as blocks are on their way
        self.assertEqual([i for i, y in results], list(range(1, 40)))

    def test_destroy_closes_the_cluster(self):
        from pyquasar import _cluster
        q.cluster_open(self.address)
        client = _cluster._open[-1].client
        q.destroy()
        self.assertEqual((client.status, _cluster._open), ("closed", []))
        q.init("cpu", threads=1)

    def test_a_worker_that_is_killed_costs_time(self):
        self.open()
        victim = sorted(workers_of(self.address).values())[0]
        threading.Timer(1, os.kill, (victim, signal.SIGKILL)).start()
        y = q.cluster_map(self.m.slow, self.x, q.value([3, 50]), args=q.evaluate("{150}"))
        self.assertEqual(np.asarray(y).tobytes(), (3*self.x).tobytes())
        self.assertNotIn(victim, workers_of(self.address).values())

    def test_errors_come_back(self):
        self.open()
        x = self.x.copy()
        x[:30] = -1  # the first block, which is computed here, goes well
        with self.assertRaisesRegex(q.QuasarError, "no such luck"):
            q.cluster_map(self.m.fails, x, q.value([30, 50]))
        with self.assertRaisesRegex(q.QuasarError, "do not fit the memory of a worker, 600 MB"):
            q.npy_create(self.path("big.npy"), q.value([20000, 20000]))
            q.cluster_map(self.m.host, self.path("big.npy"), q.value([10000, 20000]), into=self.path("y.npy"))
        with self.assertRaisesRegex(pickle.PicklingError, "has a name in a program"):
            q.cluster_map(q.evaluate("x -> 2*x"), self.x, q.value([30, 50]))

    def test_dask_of_others_is_left_as_it_is(self):
        import dask
        with connect(self.address) as mine, mine.as_current():
            name = "distributed.admin.large-graph-warning-threshold"
            before = dask.config.get(name)
            self.open()
            q.cluster_map(self.m.host, self.x, q.value([30, 50]))
            self.assertIs(distributed.default_client(), mine)
            self.assertEqual(dask.config.get(name), before)
        self.assertRaises(ValueError, distributed.default_client)  # the library's client is nobody's default

    def test_another_version(self):
        def change(name):  # twice in a process of two workers, and perhaps at the same time
            from pyquasar import _cluster
            true = _cluster.__dict__.setdefault("true_versions", _cluster.versions)
            _cluster.versions = lambda: dict(true(), **{name: "0.0.1"})

        def change_back():
            from pyquasar import _cluster
            _cluster.versions = getattr(_cluster, "true_versions", _cluster.versions)  # a worker may be new
        from pyquasar import _cluster
        for name, ours in _cluster.versions().items():
            with connect(self.address) as client:
                client.wait_for_workers(2, timeout=60)
                client.run(change, name)
            try:
                with self.assertRaisesRegex(q.QuasarError, "has %s 0.0.1, this process %s" % (name, ours)):
                    q.cluster_open(self.address)
            finally:
                with connect(self.address) as client:
                    client.run(change_back)

    def test_no_scheduler(self):
        os.environ["QUASAR_CLUSTER_TIMEOUT"] = "1"
        try:
            with self.assertRaisesRegex(q.QuasarError, "no scheduler of Dask answers at tcp://127.0.0.1:9"):
                q.cluster_open("tcp://127.0.0.1:9")
        finally:
            del os.environ["QUASAR_CLUSTER_TIMEOUT"]
        for wrong in (0, 1.5):
            with self.assertRaisesRegex(q.QuasarError, "an integer of workers"):
                q.cluster_open(wrong)

    def test_a_worker_loads_the_program_once(self):
        text = """
            f = fopen("%s", "a")
            fprintf(f, "x")
            fclose(f)
            function y = again(x)
              pause(20)
              y = x
            end""" % self.path("loads")
        m = q.compile_string("loaded", text)
        self.open()
        q.cluster_map(m.again, self.x, q.value([2, 50]))
        with open(self.path("loads")) as f:
            self.assertEqual(f.read(), "xxx")

    def prepare(self):
        client = connect(self.address)
        self.addCleanup(client.close)
        current = client.as_current()  # arrays are computed by it
        current.__enter__()
        self.addCleanup(current.__exit__, None, None, None)
        return super().prepare()

    def files(self, end):
        self.open()
        return self.path("x" + end), self.path("y" + end)

    @unittest.skipUnless(zarr, "needs zarr")
    def test_zarr(self):
        x, y = self.files(".zarr")
        zarr.save_array(x, self.x)
        block = q.value([13, 20])
        for workers in (True, False):
            q.cluster_map(self.m.box, x, block, args=q.evaluate("{2}"), into=y)
            self.assertEqual(zarr.open_array(y)[:].tobytes(),
                             np.asarray(q.cluster_map(self.m.box, self.x, block, args=q.evaluate("{2}"))).tobytes())
            q.cluster_close()
        self.assertEqual(zarr.open_array(y).chunks, (13, 20))

    @unittest.skipUnless(tifffile, "needs tifffile")
    def test_tiff(self):
        x, y = self.files(".tif")
        volume = np.stack([self.x, 2*self.x, -self.x, self.x])
        tifffile.imwrite(x, volume, photometric="minisblack")
        q.cluster_map(self.m.host, x, q.value([1, 20]), into=y)
        self.assertEqual(tifffile.imread(y).tobytes(), volume.tobytes())
        tifffile.imwrite(x, volume.astype(">f4"), photometric="minisblack", byteorder=">")
        q.cluster_map(self.m.host, x, q.value([1, 20]), into=y)
        self.assertEqual(tifffile.imread(y).tobytes(), volume.tobytes())

    def test_names_are_those_of_this_folder(self):
        x, y = self.files(".npy")
        np.save(x, self.x)
        before = os.getcwd()
        os.chdir(os.path.dirname(x))
        try:
            q.cluster_map(self.m.host, os.path.basename(x), q.value([13, 20]), into=os.path.basename(y))
        finally:
            os.chdir(before)
        self.assertEqual(np.load(y).tobytes(), self.x.tobytes())


# -- Ray and MPI, in processes that this one starts -------------------------------------------------------------------

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/cluster.md")
WRITE = """
    function [] = write(x)
      x[0] = 1
    end"""
RAY = """
import numpy as np, os, pyquasar as q, ray
q.init("cpu", threads=1)
m = q.compile_string("p", '''%s''')
ray.init(num_cpus=2, _node_ip_address="127.0.0.1", include_dashboard=False)

@ray.remote
def call(f, *args):
    return f(*args), os.getpid(), tuple(map(q._machine().get, ("device", "precision", "threads")))

@ray.remote
class Sum:
    def __init__(self, m):
        self.m, self.total = m, q.zeros(3)
    def add(self, x):
        self.total += self.m.slow(x, 0)
        return self.total

def refused(f):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[-1])

x = q.value(np.arange(100000, dtype=np.float32))
stored = ray.put(x)
y, pid, machine = ray.get(call.remote(m.slow, stored, 0))
print(np.array_equal(y, 3*np.arange(100000)), pid != os.getpid(), machine, type(y).__name__)
here = ray.get(stored)
print(np.asarray(here).ctypes.data == np.asarray(ray.get(stored)).ctypes.data, np.asarray(here).flags.writeable)
actor = Sum.remote(m)
ray.get(actor.add.remote(q.value([1, 2, 3])))
print(ray.get(actor.add.remote(q.value([1, 2, 3]))))
refused(lambda: ray.get(call.remote(m.write, stored)))
refused(lambda: ray.get(call.remote(m.fails, q.value([1, 2]))))
refused(lambda: ray.put(q.evaluate("x -> x")))
""" % (PROGRAM + WRITE)
RAY_PRINTS = r"""True True \('cpu', 32, 1\) qvalue
True False
\[6,12,18\]
RayTaskError\(QuasarLockError\) pyquasar.QuasarLockError: the array \(vec, 1x100000\) is read-only and .*
RayTaskError\(QuasarUserError\) pyquasar.QuasarUserError: no such luck
PicklingError .* a function that is pickled has a name in a program of compile_string or compile_file
"""
MPI = """
from mpi4py import MPI
from mpi4py.util import pkl5
import numpy as np, pyquasar as q
comm, said = MPI.COMM_WORLD, []
first = comm.rank == 0
if first:
    q.init("cpu", threads=1)
    m = q.compile_string("p", '''%s''')
    x = q.value(np.arange(100000, dtype=np.float32))
m, box = comm.bcast((m, m.box) if first else None)  # opens the machine of the others
wanted = {"device": "cpu", "precision": 32, "threads": 1}
said.append(wanted.items() <= q._machine().items() and q.halo(box, r=2) == (2, 2))
part = comm.scatter([q.value([i, i + 1]) for i in range(comm.size)] if first else None)
said.append(part[1] == comm.rank + 1)
parts = comm.gather(m.slow(part, 0))
said.append(not first or [list(p) for p in parts] == [[3*i, 3*i + 3] for i in range(comm.size)])
own, total = q.value(np.full(3, comm.rank + 1, np.float32)), q.zeros(3)
comm.Allreduce(own, total)                          # in the memory of arrays of the language
said.append(list(total) == [sum(range(1, comm.size + 1))]*3)
comm.Bcast(own, 1)
said.append(list(own) == [2]*3)
y = pkl5.Intracomm(comm).bcast(x if first else None)
said.append(np.array_equal(y, np.arange(100000)))
whole = comm.gather(said)
if first:
    print(whole == [[True]*6]*comm.size, whole)
""" % PROGRAM


@unittest.skipUnless(distributed, "needs distributed")
class Devices(unittest.TestCase):
    def test_a_worker_takes_the_gpu_of_its_number(self):
        from pyquasar._cluster import _own_device
        for name, device, own in (("3", "cuda", "cuda:3"), ("gpu-2", "opencl", "opencl:2"),
                                  ("tcp://a:1", "cuda", "cuda"), ("3", "cpu", "cpu"), ("3", "cuda:1", "cuda:1"),
                                  ("3", None, None)):
            worker = mock.Mock()
            worker.name = name
            with mock.patch.object(distributed, "get_worker", lambda: worker):
                self.assertEqual(_own_device({"device": device, "precision": 32}), {"device": own, "precision": 32})
                self.assertIsNone(_own_device(None))


class Elsewhere(unittest.TestCase):
    """The examples of the page, and more."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_in(self, command, **env):
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), **env)
        r = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=600)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        return r.stdout

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def page(self, name):
        """Writes a program of the page, and gives what it prints there."""
        with open(PAGE, encoding="utf-8") as f:
            page = f.read()
        text, = re.findall(r"^```python no-run\n(# %s\n.*?)^```$" % name, page, re.M | re.S)
        self.write(name, text)
        return page.split(text)[1].split("```output\n")[1].split("```")[0]


@unittest.skipUnless(np and importlib.util.find_spec("ray"), "needs ray")
class Ray(Elsewhere):
    # On a machine that is busy its own processes take long to find each other.
    ENV = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_agent_register_timeout_ms": "300000",
           "RAY_raylet_start_wait_time_s": "300"}

    def test_the_page(self):
        wanted = self.page("ray_blur.py")
        self.assertEqual(self.run_in([sys.executable, "ray_blur.py"], **self.ENV), wanted)

    def test_tasks_and_actors(self):
        self.write("tasks.py", RAY)
        self.assertRegex(self.run_in([sys.executable, "tasks.py"], **self.ENV), "^" + RAY_PRINTS + "$")


MPIEXEC = shutil.which("mpiexec", path=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""))


@unittest.skipUnless(np and MPIEXEC and importlib.util.find_spec("mpi4py"), "needs mpi4py and mpiexec")
class Mpi(Elsewhere):
    ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",  # Open MPI 4, and 5
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}

    def ranks(self, name):
        return self.run_in([MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py", name], **self.ENV)

    def test_the_page(self):
        wanted = self.page("heat.py")
        file, result = os.path.join(self.folder, "heat.py"), os.path.join(self.folder, "whole.npy")
        with open(file, "a+") as f:
            f.write("    np.save('whole.npy', np.concatenate(whole))\n")
            f.seek(0)
            program = re.search('"""(.*?)"""', f.read(), re.S)[1]
        self.assertEqual(self.ranks("heat.py"), wanted)
        q.init("cpu", threads=1)
        self.addCleanup(q.destroy)
        step = q.compile_string("heat", program).step
        a, b = np.zeros((24, 64), np.float32), np.empty((24, 64), np.float32)
        a[4, 30] = 100
        for t in range(20):
            q.parallel_do(a.shape, a, b, 0.2, step)
            a, b = b, a
        self.assertLess(np.abs(np.load(result) - a).max(), 1e-6)

    def test_ranks(self):
        self.write("ranks.py", MPI)
        out = self.ranks("ranks.py")
        self.assertTrue(out.startswith("True"), out)


if __name__ == "__main__":
    unittest.main()
