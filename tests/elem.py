#!/usr/bin/env python3
"""Tests every row of lang/kernel/elem/elem.def on every path that computes it; the test is generated from the table.

    tests/elem.py [--qrun build/qrun] [--device ref --device cpu --device opencl] [--row NAME …] [--seed N]

Rows × {number, array, loop, expression and one call as machine code, kernel} × devices × element types × values:
nan, zeros of both signs, infinities, subnormals, limits of the types, and random ones.  Numbers of the host are held
against meanings.py, which says independently what a row means; all other ways against the host, with equal bits
or within the row's bound.  A new row needs its lines there, and nothing else."""
import argparse, cmath, math, multiprocessing, os, re, subprocess, sys, tempfile
import numpy as np

from progress import Progress
from meanings import COMPLEX, ENDLESS, INF, NAN, NO_BITS, REFERENCES, SATURATES, WHOLE

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

OPERATORS = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} .* {}", "div": "{} ./ {}", "neg": "-{}", "pow": "{} .^ {}",
             "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}",
             "bitand": "and({}, {})", "bitor": "or({}, {})", "bitxor": "xor({}, {})", "bitnot": "not({})",
             "clamp2": "clamp({}, {})", "half_power": "{} .^ 0.5"}


# -- the table -----------------------------------------------------------------------------------------------------
class Row:
    def __init__(self, id, nargs, bound, columns):
        self.id, self.nargs, self.bound, self.real, self.whole, self.complex = id, int(nargs), int(bound), *columns

    def text(self, *args):
        form = OPERATORS.get(self.id) or self.id + "(" + ", ".join(["{}"] * self.nargs) + ")"
        return form.format(*args)


def split(text):
    """The arguments of a macro: commas outside parentheses and strings."""
    out, depth, quoted, last = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"': quoted = not quoted
        elif quoted: continue
        elif c in "({": depth += 1
        elif c in ")}": depth -= 1
        elif c == "," and depth == 0: out.append(text[last:i].strip()); last = i + 1
    return out + [text[last:].strip()]


def rows():
    source = re.sub(r"/\*.*?\*/", "", open(os.path.join(ROOT, "lang/kernel/elem/elem.def")).read(), flags=re.S)
    out = []
    for m in re.finditer(r"^(ELEM|FORM|OPERATOR)\(", source, re.M):
        depth, i = 1, m.end()
        while depth: depth += {"(": 1, ")": -1}.get(source[i], 0); i += 1
        a = split(source[m.end():i - 1])
        kinds = [re.match(r"\w+", c)[0] for c in a[3:6]]
        wide = re.match(r"\w+\((OWN|WIDE)", a[5])
        out.append(Row(a[0], a[1], a[2], kinds))
        out[-1].precision = wide[1] if wide else "OWN"
    return out


# -- values --------------------------------------------------------------------------------------------------------
def special(d):
    t = np.finfo(d)
    powers = [np.dtype(d).type(2.0**k) for k in (-60, 3, 60)]  # and their neighbours, which logarithms round to them
    beside = [float(v) for p in powers for v in (p, np.nextafter(p, p*0), np.nextafter(p, p*4))]
    return beside + [NAN, 0.0, -0.0, INF, -INF, float(t.tiny), -float(t.tiny), float(t.smallest_subnormal),
                     float(t.max), -float(t.max), 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-10, 3.0, 64.0, 0.3, -7.25]


def values(d, nargs, rng):
    d = np.dtype(d)
    if d.kind == "f":
        few = [NAN, 0.0, -0.0, INF, -INF, 1.0, -1.5, 0.5, 3.0, 1e-10]
        ones = special(d) + list(rng.normal(0, 3, 40)) + list(rng.choice([-1, 1], 20) * np.exp(rng.normal(0, 20, 20)))
    elif d.kind == "b": few = ones = [False, True]
    elif d.kind in "iu":
        t = np.iinfo(d)
        few = [0, 1, t.max, t.min, 5] + ([-1, -7] if d.kind == "i" else [])
        ones = few + [2, 3, 100, 127, t.max - 1, t.min + 1] + ([128, 129] if t.max > 255 else [])
        ones += [int(v) for v in rng.integers(t.min, t.max, 20, d)]
    elif d.kind == "c":
        parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-10, 30.0]
        few = [complex(1, 2), complex(-0.5, 1), complex(0, 0), complex(3, -0.0), complex(INF, 1), complex(0, NAN), 1j]
        ones = [complex(a, b) for a in parts for b in parts] + few
        ones += [complex(a, b) for a, b in rng.normal(0, 2, (40, 2))]
        part = np.finfo(np.float32 if d.itemsize == 8 else np.float64)
        ends = [float(part.max) * 0.9, float(part.max) * 0.24, float(part.tiny), float(part.smallest_subnormal) * 3]
        ones += [complex(a, b) for a in ends + [1.0] for b in ends + [0.0, -2.0]]
        ones += [complex(a, b) for a in (NAN, INF, -INF, 1.0, 0.0, -0.0, 100.0)
                 for b in (NAN, INF, -INF, 0.0, -0.0, -2.0)]
        most, signs = float(part.max), [(s, t) for s in (1, -1) for t in (1, -1)]
        ones += [complex(s * a, t * b) for s, t in signs for a, b in
                 ((most, most), (most, most * 0.24), (most * 0.24, most), (most, most * 0.05), (most * 0.05, most),
                  (most, 1.0), (1.0, most), (1e30, 0.0), (1.0, float(part.tiny)))]
        ones += [complex(s * a, t * 1.5) for s, t in signs for a in (88.5, 90.0, 709.5, 711.0)]  # where exp overflows
    with np.errstate(all="ignore"):
        if nargs == 1: return [np.array(ones, dtype=d)]
        grid = np.meshgrid(*[np.array(few if nargs == 3 else few, dtype=d)] * nargs)
        out = [g.ravel() for g in grid]
        extra = [rng.permutation(np.array(ones, dtype=d)) for _ in range(nargs)]
        return [np.concatenate([o, e]) for o, e in zip(out, extra)]


