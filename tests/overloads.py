#!/usr/bin/env python3
"""Overload selection between two functions: equal in the interpreter, in loops, in kernels, and from Python.

    tests/overloads.py [--qrun build/qrun] [--devices ref,cpu,opencl] [--python python3] [--keep FOLDER]

For each pair of declared types, in both orders, a function is defined twice, and called with each kind of argument;
with numbers, functions of two arguments as well.
What is right is said here, independently of lang/names/overload.c: `fit` is the table of docs/language.md."""
import argparse, itertools, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Numbers that a type has: kind, and how many bits of an integer it holds.
NUMBERS = {"bool": ("b", 1), "uint8": ("u", 8), "int": ("i", 32), "int64": ("i", 64), "scalar": ("f", 32),
           "float64": ("f", 64), "cscalar": ("c", 32)}
ARRAYS = {"vec": ("scalar", 1, None), "mat": ("scalar", 2, None), "cube": ("scalar", 3, None),
          "vec3": ("scalar", 1, (3,)), "mat[float64]": ("float64", 2, None), "vec[uint8]": ("uint8", 1, None),
          "ivec": ("int", 1, None), "cvec": ("cscalar", 1, None), "mat2x2": ("scalar", 2, (2, 2))}
OTHERS = ["", "string", "[?? -> ??]", "[(??,??) -> ??]", "point", "other"]
TYPES = [*NUMBERS, *ARRAYS, *OTHERS]
# Kinds of arguments: text, the type of a number, or (elements, extents), or another type; whether it enters kernels.
# "5" is written as an argument; the others are values of a variable, too.
KINDS = {"5": ("5", "scalar"), "variable": ("5", "scalar"), "element": ("five[0]", "scalar"),
         "fraction": ("2.5", "scalar"), "int": ("int(5)", "int"), "true": ("true", "bool"),
         "complex": ("1+2i", "cscalar"), "string": ('"text"', "string"), "lambda": ("x -> x", "[?? -> ??]"),
         "object": ("point(x:=1)", "point"), "vec2": ("[4,2]", ("scalar", (2,))),
         "vec3": ("[4,2,3]", ("scalar", (3,))), "bytes": ("uint8([1,2,3])", ("uint8", (3,))),
         "mat": ("ones(2,2)", ("scalar", (2, 2))), "long": ("ones(2,3)", ("scalar", (2, 3))),
         "double": ("float64(ones(2,3))", ("float64", (2, 3))), "complexes": ("1i*[1,2]", ("cscalar", (2,))),
         "cube": ("ones(2,2,2)", ("scalar", (2, 2, 2)))}
PYTHON = {"5": "5", "variable": "5.0", "fraction": "2.5", "int": "np.int64(5)", "true": "True",
          "complex": "1+2j", "string": "'text'",
          "vec2": "np.array([4,2],np.float32)", "vec3": "np.array([4,2,3],np.float32)",
          "bytes": "np.array([1,2,3],np.uint8)", "mat": "np.ones((2,2),np.float32)",
          "long": "np.ones((2,3),np.float32)", "double": "np.ones((2,3))",
          "complexes": "np.array([1j,2j],np.complex64)", "cube": "np.ones((2,2,2),np.float32)"}
INSIDE = {"5": "5", "variable": "n", "element": "five[0]", "fraction": "2.5", "int": "int(5)", "true": "true",
          "complex": "1+2i"}  # numbers in a kernel that begins with n = 5.0 and has five = [5.0,2]
SIGNATURES = list(itertools.product(["int", "scalar", ""], repeat=2))
COUPLES = list(itertools.product(["5", "variable", "element", "fraction", "int"], repeat=2))
IN_KERNEL = 60  # calls: a kernel takes a limited number of functions from outside
NO, LOSSY, UNTYPED, INTEGRAL, CONVERTS, EXACT = range(6)


