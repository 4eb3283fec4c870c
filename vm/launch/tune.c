/* tune.c -- measures with which block sizes a program's launches run fastest (--tune), and keeps them in the cache.
 *
 *     launch ── long enough? ── copy the arrays that it reads and writes ── run each candidate
 *            ── run the best one and the usual one in turns ── restore the arrays ── report, store ── the launch itself
 *
 * A block is a work group of a GPU, and on the processor the positions that a thread computes before it takes others.
 * Rows of positions are the usual blocks; where neighbouring rows read the same elements, or write to the same lines of
 * the cache, several shorter rows can be twice as fast.  How fast depends on the access pattern, the size of the caches
 * and other hardware, so it is measured.
 *
 * The positions of a launch are independent, so a block size cannot change results.  Code whose results may depend on
 * it is left alone: code that uses its block, runs in order, or updates elements that positions share.
 *
 * The entry in the cache belongs to the code (KFunc.hash) and the device.  It is used for launches of at least a
 * quarter of the measured positions, because large blocks would leave threads of a small launch without work. */
#include "lang/kernel/ir/kir.h"
#include "vm/launch/run.h"

#include <math.h>
#include <string.h>

/* Times in nanoseconds.  Launches shorter than SHORT depend on no block size.  The launches of a specialization are
 * measured when they have taken WORTH together.  TRIALS and DUEL: time after which no further candidate is tried, and
 * the best one is no longer compared with the usual block. */
enum { SHORT = 20000, WORTH = 1000000, SHORT_LAUNCHES = 3 };
static const double TRIALS = 4e9, DUEL = 2e9, LEAST_GAIN = 1.05;
enum { CANDIDATES = 40, DUELS = 15 };

typedef struct {             /* an entry of the cache */
    uint32_t edition, given; /* given: `block` is faster than the usual block */
    double positions;        /* of the launch that was measured */
    int32_t block[QS_MAX_RANK];
} Entry;
enum { EDITION = 1 };

typedef struct Tuning {
    Entry entry;
    bool done;  /* measured by this process, or not worth it */
    int nshort; /* launches that were too short to be measured */
    double spent;
} Tuning;

/* -- entries ------------------------------------------------------------------------------------------------------- */
static CacheKey key_of(const Run *r) {
    uint64_t hash = qlaunch_func(r)->hash;
    const char *name = qdev_name(r->device);
    CacheKey k = qcache_key((CacheKey){{6, EDITION}}, name, strlen(name));
    return qcache_key(k, &hash, sizeof hash);
}

static void read_entry(Run *r, Entry *e) {
    Text t;
    qtext_init(&t, qvm_ctx(r->vm));
    if (qcache_get(qdevprog_cache(r->vm), key_of(r), &t) && t.len == sizeof *e) memcpy(e, t.s, sizeof *e);
    if (e->edition != EDITION) *e = (Entry){0};
    qtext_free(&t);
}

static void put_block(Text *t, int rank, const int32_t *block) {
    for (int a = 0; a < rank; a++) qtext_printf(t, "%s%d", a ? "x" : "", block[a]);
}

static void explain_entry(const Run *r, const Entry *e) {
    const KFunc *f = qlaunch_func(r);
    Text t;
    qtext_init(&t, qvm_ctx(r->vm));
    put_block(&t, r->launch.rank, e->block);
    qreport_explain(r->vm, qreport_location(f),
                    "%s%s: blocks of %s positions, which --tune has measured to be the fastest", r->form->noun,
                    f->name->s, t.s);
    qtext_free(&t);
}

static Tuning *tuning_of(Run *r) {
    Tuning **t = &r->form->version[r->which].tuning[r->device - qvm(r->vm)->devices];
    if (*t) return *t;
    *t = qarena_alloc(&r->form->arena, sizeof **t);
    if (r->device->ops->code != CODE_KIR && r->launch.any_block) read_entry(r, &(*t)->entry);
    if ((*t)->entry.given) explain_entry(r, &(*t)->entry);
    return *t;
}

double qtune_positions(const Launch *l) {
    double n = 1;
    for (int a = 0; a < l->rank; a++) n *= (double)l->domain[a];
    return n;
}

