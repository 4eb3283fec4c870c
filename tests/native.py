#!/usr/bin/env python3
"""Programs and libraries that were compiled before: qrun --make-exe, qrun --make-lib, import of them, bad input.

    tests/native.py [--qrun build/qrun] [-v] [Class.test ...]

What was made runs where LLVM is hidden (QUASAR_LLVM names a file that is not there), with an empty cache, and in a
folder that has nothing of the source tree."""
import os, random, re, shutil, subprocess, sys, tempfile, time, unittest

import parts
from terminal import CTRL_D, Terminal

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QRUN = os.path.join(ROOT, "build", "qrun")
HIDDEN = {"QUASAR_LLVM": "/nonexistent/libLLVM.so"}

FILTERS = """% Filters for tests.
import "helper.q"
import "imfilter.q"

function [] = __kernel__ twice_kernel(x : mat, y : mat, pos : ivec2)
    y[pos] = helped(x[pos])
end

% Twice as much of everything.
function y = twice(x : mat)
    y = uninit(size(x))
    parallel_do(size(x), x, y, twice_kernel)
end

function [total, largest] = extremes(x : mat)
    total = sum(x)
    largest = max(x)
end

function y = scaled(x : mat, k : scalar, times : int, negate : bool, unit : string)
    y = x*(k*times)
    if negate
        y = -y
    endif
    assert(unit == "mV", "the unit is mV, got %s", unit)
end

function y = smooth(x)
    y = gaussian_filter(x, 1)
end

function n = calls()
    counter[0] += 1
    n = counter[0]
end

counter = [0]
"""
HELPER = "helped = __device__ (a : scalar) -> 2*a\n"
PROGRAM = """import "filters.q"
x = reshape(0..11, 3, 4)
print twice(x)
print sum(smooth(ones(8,8)))
f = t -> sum(sin(t).*t)
print grad(f, [1.0,2.0])
try
    error("there")
catch e
    print e
end
"""


def run(command, folder, text=None, **env):
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **{k: str(v) for k, v in env.items()}})


# Programs of others that load a library of ours would have to load that of the sanitizers first.
ALONE = unittest.skipIf("LSAN_OPTIONS" in os.environ, "not under sanitizers")


class Made(unittest.TestCase):
    """In a folder with filters.q, helper.q and program.q; what is made is used in another one."""

    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp()
        cls.src, cls.use = os.path.join(cls.top, "src"), os.path.join(cls.top, "use")
        os.mkdir(cls.src), os.mkdir(cls.use)
        cls.env = {"QUASAR_CACHE_DIR": os.path.join(cls.top, "cache")}
        cls.bare = {**HIDDEN, "QUASAR_CACHE_DIR": os.path.join(cls.top, "empty")}
        for name, text in (("filters.q", FILTERS), ("helper.q", HELPER), ("program.q", PROGRAM)):
            cls.write(name, text)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.top)

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.src, name), "w") as f:
            f.write(text)

    @classmethod
    def make(cls, *options):
        r = run([QRUN, *options], cls.src, **cls.env)
        if r.returncode:
            raise AssertionError(r.stdout + r.stderr)
        return r

    def good(self, r, output):
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, output, ""))

    def refused(self, r, sentence):
        """One sentence of ours, and no crash."""
        self.assertEqual(r.returncode, 1, (r.returncode, r.stdout, r.stderr))
        self.assertRegex(r.stderr, sentence)

    def compiled(self, name, text, *command, libraries=("filters",)):
        with open(os.path.join(self.use, name), "w") as f:
            f.write(text)
        r = run([*command, name, "-o", "client", "-Wall", "-Wextra", "-Werror", "-I.", "-I" + HEADERS, "-L.",
                 *("-l" + l for l in libraries), "-L" + os.path.dirname(QRUN),
                 "-Wl,-rpath-link," + os.path.dirname(QRUN)], self.use)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        return run(["./client"], self.use, **self.bare)


