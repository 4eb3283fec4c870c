/* loop_guard.c -- proves that an index is inside the array from the conditions around it.
 *
 *     if m > 0, y[m] = x[m-1]            m-1 >= 0, because m > 0
 *     j >= 0 && j < n ? x[j] : 0         0 <= j < n, whatever j is
 *     for j = 0..i, … x[i-j]             0 <= i-j <= i, whatever i is
 *
 * The conditions around an index are comparisons of integers, so each one says that some sum is not negative: m-1
 * here.  The lower end of an index is inside if the index is such a sum plus something that is not negative; the upper
 * end is inside if the same holds for size-1 minus the index.  The difference is usually a constant.  If not, for
 * example because the condition tests another array's size, it consists of counters and extents, and the guard knows
 * its least value.  A loop around the index says two such things of its counter, k - first and last - k.  They are used
 * by substitution, from the innermost counter outward: k is replaced by the bound that makes the sum least, which is a
 * sum of outer counters.  A bound min(a,b) may be replaced by a or by b if it limits the sum from the right side.
 *
 * These sums are sums of unbounded integers: expressions that may have wrapped are not used.  A float index is rounded
 * toward zero; a condition on the float that was true implies the same for the rounded index.  No comparison is true
 * for NaN except !=. */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <math.h>

enum { FACTS = 32, DEEP = 8 };
typedef struct {
    Rest that[FACTS];
    int n;
} Facts; /* facts of the form: if `given` >= 0, then `sum` >= 0 */

/* Whether the value is exactly the written sum, without wrapping. */
static bool is_exact(const Loops *L, KRef r, int depth) {
    const KIns *i = &L->f->ins[r];
    if (i->op != K_ADD && i->op != K_SUB && i->op != K_MUL && i->op != K_NEG) return true;
    if (kloop_is_wide(L, r) || !depth) return false;
    return is_exact(L, i->a, depth - 1) && (!i->b || is_exact(L, i->b, depth - 1));
}

static bool is_small(const Affine *a) {
    static const int64_t most_constant = (int64_t)1 << 40, most_factor = 1 << 20;
    bool small = a->constant >= -most_constant && a->constant <= most_constant;
    for (int i = 0; i < a->n; i++) small &= a->term[i].factor >= -most_factor && a->term[i].factor <= most_factor;
    return small;
}

static bool sum_of(const Loops *L, KRef r, Affine *out) {
    return is_exact(L, r, DEEP) && kaffine_of(L->f, r, out) && is_small(out);
}

static bool guard_knows(Loops *L, const Affine *a) {
    for (int i = 0; i < a->n; i++)
        if (!kloop_has_range(L, a->term[i].ref)) return false;
    return true;
}

/* -- known conditions ---------------------------------------------------------------------------------------------- */
/* A callback for a comparison `a op b` (LT, LE, EQ, NE) that is known to hold or not. */
typedef void ConditionFn(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds);
typedef struct {
    ConditionFn *fn;
    void *ud;
} ConditionCallback;

/* If r is `a && b` (either: `a || b`), where b is evaluated only if a holds (does not hold), as lower_guarded in
 * common_expr.c makes it: returns a and sets *b.  0: it is not. */
static KRef first_operand(const KFunc *f, KRef r, bool either, KRef *b) {
    KRef local = f->ins[r].a, a = f->ins[local].a, inverse = local + 1;
    const KIns *set = &f->ins[r - 2], *open = &f->ins[either ? local + 2 : local + 1];
    if (f->ins[r - 1].op != K_END || set->op != K_SET || set->a != local) return 0;
    if (f->ins[local].op != K_LOCAL || open->op != K_IF || open->a != (either ? inverse : a)) return 0;
    if (either && (f->ins[inverse].op != K_NOT || f->ins[inverse].a != a)) return 0;
    return *b = set->b, a;
}

static void visit_condition(Loops *L, const ConditionCallback *callback, KRef c, bool holds, int depth) {
    const KIns i = L->f->ins[c];
    KRef a = i.a, b = i.b;
    if (!depth) return;
    if (i.op == K_NOT) visit_condition(L, callback, a, !holds, depth - 1);
    if (i.op == K_GET) a = first_operand(L->f, c, !holds, &b);
    if (i.op == (holds ? K_AND : K_OR) || (i.op == K_GET && a))
        visit_condition(L, callback, a, holds, depth - 1), visit_condition(L, callback, b, holds, depth - 1);
    if (i.op >= K_LT && i.op <= K_NE) callback->fn(L, callback->ud, (KOp)i.op, a, b, holds);
}

