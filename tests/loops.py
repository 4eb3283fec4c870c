#!/usr/bin/env python3
"""Random programs with loops: machine code (--loops always) gives the results of the interpreter.

    tests/loops.py [--qrun build/qrun] [--device cpu --device ref] [--keep FOLDER] [first seed [how many]]

Each program has a few cases of its own, with variables, arrays and functions of random kinds; all variables and
elements are printed with 17 digits.  Outputs are equal, except where a case is a reduction and says so: there numbers
may differ in their last digits.  A failure is printed with the command that makes its program again."""
import random, sys

from programs import all_seeds, compare, options

NUMBERS = ["0", "1", "-1", "2", "3", "0.5", "-2.25", "7", "1e10", "100", "0.1", "1/3", "-0.0", "nan_", "inf", "-inf"]
WIDE = [str(k) for k in (2**61, 2**62, 2**63 - 1, -(2**61), 1 - 2**63)] # times 8, 4, 2 they wrap around
COMPARE = ["<", "<=", ">", ">=", "==", "!="]
MATH = ["abs", "floor", "ceil", "round", "sqrt", "sign", "sin", "exp", "cos", "log", "trunc", "frac", "atan"]


def is_term(e, v):
    """Whether the expression is v, or a sum or difference with such a term."""
    depth, last, parts, inner = 0, 0, [], False
    for k, char in enumerate(e):
        depth += (char in "([{") - (char in ")]}")
        inner |= depth == 0 and k < len(e) - 1
        if depth == 0 and e[k:k + 3] in (" + ", " - "): parts.append(e[last:k]), (last := k + 3)
    if e.startswith("(") and not inner: return is_term(e[1:-1], v)
    return e.strip() == v or (len(parts) > 0 and any(is_term(p, v) for p in parts + [e[last:]]))


