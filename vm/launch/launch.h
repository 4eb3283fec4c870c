/* launch.h -- what runs as machine code: kernels, loops of the program, expressions over arrays.
 *
 *     parallel_do            FORPREP, LOOP …         an operator that meets a large array
 *      kernel.c                 loop_launch.c                    fusion.c              what is asked for; is it worth
 * it?
 *             \                   |                      /
 *              entries   where each value that enters is found             captured.c
 *              kinds     what the compiler was told of each                spec_key.h
 *              form      the code for these kinds, found or made once      specialization.c
 *                                 |
 *              bind      values → arguments; each buffer is there once     bind.c
 *              choose    the device on which it ends soonest               choose.c, devices.c
 *              load      the code as a program of that device              device_program.c
 *              run       lock, let Python go on, launch, unlock            launch.c
 *              late      faults that are known when the launch has returned  async_error.c
 *              report    what --explain, --profile and --dump tell         report.c
 *                                 |
 *              results in arrays and variables; a fault is an error of the program
 *
 * While a tape records (vm/tape/tape.h) what is launched becomes a node of it (record.h): what its gradient reads again
 * is kept, and the gradient is a launch like any other.
 *
 * Values of the machine and a piece of the tree come in; lang/kernel makes code of the two.  What goes out are
 * changed arrays, new values of variables, or an error with a place in the script.  The three above differ in what they
 * ask for, and in what becomes of a refusal: a kernel that cannot run is an error, a loop is left to the interpreter,
 * an expression to the operators.  From binding on there is one way.
 *
 * stdlib calls qkernel_do and the functions of devices.c, the interpreter those of jit_hooks.h, the command those of
 * report.c.  spec_key.h, specialization.h and run.h are private to this folder, except that products and transforms
 * (vm/array/
 * device_math.c) choose and report like launches. */
#ifndef VM_LAUNCH_H
#define VM_LAUNCH_H
#include "devices/cache.h"
#include "lang/kernel/elem/elem.h"
#include "vm/array/array.h"

struct Unit;
struct Param; /* lang/syntax/ast.h */

/* parallel_do / serial_do: dims, arguments, kernel function. */
qs_status qkernel_do(qs_vm *vm, bool serial, int nin, const qs_value *in);
/* halo(kernel, arguments...): the distance along each dimension, and what is done with each argument.  Of a function,
 * which is called: of all kernels that it launches, the access modes of what they read around, and its result. */
qs_status qkernel_halo(qs_vm *vm, int nin, const qs_value *in, int nout, qs_value *out);
/* A built-in function that reads around positions, and on some devices launches kernels for that: an error where halo
 * asks, on all of them. */
qs_status qkernel_unreached(qs_vm *vm, const char *fn);
bool qkernel_sets(const struct Param *p); /* is this parameter of a kernel set by the launch, as pos is? */
void qlaunch_close(qs_vm *vm);
void qkernel_forget(qs_vm *vm, const struct Unit *u); /* what was compiled of its kernels goes; none of them can run */

/* -- async_error.c ------------------------------------------------------------------------------------------------- */
qs_status qasync_settle(qs_vm *vm); /* waits until no fault is owed (Ctx.owed); the first one is the error */
void qasync_forget(qs_vm *vm);      /* nobody will hear of them */

/* -- aot.c --------------------------------------------------------------------------------------------------------- */
/* The kernels of a file whose types are declared, or said by {!specialize …}, for config.compile_for. */
qs_status qaot_compile(qs_vm *vm, const struct Unit *u);

/* -- elementwise_node.c: derivatives of operators and functions of elements ---------------------------------------- */
/* *result was computed from these arguments by the row e; it is recorded, and gets its trace.  Arguments are as they
 * were before, with their traces. */
qs_status qelementwise_record(qs_vm *vm, Elem e, int n, const qs_value *args, qs_value *result);
/* The row of these arguments, computed and recorded. */
qs_status qelementwise_apply(qs_vm *vm, Elem e, int n, const qs_value *args, qs_value *out);

/* -- devices.c ----------------------------------------------------------------------------------------------------- */
void qdevices_list(qs_vm *vm, Text *out); /* a line for each, and for each kind of which there is none */
/* As qconfig_parse reads `wanted` (NULL: the processor); nothing when they are open.  Number 0 is the processor. */
qs_status qdevices_open(qs_vm *vm, const char *wanted);
qs_status qdevices_get(qs_vm *vm, int index, Device **out);  /* opens them on first use */
qs_status qdevices_use(qs_vm *vm, int index);                /* where kernels run from now on */
qs_status qdevices_use_named(qs_vm *vm, const char *wanted); /* the same, "cuda:1" or "auto"; opened when it is not */
int qdevices_used(qs_vm *vm);                                /* -1: each launch chooses, or none was opened yet */
qs_status qdevices_sync(qs_vm *vm, int index);               /* waits for a device, -1: for all */
bool qdevices_are_kinds(const char *list); /* "cpu", "auto:cpu,cuda:1", "machine.xml": does each word name a kind? */
bool qdevices_has(const char *kind);       /* is a device of this kind here? */
bool qdevices_bytes(const char *text, size_t *out); /* "500M" */
bool qdevices_are_targets(const char *list);        /* can code be made for these: "sm_90", "x86-64-v3,v4" (target.h) */
bool qdevices_next_target(const char **list, char name[24]); /* the first of them; the list goes on behind it */

/* -- device_program.c ---------------------------------------------------------------------------------------------- */
/* f hears of all code that is made for config.compile_for, whether anew or from the cache (cache.h). */
void qdevprog_listen(qs_vm *vm, CacheListener *f, void *ud);
int qdevprog_libc(void); /* the C library that code of levels wants: glibc 2.36: 36 */

/* -- report.c ------------------------------------------------------------------------------------------------------ */
/* From now on, the code of what is launched is kept in this form (--dump; NULL: it is not), and launches are timed. */
void qreport_begin(qs_vm *vm, const char *stage, bool profile);
void qreport_shown(qs_vm *vm, Text *out);        /* the code kept */
qs_status qreport_profile(qs_vm *vm, Text *out); /* a table: what ran, times, rates against the device's limits */
qs_status qreport_cache(qs_vm *vm, const char *what, Text *out); /* "info", "clear" */
#endif
