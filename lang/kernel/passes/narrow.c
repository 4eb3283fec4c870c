/* narrow.c -- see narrow.h.  Intervals of int values, in order of the instructions; where nothing is known, all of
 * int32.
 *
 * A LOCAL begins with a known interval and is then set to values without it, or adds to itself.  An addition in loops
 * of known length happens at most so many times; the bound does not depend on the order.  The first round knows nothing
 * of LOCALs; each further one may use what the one before found. */
#include "lang/kernel/passes/narrow.h"
#include "lang/kernel/passes/plan.h"

enum { ROUNDS = 3 };

typedef struct {
    int64_t lo, hi;
} Interval;
__extension__ typedef __int128 Wide; /* what arithmetic on bounds may give */

typedef struct {
    const KFunc *f;
    Interval *of;          /* by instruction; of a LOCAL: what it holds */
    Interval *base, *grow; /* by LOCAL: values it is set to; how far additions may take it from there */
} Narrower;

static const KIns *ins(const Narrower *n, KRef r) { return &n->f->ins[r]; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static Interval hull(Interval a, Interval b) { return (Interval){least(a.lo, b.lo), most(a.hi, b.hi)}; }

static Interval any(uint8_t dtype) {
    return dtype == QS_I64 ? (Interval){INT64_MIN, INT64_MAX} : (Interval){INT32_MIN, INT32_MAX};
}

/* Arithmetic wraps. */
static Interval kept(uint8_t dtype, Wide lo, Wide hi) {
    Interval all = any(dtype);
    return lo < all.lo || hi > all.hi ? all : (Interval){(int64_t)lo, (int64_t)hi};
}

static Interval product(uint8_t dtype, Interval a, Interval b) {
    Wide p[] = {(Wide)a.lo * b.lo, (Wide)a.lo * b.hi, (Wide)a.hi * b.lo, (Wide)a.hi * b.hi}, lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) {
        if (p[i] < lo) lo = p[i];
        if (p[i] > hi) hi = p[i];
    }
    return kept(dtype, lo, hi);
}

static Interval of_element(uint8_t own, qs_dtype d) {
    double lo, hi;
    if (!qdtype_is_int(d) || qdtype_size(d) > 2) return any(own);
    qdtype_int_span(d, &lo, &hi);
    return (Interval){(int64_t)lo, (int64_t)hi};
}

static Interval of_cast(const Narrower *n, const KIns *i) {
    uint8_t from = ins(n, i->a)->dtype;
    if (from == QS_B1) return (Interval){0, 1};
    return from == QS_I32 && i->dtype == QS_I64 ? n->of[i->a] : any(i->dtype);
}

static Interval interval(const Narrower *n, KRef r) {
    const KIns *i = ins(n, r);
    uint8_t d = i->dtype;
    Interval a = n->of[i->a], b = n->of[i->b], c = n->of[i->c];
    switch ((KOp)i->op) {
    case K_CONST: return (Interval){(int64_t)i->imm, (int64_t)i->imm};
    case K_LOAD: return of_element(d, (qs_dtype)n->f->params[i->imm].dtype);
    case K_GET: return a;
    case K_CAST: return of_cast(n, i);
    case K_ADD: return kept(d, (Wide)a.lo + b.lo, (Wide)a.hi + b.hi);
    case K_SUB: return kept(d, (Wide)a.lo - b.hi, (Wide)a.hi - b.lo);
    case K_MUL: return product(d, a, b);
    case K_MIN: return (Interval){least(a.lo, b.lo), least(a.hi, b.hi)};
    case K_MAX: return (Interval){most(a.lo, b.lo), most(a.hi, b.hi)};
    case K_SELECT: return hull(b, c);
    case K_FOR: return n->f->small ? hull(a, b) : any(d);
    case K_POS: return n->f->small ? (Interval){0, KIR_SMALL - 1} : any(d);
    case K_DIM: return n->f->small ? (Interval){0, KIR_SMALL} : any(d);
    case K_STRIDE: return n->f->small ? any(QS_I32) : any(d);
    case K_BOUND: return (Interval){0, most(b.hi, 1) - 1};
    default: return any(d);
    }
}

/* -- locals -------------------------------------------------------------------------------------------------------- */