static void visit_known_conditions(Loops *L, ConditionFn *fn, void *ud) {
    const ConditionCallback callback = {fn, ud};
    for (const BlockScope *b = L->block; b; b = b->up)
        for (const Asked *a = b->asked; a; a = a->next) visit_condition(L, &callback, a->cond, a->holds, DEEP);
}

/* -- conditions on integers ---------------------------------------------------------------------------------------- */
/* Adds the fact b - a - least >= 0; with `differ`, it holds only if b - a >= 0. */
static void add_fact(Loops *L, Facts *to, KRef a, KRef b, int64_t least, bool differ) {
    Affine x;
    Rest r = {.given = {0}};
    if (to->n == FACTS || !sum_of(L, a, &x) || !sum_of(L, b, &r.sum) || !kaffine_add(&r.sum, &x, -1)) return;
    if (differ && !guard_knows(L, &r.sum)) return;
    if (differ) r.given = r.sum;
    r.sum.constant -= least;
    to->that[to->n++] = r;
}

static void note_int_fact(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds) {
    Facts *to = ud;
    bool equal = holds == (op == K_EQ);
    if (L->f->ins[a].dtype != QS_I64) return;
    if (op == K_LT) holds ? add_fact(L, to, a, b, 1, false) : add_fact(L, to, b, a, 0, false);
    else if (op == K_LE) holds ? add_fact(L, to, a, b, 0, false) : add_fact(L, to, b, a, 1, false);
    else add_fact(L, to, a, b, !equal, !equal), add_fact(L, to, b, a, !equal, !equal);
}

typedef struct {
    KRef x;
    bool above; /* an upper limit */
    bool found;
} Limit;

static bool is_limit(Loops *L, KRef r) {
    double k;
    if (kir_is_const(L->f, r, &k)) return fabs(k) <= (double)QINDEX_MOST;
    return kloop_guard_inside(L, r, kloop_i64(L, QINDEX_MOST), "an integer is very large");
}

static void note_limit(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds) {
    Limit *of = ud;
    if (of->found || L->f->ins[a].dtype != QS_I64 || (op != K_LT && op != K_LE)) return;
    KRef low = holds ? a : b, high = holds ? b : a;
    if (of->above ? low == of->x : high == of->x) of->found = is_limit(L, of->above ? high : low);
}

bool kloop_is_limited(Loops *L, KRef x, bool above) {
    Limit of = {.x = x, .above = above};
    visit_known_conditions(L, note_limit, &of);
    return of.found;
}

/* -- conditions on floats ------------------------------------------------------------------------------------------ */
/* The index `at` is x + offset, rounded toward zero. */
typedef struct {
    KRef x; /* a float, or an int */
    double offset;
    bool whole;   /* x is integral */
    bool rounds;  /* the index is round(x) + offset, not round(x + offset): x < n implies index <= n-1 + offset */
    bool number;  /* a condition says that x is not NaN */
    double least; /* the largest constant that a condition says x is not less than */
    Facts *to;
    KRef at;
} OfFloat;

/* Takes one constant off x. */
static void take_offset(const Loops *L, OfFloat *of) {
    const KIns *i = &L->f->ins[of->x];
    double k;
    if ((i->op != K_ADD && i->op != K_SUB) || !kir_is_const(L->f, i->b, &k) || fabs(k) > 0x1p40 || k != floor(k))
        return;
    of->x = i->a, of->offset += i->op == K_ADD ? k : -k, of->rounds = false;
}

/* An integral float expression as a sum of at most one unknown number and constants.  Two unknown numbers might have
 * lost digits before they cancel.  A single one is bounded by the array's size when the proof is done, so it is
 * exact. */
