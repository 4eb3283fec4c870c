/* opt.c -- splits a kernel into an interior without index tests, a border and edges; see opt.h.
 *
 * Interior and border.  An access near position p reads x[p0-1, p1+2] through index tests: INB (0 outside) or BOUND
 * (mirror, reflect, circular, clamped).  A test is considered if its index is an affine function of one position axis,
 * of values that the launch determines, and of loop counters between such values.  The positions where such a test
 * cannot fail form an interval.  The intersection of all intervals is the box.  In the box the tests are dropped,
 * and so are the guards of loads and stores, which allows the loop to be vectorized.
 *
 * Clamps.  MIN and MAX of such an index and of a value that the launch determines limit the box, too, if only few
 * positions at the ends of an axis are lost: x[max(0,p-1)], for k = max(0,p-r)..min(n-1,p+r).  In the box they are the
 * index, so a loop over a clipped window has a known length.
 *
 * Conditions.  A comparison with the counter of a window, `j+d < n` for d = -2..2, has one value in the box under the
 * same limit.  A branch that it decides has no test.
 *
 * Safety.  In the box memory is accessed without a test, so the computation of the box must not be affected by
 * wrapping.  Factors, positions and loop counters are limited to ranges in which nothing can wrap, and `ok` tests
 * at launch time the limits that are not known earlier. */
#include "lang/kernel/passes/opt.h"
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <string.h>

enum {
    MAX_FACTOR = 1 << 16,
    MAX_LIMITS = 64,
    MAX_VISITS = 256 /* instructions visited for one test */,
    COPIES = 4,
    SHORT_BODY = 40 /* instructions */,
    MAX_DISTANCE = 32,
    MAX_PAD = 4096 /* elements */,
    WIDE_BORDER = 6, /* columns at both ends: for fewer, another copy of the kernel does not pay */
    ANY_MODE = -2
};
static const int64_t far_position = (int64_t)1 << 40, far_offset = (int64_t)1 << 50;

typedef struct {
    Affine lo, hi;
} Range; /* bounds of a value, both included */

typedef struct {
    Affine first, span;
} Ends; /* the first counter, and the distance of the last one, which all positions share */

/* factor · POS[axis] + sum >= 0 for every position of the box; axis -1: a condition on the launch */
typedef struct {
    int axis;
    int64_t factor;
    Affine sum;
} Limit;

/* own: the condition of a branch; all: with those around it */
typedef struct {
    KRef own, all;
} Condition;

/* A loop that positions leave one by one, or the function. */
typedef struct {
    KRef loop;         /* LOOP or FOR of f; 0: the function */
    KRef inside;       /* LOCAL of g: this position is still in it */
    int first;         /* index of its condition in cond */
    int left;          /* number of the outermost region that a jump from inside of it leaves, or of this one */
    bool continued;    /* positions that have executed a CONTINUE are inside, but miss the rest of the iteration */
    Condition *around; /* the conditions around it, as they are before it */
} Together;

typedef struct {
    const KFunc *f;
    uint8_t *fixed; /* by instruction: the launch determines its value (2: yes, 1: no, 0: not computed yet) */
    uint8_t *sure;  /* by instruction: a test that cannot fail in the box, or a comparison with one value (Sure) */
    uint8_t *feeds; /* by instruction: Feeds */
    KRef *clamped;  /* by MIN or MAX: the operand that is its value in the box, or 0 */
    Ends **ends_of; /* by FOR of ints: its ends in the box, or NULL */
    KRef *wide;     /* by such a FOR: its counter as int64, of g */
    Arena *arena;
    bool clamps;  /* there are such MINs and MAXs */
    bool outside; /* ranges hold outside of the box, too */
    Limit limit[MAX_LIMITS];
    int nlimits;
    Affine ends[MAX_LIMITS];
    int nends; /* ends of int64 loop counters, which must be far from wrapping */
    int visits;
    bool rows; /* BOUNDs of outer axes stay: they cost time once per row */
    KFunc *g;
    KRef *map;                           /* instruction of f -> of g */
    uint8_t *flat;                       /* Flat: how an instruction is copied */
    Condition cond[KIR_MAX_NESTING + 1]; /* open flattened branches and loops */
    int nconds;
    Together
        together[KIR_MAX_NESTING + 1]; /* open loops that positions run together, from the function on if they return */
    int ntogether;
    KRef *prologue;   /* instruction of f -> its copy in the prologue, of g */
    KRef (*at)[2];    /* by LOAD or ATOMIC of an array with a pad: row and column, inside or outside; else 0 */
    uint8_t *live;    /* by instruction of f: the code for edges needs it */
    const KPad *pads; /* the pads while the code for edges is generated; else NULL */
} Splitter;

/* The uses of an integer: the index of an element, the bound of a loop. */
typedef enum { FEEDS_INDEX = 1, FEEDS_BOUND = 2 } Feeds;

typedef enum { SURE_HOLDS = 1, SURE_FAILS = 2 } Sure;

static const KIns *get_ins(const Splitter *s, KRef r) { return &s->f->ins[r]; }

/* -- values that the launch determines ----------------------------------------------------------------------------- */
static bool is_fixed(Splitter *s, KRef r) {
    if (!r) return true;
    if (s->fixed[r]) return s->fixed[r] == 2;
    const KIns *i = get_ins(s, r);
    bool pure = kir_ops[i->op].effect == KE_PURE && i->op != K_POS && i->op != K_BLKPOS && i->op != K_BLKIDX &&
                i->op != K_BOUND && i->op != K_MATH;
    bool yes = pure && is_fixed(s, i->a) && is_fixed(s, i->b) && is_fixed(s, i->c);
    s->fixed[r] = yes ? 2 : 1;
    return yes;
}

static bool fixed_by_launch(void *self, KRef r) { return is_fixed(self, r); }

/* -- ranges -------------------------------------------------------------------------------------------------------- */
static bool range_of(Splitter *s, KRef r, Range *out);
static bool add_limit(Splitter *s, const Affine *sum);

static void exactly(Range *out, KRef r) {
    out->lo = (Affine){.n = 1}, out->lo.term[0].ref = r, out->lo.term[0].factor = 1;
    out->hi = out->lo;
}

static bool between(Range *out, int64_t lo, int64_t hi) {
    out->lo = (Affine){.constant = lo}, out->hi = (Affine){.constant = hi};
    return true;
}

static bool add_range(Range *a, const Range *b, int64_t factor) {
    bool up = factor >= 0;
    return kaffine_add(&a->lo, up ? &b->lo : &b->hi, factor) && kaffine_add(&a->hi, up ? &b->hi : &b->lo, factor);
}

static bool sum_range(Splitter *s, const KIns *i, int64_t factor, Range *out) {
    Range b;
    return range_of(s, i->a, out) && range_of(s, i->b, &b) && add_range(out, &b, factor);
}

static bool scaled_range(Splitter *s, KRef x, KRef by, Range *out) {
    Range a;
    if (get_ins(s, by)->op != K_CONST) return false;
    int64_t factor = (int64_t)get_ins(s, by)->imm;
    if (factor > MAX_FACTOR || factor < -MAX_FACTOR || !range_of(s, x, &a)) return false;
    between(out, 0, 0);
    return add_range(out, &a, factor);
}

