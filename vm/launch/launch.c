/* launch.c -- performs a launch; all front ends use this path.
 *
 *     bind ── choose the device ── load the code ── lock the buffers ── release Python's lock ── the device runs it
 *          ── take Python's lock again ── unlock the buffers; the owner reports a fault
 *
 * A repeated launch allocates no memory here. */
#include "lang/kernel/ir/kir.h"
#include "vm/launch/jit_hooks.h"
#include "vm/launch/run.h"
#include "vm/program/python.h"

#include <string.h>

_Static_assert(sizeof(KFault) == sizeof(DevFault) && offsetof(KFault, at) == offsetof(DevFault, at), "one layout");

/* Estimated instructions above which Python's lock is released: some tenths of a millisecond.  A thread that releases
 * the lock may get it back only after another thread's time slice of some milliseconds, so shorter launches keep it.
 * Code with loops counts as long, because their iteration counts are unknown. */
static const double worth_letting_go = 1e6;

Launches *qlaunch_state(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (!m->launches) m->launches = qmem_alloc(&m->base, sizeof *m->launches);
    return m->launches;
}

static qs_status launch_program(Run *r, Program *p) {
    bool tunes = qvm(r->vm)->config.tune, lets_go = !tunes && r->steps >= worth_letting_go;
    DevAsync late;
    r->launch.late = qasync_begin(r, &late) ? &late : NULL;
    if (lets_go) qpython_unblock(r->vm);
    qs_status s = tunes ? qtune_launch(r, p) : qreport_launch(r, p);
    if (lets_go) qpython_block(r->vm);
    if (r->launch.late) qasync_end(&late), r->launch.late = NULL;
    if (s == QS_EINTERRUPT) (void)qvm_take_interrupt(r->vm); /* the interrupt ends with the launch */
    return s;
}

static qs_status locked_run(Run *r, Program *p) {
    Trial trial = {0};
    TRY(qchoose_begin(r, &trial));
    TRY(qbind_lock(r));
    r->launched = true;
    qchoose_locked(r, &trial);
    qs_status s = qchoose_end(r, &trial, launch_program(r, p));
    return qbind_unlock(r, s);
}

static qs_status pick_device(Run *r) {
    TRY(qdevices_current(r->vm, &r->device));
    r->chosen = qvm(r->vm)->automatic;
    if (r->chosen) r->device = qchoose_device(r);
    return QS_OK;
}

static qs_status attempt(Run *r) {
    Program *p;
    r->loaded = r->launched = false, r->recorded = NULL, r->fault.message = 0, r->bound.nlocked = 0;
    TRY(r->bind(r));
    if (!r->device) TRY(pick_device(r));
    if (r->fit) TRY(r->fit(r));
    if (r->launch.any_block) qdevices_block(r->device, r->launch.rank, r->launch.domain, r->launch.block);
    TRY(qspec_load(r->vm, r->form, r->which, r->device, &p));
    r->loaded = true;
    qtune_block(r);
    TRY(qrecord_begin(r));
    qs_status s = locked_run(r, p);
    if (s == QS_OK) return QS_OK;
    if (!r->launched) return qrecord_drop(r), s;
    qrecord_stop(r);
    return qrecord_end(r, 0, NULL), s;
}

/* Decides whether to retry on another device after the device refused the code or the arrays; nothing was launched yet.
 * If each launch chooses its device, the next best one is tried.  Otherwise the processor is used, if the launch need
 * not run on the requested device. */
static bool goes_elsewhere(Run *r, qs_status s) {
    Machine *m = qvm(r->vm);
    if (s == QS_OK || s == QS_EINTERRUPT || r->launched || !r->device || r->device == m->devices) return false;
    if (m->base.err.late) return false;
    if (r->chosen && s == QS_EDEVICE && !r->loaded) { /* permanent failure */
        qchoose_shun(r);
        return r->device = NULL, true;
    }
    if (r->chosen && s == QS_ENOMEM) return r->device = m->devices, true; /* temporary failure */
    if (!r->optional) return false;
    const KFunc *f = r->form->version[0].func;
    qreport_explain(r->vm, qreport_location(f), "%s%s: on the processor, because %s cannot run it: %s", r->form->noun,
                    f->name->s, qdev_name(r->device), qvm_ctx(r->vm)->err.text);
    qerr_clear(qvm_ctx(r->vm));
    return r->device = m->devices, true;
}

qs_status qlaunch_run(Run *r) {
    qs_status s;
    do s = attempt(r);
    while (goes_elsewhere(r, s));
    return s;
}

qs_status qlaunch_here(Run *r) {
    uint32_t bit = 1u << (r->device - qvm(r->vm)->devices);
    r->chosen = r->optional = false;
    if (r->form->refused & bit)
        return qerr_set(qvm_ctx(r->vm), QS_EDEVICE, "%s cannot have its code", qdev_name(r->device));
    qs_status s = qlaunch_run(r);
    if (s == QS_EVALUE) /* the device supports no block or grid for this code; nothing ran */
        s = qvm_ctx(r->vm)->err.status = QS_EDEVICE, r->launched = false;
    if (s == QS_EDEVICE && !r->loaded && !qdev_is_recording(r->device)) r->form->refused |= bit;
    return s;
}

qs_status qlaunch_report_fault(qs_vm *vm, const KFunc *f, const DevFault *fault, Where at) {
    Text t;
    KFault k;
    memcpy(&k, fault, sizeof k);
    qtext_init(&t, qvm_ctx(vm));
    kir_fault_text(f, &k, &t);
    qs_status s = qerr_at(qvm_ctx(vm), f->messages[k.message - 1].status, at, "%s", t.s ? t.s : "");
    qtext_free(&t);
    return s;
}

static double get_bandwidth(qs_vm *vm, const Device *d) {
    const Launches *l = qvm(vm)->launches;
    return l ? l->bandwidth[d - qvm(vm)->devices] : 0;
}

void qlaunch_open(qs_vm *vm) {
    static const LaunchHooks hooks = {
        .fuse_at = qfuse_at,
        .fuse_region = qfuse_region,
        .fuse_free = qfuse_free,
        .loop_enter = qloop_enter,
        .loop_begin = qloop_begin,
        .loop_end_iteration = qloop_end_iteration,
        .loop_free = qloop_free,
        .function_enter = qfunction_enter,
        .function_free = qfunction_free,
        .loop_count_left = qloop_count_left,
        .end_call = qasync_end_call,
        .kernel_forget = qkernel_forget,
        .forked = qdevices_forked,
        .bandwidth = get_bandwidth,
        .call_begins = qreport_before,
        .call_ended = qreport_after,
    };
    qvm(vm)->launch_hooks = &hooks;
}

void qlaunch_close(qs_vm *vm) {
    Launches *l = qvm(vm)->launches;
    qtune_close(vm);
    if (l) {
        qasync_close(vm);
        qkernel_close(vm);
        qelementwise_close(vm);
        qspec_free(vm, &l->along);
        qspec_free(vm, &l->carries);
        qdevprog_close(vm);
        qreport_close(vm, l->report);
        qmem_free(qvm_ctx(vm), l, sizeof *l);
    }
    qvm(vm)->launches = NULL;
    qdevices_close(vm);
}
