/* kernel.h -- from a kernel function and actual arguments to a launch. */
#ifndef VM_KERNEL_H
#define VM_KERNEL_H
#include "vm/array.h"
#include "lang/kernel/kir.h"

/* parallel_do / serial_do: dims, arguments, kernel function. */
qs_status qkrn_launch(qs_vm *vm, bool serial, int nin, const qs_value *in);
/* The KIR that such a launch would run, printed: --dump kir. */
void qkrn_dump(qs_vm *vm, Text *out);
/* What was made for config.compile_for: --dump ptx. */
void qkrn_dump_ahead(qs_vm *vm, Text *out);
qs_status qkrn_open_devices(qs_vm *vm, const char *wanted);
bool qkrn_has(const char *kind); /* is a device of this kind here? */
void qkrn_close(qs_vm *vm);
#endif
