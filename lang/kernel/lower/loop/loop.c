/* loop.c -- compiles the versions of a host loop, and stores the variables at its end.
 *
 *     prologue                 LOCALs of all variables, with their values before the loop
 *     LOOP                     left once, at its end or by a test that fails
 *       the loop
 *     END
 *     reals[i] = …             the variables as they are now, also after a failure
 *     CHECK                    reports the test that failed, if any
 *
 * Passes are repeated until nothing new is learned of a variable: its type, its bounds, whether it may have a
 * fraction.  `return` stores its source position; the interpreter continues the function there. */
#include "lang/kernel/lower/loop/loop_internal.h"
#include "vm/base/number.h"
#include "vm/base/reduction.h"

#include <math.h>
#include <string.h>

qs_status kloop_decline(Loops *L, uint32_t pos, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    qnum_vprint(L->out->why, sizeof L->out->why, fmt, ap);
    va_end(ap);
    const InlineFrame *at = L->in ? L->in : L->root;
    L->out->why_pos = pos, L->out->src = at->func->unit->src;
    return QS_EVALUE;
}

/* -- one pass ------------------------------------------------------------------------------------------------------ */
static void make_room(Loops *L, InlineFrame *r, int n) {
    if (r->nvars + n <= r->cap) return;
    r->cap = 2 * r->cap + n;
    Var *more = qarena_alloc(L->keep, qmem_size((size_t)r->cap, sizeof *more, 0));
    if (r->nvars) memcpy(more, r->vars, (size_t)r->nvars * sizeof *more);
    r->vars = more;
}

/* Whether the name is a captured one although the loop sets it: only the interpreter does, in rare branches, and the
 * value is one that variables of compiled code cannot hold. */
static bool is_set_outside(const Loops *L, const Sym *sym) {
    LoopValue v;
    if (!kloop_is_set_rarely(L->job, sym)) return false;
    L->job->value(L->job->ud, -1, sym, &v);
    return v.kind > LOOP_VECTOR;
}

/* outer_counter: a counter of the outermost loop, whose value before the loop does not matter. */
static void add_written(Loops *L, const Sym *sym, bool outer_counter) {
    if (!sym || kloop_find_var(L->root, sym) || is_set_outside(L, sym)) return;
    InlineFrame *r = L->root;
    make_room(L, r, 1);
    Var *v = &r->vars[r->nvars++];
    *v = (Var){.sym = sym, .object = -1, .lo = INFINITY, .hi = -INFINITY};
    if (!outer_counter) L->job->value(L->job->ud, -1, sym, &v->entry);
    v->live = kloop_is_live(L->job, sym);
    v->rare = kloop_is_set_rarely(L->job, sym);
    uint8_t reduce = kloop_reduction(L->job, L->job->loop, sym);
    v->reduce = v->entry.kind == LOOP_NUM ? reduce : 0;
    v->extreme = reduce == COMBINE_LT || reduce == COMBINE_GT ? reduce : 0;
    kloop_enter_var(L, v);
}

static void find_written(void *ud, Node **child) {
    Loops *L = ud;
    Node *n = *child;
    if (!n) return;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++)
        if (n->u.assign.targets[i]->kind == N_IDENT) add_written(L, n->u.assign.targets[i]->u.ident.sym, false);
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) add_written(L, n->u.loop.syms[i], n == L->job->loop);
    qast_children(n, find_written, ud);
}

static Value zero_value(Loops *L, const Var *v) {
    Value x = {.what = WHAT_NUMBER, .num = kloop_const(L, 0)};
    if (v->kind == LOOP_VECTOR) x = kloop_vector(L, v->n), x.cols = v->cols;
    for (int i = 0; v->kind == LOOP_VECTOR && i < v->n; i++) x.at[i] = kloop_const(L, 0);
    if (v->kind == LOOP_INT || v->kind == LOOP_CHAR || v->kind == LOOP_ITEM) x.num = kloop_int(kloop_i64(L, 0), 0, 0);
    if (v->kind == LOOP_BOOL) x.num = kloop_bool(kbuild_int(&L->walk, QS_B1, 0));
    if (v->kind == LOOP_COMPLEX) x.num = kloop_to_complex(L, x.num);
    return x;
}

