/* amd.h -- the contract between code made by the kernel compiler for AMD devices and the hip device.
 *
 * It is that of ptx.h: the first line, one parameter of 64-bit slots, blocks and threads.  What follows the line is a
 * code object: an ELF library with machine code for one kind of device. */
#ifndef DEVICES_AMD_H
#define DEVICES_AMD_H
#include "devices/ptx.h"

/* Bytes of the first line, with blanks at its end: the file is read where it lies, and begins where one may. */
enum { AMD_LINE = 64 };

/* A kind of device, by the name that LLVM has for it.  since: the first LLVM that knows it, of those that we take;
 * wave: how many threads run together. */
typedef struct {
    char name[10];
    uint8_t since, wave;
} AmdTarget;

/* NULL: none that code is made for. */
const AmdTarget *qamd_target(const char *name);

/* What a linker does (ld.lld -shared): appends to out the code object that the relocatable object becomes, which LLVM
 * has made of one module.  QS_EDEVICE: it is damaged, or has what our kernels do not have (data that are written). */
qs_status qamd_link(Ctx *c, const void *object, size_t n, Text *out);
#endif
