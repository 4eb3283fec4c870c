/* affine.c -- expresses indices as affine sums; see affine.h. */
#include "lang/kernel/ir/affine.h"

#include <assert.h>

static int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

static bool add_term(Affine *a, KRef r, int64_t factor) {
    int i = 0;
    while (i < a->n && a->term[i].ref < r) i++;
    if (i < a->n && a->term[i].ref == r) {
        if ((a->term[i].factor = wrap_add(a->term[i].factor, factor))) return true;
        for (a->n--; i < a->n; i++) a->term[i] = a->term[i + 1];
        return true;
    }
    if (a->n == AFFINE_TERMS) return false;
    for (int k = a->n++; k > i; k--) a->term[k] = a->term[k - 1];
    a->term[i].ref = r, a->term[i].factor = factor;
    return true;
}

bool kaffine_add(Affine *a, const Affine *b, int64_t factor) {
    a->constant = wrap_add(a->constant, wrap_mul(factor, b->constant));
    for (int i = 0; i < b->n; i++)
        if (!add_term(a, b->term[i].ref, wrap_mul(factor, b->term[i].factor))) return false;
    return true;
}

/* Returns true if a and b have the same value: two reads of one parameter, extent or position, or conversions of
 * those. */
static bool equal_values(const KFunc *f, KRef a, KRef b) {
    const KIns *x = &f->ins[a], *y = &f->ins[b];
    if (a == b) return true;
    if (x->op != y->op || x->imm != y->imm || x->dtype != y->dtype) return false;
    if (x->op == K_CAST) return equal_values(f, x->a, y->a);
    return x->op == K_PARAM || x->op == K_DIM || x->op == K_STRIDE || (x->op >= K_POS && x->op <= K_BLKCNT);
}

KRef kaffine_leader(const KFunc *f, KRef r) {
    uint8_t op = f->ins[r].op;
    if (op != K_CAST && op != K_PARAM && op != K_DIM && op != K_STRIDE && (op < K_POS || op > K_BLKCNT)) return r;
    for (KRef x = 1; x < r; x++)
        if (equal_values(f, x, r)) return x;
    return r;
}

enum { VISITS = 64 }; /* limits the time: a value that is used twice is visited twice */

static bool collect_terms(const KFunc *f, KRef r, int64_t factor, Affine *out, int *visits) {
    const KIns *i = &f->ins[r];
    if (++*visits > VISITS) return false;
    switch ((KOp)i->op) {
    case K_CONST: out->constant = wrap_add(out->constant, wrap_mul(factor, (int64_t)i->imm)); return true;
    case K_ADD: return collect_terms(f, i->a, factor, out, visits) && collect_terms(f, i->b, factor, out, visits);
    case K_SUB:
        return collect_terms(f, i->a, factor, out, visits) && collect_terms(f, i->b, wrap_mul(factor, -1), out, visits);
    case K_NEG: return collect_terms(f, i->a, wrap_mul(factor, -1), out, visits);
    case K_MUL:
        if (f->ins[i->b].op == K_CONST)
            return collect_terms(f, i->a, wrap_mul(factor, (int64_t)f->ins[i->b].imm), out, visits);
        if (f->ins[i->a].op == K_CONST)
            return collect_terms(f, i->b, wrap_mul(factor, (int64_t)f->ins[i->a].imm), out, visits);
        break;
    case K_CAST:
        if (f->ins[i->a].op == K_CONST && f->ins[i->a].dtype == QS_I32)
            return collect_terms(f, i->a, factor, out, visits);
        break;
    default: break;
    }
    return factor == 0 || add_term(out, kaffine_leader(f, r), factor);
}

bool kaffine_of(const KFunc *f, KRef r, Affine *out) {
    int visits = 0;
    *out = (Affine){0};
    return f->ins[r].dtype == QS_I64 && collect_terms(f, r, 1, out, &visits);
}

static bool is_fixed(const Invariants *v, KRef r) { return r < v->loop || v->fixed[r - v->loop]; }

static bool is_fixed_ins(const Invariants *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    if (r == v->loop) return !r;
    if (i->op == K_FOR) return v->loop != 0;
    if (kir_ops[i->op].effect != KE_PURE || (i->op == K_POS && !v->loop)) return false;
    return is_fixed(v, i->a) && is_fixed(v, i->b) && is_fixed(v, i->c);
}

bool kaffine_is_invariant(Invariants *v, KRef r) {
    assert(r < v->end);
    if (r < v->loop) return true;
    if (!v->fixed) v->fixed = qarena_alloc(v->arena, v->end - v->loop), v->known = v->loop;
    for (; v->known <= r; v->known++) v->fixed[v->known - v->loop] = is_fixed_ins(v, v->known);
    return is_fixed(v, r);
}

bool kaffine_stride(Invariants *v, KRef index, int64_t *factor) {
    Affine a;
    *factor = 0;
    if (!kaffine_of(v->f, index, &a)) return false;
    for (int i = 0; i < a.n; i++)
        if (kir_uncast(v->f, a.term[i].ref) == v->loop) *factor = a.term[i].factor; /* the counter may be an int */
        else if (!kaffine_is_invariant(v, a.term[i].ref)) return false;
    return true;
}

bool kaffine_differ(const Affine *a, const Affine *b) {
    Affine d = *a;
    return kaffine_add(&d, b, -1) && d.n == 0 && d.constant != 0;
}

/* Finds a + sign * b if it is a constant. */
static bool find_constant(const KFunc *f, KRef a, KRef b, int sign, int64_t *out) {
    Affine x, y;
    if (!a || !b || !kaffine_of(f, a, &x) || !kaffine_of(f, b, &y) || !kaffine_add(&x, &y, sign) || x.n) return false;
    return *out = x.constant, true;
}

KRef kaffine_fold(KFunc *f, KMake i) {
    int64_t d;
    bool sums = i.op == K_ADD || i.op == K_SUB || i.op == K_MIN || i.op == K_MAX;
    if (!sums || !find_constant(f, i.a, i.b, i.op == K_ADD ? 1 : -1, &d)) return kir_fold(f, i);
    if (i.op == K_MIN) return d <= 0 ? i.a : i.b;
    if (i.op == K_MAX) return d >= 0 ? i.a : i.b;
    return kir_const_int(f, QS_I64, d, i.pos);
}

KRef kaffine_for(KFunc *f, KMake i) {
    int64_t d;
    double first, step;
    bool counts = i.own == QS_I64 && kir_is_const(f, i.c, &step) && step != 0 && !kir_is_const(f, i.a, &first);
    if (!counts || !find_constant(f, i.b, i.a, -1, &d)) return kir_add(f, i);
    KRef from = i.a;
    i.a = kir_const_int(f, QS_I64, 0, i.pos), i.b = kir_const_int(f, QS_I64, d, i.pos);
    return kir_fold(f, (KMake){K_ADD, .a = from, .b = kir_add(f, i), .pos = i.pos});
}
