/* jit_hooks.h -- hooks of the interpreter: continue this loop or this expression as machine code? */
#ifndef VM_JIT_HOOKS_H
#define VM_JIT_HOOKS_H
#include "vm/interp/proto.h"
#include "vm/value/machine.h"

/* -- fusion.c: array expressions ----------------------------------------------------------------------------------- */
/* Called for an operator at `pc` of the running frame that is applied to a large array.  If it is in a fusible
 * expression whose leaves all have values, and compiling is worthwhile, computes the expression, moves the frame behind
 * it, and sets *done.  Otherwise changes nothing. */
qs_status qfuse_at(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
qs_status qfuse_region(qs_vm *vm, Frame *f, FuseRegion *r, bool *done);
void qfuse_free(qs_vm *vm, FuseRegion *r);

enum { FUSE_LEAST = 2048 }; /* number of elements below which separate operators are as fast */
static inline bool qfuse_is_large(qs_vm *vm, qs_value v) {
    return v.kind == QS_ARRAY && qval_array(v)->count >= qvm(vm)->fuse_least;
}

/* -- async_error.c ------------------------------------------------------------------------------------------------- */
/* Ends a call from C or Python that returned s while faults were pending (Ctx.owed): waits for all of them.  The first
 * fault replaces a later error. */
qs_status qasync_end_call(qs_vm *vm, qs_status s);

/* -- loop_launch.c: loops ------------------------------------------------------------------------------------------ */
/* Called when the frame has counted the iterations of the loop whose code begins at `pc`; there is at least one.  If it
 * is possible and worthwhile, runs the loop as machine code, moves the frame behind it, and sets *done. */
qs_status qloop_enter(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
/* The same for a loop with a condition: qloop_begin is called where it begins, qloop_turn at the end of an iteration,
 * but only now and then.  The loop can continue as machine code, because an iteration depends on nothing but the
 * variables. */
qs_status qloop_begin(qs_vm *vm, Frame *f, LoopRegion *r, bool *done);
qs_status qloop_turn(qs_vm *vm, Frame *f, LoopRegion *r, bool *done);
void qloop_free(qs_vm *vm, LoopRegion *r);
/* For --explain: counts the loops of a chunk that is freed which were left to the interpreter as too short.  At the
 * end, reports the total. */
void qloop_count_left(qs_vm *vm, const Chunk *c);
void qloop_tell_left(qs_vm *vm);

/* -- function_launch.c: functions that call themselves ------------------------------------------------------------- */
/* Called where a frame begins, when the countdown of its function has ended.  If the function is open in another frame,
 * too, and compiling is worthwhile, runs the call as machine code, pops the frame, delivers the results, and sets
 * *done. */
qs_status qfunction_enter(qs_vm *vm, Frame *f, bool *done);
void qfunction_free(qs_vm *vm, Proto *p);
/* The initial countdown of a function. */
enum { FUNCTION_LOOK = 1024 };
static inline int32_t qfunction_first_look(qs_vm *vm) {
    return qvm(vm)->loop_least == INT64_MAX ? INT32_MAX : qvm(vm)->loop_least <= 1 ? 0 : FUNCTION_LOOK;
}

enum { LOOP_LEAST = 16 }; /* number of iterations below which the hook is not called, unless every loop is compiled */
static inline bool qloop_asks(qs_vm *vm, const Frame *f, int64_t turns) {
    return f->proto->chunk.nloops && (turns >= qvm(vm)->loop_least || f->proto->chunk.demands);
}
/* The same for a loop over the elements of a vector. */
static inline bool qloop_asks_items(qs_vm *vm, const Frame *f, qs_value v) {
    return v.kind == QS_ARRAY && qval_array(v)->rank == 1 && qloop_asks(vm, f, (int64_t)qval_array(v)->count);
}
static inline bool qloop_asks_begin(qs_vm *vm, const LoopRegion *r) { return r->machine || qvm(vm)->loop_least <= 1; }
/* All loops with conditions share one countdown: the loop that it ends in is found with a probability proportional to
 * its iterations. */
enum { LOOP_LOOK = 64 };
static inline int64_t qloop_next_look(int64_t least) { return least == INT64_MAX || least <= 1 ? least : LOOP_LOOK; }
#endif
