#!/usr/bin/env python3
"""Holds the tables devices/cuda_api.def and cuda_math.def against the headers of NVIDIA, where these are there.

    tests/abi.py [--include FOLDER ...]

The device opens the driver and the libraries without their headers, so nothing else would notice a wrong prototype.  A
C++ compiler reads both: as many arguments, each of the same size and kind, pointers to what has the same size and kind
(void may be anything); no name that the headers give to a newer version of the function; the same numbers.  Headers
are looked for in the folders given, CUDA_HOME, CUDA_PATH, /usr/local/cuda, /usr, and Python's packages
nvidia-*; rows of those that are not there are not tested, and the test says so."""
import argparse, glob, os, re, shutil, subprocess, sys, sysconfig, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARIES = {"CUDA": "cuda.h", "BLAS": "cublas_v2.h", "FFT": "cufft.h", "SOLVER": "cusolverDn.h", "DNN": "cudnn.h"}
OF_ONE_VERSION = {"DNN8": "DNN", "DNN9": "DNN"}  # rows that only headers of this major version have
TABLES = """
#define CU(name, symbol, args) FUNCTION CUDA symbol int (*) args
#define CUNUMBER(name, number, symbol) NUMBER CUDA symbol number
#include "devices/cuda_api.def"
#define CUMATH(lib, name, symbol, args) FUNCTION lib symbol int (*) args
#define CUNUMBER(lib, name, number, symbol) NUMBER lib symbol number
#define CUSTATUS(lib, number, symbol) NUMBER lib symbol number
#include "devices/cuda_math.def"
"""
CHECKS = """
#include <cstddef>
#include <cstdint>
#include <type_traits>
template<class T> using bare = std::remove_cv_t<T>;
template<class T> constexpr char kind = std::is_floating_point<T>::value ? 'f' : std::is_class<T>::value ? 's' : 'i';
template<class A, class B> constexpr bool alike() {
    using P = bare<std::remove_pointer_t<A>>;
    using Q = bare<std::remove_pointer_t<B>>;
    if constexpr (std::is_pointer<A>::value && std::is_pointer<B>::value) {
        if constexpr (std::is_void<P>::value || std::is_void<Q>::value) return true;
        else if constexpr (!std::is_pointer<P>::value && !std::is_pointer<Q>::value && std::is_class<Q>::value)
            return false; // a structure has a layout: none is declared here
        else return alike<P, Q>();
    } else return sizeof(A) == sizeof(B) && kind<A> == kind<B>;
}
template<class F, class G> struct same : std::false_type {};
template<class R, class... A, class S, class... B> struct same<R (*)(A...), S (*)(B...)> {
    template<bool counts, class = void> struct each : std::false_type {};
    template<class T> struct each<true, T> : std::bool_constant<(alike<bare<A>, bare<B>>() && ...)> {};
    static constexpr bool value = alike<R, S>() && each<sizeof...(A) == sizeof...(B)>::value;
};
constexpr bool equal(const char *a, const char *b) { return *a == *b && (!*a || equal(a + 1, b + 1)); }
#define TEXT(x) #x
#define EXPANDED(x) TEXT(x)
#define FUNCTION(symbol, ...) \\
    static_assert(equal(EXPANDED(symbol), #symbol), #symbol ": the headers mean another version by this name"); \\
    static_assert(same<__VA_ARGS__, decltype(&symbol)>::value, #symbol ": the arguments are not those of the headers");
#define NUMBER(symbol, number) static_assert((long long)symbol == number, #symbol ": not the number of the headers");
"""


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--include", action="append", default=[], metavar="FOLDER")
    return p.parse_args()


def folders(given):
    roots = [os.environ[v] for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v)]
    roots += ["/usr/local/cuda", "/usr"]
    sites = {sysconfig.get_path(k) for k in ("purelib", "platlib")}
    found = given + [r + "/include" for r in roots] + [f for s in sites for f in glob.glob(s + "/nvidia/*/include")]
    return [f for f in found if os.path.isdir(f)]


def rows(compiler):
    """(FUNCTION or NUMBER, library, symbol, type or number) of each row of the tables."""
    r = subprocess.run([compiler, "-E", "-P", "-x", "c++", f"-I{ROOT}", "-"], input=TABLES, capture_output=True,
                       text=True, check=True)
    text = re.sub(r"\s+", " ", r.stdout.replace('" "', ""))
    return re.findall(r'(FUNCTION|NUMBER) (\w+) "([^"]+)" (.*?)(?= FUNCTION| NUMBER|\s*$)', text)


def major(includes):
    """The version of cuDNN's headers."""
    for i in includes:
        if os.path.exists(f"{i}/cudnn_version.h"):
            with open(f"{i}/cudnn_version.h", encoding="utf-8") as f:
                return re.search(r"#define CUDNN_MAJOR (\d+)", f.read())[1]


def program(found, includes):
    there = {lib for lib, header in LIBRARIES.items() if any(os.path.exists(f"{i}/{header}") for i in includes)}
    there |= {f"DNN{major(includes)}"} if "DNN" in there else set()
    text = "".join(f"#include <{header}>\n" for lib, header in LIBRARIES.items() if lib in there) + CHECKS
    for what, lib, symbol, rest in found:
        if lib in there:
            text += f"{what}({symbol}, {rest})\n"
    return text, there


def main():
    args = arguments()
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        return print("skipped: there is no C++ compiler")
    includes = folders(args.include)
    found = rows(compiler)
    text, there = program(found, includes)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi.cpp")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        r = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "-w", *[f"-isystem{i}" for i in includes], path],
                           capture_output=True, text=True)
    for lib, header in LIBRARIES.items():
        n = sum(row[1] == lib or (OF_ONE_VERSION.get(row[1]) == lib and row[1] in there) for row in found)
        print(f"{header}: {n} rows are those of the headers" if lib in there and not r.returncode else
              f"{header}: {n} rows tested" if lib in there else f"skipped: {header} is not installed ({n} rows)")
    assert all(any(row[1] == lib for row in found) for lib in LIBRARIES), found
    if r.returncode:
        sys.exit("\n".join(line for line in r.stderr.split("\n") if "error" in line) or r.stderr)


if __name__ == "__main__":
    main()
