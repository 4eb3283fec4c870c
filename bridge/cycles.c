/* cycles.c -- objects of both sides that hold each other. */
#include "bridge/bridge.h"

int qcycles_init(void) { return 0; }

void qcycles_collect(qs_vm *vm) {
    (void)vm;
    PyGC_Collect();
}
