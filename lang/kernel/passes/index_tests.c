/* index_tests.c -- makes the index tests of an inner loop once, in front of it.
 *
 *     FOR c = n..w[i] by -1                ok = c - w[i] is inside for c = n and for c = w[i], and w[i] >= 0
 *       if c - w[i] is outside: BREAK      IF ok
 *       x[c] = max(x[c], x[c - w[i]])        FOR c = n..w[i] by -1, flag AHEAD
 *     END                              =>      x[c] = max(x[c], x[c - w[i]])
 *                                            END
 *                                          ELSE
 *                                            the loop as it was
 *                                          END
 *
 * The guard of a loop of the program makes tests that depend on its counters and parameters only.  This pass makes
 * those that depend on a value of an outer iteration, for example on an element.  A loop without tests has no early
 * exit, so that LLVM can vectorize it.
 *
 * An index that is tested is a multiple of the counter plus a value that all iterations share.  Or it is computed from
 * elements, as in s += v[k]*x[c[k]]: then a loop of its own, which becomes vectors, tests all of them first.  The
 * lowering has proved that the launch tests whether arrays overlap (the flag of the FOR).  If the iterations are not
 * known to be independent, the loop must read each element before the iteration that stores it (KFLAG_AHEAD), which is
 * part of the condition if it depends on values.
 *
 * An integer that all iterations share and that takes part in the arithmetic is often exact in float32.  The condition
 * includes this, so that the pass float32 can compute in float32. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 200 /* instructions of a loop */, FACTOR = 1 << 20 /* largest factor and step */, DEEP = 6 };
/* Fewest iterations for which all indices from elements are tested first: of known number, and of any other. */
enum { SHORT = 8, LONG = 32 };
static const int64_t longest = (int64_t)1 << 40; /* greatest distance of the first and the last counter */

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef *map;      /* by instruction: its copy in the code that is being made */
    KRef loop, end; /* the FOR that is looked at */
    uint8_t *same;  /* by instruction of the body: all iterations compute the same value, in front of the loop, too */
    int64_t step;
    bool ahead;   /* the loop reads each element before it is stored, if the conditions hold; else: it is independent */
    bool gathers; /* an index is computed from elements */
    KRef ok;      /* in the copy: all conditions so far hold */
} Hoist;

static const KIns *get_ins(const Hoist *h, KRef r) { return &h->f->ins[r]; }
static bool is_shared(const Hoist *h, KRef r) { return r < h->loop || h->same[r]; }

/* -- conditions ---------------------------------------------------------------------------------------------------- */
/* Returns the INB of a test that leaves the loop if an index is outside; 0: r is no such IF. */
static KRef test_of(const Hoist *h, KRef r) {
    const KIns *i = get_ins(h, r);
    KRef end = h->f->regions[r].end;
    if (i->op != K_IF || get_ins(h, end)->op != K_END || get_ins(h, end - 1)->op != K_BREAK) return 0;
    const KIns *outside = get_ins(h, i->a);
    return outside->op == K_NOT && get_ins(h, outside->a)->op == K_INB ? outside->a : 0;
}

/* A load in a branch stays there, because the branch may be what makes its index valid. */
static bool is_same(const Hoist *h, KRef r, int depth) {
    const KIns *i = get_ins(h, r);
    if (i->op == K_GET) return i->a < h->loop && !kir_sets(h->f, h->loop + 1, h->end, i->a);
    if (i->op == K_LOAD) return !depth && !i->b && is_shared(h, i->a) && !kir_stores(h->f, h->loop + 1, h->end, i->imm);
    return kir_ops[i->op].effect == KE_PURE && is_shared(h, i->a) && is_shared(h, i->b) && is_shared(h, i->c);
}

/* The index r as *factor * counter + *rest; false: it has another form. */
static bool split_index(const Hoist *h, KRef r, int64_t *factor, Affine *rest) {
    *factor = 0;
    if (!kaffine_of(h->f, r, rest)) return false;
    for (int i = 0; i < rest->n; i++) {
        if (rest->term[i].ref == h->loop) *factor = rest->term[i].factor;
        else if (!is_shared(h, rest->term[i].ref)) return false;
    }
    Affine counter = {.n = *factor != 0, .term = {{h->loop, *factor}}};
    return *factor > -FACTOR && *factor < FACTOR && kaffine_add(rest, &counter, -1);
}

