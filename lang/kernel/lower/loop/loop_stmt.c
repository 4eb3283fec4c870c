/* loop_stmt.c -- lowers statements of a loop, and the ranges of its counters.
 *
 * The loops of the outermost perfect nest are numbered by level.  In the parallel version the outer levels are axes of
 * the launch, or the outermost is cut into chunks; every other loop is a FOR or LOOP. */
#include "lang/kernel/lower/loop/loop_internal.h"
#include "vm/base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- statements ---------------------------------------------------------------------------------------------------- */
/* A variable declared with a type converts the values assigned to it from there on. */
static qs_status convert_assigned(Loops *L, const Sym *sym, const TypeExpr *here, Value *v) {
    const Func *f = sym->kind == SYM_GLOBAL ? L->root->func : L->in->func;
    const TypeExpr *type = here ? here : kquery_annotation(f, sym, L->pos);
    const Str *name = type && type->kind == TE_NAME ? type->name : NULL;
    if (!type || (v->what == WHAT_VECTOR && !here)) return QS_OK;
    qs_dtype d;
    if (v->what == WHAT_NUMBER && name && qdtype_from_name(name->s, &d) &&
        kloop_count_fits(L, kloop_var(L, sym), d, &v->num))
        return QS_OK;
    if (kobject_is_of(L, v, f, type)) return QS_OK;
    if (v->what == WHAT_NUMBER) return kloop_settle(L, name, &v->num);
    if (name && kloop_has_shape(name->s, v)) return QS_OK;
    return kloop_decline(L, L->pos, "a conversion to %s", name ? name->s : "a type");
}

static qs_status set_name(Walk *w, Node *target, TypeExpr *type, Value *x) {
    Loops *L = (Loops *)w;
    const Sym *sym = target->u.ident.sym;
    Var *v = kloop_var(L, sym);
    if (!v) return kloop_decline(L, L->pos, "%s cannot be set here", sym->name->s);
    TRY(convert_assigned(L, sym, type, x));
    TRY(kloop_assign(L, v, x));
    if (x->what == WHAT_VECTOR && x->origin == v) kloop_change_others(L, v); /* p += q */
    return QS_OK;
}

static qs_status set_field(Walk *w, const Value *object, Node *target, Value *x) {
    Loops *L = (Loops *)w;
    if (object->what != WHAT_OBJECT) return kloop_decline(L, L->pos, "a field of something that is no object");
    return kloop_set_field(L, object, target->u.field.name, x);
}

/* p += q changes the array of p in place, which another variable that holds the array would see. */
static qs_status change_in_place(Loops *L, const Node *target, Op op, const Value *old, const Value *x, Value *out) {
    Var *v = target->kind == N_IDENT ? kloop_var(L, target->u.ident.sym) : NULL;
    const Str *name = target->kind == N_IDENT ? target->u.ident.name : target->u.field.name;
    if (old->what != WHAT_VECTOR || !v || v->bound) return kloop_decline(L, L->pos, "a change of all of %s", name->s);
    TRY(kloop_operator(L, op, old, x, out));
    if (out->n != old->n || out->cols != old->cols) return kloop_decline(L, L->pos, "vectors of different lengths");
    if (out->f64 != old->f64) /* the array keeps its type */
        for (int i = 0; i < out->n; i++) out->at[i] = kloop_held(L, old->f64, out->at[i]);
    out->f64 = old->f64;
    kloop_changed(L, v, out);
    return kloop_may_change(L, v);
}

static qs_status combine_values(Walk *w, const Node *target, Op op, Value *old, Value *x, Value *out) {
    Loops *L = (Loops *)w;
    const Var *v = target->kind == N_IDENT ? kloop_var(L, target->u.ident.sym) : NULL;
    if (old->what != WHAT_NUMBER) return change_in_place(L, target, op, old, x, out);
    if (op == OP_SUB && v && v->reduce && L->mode == MODE_PARALLEL) {
        if (x->what != WHAT_NUMBER) return kloop_decline_value(L, x);
        TRY(kloop_unary(L, OP_NEG, x->num, &x->num));
        op = OP_ADD;
    }
    return kloop_operator(L, op, old, x, out);
}

/* [a,b] = vector */
static qs_status spread_elements(Walk *w, const Value *x, int n, Value *out) {
    Loops *L = (Loops *)w;
    Value v = *x;
    kloop_short(L, &v);
    if (v.what == WHAT_NUMBER && n == 1) return *out = v, QS_OK;
    if (v.what != WHAT_VECTOR || v.n < n)
        return kloop_decline(L, L->pos, "several results of a built-in function; call it before the loop");
    for (int i = 0; i < n; i++) out[i] = (Value){.what = WHAT_NUMBER, .num = v.at[i]};
    return QS_OK;
}

