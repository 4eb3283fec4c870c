/* loop_launch.c -- runs loops of the program as machine code: chooses the specialization and version, and launches
 * it.
 *
 *     FORPREP counts iterations ─┬─ worthwhile? ── keys of the captured values: a specialization (found, or made once)
 *     WHILE, LOOP now and then ──┘  ── guard ── parallel | quick | exact ── set variables ── a fault becomes an error
 *
 * A loop is compiled once it has worked as long as compiling takes; the counters of the loops inside it are used to
 * predict its work.  A loop that is not compiled runs in the interpreter with the same results, except that sums and
 * products may be rounded differently. {!parallel for} requires a parallel run each time, or an error.
 *
 * The iteration count of a loop with a condition is unknown beforehand, so it starts in the interpreter.  One in
 * LOOP_LOOK iterations of all such loops is charged to the current loop and to those around it, which measures their
 * work without a counter per loop.  When a loop has worked long enough, it continues as machine code from its current
 * iteration, because an iteration depends on nothing but the variables.  Later runs start as machine code.
 *
 * An outer loop is not compiled if parallel loops inside it do nearly all of its work (qloop_is_frame), because its
 * compiled code would run them serially.  Inner loops count as parallel until the types of their values are known, so
 * they are compiled first.
 *
 * Serial iterations run on the cpu device, whatever device runs kernels.  A parallel version runs on the device that
 * runs kernels, so that arrays stay there. `--loops always` compiles each loop at once, on the evaluator, too;
 * tests/scripts/loops and a run of all scripts with that option compare the two. */
#include "vm/array/contiguous.h"
#include "vm/interp/frame.h"
#include "vm/launch/loop_run.h"
#include "vm/value/trace.h"

#include "devices/threads.h"
#include "lang/kernel/ir/kir.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Interpreter steps after which a loop is compiled. */
static const double worth_compiling = 2e6;
/* Steps after which --explain finds out whether a loop will be declined. */
static const double worth_explaining = 1e5;
/* Steps of one run below which the interpreter is as fast as a launch, and below which a guard is not worthwhile. */
static const double worth_launching = 400, worth_guarding = 8000;
enum {
    FORMS = 16 /* per loop; further combinations are interpreted */,
    SPECIAL_FORMS = 4 /* further ones compile in fewer values */,
    DECLINES = 2 /* after that many refusals the loop is not tried again */
};

/* -- specializations ----------------------------------------------------------------------------------------------- */
static int ncounters(const Node *loop) { return loop->kind == N_FOR ? loop->u.loop.nvars : 0; }

/* Whether v was made from this loop and fits the ranges, with these steps or with any. */
static bool same_loop(const LoopSpec *v, const Node *loop, const LoopRange *ranges, bool any_step) {
    if (v->loop != loop) return false;
    for (int i = 0; i < ncounters(loop); i++) {
        const LoopRange *of = &v->range[i];
        bool step = any_step || !of->step || of->step == ranges[i].step;
        if (of->integral != ranges[i].integral || of->small != ranges[i].small || !step) return false;
    }
    return true;
}

static Site site_of(const Frame *f) { return (Site){f->fn, f->base}; }

static LoopSpec *find_form(Call *c, const LoopState *s, const LoopRange *ranges) {
    Site site = site_of(c->f);
    for (Specialization *at = s->forms.first; at; at = at->next) {
        LoopSpec *v = (LoopSpec *)at;
        bool failed = v->code.assumes && s->plain;
        if (!failed && same_loop(v, c->loop, ranges, false) && qspec_agrees(c->vm, at, &site, c->value)) return v;
    }
    return NULL;
}

/* After a few specializations for different steps, the next one takes the step as a parameter. */
static void forget_steps(Call *c, const LoopState *s, LoopRange *ranges) {
    enum { STEPS = 2 };
    Site site = site_of(c->f);
    int same = 0;
    for (Specialization *v = s->forms.first; v; v = v->next)
        same += same_loop((LoopSpec *)v, c->loop, ranges, true) && qspec_agrees(c->vm, v, &site, c->value);
    for (int i = 0; i < ncounters(c->loop) && same >= STEPS && !qloop_is_demanded(c->region); i++) ranges[i].step = 0;
}

static bool has_room(const LoopCode *code) { return !code->func || code->func->nparams <= MAX_PARAMS; }

/* Declines code that exceeds the fixed sizes of a Call. */
static void limit_sizes(LoopResult *code, bool full) {
    if (!code->exact.func) return;
    if (!has_room(&code->parallel) || code->nparts > PARTS) {
        code->parallel.func = NULL;
        snprintf(code->why, sizeof code->why, "it adds up too many variables");
    }
    bool many = full || !has_room(&code->exact) || !has_room(&code->quick) || !has_room(&code->guard) ||
                !has_room(&code->quick_guard) || !has_room(&code->scan);
    if (!many && code->nouts <= RESULTS && code->nreals <= RESULTS && code->nints <= RESULTS) return;
    code->exact.func = NULL;
    snprintf(code->why, sizeof code->why, "too many %s", many ? "values enter it" : "variables are set in it");
}

