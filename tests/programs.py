"""Shared code of the tests with random programs (loops.py, arrays.py): options, runs of qrun, comparison, seeds."""
import argparse, concurrent.futures, os, subprocess, sys, tempfile
from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def options(text, seconds=60):
    p = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("first", type=int, nargs="?", default=0)
    p.add_argument("count", type=int, nargs="?", default=24)
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--device", action="append")
    p.add_argument("--keep", metavar="FOLDER", help="where the programs stay")
    p.add_argument("--seconds", type=int, default=seconds, help="that a program may take")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    return p


def run(args, path, loops, device, more=()):
    cmd = [args.qrun, "--device", device, "--loops", loops, *more, path]
    try:
        r = subprocess.run(cmd, capture_output=True, timeout=args.seconds, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"no end after {args.seconds} s\n"
    text = r.stdout.decode("utf-8", "replace") + r.stderr.decode("utf-8", "replace")
    return text.replace("-nan", "nan") + ("" if r.returncode in (0, 1) else f"exit code {r.returncode}\n")


def difference(want, got, close):
    """The first lines that differ, or None; the numbers of a line that begins with ~, and of the indented lines after
    it, need only be close."""
    a, b, marked = want.splitlines(), got.splitlines(), False
    for x, y in zip(a + [""] * len(b), b + [""] * len(a)):
        marked = x.startswith("~") or marked and x.startswith(" ")
        loose = marked and len(x.split()) == len(y.split())
        if x != y and not (loose and all(map(close, x.split(), y.split()))): return x, y
    return None


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f: f.write(text)
    return path


def compare(args, folder, name, seed, text, close, loops=("never", "always"), more=()):
    """Runs a program on the evaluator with loops[0], then on each device with loops[1].  Returns a report, or None."""
    path = write(folder, f"{name}{seed}.q", text)
    want = run(args, path, loops[0], "ref", more)
    if want.startswith("no end after"): args.endless = getattr(args, "endless", 0) + 1
    if "error: " in want: return f"seed {seed}: a program that does not run\n{want}"
    for device in args.device:
        wrong = difference(want, run(args, path, loops[1], device, more), close)
        again = f"{sys.argv[0]} --device {device} --keep . {seed} 1"
        if wrong: return f"seed {seed}, {device}:\n  wanted {wrong[0]}\n  got    {wrong[1]}\n  {again}"
    if not args.keep: os.remove(path)
    return None


def all_seeds(args, check, verdict):
    """True when check(args, folder, seed) has something to say of any of them."""
    has = lambda d: subprocess.run([args.qrun, "--has", d], capture_output=True).returncode == 0
    args.device = args.device or [d for d in ("ref", "cpu") if has(d)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, \
            Progress("programs " + verdict.split(" give")[0], "programs") as progress:
        os.environ["QUASAR_CACHE_DIR"] = os.path.join(folder, "cache")
        seeds = range(args.first, args.first + args.count)
        for done, wrong in enumerate(pool.map(lambda seed: check(args, args.keep or folder, seed), seeds)):
            progress.at(done, args.count)
            if wrong: progress.say(wrong)
            failed += wrong is not None
    print(f"{args.count - failed} of {args.count} programs {verdict}")
    endless = getattr(args, "endless", 0)
    if endless: print(f"{endless} of them did not end in {args.seconds} s, and show nothing")
    return failed > 0 or 2*endless > args.count