class Case:
    """One function (or a piece of the top level) with loops in it, and the functions that it calls."""

    def __init__(self, rng, name):
        self.r, self.name, self.lines, self.functions = rng, name, [], []
        self.counters, self.depth, self.nloops, self.fresh, self.calls, self.pairs = [], 0, 0, 0, [], []
        self.readers = []
        self.reduces = rng.random() < 0.2
        self.top = not self.reduces and rng.random() < 0.25
        self.n = rng.choice([1, 2, 3, 5, 8, 9, 12, 70] + ([0] if rng.random() < 0.3 else []))
        self.nums, self.ints, self.bools, self.arrays = [], [], [], {}
        self.complexes, self.vectors, self.lambdas, self.fields, self.vecfns = [], {}, [], [], []
        self.objects, self.mats, self.dicts = [], [], []

    # -- text ------------------------------------------------------------------------------------------------------
    def put(self, text, indent=0):
        self.lines.append("  " * (self.depth + indent) + text)

    def new(self, prefix):
        self.fresh += 1
        return f"{prefix}{self.fresh}_{self.name}" if self.top else f"{prefix}{self.fresh}"

    # -- expressions -----------------------------------------------------------------------------------------------
    def literal(self):
        return self.r.choice(NUMBERS if self.r.random() < 0.3 else ["1", "2", "3", "0.5", "0.25", "1.5", "4"])

    def index(self, extent):
        """Mostly inside 0..extent-1."""
        r, k = self.r, self.r.random()
        small = [c for c, bound in self.counters if bound == "n"]
        any_ = [c for c, _ in self.counters]
        if k < 0.45 and small: return r.choice(small)
        if k < 0.60 and any_: return f"mod({r.choice(any_)}*{r.randint(1, 5)}+{r.randint(0, 3)},{extent})"
        if k < 0.70 and small: return f"{extent}-1-{r.choice(small)}"
        if k < 0.76 and small: return f"{r.choice(small)}/2"
        if k < 0.80 and len(small) > 1: return f"mod({small[0]}+{small[1]},{extent})"
        if k < 0.84 and self.ints: return f"mod(abs(scalar({r.choice(self.ints)})),{extent})"
        if k < 0.87 and small: return f"{r.choice(small)}{r.choice(['+1', '-1', '*2', '+k_'])}"
        if k < 0.90: return f"min(max({self.num(3)},0),{extent}-1)"
        if k < 0.92: return self.num(1)
        if k < 0.96 and any_: # mostly outside, while bounds of it may wrap around
            return f"int({r.choice(small or any_)}){r.choice('*+')}{r.choice(self.ints + [f'int({x})' for x in WIDE])}"
        return "0"

    def element(self, want=None):
        if want and "scalar" in want: want += ("rows",)
        if want is None: want = ("scalar", "rows", "float64", "int", "uint8", "bool")
        names = [a for a, (kind, _) in self.arrays.items() if kind in want]
        if not names: return None
        a = self.r.choice(names)
        if a == "x_": # a parameter with an access mode: anything goes
            c = self.r.choice(self.counters)[0] if self.counters else "2"
            return f"x_[{self.r.choice(['0', c, f'mod({c},7)', self.literal() + '*3', c + '-4'])}]"
        if self.arrays[a][1] == 3: return f"{a}[{self.index('n')},{self.r.choice(['0', '1', '2', '3'])}]"
        if self.arrays[a][1] == 1:
            row = "0," if self.r.random() < 0.05 else ""
            return f"{a}[{row}{self.index('n')}]"
        return f"{a}[{self.index('n')},{self.index('n')}]"

    def guarded(self, d):
        """An element whose index a condition around it keeps inside, or nearly."""
        r, vecs = self.r, [a for a, (kind, rank) in self.arrays.items() if rank == 1 and kind in ("scalar", "int")]
        if not vecs or not self.counters: return None
        a, c = r.choice(vecs), r.choice(self.counters)[0]
        i = r.choice([f"{c}-1", f"{c}+1", f"{c}+2", f"{c}-k_", f"2*{c}-1", c, f"{c}+{self.literal()}", self.num(3)])
        low = r.choice([f"{i} >= 0", f"{c} > 0", f"0 <= {i}", f"{c} >= 1", f"{c} != 0", f"!({i} < 0)", f"{i} > -1"])
        high = r.choice([f"{i} < n", f"{i} <= n-1", f"{i} < numel({a})", f"{i} != n", f"{c} < n-1", f"n > {i}",
                         f"!({i} >= n)", f"{c} <= n-2"])
        if r.random() < 0.3: return f"({low} ? ({high} ? {a}[{i}] : 2) : {self.num(3)})"
        if r.random() < 0.7: return f"({low} && {high} ? {a}[{i}] : {self.num(3)})"
        return f"(!({low}) || !({high}) ? {self.num(3)} : {a}[{i}])"

    def num(self, d=0):
        r, k = self.r, self.r.random()
        if d > 3 or k < 0.12: return self.literal()
        if k < 0.30 and self.nums: return r.choice(self.nums)
        if k > 0.90 and r.random() < 0.7: return self.of_complex_or_vector(d)
        if k < 0.42 and self.counters: return r.choice(self.counters)[0]
        if k < 0.45 and r.random() < 0.8: return self.guarded(d) or self.literal()
        if k < 0.56: return self.element(("scalar", "float64")) or self.literal()
        if k < 0.80: return f"({self.num(d + 1)} {r.choice(['+', '-', '*', '*', '/', '+', '.*'])} {self.num(d + 1)})"
        if k < 0.83: return f"(-{self.num(d + 1)})"
        if k < 0.86:
            other = r.choice([self.num, self.num, self.any])
            return f"({self.cond(d + 1)} ? {self.num(d + 1)} : {other(d + 1)})"
        if k < 0.89: return f"{r.choice(['min', 'max'])}({self.num(d + 1)}+1,{self.num(d + 1)}+2)"
        if k < 0.92: return f"{r.choice(MATH)}({self.num(d + 1)})"
        if k < 0.94 and self.calls:
            f, n = r.choice(self.calls)
            return f"{f}({','.join(self.num(d + 2) for _ in range(n))})"
        if k < 0.95: return f"({self.num(d + 1)} + {self.int_(d + 1)})"
        vecs = [a for a, (kind, rank) in self.arrays.items() if rank == 1]
        if k < 0.97 and self.readers and vecs: return f"{r.choice(self.readers)}({r.choice(vecs)},{self.index('n')})"
        if k < 0.96: return f"scalar({self.any(d + 1)})"
        if k < 0.97: return f"({self.num(d + 1)}^{r.choice(['2', '3', '0.5', '-1', '0', self.num(3)])})"
        if k < 0.98: return f"mod({self.num(d + 1)},{r.choice(['2', '3', '0.5', '7', '-3', self.num(3)])})"
        if k < 0.987: return f"({self.cond(d + 1)} + {self.num(d + 1)})"
        if k < 0.99: return r.choice(["rand()", "randn()", f"randi({r.choice(['3', '7', 'n+1'])})"])
        return r.choice(["n", f"numel({r.choice(list(self.arrays))})" if self.arrays else "3", "pi"])

    def int_(self, d=0):
        r, k = self.r, self.r.random()
        if k < 0.3 and self.ints: return r.choice(self.ints)
        if k < 0.45: return self.element(("int", "uint8")) or f"int({self.literal()})"
        if d > 3 or k < 0.65: return f"int({self.num(d + 2)})"
        if k < 0.75: return f"min({self.int_(d + 1)},{self.int_(d + 1)})"
        if k < 0.78: return f"(-{self.int_(d + 1)})"
        if k < 0.80: return f"({self.cond(d + 2)} ? {self.int_(d + 1)} : {self.any(d + 1)})"
        if k < 0.82: return f"{r.choice(['and', 'or', 'xor'])}({self.int_(d + 1)},{self.int_(d + 1)})"
        if k < 0.83: return f"{r.choice(['shl', 'shr'])}({self.int_(d + 1)},{r.choice(['1', 'int(2)', 'k_'])})"
        if k < 0.84: return f"({self.int_(d + 1)}^{r.choice(['int(2)', 'int(3)', '2', self.int_(d + 2)])})"
        if k < 0.86: return f"{r.choice(['abs', 'floor', 'sign', 'max', 'mod'])}({self.int_(d + 1)})".replace(
            "max(", f"max({self.any(d + 2)},").replace("mod(", f"mod({self.any(d + 2)},")
        return f"({self.int_(d + 1)} {r.choice(['+', '-', '+', '*'])} {self.int_(d + 1)})"

    def complex_(self, d=0):
        r, k = self.r, self.r.random()
        if k < 0.4 and self.complexes: return r.choice(self.complexes)
        if d > 3 or k < 0.5: return r.choice(["(1+2i)", "0.5i", "(0.25-1i)", "(0+0i)", f"({self.num(3)}+1i)"])
        if k < 0.60: return f"complex({self.num(d + 2)},{self.num(d + 2)})"
        if k < 0.66: return self.element(("complex",)) or "2i"
        if k < 0.72: return f"conj({self.complex_(d + 1)})"
        if k < 0.75: return f"(-{self.complex_(d + 1)})"
        if k < 0.77: return f"{r.choice(['exp', 'sqrt'])}({self.complex_(d + 1)})"
        if k < 0.78: return f"({self.complex_(d + 1)}^{r.choice(['0.5', '-1.5', '1.25'])})"
        if k < 0.80: return f"({self.complex_(d + 1)}^{r.choice(['2', '3', '0', '-1', '5', '-2'])})"
        if k < 0.83: return f"({self.cond(d + 2)} ? {self.complex_(d + 1)} : {self.complex_(d + 1)})"
        both = [self.complex_(d + 1), self.complex_(d + 1) if k < 0.93 else self.any(d + 1)]
        r.shuffle(both)
        return f"({both[0]} {r.choice(['+', '-', '*', '*', '/'])} {both[1]})"

    def late_complex(self):
        """An expression of a variable that may still be the real number 0."""
        forms = ["zz*zz + {}", "zz^2 - {}", "zz*{}", "{} + zz*zz*{}", "abs(zz) + {}", "(zz*zz)^3 + {}",
                 "zz + {}", "-zz + {}"]
        text = self.r.choice(forms)
        return text.format(*(self.complex_(2) for _ in range(text.count("{}"))))

    def vector(self, n, d=0):
        """A vector of n elements."""
        r, k = self.r, self.r.random()
        have = [v for v, m in self.vectors.items() if m == n]
        if k < 0.35 and have: return r.choice(have)
        if d > 2 or k < 0.55: return f"[{','.join(self.num(d + 2) for _ in range(n))}]"
        if k < 0.62:
            rows = [a for a, (kind, rank) in self.arrays.items() if rank == 3 and n == 3]
            if rows: return f"{r.choice(rows)}[{self.index('n')},:]"
        if k < 0.68 and self.vecfns: return f"{r.choice(self.vecfns)}({self.vector(n, d + 1)},{self.num(d + 2)})"
        if k < 0.74: return f"(-{self.vector(n, d + 1)})"
        if k < 0.80: return f"{r.choice(['abs', 'floor', 'sqrt', 'ceil', 'round'])}({self.vector(n, d + 1)})"
        if k < 0.84: return f"({self.vector(n, d + 1)} .^ {r.choice(['2', '3', '0.5', '-1', '0', '7'])})"
        f = r.choice(["mod", "atan2", "hypot", "min", "max"])
        if k < 0.87: return f"{f}({self.vector(n, d + 1)},{self.num(d + 2)})"
        op = r.choice(["+", "-", ".*", "./"])
        other = self.vector(n, d + 1)
        if k > 0.95: op, other = r.choice(["+", "-", "*", "/"]), self.num(d + 1)
        return f"({self.vector(n, d + 1)} {op} {other})"

    def matrix(self, d=0):
        """A matrix of two rows and columns."""
        r, k = self.r, self.r.random()
        if k < 0.4: return r.choice(self.mats)
        if d > 2 or k < 0.6: return f"[[{self.num(d + 2)},{self.num(d + 2)}],[{self.num(d + 2)},{self.num(d + 2)}]]"
        if k < 0.65: return r.choice(["zeros(2,2)", "ones(2,2)", "eye(2)"])
        if k < 0.75: return f"transpose({self.matrix(d + 1)})"
        if k < 0.80: return f"(-{self.matrix(d + 1)})"
        if k < 0.85: return f"({self.matrix(d + 1)} {r.choice('+-*/')} {self.num(d + 2)})"
        return f"({self.matrix(d + 1)} {r.choice(['+', '-', '*', '*', '.*', './'])} {self.matrix(d + 1)})"

    def of_matrix(self, d):
        r, k = self.r, self.r.random()
        if k < 0.6:
            i, j = (r.choice(["0", "1", "0", "1", f"mod({self.num(d + 2)},2)", self.index("2")]) for _ in "ij")
            return f"{r.choice(self.mats)}[{i},{j}]"
        if k < 0.8: return f"sum({r.choice(self.mats)}[{r.choice(['0', '1', self.index('2')])},:])"
        return f"{r.choice(['sum', 'max', 'min', 'numel', 'mean'])}({self.matrix(d + 1)})"

    def set_matrix(self):
        r, m, k = self.r, self.r.choice(self.mats), self.r.random()
        if k < 0.6: return self.put(f"{m} = {self.matrix()}")
        if k < 0.7: return self.put(f"{m} += {self.num(2)}")
        e = f"{m}[{r.choice(['0', '1', self.index('2')])},{r.choice(['0', '1', f'mod({self.num(2)},2)'])}]"
        self.put(f"{e} {r.choice(['=', '+=', '*='])} {self.num(2)}"), self.put(f"{e} = {e}")

    def of_complex_or_vector(self, d):
        """A number made of a complex number, a vector, a field, a lambda."""
        r, k = self.r, self.r.random()
        if self.mats and r.random() < 0.3: return self.of_matrix(d)
        if k < 0.30: return f"{r.choice(['real', 'imag', 'abs', 'angle'])}({self.complex_(d + 1)})"
        if k < 0.45:
            n = r.choice([2, 3])
            f = r.choice("sum prod max min mean norm numel norm1 argmin argmax logsumexp".split())
            return f"{f}({self.vector(n, d + 1)})"
        if k < 0.50: return f"dotprod({self.vector(3, d + 1)},{self.vector(3, d + 1)})"
        if k < 0.68 and self.vectors:
            v, n = r.choice(list(self.vectors.items()))
            if r.random() < 0.15:
                f = r.choice("sum sum prod max min mean norm numel argmax logsumexp any all".split())
                return f"scalar({f}({v}[{v} {r.choice(COMPARE)} {self.num(d + 2)}]))"
            return f"{v}[{r.choice(['0', '1', f'mod({self.num(d + 2)},{n})', self.index(str(n))])}]"
        mats = [a for a, (kind, rank) in self.arrays.items() if rank == 2 and kind != "complex"]
        if k < 0.76 and mats: return f"scalar({r.choice(mats)}[{self.vector(2, d + 1)}])"
        if k < 0.88 and self.fields: return r.choice(self.fields)
        if self.lambdas:
            f, n = r.choice(self.lambdas)
            return f"{f}({','.join(self.num(d + 2) for _ in range(n))})"
        return f"((q) -> q*{self.num(d + 2)})({self.num(d + 2)})"

    def cond(self, d=0):
        r, k = self.r, self.r.random()
        if d > 3 or k < 0.55: return f"{self.num(d + 1)} {r.choice(COMPARE)} {self.num(d + 1)}"
        if k < 0.62: return f"({self.cond(d + 1)}) && ({self.cond(d + 1)})"
        if k < 0.69: return f"({self.cond(d + 1)}) || ({self.cond(d + 1)})"
        if k < 0.75: return f"!({self.cond(d + 1)})"
        if k < 0.80 and self.bools: return r.choice(self.bools)
        if k < 0.84: return self.element(("bool",)) or "true"
        if k < 0.88: return f"({self.int_(d + 1)} {r.choice(COMPARE)} {self.int_(d + 1)})"
        if k < 0.92: return f"{r.choice(['isnan', 'isinf', 'isfinite'])}({self.num(d + 1)})"
        return f"mod({r.choice(self.counters)[0] if self.counters else 'n'},{r.randint(2, 4)}) == {r.randint(0, 2)}"

    def any(self, d=0):
        return self.r.choice([self.num, self.num, self.num, self.int_, lambda d: f"({self.cond(d)})"])(d)

    def value_of(self, v, of=None):
        """Nothing that reads like a reduction, whose rounding is free."""
        while True:
            e = (of or self.num)()
            usual = not e.startswith((f"({v} ", "min(", "max(")) and not e.endswith(f" {v})")
            if usual and not is_term(e, v): return e

    # -- statements ------------------------------------------------------------------------------------------------
    def assign(self):
        r, k = self.r, self.r.random()
        counters = [c for c, _ in self.counters]
        if self.objects and r.random() < 0.15: self.set_field()
        if self.dicts and r.random() < 0.15: self.set_entry()
        elif self.mats and r.random() < 0.15: self.set_matrix()
        elif k < 0.40 and self.nums:
            v = r.choice(self.nums)
            if k < 0.10: self.put(f"{v} {r.choice(['+=', '-=', '*='])} {self.num(1)}*0.5 + {v}*0.25")
            else: self.put(f"{v} = {self.value_of(v, self.any if r.random() < 0.15 else self.num)}")
        elif k < 0.50 and self.ints: self.put_mixed(self.ints, self.int_)
        elif k < 0.57 and self.bools: self.put_mixed(self.bools, self.cond)
        elif k < 0.60 and len(self.nums) > 1:
            a, b = r.sample(self.nums, 2)
            values = f"[{b},{r.choice([a, self.num(2)])}]"
            if self.pairs and k < 0.585:
                f, n = r.choice(self.pairs)
                values = f"{f}({','.join(self.num(2) for _ in range(n))})"
            self.put(f"[{a},{b}] = {values}")
        elif k < 0.64 and self.complexes and r.random() < 0.5:
            z = r.choice(self.complexes)
            if r.random() < 0.4:
                self.put(f"zz = {r.choice(['0', '0', '1i'])}")
                return self.put(f"zz = {self.late_complex()}")
            self.put(f"{z} {r.choice(['=', '=', '+=', '*='])} {self.complex_()}*0.5")
        elif k < 0.70 and self.vectors and r.random() < 0.6: self.assign_vector()
        elif k < 0.61 and counters: self.put(f"{r.choice(counters)} = {self.num(2)}")
        elif k < 0.62 and self.nums: self.put(f"{r.choice(self.nums)} = {self.any()}")
        else:
            e = self.element()
            z = self.element(("complex",)) if r.random() < 0.2 else None
            if z: return self.put(f"{z} {r.choice(['=', '=', '+=', '*='])} {r.choice([self.complex_, self.num])()}")
            if not e: return self.put("k_ = k_")
            if k < 0.72: # and a plain access, without which it would be a histogram
                self.put(f"{e} {r.choice(['+=', '-=', '*=', '/='])} {self.any(1)}"), self.put(f"{e} = {e}")
            else: self.put(f"{e} = {self.any()}")

    def put_mixed(self, names, own):
        """A value of the usual type of a variable, or of any."""
        v = self.r.choice(names)
        self.put(f"{v} = {self.value_of(v, self.any if self.r.random() < 0.3 else own)}")

    def set_field(self):
        o, r = self.r.choice(self.objects), self.r
        kind = r.choice(["x", "x", "x", "k", "z", "v"])
        if kind == "x": self.put(f"{o}.x {r.choice(['=', '+=', '*=', '-='])} {r.choice([self.num, self.any])(1)}")
        elif kind == "k": self.put(f"{o}.k = {self.int_(1)}")
        elif kind == "z": self.put(f"{o}.z = {self.complex_(1)}*0.5")
        else: self.put(f"{o}.v = {self.vector(3)}")

    def set_entry(self):
        r, e = self.r, f'{self.r.choice(self.dicts)}["{self.r.choice("xxyk")}"]'
        self.put(f"{e} {r.choice(['=', '+=', '*=', '-='])} {r.choice([self.num, self.num, self.int_, self.any])(1)}")

    def assign_vector(self):
        r, k = self.r, self.r.random()
        v, n = r.choice(list(self.vectors.items()))
        rows = [a for a, (kind, rank) in self.arrays.items() if rank == 3 and n == 3]
        if k < 0.5: self.put(f"{v} = {self.vector(n)}")
        elif k < 0.65: self.put(f"{v} {r.choice(['+=', '-=', '*='])} {self.num(2)}")
        elif k < 0.85 or not rows:
            e = f"{v}[{r.choice(['0', '1', f'mod({self.num(2)},{n})'])}]"
            self.put(f"{e} {r.choice(['=', '+='])} {self.num(2)}"), self.put(f"{e} = {e}")
        else: self.put(f"{r.choice(rows)}[{self.index('n')},:] {r.choice(['=', '=', '+='])} {self.vector(3)}")

    def block(self, size):
        self.depth += 1
        for _ in range(self.r.randint(1, size)): self.statement()
        self.depth -= 1

    def if_(self):
        self.put(f"if {self.cond()}")
        self.block(2)
        if self.r.random() < 0.2: self.put(f"elseif {self.cond()}"), self.block(2)
        if self.r.random() < 0.4: self.put("else"), self.block(2)
        self.put("end")

    def match(self):
        self.put(f"match {self.r.choice([self.num(2), f'mod({self.num(2)},3)'])} with")
        for p in self.r.sample(["0", "1", "2", "(1,2)", "-1", "0.5"], 2): self.put(f"| {p} ->"), self.block(2)
        if self.r.random() < 0.6: self.put("| _ ->"), self.block(2)
        self.put("end")

    def range(self):
        r, k = self.r, self.r.random()
        if k < 0.5: return "0..n-1", "n"
        if k < 0.6: return "n-1..-1..0", "n"
        if k < 0.68: return f"{r.randint(-2, 3)}..{r.randint(-2, 9)}", ""
        if k < 0.74: return f"{r.randint(-2, 3)}..{r.choice(['2', '-1', '3'])}..{r.randint(-2, 9)}", ""
        if k < 0.80: return f"0..{r.choice(['0.25', '0.1', '-0.5', '0.3'])}..{r.choice(['2', '1', '-1', '0.9'])}", ""
        if k < 0.86 and self.counters: return f"{r.choice(self.counters)[0]}..n-1", ""
        if k < 0.90 and self.counters: return f"0..{r.choice(self.counters)[0]}", ""
        if k < 0.93: return f"0..min({self.num(2)},5)", ""
        if k < 0.95 and self.ints: return f"0..mod(scalar({r.choice(self.ints)}),6)", ""
        if k < 0.985: return self.computed_range(), ""
        return "1..n-1", "n"

    def computed_range(self):
        """A short range with bounds or a step that only the running program knows."""
        r, c = self.r, self.counters[-1][0] if self.counters else "2"
        start = r.choice([f"floor({self.num(3)})", f"int({self.num(3)})", f"max(0,{self.num(3)})", f"{c}/2", f"-{c}",
                          f"mod({self.num(3)},5)", f"max(0,{c}-2)"] + self.ints)
        end = r.choice([f"+{r.choice(['2', '3.5', '1', '0', 'int(2)'])}", f"+mod({c},3)", ""])
        step = r.choice(["", "", "", "0.5..", "2..", "k_..", "-k_..", f"(1+mod({c},3))..", f"(0.5+{c}).."])
        if r.random() < 0.3: return f"{start}..min({r.choice(['n', '3', c + '+2'])},{start}+4)"
        if r.random() < 0.1: step, end = r.choice([f"({self.num(3)}).."]), f"+(3*({self.num(3)}))"
        return f"({start})..{step}({start}){end}"

    def items(self):
        """Iterates over the elements of a vector."""
        r, x = self.r, self.new("x")
        vecs = [a for a, (kind, rank) in self.arrays.items() if rank == 1 and kind != "complex" and a != "x_"]
        self.nloops += 1
        self.put(f"for {x} in {r.choice(vecs + [self.vector(3)])}")
        self.nums.append(x)
        self.block(3)
        self.nums.remove(x)
        self.put("end")

    def loop(self):
        if self.r.random() < 0.1: return self.items()
        self.nloops += 1
        r = self.r
        if r.random() < 0.2 and not (self.counters and r.random() < 0.5):
            names = [self.new("i") for _ in range(r.randint(2, 3))]
            many = ",".join(["n-1"] * len(names)) if self.n < 20 else ",".join(["2"] * len(names))
            self.put(f"for [{','.join(names)}]=0..[{many}]")
            new = [(c, "n" if self.n > 2 or "n" in many else "") for c in names]
        elif self.ints and r.random() < 0.1: # a name that the body may set, perhaps declared
            self.put(f"for {r.choice(self.ints)}={self.range()[0]}")
            new = []
        else:
            text, bound = self.range()
            new = [(self.new("i"), bound)]
            self.put(f"for {new[0][0]}={text}")
        self.counters += new
        self.block(4 if len(self.counters) < 3 else 2)
        del self.counters[len(self.counters) - len(new):]
        self.put("end")

    def until(self):
        w, kind = self.new("w"), self.r.choice(["while", "repeat"])
        if self.r.random() < 0.5: return self.counted_while(w)
        self.put(f"{w} = 0")
        self.put(f"while {w} < {self.r.randint(0, 4)} && ({self.cond(1)})" if kind == "while" else "repeat")
        self.put(f"{w} += 1", 1)
        self.counters.append((w, ""))
        self.block(2)
        self.counters.pop()
        self.put("end" if kind == "while" else f"until {w} > {self.r.randint(0, 3)} || ({self.cond(1)})")

    def counted_while(self, w):
        """The condition compares a counter, which changes by a constant somewhere in the body."""
        r = self.r
        step, op = r.choice([("1", "<"), ("1", "<="), ("2", "<"), ("-1", ">"), ("-1", ">="), ("0.5", "<")])
        first, last = r.choice(["0", "0", "1", "-0.0", "0.5", "int(0)", "n-n"]), r.choice(["3", "n", "n-1", "2.5"])
        if step[0] == "-": first, last = r.choice(["3", "n-1", "2"]), r.choice(["0", "-1", "0.5"])
        kind = "" if step == "0.5" else r.choice(["", "", " : int", " : int64"])
        self.put(f"{w}{kind} = {first if self.n < 20 else 0}")
        bound = last if self.n < 20 else str(r.randint(0, 4))
        if self.n >= 20 and step[0] == "-": step, op = "1", "<"
        self.put(f"while {w} {op} {bound}")
        self.counters.append((w, ""))
        if r.random() < 0.3: self.assign()
        if step == "0.5": self.put(f"if {w} >= 1", 1), self.put("break", 2), self.put("end", 1)
        change = f"{w} += {step}" if r.random() < 0.5 else f"{w} = {w} + {step}"
        self.put(change.replace("+ -", "- ").replace("+= -", "-= "), 1)
        self.block(2)
        self.counters.pop()
        self.put("end")

    def left(self):
        """A branch with a statement that the interpreter executes, between others."""
        r, c = self.r, self.r.choice(self.counters)[0]
        self.put(f"if mod({c},{r.choice([2, 3, 5])}) == {r.choice([0, 1])}")
        self.depth += 1
        if r.random() < 0.4: self.assign()
        v = r.choice(self.nums) if self.nums else "k_"
        form = r.randint(0, 3)
        if form == 0: self.put(f'print "{v} ", {v}')
        elif form == 1: self.put(f'{v} = numel(sprintf("%g", {self.num(2)}))')
        elif form == 2:
            self.put("try"), self.put(f"{v} = {self.num()}", 1), self.put("catch e_"), self.put(f"{v} = -1", 1)
            self.put("end")
        else: self.put(f'if {self.cond(1)}'), self.put(f'k_ = "text"', 1), self.put("end"), self.put("k_ = 1")
        if r.random() < 0.4: self.assign()
        self.depth -= 1
        if r.random() < 0.2: self.put("else"), self.block(2)
        self.put("end")

    def statement(self):
        k, inner = self.r.random(), len(self.counters)
        if self.counters and self.r.random() < 0.04: return self.left()
        if k < 0.60 or inner > 3 or self.nloops > 5: self.assign()
        elif k < 0.74: self.if_()
        elif k < 0.84: self.loop()
        elif k < 0.88: self.until()
        elif k < 0.94 and inner:
            self.put(f"if {self.cond()}"), self.put(self.r.choice(["break", "continue"]), 1), self.put("end")
        elif k < 0.955 and inner and not self.top: # what comes after it is not printed
            self.put(f"if ({self.cond()}) && {self.num(2)} == 3"), self.put("return", 1), self.put("end")
        elif k < 0.97: self.match()
        else: self.assign()

    def reduction(self):
        """Variables that iterations only add to; here the rounding may differ."""
        r = self.r
        s, form = "r_", r.randint(0, 7)
        c = r.choice(self.counters)[0]
        e = f"({self.element(('scalar', 'float64', 'int', 'uint8')) or '2'}*0.37 + {c}*0.11)"
        zero = f"({c} - {r.choice(['3', '50', c])})*{r.choice(['0', '-0.0'])}" # of one sign or the other
        if form != 4 and r.random() < 0.3: e = f"({zero})"
        if form == 0: self.put(f"{s} += {e}")
        elif form == 1: self.put(f"{s} = {s} - {e}")
        elif form == 2: self.put(f"{s} = max({s}, {e})")
        elif form == 3: self.put(f"if {e} {r.choice(COMPARE[:4])} {s}"), self.put(f"{s} = {e}", 1), self.put("end")
        elif form == 4: self.put(f"{s} *= {r.choice([f'1 + {e}*1e-3', f'1 + {e}*1e-3', c, f'({c} - 40)*1e9', '1e-7'])}")
        elif form == 5: self.put(f"h_[mod({r.choice(self.counters)[0]}*3,7)] += {e}")
        elif form == 6: self.put(f"{s} = {r.choice([f'{s} + {e} - {c}', f'{c} + ({s} - {e})', f'{e} + {s} + {c}'])}")
        else: self.put(f"{s} = {e} {r.choice(COMPARE[:4])} {s} ? {e} : {s}")
        if r.random() < 0.3: self.put(f"h_[mod({r.choice(self.counters)[0]},7)] -= 1")

    # -- a case ----------------------------------------------------------------------------------------------------
    def helper(self):
        """A function of numbers; some return early, some without a result."""
        r, f = self.r, f"{self.name}_f{len(self.functions)}"
        args = ["a", "b"][: r.randint(1, 2)]
        saved = dict(vars(self))
        self.lines, self.counters, self.nums, self.depth, self.top = [], [], list(args), 0, False
        self.ints, self.bools, self.arrays = [], [], {}
        self.complexes, self.vectors, self.lambdas, self.fields, self.vecfns = [], {}, [], [], []
        self.objects, self.mats, self.dicts = [], [], []
        typed = [f"{a} : {r.choice(['scalar', 'int', 'uint8'])}" if r.random() < 0.3 else a for a in args]
        result = r.choice(["y", "y", "y : int", "[y, z]"])
        self.put(f"function {result} = {f}({', '.join(typed)})")
        if "z" in result: self.put("z = a*2", 1)
        self.put("n = 3", 1), self.put("k_ = 1", 1)
        self.nloops = 4
        if r.random() < 0.8: self.put("y = 0.5", 1), self.nums.append("y")
        self.block(2)
        if r.random() < 0.4: self.put(f"  if {self.cond(1)}"), self.put("return", 2), self.put("  end")
        self.put(f"y = {self.num(1)}", 1)
        self.put("end")
        self.functions += self.lines
        vars(self).update(saved)
        self.nloops = 0
        if r.random() < 0.4: self.array_helper(f + "x")
        if r.random() < 0.3: self.vector_helper(f + "v")
        self.calls.append((f, len(args)))
        if "z" in result: self.pairs.append(self.calls[-1])

    def vector_helper(self, f):
        """From a vector another one, or itself."""
        r = self.r
        typed = r.choice(["p", "p", "p : vec", "p : vec3"])
        self.functions += [f"function q = {f}({typed}, s)"]
        self.functions += [r.choice(["  q = p", "  q = p*s", "  q = p + 1"])]
        if r.random() < 0.4: self.functions += ["  if s > 1", "    return", "  end"]
        self.functions += [r.choice(["  q = q + s", "  q[0] = s", "  q = max(q,s)", "  p = -p", "  s = p[1]"]), "end"]
        self.vecfns.append(f)

    def array_helper(self, f):
        """Reads and writes elements of its argument."""
        r = self.r
        mode = r.choice(["", "", " : vec'safe", " : vec'mirror", " : vec", " : vec'const"])
        self.functions += [f"function y = {f}(v{mode}, i)", "  y = v[i]"]
        self.functions += [f"  if y {r.choice(COMPARE)} {r.choice(NUMBERS[:6])}"]
        self.functions += ["    return", "  end"] if r.random() < 0.5 else ["    y = -y", "  end"]
        if "const" not in mode:
            self.functions += [f"  v[{r.choice(['i', 'i+1', '0'])}] {r.choice(['=', '+=', '*='])} y*0.5"]
        self.functions += ["end"]
        self.readers.append(f)

    def array(self):
        r, a = self.r, self.new("A")
        kind = r.choice(["scalar", "scalar", "float64", "int", "uint8", "bool", "complex"])
        rank = r.choice([1, 1, 1, 2]) if self.n < 20 else 1
        if r.random() < 0.2: # rows of three
            self.put(f"{a} = {r.choice(['', 'float64'])}(zeros(n,3) + transpose((0..n-1)*0.3))")
            if self.n > 1: self.arrays[a] = "rows", 3
            return
        value = {"scalar": "{}", "bool": "{} > 0", "complex": "complex({},1)"}.get(kind, kind + "({})")
        # Products are exact: an array expression may round a*b - c once.
        values = f"((0..n-1)*{r.choice(['0.375', '1', '3', '-1.5'])} - {r.choice(['1', '0', '2.5'])})"
        if rank == 2: values = f"(zeros(n,n) + {values})"
        self.put(f"{a} = {value.format(values)}")
        self.arrays[a] = kind, rank
        if r.random() < 0.15:
            b = self.new("A")
            self.put(f"{b} = {a}")
            self.arrays[b] = kind, rank

    def variables(self):
        r = self.r
        self.put(f"n = {self.n}")
        self.put("k_ = 1")
        for _ in range(r.randint(1, 3)): self.array()
        for _ in range(r.randint(1, 4)):
            v = self.new("s")
            self.put(f"{v} = {r.choice(NUMBERS)}")
            self.nums.append(v)
        for _ in range(r.randint(0, 2)):
            v = self.new("j")
            if r.random() < 0.6: self.put(f"{v} = int({r.choice(['3', '-7', '9.2e18', '0', '250', r.choice(WIDE)])})")
            else: self.put(f"{v} : int = {r.randint(-5, 5)}")
            self.ints.append(v)
        if r.random() < 0.4:
            v = self.new("z")
            self.put(f"{v} = {r.choice(['1+2i', '0i', '0.5-0.25i'])}")
            self.complexes.append(v)
        for _ in range(r.choice([0, 0, 1, 2])):
            v, n = self.new("v"), r.choice([2, 3])
            self.put(f"{v} = [{','.join(self.literal() for _ in range(n))}]")
            self.vectors[v] = n
        if r.random() < 0.3:
            v = self.new("m")
            self.put(f"{v} = [[{self.literal()},2],[{self.literal()},0.25]]")
            self.mats.append(v)
        if r.random() < 0.3:
            v = self.new("o")
            self.put(f"{v} = thing(x:={self.literal()}, k:=int(3), v:=[1,2,3], z:=1+1i)")
            self.objects.append(v)
            self.fields += [f"{v}.x", f"{v}.v[{r.choice(['0', '1', '2', '3'])}]", f"scalar({v}.k)", f"imag({v}.z)"]
        if r.random() < 0.3:
            v = self.new("d")
            self.put(f'{v} = {{"x": {self.literal()}, "y": 0.5, "k": int(3)}}')
            self.dicts.append(v)
            self.fields += [f'{v}["x"]', f'{v}["y"]', f'scalar({v}["k"])', f"{v}.y"]
        if r.random() < 0.4:
            v, n = self.new("g"), r.choice([1, 1, 2])
            self.put(f"{v} = ({'a,b'[:2 * n - 1]}) -> a*{r.choice(self.nums)} + {r.choice(['1', 'n', 'abs(a)'])}")
            self.lambdas.append((v, n))
        if r.random() < 0.4:
            v = self.new("b")
            self.put(f"{v} = {r.choice(['true', 'false'])}")
            self.bools.append(v)

    def unset(self):
        v = self.new("u")
        self.put("if n < 0"), self.put(f"{v} = 0", 1), self.put("end")
        self.nums.append(v)
        return v

    def body(self):
        r = self.r
        self.variables()
        shown = set()
        for _ in range(r.randint(1, 3)):
            caught = r.random() < 0.7
            if caught: self.put("try"), setattr(self, "depth", self.depth + 1)
            late = self.unset() if r.random() < 0.3 else None
            if self.reduces:
                self.put(f"r_ = {r.choice(['0.5', '0.5', '0', '-0.0', '1e-300', 'inf'])}")
                self.put(f"h_ = {r.choice(['', '-'])}zeros(7)")
                self.put(f"for i_={r.choice(['0..n-1', '0..99', '1..2..200', '50..-1..0'])}")
                self.counters.append(("i_", ""))
                self.depth += 1
                self.reduction()
                self.depth -= 1
                self.counters.pop()
                self.put("end")
                self.put('printf("~ %s", r_, %s)' % (" ".join(["%.17g"] * 8), ", ".join(f"h_[{q}]" for q in range(7))))
            else: self.loop()
            if r.random() < 0.3: self.assign()
            if late and r.random() < 0.5: self.nums.remove(late)
            if caught:
                self.depth -= 1
                self.put("catch e_")
                self.put('print "caught: ", e_', 1)
                if self.nums: self.put(self.show_statement(r.choice(self.nums)), 1)
                self.put("end")
        self.put('printf("%.17g\\n", rand())')
        for v in self.nums + self.ints + self.bools:
            if r.random() < 0.7: self.put(self.show_statement(v))
        for z in self.complexes:
            if r.random() < 0.3: continue
            self.put(f'printf("{z} %.17g %.17g ", real({z}), imag({z}))'), self.put(f"print type({z})")
        for o in self.objects:
            for e in [f"{o}.x", f"{o}.k", f"real({o}.z)", f"imag({o}.z)", f"{o}.v[1]"]:
                self.put(f'printf("{e} %.17g ", {e})')
            self.put(f'print type({o}.k), " ", type({o}.z), " ", size({o}.v)')
        for d in self.dicts:
            for k in "xyk": self.put(self.show_statement(f'{d}["{k}"]'))
        for m in self.mats: self.put(f'show_mat("{m}", {m})')
        for v in self.vectors:
            if r.random() < 0.7: self.put(f'show_all("{v}", {v})')
        for a, (kind, rank) in self.arrays.items():
            show = "show_all" if rank == 1 else "show_mat"
            if kind == "complex": self.put(f'{show}("{a}", real({a}))'), self.put(f'{show}("{a}", imag({a}))')
            else: self.put(f'{show}("{a}", {a})')

    def show_statement(self, v):
        pad, text = "  " * self.depth, v.replace('"', '""')
        lines = ["try", f'  printf("{text} %.17g ", {v})', f"  print type({v})"]
        lines += ["catch e_", f'  print "{text}: ", e_', "end"]
        return f"\n{pad}".join(lines)

    def text(self):
        r = self.r
        for _ in range(r.randint(0, 2)): self.helper()
        if self.top:
            self.body()
            return self.functions + ["try", *self.lines, "catch e_", '  print "stopped: ", e_', "end"]
        self.depth = 1
        nested = r.random() < 0.2
        params = r.choice(["", "", "x_ : vec'mirror", "x_ : vec'reflect", "x_ : vec'circular", "x_ : vec'safe",
                           "x_ : vec'clamped", "x_"])
        given = "(0..6)*0.5" if params else ""
        if params: self.arrays["x_"] = "scalar", 1
        self.put("s0 = 1")
        if nested: self.lines += ["  function z = inner(q)", "    z = q + s0", "  end"]
        self.nums.append("s0")
        self.body()
        if nested: self.put("print inner(1)")
        if r.random() < 0.2: self.put("lam = (q) -> q*2 + s0"), self.put("print lam(2)")
        call = ["try", f"  {self.name}({given})", "catch e_", '  print "stopped: ", e_', "end"]
        return self.functions + [f"function [] = {self.name}({params})", *self.lines, "end"] + call


