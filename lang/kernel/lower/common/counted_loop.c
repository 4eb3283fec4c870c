/* counted_loop.c -- lowers `for`: nested counters, with the body in the innermost one.
 *
 * The compilers define the values of a counter (struct Range): kernels count in 32 bits; host loops count exactly as
 * the interpreter does, and may replace iterations by the positions of a launch. */
#include "lang/kernel/lower/common/common.h"

#include <math.h>

/* -- trip counts --------------------------------------------------------------------------------------------------- */
KRef kcounted_iterations(Walk *w, qs_dtype d, KRef lo, KRef step, KRef hi) {
    bool wide = d == QS_F64;
    KRef zero = kbuild_const(w, d, 0), one = kbuild_const(w, d, 1), far = kbuild_op(w, K_ABS, lo, 0);
    KRef unit = kbuild_const(w, d, wide ? QDTYPE_RANGE_UNIT : QDTYPE_RANGE_UNIT32);
    KRef most = kbuild_const(w, d, wide ? QDTYPE_RANGE_SLACK : QDTYPE_RANGE_SLACK32);
    KRef size = kbuild_op(w, K_MAX, far, kbuild_op(w, K_ABS, hi, 0));
    KRef slack =
        kbuild_op(w, K_MIN, kbuild_op(w, K_DIV, kbuild_op(w, K_MUL, unit, size), kbuild_op(w, K_ABS, step, 0)), most);
    KRef q = kbuild_op(w, K_DIV, kbuild_op(w, K_SUB, hi, lo), step);
    KRef up = kbuild_math(w, MF_ceil, q), hit = kbuild_op(w, K_LT, kbuild_op(w, K_SUB, up, q), slack);
    KRef last = kbuild_pure(w, (KMake){K_SELECT, .a = hit, .b = up, .c = kbuild_math(w, MF_floor, q)});
    KRef n = kbuild_op(w, K_ADD, last, one); /* may be NaN: no iterations */
    KRef some = kbuild_op(w, K_AND, kbuild_op(w, K_NE, step, zero), kbuild_op(w, K_LT, zero, n));
    some = kbuild_op(w, K_AND, some, kbuild_op(w, K_LT, far, kbuild_const(w, d, INFINITY)));
    return kbuild_pure(w, (KMake){K_SELECT, .a = some, .b = n, .c = zero});
}

KRef kcounted_elements(Walk *w, qs_dtype d, KRef lo, KRef step, KRef iterations) {
    qs_dtype t = (qs_dtype)w->f->ins[iterations].dtype;
    KRef zero = kbuild_int(w, t, 0), one = kbuild_int(w, t, 1);
    KRef k = kbuild_emit(w, (KMake){K_FOR, .own = t, .a = zero, .b = kbuild_op(w, K_SUB, iterations, one), .c = one});
    KRef next = kbuild_op(w, K_ADD, lo, kbuild_op(w, K_MUL, kbuild_pure(w, (KMake){K_CAST, .own = d, .a = k}), step));
    /* the first element is lo itself, also if it is -0 or the step is infinite */
    return kbuild_pure(w, (KMake){K_SELECT, .a = kbuild_op(w, K_EQ, k, zero), .b = lo, .c = next});
}

/* -- nests --------------------------------------------------------------------------------------------------------- */
static struct Range *range_at(const Walk *w, struct Range *list, int i) {
    return (struct Range *)((char *)list + (size_t)i * w->rules->nest->range_size);
}

/* Lowers the bounds of `count` ranges from one range node. */
static qs_status ranges_of(Walk *w, Node *n, int count, struct Range *out) {
    const NestRules *rules = w->rules->nest;
    RangeEnds b;
    if (n->kind != N_RANGE)
        return kcall_fail(w, QS_ETYPE, n->pos,
                          "several loop variables need a range a..b, or one variable and its elements");
    TRY(kstmt_bounds(w, n, count, &b));
    w->pos = n->pos;
    for (int i = 0; i < count; i++) {
        if (i > 0 && !b.differ) memcpy(range_at(w, out, i), out, rules->range_size);
        else TRY(rules->range(w, n, &b, i, range_at(w, out, i)));
    }
    return QS_OK;
}

static qs_status lower_counter(Walk *w, Node *n, struct Range *ranges, int i);

static qs_status lower_body(Walk *w, struct Range *ranges, CountedLoop *t, struct Val *counter) {
    Node *n = t->node;
    TRY(w->rules->nest->bind(w, n, t->i, counter));
    TRY(t->i == n->u.loop.nvars - 1 ? kstmt_loop_body(w, n) : lower_counter(w, n, ranges, t->i + 1));
    return w->rules->nest->close ? w->rules->nest->close(w, t) : QS_OK;
}

