/* function_launch.c -- runs functions that call themselves as machine code.
 *
 *     a call ── countdown ── is the function open outside, too? ── hot? ── kinds of the arguments: a specialization
 *            ── run ──► results, or the interpreter runs the call
 *
 * A function that does not call itself is not compiled by itself: its loops are compiled, and loops inline it.  Direct
 * and indirect recursion is detected on the stack.
 *
 * If the compiled code fails for any reason, the arrays that it has written are set back, and the interpreter runs the
 * same call, which reports the error with its line or the warning, or supports what the code does not, such as deeper
 * recursion.  Then the function is interpreted for a while; this time doubles with each failure.  Code that assumes
 * integral numbers is not used again after it has failed.
 *
 * The copies of the arrays are made before each run.  If they take more time than the run, the next calls are
 * interpreted, until these have taken as long. */
#include "vm/interp/frame.h"
#include "vm/interp/interp.h"
#include "vm/launch/loop_run.h"
#include "vm/launch/undo.h"
#include "vm/value/trace.h"

#include "lang/kernel/ir/kir.h"
#include "vm/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Calls after which a function is compiled; a call takes the interpreter about 100 ns. */
enum { WORTH_COMPILING = 300000, LOOK = 4096, FRAMES_ASKED = 64, DECLINES = 2, LEAST_PAUSE = 64 };
enum { FORMS = 8, SPECIAL_FORMS = 4 /* per function; further ones compile in fewer values */ };
/* Time in nanoseconds from which a run releases Python's lock. */
static const double long_run = 1e5;
/* Time of an interpreted call in nanoseconds, about. */
static const double per_call = 100;

typedef struct { /* a function, compiled for one combination of kinds */
    Specialization base;
    LoopFunction code;
    uint8_t kinds[KIR_SLOTS];
    uint32_t want;
    double ns;    /* duration of the last run */
    bool refused; /* its code cannot be loaded, or its assumptions have failed */
} FunctionSpec;

typedef struct FunctionState {
    SpecializationList forms;
    int64_t calls;
    double looked; /* time of the last examination */
    int ndeclined, strangers, failed;
    double debt;   /* time that copies of arrays took in vain, in nanoseconds; interpreted calls pay it off */
    bool poor;     /* the last call from outside took less time than the copies */
    bool plain;    /* code that assumes that numbers are integral has failed */
    bool reported; /* --explain has said why it is interpreted */
} FunctionState;

typedef struct {
    Run run;
    Frame *f;
    FunctionSpec *v;
    qs_value value[MAX_ENTRIES];
    int64_t frames;
    double reals[LOOP_RESULTS + 1];
    int64_t ints[2 * LOOP_RESULTS + 1];
    Undo undo;
} FunctionRun;

void qfunction_free(qs_vm *vm, Proto *p) {
    FunctionState *s = p->calls;
    if (!s) return;
    qspec_free(vm, &s->forms);
    qmem_free(qvm_ctx(vm), s, sizeof *s);
    p->calls = NULL;
}

/* -- is it worthwhile? --------------------------------------------------------------------------------------------- */
static bool is_open_outside(const Machine *m, const Frame *f) {
    int64_t n = f - m->frames;
    for (int64_t i = 1; i <= n && i <= FRAMES_ASKED; i++)
        if (f[-i].proto == f->proto) return true;
    return false;
}

static bool at_once(const Machine *m) { return m->loop_least <= 1; }

/* Counts the calls since the last examination; returns whether the function is worth compiling.  Calls that take long,
 * because they contain loops, count as several. */
static bool is_hot(qs_vm *vm, Frame *f, FunctionState *s) {
    enum { MOST_CALLS = 20 * LOOK };
    Proto *p = f->proto;
    if (s->forms.n || at_once(qvm(vm))) return s->forms.n || is_open_outside(qvm(vm), f);
    double now = qclock_ns(), calls = s->looked ? (now - s->looked) / per_call : 0;
    s->calls += calls < LOOK ? LOOK : calls > MOST_CALLS ? MOST_CALLS : (int64_t)calls;
    s->looked = now;
    if (is_open_outside(qvm(vm), f)) s->strangers = 0;
    else s->strangers++;
    p->look = LOOK << (s->strangers < 10 ? s->strangers : 10);
    return s->calls >= WORTH_COMPILING && !s->strangers;
}

/* -- specializations ----------------------------------------------------------------------------------------------- */
static uint8_t kind_of(const Func *f, int param, qs_value v) {
    if (v.kind == QS_NUM) return kfunction_kind(f, param, LOOP_NUM, v.u.f);
    return v.kind == QS_INT ? LOOP_INT : v.kind == QS_BOOL ? LOOP_BOOL : LOOP_OTHER;
}

static uint32_t wanted_of(const Frame *f) {
    uint32_t want = f->want & ~(uint32_t)WANT_CONVERTED;
    return want == WANT_MAYBE ? 1 : want;
}