# -- running -------------------------------------------------------------------------------------------------------
BETWEEN_BITS = {"bitand", "bitor", "bitxor"}


def gives(row, d):
    """The element type of the result; None: the row does not define it for such arguments."""
    d = np.dtype(d)
    kind = row.complex if d.kind == "c" else row.real
    if d.kind in "iub":
        if kind == "TRUTH" and row.id not in BETWEEN_BITS: return np.dtype(bool)
        if row.whole == "FLOATS" or (d.kind == "b" and row.whole != "FIRST"):
            if kind != "REAL" or row.nargs != 1: return None
            return np.dtype(np.float64 if d.itemsize >= 4 else np.float32)
        if row.whole not in ("WHOLE", "FIRST") and kind == "NOTHING": return None
        return np.dtype(np.int32) if row.whole in ("ARITH", "FIRST") and d.itemsize < 4 else d
    if kind == "NOTHING": return None
    if kind in ("TRUTH", "TEST"): return np.dtype(bool)
    if kind == "JOIN": return np.dtype(np.complex64 if d.itemsize == 4 else np.complex128)
    if kind == "PART_OF": return np.dtype(np.float32 if d.itemsize == 8 else np.float64)
    return d


QNAME = {"float32": "float32", "float64": "float64", "int32": "int", "int64": "int64", "uint32": "uint32",
         "uint64": "uint64", "int8": "int8", "uint8": "uint8", "int16": "int16",
         "complex64": "complex64", "complex128": "complex128", "bool": "bool"}
LETTERS = "xyz"


class Case:
    """One row of arguments of one type, computed in one way."""
    def __init__(self, row, d, way, args):
        self.row, self.d, self.way, self.args, self.out = row, np.dtype(d), way, args, gives(row, d)
        self.name = f"{row.id}_{self.d.name}_{way}"

    def result(self):
        """The element type of the array that takes the result."""
        truth = self.out == bool and self.way not in ("array", "expression", "call")
        return np.dtype(np.float64) if truth else self.out

    def load(self, folder):
        name = f"{folder}/{self.row.id}_{self.d.name}"
        return "".join(f'{c} = load("{name}_{c}.npy")\n' for c in LETTERS[:self.row.nargs])

    def make(self, name="r"):
        r = self.result()
        return f"{name} = cast_like({'czeros' if r.kind == 'c' else 'zeros'}(numel(x)), {self.like(r)})\n"

    def script(self, folder):
        """Reads its arguments, stores its result."""
        letters = LETTERS[:self.row.nargs]
        save = f'save("{folder}/{self.name}.npy", r)\n'
        # one operator alone, or a function that gives its argument, would not be compiled
        if self.way == "expression" and (self.row.id in OPERATORS or gives_argument(self.row, self.d)):
            letters = [f"(one .* {c})" if self.d.kind in "iu" else f"(-(-{c}))" for c in letters]
        if self.way == "call":  # of the function as a value, or one operator: no expression is compiled
            name = re.match(r"\w+(?=\()", self.row.text(*letters))
            call = f"f({', '.join(letters)})" if name else self.row.text(*letters)
            return self.load(folder) + (f"f = {name[0]}\n" if name else "") + f"r = {call}\n" + save
        if self.way in ("array", "expression"):
            one = f"one = {self.like(self.d)}\none[0] = 1\n" if self.way == "expression" and self.d.kind in "iu" else ""
            return self.load(folder) + one + "r = " + self.row.text(*letters) + "\n" + save
        each = self.row.text(*[f"{c}[i]" for c in letters])
        return self.load(folder) + self.make() + f"for i = 0..numel(x)-1\n    r[i] = {each}\nend\n" + save

    def like(self, r):
        if r.kind != "c": return f"{QNAME[r.name]}([0])"
        return "czeros(1)" if r.itemsize == 8 else "complex(float64([0]), float64([0]))"