static qs_status make_form(Call *c, LoopState *s, const LoopRange *ranges) {
    LoopSpec *v = c->v = qspec_new(c->vm, &s->forms, sizeof *v, "");
    Asking *a = qmem_alloc(qvm_ctx(c->vm), sizeof *a);
    a->f = c->f, a->e.vm = c->vm, a->e.site = site_of(c->f), a->e.spec_kind = SPEC_LOOP;
    memcpy(v->range, ranges, sizeof v->range);
    v->loop = c->loop;
    LoopJob job = qloop_job(a, c->region, c->loop, ranges);
    job.many = a->e.many = s->forms.n > SPECIAL_FORMS, job.divides = s->divides;
    job.may_assume = !s->plain;
    qs_status status = kloop_lower(qvm_ctx(c->vm), &v->base.arena, &job, &v->code);
    qspec_enter(&v->base, &a->e);
    memcpy(c->value, a->e.value, (size_t)a->e.n * sizeof *c->value);
    if (status == QS_OK) {
        limit_sizes(&v->code, a->full);
        for (int i = EXACT; i <= SCAN; i++) qspec_set(&v->base, i, qloop_code(v, (LoopVersion)i)->func);
        s->ndeclined += !v->code.exact.func;
    }
    qmem_free(qvm_ctx(c->vm), a, sizeof *a);
    return status;
}

/* Determines the chunks of a parallel run, which the guard reads, too. */
static void set_chunks(Call *c) {
    int64_t iterations = ncounters(c->loop) ? c->counters[0].iterations : 1;
    c->chunk = iterations / LOOP_CHUNKS + (iterations % LOOP_CHUNKS > 0);
    c->nchunks = iterations / c->chunk + (iterations % c->chunk > 0);
}

/* Whether the first test that fails is one that the loop can do without. */
static bool fails_optional(Call *c) {
    const LoopResult *code = &c->v->code;
    if (!code->exact.func || !code->guard.func || !code->guard.optional || code->nlists || code->nclasses) return false;
    set_chunks(c);
    if (qloop_guard(c, &code->guard) != QS_OK) return qerr_clear(qvm_ctx(c->vm)), false;
    int64_t failed = c->ints[LOOP_GUARD_FAILED];
    return failed && code->guard.tests[failed - 1].optional;
}

static bool at_once(qs_vm *vm, const LoopRegion *r) { return qvm(vm)->loop_least <= 1 || qloop_is_demanded(r); }

/* Whether the loop is lowered only to report why it stays in the interpreter. */
static bool is_only_explained(const Call *c, const LoopState *s) {
    return qvm(c->vm)->config.explain && !s->explained && s->work >= worth_explaining;
}

/* Finds or makes the specialization for the current values; c->v NULL: not worthwhile yet, or there are too many. */
static qs_status form_for(Call *c, LoopState *s) {
    LoopRange ranges[QS_MAX_RANK] = {0};
    for (int i = 0; i < ncounters(c->loop); i++) ranges[i] = qloop_range(&c->counters[i]);
    c->v = find_form(c, s, ranges);
    bool early = !at_once(c->vm, c->region) && s->work < worth_compiling;
    if (c->v || (early && !is_only_explained(c, s))) return QS_OK;
    if (s->forms.n == FORMS && qloop_is_demanded(c->region)) qspec_drop_last(c->vm, &s->forms);
    forget_steps(c, s, ranges);
    if (s->forms.n < FORMS) {
        s->explained = true;
        TRY(make_form(c, s, ranges));
        if (early && c->v->code.exact.func) return qspec_drop_first(c->vm, &s->forms), c->v = NULL, QS_OK;
        if (s->divides || !fails_optional(c)) return QS_OK;
        qspec_drop_first(c->vm, &s->forms), s->divides = true;
        TRY(make_form(c, s, ranges));
        return QS_OK;
    }
    if (!s->reported_many) qloop_report_many(c);
    return s->reported_many = true, QS_OK;
}

void qloop_free(qs_vm *vm, LoopRegion *r) {
    LoopState *s = r->machine;
    if (!s) return;
    qspec_free(vm, &s->forms);
    qloop_free_lists(s);
    qloop_free_objects(vm, s);
    qmem_free(qvm_ctx(vm), s, sizeof *s);
    r->machine = NULL;
}

/* -- versions ------------------------------------------------------------------------------------------------------ */
const LoopCode *qloop_code(const LoopSpec *v, LoopVersion which) {
    const LoopCode *const of[] = {&v->code.exact, &v->code.quick, &v->code.parallel, &v->code.scan};
    return of[which];
}

