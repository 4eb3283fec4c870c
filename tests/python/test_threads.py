"""Threads that use the VM while another one waits in it, or runs for long: how long they wait for the VM."""
import os, pathlib, random, signal, subprocess, sys, tempfile, threading, time, unittest

import pyquasar as q
from optional import library

np = library("numpy")

LASTS = 2.5     # seconds of each wait and loop
SOON = 0.5      # in which a short call of another thread returns, however busy the processors are
SECONDS = float(os.environ.get("QUASAR_STRESS_SECONDS", 2))

TEXT = """
function [] = rest(ms)
  sleep(ms)
end
function n = interpret(seconds)
  n = 0
  last = ""
  start = time()
  while time() < start + seconds
    n += 1
    last = strcat("turn ", string(n))
  end
end
function n = arrays(seconds)
  n = 0
  x = zeros(500,500)
  start = time()
  while time() < start + seconds
    n += 1
    x = sin(x) + {x}[0]
  end
end
function y = calls(f, n)
  y = 0
  for i = 1..n
    y += f(i)
  end
end
function y = caught(ms, word)
  y = ""
  try
    sleep(ms)
    error(word)
  catch e
    sleep(ms)
    y = e
  end
end
function y = deep(n, ms)
  sleep(ms)
  y = n < 1 ? 0 : 1 + deep(n-1, ms)
end
function y = first_line(path)
  f = fopen(path)
  y = fgets(f)
  fclose(f)
end
function [] = fails(n)
  x = zeros(3)
  x[n] = 1
end
"""


def program():
    return q.compile_string("threads.q", TEXT)


class Beside:
    """Runs f(*arguments) in a thread; longest: what the longest of many short calls beside it took."""
    def __init__(self, f, *arguments, calls=lambda: q.sum(q.ones(10))):
        self.result = self.error = None
        ended, begun = threading.Event(), threading.Event()

        def run():
            begun.set()
            try:
                self.result = f(*arguments)
            except BaseException as e:
                self.error = e
            ended.set()
        thread = threading.Thread(target=run)
        self.longest, self.calls, start = 0, 0, time.monotonic()
        thread.start()
        begun.wait()
        while not ended.is_set():
            before = time.monotonic()
            calls()
            if not ended.is_set():
                self.longest, self.calls = max(self.longest, time.monotonic() - before), self.calls + 1
            time.sleep(0.002)
        thread.join()
        self.took = time.monotonic() - start


class Fifo:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "fifo")
        os.mkfifo(self.path)
        return self

    def __exit__(self, *what):
        self.folder.cleanup()

    def write_later(self, seconds, text):
        def write():
            time.sleep(seconds)
            try:
                with open(self.path, "w") as f:
                    f.write(text)
            except BrokenPipeError:  # the reader has seen enough
                pass
        thread = threading.Thread(target=write)
        thread.start()
        return thread


