/* loop.c -- runs host loops as machine code: what enters them, which version fits, launch, variables afterwards.
 *
 *     turns counted ── worth it? ── the values that enter, by kind: a variant (found, or made once)
 *                   ── guard ── parallel | quick | exact ── variables set ── a fault becomes an error
 *
 * A loop is compiled once it has worked as long as compiling takes, as far as that can be told beforehand from the
 * counters of the loops inside it.  Where nothing is compiled the interpreter does the same, only slower; sums alone
 * may differ, in their rounding. */
#include "vm/loop.h"

#include "lang/kernel/loop.h"
#include "vm/kernels.h"
#include "vm/module.h"
#include "vm/python.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps of the interpreter, some 10 ns each, after which a loop is compiled. */
static const double worth_compiling = 2e6;
enum { SOURCES = 64, RESULTS = 64, PARTS = 16, PARAMS = SOURCES + 4 * QS_MAX_RANK };

typedef enum { FROM_SLOT, FROM_LOCAL, FROM_CAPTURE } From;
typedef struct { uint8_t from; int index; LoopValue seen; } Entry;

typedef enum { EXACT, QUICK, PARALLEL, NVERSIONS } Version;

typedef struct Variant { /* the loop for one combination of kinds of values */
    struct Variant *next;
    LoopRange range[QS_MAX_RANK];
    Entry source[SOURCES];
    int nsources;
    LoopResult code;             /* exact.func NULL: declined */
    Device *device[NVERSIONS];
    Program *program[NVERSIONS]; /* loaded on that device */
    bool told;                   /* --explain has said what became of it */
    Arena arena;
} Variant;

typedef struct {
    double work;                 /* steps so far, as long as nothing was compiled */
    double steps;                /* of one turn; 0: it has inner loops, so that depends */
    Variant *variants;
    int nvariants, ndeclined;
} State;
enum { VARIANTS = 16 /* of one loop; what comes later is interpreted */, DECLINES = 2 /* then nobody asks again */ };

/* Steps of one run below which the interpreter is as fast as a launch, and below which a guard is not worth it. */
static const double worth_launching = 400, worth_guarding = 8000;

/* -- the values that enter --------------------------------------------------------------------------------------- */
static qs_value value_at(qs_vm *vm, const Frame *f, uint8_t from, int index) {
    switch ((From)from) {
    case FROM_LOCAL: return f->base[index];
    case FROM_CAPTURE: return f->fn->captures[index];
    default: return *qvm_global(vm, (uint64_t)index);
    }
}

/* Where a symbol of the running function lives; false: it is no variable. */
static bool place_in(const Sym *sym, From *from) {
    if (sym->kind > SYM_GLOBAL) return false;
    *from = sym->kind == SYM_GLOBAL ? FROM_SLOT : sym->kind == SYM_CAPTURE ? FROM_CAPTURE : FROM_LOCAL;
    return true;
}

static bool is_small_whole(double x) { return x == floor(x) && fabs(x) <= 0x1p31 && !(x == 0 && signbit(x)); }

static bool unit_last(const Array *a) { return a->strides[a->rank - 1] == 1 || a->dims[a->rank - 1] <= 1; }

static void describe_array(const Array *a, LoopValue *out) {
    if (!a->rank || !qarr_aligned(a)) return;
    out->kind = LOOP_ARRAY, out->dtype = a->dtype, out->rank = a->rank;
    out->contiguous = a->contiguous, out->unit_last = unit_last(a);
    out->writable = !a->buf->readonly;
}

/* A function whose expressions a reduction has changed is not what its tree says. */
static void describe_function(qs_vm *vm, const Function *fn, LoopValue *out) {
    Proto *p;
    if (fn->fkind == FN_NATIVE) out->kind = LOOP_BUILTIN, out->builtin = fn->native->name;
    if (fn->fkind != FN_SCRIPT || fn->ast->qual == Q_KERNEL) return;
    ErrorState kept = qvm_ctx(vm)->err;
    if (qproto_of(vm, fn->ast, false, &p) != QS_OK) qvm_ctx(vm)->err = kept;
    else if (!p->chunk.nrewritten) out->kind = LOOP_FUNC, out->func = fn->ast;
}

static void describe(qs_vm *vm, qs_value v, LoopValue *out) {
    memset(out, 0, sizeof *out); /* compared as bytes */
    out->kind = LOOP_OTHER;
    switch ((qs_kind)v.kind) {
    case QS_NIL: out->kind = v.aux == NIL_UNSET ? LOOP_UNSET : LOOP_OTHER; break;
    case QS_NUM: out->kind = LOOP_NUM, out->whole = is_small_whole(v.u.f); break;
    case QS_INT: out->kind = LOOP_INT, out->whole = is_small_whole((double)v.u.i); break;
    case QS_BOOL: out->kind = LOOP_BOOL; break;
    case QS_ARRAY: describe_array(v.u.p, out); break;
    case QS_FUNCTION: describe_function(vm, v.u.p, out); break;
    default: break;
    }
}

