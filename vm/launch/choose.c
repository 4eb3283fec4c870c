/* choose.c -- where a launch ends soonest.
 *
 *     predicted = what a launch costs + positions * measured time of one
 *               + bytes that are not there / measured bandwidth
 *
 * All of that is measured as programs run: every launch while a kernel is new on a device or has many more positions
 * than those measured, and one in SAMPLE later.  A kernel begins where its data are.
 *
 * Trials:  another device is tried, and one that lost is asked again, when the kernel has taken much longer since than
 * that costs.  So what was measured in a bad moment is found out, and a trial that turns out badly costs a small part
 * of what was spent.
 *
 * Regret:  data that lie on the slower device keep a kernel there, as long as one launch gains less than moving them
 * costs.  What was lost that way is added up, and when it has paid for the move, they move.  If others have taken them
 * back by the next launch, the next move has to be paid for twice as often.
 *
 * Fetched:  what the host reads of a kernel's results belongs to the price of running it elsewhere. */
#include "vm/launch/run.h"

#include <math.h>
#include <time.h>

enum { SAMPLE = 32, NEW_RUNS = 3, TRIAL_RUNS = 2, GROWN = 4, FEW = 1024 /* positions: the launch is what costs */ };
static const double usual_making = 60e6; /* nanoseconds: code for a new device, first launch */
static const double trial_share = 8;     /* what was spent, in costs of a trial, before there is one */
static const double visit_share = 32;    /* the same for a device that was tried */
static const double far_launch = 2e4, near_launch = 1e3;
static const double usual_bandwidth = 4; /* bytes per nanosecond */
static const double worth_measuring = 1 << 20; /* bytes */
static const double most_patience = 1024;

double qchoose_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* -- predicting ---------------------------------------------------------------------------------------------------- */
/* Bytes that locking would move to d. */
static double bytes_to_bring(const Device *d, const Locked *locked, int n) {
    double bytes = 0;
    for (int i = 0; i < n; i++)
        if (locked[i].mode & QS_READ && !(locked[i].buf->valid & 1u << d->memory))
            bytes += (double)locked[i].buf->nbytes;
    return bytes;
}

/* Bytes that go home afterwards: foreign memory that is written, and what the host usually reads then. */
static double bytes_to_return(const Spec *s, const Device *d, const Locked *locked, int n) {
    double bytes = d->memory == HOST_MEMORY ? 0 : s->fetched;
    for (int i = 0; i < n; i++) {
        const Buffer *b = locked[i].buf;
        bool leaves = b->home >= 0 && b->home != d->memory;
        if (locked[i].mode & QS_WRITE && leaves) bytes += (double)b->nbytes;
    }
    return bytes;
}

/* The link between two devices is that of the slower one; which that is does not matter here. */
static double bandwidth(const KernelCache *k, int device) {
    return k->bandwidth[device] > 0 ? k->bandwidth[device] : usual_bandwidth;
}

static double launch_cost(const KernelCache *k, const Device *d, int device) {
    return k->launch[device] > 0 ? k->launch[device] : d->memory == HOST_MEMORY ? near_launch : far_launch;
}

/* What a launch costs where its data are, but for what always comes anew; and to bring them there. */
typedef struct { double stay, bring; } Cost;

static Cost predict(qs_vm *vm, const Spec *s, int device, double positions, const Locked *locked, int n) {
    const Device *d = &qvm(vm)->devices[device];
    const KernelCache *k = qvm(vm)->kernels;
    double run = launch_cost(k, d, device) + positions * s->on[device].ns, fresh = s->on[device].fresh;
    return (Cost){run + (bytes_to_return(s, d, locked, n) + fresh) / bandwidth(k, device),
                  fmax(bytes_to_bring(d, locked, n) - fresh, 0) / bandwidth(k, device)};
}

static double whole(Cost c) { return c.stay + c.bring; }

static bool is_tried(const Spec *s, int device) { return s->on[device].runs >= TRIAL_RUNS; }

/* Where the fewest bytes have to be moved to; of equals the processor, which is the first. */
static int nearest(qs_vm *vm, const Spec *s, const Locked *locked, int n) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < qvm(vm)->ndevices; i++) {
        const Device *d = &qvm(vm)->devices[i];
        double bytes = bytes_to_bring(d, locked, n) + bytes_to_return(s, d, locked, n);
        if (bytes < least) best = i, least = bytes;
    }
    return best;
}

/* -- saying why ---------------------------------------------------------------------------------------------------- */
static void put_name(Text *t, const Device *d) { qtext_printf(t, "%s:%d", d->ops->kind, d->ordinal); }

