/* loop_integer.c -- lets speculative versions of a loop compute numbers as integers.
 *
 * A number is a double.  Its int64 twin (loop_number.c) is known if its bounds prove that it is integral and below
 * 2^53.  Where a remainder, a rounded quotient or an index needs the twin of a variable without such bounds, the
 * variable is `demanded`, and the loop gets versions that assume that it is integral:
 *
 *     while x > 0            the twin is the variable, within ±(2^53 - 1)
 *         s += mod(x,10)
 *         x = 3*x + 1        3*x + 1 is computed in int64, and tested: if it is beyond 2^53 - 1, the version ends
 *     end
 *
 * When an assumption fails, the VM takes back what the version has stored, and runs the exact version, which computes
 * with doubles.  So results do not differ.  A demanded variable demands the numbers that are assigned to it. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/loop/loop_internal.h"

#include <math.h>

static const double MOST = LOOP_EXACT_MOST, SAFE_PRODUCT = 0x1p62;
static const double ROOT = 94906265; /* the largest number whose square is at most MOST */

void kloop_leave_unless(Loops *L, KRef cond, qs_dtype d, int64_t fault) {
    kloop_flow(L, K_IF, kloop_not(L, cond));
    kbuild_set(&L->walk, L->fault, kbuild_int(&L->walk, d, fault));
    kbuild_leave(&L->walk, K_BREAK, 1);
    kloop_flow(L, K_END, 0);
}

/* Ends a speculative version unless the condition holds; the exact version then runs. */
static void assume_condition(Loops *L, KRef cond) {
    double k;
    if (kir_is_const(L->f, cond, &k) && k != 0) return;
    const KIns *test = &L->f->ins[cond];
    bool fixed = test->op == K_LT && kloop_is_fixed(L, test->a) && kloop_is_fixed(L, test->b);
    if (L->scans && fixed) return kloop_reach_unless(L, cond);
    if (!L->loose++) L->loose_pos = L->pos;
    L->assumed++;
    if (L->mode == MODE_PARALLEL) {
        kloop_emit(L, (KMake){K_CHECK, .a = cond, .imm = (uint64_t)kir_message(L->f, QS_EVALUE, "not integral")});
        return;
    }
    kloop_leave_unless(L, cond, QS_I32, -1);
}

/* -- bounds -------------------------------------------------------------------------------------------------------- */
static void forget_variable(Var *v) {
    v->fraction = v->counted = v->signed_zero = false, v->grown = 0;
    v->lo = INFINITY, v->hi = -INFINITY;
    if (v->entry.kind != LOOP_UNSET) kloop_enter_bounds(v);
}

bool kloop_may_be_demanded(const Var *v) { return v->kind == LOOP_NUM || v->kind == LOOP_INT || v->kind == LOOP_MIXED; }

static void forget_bounds(InlineFrame *in) {
    for (int i = 0; i < in->nvars; i++)
        if (kloop_may_be_demanded(&in->vars[i])) forget_variable(&in->vars[i]);
    for (InlineFrame *i = in->child; i; i = i->next) forget_bounds(i);
}

void kloop_forget_bounds(Loops *L) { forget_bounds(L->root); }

/* -- demands ------------------------------------------------------------------------------------------------------- */
static Var *var_of_local(InlineFrame *in, KRef local) {
    for (int i = 0; i < in->nvars; i++)
        if (in->vars[i].v == local || in->vars[i].twin == local) return &in->vars[i];
    for (InlineFrame *i = in->child; i; i = i->next) {
        Var *v = var_of_local(i, local);
        if (v) return v;
    }
    return NULL;
}

static void demand_variable(Loops *L, KRef local) {
    Var *v = var_of_local(L->root, local);
    if (!v || !kloop_may_be_demanded(v)) return;
    if (v->kind != LOOP_INT && v->entry.kind == LOOP_NUM && !v->entry.integral) return;
    L->wants_integers = true;
    if (v->demanded) return;
    v->demanded = L->changed = true;
    if (L->speculates) forget_variable(v);
}

/* Demands the variables from which r is computed. */
static void demand(Loops *L, KRef r, int depth) {
    const KIns i = L->f->ins[r];
    if (!depth) return;
    switch ((KOp)i.op) {
    case K_GET: demand_variable(L, i.a); return;
    case K_INPUT: kfunction_expect_int(L, (int)i.imm); return;
    case K_SELECT: demand(L, i.b, depth - 1), demand(L, i.c, depth - 1); return;
    case K_ADD:
    case K_SUB:
    case K_MUL:
    case K_DIV:
    case K_MOD:
    case K_MIN:
    case K_MAX: demand(L, i.a, depth - 1), demand(L, i.b, depth - 1); return;
    case K_NEG:
    case K_ABS:
    case K_CAST: demand(L, i.a, depth - 1); return;
    case K_MATH:
        if (!i.b) demand(L, i.a, depth - 1);
        return;
    default: return;
    }
}

