#!/usr/bin/env python3
"""The command qrun: devices, their drivers, and the same bits on several of them and for each number of threads.

    tests/command_devices.py [--qrun build/qrun] [-v] [Class.test ...]

tests/support/driver/odd_opencl.c simulates drivers of OpenCL that differ from the installed one."""
import os, pathlib, re, signal, subprocess, tempfile, time, unittest

import parts
from processes import QRUN, ROOT, WithCache, has_opencl, kernel, qrun, script


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


if __name__ == "__main__":
    parts.main()
