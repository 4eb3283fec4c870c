#!/usr/bin/env python3
"""Makes a C program of every kernel and fused expression that test scripts run, and compares what it prints with the
evaluator's result for the same small arrays (tests/unit/emit_c.c does that).

    tests/in_c.py [--qrun build/qrun] [--program build/unit_emit_c] [--most 60] [filter ...]"""
import argparse, os, re, subprocess, sys, tempfile

from ptx import scripts
from run import ROOT

LONG = 4000  # characters of a kernel: beyond, a compiler takes its time for little more


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("filter", nargs="*")
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--program", type=os.path.abspath, default=os.path.join(ROOT, "build", "unit_emit_c"))
    p.add_argument("--most", type=int, default=60, help="so many kernels; 0: all")
    return p.parse_args()


def kernels(args):
    """Each text once, in an order that takes a few of every script."""
    found = {}
    for path, opts in scripts(args.filter):
        cmd = [args.qrun, "--device", "ref", "--dump", "kir"] + opts.get("options", "").split() + [path]
        r = subprocess.run(cmd, capture_output=True, timeout=300, cwd=os.path.dirname(path), stdin=subprocess.DEVNULL)
        texts = re.findall(r"^kernel \".*?^}$", r.stdout.decode("utf-8", "replace"), re.M | re.S)
        for i, text in enumerate(t for t in texts if args.most == 0 or len(t) < LONG):
            found.setdefault(text, i)
    texts = sorted(found, key=found.get)
    return texts[:args.most] if args.most else texts


def main():
    args = arguments()
    os.environ["QUASAR_CACHE_DIR"] = ""
    with tempfile.NamedTemporaryFile("w", suffix=".kir") as f:
        f.write("\n".join(kernels(args)) + "\n")
        f.flush()
        return subprocess.run([args.program, f.name]).returncode


if __name__ == "__main__":
    sys.exit(main())
