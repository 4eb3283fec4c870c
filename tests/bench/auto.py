#!/usr/bin/env python3
"""How near the automatic choice of a device comes to the best single one, over the programs of tests/bench/kernels.

    tests/bench/auto.py [--qrun build/qrun] [--devices cpu,opencl] [--settle S] [--rounds N] [--write] [case ...]

Each program runs once per device and once with `--device auto:…`, as processes that stay.  `from the start`: the time
for as many calls as the best device makes in about S seconds, trials of the others and all.  `afterwards`: calls in
short slices, the sides in turns; the median of the ratios to the device that was best in the median.  Ratios are auto
divided by the best single device: 1 is as good.  --write puts the table into docs/devices.md.

--clock cpu counts processor time of all threads instead: for devices that are the processor, when it is busy."""
import argparse, datetime, glob, math, os, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from kernels import CASES, Gone, Ours, cpu_name, text_of, write  # noqa: E402

BEGIN, END = "<!-- written by tests/bench/auto.py -->", "<!-- end -->"
TARGET = 1.2


class Program(Ours):
    """One case with one choice of devices."""

    def __init__(self, qrun, choice, clock, tmp):
        log = open(os.path.join(tmp, choice.replace(":", "-")), "w")
        super().__init__(choice, [qrun, "--device", choice], os.environ, log)
        self.clock = time.perf_counter if clock == "wall" else self.cpu_time

    def cpu_time(self):
        spent = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path) as f:
                spent += int(f.read().split()[0])
        return spent * 1e-9

    def begin(self, case):
        self.stop()
        self.start(f"{HERE}/kernels/{case}.q", os.devnull)
        if self.ask() != "ready":
            raise Gone("unexpected answer")

    def take(self, calls):
        """Seconds for so many calls."""
        start = self.clock()
        self.run(calls)
        return self.clock() - start


def calls_within(program, seconds):
    """How many calls it makes in about that time, once it is warm."""
    program.take(1)
    one = program.take(1)
    few = max(1, int(0.3 * seconds / one))
    return max(2, int(seconds * few / program.take(few)))


def from_the_start(auto, best, case, calls):
    """Auto's time for so many calls, divided by that of the best; processes that have made none."""
    times = []
    for p in (auto, best):
        p.begin(case)
        times.append(p.take(calls))
    return times[0] / times[1]


def afterwards(singles, auto, rounds, slices):
    """Seconds per call of each side, by round."""
    times = {p: [] for p in [*singles, auto]}
    for r in range(rounds):
        sides = list(times)
        for p in sides[r % len(sides):] + sides[:r % len(sides)]:
            times[p].append(p.take(slices[p]) / slices[p])
    return times


def measure(singles, auto, case, settle, rounds):
    """A row of the table: milliseconds per call on each device, and the two ratios."""
    slices = {}
    for p in singles:
        p.begin(case)
        slices[p] = calls_within(p, settle)
    fast = max(singles, key=lambda p: slices[p])
    start = from_the_start(auto, fast, case, slices[fast])
    slices[auto] = slices[fast]
    few = {p: max(1, int(n * 0.1 / settle)) for p, n in slices.items()}
    times = afterwards(singles, auto, rounds, few)
    best = min(singles, key=lambda p: statistics.median(times[p]))
    after = statistics.median(a / b for a, b in zip(times[auto], times[best]))
    return [statistics.median(times[p]) * 1e3 for p in singles], start, after


def table(names, rows):
    out = ["| case |" + "".join(f" {n}, ms |" for n in names) + " from the start | afterwards |",
           "|---|" + "---|" * (len(names) + 2)]
    out += [f"| {case} |" + "".join(f" {t:.2f} |" for t in times) + f" {start:.2f} | {after:.2f} |"
            for case, (times, start, after) in rows.items()]
    means = [math.exp(statistics.mean(math.log(r[k]) for r in rows.values())) for k in (1, 2)]
    worst = [max(r[k] for r in rows.values()) for k in (1, 2)]
    out.append("| geometric mean |" + " |" * len(names) + "".join(f" {m:.2f} |" for m in means))
    out.append("| worst |" + " |" * len(names) + "".join(f" {w:.2f} |" for w in worst))
    return "\n".join(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=f"{ROOT}/build/qrun")
    p.add_argument("--devices", default="cpu,opencl")
    p.add_argument("--settle", type=float, default=6)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    p.add_argument("--write", action="store_true")
    p.add_argument("cases", nargs="*", metavar="case")
    args = p.parse_args()
    here = subprocess.run([args.qrun, "--device", args.devices, "-e", "1"], capture_output=True, text=True)
    if here.returncode:
        return print(f"the automatic choice of a device: not run, {here.stderr.strip()}")
    rows, notes, names, busy = {}, [], args.devices.split(","), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as tmp:
        singles = [Program(args.qrun, n, args.clock, tmp) for n in names]
        auto = Program(args.qrun, f"auto:{args.devices}", args.clock, tmp)
        for case in args.cases or CASES:
            print(f"\r{case}", end="\033[K", file=sys.stderr, flush=True)
            try:
                rows[case] = measure(singles, auto, case, args.settle, args.rounds)
            except Gone as why:
                notes.append(f"{case}: {why}")
        for s in [*singles, auto]:
            s.stop()
            s.log.close()
    print("\r", end="\033[K", file=sys.stderr)
    late = [f"{c} {r[2]:.2f}" for c, r in rows.items() if r[2] > TARGET]
    version = text_of([args.qrun, "--version"]).splitlines()[0]
    heading = (f"{datetime.date.today():%d %B %Y}; {cpu_name()}, {os.cpu_count()} processors, load {busy:.1f}; "
               f"{version}; from the start: {args.settle:g} s; {args.clock} time.")
    met = f"missed by {', '.join(late)}" if late else "met"
    facts = [f"at most {TARGET} times the best device, afterwards: {met}"]
    report = "\n\n".join([heading, table(names, rows), "\n".join(f"- {n}" for n in facts + notes)])
    print(report)
    if args.write:
        write("docs/devices.md", report, BEGIN, END)
    sys.exit(bool(notes))


if __name__ == "__main__":
    main()
