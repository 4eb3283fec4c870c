#!/usr/bin/env python3
"""Breaks the rows of lang/kernel/elem/elem.def on purpose, one place at a time, and asks whether tests/elem.py notices.

    tests/mutate.py [--folder out/mutants] [--row NAME …] [--every N]

Each mutant (floor for ceil, a constant changed, a comparison turned, branches exchanged …) is built in a copy of the
tree, and its row and those that call it are tested on the evaluator and the host.  Survivors are printed; those of
which it is known why they compute the same stand in EQUIVALENT.  It takes seconds for each: hours for all of them, so
it is a command of its own and no part of the tests."""
import argparse, os, re, shutil, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = "lang/kernel/elem/elem.def"
SWAPS = [("ADD(", "SUB("), ("SUB(", "ADD("), ("MUL(", "DIV("), ("DIV(", "MUL("), ("MIN(", "MAX("), ("MAX(", "MIN("),
         ("LT(", "LE("), ("LE(", "LT("), ("LT(", "EQ("), ("EQ(", "NE("), ("NE(", "EQ("), ("BOTH(", "EITHER("),
         ("EITHER(", "BOTH("), ("NEG(", "("), ("ABS(", "("), ("BITOR(", "BITAND("), ("BITAND(", "BITOR("),
         ("BITXOR(", "BITOR("), ("BITNOT(", "NEG("), ("SHR(", "SHL("), ("RE(", "IM("), ("IM(", "RE("),
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
EQUIVALENT = {  # (row, number of the mutant in it): why nobody can tell
    ("div", 12): "of parts of one size either is the larger one", ("abs", 1): "below 0 none is 0 when negated",
    ("sqrt", 9): "at the limit, scaled or not is the same", ("sqrt", 10): "at the limit, scaled or not is the same",
    ("sqrt", 13): "of a real part 0 both parts are equal", ("exp", 7): "an infinite part is not 0",
    ("log", 12): "at the limit, scaled or not is the same"}


def row_texts(source):
    """(name, where its columns of meaning begin, where they end)."""
    for m in re.finditer(r"^(?:ELEM|FORM|OPERATOR)\((\w+),", source, re.M):
        end = re.compile(r"\b(?:SLOPES|FLAT|BODY)\b").search(source, m.end()).start()
        yield m[1], m.end(), end


def selects(text):
    """SELECT(c, a, b) with a and b exchanged, wherever one stands."""
    for m in re.finditer(r"SELECT\(", text):
        depth, commas, i = 1, [], m.end()
        while depth:
            if text[i] == "," and depth == 1: commas.append(i)
            depth += {"(": 1, ")": -1}.get(text[i], 0)
            i += 1
        a, b = text[commas[0] + 1:commas[1]], text[commas[1] + 1:i - 1]
        yield text[:commas[0] + 1] + b + "," + a + text[i - 1:], f"SELECT({text[m.end():commas[0]]}, …) exchanged"


def mutants(text):
    for old, new in SWAPS:
        for m in re.finditer((r"(?<![A-Z_0-9])" if old[0].isalpha() else "") + re.escape(old), text):
            yield text[:m.start()] + new + text[m.end():], f"{old} -> {new} at {m.start()}"
    yield from selects(text)


def callers(source, name):
    """The row itself, and those whose meaning calls it."""
    out = [name]
    for row, a, b in row_texts(source):
        if any(re.search(rf"CALLZ?\d\({r},", source[a:b]) for r in out) and row not in out: out.append(row)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", default=os.path.join(ROOT, "out/mutants"))
    p.add_argument("--row", action="append")
    p.add_argument("--every", type=int, default=1, help="only each N-th mutant")
    a = p.parse_args()
    copy = os.path.join(a.folder, "tree")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("build", "build-*", "out", ".git"))
    build = ["cmake", "--build", "--preset", "release", "--target", "qrun"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    quick = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0"]  # what takes time is to compile
    subprocess.run(["cmake", "--preset", "release", *quick], cwd=copy, check=True, **quiet)
    path, source, survivors, total, number = os.path.join(copy, TABLE), open(os.path.join(ROOT, TABLE)).read(), [], 0, 0
    for row, begin, end in row_texts(source):
        if a.row and row not in a.row: continue
        rows = [w for r in callers(source, row) for w in ("--row", r)]
        test = [sys.executable, "tests/elem.py", "--qrun", "build/qrun", "--device", "ref", *rows]
        open(path, "w").write(source)
        subprocess.run(build, cwd=copy, check=True, **quiet)
        if subprocess.run(test, cwd=copy, **quiet).returncode: sys.exit(f"mutate: {row} fails as it is")
        for k, (text, what) in enumerate(mutants(source[begin:end])):
            number += 1
            if number % a.every or (row, k) in EQUIVALENT: continue
            open(path, "w").write(source[:begin] + text + source[end:])
            if subprocess.run(build, cwd=copy, **quiet).returncode: continue  # not even C
            total += 1
            try: alive = subprocess.run(test, cwd=copy, timeout=300, **quiet).returncode == 0
            except subprocess.TimeoutExpired: alive = False
            if alive:
                survivors.append(f"{row} {k}: {what}")
                print("survives:", survivors[-1], flush=True)
    print(f"mutate: {total} mutants, {len(survivors)} survive")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
