#!/usr/bin/env python3
"""Writes what is made of vm/options.def and is not C code, or says which file differs:  tools/options.py [--write]

These are the members of qs_config in vm/quasar.h, the signature and the documentation of pyquasar.init, its stub, and
docs/options.md."""
import os, re, sys, textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
C_TYPES = {"FLAG": "bool ", "INT": "int ", "SIZE": "size_t ", "TEXT": "const char *", "PATH": "const char *"}
PYTHON_TYPES = {"FLAG": "_bool", "INT": "_int", "SIZE": "_int", "TEXT": "_str", "PATH": "_file"}
ARGUMENTS = {"OPTION": "name type default check uses environment value help", "COMMAND": "name type check value help",
             "ALIAS": "name option text value help", "MEMBER": "declaration help"}


class Row:
    def __init__(self, kind, arguments):
        self.kind = kind
        for name, x in zip(ARGUMENTS[kind].split(), arguments):
            setattr(self, name, None if x == "NULL" else x)
        uses = {"OPTION": getattr(self, "uses", ""), "MEMBER": ""}.get(kind, "COMMANDED")
        self.uses = set(re.findall(r"[A-Z]+", uses))
        self.environment = getattr(self, "environment", None)
        self.default = getattr(self, "default", "UNSET")


def split_arguments(text):
    """The arguments of a row: strings are joined and unquoted."""
    parts, depth, part = [], 0, []
    for token in re.findall(r'"(?:\\.|[^"\\])*"|.', text, re.S):
        depth += (token == "(") - (token == ")")
        if token == "," and depth == 0:
            parts.append(part)
            part = []
        else:
            part.append(token)
    parts.append(part)
    return [join_tokens([t for t in p if not t.isspace() or depth]) for p in parts]


def join_tokens(tokens):
    if tokens and all(t.startswith('"') for t in tokens):
        text = "".join(t[1:-1] for t in tokens).replace('\\"', '"')
        return text if text else '""'
    return "".join(tokens)


def read_rows():
    with open(os.path.join(ROOT, "vm/options.def"), encoding="utf-8") as f:
        text = f.read()
    text = text[text.index("/* clang-format off */"):]
    rows = []
    for m in re.finditer(r"^(OPTION|COMMAND|ALIAS|MEMBER)\((.*?)\)$", text, re.M | re.S):
        rows.append(Row(m[1], split_arguments(m[2])))
    return rows


ROWS = read_rows()
PYTHON = [r for r in ROWS if "PYTHON" in r.uses]


def spelled(row):
    return "--" + row.name.replace("_", "-")


def python_default(row):
    return {"UNSET": "None", "false": "False", "true": "True"}.get(row.default, row.default)


# -- the parts ---------------------------------------------------------------------------------------------------------

def write_members():
    lines = []
    for r in ROWS:
        if r.kind not in ("OPTION", "MEMBER"):
            continue
        if r.help and r.help != '""':
            lines += (line.replace("\0", " ") for line in textwrap.wrap(
                "/* %s\0*/" % r.help, 116, initial_indent="    ", subsequent_indent="     * "))
        lines.append("    %s;" % (r.declaration if r.kind == "MEMBER" else C_TYPES[r.type] + r.name))
    return "\n".join(lines) + "\n"


def wrap_signature(head, parts, tail):
    return textwrap.fill(head + ", ".join(parts) + tail, 116, subsequent_indent=" " * len("def init("),
                         break_on_hyphens=False, break_long_words=False)


def write_init():
    names = ["device=None", "*", "loadCompiler=True", "load_compiler=True"]
    names += ["%s=%s" % (r.name, python_default(r)) for r in PYTHON if r.name != "device"]
    width = max(len(r.name) for r in PYTHON) + 2
    lines = [wrap_signature("def init(", names, "):"), '    """Opens the VM.  All other functions need it.', ""]
    for r in PYTHON:
        for i, line in enumerate(textwrap.wrap(r.help, 112 - width, break_on_hyphens=False)):
            lines.append("    " + (r.name if i == 0 else "").ljust(width) + line)
    lines += ["", '    The compiler is always available; load_compiler is accepted for compatibility."""']
    return "\n".join(lines) + "\n"


def write_stub():
    parts = ["device: Optional[_str] = None", "*", "loadCompiler: Union[_bool, _int] = True",
             "load_compiler: Union[_bool, _int] = True"]
    for r in PYTHON:
        kind = PYTHON_TYPES[r.type] if r.default != "UNSET" else "Optional[%s]" % PYTHON_TYPES[r.type]
        if r.name != "device":
            parts.append("%s: %s = %s" % (r.name, kind, python_default(r)))
    return wrap_signature("def init(", parts, ") -> None: ...") + "\n"


def write_manual():
    lines = ["# Options", "", """This table is made from `vm/options.def`. An option has the same meaning in each
column: in the command `qrun`, in `pyquasar.init`, and in `qs_config` of the C interface. An option that is given wins
over the variable of the environment. `--name value` and `--name=value` are the same.""", "",
             "| qrun | Python, C | environment | default | meaning |", "|---|---|---|---|---|"]
    for r in ROWS:
        if r.kind == "MEMBER":
            continue
        command = "`%s%s`" % (spelled(r), " " + r.value if r.value else "") if "COMMANDED" in r.uses else ""
        here = "`%s`" % r.name if r.kind == "OPTION" else ""
        here += " (C)" if r.kind == "OPTION" and "PYTHON" not in r.uses else ""
        default = "" if r.default in ("UNSET", "false", '""') else r.default
        lines.append("| %s | %s | %s | %s | %s |" % (command.replace("|", "\\|"), here, "`%s`" % r.environment if
                                                     r.environment else "", default, r.help.replace("|", "\\|")))
    return "\n".join(lines) + "\n"


BEGIN, END = "options: begin (written by tools/options.py)", "options: end"
PARTS = {"vm/quasar.h": write_members, "bridge/pyquasar/__init__.py": write_init,
         "bridge/pyquasar/__init__.pyi": write_stub, "docs/options.md": write_manual}


def made(path):
    """What the file should hold, and what it holds."""
    full = os.path.join(ROOT, path)
    text = ""
    if os.path.exists(full):
        with open(full, encoding="utf-8") as f:
            text = f.read()
    if path.endswith(".md"):
        return PARTS[path](), text
    head, rest = text.split(BEGIN, 1)
    first, body = rest.split("\n", 1)
    place = re.search(r"^.*%s" % END, body, re.M)
    return head + BEGIN + first + "\n" + PARTS[path]() + body[place.start():], text


def differences():
    return [path for path in PARTS if made(path)[0] != made(path)[1]]


def main():
    if sys.argv[1:] == ["--write"]:
        for path in differences():
            text = made(path)[0]
            with open(os.path.join(ROOT, path), "w", encoding="utf-8") as f:
                f.write(text)
    elif differences():
        sys.exit("not as vm/options.def says: %s; run tools/options.py --write" % ", ".join(differences()))


if __name__ == "__main__":
    main()