class Nest:
    """Nested loops over matrices: ranges that depend on outer counters and on arrays, indices inside or nearly."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 3, 7, 16, 17, 20, 33]) if rng.random() < 0.93 else 270

    def range(self, outer):
        r = self.r
        if not outer and self.n > 99: return r.choice(["0..3", "n-5..n-1", "130..134"])
        if not outer: return r.choice(["0..n-1", "0..n-1", "1..n-2", "n-1..-1..0", "0..2..n-1"])
        o = r.choice(outer)
        return r.choice([f"0..{o}", f"0..{o}-1", f"{o}..n-1", f"{o}+1..n-1", f"{o}+1..n-1", "0..n-1", "0..n-1",
                         f"{o}..-1..0", f"n-1..-1..{o}", f"max(0,{o}-3)..min(n-1,{o}+3)", f"0..min({o},4)",
                         f"ptr[{o}]..ptr[{o}+1]-1"])

    def index(self, counters):
        r, c = self.r, self.r.choice(counters)
        if r.random() < 0.75: return c
        d = r.choice(counters)
        return r.choice([f"{c}-{d}", f"{c}+1", f"{c}-1", f"n-1-{c}", f"idx[{c}]", f"{c}-{d}-1", f"{c}+{d}", "0",
                         f"max({c}-1,0)", f"min({c}+1,n-1)"])

    def element(self, counters, arrays="ABxy", plain=False):
        index = (lambda: self.r.choice(counters)) if plain else (lambda: self.index(counters))
        a = self.r.choice(arrays)
        return f"{a}[{index()},{index()}]" if a in "AB" else f"{a}[{index()}]"

    def value(self, counters):
        r = self.r
        e, f = self.element(counters), self.element(counters, "ABxyu")
        return r.choice([f"{e}*{f}", f"{e}*{f}", f"{e}+{f}", f"{e}-0.3*{f}", e, f"{e}/3", f"max({e},{f})",
                         f"min({e},{f}+1)", f"({e} > {f} ? {e} : {f})", f"abs({e}) - {f}", f"t*0.5 + {e}"])

    def statements(self, counters, depth, out, pad):
        r = self.r
        for _ in range(r.randint(1, 2)):
            k = r.random()
            target = self.element(counters, plain=r.random() < 0.8)
            if k < 0.5: out.append(f"{pad}{target} {r.choice(['-=', '+=', '-=', '*='])} {self.value(counters)}*0.01")
            elif k < 0.65: out.append(f"{pad}{target} = {self.value(counters)}*0.5")
            elif k < 0.72: out.append(f"{pad}{target} = max({target}, {self.value(counters)})")
            elif k < 0.85: out.append(f"{pad}t = t*0.25 + {self.value(counters)}*0.1")
            elif k < 0.92: out.append(f"{pad}m = max(m, {self.value(counters)})")
            else: out.append(f"{pad}q += {self.element(counters, 'u')}")
        if depth == 3 or (depth == 2 and r.random() < 0.3): return
        if r.random() < 0.5: out.append(f"{pad}t = {self.element(counters)}")
        for _ in range(1 if r.random() < 0.8 else 2):
            c = "ijk"[depth]
            out.append(f"{pad}for {c} = {self.range(counters)}")
            self.statements(counters + [c], depth + 1, out, pad + "  ")
            out.append(f"{pad}end")
        if r.random() < 0.5: out.append(f"{pad}{self.element(counters, plain=True)} = t*0.5 + {self.element(counters)}")

    def text(self):
        r = self.r
        kind = lambda: r.choice(["", "", "float64"])
        lines = [f"function [] = {self.name}()", f"  n = {self.n}", "  t = 0.5", "  m = -1", "  q = 0"]
        for a, rank in (("A", 2), ("B", 2), ("x", 1), ("y", 1)):
            value = f"(mod((0..n-1)*{r.choice([7, 37])}+{r.randint(0, 9)},61)*0.0625 - 1.875)"
            if rank == 2: value = f"zeros(n,n) + {value} + transpose({value})"
            lines.append(f"  {a} = {kind()}({value})")
        end = r.choice(["i_", "mod(i_*3,n+1)", "floor(i_*i_/n)", "i_*2"])
        lines += ["  u = uint8(mod((0..n-1)*37,251))", "  idx = int32(mod((0..n-1)*5+2,n))"]
        lines += ["  ptr = int32(zeros(n+1))", "  for i_=0..n", f"    ptr[i_] = min(n,{end})", "  end"]
        if r.random() < 0.1: lines.append(f"  {r.choice('BA')} = A")
        body = []
        self.statements(["i"], 1, body, "      ")
        lines += ["  try", f"    for i = {self.range([])}", *body, "    end"]
        lines += ["  catch e_", '    print "caught: ", e_', "  end", '  printf("%.17g %.17g %.17g", t, m, q)']
        lines += [f'  show_mat("{a}", {a})' for a in "AB"] + [f'  show_all("{a}", {a})' for a in "xy"]
        lines += ["end", f"{self.name}()"]
        return lines


class Sums:
    """Inner loops that change one element in all iterations; arrays may be the same.  Only elements of s
    are sums of several outer iterations, which need only be close."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 3, 7, 8, 9, 16, 17, 25, 40])

    def term(self):
        r = self.r
        a = r.choice(["A[i,j]", "A[i,j]", "A[j,i]", "A[i,j]*A[i,i]", "D[i,j]", "int32(9)*k[j]"])
        return r.choice([f"{a}*p[j]", f"{a}*p[j]", a, f"p[j]/({a} + 3)", f"w*{a}", "k[j]", f"{a}*q[j]", f"{a}*D[i,j]"])

    def statement(self):
        r = self.r
        e = r.choice(["q[i]", "q[i]", "q[i]", "D[i,i]", "D[i,n-1]", "D[i,0]", "k[i]", "z[i]", "q[n-1-i]"])
        if e == "k[i]": return f"k[i] += {r.choice(['k[j]', '3', 'i - j', 'floor(A[i,j])'])}"
        op = r.choice("+-+-*")
        value = self.term() if op != "*" else "(1 + 0.001*A[i,j])"
        return r.choice([f"{e} {op}= {value}", f"{e} = {e} {op} {value}", f"{e} = max({e}, {value})",
                         f"{e} = {e}*0.5 + {value}", "s[j] += abs(p[i]*A[i,j])", f"w = {self.term()}"])

    def text(self):
        r = self.r
        kind = lambda: r.choice(["", "", "float64"])
        made = lambda a: f"(mod((0..n-1)*{r.choice([7, 37])}+{r.randint(0, 9)},61)*{a} - 1.875)"
        lines = [f"function [] = {self.name}()", f"  n = {self.n}", "  w = 0.5", f"  k = int32({made(4)})"]
        lines.append("  s = zeros(n) + 1")
        for a in "pq": lines.append(f"  {a} = {kind()}({made(0.0625)}*{r.choice(['1', '1024', '3'])})")
        for a in "AD": lines.append(f"  {a} = {kind()}(zeros(n,n) + {made(0.03125)} + transpose({made(0.0625)}))")
        lines.append("  z = complex(zeros(n)) + 1i*p" if r.random() < 0.1 else "  z = uint8(zeros(n))"
                     if r.random() < 0.1 else "  z = zeros(n)")
        if r.random() < 0.3: lines.append(f"  {r.choice(['q = p', 's = p', 'q = s', 'D = A'])}")
        outer = r.choice(["0..n-1", "0..n-1", "n-1..-1..0", "1..n-2", "0..2..n-1"])
        inner = r.choice(["0..n-1", "0..n-1", "0..i-1", "i+1..n-1", "n-1..-1..0", "0..i", "2..1", "0..3..n-1"])
        lines += ["  try", f"    for i = {outer}"]
        if r.random() < 0.4: lines.append(f"      {r.choice(['q[i] = p[i]', 'w = q[i]', 'D[i,i] = w'])}")
        lines.append(f"      for j = {inner}")
        lines += [f"        {self.statement()}" for _ in range(r.randint(1, 3))] + ["      end"]
        if r.random() < 0.4: lines.append(f"      {r.choice(['q[i] /= 3', 'w = q[i]', 'q[i] = q[i]*0.5 + w'])}")
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end", '  printf("%.9g", w)']
        lines += ['  show_all("k", k)', '  show_all("z", real(z))', '  show_mat("D", D)']
        lines += ["  for i_ = 0..n-1", '    printf("%.17g", q[i_])', '    printf("~ %.17g", s[i_])', "  end"]
        return lines + ["end", f"{self.name}()"]


