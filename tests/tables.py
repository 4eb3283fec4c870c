#!/usr/bin/env python3
"""Checks these properties of the tables (.def files) and of the text of the tree:

  - no row occurs twice, and every row is used at the location that its table names (USED);
  - every built-in is called by a test that looks at what comes of it (see `observed`);
  - every built-in has its derivative, which a test checks, or says why there is none (see `check_adjoints`);
  - what tools/options.py makes of options.def is up to date;
  - the traits of a built-in agree with its signature;
  - a file that a comment or a document names is there;
  - source files keep the house style: width, tabs, blanks at the ends of lines, and every file lies in a room."""
import os, re, subprocess, sys

import builtin_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
problems = []

# A table, the macros of its rows, which of their arguments is the name; how the name is used, and where: in one of
# these files at least.
USED = [
    ("vm/base/dtypes.def", "DTYPE", 0, r"\bQS_{}\b", ("vm/quasar_types.h",)),
    ("lang/syntax/tokens.def", "TOKEN|KEYWORD|PUNCT", 0, r"\bT_{}\b", ("lang/syntax/",)),
    ("lang/syntax/operators.def", "BINARY|UNARY", 0, r"\bOP_{}\b", ("vm/array/", "vm/interp/")),
    ("lang/syntax/operators.def", "BINARY|UNARY", 0, r"\bOP_{}\b", ("lang/kernel/",)),
    ("lang/syntax/habits.def", "HABIT", 0, None, ()),
    ("lang/syntax/words.def", "WORD", 0, None, ()),
    ("lang/syntax/attributes.def", "ATTRIBUTE", 0, None, ()),
    ("lang/bytecode/opcodes.def", "OPCODE", 0, r"\bBC_{}\b", ("lang/bytecode/",)),
    ("lang/kernel/ir/kir.def", "KIR", 0, r"\bK_{}\b|KSEM_EACH_\w+\(X, {}\)",
     ("lang/kernel/ir/eval.c", "lang/kernel/ir/sem.h")),  # the lists of sem.h name the arithmetic for the evaluator
    ("lang/kernel/ir/mathfn.def", "MATHFN", 0, r"\b{}\b", ("lang/kernel/elem/elem.def", "stdlib/builtins.def")),
    ("lang/kernel/elem/elem.def", "ELEM|FORM|OPERATOR", 0, None, ()),
    ("vm/typed/typed.def", "TYPED", 0, None, ()),  # each row is compared with NumPy: tests/python/test_array_api.py
    ("vm/options.def", "OPTION|COMMAND|ALIAS", 0, None, ()),
    ("vm/base/reduce.def", "COMBINE|REDUCTION|INTERNAL", 0, None, ()),
    ("stdlib/builtins.def", "NATIVE|EACH|LAUNCH|EXACT|FIGURE|CONSTANT", 0, None, ()),
    ("stdlib/builtins.def", "TRAIT", 0, None, ()),  # see check_traits
    ("devices/cuda_api.def", "CU|CULATER|CUNUMBER", 0, r"\b{}\b", ("devices/cuda",)),
    ("devices/opencl_api.def", "CL", 1, r"\b{}\b", ("devices/opencl.c",)),
    ("devices/llvm_api.def", "NEED|MAYBE", 1, r"\b{}\b", ("devices/llvm.c",)),
]


def read(path):
    if path == "stdlib/builtins.def":
        return builtin_table.read_rows()
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def tracked(*suffixes):
    names = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True).stdout.split("\n")
    return [n for n in names if n.endswith(suffixes) and os.path.exists(os.path.join(ROOT, n))]


# -- rows of tables --------------------------------------------------------------------------------------------------
def rows(path, macros, which):
    """The argument that names it, of each row."""
    found = re.findall(rf"^\s*(?:{macros})\((.*)", read(path), re.M)
    return [re.split(r"\s*,\s*", row)[which].strip('" )') for row in found]