def holds(wide, narrow):
    (k, n), (l, m) = NUMBERS[wide], NUMBERS[narrow]
    if wide == narrow or l == "b": return True
    if k in "iu" and l in "iu": return (k == l and n >= m) or (k == "i" and n > m)
    return {"f": l in "iu" or (l == "f" and n >= m), "c": l in "iuf" and m <= 32}.get(k, False) or \
        (k == "c" and l in "iu")


def fit_number(given, t):
    if given == t: return EXACT
    if given == "cscalar" and t != "cscalar": return NO
    floats = given == "float64" and t in ("scalar", "cscalar")  # every float counts as a scalar
    return CONVERTS if holds(t, given) or floats else LOSSY


def fit(kind, t):
    given = KINDS[kind][1]
    if t == "": return UNTYPED
    if t in NUMBERS:
        if given not in NUMBERS: return NO
        plain = fit_number(given, t)
        return INTEGRAL if kind == "5" and plain == LOSSY and holds(t, "int") else plain
    if t in ARRAYS:
        if not isinstance(given, tuple): return NO
        (elem, rank, size), (of, dims) = ARRAYS[t], given
        elements = fit_number(of, elem)
        if elements == NO or len(dims) > rank or (size and size != dims): return NO
        return elements if len(dims) == rank else min(elements, CONVERTS)
    return EXACT if given == t else NO


def within(a, b):
    """Whether b takes all that a takes."""
    if b == "" or a == b: return True
    if a in NUMBERS and b in NUMBERS: return holds(b, a)
    if a in ARRAYS and b in ARRAYS:
        (e, r, s), (f, q, t) = ARRAYS[a], ARRAYS[b]
        return r <= q and (t is None or s == t) and holds(f, e)
    return False


def better(x, y, kinds):
    """Whether types x take the arguments better than types y."""
    fits = [(fit(k, a), fit(k, b)) for k, a, b in zip(kinds, x, y)]
    if any(a < b for a, b in fits): return False
    same = [(a, b) for (f, g), a, b in zip(fits, x, y) if f == g and f not in (UNTYPED, LOSSY)]
    if any(not within(a, b) for a, b in same): return False
    return any(a > b for a, b in fits) or any(not within(b, a) for a, b in same)


def right_of_two(kinds, first, second):
    """The same as right, of two arguments.  Beside an int, 5 is an int."""
    if "int" in kinds: kinds = ["int" if k == "5" else k for k in kinds]
    lossy = [any(fit(k, t) == LOSSY for k, t in zip(kinds, x)) for x in (first, second)]
    if lossy[0] != lossy[1]: which = 1 + lossy[0]
    else: which = 1 if better(first, second, kinds) else 2
    refused = any(k == "fraction" and t == "int" for k, t in zip(kinds, (first, second)[which - 1]))
    return 0 if refused else which


def right(kind, first, second):
    """1 or 2; 0: an error, since neither takes it, or the called function refuses a fraction."""
    which = chosen(kind, first, second)
    t = (first, second)[which - 1]
    return 0 if kind == "fraction" and t in NUMBERS and NUMBERS[t][0] in "iu" else which


def in_kernel(kind, first, second):
    """A kernel converts no real arrays to complex ones, and says so."""
    which = right(kind, first, second)
    return which and not ((first, second)[which - 1] == "cvec" and KINDS[kind][1][0] != "cscalar")


def chosen(kind, first, second):
    x, y = fit(kind, first), fit(kind, second)
    if x == NO or y == NO: return 1 if x else 2 if y else 0
    if x != y: return 1 if x > y else 2
    if x == LOSSY: return 2
    below, above = within(first, second), within(second, first)
    return 1 if below and not above else 2


def declared(t): return "x" + (t and " : " + t)


