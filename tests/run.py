#!/usr/bin/env python3
"""Runs the script tests: every tests/scripts/<area>/x.q, with its expectation in x.out; every example; and every
```quasar block of README.md and docs/*.md that is followed by an ```output block.

    tests/run.py [options] [filter ...]      a filter is a part of a path: kernels, lang/for

Comment lines at the top of a script say how it is to be run:
    % exit: 1            expected exit status (default 0; then .out holds standard output followed by standard error)
    % args: a b          arguments of the script
    % stdin: text        given on standard input (\\n for a new line)
    % prompt: yes        the script is typed at the prompt instead of being run
    % options: --checked options for qrun
    % devices: one       run on one device only (default: on every device, when the script can reach a kernel);
                         or the devices to run on: % devices: cpu opencl
    % tolerance: 1e-5    numbers may differ by that much, relative to max(1, |expected|)
    % display: yes       needs a screen: run under xvfb-run, skipped where that is not installed
    % release: yes       measures memory or time: skipped under sanitizers (--slow)
    % needs: png         skipped, and counted, where `qrun --has png` says no
A script that gets the error of a part which this build leaves out ("this build has no figures …") is skipped, too.
A script that starts with `% part` is only imported by others.
"""
import argparse, concurrent.futures, importlib.util, os, re, shlex, shutil, subprocess, sys, tempfile, time
from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)")
SNIPPET = re.compile(r"^```quasar\n((?:(?!^```).)*)^```\n+```output\n(.*?)^```", re.M | re.S)
PYTHON_MODULE = re.compile(r'pyimport\("(\w+)')
ABSENT = re.compile(r"this build has no [A-Za-z ]+ \(QUASAR_WITH_\w+\)")  # a part that CMake left out (vm/base/parts.h)
REACHES_KERNEL = re.compile(r"parallel_do|serial_do|__kernel__|^import|^\s*for\b", re.M)