static int count_elements(Walk *w, const Value *v) { return (void)w, v->what == WHAT_VECTOR ? v->n : -1; }

/* Compares by the rules of `match`: an int and a number are equal if they are exactly the same. */
static qs_status equal_pattern(Walk *w, const Value *x, Node *n, KRef *out) {
    Loops *L = (Loops *)w;
    Number v, p, same;
    Value pattern, equal;
    if (x->what == WHAT_CHAR || x->what == WHAT_STRING) {
        TRY(kloop_expr(L, n, &pattern));
        TRY(kloop_operator(L, OP_EQ, x, &pattern, &equal));
        return *out = equal.num.v, QS_OK;
    }
    TRY(kloop_real_number(L, x, &v));
    TRY(kloop_number(L, n, &p));
    bool mixed = v.kind != LOOP_MIXED && p.kind != LOOP_MIXED && (v.kind == LOOP_INT) != (p.kind == LOOP_INT);
    if (mixed && !kloop_twin(L, v.kind == LOOP_INT ? v : p))
        return kloop_decline(L, n->pos, "an int that may be large beside another number");
    TRY(kloop_binary(L, OP_EQ, v, p, &same));
    return *out = same.v, QS_OK;
}

/* -- loops --------------------------------------------------------------------------------------------------------- */
typedef struct Range {
    Number lo, hi;
    double step; /* 0: not known */
    KRef by;     /* the step, if it is not known: int64, or float64 if by_count */
    KRef iterations;
    bool by_count;      /* lo + k*step for k < iterations */
    KRef integral;      /* by_count: the condition under which all values are integral and small; 0: they never are */
    const Value *items; /* these are the indices of a vector whose elements the loop goes through; NULL: none */
} Range;

/* Whether the body runs at least once. */
static bool surely_runs(Loops *L, const Range *r, int count) {
    double lo, hi;
    for (int i = 0; i < count; i++)
        if (r[i].by_count || r[i].by || !kloop_known(L, r[i].lo, &lo) || !kloop_known(L, r[i].hi, &hi) ||
            (hi - lo) * r[i].step < 0)
            return false;
    return true;
}

/* -- ranges -------------------------------------------------------------------------------------------------------- */
static qs_status root_range(Loops *L, int i, Range *r) {
    const LoopRange *known = &L->job->range[i];
    Str *name = L->job->loop->u.loop.names[i];
    *r = (Range){.step = known->step, .by_count = !known->integral};
    if (!r->step) r->by = kloop_number_param(L, name, known->integral ? QS_I64 : QS_F64, (LoopBind){LOOP_STEP, i});
    if (known->integral) {
        double most = known->small ? LOOP_SMALL : 0x1p48;
        r->lo = kloop_from_int(L, kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_FIRST, i}), -most, most);
        r->hi = kloop_from_int(L, kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_LAST, i}), -most, most);
        return QS_OK;
    }
    r->lo = kloop_num(kloop_number_param(L, name, QS_F64, (LoopBind){LOOP_FIRST, i}));
    r->iterations = kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_ITERATIONS, i});
    return QS_OK;
}

#define RANGE_FAULT "for: a range needs a finite start, a step other than 0 and an end that is a number, got "

static bool is_finite(const Loops *L, KRef r) {
    const KIns *i = &L->f->ins[r];
    double v;
    return kir_is_const(L->f, r, &v) ? isfinite(v) : i->op == K_CAST && qdtype_is_int((qs_dtype)L->f->ins[i->a].dtype);
}

static KRef is_number(Loops *L, KRef x) {
    return is_finite(L, x) ? kbuild_int(&L->walk, QS_B1, 1) : kloop_op(L, K_EQ, x, x);
}

static KRef has_finite_start(Loops *L, KRef x) {
    if (is_finite(L, x)) return kbuild_int(&L->walk, QS_B1, 1);
    return kloop_op(L, K_LT, kloop_op(L, K_ABS, x, 0), kloop_f64(L, INFINITY));
}

/* Emits the error for a bound that is `bad`; a message has room for the values of the other two. */
static void fail_for(Loops *L, int at, double bad, KRef is_bad, const KRef *bound) {
    char text[200];
    KRef a = bound[at == 0 ? 1 : 0], b = bound[at == 2 ? 1 : 2];
    qnum_print(text, sizeof text, RANGE_FAULT "%s%.15g%s",
               at == 0   ? ""
               : at == 1 ? "%0.."
                         : "%0..%1..",
               bad,
               at == 0   ? "..%0..%1"
               : at == 1 ? "..%1"
                         : "");
    kloop_fail_unless(L, kloop_not(L, is_bad), QS_EVALUE, text, a, b);
}