def kernels(cases, folder):
    """Kernels of several rows each, because a driver takes long for each: (name, kernel, statements that launch it)."""
    groups = {}
    for c in cases: groups.setdefault((c.d.name, c.row.nargs), []).append(c)
    for (d, nargs), group in groups.items():
        for at in range(0, len(group), 12):
            some, letters = group[at:at + 12], LETTERS[:nargs]
            name = f"k_{d}_{nargs}_{at}"
            names = [f"{c}{k}" for k in range(len(some)) for c in letters] + [f"r{k}" for k in range(len(some))]
            types = [QNAME[d]] * (nargs * len(some)) + [QNAME[c.result().name] for c in some]
            head = ", ".join(f"{n} : vec[{t}]" for n, t in zip(names, types))
            text = f"function [] = __kernel__ {name}({head}, pos : int)\n"
            main = ""
            for k, c in enumerate(some):
                text += f"    r{k}[pos] = " + c.row.text(*[f"{l}{k}[pos]" for l in letters]) + "\n"
                main += c.load(folder) + "".join(f"{l}{k} = {l}\n" for l in letters) + c.make(f"r{k}")
            main += f"parallel_do(numel(x), {', '.join(names)}, {name})\n"
            main += "".join(f'save("{folder}/{c.name}.npy", r{k})\n' for k, c in enumerate(some))
            yield name, text + "end\n", main


def run(qrun, device, options, cases, folder):
    path = os.path.join(folder, "elem.q")
    seen = set()
    for c in cases:
        for letter, a in zip(LETTERS, c.args):
            f = f"{folder}/{c.row.id}_{c.d.name}_{letter}.npy"
            if f not in seen: np.save(f, a); seen.add(f)
    if cases and cases[0].way == "kernel": parts = list(kernels(cases, folder))
    else: parts = [(c.name, "", c.script(folder)) for c in cases]
    text, first = "", {}  # the line at which each begins
    for name, kernel, main in parts:
        first[text.count("\n") + 1] = name
        text += kernel + f"function [] = main_{name}()\n    " + main.strip().replace("\n", "\n    ") + "\nend\n"
    text += "".join(f'try\n    main_{n}()\ncatch e\n    print "{n}: ", e\nend\n' for n, _, _ in parts)
    open(path, "w").write(text)
    explain = ["--explain"] if "always" in options else []
    done = subprocess.run([qrun, "--device", device, *options, *explain, path], capture_output=True, text=True)
    told = re.findall(r"(?m)^.*elem\.q:(\d+): (expression: one kernel|loop: (?!interpreted)|call: ).*\n", done.stderr)
    compiled = {first[max(k for k in first if k <= int(line))] for line, what in told
                if what.startswith(cases[0].way)} if cases else set()
    rest = re.sub(r"(?m)^.*elem\.q:\d+: (expression|loop|call): .*\n", "", done.stderr) if explain else done.stderr
    out = {}
    for c in cases:
        f = f"{folder}/{c.name}.npy"
        out[c.name] = np.load(f) if os.path.exists(f) else None
        if os.path.exists(f): os.remove(f)
    return out, done.stdout + rest + (f"ended with status {done.returncode}" if done.returncode else ""), compiled


# -- comparing -----------------------------------------------------------------------------------------------------
def ulps(a, b, d):
    """The distance in units of the last place of d; 0 for equal bits, nan and nan."""
    a, b = float(a), float(b)
    if a != a or b != b: return 0 if a != a and b != b else INF
    if a == b: return 0 if math.copysign(1, a) == math.copysign(1, b) else INF
    if math.isinf(a) or math.isinf(b):  # infinity follows the largest number
        a, b = max(a, b, key=abs), min(a, b, key=abs)
        if math.isinf(b) or a * b < 0: return INF
        largest = float(np.finfo(d).max)
        return 1 + (largest - abs(b)) / (largest * float(np.finfo(d).eps) / 2)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(np.dtype(d).type(max(abs(a), abs(b)))))
        return abs(a - b) / float(max(unit, np.finfo(d).smallest_subnormal))


