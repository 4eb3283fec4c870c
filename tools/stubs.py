#!/usr/bin/env python3
"""Writes the stub of what the language brings to pyquasar: tools/stubs.py docs/builtins.md bridge/pyquasar OUT.

Functions, with the signatures of the manual, and constants.  mypy refuses other names of the package; functions of a
program are names of the module that compile_string gives."""
import keyword, re, sys


def rows(path):
    """Yields the heading and the signature of each row of the manual."""
    heading = ""
    for line in open(path, encoding="utf-8"):
        if line.startswith("## "):
            heading = line[3:].strip()
        found = re.match(r"\| `([^`]+)` \|", line)
        if found:
            yield heading, found.group(1)


def written(signature):
    parts = []
    for p in signature.parameters.values():
        star = "*" if p.kind == p.VAR_POSITIONAL else ""
        if p.kind == p.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        parts.append("%s%s: Any%s" % (star, p.name, "" if p.default is p.empty else " = ..."))
    return ", ".join(parts)


def main():
    manual, package, out = sys.argv[1:]
    sys.path.insert(0, package)
    from _signatures import signature_of
    with open(package + "/__init__.pyi", encoding="utf-8") as f:
        seen = set(re.findall(r"^(?:def |class )?(\w+)[(:]", f.read(), re.M))  # what the package itself defines
    lines = []
    for heading, text in rows(manual):
        name = (re.search(r"(\w+)\(", text) or re.search(r"\w+", text)).group().rstrip("(")
        if name in seen or keyword.iskeyword(name):
            continue
        seen.add(name)
        constant = heading == "Constants"
        lines.append("%s: Any" % name if constant else "def %s(%s) -> Any: ..." % (name, written(signature_of(text))))
    with open(out, "w", encoding="utf-8") as f:
        f.write("# Made by tools/stubs.py.\nfrom typing import Any\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