static bool can_test(const Hoist *h, KRef inside) {
    int64_t factor;
    Affine rest;
    return split_index(h, get_ins(h, inside)->a, &factor, &rest) && is_shared(h, get_ins(h, inside)->b);
}

/* Whether r can be computed in front of the loop for each counter: the loop does not change the elements it reads. */
static bool can_compute(const Hoist *h, KRef r, int depth) {
    const KIns *i = get_ins(h, r);
    if (!r || is_shared(h, r) || r == h->loop) return true;
    bool load = i->op == K_LOAD && !i->b && h->f->regions[r].around == h->loop;
    if (load ? kir_stores(h->f, h->loop + 1, h->end, i->imm) : kir_ops[i->op].effect != KE_PURE) return false;
    for (int k = 0; k < 3; k++)
        if (!depth || !can_compute(h, i->arg[k], depth - 1)) return false;
    return true;
}

/* Whether all values of an index can be tested by a loop in front of this one. */
static bool can_gather(const Hoist *h, KRef inside) {
    return h->f->regions[inside].around == h->loop && can_compute(h, get_ins(h, inside)->a, DEEP) &&
           is_shared(h, get_ins(h, inside)->b);
}

/* Returns the distance of the first and the last counter if it is constant; -1: it is not. */
static int64_t find_span(const Hoist *h) {
    Affine first, last;
    const KIns *i = get_ins(h, h->loop);
    bool known = kaffine_of(h->f, i->a, &first) && kaffine_of(h->f, i->b, &last) && kaffine_add(&last, &first, -1);
    return known && !last.n && h->step ? llabs(last.constant) / llabs(h->step) : -1;
}

/* Whether the loop becomes vectors without the tests, so that testing all indices first is worth it. */
static bool is_worth_gathering(const Hoist *h) {
    int64_t span = find_span(h);
    bool plain = get_ins(h, h->loop)->flag == KFLAG_REASSOC && (span < 0 || span >= SHORT - 1);
    for (KRef r = h->loop + 1; r < h->end && plain; r++) {
        KRef inside = test_of(h, r);
        if (inside) r = h->f->regions[r].end;
        else
            plain = get_ins(h, r)->op != K_IF && !(get_ins(h, r)->op == K_SET && kplan_is_recurrence(h->f, h->loop, r));
    }
    return plain;
}

/* Whether the body has straight code, branches, and index tests that can be made in front of the loop. */
static bool scan_body(Hoist *h) {
    int depth = 0, tests = 0;
    h->gathers = false;
    for (KRef r = h->loop + 1; r < h->end; r++) {
        const KIns *i = get_ins(h, r);
        KRef inside = test_of(h, r);
        if (inside) {
            if (!can_test(h, inside) && !can_gather(h, inside)) return false;
            h->gathers |= !can_test(h, inside);
            tests++, r = h->f->regions[r].end;
            continue;
        }
        bool memory = (i->op == K_LOAD && !i->b) || (i->op == K_STORE && !i->c);
        bool local = i->op == K_LOCAL || i->op == K_GET || i->op == K_SET;
        bool branch = i->op == K_IF || i->op == K_ELSE || i->op == K_END;
        if (!memory && !local && !branch && kir_ops[i->op].effect != KE_PURE) return false;
        depth += (i->op == K_IF) - (i->op == K_END);
        h->same[r] = is_same(h, r, depth);
    }
    return tests > 0 && (!h->gathers || is_worth_gathering(h));
}

/* Finds how much greater the index of `load` is than that of `store`; false: it depends on the counter. */
static bool find_distance(const Hoist *h, KRef load, KRef store, int64_t *factor, Affine *distance) {
    Affine stored;
    int64_t by;
    if (!split_index(h, get_ins(h, load)->a, &by, distance)) return false;
    return split_index(h, get_ins(h, store)->a, factor, &stored) && by == *factor && *factor &&
           kaffine_add(distance, &stored, -1);
}

/* Whether a distance of this sign leads to an element that a later iteration stores, or the same one. */
static bool leads_ahead(const Hoist *h, int64_t factor, int64_t distance) {
    return distance == 0 || (distance > 0) == ((factor > 0) == (h->step > 0));
}

