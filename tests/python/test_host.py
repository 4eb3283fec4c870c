"""import pyquasar: the VM, programs, names, arguments.

    PYTHONPATH=build/python python3 -m unittest discover tests/python"""
import builtins, inspect, os, re, shutil, signal, subprocess, sys, tempfile, textwrap, time, types, unittest, warnings

import pyquasar as q
from optional import library

np = library("numpy")

needs_numpy = unittest.skipUnless(np, "needs numpy")


def in_child(text, **options):
    """Runs a separate program; returns its output."""
    r = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120,
                       **options)
    assert r.returncode == 0, (r.returncode, r.stdout, r.stderr)
    return r.stdout


class Machine(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def compile(self, text, name="test"):
        return q.compile_string(name, textwrap.dedent(text))


class Empty(unittest.TestCase):
    def test_an_empty_device_is_refused(self):
        with self.assertRaisesRegex(ValueError, "init: device must be cpu, cuda, opencl"):
            q.init("")


class Warnings(Machine):
    def test_they_are_warnings_of_python(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.compile("function y = doubtful(x)\n    y = 1 < x[0] < 3\n    if x == 5\n        y = 7\n    end\nend\n",
                         "doubt.q")
            q.doubtful([1.0, 2.0])
            q.doubtful([1.0, 2.0])
        self.assertEqual([(w.category, w.filename, w.lineno) for w in told],
                         [(q.QuasarWarning, "doubt.q", 2), (q.QuasarWarning, "doubt.q", 3)])
        self.assertIn("write a < b && b < c", str(told[0].message))

    def test_they_may_be_errors(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(q.QuasarWarning):
                self.compile("function y = doubtful(x)\n    y = [x -1]\nend\n")
            self.assertEqual(q.evaluate("1+1"), 2)

    def test_they_are_errors_in_statements_that_run_together(self):
        self.compile("function b = part(x, t, n)\n    a = (n > 5 ? x[t..t+2] : x[0..2])*2\n    b = a + 1\nend\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(q.part([1, 2, 3, 4], 0.5, 2).tolist(), [3, 5, 7])
            with self.assertRaisesRegex(q.QuasarWarning, "this one has a fraction"):
                q.part([1, 2, 3, 4], 0.5, 7)


class Life(unittest.TestCase):
    def tearDown(self):
        q.destroy()

    def test_nothing_works_before_init(self):
        out = in_child("""
            import pyquasar as q
            for f in (lambda: q.zeros(3), lambda: q.value(1), lambda: q.compile_string("a", ""),
                      lambda: q.typename("vec"),
                      lambda: q.devices(), lambda: q.evaluate("1"), q.run_gui):
                try: f()
                except q.QuasarError as e: assert "call pyquasar.init first" in str(e), e
                else: raise AssertionError("no error")
            assert not hasattr(q, "zeros")
            q.init("cpu")
            print(q.zeros(2))
            """)
        self.assertEqual(out, "[0,0]\n")

    def test_destroy_and_init_again(self):
        q.init("cpu")
        a, f = q.zeros(3), q.zeros
        convert, reshape = a.astype, a.reshape
        q.destroy()
        for use in (lambda: a[0], lambda: f(3), lambda: a + 1, lambda: str(a), lambda: q.zeros(3)):
            self.assertRaises(q.QuasarError, use)
        q.destroy()
        q.init("cpu", precision=64)
        self.assertEqual(q.zeros(3).typename, "vec")
        with self.assertRaisesRegex(q.QuasarError, "machine that is closed"):
            q.sum(a)
        self.assertRaises(q.QuasarError, lambda: a + q.zeros(3))
        self.assertRaises(q.QuasarError, lambda: q.zeros(3) + a)
        self.assertRaises((q.QuasarError, BufferError), a.__dlpack__)
        self.assertRaises((q.QuasarError, BufferError), memoryview, a)
        self.assertEqual(repr(a), "<value of a Quasar machine that is closed>")
        self.assertRaises((q.QuasarError, AttributeError), convert, "float64")
        for name in ("__array_interface__", "__cuda_array_interface__", "sum", "T"):
            self.assertFalse(hasattr(a, name), name)
        for use in (lambda: a.sum(), lambda: a.shape, lambda: a.T, lambda: a.typename, lambda: a.tolist(),
                    lambda: len(a), lambda: bool(a), lambda: a.grad, lambda: setattr(a, "grad", None),
                    lambda: reshape(3)):
            with self.assertRaisesRegex(q.QuasarError, "the machine of this value was closed"):
                use()

    def test_fast_math(self):
        for fast, want in ((False, 0), (True, 1)): # regrouped, 1e8 goes before it can swallow anything
            q.init("cpu", fast_math=fast)
            q.compile_string("far", "function [] = __kernel__ far(x : vec, pos : int)\n"
                                    " x[pos] = (x[pos] + 1e8) - 1e8\nend")
            a = q.ones(40)
            q.parallel_do(40, a, q.far)
            self.assertEqual(a[0], want)
            q.destroy()

    def test_variables_of_a_program_are_set_through_its_module(self):
        q.init("cpu")
        m = q.compile_string("limits", "limit = 10\nf = x -> 2*x\nfunction y = clipped(x)\n y = min(x, limit)\nend\n"
                                       "function y = by_f(x)\n y = f(x)\nend")
        m.limit = 5
        m.f = lambda x: x + 1
        self.assertEqual((m.clipped(7), m.limit, q.limit, m.by_f(3)), (5, 5, 5, 4))
        m.limit = [4, 6]
        self.assertEqual(m.clipped(5).tolist(), [4, 5])
        for name, why in (("clipped", "clipped is a function of module limits"), ("limt", "defines no limt")):
            with self.assertRaisesRegex(q.QuasarError, why):
                setattr(m, name, 1)

    def test_messages_name_the_objects_of_python(self):
        class Table:
            def __array__(self, dtype=None, copy=None):
                return np.ones(2)
        q.init("cpu")
        q.compile_string("named", "function y = f(x : vec)\n y = sum(x)\nend\n"
                                  "function [] = __kernel__ k(x, pos : int)\n x[pos] = 1\nend")
        for x, why in ((["a"], r"pyvalue \(list; value.* a cell of it\)"),
                       ({}, r"pyvalue \(dict; value.* a dictionary of it\)"),
                       (Table(), r"pyvalue \(.*Table; value\(x\), or from_py\(x\) in a script, .* an array of it\)")):
            with self.assertRaisesRegex(TypeError, "argument x must be vec, got " + why):
                q.f(x)
            with self.assertRaisesRegex(TypeError, "kernel k: x is " + why + ", which a kernel cannot take"):
                q.parallel_do(2, x, q.k)
        if np:
            self.assertEqual(q.f(q.value(Table())), 2)

    def test_a_named_argument_skips_optional_ones(self):
        q.init("cpu")
        x = np.array([[1., 2, 4], [3, 5, 9]]) if np else q.value([[1., 2, 4], [3, 5, 9]])
        self.assertEqual(q.quantile(x, 0.3, method="lower"), 2)
        self.assertEqual(q.percentile(x, 30, None, "higher"), 3)
        self.assertAlmostEqual(q.var(x, ddof=0), 20/3)
        self.assertEqual(str(q.max(x, dim=0)).strip("[]"), "3,5,9")
        self.assertEqual(str(q.bincount([0, 1, 1], weights=[2, 3, 4])), "[2,7]")
        with self.assertRaisesRegex(TypeError, "one before method is left out"):
            q.quantile(x, method="lower")

    def test_what_is_wrong_is_told_at_once(self):
        q.init("cpu")
        for call, why in ((lambda: q.compile_string(3, "x = 1"), "compile_string: name must be a string, got int"),
                          (lambda: q.compile_string("x", b"x = 1"), "compile_string: text must be a string, got bytes"),
                          (lambda: q.compile_file(3), "compile_file: path must be a string or a path, got 3"),
                          (lambda: q.import_native(None), "import_native: name must be a string or a path, got None"),
                          (lambda: q.import_dll(3), "import_dll: name must be a string, got int"),
                          (lambda: q.evaluate(3), "evaluate: text must be a string, got int"),
                          (lambda: q.typename(3), "typename: text must be a string, got int"),
                          (lambda: q.from_dlpack(3), "from_dlpack: a tensor, or something else with __dlpack__, is w"),
                          (lambda: q.to_dlpack(3), "to_dlpack: an array of the language is wanted, got int"),
                          (lambda: q.jvp(q.sum, 1.0, (1.0,)), "jvp: args must be a tuple"),
                          (lambda: q.hvp(q.sum, (1.0,), 1.0), "hvp: vectors must be a tuple"),
                          (lambda: q.grad(q.sum, "x"), "grad: argnums must be positions of arguments"),
                          (lambda: q.jacobian(q.sum, 1.5), "jacobian: argnums must be positions of arguments")):
            with self.assertRaisesRegex(TypeError, why):
                call()
        for name in ("grad", "value_and_grad", "vjp", "jacobian", "hessian", "gradcheck", "checkpoint"):
            with self.assertRaisesRegex(TypeError, name + ": f must be a function, got int"):
                getattr(q, name)(3)
        q.destroy()
        for name in ("library_path", "cache_dir"):
            with self.assertRaisesRegex(TypeError, "init: %s must be a string or a path, got 3" % name):
                q.init("cpu", **{name: 3})

    def test_bytes_are_an_array_where_one_is_wanted(self):
        q.init("cpu")
        q.compile_string("raw", """
            function y = total(x : vec[uint8])
                y = sum(float(x))
            end
            function [] = put(x : vec[uint8])
                x[0] = 3
            end
            function y = kind(x)
                y = type(x)
            end
            function y = either(x : [vec[uint8] | string])
                y = type(x)
            end
            function y = kept(x : [vec[uint8] | pyvalue])
                y = type(x)
            end
            type packet : mutable class
                data : vec[uint8]
                note : ??
            end
            function [] = launched(x, y)
                parallel_do(3, x, y, twice)
            end
            function [] = __kernel__ twice(x : vec[uint8], y : vec, pos : int)
                y[pos] = 2*float(x[pos])
            end
            function [] = __kernel__ clear(x : vec[uint8], pos : int)
                x[pos] = 0
            end""")
        text, y = b"abc", q.zeros(3)
        self.assertEqual(q.total(text), 294)
        q.parallel_do(3, text, y, q.twice)
        self.assertEqual([float(v) for v in y], [194, 196, 198])
        for write in (lambda: q.put(text), lambda: q.parallel_do(3, text, q.clear)):
            with self.assertRaisesRegex(q.QuasarError, "read-only"):
                write()
        self.assertEqual((text, q.kind(text), q.kind(bytearray(text))), (b"abc", "pyvalue", "vec[uint8]"))
        self.assertEqual((q.either(text), q.either("abc"), q.kept(text)), ("vec[uint8]", "string", "pyvalue"))
        p = q.packet(text, note=text)
        self.assertEqual((p.data.tolist(), p.note), ([97, 98, 99], text))
        p.data, p.note = b"d", b"e"
        self.assertEqual((p.data.tolist(), p.note, q.packet(data=b"f").data.tolist()), ([100], b"e", [102]))
        self.assertEqual(q.halo(q.twice, text, y), (0,))
        with self.assertRaisesRegex(TypeError, r"x is pyvalue \(bytes; value\(x\), .* makes an array of it\)"):
            q.launched(text, y)

    def test_functions_named_as_those_of_python_leave_the_package_alone(self):
        q.init("cpu")

        def names(code):
            return set().union(*(names(c) | set(c.co_names) for c in code.co_consts if isinstance(c, types.CodeType)))
        with open(q.__file__, encoding="utf-8") as f:
            used = names(compile(f.read(), q.__file__, "exec")) & set(dir(builtins))
        self.assertEqual(used & {*q._bridge._names(None), "bool", "int", "float", "complex"}, set())
        of_python = ("function y = %s(x)\n y = 1\nend\n" % n for n in ("open", "set", "next", "str"))
        q.compile_string("named", "".join(of_python) + "type zip : class\n a : int\nend")
        self.assertEqual((q.type(1), q.any(1), q.open(1), q.set(1), q.str(1), q.zip(1).a), ("scalar", True, 1, 1, 1, 1))
        with self.assertRaisesRegex(TypeError, "text must be a string, got int"):
            q.evaluate(3)
        self.assertIn("zeros", dir(q))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.q")
            with open(path, "w", encoding="utf-8") as f:
                f.write("function y = of_file()\n y = 2\nend")
            self.assertEqual(q.compile_file(path).of_file(), 2)

    def test_types_are_found_quickly(self):
        q.init("cpu")
        q.compile_string("quick", "type quick : class\n a : scalar\nend")
        self.assertIs(q.quick, q.quick)
        q.compile_string("quick", "type quick : class\n b : scalar\nend")
        self.assertEqual(q.quick(b=3).b, 3)
        self.assertRegex(q.__version__, r"^\d+\.\d+\.\d+(\.dev\d+)?$")

    def test_init_twice(self):
        q.init("cpu")
        q.init("cpu")
        with self.assertRaisesRegex(q.QuasarError, "open already on cpu; call destroy first"):
            q.init("ref")

    def test_devices(self):
        for name in ("helios:cpu", "auto", "ref"):
            q.init(name)
            d = q.devices()[0]
            self.assertTrue(d.default)
            self.assertEqual(d.kind, "ref" if name == "ref" else d.kind)
            q.destroy()
        for name, why in (("nothing", "no device kind nothing"),
                          ("hip", r"no device kind hip; .*AMD GPUs are reached by opencl\)"),
                          ("hyperion.xml", "cannot read the device file"), ("cpu:7", "cpu:7 is not there")):
            with self.assertRaisesRegex(q.QuasarError, why):
                q.init(name)
        with self.assertRaisesRegex(ValueError, "precision must be 32 or 64"):
            q.init("cpu", precision=16)
        for n in (0, -1):
            with self.assertRaisesRegex(ValueError, "threads must be ≥ 1, got %d" % n):
                q.init("cpu", threads=n)
        with self.assertRaisesRegex(ValueError, "memory_limit must be ≥ 0, got -1"):
            q.init("cpu", memory_limit=-1)
        q.init("cpu", loadCompiler=True)
        q.destroy()
        q.init("cpu", load_compiler=1)

    def test_options_are_those_of_the_table(self):
        """Each option of init refuses a value of a wrong type, and is part of the settings that processes exchange."""
        names = list(inspect.signature(q.init).parameters)
        wrong = {bool: ("no", 3, None), int: ("2", 2.5), str: (3, [2]), type(None): ([2], 2.5)}
        for name in names:
            if name in ("loadCompiler", "load_compiler"):
                continue
            for value in wrong[type(inspect.signature(q.init).parameters[name].default)]:
                with self.assertRaisesRegex(TypeError, "^init: %s must be .+, got %s" % (name, re.escape(repr(value)))):
                    q.init("ref", **{name: value} if name != "device" else {}) if name != "device" else q.init(value)
            self.assertIn("\n    " + name, q.init.__doc__)
        for name, value, expected in (("loops", "sometimes", "auto, always or never"), ("precision", 33, "32 or 64"),
                                      ("threads", 1 << 70, "a smaller number"), ("threads", 0, "≥ 1")):
            with self.assertRaisesRegex(ValueError, "^init: %s must be %s, got %r" % (name, expected, value)):
                q.init("ref", **{name: value})
        with self.assertRaisesRegex(TypeError, "init: there is no option thread, did you mean threads?"):
            q.init("ref", thread=2)
        with self.assertRaisesRegex(TypeError, "init: there is no option quiet$"):
            q.init("ref", quiet=2)
        q.init("ref", precision=64, checked=True, cache_dir="", library_path=os.getcwd(), loops="never",
               memory_limit=1 << 20)
        known = q._bridge._settings()
        self.assertEqual(set(known) | {"loadCompiler", "load_compiler"}, set(names))
        path = known.pop("library_path")
        self.assertTrue(path.startswith(os.getcwd() + ":"))
        self.assertEqual({**q._opened, **known}, q._opened)
        q.destroy()

    def test_loops_are_explained(self):
        code = ("import pyquasar as q\nq.init('cpu', explain=True, loops=%r)\n"
                "q.evaluate('x = zeros(9)\\nfor i = 0..8\\nx[i] = 2*i\\nend')")
        for loops, told in ("always", True), ("never", False):
            r = subprocess.run([sys.executable, "-c", code % loops], capture_output=True, text=True)
            self.assertEqual((r.stdout, r.returncode), ("", 0), r.stderr)
            self.assertEqual("loop" in r.stderr, told, r.stderr)

    def test_whole_numbers_of_every_kind_are_taken_by_init(self):
        class Two:
            def __index__(self):
                return 2
        for two in [Two()] + [np.int64(2), np.uint8(2), np.array(2)] * (np is not None):
            q.init("ref", threads=two, memory_limit=two)
            q.init("ref", threads=2, memory_limit=2)  # the same
            q.destroy()
        for wrong in (True, 2.0, "2", [2]):
            with self.assertRaisesRegex(TypeError, "threads must be a number, got %s" % re.escape(repr(wrong))):
                q.init("ref", threads=wrong)
            with self.assertRaisesRegex(TypeError, "memory_limit must be a number of bytes, got"):
                q.init("ref", memory_limit=wrong)

    @needs_numpy
    def test_views_outlive_the_machine(self):
        q.init("cpu")
        small, large, view = q.ones(3), q.ones(300, 1000), q.ones(10, 10)
        base = np.arange(4.0)
        foreign = q.value(base)
        a, b, c, d, again = small.to_py(), large.to_py(), view[2:, ::2].to_py(), memoryview(small), foreign.to_py()
        del large, view, foreign
        q.destroy()
        for i in range(3):
            q.init("cpu")
            noise = [q.zeros(3) + 7, q.zeros(300, 1000) + 7, q.zeros(10, 10) + 7]
            a += 1
            self.assertEqual((a.tolist(), b.sum(), c.shape, c.sum(), d[0]), ([2 + i] * 3, 300000, (8, 5), 40, 2 + i))
            again[0] += 1
            self.assertEqual(base[0], 1 + i)
            del noise
            q.destroy()
        del a, b, c, d, again
        self.assertEqual(sys.getrefcount(base), 2)

    def test_an_interrupt_stops_everything(self):
        kernel = "function [] = __kernel__ k(x : vec, pos : int)\nfor i=0..20000\nx[pos] += sqrt(x[pos]+i)\nend\nend"
        expression = "function y = e(x)\ny = " + "("*60 + "x" + " + 1).^0.3"*60 + "\nend"
        loop = "function s = turn(x, n)\ns = 0\nfor i=0..n\ns = sin(s + x[0])\nend\nend"
        waiting = "function s = endless(x)\ns = 0\nwhile s < 2\ns = sin(s + x[0])\nend\nend"
        program = """
            import time, signal, pyquasar as q
            q.init("cpu", threads=1)
            q.compile_string("p", %r)
            q.e(q.ones(100000)) # it is compiled then
            x = q.ones(20000000)
            print("ready", flush=True)
            try: %s
            except KeyboardInterrupt: print("interrupted", q.sum([1, 2]), flush=True)
            time.sleep(0.1)
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            """
        waits = {
            "a loop": "q.evaluate('while true\\nend')",
            "a kernel": "q.parallel_do(10000000, q.zeros(10000000), q.k)",
            "an expression": "q.e(x)",
            "a compiled loop": "q.turn(x, 1e12)",
            "a compiled loop under a condition": "q.endless(x)",
            "a sleep": "q.evaluate('sleep(30000)')",
            "python": "q.evaluate('f -> f()')(lambda: time.sleep(30))"}
        text = "\n".join((kernel, expression, loop, waiting))
        for what, code in waits.items():
            p = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program) % (text, code)],
                                 stdout=subprocess.PIPE, text=True)
            self.assertEqual(p.stdout.readline(), "ready\n", what)
            time.sleep(0.8)
            start = time.time()
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.stdout.readline(), "interrupted 3.0\n", what)
            self.assertLess(time.time() - start, 0.5 * float(os.environ.get("SLOW", "1")), what)
            self.assertEqual(p.wait(30), 0)
            p.stdout.close()

    def test_a_package_for_another_python_is_refused(self):
        with tempfile.TemporaryDirectory() as d:
            package = shutil.copytree(os.path.dirname(q.__file__), d + "/pyquasar",
                                      ignore=shutil.ignore_patterns("*.so", "__pycache__"))
            open(package + "/_bridge.cpython-99t.so", "w").close()
            self.assertEqual(in_child("""
                try: import pyquasar
                except ImportError as e: print(e)
                """, env={"PYTHONPATH": d}),
                "this pyquasar was built for another Python than this one, %d.%d%s: one without the global interpreter "
                "lock needs a pyquasar of its own\n" % (*sys.version_info[:2], sys.abiflags))

    def test_import_is_light(self):
        self.assertEqual(in_child("""
            import sys, signal
            before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV)]
            import pyquasar
            print([m for m in ("numpy", "torch", "inspect", "ast", "collections.abc") if m in sys.modules])
            assert before == [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV)]
            """, env={"PYTHONPATH": ":".join(sys.path)}).replace(", 'collections.abc'", "")
                .replace("'collections.abc'", ""), "[]\n")

    def test_nothing_but_its_door_is_exported(self):
        import ctypes
        library = ctypes.CDLL(q._bridge.__file__)
        self.assertFalse(hasattr(library, "qs_open"))
        self.assertFalse(hasattr(library, "qarr_new"))

    def test_the_child_of_a_fork(self):
        self.assertEqual(in_child("""
            import os, pyquasar as q
            q.init("cpu")
            a = q.ones(1000) + 1
            child = os.fork()
            if child == 0:
                q.init("cpu")                        # which it is
                a += 1
                q.evaluate("x = ones(1000000); for i = 0..numel(x)-1; x[i] += i; end")
                print(a[0], q.sum(q.ones(1000000) + 1), q.x[10], flush=True)
                q.init("ref")                        # another one
                try: a[0]
                except q.QuasarError as e: print(e, flush=True)
                print(q.devices()[0].kind, flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            print(a[999])
            """), "3.0 2000000.0 11.0\nthe machine of this value was closed\nref\n2.0\n")

    def test_a_fork_while_another_thread_computes(self):
        # What that thread works on is half done, so the child has no machine; it may open one.
        self.assertEqual(in_child("""
            import os, threading, time, warnings, pyquasar as q
            warnings.simplefilter("ignore", DeprecationWarning)
            q.init("cpu", threads=1)
            a, x = q.ones(10), q.rand(3000000)
            started, done = threading.Event(), threading.Event()
            def work():
                while not done.is_set():
                    started.set()
                    q.sort(x)
            t = threading.Thread(target=work)
            t.start()
            started.wait()
            for _ in range(5):
                time.sleep(0.02)
                if os.fork() == 0:
                    if not q._bridge._is_open():
                        try: a[0]
                        except q.QuasarError: pass
                        q.init("cpu")
                    os._exit(int(q.sum(q.ones(100000))) != 100000)
                assert os.wait()[1] == 0
            done.set()
            t.join()
            print(a[9])
            """), "1.0\n")

    def test_random_numbers_differ_in_children(self):
        self.assertEqual(in_child("""
            import multiprocessing, pyquasar as q
            q.init("cpu")
            with multiprocessing.get_context("fork").Pool(2) as pool:
                print(len({float(x) for x in pool.map(q.rand, [1]*8, chunksize=4)}))
            """), "8\n")

    def test_pools_of_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "pool.py")
            with open(file, "w") as f:
                f.write(textwrap.dedent("""
                    import multiprocessing, pyquasar as q
                    def twice(v):
                        return 2*v, q.devices()[0].kind, q.zeros(2).dtype
                    if __name__ == "__main__":
                        q.init("ref", precision=64)
                        for way in ("spawn", "fork"):
                            with multiprocessing.get_context(way).Pool(1) as pool:
                                for v, kind, dtype in pool.imap(twice, [q.value([1, 2])]):
                                    print(v, kind, dtype, flush=True)
                    """))
            r = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=120)
            self.assertEqual(r.stdout, "[2,4] ref float64\n" * 2, r.stderr)

    def test_spawned_children_work(self):
        self.assertEqual(in_child("""
            import multiprocessing, sys, pyquasar as q
            def main():
                q.init("cpu")
                import subprocess
                print(subprocess.run([sys.executable, "-c", "import pyquasar as q; q.init('cpu'); print(q.sum([1,2]))"],
                                     capture_output=True, text=True).stdout, end="")
            main()
            """), "3.0\n")


