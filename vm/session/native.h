/* native.h -- private to the machine: programs that were compiled before (devices/bundle.h), as modules.
 *
 * A module of a bundle is called as the file of the bundle and its own path there: /usr/lib/libfilters.so/filters.q.  So
 * two libraries with a file of one name are two modules, and messages say where they come from.  The program that this
 * executable is (qrun --make-exe) has no such beginning. */
#ifndef VM_NATIVE_H
#define VM_NATIVE_H
#include "vm/quasar.h"
#include "vm/session/library.h"

/* The library in a file that `import` names, as an importer sees it: x.so, also libx.so, x.64.so.  out: its program. */
qs_status qnative_find(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]);
/* The same in memory that outlives the machine: a shared object that was linked.  path: its file. */
qs_status qnative_take(qs_vm *vm, const char *path, const void *at, size_t n, char out[PATH_MAX]);
/* Runs the program behind this executable. */
qs_status qnative_run_own(qs_vm *vm);

/* How a program runs, as words: "precision=64 fast-math".  What was read points into the text, which it changes. */
enum { NATIVE_SETTINGS = 232 };
void qnative_settings(const qs_config *from, char out[NATIVE_SETTINGS]);
void qnative_set(char *text, qs_config *to);
/* In qrun, and in each copy of it that has a program behind it, where the tag is followed by settings, and `full` is 1.
 * So a program that was cut off knows that it is no qrun. */
typedef struct { char tag[23], full, settings[NATIVE_SETTINGS]; } NativeMark;

bool qnative_import(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]); /* as it was when made */
bool qnative_library(qs_vm *vm, const char *name, char out[PATH_MAX]); /* a library file inside this executable */
const char *qnative_text(qs_vm *vm, const char *path, size_t *n);      /* NULL: no such module */
void qnative_close(qs_vm *vm);
#endif