/* Records an end of a loop counter.  A counter between ends that are far from wrapping can be scaled. */
static bool keep_end(Splitter *s, const Affine *a) {
    if (s->nends == MAX_LIMITS) return false;
    s->ends[s->nends++] = *a;
    return true;
}

static bool counter_range(Splitter *s, KRef r, Range *out) {
    const KIns *i = get_ins(s, r), *step = get_ins(s, i->c);
    Range a, b;
    if (step->op != K_CONST || (int64_t)step->imm == 0 || !range_of(s, i->a, &a) || !range_of(s, i->b, &b))
        return false;
    bool up = (int64_t)step->imm > 0;
    out->lo = up ? a.lo : b.lo, out->hi = up ? b.hi : a.hi;
    return i->dtype != QS_I64 || (keep_end(s, &out->lo) && keep_end(s, &out->hi));
}

static bool element_range(const Splitter *s, const KIns *i, Range *out) {
    qs_dtype d = (qs_dtype)s->f->params[i->imm].dtype;
    double lo, hi;
    if (!qdtype_is_int(d) || qdtype_size(d) > 2) return false;
    qdtype_int_span(d, &lo, &hi);
    return between(out, (int64_t)lo, (int64_t)hi);
}

/* Limits the box to positions where the int value does not wrap. */
static bool fits_int(Splitter *s, const Range *r) {
    Affine low = r->lo, room = {.constant = INT32_MAX};
    low.constant -= INT32_MIN;
    return kaffine_add(&room, &r->hi, -1) && add_limit(s, &low) && add_limit(s, &room);
}

/* Finds the bounds of r, which is int or int64. */
static bool range_of(Splitter *s, KRef r, Range *out) {
    const KIns *i = get_ins(s, r), *by = get_ins(s, i->b);
    bool done = false;
    if (++s->visits > MAX_VISITS) return false;
    if (s->clamped[r] && !s->outside) return range_of(s, s->clamped[r], out);
    switch ((KOp)i->op) {
    case K_CONST: return between(out, (int64_t)i->imm, (int64_t)i->imm);
    case K_POS: exactly(out, r); return true;
    case K_ADD: done = sum_range(s, i, 1, out); break;
    case K_SUB: done = sum_range(s, i, -1, out); break;
    case K_MUL: done = scaled_range(s, i->a, i->b, out) || scaled_range(s, i->b, i->a, out); break;
    case K_CAST: done = get_ins(s, i->a)->dtype == QS_I32 && range_of(s, i->a, out); break;
    default: break;
    }
    if (done && i->dtype == QS_I32) done = fits_int(s, out);
    if (done) return true;
    if (is_fixed(s, r)) {
        exactly(out, kaffine_leader(s->f, r));
        return true;
    }
    switch ((KOp)i->op) {
    case K_FOR: return counter_range(s, r, out);
    case K_LOAD: return element_range(s, i, out);
    case K_MOD: return by->op == K_CONST && (int64_t)by->imm > 0 && between(out, 0, (int64_t)by->imm - 1);
    case K_AND: return by->op == K_CONST && (int64_t)by->imm >= 0 && between(out, 0, (int64_t)by->imm);
    default: return false;
    }
}

/* -- limits -------------------------------------------------------------------------------------------------------- */
/* Moves the position out of the sum; false: there are two of them. */
static bool isolate(const Splitter *s, Limit *l) {
    int kept = 0;
    l->axis = -1, l->factor = 0;
    for (int i = 0; i < l->sum.n; i++) {
        const KIns *t = get_ins(s, l->sum.term[i].ref);
        if (t->op != K_POS) l->sum.term[kept++] = l->sum.term[i];
        else if (l->axis >= 0 && l->axis != (int)t->imm) return false;
        else l->axis = (int)t->imm, l->factor += l->sum.term[i].factor;
    }
    l->sum.n = kept;
    if (l->factor == 0) l->axis = -1;
    return l->factor <= MAX_FACTOR && l->factor >= -MAX_FACTOR;
}

static bool same_limit(const Limit *a, const Limit *b) {
    if (a->axis != b->axis || a->factor != b->factor || a->sum.n != b->sum.n) return false;
    for (int i = 0; i < a->sum.n; i++)
        if (a->sum.term[i].ref != b->sum.term[i].ref || a->sum.term[i].factor != b->sum.term[i].factor) return false;
    return true;
}

/* Adds a limit.  If limits differ only in the constant, the one with the smallest constant is kept. */
static bool add_limit(Splitter *s, const Affine *sum) {
    Limit l = {.sum = *sum};
    if (!isolate(s, &l)) return false;
    for (int i = 0; i < s->nlimits; i++)
        if (same_limit(&s->limit[i], &l)) {
            if (l.sum.constant < s->limit[i].sum.constant) s->limit[i].sum.constant = l.sum.constant;
            return true;
        }
    if (s->nlimits == MAX_LIMITS) return false;
    s->limit[s->nlimits++] = l;
    return true;
}

static bool equal_forms(const Affine *a, const Affine *b) {
    Affine d = *a;
    return kaffine_add(&d, b, -1) && d.n == 0 && d.constant == 0;
}

/* Adds the limits 0 <= index and index <= n - 1 of a test. */
static bool test_limits(Splitter *s, KRef test) {
    const KIns *i = get_ins(s, test);
    Range index, n;
    int limits = s->nlimits, ends = s->nends;
    s->visits = 0;
    if (range_of(s, i->a, &index) && range_of(s, i->b, &n) && is_fixed(s, i->b) && equal_forms(&n.lo, &n.hi)) {
        n.lo.constant--;
        if (kaffine_add(&n.lo, &index.hi, -1) && add_limit(s, &index.lo) && add_limit(s, &n.lo)) return true;
    }
    s->nlimits = limits, s->nends = ends;
    return false;
}

/* Returns the only axis on which the index of a test depends; -1: none, or several. */
static int axis_of(Splitter *s, KRef test) {
    Range index;
    s->visits = 0;
    if (!range_of(s, get_ins(s, test)->a, &index)) return -1;
    Limit l = {.sum = index.lo};
    return isolate(s, &l) ? l.axis : -1;
}

static bool is_test(uint8_t op) { return op == K_BOUND || op == K_INB; }

static bool tests_last_axis(Splitter *s) {
    for (KRef r = 1; r < s->f->nins; r++)
        if (is_test(get_ins(s, r)->op) && axis_of(s, r) == s->f->rank - 1) return true;
    return false;
}

/* Returns false if the last axis looks like colour channels: it is tested, but only at the position itself. */
static bool tests_neighbours(Splitter *s) {
    for (KRef r = 1; r < s->f->nins; r++)
        if (is_test(get_ins(s, r)->op) && axis_of(s, r) == s->f->rank - 1 && get_ins(s, get_ins(s, r)->a)->op != K_POS)
            return true;
    return false;
}

/* -- clamped indices and loops over clamped windows ---------------------------------------------------------------- */
static void find_feeds(Splitter *s) {
    for (KRef r = s->f->nins; --r;) {
        const KIns *i = get_ins(s, r);
        if (kir_is_memory(i->op)) s->feeds[i->a] |= FEEDS_INDEX;
        if (i->op == K_FOR) s->feeds[i->a] |= FEEDS_BOUND, s->feeds[i->b] |= FEEDS_BOUND;
        if (i->op == K_FOR || (kir_ops[i->op].effect == KE_PURE && qdtype_is_int((qs_dtype)i->dtype)))
            for (int k = 0; k < 3; k++) s->feeds[i->arg[k]] |= s->feeds[r];
    }
}