class Executables(Made):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.exe = os.path.join(cls.use, "program")
        cls.made = cls.make("--make-exe", "program.q", "-o", cls.exe)
        cls.expected = run([QRUN, "program.q"], cls.src, **cls.env).stdout

    def test_an_option_with_a_blank(self):
        """A program keeps its options as words."""
        path = os.path.join(self.src, "two words.xml")
        with open(path, "w") as f: f.write('<devices><device kind="cpu"/></devices>')
        r = run([QRUN, "--device", path, "--make-exe", "program.q", "-o", "blank"], self.src)
        self.assertEqual(r.returncode, 1)
        self.assertIn("cannot keep the option device", r.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.src, "blank")))

    def test_it_runs_without_llvm_and_without_the_library(self):
        self.assertIn("there", self.expected)
        self.assertEqual(self.made.stdout, self.expected)
        self.assertRegex(self.made.stderr, r"program: \d+ pieces of code for x86-64-v2,x86-64-v3,x86-64-v4")
        self.good(run([self.exe], self.use, **self.bare), self.expected)
        self.assertFalse(os.path.isdir(os.path.join(self.top, "empty", "kernels"))
                         and os.listdir(os.path.join(self.top, "empty", "kernels")), "something was compiled")

    def test_without_its_code_it_cannot(self):
        """The test above hides LLVM."""
        bare = os.path.join(self.use, "bare")
        self.make("--make-exe", "program.q", "-o", bare, "--no-train")
        r = run([bare], self.use, **self.bare)
        self.refused(r, r"/bare has no code of this kernel .*it has code for x86-64-v2, x86-64-v3, x86-64-v4\).*"
                        r"QUASAR_LLVM")

    def test_arguments_are_those_of_the_program(self):
        self.write("args.q", "function [] = main(a, n : int)\n  printf(\"%s %d\", a, n+1)\nend\n")
        self.make("--make-exe", "args.q", "--no-train", "-o", "args")
        self.good(run([os.path.join(self.src, "args"), "--help", "4"], self.use, **self.bare), "--help 5\n")

    def test_settings_stay(self):
        self.write("wide.q", "x = ones(3)*(1/3)\nprintf(\"%.12f\", x[0])\n")
        self.make("--precision", "64", "--make-exe", "wide.q", "-o", "wide")
        self.good(run([os.path.join(self.src, "wide")], self.use, **self.bare), "0.333333333333\n")

    def test_errors_name_files_of_the_program(self):
        self.write("wrong.q", 'import "filters.q"\nprint scaled([[1,2],[3,4]], 1, 1, false, "V")\n')
        self.make("--make-exe", "wrong.q", "--no-train", "-o", "wrong")
        r = run([os.path.join(self.src, "wrong")], self.use, **self.bare)
        self.refused(r, r"^filters.q:\d+:\d+: error: the unit is mV, got V")
        self.assertIn("wrong.q:2", r.stderr)

    def test_derivatives_meet_the_code_that_was_made(self):
        """What is left to operators in a run decides which kernels the derivative has: it is the same in both runs."""
        self.write("descent.q", DESCENT + "p = descent(12, [0,0])\nprintf(\"%.6f %.6f\", p[0], p[1])\n")
        made = self.make("--make-exe", "descent.q", "-o", "descent", "--targets", "v2")
        self.good(run([os.path.join(self.src, "descent")], self.use, **self.bare), made.stdout)

    def test_programs_that_use_python(self):
        """Have the bridge inside: in a folder with nothing else, functions of the program are called by Python, errors
        pass through both, the package and what it loads later are there, in a forked process, too."""
        package = os.path.join(os.path.dirname(QRUN), "python", "pyquasar")
        if not os.path.isdir(package):
            self.skipTest("without Python")
        self.write("snake.q", SNAKE)
        with tempfile.TemporaryDirectory() as folder:
            exe = os.path.join(os.path.realpath(folder), "snake")
            self.make("--make-exe", "snake.q", "-o", exe)
            self.good(run(["./snake"], folder, **self.bare, PYTHONPATH=""), SNAKE_OUTPUT % exe)
            r = run(["./snake", "wrong"], folder, **self.bare, PYTHONPATH="")
            self.refused(r, r"^snake.q:23:5: error: ValueError: invalid"
                            r'(.|\n)*Traceback(.|\n)*  File "snake.q", line 5, in fail\n +py.int\("nothing"\)')
            self.assertEqual(os.listdir(folder), ["snake"])
        self.write("later.q", "if numel(args()) > 0\n  print pystr(\"a\").upper()\nend\n")
        self.make("--make-exe", "later.q", "-o", "later", "--targets", "v2")
        self.good(run([os.path.join(self.src, "later"), "1"], self.use, **self.bare), "A\n")

    @ALONE
    def test_processes_of_multiprocessing(self):
        """Spawned ones are the executable, with its code and the bridge; those of qrun open a machine like its own."""
        if not os.path.isdir(os.path.join(os.path.dirname(QRUN), "python", "pyquasar")):
            self.skipTest("without Python")
        self.write("pools.q", POOLS)
        made = self.make("--checked", "--make-exe", "pools.q", "-o", os.path.join(self.use, "pools"))
        self.assertEqual(made.stdout, "[2,4]1\n" + "".join("%s [3.0, 6.0][8,10]1\n" % way for way in ("fork", "spawn",
                                                                                                "forkserver")) + "1\n")
        self.assertIn("QuasarTypeError: *: not defined between scalar and string", made.stderr)
        self.assertRegex(made.stderr, r'File "\S*pools.q", line 3, in scaled\n')
        r = run(["./pools"], self.use, **self.bare, PYTHONPATH="")
        self.assertEqual((r.returncode, r.stdout), (0, made.stdout), r.stderr)
        self.assertRegex(r.stderr, r'File "pools.q", line 3, in scaled\n')
        r = run(["./pools", "-c", "from somewhere"], self.use, **self.bare, PYTHONPATH="")
        self.assertEqual((r.returncode, r.stdout), (0, "-c from somewhere\n"), r.stderr)

    def test_the_bridge_is_unpacked_once(self):
        """Whatever asks for Python, and where there is none."""
        if not os.path.isdir(os.path.join(os.path.dirname(QRUN), "python", "pyquasar")):
            self.skipTest("without Python")
        self.write("often.q", OFTEN)
        self.make("--make-exe", "often.q", "-o", "often", "--no-train", "--targets", "v2")
        often = os.path.join(self.src, "often")
        r = run([often, "config"], self.use, **self.bare)
        self.assertEqual((r.returncode, r.stdout.splitlines()[-1]), (0, "more files:0"), r.stderr)
        self.good(run([often], self.use, **{**self.bare, "QUASAR_PYTHON": "/nonexistent"}), "more files:0\n")

    def test_only_programs_that_use_python_have_the_bridge_inside(self):
        """By the names that they use, not by what else they say: where there is no bridge, only these are warned of."""
        package = os.path.join(os.path.dirname(QRUN), "python", "pyquasar")
        if not os.path.isdir(package):
            self.skipTest("without Python")
        for uses, text in ((False, "% pyimport(1), then x.to_py()\n"),
                           (False, "function y = copyint(x)\n y = x\nend\nprint copyint(1)\n"),
                           (False, "function y = f(pyint)\n y = pyint\nend\nprint f(1)\n"),
                           (False, "function y = pystr(x)\n y = x\nend\nprint pystr(1)\n"),
                           (False, "print \"pyconfig()\"\n"),
                           (False, "o = object()\no.to_py = 1\nprint o.to_py\n"),
                           (True, "function [] = f(x)\n print pystr(x)\nend\n"),
                           (True, "function [] = f(x)\n g = () -> x.to_py()\n print g()\nend\n"),
                           (True, "f = pyint\n"),
                           (True, "function y = f(x = pyint(1))\n y = x\nend\n"),
                           (True, "reduction x -> opened(x) = pyimport(x)\n"),
                           (True, "function y = pyfloat(x : vec)\n y = x\nend\nif numel(args()) > 0\n"
                                  " print pyfloat(\"1\")\nend\n")):
            with self.subTest(text):
                self.write("says.q", text)
                self.make("--make-exe", "says.q", "-o", "says", "--no-train", "--targets", "v2")
                with open(os.path.join(self.src, "says"), "rb") as f:
                    self.assertEqual(b"+python/pyquasar/__init__.py" in f.read(), uses)

    def test_every_level_gives_the_same(self):
        for level in ("x86-64-v2", "v3", "v4", "native"):
            exe = os.path.join(self.use, "level")
            self.make("--make-exe", "program.q", "-o", exe, "--targets", level)
            r = run([exe], self.use, **self.bare)
            if r.returncode and "has no code" in r.stderr and level == "v4":
                continue  # this processor is no v4
            self.good(r, self.expected)

    def test_bad_options(self):
        for options, sentence in ((["--make-exe", "program.q", "--targets", "v9"], "--targets must be a list of"),
                                  (["--make-exe", "program.q", "--targets", ""], "--targets must be a list of"),
                                  (["--make-exe", "program.q", "-o"], "-o needs")):
            r = run([QRUN, *options], self.src, **self.env)
            self.assertEqual(r.returncode, 2, r.stderr)
            self.assertIn(sentence, r.stderr)
        self.refused(run([QRUN, "--make-exe", "nothing.q"], self.src, **self.env), "cannot read nothing.q")
        self.refused(run([QRUN, "--make-exe", "program.q", "-o", "missing/p"], self.src, **self.env),
                     "missing/p cannot be written: No such file")
        r = run([QRUN, "--make-exe", "program.q", "-o", self.use], self.src, **self.env)
        self.refused(r, "cannot be written: it is a folder")
        self.assertEqual(r.stdout, "")  # nothing ran

    @ALONE
    def test_it_starts_at_once(self):
        """Far less than it takes to compile; docs/benchmarks.md has the number."""
        best = 9
        for _ in range(10):
            start = time.perf_counter()
            run([self.exe], self.use, **self.bare)
            best = min(best, time.perf_counter() - start)
        self.assertLess(best, 0.25)