static bool guard_holds(Call *c, const LoopCode *guard) {
    if (qloop_guard(c, guard) != QS_OK) return qerr_clear(qvm_ctx(c->vm)), qloop_because(c, "the guard fails"), false;
    int64_t failed = c->ints[LOOP_GUARD_FAILED], lo = c->ints[LOOP_GUARD_LO];
    if (!failed) return true;
    const LoopTest *t = &guard->tests[failed - 1];
    if (t->axis < 0) qloop_because(c, "%s", t->name);
    else
        qloop_because(c, "index %lld may be outside dimension %d of %.80s (size %lld)",
                      (long long)(lo < 0 ? lo : c->ints[LOOP_GUARD_HI]), t->axis, t->name,
                      (long long)c->ints[LOOP_GUARD_SIZE]);
    c->order_src = t->func->unit->src, c->order_pos = t->pos;
    return false;
}

static bool are_apart(Call *c, const LoopCode *code) {
    if (qloop_apart(c, code)) return true;
    return qloop_because(c, "an array that it writes shares memory with another one, or has gaps"), false;
}

/* Prepares the launch of the parallel version; false: this run is serial. */
static bool side_by_side(Call *c, Launch *l) {
    const LoopResult *code = &c->v->code;
    if (!are_apart(c, &code->parallel)) return false;
    for (int i = 0; i < ncounters(c->loop); i++)
        if (c->counters[i].iterations <= 0) return false;
    if (code->chunked) return qloop_cut(c, l);
    l->rank = code->depth;
    for (int i = 0; i < l->rank; i++) {
        l->domain[i] = i ? c->ints[LOOP_GUARD_ITERATIONS + i] : c->counters[0].iterations;
        if (!l->domain[i]) return false; /* an inner loop has no iterations */
    }
    return true;
}

/* Whether the assumptions of a version are likely to hold.  Derivatives are those of the exact version. */
static bool may_speculate(const Call *c) {
    enum { FAILURES = 3 };
    return !c->v->code.speculates || (c->v->ndeoptimized < FAILURES && !qloop_is_recorded(c));
}

static void limit_part(Call *c, int64_t iterations) {
    Counter *outermost = &c->part[0];
    if (outermost->iterations <= iterations) return;
    c->iterations *= (double)iterations / (double)outermost->iterations;
    c->steps *= (double)iterations / (double)outermost->iterations;
    outermost->iterations = iterations;
    set_chunks(c);
}

/* Limits a parallel run to the chunks before the first one that reaches a rare statement; false: this run is in order.
 * If that is soon, more and more iterations run in order before the next scan, so that a loop which reaches rare
 * statements often takes as long as without scans. */
static bool use_untaken(Call *c) {
    enum { SOON = 4 };
    LoopState *s = c->region->machine;
    int64_t chunk = c->chunk;
    bool soon = SOON * c->untaken < c->nchunks, all = c->untaken == c->nchunks;
    s->patience = !soon ? 0 : s->patience ? 2 * s->patience : chunk;
    s->in_order = soon ? s->patience : all ? 0 : chunk;
    limit_part(c, soon ? s->in_order : c->untaken * chunk);
    return !soon;
}

static bool scan_part(Call *c) {
    LoopState *s = c->region->machine;
    if (!qloop_has_rare(c)) return true;
    if (s->in_order || qloop_is_recorded(c)) return false;
    if (!c->v->code.scan.func) return true;
    if (!are_apart(c, &c->v->code.parallel)) return false;
    if (qloop_scan(c) == QS_OK) return use_untaken(c);
    return qerr_clear(qvm_ctx(c->vm)), s->in_order = INT64_MAX, false;
}

static LoopVersion choose_in_order(Call *c) {
    const LoopResult *code = &c->v->code;
    const LoopCode *guard = code->quick_guard.func ? &code->quick_guard : &code->guard;
    if (!code->quick.func || !guard_holds(c, guard)) return EXACT;
    return !code->quick_apart || are_apart(c, &code->quick) ? QUICK : EXACT;
}

static LoopVersion choose_version(Call *c, Launch *l) {
    const LoopResult *code = &c->v->code;
    set_chunks(c);
    if (!may_speculate(c)) return EXACT;
    if (c->steps < worth_guarding && qvm(c->vm)->loop_least > 1 && !qloop_is_demanded(c->region)) return EXACT;
    /* sums of chunks are combined outside the launch, so a tape records a serial version */
    bool serial = !code->parallel.func || (code->chunked && qloop_is_recorded(c));
    if (!serial && guard_holds(c, &code->guard) && scan_part(c) && side_by_side(c, l)) return PARALLEL;
    return choose_in_order(c);
}

/* -- the run ------------------------------------------------------------------------------------------------------- */
Device *qloop_processor(qs_vm *vm) {
    Device *d;
    if (qdevices_current(vm, &d) != QS_OK) return qerr_clear(qvm_ctx(vm)), NULL;
    if (d->ops == &qdev_ref_ops) return qvm(vm)->loop_least > 1 ? NULL : d;
    for (int i = 0; i < qvm(vm)->ndevices; i++)
        if (qvm(vm)->devices[i].ops == &qdev_cpu_ops) return &qvm(vm)->devices[i];
    return NULL;
}

