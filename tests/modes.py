#!/usr/bin/env python3
"""A declared type is complete: the access mode of a variable is the one that its declaration writes, and the default
mode where it writes none.  A variable of no declared type, or of ??, has the mode of the argument that it stands for.

    tests/modes.py [--qrun build/qrun] [--device cpu] [--keep FOLDER]

The table is made here: every place of a declaration, every access mode of the declaration, every access mode of the
argument, reading and writing inside and outside, in kernels and on the host, interpreted and as machine code.  A model
in Python says what is right.  Devices are those that are here, and cuda by the driver that executes PTX."""
import argparse, os, subprocess, sys, tempfile

from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODES = ["", "'safe", "'clamped", "'mirror", "'reflect", "'circular", "'checked", "'unchecked"]
UNTYPED, ANY = None, "??"  # x, x : ??
OPEN = [UNTYPED, ANY]      # no type is declared
FEW = [UNTYPED, "", "'clamped", "'unchecked"]
LENGTH = 5
INDICES = [0, 3, -1, -4, 5, 8]
# Places in kernels: definitions, and a statement that reads y[0] = x[i], or writes x[i] = 7.  D is the declaration of
# the variable, such as ": vec'safe", or nothing; N numbers the kernel.
KERNEL = {
    "device": ("function y = __device__ read_N(x D, i : int)\n y = x[i]\nend\n"
               "function [] = __device__ write_N(x D, i : int)\n x[i] = 7\nend\n",
               "y[0] = read_N(x, i)", "write_N(x, i)"),
    "lambda": ("", "f = (z D, i) -> z[i]; y[0] = f(x, i)", "f = (z D, i) -> (z[i] = 7); f(x, i)"),
    "local": ("", "w D = x; y[0] = w[i]", "w D = x; w[i] = 7"),
    "later": ("", "v D = y; v = x; y[0] = v[i]", "v D = y; v = x; v[i] = 7"),
    "added": ("", "u D = x; y[0] = 0; y[0] += u[i]", "u D = x; u[i] += 7 - u[i]"),
    "result": ("function y D = __device__ same_N(x)\n y = x\nend\n",
               "r = same_N(x); y[0] = r[i]", "r = same_N(x); r[i] = 7"),
    "argument": ("", "y[0] = any_read(x D, i)", "any_write(x D, i)"),
    "captured": ("", "c D = x; g = k -> c[k]; y[0] = g(i)", "c D = x; g = k -> (c[k] = 7); g(i)"),
    "through": ("function y = __device__ over_N(x D, i : int)\n y = any_read(x, i)\nend\n"
                "function [] = __device__ across_N(x D, i : int)\n any_write(x, i)\nend\n",
                "y[0] = over_N(x, i)", "across_N(x, i)"),
    "launch": ("function [] = __kernel__ get_N(x D, y : vec, i : int, pos : int)\n y[0] = x[i]\nend\n"
               "function [] = __kernel__ put_N(x D, i : int, pos : int)\n x[i] = 7\nend\n",
               "serial_do(1, x, y, i, get_N)", "serial_do(1, x, i, put_N)"),
}
# No mode can be written in these: the field of a class, made in the kernel, and set in one.
FIELD = {
    "made": ("type box_N : class\n v D\nend\n", "b = box_N(v:=x); y[0] = b.v[i]", "b = box_N(v:=x); b.v[i] = 7"),
    "field": ("type bag_N : mutable class\n v D\nend\n", "o = bag_N(v:=x); o.v = x; y[0] = o.v[i]",
              "o = bag_N(v:=x); o.v = x; o.v[i] = 7"),
}
# On the host the argument brings no mode: a variable of no declared type has the default one, or that of the variable
# that it is set from.
HOST = {
    "parameter": ("function y = of_N(x D, i)\n y = x[i]\nend\nfunction [] = to_N(x D, i)\n x[i] = 7\nend\n",
                  "y = of_N(x, i)", "to_N(x, i)"),
    "loop": ("function y = many_N(x D, i)\n y = 0\n for k = i..i\n  y = x[k]\n end\nend\n"
             "function [] = all_N(x D, i)\n for k = i..i\n  x[k] = 7\n end\nend\n", "y = many_N(x, i)", "all_N(x, i)"),
    "inlined": ("function y = each_N(x, i)\n y = 0\n for k = i..i\n  y = of_N(x, k)\n end\nend\n"
                "function [] = every_N(x, i)\n for k = i..i\n  to_N(x, k)\n end\nend\n",
                "y = each_N(x, i)", "every_N(x, i)"),
    "lambda": ("", "f = (z D, i) -> z[i]; y = f(x, i)", "f = (z D, i) -> (z[i] = 7); f(x, i)"),
    "field": ("", "o = box(v:=x); y = o.v[i]", "o = box(v:=x); o.v[i] = 7"),
    "local": ("", "w D = x; y = w[i]", "w D = x; w[i] = 7"),
    "turns": ("", "w D = x; for k = i..i; y = w[k]; end", "w D = x; for k = i..i; w[k] = 7; end"),
    "captured": ("", "c D = x; g = k -> c[k]; y = g(i)", "c D = x; g = k -> (c[k] = 7); g(i)"),
    "nested": ("", "c D = x; g = k -> (() -> c[k]); h = g(i); y = h()",
               "c D = x; g = k -> (() -> (c[k] = 7)); h = g(i); h()"),
}
SET = ["local", "turns", "captured", "nested"]  # from the variable whose mode is that of the argument
# A host parameter that a kernel is given, or captures.
HOST_KERNEL = {
    "handed": ("function y = hand_N(x D, i)\n y = zeros(1)\n parallel_do(1, x, y, i, reads)\n y = y[0]\nend\n"
               "function [] = give_N(x D, i)\n parallel_do(1, x, i, writes)\nend\n",
               "y = hand_N(x, i)", "give_N(x, i)"),
    "caught": ("function y = catch_N(x D, i)\n z = zeros(1)\n parallel_do(1, z, (z, pos) -> (z[0] = x[i]))\n"
               " y = z[0]\nend\n"
               "function [] = throw_N(x D, i)\n parallel_do(1, pos -> (x[i] = 7))\nend\n",
               "y = catch_N(x, i)", "throw_N(x, i)"),
}
HEAD = """type box : class
    v : vec
end
function y = __device__ any_read(x, i : int)
    y = x[i]
end
function [] = __device__ any_write(x, i : int)
    x[i] = 7
end
function [] = __kernel__ reads(x, y : vec, i : int, pos : int)
    y[0] = x[i]
end
function [] = __kernel__ writes(x, i : int, pos : int)
    x[i] = 7
end
function [] = reading(case, f, i)
    try
        print case, "reads ", i, ": ", f([1,2,3,4,5], i)
    catch e
        print case, "reads ", i, ": error"
    end
end
function [] = writing(case, f, i)
    x = [1,2,3,4,5]
    try
        f(x, i)
        print case, "writes ", i, ": ", x
    catch e
        print case, "writes ", i, ": error"
    end
end
"""


