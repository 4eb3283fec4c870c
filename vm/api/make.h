/* make.h -- private to the machine: qrun --make-exe and --make-lib. */
#ifndef VM_MAKE_H
#define VM_MAKE_H
#include "vm/program/prebuilt.h"

typedef struct {
    const char *file;         /* the program, or the library as a .q file */
    const char *out;          /* NULL: as it is called by custom */
    const char *train;        /* a script that is run to see what has to be compiled; NULL: exe: the program itself */
    bool exe, untrained;      /* untrained: nothing is run but the top level of a library */
    const PrebuiltMark *mark; /* of this executable */
} Make;

/* With config.compile_for as the list of targets.  What was made is said on fd 2. */
qs_status qmake_run(qs_vm *vm, const Make *m);
#endif
