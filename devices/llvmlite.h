/* llvmlite.h -- LLVM as the Python package llvmlite has it, where the system has none.
 *
 * A pip package brings LLVM to a machine without apt: llvmlite, which Numba uses.  Its library has LLVM without LLVM's
 * C API, but with functions of its own, which are opened here like those; none of its Python code runs.  They name no
 * passes by text, so that kernels go through LLVM's own O3, which takes longer. */
#ifndef DEVICES_LLVMLITE_H
#define DEVICES_LLVMLITE_H
#include "devices/llvm.h"

typedef struct Llvmlite Llvmlite;

bool qllvmlite_is(void *library); /* by its symbols */
/* QS_EDEVICE, with what is missing. */
qs_status qllvmlite_open(Ctx *c, void *library, Llvmlite **out);
void qllvmlite_close(Ctx *c, Llvmlite *l);
const char *qllvmlite_version(const Llvmlite *l); /* "22.1.0" */
qs_status qllvmlite_compile(Ctx *c, Llvmlite *l, const LlvmTask *task, const char *triple, int effort, Text *out);
#endif