static FunctionSpec *find_form(FunctionRun *c, const FunctionState *s, const uint8_t *kinds, int n) {
    Site site = {c->f->fn, c->f->base};
    for (Specialization *at = s->forms.first; at; at = at->next) {
        FunctionSpec *v = (FunctionSpec *)at;
        bool same = v->want == wanted_of(c->f) && !memcmp(v->kinds, kinds, (size_t)n);
        if (same && !(v->refused && v->code.assumes) && qspec_agrees(c->run.vm, at, &site, c->value)) return v;
    }
    return NULL;
}

static void explain(qs_vm *vm, const Func *f, FunctionState *s, const LoopFunction *code) {
    Where at = {f->unit->src, f->pos};
    int line = 0, col;
    if (code->entry.func) {
        qreport_explain(vm, at, "function %s: machine code", f->name->s);
        return;
    }
    if (s->reported) return;
    s->reported = true;
    if (code->src) qsource_line_col(code->src, code->why_pos, &line, &col);
    qreport_explain(vm, at, "function %s: interpreted: %s (line %d)", f->name->s, code->why, line);
}

static qs_status make_form(FunctionRun *c, FunctionState *s, const uint8_t *kinds, int n) {
    qs_vm *vm = c->run.vm;
    const Func *func = c->f->proto->func;
    FunctionSpec *v = c->v = qspec_new(vm, &s->forms, sizeof *v, "function ");
    Asking *a = qmem_alloc(qvm_ctx(vm), sizeof *a);
    a->f = c->f, a->e.vm = vm, a->e.site = (Site){c->f->fn, c->f->base}, a->e.spec_kind = SPEC_LOOP;
    a->e.many = s->forms.n > SPECIAL_FORMS;
    memcpy(v->kinds, kinds, (size_t)n), v->want = wanted_of(c->f);
    LoopJob job = qloop_job(a, NULL, NULL, NULL);
    job.may_assume = !s->plain;
    qs_status status = kfunction_compile(qvm_ctx(vm), &v->base.arena, &job, kinds, (int)v->want, &v->code);
    qspec_enter(&v->base, &a->e);
    memcpy(c->value, a->e.value, (size_t)a->e.n * sizeof *c->value);
    if (a->full || (v->code.entry.func && v->code.entry.func->nparams > MAX_PARAMS)) {
        v->code.entry.func = NULL;
        snprintf(v->code.why, sizeof v->code.why, "too many values enter it");
    }
    qspec_set(&v->base, 0, v->code.entry.func);
    s->ndeclined += !v->code.entry.func;
    qmem_free(qvm_ctx(vm), a, sizeof *a);
    if (status == QS_OK) explain(vm, func, s, &v->code);
    return status;
}

/* Finds or makes the specialization; c->v NULL: the interpreter runs the call. */
static qs_status prepare_form(FunctionRun *c, FunctionState *s) {
    uint8_t kinds[KIR_SLOTS] = {0};
    Proto *p = c->f->proto;
    int n = (int)p->nparams;
    for (int i = 0; i < n; i++) kinds[i] = kind_of(p->func, i, c->f->base[i]);
    c->v = find_form(c, s, kinds, n);
    bool recursive = s->forms.n > s->ndeclined || is_open_outside(qvm(c->run.vm), c->f);
    bool more = s->forms.n < FORMS && s->ndeclined < DECLINES && recursive;
    if (!c->v && more) TRY(make_form(c, s, kinds, n));
    if (c->v && c->v->code.entry.func && !c->v->refused) return QS_OK;
    p->look = s->ndeclined >= DECLINES ? INT32_MAX : LOOK;
    return c->v = NULL, QS_OK;
}

/* -- the run ------------------------------------------------------------------------------------------------------- */
static qs_status bind_params(Run *run) {
    FunctionRun *c = (FunctionRun *)run;
    const LoopCode *code = &c->v->code.entry;
    for (int i = 0; i < code->func->nparams; i++) {
        const LoopBind *b = &code->binds[i];
        const KParam *p = &code->func->params[i];
        run->bound.origin[i] = (Origin){qs_nil(), 0};
        switch ((LoopBindKind)b->kind) {
        case LOOP_ARGUMENT: qloop_bind_value(&run->bound, i, c->f->base[b->index], p, false); break;
        case LOOP_FRAMES: qbind_number(&run->bound, i, (uint64_t)c->frames, 8); break;
        case LOOP_REALS: qbind_memory(&run->bound, i, c->reals, LOOP_RESULTS + 1); break;
        case LOOP_INTS: qbind_memory(&run->bound, i, c->ints, 2 * LOOP_RESULTS + 1); break;
        default: qloop_bind_value(&run->bound, i, c->value[b->index], p, b->kind == LOOP_IMAGINARY); break;
        }
    }
    return QS_OK;
}