POOLS = """mp = pyimport("multiprocessing")
function y = scaled(x)
    y = 3*x
end
function [] = __kernel__ twice_kernel(x : vec, y : vec, pos : int)
    y[pos] = 2*x[pos]
end
function y = twice(x)
    y = uninit(size(x))
    parallel_do(numel(x), x, y, twice_kernel)
end
function [] = __kernel__ outside_kernel(x : vec, pos : int)
    x[pos + 9] = 1
end
function y = outside(x)
    y = 0
    try
        parallel_do(numel(x), x, outside_kernel)
    catch e
        y = 1
    end
end
function [] = main(...words)
    py = pyimport("builtins")
    if numel(words) > 0
        print words[0], " ", words[1]
        return
    end
    print twice([1,2]), outside([1,2])
    for way = {"fork", "spawn", "forkserver"}
        pool = mp.get_context(way).Pool(pyint(1))
        doubled = pool.apply(twice, py.tuple({[4,5]}))
        print way, " ", pool.map(scaled, py.list({1,2})), doubled, pool.apply(outside, py.tuple({[4,5]}))
        pool.close()
        pool.join()
    end
    p = mp.get_context("spawn").Process(target:=scaled, args:=py.tuple({"a"}))
    p.start()
    p.join()
    print p.exitcode
end
"""
OFTEN = """function [] = ask(how)
    try
        if how > 0
            pyconfig()
        else
            pyimport("os")
        end
    catch e
    end
end
ask(numel(args()))
n = numel(listdir("/proc/self/fd"))
for i = 1..5
    ask(numel(args()))
end
print "more files:", numel(listdir("/proc/self/fd")) - n
"""
SNAKE = """py = pyimport("builtins")
os = pyimport("os")
function [] = fail(x)
    if x == 0
        py.int("nothing")
    end
end
print py.sorted(py.list({3,1,2}), key:=x -> -x), from_py(py.list({1,2}))*2
q = pyimport("pyquasar")
print q.max([1,5]), pyimport("pyquasar._operator").__name__
print from_py(q.__file__)
child = os.fork()
if child == 0
    os._exit(py.len(pyimport("pyquasar._grad").__name__))
end
print os.waitstatus_to_exitcode(os.waitpid(child, pyint(0))[1])
try
    fail(0)
catch e
    print py.isinstance(e, py.ValueError)
end
if numel(args()) > 0
    py.list(py.map(fail, py.list({0})))
end
"""
SNAKE_OUTPUT = "[3, 2, 1][2,4]\n5pyquasar._operator\n%s/pyquasar/__init__.py\n14\n1\n"
DESCENT = """function p = descent(turns : int, start : vec)
    [xs, ys] = meshgrid(float64(0..127), float64(0..127))
    image = sin(xs/9) + cos(ys/7)
    p = float64(start) + 0
    for turn = 1..turns
        p -= grad(q -> mean((interp2(image, xs + q[0], ys + q[1], "linear", "clamp") - 0.5).^2), p)
    end
end
"""
TRAIN = """import "filters.q"
x = ones(8,8)
print sum(twice(x))
y = smooth(x)
[a,b] = extremes(x)
y = scaled(x, 1, 2, true, "mV")
"""
HEADERS = os.path.join(ROOT, "vm")