/* Emits the errors of a range with an unknown step. */
static void check_bounds(Loops *L, KRef lo, KRef step, KRef hi, KRef fine) {
    const KRef bound[3] = {lo, step, hi};
    KRef zero = kloop_op(L, K_EQ, step, kloop_f64(L, 0));
    KRef positive = kloop_op(L, K_LT, kloop_f64(L, 0), kloop_op(L, K_DIV, kloop_f64(L, 1), step));
    kloop_flow(L, K_IF, kloop_not(L, fine));
    fail_for(L, 1, 0, kloop_op(L, K_AND, zero, positive), bound);
    fail_for(L, 1, -0.0, zero, bound);
    fail_for(L, 1, NAN, kloop_not(L, is_number(L, step)), bound);
    fail_for(L, 0, INFINITY, kloop_op(L, K_EQ, lo, kloop_f64(L, INFINITY)), bound);
    fail_for(L, 0, -INFINITY, kloop_op(L, K_EQ, lo, kloop_f64(L, -INFINITY)), bound);
    fail_for(L, 0, NAN, kloop_not(L, is_number(L, lo)), bound);
    fail_for(L, 2, NAN, kbuild_int(&L->walk, QS_B1, 1), bound);
    kloop_flow(L, K_END, 0);
}

static KRef is_integral_below(Loops *L, KRef x, double most, bool integral) {
    KRef near = kloop_op(L, K_LE, kloop_op(L, K_ABS, x, 0), kloop_f64(L, most));
    KRef cut = kbuild_pure(&L->walk, (KMake){K_MATH, .flag = MF_trunc, .a = x});
    return integral ? kloop_op(L, K_AND, near, kloop_op(L, K_EQ, x, cut)) : near;
}

static void count_real_range(Loops *L, Range *r) {
    static const double most = 0x1p48;
    char text[200];
    KRef lo = r->lo.v, hi = r->hi.v, step = r->step ? kloop_f64(L, r->step) : r->by;
    KRef fine = kloop_op(L, K_AND, has_finite_start(L, lo), is_number(L, hi));
    if (r->step) {
        qnum_print(text, sizeof text, RANGE_FAULT "%%0..%.15g..%%1", r->step);
        kloop_fail_unless(L, fine, QS_EVALUE, text, lo, hi);
    } else {
        KRef moves = kloop_op(L, K_AND, is_number(L, step), kloop_op(L, K_NE, step, kloop_f64(L, 0)));
        check_bounds(L, lo, step, hi, kloop_op(L, K_AND, fine, moves));
    }
    r->iterations = kloop_cast(L, kcounted_iterations(&L->walk, QS_F64, lo, step, hi), QS_I64);
    r->by_count = true;
    if (r->step != floor(r->step) || fabs(r->step) >= 0x1p31) return;
    r->integral = kloop_op(L, K_AND, is_integral_below(L, lo, most, true), is_integral_below(L, hi, most, false));
    if (!r->step) r->integral = kloop_op(L, K_AND, r->integral, is_integral_below(L, step, most, true));
}

/* Makes a range of the indices of a vector, or of the rows of a matrix. */
static qs_status range_of_items(Loops *L, const Node *loop, const Value *v, Range *r) {
    bool array = v->what == WHAT_ARRAY && v->host.rank <= 2, cell = v->what == WHAT_CELL;
    if (cell) TRY(kloop_visit_list(L, v, loop));
    if (!array && !cell && v->what != WHAT_VECTOR && v->what != WHAT_NUMBER)
        return kloop_decline(L, L->pos, "a loop over something that is no vector and no matrix; write for i = 0..n-1");
    Value *items = qarena_alloc(L->arena, sizeof *items);
    *items = *v, r->items = items;
    r->step = 1, r->lo = kloop_const(L, 0);
    if (cell) {
        Number count = kloop_list_count(L, v);
        KRef last = kloop_op(L, K_SUB, kloop_as_int(L, count), kloop_i64(L, 1));
        return r->hi = kloop_from_int(L, last, -1, LOOP_LIST_ROOM), QS_OK;
    }
    int n = v->what != WHAT_VECTOR ? 1 : v->cols ? v->n / v->cols : v->n;
    if (!array) return r->hi = kloop_const(L, n - 1), QS_OK;
    KRef last = kloop_op(L, K_SUB, kloop_extent(L, v, 0), kloop_i64(L, 1));
    return r->hi = kloop_from_int(L, last, -1, v->host.small ? LOOP_SMALL : 0x1p48), QS_OK;
}

