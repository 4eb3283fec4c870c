#!/usr/bin/env python3
"""Checks which room may include which, that rooms do not include each other in a circle, and that no two files have
one name.  Prints the order of the rooms, lowest first.  The rules are those of docs/internals.md; the message names the
file and line that breaks one."""
import os, re, sys, textwrap

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
    "lang/kernel/lower/loop": KIR
    + ("lang/kernel/elem/", "lang/kernel/lower/common/", "lang/kernel/passes/", "lang/syntax/", "lang/names/"),
    "lang/kernel/lower/fusion": KIR + ("lang/kernel/elem/", "lang/kernel/lower/common/", "lang/syntax/", "lang/names/"),
    "lang/kernel/passes": KIR,
    "lang/kernel/autodiff": KIR + ("lang/kernel/elem/", "lang/kernel/passes/"),
    "lang/kernel/codegen": KIR + ("lang/kernel/passes/", "devices/"),
    "lang/kernel": KIR + ("lang/kernel/codegen/", "lang/kernel/passes/", "devices/"),
    "devices": BASE,
    "vm/value": HOST,
    "vm/array": HOST + ("vm/value/", "lang/kernel/elem/"),
    "vm/typed": HOST + ("vm/value/", "vm/array/", "lang/kernel/elem/", "lang/kernel/ir/mathfn.def"),
    "vm/program": HOST + ("vm/value/", "vm/array/", "lang/names/"),
    "vm/interp": HOST + ("vm/value/", "vm/array/", "vm/program/", "lang/bytecode/", "lang/names/",
                         "lang/kernel/lower/"),
    "vm/launch": HOST + ("vm/value/", "vm/array/", "vm/program/", "vm/interp/", "lang/kernel/", "lang/names/"),
    "vm/tape": HOST + ("vm/value/", "vm/array/", "vm/program/", "vm/interp/", "vm/launch/", "lang/kernel/"),
    "stdlib": BASE + ("vm/quasar.h", "vm/value/", "vm/array/", "vm/typed/", "vm/program/", "vm/interp/", "vm/launch/",
                      "vm/tape/", "lang/", "devices/", "stdlib/"),
    "vm/api": HOST + ("vm/options.def", "vm/value/", "vm/array/", "vm/program/", "vm/interp/", "vm/launch/",
                      "vm/tape/tape.h", "lang/names/", "stdlib/stdlib.h"),
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


# A file that may include a header of a higher room -> (the header, why).
UPWARD = {"stdlib/absent.c": ("stdlib/figure/window.h",
                              "it replaces the functions of this header in a build without windows")}


def room_of(path):
    return os.path.dirname(path)


def sort_rooms(edges):
    """The rooms in an order in which each includes only earlier ones, and the rooms that are left over in circles.
    edges: room -> {included room: where}."""
    order, left = [], dict.fromkeys(ROOMS)
    while True:
        ready = [r for r in left if not any(e in left for e in edges.get(r, ()))]
        if not ready:
            return order, list(left)
        order += ready[:1]
        del left[ready[0]]


def find_circle(edges, left):
    """One circle among these rooms, as [(room, included room)]."""
    path = [left[0]]
    while True:
        following = next(e for e in edges[path[-1]] if e in left)
        if following in path:
            path = path[path.index(following):] + [following]
            return list(zip(path, path[1:]))
        path.append(following)


def main():
    problems, files, homes_of, edges = [], 0, {}, {}
    for folder, dirs, names in os.walk(ROOT):
        dirs[:] = [d for d in dirs if not d.startswith((".", "build"))]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            room = room_of(path)
            if not name.endswith((".c", ".h", ".def")) or room not in ROOMS:
                continue
            files += 1
            if homes_of.setdefault(name, path) != path:
                problems.append(f"{path}: {homes_of[name]} has the same name")
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
                        continue
                    if path in UPWARD and UPWARD[path][0] == target:
                        continue
                    if room_of(target) != room and room_of(target) in ROOMS:
                        edges.setdefault(room, {}).setdefault(room_of(target), where)
                    if room_of(target) != room and not target.startswith(ROOMS[room]):
                        problems.append(f"{where}: {room} may not include {target}")
                else:
                    for foreign, homes in ONLY.items():
                        if target.startswith(foreign) and not path.startswith(homes or ("\0",)):
                            problems.append(f"{where}: only {', '.join(homes) or 'nobody'} may see <{target}>")
    order, left = sort_rooms(edges)
    if left:
        circle = find_circle(edges, left)
        problems.append("rooms include each other in a circle: " + "; ".join(
            f"{room} includes {e} ({edges[room][e]})" for room, e in circle))
    print("\n".join(problems) or f"layers: {files} files, no forbidden include; order of the rooms:\n  " +
          "\n  ".join(wrap_order(order)))
    sys.exit(bool(problems))


def wrap_order(order):
    return textwrap.wrap(", ".join(order), 118)


if __name__ == "__main__":
    main()
