/* loop_dependence.c -- finds the loops of a nest whose iterations are independent, and builds the guard.
 *
 * Two iterations are independent if neither writes an element that the other reads or writes.  This is proved dimension
 * by dimension: subscripts k·i + c with the same k and the same invariant rest are equal only if the counters i are
 * equal (or never, if the constants do not differ by a multiple of k).  A nest is parallel if, for each of its
 * counters, some dimension proves this for every write and every access to the same array.  Overlap of different arrays
 * is tested by the VM when it knows them.  Variables are handled elsewhere: the parallel version is declined if it
 * reads a variable before setting it in the same iteration. */
#include "lang/kernel/lower/loop/loop_internal.h"
#include "vm/base/reduction.h"

#include <math.h>

/* -- loop-invariant values ----------------------------------------------------------------------------------------- */
/* The table holds while no instruction is added or removed. */
static void begin_proofs(Loops *L) {
    L->fixed = qarena_alloc(L->arena, sizeof *L->fixed);
    *L->fixed = (Invariants){.arena = L->arena, .f = L->f, .end = L->f->nins};
}
static bool is_invariant(const Loops *L, KRef r) { return kaffine_is_invariant(L->fixed, r); }

KRef kloop_last_of(Loops *L, const Level *v) {
    if (v->step == 1 || v->step == -1 || L->f->ins[v->last].op == K_PARAM) return v->last;
    KRef step = kloop_i64(L, (int64_t)v->step), n = kloop_op(L, K_DIV, kloop_op(L, K_SUB, v->last, v->first), step);
    return kloop_op(L, K_ADD, v->first, kloop_op(L, K_MUL, n, step));
}

/* -- subscripts ---------------------------------------------------------------------------------------------------- */
typedef struct {
    int level;
    int64_t factor;
    Affine rest;
    bool ok;
} Subscript; /* level -1: contains no counter */

static int level_of(const Loops *L, KRef r) {
    for (int i = 0; i < L->nlevels; i++)
        if (L->level[i].counter && L->level[i].counter == r) return i;
    return -1;
}

static Subscript subscript_of(const Loops *L, KRef r) {
    Affine all;
    Subscript s = {.level = -1};
    if (!kaffine_of(L->f, r, &all)) return s;
    s.rest.constant = all.constant;
    for (int i = 0; i < all.n; i++) {
        int level = level_of(L, all.term[i].ref);
        if (level < 0 && !is_invariant(L, all.term[i].ref)) return s;
        if (level >= 0 && s.level >= 0) return s; /* two counters in one subscript: not handled */
        if (level >= 0) s.level = level, s.factor = all.term[i].factor;
        else s.rest.term[s.rest.n++] = all.term[i];
    }
    return s.ok = true, s;
}

/* Whether two accesses may be to the same element, by one dimension: NEVER, only if one counter is EQUAL, or
 * unknown. */
typedef enum { MEET_UNKNOWN, MEET_EQUAL, MEET_NEVER } Meeting;

static Meeting compare_subscripts(const Subscript *a, const Subscript *b) {
    Affine d = a->rest;
    if (!a->ok || !b->ok || a->level != b->level || a->factor != b->factor) return MEET_UNKNOWN;
    if (!kaffine_add(&d, &b->rest, -1) || d.n) return MEET_UNKNOWN;
    if (a->level < 0) return d.constant ? MEET_NEVER : MEET_UNKNOWN;
    if (a->factor != -1 && d.constant % a->factor) return MEET_NEVER; /* INT64_MIN % -1 overflows */
    return d.constant ? MEET_UNKNOWN : MEET_EQUAL;
}

/* The counters, as bits, that must be equal if s and t are the same element; all bits if they never are. */
static unsigned equal_counters(const Loops *L, const Touch *s, const Touch *t) {
    unsigned equal = 0;
    if (!s->plain || !t->plain) return 0;
    for (int d = 0; d < s->rank; d++) {
        Subscript a = subscript_of(L, s->at[d]), b = subscript_of(L, t->at[d]);
        Meeting m = compare_subscripts(&a, &b);
        if (m == MEET_NEVER) return ~0u;
        if (m == MEET_EQUAL) equal |= 1u << a.level;
    }
    return equal;
}