static qs_status root_items(Loops *L, Range *r) {
    const Node *of = L->job->loop->u.loop.ranges[0];
    Value v = {.what = WHAT_ARRAY, .name = of->kind == N_IDENT ? of->u.ident.name : qstr_cname(L->c, "the items")};
    L->job->items(L->job->ud, &v.host);
    if (v.host.kind == LOOP_CELL) v.what = WHAT_CELL;
    else if (v.host.kind != LOOP_ARRAY || v.host.rank != 1)
        return kloop_decline(L, L->pos, "a loop over something that is no vector; write for i = 0..n-1");
    Range counted = *r;
    TRY(range_of_items(L, L->job->loop, &v, r));
    counted.items = r->items;
    return *r = counted, QS_OK;
}

/* The ranges of the outermost loop are parameters, unless its function calls itself there. */
static qs_status get_root_ranges(Walk *w, const Node *n, Range *out, bool *found) {
    Loops *L = (Loops *)w;
    *found = n == L->job->loop && L->in == L->root;
    for (int i = 0; *found && i < n->u.loop.nvars; i++) TRY(root_range(L, i, &out[i]));
    return *found && n->u.loop.ranges[0]->kind != N_RANGE ? root_items(L, out) : QS_OK;
}

/* Emits the error for an int that float64 does not hold; its last four digits are a value of their own. */
static void check_exact(Loops *L, KRef i, KRef is_int, const char *what) {
    char text[200];
    KRef back = kloop_cast(L, kloop_cast(L, i, QS_F64), QS_I64);
    KRef exact = kloop_op(L, K_AND, kloop_op(L, K_EQ, back, i), kloop_op(L, K_NE, i, kloop_i64(L, INT64_MAX)));
    KRef ten_thousand = kloop_i64(L, 10000), high = kloop_op(L, K_DIV, i, ten_thousand);
    KRef low = kloop_op(L, K_ABS, kloop_op(L, K_SUB, i, kloop_op(L, K_MUL, high, ten_thousand)), 0);
    if (is_int) exact = kloop_op(L, K_OR, exact, kloop_not(L, is_int));
    kloop_flow(L, K_IF, kloop_not(L, exact));
    for (int zeros = 0, least = 1000; zeros < 4; zeros++, least /= 10) {
        snprintf(text, sizeof text,
                 "the %s of a range is a scalar, which does not hold %%0%.*s%%1 exactly: beyond 2^53 count from 0, and "
                 "add",
                 what, zeros, "000");
        KRef shorter = least > 1 ? kloop_op(L, K_LT, low, kloop_i64(L, least)) : kbuild_int(&L->walk, QS_B1, 0);
        kloop_fail_unless(L, shorter, QS_EVALUE, text, high, low);
    }
    kloop_flow(L, K_END, 0);
}

/* A bound of a range as a number. */
static qs_status bound_of(Loops *L, const Value *v, const char *what, Number *out) {
    TRY(kloop_real_number(L, v, out));
    if (out->kind == LOOP_NUM) (void)kloop_expect_int(L, out);
    bool wide = kloop_may_be_int(*out) && !kloop_is_exact(out->lo, out->hi);
    if (wide) check_exact(L, out->kind == LOOP_INT ? out->v : out->twin, out->is_int, what);
    return *out = kloop_to_num(L, *out), QS_OK;
}

/* A range of integers with a step that is not known. */
static void step_by(Loops *L, Range *r, Number step) {
    KRef moves = kloop_op(L, K_NE, step.twin, kloop_i64(L, 0));
    if (step.lo <= 0 && step.hi >= 0) kloop_fail_unless(L, moves, QS_EVALUE, RANGE_FAULT "%0..0..%1", r->lo.v, r->hi.v);
    r->by = step.twin;
}

enum { FEW = 4 /* iterations */ };

/* Whether the next loop belongs to the perfect nest, whose loops may be axes of a launch. */
static bool is_nested(const Loops *L) { return L->nlevels < L->nest && !L->calls && !L->versions; }

/* Compiles in the ends of a range that runs a few times and follows from variables which the loop does not set, such as
 * the number of channels: the code has no loop then. */
static void fix_few(Loops *L, KRef first, KRef last) {
    if (L->job->many || is_nested(L)) return;
    double steps = kloop_value_before(L, last, false) - kloop_value_before(L, first, false);
    if (!(steps >= 1 && steps < FEW)) return;
    (void)kloop_value_before(L, first, true), (void)kloop_value_before(L, last, true);
}