class Libraries(Made):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.write("train.q", TRAIN)
        cls.write("other/filters.q", "function y = twice(x)\n  y = 20*x\nend\nfunction y = third(x : vec)\n"
                                     "  y = x/3\nend\nfunction [] = clear(x)\n  x[0] = 0\nend\n")
        cls.made = cls.make("--make-lib", "filters.q", "-o", os.path.join(cls.use, "libfilters.so"), "--train",
                            "train.q")
        cls.make("--make-lib", "other/filters.q", "-o", os.path.join(cls.use, "libmore.so"))
        cls.bare = {**cls.bare, "LD_LIBRARY_PATH": os.path.abspath(os.path.dirname(QRUN)) + ":" + cls.use}

    @classmethod
    def write(cls, name, text):
        os.makedirs(os.path.dirname(os.path.join(cls.src, name)), exist_ok=True)
        super().write(name, text)

    def script(self, text, **env):
        with open(os.path.join(self.use, "script.q"), "w") as f:
            f.write(text)
        return run([QRUN, "script.q"], self.use, **{**self.bare, **env})

    def test_what_is_made(self):
        self.assertEqual(self.made.stdout, "128\n")
        self.assertEqual({"libfilters.so", "filters.h", "filters.hpp", "filters.py", "filters.pyi"},
                         {f for f in os.listdir(self.use) if "filters" in f})
        with open(os.path.join(self.use, "filters.h")) as f:
            header = f.read()
        for line in ("/* Twice as much of everything. */",
                     "qs_status filters_twice(const qs_view *x, qs_view *y);",
                     "qs_status filters_extremes(const qs_view *x, qs_view *total, qs_view *largest);",
                     "qs_status filters_scaled(const qs_view *x, double k, int64_t times, bool negate, "
                     "const char *unit, qs_view *y);"):
            self.assertIn(line + "\n", header)
        self.assertNotIn("twice_kernel", header)

    def odd(self):
        self.write("odd.q", ODD)
        return self.make("--make-lib", "odd.q", "-o", os.path.join(self.use, "libodd.so"), "--targets", "v2")

    def test_what_does_not_fit_a_header(self):
        """The error is reported, with the reason."""
        made = self.odd()
        with open(os.path.join(self.use, "odd.h")) as f:
            header = f.read()
        hidden = {"apply": "its argument f is of type [?? -> ??]", "of_cell": "its argument c is of type vec[mat]",
                  "many": "its argument args is any number of arguments",
                  "twofold": "C sees another function of this name, whose arguments are others"}
        for name, why in hidden.items():
            self.assertIn(" *   %s: %s\n" % (name, why), header)
            self.assertRegex(made.stderr, r"odd.q:\d+:\d+: warning: %s is not in odd.h: %s" % (name, re.escape(why)))
        self.assertEqual(made.stderr.count("warning"), len(hidden))
        self.assertRegex(header, r'(?s) \* A program .*qs_load of the text import "libodd.so" makes them functions')
        for unwanted in ("odd_kernel", "_own", "main"):
            self.assertNotIn(unwanted, header)
        with open(os.path.join(self.use, "odd.pyi")) as f:
            stub = f.read()
        self.assertIn("def float_(int_: _b.int) -> _t.Any: ...\n", stub)
        self.assertEqual(stub.count("def twofold("), 1)
        compile(stub, "odd.pyi", "exec")

    @ALONE
    def test_what_does_not_fit_a_header_is_called_with_values(self):
        """Beside the functions of the header: cells, functions of C and of scripts, any number of arguments."""
        self.odd()
        built = self.compiled("values.c", C_VALUES, "cc", libraries=("odd", "quasar"))
        self.good(built, "cell 2, apply 49 9, many 3, 9\n")

    @ALONE
    def test_names_that_others_have_for_themselves(self):
        """They end in _, in all languages."""
        self.odd()
        self.good(self.compiled("odd.c", C_ODD, "cc", libraries=("odd",)), "321 6 9 12 4 25 1 2 of lambda\n")
        self.good(self.compiled("odd.cpp", CPP_ODD, "c++", "-std=c++17", libraries=("odd", "quasar")), "321 25\n")
        text = ("import pyquasar as q\nq.init('cpu')\nimport odd\n"
                "print(odd.double_(1, 2, 3), odd.many(1, 2, 3), odd.twofold('x'), 'lambda_' in dir(odd))\n")
        r = self.python(text)
        self.assertRegex(r.stdout, r"^321(.0)? 3(.0)? 3(.0)? True\n$", r.stderr)

    def test_names_of_the_library_and_of_the_program(self):
        """A file of the program in a folder called as that of the library in a bundle."""
        self.write("names/stdlib/imfilter.q", "function y = mine()\n  y = 7\nend\n")
        self.write("names/+1/x.q", "function y = other()\n  y = 8\nend\n")
        self.write("names/both.q", 'import "stdlib/imfilter.q"\nimport "imfilter.q"\nimport "+1/x.q"\n'
                   "print mine()+other()+round(sum(gaussian_filter(ones(8,8), 1)))\n")
        self.make("--make-exe", "names/both.q", "-o", "both", "--targets", "v2")
        self.good(run([os.path.join(self.src, "both")], self.use, **self.bare), "79\n")

    def test_library_functions_without_import(self):
        self.write("names/hamming.q", "print round(100*hamming(3)), gcd(4,6), numel(stft(ones(1,64), 16))\n"
                   "x = [1,2,3,10]\nprint round(100*x.skewness())\n")
        self.make("--make-exe", "names/hamming.q", "-o", "windows", "--targets", "v2")
        r = run([QRUN, "names/hamming.q"], self.src, **self.env)
        self.good(run([os.path.join(self.src, "windows")], self.use, **self.bare), r.stdout)
        self.assertRegex(r.stdout, r"^\[8,100,8\]2")

    @ALONE
    def test_import_of_what_was_made_again(self):
        """In one session of Python, where it is damaged for a while, too."""
        again = os.path.join(self.src, "again")

        def make(n):
            self.write("again/again.q", 'import "part.q"\nfunction y = which()\n  y = part(%d)\nend\n' % n)
            self.write("again/part.q", "function y = part(x)\n  y = %d*x\nend\n" % (10*n))
        for n in (1, 2):
            make(n)
            r = run([QRUN, "--make-lib", "again.q", "--targets", "v2"], again, **self.env)
            self.assertEqual(r.returncode, 0, r.stderr)
        session = ("import os, subprocess, sys, pyquasar as q\nq.init('cpu')\n"
                   "m = q.import_native('again')\nprint(int(m.which()), int(q.which()))\n"
                   "for text, made in ((3, True), (None, False), (4, True)):\n"
                   "    if text:\n"
                   "        open('again.q', 'w').write('function y = which()\\n  y = %d\\nend\\n' % text)\n"
                   "        subprocess.run([sys.argv[1], '--make-lib', 'again.q', '--targets', 'v2'], check=True,\n"
                   "                       stderr=subprocess.DEVNULL)\n"
                   "    else:\n        open('libagain.so', 'r+b').truncate(5000)\n"
                   "    try:\n        n = q.import_native('again')\n        print(int(n.which()), int(q.which()))\n"
                   "    except Exception as e:\n        print(e, int(q.which()))\n")
        r = self.python(session, QRUN, folder=again)
        self.assertRegex(r.stdout, r"^40 40\n3 3\n\S+libagain.so (is damaged|holds no compiled).* 3\n4 4\n$", r.stderr)

    def test_reload_at_the_prompt(self):
        file = os.path.join(self.use, "libprompt.so")
        for n in (1, 2):
            self.write("prompt.q", "function y = which()\n  y = %d\nend\n" % (40 + n))
            self.make("--make-lib", "prompt.q", "-o", file, "--targets", "v2")
            if n == 1:
                t = Terminal(QRUN, self.top, 60)
                t.type('import "%s"\n' % file, "> ")
                t.type("which()\n", "41\r\n> ")
        t.type("reload\n", "prompt.q is loaded again\r\n> ")
        t.type("which()\n", "42\r\n> ")
        t.end(CTRL_D, 0)

    def python(self, text, *arguments, folder=None):
        package = os.path.join(os.path.dirname(QRUN), "python")
        if not os.path.isdir(os.path.join(package, "pyquasar")):
            self.skipTest("without Python")
        return run([sys.executable, "-c", text, *arguments], folder or self.use, **self.bare, PYTHONPATH=package)

    def test_import(self):
        for how in ('import "filters.${NATIVEEXT}"', 'import_native("filters")', 'import "libfilters.so"',
                    'import "filters.${BITNESS}.${NATIVEEXT}"', 'import_native("filters.${BITNESS}.${NATIVEEXT}")',
                    'import_native("./libfilters.so")', 'import_native("%s/libfilters.so")' % self.use):
            self.good(self.script(how + "\nprint twice(ones(2,2))\nprint sum(smooth(ones(8,8))) > 60\n"),
                      "[[2,2],\n [2,2]]\n1\n")

    def test_import_once(self):
        """However it is called it is one module, whose top level runs once."""
        self.good(self.script('import "filters.so"\nprint calls()\nimport "libfilters.so"\nprint calls()\n'),
                  "1\n2\n")

    def test_two_libraries_with_files_of_one_name(self):
        self.good(self.script('import "filters.so"\nimport "more.so"\nprint scaled([[1]],2,3,false,"mV")\n'
                              'print third([3,6])\n'),
                  "[6]\n[1,2]\n")

    def test_what_cannot_be_imported(self):
        self.refused(self.script('import "nothing.so"\n'), r"^script.q:1:1: error: library nothing.so is not here")
        self.refused(self.script('name = "filters"\nimport_native(name)\n'), "name of a library in double quotes")
        self.refused(self.script('function f()\n  import_native("filters")\nend\n'), "belongs at the top level")
        with open(os.path.join(self.use, "libtext.so"), "w") as f:
            f.write("text")
        self.refused(self.script('import "text.so"\n'), "libtext.so holds no compiled program")

    def test_errors_say_where(self):
        r = self.script('import "filters.so"\nx = scaled(ones(2,2), 1, 1, false, "V")\n')
        self.refused(r, r"libfilters.so/filters.q:25:5: error: the unit is mV, got V")
        self.assertIn("script.q:2", r.stderr)

    def test_an_executable_that_uses_a_library(self):
        exe = os.path.join(self.top, "with_library")
        with open(os.path.join(self.use, "main.q"), "w") as f:
            f.write('import "filters.so"\nprint twice(ones(1,2))\n')
        r = run([QRUN, "--make-exe", "main.q", "-o", exe], self.use, **self.env)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.good(run([exe], self.top, **self.bare), "[2,2]\n")

    @ALONE
    def test_from_c(self):
        """Every kind of argument and result, errors, more arguments than registers; linked with -lfilters alone."""
        self.good(self.compiled("client.c", C_CLIENT, "cc", libraries=("filters", "more")), C_OUTPUT)

    @ALONE
    def test_from_c_with_python_inside(self):
        if not os.path.isdir(os.path.join(os.path.dirname(QRUN), "python", "pyquasar")):
            self.skipTest("without Python")
        self.write("snake.q", 'py = pyimport("builtins")\nfunction y = total(x)\n  y = py.sum(x.to_py())\nend\n'
                              "function y = module()\n  y = py\nend\n")
        self.make("--make-lib", "snake.q", "-o", os.path.join(self.use, "libsnake.so"), "--targets", "v2")
        self.good(self.compiled("snake.c", C_SNAKE, "cc", libraries=("snake",)), "6 1 1\n")

    @ALONE
    def test_derivatives_from_c(self):
        self.write("descent.q", DESCENT)
        self.write("use_descent.q", 'import "descent.q"\nx = descent(12, [0,0])\n')
        self.make("--make-lib", "descent.q", "-o", os.path.join(self.use, "libdescent.so"), "--targets", "v2",
                  "--train", "use_descent.q")
        self.good(self.compiled("descent.c", C_DESCENT, "cc", libraries=("descent",)), "0.07379 0.12906\n")

    @ALONE
    def test_from_c_under_sanitizers(self):
        """Types of the program: the library does not know them."""
        self.good(self.compiled("checked.c", C_CLIENT, "cc", "-fsanitize=address,undefined",
                                libraries=("filters", "more")), C_OUTPUT)

    @ALONE
    def test_closed_and_opened_again(self):
        """What it gave is good when it is closed, for it stays in the process; and so is what it counts."""
        self.good(self.compiled("closed.c", C_CLOSED, "cc", libraries=()), "42 1\n42 2\n")

    @ALONE
    def test_from_threads(self):
        self.good(self.compiled("threads.c", C_THREADS, "cc", "-pthread"), "400\n")

    @ALONE
    def test_from_cpp(self):
        self.good(self.compiled("client.cpp", CPP_CLIENT, "c++", "-std=c++17", libraries=("filters", "quasar")),
                  "12 42 12\nlibfilters.so/filters.q:25:5: error: the unit is mV, got kV\n")

    @ALONE
    def test_from_python(self):
        package = os.path.join(os.path.dirname(QRUN), "python")
        if not os.path.isdir(os.path.join(package, "pyquasar")):
            self.skipTest("without Python")
        text = ("import pyquasar as q, numpy as np\nq.init('cpu')\nimport filters\n"
                "print(filters.twice(np.ones((1, 2), np.float32)).to_py().tolist())\n"
                "lib, more = q.import_native('filters'), q.import_native('%s/libmore.so')\n"
                "print(lib.calls(), filters.calls(), q.calls(), more.twice(2), 'scaled' in dir(lib))\n"
                "try:\n    q.import_native('nothing')\nexcept Exception as e:\n    print(e)\n" % self.use)
        r = run([sys.executable, "-c", text], self.use, **self.bare, PYTHONPATH=package)
        if "No module named 'numpy'" in r.stderr:
            self.skipTest("without NumPy")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout, r"^\[\[2.0, 2.0\]\]\n1(.0)? 2(.0)? 3(.0)? 40(.0)? True\n"
                                   r"library nothing.so is not here")

    def test_names_of_libraries(self):
        for name in ("filters.so.1", "lib1.so", "lib-x.so", "x.dll", "x", ".so", ""):
            self.refused(run([QRUN, "--make-lib", "filters.q", "-o", name], self.src, **self.env), "is called like")


    def test_files_that_are_there(self):
        """Neither a program nor a file that somebody wrote is lost."""
        self.write("mine.q", "function y = one()\n  y = 1\nend\n")
        self.write("mine.py", "x = 1\n")
        self.refused(run([QRUN, "--make-lib", "mine.q"], self.src, **self.env), "was not made by qrun")
        self.refused(run([QRUN, "--make-exe", "mine.q", "-o", "mine.q"], self.src, **self.env), "the program itself")
        with open(os.path.join(self.src, "mine.py")) as f: self.assertEqual(f.read(), "x = 1\n")
        os.remove(os.path.join(self.src, "mine.py"))
        for _ in range(2): self.make("--make-lib", "mine.q", "--targets", "v2")