typedef struct { qs_vm *vm; const Frame *f; Variant *v; Func *func; bool full; } Asking;

static int source_of(Asking *a, From from, int index) {
    Variant *v = a->v;
    for (int i = 0; i < v->nsources; i++)
        if (v->source[i].from == from && v->source[i].index == index) return i;
    if (v->nsources == SOURCES) return a->full = true, 0;
    Entry *s = &v->source[v->nsources];
    s->from = (uint8_t)from, s->index = index;
    describe(a->vm, value_at(a->vm, a->f, s->from, index), &s->seen);
    s->seen.source = v->nsources;
    return v->nsources++;
}

static void ask(void *ud, Func *in, const Sym *sym, LoopValue *out) {
    Asking *a = ud;
    From from;
    *out = (LoopValue){.kind = LOOP_OTHER};
    if (!place_in(sym, &from) || (from != FROM_SLOT && in != a->func)) return;
    *out = a->v->source[source_of(a, from, sym->index)].seen;
}

static bool agrees(qs_vm *vm, const Frame *f, const Entry *s) {
    LoopValue now;
    describe(vm, value_at(vm, f, s->from, s->index), &now);
    now.source = s->seen.source;
    return !memcmp(&now, &s->seen, sizeof now);
}

/* -- the counters ------------------------------------------------------------------------------------------------ */
typedef struct { double first, step; int64_t turns; } Counter;

static Counter counter_of(const Frame *f, const LoopRegion *r, int i) {
    const qs_value *at = &f->base[r->reg + 4 * i]; /* as qops_for leaves them */
    return (Counter){at[1].u.f, at[2].u.f, at[3].u.i};
}

static double last_of(const Counter *c) { return c->first + (double)(c->turns - 1) * c->step; }

static LoopRange range_of(const Counter *c) {
    LoopRange r = {.step = c->step};
    bool whole = c->first == floor(c->first) && c->step == floor(c->step) && !(c->first == 0 && signbit(c->first));
    r.whole = whole && fabs(c->first) <= 0x1p48 && fabs(last_of(c)) <= 0x1p48 && fabs(c->step) <= 0x1p31;
    return r;
}

/* -- is it worth it? --------------------------------------------------------------------------------------------- */
typedef struct { qs_vm *vm; const Frame *f; Func *func; double sum; bool loops; } Estimate;

static double bound_value(Estimate *e, const Node *n);

static double known_symbol(Estimate *e, const Sym *sym) {
    From from;
    if (!place_in(sym, &from)) return NAN;
    qs_value v = value_at(e->vm, e->f, (uint8_t)from, sym->index);
    return qval_is_number(v) ? qval_number(v) : NAN;
}

static double known_extent(Estimate *e, const Node *n) { /* size(x,d), numel(x) */
    const ArgList *args = &n->u.call.args;
    const Node *callee = n->u.call.callee, *x = args->n ? args->at[0].value : NULL;
    const Sym *sym = x && x->kind == N_IDENT ? x->u.ident.sym : NULL;
    From from;
    if (!sym || callee->kind != N_IDENT || !place_in(sym, &from)) return NAN;
    qs_value v = value_at(e->vm, e->f, (uint8_t)from, sym->index);
    if (v.kind != QS_ARRAY) return NAN;
    const Array *a = v.u.p;
    if (args->n == 1) return !strcmp(callee->u.ident.name->s, "numel") ? (double)a->count : NAN;
    double d = bound_value(e, args->at[1].value) - (a->rank == 1);
    return d >= 0 && d < a->rank ? (double)a->dims[(int)d] : 1;
}

static double bound_value(Estimate *e, const Node *n) {
    double a, b;
    switch (n->kind) {
    case N_NUM: return n->u.num.value;
    case N_IDENT: return n->u.ident.sym ? known_symbol(e, n->u.ident.sym) : NAN;
    case N_CALL: return known_extent(e, n);
    case N_BINARY:
        a = bound_value(e, n->u.bin.a), b = bound_value(e, n->u.bin.b);
        return n->op == OP_ADD   ? a + b
               : n->op == OP_SUB ? a - b
               : n->op == OP_MUL ? a * b
               : n->op == OP_DIV ? a / b
                                 : NAN;
    default: return NAN;
    }
}

static double inner_turns(Estimate *e, const Node *n) {
    enum { GUESS = 16 };
    double turns = 1;
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) {
        const Node *r = n->u.loop.ranges[n->u.loop.nranges > i ? i : 0];
        double span = r->kind == N_RANGE ? bound_value(e, r->u.range.hi) - bound_value(e, r->u.range.lo) + 1 : NAN;
        turns *= span >= 0 ? span : GUESS;
    }
    return n->kind == N_FOR ? turns : GUESS;
}

