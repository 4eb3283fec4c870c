#!/usr/bin/env python3
"""Who may include whom, and that no two headers have one name.  The rules are those of docs/internals.md; a file that
breaks one is named with its line."""
import os, re, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASE = ("vm/base/", "vm/quasar_types.h")
KIR = ("lang/kernel/ir/", "lang/syntax/operators.") + BASE
HOST = ("vm/quasar.h", "lang/syntax/", "devices/") + BASE
ROOMS = {  # folder -> prefixes of what its files may include from this tree, besides their own folder
    "vm/base": ("vm/quasar_types.h",),
    "lang/syntax": BASE,
    "lang/names": ("lang/syntax/",) + BASE,
    "lang/bytecode": ("lang/syntax/", "lang/names/") + BASE,
    "lang/kernel/ir": BASE,
    "lang/kernel/elem": KIR,
    "lang/kernel/lower/common": KIR + ("lang/kernel/elem/", "lang/syntax/", "lang/names/"),
    "lang/kernel/lower/kernel": KIR + ("lang/kernel/elem/", "lang/kernel/lower/common/", "lang/syntax/", "lang/names/"),
    "lang/kernel/lower/loop": KIR + ("lang/kernel/elem/", "lang/kernel/lower/common/", "lang/syntax/", "lang/names/"),
    "lang/kernel/lower/fusion": KIR + ("lang/kernel/elem/", "lang/kernel/lower/common/", "lang/syntax/", "lang/names/"),
    "lang/kernel/passes": KIR,
    "lang/kernel/autodiff": KIR + ("lang/kernel/elem/", "lang/kernel/passes/"),
    "lang/kernel/codegen": KIR + ("lang/kernel/passes/", "devices/"),
    "lang/kernel": KIR + ("lang/kernel/codegen/", "lang/kernel/passes/", "devices/"),
    "devices": BASE,
    # The rooms of the machine still know each other in circles; what is listed here may become less, not more.
    "vm/value": HOST + ("vm/array/", "vm/tape/tape.h"),
    "vm/array": HOST + ("vm/value/", "vm/launch/run.h", "vm/tape/tape.h", "lang/kernel/elem/"),
    "vm/typed": HOST + ("vm/value/", "vm/array/", "lang/kernel/elem/", "lang/kernel/ir/mathfn.def"),
    "vm/tape": HOST + ("vm/value/", "vm/array/", "vm/interp/", "vm/launch/", "vm/program/", "vm/api/", "lang/kernel/",
                       "stdlib/stdlib.h"),
    "vm/interp": HOST + ("vm/value/", "vm/array/", "vm/tape/tape.h", "vm/launch/jit_hooks.h", "vm/program/", "vm/api/",
                         "lang/bytecode/", "lang/names/",
                         "lang/kernel/lower/", "stdlib/stdlib.h"),
    "vm/launch": HOST + ("vm/value/", "vm/tape/", "vm/array/", "vm/interp/", "vm/program/", "vm/api/", "lang/kernel/",
                         "lang/names/"),
    "vm/program": HOST + ("vm/value/", "vm/tape/tape.h", "vm/array/", "vm/interp/", "vm/launch/", "vm/api/",
                          "lang/names/",
                          "stdlib/stdlib.h"),
    "vm/api": HOST + ("vm/options.def", "vm/value/", "vm/tape/tape.h", "vm/array/", "vm/interp/", "vm/launch/",
                      "vm/program/",
                      "lang/names/",
                          "stdlib/stdlib.h"),
    "stdlib": BASE + ("vm/", "lang/", "devices/", "stdlib/figure/window.h"),
    "stdlib/figure": BASE + ("vm/", "stdlib/"),
    "stdlib/window": BASE + ("vm/", "stdlib/", "lang/syntax/ast.h"),
    "stdlib/video": BASE + ("vm/", "stdlib/"),
    "bridge": BASE + ("vm/quasar.h", "vm/tape/tape.h", "vm/launch/launch.h", "vm/array/", "vm/typed/", "vm/value/",
                      "vm/program/python.h", "vm/api/options.h", "lang/syntax/ast.h", "lang/syntax/operators.h"),
    "examples": ("vm/quasar.h",),
}
ONLY = {  # a foreign header -> the files that may see it
    "Python.h": ("bridge/",), "numpy/": ("bridge/ndarray",), "CL/": ("devices/opencl.c",),
    "cuda.h": ("devices/cuda.c",),
    "llvm": (), "png.h": ("stdlib/image",), "jpeglib.h": ("stdlib/image",), "tiffio.h": ("stdlib/image",),
    "libav": ("stdlib/video/ffmpeg.c",), "libsw": ("stdlib/video/ffmpeg.c",),
    "pcre2.h": ("stdlib/regex",), "cblas.h": ("vm/array/matmul.c", "stdlib/linalg"), "lapacke.h": ("stdlib/linalg",),
}


def room_of(path):
    return os.path.dirname(path)


def main():
    problems, files, headers = [], 0, {}
    for folder, dirs, names in os.walk(ROOT):
        dirs[:] = [d for d in dirs if not d.startswith((".", "build"))]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            room = room_of(path)
            if not name.endswith((".c", ".h", ".def")) or room not in ROOMS:
                continue
            files += 1
            if name.endswith(".h") and headers.setdefault(name, path) != path:
                problems.append(f"{path}: {headers[name]} has the same name")
            for number, line in enumerate(open(os.path.join(ROOT, path), encoding="utf-8"), 1):
                m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
                if not m:
                    continue
                quote, target = m[1], m[2]
                where = f"{path}:{number}"
                if quote == '"':
                    if path == "vm/api/qrun.c" and target not in ("vm/quasar.h",) and not target.startswith("vm/"):
                        problems.append(f"{where}: qrun.c sees {target}; it is a client of vm/ only")
                    if (path, target) == ("vm/quasar.h", "quasar_types.h"):
                        continue  # the two are installed side by side
                    if not os.path.exists(os.path.join(ROOT, target)):
                        problems.append(f"{where}: {target} is not a path from the root of the tree")
                    elif room_of(target) != room and not target.startswith(ROOMS[room]):
                        problems.append(f"{where}: {room} may not include {target}")
                else:
                    for foreign, homes in ONLY.items():
                        if target.startswith(foreign) and not path.startswith(homes or ("\0",)):
                            problems.append(f"{where}: only {', '.join(homes) or 'nobody'} may see <{target}>")
    print("\n".join(problems) or f"layers: {files} files, no forbidden include")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
