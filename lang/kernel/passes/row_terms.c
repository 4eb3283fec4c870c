/* row_terms.c -- computes the terms of a sum along a row of a kernel in vectors, in front of the sum.
 *
 *     FOR j = a..b                         LOOP over blocks of j
 *       e = exp(x[i,j])                      FOR j in the block
 *       y[i,j] = e                             e = exp(x[i,j]); y[i,j] = e; t[j] = e
 *       s = s + e                    =>      END
 *     END                                    FOR j in the block
 *                                              s = s + t[j]
 *                                            END
 *                                          END
 *                                          FOR the remaining j: as before
 *
 * A variable that is computed from its last value keeps a loop from vectors.  The order of its values stays the same,
 * and so do the bits.  The first part has all stores and the loads beside them, so their order does not change, either.
 * The pass pays off if the terms are expensive. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/opt.h"

enum {
    TERMS = 4,  /* most values that are passed from the first part to the second */
    BLOCK = 64, /* iterations of a block */
    MOST = 120  /* instructions of the body */
};

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef *map;       /* by instruction of f: its copy */
    uint8_t *serial; /* by instruction of f: depends on the last iteration; for a LOCAL: its value does */
    uint8_t *again;  /* by instruction of f: both parts compute it */
    KRef loop, end;
    int64_t step;
    bool stores;        /* the body stores elements */
    KRef term[TERMS];   /* in f: values of the first part that the second one needs */
    KRef buffer[TERMS]; /* in the copy: their private arrays */
    int n;
} Terms;

static const KIns *get_ins(const Terms *t, KRef r) { return &t->f->ins[r]; }
static bool is_inside(const Terms *t, KRef r) { return r > t->loop && r < t->end; }
static bool is_local_access(const KIns *i) { return i->op == K_GET || i->op == K_SET; }

/* -- the parts ----------------------------------------------------------------------------------------------------- */
/* Whether the body is straight code without index tests.  Elements must be neighbours, so that LLVM can load several
 * at once. */
static bool has_plain_body(Terms *t) {
    Invariants same = {.arena = t->arena, .f = t->f, .loop = t->loop, .end = t->end};
    t->stores = false;
    for (KRef r = t->loop + 1; r < t->end; r++) {
        const KIns *i = get_ins(t, r);
        int64_t by;
        bool element = (i->op == K_LOAD || i->op == K_STORE) && !kir_guard(i), local = i->op == K_LOCAL;
        if (!element && !local && !is_local_access(i) && kir_ops[i->op].effect != KE_PURE) return false;
        if (!element) continue;
        if (!kaffine_stride(&same, i->a, &by) || by < -1 || by > 1 || (!by && i->op == K_STORE)) return false;
        t->stores |= i->op == K_STORE;
    }
    return true;
}

/* Whether the body reads the LOCAL before it sets it. */
static bool is_carried(const Terms *t, KRef local) {
    for (KRef r = t->loop + 1; r < t->end; r++)
        if (is_local_access(get_ins(t, r)) && get_ins(t, r)->a == local) return get_ins(t, r)->op == K_GET;
    return false;
}

static bool is_serial(const Terms *t, KRef r) {
    const KIns *i = get_ins(t, r);
    if (i->op == K_GET) return t->serial[i->a];
    if (i->op == K_SET && t->serial[i->a]) return true;
    for (int k = 0; k < 3; k++)
        if (is_inside(t, i->arg[k]) && t->serial[i->arg[k]] && !(i->op == K_SET && !k)) return true;
    return false;
}

/* Finds what depends on the last iteration; false: nothing does. */
static bool find_serial(Terms *t) {
    bool any = false, changed = true;
    for (KRef r = 1; r < t->end; r++) t->serial[r] = t->again[r] = 0;
    for (KRef r = t->loop + 1; r < t->end; r++) {
        const KIns *i = get_ins(t, r);
        if (i->op == K_SET && i->a < t->loop && is_carried(t, i->a)) t->serial[i->a] = 1, any = true;
    }
    while (changed) {
        changed = false;
        for (KRef r = t->loop + 1; r < t->end; r++) {
            if (t->serial[r] || !is_serial(t, r)) continue;
            t->serial[r] = 1, changed = true;
            if (get_ins(t, r)->op == K_SET) t->serial[get_ins(t, r)->a] = 1;
        }
    }
    return any;
}

static bool pass_term(Terms *t, KRef r) {
    for (int k = 0; k < t->n; k++)
        if (t->term[k] == r) return true;
    if (t->n == TERMS || get_ins(t, r)->dtype == QS_BOOL) return false;
    t->term[t->n++] = r;
    return true;
}

/* Makes r available in the second part.  Indices and conditions are computed again, and products, because a backend may
 * round a product and a sum once. */
static bool provide(Terms *t, KRef r) {
    const KIns *i = get_ins(t, r);
    if (!is_inside(t, r) || t->serial[r] || t->again[r]) return true;
    bool pure = kir_ops[i->op].effect == KE_PURE, cheap = pure && (!kir_is_float((qs_dtype)i->dtype) || i->op == K_MUL);
    if (!cheap && i->op != K_CONST && !(i->op == K_LOAD && !t->stores)) return pass_term(t, r);
    t->again[r] = 1;
    for (int k = 0; k < 3; k++)
        if (i->arg[k] && !provide(t, i->arg[k])) return false;
    return true;
}

