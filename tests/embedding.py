#!/usr/bin/env python3
"""docs/embedding.md, followed line by line by somebody who has nothing but what `make install` installed: the programs
and commands of the page, the examples in other languages, and what libquasar.so shows.

    tests/embedding.py --build build        installs from there into a folder of its own
"""
import argparse, os, re, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAILED, SKIPPED = [], []


def run(command, folder, env, what, expect=None):
    r = subprocess.run(command, cwd=folder, env=env, shell=isinstance(command, str), capture_output=True, text=True,
                       timeout=300)
    out = r.stdout
    if r.returncode != 0 or (expect is not None and out != expect):
        FAILED.append(what)
        print(f"FAILED {what}: status {r.returncode}\n--- printed\n{out}{r.stderr}--- expected\n{expect or ''}")
    return out


def blocks(page):
    return re.findall(r"^```(\w+)\n(.*?)^```$", page, re.S | re.M)


def follow(page, folder, env):
    """Programs become files of the name in their first line; commands run there; an output is of the command before."""
    found = blocks(page)
    for i, (kind, text) in enumerate(found):
        if kind in ("c", "cpp"):
            name = re.match(r"(?:/\*|//) (\S+)", text)[1]
            open(os.path.join(folder, name), "w").write(text)
        elif kind == "cmake":
            open(os.path.join(folder, "CMakeLists.txt"), "w").write(text)
            run("cmake -B by_cmake . && cmake --build by_cmake && ./by_cmake/filter photo.png again.png", folder, env,
                "the page's CMake")
        elif kind == "sh":
            expect = found[i + 1][1] if i + 1 < len(found) and found[i + 1][0] == "output" else None
            run(text, folder, env, text.splitlines()[0], expect)
    for made in ("blurred.png", "again.png"):
        if not os.path.getsize(os.path.join(folder, made)) > 10000:
            FAILED.append(made)


def other_languages(folder, env, prefix):
    lib = os.path.join(prefix, "lib")
    louder = "louder: 10 20 30 60\n"
    for tool, example, command in (
            ("rustc", "embed.rs", f"rustc -O -L {lib} embed.rs -o embed_rs && ./embed_rs"),
            ("go", "embed.go", "GOFLAGS=-mod=mod GO111MODULE=off go build -o embed_go embed.go && ./embed_go")):
        if not shutil.which(tool):
            SKIPPED.append(f"{example}: {tool} is not installed")
            continue
        shutil.copy(os.path.join(ROOT, "examples", example), folder)
        run(command, folder, env, example, louder)
    shutil.copy(os.path.join(ROOT, "examples", "embed_loop.c"), folder)
    out = run("cc -O2 embed_loop.c -o embed_loop $(pkg-config --cflags --libs quasar) && ./embed_loop 300", folder, env,
              "embed_loop.c")
    if "300 calls" not in out:
        FAILED.append("embed_loop.c says nothing of its calls")


def static_library(folder, env):
    run("cc memory.c -o memory_static $(pkg-config --cflags quasar) -Wl,-Bstatic $(pkg-config --libs quasar) "
        "-Wl,-Bdynamic "
        "$(pkg-config --static --libs-only-l quasar | sed 's/-lquasar//') && ./memory_static", folder, env,
        "with libquasar.a", "10 10 30 \n10 20 30 60\n")


def declared():
    header = open(os.path.join(ROOT, "vm", "quasar.h")).read()
    return set(re.findall(r"QS_API[^;]*?\b(qs_\w+)\(", header))


def interface(prefix):
    """What the library shows is what the header declares, and what it showed when this interface began."""
    lib = os.path.join(prefix, "lib", "libquasar.so.0")
    out = subprocess.run(["nm", "-D", "--defined-only", lib], capture_output=True, text=True, check=True).stdout
    shown = set(re.findall(r"\b(\w+)@@QUASAR_0$", out, re.M)) - {"QUASAR_0"}
    listed = set(open(os.path.join(ROOT, "tests", "interface.txt")).read().split())
    for what, names in (("not in quasar.h, but shown", shown - declared()),
                        ("in quasar.h, and not shown", declared() - shown),
                        ("gone since this interface began: a new QUASAR_INTERFACE is due", listed - shown),
                        ("new: add it to tests/interface.txt", shown - listed)):
        if names:
            FAILED.append(f"{what}: {', '.join(sorted(names))}")
    others = set(re.findall(r" [B-TV-Z] ([^q\W]\w*)@", out, re.M))
    if others:
        FAILED.append("names of others are shown: " + ", ".join(sorted(others)[:5]))
    # Both cost the programs that open it a third of the time each.
    text = subprocess.run(["readelf", "-drW", lib], capture_output=True, text=True, check=True).stdout
    late = set(re.findall(r"\[(lib(?:png|jpeg|tiff|pcre|z|expat)[^]]*)\]", text))
    if late:
        FAILED.append("linked, and should be opened when they are first used: " + ", ".join(sorted(late)))
    defined = set(re.findall(r" [TDRB] (\w+)@", out))
    bound = defined & set(re.findall(r"R_X86_64_(?:JUMP_SLOT|JUMP_SLO|GLOB_DAT) +\w+ (\w+)", text))
    if bound:
        FAILED.append("calls of its own that the loader has to bind: " + ", ".join(sorted(bound)[:5]))


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--build", default=os.path.join(ROOT, "build"))
    build = a.parse_args().build
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "installed")
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        env = {k: v for k, v in os.environ.items() if not k.startswith("QUASAR_")}
        env |= {"PKG_CONFIG_PATH": os.path.join(prefix, "lib", "pkgconfig"),
                "LD_LIBRARY_PATH": os.path.join(prefix, "lib"),
                "CMAKE_PREFIX_PATH": prefix, "QUASAR_CACHE_DIR": os.path.join(folder, "cache"),
                "GOCACHE": os.path.join(folder, "go")}
        work = os.path.join(folder, "work")
        os.mkdir(work)
        shutil.copy(os.path.join(ROOT, "examples", "images", "astronaut.png"), os.path.join(work, "photo.png"))
        follow(open(os.path.join(ROOT, "docs", "embedding.md"), encoding="utf-8").read(), work, env)
        other_languages(work, env, prefix)
        static_library(work, env)
        interface(prefix)
    for why in SKIPPED:
        print("skipped", why)
    print("\n".join(FAILED) or "embedding: the page works")
    sys.exit(bool(FAILED))


main()