def distance(a, b, d):
    d = np.dtype(d)
    if d.kind not in "fc": return 0 if a == b else INF
    if d.kind == "f": return ulps(a, b, d)
    part = np.float32 if d.itemsize == 8 else np.float64
    a, b = complex(a), complex(b)
    pairs = [(a.real, b.real), (a.imag, b.imag)]
    if all(x == x and abs(x) != INF for p in pairs for x in p):  # of the larger part
        size = max(abs(a.real), abs(a.imag), abs(b.real), abs(b.imag), float(np.finfo(part).tiny))
        if any(x == y == 0 and math.copysign(1, x) != math.copysign(1, y) for x, y in pairs): return INF
        return max(abs(x - y) for x, y in pairs) / float(np.spacing(part(min(size, float(np.finfo(part).max) / 4))))
    return max(0 if (x != x and y != y) or x == y else ulps(x, y, part) for x, y in pairs)


# A kernel that is not strict may give either of two zeros (sem.h); gamma of a driver forgets the sign of what vanishes.
CHOICES = {"min", "max", "clamp", "clamp2", "saturate", "tgamma"}
# Complex functions are made of several real ones; powers lose the digits of the exponent.  Units of the larger part.
COMPLEX_BOUND = {"pow": 4000, "exp2": 300, "atanh": 64, "atan": 64}


def bound(row, d, way, device):
    if np.dtype(d).kind == "c" and row.complex == "COMPLEX" and row.precision == "WIDE":
        return 0 if way == "loop" and device == "ref" else COMPLEX_BOUND.get(row.id, 32)
    if row.id == "abs" and np.dtype(d).kind == "c" and device not in ("ref", "cpu"):
        return 4  # made of hypot: mathfn.def
    return row.bound


def unit_of(row, args):
    """What units are of: products may be added before they are rounded, so of the largest; 0: of the result."""
    with np.errstate(all="ignore"):
        if row.id == "mul" and np.iscomplexobj(args[0]): return abs(args[0]) * abs(args[1])
        if row.id == "lgamma": return 1.0  # near its roots: mathfn.def
        if row.id == "lerp": return max(abs(args[0] * (1 - args[2])), abs(args[1] * args[2]), abs(args[0]))
    return 0


def too_large(row, args, unit):
    """A sum of products that are too large, or one that was not rounded, may be infinite, or not, or nan."""
    if row.id == "exp2" and np.iscomplexobj(args[0]) and abs(args[0].imag) > 1e3: return True  # an angle without digits
    if row.id == "pow" and np.iscomplexobj(args[0]):
        most = np.finfo(args[0].real.dtype).max / 4
        if abs(args[1]) > 1e3 or max(abs(args[0].real), abs(args[0].imag)) > most: return True
    if row.id == "div" and np.iscomplexobj(args[0]):  # as in NumPy, a divisor near the end of the range gives 0
        return max(abs(args[0]), abs(args[1])) > np.finfo(args[1].real.dtype).max / 4
    with np.errstate(over="ignore"):
        return row.id in ("mul", "lerp") and unit and not np.isfinite(unit * np.float32(4))


def compare(case, base, got, limit, zeros_may_differ):
    """The worst place where the two differ by more, as a sentence; None: there is none."""
    if got is None: return "gave nothing"
    d = case.out if case.out != bool else np.dtype(np.int8)
    if base.shape != got.shape: return f"has shape {got.shape} instead of {base.shape}"
    worst, where = 0, None
    for i, (a, b) in enumerate(zip(base.ravel(), got.ravel())):
        far = distance(a, b, d)
        overflows = case.row.id == "pow" and d.kind == "c" and not np.isfinite(a) and not np.isfinite(b)
        if overflows: far = 0
        if far > limit and zeros_may_differ: far = 0 if a == b else distance(a + 0, b + 0, d)
        if far > limit and d.kind in "fc":
            part = {4: np.float32, 8: np.float32 if d.kind == "c" else np.float64, 16: np.float64}[d.itemsize]
            unit = unit_of(case.row, [v.ravel()[i] for v in case.args])
            if too_large(case.row, [v.ravel()[i] for v in case.args], unit): far = 0
            if unit and np.isfinite(unit) and abs(a - b) <= max(limit, 4) * np.spacing(part(unit)): far = 0
        if far > limit and far > worst: worst, where = far, i
    if where is None: return None
    args = ", ".join(repr(a.ravel()[where].item()) for a in case.args)
    is_, should = got.ravel()[where].item(), base.ravel()[where].item()
    return f"at ({args}) is {is_!r} instead of {should!r}, {worst:.3g} units off"


