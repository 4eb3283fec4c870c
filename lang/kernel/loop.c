/* loop.c -- host loops: passes, parameters, variables and statements.
 *
 *     prologue                 LOCALs of all variables, with the values they have when the loop is entered
 *     LOOP                     left once, by falling through or by a test that fails
 *       the loop
 *     END
 *     reals[i] = …             the variables as they are now, also when something failed
 *     CHECK                    what failed, if anything
 *
 * Passes are repeated until nothing new is learned of a variable: its kind, its bounds, whether it may have a
 * fraction. */
#include "lang/kernel/looping.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROWTH = 6 }; /* how often bounds may widen before they are given up */

qs_status kloop_decline(Loops *L, uint32_t pos, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(L->out->why, sizeof L->out->why, fmt, ap);
    va_end(ap);
    const Inline *at = L->in ? L->in : L->root;
    L->out->why_pos = pos, L->out->src = at->func->unit->src;
    return QS_EVALUE;
}

/* -- parameters -------------------------------------------------------------------------------------------------- */
int kloop_param(Loops *L, const KParam *p, LoopBind b) {
    for (int i = 0; i < L->f->nparams; i++)
        if (L->binds[i].kind == b.kind && L->binds[i].index == b.index && L->f->params[i].dtype == p->dtype) return i;
    int i = kir_param(L->f, p);
    qmem_grow(L->c, &L->binds, &L->cap_binds, (uint32_t)i, sizeof *L->binds);
    L->binds[i] = b;
    return i;
}

static KRef number_param(Loops *L, Str *name, qs_dtype d, LoopBind b) {
    KParam p = {.name = name, .kind = KP_NUM, .dtype = (uint8_t)d};
    return kir_add(L->f, K_PARAM, d, 0, 0, 0, 0, (uint64_t)kloop_param(L, &p, b), L->pos);
}

static int results_param(Loops *L, LoopBindKind kind) {
    KParam p = {.name = qstr_cname(L->c, kind == LOOP_REALS ? "reals" : "wholes"), .kind = KP_ARRAY,
                .dtype = kind == LOOP_REALS ? QS_F64 : QS_I64, .rank = 1, .contiguous = true, .unit_last = true};
    return kloop_param(L, &p, (LoopBind){(uint8_t)kind, 0});
}

/* -- variables --------------------------------------------------------------------------------------------------- */
static Var *find_var(Inline *in, const Sym *sym) {
    for (int i = 0; i < in->nvars; i++)
        if (in->vars[i].sym == sym || (sym->kind == SYM_GLOBAL && in->vars[i].sym->kind == SYM_GLOBAL &&
                                       in->vars[i].sym->index == sym->index))
            return &in->vars[i];
    return NULL;
}

Var *kloop_var(Loops *L, const Sym *sym) {
    bool global = sym->kind == SYM_GLOBAL;
    Inline *in = global ? L->root : L->in;
    if (!global && sym->kind != SYM_LOCAL) return NULL;
    return find_var(in, sym);
}

static Number entry_number(Loops *L, const LoopValue *v, Str *name) {
    LoopBind b = {LOOP_SOURCE, v->source};
    switch ((LoopKind)v->kind) {
    case LOOP_INT: return kloop_int(number_param(L, name, QS_I64, b), -0x1p63, 0x1p63);
    case LOOP_BOOL: return kloop_bool(number_param(L, name, QS_B1, b));
    default:
        if (v->whole) return kloop_whole(L, number_param(L, name, QS_I64, b), -0x1p31, 0x1p31);
        return kloop_num(number_param(L, name, QS_F64, b));
    }
}

static bool is_number(const LoopValue *v) { return v->kind >= LOOP_NUM && v->kind <= LOOP_BOOL; }

static qs_status outside_value(Loops *L, const Sym *sym, Value *out) {
    LoopValue v = {0};
    double k;
    L->job->value(L->job->ud, L->in->func, sym, &v);
    *out = (Value){.host = v, .sym = sym, .mods = sym->mods};
    if (v.kind == LOOP_BUILTIN && (!strcmp(v.builtin, "pi") || !strcmp(v.builtin, "inf"))) {
        k = *v.builtin == 'p' ? 3.14159265358979323846 : INFINITY;
        return out->what = WHAT_NUMBER, out->num = kloop_const(L, k), QS_OK;
    }
    if (is_number(&v)) return out->what = WHAT_NUMBER, out->num = entry_number(L, &v, sym->name), QS_OK;
    if (v.kind == LOOP_ARRAY) return out->what = WHAT_ARRAY, QS_OK;
    if (v.kind == LOOP_FUNC || v.kind == LOOP_BUILTIN) return out->what = WHAT_FUNCTION, QS_OK;
    if (v.kind == LOOP_UNSET) return kloop_decline(L, L->pos, "%s has no value", sym->name->s);
    return kloop_decline(L, L->pos, "%s is neither a number nor an array of numbers", sym->name->s);
}

static KRef get(Loops *L, KRef local) { return kloop_emit(L, K_GET, QS_B1, local, 0, 0, 0); }

static qs_status no_value(Loops *L, const Var *v) {
    if (L->mode == MODE_PARALLEL && v->entry.kind != LOOP_UNSET)
        return kloop_decline(L, L->pos, "%s is carried from one turn to the next", v->sym->name->s);
    return kloop_decline(L, L->pos, "%s may have no value here", v->sym->name->s);
}

qs_status kloop_read(Loops *L, const Sym *sym, Value *out) {
    Var *v = kloop_var(L, sym);
    if (!v) return outside_value(L, sym, out);
    if (v->bound) return *out = v->val, QS_OK;
    if (!v->set) return no_value(L, v);
    *out = (Value){.what = WHAT_NUMBER, .num = {.kind = v->kind, .v = get(L, v->v), .lo = v->lo, .hi = v->hi}};
    if (v->kind == LOOP_NUM && !v->fraction && v->twin) out->num.twin = get(L, v->twin);
    return QS_OK;
}

