#!/usr/bin/env python3
"""The command qrun: the cache on disk, dumps, profiles, and what it reports during long work.

    tests/command_reports.py [--qrun build/qrun] [-v] [Class.test ...]"""
import os, re, shutil, signal, stat, subprocess, sys, tempfile, time, unittest

import parts
from processes import QRUN, ROOT, WithCache, has_opencl, kernel, qrun, script


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

    def test_remaining_iterations_are_vectors(self):
        text = "x = rand(40,250)\ny = zeros(40,250)\nfunction [] = f(x, y)\n for i = 0..39\n  for j = 0..249\n" \
               "   y[i,j] += %s*x[i,j]\n  end\n end\nend\nf(x, y)\n"
        for factor in ("0.1", "0.5"):  # in float64, in float32
            r = qrun("--device", "cpu", "--loops", "always", "--dump", "opt", text=text % factor, env=self.env)
            self.assertRegex(r.stdout, r"vec\.epilog\.vector\.body|vec_epilog", factor)

    def test_counts_of_ints_are_vectors(self):
        """Beside a truth value of the iteration before: a count that begins as an int and becomes a number, and one of
        a declared type, which the guard knows to hold it."""
        text = """function [n, inside] = runs(x)
                n START
                inside = false
                for i = 0..numel(x)-1
                    above = x[i] > 0.5
                    if above && !inside
                        n += 1
                    end
                    inside = above
                end
            end
            [n, inside] = runs(mod((0..9999)*37, 101)/101); print n, type(n), inside"""
        for start in "= int(0)", ": int = 0", ": int16 = -9":
            r = qrun("--device", "cpu", "--threads", "1", "--loops", "always", "--dump", "opt", env=self.env,
                     text=text.replace("START", start))
            self.assertIn("vector.reduce.add", r.stdout, start)

    def test_counts_need_no_tests(self):
        """A count that begins as an int in each iteration changes in small steps, so that it stays below 2^53."""
        text = """function n = inversions(x)
                n = int(0)
                for i = 1..numel(x)-1
                    k = int(0)
                    for j = 0..i-1
                        k += x[j] > x[i]
                    end
                    n += k
                end
            end
            print inversions(mod((0..99)*37, 101))"""
        r = qrun("--device", "cpu", "--loops", "always", "--dump", "kir", text=text, env=self.env)
        inner = r.stdout.split("for.reassoc")[2].split("  end\n")[0]
        self.assertNotIn("inb", inner)
        self.assertNotIn("check", inner)

    def test_sums_of_two_types_are_integers(self):
        """Where an int or a number is added to an int, a sum below 2^53 is the same."""
        text = """function p = search(x, v)
                p = zeros(1, numel(v))
                for i = 0..numel(v)-1
                    [low, high] = {int(0), int(numel(x) - 1)}
                    while low < high
                        middle = int(floor((low + high)/2))
                        if x[middle] < v[i]
                            low = middle + 1
                        else
                            high = middle
                        end
                    end
                    p[i] = low
                end
            end
            print sum(search(float64(0..999), mod(7*(0..99), 999)))"""
        r = qrun("--device", "cpu", "--loops", "always", "--dump", "kir", text=text, env=self.env)
        self.assertRegex(r.stdout, "= shr int64")

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

    def test_kernels_that_follow_columns_run_in_tiles(self):
        tiles = 256  # NATIVE_TILES of devices/native.h
        for line, wanted in (("y[pos[1],pos[0]] = x[pos]", tiles), ("y[pos] = x[pos[1],pos[0]]", tiles),
                             ("for k = 0..9\ny[pos] += x[pos[0],k]*x[k,pos[1]]\nend", tiles),
                             ("y[pos] = x[pos]", 0), ("for k = 0..9\ny[pos] += x[pos[0]+k,pos[1]]\nend", 0)):
            text = ("function [] = __kernel__ f(x : mat'clamped, y : mat, pos : ivec2)\n%s\nend\n"
                    "parallel_do([40,40], ones(60,60), zeros(60,60), f)" % line)
            r = qrun("--device", "cpu", "--dump", "llvm", text=text, env=self.env)
            flags = re.search(r"@kernel_info = constant .*? \{ i32 \d+, i32 (\d+),", r.stdout + r.stderr)
            self.assertEqual(int(flags[1]) & tiles, wanted, line)

    def test_tuning_keeps_results_and_serves_later_runs(self):
        """The block that --tune reports is that of the next run; the results are the same, also of arrays that a launch
        reads and writes, and of a launch that fails."""
        text = """function [] = __kernel__ turn(x : mat, y : mat, pos : ivec2)
                y[pos[1],pos[0]] = x[pos]
            end
            function [] = __kernel__ grow(x : mat, pos : ivec2)
                for i = 0..99
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

    def test_branches_keep_no_loop_from_vectors(self):
        """Sums in branches, and searches for extremes; of an int the position is sought, too.  A sum that is read, and
        elements of a column, which are far from each other, stay as they are."""
        loop = """function [m, k, s] = NAME(x)
                [m, k, s] = {0, 0, 0}
                for i = 0..numel(x)-1
                    BODY
                end
            end"""
        call = "[m, k, s] = NAME(mod((0..99)*37, 101)); print m, k, s"
        sums = ["if x[i] > 50; s += x[i]; end", "if x[i] < 9; continue; end; s -= 1",
                "if x[i] > 50; s += x[i]; end; k = max(k, s)"]
        searches = ["m = max(m, x[i])", "if x[i] > m; m = x[i]; k = i; end", "if x[i] <= m; m = x[i]; end",
                    "m = x[i] > m ? x[i] : m", "if x[i] > m; m = x[i]; elseif x[i] < k; k = x[i]; end",
                    "m = max(m, x[i]) + 1", "if x[i] > m; k = m; m = x[i]; end",
                    "if x[i] > m; m = x[i]; elseif x[i] > k; k = x[i]; end"]
        functions = lambda bodies: [loop.replace("BODY", body.replace("; ", "\n")) for body in bodies]
        self.assertEqual(self.count_changes("conditional_sums", functions(sums), call), 2)
        self.assertEqual(self.count_changes("extremes", functions(searches), call), 5)
        of_ints = [f.replace("{0,", f"{{{start},") for f, start in zip(functions(searches[1:2]*2), ["0", "-inf"])]
        self.assertEqual(self.count_changes("extremes", of_ints, "[m, k, s] = NAME(int((0..99).^2)); print m, k, s"), 2)

    def count_row_passes(self, name, *bodies):
        """Counts the kernels whose loops along rows a pass changes."""
        kernels = [f"""function [] = __kernel__ NAME(x : mat, y : mat, pos : int)
                [n, s, t] = [size(x,1), 0.0, x[pos,0]]
                {body}
                y[pos,0] += s
                y[pos,1] = t
            end""" for body in bodies]
        return self.count_changes(name, kernels, """x = reshape(mod((0..2999)*37, 101)/64, [20,150])
            y = zeros(20, 150)
            parallel_do(20, x, y, NAME)
            printf("%.9g %.9g %.9g", sum(float64(y[:,0])), sum(float64(y[:,1])), sum(float64(y[:,2..149])))""")

    def test_kernels_search_rows_in_vectors(self):
        """Columns, and rows of a known short length, stay as they are."""
        rows = ["t = max(t, x[pos,j])", "t = min(x[pos,j], t)\ns = max(s, -x[pos,j])",
                "if x[pos,j] > t\nt = x[pos,j]\ns = j\nend"]
        self.assertEqual(3, self.count_row_passes("row_extremes", *("for j = 0..n-1\n" + r + "\nend" for r in rows)))
        self.assertEqual(0, self.count_row_passes("row_extremes", "for j = 0..19\nt = max(t, x[j,pos])\nend",
                                                  "for j = 0..19\nt = max(t, x[pos,j])\nend",
                                                  "for j = 0..n-1\nc = x[pos,j] > t\nt = c ? x[pos,j] : t\n"
                                                  "s = c ? s + j : s\nend"))

    def test_terms_of_sums_along_rows_run_in_blocks(self):
        """A sum whose terms are cheap, one that is stored, and columns stay as they are."""
        rows = ["s += exp(x[pos,j])", "e = exp(x[pos,j] - t)\ny[pos,j] = e\ns += e", "s = 0.5*s + x[pos,j]/(1 + j)",
                "s += 2*exp(-x[pos,j])\nt = max(t, sin(x[pos,j]))", "t = j + t*sqrt(x[pos,j])"]
        others = ["s += x[pos,j]", "s += exp(x[pos,j])\ny[pos,j] = s", "s = exp(s - x[pos,j])"]
        loops = lambda bodies: [f"for j = {items}\n{b}\nend" for b in bodies for items in ("0..n-1", "n-1..-1..3")]
        self.assertEqual(10, self.count_row_passes("row_terms", *loops(rows)))
        self.assertEqual(0, self.count_row_passes("row_terms", *loops(others),
                                                  "for j = 0..19\ns += exp(x[j,pos])\nend"))

    def test_elements_at_chosen_indices_are_kept(self):
        """Unless the loop changes the array, or has another way out, such as the test of another array."""
        loop = """function k = NAME(x, z)
                k = 0
                for i = 0..numel(x)-1
                    if x[i] > x[k]
                        BODY
                    end
                end
            end"""
        call = "x = mod((0..99)*37, 101); print NAME(x, x[0..98])"
        functions = [loop.replace("BODY", body) for body in ("k = i", "x[k] = 7\nk = i", "k = i + 0*z[k]")]
        self.assertEqual(self.count_changes("chosen_elements", functions, call), 1)
        pivot = """function k = NAME(A, j)
                k = 0
                for i = 0..9
                    if ELEMENT
                        k = i
                    end
                end
            end"""
        functions = [pivot.replace("ELEMENT", e) for e in ("A[i,j] > A[k,j]", "A[j,i] > A[j,k]", "A[i,j] > A[k,i]")]
        call = "A = reshape(mod((0..99)*37, 101), [10,10]); print NAME(A, 3), NAME(A, 7)"
        self.assertEqual(self.count_changes("chosen_elements", functions, call), 2)

    def test_loops_that_run_once_become_conditions(self):
        loop = """function y = NAME(x)
            y = zeros(100)
            for i = 0..99
                if x[i] < 9 || x[i] > 90
                    EXIT
                end
                y[i] = 2*x[i]
            end
        end"""
        functions = [loop.replace("EXIT", e) for e in ("continue", "y[i] = 1\ncontinue", "y[i] = 1")]
        self.assertEqual(self.count_changes("single_runs", functions, "print sum(NAME(mod((0..99)*37, 101)))"), 2)

    def test_short_loops_around_triangles_are_unrolled(self):
        loop = """function s = NAME(x)
            s = 0
            for i = 0..40
                for k = 0..LAST
                    for m = FIRST
                        BODY
                    end
                end
            end
        end"""
        add = "s = 0.5*s + x[i+m]"
        nests = [("3", "k..3", add), ("7", "k..-1..1", add), ("3", "k..3", "if x[i] > 9; break; end\n" + add),
                 ("3", "0..3", add), ("7", "k..i", add), ("40", "k..40", "s += x[m]"), ("x[0]", "k..3", add)]
        functions = [loop.replace("LAST", a).replace("FIRST", b).replace("BODY", c) for a, b, c in nests]
        self.assertEqual(self.count_changes("unroll", functions, "print NAME(mod((0..99)*37, 101))"), 3)

    def test_kernels_store_channels_in_vectors(self):
        """A loop over few channels is copied; one over many, with a jump, without a store or inside a loop is not."""
        loops = ["for c = 0..size(y,2)-1\ny[pos[0],pos[1],c] = x[int(x[pos[1],pos[0],0]*4),pos[1],c]\nend",
                 "for c = 2..-1..1\nif x[pos[0],pos[1],c] > 0.5\ny[pos[0],pos[1],c] = c\nend\nend",
                 "for c = 0..7\ny[pos[0],pos[1],0] += c\nend",
                 "for c = 0..2\nif x[pos[0],pos[1],c] > 0.5\nbreak\nend\ny[pos[0],pos[1],c] = c\nend",
                 "s = 0.0\nfor c = 0..2\ns += x[pos[0],pos[1],c]\nend\ny[pos[0],pos[1],0] = s",
                 "for m = 0..numel(x)\nfor c = 0..2\ny[pos[0],pos[1],c] += m\nend\nend"]
        kernels = [f"function [] = __kernel__ NAME(x : cube, y : cube, pos : ivec2)\n{body}\nend" for body in loops]
        self.assertEqual(2, self.count_changes("unroll", kernels, """
            x = reshape(mod((0..299)*37, 101)/101, [10,10,3])
            y = zeros(10, 10, 3)
            parallel_do([10,10], x, y, NAME)
            printf("%.9g %.9g", sum(y), sum(y[3..7,5,1..2]))"""))
    def test_indices_from_elements_are_tested_first(self):
        loop = """function y = NAME(x, c)
            y = zeros(10)
            for i = 0..9
                s = 0
                for k = RANGE
                    BODY
                end
                y[i] = s
            end
        end"""
        add = "s += x[c[k]]"
        forms = [("8*i..8*i+7", add), ("i..i+4", add), ("c[i]..c[i+1]", add), ("0..9", "s = x[c[k]] - 0.5*s"),
                 ("0..9", "if k > i; " + add + "; end"), ("0..9", "c[k] = 1; " + add)]
        functions = [loop.replace("RANGE", a).replace("BODY", b) for a, b in forms]
        call = "c = int(0..99); print NAME(sin(0..99), copy(c))"
        self.assertEqual(self.count_changes("index_tests", functions, call), 2)

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
                 ("0..2..n-1", "s[i] += 0.1*k"), ("0..2..n-1", "s[i] += a[k]*b[k]")]
        self.assertEqual(self.count_rounded_sums(*loops), len(loops))

    def test_other_rounded_sums_do_not(self):
        up = "0..n-1"
        self.assertEqual(0, self.count_rounded_sums(
            (up, "s[i] += a[k]*b[k]\nc[k] = s[i]\nt[i] += a[k]*b[k]"),
            (up, "t[i] += a[k]*b[k]\ns[i] += a[k]*b[k]\nv = s[i]"),
            (up, "s[i] += a[k]*b[k]\nt[i] += a[k]\ns[i] += 0.25*b[k]"),
            (up, "s[i] += a[k]*b[k]\nt[i] = 0.5*t[i] + a[k]")))

    def count_wavefronts(self, *bodies):
        functions = [f"""function [D, E] = NAME(a, b, C, D, E)
                m = 0.5
                for i = 1..size(D,0)-2
                    for j = 1..size(D,1)-2
                        {body}
                    end
                end
                E[39,49] = m
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
                  "D[i,j] = 0.5*(D[i-1,j] + D[i,j-1]) + C[i,j]\nm = max(m, D[i,j])",
                  "D[i,j] = 0.5*(D[i-1,j] + D[i,j-1])\nif C[i,j] > 0.5\nm = min(m, D[i,j])\nend\nm = min(C[i,j], m)",
                  "if a[i] == b[j]\nD[i,j] = D[i-1,j-1] + 1\nelse\nD[i,j] = max(D[i-1,j], D[i,j-1])\nend",
                  "c = 1\nif a[i] == b[j]\nc = 0\nend\nD[i,j] = min(D[i-1,j] + 1, min(D[i,j-1] + 1, D[i-1,j-1] + c))"]
        self.assertEqual(self.count_wavefronts(*bodies), len(bodies))

    def test_other_rows_do_not(self):
        self.assertEqual(0, self.count_wavefronts(
            "D[i,j] = 0.5*(D[i-1,j] + D[i,j-1])\nm = max(m, D[i,j])\nm = min(m, C[i,j])",
            "D[i,j] = 0.5*(D[i-1,j] + D[i,j-1]) + m\nm = max(m, C[i,j])",
            "D[i,j] = 0.5*D[i-1,j] + C[i,j]",            # no iteration waits for the one before
            "D[i,j] = 0.5*D[i,j-1] + D[i-1,49-j]",       # the distance of dependent iterations varies
            "D[i,j] = 0.5*D[i,j-1] + D[i-1,j]\nE[0,j] = D[i,j]"))

    def test_exact_products_are_added_by_one_instruction(self):
        """The product of two float32 elements is exact, that of an element and 0.1 is not."""
        def kinds(statement, elements="float32", exact=True):
            text = f"""function d = f(a, b, c, d)
                    for i = 0..numel(a)-1
                        {statement}
                    end
                end
                x = mod(7919*(0..999), 1009)/1009
                print sum(float64(f({elements}(x), {elements}(x + 0.25), {elements}(3*x), {elements}(0*x))))"""
            options = "--device", "cpu", "--no-warnings", "--loops"
            r = qrun(*options, "always", "--dump", "llvm", text=text, env=self.env)
            plain = qrun(*options, "never", text=text, env=self.env)
            self.assertEqual((r.stderr, r.returncode, plain.stderr), ("", 0, ""))
            self.assertEqual(r.stdout.splitlines()[0], plain.stdout.splitlines()[0], statement)
            self.assertEqual(bool(re.search("f(add|sub) contract double", r.stdout)), exact, statement)
        for statement in ("d[i] = a[i]*b[i] + c[i]", "d[i] += a[i]*b[i]", "d[i] = 0.1*a[i] - b[i]*c[i]",
                          "d[i] = 1.5*a[i]*b[i] + c[i]", "d[i] = 0.125*(a[i] + b[i] + c[i]) + c[i]"):
            kinds(statement)
        for statement in ("d[i] = 0.1*a[i] + b[i]", "d[i] = a[i]*b[i]*c[i] + b[i]", "d[i] = (a[i] + b[i])*c[i] + b[i]"):
            kinds(statement, exact=False)
        kinds("d[i] = a[i]*b[i] + c[i]", elements="float64", exact=False)

    def test_sums_in_copies_of_an_array_are_kept_in_variables(self):
        function = """function s = NAME(a, b)
                s = zeros(3)
                k = 1
                for i = 0..numel(a)-1
                    s[k] -= a[i]*b[i]
                end
            end"""
        self.assertEqual(self.count_changes("promote", [function], """
            s = NAME(mod(31*(0..3999), 64), mod(17*(0..3999), 32))
            printf("%.9g %.9g %.9g", s[0], s[1], s[2])"""), 1)

    def test_remainders_of_neighbours_need_no_division(self):
        """If the first values are too far away, the loop is compiled with divisions."""
        text = """function y = turn(x, n, first, last)
                y = zeros(n)
                for i = first..last
                    for a = -1..1
                        y[mod(i+a,n)] += x[mod(i-a,n)]*(a+2)
                    end
                end
            end
            x = mod(7919*(0..99), 64)
            n = %s
            for k = 1..3
                y = turn(x, n, %s, %s)
                print sum(y), " ", y[0], " ", y[n-1], " ", y[3]
            end
            y = turn(x, n, -250, 250)
            print sum(y), " ", y[0], " ", y[n-1]"""
        for n, first, last, divides in ("100", "0", "n-1", False), ("100", "-99", "n+98", False), \
                ("100", "-100", "n-1", True), ("100", "0", "2*n-1", True), ("7", "0", "99", True):
            options = "--device", "cpu", "--no-warnings", "--loops"
            program = text % (n, first, last)
            r = qrun(*options, "always", "--dump", "kir", text=program, env=self.env)
            plain = qrun(*options, "never", text=program, env=self.env)
            self.assertEqual((r.stderr, r.returncode, plain.stderr), ("", 0, ""))
            self.assertEqual(r.stdout.splitlines()[:4], plain.stdout.splitlines(), (n, first, last))
            kernels = [k for k in re.split("^kernel ", r.stdout, flags=re.M) if k.startswith('"loop"')]
            self.assertEqual("= mod int64" in kernels[0], divides, (n, first, last))

    def count_columns(self, *bodies, rows="0..size(A,0)-1"):
        functions = [f"""function [y, B, k] = NAME(A, x, y, B, k)
                for j = 0..size(A,1)-1
                    for i = {rows}
                        {body}
                    end
                end
            end""" for body in bodies]
        return self.count_changes("columns", functions, """
            A = reshape(mod(7919*(0..40*50-1), 1009), [40,50])
            [y, B, k] = NAME(A, mod(31*(0..49), 64), mod(17*(0..59), 64), ones(60,60), 3)
            printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g", y[0], y[7], y[39], sum(y), sum(B), B[3,5], k)""")

    def test_loops_down_columns_go_along_rows(self):
        bodies = ["y[i] += A[i,j]*x[j]", "y[i] = max(y[i], A[i,j])", "y[i+1] = y[i+1] - A[i,j]",
                  "k = A[i,j] + i\ny[i] += x[j]*k", "y[i] = x[j] - 0.5*A[i,j] + y[i]"]
        self.assertEqual(self.count_columns(*bodies), len(bodies))
        self.assertEqual(self.count_columns(bodies[3], rows="7..2"), 1)

    def test_other_loops_do_not(self):
        self.assertEqual(0, self.count_columns(
            "y[i] += B[j,i]*x[j]",            # along rows already
            "y[i] += A[i,j]*y[j]", "y[0] += A[i,j]", "y[i] += A[i,j]\ny[i+1] += x[j]",
            "B[i,j] += A[i,j]",               # each iteration has its own element
            "k = 0.5*k + A[i,j]\ny[i] += k", "if A[i,j] > 9\ny[i] += A[i,j]\nend"))
        self.assertEqual(0, self.count_columns("y[i] += A[i,j]*x[j]", rows="0..2..38"))

    def dump_loop(self, statements, what):
        """What the compiler prints for a loop over the elements i of x that sets y, and for its indices."""
        text = f"""function y = f(x, w)
                y = zeros(numel(x))
                for i = 7..numel(x)-8
                    {statements}
                end
            end
            print sum(f(mod(7919*(0..99), 64), 0..6))"""
        options = "--device", "cpu", "--no-warnings", "--loops"
        r = qrun(*options, "always", "--dump", what, text=text, env=self.env)
        plain = qrun(*options, "never", text=text, env=self.env)
        self.assertEqual((r.stderr, r.returncode, plain.stderr), ("", 0, ""))
        self.assertEqual(r.stdout.splitlines()[0], plain.stdout.splitlines()[0], statements)
        return r.stdout

    def test_rounded_numbers_are_not_rounded_again_as_indices(self):
        for index, rounds in ("floor(x[i]*0.5) + 3", 0), ("round(x[i]) - floor(x[i]*0.25)*2", 0), ("x[i]*0.5", 1):
            self.assertEqual(self.dump_loop(f"y[i] = x[{index}]", "kir").count("math.trunc"), rounds, index)

    def test_long_sums_in_loops_that_are_unrolled_overlap(self):
        body = "s = 0.0\nfor k = %s\ns += w[k]*x[i+k]*w[k]\nend\ny[i] = s"
        nest = "s = 0.0\nfor k = 0..6\nfor l = 0..6\ns += x[i+k-l]*(k+l)\nend\nend\ny[i] = s"
        for statements, overlap in (nest, True), (body % "0..6", False):
            found = re.search(r"distinct !\{!\d+, !1, !11\}", self.dump_loop(statements, "llvm"))
            self.assertEqual(bool(found), overlap, statements)

    def test_windows_have_no_conditions_in_the_interior(self):
        for condition, use in [("j+d >= 0 && j+d < n", "s += x[i,j+d]\nend"),
                               ("j+d < 0 || n <= j+d || i+d < 0 || i+d >= m", "continue\nend\ns += x[i+d,j+d]")]:
            text = f"""function y = f(x)
                    [m, n] = size(x)
                    y = zeros(m, n)
                    for i = 0..m-1
                        for j = 0..n-1
                            s = 0
                            for d = -2..2
                                if {condition}
                                    {use}
                            end
                            y[i,j] = s
                        end
                    end
                end
                print sum(f(ones(40, 50)))"""
            r = qrun("--device", "cpu", "--loops", "always", "--dump", "passes", text=text, env=self.env)
            self.assertEqual((r.stderr, r.returncode), ("", 0))
            fast = r.stdout.split("; after interior")[1].split("\n  if ")[1].split("\n  else")[0]
            self.assertIn("store y", fast)
            self.assertNotRegex(fast, r" (lt|le) bool| if ")

    def test_conditions_on_counters_split_loops(self):
        """Comparisons of a counter and a value that all iterations share.  A value of each iteration, a multiple of the
        counter, and a loop of few iterations do not split it."""
        loop = """function z = NAME(x, w)
                z = zeros(1, 100)
                for i = 1..99
                    LOOP
                        BODY
                        z[k] = 0.5*z[k] + z[i-1]
                    end
                end
            end"""
        bodies = ["if k < i; z[k] = x[i-k]; end", "if w[i] <= k && k < 90; z[k] += x[k-int(w[i])]; end",
                  "if k != i; z[k] = 1; else; z[k] = 2; end", "if k-i >= 0 || i+k == 7; continue; end",
                  "if k > i; break; end", "if !(k < i) && x[k] > 3; z[k] -= 1; end",
                  "if x[k] < i; z[k] = 1; end", "if 3*k < i; z[k] = 1; end", "if mod(k,2) == 0; z[k] = 1; end"]
        text = lambda body, head: loop.replace("LOOP", head).replace("BODY", body.replace("; ", "\n"))
        functions = [text(body, "for k = 0..99") for body in bodies] + [text(bodies[0], "for k = 0..1")]
        functions += [text(bodies[k], "for k = 99..-1..0") for k in (0, 4)]
        call = "print sum(NAME(mod(0..99, 9), int(mod(0..99, 4))).*(1..100))"
        self.assertEqual(self.count_changes("index_sets", functions, call), 8)

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


if __name__ == "__main__":
    parts.main()
