#!/usr/bin/env python3
"""A value that enters a declared type, and what is computed of integers, means the same to the interpreter, in compiled
loops and expressions, and in kernels.

    tests/declared.py [--qrun build/qrun] [--device cpu] [--all] [--keep FOLDER] [type ...]

The table is made here: every type that may be declared, every kind of value, every place where one enters (parameters,
locals, results, fields, elements, conversions; of arrays, too); and of short vectors of every integer type every
operator and elementwise function, with what its result stays as something is stored into it.  The interpreter says what
is right; a line that differs is printed with what was expected.  What is compiled takes a part of the table, unless
--all is given."""
import argparse, ctypes, math, os, re, subprocess, sys, tempfile

import elem
from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int", "uint32", "int64", "uint64", "float16", "bfloat16",
         "scalar", "float64"]
WHOLE = "0,5,-1,127,-128,128,-129,255,256,65535,65536"
FLOATS = WHOLE + ",2.7,-0.5,70000.5,2147483648,3000000000,-3000000000,1e20,0/0,1/0,-1/0"
VALUES = {"float32": FLOATS, "float64": FLOATS + ",2147483647,4294967295,4294967296", "bool": "0,1",
          "uint8": "0,127,128,255", "int": WHOLE + ",2147483647,-2147483648",
          "uint32": "0,255,256,2147483647,2147483648,4294967295",
          "int64": WHOLE + ",2147483648,4294967295,4294967296,1125899906842624",
          "uint64": "0,255,256,2147483648,4294967296,1125899906842624"}
NUMBERS = ["5", "2.7", "-1", "-0.5", "300", "70000", "2147483648", "1e20", "1/0", "1 == 1", "int(300)", "1+2i"]
# Functions of x, whose result is y.
PLACES = {
    "parameter": "y = take_T(x)",
    "named": "y = take_T(n:=x)",
    "lambda": "f = (n : T) -> n; y = f(x)",
    "method": "b = box_T(); y = b.keep(x)",
    "result": "y = give_T(x)",
    "early": "y = leave_T(x)",
    "local": "n : T = x; y = n",
    "again": "n : T = 1; n = x; y = n",
    "added": "n : T = 0; n += x; y = n",
    "branch": "n : T = 1; if x == x; n = x; end; y = n",
    "argument": "y = same(x : T)",
    "made": "b = box_T(n:=x); y = b.n",
    "field": "b = box_T(); b.n = x; y = b.n",
    "conversion": "y = T(x)",
    "element": "v = vec[T](2); v[1] = x; y = v[1]",
    "vector": "y = first_T([x, 0])",
    "matrix": "y = corner_T([[0, 0], [0, x]])",
    "vectors": "v : vec[T] = [x, 0]; y = v[0]",
    "results": "v = list_T(x); y = v[0]",
    "fields": "b = list_of_T(v:=[0, x]); y = b.v[1]",
}
LISTS = ["vector", "matrix", "vectors", "results", "fields"]  # places with a list of numbers
HEAD = """function y = __device__ same(x)
    y = x
end
function y = __device__ changed(v, k)
    y = copy(v)
    y[k > 0 ? 1 : 0] = 5
end
function y = __device__ plus(v, x)
    y = copy(v)
    y += x
end
function y = __device__ minus(v, x)
    y = copy(v)
    y -= x
end
function y = __device__ times(v, x)
    y = copy(v)
    y .*= x
end
function y = __device__ over(v, x)
    y = copy(v)
    y ./= x
end
function n = __device__ count(v)
    n = sum(v > 2)
end
function n = __device__ squares(v)
    n = squared_norm(mod(v, 3))
end
function n = __device__ products(v)
    n = dotprod(mod(v, 3), mod(v, 3))
end
function [] = tell(name, f)
    try
        printf("%s %.17g", name, f())
    catch e
        print name, " error"
    end
end
"""
OF_TYPE = """type list_of_T : class
    v : vec[T]
end
function y = __device__ first_T(v : vec[T])
    y = v[0]
end
function y = __device__ corner_T(m : mat[T])
    y = m[1,1]
end
function v : vec[T] = __device__ list_T(x)
    v = [x, 0]
end
function [] = __kernel__ array_T(x : vec[T], y : vec[float64], pos : int)
    y[pos] = x[pos]
end
function [] = __kernel__ handed_kernel_T(x : ivec, y : vec[float64], pos : int)
    y[pos] = first_T(x)
end
function [] = __kernel__ kept_kernel_T(x : vec[T], y : vec[float64], pos : int)
    v = x[0..0]
    v[0] = 300
    y[pos] = v[0]
end
function y = hand_T(x : ivec)
    y = first_T(x)
end
function y = keep_T(x : vec[T])
    v = x[0..0]
    v[0] = 300
    y = v[0]
end
type box_T : mutable class
    n : T
end
function y = __device__ keep(self : box_T, n : T)
    y = n
end
function y = __device__ take_T(n : T)
    y = n
end
function y : T = __device__ give_T(x)
    y = x
end
function y : T = __device__ leave_T(x)
    y = x
    if x == x
        return
    end
    y = 1
end
"""
# For an array: the function, and the kernel.
OF_ARRAY = """function y = PLACE_in_loop_T(x, k)
    y = FUNCTION_T(x[k..k])
end
function y = PLACE_in_kernel_T(x, k)
    y = float64(zeros(1))
    parallel_do(1, x[k..k], y, KERNEL_T)
    y = y[0]
end
"""
ARRAYS = {"array": ("first", "array"), "handed": ("hand", "handed_kernel"), "kept": ("keep", "kept_kernel")}
# What is compiled takes a part, since each form of a kernel is compiled anew.
FEW_PLACES = ["parameter", "early", "local", "branch", "field", "element", "vector"]
# For a position P: unchanged, on an element, and on a number.
OF_PLACE = """function y = __device__ P_T(x)
    BODY
end
function [] = __kernel__ read_P_T(x, y : vec[float64], i : int, pos : int)
    y[pos] = P_T(x[i])
end
function [] = __kernel__ number_P_T(x, y : vec[float64], pos : int)
    y[pos] = P_T(x)
end
function y = element_P_T(x, k)
    y = float64(zeros(1))
    ELEMENT
    y = y[0]
end
function y = one_P_T(x)
    y = float64(zeros(1))
    NUMBER
    y = y[0]
end
"""
# The same functions in a loop, which may be interpreted, and in a kernel.
BY = {"loop": ("for i = k..k; y[0] = P_T(x[i]); end", "for i = 0..0; y[0] = P_T(x); end", "for pos = 0..0; LINE; end"),
      "kernel": ("parallel_do(1, x, y, k, read_P_T)", "parallel_do(1, x, y, number_P_T)", "parallel_do(1, y, kNAME)")}