/* -- assigning --------------------------------------------------------------------------------------------------- */
static const char *kind_name(uint8_t kind) {
    static const char *const names[] = {"nothing", "a number", "an int", "a truth value", "an array", "a function",
                                        "a function", "something else"};
    return names[kind];
}

static void learn_bounds(Loops *L, Var *v, Number n) {
    if (n.kind == LOOP_NUM && !n.twin) {
        if (!v->fraction) v->fraction = L->changed = true;
        return;
    }
    if (v->fraction || (n.lo >= v->lo && n.hi <= v->hi)) return;
    L->changed = true;
    v->lo = fmin(v->lo, n.lo), v->hi = fmax(v->hi, n.hi);
    if (++v->grown <= GROWTH) return;
    if (v->kind == LOOP_NUM) v->fraction = true;
    else v->lo = -0x1p63, v->hi = 0x1p63;
}

static void declare(Loops *L, Var *v, Number init) {
    v->v = kloop_emit(L, K_LOCAL, QS_B1, init.v, 0, 0, 0);
    v->twin = v->kind == LOOP_NUM && !v->fraction && init.twin ? kloop_emit(L, K_LOCAL, QS_B1, init.twin, 0, 0, 0) : 0;
}

qs_status kloop_assign(Loops *L, Var *v, Number n) {
    if (v->kind != LOOP_UNSET && v->kind != n.kind)
        return kloop_decline(L, L->pos, "%s is %s here and %s elsewhere", v->sym->name->s, kind_name(n.kind),
                             kind_name(v->kind));
    if (v->kind == LOOP_UNSET) v->kind = n.kind, L->changed = true;
    learn_bounds(L, v, n);
    v->set = true, v->bound = false;
    if (!v->v) return declare(L, v, n), L->changed = true, QS_OK;
    kloop_emit(L, K_SET, QS_B1, v->v, n.v, 0, 0);
    if (v->twin && n.twin) kloop_emit(L, K_SET, QS_B1, v->twin, n.twin, 0, 0);
    if (v->given) kloop_emit(L, K_SET, QS_B1, v->given, kir_const_int(L->f, QS_B1, 1, L->pos), 0, 0);
    return QS_OK;
}

/* -- which variables certainly have a value ---------------------------------------------------------------------- */
static int count_vars(const Inline *in) {
    int n = in->nvars;
    for (const Inline *i = in->child; i; i = i->next) n += count_vars(i);
    return n;
}

static void each_var(Inline *in, bool **at, bool save, bool join) {
    for (int i = 0; i < in->nvars; i++, (*at)++) {
        if (save) **at = join ? **at && in->vars[i].set : in->vars[i].set;
        else in->vars[i].set = **at;
    }
    for (Inline *i = in->child; i; i = i->next) each_var(i, at, save, join);
}

/* Functions met for the first time change the count; such a pass is repeated. */
bool *kloop_state(Loops *L) {
    bool *s = qarena_alloc(L->arena, (size_t)count_vars(L->root) * 2 + 1024), *at = s;
    each_var(L->root, &at, true, false);
    return s;
}

void kloop_restore(Loops *L, const bool *state) {
    bool *at = (bool *)(uintptr_t)state;
    if (!L->changed) each_var(L->root, &at, false, false);
}

void kloop_join(Loops *L, bool *into) {
    bool *at = into;
    if (!L->changed) each_var(L->root, &at, true, true);
}

/* -- tests ------------------------------------------------------------------------------------------------------- */
static void flow(Loops *L, KOp op, KRef a, uint64_t imm) { kloop_emit(L, op, QS_B1, a, 0, 0, imm); }
static KRef negated(Loops *L, KRef c) { return kir_fold(L->f, K_NOT, QS_B1, 0, c, 0, 0, L->pos); }

/* Errors of a function of another file are placed at its call. */
void kloop_fail_unless(Loops *L, KRef cond, qs_status s, const char *sentence, KRef a, KRef b) {
    double k;
    if (kir_is_const(L->f, cond, &k) && k != 0) return;
    if (!L->loose++) L->loose_pos = L->pos;
    if (L->mode == MODE_PARALLEL) { /* all that was done is forgotten then, and the exact version is run */
        kloop_emit(L, K_CHECK, QS_B1, cond, 0, 0, (uint64_t)kir_message(L->f, s, sentence));
        return;
    }
    qmem_grow(L->c, &L->faults, &L->cap_faults, L->nfaults, sizeof *L->faults);
    L->faults[L->nfaults].pos = L->pos;
    L->faults[L->nfaults].message = kir_message(L->f, s, sentence);
    flow(L, K_IF, negated(L, cond), 0);
    kloop_emit(L, K_SET, QS_B1, L->fault, kir_const_int(L->f, QS_I32, (int64_t)++L->nfaults, L->pos), 0, 0);
    if (a) kloop_emit(L, K_SET, QS_B1, L->value[0], kloop_cast(L, a, QS_F64), 0, 0);
    if (b) kloop_emit(L, K_SET, QS_B1, L->value[1], kloop_cast(L, b, QS_F64), 0, 0);
    flow(L, K_BREAK, 0, (uint64_t)(L->depth - 1));
    flow(L, K_END, 0, 0);
}

void kloop_inside(Loops *L, KRef at, KRef n, const char *sentence) {
    if (!kloop_has_range(L, at)) {
        kloop_fail_unless(L, kloop_op(L, K_INB, at, n), QS_EINDEX, sentence, at, n);
        return;
    }
    qmem_grow(L->c, &L->checks, &L->cap_checks, L->nchecks, sizeof *L->checks);
    L->checks[L->nchecks++] = (Check){at, n};
    if (L->mode != MODE_EXACT) return;
    uint32_t loose = L->loose;
    kloop_fail_unless(L, kloop_op(L, K_INB, at, n), QS_EINDEX, sentence, at, n);
    L->loose = loose;
}

