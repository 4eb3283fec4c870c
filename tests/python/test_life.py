"""import pyquasar: threads, garbage, memory, the end of the process."""
import gc, os, subprocess, sys, tempfile, textwrap, threading, time, unittest, weakref

import pyquasar as q
from optional import library

np = library("numpy")


def in_child(text, *options):
    r = subprocess.run([sys.executable, *options, "-c", textwrap.dedent(text)], capture_output=True, text=True,
                       timeout=120)
    assert r.returncode == 0 and not r.stderr, (r.returncode, r.stdout, r.stderr)
    return r.stdout


MOMENT = 0.02  # seconds that a thread may stand still because another one is in the language


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Life(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def test_threads(self):
        q.compile_string("threads", """
            function y = work(n, f)
              y = 0
              for i=1..n
                y += f(i)
              end
            end
            function [] = __kernel__ add_one(x : vec, pos : int)
              x[pos] += 1
            end""")
        sums, arrays = [], [q.zeros(10000) for _ in range(8)]

        def run(a):
            for _ in range(20):
                q.parallel_do(10000, a, q.add_one)
                sums.append(q.work(50, lambda x: x + 1))
        threads = [threading.Thread(target=run, args=(a,)) for a in arrays]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual((set(sums), len(sums)), ({1325}, 160))
        self.assertEqual([a[9999] for a in arrays], [20] * 8)

    @unittest.skipUnless(np, "needs numpy")
    def test_threads_change_at_every_step(self):
        q.compile_string("steps", "function y = through(f, x)\n y = f(x)\nend")
        wrong = []

        def run(k):
            v = q.value([k, k + 1, k + 2])
            for i in range(150):
                got = (v[[0, 2]].tolist(), v[v > k].tolist(), np.add.reduce(v), q.value([k, "a"])[0],
                       q.through(lambda x: x + i, k),
                       q.through(lambda x: v[[1]].tolist(), 0), q.value(np.array([k], ">f8"))[0])
                if got != ([k, k + 2], [k + 1, k + 2], 3 * k + 3, k, k + i, [k + 1], k):
                    wrong.append(got)
                try:
                    q.through(lambda x: v[[7]], 0)
                    wrong.append("no error")
                except IndexError as e:
                    if "7" not in str(e):
                        wrong.append(e)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=run, args=(10 * k,)) for k in range(6)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        finally:
            sys.setswitchinterval(interval)
        self.assertEqual(wrong, [])

    def test_other_threads_run_during_a_kernel(self):
        q.compile_string("slow", """
            function [] = __kernel__ slow(x : vec, pos : int)
              for i=0..3000
                x[pos] += sqrt(x[pos]+i)
              end
            end""")
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(1)
                time.sleep(0.001)
        t = threading.Thread(target=tick)
        t.start()
        start = time.time()
        while time.time() - start < 0.5:
            q.parallel_do(1000000, q.zeros(1000000), q.slow)
        done.set()
        t.join()
        self.assertGreater(len(ticks), 20)

    def longest_stop(self, call):
        """How long another thread stands still at most while one call does as much as takes 0.2 s; the least of
        several, because the machine may stop it, too."""
        ticks, done, least, n = [], threading.Event(), 1e9, 1000000

        def tick():
            while not done.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)
        t = threading.Thread(target=tick)
        t.start()
        for _ in range(30):
            work = call(n)
            start = time.perf_counter()
            work()
            end = time.perf_counter()
            if end - start < 0.2 and n < 64000000:
                n *= 2
                continue
            times = [start, *(x for x in ticks if start < x < end), end]
            least = min(least, max(b - a for a, b in zip(times, times[1:])))
            if least < MOMENT:
                break
        done.set()
        t.join()
        return least

    def test_finalisers_wait_for_the_end_of_a_launch(self):
        # The last reference to an object goes in another thread while an expression is compiled and runs; its finaliser
        # replaces what the expression works on.
        out = in_child("""
            import tempfile, threading, time
            import pyquasar as q
            q.init("cpu", threads=1, cache_dir=tempfile.mkdtemp())
            n = 1000000
            q.evaluate("g = ones(%d)*0.5" % n)
            class Spiteful:
                def __del__(self):
                    q.evaluate("g = 0")
                    Spiteful.junk = [q.zeros(n) for _ in range(2)]
            holder = {"b": q.evaluate("x -> {x}")(Spiteful())}
            def drop():
                time.sleep(0.05)
                holder.clear()
            t = threading.Thread(target=drop)
            t.start()
            r = q.evaluate("sum(" + " + ".join("sin(g+%d).*exp(g)" % i for i in range(4)) + ")")
            t.join()
            one = q.evaluate(" + ".join("sin(0.5+%d)*exp(0.5)" % i for i in range(4)))
            print(abs(r/n - one) < 1e-3)""")
        self.assertEqual(out.strip(), "True")

    @unittest.skipUnless(np, "needs numpy")
    def test_an_interrupt_leaves_no_half_written_array(self):
        out = in_child("""
            import os, signal, threading, time
            import numpy as np, pyquasar as q
            q.init("cpu", threads=1)
            q.evaluate("g = ones(4000000)*0.5")
            long = "y = " + "("*60 + "g" + " + 1).^0.3"*60
            q.evaluate(long)                     # it is compiled then
            q.evaluate("y = zeros(4000000) + 7")
            seen = set()
            for after in (0.05, 0.1, 0.2, 0.4):  # of a call that takes some seconds
                threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()
                try:
                    q.evaluate(long)
                    time.sleep(0.5)
                except KeyboardInterrupt:
                    pass
                y = q.y
                seen.add(None if y is None else len(np.unique(np.asarray(y))))
                q.evaluate("y = zeros(4000000) + 7")
            print(None in seen, seen <= {None, 1})""")
        self.assertEqual(out.strip(), "True True")

    def test_other_threads_run_during_expressions_and_loops(self):
        m = q.compile_string("long", """
            function y = map(x)
              y = sin(x).*exp(x).^1.25 + atan2(x, x + 1).^0.5 + cos(x + 2).^2.5 + atan2(x, x + 3).^0.25
            end
            function y = total(x)
              y = sum(sin(x).*exp(x).^1.25 + atan2(x, x + 1).^0.5 + cos(x + 2).^2.5 + atan2(x, x + 3).^0.25)
            end
            function [] = side_by_side(x)
              for i = 0..numel(x)-1
                x[i] = atan2(sin(x[i]), 1 + x[i])
              end
            end
            function s = in_order(x, n)
              s = 0
              for i = 0..n
                s = sin(s + x[mod(i, 8)])
              end
            end
            function s = around(x, n)
              s = 0
              for k = 1..4
                m = n
                while m > 0
                  s = sin(s + x[mod(m, 8)])
                  m -= 4
                end
              end
            end
            function s = under_condition(x, n)
              s = 0
              while n > 0
                s = sin(s + x[mod(n, 8)])
                n -= 1
              end
            end""")
        def with_array(f):
            return lambda n: (lambda x: lambda: f(x))(q.ones(n) * 0.5)
        x = q.ones(8)
        calls = {"an expression": with_array(m.map), "a sum": with_array(m.total),
                 "a parallel loop": with_array(m.side_by_side), "a loop": lambda n: lambda: m.in_order(x, n),
                 "a loop around one": lambda n: lambda: m.around(x, n),
                 "a loop under a condition": lambda n: lambda: m.under_condition(x, n)}
        for what, call in calls.items():
            call(1000000)()  # it is compiled then
            self.assertLess(self.longest_stop(call), MOMENT, what)

    @unittest.skipUnless(np, "needs numpy")
    def test_other_threads_run_during_built_ins_and_operators(self):
        m = q.compile_string("waits", "function y = gather(x, i)\n y = x[i]\nend\n"
                                      "function y = twice(x, f)\n y = sort(x) + f(1)\n y = sort(y) + f(2)\nend")
        side = lambda n: max(int(n**0.5), 64)
        random = lambda *shape: q.value(np.random.default_rng(1).random(shape, np.float32))
        makes = {  # of some elements, something to wait for; svd of a matrix of fewer
            "sort": lambda n: (lambda x: lambda: q.sort(x))(random(n)),
            "unique": lambda n: (lambda x: lambda: q.unique(x))(random(n)),
            "median": lambda n: (lambda x: lambda: q.median(x))(random(n)),
            "fft2": lambda n: (lambda x: lambda: q.fft2(x))(random(side(n), side(n))),
            "conv2": lambda n: (lambda x, k: lambda: q.conv2(x, k))(random(side(n), side(n)), random(31, 31)),
            "svd": lambda n: (lambda x: lambda: q.svd(x))(random(side(n/16), side(n/16))),
            "@": lambda n: (lambda x: lambda: x @ x)(random(side(n), side(n))),
            "x[i]": lambda n: (lambda x, i: lambda: m.gather(x, i))(random(n), q.floor(random(n)*n)),
            "x[mask]": lambda n: (lambda x, i: lambda: x[i])(random(n), random(n) > 0.5),
            "**": lambda n: (lambda x: lambda: x**1.7)(random(n)),
            "+=": lambda n: (lambda x: lambda: [x.__iadd__(1) for _ in range(9)])(random(n)),
            "str": lambda n: (lambda x: lambda: str(x))(random(n)),
            "zeros": lambda n: lambda: q.zeros(side(16*n), side(16*n)),
            "calls of Python in between": lambda n: (lambda x: lambda: m.twice(x, lambda y: y))(random(n))}
        for what, make in makes.items():
            self.assertLess(self.longest_stop(make), MOMENT, what)

    @unittest.skipUnless(np, "needs numpy")
    def test_what_others_drop_during_a_built_in(self):
        # Values, views and objects go in one thread while another one sorts; finalisers of both sides use the machine.
        m = q.compile_string("dropping", "function y = sorted(x, f)\n y = sort(x)\n f({x, y})\n y = sort(y + 1)\nend")
        x, done, wrong, finalised = q.value(np.arange(300000, 0, -1, np.float32)), threading.Event(), [], []

        class Last:
            def __del__(self):
                finalised.append(float(q.sum([1, 2])))

        def drop():
            while not done.is_set():
                a = q.ones(1000)
                views = [np.asarray(a), a.T, memoryview(a), q.evaluate("x -> {x}")(Last())]
                del a, views
        t = threading.Thread(target=drop)
        t.start()
        for _ in range(30):
            y = m.sorted(x, lambda c: Last())
            if (y[0], y[299999]) != (2, 300001):
                wrong.append(y)
        done.set()
        t.join()
        gc.collect()
        self.assertFalse(wrong)
        self.assertEqual(set(finalised), {3.0})
        self.assertGreater(len(finalised), 30)

    def test_an_interrupt_during_a_built_in(self):
        self.assertEqual(in_child("""
            import os, signal, threading, pyquasar as q
            q.init("cpu", threads=1)
            x = q.rand(8000000)
            for work in (lambda: q.sort(x), lambda: x**1.7, lambda: q.evaluate("y = sort(rand(8000000))")):
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                try:
                    n = 0  # 3.11 takes an interrupt at the jump of a loop for one before the loop
                    while True: work()
                except KeyboardInterrupt: n = 1
                print(n, q.sum([1, 2]), len(q.sort(q.rand(100000))))"""), "1 3.0 100000\n"*3)

    def test_other_threads_use_the_vm_during_a_sort(self):
        self.assertEqual(in_child("""
            import threading, time, pyquasar as q
            q.init("cpu", threads=1)
            x, ended = q.rand(20000000), []
            def sort():
                q.sort(x)
                ended.append("sort")
            t = threading.Thread(target=sort)
            t.start()
            time.sleep(0.02)
            q.sum([1, 2])
            ended.append("sum")
            t.join()
            print(*ended)"""), "sum sort\n")

    def test_an_interrupt_waits_for_a_kernel_of_opencl(self):
        out = in_child("""
            import os, signal, sys, threading, time, pyquasar as q
            os.dup2(1, 2)
            try: q.init("opencl")
            except q.QuasarError: sys.exit(print("none"))
            q.compile_string("k", '''
            function [] = __kernel__ k(y : vec, n : int, pos : int)
                for i = 0..n
                    for j = 0..9999
                        y[pos] = sqrt(y[pos] + j)
                    end
                end
            end''')
            def seconds(n):
                start = time.time()
                q.parallel_do(4, y, n, q.k)
                q.sync()
                return time.time() - start
            y, n = q.zeros(4), 1
            seconds(n)
            while seconds(n) < 0.1: n *= 2
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            start = time.time()
            try: seconds(12*n)
            except KeyboardInterrupt: print(time.time() - start > 0.8)
            print(seconds(1) < 5)""")
        if out != "none\n":
            self.assertEqual(out, "interrupted: the driver cannot stop the kernel that it runs or compiles: "
                                  "KeyboardInterrupt follows when that has ended\nTrue\nTrue\n")

    def test_destroy_while_a_script_runs(self):
        q.compile_string("callback", "function y = call(f)\n y = f()\nend")
        with self.assertRaisesRegex(q.QuasarError, "still running"):
            q.call(q.destroy)
        inside, go = threading.Event(), threading.Event()
        t = threading.Thread(target=lambda: q.call(lambda: (inside.set(), go.wait(10))[0]))
        t.start()
        inside.wait(10)
        with self.assertRaisesRegex(q.QuasarError, "still running"):
            q.destroy()
        go.set()
        t.join()
        q.destroy()

    def test_recursion_is_an_error(self):
        q.compile_string("deep", "function y = down(f, n)\n y = f(n)\nend")

        def again(n):
            return q.down(again, n + 1) if n < 10000 else n
        with self.assertRaises((RecursionError, q.QuasarError)):
            again(0)
        self.assertEqual(q.down(lambda n: n, 1), 1)

    def test_exceptions_pass_through(self):
        q.compile_string("errors", """
            function y = call(f)
              y = f()
            end
            function y = outer(x)
              y = x[7]
            end""")
        error = KeyError("mine")

        def fail():
            raise error
        with self.assertRaises(KeyError) as caught:
            q.call(fail)
        self.assertIs(caught.exception, error)
        import traceback
        try:
            q.call(lambda: q.outer(q.ones(3)))
        except IndexError as e:
            self.assertIsInstance(e, q.QuasarIndexError)
            text = traceback.format_exc()
        for line in ('File "errors", line 3, in call', 'File "errors", line 6, in outer', "index 7"):
            self.assertIn(line, text)

        def leave():
            raise exit_with
        exit_with = SystemExit("a text")
        with self.assertRaises(SystemExit) as caught:
            q.call(lambda: q.call(leave))
        self.assertIs(caught.exception, exit_with)
        with self.assertRaises(SystemExit) as caught:
            q.call(lambda: q.evaluate("exit(3)"))
        self.assertEqual(caught.exception.code, 3)
        self.assertRaises(KeyError, q.call, fail)  # whoever catches it can go on

    def test_cycles_are_freed(self):
        class Marker:
            pass
        o, m = q.evaluate("object()"), Marker()
        o.all = {"o": o, "m": m}
        alive = weakref.ref(m)
        del o, m
        for _ in range(3):
            gc.collect()
        self.assertIsNone(alive())

    def test_memory_stays_flat(self):
        q.compile_string("flat", "function y = id(x)\n y = x\nend")
        x, f = q.ones(100), q.id

        def work(n):
            for i in range(n):
                f(i)
                x[1:]
                x + 1
                f(x)
                try:
                    x[1000]
                except IndexError:
                    pass
                if np:
                    f(np.zeros(100))
        work(20000)
        before = resident()
        work(60000)
        self.assertLess(resident() - before, 4 << 20)

    def test_texts_that_fail_are_forgotten(self):
        def work(n):
            for text in ["1+", "x_y_z", 'error("a")'] * n:
                with self.assertRaises(q.QuasarError):
                    q.evaluate(text)
        work(100)
        before = resident()
        work(1000)
        self.assertLess(resident() - before, 4 << 20)

    def test_texts_that_are_compiled_again_are_freed(self):
        def work(n):
            for i in range(n):
                q.compile_string("again", "function y = old(x)\n y = helper(x)+%d\nend\n"
                                 "function y = helper(x)\n y = (z -> 2*z)(x)\nend" % (i % 7))
                self.assertEqual(q.old(1), 2 + i % 7)
                self.assertEqual(q.evaluate("x -> x+%d" % (i % 5))(1), 1 + i % 5)
                q.evaluate("function y = typed(x)\n y = old(x)+%d\nend" % (i % 3))
                self.assertEqual(q.typed(1), 2 + i % 7 + i % 3)
                with self.assertRaises(q.QuasarError):
                    q.compile_string("again", "function y = old(x)\n y = nowhere(x)\nend")
        work(500)
        before = resident()
        work(int(os.environ.get("RECOMPILATIONS", "4000")))
        self.assertLess(resident() - before, 2 << 20)

    def test_files_that_are_loaded_again_are_freed(self):
        with tempfile.TemporaryDirectory() as folder:
            def write(name, text, *args):
                with open(os.path.join(folder, name), "w") as f: f.write(text % args)
                os.utime(os.path.join(folder, name), ns=(0, next(ticks)))
            ticks = iter(range(1, 10**12))
            bring = 'import "%s"\nimport "%s"' % tuple(os.path.join(folder, f) for f in ("other.q", "again.q"))
            write("other.q", "function y = common(x, z)\n y = x+z\nend")

            def work(n):
                for i in range(n):
                    write("part.q", "function y = inner(x)\n y = (z -> %d*z)(x)\nend", i % 5)
                    write("again.q", "import \"part.q\"\nfunction y = outer(x)\n y = inner(x)+common(x)\nend\n"
                                     "function y = common(x)\n y = %d\nend", i % 7)
                    q.evaluate(bring)
                    self.assertEqual(q.evaluate("outer(2) + common(1, 2)"), 2*(i % 5) + i % 7 + 3)
                    q.evaluate("function y = from_session(x)\n y = common(x)+common(x,x)\nend")
                    self.assertEqual(q.evaluate("from_session(4)"), i % 7 + 8)
                    for mistake in ("function y = inner(x)\n y = nowhere(x)\nend", "1+"):
                        write("part.q", mistake)
                        with self.assertRaises(q.QuasarError): q.evaluate(bring)
                    self.assertEqual(q.evaluate("outer(1)"), i % 5 + i % 7)
            work(200)
            before = resident()
            work(int(os.environ.get("RECOMPILATIONS", "1500")))
            self.assertLess(resident() - before, 2 << 20)
            write("part.q", "function y = inner(x)\n y = 1\nend")
            held = q.evaluate("x -> outer(x)")
            q.evaluate(bring)
            self.assertEqual(held(1), 1 + q.evaluate("common(1)"))

    def test_kernels_that_are_compiled_again_are_freed(self):
        def work(n):
            for i in range(n):
                q.compile_string("again", """function [] = __kernel__ add(x : vec, pos : int)
                                                 x[pos] += device(%d)
                                             end
                                             function y : scalar = __device__ device(v : scalar)
                                                 y = 2*v
                                             end
                                             function y = run(x)
                                                 y = copy(x)
                                                 parallel_do(size(x), y, add)
                                             end""" % (i % 3))
                self.assertEqual(q.run(q.ones(4))[0], 1 + 2*(i % 3))
        work(60)
        before = resident()
        work(400)
        self.assertLess(resident() - before, 4 << 20)

    def test_what_is_held_of_a_text_that_was_compiled_again_works_on(self):
        q.compile_string("again", "function y = held_f(x)\n y = held_g(x)\nend\nfunction y = held_g(x)\n y = x+1\nend")
        held, closure = q.held_f, q.evaluate("(k -> (x -> held_f(x)+k))(100)")
        q.evaluate("function y = held_caller(x)\n y = held_f(x)\nend")
        with self.assertRaises(q.QuasarError):
            q.compile_string("again", "function y = held_f(x)\n y = nowhere\nend")
        self.assertEqual((q.held_f(1), held(1), q.held_caller(1), closure(1)), (2, 2, 2, 102))
        q.compile_string("again", "function y = held_f(x)\n y = 10*x\nend")
        self.assertEqual((q.held_f(1), q.held_caller(1), closure(1)), (10, 10, 110))
        self.assertEqual(held(1), 2)
        for _ in range(3):
            q.evaluate("1")
            gc.collect()
        self.assertEqual(held(1), 2)

    def test_what_goes_may_compile_the_same_text(self):
        out = in_child("""
            import sys, types, pyquasar as q
            q.init("ref")
            sys.modules["mortals"] = module = types.ModuleType("mortals")
            text = "m = pyimport(\\"mortals\\")\\na = m.make()\\nb = m.make()\\nfunction y = g()\\ny = %d\\nend\\n"
            count = 0
            class Mortal:
                def __del__(self):
                    global count
                    count += 1
                    if count < 30: q.compile_string("u", text % count)
            module.make = Mortal
            for k in range(20):
                q.compile_string("u", text % (100 + k))
                for mistake in ("f(", "x = nobody_knows_this"):
                    try: q.compile_string("u", text % 7 + mistake)
                    except q.QuasarError: pass
            print(q.g(), count >= 30)""")
        self.assertEqual(out, "119.0 True\n")

    def test_machines_stay_flat(self):
        for _ in range(20):
            q.destroy()
            q.init("cpu")
            q.compile_string("p", "function y = f(x)\n y = x\nend")
            self.assertEqual(q.f(1), 1)
        before = resident()
        for _ in range(60):
            q.destroy()
            q.init("cpu")
            q.compile_string("p", "function y = f(x)\n y = x\nend")
            q.f(q.ones(100000)) + 1
        self.assertLess(resident() - before, 8 << 20)


