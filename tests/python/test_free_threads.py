"""A Python without the global lock: the machine has a lock of its own, and values are used and dropped side by side."""
import gc, pickle, random, subprocess, sys, threading, time, unittest

import pyquasar as q
from optional import library

np = library("numpy")

SECONDS = 1.5  # of each stress
TEXT = """
function y = work(n, f)
  y = 0
  for i=1..n
    y += f(i)
  end
end
function y = twice(x)
  y = 2*x
end
function y = pair(x)
  y = {x, 1}
end
function [] = __kernel__ add_one(x : vec, pos : int)
  x[pos] += 1
end"""


def run_all(*loops):
    """Each as a thread that calls it until the time is over; what they raised."""
    errors, ready = [], threading.Barrier(len(loops))

    def run(loop, k):
        try:
            ready.wait()
            end = time.time() + SECONDS
            while time.time() < end:
                loop(k)
        except BaseException as e:
            errors.append(repr(e))
    threads = [threading.Thread(target=run, args=(loop, k)) for k, loop in enumerate(loops)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return errors


def same(got, wanted):
    if got != wanted:
        raise AssertionError("%r is not %r" % (got, wanted))


def fails(kind, f):
    try:
        f()
    except kind:
        return
    raise AssertionError("no %s" % kind.__name__)


class WithOrWithoutTheLock(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def test_a_callback_may_wait_for_a_thread_that_uses_the_machine(self):
        m, used = q.compile_string("waits", TEXT), []

        def callback(x):
            t = threading.Thread(target=lambda: used.append(float(q.sum(q.ones(10)))))
            t.start()
            end = time.time() + 20
            while not used and time.time() < end:  # without giving anything up
                pass
            t.join()
            return x
        self.assertEqual((m.work(1, callback), used), (1, [10]))

    def test_threads_that_call_all_the_time_take_turns(self):
        m, calls = q.compile_string("turns", TEXT), [0]*4
        self.assertEqual(run_all(*[lambda k: (same(m.twice(k), 2*k), calls.__setitem__(k, calls[k] + 1))]*4), [])
        self.assertGreater(min(calls), 3, calls)


@unittest.skipUnless(hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled(), "this Python has the global lock")
class WithoutTheLock(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def test_the_lock_stays_away(self):
        r = subprocess.run([sys.executable, "-W", "error", "-c", "import sys, pyquasar; print(sys._is_gil_enabled())"],
                           capture_output=True, text=True)
        self.assertEqual((r.stdout, r.stderr), ("False\n", ""))

    @unittest.skipUnless(np, "needs numpy")
    def test_everything_at_once(self):
        m, shared, mutex = q.compile_string("at_once", TEXT), [q.ones(50) for _ in range(8)], threading.Lock()
        slope = q.grad(lambda x: q.sum(x**2))

        def launch(k):
            a = np.zeros(1000, np.float32)
            q.parallel_do(1000, a, m.add_one)
            same(a.min(), 1)

        def views(k):
            v = random.choice(shared)
            same((v.shape, memoryview(v)[3], v.to_py().sum(), np.from_dlpack(v)[1]), ((50,), 1, 50, 1))

        def replace(k):
            shared[random.randrange(8)] = q.ones(50)

        def locked(k):
            with mutex:
                same(m.work(5, lambda x: float(q.twice(x))), 30)

        def circle(k):
            d = {}
            d["o"] = m.pair(d)
            if k == 0 and random.random() < 0.05:
                gc.collect()

        def items(k):
            v = q.value([k, k + 1, k + 2])
            same((v[[0, 2]].tolist(), v[v > k].tolist()), ([k, k + 2], [k + 1, k + 2]))
            v += 1
            same((v == [k + 1, k + 2, k + 3]).tolist(), [True]*3)

        kinds = [launch, views, replace, locked, circle, items,
                 lambda k: same(m.work(20, lambda x: x + 1), 230),
                 lambda k: same(np.asarray(slope(q.value([1, 2, 3]))).tolist(), [2, 4, 6]),
                 lambda k: same(pickle.loads(pickle.dumps(q.ones(3))).tolist(), [1]*3),
                 lambda k: same(q.sum(q.ones(200000)), 200000),
                 lambda k: fails(ZeroDivisionError, lambda: m.work(3, lambda x: 1/0)),
                 lambda k: fails(IndexError, lambda: q.value([1, 2, 3])[[7]])]
        self.assertEqual(run_all(*[lambda k: random.choice(kinds)(k)]*6), [])

    def test_a_machine_that_closes_under_others(self):
        box = [q.ones(100)]

        def use(k):
            v = box[0]
            try:
                v.shape, v.strides, v.typename, len(v), repr(v), v[0:3], v + 1, v == v, ~(v > 0), memoryview(v)
                box[0] = q.ones(100)
            except (q.QuasarClosedError, BufferError, TypeError, AttributeError):  # what is closed is no array any more
                pass

        def cycle(k):
            time.sleep(0.003)
            try:
                q.destroy()
            except q.QuasarError as e:
                if "still running" not in str(e):
                    raise
            q.init("cpu")

        def careful(k):
            try:
                use(k)
            except q.QuasarClosedError:
                pass
        self.assertEqual(run_all(careful, careful, careful, cycle, cycle), [])