static bool whole_sum(const Loops *L, KRef r, Affine *out, int depth) {
    const KIns *i = &L->f->ins[r];
    Affine b;
    double k;
    *out = (Affine){0};
    if (kir_is_const(L->f, r, &k)) return fabs(k) < 0x1p40 && k == floor(k) && (out->constant = (int64_t)k, true);
    if (i->op == K_CAST && L->f->ins[i->a].dtype == QS_I64) return sum_of(L, i->a, out);
    if ((i->op != K_ADD && i->op != K_SUB) || !depth) return false;
    return whole_sum(L, i->a, out, depth - 1) && whole_sum(L, i->b, &b, depth - 1) && (!out->n || !b.n) &&
           kaffine_add(out, &b, i->op == K_ADD ? 1 : -1);
}

/* An upper bound of |r|, if the guard finds the parameters in *params not above 1e60; infinity: r may be NaN. */
static double find_most(const Loops *L, KRef r, int depth, KRef params[DEEP], int *n) {
    const KIns *i = &L->f->ins[r];
    double k, a, b;
    if (kir_is_const(L->f, r, &k)) return isnan(k) ? INFINITY : fabs(k);
    if (i->op == K_CAST && !qdtype_is_real((qs_dtype)L->f->ins[i->a].dtype)) return 0x1p64;
    if (i->op == K_PARAM && i->dtype == QS_F64 && *n < DEEP) return params[(*n)++] = r, 1e60;
    if (!depth || !i->a) return INFINITY;
    a = find_most(L, i->a, depth - 1, params, n);
    if (i->op == K_MATH && (i->flag == MF_sin || i->flag == MF_cos)) return a == INFINITY ? a : 1;
    if (kir_is_rounding(i)) return a + 1;
    if (i->op != K_ADD && i->op != K_SUB && i->op != K_MUL) return INFINITY;
    b = find_most(L, i->b, depth - 1, params, n);
    return a > 1e300 || b > 1e300 ? INFINITY : i->op == K_MUL ? a * b : a + b;
}

/* Lets the guard test that a parameter is a number, and not very large. */
static bool guard_param(Loops *L, KRef param) {
    KRef fine = kloop_op(L, K_LE, kloop_op(L, K_ABS, param, 0), kloop_f64(L, 1e60)), one = kloop_i64(L, 1);
    KRef at = kloop_op(L, K_SUB, kloop_cast(L, fine, QS_I64), one);
    for (uint32_t i = 0; i < L->nchecks; i++)
        if (L->checks[i].at == at && L->checks[i].n == one) return true;
    return kloop_guard_inside(L, at, one, "a number is not finite");
}

/* Whether r is a number.  *guarded: the guard tests it. */
static bool is_finite(Loops *L, KRef r, bool *guarded) {
    KRef params[DEEP];
    int n = 0;
    if (find_most(L, r, DEEP, params, &n) > 1e300) return false;
    for (int i = 0; i < n; i++)
        if (*guarded = true, !guard_param(L, params[i])) return false;
    return true;
}

/* Turns an order that does not hold into the one that does.  false: it is no order, or an operand may be NaN. */
static bool negate_comparison(Loops *L, KOp *op, KRef *a, KRef *b, bool holds) {
    bool guarded;
    if (holds) return *op != K_NE;
    if (*op != K_LT && *op != K_LE) return false;
    if (L->f->ins[*a].dtype != QS_I64 && !(is_finite(L, *a, &guarded) && is_finite(L, *b, &guarded))) return false;
    KRef first = *a;
    return *a = *b, *b = first, *op = *op == K_LT ? K_LE : K_LT, true;
}

static void note_least(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds) {
    OfFloat *of = ud;
    double k;
    if (!negate_comparison(L, &op, &a, &b, holds) || (a != of->x && b != of->x)) return;
    of->number = true;
    if (b != of->x || !kir_is_const(L->f, a, &k) || fabs(k) > 0x1p40) return;
    of->least = fmax(of->least, op == K_LT && of->whole ? floor(k) + 1 : k);
}

/* Adds the fact from x < n, x <= n: the rounded sum is at most n-1 + offset, n + offset. */
static void note_most(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds) {
    OfFloat *of = ud;
    Affine at;
    Rest r = {.given = {0}};
    if (!negate_comparison(L, &op, &a, &b, holds) || op == K_EQ || a != of->x || of->to->n == FACTS) return;
    bool sum = L->f->ins[b].dtype == QS_I64 ? sum_of(L, b, &r.sum) : whole_sum(L, b, &r.sum, DEEP);
    if (!sum || !sum_of(L, of->at, &at) || !kaffine_add(&r.sum, &at, -1)) return;
    r.sum.constant += (int64_t)of->offset - (op == K_LT && (of->rounds || !of->offset));
    of->to->that[of->to->n++] = r;
}

