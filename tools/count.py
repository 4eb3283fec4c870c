#!/usr/bin/env python3
"""Counts how the tree is built, and prints a table in Markdown:  tools/count.py [--tree FOLDER] [--quick]

Rooms: lines of each folder with sources, in brackets those with code, without blanks and comments; files.

Functions: lines from the head of a function to its closing brace, as the tree is formatted (both at the left margin).

Journeys: how many source files a reader passes who follows one statement.  The program of a journey and an empty one
run in a build of their own (build-count, -finstrument-functions, nothing inlined), which notes every function at its
first entry.  What the journey enters and the empty program does not is the way of the statement: counted are its
functions, their files, headers with bodies included, and how often the file changes from one first entry to the next
(threads make that vary by one or two).  --quick leaves the journeys out, and with them the build.

Rebuilt: objects of the program and of the two Python modules whose source includes a file, directly or not, as the
compiler's -MM says; that needs no build.

Places: how many files know one thing of a kind, which is what the next thing of that kind will have to touch.  Each
kind has an example and a pattern for its names; the files whose code or text, comments aside, match it are counted, and
--places lists them.  An example that nothing matches any more is an error."""
import argparse, os, re, statistics, subprocess, sys, tempfile

ROOMS = ("vm", "lang", "devices", "stdlib", "bridge")
SOURCES = (".c", ".h", ".def")
TOUCHED = ("quasar.h", "operators.def", "kir.def", "dtypes.def", "elem.def")
HERE = os.path.dirname(os.path.abspath(__file__))

JOURNEYS = {  # name -> the arguments of qrun, and the text; or the text of a program of Python
    "`y = sin(x)*2`, a large array": (["--loops", "always"], "x = ones(1000,1000)\ny = sin(x)*2\n"),
    "one `parallel_do`": ([], """function [] = __kernel__ twice(x : mat, y : mat, pos : ivec2)
    y[pos] = x[pos]*2
end
x = ones(1000,1000)
y = zeros(1000,1000)
parallel_do(size(y), x, y, twice)
"""),
    "one compiled loop": (["--loops", "always"], "x = zeros(1000)\nfor i = 0..999\n    x[i] = 2*i\nend\n"),
    "one call through `pyimport`": ([], 'm = pyimport("math")\nm.sqrt(2)\n'),
    "`q.f(np_array)`": """a = numpy.ones(1000)
q.compile_string("program", "function y = f(x)\\n  y = x*2\\nend\\n")
q.f(a)
""",
}
PLACES = {  # a kind -> how an example of it is called in the sources
    "an elementwise built-in: `saturate`": r"(?<![A-Za-z])(?<!int_)(?<!LEGAL_)(?i:saturate)(?![A-Za-z])",
    "a function of the mathematical library: `erfc`": r"(?<![A-Za-z])(?i:erfc)(?![A-Za-z])",
    "an element type: `bfloat16`": r"(?i)bf16|bfloat16",
    "a target: OpenCL": r"(?i)opencl",
    "an instruction of kernels: `ANY`": r"\bK_ANY\b|\bKIR\(ANY\b",
    "an instruction of kernels: `BOUND`": r"\bK_BOUND\b|\bKIR\(BOUND\b",
    "a form of syntax: `match`": r"\b[NT]_MATCH\b|KEYWORD\(MATCH\b",
    "a library file: `dct.q`": r"\bdct2\b",
}
EMPTY_PYTHON = 'import numpy\nimport pyquasar as q\nq.init("cpu")\n'


def sources(tree):
    paths = []
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(tree, room)):
            folders[:] = [f for f in folders if f != "__pycache__"]
            paths += [os.path.relpath(os.path.join(folder, n), tree) for n in names if n.endswith(SOURCES)]
    return sorted(paths)


