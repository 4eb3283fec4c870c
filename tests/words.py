#!/usr/bin/env python3
"""Refuses home-made words for which docs/internals.md (Glossary) has a standard term, in code, comments, texts and
documents.  Each rule is a regular expression and what to write instead.  A name is one word: a_turn is not `turn`."""
import os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = (".c", ".h", ".hpp", ".def", ".q", ".py", ".pyi", ".md")
SKIPPED = ("CHANGELOG.md", "tests/words.py")
RULES = [
    (r"\bwhole[ -]numbers?\b", "integer"),
    (r"\bway back\b", "backward pass"),
    (r"\banother kind\b", "a different type"),
    (r"\bheard of\b|\bthat which\b|\bunless told\b", "name the thing"),
    (r"\bturns? of (a|the|this|its) loop\b|\bturns in order\b", "iteration"),
    (r"\b(each|every|next|last|first|previous) turn\b", "iteration"),
    (r"\b[a-z]\w*_tell(_\w+)?\b|\btell_\w+|\btold_\w+", "report"),
    (r"\bq?[a-z]+_turns\b|\b[A-Z]+_TURNS\b|\bturns_of\b", "iterations"),
    (r"\bq[a-z]+_turned\b|\bis_turned\b", "transposed"),
    (r"\bq[a-z]+_place\b", "location or position"),
    (r"\bLATE_\w+", "LAZY_…: a library that is loaded on first use"),
]


def problems_of(path, text):
    for pattern, instead in RULES:
        for m in re.finditer(pattern, text):
            yield f"{path}:{text.count(chr(10), 0, m.start()) + 1}: `{m[0]}`: write {instead}"


def main():
    names = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True).stdout.split("\n")
    files = [n for n in names if n.endswith(FILES) and n not in SKIPPED and os.path.isfile(f"{ROOT}/{n}")]
    problems = []
    for name in files:
        with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as f:
            problems += problems_of(name, f.read())
    print("\n".join(problems) or f"words: {len(files)} files use the terms of the glossary")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