/* Steps of one turn: nodes of the tree, those in inner loops as often as these probably turn. */
static void add_steps(void *ud, Node **child) {
    Estimate *e = ud;
    Node *n = *child;
    if (!n) return;
    if (n->kind != N_FOR && n->kind != N_WHILE && n->kind != N_REPEAT) {
        e->sum += n->kind == N_CALL ? 4 : 1;
        qast_children(n, add_steps, ud);
        return;
    }
    Estimate inner = {e->vm, e->f, e->func, 0, true};
    e->loops = true;
    qast_children(n, add_steps, &inner);
    e->sum += inner.sum * inner_turns(e, n);
}

static Estimate one_turn(qs_vm *vm, const Frame *f, const LoopRegion *r) {
    Estimate e = {vm, f, f->proto->func, 1, false};
    for (int i = 0; i < r->loop->u.loop.body.n; i++) add_steps(&e, &r->loop->u.loop.body.at[i]);
    return e;
}

/* Of one turn; 0 when inner loops make that depend on values. */
static double fixed_steps(qs_vm *vm, const Frame *f, const LoopRegion *r) {
    Estimate e = one_turn(vm, f, r);
    return e.loops ? 0 : e.sum;
}

static double steps_of(qs_vm *vm, const Frame *f, const LoopRegion *r) {
    double turns = 1;
    for (int i = 0; i < r->loop->u.loop.nvars; i++) turns *= (double)counter_of(f, r, i).turns;
    return one_turn(vm, f, r).sum * turns;
}

/* -- variants ---------------------------------------------------------------------------------------------------- */
static bool fits(qs_vm *vm, const Frame *f, const Variant *v, const LoopRange *ranges, int n) {
    for (int i = 0; i < n; i++)
        if (v->range[i].whole != ranges[i].whole || v->range[i].step != ranges[i].step) return false;
    for (int i = 0; i < v->nsources; i++)
        if (!agrees(vm, f, &v->source[i])) return false;
    return true;
}

static qs_status make_variant(qs_vm *vm, const Frame *f, State *s, const LoopRegion *r, const LoopRange *ranges,
                              Variant **out) {
    Variant *v = *out = qmem_alloc(qvm_ctx(vm), sizeof *v);
    Asking a = {vm, f, v, f->proto->func, false};
    LoopJob job = {.loop = r->loop, .func = f->proto->func, .ud = &a, .value = ask,
                   .ends = qvm(vm)->config.final && f->proto->func->unit == qvm(vm)->main_module->units[0]};
    memcpy(job.range, ranges, sizeof job.range);
    memcpy(v->range, ranges, sizeof v->range);
    qarena_init(&v->arena, qvm_ctx(vm));
    v->next = s->variants, s->variants = v, s->nvariants++;
    TRY(kloop_lower(qvm_ctx(vm), &v->arena, &job, &v->code));
    LoopResult *code = &v->code;
    if (!code->exact.func) return QS_OK;
    const KFunc *wide = code->parallel.func;
    if (wide && (code->nparts > PARTS || wide->nparams >= PARAMS)) {
        code->parallel.func = NULL;
        snprintf(code->why, sizeof code->why, "it adds up too many variables");
    }
    bool many = a.full || code->exact.func->nparams >= PARAMS, sets = code->nreals > RESULTS || code->nwholes > RESULTS;
    if (!many && !sets) return QS_OK;
    code->exact.func = NULL;
    snprintf(code->why, sizeof code->why, "too many %s", many ? "values enter it" : "variables are set in it");
    return QS_OK;
}

static Variant *find_variant(qs_vm *vm, const Frame *f, const State *s, const LoopRange *ranges, int n) {
    Variant *v = s->variants;
    while (v && !fits(vm, f, v, ranges, n)) v = v->next;
    return v;
}

static void unload(qs_vm *vm, Variant *v) {
    for (int i = 0; i < NVERSIONS; i++) {
        if (v->program[i] && qvm(vm)->kernels) qkspec_release(vm, v->program[i]);
        v->program[i] = NULL;
    }
}

void qloop_free(qs_vm *vm, LoopRegion *r) {
    State *s = r->machine;
    if (!s) return;
    for (Variant *v = s->variants, *next; v; v = next) {
        next = v->next;
        unload(vm, v);
        qarena_free(&v->arena);
        qmem_free(qvm_ctx(vm), v, sizeof *v);
    }
    qmem_free(qvm_ctx(vm), s, sizeof *s);
    r->machine = NULL;
}

/* -- the launch -------------------------------------------------------------------------------------------------- */
typedef struct { Buffer *buf; qs_access mode; DevPtr block; } Held;

typedef struct {
    qs_vm *vm;
    Frame *f;
    Device *d;
    Variant *v;
    const Counter *counters;
    const LoopRegion *region;
    int64_t chunk;                /* turns of one; how many there are */
    int64_t nchunks;
    double *sums[LOOP_SUM_ARRAYS];
    double reals[RESULTS], parts[PARTS * LOOP_CHUNKS];
    int64_t wholes[RESULTS];
    DevArg args[PARAMS];
    Held held[PARAMS];
    int nheld;
    bool loaded, launched;        /* how far it came */
    Buffer *results[PARAMS];      /* by parameter, on a device with memory of its own: what stands for reals … there */
} Call;