LITERAL = """function [] = __kernel__ kNAME(y : vec[float64], pos : int)
    LINE
end
function y = NAME()
    y = float64(zeros(1))
    RUN
    y = y[0]
end
"""


# For short vectors a and b: two elements of the result, and the first one after 300.5 has been stored into it.
OF_VECTORS = """function [] = __device__ F(x, z, y, k)
    a = x[k..k+1]
    b = z[k..k+1]
    c = a[0] > 2 ? a : b
    w = BODY
    y[0] = w[0]
    y[1] = w[1]
    w[0] = STORED
    y[2] = w[0]
end
function [] = __kernel__ kernel_F(x, z, y : vec[float64], k : int, pos : int)
    F(x, z, y, k)
end
function y = of_F(x, z, k)
    y = float64(zeros(3))
    RUN
end
"""
RUN = {"loop": "for i = k..k; F(x, z, y, i); end", "expression": "F(x, z, y, k)",
       "kernel": "parallel_do(1, x, z, y, k, kernel_F)"}
INTEGERS = {"bool": "0,1,1,0", "int8": "-128,3,0,127", "uint8": "200,1,7,0", "int16": "-300,3,0,127",
            "uint16": "65000,1,7,0", "int": "-70000,3,0,127", "uint32": "3000000000,1,7,0", "int64": "-70000,3,0,127",
            "uint64": "3000000000,1,7,0"}


def computed():
    """Operations on a and b, and on a and numbers."""
    for row in elem.rows():
        if row.id == "half_power" or row.id in ("conj", "complex"): continue
        if row.nargs == 1: yield row.text("a")
        elif row.nargs == 2: yield from (row.text(*two.split()) for two in ("a b", "a 3", "3 a", "a -1", "a b[1]"))
        else: yield from (row.text(*three.split()) for three in ("a b 7", "a 1 b", "a 1 100"))
    for c in ("a > b", "[a[0] > b[0], true]"):
        yield from (form.format(c) for form in ("where({}, a, b)", "{} ? a : b", "where({}, 3, a)", "{} ? a : 3"))
    yield from ("a[0] > b[0] ? a : b", "a[0] > b[0] ? a : 3", "int(a)", "float(a)", "!a", "a && b", "a || 0", "+a")
    yield from ("not(c)", "or(c, -1)", "abs(c)", "-c", "c + a", "b - c", "c .* a", "max(c, b)", "where(a > b, c, a)",
                "clamp(c, a, b)")
    yield from ("changed(a, k)", "changed(a, k) + b", "not(changed(a, k))", "max(changed(a, k), changed(b, k))",
                "changed(changed(a, k), 1 - k)", "a[0] > b[0] ? changed(a, k) : b")
    # In place, where arrays keep their type, and numbers made of several, of which some are no ints.
    yield from ("plus(a, b)", "plus(a, 0.7)", "minus(a, 1.5)", "times(a, 1.5)", "times(a, b)", "over(a, 2)",
                "over(a, 0.3)", "plus(c, 1)", "times(changed(a, k), 2.5)")
    yield from ("a + count(b)", "a + squares(b)", "a + products(b)", "a .* mean(b)", "a .* norm(b)")
    yield from ("[a[0], b[1]]", "copy(a)", "reshape(a, [1, 2])", "a[[1, 0]]", "transpose(transpose(a))")


