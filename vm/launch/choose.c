/* choose.c -- where a launch ends soonest.
 *
 *     predicted = what a launch costs + positions * measured time of one
 *               + bytes that are not there / measured bandwidth
 *
 * All of that is measured as programs run: every launch while a form is new on a device or has many more positions
 * than those measured, and one in SAMPLE later.  A form begins where its data are.
 *
 * Trials:  another device is tried, and one that lost is asked again, when the form has taken much longer since than
 * that costs.  So what was measured in a bad moment is found out, and a trial that turns out badly costs a small part
 * of what was spent.
 *
 * Regret:  data that lie on the slower device keep a form there, as long as one launch gains less than moving them
 * costs.  What was lost that way is added up, and when it has paid for the move, they move.  If others have taken them
 * back by the next launch, the next move has to be paid for twice as often.
 *
 * Fetched:  what the host reads of its results belongs to the price of running it elsewhere. */
#include "vm/base/clock.h"
#include "vm/launch/run.h"

#include <math.h>

enum { SAMPLE = 32, NEW_RUNS = 3, TRIAL_RUNS = 2, GROWN = 4, FEW = 1024 /* positions: the launch is what costs */ };
static const double usual_making = 60e6; /* nanoseconds: code for a new device, first launch */
static const double trial_share = 8;     /* what was spent, in costs of a trial, before there is one */
static const double visit_share = 32;    /* the same for a device that was tried */
static const double far_launch = 2e4, near_launch = 1e3;
static const double usual_bandwidth = 4;       /* bytes per nanosecond */
static const double worth_measuring = 1 << 20; /* bytes */
static const double most_patience = 1024;

/* -- predicting ---------------------------------------------------------------------------------------------------- */
static Choice *choice_of(const Run *r) { return &r->form->choice; }
static Device *device_at(const Run *r, int device) { return &qvm(r->vm)->devices[device]; }
static int ndevices(const Run *r) { return qvm(r->vm)->ndevices; }

/* Bytes that locking would move to d; memory for results is too little to count. */
static double bytes_to_bring(const Run *r, const Device *d) {
    double bytes = 0;
    for (int i = 0; i < r->bound.nlocked; i++) {
        const Locked *x = &r->bound.locked[i];
        if (x->buf && x->mode & QS_READ && !(x->buf->valid & 1u << d->memory)) bytes += (double)x->buf->nbytes;
    }
    return bytes;
}

/* Bytes that go home afterwards: foreign memory that is written, and what the host usually reads then. */
static double bytes_to_return(const Run *r, const Device *d) {
    double bytes = d->memory == HOST_MEMORY ? 0 : choice_of(r)->fetched;
    for (int i = 0; i < r->bound.nlocked; i++) {
        const Buffer *b = r->bound.locked[i].buf;
        bool leaves = b && b->home >= 0 && b->home != d->memory;
        if (r->bound.locked[i].mode & QS_WRITE && leaves) bytes += (double)b->nbytes;
    }
    return bytes;
}

/* The link between two devices is that of the slower one; which that is does not matter here. */
static double bandwidth(const Run *r, int device) {
    double measured = qvm(r->vm)->launches->bandwidth[device];
    return measured > 0 ? measured : usual_bandwidth;
}

static double launch_cost(const Run *r, int device) {
    double measured = qvm(r->vm)->launches->launch[device];
    return measured > 0 ? measured : device_at(r, device)->memory == HOST_MEMORY ? near_launch : far_launch;
}

/* The cost of a launch on a device: `stay` when its data are there already, all but those that come anew each time;
 * `bring` is what it costs to bring the others. */
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

static double whole(Cost c) { return c.stay + c.bring; }

static bool is_tried(const Run *r, int device) { return choice_of(r)->on[device].runs >= TRIAL_RUNS; }

/* Where the fewest bytes have to be moved to; of equals the processor, which is the first. */
static int nearest(const Run *r) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < ndevices(r); i++) {
        double bytes = bytes_to_bring(r, device_at(r, i)) + bytes_to_return(r, device_at(r, i));
        if (bytes < least) best = i, least = bytes;
    }
    return best;
}

/* -- saying why ---------------------------------------------------------------------------------------------------- */
static void put_name(Text *t, const Device *d) { qtext_printf(t, "%s:%d", d->ops->kind, d->ordinal); }

static void put_predictions(const Run *r, Text *t) {
    for (int i = 0; i < ndevices(r); i++) {
        const Device *d = device_at(r, i);
        double time = whole(predict(r, i)), bytes = bytes_to_bring(r, d) + bytes_to_return(r, d);
        qtext_puts(t, i ? ", " : ": ");
        put_name(t, d);
        if (!is_tried(r, i)) qtext_puts(t, " not tried");
        else if (isinf(time)) qtext_puts(t, " cannot");
        else qtext_printf(t, " %.3g ms", time * 1e-6);
        if (bytes > 0) qtext_printf(t, " with %.3g MB to move", bytes / 1e6);
    }
}