def reference(case):
    """What the row means there, from the references; None where they do not say."""
    whole = case.d.kind in "iub" and (case.out.kind in "iu" or case.out == bool)
    table = COMPLEX if case.d.kind == "c" else WHOLE if whole and case.row.whole != "FLOATS" else REFERENCES
    f = table.get(case.row.id)
    if f is None: return None
    out = []
    with np.errstate(all="ignore"):
        for a in zip(*[v.ravel() for v in case.args]):
            a = [v.item() for v in a]
            finite = all(cmath.isfinite(v) for v in a)
            odd = case.d.kind == "c" and not case.row.id.startswith("is") and \
                not (finite and (case.row.id != "div" or a[1]))
            meaning = ENDLESS.get(case.row.id) if odd else f
            try: r = meaning(*a) if meaning else None
            except OverflowError: r = ENDLESS[case.row.id](*a) if case.row.id in ENDLESS else None
            except (ValueError, ZeroDivisionError): r = None
            if r is not None and case.out.kind in "iu":
                t = np.iinfo(case.out)
                if case.row.id in SATURATES: r = min(max(r, t.min), t.max)
                else: r = (r - t.min) % (t.max - t.min + 1) + t.min
            out.append(r)
    return out


def half_known(w, g):
    """Infinite and nan: the sign is open in C99, for instance that of the part of sinh(inf+nan*i)."""
    parts = ((w.real, w.imag, g.real), (w.imag, w.real, g.imag))
    return any(math.isinf(x) and nan != nan and abs(x) == abs(y) for x, nan, y in parts)


def odd_zeros(w, g):
    """Zeros of another sign; beside nan it is open."""
    pairs = [(w.real, g.real), (w.imag, g.imag)]
    return w == w and any(x == y == 0 and math.copysign(1, x) != math.copysign(1, y) for x, y in pairs)


def odd_part(w, g, d):
    """A part that has lost its digits beside a larger one."""
    least = float(np.finfo(np.float32 if d.itemsize == 8 else np.float64).tiny)
    parts = [(w.real, g.real), (w.imag, g.imag)]
    return d.kind == "c" and any(least < abs(x) < INF and abs(x - y) > 1e-4 * abs(x) for x, y in parts)


def against_reference(case, got):
    want, d = reference(case), case.out if case.out != bool else np.dtype(np.int8)
    rounds = case.row.id == "lerp" and case.d.name in ("float32", "complex64")  # at each step, which Python does not
    if want is None or rounds: return None
    slack = 0 if d.kind in "iu" else case.row.bound + (2 if case.row.bound or d.itemsize == 4 else 0)
    if case.d.kind == "c": slack = max(64, COMPLEX_BOUND.get(case.row.id, 0))
    for i, (w, g) in enumerate(zip(want, got.ravel())):
        if w is None: continue
        with np.errstate(all="ignore"):
            if d.kind in "fc" and cmath.isfinite(w) and not cmath.isfinite(d.type(w)): continue
            w = d.type(w)
        args = [complex(a.ravel()[i]) for a in case.args] if case.row.id in ENDLESS else [NAN]
        ends = all(z == z and not (math.isinf(z.real) and math.isinf(z.imag)) for z in args)
        zeros = ends and (odd_zeros(w, g) or odd_part(w, g, d))
        if case.d.kind == "c" and not zeros and (w == g or half_known(w, g)): continue
        if zeros or distance(w, g, d) > slack:
            args = ", ".join(repr(a.ravel()[i].item()) for a in case.args)
            return f"at ({args}) is {g.item()!r}, and means {w.item()!r}"
    return None


# -- two types ----------------------------------------------------------------------------------------------------
WHOLES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
PAIRS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "+": "add", "-": "sub", ".*": "mul",
         "min": "min", "max": "max", "and": "bitand", "or": "bitor", "xor": "bitxor", "mod": "mod", "shl": "shl",
         "shr": "shr"}


def extremes(d):
    if d == "bool": return [False, True]
    t = np.iinfo(d)
    some = [0, 1, 2, 5, 127, 128, 255, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63]
    some += [2**64 - 1, -1, -2, -128, -2**31, -2**53 - 1, -2**63]
    return [v for v in some if t.min <= v <= t.max]


def meets(a, b, op):
    """The type of the result of two integer arrays."""
    a, b = np.dtype(a), np.dtype(b)
    if PAIRS[op] in ("eq", "ne", "lt", "le", "gt", "ge"): return np.dtype(bool)
    if a == b and (op in ("min", "max", "and", "or", "xor") or (a == bool and op == ".*")): return a
    if op in ("shl", "shr"): return a if a.itemsize >= 4 else np.dtype(np.int32)
    most = max(a, b, key=lambda d: d.itemsize)
    if most.itemsize >= 4 and most.kind == "u" and a.kind in "ub" and b.kind in "ub": return most
    a, b = (np.dtype(np.int32) if d.itemsize < 4 else d for d in (a, b))
    return a if a == b else np.promote_types(a, b)