def pairs(few):
    others = ["uint8"] if few else list(INTEGERS)
    return [(t, u) for t in (["uint8"] if few else INTEGERS) for u in others]


def of_vectors(few, by):
    three = 'y = f(); printf("%s %.17g %.17g %.17g", name, y[0], y[1], y[2])'
    yield HEAD.replace('printf("%s %.17g", name, f())', three)
    made = {}
    for t, u in pairs(few):
        for body in computed():
            if t != u and not re.search(r"\b[bc]\b", body): continue
            truth = "bool" in (t, u) or ("?" not in body and re.search("[<>=!&|]|^is", body))
            stored = "true" if truth else "300.5"
            name = made.get((body, stored)) or f"v{len(made)}"
            text = OF_VECTORS.replace("RUN", RUN[by]).replace("F", name).replace("BODY", body)
            if (body, stored) not in made: yield text.replace("STORED", stored)
            made[body, stored] = name
            yield f'x = {t}([{INTEGERS[t]}])\nz = {u}([{INTEGERS[u]}])\n'
            for k in (0, 2): yield f'tell("{body} of {t}, {u} {k}:", () -> of_{name}(x, z, {k}))\n'


def literals(place, t, numbers, run):
    for i, text in enumerate(numbers):
        name, line = f"literal_{place}_{t}_{i}", f"y[pos] = {place}_{t}({text})"
        yield LITERAL.replace("RUN", run).replace("LINE", line).replace("NAME", name)
        yield f'tell("{place} of {t}, literal {text}:", {name})\n'


def cases(place, t, values, numbers, function=None):
    function = function or f"element_{place}"
    for of in values:
        yield f"x = {of}([{VALUES[of]}])\nfor k = 0..numel(x)-1\n    name = "
        yield f'sprintf("{place} of {t}, {of} %.17g:", x[k])\n    tell(name, () -> {function}_{t}(x, k))\nend\n'
    for text in numbers: yield f'tell("{place} of {t}, number {text}:", () -> one_{place}_{t}({text}))\n'


def program(types, few, by):
    yield HEAD
    element, number, literal = BY[by]
    values, numbers = (["float32"], NUMBERS[:3]) if few else (VALUES, NUMBERS)
    for t in types:
        yield OF_TYPE.replace("T", t)
        for place, (function, kernel) in ARRAYS.items():
            text = OF_ARRAY.replace("PLACE", place).replace("FUNCTION", function).replace("KERNEL", kernel)
            yield text.replace("_T", f"_{t}")
            yield from cases(place, t, values, [], f"{place}_in_{by}")
        for place in FEW_PLACES if few else PLACES:
            text = OF_PLACE.replace("ELEMENT", element).replace("NUMBER", number).replace("BODY", PLACES[place])
            yield text.replace("P_T", f"{place}_{t}").replace("T", t)
            yield from cases(place, t, values, numbers)
            if place in ("parameter", "local", "field"): yield from literals(place, t, numbers, literal)


def run(args, folder, by, loops, device, vectors=False):
    path = os.path.join(args.keep or folder, f"declared_{by}{'_vectors' * vectors}.q")
    few = not args.all and device != "ref"
    part = few or (loops == "always" and not args.all)
    types = args.type or (["uint8"] if part else TYPES)
    with open(path, "w") as f: f.write("".join(of_vectors(few, by) if vectors else program(types, part, by)))
    cmd = [args.qrun, "--no-warnings", "--device", device, "--loops", loops, path]
    r = subprocess.run(cmd, capture_output=True, text=True)
    if r.returncode: sys.exit(f"{path} on {device}: {r.stdout[-300:]}{r.stderr[-2000:]}")
    return dict(line.rsplit(": ", 1) for line in r.stdout.replace("-nan", "nan").splitlines())