/* Returns whether `l` excludes only few positions, at the beginning or at the end of an axis.  Negative terms of l->sum
 * are distances, such as the radius of a window.  The launch is limited to distances with
 *
 *     l->sum.constant + MAX_DISTANCE + (sum of the negative terms) >= 0
 *
 * Other terms are the first value of a counter, and at the end of an axis the extent of an array.  constant: distances
 * must be constants, so a negative term is refused.  It is allowed once, with the factor -1, if l->factor is negative:
 * it is then the first value of the counter of a loop in the program. */
static bool limit_distance(Splitter *s, const Limit *l, bool constant) {
    Affine far = {.constant = l->sum.constant + MAX_DISTANCE};
    int first = constant && l->factor < 0;
    for (int i = 0; i < l->sum.n; i++) {
        Affine term = {.n = 1, .term = {l->sum.term[i]}};
        if (term.term[0].factor > 0 || (term.term[0].factor == -1 && first-- > 0)) continue;
        if (constant || !kaffine_add(&far, &term, 1)) return false;
    }
    if (l->axis < 0 || (!far.n && (l->sum.constant >= 0 || far.constant < 0))) return false;
    return !far.n || add_limit(s, &far);
}

/* Adds the limit that x is the value of the MIN or MAX of x and `end`.  An index that is clamped along an outer axis
 * stays, because it costs time only once per row. */
static bool limit_clamp(Splitter *s, KRef clamp, KRef x, KRef end) {
    Range inner, outer;
    bool low = get_ins(s, clamp)->op == K_MAX;
    s->visits = 0;
    if (!is_fixed(s, end) || is_fixed(s, x) || !range_of(s, x, &inner) || !range_of(s, end, &outer)) return false;
    Affine sum = low ? inner.lo : outer.lo;
    Limit l = {0};
    if (!equal_forms(&outer.lo, &outer.hi) || !kaffine_add(&sum, low ? &outer.lo : &inner.hi, -1)) return false;
    l.sum = sum;
    if (!isolate(s, &l) || (l.factor != 1 && l.factor != -1)) return false;
    bool bound = s->feeds[clamp] & FEEDS_BOUND;
    return (bound || l.axis == s->f->rank - 1) && limit_distance(s, &l, !bound || s->f->strict) && add_limit(s, &sum);
}

static bool try_clamp(Splitter *s, KRef clamp, KRef x, KRef end) {
    int limits = s->nlimits, ends = s->nends;
    if (limit_clamp(s, clamp, x, end)) return s->clamped[clamp] = x, s->clamps = true;
    return s->nlimits = limits, s->nends = ends, false;
}

static void find_clamp(Splitter *s, KRef r) {
    const KIns *i = get_ins(s, r);
    bool extreme = (i->op == K_MIN || i->op == K_MAX) && qdtype_is_int((qs_dtype)i->dtype);
    if (extreme && s->rows && s->feeds[r] && !try_clamp(s, r, i->a, i->b)) (void)try_clamp(s, r, i->b, i->a);
}

/* Finds the ends of a loop of ints around a position, and limits the box to positions where they do not wrap. */
static void find_ends(Splitter *s, KRef r) {
    const KIns *i = get_ins(s, r);
    Range a, b;
    int limits = s->nlimits, ends = s->nends;
    s->visits = 0;
    if (i->op != K_FOR || i->dtype != QS_I32 || !s->rows || !kir_steps_by_one(s->f, r) || is_fixed(s, i->a)) return;
    bool same = range_of(s, i->a, &a) && range_of(s, i->b, &b) && equal_forms(&a.lo, &a.hi) &&
                equal_forms(&b.lo, &b.hi) && kaffine_add(&b.lo, &a.lo, -1);
    for (int k = 0; k < b.lo.n && same; k++) same = is_fixed(s, b.lo.term[k].ref);
    if (same && a.lo.n) {
        s->ends_of[r] = qarena_alloc(s->arena, sizeof *s->ends_of[r]), s->clamps = true;
        *s->ends_of[r] = (Ends){a.lo, b.lo};
    } else s->nlimits = limits, s->nends = ends;
}

/* -- conditions of windows ----------------------------------------------------------------------------------------- */
/* Limits the box to positions where `high` - `low` >= least, if only few positions at an end of an axis are lost: at
 * the upper end, `high` has a positive term, which is taken for the extent. */
static bool limit_order(Splitter *s, const Range *low, const Range *high, int64_t least) {
    Limit l = {.sum = high->lo};
    if (!kaffine_add(&l.sum, &low->hi, -1)) return false;
    l.sum.constant -= least;
    const Affine sum = l.sum;
    if (!isolate(s, &l) || (l.factor != 1 && l.factor != -1)) return false;
    bool extent = l.factor > 0;
    for (int i = 0; i < l.sum.n; i++) extent |= l.sum.term[i].factor > 0;
    if (!extent) return false;
    return limit_distance(s, &l, true) && add_limit(s, &sum);
}

/* Whether the range has as many values in all launches; *one: it is a single value. */
static bool has_known_length(const Range *r, bool *one) {
    Affine length = r->hi;
    bool known = kaffine_add(&length, &r->lo, -1) && !length.n;
    return *one = known && !length.constant, known;
}

/* Finds the value that a comparison with the counter of a window has in the box: `j+d < n` holds for d = -2..2.  The
 * launch tests that neither side can wrap. */
static bool limit_comparison(Splitter *s, KRef r) {
    const KIns *i = get_ins(s, r);
    Range a, b;
    int limits = s->nlimits, ends = s->nends;
    s->visits = 0;
    if (!s->rows || (i->op != K_LT && i->op != K_LE) || !qdtype_is_int((qs_dtype)get_ins(s, i->a)->dtype)) return false;
    bool fixed, still, given = range_of(s, i->a, &a) && range_of(s, i->b, &b);
    given = given && has_known_length(&a, &fixed) && has_known_length(&b, &still) && !(fixed && still);
    if (given && keep_end(s, &a.lo) && keep_end(s, &a.hi) && keep_end(s, &b.lo) && keep_end(s, &b.hi)) {
        if (limit_order(s, &a, &b, i->op == K_LT)) return s->sure[r] = SURE_HOLDS, true;
        if (limit_order(s, &b, &a, i->op == K_LE)) return s->sure[r] = SURE_FAILS, true;
    }
    s->nlimits = limits, s->nends = ends;
    return false;
}

static bool find_tests(Splitter *s) {
    bool any = false, rows = s->rows && tests_last_axis(s) && (s->f->rank < 3 || tests_neighbours(s));
    s->nlimits = s->nends = 0;
    for (KRef r = 1; r < s->f->nins; r++) {
        uint8_t op = get_ins(s, r)->op;
        find_clamp(s, r), find_ends(s, r);
        any |= limit_comparison(s, r);
        if (!is_test(op) || (rows && op == K_BOUND && axis_of(s, r) != s->f->rank - 1)) continue;
        any |= s->sure[r] = test_limits(s, r);
    }
    return any || s->clamps;
}

