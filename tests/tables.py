#!/usr/bin/env python3
"""Each table (.def file) is complete: no row twice, every row used, every built-in with a doc line and a test; and the
text files keep the house style (width, tabs, trailing blanks)."""
import os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
problems = []


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def tracked(*suffixes):
    names = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True).stdout.split("\n")
    return [n for n in names if n.endswith(suffixes) and os.path.exists(os.path.join(ROOT, n))]


def rows(path, macro):
    """First argument of each MACRO( row of a table."""
    if not os.path.exists(os.path.join(ROOT, path)):
        return []
    return re.findall(rf"^\s*{macro}\(\s*\"?([^,\")\s]+)", read(path), re.M)


def unique(path, macro):
    names = rows(path, macro)
    for n in sorted({n for n in names if names.count(n) > 1}):
        problems.append(f"{path}: {macro} {n} stands twice")
    return names


def used(path, macro, prefix, places):
    """Every row is mentioned as PREFIX_row in each of the places (a switch that forgot one is found here)."""
    for place in places:
        if not os.path.exists(os.path.join(ROOT, place)):
            continue
        text = read(place)
        for n in rows(path, macro):
            if f"{prefix}{n}" not in text:
                problems.append(f"{place}: does not handle {prefix}{n} of {path}")


unique("vm/base/dtypes.def", "DTYPE")
unique("lang/syntax/operators.def", "BINARY")
unique("lang/kernel/ir/kir.def", "KIR")
unique("lang/kernel/ir/mathfn.def", "MATHFN")
semantics = read("lang/kernel/ir/sem.h")  # its lists name the arithmetic, K_ and all, for evaluator and folding
for n in rows("lang/kernel/ir/kir.def", "KIR"):
    if f"K_{n}" not in read("lang/kernel/ir/eval.c") and not re.search(rf"KSEM_EACH_\w+\(X, {n}\)", semantics):
        problems.append(f"lang/kernel/ir/eval.c: does not handle K_{n} of lang/kernel/ir/kir.def")

tests = "\n".join(read(p) for p in tracked(".q") if p.startswith("tests/scripts/"))
builtins = re.findall(r'^\s*NATIVE\(\s*"?(\w+)"?\s*,(.*)$', read("stdlib/builtins.def"), re.M) if os.path.exists(
    os.path.join(ROOT, "stdlib/builtins.def")) else []
for name, rest in builtins:
    if not re.search(rf"(?<!\w){re.escape(name)}\b", tests):
        problems.append(f"stdlib/builtins.def: {name} has no script test")

for path in tracked(".c", ".h", ".def", ".q", ".py", ".md", ".txt"):
    if path.startswith("docs/builtins"):
        continue
    for number, line in enumerate(read(path).split("\n"), 1):
        if path.endswith((".c", ".h", ".py")) and len(line) > 120:
            problems.append(f"{path}:{number}: {len(line)} columns")
        if "\t" in line and path.endswith((".c", ".h", ".py")):
            problems.append(f"{path}:{number}: a tab")
        if line != line.rstrip() and path.endswith((".c", ".h", ".def", ".py")):
            problems.append(f"{path}:{number}: blanks at the end")

print("\n".join(problems) or f"tables: complete; {len(builtins)} built-ins, each with a test")
sys.exit(bool(problems))
