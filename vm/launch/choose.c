/* choose.c -- chooses the device with the shortest predicted time for a launch.
 *
 *     prediction = cost of a launch + positions * measured time per position
 *                + bytes to transfer / measured bandwidth
 *
 * All inputs are measured as programs run: every launch while a specialization is new on a device or has many more
 * positions than any measured one, and one in SAMPLE later.  A specialization starts on the device that has its data.
 *
 * Trials: another device is tried, or a slower one is tried again, when the specialization has run much longer since
 * the last trial than a trial costs.  An unlucky measurement is therefore corrected, and a bad trial costs a small
 * part of the time that was spent.
 *
 * Regret: data on the slower device keep a specialization there as long as one launch gains less than moving the data
 * costs.  The time lost that way is accumulated, and when it exceeds the cost of the move, the data move.  If other
 * code has moved them back by the next launch, the next move requires twice the regret.
 *
 * Fetched: transfers of results that the host reads belong to the cost of running on another device. */
#include "vm/base/clock.h"
#include "vm/launch/run.h"

#include <math.h>

/* FEW: positions below which the launch itself dominates the cost. */
enum { SAMPLE = 32, NEW_RUNS = 3, TRIAL_RUNS = 2, GROWN = 4, FEW = 1024 };
static const double usual_making = 60e6; /* nanoseconds to make code for a new device and launch it first */
static const double trial_share = 8;     /* time spent, as a multiple of the cost of a trial, before the first trial */
static const double visit_share = 32;    /* the same before a device is tried again */
static const double far_launch = 2e4, near_launch = 1e3;
static const double usual_bandwidth = 4;       /* bytes per nanosecond */
static const double worth_measuring = 1 << 20; /* bytes */
static const double most_patience = 1024;

/* -- prediction ---------------------------------------------------------------------------------------------------- */
static Choice *choice_of(const Run *r) { return &r->form->choice; }
static Device *device_at(const Run *r, int device) { return &qvm(r->vm)->devices[device]; }
static int ndevices(const Run *r) { return qvm(r->vm)->ndevices; }

/* Returns the bytes that locking would transfer to d; memory for results is too small to count. */
static double bytes_to_bring(const Run *r, const Device *d) {
    double bytes = 0;
    for (int i = 0; i < r->bound.nlocked; i++) {
        const Locked *x = &r->bound.locked[i];
        if (x->buf && x->mode & QS_READ && !qbuf_is_in(x->buf, d->memory)) bytes += (double)x->buf->nbytes;
    }
    return bytes;
}

/* Returns the bytes transferred back afterwards: host memory that is written, and results that the host usually
 * reads. */
static double bytes_to_return(const Run *r, const Device *d) {
    double bytes = d->memory == HOST_MEMORY ? 0 : choice_of(r)->fetched;
    for (int i = 0; i < r->bound.nlocked; i++) {
        const Buffer *b = r->bound.locked[i].buf;
        bool leaves = b && b->home >= 0 && b->home != d->memory;
        if (r->bound.locked[i].mode & QS_WRITE && leaves) bytes += (double)b->nbytes;
    }
    return bytes;
}

/* Returns the bandwidth to a device; between two devices the slower link counts, and that difference is ignored. */
static double bandwidth(const Run *r, int device) {
    double measured = qvm(r->vm)->launches->bandwidth[device];
    return measured > 0 ? measured : usual_bandwidth;
}

static double launch_cost(const Run *r, int device) {
    double measured = qvm(r->vm)->launches->launch[device];
    return measured > 0 ? measured : device_at(r, device)->memory == HOST_MEMORY ? near_launch : far_launch;
}

/* Cost of a launch on a device: `stay` if its data are there already, including the transfers that every launch needs;
 * `bring` is the cost of transferring the rest. */
typedef struct {
    double stay, bring;
} Cost;

static Cost predict(const Run *r, int device) {
    const Device *d = device_at(r, device);
    const ChoiceOn *on = &choice_of(r)->on[device];
    double run = launch_cost(r, device) + r->positions * on->ns;
    return (Cost){run + (bytes_to_return(r, d) + on->fresh) / bandwidth(r, device),
                  fmax(bytes_to_bring(r, d) - on->fresh, 0) / bandwidth(r, device)};
}

static double total_cost(Cost c) { return c.stay + c.bring; }

static bool is_tried(const Run *r, int device) { return choice_of(r)->on[device].runs >= TRIAL_RUNS; }

/* Returns the device that needs the fewest transferred bytes; the processor, which is the first one, wins ties. */
static int nearest(const Run *r) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < ndevices(r); i++) {
        double bytes = bytes_to_bring(r, device_at(r, i)) + bytes_to_return(r, device_at(r, i));
        if (bytes < least) best = i, least = bytes;
    }
    return best;
}