void qtune_block(Run *r) {
    Launch *l = &r->launch;
    l->tuned = false;
    if (!l->any_block) return;
    const Entry *e = &tuning_of(r)->entry;
    l->tuned = e->given && qtune_positions(l) >= e->positions / 4;
    if (l->tuned) memcpy(l->block, e->block, sizeof l->block);
}

/* -- arrays, which trials must not change -------------------------------------------------------------------------- */
typedef struct {
    Run *r;
    Program *p;
    Launch usual; /* the launch as it runs untuned */
    DevPtr copy[MAX_PARAMS];
    size_t size[MAX_PARAMS];
    bool changed;
} Trials;

static bool is_used(const Run *r, int lock, bool written) {
    const KFunc *f = qlaunch_func(r);
    for (int i = 0; i < f->nparams; i++)
        if (r->bound.arg[i].is_array && r->bound.lock[i] == lock)
            if (written ? f->params[i].written : f->params[i].read) return true;
    return false;
}

/* Copies the memory that the launch both reads and writes.  A trial gives other written elements the values that the
 * launch itself will give them. */
static qs_status copy_arrays(Trials *t) {
    Device *d = t->r->device;
    for (int i = 0; i < t->r->bound.nlocked; i++) {
        const Locked *x = &t->r->bound.locked[i];
        if (!is_used(t->r, i, false) || !is_used(t->r, i, true)) continue;
        t->size[i] = x->buf ? x->buf->nbytes : x->nbytes;
        if (!t->size[i]) continue;
        TRY(d->ops->alloc(d, t->size[i], &t->copy[i]));
        TRY(d->ops->copy(d, t->copy[i], x->block, t->size[i]));
    }
    return QS_OK;
}

static qs_status restore_arrays(Trials *t) {
    Device *d = t->r->device;
    for (int i = 0; i < t->r->bound.nlocked && t->changed; i++)
        if (t->copy[i]) TRY(d->ops->copy(d, t->r->bound.locked[i].block, t->copy[i], t->size[i]));
    t->changed = false;
    return QS_OK;
}

static void free_copies(Trials *t) {
    for (int i = 0; i < t->r->bound.nlocked; i++)
        if (t->copy[i]) t->r->device->ops->free(t->r->device, t->copy[i]);
}

/* -- trials -------------------------------------------------------------------------------------------------------- */
/* Runs the launch and returns its time in nanoseconds; INFINITY: it has failed, or the device refuses the block. */
static qs_status time_launch(Trials *t, const Launch *l, double *ns) {
    Run *r = t->r;
    Device *d = r->device;
    DevFault fault = {0};
    *ns = INFINITY;
    TRY(restore_arrays(t));
    TRY(d->ops->sync(d));
    t->changed = true;
    double start = qclock_ns();
    qs_status s = d->ops->launch(d, t->p, l, qlaunch_func(r)->nparams, r->bound.arg,
                                 r->form->version[r->which].checks ? &fault : NULL);
    if (s == QS_OK) s = d->ops->sync(d);
    if (s == QS_EVALUE || (s == QS_EDEVICE && l->tuned)) return qerr_clear(d->ctx), QS_OK;
    if (s == QS_OK && !fault.message) *ns = qclock_ns() - start;
    return s;
}

/* Runs the launch until it has taken a hundredth of a second, or is clearly slower than `best`. */
static qs_status time_repeatedly(Trials *t, const Launch *l, double best, double *out) {
    double all = 0, ns;
    *out = INFINITY;
    for (int i = 0; i < 20 && all < 1e7; i++) {
        TRY(time_launch(t, l, &ns));
        if (!isfinite(ns)) return *out = INFINITY, QS_OK;
        all += ns, *out = fmin(*out, ns);
        if (ns > 2 * best) break;
    }
    return QS_OK;
}

typedef struct {
    int n;
    int32_t block[CANDIDATES][QS_MAX_RANK];
} Candidates;

/* Adds a block of `wide` positions along axis a and `high` along the axis before it; whole axes behind them. */
static void add_candidate(Candidates *c, const Launch *l, int a, int64_t wide, int64_t high) {
    int32_t block[QS_MAX_RANK] = {0};
    for (int i = 0; i < l->rank; i++) {
        int64_t n = i > a ? l->domain[i] : i == a ? wide : i == a - 1 ? high : 1;
        block[i] = (int32_t)(n < l->domain[i] ? n : l->domain[i]);
    }
    for (int i = 0; i < c->n; i++)
        if (!memcmp(c->block[i], block, sizeof block)) return;
    if (c->n < CANDIDATES) memcpy(c->block[c->n++], block, sizeof block);
}

