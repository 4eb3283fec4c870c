"""Python calls the language: ns per call without the loop around it, and the nearest thing that Python does itself."""
import array, math, subprocess, sys, timeit

import pyquasar as q

try:
    import numpy as np
except ImportError:
    np = None
try:
    import torch
except ImportError:
    torch = None

PROGRAM = """
function [] = nothing()
end
function y = same(x)
  y = x
end
function [] = __kernel__ empty(a : vec, b : vec, c : vec, d : vec, e : vec, pos : int)
end
"""


def ns(statement, n=4000, **names):
    """The best of many short runs: other programs on the machine interrupt some of them, and not all."""
    return min(timeit.repeat(statement, globals=names, number=n, repeat=300)) / n * 1e9


def row(path, floor, ours, what):
    print("%s|%s;%.0f;%s" % (path, "" if floor is None else "%.0f" % floor, ours, what))


def started(code):
    command = [sys.executable, "-c",
               "import time\nt = time.process_time()\n%s\nprint((time.process_time() - t)*1e6)" % code]
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(40))


def five(kind, a):
    """Five arrays into one kernel on the cpu."""
    names = dict(zip("abcde", a), p=q.parallel_do, k=q.empty)
    row("five %s into an empty kernel" % kind, None, ns("p(16, a, b, c, d, e, k)", 1000, **names) - loop, "")


q.init("cpu")
q.compile_string("bench", PROGRAM)
loop = ns("pass")
row("function without arguments", ns("f()", f={}.clear) - loop, ns("f()", f=q.nothing) - loop, "a method of C")
row("function of a number", ns("f(2.5)", f=abs) - loop, ns("f(2.5)", f=q.same) - loop, "abs(2.5)")
row("look-up of a function, `q.f`", ns("m.sin", m=math) - loop, ns("q.same", q=q) - loop, "`math.sin`")
row("function of a list of three floats", ns("f('d', x)", f=array.array, x=[1.5, 2.5, 3.5]) - loop,
    ns("f(x)", f=q.same, x=[1.5, 2.5, 3.5]) - loop, "`array.array('d', x)`")
row("`v + 1.0`, v of the language", ns("v + 1.0", v=2.5) - loop, ns("v + 1.0", v=q.value(2.5)) - loop, "of two floats")
row("`v[3]`, v a vector of the language", ns("v[3]", v=[1.0] * 16) - loop, ns("v[3]", v=q.zeros(16)) - loop,
    "of a list")
if np:
    v = q.zeros(16)
    row("function of a NumPy array", ns("f(a)", f=memoryview, a=np.zeros(16)) - loop,
        ns("f(a)", f=q.same, a=np.zeros(16)) - loop, "memoryview(array)")
    row("from_dlpack(array)", ns("f(a)", f=np.from_dlpack, a=np.zeros(16)) - loop,
        ns("f(a)", f=q.from_dlpack, a=np.zeros(16)) - loop, "np.from_dlpack(array)")
    row("np.asarray(v)", ns("f(m)", f=np.asarray, m=memoryview(v)) - loop, ns("f(v)", f=np.asarray, v=v) - loop,
        "of a memoryview")
    row("a list of three floats into an array and back out", ns("f(x).tolist()", f=np.array, x=[1.5, 2.5, 3.5]) - loop,
        ns("f(x).tolist()", f=q.value, x=[1.5, 2.5, 3.5]) - loop, "np.array(x).tolist()")
    row("value(array)", ns("f(a)", f=memoryview, a=np.zeros(16)) - loop, ns("f(a)", f=q.value, a=np.zeros(16)) - loop,
        "memoryview(array)")
five("arrays of the language", [q.zeros(16) for _ in range(5)])
if np:
    five("NumPy arrays", [np.zeros(16, np.float32) for _ in range(5)])
if torch:
    five("tensors of torch", [torch.zeros(16) for _ in range(5)])
row("import pyquasar, processor time in us", started("import json"), started("import pyquasar"), "import json")
