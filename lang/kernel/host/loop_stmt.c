/* loop_stmt.c -- statements of a loop, and the loops themselves.
 *
 * The perfect nest at the top is numbered by level.  In the parallel version its outer levels are axes of the launch,
 * or the outermost is cut into chunks; every other loop is FOR or LOOP. */
#include "lang/kernel/host/looping.h"
#include "vm/base/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- statements -------------------------------------------------------------------------------------------------- */
/* A variable that was declared with a type converts what it is given from there on. */
static qs_status convert(Loops *L, const Sym *sym, const TypeExpr *here, Value *v) {
    const Func *f = sym->kind == SYM_GLOBAL ? L->root->func : L->in->func;
    const TypeExpr *type = here ? here : kloop_annotation(f, sym, L->pos);
    const Str *name = type && type->kind == TE_NAME ? type->name : NULL;
    if (!type || (v->what == WHAT_VECTOR && !here)) return QS_OK;
    if (v->what == WHAT_NUMBER) return kloop_convert(L, name, &v->num);
    if (name && kloop_is_vec(name->s, v)) return QS_OK;
    return kloop_decline(L, L->pos, "a conversion to %s", name ? name->s : "a type");
}

static qs_status assign_name(Loops *L, const Sym *sym, const TypeExpr *type, const Value *x) {
    Var *v = kloop_var(L, sym);
    Value converted = *x;
    if (!v) return kloop_decline(L, L->pos, "%s cannot be set here", sym->name->s);
    TRY(convert(L, sym, type, &converted));
    return kloop_assign(L, v, &converted);
}

static qs_status object_of(Loops *L, Node *n, Value *out) {
    TRY(kloop_expr(L, n->u.field.base, out));
    L->pos = n->pos;
    return out->what == WHAT_OBJECT ? QS_OK : kloop_decline(L, n->pos, "a field of something that is no object");
}

static qs_status set_field(Loops *L, Node *target, const Value *v) {
    Value object;
    TRY(object_of(L, target, &object));
    return kloop_set_field(L, &object, target->u.field.name, v);
}

static qs_status assign_one(Loops *L, Node *target, const TypeExpr *type, const Value *v) {
    L->pos = target->pos;
    if (target->kind == N_IDENT && target->u.ident.sym) return assign_name(L, target->u.ident.sym, type, v);
    if (target->kind == N_INDEX) return kloop_store(L, target, v);
    if (target->kind == N_FIELD) return set_field(L, target, v);
    return kloop_decline(L, target->pos, "an assignment to something that is no variable and no element");
}

/* p += q changes the array that p is, which another name of it would see. */
static qs_status change(Loops *L, const Node *target, Op op, const Value *old, const Value *x) {
    Var *v = kloop_var(L, target->u.ident.sym);
    Value result;
    if (old->what != WHAT_VECTOR || !v || v->bound)
        return kloop_decline(L, L->pos, "a change of all of %s", target->u.ident.name->s);
    TRY(kloop_operator(L, op, old, x, &result));
    if (result.n != old->n || result.cols != old->cols) return kloop_decline(L, L->pos, "vectors of different lengths");
    return kloop_patch(L, v, &result);
}

static qs_status update_field(Loops *L, Node *target, const Node *n) {
    Value object, old, x, result;
    TRY(object_of(L, target, &object));
    TRY(kloop_field(L, &object, target->u.field.name, &old));
    TRY(kloop_expr(L, n->u.assign.value, &x));
    L->pos = n->pos;
    if (old.what != WHAT_NUMBER) return kloop_decline(L, n->pos, "a change of all of %s", target->u.field.name->s);
    TRY(kloop_operator(L, (Op)n->op, &old, &x, &result));
    return kloop_set_field(L, &object, target->u.field.name, &result);
}

static qs_status update(Loops *L, const Node *n) {
    Node *target = n->u.assign.targets[0];
    Value old, x, result;
    if (target->kind == N_INDEX) return kloop_update(L, target, (Op)n->op, n->u.assign.value);
    if (target->kind == N_FIELD) return update_field(L, target, n);
    if (target->kind != N_IDENT || !target->u.ident.sym)
        return kloop_decline(L, n->pos, "a change of something that is no variable and no element");
    TRY(kloop_read(L, target->u.ident.sym, &old));
    TRY(kloop_expr(L, n->u.assign.value, &x));
    L->pos = n->pos;
    if (old.what != WHAT_NUMBER) return change(L, target, (Op)n->op, &old, &x);
    Op op = (Op)n->op;
    Var *v = kloop_var(L, target->u.ident.sym);
    if (op == OP_SUB && v && v->reduce && L->mode == MODE_PARALLEL) {
        if (x.what != WHAT_NUMBER) return kloop_decline(L, n->pos, "a value that is no number");
        TRY(kloop_unary(L, OP_NEG, x.num, &x.num));
        op = OP_ADD;
    }
    TRY(kloop_operator(L, op, &old, &x, &result));
    return assign_name(L, target->u.ident.sym, NULL, &result);
}

