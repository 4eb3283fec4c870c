/* collapse.c -- merges the last two axes of a launch into one loop.
 *
 * Images have a short last axis, the colour channels: a loop of three iterations cannot be vectorized.  But if every
 * index depends on the last two positions p and q only as  s·(p·n + q),  where n is the extent of the last axis,
 * the loops over p and q can become one loop over p·n + q.
 *
 * Expands indices into sums of products and searches them for the two positions. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"

#include <string.h>

enum { VISITS = 200 };

typedef struct {
    int n;
    Monomial term[POLY_TERMS];
} Poly;

typedef struct {
    const KFunc *f;
    const uint8_t *transparent;
    uint8_t *moves;   /* by instruction: an index that depends on one of the two positions */
    int outer, inner; /* the axes */
    int visits;
    CollapsePair *pair;
    int npairs;
} Collapser;

static const KIns *get_ins(const Collapser *c, KRef r) { return &c->f->ins[r]; }

/* -- sums of products ---------------------------------------------------------------------------------------------- */
static bool same_product(const Monomial *a, const Monomial *b) {
    return a->n == b->n && !memcmp(a->factor, b->factor, (size_t)a->n * sizeof *a->factor);
}

static bool add_term(Poly *p, const Monomial *m) {
    for (int i = 0; i < p->n; i++)
        if (same_product(&p->term[i], m)) {
            p->term[i].number = (int64_t)((uint64_t)p->term[i].number + (uint64_t)m->number);
            return true;
        }
    if (p->n == POLY_TERMS) return false;
    p->term[p->n++] = *m;
    return true;
}

static bool multiply_monomial(Monomial *a, const Monomial *b) {
    a->number = (int64_t)((uint64_t)a->number * (uint64_t)b->number);
    for (int i = 0; i < b->n; i++) {
        if (a->n == POLY_FACTORS) return false;
        int k = a->n++;
        for (; k > 0 && a->factor[k - 1] > b->factor[i]; k--) a->factor[k] = a->factor[k - 1];
        a->factor[k] = b->factor[i];
    }
    return true;
}

static bool poly_of(Collapser *c, KRef r, Poly *out);

static bool expand_sum(Collapser *c, const KIns *i, int64_t sign, Poly *out) {
    Poly b;
    if (!poly_of(c, i->a, out) || !poly_of(c, i->b, &b)) return false;
    for (int k = 0; k < b.n; k++) {
        b.term[k].number = (int64_t)((uint64_t)b.term[k].number * (uint64_t)sign);
        if (!add_term(out, &b.term[k])) return false;
    }
    return true;
}

static bool expand_product(Collapser *c, const KIns *i, Poly *out) {
    Poly a, b;
    if (!poly_of(c, i->a, &a) || !poly_of(c, i->b, &b)) return false;
    out->n = 0;
    for (int x = 0; x < a.n; x++)
        for (int y = 0; y < b.n; y++) {
            Monomial m = a.term[x];
            if (!multiply_monomial(&m, &b.term[y]) || !add_term(out, &m)) return false;
        }
    return true;
}

/* Expands r, which is int64 or a position. */
static bool poly_of(Collapser *c, KRef r, Poly *out) {
    const KIns *i = get_ins(c, r);
    if (++c->visits > VISITS) return false;
    if (i->op == K_CONST) return *out = (Poly){1, {{(int64_t)i->imm, 0, {0}}}}, true;
    if (i->op == K_ADD) return expand_sum(c, i, 1, out);
    if (i->op == K_SUB) return expand_sum(c, i, -1, out);
    if (i->op == K_MUL) return expand_product(c, i, out);
    if (i->op == K_BOUND && c->transparent[r]) return poly_of(c, i->a, out);
    if (i->op == K_CAST && get_ins(c, i->a)->op == K_POS) return poly_of(c, i->a, out);
    *out = (Poly){1, {{1, 1, {kaffine_leader(c->f, r)}}}};
    return true;
}

