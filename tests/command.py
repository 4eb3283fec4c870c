#!/usr/bin/env python3
"""The command qrun, where a test needs processes, signals, or files around it.

    tests/command.py [--qrun build/qrun] [-v] [Class.test ...]

Drivers of OpenCL that differ from the one that is here are played by tests/support/driver/odd_opencl.c."""
import contextlib, functools, os, pathlib, re, shutil, signal, stat, subprocess, sys, tempfile, time, unittest, zipfile

import parts

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QRUN = os.path.join(ROOT, "build", "qrun")

KERNEL = """
function [] = __kernel__ twice(x : vec, pos : int)
    x[pos] = 2*x[pos] + {n}
end
x = ones(1000)
parallel_do(1000, x, twice)
print sum(x)
"""


@contextlib.contextmanager
def script(text):
    """The name of a file that holds the text."""
    with tempfile.NamedTemporaryFile("w", suffix=".q") as f:
        f.write(text)
        f.flush()
        yield f.name


def qrun(*options, text=None, env=None, stdout=subprocess.PIPE):
    """Runs options, and text as a file behind them."""
    with script(text or "") as name:
        return subprocess.run([QRUN, *options] + ([name] if text else []), stdout=stdout, stderr=subprocess.PIPE,
                              text=True, timeout=120, env={**os.environ, **(env or {})})


def kernel(n=0):
    return KERNEL.format(n=n)


class WithCache(unittest.TestCase):
    """Tests with a cache directory of their own."""

    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.env = {"QUASAR_CACHE_DIR": self.dir}
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def entries(self):
        folder = os.path.join(self.dir, "kernels")
        return [os.path.join(folder, e) for e in os.listdir(folder)] if os.path.isdir(folder) else []

    def damaged(self):
        """What the one entry holds; yielded once for each way of damaging it, when that is done."""
        entry, = self.entries()
        with open(entry, "rb") as f:
            whole = f.read()
        for damage in (b"", b"not a kernel", whole[:-7], whole[:200] + b"?" + whole[201:]):
            with open(entry, "wb") as f:
                f.write(damage)
            yield whole

    def good(self, result, output="2000\n"):
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, output, ""))


class Names(unittest.TestCase):
    def test_a_library_file_with_a_mistake_is_named(self):
        with tempfile.TemporaryDirectory() as d:
            folder = os.path.join(d, "stdlib")
            shutil.copytree(os.path.join(ROOT, "stdlib"), folder, ignore=shutil.ignore_patterns("*.c"))
            with open(os.path.join(folder, "signal.q"), "a") as f:
                f.write("function y = unfinished(\n")
            r = qrun("-e", "print hann(3)", env={"QUASAR_PATH": folder})
            self.assertEqual(r.returncode, 1)
            self.assertRegex(r.stderr, "hann: expected a parameter name, found end of file")

    def test_a_name_has_definitions_in_many_imported_files(self):
        with tempfile.TemporaryDirectory() as d:
            for i in range(40):
                with open(os.path.join(d, f"m{i}.q"), "w") as f:
                    f.write(f"type t{i} : class\n  a : int\nend\nfunction y = f(x : t{i})\n  y = {i}\nend\n")
            with open(os.path.join(d, "main.q"), "w") as f:
                f.write("".join(f'import "m{i}.q"\n' for i in range(40)))
                f.write("".join(f"print f(t{i}())\n" for i in range(40)))
            r = qrun(os.path.join(d, "main.q"))
        self.assertEqual((r.stdout.split(), r.stderr), ([str(i) for i in range(40)], ""))


class AddressSpace(WithCache):
    """Programs in a process whose address space is limited, from just enough to start up to ample."""

    PROGRAMS = {
        "x = ones(2000,2000)\ny = x*2 + 1\nprint size(fft2(y))\n": "[2000,2000]\n",
        's = "a"\nfor i = 0..23\n  s = strcat(s, s)\nend\nprint numel(s)\n': "16777216\n",
        'c = cell(200001)\nfor i = 0..200000\n  c[i] = sprintf("%d is a number with a long name", i)\nend\n'
        "print numel(c)\n": "200001\n",
        "try\n  x = sin(ones(2000,2000)) + 1\n  print numel(x)\ncatch e\n  print 4000000\nend\n": "4000000\n",
    }

    def run_limited(self, megabytes, device, path):
        command = f"ulimit -v {megabytes * 1024}; exec '{QRUN}' --device {device} '{path}'"
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **self.env})

    def least(self):
        """Megabytes that the process needs to run an empty program."""
        with script("print 1\n") as path:
            return next(m for m in range(16, 4000, 4) if self.run_limited(m, "ref", path).stdout == "1\n")

    def test_too_little_memory_is_an_error_of_the_program(self):
        least = self.least()
        for text, output in self.PROGRAMS.items():
            failed = 0
            with script(text) as path:
                for megabytes in [least // 2, *range(least, least + 120, 12), 1000]:
                    r = self.run_limited(megabytes, "ref", path)
                    failed += r.returncode != 0
                    with self.subTest(megabytes=megabytes, text=text, stderr=r.stderr):
                        self.assertIn((r.returncode, r.stdout), ((0, output), (1, "")))
                        if r.returncode:
                            self.assertRegex(r.stderr, "error: .*(memory|address space)")
            self.assertTrue(0 < failed < 12, text)

    def test_llvm_without_memory_is_an_error_of_the_program(self):
        text = kernel().replace("parallel_do(1000, x, twice)\nprint sum(x)",
                                "try\nparallel_do(1000, x, twice)\nprint sum(x)\ncatch e\nprint e\nend")
        with script(text) as path:
            for megabytes in range(self.least() + 172, self.least() + 232, 4):
                shutil.rmtree(self.dir, ignore_errors=True)
                r = self.run_limited(megabytes, "cpu", path)
                if "thread-local data" in r.stderr:  # the dynamic linker ends the process in dlopen
                    continue
                with self.subTest(megabytes=megabytes, stderr=r.stderr):
                    self.assertEqual(r.returncode, 0)
                    self.assertRegex(r.stdout, "^2000\n$|out of memory|needs LLVM, which cannot be opened")

    def test_llvm_without_memory_is_not_said_to_be_missing(self):
        with script(kernel()) as path:
            for megabytes in range(self.least(), self.least() + 40, 8):
                r = self.run_limited(megabytes, "cpu", path)
                self.assertIn((r.returncode, r.stdout), ((0, "2000\n"), (1, "")))
                self.assertNotIn("not installed", r.stderr)


class NoRegularFile(WithCache):
    """A pipe without a writer blocks whoever opens it for reading."""

    def pipe(self, name):
        path = os.path.join(self.dir, name)
        os.mkfifo(path)
        return path

    def test_a_cache_entry_that_is_a_pipe_is_not_opened(self):
        self.good(qrun("--device", "cpu", text=kernel(), env=self.env))
        entry, = self.entries()
        os.remove(entry)
        os.mkfifo(entry)
        self.good(qrun("--device", "cpu", text=kernel(), env=self.env))

    def test_an_import_that_is_a_pipe_is_an_error(self):
        r = qrun(text=f'import "{self.pipe("m.q")}"\n')
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertRegex(r.stderr, "m.q.*it is not a regular file")

    def test_blocks_of_a_file_that_is_a_pipe_are_an_error(self):
        path = self.pipe("x.npy")
        for call in (f'block_size("{path}")', f'read_block("{path}", 0, 1)', f'write_block("{path}", 0, [1])'):
            r = qrun("-e", call)
            self.assertEqual((r.returncode, r.stdout), (1, ""))
            self.assertRegex(r.stderr, "cannot open .*x.npy: it is not a regular file")


class Devices(unittest.TestCase):
    def test_an_error_names_the_device(self):
        r = qrun("--device", "cpu", "-e",
                 "parallel_do([[8192],[8192]], zeros(8192), (x, pos : int, blkdim : int) -> x[pos] = blkdim)")
        self.assertRegex(r.stderr, r"a block of 8192 positions is too large; .+, \d+ threads? allows 4096")

    NONE = {"QUASAR_CUDA": "/nonexistent/libcuda.so"}

    def test_files_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            absent = os.path.join(folder, "absent.q")
            for path, why in ((folder, "Is a directory"), (absent, "No such file or directory")):
                self.assertEqual(qrun(path).stderr, "error: cannot read %s: %s\n" % (path, why))
            self.assertIn("cannot read %s: Is a directory" % folder, qrun("-e", 'import "%s"' % folder).stderr)

    def test_every_kind_is_listed(self):
        lines = qrun("--devices", env=self.NONE).stdout.splitlines()
        for kind in ("cpu", "ref", "opencl", "cuda"):
            self.assertTrue(any(re.match(r"[ *] %s(:\d+)?  \S" % kind, line) for line in lines), (kind, lines))
        self.assertEqual([line[2:7] for line in lines if line[0] == "*"], ["cpu:0"])
        self.assertIn("  cuda  not here: ", "\n".join(lines))

    def test_a_gpu_that_is_not_here(self):
        demanded = qrun("--gpu", "-e", "6*7", env=self.NONE)
        wished = qrun("--device", "auto", "-e", "6*7", env=self.NONE)
        if demanded.returncode == 0:
            self.skipTest("there is one")
        self.assertEqual((demanded.returncode, demanded.stdout), (1, ""))
        self.assertIn("no GPU is here; cuda: ", demanded.stderr)
        self.assertEqual((wished.returncode, wished.stdout), (0, "42\n"))
        self.assertEqual(wished.stderr.count("kernels run on cpu: no GPU is here; cuda: "), 1)


class Progress(unittest.TestCase):
    def test_a_line_for_every_tenth(self):
        r = qrun(text="""
n = 0
for x = progress(1..40, "squares")
    n += x
end
for i = 0..3
    progress(i, 3)
end
for s = progress({"a","b"}, "cell")
    n += numel(s)
end
print n
for wrong = {() -> progress(1, 0), () -> progress([]), () -> progress("x"), () -> progress(-1, 3)}
    try
        wrong()
    catch e
        print e
    end
end
""")
        self.assertEqual(r.stdout.split("\n")[0], "822")
        self.assertEqual(len(r.stdout.splitlines()), 5)
        lines = r.stderr.splitlines()
        self.assertEqual([l.split()[1] for l in lines if l.startswith("squares")], [str(10 * k) for k in range(11)])
        self.assertEqual(sum("/3" in l for l in lines), 4)
        self.assertIn("squares  100 %  40/40", r.stderr)
        self.assertRegex(lines[1], r"^squares   10 %  4/40  \d+/s  0 s left$")

    @staticmethod
    def said_on(ours, theirs):
        """All that was written to a terminal; one read may give a part of it."""
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536): said += part
        except OSError: pass  # the end
        os.close(ours)
        return said.decode()

    def test_one_line_on_a_terminal(self):
        import pty
        ours, theirs = pty.openpty()
        with script('for x = progress(1..5, "slow")\n    sleep(60)\nend\n') as name:
            subprocess.run([QRUN, name], stderr=theirs, timeout=60)
        said = self.said_on(ours, theirs)
        self.assertEqual(said.count("\n"), 1)
        self.assertGreaterEqual(said.count("\r"), 4)
        self.assertRegex(said, r"slow  100 %  5/5  [\d.]+/s  0 s\x1b\[K\r?\n$")

    def on_terminal(self, text):
        """The messages of a program on a terminal, and its output."""
        import pty
        ours, theirs = pty.openpty()
        with script(text) as name:
            r = subprocess.run([QRUN, "--threads", "1", name], stdout=subprocess.PIPE, stderr=theirs, text=True,
                               timeout=120)
        return self.said_on(ours, theirs), r.stdout

    # Larger and larger, until it has taken a second and a half.
    LONG = """
n = 300
repeat
    x = rand(n, n)
    begun = time()
    y = conv2(x, ones(31,31))
    took = time() - begun
    n = round(1.4*n)
until took > 1.5
"""

    def test_built_ins_that_take_long(self):
        said, printed = self.on_terminal("progress(1, 4, \"before\")\n" + self.LONG + "print \"done\"\n")
        self.assertRegex(said, r"\rbefore   25 %  1/4  \S+  \d+ s left  conv2  \d+ %  \d+ s left\x1b\[K")
        self.assertTrue(said.endswith("s left\x1b[K\r\x1b[K"), said[-80:])  # it ends, and the previous content is back
        self.assertNotIn("conv2", said.rpartition("\r")[2])
        self.assertEqual(printed, "done\n")
        r = qrun(text=self.LONG)
        self.assertEqual((r.stdout, r.stderr), ("", ""))
        said, _ = self.on_terminal("for k = progress(1..3, \"first\")\n    error(\"stop\")\nend\n")
        self.assertRegex(said, r"^\rfirst    0 %  0/3\x1b\[K\r\x1b\[K\S+: error: stop")


