/* rounded_sums.c -- computes sums that each iteration rounds to float32 in vectors; see rounded_sums.h.
 *
 * A regular block runs the part of the body on which the terms depend, then the rest of the body. */
#include "lang/kernel/passes/rounded_sums.h"
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/plan.h"

#include <math.h>

enum {
    SUMS = 2,    /* most sums of a loop */
    BLOCK = 32,  /* iterations of a block */
    SERIAL = 16, /* iterations as before after the first irregular block; after each further one, twice as many */
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
    uint32_t pos;
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
static bool is_stored(const Blocks *b, uint64_t param) {
    for (KRef r = b->loop + 1; r < b->end; r++)
        if (get_ins(b, r)->op == K_STORE && get_ins(b, r)->imm == param) return true;
    return false;
}

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
    if (b->part[r] == PART_NONE || (i->op == K_LOAD && is_stored(b, i->imm))) return false;
    b->part[r] = PART_TERMS;
    if (i->op == K_GET && !mark_local(b, i->a)) return false;
    for (int k = 0; k < 3; k++)
        if (i->arg[k] && !((i->op == K_GET || i->op == K_SET) && k == 0) && !mark_terms(b, i->arg[k])) return false;
    return true;
}

/* Whether LLVM can load the terms of several iterations at once. */
static bool are_neighbours(const Blocks *b) {
    Invariants v = {.arena = b->arena, .f = b->f, .loop = b->loop, .end = b->end};
    for (KRef r = b->loop + 1; r < b->end; r++) {
        const KIns *i = get_ins(b, r);
        int64_t by;
        if (i->op != K_LOAD || b->part[r] != PART_TERMS) continue;
        if (!kaffine_stride(&v, i->a, &by) || by * b->step < -1 || by * b->step > 1) return false;
    }
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

static bool is_candidate(Blocks *b, KRef r) {
    const KIns *i = get_ins(b, r);
    double step;
    if (i->op != K_FOR || i->dtype != QS_I64 || !kir_is_const(b->f, i->c, &step) || step == 0) return false;
    int64_t iterations = kplan_iterations(b->f, r);
    b->loop = r, b->end = b->f->regions[r].end, b->step = (int64_t)step, b->pos = i->pos, b->n = 0;
    if (b->end - r > MOST || (iterations >= 0 && iterations < 2 * BLOCK) || !has_plain_body(b)) return false;
    for (KRef s = r; s < b->end; s++) b->part[s] = b->live[s] ? PART_REST : PART_NONE;
    for (KRef s = r + 1; s < b->end; s++)
        if (get_ins(b, s)->op == K_SET && get_ins(b, get_ins(b, s)->a)->dtype == QS_F32) add_sum(b, s);
    for (int k = 0; k < b->n; k++)
        if (!mark_terms(b, b->sum[k].term)) return false;
    return b->n && are_neighbours(b) && !has_other_chain(b);
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static KRef add_op(Blocks *b, KOp op, KRef x, KRef y) {
    return kir_fold(b->to, (KMake){op, .a = x, .b = y, .pos = b->pos});
}
static KRef add_ordered(Blocks *b, KOp op, KRef x, KRef y) {
    return kir_add(b->to, (KMake){op, .flag = KFLAG_REASSOC, .a = x, .b = y, .pos = b->pos});
}
static KRef add_int(Blocks *b, int64_t v) { return kir_const_int(b->to, QS_I64, v, b->pos); }
static KRef add_number(Blocks *b, double v) { return kir_const_num(b->to, QS_F64, v, b->pos); }
static KRef add_get(Blocks *b, KRef local) { return kir_add(b->to, (KMake){K_GET, .a = local, .pos = b->pos}); }
static void add_set(Blocks *b, KRef local, KRef v) {
    kir_add(b->to, (KMake){K_SET, .a = local, .b = v, .pos = b->pos});
}
static KRef add_local(Blocks *b, KRef v) { return kir_add(b->to, (KMake){K_LOCAL, .a = v, .pos = b->pos}); }
static KRef widen(Blocks *b, KRef v) { return kir_fold(b->to, (KMake){K_CAST, .own = QS_F64, .a = v, .pos = b->pos}); }
static void add_flow(Blocks *b, KOp op, KRef condition) { kir_add(b->to, (KMake){op, .a = condition, .pos = b->pos}); }

static KRef open_for(Blocks *b, KRef first, KRef last, int64_t step, unsigned flag) {
    KMake m = {K_FOR, .own = QS_I64, .flag = flag, .a = first, .b = last, .c = add_int(b, step), .pos = b->pos};
    return kir_add(b->to, m);
}

static void copy_ins(Blocks *b, KRef r) {
    const KIns *i = get_ins(b, r);
    b->map[r] = kir_copy(b->to, i, b->map[i->a], b->map[i->b], b->map[i->c]);
}

/* Copies the loop for the iterations first … last. */
static void copy_serial(Blocks *b, KRef first, KRef last) {
    b->map[b->loop] = open_for(b, first, last, b->step, get_ins(b, b->loop)->flag);
    for (KRef r = b->loop + 1; r < b->end; r++) copy_ins(b, r);
    add_flow(b, K_END, 0);
}

/* Sets `unit` to the largest power of two that is at most |s|, say 2^e.  As s has 24 bits, the rounded product
 * q = (2^52 + 1)*s is between 2^(e + 52) and 2^(e + 53), without these, so that the next numbers are 2^e away; and
 * q*2^-53 is between a half of 2^e and 2^e, so that q - q*2^-53 is rounded to the next number. */
static void set_unit(Blocks *b, const Sum *s) {
    KRef q = add_op(b, K_MUL, widen(b, add_get(b, b->map[s->local])), add_number(b, 0x1p52 + 1));
    KRef below = add_op(b, K_MUL, q, add_number(b, 1 - 0x1p-53));
    add_set(b, s->unit, add_op(b, K_ABS, add_op(b, K_SUB, q, below), 0));
}

static void begin_sums(Blocks *b) {
    for (Sum *s = b->sum; s < b->sum + b->n; s++) s->unit = add_local(b, add_number(b, 0)), set_unit(b, s);
}

static void begin_block(Blocks *b, Sum *s) {
    KRef unit = add_get(b, s->unit);
    s->shift = add_op(b, K_MUL, unit, add_number(b, 0x1.8p29));
    s->most = add_op(b, K_MUL, unit, add_number(b, 0x1p-24 * (1 - 0x1p-20)));
    s->total = add_local(b, add_number(b, 0));
    s->size = add_local(b, add_number(b, 0));
}

static void add_term(Blocks *b, const Sum *s) {
    KRef p = b->map[s->term];
    if (b->to->ins[p].dtype == QS_F32) p = widen(b, p);
    KRef q = add_op(b, K_SUB, add_op(b, K_ADD, p, s->shift), s->shift);
    KRef close = add_op(b, K_LE, add_op(b, K_ABS, add_op(b, K_SUB, p, q), 0), s->most);
    KRef size =
        kir_fold(b->to, (KMake){K_SELECT, .a = close, .b = add_op(b, K_ABS, q, 0), .c = add_number(b, INFINITY)});
    add_set(b, s->total, add_ordered(b, K_ADD, add_get(b, s->total), q));
    add_set(b, s->size, add_ordered(b, K_ADD, add_get(b, s->size), size));
}

/* Returns the value of s after the block, as float64. */
static KRef get_end(Blocks *b, const Sum *s) {
    KRef old = widen(b, add_get(b, b->map[s->local]));
    return add_op(b, s->minus ? K_SUB : K_ADD, old, add_get(b, s->total));
}

/* Returns whether the block was regular for this sum.  Terms of one sign enlarge |s| and have
 * the sum (size + end - start)/2; terms of the other sign reduce it and have the sum (size - end + start)/2. */
static KRef test_sum(Blocks *b, const Sum *s) {
    KRef size = add_get(b, s->size), unit = add_get(b, s->unit), end = add_op(b, K_ABS, get_end(b, s), 0);
    KRef both = add_op(b, K_ADD, add_op(b, K_ABS, widen(b, add_get(b, b->map[s->local])), 0), end);
    KRef low = add_op(b, K_LT, add_op(b, K_MUL, unit, add_number(b, 2)), add_op(b, K_SUB, both, size));
    KRef high = add_op(b, K_LT, add_op(b, K_ADD, both, size), add_op(b, K_MUL, unit, add_number(b, 4)));
    KRef normal = add_op(b, K_LE, add_number(b, 0x1p-126), unit);
    return add_op(b, K_AND, add_op(b, K_AND, low, high), normal);
}

static void end_sum(Blocks *b, const Sum *s) {
    KMake rounded = {K_CAST, .own = QS_F32, .a = get_end(b, s), .pos = b->pos};
    add_set(b, b->map[s->local], kir_fold(b->to, rounded));
}

/* Copies what belongs to the terms, or all but the sums, for the block that begins at `first`.  `span` is at least
 * BLOCK - 1: a limit that is not constant keeps the loop from being unrolled instead of vectorized. */
static void copy_part(Blocks *b, KRef first, KRef span, Part part) {
    bool independent = part == PART_TERMS || is_rest_independent(b);
    unsigned flag = independent ? KFLAG_REASSOC : get_ins(b, b->loop)->flag;
    KRef at = open_for(b, add_int(b, 0), add_op(b, K_MIN, span, add_int(b, BLOCK - 1)), 1, flag);
    b->map[b->loop] = add_op(b, K_ADD, first, add_op(b, K_MUL, at, add_int(b, b->step)));
    for (KRef r = b->loop + 1; r < b->end; r++)
        if (b->part[r] == PART_TERMS || (part == PART_REST && b->part[r] == PART_REST)) copy_ins(b, r);
    for (int k = 0; part == PART_TERMS && k < b->n; k++) add_term(b, &b->sum[k]);
    add_flow(b, K_END, 0);
}

/* Returns whether the block that begins at `now` has enough iterations; sets `span` to what is left, as a distance. */
static KRef have_iterations(Blocks *b, KRef now, KRef last, KRef *span) {
    KRef low = b->step > 0 ? now : last, high = b->step > 0 ? last : now;
    int64_t least = (BLOCK - 1) * (b->step > 0 ? b->step : -b->step);
    *span = add_op(b, K_SUB, high, low);
    return add_op(b, K_AND, add_op(b, K_LE, low, high), add_op(b, K_LE, add_int(b, least), *span));
}

/* Runs `run` iterations as before, or those that are left. */
static void copy_irregular(Blocks *b, KRef now, KRef last, KRef next, KRef run) {
    KRef n = add_get(b, run), by = add_int(b, b->step);
    KRef after = add_op(b, K_ADD, now, add_op(b, K_MUL, n, by));
    KRef end = add_op(b, K_SUB, after, by);
    copy_serial(b, now, add_op(b, b->step > 0 ? K_MIN : K_MAX, end, last));
    add_set(b, next, after);
    add_set(b, run, add_op(b, K_MIN, add_op(b, K_ADD, n, n), add_int(b, MOST_SERIAL)));
    for (int k = 0; k < b->n; k++) set_unit(b, &b->sum[k]);
}

static void copy_loop(Blocks *b) {
    const KIns *i = get_ins(b, b->loop);
    KRef last = b->map[i->b], next = add_local(b, b->map[i->a]), run = add_local(b, add_int(b, SERIAL));
    begin_sums(b);
    add_flow(b, K_LOOP, 0);
    KRef now = add_get(b, next), span, more = have_iterations(b, now, last, &span);
    add_flow(b, K_IF, add_op(b, K_NOT, more, 0));
    add_flow(b, K_BREAK, 0);
    add_flow(b, K_END, 0);
    for (int k = 0; k < b->n; k++) begin_block(b, &b->sum[k]);
    copy_part(b, now, span, PART_TERMS);
    KRef regular = test_sum(b, &b->sum[0]);
    for (int k = 1; k < b->n; k++) regular = add_op(b, K_AND, regular, test_sum(b, &b->sum[k]));
    add_flow(b, K_IF, regular);
    copy_part(b, now, span, PART_REST);
    for (int k = 0; k < b->n; k++) end_sum(b, &b->sum[k]);
    add_set(b, next, add_op(b, K_ADD, now, add_int(b, BLOCK * b->step)));
    add_set(b, run, add_int(b, SERIAL));
    add_flow(b, K_ELSE, 0);
    copy_irregular(b, now, last, next, run);
    add_flow(b, K_END, 0);
    add_flow(b, K_END, 0);
    copy_serial(b, add_get(b, next), last);
}

const KFunc *kroundedsums_block(Ctx *c, Arena *a, const KFunc *f) {
    KPlan plan;
    if (!kir_is_exact(f) || !kir_has(f, K_FOR) || f->barrier || f->shared) return f;
    if (!f->serial && kplan_strip(c, a, f, 1, f->nins, false, &plan)) return f; /* positions are side by side */
    Blocks b = {.arena = a, .f = f, .part = qarena_alloc(a, f->nins), .live = qarena_alloc(a, f->nins)};
    find_live(&b);
    KRef first = 1;
    while (first < f->nins && !is_candidate(&b, first)) first++;
    if (first == f->nins) return f;
    b.to = kir_shell(c, a, f);
    b.map = qarena_alloc(a, qmem_size(f->nins, sizeof *b.map, 0));
    for (KRef r = 1; r < f->nins; r++) {
        if (r >= first && is_candidate(&b, r)) copy_loop(&b), r = b.end;
        else copy_ins(&b, r);
    }
    kir_match(b.to);
    b.to->hash = f->hash, b.to->small = f->small;
    return b.to;
}