/* Runs a version; if the device refuses the code, the loop is left to the interpreter. */
static qs_status load_and_run(Call *c, LoopVersion which, const Launch *l, bool *again) {
    qs_vm *vm = c->vm;
    qs_status s = qloop_run(c, which == PARALLEL ? NULL : qloop_processor(vm), which, l, again);
    if (s == QS_OK || s == QS_EINTERRUPT || c->run.loaded || qvm_ctx(vm)->err.late) return s;
    LoopResult *code = &c->v->code;
    snprintf(code->why, sizeof code->why, "%.*s", (int)sizeof code->why - 1, qvm_ctx(vm)->err.text);
    qerr_clear(qvm_ctx(vm));
    code->exact.func = NULL, code->why_pos = c->region->loop->pos, code->src = NULL, c->v->reported = false;
    return qloop_demand(c);
}

/* An error handler of the script may continue after a loop that an error stopped halfway.  The interpreter's tape has
 * the derivative of the iterations that ran; gradient code covers all iterations only, so such a loop is not
 * compiled. */
static bool may_stop_halfway(const Call *c, LoopVersion which) {
    if (which == PARALLEL || !qloop_is_recorded(c) || qloop_is_demanded(c->region)) return false;
    return kir_has(qloop_code(c->v, which)->func, K_CHECK) && qframe_catches(c->vm, qtrace(c->vm)->frames(c->vm));
}

/* A function that fails again and again would make the interpreter repeat the loop each time.  One that assumes that
 * numbers are integral is compiled again without the assumption. */
static void note_abort(Call *c) {
    enum { ABORTS = 3 };
    LoopResult *code = &c->v->code;
    LoopState *s = c->region->machine;
    if (code->assumes) {
        s->plain = true;
        return;
    }
    if (++c->v->naborted < ABORTS) return;
    snprintf(code->why, sizeof code->why, "a function that it calls fails, warns or calls itself too often");
    code->exact.func = NULL, code->why_pos = c->region->loop->pos, code->src = NULL, c->v->reported = false;
}

/* Runs a version whose stores may be taken back.  *again: an assumption has failed, or the copies take too long. */
static qs_status speculate(Call *c, LoopVersion which, const Launch *l, bool *again) {
    *again = true;
    if (!qloop_keep(c, which)) return QS_OK;
    qs_status s = load_and_run(c, which, l, again);
    return qundo_free(c->vm, &c->undo), s;
}

static qs_status run_in_order(Call *c, LoopVersion which, bool *ran) {
    static const Launch serially = {.rank = 1, .domain = {1}, .block = {1}};
    bool again;
    if (may_stop_halfway(c, which)) return QS_OK;
    if (qloop_speculates(c, which)) {
        qs_status s = speculate(c, which, &serially, &again);
        if (s != QS_OK || !again) return *ran = s == QS_OK && c->v->code.exact.func, s;
        which = EXACT;
    }
    if (!qloop_keep(c, which)) {
        qloop_because(c, "copies of the arrays that it writes, in case a call fails, take longer than the loop");
        return qloop_in_order(c);
    }
    qs_status s = load_and_run(c, which, &serially, &again);
    qundo_free(c->vm, &c->undo);
    if (s == QS_OK && qloop_was_aborted(c)) return note_abort(c), QS_OK;
    return *ran = s == QS_OK && c->v->code.exact.func, s;
}

/* *which: the version that runs in order instead, because an iteration reaches a rare statement soon. */
static qs_status run_parallel(Call *c, LoopVersion *which, Launch *l, bool *again) {
    TRY((qloop_speculates(c, PARALLEL) ? speculate : load_and_run)(c, PARALLEL, l, again));
    if (!*again || c->untaken == c->nchunks) return QS_OK;
    *again = false;
    qloop_free_sums(c);
    if (use_untaken(c) && side_by_side(c, l)) return load_and_run(c, PARALLEL, l, again);
    return *which = choose_in_order(c), QS_OK;
}

static qs_status choose_and_run(Call *c, bool *ran) {
    Launch l = {.rank = 1, .domain = {1}, .block = {1}};
    bool again = false;
    *ran = false;
    memset(c->sums, 0, sizeof c->sums);
    LoopVersion which = choose_version(c, &l);
    qs_status s = qloop_in_order(c);
    if (s == QS_OK && qloop_processor(c->vm)) {
        if (which == PARALLEL) s = run_parallel(c, &which, &l, &again);
        if (s == QS_OK && (which != PARALLEL || again)) s = run_in_order(c, again ? EXACT : which, ran);
        else *ran = s == QS_OK && c->v->code.exact.func;
    }
    qloop_free_sums(c);
    return s;
}

/* While a tape records, each interpreter step costs more, because it creates a node. */
static double weight(qs_vm *vm) { return qtape_is_on(vm) ? 50 : 1; }

/* -- entering ------------------------------------------------------------------------------------------------------ */
static LoopRegion *region_at(const Chunk *c, uint32_t pc) {
    for (uint32_t i = 0; i < c->nloops; i++)
        if (c->loops[i].start == pc) return &c->loops[i];
    return NULL;
}