static bool is_held(const Var *v) {
    return (v->kind >= LOOP_NUM && v->kind <= LOOP_VECTOR) || (v->kind == LOOP_ARRAY && v->exchange);
}

/* Whether the version never sets the variable, because only rare branches do. */
static bool is_kept(const Loops *L, const Var *v) { return L->scans && v->rare && kloop_may_be_demanded(v); }

static void declare_all(Loops *L, InlineFrame *in) {
    for (int i = 0; i < in->nvars; i++) {
        Var *v = &in->vars[i];
        bool kept = L->mode != MODE_PARALLEL || is_kept(L, v);
        bool entered = in == L->root && v->entry.kind != LOOP_UNSET && kept;
        bool reduced = in == L->root && v->reduce && L->mode == MODE_PARALLEL;
        v->v = v->twin = v->im = v->is_int = v->is_bool = v->given = v->least = v->most = v->f64 = v->array = 0,
        v->part = NULL, v->home = v->made = NULL;
        v->bound = v->counting = false, v->steps_seen = 0, v->start = NULL;
        v->set = (entered && is_held(v)) || reduced;
        if (reduced) v->fraction = true;
        if (!is_held(v)) continue;
        Value init = entered ? kloop_entry(L, v) : zero_value(L, v);
        if (reduced) init.num = kloop_num(kloop_f64(L, qreduction_identity((Combine)v->reduce)));
        kloop_declare(L, v, &init);
        if (reduced && v->reduce == COMBINE_MUL) kloop_watch(L, v);
        bool asked = in == L->root ? v->entry.kind == LOOP_UNSET : v->doubted;
        if (asked && L->mode != MODE_PARALLEL) v->given = kbuild_local(&L->walk, kbuild_int(&L->walk, QS_B1, 0));
    }
    for (InlineFrame *i = in->child; i; i = i->next) declare_all(L, i);
}

void kloop_declare_all(Loops *L) {
    kloop_declare_arrays(L);
    declare_all(L, L->root);
    L->arranged = 0, L->exchanging = NULL;
    kloop_begin_arrays(L);
}

static bool has_exit(const LoopJob *job) {
    return job->nleaves || kquery_node(kquery_body_of(job->loop), true, kquery_is_exit, NULL);
}
/* How many counters the interpreter needs to continue the loop. */
static int count_left_counters(const LoopJob *job) {
    return job->nleaves && job->loop->kind == N_FOR ? job->loop->u.loop.nvars : 0;
}

static void begin_pass(Loops *L, Arena *scratch) {
    const Func *f = L->job->func;
    KFunc *made = kir_new(L->c, scratch, qstr_cname(L->c, "loop"), f->unit->src);
    kbuild_begin(&L->walk, made, scratch, L->job->loop->pos);
    memset(L->left_counter, 0, sizeof L->left_counter);
    L->f->rank = L->mode == MODE_PARALLEL ? L->axes : 1;
    L->f->serial = L->mode != MODE_PARALLEL, L->f->apart = L->mode != MODE_EXACT, L->f->strict = true,
    L->f->fast = L->job->fast_math;
    L->in = L->root, L->exits = NULL, L->returned = 0;
    if (L->taken) L->taken = kbuild_local(&L->walk, kbuild_int(&L->walk, QS_I64, 0));
    if (L->callees) kfunction_begin_pass(L);
    L->nvisits = 0, L->listed = 0;
    L->nlevels = L->versions = L->others = 0;
    L->nfaults = L->nchecks = L->nwide = L->cap_ranges = L->ntouches = L->loose = L->assumed = L->rare = 0;
    L->nsummed = L->nunlike = L->nwraps = 0;
    L->waits = L->reorders = false;
    if (L->mode == MODE_EXACT) L->out->nlimits = 0;
    kloop_declare_all(L);
    kobject_declare(L);
    for (int i = 0; i < L->nlists && L->mode != MODE_PARALLEL; i++) kloop_declare_list(L, &L->lists[i]);
    for (int i = 0; i < LOOP_COPIES; i++)
        L->copy[i] = i < L->copies_declared && L->mode != MODE_PARALLEL ? kloop_copy_array(L) : 0;
    L->ncopies = 0;
    for (int i = 0; i < LOOP_NOTES; i++) {
        bool known = i < L->out->nnotes;
        L->note[i] = known ? kbuild_local(&L->walk, kloop_f64(L, 0)) : 0;
    }
    L->noted = L->out->nnotes ? kbuild_local(&L->walk, kloop_f64(L, 0)) : 0;
    if (L->mode == MODE_PARALLEL) return kloop_declare_random(L);
    L->fault = kbuild_local(&L->walk, kbuild_int(&L->walk, QS_I32, 0));
    for (int i = 0; i < 2; i++) L->value[i] = kbuild_local(&L->walk, kloop_f64(L, 0));
    kloop_declare_random(L);
    if (has_exit(L->job)) L->returned = kbuild_local(&L->walk, kloop_f64(L, 0));
    for (int i = 0; i < count_left_counters(L->job); i++) L->left_counter[i] = kbuild_local(&L->walk, kloop_f64(L, 0));
}

