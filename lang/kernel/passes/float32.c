/* float32.c -- computes in float32 what a loop of the program computes in float64 from float32 elements.
 *
 * A loop computes in float64, as the interpreter does (KFunc.strict).  The pass changes instructions to float32 where
 * the bits stay the same:
 *
 *     minima, maxima, choices, signs and comparisons of float32 elements, and variables that hold only such values
 *     a + b, a - b, a * b, a / b and sqrt(a) of float32 elements whose result is rounded to float32 at once: 53 bits
 *         are more than twice 24, so that rounding twice gives the same number as rounding once
 *     sums and products of small integers, which are exact in both
 *
 * With fast math (KFunc.fast) an operation with a float32 element is done in float32.  Numbers of the program and
 * integers take the type of the other operand, and stay float64 among themselves; an operation with a float64 element
 * is done in float64.  Sums of 8- and 16-bit integers stay exact; other functions and quotients of them, and products
 * with fractions, are float32, as in kernels.
 *
 * The first part finds the precision of each value, the second one makes a copy of the function.  Each value has a
 * Precision, which only rises until nothing changes: LOCALs take the highest one of all values that they are set to.  A
 * LOCAL that is read only to be rounded to float32 is rounded when it is set, if its values can be computed in float32:
 * y[i] = c ? a[i] + 1 : max(a[i], b[i]). */

#include "lang/kernel/passes/passes.h"
#include <math.h>

typedef enum {
    FLEXIBLE, /* a constant; with fast math any number of the program: takes the type of the other operand */
    PIXEL,    /* computed from 8- and 16-bit integers by sums and products */
    SINGLE,
    DOUBLE
} Precision;
enum { EXACT_BITS = 24 /* integers of so many bits are exact in float32 */, DOUBLE_BITS = 53, DEEP = 8 };

typedef struct {
    uint8_t precision;
    uint8_t bits; /* an integer of at most so many bits; 0: unknown */
} Kind;

typedef struct {
    const KFunc *f;
    KFunc *to;
    Kind *kind;   /* by instruction; that of a LOCAL holds for all its values */
    bool *rounds; /* by instruction: a float64 of which nothing but its value rounded to float32 is used */
    KRef *same;   /* by instruction: its copy, of the same dtype unless is_single */
    bool changed; /* some value is computed in float32 */
} Narrowing;

static const KIns *get_ins(const Narrowing *n, KRef r) { return &n->f->ins[r]; }

/* -- the precision of values --------------------------------------------------------------------------------------- */
static uint8_t more_of(uint8_t a, uint8_t b) { return a > b ? a : b; }

static uint8_t bits_of_integer(double v) {
    int bits = 1;
    if (v != floor(v) || fabs(v) >= 0x1p53) return 0;
    while (fabs(v) > ldexp(1, bits)) bits++;
    return (uint8_t)bits;
}

static Kind kind_of_constant(const Narrowing *n, KRef r) {
    double v;
    (void)kir_is_const(n->f, r, &v);
    bool same = isnan(v) || (double)(float)v == v;
    return (Kind){same || n->f->fast ? FLEXIBLE : DOUBLE, bits_of_integer(v)};
}

static Kind kind_of_element(const Narrowing *n, const KIns *i) {
    qs_dtype d = (qs_dtype)n->f->params[i->imm].dtype;
    if (i->dtype == QS_F32) return (Kind){SINGLE, 0};
    if (d == QS_B1) return (Kind){FLEXIBLE, 1};
    if (qdtype_is_int(d) && qdtype_size(d) <= 2) return (Kind){PIXEL, (uint8_t)(8 * qdtype_size(d))};
    return (Kind){qdtype_is_int(d) && n->f->fast ? FLEXIBLE : DOUBLE, 0};
}

