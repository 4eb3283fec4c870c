/* narrow.c -- finds integers that fit into fewer bits.
 *
 * Kernels compute in 32 bits.  If the operands are bytes or comparisons and the results are small, fewer bits
 * suffice, and a vector holds more elements:
 *
 *     n = 0                            0
 *     FOR 3 iterations, FOR 3 iterations
 *       n += x[…]       uint8          0 … 2295: 16 bits
 *
 * Indices are computed in 64 bits, for which GPUs have no arithmetic.  In a small kernel (KIR_SMALL) most need 32:
 *
 *     pos - 2             -2 … 2^28-3    BOUND and INB of it also need only 32 bits
 *     row*width + column  any            the number of an element fits; other values are not used
 *
 * Visits instructions in order; an unknown interval is the whole range of the type.
 *
 * A LOCAL starts with an interval, and each SET gives it a value that does not depend on it, or adds to it.  An
 * addition in loops of known length is executed a limited number of times; the bound does not depend on the order.
 * The first round knows nothing about LOCALs; each later round uses the intervals of the one before. */
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

enum { ROUNDS = 3 };

typedef struct {
    int64_t lo, hi;
} Interval;
__extension__ typedef __int128 Wide; /* holds all results of arithmetic on bounds */

typedef struct {
    const KFunc *f;
    Interval *of;          /* interval of an instruction's value, or of all values of a LOCAL */
    Interval *base, *grow; /* by LOCAL: base: values that it is set to; grow: how much additions may change these */
} Narrower;

static const KIns *get_ins(const Narrower *n, KRef r) { return &n->f->ins[r]; }

static int64_t min_int(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_int(int64_t a, int64_t b) { return a > b ? a : b; }
static Interval hull(Interval a, Interval b) { return (Interval){min_int(a.lo, b.lo), max_int(a.hi, b.hi)}; }

static Interval whole_range(uint8_t dtype) {
    return dtype == QS_I64 ? (Interval){INT64_MIN, INT64_MAX} : (Interval){INT32_MIN, INT32_MAX};
}

/* Returns lo … hi, or the whole range of the type if that does not fit: arithmetic wraps. */
static Interval wrap_interval(uint8_t dtype, Wide lo, Wide hi) {
    Interval all = whole_range(dtype);
    return lo < all.lo || hi > all.hi ? all : (Interval){(int64_t)lo, (int64_t)hi};
}

static Interval multiply_intervals(uint8_t dtype, Interval a, Interval b) {
    Wide p[] = {(Wide)a.lo * b.lo, (Wide)a.lo * b.hi, (Wide)a.hi * b.lo, (Wide)a.hi * b.hi}, lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) {
        if (p[i] < lo) lo = p[i];
        if (p[i] > hi) hi = p[i];
    }
    return wrap_interval(dtype, lo, hi);
}

static Interval of_element(uint8_t own, qs_dtype d) {
    double lo, hi;
    if (!qdtype_is_int(d) || qdtype_size(d) > 2) return whole_range(own);
    qdtype_int_span(d, &lo, &hi);
    return (Interval){(int64_t)lo, (int64_t)hi};
}

static Interval of_cast(const Narrower *n, const KIns *i) {
    uint8_t from = get_ins(n, i->a)->dtype;
    if (from == QS_B1) return (Interval){0, 1};
    return from == QS_I32 && i->dtype == QS_I64 ? n->of[i->a] : whole_range(i->dtype);
}

static Interval interval(const Narrower *n, KRef r) {
    const KIns *i = get_ins(n, r);
    uint8_t d = i->dtype;
    Interval a = n->of[i->a], b = n->of[i->b], c = n->of[i->c];
    switch ((KOp)i->op) {
    case K_CONST: return (Interval){(int64_t)i->imm, (int64_t)i->imm};
    case K_LOAD: return of_element(d, (qs_dtype)n->f->params[i->imm].dtype);
    case K_GET: return a;
    case K_CAST: return of_cast(n, i);
    case K_ADD: return wrap_interval(d, (Wide)a.lo + b.lo, (Wide)a.hi + b.hi);
    case K_SUB: return wrap_interval(d, (Wide)a.lo - b.hi, (Wide)a.hi - b.lo);
    case K_MUL: return multiply_intervals(d, a, b);
    case K_MIN: return (Interval){min_int(a.lo, b.lo), min_int(a.hi, b.hi)};
    case K_MAX: return (Interval){max_int(a.lo, b.lo), max_int(a.hi, b.hi)};
    case K_SELECT: return hull(b, c);
    case K_FOR: return n->f->small ? hull(a, b) : whole_range(d);
    case K_POS: return n->f->small ? (Interval){0, KIR_SMALL - 1} : whole_range(d);
    case K_DIM: return n->f->small ? (Interval){0, KIR_SMALL} : whole_range(d);
    case K_STRIDE: return n->f->small ? whole_range(QS_I32) : whole_range(d);
    case K_BOUND: return (Interval){0, max_int(b.hi, 1) - 1};
    default: return whole_range(d);
    }
}