/* -- the end ------------------------------------------------------------------------------------------------------- */
static void store_result(Loops *L, LoopBindKind where, int slot, KRef v) {
    uint64_t param = (uint64_t)kloop_results_param(L, where);
    kbuild_emit(&L->walk, (KMake){K_STORE, .a = kloop_i64(L, slot), .b = v, .imm = param});
}

static LoopOut *out_of(const Loops *L, const Sym *sym) {
    LoopResult *r = L->out;
    for (int i = 0; i < r->nouts; i++)
        if (r->outs[i].sym == sym) return &r->outs[i];
    return NULL;
}

/* Assigns each variable its slot in the results: in each pass of the exact version, whose types the others share. */
static void assign_slots(Loops *L) {
    LoopResult *r = L->out;
    if (L->mode != MODE_EXACT) return;
    r->nouts = r->nreals = r->nints = r->nparts = 0;
    r->outs = qarena_alloc(L->keep_result, qmem_size((size_t)L->root->nvars, sizeof *r->outs, sizeof *r->outs));
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        if (!is_held(v) || !v->live) continue;
        LoopOut *o = &r->outs[r->nouts++];
        *o = (LoopOut){.sym = v->sym, .object = v->object, .kind = v->kind};
        o->length = v->kind == LOOP_VECTOR ? (uint8_t)v->n : 0;
        o->columns = (uint8_t)v->cols, o->cls = (uint8_t)v->item_cls;
        o->given = -1, o->reduce = v->reduce;
        if (v->reduce) o->part = r->nparts, r->nparts += v->reduce == COMBINE_MUL ? 3 : 1;
        bool integral = v->kind == LOOP_INT || v->kind == LOOP_ITEM;
        o->slot = integral ? r->nints++ : r->nreals;
        bool pair = v->kind == LOOP_COMPLEX || v->kind == LOOP_MIXED;
        bool array = v->kind == LOOP_VECTOR || v->kind == LOOP_ARRAY;
        if (!integral) r->nreals += pair ? 2 : array ? o->length + 2 : 1;
        if (v->kind == LOOP_MIXED) o->int_slot = r->nints++;
        if (v->entry.kind == LOOP_UNSET || v->rare) o->given = r->nreals++;
    }
    r->exchanges = L->nexchanged > 0;
    r->nlists = L->nlists;
    for (int i = 0; i < L->nlists; i++) {
        r->lists[i] = (LoopList){.source = L->lists[i].source, .kind = L->lists[i].kind};
        r->lists[i].written = L->lists[i].written, r->lists[i].n = L->lists[i].n, r->lists[i].cls = L->lists[i].cls;
        r->lists[i].count = r->nints++, r->lists[i].first = r->nints++;
    }
    r->returned = has_exit(L->job) ? r->nreals++ : -1;
    r->counters = count_left_counters(L->job) ? r->nreals : -1;
    r->nreals += count_left_counters(L->job);
    r->aborted = L->callees ? r->nreals++ : -1;
    r->deoptimized = L->wants_integers && !L->callees ? r->nreals++ : -1;
    r->drawn = L->random ? r->nints++ : -1;
}