/* -- statements -------------------------------------------------------------------------------------------------- */
static qs_status converted(Loops *L, const TypeExpr *t, Number *n) {
    const char *name = t->kind == TE_NAME ? t->name->s : "";
    if (!strcmp(name, "int")) return *n = kloop_to_int32(L, *n), QS_OK;
    if (!strcmp(name, "scalar")) return *n = kloop_to_num(L, *n), QS_OK;
    return kloop_decline(L, L->pos, "a variable with a type");
}

/* A variable that was declared with a type converts what it is given from there on. */
static qs_status assign_name(Loops *L, const Sym *sym, const TypeExpr *type, Number n) {
    Var *v = kloop_var(L, sym);
    if (!v) return kloop_decline(L, L->pos, "%s cannot be set here", sym->name->s);
    if (type) TRY(converted(L, type, &n));
    else if (sym->declared && sym->declared->pos < L->pos) TRY(converted(L, sym->declared, &n));
    return kloop_assign(L, v, n);
}

static qs_status assign_one(Loops *L, Node *target, const TypeExpr *type, Number n) {
    L->pos = target->pos;
    if (target->kind == N_IDENT && target->u.ident.sym) return assign_name(L, target->u.ident.sym, type, n);
    if (target->kind == N_INDEX) return kloop_store(L, target, n);
    return kloop_decline(L, target->pos, "an assignment to something that is no variable and no element");
}

static qs_status update(Loops *L, const Node *n) {
    Node *target = n->u.assign.targets[0];
    Value old;
    Number x, sum;
    if (target->kind == N_INDEX) return kloop_update(L, target, (Op)n->op, n->u.assign.value);
    if (target->kind != N_IDENT || !target->u.ident.sym)
        return kloop_decline(L, n->pos, "a change of something that is no variable and no element");
    TRY(kloop_read(L, target->u.ident.sym, &old));
    TRY(kloop_number(L, n->u.assign.value, &x));
    L->pos = n->pos;
    if (old.what != WHAT_NUMBER) return kloop_decline(L, n->pos, "a change of all of %s", target->u.ident.name->s);
    Op op = (Op)n->op;
    Var *v = kloop_var(L, target->u.ident.sym);
    if (op == OP_SUB && v && v->reduce && L->mode == MODE_PARALLEL) {
        TRY(kloop_unary(L, OP_NEG, x, &x));
        op = OP_ADD;
    }
    TRY(kloop_binary(L, op, old.num, x, &sum));
    return assign_name(L, target->u.ident.sym, NULL, sum);
}

static qs_status assign(Loops *L, Node *n) {
    Number v;
    if (n->u.assign.in_place) return update(L, n);
    if (n->u.assign.bracketed || n->u.assign.ntargets != 1) return kloop_decline(L, n->pos, "an assignment to several");
    TRY(kloop_number(L, n->u.assign.value, &v));
    return assign_one(L, n->u.assign.targets[0], n->u.assign.types ? n->u.assign.types[0] : NULL, v);
}

static qs_status branch(Loops *L, NodeList body, bool **after) {
    TRY(kloop_block(L, body));
    if (!L->left) {
        if (*after) kloop_join(L, *after);
        else *after = kloop_state(L);
    }
    return QS_OK;
}

static qs_status if_from(Loops *L, Node *n, int i, bool **after, bool *left) {
    KRef c;
    bool *before, here = true;
    if (i == n->u.ifs.n) {
        if (n->u.ifs.has_else) {
            TRY(branch(L, n->u.ifs.other, after));
            *left &= L->left;
        } else {
            *left = false;
            if (*after) kloop_join(L, *after);
            else *after = kloop_state(L);
        }
        return L->left = false, QS_OK;
    }
    TRY(kloop_cond(L, n->u.ifs.conds[i], &c));
    before = kloop_state(L);
    flow(L, K_IF, c, 0);
    TRY(branch(L, n->u.ifs.blocks[i], after));
    here = L->left, L->left = false, *left &= here;
    kloop_restore(L, before);
    flow(L, K_ELSE, 0, 0);
    TRY(if_from(L, n, i + 1, after, left));
    return flow(L, K_END, 0, 0), QS_OK;
}

static qs_status if_statement(Loops *L, Node *n) {
    bool *after = NULL, left = true;
    TRY(if_from(L, n, 0, &after, &left));
    if (after) kloop_restore(L, after);
    return L->left = left, QS_OK;
}

/* -- loops ------------------------------------------------------------------------------------------------------- */
static void enter(Loops *L, Exits *e) {
    L->depth++;
    *e = (Exits){L->exits, L->depth, L->depth, false};
    L->exits = e;
}

typedef struct {
    Number lo, hi;
    double step;
    KRef turns;
    bool by_turns;
} Range; /* by_turns: lo + k*step for k < turns */

static void find_leaving(void *ud, Node **child);
static void find_return(void *ud, Node **child);

/* The body runs at least once, to its end. */
static bool surely_runs(Loops *L, const Node *n, const Range *r, int count) {
    const Node *leaving = NULL;
    double lo, hi;
    for (int i = 0; i < count; i++)
        if (r[i].by_turns || !kloop_known(L, r[i].lo, &lo) || !kloop_known(L, r[i].hi, &hi) ||
            (hi - lo) * r[i].step < 0)
            return false;
    bool returns = false;
    for (int i = 0; i < n->u.loop.body.n; i++) {
        find_leaving(&leaving, &n->u.loop.body.at[i]);
        find_return(&returns, &n->u.loop.body.at[i]);
    }
    return !leaving && !returns;
}

static void leave(Loops *L) {
    L->exits = L->exits->up;
    L->depth--;
    L->left = false;
    flow(L, K_END, 0, 0);
}

static void find_setting(void *ud, Node **child) {
    struct { const Sym *sym; bool found; } *s = ud;
    Node *n = *child;
    if (!n) return;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++) {
        const Node *t = n->u.assign.targets[i];
        s->found |= t->kind == N_IDENT && t->u.ident.sym == s->sym;
    }
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) s->found |= n->u.loop.syms[i] == s->sym;
    qast_children(n, find_setting, ud);
}