static DevArg number(KSlot s) { return (DevArg){.bits = s.bits, .size = 8}; }
static DevArg real_arg(double x) { KSlot s = {0}; return s.F64 = x, number(s); }
static DevArg whole_arg(int64_t x) { KSlot s = {0}; return s.I64 = x, number(s); }


static DevArg array_arg(const Array *a) {
    DevArg arg = {.is_array = true, .offset = a->offset * qdtype_size((qs_dtype)a->dtype), .rank = a->rank};
    memcpy(arg.dims, a->dims, sizeof arg.dims);
    memcpy(arg.strides, a->strides, sizeof arg.strides);
    return arg;
}

static DevArg source_arg(const Call *c, int index, qs_dtype d) {
    const Entry *s = &c->v->source[index];
    qs_value v = value_at(c->vm, c->f, s->from, s->index);
    if (v.kind == QS_ARRAY) return array_arg(v.u.p);
    if (d == QS_F64) return real_arg(qval_number(v));
    if (d == QS_B1) return (DevArg){.bits = v.u.i != 0, .size = 1};
    return whole_arg(v.kind == QS_NUM ? (int64_t)v.u.f : v.u.i);
}

static DevArg counter_arg(const Call *c, const LoopBind *b, qs_dtype d) {
    const Counter *k = &c->counters[b->index];
    double x = b->kind == LOOP_FIRST ? k->first : last_of(k);
    if (b->kind == LOOP_TURNS) return whole_arg(k->turns);
    return d == QS_F64 ? real_arg(x) : whole_arg((int64_t)x);
}

static Array *sum_array(const Call *c, int number) {
    const Entry *s = &c->v->source[c->v->code.sums[number]];
    return value_at(c->vm, c->f, s->from, s->index).u.p;
}

static int64_t sum_count(const Call *c, int number) { return (int64_t)sum_array(c, number)->count; }

/* The memory of the host that a parameter for results means; NULL: it is none. */
static double *results_of(Call *c, const LoopBind *b, int64_t *n) {
    switch ((LoopBindKind)b->kind) {
    case LOOP_REALS: return *n = RESULTS, c->reals;
    case LOOP_WHOLES: return *n = RESULTS, (double *)c->wholes; /* of the same size */
    case LOOP_PARTS: return *n = PARTS * LOOP_CHUNKS, c->parts;
    case LOOP_SUMS: return *n = c->nchunks * sum_count(c, b->index), c->sums[b->index];
    default: return NULL;
    }
}

static DevArg results_arg(Call *c, const LoopBind *b) {
    DevArg a = {.is_array = true, .rank = 1, .strides = {1}};
    a.block = (DevPtr)(uintptr_t)results_of(c, b, &a.dims[0]);
    return a;
}

static void bind(Call *c, const LoopCode *code) {
    for (int i = 0; i < code->func->nparams; i++) {
        const LoopBind *b = &code->binds[i];
        qs_dtype d = (qs_dtype)code->func->params[i].dtype;
        switch ((LoopBindKind)b->kind) {
        case LOOP_SOURCE: c->args[i] = source_arg(c, b->index, d); break;
        case LOOP_REALS: case LOOP_WHOLES: case LOOP_PARTS: case LOOP_SUMS: c->args[i] = results_arg(c, b); break;
        case LOOP_CHUNK: c->args[i] = whole_arg(c->chunk); break;
        default: c->args[i] = counter_arg(c, b, d); break;
        }
    }
}

static const Array *array_of(const Call *c, const LoopBind *b) {
    if (b->kind != LOOP_SOURCE) return NULL;
    qs_value v = value_at(c->vm, c->f, c->v->source[b->index].from, c->v->source[b->index].index);
    return v.kind == QS_ARRAY ? v.u.p : NULL;
}

/* All of them; the first failure is told: what was written may not have come home. */
static qs_status unlock(Call *c) {
    qs_status first = QS_OK;
    while (c->nheld) {
        const Held *h = &c->held[--c->nheld];
        qs_status s = qbuf_unlock(qvm_ctx(c->vm), h->buf, c->d, h->mode);
        if (first == QS_OK) first = s;
    }
    return first;
}