class Cameras(unittest.TestCase):
    """One that tests/support/driver/camera.c plays."""
    FAILS = "function [] = fails(f)\n try\n f()\n catch e\n print e\n end\nend\n"

    def run_with(self, text, **env):
        camera = os.path.join(os.path.dirname(os.path.abspath(QRUN)), "libcamera.so")
        if not os.path.exists(camera) or qrun("--has", "cameras").returncode:
            self.skipTest("without libavdevice, or without libcamera.so of the tests")
        return qrun("--device", "ref", text=self.FAILS + text, env={"LD_PRELOAD": camera, **env})

    def test_frames_come_as_they_are_now(self):
        r = self.run_with("""
s = vidopen("camera:0")
print s.frame_width, "x", s.frame_height, ", ", s.avg_frame_rate, " ", s.frames, " ", s.duration_sec
fails(() -> vidseek(s, 0))
vidreadframe(s)
[t, first] = [s.pts, s.rgb_data]
pause(400)
vidreadframe(s)
print size(s.rgb_data), s.pts > t+0.2, s.rgb_data[0,0,0] > first[0,0,0]+10
vidclose(s)
s = vidopen("/dev/video0", [240,320], 25)
print s.frame_width, "x", s.frame_height, ", ", s.avg_frame_rate
vidclose(s)
fails(() -> vidopen("camera:0", [100,100]))
fails(() -> vidopen("camera:0", [], 77))
fails(() -> vidopen("camera:7"))
""")
        self.assertEqual(r.stdout.splitlines(), [
            "64x48, 50 inf inf", "vidseek: camera:0 is live: there is only the next frame, which vidreadframe reads",
            "[48,64,3]11", "320x240, 25",
            "vidopen: camera:0: it has no frames of 100 x 100, but of 240 x 320 (height x width)",
            "vidopen: camera:0: it does not have 77 frames a second, but 25",
            "vidopen: camera:7: only root and the group video may open it"], r.stderr)

    def test_one_that_is_unplugged(self):
        r = self.run_with("""
s = vidopen("camera:0")
function [] = watch()
    while vidreadframe(s)
        t = s.pts
    end
end
fails(watch)
""", CAMERA_FRAMES="20")
        self.assertRegex(r.stdout, r"^vidreadframe: camera:0, after [.0-9]+ s: no frame can be read: No such device\n$")


class ToolsThatTakeLong(unittest.TestCase):
    def test_a_line_for_every_tenth(self):
        text = """if True:
            import io, sys
            sys.path.insert(0, %r)
            import progress
            progress.time.monotonic = lambda clock=iter(range(0, 10000, 4)): next(clock)
            progress.APART[False] = 0
            with progress.Progress("seeds", "programs") as p:
                for k in range(50):
                    p.at(k, 50, "1 failed")
            progress.APART[False] = 1e6  # soon over
            with progress.Progress("short", "s") as p:
                p.at(1, 2)
                p.say("all right")""" % os.path.join(ROOT, "tests")
        r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        lines = r.stderr.splitlines()
        self.assertEqual((len(lines), r.stdout), (9, "all right\n"), r.stderr)
        self.assertEqual(lines[4], "seeds: 50 %  25/50  0.24 programs/s  2 min left  1 failed")


class Figures(unittest.TestCase):
    def test_the_folder_is_said_once(self):
        env = {"QUASAR_FIGURES": "", "DISPLAY": ""}
        with tempfile.TemporaryDirectory() as folder, script("plot([1,2])\nplot([2,1])\nprint hold(\"on\")") as name:
            r = subprocess.run([QRUN, name], cwd=folder, capture_output=True, text=True, env={**os.environ, **env})
            self.assertEqual(r.stdout, "0\n")
            self.assertEqual(r.stderr, "figures are written to the folder figures/, because there is no display\n")
            self.assertEqual(sorted(os.listdir(folder + "/figures")), ["figure_0001.png", "figure_0002.png"])

    def test_figures_of_a_program_that_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            r = qrun(text="plot([1,2])\nerror(\"wrong\")", env={"QUASAR_FIGURES": folder})
            self.assertEqual((r.returncode, os.listdir(folder)), (1, ["figure_0001.png"]))

    def test_without_a_display_forms_are_an_error(self):
        r = qrun("-e", 'form("x")', env={"DISPLAY": ""})
        self.assertIn("form: there is no display", r.stderr)
        r = qrun("-e", 'form("x")', env={"DISPLAY": ":987"})
        self.assertIn("form: the display does not answer", r.stderr)


class Cache(WithCache):
    def test_private_and_filled(self):
        self.good(qrun("--device", "cpu", text=kernel(), env=self.env))
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.dir, "kernels")).st_mode), 0o700)
        self.assertEqual(len(self.entries()), 1)
        self.good(qrun("--device", "cpu", text=kernel(), env=self.env))
        self.assertEqual(len(self.entries()), 1)

    def test_info_and_clear(self):
        qrun("--device", "cpu", text=kernel(), env=self.env)
        info = qrun("--cache", "info", env=self.env).stdout
        self.assertRegex(info, r"^" + re.escape(self.dir) + r": 1 entries, 0\.\d of 256 MiB\n$")
        self.assertEqual(qrun("--cache", "clear", env=self.env).stdout, "1 entries removed\n")
        self.assertEqual(self.entries(), [])

    def test_no_place(self):
        r = qrun("--cache", "info", env={"QUASAR_CACHE_DIR": "/proc/nothing"})
        self.assertEqual(r.returncode, 1)
        self.assertIn("there is no kernel cache: ", r.stderr)
        self.good(qrun("--device", "cpu", text=kernel(), env={"QUASAR_CACHE_DIR": "/proc/nothing"}))

    def test_directory_open_to_others_is_not_used(self):
        os.mkdir(os.path.join(self.dir, "kernels"), 0o755)
        os.chmod(os.path.join(self.dir, "kernels"), 0o755)
        self.good(qrun("--device", "cpu", text=kernel(), env=self.env))
        self.assertEqual(self.entries(), [])

    def test_damaged_entry_is_repaired(self):
        qrun("--device", "cpu", text=kernel(), env=self.env)
        for whole in self.damaged():
            self.good(qrun("--device", "cpu", text=kernel(), env=self.env))
            with open(*self.entries(), "rb") as f:
                self.assertEqual(f.read(), whole)

    def test_processes_at_once(self):
        with script(kernel()) as name:
            command = [QRUN, "--device", "cpu", name]
            all = [subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **self.env}) for _ in range(6)]
            self.assertEqual([p.communicate()[0] for p in all], [b"2000\n"] * 6)

    def test_killed_while_compiling(self):
        for n in range(12):
            with script(kernel(n)) as name:
                p = subprocess.Popen([QRUN, "--device", "cpu", name], stdout=subprocess.DEVNULL,
                                     env={**os.environ, **self.env})
                time.sleep(0.01 * n)
                p.send_signal(signal.SIGKILL)
                p.wait()
        self.good(qrun("--device", "cpu", text=kernel(), env=self.env))


@functools.cache
def has_opencl():
    return qrun("--device", "opencl", "-e", "1").returncode == 0


