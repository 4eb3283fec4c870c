/* elf.h -- loads a relocatable ELF object (a .o file) into executable memory.
 *
 * The object comes from LLVM or from the disk cache.  The loader does only what compiled kernels need: no unwinding, no
 * thread-local data, no initializers.  It replaces LLVM's own linker (ORC).  It is much faster than `ld -shared` and
 * dlopen, and needs no binutils on the computer that runs the kernels. */
#ifndef DEVICES_ELF_H
#define DEVICES_ELF_H
#include "vm/base/ctx.h"

typedef struct ElfObject ElfObject;
typedef void *ElfResolve(void *ud, const char *name); /* returns the address of an undefined symbol, or NULL */

/* Loads an object; the bytes may be freed afterwards.  Fails with QS_EDEVICE if the object is damaged or for another
 * architecture, or if a symbol is missing, which the message names. */
qs_status qelf_load(Ctx *c, const void *bytes, size_t n, ElfResolve *resolve, void *ud, ElfObject **out);
void *qelf_symbol(const ElfObject *o, const char *name); /* address of a global symbol; NULL: there is none */
void qelf_unload(Ctx *c, ElfObject *o);
#endif
