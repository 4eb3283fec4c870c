#!/usr/bin/env python3
"""A value that enters a declared type means the same to the interpreter, in compiled loops and in kernels.

    tests/declared.py [--qrun build/qrun] [--device cpu] [--all] [--keep FOLDER] [type ...]

The table is made here: every type that may be declared, every kind of value, every place where one enters (parameters,
locals, results, fields, elements, conversions; of arrays, too).  The interpreter says what is right; a line that
differs is printed with what was expected.  What is compiled takes a part of the table, unless --all is given."""
import argparse, ctypes, os, re, subprocess, sys, tempfile

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
function y = handed_in_loop_T(x, k)
    y = hand_T(x[k..k])
end
function y = handed_in_kernel_T(x, k)
    y = float64(zeros(1))
    parallel_do(1, x[k..k], y, handed_kernel_T)
    y = y[0]
end
function y = kept_in_loop_T(x, k)
    y = keep_T(x[k..k])
end
function y = kept_in_kernel_T(x, k)
    y = float64(zeros(1))
    parallel_do(1, x[k..k], y, kept_kernel_T)
    y = y[0]
end
function y = array_in_loop_T(x, k)
    y = first_T(x[k..k])
end
function y = array_in_kernel_T(x, k)
    y = float64(zeros(1))
    parallel_do(1, x[k..k], y, array_T)
    y = y[0]
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
# What is compiled takes a part, since each form of a kernel is compiled anew.
FEW_PLACES = ["parameter", "early", "local", "branch", "field", "element", "vector"]
# Of a place P: as it is, on an element, and on a number.
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
        for place in ("array", "handed", "kept"): yield from cases(place, t, values, [], f"{place}_in_{by}")
        for place in FEW_PLACES if few else PLACES:
            text = OF_PLACE.replace("ELEMENT", element).replace("NUMBER", number).replace("BODY", PLACES[place])
            yield text.replace("P_T", f"{place}_{t}").replace("T", t)
            yield from cases(place, t, values, numbers)
            if place in ("parameter", "local", "field"): yield from literals(place, t, numbers, literal)


def run(args, folder, by, loops, device):
    path = os.path.join(args.keep or folder, f"declared_{by}.q")
    few = not args.all and (loops == "always" or device != "ref")
    with open(path, "w") as f: f.write("".join(program(args.type or (["uint8"] if few else TYPES), few, by)))
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


def compare(name, want, got):
    wrong = [f"{name}: {case}: {x}, not {want[case]}" for case, x in got.items()
             if case in want and not same(case, want[case], x)]
    print("\n".join(wrong + [f"{name}: {len(got) - len(wrong)} of {len(got)} as interpreted"]))
    return len(wrong) + (not got)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("type", nargs="*")
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--device", action="append")
    p.add_argument("--all", action="store_true")
    p.add_argument("--keep", metavar="FOLDER", help="where the programs stay")
    args = p.parse_args()
    has = lambda d: subprocess.run([args.qrun, "--has", d], capture_output=True).returncode == 0
    with tempfile.TemporaryDirectory() as folder:
        want = run(args, folder, "loop", "never", "ref")
        wrong = compare("loops", want, run(args, folder, "loop", "always", "cpu" if has("cpu") else "ref"))
        for d in args.device or [d for d in ("ref", "cpu", "opencl") if has(d)]:
            wrong += compare(d, in_kernel(want), run(args, folder, "kernel", "never", d))
    sys.exit(wrong > 0)


if __name__ == "__main__": main()
