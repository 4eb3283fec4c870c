/* bindings.h -- generates the bindings of a library made by qrun --make-lib for other languages (private to the VM). */
#ifndef VM_BINDINGS_H
#define VM_BINDINGS_H
#include "vm/program/module.h"

/* A top-level function of a module. */
typedef struct {
    const Func *f;
    const char *name, *symbol; /* name in the program, and in other languages, where reserved words get a trailing _ */
    const char *why;           /* reason why C cannot call it; NULL: it can */
    const char *values[32];    /* names of its arguments, then of its results */
    char signature[64];        /* see native_entry.c */
} Shown;
enum { NATIVE_SERVICES = 3 };
extern const char *const qbindings_services[NATIVE_SERVICES]; /* error, release, device: functions of every library */

typedef struct {
    qs_vm *vm;
    const char *name, *source, *object;
    Shown *at, *hidden;
    int n, nhidden, room;
} Face;
/* Collects the functions whose arguments are numbers, truth values, strings, arrays or untyped, and lambdas stored in
 * variables after the top level has run.  Kernels, main and names that begin with _ are in neither list. */
void qbindings_gather(Face *f, const Module *m);
void qbindings_free(Face *f);

/* Append the contents of the files beside libNAME.so: a header for C, one for C++, a Python module and its type
 * stubs. */
void qbindings_c(const Face *f, Text *out);
void qbindings_cpp(const Face *f, Text *out);
void qbindings_python(const Face *f, Text *out);
void qbindings_stub(const Face *f, Text *out);
#endif
