#!/usr/bin/env python3
"""Who may include whom.  The rules are those of docs/internals.md; a file that breaks one is named with its line."""
import os, re, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAYERS = ["vm/base", "vm", "lang/kernel", "lang", "devices", "stdlib", "bridge", "examples"]
BASE = ("vm/base/", "vm/quasar.h")
ALLOWED = {  # layer -> prefixes of what its files may include from this tree, besides their own layer
    "vm/base": ("vm/quasar.h",),
    "devices": BASE,
    "lang": BASE,
    "lang/kernel": BASE + ("lang/ast.h", "lang/operators.def", "lang/types.h", "lang/scope.h", "lang/rewrite.h",
                           "lang/diag.h", "devices/"),
    "vm": BASE + ("lang/", "devices/", "stdlib/stdlib.h"),
    "stdlib": BASE + ("vm/", "lang/", "devices/"),
    "bridge": BASE + ("vm/array.h", "vm/object.h", "vm/python.h"),
    "examples": ("vm/quasar.h",),
}
ONLY = {  # a foreign header -> the files that may see it
    "Python.h": ("bridge/",), "numpy/": ("bridge/ndarray",), "CL/": ("devices/opencl.c",),
    "cuda.h": ("devices/cuda.c",),
    "llvm": (), "png.h": ("stdlib/image",), "jpeglib.h": ("stdlib/image",), "tiffio.h": ("stdlib/image",),
    "pcre2.h": ("stdlib/regex",), "cblas.h": ("vm/matrix.c", "stdlib/linalg"), "lapacke.h": ("stdlib/linalg",),
}


def layer_of(path):
    return next((l for l in LAYERS if path.startswith(l + "/")), None)


def main():
    problems, files = [], 0
    for folder, dirs, names in os.walk(ROOT):
        dirs[:] = [d for d in dirs if not d.startswith((".", "build"))]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            layer = layer_of(path)
            if not name.endswith((".c", ".h", ".def")) or not layer:
                continue
            files += 1
            for number, line in enumerate(open(os.path.join(ROOT, path), encoding="utf-8"), 1):
                m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
                if not m:
                    continue
                quote, target = m[1], m[2]
                where = f"{path}:{number}"
                if quote == '"':
                    if path == "vm/qrun.c" and target not in ("vm/quasar.h",) and not target.startswith("vm/"):
                        problems.append(f"{where}: qrun.c sees {target}; it is a client of vm/ only")
                    if not os.path.exists(os.path.join(ROOT, target)):
                        problems.append(f"{where}: {target} is not a path from the root of the tree")
                    elif layer_of(target) != layer and not target.startswith(ALLOWED[layer]):
                        problems.append(f"{where}: {layer} may not include {target}")
                else:
                    for foreign, homes in ONLY.items():
                        if target.startswith(foreign) and not path.startswith(homes or ("\0",)):
                            problems.append(f"{where}: only {', '.join(homes) or 'nobody'} may see <{target}>")
    print("\n".join(problems) or f"layers: {files} files, no forbidden include")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
