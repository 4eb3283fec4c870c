/* kernel_choose.c -- where a launch ends soonest.
 *
 *     predicted = what a launch costs + positions * measured time of one + bytes that are not there / measured
 * bandwidth
 *
 * All three are measured as programs run: every launch while a kernel is new on a device, and one in SAMPLE later.  A
 * kernel begins where its data are.  Another device is tried when the kernel has taken much longer than trying takes,
 * so that a trial which turns out badly costs a small part of what was spent already. */
#include "vm/kernels.h"

#include <math.h>
#include <time.h>

enum { SAMPLE = 32, NEW_RUNS = 3, TRIAL_RUNS = 2 };
static const double trial_cost = 60e6;  /* nanoseconds: making the code, first launch */
static const double trial_share = 8;    /* what was spent, in trials, before there is another */
static const double far_launch = 2e4, near_launch = 1e3;
static const double usual_bandwidth = 4; /* bytes per nanosecond */
static const double worth_measuring = 1 << 20; /* bytes */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Bytes that locking would move to d. */
static double bytes_to_move(const Device *d, const Locked *locked, int n) {
    double bytes = 0;
    for (int i = 0; i < n; i++) {
        const Buffer *b = locked[i].buf;
        bool current = b->valid & 1u << d->memory, leaves = b->home >= 0 && b->home != d->memory;
        if (locked[i].mode & QS_READ && !current) bytes += (double)b->nbytes;
        if (locked[i].mode & QS_WRITE && leaves) bytes += (double)b->nbytes; /* it goes home afterwards */
    }
    return bytes;
}

/* The link between two devices is that of the slower one; which that is does not matter here. */
static double bandwidth(const KernelCache *k, int device) {
    return k->bandwidth[device] > 0 ? k->bandwidth[device] : usual_bandwidth;
}

static double predict(qs_vm *vm, const Spec *s, int device, double positions, double bytes) {
    const Device *d = &qvm(vm)->devices[device];
    double start = d->memory == HOST_MEMORY ? near_launch : far_launch;
    return start + positions * s->on[device].ns + bytes / bandwidth(qvm(vm)->kernels, device);
}

static bool is_tried(const Spec *s, int device) { return s->on[device].runs >= TRIAL_RUNS; }

/* Where the fewest bytes have to be moved to; of equals the processor, which is the first. */
static int nearest(qs_vm *vm, const Locked *locked, int n) {
    int best = 0;
    double least = bytes_to_move(&qvm(vm)->devices[0], locked, n);
    for (int i = 1; i < qvm(vm)->ndevices; i++) {
        double bytes = bytes_to_move(&qvm(vm)->devices[i], locked, n);
        if (bytes < least) best = i, least = bytes;
    }
    return best;
}

/* A device that is worth a trial, or -1. */
static int to_be_tried(qs_vm *vm, const Spec *s) {
    int tried = 0;
    for (int i = 0; i < qvm(vm)->ndevices; i++) tried += is_tried(s, i);
    for (int i = 0; tried && i < qvm(vm)->ndevices; i++)
        if (!is_tried(s, i) && s->spent > trial_cost * trial_share * tried) return i;
    return -1;
}

/* -- saying why ---------------------------------------------------------------------------------------------------- */
static void put_name(Text *t, const Device *d) { qtext_printf(t, "%s:%d", d->ops->kind, d->ordinal); }

static void put_predictions(qs_vm *vm, const Spec *s, double positions, const Locked *locked, int n, Text *t) {
    for (int i = 0; i < qvm(vm)->ndevices; i++) {
        const Device *d = &qvm(vm)->devices[i];
        double bytes = bytes_to_move(d, locked, n), time = predict(vm, s, i, positions, bytes);
        qtext_puts(t, i ? ", " : ": ");
        put_name(t, d);
        if (!is_tried(s, i)) qtext_puts(t, " not tried");
        else if (isinf(time)) qtext_puts(t, " cannot");
        else qtext_printf(t, " %.3g ms", time * 1e-6);
        if (bytes > 0) qtext_printf(t, " with %.3g MB to move", bytes / 1e6);
    }
}