static bool find_terms(Terms *t) {
    t->n = 0;
    for (KRef r = t->loop + 1; r < t->end; r++) {
        const KIns *i = get_ins(t, r);
        if (!t->serial[r]) continue;
        if (i->op == K_STORE || (i->op == K_LOAD && t->stores)) return false;
        for (int k = is_local_access(i); k < 3; k++)
            if (i->arg[k] && !provide(t, i->arg[k])) return false;
    }
    return t->n > 0;
}

/* Whether the first part has operations that gain much in vectors. */
static bool is_expensive(const Terms *t) {
    for (KRef r = t->loop + 1; r < t->end; r++) {
        const KIns *i = get_ins(t, r);
        bool divides = (i->op == K_DIV || i->op == K_MOD) && kir_is_float((qs_dtype)i->dtype);
        bool slow = divides || (i->op == K_MATH && !kir_is_rounding(i));
        if (slow && !t->serial[r] && !t->again[r]) return true;
    }
    return false;
}

static bool is_candidate(void *pass, KRef loop) {
    Terms *t = pass;
    t->loop = loop, t->end = t->f->regions[loop].end;
    double step;
    if (t->end - loop > MOST || !kir_steps_by_one(t->f, loop)) return false;
    if (!kir_is_const(t->f, get_ins(t, loop)->c, &step)) return false;
    t->step = (int64_t)step;
    return has_plain_body(t) && find_serial(t) && find_terms(t) && is_expensive(t);
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
/* Begins a FOR with an int64 counter and sets the copy of the old counter.  The old counter, converted to int64, is the
 * sum itself, so that LLVM sees that elements are neighbours. */
static KRef begin_for(Terms *t, KRef first, KRef last, int64_t step) {
    return kir_for(t->to, first, last, step, get_ins(t, t->loop)->flag);
}

static void copy_body(Terms *t, KRef counter, bool wanted(const Terms *t, KRef r)) {
    t->map[t->loop] = kir_cast(t->to, (qs_dtype)get_ins(t, t->loop)->dtype, counter);
    for (KRef r = t->loop + 1; r < t->end; r++) {
        const KIns *i = get_ins(t, r);
        if (!wanted(t, r)) continue;
        if (i->op == K_CAST && i->a == t->loop && i->dtype == QS_I64) t->map[r] = counter;
        else kir_copy_mapped(t->to, t->f, t->map, r);
    }
}

static bool is_first(const Terms *t, KRef r) { return !t->serial[r]; }
static bool is_second(const Terms *t, KRef r) { return t->serial[r] || t->again[r]; }
static bool is_any(const Terms *t, KRef r) { return (void)t, (void)r, true; }

/* Copies both parts for the block that begins at `now`.  `span` is at least BLOCK - 1: a limit that is not constant
 * keeps the loops from being unrolled completely. */
static void copy_block(Terms *t, KRef now, KRef span) {
    KFunc *to = t->to;
    KRef last = kir_op(to, K_MIN, span, kir_int(to, BLOCK - 1));
    for (int part = 0; part < 2; part++) {
        KRef at = begin_for(t, kir_int(to, 0), last, 1), index = kir_cast(to, QS_I32, at);
        for (int k = 0; part && k < t->n; k++)
            t->map[t->term[k]] = kir_emit(to, (KMake){K_ALOAD, .a = t->buffer[k], .b = index});
        copy_body(t, kir_op(to, t->step > 0 ? K_ADD : K_SUB, now, at), part ? is_second : is_first);
        for (int k = 0; !part && k < t->n; k++)
            kir_emit(to, (KMake){K_ASTORE, .a = t->buffer[k], .b = index, .c = t->map[t->term[k]]});
        kir_flow(to, K_END, 0);
    }
}

static void replace_loop(void *pass) {
    Terms *t = pass;
    KFunc *to = t->to;
    const KIns *i = get_ins(t, t->loop);
    to->pos = i->pos;
    KRef last = kir_cast(to, QS_I64, t->map[i->b]), next = kir_local(to, kir_cast(to, QS_I64, t->map[i->a]));
    for (int k = 0; k < t->n; k++)
        t->buffer[k] = kir_emit(to, (KMake){K_LARRAY, .own = (qs_dtype)get_ins(t, t->term[k])->dtype, .imm = BLOCK});
    kir_flow(to, K_LOOP, 0);
    KRef now = kir_get(to, next), span = t->step > 0 ? kir_op(to, K_SUB, last, now) : kir_op(to, K_SUB, now, last);
    kir_flow(to, K_IF, kir_op(to, K_LT, span, kir_int(to, BLOCK - 1)));
    kir_flow(to, K_BREAK, 0);
    kir_flow(to, K_END, 0);
    copy_block(t, now, span);
    kir_set(to, next, kir_op(to, K_ADD, now, kir_int(to, BLOCK * t->step)));
    kir_flow(to, K_END, 0);
    KRef first = kir_get(to, next);
    copy_body(t, begin_for(t, first, last, t->step), is_any);
    kir_flow(to, K_END, 0);
}

const KFunc *krowterms_block(Ctx *c, Arena *a, const KFunc *f, KSplit *split) {
    if (f->strict || f->rounds || f->fast) return f; /* fast math: LLVM reorders sums */
    Terms t = {.arena = a, .f = f, .serial = qarena_alloc(a, f->nins), .again = qarena_alloc(a, f->nins)};
    return kopt_replace_row_loops(c, a, f, split, (KLoopPass){&t, &t.to, &t.map, is_candidate, replace_loop});
}
