/* kernel_none.c -- a build without vm/kernel.c: host code alone. */
#include "vm/kernel.h"

qs_status qkrn_launch(qs_vm *vm, bool serial, int nin, const qs_value *in) {
    (void)serial, (void)nin, (void)in;
    return qerr_set(qvm_ctx(vm), QS_EDEVICE, "this build runs no kernels");
}

void qkrn_dump(qs_vm *vm, Text *out) { (void)vm, (void)out; }
qs_status qkrn_open_devices(qs_vm *vm, const char *wanted) {
    return qerr_set(qvm_ctx(vm), QS_EDEVICE, "this build has no device %s", wanted ? wanted : "");
}

void qkrn_close(qs_vm *vm) { (void)vm; }
