#!/usr/bin/env python3
"""Random kernels whose positions update elements of their neighbours, and keep private numbers and arrays, or call
functions of small arrays, or functions that call themselves: every device gives what the evaluator gives, and these
functions give what the host gives.

    tests/updates.py [--qrun build/qrun] [--device cpu] [--keep FOLDER] [first seed [how many]]

All numbers are small and whole, so that sums have no order and must be equal.  Rows are as long as strips of the
processor, one longer and one shorter; arrays are as large as the launch, and larger.  A failure is printed with the
command that makes its program again."""
import math, operator, random, sys

from programs import all_seeds, compare, options

KERNELS = 12
LENGTHS = [1, 5, 31, 32, 33, 64, 70, 95, 200]


class Kernel:
    def __init__(self, rng, name):
        self.r, self.name, self.rank = rng, name, rng.choice([1, 1, 2])
        self.access = rng.choice(["'safe", "", "'circular", "'reflect", "'unchecked"])
        self.lines = ["v = x[pos]*3", "w = 1"]
        self.body()

    def offset(self):
        lo = 0 if self.access == "'unchecked" else -2
        steps = [str(self.r.randint(lo, 3)) for _ in range(self.rank)]
        return f"pos+{steps[0]}" if self.rank == 1 else f"pos+[{','.join(steps)}]"

    def value(self):
        return self.r.choice(["x[pos]", "2*x[pos]+1", "x[pos]*x[pos]", "floor(x[pos]/2)", "v", "w", "1"])

    def within(self, head, *lines):
        self.lines += [head, *("    " + line for line in lines), "end"]

    def private_array(self):
        r, n = self.r, self.r.randint(2, 6)
        self.lines.append(f"a = zeros({n})")
        for _ in range(r.randint(1, 4)):
            r.choice([
                lambda: self.within(f"for j = 0..{n-1}", "a[j] += x[pos]+j"),
                lambda: self.within("if mod(x[pos],3) == 1", f"a[{r.randint(0, n-1)}] = w"),
                lambda: self.within(f"for j = 1..min(n,{n-1})", "a[j] = a[j-1]*2+v"),
                lambda: self.within("for i = 0..n-1", "b = zeros(3)", "b[mod(i,3)] += x[pos]", "a[0] += b[0]+2*b[1]"),
                lambda: self.lines.append(f"a[int(mod(x[pos],{n}))] += 5")])()
        self.lines.append(f"w += a[{r.randint(0, n-1)}] + 3*a[{r.randint(0, n-1)}]")

    def update(self):
        r = self.r
        line = f"y[{self.offset()}] {r.choice(['+=', '+=', '-='])} {self.value()}"
        r.choice([lambda: self.lines.append(line), lambda: self.lines.append(line),
                  lambda: self.within(f"if x[pos] > {r.randint(0, 9)}", line),
                  lambda: self.within("for i = 0..n-1", line)])()

    def body(self):
        r = self.r
        if r.random() < .6: self.within("for j = 0..n-1", "w += x[pos]*j")
        if r.random() < .4: self.within("if x[pos] > 4", f"w = {r.randint(2, 9)}")
        if r.random() < .5: self.private_array()
        if r.random() < .2: self.within("if mod(x[pos], 4) == 0", "return")
        updates = r.choice([0, 1, 2, 3, 5])
        for _ in range(updates): self.update()
        if not updates or r.random() < .2: self.lines.append("z[pos] = w")

    def text(self):
        r, (array, of) = self.r, ("vec", "int") if self.rank == 1 else ("mat", "ivec2")
        size = [r.choice([1, 3, 7, 40]), r.choice(LENGTHS)][-self.rank:]
        larger = [n + r.choice([4, 9]) for n in size]
        dims = lambda n: ",".join(map(str, n))
        return "\n".join([
            f"function [] = __kernel__ {self.name}(y : {array}{self.access}, z : {array}'unchecked, "
            f"x : {array}'unchecked, n : int, pos : {of})",
            *("    " + line for line in self.lines), "end",
            f"x = reshape(mod((0..{math.prod(size)-1})*7+3, 11), [{dims([1, *size][-2:])}])",
            f"y = zeros({dims(larger)})", f"z = zeros({dims(larger)})",
            f"parallel_do([{dims(size)}], y, z, x, {r.randint(1, 4)}, {self.name})",
            f'printf("{self.name} %.17g %.17g %.17g", sum(y), weighed(y), weighed(z))'])


