/* loop_var.c -- what enters a loop, its variables, and the tests that may end it.
 *
 * A variable lives in a LOCAL for its value and one for its twin.  What has been learned of it (kind, bounds, whether
 * it may have a fraction) is kept from pass to pass; `set` follows the statements and says that it certainly
 * has a value. */
#include "lang/kernel/looping.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROWTH = 6 }; /* how often bounds may widen before they are given up */

/* -- parameters -------------------------------------------------------------------------------------------------- */
int kloop_param(Loops *L, const KParam *p, LoopBind b) {
    for (int i = 0; i < L->f->nparams; i++)
        if (L->binds[i].kind == b.kind && L->binds[i].index == b.index && L->f->params[i].dtype == p->dtype) return i;
    int i = kir_param(L->f, p);
    qmem_grow(L->c, &L->binds, &L->cap_binds, (uint32_t)i, sizeof *L->binds);
    L->binds[i] = b;
    return i;
}

KRef kloop_number_param(Loops *L, Str *name, qs_dtype d, LoopBind b) {
    KParam p = {.name = name, .kind = KP_NUM, .dtype = (uint8_t)d};
    return kir_add(L->f, K_PARAM, d, 0, 0, 0, 0, (uint64_t)kloop_param(L, &p, b), L->pos);
}

int kloop_results_param(Loops *L, LoopBindKind kind) {
    KParam p = {.name = qstr_cname(L->c, kind == LOOP_REALS ? "reals" : "wholes"), .kind = KP_ARRAY,
                .dtype = kind == LOOP_REALS ? QS_F64 : QS_I64, .rank = 1, .contiguous = true, .unit_last = true};
    return kloop_param(L, &p, (LoopBind){(uint8_t)kind, 0});
}

/* -- variables --------------------------------------------------------------------------------------------------- */
Var *kloop_find_var(Inline *in, const Sym *sym) {
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
    return kloop_find_var(in, sym);
}

Number kloop_entry_number(Loops *L, const LoopValue *v, Str *name) {
    LoopBind b = {LOOP_SOURCE, v->source};
    switch ((LoopKind)v->kind) {
    case LOOP_INT:
        return kloop_int(kloop_number_param(L, name, QS_I64, b), v->whole ? -0x1p31 : -0x1p63,
                         v->whole ? 0x1p31 : 0x1p63);
    case LOOP_BOOL: return kloop_bool(kloop_number_param(L, name, QS_B1, b));
    default:
        if (v->whole) return kloop_whole(L, kloop_number_param(L, name, QS_I64, b), -0x1p31, 0x1p31);
        return kloop_num(kloop_number_param(L, name, QS_F64, b));
    }
}

bool kloop_is_number(const LoopValue *v) { return v->kind >= LOOP_NUM && v->kind <= LOOP_BOOL; }

static qs_status outside_value(Loops *L, const Sym *sym, Value *out) {
    LoopValue v = {0};
    double k;
    L->job->value(L->job->ud, L->in->func, sym, &v);
    *out = (Value){.host = v, .sym = sym, .mods = sym->mods};
    if (v.kind == LOOP_BUILTIN && (!strcmp(v.builtin, "pi") || !strcmp(v.builtin, "inf"))) {
        k = *v.builtin == 'p' ? 3.14159265358979323846 : INFINITY;
        return out->what = WHAT_NUMBER, out->num = kloop_const(L, k), QS_OK;
    }
    if (kloop_is_number(&v)) return out->what = WHAT_NUMBER, out->num = kloop_entry_number(L, &v, sym->name), QS_OK;
    if (v.kind == LOOP_ARRAY) return out->what = WHAT_ARRAY, QS_OK;
    if (v.kind == LOOP_FUNC || v.kind == LOOP_BUILTIN) return out->what = WHAT_FUNCTION, QS_OK;
    if (v.kind == LOOP_UNSET) return kloop_decline(L, L->pos, "%s has no value", sym->name->s);
    return kloop_decline(L, L->pos, "%s is neither a number nor an array of numbers", sym->name->s);
}

