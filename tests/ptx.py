#!/usr/bin/env python3
"""Makes PTX of every kernel and fused expression that the test scripts and examples run, and has ptxas assemble it.

    tests/ptx.py [--qrun build/qrun] [--arch sm_90] [--ptxas file] [--cache folder] [filter ...]

The scripts run on the cpu device with --compile-for; what they print does not matter here.  QUASAR_LIBDEVICE=none takes
our own mathematical functions.  An instruction that the text's .version lacks is found for every target; ptxas of
CUDA 13 and later takes no sm_70 (that of 12.9, which pip has as nvidia-cuda-nvcc-cu12, does).  Says so, and succeeds,
where ptxas is not installed."""
import argparse, concurrent.futures, glob, os, re, shlex, shutil, subprocess, sys, tempfile

from progress import Progress
from run import ROOT, header

REACHES = ("parallel_do", "serial_do", "__kernel__", "for ", ".*", "sum(")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("filter", nargs="*")
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--arch", action="append", help="default: sm_70, sm_75, sm_80 and sm_90")
    p.add_argument("--ptxas", default="ptxas")
    p.add_argument("--cache", type=os.path.abspath, help="keep the code there, for a machine without LLVM")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    return p.parse_args()


def scripts(filters):
    for path in sorted(glob.glob(f"{ROOT}/tests/scripts/*/*.q") + glob.glob(f"{ROOT}/examples/**/*.q", recursive=True)):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        opts = header(text)
        chosen = not filters or any(word in path for word in filters)
        if chosen and not text.startswith("% part") and "prompt" not in opts and any(r in text for r in REACHES):
            yield path, opts


def kernels_of(qrun, arch, path, opts):
    """The PTX texts, or the failure; an expected error of the script is not a failure."""
    cmd = [qrun, "--device", "cpu", "--compile-for", arch, "--dump", "ptx"]
    cmd += shlex.split(opts.get("options", "")) + [path] + shlex.split(opts.get("args", ""))
    try:
        r = subprocess.run(cmd, capture_output=True, timeout=300, cwd=os.path.dirname(path), stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return [], f"{path}: no end after 300 s"
    said = r.stderr.decode("utf-8", "replace")
    wrong = "NVIDIA device" in said or "LLVM" in said or r.returncode < 0
    parts = r.stdout.decode("utf-8", "replace").split("// quasar:")[1:]
    return ["// quasar:" + p for p in parts], f"{path}: {said}" if wrong else None


def wrong_sign(ptx):
    """A truth value becomes a float as a signed number, which makes 1 of what was negated; else None."""
    for number in re.findall(r"selp\.[ubs]32\s+(%r\d+), 1, 0,", ptx):
        if re.search(rf"cvt\.rn\.f\d\d\.s32\s+\S+ {number};", ptx):
            return f"{number}: 1 as a signed number"
    return None


def wrong_zero(ptx):
    """An instruction that orders -0 before 0, where a test was written that does not; or None.  The limits of a
    saturating conversion to unsigned integers are no such test, because its result has no sign."""
    limits = (r"max\.f\d\d\s+(%fd?\d+), \S+, 0[fd]0+;\s*min\.f\d\d\s+(%fd?\d+), \1, \S+;\s*"
              r"cvt\.rzi\.u\d\d\.f\d\d\s+\S+ \2;")
    found = re.search(r"^\s*(min|max)\.f(32|64).* 0[fd][08]0+;", re.sub(limits, "", ptx), re.M)
    return found and found.group().strip()


SINCE = {"activemask.b32": (6, 2)}  # the PTX versions that introduced instructions we use


def too_new(ptx):
    """The first instruction that is newer than the text's version, or None."""
    version = re.search(r"^\.version (\d+)\.(\d+)", ptx, re.M)
    have = tuple(map(int, version.groups())) if version else (0, 0)
    return next((f"{what} needs a later .version than {have}" for what, since in SINCE.items()
                 if what in ptx and have < since), None)


def takes(ptxas, arch, folder):
    return assembles(ptxas, arch, folder, "empty", f".version 8.0\n.target {arch}\n.address_size 64\n") is None


def assembles(ptxas, arch, folder, number, ptx):
    name = os.path.join(folder, f"{number}.ptx")
    with open(name, "w", encoding="utf-8") as f:
        f.write(ptx)
    r = subprocess.run([ptxas, "-arch=" + arch, "-o", os.devnull, name], capture_output=True, text=True)
    return None if r.returncode == 0 else r.stdout + r.stderr


def check(args, arch, pool, folder, progress):
    os.environ["QUASAR_CACHE_DIR"] = args.cache or os.path.join(folder, "cache")
    found, failures = {}, []
    jobs = [(path, pool.submit(kernels_of, args.qrun, arch, path, opts)) for path, opts in scripts(args.filter)]
    for done, (path, job) in enumerate(jobs):
        progress.at(done, len(jobs), arch)
        texts, wrong = job.result()
        failures += [wrong] if wrong else []
        for t in texts:
            found.setdefault(t, path)
    for wrong in (wrong_sign, wrong_zero, too_new):
        failures += [f"{path}: {wrong(ptx)}" for ptx, path in found.items() if wrong(ptx)]
    ptxas = shutil.which(args.ptxas)
    if ptxas and not takes(ptxas, arch, folder):
        print(f"{arch}: read only, this ptxas does not assemble it")
        ptxas = None
    checks = ptxas and [(path, pool.submit(assembles, ptxas, arch, folder, i, ptx))
                        for i, (ptx, path) in enumerate(found.items())]
    for done, (path, job) in enumerate(checks or []):
        progress.at(done, len(checks), f"{arch} by ptxas")
        if job.result():
            failures.append(f"{path}: {job.result()}")
    progress.say(f"{arch}: {len(jobs)} scripts, {len(found)} kernels, {len(failures)} failures")
    return failures


def main():
    args = arguments()
    if not shutil.which(args.ptxas):
        print("skipped: ptxas is not installed")
        if not args.cache:
            return 0
    failures = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, tempfile.TemporaryDirectory() as folder:
        for arch in args.arch or ["sm_70", "sm_75", "sm_80", "sm_90"]:
            failures += check(args, arch, pool, folder, Progress("ptx"))
    print("\n".join(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
