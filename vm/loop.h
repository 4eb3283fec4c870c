/* loop.h -- host loops as machine code, at run time. */
#ifndef VM_LOOP_H
#define VM_LOOP_H
#include "vm/proto.h"

/* The frame has counted the turns of the loop whose code begins at `pc`, and there is at least one.  When running it as
 * machine code is possible and worth it, it is run, the frame goes on behind it, and *done is true. */
qs_status qloop_enter(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
void qloop_free(qs_vm *vm, LoopRegion *r);
void qloop_tell_left(qs_vm *vm); /* --explain, at the end: how many loops were left to the interpreter as too short */

enum { LOOP_LEAST = 16 }; /* turns below which nobody asks, unless every loop is compiled */
static inline bool qloop_asks(qs_vm *vm, const Frame *f, int64_t turns) {
    return f->proto->chunk.nloops && (turns >= qvm(vm)->loop_least || f->proto->chunk.demands);
}
#endif