class Rows:
    """Rows, columns, ranges and whole vectors, in expressions, sums and assignments; nearly all fit.  Numbers need only
    be close, because a sum in a loop that stays interpreted may be a compiled expression."""
    RANGES = {"full": ["(0..m-1)", "(m..-1..1)", "(i..i+m-1)", "(1-m..0)", "(2^24-2..2^24+m-3)", "(0..m)", "(j..m)"],
              "before": ["(0..j)", "(j..-1..0)", "(i..i+j)", "(t..t+j)", "(k..j)"], "even": ["(0..2..m-1)"]}

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n, self.m = (rng.choice([1, 2, 3, 5, 17, 33, 40]) for _ in "nm")

    def index(self, extent):
        outer = "ik" if extent == "n" else "j"
        return self.r.choice([*outer, *outer, f"mod({self.r.choice('ijk')}+1,{extent})", "0", f"{extent}-1"] +
                             ["j"] * (self.r.random() < 0.05))

    def slice(self, shape):
        r = self.r
        a, v, i = r.choice("AB"), r.choice("xy"), self.index("n")
        odd = r.choice(["j..j+2", "j-1..j+1", "0..m", "j..0", "j+1..m-1", "2..1"])
        if r.random() < 0.03: return f"{v}[{odd}]"
        if r.random() < 0.05:
            k = r.choice(["int(abs(x[j]))", "floor(abs(x[j]))", "(ceil(y[j])+2)", "int(y[j])", "floor(A[0,j])", "x[j]"])
            return f"{v}[{k}..{k}{r.choice(['+1', '+2', '+j', '-1'])}]"
        if r.random() < 0.12 and shape in self.RANGES: return r.choice(self.RANGES[shape])
        if shape == "full":
            return r.choice([f"{a}[{i},:]", f"{a}[{i},:]", v, f"{v}[:]", f"{v}[0..m-1]", f"{v}[m-1..-1..0]", "d",
                             f"{a}[{i},0..m-1]", f"C[:,{self.index('n')}]", f"transpose(C[:,{self.index('n')}])"][
                                 : 9 if r.random() < 0.7 else 10])
        if shape == "before":
            return r.choice([f"{v}[0..j]", f"{v}[j..-1..0]", f"{a}[{i},0..j]", f"{a}[{i},j..-1..0]", "h"])
        if shape == "even": return r.choice([f"{v}[0..2..m-1]", f"{a}[{i},0..2..m-1]"])
        return f"{a}[:,{self.index('m')}]"

    def row(self, shape, d=0):
        r, k = self.r, self.r.random()
        if d > 2 or k < 0.4: return self.slice(shape)
        if k < 0.5: return f"(-{self.row(shape, d + 1)})"
        if k < 0.6: return f"{r.choice(['abs', 'sqrt', 'floor', 'sin'])}({self.row(shape, d + 1)})"
        if k < 0.65: return f"({self.row(shape, d + 1)}.^{r.choice(['2', '3', '0.5'])})"
        if k < 0.7: return f"{r.choice(['max', 'min'])}({self.row(shape, d + 1)},{self.row(shape, d + 1)})"
        if k < 0.8: return f"({self.row(shape, d + 1)} {r.choice('+-*/')} {self.number()})"
        return f"({self.row(shape, d + 1)} {r.choice(['+', '-', '.*', './'])} {self.row(shape, d + 1)})"

    def shape(self):
        return self.r.choice(["full", "full", "before", "before", "even", "column"])

    def number(self):
        r = self.r
        if r.random() < 0.6:
            return r.choice(["0.5", "2", "t", "i", "j", f"A[{self.index('n')},j]", "x[j]", "int(3)",
                             f"d[{self.index('m')}]", f"d[0,{self.index('m')}]"])
        return self.reduced()

    def reduced(self):
        r, shape = self.r, self.shape()
        f = r.choice(["sum", "sum", "sum", "mean", "max", "min", "prod", "norm", "squared_norm", "numel", "dotprod",
                      "norm1", "logsumexp", "argmin", "argmax"])
        return f"{f}({self.row(shape, 1)}{',' + self.row(shape, 1) if f == 'dotprod' else ''})"

    def statement(self):
        r, k = self.r, self.r.random()
        a, v, i = r.choice("AB"), r.choice("xy"), self.index("n")
        op = r.choice(["=", "=", "+=", "-=", "*="])
        if k < 0.2: return f"t = t*0.25 + {self.reduced()}*0.01"
        if k < 0.5: return f"{a}[{i},:] {op} {self.row('full')}*0.5"
        if k < 0.6: return f"{v}[0..j] {op} {self.row('before')}*0.5"
        if k < 0.65: return f"{a}[:,j] {op} {self.row('column')}*0.5"
        if k < 0.7: return f"{a}[{i},0..j] = {self.number()}"
        if k < 0.75: return f"{a}[{i},:] = {a}[{i},:]{r.choice(['', '*0.5', ' + t'])}"
        if k < 0.85: return f"{r.choice(['d', 'd', 'h'])} = {self.row(r.choice(['full', 'before']))}"
        if k < 0.9: return f"d = {self.row('full')}\n        {a}[{i},:] = d*0.5 + {self.number()}"
        if k < 0.96: return self.of_several(v)
        return f"{v}[j] = {self.reduced()}*0.1"

    def of_several(self, v):
        """Several results, rows of a matrix, texts."""
        r, k = self.r, self.r.random()
        if k < 0.4:
            return f"[p, q] = {r.choice(['max', 'min'])}({self.row(self.shape())})\n        {v}[mod(q,m)] = p*0.1 + q"
        if k < 0.6:
            of = r.choice(["A", "C", "A[i,:]", "x", f"({self.row('full')})", "W", "x, [1,0]", "A, [0,1]"])
            return f"[p, q] = size({of})\n        t = t*0.5 + p*0.25 + q*0.125"
        if k < 0.8:
            body = r.choice(["w[0] += 1", "w = w*2", f"{v}[mod(i,m)] = w[1]",
                             "if w[0] > t\n            break\n          end"])
            return (f"for w in {r.choice(['W', 'W', '[[0.5,1],[t,2]]'])}\n          {body}\n"
                    f"          t = t*0.5 + w[0]*0.25 + w[1]\n        end")
        other = r.choice(['u', '"one"'])
        return f"if s {r.choice(['==', '!='])} {other}\n          t = t*0.5 + 1\n        end"

    def text(self):
        r = self.r
        kind = lambda: r.choice(["", "", "float64"])
        lines = [f"function [] = {self.name}()", f"  n = {self.n}", f"  m = {self.m}", "  t = 0.5"]
        for a, size in ("A", "nm"), ("B", "nm"), ("C", "mn"), ("x", "m"), ("y", "m"):
            value = f"(mod((0..{size[-1]}-1)*{r.choice([7, 37])}+{r.randint(0, 9)},61)*0.0625 - 1.875)"
            if len(size) > 1: value = f"zeros({size[0]},{size[1]}) + {value} + transpose((0..{size[0]}-1)*0.375)"
            lines.append(f"  {a} = {kind()}({value})")
        if r.random() < 0.1: lines.append(f"  {r.choice('BA')} = A")
        lines += ["  d = copy(x)", "  h = x[0..0]", "  p = 0", "  q = 0", f"  W = {kind()}([[1,2],[0.25,-1],[4,3]])"]
        lines += [f'  s = "{r.choice(["one", "two"])}"', '  u = "two"']
        body = [f"        {self.statement()}" for _ in range(r.randint(1, 3))]
        inner = r.choice(["0..m-1", "0..min(i,m-1)", "m-1..-1..0"])
        lines += ["  for k = 0..1", "  try", "    for i = 0..n-1", f"      for j = {inner}", *body, "      end"]
        if r.random() < 0.5: lines += ["      j = 0", f"        {self.statement()}"]
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end", "  end", '  printf("~ %.17g", t)']
        lines += [f'  show_mat("~ {a}", {a})' for a in "ABC"] + [f'  show_all("~ {a}", {a})' for a in "xy"]
        return lines + ["end", f"{self.name}()"]


class Integers:
    """Numbers that are integral most of the time: remainders, rounded quotients, products that pass 2^53, zeros with a
    sign, fractions; they are indices and stored in arrays, too."""
    STARTS = ["0", "1", "7", "27", "-3", "97", "12345", "int(0)", "int(5)", "int(-9)"]
    ODD_STARTS = ["2^52", "2^53 - 1", "-0.0", "0.5", "1e300", "inf", "nan_", "2^60", "int(2)^60", "2>1"]

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 4, 9, 30, 60])

    def start(self):
        return self.r.choice(self.ODD_STARTS if self.r.random() < 0.15 else self.STARTS)

    def factor(self):
        return self.r.choice(["2", "3", "10", "8", "7", "1000", "y", "z", "i", "n", "int(4)", "-5", "0", "2.5", "64"])

    def value(self, d=0):
        r, v = self.r, self.r.choice("xyzsi")
        if d > 1: return r.choice([v, v, "1", "3", "a[i]", "11"])
        e = lambda: self.value(d + 1)
        return r.choice([lambda: v, lambda: f"{v} + {e()}", lambda: f"({e()} - {e()})", lambda: f"{self.factor()}*{v}",
                         lambda: f"{v}*({e()})", lambda: f"3*{v} + 1", lambda: f"floor(({e()})/{self.factor()})",
                         lambda: f"mod({e()}, {self.factor()})", lambda: f"int(({e()})/{self.factor()})",
                         lambda: f"trunc(({e()})/{self.factor()})", lambda: f"min({e()}, {e()})",
                         lambda: f"max({e()}, {e()})", lambda: f"(mod({v},2) == 0 ? {v}/2 : 3*{v} + 1)",
                         lambda: f"({v} - mod({v},10))/10", lambda: f"abs({e()})", lambda: f"a[mod({v},{self.n})]",
                         lambda: f"({v} + {e()})/2", lambda: f"floor({v})", lambda: f"and({v}, 255)"])()

    def statements(self, depth, pad):
        r, v, out = self.r, self.r.choice("xyzs"), []
        for _ in range(r.randint(1, 3)):
            k, v = r.random(), r.choice("xyzs")
            if k < 0.35: out.append(f"{v} = {self.value()}")
            elif k < 0.48: out.append(f"{v} {r.choice(['+=', '-=', '*='])} {self.value(1)}")
            elif k < 0.50: out.append(f"{v} {r.choice(['~=', '&=', '|='])} {self.value(1)}")
            elif k < 0.58: out.append(f"{v} = -{r.choice('xyzs')}")
            elif k < 0.68:
                out += [f"if mod({v},{r.choice('23')}) == 0", f"  {v} = {v}/{r.choice('23')}", "else",
                        f"  {v} = {self.value(1)}", "end"]
            elif k < 0.76: out.append(f"a[mod({self.value(1)}, {self.n})] {r.choice(['=', '+='])} {self.value(1)}")
            elif k < 0.80: out.append(f"a[{v}] = {self.value(1)}")
            elif k < 0.86 and depth: out.append(f"{v} = {r.choice(['digits', 'halve'])}({self.value(1)})")
            elif depth < 2:
                w = f"w{depth}"
                test = r.choice([f"{v} > 0", f"{v} != 1", f"{v} < {self.value(1)}", f"{v} != 0", "mod(s,7) != 3"])
                out += [f"{w} = 0", f"while {test} && {w} < {r.choice([3, 12])}", f"  {w} += 1",
                        *self.statements(depth + 1, "  ")]
                if r.random() < 0.5: out.append(f"  {v} = {r.choice([f'floor({v}/10)', f'mod({v},97)', f'3*{v} + 1'])}")
                out.append("end")
        return [pad + line for line in out]

    def text(self):
        r = self.r
        array = r.choice(["int(zeros(n))", "zeros(n)", "uint8(zeros(n))", "int64(zeros(n))", "float64(zeros(n))",
                          "uint64(zeros(n))", "uint64((0..n-1)*2^58)"])
        declared = lambda: r.choice(["", "", "", "", " : int64", " : scalar"])
        lines = [f"function [] = {self.name}()", f"  n = {self.n}", f"  a = {array}", "  w0 = 0", "  w1 = 0"]
        for v in "xyzs": lines.append(f"  {v}{declared()} = {self.start()}")
        lines += ["  for t_ = 1..2", "  try", f"    for i = {r.choice(['0..n-1', '0..n-1', 'n-1..-1..0', '1..n'])}"]
        reduces = r.random() < 0.3 # sums of chunks may be rounded differently
        read = [] if reduces else ["      r_ = x + y + z + s"]
        lines += [*self.statements(0, "      "), *read, "    end", "  catch e_"]
        lines += ['    print "caught: ", e_', "  end", "  end"]
        mark = "~ " if reduces else ""
        for v in "xyzs": lines.append(f"  printf(\"{mark}{v} %.17g %.17g\\n\", {v}, 1/{v})")
        return lines + ['  show_all("a", a)', "end", f"{self.name}()"]


class Shifts:
    """Inner loops that read and write elements at distances that an array holds, forwards and backwards, or one element
    in all iterations."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 9, 40, 150])

    def index(self):
        r = self.r
        if r.random() < 0.15: return r.choice("kki0")
        factor = r.choice(["", "", "", "", "2*"])
        return f"{factor}j{r.choice('+-')}{r.choice(['d[i]', 'd[i]', 'k', '1', '0', 'd[i] - k', '2*k', 'i'])}"

    def value(self):
        x = lambda: f"{self.r.choice('xxy')}[{self.index()}]"
        return self.r.choice([f"{x()}*0.5", f"max({x()}, {x()} + v[i])", f"{x()} + v[i]", f"({x()} + {x()})*0.25",
                              f"min({x()}, v[i])", f"{x()}*k*0.125", "t"])

    def statement(self):
        r, target = self.r, f"{self.r.choice('xxy')}[{self.r.choice(['j', 'j', self.index()])}]"
        if r.random() < 0.25:
            return [f"t = {self.value()}", f"if t {r.choice('<>')} {target}", f"  {target} = t*0.5", "end"]
        if r.random() < 0.15: return [f"t = {self.value()}"]
        return [f"{target} {r.choice(['=', '=', '=', '*='])} {self.value()}"]

    def text(self):
        r = self.r
        kind = lambda: r.choice(["", "", "", "float64", "int"])
        five = lambda item: "[" + ", ".join(str(item()) for _ in range(5)) + "]"
        near, back = r.choice([3, 3, 9, 200]), r.random() < 0.2
        ends = ["4", f"n-{r.choice([1, 5, 9])}", "max(d[i], 3)", "n/2", "n-d[i]-1"]
        lines = [f"function [] = {self.name}()", f"  n = {self.n}", "  t = 0.5"]
        lines.append(f"  d = int({five(lambda: r.randint(-near if back else 0, near))})")
        lines.append(f"  v = {r.choice(['int', ''])}({five(lambda: r.choice([1, -3, 40, 16777217, 7]))})")
        for a in "xy":
            value = f"mod((0..n-1)*{r.choice([7, 37])}+{r.randint(0, 9)},61)*0.0625 - 1.875"
            lines.append(f"  {a} = {kind()}({value})")
        if r.random() < 0.1: lines.append("  y = x")
        lines += ["  try", "    for i = 0..4", "      k = d[i]"]
        lines.append(f"      for j = {r.choice(ends)}..{r.choice(['', '-1..', '2..'])}{r.choice(ends)}")
        for _ in range(r.choice([1, 1, 1, 2])): lines += [f"        {line}" for line in self.statement()]
        lines += ["      end", "    end", "  catch e_", '    print "caught: ", e_', "  end"]
        lines += ['  printf("t %.17g\\n", t)', '  show_all("x", x)', '  show_all("y", y)']
        return lines + ["end", f"{self.name}()"]


class Exchanges:
    """Short arrays that variables exchange, share and change, and whose size is a variable; slices that are set to
    other elements of their array, or kept in a variable while it changes."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 2, 3, 3, 4, 4, 7])
        self.m = rng.choice([5, 33, 40])
        self.names = "abcd"

    def index(self):
        return self.r.choice(["0", "n-1", "j", "j", "mod(i,n)", "mod(i+j,n)"] + ["i"] * (self.r.random() < 0.1))

    def value(self):
        r = self.r
        a, b = r.choice(self.names), r.choice(self.names)
        return r.choice([a, a, f"{a} + {b}", f"{a}*0.5", f"copy({a})", f"real({a})", f"+{a}", f"max({a},{b})",
                         "zeros(n)", "ones(n) + i", f"float64({a})", f"{self.name}_f({a},i)", "e"])

    def short(self):
        r, k = self.r, self.r.random()
        a, b, c = (r.choice(self.names) for _ in "abc")
        if k < 0.3: return [f"{a} = {self.value()}"]
        if k < 0.5: return [f"{a}[{self.index()}] {r.choice(['=', '=', '+='])} {b}[{self.index()}]*0.5 + j"]
        if k < 0.6: return [f"t = {a}", f"{a} = {b}", f"{b} = t"]
        if k < 0.65: return [f"[{a}, {b}] = [{b}, {c}]"]
        if k < 0.7: return [f"{a} += {b}"]
        if k < 0.8: return [f"if mod(i,{r.choice('234')}) == 0", f"  {a} = {b}", "end"]
        if k < 0.9: return ["for l = 0..n-1", f"  {a}[l] = {b}[n-1-l] + {self.index()}", "end"]
        return [f"s += sum({a}) + {b}[{self.index()}]"]

    def slice(self, row):
        r = self.r
        k = r.choice(["0", "1", "2", "i", "j", "mod(i,3)"])
        a = r.choice("AB")
        if row: return f"{a}[{r.choice(['i', 'j', '0', 'n-1', 'mod(i+1,n)'])},{r.choice([':', ':', f'{k}..{k}+9'])}]"
        return r.choice([f"x[{k}..{k}+9]", f"x[{k}+9..-1..{k}]", f"x[m-10..m-1]", f"y[{k}..{k}+9]"])

    def long(self):
        r, k = self.r, self.r.random()
        a, b = self.slice(True), self.slice(True)
        if k < 0.3: return [f"t_ = {a}", f"{a} = {b}", f"{b} = t_"]
        if k < 0.5: return [f"{a} = {b} - {self.slice(True)}*0.5"]
        if k < 0.6: return [f"{a} {r.choice(['+=', '*='])} {b}"]
        if k < 0.9: return [f"{self.slice(False)} {r.choice(['=', '=', '+='])} {self.slice(False)}*0.5 + 0.25"]
        return [f"u_ = {self.slice(False)}", f"x[{r.choice(['0', 'i', 'j'])}] = s", "s = s*0.5 + sum(u_)"]

    def text(self):
        r = self.r
        lines = [f"function v = {self.name}_f(v, k)"]
        lines += [r.choice(["  v[0] = k", "  v = v + k", "  w = v*2", "  v = copy(v)\n  v[0] = k"]), "end"]
        lines += [f"function [] = {self.name}()", f"  n = {self.n}", f"  m = {self.m}", "  s = 0"]
        for a in self.names + "e": lines.append(f"  {a} = {r.choice(['', '', 'float64'])}((0..n-1)*{r.randint(1, 9)})")
        if r.random() < 0.2: lines.append("  b = a")
        if r.random() < 0.1: lines.append("  c = e")
        for a in "AB": lines.append(f"  {a} = reshape(mod((0..n*m-1)*{r.choice([7, 37])},61)*0.0625, [n,m])")
        for a in "xy": lines.append(f"  {a} = mod((0..m-1)*{r.choice([7, 37])},61)*0.0625")
        kind = self.long if r.random() < 0.5 else self.short
        lines += ["  try", "    for i = 0..4", "      j = mod(i*2,n)"]
        for _ in range(r.randint(1, 4)): lines += [f"      {line}" for line in kind()]
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end"]
        lines += [f"  {r.choice(self.names)}[0] = 1000"] * 2 + ['  printf("s %.17g\\n", s)']
        lines += [f'  show_all("{a}", {a})' for a in self.names + "exy"] + [f'  show_mat("{a}", {a})' for a in "AB"]
        return lines + ["end", f"{self.name}()"]


