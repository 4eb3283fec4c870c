/* emit.h -- KIR printed as the languages that compilers of machine code read.
 *
 *     emit_llvm.c    an instruction as LLVM IR                 emit_clike.c    a kernel in a language like C
 *     emit_memory.c    accesses to memory                      emit_opencl.c   the dialect of OpenCL
 *     emit_flow.c      control flow                            emit_c.c        the dialect of C, with a main
 *     emit_cpu.c     the code around it on the cpu: blocks,    emit_math.c     sin, exp, … as LLVM IR
 *     emit_rows.c      and loops over positions                emit_mod.c      the remainder of floats
 *     emit_ptx.c     the code around it on NVIDIA devices
 *
 * A verified KFunc comes in, text goes out.  lang/kernel/compile.c calls these functions and makes bytes of the text.
 * passes/legal.c takes apart what a language does not have, so that the printers print what it has. */
#ifndef LANG_EMIT_H
#define LANG_EMIT_H
#include "lang/kernel/ir/kir.h"

/* What LLVM IR is made for, as capabilities; all zero: any processor. */
typedef struct {
    bool threads;      /* each position is a thread (emit_ptx.c); else they run in loops, which become vectors */
    bool libdevice;    /* functions have the names of libdevice, else of the C library */
    bool estimates;    /* has instructions that estimate functions and quotients of float (fast math) */
    bool half;         /* the processor converts float16 */
    bool fma;          /* it rounds a*b + c once */
    bool orders_zeros; /* min and max tell -0 from 0 in every kernel (sem.h) */
    bool located;      /* instructions know their position in the source, as the line of a file (NVPTX) */
    /* Vector functions of the C library (libmvec): letters of the instruction sets that may be used, narrowest first
     * ("bde": SSE, AVX2, AVX-512; "n": AdvSIMD), "" for none; and the minor version of the C library 2.x. */
    char mvec[8];
    int libc;
} KTarget;
extern const KTarget kemit_nvptx; /* what every NVIDIA device can that we make code for */

/* Textual LLVM IR.  The module defines `kernel`; for the cpu a native_fn and `kernel_info` (devices/native.h), for GPUs
 * a kernel whose parameters are described in devices/ptx.h.  QS_EVALUE: a barrier where positions part. */
qs_status kemit_llvm(Ctx *c, const KFunc *f, const KTarget *t, Text *out);

/* The first line of the PTX of f (devices/ptx.h). */
void kemit_ptx_needs(const KFunc *f, Text *out);

/* LLVM IR of the mathematical functions of libdevice that the text calls; false: it calls none. */
bool kemit_math(const char *ir, Text *out);

/* OpenCL C 1.2 with one kernel of the name below; its first line is described in emit_opencl.c, its parameters in
 * emit_clike.c.
 * Barriers where positions part are undefined, as they are in OpenCL.  lines, if it is not NULL, gets a uint32_t for
 * each line of the text: the position in the source of f that it was made for, 0 where there is none. */
#define KEMIT_OPENCL_ENTRY "quasar_kernel"
qs_status kemit_opencl(Ctx *c, const KFunc *f, Text *out, Text *lines);

/* A C99 program that runs the kernel on a sample of inputs and prints a line for each array that it wrote: its name, a
 * colon, the elements of its block; and `message n: …` when a CHECK failed.  sample NULL: small arrays of ours.  false:
 * C cannot say this kernel, and a comment says that. */
#define KEMIT_C_ENTRY "kernel"
typedef struct {
    const void *block;
    size_t nbytes; /* array: its memory; offset: bytes from there to the first element */
    size_t offset;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    uint64_t bits; /* number */
} KSampleArg;
typedef struct {
    KLaunch launch;
    KSampleArg *args;
} KSample;
bool kemit_c(Ctx *c, const KFunc *f, const KSample *sample, Text *out);
void kemit_c_sample(Arena *a, const KFunc *f, KSample *out);
#endif