/* Adds the limits -n <= index < 2n, for REFLECT -n < index < 2n-1: then the index can be mapped without a division. */
static bool near_limits(Splitter *s, KRef test) {
    const KIns *i = get_ins(s, test);
    Range index, n;
    s->visits = 0;
    if (!range_of(s, i->a, &index) || !range_of(s, i->b, &n) || !is_fixed(s, i->b) || !equal_forms(&n.lo, &n.hi))
        return false;
    Affine low = index.lo, room = {.constant = i->flag == ACC_REFLECT ? -2 : -1};
    low.constant -= i->flag == ACC_REFLECT;
    return kaffine_add(&low, &n.lo, 1) && kaffine_add(&room, &n.lo, 2) && kaffine_add(&room, &index.hi, -1) &&
           add_limit(s, &low) && add_limit(s, &room);
}

/* Adds these limits for all tests that would need a division. */
static bool find_near(Splitter *s) {
    bool any = false;
    s->nlimits = s->nends = 0, s->outside = true;
    for (KRef r = 1; r < s->f->nins; r++) {
        const KIns *i = get_ins(s, r);
        if (i->op != K_BOUND || i->flag == ACC_CLAMPED) continue;
        if (!near_limits(s, r)) return false;
        any = true;
    }
    return any;
}

/* -- edges --------------------------------------------------------------------------------------------------------- */
static bool is_extent(const Splitter *s, KRef r, uint64_t param, int axis) {
    return get_ins(s, r)->op == K_DIM && get_ins(s, r)->imm == (param << 8 | (uint64_t)axis);
}

/* Finds the row and column of the element that a LOAD or ATOMIC accesses. */
static bool row_and_column(const Splitter *s, const KIns *i, KRef at[2]) {
    const KIns *sum = get_ins(s, i->a), *row = get_ins(s, sum->a), *step = get_ins(s, row->b);
    bool whole = s->f->params[i->imm].contiguous;
    if (sum->op != K_ADD || row->op != K_MUL) return false;
    if (whole ? !is_extent(s, row->b, i->imm, 1) : step->op != K_STRIDE || step->imm != i->imm << 8) return false;
    at[0] = row->a, at[1] = sum->b;
    return true;
}

/* Returns true if the guard tests only that the element is inside of the array. */
static bool asks_inside(const Splitter *s, KRef guard, uint64_t param, const KRef at[2]) {
    const KIns *i = get_ins(s, guard);
    if (i->op == K_AND) return asks_inside(s, i->a, param, at) && asks_inside(s, i->b, param, at);
    for (int axis = 0; axis < 2; axis++)
        if (i->op == K_INB && i->a == at[axis] && is_extent(s, i->b, param, axis)) return true;
    return false;
}

/* Extends the pad by r; false: r is not the position along the axis plus a value between two constants. */
static bool find_distance(Splitter *s, KRef r, int axis, KPad *pad) {
    Range range;
    s->visits = 0;
    if (!range_of(s, r, &range)) return false;
    const Affine *const ends[] = {&range.lo, &range.hi};
    for (int k = 0; k < 2; k++) {
        const KIns *pos = get_ins(s, ends[k]->term[0].ref);
        int64_t d = ends[k]->constant;
        if (ends[k]->n != 1 || ends[k]->term[0].factor != 1 || pos->op != K_POS || (int)pos->imm != axis) return false;
        if (d < -MAX_DISTANCE || d > MAX_DISTANCE) return false;
        if (d < pad->lo[axis]) pad->lo[axis] = d;
        if (d > pad->hi[axis]) pad->hi[axis] = d;
    }
    return true;
}

/* Returns true if the guard can be dropped.  prepare_edges tests a guard that the launch determines once. */
static bool may_drop_guard(Splitter *s, const KIns *i, const KRef at[2], int mode) {
    KRef guard = kir_guard(i);
    if (mode == EDGE_ZERO) return guard && asks_inside(s, guard, i->imm, at);
    return !guard || (i->op == K_ATOMIC && is_fixed(s, guard));
}

static bool pad_access(Splitter *s, KRef r, KPad *pad) {
    const KIns *access = get_ins(s, r);
    KRef at[2];
    if (!row_and_column(s, access, at)) return false;
    for (int axis = 0; axis < 2; axis++) {
        const KIns *i = get_ins(s, at[axis]);
        bool image = i->op == K_BOUND && is_fixed(s, i->b);
        int mode = image ? i->flag : EDGE_ZERO;
        KRef extent = image ? kaffine_leader(s->f, i->b) : 0, *known = &pad->extent[axis];
        if (pad->mode != ANY_MODE && (pad->mode != mode || (*known && *known != extent))) return false;
        pad->mode = mode, *known = extent;
        s->at[r][axis] = image ? i->a : at[axis];
        if (!find_distance(s, s->at[r][axis], axis, pad)) return false;
    }
    return may_drop_guard(s, access, at, pad->mode);
}

/* Returns true for an array that is only read, or only added to. */
static bool may_have_pad(const KParam *param, bool sums) {
    qs_dtype d = (qs_dtype)param->dtype;
    bool used = sums ? param->written && (d == QS_F32 || d == QS_F64) : param->read && !param->written;
    return param->kind == KP_ARRAY && param->rank == 2 && param->unit_last && used && !qdtype_is_complex(d);
}

static bool is_access_of(const KIns *i, int p) { return kir_is_memory(i->op) && (int)i->imm == p; }

static bool pad_array(Splitter *s, int p, KPad *pad) {
    bool sums = s->f->params[p].written, good = may_have_pad(&s->f->params[p], sums);
    int limits = s->nlimits, ends = s->nends;
    *pad = (KPad){.param = p, .mode = ANY_MODE, .sums = sums};
    for (KRef r = 1; r < s->f->nins && good; r++) {
        const KIns *i = get_ins(s, r);
        if (is_access_of(i, p))
            good = i->op == (sums ? K_ATOMIC : K_LOAD) && (!sums || i->flag == KA_ADD) && pad_access(s, r, pad);
    }
    if (good && kpad_extent(pad, 0) * kpad_extent(pad, 1) <= MAX_PAD) return true;
    s->nlimits = limits, s->nends = ends;
    for (KRef r = 1; r < s->f->nins; r++)
        if (is_access_of(get_ins(s, r), p)) s->at[r][0] = s->at[r][1] = 0;
    return false;
}

static bool all_sums_have_pads(const Splitter *s) {
    for (KRef r = 1; r < s->f->nins; r++)
        if (get_ins(s, r)->op == K_ATOMIC && !s->at[r][0]) return false;
    return true;
}

/* Marks the instructions that are needed if arrays with pads are accessed by row and column. */
static void find_live(Splitter *s) {
    for (KRef r = s->f->nins; --r;) {
        const KIns *i = get_ins(s, r);
        KEffect effect = (KEffect)kir_ops[i->op].effect;
        if (effect != KE_PURE && effect != KE_READ) s->live[r] = 1;
        if (!s->live[r]) continue;
        if (s->at[r][0]) s->live[s->at[r][0]] = s->live[s->at[r][1]] = 1;
        else s->live[i->a] = s->live[i->b] = s->live[i->c] = 1;
        if (i->op == K_ATOMIC) s->live[i->b] = 1;
    }
}