static void put_mixed(Loops *L, const Var *v, const LoopOut *o) {
    Number n = kloop_held_number(L, v);
    KRef kind = kloop_f64(L, LOOP_NUM);
    if (n.is_int)
        kind = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = n.is_int, .b = kloop_f64(L, LOOP_INT), .c = kind});
    if (n.is_bool)
        kind = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = n.is_bool, .b = kloop_f64(L, LOOP_BOOL), .c = kind});
    store_result(L, LOOP_REALS, o->slot, n.v);
    store_result(L, LOOP_REALS, o->slot + 1, kind);
    if (n.is_int) store_result(L, LOOP_INTS, o->int_slot, n.twin);
}

static void put_variable(Loops *L, const Var *v, const LoopOut *o) {
    int slot = o->slot;
    if (v->kind == LOOP_MIXED) {
        put_mixed(L, v, o);
        return;
    }
    for (int i = 0; i < o->length; i++) store_result(L, LOOP_REALS, slot + i, kbuild_get(&L->walk, v->part[i]));
    if (v->kind == LOOP_VECTOR || v->kind == LOOP_ARRAY) {
        store_result(L, LOOP_REALS, slot + o->length,
                     v->f64 ? kloop_cast(L, kbuild_get(&L->walk, v->f64), QS_F64) : kloop_f64(L, 0));
        store_result(L, LOOP_REALS, slot + o->length + 1,
                     v->array ? kloop_cast(L, kbuild_get(&L->walk, v->array), QS_F64) : kloop_f64(L, 0));
        return;
    }
    KRef x = v->v ? kbuild_get(&L->walk, v->v) : kloop_cast(L, kbuild_get(&L->walk, v->twin), QS_F64);
    if (v->kind == LOOP_INT || v->kind == LOOP_ITEM) store_result(L, LOOP_INTS, slot, x);
    else store_result(L, LOOP_REALS, slot, kloop_cast(L, x, QS_F64));
    if (v->kind == LOOP_COMPLEX) store_result(L, LOOP_REALS, slot + 1, kbuild_get(&L->walk, v->im));
}

static void store_variables(Loops *L) {
    assign_slots(L);
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        LoopOut *o = out_of(L, v->sym);
        if (!o || (v->reduce && L->mode == MODE_PARALLEL)) continue;
        if (L->mode == MODE_PARALLEL && o->counter) continue;
        o->like = v->like; /* complete in the last pass */
        bool kept = L->mode == MODE_PARALLEL && is_kept(L, v);
        if (!kept) put_variable(L, v, o);
        if (o->given >= 0)
            store_result(L, LOOP_REALS, o->given,
                         v->given ? kloop_cast(L, kbuild_get(&L->walk, v->given), QS_F64) : kloop_f64(L, !kept));
    }
    for (int i = 0; i < L->nlists; i++) {
        store_result(L, LOOP_INTS, L->out->lists[i].count, kbuild_get(&L->walk, L->lists[i].count));
        store_result(L, LOOP_INTS, L->out->lists[i].first, kbuild_get(&L->walk, L->lists[i].first));
    }
    if (L->drawn) store_result(L, LOOP_INTS, L->out->drawn, kbuild_get(&L->walk, L->drawn));
    if (L->returned) store_result(L, LOOP_REALS, L->out->returned, kbuild_get(&L->walk, L->returned));
    for (int i = 0; i < QS_MAX_RANK && L->left_counter[i]; i++)
        store_result(L, LOOP_REALS, L->out->counters + i, kbuild_get(&L->walk, L->left_counter[i]));
    if (L->callees || (L->assumed && L->mode != MODE_PARALLEL)) {
        KRef ended = kloop_op(L, K_EQ, kbuild_get(&L->walk, L->fault), kbuild_int(&L->walk, QS_I32, -1));
        store_result(L, LOOP_REALS, L->callees ? L->out->aborted : L->out->deoptimized, kloop_cast(L, ended, QS_F64));
    }
}

