#!/usr/bin/env python3
"""Random programs of array expressions: every way to run them gives the results of single operators.

    tests/arrays.py [--qrun build/qrun] [--device cpu --device ref] [--keep FOLDER] [first seed [how many]]

Each program is written twice.  In the plain form expressions become kernels (--loops always), are computed in place and
reuse what nobody needs any more.  In the other every operator stands alone, its result has a name, and a cell holds all
arrays at every moment, so none of that can happen.  Values are dyadic and small, so that nearly all results are exact
and must be equal; what is not (lines with ~) may differ in its last digits."""
import os, random, re, sys

from programs import all_seeds, difference, options, run, write

FLOATS, INTS = ["scalar", "scalar", "float64"], ["uint8", "int8", "int16", "uint16", "int", "uint32", "int64"]
CAUGHT = ["catch e_", '  print "caught: ", e_', "end"]
COMPARE = ["<", "<=", ">", ">=", "==", "!="]
LIMIT = 2.0**20  # of an exact value; its last bit is FINE or more
FINE = 2.0**-3
INEXACT = """{0}./3; sqrt(abs({0})); exp(-abs({0})); sin({0}); 1./{0}; log({0}); atan({0}); ({0}).^2; ({0}).^0.5; {0}./0
isnan({0}./0); max({0}./0, 1); complex({0},1); abs(complex({0},3)); int({0}./0); uint8({0}*1e9); sign({0}./0)
exp(complex({0},1)); {0}.*2j-1; complex({0},1).*(3-{0}*1j)./complex(2,{0}); (complex(1,{0})+{0}).^2
angle(complex({0},2)); conj(complex({0},2)).*{0}; real(-complex({0},2)); imag(complex({0},2)*1j)
complex({0},1)==complex(1,{0}); sum(abs(complex({0},1)))
{0} - mean({0},0); {0}./(1+sum(abs({0}),1)); max(abs({0}),[],0) - {0}; sum({0}.*{0},2) + {0}; {0} - sum({0} + 1,1)
exp({0}-max({0},[],1))./sum(exp({0}-max({0},[],1)),1); sum(({0}-mean({0},0)).^2,0); min({0}.*2,[],2) + sum({0},2)
mean({0}.*{0},0) - 1; sum(0.5*{0},1).*{0}; sum({0} > 1,0) + {0}; max({0} + 0.25,[],1)./2
({0}).^1.5; ({0}).^(-2.5); sum(1./(1+abs({0}))); mean(sqrt(abs({0}))); max({0}.*{0})""".replace("\n", "; ").split("; ")