class OpenCL(WithCache):
    """Its programs on disk, and drivers that lack something."""
    stuck = ("interrupted: the driver cannot stop the kernel that it runs or compiles: "
             "another Ctrl-C ends the program\n")

    def setUp(self):
        super().setUp()
        odd = os.path.join(os.path.dirname(os.path.abspath(QRUN)), "libodd_opencl.so")
        if not has_opencl() or not os.path.exists(odd):
            self.skipTest("OpenCL is not here")
        self.log = os.path.join(self.dir, "log")
        self.env.update(QUASAR_OPENCL=odd, ODD_OPENCL_LOG=self.log, POCL_CACHE_DIR=self.dir)

    def run_odd(self, text, odd="", **env):
        """The result, and the source or binary from which the driver made programs."""
        open(self.log, "w").close()
        r = qrun("--device", "opencl", text=text, env={**self.env, "ODD_OPENCL": odd, **env})
        r.stderr = re.sub(r"/tmp/\S+\.q:", "x.q:", r.stderr)
        with open(self.log) as f:
            return r, f.read().split()

    def made_from(self, text, *sources, odd="", **env):
        r, made = self.run_odd(text, odd, **env)
        self.good(r)
        self.assertEqual(made, list(sources))

    def test_a_kernel_that_does_not_end_can_be_left(self):
        text = """
function [] = __kernel__ k(y : vec, pos : int)
    while y[pos] < 1
        y[pos] = 0
    end
end
parallel_do(4, ones(4), k)
sync()
print "ready"
flush()
parallel_do(4, zeros(4), k)
sync()
"""
        with script(text) as name, subprocess.Popen([QRUN, "--device", "opencl", name], stdout=subprocess.PIPE,
                                                    stderr=subprocess.PIPE, text=True) as p:
            self.addCleanup(p.kill)
            self.assertEqual(p.stdout.readline(), "ready\n")
            time.sleep(1)
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.stderr.readline(), self.stuck)
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(30), -signal.SIGINT)  # a shell reports 130

    def test_building_a_program_cannot_be_stopped_and_that_is_said(self):
        env = {**os.environ, **self.env, "ODD_OPENCL": "slow=2"}
        with script(kernel()) as name, subprocess.Popen([QRUN, "--device", "opencl", name], stdout=subprocess.PIPE,
                                                        stderr=subprocess.PIPE, text=True, env=env) as p:
            self.addCleanup(p.kill)
            time.sleep(1)
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.stderr.readline(), self.stuck)
            self.assertIn("interrupted", p.stderr.read())
            self.assertEqual(p.wait(30), 130)

    def test_reads_of_own_arrays_are_in_range_where_a_compiler_moves_them(self):
        """Reads of an array of the kernel stay inside it, even before the condition around them: Intel's compiler moves
        them there."""
        path = os.path.join(ROOT, "tests/scripts/kernels/checked_blocks.q")
        r = qrun("--device", "opencl", "--checked", "--dump", "cl", path, env=self.env)
        own = set(re.findall(r"^ +(?:__local )?\w+ (v\d+)\[\d+\];", r.stdout, re.M))
        reads = [(a, index) for line in r.stdout.splitlines() if " = " in line and line.lstrip().startswith("const ")
                 for a, index in re.findall(r"\b(v\d+)\[([^\]]+)\]", line) if a in own]
        self.assertGreater(len(reads), 4)
        for a, index in reads:
            self.assertRegex(index, r"^\d+$|^q_live.* \? \w+ : 0$")
        self.assertNotRegex(r.stdout, r"\? v\d+\[")

    def test_the_second_process_builds_nothing(self):
        self.made_from(kernel(), "source")
        self.assertEqual(len(self.entries()), 1)
        self.made_from(kernel(), "binary")
        self.assertRegex(qrun("--cache", "info", env=self.env).stdout, r": 1 entries, ")
        self.assertEqual(qrun("--cache", "clear", env=self.env).stdout, "1 entries removed\n")
        self.made_from(kernel(), "source")

    def test_without_a_cache(self):
        for _ in range(2):
            self.made_from(kernel(), "source", QUASAR_CACHE_DIR="/proc/nothing")

    def test_damaged_entry_is_repaired(self):
        self.made_from(kernel(), "source")
        for _ in self.damaged():
            self.made_from(kernel(), "source")
            self.made_from(kernel(), "binary")

    def test_binaries_that_the_driver_refuses(self):
        self.made_from(kernel(), "source")
        for odd in "refuse", "stale":
            self.made_from(kernel(), "binary", "source", odd=odd)
        self.made_from(kernel(), "binary")

    def test_drivers_without_binaries(self):
        for _ in range(2):
            self.made_from(kernel(), "source", odd="nobinary")
        self.assertEqual(self.entries(), [])

    def test_another_driver_is_another_entry(self):
        self.made_from(kernel(), "source")
        self.made_from(kernel(), "source", odd="version=OpenCL 3.0 newer")

    def fails(self, text, odd, place, message):
        r, _ = self.run_odd(text, odd)
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertRegex(r.stderr, r"(?m)^" + re.escape(f"{place} error: ".lstrip()) + ".*" + re.escape(message))
        return r.stderr

    def test_the_build_log_names_lines_of_the_script(self):
        text = "function [] = __kernel__ roots(x : vec, pos : int)\n    a = x[pos] + 1\n\n" \
               "    x[pos] = sqrt(a)\nend\nx = ones(10)\nparallel_do(10, x, roots)\n"
        self.assertIn(" x.q:4: ", self.fails(text, "spoil=sqrt(", "x.q:4:14:", "kernel roots does not build: "))
        self.assertEqual(self.entries(), [])

    def test_what_a_device_lacks(self):
        wide = "function [] = __kernel__ f(x, y, pos : int)\n    y[pos] = 1\n" \
               "    x[pos] = x[pos] + 1\nend\nx = float64(zeros(9))\ny = zeros(9)\nparallel_do(9, x, y, f)\n"
        self.fails(wide, "nofp64", "x.q:3:14:", "computes in float64, which this device does not have")
        count = "function [] = __kernel__ f(n, k, pos : int)\n    k[0] += 1\n    n[0] += 1\nend\n" \
                "n = int64([0])\nk = int([0])\nparallel_do(9, n, k, f)\nprint n[0]+k[0]\n"
        self.fails(count, "noatom64", "x.q:3:5:", "needs 64-bit atomics, which this device does not have")
        self.fails(kernel(), "version=OpenCL 1.1 old", "", "or later is needed, the device has OpenCL 1.1 old")
        self.fails(kernel(), "profile=EMBEDDED_PROFILE", "", "64-bit integers are needed")

    def test_small_devices(self):
        self.made_from(kernel(), "source", odd="group=8")
        self.made_from(kernel(), "binary", odd="group=1")
        shared = "function [] = __kernel__ f(x : vec, pos : int, blkpos : int)\n    s = shared(1000)\n" \
                 "    s[blkpos] = x[pos]\n    syncthreads\n    x[pos] = s[0]\nend\nx = ones(64)\n" \
                 "parallel_do([[64],[32]], x, f)\n"
        self.fails(shared, "group=8", "x.q:8:1:", "a block of 32 positions is too large for kernel f: at most 8")
        self.fails(shared, "local=2000", "x.q:2:9:", "a block of kernel f shares 4000 bytes: at most 2000")

    def test_more_blocks_than_can_be_counted(self):
        text = "function [] = __kernel__ f(x : vec, pos : ivec2, blkpos : ivec2)\n    x[pos[1]] += blkpos[0]\nend\n" \
               "x = zeros(1)\nparallel_do([[3000000000,1],[1,1]], x, f)\n"
        self.fails(text, "", "x.q:5:1:", "kernel f: 3e+09 blocks along one axis are too many")

    def test_room_that_is_looked_for_when_a_block_is_used(self):
        text = "function [] = __kernel__ twice(x : vec, pos : int)\n    x[pos] = 2*x[pos]\nend\nx = cell(8)\ns = 0\n" \
               "for k = 0..7\n    x[k] = ones(100000)\n    parallel_do(100000, x[k], twice)\nend\n" \
               "for k = 0..7\n    parallel_do(100000, x[k], twice)\n    s += sum(x[k])\nend\nprint s\n"
        r, _ = self.run_odd(text, "memory=1500000")
        self.good(r, "3200000\n")


class SeveralOpenCL(WithCache):
    """Two OpenCL devices, as PoCL plays them, in one process."""
    ADD = "function [] = __kernel__ add(x : vec, y : vec, v : scalar, pos : int)\n    y[pos] = x[pos] + v\nend\n"

    def setUp(self):
        super().setUp()
        self.env.update(POCL_DEVICES="pthread pthread", POCL_CACHE_DIR=self.dir)
        if "  opencl:1  " not in qrun("--devices", env=self.env).stdout:
            self.skipTest("there is one OpenCL device at most")

    def test_arrays_follow_from_one_to_the_other(self):
        text = self.ADD + "x = ones(1000)\ny = zeros(1000)\nz = zeros(1000)\nfor k = 1..3\n" \
               "    use_device(1)\n    parallel_do(1000, x, y, 1, add)\n" \
               "    use_device(2)\n    parallel_do(1000, y, z, 10, add)\n" \
               "    use_device(1)\n    parallel_do(1000, z, x, 100, add)\nend\n" \
               "print sum(x), \" \", sum(y), \" \", sum(z)\n"
        for options in ((), ("--memory-limit", "9000")):  # room for two of the arrays
            r = qrun("--device", "opencl:0,opencl:1", *options, text=text, env=self.env)
            self.good(r, "334000 224000 234000\n")

    def test_numbers_and_names(self):
        text = "for d = devices()\n    print d.id, \" \", d.kind, \" \", d.current\nend\n"
        self.good(qrun("--device", "opencl:1,opencl:0", text=text, env=self.env), "0 cpu 0\n1 opencl 1\n2 opencl 0\n")
        r = qrun("--device", "opencl:2", "-e", "1", env=self.env)
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn("device opencl:2 is not there: there are fewer of that kind", r.stderr)

    def test_auto_among_both(self):
        text = self.ADD + "x = ones(30000)\ny = zeros(30000)\nfor k = 1..400\n" \
               "    parallel_do(30000, x, y, 1, add)\n    parallel_do(30000, y, x, -1, add)\nend\n" \
               "print sum(x), \" \", sum(y)\n"
        self.good(qrun("--device", "auto:opencl:0,opencl:1", text=text, env=self.env), "30000 60000\n")