/* Each buffer is locked once, in the strongest mode that any of its arrays needs. */
static qs_status lock(Call *c, const LoopCode *code) {
    int which[PARAMS] = {0};
    c->nheld = 0;
    Held list[PARAMS];
    int n = 0;
    for (int i = 0; i < code->func->nparams; i++) {
        const Array *a = array_of(c, &code->binds[i]);
        Buffer *buf = a ? a->buf : c->results[i];
        if (!buf) continue;
        int k = 0;
        while (k < n && list[k].buf != buf) k++;
        if (k == n) list[n++] = (Held){buf, QS_READ, 0};
        if (code->func->params[i].written) list[k].mode = QS_READWRITE;
        which[i] = k + 1;
    }
    for (int k = 0; k < n; k++) {
        qs_status s = qbuf_lock(qvm_ctx(c->vm), list[k].buf, c->d, list[k].mode, &list[k].block);
        if (s != QS_OK) return (void)unlock(c), s;
        c->held[c->nheld++] = list[k];
    }
    for (int i = 0; i < code->func->nparams; i++)
        if (which[i]) c->args[i].block = list[which[i] - 1].block;
    return QS_OK;
}

static qs_value *place_of(qs_vm *vm, const Frame *f, const Sym *sym) {
    return sym->kind == SYM_GLOBAL ? qvm_global(vm, (uint64_t)sym->index) : &f->base[sym->index];
}

/* -- results on a device with memory of its own ------------------------------------------------------------------- */
static void drop_results(Call *c, int n) {
    for (int i = 0; i < n; i++)
        if (c->results[i]) qbuf_release(qvm_ctx(c->vm), c->results[i]);
}

static qs_status make_results(Call *c, const LoopCode *code) {
    int n = code->func->nparams;
    memset(c->results, 0, (size_t)n * sizeof *c->results);
    for (int i = 0; i < n && c->d->memory != HOST_MEMORY; i++) {
        int64_t count = 0;
        if (!results_of(c, &code->binds[i], &count)) continue;
        qs_status s = qbuf_new(qvm_ctx(c->vm), (size_t)count * sizeof(double), true, &c->results[i]);
        if (s != QS_OK) return drop_results(c, i), s;
    }
    return QS_OK;
}

static qs_status fetch_results(Call *c, const LoopCode *code) {
    int64_t count = 0;
    void *p;
    for (int i = 0; i < code->func->nparams; i++) {
        if (!c->results[i]) continue;
        TRY(qbuf_host(qvm_ctx(c->vm), c->results[i], QS_READ, &p));
        void *to = results_of(c, &code->binds[i], &count);
        memcpy(to, p, (size_t)count * sizeof(double));
    }
    return QS_OK;
}

static bool is_demanded(const LoopRegion *r) {
    const Attr *a = r->loop->u.loop.attr;
    return a && !strcmp(a->name->s, "parallel");
}

/* -- which version ----------------------------------------------------------------------------------------------- */
/* An array that is written shares its memory with no other, and its elements with each other. */
static bool apart(const Call *c, const LoopCode *code) {
    for (int i = 0; i < code->func->nparams; i++) {
        const Array *a = array_of(c, &code->binds[i]);
        if (!a || !code->func->params[i].written) continue;
        if (!a->contiguous) return false;
        for (int k = 0; k < code->func->nparams; k++) {
            const Array *b = k == i ? NULL : array_of(c, &code->binds[k]);
            if (b && qbuf_overlap(b->buf, a->buf)) return false;
        }
    }
    return true;
}

static const Launch serially = {.rank = 1, .domain = {1}, .block = {1}};

static bool guard_holds(Call *c) {
    const LoopCode *g = &c->v->code.guard;
    KArg args[PARAMS];
    KLaunch l = {.rank = 1, .domain = {1}, .block = {1}};
    KFault fault = {0};
    bind(c, g);
    for (int i = 0; i < g->func->nparams; i++) {
        const DevArg *a = &c->args[i];
        args[i] = (KArg){.data = (void *)(uintptr_t)a->block, .bits = a->bits};
        memcpy(args[i].dims, a->dims, sizeof a->dims);
        memcpy(args[i].strides, a->strides, sizeof a->strides);
    }
    if (keval_run(qvm_ctx(c->vm), g->func, args, &l, &fault, NULL) == QS_OK) return c->wholes[0] != 0;
    return qerr_clear(qvm_ctx(c->vm)), false;
}

/* Into chunks, with a copy of each array that is added to, as long as these are small beside the work. */
static bool cut(Call *c, Launch *l) {
    const LoopResult *code = &c->v->code;
    l->domain[0] = c->nchunks;
    for (int i = 0; i < code->nouts; i++) /* no comparison with a nan is true, which max and min do not know */
        if (code->outs[i].reduce && isnan(qval_number(*place_of(c->vm, c->f, code->outs[i].sym)))) return false;
    for (int i = 0; i < code->nsums; i++) {
        const Array *a = sum_array(c, i);
        for (int k = 0; k < i; k++)
            if (qbuf_overlap(sum_array(c, k)->buf, a->buf)) return false;
        for (int k = 0; k < code->parallel.func->nparams; k++) { /* nobody reads what is put off */
            const Array *b = array_of(c, &code->parallel.binds[k]);
            if (b && code->parallel.binds[k].index != code->sums[i] && qbuf_overlap(b->buf, a->buf)) return false;
        }
        bool large = (double)a->count * (double)c->nchunks > steps_of(c->vm, c->f, c->region) / 4;
        if (a->buf->readonly || (large && !is_demanded(c->region))) return false;
        c->sums[i] = qmem_try(qvm_ctx(c->vm), a->count * (size_t)c->nchunks * sizeof(double));
        if (!c->sums[i]) return false;
        memset(c->sums[i], 0, a->count * (size_t)c->nchunks * sizeof(double));
    }
    return true;
}