/* -- loops inside of others ---------------------------------------------------------------------------------------- */
/* Replaces the counters from `loop` on by bounds, so that the sum becomes least or most; false: it varies otherwise. */
static bool bound_sum(const Loops *L, KRef loop, bool least, Affine *sum) {
    const KFunc *f = L->f;
    for (int steps = 0; steps < AFFINE_TERMS; steps++) {
        if (!sum->n || sum->term[sum->n - 1].ref < loop) return true;
        KRef r = sum->term[sum->n - 1].ref;
        const KIns *i = &f->ins[r];
        int64_t factor = sum->term[sum->n - 1].factor;
        Affine end;
        double step;
        if (i->op != K_FOR) return is_invariant(L, r);
        if (!kir_is_const(f, i->c, &step) || step == 0) return false;
        if (!kaffine_of(f, ((factor > 0) == (step > 0)) == least ? i->a : i->b, &end)) return false;
        sum->n--;
        if (!kaffine_add(sum, &end, factor)) return false;
    }
    return false;
}

/* Whether a is greater than b for all counters from `loop` on, each with values of its own. */
static bool is_greater(const Loops *L, KRef loop, KRef a, KRef b) {
    Affine low, high;
    if (!kaffine_of(L->f, a, &low) || !kaffine_of(L->f, b, &high)) return false;
    if (!bound_sum(L, loop, true, &low) || !bound_sum(L, loop, false, &high)) return false;
    if (!kaffine_add(&low, &high, -1)) return false;
    /* outside the loop the counters are the same for a and b */
    return bound_sum(L, 1, true, &low) && !low.n && low.constant > 0;
}

/* The index as factor * counter + rest, where the rest is the same in all iterations of the loop. */
static bool split_index(const Loops *L, KRef loop, KRef r, int64_t *factor, Affine *rest) {
    *factor = 0;
    if (!kaffine_of(L->f, r, rest)) return false;
    for (int i = 0; i < rest->n; i++) {
        KRef t = rest->term[i].ref;
        if (t == loop) {
            *factor = rest->term[i].factor;
            Affine this = {.n = 1, .term = {rest->term[i]}};
            return kaffine_add(rest, &this, -1) && (!rest->n || rest->term[rest->n - 1].ref < loop);
        }
        if (t > loop && !is_invariant(L, t)) return false;
    }
    return true;
}

/* Whether two iterations of the loop never access the same element by s and t. */
static bool never_meet(const Loops *L, KRef loop, const Touch *s, const Touch *t) {
    for (int d = 0; d < s->rank; d++) {
        int64_t p, q;
        Affine a, b;
        if (is_greater(L, loop, s->at[d], t->at[d]) || is_greater(L, loop, t->at[d], s->at[d])) return true;
        if (!split_index(L, loop, s->at[d], &p, &a) || !split_index(L, loop, t->at[d], &q, &b)) continue;
        if (p != q || !kaffine_add(&a, &b, -1) || a.n) continue;
        if (p ? a.constant == 0 || (p != -1 && a.constant % p) : a.constant != 0) return true;
    }
    return false;
}

/* Whether each store is known with its subscripts; sums of chunks are not. */
static bool knows_stores(const Loops *L, KRef loop) {
    for (KRef r = loop; r < L->f->nins; r++) {
        bool known = L->f->ins[r].op != K_STORE;
        for (uint32_t i = 0; i < L->ntouches && !known; i++) {
            const Touch *t = &L->touches[i];
            known = t->store && t->ins > loop && t->param == (int)L->f->ins[r].imm;
        }
        if (!known) return false;
    }
    return true;
}

bool kloop_is_independent(Loops *L, KRef loop) {
    double step;
    begin_proofs(L);
    if (!kir_is_const(L->f, L->f->ins[loop].c, &step) || step == 0 || !knows_stores(L, loop)) return false;
    for (uint32_t i = 0; i < L->ntouches; i++)
        for (uint32_t k = 0; L->touches[i].ins > loop && L->touches[i].store && k < L->ntouches; k++) {
            const Touch *s = &L->touches[i], *t = &L->touches[k];
            if (t->ins < loop || t->source != s->source) continue;
            if (!s->plain || !t->plain || !never_meet(L, loop, s, t)) return false;
        }
    return true;
}