/* Adds the limits of the remaining tests; false: one of them fails near the ends of rows. */
static bool limit_edges(Splitter *s) {
    for (int axis = 0; axis < 2; axis++) { /* limits positions to their range without wrapping */
        Limit any = {.axis = axis, .factor = 1};
        if (s->nlimits == MAX_LIMITS) return false;
        s->limit[s->nlimits++] = any;
    }
    for (KRef r = 1; r < s->f->nins; r++) {
        if ((s->clamped[r] || (s->sure[r] && !is_test(get_ins(s, r)->op))) && s->live[r]) return false;
        if (!is_test(get_ins(s, r)->op) || !s->sure[r] || !s->live[r]) continue;
        if (!test_limits(s, r) || (axis_of(s, r) == 1 && get_ins(s, get_ins(s, r)->a)->op != K_POS)) return false;
    }
    return true;
}

static bool find_edges(Splitter *s, Arena *arena, KEdge *out) {
    const KFunc *f = s->f;
    bool plain = s->rows && f->rank == 2 && !f->serial && !f->few && !kir_knows_blocks(f) && !kir_has(f, K_CHECK) &&
                 !kir_has(f, K_RET) && !memchr(s->flat, FLAT_LOCKSTEP, f->nins);
    s->nlimits = s->nends = 0;
    if (!plain) return false;
    s->at = qarena_alloc(arena, qmem_size(f->nins, sizeof *s->at, 0)), s->live = qarena_alloc(arena, f->nins);
    bool wide = false;
    for (int p = 0; p < f->nparams && out->npads < EDGE_PADS; p++) {
        KPad *pad = &out->pad[out->npads];
        if (!pad_array(s, p, pad)) continue;
        wide |= pad->hi[1] - pad->lo[1] >= WIDE_BORDER, out->npads++;
    }
    find_live(s);
    if (wide && all_sums_have_pads(s) && limit_edges(s)) return true;
    out->npads = 0;
    return false;
}

/* -- the prologue -------------------------------------------------------------------------------------------------- */
static KRef copy_fixed(Splitter *s, KRef r) {
    const KIns *i = get_ins(s, r);
    if (!r || s->prologue[r]) return s->prologue[r];
    if (i->op == K_ANALYTIC) return s->prologue[r] = copy_fixed(s, i->a);
    KRef a = copy_fixed(s, i->a), b = copy_fixed(s, i->b), c = copy_fixed(s, i->c);
    return s->prologue[r] = kir_copy(s->g, i, a, b, c);
}

static KRef sum_up(Splitter *s, const Affine *a) {
    KRef sum = kir_int(s->g, a->constant);
    for (int i = 0; i < a->n; i++) {
        KRef t = kir_cast(s->g, QS_I64, copy_fixed(s, a->term[i].ref));
        sum = kir_op(s->g, K_ADD, sum, kir_op(s->g, K_MUL, t, kir_int(s->g, a->term[i].factor)));
    }
    return sum;
}

static void add_condition(Splitter *s, KBox *out, KRef cond) {
    out->ok = out->ok ? kir_op(s->g, K_AND, out->ok, cond) : cond;
}

static KRef within(Splitter *s, KRef x, int64_t limit) {
    return kir_op(s->g, K_INB, kir_op(s->g, K_ADD, x, kir_int(s->g, limit)), kir_int(s->g, 2 * limit));
}

static KRef floor_div(Splitter *s, KRef x, int64_t by) {
    if (by == 1) return x;
    KRef n = kir_int(s->g, by);
    return kir_op(s->g, K_DIV, kir_op(s->g, K_SUB, x, kir_op(s->g, K_MOD, x, n)), n);
}

/* Bounds the box by factor·p + sum >= 0:  p >= ceil(-sum / factor), or for a negative factor p <= floor(sum /
 * -factor). */
static void bound_axis(Splitter *s, KBox *out, const Limit *l) {
    KRef sum = sum_up(s, &l->sum);
    if (l->sum.n) add_condition(s, out, within(s, sum, far_offset));
    if (l->axis < 0) {
        add_condition(s, out, kir_fold(s->g, (KMake){K_LE, .a = kir_int(s->g, 0), .b = sum}));
        return;
    }
    KRef *bound = l->factor > 0 ? &out->lo[l->axis] : &out->hi[l->axis], b;
    if (l->factor > 0) b = floor_div(s, kir_op(s->g, K_SUB, kir_int(s->g, l->factor - 1), sum), l->factor);
    else b = kir_op(s->g, K_ADD, floor_div(s, sum, -l->factor), kir_int(s->g, 1));
    *bound = *bound ? kir_op(s->g, l->factor > 0 ? K_MAX : K_MIN, *bound, b) : b;
}

static void limit_counters(Splitter *s, KBox *out) {
    for (int i = 0; i < s->nends; i++) {
        Limit l = {.sum = s->ends[i]};
        if (isolate(s, &l)) add_condition(s, out, within(s, sum_up(s, &l.sum), far_position));
        else add_condition(s, out, kir_const_int(s->g, QS_B1, 0, 0));
    }
}

/* Returns the end of the range of a position: positions that are read as int wrap beyond its range. */
static int64_t last_position(const Splitter *s, int axis) {
    for (KRef r = 1; r < s->f->nins; r++)
        if (get_ins(s, r)->op == K_POS && get_ins(s, r)->dtype == QS_I32 && (int)get_ins(s, r)->imm == axis)
            return INT32_MAX;
    return far_position;
}

static void build_box(Splitter *s, KBox *out) {
    for (int i = 0; i < s->nlimits; i++) bound_axis(s, out, &s->limit[i]);
    limit_counters(s, out);
    for (int a = 0; a < s->f->rank; a++) {
        if (!out->lo[a] && !out->hi[a]) continue;
        KRef low = kir_int(s->g, 0), high = kir_int(s->g, last_position(s, a));
        out->lo[a] = out->lo[a] ? kir_op(s->g, K_MAX, out->lo[a], low) : low;
        out->hi[a] = out->hi[a] ? kir_op(s->g, K_MIN, out->hi[a], high) : high;
    }
    out->given = true;
}

/* Copies the extents of pads, and the guards that the launch determines, to the prologue. */
static void prepare_edges(Splitter *s, KEdge *out) {
    for (KPad *p = out->pad; p < out->pad + out->npads; p++)
        for (int axis = 0; axis < 2; axis++) p->extent[axis] = copy_fixed(s, p->extent[axis]);
    for (KRef r = 1; r < s->f->nins; r++)
        if (s->at[r][0] && kir_guard(get_ins(s, r)) && is_fixed(s, kir_guard(get_ins(s, r))))
            add_condition(s, &out->box, copy_fixed(s, kir_guard(get_ins(s, r))));
}

static KRef in_box(Splitter *s, const KBox *out) {
    KRef cond = out->ok;
    for (int a = 0; a < s->f->rank; a++) {
        if (!out->lo[a]) continue;
        KRef p = kir_add(s->g, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)a});
        KRef in = kir_op(s->g, K_AND, kir_op(s->g, K_LE, out->lo[a], p), kir_op(s->g, K_LT, p, out->hi[a]));
        cond = cond ? kir_op(s->g, K_AND, cond, in) : in;
    }
    return cond;
}