/* -- finding the two positions ------------------------------------------------------------------------------------- */
static bool is_position(const Collapser *c, KRef r, int axis) {
    return get_ins(c, r)->op == K_POS && (int)get_ins(c, r)->imm == axis;
}

/* Returns true if the launch determines the product.  Factors of a position must be constants, extents, strides or
 * parameters. */
static bool is_fixed(const Collapser *c, const Monomial *m) {
    for (int i = 0; i < m->n; i++) {
        uint8_t op = get_ins(c, m->factor[i])->op;
        if (op == K_CAST) op = get_ins(c, get_ins(c, m->factor[i])->a)->op;
        if (op != K_DIM && op != K_STRIDE && op != K_PARAM && op != K_BLKDIM && op != K_BLKCNT) return false;
    }
    return true;
}

/* Finds the only term with the position and divides it by the position. */
static bool factor_of(const Collapser *c, const Poly *p, int axis, Monomial *out) {
    int found = 0;
    for (int t = 0; t < p->n; t++) {
        Monomial m = p->term[t];
        int kept = 0, times = 0;
        if (m.number == 0) continue;
        for (int i = 0; i < m.n; i++)
            if (is_position(c, m.factor[i], axis)) times++;
            else m.factor[kept++] = m.factor[i];
        m.n = kept;
        if (!times) continue;
        found++, *out = m;
        if (times > 1 || !is_fixed(c, &m)) return false;
    }
    return found == 1;
}

static bool equal_monomials(const Monomial *a, const Monomial *b) {
    return a->number == b->number && same_product(a, b);
}

static bool add_pair(Collapser *c, KRef index) {
    Poly p;
    CollapsePair pair;
    c->visits = 0;
    if (!poly_of(c, index, &p) || !factor_of(c, &p, c->outer, &pair.outer) || !factor_of(c, &p, c->inner, &pair.inner))
        return false;
    for (int i = 0; i < c->npairs; i++)
        if (equal_monomials(&c->pair[i].outer, &pair.outer) && equal_monomials(&c->pair[i].inner, &pair.inner))
            return true;
    if (c->npairs == COLLAPSE_PAIRS) return false;
    c->pair[c->npairs++] = pair;
    return true;
}

/* Checks an instruction.  Indices that depend on a position may be added and scaled, but used only as indices. */
static bool check_ins(Collapser *c, KRef r) {
    const KIns *i = get_ins(c, r);
    bool a = c->moves[i->a], b = c->moves[i->b];
    if (i->op == K_CHECK && !c->transparent[i->a]) return false; /* its error message would have the wrong position */
    if (i->op == K_INB && c->transparent[r]) return true;
    if (i->op == K_POS) c->moves[r] = (int)i->imm == c->outer || (int)i->imm == c->inner;
    else if (!a && !b && !c->moves[i->c]) return true;
    else if ((i->op == K_ADD || i->op == K_SUB || i->op == K_MUL) && i->dtype == QS_I64) c->moves[r] = 1;
    else if (i->op == K_CAST && i->dtype == QS_I64 && get_ins(c, i->a)->op == K_POS) c->moves[r] = 1;
    else if (i->op == K_BOUND && c->transparent[r] && !b) c->moves[r] = 1;
    else if (kir_is_memory(i->op) && !b && !c->moves[i->c]) return add_pair(c, i->a);
    else return false;
    return true;
}

bool kcollapse_pairs(Arena *a, const KFunc *f, const uint8_t *transparent, CollapsePair *out, int *n) {
    Collapser c = {.f = f,
                   .transparent = transparent,
                   .moves = qarena_alloc(a, f->nins),
                   .outer = f->rank - 2,
                   .inner = f->rank - 1,
                   .pair = out};
    if (f->rank < 2 || f->barrier || f->shared) return false;
    for (KRef r = 1; r < f->nins; r++)
        if (!check_ins(&c, r)) return false;
    *n = c.npairs;
    return c.npairs > 0;
}