static const Touch *find_touch(const Loops *L, KRef loop, const KIns *access) {
    for (uint32_t i = 0; i < L->ntouches; i++) {
        const Touch *t = &L->touches[i];
        if (t->ins > loop && t->param == (int)access->imm && t->element == access->a) return t;
    }
    return NULL;
}

/* Whether the body accesses a chunk's copy of an array, which nothing else has, by the index of the store only. */
static bool is_alone_in_copy(const Loops *L, KRef loop, const KIns *store) {
    for (KRef r = loop + 1; r < L->f->nins; r++) {
        const KIns *i = &L->f->ins[r];
        if ((i->op == K_LOAD || i->op == K_STORE) && i->imm == store->imm && i->a != store->a) return false;
    }
    return true;
}

/* Whether the body also reads the element of the store, by the same index, and accesses it by no other one. */
static bool is_alone(const Loops *L, KRef loop, const KIns *store) {
    const Touch *s = find_touch(L, loop, store);
    bool read = false;
    if (L->binds[store->imm].kind == LOOP_SUMS) return is_alone_in_copy(L, loop, store);
    if (!s || !s->plain) return false;
    for (KRef r = loop + 1; r < L->f->nins; r++) {
        const KIns *i = &L->f->ins[r];
        if ((i->op != K_LOAD && i->op != K_STORE) || i->imm != store->imm) continue;
        read |= i->op == K_LOAD && i->a == store->a;
        if (i->a == store->a) continue;
        const Touch *t = find_touch(L, loop, i);
        if (!t || !t->plain || !never_meet(L, loop, s, t)) return false;
    }
    for (uint32_t i = 0; i < L->ntouches; i++) {
        const Touch *t = &L->touches[i];
        if (t->ins > loop && t->source == s->source && t->param != s->param) return false;
    }
    return read;
}

bool kloop_stores_fixed(Loops *L, KRef loop) {
    bool any = false;
    Invariants same = {.arena = L->arena, .f = L->f, .loop = loop, .end = L->f->nins};
    begin_proofs(L);
    for (KRef r = loop + 1; r < L->f->nins; r++) {
        const KIns *i = &L->f->ins[r];
        if (kir_is_loop(i->op)) return false;
        if (i->op != K_STORE || !kaffine_is_invariant(&same, i->a)) continue;
        if (!is_alone(L, loop, i)) return false;
        any = true;
    }
    return any;
}

/* -- how many loops ------------------------------------------------------------------------------------------------ */
static bool is_axis(const Loops *L, int i) {
    const Level *v = &L->level[i];
    return v->counter && !v->by_count && fabs(v->step) < 0x1p20 && is_invariant(L, v->first) &&
           is_invariant(L, v->last);
}

static bool is_sum(const Loops *L, int source) {
    for (int i = 0; i < L->out->nsums; i++)
        if (L->out->sums[i] == source) return true;
    return false;
}

static const char *array_name(const Loops *L, const Touch *t) { return L->f->params[t->param].name->s; }

/* The number of outer loops whose counters are equal whenever two iterations access the same element. */
static int independent_loops(Loops *L, int depth) {
    for (uint32_t i = 0; i < L->ntouches; i++) {
        const Touch *s = &L->touches[i];
        for (uint32_t k = 0; s->store && depth && k < L->ntouches; k++) {
            const Touch *t = &L->touches[k];
            if (t->source != s->source || is_sum(L, s->source)) continue;
            unsigned equal = equal_counters(L, s, t);
            int most = 0;
            while (most < depth && equal >> most & 1) most++;
            if (!most)
                (void)kloop_decline(L, t->pos,
                                    i == k ? "several iterations may write the same element of %s"
                                           : "an iteration may use an element of %s that another one writes",
                                    array_name(L, s));
            depth = most;
        }
    }
    return depth;
}

static bool only_adds(const Loops *L, const Touch *as) {
    for (uint32_t i = 0; i < L->ntouches; i++)
        if (L->touches[i].source == as->source && L->touches[i].sum != as->sum) return false;
    return as->sum != SUM_NOT;
}