class Auto(WithCache):
    def test_each_decision_has_its_reason(self):
        if not has_opencl():
            self.skipTest("OpenCL is not here")
        text = "function [] = __kernel__ step(x : vec, pos : int)\n    x[pos] = 0.5*x[pos] + 1\nend\n" \
               "x = ones(1000000)\nfor k = 1..N\n    parallel_do(numel(x), x, step)\nend\nprint sum(x)\n"
        self.good(qrun("--device", "opencl", text=text.replace("N", "1"), env=self.env), "1500000\n")
        r = qrun("--device", "auto:cpu,opencl", "--explain", text=text.replace("N", "30000"), env=self.env)
        self.assertEqual((r.returncode, r.stdout), (0, "2000000\n"))
        told = re.findall(r"(?m)^.*\.q:2: kernel step runs on (.*)$", r.stderr)
        self.assertRegex(told[0], r"^cpu:0, nearest to its data: cpu:0 not tried, opencl:0 not tried with 4 MB to mov")
        self.assertRegex(told[1], r"^opencl:0, as a trial: cpu:0 [0-9.e+-]+ ms, opencl:0 not tried with 4 MB to move$")
        for line in told[2:]:
            self.assertRegex(line, r"^\w+:0, (as a trial|which ends soonest|to look again|to which its data move): ")


    def test_expressions_and_loops_choose(self):
        if not has_opencl():
            self.skipTest("OpenCL is not here")
        text = "function y = f(x : vec)\n    y = x.*x + 2*x\nend\nfunction [] = g(x)\n    for i = 0..numel(x)-1\n" \
               "        x[i] = 0.5*x[i] + 1\n    end\nend\nx = ones(1000000)\n" \
               "for k = 1..20\n    y = f(x)\n    g(x)\nend\nprint sum(x), \" \", sum(y)\n"
        r = qrun("--device", "auto:cpu,opencl", "--explain", text=text, env=self.env)
        self.assertEqual((r.returncode, r.stdout), (0, qrun("--device", "cpu", text=text, env=self.env).stdout))
        for place, what in (("2", "expression"), ("5", "loop")):
            told = re.findall(rf"(?m)^.*\.q:{place}: {what} runs on (.*)$", r.stderr)
            self.assertRegex(told[0], r"^cpu:0, nearest to its data: cpu:0 not tried, opencl:0 not tried with \d+ MB")

    def test_what_the_device_cannot_have_the_processor_does(self):
        if not has_opencl():
            self.skipTest("OpenCL is not here")
        text = "x = ones(3000000)\ny = x.*x + 2*x\nfor i = 0..2999999\n    y[i] += i\nend\nz = sum(x.*x + 1)\n" \
               "print y[2999999], \" \", z\n"
        r = qrun("--device", "opencl", "--memory-limit", "8M", "--explain", text=text, env=self.env)
        self.assertEqual((r.returncode, r.stdout), (0, "3000002 6000000\n"))
        for place in "2: expression", "3: loop", "6: expression":
            self.assertRegex(r.stderr, rf"(?m)\.q:{place}: on the processor, because .* cannot run it: ")

    def test_convolutions_in_little_memory(self):
        """Partial sums of weights take 64 MB, or less where there is less; without any the processor has the work."""
        if not has_opencl():
            self.skipTest("OpenCL is not here")
        text = "n = numel(w)\nm = sqrt(n/9)\nx = reshape(float32(mod(0..m*64-1, 7)), [1,m,8,8])\n" \
               "f = () -> conv_planes_weights(x, x, [m,m,3,3], 1, 1, 1, 1)\ny = f()\n" \
               "z = [sum(conv_planes(x, w, 1, 1, 1, 1)), sum(conv_planes_input(x, w, size(x), 1, 1, 1, 1)), " \
               "sum(conv_planes_bias(x))]\n" \
               "setenv(\"QUASAR_LIBRARIES\", \"never\")\n" \
               "print max(abs(y - f())), \" \", z[0] - z[1], \" \", z[2] - sum(x)\n"
        for m, room, launches in (512, "100M", 9), (64, "2M", 144), (64, "10000", 0):
            r = qrun("--device", "opencl", "--memory-limit", room, "--explain", "--profile",
                     text=f"w = ones({m},{m},3,3)\n" + text, env=dict(self.env, QUASAR_LIBRARIES="always"))
            self.assertEqual((r.returncode, r.stdout), (0, "0 0 0\n"), r.stderr)
            calls = re.findall(r"(?m)^dots_eight .*?:\d+ +(\d+) ", r.stderr)
            self.assertEqual(sum(map(int, calls)), launches)
            told = re.findall("a convolution runs on cpu:0, because .*: no room for ", r.stderr)
            self.assertEqual(len(told), not launches)

    def test_what_comes_to_the_processor_is_told(self):
        if not has_opencl():
            self.skipTest("OpenCL is not here")
        text = "function [] = __kernel__ fill(x : mat, pos : ivec2)\n x[pos] = pos[0]\nend\na = zeros(30,30)\n" \
               "parallel_do(size(a), a, fill)\nx = reshape(a, [1,1,30,30])\nb = a*a\n" \
               "y = conv_planes(x, ones(1,1,3,3), 1, 0, 1, 1)\ny = conv_planes(x, ones(1,1,3,3), 1, 0, 1, 1)\n"
        r = qrun("--device", "opencl", "--explain", text=text, env=self.env)
        lines = [re.sub(".*/", "", line) for line in r.stderr.splitlines() if "because" in line]
        self.assertEqual([line.split(": ", 1)[1] for line in lines], [
            "* runs on cpu:0, because opencl:0 has no library for it; 0.0036 MB are copied there",
            "a convolution runs on cpu:0, because opencl:0 is a processor, too"])
        self.assertNotIn("because", qrun("--device", "cpu", "--explain", text=text, env=self.env).stderr)