/* The kind of a sum, difference or product. */
static Kind kind_of_arithmetic(const Narrowing *n, KOp op, Kind a, Kind b) {
    bool whole = a.bits && b.bits;
    int bits = !whole ? 0 : op == K_MUL ? a.bits + b.bits : more_of(a.bits, b.bits) + 1;
    Kind k = {more_of(a.precision, b.precision), (uint8_t)(bits <= DOUBLE_BITS ? bits : 0)};
    if (k.precision == PIXEL && !whole) k.precision = n->f->fast ? SINGLE : DOUBLE;
    if (!n->f->fast && (!k.bits || k.bits > EXACT_BITS)) k.precision = DOUBLE;
    return k;
}

static Kind join_kinds(Kind a, Kind b) {
    return (Kind){more_of(a.precision, b.precision), a.bits && b.bits ? more_of(a.bits, b.bits) : 0};
}

/* The kind of another function or quotient of values of kind k. */
static Kind kind_of_function(const Narrowing *n, Kind k) {
    if (!n->f->fast) return (Kind){DOUBLE, 0};
    return (Kind){k.precision == PIXEL ? SINGLE : k.precision, 0};
}

static bool is_double(const Narrowing *n, KRef r) { return get_ins(n, r)->dtype == QS_F64; }

static Kind find_kind(const Narrowing *n, KRef r) {
    const KIns *i = get_ins(n, r);
    Kind a = n->kind[i->a], b = n->kind[i->b], c = n->kind[i->c];
    const uint8_t other = n->f->fast ? FLEXIBLE : DOUBLE;
    switch ((KOp)i->op) {
    case K_CONST: return kind_of_constant(n, r);
    case K_LOAD: return kind_of_element(n, i);
    case K_CAST:
        if (i->dtype == QS_F32) return (Kind){SINGLE, 0};
        if (get_ins(n, i->a)->dtype == QS_B1) return (Kind){FLEXIBLE, 1};
        if (i->dtype != QS_F64 && !qdtype_is_int((qs_dtype)get_ins(n, i->a)->dtype)) return (Kind){other, 0};
        return a;
    case K_ADD:
    case K_SUB:
    case K_MUL: return kind_of_arithmetic(n, (KOp)i->op, a, b);
    case K_MIN:
    case K_MAX: return join_kinds(a, b);
    case K_NEG:
    case K_ABS:
    case K_ANALYTIC: return a;
    case K_GET: return is_double(n, i->a) ? a : (Kind){other, 0};
    case K_SELECT: return join_kinds(b, c);
    case K_DIV:
    case K_MOD: return kind_of_function(n, join_kinds(a, b));
    case K_MATH: return kir_is_rounding(i) ? a : kind_of_function(n, i->b ? join_kinds(a, b) : a);
    case K_PARAM: return (Kind){other, 0};
    default: return (Kind){i->dtype == QS_F64 ? DOUBLE : other, 0};
    }
}

/* Whether the value r, a float64, is computed in float32. */
static bool is_single(const Narrowing *n, KRef r) {
    Kind k = n->kind[r];
    double v;
    if (!is_double(n, r)) return false;
    if (get_ins(n, r)->op == K_CONST) return kir_is_const(n->f, r, &v) && (isnan(v) || (double)(float)v == v);
    return k.precision == SINGLE || (k.precision < SINGLE && k.bits && k.bits <= EXACT_BITS);
}

static Kind kind_of_local(const Narrowing *n, KRef value) {
    Kind k = n->kind[value];
    if (n->f->fast) return (Kind){k.precision, 0};
    return (Kind){is_single(n, value) ? SINGLE : DOUBLE, 0};
}

static void find_kinds(Narrowing *n) {
    bool again;
    do {
        again = false;
        for (KRef r = 1; r < n->f->nins; r++) {
            const KIns *i = get_ins(n, r);
            bool sets = (i->op == K_SET && is_double(n, i->a)) || (i->op == K_LOCAL && is_double(n, r));
            if (sets) {
                KRef local = i->op == K_SET ? i->a : r;
                Kind k = kind_of_local(n, i->op == K_SET ? i->b : i->a);
                if (k.precision > n->kind[local].precision) n->kind[local].precision = k.precision, again = true;
            } else if (i->op != K_SET && i->op != K_LOCAL && kir_has_result(i)) {
                n->kind[r] = find_kind(n, r);
            }
        }
    } while (again);
}

