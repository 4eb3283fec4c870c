/* solib.h -- writes a shared object around a bundle, without a compiler and without a linker.
 *
 *     ELF head, names, .text          a stub per function, and what all of them jump to
 *     .dynamic, .data                 SolibData, and the address of the door in libquasar.so
 *     section headers                 for linkers, which find names by them
 *     bundle, its trailer             at the end of the file, where import finds it without loading anything
 *
 * There is nothing in the code that depends on the program: a stub has the number of its function, what is common saves
 * the registers of arguments as a va_list, and the door (vm/api/native_entry.c) reads them as the signature says. */
#ifndef DEVICES_SOLIB_H
#define DEVICES_SOLIB_H
#include "vm/base/ctx.h"

/* Of the library in the process; the door gets its address. */
typedef struct {
    const void *bundle;
    uint64_t n;
    void *state;
} SolibData;

typedef struct {
    const char *soname, *needed, *door; /* "libfilters.so", "libquasar.so.0", the symbol there */
    const char *const *names;
    uint32_t nnames;    /* of the functions, by number */
    const Text *bundle; /* with its trailer */
} Solib;

/* QS_EDEVICE on processors whose code is not known here (that of x86-64 and of aarch64 is). */
qs_status qsolib_write(Ctx *c, const Solib *s, Text *out);
#endif