/* Does the body set this counter to something else? */
static bool sets(const Node *loop, const Sym *sym) {
    struct { const Sym *sym; bool found; } s = {sym, false};
    for (int i = 0; i < loop->u.loop.body.n; i++) find_setting(&s, &loop->u.loop.body.at[i]);
    return s.found;
}

static qs_status bind_counter(Loops *L, const Node *n, int i, Number value) {
    const Sym *sym = n->u.loop.syms[i];
    Var *v = kloop_var(L, sym);
    if (!v || sym->declared) return kloop_decline(L, n->pos, "the counter %s", sym->name->s);
    TRY(kloop_assign(L, v, value));
    if (!sets(n, sym)) v->bound = true, v->val = (Value){.what = WHAT_NUMBER, .num = value};
    return QS_OK;
}


/* -- ranges ------------------------------------------------------------------------------------------------------ */
static qs_status root_range(Loops *L, int i, Range *r) {
    const LoopRange *known = &L->job->range[i];
    Str *name = L->job->loop->u.loop.names[i];
    *r = (Range){.step = known->step, .by_turns = !known->whole};
    if (known->whole) {
        r->lo = kloop_whole(L, number_param(L, name, QS_I64, (LoopBind){LOOP_FIRST, i}), -0x1p48, 0x1p48);
        r->hi = kloop_whole(L, number_param(L, name, QS_I64, (LoopBind){LOOP_LAST, i}), -0x1p48, 0x1p48);
        return QS_OK;
    }
    r->lo = kloop_num(number_param(L, name, QS_F64, (LoopBind){LOOP_FIRST, i}));
    r->turns = number_param(L, name, QS_I64, (LoopBind){LOOP_TURNS, i});
    return QS_OK;
}

/* floor((hi-lo)/step) + 1 turns, with the little that the interpreter allows for rounding; see qarr_range_count. */
static qs_status real_turns(Loops *L, Range *r) {
    char text[160];
    double lo;
    if (!kloop_known(L, r->lo, &lo)) return kloop_decline(L, L->pos, "a range whose bounds may have a fraction");
    snprintf(text, sizeof text, "for: a range needs a step other than 0, got %.15g..%.15g..%%0", lo, r->step);
    kloop_fail_unless(L, kloop_op(L, K_EQ, r->hi.v, r->hi.v), QS_EVALUE, text, r->hi.v, 0);
    KRef q = kloop_op(L, K_DIV, kloop_op(L, K_SUB, r->hi.v, r->lo.v), kloop_f64(L, r->step));
    KRef size = kloop_op(L, K_MAX, kloop_f64(L, fabs(lo)), kir_fold(L->f, K_ABS, QS_B1, 0, r->hi.v, 0, 0, L->pos));
    KRef slack =
        kloop_op(L, K_DIV, kloop_op(L, K_MUL, kloop_f64(L, 4 * DBL_EPSILON), size), kloop_f64(L, fabs(r->step)));
    q = kir_fold(L->f, K_MATH, QS_B1, MF_floor, kloop_op(L, K_ADD, q, slack), 0, 0, L->pos);
    r->turns = kloop_op(L, K_ADD, kloop_cast(L, q, QS_I64), kloop_i64(L, 1));
    return r->by_turns = true, QS_OK;
}

static qs_status range_of(Loops *L, Node *n, Range *r) {
    Number step = kloop_const(L, 1);
    *r = (Range){0};
    if (n->kind != N_RANGE) return kloop_decline(L, n->pos, "a loop over something that is no range");
    TRY(kloop_number(L, n->u.range.lo, &r->lo));
    if (n->u.range.step) TRY(kloop_number(L, n->u.range.step, &step));
    TRY(kloop_number(L, n->u.range.hi, &r->hi));
    L->pos = n->pos;
    if (!kloop_known(L, step, &r->step) || r->step == 0 || !isfinite(r->step))
        return kloop_decline(L, n->pos, "a step that is not known");
    KRef lo = kloop_twin(L, r->lo), hi = kloop_twin(L, r->hi);
    if (r->lo.kind == LOOP_INT && lo) r->lo = kloop_whole(L, lo, r->lo.lo, r->lo.hi);
    if (r->hi.kind == LOOP_INT && hi) r->hi = kloop_whole(L, hi, r->hi.lo, r->hi.hi);
    if (r->lo.kind != LOOP_NUM || r->hi.kind != LOOP_NUM) return kloop_decline(L, n->pos, "a range of ints");
    if (lo && hi && r->step == floor(r->step) && fabs(r->step) < 0x1p31) return QS_OK;
    return real_turns(L, r);
}

/* Opens FOR; the counter. */
static Number open_for(Loops *L, const Range *r) {
    bool down = r->step < 0;
    if (!r->by_turns) {
        KRef step = kloop_i64(L, (int64_t)r->step);
        KRef i = kloop_emit(L, K_FOR, QS_I64, r->lo.twin, r->hi.twin, step, 0);
        return kloop_whole(L, i, down ? r->hi.lo : r->lo.lo, down ? r->lo.hi : r->hi.hi);
    }
    KRef last = kloop_op(L, K_SUB, r->turns, kloop_i64(L, 1));
    KRef k = kloop_emit(L, K_FOR, QS_I64, kloop_i64(L, 0), last, kloop_i64(L, 1), 0);
    KRef x = kloop_op(L, K_MUL, kloop_cast(L, k, QS_F64), kloop_f64(L, r->step));
    return kloop_num(kloop_op(L, K_ADD, r->lo.v, x));
}