/* Finds arrays whose elements several iterations change, but only by adding to them: each chunk gets a copy. */
static void find_sums(Loops *L) {
    for (uint32_t i = 0; i < L->ntouches; i++) {
        const Touch *t = &L->touches[i];
        bool candidate = t->store && !is_sum(L, t->source) && only_adds(L, t);
        if (candidate && !(equal_counters(L, t, t) & 1) && L->out->nsums < LOOP_SUM_ARRAYS)
            L->out->sums[L->out->nsums++] = t->source;
    }
}

static bool reduces(const Loops *L) {
    for (int i = 0; i < L->root->nvars; i++)
        if (L->root->vars[i].reduce) return true;
    return L->out->nsums > 0;
}

static bool multiplies(const Loops *L) {
    for (int i = 0; i < L->root->nvars; i++)
        if (L->root->vars[i].reduce == COMBINE_MUL) return true;
    return false;
}

bool kloop_commits(const Loops *L) {
    for (uint32_t i = 0; i < L->ntouches; i++)
        if (L->touches[i].store && !is_sum(L, L->touches[i].source)) return true;
    return false;
}

int kloop_parallel_depth(Loops *L) {
    int depth = 0;
    begin_proofs(L);
    if (L->job->loop->kind != N_FOR)
        return (void)kloop_decline(L, L->job->loop->pos,
                                   "each iteration decides whether there is another: let a variable count by a "
                                   "constant to a fixed bound"),
               0;
    while (depth < L->nlevels && is_axis(L, depth)) depth++;
    if (!depth) {
        const LoopRange *r = &L->job->range[0];
        return (void)kloop_decline(L, L->job->loop->pos, "%s",
                                   r->integral && !r->step ? "it has run with several steps"
                                                           : "a counter that may have a fraction"),
               0;
    }
    if (L->random && L->draws_vary)
        return (void)kloop_decline(L, L->draws_pos, "not every iteration draws as many random numbers"), 0;
    L->out->nsums = 0;
    find_sums(L);
    bool fails = L->loose && !L->scans;
    L->chunked = reduces(L) || (fails && !kloop_commits(L));
    if (fails && (L->waits || kloop_commits(L)))
        return (void)kloop_decline(L, L->loose_pos, "whether this fails depends on values"), 0;
    if (multiplies(L) && kloop_commits(L))
        return (void)kloop_decline(L, L->job->loop->pos, "a product that may have to be taken again in order"), 0;
    depth = independent_loops(L, depth);
    return (L->chunked || L->random) && depth ? 1 : depth;
}

/* -- bounds over all iterations ------------------------------------------------------------------------------------ */
bool kloop_is_wide(const Loops *L, KRef r) {
    for (uint32_t i = 0; i < L->nwide; i++)
        if (L->wide[i] == r) return true;
    return false;
}

static bool has_range(Loops *L, KRef r);

/* Whether r has a range, and is not a constant that only keeps a float index from wrapping. */
static bool is_useful_bound(Loops *L, KRef r) {
    double k;
    return has_range(L, r) && !(kir_is_const(L->f, r, &k) && fabs(k) >= 0x1p60);
}

/* max(a, min(b, x)) or min(a, max(b, x)) for any x, with a and b in *lo and *hi; `order` selects the operand order. */
static bool is_clamp(const KFunc *f, const KIns *i, KRef *lo, KRef *hi, int order) {
    const KIns *inner = &f->ins[order & 1 ? i->a : i->b];
    *lo = order & 1 ? i->b : i->a, *hi = order & 2 ? inner->b : inner->a;
    return (i->op == K_MAX && inner->op == K_MIN) || (i->op == K_MIN && inner->op == K_MAX);
}

/* Whether an unknown value is clamped between known bounds. */
static bool is_kept(Loops *L, const KIns *i, KRef *lo, KRef *hi) {
    for (int order = 0; order < 4; order++)
        if (is_clamp(L->f, i, lo, hi, order) && is_useful_bound(L, *lo) && is_useful_bound(L, *hi)) return true;
    return false;
}