def between(op, x, y, d):
    """What it means: in Python's numbers, and then in the type of the result."""
    if d.kind == "f" and op != "mod": x, y = float(x), float(y)  # a remainder is exact, and rounded then
    r = WHOLE[PAIRS[op]](x, y)
    if d.kind not in "iu": return r
    t = np.iinfo(d)
    return (r - t.min) % (t.max - t.min + 1) + t.min


def pair_text(op, a, b): return f"{op}({a}, {b})" if op.isalpha() else f"{a} {op} {b}"


def pair_script(folder, a, b, op, way, out, number):
    name = QNAME.get(out.name, out.name)
    load = f'x = load("{folder}/x_{a}_{b}.npy")\ny = load("{folder}/y_{a}_{b}.npy")\n'
    save = f'save("{folder}/{number}.npy", r)\n'
    if way == "array": return "", load + f"r = {pair_text(op, 'x', 'y')}\n" + save
    if way == "expression": return "", load + f"r = {pair_text(op, 'real(x)', 'real(y)')}\n" + save
    make = f"r = vec[{name}](numel(x))\n"
    each = f"r[%s] = {pair_text(op, 'x[%s]', 'y[%s]')}"
    if way == "loop": return "", load + make + "for i = 0..numel(x)-1\n    " + each % ("i", "i", "i") + "\nend\n" + save
    types = [QNAME.get(d, d) for d in (a, b, out.name)]
    head = ", ".join(f"{n} : vec[{t}]" for n, t in zip("xyr", types))
    kernel = f"function [] = __kernel__ k{number}({head}, pos : int)\n"
    return kernel + "    " + each % ("pos", "pos", "pos") + "\nend\n", load + make + \
        f"parallel_do(numel(x), x, y, r, k{number})\n" + save


def pair_cases(way, device):
    for a in WHOLES:
        for b in WHOLES:
            mixed = {np.dtype(a).kind, np.dtype(b).kind} == {"i", "u"} and "uint64" in (a, b)
            for op in PAIRS:
                compares = meets(a, b, op) == bool and op not in (".*", "min", "max", "and", "or", "xor")
                bits = op in ("and", "or", "xor")
                if bits and mixed: continue                           # refused
                if op == "mod" and a == b == "bool": continue         # a quotient of floats
                if way == "loop" and not compares: continue           # single elements compute as 64-bit ints
                few = "uint64" in (a, b) and (compares or op == "+")
                if way == "kernel" and device != "ref" and not few: continue
                yield a, b, op, meets(a, b, op)


def run_pairs(qrun, device, way, options, folder):
    """Every pair of integers at their ends, of every two types; what differs, and how many were compared."""
    path, texts, mains, values, cases = os.path.join(folder, "pairs.q"), "", "", {}, list(pair_cases(way, device))
    for number, (a, b, op, out) in enumerate(cases):
        if (a, b) not in values:
            most = 2**63 if way == "loop" else 2**64  # beyond, a single element is a double
            grid = [(x, y) for x in extremes(a) for y in extremes(b) if x < most and y < most]
            values[a, b] = grid
            np.save(f"{folder}/x_{a}_{b}.npy", np.array([x for x, _ in grid], a))
            np.save(f"{folder}/y_{a}_{b}.npy", np.array([y for _, y in grid], b))
        text, main = pair_script(folder, a, b, op, way, out, number)
        texts += text
        mains += f'function [] = main{number}()\n    ' + main.strip().replace("\n", "\n    ") + "\nend\n"
    calls = "".join(f'try\n    main{i}()\ncatch e\n    print "{i}: ", e\nend\n' for i in range(len(cases)))
    open(path, "w").write(texts + mains + calls)
    done = subprocess.run([qrun, "--device", device, *options, path], capture_output=True, text=True)
    problems = [f"pairs, {way} on {device}: {done.stdout}{done.stderr}"] if done.stdout or done.returncode else []
    for number, (a, b, op, out) in enumerate(cases):
        name, f = f"{a} {op} {b}, {way} on {device}", f"{folder}/{number}.npy"
        if not os.path.exists(f): problems.append(f"{name}: gave nothing"); continue
        got = np.load(f)
        os.remove(f)
        if got.dtype != out: problems.append(f"{name} is {got.dtype} instead of {out}")
        for (x, y), g in zip(values[a, b], got.ravel()):
            want = between(op, x, y, out)
            if out.type(want) != g: problems.append(f"{name} at ({x}, {y}) is {g} instead of {want}"); break
    return problems, len(cases)