def inside(mode, i):
    """Where index i is of an array of LENGTH elements; None: nowhere."""
    if 0 <= i < LENGTH: return i
    if mode == "'clamped": return min(max(i, 0), LENGTH - 1)
    if mode == "'circular": return i % LENGTH
    if mode == "'mirror": return min(i % (2*LENGTH), 2*LENGTH - 1 - i % (2*LENGTH))
    if mode == "'reflect": return min(i % (2*LENGTH - 2), 2*LENGTH - 2 - i % (2*LENGTH - 2))
    return None


def expected(mode, i, writes, strict):
    """What is printed.  strict: outside is an error in the default mode, as on the host and with --checked."""
    at = inside(mode, i)
    if at is None and (mode == "'checked" or (strict and mode != "'safe")): return "error"
    if not writes: return str(at + 1 if at is not None else 0)
    return "[" + ",".join("7" if k == at else str(k + 1) for k in range(LENGTH)) + "]"


def indices(mode, strict): return [i for i in INDICES if strict or mode != "'unchecked" or 0 <= i < LENGTH]


class Program:
    def __init__(self, strict):
        self.text, self.want, self.n, self.strict = [HEAD], {}, 0, strict

    def filled(self, declaration):
        """Puts the declaration and a number of its own into a text."""
        typed = {UNTYPED: "", ANY: " : ??"}.get(declaration, f" : vec{declaration}")
        return lambda s: s.replace(" D", typed).replace("_N", f"_{self.n}")

    def case(self, name, mode, f, writes, strict):
        """Calls of the function f, whose variable has the mode."""
        for i in indices(mode, strict):
            verb = "writes" if writes else "reads"
            self.text.append(f'{"writing" if writes else "reading"}("{name} ", {f}, {i})\n')
            self.want[f"{name} {verb} {i}"] = expected(mode, i, writes, strict)

    def kernels(self, places, argument, declaration):
        """The places of one declaration in a kernel whose parameter x has the mode `argument`."""
        self.n += 1
        mode = argument if declaration in OPEN else declaration
        fill = self.filled(declaration)
        body = {False: "", True: ""}
        for k, (_, reads, writes) in enumerate(places.values()):
            for w in (False, True): body[w] += f"    if which == {k}\n        {fill(writes if w else reads)}\n    end\n"
        self.text += [fill(p[0]) for p in places.values()]
        params = f"x : vec{argument}, y : vec, which : int, i : int, pos : int"
        self.text.append(f"function [] = __kernel__ r_{self.n}({params})\n{body[False]}end\n"
                         f"function [] = __kernel__ w_{self.n}({params})\n{body[True]}end\n"
                         f"function y = read_by_{self.n}(x, k, i)\n    y = zeros(1)\n"
                         f"    parallel_do(1, x, y, k, i, r_{self.n})\n    y = y[0]\nend\n"
                         f"function [] = write_by_{self.n}(x, k, i)\n"
                         f"    parallel_do(1, x, zeros(1), k, i, w_{self.n})\nend\n")
        for k, place in enumerate(places):
            name = f"{place} {shown(declaration)} of {shown(argument)}"
            self.case(name, mode, f"(x, i) -> read_by_{self.n}(x, {k}, i)", False, self.strict)
            self.case(name, mode, f"(x, i) -> write_by_{self.n}(x, {k}, i)", True, self.strict)

    def own(self, declaration):
        """The parameter of a kernel is declared itself; the host's argument brings no mode."""
        self.n += 1
        self.text.append(self.filled(declaration)("""function [] = __kernel__ r_N(x D, y : vec, i : int, pos : int)
    y[0] = x[i]
end
function [] = __kernel__ w_N(x D, i : int, pos : int)
    x[i] = 7
end
function y = read_by_N(x, i)
    a : vec'circular = x
    y = zeros(1)
    parallel_do(1, a, y, i, r_N)
    y = y[0]
end
function [] = write_by_N(x, i)
    a : vec'circular = x
    parallel_do(1, a, i, w_N)
end
"""))
        for writes, f in (False, "read"), (True, "write"):
            self.case(f"kernel {shown(declaration)}", own_mode(declaration), f"{f}_by_{self.n}", writes, self.strict)

    def host(self, places, argument, declaration, kernels=False):
        self.n += 1
        fill = self.filled(declaration)
        for place, (functions, reads, writes) in places.items():
            field, handed = place == "field", place == "handed"
            if field and declaration != "": continue
            mode = "" if handed else argument if place in SET and declaration in OPEN else own_mode(declaration)
            params = f"{place}_{self.n}(a : vec{argument}, i)\n    x = a\n   "
            self.text.append(f"{fill(functions)}function y = read_{params} {fill(reads)}\nend\n"
                             f"function [] = write_{params} {fill(writes)}\nend\n")
            name, strict = f"host {place} {shown(declaration)} of {shown(argument)}", self.strict or not kernels
            for w, f in (False, "read"), (True, "write"): self.case(name, mode, f"{f}_{place}_{self.n}", w, strict)