/* Stores the warnings that are due.  Other positions leave the slots unchanged. */
static void store_notes(Loops *L) {
    for (int i = 0; i < L->out->nnotes; i++) {
        if (!L->note[i]) continue;
        KRef when = kbuild_get(&L->walk, L->note[i]);
        kloop_flow(L, K_IF, kloop_op(L, K_NE, when, kloop_f64(L, 0)));
        store_result(L, LOOP_REALS, LOOP_NOTE + i, when);
        kloop_flow(L, K_END, 0);
    }
}

static void report_fault(Loops *L) {
    for (uint32_t i = 0; i < L->nfaults; i++) {
        L->pos = i + 1;
        KRef this = kbuild_int(&L->walk, QS_I32, (int64_t)i + 1);
        KRef fine = kloop_op(L, K_NE, kbuild_get(&L->walk, L->fault), this);
        kloop_emit(L, (KMake){K_CHECK, .a = fine, .b = kbuild_get(&L->walk, L->value[0]),
                              .c = kbuild_get(&L->walk, L->value[1]), .imm = (uint64_t)L->faults[i].message});
    }
}

static qs_status serial_pass(Loops *L) {
    kbuild_once(&L->walk);
    TRY(kstmt_lower(&L->walk, L->job->loop));
    kloop_flow(L, K_BREAK, 0);
    kloop_flow(L, K_END, 0);
    store_variables(L);
    store_notes(L);
    report_fault(L);
    return QS_OK;
}

static void store_part(Loops *L, int number, KRef v) {
    KParam p = {.name = qstr_cname(L->c, "parts"),
                .kind = KP_ARRAY,
                .dtype = QS_F64,
                .rank = 1,
                .contiguous = true,
                .unit_last = true};
    uint64_t param = (uint64_t)kloop_param(L, &p, (LoopBind){LOOP_PARTS, 0});
    KRef pos = kbuild_pure(&L->walk, (KMake){K_POS, .own = QS_I64});
    KRef at = kloop_op(L, K_ADD, pos, kloop_i64(L, (int64_t)number * LOOP_CHUNKS));
    kbuild_emit(&L->walk, (KMake){K_STORE, .a = at, .b = v, .imm = param});
}

/* Stores the reduced values of a chunk in its elements of `parts`. */
static void store_parts(Loops *L) {
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        const LoopOut *o = v->reduce ? out_of(L, v->sym) : NULL;
        if (!o) continue;
        const KRef parts[3] = {v->v, v->least, v->most};
        for (int k = 0; k < 3 && parts[k]; k++) store_part(L, o->part + k, kbuild_get(&L->walk, parts[k]));
    }
}

/* 1 + the number of the counter of the loop that the variable is at the end of each iteration, or, if it counts a
 * `while`, will be in the next one; 0: none.  The VM knows these values. */
static int counter_of(const Loops *L, const Var *v) {
    const Node *loop = L->job->loop;
    if (loop->u.loop.ranges[0]->kind != N_RANGE) return 0; /* it is an element, not the number of the iteration */
    for (int i = 0; v->kind == LOOP_NUM && i < loop->u.loop.nvars; i++)
        if (loop->u.loop.syms[i] == v->sym && (loop->u.loop.origin || !kquery_sets(loop, v->sym))) return i + 1;
    return 0;
}

/* Lowers the parallel version.  The position of the last iteration stores the variables. */
static qs_status parallel_pass(Loops *L) {
    TRY(kcounted_lower(&L->walk, L->job->loop));
    KRef last = kbuild_int(&L->walk, QS_B1, 1);
    int part = L->alone ? 0 : L->out->rare_part;
    if (L->taken) store_part(L, part, kloop_cast(L, kbuild_get(&L->walk, L->taken), QS_F64));
    if (L->alone) return QS_OK;
    store_notes(L);
    if (L->chunked) store_parts(L), last = kloop_op(L, K_EQ, L->chunk_last, L->level[0].last);
    for (int i = 0; i < L->axes && !L->chunked; i++) {
        const Level *v = &L->level[i];
        if (kloop_last_of(L, v)) last = kloop_op(L, K_AND, last, kloop_op(L, K_EQ, v->counter, kloop_last_of(L, v)));
    }
    kloop_flow(L, K_IF, last);
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        LoopOut *o = out_of(L, v->sym);
        if (!o || is_kept(L, v) || (o->counter = counter_of(L, v)) || v->set) continue;
        L->pos = L->job->loop->pos;
        return kloop_decline(L, L->pos, "%s may keep the value of an earlier iteration", v->sym->name->s);
    }
    store_variables(L);
    kloop_flow(L, K_END, 0);
    return QS_OK;
}

