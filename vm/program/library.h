/* library.h -- finds the files of modules (private to the VM). */
#ifndef VM_LIBRARY_H
#define VM_LIBRARY_H
#include "vm/value/object.h"

#include <limits.h>

/* Finds the file that an import names and returns its absolute path.  Looks beside the importer (NULL: in the current
 * folder), then in the library. */
bool qlibrary_find_import(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]);
bool qlibrary_find(qs_vm *vm, const char *name, char out[PATH_MAX]); /* searches only the library */
/* searches only the installed library, or the one of the source tree */
bool qlibrary_own(const char *name, char out[PATH_MAX]);
bool qlibrary_has(qs_vm *vm, const char *path); /* whether `path` is a file of that library */
/* Calls f for the files of the library, in order, until f returns true. */
bool qlibrary_each(qs_vm *vm, bool (*f)(void *ud, const char *path), void *ud);
/* Finds a file in one of the given folders, which begin with "/" and are relative to the folder of the executable or of
 * the shared library that contains the VM.  Installed files are found this way. */
bool qlibrary_beside(const char *const *places, int n, const char *file, char out[PATH_MAX]);
/* Returns the path of the library file that defines a documented function, or NULL. */
const char *qlibrary_home(qs_vm *vm, const Str *name);
/* Calls f for the names of the documented functions. */
void qlibrary_names(qs_vm *vm, void (*f)(void *ud, const char *name), void *ud);
#endif