/* [a,b] = [x,y], where all values come first, and [a,b] = f(x). */
static qs_status assign_several(Loops *L, Node *n) {
    Node *from = n->u.assign.value;
    int count = n->u.assign.ntargets;
    Value *v = qarena_alloc(L->arena, (size_t)(count + 1) * sizeof *v);
    bool items = (from->kind == N_MATRIX || from->kind == N_CELL) && from->u.items.n == count && count > 1;
    if (!items && from->kind != N_CALL) return kloop_decline(L, n->pos, "an assignment to several");
    if (!items) TRY(kloop_call(L, from, v, count));
    for (int i = 0; items && i < count; i++) TRY(kloop_expr(L, from->u.items.at[i], &v[i]));
    for (int i = 0; i < count; i++) {
        TRY(assign_one(L, n->u.assign.targets[i], n->u.assign.types ? n->u.assign.types[i] : NULL, &v[i]));
    }
    return QS_OK;
}

static qs_status assign(Loops *L, Node *n) {
    Value v;
    if (n->u.assign.in_place) return update(L, n);
    if (n->u.assign.bracketed) return assign_several(L, n);
    TRY(kloop_expr(L, n->u.assign.value, &v));
    return assign_one(L, n->u.assign.targets[0], n->u.assign.types ? n->u.assign.types[0] : NULL, &v);
}

/* What is known here is one of the ways to a place further on. */
static void add_way(Loops *L, bool **ways) {
    if (*ways) kloop_join(L, *ways);
    else *ways = kloop_state(L);
}

static qs_status branch(Loops *L, NodeList body, bool **after) {
    TRY(kloop_block(L, body));
    if (!L->left) add_way(L, after);
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
            add_way(L, after);
        }
        return L->left = false, QS_OK;
    }
    TRY(kloop_cond(L, n->u.ifs.conds[i], &c));
    before = kloop_state(L);
    kloop_flow(L, K_IF, c, 0);
    TRY(branch(L, n->u.ifs.blocks[i], after));
    here = L->left, L->left = false, *left &= here;
    kloop_restore(L, before);
    kloop_flow(L, K_ELSE, 0, 0);
    TRY(if_from(L, n, i + 1, after, left));
    return kloop_flow(L, K_END, 0, 0), QS_OK;
}

static qs_status if_statement(Loops *L, Node *n) {
    bool *after = NULL, left = true;
    TRY(if_from(L, n, 0, &after, &left));
    if (after) kloop_restore(L, after);
    return L->left = left, QS_OK;
}

/* Equal as `match` has it: an int and a number are when they are the same to the last digit. */
static qs_status is_pattern(Loops *L, Node *n, Number v, KRef *out) {
    Number p, equal;
    TRY(kloop_number(L, n, &p));
    bool mixed = (v.kind == LOOP_INT) != (p.kind == LOOP_INT);
    if (mixed && !kloop_twin(L, v.kind == LOOP_INT ? v : p))
        return kloop_decline(L, n->pos, "an int that may be large beside another number");
    TRY(kloop_binary(L, OP_EQ, v, p, &equal));
    return *out = equal.v, QS_OK;
}

static qs_status match_from(Loops *L, Node *n, Number v, int i, bool **after, bool *left) {
    const MatchArm *arm = &n->u.match.arms[i];
    KRef found = 0, one = 0;
    if (i == n->u.match.narms) {
        *left = false;
        return add_way(L, after), QS_OK;
    }
    for (int k = 0; !arm->wildcard && k < arm->npatterns; k++) {
        TRY(is_pattern(L, arm->patterns[k], v, &one));
        found = found ? kloop_op(L, K_OR, found, one) : one;
    }
    bool *before = kloop_state(L);
    if (found) kloop_flow(L, K_IF, found, 0);
    TRY(branch(L, arm->body, after));
    *left &= L->left, L->left = false;
    if (!found) return QS_OK;
    kloop_restore(L, before);
    kloop_flow(L, K_ELSE, 0, 0);
    TRY(match_from(L, n, v, i + 1, after, left));
    return kloop_flow(L, K_END, 0, 0), QS_OK;
}