class Dump(WithCache):
    def test_stages(self):
        for stage, text in (("kir", 'kernel "twice" rank 1'), ("passes", "; after interior: "),
                            ("llvm", "define void @kernel("),
                            ("opt", "define void @kernel("), ("asm", "kernel:"), ("cl", "__kernel")):
            r = qrun("--device", "cpu", "--dump", stage, text=kernel(), env=self.env)
            self.assertEqual((r.returncode, r.stderr), (0, ""), stage)
            self.assertTrue(r.stdout.startswith("2000\n"), stage)
            self.assertIn(text, r.stdout)

    def test_expressions_are_shown(self):
        r = qrun("--device", "cpu", "--dump", "kir", text="x = rand(3000000)\ny = x.*x + 1\ny = x.*x + 1\n",
                 env=self.env)
        self.assertIn('kernel "expression"', r.stdout)
        r = qrun("--device", "cpu", "--dump", "kir", text="x = rand(3000000)\nf = () -> exp(x)\nf()\ny = f()\n",
                 env=self.env)
        self.assertIn('kernel "expression"', r.stdout)

    def test_columns_of_colour_images_are_vectors(self):
        text = "function [] = __kernel__ f(y : cube, pos : ivec2)\n y[pos[0],pos[1],1] = sin(pos[1])\nend\n" \
               "y = zeros(40,40,3)\nparallel_do([40,40], y, f)\n"
        r = qrun("--device", "cpu", "--dump", "opt", text=text, env=self.env)
        self.assertRegex(r.stdout, r"extractelement <\d+ x float>|masked\.scatter")  # a vector, whose elements go apart

    def test_fast_math_is_asked_for(self):
        text = "function [] = __kernel__ f(x : vec, pos : int)\n%s\n x[pos] = 1/x[pos]\nend\nx = ones(9)\n" \
               "parallel_do(9, x, f)\n"
        yes, no = "{!kernel fast_math=true}", "{!kernel fast_math=false}"
        for options, attribute, fast in (((), "", False), ((), yes, True), (("--fast-math",), "", True),
                                         (("--fast-math",), no, False)):
            for stage, mark in (("kir", " fast "), ("llvm", " arcp "), ("cl", " fast")):
                r = qrun(*options, "--device", "cpu", "--dump", stage, text=text % attribute, env=self.env)
                self.assertEqual(mark in r.stdout, fast, (options, attribute, stage))
        r = qrun("--fast-math", "--device", "cpu", "--dump", "kir", env=self.env,
                 text="x = rand(3000000)\ny = x.*x + 1\ny = x.*x + 1\n")
        self.assertIn('kernel "expression" rank 1 rounds fast', r.stdout)

    def test_tuning_keeps_results_and_serves_later_runs(self):
        """The block that --tune reports is that of the next run; the results are the same, also of arrays that a launch
        reads and writes, and of a launch that fails."""
        text = """function [] = __kernel__ turn(x : mat, y : mat, pos : ivec2)
                y[pos[1],pos[0]] = x[pos]
            end
            function [] = __kernel__ grow(x : mat, pos : ivec2)
                for i = 0..4
                    x[pos] = x[pos]*0.9 + pos[1]
                end
            end
            function [] = __kernel__ count(x : mat, h : vec[int], pos : ivec2)
                for i = 0..20
                    h[int(x[pos]) + i] += 1
                end
            end
            function [] = __kernel__ outside(x : mat'checked, y : mat, pos : ivec2)
                for i = 0..9
                    y[pos] += x[pos + [i,0]]
                end
            end
            x = reshape(0..2^18-1, [512,512])/2^18
            y = zeros(512,512)
            h = vec[int](40)
            for k = 1..20
                parallel_do(size(x), x, y, turn)
                parallel_do(size(x), y, grow)
                parallel_do(size(x), x, h, count)
            end
            printf("%.17g %.17g %d", sum(y), y[7,400], sum(h))
            parallel_do([510,512], x, y, outside)"""
        for device in ("cpu", "opencl")[:1 + has_opencl()]:
            plain, tuned, later = (qrun(*options, "--device", device, "--explain", text=text, env=self.env)
                                   for options in ((), ("--tune",), ()))
            self.assertEqual((plain.stdout, plain.returncode), (tuned.stdout, tuned.returncode))
            self.assertEqual(plain.stdout, later.stdout)
            self.assertNotIn("--tune", plain.stderr)
            self.assertIn("is outside dimension 0 of x", tuned.stderr)
            self.assertRegex(tuned.stderr, "kernel count: not tuned: positions update the same elements")
            for name in "turn", "grow":
                told = re.findall(r"kernel %s: [\d.]+ ms(?:, with blocks of (\w+) positions [\d.]+ ms: [\d.]+ times as "
                                  r"fast|; none of \d+ other blocks is 5 %% faster)\n" % name, tuned.stderr)
                self.assertEqual(len(told), 1, tuned.stderr)
                used = re.findall(r"kernel %s: blocks of (\w+) positions, which --tune" % name, later.stderr)
                self.assertEqual(used, [block for block in told if block], later.stderr)
        r = qrun("--tune", "-e", "print 1", env=self.env)
        self.assertEqual((r.stdout, r.stderr), ("1\n", "tuning: no launch took longer than a millisecond in all\n"))

    def test_second_derivatives_are_little_larger_than_first(self):
        text = """function s = shrinks(x)
                s = 0*x[0]
                for i = 0..numel(x)-1
                    t = x[i]
                    while abs(t) > 0.1
                        t = 0.5*t + 0.01*sin(t)
                    end
                    s += t^2*x[i]
                end
            end
            x = float64(linspace(0.5,3,1000))
            y = %s"""
        def largest(expression):
            r = qrun("--device", "cpu", "--loops", "always", "--dump", "kir", text=text % expression, env=self.env)
            self.assertEqual((r.stderr, r.returncode), ("", 0))
            return max(kernel.count("\n") for kernel in re.split("^kernel ", r.stdout, flags=re.M))
        first = largest("grad(shrinks, x)")
        self.assertLess(largest("jvp(shrinks, x, x)"), first)
        self.assertLess(largest("hvp(shrinks, x, x)"), 1.5*first)

    def count_changes(self, name, functions, call):
        """Counts the loops of functions that a pass changes; the output must be that of the interpreter."""
        text = "".join(function.replace("NAME", f"f{i}") + "\n" for i, function in enumerate(functions))
        text += "".join(call.replace("NAME", f"f{i}") + "\n" for i in range(len(functions)))
        options = "--device", "cpu", "--no-warnings", "--loops"
        r = qrun(*options, "always", "--dump", "passes", text=text, env=self.env)
        plain = qrun(*options, "never", text=text, env=self.env)
        self.assertEqual((r.stderr, r.returncode, plain.stderr), ("", 0, ""))
        self.assertEqual(r.stdout.splitlines()[:len(functions)], plain.stdout.splitlines())
        return len(re.findall(f"; after {name}: .*\n(?!; no change)", r.stdout))

    def count_rounded_sums(self, *loops):
        functions = [f"""function [s, t, c] = NAME(a, b, s, t, c)
                n = numel(a)
                u = zeros(4)
                for i = 1..3
                    u[i] = u[i-1] + 1
                    for k = {items}
                        {body}
                    end
                end
            end""" for items, body in loops]
        return self.count_changes("rounded_sums", functions, """
            a = mod(7919*(0..2999), 1009)/1009
            b = mod(104729*(0..2999), 997)/997
            [s, t, c] = NAME(a, b, [1,0,2,3], [3,0,-1000,0.1], zeros(3000))
            printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g", s[1], s[2], s[3], t[1], t[2], c[0], c[2999])""")

    def test_rounded_sums_run_in_blocks(self):
        up, down = "0..n-1", "n-1..-1..0"
        loops = [(up, "s[i] += a[k]*b[k]"), (up, "s[i] = a[k]*b[k] + s[i]"), (up, "s[i] -= a[k]*b[k]"),
                 (up, "s[i] += a[k]"), (up, "s[i] = s[i] - a[k]"), (up, "s[i] = a[k] + s[i]"),
                 (up, "v = a[k]*b[k]\ns[i] += v"), (up, "s[i] += 0.1*a[k]^2"),
                 (up, "s[i] += a[k]*b[k]\nt[i] -= 0.5*a[k]"), (up, "s[i] += a[k]\nt[i] += b[k]"),
                 (up, "s[i] += a[k]*b[k]\nc[k] = 2*a[k]"), (up, "s[i] += a[k]*b[k]\nc[k] = t[i]"),
                 (down, "s[i] += a[k]*b[k]"), (down, "s[i] = a[k] + s[i]"), (down, "s[i] -= b[k]"),
                 ("0..2..n-1", "s[i] += 0.1*k")]
        self.assertEqual(self.count_rounded_sums(*loops), len(loops))

    def test_other_rounded_sums_do_not(self):
        up = "0..n-1"
        self.assertEqual(0, self.count_rounded_sums(
            ("0..2..n-1", "s[i] += a[k]*b[k]"),  # the elements of a vector would be gathered
            (up, "s[i] += a[k]*b[k]\nc[k] = s[i]\nt[i] += a[k]*b[k]"),
            (up, "t[i] += a[k]*b[k]\ns[i] += a[k]*b[k]\nv = s[i]"),
            (up, "s[i] += a[k]*b[k]\nt[i] += a[k]\ns[i] += 0.25*b[k]"),
            (up, "s[i] += a[k]*b[k]\nt[i] = 0.5*t[i] + a[k]")))

    def count_wavefronts(self, *bodies):
        functions = [f"""function [D, E] = NAME(a, b, C, D, E)
                for i = 1..size(D,0)-2
                    for j = 1..size(D,1)-2
                        {body}
                    end
                end
            end""" for body in bodies]
        return self.count_changes("wavefront", functions, """
            C = reshape(mod(7919*(0..40*50-1), 1009)/1009, [40,50])
            [D, E] = NAME(mod(31*(0..39), 4), mod(17*(0..49), 4), C, copy(C), ones(40,50))
            printf("%.9g %.9g %.9g %.9g", D[38,48], E[38,48], sum(float64(D)), sum(float64(E)))""")

    def test_rows_that_depend_on_their_neighbours_run_together(self):
        bodies = ["D[i,j] = 0.25*(D[i-1,j] + D[i,j-1] + D[i+1,j] + D[i,j+1])",
                  "D[i,j] = 0.25*(D[i-1,j] + D[i,j-1]) + C[i,j]",
                  "D[i,j] = C[i,j] + min(min(D[i-1,j], D[i,j-1]), D[i-1,j-1])",
                  "D[i,j] = min(min(D[i-1,j] + 1, D[i,j-1] + 1), D[i-1,j-1] + (a[i] != b[j]))",
                  "if a[i] == b[j]\nD[i,j] = D[i-1,j-1] + 1\nelse\nD[i,j] = max(D[i-1,j], D[i,j-1])\nend",
                  "c = 1\nif a[i] == b[j]\nc = 0\nend\nD[i,j] = min(D[i-1,j] + 1, min(D[i,j-1] + 1, D[i-1,j-1] + c))"]
        self.assertEqual(self.count_wavefronts(*bodies), len(bodies))

    def test_other_rows_do_not(self):
        self.assertEqual(0, self.count_wavefronts(
            "D[i,j] = 0.5*D[i-1,j] + C[i,j]",            # no iteration waits for the one before
            "D[i,j] = 0.5*D[i,j-1] + D[i-1,49-j]",       # the distance of dependent iterations varies
            "D[i,j] = 0.5*D[i,j-1] + D[i-1,j]\nE[0,j] = D[i,j]"))

    def test_bounds_of_rows_are_computed_once(self):
        """Each value is used twice in the next one."""
        values = "\n".join(f"t{k+1} = max(t{k}, t{k} - {k+1})" for k in range(12))
        text = f"""function D = f(D, n : int)
                for i = 1..9
                    t0 = n
                    {values}
                    for j = 1..min(t12, 30)
                        D[i,j] = 0.5*(D[i-1,j] + D[i,j-1])
                    end
                end
            end
            print sum(f(ones(10,40), 30))"""
        r = qrun("--device", "cpu", "--loops", "always", "--dump", "passes", text=text, env=self.env)
        self.assertEqual((r.stderr, r.returncode, r.stdout.splitlines()[0]), ("", 0, "400"))
        self.assertRegex(r.stdout, "; after wavefront: .*\n(?!; no change)")
        self.assertLess(r.stdout.count("\n"), 5000)

    def test_calls_in_loops_are_inlined_less(self):
        """A loop whose last statement leaves it runs more than once if it has a `continue`."""
        text = """function s = f(n)
                s = 1
                k = 0
                while true
                    k += 1
                    if k < 3 && n > 0
                        s += f(n - 1)
                        %s
                    end
                    break
                end
            end
            print f(9)"""
        copies = []
        for last, value in (("", "10"), ("continue", "1023")):
            r = qrun("--device", "cpu", "--loops", "always", "--dump", "llvm", text=text % last, env=self.env)
            self.assertEqual((r.stderr, r.returncode, r.stdout.splitlines()[0]), ("", 0, value))
            copies.append(r.stdout.count("define internal fastcc"))
        self.assertLess(copies[1], copies[0])

    def test_unknown_stage(self):
        r = qrun("--dump", "wasm", text="print 1")
        self.assertEqual(r.returncode, 2)
        self.assertIn("--dump must be ast, bytecode, kir, passes, llvm, opt, asm, cl, c or ptx, got wasm", r.stderr)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler is installed")
    def test_programs_in_c(self):
        text = ("function [] = __kernel__ k(x : vec, y : vec, pos : int)\n"
                " y[pos] = max(x[pos], 0.0) + mod(pos, 5)\nend\n"
                "y = zeros(4)\nparallel_do(4, [1,2,3,4], y, k)\n")
        r = qrun("--device", "ref", "--dump", "c", text=text, env=self.env)
        self.assertTrue(r.stdout.startswith("/* C: k */\n"), r.stdout[:60])
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "k")
            with open(name + ".c", "w") as f:
                f.write(r.stdout)
            subprocess.run(["cc", "-std=c99", "-ffp-contract=off", "-o", name, name + ".c", "-lm"], check=True)
            self.assertEqual(subprocess.run([name], capture_output=True, text=True).stdout,
                             "y: 0 5.5 2 10 7 0 7 4 3 9.5 1 1\n")


# What qrun calls a library that is opened late, its file, a program that needs it, and how that begins to fail.
LATE = (("png", "libpng", 'imwrite("x.png", ones(2,2))', "imwrite: x.png: libpng"),
        ("png", "libpng", 'x = imread("whole.png")', "imread: whole.png is a PNG file, and libpng"),
        ("jpeg", "libjpeg", 'imwrite("x.jpg", ones(2,2))', "imwrite: x.jpg: libjpeg"),
        ("jpeg", "libjpeg", 'x = imread("whole.jpg")', "imread: whole.jpg is a JPEG file, and libjpeg"),
        ("tiff", "libtiff", 'imwrite("x.tif", ones(2,2))', "imwrite: x.tif: libtiff"),
        ("tiff", "libtiff", 'x = imread("whole.tif")', "imread: whole.tif is a TIFF file, and libtiff"),
        ("pcre2", "libpcre2-8", 'x = regmatch("ab", "b")', "regmatch: PCRE2"),
        ("zlib", "libz", 'x = load("whole.npz")', "load: whole.npz is compressed, and zlib"))


