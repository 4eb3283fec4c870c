#!/usr/bin/env python3
"""The manual page of qrun, made of what `qrun --help` prints: options are described there, and nowhere else."""
import re, subprocess, sys

HEAD = """.TH QRUN 1 "" "Quasar {version}" "User Commands"
.SH NAME
qrun \\- run programs of the Quasar array language
.SH SYNOPSIS
{synopsis}
.SH DESCRIPTION
Quasar is an array language for images, signals and linear algebra. Its kernels, loops and array expressions run as
machine code on all processors, on an OpenCL device or on an NVIDIA GPU.
.PP
A program is the statements of its file, then its function
.IR main ,
with the arguments that it takes. Without a file
.B qrun
is a prompt with history and completion; ?name explains a function there, ?word finds some.
.SH OPTIONS
"""
TAIL = """.SH EXIT STATUS
0; 1 when the program has an error; 2 for a wrong command line; or what the program gives to exit().
.SH ENVIRONMENT
.TP
.B QUASAR_PATH
folders, separated by colons, in which import looks before the library
.TP
.B QUASAR_CACHE_DIR
where compiled kernels are kept, instead of ~/.cache/quasar
.TP
.B QUASAR_LLVM
the libLLVM that compiles, instead of the newest that is found
.TP
.B QUASAR_NUM_THREADS
how many threads kernels run on, instead of one for each processor
"""


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def main():
    qrun = sys.argv[1]
    version = subprocess.run([qrun, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    text = subprocess.run([qrun, "--help"], capture_output=True, text=True, check=True).stdout
    usage, options = text.split("\n\n", 1)
    synopsis = []
    for line in usage.splitlines():
        call, _, what = re.sub(r"^usage: ", "", line.strip()).partition("  ")
        synopsis.append(".TP\n.B %s\n%s" % (escape(call), escape(what.strip())))
    page = HEAD.format(version=version, synopsis="\n".join(synopsis))
    for line in options.splitlines():
        option = re.match(r"  (-\S.*?)(?:  +(.*))?$", line)
        if option:
            page += ".TP\n.B %s\n" % escape(option[1])
            line = option[2] or ""
        if line.strip():
            page += escape(line.strip()) + "\n"
    sys.stdout.write(page + TAIL)


main()