static LoopState *state_of(qs_vm *vm, const Frame *f, LoopRegion *r) {
    LoopState *s = r->machine;
    if (s) return s;
    s = r->machine = qmem_alloc(qvm_ctx(vm), sizeof *s);
    return s->steps = qloop_fixed_steps(vm, f, r), s;
}

static double iterations_of(const Counter *c, int n) {
    double iterations = 1;
    for (int i = 0; i < n; i++) iterations *= (double)c[i].iterations;
    return iterations;
}

/* Should the loop be left to its inner loops, which use all threads?  Its machine code would run them serially.  With
 * one thread that is no loss, except for sums, whose bits must not depend on the number of threads. */
static bool is_left_to_inner(Call *c, LoopState *s) {
    const LoopResult *code = &c->v->code;
    if (!code->exact.func || code->parallel.func) return false;
    LoopFrame frame = qloop_is_frame(c->vm, c->f, c->region);
    bool alone = frame == FRAME && qthreads_count(qthreads_of(qvm_ctx(c->vm))) == 1;
    if (frame == FRAME_NOT || alone) return false;
    if (!s->reported_inner) qloop_report_inner(c);
    return s->reported_inner = true;
}

/* Returns a length that a slice may exceed, or 0.  The guard, which reads lists and objects, may know that no sum is
 * too long, even if an array is.  *unlike: blocks that must have one size may differ. */
static int exceeded_limit(Call *c, bool *unlike) {
    int limit = qloop_length_limit(c, true);
    *unlike = c->v->code.pairs;
    if ((limit != QCONTIG_BLOCK && !*unlike) || !c->v->code.guard.func) return limit;
    set_chunks(c);
    if (qloop_guard(c, &c->v->code.guard) != QS_OK) return qerr_clear(qvm_ctx(c->vm)), limit;
    *unlike = c->ints[LOOP_GUARD_UNLIKE] != 0;
    bool sums = limit == QCONTIG_BLOCK && c->ints[LOOP_GUARD_SUMMED] <= QCONTIG_BLOCK;
    return sums ? qloop_length_limit(c, false) : limit;
}

static bool uses_lists(const LoopResult *code) { return code->nlists || code->nclasses; }

/* Each attempt computes the keys of all captured values, among them all items of lists.  So a loop that has no code for
 * them is tried again after twice as many attempts as before. */
static void pause_attempts(LoopState *s) {
    enum { MOST_DOUBLED = 12 };
    s->refused += s->refused < MOST_DOUBLED;
    s->pause = (1u << s->refused) - 1;
}

/* `y = 0` and then `y += z[i]` of complex numbers: after an iteration y has the type that it keeps.  The interpreter
 * executes one, as if code had ended in it (pause_counters), and then the loop begins anew. */
static bool waits_for_types(Call *c, LoopState *s) {
    bool waited = s->waits, counted = c->region->loop->kind == N_FOR && !qloop_is_over_items(c->region);
    s->waits = false;
    if (!c->v->code.types_settle || c->v->code.exact.func || waited || !counted || ncounters(c->loop) != 1)
        return false;
    if (c->counters[0].iterations < 2 || qloop_is_demanded(c->region)) return false;
    if (s->work < worth_compiling && !at_once(c->vm, c->region)) return false;
    c->f->base[c->region->reg].u.i = LOOP_PAUSED - 1;
    return s->waits = true;
}

/* Finds the specialization and checks whether it can run now; c->v NULL: it cannot. */
static qs_status prepare_form(Call *c, LoopState *s) {
    int limit;
    bool unlike;
    TRY(form_for(c, s));
    if (!c->v) return QS_OK;
    if (waits_for_types(c, s)) return c->v = NULL, QS_OK;
    if (is_left_to_inner(c, s)) return c->v = NULL, QS_OK;
    qloop_report(c);
    TRY(qloop_demand(c));
    bool nowhere = !qloop_processor(c->vm) && !qloop_is_demanded(c->region);
    if (nowhere && uses_lists(&c->v->code)) s->left = true; /* each attempt would look at all items */
    if (!c->v->code.exact.func || nowhere) return pause_attempts(s), c->v = NULL, QS_OK;
    s->refused = 0;
    const KFunc *code = c->v->code.exact.func;
    if (!qloop_make_arrays(c)) qloop_because(c, "no memory for the arrays that it makes");
    else if (code->ncallees && qloop_is_recorded(c)) qloop_because(c, "it calls a function that calls itself");
    else if (code->ruled && qloop_is_recorded(c))
        qloop_because(c, "a function that it calls has a rule for its derivative");
    else if (!qloop_vectors_apart(c))
        qloop_because(c, c->v->code.apart
                             ? "an array that it writes shares memory with another one"
                             : "a vector that the loop replaces shares memory with an array that it writes");
    else if (c->v->code.replaces && (qloop_is_recorded(c) || !qloop_vecs_plain(c))) qloop_because(c, "it makes arrays");
    else if (!qloop_objects_apart(c)) qloop_because(c, "an object of which it sets a field has two names");
    else if (!qloop_lists_apart(c)) qloop_because(c, "a list that it changes has two names");
    else if (uses_lists(&c->v->code) && qloop_is_recorded(c)) qloop_because(c, "it uses a list");
    else if (c->v->code.exchanges && qloop_is_recorded(c)) qloop_because(c, "its variables exchange their arrays");
    else if (c->v->code.nleaves && qloop_is_recorded(c))
        qloop_because(c, "a statement of it cannot be compiled: %.120s", c->v->code.leaves[0].why);
    else if (!qloop_open_lists(c)) qloop_because(c, "no address space for the items of lists");
    else if (!qloop_get_vectors(c)) qloop_because(c, "an array that it writes shares memory with an item of a list");
    else if (!qloop_open_objects(c)) qloop_because(c, "a field of an object is no plain number");
    else if ((limit = exceeded_limit(c, &unlike)) == QCONTIG_BLOCK)
        qloop_because(c, "a sum of more than %d elements of a slice is computed in parts; write a loop that adds them",
                      limit);
    else if (limit)
        qloop_because(c, "a slice of more than %d elements of an array is copied that the loop writes", limit);
    else if (unlike) qloop_because(c, "slices of two dimensions differ in size; write loops over their elements");
    else return QS_OK;
    if (uses_lists(&c->v->code)) s->left = true;
    TRY(qloop_in_order(c));
    return c->v = NULL, QS_OK;
}

