#!/usr/bin/env python3
"""Runs an aarch64 build under qemu: Python, a library and an executable made there.  `make aarch64` calls it."""
import os, subprocess, sys, tempfile

from wheel import example, system

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build-aarch64")
SYSTEM, QEMU = system("aarch64")
# So many arguments that most of them are on the stack.
PARAMETERS = [c + " : scalar" for c in "abcdefghij"] + [c + " : int" for c in "klmnopq"] + ["x : vec", "s : string"]
LIBRARY = """
function [] = __kernel__ twice_kernel(x : vec, y : vec, pos : int)
    y[pos] = 2*x[pos]
end
function [text : string, total : scalar, y : vec] = many(%s)
    text = sprintf("%%g %%g %%g %%g %%g %%g %%g %%g %%g %%g ", a, b, c, d, e, f, g, h, i, j)
    text = text + sprintf("%%d %%d %%d %%d %%d %%d %%d %%s", k, l, m, n, o, p, q, s)
    total = a + 10*j + 100*q
    y = uninit(numel(x))
    parallel_do(numel(x), x, y, twice_kernel)
end
""" % ", ".join(PARAMETERS)
CLIENT = r"""
#include "many.h"
#include <stdio.h>
int main(void) {
    float x[3] = {1, 2, 3};
    qs_view v = {.data = x, .dtype = QS_F32, .rank = 1, .dims = {3}, .strides = {1}}, text, y;
    double total;
    if (many_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, &v, "end", &text, &total, &y))
        return puts(many_error()), 1;
    printf("%.*s %g %g\n", (int)text.dims[0], (char *)text.data, total, ((float *)y.data)[2]);
    many_release(&text), many_release(&y);
    return many_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, &v, NULL, &text, &total, &y) == QS_OK;
}
"""
SEVENTEEN = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 end"


def run(what, command, want, folder, env=()):
    r = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600,
                       env={**os.environ, "QUASAR_CACHE_DIR": os.path.join(folder, "cache"), **dict(env)})
    if r.returncode or want not in r.stdout + r.stderr:
        sys.exit("%s: status %d\n%s%s" % (what, r.returncode, r.stdout, r.stderr))
    print("pass", what, flush=True)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)


CALL = '[text, total, y] = many(%s,float([1,2,3]),"end")\nprint text, " ", total, " ", y[2]\n' % ",".join(
    str(i) for i in range(1, 18))


def made(folder):
    """The compiled programs run without LLVM and without a cache."""
    bare = {"QUASAR_LLVM": "/nonexistent", "QUASAR_CACHE_DIR": os.path.join(folder, "empty")}
    qrun = os.path.join(ROOT, "out/aarch64/qrun")
    write(folder, "many.q", LIBRARY), write(folder, "client.c", CLIENT)
    write(folder, "program.q", 'import "many.q"\n' + CALL)
    write(folder, "use.q", 'import "many.${NATIVEEXT}"\n' + CALL)
    run("a library is made", [qrun, "--make-lib", "many.q", "--train", "program.q"], SEVENTEEN, folder)
    run("a script imports it", [qrun, "use.q"], SEVENTEEN + " 1801 6", folder, bare)
    compiler = ["aarch64-linux-gnu-gcc", "--sysroot=" + SYSTEM, "-Wall", "-Wextra", "-Werror", "-I.",
                "-I" + ROOT + "/vm"]
    run("a program in C is built", compiler + ["client.c", "-L.", "-lmany", "-Wl,-rpath-link," + BUILD, "-o", "client"],
        "", folder)
    run("it calls the library", QEMU + ["-E", "LD_LIBRARY_PATH=.:" + BUILD, "./client"], SEVENTEEN + " 1801 6", folder,
        bare)
    run("an executable is made", [qrun, "--make-exe", "program.q", "-o", "program"], SEVENTEEN, folder)
    run("it runs", QEMU + ["./program"], SEVENTEEN + " 1801 6", folder, bare)


def python(folder):
    """The example of the README, with Debian's NumPy, as machine code."""
    text, want = example()
    native = "\nprint('libLLVM' in open('/proc/self/maps').read())"
    run("README's example in Python", QEMU + [SYSTEM + "/usr/bin/python3.11", "-c", text + native], want + "True\n",
        folder, {"PYTHONPATH": BUILD + "/python"})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        python(folder), made(folder)
