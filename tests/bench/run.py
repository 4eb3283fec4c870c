#!/usr/bin/env python3
"""Measures this build against its peers, in one run, and prints ratios.

    tests/bench/run.py [options] [interp] [startup] [arrays] [kernels] [grad] [bridge] [auto]

Each figure is the best of the repeats; peers are run alternately with ours, so that a slow moment hits both.
A peer that is not installed is listed as not run.  Ratios are ours / theirs, below 1 is faster than the peer; kernels
turns them round, and has its own way of pairing (kernels.py --help): --quick shortens it, --write puts its tables into
docs/benchmarks.md.
"""
import argparse, os, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def timed(cmd, env=None):
    start = time.perf_counter()
    r = subprocess.run(cmd, capture_output=True, cwd=ROOT, env=env)
    spent = time.perf_counter() - start
    if r.returncode:
        raise RuntimeError(f"{' '.join(cmd)}: {r.stderr.decode(errors='replace').strip()[-400:]}")
    return spent, r.stdout.decode()


def duel(ours, peers, repeat):
    """Best wall time of each command, interleaved; ours first."""
    best = [float("inf")] * (1 + len(peers))
    for _ in range(repeat):
        for i, cmd in enumerate([ours] + peers):
            best[i] = min(best[i], timed(cmd)[0])
    return best


def table(title, head, rows):
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for r in rows:
        print("| " + " | ".join(r) + " |")


def startup(args):
    rows = []
    python = [sys.executable, "-S", "-c", "print(1)"]
    peers = [("python -S", python)] + ([("lua", [args.lua, "-e", "print(1)"])] if args.lua else [])
    best = duel([args.qrun, "-e", "print 1"], [c for _, c in peers], 20)
    rows.append(["`print 1`", f"{best[0] * 1e3:.1f} ms"]
                + [f"{n} {b * 1e3:.1f} ms" for (n, _), b in zip(peers, best[1:])])
    table("Start-up, whole process", ["program", "qrun"] + [n for n, _ in peers], rows)


def interp(args):
    if not args.lua:
        print("\ninterp: Lua is not installed: not run")
        return
    rows = []
    for name in sorted(n[:-2] for n in os.listdir(f"{HERE}/interp") if n.endswith(".q")):
        q, l = f"{HERE}/interp/{name}.q", f"{HERE}/interp/{name}.lua"
        ours, theirs = duel([args.qrun, q], [[args.lua, l]], args.repeat)
        rows.append([name, f"{ours:.3f} s", f"{theirs:.3f} s", f"{ours / theirs:.2f}"])
    table("Interpreter against Lua 5.4, whole process", ["program", "qrun", "lua", "ratio"], rows)


def module(args, name, *options):
    """Benchmarks with a script of their own."""
    sys.stdout.flush()
    subprocess.run([sys.executable, f"{HERE}/{name}.py", "--qrun", args.qrun, *options], check=True)


def auto(args):
    module(args, "auto", *["--settle", "2", "--rounds", "5"] * args.quick, *["--write"] * args.write)


def grad(args):
    module(args, "grad", *["--rounds", "2"] * args.quick, *["--write"] * args.write)


def kernels(args):
    module(args, "kernels", *["--quick"] * args.quick, *["--write"] * args.write)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--repeat", type=int, default=5)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--write", action="store_true")
    p.add_argument("what", nargs="*")
    args = p.parse_args()
    args.qrun = os.path.abspath(args.qrun)
    args.lua = shutil.which("lua5.4") or shutil.which("lua")
    for name, run in (("startup", startup), ("interp", interp),
                      ("arrays", lambda a: module(a, "arrays", "--repeat", str(a.repeat))),
                      ("kernels", kernels), ("grad", grad),
                      ("bridge", lambda a: module(a, "bridge", "--repeat", str(a.repeat), *["--write"] * a.write)),
                      ("auto", auto)):
        if not args.what or name in args.what:
            run(args)


if __name__ == "__main__":
    main()
