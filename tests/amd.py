#!/usr/bin/env python3
"""Makes machine code for AMD devices of every kernel and fused expression that scripts run, and reads it.

    tests/amd.py --driver build/libhip_driver.so [--qrun build/qrun] [--arch gfx90a ...] [filter ...]

The scripts run on the device of tests/support/gcn, which looks at each code object as AMD's loader would (segments,
symbols, the kernel's descriptor, its metadata beside what is passed at a launch), has LLVM disassemble all of it, and
then runs nothing: what the scripts print does not matter here."""
import argparse, concurrent.futures, os, shlex, subprocess, sys, tempfile

from progress import Progress
from ptx import scripts
from run import ROOT

ARCHS = ("gfx906", "gfx90a", "gfx1030", "gfx1100")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("filter", nargs="*")
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--driver", type=os.path.abspath, default=os.path.join(ROOT, "build", "libhip_driver.so"))
    p.add_argument("--arch", action="append", help="default: " + ", ".join(ARCHS))
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    return p.parse_args()


def read(args, arch, path, opts, folder):
    """How many code objects there were, and what went wrong."""
    env = dict(os.environ, QUASAR_HIP=args.driver, QUASAR_CACHE_DIR=os.path.join(folder, "cache"), FAKE_GPU_ARCH=arch,
               FAKE_GPU_IDLE="1")
    cmd = [args.qrun, "--device", "hip"] + shlex.split(opts.get("options", "")) + [path] + \
        shlex.split(opts.get("args", ""))
    try:
        r = subprocess.run(cmd, capture_output=True, timeout=300, cwd=os.path.dirname(path), stdin=subprocess.DEVNULL,
                           env=env)
    except subprocess.TimeoutExpired:
        return 0, f"{path}: no end after 300 s"
    said = r.stderr.decode("utf-8", "replace")
    wrong = "gcn: " in said or "LLVM" in said or "cannot be loaded" in said or r.returncode < 0
    return said.count("gcn-read"), f"{path} for {arch}: {said}" if wrong else None


def main():
    args, failures = arguments(), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, tempfile.TemporaryDirectory() as folder:
        for arch in args.arch or ARCHS:
            jobs = [pool.submit(read, args, arch, path, opts, folder) for path, opts in scripts(args.filter)]
            found, progress = [], Progress(arch)
            for job in jobs:
                progress.at(len(found), len(jobs))
                found.append(job.result())
            wrong = [w for _, w in found if w]
            kernels = sum(n for n, _ in found)
            progress.say(f"{arch}: {len(jobs)} scripts, {kernels} kernels, {len(wrong)} failures")
            failures += wrong + ([f"{arch}: no kernel was read"] if not kernels else [])
    print("\n".join(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
