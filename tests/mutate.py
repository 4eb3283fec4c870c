#!/usr/bin/env python3
"""Breaks the rows of lang/kernel/elem/elem.def on purpose, one place at a time, and asks whether tests/elem.py notices.

    tests/mutate.py [--folder out/mutants] [--row NAME …] [--every N]

A mutant has floor for ceil, a constant changed, a comparison turned, branches exchanged ….  All of them are built into
one program, in a copy of the tree: each body asks which mutant is wanted, and is that one.  Then every mutant runs, its
row and those that call it are tested on the evaluator and the host, up to the first difference.  Survivors are printed;
those of which it is known why they compute the same stand in SAME.  A thousand of them take minutes: it is a
command of its own and no part of the tests."""
import argparse, os, re, shutil, subprocess, sys

import elem
from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = "lang/kernel/elem/elem.def"
SWAPS = [("ADD(", "SUB("), ("SUB(", "ADD("), ("MUL(", "DIV("), ("DIV(", "MUL("), ("MIN(", "MAX("), ("MAX(", "MIN("),
         ("LT(", "LE("), ("LE(", "LT("), ("LT(", "EQ("), ("EQ(", "NE("), ("NE(", "EQ("), ("BOTH(", "EITHER("),
         ("EITHER(", "BOTH("), ("NEG(", "("), ("ABS(", "("), ("BITOR(", "BITAND("), ("BITAND(", "BITOR("),
         ("BITXOR(", "BITOR("), ("BITNOT(", "NEG("), ("SHR(", "SHL("), ("SHL(", "SHR("), ("RE(", "IM("), ("IM(", "RE("),
         ("(floor,", "(ceil,"), ("(ceil,", "(floor,"), ("(round,", "(trunc,"), ("(trunc,", "(round,"),
         ("(sin,", "(cos,"), ("(cos,", "(sin,"), ("(tan,", "(tanh,"), ("(exp,", "(expm1,"), ("(log,", "(log1p,"),
         ("(log1p,", "(log,"), ("(log2,", "(log,"), ("(exp2,", "(exp,"), ("(sqrt,", "(cbrt,"), ("(sinh,", "(tanh,"),
         ("(cosh,", "(exp,"), ("(asinh,", "(sinh,"), ("(hypot,", "(atan2,"), ("(erf,", "(erfc,"), ("(erfc,", "(erf,"),
         ("(asin,", "(acos,"), ("(acos,", "(asin,"), ("(atan,", "(tanh,"), ("(lgamma,", "(tgamma,"),
         ("(tgamma,", "(lgamma,"), ("(cbrt,", "(sqrt,"), ("(tanh,", "(tan,"), ("(acosh,", "(asinh,"),
         ("(atanh,", "(tanh,"), ("(expm1,", "(exp,"), ("(log10,", "(log2,"), ("MATH2(pow, x, y)", "MATH2(pow, y, x)"),
         ("NUM(0)", "NUM(1)"), ("NUM(1)", "NUM(2)"), ("NUM(2)", "NUM(1)"), ("NUM(0.5)", "NUM(1)"),
         ("NUM(INFINITY)", "NUM(1)"), ("NUM(-INFINITY)", "NUM(-1)"), ("NUM(-1)", "NUM(1)"),
         ("NUM(M_LN2)", "NUM(M_LN10)"), ("NUM(M_LN10)", "NUM(M_LN2)")]
