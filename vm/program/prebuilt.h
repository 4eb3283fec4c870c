/* prebuilt.h -- loads compiled programs (devices/bundle.h) as modules (private to the VM).
 *
 * A module of a bundle is named by the file of the bundle and its own path inside: /usr/lib/libfilters.so/filters.q.
 * Two libraries that contain a file of the same name are thus two modules, and messages show their origin.  The modules
 * of a program made by qrun --make-exe have no such prefix. */
#ifndef VM_PREBUILT_H
#define VM_PREBUILT_H
#include "vm/program/library.h"
#include "vm/quasar.h"

/* Finds the library that `import` names, as seen from the importer.  For x.so it also tries libx.so, and both with and
 * without .64 before the suffix.  out: its program.  A file that was rebuilt is read again. */
qs_status qprebuilt_find(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]);
/* The same for a linked shared object, in memory that outlives the VM.  path: its file. */
qs_status qprebuilt_take(qs_vm *vm, const char *path, const void *at, size_t n, char out[PATH_MAX]);
/* Runs the program appended to this executable, or the code that Python's `multiprocessing` passes to a new process.
 * settings: the settings in the mark; they must equal those of the bundle. */
qs_status qprebuilt_run_own(qs_vm *vm, const char *settings);

/* The settings of a program as words (qoptions_keep): "precision=64 fast-math". */
enum { PREBUILT_SETTINGS = 232 };
/* Marks qrun, and each copy of it with an appended program.  In such a copy settings follow the tag and `full` is 1, so
 * that a truncated program is not taken for plain qrun. */
typedef struct {
    char tag[23], full, settings[PREBUILT_SETTINGS];
} PrebuiltMark;

/* resolved as at compile time */
bool qprebuilt_import(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]);
bool qprebuilt_program(qs_vm *vm, const char *file, char out[PATH_MAX]); /* the program of an open library */
/* The file that a library module was read from; "": it is in memory; NULL: not a library module. */
const char *qprebuilt_file(qs_vm *vm, const char *path);
qs_status qprebuilt_refresh(qs_vm *vm, const char *path); /* reloads the library of that module if it was rebuilt */
/* Returns whether the VM's main program is a compiled one: this executable, or a library called from C. */
bool qprebuilt_is_program(qs_vm *vm);
bool qprebuilt_library(qs_vm *vm, const char *name, char out[PATH_MAX]); /* a library file inside this executable */
/* Calls f for each library file inside this executable. */
void qprebuilt_each_library(qs_vm *vm, void (*f)(void *ud, const char *path, const char *text, size_t n), void *ud);
const char *qprebuilt_text(qs_vm *vm, const char *path, size_t *n); /* NULL: no such module */
/* Prefix of the Python package inside an executable (python.h); no program has such a path. */
#define PREBUILT_PYTHON "+python/"
void qprebuilt_close(qs_vm *vm);
#endif