/* The interpreter finishes the iteration in which the code has ended, and the loops of the inner counters.  The next
 * value of the outermost counter begins the loop anew. */
static void pause_counters(const Call *c) {
    const double *value = &c->reals[c->v->code.counters];
    qs_value *at = &c->f->base[c->region->reg];
    if (qloop_is_over_items(c->region)) {
        at[1].u.i = (int64_t)value[0] + 1, at[1].aux = LOOP_LEFT;
        return;
    }
    for (int i = 0; i < ncounters(c->loop); i++) {
        const Counter *of = &c->counters[i];
        at[LOOP_REGISTERS * i].u.i = (int64_t)((value[i] - of->first) / of->step);
    }
    at[1].u.f = value[0], at[3].u.i -= at[0].u.i;
    at[0].u.i = LOOP_PAUSED - 1;
}

/* The statement that the interpreter executes now; NULL: the loop has ended in another way, such as by `return`. */
static const LoopLeave *left_by(const Call *c) {
    const LoopResult *code = &c->v->code;
    double pos = code->returned < 0 ? 0 : c->reals[code->returned] - 1;
    for (int i = 0; i < code->nleaves; i++)
        if ((double)code->leaves[i].statement->pos == pos) return &code->leaves[i];
    return NULL;
}

/* Sets the pc where the frame continues: behind the loop, or at the statement that has left it. */
static qs_status continue_frame(const Call *c) {
    const Chunk *code = &c->f->proto->chunk;
    int slot = c->v->code.returned;
    double pos = slot < 0 ? 0 : c->reals[slot];
    uint32_t i = 0;
    while (pos > 0 && i < code->nexits &&
           (code->exits[i].pos != (uint32_t)pos - 1 || code->exits[i].pc < c->region->start))
        i++;
    if (pos > 0 && i == code->nexits) return qerr_set(qvm_ctx(c->vm), QS_EINTERNAL, "a loop has left at no exit");
    c->f->pc = code->code + (pos > 0 ? code->exits[i].pc : c->region->end);
    if (pos > 0 && c->v->code.counters >= 0 && c->region->loop->kind == N_FOR) pause_counters(c);
    if (left_by(c) && c->region->loop->kind != N_FOR) qvm(c->vm)->loop_look = 1; /* with the next iteration */
    return QS_OK;
}

/* A loop inside an interpreted one would copy a long list again and again, so it is left to the interpreter if the
 * copies take longer than the loop, and longer than the interpreter. */
static void judge_copies(Call *c, LoopState *s, double ns, bool left) {
    static const double worth_judging = 2e6, copy_ns = 4;
    LoopResult *code = &c->v->code;
    s->copying += c->copying, s->copied += c->copied, s->spent += ns, s->saved += left ? 0 : c->steps;
    bool slow = 2 * s->copying >= s->spent && copy_ns * s->copied > LOOP_STEP_NS / 2 * s->saved;
    if (s->copying < worth_judging || !slow || qloop_is_demanded(c->region)) return;
    snprintf(code->why, sizeof code->why, "copying the items of its lists takes longer than the loop");
    code->exact.func = NULL, code->why_pos = c->region->loop->pos, code->src = NULL, c->v->reported = false;
    s->left = true;
    qloop_report(c);
}

/* Estimates how long the interpreter would have taken for a run that ended at a statement, in nanoseconds. */
static double interpreted_ns(const Call *c, double ns) {
    static const double entering = 1300;
    double iterations = 0;
    if (c->v->code.counters < 0) return ns > entering ? 2 * ns : 0; /* the number of iterations is not known */
    for (int i = 0; i < ncounters(c->loop); i++) {
        const Counter *of = &c->counters[i];
        double at = (c->reals[c->v->code.counters + i] - of->first) / of->step;
        iterations = iterations * (double)of->iterations + at;
    }
    return LOOP_STEP_NS * iterations * qloop_steps_per_iteration(c->vm, c->f, c->region);
}