# -- rows of bits, of floats -----------------------------------------------------------------------------------------
def bits_script(row, at, given, way, k):
    """Prints what the row makes of x, a float, at place `at`; the other argument is the int64 2."""
    x = str(given) if math.isfinite(given) else "0/0" if given != given else "1/0"
    index = {"kernel": "[pos]", "loop": "[i]"}.get(way, "")
    args = ["x" if i == at else "w" for i in range(row.nargs)]
    text, kernel = row.text(*[a + index for a in args]), ""
    main = f"x = {x}\nw = int(2)\n" if way == "number" else f"x = float64([{x}])\nw = int64([2])\n"
    if way == "kernel":
        kernel = f"function [] = __kernel__ k{k}(x : vec[float64], w : vec[int64], y : vec, pos : int)\n" \
                 f"    y[pos] = {text}\nend\n"
        main += f"y = [0.0]\nparallel_do(1, x, w, y, k{k})\nprint y[0]"
    elif way == "loop": main += f"y = [0.0]\nfor i = 0..0\n    y[i] = {text}\nend\nprint y[0]"
    else: main += {"number": f"print {text}", "array": f"print ({text})[0]"}.get(way, f"print (({text}) .* 1)[0]")
    main = main.replace("\n", "\n    ")
    return kernel + f"function [] = main{k}()\n    {main}\nend\n"


def run_bits(qrun, device, way, options, table, folder):
    """The integer 6 gives as a float what it gives as an int64; what meanings.py says to have no bits is an error
    that has a line.  What is otherwise, and how many were compared."""
    path, text, wants = os.path.join(folder, "bits.q"), "", []
    for r in table:
        if r.whole not in ("WHOLE", "FIRST") or r.real != "NOTHING": continue
        for at in range(r.nargs):
            for x in [6.0] + NO_BITS:
                text += bits_script(r, at, x, way, len(wants))
                whole = WHOLE[r.id](*[6 if i == at else 2 for i in range(r.nargs)]) if x == 6 else None
                wants.append((f"{r.id} of {x} at {at}, {way} on {device}", whole))
    text += "".join(f'try\n    main{i}()\ncatch e\n    print e.line > 0, ", ", e\nend\n' for i in range(len(wants)))
    open(path, "w").write(text)
    done = subprocess.run([qrun, "--device", device, *options, path], capture_output=True, text=True)
    got = done.stdout.split("\n")[:-1]
    if len(got) != len(wants): return [f"bits, {way} on {device}: {done.stdout[-300:]}{done.stderr}"], len(wants)
    refused = re.compile(r"1, \w+: an integer of 64 bits is needed, got ")
    return [f"{name} gave {line!r}" for (name, want), line in zip(wants, got)
            if not (refused.match(line) if want is None else line == str(want))], len(wants)


# -- the whole -----------------------------------------------------------------------------------------------------
TYPES = ["float64", "float32", "int32", "int64", "uint32", "uint64", "complex128", "complex64", "int8",
         "uint8", "int16", "bool"]


NEVER_CALLED = {"shl", "shr", "pow", "half_power", "bitand", "bitor", "bitxor", "bitnot"}


def gives_argument(row, d):
    """Whether the result is the argument itself, which is never compiled alone."""
    return row.id in ("real", "conj") and d.kind != "c"


def never_called(row, d):
    """Whether a call alone is not compiled: shifts by arrays are several rows, a power is an expression, the host has
    loops for bits, and some functions give their argument."""
    return gives_argument(row, d) or row.whole == "ITSELF" and d.kind in "iub" or row.id in NEVER_CALLED


def ways(row, d):
    """How a row of such arguments is computed, apart from arrays operator by operator; None: not compared at all."""
    d = np.dtype(d)
    if row.id in ("div", "pow", "half_power") and d.kind in "iub": return None  # rules of their own
    if d.itemsize < 4 and row.id in OPERATORS and row.id != "bitnot": return None  # they compute as int
    out = ["expression", "call", "kernel"]
    if d.name in ("float64", "complex128") or (d.name == "int64" and row.id not in OPERATORS and row.whole != "ARITH"):
        out += ["number", "loop"]
    leave = set()
    if d.kind in "iub" and (row.whole == "FLOATS" or d.itemsize < 4): leave |= {"kernel"}  # which has 32 bits
    if gives_argument(row, d) and d.itemsize < 4: leave |= {"expression"}  # an operator makes it an int
    if row.whole == "WHOLE" and d.itemsize < 4: leave |= {"expression", "call"}  # by operators alone
    if d.itemsize < 4 or never_called(row, d): leave |= {"call"}  # the host's loops convert these, or change nothing
    if row.id == "pow" and d.kind == "c": leave |= {"expression", "call", "loop"}  # of an exponent that is not known
    return [w for w in out if w not in leave]


def run_part(part):
    """One part of the test, in a folder of its own."""
    f, *args, parent = part
    with tempfile.TemporaryDirectory(dir=parent) as folder: return f(*args, folder)