/* -- guesses ------------------------------------------------------------------------------------------------------- */
typedef struct {
    KRef v, fits; /* v 0: there is none; fits 0: it is certain */
    double lo, hi;
} Guess;

/* Whether -most <= x <= most. */
static KRef is_within(Loops *L, KRef x, double most) {
    return kloop_op(L, K_INB, kloop_op(L, K_ADD, x, kloop_i64(L, (int64_t)most)), kloop_i64(L, 2 * (int64_t)most + 1));
}

static Guess guess_of(Loops *L, Number n) {
    KRef t = kloop_twin(L, n);
    if (t) return (Guess){t, 0, n.kind == LOOP_BOOL ? 0 : n.lo, n.kind == LOOP_BOOL ? 1 : n.hi};
    if (!L->speculates) return (Guess){0};
    if (n.kind == LOOP_NUM) return (Guess){n.guess, n.fits, n.lo, n.hi};
    if (n.kind != LOOP_INT) return (Guess){0};
    return (Guess){n.v, is_within(L, n.v, MOST), fmax(n.lo, -MOST), fmin(n.hi, MOST)};
}

static KRef both(Loops *L, KRef a, KRef b) { return a && b ? kloop_op(L, K_AND, a, b) : a ? a : b; }

bool kloop_expect_int(Loops *L, Number *n) {
    if (kloop_twin(L, *n)) return true;
    Guess g = guess_of(L, *n);
    demand(L, n->v, 12);
    if (!g.v) return false;
    if (g.fits) assume_condition(L, g.fits);
    n->lo = g.lo, n->hi = g.hi;
    if (n->kind == LOOP_INT) return true;
    n->twin = g.v, n->unsigned_zero = n->guess_unsigned, n->guess = 0;
    return true;
}

/* Whether r is a number or an extent from before the loop that is at least 1 in this specialization. */
static bool is_positive_entry(Loops *L, KRef r) {
    const KIns *i = &L->f->ins[r];
    if ((i->op != K_PARAM && i->op != K_DIM) || L->module || L->callees) return false;
    const LoopBind *b = &L->binds[i->op == K_DIM ? i->imm >> 8 : i->imm];
    return b->kind == LOOP_SOURCE && L->job->positive(L->job->ud, b->index, i->op == K_DIM ? (int)(i->imm & 255) : 0);
}

bool kloop_expect_positive(Loops *L, Number *n) {
    bool integral = kloop_expect_int(L, n);
    if (integral && n->kind != LOOP_BOOL && n->lo >= 1) return true;
    KRef t = kloop_twin(L, *n);
    double k;
    if (!t || n->kind == LOOP_BOOL || n->hi < 1 || kir_is_const(L->f, t, &k)) return false;
    if (is_positive_entry(L, t)) return n->lo = 1, true;
    if (L->module && kfunction_assume(L, kloop_op(L, K_LT, kloop_i64(L, 0), t))) return n->lo = 1, true;
    if (!L->speculates) return L->wants_integers = true, false;
    KRef below = kloop_op(L, K_SUB, t, kloop_i64(L, 1));
    bool guarded = kloop_has_range(L, t) &&
                   kloop_guard_inside(L, below, kloop_i64(L, QINDEX_MOST), "the divisor of mod is not positive");
    if (!guarded) assume_condition(L, kloop_op(L, K_LT, kloop_i64(L, 0), t));
    return n->lo = 1, true;
}

/* -- arithmetic ---------------------------------------------------------------------------------------------------- */
static bool is_power_of_two(const Loops *L, KRef r, int *shift) {
    double k;
    return kir_is_const(L->f, r, &k) && k >= 1 && frexp(k, shift) == 0.5 && (*shift -= 1, true);
}

KRef kloop_modulus_of(const Loops *L, KRef r) {
    for (int i = 0; i < L->nwraps; i++)
        if (L->wraps[i].mod == r) return L->wraps[i].y;
    return 0;
}