class End(unittest.TestCase):
    def test_a_hundred_exits_are_clean(self):
        for _ in range(int(os.environ.get("EXITS", "20"))):
            self.assertEqual(in_child("""
                import atexit, threading, time, pyquasar as q
                atexit.register(lambda: print("at exit", q.sum(kept)))
                q.init("cpu")
                q.compile_string("p", "function [] = forever(f)\\nwhile true\\n f()\\nend\\nend\\n"
                                      "function y = wait(f)\\n y = f()\\nend")
                kept = q.ones(10)
                o = q.evaluate("object()"); o.d = {"o": o, "f": q.wait}
                threading.Thread(target=q.forever, args=(lambda: time.sleep(0.0005),), daemon=True).start()
                threading.Thread(target=q.wait, args=(lambda: time.sleep(1000),), daemon=True).start()
                threading.Thread(target=lambda: time.sleep(0.01)).start()
                try: q.value([1])[7]
                except IndexError as e: error = e
                print("end")
                """), "end\nat exit 10.0\n")

    def test_memory_that_numpy_holds_outlives_the_vm(self):
        for end in ("", "q.destroy(); print(y[3])"):
            self.assertEqual(in_child(f"""
                import numpy as np, pyquasar as q
                q.init("cpu")
                small, large = q.value(np.arange(4.0)), q.value(np.arange(1e5))
                y, z = np.asarray(small), np.asarray(large)
                del small, large
                {end}
                print(y[2], z[99999])
                """), ("3.0\n" if end else "") + "2.0 99999.0\n")

    def test_nobody_waits_for_a_daemon_thread(self):
        out = in_child("""
            import atexit, threading, time, pyquasar as q
            q.init("cpu")
            q.compile_string("p", "function s = forever()\\n s = 0\\n while s < 2\\n  s = sin(s)\\n end\\nend")
            class Late:
                def __del__(self, sum=q.sum, kept=q.ones(100000)):
                    try: sum(kept)
                    except RuntimeError: print("late")
            late = Late()
            threading.Thread(target=q.forever, daemon=True).start()
            time.sleep(0.3)
            print("end", flush=True)""")
        self.assertEqual(out, "end\nlate\n")

    def test_sub_interpreters_are_refused(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            try:
                import _interpreters as interpreters
            except ImportError:
                self.skipTest("no sub-interpreters here")
        out = in_child("""
            try: import _xxsubinterpreters as i
            except ImportError: import _interpreters as i
            import pyquasar as q
            q.init("cpu")
            one = i.create()
            i.run_string(one, "try:\\n import pyquasar\\nexcept ImportError as e:\\n print('ImportError')\\n")
            print(q.sum([1, 2]))
            """, "-W", "ignore")
        self.assertEqual(out, "ImportError\n3.0\n")


if __name__ == "__main__":
    unittest.main()