static void free_sums(Call *c) {
    for (int i = 0; i < c->v->code.nsums; i++) {
        size_t bytes = c->sums[i] ? (size_t)sum_count(c, i) * (size_t)c->nchunks * sizeof(double) : 0;
        if (c->sums[i]) qmem_try_free(qvm_ctx(c->vm), c->sums[i], bytes);
        c->sums[i] = NULL;
    }
}

static double combined(uint8_t op, double a, double b) {
    return op == K_ADD ? a + b : op == K_MUL ? a * b : op == K_MAX ? fmax(a, b) : fmin(a, b);
}

/* What the chunks have found is added to what was there, in their order. */
static void reduce_variables(Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        if (!o->reduce) continue;
        double x = o->identity;
        for (int64_t k = 0; k < c->nchunks; k++) x = combined(o->reduce, x, c->parts[o->part * LOOP_CHUNKS + k]);
        c->reals[o->slot] = combined(o->reduce, qval_number(*place_of(c->vm, c->f, o->sym)), x);
    }
}

static qs_status add_sums(Call *c) {
    for (int i = 0; i < c->v->code.nsums; i++) {
        Array *a = sum_array(c, i);
        void *p;
        TRY(qarr_write(c->vm, a, &p));
        for (size_t k = 0; k < a->count; k++) {
            double sum = 0;
            for (int64_t j = 0; j < c->nchunks; j++) sum += c->sums[i][(size_t)j * a->count + k];
            if (a->dtype == QS_F64) ((double *)p)[k] += sum;
            else ((float *)p)[k] = (float)((double)((float *)p)[k] + sum);
        }
        TRY(qarr_settle(c->vm, a));
    }
    return QS_OK;
}

static Version choose(Call *c, double steps, Launch *l) {
    const LoopResult *code = &c->v->code;
    int64_t turns = c->counters[0].turns;
    c->chunk = turns / LOOP_CHUNKS + (turns % LOOP_CHUNKS > 0); /* which the guard knows, too */
    c->nchunks = turns / c->chunk + (turns % c->chunk > 0);
    *l = serially;
    if (steps < worth_guarding && qvm(c->vm)->loop_least > 1 && !is_demanded(c->region)) return EXACT;
    if ((!code->parallel.func && !code->quick.func) || !guard_holds(c)) return EXACT;
    if (!code->parallel.func) return QUICK;
    if (code->chunked) return apart(c, &code->parallel) && cut(c, l) ? PARALLEL : EXACT;
    l->rank = code->depth;
    for (int i = 0; i < l->rank; i++) {
        l->domain[i] = i ? c->wholes[i] : turns;
        if (!l->domain[i]) return EXACT;
    }
    return apart(c, &code->parallel) ? PARALLEL : EXACT;
}

/* -- afterwards -------------------------------------------------------------------------------------------------- */
static void set_variables(Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        if (o->given >= 0 && c->reals[o->given] == 0) continue;
        qs_value v = o->kind == LOOP_INT ? qs_int(c->wholes[o->slot])
                     : o->kind == LOOP_BOOL ? qs_bool(c->reals[o->slot] != 0) : qs_num(c->reals[o->slot]);
        qinterp_put(c->vm, place_of(c->vm, c->f, o->sym), v);
    }
}

/* The frame stands where the loop failed, so that the call chain tells the line. */
static void move_to(Frame *f, const LoopRegion *r, uint32_t pos) {
    const Chunk *c = &f->proto->chunk;
    for (uint32_t i = 0; i < c->nlines; i++)
        if (c->lines[i].pos == pos && c->lines[i].pc >= r->start && c->lines[i].pc < r->end)
            f->pc = c->code + c->lines[i].pc + 1;
}

static qs_status fault_error(qs_vm *vm, Frame *f, const LoopRegion *r, const LoopCode *code, const DevFault *fault) {
    Ctx *c = qvm_ctx(vm);
    Text t;
    KFault k;
    const LoopPlace *at = &code->places[fault->pos - 1];
    memcpy(&k, fault, sizeof k);
    qtext_init(&t, c);
    kir_fault_text(code->func, &k, &t);
    qs_status s = qerr_at(c, code->func->messages[k.message - 1].status, qast_where(at->func->unit, at->pos), "%s",
                          t.s ? t.s : "");
    qtext_free(&t);
    for (; at->caller; at = at->caller) qerr_frame(c, qast_where(at->func->unit, at->pos), at->func->name);
    return move_to(f, r, at->pos), s;
}

