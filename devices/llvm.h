/* llvm.h -- LLVM as a function from IR text to bytes.
 *
 * The library is opened at run time, when code is first needed that the cache on disk does not hold: so programs start
 * without it, and run without it where their kernels were compiled before.  It makes objects and no more; elf.h
 * loads them. */
#ifndef DEVICES_LLVM_H
#define DEVICES_LLVM_H
#include "vm/base/ctx.h"

typedef struct Llvm Llvm;

typedef enum { LLVM_X86, LLVM_AARCH64, LLVM_NVPTX, LLVM_AMDGPU } LlvmArch;
typedef enum { LLVM_ASSEMBLY = 0, LLVM_OBJECT = 1, LLVM_IR = 2 /* the text after optimisation */ } LlvmOutput;

typedef struct {
    LlvmArch arch;
    const char *cpu;      /* "" : the processor we run on, with all it can do */
    const char *features; /* beyond those of cpu; ignored when cpu is "" */
    unsigned since;       /* the first LLVM that knows cpu, where that is not known of all that we take; else 0 */
    /* O3 instead of the passes that pay for most kernels.  With barriers, shared memory or atomics the code is up to
     * twice as fast; other kernels become no faster, and compiling takes up to twice as long. */
    bool thorough;
    const char *math; /* IR of functions that the module calls, or NULL; for NVPTX libdevice goes before it */
} LlvmTarget;

/* What is done to a module of n bytes: the same text of IR may come to differ by it. */
const char *qllvm_passes(const LlvmTarget *t, size_t n);
bool qllvm_is_mended(const LlvmTarget *t, const char *ir); /* ir_workarounds.h: this module has need of it */
/* `out` becomes the text that is then compiled, and is freed by the caller. */
qs_status qllvm_mend(Ctx *c, const LlvmTarget *t, char *text, Text *out);
enum { LLVM_OPTIONS = 3 };
extern const char *const qllvm_options[LLVM_OPTIONS]; /* as on a command line */

/* QS_EDEVICE when no usable libLLVM is found; the sentence says what to install. */
qs_status qllvm_open(Ctx *c, Llvm **out);
void qllvm_close(Ctx *c, Llvm *l);
const char *qllvm_version(const Llvm *l); /* "16.0.6" */

/* The file of NVIDIA's mathematical functions, if it is found: the one that QUASAR_LIBDEVICE names (`none`: none), else
 * one that comes with the toolkit, or with Python packages: CUDA's compiler, Triton (a part of PyTorch), Warp. */
bool qllvm_libdevice(char *path, size_t n);

typedef struct {
    const LlvmTarget *target;
    const char *ir;
    size_t n;
    LlvmOutput wanted;
} LlvmTask;

/* Parses, optimises and emits one module.  The bytes replace what was in out. */
qs_status qllvm_compile(Ctx *c, Llvm *l, const LlvmTask *task, Text *out);
#endif