static void put_predictions(qs_vm *vm, const Spec *s, double positions, const Locked *locked, int n, Text *t) {
    for (int i = 0; i < qvm(vm)->ndevices; i++) {
        const Device *d = &qvm(vm)->devices[i];
        double time = whole(predict(vm, s, i, positions, locked, n));
        double bytes = bytes_to_bring(d, locked, n) + bytes_to_return(s, d, locked, n);
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
/* What one more run on a device costs if it was not tried yet, or otherwise more than on the best one, with the way
 * there and back; INFINITY: it cannot. */
static double cost_of_visit(qs_vm *vm, const Spec *s, int device, double positions, const Locked *locked, int n,
                            double best) {
    const KernelCache *k = qvm(vm)->kernels;
    const SpecOn *on = &s->on[device];
    double way = 2 * bytes_to_bring(&qvm(vm)->devices[device], locked, n) / bandwidth(k, device);
    if (is_tried(s, device))
        return fmax(predict(vm, s, device, positions, locked, n).stay - best, near_launch) + way;
    return (on->runs ? on->last : k->making[device] > 0 ? k->making[device] : usual_making) + way;
}

/* Of the devices tried: the one that ends soonest, and the one that would if the data were there; -1: there is none. */
typedef struct { int now, there; Cost cost[MAX_DEVICES]; } Ranking;

static Ranking rank(qs_vm *vm, const Spec *s, double positions, const Locked *locked, int n) {
    Ranking r = {.now = -1, .there = -1};
    for (int i = 0; i < qvm(vm)->ndevices; i++) {
        if (!is_tried(s, i)) continue;
        r.cost[i] = predict(vm, s, i, positions, locked, n);
        if (r.now < 0 || whole(r.cost[i]) < whole(r.cost[r.now])) r.now = i;
        if (r.there < 0 || r.cost[i].stay < r.cost[r.there].stay) r.there = i;
    }
    return r;
}

/* A device that is worth a visit, or -1. */
static int to_be_visited(qs_vm *vm, const Spec *s, double positions, const Locked *locked, int n, const Ranking *r) {
    for (int i = 0; i < qvm(vm)->ndevices; i++) {
        double share = is_tried(s, i) ? visit_share : trial_share, best = r->cost[r->now].stay;
        if (i == r->now) continue;
        if (s->on[i].elsewhere > share * cost_of_visit(vm, s, i, positions, locked, n, best)) return i;
    }
    return -1;
}

/* Whether the data moved for nothing: others wanted them back. */
static void judge_move(Spec *s, const Ranking *r) {
    if (s->moved == 0) return;
    bool stayed = r->cost[s->moved - 1].bring < s->moving / 2;
    s->patience = stayed ? 1 : fmin(2 * s->patience, most_patience);
    s->moved = 0;
}

/* Counts what is lost because the data are elsewhere; true: that has paid for moving them. */
static bool has_paid(Spec *s, const Ranking *r) {
    double lost = r->cost[r->now].stay - r->cost[r->there].stay;
    judge_move(s, r);
    if (r->now == r->there || !isfinite(lost)) return false;
    s->regret += lost;
    if (s->regret < s->patience * r->cost[r->there].bring) return false;
    s->regret = 0, s->moved = r->there + 1, s->moving = r->cost[r->there].bring;
    return true;
}

Device *qchoose_device(qs_vm *vm, Spec *s, double positions, const Locked *locked, int n) {
    Ranking r = rank(vm, s, positions, locked, n);
    const char *why = "nearest to its data";
    int device = nearest(vm, s, locked, n), visit = -1;
    if (r.now >= 0) {
        device = isinf(whole(r.cost[r.now])) ? 0 : r.now, why = "which ends soonest";
        visit = to_be_visited(vm, s, positions, locked, n, &r);
    }
    if (visit >= 0) device = visit, why = is_tried(s, visit) ? "to look again" : "as a trial";
    else if (r.now >= 0 && has_paid(s, &r)) device = r.there, why = "to which its data move";
    explain(vm, s, device, positions, locked, n, why);
    return &qvm(vm)->devices[device];
}

bool qchoose_shun(qs_vm *vm, Spec *s, const Device *d) {
    SpecOn *on = &s->on[d - qvm(vm)->devices];
    if (!qvm(vm)->automatic || d == qvm(vm)->devices) return false;
    on->ns = INFINITY, on->runs = TRIAL_RUNS, on->positions = INFINITY;
    qerr_clear(qvm_ctx(vm));
    return true;
}

/* -- measuring ----------------------------------------------------------------------------------------------------- */
void qchoose_made(qs_vm *vm, const Device *d, double ns) {
    double *known = &qvm(vm)->kernels->making[d - qvm(vm)->devices];
    *known = *known > 0 ? (*known + ns) / 2 : ns;
}

/* Time that the kernel took on one device is time for the others to be waiting for a visit. */
static void spend(qs_vm *vm, Spec *s, int device, double ns) {
    for (int i = 0; i < qvm(vm)->ndevices; i++) s->on[i].elsewhere = i == device ? 0 : s->on[i].elsewhere + ns;
}

/* What came home since the last launch is what the host wanted of that one. */
static void count_fetched(qs_vm *vm, Spec *s) {
    double now = qvm_ctx(vm)->fetched[s->maker] - s->fetched_before;
    if (s->was_away) s->fetched = s->fetched > 0 ? (3 * s->fetched + now) / 4 : now;
}

/* What this launch itself brings home is nobody's wish but ours. */
static void mark_written(qs_vm *vm, Spec *s, const Device *d, const Locked *locked, int n) {
    s->fetched_before = qvm_ctx(vm)->fetched[s->maker], s->was_away = d->memory != HOST_MEMORY;
    for (int i = 0; s->was_away && i < n; i++)
        if (locked[i].mode & QS_WRITE) locked[i].buf->maker = s->maker;
}

static void count_fresh(Spec *s, int device, double bytes) {
    SpecOn *on = &s->on[device];
    if (s->last == device + 1) on->fresh = on->fresh > 0 ? (3 * on->fresh + bytes) / 4 : bytes;
    s->last = device + 1;
}

qs_status qchoose_begin(qs_vm *vm, Trial *t, Spec *s, Device *d, double positions, const Locked *locked, int n) {
    int device = (int)(d - qvm(vm)->devices);
    SpecOn *on = &s->on[device];
    *t = (Trial){.spec = s, .device = d, .positions = positions};
    if (!qvm(vm)->automatic) return QS_OK;
    t->bytes = bytes_to_bring(d, locked, n);
    count_fetched(vm, s);
    count_fresh(s, device, t->bytes);
    t->timed = on->runs < NEW_RUNS || on->runs % SAMPLE == 0 || on->elsewhere > visit_share * on->last ||
               positions > GROWN * on->positions;
    t->timed = t->timed && !qdev_is_recording(d); /* nothing can be waited for then */
    if (!t->timed) {
        on->runs++;
        spend(vm, s, device, whole(predict(vm, s, device, positions, locked, n)));
        return QS_OK;
    }
    TRY(d->ops->sync(d)); /* what is queued already is not part of it */
    t->start = qchoose_now();
    return QS_OK;
}

void qchoose_locked(qs_vm *vm, Trial *t, const Locked *locked, int n) {
    if (!qvm(vm)->automatic) return;
    mark_written(vm, t->spec, t->device, locked, n);
    if (!t->timed) return;
    double *known = &qvm(vm)->kernels->bandwidth[t->device - qvm(vm)->devices];
    t->locking = qchoose_now() - t->start;
    t->start += t->locking;
    if (t->bytes < worth_measuring || t->locking <= 0) return;
    *known = *known > 0 ? (3 * *known + t->bytes / t->locking) / 4 : t->bytes / t->locking;
}

/* A busy machine only makes times longer, and so does the first run; so what is shorter is believed sooner.  A launch
 * with few positions says nothing about the time of one. */
static void learn(SpecOn *on, double positions, double ns) {
    if (positions * GROWN < on->positions) return;
    bool fresh = on->runs == 0 || positions > GROWN * on->positions;
    on->ns = fresh || ns < on->ns ? ns : on->runs < NEW_RUNS ? on->ns : (3 * on->ns + ns) / 4;
    on->positions = fmax(on->positions, positions);
}

qs_status qchoose_end(qs_vm *vm, Trial *t, qs_status s) {
    if (!t->timed || s != QS_OK) return s;
    int device = (int)(t->device - qvm(vm)->devices);
    SpecOn *on = &t->spec->on[device];
    KernelCache *k = qvm(vm)->kernels;
    TRY(t->device->ops->sync(t->device));
    double time = qchoose_now() - t->start;
    if (t->positions <= FEW && on->runs > 0 && (k->launch[device] == 0 || time < k->launch[device]))
        k->launch[device] = time;
    learn(on, t->positions, fmax(time - launch_cost(k, t->device, device), 0) / t->positions);
    on->last = time, on->runs++;
    spend(vm, t->spec, device, time + t->locking);
    return QS_OK;
}
