/* frame.h -- private to the interpreter: the registers of a call, and the values they hold.
 *
 * The top level keeps its global variables in registers while it runs, and their entries in the table of globals point
 * there, so that functions and imports see them: a loop at top level is then as fast as one in a function.
 *
 * An error unwinds frame by frame to the next handler, which is found by the place in the code; so `try` costs nothing
 * as long as nothing fails.  An interrupt, `exit` and an error that is told late pass all handlers. */
#ifndef VM_FRAME_H
#define VM_FRAME_H
#include "vm/interp/proto.h"
#include "vm/value/machine.h"

qs_status qframe_open(qs_vm *vm); /* reserves the stack of values and that of frames */
void qframe_close(qs_vm *vm);
qs_status qframe_too_deep(qs_vm *vm);
void qframe_destroy(qs_vm *vm, qs_value *slot); /* the last reference, which is gone already */
void qframe_enter_aliases(qs_vm *vm, Frame *f);
void qframe_leave_aliases(qs_vm *vm, Frame *f);
/* Down to the next handler above frame `floor`; false: there is none, and the frames are gone. */
bool qframe_unwind(qs_vm *vm, qs_status s, uint32_t floor);
/* Would a handler of the program, in a frame from this one on, get an error of now? */
bool qframe_catches(qs_vm *vm, uint32_t first);
int qframe_chain(qs_vm *vm, ErrorFrame *out /* QERR_FRAMES */, int *lost); /* of calls, as an error of now has it */

/* Lets go of what a slot holds; what needs no letting go may stay in it. */
static inline void qframe_drop(qs_vm *vm, qs_value *r) {
    if (r->kind >= QS_COMPLEX) {
        if (--((Obj *)r->u.p)->refs == 0) qframe_destroy(vm, r);
        else r->kind = QS_NIL, r->aux = 0;
    }
}

/* The function stays in *ret, which keeps it alive. */
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

/* Leaves the registers empty.  The results are taken out before. */
static inline void qframe_pop(qs_vm *vm, Frame *f) {
    Machine *m = qvm(vm);
    if (__builtin_expect(f->proto->chunk.naliases > 0, 0)) qframe_leave_aliases(vm, f);
    for (qs_value *r = f->base; r < f->end; r++) qframe_drop(vm, r);
    m->nframes--;
}

static inline Frame *qframe_current(qs_vm *vm) { return &qvm(vm)->frames[qvm(vm)->nframes - 1]; }

/* The first slot that neither a frame nor a native uses. */
static inline qs_value *qframe_free_slot(const Machine *m) {
    qs_value *end = m->nframes ? m->frames[m->nframes - 1].end : m->stack;
    return end > m->top ? end : m->top;
}

/* The instruction that is being executed. */
static inline uint32_t qframe_pc(const Frame *f) { return (uint32_t)(f->pc - f->proto->chunk.code) - 1; }

static inline bool qframe_is_temp(const Frame *f, const qs_value *r) {
    return (uintptr_t)r - (uintptr_t)(f->base + f->proto->chunk.ntemp) < (uintptr_t)(f->end - f->base) * sizeof *r;
}

/* An operand has been used: of temporaries that was the only time. */
static inline void qframe_used(qs_vm *vm, const Frame *f, qs_value *r) {
    if (qframe_is_temp(f, r)) qframe_drop(vm, r);
}
#endif