/* Whether the guard tests that -y <= x < 2*y, as for mod(i+1,n) with i in 0..n-1. */
static bool wraps_once(Loops *L, KRef x, KRef y) {
    double k;
    if (L->job->divides || L->module || L->nwraps == LOOP_WRAPS) return false;
    if (kir_is_const(L->f, x, &k) || kir_is_const(L->f, y, &k)) return false;
    for (int i = 0; i < L->nwraps; i++)
        if (L->wraps[i].x == x && L->wraps[i].y == y) return true;
    bool guarded = kloop_guard_optional(L, kloop_op(L, K_ADD, x, y), kloop_op(L, K_MUL, y, kloop_i64(L, 3)),
                                        "mod is called with a number beyond two periods");
    return guarded && L->mode != MODE_EXACT;
}

KRef kloop_remainder(Loops *L, KRef x, KRef y) {
    int shift;
    if (wraps_once(L, x, y)) {
        KRef low = kloop_op(L, K_LT, x, kloop_i64(L, 0)), high = kloop_op(L, K_LE, y, x);
        KRef r = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = high, .b = kloop_op(L, K_SUB, x, y), .c = x});
        r = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = low, .b = kloop_op(L, K_ADD, x, y), .c = r});
        if (L->f->ins[r].op == K_SELECT) L->wraps[L->nwraps++] = (Wrap){x, y, r}; /* else it is x, x + y or x - y */
        return r;
    }
    if (!is_power_of_two(L, y, &shift)) return kloop_op(L, K_MOD, x, y);
    return kloop_op(L, K_AND, x, kloop_i64(L, ((int64_t)1 << shift) - 1));
}

/* floor(x/y), y > 0; cut: rounded toward zero.  For x < 0 it is (x+1)/y - 1, rounded toward zero; LLVM drops the 1
 * where a condition around it says that x is not negative. */
static KRef divide(Loops *L, KRef x, KRef y, bool cut, bool positive) {
    int shift;
    bool shifts = is_power_of_two(L, y, &shift);
    if (shifts && (positive || !cut)) return kloop_op(L, K_SHR, x, kloop_i64(L, shift));
    if (cut || positive) return kloop_op(L, K_DIV, x, y);
    KRef one = kloop_cast(L, kloop_op(L, K_LT, x, kloop_i64(L, 0)), QS_I64);
    return kloop_op(L, K_SUB, kloop_op(L, K_DIV, kloop_op(L, K_ADD, x, one), y), one);
}

/* Adds the twin of the quotient n if it is exact, which cond (0: none) may imply by being true or false. */
static void guess_exact(Loops *L, Number *n, KRef cond, bool holds) {
    Number a = n->quotient->over, b = n->quotient->under;
    Guess x = guess_of(L, a), y = guess_of(L, b);
    if (!x.v || !y.v || y.lo < 1 || !kloop_is_multiple(L, x.v, y.v, cond, holds)) return;
    KRef v = divide(L, x.v, y.v, false, true), fits = both(L, x.fits, y.fits);
    n->lo = x.lo / (x.lo < 0 ? y.lo : y.hi), n->hi = x.hi / (x.hi < 0 ? y.hi : y.lo);
    n->lo = floor(n->lo), n->hi = floor(n->hi);
    if (a.kind == LOOP_NUM && !a.twin) a.unsigned_zero = a.guess_unsigned;
    bool unsigned_zero = kloop_has_unsigned_zero(K_DIV, a, b);
    if (fits) n->guess = v, n->fits = fits, n->guess_unsigned = unsigned_zero;
    else n->twin = v, n->unsigned_zero = unsigned_zero;
}

static void guess_quotient(Loops *L, Number a, Number b, Number *n) {
    if (a.kind == LOOP_MIXED || b.kind == LOOP_MIXED || a.kind == LOOP_BOOL || b.kind == LOOP_BOOL) return;
    Quotient *q = qarena_alloc(L->arena, sizeof *q);
    *q = (Quotient){a, b};
    n->quotient = q;
    guess_exact(L, n, 0, false);
}

/* The condition that the product fits. */
static KRef product_fits(Loops *L, Guess x, Guess y, KRef product, double most) {
    if (x.lo == x.hi) return product_fits(L, y, x, product, most);
    if (y.lo == y.hi && y.lo != 0) return is_within(L, x.v, floor(MOST / fabs(y.lo)));
    if (x.v == y.v) return is_within(L, x.v, ROOT);
    if (most <= SAFE_PRODUCT) return is_within(L, product, MOST);
    KRef rough = kloop_op(L, K_MUL, kloop_cast(L, x.v, QS_F64), kloop_cast(L, y.v, QS_F64));
    return kloop_op(L, K_LE, kloop_op(L, K_ABS, rough, 0), kloop_f64(L, MOST));
}

