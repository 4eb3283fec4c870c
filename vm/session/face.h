/* face.h -- private to the machine: what other languages see of a library that qrun --make-lib makes. */
#ifndef VM_FACE_H
#define VM_FACE_H
#include "vm/session/module.h"

/* A function of a module's top level: one that C can call, or one that it cannot, and why. */
typedef struct {
    const Func *f;
    const char *name, *symbol; /* in the program, and for others: with _ where they have the name for themselves */
    const char *why;           /* it is hidden; NULL: it is not */
    const char *values[32];    /* names of its arguments, then of its results */
    char signature[64];        /* see entry.c */
} Shown;
enum { NATIVE_SERVICES = 3 };
extern const char *const qface_services[NATIVE_SERVICES]; /* error, release, device: what every library has */

typedef struct {
    qs_vm *vm;
    const char *name, *source, *object;
    Shown *at, *hidden; int n, nhidden, room;
} Face;
/* Fills in the functions: those whose arguments are numbers, truth values, strings, arrays, or of no declared type, and
 * lambdas that a variable has when the top level has run.  Kernels, main and what begins with _ are in neither list. */
void qface_gather(Face *f, const Module *m);
void qface_free(Face *f);

/* The files beside libNAME.so, a header for C, one for C++, a module of Python and its types.  Each is appended to a
 * text. */
void qface_c(const Face *f, Text *out);
void qface_cpp(const Face *f, Text *out);
void qface_python(const Face *f, Text *out);
void qface_stub(const Face *f, Text *out);
#endif