class Libraries(unittest.TestCase):
    """Those that a program may never need are opened when it first uses them: they would be half of its start.  One
    that cannot be opened is in nobody's way before, and then it is named."""

    def damaged(self, folder):
        """Empty files in place of all of them, by the names that are in qrun."""
        with open(QRUN, "rb") as f:
            names = set(re.findall(rb"(lib(?:png\d+|jpeg|tiff|pcre2-8|z|expat)\.so\.\d+)(?=\0)", f.read()))
        for name in names:
            open(os.path.join(folder, name.decode()), "w").close()
        return {"LD_LIBRARY_PATH": folder}

    def test_they_are_opened_by_the_first_use(self):
        with tempfile.TemporaryDirectory() as folder:
            env = self.damaged(folder)
            def run(text, **env):
                return subprocess.run([os.path.abspath(QRUN), "-"], input=text + "\n", cwd=folder, text=True,
                                      capture_output=True, env={**os.environ, **env})
            def has(name, **env):
                return not subprocess.run([QRUN, "--has", name], env={**os.environ, **env}).returncode
            here = [row for row in LATE if has(row[0])]
            for end in ("png", "jpg", "tif"):
                run('imwrite("whole.%s", 7*ones(2,2))' % end)
            header = b"\x93NUMPY\1\0v\0{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"
            with zipfile.ZipFile(os.path.join(folder, "whole.npz"), "w", zipfile.ZIP_DEFLATED) as z:
                z.writestr("x.npy", header.ljust(127) + b"\n\7\7\7")
            self.assertEqual(run("print 1", **env).stdout, "1\n")
            for name, file, text, error in here:
                with self.subTest(text):
                    r = run(text)
                    self.assertEqual((r.returncode, r.stderr), (0, ""))
                    self.assertFalse(has(name, **env))
                    r = run(text, **env)
                    self.assertRegex(r.stderr, error + r" cannot be opened: \S+/%s\S*: file too short" % file)
                    self.assertEqual(r.returncode, 1)

    def test_a_library_that_is_damaged_is_not_called_absent(self):
        """The error has the reason of the loader: OpenCL, LLVM, LAPACK."""
        with tempfile.TemporaryDirectory() as folder, open(QRUN, "rb") as f:
            pattern = rb"\0(lib(?:OpenCL|LLVM|openblas|lapack)[\w.-]*\.so[\d.]*)(?=\0)"
            for name in set(re.findall(pattern, f.read())):
                open(os.path.join(folder, name.decode()), "w").close()
            env = {"LD_LIBRARY_PATH": folder, "PATH": "/nowhere", "VIRTUAL_ENV": "", "CONDA_PREFIX": "",
                   "HOME": folder, "QUASAR_CACHE_DIR": "", "QUASAR_LLVM": "", "QUASAR_OPENCL": ""}
            for options, text, error in [
                    (["--device", "opencl"], "print 1\n", r"libOpenCL\.so\.1 cannot be opened: \S+/libOpenCL"),
                    (["--device", "cpu"], kernel(), r"needs LLVM, which cannot be opened: \S+/libLLVM"),
                    ([], "print svd([[1,2],[3,4]])\n", r"needs LAPACK, which cannot be opened: \S+/lib\w+")]:
                with self.subTest(error):
                    r = qrun(*options, text=text, env=env)
                    self.assertRegex(r.stderr, error + r"\S*: file too short")
                    self.assertEqual(r.returncode, 1)

    def test_libjpeg_of_another_version(self):
        """The error is reported before an object for reading or writing is made."""
        with tempfile.TemporaryDirectory() as folder, open(QRUN, "rb") as f:
            file = re.search(rb"\0(libjpeg\.so\.\d+)\0", f.read())
            if not file or not shutil.which("cc"):
                self.skipTest("libjpeg is not opened, or there is no compiler")
            with open(os.path.join(ROOT, "stdlib", "jpeg_api.def")) as f:
                names = re.findall(r"API\((\w+)\)", f.read())
            odd = {"jpeg_std_error": "struct jpeg_error_mgr *jpeg_std_error(struct jpeg_error_mgr *e)"
                                     " { e->format_message = say; return e; }",
                   **{f"jpeg_Create{c}": f"void jpeg_Create{c}(j_{c.lower()}_ptr j, int version, size_t n)"
                                         " { j->err->error_exit((j_common_ptr)j); }"
                      for c in ("Compress", "Decompress")},
                   **{f"jpeg_destroy_{c}": f"void jpeg_destroy_{c}(j_{c}_ptr j) {{ if (j->mem) abort(); }}"
                      for c in ("compress", "decompress")}}
            source = ("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <jpeglib.h>\n"
                      'static void say(j_common_ptr j, char *out) { strcpy(out, "wrong version"); }\n')
            for name in names:
                source += odd.get(name, f"void *odd_{name}(void) __asm__(\"{name}\");"
                                        f" void *odd_{name}(void) {{ abort(); }}") + "\n"
            built = subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o",
                                    os.path.join(folder, file[1].decode())], input=source, text=True)
            self.assertEqual(built.returncode, 0)
            picture = os.path.join(folder, "x.jpg")
            with open(picture, "wb") as f:
                f.write(b"\xff\xd8\xff\xe0" + bytes(60))
            for text in f'x = imread("{picture}")', f'imwrite("{picture}", ones(2,2))':
                with self.subTest(text):
                    r = qrun(text=text + "\n", env={"LD_LIBRARY_PATH": folder})
                    self.assertEqual(r.returncode, 1)
                    self.assertIn("wrong version", r.stderr)

    def test_device_files_without_expat(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "cpu.xml")
            with open(file, "w") as f:
                f.write("<devices><device kind='cpu'/></devices>")
            if qrun("--device", file, text="print 1\n").returncode:
                self.skipTest("without expat")
            r = qrun("--device", file, text="print 1\n", env=self.damaged(folder))
            self.assertRegex(r.stderr, r"cpu.xml: expat cannot be opened: \S+libexpat\S*: file too short")
            self.assertEqual(r.returncode, 1)


class Profile(WithCache):
    def test_table(self):
        text = kernel() + "for k = 1..9\nparallel_do(1000, x, twice)\nend\n"
        r = qrun("--device", "cpu", "--profile", text=text, env=self.env)
        self.assertEqual((r.returncode, r.stdout), (0, "2000\n"))
        self.assertRegex(r.stderr, r"(?m)^twice \S+\.q:3 +10 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +\d+$")
        self.assertRegex(r.stderr, r"GB/s of a = b \+ s\*c, +[0-9.]+ GFLOP/s")

    def test_expressions_and_loops_have_rows(self):
        text = "x = ones(3000000)\nfunction y = f(x : vec)\n    y = x.*x + 2*x\nend\nfunction y = g(x)\n" \
               "    for i = 0..numel(x)-1\n        x[i] = 0.5*x[i] + i\n    end\n    y = 0\nend\n" \
               "function y = h(x)\n    y = 0\n    while y < 5000000\n        y += x[1]\n    end\nend\n" \
               "for k = 1..3\n    y = f(x)\n    z = g(x)\nend\nx[1] = 1\nz = h(x)\nprint z\n"
        for device in ["cpu"] + ["opencl"]*has_opencl():
            r = qrun("--device", device, "--profile", text=text, env=self.env)
            self.assertEqual((r.returncode, r.stdout), (0, "5000000\n"), device)
            for what, calls in (("expression \\S+q:3", 3), ("loop \\S+q:6", 3), ("loop \\S+q:13", 1)):
                self.assertRegex(r.stderr, rf"(?m)^{what} +{calls} +[0-9.]+ +[0-9.]+ ", device)

    def test_rows_outlive_texts_that_are_gone(self):
        text = "x = ones(3000000)\nfor k = 1..3\n    eval(\"y = sum(x.*x + 2*x)\")\nend\nprint 1\n"
        r = qrun("--device", "cpu", "--profile", "--loops", "always", text=text, env=self.env)
        self.assertEqual((r.returncode, r.stdout), (0, "1\n"))
        self.assertRegex(r.stderr, r"(?m)^expression .* 3 ")

    def operations(self, first, last):
        """Of sum += x[pos] in a loop at each of a million positions, as the table says: time and rate."""
        text = """function [] = __kernel__ k(x : vec, y : vec, n : int, pos : int)
                sum = 0.0
                for m = %s..%s
                    sum += x[pos]
                end
                y[pos] = sum
            end
            parallel_do(1000000, ones(1000000), zeros(1000000), 50, k)""" % (first, last)
        r = qrun("--device", "cpu", "--profile", text=text, env=self.env)
        total, rate = re.search(r"(?m)^k \S+ +1 +([0-9.]+) +[0-9.]+ +[0-9.]+ +([0-9.]+|-)", r.stderr).groups()
        return None if rate == "-" else float(total)*float(rate)*1e6

    def test_operations_in_loops(self):
        for bounds, turns in (("-n", "n"), 101), (("1", "n"), 50), (("n", "1"), 0):
            self.assertAlmostEqual(self.operations(*bounds), turns*1e6, delta=turns*5e4 + 1)
        self.assertIsNone(self.operations("0", "int(x[pos])"))

    def test_nothing_launched(self):
        few = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts/kernels/along_few.q")
        r = qrun("--device", "cpu", "--profile", few, env=self.env)
        for name in "sum", "var", "max", "norm", "prod", "any", "mul", "pow":
            self.assertRegex(r.stderr, rf"(?m)^{name} along_few.q:\d+ ")
        r = qrun("--profile", text="print 1")
        self.assertEqual((r.stdout, r.stderr), ("1\n", "profile: no kernel, loop or expression was launched\n"))


@unittest.skipIf("LSAN_OPTIONS" in os.environ, "sanitizers use memory of their own")
class Memory(unittest.TestCase):
    """The most memory that a program had, in arrays of 64 MB."""
    N = 16 << 20

    def peak(self, text):
        with script(text.replace("N", str(self.N))) as name:
            for _ in range(2):  # the second run finds its kernels in the cache: the compiler's memory does not count
                p = subprocess.Popen([QRUN, "--device", "cpu", name], stdout=subprocess.DEVNULL)
                _, status, usage = os.wait4(p.pid, 0)
                p.returncode = status
                self.assertEqual(status, 0)
            return usage.ru_maxrss * 1024 / (4 * self.N)

    def arrays(self, text):
        return self.peak(text) - self.peak("print 1\n")

    def test_update_in_place(self):
        for text in ("x = x + 1", "x = 2 - x.*x + x", "x += 1", "x = sqrt(x).*x"):
            self.assertLess(self.arrays(f"x = ones(N)\nfor k = 1..3\n{text}\nend\n"), 1.2, text)

    def test_a_fused_expression_needs_inputs_and_output(self):
        text = "x = ones(N)\ny = ones(N)\nfor k = 1..3\nz = exp(-x.*x) + y.*2 - x./(y+1)\nend\n"
        self.assertLess(self.arrays(text), 3.2)

    def test_a_reduction_needs_its_inputs(self):
        self.assertLess(self.arrays("x = ones(N)\ny = ones(N)\nfor k = 1..3\ns = sum((x-y).^2)\nend\n"), 2.2)