void kloop_guess_arith(Loops *L, KOp op, Number a, Number b, Number *n) {
    if (op == K_DIV) {
        guess_quotient(L, a, b, n);
        return;
    }
    if (!L->speculates) return;
    Guess x = guess_of(L, a), y = guess_of(L, b);
    if (!x.v || !y.v || (x.lo == x.hi && y.lo == y.hi)) return;
    double p[] = {x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi}, lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) lo = fmin(lo, p[i]), hi = fmax(hi, p[i]);
    if (op == K_ADD) lo = x.lo + y.lo, hi = x.hi + y.hi;
    if (op == K_SUB) lo = x.lo - y.hi, hi = x.hi - y.lo;
    n->guess = kloop_op(L, op, x.v, y.v), n->fits = both(L, x.fits, y.fits);
    if (!kloop_is_exact(lo, hi)) {
        KRef fits = op == K_MUL ? product_fits(L, x, y, n->guess, fmax(-lo, hi)) : is_within(L, n->guess, MOST);
        n->fits = both(L, n->fits, fits);
    }
    n->lo = fmax(lo, -MOST), n->hi = fmin(hi, MOST);
    Number as[] = {a, b};
    for (int i = 0; i < 2; i++)
        if (as[i].kind == LOOP_NUM && !as[i].twin) as[i].unsigned_zero = as[i].guess_unsigned;
    as[0].lo = x.lo, as[0].hi = x.hi, as[1].lo = y.lo, as[1].hi = y.hi;
    n->guess_unsigned = kloop_has_unsigned_zero(op, as[0], as[1]);
}

void kloop_guess_negate(Loops *L, Number a, Number *n) {
    if (!L->speculates || a.kind != LOOP_NUM || !a.guess) return;
    n->guess = kloop_op(L, K_NEG, a.guess, 0), n->fits = a.fits, n->lo = -a.hi, n->hi = -a.lo;
    n->guess_unsigned = n->lo > 0 || n->hi < 0;
}

void kloop_guess_choice(Loops *L, KRef c, Number a, Number b, Number *n) {
    if (n->kind != LOOP_NUM || n->twin) return;
    if (a.kind == LOOP_NUM && a.quotient && !a.twin && !a.guess) guess_exact(L, &a, c, true);
    if (b.kind == LOOP_NUM && b.quotient && !b.twin && !b.guess) guess_exact(L, &b, c, false);
    Guess x = guess_of(L, a), y = guess_of(L, b);
    if (!x.v || !y.v || a.kind != LOOP_NUM || b.kind != LOOP_NUM) return;
    KRef yes = kbuild_int(&L->walk, QS_B1, 1),
         chosen = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = c, .b = x.v, .c = y.v});
    if (a.twin && b.twin) {
        n->twin = chosen, n->lo = fmin(x.lo, y.lo), n->hi = fmax(x.hi, y.hi);
        n->unsigned_zero = a.unsigned_zero && b.unsigned_zero;
        return;
    }
    n->guess = chosen;
    n->fits = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = c, .b = x.fits ? x.fits : yes, .c = y.fits ? y.fits : yes});
    n->lo = fmin(x.lo, y.lo), n->hi = fmax(x.hi, y.hi);
    n->guess_unsigned = (a.twin ? a.unsigned_zero : a.guess_unsigned) && (b.twin ? b.unsigned_zero : b.guess_unsigned);
}

/* If |x| and |y| are below 2^53, no quotient x/y with a fraction is so close to an integer that it is rounded to it:
 * it differs from the integer by at least 1/y, and x/y * 2^-53 is less than that. */
bool kloop_whole_quotient(Loops *L, bool down, Number a, Number *out) {
    if (a.kind != LOOP_NUM || !a.quotient || a.twin || a.guess) return false;
    Number x = a.quotient->over, y = a.quotient->under;
    double k;
    if (kloop_known(L, y, &k) && (k < 1 || k != floor(k))) return false;
    bool integral = kloop_expect_int(L, &x);
    if (!kloop_expect_positive(L, &y) || !integral) return false;
    KRef q = divide(L, kloop_twin(L, x), kloop_twin(L, y), !down, x.lo >= 0);
    double lo = x.lo / (x.lo < 0 ? y.lo : y.hi), hi = x.hi / (x.hi < 0 ? y.hi : y.lo);
    *out = kloop_from_int(L, q, down ? floor(lo) : trunc(lo), down ? floor(hi) : trunc(hi));
    bool unsigned_zero = x.kind == LOOP_INT || x.unsigned_zero;
    if (L->speculates && unsigned_zero && down) return true;
    out->v = kelem_real(kbuild_rows(&L->walk), down ? EL_floor : EL_trunc, QS_F64, (KRef[]){a.v}).re;
    return out->unsigned_zero = unsigned_zero && (down || x.lo >= 0), true;
}