def header(text):
    """The `% key: value` lines at the top."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("%"):
            break
        m = re.match(r"%\s*(exit|args|stdin|prompt|options|devices|tolerance|display|release|needs):\s*(.*)", line)
        if m:
            found[m[1]] = m[2].strip()
    return found


def same(expected, actual, tolerance):
    if expected == actual:
        return True
    if not tolerance or NUMBER.sub("#", expected) != NUMBER.sub("#", actual):
        return False
    for a, b in zip(NUMBER.findall(expected), NUMBER.findall(actual)):
        a, b = float(a), float(b)
        if a != b and not (a != a and b != b) and not abs(a - b) <= tolerance * max(1.0, abs(a)):
            return False
    return True


def difference(expected, actual):
    want, got = expected.splitlines(), actual.splitlines()
    for i in range(max(len(want), len(got))):
        w = want[i] if i < len(want) else "(end)"
        g = got[i] if i < len(got) else "(end)"
        if w != g:
            return f"    line {i + 1}\n      wanted: {w}\n      got:    {g}"
    return "    differs in white space at the end"


class Runner:
    def __init__(self, args):
        self.args = args
        self.qrun = os.path.abspath(args.qrun)
        self.options = args.options
        self.has = {}

    def present(self, what):
        if what not in self.has:
            r = subprocess.run([self.qrun, "--has", what], capture_output=True)
            self.has[what] = r.returncode == 0
        return self.has[what]

    def devices(self):
        if self.args.device:
            return self.args.device
        return [d for d in ("ref", "cpu", "opencl", "cuda") if self.present(d)] or [None]

    def choose(self, said, text):
        if said and said != "one":
            return [d for d in self.devices() if d in said.split()]
        return self.devices() if said != "one" and REACHES_KERNEL.search(text) else self.devices()[:1]

    def wanted(self, path):
        return not self.args.filter or any(f in path for f in self.args.filter)

    def jobs(self):
        for base in ("tests/scripts", "examples"):
            for folder, _, files in os.walk(os.path.join(ROOT, base)):
                for name in sorted(files):
                    path = os.path.relpath(os.path.join(folder, name), ROOT)
                    if not name.endswith(".q") or not self.wanted(path):
                        continue
                    text = open(os.path.join(ROOT, path), encoding="utf-8", errors="replace").read()
                    if text.startswith("% part"):
                        continue
                    opts = header(text)
                    for device in self.choose(opts.get("devices"), text):
                        yield path, device, opts

        for doc in ["README.md"] + sorted("docs/" + n for n in os.listdir(os.path.join(ROOT, "docs"))):
            text = open(os.path.join(ROOT, doc), encoding="utf-8").read() if doc.endswith(".md") else ""
            for i, m in enumerate(SNIPPET.finditer(text)):
                path = f"{doc}#{i + 1}"
                if self.wanted(path):
                    needs = ["python"] * ("pyimport" in m[1]) + ["figures"] * ("getframe" in m[1])
                    needs = " ".join(needs + PYTHON_MODULE.findall(m[1]))
                    yield path, self.devices()[0], {"snippet": m[1], "output": m[2], "needs": needs}

    def command(self, path, device, opts):
        cmd = [self.qrun] + (["--device", device] if device else [])
        cmd += shlex.split(self.options) + shlex.split(opts.get("options", ""))
        return cmd if "prompt" in opts else cmd + [path] + shlex.split(opts.get("args", ""))

    def run(self, job):
        path, device, opts = job
        for need in opts.get("needs", "").split():
            if not self.present(need):
                return job, "skip", f"needs {need}"
        if "release" in opts and self.args.slow > 1:
            return job, "skip", "measures memory or time, not under sanitizers"
        cmd = self.command(path, device, opts)
        if "display" in opts:
            if not shutil.which("xvfb-run"):
                return job, "skip", "needs xvfb-run"
            cmd = ["xvfb-run", "-a"] + cmd
        stdin = opts.get("stdin", "").replace("\\n", "\n")
        if "prompt" in opts:
            stdin = open(os.path.join(ROOT, path), encoding="utf-8").read()
        with tempfile.TemporaryDirectory() as tmp:
            if "snippet" in opts:
                cmd[-1] = os.path.join(tmp, "snippet.q")
                with open(cmd[-1], "w", encoding="utf-8") as f:
                    f.write(opts["snippet"])
            asan = os.environ.get("ASAN_OPTIONS", "detect_leaks=1")
            env = dict(os.environ, QUASAR_TEST_DIR=tmp, ASAN_OPTIONS=asan, QUASAR_FIGURES=tmp,
                       LSAN_OPTIONS=f"print_suppressions=0:suppressions={ROOT}/tests/leaks.supp",
                       UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1")
            if "QUASAR_CACHE_DIR" not in env:
                env["QUASAR_CACHE_DIR"] = self.args.cache
            limit = (180 if device == "opencl" else 60) * self.args.slow  # OpenCL compilers are slow
            try:
                r = subprocess.run(cmd, cwd=ROOT, input=stdin.encode(), capture_output=True, env=env, timeout=limit)
            except subprocess.TimeoutExpired:
                return job, "fail", f"    took longer than {limit} s"
        out, err = r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")
        absent = ABSENT.search(out + err)
        if absent:
            return job, "skip", absent[0]
        if "snippet" in opts:
            out, err = (t.replace(cmd[-1], "snippet.q") for t in (out, err))
            verdict = "pass" if out + err == opts["output"] else "fail"
            return job, verdict, difference(opts["output"], out + err)
        wanted_exit = int(opts.get("exit", 0))
        if r.returncode != wanted_exit:
            return job, "fail", f"    exit status {r.returncode}, wanted {wanted_exit}\n" + "".join(
                f"    | {l}\n" for l in (out + err).splitlines()[-12:])
        actual = out + err
        expectation = os.path.join(ROOT, path[:-2] + ".out")
        if self.args.bless and device == self.devices()[0]:
            with open(expectation, "w", encoding="utf-8") as f:
                f.write(actual)
            return job, "pass", ""
        if not os.path.exists(expectation):
            if path.startswith("examples"):  # an example checks itself by its exit status
                return job, "pass", ""
            return job, "fail", "    no expectation: write it, or look at the output and use --bless"
        expected = open(expectation, encoding="utf-8").read()
        if same(expected, actual, float(opts.get("tolerance", 0))):
            return job, "pass", ""
        return job, "fail", difference(expected, actual)

    def rerun(self, job):
        return " ".join(shlex.quote(os.path.relpath(c, ROOT) if c == self.qrun else c) for c in self.command(*job))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--options", default="", help="options for every run of qrun, as '--loops always'")
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--device", action="append", help="only on this device (may be repeated)")
    p.add_argument("--bless", action="store_true", help="write what the programs print now as the expectation")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--slow", type=float, default=1, help="time limits times this, for sanitizer builds")
    p.add_argument("--slowest", type=int, default=0, metavar="N", help="names the N that took longest")
    p.add_argument("--cache", default=None, help="kernel cache folder for this run (default: a fresh one)")
    p.add_argument("--llvmlite", action="store_true", help="with the LLVM of the Python package llvmlite")
    p.add_argument("filter", nargs="*")
    args = p.parse_args()
    start = time.time()
    if args.llvmlite:
        package = importlib.util.find_spec("llvmlite")
        if not package:
            return print("skipped: llvmlite is not installed")
        os.environ["QUASAR_LLVM"] = os.path.join(package.submodule_search_locations[0], "binding", "libllvmlite.so")
    with tempfile.TemporaryDirectory() as cache:
        args.cache = os.path.abspath(args.cache or cache)
        runner = Runner(args)
        jobs = list(runner.jobs())
        counts, skipped, times = {"pass": 0, "fail": 0, "skip": 0}, {}, []

        def timed(job):
            begin = time.time()
            return *runner.run(job), time.time() - begin

        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, Progress("scripts") as progress:
            for job, verdict, detail, seconds in pool.map(timed, jobs):
                counts[verdict] += 1
                times.append((seconds, job))
                progress.at(sum(counts.values()), len(jobs), f"{counts['fail']} failed")
                if verdict == "skip":
                    skipped.setdefault(detail, []).append(job[0])
                if verdict == "fail":
                    progress.say(f"FAIL {job[0]} on {job[1] or 'default'}\n{detail}\n    again: {runner.rerun(job)}")
    absent = [d for d in ("ref", "cpu", "opencl", "cuda") if not args.device and d not in runner.devices()]
    for seconds, job in sorted(times, key=lambda t: -t[0])[:args.slowest]:
        print(f"{seconds:7.1f} s  {job[0]} on {job[1] or 'default'}")
    for why, paths in skipped.items():
        print(f"skipped, {why}: {', '.join(paths)}")
    if absent:
        print(f"devices not here, not run: {', '.join(absent)}")
    print(f"devices run: {', '.join(str(d) for d in runner.devices())}; {time.time() - start:.1f} s")
    skipped = f", {counts['skip']} skipped" if counts["skip"] else ""
    print(f"{counts['pass']} passed, {counts['fail']} failed{skipped}")
    sys.exit(1 if counts["fail"] or not counts["pass"] else 0)


if __name__ == "__main__":
    main()
