#!/usr/bin/env python3
"""Writes the files that are generated from pyquasar.array_api: the table of docs/array_api.md between its marks, and
the stubs in bridge/pyquasar/array_api; --check lists files that are not up to date.  It needs the built package:

    PYTHONPATH=build/python tools/array_api.py [--check]"""
import inspect, os, sys, textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- functions: written by tools/array_api.py -->", "<!-- functions: end -->"
KINDS = (("bool", 1 << 0), ("integer", 1 << 1), ("real", 1 << 12), ("complex", 1 << 14))


def functions(module):
    """(name, function) of a module, but not the elementwise ones, which are in the table."""
    rows = {row[0] for row in module.ELEMENTWISE} if hasattr(module, "ELEMENTWISE") else ()
    return [(n, getattr(module, n)) for n in module.__all__
            if inspect.isfunction(getattr(module, n)) and n not in rows]


def table(xp):
    lines = ["| elementwise function | types | result |", "|---|---|---|"]
    for name, nargs, gives, doc, types in xp.ELEMENTWISE:
        arguments = ("x", "x1, x2", "condition, x1, x2")[nargs - 1]
        kinds = ", ".join(kind for kind, bit in KINDS if types & bit)
        lines.append("| `%s(%s)` | %s | %s |" % (name, arguments, kinds, doc.replace("|", "\\|")))
    for title, module in (("other functions", xp), ("linalg", xp.linalg), ("fft", xp.fft)):
        lines += ["", "| %s | |" % title, "|---|---|"]
        lines += ["| `%s` | %s |" % (n, " ".join(f.__doc__.split())) for n, f in functions(module)]
    return "\n".join(lines)


HEAD = '"""The functions of the standard, for checkers and editors; written by tools/array_api.py."""\n'


def defined(module):
    return ["def %s%s -> Any: ..." % (name, written(inspect.signature(f))) for name, f in functions(module)]


def exported(module):
    names = ", ".join('"%s"' % n for n in module.__all__)
    return textwrap.fill("__all__ = [%s]" % names, 118, subsequent_indent="           ")


def stub(xp):
    lines = ["from typing import Any, final", "", "from .. import qvalue",
             "from . import fft as fft, linalg as linalg", "", exported(xp), "",
             "class DType:", "    name: str", "    itemsize: int", "", "@final", "class Array(qvalue):",
             "    @property", "    def mT(self) -> Array: ...", "    @property", "    def device(self) -> str: ...",
             "    def to_device(self, device: Any, /, *, stream: Any = ...) -> Array: ...",
             "    def __imatmul__(self, x: Any, /) -> Any: ...",
             "    def __array_namespace__(self, /, *, api_version: Any = ...) -> Any: ...", "",
             "__array_api_version__: str", "newaxis: None"]
    lines += ["%s: float" % n for n in ("e", "inf", "nan", "pi")]
    lines += ["%s: DType" % d.name for d in xp._BY_CODE.values()]
    for name, nargs, gives, doc, types in xp.ELEMENTWISE:
        arguments = ("x: Any", "x1: Any, x2: Any", "condition: Any, x1: Any, x2: Any")[nargs - 1]
        lines.append("def %s(%s, /) -> Array: ..." % (name, arguments))
    lines += defined(xp) + ["def __array_namespace_info__() -> Any: ..."]
    return HEAD + "\n".join(lines) + "\n"


def written(signature):
    """Defaults that are no numbers or texts are '...'."""
    parameters = [p.replace(default=p.default if p.default is p.empty else ...) for p in signature.parameters.values()]
    return str(signature.replace(parameters=parameters)).replace("Ellipsis", "...")


def main():
    import pyquasar.array_api as xp
    page = os.path.join(ROOT, "docs", "array_api.md")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    folder = os.path.join(ROOT, "bridge", "pyquasar", "array_api", "")
    wanted = {page: before + BEGIN + "\n" + table(xp) + "\n" + END + after, folder + "__init__.pyi": stub(xp)}
    for module in (xp.linalg, xp.fft):
        text = HEAD + "\n".join(["from typing import Any", "", exported(module)] + defined(module)) + "\n"
        wanted[folder + module.__name__.rsplit(".", 1)[1] + ".pyi"] = text
    stale = 0
    for path, content in wanted.items():
        have = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        stale |= have != content
        if have != content and "--check" in sys.argv:
            print("%s is not what the tables say; run tools/array_api.py" % os.path.relpath(path, ROOT))
        elif have != content:
            with open(path, "w", encoding="utf-8") as f:
                f.write(content)
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
