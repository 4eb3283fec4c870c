#!/usr/bin/env python3
"""Gradients of random programs: kernels, loops, expressions over arrays, linear algebra and what gradient_steps.py has,
against central differences in float64, with and without machine code for loops and expressions, and with fast math.
In one of these ways forward derivatives are held against them, and second ones against differences of gradients.

    tests/gradients.py [--qrun build/qrun] [--device cpu] [--seconds 20 | --seed N [--count M]]

A program takes a vector x, changes two vectors step by step and gives a number.  What it computes is smooth: conditions
ask for positions and for numbers that do not depend on x."""
import argparse, os, random, subprocess, sys, tempfile, time
from gradient_steps import Steps, steps
from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
N = 7
# One line says it all: the largest difference of each kind, beside its limit.
HEAD = """function worst = off(g, d)
    worst = max(abs(g - d))/max(1e-3, max(abs(d)))
    worst = worst == worst ? worst : inf
end
function [] = verdict(first, forward, second)
    right = first < 1e-5 && forward < 1e-8 && second < 1e-4
    print right ? "right" : sprintf("OFF BY %g, forward %g, second %g", first, forward, second)
end
"""
TAIL = """
x = 0.3 + sin(1.7*(0..LAST))
d = zeros(size(x))
for k = 0..numel(x)-1
    a = copy(x)
    b = copy(x)
    a[k] += 1e-6
    b[k] -= 1e-6
    d[k] = (f(a) - f(b))/2e-6
end
g = grad(f, x)
u = cos(2.3*(1..LAST+1))
if further
    [y, dy] = jvp(f, {x}, {u})
    verdict(off(g, d), off(dy, sum(g.*u)), off(hvp(f, x, u), (grad(f, x + 1e-5*u) - grad(f, x - 1e-5*u))/2e-5))
else
    verdict(off(g, d), 0, 0)
end
"""


