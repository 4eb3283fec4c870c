/* frame.h -- manages call frames and their registers; internal to the interpreter.
 *
 * The top level keeps its global variables in registers while it runs.  Their entries in the table of globals point to
 * these registers, so that functions and imports see them.  This makes a loop at top level as fast as in a function.
 *
 * An error unwinds frame by frame to the next handler.  The handler is found by the position in the code, so `try` has
 * no cost as long as nothing fails.  Handlers do not catch interrupts, `exit` and asynchronous errors. */
#ifndef VM_FRAME_H
#define VM_FRAME_H
#include "vm/interp/proto.h"
#include "vm/value/machine.h"

qs_status qinterp_open(qs_vm *vm); /* sets Machine.interp_hooks and reserves the stacks; called by qs_open */
qs_status qframe_open(qs_vm *vm);  /* reserves the value stack and the frame stack */
void qframe_close(qs_vm *vm);
qs_status qframe_too_deep(qs_vm *vm);
void qframe_destroy(qs_vm *vm, qs_value *slot); /* frees the object in the slot, whose count is already 0 */
void qframe_enter_aliases(qs_vm *vm, Frame *f);
void qframe_leave_aliases(qs_vm *vm, Frame *f);
/* Unwinds to the next handler above frame `floor`; false: there is none, and the frames have been popped. */
qs_status qframe_rethrow(qs_vm *vm, qs_value *r); /* throws the error again that a handler has kept in *r */
bool qframe_unwind(qs_vm *vm, qs_status s, uint32_t floor);
/* Returns whether a handler of the script in frame `first` or an inner frame would catch an error raised now. */
bool qframe_catches(qs_vm *vm, uint32_t first);
int qframe_chain(qs_vm *vm, ErrorFrame *out /* QERR_FRAMES */, int *lost); /* current call chain; returns its length */

/* Releases the value of a slot.  A value without reference count may remain in it. */
static inline void qframe_drop(qs_vm *vm, qs_value *r) {
    if (r->kind >= QS_COMPLEX) {
        if (--((Obj *)r->u.p)->refs == 0) qframe_destroy(vm, r);
        else r->kind = QS_NIL, r->aux = 0;
    }
}

/* Pushes a frame for fn.  The function remains in *ret, which keeps it alive. */
static inline qs_status qframe_push(qs_vm *vm, Function *fn, Proto *p, qs_value *args, qs_value *ret, uint32_t want) {
    Machine *m = qvm(vm);
    qs_value *end = args + p->chunk.nregs;
    if (__builtin_expect(m->nframes >= m->cap_frames || end > m->stack_limit, 0)) return qframe_too_deep(vm);
    Frame *f = &m->frames[m->nframes++];
    *f = (Frame){p->chunk.code, args, end, ret, p, fn, want};
    for (qs_value *r = args + p->nparams, *stop = args + p->chunk.ntemp; r < stop; r++) {
        qframe_drop(vm, r);
        *r = qval_unset();
    }
    return QS_OK;
}

/* Pops a frame and releases its registers.  The caller has moved the results out before. */
static inline void qframe_pop(qs_vm *vm, Frame *f) {
    Machine *m = qvm(vm);
    if (__builtin_expect(f->proto->chunk.naliases > 0, 0)) qframe_leave_aliases(vm, f);
    for (qs_value *r = f->base; r < f->end; r++) qframe_drop(vm, r);
    m->nframes--;
}

static inline Frame *qframe_current(qs_vm *vm) { return &qvm(vm)->frames[qvm(vm)->nframes - 1]; }

/* Returns the first stack slot that neither a frame nor a native uses. */
static inline qs_value *qframe_free_slot(const Machine *m) {
    qs_value *end = m->nframes ? m->frames[m->nframes - 1].end : m->stack;
    return end > m->top ? end : m->top;
}

/* Returns the index of the current instruction. */
static inline uint32_t qframe_pc(const Frame *f) { return (uint32_t)(f->pc - f->proto->chunk.code) - 1; }

static inline bool qframe_is_temp(const Frame *f, const qs_value *r) {
    return (uintptr_t)r - (uintptr_t)(f->base + f->proto->chunk.ntemp) < (uintptr_t)(f->end - f->base) * sizeof *r;
}

/* Called after an operand was read: releases it if it is a temporary, which is read only once. */
static inline void qframe_used(qs_vm *vm, const Frame *f, qs_value *r) {
    if (qframe_is_temp(f, r)) qframe_drop(vm, r);
}
#endif