class SmallArrays:
    """A device function that calls built-ins for small arrays; s has any size, q is square, u has the determinant 1."""
    ANY = ["sort(A)", "sort(A,0)", 'sort(A,1,"descend")', "cumsum(A,0)", "cumsum(A,1)", "cumprod(A,1)", "diff(A,0)",
           "2*median(A,0)", "2*median(A,1)", "flip(A,0)", "fliplr(A)", "flipud(A)", "circshift(A,1,0)", "tril(A)",
           "triu(A,1)", "transpose(A)", "repmat(A,2,1)", "vertcat(A,A)", "horzcat(A,2*A)", "min(A,[],0)",
           "max(A,[],1)", "sum(A,0)", "prod(A,1)", "argmin(A,0)", "argmax(A,1)", "A.*A-A", "reshape(A,[1,numel(A)])",
           "A*transpose(A)", "permute(A,[1,0])"]
    SQUARE = ["round(det(q))", "trace(q)", "kron(q,q)", "solve(u,q)", "inv(u)", "q*u", "transpose(diag(q))",
              "q + eye(N)"]

    def __init__(self, rng, name):
        self.r, self.name, self.n = rng, name, rng.choice([2, 2, 3, 3])

    def term(self):
        r = self.r
        if r.random() < .3: return r.choice(self.SQUARE).replace("N", str(self.n))
        value = r.choice(["s", "q"])
        for _ in range(r.choice([1, 1, 2])):
            form = r.choice(self.ANY)
            if form.startswith("diff") and value != "s": continue  # one row has no differences
            value = form.replace("A", value if value in "sq" else f"({value})")
        return value

    def results(self):
        """Functions with two results."""
        r = self.r
        return r.choice([["[a, i] = max(s[1,:])", "y += 3*a + 5*i"], ["[a, i] = min(s, [], 1)", "y += total(a + 7*i)"],
                         ["[a, i] = max(q, [], 0)", "y += total(a - 2*i)"], ["[a, i] = sort(s, 1)", "y += total(a.*i)"],
                         ["[a, i] = sort(q, 0)", "y += total(a + 3*i)"]])

    def text(self):
        r, n = self.r, self.n
        rows, columns = r.randint(2, 4), r.randint(2, 4)
        fill = lambda m, a, b: [f"    {m} = zeros({a},{b})", f"    for i = 0..{a-1}", f"        for j = 0..{b-1}",
                                f"            {m}[i,j] = mod(v*(i+{r.randint(1, 5)}) + j*j*{r.randint(1, 5)}, 7) - 3",
                                "        end", "    end"]
        body = [*fill("s", rows, columns), *fill("q", n, n), f"    u = triu(q,1) + eye({n})", "    y = 0.0",
                *(f"    y += {r.randint(1, 9)}*total({self.term()})" for _ in range(r.randint(2, 4))),
                *("    " + line for line in self.results())]
        return "\n".join([
            f"function y = __device__ {self.name}(v : scalar)", *body, "end",
            f"function [] = __kernel__ run_{self.name}(y : vec, pos : int)", f"    y[pos] = {self.name}(pos)", "end",
            "y = zeros(23)", f"parallel_do(23, y, run_{self.name})", "for k = 0..22",
            f'    assert(y[k] == {self.name}(k), "{self.name}(", k, "), on the host ", {self.name}(k), ": ", y[k])',
            "end", f'printf("{self.name} %.17g", weighed(y))'])


