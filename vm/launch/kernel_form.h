/* kernel_form.h -- private to kernel*.c: what is launched, and the code for it.
 *
 *   kernel.c       size and arguments; which form; parameters
 *   ahead.c        forms of a library, before anybody calls it
 *   kernel_make.c  making a form: values as the lowering sees them */
#ifndef VM_KERNEL_FORM_H
#define VM_KERNEL_FORM_H
#include "lang/kernel/lower/lower.h"
#include "vm/launch/pack.h"
#include "vm/launch/run.h"

typedef struct {
    bool serial, explicit_block;
    int rank;
    int64_t domain[QS_MAX_RANK];
    int32_t block[QS_MAX_RANK];
    Site site;           /* the kernel and its arguments */
    int nargs;
    const Packed *packed; /* NULL: there are no cells of arrays or objects among the arguments */
} Request;

typedef struct {
    Form base;
    int rank, nargs;
    bool serial, explicit_block, uses_blocks;
    int32_t block[QS_MAX_RANK]; /* explicit_block: compiled for it when func->fixed_block */
    const uint8_t *inner; struct Class *const *cls; /* as in Packed; NULL: there are none */
    KBind *binds;        /* per parameter */
    bool *covers;        /* per parameter: each position of a launch over its extents writes the element at pos */
} KernelForm;

/* -- kernel.c: the code for these arguments, for config.compile_for ------------------------------------------------ */
qs_status qkernel_compile(qs_vm *vm, Function *fn, int nargs, const qs_value *in);

/* -- kernel_make.c ----------------------------------------------------------------------------------------------- */
qs_status qkernel_make(qs_vm *vm, Forms *forms, const Request *r, KernelForm **out);
#endif
