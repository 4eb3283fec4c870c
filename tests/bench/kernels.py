#!/usr/bin/env python3
"""The programs of tests/bench/kernels against the same work in C, NumPy, Numba, Taichi, Warp, Halide and OpenCL C.

    tests/bench/kernels.py [--qrun build/qrun] [--quick] [--write] [--threads 1,2] [--rounds N] [case ...]

Each side is a process that stays; inputs and compiled code are made before the clock runs.  Sides take turns: in a
round each one gives its shortest of a few calls, so that a slow moment of the machine hits all of them, and the ratio
of a round is that of neighbours in time.  Printed: the median of these ratios and, in brackets, the worst of them;
above 1 means that quasar is faster.  Every side's result is compared with ours, elementwise, before anything is timed.
--write puts the tables between the marks in docs/benchmarks.md, and the means into README.md."""
import argparse, datetime, importlib.util, math, os, platform, re, select, shutil, statistics, subprocess, sys
import tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from progress import Progress
BEGIN, END = "<!-- kernels: written by tests/bench/kernels.py -->", "<!-- kernels: end -->"

# name, elements of the result (f: float32, i: int32, b: uint8), how far apart results may be: the largest difference
# over the largest value; for mandelbrot, where a last digit decides about a turn at the edge of the set, the mean over
# the mean.
CASES = {
    "saxpy": ("f", 1e-6), "triad": ("f", 1e-6), "fused": ("f", 5e-6), "sum": ("f", 1e-4), "dot": ("f", 1e-4),
    "histogram": ("i", 0), "scan": ("f", 1e-4), "transpose": ("f", 1e-6), "box": ("f", 1e-5), "gauss": ("f", 1e-5),
    "jacobi": ("f", 1e-5), "nlmeans": ("f", 1e-5), "bilateral": ("f", 1e-5), "mandelbrot": ("f", 2e-3),
    "nbody": ("f", 1e-4), "blackscholes": ("f", 1e-5), "life": ("b", 0), "kmeans": ("f", 1e-3), "matmul": ("f", 1e-5),
    "tiles": ("f", 1e-5), "sortkey": ("f", 1e-6),
}
PACKAGES = {"numpy": "NumPy", "numba": "Numba", "taichi": "Taichi", "warp": "Warp", "halide": "Halide"}
TARGET_C, TARGET_NUMBA = 0.9, 1.5
TARGET_NUMPY = {"fused": 8, "box": 20}  # on one thread


class Gone(Exception):
    """A side that does not answer, with the reason."""


class Side:
    """A process that answers lines; started again when it was lost."""
    patience = 90  # seconds

    def __init__(self, name, cmd, env, log):
        self.name, self.cmd, self.env, self.log, self.process = name, cmd, env, log, None

    def start(self, *more):
        self.log.truncate(0)
        self.process = subprocess.Popen(self.cmd + list(more), env=self.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, bufsize=0)

    def stop(self):
        if self.process:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
        self.process = None

    def ask(self, line=None):
        limit = self.patience
        try:
            if line is not None:
                self.process.stdin.write(f"{line}\n".encode())
            ready, _, _ = select.select([self.process.stdout], [], [], limit)
            answer = self.process.stdout.readline().decode().strip() if ready else ""
        except BrokenPipeError:
            answer = ready = ""
        if answer:
            return answer
        if ready == []:
            self.process.kill()
        self.stop()
        with open(self.log.name, errors="replace") as f:
            said = f.read().strip().splitlines()
        raise Gone(f"no answer in {limit} s" if ready == [] else said[-1] if said else "it ended without a word")

    def prepare(self, case, threads, path):
        if not self.process:
            self.start()
        answer = self.ask(f"case {case} {threads} {path}")
        if answer != "ready":
            raise Gone(answer)

    def run(self, times):
        return float(self.ask(times))


class Ours(Side):
    """One process per case: the script itself is the server."""

    def prepare(self, case, threads, path):
        self.stop()
        self.start("--threads", str(threads), f"{HERE}/kernels/{case}.q", path)
        if self.ask() != "ready":
            raise Gone("unexpected answer")