def own_mode(declaration): return "" if declaration in OPEN else declaration


def shown(mode): return {UNTYPED: "untyped", ANY: "any", "": "default"}.get(mode, (mode or "")[1:])


def program(few, strict, host):
    p = Program(strict)
    for declaration in OPEN + MODES: p.own(declaration)
    for argument in MODES:
        for declaration in FEW if few else OPEN + MODES:
            p.kernels({**KERNEL, **(FIELD if declaration in (*OPEN, "") else {})}, argument, declaration)
            if host: p.host(HOST, argument, declaration)
        if not few or argument in FEW:
            for declaration in FEW if few else OPEN + MODES: p.host(HOST_KERNEL, argument, declaration, True)
    return p


def run(args, folder, name, device, options=(), few=False, host=False, env=None):
    p = program(few, "--checked" in options, host)
    path = os.path.join(args.keep or folder, f"modes_{name.replace(' ', '_')}.q")
    with open(path, "w") as f: f.write("".join(p.text))
    cmd = [args.qrun, "--no-warnings", "--device", device, *options, path]
    env = {**os.environ, "QUASAR_CACHE_DIR": os.path.join(folder, "cache"), **(env or {})}
    r = subprocess.run(cmd, capture_output=True, text=True, env=env)
    if r.returncode: sys.exit(f"{path} on {device}: {r.stdout[-300:]}{r.stderr[-2000:]}")
    got = dict(line.rsplit(": ", 1) for line in r.stdout.splitlines())
    wrong = [f"{name}: {case}: {got.get(case)}, not {want}" for case, want in p.want.items() if got.get(case) != want]
    return len(wrong), "\n".join(wrong[:20] + [f"{name}: {len(p.want) - len(wrong)} of {len(p.want)} as declared"])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--device", action="append", choices=["ref", "cpu", "opencl", "cuda"])
    p.add_argument("--keep", metavar="FOLDER", help="where the programs stay")
    args = p.parse_args()
    has = lambda d: subprocess.run([args.qrun, "--has", d], capture_output=True).returncode == 0
    driver = os.path.join(os.path.dirname(args.qrun), "libptx_driver.so")
    here = {"ref": True, "cpu": has("cpu"), "opencl": has("opencl"), "cuda": has("cpu") and os.path.exists(driver)}
    steps = [("ref", "ref", ("--loops", "never"), False, True), ("ref checked", "ref", ("--checked",), False, False),
             ("cpu", "cpu", ("--loops", "always"), False, True), ("opencl", "opencl", (), True, False),
             ("cuda", "cuda", (), True, False)]
    steps = [s for s in steps if here[s[1]] and (not args.device or s[1] in args.device)]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, Progress("modes", "programs") as progress:
        for done, (name, device, options, few, host) in enumerate(steps):
            progress.at(done, len(steps))
            env = {"QUASAR_CUDA": driver} if device == "cuda" else None
            found, told = run(args, folder, name, device, options, few, host, env)
            progress.say(told)
            wrong += found
    sys.exit(wrong > 0)


if __name__ == "__main__": main()