/* How often r runs while its LOCAL lives; -1: not known. */
static int64_t turns_around(const Narrower *n, KRef r, KRef local) {
    int64_t turns = 1;
    for (KRef loop = kir_loop_around(n->f, r); loop > local; loop = kir_loop_around(n->f, loop)) {
        int64_t t = ins(n, loop)->op == K_FOR ? kplan_turns(n->f, loop) : -1;
        if (t < 0 || t > INT32_MAX || (turns *= t) > INT32_MAX) return -1;
    }
    return turns;
}

/* LOCAL is set to v, `turns` times. */
static void set(Narrower *n, KRef local, KRef v, int64_t turns, int depth) {
    const KIns *i = ins(n, v);
    if (i->op == K_GET && i->a == local) return;
    if (i->op == K_SELECT && depth) {
        set(n, local, i->b, turns, depth - 1), set(n, local, i->c, turns, depth - 1);
        return;
    }
    bool adds = i->op == K_ADD && ins(n, i->a)->op == K_GET && ins(n, i->a)->a == local && turns >= 0;
    if (!adds) {
        n->base[local] = hull(n->base[local], n->of[v]);
        return;
    }
    Interval *g = &n->grow[local], x = n->of[i->b];
    *g = kept(QS_I32, g->lo + (Wide)turns * least(x.lo, 0), g->hi + (Wide)turns * most(x.hi, 0));
}

static void settle_locals(Narrower *n) {
    const KFunc *f = n->f;
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOCAL) n->base[r] = n->of[f->ins[r].a], n->grow[r] = (Interval){0, 0};
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_SET) set(n, f->ins[r].a, f->ins[r].b, turns_around(n, r, f->ins[r].a), 4);
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOCAL && f->ins[r].dtype == QS_I32)
            n->of[r] = kept(QS_I32, (Wide)n->base[r].lo + n->grow[r].lo, (Wide)n->base[r].hi + n->grow[r].hi);
}

/* -- bits ---------------------------------------------------------------------------------------------------------- */
static bool fits(Interval v, int bits) { return v.lo >= -(1 << (bits - 1)) && v.hi < 1 << (bits - 1); }

static bool narrows(KOp op) {
    return op == K_ADD || op == K_SUB || op == K_MUL || op == K_MIN || op == K_MAX || op == K_SELECT || op == K_LOAD ||
           op == K_CAST || op == K_GET || op == K_LOCAL;
}

static uint8_t bits_of(const Narrower *n, KRef r) {
    const KIns *i = ins(n, r);
    if (i->dtype != QS_I32 || !narrows((KOp)i->op)) return 0;
    for (uint8_t bits = 8; bits <= 16; bits *= 2) {
        bool operands = i->op == K_LOAD || i->op == K_CAST || i->op == K_LOCAL || i->op == K_GET ||
                        (i->op != K_SELECT ? fits(n->of[i->a], bits) && fits(n->of[i->b], bits)
                                           : fits(n->of[i->b], bits) && fits(n->of[i->c], bits));
        if (operands && fits(n->of[r], bits)) return bits;
    }
    return 0;
}

static void find_intervals(Narrower *n, Arena *a, const KFunc *f) {
    size_t bytes = qmem_size(f->nins, sizeof(Interval), 0);
    *n = (Narrower){f, qarena_alloc(a, bytes), qarena_alloc(a, bytes), qarena_alloc(a, bytes)};
    for (KRef r = 0; r < f->nins; r++) n->of[r] = any(f->ins[r].dtype);
    for (int round = 0; round < ROUNDS; round++) {
        for (KRef r = 1; r < f->nins; r++)
            if ((f->ins[r].dtype == QS_I32 || f->ins[r].dtype == QS_I64) && f->ins[r].op != K_LOCAL)
                n->of[r] = interval(n, r);
        settle_locals(n);
    }
}

uint8_t *knarrow_bits(Arena *a, const KFunc *f) {
    Narrower n;
    uint8_t *bits = qarena_alloc(a, f->nins);
    find_intervals(&n, a, f);
    for (KRef r = 1; r < f->nins; r++) bits[r] = bits_of(&n, r);
    return bits;
}

uint8_t *knarrow_indices(Arena *a, const KFunc *f) {
    Narrower n;
    uint8_t *bits = qarena_alloc(a, f->nins);
    if (!f->small) return bits;
    find_intervals(&n, a, f);
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].dtype == QS_I64 && n.of[r].lo >= INT32_MIN && n.of[r].hi <= INT32_MAX) bits[r] = 32;
    return bits;
}
