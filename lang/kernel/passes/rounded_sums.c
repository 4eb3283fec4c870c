/* rounded_sums.c -- computes sums that each iteration rounds to float32 in vectors, with the same bits.
 *
 *     FOR j = a..b                         LOOP over blocks of j
 *       s = float32(s + A[i,j]*x[j])         FOR j in the block
 *     END                            =>        p = A[i,j]*x[j]; q = p rounded to the spacing of s
 *                                              total += q; size += |q|
 *                                            END
 *                                            IF the block is regular: s += total
 *                                            ELSE FOR j in a part of the block: as before
 *                                          END
 *                                          FOR the remaining j: as before
 *
 * The numbers of float32 between two powers of two have one spacing.  While s stays between them, rounding s + p is
 * adding q, because s is a multiple of the spacing.  Sums of such multiples are exact in float64, so that they may be
 * regrouped and put into vectors.  A block is regular if s cannot leave its interval in any order of the terms and no p
 * is so close to the middle of two multiples that rounding s + p to float64 first could matter (then size is
 * infinite).  Values that are not finite, zero or subnormal are never regular.
 *
 * Without the pass each iteration waits for an addition and two conversions of the one before.
 *
 * A regular block runs the part of the body on which the terms depend, then the rest of the body. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <math.h>

enum {
    SUMS = 2,   /* most sums of a loop */
    BLOCK = 32, /* iterations of a block */
    /* Iterations as before after the first irregular block, and after each further one half as many more.  If they were
     * doubled, they would end just below a power of two, as often does a sum that grows steadily, and the next block
     * would be irregular again. */
    SERIAL = 32,
    MOST_SERIAL = 1024,
    MOST = 120 /* instructions of the body */
};

/* Which copies of the body an instruction belongs to; NONE: to none, because it is a sum or its value is not used. */
typedef enum { PART_REST, PART_TERMS, PART_NONE } Part;

typedef struct {
    KRef local, term; /* in f: the LOCAL, and what is added */
    bool minus;
    KRef unit, total, size; /* in the copy: LOCALs; unit: a power of two, with which blocks are tried */
    /* In the copy.  shift: a float64 number that has the spacing of float32 numbers from `unit` on, so that adding and
     * subtracting it rounds a term p to a multiple q of the spacing.  most: the largest |p - q| with which rounding
     * s + p to float64 first does not matter. */
    KRef shift, most;
} Sum;

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef *map;     /* by instruction of f: its copy */
    uint8_t *part; /* by instruction of f: Part */
    bool *live;    /* by instruction of f: its value is used, or it has an effect */
    KRef loop, end;
    int64_t step;
    Sum sum[SUMS];
    int n;
} Blocks;

static const KIns *get_ins(const Blocks *b, KRef r) { return &b->f->ins[r]; }
static bool is_inside(const Blocks *b, KRef r) { return r > b->loop && r < b->end; }

/* -- the sums ------------------------------------------------------------------------------------------------------ */
static KRef skip_cast(const Blocks *b, KRef r, qs_dtype to, qs_dtype from) {
    const KIns *i = get_ins(b, r);
    return i->op == K_CAST && i->dtype == to && get_ins(b, i->a)->dtype == from ? i->a : 0;
}

static bool reads_local(const Blocks *b, KRef r, KRef local) {
    return get_ins(b, r)->op == K_GET && get_ins(b, r)->a == local;
}

/* Whether r, of the dtype of an addition, is the value of the LOCAL. */
static bool is_old_value(const Blocks *b, KRef r, KRef local) {
    return reads_local(b, get_ins(b, r)->dtype == QS_F64 ? skip_cast(b, r, QS_F64, QS_F32) : r, local);
}

/* The float32 pass leaves unused instructions beside those that replace them. */
static void find_live(Blocks *b) {
    for (KRef r = b->f->nins - 1; r; r--) {
        const KIns *i = get_ins(b, r);
        b->live[r] |= kir_ops[i->op].effect != KE_PURE && i->op != K_LOAD && i->op != K_GET;
        for (int k = 0; b->live[r] && k < 3; k++) b->live[i->arg[k]] = true;
    }
}