class Recursion:
    """Two functions that call themselves and each other; n bounds the number of open calls."""

    def __init__(self, rng, name):
        self.r, self.names, self.calls, self.loops = rng, [name, name + "_b"], 0, 0

    def value(self):
        return self.r.choice(["v", "w", "a[0]", "a[k]", "y", "n", "z"])

    def call(self):
        self.calls += 1
        return f"{self.r.choice(self.names)}(n-{self.r.randint(1, 2)}, mod({self.value()}+{self.r.randint(0, 9)}, 101))"

    def statement(self, depth):
        r = self.r
        call = self.calls < 3 and r.random() < .5
        some = lambda: self.block(depth + 1)
        kind = r.choice(["set"] * 3 + ["if", "if", "for", "while", "break"]) if depth < 3 else "set"
        if kind == "set":
            target = r.choice(["w", "w", "y", "z", "a[k]", "a[1]"])
            if call and r.random() < .3: return [f"[w, z] = {self.call()}"]
            return [f"{target} = mod({self.value()}*3 + {self.call() if call else self.value()}, 1009)"]
        condition = f"mod({self.value()}, 3) == {r.randint(0, 2)}"
        if kind == "break":
            last = [r.choice(["break", "continue"])] if self.loops else ["y += w", "return"]
            return [f"if {condition}", *("    " + s for s in last), "end"]
        if kind == "if":
            other = ["else", *some()] if r.random() < .5 else []
            return [f"if {condition}", *some(), *other, "end"]
        self.loops += 1
        body, j = some(), f"j{depth}"
        self.loops -= 1
        if kind == "for":
            return [f"for {j} = {r.choice(['0..1', '2..-1..1', '0..mod(k,3)', '3..-2..k'])}", f"    k = mod({j}, 3)",
                    *body, "end"]
        return [f"{j} = 0", f"while {j} < 2", f"    {j} += 1", *body, "end"]

    def block(self, depth):
        return ["    " + line for _ in range(self.r.randint(1, 3)) for line in self.statement(depth)]

    def text(self):
        lines = []
        for name in self.names:
            self.calls = 0
            lines += [f"function [y, z] = __device__ {name}(n : int, v : scalar)", "    y = v", "    z = 1.0",
                      "    w = 2.0", "    k = 1", "    a = [v, 5, 7]", "    if n <= 0", "        return", "    end",
                      *self.block(0), f"    w = mod(w + {self.call()}, 1009)", *self.block(0),
                      "    y = mod(y + 7*w + a[0] + 3*a[k], 1009)", "end"]
        name = self.names[0]
        return "\n".join([
            *lines, f"function [] = __kernel__ run_{name}(y : mat, pos : int)",
            f"    [y[pos,0], y[pos,1]] = {name}(mod(pos,4)+1, pos)", "end", "y = zeros(23,2)",
            f"parallel_do(23, y, run_{name})", "for k = 0..22", f"    [p, q] = {name}(mod(k,4)+1, k)",
            f'    assert(y[k,0] == p && y[k,1] == q, "{name}(", k, "), on the host ", p, " ", q, ": ", y[k,:])', "end",
            f'printf("{name} %.17g", weighed(y))'])


HEAD = """function y = __device__ total(x)
    y = 0.0
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            y += (3*i+j+1)*x[i,j]
        end
    end
end
function y = __device__ total(x : scalar)
    y = x
end
function s = weighed(x)
    s = sum(reshape(x, [1,numel(x)]).*mod((0..numel(x)-1)*13, 101))
end"""


def check(args, folder, seed):
    rng = random.Random(seed)
    kernels = [Kernel(rng, f"k{k}") for k in range(KERNELS)] + [SmallArrays(rng, f"small{k}") for k in range(4)]
    kernels += [Recursion(rng, f"self{k}") for k in range(2)]
    text = "\n".join([HEAD, *(k.text() for k in kernels)])
    return compare(args, folder, "updates", seed, text, operator.eq, ("auto", "auto"), ["--precision", "64"])


if __name__ == "__main__":
    sys.exit(all_seeds(options(__doc__).parse_args(), check, "with updates give what the evaluator gives"))