def read(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8") as f:
        return f.read()


def without_comments(path, text):
    if path.endswith((".py", ".pyi")):
        return re.sub(r"#[^\n]*|(?<![=(,] )(?<![=(,])\"\"\".*?\"\"\"", "", text, flags=re.S)
    if path.endswith(".q"):
        return re.sub(r"%[^\n]*", "", text)
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def rooms(tree, paths):
    """A row for each folder, and one for each folder with others below it, which holds their sum."""
    texts = {p: read(tree, p) for p in paths}
    lines = {p: (t.count("\n"), len(re.findall(r"\S.*", without_comments(p, t)))) for p, t in texts.items()}
    folders = {os.path.dirname(p) for p in paths}
    above = {f[:i] for f in folders for i in range(len(f)) if f[i] == "/"}

    def row(of):
        return f"{sum(lines[p][0] for p in of)} ({sum(lines[p][1] for p in of)}), {len(of)} files"

    yield "lines of C, all rooms", row(paths)
    for folder in sorted(folders | above):
        if folder in above:
            yield f"`{folder}` and below", row([p for p in paths if p.startswith(folder + "/")])
        else:
            yield f"`{folder}`", row([p for p in paths if os.path.dirname(p) == folder])


def functions(tree, paths):
    """Lines and number of parameters of each function."""
    head = re.compile(r"^(?!typedef|struct|enum|union|#)\w[\w *]*?\w+\(((?:[^;{}()]|\([^()]*\))*)\) \{$", re.M)
    for path in paths:
        text = read(tree, path)
        for m in head.finditer(text):
            end = text.index("\n}", m.end())
            flat = re.sub(r"\([^()]*\)", "", m[1])
            yield text.count("\n", m.start(), end) + 1, 0 if flat == "void" else flat.count(",") + 1


def function_rows(tree, paths):
    found = list(functions(tree, [p for p in paths if p.endswith((".c", ".h"))]))
    lengths = sorted(lines for lines, _ in found)
    spread = f"{statistics.median_low(lengths)} / {lengths[len(lengths) * 9 // 10]} / {lengths[-1]}"
    yield "functions", len(found)
    yield "their lines: median / nine of ten / longest", spread
    yield "functions with 7 or more parameters", sum(n >= 7 for _, n in found)


def rebuilt(tree, paths):
    """Objects to make again, of all: a source of the bridge makes two, one for each module."""
    def needs(unit):
        made = subprocess.run(["cc", "-MM", "-MG", "-D_GNU_SOURCE", "-I", tree, os.path.join(tree, unit)],
                              capture_output=True, text=True, check=True)
        return {os.path.relpath(p, tree) for p in made.stdout.replace("\\\n", " ").split()[1:]}

    def objects(of):
        return sum(2 if p.startswith("bridge/") else 1 for p in of)

    units = [p for p in paths if p.endswith(".c")]
    reach = {p: needs(p) for p in units}
    for path in [p for name in TOUCHED for p in paths if os.path.basename(p) == name]:
        again = objects(u for u in units if path in reach[u])
        yield f"objects rebuilt after touching `{os.path.basename(path)}`", f"{again} of {objects(units)}"


def places(tree):
    """For each kind, the files that know its example."""
    paths = subprocess.run(["git", "-C", tree, "ls-files"] + list(ROOMS), capture_output=True, text=True).stdout.split()
    code = {p: without_comments(p, read(tree, p)) for p in paths if p.endswith(SOURCES + (".py", ".pyi", ".q"))}
    for kind, pattern in PLACES.items():
        files = [p for p, text in code.items() if re.search(pattern, text)]
        if not files:
            sys.exit(f"{kind}: nothing in the tree matches {pattern}")
        yield kind, files


class Noted:
    """A build whose functions are noted, and what programs enter in it."""

    def __init__(self, tree, build):
        self.tree, self.build, self.dir = tree, build, tempfile.mkdtemp()
        self.probe = os.path.join(self.dir, "entered.so")
        flags = "-DCMAKE_C_FLAGS=-O0 -g1 -w -finstrument-functions"
        for command in (
                ["cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=None", flags],
                ["cmake", "--build", build, "--target", "qrun", "bridge", "inside"],
                ["cc", "-O2", "-shared", "-fPIC", "-o", self.probe, os.path.join(HERE, "entered.c"), "-ldl"]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")

    def run(self, arguments, text):
        """The functions of one process, as pairs (name, file), in the order of their first entries."""
        with open(os.path.join(self.dir, "program"), "w") as f:
            f.write(text)
        noted = os.path.join(self.dir, "noted")
        env = dict(os.environ, LD_PRELOAD=self.probe, ENTERED=noted, PYTHONPATH=os.path.join(self.build, "python"),
                   QUASAR_CACHE_DIR=tempfile.mkdtemp(dir=self.dir))
        done = subprocess.run(arguments + [f.name], env=env, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"a journey fails:\n{text}{done.stdout}{done.stderr}")
        entries = [line.rsplit(" ", 1) for line in open(noted)]
        names = {}
        for binary in {b for b, _ in entries}:
            offsets = [o.strip() for b, o in entries if b == binary]
            told = subprocess.run(["addr2line", "-f", "-e", binary] + offsets, capture_output=True, text=True)
            lines = told.stdout.split("\n")
            for k, offset in enumerate(offsets):
                names[binary, offset] = lines[2 * k], os.path.relpath(lines[2 * k + 1].split(":")[0], self.tree)
        return [names[b, o.strip()] for b, o in entries]

    def of(self, journey):
        if isinstance(journey, str):
            python = [sys.executable]
            return self.run(python, EMPTY_PYTHON), self.run(python, EMPTY_PYTHON + journey)
        options, text = journey
        qrun = [os.path.join(self.build, "qrun"), "--device", "cpu"] + options
        return self.run(qrun, ""), self.run(qrun, text)


def journeys(tree, build):
    noted = Noted(tree, build)
    for name, journey in JOURNEYS.items():
        empty, full = noted.of(journey)
        before = set(empty)
        way = [e for e in full if e not in before]
        files = [f for _, f in way]
        changes = sum(a != b for a, b in zip(files, files[1:]))
        yield f"files entered by {name} (changes of file; functions)", f"{len(set(files))} ({changes}; {len(way)})"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tree", default=os.path.dirname(HERE), help="the tree to count (this one)")
    options.add_argument("--build", help="where the build for the journeys is (build-count in the tree)")
    options.add_argument("--quick", action="store_true", help="no journeys, hence no build")
    options.add_argument("--places", action="store_true", help="only list the places")
    told = options.parse_args()
    tree = os.path.abspath(told.tree)
    paths = sources(tree)
    if told.places:
        for kind, files in places(tree):
            print(kind, *files, sep="\n    ")
        return
    rows = [*rooms(tree, paths), *function_rows(tree, paths), *rebuilt(tree, paths)]
    rows += [(f"files that know {kind}", len(files)) for kind, files in places(tree)]
    if not told.quick:
        rows += journeys(tree, os.path.abspath(told.build or os.path.join(tree, "build-count")))
    print("| | |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