def check_tables():
    sources = [p for p in tracked(".c", ".h", ".def") if not p.startswith("tests/")]
    for table, macros, which, use, places in USED:
        names = rows(table, macros, which)
        if not names:
            problems.append(f"{table}: has no row {macros}")
        for n in sorted({n for n in names if names.count(n) > 1}):
            problems.append(f"{table}: {n} stands twice")
        text = "\n".join(re.sub(r"/\*.*?\*/", "", read(p), flags=re.S) for p in sources
                         if p.startswith(places) and p != table) if use else ""
        for n in names:
            if use and not re.search(use.replace("{}", re.escape(n)), text):
                problems.append(f"{table}: {n} is not used in {' '.join(places)}")


def check_words():
    """Every keyword is explained at the prompt; those that end a block are by `end`."""
    explained = rows("lang/syntax/words.def", "WORD", 0)
    for word in rows("lang/syntax/tokens.def", "KEYWORD", 1):
        if word not in explained and not word.startswith("end"):
            problems.append(f"lang/syntax/words.def: no row for {word}")


# -- built-ins and their tests ---------------------------------------------------------------------------------------
HIDDEN = re.compile(r'"(?:\\.|[^"\\\n])*"|%[^\n]*')  # strings and comments of the language
CALL = re.compile(r"(\$?\w+)\s*\(")
SHOWS = re.compile(r"\b(print|printf|assert|error|if|elseif|while|until|match|for|parallel_do|serial_do|exit)\b|^\s*\|")
ASSIGNS = re.compile(r"^\s*(?:\[([^\]]*)\]|(\w+)(?:\[[^=]*\]|\.\w+)*)\s*[-+*/|&~^_.]{0,3}=(?!=)")
DEFINES = re.compile(r"^\s*function\s+(?:(?:\[([^\]]*)\]|(\w+)[^=(]*)\s*=)?\s*(?:__\w+__\s*)?(\w+)\s*"
                     r"(?:\{[^}]*\}\s*)?\(")
# Their results are handles; tests print these, or look at the files that they write.
FOR_EFFECT = {"form", "vidcreate", "progress"}
with open(os.path.join(ROOT, "stdlib/builtins.def"), encoding="utf-8") as table:
    FOR_EFFECT |= set(re.findall(r'^FIGURE\("(\w+)"', table.read(), re.M))


def observed(text):
    """The lines of a script whose values somebody sees: they print, assert or decide; or they set a variable, or give
    the result of a function, that occurs in a line of which somebody sees the value."""
    code = HIDDEN.sub(' "" ', text)
    if re.search(r"^%\s*prompt:", text, re.M):
        return code  # the prompt shows the value of each line
    lines = code.split("\n")
    seen, taken, grows = {"main"}, set(), True
    while grows:
        grows = False
        for i, line in enumerate(lines):
            defines, assigns = DEFINES.match(line), ASSIGNS.match(line)
            if i in taken:
                continue
            if defines:
                reached = defines[3] in seen
            else:
                sets = set(re.findall(r"\w+", assigns[1] or assigns[2] or "")) if assigns else set()
                reached = SHOWS.search(line) or sets & seen
            if reached:
                taken.add(i)
                seen |= set(re.findall(r"\w+", line))
                grows = True
    return "\n".join(lines[i] for i in sorted(taken) if not DEFINES.match(lines[i]))


# Built-ins that only syntax calls, and how it looks.
SYNTAX = {"$spread": r"\w\([^()]*\.\.\.\w", "$object": r"\bobject\(\w+ *:=", "$dict": r"{\s*\S+ *:",
          "$format": r'\bf *"'}


def names_called(code):
    return set(CALL.findall(code)) | {name for name, form in SYNTAX.items() if re.search(form, code)}