def single(text): return text if text == "error" else ctypes.c_float(float(text)).value


def same(case, want, got):
    """Scalars of kernels may have the digits of float32; in a list of numbers they keep more."""
    digits = "scalar" in case or re.match(f"({'|'.join(LISTS)}) of float64", case)
    return want == got or (got and digits and single(want) == single(got))


def in_kernel(want):
    """What kernels do otherwise, as docs/kernels.md says: int(x) of a float has 32 bits there, and float16 and bfloat16
    are types of memory: numbers have the digits of float32."""
    out = dict(want)
    for case in want:
        place, rest = case.split(" of ", 1)
        t, value = rest.split(", ", 1)
        if (place, t) == ("conversion", "int") and not re.match("u?int", value):
            out[case] = want[f"argument of int, {value}"]
        if t in ("float16", "bfloat16"): del out[case]
    return out


def same_vectors(case, want, got):
    """Kernels compute in float32 where the host does in float64."""
    if "error" in (want, got): return want == got
    wide = 2.0**128  # what is more overflows there
    numbers = [(float(x), float(y)) for x, y in zip(want.split(), got.split())]
    return all(x == y or x != x != y != y or (y == math.copysign(math.inf, x) and abs(x) >= wide) or
               abs(x - y) <= 3e-6 * abs(x) for x, y in numbers)


def vectors_in_kernel(want):
    """What kernels do otherwise, as docs/kernels.md says: numbers are ints or float32, and a single element has the
    type of its array, so what is computed with them may wrap, and quotients by 0 are 0.  An error: sizes, or
    uint64, that depend on the path."""
    out = dict(want)
    for case in want:
        body, rest = case.split(" of ", 1)
        types = re.findall(r"\w+", rest)[:2]
        unsigned = [t in ("uint32", "uint64") for t in types]
        arithmetic = body.startswith("lerp") or body in ("a - 3", "3 - a", "a .* 3", "3 .* a")
        alone = body.endswith(("b[1]", "b[1])"))
        if arithmetic or body == "mod(3, a)" or (alone and (any(unsigned) or "bool" in types)): del out[case]
        elif body in ("not(c)", "-c", "b - c") and "uint64" in types and types[0] != types[1]: out[case] = "error"
        elif re.search(r"\bc [+.]", body) and "uint64" in types: del out[case]
        elif body == "a[0] > b[0] ? a : 3": out[case] = "error"
    return out


def compare(name, want, got, same=same):
    wrong = [f"{name}: {case}: {x}, not {want[case]}" for case, x in got.items()
             if case in want and not same(case, want[case], x)]
    told = "\n".join(wrong + [f"{name}: {len(got) - len(wrong)} of {len(got)} as interpreted"])
    return len(wrong) + (not got), told


def comparisons(args, folder, devices, compiled):
    """Functions, of which each runs a program and compares."""
    want = run(args, folder, "loop", "never", "ref")
    vectors = run(args, folder, "expression", "never", "ref", True)
    yield lambda: compare("loops", want, run(args, folder, "loop", "always", compiled))
    for by, loops in ("loop", "never"), ("loop", "always"), ("expression", "always"):
        device = "ref" if loops == "never" else compiled
        yield lambda by=by, loops=loops, device=device: compare(
            f"vectors by {by}, --loops {loops}", vectors, run(args, folder, by, loops, device, True), same_vectors)
    for d in devices:
        yield lambda d=d: compare(d, in_kernel(want), run(args, folder, "kernel", "never", d))
        if d == "opencl": continue  # takes long for each kernel, and has the types that cpu has
        yield lambda d=d: compare(f"vectors on {d}", vectors_in_kernel(vectors),
                                  run(args, folder, "kernel", "never", d, True), same_vectors)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("type", nargs="*")
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--device", action="append")
    p.add_argument("--all", action="store_true")
    p.add_argument("--keep", metavar="FOLDER", help="where the programs stay")
    args = p.parse_args()
    has = lambda d: subprocess.run([args.qrun, "--has", d], capture_output=True).returncode == 0
    devices, wrong = args.device or [d for d in ("ref", "cpu", "opencl") if has(d)], 0
    with tempfile.TemporaryDirectory() as folder, Progress("declared", "programs") as progress:
        steps = list(comparisons(args, folder, devices, "cpu" if has("cpu") else "ref"))
        for done, step in enumerate(steps):
            progress.at(done, len(steps))
            found, told = step()
            progress.say(told)
            wrong += found
    sys.exit(wrong > 0)


if __name__ == "__main__": main()