class Programs(Machine):
    def test_import_under_a_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sizes.q")
            other = os.path.join(folder, "other.q")
            for name, text in ((path, "function y = area(x)\n y = 2*x\nend\nlimit = 3"),
                               (other, "function y = volume(x)\n y = 3*x\nend")):
                with open(name, "w") as f:
                    f.write(text)
            q.evaluate('import "%s" as sizes' % path)
            m = q.compile_string("uses_sizes", 'import "%s" as s\nfunction y = f(x)\n y = s.area(x)\nend' % path)
            self.assertEqual([q.evaluate("sizes.area(4) + sizes.limit"), m.f(5), hasattr(q, "area")], [11, 10, False])
            with open(path, "w") as f:
                f.write("function y = area(x)\n y = 20*x % edited\nend\nlimit = 3")
            q.evaluate('import "%s" as sizes' % path)
            self.assertEqual([q.evaluate("sizes.area(4)"), m.f(5)], [80, 100])
            q.evaluate('import "%s" as sizes' % other)
            self.assertEqual(q.evaluate("sizes.volume(1)"), 3)
            for text, message in (("sizes.area(4)", "module sizes has no area"),
                                  ("sizes", "'sizes' is a module and no value"), ("sizes = 3", "cannot be assigned")):
                with self.assertRaisesRegex(q.QuasarError, message):
                    q.evaluate(text)
            q.evaluate("area_of = 3")
            with self.assertRaisesRegex(q.QuasarError, "this name is that of a variable or function already"):
                q.evaluate('import "%s" as area_of' % path)

    def test_the_same_name_is_replaced(self):
        self.compile("function y = f()\n y = 1\nend\nfunction y = gone()\n y = 1\nend\nx = 5", "p")
        self.assertEqual((q.f(), q.x, q.gone()), (1, 5, 1))
        old = q.f
        self.compile("function y = f()\n y = 2\nend\nfunction y = f(a)\n y = a\nend", "p")
        self.assertEqual((q.f(), q.f(7), old()), (2, 7, 1))
        self.assertRaises(AttributeError, lambda: q.gone)
        with self.assertRaises(q.QuasarSyntaxError):
            self.compile("function y = f(\n", "p")
        self.assertEqual(q.f(), 2)

    def test_functions_of_one_name_give_all_results(self):
        text = "function [u,v] = pair(x)\n u = %d*x\n v = %d*x\nend\n"
        a = self.compile(text % (1, 2), "a")
        self.assertEqual(q.pair(1), (1, 2))
        b = self.compile(text % (10, 20), "b")
        self.assertEqual((q.pair(1), b.pair(1), a.pair(1), q.pair(x=2)), ((10, 20), (10, 20), (1, 2), (20, 40)))
        self.compile(text % (5, 6), "a")  # compiled last, so its function is found first
        self.assertEqual((q.pair(1), q.pair(1, nargout=1)), ((5, 6), 5))
        with self.assertRaisesRegex(TypeError, "no pair takes"):
            q.pair(1, 2, 3)

    def test_functions_of_one_name_with_different_numbers_of_results(self):
        a = self.compile("function [u,v] = parts(x : scalar)\n u = x\n v = 2*x\nend\n"
                         "function y = parts(s : string)\n y = 7\nend\n"
                         "function [] = parts(c : cell)\n append(c, 1)\nend", "a")
        self.compile("function [a,b,c] = parts(x : vec)\n a = 1\n b = 2\n c = 3\nend", "b")
        for f in (a.parts, q.parts):
            self.assertEqual([f(1), f("x"), f(x=2), f(q.value(["a"])), f(1, nargout=1), f(1, nargout=2)],
                             [(1, 2), 7, (2, 4), None, 1, (1, 2)])
        self.assertEqual([q.parts([1, 2]), q.parts([1, 2], nargout=2)], [(1, 2, 3), (1, 2)])
        for wrong in (lambda: q.parts(1, 2), lambda: a.parts({"a": 1}), lambda: q.parts("x", nargout=2)):
            self.assertRaises(TypeError, wrong)

    def test_errors_are_those_that_python_programs_expect(self):
        with self.assertRaises(SyntaxError) as caught:
            self.compile("a = 1\nb = = 3", "wrong")
        e = caught.exception
        self.assertEqual((type(e), e.filename, e.lineno, e.offset, e.text),
                         (q.QuasarSyntaxError, "wrong", 2, 5, "b = = 3"))
        for f in (lambda: q.zeros(3, foo=1), lambda: q.zeros(3, n=1), lambda: q.sin(x=1, y=2)):
            self.assertRaises(TypeError, f)
        text = """
            import pyquasar as q
            for f in (lambda: q.value([1]), lambda: q.zeros(3), lambda: q.compile_string("a", "b = 1"),
                      lambda: q.evaluate("1"), q.devices, q.run_gui):
                try: f()
                except q.QuasarClosedError as e: print(isinstance(e, RuntimeError), hasattr(q, "zeros"))"""
        self.assertEqual(in_child(text).split(), ["True", "False"]*6)

    def test_what_is_declared_as_pyvalue_is_the_very_object(self):
        self.compile("keep = (x : pyvalue) -> x\nsame = x -> x", "declared")
        for x in ([1, 2], (1,), {"a": 1}, bytearray(2), q.zeros(2), memoryview(b"abc"), 10**30, q.sin):
            self.assertIs(q.keep(x), x)
        self.assertEqual([type(q.keep(x)) for x in (1, 2.5, "a", None, True)], [int, float, str, type(None), bool])

    def test_a_list_of_arrays_is_a_list(self):
        self.compile("same = x -> x\ncount = x -> numel(x)", "lists")
        a, b = q.zeros(2), q.ones(2)
        for x in ([a, b], [a, q.ones(3)], (a, b), [[a], [b]]):
            self.assertIs(q.same(x), x)
        self.assertEqual(q.same([[1, 2], [3, 4]]).shape, (2, 2))

    def test_a_module_knows_its_own(self):
        a = self.compile("function y = who()\n y = \"a\"\nend", "a")
        b = self.compile("function y = who()\n y = \"b\"\nend\nv = 3", "b")
        self.assertEqual((a.who(), b.who(), q.who(), b.v), ("a", "b", "b", 3))
        self.assertEqual(sorted(dir(b)), ["v", "who"])
        self.assertRaises(AttributeError, lambda: a.v)
        self.assertEqual(repr(a), "<quasar module a>")

    def test_files(self):
        import os, tempfile
        with tempfile.TemporaryDirectory() as d:
            def write(name, text):
                with open(os.path.join(d, name), "w") as f:
                    f.write(text)
                return os.path.join(d, name)
            write("helper.q", "function y = helper(x)\n y = 10*x\nend\n")
            path = write("main.q", "import \"helper.q\"\nfunction y = in_file(x)\n y = helper(x)+1\nend\n")
            self.assertEqual(q.compile_file(path).in_file(2), 21)
            write("main.q", "function y = in_file(x)\n y = x-1\nend\n")
            q.compile_file(path)
            self.assertEqual(q.in_file(2), 1)
            self.assertRaises(OSError, q.compile_file, os.path.join(d, "none.q"))

    def test_tracebacks_show_the_lines_of_texts(self):
        import traceback

        def last_frame(f, *args):
            try:
                f(*args)
            except q.QuasarError as e:
                return traceback.extract_tb(e.__traceback__)[-1]
        for function, line, text in (("f", "y = x[9]", "function y = f(x)\n y = x[9]\nend\nf([1])"),
                                     ("<program>", "b = nonsense", "a = 1\nb = nonsense"),
                                     ("<program>", "c = nonsense", "a = 1\nc = nonsense")):
            e = last_frame(q.compile_string, "m", text)
            self.assertEqual((e.filename, e.lineno, e.name, e.line), ("m", 2, function, line))
        one, two = (last_frame(q.evaluate, "y = [1]\n" + line) for line in ("y[7]", "y[8]"))
        self.assertEqual((one.line, two.line), ("y[7]", "y[8]"))
        self.assertNotEqual(one.filename, two.filename)

    def test_tracebacks_show_the_line_of_a_kernel(self):
        import traceback
        self.compile("""
            function [] = __kernel__ outside(x : vec'checked, pos : int)
                x[pos+10] = 1
            end
            function [] = launch(x)
                parallel_do(4, x, outside)
            end""", "lines")
        for launch, names in ((lambda: q.parallel_do(4, q.zeros(4), q.outside), ["<program>"]),
                              (lambda: q.launch(q.zeros(4)), ["launch", "<kernel>"])):
            frames = []
            try:
                launch()
            except IndexError as e:
                self.assertIn("index 10 is outside dimension 1 of x", str(e))
                frames = traceback.extract_tb(e.__traceback__)
            self.assertEqual([f.name for f in frames if f.filename == "lines"], names)
            self.assertEqual((frames[-1].lineno, frames[-1].line.strip()), (3, "x[pos+10] = 1"))
            self.assertIn("launch()", frames[0].line)

    def test_libraries(self):
        q.import_dll("Quasar.UI.dll")
        q.import_native("Quasar.CompMath")
        for f in (q.import_dll, q.import_native):
            with self.assertRaisesRegex(q.QuasarIOError, "library mine.* is not here"):
                f("mine.so")

    def test_variables_are_read_when_asked_for(self):
        self.compile("n = 0\nfunction [] = count()\n n = 1\nend\nf = x -> x+1", "p")
        self.assertEqual((q.n, q.f(1)), (0, 2))
        q.evaluate("f = x -> x+2")
        self.assertEqual(q.f(1), 3)

    def test_attributes_of_the_user_stay(self):
        self.compile("function y = f()\n y = 1\nend\nfunction y = g()\n y = 2\nend", "p")
        self.assertEqual((q.f(), q.g()), (1, 2))
        q.f = 5
        del q.g
        try:
            q.evaluate("1")
            self.assertEqual((q.f, q.g()), (5, 2))
        finally:
            del q.f
        self.assertEqual(q.f(), 1)

    def test_types(self):
        w = q.typename("vec[mat]")(4)
        self.assertEqual(len(w), 4)
        self.assertTrue(q.type(q.zeros(2, 2, 2), "cube{:}"))
        self.compile("type point : class\n x : scalar\n y : scalar = 4\nend", "p")
        self.assertEqual(q.point(x=3).x + q.point().y, 7)
        with self.assertRaisesRegex(q.QuasarError, "nonsense"):
            q.typename("nonsense")

    def test_names(self):
        self.compile("function [] = mine()\nend", "p")
        self.assertLessEqual({"mine", "zeros", "parallel_do", "init", "LOCK_READ"}, set(dir(q)))
        with self.assertRaisesRegex(AttributeError, "zeroz; did you mean zeros"):
            q.zeroz
        self.assertEqual(q.imfilter.__name__, "imfilter")

    def test_output_is_in_order(self):
        self.assertEqual(in_child("""
            import pyquasar as q
            q.init("cpu")
            q.compile_string("p", 'function [] = say(f)\\n print "2"\\n f()\\n print "4"\\nend')
            print("1")
            q.say(lambda: print("3"))
            print("5")
            """), "1\n2\n3\n4\n5\n")
        import contextlib, io
        with contextlib.redirect_stdout(io.StringIO()) as text:
            q.print("here ", q.value([1, 2]))
        self.assertEqual(text.getvalue(), "here [1,2]\n")


