#!/usr/bin/env python3
"""Gradients of the programs of tests/bench/grad: their time over that of the value, beside torch, JAX, Warp and Taichi.

    tests/bench/grad.py [--qrun build/qrun] [--write] [--threads 1,2] [--rounds N] [--cpu] [--alone] [case ...]

A gradient is what grad(f, x) gives for a number f: the value is computed on the way.  All is one run; each side is a
process that stays; in a round each one gives its shortest of a few calls of the value, and of the gradient, one after
the other; printed is the shortest of all rounds, which a busy machine disturbs least.  --cpu takes the processor's time
in place of the clock's: on a machine that others use at the same time that is what can be compared.  The gradients of
all sides are compared before anything is timed.  Peak memory is that of the process of ours after gradients, over that
after values; --alone leaves the peers away.  JAX keeps its own number of threads: it gets as many processors as there
are threads.  Warp's processor has one thread."""
import argparse, glob, importlib.util, math, os, re, subprocess, sys, tempfile, time
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import kernels
from progress import Progress
from kernels import Gone, Side

BEGIN, END = "<!-- gradients: written by tests/bench/grad.py -->", "<!-- gradients: end -->"
CASES = {  # the ratio that is wanted, and how far gradients may be apart, over the largest element
    "saxpy": (3, 1e-5), "fused": (3, 1e-4), "box": (3, 1e-4), "gauss": (3, 1e-4), "jacobi": (3, 1e-4),
    "nbody": (4, 1e-3), "blackscholes": (3, 1e-3), "nlmeans": (4, 1e-3), "matmul": (4, 1e-4), "gmm": (4, 1e-3),
    "ba": (4, 1e-3), "lstm": (4, 1e-3),
}
PEERS = {"torch": "torch", "jax": "JAX", "warp": "Warp", "taichi": "Taichi"}


class Peer(Side):
    patience = 900  # the first kernel of Warp compiles all of them


class Ours(Side):
    def prepare(self, case, threads, path):
        self.stop()
        self.start("--threads", str(threads), f"{HERE}/grad/{case}.q", path)
        if self.ask() != "ready":
            raise Gone("unexpected answer")


def processor_ms(pid):
    """The time of all threads of a process, as counted by the scheduler."""
    total = 0
    for task in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(task) as f:
                total += int(f.read().split()[0])
        except OSError:
            pass
    return total / 1e6


def run(side, what, times, cpu):
    before = processor_ms(side.process.pid) if cpu else 0
    least = float(side.ask(f"{what} {times}"))
    return (processor_ms(side.process.pid) - before) / times if cpu else least


def sides_of(args, threads, tmp):
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", JAX_PLATFORMS="cpu",
               **{f"{v}_NUM_THREADS": str(threads) for v in ("OMP", "OPENBLAS", "MKL")})
    some = sorted(os.sched_getaffinity(0))[:threads]
    pin = ["taskset", "-c", ",".join(map(str, some))]

    def log(name):
        return open(os.path.join(tmp, f"{name}.log"), "w")
    found = [Ours("quasar", pin + [args.qrun, "--device", "cpu"], env, log("quasar"))]
    for p in PEERS:
        if not args.alone and importlib.util.find_spec(p):
            found.append(Peer(PEERS[p], pin + [sys.executable, f"{HERE}/grad/peers.py", p], env, log(p)))
    return found


def prepare(sides, case, threads, tmp, notes):
    ready, first = [], None
    for s in sides:
        path = os.path.join(tmp, f"{s.name}.gradient")
        try:
            s.prepare(case, threads, path)
        except Gone as why:
            if not str(why).startswith("none"):
                notes.append(f"{s.name}, {case}: {why}")
            continue
        g = np.fromfile(path, np.float32).astype(float)
        first = g if first is None else first
        apart = float("inf") if g.shape != first.shape else abs(g - first).max() / abs(first).max()
        if not apart <= CASES[case][1]:
            notes.append(f"{s.name}, {case}: gradients DIFFER by {apart:.3g}, tolerance {CASES[case][1]}")
        else:
            ready.append(s)
    return ready


def measure(ready, case, rounds, slice_ms, cpu, notes):
    """Milliseconds of value and gradient, by name of the side."""
    best = {s.name: [math.inf, math.inf] for s in ready}
    calls = {}
    for r in range(-1, rounds):
        for s in ready:
            for i, what in enumerate(("value", "grad")):
                try:
                    n = 1 if r < 0 else max(1, int(slice_ms / max(calls[s, i], 1e-3)))
                    calls[s, i] = t = run(s, what, n, cpu)
                    if r >= 0:
                        best[s.name][i] = min(best[s.name][i], t)
                except Gone as why:
                    notes.append(f"{s.name}, {case}: {why}")
                    return {}
    return best