/* Entering and leaving the code takes about 1.3 us.  The last JUDGED runs decide whether the interpreter is faster.  A
 * long run does not count: it pays, or something else took the time, such as compiling. */
static void judge_leaves(Call *c, LoopState *s, const LoopLeave *l, double ns) {
    enum { JUDGED = 64 };
    static const double long_run = 5e4;
    LoopResult *code = &c->v->code;
    if (ns > long_run) return;
    s->until_left += ns, s->interpreted += interpreted_ns(c, ns);
    if (++s->nleft < JUDGED) return;
    bool pays = s->until_left < s->interpreted;
    s->until_left = s->interpreted = 0, s->nleft = 0;
    if (pays) return;
    snprintf(code->why, sizeof code->why, "it reaches a statement too often that cannot be compiled: %.130s", l->why);
    code->exact.func = NULL, code->why_pos = l->why_pos, code->src = l->src, c->v->reported = false;
    s->left = true;
    qloop_report(c);
}

static bool has_ended_early(const Call *c) {
    int slot = c->v->code.returned;
    return slot >= 0 && c->reals[slot] != 0;
}

/* Chooses how many iterations the next run of a loop with a scan executes: so many that what the scan has read is still
 * in the cache.  --loops always makes many parts. */
static void begin_part(Call *c) {
    enum { MOST_STEPS = 1 << 23, SHORT_PART = 100 };
    const LoopState *s = c->region->machine;
    if (!qloop_has_rare(c)) return;
    memcpy(c->part, c->counters, (size_t)ncounters(c->loop) * sizeof *c->part);
    c->counters = c->part;
    double most = MOST_STEPS / c->steps * (double)c->part[0].iterations;
    if (at_once(c->vm, c->region)) most = SHORT_PART;
    limit_part(c, s->in_order ? s->in_order : most < INT32_MAX ? (int64_t)fmax(most, LOOP_CHUNKS) : INT32_MAX);
}

/* Makes the iterations behind a part those that remain. */
static void skip_part(const Call *c, Counter *rest) {
    int64_t n = c->counters[0].iterations;
    qs_value *at = &c->f->base[c->region->reg];
    rest->first += (double)n * rest->step, rest->iterations -= n;
    if (c->region->loop->kind != N_FOR) return;
    if (qloop_is_over_items(c->region)) at[1].u.i += n;
    else at[1].u.f = rest->first, at[3].u.i = rest->iterations;
}

/* How many iterations of a run in order were executed, or will be by the interpreter. */
static void count_in_order(const Call *c, LoopState *s) {
    const Counter *of = &c->counters[0];
    double at = has_ended_early(c) && c->v->code.counters >= 0 ? c->reals[c->v->code.counters] : qloop_last(of);
    int64_t n = (int64_t)((at - of->first) / of->step) + 1;
    if (c->run.which != PARALLEL) s->in_order = s->in_order > n ? s->in_order - n : 0;
}

/* Runs the remaining iterations, or a part of them if the loop has a scan; *done: the loop has ended.  c->v remains set
 * if there is more to run. */
static qs_status run_part(Call *c, LoopState *s, Counter *rest, bool *done) {
    double start = qclock_ns();
    bool plain = s->plain;
    TRY(prepare_form(c, s));
    if (!c->v) return QS_OK;
    begin_part(c);
    TRY(choose_and_run(c, done));
    if (s->plain != plain) return QS_OK; /* now without assumptions */
    const LoopLeave *left = *done ? left_by(c) : NULL;
    if (uses_lists(&c->v->code)) judge_copies(c, s, qclock_ns() - start, left);
    if (*done && qloop_has_rare(c)) {
        count_in_order(c, s);
        *done = has_ended_early(c) || c->counters[0].iterations == rest->iterations;
        if (!*done) return skip_part(c, rest), QS_OK;
    }
    c->v = *done ? c->v : NULL;
    if (*done) TRY(continue_frame(c));
    if (left && !at_once(c->vm, c->region)) judge_leaves(c, s, left, qclock_ns() - start);
    return QS_OK;
}

