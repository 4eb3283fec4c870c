/* thread.c -- switches the per-thread state of the VM: stack, frames and error; implements waits. */
#include "vm/program/python.h"
#include "vm/value/hooks.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

struct QThread {
    qs_value *stack, *stack_limit, *top;
    struct Frame *frames;
    uint32_t nframes, depth, grad_inside;
    Where grad_at;
    struct KernelReach *reach;
    RandomStream *random_own;
    uint64_t random_took;
    const char *doing; /* the running built-in, for the progress display */
    ErrorState err;
};

QThread *qthread_running(qs_vm *vm) { return qmem_alloc(qvm_ctx(vm), sizeof(QThread)); }

void qthread_drop(qs_vm *vm, QThread *t) { qmem_free(qvm_ctx(vm), t, sizeof *t); }

/* Reserves a stack for a new thread, as qs_open does for Machine.stack and .frames. */
qs_status qthread_new(qs_vm *vm, QThread **out) {
    QThread running, *t = qmem_alloc(qvm_ctx(vm), sizeof *t);
    qthread_switch(vm, &running, t);
    qs_status s = qinterp_hooks(vm)->open_stack(vm);
    qthread_switch(vm, t, &running);
    *out = t;
    if (s == QS_OK) return QS_OK;
    qthread_free(vm, t);
    return qerr_set(qvm_ctx(vm), s, "no address space for the stack of another thread");
}

void qthread_free(qs_vm *vm, QThread *t) {
    QThread running = {0};
    qthread_switch(vm, &running, t);
    qinterp_hooks(vm)->close_stack(vm);
    qthread_switch(vm, t, &running);
    qmem_free(qvm_ctx(vm), t, sizeof *t);
}

void qthread_switch(qs_vm *vm, QThread *from, QThread *to) {
    Machine *m = qvm(vm);
    *from =
        (QThread){m->stack,       m->stack_limit, m->top,   m->frames,     m->nframes,     m->depth,
                  m->grad_inside, m->grad_at,     m->reach, m->random_own, m->random_took, qdoing_name(&m->base.doing),
                  m->base.err};
    m->stack = to->stack;
    m->stack_limit = to->stack_limit;
    m->frames = to->frames;
    m->top = to->top;
    m->nframes = to->nframes;
    m->depth = to->depth;
    m->grad_inside = to->grad_inside;
    m->grad_at = to->grad_at;
    m->reach = to->reach;
    m->random_own = to->random_own;
    m->random_took = to->random_took;
    m->base.err = to->err;
    qdoing_switch(&m->base.doing, to->doing);
}

/* Changes the random seed, so that the processes of a pool get different numbers, as with Python's `random`. */
void qthread_forked(qs_vm *vm) {
    qlaunch_hooks(vm)->forked(vm);
    qvm(vm)->random.seed += (uint64_t)getpid() * 0x9e3779b97f4a7c15;
}

/* -- waits --------------------------------------------------------------------------------------------------------- */
qs_status qthread_check(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (m->base.short_of_memory || qflag_is_up(&m->interrupted)) return qvm_attend(vm);
    return m->python ? m->python->yield(vm) : QS_OK;
}

qs_status qthread_sleep(qs_vm *vm, double seconds) {
    seconds = fmin(seconds, QTHREAD_SLICE);
    const Python *python = qpython_release_vm(vm);
    if (seconds > 0) nanosleep(&(struct timespec){0, (long)(seconds * 1e9)}, NULL);
    qpython_acquire_vm(python);
    return qthread_check(vm);
}

/* `attention` stays raised for window events, whose handlers run at the end of the statement.  A thread that worked
 * without the GIL releases it again. */
qs_status qthread_yield(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (!m->windows && !qflag_is_up(&m->interrupted)) qflag_lower(&m->attention);
    TRY(qthread_check(vm));
    if (m->base.let_go) m->base.let_go(&m->base);
    return QS_OK;
}

qs_status qthread_turn(qs_vm *vm, const int *users) {
    enum { EVERY_MS = 2 };
    while (*users) TRY(qthread_sleep(vm, EVERY_MS * 1e-3));
    return QS_OK;
}