class SameBits(unittest.TestCase):
    """Sums over positions and iterations are split into parts that depend on the data alone."""

    ZEROS = """
function [] = __kernel__ k(x : vec, s : vec, pos : int)
    s[0] __= x[pos]
    s[1] ^^= x[pos]
end
x = zeros(200000)
x[%d..2..199999] = -x[%d..2..199999]
s = [1/0.0, -1/0.0]
parallel_do(200000, x, s, k)
print 1/s[0], " ", 1/s[1]
"""

    def test_any_number_of_threads(self):
        path = os.path.join(ROOT, "tests", "scripts", "kernels", "same_bits.q")
        one = None
        for n in (1, 1, 2, 2, 3, 3, 4, 4, 7, 7, 8, 8):
            r = qrun("--device", "cpu", "--threads", str(n), path)
            self.assertEqual((r.returncode, r.stderr), (0, ""), f"{n} threads")
            one = one or r.stdout
            self.assertTrue(one)
            self.assertEqual(r.stdout, one, f"{n} threads")

    def test_zeros_of_both_signs(self):
        for first in (0, 1):
            for n in (1, 2, 7):
                r = qrun("--device", "cpu", "--threads", str(n), text=self.ZEROS % (first, first))
                self.assertEqual(r.stdout, "-inf inf\n", f"{n} threads")

    PARTS = """
function [] = __kernel__ single(s : vec, pos : int)
    s[0] += 1
end
function [] = __kernel__ spread(w : vec, img : mat, rows : int, pos : int)
    for m = 0..rows-1
        for n = 1..size(img,1)
            img[m,n-1] += w[pos]
        end
    end
end
s = [2^24]
parallel_do(1000000, s, single)
img = zeros(300,300) + 2^24
parallel_do(640, ones(640), img, 300, spread)
print s[0] - 2^24, " ", min(img) - 2^24
"""

    def test_accumulating_launches_run_in_several_parts(self):
        # 2^24 + 1 is 2^24 in float32: only what other parts have added up before it goes into the array is seen.
        for n in (1, 3):
            r = qrun("--device", "cpu", "--threads", str(n), text=self.PARTS)
            self.assertEqual(r.stderr, "")
            single, spread = map(float, r.stdout.split())
            self.assertGreater(single, 0.95 * 1000000, "sixty-four parts")
            self.assertGreater(spread, 300, "a position here is dear: it has 90000 updates")


class Threads(unittest.TestCase):
    def started(self, *options, env=None, cpus=None):
        """Threads of the process that compute, while it sleeps after work for all of them."""
        with script("x = ones(4000000)\nprint sum(x)\nsleep(600)\n") as name:
            p = subprocess.Popen([QRUN, "--device", "cpu", *options, name], stdout=subprocess.PIPE,
                                 env={**os.environ, **(env or {})},
                                 preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None)
            try:
                for _ in range(600):
                    with open(f"/proc/{p.pid}/wchan") as w:
                        if "nanosleep" in w.read():
                            break
                    time.sleep(0.02)
                names = [n.read_text() for n in pathlib.Path(f"/proc/{p.pid}/task").glob("*/comm")]
                return sum(name != "progress\n" for name in names)
            finally:
                p.kill()
                p.communicate()

    def test_option_and_environment(self):
        self.assertEqual(self.started("--threads", "3"), 3)
        self.assertEqual(self.started(env={"QUASAR_NUM_THREADS": "4"}), 4)
        self.assertEqual(self.started("--threads", "2", env={"QUASAR_NUM_THREADS": "4"}), 2)
        for wrong in "abc", "-1", "0", "3x":
            r = subprocess.run([QRUN, "-e", "1"], capture_output=True, text=True,
                               env=dict(os.environ, QUASAR_NUM_THREADS=wrong))
            self.assertEqual(r.returncode, 1)
            self.assertIn(f"QUASAR_NUM_THREADS must be a number from 1 on, got {wrong}", r.stderr)

    def test_no_threads_are_refused(self):
        r = qrun("--threads", "0", "-e", "1")
        self.assertEqual(r.returncode, 2)
        self.assertIn("--threads must be a number from 1 on, got 0", r.stderr)

    def test_affinity(self):
        one = {min(os.sched_getaffinity(0))}
        self.assertEqual(self.started(cpus=one), 1)


class Usage(unittest.TestCase):
    def test_a_wrong_value_stands_behind_what_is_wanted(self):
        for option in "--targets", "--compile-for":
            r = qrun(option, "foo")
            self.assertEqual((r.returncode, r.stdout), (2, ""))
            self.assertIn(f"{option} must be a list of native, x86-64-v2 to v4, sm_70 to sm_90, opencl, "
                          "got foo; ", r.stderr)

    def test_a_kind_of_device_that_nobody_knows(self):
        for kind in "foo", "cpu,foo", "auto:", "", "cpux:1", "auto:foo":
            r = qrun("--device", kind, "-e", "1")
            self.assertEqual((r.returncode, r.stdout), (2, ""), kind)
            self.assertIn("--device must be cpu, cuda, opencl, ref, gpu or auto, a list", r.stderr)
        r = qrun("--device", "hip", "-e", "1")
        self.assertIn("(AMD GPUs are reached by --device opencl), got hip;", r.stderr)
        self.assertEqual(r.returncode, 2)
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as f:
            f.write("<devices><device kind='hip'/></devices>")
            f.flush()
            r = qrun("--device", f.name, "-e", "1")
        self.assertIn("there is no device kind hip; ", r.stderr)
        self.assertIn("(AMD GPUs are reached by opencl)", r.stderr)
        for kind in "ref", "ref:0", "cpu,ref", "auto:cpu":
            self.assertEqual(qrun("--device", kind, "-e", "1").stdout, "1\n", kind)

    def rows(self):
        """The rows of vm/options.def that are options of qrun."""
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools"))
        import options
        return [r for r in options.ROWS if "COMMANDED" in r.uses], options

    def test_every_option_is_explained(self):
        rows, options = self.rows()
        shown = qrun("--help").stdout
        for r in rows:
            self.assertIn("\n  %s%s" % (options.spelled(r), " " + r.value if r.value else " "), shown)
        self.assertLessEqual(max(map(len, shown.split("\n"))), 120)
        self.assertEqual(qrun("--device", "opencl", "--help").stdout, shown)
        self.assertIn(" ".join(rows[0].help.split()), " ".join(shown.split()))

    def test_every_option_refuses_a_wrong_value(self):
        for r in self.rows()[0]:
            name = "--" + r.name.replace("_", "-")
            if r.value:
                self.assertIn(f"qrun: {name} needs a value; ", qrun(name).stderr)
            if r.kind == "OPTION" and r.type in ("INT", "SIZE") or "ONE_OF" in getattr(r, "check", ""):
                for wrong in "-1", "x", "":
                    refused = qrun(f"{name}={wrong}", "-e", "1")
                    self.assertEqual((refused.returncode, refused.stdout), (2, ""), name)
                    self.assertRegex(refused.stderr, f"^qrun: {name} must be .+, got {wrong}; qrun --help")

    def test_a_misspelt_option_gets_a_suggestion(self):
        for wrong, meant in (("--thread", "--threads"), ("--prescision=64", "--precision"),
                             ("--fastmath", "--fast-math"), ("-devise", "--device"),
                             ("--loop=never", "--loops"), ("--no-warning", "--no-warnings")):
            r = qrun(wrong, "-e", "1")
            self.assertEqual((r.returncode, r.stdout), (2, ""))
            self.assertIn(f"qrun: unknown option {wrong}, did you mean {meant}?; ", r.stderr)
        self.assertIn("unknown option --quiet; ", qrun("--quiet", "-e", "1").stderr)
        for flag in "--fast-math", "--cpu", "--help":
            self.assertIn(f"qrun: {flag} takes no value; ", qrun(flag + "=no", "-e", "1").stderr)

    def test_words_that_nothing_looks_at(self):
        for words, sentence in (("--make-lib x.q extra", "nothing is run that takes the argument extra"),
                                ("--make-exe x.q --no-train -- extra", "nothing is run that takes the argument extra"),
                                ("--make-lib x.q -e 1", "-e is no file that"),
                                ("-o x -e 1", "--out, --train and --no-train belong to"),
                                ("-e 1 x.q", "-e takes no file and no arguments, got x.q"),
                                ("--devices x.q", "run no program"), ("--cache info x.q", "run no program"),
                                ("--has cpu x.q", "run no program")):
            r = qrun(*words.split())
            self.assertEqual((r.returncode, r.stdout), (2, ""), words)
            self.assertIn(sentence, r.stderr)


class Statements(unittest.TestCase):
    def test_loops_over_numbers_are_compiled(self):
        """Variables of several types, computed ranges: no such loop is left to the interpreter, but one that prints."""
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts", "loops")
        for name, least in (("loops_as_of_numba", 40), ("computed_ranges", 10), ("values_of_several_types", 12)):
            told = qrun("--explain", "--loops", "always", os.path.join(folder, name + ".q")).stderr
            loops = [line for line in told.splitlines() if ": loop: " in line]
            self.assertGreaterEqual(len(loops), least, told)
            self.assertEqual([line for line in loops if "interpreted" in line and ": print" not in line], [])

    def test_short_loops_are_counted(self):
        text = "x = zeros(30)\nfor i = 0..3\nx[i] = 1\nend\nfor i = 0..29\nx[i] = 2\nend"
        told = [qrun("--explain", "--loops", when, "-e", text).stderr for when in ("auto", "always", "never")]
        self.assertIn("2 loops had too little work, or none, and were left to the interpreter", told[0])
        self.assertNotIn("too little work", told[1])
        self.assertEqual(told[2], "")

    def test_adjoints_that_are_not_stored_are_told(self):
        text = ("function [] = __kernel__ k(x : vec, y : vec, pos : int)\ny[pos] = 2*x[pos]\nend\n"
                "function y = f(x)\ny = uninit(size(x))\nparallel_do(numel(x), x, y, k)\nend\n"
                "function s = twice(x)\ny = f(x)\ns = sum(y.^2) + sum(y.^3)\nend\n")
        joined = "kernel k: the adjoint of adjoint of y that its backward pass needs is computed there, and not stored"
        for call, told in (("grad(x -> sum(f(x).^2), ones(9))", True), ("grad(twice, ones(9))", False)):
            self.assertEqual(joined in qrun("--explain", "--loops", "always", "-e", text + call).stderr, told, call)

    def test_two_texts_are_refused(self):
        r = qrun("-e", "print 1", "-e", "print 2")
        self.assertEqual((r.returncode, r.stdout), (2, ""))
        self.assertIn("-e stands once", r.stderr)


