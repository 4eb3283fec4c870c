/* solib.h -- writes a shared object around a bundle, without a compiler or a linker.
 *
 *     ELF head, names, .text          a stub per function, and the common code that all stubs jump to
 *     .dynamic, .data                 SolibData, and the address of the entry function in libquasar.so
 *     section headers                 for linkers, which look up symbols through them
 *     bundle, its trailer             at the end of the file, where import finds it without loading anything
 *
 * The machine code does not depend on the program.  A stub contains the index of its function.  The common code saves
 * the argument registers as a va_list, and the entry function (vm/api/native_entry.c) reads them by the signature. */
#ifndef DEVICES_SOLIB_H
#define DEVICES_SOLIB_H
#include "vm/base/ctx.h"

/* Data of the library in the process; the entry function gets their address. */
typedef struct {
    const void *bundle;
    uint64_t n;
    void *state;
} SolibData;

typedef struct {
    const char *soname, *needed, *door; /* "libfilters.so", "libquasar.so.0", symbol of the entry function in it */
    const char *const *names;           /* names of the exported functions, by index */
    uint32_t nnames;
    const Text *bundle; /* including its trailer */
} Solib;

/* Writes the shared object.  Fails with QS_EDEVICE on architectures other than x86-64 and aarch64. */
qs_status qsolib_write(Ctx *c, const Solib *s, Text *out);
#endif