class Steps:
    """Loops whose variables exchange their arrays in each iteration, or get new ones, also of several types and sizes;
    the loops may leave an iteration at any statement."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([34, 40, 150])
        self.names = "abcx"

    def index(self):
        r = self.r
        return r.choice(["i", "i", "i", "n-1-i", "0", "i-1", "mod(i+k,n)", "k"] + ["i+1"] * (r.random() < 0.1))

    def exchange(self):
        r = self.r
        a, b, c = (r.choice(self.names[:3]) for _ in "abc")
        return r.choice([[f"t = {a}", f"{a} = {b}", f"{b} = t"], [f"[{a}, {b}] = [{b}, {a}]"],
                         [f"t = {a}", f"{a} = {b}", f"{b} = {c}", f"{c} = t"], [f"{a} = {r.choice(self.names)}"],
                         [f"[{a}, {b}, {c}] = [{b}, {c}, {a}]"], ["t = a", "a = b", "b = t"]])

    def new(self, a, b, c):
        r = self.r
        other = r.choice([f"{b}*0.5", f"{c}*0.125 + k", f"{b}[k]", "k*0.5", f"max({c},{b})", f"{c}[n-1..-1..0]*0.5",
                          "s"])
        return f"{a} = {r.choice([a, a, b, f'abs({a})'])} {r.choice(['+', '-'])} {other}"

    def statement(self):
        r, k = self.r, self.r.random()
        a, b, c = (r.choice(self.names) for _ in "abc")
        if k < 0.35:
            value = f"{b}[{self.index()}]*0.5 + {c}[{self.index()}]*0.25"
            return ["for i = 1..n-2", f"  {a}[i] = {value}", "end"]
        if k < 0.45: return [f"{a}[1..n-2] = {b}[0..n-3]*0.5 + {c}[2..n-1]"]
        if k < 0.5: return [f"{a}[{r.choice('012k')}] = s + k"]
        if k < 0.55: return [self.new(a, b, c)]
        if k < 0.65: return [f"s += {b}[mod(k*7,n)]"]
        if k < 0.72: return [f"s += {self.name}_f({b}, k)"]
        if k < 0.78: return [f"s = s*0.5 + sum({b})"]
        if k < 0.83: return [f"if s > {r.choice([20, 200])}", f"  {r.choice(['break', 'continue', 's = 1'])}", "end"]
        if k < 0.86: return [f"if mod(k,3) == 2", *[f"  {line}" for line in self.exchange()], "end"]
        return self.exchange() if r.random() < 0.3 else ["s *= 0.5"]

    def text(self):
        r = self.r
        lines = [f"function s = {self.name}_f(v, k)", "  s = v[k]*0.125", "  v[0] = s + k", "end"]
        lines += [f"function [] = {self.name}()", f"  n = {self.n}", "  s = 0"]
        for i, a in enumerate(self.names):
            kind, size = r.choice(["", "", "", "float64", "int"]), r.choice(["n", "n", "n", "n", "n+1"])
            lines.append(f"  {a} = {kind}(mod((0..{size}-1)*{r.choice([7, 37])}+{i},61)*0.0625)")
        if r.random() < 0.2: lines.append(f"  t = {r.choice(['a', '0', 'copy(b)'])}")
        if r.random() < 0.1: lines.append("  b = a")
        on = r.choice(["", "", "a[0] < 9 && ", "b[1] != 5 && ", "sum(a) < 1e5 && ", "numel(c) == n && "])
        begin, end = [("for k = 1..7", []), ("for k = 0..-1..-3", []),
                      (f"k = 0\n    while {on}k < 7", ["      k += 1"]),
                      ("k = 0\n    repeat", ["      k += 1"])][r.choice([0, 0, 0, 0, 1, 2, 2, 3])]
        lines += ["  try", f"    {begin}"]
        for _ in range(r.randint(1, 3)): lines += [f"      {line}" for line in self.statement()]
        exchanges = r.random() < 0.6
        for _ in range(r.choice([1, 1, 1, 2])):
            given = self.exchange() if exchanges else [self.new(*(r.choice(self.names) for _ in "abc"))]
            lines += [f"      {line}" for line in given]
        if r.random() < 0.3: lines += [f"      {line}" for line in self.statement()]
        until = r.choice(["", "a[0] > 9 || ", "sum(b) > 40 || ", "numel(b) > n || "])
        lines += end + [f"    until {until}k > 5" if "repeat" in begin else "    end"]
        lines += ["  catch e_", '    print "caught: ", e_', "  end", '  printf("s %.17g\\n", s)']
        lines += [f"  {r.choice(self.names)}[1] = 1000"]
        if any(line.lstrip().startswith("t =") for line in lines) and r.random() < 0.5:
            lines += ["  try", '    show_all("t", t)', "  catch e_", '    print "no t"', "  end"]
        return lines + [f'  show_all("{a}", {a})' for a in self.names] + ["end", f"{self.name}()"]


class Names:
    """Loops that copy arrays, shift and join them, exchange them and pass them to functions that change elements, so
    that an array has several names, also when an error or `break` ends the loop in the middle."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 3, 5, 34, 40, 150])
        self.names = "abcd"

    def index(self):
        r = self.r
        return r.choice(["0", "n-1", "mod(k,n)", "mod(k*7,n)", "mod(k,n)", "k" if r.random() < 0.2 else "0"])

    def number(self):
        return self.r.choice(["k", "s", "0.1", "2", f"{self.r.choice(self.names)}[{self.index()}]*0.5"])

    def joined(self, b):
        r, x = self.r, self.number()
        x = r.choice([x, f"[{x}]"])
        rest, first = f"{b}[0..n-2]", f"{b}[1..n-1]"
        c = r.choice(self.names)
        return r.choice([f"horzcat({x}, {rest})", f"horzcat({first}, {x})", f"horzcat({b}[1..numel({b})-1], {x})",
                         f"horzcat({x}, {b}[0..n-3], {c}[n-1..n-1])" if self.n > 1 else f"horzcat({x})",
                         f"horzcat({x}, {b})", f"horzcat({b}[2..n-1], [{self.number()},{self.number()}])"])

    def new(self):
        """An array, which has no other name."""
        r, b = self.r, self.r.choice(self.names)
        return r.choice([f"copy({b})", f"copy({b})", f"copy({b})", self.joined(b), self.joined(b),
                         f"circshift({b}, {r.choice(['1', '-1', '2', 'k', '-k*3', 'int(k)', 's', '0'])})",
                         f"{b}*0.5", f"{b} + {self.number()}"])

    def statement(self):
        r, k = self.r, self.r.random()
        a, b, c = (r.choice(self.names) for _ in "abc")
        if k < 0.25: return [f"{a} = {self.new()}"]
        if k < 0.35: return [f"{a} = {b}"]
        if k < 0.42: return r.choice([[f"[{a}, {b}] = [{b}, {a}]"], [f"t = {a}", f"{a} = {b}", f"{b} = t"]])
        if k < 0.52: return [f"{a}[{self.index()}] {r.choice(['=', '+='])} {self.number()}"]
        if k < 0.60: return ["for i = 1..n-2", f"  {a}[i] = {b}[i-1]*0.5 + {c}[i+1]*0.25", "end"]
        if k < 0.66: return [f"s += {self.name}_f({a}, {b}, k)"]
        if k < 0.70: return [f"s += {self.name}_g({a}, k)"]
        if k < 0.73: return [f"{a} = {self.name}_h({b}, k)"]
        if k < 0.80: return [f"s = s*0.5 + max({self.new()})*0.01"]
        if k < 0.85: return [f"s = s*0.5 + max({a}.*{b})*0.01"]
        if k < 0.90: return [f"if s > {r.choice([2, 20])}", f"  {r.choice(['break', 'continue', 's = 1'])}", "end"]
        if k < 0.95: return [f"if mod(k,3) == {r.choice('012')}", *[f"  {line}" for line in self.statement()], "end"]
        return [f"{a} += {r.choice([b, self.number()])}"]

    def text(self):
        r, f = self.r, self.name
        lines = [f"function s = {f}_f(v, w, k)", "  v[0] = k", "  s = w[0]*0.125", "end"]
        lines += [f"function s = {f}_g(v, k)", "  w = copy(v)", "  w[0] = k", "  s = v[0]*0.5 + w[0]", "end"]
        lines += [f"function w = {f}_h(v, k)", f"  w = {r.choice(['copy(v)', 'v', 'v*0.5'])}", "  w[0] = k", "end"]
        lines += [f"function [] = {f}()", f"  n = {self.n}", "  s = 0.5"]
        kinds = r.choice([[""], [""], ["", "float64"], ["int"], ["", "int", "uint8"]])
        for i, a in enumerate(self.names):
            lines.append(f"  {a} = {r.choice(kinds)}(mod((0..n-1)*{r.choice([7, 37])}+{i},61)*0.0625)")
            if i > 1 and r.random() < 0.2: lines[-1:] = ["  if n < 0", lines[-1], "  end"]
        if r.random() < 0.3: lines.append(f"  {r.choice('bcd')} = {r.choice('ab')}")
        lines += ["  try", f"    {r.choice(['for k = 1..7', 'for k = 0..8', 'for k = 5..-1..0'])}"]
        for _ in range(r.randint(1, 5)): lines += [f"      {line}" for line in self.statement()]
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end", '  printf("s %.17g\\n", s)']
        lines += ["  try", f"    {r.choice(self.names)}[0] = 1000", "  catch e_", "    print e_", "  end"]
        for a in self.names:
            if r.random() < 0.2: continue
            lines += ["  try", f'    show_all("{a}", {a})', f"    print type({a})"]
            lines += ["  catch e_", "    print e_", "  end"]
        return lines + ["end", f"{f}()"]


class Slices:
    """Slices of arrays of all element types: rows, windows and blocks of known and unknown length, also of variables
    with an access mode; arithmetic, comparisons and reductions of them, and assignments."""
    KINDS = ["uint8", "uint8", "int8", "uint16", "int16", "int", "uint32", "int64", "float", "float", "float64", "bool"]
    SHAPES = {
        "row": ["A[i,:]", "B[i,:]", "A[i,0..m-1]", "B[{i},m-1..-1..0]", "x", "x[:]", "C[i,0..m-1,1]", "g"],
        "window": ["x[j-r..j+r]", "A[i,j-r..j+r]", "B[{i},j-r..j+r]", "V[i,j-r..j+r]", "h", "C[i,j-r..j+r,{k}]",
                   "v[j-r..j+r]"],
        "near": ["x[j-1..j+1]", "A[i,j-1..j+1]", "B[{i},j-1..j+1]", "V[i,j-1..j+1]", "v[j-1..j+1]",
                 "C[i,j,:]", "C[i,j,0..2]", "w"],
        "block": ["A[i-1..i+1,j-1..j+1]", "B[i-1..i+1,j-1..j+1]", "V[i-1..i+1,j-1..j+1]", "W"],
        "square": ["A[i-r..i+r,j-r..j+r]", "B[i-r..i+r,j-r..j+r]", "V[i-r..i+r,j-r..j+r]", "Q"],
        "cut": ["A[max(i-r,0)..min(i+r,n-1),max(j-1,0)..min(j+1,m-1)]",
                "B[max(i-r,0)..min(i+r,n-1),max(j-1,0)..min(j+1,m-1)]"],
        "clipped": ["A[max(0,i-r)..min(n-1,i+r),max(0,j-r)..min(m-1,j+r)]",
                    "B[max(0,i-r)..min(n-1,i+r),max(0,j-r)..min(m-1,j+r)]"],
        "end": ["x[max(j-r,0)..min(m-1,j+r)]", "A[i,max(j-r,0)..min(m-1,j+r)]", "B[{i},max(0,j-r)..min(j+r,m-1)]"],
        "patch": ["C[i-1..i+1,j-1..j+1,{k}]", "C[{i},j-1..j+1,:]", "C[i-r..i+r,j,0..2]"],
        "strip": ["A[i-1..i+1,:]", "B[0..r,:]", "A[:,j-1..j+1]", "A", "B[:,:]", "C[{i},:,:]"],
    }
    RANGES = {"row": "(0..m-1)", "window": "(j-r..j+r)", "near": "(j-1..j+1)", "end": "(max(j-r,0)..min(m-1,j+r))"}
    MADE = {"row": "d = {e}", "near": "p = {e}", "block": "b = {e}", "square": "b = {e}"}

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n, self.m = (rng.choice([3, 4, 5, 9, 20]) for _ in "nm")

    def slice(self, shape):
        i = self.r.choice(["i", "i", "0", "n-1", "mod(i+j,n)"])
        if self.r.random() < 0.08 and shape in self.RANGES: return self.RANGES[shape]
        return self.r.choice(self.SHAPES[shape]).format(i=i, k=self.r.choice("012"))

    def value(self, shape, d=0):
        r, k = self.r, self.r.random()
        if d > 2 or k < 0.4 or shape in ("patch", "strip") and k < 0.7: return self.slice(shape)
        if k < 0.46: return f"(-{self.value(shape, d + 1)})"
        if k < 0.52: return f"{r.choice(['abs', 'sqrt', 'float', 'float64'])}({self.value(shape, d + 1)})"
        if k < 0.58: return f"{r.choice(['max', 'min'])}({self.value(shape, d + 1)},{self.value(shape, d + 1)})"
        if k < 0.64: return f"({self.value(shape, d + 1)} {r.choice(['<', '<=', '==', '!=', '>'])} {self.number()})"
        if k < 0.68: return f"({self.value(shape, d + 1)} {r.choice(['<', '==', '>='])} {self.value(shape, d + 1)})"
        if k < 0.7: return f"({self.value(shape, d + 1)}.^{r.choice(['2', '3', '0.5'])})"
        if k < 0.8: return f"({self.value(shape, d + 1)} {r.choice('+-*/')} {self.number()})"
        if shape in ("patch", "strip"): return self.slice(shape)
        return f"({self.value(shape, d + 1)} {r.choice(['+', '-', '.*', './'])} {self.value(shape, d + 1)})"

    def number(self):
        return self.r.choice(["2", "0.5", "t", "j", "A[i,j]", "x[j]", "int(3)", "C[i,j,0]", "3", "100", "s"])

    def reduced(self):
        r, shape = self.r, self.r.choice(list(self.SHAPES))
        f = r.choice(["sum", "sum", "sum", "mean", "max", "min", "any", "all", "prod", "norm", "numel", "argmax",
                      "norm1", "squared_norm"])
        if r.random() < 0.08: return f"median(reshape({self.value('block')},{r.choice(['9', '[1,9]', '3*w9'])}))"
        if r.random() < 0.05: return f"median({self.value(r.choice(['near', 'near', 'window']))})"
        reduced = f"{f}({self.value(shape)})"
        return f"{r.choice(['sum', 'max', 'prod', 'any', 'mean'])}({reduced})" if r.random() < 0.1 else reduced

    def masked(self):
        """A reduction of the elements that a mask selects."""
        r, shape = self.r, self.r.choice(list(self.MADE))
        self.made = getattr(self, "made", 0) + 1
        a, f = f"q{self.made}", r.choice(["sum", "sum", "sum", "mean", "max", "min", "any", "all", "prod", "norm",
                                              "numel", "numel", "argmax", "norm1", "logsumexp"])
        other = r.choice([*[self.number() for _ in range(5)], f"abs({a})", self.slice(shape)])
        mask = f"{a} {r.choice(['<', '<=', '==', '!=', '>', '>'])} {other}"
        if r.random() < 0.1: mask = r.choice([a, self.slice(shape), f"!({mask})"])
        if r.random() < 0.15:
            v = r.choice(["z", "z", "v", a])
            chosen = f"{v} {r.choice('<>')} {self.number()}"
            return f"{a} = copy({self.slice('near')})\n      {v}[{chosen}] = {self.number()}"
        use = r.choice([f"y[i,j] = {f}({a}[{mask}])", f"e{a} = {a}[{mask}]\n      y[i,j] = {f}(e{a}) + numel(e{a})",
                        f"t = t*0.5 + {f}({a}[{mask}])"])
        return f"{a} = {self.value(shape, 2)}\n      {use}"

    def statement(self):
        r, k = self.r, self.r.random()
        if k > 0.93: return self.masked()
        if k < 0.3: return f"y[i,j] = {self.reduced()}"
        if k < 0.4: return self.window()
        if k < 0.5: return f"s = {self.reduced()}"
        if k < 0.6:
            shape = r.choice(list(self.MADE))
            use = {"d": ["d[j]", "sum(d)", "max(d)"],
                   "p": ["p[0]+p[1]+p[2]", "sum(p)", "max(p)-min(p)"],
                   "b": ["sum(b)", "mean(b .* b)", "b[0,0]"]}
            made = self.MADE[shape].format(e=self.value(shape, 1))
            return f"{made}\n      y[i,j] = {r.choice(use[made[0]])}"
        if k < 0.75: return f"Z[i,:] {r.choice(['=', '=', '+='])} {self.value('row')}"
        if k < 0.85: return f"z[j-1..j+1] {r.choice(['=', '=', '-='])} {self.value('near')}"
        if k < 0.9: return f"Z[i,:] = {self.number()}"
        if k < 0.94: return f"{r.choice(['v[j-1..j+1]', 'V[i,j-1..j+r]'])} {r.choice(['=', '+='])} {self.number()}"
        return f"t = t*0.5 + {self.reduced()}"

    def window(self):
        """Inner loops over a window, which the ends of the array clip, or which clamp the index."""
        r = self.r
        rows = r.choice(["max(0,i-r)..min(n-1,i+r)", "i-r..i+r", "i..min(i+r,n-1)", "max(i-2,0)..i", "-r..r"])
        columns = r.choice(["max(0,j-r)..min(m-1,j+r)", "j-r..j+r", "min(j+1,m-1)..-1..max(j-1,0)", "-1..1"])
        k = r.choice(["max(0,min(n-1,i+k_))", "min(max(i+k_,0),n-1)"]) if rows == "-r..r" else "k_"
        l = r.choice(["max(min(j+l_,m-1),0)", "mod(j+l_,m)"]) if columns == "-1..1" else "l_"
        e = f"{r.choice('AB')}[{k},{l}]" + r.choice(["", "", "*0.5", "*A[i,j]"])
        step = r.choice([f"w_ += {e}", f"w_ = max(w_, {e})", f"w_ = w_*0.5 + {e}",
                         f"if {e} < w_\n        w_ = k_\n      end"])
        loop = f"for k_ = {rows}\n      for l_ = {columns}\n        {step}\n      end\n      end"
        return f"w_ = {r.choice(['0', '1e9', 'x[j]'])}\n      {loop}\n      y[i,j] = w_"

    def text(self):
        r = self.r
        lines = [f"function [] = {self.name}()", f"  n = {self.n}", f"  m = {self.m}", "  t = 0.5", "  s = 1",
                 "  w9 = 3",
                 f"  r = {r.choice('0112')}"]
        sizes = {"A": "n,m", "B": "n,m", "C": "n,m,3", "x": "m", "Z": "n,m", "z": "m", "g": "m", "h": "(2*r+1)",
                 "w": "3", "W": "3,3", "Q": "(2*r+1),(2*r+1)", "y": "n,m"}
        for a, size in sizes.items():
            kind = r.choice(["float", "float", "float64", "uint8", "int"] if a in "Zzy" else self.KINDS)
            scale = r.choice([7, 37, 61, 7919])
            of = 1 if a in "Zzy" else r.choice([2, 251, 251, 70000])
            value = f"mod(reshape((0..{size.replace(',', '*')}-1)*{scale}+{r.randint(0, 9)},[{size}]),{of})"
            if kind not in ("bool", "uint8") and r.random() < 0.5: value += f" - {r.choice(['3', '60', '0.25'])}"
            lines.append(f"  {a} = {value} > 1" if kind == "bool" else f"  {a} = {kind}({value})")
        mode = r.choice(["clamped", "mirror", "circular", "safe", "reflect"])
        element = r.choice(["", "", "[uint8]", "[int]"])
        lines.append(f"  V : mat{element}'{mode} = {r.choice('AB') if not element else element[1:-1] + '(A)'}")
        mode = r.choice(["clamped", "mirror", "circular", "safe", "reflect"])
        lines.append(f"  v : vec'{mode} = {r.choice(['x', 'float64(z)', 'z'])}")
        outer = r.choice(["1..n-2", "1..n-2", "r..n-1-r", "0..n-1"])
        inner = r.choice(["1..m-2", "2..m-3", "0..m-1"])
        body = [f"      {self.statement()}" for _ in range(r.randint(1, 3))]
        lines += ["  try", f"  for i = {outer}", f"    for j = {inner}", *body, "    end", "  end"]
        lines += ["  catch e_", '    print "caught: ", e_', "  end", '  printf("%.17g %.17g", t, s)']
        lines += [f'  show_mat("{a}", {a})' for a in "yZV"] + [f'  show_all("{a}", {a})' for a in "zv"]
        return lines + ["end", f"{self.name}()"]