/* -- explaining the choice ----------------------------------------------------------------------------------------- */
static void put_name(Text *t, const Device *d) { qtext_printf(t, "%s:%d", d->ops->kind, d->ordinal); }

static void put_predictions(const Run *r, Text *t) {
    for (int i = 0; i < ndevices(r); i++) {
        const Device *d = device_at(r, i);
        double time = total_cost(predict(r, i)), bytes = bytes_to_bring(r, d) + bytes_to_return(r, d);
        qtext_puts(t, i ? ", " : ": ");
        put_name(t, d);
        if (!is_tried(r, i)) qtext_puts(t, " not tried");
        else if (isinf(time)) qtext_puts(t, " cannot");
        else qtext_printf(t, " %.3g ms", time * 1e-6);
        if (bytes > 0) qtext_printf(t, " with %.3g MB to move", bytes / 1e6);
    }
}

/* Reports for --explain on which device the specialization runs, if that differs from the last report. */
static void explain_choice(const Run *r, int device, const char *why) {
    const KFunc *f = r->form->version[0].func;
    Text t;
    if (!qvm(r->vm)->config.explain || choice_of(r)->reported == device + 1) return;
    choice_of(r)->reported = device + 1;
    qtext_init(&t, qvm_ctx(r->vm));
    put_name(&t, device_at(r, device));
    qtext_printf(&t, ", %s", why);
    put_predictions(r, &t);
    qreport_explain(r->vm, qreport_location(f), "%s%s runs on %s", r->form->noun, f->name->s, t.s);
    qtext_free(&t);
}

/* -- choosing ------------------------------------------------------------------------------------------------------ */
/* Returns the cost of one trial run on a device: the whole run if the device is untried, otherwise the loss against the
 * best device; including both transfers of the data.  INFINITY: it cannot run there. */
static double cost_of_visit(const Run *r, int device, double best) {
    const ChoiceOn *on = &choice_of(r)->on[device];
    double way = 2 * bytes_to_bring(r, device_at(r, device)) / bandwidth(r, device);
    double making = qvm(r->vm)->launches->making[device];
    if (is_tried(r, device)) return fmax(predict(r, device).stay - best, near_launch) + way;
    return (on->runs ? on->last : making > 0 ? making : usual_making) + way;
}

/* Among the tried devices, the fastest one now, and the fastest one if it had the data; -1: no device was tried. */
typedef struct {
    int now, there;
    Cost cost[MAX_DEVICES];
} Ranking;

static Ranking rank_devices(const Run *r) {
    Ranking k = {.now = -1, .there = -1};
    for (int i = 0; i < ndevices(r); i++) {
        if (!is_tried(r, i)) continue;
        k.cost[i] = predict(r, i);
        if (k.now < 0 || total_cost(k.cost[i]) < total_cost(k.cost[k.now])) k.now = i;
        if (k.there < 0 || k.cost[i].stay < k.cost[k.there].stay) k.there = i;
    }
    return k;
}

/* Returns a device that is worth a trial, or -1. */
static int to_be_visited(const Run *r, const Ranking *k) {
    for (int i = 0; i < ndevices(r); i++) {
        double share = is_tried(r, i) ? visit_share : trial_share, best = k->cost[k->now].stay;
        if (i == k->now) continue;
        if (choice_of(r)->on[i].elsewhere > share * cost_of_visit(r, i, best)) return i;
    }
    return -1;
}

/* Did the last move pay off?  If other code has moved the data back since, the next move requires twice the regret. */
static void judge_move(Choice *s, const Ranking *k) {
    if (s->moved == 0) return;
    bool stayed = k->cost[s->moved - 1].bring < s->moving / 2;
    s->patience = stayed ? 1 : fmin(2 * s->patience, most_patience);
    s->moved = 0;
}

/* Adds the time that this launch loses because of the data's location; true: the regret exceeds the cost of moving. */
static bool has_paid(Choice *s, const Ranking *k) {
    double lost = k->cost[k->now].stay - k->cost[k->there].stay;
    judge_move(s, k);
    if (k->now == k->there || !isfinite(lost)) return false;
    s->regret += lost;
    if (s->regret < s->patience * k->cost[k->there].bring) return false;
    s->regret = 0, s->moved = k->there + 1, s->moving = k->cost[k->there].bring;
    return true;
}

Device *qchoose_device(const Run *r) {
    Ranking k = rank_devices(r);
    const char *why = "nearest to its data";
    int device = nearest(r), visit = -1;
    if (k.now >= 0) {
        device = isinf(total_cost(k.cost[k.now])) ? 0 : k.now, why = "which ends soonest";
        visit = to_be_visited(r, &k);
    }
    if (visit >= 0) device = visit, why = is_tried(r, visit) ? "to look again" : "as a trial";
    else if (k.now >= 0 && has_paid(choice_of(r), &k)) device = k.there, why = "to which its data move";
    explain_choice(r, device, why);
    return device_at(r, device);
}