static qs_status match_statement(Loops *L, Node *n) {
    bool *after = NULL, left = true;
    Number v;
    TRY(kloop_number(L, n->u.match.value, &v));
    TRY(match_from(L, n, v, 0, &after, &left));
    kloop_restore(L, after);
    return L->left = left, QS_OK;
}

/* -- loops ------------------------------------------------------------------------------------------------------- */
static void enter(Loops *L, Exits *e) {
    *e = (Exits){.up = L->exits, .brk = L->depth, .cont = L->depth, .out = &e->outs};
    L->exits = e;
}

typedef struct {
    Number lo, hi;
    double step;
    KRef turns;
    bool by_turns;
} Range; /* by_turns: lo + k*step for k < turns */

/* The body runs at least once. */
static bool surely_runs(Loops *L, const Range *r, int count) {
    double lo, hi;
    for (int i = 0; i < count; i++)
        if (r[i].by_turns || !kloop_known(L, r[i].lo, &lo) || !kloop_known(L, r[i].hi, &hi) ||
            (hi - lo) * r[i].step < 0)
            return false;
    return true;
}

/* Behind a loop whose body has begun at least once: after its last turn, or a `break`. */
static void meet(Loops *L, Exits *e) {
    if (e->ways) kloop_restore(L, e->ways);
    if (e->ways && e->outs) kloop_join(L, e->outs);
    if (e->outs) kloop_restore(L, e->outs);
}

static void leave(Loops *L) {
    L->exits = L->exits->up;
    L->left = false;
    kloop_flow(L, K_END, 0, 0);
}

static qs_status bind_counter(Loops *L, const Node *n, int i, Number value) {
    const Sym *sym = n->u.loop.syms[i];
    Var *v = kloop_var(L, sym);
    if (!v || sym->declared) return kloop_decline(L, n->pos, "the counter %s", sym->name->s);
    Value x = {.what = WHAT_NUMBER, .num = value};
    TRY(kloop_assign(L, v, &x));
    if (!kloop_sets(n, sym)) v->bound = true, v->val = x;
    return QS_OK;
}

/* -- ranges ------------------------------------------------------------------------------------------------------ */
static qs_status root_range(Loops *L, int i, Range *r) {
    const LoopRange *known = &L->job->range[i];
    Str *name = L->job->loop->u.loop.names[i];
    *r = (Range){.step = known->step, .by_turns = !known->whole};
    if (known->whole) {
        double most = known->small ? LOOP_SMALL : 0x1p48;
        r->lo = kloop_whole(L, kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_FIRST, i}), -most, most);
        r->hi = kloop_whole(L, kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_LAST, i}), -most, most);
        return QS_OK;
    }
    r->lo = kloop_num(kloop_number_param(L, name, QS_F64, (LoopBind){LOOP_FIRST, i}));
    r->turns = kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_TURNS, i});
    return QS_OK;
}

/* floor((hi-lo)/step) + 1 turns, with the little that the interpreter allows for rounding; see qarr_range_count. */
static qs_status real_turns(Loops *L, Range *r) {
    char text[200];
    double lo;
    if (!kloop_known(L, r->lo, &lo)) return kloop_decline(L, L->pos, "a range whose bounds may have a fraction");
    qnum_print(text, sizeof text,
               "for: a range needs a finite start, a step other than 0 and an end that is a number, got "
               "%.15g..%.15g..%%0",
               lo, r->step);
    kloop_fail_unless(L, kloop_op(L, K_EQ, r->hi.v, r->hi.v), QS_EVALUE, text, r->hi.v, 0);
    KRef q = kloop_op(L, K_DIV, kloop_op(L, K_SUB, r->hi.v, r->lo.v), kloop_f64(L, r->step));
    KRef size = kloop_op(L, K_MAX, kloop_f64(L, fabs(lo)), kir_fold(L->f, K_ABS, QS_B1, 0, r->hi.v, 0, 0, L->pos));
    KRef slack =
        kloop_op(L, K_DIV, kloop_op(L, K_MUL, kloop_f64(L, 4 * DBL_EPSILON), size), kloop_f64(L, fabs(r->step)));
    q = kir_fold(L->f, K_MATH, QS_B1, MF_floor, kloop_op(L, K_ADD, q, slack), 0, 0, L->pos);
    KRef n = kloop_op(L, K_ADD, q, kloop_f64(L, 1)), zero = kloop_f64(L, 0); /* may be nan: none */
    n = kir_fold(L->f, K_SELECT, QS_B1, 0, kloop_op(L, K_LT, zero, n), n, zero, L->pos);
    r->turns = kloop_cast(L, n, QS_I64);
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
    KRef length = kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_CHUNK, 0}), step = kloop_i64(L, (int64_t)r->step);
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

