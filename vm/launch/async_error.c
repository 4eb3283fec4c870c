/* async_error.c -- faults of launches that have returned.
 *
 *     launch ── the device goes on without us ──► … ──► whoever waits for it gets the error
 *        └─ what that will need is kept: the form, and who had called
 *
 * The program sees no difference but the time: before its results can be read the error is there, with the place and
 * the chain of calls that it would have had.  A launch inside `try` is waited for, so that its handler gets the error;
 * no other does (ErrorState.late), and where C code clears an error that it gets, the outermost call ends with it.  A
 * call from the host program, or Python, ends when nothing is owed any more; after an interrupt the next one does. */
#include "vm/interp/frame.h"
#include "vm/launch/jit_hooks.h"
#include "vm/launch/run.h"
#include "vm/program/python.h"

typedef struct LaunchRecord {
    struct LaunchRecord *made, *free; /* the next of all that were made, of those that are free */
    qs_vm *vm;
    Specialization *form; /* NULL: it is free */
    int which, nframes, nlost;
    ErrorFrame frames[QERR_FRAMES];
} LaunchRecord;

/* Until the end of the outermost call, which owes it like a fault that is not known yet; without a call it is heard. */
static void remember(qs_vm *vm) {
    Launches *all = qlaunch_state(vm);
    if (qvm(vm)->depth && !all->unheard.status) all->unheard = qvm_ctx(vm)->err, qvm_ctx(vm)->owed++;
}

static void forget(qs_vm *vm) {
    Launches *all = qlaunch_state(vm);
    if (all->unheard.status) all->unheard.status = QS_OK, qvm_ctx(vm)->owed--;
}

static qs_status tell(void *ud, const DevFault *fault) {
    const LaunchRecord *l = ud;
    Ctx *c = qvm_ctx(l->vm);
    if (c->err.status != QS_OK) return c->err.status;
    const KFunc *f = l->form->version[l->which].func;
    qs_status s = qlaunch_tell(l->vm, f, fault, (Where){f->src, fault->pos});
    for (int i = 0; i < l->nframes; i++) qerr_frame(c, l->frames[i].where, l->frames[i].function);
    c->err.nlost = l->nlost, c->err.late = true;
    remember(l->vm);
    return s;
}

static void drop(void *ud) {
    LaunchRecord *l = ud;
    Launches *all = qvm(l->vm)->launches;
    qspec_let_go(l->vm, l->form);
    l->form = NULL, l->free = all->late_free, all->late_free = l;
}

static LaunchRecord *get(qs_vm *vm) {
    Launches *all = qlaunch_state(vm);
    LaunchRecord *l = all->late_free;
    if (l) return all->late_free = l->free, l;
    l = qmem_alloc(qvm_ctx(vm), sizeof *l);
    l->vm = vm, l->made = all->late;
    return all->late = l;
}

bool qasync_begin(const Run *r, DevAsync *out) {
    bool checks = r->form->version[r->which].checks;
    if (!r->late || !checks || !r->device->late || qframe_catches(r->vm, 0)) return false;
    LaunchRecord *l = get(r->vm);
    l->form = qspec_hold(r->form), l->which = r->which;
    l->nframes = qframe_chain(r->vm, l->frames, &l->nlost);
    *out = (DevAsync){.tell = tell, .drop = drop, .ud = l};
    return true;
}

void qasync_end(const DevAsync *late) {
    if (!late->taken) late->drop(late->ud);
}

qs_status qasync_settle(qs_vm *vm) {
    Machine *m = qvm(vm);
    qs_status s = QS_OK;
    if (!m->base.owed) return QS_OK;
    qpython_unblock(vm);
    for (int i = 0; i < m->ndevices; i++) {
        qs_status t = m->devices[i].owed ? m->devices[i].ops->sync(&m->devices[i]) : QS_OK;
        if (s == QS_OK) s = t;
    }
    qpython_block(vm);
    return s;
}

/* Nothing is left to wait for; a fault that nobody has heard of is the error. */
static qs_status settle_all(qs_vm *vm) {
    qs_status s = qasync_settle(vm);
    const ErrorState *e = &qlaunch_state(vm)->unheard;
    if (s == QS_OK && e->status) s = (qvm_ctx(vm)->err = *e).status;
    return forget(vm), s;
}

qs_status qasync_end_call(qs_vm *vm, qs_status s) {
    Ctx *c = qvm_ctx(vm);
    ErrorState later = c->err;
    if (later.late) forget(vm); /* it is being told */
    if (s == QS_OK) return settle_all(vm);
    if (s == QS_EINTERRUPT) return s;
    qerr_clear(c);
    qs_status first = settle_all(vm);
    if (first == QS_OK) return c->err = later, s;
    qval_release(vm, later.payload);
    return first;
}

void qasync_forget(qs_vm *vm) {
    Machine *m = qvm(vm);
    for (int i = 0; i < m->ndevices; i++) m->devices[i].owed = 0;
    m->base.owed = 0;
    if (m->launches) m->launches->unheard.status = QS_OK;
    for (LaunchRecord *l = m->launches ? m->launches->late : NULL; l; l = l->made)
        if (l->form) drop(l);
}

void qasync_close(qs_vm *vm) {
    Launches *all = qvm(vm)->launches;
    qasync_forget(vm);
    for (LaunchRecord *l = all->late, *next; l; l = next) next = l->made, qmem_free(qvm_ctx(vm), l, sizeof *l);
    all->late = all->late_free = NULL;
}