static qs_status range_of(Walk *w, const Node *n, const RangeEnds *b, int i, Range *r) {
    Loops *L = (Loops *)w;
    Number step = kloop_const(L, 1);
    *r = (Range){0};
    TRY(bound_of(L, &b->lo[i], "start", &r->lo));
    if (b->step) TRY(bound_of(L, &b->step[i], "step", &step));
    TRY(bound_of(L, &b->hi[i], "end", &r->hi));
    if (kloop_known(L, step, &r->step) && (r->step == 0 || !isfinite(r->step)))
        return kloop_decline(L, n->pos, "a step of 0, or without an end");
    bool integral = r->lo.twin && r->hi.twin;
    if (integral && r->step == 1) kloop_fix_window(L, r->lo.twin, r->hi.twin), fix_few(L, r->lo.twin, r->hi.twin);
    if (integral && r->step && r->step == floor(r->step) && fabs(r->step) < 0x1p31) return QS_OK;
    if (integral && !r->step && step.twin && step.unsigned_zero) return step_by(L, r, step), QS_OK;
    if (!r->step) r->by = step.v;
    return count_real_range(L, r), QS_OK;
}

/* Opens FOR and returns the counter. */
static Number open_for(Loops *L, const Range *r) {
    bool down = r->step < 0;
    Number lo = r->lo, hi = r->hi;
    if (r->by_count) {
        KRef step = r->step ? kloop_f64(L, r->step) : r->by;
        return kloop_num(kcounted_elements(&L->walk, QS_F64, r->lo.v, step, r->iterations));
    }
    KRef step = r->by ? r->by : kloop_i64(L, (int64_t)r->step);
    KRef runs = r->by ? 0 : kloop_op(L, K_LE, down ? hi.twin : lo.twin, down ? lo.twin : hi.twin);
    KRef i = kloop_emit(L, (KMake){K_FOR, .own = QS_I64, .a = lo.twin, .b = hi.twin, .c = step});
    if (runs) kbuild_know(&L->walk, runs, true); /* x[i-1] exists in `for j = 1..i` */
    Number n = kloop_from_int(L, i, down ? hi.lo : lo.lo, down ? lo.hi : hi.hi);
    if (r->by) n.lo = fmin(lo.lo, hi.lo), n.hi = fmax(lo.hi, hi.hi);
    if (lo.unsigned_zero || lo.lo > 0 || lo.hi < 0) return n;
    /* the first value of -r..r is -0 if r is 0 */
    n.v = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = kloop_op(L, K_EQ, i, lo.twin), .b = lo.v, .c = n.v});
    return n.unsigned_zero = false, n;
}

/* The range of int64 if r->whole holds. */
static Range whole_range(Loops *L, const Range *r) {
    static const double most = 0x1p49;
    Range c = {.step = r->step};
    KRef step = r->step ? kloop_i64(L, (int64_t)r->step) : kloop_cast(L, r->by, QS_I64);
    KRef first = kloop_cast(L, r->lo.v, QS_I64), steps = kloop_op(L, K_SUB, r->iterations, kloop_i64(L, 1));
    KRef last = kloop_op(L, K_ADD, first, kloop_op(L, K_MUL, steps, step));
    if (!r->step) c.by = step;
    c.lo = kloop_from_int(L, first, -most, most);
    c.lo.v = r->lo.v, c.lo.unsigned_zero = false;
    return c.hi = kloop_from_int(L, last, -most, most), c;
}

static KRef integral_condition(Walk *w, const Range *r) {
    const Loops *L = (const Loops *)w;
    return L->others || L->f->nins > LOOP_LONGEST / 4 ? 0 : r->integral;
}

typedef struct {
    Loops *L;
    const Node *loop;
    int nodes;
} BodyQuery;

static bool is_counter_of(const Node *n, void *ud) {
    const BodyQuery *q = ud;
    for (int i = 0; n->kind == N_IDENT && i < q->loop->u.loop.nvars; i++)
        if (n->u.ident.sym == q->loop->u.loop.syms[i]) return true;
    return false;
}

/* Whether n is the element of a short vector at an index that depends on a counter. */
static bool is_searched(const Node *n, void *ud) {
    BodyQuery *q = ud;
    const Node *base = n->kind == N_INDEX ? n->u.index.base : NULL;
    if (!base || base->kind != N_IDENT || !base->u.ident.sym) return false;
    const Var *v = kloop_var(q->L, base->u.ident.sym);
    bool vector = v && (v->kind == LOOP_VECTOR || (v->bound && v->val.what == WHAT_VECTOR));
    return vector && kquery_node(n->u.index.at, true, is_counter_of, ud);
}

static bool counts_node(const Node *n, void *ud) { return (void)n, ((BodyQuery *)ud)->nodes++, false; }

/* An element of a short vector with a known index is a value, while others are searched for.  So loops that use such
 * elements are unrolled, if that is not too long: all in functions of kernels.q, otherwise outside the perfect nest.
 * Very short loops are unrolled, too, because positions of a launch run in vectors only if no loop is inside. */