def calls():
    """Built-ins that tests call, and those whose values tests look at."""
    called, looked_at = set(), set()
    for path in tracked(".q"):
        text = read(path)
        expects = os.path.exists(os.path.join(ROOT, path[:-2] + ".out")) or "assert(" in text
        if not path.startswith("tests/scripts/") or not expects:
            continue
        code = HIDDEN.sub(' "" ', text)
        own = {m[3] for m in map(DEFINES.match, code.split("\n")) if m}  # functions and variables of the script
        own |= set(re.findall(r"^\s*(\w+)\s*=[^=]", code, re.M))
        called |= names_called(code) - own
        looked_at |= names_called(observed(text)) - own
    for path in tracked(".py"):  # scripts in the text of functions that assert something
        if path.startswith("tests/"):
            for body in re.split(r"^def |^    def ", read(path), flags=re.M):
                if "assert" in body:
                    called |= set(CALL.findall(body))
    return called, looked_at


def check_builtins():
    called, looked_at = calls()
    kinds = "NATIVE|EACH|LAUNCH|EXACT|FIGURE"
    natives = dict(zip(rows("stdlib/builtins.def", kinds, 0), rows("stdlib/builtins.def", kinds, 4)))
    del natives["#id"]  # stands for the rows of elem.def
    natives |= {name: "1" for name in rows("lang/kernel/elem/elem.def", "ELEM", 0)}
    for name, results in natives.items():
        if name not in (called if results == "0" or name in FOR_EFFECT else looked_at):
            problems.append(f"stdlib/builtins.def: no test calls {name} and looks at what comes of it")
    return len(natives)


# -- traits ----------------------------------------------------------------------------------------------------------
NO_SIZES = {"circshift"}  # its n may be any number


def check_traits():
    """A parameter dim is a dimension, n, m and size are sizes, and [m, n] = f(x) with one result is unpacked."""
    text = read("stdlib/builtins.def")
    traits = {m[1]: m[2] for m in re.finditer(r'^TRAIT\("(\w+)", (.*)\)$', text, re.M)}
    natives = r'^(?:NATIVE|EACH|LAUNCH|EXACT|FIGURE)\("(\w+)",[^"]*?(-?\d+),\s*(-?\d+),\s*(\d+),\s*' \
        r'"((?:[^"\\]|\\.)*)"'
    signatures = {m[1]: (int(m[4]), m[5]) for m in re.finditer(natives, text, re.M)}
    for name in traits.keys() - signatures.keys():
        problems.append(f"stdlib/builtins.def: the TRAIT {name} is no built-in")
    for name, (results, signature) in signatures.items():
        has = traits.get(name, "")
        forms = [re.findall(r"[a-z]\w*|\.\.\.|\[\]|\[[a-z]+, [a-z]+\](?!\))", form.split(")")[0])
                 for form in signature.split(name + "(")[1:]]
        for form in forms:
            for i, parameter in enumerate(form):
                if parameter == "dim" and f"DIM({i})" not in has:
                    problems.append(f"stdlib/builtins.def: argument {i} of {name} is dim, without the trait DIM({i})")
                if parameter in ("n", "m", "size") and not re.search(rf"SIZE\({i}\)|SIZES_FROM", has) and \
                        name not in NO_SIZES:
                    problems.append(f"stdlib/builtins.def: argument {i} of {name} is a size, without SIZE({i})")
        if (results == 1 and "] = " in signature) != ("UNPACKS" in has):
            problems.append(f"stdlib/builtins.def: {name} has the trait UNPACKS, or a signature with it, not both")