# Two libraries whose functions and kernels have the same names; the second one uses Python.
TWIN = """%s
function [] = __kernel__ shift_kernel(x : mat, y : mat, k : scalar, pos : ivec2)
    y[pos] = k*x[pos] + own
end
own = %d
function y = shift(x : mat, k : scalar)
    y = uninit(size(x))
    parallel_do(size(x), x, y, k, shift_kernel)
end
function y = name()
    y = "%s"
end
function y = full_name(x)
    y = strcat(name(), x)
end
function y : scalar = total(k : scalar)
    y = sum(shift(ones(2,2), k))%s
end
function y : scalar = fail(x : scalar)
    y = %s
end
"""
# What a script calls them when it needs both.
WRAPPER = """import_native("%s")
function y = %s_shift(x, k)
    y = shift(x, k)
end
%s_name = x -> full_name(x)
%s_fail = x -> fail(x)
"""
TWINS = """import "use_left.q"
import "use_right.q"
x = [[1,2]]
print left_shift(x, 2), right_shift(x, 2), left_shift(x, 3)
print left_name(" one"), right_name(" two")
for fail = {left_fail, right_fail}
    try
        fail(3)
    catch e
        print e
    end
end
left_fail(4)
"""
# Called as C calls them, by Python.
CALLER = """import ctypes, sys, threading
def open_library(name, kind=ctypes.CDLL):
    library = kind("./lib%s.so" % name)
    def call(function, k):
        f, y, error = getattr(library, name + "_" + function), ctypes.c_double(), getattr(library, name + "_error")
        f.argtypes, error.restype = [ctypes.c_double, ctypes.POINTER(ctypes.c_double)], ctypes.c_char_p
        return y.value if f(k, y) == 0 else error().decode().splitlines()[0]
    return call
def both():
    left, right = open_library("left"), open_library("right")
    for call in left, right:
        print(call("total", 2), call("fail", 3), call("total", 3), flush=True)
def from_threads():
    wrong = []
    def work(left, right):
        wrong.extend(k for k in range(100) if left("total", k) != 4*k + 4 or right("total", k) != 4*k - 3)
    libraries = [(open_library("left", kind), open_library("right", kind)) for kind in (ctypes.CDLL, ctypes.PyDLL)]
    threads = [threading.Thread(target=work, args=l) for l in 2*libraries]
    for t in threads: t.start()
    for t in threads: t.join()
    print(len(wrong), "wrong")
if __name__ == "__main__":
    if "pyquasar" in sys.argv:
        import pyquasar as q
        q.init("cpu")
    both()
    from_threads()
    if "pyquasar" in sys.argv:
        print(q.sum([1, 2]), q.import_native("left").total(2))
"""
FROM_C = ("12.0 libleft.so/left.q:20:9: error: left fails 3 16.0\n"
          "5.0 libright.so/right.q:20:9: error: ValueError: invalid literal for int() with base 10: 'right' 9.0\n")
C_TWIN_THREADS = r"""
#include "right.h"
#include <pthread.h>
#include <stdio.h>

static void *work(void *wrong) {
    for (int i = 0; i < 50; i++) {
        double y;
        if (right_total(i, &y)) fputs(right_error(), stderr);
        if (y != 4*i - 3) __atomic_add_fetch((int *)wrong, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int wrong = 0;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, &wrong);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    work(&wrong);
    return printf("%d wrong\n", wrong), 0;
}
"""
C_MACHINES = r"""
#include <quasar.h>
#include <stdio.h>

static int root(qs_vm *vm) {
    qs_value v;
    if (qs_eval(vm, "pyimport(\"math\").sqrt(16)", &v)) return fputs(qs_error_report(vm), stderr), 0;
    return qs_release(vm, v), 1;
}

static int ends(qs_vm *first, qs_vm *other) {
    int good = root(first) + root(other);
    qs_close(first);
    good += root(other);
    return qs_close(other), good;
}

int main(void) {
    qs_vm *a, *b, *c, *d;
    if (qs_open(NULL, &a) || qs_open(NULL, &b) || qs_open(NULL, &c) || qs_open(NULL, &d)) return 1;
    printf("%d ", root(a));            /* it has started Python, */
    printf("%d ", ends(b, c));         /* others come and go, */
    printf("%d\n", ends(a, d));     /* and one of them goes on when it ends */
    return 0;
}
"""


