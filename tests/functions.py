#!/usr/bin/env python3
"""Random functions that call themselves: as machine code they give what the interpreter gives.

    tests/functions.py [--qrun build/qrun] [--device cpu --device ref] [--keep FOLDER] [first seed [how many]]

Each program has groups of functions that call themselves and each other, with untyped and typed parameters, one
result or two, early returns, loops, arrays that they read and write, strings and their characters, captured globals,
calls from loops, ints that overflow, errors, and calls that are too deep. It runs with `--loops never` and with
`--loops always`, which compiles each of them; the text that it prints, with errors and their lines, must be equal."""
import operator, random, sys

from programs import all_seeds, compare, options

TYPES = ["", "", "", " : int", " : scalar", " : uint8", " : int64"]
ARRAYS = [("", "w"), ("", "w"), (" : vec", "w"), (" : mat", "w"), (" : vec[int]", "wi"), ("", "wi")]


class Group:
    """Functions f0 … that call each other.  The first parameter falls with each call, so that the recursion ends."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.count = rng.choice([1, 1, 2, 3])
        self.nparams = [rng.choice([1, 2, 3]) for _ in range(self.count)]
        self.nresults = [rng.choice([1, 1, 1, 2]) for _ in range(self.count)]
        self.types = [[rng.choice(TYPES) if k else rng.choice(["", "", " : int"]) for k in range(n)]
                      for n in self.nparams]
        self.array = rng.random() < 0.3
        self.array_type, self.array_argument = rng.choice(ARRAYS)
        self.text = rng.random() < 0.2

    def params(self, i):
        return ["n", "a", "b"][:self.nparams[i]] + self.passed("v", "s", "h")

    def passed(self, array, text, character):
        return ([array] if self.array else []) + ([text, character] if self.text else [])

    def handed_on(self):
        """The array and the strings in a call from a function of the group."""
        at = self.rng.choice(["0", "mod(n,4)", "n"])
        return self.passed("v", "s", self.rng.choice(["h", "h", '"k"', f"s[{at}]", f"(h < s[{at}] ? s[{at}] : h)"]))

    # -- expressions -----------------------------------------------------------------------------------------------
    def leaf(self, i):
        r = self.rng
        some = self.params(i)[:self.nparams[i]] + [str(r.randint(0, 9)), str(r.choice([0.5, 1.25, -2, 3]))]
        if r.random() < 0.15: some.append("g")
        if r.random() < 0.15: some.append(f"int({r.choice(['n', '3', '40'])})")
        if self.array and r.random() < 0.5: some.append(f"v[{r.choice(['0', '3', 'n', 'mod(n,8)'])}]")
        if self.text and r.random() < 0.5:
            codes = ["ord(h)", "ord(s[mod(n,4)])", "strlen(s)"]
            some.append(r.choice([*codes, "(s[n] == h ? 1 : 2)", '(h >= "k" ? 5 : 1)']))
        return r.choice(some)

    def plain(self, i, depth=0):
        r = self.rng
        if depth > 1 or r.random() < 0.3: return self.leaf(i)
        a, b = self.plain(i, depth + 1), self.plain(i, depth + 1)
        return r.choice([f"({a}+{b})", f"({a}-{b})", f"({a}*{b})", f"min({a},{b})", f"max({a},{b})", f"abs({a})",
                         f"mod({a},7)", f"mod({a},{b})", f"(mod({a},2) == 0 ? {a}/2 : {b})", f"floor({a}/2)",
                         f"({a} > {b} ? {a} : {b})", f"sqrt(abs({a}))", f"-({a})"])

    def call(self, i, depth=0):
        r = self.rng
        k = r.randrange(self.count)
        while self.nresults[k] > 1 and depth: k = r.randrange(self.count)
        less = r.choice(["n-1", "n-1", "n-2", "floor(n/2)"])
        args = [less] + [self.plain(i, 1) for _ in range(self.nparams[k] - 1)] + self.handed_on()
        return k, f"{self.name}{k}({', '.join(args)})"

    def has_single(self): return any(n == 1 for n in self.nresults)

    def recursive(self, i):
        """An expression with one or two calls of functions that have one result."""
        r = self.rng
        if not self.has_single(): return self.plain(i)
        k, text = self.call(i, 1)
        if r.random() < 0.4: text = f"{text} {r.choice('+-*')} {self.call(i, 1)[1]}"
        if r.random() < 0.1: text = f"{text} {r.choice('+-*')} {text}"
        return r.choice([text, f"{text} + {self.plain(i)}", f"max({text}, {self.plain(i)})",
                         f"{self.plain(i)} - ({text})"])

    # -- functions -------------------------------------------------------------------------------------------------
    def loop(self, i):
        r = self.rng
        if r.random() < 0.5:
            return [f"t = {self.plain(i)}", f"for k = 1..{r.randint(1, 4)}", f"    t = t + {self.leaf(i)}*k", "end"]
        return ["t = 0", "c = n", "while c > 0", f"    t += {self.leaf(i)}", "    c -= 2", "end"]

    def function(self, i):
        r, outs = self.rng, ["y", "z"][:self.nresults[i]]
        kind = r.choice(["", "", "", " : int", " : scalar"]) if len(outs) == 1 else ""
        types = self.types[i] + self.passed(self.array_type, "", r.choice(["", " : string"]))
        head = ", ".join(p + t for p, t in zip(self.params(i), types))
        result = f"[{', '.join(outs)}]" if len(outs) > 1 else outs[0] + kind
        base = [f"{o} = {self.plain(i)}" for o in outs]
        body = self.loop(i) if r.random() < 0.3 else []
        if self.array and r.random() < 0.3:
            at = r.choice(["mod(n,8)", "mod(n,8)", "n", "2"])
            body.insert(0, f"v[{at}] {r.choice(['=', '+='])} {self.leaf(i)}")
        if r.random() < 0.15: body.append(f"assert({self.leaf(i)} > {r.choice(['-100', '-1', '1'])}, \"too small\")")
        for o in outs[:1]:
            text = self.recursive(i)
            if body and r.random() < 0.7 and any(b.startswith("t =") for b in body): text += " + t"
            body.append(f"{o} = {text}")
        for o in outs[1:]: body.append(f"{o} = {self.plain(i)}")
        if len(outs) > 1:
            k = [k for k in range(self.count) if self.nresults[k] > 1][0]
            args = ["n-1"] + [self.plain(i, 1) for _ in range(self.nparams[k] - 1)] + self.handed_on()
            body = [f"[p, q] = {self.name}{k}({', '.join(args)})", "y = p + 1", f"z = q - {self.leaf(i)}"]
        lines = [f"function {result} = {self.name}{i}({head})"]
        if r.random() < 0.5: lines += ["    if n <= 0"] + ["        " + b for b in base] + ["        return", "    end"]
        else:
            lines += ["    if n <= 0"] + ["        " + b for b in base] + ["    else"]
            body = ["    " + b for b in body]
        lines += ["    " + b for b in body]
        if body[0].startswith("    "): lines.append("    end")
        return lines + ["end"]

    def caller(self, i):
        """A function with a loop that calls function i."""
        r, names = self.rng, self.params(i)
        head = f"function y = {self.name}_loop{i}({', '.join(names)})"
        call = f"{self.name}{i}({', '.join([r.choice(['k', 'min(k,n)', 'mod(k,3)'])] + names[1:])})"
        lines = ["y = 0", "u = zeros(1,4)"]
        lines += [r.choice(["for k = 0..3", "for k = 3..-1..0"])]
        lines += [r.choice([f"    y += {call}", f"    u[k] = {call}", f"    y = max(y, {call} + {self.leaf(i)})"])]
        if r.random() < 0.3: lines += [f"    u[k] += y", f"    y -= {call}"]
        return [head] + ["    " + line for line in lines] + ["    end", "    y += sum(u)", "end"]

    def lines(self):
        r, lines = self.rng, []
        for i in range(self.count): lines += self.function(i)
        for i in range(self.count): lines += self.caller(i) if self.nresults[i] == 1 else []
        calls = []
        for i in range(self.count):
            for n in (r.randint(2, 9), r.choice([3, 4.5, 7, "int(6)", "true"])):
                some = [0, 1, 2.5, -3, 7, "int(5)", "true"]
                args = [str(n)] + [str(r.choice(some)) for _ in range(self.nparams[i] - 1)]
                text, character = r.choice(['"hello"', "word"]), r.choice(['"k"', '"a"', "word[1]"])
                args += self.passed(self.array_argument, text, character)
                if self.nresults[i] == 1 and r.random() < 0.5:
                    calls.append(f"show({self.name}_loop{i}({', '.join(args)}))")
                for _ in range(2):
                    if self.nresults[i] == 1: calls.append(f"show({self.name}{i}({', '.join(args)}))")
                    else: calls.append(f"[p, q] = {self.name}{i}({', '.join(args)}); show(p); show(q)")
        if self.array: calls.append("print " + self.array_argument)
        for c in calls: lines += ["try", "    " + c, "catch e", '    print "caught: ", e, " ", e.line', "end"]
        return lines


HEAD = """function [] = show(x)
  printf("%s %.17g", type(x), x)
end
g = 3
w = linspace(1, 8, 8)
wi = int(1..8)
word = "quasar"
"""


def program(seed):
    rng = random.Random(seed)
    lines = [HEAD]
    for k in range(4): lines += Group(rng, f"{'fhkm'[k]}").lines()
    return "\n".join(lines) + "\n"


def check(args, folder, seed):
    return compare(args, folder, "functions", seed, program(seed), operator.eq)


def main():
    args = options(__doc__, seconds=20).parse_args()
    return all_seeds(args, check, "with functions that call themselves give what the interpreter gives")


if __name__ == "__main__":
    sys.exit(main())
