/* loop.h -- host loops as machine code, at run time. */
#ifndef VM_LOOP_H
#define VM_LOOP_H
#include "vm/proto.h"

/* The frame has counted the turns of the loop whose code begins at `pc`, and there is at least one.  When running it as
 * machine code is possible and worth it, it is run, the frame goes on behind it, and *done is true. */
qs_status qloop_enter(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
void qloop_free(qs_vm *vm, LoopRegion *r);
/* For --explain: counts the loops of code that goes which were left to the interpreter as too short; at the end, says
 * how many there were. */
void qloop_count_left(qs_vm *vm, const Chunk *c);
void qloop_tell_left(qs_vm *vm);

enum { LOOP_LEAST = 16 }; /* turns below which nobody asks, unless every loop is compiled */
static inline bool qloop_asks(qs_vm *vm, const Frame *f, int64_t turns) {
    return f->proto->chunk.nloops && (turns >= qvm(vm)->loop_least || f->proto->chunk.demands);
}
#endif