# -- derivatives -----------------------------------------------------------------------------------------------------
def check_adjoints():
    rules = set(re.findall(r"^(?:function .*?= (?=\w+\())?(\w+_adjoint)\b", read("stdlib/adjoints.q"), re.M))
    tried = set(re.findall(r"^(\w+) \| ", read("tests/adjoints/cases.txt"), re.M))
    c = "".join(read(p) for p in tracked(".c") if p.startswith("vm/tape/")) + read("stdlib/adjoints.q")
    used = set(re.findall(r"\b(\w+_adjoint)\b(?!\(.*\)\n| = )", c))
    columns = re.compile(r'(?:NATIVE|EACH|LAUNCH|EXACT)\("([^"]+)".*, '
                         r'(ZERO|ACTS|CALLS|ELEMENTS|BY\("(\w+)[^"]*"\)|NONE\("([^"]*)"\))\)$')
    for line in read("stdlib/builtins.def").split("\n"):
        m = columns.match(line.rstrip())
        if not re.match(r'(NATIVE|EACH|LAUNCH|EXACT)\("', line):
            continue
        if not m:
            problems.append(f"stdlib/builtins.def: the last column of {line[:40]} is no adjoint")
        elif m[3] and m[3] not in rules:
            problems.append(f"stdlib/builtins.def: adjoints.q has no {m[3]}, the rule of {m[1]}")
        elif m[2][0] in "BE" and m[1] not in tried:
            problems.append(f"tests/adjoints/cases.txt: no line for {m[1]}")
        elif m[4] is not None and len(m[4].split()) < 4:
            problems.append(f"stdlib/builtins.def: {m[1]} does not say why it has no derivative")
        used.add(m[3] if m else None)
    for rule in sorted(rules - used):
        problems.append(f"stdlib/adjoints.q: nobody uses {rule}")


# -- text ------------------------------------------------------------------------------------------------------------
def check_style():
    for path in tracked(".c", ".h", ".def", ".py"):
        for number, line in enumerate(read(path).split("\n"), 1):
            if not path.endswith(".def") and len(line) > 120:
                problems.append(f"{path}:{number}: {len(line)} columns")
            if not path.endswith(".def") and "\t" in line:
                problems.append(f"{path}:{number}: a tab")
            if line != line.rstrip():
                problems.append(f"{path}:{number}: blanks at the end")


# What may lie at the root; scripts that are run there leave pictures and videos behind.
ROOMS = set("bridge cmake devices docs examples lang stdlib tests tools vm".split())
FILES = re.compile(r"\..*|[A-Z]\w*(\.md)?|CMake\w+\.(txt|json)|CITATION\.cff|pyproject\.toml")


def check_rooms():
    for path in filter(None, tracked("")):
        first, _, rest = path.partition("/")
        if not (first in ROOMS if rest else FILES.fullmatch(first)) and first != ".ci":
            problems.append(f"{path}: lies in no room of the house")


NAMED = re.compile(r"(?<![\w/.<\"*%{}()$-])((?:lang|vm|devices|stdlib|bridge|tests|tools|docs|examples)/[\w/]+"
                   r"\.(?:c|h|def|py|q|md)|\w{3,}\.(?:c|h|def|py))(?![\w*(])")
FOREIGN = {"Python.h"}


def check_names():
    """A path from the root, or the bare name of a source file."""
    paths = set(tracked(""))
    known = paths | {os.path.basename(p) for p in paths} | FOREIGN
    for path in tracked(".c", ".h", ".def", ".md"):
        text = read(path)
        readers = r"^```(?:c|cpp|cmake|sh|output|\w+ no-run)\n.*?^```"  # programs of the reader
        text = re.sub(readers, "", text, flags=re.S | re.M)
        comments = [text] if path.endswith(".md") else re.findall(r"/\*.*?\*/", text, re.S)
        for name in sorted({n for c in comments for n in NAMED.findall(c)} - known):
            problems.append(f"{path}: names {name}, which is not there")


def check_options():
    """What is made of options.def is up to date, and its variables of the environment are read."""
    sys.path.insert(0, os.path.join(ROOT, "tools"))
    import options
    for path in options.differences():
        problems.append(f"{path}: not as vm/options.def says; run tools/options.py --write")
    sources = "".join(read(p) for p in tracked(".c"))
    for row in options.ROWS:
        variable = getattr(row, "environment", None)
        if variable and f'getenv("{variable}")' not in sources:
            problems.append(f"vm/options.def: {row.name}: no file reads {variable}")


check_rooms()
check_options()
check_words()
check_tables()
check_names()
count = check_builtins()
check_traits()
check_adjoints()
check_style()
print("\n".join(problems) or f"tables: complete; {count} built-ins, each called by a test that looks at the result")
sys.exit(bool(problems))
