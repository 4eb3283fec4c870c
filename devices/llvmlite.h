/* llvmlite.h -- compiles with the LLVM inside the Python package llvmlite, if the system has no libLLVM.
 *
 * llvmlite (used by Numba) can be installed with pip.  Its library contains LLVM with its own functions instead of
 * LLVM's C API; they are opened with dlopen, and no Python code runs.  They do not accept a textual pass pipeline, so
 * kernels are compiled with LLVM's own O3, which takes longer. */
#ifndef DEVICES_LLVMLITE_H
#define DEVICES_LLVMLITE_H
#include "devices/llvm.h"

typedef struct Llvmlite Llvmlite;

bool qllvmlite_is(void *library); /* returns whether the opened library is libllvmlite, by its symbols */
/* Uses an opened libllvmlite.  Fails with QS_EDEVICE; the message says what is missing. */
qs_status qllvmlite_open(Ctx *c, void *library, Llvmlite **out);
void qllvmlite_close(Ctx *c, Llvmlite *l);
const char *qllvmlite_version(const Llvmlite *l); /* "22.1.0" */
qs_status qllvmlite_compile(Ctx *c, Llvmlite *l, const LlvmTask *task, const char *triple, int effort, Text *out);
#endif
