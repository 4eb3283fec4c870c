#!/usr/bin/env python3
"""Crossings between scripts and Python: ns per call, the bare C API (floor.c), and lupa where it is installed.

    tests/bench/bridge.py [--qrun build/qrun] [--write]

--write puts what Python does with the language into docs/benchmarks.md."""
import argparse, os, subprocess, sys, sysconfig, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kernels

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bridge")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BEGIN, END = "<!-- bridge: written by tests/bench/bridge.py -->", "<!-- bridge: end -->"


def figures(cmd, **options):
    r = subprocess.run(cmd, capture_output=True, text=True, **options)
    if r.returncode:
        return {}, r.stderr.strip().splitlines()[-1:]
    return dict(line.split("|") for line in r.stdout.splitlines() if "|" in line), ""


def floor(tmp):
    v = sysconfig.get_config_vars()
    exe, lib = os.path.join(tmp, "floor"), v["LIBDIR"]
    cmd = ["cc", "-O3", os.path.join(HERE, "floor.c"), "-o", exe, "-I" + sysconfig.get_path("include"), "-L" + lib,
           "-lpython" + v["LDVERSION"], "-Wl,-rpath," + lib]
    if subprocess.run(cmd, capture_output=True).returncode:
        return {}
    return figures([exe, HERE])[0]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--repeat", type=int)
    p.add_argument("--write", action="store_true")
    p.add_argument("--peers", default=sys.executable, help="the Python that has Numba, Taichi and Warp")
    args = p.parse_args()
    env = {**os.environ, "QUASAR_PYTHON": sys.executable}
    if subprocess.run([args.qrun, "--has", "python"], env=env).returncode:
        print("\nbridge: qrun --has python says no: not run")
        return
    calls(args.qrun, env)
    report = library()
    print("\n### import pyquasar: ns per call\n\n" + report)
    if args.write:
        kernels.write("docs/benchmarks.md", report, BEGIN, END)
    five(args.peers)


def calls(qrun, env):
    """From scripts into Python."""
    with tempfile.TemporaryDirectory() as tmp:
        bare = floor(tmp)
    ours, why = figures([qrun, os.path.join(HERE, "ours.q")], env=env)
    arrays, _ = figures([qrun, os.path.join(HERE, "arrays.q")], env=env)
    lupa, _ = figures([sys.executable, os.path.join(HERE, "peer.py")])
    print("\n### Python: ns per crossing\n\n| path | C API | qrun | ratio | lupa |\n|---|---|---|---|---|")
    for path, ns in ours.items():
        ratio = f"{float(ns) / float(bare[path]):.1f}" if path in bare else ""
        print(f"| {path} | {bare.get(path, '')} | {ns} | {ratio} | {lupa.get(path, '')} |")
    for path, ns in arrays.items():
        print(f"| {path} | | {ns} | | |")
    if why:
        print(why)


def library():
    """From Python into the language; each row beside the nearest thing that Python does itself."""
    packages = os.path.join(ROOT, "build/python")
    rows, why = figures([sys.executable, os.path.join(HERE, "host.py")], env={**os.environ, "PYTHONPATH": packages})
    lines = ["| path | floor | pyquasar | what the floor is |", "|---|---|---|---|"]
    lines += ["| %s | %s |" % (path, " | ".join(figure.split(";"))) for path, figure in rows.items()]
    return "\n".join(lines + list(why))


def five(python):
    """Arrays of NumPy and torch into an empty kernel, by everybody who is there."""
    env = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "build/python")}
    r = subprocess.run([python, os.path.join(HERE, "five.py")], capture_output=True, text=True, env=env)
    rows = [line.split("|") for line in r.stdout.splitlines() if line.count("|") == 2]
    ours = {what: float(us) for who, what, us in rows if who == "pyquasar" and us}
    print("\n### Five arrays into an empty kernel on the CPU, 100 000 times: us per call\n")
    print("| library | arrays of | us | times pyquasar |\n|---|---|---|---|")
    for who, what, us in rows:
        print(f"| {who} | {what} | {us} | {float(us) / ours[what]:.1f} |" if us else f"| {who} | {what} | | |")
    if r.returncode:
        print(r.stderr.strip().splitlines()[-1:])


if __name__ == "__main__":
    main()
