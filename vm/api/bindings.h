/* bindings.h -- private to the machine: what other languages see of a library that qrun --make-lib makes. */
#ifndef VM_BINDINGS_H
#define VM_BINDINGS_H
#include "vm/program/module.h"

/* A function of a module's top level: one that C can call, or one that it cannot, and why. */
typedef struct {
    const Func *f;
    const char *name, *symbol; /* in the program, and for others: with _ where they have the name for themselves */
    const char *why;           /* it is hidden; NULL: it is not */
    const char *values[32];    /* names of its arguments, then of its results */
    char signature[64];        /* see native_entry.c */
} Shown;
enum { NATIVE_SERVICES = 3 };
extern const char *const qbindings_services[NATIVE_SERVICES]; /* error, release, device: what every library has */

typedef struct {
    qs_vm *vm;
    const char *name, *source, *object;
    Shown *at, *hidden;
    int n, nhidden, room;
} Face;
/* Fills in the functions: those whose arguments are numbers, truth values, strings, arrays, or of no declared type, and
 * lambdas that a variable has when the top level has run.  Kernels, main and what begins with _ are in neither list. */
void qbindings_gather(Face *f, const Module *m);
void qbindings_free(Face *f);

/* The files beside libNAME.so, a header for C, one for C++, a module of Python and its types.  Each is appended to a
 * text. */
void qbindings_c(const Face *f, Text *out);
void qbindings_cpp(const Face *f, Text *out);
void qbindings_python(const Face *f, Text *out);
void qbindings_stub(const Face *f, Text *out);
#endif