/* --explain: where the kernel runs, whenever that is another device than before. */
static void explain(qs_vm *vm, Spec *s, int device, double positions, const Locked *locked, int n, const char *why) {
    Text t;
    int line, column;
    if (!qvm(vm)->config.explain || s->told == device + 1) return;
    s->told = device + 1;
    qtext_init(&t, qvm_ctx(vm));
    if (s->func->src) {
        qsource_line_col(s->func->src, s->func->ins[1].pos, &line, &column);
        qtext_printf(&t, "%s:%d: ", s->func->src->path, line);
    }
    qtext_printf(&t, "kernel %s runs on ", s->func->name->s);
    put_name(&t, &qvm(vm)->devices[device]);
    qtext_printf(&t, ", %s", why);
    put_predictions(vm, s, positions, locked, n, &t);
    qtext_putc(&t, '\n');
    qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

/* -- the choice ---------------------------------------------------------------------------------------------------- */
/* The device that ends soonest of those tried, or -1. */
static int fastest(qs_vm *vm, const Spec *s, double positions, const Locked *locked, int n) {
    double least = INFINITY;
    int best = -1;
    for (int i = 0; i < qvm(vm)->ndevices; i++) {
        if (!is_tried(s, i)) continue;
        double t = predict(vm, s, i, positions, bytes_to_move(&qvm(vm)->devices[i], locked, n));
        if (best < 0 || t < least) best = i, least = t;
    }
    return best >= 0 && isinf(least) ? 0 : best;
}

Device *qkchoose_device(qs_vm *vm, Spec *s, double positions, const Locked *locked, int n) {
    const char *why = "as a trial";
    int device = to_be_tried(vm, s);
    if (device < 0) device = fastest(vm, s, positions, locked, n), why = "which ends soonest";
    if (device < 0) device = nearest(vm, locked, n), why = "nearest to its data";
    explain(vm, s, device, positions, locked, n, why);
    return &qvm(vm)->devices[device];
}

bool qkchoose_shun(qs_vm *vm, Spec *s, const Device *d) {
    SpecOn *on = &s->on[d - qvm(vm)->devices];
    if (!qvm(vm)->automatic || d == qvm(vm)->devices) return false;
    on->ns = INFINITY, on->runs = TRIAL_RUNS;
    qerr_clear(qvm_ctx(vm));
    return true;
}

/* -- measuring ----------------------------------------------------------------------------------------------------- */
void qkchoose_begin(qs_vm *vm, Trial *t, Spec *s, Device *d, double positions, const Locked *locked, int n) {
    SpecOn *on = &s->on[d - qvm(vm)->devices];
    *t = (Trial){.spec = s, .device = d, .positions = positions};
    t->timed = qvm(vm)->automatic && (on->runs < NEW_RUNS || on->runs % SAMPLE == 0);
    if (qvm(vm)->automatic && !t->timed) on->runs++;
    if (!t->timed) return;
    t->bytes = bytes_to_move(d, locked, n);
    t->start = now();
}

void qkchoose_locked(qs_vm *vm, Trial *t) {
    if (!t->timed) return;
    double *known = &qvm(vm)->kernels->bandwidth[t->device - qvm(vm)->devices], time = now() - t->start;
    t->start += time;
    if (t->bytes < worth_measuring || time <= 0) return;
    *known = *known > 0 ? (3 * *known + t->bytes / time) / 4 : t->bytes / time;
}

/* The first run on a device pays for what no other does, so the second one replaces it if it was faster. */
qs_status qkchoose_end(qs_vm *vm, Trial *t, qs_status s) {
    if (!t->timed || s != QS_OK) return s;
    SpecOn *on = &t->spec->on[t->device - qvm(vm)->devices];
    TRY(t->device->ops->sync(t->device));
    double time = now() - t->start, ns = time / t->positions;
    if (on->runs == 0 || (on->runs < NEW_RUNS && ns < on->ns)) on->ns = ns;
    else if (on->runs >= NEW_RUNS) on->ns = (3 * on->ns + ns) / 4;
    t->spec->spent += on->runs < NEW_RUNS ? time : time * SAMPLE;
    on->runs++;
    return QS_OK;
}