/* Counts the uses of r in the body. */
static int count_uses(const Blocks *b, KRef r) {
    int n = 0;
    for (KRef u = b->loop + 1; u < b->end; u++)
        for (int k = 0; b->live[u] && k < 3; k++) n += get_ins(b, u)->arg[k] == r;
    return n;
}

/* Returns the instruction before r on the way from the SET to the GET of the LOCAL. */
static KRef get_previous(const Blocks *b, KRef r, KRef local) {
    const KIns *i = get_ins(b, r);
    if (i->op == K_SET) return i->b;
    bool sums = i->op == K_ADD || i->op == K_SUB;
    return sums && !is_old_value(b, i->a, local) ? i->b : i->a;
}

/* Whether the instructions from the SET down to the GET are used for the sum only. */
static bool is_chain(const Blocks *b, KRef set, KRef local) {
    for (KRef r = set; get_ins(b, r)->op != K_GET;) {
        r = get_previous(b, r, local);
        if (!is_inside(b, r) || count_uses(b, r) != 1) return false;
    }
    return count_uses(b, local) == 2;
}

static void mark_chain(Blocks *b, KRef set, KRef local) {
    KRef r = set;
    for (; get_ins(b, r)->op != K_GET; r = get_previous(b, r, local)) b->part[r] = PART_NONE;
    b->part[r] = PART_NONE;
}

/* Adds the sum of a SET of its LOCAL, if it is one; otherwise has_other_chain finds the SET. */
static void add_sum(Blocks *b, KRef set) {
    KRef local = get_ins(b, set)->a, value = get_ins(b, set)->b;
    if (local > b->loop || get_ins(b, local)->dtype != QS_F32) return;
    KRef wide = skip_cast(b, value, QS_F32, QS_F64);
    const KIns *i = get_ins(b, wide ? wide : value);
    bool left = is_old_value(b, i->a, local), right = i->op == K_ADD && is_old_value(b, i->b, local);
    if ((i->op != K_ADD && i->op != K_SUB) || left == right || b->n == SUMS) return;
    if (!is_chain(b, set, local)) return;
    mark_chain(b, set, local);
    b->sum[b->n++] = (Sum){.local = local, .term = left ? i->b : i->a, .minus = i->op == K_SUB};
}

/* -- the terms ----------------------------------------------------------------------------------------------------- */
static bool mark_terms(Blocks *b, KRef r);

/* Marks the SETs of a LOCAL that a term reads; false: it has a value of an earlier iteration. */
static bool mark_local(Blocks *b, KRef local) {
    bool first = true;
    if (is_inside(b, local) && !mark_terms(b, local)) return false;
    for (KRef r = b->loop + 1; r < b->end; r++) {
        const KIns *i = get_ins(b, r);
        if ((i->op != K_GET && i->op != K_SET) || i->a != local) continue;
        if (first && i->op == K_GET && !is_inside(b, local)) first = false;
        else if (i->op == K_SET && (!first || !mark_terms(b, r))) return false;
    }
    return true;
}

/* Marks what r depends on in the body.  Another order of loads and stores must not matter. */
static bool mark_terms(Blocks *b, KRef r) {
    const KIns *i = get_ins(b, r);
    if (!is_inside(b, r) || b->part[r] == PART_TERMS) return true;
    if (b->part[r] == PART_NONE || (i->op == K_LOAD && kir_stores(b->f, b->loop + 1, b->end, i->imm))) return false;
    b->part[r] = PART_TERMS;
    if (i->op == K_GET && !mark_local(b, i->a)) return false;
    for (int k = 0; k < 3; k++)
        if (i->arg[k] && !((i->op == K_GET || i->op == K_SET) && k == 0) && !mark_terms(b, i->arg[k])) return false;
    return true;
}