/* The counter of an axis of the parallel launch. */
static Number axis_counter(Loops *L, const Range *r, int axis) {
    KRef pos = kir_add(L->f, K_POS, QS_I64, 0, 0, 0, 0, (uint64_t)axis, L->pos);
    KRef i = kloop_op(L, K_ADD, r->lo.twin, kloop_op(L, K_MUL, pos, kloop_i64(L, (int64_t)r->step)));
    bool down = r->step < 0;
    return kloop_whole(L, i, down ? r->hi.lo : r->lo.lo, down ? r->lo.hi : r->hi.hi);
}

/* The turns of one chunk. */
static Range chunk_of(Loops *L, const Range *r) {
    Range c = *r;
    Str *name = qstr_cname(L->c, "chunk");
    KRef length = number_param(L, name, QS_I64, (LoopBind){LOOP_CHUNK, 0}), step = kloop_i64(L, (int64_t)r->step);
    KRef pos = kir_add(L->f, K_POS, QS_I64, 0, 0, 0, 0, 0, L->pos);
    KRef first = kloop_op(L, K_ADD, r->lo.twin, kloop_op(L, K_MUL, kloop_op(L, K_MUL, pos, length), step));
    KRef last = kloop_op(L, K_ADD, first, kloop_op(L, K_MUL, kloop_op(L, K_SUB, length, kloop_i64(L, 1)), step));
    c.lo.twin = first, c.hi.twin = kloop_op(L, r->step < 0 ? K_MAX : K_MIN, last, r->hi.twin);
    return c;
}

/* The next level of the perfect nest; -1: not part of it. */
static int note_level(Loops *L, const Range *r, uint32_t pos) {
    if (L->nlevels >= L->nest || L->calls) return -1;
    L->level[L->nlevels] =
        (Level){.first = r->lo.twin, .last = r->hi.twin, .step = r->step, .by_turns = r->by_turns, .pos = pos};
    return L->nlevels++;
}

static qs_status nested(Loops *L, Node *n, const Range *ranges, int i);

static qs_status inside(Loops *L, Node *n, const Range *ranges, int i, Number counter) {
    TRY(bind_counter(L, n, i, counter));
    TRY(i == n->u.loop.nvars - 1 ? kloop_block(L, n->u.loop.body) : nested(L, n, ranges, i + 1));
    kloop_var(L, n->u.loop.syms[i])->bound = false;
    return QS_OK;
}

static void find_leaving(void *ud, Node **child) {
    Node *n = *child;
    if (!n || n->kind == N_FOR || n->kind == N_WHILE || n->kind == N_REPEAT) return;
    if (n->kind == N_BREAK || n->kind == N_CONTINUE) *(const Node **)ud = n;
    else qast_children(n, find_leaving, ud);
}

/* A turn of a position: `continue` leaves a loop of one turn around it. */
static qs_status axis(Loops *L, Node *n, const Range *ranges, int i, int level) {
    Exits frame;
    const Node *leaving = NULL;
    for (int k = 0; k < n->u.loop.body.n; k++) find_leaving(&leaving, &n->u.loop.body.at[k]);
    Number counter = axis_counter(L, &ranges[i], level);
    L->level[level].counter = counter.twin;
    if (!leaving || i < n->u.loop.nvars - 1) return inside(L, n, ranges, i, counter);
    flow(L, K_LOOP, 0, 0);
    enter(L, &frame);
    frame.cont_breaks = true, frame.brk = 0;
    TRY(inside(L, n, ranges, i, counter));
    if (!L->left) flow(L, K_BREAK, 0, 0);
    leave(L);
    return QS_OK;
}

static qs_status nested(Loops *L, Node *n, const Range *ranges, int i) {
    Exits frame, *outer = L->exits;
    int level = note_level(L, &ranges[i], n->pos);
    bool parallel = L->mode == MODE_PARALLEL && level >= 0 && level < L->axes;
    if (parallel && !L->chunked) return axis(L, n, ranges, i, level);
    bool *before = kloop_state(L);
    Range r = parallel ? chunk_of(L, &ranges[i]) : ranges[i];
    if (parallel) L->chunk_last = r.hi.twin;
    KRef start = L->f->nins;
    Number counter = open_for(L, &r);
    enter(L, &frame);
    if (i > 0) frame.brk = outer ? outer->brk : 0; /* `break` leaves all of them */
    if (parallel) frame.brk = 0;                   /* which one chunk cannot */
    if (level >= 0) L->level[level].counter = ranges[i].by_turns ? 0 : counter.twin;
    TRY(inside(L, n, ranges, i, counter));
    if (i == 0) kloop_free_order(L, n, start);
    bool runs = parallel || surely_runs(L, n, ranges, n->u.loop.nvars);
    leave(L);
    if (!runs) kloop_restore(L, before);
    return QS_OK;
}

static qs_status for_loop(Loops *L, Node *n) {
    Range ranges[QS_MAX_RANK];
    int nvars = n->u.loop.nvars;
    if (nvars > QS_MAX_RANK) return kloop_decline(L, n->pos, "more than %d counters", QS_MAX_RANK);
    for (int i = 0; i < nvars; i++) {
        if (n == L->job->loop) TRY(root_range(L, i, &ranges[i]));
        else if (n->u.loop.nranges < nvars && i > 0) ranges[i] = ranges[0];
        else TRY(range_of(L, n->u.loop.ranges[i], &ranges[i]));
    }
    L->pos = n->pos;
    return nested(L, n, ranges, 0);
}

static qs_status while_loop(Loops *L, Node *n) {
    Exits frame;
    KRef c;
    bool *before = kloop_state(L);
    flow(L, K_LOOP, 0, 0);
    enter(L, &frame);
    TRY(kloop_cond(L, n->u.whiles.cond, &c));
    flow(L, K_IF, negated(L, c), 0);
    flow(L, K_BREAK, 0, 0);
    flow(L, K_END, 0, 0);
    TRY(kloop_block(L, n->u.whiles.body));
    leave(L);
    kloop_restore(L, before);
    return QS_OK;
}

