"""Blocks of larger arrays: how far kernels read; the workers of Dask."""
import os, pickle, signal, subprocess, sys, tempfile, threading, time, unittest

import pyquasar as q
from optional import library

np, distributed, zarr, tifffile = library("numpy"), library("distributed"), library("zarr"), library("tifffile")

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
    function y = host(x)
      y = x
    end
    function y = slow(x, ms)
      pause(ms)
      y = 3*x
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
                           (lambda: q.halo(self.m.host), "a kernel is wanted")):
            with self.assertRaisesRegex(Exception, what):
                call()


def workers_of(address):
    with distributed.Client(address) as client:
        return client.run(os.getpid)


@unittest.skipUnless(np and distributed, "needs numpy and dask.distributed")
class Workers(unittest.TestCase):
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
        one = q.cluster_reduce(self.m.whole, sums, self.x, block)
        q.cluster_close()
        self.assertEqual(one, q.cluster_reduce(self.m.whole, sums, self.x, block))

    def test_a_worker_that_is_killed_costs_time(self):
        self.open()
        victim = sorted(workers_of(self.address).values())[0]
        threading.Timer(1, os.kill, (victim, signal.SIGKILL)).start()
        y = q.cluster_map(self.m.slow, self.x, q.value([3, 50]), args=q.evaluate("{150}"))
        self.assertEqual(np.asarray(y).tobytes(), (3*self.x).tobytes())
        with self.assertRaises(ProcessLookupError):
            os.kill(victim, 0)

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

    def test_another_version(self):
        def change(version):
            import pyquasar
            pyquasar.__version__ = version
        with distributed.Client(self.address) as client:
            client.run(change, "0.0.1")
        try:
            with self.assertRaisesRegex(q.QuasarError, "has pyquasar 0.0.1, this process %s" % q.__version__):
                q.cluster_open(self.address)
        finally:
            with distributed.Client(self.address) as client:
                client.run(change, q.__version__)

    def test_no_scheduler(self):
        os.environ["QUASAR_CLUSTER_TIMEOUT"] = "1"
        try:
            with self.assertRaisesRegex(q.QuasarError, "no scheduler of Dask answers at tcp://127.0.0.1:9"):
                q.cluster_open("tcp://127.0.0.1:9")
        finally:
            del os.environ["QUASAR_CLUSTER_TIMEOUT"]
        for wrong in (0, 1.5):
            with self.assertRaisesRegex(q.QuasarError, "a whole number of workers"):
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


if __name__ == "__main__":
    unittest.main()