class Lists:
    """Loops that append numbers to cells and remove, read, set and go through their items.  The loop may make one."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n, self.lists = rng.choice([1, 5, 9, 40, 300]), ["a", "b"]
        self.kinds = {c: rng.choice(["", "", "", "int", "scalar"]) for c in self.lists}
        self.kinds["c"], self.own = "scalar", rng.random() < 0.3

    def made(self):
        return "c = {" + ",".join(f"scalar({self.value()})" for _ in range(self.r.randint(0, 3))) + "}"

    def value(self):
        r = self.r
        return r.choice(["i", "t", "i*0.5", "mod(i*7,5)", "x[mod(i,7)]", "-0.0", "t+numel(a)", "i-3", self.item()])

    def item(self):
        c, r = r_list(self), self.r
        at = r.choice([f"mod(i,max(numel({c}),1))", f"numel({c})-1", "0", "i", "i/2", f"floor(numel({c})/2)", "2", "t"])
        if r.random() < 0.9: return f"(numel({c}) > {at} && {at} >= 0 ? {c}[{at}] : 2)"
        return f"{c}[{at}]"

    def statement(self):
        c, r, k = r_list(self), self.r, self.r.random()
        kind = self.kinds[c] if r.random() < 0.97 else r.choice(["", "int", "bool"])
        value = f"{kind}({self.value()})"
        if k < 0.35: return r.choice([f"{c}.append({value})", f"append({c}, {value})"])
        if k < 0.55:
            pop = r.choice([f"{c}.pop()", f"pop({c})", f"{c}.pop(0)", f"pop({c}, 0)"])
            pop = r.choice([pop, f"t = t*0.5 + {pop}", f"t = {pop}"])
            return pop if r.random() < 0.05 else f"if numel({c}) > {r.randint(0, 3)}\n  {pop}\nend"
        if k < 0.70: return f"t = t*0.25 + {self.item()}"
        at = r.choice(["mod(i,numel(a))", "numel(b)-1", "0", "i/2"])
        if k < 0.80: return f"if numel({c}) > 0\n  {c}[{at}] {r.choice(['= ' + value, '+= 1', '*= 2'])}\nend"
        if k < 0.88: return f"for v_ = {c}\n  t = t*0.5 + v_\n  if t > 40\n    break\n  end\nend"
        if k < 0.92: return f"while numel({c}) > {r.randint(0, 20)}\n  t = t*0.5 + {c}.pop({r.choice(['', '0'])})\nend"
        grows = f"  if t > 9 && numel({c}) < 90\n    {c}.append(1)\n  end"
        if k < 0.94: return f"for v_ = {c}\n  t = t + v_*0.5\n{grows}\nend"
        if k < 0.97: return f"push({c}, {value})"
        if "c" in self.lists: return self.made()
        return f"t = {self.value()}"

    def text(self):
        r = self.r
        lines = [f"function [] = push(c, v)", "  c.append(v)", "end"] if self.name == "lists0" else []
        lines += [f"function [] = {self.name}()", f"  n = {self.n}", "  t = 0.5", "  x = mod((0..6)*5,7)*0.5"]
        for c in self.lists:
            kind = self.kinds[c]
            items = ",".join(f"{kind}({v})" for v in r.sample(["1", "-2", "0.5", "7"], r.randint(0, 4)))
            lines.append(f"  {c} = {{{items}}}" if r.random() < 0.95 else f'  {c} = {{{items or "1"},"s"}}')
        if r.random() < 0.05: lines.append("  b = a")
        lines += ["  try", f"    for i = {r.choice(['0..n', '0..n', 'n..-1..1', '0..0.5..n/4'])}"]
        if self.own:
            lines.append("      " + self.made())
            self.lists = ["a", "b", "c", "c"]
        for _ in range(r.randint(1, 4)): lines += ["      " + line for line in self.statement().split("\n")]
        self.lists = ["a", "b"]
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end", "  print shown(t)"]
        for c in self.lists:
            lines += [f'  printf("{c} %d %s", numel({c}), type({c}))', f"  for k_ = 0..numel({c})-1",
                      f"    print type({c}[k_]), shown({c}[k_])", "  end"]
        return lines + ["end", f"{self.name}()"]


class Objects:
    """Loops that read and set fields of objects: items of cells, by any index, and variables.  An object may be in
    several cells, several times in one, and in variables."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 2, 5, 9, 30])
        self.objects, self.counters = ["p", "q"], ["i"]

    def index(self, c):
        r, i = self.r, self.r.choice(self.counters)
        inside = f"mod({r.choice([i, i + '*3+1', 'floor(t)', f'numel({c})-1-{i}', 'p.k', i + '/2'])},numel({c}))"
        return r.choice([inside, inside, inside, "0", f"numel({c})-1", i if r.random() < 0.4 else inside, "j_"])

    def object(self):
        r = self.r
        if r.random() < 0.35: return r.choice(self.objects)
        c = r.choice("aab")
        return f"{c}[{self.index(c)}]"

    def number(self, d=0):
        r, k = self.r, self.r.random()
        if k < 0.40: return f"{self.object()}.{r.choice('xxxyyf')}"
        if k < 0.48: return f"{self.object()}.{r.choice('ks')}"
        if k < 0.52: return f"({self.object()}.on ? {self.number(d + 1)} : 2)"
        if k < 0.58: return f"{r.choice(['energy', 'weigh'])}({self.object()}, {r.choice(['t', '2', 'int(3)'])})"
        if k < 0.61: return f"{self.object()}.energy(0.5)"
        if k < 0.65: return f"d[mod({r.choice(self.counters)},2)].w"
        op = r.choice(["+", "-", "*", " > "])
        if k < 0.85 and d < 3: return f"({self.number(d + 1)}{op}{self.number(d + 1)}*0.25)"
        return r.choice(["t", "0.5", "1", "-0.0", "int(7)", "300", "n", *self.counters])

    def statement(self, depth):
        r, k, o = self.r, self.r.random(), self.object()
        if k < 0.30: return [f"{o}.{r.choice('xxyf')} {r.choice(['=', '+=', '-=', '*='])} {self.number()}*0.5"]
        if k < 0.42:
            value = r.choice(['1', 'int(2)', self.number()])
            return [f"{o}.{r.choice(['k', 's', 's'])} {r.choice(['=', '+='])} {value}"]
        if k < 0.47: return [f"{o}.on = {r.choice(['t > 1', o + '.x', '!' + o + '.on', self.number() + ' < 1'])}"]
        if k < 0.52: return [f"{r.choice(['kick', 'kick', 'restart'])}({o}, {self.number()})"]
        if k < 0.55: return [f"{o}.kick({self.number()})"]
        if k < 0.60: return [f"p = {o}"] if r.random() < 0.5 else [f"if {self.number()} > 1", f"  q = {o}", "end"]
        if k < 0.66:
            return [f"if {o}.x {r.choice(['<', '>'])} p.x", f"  p = {o}", "else", f"  {self.object()}.y += 1", "end"]
        if k < 0.80 and depth < 2:
            c, v = r.choice("ab"), f"o{depth}"
            head, counter = f"for {v} in {c}", None
            if r.random() < 0.5: head, counter = f"for {v} = 0..{r.choice([f'numel({c})-1', '2', 'numel(b)-1'])}", v
            (self.counters if counter else self.objects).append(v)
            body = [line for _ in range(r.randint(1, 3)) for line in self.statement(depth + 1)]
            (self.counters if counter else self.objects).remove(v)
            return [head, *("  " + line for line in body), "end"]
        if k < 0.82: return [f"a[{self.index('a')}] = {o}"]
        return [f"t = t*0.5 + {self.number()}*0.25"]

    def text(self):
        r = self.r
        lines = OBJECTS.splitlines() if self.name == "objects0" else []
        lines += [f"function [] = {self.name}()", f"  n = {self.n}", "  t = 0.5", "  j_ = 1", "  a = cell(n)"]
        lines += ["  for i = 0..n-1", "    a[i] = body(x:=i*0.5-1, y:=mod(i*7,5), k:=i, s:=i*9, f:=1/(i+1))", "  end"]
        share = ["a[0]", "a[numel(a)-1]", "body(x:=2)", "body(y:=-1, on:=true)", "a[mod(3,n)]"]
        lines.append(f"  b = {{{','.join(r.choice(share) for _ in range(r.randint(1, 4)))}}}")
        change = ["  b = a", "  a[0] = b[0]", '  b[0] = "s"', "  b[0] = still(w:=1)", "  a[n-1] = a[0]"]
        if r.random() < 0.2: lines.append(r.choice(change))
        lines += ["  d = {still(w:=3), still(w:=0.5)}"]
        lines += [f"  {v} = {r.choice(share + ['b[0]', '2'] if r.random() < 0.1 else share)}" for v in "pq"]
        lines += ["  try", f"    for i = {r.choice(['0..n-1', '0..n-1', '0..12', 'n..-1..1', '0..0.5..n/4'])}"]
        if r.random() < 0.3: lines[-1] = f"    for p in {r.choice('ab')}"
        if " p in " in lines[-1]: self.counters = ["j_"]
        for _ in range(r.randint(1, 4)): lines += ["      " + line for line in self.statement(0)]
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end", "  print shown(t)"]
        for c in "ab":
            lines += [f"  for k_ = 0..numel({c})-1", f"    show_body({c}[k_])", "  end"]
        return lines + ["  show_body(p)", "  show_body(q)", "end", f"{self.name}()"]


class Made(Objects):
    """Loops that make objects, also in functions and branches; several variables may hold one."""

    def made(self):
        r = self.r
        number = lambda: self.number(2)
        fields = r.sample([f"x:={number()}", f"y:={number()}*0.5", f"f:={number()}", "k:=int(i)", f"s:={number()}",
                           f"on:={number()} > 1", "k:=n"], r.randint(0, 4))
        if r.random() < 0.2: fields = [number(), *(f for f in fields if f[0] != "x")]
        return r.choice([f"body({', '.join(fields)})", f"body({', '.join(fields)})", f"copy({self.object()})",
                         f"made({self.object()}, {number()})", f"either({self.object()}, {self.object()}, t)"])

    def statement(self, depth):
        r, k, p = self.r, self.r.random(), self.r.choice("pqow")
        if k < 0.3: return [f"{p} = {self.made()}"]
        if k < 0.4: return [f"if {self.number()} > {r.choice('012')}", f"  {p} = {self.made()}", "end"]
        if k < 0.5: return [f"{p} = {r.choice('pqow')}"]
        if k < 0.55: return [f"[{p}, q] = [q, {p}]"]
        if k < 0.6: return [f"t = {r.choice(['energy', 'weigh'])}({self.made()}, 0.5)"]
        if k < 0.65: return [f"t = t*0.5 + twice({self.object()}, {self.made()})"]
        if k < 0.7 and depth < 2: return [f"for j{depth} = 1..3", *self.statement(depth + 1), "end"]
        if k < 0.73: return [f"if t > {r.choice([5, 50])}", f"  {r.choice(['break', 'continue', 't = 1'])}", "end"]
        if k < 0.75: return [f"t += x[floor(abs({self.object()}.y))]*0.5"]
        return super().statement(depth)

    def text(self):
        r = self.r
        self.objects, self.counters = ["p", "q", "o", "w"], ["i"]
        lines = MADE.splitlines() if self.name == "made0" else []
        lines += [f"function [] = {self.name}()", f"  n = {self.n}", "  t = 0.5", "  j_ = 1", "  x = (0..30)*0.25"]
        lines += ["  a = {body(x:=1), body(y:=2), body(k:=3)}", "  b = {a[1], body(x:=-1)}"]
        lines += ["  d = {still(w:=3), still()}"]
        lines += [f"  {v} = {r.choice(['a[0]', 'b[1]', 'body(x:=2)', 'body()'])}" for v in "pqo"]
        lines += ["  w = p"] if r.random() < 0.7 else ["  if n < 0", "    w = p", "  end"]
        lines += ["  try", f"    for i = {r.choice(['0..n-1', '0..12', '0..600', 'n..-1..1', '0..0.5..n/4'])}"]
        for _ in range(r.randint(1, 5)): lines += ["      " + line for line in self.statement(0)]
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end", "  print shown(t)"]
        lines += ["  try", "    w.x = 77", "    p.y = 5", "  catch e_", '    print "caught: ", e_', "  end"]
        lines += ["  for k_ = 0..2", "    show_body(a[k_])", "  end", "  show_body(b[1])"]
        for v in "pqow": lines += ["  try", f"    show_body({v})", "  catch e_", "    print e_", "  end"]
        return lines + ["end", f"{self.name}()"]