typedef struct {
    Arena *arena;
    LoopCode *out, *guard;
} Version;

static qs_status keep_code(Loops *L, Arena *arena, LoopCode *out) {
    const LoopBind *binds = L->binds;
    if (L->callees) TRY(kfunction_add_callees(L, &binds));
    out->func = kbuild_keep(&L->walk, arena);
    if (L->callees) TRY(kfunction_keep_callees(L, out->func));
    out->binds = qarena_alloc(arena, qmem_size((size_t)L->f->nparams, sizeof *out->binds, sizeof *out->binds));
    for (int i = 0; i < L->f->nparams; i++) out->binds[i] = binds[i];
    out->places = qarena_alloc(arena, qmem_size(L->nfaults, sizeof *out->places, sizeof *out->places));
    for (uint32_t i = 0; i < L->nfaults; i++) out->places[i] = L->faults[i].place;
    return kir_verify(L->c, out->func);
}

/* Reports that a loop with lists or numbered objects runs in order.  A description, such as "the items", has spaces. */
static void decline_lists(Loops *L) {
    const char *name = L->nlists ? L->lists[0].name->s : NULL;
    bool named = name && !strchr(name, ' ');
    (void)kloop_decline(L, L->job->loop->pos, "%s%s",
                        named  ? "it uses the list "
                        : name ? "it uses a list"
                               : "one of its variables holds several objects",
                        named ? name : "");
}

/* Finds the axes of a parallel version without a scan, and of one with a scan. */
static void find_axes(Loops *L) {
    L->out->draws = L->draws;
    L->scans = kloop_may_scan(L);
    L->scan_axes = L->scans ? kloop_parallel_depth(L) : 0, L->scan_chunked = L->chunked;
    if (L->scan_axes && L->chunked && !kloop_commits(L)) L->out->rare_part = L->out->nparts++;
    L->scans = false;
    L->axes = kloop_parallel_depth(L);
}

static qs_status keep_version(Walk *w, void *ud) {
    Loops *L = (Loops *)w;
    const Version *v = ud;
    if (L->mode == MODE_QUICK) L->out->quick_apart = L->reorders;
    if (L->mode == MODE_EXACT) find_axes(L);
    if (L->nlists || L->out->nclasses) {
        L->axes = 0;
        decline_lists(L);
    }
    if (L->nexchanged) {
        L->axes = 0;
        (void)kloop_decline(L, L->job->loop->pos, "its variables exchange their arrays");
    }
    if (L->callees) {
        L->axes = 0;
        (void)kloop_decline(L, L->job->loop->pos, "it calls a function that calls itself");
    }
    uint32_t tested = L->scans ? L->rare : L->assumed;
    if (L->loose > tested && L->mode == MODE_PARALLEL && (L->scans || !L->chunked))
        return kloop_decline(L, L->loose_pos, "a test here depends on values");
    TRY(keep_code(L, v->arena, v->out));
    if (L->alone) return kloop_reduce_scan(L, v->arena) ? QS_OK : QS_EVALUE;
    if (L->scans) kloop_drop_conditions(L, v->arena);
    L->out->pairs = L->nunlike > 0;
    if (L->mode == MODE_EXACT && ((!L->nunlike && !L->nsummed) || L->callees)) return QS_OK;
    return v->guard ? kloop_guard(L, v->arena, v->guard) : QS_OK;
}

static qs_status run_pass(Walk *w, Arena *scratch) {
    Loops *L = (Loops *)w;
    begin_pass(L, scratch);
    return L->mode == MODE_PARALLEL ? parallel_pass(L) : serial_pass(L);
}

