/* face.h -- private to the machine: what other languages see of a library that qrun --make-lib makes. */
#ifndef VM_FACE_H
#define VM_FACE_H
#include "vm/session/module.h"

/* The functions of a module that C can call: those of its top level for the host, whose arguments are numbers, truth
 * values, strings, arrays, or of no declared type. */
typedef struct { const Func *f; char signature[64]; } Shown; /* see entry.c */
enum { SHOWN = 1024, NATIVE_SERVICES = 3 };
extern const char *const qface_services[NATIVE_SERVICES]; /* error, release, device: what every library has */
int qface_functions(qs_vm *vm, const Module *m, Shown out[SHOWN]);

/* The files beside libNAME.so, a header for C, one for C++, a module of Python and its types.  Each is appended to a
 * text. */
typedef struct { qs_vm *vm; const char *name, *source, *object; const Shown *at; int n; } Face;
void qface_c(const Face *f, Text *out);
void qface_cpp(const Face *f, Text *out);
void qface_python(const Face *f, Text *out);
void qface_stub(const Face *f, Text *out);
#endif
