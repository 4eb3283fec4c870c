"""Reads stdlib/builtins.def together with the rows that it takes from vm/base/reduce.def."""
import os, re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read_rows():
    def open_table(path):
        return open(os.path.join(ROOT, path), encoding="utf-8")

    with open_table("stdlib/builtins.def") as table, open_table("vm/base/reduce.def") as reductions:
        text, more = table.read(), reductions.read()
    row = r"^REDUCTION\((\w+), (\w+), (\d), (\d), .*,\n +(.*)\)$"
    for name, kind, dim, results, rest in re.findall(row, more, re.M):
        text += f'{kind}("{name}", qstats_{name}, 1, {int(dim) + 1}, {results}, {rest})\n'
        text += f'TRAIT("{name}", DIM({dim}))\n' if dim != "0" else ""
    return text
