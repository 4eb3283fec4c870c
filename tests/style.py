#!/usr/bin/env python3
"""No size of an allocation is a bare product: count * size + extra is computed by qmem_size (vm/base/ctx.h), which
notices an overflow.  The size that is handed to an allocator may be a constant, a name, or a call of a function;
when it is a name, no product may be assigned to that name in the same function.  A shift of a variable counts as a
product.  The count and the size that qmem_size gets are no products of two variables either: such a product is
another call of qmem_size.  A file that breaks the rule is named with its line."""
import os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("vm/", "lang/", "devices/", "stdlib/", "bridge/")
# Allocators, and which of their arguments is the size.
SIZE = {"qmem_alloc": 1, "qmem_try": 1, "qmem_resize": 3, "qmem_try_resize": 3, "qarena_alloc": 1, "qast_alloc": 1,
        "qcode_alloc": 1, "qpool_get": 1, "qbuf_new": 1, "malloc": 0, "realloc": 1, "calloc": 0}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(SIZE) + r")\(")
CONSTANT = re.compile(r"sizeof\b.*|[\d.]+[uUlL]*|\(size_t\)\d+|[A-Z][A-Z_0-9]*$")


def closing(text, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if not depth:
            return i
    return len(text) - 1


def split(text, separator):
    """Parts between separators that are in no bracket."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if not depth and text.startswith(separator, i):
            parts.append(text[begin:i])
            begin = i + len(separator)
    return parts + [text[begin:]]


def has_product(expression, variables=1):
    """Whether a product in it, outside of calls of functions, has at least so many factors that are no constants."""
    e = expression.strip()
    while e.startswith("(") and closing(e, 0) == len(e) - 1:
        e = e[1:-1].strip()
    for term in (t for part in split(e, " + ") for t in split(part, " - ")):
        factors = [f.strip() for f in split(term, " * ")]
        if any(not CONSTANT.match(f) and len(split(f, " << ")) > 1 for f in factors):
            return True
        if len(factors) > 1 and len([f for f in factors if not CONSTANT.match(f)]) >= variables:
            return True
        for f in factors:
            cast = re.match(r"\((?:size_t|tmsize_t)\)(\(.*\))$", f)
            if cast and has_product(cast[1], variables):
                return True
    return False


def plain(text):
    """Without comments and strings, with the same lines."""
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.S)


def function_around(text, at):
    """The text from the beginning of the function to `at`: a bracket in the first column ends the one before."""
    return text[max(text.rfind("\n}", 0, at), 0):at]


def problems_of(path, text):
    text = plain(text)
    for m in CALL.finditer(text):
        arguments = split(text[m.end():closing(text, m.end() - 1)], ",")
        if len(arguments) <= SIZE[m[1]] or re.match(r"\s*(?:size_t|void|Ctx|struct)\b", arguments[0]):
            continue
        size = " ".join(arguments[SIZE[m[1]]].split())
        line = text.count("\n", 0, m.start()) + 1
        if m[1] == "calloc" and (" * " in size or " + " in size):
            yield f"{path}:{line}: calloc({size}, …): count and extra belong into qmem_size"
        elif has_product(size):
            yield f"{path}:{line}: {m[1]}(…, {size}): write qmem_size(count, size, extra)"
        elif re.fullmatch(r"[\w.>-]+", size):
            name = re.escape(size.split(">")[-1].split(".")[-1])
            for a in re.finditer(rf"\b{name} = ([^;]*);", function_around(text, m.start())):
                if has_product(split(a[1], ",")[0]):
                    yield f"{path}:{line}: {size} is {' '.join(a[1].split())}: write qmem_size(count, size, extra)"
    for m in re.finditer(r"\bqmem_size\(", text):
        for a in split(text[m.end():closing(text, m.end() - 1)], ",")[:2]:
            if has_product(a, 2):
                line = text.count("\n", 0, m.start()) + 1
                yield f"{path}:{line}: qmem_size(… {' '.join(a.split())} …): write another qmem_size for this product"


def check_itself():
    """The rule finds its violations."""
    bad = ["p = qmem_try(c, (n + 1) * sizeof(double));", "p = malloc(n * 4);", "p = calloc(n + 1, sizeof *p);",
           "size_t bytes = n * sizeof *p; p = qmem_alloc(c, bytes);", "p = qmem_resize(c, p, old, n * size);",
           "p = malloc((size_t)(w * h));", "p = malloc(qmem_size((size_t)(a->dims[0] * a->dims[1]), sizeof *p, 0));",
           "n = qmem_size(width, bits * samples, 0);", "p = qmem_try(c, n << 2);"]
    good = ["p = qmem_try(c, qmem_size(n, sizeof *p, sizeof *p));", "p = malloc(sizeof *p);", "p = malloc(n + 1);",
            "p = qarena_alloc(a, 4 * sizeof(int));", "n = qmem_size(n, 2 * sizeof *p, 0);",
            "p = qmem_try(c, (size_t)1 << bits);", "p = qmem_try(c, qmem_size(qmem_size(w, h, 0), sizeof *p, 0));",
            "p = calloc(n, sizeof *p);", "qmem_free(c, p, n * sizeof *p);"]
    wrong = [t for t in bad if not list(problems_of("", t))] + [t for t in good if list(problems_of("", t))]
    return [f"tests/style.py: judges wrongly: {t}" for t in wrong]


def main():
    names = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True).stdout.split("\n")
    files = [n for n in names if n.startswith(ROOMS) and n.endswith((".c", ".h")) and os.path.exists(f"{ROOT}/{n}")]
    problems = check_itself()
    for path in files:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            problems += problems_of(path, f.read())
    print("\n".join(problems) or f"style: {len(files)} files, every size of an allocation is checked for overflow")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