/* A turn of a position: `continue` leaves a loop of one turn around it. */
static qs_status axis(Loops *L, Node *n, const Range *ranges, int i, int level) {
    Exits frame;
    bool leaving = kloop_find(n->u.loop.body, false, kloop_is_leaving, NULL);
    Number counter = axis_counter(L, &ranges[i], level);
    L->level[level].counter = counter.twin;
    if (!leaving || i < n->u.loop.nvars - 1) return inside(L, n, ranges, i, counter);
    kbuild_once(&L->walk);
    enter(L, &frame);
    frame.cont_breaks = true, frame.brk = 0;
    TRY(inside(L, n, ranges, i, counter));
    if (!L->left) add_way(L, &frame.ways), kloop_flow(L, K_BREAK, 0, 0);
    leave(L);
    return kloop_restore(L, frame.ways), QS_OK;
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
    kloop_forget(L, n);
    Number counter = open_for(L, &r);
    enter(L, &frame);
    if (i > 0) frame.brk = outer ? outer->brk : 0, frame.out = outer ? outer->out : NULL; /* `break` leaves all */
    if (parallel) frame.brk = 0;                   /* which one chunk cannot */
    if (level == 0) L->body = L->block;
    if (level >= 0) L->level[level].counter = ranges[i].by_turns ? 0 : counter.twin;
    TRY(inside(L, n, ranges, i, counter));
    if (i == 0) kloop_free_order(L, n, start);
    bool runs = parallel || surely_runs(L, ranges, n->u.loop.nvars);
    if (runs && !L->left) add_way(L, &frame.ways);
    leave(L);
    if (runs && i == 0) meet(L, &frame);
    else kloop_restore(L, runs ? frame.ways : before);
    return QS_OK;
}

qs_status kloop_for(Loops *L, Node *n) {
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
    double known;
    bool *before = kloop_state(L);
    L->waits = true;
    kloop_forget(L, n);
    kloop_flow(L, K_LOOP, 0, 0);
    enter(L, &frame);
    TRY(kloop_cond(L, n->u.whiles.cond, &c));
    bool endless = kir_is_const(L->f, c, &known) && known != 0;
    kloop_flow(L, K_IF, kloop_not(L, c), 0);
    kloop_flow(L, K_BREAK, 0, 0);
    kloop_flow(L, K_END, 0, 0);
    TRY(kloop_block(L, n->u.whiles.body));
    leave(L);
    kloop_restore(L, endless && frame.outs ? frame.outs : before);
    return QS_OK;
}

/* `continue` goes to the test at the end: it leaves an inner loop of one turn that holds the body. */
static qs_status repeat_body(Loops *L, Node *n, Exits *frame) {
    if (!kloop_find(n->u.whiles.body, false, kloop_is_continue, NULL)) return kloop_block(L, n->u.whiles.body);
    kbuild_once(&L->walk);
    frame->cont = L->depth, frame->cont_breaks = true;
    TRY(kloop_block(L, n->u.whiles.body));
    if (!L->left) add_way(L, &frame->ways), kloop_flow(L, K_BREAK, 0, 0);
    L->left = false;
    kloop_restore(L, frame->ways);
    return kloop_flow(L, K_END, 0, 0), QS_OK;
}

static qs_status repeat_loop(Loops *L, Node *n) {
    Exits frame;
    KRef c;
    L->waits = true;
    kloop_forget(L, n);
    kloop_flow(L, K_LOOP, 0, 0);
    enter(L, &frame);
    TRY(repeat_body(L, n, &frame));
    frame.ways = NULL;
    if (!L->left) {
        TRY(kloop_cond(L, n->u.whiles.cond, &c));
        add_way(L, &frame.ways);
        kloop_flow(L, K_IF, c, 0);
        kloop_flow(L, K_BREAK, 0, 0);
        kloop_flow(L, K_END, 0, 0);
    }
    leave(L);
    meet(L, &frame);
    return QS_OK;
}