static qs_status launch(FunctionRun *c, Device *d) {
    Run *r = &c->run;
    r->form = &c->v->base, r->which = 0, r->optional = true, r->device = d, r->chosen = false;
    r->bind = bind_params, r->fit = NULL, r->unrecorded = true, r->late = false;
    r->launch = (Launch){.rank = 1, .domain = {1}, .block = {1}};
    r->positions = 1, r->steps = c->v->ns > long_run || c->v->ns == 0 ? INFINITY : 0;
    c->frames = qloop_frames_left(r->vm, c->f, d, c->f->proto->chunk.nregs) + 1, c->reals[0] = 0;
    double start = qclock_ns();
    qs_status s = qlaunch_run(r);
    return c->v->ns = qclock_ns() - start, s;
}

static bool is_interrupt(qs_vm *vm, qs_status s) { return s == QS_EINTERRUPT || qvm_ctx(vm)->err.late; }

/* Keeps the arrays that the code writes; *cost is the time that this takes. */
static qs_status keep_written(FunctionRun *c, double *cost) {
    const LoopCode *code = &c->v->code.entry;
    *cost = 0;
    for (int i = 0; i < code->func->nparams; i++) {
        bool array = code->binds[i].kind == LOOP_SOURCE && c->value[code->binds[i].index].kind == QS_ARRAY;
        if (!array || !code->func->params[i].written) continue;
        Array *a = qval_array(c->value[code->binds[i].index]);
        TRY(qundo_keep(c->run.vm, &c->undo, a));
        *cost += qundo_cost(a);
    }
    return QS_OK;
}

/* Runs the code; *ran: it has given the results. */
static qs_status try_code(FunctionRun *c, FunctionState *s, Device *d, bool *ran) {
    qs_vm *vm = c->run.vm;
    double cost;
    c->undo.n = 0, c->run.loaded = true; /* a copy that fails says nothing about the code */
    qs_status status = keep_written(c, &cost);
    if (status == QS_OK) status = launch(c, d);
    *ran = status == QS_OK && c->reals[0] != 0;
    if (c->undo.n && c->v->ns < cost) s->debt = cost;
    if (!is_open_outside(qvm(vm), c->f)) s->poor = c->undo.n && c->v->ns < cost;
    if (status != QS_OK && is_interrupt(vm, status)) return qundo_free(vm, &c->undo), status;
    if (status != QS_OK) c->v->refused = !c->run.loaded, qerr_clear(qvm_ctx(vm));
    if (!*ran && c->v->code.assumes) c->v->refused = s->plain = true;
    status = *ran ? QS_OK : qundo_take_back(vm, &c->undo);
    return qundo_free(vm, &c->undo), status;
}

static qs_status result_value(const FunctionRun *c, int i, qs_value *out) {
    const char text[1] = {(char)c->ints[i + 1]};
    uint8_t kind = c->v->code.kind[i];
    switch (kind == LOOP_MIXED ? (uint8_t)c->ints[LOOP_RESULTS + i + 1] : kind) {
    case LOOP_INT: return *out = qs_int(c->ints[i + 1]), QS_OK;
    case LOOP_BOOL: return *out = qs_bool(c->reals[i + 1] != 0), QS_OK;
    case LOOP_CHAR: return qs_string(c->run.vm, text, 1, out);
    default: return *out = qs_num(c->reals[i + 1]), QS_OK;
    }
}

static qs_status leave(FunctionRun *c) {
    qs_value results[LOOP_RESULTS] = {qs_nil()};
    for (int i = 0; i < c->v->code.nresults; i++) TRY(result_value(c, i, &results[i]));
    return qinvoke_leave(c->run.vm, c->f, results, c->v->code.nresults);
}

/* Interprets this call and the next ones. */
static void pause_code(FunctionRun *c, FunctionState *s) {
    if (s->failed < 14) s->failed++;
    c->f->proto->look = LEAST_PAUSE << s->failed;
}

qs_status qfunction_enter(qs_vm *vm, Frame *f, bool *done) {
    Proto *p = f->proto;
    FunctionRun c; /* not initialized, because it is large */
    *done = false;
    if (!p->calls) p->calls = qmem_alloc(qvm_ctx(vm), sizeof *p->calls);
    FunctionState *s = p->calls;
    Device *d;
    p->look = 0;
    if (p->nparams >= KIR_SLOTS || p->variadic || p->chunk.nrewritten) return p->look = INT32_MAX, QS_OK;
    bool unused = !wanted_of(f) && (p->func->nouts || p->func->expr); /* the interpreter warns of unused results */
    if (unused || wanted_of(f) > LOOP_RESULTS) return QS_OK;
    if ((s->debt -= per_call) > 0 && (s->poor || is_open_outside(qvm(vm), f))) return QS_OK;
    if (!is_hot(vm, f, s)) return QS_OK;
    if (qtape_is_on(vm) || !(d = qloop_processor(vm))) return p->look = LOOK, QS_OK;
    c.run.vm = vm, c.f = f;
    TRY(prepare_form(&c, s));
    if (!c.v) return QS_OK;
    bool ran;
    TRY(try_code(&c, s, d, &ran));
    if (ran) return *done = true, leave(&c);
    return pause_code(&c, s), QS_OK;
}
