/* loop_guard.c -- indices that a condition around them keeps inside the array.
 *
 *     if m > 0, y[m] = x[m-1]            m-1 >= 0, because m > 0
 *     j >= 0 && j < n ? x[j] : 0         0 <= j < n, whatever j is
 *
 * What is asked around an index are comparisons of whole numbers, so each is a sum that is not negative: m-1 here.  The
 * lower end of an index is inside when the index is such a sum plus something that is not negative, the upper end when
 * the size less one less the index is.  What is left is mostly a constant.  Else, as where the condition asks for
 * another array's size, it is of counters and extents, and the guard knows its least value.
 *
 * Sums here are those of whole numbers without end: what may have wrapped is not looked at.  An index that is a float
 * is rounded toward zero; what was asked of the float says as much of it, if the answer was yes, which it is not for a
 * nan. */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <math.h>

enum { FACTS = 32, DEEP = 8 };
typedef struct {
    Rest that[FACTS];
    int n;
} Facts; /* `sum` is not negative if `given` is not */

/* Its value is that of the sum it is written as, and no digit was lost. */
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

static bool guard_knows(const Loops *L, const Affine *a) {
    for (int i = 0; i < a->n; i++)
        if (!kloop_has_range(L, a->term[i].ref)) return false;
    return true;
}

/* -- what was asked ------------------------------------------------------------------------------------------------ */
/* Whether `a op b` holds is known: LT, LE, EQ, NE. */
typedef void Hears(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds);
typedef struct {
    Hears *fn;
    void *ud;
} Hearer;

/* a of `a && b` where b was computed only if a held; see `guarded` of walk/expr.c.  0: r is no such thing. */
static KRef first_of_and(const KFunc *f, KRef r, KRef *b) {
    KRef local = f->ins[r].a;
    const KIns *set = &f->ins[r - 2], *open = &f->ins[local + 1];
    if (f->ins[r - 1].op != K_END || set->op != K_SET || set->a != local) return 0;
    if (f->ins[local].op != K_LOCAL || open->op != K_IF || open->a != f->ins[local].a) return 0;
    return *b = set->b, open->a;
}

static void each_of(Loops *L, const Hearer *h, KRef c, bool holds, int depth) {
    const KIns i = L->f->ins[c];
    KRef a = i.a, b = i.b;
    if (!depth) return;
    if (i.op == K_NOT) each_of(L, h, a, !holds, depth - 1);
    if (i.op == K_GET && holds) a = first_of_and(L->f, c, &b);
    if (holds ? i.op == K_AND || (i.op == K_GET && a) : i.op == K_OR)
        each_of(L, h, a, holds, depth - 1), each_of(L, h, b, holds, depth - 1);
    if (i.op >= K_LT && i.op <= K_NE) h->fn(L, h->ud, (KOp)i.op, a, b, holds);
}

static void each_asked(Loops *L, Hears *fn, void *ud) {
    const Hearer h = {fn, ud};
    for (const BlockScope *b = L->block; b; b = b->up)
        for (const Asked *a = b->asked; a; a = a->next) each_of(L, &h, a->cond, a->holds, DEEP);
}

/* -- of whole numbers ---------------------------------------------------------------------------------------------- */
/* b - a - least >= 0; or, where they are only different, that if b - a is not negative. */
static void add(Loops *L, Facts *to, KRef a, KRef b, int64_t least, bool differ) {
    Affine x;
    Rest r = {.given = {0}};
    if (to->n == FACTS || !sum_of(L, a, &x) || !sum_of(L, b, &r.sum) || !kaffine_add(&r.sum, &x, -1)) return;
    if (differ && !guard_knows(L, &r.sum)) return;
    if (differ) r.given = r.sum;
    r.sum.constant -= least;
    to->that[to->n++] = r;
}

static void hear_whole(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds) {
    Facts *to = ud;
    bool equal = holds == (op == K_EQ);
    if (L->f->ins[a].dtype != QS_I64) return;
    if (op == K_LT) holds ? add(L, to, a, b, 1, false) : add(L, to, b, a, 0, false);
    else if (op == K_LE) holds ? add(L, to, a, b, 0, false) : add(L, to, b, a, 1, false);
    else add(L, to, a, b, !equal, !equal), add(L, to, b, a, !equal, !equal);
}