def program(pairs, device):
    yield "type point : class\n    x : scalar\nend\ntype other : class\n    x : scalar\nend"
    for i, (a, b) in enumerate(pairs):
        for n, t in ((1, a), (2, b)):
            yield f"function y = __device__ f{i}({declared(t)})\n    y = {n}\nend"
        yield f"""function [] = tell{i}(name, a)
    try
        print name, " {i} ", f{i}(a)
    catch e
        print name, " {i} 0"
    end
end
function y = loop{i}(a, n)
    y = 0
    for k = 0..n-1
        y += f{i}(a)
    end
    y = y/n
end
function [] = report_written{i}()
    try
        print "host-5 {i} ", f{i}(5)
    catch e
        print "host-5 {i} 0"
    end
end"""
        if right("5", a, b): yield f"""function y = loop_written{i}(n)
    y = 0
    for k = 0..n-1
        y += f{i}(5)
    end
    y = y/n
end"""
    if device: return
    yield "five = [5.0,2]"
    for i, (a, b) in enumerate(pairs):
        yield f"report_written{i}()"
        if right("5", a, b): yield f'print "loop-5 {i} ", loop_written{i}(40)'
    for kind, (text, _) in KINDS.items():
        if kind == "5": continue
        yield f"a = {text}"
        for i, (a, b) in enumerate(pairs):
            yield f'tell{i}("host-{kind}", a)'
            if right(kind, a, b): yield f'print "loop-{kind} {i} ", loop{i}(a, 40)'


def functions_of_two(pairs):
    yield "five = [5.0,2]\nn = 5.0"
    for i, both in enumerate(pairs):
        for k, (a, b) in enumerate(both):
            yield f"function y = __device__ f{i}({declared(a)}, {declared(b).replace('x', 'z')})\n    y = {k+1}\nend"


def host_of_two(pairs):
    yield from functions_of_two(pairs)
    for i, k, call in calls_of_two(pairs):
        yield f'try\n    print "two-{k} {i} ", {call}\ncatch e\n    print "two-{k} {i} 0"\nend'


def calls_of_two(pairs):
    for i, both in enumerate(pairs):
        for k, (a, b) in enumerate(COUPLES): yield i, k, f"f{i}({INSIDE[a]}, {INSIDE[b]})"


def kernels_of_two(pairs):
    yield from functions_of_two(pairs)
    calls = [c for c in calls_of_two(pairs) if right_of_two(COUPLES[c[1]], *pairs[c[0]])]
    for at in range(0, len(calls), IN_KERNEL):
        part = calls[at:at + IN_KERNEL]
        body = "\n".join(f"    y[{j}] = {call}" for j, (_, _, call) in enumerate(part))
        yield f"function [] = __kernel__ k{at}(five : vec, y : vec'unchecked, pos : int)\n    n = 5.0\n{body}\nend"
        yield f"y = zeros({len(part)})\nparallel_do(1, five, y, k{at})"
        for j, (i, k, _) in enumerate(part): yield f'print "two-{k} {i} ", y[{j}]'


def compare_of_two(where, output, pairs):
    wrong, seen, expected = 0, 0, len(pairs) * len(COUPLES)
    if where != "host":
        expected = sum(bool(right_of_two(c, *pair)) for c in COUPLES for pair in pairs)
    for k, i, got in re.findall(r"^two-(\d+) (\d+) (\S+)$", output, re.M):
        want = right_of_two(COUPLES[int(k)], *pairs[int(i)])
        seen += 1
        if got == str(want): continue
        wrong += 1
        first, second = pairs[int(i)]
        print(f"FAIL {where}: f{first}, f{second} called with {COUPLES[int(k)]}: {got}, not {want}")
    if seen < expected: print(f"FAIL {where}: {seen} results of {expected}\n{output[-1500:]}"), sys.exit(1)
    return wrong


# Of a kind that enters kernels: one kernel for the calls of all pairs, with the argument from outside, and if it can be
# written there (numbers) from inside.
def kernels(pairs):
    yield from program(pairs, True)
    yield "five = [5.0,2]"
    for kind, (text, given) in KINDS.items():
        calls = [i for i, pair in enumerate(pairs) if in_kernel(kind, *pair)]
        for way in ["outside"] * (kind != "5") + ["inside"] * (kind in INSIDE):
            for at in range(0, len(calls), IN_KERNEL):
                part, name = calls[at:at + IN_KERNEL], f"k{at}_{way}_{kind}"
                given = INSIDE[kind] if way == "inside" else "a"
                body = "\n".join(f"    y[{n}] = f{i}({given})" for n, i in enumerate(part))
                head = f"function [] = __kernel__ {name}(a, five : vec, y : vec'unchecked, pos : int)\n    n = 5.0"
                yield f"{head}\n{body}\nend"
                yield f"y = zeros({len(part)})\nparallel_do(1, {text}, [5.0,2], y, {name})"
                for n, i in enumerate(part): yield f'print "{way}-{kind} {i} ", y[{n}]'


