/* jit.h -- the tests that the interpreter makes before it asks vm/launch to run a loop or an expression as machine code
 * (Machine.launch_hooks). */
#ifndef VM_JIT_H
#define VM_JIT_H
#include "vm/interp/proto.h"
#include "vm/value/hooks.h"

enum { FUSE_LEAST = 2048 }; /* number of elements below which separate operators are as fast */
static inline bool qfuse_is_large(qs_vm *vm, qs_value v) {
    return v.kind == QS_ARRAY && qval_array(v)->count >= qvm(vm)->fuse_least;
}

/* Returns a view of the elements that a region assigns its result to; NULL: the assignment needs more than a view. */
qs_status qstep_target(qs_vm *vm, const Frame *f, const FuseRegion *r, Array **view);

/* The initial countdown of a function that may call itself. */
enum { FUNCTION_LOOK = 1024 };
static inline int32_t qfunction_first_look(qs_vm *vm) {
    return qvm(vm)->loop_least == INT64_MAX ? INT32_MAX : qvm(vm)->loop_least <= 1 ? 0 : FUNCTION_LOOK;
}

enum { LOOP_LEAST = 16 }; /* number of iterations below which the hook is not called, unless every loop is compiled */
static inline bool qloop_asks(qs_vm *vm, const Frame *f, int64_t iterations) {
    return f->proto->chunk.nloops && (iterations >= qvm(vm)->loop_least || f->proto->chunk.demands);
}
static inline bool qloop_takes_item(qs_value v) {
    return qval_is_number(v) || v.kind == QS_OBJECT || v.kind == QS_ARRAY;
}
/* The same for a loop over the elements of a vector, or the numbers, objects or arrays of a cell. */
static inline bool qloop_asks_items(qs_vm *vm, const Frame *f, qs_value v) {
    const Cell *c = v.kind == QS_CELL ? v.u.p : NULL;
    if (c && (!c->count || !qloop_takes_item(c->items[0]) || !qloop_takes_item(c->items[c->count - 1]))) return false;
    if (c) return qloop_asks(vm, f, (int64_t)c->count);
    return v.kind == QS_ARRAY && qval_array(v)->rank == 1 && qloop_asks(vm, f, (int64_t)qval_array(v)->count);
}
/* Whether compiled code of this loop over items has ended in the current iteration. */
static inline bool qloop_is_left(const Frame *f, uint32_t number) {
    return f->base[f->proto->chunk.loops[number].reg + 1].aux == LOOP_LEFT;
}
static inline bool qloop_asks_begin(qs_vm *vm, const LoopRegion *r) { return r->machine || qvm(vm)->loop_least <= 1; }
/* All loops with conditions share one countdown: the loop that it ends in is found with a probability proportional to
 * its iterations. */
enum { LOOP_LOOK = 64 };
static inline int64_t qloop_next_look(int64_t least) { return least == INT64_MAX || least <= 1 ? least : LOOP_LOOK; }
#endif