/* -- copies of the kernel ------------------------------------------------------------------------------------------ */
static bool is_const(const Splitter *s, KRef r, uint64_t v) {
    return r && s->g->ins[r].op == K_CONST && s->g->ins[r].imm == v;
}
static bool is_true(const Splitter *s, KRef r) { return is_const(s, r, 1); }

/* Enters a branch whose IF, ELSE and END are removed: its code always runs, and its SETs keep the old value if the
 * condition is false. */
static void enter_branch(Splitter *s, KRef own) {
    KRef outer = s->nconds ? s->cond[s->nconds - 1].all : 0;
    s->cond[s->nconds].own = own;
    s->cond[s->nconds++].all = outer ? kir_op(s->g, K_AND, outer, own) : own;
}

static void pass_edge(Splitter *s, const KIns *i) {
    if (i->op != K_IF) s->nconds--;
    if (i->op == K_IF) enter_branch(s, s->map[i->a]);
    if (i->op == K_ELSE) enter_branch(s, kir_op(s->g, K_NOT, s->cond[s->nconds].own, 0));
}

/* -- code that positions run together ------------------------------------------------------------------------------ */
static Together *innermost(Splitter *s) { return &s->together[s->ntogether - 1]; }

static void begin_iteration(Splitter *s) {
    Together *t = innermost(s);
    t->continued = false;
    s->cond[t->first].all = kir_add(s->g, (KMake){K_GET, .a = t->inside});
}

/* Leaves the LOOP if no position of the strip is in it. */
static void leave_if_empty(Splitter *s) {
    KRef any = kir_add(s->g, (KMake){K_ANY, .a = kir_add(s->g, (KMake){K_GET, .a = innermost(s)->inside})});
    kir_add(s->g, (KMake){K_IF, .a = kir_op(s->g, K_NOT, any, 0)});
    kir_add(s->g, (KMake){.op = K_BREAK});
    kir_add(s->g, (KMake){.op = K_END});
}

/* Begins a region whose jumps change the condition of the code after them. */
static void begin_together(Splitter *s, KRef loop) {
    KRef in = s->nconds ? s->cond[s->nconds - 1].all : kir_const_int(s->g, QS_B1, 1, 0);
    Together *t = &s->together[s->ntogether++];
    size_t bytes = qmem_size((size_t)s->nconds, sizeof *t->around, sizeof *t->around);
    *t = (Together){
        .loop = loop, .first = s->nconds++, .left = s->ntogether - 1, .around = qarena_alloc(s->arena, bytes)};
    memcpy(t->around, s->cond, (size_t)t->first * sizeof *t->around);
    t->inside = kir_add(s->g, (KMake){K_LOCAL, .a = in});
    s->cond[t->first] = (Condition){.all = in};
}

/* Ends it.  The code after it has the conditions from before it, without the positions that jumped over this code. */
static void end_together(Splitter *s) {
    const Together *t = innermost(s);
    s->nconds = t->first, s->ntogether--;
    if (s->flat[t->loop] != FLAT_ONCE) memcpy(s->cond, t->around, (size_t)s->nconds * sizeof *s->cond);
    for (const Together *outer = &s->together[t->left]; outer < t; outer++) {
        KRef inside = kir_add(s->g, (KMake){K_GET, .a = outer->inside});
        for (int k = outer->first; k < outer[1].first; k++)
            s->cond[k].all = kir_op(s->g, K_AND, s->cond[k].all, inside);
    }
}

static KRef copy_one(Splitter *s, KRef r, bool fast);

static void begin_lockstep_loop(Splitter *s, KRef loop) {
    begin_together(s, loop);
    kir_add(s->g, (KMake){K_LOOP, .pos = get_ins(s, loop)->pos});
    if (innermost(s)->first) leave_if_empty(s);
    begin_iteration(s);
}

/* Testing all positions costs about as much as a short body, so several iterations run between tests. */
static void end_lockstep_loop(Splitter *s, KRef end) {
    KRef first = innermost(s)->loop + 1;
    for (int copy = 1; copy < COPIES && end - first <= SHORT_BODY; copy++) {
        begin_iteration(s);
        for (KRef r = first; r < end; r++) s->map[r] = copy_one(s, r, true);
    }
    if (!innermost(s)->first) leave_if_empty(s);
    kir_add(s->g, (KMake){.op = K_END});
    end_together(s);
}

/* Returns which positions are inside of t after a jump that the positions `stays` do not execute.  In the
 * innermost loop the condition of the iteration tells it; the conditions around the loop were computed before it. */
static KRef without(Splitter *s, const Together *t, KRef stays) {
    const Together *loop = innermost(s);
    while (loop->loop && s->flat[loop->loop] == FLAT_ONCE) loop--;
    if (t >= loop && !t->continued) return s->cond[t->first].all;
    return kir_op(s->g, K_AND, kir_add(s->g, (KMake){K_GET, .a = t->inside}), stays);
}

/* Excludes the positions that execute a jump from the code between it and its target. */
static void jump(Splitter *s, KRef r) {
    const KIns *i = get_ins(s, r);
    KRef target = i->op == K_RET ? 0 : kir_jump_target(s->f, r),
         stays = kir_op(s->g, K_NOT, s->cond[s->nconds - 1].all, 0);
    int to = s->ntogether - 1;
    while (s->together[to].loop != target) to--;
    for (int k = s->together[to].first; k < s->nconds; k++) s->cond[k].all = kir_op(s->g, K_AND, s->cond[k].all, stays);
    for (int k = to; k < s->ntogether; k++) {
        Together *t = &s->together[k];
        if (to < t->left) t->left = to;
        if (k == to && i->op == K_CONTINUE) t->continued = true;
        else kir_add(s->g, (KMake){K_SET, .a = t->inside, .b = without(s, t, stays)});
    }
}

static void flatten(Splitter *s, KRef r) {
    const KIns *i = get_ins(s, r);
    switch ((Flat)s->flat[r]) {
    case FLAT_GOES: pass_edge(s, i); break;
    case FLAT_JUMPS: jump(s, r); break;
    case FLAT_ONCE: i->op == K_LOOP ? begin_together(s, r) : end_together(s); break;
    case FLAT_LOCKSTEP: i->op == K_LOOP ? begin_lockstep_loop(s, r) : end_lockstep_loop(s, r); break;
    case FLAT_NOT:
    case FLAT_GUARDED:
    case FLAT_COUNTS: break;
    }
}

static KRef select_old_value(Splitter *s, KRef local, KRef value, uint32_t pos) {
    if (!s->nconds) return value;
    KRef old = kir_add(s->g, (KMake){K_GET, .a = local, .pos = pos});
    return kir_fold(s->g, (KMake){K_SELECT, .a = s->cond[s->nconds - 1].all, .b = value, .c = old, .pos = pos});
}

/* Adds the condition of the branch to the guard of a LOAD or STORE. */
static void add_guard(Splitter *s, const KIns *i, KRef *b, KRef *c) {
    KRef *guard = i->op == K_LOAD ? b : c;
    if (!s->nconds) return;
    KRef here = s->cond[s->nconds - 1].all;
    *guard = *guard ? kir_op(s->g, K_AND, *guard, here) : here;
}