static void find_continue(void *ud, Node **child) {
    Node *n = *child;
    if (!n || n->kind == N_FOR || n->kind == N_WHILE || n->kind == N_REPEAT) return;
    if (n->kind == N_CONTINUE) *(bool *)ud = true;
    else qast_children(n, find_continue, ud);
}

/* `continue` goes to the test at the end: it leaves an inner loop of one turn that holds the body. */
static qs_status repeat_body(Loops *L, Node *n, Exits *frame) {
    bool continues = false;
    for (int i = 0; i < n->u.whiles.body.n; i++) find_continue(&continues, &n->u.whiles.body.at[i]);
    if (!continues) return kloop_block(L, n->u.whiles.body);
    flow(L, K_LOOP, 0, 0);
    frame->cont = ++L->depth, frame->cont_breaks = true;
    bool *before = kloop_state(L);
    TRY(kloop_block(L, n->u.whiles.body));
    if (!L->left) flow(L, K_BREAK, 0, 0);
    L->left = false;
    L->depth--;
    kloop_restore(L, before);
    return flow(L, K_END, 0, 0), QS_OK;
}

static qs_status repeat_loop(Loops *L, Node *n) {
    Exits frame;
    KRef c;
    bool *before = kloop_state(L);
    flow(L, K_LOOP, 0, 0);
    enter(L, &frame);
    TRY(repeat_body(L, n, &frame));
    if (!L->left) {
        TRY(kloop_cond(L, n->u.whiles.cond, &c));
        flow(L, K_IF, c, 0);
        flow(L, K_BREAK, 0, 0);
        flow(L, K_END, 0, 0);
    }
    leave(L);
    kloop_restore(L, before);
    return QS_OK;
}

static qs_status leave_turn(Loops *L, const Node *n) {
    bool is_break = n->kind == N_BREAK;
    if (!L->exits || (is_break && !L->exits->brk)) return kloop_decline(L, n->pos, "the loop may end early");
    int depth = is_break ? L->exits->brk : L->exits->cont;
    flow(L, is_break || L->exits->cont_breaks ? K_BREAK : K_CONTINUE, 0, (uint64_t)(L->depth - depth));
    return L->left = true, QS_OK;
}

static qs_status leave_function(Loops *L, const Node *n) {
    if (L->in == L->root) return kloop_decline(L, n->pos, "a return from inside the loop");
    flow(L, K_BREAK, 0, (uint64_t)(L->depth - L->in->leave));
    return L->left = true, QS_OK;
}

static qs_status statement(Loops *L, Node *n) {
    Value ignored;
    L->pos = n->pos;
    switch ((NodeKind)n->kind) {
    case N_EXPR:
        if (n->u.expr->kind == N_CALL) return kloop_call(L, n->u.expr, &ignored, false);
        return kloop_expr(L, n->u.expr, &ignored);
    case N_ASSIGN: return assign(L, n);
    case N_IF: return if_statement(L, n);
    case N_FOR: return for_loop(L, n);
    case N_WHILE: return while_loop(L, n);
    case N_REPEAT: return repeat_loop(L, n);
    case N_BREAK: case N_CONTINUE: return leave_turn(L, n);
    case N_RETURN: return leave_function(L, n);
    case N_BLOCK: return kloop_block(L, n->u.block);
    case N_ATTR: return QS_OK;
    case N_PRINT: return kloop_decline(L, n->pos, "print");
    case N_MATCH: return kloop_decline(L, n->pos, "match");
    case N_TRY: return kloop_decline(L, n->pos, "try");
    case N_DECL: return kloop_decline(L, n->pos, "a declaration");
    case N_FUNC: return kloop_decline(L, n->pos, "a function made in the loop");
    default: return kloop_expr(L, n, &ignored);
    }
}

qs_status kloop_block(Loops *L, NodeList body) {
    for (int i = 0; i < body.n && !L->left; i++) TRY(statement(L, body.at[i]));
    return QS_OK;
}

static void find_return(void *ud, Node **child) {
    if (*child && (*child)->kind == N_RETURN) *(bool *)ud = true;
    else if (*child) qast_children(*child, find_return, ud);
}

/* `return` leaves a loop of one turn around the statements. */
qs_status kloop_body(Loops *L, Inline *in) {
    NodeList body = in->func->body;
    bool early = false;
    if (body.n && body.at[body.n - 1]->kind == N_RETURN) body.n--;
    for (int i = 0; i < body.n; i++) find_return(&early, &body.at[i]);
    if (!early) {
        TRY(kloop_block(L, body));
        return L->left = false, QS_OK;
    }
    flow(L, K_LOOP, 0, 0);
    in->leave = ++L->depth;
    bool *before = kloop_state(L);
    TRY(kloop_block(L, body));
    if (!L->left) flow(L, K_BREAK, 0, 0);
    else kloop_restore(L, before); /* every way out was a return: what each has set is not followed */
    L->left = false;
    L->depth--;
    return flow(L, K_END, 0, 0), QS_OK;
}

/* -- one pass ---------------------------------------------------------------------------------------------------- */
static void add_written(Loops *L, const Sym *sym) {
    if (!sym || find_var(L->root, sym)) return;
    Inline *r = L->root;
    if (r->nvars == r->cap) {
        Var *more = qarena_alloc(L->keep, (size_t)(r->cap = r->cap ? 2 * r->cap : 16) * sizeof *more);
        if (r->nvars) memcpy(more, r->vars, (size_t)r->nvars * sizeof *more);
        r->vars = more;
    }
    Var *v = &r->vars[r->nvars++];
    *v = (Var){.sym = sym, .lo = INFINITY, .hi = -INFINITY};
    L->job->value(L->job->ud, L->job->func, sym, &v->entry);
    v->live = kloop_is_live(L->job, sym);
    v->reduce = v->entry.kind == LOOP_NUM ? kloop_reduction(L->job->loop, sym) : 0;
    if (v->entry.kind == LOOP_UNSET) return;
    v->kind = v->entry.kind;
    if (v->kind == LOOP_NUM && !v->entry.whole) v->fraction = true;
    if (v->kind == LOOP_NUM && v->entry.whole) v->lo = -0x1p31, v->hi = 0x1p31;
    if (v->kind == LOOP_INT) v->lo = -0x1p63, v->hi = 0x1p63;
    if (v->kind == LOOP_BOOL) v->lo = 0, v->hi = 1;
}