qs_status kloop_loop(Loops *L, Node *n) {
    return n->kind == N_FOR ? kloop_for(L, n) : n->kind == N_WHILE ? while_loop(L, n) : repeat_loop(L, n);
}

static qs_status leave_turn(Loops *L, const Node *n) {
    bool is_break = n->kind == N_BREAK;
    if (!L->exits || (is_break && !L->exits->brk)) return kloop_decline(L, n->pos, "the loop may end early");
    int depth = is_break ? L->exits->brk : L->exits->cont;
    if (!is_break) add_way(L, &L->exits->ways);
    else if (L->exits->out) add_way(L, L->exits->out);
    kbuild_leave(&L->walk, is_break || L->exits->cont_breaks ? K_BREAK : K_CONTINUE, depth);
    return L->left = true, QS_OK;
}

/* The machine goes on with the code of this `return`. */
static qs_status return_from_loop(Loops *L, const Node *n) {
    if (L->mode == MODE_PARALLEL) return kloop_decline(L, n->pos, "a return from inside the loop");
    kloop_emit(L, K_SET, QS_B1, L->returned, kloop_f64(L, (double)n->pos + 1), 0, 0);
    kbuild_leave(&L->walk, K_BREAK, 1);
    return L->left = true, QS_OK;
}

/* A function that is left at pos has given its caller what that wants. */
static qs_status results_given(Loops *L, uint32_t pos) {
    const Func *f = L->in->func;
    char text[200];
    L->pos = pos;
    for (int i = 0; i < L->in->wanted && i < f->nouts; i++) {
        Var *v = f->outs[i].sym ? kloop_find_var(L->in, f->outs[i].sym) : NULL;
        if (!v || v->set || v->bound) continue;
        snprintf(text, sizeof text, "result %.80s of %.80s was not given a value", f->outs[i].name->s, f->name->s);
        TRY(kloop_doubt(L, v, text));
    }
    return QS_OK;
}

static qs_status leave_function(Loops *L, const Node *n) {
    if (L->in == L->root) return return_from_loop(L, n);
    TRY(results_given(L, n->pos));
    add_way(L, &L->in->ways);
    kbuild_leave(&L->walk, K_BREAK, L->in->leave);
    return L->left = true, QS_OK;
}

static qs_status statement(Loops *L, Node *n) {
    Value ignored;
    L->pos = n->pos;
    switch ((NodeKind)n->kind) {
    case N_EXPR:
        if (n->u.expr->kind == N_CALL) return kloop_call(L, n->u.expr, &ignored, 0);
        return kloop_expr(L, n->u.expr, &ignored);
    case N_ASSIGN: return assign(L, n);
    case N_IF: return if_statement(L, n);
    case N_FOR: case N_WHILE: case N_REPEAT: return kloop_loop(L, n);
    case N_BREAK: case N_CONTINUE: return leave_turn(L, n);
    case N_RETURN: return leave_function(L, n);
    case N_BLOCK: return kloop_block(L, n->u.block);
    case N_MATCH: return match_statement(L, n);
    case N_ATTR: case N_DECL: return QS_OK;
    case N_PRINT: return kloop_decline(L, n->pos, "print");
    case N_TRY: return kloop_decline(L, n->pos, "try");
    case N_FUNC: return kloop_decline(L, n->pos, "a function made in the loop");
    default: return kloop_expr(L, n, &ignored);
    }
}

qs_status kloop_block(Loops *L, NodeList body) {
    for (int i = 0; i < body.n && !L->left; i++) TRY(statement(L, body.at[i]));
    return QS_OK;
}

/* `return` leaves a loop of one turn around the statements. */
qs_status kloop_body(Loops *L, Inline *in) {
    NodeList body = in->func->body;
    uint32_t end = in->func->end ? in->func->end : in->func->pos;
    if (body.n && body.at[body.n - 1]->kind == N_RETURN) end = body.at[--body.n]->pos;
    if (!kloop_find(body, true, kloop_is_return, NULL)) {
        TRY(kloop_block(L, body));
        return L->left = false, results_given(L, end);
    }
    kbuild_once(&L->walk);
    in->leave = L->depth, in->ways = NULL;
    TRY(kloop_block(L, body));
    if (!L->left) TRY(results_given(L, end));
    if (!L->left) add_way(L, &in->ways), kloop_flow(L, K_BREAK, 0, 0);
    L->left = false;
    kloop_restore(L, in->ways);
    return kloop_flow(L, K_END, 0, 0), QS_OK;
}
