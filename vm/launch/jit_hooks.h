/* jit_hooks.h -- what the interpreter asks: may this loop, or this expression, go on as machine code? */
#ifndef VM_JIT_HOOKS_H
#define VM_JIT_HOOKS_H
#include "vm/interp/proto.h"
#include "vm/value/machine.h"

/* -- fusion.c: array expressions ----------------------------------------------------------------------------------- */
/* An operator at `pc` of the running frame met a large array: when it lies in a fusible expression whose leaves are all
 * there, and compiling it is worth it, the expression is computed, the frame goes on behind it, and *done is true.
 * Otherwise nothing has changed. */
qs_status qfuse_at(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
qs_status qfuse_region(qs_vm *vm, Frame *f, FuseRegion *r, bool *done);
void qfuse_free(qs_vm *vm, FuseRegion *r);

enum { FUSE_LEAST = 2048 }; /* elements below which operators one by one are as good */
static inline bool qfuse_is_large(qs_vm *vm, qs_value v) {
    return v.kind == QS_ARRAY && qval_array(v)->count >= qvm(vm)->fuse_least;
}

/* -- async_error.c ------------------------------------------------------------------------------------------------- */
/* A call from outside that ended with s, while faults were owed (Ctx.owed): none is any more, and the first one is the
 * error instead of a later one. */
qs_status qasync_end_call(qs_vm *vm, qs_status s);

/* -- loop_launch.c: loops ------------------------------------------------------------------------------------------ */
/* The frame has counted the turns of the loop whose code begins at `pc`, and there is at least one.  When running it as
 * machine code is possible and worth it, it is run, the frame goes on behind it, and *done is true. */
qs_status qloop_enter(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
/* The same for a loop that tests a condition, where it begins; and where one of its turns ends, which is asked only now
 * and then: the loop may go on as machine code, because a turn sees nothing but the variables. */
qs_status qloop_begin(qs_vm *vm, Frame *f, LoopRegion *r, bool *done);
qs_status qloop_turn(qs_vm *vm, Frame *f, LoopRegion *r, bool *done);
void qloop_free(qs_vm *vm, LoopRegion *r);
/* For --explain: counts the loops of code that goes which were left to the interpreter as too short; at the end, says
 * how many there were. */
void qloop_count_left(qs_vm *vm, const Chunk *c);
void qloop_tell_left(qs_vm *vm);

enum { LOOP_LEAST = 16 }; /* turns below which nobody asks, unless every loop is compiled */
static inline bool qloop_asks(qs_vm *vm, const Frame *f, int64_t turns) {
    return f->proto->chunk.nloops && (turns >= qvm(vm)->loop_least || f->proto->chunk.demands);
}
static inline bool qloop_asks_begin(qs_vm *vm, const LoopRegion *r) { return r->machine || qvm(vm)->loop_least <= 1; }
/* All loops that test conditions count together: the one whose turn it is then is met as often as it turns. */
enum { LOOP_LOOK = 64 };
static inline int64_t qloop_next_look(int64_t least) { return least == INT64_MAX || least <= 1 ? least : LOOP_LOOK; }
#endif
