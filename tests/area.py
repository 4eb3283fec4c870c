#!/usr/bin/env python3
"""Runs the tests of one area: those whose path or name contains a word.

    tests/area.py WORD [--build build] [--list]

It looks at the scripts of tests/scripts, the unit tests of tests/unit, the modules of tests/python and the programs
tests/*.py that `make test` runs.  `--list` prints what it would run.  A word that matches nothing is an error."""
import argparse, glob, os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def programs():
    """The programs of `make test` with their arguments, as the Makefile has them: [(name, arguments)]."""
    text = open(os.path.join(ROOT, "Makefile")).read()
    return [(name, arguments.split()) for name, arguments in re.findall(r"python3 tests/(\w+)\.py(.*)", text)
            if name not in ("run", "area", "nvcc")]


def commands(word, build):
    """The commands that run the area, without those that find nothing."""
    qrun = os.path.join(build, "qrun")
    found = []
    if any(word in path[len(ROOT):] for path in glob.glob(ROOT + "/tests/scripts/**/*.q", recursive=True)):
        found.append([sys.executable, "tests/run.py", "--qrun", qrun, word])
    units = [os.path.basename(path)[:-2] for path in glob.glob(ROOT + "/tests/unit/*.c")]
    units = ["unit_" + name for name in units if word in "unit_" + name]
    if units:
        found.append(["cmake", "--build", build, "--target"] + units)
        found.append(["ctest", "--test-dir", build, "--output-on-failure", "-R", "^(%s)$" % "|".join(units)])
    modules = sorted(os.path.basename(p)[:-3] for p in glob.glob(ROOT + "/tests/python/test_*.py")
                     if word in p[len(ROOT):])
    if modules:
        found.append([sys.executable, "-m", "unittest"] + modules)
    seen = set()
    for name, arguments in programs():
        if word in name and (name, *arguments) not in seen:
            seen.add((name, *arguments))
            found.append([sys.executable, f"tests/{name}.py"] + [a.replace("$(QRUN)", qrun) for a in arguments])
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("word")
    p.add_argument("--build", default="build")
    p.add_argument("--list", action="store_true", help="print the commands only")
    args = p.parse_args()
    found = commands(args.word, args.build)
    if not found:
        sys.exit(f"area.py: no test has {args.word!r} in its path or name; tests/README.md has a list")
    failed = []
    for command in found:
        print("$", " ".join(command), flush=True)
        if args.list:
            continue
        python = command[:3] == [sys.executable, "-m", "unittest"]
        env = dict(os.environ, PYTHONPATH=os.path.abspath(os.path.join(ROOT, args.build, "python")))
        if subprocess.run(command, cwd=os.path.join(ROOT, "tests/python") if python else ROOT,
                          env=env if python else None).returncode:
            failed.append(" ".join(command))
    if failed:
        sys.exit("failed:\n  " + "\n  ".join(failed))


main()