def text_of(cmd):
    try:
        return subprocess.run(cmd, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def compile_c(out, source, flags, compiler="gcc"):
    """A peer in C; None when it cannot be built."""
    cmd = [compiler, "-O3", "-march=native", "-ffast-math", "-o", out, source, *flags, "-lm"]
    return out if shutil.which(compiler) and not subprocess.run(cmd, capture_output=True).returncode else None


def build(tmp, name, libs):
    return compile_c(os.path.join(tmp, name), f"{HERE}/peers/{name}.c", ["-fopenmp", *libs])


class Machine:
    """The available peers, and the reason for each missing one."""

    def __init__(self, args, tmp):
        self.tmp, self.missing, self.versions = tmp, [], {}
        self.args = args
        # In this order OpenBLAS makes its threads before OMP_PROC_BIND binds the one whose processors they inherit.
        self.c = build(tmp, "c", ["-DWITH_BLAS", "-lgomp", "-lopenblas"])
        if not self.c:
            self.missing.append("OpenBLAS (no matmul in C)")
            self.c = build(tmp, "c", [])
        if self.c:
            self.versions["C"] = text_of(["gcc", "--version"]).splitlines()[0]
        else:
            self.missing.append("C (no gcc with OpenMP)")
        self.opencl = build(tmp, "opencl", ["-lOpenCL"])
        said = text_of([self.opencl, "platform"]) if self.opencl else ""
        if said:
            self.versions["OpenCL C"] = said
        else:
            self.missing.append("OpenCL C (no headers, loader or CPU device of OpenCL)")
        self.packages = [p for p in PACKAGES if importlib.util.find_spec(p)]
        self.missing += [f"{PACKAGES[p]} (python -m pip install {'warp-lang' if p == 'warp' else p})"
                         for p in PACKAGES if p not in self.packages]
        from importlib.metadata import version
        for p in self.packages:
            self.versions[PACKAGES[p]] = version("warp-lang" if p == "warp" else p)

    def sides(self, threads):
        env = dict(os.environ, POCL_MAX_PTHREAD_COUNT=str(threads), POCL_CACHE_DIR=os.path.join(self.tmp, "pocl"),
                   NUMBA_CACHE_DIR=os.path.join(self.tmp, "numba"), OMP_PROC_BIND="true", PYTHONDONTWRITEBYTECODE="1",
                   **{f"{v}_NUM_THREADS": str(threads) for v in ("OMP", "OPENBLAS", "MKL")})
        os.makedirs(env["POCL_CACHE_DIR"], exist_ok=True)
        plain = {k: v for k, v in os.environ.items() if k != "QUASAR_NUM_THREADS"}

        def side(kind, name, cmd, env):
            return kind(name, cmd, env, open(os.path.join(self.tmp, f"{name}.log"), "w"))
        found = [side(Ours, "quasar", [self.args.qrun, "--device", "cpu"], plain)]
        if self.c:
            found.append(side(Side, "C", [self.c], env))
        for p in self.packages:
            if p != "warp" or threads == 1:  # its kernels on the CPU have one thread
                found.append(side(Side, PACKAGES[p], [sys.executable, f"{HERE}/peers/worker.py", p, str(threads)], env))
        if "OpenCL C" in self.versions:
            found.append(side(Side, "OpenCL C", [self.opencl, f"{HERE}/peers"], env))
        return found


def differ(machine, kind, tolerance, case, ours, theirs):
    """None, or how far the results are apart."""
    said = text_of([machine.c, "compare", kind, ours, theirs]).split()
    try:
        apart = float(said[1 if case == "mandelbrot" else 0])
    except (ValueError, IndexError):
        return " ".join(said) or "unreadable"
    return None if apart <= tolerance else f"{apart:.3g}"


def prepare(machine, sides, case, threads, notes):
    """The sides that have the case, all with the same result; ours first.  Empty: ours failed."""
    kind, tolerance = CASES[case]
    ready, first = [], ""
    for s in sides:
        path = os.path.join(machine.tmp, f"{s.name}.result".replace(" ", ""))
        try:
            s.prepare(case, threads, path)
        except Gone as why:
            if not str(why).startswith("none"):
                notes.append(f"{s.name}, {case}: {why}")
            if s is sides[0]:
                return []
            continue
        first = first or path
        apart = differ(machine, kind, tolerance, case, first, path) if s is not sides[0] and machine.c else None
        if apart:
            notes.append(f"{s.name}, {case}: results DIFFER from ours by {apart}, tolerance {tolerance}")
        else:
            ready.append(s)
    return ready


def measure(ready, case, rounds, slice_ms, notes):
    """Milliseconds by side, one per round, ours first; a side that is slow misses rounds, one that ends is left out."""
    ours, times, calls = ready[0], {s: [] for s in ready}, {}
    for r in range(-1, rounds):
        first = r % len(ready)
        for s in ready[first:] + ready[:first]:
            try:
                if r < 0:
                    calls[s] = s.run(1)
                else:
                    seldom = s is not ours and calls[s] > 8 * slice_ms
                    times[s].append(None if seldom and r % 4 else s.run(max(1, int(slice_ms / max(calls[s], 1e-3)))))
            except Gone as why:
                notes.append(f"{s.name}, {case}: {why}")
                del times[s]
        ready = [s for s in ready if s in times]
        if ours not in times:
            return {}
    return times


def ratios(ours, theirs):
    return [t / o for o, t in zip(ours, theirs) if t is not None]


class Table:
    def __init__(self, threads, names):
        self.threads, self.names, self.rows = threads, names, {}

    def add(self, case, times):
        mine = next(iter(times.values()))
        self.rows[case] = (min(mine), {s.name: (min(t for t in v if t is not None), *spread(ratios(mine, v)))
                                       for s, v in list(times.items())[1:]})

    def text(self):
        out = [f"### {self.threads} thread{'s' * (self.threads > 1)}\n",
               "| case | quasar, ms |" + "".join(f" {n}, ms | {n}/quasar |" for n in self.names),
               "|---|---|" + "---|---|" * len(self.names)]
        for case, (ms, others) in self.rows.items():
            cells = "".join(" {:.2f} | {:.2f} ({:.2f}) |".format(*others[n]) if n in others else " | |"
                            for n in self.names)
            out.append(f"| {case} | {ms:.2f} |{cells}")
        means = "".join(f" | {self.mean(n):.2f} |" for n in self.names)
        return "\n".join(out + [f"| geometric mean | |{means}"])

    def mean(self, name):
        r = [o[name][1] for _, o in self.rows.values() if name in o]
        return math.exp(sum(map(math.log, r)) / len(r)) if r else float("nan")

    def targets(self):
        """Sentences: what was wanted and is not met; what was met."""
        got = {c: {n: v[1] for n, v in o.items()} for c, (_, o) in self.rows.items()}
        slow = [f"{c} {r['C']:.2f}" for c, r in got.items() if r.get("C", 1) < TARGET_C]
        yield f"at least {TARGET_C} of C everywhere: " + (f"missed by {', '.join(slow)}" if slow else "met")
        if any("Numba" in r for r in got.values()):
            m = self.mean("Numba")
            yield f"geometric mean of {TARGET_NUMBA} against Numba: {'met' if m >= TARGET_NUMBA else 'missed'}, {m:.2f}"
        for case, want in TARGET_NUMPY.items():
            r = got.get(case, {}).get("NumPy")
            if r and self.threads == 1:
                yield f"{want} times NumPy on {case}: {'met' if r >= want else 'missed'}, {r:.1f}"


def spread(r):
    return statistics.median(r), min(r)


# -- memory ----------------------------------------------------------------------------------------------------------
WARM = """function [] = warm()
    x = ones(20000)
    y = x
    for k = 1..50
        {expr}
    end
end
warm()
"""
PEAK = WARM + "x = ones({n})\ny = ones({n})\n{expr}\n"
EXPRESSION = "z = exp(-x.*x).*sin(y) + 2*(x - y)./(1 + abs(y))"


def peak(args, expr, n):
    """Most memory that a script had, in MiB; the expression is warmed on few elements first."""
    with tempfile.NamedTemporaryFile("w", suffix=".q") as f:
        f.write(PEAK.format(n=n, expr=expr))
        f.flush()
        p = subprocess.Popen([args.qrun, f.name])
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_maxrss / 1024


def memory(args):
    n = 1 << 24
    block = n * 4 / 2 ** 20
    peak(args, EXPRESSION, 1000)  # from now on the code is in the cache, and LLVM is not loaded
    extra = peak(args, EXPRESSION, n) - peak(args, EXPRESSION, 1000)
    verdict = "met" if extra < 3.1 * block else "missed"
    return (f"peak memory of a fused expression is its inputs and its output: {verdict}; `{EXPRESSION}` with arrays of "
            f"{block:.0f} MiB takes {extra:.0f} MiB in all, inputs and output are {3 * block:.0f}")


# -- the report -------------------------------------------------------------------------------------------------------
def cpu_name():
    try:
        with open("/proc/cpuinfo") as f:
            return re.search(r"model name\s*: (.*)", f.read())[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def heading(args, machine, busy):
    quasar = text_of([args.qrun, "--version"]).splitlines()[0]
    lines = [f"{datetime.date.today():%d %B %Y}; {cpu_name()}, {os.cpu_count()} processors, {platform.system()} "
             f"{platform.release()}; {quasar}; " + "; ".join(f"{k}: {v}" for k, v in machine.versions.items()) + ".",
             "Not here, so not compared: " + "; ".join(machine.missing) + "." if machine.missing else "",
             f"The machine was busy with something else when this began (load {busy:.1f})." if busy > 0.7 else ""]
    return "\n".join(l for l in lines if l)


def summary(tables):
    """How many times the time of quasar each peer takes, in the mean over the programs that it has."""
    names = list(dict.fromkeys(n for t in tables for n in t.names))
    rows = [f"| {t.threads} thread{'s' * (t.threads > 1)} |" +
            "".join(f" {t.mean(n):.1f} |" if n in t.names else " |" for n in names) for t in tables]
    return "\n".join(["| |" + "".join(f" {n} |" for n in names), "|---|" + "---|" * len(names), *rows])


def write(page, text, begin=BEGIN, end=END):
    """Puts the text between the marks of a page."""
    path = f"{ROOT}/{page}"
    with open(path) as f:
        before, rest = f.read().split(begin)
    with open(path, "w") as f:
        f.write(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=f"{ROOT}/build/qrun")
    p.add_argument("--quick", action="store_true", help="fewer and shorter rounds: about two minutes")
    p.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    p.add_argument("--threads", help="numbers of threads, by commas (1,2)")
    p.add_argument("--rounds", type=int)
    p.add_argument("cases", nargs="*", metavar="case")
    args = p.parse_args()
    args.qrun = os.path.abspath(args.qrun)
    unknown = [c for c in args.cases if c not in CASES]
    if unknown:
        p.error(f"there is no case {unknown[0]}; there are {' '.join(CASES)}")
    threads = [int(t) for t in (args.threads or "1,2").split(",") if int(t) <= max(1, len(os.sched_getaffinity(0)))]
    rounds, slice_ms = args.rounds or (5 if args.quick else 9), 6 if args.quick else 25
    notes, tables, busy, begun = [], [], os.getloadavg()[0], time.time()
    progress, cases = Progress("kernels"), args.cases or list(CASES)
    with tempfile.TemporaryDirectory() as tmp:
        machine = Machine(args, tmp)
        for t in threads:
            sides = machine.sides(t)
            table = Table(t, [s.name for s in sides[1:]])
            for done, case in enumerate(cases):
                progress.at(len(tables)*len(cases) + done, len(threads)*len(cases), f"{t} threads, {case}")
                ready = prepare(machine, sides, case, t, notes)
                times = measure(ready, case, rounds, slice_ms, notes) if ready else None
                if times:
                    table.add(case, times)
            for s in sides:
                s.stop()
                s.log.close()
            tables.append(table)
    progress.clear()
    facts = [f"- {t.threads} thread{'s' * (t.threads > 1)}: {s}" for t in tables for s in t.targets()]
    facts += [f"- {n}" for n in [memory(args), *notes]]
    report = "\n\n".join([heading(args, machine, busy), *[t.text() for t in tables], "\n".join(facts)])
    print(f"\n## Kernels and array expressions\n\n{report}\n\n{time.time() - begun:.0f} s")
    if args.write:
        write("docs/benchmarks.md", report)
        write("README.md", summary(tables))
    sys.exit(any("DIFFER" in n or n.startswith("quasar") for n in notes))


if __name__ == "__main__":
    main()
