/* kernel.h -- from a kernel function and actual arguments to a launch. */
#ifndef VM_KERNEL_H
#define VM_KERNEL_H
#include "vm/array/array.h"

/* parallel_do / serial_do: dims, arguments, kernel function. */
qs_status qkrn_launch(qs_vm *vm, bool serial, int nin, const qs_value *in);
void qkrn_list_devices(qs_vm *vm, Text *out); /* a line for each, and for each kind of which there is none */
/* Devices, as qconfig_parse reads `wanted` (NULL: the processor); nothing when they are open.  Number 0 is
 * the processor. */
qs_status qkrn_open_devices(qs_vm *vm, const char *wanted);
qs_status qkrn_device(qs_vm *vm, int index, Device **out); /* opens them on first use */
qs_status qkrn_use(qs_vm *vm, int index);                  /* where kernels run from now on */
qs_status qkrn_use_named(qs_vm *vm, const char *wanted);   /* the same, "cuda:1" or "auto"; opened when it is not */
int qkrn_used(qs_vm *vm);                                  /* -1: each launch chooses, or none was opened yet */
qs_status qkrn_sync(qs_vm *vm, int index);                 /* waits for a device, -1: for all */
bool qkrn_has(const char *kind); /* is a device of this kind here? */
bool qkrn_bytes(const char *text, size_t *out); /* "500M" */
bool qkrn_is_target(const char *name); /* can code be made for it: "sm_90" */
void qkrn_close(qs_vm *vm);

/* -- kernel_report.c --------------------------------------------------------------------------------------------- */
/* From now on, the code of kernels is kept in this form (--dump; NULL: it is not), and their launches are timed. */
void qkreport_begin(qs_vm *vm, const char *stage, bool profile);
void qkreport_shown(qs_vm *vm, Text *out);         /* the code kept */
qs_status qkreport_profile(qs_vm *vm, Text *out);  /* a table: kernels, times, rates against the device's limits */
qs_status qkreport_cache(qs_vm *vm, const char *what, Text *out); /* "info", "clear" */
#endif