/* r without the limit that keeps a float index from wrapping; 0: it has no such limit, for example a minimum in the
 * program. */
static KRef unlimited(const KFunc *f, KRef r, KOp op, int64_t limit) {
    const KIns *i = &f->ins[r];
    double v;
    return i->op == op && kir_is_const(f, i->b, &v) && v == (double)limit ? i->a : 0;
}

/* The float that was limited and converted to an index (kloop_integral_index); 0: none. */
static KRef float_of(const KFunc *f, KRef at) {
    if (f->ins[at].op != K_CAST || !(at = unlimited(f, f->ins[at].a, K_MIN, QINDEX_MOST))) return 0;
    return unlimited(f, at, K_MAX, QINDEX_LEAST);
}

static void add_bounds_of(Loops *L, const OfFloat *index) {
    OfFloat of = *index;
    Rest r = {.given = {0}};
    visit_known_conditions(L, note_least, &of);
    if (of.least == -INFINITY || of.to->n == FACTS || !sum_of(L, of.at, &r.sum)) return;
    r.sum.constant -= (int64_t)(floor(of.least) + of.offset);
    of.to->that[of.to->n++] = r;
    if (of.least >= 0 && of.least + of.offset >= 0) visit_known_conditions(L, note_most, &of);
}

/* x: the float, that from which it was rounded, or the int from which it was converted. */
static void add_float_facts(Loops *L, OfFloat of) {
    const KIns *i = &L->f->ins[of.x];
    bool converted = i->op == K_CAST && L->f->ins[i->a].dtype == QS_I64;
    bool rounded = i->op == K_MATH && (i->flag == MF_trunc || i->flag == MF_floor);
    of.whole = i->dtype == QS_I64 || kloop_is_rounded(L, of.x), of.rounds |= of.whole;
    add_bounds_of(L, &of);
    if (converted || rounded) {
        of.x = i->a;
        add_float_facts(L, of);
    } else if (!of.offset) {
        take_offset(L, &of);
        if (of.offset) add_float_facts(L, of);
    }
}

bool kloop_is_number(Loops *L, KRef x, bool *guarded) {
    OfFloat of = {.x = x, .least = -INFINITY};
    *guarded = false;
    if (is_finite(L, x, guarded)) return true;
    *guarded = false;
    visit_known_conditions(L, note_least, &of);
    if (of.number) return true;
    take_offset(L, &of);
    return of.offset && kloop_is_number(L, of.x, guarded);
}

/* -- remainders ---------------------------------------------------------------------------------------------------- */
typedef struct {
    KRef x, y;
    bool divides;
} OfMultiple;

static bool is_remainder(const Loops *L, KRef r, KRef x, KRef y) {
    const KIns *i = &L->f->ins[r];
    double mask, k;
    if (i->op == K_MOD) return i->a == x && i->b == y;
    return i->op == K_AND && i->a == x && kir_is_const(L->f, i->b, &mask) && kir_is_const(L->f, y, &k) && mask == k - 1;
}

static void note_remainder(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds) {
    OfMultiple *of = ud;
    double k;
    if (L->f->ins[a].dtype != QS_I64 || (op != K_EQ && op != K_NE) || holds != (op == K_EQ)) return;
    of->divides |= is_remainder(L, a, of->x, of->y) && kir_is_const(L->f, b, &k) && k == 0;
    of->divides |= is_remainder(L, b, of->x, of->y) && kir_is_const(L->f, a, &k) && k == 0;
}

bool kloop_is_multiple(Loops *L, KRef x, KRef y, KRef cond, bool holds) {
    OfMultiple of = {.x = x, .y = y};
    const ConditionCallback callback = {note_remainder, &of};
    const KIns *i = &L->f->ins[x];
    if (cond) visit_condition(L, &callback, cond, holds, DEEP);
    if (i->op == K_SUB && is_remainder(L, i->b, i->a, y)) return true;
    if (i->op == K_MUL && (i->a == y || i->b == y)) return true;
    visit_known_conditions(L, note_remainder, &of);
    return of.divides;
}