def stages(qrun, have, table, seed, everything=False, pairs=True, jobs=1):
    """The test in parts: of each what differs, and how many combinations were compared."""
    problems = []
    for r in table:
        if r.id not in REFERENCES: problems.append(f"{r.id}: has no line in REFERENCES of tests/meanings.py")
        if r.complex not in ("NOTHING",) and r.id not in COMPLEX: problems.append(f"{r.id}: has no line in COMPLEX")
        if r.whole not in ("FLOATS",) and r.id not in WHOLE: problems.append(f"{r.id}: has no line in WHOLE")
    arguments = {(r.id, d): values(d, r.nargs, np.random.default_rng([seed, *r.id.encode()]))
                 for r in table for d in TYPES if gives(r, d) is not None}
    with tempfile.TemporaryDirectory() as folder:
        arrays = [Case(r, d, "array", arguments[r.id, d]) for r in table for d in TYPES
                  if (r.id, d) in arguments and ways(r, d) is not None]
        base, said, _ = run(qrun, "ref", ["--loops", "never"], arrays, folder)
        for c in arrays:
            if base[c.name] is None: problems.append(f"{c.name}: gave nothing")
            else:
                why = against_reference(c, base[c.name])
                if why: problems.append(f"{c.name} {why}")
        if said: problems.append("host: " + said.strip().replace("\n", "\n    "))
        yield problems, len(arrays)
        parts = []
        for device in have:
            for way, options in (("number", ["--loops", "never"]), ("loop", ["--loops", "always"]),
                                 ("expression", ["--loops", "always"]), ("call", ["--loops", "always"]),
                                 ("kernel", [])):
                if way == "number" and device != have[0]: continue
                if way != "kernel" and device == "opencl" and not everything: continue
                cases = [Case(c.row, c.d, way, c.args) for c in arrays
                         if way in ways(c.row, c.d) and base[c.name] is not None]
                parts.append((against_arrays, qrun, device, way, options, cases, base, folder))
        for device in have:
            for way, options in (("number", []), ("array", []), ("expression", ["--loops", "always"]), ("kernel", []),
                                 ("loop", ["--loops", "always"]), ("loop", ["--loops", "never"])):
                if device != "opencl" or everything and way == "kernel":
                    parts.append((run_bits, qrun, device, way, options, table, folder))
        for device in have if pairs else []:
            for way, options in (("array", ["--loops", "never"]), ("expression", ["--loops", "always"]),
                                 ("loop", ["--loops", "never"]), ("loop", ["--loops", "always"]), ("kernel", [])):
                if device == "opencl" and not (everything and way == "kernel"): continue
                parts.append((run_pairs, qrun, device, way, options, folder))
        if jobs == 1: yield from map(run_part, parts)
        else:
            with multiprocessing.get_context("fork").Pool(jobs) as pool: yield from pool.imap(run_part, parts)


def against_arrays(qrun, device, way, options, cases, base, folder):
    problems = []
    got, said, compiled = run(qrun, device, options, cases, folder)
    for c in cases:
        if "always" in options and c.name not in compiled:
            problems.append(f"{c.name} on {device}: not compiled, so nothing was compared")
        loose = way == "kernel" and c.row.id in CHOICES and device != "ref"
        wide = way == "kernel" and c.row.precision == "WIDE"
        if c.d.kind == "c" and (wide or c.row.id == "pow"): loose = True
        host, limit = base[f"{c.row.id}_{c.d.name}_array"], bound(c.row, c.d, way, device)
        why = compare(c, host, got[c.name], limit, loose)
        if why: problems.append(f"{c.name} on {device} {why}")
    if said: problems.append(f"{way} on {device}: " + said.strip().replace("\n", "\n    "))
    return problems, len(cases)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--device", action="append")
    p.add_argument("--row", action="append")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--all", action="store_true", help="on OpenCL everything, too: minutes")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    a = p.parse_args()
    have = [d for d in a.device or ["ref", "cpu", "opencl"]
            if subprocess.run([a.qrun, "--has", d], capture_output=True).returncode == 0 or d.startswith("cuda")]
    for d in a.device or []:
        if d not in have: sys.exit(f"elem: the device {d} is not here")
    table = [r for r in rows() if not a.row or r.id in a.row]
    unknown = set(a.row or []) - {r.id for r in table}
    if unknown: sys.exit(f"elem: no row is called {', '.join(sorted(unknown))}")
    parts = []
    with Progress("elem") as progress:
        for part in stages(a.qrun, have, table, a.seed, a.all, not a.row, a.jobs):
            parts.append(part)
            progress.at(len(parts), None, f"{part[1]} combinations")
    problems, count = [q for differ, _ in parts for q in differ], sum(n for _, n in parts)
    print("\n".join(problems[:200]))
    print(f"elem: {len(table)} rows, {count} combinations on {', '.join(have)}, {len(problems)} differences")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