static int count_unrolled(Walk *w, const Node *n, const Range *r) {
    enum { MOST_NODES = 1024, FEW_NODES = 128, MOST_INSTRUCTIONS = 1 << 11 };
    Loops *L = (Loops *)w;
    BodyQuery q = {.L = L, .loop = n}, size = q;
    NodeList body = n->u.loop.body;
    double lo, hi;
    bool known = r->step && !r->by_count && !r->items && kloop_known(L, r->lo, &lo) && kloop_known(L, r->hi, &hi);
    if (!known || L->f->nins > LOOP_LONGEST || kquery_node(body, false, kquery_is_leaving, NULL)) return -1;
    double count = fmax(floor((hi - lo) / r->step) + 1, 0);
    if (count > LOOP_VECTOR_MAX) return -1;
    if (L->library) return (int)count;
    if (is_nested(L) || L->module || L->f->nins > MOST_INSTRUCTIONS || kquery_node(body, true, kquery_is_exit, NULL))
        return -1;
    (void)kquery_node(body, true, counts_node, &size);
    int most = kquery_node(body, true, is_searched, &q) ? MOST_NODES : count <= FEW ? FEW_NODES : 0;
    return size.nodes * count <= most ? (int)count : -1;
}

static void set_iteration(Walk *w, const Range *r, int k, Value *out) {
    double first = 0;
    (void)kloop_known((Loops *)w, r->lo, &first);
    *out = (Value){.what = WHAT_NUMBER, .num = kloop_const((Loops *)w, first + k * r->step)};
}

/* The counter of an axis of the parallel launch. */
static Number axis_counter(Loops *L, const Range *r, int axis) {
    KRef pos = kbuild_pure(&L->walk, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)axis});
    KRef i = kloop_op(L, K_ADD, r->lo.twin, kloop_op(L, K_MUL, pos, kloop_i64(L, (int64_t)r->step)));
    bool down = r->step < 0;
    return kloop_from_int(L, i, down ? r->hi.lo : r->lo.lo, down ? r->lo.hi : r->hi.hi);
}

/* The range of one chunk. */
static Range chunk_of(Loops *L, const Range *r) {
    Range c = *r;
    Str *name = qstr_cname(L->c, "chunk");
    KRef length = kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_CHUNK, 0}), step = kloop_i64(L, (int64_t)r->step);
    KRef pos = kbuild_pure(&L->walk, (KMake){K_POS, .own = QS_I64});
    KRef first = kloop_op(L, K_ADD, r->lo.twin, kloop_op(L, K_MUL, kloop_op(L, K_MUL, pos, length), step));
    KRef last = kloop_op(L, K_ADD, first, kloop_op(L, K_MUL, kloop_op(L, K_SUB, length, kloop_i64(L, 1)), step));
    c.lo.twin = first, c.hi.twin = kloop_op(L, r->step < 0 ? K_MAX : K_MIN, last, r->hi.twin);
    return c;
}

/* Records the next level of the perfect nest and returns its number; -1: not part of the nest. */
static int note_level(Loops *L, const Range *r, uint32_t pos) {
    if (!is_nested(L)) return -1;
    L->level[L->nlevels] =
        (Level){.first = r->lo.twin, .last = r->hi.twin, .step = r->step, .by_count = r->by_count || r->by, .pos = pos};
    return L->nlevels++;
}

/* Opens a loop: as positions of the launch, a chunk of iterations, or FOR. */
static qs_status open_counter(Loops *L, CountedLoop *t, const Range *range, Value *out) {
    const Node *n = t->node;
    int level = note_level(L, range, n->pos);
    bool parallel = L->mode == MODE_PARALLEL && level >= 0 && level < L->axes;
    t->position = parallel && !L->chunked, t->chunk = parallel && L->chunked;
    *out = (Value){.what = WHAT_NUMBER};
    if (t->position) {
        out->num = axis_counter(L, range, level);
        return L->level[level].counter = out->num.twin, QS_OK;
    }
    bool integral = t->version == VERSION_INTEGRAL;
    Range r = t->chunk ? chunk_of(L, range) : integral ? whole_range(L, range) : *range;
    L->versions += t->version != VERSION_ONLY, L->others += t->version == VERSION_OTHER;
    if (t->chunk) L->chunk_last = r.hi.twin;
    t->start = L->f->nins;
    kloop_forget(L, n);
    out->num = open_for(L, &r);
    if (level == 0) L->body = L->block;
    if (n == L->job->loop) L->counter[t->i] = out->num.twin;
    if (level >= 0) L->level[level].counter = range->by_count || range->by ? 0 : out->num.twin;
    t->runs = t->chunk || surely_runs(L, range - t->i, n->u.loop.nvars); /* the whole list of ranges */
    return QS_OK;
}