class E:
    """An expression: its text, what it is made of, and what is known of its value."""

    def __init__(self, form, parts, shape, bound, step, kind="scalar"):
        self.form, self.parts, self.shape, self.bound, self.step, self.kind = form, parts, shape, bound, step, kind

    def plain(self):
        return self.form.format(*[p.plain() for p in self.parts])

    def exact(self):
        return self.step and self.bound <= LIMIT and self.step >= FINE


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.alone, self.vars, self.fresh = [], [], {}, 0
        self.n = self.r.choice([1, 2, 3, 4, 7, 16, 33])
        self.m = self.r.choice([1, 2, 3, 5])
        self.shapes = [(self.n,), (self.m, self.n), (self.m, 1), (1,), ()]
        if self.r.random() < 0.3: self.shapes += [(2, self.m, self.n), (1, 1, self.n), (2, self.m)]
        if self.r.random() < 0.1: self.shapes += [(self.m, 0), (0,)]

    # -- text ------------------------------------------------------------------------------------------------------
    def put(self, plain, alone):
        self.lines += plain if isinstance(plain, list) else [plain]
        self.alone += alone if isinstance(alone, list) else [alone]

    def new(self, prefix):
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def steps(self, e, out):
        """e one operator at a time; the name of its value."""
        if not e.parts: return e.form
        if e.form == "({0} ? {1} : {2})": # only the side that is chosen is computed
            t = self.new("t")
            c, a, b = self.steps(e.parts[0], out), [], []
            x, y = self.steps(e.parts[1], a), self.steps(e.parts[2], b)
            out += [f"if {c}", *a, f"{t} = {x}", "else", *b, f"{t} = {y}", "end", f"kept_ = {{kept_,{t}}}"]
            return t
        names = [self.steps(p, out) for p in e.parts]
        t = self.new("t")
        out += ["try", f"  {t} = {e.form.format(*names)}", f"  kept_ = {{kept_,{t}}}", *CAUGHT]
        return t

    # -- expressions -----------------------------------------------------------------------------------------------
    def joined(self, a, b):
        """The shape of two that meet, or None."""
        if not a or not b: return a or b
        a, b = (1,) * (len(a) == 1) + a, (1,) * (len(b) == 1) + b
        n = max(len(a), len(b))
        a, b = a + (1,) * (n - len(a)), b + (1,) * (n - len(b))
        if any(x != y and 1 not in (x, y) for x, y in zip(a, b)): return None
        return self.normal([y if x == 1 else x for x, y in zip(a, b)])

    def normal(self, s):
        s = list(s)
        while len(s) > 2 and s[-1] == 1: s.pop()
        return tuple(s[1:]) if len(s) == 2 and s[0] == 1 else tuple(s)

    def span(self, n):
        """A range of indices into n elements, and how many it has."""
        r = self.r
        a, b, step = r.randrange(n), r.randrange(n), r.choice([1, 1, 1, 2, 3, -1, -1, -2])
        a, b = (min(a, b), max(a, b)) if step > 0 else (max(a, b), min(a, b))
        return f"{a}..{b}" if step == 1 else f"{a}..{step}..{b}", abs(b - a) // abs(step) + 1

    def literal(self):
        v = self.r.choice("0 1 2 3 0.5 1.5 4 10 0.25 100 255 int(3) int(-2) true".split())
        bound = abs(float(re.sub(r"int\(|\)", "", v).replace("true", "1")))
        return E(v, [], (), bound, 0.25 if "." in v else 1.0)

    def leaf(self):
        r, k = self.r, self.r.random()
        if k < 0.2 or not self.vars: return self.literal()
        v = r.choice(list(self.vars))
        shape, bound, step, kind = self.vars[v]
        here = E(v, [], shape, bound, step, kind)
        if k < 0.62 or not shape: return here
        if k < 0.68: return E(f"float({v})", [], shape, bound, step)
        return self.part(here)

    def part(self, e):
        """Some of the elements of a variable."""
        r, s, v, known = self.r, e.shape, e.form, (e.bound, e.step, e.kind)
        if s and 0 not in s and r.random() < 0.25:
            by = [r.randint(-3, 3) for d in range(max(2, len(s)))]
            if len(s) == 1: by[0] = 0
            return E(f"circshift({v},{by})" if r.random() < 0.7 else f"circshift({v},{by[1]},1)", [], s, *known)
        if len(s) == 1:
            n = s[0]
            k = r.randint(0, 7)
            if n == 0 or k == 0: return E(f"{v}[:]", [], s, *known)
            if k == 1: return E(f"{v}[{r.randrange(n)}]", [], (), *known)
            if k == 2: return E(f"{v}[{n - 1}..-1..0]", [], s, *known)
            if k == 3: return E(f"transpose({v})", [], (n, 1) if n > 1 else (1,), *known)
            if k == 4: return E(f"{v}[mod((0..{self.n - 1})*{r.randint(1, 3)},{n})]", [], (self.n,), *known)
            if k == 5:
                at, count = self.span(n)
                return E(f"{v}[{at}]", [], (count,), *known)
            if k == 6 and n > 1: return E(f"{v}[0..2..{n - 1}]", [], ((n + 1) // 2,), *known)
            return E(f"flip({v},1)", [], s, *known)
        if len(s) == 2 and 0 not in s:
            m, n = s
            k = r.randint(0, 8)
            if k > 5:
                (rows, a), (columns, b) = (self.span(m) if r.random() < 0.7 else (":", m)), self.span(n)
                part, shape = f"{v}[{rows},{columns}]", self.normal((a, b))
                if r.random() < 0.2: part, shape = f"reshape({part},[1,{a},{b}])", (1, a, b)
                elif r.random() < 0.1: part, shape = f"squeeze({part})", self.normal([1, a] if b == 1 else [a, b])
                return E(part, [], shape, *known)
            if k == 0: return E(f"{v}[{r.randrange(m)},:]", [], (n,), *known)
            if k == 1: return E(f"{v}[:,{r.randrange(n)}]", [], (m, 1) if m > 1 else (1,), *known)
            if k == 2: return E(f"{v}[{m - 1}..-1..0,:]", [], self.joined(s, ()), *known)
            if k == 3: return E(f"transpose(transpose({v}))", [], s, *known)
            if k == 4: return E(f"{v}[{r.randrange(m)},{r.randrange(n)}]", [], (), *known)
            return E(f"reshape({v},[1,{m * n}])", [], (m * n,), *known)
        if len(s) == 3 and 0 not in s:
            if r.random() < 0.3: return E(f"{v}[:,{r.randrange(s[1])},:]", [], None, *known)
            if r.random() < 0.5: return E(f"{v}[:,:,{r.randrange(s[2])}]", [], self.normal(s[:2]), *known)
            if r.random() < 0.4:
                i, (at, count) = r.randrange(s[0]), self.span(s[1])
                form = f"reshape({{}}, [{count},{s[2]}])" if r.random() < 0.6 or 1 in (count, s[2]) else "squeeze({})"
                return E(form.format(f"{v}[{i},{at},:]"), [], self.normal((count, s[2])), *known)
            at, count = self.span(s[1])
            return E(f"{v}[:,{at},:]", [], self.normal((s[0], count, s[2])), *known)
        return e

    def expr(self, d=0):
        for _ in range(20):
            e = self.attempt(d)
            if e.shape is not None and e.exact(): return e
        return self.literal()

    def attempt(self, d):
        r, k = self.r, self.r.random()
        if d > 4 or k < 0.12: return self.leaf()
        a = self.expr(d + 1)
        if k < 0.60:
            b = self.expr(d + 1)
            op = r.choice(["+", "-", ".*", "+", "-", ".*", "*"])
            if op == "*" and a.shape and b.shape: op = ".*"
            bound = a.bound * b.bound if "*" in op else a.bound + b.bound
            step = a.step * b.step if "*" in op else min(a.step, b.step)
            return E("({0} %s {1})" % op, [a, b], self.joined(a.shape, b.shape), bound, step)
        if k < 0.64: return E("(-{0})", [a], a.shape, a.bound, a.step)
        if k < 0.68: return E("({0}./%d)" % 2, [a], a.shape, a.bound, a.step / 2)
        if k < 0.74:
            b = self.expr(d + 1)
            return E("({0} %s {1})" % r.choice(COMPARE), [a, b], self.joined(a.shape, b.shape), 1, 1.0, "bool")
        if k < 0.79:
            b = self.expr(d + 1)
            return E("%s({0},{1})" % r.choice(["min", "max"]), [a, b], self.joined(a.shape, b.shape),
                     max(a.bound, b.bound), min(a.step, b.step))
        if k < 0.88:
            f = r.choice(["abs", "floor", "ceil", "round", "trunc", "sign", "frac"])
            return E(f + "({0})", [a], a.shape, a.bound + 1, a.step if f in ("abs", "frac") else 1.0)
        if k < 0.885:
            x = r.choice(["2", "1", "0"])
            return E("pow({0},%s)" % x, [a], a.shape, a.bound ** int(x) + 1, min(1.0, a.step ** int(x)))
        if k < 0.895:
            b = self.expr(d + 1)
            parts = [E("({0} %s %s)" % (r.choice(COMPARE), r.choice("0 1 2.5".split())), [x], x.shape, 1, 1.0, "bool")
                     for x in (a, b)]
            if r.random() < 0.2: parts[0] = E("(!{0})", [parts[0]], parts[0].shape, 1, 1.0, "bool")
            return E("({0} %s {1})" % r.choice(["&&", "||"]), parts, self.joined(a.shape, b.shape), 1, 1.0, "bool")
        if k < 0.90:
            if not a.shape or 0 in a.shape: return self.leaf()
            s, axis = (1,) * (len(a.shape) == 1) + a.shape, r.randrange(max(2, len(a.shape)))
            shape = self.normal([1 if i == axis else x for i, x in enumerate(s)])
            f = r.choice(["sum({0},%d)", "min({0},[],%d)", "max({0},[],%d)", "sum({0},%d)"]) % axis
            return E(f, [a], shape, a.bound * s[axis], a.step)
        if k < 0.91: return E("mod({0},%s)" % r.choice(["2", "3", "8", "0.5", "-4"]), [a], a.shape, 8, min(a.step, 0.5))
        if k < 0.93:
            limits = r.choice(["2", "-1,3", "0,255"])
            return E("clamp({0},%s)" % limits, [a], a.shape, 255 + a.bound, min(1.0, a.step))
        if k < 0.94: return E("saturate({0})", [a], a.shape, 1, min(1.0, a.step))
        if k < 0.955:
            b, c = self.expr(d + 1), self.expr(d + 1)
            shape = self.joined(b.shape, c.shape)
            shape = shape if shape is None else self.joined(a.shape, shape)
            if shape is None or all(x == 1 for x in a.shape): return self.leaf()
            condition = E("({0} > %s)" % r.choice(["0", "1", "2.5"]), [a], a.shape, 1, 1.0, "bool")
            form = r.choice(["({0} ? {1} : ({2}))", "where({0},{1},{2})"])
            return E(form, [condition, b, c], shape, max(b.bound, c.bound), min(b.step, c.step))
        if k < 0.965:
            b, c = self.expr(d + 2), self.expr(d + 2)
            if b.shape != c.shape: return self.leaf()
            t = "1" if a.shape else "0"
            return E("({0} ? {1} : {2})", [E("(sum({0}) > %s)" % t, [a], (), 1, 1.0), b, c], b.shape,
                     max(b.bound, c.bound), min(b.step, c.step))
        if k < 0.98:
            t = r.choice(FLOATS + INTS)
            whole = t not in FLOATS
            return E(f"{'float' if t == 'scalar' else t}({{0}})", [a], a.shape, a.bound, 1.0 if whole else a.step, t)
        n = 1
        for x in a.shape: n *= x
        return E("sum({0})", [a], (), a.bound * n, a.step)

    # -- statements ------------------------------------------------------------------------------------------------
    def guarded(self, plain, alone):
        wrap = lambda lines: ["try", *["  " + l for l in lines], *CAUGHT]
        self.put(wrap(plain), wrap(alone))

    def fitted(self, e):
        """e within what variables hold: no larger than 16, in quarters."""
        if e.bound > 64: e = E("mod({0},64)", [e], e.shape, 64, min(e.step, 1.0))
        if e.step < 0.25: e = E("floor({0})", [e], e.shape, e.bound + 1, 1.0)
        return e

    def assign(self):
        r = self.r
        e = self.fitted(self.expr())
        old = [v for v in self.vars if self.vars[v][0] == e.shape]
        v = r.choice(old) if old and r.random() < 0.7 else self.new("x")
        pre = []
        t = self.steps(e, pre)
        if v not in self.vars: self.put(f"{v} = 0", f"{v} = 0") # in case the next step fails
        self.guarded([f"{v} = {e.plain()}"], pre + [f"{v} = {t}"])
        self.vars[v] = (e.shape, e.bound, e.step, e.kind)

    def together(self):
        """Consecutive statements, which may become one kernel.  Some of their variables are not read any more."""
        r, plain, alone, mine = self.r, [], [], []
        for _ in range(r.randint(2, 4)):
            e, v = self.fitted(self.expr(1)), r.choice(mine) if mine and r.random() < 0.2 else self.new("x")
            pre = []
            name = self.steps(e, pre)
            plain.append(f"{v} = {e.plain()}")
            alone += pre + [f"{v} = {name}"]
            mine.append(v)
            self.vars[v] = (e.shape, e.bound, e.step, e.kind)
        for v in sorted(set(mine)):
            if r.random() < 0.5: del self.vars[v]
            else: self.put(f"{v} = 0", f"{v} = 0") # in case a statement fails
        self.guarded(plain, alone)

    def along_lines(self):
        """Statements with reductions along a dimension, whose values take long to compute and are read again."""
        r, known = self.r, [v for v in self.vars if len(self.vars[v][0]) > 1 and 0 not in self.vars[v][0]]
        if not known: return self.together()
        of, axis, mine, plain, alone = r.choice(known), r.randrange(2), [], [], []
        var = lambda: E(r.choice([of] + mine * 2), [], None, 0, 0)
        for k in range(r.randint(1, 3)):
            total = r.choice(["max({0},[],%d)", "mean({0},%d)", "sum({0},%d)", "min({0},[],%d)"]) % axis
            form = r.choice(["({0} - {1})", "({0} + {1})", "{0}./(1 + abs({1}))"])
            inner = E(form, [var(), E(total, [var()], None, 0, 0)], None, 0, 0)
            costly = r.choice(["exp(-abs({0}))", "atan({0})", "sqrt(abs({0}))", "float64({0})", "{0}.*2"])
            e, v = E(costly, [inner], None, 0, 0), r.choice(mine) if mine and r.random() < 0.2 else self.new("x")
            pre = []
            name = self.steps(e, pre)
            plain.append(f"{v} = {e.plain()}")
            alone += pre + [f"{v} = {name}"]
            mine.append(v)
        e, pre = E(f"{{0}}./(1 + sum({{1}},{axis}))", [var(), var()], None, 0, 0), []
        name = self.steps(e, pre)
        plain.append(f'last_ = {e.plain()}')
        alone += pre + [f'last_ = {name}']
        for v in ["last_"] + [v for v in sorted(set(mine)) if r.random() < 0.4]:
            for lines in (plain, alone): lines.append(f'show("~", {v})')
        self.guarded(plain, alone)

    def changes(self):
        """Consecutive statements over arrays of one shape, which mostly become one kernel.  Some of them change arrays,
        which may have several names."""
        r, (m, n), kind = self.r, (self.m, self.n), self.r.choice(["scalar", "scalar", "float64", "int"])
        mine, masks, plain, alone = [self.new("x") for _ in range(r.randint(2, 4))], [], [], []
        for k, v in enumerate(mine):
            text = f"{v} = {'float' if kind == 'scalar' else kind}(mod(pattern({m},{n})*{k + 3}, 16)) - 8"
            if k and r.random() < 0.15: text = f"{v} = {mine[0]}"
            self.put(text, text)
            self.vars[v] = ((m, n), 64, 1.0, kind)
        stretched = [self.new("x"), self.new("x")]
        for v, shape in zip(stretched, (f"1,{n}", f"{m},1")):
            self.put(*[f"{v} = float(pattern({shape})) - 8"] * 2)
        var = lambda: E(r.choice(mine), [], None, 0, 0)
        number = lambda: E(r.choice(["0.5", "2", "-1", "3"]), [], None, 0, 0)
        row = lambda: E(r.choice(stretched), [], None, 0, 0)
        leaf = r.choice([lambda: r.choice([var, var, number])(), lambda: r.choice([var, var, number, row])()])
        def value(d=0):
            if d > 2: return leaf()
            sub = lambda: value(d + 1) if r.random() < 0.4 else leaf()
            form = r.choice(["({0} + {1})", "({0} - {1})", "({0}.*{1})", "max({0},{1})", "({0} > {1} ? {0} : {1})"])
            return E(form, [var(), sub()] if form[0] == "m" or "?" in form else [sub(), var()], None, 0, 0)
        lines = [f"near_ = {r.choice(['0.5', '2'])}", "lambda_ = v -> v.*near_ + max(v, near_)"]
        if r.random() < 0.3: lines += ["near_ = 4"] # the lambda keeps the old value
        if r.random() < 0.3: lines += ["lambda_ = v -> (v > 0 ? v : near_*v) - 1"]
        self.put(lines, lines)
        for _ in range(r.randint(2, 6)):
            pre, k, v = [], r.random(), r.choice(mine)
            e = value()
            calls = ["lambda_({0})", "blend({0},{1})", "blend({1},{0})"]
            if r.random() < 0.4: e = E(r.choice(calls), [e, leaf()], None, 0, 0)
            if k < 0.25:
                w = self.new("t") if r.random() < 0.6 else v
                name = self.steps(e, pre)
                plain.append(f"{w} = {e.plain()}")
                alone += pre + [f"{w} = {name}"]
                if w != v: mine.append(w)
            elif k < 0.35:
                e = E("({0} %s {1})" % r.choice(COMPARE), [var(), leaf()], None, 0, 0)
                masks.append(self.new("m"))
                name = self.steps(e, pre)
                plain.append(f"{masks[-1]} = {e.plain()}")
                alone += pre + [f"{masks[-1]} = {name}"]
            elif k < 0.65:
                op, name = r.choice(["+=", "-=", ".*="]), self.steps(e, pre)
                plain.append(f"{v} {op} {e.plain()}")
                alone += pre + [f"{v} {op} {name}"]
            else:
                mask = E("({0} %s {1})" % r.choice(COMPARE), [var(), leaf()], None, 0, 0)
                if masks and r.random() < 0.6: mask = E(r.choice(masks), [], None, 0, 0)
                chosen = E("{0}[{1}]", [r.choice([var(), value(1)]), mask], None, 0, 0)
                form = r.choice(["{0}", "2", "{0}.*2 + 1", "-{0}"])
                e = E("(" + form + ")", [chosen], None, 0, 0) if "0" in form else number()
                op, name, at = r.choice(["=", "=", "+=", ".*="]), self.steps(e, pre), self.steps(mask, pre)
                plain.append(f"{v}[{mask.plain()}] {op} {e.plain()}")
                alone += pre + [f"{v}[{at}] {op} {name}"]
        for form in r.sample(["sum({0})", "max({0} + {1})", "{0}.*{1}", "mean(({0} - {1}).^2)", "sum({0},1)"], 2):
            calls = [E(r.choice(["lambda_({0})", "blend({0},{1})"]), [var(), leaf()], None, 0, 0), leaf()]
            e, pre = E(form, calls, None, 0, 0), []
            name = self.steps(e, pre)
            plain.append(f'show("~", {e.plain()})')
            alone += pre + [f'show("~", {name})']
        self.guarded(plain, alone)
        for v in list(self.vars):
            if v in mine and r.random() < 0.4: del self.vars[v]
        self.normalise()

    def target(self):
        """A variable, an index into it, and the shape that it selects."""
        r = self.r
        names = [v for v in self.vars if self.vars[v][0] and 0 not in self.vars[v][0]]
        if not names: return None
        v = r.choice(names)
        s = self.vars[v][0]
        k = r.random()
        if k < 0.3: return v, "", s
        if k < 0.4: return v, "[" + ",".join([":"] * len(s)) + "]", s
        if k < 0.5: return v, f"[{v} {r.choice(COMPARE)} {r.choice(['0', '1', '2.5'])}]", ()
        if len(s) == 1:
            at, count = self.span(s[0])
            return v, r.choice([(f"[{at}]", (count,)), (f"[{r.randrange(s[0])}]", ())])
        if len(s) == 2:
            a, b = r.randrange(s[0]), r.randrange(s[1])
            (rows, m), (columns, n) = self.span(s[0]), self.span(s[1])
            part, stripe = (f"[{rows},{columns}]", self.normal((m, n))), (f"[:,{columns}]", self.normal((s[0], n)))
            return v, r.choice([(f"[{a},:]", (s[1],)), (f"[:,{b}]", (s[0], 1)), (f"[{a},{b}]", ()), part, stripe])
        return v, f"[{r.randrange(2)},:,:]", s[1:]

    def update(self):
        t = self.target()
        if not t: return self.assign()
        v, at, shape = (t[0], *t[1]) if len(t) == 2 else t
        op = self.r.choice(["=", "+=", "-=", ".*=", "="]) if at else self.r.choice(["+=", "-=", ".*="])
        for _ in range(30):
            e = self.fitted(self.expr(1))
            if e.shape == () or e.shape == shape: break
        else: e = self.literal()
        pre = []
        name = self.steps(e, pre)
        self.guarded([f"{v}{at} {op} {e.plain()}"], pre + [f"{v}{at} {op} {name}"])
        self.normalise()

    def masked(self):
        """An assignment by a mask, with a value that is made of elements of the same mask, or a reduction of it."""
        r, known = self.r, [v for v in self.vars if self.vars[v][0] and 0 not in self.vars[v][0]]
        if not known: return self.assign()
        v = r.choice(known)
        alike = [w for w in known if self.vars[w][0] == self.vars[v][0] or r.random() < 0.05]
        var = lambda: E(r.choice(alike or [v]), [], None, 0, 0)
        number = lambda: E(r.choice(["0", "1", "2.5", "-3", "int(2)", "100", "1j", "true"]), [], (), 0, 0)
        mask = E(f"({{0}} {r.choice(COMPARE)} {{1}})", [var(), r.choice([var, number, number])()], None, 0, 0)
        if r.random() < 0.3:
            other = E(f"({{0}} {r.choice(COMPARE)} {{1}})", [var(), number()], None, 0, 0)
            mask = E(r.choice(["({0} && {1})", "({0} || !{1})"]), [mask, other], None, 0, 0)
        whole = lambda: E(r.choice(["({0} + {1})", "({0}.*{1})", "(-{0})", "where({0} > {1}, {0}, {1})"]),
                          [var(), r.choice([var, number])()], None, 0, 0)
        named = len({self.vars[w][0] for w in alike}) > 1 # messages about other shapes name the variable
        chosen = lambda: E("{0}[{1}]", [var() if named or r.random() < 0.7 else whole(), mask], None, 0, 0)
        form = r.choice(["{0}", "{1}", "{1}*{0}", "{0} + {2}", "-{0}", "abs({0}).*{2}", "min({0}, {1})",
                         "{0}.*{2} - {1}", "{0}./4", "({0} + {1}).^2", "floor({0}./2)", "{0}.*{2}.*0.5"])
        parts = [part() if f"{{{i}}}" in form else number() for i, part in enumerate((chosen, number, chosen))]
        value = E("(" + form + ")", parts, None, 0, 0)
        op, pre = r.choice(["=", "=", "=", "+=", "-=", ".*="]), []
        if r.random() < 0.3:
            total = E(r.choice(["sum({0})", "mean({0})", "min({0})", "max({0})", "numel({0})"]), [value], None, 0, 0)
            name = self.steps(total, pre)
            return self.guarded([f'show("=", {total.plain()})'], pre + [f'show("=", {name})'])
        name, at = self.steps(value, pre), self.steps(mask, pre)
        self.guarded([f"{v}[{mask.plain()}] {op} {value.plain()}"], pre + [f"{v}[{at}] {op} {name}"])
        self.normalise()

    def normalise(self):
        """Values may have grown, in any name of an array that was changed."""
        for v, (s, _, _, kind) in list(self.vars.items()):
            at = f"[{','.join(':' * len(s))}]" if s and 0 not in s else ""
            self.guarded(*[[f"{v}{at} = mod(floor({v}*4)/4,64)"]] * 2)
            self.vars[v] = (s, 64, 0.25, kind)

    def alias(self):
        if not self.vars: return
        v, w = self.r.choice(list(self.vars)), self.new("x")
        text = f"{w} = copy({v})" if self.vars[v][0] and self.r.random() < 0.3 else f"{w} = {v}"
        self.put(text, text)
        self.vars[w] = self.vars[v]

    def call(self):
        """A function that may change its argument, called with a variable that gets the result."""
        v = self.r.choice([v for v in self.vars if self.vars[v][0]] or [None])
        if not v: return
        s, bound, step, kind = self.vars[v]
        f = self.r.choice(["twice", "sharpened", "counted"])
        self.guarded([f"{v} = {f}({v})"], [f"{v} = {f}_alone({v})"])
        self.vars[v] = (s, 4 * bound, step, "scalar")
        self.normalise()

    def show(self):
        r = self.r
        e, k, loose = self.expr(), r.random(), True
        if k < 0.3: loose, form = False, "{0}"
        elif k < 0.5: form = r.choice(["sum({0})", "mean({0})", "sum({0},0)", "sum({0},1)", "cumsum({0})",
                                        "mean({0},0)", "mean({0},1)", "min({0},[],0)", "max({0},[],1)"])
        elif k < 0.65: form = r.choice(["min({0})", "max({0})", "any({0})", "all({0})", "find({0})", "sort({0})"])
        else: form = r.choice(INEXACT)
        n = E(form, [e], None, 0, 0)
        pre = []
        name = self.steps(n, pre)
        tail = lambda x: f'show("{"~" if loose else "="}", {x})'
        self.guarded([tail(n.plain())], pre + [tail(name)])

    def wide_sum(self):
        """An expression of int64 numbers that may overflow."""
        n, most = self.r.choice([(self.n, 61), (300, 55), (5000, 51)])
        values = f"w_ = int64(pattern(1,{n})) + int({self.r.choice([1, -1]) * 2**self.r.randint(most - 5, most)})"
        show = ['show("=", sum({0}))', 'show("~", mean({0}))']
        both = self.r.choice(["w_ + w_", "w_ - 1", "-w_"])
        shown = lambda x: [s.format(x) for s in show]
        self.guarded([values, *shown(both)], [values, f"t_ = {both}", *shown("t_")])

    def variables(self):
        for _ in range(self.r.randint(2, 5)):
            v, s, kind = self.new("x"), self.r.choice(self.shapes), self.r.choice(FLOATS + INTS + ["bool"])
            if not s: text = f"{v} = {self.r.choice(['3', '-1.5', '0', 'int(5)', 'true'])}"
            else:
                a, b = self.r.choice(["0.25", "1", "-0.5", "3"]), self.r.choice(["0", "-4", "1.5"])
                values = f"pattern({','.join(map(str, s if len(s) > 1 else (1,) + s))})"
                values = f"mod({values},3) == 1" if kind == "bool" else f"mod({values}*{a} + {b}, 16)"
                text = f"{v} = {values}" if kind in ("bool", "scalar") else f"{v} = {kind}({values})"
            self.put(text, text)
            self.vars[v] = (s, 16, 1.0 if kind in INTS else 0.25, kind)

    def text(self):
        r = self.r
        body = r.random() < 0.5 # in a function, or at the top level
        self.variables()
        for _ in range(r.randint(4, 10)):
            k = r.random()
            if k < 0.35: self.assign()
            elif k < 0.45: self.together()
            elif k < 0.52: self.update()
            elif k < 0.55: self.changes()
            elif k < 0.57: self.along_lines()
            elif k < 0.59: self.masked()
            elif k < 0.66: self.alias()
            elif k < 0.72: self.call()
            elif k < 0.77: self.wide_sum()
            else: self.show()
        for v in self.vars: self.put(f'show("{v}", {v})', f'show("{v}", {v})')
        start, end = (["function [] = main_()", "kept_ = {}"], ["end", "main_()"]) if body else (["kept_ = {}"], [])
        return ("\n".join([HEAD] + start + lines + end) + "\n" for lines in (self.lines, self.alone))


HEAD = """function [] = show(name, a)
  printf("%s %s [%s]", name, type(a), num2str(size(a)))
  b = isscalar(a) ? [float(a)] : reshape(a, [1, numel(a)])
  for q_ = 0..numel(b)-1
    printf("%s %.9g %.9g", name, real(b[q_]), imag(b[q_]))
  end
end
function y = pattern(a, b, c = 1)
  y = reshape(mod((0..a*b*c-1)*7 + 3, 23), c == 1 ? [a,b] : [a,b,c])
end
function y = blend(a, b)
  t = a - b
  t = t.*t
  y = 0.5*t + b
end
function y = twice(y)
  y = y + y.*1
end
function y = twice_alone(y)
  z = y.*1
  y = y + z
end
function y = sharpened(x)
  y = x.*2 - x/2 + 1
  y[:] = y - 0.5
end
function y = sharpened_alone(x)
  a = x.*2
  b = x/2
  c = a - b
  k = {a,b,c}
  y = c + 1
  k = {y,k}
  d = y - 0.5
  y[:] = d
end
function y = counted(y)
  for k=1..3
    y = y + k - y.*0.5 + y.*0.5
  end
end
function y = counted_alone(y)
  for k=1..3
    a = y.*0.5
    b = y + k
    c = b - a
    d = {y,a,b,c}
    y = c + a
  end
end"""


# -- running -----------------------------------------------------------------------------------------------------------
def close(a, b):
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a == b
    return a == b or x == y or abs(x - y) <= 2e-6 * max(abs(x), abs(y), 1)


def mistakes_in_a_row(text):
    """Lines; the mistakes of statements one after the other are one line, each once."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("caught: "): lines.append(line)
        elif not lines or not lines[-1].startswith("caught: "): lines.append(line)
        elif line not in lines[-1].split(" | "): lines[-1] += " | " + line
    return lines


def without_warnings(text):
    """Warnings name their line, which is another one in the other form."""
    return re.sub(r"(?m)^/.*: warning: .*\n(.*\n *\^\n)?", "", text)


def warnings_of(text):
    """The warnings of a program, in any order, with the lines that they name."""
    return sorted(re.findall(r"(?m)^/.*?:(\d+):\d+: (warning: .*)", text))


def settled(want, got):
    """Both; what is wanted has the mistakes that were found: where several operators of a statement fail, which say so
    one by one when they stand alone, any of them may be found first."""
    want, got = mistakes_in_a_row(without_warnings(want)), mistakes_in_a_row(without_warnings(got))
    for i, (w, g) in enumerate(zip(want, got)):
        if w.startswith("caught: ") and set(g.split(" | ")) <= set(w.split(" | ")): want[i] = g
    return "\n".join(want), "\n".join(got)


def check(args, folder, seed):
    plain, alone = Program(seed).text()
    path, reference = write(folder, f"arrays{seed}.q", plain), write(folder, f"arrays{seed}_alone.q", alone)
    for precision in args.precision:
        more = ["--precision", precision]
        want = run(args, reference, "never", "ref", more)
        want = re.sub(r"(?m)^caught: t\d+ is used before it has a value\n", "", want)  # the operator before has failed
        if "error: " in want: return f"seed {seed}: a program that does not run\n{want}"
        for device in args.device:
            for loops in ("never", "always"):
                got = run(args, path, loops, device, more)
                wrong = difference(*settled(want, got), close)
                again = f"{sys.argv[0]} --device {device} --precision {precision} --keep . {seed} 1"
                where = f"seed {seed}, {device}, --loops {loops}"
                if wrong: return f"{where}:\n  wanted {wrong[0]}\n  got    {wrong[1]}\n  {again}"
                if loops == "never": warned = warnings_of(got)
                if warnings_of(got) != warned: return f"{where}: warned {warned}, now {warnings_of(got)}\n  {again}"
    if not args.keep: os.remove(path), os.remove(reference)
    return None


def main():
    p = options(__doc__)
    p.add_argument("--precision", action="append", choices=["32", "64"])
    args = p.parse_args()
    args.precision = args.precision or ["32"]
    return all_seeds(args, check, "with arrays give what single operators give")


if __name__ == "__main__":
    sys.exit(main())