static KRef element_of_pad(Splitter *s, const KPad *pad, KRef row, KRef column) {
    return kir_op(s->g, K_ADD, kir_op(s->g, K_MUL, row, kir_int(s->g, kpad_extent(pad, 1))), column);
}

static KRef touch_pad(Splitter *s, KRef r) {
    const KIns *i = get_ins(s, r);
    const KPad *pad = s->pads;
    while (pad->param != (int)i->imm) pad++;
    KRef at = element_of_pad(s, pad, s->map[s->at[r][0]], s->map[s->at[r][1]]);
    return kir_copy(s->g, i, at, i->op == K_ATOMIC ? s->map[i->b] : 0, 0);
}

static KRef emit_sum(Splitter *s, const Affine *a) {
    KRef sum = kir_int(s->g, a->constant);
    for (int i = 0; i < a->n; i++) {
        const KIns *t = get_ins(s, a->term[i].ref);
        KRef v = t->op == K_POS ? kir_add(s->g, (KMake){K_POS, .own = QS_I64, .imm = t->imm})
                                : kir_cast(s->g, QS_I64, s->map[a->term[i].ref]);
        sum = kir_op(s->g, K_ADD, sum, kir_op(s->g, K_MUL, v, kir_int(s->g, a->term[i].factor)));
    }
    return sum;
}

/* Copies a loop of ints so that all positions count between the same ends. */
static KRef copy_loop(Splitter *s, KRef r) {
    Affine base = s->ends_of[r]->first, last = s->ends_of[r]->span;
    KRef first = kir_const_int(s->g, QS_I32, base.constant, 0);
    last.constant += base.constant, base.constant = 0;
    KRef to = kir_cast(s->g, QS_I32, emit_sum(s, &last)), from = emit_sum(s, &base);
    KRef k = kir_copy(s->g, get_ins(s, r), first, to, s->map[get_ins(s, r)->c]);
    s->wide[r] = kir_op(s->g, K_ADD, from, kir_cast(s->g, QS_I64, k));
    return kir_cast(s->g, QS_I32, s->wide[r]);
}

static KRef copy_one(Splitter *s, KRef r, bool fast) {
    const KIns *i = get_ins(s, r);
    KRef a = s->map[i->a], b = s->map[i->b], c = s->map[i->c];
    if (i->op == K_ANALYTIC) return a; /* only derivatives need it, and these already exist */
    if (s->pads && !s->live[r]) return 0;
    if (s->pads && s->at[r][0]) return touch_pad(s, r);
    if (fast && s->flat[r] == FLAT_COUNTS) i->op == K_FOR ? begin_together(s, r) : end_together(s);
    else if (fast && s->flat[r] == FLAT_GUARDED) add_guard(s, i, &b, &c);
    else if (fast && s->flat[r]) return flatten(s, r), 0;
    if (fast && i->op == K_SET) b = select_old_value(s, a, b, i->pos);
    if (fast && s->sure[r]) return i->op == K_BOUND ? a : kir_const_int(s->g, QS_B1, s->sure[r] == SURE_HOLDS, i->pos);
    if (fast && i->op == K_LOAD && is_true(s, b)) b = 0;
    bool writes = i->op == K_STORE || i->op == K_ATOMIC;
    if (fast && i->op == K_FETCH && is_true(s, c)) c = 0;
    if (fast && writes && is_const(s, c, 0)) return 0; /* only positions at the border write */
    if (fast && writes && is_true(s, c)) c = 0;
    if (fast && i->op == K_CHECK && is_true(s, a)) return 0;
    if (!fast || !s->clamps) return kir_copy(s->g, i, a, b, c);
    if (s->clamped[r]) return s->map[s->clamped[r]];
    if (s->ends_of[r]) return copy_loop(s, r);
    if (i->op == K_CAST && i->dtype == QS_I64 && s->ends_of[i->a]) return s->wide[i->a];
    if (i->op == K_FOR) return kaffine_for(s->g, kir_like(i, a, b, c));
    if (i->dtype == QS_I64 && kir_ops[i->op].effect == KE_PURE && a) return kaffine_fold(s->g, kir_like(i, a, b, c));
    return kir_copy(s->g, i, a, b, c);
}

/* If r is an IF, ELSE or END whose condition has one value in the box: returns true, and sets *next to where the code
 * goes on. */
static bool is_decided(const Splitter *s, KRef r, KRef *next) {
    const KIns *i = get_ins(s, r);
    KRef branch = i->op == K_IF ? r : kir_opener(s->f, s->f->regions[r].opener), end = s->f->regions[r].end;
    bool holds = is_true(s, s->map[get_ins(s, branch)->a]);
    if (s->flat[r] || (i->op != K_IF && i->op != K_ELSE && i->op != K_END) || get_ins(s, branch)->op != K_IF)
        return false;
    if (!holds && !is_const(s, s->map[get_ins(s, branch)->a], 0)) return false;
    bool leaves = i->op == (holds ? K_ELSE : K_IF);
    return *next = leaves ? end : r, true;
}

static void copy_all(Splitter *s, bool fast, KRef *first, KRef *last) {
    *first = s->g->nins;
    memset(s->map, 0, s->f->nins * sizeof *s->map);
    bool returns = false;
    for (KRef r = 1; fast && r < s->f->nins; r++) returns |= get_ins(s, r)->op == K_RET && s->flat[r] == FLAT_JUMPS;
    if (returns) begin_together(s, 0);
    for (KRef r = 1; r < s->f->nins; r++)
        if (!fast || !is_decided(s, r, &r)) s->map[r] = copy_one(s, r, fast);
    if (returns) end_together(s);
    *last = s->g->nins;
}

/* Code between these is never executed as KIR; backends that use it emit it elsewhere. */
static void begin_aside(Splitter *s, KRef *first) {
    kir_add(s->g, (KMake){K_IF, .a = kir_const_int(s->g, QS_B1, 0, 0)});
    *first = s->g->nins;
}
static void end_aside(Splitter *s, KRef *last) {
    *last = s->g->nins;
    kir_add(s->g, (KMake){.op = K_END});
}

/* Generates the code that copies an element to the pad, as a LOAD of the kernel reads it, or adds it to the array,
 * as an ATOMIC does. */
static void build_fill(Splitter *s, KPad *pad) {
    const KParam *param = &s->f->params[pad->param];
    uint64_t number = (uint64_t)pad->param;
    qs_dtype d = kir_value_dtype((qs_dtype)param->dtype);
    KRef at[2], guard = 0;
    begin_aside(s, &pad->fill);
    for (int axis = 0; axis < 2; axis++) at[axis] = kir_add(s->g, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)axis});
    if (pad->sums) {
        KRef element = element_of_pad(s, pad, at[0], at[1]);
        pad->value = kir_add(s->g, (KMake){K_LOAD, .own = d, .a = element, .imm = number});
    }
    for (int axis = 0; axis < 2; axis++) {
        KRef n =
            pad->extent[axis] ? pad->extent[axis] : kir_add(s->g, (KMake){K_DIM, .imm = number << 8 | (uint64_t)axis});
        KRef in = pad->mode == EDGE_ZERO ? kir_add(s->g, (KMake){K_INB, .a = at[axis], .b = n}) : 0;
        if (in) guard = guard ? kir_op(s->g, K_AND, guard, in) : in;
        else at[axis] = kir_add(s->g, (KMake){K_BOUND, .flag = (unsigned)pad->mode, .a = at[axis], .b = n});
    }
    KRef step = kir_add(s->g, param->contiguous ? (KMake){K_DIM, .imm = number << 8 | 1}
                                                : (KMake){K_STRIDE, .imm = number << 8});
    KRef element = kir_op(s->g, K_ADD, kir_op(s->g, K_MUL, at[0], step), at[1]);
    if (pad->sums)
        kir_add(s->g, (KMake){K_ATOMIC, .flag = KA_ADD, .a = element, .b = pad->value, .c = guard, .imm = number});
    else pad->value = kir_add(s->g, (KMake){K_LOAD, .own = d, .a = element, .b = guard, .imm = number});
    end_aside(s, &pad->fill_end);
}