class Points:
    """Loops that read the elements of short vectors in cells, by any index and in turn."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.m, self.n = rng.choice([1, 2, 2, 3, 3, 7]), rng.choice([1, 4, 9, 30])
        self.vectors, self.counters = ["q", "v"], ["i"]

    def at(self):
        r, i = self.r, self.r.choice(self.counters)
        return r.choice([f"mod({i},n)", f"mod({i}*3+1,n)", "0", i if r.random() < 0.2 else "n-1", f"mod({i}/2,n)"])

    def vector(self, d=0):
        r, k = self.r, self.r.random()
        if k < 0.45: return f"{r.choice(['a', 'a', 'b'])}[{self.at()}]"
        if k < 0.65 or d > 2: return r.choice(self.vectors)
        if k < 0.72: return f"half({self.vector(d + 1)})"
        if k < 0.76: return f"copy({self.vector(d + 1)})"
        return f"({self.vector(d + 1)}{r.choice('+-')}{r.choice([self.vector(d + 1), '0.5', 't'])}*0.5)"

    def number(self):
        r, k = self.r, self.r.random()
        e = r.choice(["0", "m-1", f"mod({r.choice(self.counters)},m)", "1" if r.random() < 0.3 else "0"])
        if k < 0.5: return f"{r.choice(['a', 'b'])}[{self.at()}][{e}]"
        if k < 0.6: return f"{r.choice(self.vectors)}[{e}]"
        if k < 0.8: return f"{r.choice(['sum', 'max', 'norm'])}({self.vector()})"
        return r.choice(["t", "0.5", *self.counters])

    def statement(self, depth):
        r, k = self.r, self.r.random()
        if k < 0.25: return [f"t = t*0.5 + {self.number()}"]
        if k < 0.35: return [f"x[mod({r.choice(self.counters)},7)] += {self.number()}*0.5"]
        if k < 0.55: return [f"{r.choice('qv')} = {self.vector()}"]
        if k < 0.63: return [f"{r.choice('qv')} {r.choice(['+=', '-='])} {self.vector()}*0.25"]
        if k < 0.70: return [f"{r.choice('qv')}[0] {r.choice(['=', '+='])} {self.number()}"]
        if k < 0.72: return [f"a[{self.at()}]{r.choice(['', '[0]'])} = {r.choice(['q', 'v', 't'])}"]
        if k < 0.76: return [f"if {self.number()} > t", *("  " + line for line in self.statement(depth)), "end"]
        if k > 0.92 or depth > 1: return [f"t = {self.number()}"]
        name, item = f"k{depth}", r.random() < 0.5
        (self.vectors if item else self.counters).append(name)
        body = [line for _ in range(r.randint(1, 3)) for line in self.statement(depth + 1)]
        (self.vectors if item else self.counters).remove(name)
        return [f"for {name} {'in b' if item else '= 0..n-1'}", *("  " + line for line in body), "end"]

    def text(self):
        r = self.r
        kind = lambda: r.choice(["", "", "float64"])
        lines = ["function y = half(x)", "  y = x*0.5", "end"] if self.name == "points0" else []
        lines += [f"function [] = {self.name}()", f"  n = {self.n}", f"  m = {self.m}", "  t = 0.5"]
        lines += ["  x = mod((0..6)*5,7)*0.5", "  a = cell(n)"]
        lines += ["  for i = 0..n-1", f"    a[i] = {kind()}(mod((0..m-1)*{r.choice([3, 5])}+i*7,11)*0.375-1)", "  end"]
        other = [f"{kind()}((1..m)*{r.choice(['0.5', '1/3', '-2'])})", "a[0]", "a[n-1]"]
        lines.append(f"  b = {{{','.join(r.choice(other) for _ in range(r.randint(1, 4)))}}}")
        lines += [f"  {v} = {r.choice(['zeros(m)', '(0..m-1)*0.5', 'a[0]' if r.random() < 0.3 else 'zeros(m)'])}"
                  for v in "qv"]
        if r.random() < 0.2: lines.append(r.choice(["  x = b[0]", "  b[0] = [1,2,3,4]", "  b = a", '  b[0] = "s"']))
        lines += ["  try", f"    for i = {r.choice(['0..n-1', '0..n', '0..12', 'n-1..-1..0', '0..0.5..n/4'])}"]
        if r.random() < 0.3: lines[-1], self.counters = f"    for {r.choice(['p', 'q'])} in {r.choice('ab')}", ["t"]
        for _ in range(r.randint(1, 4)): lines += ["      " + line for line in self.statement(0)]
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end", "  print shown(t)"]
        for v in ["x"] + (["q"] if r.random() < 0.5 else []) + (["v"] if r.random() < 0.3 else []):
            lines += ["  try", f"    {v}[0] += 1", "  catch e_", "    print e_", "  end", f"  show_item({v})"]
        for c in "ab": lines += [f"  for k_ = 0..numel({c})-1", f"    show_item({c}[k_])", "  end"]
        return lines + ["end", f"{self.name}()"]


class Shared:
    """Functions whose array parameters may be one array, of any type, and whose slices may stay unread."""
    TYPES = ["", "", "float64", "int", "uint8", "int16", "int64", "uint32"]
    NUMBERS = ["2", "-1", "0.5", "int(3)", "int(2^31)", "-int(2^40)", "nan_", "true"]

    def __init__(self, rng, name):
        self.r, self.name = rng, name

    def statement(self):
        r = self.r
        a, b = (r.choice("ab") for _ in range(2))
        at = [f"mod(i{r.choice(['', '+1', '+2', '*2'])},5)" for _ in range(2)]
        first = r.choice(["0", "1", "mod(i,3)"])
        return r.choice([
            [f"v = {a} {r.choice(['+', '-', '.*'])} {r.choice(['k', 'k', b, 'i'])}"],
            [f"w = {a}[{first}..{first}+2] {r.choice(['+', '-', '.*'])} {r.choice(['k', b + '[2..-1..0]'])}"],
            [f"y += v[{at[0]}]"], ["y += sum(w)"], [f"y = max(y, {a}[{at[0]}])"], ["y += numel(v)"],
            [f"{a}[{at[0]}] = {b}[{at[1]}]"], [f"{a}[{at[0]}] {r.choice(['+=', '-='])} {r.choice(['k', b + '[0]'])}"],
            [f"{a}[0..2] = {b}[{first}..{first}+2]"], [f"{a}[4..-2..0] = {b}[0..2]"],
            [f"if {a}[{at[0]}] < {b}[{at[1]}]", f"  t = {a}[{at[0]}]", f"  {a}[{at[0]}] = {b}[{at[1]}]",
             f"  {b}[{at[1]}] = t", "end"]])

    def text(self):
        r, lines = self.r, [f"function y = {self.name}(a, b, k)", "  y = 0", "  v = a", "  w = b"]
        lines.append(f"  for i = {r.choice(['0..4', '4..-1..0', '0..12', '1..0', '0..2..9'])}")
        for _ in range(r.randint(1, 5)): lines += ["    " + line for line in self.statement()]
        lines += ["  end", "end"]
        for _ in range(3):
            x, z = (f"{r.choice(self.TYPES)}([{','.join(r.choice('0123479') for _ in range(5))}])" for _ in range(2))
            lines += [f"x_ = {x}", f"z_ = {r.choice(['x_', z])}", "try",
                      f"  print {self.name}(x_, z_, {r.choice(self.NUMBERS)}), x_, z_",
                      "catch e_", "  print e_", "end"]
        return lines


OBJECTS = """function e = energy(o : body, w)
  e = o.x*o.x*w + o.y
end
function e = weigh(o, w)
  e = o.on ? o.k*w : o.x
end
function [] = kick(o : body, v)
  o.y += v
  o.k += 1
end
function [] = restart(o, v)
  if o.x > v
    return
  end
  o.x = 0
  o.on = v
end
function [] = show_body(o)
  if type(o) == "body"
    printf("%.17g %.17g %.17g %d %d", o.x, o.y, o.f, o.k, o.s)
    print type(o.k), type(o.s), type(o.on), type(o.x), o.on
  else
    print o
  end
end"""


class Counts:
    """Counts and flags whose variables begin as ints, numbers or truth values, or have a declared type, which they may
    leave: in nested loops, in `while`, with constants between, read as indices, and with other values now and then."""
    TYPES = ["bool", "bool", "scalar", "float64", "float32", "int8", "int8", "uint8", "uint8", "int16", "int", "uint32",
             "int64"]
    STARTS = ["0", "0", "100", "-3", "126", "127", "255", "-128", "32760", "2147483600", "int(0)", "false"]

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([0, 3, 9, 40, 300])
        self.types = {v: rng.choice(self.TYPES) if rng.random() < 0.6 else "" for v in "abc"}

    def constant(self):
        return self.r.choice(["0", "1", "-5", "int(7)", "120", "true", "1000", "-0.0"])

    def condition(self):
        r = self.r
        return r.choice(["x[mod(k,7)] > 0.5", "p", "!p", "p && x[mod(k,7)] < 0.8", "mod(k,3) == 1", "q != 0",
                         "v[mod(k,5)] > 100", f"{r.choice('abc')} < {r.choice(['5', '90', '126', 'k'])}"])

    def step(self):
        r, v = self.r, self.r.choice("abc")
        by = r.choice(["1", "1", "1", "2", "3", "int(1)", "v[mod(k,5)]", "30", "true", "p", "q", "0.5", "x[mod(k,7)]"])
        return r.choice([f"{v} += {by}", f"{v} += {by}", f"{v} -= {by}", f"{v} = {v} + {by}", f"{v} = {by} + {v}",
                         f"{v} = {v} - {by}"])

    def statement(self, depth):
        r, v, k = self.r, self.r.choice("abc"), self.r.random()
        if k < 0.35: return [self.step()]
        if k < 0.45: return [r.choice(["p", "q"]) + r.choice([" = x[mod(k,7)] > 0.5", " = !p", " = 1", " = 0", " = p"])]
        if k < 0.55: return [f"{v} = {self.constant()}"]
        if k < 0.60:
            return [f"{v} = {r.choice(['b - a', 'max(a,b)', 'xor(int(k), 9)', 'floor(c/2)', 'and(a,15)', 'k'])}"]
        if k < 0.68: return [f"y[mod({v},9)] += {r.choice(['1', v, 'p'])}"]
        inner = lambda: ["  " + line for line in self.statement(depth + 1)]
        if k < 0.86 or depth > 1:
            more = ["else", *(["  " + self.step()] if depth > 1 else inner())] if r.random() < 0.3 else []
            return [f"if {self.condition()}", *(["  " + self.step()] if depth > 1 else inner()), *more, "end"]
        j, last = f"j{depth}", r.choice(["2", "k", "7", "numel(x)-1"])
        start = [f"  {v} = {self.constant()}"] if r.random() < 0.2 else []
        if r.random() < 0.7: return [f"for {j} = {r.choice(['0', '1', 'k'])}..{last}", *start, *inner(), "end"]
        return [f"{j} = 0", f"while {j} < {last}", f"  {j} += 1", *inner(), "end"]

    def text(self):
        r, lines = self.r, [f"function [] = {self.name}(n, x, v, a0, b0, c0)", "  y = zeros(9)"]
        lines += ["  p = false", "  q = 0"]
        for w in "abc": lines.append(f"  {w}{' : ' * (self.types[w] != '') + self.types[w]} = {w}0")
        lines.append(f"  for k = {r.choice(['0..n-1', '0..n-1', 'n..-1..1', '0..2..n'])}")
        for w in "abc":
            if r.random() < 0.15: lines.append(f"    {w} = {self.constant()}")
        for _ in range(r.randint(1, 4)): lines += ["    " + line for line in self.statement(0)]
        lines += ["  end", '  printf("%.17g %s %.17g %s", a, type(a), b, type(b))',
                  '  printf("%.17g %s %d %d %s", c, type(c), p, q, type(q))', '  show_all("y", y)', "end"]
        for _ in range(3):
            starts = ", ".join(r.choice(self.STARTS[:3] if r.random() < 0.6 else self.STARTS) for _ in "abc")
            lines += ["try", f"  {self.name}({self.n}, mod((0..6)*5,7)/7, uint8(mod((0..4)*53,256)), {starts})",
                      "catch e_", "  print e_", "end"]
        return lines


MADE = """function r = made(o : body, v)
  r = body(x:=o.y*0.5, y:=v)
  r.k = o.k
end
function r : body = either(o, q, v)
  r = o
  if v > 1
    r = body(x:=q.x, y:=2.0)
    return
  end
  o.y += 0.25
end
function t = twice(o, q)
  t = o.x*0.5 + q.y
  q.x = 3
  o.x -= 0.5
end"""


class Pairs:
    """Loops that append short vectors to cells, remove, read and change them; arrays may be in cells and variables."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 4, 9, 40])

    def number(self):
        r, c = self.r, self.r.choice("ab")
        return r.choice(["i", "t", "i*0.5", "x[mod(i,7)]", "1/3", "q[1]", f"numel({c})", self.item() + "[0]",
                         "16777217" if r.random() < 0.1 else "3"])

    def item(self):
        r, c = self.r, self.r.choice("aabc")
        at = r.choice([f"numel({c})-1", "0", f"mod(i,max(numel({c}),1))"])
        return f"{c}[{at}]"

    def vector(self):
        r = self.r
        return r.choice(["[t,i]", "[i,2]", f"[{self.number()},{self.number()}]", "q", "q", "p", "p + [1,i]", "v",
                         "copy(v)", "copy(q)", "v*0.5", "q + x[0..1]", self.item() if r.random() < 0.2 else "[1,2]"])

    def statement(self, depth=0):
        r, k, c = self.r, self.r.random(), self.r.choice("aabc")
        if k < 0.3: return [r.choice([f"{c}.append({self.vector()})", f"append({c}, {self.vector()})"])]
        if k < 0.5:
            pop = r.choice([f"{c}.pop()", f"pop({c})", f"{c}.pop(0)", f"pop({c}, 0)"])
            pop = r.choice([f"p = {pop}", f"p = {pop}", f"q = {pop}", pop])
            return [pop] if r.random() < 0.05 else [f"if numel({c}) > {r.randint(0, 2)}", f"  {pop}", "end"]
        if k < 0.62: return [f"q = {self.vector()}"]
        if k < 0.7: return [f"if numel({c}) > 0", f"  t = t*0.5 + {c}[numel({c})-1][{r.choice('01')}]", "end"]
        if k < 0.77:
            change = f"  {c}[0][{r.choice('01')}] {r.choice(['=', '+='])} {self.number()}"
            return [f"if numel({c}) > 1", change, "end"]
        if k < 0.8: return [f"if numel({c}) > 1", f"  {c}[mod(i,2)] = {self.vector()}", "end"]
        if k < 0.84: return [f"{r.choice('qv')}[0] {r.choice(['=', '+='])} {self.number()}"]
        if k < 0.88: return [f"for v_ in {c}", "  t = t*0.5 + v_[1]", "end"]
        if k < 0.93 and depth < 2: return [f"if t > {r.choice('0159')}", *self.statement(depth + 1), "end"]
        return ["t = t*0.5 + sum(p)"]

    def text(self):
        r = self.r
        lines = [f"function [] = {self.name}()", f"  n = {self.n}", "  t = 0.5", "  x = mod((0..6)*5,7)*0.5"]
        kind = r.choice(["", "", "float64"])
        lines += [f"  v = {kind}([1,2])", f"  w = {r.choice(['v', '[3,4]'])}", "  p = [0.5,1]", "  q = [7,8]"]
        lists = ["{}", "{}", "{w}", f"{{{kind}([1,2]),w}}", "{[1,2],[3,4],[5,6]}", "{w,w}", "{[1,2,3]}"]
        lines += [f"  {c} = {r.choice(lists)}" for c in "ab"] + ["  c = {}"]
        lines += ["  try", f"    for i = {r.choice(['0..n', '0..n', '0..60', '0..0.5..n/4'])}"]
        if r.random() < 0.3: lines.append(f"      c = {{{r.choice(['', '[i,1]', '[i,1],[t,2]', '1'])}}}")
        for _ in range(r.randint(1, 4)): lines += ["      " + line for line in self.statement()]
        lines += ["    end", "  catch e_", '    print "caught: ", e_', "  end", "  print shown(t)"]
        lines += [f"  {r.choice('vw')}[0] = 1000"]
        if r.random() < 0.3: lines += [f"  {r.choice('pq')}[1] = 2000"]
        for c in "ab" if "      c = " in "".join(lines) else "abc":
            lines += [f"  if numel({c}) > 0", f"    {c}[0][0] += 5", "  end", f"  for k_ = 0..numel({c})-1",
                      f"    show_item({c}[k_])", "  end"]
        return lines + ["end", f"{self.name}()"]