SAME = {  # why no test can detect them: row, column, mutants
    "at the limit both ways give the same": [
        ("sqrt", "complex", "LT( -> LE( #1", "LT( -> LE( #2", "LT( -> LE( #3", "LT( -> LE( #4"),
        ("exp", "complex", "LT( -> LE( #1"), ("sinh", "complex", "LT( -> LE( #1"), ("cosh", "complex", "LT( -> LE( #1"),
        ("log", "complex", "LT( -> LE( #1", "LT( -> LE( #2", "LT( -> LE( #3", "LT( -> LE( #4"),
        ("tanh", "complex", "LT( -> LE( #1"), ("asin", "complex", "LT( -> LE( #1"),
        ("acos", "complex", "LT( -> LE( #1"), ("acosh", "complex", "LT( -> LE( #1"),
        ("atanh", "complex", "LT( -> LE( #1"),
        ("softsign", "complex", "LT( -> LE( #1"), ("div", "complex", "LE( -> LT( #1")],
    "0 is the same when negated, and below 0 none is 0": [
        ("abs", "whole", "LT( -> LE( #1", "LT( -> LE( #2", "NUM(0) -> NUM(1) #1", "NUM(0) -> NUM(1) #2")],
    "of a real part 0 both parts are equal": [("sqrt", "complex", "LT( -> LE( #5")],
    "only the sign of the quotient counts": [
        ("sqrt", "complex", "NUM(1) -> NUM(2) #3"), ("asin", "complex", "NUM(1) -> NUM(2) #2"),
        ("acos", "complex", "NUM(1) -> NUM(2) #2"),
        ("atanh", "complex", "NUM(1) -> NUM(2) #4", "NUM(1) -> NUM(2) #5")],
    "where it is asked, the part is infinite or large": [
        ("exp", "complex", "LT( -> LE( #2", "NUM(0) -> NUM(1) #2"),
        ("sinh", "complex", "LT( -> LE( #2", "NUM(0) -> NUM(1) #1"),
        ("cosh", "complex", "LT( -> LE( #2", "NUM(0) -> NUM(1) #1"),
        ("tanh", "complex", "LT( -> LE( #2", "NUM(0) -> NUM(1) #2")],
    "where it is asked, the part is not 0": [
        ("cosh", "complex", "LT( -> LE( #3"), ("asin", "complex", "LT( -> LE( #2"),
        ("acos", "complex", "LT( -> LE( #2")],
    "what is not chosen may be anything": [
        ("log", "complex", "NUM(0) -> NUM(1) #2"), ("tanh", "complex", "NUM(0) -> NUM(1) #1"),
        ("atanh", "complex", "NUM(0) -> NUM(1) #1", "NUM(0) -> NUM(1) #2")],
    "a factor of 0": [
        ("sinh", "complex", "MUL( -> DIV( #3", "NUM(1) -> NUM(2) #2"), ("tanh", "complex", "MUL( -> DIV( #5"),
        ("cosh", "complex", "NUM(1) -> NUM(2) #2", "NUM(1) -> NUM(2) #3")],
    "the quotient is the same of twice both": [("softsign", "complex", "NUM(1) -> NUM(2) #1")],
    "the step behind mends it": [("nextpow2", "real", "LT( -> LE( #1", "(ceil, -> (floor, #1")],
    "for libraries whose logarithm of a power is too large: none that is here": [
        ("nextpow2", "real", "LE( -> LT( #1", "NUM(0.5) -> NUM(1) #1")]}
EQUIVALENT = {(row, column, what) for places in SAME.values() for row, column, *mutants in places for what in mutants}
COLUMNS = ("real", "whole", "complex")
CHOOSE = """
#include <stdlib.h>
int elem_mutant;
__attribute__((constructor)) static void elem_choose(void) {
    const char *wanted = getenv("ELEM_MUTANT");
    elem_mutant = wanted ? atoi(wanted) : 0;
}
"""


def spans(text, at):
    """Where the arguments of the macro begin and end whose parenthesis opens before `at`."""
    depth, quoted, begin = 1, False, at
    for i in range(at, len(text)):
        c = text[i]
        if c == '"': quoted = not quoted
        if quoted: continue
        depth += {"(": 1, ")": -1}.get(c, 0)
        if depth == 0 or (depth == 1 and c == ","):
            yield begin, i
            begin = i + 1
        if depth == 0: return


def bodies(source):
    """(row, column, where its body begins, where it ends); comments are gone from the source."""
    for m in re.finditer(r"^(?:ELEM|FORM|OPERATOR)\((\w+),", source, re.M):
        for column, (a, b) in zip(COLUMNS, list(spans(source, m.end()))[2:5]):
            opens = re.match(r"\s*(?:\w+\((?:OWN|WIDE),|\w+\()", source[a:b])
            if opens: yield m[1], column, a + opens.end(), source.rindex(")", a, b)