/* Whether i is the truth value of a comparison of a parameter with a constant, as an int. */
static bool is_test_of_param(const KFunc *f, const KIns *i) {
    const KIns *test = &f->ins[i->a], *size = &f->ins[test->a];
    bool compares = i->dtype == QS_I64 && test->op == K_LE && f->ins[test->b].op == K_CONST && size->op == K_ABS;
    return compares && f->ins[size->a].op == K_PARAM;
}

/* For values that are not wide, the bounds fit in 63 bits like the value, so the guard need not test for overflow. */
static bool find_range(Loops *L, KRef r) {
    const KFunc *f = L->f;
    const KIns *i = &f->ins[r];
    double k;
    KRef lo, hi;
    if (kloop_is_wide(L, r)) return false;
    if (kloop_modulus_of(L, r)) return has_range(L, kloop_modulus_of(L, r));
    switch (i->op) {
    case K_CONST:
    case K_PARAM:
    case K_DIM:
    case K_STRIDE:
    case K_POS: return qdtype_is_int((qs_dtype)i->dtype);
    case K_FOR: return has_range(L, i->a) && has_range(L, i->b);
    case K_MIN:
    case K_MAX:
        if (qdtype_is_int((qs_dtype)i->dtype) && is_kept(L, i, &lo, &hi)) return true;
        /* fall through */
    case K_ADD:
    case K_SUB:
    case K_MUL: return qdtype_is_int((qs_dtype)i->dtype) && has_range(L, i->a) && has_range(L, i->b);
    case K_NEG: return qdtype_is_int((qs_dtype)i->dtype) && has_range(L, i->a);
    case K_CAST: return is_test_of_param(f, i);
    case K_BOUND: return has_range(L, i->b);
    case K_MOD: return qdtype_is_int((qs_dtype)i->dtype) && has_range(L, i->b);
    case K_AND: return i->dtype == QS_I64 && kir_is_const(f, i->b, &k) && k >= 0;
    case K_DIV:
    case K_SHR: return i->dtype == QS_I64 && kir_is_const(f, i->b, &k) && k > 0 && has_range(L, i->a);
    default: return false;
    }
}

static bool has_range(Loops *L, KRef r) {
    if (L->ranges[r] >> 1 != L->range_query) {
        bool yes = find_range(L, r);
        L->ranges[r] = L->range_query << 1 | yes;
    }
    return L->ranges[r] & 1;
}

/* Forgets what was found before, since instructions may have been added or removed, or have become wide. */
static void begin_query(Loops *L) {
    if (L->cap_ranges < L->f->nins) {
        L->cap_ranges = 2 * L->f->nins;
        L->ranges = qarena_alloc(L->arena, qmem_size(L->cap_ranges, sizeof *L->ranges, 0));
    }
    L->range_query++;
}

bool kloop_has_range(Loops *L, KRef r) {
    begin_query(L);
    return has_range(L, r);
}

typedef struct {
    KRef lo, hi;
} Bounds;
typedef struct {
    Loops *L;
    KFunc *from, *to;
    Bounds *known;
    KRef *same;
} Guard;

static KRef emit_op(Guard *g, KOp k, KRef a, KRef b) {
    return kir_fold(g->to, (KMake){k, .a = a, .b = b, .pos = g->L->pos});
}
static KRef int_const(Guard *g, int64_t v) { return kir_const_int(g->to, QS_I64, v, g->L->pos); }
static KRef to_real(Guard *g, KRef a) {
    return kir_fold(g->to, (KMake){K_CAST, .own = QS_F64, .a = a, .pos = g->L->pos});
}

static Bounds bounds_of(Guard *g, KRef r);

static Bounds product_bounds(Guard *g, Bounds a, Bounds b) {
    KRef p = emit_op(g, K_MUL, a.lo, b.lo), q = emit_op(g, K_MUL, a.lo, b.hi), r = emit_op(g, K_MUL, a.hi, b.lo),
         s = emit_op(g, K_MUL, a.hi, b.hi);
    return (Bounds){emit_op(g, K_MIN, emit_op(g, K_MIN, p, q), emit_op(g, K_MIN, r, s)),
                    emit_op(g, K_MAX, emit_op(g, K_MAX, p, q), emit_op(g, K_MAX, r, s))};
}