class Smalls:
    """Functions of small matrices and vectors: inverses, systems, determinants, cross products, sums along a side."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 2, 2, 3, 3, 4, 5])

    def number(self):
        return self.r.choice(["i", "i*0.25", "s", "1", "2", "0", "-0.5", "x[i]", "x[i]", "x[mod(i*3,9)]", "0.1", "1/3",
                              "3", "s*0.5"] + ["16777217", "-0.0", "nan_", "inf", "1e-30"] * (self.r.random() < 0.1))

    def list(self, n):
        return f"[{','.join(self.number() for _ in range(n))}]"

    def along(self, x, dim):
        f = self.r.choice(["sum", "sum", "mean", "prod", "norm1", "logsumexp", "argmin", "argmax"])
        return f"{f}({x}, {dim})"

    def vector(self, d=0):
        r, k = self.r, self.r.random()
        if d > 2 or k < 0.33: return r.choice(["u", "v", self.list(self.n)])
        if k < 0.37 and self.n == 3: return f"cross({self.vector(d + 1)}, {self.vector(d + 1)})"
        if k < 0.4: return self.along(self.matrix(d + 1) if r.random() < 0.8 else self.vector(d + 1), 0)
        if k < 0.5: return f"({self.vector(d + 1)} {r.choice('+-')} {self.vector(d + 1)})"
        if k < 0.6: return f"({self.vector(d + 1)}*{self.number()})"
        if k < 0.7: return f"({self.vector(d + 1)}*{self.matrix(d + 1)})"
        return f"transpose({self.column(d + 1)})"

    def column(self, d=0):
        r, k = self.r, self.r.random()
        if d > 2 or k < 0.35: return r.choice(["c", "C", f"transpose({self.vector(2)})"])
        if k < 0.4: return self.along(self.matrix(d + 1), 1)
        if k < 0.6: return f"({self.matrix(d + 1)}*{self.column(d + 1)})"
        return f"{r.choice(['solve', 'linsolve'])}({self.matrix(d + 1)}, {self.column(d + 1)})"

    def matrix(self, d=0):
        r, k = self.r, self.r.random()
        if d > 2 or k < 0.35:
            rows = ",".join(self.list(self.n) for _ in range(self.n)) if self.n > 1 else self.number()
            return r.choice(["M", "N", "A", "B", f"eye({self.n})", f"[{rows}]"])
        if k < 0.5: return f"inv({self.matrix(d + 1)})"
        if k < 0.6: return f"solve({self.matrix(d + 1)}, {self.matrix(d + 1)})"
        if k < 0.7: return f"transpose({self.matrix(d + 1)})"
        if k < 0.8: return f"({self.matrix(d + 1)}*{self.number()})"
        return f"({self.matrix(d + 1)} {r.choice('+-*')} {self.matrix(d + 1)})"

    def statement(self):
        r, k = self.r, self.r.random()
        if k < 0.25: return f"s = s*0.5 + {r.choice(['det', 'det', 'trace'])}({self.matrix()})"
        if k < 0.45: return f"{r.choice('MN')} = {self.matrix()}"
        if k < 0.55: return f"c = {self.column()}"
        if k < 0.65: return f"{r.choice('uv')} = {self.vector()}"
        if k < 0.7: return f"s = {r.choice(['M', 'N'])}[0,{self.n - 1}]"
        if k < 0.75: return f"s = {r.choice(['u', 'v'])}[{self.n - 1}]"
        if k < 0.8: return f"M[0,{self.n - 1}] {r.choice(['=', '+='])} {self.number()}"
        return f"y[i,:] = {self.vector()}"

    def text(self):
        r, n = self.r, self.n
        kind = lambda: r.choice(["", "", "float64"])
        square = lambda: f"(mod(reshape((0..{n * n - 1})*{r.choice([7, 37, 61])}+{r.randint(0, 9)},[{n},{n}]),17)*0.25)"
        row = lambda: f"(mod((0..{n - 1})*{r.choice([7, 37])}+{r.randint(0, 9)},17)*0.25)"
        lines = [f"function [] = {self.name}()", "  s = 0.5", "  x = mod((0..8)*7,11)*0.375 - 1"]
        lines += [f"  {a} = {kind()}({square()} + 3*eye({n}))" for a in "ABMN"]
        lines += [f"  {a} = {kind()}({row()})" for a in "uv"]
        lines += [f"  {a} = {kind()}(transpose{row()})" for a in "cC"]
        lines += [f"  y = zeros(9,{n})", "  try", "    for i = 0..8"]
        body = [f"      {self.statement()}" for _ in range(r.randint(1, 4))]
        near = "~" if any("] += " in line for line in body) else ""  # chunks of a loop may add to one element
        lines += body + ["    end", "  catch e_", '    print "caught: ", e_', "  end"]
        lines += [f'  printf("{near}s %.17g\\n", s)']
        lines += [f'  show_mat("{near}{a}", {a})' for a in "MNcy"] + [f'  show_all("{near}{a}", {a})' for a in "uv"]
        lines += [f"  print type({a}), size({a})" for a in "MNcuv"]
        return lines + ["end", f"{self.name}()"]


class Rare:
    """Loops whose iterations are independent, except that some reach a statement for the interpreter or an error.  Sums
    are exact."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.n = rng.choice([1, 5, 40, 64, 65, 130, 300, 700])

    def number(self):
        return self.r.choice(["x[i]", "x[i]", "x[i]*2 + 1", "abs(x[i])", "i", "v", "w", "count", "k[i]", "y[i]", "2"])

    def condition(self):
        r = self.r
        rare = r.randint(1, max(self.n // r.choice([1, 2, 3, 9]), 2))
        return r.choice([f"x[i] > {r.choice([5, 7, 7.25, 7.5])}", f"mod(i, {rare}) == {rare - 1}", "mod(i, m) == m - 1",
                         f"k[i] == {r.randint(0, 60)}", f"k[i] == 3 && count < {r.randint(1, 3)}", "v > 14",
                         "y[i] > 15", "x[i]*w > 7"])

    def branch(self):
        r, s = self.r, []
        change = lambda: r.choice(["count += 1", "count += 1", "w += 0.5", "s -= 1", "y[i] = -1", "v = 3", "last = i"])
        if r.random() < 0.4: s.append(change())
        s.append(r.choice(['print "at ", i', 'print i, " ", s', 'print "y ", y[i], " v ", v', 'error("rare")',
                           'error(f"rare {x[i]} at {i}")', 't = numel(sprintf("%g", x[i]))',
                           "try\n error(3)\n catch q_\n count += 1\n end"]))
        if r.random() < 0.5: s.append(change())
        if r.random() < 0.15:
            s.append(r.choice(["i += 1\n continue" if self.counts else "continue", "break", "return"]))
        return [f"if {self.condition()}", *s, "end"]

    def statement(self):
        r = self.r
        if r.random() < 0.06: return 'assert(x[i] < 7.5, f"x[{i}] is {x[i]}")'
        return r.choice([f"y[i] = {self.number()}", f"y[i] = {self.number()}", f"x[i] = {self.number()}*0.5",
                         f"s += {r.choice(['x[i]', 'k[i]', '1'])}", f"best = max(best, {self.number()})",
                         f"v = {self.number()}", "h[mod(i, 5)] += x[i]", f"if x[i] < 2\n v = {self.number()}\n end"])

    def text(self):
        r = self.r
        body = [self.statement() for _ in range(r.randint(1, 3))]
        head = r.choice(["for i = 0..n-1"]*4 + ["for i = n-1..-1..0", "for i = 0..3..n-1", "for [i, j] = 0..[n-1, 2]",
                                                "for i = 0..n-1\nfor j = 0..1", "while i < n"])
        self.counts = head[0] == "w"
        for _ in range(r.choice([1, 1, 2])):
            at = r.randint(0, len(body))
            body[at:at] = self.branch()
        if self.counts: body.append("i += 1")
        lines = [f"function [] = {self.name}(m)", f"n = {self.n}", f"x = mod((0..n)*{r.choice([7, 37])}, 61)*0.125",
                 "k = int32(x*8)", "y = zeros(n+1)", "h = zeros(5)",
                 "[s, v, w, t, count, last, best] = [0, 1, 1, 0, 0, -1, 0]", "i = 0", "try", head, *body,
                 *["end"]*(1 + head.count("\n")), "catch e_", 'print "caught: ", e_', "end",
                 'print s, " ", v, " ", w, " ", t, " ", count, " ", last, " ", best, " ", i',
                 'show_all("x", x)', 'show_all("y", y)', 'show_all("h", h)', "end"]
        return lines + [f"{self.name}({r.choice([3, 40, 1000])})"]


class Bounds:
    """Indices from floats and ints, which conditions limit; some are outside, infinite or not numbers."""
    VALUES = ("-2.5 -2 -1.5 -1 -0.5 -0.25 0 0.25 0.5 0.99999994 1 1.5 2 2.5 3 3.5 3.9999998 4 4.0000005 4.5 5 5.5 6 "
              "6.5 6.9999999 7 8 1e9 -1e9 3e9 1e19 -1e19 inf -inf nan").split()
    KINDS = ["x[k]", "floor(x[k])", "int(x[k])", "int(floor(x[k]))", "round(x[k])", "x[k]*0.5 + 1", "ceil(x[k])",
             "trunc(x[k])", "int(k) - 3", "k - 3", "cos(0.25)*(k-3) - 0.5",
             "x[k]*(1-2^-52)"]
    LOW = ["i >= 0", "0 <= i", "i > 0", "i >= 1", "i > -1", "i >= 0.5", "i >= -1", "!(i < 0)", "1 < i", "i >= 2"]
    HIGH = ["i < n", "i < n-1", "i <= n-1", "i < numel(y)-1", "n > i", "i < n-2", "i+1 < n", "i <= n-2", "i < n+1",
            "i < 5", "!(i >= n-1)"]
    OFFSETS = ["", "", "+1", "-1", "+2", "-2", "+0.5", "+int(1)", "-int(1)"]

    def __init__(self, rng, name):
        self.r, self.name = rng, name

    def text(self):
        r, name = self.r, self.name
        low, high, offset = r.choice(self.LOW), r.choice(self.HIGH), r.choice(self.OFFSETS)
        outside = f"i < {r.choice('01')} || i >= n{r.choice(['', '-1', '-2'])}"
        rounded = r.choice(["", "", "floor", "trunc", "int", "round"])
        use = f"z[k] = y[{rounded}(i{offset})] + y[i{r.choice(['', '+1', '-1'])}]"
        lines, body = r.choice([
            ([], [f"if {low} && {high}", use, "end"]), ([], [f"if {high} && {low}", use, "end"]),
            ([], [f"if {low}", f"if {high}", use, "end", "end"]),
            ([], [f"if !({low}) || !({high})", "continue", "end", use]),
            ([], [f"if {outside}", "z[k] = -1", "continue", "end", use]),
            ([f"function v = {name}_f(y, i, n)", f"if {outside}", "v = 7", "return", "end",
              f"v = y[{rounded}(i{offset})]", "end"],
             [f"z[k] = {name}_f(y, i, n)"])])
        sizes, kind = r.choice(["7", "7", "6", "8", "int(7)"]), r.choice(["", "float64"])
        return [*lines, f"function [] = {name}(x, y, z, n)", "for k = 0..numel(x)-1", f"i = {r.choice(self.KINDS)}",
                *body, "end", "end", f"function [] = {name}_all(v)", "for s = 0..numel(v)", "z = zeros(numel(v))",
                "try", f"{name}(s == numel(v) ? v : {kind}(v[s..s]), 10 + (0..6), z, {sizes})", "catch e_",
                'print "caught: ", e_', "end", 'printf("%d %.9g %.9g", s, sum(z), max(z))', "end", "end",
                f"{name}_all([{','.join(self.VALUES)}])"]


class Splits:
    """Inner loops with conditions on their counters, which split them; sums with wide integers wrap around."""
    MOVING = ["k", "k", "k", "-k", "i-k", "k-i", "k+i", "n-1-k", "k+a", "k+p", "p-k", "k-p", "k+p+p"]
    SHARED = ["0", "i", "i", "n", "n-1", "a", "b", "q", "p", "i-1", "a+i", "-1", "3", "i+p", "-q", "e[i]", "x[0]"]
    RANGES = ["0..n-1", "0..n-1", "-a..b", "0..m", "n-1..-1..0", "b..-1..-a", "i..n-1", "0..i", "p-1..p+9", "q-9..q+1",
              "0..2..n"]
    SAFE = ["mod(k,n)", "mod(k+i,n)", "i"]

    def __init__(self, rng, name):
        self.r, self.name = rng, name

    def condition(self, depth=0):
        r, k = self.r, self.r.random()
        if depth < 2 and k < 0.35: return f"{self.condition(depth + 1)} {r.choice(['&&', '||'])} {self.condition(2)}"
        if depth < 2 and k < 0.45: return f"!({self.condition(depth + 1)})"
        sides = [r.choice(self.MOVING), r.choice(COMPARE), r.choice(self.SHARED)]
        return " ".join(sides if r.random() < 0.8 else reversed(sides))

    def body(self):
        r = self.r
        c, safe = self.condition(), r.random() < 0.8
        at = [r.choice(self.SAFE if safe else ["k", "i-k", "k+i", "k+a", "n-1-k"]) for _ in range(3)]
        use = r.choice([f"s += x[{at[0]}]", f"s = s*0.5 + x[{at[0]}]", f"z[{at[1]}] += x[{at[0]}]*e[i]",
                        f"z[{at[1]}] = x[{at[0]}] - k", "w += 1", f"s = max(s, x[{at[0]}])", f"s -= x[{at[0]}]*k"])
        other = r.choice(["w += 2", f"s += 3*x[{at[2]}]", f"z[{at[1]}] = -1"])
        return r.choice([
            [f"if {c}", use, "end"], [f"if {c}", use, "end"], [f"if {c}", use, "end", other],
            [f"if {c}", use, "else", other, "end"], ["last = k", f"if {c}", use, "end"],
            [f"if {c}", "continue", "end", use], [f"if {c}", "break", "end", use],
            [other, f"if {c}", use, "break", "end"],
            [f"t = x[{at[0]}]", f"if {c}", f"t = max(t, e[{at[2]}])", "end", f"z[{at[1]}] = t"],
            [f"s += {c} ? x[{at[0]}] : 0"], [f"if ({c}) && x[{at[0]}] > 2", use, "end"],
            [f"if {c}", f"if {self.condition()}", use, "end", other, "end"],
            [f"if {c}", use, "end", f"if {self.condition()}", other, "end"]])

    def text(self):
        r, name = self.r, self.name
        kinds = ["int", "float64", "", "int"]
        values = [f"{r.choice(kinds)}({r.choice(['0', '1', '2', '5', '9', '40'])})" for _ in range(2)]
        values += [r.choice(["0", "int(2)", "7", "2.5", "nan_", *WIDE, *(f"int({k})" for k in WIDE)]) for _ in range(2)]
        n, kind = r.choice([1, 2, 5, 9, 33, 70]), r.choice(["", "float64", "int"])
        return [f"function [] = {name}(x, e, z, a, b, p, q, m)", "n = numel(x)", "s = 0", "v = 0", "w = 0",
                "last = -7", "try",
                "for i = 0..n-1", *([r.choice(["s = 0", "z[i] = 0"])] if r.random() < 0.6 else []),
                f"for k = {r.choice(self.RANGES)}", *self.body(), "end", *(["e[i] = s"] if r.random() < 0.2 else []),
                "v += s*(i+1)", "end", "catch e_", 'print "caught: ", e_', "end",
                "print shown(v)", 'printf("%.17g %.17g %.17g", w, last, sum(z.*(1..numel(z))))', "end",
                f"{name}({kind}(mod((0..{n}-1)*7, 11)), {r.choice(['int', 'float64'])}(mod((0..{n}-1)*5, 13) - 3), "
                f"zeros(1, {n}), {', '.join(values)}, {n + r.choice([-1, 0, 7])})"]


class Windows:
    """Loops over windows around a position, with conditions that hold, or fail, at most positions."""

    def __init__(self, rng, name):
        self.r, self.name = rng, name

    def condition(self):
        r = self.r
        inside = ["j+d >= 0", "j+d < n", "i+d >= 0", "i+d < m", "i+c >= 0", "i+c <= m-1", "j-c > -1", "j-c < n"]
        outside = ["j+d < 0", "j+d >= n", "i+c < 0", "i+c > m-1", "n <= j-c", "j+d+p < p", "j+d+p >= n+p", "i-d < 0"]
        other = ["j+d < q", "j+d > 2", "d >= 0", "j+d == n-1", "j+d+p < n+p", "j+d < m", "i+d <= q", "q+d <= j"]
        some, between = r.choice([(inside, "&&"), (inside, "&&"), (outside, "||"), (other + inside, "&&"),
                                  (other, "||")])
        text = f" {between} ".join(r.sample(some, r.choice([1, 2, 2, 3, 4])))
        return f"!({text})" if r.random() < 0.2 else text

    def text(self):
        r, name = self.r, self.name
        at = r.choice(["mod(i+c,m),mod(j+d,n)"]*3 + ["i+c,j+d", "i,j+d"])
        use = r.choice([f"s += x[{at}]", f"s = max(s, x[{at}])", f"s += x[{at}]*d", "s += 1", f"s = 0.5*s + x[{at}]"])
        body = r.choice([["if C", use, "end"], ["if C", use, "end"], ["if C", "continue", "end", use],
                         ["if C", use, "else", "s -= 2", "end"], ["if C", "if D", use, "end", "end", "s += 1"]])
        ends = [r.choice(["0", "1", "2", "3", "r"]) for _ in range(4)]
        wide = [r.choice(["0", "3", "int(1)", *(f"int({k})" for k in WIDE)]) for _ in range(2)]
        sizes = r.choice(["[1,1]", "[2,9]", "[7,40]", "[30,33]", "[3,200]"])
        return [f"function [] = {name}(x, y, p, q, r)", "[m, n] = size(x)", "try",
                f"for i = {r.choice('001')}..m-{r.choice('112')}", f"for j = {r.choice('001')}..n-{r.choice('112')}",
                "s = 0", f"for c = -{ends[0]}..{ends[1]}", f"for d = -{ends[2]}..{ends[3]}",
                *(t.replace("C", self.condition()).replace("D", self.condition()) for t in body), "end", "end",
                "y[i,j] = s", "end", "end", "catch e_", 'print "caught: ", e_', "end",
                'show_mat("y", y)', "end",
                f"{name}(mod(reshape((0..numel(zeros({sizes}))-1)*7, {sizes}), 11), zeros({sizes}), {', '.join(wide)}, "
                f"{r.choice(['0', '1', '4'])})"]


def r_list(case):
    return case.r.choice(case.lists)


HEAD = """nan_ = 0/0
function s = digits(k)
  s = 0
  w = 0
  while k > 0 && w < 20
    s += mod(k, 10)
    k = floor(k/10)
    w += 1
  end
end
function k = halve(k)
  w = 0
  while mod(k, 2) == 0 && w < 70
    k = k/2
    w += 1
  end
end
type thing : mutable class
  x : scalar
  k
  v
  z
end
type body : mutable class
  x : scalar
  y : scalar
  f : float64
  k : int
  s : int8
  on : bool
end
type still : class
  w : scalar
end
shown = x -> type(x) == "string" ? x : sprintf("%.17g", x)
function [] = show_item(x)
  if type(x) == "string" || type(x) == "scalar"
    print shown(x)
  else
    show_all(type(x), x)
  end
end
function [] = show_all(name, a)
  printf("%s", name)
  for q_=0..numel(a)-1
    printf(" %.17g", a[q_])
  end
  print ""
end
function [] = show_mat(name, a)
  printf("%s", name)
  for p_=0..size(a,0)-1
    for q_=0..size(a,1)-1
      printf(" %.17g", a[p_,q_])
    end
  end
  print ""
end"""


def program(seed):
    rng = random.Random(seed)
    lines = [HEAD]
    for k in range(6): lines += Case(rng, f"c{k}").text()
    for k in range(3): lines += Nest(rng, f"nest{k}").text()
    for k in range(2): lines += Sums(rng, f"sums{k}").text()
    for k in range(3): lines += Bounds(rng, f"bounds{k}").text()
    for k in range(4): lines += Splits(rng, f"splits{k}").text()
    for k in range(4): lines += Windows(rng, f"windows{k}").text()
    for k in range(3): lines += Rows(rng, f"rows{k}").text()
    for k in range(6): lines += Integers(rng, f"ints{k}").text()
    for k in range(6): lines += Shifts(rng, f"shifts{k}").text()
    for k in range(8): lines += Exchanges(rng, f"exchanges{k}").text()
    for k in range(3): lines += Steps(rng, f"steps{k}").text()
    for k in range(6): lines += Names(rng, f"names{k}").text()
    for k in range(8): lines += Slices(rng, f"slices{k}").text()
    for k in range(6): lines += Lists(rng, f"lists{k}").text()
    for k in range(8): lines += Objects(rng, f"objects{k}").text()
    for k in range(8): lines += Counts(rng, f"counts{k}").text()
    for k in range(6): lines += Pairs(rng, f"pairs{k}").text()
    for k in range(6): lines += Made(rng, f"made{k}").text()
    for k in range(8): lines += Smalls(rng, f"smalls{k}").text()
    for k in range(8): lines += Points(rng, f"points{k}").text()
    for k in range(5): lines += Shared(rng, f"shared{k}").text()
    for k in range(8): lines += Rare(rng, f"rare{k}").text()
    return "\n".join(lines) + "\n"


# -- running -----------------------------------------------------------------------------------------------------------
def close(a, b):
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a == b
    zeros = x == 0 and y == 0 # of which the sign counts
    return a == b or not zeros and abs(x - y) <= 1e-5 * max(abs(x), abs(y), 1)


def check(args, folder, seed):
    return compare(args, folder, "loops", seed, program(seed), close)


def main():
    args = options(__doc__, seconds=20).parse_args()
    return all_seeds(args, check, "with loops give what the interpreter gives")


if __name__ == "__main__":
    sys.exit(main())