static qs_status open_range(Walk *w, CountedLoop *t, const Range *range, Value *out) {
    Loops *L = (Loops *)w;
    LoopSteps steps = {.n = 0};
    bool unit = fabs(range->step) == 1 && !range->by_count && t->node->u.loop.nvars == 1;
    if (unit) TRY(kloop_find_steps(L, t->node, &steps));
    TRY(open_counter(L, t, range, out));
    if (steps.n) {
        KRef first = range->lo.twin, i = out->num.twin;
        bool down = range->step < 0;
        TRY(kloop_set_steps(L, &steps, kloop_op(L, K_SUB, down ? first : i, down ? i : first)));
    }
    return range->items ? kloop_element(L, range->items, out->num, out) : QS_OK;
}

static qs_status bind_counter(Walk *w, const Node *n, int i, Value *x) {
    Loops *L = (Loops *)w;
    const Sym *sym = n->u.loop.syms[i];
    Var *v = kloop_var(L, sym);
    if (!v) return kloop_decline(L, n->pos, "the counter %s", sym->name->s);
    bool is_int = n->u.loop.origin && sym->declared && v->kind == LOOP_INT; /* of a `while`, whose variable converts */
    if (is_int) x->num = kloop_int(kloop_twin(L, x->num), x->num.lo, x->num.hi);
    TRY(kloop_assign(L, v, x));
    if (!kquery_sets(n, sym)) v->bound = true, v->val = *x;
    return QS_OK;
}

/* Whether an inner loop runs in order, so that it gains if rows of the nest run together (wavefront.c). */
static bool has_chain_inside(const Loops *L, KRef outer) {
    for (KRef r = outer + 1; r < L->f->nins; r++)
        if (L->f->ins[r].op == K_FOR && !L->f->ins[r].flag) return true;
    return false;
}

/* Whether the FOR has no loops inside, and index tests that depend on values (index_tests.c). */
static bool has_tests(const Loops *L, KRef loop) {
    bool leaves = false;
    for (KRef r = loop + 1; r < L->f->nins; r++) {
        if (kir_is_loop(L->f->ins[r].op)) return false;
        leaves |= L->f->ins[r].op == K_BREAK;
    }
    return leaves;
}

static bool has_stores(const Loops *L, KRef loop) {
    for (KRef r = loop + 1; r < L->f->nins; r++)
        if (kir_is_memory(L->f->ins[r].op) && L->f->ins[r].op != K_LOAD) return true;
    return false;
}

/* Marks the FOR that begins at `start`, if its iterations are independent.  The exact version runs whatever arrays
 * overlap, so that nothing holds there if it stores elements. */
static void mark_independent(Loops *L, KRef start) {
    while (start < L->f->nins && L->f->ins[start].op != K_FOR) start++;
    if (start == L->f->nins || L->listed > start || (L->mode == MODE_EXACT && has_stores(L, start))) return;
    unsigned flag = kloop_is_independent(L, start)                      ? KFLAG_REASSOC
                    : kloop_stores_fixed(L, start)                      ? KFLAG_FIXED
                    : has_chain_inside(L, start) || has_tests(L, start) ? KFLAG_APART
                                                                        : 0;
    if (flag) L->f->ins[start].flag = (uint16_t)flag, L->reorders = true;
}

static qs_status close_range(Walk *w, CountedLoop *t) {
    Loops *L = (Loops *)w;
    kloop_var(L, t->node->u.loop.syms[t->i])->bound = false;
    L->versions -= t->version != VERSION_ONLY, L->others -= t->version == VERSION_OTHER;
    kloop_leave_list(L, t->node);
    if (t->i == 0 && !t->position && !L->module && !L->library) kloop_free_order(L, t->node, t->start);
    if (!t->position && !L->module) mark_independent(L, t->start);
    return QS_OK;
}

static qs_status count_items(Walk *w, Node *n, Range *out, bool *counted) {
    Loops *L = (Loops *)w;
    Value v;
    TRY(kloop_expr(L, n->u.loop.ranges[0], &v));
    L->pos = n->u.loop.ranges[0]->pos;
    *out = (Range){0};
    return *counted = true, range_of_items(L, n, &v, out);
}

static const NestRules nest_rules = {.range_size = sizeof(Range),
                                     .entered = get_root_ranges,
                                     .range = range_of,
                                     .integral = integral_condition,
                                     .elements = count_items,
                                     .unrolled = count_unrolled,
                                     .iteration = set_iteration,
                                     .open = open_range,
                                     .bind = bind_counter,
                                     .close = close_range};