/* Copies the instruction r, which depends on no counter, to the guard. */
static KRef same_value(Guard *g, KRef r) {
    const KIns *i = &g->from->ins[r];
    if (!r || g->same[r]) return r ? g->same[r] : 0;
    KRef a = same_value(g, i->a), b = same_value(g, i->b), c = same_value(g, i->c);
    return g->same[r] = kir_add(g->to, kir_like(i, a, b, c));
}

static KRef iterations_of(Guard *g, const Level *v) {
    KRef first = same_value(g, v->first), last = same_value(g, v->last);
    KRef n = emit_op(g, K_DIV, emit_op(g, K_SUB, last, first), int_const(g, (int64_t)v->step));
    KRef some = emit_op(g, K_LE, v->step < 0 ? last : first, v->step < 0 ? first : last);
    KRef count = emit_op(g, K_ADD, n, int_const(g, 1));
    return kir_fold(g->to, (KMake){K_SELECT, .a = some, .b = count, .c = int_const(g, 0), .pos = g->L->pos});
}

/* The last value of a counter with a known first one, which need not be `end`: 0..8..n-1 ends with a multiple of 8. */
static KRef last_of_counter(Guard *g, Bounds first, KRef end, int64_t step) {
    if (first.lo != first.hi || step == 1 || step == -1) return end;
    KRef steps = emit_op(g, K_DIV, emit_op(g, K_SUB, end, first.lo), int_const(g, step));
    KRef last = emit_op(g, K_ADD, first.lo, emit_op(g, K_MUL, steps, int_const(g, step)));
    return emit_op(g, step > 0 ? K_MIN : K_MAX, last, end);
}

/* The bounds of a FOR from `first` to `last`; a step that is not known may be negative. */
static Bounds bounds_of_counter(Guard *g, const KIns *i, Bounds first, Bounds last) {
    double step = 0;
    if (!kir_is_const(g->from, i->c, &step) || step == 0)
        return (Bounds){emit_op(g, K_MIN, first.lo, last.lo), emit_op(g, K_MAX, first.hi, last.hi)};
    if (step < 0) return (Bounds){last_of_counter(g, first, last.lo, (int64_t)step), first.hi};
    return (Bounds){first.lo, last_of_counter(g, first, last.hi, (int64_t)step)};
}

static Bounds compute_bounds(Guard *g, KRef r) {
    const KIns i = g->from->ins[r];
    KRef lo, hi;
    Bounds a, b;
    if (kloop_modulus_of(g->L, r))
        return (Bounds){int_const(g, 0),
                        emit_op(g, K_SUB, bounds_of(g, kloop_modulus_of(g->L, r)).hi, int_const(g, 1))};
    switch (i.op) {
    case K_CONST:
    case K_PARAM:
    case K_DIM:
    case K_STRIDE: a.lo = kir_add(g->to, kir_like(&i, 0, 0, 0)); return a.hi = a.lo, a;
    case K_POS:
        if (g->L->chunked) return (Bounds){int_const(g, 0), int_const(g, LOOP_CHUNKS - 1)};
        return (Bounds){int_const(g, 0), emit_op(g, K_SUB, iterations_of(g, &g->L->level[i.imm]), int_const(g, 1))};
    case K_NEG:
        a = bounds_of(g, i.a);
        return (Bounds){emit_op(g, K_SUB, int_const(g, 0), a.hi), emit_op(g, K_SUB, int_const(g, 0), a.lo)};
    case K_BOUND: return (Bounds){int_const(g, 0), emit_op(g, K_SUB, bounds_of(g, i.b).hi, int_const(g, 1))};
    case K_MOD: /* a remainder has the sign of the divisor; it is 0 if the divisor is */
        b = bounds_of(g, i.b);
        a.lo = emit_op(g, K_MIN, emit_op(g, K_ADD, b.lo, int_const(g, 1)), int_const(g, 0));
        a.hi = emit_op(g, K_MAX, emit_op(g, K_SUB, b.hi, int_const(g, 1)), int_const(g, 0));
        return a;
    case K_AND: return (Bounds){int_const(g, 0), same_value(g, i.b)};
    case K_CAST: lo = same_value(g, r); return (Bounds){lo, lo};
    case K_DIV:
    case K_SHR: /* by a positive constant */
        a = bounds_of(g, i.a), lo = same_value(g, i.b);
        return (Bounds){emit_op(g, (KOp)i.op, a.lo, lo), emit_op(g, (KOp)i.op, a.hi, lo)};
    default: break;
    }
    bool either = !kloop_has_range(g->L, i.a) || !kloop_has_range(g->L, i.b);
    begin_query(g->L);
    if (either && is_kept(g->L, &i, &lo, &hi)) { /* between the smaller and the greater of its two bounds */
        a = bounds_of(g, lo), b = bounds_of(g, hi);
        return (Bounds){emit_op(g, K_MIN, a.lo, b.lo), emit_op(g, K_MAX, a.hi, b.hi)};
    }
    a = bounds_of(g, i.a), b = bounds_of(g, i.b);
    switch (i.op) {
    case K_FOR: return bounds_of_counter(g, &i, a, b);
    case K_ADD: return (Bounds){emit_op(g, K_ADD, a.lo, b.lo), emit_op(g, K_ADD, a.hi, b.hi)};
    case K_SUB: return (Bounds){emit_op(g, K_SUB, a.lo, b.hi), emit_op(g, K_SUB, a.hi, b.lo)};
    case K_MUL: return product_bounds(g, a, b);
    default: return (Bounds){emit_op(g, (KOp)i.op, a.lo, b.lo), emit_op(g, (KOp)i.op, a.hi, b.hi)}; /* MIN MAX */
    }
}