def selects(text):
    """SELECT(c, a, b) with a and b exchanged, wherever one stands."""
    for m in re.finditer(r"SELECT\(", text):
        c, a, b = [text[i:j] for i, j in spans(text, m.end())]
        end = m.end() + len(c + a + b) + 2
        yield text[:m.end()] + c + "," + b + "," + a + text[end:]


def calls(text): return re.findall(r"CALL([ZP]?)\d\((\w+),", text)


def mutants(text, complex_rows):
    """(text, what was changed) of all that are C."""
    for old, new in SWAPS:
        places = re.finditer((r"(?<![A-Z_0-9])" if old[0].isalpha() else "") + re.escape(old), text)
        for k, m in enumerate(places, 1):
            changed = text[:m.start()] + new + text[m.end():]
            if all(row in complex_rows for kind, row in calls(changed) if kind):
                yield changed, f"{old} -> {new} #{k}"
    for k, changed in enumerate(selects(text), 1): yield changed, f"SELECT exchanged #{k}"


def callers(source, name):
    """The row itself, and those whose meaning calls it."""
    out = [name]
    for row, _, a, b in bodies(source):
        if any(r in out for _, r in calls(source[a:b])) and row not in out: out.append(row)
    return out


def with_mutants(source):
    """The table with all of them, and a list of them: number, row, column, what was changed."""
    found, out, at = [], "", 0
    complex_rows = {row for row, column, _, _ in bodies(source) if column == "complex"}
    for row, column, a, b in bodies(source):
        out += source[at:a]
        for text, what in mutants(source[a:b], complex_rows):
            found.append((len(found) + 1, row, column, what))
            out += f"if (elem_mutant == {len(found)}) {{ {text} }}\n"
        at = a
    return out + source[at:], found


def build(folder, table):
    """The program with all mutants in it: what changes is chosen when it starts."""
    copy = os.path.join(folder, "tree")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("build", "build-*", "out", ".git"))
    open(os.path.join(copy, TABLE), "w").write(table)
    header = os.path.join(copy, "lang/kernel/ir/kir.h")
    text = open(header).read()
    open(header, "w").write("extern int elem_mutant;\n" + text)
    open(os.path.join(copy, "lang/kernel/elem/elem.c"), "a").write(CHOOSE)
    quick = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0"]  # compiling takes most of the time
    for command in (["cmake", "--preset", "release", *quick],
                    ["cmake", "--build", "--preset", "release", "--target", "qrun"]):
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
        if done.returncode: sys.exit(f"mutate: {' '.join(command)}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return os.path.join(copy, "build/qrun")


def dies(qrun, table, mutant):
    os.environ["ELEM_MUTANT"] = str(mutant)
    return any(differ for differ, _ in elem.stages(qrun, ["ref"], table, 1, pairs=False))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", default=os.path.join(ROOT, "out/mutants"))
    p.add_argument("--row", action="append")
    p.add_argument("--every", type=int, default=1, help="only each N-th mutant")
    a = p.parse_args()
    source = re.sub(r"/\*.*?\*/", "", open(os.path.join(ROOT, TABLE)).read(), flags=re.S)
    table, found = with_mutants(source)
    qrun, survivors, total, known, before = build(a.folder, table), 0, 0, set(), None
    progress = Progress("mutate", "mutants")
    for number, row, column, what in found:
        if a.row and row not in a.row: continue
        if row != before:
            progress.say(row)
            before, names = row, callers(source, row)
            rows = sorted((r for r in elem.rows() if r.id in names), key=lambda r: r.id != row)
            if dies(qrun, rows, 0): sys.exit(f"mutate: {row} fails as it is")
        if (row, column, what) in EQUIVALENT: known.add((row, column, what)); continue
        if number % a.every: continue
        total += 1
        progress.at(number, len(found), f"{survivors} survive")
        if not dies(qrun, rows[:1], number) and (len(rows) == 1 or not dies(qrun, rows[1:], number)):
            survivors += 1
            progress.say(f"    survives: {row}, {column}: {what}")
    gone = [k for k in EQUIVALENT if (not a.row or k[0] in a.row) and k not in known]
    for k in gone: print("SAME has a mutant that there is not:", k)
    print(f"mutate: {total} mutants, {survivors} survive; {len(known)} compute the same, and it is known why")
    sys.exit(bool(survivors or gone))


if __name__ == "__main__":
    main()
