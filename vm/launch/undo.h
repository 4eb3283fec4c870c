/* undo.h -- keeps copies of arrays while machine code runs whose stores may have to be taken back. */
#ifndef VM_UNDO_H
#define VM_UNDO_H
#include "vm/launch/run.h"

typedef struct {
    Array *array[MAX_PARAMS], *before[MAX_PARAMS];
    int n;
} Undo;

double qundo_cost(const Array *a); /* the time that a copy takes, in nanoseconds */
qs_status qundo_keep(qs_vm *vm, Undo *u, Array *a);
qs_status qundo_take_back(qs_vm *vm, Undo *u); /* sets the arrays to what they were */
void qundo_free(qs_vm *vm, Undo *u);
#endif