KRef kloop_get(Loops *L, KRef local) { return kloop_emit(L, K_GET, QS_B1, local, 0, 0, 0); }

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
    /* A called function would see a part of it. */
    bool part = L->mode == MODE_PARALLEL && v->reduce && L->in != L->root;
    if (part) return kloop_decline(L, L->pos, "%s is read by a function that the loop calls", v->sym->name->s);
    *out = (Value){.what = WHAT_NUMBER, .num = {.kind = v->kind, .v = kloop_get(L, v->v), .lo = v->lo, .hi = v->hi}};
    if (v->kind == LOOP_NUM && !v->fraction && v->twin) out->num.twin = kloop_get(L, v->twin);
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

void kloop_declare(Loops *L, Var *v, Number init) {
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
    if (!v->v) return kloop_declare(L, v, n), L->changed = true, QS_OK;
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
    bool *s = qarena_alloc(L->arena, (size_t)count_vars(L->root) + 1), *at = s;
    each_var(L->root, &at, true, false);
    return s;
}

void kloop_restore(Loops *L, const bool *state) {
    bool *at = (bool *)(uintptr_t)state;
    if (state && !L->changed) each_var(L->root, &at, false, false);
}

void kloop_join(Loops *L, bool *into) {
    bool *at = into;
    if (!L->changed) each_var(L->root, &at, true, true);
}

/* -- tests ------------------------------------------------------------------------------------------------------- */

static void fill_place(Loops *L, const Inline *in, uint32_t pos, LoopPlace *out) {
    *out = (LoopPlace){in->func, pos, NULL};
    if (!in->up) return;
    out->caller = qarena_alloc(L->keep_result, sizeof *out->caller);
    fill_place(L, in->up, in->site->pos, out->caller);
}

void kloop_fail_unless(Loops *L, KRef cond, qs_status s, const char *sentence, KRef a, KRef b) {
    double k;
    if (kir_is_const(L->f, cond, &k) && k != 0) return;
    if (!L->loose++) L->loose_pos = L->pos;
    if (L->mode == MODE_PARALLEL) { /* all that was done is forgotten then, and the exact version is run */
        kloop_emit(L, K_CHECK, QS_B1, cond, 0, 0, (uint64_t)kir_message(L->f, s, sentence));
        return;
    }
    qmem_grow(L->c, &L->faults, &L->cap_faults, L->nfaults, sizeof *L->faults);
    fill_place(L, L->in, L->pos, &L->faults[L->nfaults].place);
    L->faults[L->nfaults].message = kir_message(L->f, s, sentence);
    kloop_flow(L, K_IF, kloop_not(L, cond), 0);
    kloop_emit(L, K_SET, QS_B1, L->fault, kir_const_int(L->f, QS_I32, (int64_t)++L->nfaults, L->pos), 0, 0);
    if (a) kloop_emit(L, K_SET, QS_B1, L->value[0], kloop_cast(L, a, QS_F64), 0, 0);
    if (b) kloop_emit(L, K_SET, QS_B1, L->value[1], kloop_cast(L, b, QS_F64), 0, 0);
    kloop_flow(L, K_BREAK, 0, (uint64_t)(L->depth - 1));
    kloop_flow(L, K_END, 0, 0);
}

void kloop_inside(Loops *L, KRef at, KRef n, KRef shown, const char *sentence) {
    if (!kloop_has_range(L, at)) {
        kloop_fail_unless(L, kloop_op(L, K_INB, at, n), QS_EINDEX, sentence, shown, n);
        return;
    }
    qmem_grow(L->c, &L->checks, &L->cap_checks, L->nchecks, sizeof *L->checks);
    L->checks[L->nchecks++] = (Check){at, n};
    if (L->mode != MODE_EXACT) return;
    uint32_t loose = L->loose;
    kloop_fail_unless(L, kloop_op(L, K_INB, at, n), QS_EINDEX, sentence, shown, n);
    L->loose = loose;
}