void qchoose_shun(const Run *r) {
    ChoiceOn *on = &choice_of(r)->on[r->device - qvm(r->vm)->devices];
    on->ns = INFINITY, on->runs = TRIAL_RUNS, on->positions = INFINITY;
    qerr_clear(qvm_ctx(r->vm));
}

/* -- measuring ----------------------------------------------------------------------------------------------------- */
void qchoose_made(qs_vm *vm, const Device *d, double ns) {
    double *known = &qvm(vm)->launches->making[d - qvm(vm)->devices];
    *known = *known > 0 ? (*known + ns) / 2 : ns;
}

/* Adds the duration of a run on one device to the time that the other devices have waited for a trial. */
static void spend(const Run *r, int device, double ns) {
    Choice *s = choice_of(r);
    for (int i = 0; i < ndevices(r); i++) s->on[i].elsewhere = i == device ? 0 : s->on[i].elsewhere + ns;
}

/* Bytes copied back since the last launch on a device with memory of its own are reads of that launch's results. */
static void count_fetched(qs_vm *vm, Choice *s) {
    double now = qvm_ctx(vm)->fetched[s->maker] - s->fetched_before;
    if (s->was_away) s->fetched = s->fetched > 0 ? (3 * s->fetched + now) / 4 : now;
}

/* Starts counting after the locks are taken, since the host has not read the bytes that locking copies back for this
 * launch. */
static void mark_written(const Run *r) {
    Choice *s = choice_of(r);
    s->fetched_before = qvm_ctx(r->vm)->fetched[s->maker], s->was_away = r->device->memory != HOST_MEMORY;
    for (int i = 0; s->was_away && i < r->bound.nlocked; i++)
        if (r->bound.locked[i].mode & QS_WRITE) r->bound.locked[i].buf->maker = s->maker;
}

static void count_fresh(Choice *s, int device, double bytes) {
    ChoiceOn *on = &s->on[device];
    if (s->last == device + 1) on->fresh = on->fresh > 0 ? (3 * on->fresh + bytes) / 4 : bytes;
    s->last = device + 1;
}

qs_status qchoose_begin(const Run *r, Trial *t) {
    Choice *s = choice_of(r);
    Device *d = r->device;
    if (!r->chosen) return QS_OK;
    *t = (Trial){.device = (int)(d - qvm(r->vm)->devices), .bytes = bytes_to_bring(r, d)};
    ChoiceOn *on = &s->on[t->device];
    count_fetched(r->vm, s);
    count_fresh(s, t->device, t->bytes);
    t->timed = on->runs < NEW_RUNS || on->runs % SAMPLE == 0 || on->elsewhere > visit_share * on->last ||
               r->positions > GROWN * on->positions;
    t->timed = t->timed && !qdev_is_recording(d); /* synchronization is impossible then */
    if (!t->timed) {
        on->runs++;
        spend(r, t->device, total_cost(predict(r, t->device)));
        return QS_OK;
    }
    TRY(d->ops->sync(d)); /* excludes work that is queued already */
    t->start = qclock_ns();
    return QS_OK;
}

void qchoose_locked(const Run *r, Trial *t) {
    if (!r->chosen) return;
    mark_written(r);
    if (!t->timed) return;
    double *known = &qvm(r->vm)->launches->bandwidth[t->device];
    t->locking = qclock_ns() - t->start;
    t->start += t->locking;
    if (t->bytes < worth_measuring || t->locking <= 0) return;
    *known = *known > 0 ? (3 * *known + t->bytes / t->locking) / 4 : t->bytes / t->locking;
}

/* Updates the time per position.  A busy computer or a first run makes times longer, never shorter; so a shorter time
 * is accepted at once, a longer one gradually.  A launch with few positions says nothing about the time per
 * position. */
static void update_time(ChoiceOn *on, double positions, double ns) {
    if (positions * GROWN < on->positions) return;
    bool fresh = on->runs == 0 || positions > GROWN * on->positions;
    on->ns = fresh || ns < on->ns ? ns : on->runs < NEW_RUNS ? on->ns : (3 * on->ns + ns) / 4;
    on->positions = fmax(on->positions, positions);
}

qs_status qchoose_end(const Run *r, Trial *t, qs_status s) {
    if (!r->chosen || !t->timed || s != QS_OK || r->fault.message) return s;
    ChoiceOn *on = &choice_of(r)->on[t->device];
    double *known = &qvm(r->vm)->launches->launch[t->device], positions = r->positions;
    TRY(r->device->ops->sync(r->device));
    double time = qclock_ns() - t->start;
    if (positions <= FEW && on->runs > 0 && (*known == 0 || time < *known)) *known = time;
    update_time(on, positions, fmax(time - launch_cost(r, t->device), 0) / positions);
    on->last = time, on->runs++;
    spend(r, t->device, time + t->locking);
    return QS_OK;
}
