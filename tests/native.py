#!/usr/bin/env python3
"""Programs and libraries that were compiled before: qrun --make-exe, qrun --make-lib, import of them, bad input.

    tests/native.py [--qrun build/qrun] [-v] [Class.test ...]

What was made runs where LLVM is hidden (QUASAR_LLVM names a file that is not there), with an empty cache, and in a folder
that has nothing of the source tree."""
import os, random, re, shutil, subprocess, sys, tempfile, time, unittest

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


class Executables(Made):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.exe = os.path.join(cls.use, "program")
        cls.made = cls.make("--make-exe", "program.q", "-o", cls.exe)
        cls.expected = run([QRUN, "program.q"], cls.src, **cls.env).stdout

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

    def test_every_level_gives_the_same(self):
        for level in ("x86-64-v2", "v3", "v4", "native"):
            exe = os.path.join(self.use, "level")
            self.make("--make-exe", "program.q", "-o", exe, "--targets", level)
            r = run([exe], self.use, **self.bare)
            if r.returncode and "has no code" in r.stderr and level == "v4":
                continue  # this processor is no v4
            self.good(r, self.expected)

    def test_bad_options(self):
        for options, sentence in ((["--make-exe", "program.q", "--targets", "x86-64-v9"], "--targets must be a list of"),
                                  (["--make-exe", "program.q", "--targets", ""], "--targets must be a list of"),
                                  (["--make-exe", "program.q", "-o"], "-o needs")):
            r = run([QRUN, *options], self.src, **self.env)
            self.assertEqual(r.returncode, 2, r.stderr)
            self.assertIn(sentence, r.stderr)
        self.refused(run([QRUN, "--make-exe", "nothing.q"], self.src, **self.env), "cannot read nothing.q")
        self.refused(run([QRUN, "--make-exe", "program.q", "-o", "/nonexistent/p"], self.src, **self.env),
                     "/nonexistent/p cannot be written")

    def test_it_starts_at_once(self):
        """Far less than it takes to compile; the number itself is in docs/native.md."""
        best = 9
        for _ in range(10):
            start = time.perf_counter()
            run([self.exe], self.use, **self.bare)
            best = min(best, time.perf_counter() - start)
        self.assertLess(best, 0.25)


def main():
    global QRUN
    if "--qrun" in sys.argv:
        at = sys.argv.index("--qrun")
        QRUN = os.path.abspath(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()


if __name__ == "__main__":
    main()
