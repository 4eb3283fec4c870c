/* async_error.c -- reports errors of kernels whose launch has already returned.
 *
 * A launch on a GPU returns before the kernel has run.  When the kernel fails, the next synchronization with the
 * device reports the error.  Each launch records what this report needs: the specialization and the call stack.
 *
 * A script gets the same error as from a synchronous launch, at the latest when it reads a result.  Three rules
 * follow:
 *   - A launch inside `try` is synchronous, so that its handler can catch the error.  Other handlers cannot catch it.
 *   - If C code clears such an error, the outermost call fails with it instead (ErrorState.late).
 *   - A call from C or Python synchronizes before it returns; after an interrupt, the next call does. */
#include "vm/interp/frame.h"
#include "vm/launch/jit_hooks.h"
#include "vm/launch/run.h"
#include "vm/program/python.h"

typedef struct LaunchRecord {
    struct LaunchRecord *made, *free; /* next in the list of all records, and in the list of free ones */
    qs_vm *vm;
    Specialization *form; /* NULL: the record is free */
    int which, nframes, nlost;
    ErrorFrame frames[QERR_FRAMES];
} LaunchRecord;

/* Saves the error until the outermost call ends, and counts it as pending.  Outside of any call the error is returned
 * directly. */
static void save_error(qs_vm *vm) {
    Launches *all = qlaunch_state(vm);
    if (qvm(vm)->depth && !all->unheard.status) all->unheard = qvm_ctx(vm)->err, qvm_ctx(vm)->owed++;
}

static void clear_saved_error(qs_vm *vm) {
    Launches *all = qlaunch_state(vm);
    if (all->unheard.status) all->unheard.status = QS_OK, qvm_ctx(vm)->owed--;
}

static qs_status report_fault(void *ud, const DevFault *fault) {
    const LaunchRecord *l = ud;
    Ctx *c = qvm_ctx(l->vm);
    if (c->err.status != QS_OK) return c->err.status;
    const KFunc *f = l->form->version[l->which].func;
    qs_status s = qlaunch_report_fault(l->vm, f, fault, (Where){f->src, fault->pos});
    for (int i = 0; i < l->nframes; i++) qerr_frame(c, l->frames[i].where, l->frames[i].function);
    c->err.nlost = l->nlost, c->err.late = true;
    save_error(l->vm);
    return s;
}

static void release_record(void *ud) {
    LaunchRecord *l = ud;
    Launches *all = qvm(l->vm)->launches;
    qspec_let_go(l->vm, l->form);
    l->form = NULL, l->free = all->lazy_free, all->lazy_free = l;
}

static LaunchRecord *acquire_record(qs_vm *vm) {
    Launches *all = qlaunch_state(vm);
    LaunchRecord *l = all->lazy_free;
    if (l) return all->lazy_free = l->free, l;
    l = qmem_alloc(qvm_ctx(vm), sizeof *l);
    l->vm = vm, l->made = all->late;
    return all->late = l;
}

bool qasync_begin(const Run *r, DevAsync *out) {
    bool checks = r->form->version[r->which].checks;
    if (!r->late || !checks || !r->device->late || qframe_catches(r->vm, 0)) return false;
    LaunchRecord *l = acquire_record(r->vm);
    l->form = qspec_hold(r->form), l->which = r->which;
    l->nframes = qframe_chain(r->vm, l->frames, &l->nlost);
    *out = (DevAsync){.report = report_fault, .drop = release_record, .ud = l};
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

/* Waits for all devices; if there is no other error, the saved one is returned. */
static qs_status settle_all(qs_vm *vm) {
    qs_status s = qasync_settle(vm);
    const ErrorState *e = &qlaunch_state(vm)->unheard;
    if (s == QS_OK && e->status) s = (qvm_ctx(vm)->err = *e).status;
    return clear_saved_error(vm), s;
}

qs_status qasync_end_call(qs_vm *vm, qs_status s) {
    Ctx *c = qvm_ctx(vm);
    ErrorState later = c->err;
    if (later.late) clear_saved_error(vm); /* it is being reported */
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
        if (l->form) release_record(l);
}

void qasync_close(qs_vm *vm) {
    Launches *all = qvm(vm)->launches;
    qasync_forget(vm);
    for (LaunchRecord *l = all->late, *next; l; l = next) next = l->made, qmem_free(qvm_ctx(vm), l, sizeof *l);
    all->late = all->lazy_free = NULL;
}
