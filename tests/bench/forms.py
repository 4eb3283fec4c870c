#!/usr/bin/env python3
"""Measures small programs, each in several forms that a user might write, and prints the slowest over the fastest form.

    tests/bench/forms.py [--qrun build/qrun] [--seconds 0.3] [--check] [--explain] [NAME ...]

A file of tests/bench/forms has a function `inputs`, whose results are the arguments of the forms: the functions that
take exactly these.  All forms must give the same result, up to rounding.  The time of a form is the least processor
time of several calls in one process, after a first call that compiles.  --check only compares the results, --explain
prints which loops of a form stay interpreted.  The last line has the geometric mean and the largest of the ratios."""
import argparse, glob, math, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FUNCTION = r"^function (?:\[?(.*?)\]?)\s*=\s*([\w]+)\((.*?)\)"


class Failure(Exception):
    pass


def names(text):
    return [re.split(r"\s*:", n)[0].strip() for n in text.split(",") if n.strip()]


def forms(path):
    """The names that `inputs` gives, and the functions with exactly these parameters."""
    text = open(path, encoding="utf-8").read()
    functions = [(names(r), name, names(p)) for r, name, p in re.findall(FUNCTION, text, re.M)]
    arguments = next(results for results, name, _ in functions if name == "inputs")
    return arguments, [name for _, name, p in functions if name != "inputs" and p == arguments]


def driver(path, arguments, form, first, seconds):
    """A program that prints whether the form gives what the first form gives, and its least processor time."""
    list_ = ", ".join(arguments)
    return f"""import "{path}"
clock = pyimport("time").thread_time
{list_ if len(arguments) == 1 else "[" + list_ + "]"} = inputs()
wanted = {first}({list_})
got = {form}({list_})
difference = isequal(size(wanted), size(got)) ? max(abs(float64(wanted) - float64(got))) : inf
same = difference <= 0.0001*(1 + max(abs(float64(wanted))))
print same ? "same" : "different"
best = inf
spent = 0
calls = 0
while spent < {seconds} || calls < 3
    before = clock()
    {form}({list_})
    now = clock() - before
    best = min(best, now)
    spent += now
    calls += 1
end
printf("%g", best)
"""


def run(args, path, arguments, form, first):
    options = ["--device", "cpu", "--threads", "1", "--no-warnings"] + ["--explain"]*args.explain
    program = driver(path, arguments, form, first, 0 if args.check else args.seconds)
    r = subprocess.run([args.qrun] + options + ["-"], input=program, text=True, capture_output=True)
    if r.returncode:
        raise Failure(f"{path}: {form}: {r.stderr.strip()}")
    if args.explain:
        for line in r.stderr.splitlines():
            if os.path.basename(path) in line and ": interpreted: " in line:
                print(f"    {form}: {line.split(os.path.basename(path))[-1]}")
    same, best = r.stdout.split()
    if same != "same":
        raise Failure(f"{path}: {form} and {first} give different results")
    return float(best)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--seconds", type=float, default=0.3, help="measure each form for this long")
    p.add_argument("--check", action="store_true", help="compare the results only")
    p.add_argument("--explain", action="store_true", help="print what stays interpreted")
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    ratios, failures = [], 0
    for path in sorted(glob.glob(os.path.join(HERE, "forms", "*.q"))):
        name = os.path.basename(path)[:-2]
        if args.names and name not in args.names:
            continue
        arguments, found = forms(path)
        try:
            best = sorted((run(args, path, arguments, form, found[0]), form) for form in found)
        except Failure as failure:
            print(failure, flush=True)
            failures += 1
            continue
        ratios.append((best[-1][0] / best[0][0], name))
        times = "  ".join(f"{form} {t * 1e3:.2f} ms" for t, form in best)
        print(f"{name:22} {ratios[-1][0]:7.1f}   {times}", flush=True)
    if not args.check:
        mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios))
        print(f"{len(ratios)} programs; geometric mean {mean:.2f}; "
              f"above 2: {sum(r > 2 for r, _ in ratios)}; largest {max(ratios)[0]:.1f} ({max(ratios)[1]})")
    if failures:
        sys.exit(1)


if __name__ == "__main__":
    main()