static void find_written(void *ud, Node **child) {
    Loops *L = ud;
    Node *n = *child;
    if (!n) return;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++)
        if (n->u.assign.targets[i]->kind == N_IDENT) add_written(L, n->u.assign.targets[i]->u.ident.sym);
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) add_written(L, n->u.loop.syms[i]);
    qast_children(n, find_written, ud);
}

static Number zero(Loops *L, const Var *v) {
    Number n = v->kind == LOOP_NUM ? kloop_const(L, 0) : v->kind == LOOP_INT ? kloop_int(kloop_i64(L, 0), 0, 0)
                                                       : kloop_bool(kir_const_int(L->f, QS_B1, 0, L->pos));
    return n;
}

static void declare_all(Loops *L, Inline *in) {
    for (int i = 0; i < in->nvars; i++) {
        Var *v = &in->vars[i];
        bool entered = in == L->root && is_number(&v->entry) && L->mode != MODE_PARALLEL;
        bool reduced = in == L->root && v->reduce && L->mode == MODE_PARALLEL;
        v->v = v->twin = v->given = 0;
        v->bound = false;
        v->set = entered || reduced;
        if (reduced) v->fraction = true;
        if (v->kind < LOOP_NUM || v->kind > LOOP_BOOL) continue;
        Number identity = reduced ? kloop_num(kloop_f64(L, kloop_identity(v->reduce))) : zero(L, v);
        declare(L, v, entered ? entry_number(L, &v->entry, v->sym->name) : identity);
        if (in == L->root && v->entry.kind == LOOP_UNSET && L->mode != MODE_PARALLEL)
            v->given = kloop_emit(L, K_LOCAL, QS_B1, kir_const_int(L->f, QS_B1, 0, L->pos), 0, 0, 0);
    }
    for (Inline *i = in->child; i; i = i->next) declare_all(L, i);
}

static void begin_pass(Loops *L) {
    const Func *f = L->job->func;
    L->f = kir_new(L->c, L->arena, qstr_cname(L->c, "loop"), f->unit->src);
    L->f->rank = L->mode == MODE_PARALLEL ? L->axes : 1;
    L->f->serial = L->mode != MODE_PARALLEL;
    L->in = L->root, L->exits = NULL;
    L->depth = L->calls = L->nlevels = 0;
    L->nfaults = L->nchecks = L->ntouches = L->loose = 0;
    L->changed = L->left = false;
    L->pos = L->job->loop->pos;
    declare_all(L, L->root);
    if (L->mode == MODE_PARALLEL) return;
    L->fault = kloop_emit(L, K_LOCAL, QS_B1, kir_const_int(L->f, QS_I32, 0, L->pos), 0, 0, 0);
    for (int i = 0; i < 2; i++) L->value[i] = kloop_emit(L, K_LOCAL, QS_B1, kloop_f64(L, 0), 0, 0, 0);
}

/* -- the end ----------------------------------------------------------------------------------------------------- */
static void put(Loops *L, LoopBindKind where, int slot, KRef v) {
    uint64_t param = (uint64_t)results_param(L, where);
    kir_add(L->f, K_STORE, QS_B1, 0, kloop_i64(L, slot), v, 0, param, L->pos);
}

static LoopOut *out_of(Loops *L, const Sym *sym) {
    LoopResult *r = L->out;
    for (int i = 0; i < r->nouts; i++)
        if (r->outs[i].sym == sym) return &r->outs[i];
    return NULL;
}

/* One place for each variable, the same in all versions. */
static void assign_slots(Loops *L) {
    LoopResult *r = L->out;
    if (r->outs) return;
    r->outs = qarena_alloc(L->keep_result, (size_t)(L->root->nvars + 1) * sizeof *r->outs);
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        if (v->kind < LOOP_NUM || v->kind > LOOP_BOOL || !v->live) continue;
        LoopOut *o = &r->outs[r->nouts++];
        *o = (LoopOut){.sym = v->sym, .kind = v->kind, .given = -1, .reduce = v->reduce};
        if (v->reduce) o->identity = kloop_identity(v->reduce), o->part = r->nparts++;
        o->slot = v->kind == LOOP_INT ? r->nwholes++ : r->nreals++;
        if (v->entry.kind == LOOP_UNSET) o->given = r->nreals++;
    }
}

static void store_variables(Loops *L) {
    assign_slots(L);
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        LoopOut *o = out_of(L, v->sym);
        if (!o || (v->reduce && L->mode == MODE_PARALLEL)) continue;
        KRef x = get(L, v->v);
        put(L, v->kind == LOOP_INT ? LOOP_WHOLES : LOOP_REALS, o->slot,
            v->kind == LOOP_INT ? x : kloop_cast(L, x, QS_F64));
        if (o->given >= 0)
            put(L, LOOP_REALS, o->given, v->given ? kloop_cast(L, get(L, v->given), QS_F64) : kloop_f64(L, 1));
    }
}

static void report_fault(Loops *L) {
    for (uint32_t i = 0; i < L->nfaults; i++) {
        L->pos = L->faults[i].pos;
        KRef this = kir_const_int(L->f, QS_I32, (int64_t)i + 1, L->pos);
        KRef fine = kloop_op(L, K_NE, get(L, L->fault), this);
        kloop_emit(L, K_CHECK, QS_B1, fine, get(L, L->value[0]), get(L, L->value[1]), (uint64_t)L->faults[i].message);
    }
}

static qs_status serial_pass(Loops *L) {
    flow(L, K_LOOP, 0, 0);
    L->depth = 1;
    TRY(for_loop(L, L->job->loop));
    flow(L, K_BREAK, 0, 0);
    flow(L, K_END, 0, 0);
    L->depth = 0;
    store_variables(L);
    report_fault(L);
    return QS_OK;
}