/* Runs the passes of one version; what the last one found stays in L until the next. */
static qs_status compile_version(Loops *L, Mode mode, Arena *arena, LoopCode *out, LoopCode *guard) {
    Version v = {arena, out, guard};
    bool done;
    L->mode = mode;
    TRY(kbuild_passes(&L->walk, LOOP_PASSES, run_pass, keep_version, &v, &done));
    return done ? QS_OK : kloop_decline(L, L->job->loop->pos, "the types of its variables");
}

/* Whether all variables have the types of the exact version, with which the VM reads the results. */
static bool types_agree(const Loops *L) {
    for (int i = 0; i < L->root->nvars; i++) {
        const LoopOut *o = out_of(L, L->root->vars[i].sym);
        if (o && o->kind != L->root->vars[i].kind) return false;
    }
    return true;
}

static int nest_of(const Node *n) {
    int depth = 0;
    for (; n && n->kind == N_FOR; n = n->u.loop.body.n == 1 ? n->u.loop.body.at[0] : NULL) depth += n->u.loop.nvars;
    return depth < QS_MAX_RANK ? depth : QS_MAX_RANK;
}

static bool compile_quick(Loops *L, Arena *arena, LoopCode *guard) {
    LoopResult *r = L->out;
    if (compile_version(L, MODE_QUICK, arena, &r->quick, guard) != QS_OK) r->quick.func = NULL;
    return r->quick.func;
}

static bool compile_parallel(Loops *L, Arena *arena) {
    LoopResult *r = L->out;
    for (; L->axes > 0; L->axes--) {
        r->depth = L->axes, r->chunked = L->chunked;
        if (compile_version(L, MODE_PARALLEL, arena, &r->parallel, &r->guard) == QS_OK) return true;
    }
    return r->parallel.func = NULL, false;
}

static bool compile_scan(Loops *L, Arena *arena) {
    LoopResult *r = L->out;
    int levels = L->axes;
    bool chunked = L->chunked;
    L->axes = 1, L->chunked = L->alone = true, L->taken = 1; /* each pass makes the LOCAL */
    bool done = compile_version(L, MODE_PARALLEL, arena, &r->scan, NULL) == QS_OK;
    L->axes = levels, L->chunked = chunked, L->alone = false, L->taken = 0;
    return done;
}

/* Compiles a parallel version for iterations that reach no rare statement, and a scan that finds these, if the parallel
 * version does not. */
static bool compile_with_scan(Loops *L, Arena *arena) {
    LoopResult *r = L->out;
    int axes = L->axes;
    bool chunked = L->chunked;
    L->axes = L->scan_axes, L->chunked = L->scan_chunked, L->scans = true;
    L->taken = r->rare_part >= 0;
    bool done = compile_parallel(L, arena);
    if (done) done = L->taken ? !kloop_divides_integers(r->parallel.func) : compile_scan(L, arena);
    L->axes = axes, L->chunked = chunked, L->scans = false, L->taken = 0;
    if (!done) r->parallel.func = r->scan.func = NULL, r->rare_part = -1;
    return done;
}

/* Compiles the version that runs if the guard holds: a parallel one if possible.  Returns whether there is one.  If
 * copies of arrays may be too large for the parallel version, or a scan may find something, there is a quick one,
 * too. */
static bool compile_guarded(Loops *L, Arena *arena, bool quick) {
    LoopResult *r = L->out;
    r->quick_guard.func = NULL;
    bool scanned = L->scan_axes && compile_with_scan(L, arena);
    if (!scanned && !compile_parallel(L, arena)) return quick && compile_quick(L, arena, &r->guard);
    if (quick && (r->nsums || scanned)) (void)compile_quick(L, arena, &r->quick_guard);
    return true;
}

