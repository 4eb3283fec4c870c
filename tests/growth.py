#!/usr/bin/env python3
"""The time that a large program takes to start grows in proportion to it: four times as many functions, classes or
variables may take at most eight times as long.  A kernel of 1000 statements must compile within LIMIT seconds, and so
must loops in which each statement uses the one before twice.  Loops do not copy a list again and again.
All times are processor times, the smallest of a few runs."""
import argparse, os, resource, subprocess, sys, tempfile

BOUND = 8  # for four times the size; quadratic is 16
SIZE = 4000
LIMIT = 10  # seconds to compile 1000 statements with a sine
LONGEST = 120  # seconds for one program


def functions(n): return "".join(f"function y = f{i}(x)\n  y = x + {i}\nend\n" for i in range(n))
def calls(n): return functions(n) + "".join(f"x{i} = f{i}({i})\n" for i in range(n))
def lambdas(n): return "".join(f"f{i} = x -> x + {i}\n" for i in range(n))
def variables(n): return "".join(f"v{i} = {i}\n" for i in range(n))
def locals_of(n):
    body = "".join(f"  v{k} = {k}\n" for k in range(100))
    return "".join(f"function [] = g{i}()\n{body}end\n" for i in range(n // 100))


def statements(n): return "x = 0\n" + "x = x*2 - 1\n" * n
def classes(n): return "".join(f"type t{i} : class\n  a : int\nend\n" for i in range(n))
def objects(n): return classes(n) + "".join(f"o{i} = t{i}(a:={i})\n" for i in range(n))
def enums(n): return "type e : enum\n" + "".join(f"  c{i}\n" for i in range(n)) + "end\n"
def fields(n): return "type t : class\n" + "".join(f"  a{i} : int\n" for i in range(n)) + "end\n"

def kernels(n):
    return "".join(f"function [] = __kernel__ k{i}(x : mat, pos : ivec2)\n  x[pos] = {i}\nend\n" for i in range(n))

def text(n): return 'x = "' + "abcdefghij" * n * 10 + '"\n'
def texts(n): return "x = {" + ",".join(f'"text {i}"' for i in range(n)) + "}\n"
def numbers(n): return "x = [" + ",".join(str(i) for i in range(n * 10)) + "]\n"
def sums(n): return "a = 1\n" + ("x = " + "+".join(["a"] * 100) + "\n") * (n // 100)
def nested(n): return ("x = " + "(" * 100 + "1" + ")" * 100 + "\n") * (n // 10)
def comments(n): return "% a comment\n" * n * 10
def strings(n): return "".join(f'print "text {i}"\n' for i in range(n))

def dimensions(n): return "x = 1\n" + "x = max(x, 2)\n" * n + "v = [1,2]\n" + "y = mean(v,0)\n" * 200
def indices(n): return "x = ones(1,10)\n" + "".join(f"i{k} = {k % 10}\ny{k} = x[i{k}]\n" for k in range(n // 2))
def images(n): return "x0 = [1,2]\n" + "".join(f"x{i+1} = max(x{i}, 2) + mean(x{i},0)*0\n" for i in range(n))

def conditions(n):
    return "x = 1\nif x == 1\n  x = 1\n" + "".join(f"elseif x == {i}\n  x = {i}\n" for i in range(n // 4)) + "end\n"


def overloads(n):  # a definition is compared with all before it, so that fewer are made
    n //= 10
    return classes(n) + "".join(f"function y = f(x : t{i})\n  y = {i}\nend\n" for i in range(n))


def sines(n):  # a kernel, compiled for the processor
    body = "".join(f"  y[pos] += sin(x[pos]*{i})\n" for i in range(n // 16))
    return f"function [] = __kernel__ f(x, y, pos : int)\n{body}end\nparallel_do(9, ones(9), ones(9), f)\n"


def chain(statement, n): return f"    {statement}\n" * (n // 100)

# Loops, compiled for the processor, in which each statement uses the variable of the one before twice.
def subscripts(n):
    return (f"function [] = f(a, b, t, n : int)\n  for j=0..n-1\n    t = n\n{chain('t = mod(t*t+t, 91)', n)}"
            "    a[j+t] = b[j+t] + j\n  end\nend\nf(zeros(1000), ones(1000), 3, 100)\n")

def ranges(n): return subscripts(n).replace("mod(t*t+t, 91)", "max(t, 3) - min(t, 3)")


def interchanged(n):  # a nest is small, so that there are several
    nest = (f"  for j=0..n-1\n    t = a[j]\n{chain('t = t*t+t', 4000)}    s = 0.0\n"
            "    for k=0..n-1\n      s += t*c[k,j]\n    end\n    a[j] = s\n  end\n")
    return ("function [] = f(a, c, n : int)\n  q = 0\n  while q < 2\n  q += 1\n" + nest * (n // 2000) +
            "  end\nend\nf(ones(40)*0.01, ones(40,40)*0.001, 40)\n")


def lists(n):  # an interpreted loop around one that is compiled and appends to a list
    return (f"d = dict()\nl = {{}}\nfor i = 0..{n // 10}\n  d[f\"k{{i}}\"] = i\n"
            "  for k = 0..99\n    append(l, k*0.5)\n  end\nend\n")


COMPILED = [lists, sines, subscripts, ranges, interchanged]
PROGRAMS = [functions, calls, lambdas, variables, locals_of, statements, classes, objects, enums, fields, kernels, text,
            texts, numbers, sums, nested, comments, strings, dimensions, indices, images, conditions,
            overloads] + COMPILED


def imports(folder, n):  # at most 256 files may import each other
    for i in range(min(n // 40, 250)):
        with open(os.path.join(folder, f"m{i}.q"), "w") as f:
            f.write(f"function y = g{i}(x)\n  y = x\nend\n")
    return "".join(f'import "m{i}.q"\n' for i in range(min(n // 40, 250)))


def seconds(qrun, path, device):
    cache = dict(os.environ, QUASAR_CACHE_DIR=tempfile.mkdtemp(dir=os.path.dirname(path)))  # an empty one
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = ["--device", device, "--loops", "always" if device == "cpu" else "auto"]
    try: done = subprocess.run([qrun, *options, path], capture_output=True, text=True, env=cache, timeout=LONGEST)
    except subprocess.TimeoutExpired: sys.exit(f"growth: {os.path.basename(path)} takes more than {LONGEST} s")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode: sys.exit(f"growth: {path}: {done.stderr[:400]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--qrun", default="build/qrun")
    ap.add_argument("--size", type=int, default=SIZE)
    ap.add_argument("only", nargs="*")
    a, failed = ap.parse_args(), 0
    with tempfile.TemporaryDirectory() as folder:
        for make in PROGRAMS + [imports]:
            if a.only and make.__name__ not in a.only: continue
            device, times = "cpu" if make in COMPILED else "ref", []
            for n in (a.size, 4 * a.size):
                path = os.path.join(folder, f"{make.__name__}_{n}.q")
                program = make(folder, n) if make is imports else make(n)
                with open(path, "w") as f: f.write(program)
                times.append(min(seconds(a.qrun, path, device) for _ in range(3)))
            ratio = times[1] / max(times[0], 0.02)  # what is shorter than that is mostly the start of the process
            slow = ratio > BOUND or make in COMPILED and times[1] > LIMIT
            failed += slow
            verdict = "  FAILED" if slow else ""
            print(f"{make.__name__:12} {times[0]:7.3f} s {times[1]:7.3f} s  {ratio:5.1f}{verdict}", flush=True)
    sys.exit(f"growth: {failed} grow faster than their programs" if failed else 0)


if __name__ == "__main__": main()