/* What a chunk has added up goes to its place among the parts. */
static void store_parts(Loops *L) {
    KParam p = {.name = qstr_cname(L->c, "parts"), .kind = KP_ARRAY, .dtype = QS_F64, .rank = 1, .contiguous = true,
                .unit_last = true};
    KRef pos = kir_add(L->f, K_POS, QS_I64, 0, 0, 0, 0, 0, L->pos);
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        const LoopOut *o = v->reduce ? out_of(L, v->sym) : NULL;
        if (!o) continue;
        KRef at = kloop_op(L, K_ADD, pos, kloop_i64(L, (int64_t)o->part * LOOP_CHUNKS));
        kir_add(L->f, K_STORE, QS_B1, 0, at, get(L, v->v), 0, (uint64_t)kloop_param(L, &p, (LoopBind){LOOP_PARTS, 0}),
                L->pos);
    }
}

/* The position of the last turn leaves the variables as they are then. */
static qs_status parallel_pass(Loops *L) {
    TRY(for_loop(L, L->job->loop));
    KRef last = kir_const_int(L->f, QS_B1, 1, L->pos);
    if (L->chunked) store_parts(L), last = kloop_op(L, K_EQ, L->chunk_last, L->level[0].last);
    for (int i = 0; i < L->axes && !L->chunked; i++) {
        const Level *v = &L->level[i];
        if (kloop_last_of(L, v)) last = kloop_op(L, K_AND, last, kloop_op(L, K_EQ, v->counter, kloop_last_of(L, v)));
    }
    flow(L, K_IF, last, 0);
    for (int i = 0; i < L->root->nvars; i++)
        if (!L->root->vars[i].set && out_of(L, L->root->vars[i].sym)) {
            L->pos = L->job->loop->pos;
            return kloop_decline(L, L->pos, "%s may keep the value of an earlier turn", L->root->vars[i].sym->name->s);
        }
    store_variables(L);
    flow(L, K_END, 0, 0);
    return QS_OK;
}

static void *copied(Arena *a, const void *p, size_t n) { return memcpy(qarena_alloc(a, n ? n : 1), p, n); }

static qs_status keep(Loops *L, Arena *arena, LoopCode *out) {
    KFunc *f = copied(arena, L->f, sizeof *f);
    f->arena = arena;
    f->ins = copied(arena, L->f->ins, L->f->nins * sizeof *f->ins), f->cap = f->nins;
    f->params = copied(arena, f->params, (size_t)f->nparams * sizeof *f->params);
    f->messages = copied(arena, f->messages, (size_t)f->nmessages * sizeof *f->messages);
    out->binds = copied(arena, L->binds, (size_t)f->nparams * sizeof *L->binds);
    kir_seal(f);
    out->func = f;
    return kir_verify(L->c, f);
}

/* Passes of one version until nothing changes; what the last one found stays in L until the next. */
static qs_status version(Loops *L, Mode mode, Arena *arena, LoopCode *out, LoopCode *guard) {
    L->mode = mode;
    for (int pass = 0; pass < LOOP_PASSES; pass++) {
        Arena scratch;
        qarena_init(&scratch, L->c);
        L->arena = &scratch;
        begin_pass(L);
        qs_status s = mode == MODE_PARALLEL ? parallel_pass(L) : serial_pass(L);
        bool done = s == QS_OK && !L->changed;
        if (done && mode == MODE_EXACT) L->axes = kloop_parallel_depth(L);
        if (done && L->loose && mode == MODE_PARALLEL && !L->chunked)
            s = kloop_decline(L, L->loose_pos, "a test here depends on values");
        if (done && s == QS_OK) s = keep(L, arena, out);
        if (done && s == QS_OK && guard) s = kloop_guard(L, arena, guard);
        qarena_free(&scratch);
        if (s != QS_OK || done) return s;
    }
    return kloop_decline(L, L->job->loop->pos, "the types of its variables");
}

static int nest_of(const Node *n) {
    int depth = 0;
    for (; n && n->kind == N_FOR; n = n->u.loop.body.n == 1 ? n->u.loop.body.at[0] : NULL) depth += n->u.loop.nvars;
    return depth < QS_MAX_RANK ? depth : QS_MAX_RANK;
}

static void versions(Loops *L, Arena *arena) {
    LoopResult *r = L->out;
    Node *loop = L->job->loop;
    find_written(L, &loop);
    if (version(L, MODE_EXACT, arena, &r->exact, NULL) != QS_OK) { r->exact.func = NULL; return; }
    bool saves = L->nchecks > 0;
    for (; L->axes > 0; L->axes--) {
        r->depth = L->axes, r->chunked = L->chunked;
        if (version(L, MODE_PARALLEL, arena, &r->parallel, &r->guard) == QS_OK) return;
    }
    r->parallel.func = NULL;
    if (saves && version(L, MODE_QUICK, arena, &r->quick, &r->guard) != QS_OK) r->quick.func = NULL;
}

qs_status kloop_lower(Ctx *c, Arena *arena, const LoopJob *job, LoopResult *out) {
    Arena kept;
    ErrorState before = c->err;
    qarena_init(&kept, c);
    *out = (LoopResult){0};
    Inline root = {.func = job->func, .leave = -1};
    Loops L = {
        .c = c, .keep = &kept, .keep_result = arena, .job = job, .out = out, .root = &root, .nest = nest_of(job->loop)};
    versions(&L, arena);
    c->err = before;
    qmem_free(c, L.binds, L.cap_binds * sizeof *L.binds);
    qmem_free(c, L.faults, L.cap_faults * sizeof *L.faults);
    qmem_free(c, L.checks, L.cap_checks * sizeof *L.checks);
    qmem_free(c, L.touches, L.cap_touches * sizeof *L.touches);
    qarena_free(&kept);
    return QS_OK;
}