class Arguments(Machine):
    def test_numbers_strings_lists(self):
        self.compile("function y = t(x)\n y = type(x)\nend", "p")
        for x, t in ((1, "scalar"), (1.5, "scalar"), (True, "bool"), (1j, "cscalar"), ("s", "string"), ([1, 2], "vec"),
                     ((1, 2.5), "vec"), ([[1, 2], [3, 4]], "mat"), ([], "vec"), ([1, "a"], "pyvalue"), ({}, "pyvalue"),
                     (b"a", "pyvalue"), (bytearray(3), "vec[uint8]")):
            self.assertEqual(q.t(x), t, x)
        self.assertEqual(q.t(q.value([1, "a"])), "vec[??]")

    def test_a_list_for_what_is_written_is_refused(self):
        self.compile("""
            function [] = __kernel__ inc(x : vec, y : vec, pos : int)
                y[pos] = x[pos]+1
            end
            function [] = through(x)
                y = zeros(numel(x))
                parallel_do(numel(x), x, y, inc)
                parallel_do(numel(x), y, x, inc)
            end
            function y = first(x)
                y = x
                y[0] = 7
            end
            function y = filled(x)
                for i = 0..numel(x)-1
                    x[i] = i
                end
                y = x
            end
            function y = updated(x)
                x[:] += 1
                y = x
            end
            function [a, b] = counted(x)
                a = numel(x)
                b = x
            end""")
        y = q.zeros(2)
        q.parallel_do(2, [1, 2], y, q.inc)
        self.assertEqual(y.tolist(), [2, 3])
        for lost in ([0, 0], (0, 0), [0.5, 1]):
            with self.assertRaisesRegex(TypeError, "kernel inc: y must be an array, .* what came is a list"):
                q.parallel_do(2, [1, 2], lost, q.inc)
        with self.assertRaisesRegex(TypeError, "kernel inc: y must be an array, .* what came is a list"):
            q.through([1, 2])
        for f in (q.first, q.filled, q.updated):
            for lost in ([1, 2], list(range(1000))):
                with self.assertRaisesRegex(q.QuasarError, "is a copy of a list that was passed, .* pass value"):
                    f(lost)
            self.assertEqual(f(q.value([1, 2])).shape, (2,))
        kept = q.counted([1, 2])[1]  # of its own from now on
        kept += 1
        self.assertEqual(kept.tolist(), [2, 3])
        q.parallel_do(2, y, q.transpose([[1], [2]]), q.inc)
        q.parallel_do(2, y, q.float32([1, 2]), q.inc)

    def test_a_list_has_the_elements_that_are_declared(self):
        self.compile("""
            function y = f64(x : vec[float64], k = 1)
                y = x*k
            end
            function y = i64(k, x : mat[int64])
                y = x
            end
            function y = bytes(x : vec[uint8])
                y = x
            end
            function [] = alter(x : vec[int])
                x[0] = 7
            end""")
        self.assertEqual((q.f64([0.1]).tolist(), q.f64(k=2, x=[0.1]).tolist()), ([0.1], [0.2]))
        for got in (q.i64([0.5], [[2**60 + 1], [3]]), q.i64(x=[[2**60 + 1], [3]], k=[1])):
            self.assertEqual((got.tolist()[0][0], got.typename), (2**60 + 1, "mat[int64]"))
        self.assertEqual(q.bytes([255, 0.0, True]).tolist(), [255, 0, 1])
        self.assertRaises(ValueError, q.bytes, [300, -1, 1.7])
        self.assertRaises(TypeError, q.f64, ["a"])
        self.assertRaises(TypeError, q.f64, [1j])
        with self.assertRaisesRegex(q.QuasarError, "is a copy of a list"):
            q.alter([1, 2])

    @needs_numpy
    def test_named_arguments_are_named_in_messages(self):
        self.compile("function y = only_one(a, b = 1, c = 2)\n y = a\nend")
        for call in (lambda x: q.only_one(1, c=x), lambda x: q.only_one(c=x, a=1)):
            with self.assertRaisesRegex(TypeError, "argument c: elements of type >f4"):
                call(np.zeros(2, ">f4"))

    def test_a_conversion_finds_the_numbers_of_a_list(self):
        for x in (0.1, 1 / 3, 16777217.0):
            self.assertEqual((q.float64([x])[0], q.float64([[x], [x]])[1, 0]), (x, x))
        self.assertEqual((q.int32([16777217])[0], q.int64([2**60 + 1, 1]).tolist()), (16777217, [2**60 + 1, 1]))
        self.assertEqual(q.complex128([0.1 + 0.2j])[0], 0.1 + 0.2j)
        self.assertEqual(q.int([16777217])[0], 16777217)
        self.assertEqual(q.evaluate("x -> type(x)")([0.1]), "vec")
        endless = [1]
        endless.append(endless)
        with self.assertRaises((TypeError, q.QuasarError)):
            q.int64(endless)

    def test_named_and_missing_arguments(self):
        self.compile("function y = f(a, b = 10, c = 100)\n y = a+b+c\nend", "p")
        self.assertEqual((q.f(1), q.f(1, 2), q.f(1, c=5), q.f(c=1, b=2, a=3)), (111, 103, 16, 6))
        with self.assertRaisesRegex(TypeError, "argument a is missing"):
            q.f(b=1)
        with self.assertRaisesRegex(q.QuasarError, "no argument bb; did you mean b"):
            q.f(1, bb=2)
        with self.assertRaisesRegex(TypeError, "at most 3 arguments, got 4"):
            q.f(1, 2, 3, 4)

    def test_several_results(self):
        self.compile("function [a, b] = both_of()\n a = 1\n b = {1,\"x\"}\nend\nfunction [] = none()\nend", "p")
        a, b = q.both_of()
        self.assertEqual((a, len(b), b[1]), (1, 2, "x"))
        self.assertIsNone(q.none())

    @needs_numpy
    def test_arrays_are_used_in_place(self):
        self.compile("""
            function [] = double(x)
              x *= 2
            end
            function [] = __kernel__ inc(x, pos : ivec2)
              x[pos[0],pos[1]] += 1
            end""")
        for dtype in ("f4", "f8", "i4", "i8", "u1", "f2"):
            base = np.zeros((6, 8), dtype)
            for view in (base, base[::2], base[:, ::-1], base.T, base[1:4, 2:3], base[5:2:-1, ::3]):
                base[:] = np.arange(48).reshape(6, 8)
                want = view * 2
                q.double(view)
                np.testing.assert_array_equal(view, want)
                q.parallel_do(view.shape, view, q.inc)
                np.testing.assert_array_equal(view, want + 1)

    @needs_numpy
    def test_wrong_arrays(self):
        self.compile("""
            function y = f(img : mat)
              y = img
            end
            function [] = __kernel__ k(img : mat, pos : ivec2)
              img[pos[0],pos[1]] = 1
            end""")
        with self.assertRaisesRegex(TypeError, r"must be mat, got mat\[complex128\] of size 2x2"):
            q.f(np.zeros((2, 2), complex))
        self.assertEqual(q.f(q.value(np.ones((2, 2), np.uint8))).typename, "mat")
        with self.assertRaisesRegex(TypeError, "argument img must be mat, got cube of size 2x2x2"):
            q.f(np.zeros((2, 2, 2), np.float32))
        with self.assertRaisesRegex(TypeError, "argument img: elements of type >f4 are in the byte order"):
            q.f(np.zeros((2, 2), ">f4"))
        with self.assertRaisesRegex(TypeError, "img must be mat, got cube"):
            q.parallel_do([2, 2], np.zeros((2, 2, 2), np.float32), q.k)
        fixed = np.zeros((2, 2), np.float32)
        fixed.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "kernel k: img is read-only, and the kernel writes to it"):
            q.parallel_do([2, 2], fixed, q.k)
        self.assertEqual(q.f(fixed).shape, (2, 2))

    @needs_numpy
    def test_declared_elements(self):
        """A declared parameter converts the elements, as in a script; a write to the copy is an error."""
        self.compile("""
            function y = same(x : mat)
              y = x
            end
            function y = whole(x : mat[int])
              y = x
            end
            function y = complex_(x : cmat)
              y = x
            end
            function y = local(x)
              y : mat = x
              y[0,0] = 7
            end
            function [] = set(x : mat)
              x[0,0] = 7
            end
            function y = outer(x : mat)
              set(x)
              y = x
            end
            function [] = count(x : vec)
              for i = 0..numel(x)-1
                x[i] = i
              end
            end
            function [] = __kernel__ two(x, pos : int)
              x[pos] = 2
            end
            function [] = launch(x : vec)
              parallel_do(numel(x), x, two)
            end
            function y = twice(x : mat)
              y = 0
              for k = 0..1
                try
                  x[0,0] = 7
                catch e
                  y += 1
                end
              end
            end
            type holder : class
              x : mat
            end
            function y = hold(x)
              y = holder(x:=x)
            end""")
        for dtype in "? i1 u1 i2 u2 i4 u4 i8 u8".split():
            a = np.array([[1, 0], [1, 1]]).astype(dtype)
            for f in q.same, q.whole, q.complex_, q.local:
                y = f(a)
                self.assertEqual(y.tolist(), [[7 if f is q.local else 1, 0], [1, 1]])
                self.assertEqual(np.shares_memory(y.to_numpy(), a), dtype == "i4" and f is q.whole)
                y[0, 0] = 1  # an ordinary array
            self.assertEqual(q.hold(a).x.tolist(), a.tolist())
            for f, x in (q.set, a), (q.outer, a), (q.count, a[0]), (q.launch, a[0]), (q.count, np.tile(a[0], 5000)):
                with self.assertRaisesRegex(q.QuasarLockError, "argument x is declared .* changes a copy converted"):
                    f(x)
            self.assertEqual(q.twice(a), 2)
            self.assertEqual(a.tolist(), [[1, 0], [1, 1]])
            for wrong in (lambda: q.holder(x=a), lambda: setattr(q.hold(a), "x", a)):
                with self.assertRaisesRegex(TypeError, "x must be mat, got .*; memory that is passed is used in place"):
                    wrong()
        for dtype in "f2 f4 f8".split():
            a = np.ones((2, 2), dtype)
            q.outer(a)
            self.assertEqual((a[0, 0], q.whole(a).tolist()), (7, [[7, 1], [1, 1]]))
            self.assertEqual(np.shares_memory(q.same(a).to_numpy(), a), True)
        for f, x, why in ((q.whole, [[0.5]], "argument x must be imat, got 0.5, which int does not hold"),
                          (q.whole, [[2**40]], "argument x must be imat, got 1099511627776, which int does not hold"),
                          (q.complex_, [[0.5]], r"got .*\[float64\] of size 1x1; memory that is passed is not rounded"),
                          (q.complex_, [[1j]], r"got .*\[complex128\] of .*pass value\(x\) for a converted copy"),
                          (q.same, [[1j]], r"argument x must be mat, got vec\[complex128\] of size 1x1")):
            with self.assertRaisesRegex((TypeError, ValueError), why):
                f(np.array(x))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.assertEqual(q.same(np.int32([[2**30 + 1]]))[0, 0], 2**30)
        self.assertIn("the integer 1073741825 is rounded", str(told[0].message))

    @needs_numpy
    def test_numpy_numbers(self):
        self.compile("function y = plus(x)\n y = x+1\nend", "p")
        for t in (np.float32, np.float64, np.int64, np.uint8, np.float16):
            self.assertEqual(q.plus(t(2)), 3)
        self.assertEqual(q.plus(np.bool_(True)), 2)
        self.assertEqual(q.plus(np.array(4.0)), 5)


if __name__ == "__main__":
    unittest.main()