@unittest.skipUnless(os.path.isdir(os.path.join(os.path.dirname(QRUN), "python", "pyquasar")), "without Python")
class TwoLibraries(Made):
    """In one process, from scripts, Python and C at once: each calls its own functions and kernels."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        twins = {"left": ("% no Python", 1, "left", "", 'assert(false, "left fails %d", x)'),
                 "right": ('py = pyimport("builtins")', -1, "right", " + py.len(py.list({1}))", "py.int(name())")}
        for name, parts in twins.items():
            cls.write(name + ".q", TWIN % parts)
            cls.make("--make-lib", name + ".q", "-o", os.path.join(cls.use, "lib%s.so" % name), "--targets", "v2")
            with open(os.path.join(cls.use, "use_%s.q" % name), "w") as f:
                f.write(WRAPPER % (4*(name,)))
        for name, text in (("twins.q", TWINS), ("caller.py", CALLER),
                           ("calls.q", 'pyimport("caller").both()\nimport_native("left")\nprint total(4)\n'
                                       'pyimport("caller").both()\nprint full_name("?")\n')):
            with open(os.path.join(cls.use, name), "w") as f:
                f.write(text)
        build = os.path.abspath(os.path.dirname(QRUN))
        cls.bare = {**cls.bare, "LD_LIBRARY_PATH": build + ":" + cls.use, "PYTHONPATH": os.path.join(build, "python")}

    def test_in_a_script(self):
        for device in ("cpu", "ref"):
            r = run([QRUN, "--device", device, "twins.q"], self.use, **self.bare)
            self.assertEqual(r.stdout, "[3,5][1,3][4,7]\nleft oneright two\nleft fails 3\n"
                                       "ValueError: invalid literal for int() with base 10: 'right'\n", r.stderr)
            self.refused(r, r"^libleft.so/left.q:20:9: error: left fails 4(.|\n)*in left_fail, use_left.q:6\n"
                            r"  in main program, twins.q:13\n$")

    @ALONE
    def test_as_c_calls_them(self):
        """Beside a script that runs, and that has imported one of them, too; in a Python that knows nothing of us."""
        self.good(run([QRUN, "calls.q"], self.use, **self.bare), FROM_C + "20\n" + FROM_C + "left?\n")
        self.good(run([sys.executable, "caller.py"], self.use, **self.bare), FROM_C + "0 wrong\n")
        self.good(run([sys.executable, "caller.py", "pyquasar"], self.use, **self.bare),
                  FROM_C + "0 wrong\n3.0 12.0\n")

    @ALONE
    def test_threads_of_c(self):
        """Python is opened by one of them, which ends, and each call has its lock."""
        self.good(self.compiled("threads.c", C_TWIN_THREADS, "cc", "-pthread", libraries=("right",)), "0 wrong\n")

    @ALONE
    def test_machines_that_share_python(self):
        self.good(self.compiled("machines.c", C_MACHINES, "cc", libraries=("quasar",)), "1 3 3\n")


class Damage(Made):
    """A file that was cut, changed, or made elsewhere is a sentence, never a crash."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.write("small.q", "function y = one()\n  y = 1\nend\n"
                             "function [] = __kernel__ k(x : vec, pos : int)\n  x[pos] = 1\nend\n")
        cls.write("use.q", 'import "small.so"\nprint one()\n')
        cls.write("hello.q", 'print "hello"\n')
        cls.make("--make-lib", "small.q", "--targets", "v2", "-o", "libsmall.so")
        cls.make("--make-exe", "hello.q", "--targets", "v2", "-o", "hello")
        cls.lib, cls.exe = os.path.join(cls.src, "libsmall.so"), os.path.join(cls.src, "hello")
        with open(cls.lib, "rb") as f:
            cls.whole = f.read()
        cls.random = random.Random(1)

    def attempt(self, data, what, fine=False):
        """One program for many: `qrun use.q` for what is in the file now."""
        with open(self.lib, "wb") as f:
            f.write(data)
        r = run([QRUN, "use.q"], self.src, **self.bare)
        if fine and (r.returncode, r.stdout) == (0, "1\n"):
            return
        self.assertEqual(r.returncode, 1, (what, r.returncode, r.stdout, r.stderr))
        self.assertRegex(r.stderr, r"libsmall.so (is damaged|holds no compiled|was made)", what)

    def start(self):
        """Where the bundle begins in the file."""
        return len(self.whole) - 16 - int.from_bytes(self.whole[-8:], "little")

    def test_every_way_to_cut_it(self):
        """In one process: what opens it in C is given every length (tests/unit/bundle.c); here some of them."""
        for n in sorted({0, 1, 15, 16, self.start(), len(self.whole) - 1, len(self.whole) - 16} |
                        {self.random.randrange(len(self.whole)) for _ in range(30)}):
            self.attempt(self.whole[:n], "cut at %d" % n)

    def test_changed_bits(self):
        for _ in range(60):
            at = self.random.randrange(self.start(), len(self.whole))
            data = bytearray(self.whole)
            data[at] ^= 1 << self.random.randrange(8)
            self.attempt(bytes(data), "changed at %d" % at)
        at = self.start() - 1  # before the bundle: nothing of it is read by import
        self.attempt(self.whole[:at] + b"x" + self.whole[at + 1:], "before the bundle", fine=True)

    def test_other_makers(self):
        own = subprocess.check_output([QRUN, "--version"], text=True).split()[1]
        word, changed = own.encode() + b"\0", b"9" + own.encode()[1:] + b"\0"
        version = self.whole.rindex(word)
        other = self.whole[:version] + changed + self.whole[version + len(word):]
        self.attempt(other, "version")
        self.assertIn("made by Quasar 9%s, this is %s" % (own[1:], own),
                      run([QRUN, "use.q"], self.src, **self.bare).stderr)
        machine = self.whole.rindex(b"x86_64\0") if b"x86_64\0" in self.whole else self.skipTest("not x86-64")
        self.attempt(self.whole[:machine] + b"risc64\0" + self.whole[machine + 7:], "machine")
        self.assertRegex(run([QRUN, "use.q"], self.src, **self.bare).stderr, r"for another processor: risc64, this is")
        for at, word in ((machine, b"x86\xff64\0"), (version, b"\0" + own.encode())):  # not in messages
            self.attempt(self.whole[:at] + word + self.whole[at + len(word):], "no word")
            self.assertRegex(run([QRUN, "use.q"], self.src, **self.bare).stderr, "is damaged: its head is not one")
        build = self.start() + 8  # the number of the format
        self.attempt(self.whole[:build] + b"\1" + self.whole[build + 1:], "format")
        self.assertIn("made by another build of Quasar " + own, run([QRUN, "use.q"], self.src, **self.bare).stderr)

    def test_executables(self):
        with open(self.exe, "rb") as f:
            whole = f.read()
        size = int.from_bytes(whole[-8:], "little") + 16
        cut = os.path.join(self.src, "cut")
        for n in [len(whole) - 1, len(whole) - 16, len(whole) - size] + \
                [len(whole) - self.random.randrange(1, size) for _ in range(10)]:
            with open(cut, "wb") as f:
                f.write(whole[:n])
            os.chmod(cut, 0o755)
            self.refused(run([cut], self.src, **self.bare), r"/cut (is damaged|holds no compiled program)")
        data = bytearray(whole)
        data[-size // 2] ^= 4
        with open(cut, "wb") as f:
            f.write(data)
        self.refused(run([cut], self.src, **self.bare), r"/cut is damaged: its bytes are not those that were written")


class Devices(Made):
    """Libraries and programs on other devices than the processor, with LLVM hidden and an empty cache."""

    def on(self, device, targets, **env):
        self.write("use.q", 'import "filters.so"\nprint twice([[1,2]])\n')
        self.make("--make-lib", "filters.q", "--targets", targets)
        return run([QRUN, "--device", device, "use.q"], self.src, **self.bare, **env)

    def test_ptx(self):
        """By the driver of tests/support; what has no PTX inside cannot run there."""
        driver = os.path.join(os.path.dirname(QRUN), "libptx_driver.so")
        if not os.path.exists(driver):
            self.skipTest("without the driver that executes PTX")
        self.good(self.on("cuda", "v2,ptx:sm_80", QUASAR_CUDA=driver), "[2,4]\n")
        r = self.on("cuda", "v2", QUASAR_CUDA=driver)
        self.refused(r, "has no code of this kernel .*it has code for x86-64-v2")

    def test_opencl(self):
        if run([QRUN, "--has", "opencl"], self.src).returncode:
            self.skipTest("without OpenCL")
        self.good(self.on("opencl", "opencl"), "[2,4]\n")
        self.write("own.q", 'import "filters.q"\nprint twice([[1,2]])\n')
        made = self.make("--device", "opencl", "--make-exe", "own.q", "-o", "own", "--targets", "opencl")
        self.assertRegex(made.stderr, r"own: [1-9]\d* pieces of code for opencl")
        fresh = os.path.join(self.top, "fresh")
        bare = {**self.bare, "QUASAR_CACHE_DIR": fresh}
        self.good(run([os.path.join(self.src, "own")], self.use, **bare), "[2,4]\n")
        self.assertEqual(os.listdir(os.path.join(fresh, "kernels")), [], "the driver compiled")


class Page(unittest.TestCase):
    @ALONE
    def test_it_can_be_followed(self):
        """Files have the name in their first line; commands run beside them; an output is of what stands before it."""
        build = os.path.dirname(QRUN)
        with open(os.path.join(ROOT, "docs", "native.md"), encoding="utf-8") as f:
            found = re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", f.read(), re.S | re.M)
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, "installed")
            subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
            work = os.path.join(folder, "work")
            os.mkdir(work)
            lib = os.path.join(prefix, "lib")
            env = {"PATH": os.path.join(prefix, "bin") + ":" + os.environ["PATH"], "LC_ALL": "C",
                   "PKG_CONFIG_PATH": os.path.join(lib, "pkgconfig"), "LD_LIBRARY_PATH": lib + ":" + work,
                   "QUASAR_CACHE_DIR": os.path.join(folder, "cache")}
            ran = 0
            for i, (kind, text) in enumerate(found):
                name = re.match(r"(?:/\*|//|%|#) (\S+\.\w+)", text)
                if kind in ("c", "quasar", "python") and name:
                    with open(os.path.join(work, name[1]), "w", encoding="utf-8") as f:
                        f.write(text)
                if kind == "sh":
                    r = run(["sh", "-ec", text], work, **env)
                    self.assertEqual((r.returncode, r.stdout), (0, found[i + 1][1]), text + r.stderr)
                    env.update(HIDDEN if "--make-lib" in text else {})
                    ran += 1
            self.assertEqual(ran, 4)
            package = os.path.join(build, "python")
            if os.path.isdir(os.path.join(package, "pyquasar")):
                r = run([sys.executable, "use.py"], work, **env, PYTHONPATH=package)
                if "No module named 'numpy'" not in r.stderr:
                    self.assertEqual((r.returncode, r.stdout), (0,
                                     "[[4,2,0],\n [2,1,0],\n [0,0,0]]\n"), r.stderr)