def from_python(pairs, path):
    yield "import sys\nimport numpy as np, pyquasar as q\nq.init('cpu')"
    yield f"m = q.compile_string('pairs', open({path!r}).read())"
    yield f"""def call(name, i, x):
    try: n = int(getattr(m, f'f{{i}}')(x))
    except Exception as e: n = 'refused' if 'is not rounded' in str(e) else 0
    print(f'python-{{name}} {{i}} {{n}}')"""
    for kind, text in PYTHON.items():
        yield f"x = {text}\nfor i in range({len(pairs)}): call({kind!r}, i, x)"


def compare(where, output, pairs, expected):
    wrong, seen = 0, 0
    for line in output.splitlines():
        m = re.fullmatch(r"(\w+)-(\w+) (\d+) ?(\S+)", line)
        if not m: continue
        way, kind, i, got = m.groups()
        a, b = pairs[int(i)]
        want = right(kind, a, b)
        seen += 1
        if got == str(want) or (got == "refused" and want): continue
        wrong += 1
        text = KINDS[kind][0]
        print(f"FAIL {where}: {way}: f({declared(a)}), f({declared(b)}) called with {text}: {got}, not {want}")
    if seen < expected: print(f"FAIL {where}: {seen} results of {expected}\n{output[-1500:]}"), sys.exit(1)
    return wrong


def run(command, folder, name, lines, environment=None):
    path = os.path.join(folder, name)
    with open(path, "w") as f: f.write("\n".join(lines) + "\n")
    got = subprocess.run([*command, path], capture_output=True, text=True, env=environment)
    return got.stdout + got.stderr


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--devices", default="ref,cpu,opencl")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--module", default=os.path.join(ROOT, "build/python"))
    p.add_argument("--keep")
    o = p.parse_args()
    pairs = [pair for pair in itertools.permutations(TYPES, 2)]
    folder = o.keep or tempfile.mkdtemp()
    calls = sum(bool(right(k, *pair)) for k in KINDS for pair in pairs)
    output = run([o.qrun], folder, "host.q", program(pairs, False))
    wrong = compare("host", output, pairs, len(KINDS) * len(pairs) + calls)
    two = list(itertools.permutations(SIGNATURES, 2))
    wrong += compare_of_two("host", run([o.qrun], folder, "host_of_two.q", host_of_two(two)), two)
    devices = subprocess.run([o.qrun, "--devices"], capture_output=True, text=True).stdout
    for device in o.devices.split(","):
        if device not in devices and device == "opencl": continue
        output = run([o.qrun, "--device", device], folder, f"kernels_{device}.q", kernels(pairs))
        wrong += compare(device, output, pairs, sum(bool(in_kernel(k, *pair)) for k in KINDS for pair in pairs))
        output = run([o.qrun, "--device", device], folder, f"kernels_of_two_{device}.q", kernels_of_two(two))
        wrong += compare_of_two(device, output, two)
    environment = {**os.environ, "PYTHONPATH": o.module}
    numpy = subprocess.run([o.python, "-c", "import numpy, pyquasar"], env=environment, capture_output=True)
    if numpy.returncode == 0:
        run(["true"], folder, "python.q", program(pairs, True))
        output = run([o.python], folder, "calls.py", from_python(pairs, os.path.join(folder, "python.q")), environment)
        wrong += compare("python", output, pairs, len(PYTHON) * len(pairs))
    print(f"overloads: {len(pairs)} pairs of types, {len(KINDS)} kinds of arguments, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__": main()