/* -- values that are rounded --------------------------------------------------------------------------------------- */
static bool are_single(const Narrowing *n, const KIns *i) {
    return is_single(n, i->a) && (!i->b || is_single(n, i->b));
}

/* Whether rounding the result of i to float32 is the same operation in float32. */
static bool rounds_alike(const Narrowing *n, const KIns *i) {
    bool basic = i->op == K_ADD || i->op == K_SUB || i->op == K_MUL || i->op == K_DIV;
    return (basic || (i->op == K_MATH && i->flag == MF_sqrt)) && i->flag != KFLAG_REASSOC && are_single(n, i);
}

/* Whether the value r, rounded to float32, can be computed in float32. */
static bool can_round(const Narrowing *n, KRef r, int depth) {
    const KIns *i = get_ins(n, r);
    if (is_single(n, r) || rounds_alike(n, i)) return true;
    if (!depth) return false;
    switch ((KOp)i->op) {
    case K_MIN:
    case K_MAX: return can_round(n, i->a, depth - 1) && can_round(n, i->b, depth - 1);
    case K_NEG:
    case K_ABS: return can_round(n, i->a, depth - 1);
    case K_SELECT: return can_round(n, i->b, depth - 1) && can_round(n, i->c, depth - 1);
    case K_GET: return n->rounds[i->a];
    default: return false;
    }
}

/* Whether the operand k of i is rounded to float32, or the result that is one of such operands. */
static bool rounds_operand(const Narrowing *n, KRef r, int k) {
    const KIns *i = get_ins(n, r);
    switch ((KOp)i->op) {
    case K_CAST: return i->dtype == QS_F32;
    case K_SET: return k == 0 || n->rounds[i->a];
    case K_LOCAL:
    case K_GET:
    case K_MIN:
    case K_MAX:
    case K_NEG:
    case K_ABS: return n->rounds[r];
    case K_SELECT: return k == 0 || n->rounds[r];
    default: return false;
    }
}

/* Whether the LOCAL could not hold all its values in float32. */
static bool loses_value(const Narrowing *n, KRef r, KRef *local) {
    const KIns *i = get_ins(n, r);
    if (i->op != K_SET && i->op != K_LOCAL) return false;
    KRef value = i->op == K_SET ? i->b : i->a;
    *local = i->op == K_SET ? i->a : r;
    return n->rounds[*local] && get_ins(n, value)->op != K_CONST && !can_round(n, value, DEEP);
}