class Maker(Steps):
    def __init__(self, seed):
        self.r, self.kernels, self.names = random.Random(seed), [], 0
        self.n = self.r.choice([N]*6 + [1, 2, 3])

    def fresh(self, what):
        self.names += 1
        return f"{what}{self.names}"

    def expr(self, names, depth=3):
        """Of numbers; bounded, with bounded derivatives."""
        r = self.r
        if depth == 0 or r.random() < 0.15:
            return r.choice(names) if r.random() < 0.8 else f"{r.uniform(-1.5, 1.5):.3f}"
        a, b = self.expr(names, depth - 1), self.expr(names, depth - 1)
        return r.choice([f"({a} + {b})", f"({a} - {b})", f"0.6*{a}*{b}", f"{a}/(2 + cos({b}))", f"sin({a})",
                         f"exp(-{a}*{a})", f"sqrt(1 + {a}*{a})", f"tanh({a})", f"atan2({a}, 2 + cos({b}))",
                         f"({a})^2/(3 + sqrt(1 + ({a})^2))", f"log(2 + sin({a}))", f"abs({a} + 4)"])

    def arrays(self, depth=3):
        """Of arrays."""
        r = self.r
        if depth == 0:
            return r.choice(["a", "b", "a", "b", "s"]) if r.random() < 0.9 else f"{r.uniform(-1.5, 1.5):.3f}"
        x, y = self.arrays(depth - 1), self.arrays(depth - 1)
        return r.choice([f"({x} + {y})", f"({x} - {y})", f"(0.6*({x}.*{y}))", f"sin({x})", f"exp(-({x}.*{x}))",
                         f"({x}./(2 + cos({y})))", f"tanh({x})"])

    def index(self, i, j, k):
        """Before a loop over k: an index i known only at run time, and a copy of it; and their use in an iteration."""
        r = self.r
        known = [f"if mod(pos,2) == {r.randint(0, 1)}", f"    {i} = {r.randint(2, 5)}", "end"]
        return ([f"{i} = pos", *known, f"{j} = {i}"],
                r.choice([[f"{i} += {k}"], [f"{i} = {j} + {k}"], [f"{i} = {k} + {j}"], [f"{i} = {j} + 1"],
                          [f"{i} = {j} + {i}"], [f"{j} = {i}", f"{i} = mod({k},3)", f"{i} = {j} + {k}"],
                          [f"if mod({k},2) == 0", f"    {i} = {j} + {k}", "end"], [f"{i} += {j}", f"{j} = {k}"]]))

    def body(self, read, indent=1, depth=0):
        """Statements that change t and u, of which read gives elements."""
        r, out = self.r, []
        pad = "    " * indent
        for _ in range(r.randint(1, 3)):
            kind = r.random()
            v = r.choice("tu")
            if kind < 0.45 or depth == 2:
                out.append(f"{pad}{v} {r.choice(['=', '=', '+='])} {self.expr(['t', 'u', *read()], 2)}")
            elif kind < 0.7:
                k, index = f"k{depth}", r.random() < 0.5
                last = r.choice(["2", "n", "mod(pos,3)", *(["70"] if index and depth == 0 else [])])
                if index:
                    begin, step = self.index(f"i{depth}", f"j{depth}", k)
                    out += [pad + l for l in begin]
                out.append(f"{pad}for {k} = 0..{last}")
                own = [f"0.1*{k}", *([f"x[mod(i{depth},{N})]"]*6 if index else [])]
                out += self.body(lambda: [*read(), *own], indent + 1, depth + 1)
                if index:
                    out += [f"{pad}    {l}" for l in step]
                if r.random() < 0.3:
                    out.append(f"{pad}    if {k} == {r.choice(['1', 'mod(pos,2)'])}\n{pad}        "
                               f"{r.choice(['break', 'continue'])}\n{pad}    end")
                    out.append(f"{pad}    {v} = {self.expr(['t', 'u'], 1)}")
                out.append(f"{pad}end")
            elif kind < 0.85:
                out.append(f"{pad}if mod(pos,{r.randint(2, 3)}) == 0")
                out += self.body(read, indent + 1, depth + 1)
                if r.random() < 0.5:
                    out += [f"{pad}else", *self.body(read, indent + 1, depth + 1)]
                out.append(f"{pad}end")
            else:
                out.append(f"{pad}w{depth} = 0\n{pad}while w{depth} < {r.randint(1, 4)}\n{pad}    w{depth} += 1\n"
                           f"{pad}    {v} = {self.expr(['t', 'u', *read()], 2)}\n{pad}end")
        return out

    def kernel(self):
        r, name = self.r, f"k{len(self.kernels)}"
        mode = r.choice(["'mirror", "'reflect", "'clamped", "'circular", "'safe"])
        own = r.random() < 0.25

        def read():
            return [f"x[pos{r.choice(['', '', '-1', '+1', '+2', '-3'])}]", f"x[mod(3*pos+{r.randint(0, 6)},{N})]",
                    *(["y[pos]"] if own else [])]
        if own:
            mode = "'unchecked"
            read = lambda: ["y[pos]", f"x[mod(2*pos+1,{N})]"]
        lines = [f"function [] = __kernel__ {name}(x : vec{mode}, y : vec'unchecked, a : scalar, n : int, pos : int)",
                 "    t = x[pos]", "    u = a", *self.body(read)]
        end = r.random()
        if own and r.random() < 0.5:  # read, written, and read again
            lines += ["    y[pos] = tanh(0.6*y[pos]*t + u)", "    t = y[pos]*u + cos(y[pos])", *self.body(read)]
        if own and end < 0.5:
            lines.append("    y[pos] = 0.5*y[pos]*t + u")
        elif end < 0.3:
            lines.append(f"    y[mod(2*pos,{N})] += 0.3*t*u")
        else:
            lines.append("    y[pos] = 0.5*t + u")
        self.kernels.append("\n".join(lines) + "\nend\n")
        return name

    def algebra(self):
        r = self.r
        one = ["h = solve(m, h)", "h = inv(m)*h", "h = h*det(m)/8 + logdet(m)", "h = chol(m*transpose(m))*h",
               "h = solve(triu(m), solve(tril(m), h))", "[h, F] = solve(m, h)\n    h = solve_back(m, h + 0.1, F)",
               "[Q, R] = qr(m)\n    h = (Q + R)*h", "h = pinv(vertcat(m, m))*vertcat(h, 0.5*h)",
               "z = complex(m, 0.2*transpose(m))\n    [z, F] = solve(z, complex(h, s*h))\n    h = real(z) + imag(z)"]
        return ["    m = 0.3*reshape(horzcat(a, b[0..1]), [3,3]) + 2*eye(3)", "    h = reshape(b[2..4], [3,1])",
                *(f"    {r.choice(one)}" for _ in range(r.randint(1, 3))), "    b[2..4] = transpose(tanh(h))"]

    def other(self):
        texts, lines = getattr(self, self.r.choice(steps(self.n)))()
        self.kernels += texts
        return lines

    def step(self):
        r, kind = self.r, self.r.randint(0, 17)
        if kind > 8 or (self.n < N and kind > 1):
            return self.other()
        if kind == 8:
            return self.algebra()
        if kind <= 1:
            first = r.random() < 0.5
            return [f"    a = tanh(0.1*a + {self.arrays()})" if first else f"    b = b + 0.3*tanh({self.arrays()})"]
        if kind <= 4:
            name = self.kernel()
            src, dst = r.choice([("a", "b"), ("b", "a")])
            how = r.choice(["parallel_do", "parallel_do", "serial_do"])
            return [f"    {how}({N}, {src}, {dst}, {r.choice(['s', '0.7'])}, 3, {name})", f"    {dst} = tanh({dst})"]
        if kind == 5:
            e = self.expr(["a[k]", "b[k]", "b[max(k-1,0)]", "s"])
            return [f"    c = zeros({N})", f"    for k = 0..{N - 1}", f"        c[k] = {e}", "    end",
                    "    a = tanh(c)"]
        if kind == 6:
            e = self.expr(["a[k-1]", "a[k]", "b[k]", "s"])
            return [f"    for k = 1..{N - 1}", f"        a[k] = tanh({e})", f"        s = 0.5*s + 0.1*a[k]", "    end"]
        return [r.choice([f"    s = tanh(sum({self.arrays(2)} + a))", f"    s = mean({self.arrays(2)} + a.*b)",
                          "    a[1..3] = b[2..4]", "    b[:] = 0.5*a + b", "    a[2] = s*b[3]", "    b += a.*b"])]

    def program(self):
        steps = [l for _ in range(self.r.randint(1, 5)) for l in self.step()]
        return "\n".join([*self.kernels, "function y = f(x)", "    a = copy(x)", "    b = cos(x)", "    s = 0.4",
                          *steps, f"    y = sum(a.*(1..{self.n})) + sum(sin(b)) + s", "end",
                          TAIL.replace("LAST", str(self.n - 1))])


