/* elf.h -- loads a relocatable ELF object (what a compiler calls a .o file) into executable memory, whether LLVM has
 * just made it or it comes from the cache on disk.
 *
 * This is all of a linker that emitted kernels need: no unwinding, no thread-local data, no initialisers.  It is a few
 * hundred lines in place of LLVM's own (ORC), takes some 20 microseconds where `ld -shared` and dlopen take 2.5
 * milliseconds, and needs no binutils where kernels run. */
#ifndef DEVICES_ELF_H
#define DEVICES_ELF_H
#include "vm/base/ctx.h"

typedef struct ElfObject ElfObject;
typedef void *ElfResolve(void *ud, const char *name); /* address of a function outside the object, or NULL */

/* The bytes may be freed afterwards.  QS_EDEVICE: damaged, for another machine, or a symbol is missing (named). */
qs_status qelf_load(Ctx *c, const void *bytes, size_t n, ElfResolve *resolve, void *ud, ElfObject **out);
void *qelf_symbol(const ElfObject *o, const char *name); /* NULL when there is none */
void qelf_unload(Ctx *c, ElfObject *o);
#endif