static void list_candidates(Candidates *c, const Device *d, const Launch *l) {
    static const int64_t rows[] = {1, 2, 4, 8, 16, 32, 64}, wide[] = {64, 256, 1024, 4096, 16384};
    int64_t behind = 1, all = (int64_t)qtune_positions(l);
    int a = l->rank - 1;
    c->n = 0;
    while (a > 0 && l->domain[a] * behind < 16) behind *= l->domain[a--];
    for (int w = 0; w < 5 && d->ops->code == CODE_NATIVE; w++)
        for (int h = 0; h < (a ? 7 : 1); h++)
            if (wide[w] * rows[h] * behind <= 65536 && wide[w] * rows[h] * behind * d->threads <= all)
                add_candidate(c, l, a, wide[w], rows[h]);
    for (int64_t w = 4; w <= 1024 && d->ops->code != CODE_NATIVE; w *= 2)
        for (int64_t n = 64; n <= 1024; n *= 2)
            if (n <= d->max_block && n >= w * behind && (a || n == w)) add_candidate(c, l, a, w, n / (w * behind));
}

static qs_status try_candidates(Trials *t, const Candidates *c, double *time, Launch *best) {
    double start = qclock_ns(), ns;
    for (int i = 0; i < c->n && qclock_ns() - start < TRIALS; i++) {
        Launch l = t->usual;
        l.tuned = true;
        memcpy(l.block, c->block[i], sizeof l.block);
        TRY(time_repeatedly(t, &l, *time, &ns));
        if (ns < *time) *time = ns, *best = l;
    }
    return QS_OK;
}

/* Runs the usual block and the best one in turns, because other programs disturb the times.  The best one must have the
 * shorter minimum, and win two of three turns. */
static qs_status compare_blocks(Trials *t, Launch *best, double *before, double *after) {
    double start = qclock_ns(), x, y;
    int turns = 0, won = 0;
    *before = *after = INFINITY;
    while (turns < DUELS && (turns < 3 || qclock_ns() - start < DUEL)) {
        TRY(time_launch(t, &t->usual, &x));
        TRY(time_launch(t, best, &y));
        *before = fmin(*before, x), *after = fmin(*after, y);
        turns++, won += y < x;
    }
    best->tuned = *after * LEAST_GAIN < *before && 3 * won >= 2 * turns;
    return QS_OK;
}

/* -- reports ------------------------------------------------------------------------------------------------------- */
/* The code may belong to several launches, so the name and the location of its first launch are reported. */
static void begin_report(const Run *r, Text *t) {
    const KFunc *f = qlaunch_func(r);
    Where at = f->src ? qreport_location(f) : qvm_here(r->vm);
    int line, column;
    qtext_init(t, qvm_ctx(r->vm));
    if (at.src) {
        qsource_line_col(at.src, at.pos, &line, &column);
        qtext_printf(t, "%s:%d: ", at.src->path, line);
    }
    qtext_printf(t, "%s%s: ", r->form->noun, f->name->s);
}

static void end_report(const Run *r, Text *t) {
    qtext_puts(t, "\n");
    qvm_diagnostic(r->vm, t->s, t->len);
    qtext_free(t);
    qvm(r->vm)->launches->judged++;
}

static void report_gain(const Run *r, const Launch *best, int tried, double before, double after) {
    Text t;
    begin_report(r, &t);
    qtext_printf(&t, "%.4g ms", before * 1e-6);
    if (best->tuned) {
        qtext_puts(&t, ", with blocks of ");
        put_block(&t, best->rank, best->block);
        qtext_printf(&t, " positions %.4g ms: %.2f times as fast", after * 1e-6, before / after);
    } else qtext_printf(&t, "; none of %d other blocks is 5 %% faster", tried);
    end_report(r, &t);
}

static void report_reason(const Run *r, const char *why) {
    Text t;
    begin_report(r, &t);
    qtext_puts(&t, why);
    end_report(r, &t);
}