class Reloading(unittest.TestCase):
    """Modules that are mended or edited while the prompt is open."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.prompt = subprocess.Popen([os.path.abspath(QRUN)], cwd=self.folder, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.prompt.communicate)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def say(self, text):
        """The answer of the prompt."""
        self.prompt.stdin.write(text + '\nprint "done"\n')
        self.prompt.stdin.flush()
        return "".join(iter(self.prompt.stdout.readline, "done\n"))

    def test_a_mended_module_is_imported(self):
        self.write("m.q", "function y = f(x)\n y = (x\nend\n")
        for _ in range(2):
            self.assertIn("m.q:2:8: error", self.say('import "m.q"'))
        self.write("m.q", "function y = f(x)\n y = x+1\nend\n")
        self.assertEqual(self.say('import "m.q"\nf(2)'), "3\n")

    def test_a_module_whose_import_is_mended(self):
        self.write("inner.q", "function y = g(x)\n y = unknown_name\nend\n")
        self.write("outer.q", 'import "inner.q"\nfunction y = f(x)\n y = g(x)+1\nend\n')
        self.assertIn("unknown_name", self.say('import "outer.q"'))
        self.assertIn("unknown_name", self.say('import "outer.q"'))
        self.write("inner.q", "function y = g(x)\n y = 10*x\nend\n")
        self.assertEqual(self.say('import "outer.q"\nf(2)'), "21\n")

    def test_an_edited_module_is_loaded_again(self):
        self.write("inner.q", "function y = g(x)\n y = x\nend\n")
        self.write("outer.q", 'import "inner.q"\nfunction y = f(x)\n y = g(x)+1\nend\n')
        self.assertEqual(self.say('import "outer.q"\nfunction y = typed(x)\n y = -f(x)\nend\nf(2)'), "3\n")
        self.write("inner.q", "function y = g(x)\n y = 10*x\nend\n")
        self.assertEqual(self.say("f(2)"), "3\n")
        self.assertEqual(self.say('import "outer.q"\nf(2)'), "21\n")
        self.write("inner.q", "function y = g(x)\n y = 100*x + 0\nend\n")
        self.assertEqual(self.say("reload"), "outer.q is loaded again\n")
        self.assertEqual(self.say("f(2)"), "201\n")
        self.assertEqual(self.say("typed(2)"), "-201\n")
        self.assertEqual(self.say("reload"), "")

    def test_functions_of_several_files_are_joined_again(self):
        """What was typed before calls the new ones, and sees that one is gone."""
        self.write("a.q", "function y = f(x)\n y = x\nend\n")
        self.write("b.q", "function y = f(x, z)\n y = x+z\nend\n")
        self.say('import "a.q"\nimport "b.q"\nfunction y = typed(x)\n y = f(x)\nend\n')
        self.assertEqual(self.say("typed(1)"), "1\n")
        self.write("a.q", "function y = f(x)\n y = x + 100\nend\n")
        self.say("reload")
        self.assertEqual(self.say("typed(1)"), "101\n")
        self.write("a.q", "function y = other(x)\n y = x + 10\nend\n")
        self.say("reload")
        self.assertIn("argument z is missing", self.say("typed(1)"))

    def test_a_mistake_leaves_what_was_there(self):
        self.write("m.q", "function y = f(x)\n y = x\nend\n")
        self.say('import "m.q"')
        self.write("m.q", "function y = f(x)\n y = (x\nend\n")
        self.assertIn("error: expected ')'", self.say("reload"))
        self.assertEqual(self.say("f(2)"), "2\n")
        self.write("m.q", "function y = f(x)\n y = 5*x\nend\n")
        self.say("reload")
        self.assertEqual(self.say("f(2)"), "10\n")


class Files(unittest.TestCase):
    """How a program comes to the command, and its arguments to main."""

    def piped(self, *options, text):
        return subprocess.run([QRUN, *options], input=text, capture_output=True, text=True, timeout=60)

    def test_standard_input(self):
        for name in ("-", "/dev/stdin"):
            r = self.piped(name, "a", "b", text="print args()\n")
            self.assertEqual((r.stdout, r.stderr, r.returncode), ('{"a","b"}\n', "", 0))

    def test_standard_input_imports_from_the_current_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "part.q"), "w") as f: f.write("function y = twice(x)\n    y = 2*x\nend\n")
            r = subprocess.run([os.path.abspath(QRUN), "-"], input='import "part.q"\nprint twice(4)\n', cwd=folder,
                               capture_output=True, text=True, timeout=60)
            self.assertEqual((r.stdout, r.stderr), ("8\n", ""))

    def test_first_line_names_the_command(self):
        self.assertEqual(qrun(text="#!/usr/bin/env qrun\nprint 5\n").stdout, "5\n")

    def test_main_receives_the_arguments(self):
        main = "function [] = main(a, n : int, k = 7)\nprint a, n+1, k\nend\n"
        self.assertEqual(self.piped("-", "x", "4", text=main).stdout, "x57\n")
        self.assertEqual(self.piped("-", "x", "4", "z", text=main).stdout, "x5z\n")
        r = self.piped("-", "x", "many", text=main)
        self.assertEqual(r.returncode, 1)
        self.assertIn("argument n must be int, got string", r.stderr)

    def test_main_that_cannot_be_called_is_told(self):
        main = "function [] = main(a)\nprint a\nend\n"
        r = self.piped("-", text=main)
        self.assertEqual((r.stdout, r.returncode), ("", 1))
        self.assertIn("error: main is not called: it takes 1 argument, and behind the file there are 0", r.stderr)
        r = self.piped("-", text="function [] = main(a, b = 2)\nprint a\nend\n")
        self.assertIn("error: main is not called: it takes 1 to 2 arguments, and behind the file there are 0", r.stderr)
        self.assertEqual(r.returncode, 1)
        self.assertEqual(self.piped("-", text=main + "main(3)\n").stderr, "")
        r = self.piped("-", "1", "2", text=main)
        self.assertEqual((r.stdout, r.returncode), ("", 1))
        self.assertIn("error: main is not called: it takes 1 argument, and behind the file there are 2", r.stderr)
        defaults = "function [] = main(n = 5, loud : bool = false)\nprint n, loud\nend\n"
        self.assertEqual(self.piped("-", "1", "true", "3", text=defaults).returncode, 1)
        self.assertEqual(self.piped("-", "1", "true", text=defaults).stdout, "11\n")
        self.assertEqual(self.piped("-", text=defaults).stdout, "50\n")

    def test_main_that_the_program_calls_runs_once(self):
        main = "function [] = main(a)\nprint a\nend\nmain(3)\n"
        self.assertEqual(self.piped("-", "4", text=main).stdout, "3\n")
        r = self.piped("-", text="function [] = main()\nprint 3\nend\nmain()\n")
        self.assertEqual((r.stdout, r.returncode), ("3\n", 0))
        self.assertIn("4:1: warning: main runs by itself when its file is started, and does so once", r.stderr)

    def test_main_that_is_only_named_runs(self):
        main = "function [] = main()\nprint 3\nend\n"
        for rest in ("if false\nmain()\nend\n", "if numel(args()) > 0\nmain()\nend\n", "f = main\n"):
            r = self.piped("-", text=main + rest)
            self.assertEqual((r.stdout, r.stderr, r.returncode), ("3\n", "", 0), rest)
        for rest in ("if true\nmain()\nend\n", "f = main\nf()\n"):
            r = self.piped("-", text=main + rest)
            self.assertEqual((r.stdout, r.returncode), ("3\n", 0), rest)
            self.assertIn("warning: main runs by itself when its file is started", r.stderr)

    def test_main_with_more_arguments_than_there_is_room_for(self):
        main = "function [] = main(%s)\nend\n" % ",".join("a%d" % i for i in range(70))
        r = self.piped("-", *map(str, range(70)), text=main)
        self.assertEqual(r.returncode, 1)
        self.assertIn("error: main is not called", r.stderr)

    def test_check(self):
        with script("print 1\n") as good, script("print nowhere\n") as bad, \
             script("m = ones(2,2)\nprint mean(m, 2)\n") as odd:
            r = qrun("--check", good, bad, odd)
            self.assertEqual((r.stdout, r.returncode), ("", 1))
            self.assertIn(bad + ":1:7: error", r.stderr)
            self.assertIn(odd + ":2:15: warning: a matrix has the dimensions 0 and 1", r.stderr)
            self.assertEqual(qrun("--check", good, odd).returncode, 0)
            self.assertIn("along 2 there is nothing to do", qrun(odd).stderr)
        self.assertEqual(qrun("--check", "-e", "x = nowhere").returncode, 1)
        self.assertEqual(qrun("--check").returncode, 2)

    def test_dumps_of_a_text(self):
        self.assertIn("assign =", qrun("--dump", "ast", "-e", "x = 1+2").stdout)
        self.assertIn("LOADN", qrun("--dump", "bytecode", "-e", "x = 1+2").stdout)
        r = qrun("--dump", "kir", "--loops", "always", "-e", "x = 0..9; y = sin(x)*2")
        self.assertIn("sin", r.stdout)


class Output(unittest.TestCase):
    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "w") as full:
            r = qrun("-e", "print 1", stdout=full)
        self.assertEqual((r.returncode, r.stderr), (1, "qrun: the output could not all be written\n"))

    def first_output(self, text, env):
        """What a pipe has seen of a program that then waits."""
        with script(text + "\npause(20000)") as name:
            p = subprocess.Popen([QRUN, name], stdout=subprocess.PIPE, env={**os.environ, **env})
            seen = os.read(p.stdout.fileno(), 100)
            p.kill()
            p.wait()
            p.stdout.close()
            return seen

    def test_a_line_that_is_written_over(self):
        text = ('for i = 1..2\noverwrite("step ", i)\nend\nprint "done"\n'
                'overwrite("longer")\noverwrite("ä")\nwrite("end")')
        r = subprocess.run([QRUN, "-e", text], stdout=subprocess.PIPE)
        self.assertEqual(r.stdout.decode(), "step 1\rstep 2\r      \rdone\nlonger\rä     \r \rend")

    def test_a_kernel_that_prints_too_much(self):
        kernel = "function [] = __kernel__ much(x : vec, pos : int)\nprint x[pos]\nend\n"
        lines = qrun("--device", "cpu", "-e", kernel + "parallel_do(30000, 1..30000, much)").stdout.splitlines()
        kept = (2**16 - 2) // 3  # a line has its number, the position and x[pos]
        self.assertEqual(lines[:kept], [str(i + 1) for i in range(kept)])
        self.assertEqual(lines[kept:], [f"({30000 - kept} more lines of kernel much: one launch keeps 65534 numbers)"])

    def test_what_is_seen_at_once(self):
        self.assertEqual(self.first_output('write("half")\nflush()', {}), b"half")
        self.assertEqual(self.first_output('overwrite(1, " of ", 3)', {}), b"1 of 3\r")
        self.assertEqual(self.first_output('print "now"', {"PYTHONUNBUFFERED": "1"}), b"now\n")


if __name__ == "__main__":
    if "--qrun" in sys.argv:
        at = sys.argv.index("--qrun")
        QRUN = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    parts.main()