/* The same for a version that assumes that variables are integral, or proves it. */
static bool compile_speculative(Loops *L, Arena *arena) {
    int axes = L->axes;
    bool chunked = L->chunked;
    LoopResult *r = L->out;
    char why[LOOP_WHY];
    memcpy(why, r->why, sizeof why);
    uint32_t pos = r->why_pos;
    const Source *src = r->src;
    L->speculates = true;
    kloop_forget_bounds(L);
    r->speculates = compile_guarded(L, arena, true) && types_agree(L);
    if (r->speculates) return true;
    r->parallel.func = r->quick.func = NULL, r->quick_apart = false;
    L->speculates = false, L->axes = axes, L->chunked = chunked;
    kloop_forget_bounds(L);
    memcpy(r->why, why, sizeof why);
    return r->why_pos = pos, r->src = src, false;
}

static void compile_versions(Loops *L, Arena *arena) {
    LoopResult *r = L->out;
    Node *loop = L->job->loop;
    find_written(L, &loop);
    make_room(L, L->root, LOOP_FIELDS);
    if (compile_version(L, MODE_EXACT, arena, &r->exact, &r->guard) != QS_OK) {
        r->exact.func = NULL;
        return;
    }
    bool saves = L->nchecks > 0 && !L->callees;
    if (r->deoptimized >= 0 && compile_speculative(L, arena)) return;
    (void)compile_guarded(L, arena, saves);
}

/* Whether the code may be entered in the middle of the loop, where variables have values of an earlier iteration. */
static bool is_entered_again(const LoopJob *job) { return job->nleaves || job->loop->kind != N_FOR; }

/* A sum is integral at first and has a fraction later.  The code is made for any number then.  Returns whether that
 * changes a variable. */
static bool forget_integral(const Loops *L) {
    bool any = false;
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        if (v->object >= 0 || v->kind != LOOP_NUM || !v->fraction || !v->entry.integral) continue;
        L->job->any_number(L->job->ud, v->entry.source), any = true;
    }
    return any;
}

typedef struct {
    const Node *failed; /* the statement that declined the loop, if the interpreter could execute it alone */
    bool forgot;        /* the code is to be made again for other properties of the values */
} Attempt;

static Attempt lower_once(Ctx *c, Arena *arena, const LoopJob *job, LoopResult *out) {
    Arena kept;
    ErrorState before = c->err;
    qarena_init(&kept, c);
    InlineFrame root = {.func = job->func, .source = -1, .return_depth = -1};
    Loops L = {.walk = {.rules = &kloop_rules, .c = c, .keep = &kept, .root = &root},
               .keep_result = arena,
               .job = job,
               .out = out,
               .nest = nest_of(job->loop)};
    *out = (LoopResult){.rare_part = -1};
    compile_versions(&L, arena);
    Attempt a = {out->exact.func ? NULL : L.failed, out->exact.func && is_entered_again(job) && forget_integral(&L)};
    c->err = before;
    kfunction_free_callees(&L);
    qmem_free(c, L.binds, L.cap_binds * sizeof *L.binds);
    qmem_free(c, L.faults, L.cap_faults * sizeof *L.faults);
    qmem_free(c, L.checks, L.cap_checks * sizeof *L.checks);
    qmem_free(c, L.wide, L.cap_wide * sizeof *L.wide);
    qmem_free(c, L.touches, L.cap_touches * sizeof *L.touches);
    kbuild_free(&L.walk);
    qarena_free(&kept);
    return a;
}

qs_status kloop_lower(Ctx *c, Arena *arena, const LoopJob *job, LoopResult *out) {
    LoopLeave leaves[LOOP_LEAVES];
    LoopJob own = *job;
    Attempt a = {.forgot = true};
    own.leaves = leaves;
    while (a.forgot || (a.failed && own.nleaves < LOOP_LEAVES)) {
        if (a.failed) {
            LoopLeave *l = &leaves[own.nleaves];
            *l = (LoopLeave){.statement = a.failed, .src = out->src, .why_pos = out->why_pos};
            memcpy(l->why, out->why, sizeof l->why);
            kloop_add_leave(&own, l);
        }
        a = lower_once(c, arena, &own, out);
    }
    out->nleaves = out->exact.func ? own.nleaves : 0;
    memcpy(out->leaves, leaves, (size_t)out->nleaves * sizeof *leaves);
    return QS_OK;
}