/* --explain: where the form runs, whenever that is another device than before. */
static void explain(const Run *r, int device, const char *why) {
    const KFunc *f = r->form->version[0].func;
    Text t;
    if (!qvm(r->vm)->config.explain || choice_of(r)->told == device + 1) return;
    choice_of(r)->told = device + 1;
    qtext_init(&t, qvm_ctx(r->vm));
    put_name(&t, device_at(r, device));
    qtext_printf(&t, ", %s", why);
    put_predictions(r, &t);
    qreport_explain(r->vm, qreport_place(f), "%s%s runs on %s", r->form->noun, f->name->s, t.s);
    qtext_free(&t);
}

/* -- the choice ---------------------------------------------------------------------------------------------------- */
/* The cost of one run on a device just to see: all of it when the device was not tried yet, else what it takes longer
 * than the best one; with moving the data there and back.  INFINITY: it cannot run there. */
static double cost_of_visit(const Run *r, int device, double best) {
    const ChoiceOn *on = &choice_of(r)->on[device];
    double way = 2 * bytes_to_bring(r, device_at(r, device)) / bandwidth(r, device);
    double making = qvm(r->vm)->launches->making[device];
    if (is_tried(r, device)) return fmax(predict(r, device).stay - best, near_launch) + way;
    return (on->runs ? on->last : making > 0 ? making : usual_making) + way;
}

/* Among the devices that were tried, the one that ends soonest now, and the one that would if the data were there; -1:
 * none was tried. */
typedef struct {
    int now, there;
    Cost cost[MAX_DEVICES];
} Ranking;

static Ranking rank(const Run *r) {
    Ranking k = {.now = -1, .there = -1};
    for (int i = 0; i < ndevices(r); i++) {
        if (!is_tried(r, i)) continue;
        k.cost[i] = predict(r, i);
        if (k.now < 0 || whole(k.cost[i]) < whole(k.cost[k.now])) k.now = i;
        if (k.there < 0 || k.cost[i].stay < k.cost[k.there].stay) k.there = i;
    }
    return k;
}

/* A device that is worth a visit, or -1. */
static int to_be_visited(const Run *r, const Ranking *k) {
    for (int i = 0; i < ndevices(r); i++) {
        double share = is_tried(r, i) ? visit_share : trial_share, best = k->cost[k->now].stay;
        if (i == k->now) continue;
        if (choice_of(r)->on[i].elsewhere > share * cost_of_visit(r, i, best)) return i;
    }
    return -1;
}

/* Did the last move pay?  If others have taken the data back since, the next move needs twice the regret. */
static void judge_move(Choice *s, const Ranking *k) {
    if (s->moved == 0) return;
    bool stayed = k->cost[s->moved - 1].bring < s->moving / 2;
    s->patience = stayed ? 1 : fmin(2 * s->patience, most_patience);
    s->moved = 0;
}

/* Adds to the regret what this launch loses because the data are elsewhere; true: it has paid for moving them. */
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
    Ranking k = rank(r);
    const char *why = "nearest to its data";
    int device = nearest(r), visit = -1;
    if (k.now >= 0) {
        device = isinf(whole(k.cost[k.now])) ? 0 : k.now, why = "which ends soonest";
        visit = to_be_visited(r, &k);
    }
    if (visit >= 0) device = visit, why = is_tried(r, visit) ? "to look again" : "as a trial";
    else if (k.now >= 0 && has_paid(choice_of(r), &k)) device = k.there, why = "to which its data move";
    explain(r, device, why);
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

/* The form has run on one device for so long: the others have waited as long for a visit. */
static void spend(const Run *r, int device, double ns) {
    Choice *s = choice_of(r);
    for (int i = 0; i < ndevices(r); i++) s->on[i].elsewhere = i == device ? 0 : s->on[i].elsewhere + ns;
}

/* What came home since the last launch, the host has read of that launch's results. */
static void count_fetched(qs_vm *vm, Choice *s) {
    double now = qvm_ctx(vm)->fetched[s->maker] - s->fetched_before;
    if (s->was_away) s->fetched = s->fetched > 0 ? (3 * s->fetched + now) / 4 : now;
}

/* Bytes that locking for this launch brings home were not read by the host: counting begins after the locks. */
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
    t->timed = t->timed && !qdev_is_recording(d); /* nothing can be waited for then */
    if (!t->timed) {
        on->runs++;
        spend(r, t->device, whole(predict(r, t->device)));
        return QS_OK;
    }
    TRY(d->ops->sync(d)); /* what is queued already is not part of it */
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

/* A busy machine makes times longer and never shorter, and so does the first run: so a shorter time is taken over at
 * once, a longer one little by little.  A launch with few positions says nothing about the time of one. */
static void learn(ChoiceOn *on, double positions, double ns) {
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
    learn(on, positions, fmax(time - launch_cost(r, t->device), 0) / positions);
    on->last = time, on->runs++;
    spend(r, t->device, time + t->locking);
    return QS_OK;
}
