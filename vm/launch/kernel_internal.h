/* kernel_internal.h -- private to kernel*.c: a request to launch a kernel, and the specialization for it.
 *
 *   kernel.c            checks the size and the arguments, finds the specialization, binds parameters
 *   aot.c               compiles specializations of a library before the first call
 *   kernel_footprint.c  determines how far a kernel reads around its position
 *   print.c             writes the lines that a kernel has printed
 *   kernel_make.c       makes a specialization: describes values to the lowering pass */
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
    Site site; /* the kernel function and its arguments */
    int nargs;
    const Packed *packed; /* NULL: no argument is a cell of arrays or of objects */
} Request;

typedef struct {
    Specialization base;
    int rank, nargs;
    bool serial, explicit_block, uses_blocks;
    int32_t block[QS_MAX_RANK]; /* explicit_block: the block that the code was compiled for if func->fixed_block */
    const uint8_t *inner;
    struct Class *const *cls; /* `inner` and `cls` as in Packed; NULL: no such cells */
    KBind *binds;             /* by parameter */
    struct Device *device;    /* the code asks for its device ($target), and runs only there; NULL: it does not */
    const KPrint *prints;
    int nprints;
    bool *covers; /* by parameter: if launched over the array's extents, each position writes the element at pos */
} KernelSpecialization;

/* -- kernel.c ------------------------------------------------------------------------------------------------------ */
/* Returns the kernel function of v; if v has several definitions, the overload for these arguments.  partial: arguments
 * that are null or missing fit every type.  NULL: v is not a script function. */
qs_status qkernel_of(qs_vm *vm, qs_value v, bool partial, int nargs, const qs_value *args, Function **out);
void qkernel_fit_rank(const Array *a, int rank, DevArg *out);
/* Returns the specialization for these arguments and the values of its entries.  Launches nothing, and reads only the
 * values that the code is specialized for. */
qs_status qkernel_find(qs_vm *vm, Function *fn, int nargs, const qs_value *in, KernelSpecialization **out,
                       qs_value *values);
/* Compiles the kernel for config.compile_for. */
qs_status qkernel_compile(qs_vm *vm, Function *fn, int nargs, const qs_value *in);

/* -- print.c ------------------------------------------------------------------------------------------------------- */
enum { PRINT_ROOM = 1 << 16 }; /* numbers in the log of a launch */
/* Writes the lines that a launch has printed, in the order of positions. */
qs_status qprint_write(qs_vm *vm, const KernelSpecialization *s, const double *log);

/* -- kernel_footprint.c -------------------------------------------------------------------------------------------- */
typedef struct KernelReach KernelReach;
/* Call it before a launch while Machine.reach is set: adds the kernel's reads to Machine.reach. */
qs_status qkernel_reached(qs_vm *vm, Function *fn, int nargs, const qs_value *args);

/* -- aot.c --------------------------------------------------------------------------------------------------------- */
/* Creates a value of type t, packed if it is an array; false: no such value can be created. */
bool qaot_sample(qs_vm *vm, const Type *t, qs_value *out);

/* -- kernel_make.c ------------------------------------------------------------------------------------------------- */
qs_status qkernel_make(qs_vm *vm, SpecializationList *forms, const Request *r, KernelSpecialization **out);
#endif