/* Lowers an iteration that is a position of a launch: `continue` leaves a LOOP of one iteration around it. */
static qs_status lower_position(Walk *w, struct Range *ranges, CountedLoop *t, struct Val *counter) {
    bool innermost = t->i == t->node->u.loop.nvars - 1;
    if (!innermost || !kquery_node(t->node->u.loop.body, false, kquery_is_leaving, NULL))
        return lower_body(w, ranges, t, counter);
    kbuild_once(w);
    kstmt_enter_loop(w, &t->frame);
    t->frame.cont_breaks = true, t->frame.brk = 0;
    TRY(lower_body(w, ranges, t, counter));
    if (!w->left) kstmt_add_way(w, &t->frame.next), kbuild_flow(w, K_BREAK, 0);
    kstmt_leave_loop(w);
    return kstmt_restore(w, t->frame.next.sure), QS_OK;
}

static qs_status lower_version(Walk *w, Node *n, struct Range *ranges, int i, CounterVersion version) {
    CountedLoop t = {.node = n, .i = i, .version = version};
    const Exits *outer = w->exits;
    struct Val *counter = kval_new(w, 1);
    bool *before = kstmt_save(w);
    TRY(w->rules->nest->open(w, &t, range_at(w, ranges, i), counter));
    if (t.position) return lower_position(w, ranges, &t, counter);
    kstmt_enter_loop(w, &t.frame);
    /* `break` leaves all counters */
    if (i > 0) t.frame.brk = outer ? outer->brk : 0, t.frame.out = outer ? outer->out : NULL;
    if (t.chunk) t.frame.brk = 0;
    TRY(lower_body(w, ranges, &t, counter));
    if (t.runs && !w->left) kstmt_add_way(w, &t.frame.next);
    kstmt_leave_loop(w);
    if (t.runs && i == 0) kstmt_meet_exits(w, &t.frame);
    else kstmt_restore(w, t.runs ? t.frame.next.sure : before);
    return QS_OK;
}

/* Lowers the body once for each iteration. */
static qs_status lower_unrolled(Walk *w, Node *n, struct Range *ranges, int i, int iterations) {
    CountedLoop t = {.node = n, .i = i, .position = true, .runs = true};
    for (int k = 0; k < iterations; k++) {
        struct Val *counter = kval_new(w, 1);
        w->rules->nest->iteration(w, range_at(w, ranges, i), k, counter);
        TRY(lower_body(w, ranges, &t, counter));
    }
    return QS_OK;
}

static qs_status lower_counter(Walk *w, Node *n, struct Range *ranges, int i) {
    const NestRules *rules = w->rules->nest;
    int unrolled = rules->unrolled ? rules->unrolled(w, n, range_at(w, ranges, i)) : -1;
    if (unrolled >= 0) return lower_unrolled(w, n, ranges, i, unrolled);
    KRef integral = rules->integral ? rules->integral(w, range_at(w, ranges, i)) : 0;
    Ways after = {0};
    if (!integral) return lower_version(w, n, ranges, i, VERSION_ONLY);
    bool *before = kstmt_save(w);
    kbuild_flow(w, K_IF, integral);
    TRY(lower_version(w, n, ranges, i, VERSION_INTEGRAL));
    kstmt_add_way(w, &after);
    kstmt_restore(w, before);
    kbuild_flow(w, K_ELSE, 0);
    TRY(lower_version(w, n, ranges, i, VERSION_OTHER));
    kstmt_add_way(w, &after);
    kbuild_end(w);
    return kstmt_restore(w, after.sure), QS_OK;
}

/* Lowers for [m,n] = 0..size(x,0..1)-1, or with one range for each counter. */
qs_status kcounted_lower(Walk *w, Node *n) {
    const NestRules *rules = w->rules->nest;
    int nvars = n->u.loop.nvars, of = n->u.loop.nranges == nvars ? 1 : nvars;
    bool known = false;
    if (nvars > QS_MAX_RANK) return kcall_fail(w, QS_ESHAPE, n->pos, "more than %d loop variables", QS_MAX_RANK);
    struct Range *ranges = qarena_alloc(w->arena, qmem_size((size_t)nvars, rules->range_size, 0));
    if (rules->entered) TRY(rules->entered(w, n, ranges, &known));
    if (!known && nvars == 1 && n->u.loop.ranges[0]->kind != N_RANGE) {
        TRY(rules->elements(w, n, ranges, &known));
        if (!known) return QS_OK;
    }
    for (int i = 0; !known && i < nvars; i += of) TRY(ranges_of(w, n->u.loop.ranges[i], of, range_at(w, ranges, i)));
    w->pos = n->pos;
    return lower_counter(w, n, ranges, 0);
}
