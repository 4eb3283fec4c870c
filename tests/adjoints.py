#!/usr/bin/env python3
"""Derivatives of the built-ins, row by row of builtins.def and elem.def, at random points in float64.

Each row has a rule or a reason; each with a rule has lines in adjoints/cases.txt.  For each line reverse mode is
compared with central differences (gradcheck), the same of its gradient (second derivatives), and <v, J u> with
<J' v, u> between forward and reverse.  tests/python/test_gradients.py compares with torch."""
import argparse, os, re, subprocess, sys

import builtin_table
from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(ROOT, "tests/adjoints")
CASE = "case "  # lines that say how far the program is
STEPS = {"isnan", "isinf", "isfinite", "floor", "ceil", "round", "trunc", "sign", "nextpow2"}  # derivative 0


def rows():
    """name -> the column `adjoint` of builtins.def"""
    found = {}
    columns = r'(?:NATIVE|EACH|LAUNCH|EXACT)\("([^"]+)".*?, (ZERO|ACTS|CALLS|ELEMENTS|BY\("[^"]*"\)|NONE\("[^"]*"\))\)$'
    for line in builtin_table.read_rows().split("\n"):
        m = re.match(columns, line.rstrip())
        if m:
            found[m[1]] = m[2]
        elif re.match(r'(NATIVE|EACH|LAUNCH|EXACT)\("', line):
            sys.exit(f"builtins.def: no adjoint in {line[:60]}")
    return found


def elements():
    """name -> number of arguments, and whether they may be complex, of the functions of elem.def that are no steps"""
    text = open(os.path.join(ROOT, "lang/kernel/elem/elem.def"), encoding="utf-8").read()
    rows = re.findall(r"^ELEM\((\w+), (\d)(.*?)(?=^[A-Z]+\()", text, re.M | re.S)
    return {name: (int(n), "COMPLEX(" in row or "PART_OF(" in row) for name, n, row in rows if name not in STEPS}


def cases():
    """(name, function, arguments), as written"""
    out = []
    for line in open(os.path.join(HERE, "cases.txt"), encoding="utf-8"):
        if line.strip() and line[0] != "#":
            out.append(tuple(part.strip() for part in line.split(" | ")))
    written = {name: arguments for name, function, arguments in out}
    for name, (n, is_complex) in elements().items():
        names = ",".join("xyz"[:n])
        call = f"({names}) -> {name}({names})"
        if name not in written:
            out.append((name, call, ", ".join(["V(3)"]*n)))
        if n == 1:
            out.append((name, call, f"sum({written[name]})/3" if name in written else "0.37"))
        if is_complex:
            out.append((name, call, ", ".join(["Z(1,3)"]*n)))
    return out


def program(chosen):
    text = open(os.path.join(HERE, "setting.q"), encoding="utf-8").read() + "\n"
    for k, (name, function, arguments) in enumerate(chosen):
        label = f"{name}: {function} at {arguments}".replace('"', '""')
        text += f'printf("{CASE}%d", {k})\nrandseed({k+1})\ncheck("{label}", {function}, {{{arguments}}})\n'
    return text


def run(command, text, n):
    """Its status and what it says, while it says how far it is."""
    quick = dict(os.environ, PYTHONUNBUFFERED="1")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=quick) as child, Progress("adjoints", "functions") as progress:
        child.stdin.write(text)
        child.stdin.close()
        said = []
        for line in child.stdout:
            if line.startswith(CASE): progress.at(int(line[len(CASE):]), n)
            else: said.append(line)
    return child.returncode, "".join(said)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--device", default="cpu")
    p.add_argument("--only", help="lines of this name")
    p.add_argument("--print", action="store_true", help="print the program instead of running it")
    a = p.parse_args()
    known = {c[0] for c in cases()}
    missing = [n for n, r in rows().items() if r.startswith(("BY", "ELEMENTS")) and n not in known]
    if missing:
        sys.exit("adjoints/cases.txt has no line for " + ", ".join(missing))
    chosen = [c for c in cases() if not a.only or c[0] == a.only]
    if a.print:
        return print(program(chosen))
    command = [a.qrun, "--device", a.device, "--precision", "64", "--no-warnings", "-"]
    status, said = run(command, program(chosen), len(chosen))
    bad = [line for line in said.splitlines() if line.startswith("FAIL")]
    print(said, end="")
    print(f"adjoints: {len(chosen)} functions, {len(bad)} derivatives differ")
    sys.exit(bool(bad or status))


if __name__ == "__main__":
    main()