static void build_edges(Splitter *s, KEdge *out) {
    KRef first, last;
    for (int i = 0; i < out->npads; i++) build_fill(s, &out->pad[i]);
    s->pads = out->pad;
    begin_aside(s, &out->code);
    copy_all(s, true, &first, &last);
    end_aside(s, &out->code_end);
    s->pads = NULL;
}

static KRef value_of(Splitter *s, const Monomial *m) {
    KRef v = kir_int(s->g, m->number);
    for (int i = 0; i < m->n; i++)
        v = kir_op(s->g, K_MUL, v, kir_fold(s->g, (KMake){K_CAST, .own = QS_I64, .a = copy_fixed(s, m->factor[i])}));
    return v;
}

static void build_collapse(Splitter *s, const CollapsePair *pair, int n, KSplit *out) {
    out->ncollapse = n;
    for (int i = 0; i < n; i++)
        out->collapse[i].outer = value_of(s, &pair[i].outer), out->collapse[i].inner = value_of(s, &pair[i].inner);
    out->prologue_end = s->g->nins;
}

static void build_copies(Splitter *s, KSplit *out) {
    bool two = out->box.given || out->lockstep;
    KRef cond = out->box.given ? in_box(s, &out->box) : kir_const_int(s->g, QS_B1, 1, 0);
    if (two) kir_add(s->g, (KMake){K_IF, .a = cond});
    copy_all(s, true, &out->fast, &out->fast_end);
    if (!two) return;
    kir_add(s->g, (KMake){.op = K_ELSE});
    copy_all(s, false, &out->full, &out->full_end);
    kir_add(s->g, (KMake){.op = K_END});
}

/* lockstep: loops that positions leave at different times may run for a strip of positions. */
static bool split_kernel(Ctx *c, Arena *arena, const KFunc *f, bool rows, bool lockstep, KSplit *out) {
    CollapsePair pair[COLLAPSE_PAIRS];
    int npairs = 0;
    Splitter s = {.f = f, .rows = rows, .fixed = qarena_alloc(arena, f->nins), .sure = qarena_alloc(arena, f->nins)};
    s.feeds = qarena_alloc(arena, f->nins), s.clamped = qarena_alloc(arena, qmem_size(f->nins, sizeof *s.clamped, 0));
    s.ends_of = qarena_alloc(arena, qmem_size(f->nins, sizeof *s.ends_of, 0));
    s.wide = qarena_alloc(arena, qmem_size(f->nins, sizeof *s.wide, 0)), s.arena = arena;
    find_feeds(&s);
    bool boxed = find_tests(&s);
    s.flat = qarena_alloc(arena, f->nins);
    lockstep = lockstep && klockstep_choose(c, arena, f, false, s.flat);
    kflatten_choose(f, s.sure, fixed_by_launch, &s, s.flat);
    if (!kcollapse_pairs(arena, f, s.sure, pair, &npairs)) npairs = 0;
    if (!boxed && !npairs && !lockstep) return false;
    s.map = qarena_alloc(arena, qmem_size(f->nins, sizeof *s.map, 0)),
    s.prologue = qarena_alloc(arena, qmem_size(f->nins, sizeof *s.prologue, 0));
    *out = (KSplit){.func = s.g = kir_shell(c, arena, f), .lockstep = lockstep};
    if (boxed) build_box(&s, &out->box);
    if (boxed && find_near(&s)) build_box(&s, &out->near);
    if (boxed && !lockstep && out->box.lo[f->rank - 1] && find_edges(&s, arena, &out->edge))
        build_box(&s, &out->edge.box), prepare_edges(&s, &out->edge);
    build_collapse(&s, pair, npairs, out);
    build_copies(&s, out);
    if (out->edge.npads) build_edges(&s, &out->edge);
    kir_finish(s.g, f);
    return true;
}

bool kopt_interior(Ctx *c, Arena *arena, const KFunc *f, bool rows, KSplit *out) {
    KPlan plan;
    if (f->barrier || f->shared) return false; /* their positions cooperate, so a block cannot be split */
    if (!split_kernel(c, arena, f, rows, rows, out)) return false;
    if (!out->lockstep || kplan_strip(c, arena, out->func, out->fast, out->fast_end, false, &plan)) return true;
    return split_kernel(c, arena, f, rows, false, out);
}

/* -- copies of a kernel that was split ----------------------------------------------------------------------------- */
static void renumber_box(const KRef *map, KBox *box) {
    box->ok = map[box->ok];
    for (int a = 0; a < QS_MAX_RANK; a++) box->lo[a] = map[box->lo[a]], box->hi[a] = map[box->hi[a]];
}

void kopt_renumber(KSplit *s, const KFunc *copy, const KRef *map, const KRef *start) {
    KRef *const places[] = {&s->fast, &s->fast_end, &s->full, &s->full_end, &s->prologue_end};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) *places[i] = start[*places[i]];
    renumber_box(map, &s->box), renumber_box(map, &s->near), renumber_box(map, &s->edge.box);
    s->edge.code = start[s->edge.code], s->edge.code_end = start[s->edge.code_end];
    for (KPad *p = s->edge.pad; p < s->edge.pad + s->edge.npads; p++)
        p->fill = start[p->fill], p->fill_end = start[p->fill_end], p->value = map[p->value],
        p->extent[0] = map[p->extent[0]], p->extent[1] = map[p->extent[1]];
    for (int i = 0; i < s->ncollapse; i++)
        s->collapse[i].outer = map[s->collapse[i].outer], s->collapse[i].inner = map[s->collapse[i].inner];
    s->func = copy;
}

const KFunc *kopt_replace_row_loops(Ctx *c, Arena *a, const KFunc *f, KSplit *split, KLoopPass p) {
    KPlan plan;
    KRef first = split ? split->fast : 1, last = split ? split->fast_end : f->nins;
    KRef *start = qarena_alloc(a, qmem_size(f->nins, sizeof *start, sizeof *start));
    if (!kir_has(f, K_FOR) || f->serial || f->barrier || f->shared) return f;
    if (kplan_strip(c, a, f, first, last, false, &plan) && !plan.chains) return f; /* positions are side by side */
    const KFunc *g = kir_replace_loops_in(c, a, f, p, first, last, start);
    if (g != f && split) kopt_renumber(split, g, *p.map, start);
    return g;
}