ODD = """% Names and types that C has not, or has for itself.
function y : int = double(int : int, int_ : int, linux : int)
  y = int + 10*int_ + 100*linux
end
function y = float(int : int)
  y = int
end
function y = device(x)
  y = x + 1
end
function y = apply(f : [?? -> ??], x)
  y = f(x)
end
function y = of_cell(c : vec[mat])
  y = c[0]
end
function y = many(...args)
  y = numel(args)
end
function y = twofold(x : scalar)
  y = 2*x
end
function y = twofold(x : vec)
  y = 3*x
end
function y = twofold(x : string)
  y = 3
end
function [] = lambda(file)
  assert(file != 1, "of lambda")
end
function y = _own(x)
  y = x
end
square = x -> x^2
scaled = __device__ (x : scalar, k : int) -> x*k
function y = __device__ quadruple(x : scalar)
  y = 4*x
end
function [] = __kernel__ kernel(x : vec, pos : int)
  x[pos] = 1
end
function [] = main()
end
"""
C_ODD = r"""
#include "odd.h"
#include <stdio.h>
#include <string.h>

static double number(qs_status s, qs_view *y) {
    double x = s == QS_OK ? y->rank ? ((double *)y->data)[0] : qs_view_number(y) : -1;
    odd_release(y);
    return x;
}

int main(void) {
    int64_t all, three = 3;
    double numbers[1] = {3};
    qs_view y, one = qs_view_packed(numbers, QS_F64, 1, (int64_t[]){1}), zero = qs_view_packed(&three, QS_I64, 0, NULL);
    if (odd_double_(1, 2, 3, &all)) return fputs(odd_error(), stderr), 1;
    printf("%d ", (int)all);
    printf("%g ", number(odd_twofold(&zero, &y), &y));
    printf("%g ", number(odd_twofold(&one, &y), &y));
    printf("%g ", number(odd_quadruple(3, &y), &y));
    printf("%g ", number(odd_device_(&zero, &y), &y));
    double five = 5;
    zero = qs_view_packed(&five, QS_F64, 0, NULL);
    printf("%g ", number(odd_square(&zero, &y), &y));
    printf("%g ", number(odd_scaled(0.5, 2, &y), &y));
    printf("%g ", number(odd_float_(2, &y), &y));
    five = 1;
    if (odd_lambda_(&zero) != QS_OK && strstr(odd_error(), "of lambda")) printf("of lambda\n");
    return 0;
}
"""
C_VALUES = r"""
#include "odd.h"
#include <stdio.h>
#include <string.h>

static qs_status squared_more(qs_vm *vm, qs_call_args *c) {
    double x;
    qs_status s = qs_to_num(vm, c->in[0], &x);
    if (s == QS_OK) c->out[0] = qs_num(x*x);
    return s;
}
static const qs_native_def mine[] = {{"squared_more", squared_more, 1, 1, 1, NULL}};

/* What a function gives for arguments, as a number. */
static double call(qs_vm *vm, const char *name, int n, const qs_value *in) {
    qs_value f, y;
    double x = -1;
    if (qs_global(vm, name, &f)) return -1;
    qs_status s = qs_call(vm, f, n, in, 1, &y);
    qs_release(vm, f);
    if (s == QS_OK) s = qs_to_num(vm, y, &x), qs_release(vm, y);
    if (s != QS_OK) fputs(qs_error_report(vm), stderr);
    return x;
}

int main(void) {
    const char *text = "import \"libodd.so\"\nfirst = c -> sum(of_cell(c))\n";
    qs_vm *vm;
    qs_value part, cell, f, g;
    double nine = 3;
    qs_view three = qs_view_packed(&nine, QS_F64, 0, NULL), y;
    if (qs_open(NULL, &vm)) return 1;
    qs_status s = qs_define(vm, mine, 1);
    if (s == QS_OK) s = qs_load(vm, "use.q", text, strlen(text));
    if (s == QS_OK) s = qs_array(vm, QS_F32, 2, (int64_t[]){2, 2}, &part);
    if (s == QS_OK) s = qs_cell(vm, 1, &part, &cell);
    if (s == QS_OK) s = qs_global(vm, "squared_more", &f);
    if (s == QS_OK) s = qs_global(vm, "square", &g);
    if (s != QS_OK) return fputs(qs_error_report(vm), stderr), 1;
    printf("cell %g, ", call(vm, "first", 1, &cell) + 2);
    printf("apply %g ", call(vm, "apply", 2, (qs_value[]){f, qs_num(7)}));
    printf("%g, ", call(vm, "apply", 2, (qs_value[]){g, qs_num(3)}));
    printf("many %g, ", call(vm, "many", 3, (qs_value[]){qs_num(1), qs_bool(true), cell}));
    if (odd_square(&three, &y)) return fputs(odd_error(), stderr), 1;
    printf("%g\n", qs_view_number(&y));
    odd_release(&y);
    qs_release(vm, part), qs_release(vm, cell), qs_release(vm, f), qs_release(vm, g);
    qs_close(vm);
    return 0;
}
"""
CPP_ODD = r"""
#include "odd.hpp"
#include <cstdio>

int main() {
    double five = 5;
    qs_view x = qs_view_packed(&five, QS_F64, 0, nullptr);
    std::printf("%d %g\n", (int)odd::double_(1, 2, 3), odd::square(x).number());
}
"""
C_CLIENT = r"""
#include "filters.h"
#include "more.h"
#include <stdio.h>

#define TRY(call) if (call) return fprintf(stderr, "%s: %s", #call, filters_error()), 1

int main(void) {
    float x[12];
    int64_t dims[2] = {3, 4};
    for (int i = 0; i < 12; i++) x[i] = (float)i;
    qs_view in = qs_view_packed(x, QS_F32, 2, dims), y, total, largest, n;
    TRY(filters_twice(&in, &y));
    printf("%g %g, %dx%d of %d\n", ((float *)y.data)[1], ((float *)y.data)[11], (int)y.dims[0], (int)y.dims[1],
           y.dtype == QS_F32);
    filters_release(&y), filters_release(&y);
    qs_view column = {.data = x + 1, .dtype = QS_F32, .rank = 2, .dims = {3, 1}, .strides = {4, 1}};
    TRY(filters_extremes(&column, &total, NULL));
    TRY(filters_extremes(&in, NULL, &largest));
    printf("%g %g\n", qs_view_number(&total), qs_view_number(&largest));
    filters_release(&total), filters_release(&largest);
    TRY(filters_scaled(&in, 0.5, 3, true, "mV", &y));
    printf("%g\n", ((float *)y.data)[2]);
    filters_release(&y);
    printf("%d: %s", filters_scaled(&in, 0.5, 3, true, "V", &y), filters_error());
    printf("%d: %s", filters_twice(NULL, &y), filters_error());
    printf("%d: %s", filters_scaled(&in, 1, 1, false, NULL, &y), filters_error());
    in.data = NULL;
    printf("%d: %s", filters_twice(&in, &y), filters_error());
    in.data = x, in.rank = 9;
    printf("%d: %s", filters_twice(&in, &y), filters_error());
    in.rank = 2, in.dims[1] = -1;
    printf("%d: %s", filters_twice(&in, &y), filters_error());
    int64_t size[1] = {1};
    static const float fixed[1] = {5};
    in = qs_view_packed(x, QS_F32, 1, size);
    TRY(more_clear(&in));
    printf("%g\n", x[0]);
    in = qs_view_readonly(fixed, QS_F32, 1, size);
    printf("%d: %s", more_clear(&in), more_error());
    printf("%g\n", fixed[0]), more_release(&in);
    printf("%d: %.38s\n", filters_device("nothing") != QS_OK, filters_error());
    for (int i = 0; i < 3; i++) {
        TRY(filters_calls(&n));
        printf("%g ", qs_view_number(&n)), filters_release(&n);
    }
    double three = 3;
    qs_view number = {.data = &three, .dtype = QS_F64};
    TRY(more_twice(&number, &y));
    printf("%g\n", qs_view_number(&y));
    more_release(&y);
    return 0;
}
"""
C_OUTPUT = """2 22, 3x4 of 1
15 11
-3
13: libfilters.so/filters.q:25:5: error: the unit is mV, got V
    assert(unit == "mV", "the unit is mV, got %s", unit)
    ^
6: error: argument 1 of twice: an array is wanted, got NULL
6: error: argument 5 of scaled: a text is wanted, got NULL
6: error: argument 1 of twice: its data are NULL
6: error: argument 1 of twice: an array has 0 to 8 dimensions
6: error: argument 1 of twice: an extent is negative
0
9: libmore.so/filters.q:8:3: error: the array (vec, 1x1) is read-only and cannot be written
  x[0] = 0
  ^
5
1: error: there is no device kind nothing
1 2 3 60
"""
C_SNAKE = r"""
#include "snake.h"
#include <stdio.h>
#include <string.h>

int main(void) {
    double x[3] = {1, 2, 3};
    qs_view v = qs_view_packed(x, QS_F64, 1, (int64_t[]){3}), y;
    if (snake_total(&v, &y)) return fputs(snake_error(), stderr), 1;
    printf("%g ", qs_view_number(&y));
    snake_release(&y);
    printf("%d ", snake_module(&y) != QS_OK), printf("%d\n", strstr(snake_error(), "module") != NULL);
    return 0;
}
"""
C_DESCENT = r"""
#include "descent.h"
#include <stdio.h>

int main(void) {
    double x[2] = {0, 0};
    qs_view start = qs_view_readonly(x, QS_F64, 1, (int64_t[]){2}), y;
    if (descent_descent(12, &start, &y)) return fputs(descent_error(), stderr), 1;
    printf("%.5f %.5f\n", ((double *)y.data)[0], ((double *)y.data)[1]);
    descent_release(&y);
    return 0;
}
"""
C_CLOSED = r"""
#include "filters.h"
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    float x[4096];
    for (int i = 0; i < 4096; i++) x[i] = 21;
    qs_view in = qs_view_packed(x, QS_F32, 2, (int64_t[]){64, 64}), y, n;
    for (int i = 0; i < 2; i++) {
        void *lib = dlopen("libfilters.so", RTLD_NOW | RTLD_LOCAL);
        if (!lib) return puts(dlerror()), 1;
        qs_status (*twice)(const qs_view *, qs_view *), (*calls)(qs_view *);
        void (*release)(qs_view *);
        *(void **)&twice = dlsym(lib, "filters_twice"), *(void **)&calls = dlsym(lib, "filters_calls");
        *(void **)&release = dlsym(lib, "filters_release");
        qs_status failed = twice(&in, &y) || calls(&n);
        dlclose(lib);
        if (failed) return 1;
        printf("%g %g\n", ((float *)y.data)[9], qs_view_number(&n));
        release(&y), release(&n);
    }
    return 0;
}
"""
C_THREADS = r"""
#include "filters.h"
#include <pthread.h>
#include <stdio.h>

static void *work(void *good) {
    float x[4] = {1, 2, 3, 4};
    int64_t dims[2] = {2, 2};
    qs_view in = qs_view_packed(x, QS_F32, 2, dims), y;
    for (int i = 0; i < 100; i++) {
        if (filters_twice(&in, &y) == QS_OK && ((float *)y.data)[3] == 8) ++*(int *)good;
        filters_release(&y);
    }
    return NULL;
}

int main(void) {
    pthread_t t[4];
    int good[4] = {0};
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, &good[i]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    printf("%d\n", good[0] + good[1] + good[2] + good[3]);
    return 0;
}
"""
CPP_CLIENT = r"""
#include "filters.hpp"
#include <cstdio>

int main() {
    float x[6] = {1, 2, 3, 4, 5, 6};
    quasar::View y = filters::twice(quasar::View(x, {2, 3}));
    auto [total, largest] = filters::extremes(y);
    std::printf("%g %g %g\n", y.elements<float>()[5], total.number(), largest.number());
    try {
        filters::scaled(y, 1, 1, false, "kV");
    } catch (const quasar::Error &e) {
        std::string text = e.what();
        std::puts(text.substr(0, text.find('\n')).c_str());
    }
}
"""


def main():
    global QRUN
    if "--qrun" in sys.argv:
        at = sys.argv.index("--qrun")
        QRUN = os.path.abspath(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    parts.end_without(QRUN, "QUASAR_WITH_EXECUTABLES")
    parts.main()


if __name__ == "__main__":
    main()