static const LoopCode *code_of(const Variant *v, Version which) {
    return which == PARALLEL ? &v->code.parallel : which == QUICK ? &v->code.quick : &v->code.exact;
}

static qs_status run(Call *c, Version which, Launch *l, bool *again) {
    const LoopCode *code = code_of(c->v, which);
    DevFault fault = {0};
    if (which == PARALLEL) qkdevice_block(c->d, l->rank, l->domain, l->block);
    bind(c, code);
    TRY(make_results(c, code));
    qs_status s = lock(c, code);
    c->launched = s == QS_OK;
    if (s == QS_OK) {
        qpython_unblock(c->vm);
        s = qkreport_launch(c->vm, c->d, code->func, c->v->program[which], l, c->args, &fault);
        qpython_block(c->vm);
        qs_status home = unlock(c);
        if (s == QS_OK) s = home;
    }
    if (s == QS_OK) s = fetch_results(c, code);
    drop_results(c, code->func->nparams);
    TRY(s);
    if (which == PARALLEL && fault.message) return *again = true, QS_OK; /* nothing was changed */
    if (which == PARALLEL && c->v->code.chunked) {
        reduce_variables(c);
        TRY(add_sums(c));
    }
    set_variables(c);
    return fault.message ? fault_error(c->vm, c->f, c->region, code, &fault) : QS_OK;
}

static int line_of(const Source *s, uint32_t pos) {
    int line, col;
    return qsource_line_col(s, pos, &line, &col), line;
}

