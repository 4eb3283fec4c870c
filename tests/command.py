#!/usr/bin/env python3
"""The command qrun, where a test needs processes, signals, or files around it.

    tests/command.py [--qrun build/qrun] [-v] [Class.test ...]

Devices are tested by command_devices.py, the cache, dumps and profiles by command_reports.py."""
import os, re, shutil, signal, subprocess, sys, tempfile, unittest, zipfile

import parts
from processes import QRUN, ROOT, WithCache, kernel, qrun, script


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

    def test_counters_of_the_program_are_known(self):
        """`k += 1` in each iteration: k at its beginning depends on no other iteration, also in nested loops."""
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts", "loops", "own_counters.q")
        told = qrun("--explain", "--loops", "always", "--device", "cpu", path).stderr
        lines = {loop: re.findall(f"own_counters.q:{loop}: loop: .*", told) for loop in (5, 13, 33, 43, 68)}
        self.assertTrue(all(lines.values()), told)
        self.assertTrue(any("parallel" in line for line in lines[5]), told)
        self.assertTrue(all("parallel" in line for line in lines[13]), told)
        self.assertFalse(any("depends on values" in line for line in lines[33] + lines[43]), told)
        self.assertTrue(all("depends on values" in line for line in lines[68]), told)

    def test_indices_that_wrap_around_are_inside(self):
        """By `if i == n`, `if i >= n; i -= n` and `i == 0 ? n-1 : i-1`: the loops run in parallel."""
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts", "loops", "wrap_around.q")
        told = qrun("--explain", "--loops", "always", "--device", "cpu", path).stderr
        for loop in (6, 21, 30, 46):
            self.assertIn(f"wrap_around.q:{loop}: loop: parallel", told)

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
    parts.main()