static Bounds bounds_of(Guard *g, KRef r) {
    if (!g->known[r].lo) {
        Bounds b = compute_bounds(g, r);
        g->known[r] = b;
    }
    return g->known[r];
}

/* -- the guard ----------------------------------------------------------------------------------------------------- */
static void store_result(Guard *g, int param, int slot, KRef v) {
    kir_add(g->to, (KMake){K_STORE, .a = int_const(g, slot), .b = v, .imm = (uint64_t)param, .pos = g->L->pos});
}

/* The condition that the sum is never negative.  A parallel computation in doubles detects wrapping of int64. */
static KRef never_negative(Guard *g, const Affine *sum) {
    KRef least = int_const(g, sum->constant), rough = to_real(g, least);
    for (int i = 0; i < sum->n; i++) {
        Bounds b = bounds_of(g, sum->term[i].ref);
        KRef at = sum->term[i].factor < 0 ? b.hi : b.lo;
        KRef factor = kir_const_num(g->to, QS_F64, (double)sum->term[i].factor, g->L->pos);
        least = emit_op(g, K_ADD, least, emit_op(g, K_MUL, at, int_const(g, sum->term[i].factor)));
        rough = emit_op(g, K_ADD, rough, emit_op(g, K_MUL, to_real(g, at), factor));
    }
    KRef plain = emit_op(g, K_LE, kir_const_num(g->to, QS_F64, -1, g->L->pos), rough);
    return emit_op(g, K_AND, emit_op(g, K_LE, int_const(g, 0), least), plain);
}

/* The condition that one end of the index is inside: by `ranged` (0: unknown), or by one of the proofs. */
static KRef end_is_inside(Guard *g, KRef ranged, const Proof *end) {
    KRef yes = kir_const_int(g->to, QS_B1, end->sure, g->L->pos);
    if (ranged) yes = emit_op(g, K_OR, yes, ranged);
    for (int i = 0; i < end->n && !end->sure; i++) {
        const Rest *r = &end->rest[i];
        yes = emit_op(g, K_OR, yes, emit_op(g, K_AND, never_negative(g, &r->sum), never_negative(g, &r->given)));
    }
    return yes;
}

static KRef is_inside(Guard *g, const Check *c, Bounds at, KRef size) {
    KRef low = c->ranged ? emit_op(g, K_LE, int_const(g, 0), at.lo) : 0,
         high = c->ranged ? emit_op(g, K_LT, at.hi, size) : 0;
    return emit_op(g, K_AND, end_is_inside(g, low, &c->low), end_is_inside(g, high, &c->high));
}