/* -- proofs -------------------------------------------------------------------------------------------------------- */
/* Adds a proof; if there are too many, the longest is dropped. */
static void keep_rest(Proof *out, const Rest *rest) {
    int longest = 0;
    if (out->n < PROOF_RESTS) {
        out->rest[out->n++] = *rest;
        return;
    }
    for (int i = 1; i < out->n; i++)
        if (out->rest[i].sum.n > out->rest[longest].sum.n) longest = i;
    if (out->rest[longest].sum.n > rest->sum.n) out->rest[longest] = *rest;
}

static void prove_end(Loops *L, const Facts *facts, const Affine *sum, Proof *out) {
    for (int i = 0; i < facts->n && !out->sure; i++) {
        Rest rest = {.sum = *sum, .given = facts->that[i].given};
        if (!kaffine_add(&rest.sum, &facts->that[i].sum, -1) || (!rest.sum.n && rest.sum.constant < 0)) continue;
        if (!rest.sum.n && !rest.given.n && rest.given.constant >= 0) out->sure = true;
        else if (guard_knows(L, &rest.sum)) keep_rest(out, &rest);
    }
}

/* The values by one of which the term may be replaced, where the sum becomes least: 0: there are none. */
static int least_ends(const Loops *L, KRef term, bool positive, KRef ends[2]) {
    const KIns *i = &L->f->ins[term];
    double step;
    if (i->op == K_FOR && kir_is_const(L->f, i->c, &step) && step != 0)
        return ends[0] = positive == (step > 0) ? i->a : i->b, 1;
    if (i->op != (positive ? K_MAX : K_MIN) || i->dtype != QS_I64) return 0;
    return ends[0] = i->a, ends[1] = i->b, 2;
}

/* Proves that the sum is not negative by substituting the bounds of counters. */
static void prove_by_counters(Loops *L, const Affine *sum, Proof *out, int depth) {
    bool replaced = false;
    KRef ends[2];
    for (int i = sum->n; i-- > 0 && depth && !out->sure && !replaced;) {
        int64_t factor = sum->term[i].factor;
        int n = least_ends(L, sum->term[i].ref, factor > 0, ends);
        for (int k = 0; k < n; k++) {
            Affine end, least = *sum, this = {.n = 1, .term = {sum->term[i]}};
            if (!sum_of(L, ends[k], &end) || !kaffine_add(&least, &this, -1) || !kaffine_add(&least, &end, factor))
                continue;
            if (is_small(&least)) replaced = true, prove_by_counters(L, &least, out, depth - 1);
        }
    }
    if (replaced || out->sure) return;
    if (!sum->n && sum->constant >= 0) out->sure = true;
    else if (sum->n && guard_knows(L, sum)) keep_rest(out, &(Rest){.sum = *sum, .given = {0}});
}

/* The index as an exact sum.  The last additions of constants may wrap: if both ends of the sum are proven to be
 * inside, they have not.  This does not hold where a range replaces the proof of an end. */
static bool index_sum(const Loops *L, const Check *check, Affine *out) {
    KRef r = check->at;
    double k;
    for (const KIns *i = &L->f->ins[r]; !check->ranged && (i->op == K_ADD || i->op == K_SUB); i = &L->f->ins[r]) {
        if (!kir_is_const(L->f, i->b, &k)) break;
        r = i->a;
    }
    return is_exact(L, r, DEEP) && kaffine_of(L->f, check->at, out) && is_small(out);
}

void kloop_prove(Loops *L, Check *check) {
    Facts facts = {.n = 0};
    Affine low, high;
    visit_known_conditions(L, note_int_fact, &facts);
    KRef x = float_of(L->f, check->at);
    if (x) add_float_facts(L, (OfFloat){.x = x, .least = -INFINITY, .to = &facts, .at = check->at});
    if (!index_sum(L, check, &low) || !sum_of(L, check->n, &high) || !kaffine_add(&high, &low, -1)) return;
    high.constant--;
    prove_end(L, &facts, &low, &check->low);
    prove_end(L, &facts, &high, &check->high);
    prove_by_counters(L, &low, &check->low, DEEP);
    prove_by_counters(L, &high, &check->high, DEEP);
}