/* Whether the rest of the body stores to other elements in each iteration, and reads no others of these arrays. */
static bool is_rest_independent(const Blocks *b) {
    Invariants v = {.arena = b->arena, .f = b->f, .loop = b->loop, .end = b->end};
    for (KRef s = b->loop + 1; s < b->end; s++) {
        int64_t by;
        if (get_ins(b, s)->op != K_STORE) continue;
        if (!kaffine_stride(&v, get_ins(b, s)->a, &by) || !by) return false;
        for (KRef r = b->loop + 1; r < b->end; r++)
            if (kir_is_memory(get_ins(b, r)->op) && get_ins(b, r)->imm == get_ins(b, s)->imm &&
                kaffine_leader(b->f, get_ins(b, r)->a) != kaffine_leader(b->f, get_ins(b, s)->a))
                return false;
    }
    return true;
}

/* Whether the rest of the body has a variable that is computed from its last value, and so stays as slow as before. */
static bool has_other_chain(const Blocks *b) {
    for (KRef s = b->loop + 1; s < b->end; s++)
        if (get_ins(b, s)->op == K_SET && b->part[s] != PART_NONE && kplan_is_recurrence(b->f, b->loop, s)) return true;
    return false;
}

static bool has_plain_body(const Blocks *b) {
    for (KRef r = b->loop + 1; r < b->end; r++) {
        const KIns *i = get_ins(b, r);
        bool memory = i->op == K_LOAD || i->op == K_STORE || i->op == K_LOCAL || i->op == K_GET || i->op == K_SET;
        if (!memory && kir_ops[i->op].effect != KE_PURE) return false;
        if (i->op == K_STORE && !get_ins(b, b->loop)->flag) return false; /* arrays may overlap */
    }
    return true;
}