/* loop: that of the region, or its `for`.  counters: NULL: their number is unknown. */
static qs_status enter_loop(qs_vm *vm, Frame *f, LoopRegion *r, Node *loop, const Counter *counters, double steps,
                            bool *done) {
    LoopState *s = r->machine;
    Call c; /* not initialized, because it is large */
    Counter rest[QS_MAX_RANK];
    if (s->left || (!at_once(vm, r) && (steps < worth_launching || s->ndeclined >= DECLINES))) return QS_OK;
    if (s->pause && !at_once(vm, r)) return s->pause--, QS_OK;
    if (counters) memcpy(rest, counters, (size_t)ncounters(loop) * sizeof *rest);
    double iterations = counters ? (double)rest->iterations : 1;
    c.vm = c.run.vm = vm, c.f = f, c.region = r, c.loop = loop;
    do {
        c.counters = counters ? rest : NULL;
        c.iterations = counters ? iterations_of(rest, ncounters(loop)) : INFINITY;
        c.steps = counters ? steps / iterations * (double)rest->iterations : steps;
        c.v = NULL, c.order[0] = 0, c.order_src = NULL, c.copying = c.copied = 0, c.nmade = 0;
        qs_status status = run_part(&c, s, rest, done);
        qloop_release_arrays(&c);
        TRY(status);
    } while (c.v && !*done);
    return QS_OK;
}

qs_status qloop_enter(qs_vm *vm, Frame *f, uint32_t pc, bool *done) {
    LoopRegion *r = region_at(&f->proto->chunk, pc);
    Counter counters[QS_MAX_RANK];
    *done = false;
    if (!r || r->loop->u.loop.nvars > QS_MAX_RANK) return QS_OK;
    int n = r->loop->u.loop.nvars;
    for (int i = 0; i < n; i++) counters[i] = qloop_counter(f, r, i);
    if (counters[0].iterations <= 0) return QS_OK;
    LoopState *s = state_of(vm, f, r);
    double steps = s->steps > 0 ? s->steps * iterations_of(counters, n) : qloop_steps(vm, f, r);
    s->work += steps * weight(vm);
    return enter_loop(vm, f, r, r->loop, counters, steps, done);
}

/* -- loops with a condition ---------------------------------------------------------------------------------------- */
/* Predicts the steps of such a loop: the mean of its previous runs. */
static double usual_steps(const LoopState *s) { return s->work / (s->begun > 1 ? s->begun : 1); }

/* Continues the loop as machine code, as a `for` if it has one. */
static qs_status enter_while(qs_vm *vm, Frame *f, LoopRegion *r, bool *done) {
    LoopState *s = r->machine;
    Node *as_for = s->uncounted ? NULL : kloop_as_for(f->proto->func->unit, r->loop);
    Counter counter;
    if (as_for && qloop_count_while(vm, f, as_for, &counter)) {
        double steps = qloop_steps_per_iteration(vm, f, r) * (double)counter.iterations;
        int declined = s->ndeclined;
        TRY(enter_loop(vm, f, r, as_for, &counter, steps, done));
        if (*done || s->ndeclined == declined) return QS_OK;
        s->uncounted = true, s->ndeclined = declined;
    }
    return enter_loop(vm, f, r, r->loop, NULL, usual_steps(s), done);
}

qs_status qloop_begin(qs_vm *vm, Frame *f, LoopRegion *r, bool *done) {
    LoopState *s = state_of(vm, f, r);
    *done = false;
    if (s->forms.n || at_once(vm, r)) TRY(enter_while(vm, f, r, done));
    s->begun += !*done;
    return QS_OK;
}

static bool is_around(const LoopRegion *outer, const LoopRegion *r) {
    return outer->loop->kind != N_FOR && outer->start <= r->start && outer->end >= r->end;
}

/* Does an unexamined loop around r exist that has worked as long?  It is compiled instead, if its current iteration
 * ends soon. */
static bool waits_for_outer(const Frame *f, const LoopRegion *r) {
    const Chunk *c = &f->proto->chunk;
    const LoopState *s = r->machine;
    for (uint32_t i = 0; i < c->nloops; i++) {
        const LoopState *outer = c->loops[i].machine;
        if (&c->loops[i] != r && is_around(&c->loops[i], r) && !outer->forms.n) return s->work < 2 * worth_compiling;
    }
    return false;
}

/* Continues a loop over items that has ended at a statement. */
static qs_status enter_items(qs_vm *vm, Frame *f, LoopRegion *r, bool *done) {
    *done = false;
    Counter rest = qloop_counter(f, r, 0);
    double steps = qloop_steps_per_iteration(vm, f, r) * (double)rest.iterations;
    f->base[r->reg + 1].aux = 0;
    return rest.iterations > 0 ? enter_loop(vm, f, r, r->loop, &rest, steps, done) : QS_OK;
}

qs_status qloop_end_iteration(qs_vm *vm, Frame *f, LoopRegion *r, bool *done) {
    const Chunk *c = &f->proto->chunk;
    if (r->loop->kind == N_FOR) return enter_items(vm, f, r, done);
    double steps = LOOP_LOOK * qloop_steps_per_iteration(vm, f, r) * weight(vm);
    *done = false;
    qvm(vm)->loop_look = qloop_next_look(qvm(vm)->loop_least);
    for (uint32_t i = 0; i < c->nloops; i++)
        if (is_around(&c->loops[i], r)) state_of(vm, f, &c->loops[i])->work += steps;
    const LoopState *s = r->machine;
    if (!s->forms.n && !at_once(vm, r) && (s->work < worth_compiling || waits_for_outer(f, r))) return QS_OK;
    return enter_while(vm, f, r, done);
}
