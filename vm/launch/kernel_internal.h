/* kernel_internal.h -- private to kernel*.c: what is launched, and the code for it.
 *
 *   kernel.c       size and arguments; which form; parameters
 *   aot.c        forms of a library, before anybody calls it
 *   kernel_footprint.c         how far one reads around its position
 *   kernel_make.c  making a form: values as the lowering sees them */
#ifndef VM_KERNEL_INTERNAL_H
#define VM_KERNEL_INTERNAL_H
#include "lang/kernel/lower/kernel/lower.h"
#include "vm/launch/pack.h"
#include "vm/launch/run.h"

typedef struct {
    bool serial, explicit_block;
    int rank;
    int64_t domain[QS_MAX_RANK];
    int32_t block[QS_MAX_RANK];
    Site site; /* the kernel and its arguments */
    int nargs;
    const Packed *packed; /* NULL: there are no cells of arrays or objects among the arguments */
} Request;

typedef struct {
    Specialization base;
    int rank, nargs;
    bool serial, explicit_block, uses_blocks;
    int32_t block[QS_MAX_RANK]; /* explicit_block: compiled for it when func->fixed_block */
    const uint8_t *inner;
    struct Class *const *cls; /* as in Packed; NULL: there are none */
    KBind *binds;             /* per parameter */
    bool *covers;             /* per parameter: each position of a launch over its extents writes the element at pos */
} KernelSpecialization;

/* -- kernel.c ------------------------------------------------------------------------------------------------------ */
/* The kernel itself: a script function; of several definitions the one for these arguments.  NULL: v is none. */
qs_status qkernel_of(qs_vm *vm, qs_value v, int nargs, const qs_value *args, Function **out);
void qkernel_fit_rank(const Array *a, int rank, DevArg *out);
/* The form for these arguments, with the values of its entries; nothing is launched, and nothing of the values is read
 * but what the code is made for. */
qs_status qkernel_find(qs_vm *vm, Function *fn, int nargs, const qs_value *in, KernelSpecialization **out,
                       qs_value *values);
/* Its code, for config.compile_for. */
qs_status qkernel_compile(qs_vm *vm, Function *fn, int nargs, const qs_value *in);

/* -- kernel_footprint.c -------------------------------------------------------------------------------------------- */
typedef struct KernelReach KernelReach;
/* A kernel is about to be launched while Machine.reach is there: what it reads is added. */
qs_status qkernel_reached(qs_vm *vm, Function *fn, int nargs, const qs_value *args);

/* -- aot.c --------------------------------------------------------------------------------------------------------- */
/* A value of a type, packed where it is an array; false: there are none that could be made. */
bool qaot_sample(qs_vm *vm, const Type *t, qs_value *out);

/* -- kernel_make.c ------------------------------------------------------------------------------------------------- */
qs_status qkernel_make(qs_vm *vm, SpecializationList *forms, const Request *r, KernelSpecialization **out);
#endif