static bool is_candidate(void *pass, KRef r) {
    Blocks *b = pass;
    const KIns *i = get_ins(b, r);
    double step;
    if (i->dtype != QS_I64 || !kir_is_const(b->f, i->c, &step) || step == 0) return false;
    int64_t iterations = kplan_iterations(b->f, r);
    b->loop = r, b->end = b->f->regions[r].end, b->step = (int64_t)step, b->n = 0;
    if (b->end - r > MOST || (iterations >= 0 && iterations < 2 * BLOCK) || !has_plain_body(b)) return false;
    for (KRef s = r; s < b->end; s++) b->part[s] = b->live[s] ? PART_REST : PART_NONE;
    for (KRef s = r + 1; s < b->end; s++)
        if (get_ins(b, s)->op == K_SET && get_ins(b, get_ins(b, s)->a)->dtype == QS_F32) add_sum(b, s);
    for (int k = 0; k < b->n; k++)
        if (!mark_terms(b, b->sum[k].term)) return false;
    return b->n && !has_other_chain(b);
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static KRef add_unordered(Blocks *b, KRef x, KRef y) {
    return kir_add(b->to, (KMake){K_ADD, .flag = KFLAG_REASSOC, .a = x, .b = y, .pos = b->to->pos});
}
static KRef add_number(Blocks *b, double v) { return kir_const_num(b->to, QS_F64, v, b->to->pos); }

/* Copies the loop for the iterations first … last. */
static void copy_serial(Blocks *b, KRef first, KRef last) {
    b->map[b->loop] = kir_for(b->to, first, last, b->step, get_ins(b, b->loop)->flag);
    for (KRef r = b->loop + 1; r < b->end; r++) kir_copy_mapped(b->to, b->f, b->map, r);
    kir_flow(b->to, K_END, 0);
}

/* Sets `unit` to the largest power of two that is at most |s|, say 2^e.  As s has 24 bits, the rounded product
 * q = (2^52 + 1)*s is between 2^(e + 52) and 2^(e + 53), without these, so that the next numbers are 2^e away; and
 * q*2^-53 is between a half of 2^e and 2^e, so that q - q*2^-53 is rounded to the next number. */
static void set_unit(Blocks *b, const Sum *s) {
    KFunc *to = b->to;
    KRef q = kir_op(to, K_MUL, kir_cast(to, QS_F64, kir_get(to, b->map[s->local])), add_number(b, 0x1p52 + 1));
    KRef below = kir_op(to, K_MUL, q, add_number(b, 1 - 0x1p-53));
    kir_set(to, s->unit, kir_op(to, K_ABS, kir_op(to, K_SUB, q, below), 0));
}

static void begin_sums(Blocks *b) {
    for (Sum *s = b->sum; s < b->sum + b->n; s++) s->unit = kir_local(b->to, add_number(b, 0)), set_unit(b, s);
}

static void begin_block(Blocks *b, Sum *s) {
    KFunc *to = b->to;
    KRef unit = kir_get(to, s->unit);
    s->shift = kir_op(to, K_MUL, unit, add_number(b, 0x1.8p29));
    s->most = kir_op(to, K_MUL, unit, add_number(b, 0x1p-24 * (1 - 0x1p-20)));
    s->total = kir_local(to, add_number(b, 0));
    s->size = kir_local(to, add_number(b, 0));
}

static void add_term(Blocks *b, const Sum *s) {
    KFunc *to = b->to;
    KRef p = b->map[s->term];
    if (to->ins[p].dtype == QS_F32) p = kir_cast(to, QS_F64, p);
    KRef q = kir_op(to, K_SUB, kir_op(to, K_ADD, p, s->shift), s->shift);
    KRef close = kir_op(to, K_LE, kir_op(to, K_ABS, kir_op(to, K_SUB, p, q), 0), s->most);
    KRef size = kir_select(to, close, kir_op(to, K_ABS, q, 0), add_number(b, INFINITY));
    kir_set(to, s->total, add_unordered(b, kir_get(to, s->total), q));
    kir_set(to, s->size, add_unordered(b, kir_get(to, s->size), size));
}

/* Returns the value of s after the block, as float64. */
static KRef get_end(Blocks *b, const Sum *s) {
    KRef old = kir_cast(b->to, QS_F64, kir_get(b->to, b->map[s->local]));
    return kir_op(b->to, s->minus ? K_SUB : K_ADD, old, kir_get(b->to, s->total));
}

/* Returns whether the block was regular for this sum.  Terms of one sign enlarge |s| and have
 * the sum (size + end - start)/2; terms of the other sign reduce it and have the sum (size - end + start)/2. */
static KRef test_sum(Blocks *b, const Sum *s) {
    KFunc *to = b->to;
    KRef size = kir_get(to, s->size), unit = kir_get(to, s->unit), end = kir_op(to, K_ABS, get_end(b, s), 0);
    KRef both = kir_op(to, K_ADD, kir_op(to, K_ABS, kir_cast(to, QS_F64, kir_get(to, b->map[s->local])), 0), end);
    KRef low = kir_op(to, K_LT, kir_op(to, K_MUL, unit, add_number(b, 2)), kir_op(to, K_SUB, both, size));
    KRef high = kir_op(to, K_LT, kir_op(to, K_ADD, both, size), kir_op(to, K_MUL, unit, add_number(b, 4)));
    KRef normal = kir_op(to, K_LE, add_number(b, 0x1p-126), unit);
    return kir_op(to, K_AND, kir_op(to, K_AND, low, high), normal);
}

static void end_sum(Blocks *b, const Sum *s) {
    kir_set(b->to, b->map[s->local], kir_cast(b->to, QS_F32, get_end(b, s)));
}

/* Copies what belongs to the terms, or all but the sums, for the block that begins at `first`.  `span` is at least
 * BLOCK - 1: a limit that is not constant keeps the loop from being unrolled instead of vectorized. */
static void copy_part(Blocks *b, KRef first, KRef span, Part part) {
    KFunc *to = b->to;
    bool independent = part == PART_TERMS || is_rest_independent(b);
    unsigned flag = independent ? KFLAG_REASSOC : get_ins(b, b->loop)->flag;
    KRef at = kir_for(to, kir_int(to, 0), kir_op(to, K_MIN, span, kir_int(to, BLOCK - 1)), 1, flag);
    b->map[b->loop] = kir_op(to, K_ADD, first, kir_op(to, K_MUL, at, kir_int(to, b->step)));
    for (KRef r = b->loop + 1; r < b->end; r++)
        if (b->part[r] == PART_TERMS || (part == PART_REST && b->part[r] == PART_REST))
            kir_copy_mapped(to, b->f, b->map, r);
    for (int k = 0; part == PART_TERMS && k < b->n; k++) add_term(b, &b->sum[k]);
    kir_flow(to, K_END, 0);
}

/* Returns whether the block that begins at `now` has enough iterations; sets `span` to what is left, as a distance. */
static KRef have_iterations(Blocks *b, KRef now, KRef last, KRef *span) {
    KFunc *to = b->to;
    KRef low = b->step > 0 ? now : last, high = b->step > 0 ? last : now;
    int64_t least = (BLOCK - 1) * (b->step > 0 ? b->step : -b->step);
    *span = kir_op(to, K_SUB, high, low);
    return kir_op(to, K_AND, kir_op(to, K_LE, low, high), kir_op(to, K_LE, kir_int(to, least), *span));
}

/* Runs `run` iterations as before, or those that are left. */
static void copy_irregular(Blocks *b, KRef now, KRef last, KRef next, KRef run) {
    KFunc *to = b->to;
    KRef n = kir_get(to, run), by = kir_int(to, b->step);
    KRef after = kir_op(to, K_ADD, now, kir_op(to, K_MUL, n, by));
    KRef end = kir_op(to, K_SUB, after, by);
    copy_serial(b, now, kir_op(to, b->step > 0 ? K_MIN : K_MAX, end, last));
    kir_set(to, next, after);
    KRef more = kir_op(to, K_ADD, n, kir_op(to, K_SHR, n, kir_int(to, 1)));
    kir_set(to, run, kir_op(to, K_MIN, more, kir_int(to, MOST_SERIAL)));
    for (int k = 0; k < b->n; k++) set_unit(b, &b->sum[k]);
}

static void replace_loop(void *pass) {
    Blocks *b = pass;
    KFunc *to = b->to;
    const KIns *i = get_ins(b, b->loop);
    to->pos = i->pos;
    KRef last = b->map[i->b], next = kir_local(to, b->map[i->a]), run = kir_local(to, kir_int(to, SERIAL));
    begin_sums(b);
    kir_flow(to, K_LOOP, 0);
    KRef now = kir_get(to, next), span, more = have_iterations(b, now, last, &span);
    kir_flow(to, K_IF, kir_op(to, K_NOT, more, 0));
    kir_flow(to, K_BREAK, 0);
    kir_flow(to, K_END, 0);
    for (int k = 0; k < b->n; k++) begin_block(b, &b->sum[k]);
    copy_part(b, now, span, PART_TERMS);
    KRef regular = test_sum(b, &b->sum[0]);
    for (int k = 1; k < b->n; k++) regular = kir_op(to, K_AND, regular, test_sum(b, &b->sum[k]));
    kir_flow(to, K_IF, regular);
    copy_part(b, now, span, PART_REST);
    for (int k = 0; k < b->n; k++) end_sum(b, &b->sum[k]);
    kir_set(to, next, kir_op(to, K_ADD, now, kir_int(to, BLOCK * b->step)));
    kir_set(to, run, kir_int(to, SERIAL));
    kir_flow(to, K_ELSE, 0);
    copy_irregular(b, now, last, next, run);
    kir_flow(to, K_END, 0);
    kir_flow(to, K_END, 0);
    copy_serial(b, kir_get(to, next), last);
}

const KFunc *kroundedsums_block(Ctx *c, Arena *a, const KFunc *f) {
    KPlan plan;
    if (!kir_is_exact(f) || !kir_has(f, K_FOR) || f->barrier || f->shared) return f;
    if (!f->serial && kplan_strip(c, a, f, 1, f->nins, false, &plan)) return f; /* positions are side by side */
    Blocks b = {.arena = a, .f = f, .part = qarena_alloc(a, f->nins), .live = qarena_alloc(a, f->nins)};
    find_live(&b);
    return kir_replace_loops(c, a, f, (KLoopPass){&b, &b.to, &b.map, is_candidate, replace_loop});
}