class OthersGoOn(unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        self.m = program()
        q.sum(q.ones(10))

    def check(self, beside, least=LASTS):
        self.assertIsNone(beside.error)
        self.assertGreater(beside.took, 0.9*least)
        self.assertGreater(beside.calls, 5)
        self.assertLess(beside.longest, SOON)

    def test_sleep(self):
        self.check(Beside(q.sleep, 1000*LASTS))

    def test_pause(self):
        self.check(Beside(q.pause, 1000*LASTS))

    def test_sleep_in_a_program(self):
        self.check(Beside(self.m.rest, 1000*LASTS))

    def test_an_interpreted_loop(self):
        self.check(Beside(self.m.interpret, LASTS))

    def test_a_loop_over_arrays(self):
        self.check(Beside(self.m.arrays, LASTS))

    def test_a_loop_of_several_threads(self):
        others = [threading.Thread(target=self.m.arrays, args=(LASTS,)) for _ in range(2)]
        for t in others:
            t.start()
        self.check(Beside(self.m.interpret, LASTS))
        for t in others:
            t.join()

    def test_a_callback_that_sleeps(self):
        self.check(Beside(self.m.calls, lambda x: q.sleep(LASTS*250) or 1, 4))

    def test_opening_a_pipe(self):
        with Fifo() as fifo:
            writer = fifo.write_later(LASTS, "a line\n")
            beside = Beside(self.m.first_line, fifo.path)
            writer.join()
        self.check(beside)
        self.assertEqual(beside.result, "a line")

    def test_reading_from_a_pipe(self):
        r, w = os.pipe()
        f = q.fopen("/dev/fd/%d" % r)
        later = threading.Timer(LASTS, lambda: (os.write(w, b"12\n345"), os.close(w)))
        later.start()
        beside = Beside(q.fgets, f)
        self.check(beside)
        rest = [q.feof(f), q.fgets(f), q.feof(f), q.fgets(f)]
        self.assertEqual((beside.result, rest), ("12", [False, "345", True, None]))
        q.fclose(f)
        os.close(r)

    def test_reading_all_of_a_pipe(self):
        for read in (q.fileread, lambda path: bytes(np.asarray(q.fread(q.fopen(path)))).decode() if np else None):
            with Fifo() as fifo:
                writer = fifo.write_later(LASTS, "some text")
                beside = Beside(read, fifo.path)
                writer.join()
            self.check(beside)
            self.assertIn(beside.result, ("some text", None if np is None else "some text"))

    def test_writing_to_a_pipe(self):
        text = "0123456789"*30000  # more than a pipe holds
        for write in (lambda f: q.fprint(f, text), lambda f: q.fprintf(f, "%s", text),
                      lambda f: (q.fwrite(f, text), q.flush(f))):
            r, w = os.pipe()
            f, got = q.fopen("/dev/fd/%d" % w, "w"), []
            os.close(w)

            def drain():
                with open(r) as pipe:
                    got.append(pipe.read())
            later = threading.Timer(LASTS, drain)
            later.start()
            beside = Beside(write, f)
            q.fclose(f)
            later.join()
            self.check(beside)
            self.assertEqual(got[0].rstrip("\n"), text)

    def test_writing_all_of_a_pipe(self):
        text = "0123456789"*30000
        with Fifo() as fifo:
            got = []
            later = threading.Timer(LASTS, lambda: got.append(pathlib.Path(fifo.path).read_text()))
            later.start()
            beside = Beside(q.filewrite, fifo.path, text)
            later.join()
        self.check(beside)
        self.assertEqual(got, [text])

    def test_a_file_in_use_is_closed_afterwards(self):
        r, w = os.pipe()
        f, order = q.fopen("/dev/fd/%d" % r), []
        reader = threading.Thread(target=lambda: order.append(q.fgets(f)))
        closer = threading.Thread(target=lambda: (q.fclose(f), order.append("closed")))
        reader.start()
        time.sleep(0.2)
        closer.start()
        time.sleep(0.2)
        self.assertEqual(order, [])
        os.write(w, b"first\n")
        reader.join()
        closer.join()
        self.assertEqual(order, ["first", "closed"])
        os.close(w), os.close(r)

    def test_opening_a_video(self):
        with self.assertRaises(q.QuasarIOError) as e:
            q.vidopen("/nowhere.mkv")
        if "FFmpeg" in str(e.exception):
            self.skipTest("needs FFmpeg")
        with Fifo() as fifo:
            writer = fifo.write_later(LASTS, "no video")
            beside = Beside(q.vidopen, fifo.path)
            writer.join()
        self.assertIsInstance(beside.error, q.QuasarIOError)
        self.assertLess(beside.longest, SOON)

    def long(self, f, *arguments):
        beside = Beside(f, *arguments)
        self.assertIsNone(beside.error)
        self.assertGreater(beside.calls, 2)
        self.assertLess(beside.longest, max(SOON, 0.5*beside.took))

    def test_svd(self):
        self.long(q.svd, q.rand(900, 900))

    def test_other_factorisations(self):
        x = q.rand(700, 700)
        for f in (q.eig, lambda x: q.symeig(x + q.transpose(x)), q.qr, q.pinv):
            self.long(f, x)

    def test_images(self):
        with tempfile.TemporaryDirectory() as folder:
            x = q.floor(q.rand(2500, 2500, 3)*256)
            for name in ("x.png", "x.jpg"):
                path = os.path.join(folder, name)
                self.long(q.imwrite, path, x)
                self.long(q.imread, path)


class States(unittest.TestCase):
    """A thread does not change the state of another thread that waits."""
    def setUp(self):
        q.init("cpu")
        self.m = program()

    def together(self, *works):
        results, threads = [None]*len(works), []

        def run(k, f):
            try:
                results[k] = f()
            except BaseException as e:
                results[k] = e
        for k, f in enumerate(works):
            threads.append(threading.Thread(target=run, args=(k, f)))
            threads[-1].start()
        for t in threads:
            t.join()
        return results

    def test_errors(self):
        works = [lambda k=k: self.m.caught(50 + 7*k, "word %d" % k) for k in range(5)]
        works += [lambda: self.m.fails(7)]*3
        results = self.together(*works)
        self.assertEqual([str(r) for r in results[:5]], ["word %d" % k for k in range(5)])
        for r in results[5:]:
            self.assertIsInstance(r, IndexError)

    def test_stacks(self):
        self.assertEqual(self.together(*[lambda k=k: self.m.deep(10 + k, 5 + k) for k in range(8)]),
                         list(range(10, 18)))

    def test_arguments_stay_while_their_names_change(self):
        values = {"x": q.ones(1000)}
        r, w = os.pipe()
        values["f"] = q.fopen("/dev/fd/%d" % r)

        def change():
            values["x"] = values["f"] = None  # the reader alone has the file from here on
            time.sleep(0.3)
            os.write(w, b"kept\n")
        self.assertEqual(self.together(lambda: q.fgets(values["f"]), lambda: (time.sleep(0.2), change()))[0], "kept")
        os.close(w), os.close(r)

    def test_destroy_during_a_wait_is_an_error(self):
        t = threading.Thread(target=lambda: q.sleep(1500))
        t.start()
        time.sleep(0.3)
        with self.assertRaisesRegex(q.QuasarError, "still running"):
            q.destroy()
        t.join()
        self.assertEqual(q.sum(q.ones(3)), 3)

    def test_everything_at_once(self):
        m, errors, end = self.m, [], time.monotonic() + SECONDS

        def expect(kind, f, *arguments):
            try:
                f(*arguments)
            except kind:
                return
            raise AssertionError("no %s" % kind.__name__)

        def same(got, wanted):
            if got != wanted:
                raise AssertionError("%r is not %r" % (got, wanted))

        def launch():
            x = q.zeros(100000)
            x += 1
            same(q.sum(x), 100000)

        kinds = [lambda: q.sleep(random.random()*20), lambda: q.pause(random.random()*20),
                 lambda: m.interpret(0.02), lambda: m.arrays(0.02), launch,
                 lambda: expect(IndexError, m.fails, 9), lambda: expect(ZeroDivisionError, m.calls, lambda x: 1/0, 3),
                 lambda: same(m.deep(5, 1), 5), lambda: same(str(m.caught(3, "one")), "one"),
                 lambda: same(m.calls(lambda x: q.sleep(1) or 1, 4), 4),
                 lambda: same(len(q.svd(q.rand(80, 80), nargout=3)), 3), lambda: q.collect_garbage()]

        def run():
            try:
                while time.monotonic() < end:
                    random.choice(kinds)()
            except BaseException as e:
                errors.append(repr(e))
        threads = [threading.Thread(target=run) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(SECONDS + 60)
        self.assertEqual((errors, [t.is_alive() for t in threads]), ([], [False]*8))


BEGIN = """
import os, signal, sys, threading, time
import pyquasar as q
q.init("cpu")
m = q.compile_string("threads.q", %r)
q.sum(q.ones(10))
def always():
    while True:
        q.sum(q.ones(10))
        time.sleep(0.001)
""" % TEXT

INTERRUPT = BEGIN + """
threading.Thread(target=always, daemon=True).start()
sent = [0]
def send():
    time.sleep(0.5)
    sent[0] = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
r, w = os.pipe()
threading.Thread(target=send, daemon=True).start()
try:
    %s
    print("nothing")
except KeyboardInterrupt:
    print("stopped" if time.monotonic() - sent[0] < 3 else "late")
print(int(q.sum(q.ones(3))), flush=True)
"""


def run(text):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    r = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr[-2000:]


class Processes(unittest.TestCase):
    def test_an_interrupt_ends_each_wait(self):
        for wait in ("q.sleep(60000)", "q.pause(60000)", "m.rest(60000)", "m.interpret(60)", "m.arrays(60)",
                     "m.calls(lambda x: q.sleep(60000), 3)", "q.fgets(q.fopen('/dev/fd/%d' % r))",
                     "q.fread(q.fopen('/dev/fd/%d' % r))", "q.feof(q.fopen('/dev/fd/%d' % r))",
                     "q.fwrite(q.fopen('/dev/fd/%d' % w, 'w'), 'x'*300000)"):
            with self.subTest(wait):
                self.assertEqual(run(INTERRUPT % wait), (0, "stopped\n3\n", ""))

    def test_a_daemon_thread_in_a_wait_does_not_keep_the_process(self):
        for wait in ("q.sleep(60000)", "q.pause(60000)", "m.interpret(60)", "q.fgets(q.fopen('/dev/fd/%d' % r))"):
            with self.subTest(wait):
                text = BEGIN + "r, w = os.pipe()\nthreading.Thread(target=lambda: %s, daemon=True).start()\n" % wait
                text += "time.sleep(0.3)\nprint(int(q.sum(q.ones(3))), flush=True)\n"
                self.assertEqual(run(text), (0, "3\n", ""))

    def test_a_signal_handler_runs_during_a_wait(self):
        text = BEGIN + """
signal.signal(signal.SIGALRM, lambda *a: print("rang", int(q.sum(q.ones(4))), flush=True))
signal.setitimer(signal.ITIMER_REAL, 0.3)
before = time.monotonic()
q.sleep(1000)
print(0.9 < time.monotonic() - before)
r, w = os.pipe()
signal.setitimer(signal.ITIMER_REAL, 0.3)
threading.Timer(0.8, lambda: os.write(w, b"line\\n")).start()
print(q.fgets(q.fopen("/dev/fd/%d" % r)))
signal.setitimer(signal.ITIMER_REAL, 0.3)
got = []
def drain():
    while sum(map(len, got)) < 300000:
        got.append(os.read(r, 65536))
later = threading.Timer(0.8, drain)
later.start()
q.fprint(q.fopen("/dev/fd/%d" % w, "w"), "0123456789"*30000)
later.join()
print(b"".join(got)[:300000] == b"0123456789"*30000)
"""
        self.assertEqual(run(text), (0, "rang 4\nTrue\nrang 4\nline\nrang 4\nTrue\n", ""))


if __name__ == "__main__":
    unittest.main()
