/* launch.h -- launches machine code: kernels, loops of the program, and array expressions.
 *
 *     parallel_do            FORPREP, LOOP …         an operator applied to a large array
 *      kernel.c                 loop_launch.c                    fusion.c     what to run, and is compiling worth it?
 *             \                   |                      /
 *              captured values     where each value that the code uses is found      captured.c
 *              specialization key  what the compiler knows about each value          spec_key.h
 *              specialization      the code for this key, found or compiled once     specialization.c
 *                                 |
 *              bind      values → arguments; each buffer is listed once              bind.c
 *              choose    the device with the shortest predicted time                 choose.c, devices.c
 *              load      the code as a program of that device                        device_program.c
 *              run       lock buffers, release Python's lock, launch, unlock         launch.c
 *              async     errors that become known after the launch has returned      async_error.c
 *              tune      with --tune, the block sizes that are measured to be fastest tune.c
 *              report    the output of --explain, --profile and --dump               report.c
 *                                 |
 *              results in arrays and variables; a device fault becomes an error of the program
 *
 * While a tape records (vm/tape/tape.h), a launch becomes a node of the tape (record.h): the values that its gradient
 * needs are saved, and the gradient is a launch like any other.
 *
 * The input is a set of VM values and a part of the syntax tree; lang/kernel compiles the two.  A launch returns its
 * results by changing arrays and variables, or sets an error with its source location.  The three front ends differ in
 * their input and in what follows a refusal: a kernel that cannot run is an error, a loop is left to the interpreter,
 * an expression to the operators.  From binding on, all three share one path.
 *
 * stdlib calls qkernel_do and the functions of devices.c, the interpreter those of jit_hooks.h, the command line
 * those of report.c.  spec_key.h, specialization.h and run.h are private to this folder, except that products and
 * transforms (vm/array/device_math.c) choose devices and report like launches. */
#ifndef VM_LAUNCH_H
#define VM_LAUNCH_H
#include "devices/cache.h"
#include "vm/array/array.h"

enum Elem;

struct Unit;
struct Param; /* lang/syntax/ast.h */

/* Implements parallel_do and serial_do; in: dimensions, arguments, kernel function. */
qs_status qkernel_do(qs_vm *vm, bool serial, int nin, const qs_value *in);
/* Implements halo(kernel, arguments...): returns the access distance along each dimension and the access mode of each
 * argument.  Given a function that is not a kernel, calls it and returns the distances summed over all kernels that it
 * launches, the access modes of their reads around a position, and the function's result. */
qs_status qkernel_halo(qs_vm *vm, int nin, const qs_value *in, int nout, qs_value *out);
/* Sets an error if a halo call is running: the built-in function `fn` reads around positions, but launches kernels for
 * that on some devices only, so halo refuses it on all devices. */
qs_status qkernel_unreached(qs_vm *vm, const char *fn);
bool qkernel_sets(const struct Param *p); /* Does the launch itself set this parameter, as it sets pos? */
void qlaunch_open(qs_vm *vm);             /* sets Machine.launch_hooks; called by qs_open */
void qlaunch_close(qs_vm *vm);
/* Frees the specializations of the unit's kernels; none of them may be running. */
void qkernel_forget(qs_vm *vm, const struct Unit *u);

/* -- async_error.c ------------------------------------------------------------------------------------------------- */
/* Waits for all devices that may still report a fault (Ctx.owed); returns the first fault as the error. */
qs_status qasync_settle(qs_vm *vm);
void qasync_forget(qs_vm *vm); /* Discards pending faults without reporting them. */

/* -- aot.c --------------------------------------------------------------------------------------------------------- */
/* Compiles, for config.compile_for, the kernels of a file whose types are declared or given by {!specialize …}. */
qs_status qaot_compile(qs_vm *vm, const struct Unit *u);

/* -- elementwise_node.c: derivatives of elementwise operators and functions ---------------------------------------- */
/* Records that *result was computed from these arguments by the elementwise op e, and gives *result its trace.  The
 * arguments are the ones from before the operation, with their traces. */
qs_status qelementwise_record(qs_vm *vm, enum Elem e, int n, const qs_value *args, qs_value *result);
/* Computes the elementwise op for these arguments and records it. */
qs_status qelementwise_apply(qs_vm *vm, enum Elem e, int n, const qs_value *args, qs_value *out);

/* -- devices.c ----------------------------------------------------------------------------------------------------- */
/* Appends a line for each device, and for each device type that has no device. */
void qdevices_list(qs_vm *vm, Text *out);
/* Opens the devices named in `wanted`, which qconfig_parse reads (NULL: the processor).  Does nothing if they are
 * already open.  Device 0 is the processor. */
qs_status qdevices_open(qs_vm *vm, const char *wanted);
qs_status qdevices_get(qs_vm *vm, int index, Device **out); /* opens the devices on first use */
qs_status qdevices_use(qs_vm *vm, int index);               /* makes it the device for the following kernels */
/* The same for a name, "cuda:1" or "auto"; opens the device if needed. */
qs_status qdevices_use_named(qs_vm *vm, const char *wanted);
/* -1: each launch chooses its device, or no device was opened yet. */
int qdevices_used(qs_vm *vm);
qs_status qdevices_sync(qs_vm *vm, int index); /* waits for one device; -1: for all */
/* "cpu", "auto:cpu,cuda:1", "machine.xml": does each word name a device type? */
bool qdevices_are_kinds(const char *list);
bool qdevices_has(const char *kind); /* is there a device of this type? */
/* Can code be generated for all these targets: "sm_90", "x86-64-v3,v4" (target.h)? */
bool qdevices_are_targets(const char *list);
bool qdevices_next_target(const char **list, char name[24]); /* copies the first target; *list then points behind it */

/* -- device_program.c ---------------------------------------------------------------------------------------------- */
/* Registers f to receive all code that is made for config.compile_for, whether newly compiled or from the cache
 * (cache.h). */
void qdevprog_listen(qs_vm *vm, CacheListener *f, void *ud);
int qdevprog_libc(void); /* the C library version that multi-level code requires: 36 for glibc 2.36 */

/* -- report.c ------------------------------------------------------------------------------------------------------ */
/* Starts collecting the code of launches at this stage (--dump; NULL: no code is collected) and timing launches. */
void qreport_begin(qs_vm *vm, const char *stage, bool profile);
void qreport_shown(qs_vm *vm, Text *out); /* appends the collected code */
/* Appends a table of launches: name, times, rates relative to the device's limits. */
qs_status qreport_profile(qs_vm *vm, Text *out);
qs_status qreport_cache(qs_vm *vm, const char *what, Text *out); /* "info", "clear" */
#endif
