#!/usr/bin/env python3
"""Compares the lines of each folder with its limit in tests/size.txt, and prints the sums:  tests/size.py [--write]

It counts C files, headers, tables (*.def), modules in the language (*.q) and Python, with comments and blank lines.
A folder of the list includes those below it that are not listed themselves.  A folder that needs more lines gets a
higher limit in the commit that needs them, which says why; --write sets every limit to the present size, rounded up to
50."""
import os, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "tests/size.txt")
SUFFIXES = (".c", ".h", ".def", ".q", ".py", ".pyi")
TOP = ("vm", "lang", "devices", "stdlib", "bridge")


def read_limits():
    """[(folder or file, limit, group)]; the groups are core, optional."""
    rows = [line.split() for line in open(TABLE) if line.strip() and not line.startswith("#")]
    return [(path, int(limit), group) for path, limit, group in rows]


def count_lines(limits):
    sizes = {path: 0 for path, _, _ in limits}
    unlisted = []
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *TOP], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split()
    for name in set(files): # git lists a file with a conflict three times
        path = os.path.join(ROOT, name)
        if not name.endswith(SUFFIXES) or not os.path.isfile(path):
            continue
        owners = [p for p in sizes if name == p or name.startswith(p + "/")]
        if not owners:
            unlisted.append(name)
            continue
        with open(path, "rb") as f:
            sizes[max(owners, key=len)] += f.read().count(b"\n")
    return sizes, unlisted


def main():
    limits = read_limits()
    sizes, unlisted = count_lines(limits)
    if sys.argv[1:] == ["--write"]:
        head = [line for line in open(TABLE) if line.startswith("#")]
        with open(TABLE, "w") as f:
            f.writelines(head)
            f.writelines(f"{path:<28} {-(-sizes[path] // 50) * 50:>6} {group}\n" for path, _, group in limits)
        return
    problems = [f"{name}: its folder has no limit in tests/size.txt" for name in unlisted]
    problems += [f"{path}: {sizes[path]} lines, the limit in tests/size.txt is {limit}"
                 for path, limit, _ in limits if sizes[path] > limit]
    for group in ("core", "optional"):
        lines = sum(sizes[path] for path, _, g in limits if g == group)
        print(f"size: {group} {lines} lines of at most {sum(limit for _, limit, g in limits if g == group)}")
    if problems:
        sys.exit("\n".join(problems))


main()