/* -- locals -------------------------------------------------------------------------------------------------------- */

/* Returns how often r is executed after its LOCAL was declared; -1: unknown. */
static int64_t count_executions(const Narrower *n, KRef r, KRef local) {
    int64_t iterations = 1;
    for (KRef loop = kir_loop_around(n->f, r); loop > local; loop = kir_loop_around(n->f, loop)) {
        int64_t t = get_ins(n, loop)->op == K_FOR ? kplan_iterations(n->f, loop) : -1;
        if (t < 0 || t > INT32_MAX || (iterations *= t) > INT32_MAX) return -1;
    }
    return iterations;
}

/* Records that the LOCAL is set to v, `turns` times. */
static void note_set(Narrower *n, KRef local, KRef v, int64_t iterations, int depth) {
    const KIns *i = get_ins(n, v);
    if (i->op == K_GET && i->a == local) return;
    if (i->op == K_SELECT && depth) {
        note_set(n, local, i->b, iterations, depth - 1), note_set(n, local, i->c, iterations, depth - 1);
        return;
    }
    bool adds = i->op == K_ADD && get_ins(n, i->a)->op == K_GET && get_ins(n, i->a)->a == local && iterations >= 0;
    if (!adds) {
        n->base[local] = hull(n->base[local], n->of[v]);
        return;
    }
    Interval *g = &n->grow[local], x = n->of[i->b];
    *g =
        wrap_interval(QS_I32, g->lo + (Wide)iterations * min_int(x.lo, 0), g->hi + (Wide)iterations * max_int(x.hi, 0));
}

static void settle_locals(Narrower *n) {
    const KFunc *f = n->f;
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOCAL) n->base[r] = n->of[f->ins[r].a], n->grow[r] = (Interval){0, 0};
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_SET) note_set(n, f->ins[r].a, f->ins[r].b, count_executions(n, r, f->ins[r].a), 4);
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOCAL && f->ins[r].dtype == QS_I32)
            n->of[r] = wrap_interval(QS_I32, (Wide)n->base[r].lo + n->grow[r].lo, (Wide)n->base[r].hi + n->grow[r].hi);
}

/* -- bits ---------------------------------------------------------------------------------------------------------- */
static bool fits_bits(Interval v, int bits) { return v.lo >= -(1 << (bits - 1)) && v.hi < 1 << (bits - 1); }

static bool narrows(KOp op) {
    return op == K_ADD || op == K_SUB || op == K_MUL || op == K_MIN || op == K_MAX || op == K_SELECT || op == K_LOAD ||
           op == K_CAST || op == K_GET || op == K_LOCAL;
}

static uint8_t bits_of(const Narrower *n, KRef r) {
    const KIns *i = get_ins(n, r);
    if (i->dtype != QS_I32 || !narrows((KOp)i->op)) return 0;
    for (uint8_t bits = 8; bits <= 16; bits *= 2) {
        bool operands = i->op == K_LOAD || i->op == K_CAST || i->op == K_LOCAL || i->op == K_GET ||
                        (i->op != K_SELECT ? fits_bits(n->of[i->a], bits) && fits_bits(n->of[i->b], bits)
                                           : fits_bits(n->of[i->b], bits) && fits_bits(n->of[i->c], bits));
        if (operands && fits_bits(n->of[r], bits)) return bits;
    }
    return 0;
}

static void find_intervals(Narrower *n, Arena *a, const KFunc *f) {
    size_t bytes = qmem_size(f->nins, sizeof(Interval), 0);
    *n = (Narrower){f, qarena_alloc(a, bytes), qarena_alloc(a, bytes), qarena_alloc(a, bytes)};
    for (KRef r = 0; r < f->nins; r++) n->of[r] = whole_range(f->ins[r].dtype);
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
