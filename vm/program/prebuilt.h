/* prebuilt.h -- private to the machine: programs that were compiled before (devices/bundle.h), as modules.
 *
 * A module of a bundle is called as the file of the bundle and its own path there: /usr/lib/libfilters.so/filters.q.
 * So two libraries with a file of one name are two modules, and messages say where they come from.  The program that
 * this executable is (qrun --make-exe) has no such beginning. */
#ifndef VM_PREBUILT_H
#define VM_PREBUILT_H
#include "vm/program/library.h"
#include "vm/quasar.h"

/* The library in a file that `import` names, as an importer sees it: of x.so also libx.so, and both with .64 before the
 * end, or without it.  out: its program.  A file that was made again is read again. */
qs_status qprebuilt_find(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]);
/* The same in memory that outlives the machine: a shared object that was linked.  path: its file. */
qs_status qprebuilt_take(qs_vm *vm, const char *path, const void *at, size_t n, char out[PATH_MAX]);
/* Runs the program behind this executable, or what `multiprocessing` of its Python wants of a new process.
 * settings: as the mark has them; the bundle's must be the same. */
qs_status qprebuilt_run_own(qs_vm *vm, const char *settings);

/* How a program runs, as words: "precision=64 fast-math".  What was read points into the text, which it changes. */
enum { PREBUILT_SETTINGS = 232 };
void qprebuilt_settings(const qs_config *from, char out[PREBUILT_SETTINGS]);
void qprebuilt_set(char *text, qs_config *to);
/* In qrun, and in each copy of it that has a program behind it, where the tag is followed by settings, and `full` is 1.
 * So a program that was cut off knows that it is no qrun. */
typedef struct {
    char tag[23], full, settings[PREBUILT_SETTINGS];
} PrebuiltMark;

bool qprebuilt_import(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]); /* as it was when made */
bool qprebuilt_program(qs_vm *vm, const char *file, char out[PATH_MAX]); /* of a library that is open */
/* The file that a module of a library was read from, "" when it comes from memory; NULL: it is none. */
const char *qprebuilt_file(qs_vm *vm, const char *path);
qs_status qprebuilt_refresh(qs_vm *vm, const char *path); /* the library of that module, if it was made again */
/* Whether the machine's own program was compiled before: this executable, or a library that is called from C. */
bool qprebuilt_is_program(qs_vm *vm);
bool qprebuilt_library(qs_vm *vm, const char *name, char out[PATH_MAX]); /* a library file inside this executable */
const char *qprebuilt_text(qs_vm *vm, const char *path, size_t *n);      /* NULL: no such module */
/* The folder with Python's package in an executable (python.h); no program has such. */
#define PREBUILT_PYTHON "+python/"
void qprebuilt_close(qs_vm *vm);
#endif
