/* library.h -- private to the machine: the files of modules. */
#ifndef VM_LIBRARY_H
#define VM_LIBRARY_H
#include "vm/value/object.h"

#include <limits.h>

/* The file that an import names, absolute: beside the importer (NULL: in the current folder), then in the library. */
bool qlibrary_find_import(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]);
bool qlibrary_find(qs_vm *vm, const char *name, char out[PATH_MAX]); /* in the library alone */
bool qlibrary_own(const char *name, char out[PATH_MAX]);             /* in what is installed, or the tree, alone */
bool qlibrary_has(qs_vm *vm, const char *path);                      /* a file of that */
/* Calls f for the files of the library, in order, until it says true. */
bool qlibrary_each(qs_vm *vm, bool (*f)(void *ud, const char *path), void *ud);
/* A file in one of these places, which begin with "/", beside the executable, or beside the library that the machine is
 * in: what is installed is found from there. */
bool qlibrary_beside(const char *const *places, int n, const char *file, char out[PATH_MAX]);
/* The file of the library that has to be imported for a function. */
bool qlibrary_home(qs_vm *vm, const char *name, char out[PATH_MAX]);
/* Names of functions of the library; `home` becomes the module of the best. */
void qlibrary_offer(qs_vm *vm, Nearest *near);
#endif
