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
static const Interval any = {INT32_MIN, INT32_MAX};

typedef struct {
    const KFunc *f;
    Interval *of;          /* by instruction; of a LOCAL: what it holds */
    Interval *base, *grow; /* by LOCAL: values it is set to; how far additions may take it from there */
} Narrower;

static const KIns *ins(const Narrower *n, KRef r) { return &n->f->ins[r]; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static Interval hull(Interval a, Interval b) { return (Interval){least(a.lo, b.lo), most(a.hi, b.hi)}; }
static Interval kept(Interval v) { return v.lo < any.lo || v.hi > any.hi ? any : v; }

static Interval product(Interval a, Interval b) {
    int64_t p[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    return (Interval){least(least(p[0], p[1]), least(p[2], p[3])), most(most(p[0], p[1]), most(p[2], p[3]))};
}

static Interval of_element(qs_dtype d) {
    double lo, hi;
    if (!qdtype_is_int(d) || qdtype_size(d) > 2) return any;
    qdtype_int_span(d, &lo, &hi);
    return (Interval){(int64_t)lo, (int64_t)hi};
}

static Interval interval(const Narrower *n, KRef r) {
    const KIns *i = ins(n, r);
    Interval a = n->of[i->a], b = n->of[i->b], c = n->of[i->c];
    switch ((KOp)i->op) {
    case K_CONST: return (Interval){(int64_t)i->imm, (int64_t)i->imm};
    case K_LOAD: return of_element((qs_dtype)n->f->params[i->imm].dtype);
    case K_GET: return a;
    case K_CAST: return ins(n, i->a)->dtype == QS_B1 ? (Interval){0, 1} : any;
    case K_ADD: return kept((Interval){a.lo + b.lo, a.hi + b.hi});
    case K_SUB: return kept((Interval){a.lo - b.hi, a.hi - b.lo});
    case K_MUL: return kept(product(a, b));
    case K_MIN: return (Interval){least(a.lo, b.lo), least(a.hi, b.hi)};
    case K_MAX: return (Interval){most(a.lo, b.lo), most(a.hi, b.hi)};
    case K_SELECT: return hull(b, c);
    default: return any;
    }
}

/* -- locals ------------------------------------------------------------------------------------------------------ */

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
    *g = kept((Interval){g->lo + turns * least(x.lo, 0), g->hi + turns * most(x.hi, 0)});
}

static void settle_locals(Narrower *n) {
    const KFunc *f = n->f;
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOCAL) n->base[r] = n->of[f->ins[r].a], n->grow[r] = (Interval){0, 0};
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_SET) set(n, f->ins[r].a, f->ins[r].b, turns_around(n, r, f->ins[r].a), 4);
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOCAL)
            n->of[r] = kept((Interval){n->base[r].lo + n->grow[r].lo, n->base[r].hi + n->grow[r].hi});
}

/* -- bits -------------------------------------------------------------------------------------------------------- */
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

uint8_t *knarrow_bits(Arena *a, const KFunc *f) {
    size_t size = f->nins;
    Narrower n = {.f = f,
                  .of = qarena_alloc(a, size * sizeof(Interval)),
                  .base = qarena_alloc(a, size * sizeof(Interval)),
                  .grow = qarena_alloc(a, size * sizeof(Interval))};
    uint8_t *bits = qarena_alloc(a, size);
    for (KRef r = 0; r < f->nins; r++) n.of[r] = any;
    for (int round = 0; round < ROUNDS; round++) {
        for (KRef r = 1; r < f->nins; r++)
            if (f->ins[r].dtype == QS_I32 && f->ins[r].op != K_LOCAL) n.of[r] = interval(&n, r);
        settle_locals(&n);
    }
    for (KRef r = 1; r < f->nins; r++) bits[r] = bits_of(&n, r);
    return bits;
}