def peak(args, case, what, tmp):
    """MiB of a process that computes values, or gradients, ten times."""
    with open(f"{HERE}/grad/{case}.q") as f:
        text = f.read()
    race = ("function [] = race(value, gradient)\n    for k = 1..10\n        r = " + what + "()\n    end\n"
            '    say("done")\n    line = fgets(fopen("/dev/stdin"))\nend')
    text = text.replace('import "race.q"', f'import "{HERE}/kernels/measure.q"\n{race}')
    path = os.path.join(tmp, f"{case}.q")
    with open(path, "w") as f:
        f.write(text)
    p = subprocess.Popen([args.qrun, "--threads", "1", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    with open(f"/proc/{p.pid}/status") as f:
        kib = int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])
    p.communicate()
    return kib / 1024


def table(threads, rows, names):
    out = [f"### {threads} thread{'s' * (threads > 1)}\n",
           "| case | value, ms | gradient, ms | ratio | wanted |" +
           "".join(f" {n}: ratio | {n} gradient / ours |" for n in names),
           "|---|---|---|---|---|" + "---|---|" * len(names)]
    over = {n: [] for n in names}
    for case, best in rows.items():
        v, g = best["quasar"]
        line = f"| {case} | {v:.3f} | {g:.3f} | {g / v:.2f} | {CASES[case][0]} |"
        for n in names:
            if n in best:
                over[n].append(best[n][1] / g)
                line += f" {best[n][1] / best[n][0]:.2f} | {best[n][1] / g:.2f} |"
            else:
                line += " | |"
        out.append(line)
    mean = "".join(f" | {math.exp(sum(map(math.log, over[n])) / len(over[n])):.2f} |" if over[n] else " | |"
                   for n in names)
    return "\n".join(out + [f"| geometric mean | | | | |{mean}"])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=f"{kernels.ROOT}/build/qrun")
    p.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    p.add_argument("--threads", default="1,2", help="numbers of threads, by commas (1,2)")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--cpu", action="store_true", help="time of the processor in place of the clock's")
    p.add_argument("--alone", action="store_true", help="without the peers")
    p.add_argument("cases", nargs="*", metavar="case")
    args = p.parse_args()
    args.qrun = os.path.abspath(args.qrun)
    cases = args.cases or list(CASES)
    notes, texts, begun, busy = [], [], time.time(), os.getloadavg()[0]
    progress = Progress("gradients")
    with tempfile.TemporaryDirectory() as tmp:
        numbers = [int(t) for t in args.threads.split(",") if int(t) <= len(os.sched_getaffinity(0))]
        for threads in numbers:
            rows, sides = {}, sides_of(args, threads, tmp)
            for done, case in enumerate(cases):
                progress.at(len(texts)*len(cases) + done, len(numbers)*len(cases), f"{threads} threads, {case}")
                for s in sides[1:]:
                    s.process or s.start()
                ready = prepare(sides, case, threads, tmp, notes)
                if ready and ready[0].name == "quasar":
                    rows[case] = measure(ready, case, args.rounds, 40, args.cpu, notes)
            texts.append(table(threads, {c: r for c, r in rows.items() if r}, [s.name for s in sides[1:]]))
            for s in sides:
                s.stop()
                s.log.close()
        memory = [f"{c} {peak(args, c, 'gradient', tmp):.0f} ({peak(args, c, 'value', tmp):.0f})" for c in cases]
    progress.clear()
    clock = "processor time" if args.cpu else "wall time"
    facts = [f"- {clock}, least of {args.rounds} rounds; load of the machine when it began {busy:.1f}",
             f"- peak memory of a process that computes gradients (values), MiB: {', '.join(memory)}",
             *[f"- {n}" for n in notes]]
    report = "\n\n".join([*texts, "\n".join(facts)])
    print(f"\n## Gradients\n\n{report}\n\n{time.time() - begun:.0f} s")
    if args.write:
        kernels.write("docs/benchmarks.md", report, BEGIN, END)
    sys.exit(any("DIFFER" in n or n.startswith("quasar") for n in notes))


if __name__ == "__main__":
    main()
