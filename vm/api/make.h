/* make.h -- implements qrun --make-exe and --make-lib (private to the VM). */
#ifndef VM_MAKE_H
#define VM_MAKE_H
#include "vm/program/prebuilt.h"

typedef struct {
    const char *file; /* the program, or the source of the library */
    const char *out;  /* NULL: the default name */
    /* Script whose run finds the code to compile; NULL: for an executable, the program itself. */
    const char *train;
    bool exe, untrained;      /* untrained: only the top level of a library runs */
    const PrebuiltMark *mark; /* the mark of this executable */
} Make;

/* Compiles for the targets in config.compile_for.  Reports the created files on fd 2. */
qs_status qmake_run(qs_vm *vm, const Make *m);
#endif