/* Makes the LOCALs float32 that are read only to be rounded. */
static void find_rounded_locals(Narrowing *n) {
    bool again;
    KRef local;
    for (KRef r = 1; r < n->f->nins; r++) n->rounds[r] = is_double(n, r) && kir_has_result(get_ins(n, r));
    do {
        again = false;
        for (KRef r = 1; r < n->f->nins; r++) {
            const KIns *i = get_ins(n, r);
            for (int k = 0; k < 3; k++)
                if (n->rounds[i->arg[k]] && !rounds_operand(n, r, k)) n->rounds[i->arg[k]] = false, again = true;
            if (loses_value(n, r, &local)) n->rounds[local] = false, again = true;
        }
    } while (again);
    for (KRef r = 1; r < n->f->nins; r++) {
        const KIns *i = get_ins(n, r);
        KRef of = i->op == K_GET ? i->a : i->op == K_LOCAL ? r : 0;
        if (of && n->rounds[of]) n->kind[r] = (Kind){SINGLE, 0};
    }
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static KRef add_ins(Narrowing *n, const KIns *i, KRef a, KRef b, KRef c) {
    KMake m = kir_like(i, a, b, c);
    n->changed = true;
    return kir_ops[i->op].effect == KE_PURE ? kir_fold(n->to, m) : kir_add(n->to, m);
}

static KRef cast_to(Narrowing *n, KRef copy, qs_dtype d, uint32_t pos) {
    return kir_fold(n->to, (KMake){K_CAST, .own = d, .a = copy, .pos = pos});
}

/* The value of r in its own dtype. */
static KRef get_full(Narrowing *n, KRef r) {
    if (!r || !is_single(n, r) || get_ins(n, r)->op == K_CONST) return n->same[r];
    return cast_to(n, n->same[r], QS_F64, get_ins(n, r)->pos);
}

/* The value of r, a float64, as float32. */
static KRef get_single(Narrowing *n, KRef r) {
    if (!r || (is_single(n, r) && get_ins(n, r)->op != K_CONST)) return n->same[r];
    return cast_to(n, n->same[r], QS_F32, get_ins(n, r)->pos);
}

/* r, rounded to float32.  Rounding keeps the order of numbers and their signs. */
static KRef round_value(Narrowing *n, KRef r, int depth) {
    const KIns *i = get_ins(n, r);
    if (is_single(n, r) || !can_round(n, r, depth)) return get_single(n, r);
    if (rounds_alike(n, i)) return add_ins(n, i, get_single(n, i->a), get_single(n, i->b), 0);
    if (i->op == K_SELECT)
        return add_ins(n, i, get_full(n, i->a), round_value(n, i->b, depth - 1), round_value(n, i->c, depth - 1));
    KRef a = round_value(n, i->a, depth - 1), b = i->b ? round_value(n, i->b, depth - 1) : 0;
    return add_ins(n, i, a, b, 0);
}

static bool compares_single(const Narrowing *n, const KIns *i) {
    if (i->op < K_LT || i->op > K_NE || !is_double(n, i->a)) return false;
    return are_single(n, i) || (n->f->fast && join_kinds(n->kind[i->a], n->kind[i->b]).precision == SINGLE);
}

static KRef copy_single(Narrowing *n, const KIns *i) {
    switch ((KOp)i->op) {
    case K_CAST: return cast_to(n, get_full(n, i->a), QS_F32, i->pos);
    case K_GET: return add_ins(n, i, n->same[i->a], 0, 0);
    case K_SELECT: return add_ins(n, i, get_full(n, i->a), get_single(n, i->b), get_single(n, i->c));
    case K_ANALYTIC: return get_single(n, i->a);
    default: return add_ins(n, i, get_single(n, i->a), get_single(n, i->b), get_single(n, i->c));
    }
}

static KRef copy_ins(Narrowing *n, KRef r) {
    const KIns *i = get_ins(n, r);
    if (i->op == K_CONST) return kir_copy(n->to, i, 0, 0, 0);
    if (is_single(n, r)) return copy_single(n, i);
    if (i->op == K_GET) return kir_copy(n->to, i, n->same[i->a], 0, 0);
    if (i->op == K_SET)
        return kir_copy(n->to, i, n->same[i->a], is_single(n, i->a) ? round_value(n, i->b, DEEP) : get_full(n, i->b),
                        0);
    if (compares_single(n, i)) return add_ins(n, i, get_single(n, i->a), get_single(n, i->b), 0);
    if (i->op == K_CAST && is_double(n, i->a)) {
        if (i->dtype == QS_F32) return round_value(n, i->a, DEEP);
        if (is_single(n, i->a)) return cast_to(n, get_single(n, i->a), (qs_dtype)i->dtype, i->pos);
    }
    return kir_copy(n->to, i, get_full(n, i->a), get_full(n, i->b), get_full(n, i->c));
}

const KFunc *kfloat32_narrow(Ctx *c, Arena *a, const KFunc *f) {
    if (!f->strict) return f;
    Narrowing n = {.f = f, .to = kir_shell(c, a, f)};
    n.kind = qarena_alloc(a, qmem_size(f->nins, sizeof *n.kind, 0));
    n.same = qarena_alloc(a, qmem_size(f->nins, sizeof *n.same, 0));
    n.rounds = qarena_alloc(a, qmem_size(f->nins, sizeof *n.rounds, 0));
    find_kinds(&n);
    if (!f->fast) find_rounded_locals(&n);
    for (KRef r = 1; r < f->nins; r++) n.same[r] = copy_ins(&n, r);
    if (!n.changed) return f;
    return kir_finish(n.to, f);
}
