#!/usr/bin/env python3
"""Kernels and array expressions against C, NumPy, Numba, Taichi, Warp and PoCL: times inside the process, best of the repeats."""
import argparse, importlib.util, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ["saxpy", "fused", "sum", "stencil", "mathmap", "nlmeans", "nbody", "histogram"]


def ask(cmd):
    r = subprocess.run(cmd, capture_output=True, text=True)
    lines = [l for l in r.stdout.splitlines() if re.match(r"[\d.]+ [-\d.e+]+$|none$", l)]  # libraries greet on stdout
    if r.returncode or not lines or lines[-1] == "none":
        if r.returncode:
            print(f"not run: {' '.join(cmd[-3:])}: {(r.stderr or r.stdout).strip()[-200:]}", file=sys.stderr)
        return None, None
    ms, check = lines[-1].split()
    return float(ms), float(check)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--qrun", required=True)
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("cases", nargs="*")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        peers = os.path.join(tmp, "peers")
        subprocess.run(["gcc", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-o", peers, f"{HERE}/kernels/peers.c",
                        "-lm"], check=True)
        sides = {"C": lambda n: [peers, n]}
        for lib in ("numpy", "numba", "taichi", "warp"):
            if importlib.util.find_spec(lib):
                sides[lib] = lambda n, lib=lib: [sys.executable, f"{HERE}/kernels/peers.py", lib, n]
        if not subprocess.run([args.qrun, "--has", "opencl"], capture_output=True).returncode:
            sides["PoCL"] = lambda n: [args.qrun, "--device", "opencl", f"{HERE}/kernels/{n}.q"]
        print(f"\n### Kernels and array expressions, {os.cpu_count()} cores, milliseconds\n")
        print("| case | quasar cpu |" + "".join(f" {s} | quasar/{s} |" for s in sides))
        print("|---|---|" + "---|---|" * len(sides))
        for case in args.cases or CASES:
            best = {}
            for _ in range(min(args.repeat, 3)):
                for side, cmd in [("ours", lambda n: [args.qrun, f"{HERE}/kernels/{n}.q"])] + list(sides.items()):
                    ms, check = ask(cmd(case))
                    if ms is not None and ms < best.get(side, (1e300,))[0]:
                        best[side] = (ms, check)
            ours = best.get("ours", (float("nan"), None))
            if "C" in best and ours[1] is not None and abs(ours[1] - best["C"][1]) > 1e-3 * abs(best["C"][1]):
                print(f"{case}: checksums differ: {ours[1]} and C {best['C'][1]}", file=sys.stderr)
            print(f"| {case} | {ours[0]:.3f} |" + "".join(
                f" {best[s][0]:.3f} | {ours[0] / best[s][0]:.2f} |" if s in best else " – | – |" for s in sides))


if __name__ == "__main__":
    main()
