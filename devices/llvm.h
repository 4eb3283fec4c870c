/* llvm.h -- compiles LLVM IR text to object code or assembly.
 *
 * libLLVM is opened at run time, when code is first needed that is not in the disk cache.  So programs start without
 * it, and run without it if all their kernels were compiled before.  LLVM only produces objects; elf.h loads them. */
#ifndef DEVICES_LLVM_H
#define DEVICES_LLVM_H
#include "vm/base/ctx.h"

typedef struct Llvm Llvm;

typedef enum { LLVM_X86, LLVM_AARCH64, LLVM_NVPTX } LlvmArch;
typedef enum { LLVM_ASSEMBLY = 0, LLVM_OBJECT = 1, LLVM_IR = 2 /* IR text after optimization */ } LlvmOutput;

typedef struct {
    LlvmArch arch;
    const char *cpu;      /* name of the processor; "": the host's processor with all its features */
    const char *features; /* additional features; ignored if cpu is "" */
    /* Use the passes of O3 instead of the reduced pipeline.  Kernels with barriers, shared memory or atomics become
     * faster; others do not, and compilation takes longer. */
    bool thorough;
    const char *math; /* IR of functions that the module calls, or NULL; for NVPTX, libdevice is preferred */
} LlvmTarget;

/* Returns the pass pipeline for a module, the text of n bytes; it is part of the cache key. */
const char *qllvm_passes(const LlvmTarget *t, const char *ir, size_t n);
bool qllvm_is_mended(const LlvmTarget *t, const char *ir); /* returns whether the module needs ir_workarounds.h */
/* Applies the workarounds.  Replaces `out`, which the caller frees, by the text to compile. */
qs_status qllvm_mend(Ctx *c, const LlvmTarget *t, char *text, Text *out);
enum { LLVM_OPTIONS = 4 };
extern const char *const qllvm_options[LLVM_OPTIONS]; /* command-line options for LLVM */

/* Opens libLLVM.  Fails with QS_EDEVICE if no usable version is found; the message says what to install. */
qs_status qllvm_open(Ctx *c, Llvm **out);
void qllvm_close(Ctx *c, Llvm *l);
const char *qllvm_version(const Llvm *l); /* "16.0.6" */

/* Finds libdevice, NVIDIA's bitcode file of mathematical functions.  QUASAR_LIBDEVICE names it (`none`: none);
 * otherwise the search covers the CUDA toolkit and the Python packages of CUDA's compiler, Triton (part of PyTorch) and
 * Warp. */
bool qllvm_libdevice(char *path, size_t n);

typedef struct {
    const LlvmTarget *target;
    const char *ir;
    size_t n;
    LlvmOutput wanted;
} LlvmTask;

/* Parses, optimizes and compiles one module.  Replaces the contents of out by the result. */
qs_status qllvm_compile(Ctx *c, Llvm *l, const LlvmTask *task, Text *out);
#endif