static bool may_be_ahead(const Hoist *h, KRef store, KRef r) {
    const KIns *i = get_ins(h, r);
    int64_t factor;
    Affine distance;
    if ((i->op != K_LOAD && i->op != K_STORE) || i->imm != get_ins(h, store)->imm || r == store) return true;
    if (i->op == K_STORE || r > store || !find_distance(h, r, store, &factor, &distance)) return false;
    return distance.n || leads_ahead(h, factor, distance.constant);
}

/* Whether each array has one store, which moves with the counter, and is read before. */
static bool can_be_ahead(const Hoist *h) {
    for (KRef s = h->loop + 1; s < h->end; s++) {
        int64_t factor;
        Affine rest;
        if (get_ins(h, s)->op != K_STORE) continue;
        if (!split_index(h, get_ins(h, s)->a, &factor, &rest) || !factor) return false;
        for (KRef r = h->loop + 1; r < h->end; r++)
            if (!may_be_ahead(h, s, r)) return false;
    }
    return true;
}

static bool can_hoist(void *pass, KRef loop) {
    Hoist *h = pass;
    const KIns *i = get_ins(h, loop);
    double step;
    if (i->op != K_FOR || !i->flag || i->dtype != QS_I64 || !kir_is_const(h->f, i->c, &step)) return false;
    h->loop = loop, h->end = h->f->regions[loop].end, h->step = (int64_t)step;
    h->ahead = i->flag == KFLAG_APART;
    if (!step || fabs(step) >= FACTOR || h->end - loop > MOST) return false;
    return scan_body(h) && (!h->ahead || can_be_ahead(h));
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static void require(Hoist *h, KRef condition) { h->ok = kir_op(h->to, K_AND, h->ok, condition); }

/* The value of r, part of an index, in the iteration of this counter. */
static KRef value_at(Hoist *h, KRef r, KRef counter) {
    const KIns *i = get_ins(h, r);
    if (!r || is_shared(h, r)) return h->map[r];
    if (r == h->loop) return counter;
    KRef a = value_at(h, i->a, counter), b = value_at(h, i->b, counter), c = value_at(h, i->c, counter);
    return kir_copy(h->to, i, a, b, c);
}

/* 0 <= x < n; not as an INB, for which the pass that splits the interior off looks. */
static void require_range(Hoist *h, KRef x, KRef n) {
    require(h, kir_op(h->to, K_LE, kir_int(h->to, 0), x));
    require(h, kir_op(h->to, K_LT, x, n));
}

/* If the first and the last index are inside, so are all between them. */
static void require_inside(Hoist *h, KRef inside, KRef first, KRef last) {
    KRef at = get_ins(h, inside)->a, n = h->map[get_ins(h, inside)->b];
    require_range(h, value_at(h, at, first), n);
    require_range(h, value_at(h, at, last), n);
}

/* Begins a loop with the iterations of this one and returns its counter. */
static KRef begin_loop(Hoist *h, unsigned flag) {
    const KIns *i = get_ins(h, h->loop);
    KMake loop = kir_like(i, h->map[i->a], h->map[i->b], h->map[i->c]);
    loop.flag = flag;
    return h->gathers ? kaffine_for(h->to, loop) : kir_add(h->to, loop);
}

static void require_all_inside(Hoist *h, KRef inside) {
    KFunc *to = h->to;
    KRef n = h->map[get_ins(h, inside)->b], outside = kir_local(to, kir_zero(to, QS_I32));
    kir_flow(to, K_IF, h->ok);
    KRef at = value_at(h, get_ins(h, inside)->a, begin_loop(h, KFLAG_REASSOC));
    KRef now = kir_op(to, K_OR, kir_op(to, K_LT, at, kir_int(to, 0)), kir_op(to, K_LE, n, at));
    kir_set(to, outside, kir_op(to, K_OR, kir_get(to, outside), kir_cast(to, QS_I32, now)));
    kir_flow(to, K_END, 0);
    kir_flow(to, K_END, 0);
    require(h, kir_op(to, K_EQ, kir_get(to, outside), kir_zero(to, QS_I32)));
}

/* A float64 that is an integer converted: the same by way of float32. */
static void require_exact(Hoist *h, KRef r) {
    const KIns *i = get_ins(h, r);
    if (i->op != K_CAST || i->dtype != QS_F64 || !qdtype_is_int((qs_dtype)get_ins(h, i->a)->dtype)) return;
    KRef full = h->map[r];
    h->map[r] = kir_cast(h->to, QS_F64, kir_cast(h->to, QS_F32, full));
    require(h, kir_op(h->to, K_EQ, full, h->map[r]));
}

/* Computes the shared values in front of the loop, and the conditions.  Loads follow the tests of their indices. */
static void add_conditions(Hoist *h, KRef first, KRef last) {
    KRef low = h->step > 0 ? first : last, high = h->step > 0 ? last : first;
    h->ok = kir_op(h->to, K_LE, low, high);
    require_range(h, kir_op(h->to, K_SUB, high, low), kir_int(h->to, longest));
    if (h->gathers && find_span(h) < 0)
        require(h, kir_op(h->to, K_LE, kir_int(h->to, (LONG - 1) * llabs(h->step)), kir_op(h->to, K_SUB, high, low)));
    for (KRef r = h->loop + 1; r < h->end; r++) {
        const KIns *i = get_ins(h, r);
        KRef inside = test_of(h, r);
        if (inside) {
            if (can_test(h, inside)) require_inside(h, inside, first, last);
            else require_all_inside(h, inside);
            r = h->f->regions[r].end;
        } else if (h->same[r]) {
            KRef b = i->op == K_LOAD ? h->ok : h->map[i->b];
            h->map[r] = kir_copy(h->to, i, h->map[i->a], b, h->map[i->c]);
        }
    }
}

static void require_ahead(Hoist *h, KRef store, KRef load, KRef first) {
    int64_t factor;
    Affine distance;
    if (!find_distance(h, load, store, &factor, &distance) || !distance.n) return;
    KRef read = value_at(h, get_ins(h, load)->a, first), written = value_at(h, get_ins(h, store)->a, first);
    bool up = leads_ahead(h, factor, 1);
    require(h, kir_op(h->to, K_LE, up ? written : read, up ? read : written));
}

static void add_order(Hoist *h, KRef first) {
    for (KRef s = h->loop + 1; h->ahead && s < h->end; s++)
        for (KRef r = h->loop + 1; get_ins(h, s)->op == K_STORE && r < s; r++)
            if (get_ins(h, r)->op == K_LOAD && get_ins(h, r)->imm == get_ins(h, s)->imm) require_ahead(h, s, r, first);
}

static void copy_without_tests(Hoist *h) {
    h->map[h->loop] = begin_loop(h, h->ahead ? KFLAG_AHEAD : get_ins(h, h->loop)->flag);
    for (KRef r = h->loop + 1; r < h->end; r++) {
        if (test_of(h, r)) r = h->f->regions[r].end;
        else if (!h->same[r]) kir_copy_mapped(h->to, h->f, h->map, r);
    }
    kir_copy_mapped(h->to, h->f, h->map, h->end);
}

static void replace_loop(void *pass) {
    Hoist *h = pass;
    const KIns *i = get_ins(h, h->loop);
    h->to->pos = i->pos;
    add_conditions(h, h->map[i->a], h->map[i->b]);
    add_order(h, h->map[i->a]);
    for (KRef r = h->loop + 1; r < h->end; r++)
        if (h->same[r]) require_exact(h, r);
    kir_flow(h->to, K_IF, h->ok);
    copy_without_tests(h);
    kir_flow(h->to, K_ELSE, 0);
    for (KRef r = h->loop; r <= h->end; r++) kir_copy_mapped(h->to, h->f, h->map, r);
    kir_flow(h->to, K_END, 0);
}

static Hoist begin_hoist(Arena *a, const KFunc *f) {
    return (Hoist){.arena = a, .f = f, .same = qarena_alloc(a, f->nins)};
}

static bool has_tests(const KFunc *f) { return f->strict && kir_has(f, K_FOR) && kir_has(f, K_INB); }

uint8_t *kindextests_chosen(Arena *a, const KFunc *f) {
    Hoist h = begin_hoist(a, f);
    uint8_t *chosen = qarena_alloc(a, f->nins);
    for (KRef r = 1; has_tests(f) && r < f->nins; r++)
        for (KRef s = can_hoist(&h, r) ? r : f->nins; s < f->nins && s <= h.end; s++) chosen[s] = 1;
    return chosen;
}

const KFunc *kindextests_hoist(Ctx *c, Arena *a, const KFunc *f) {
    Hoist h = begin_hoist(a, f);
    return has_tests(f) ? kir_replace_loops(c, a, f, (KLoopPass){&h, &h.to, &h.map, can_hoist, replace_loop}) : f;
}