/* Stores the number of the first test that may fail, and its values. */
static void put_tests(Guard *g, int where) {
    const Loops *L = g->L;
    KRef failed = int_const(g, 0), seen[3] = {failed, failed, failed};
    for (uint32_t i = L->nchecks; i-- > 0;) {
        const Check *c = &L->checks[i];
        Bounds size = bounds_of(g, c->n), at = c->ranged ? bounds_of(g, c->at) : (Bounds){int_const(g, 0), size.lo};
        KRef fine = is_inside(g, c, at, size.lo);
        const KRef now[3] = {at.lo, at.hi, size.lo};
        failed = kir_fold(g->to, (KMake){K_SELECT, .a = fine, .b = failed, .c = int_const(g, i + 1), .pos = L->pos});
        for (int k = 0; k < 3; k++)
            seen[k] = kir_fold(g->to, (KMake){K_SELECT, .a = fine, .b = seen[k], .c = now[k], .pos = L->pos});
    }
    store_result(g, where, LOOP_GUARD_FAILED, failed);
    for (int k = 0; k < 3; k++) store_result(g, where, LOOP_GUARD_LO + k, seen[k]);
}

static void put_lengths(Guard *g, int where) {
    KRef most = int_const(g, 0);
    for (int i = 0; i < g->L->nsummed; i++) {
        bool known = kloop_has_range(g->L, g->L->summed[i]);
        KRef hi = known ? bounds_of(g, g->L->summed[i]).hi : int_const(g, INT64_MAX);
        most = emit_op(g, K_MAX, most, hi);
    }
    store_result(g, where, LOOP_GUARD_SUMMED, most);
    KRef unlike = kir_const_int(g->to, QS_B1, 0, g->L->pos);
    for (int i = 0; i < g->L->nunlike; i++)
        unlike = emit_op(g, K_OR, unlike, emit_op(g, K_NE, same_value(g, g->L->unlike[i]), int_const(g, 0)));
    KRef one = int_const(g, 1), none = int_const(g, 0);
    unlike = kir_fold(g->to, (KMake){K_SELECT, .a = unlike, .b = one, .c = none, .pos = g->L->pos});
    store_result(g, where, LOOP_GUARD_UNLIKE, unlike);
}

qs_status kloop_guard(Loops *L, Arena *arena, LoopCode *out) {
    Guard g = {.L = L, .from = L->f};
    int n = L->f->nparams;
    KParam result = {.name = qstr_cname(L->c, "wholes"),
                     .kind = KP_ARRAY,
                     .dtype = QS_I64,
                     .rank = 1,
                     .contiguous = true,
                     .unit_last = true};
    g.to = kir_new(L->c, arena, qstr_cname(L->c, "guard"), L->f->src);
    g.to->rank = 1, g.to->serial = true;
    g.known = qarena_alloc(L->arena, qmem_size(L->f->nins, sizeof *g.known, 0));
    g.same = qarena_alloc(L->arena, qmem_size(L->f->nins, sizeof *g.same, 0));
    for (int i = 0; i < n; i++) kir_param(g.to, &L->f->params[i]);
    int where = kir_param(g.to, &result);
    put_tests(&g, where);
    put_lengths(&g, where);
    for (int i = 1; L->mode == MODE_PARALLEL && i < L->axes; i++)
        store_result(&g, where, LOOP_GUARD_ITERATIONS + i, iterations_of(&g, &L->level[i]));
    kir_seal(g.to);
    out->tests = qarena_alloc(arena, qmem_size(L->nchecks, sizeof *out->tests, sizeof *out->tests));
    out->optional = false;
    for (uint32_t i = 0; i < L->nchecks; i++) {
        out->tests[i] = L->checks[i].test;
        out->optional |= L->checks[i].test.optional;
    }
    out->func = g.to;
    out->binds = qarena_alloc(arena, qmem_size((size_t)n, sizeof *out->binds, sizeof *out->binds));
    for (int i = 0; i < n; i++) out->binds[i] = L->binds[i];
    out->binds[n] = (LoopBind){LOOP_INTS, 0};
    return kir_verify(L->c, g.to);
}