/* Ends the code; the interpreter continues at the statement n. */
static void leave_at(Loops *L, const Node *n) {
    kbuild_set(&L->walk, L->returned, kloop_f64(L, (double)n->pos + 1));
    for (int i = 0; i < QS_MAX_RANK && L->left_counter[i]; i++)
        kbuild_set(&L->walk, L->left_counter[i], kloop_cast(L, L->counter[i], QS_F64));
    kbuild_leave(&L->walk, K_BREAK, 1);
}

static qs_status return_outermost(Walk *w, const Node *n) {
    Loops *L = (Loops *)w;
    if (L->mode == MODE_PARALLEL) return kloop_decline(L, n->pos, "a return from inside the loop");
    return leave_at(L, n), QS_OK;
}

static qs_status begin_statement(Walk *w, const Node *n) {
    Loops *L = (Loops *)w;
    if (L->in != L->root || !(L->scans ? kloop_is_rare : kloop_is_left)(L->job, n)) return QS_OK;
    if (L->scans) return kloop_reach_unless(L, kbuild_int(&L->walk, QS_B1, 0)), L->left = true, QS_OK;
    if (L->mode == MODE_PARALLEL) return kloop_decline(L, n->pos, "the interpreter executes this statement");
    return leave_at(L, n), L->left = true, QS_OK;
}

static void note_failed(Walk *w, const Node *n) {
    Loops *L = (Loops *)w;
    bool fits = L->mode == MODE_EXACT && !L->module && !L->failed && kloop_may_leave(L->job, n);
    if (fits) L->failed = n;
}

void kloop_exit_unless(Loops *L, KRef holds, const Node *n) {
    double k;
    bool known = kir_is_const(L->f, holds, &k);
    if (known && k == 0) {
        L->loose++, L->rare++, L->loose_pos = n->pos;
        leave_at(L, n);
        return;
    }
    if (!L->loose++) L->loose_pos = n->pos;
    L->rare++;
    kloop_flow(L, K_IF, kloop_not(L, holds));
    leave_at(L, n);
    kloop_flow(L, K_END, 0);
}

/* Checks that all results that the caller uses have a value where the function ends. */
static qs_status end_function(Walk *w, uint32_t pos) {
    Loops *L = (Loops *)w;
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

/* -- the rules ----------------------------------------------------------------------------------------------------- */
static qs_status lower_statement(Walk *w, Node *n) {
    Loops *L = (Loops *)w;
    Value ignored;
    switch ((NodeKind)n->kind) {
    case N_BREAK:
    case N_CONTINUE: return kloop_decline(L, n->pos, "the loop may end early");
    case N_DECL: return QS_OK;
    case N_PRINT: return kloop_decline(L, n->pos, "print; do it in a branch that is seldom taken, or after the loop");
    case N_TRY:
        return kloop_decline(L, n->pos, "try; do it in a branch that is seldom taken, or put the loop into the try");
    case N_FUNC: return kloop_decline(L, n->pos, "a function made in the loop");
    default: return kloop_expr(L, n, &ignored);
    }
}

static qs_status decline_loop(Walk *w, qs_status s, uint32_t pos, const char *sentence) {
    return (void)s, kloop_decline((Loops *)w, pos, "%s", sentence);
}

static void set_nothing(Value *out) { *out = (Value){.what = WHAT_NOTHING}; }
static bool is_nothing(const Value *v) { return v->what == WHAT_NOTHING; }

/* Called for a loop that ends by a condition. */
static void begin_loop(Walk *w, const Node *loop) {
    Loops *L = (Loops *)w;
    L->waits = true;
    kloop_forget(L, loop);
}

const WalkRules kloop_rules = {
    .call = &kloop_call_rules,
    .expr = &kloop_expr_rules,
    .nest = &nest_rules,
    .place = &kloop_place_rules,
    .value_size = sizeof(Value),
    .fail = decline_loop,
    .nothing = set_nothing,
    .is_nothing = is_nothing,
    .count = count_elements,
    .spread = spread_elements,
    .equal = equal_pattern,
    .set_name = set_name,
    .set_element = kloop_store,
    .set_field = set_field,
    .update_element = kloop_update,
    .combine = combine_values,
    .statement = lower_statement,
    .return_outermost = return_outermost,
    .loop_begins = begin_loop,
    .statement_begins = begin_statement,
    .statement_failed = note_failed,
    .counted_while = kloop_counted_while,
    .loop_body = kloop_lower_body,
    .function_ends = end_function,
    .save = kloop_save,
    .restore = kloop_restore,
    .join = kloop_join,
};