/* -- of floats ----------------------------------------------------------------------------------------------------- */
typedef struct {
    KRef x;
    bool number, positive;
    Facts *to;
    KRef at;
} OfFloat;

/* A float that is a whole number, and constants.  Two numbers that are not known might have lost digits before they
 * cancel; one is at most what the size of an array leaves it when the proof is done, so it has them all. */
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

static void hear_number(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds) {
    OfFloat *of = ud;
    double k;
    if (!holds || op == K_NE || (a != of->x && b != of->x)) return;
    of->number = true;
    of->positive |= b == of->x && kir_is_const(L->f, a, &k) && k >= 0;
}

/* x < n, of an x that is not negative: so is what x is rounded to. */
static void hear_most(Loops *L, void *ud, KOp op, KRef a, KRef b, bool holds) {
    OfFloat *of = ud;
    Affine at;
    Rest r = {.given = {0}};
    if (!holds || (op != K_LT && op != K_LE) || a != of->x || of->to->n == FACTS) return;
    if (!whole_sum(L, b, &r.sum, DEEP) || !sum_of(L, of->at, &at) || !kaffine_add(&r.sum, &at, -1)) return;
    r.sum.constant -= op == K_LT;
    of->to->that[of->to->n++] = r;
}

/* r without the limit that keeps an index from wrapping; 0: it has none, a minimum of the program say. */
static KRef unlimited(const KFunc *f, KRef r, KOp op, int64_t limit) {
    const KIns *i = &f->ins[r];
    double v;
    return i->op == op && kir_is_const(f, i->b, &v) && v == (double)limit ? i->a : 0;
}

/* The float that the index was before it was rounded and kept from wrapping (loop_index.c); 0: it was none. */
static KRef float_of(const KFunc *f, KRef at) {
    if (!(at = unlimited(f, at, K_MIN, LOOP_INDEX_MOST)) || !(at = unlimited(f, at, K_MAX, LOOP_INDEX_LEAST))) return 0;
    const KIns *i = &f->ins[at];
    if (i->op != K_CAST || f->ins[i->a].op != K_MATH) return 0;
    i = &f->ins[i->a];
    return i->flag == MF_trunc || i->flag == MF_floor ? i->a : 0;
}

static void hear_float(Loops *L, Facts *to, KRef at) {
    OfFloat of = {.x = float_of(L->f, at), .to = to, .at = at};
    Rest r = {.given = {0}};
    if (!of.x) return;
    each_asked(L, hear_number, &of);
    if (!of.positive || to->n == FACTS || !sum_of(L, at, &r.sum)) return;
    to->that[to->n++] = r;
    each_asked(L, hear_most, &of);
}

bool kloop_is_number(Loops *L, KRef x) {
    OfFloat of = {.x = x};
    each_asked(L, hear_number, &of);
    return of.number;
}

/* -- what follows -------------------------------------------------------------------------------------------------- */
/* The shortest are kept. */
static void keep(Proof *out, const Rest *rest) {
    int longest = 0;
    if (out->n < PROOF_RESTS) {
        out->rest[out->n++] = *rest;
        return;
    }
    for (int i = 1; i < out->n; i++)
        if (out->rest[i].sum.n > out->rest[longest].sum.n) longest = i;
    if (out->rest[longest].sum.n > rest->sum.n) out->rest[longest] = *rest;
}

static void prove(const Loops *L, const Facts *facts, const Affine *sum, Proof *out) {
    for (int i = 0; i < facts->n && !out->sure; i++) {
        Rest rest = {.sum = *sum, .given = facts->that[i].given};
        if (!kaffine_add(&rest.sum, &facts->that[i].sum, -1) || (!rest.sum.n && rest.sum.constant < 0)) continue;
        if (!rest.sum.n && !rest.given.n && rest.given.constant >= 0) out->sure = true;
        else if (guard_knows(L, &rest.sum)) keep(out, &rest);
    }
}

void kloop_prove(Loops *L, Check *check) {
    Facts facts = {.n = 0};
    Affine low, high;
    each_asked(L, hear_whole, &facts);
    hear_float(L, &facts, check->at);
    if (!facts.n || !sum_of(L, check->at, &low) || !sum_of(L, check->n, &high) || !kaffine_add(&high, &low, -1)) return;
    high.constant--;
    prove(L, &facts, &low, &check->low);
    prove(L, &facts, &high, &check->high);
}
