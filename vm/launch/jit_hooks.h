/* jit_hooks.h -- declares the functions by which the interpreter runs a loop or an expression as machine code; it calls
 * them through Machine.launch_hooks. */
#ifndef VM_JIT_HOOKS_H
#define VM_JIT_HOOKS_H
#include "vm/interp/jit.h"

/* -- fusion.c: array expressions ----------------------------------------------------------------------------------- */
/* Called for an operator at `pc` of the running frame that is applied to a large array.  If it is in a fusible
 * expression whose leaves all have values, and compiling is worthwhile, computes the expression, moves the frame behind
 * it, and sets *done.  Otherwise changes nothing. */
qs_status qfuse_at(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
qs_status qfuse_region(qs_vm *vm, Frame *f, FuseRegion *r, bool *done);
void qfuse_free(qs_vm *vm, FuseRegion *r);

/* -- async_error.c ------------------------------------------------------------------------------------------------- */
/* Ends a call from C or Python that returned s while faults were pending (Ctx.owed): waits for all of them.  The first
 * fault replaces a later error. */
qs_status qasync_end_call(qs_vm *vm, qs_status s);

/* -- loop_launch.c: loops ------------------------------------------------------------------------------------------ */
/* Called when the frame has counted the iterations of the loop whose code begins at `pc`; there is at least one.  If it
 * is possible and worthwhile, runs the loop as machine code, moves the frame behind it, and sets *done. */
qs_status qloop_enter(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
/* The same for a loop with a condition: qloop_begin is called where it begins, qloop_end_iteration at the end of an
 * iteration, but only now and then.  The loop can continue as machine code, because an iteration depends on nothing but
 * the variables. */
qs_status qloop_begin(qs_vm *vm, Frame *f, LoopRegion *r, bool *done);
qs_status qloop_end_iteration(qs_vm *vm, Frame *f, LoopRegion *r, bool *done);
void qloop_free(qs_vm *vm, LoopRegion *r);
/* For --explain: counts the loops of a function that is freed which were left to the interpreter as too short.  At the
 * end, reports the total, and the longest. */
void qloop_count_left(qs_vm *vm, const Proto *p);
void qloop_report_left(qs_vm *vm);

/* -- function_launch.c: functions that call themselves ------------------------------------------------------------- */
/* Called where a frame begins, when the countdown of its function has ended.  If the function is open in another frame,
 * too, and compiling is worthwhile, runs the call as machine code, pops the frame, delivers the results, and sets
 * *done. */
qs_status qfunction_enter(qs_vm *vm, Frame *f, bool *done);
void qfunction_free(qs_vm *vm, Proto *p);
#endif