/* Returns why the block of the launch must not be changed; NULL: it can. */
static const char *find_reason(const Run *r) {
    const KFunc *f = qlaunch_func(r);
    if (f->serial) return "not tuned: its positions run in order";
    if (!r->launch.any_block)
        return strcmp(r->form->noun, "kernel ")
                   ? "not tuned: it sums in fixed blocks, so that the result has the same bits on any machine"
                   : "not tuned: it uses its block, or the program gives it one";
    if (kir_has(f, K_ATOMIC) || kir_has(f, K_FETCH)) return "not tuned: positions update the same elements";
    return NULL;
}

/* -- a launch ------------------------------------------------------------------------------------------------------ */
static qs_status find_block(Trials *t, Tuning *tuning) {
    Run *r = t->r;
    Candidates c;
    Launch best = t->usual;
    double time, before, after;
    list_candidates(&c, r->device, &t->usual);
    TRY(time_repeatedly(t, &t->usual, INFINITY, &time));
    before = after = time;
    TRY(try_candidates(t, &c, &time, &best));
    if (best.tuned) TRY(compare_blocks(t, &best, &before, &after));
    Entry *e = &tuning->entry;
    *e = (Entry){.edition = EDITION, .given = best.tuned, .positions = qtune_positions(&best)};
    if (best.tuned) memcpy(e->block, best.block, sizeof e->block);
    bool kept = qcache_put(qdevprog_cache(r->vm), key_of(r), e, sizeof *e);
    report_gain(r, &best, c.n, before, after);
    if (best.tuned && !kept)
        report_reason(r, "the cache cannot be written, so later runs will not know this (see qrun --cache info)");
    tuning->done = true;
    return QS_OK;
}

static qs_status measure_launch(Trials *t, Tuning *tuning) {
    double first;
    TRY(copy_arrays(t));
    TRY(time_launch(t, &t->usual, &first));
    if (!isfinite(first)) return QS_OK; /* it fails: the launch itself reports it */
    tuning->spent += first;
    if (first < SHORT) return tuning->done = ++tuning->nshort == SHORT_LAUNCHES, QS_OK;
    return tuning->spent < WORTH ? QS_OK : find_block(t, tuning);
}

static void set_usual(Run *r, Launch *l) {
    *l = r->launch;
    l->tuned = false, l->late = NULL;
    qdevices_block(r->device, l->rank, l->domain, l->block);
}

/* Measures the launch.  Its arrays are the same afterwards, also after an error. */
static qs_status tune(Run *r, Program *p, Tuning *tuning) {
    Trials *t = qmem_alloc(qvm_ctx(r->vm), sizeof *t);
    t->r = r, t->p = p;
    set_usual(r, &t->usual);
    qs_status s = measure_launch(t, tuning);
    if (s == QS_ENOMEM) {
        qerr_clear(qvm_ctx(r->vm)), s = QS_OK, tuning->done = true;
        report_reason(r, "not tuned: the device has no memory for copies of its arrays");
    }
    qs_status restored = restore_arrays(t);
    free_copies(t);
    qmem_free(qvm_ctx(r->vm), t, sizeof *t);
    return s ? s : restored;
}

qs_status qtune_launch(Run *r, Program *p) {
    Tuning *t = tuning_of(r);
    bool again = t->done && t->entry.edition && qtune_positions(&r->launch) > 4 * t->entry.positions;
    if (r->device->ops->code == CODE_KIR || qdev_is_recording(r->device) || (t->done && !again))
        return qreport_launch(r, p);
    const char *why = find_reason(r);
    if (!why) {
        TRY(tune(r, p, t));
        qtune_block(r);
        return qreport_launch(r, p);
    }
    double start = qclock_ns();
    TRY(qreport_launch(r, p));
    TRY(r->device->ops->sync(r->device));
    t->spent += qclock_ns() - start;
    if (t->spent >= WORTH) report_reason(r, why), t->done = true;
    return QS_OK;
}

void qtune_close(qs_vm *vm) {
    static const char text[] = "tuning: no launch took longer than a millisecond in all\n";
    const Launches *l = qvm(vm)->launches;
    if (qvm(vm)->config.tune && !(l && l->judged)) qvm_diagnostic(vm, text, sizeof text - 1);
}