WAYS = ("--loops", "always"), ("--loops", "never"), ("--loops", "always", "--fast-math")


def run(args, text, way):
    with tempfile.NamedTemporaryFile("w", suffix=".q") as f:
        further = WAYS[len(text) % len(WAYS)] == way  # these take most of the time
        f.write(HEAD + text.replace("if further", f"if {str(further).lower()}"))
        f.flush()
        p = subprocess.run([args.qrun, "--device", args.device, "--precision", "64", *way, f.name],
                           capture_output=True, text=True, timeout=120)
    return (p.stdout + p.stderr).strip()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=f"{ROOT}/build/qrun")
    p.add_argument("--device", default="cpu")
    p.add_argument("--seconds", type=float, default=20)
    p.add_argument("--seed", type=int)
    p.add_argument("--count", type=int, default=1)
    args = p.parse_args()
    first = args.seed if args.seed is not None else random.randrange(10 ** 9)
    end, seed, bad, refused = time.time() + args.seconds, first, 0, 0
    counted = args.seed is not None
    progress = Progress("gradients", "programs" if counted else "s")
    while seed < first + args.count if counted else time.time() < end:
        progress.at(*(seed - first, args.count) if counted else (args.seconds - end + time.time(), args.seconds))
        text = Maker(seed).program()
        for way in WAYS:
            said = run(args, text, way)
            if "no derivative" in said:
                refused += 1
            if said != "right":
                bad += 1
                progress.say(f"seed {seed}, {' '.join(way)}: {said}\n{text}\n" if counted else
                             f"seed {seed}, {' '.join(way)}: {said[:300]}")
        seed += 1
    progress.clear()
    print(f"{seed - first} programs from seed {first} on: {bad} wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