/* -- telling ----------------------------------------------------------------------------------------------------- */
static void tell(qs_vm *vm, const LoopRegion *r, const Frame *f, Variant *v) {
    static const char *const counted[] = {"", "one ", "two ", "three ", "four ", "five ", "six ", "seven ", "eight "};
    const LoopResult *code = &v->code;
    const Source *src = f->proto->func->unit->src;
    Text t;
    if (!qvm(vm)->config.explain || v->told) return;
    v->told = true;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s:%d: loop: ", src->path, line_of(src, r->loop->pos));
    if (!code->exact.func) qtext_printf(&t, "interpreted");
    else if (code->parallel.func)
        qtext_printf(&t, "parallel, %scounter%s", counted[code->depth], code->depth > 1 ? "s" : "");
    else qtext_printf(&t, "machine code, one turn after the other");
    if (code->why[0] && !code->parallel.func)
        qtext_printf(&t, ": %s (line %d)", code->why, line_of(code->src ? code->src : src, code->why_pos));
    qtext_puts(&t, "\n");
    qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

static void tell_refusal(qs_vm *vm, const LoopRegion *r, const Frame *f, const Device *d) {
    const Source *src = f->proto->func->unit->src;
    Text t;
    if (!qvm(vm)->config.explain) return;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s:%d: loop: on the processor, because %s cannot run it: %s\n", src->path,
                 line_of(src, r->loop->pos), d->name, qvm_ctx(vm)->err.text);
    qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

/* {!parallel for}: the program wants to hear when it cannot be. */
static qs_status demand(qs_vm *vm, const LoopRegion *r, const Frame *f, const Variant *v) {
    if (!is_demanded(r) || v->code.parallel.func) return QS_OK;
    return qerr_at(qvm_ctx(vm), QS_EVALUE, (Where){f->proto->func->unit->src, r->loop->pos},
                   "this loop cannot run in parallel: %s (line %d)", v->code.why,
                   line_of(v->code.src ? v->code.src : f->proto->func->unit->src, v->code.why_pos));
}

static qs_status demand_apart(Call *c) {
    if (!is_demanded(c->region) || !c->v->code.parallel.func || apart(c, &c->v->code.parallel)) return QS_OK;
    return qerr_at(qvm_ctx(c->vm), QS_EVALUE, (Where){c->f->proto->func->unit->src, c->region->loop->pos},
                   "this loop cannot run in parallel: an array that it writes shares memory with another one, "
                   "or has gaps");
}

/* -- entering ---------------------------------------------------------------------------------------------------- */
/* Turns one after the other are work for the cpu device; turns side by side for the device that runs kernels. */
static Device *device_of(qs_vm *vm, Version which) {
    Device *d;
    if (qkdevice_current(vm, &d) != QS_OK) return qerr_clear(qvm_ctx(vm)), NULL;
    if (d->ops == &qdev_ref_ops) return qvm(vm)->loop_least > 1 ? NULL : d;
    if (which == PARALLEL) return d;
    for (int i = 0; i < qvm(vm)->ndevices; i++)
        if (qvm(vm)->devices[i].ops == &qdev_cpu_ops) return &qvm(vm)->devices[i];
    return NULL;
}

static qs_status load(qs_vm *vm, Variant *v, Device *d, Version which) {
    if (v->device[which] != d && v->program[which]) {
        qkspec_release(vm, v->program[which]);
        v->program[which] = NULL;
    }
    v->device[which] = d;
    if (v->program[which]) return QS_OK;
    return qkspec_program(vm, code_of(v, which)->func, d, &v->program[which]);
}

static LoopRegion *region_at(const Chunk *c, uint32_t pc) {
    for (uint32_t i = 0; i < c->nloops; i++)
        if (c->loops[i].start == pc) return &c->loops[i];
    return NULL;
}

/* The variant for what enters now; NULL: not worth it yet, or there are too many. */
static qs_status variant_for(qs_vm *vm, const Frame *f, LoopRegion *r, const Counter *counters, double steps,
                             Variant **out) {
    LoopRange ranges[QS_MAX_RANK] = {0};
    State *s = r->machine;
    int n = r->loop->u.loop.nvars;
    for (int i = 0; i < n; i++) ranges[i] = range_of(&counters[i]);
    *out = find_variant(vm, f, s, ranges, n);
    if (*out) return QS_OK;
    bool at_once = is_demanded(r) || qvm(vm)->loop_least <= 1;
    if (!at_once && (s->work += steps) < worth_compiling) return QS_OK;
    if (s->nvariants == VARIANTS) return QS_OK;
    TRY(make_variant(vm, f, s, r, ranges, out));
    s->ndeclined += !(*out)->code.exact.func;
    return QS_OK;
}

static State *state_of(qs_vm *vm, const Frame *f, LoopRegion *r) {
    State *s = r->machine;
    if (s) return s;
    s = r->machine = qmem_alloc(qvm_ctx(vm), sizeof *s);
    return s->steps = fixed_steps(vm, f, r), s;
}

static double turns_of(const Counter *c, int n) {
    double turns = 1;
    for (int i = 0; i < n; i++) turns *= (double)c[i].turns;
    return turns;
}

static qs_status try_on(Call *c, Device *d, Version which, Launch *l, bool *again) {
    c->d = d, c->launched = false;
    qs_status s = load(c->vm, c->v, d, which);
    c->loaded = s == QS_OK;
    return c->loaded ? run(c, which, l, again) : s;
}

/* A device that cannot have the code or the arrays leaves the loop to the processor; a processor that cannot have the
 * code leaves it to the interpreter. */
static qs_status load_and_run(Call *c, Version which, Launch *l, bool *again) {
    qs_vm *vm = c->vm;
    Device *d = device_of(vm, which), *host = device_of(vm, EXACT);
    qs_status s = try_on(c, d, which, l, again);
    if (s != QS_OK && s != QS_EINTERRUPT && !c->launched && d != host) {
        tell_refusal(vm, c->region, c->f, d);
        qerr_clear(qvm_ctx(vm));
        s = try_on(c, host, which, l, again);
    }
    if (s == QS_OK || s == QS_EINTERRUPT || c->loaded) return s;
    LoopResult *code = &c->v->code;
    snprintf(code->why, sizeof code->why, "%.*s", (int)sizeof code->why - 1, qvm_ctx(vm)->err.text);
    qerr_clear(qvm_ctx(vm));
    code->exact.func = NULL, code->why_pos = c->region->loop->pos, code->src = NULL, c->v->told = false;
    return QS_OK;
}

qs_status qloop_enter(qs_vm *vm, Frame *f, uint32_t pc, bool *done) {
    LoopRegion *r = region_at(&f->proto->chunk, pc);
    Counter counters[QS_MAX_RANK];
    Variant *v;
    Launch l;
    *done = false;
    if (!r || r->loop->u.loop.nvars > QS_MAX_RANK) return QS_OK;
    int n = r->loop->u.loop.nvars;
    for (int i = 0; i < n; i++) counters[i] = counter_of(f, r, i);
    if (counters[0].turns <= 0) return QS_OK;
    State *state = state_of(vm, f, r);
    bool always = qvm(vm)->loop_least <= 1 || is_demanded(r);
    double steps = state->steps ? state->steps * turns_of(counters, n) : steps_of(vm, f, r);
    if (!always && (steps < worth_launching || state->ndeclined >= DECLINES)) return QS_OK;
    TRY(variant_for(vm, f, r, counters, steps, &v));
    if (!v) return QS_OK;
    tell(vm, r, f, v);
    TRY(demand(vm, r, f, v));
    Call c; /* too large to be cleared each time */
    c.vm = vm, c.f = f, c.v = v, c.counters = counters, c.region = r;
    TRY(demand_apart(&c));
    if (!v->code.exact.func || !device_of(vm, EXACT)) return QS_OK;
    memset(c.sums, 0, sizeof c.sums);
    Version which = choose(&c, steps, &l);
    if (which != PARALLEL) l = serially;
    bool again = false;
    qs_status s = load_and_run(&c, which, &l, &again);
    free_sums(&c);
    if (s == QS_OK && again) l = serially, s = load_and_run(&c, EXACT, &l, &again);
    if (s != QS_OK || !v->code.exact.func) return s;
    f->pc = f->proto->chunk.code + r->end;
    return *done = true, QS_OK;
}
