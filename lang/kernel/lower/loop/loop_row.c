/* loop_row.c -- slices of unknown length in a loop: p[j,:] - p[i,:], sum(x[i-k..i].*h), c[i,:] = c[i,:] + s*b[k,:].
 *
 * An expression of such slices, and of ranges (0..i), is a tree (Row), and no array.  Where its elements are needed, by
 * a reduction or by the slice that it is assigned to, an inner FOR computes them one by one (loop_element.c).  Slices
 * of arrays of integers and truth values are rows even if they are short.  A variable may hold a Row while its block is
 * open and nothing writes the arrays that it reads; each use computes the elements again.  A slice in two dimensions is
 * a block, whose elements two loops visit row by row.  Blocks meet only blocks of equal sides.
 *
 * The VM runs such a loop only if the arrays that it writes share no memory with its other arrays.  So only a slice of
 * the assigned array itself can overlap the target.  At the same positions along the dimension it is the same element,
 * or in another row.  Otherwise the elements are first copied to an LARRAY.  The same holds for a variable with a slice
 * of an array that the loop writes.  Such loops run in the interpreter if the array is longer than the LARRAY.
 *
 * horzcat and circshift copy their elements to an LARRAY at once.
 *
 * x[mask] is the row x with a mask.  Other expressions cannot use it, because the number of its elements is not known.
 * Reductions skip the elements whose mask is false.
 *
 * Reductions compute in the order of the host: sums in sixteen lanes (vm/array/contiguous.c), products in the lanes of
 * vm/array/reduce.c.  Sums of integers are exact in any order.  The host divides rows of more than QCONTIG_BLOCK
 * elements; the interpreter runs loops over such rows. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/common/reduce_element.h"
#include "lang/kernel/lower/loop/loop_internal.h"

#include <math.h>
#include <stdio.h>

typedef enum {
    ROW_SLICE,
    ROW_RANGE,
    ROW_NUMBER,
    ROW_BINARY,
    ROW_UNARY,
    ROW_CALL,
    ROW_SPREAD,
    ROW_FLAT,
    ROW_COPY
} RowForm;
enum { SUM_MOST = 4096 /* QCONTIG_BLOCK */ };
/* The index of an element: among all, and in the dimensions of a block. */
typedef struct {
    KRef k, at[2];
} Cursor;
struct Row {
    RowForm form;
    SliceExtent n; /* count 0: a number, which fits any */
    bool column;   /* the rest of its shape, as in SliceShape */
    const Block *block;
    const Slice *slice;
    const Row *mask; /* only the elements count for which it is true; of its shape; NULL: all do */
    Op op;
    const char *name;
    int nargs;
    const Row *arg[LOOP_ROW_ARGS];
    Number num;
    KRef factor; /* ROW_SPREAD: 0: all elements are the first of arg[0]; 1: its elements; ROW_COPY: LARRAY; ROW_RANGE:
                  * the step */
    KRef first;  /* ROW_RANGE: an integer */
    KRef f64;    /* ROW_COPY, ROW_RANGE: as in Value */
    KRef since;  /* the instructions that existed when the slice was made */
    uint32_t pos;
    int depth; /* how many loops were open */
};

static Row *new_row(Loops *L, const Row *like, RowForm form) {
    Row *r = qarena_alloc(L->arena, sizeof *r);
    if (like) *r = *like;
    return r->form = form, r->pos = L->pos, r;
}

/* A ROW_SPREAD has one operand; its nargs is a copy from this operand. */
static int count_args(const Row *r) { return r->form == ROW_SPREAD ? 1 : r->nargs; }

static KRef one(Loops *L) { return kloop_i64(L, 1); }
static KRef zero(Loops *L) { return kloop_i64(L, 0); }
static Cursor element_index(KRef k) { return (Cursor){k, {k}}; }

/* -- making -------------------------------------------------------------------------------------------------------- */
/* A function that calls itself has one version, which runs whether arrays share memory or not; what it writes is not
 * known to the loop that calls it. */
static qs_status decline_calls(Loops *L) {
    if (!L->module && !L->callees) return QS_OK;
    return kloop_decline(L, L->pos, "a slice of a length that is not known, beside a function that calls itself");
}

qs_status kloop_slice_row(Loops *L, const Slice *s, const SliceShape *shape, Value *out) {
    TRY(decline_calls(L));
    Row *r = new_row(L, NULL, ROW_SLICE);
    r->slice = s, r->n = shape->n, r->column = shape->column, r->block = shape->block;
    r->since = L->f->nins, r->depth = L->depth;
    *out = (Value){.what = WHAT_ROW, .row = r};
    return L->out->apart = true, QS_OK;
}

/* Elements that float32 cannot hold are float64, as in qarr_range. */
void kloop_range_row(Loops *L, KRef first, int64_t step, const SliceExtent *n, Value *out) {
    Row *r = new_row(L, NULL, ROW_RANGE);
    KRef by = kloop_i64(L, step), least = kloop_i64(L, -(1 << 24)), most = kloop_i64(L, 1 << 24);
    KRef last = kloop_op(L, K_ADD, first, kloop_op(L, K_MUL, kloop_op(L, K_SUB, n->count, one(L)), by));
    KRef low = kloop_op(L, K_MIN, first, last), high = kloop_op(L, K_MAX, first, last);
    r->n = *n, r->first = first, r->factor = by;
    r->f64 = kloop_op(L, K_OR, kloop_op(L, K_LT, low, least), kloop_op(L, K_LT, most, high));
    *out = (Value){.what = WHAT_ROW, .row = r};
}

/* Short vectors of slices become rows as well from the next pass on. */
static qs_status mix_vector(Loops *L, const Row **out) {
    if (L->no_vectors) return kloop_decline(L, L->pos, "a short vector beside a slice of a length that is not known");
    L->no_vectors = L->changed = true;
    *out = NULL;
    return QS_OK;
}

static qs_status decline_mask(Loops *L) {
    return kloop_decline(L, L->pos,
                         "a selection by a mask, except in a reduction of it; write where(mask,x,0), or an if");
}

/* *out NULL: this pass is repeated. */
static qs_status as_row(Loops *L, const Value *v, const Row **out) {
    if (kloop_is_masked(v)) return decline_mask(L);
    if (v->what == WHAT_ROW) return *out = v->row, QS_OK;
    if (v->what == WHAT_VECTOR) return mix_vector(L, out);
    if (v->what == WHAT_ARRAY) {
        Value whole;
        TRY(kloop_whole_array(L, v, &whole));
        return *out = whole.row, QS_OK;
    }
    Number n;
    TRY(kloop_real_number(L, v, &n));
    Row *r = new_row(L, NULL, ROW_NUMBER);
    return r->num = n, *out = r, QS_OK;
}

bool kloop_is_masked(const Value *v) { return v->what == WHAT_ROW && v->row->mask; }

bool kloop_is_row(const Loops *L, const Value *v) {
    (void)L;
    return v->what == WHAT_ROW || (v->what == WHAT_ARRAY && v->host.rank <= 2);
}

static bool same_extent(const SliceExtent *a, const SliceExtent *b) {
    Affine d = a->span;
    if (a->count == b->count) return true;
    return a->spanned && b->spanned && kaffine_add(&d, &b->span, -1) && !d.n && !d.constant;
}

/* A row of one element fits any other. */
static const Row *spread_row(Loops *L, const Row *r, KRef equal) {
    Row *s = new_row(L, r, ROW_SPREAD);
    KRef many = kloop_op(L, K_OR, equal, kloop_op(L, K_NE, r->n.count, one(L)));
    s->arg[0] = r, s->factor = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = many, .b = one(L), .c = zero(L)});
    return s;
}

/* Whether two lengths are certainly equal in this version; emits the error unless `fit`.  *guarded: they are equal in
 * the versions that rely on the guard. */
static bool test_equal(Loops *L, const Row *a, const Row *b, KRef fit, const char *text, bool *guarded) {
    LengthTest t = {.a = kloop_assumed(&a->n),
                    .b = kloop_assumed(&b->n),
                    .n = one(L),
                    .shown = {a->n.count, b->n.count},
                    .status = QS_ESHAPE};
    bool equal = kloop_test_lengths(L, &t, fit, text);
    return *guarded = t.guarded, equal;
}

/* Blocks have equal sides, which the guard tests unless it is certain.  The interpreter runs other loops. */
static qs_status meet_blocks(Loops *L, const Block *a, const Block *b) {
    bool alike = a && b && a->axis[0] == b->axis[0] && a->axis[1] == b->axis[1];
    for (int i = 0; i < 2 && alike; i++) {
        const SliceExtent *x = &a->side[i], *y = &b->side[i];
        alike = same_extent(x, y) || kloop_require_equal(L, kloop_assumed(x), kloop_assumed(y));
    }
    if (alike) return QS_OK;
    return kloop_decline(L, L->pos, "slices of two dimensions whose sizes may differ; write loops over their elements");
}

static bool has_form(const Row *r, RowForm form) {
    for (int i = 0; i < count_args(r); i++)
        if (has_form(r->arg[i], form)) return true;
    return r->form == form;
}

/* A slice limits the length of the ranges beside it, as a guard tests. */
static qs_status meet_range(Loops *L, const Row *a, const Row *b) {
    if (a->column == b->column && kloop_require_equal(L, kloop_assumed(&a->n), kloop_assumed(&b->n))) return QS_OK;
    return kloop_decline(L, L->pos, "a range beside a slice of another length; write a loop over its numbers");
}

/* Brings two operands to one length, and tests it. */
static qs_status meet_counts(Loops *L, const char *name, const Row **a, const Row **b) {
    char text[120];
    bool guarded;
    const Row *x = *a, *y = *b;
    if (!x->n.count || !y->n.count) return QS_OK;
    if (x->block || y->block) return meet_blocks(L, x->block, y->block);
    if (x->column != y->column) return kloop_decline(L, L->pos, "a row beside a column");
    if (same_extent(&x->n, &y->n)) return QS_OK;
    if (has_form(x, ROW_RANGE) || has_form(y, ROW_RANGE)) return meet_range(L, x, y);
    KRef equal = kloop_op(L, K_EQ, x->n.count, y->n.count);
    KRef fits = kloop_op(L, K_OR, kloop_op(L, K_EQ, x->n.count, one(L)), kloop_op(L, K_EQ, y->n.count, one(L)));
    snprintf(text, sizeof text,
             x->column ? "%s: shapes %%0x1 and %%1x1 do not match" : "%s: shapes 1x%%0 and 1x%%1 do not match", name);
    if (test_equal(L, x, y, kloop_op(L, K_OR, equal, fits), text, &guarded)) return QS_OK;
    *a = spread_row(L, x, equal), *b = spread_row(L, y, equal);
    KRef single = kloop_op(L, K_EQ, x->n.count, one(L));
    Row *r = (Row *)(uintptr_t)*a;
    r->n.assumed = guarded ? kloop_assumed(&x->n) : 0;
    r->n.count = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = single, .b = y->n.count, .c = x->n.count});
    return r->n.spanned = false, r->n.lo = 0, QS_OK;
}

static qs_status finish_row(Loops *L, Row *r, Value *out) {
    (void)L;
    const Row *shape = NULL;
    for (int i = 0; i < r->nargs && !shape; i++) shape = r->arg[i]->n.count ? r->arg[i] : NULL;
    r->n = shape->n, r->column = shape->column, r->block = shape->block;
    return *out = (Value){.what = WHAT_ROW, .row = r}, QS_OK;
}

qs_status kloop_row_binary(Loops *L, Op op, const Value *a, const Value *b, Value *out) {
    Row *r = new_row(L, NULL, ROW_BINARY);
    bool both = a->what != WHAT_NUMBER && b->what != WHAT_NUMBER;
    bool known = kloop_is_elementwise(op) ? op != OP_PWPOW || b->what == WHAT_NUMBER : op >= OP_EQ && op <= OP_GE;
    if (!known || (both && (op == OP_MUL || op == OP_DIV)))
        return kloop_decline(L, L->pos,
                             "the operator `%s` of slices whose length is not known; write a loop over the elements",
                             *qop_text(op) ? qop_text(op) : qop_inplace(op));
    r->op = op, r->nargs = 2;
    TRY(as_row(L, a, &r->arg[0]));
    TRY(as_row(L, b, &r->arg[1]));
    if (!r->arg[0] || !r->arg[1]) return *out = a->what == WHAT_ROW ? *a : *b, QS_OK;
    TRY(meet_counts(L, qop_text(op), &r->arg[0], &r->arg[1]));
    return finish_row(L, r, out);
}

qs_status kloop_row_unary(Loops *L, Op op, const Value *a, Value *out) {
    if (kloop_is_masked(a)) return decline_mask(L);
    Row *r = new_row(L, NULL, ROW_UNARY);
    r->op = op, r->nargs = 1, r->arg[0] = a->row;
    return finish_row(L, r, out);
}

/* -- elements ------------------------------------------------------------------------------------------------------ */
static qs_status copied_element(Loops *L, const Row *r, KRef k, Value *out) {
    KRef at = kloop_cast(L, k, QS_I32);
    *out = kloop_vector(L, 1);
    out->at[0] = kloop_num(kbuild_emit(&L->walk, (KMake){K_ALOAD, .a = r->factor, .b = at}));
    return out->f64 = r->f64, QS_OK;
}

static Value range_element(Loops *L, const Row *r, KRef k) {
    Value v = kloop_vector(L, 1);
    KRef at = kloop_op(L, K_ADD, r->first, kloop_op(L, K_MUL, k, r->factor));
    return v.at[0] = kloop_num(kloop_cast(L, at, QS_F64)), v.f64 = r->f64, v;
}

static qs_status element_of(Loops *L, const Row *r, Cursor k, Value *out) {
    Value x[LOOP_ROW_ARGS];
    if (r->form == ROW_SPREAD) return element_of(L, r->arg[0], element_index(kloop_op(L, K_MUL, k.k, r->factor)), out);
    if (r->form == ROW_FLAT) {
        KRef columns = r->arg[0]->block->side[1].count;
        return element_of(L, r->arg[0],
                          (Cursor){k.k, {kloop_op(L, K_DIV, k.k, columns), kloop_op(L, K_MOD, k.k, columns)}}, out);
    }
    for (int i = 0; i < r->nargs; i++) TRY(element_of(L, r->arg[i], k, &x[i]));
    L->pos = r->pos;
    switch (r->form) {
    case ROW_SLICE: return kloop_slice_element(L, r->slice, k.at, out);
    case ROW_RANGE: return *out = range_element(L, r, k.k), QS_OK;
    case ROW_NUMBER: return *out = (Value){.what = WHAT_NUMBER, .num = r->num}, QS_OK;
    case ROW_BINARY: return kloop_element_binary(L, r->op, &x[0], &x[1], out);
    case ROW_UNARY: return kloop_element_unary(L, r->op, &x[0], out);
    case ROW_COPY: return copied_element(L, r, k.k, out);
    default: return kloop_element_call(L, r->name, x, r->nargs, out);
    }
}

static qs_status vector_at(Loops *L, const Row *r, Cursor k, Value *out) {
    uint32_t pos = L->pos;
    TRY(element_of(L, r, k, out));
    return L->pos = pos, QS_OK;
}

static qs_status number_at(Loops *L, const Row *r, Cursor k, Number *out) {
    Value v;
    TRY(vector_at(L, r, k, &v));
    return *out = v.at[0], QS_OK;
}

/* The element type of a row of integers or truth values; QS_F64: it is one of floats.  *wide: 1 if these are certainly
 * float64, 0 if they are `scalar`, -1 if only the running code knows. */
static qs_status find_types(Loops *L, const Row *r, qs_dtype *out, int *wide) {
    Value v;
    double k = 0;
    KRef before = L->f->nins;
    uint32_t touches = L->ntouches, pos = L->pos;
    TRY(element_of(L, r, (Cursor){zero(L), {zero(L), zero(L)}}, &v));
    *wide = !v.f64 ? 0 : kir_is_const(L->f, v.f64, &k) ? k != 0 : -1;
    kbuild_take_back(&L->walk, before);
    kloop_forget_from(L, before);
    L->ntouches = touches, L->pos = pos;
    return *out = v.what == WHAT_TYPED ? (qs_dtype)v.dtype : QS_F64, QS_OK;
}

static qs_status find_dtype(Loops *L, const Row *r, qs_dtype *out) {
    int wide;
    return find_types(L, r, out, &wide);
}

/* Whether the arrays have not been written since the row was made. */
static qs_status check_unchanged(Loops *L, const Row *r) {
    if (r->mask) TRY(check_unchanged(L, r->mask));
    for (int i = 0; i < count_args(r); i++) TRY(check_unchanged(L, r->arg[i]));
    if (r->form != ROW_SLICE) return QS_OK;
    int param = kloop_slice_param(L, r->slice);
    bool changed = r->depth != L->depth && kloop_is_stored(L, kloop_slice_source(r->slice));
    for (KRef i = r->since; i < L->f->nins && !changed; i++)
        changed = (L->f->ins[i].op == K_STORE || L->f->ins[i].op == K_ATOMIC) && (int)L->f->ins[i].imm == param;
    if (!changed || L->changed) return QS_OK; /* the next pass knows what is stored, and makes a copy */
    return kloop_decline(L, L->pos, "%s is changed before the elements of a slice are used",
                         kloop_slice_name(r->slice));
}

static KRef open_for(Loops *L, KRef first, KRef last, KRef step, bool free) {
    uint8_t order = free ? KFLAG_REASSOC : 0;
    return kloop_emit(L, (KMake){K_FOR, .own = QS_I64, .flag = order, .a = first, .b = last, .c = step});
}

/* Opens loops over all elements.  free: the iterations are independent. */
static Cursor open_elements(Loops *L, const SliceExtent *n, const Block *b, bool free) {
    KRef at[2];
    if (!b) return element_index(open_for(L, zero(L), kloop_op(L, K_SUB, n->count, one(L)), one(L), free));
    for (int i = 0; i < 2; i++)
        at[i] = open_for(L, zero(L), kloop_op(L, K_SUB, b->side[i].count, one(L)), one(L), free);
    return (Cursor){kloop_op(L, K_ADD, kloop_op(L, K_MUL, at[0], b->side[1].count), at[1]), {at[0], at[1]}};
}

static void close_elements(Loops *L, const Block *b) {
    for (int i = 0; i < (b ? 2 : 1); i++) kloop_flow(L, K_END, 0);
}

/* -- copies -------------------------------------------------------------------------------------------------------- */
/* The interpreter runs loops over longer slices, such as sums, which the host divides: LoopLimit, LOOP_GUARD_SUMMED. */
static qs_status limit_length(Loops *L, const Row *r, int most) {
    for (int i = 0; i < count_args(r); i++) TRY(limit_length(L, r->arg[i], most));
    LoopResult *to = L->out;
    if (r->form != ROW_SLICE) return QS_OK;
    if (L->nsummed == LOOP_LIMITS || to->nlimits == LOOP_LIMITS)
        return kloop_decline(L, L->pos, "more than %d sums and copies of slices", LOOP_LIMITS);
    if (most == SUM_MOST) L->summed[L->nsummed++] = kloop_slice_bound(L, r->slice);
    LoopLimit limit = kloop_slice_limit(L, r->slice, most);
    if (most != SUM_MOST && limit.any)
        return kloop_decline(L, L->pos, "a copy of a slice of %s, which has an access mode",
                             kloop_slice_name(r->slice));
    if (L->mode == MODE_EXACT) to->limits[to->nlimits++] = limit;
    return QS_OK;
}

/* Takes an LARRAY, which is declared at the beginning of the next pass. */
static qs_status take_copy(Loops *L, const char *what, KRef *out) {
    *out = 0;
    if (L->mode == MODE_PARALLEL) return kloop_decline(L, L->pos, "%s", what);
    if (L->ncopies == LOOP_COPIES) return kloop_decline(L, L->pos, "more than %d copies of slices", LOOP_COPIES);
    int n = L->ncopies++;
    if (n >= L->copies_declared) L->copies_declared = n + 1, L->changed = true;
    return *out = L->copy[n] ? L->copy[n] : kloop_copy_array(L), QS_OK;
}

/* Stores an element of r in the LARRAY.  *f64: as in Value. */
static qs_status copy_element(Loops *L, const Row *r, Cursor k, KRef copy, KRef at, KRef *f64) {
    Value v;
    TRY(vector_at(L, r, k, &v));
    if (v.what != WHAT_VECTOR)
        return kloop_decline(L, L->pos, "a slice of integers of an array that changes; write a loop over the elements");
    kbuild_emit(&L->walk, (KMake){K_ASTORE, .a = copy, .b = kloop_cast(L, at, QS_I32), .c = v.at[0].v});
    return *f64 = v.f64, QS_OK;
}

static const Row *copied_row(Loops *L, const Row *like, KRef copy, KRef f64) {
    Row *kept = new_row(L, like, ROW_COPY);
    kept->nargs = 0, kept->factor = copy, kept->f64 = f64;
    return kept;
}

/* Computes the elements and keeps them in an LARRAY. */
static qs_status copy_row(Loops *L, const Row *r, const Row **out) {
    KRef copy, f64;
    TRY(take_copy(L, "a copy of a slice of an array that the loop changes", &copy));
    TRY(limit_length(L, r, LOOP_COPIED));
    Cursor k = open_elements(L, &r->n, r->block, true);
    TRY(copy_element(L, r, k, copy, k.k, &f64));
    close_elements(L, r->block);
    return *out = copied_row(L, r, copy, f64), QS_OK;
}

/* Whether the loop writes an array whose elements the row reads. */
static bool reads_stored(const Loops *L, const Row *r) {
    if (r->mask && reads_stored(L, r->mask)) return true;
    for (int i = 0; i < count_args(r); i++)
        if (reads_stored(L, r->arg[i])) return true;
    return r->form == ROW_SLICE && kloop_is_stored(L, kloop_slice_source(r->slice));
}

qs_status kloop_keep_row(Loops *L, Value *v) {
    qs_dtype d;
    if (!v->row->mask) TRY(find_dtype(L, v->row, &d)); /* the interpreter computes elements that nothing reads, too */
    if (!reads_stored(L, v->row)) return QS_OK;
    TRY(check_unchanged(L, v->row)); /* [x[0..9], w] = [y, x[0..9]*2] has stored x already */
    return v->row->mask ? decline_mask(L) : copy_row(L, v->row, &v->row);
}

KRef kloop_copy_array(Loops *L) { return kbuild_emit(&L->walk, (KMake){K_LARRAY, .own = QS_F64, .imm = LOOP_COPIED}); }

int kloop_row_rank(const Row *r) { return r->block ? r->block->axis[1] + 1 : r->column ? 2 : 1; }

KRef kloop_row_extent(Loops *L, const Row *r, int axis) {
    for (int i = 0; r->block && i < 2; i++)
        if (r->block->axis[i] == axis) return r->block->side[i].count;
    return !r->block && axis == 0 ? r->n.count : one(L);
}

qs_status kloop_row_element(Loops *L, const Row *r, const KRef *at, Number *out) {
    const Block *b = r->block;
    Cursor k = element_index(at[0]);
    if (r->mask) return decline_mask(L);
    TRY(check_unchanged(L, r));
    if (b) {
        KRef i = at[b->axis[0]], j = at[b->axis[1]];
        k = (Cursor){kloop_op(L, K_ADD, kloop_op(L, K_MUL, i, b->side[1].count), j), {i, j}};
    }
    return number_at(L, r, k, out);
}

/* -- reductions ---------------------------------------------------------------------------------------------------- */
typedef struct {
    const ReduceInfo *of; /* dotprod is a squared norm of two rows */
    KOp op;
    double first;     /* what a lane of sixteen begins with */
    const Row *a, *b; /* b: of a product of two */
    KRef centre;
    KRef found; /* LOCAL: how many elements of a masked row came so far; 0: all elements count */
} Reducing;

static void begin_count(Loops *L, Reducing *z) { z->found = z->a->mask ? kbuild_local(&L->walk, kloop_i64(L, 0)) : 0; }

/* Begins the code for element k, if it counts.  *number: how many came before it. */
static qs_status begin_element(Loops *L, const Reducing *z, Cursor k, KRef *number) {
    Number chosen;
    *number = k.k;
    if (!z->found) return QS_OK;
    TRY(number_at(L, z->a->mask, k, &chosen));
    kloop_flow(L, K_IF, kloop_truth(L, chosen));
    return *number = kbuild_get(&L->walk, z->found), QS_OK;
}

static void end_element(Loops *L, const Reducing *z, KRef number) {
    if (!z->found) return;
    kbuild_set(&L->walk, z->found, kloop_op(L, K_ADD, number, one(L)));
    kloop_flow(L, K_END, 0);
}

/* The number of elements, after the loop over them. */
static KRef count_elements(Loops *L, const Reducing *z) {
    return z->found ? kbuild_get(&L->walk, z->found) : z->a->n.count;
}

static qs_status term_at(Loops *L, const Reducing *z, Cursor k, KRef number, KRef *out) {
    Number x, y;
    TRY(number_at(L, z->a, k, &x));
    if (z->b) TRY(number_at(L, z->b, k, &y));
    KRef v = kloop_real(L, x);
    if (z->b) return *out = kloop_op(L, K_MUL, v, kloop_real(L, y)), QS_OK;
    KRef index = z->of->map == MAP_INDEX ? kloop_cast(L, number, QS_F64) : 0;
    return *out = kreduce_map(&L->walk, (ReduceMap)z->of->map, v, z->centre, index), QS_OK;
}

/* One accumulator, for operations whose order does not matter. */
static qs_status reduce_freely(Loops *L, Reducing *z, KRef *out) {
    KRef total = kbuild_local(&L->walk, kloop_f64(L, z->first)), v, number;
    begin_count(L, z);
    Cursor k = open_elements(L, &z->a->n, z->a->block, true);
    TRY(begin_element(L, z, k, &number));
    TRY(term_at(L, z, k, number, &v));
    unsigned flag = z->op == K_MAX || z->op == K_MIN ? 0 : KFLAG_REASSOC; /* extremes.c frees their order */
    KRef next = kbuild_emit(&L->walk, (KMake){z->op, .flag = flag, .a = kbuild_get(&L->walk, total), .b = v});
    kbuild_set(&L->walk, total, next);
    end_element(L, z, number);
    close_elements(L, z->a->block);
    return *out = kbuild_get(&L->walk, total), QS_OK;
}

enum { SUM_LANES = 16 };

/* Adds the lanes by halves. */
static KRef add_lanes(Loops *L, KRef *part) {
    for (int half = SUM_LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) part[l] = kloop_op(L, K_ADD, part[l], part[l + half]);
    return part[0];
}

static KRef make_lanes(Loops *L, const Reducing *z, int n) {
    KRef lanes = kbuild_emit(&L->walk, (KMake){K_LARRAY, .own = QS_F64, .imm = (uint64_t)n});
    for (int l = 0; l < n; l++)
        kbuild_emit(&L->walk,
                    (KMake){K_ASTORE, .a = lanes, .b = kbuild_int(&L->walk, QS_I32, l), .c = kloop_f64(L, z->first)});
    return lanes;
}

static void load_lanes(Loops *L, KRef lanes, KRef *part) {
    for (int l = 0; l < SUM_LANES; l++)
        part[l] = kbuild_emit(&L->walk, (KMake){K_ALOAD, .a = lanes, .b = kbuild_int(&L->walk, QS_I32, l)});
}

/* Element k is added to lane k mod 16; those that do not count are added to one more lane, which is faster than a
 * branch. */
static qs_status sum_block(Loops *L, Reducing *z, KRef *out) {
    KRef v, number, part[SUM_LANES], lanes = make_lanes(L, z, SUM_LANES + 1);
    Number chosen;
    begin_count(L, z);
    Cursor k = open_elements(L, &z->a->n, z->a->block, false);
    if (z->found) TRY(number_at(L, z->a->mask, k, &chosen));
    KRef counts = z->found ? kloop_truth(L, chosen) : 0;
    number = z->found ? kbuild_get(&L->walk, z->found) : k.k;
    TRY(term_at(L, z, k, number, &v));
    KRef lane = kloop_op(L, K_AND, number, kloop_i64(L, SUM_LANES - 1)), rest = kloop_i64(L, SUM_LANES);
    if (counts) lane = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = counts, .b = lane, .c = rest});
    KRef at = kloop_cast(L, lane, QS_I32);
    KRef sum = kloop_op(L, K_ADD, kbuild_emit(&L->walk, (KMake){K_ALOAD, .a = lanes, .b = at}), v);
    kbuild_emit(&L->walk, (KMake){K_ASTORE, .a = lanes, .b = at, .c = sum});
    if (counts) kbuild_set(&L->walk, z->found, kloop_op(L, K_ADD, number, kloop_cast(L, counts, QS_I64)));
    close_elements(L, z->a->block);
    return load_lanes(L, lanes, part), *out = add_lanes(L, part), QS_OK;
}

/* Adds the elements `first` to first+n-1, at most sixteen, to lanes 0 to n-1. */
static qs_status add_to_lanes(Loops *L, const Reducing *z, KRef lanes, KRef first, KRef n) {
    KRef v, l = open_for(L, zero(L), kloop_op(L, K_SUB, n, one(L)), one(L), true);
    KRef k = kloop_op(L, K_ADD, first, l), at = kloop_cast(L, l, QS_I32);
    TRY(term_at(L, z, element_index(k), k, &v));
    KRef sum = kloop_op(L, K_ADD, kbuild_emit(&L->walk, (KMake){K_ALOAD, .a = lanes, .b = at}), v);
    kbuild_emit(&L->walk, (KMake){K_ASTORE, .a = lanes, .b = at, .c = sum});
    return kloop_flow(L, K_END, 0), QS_OK;
}

static qs_status sum_in_lanes(Loops *L, const Reducing *z, KRef *out) {
    KRef part[SUM_LANES], n = z->a->n.count, size = kloop_i64(L, SUM_LANES);
    KRef whole = kloop_op(L, K_AND, n, kloop_i64(L, -SUM_LANES)), lanes = make_lanes(L, z, SUM_LANES);
    KRef k = open_for(L, zero(L), kloop_op(L, K_SUB, whole, one(L)), size, false);
    TRY(add_to_lanes(L, z, lanes, k, size));
    kloop_flow(L, K_END, 0);
    TRY(add_to_lanes(L, z, lanes, whole, kloop_op(L, K_SUB, n, whole)));
    return load_lanes(L, lanes, part), *out = add_lanes(L, part), QS_OK;
}

/* Up to 512 lanes, merged by halves, as the host computes products. */
static qs_status reduce_by_halves(Loops *L, Reducing *z, KRef *out) {
    enum { LANES = 512 };
    KOp op = z->op;
    KRef v, number, lanes = kbuild_emit(&L->walk, (KMake){K_LARRAY, .own = QS_F64, .imm = LANES});
    begin_count(L, z);
    Cursor k = open_elements(L, &z->a->n, z->a->block, false);
    TRY(begin_element(L, z, k, &number));
    TRY(term_at(L, z, k, number, &v));
    KRef at = kloop_cast(L, kloop_op(L, K_AND, number, kloop_i64(L, LANES - 1)), QS_I32);
    KRef old = kbuild_emit(&L->walk, (KMake){K_ALOAD, .a = lanes, .b = at});
    KRef first = kloop_op(L, K_LT, number, kloop_i64(L, LANES));
    v = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = first, .b = v, .c = kloop_op(L, op, old, v)});
    kbuild_emit(&L->walk, (KMake){K_ASTORE, .a = lanes, .b = at, .c = v});
    end_element(L, z, number);
    close_elements(L, z->a->block);
    KRef n = count_elements(L, z);
    KRef used = kbuild_local(&L->walk, kloop_op(L, K_MIN, n, kloop_i64(L, LANES)));
    kloop_flow(L, K_LOOP, 0);
    KRef have = kbuild_get(&L->walk, used);
    kloop_flow(L, K_IF, kloop_op(L, K_LE, have, one(L)));
    kloop_flow(L, K_BREAK, 0);
    kloop_flow(L, K_END, 0);
    KRef half = kloop_op(L, K_SHR, kloop_op(L, K_ADD, have, one(L)), one(L));
    KRef l = open_for(L, zero(L), kloop_op(L, K_SUB, kloop_op(L, K_SUB, have, half), one(L)), one(L), false);
    KRef here = kloop_cast(L, l, QS_I32), there = kloop_cast(L, kloop_op(L, K_ADD, l, half), QS_I32);
    KRef x = kbuild_emit(&L->walk, (KMake){K_ALOAD, .a = lanes, .b = here});
    KRef y = kbuild_emit(&L->walk, (KMake){K_ALOAD, .a = lanes, .b = there});
    kbuild_emit(&L->walk, (KMake){K_ASTORE, .a = lanes, .b = here, .c = kloop_op(L, op, x, y)});
    kloop_flow(L, K_END, 0);
    kbuild_set(&L->walk, used, half);
    kloop_flow(L, K_END, 0);
    KRef total = kbuild_emit(&L->walk, (KMake){K_ALOAD, .a = lanes, .b = kbuild_int(&L->walk, QS_I32, 0)});
    return *out = total, QS_OK;
}

static void refuse_empty(Loops *L, const Reducing *z, KRef some) {
    char text[80];
    uint32_t loose = L->loose, nchecks = L->nchecks;
    const Block *b = z->a->block;
    snprintf(text, sizeof text, "%s: x must not be empty", z->of->name);
    if (z->found) {
        kloop_fail_unless(L, some, QS_EVALUE, text, 0, 0);
        return;
    }
    bool sure =
        b ? kloop_has_elements(L, &b->side[0]) && kloop_has_elements(L, &b->side[1]) : kloop_has_elements(L, &z->a->n);
    if (sure) {
        if (L->mode == MODE_EXACT) kloop_fail_unless(L, some, QS_EVALUE, text, 0, 0);
        L->loose = loose;
        return;
    }
    L->nchecks = nchecks;
    LengthTest t = {.a = zero(L), .b = zero(L), .n = kloop_assumed(&z->a->n), .status = QS_EVALUE};
    if (z->found) kloop_fail_unless(L, some, QS_EVALUE, text, 0, 0);
    else (void)kloop_test_lengths(L, &t, some, text);
}

/* An empty row has the sum 0, the product 1, and neither a smallest nor a largest element. */
static KRef or_of_none(Loops *L, const Reducing *z, KRef v) {
    KRef some = kloop_op(L, K_LT, zero(L), count_elements(L, z));
    if (z->of->refuses_empty) return refuse_empty(L, z, some), v;
    return kbuild_pure(&L->walk, (KMake){K_SELECT, .a = some, .b = v, .c = kloop_f64(L, z->op == K_MUL)});
}

static Reducing begin_reduction(Reduce r, const Row *a, const Row *b) {
    const ReduceInfo *of = &qreduction_info[r];
    double first = qreduction_is_extreme(r) ? NAN : b ? 0 : qreduction_identity((Combine)of->combine);
    return (Reducing){of, kbuild_combine((Combine)of->combine), first, a, b, 0, 0};
}

static qs_status find_centre(Loops *L, Reducing *z) {
    if (!z->of->centre) return QS_OK;
    KRef v;
    Reducing c = begin_reduction((Reduce)z->of->centre, z->a, NULL);
    TRY(reduce_freely(L, &c, &v));
    return z->centre = kreduce_centre(&L->walk, (ReduceMap)z->of->map, v), QS_OK;
}

/* An upper bound of the number of elements. */
static double most_elements(Loops *L, const Row *r) {
    double most = 0;
    if (kir_is_const(L->f, r->n.count, &most)) return most;
    if (r->form == ROW_SLICE) return kloop_slice_most(r->slice);
    for (int i = 0; i < count_args(r); i++)
        if (r->arg[i]->n.count) most = fmax(most, most_elements(L, r->arg[i]));
    return most;
}

/* Sums of 64-bit integers are computed modulo 2^64; an estimate in double detects an overflow, as in reduce.c. */
static void check_overflow(Loops *L, KRef sum, KRef estimate) {
    KRef off = kloop_op(L, K_SUB, kbuild_get(&L->walk, estimate), kloop_cast(L, sum, QS_F64));
    KRef agree = kloop_op(L, K_LT, kbuild_pure(&L->walk, (KMake){K_ABS, .a = off}), kloop_f64(L, 0x1p62));
    kloop_fail_unless(L, agree, QS_EVALUE, "sum: integer overflow", 0, 0);
}

/* Reduces integers as int64, truth values and `any` and `all` as bool, in any order. */
static qs_status reduce_exactly(Loops *L, Reducing *z, qs_dtype d, KOp op, Number *out) {
    Number x;
    bool truths = op == K_OR || op == K_AND, wide = d == QS_I64 && op == K_ADD;
    double lo = 0, hi = 1, n = most_elements(L, z->a);
    if (d != QS_B1 && !truths) qdtype_int_span(d, &lo, &hi);
    KRef first = truths ? kbuild_int(&L->walk, QS_B1, op == K_AND)
                        : kloop_i64(L, op == K_ADD   ? 0
                                       : op == K_MIN ? INT64_MAX
                                                     : INT64_MIN);
    KRef total = kbuild_local(&L->walk, first), estimate = wide ? kbuild_local(&L->walk, kloop_f64(L, 0)) : 0;
    KRef number;
    begin_count(L, z);
    Cursor k = open_elements(L, &z->a->n, z->a->block, false);
    TRY(begin_element(L, z, k, &number));
    TRY(number_at(L, z->a, k, &x));
    KRef v = truths ? kloop_truth(L, x) : kloop_cast(L, x.v, QS_I64);
    kbuild_set(&L->walk, total, kloop_op(L, op, kbuild_get(&L->walk, total), v));
    if (wide)
        kbuild_set(&L->walk, estimate, kloop_op(L, K_ADD, kbuild_get(&L->walk, estimate), kloop_cast(L, v, QS_F64)));
    end_element(L, z, number);
    close_elements(L, z->a->block);
    v = kbuild_get(&L->walk, total);
    if (wide) check_overflow(L, v, estimate);
    if (z->of->refuses_empty) refuse_empty(L, z, kloop_op(L, K_LT, zero(L), count_elements(L, z)));
    if (truths) return *out = kloop_bool(v), QS_OK;
    if (op == K_ADD) lo *= n, hi *= n;
    if (d == QS_B1) return *out = kloop_from_int(L, v, lo, hi), QS_OK;
    return *out = lo < -0x1p62 || hi > 0x1p62 ? kloop_wide(L, v) : kloop_int(v, lo, hi), QS_OK;
}

/* Reductions whose result is a truth value or an integer; *found: this is one. */
static qs_status reduce_typed(Loops *L, Reducing *z, qs_dtype d, bool *found, Number *out) {
    bool extreme = z->of->lanes == LANES_SAME, truth = d == QS_B1 && extreme;
    KOp op = truth ? z->op == K_MAX ? K_OR : K_AND : z->op;
    if (d == QS_F64 && z->of->map != MAP_TRUTH) return QS_OK;
    if (z->b || (z->of->lanes == LANES_WIDE && z->op == K_MUL))
        return kloop_decline(L, L->pos, "%s of a slice of %s; write float64(…) of the slice",
                             z->b ? "dotprod" : z->of->name, qdtype_info[d].name);
    *found = extreme || z->of->map == MAP_TRUTH || z->of->lanes == LANES_WIDE;
    return *found ? reduce_exactly(L, z, d, op, out) : QS_OK;
}

static qs_status reduce_row(Loops *L, Reducing *z, Number *out) {
    KRef v;
    qs_dtype d;
    bool found = false;
    if (has_form(z->a, ROW_RANGE) && !has_form(z->a, ROW_SLICE))
        return kloop_decline(L, L->pos, "%s of a range; write a loop over its numbers", z->of->name);
    TRY(check_unchanged(L, z->a));
    if (z->b) TRY(check_unchanged(L, z->b));
    TRY(find_dtype(L, z->a, &d));
    if (z->b && d == QS_F64) TRY(find_dtype(L, z->b, &d));
    TRY(reduce_typed(L, z, d, &found, out));
    if (found) return QS_OK;
    bool exact = d < QS_I32 && z->of->map == MAP_SELF; /* a sum of few bits, in double */
    bool orderless = z->op == K_MIN || z->op == K_MAX || (z->op == K_ADD && (L->f->fast || exact));
    bool lanes = z->op == K_ADD && d == QS_F64 && (z->of->map == MAP_SELF || z->of->map == MAP_SQUARE);
    /* The derivative of an extreme is shared evenly by all elements that have it; a chain of MAX would halve it. */
    if (z->of->lanes == LANES_SAME || z->of->centre)
        L->f->ruled = qstr_cname(L->c, z->of->name), L->f->ruled_pos = L->pos;
    if (!orderless) TRY(limit_length(L, z->a, SUM_MOST)); /* the host divides the sum of a long row */
    TRY(find_centre(L, z));
    if (orderless) TRY(reduce_freely(L, z, &v));
    else if (lanes) TRY(z->a->block || z->a->mask ? sum_block(L, z, &v) : sum_in_lanes(L, z, &v));
    else TRY(reduce_by_halves(L, z, &v));
    v = or_of_none(L, z, v);
    if (z->of->finish == FINISH_MEAN) kloop_note(L, SLIP_MEAN, kloop_op(L, K_EQ, count_elements(L, z), zero(L)));
    v = kreduce_finish(&L->walk, z->of, v, count_elements(L, z), z->centre);
    return *out = kloop_num(v), QS_OK;
}

static Reduce find_reduction(const char *name, int nargs) {
    if (!strcmp(name, "dotprod")) return nargs == 2 ? RED_squared_norm : RED_NONE;
    return nargs == 1 ? qreduction_find(name) : RED_NONE;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */
static qs_status map_row(Loops *L, const char *name, const Row *const *arg, int nargs, Value *out) {
    Elem e = kelem_find(name, nargs);
    bool extremes = nargs == 2 && (!strcmp(name, "max") || !strcmp(name, "min"));
    bool row = e != EL__COUNT && kelem_info[e].real == ELEM_NUMBER;
    if (!extremes && !row && (nargs > 1 || !kloop_element_converts(name)))
        return kloop_decline(L, L->pos, "%s of a slice whose length is not known; write a loop over its elements",
                             name);
    Row *r = new_row(L, NULL, ROW_CALL);
    r->name = name, r->nargs = nargs;
    for (int i = 0; i < nargs; i++) r->arg[i] = arg[i];
    if (nargs == 2) TRY(meet_counts(L, name, &r->arg[0], &r->arg[1]));
    for (int i = 1; i < nargs && nargs > 2; i++) {
        bool any = !arg[0]->n.count || !arg[i]->n.count;
        if (!any && (arg[0]->block || arg[i]->block)) TRY(meet_blocks(L, arg[0]->block, arg[i]->block));
        if (arg[0]->block) continue;
        if (!any && (!same_extent(&arg[0]->n, &arg[i]->n) || arg[0]->column != arg[i]->column))
            return kloop_decline(L, L->pos, "%s of slices whose lengths may differ", name);
    }
    return finish_row(L, r, out);
}

/* reshape of a block to a vec. */
static qs_status flatten_row(Loops *L, const Row *of, double n, Value *out) {
    double count;
    if (!of->block || !kir_is_const(L->f, of->n.count, &count) || count != n)
        return kloop_decline(L, L->pos, "reshape of a slice whose length is not known; write a loop over its elements");
    Row *r = new_row(L, of, ROW_FLAT);
    r->block = NULL, r->column = false, r->nargs = 1, r->arg[0] = of;
    return *out = (Value){.what = WHAT_ROW, .row = r}, QS_OK;
}

/* The median of a few elements. */
static qs_status median_row(Loops *L, const Row *r, Number *out) {
    double n;
    bool few = kir_is_const(L->f, r->n.count, &n) && n >= 1 && n <= LOOP_VECTOR_MAX;
    if (!few || r->block || r->column)
        return kloop_decline(L, L->pos,
                             "median of a slice of more than %d elements, or of columns; medfilt filters images",
                             LOOP_VECTOR_MAX);
    TRY(check_unchanged(L, r));
    Value v = kloop_vector(L, (int)n);
    for (int i = 0; i < v.n; i++) {
        TRY(number_at(L, r, element_index(kloop_i64(L, i)), &v.at[i]));
        v.at[i] = kloop_num(kloop_real(L, v.at[i]));
    }
    return *out = kloop_median(L, &v), QS_OK;
}

static qs_status turn_row(Loops *L, const Row *of, Value *out) {
    if (of->block) return kloop_decline(L, L->pos, "transpose of a slice of two dimensions; exchange its indices");
    Row *r = new_row(L, of, of->form);
    r->column = !of->column, r->pos = of->pos;
    return *out = (Value){.what = WHAT_ROW, .row = r}, QS_OK;
}

/* -- joined and shifted rows --------------------------------------------------------------------------------------- */
/* Copies n elements of the row, from element `from` on, to the LARRAY, from its element `to` on. */
static qs_status copy_part(Loops *L, const Row *r, KRef from, KRef n, KRef copy, KRef to) {
    KRef f64, k = open_for(L, zero(L), kloop_op(L, K_SUB, n, one(L)), one(L), true);
    TRY(copy_element(L, r, element_index(kloop_op(L, K_ADD, from, k)), copy, kloop_op(L, K_ADD, to, k), &f64));
    return kloop_flow(L, K_END, 0), QS_OK;
}

/* Checks that the row has elements of a float type that is known.  *f64: as in Value. */
static qs_status need_floats(Loops *L, const char *name, const Row *r, KRef *f64) {
    qs_dtype d;
    int wide;
    TRY(check_unchanged(L, r));
    TRY(find_types(L, r, &d, &wide));
    if (d != QS_F64 || wide < 0 || r->block)
        return kloop_decline(L, L->pos,
                             "%s of slices of integers or of two dimensions; write loops over their elements", name);
    return *f64 = wide ? kbuild_int(&L->walk, QS_B1, 1) : 0, QS_OK;
}

enum { JOINED = 8, SLICED = LOOP_COPIED - JOINED * LOOP_VECTOR_MAX /* for all slices */ };
typedef struct {    /* an argument of horzcat */
    const Row *row; /* NULL: the `n` numbers `at` */
    const Number *at;
    int n;
} Joined;

static qs_status joined_part(Loops *L, const Value *v, Joined *out, KRef *f64) {
    bool number = v->what == WHAT_NUMBER && v->num.kind == LOOP_NUM;
    *out = (Joined){.at = number ? &v->num : v->at, .n = number ? 1 : v->n};
    if (number) return QS_OK;
    if (v->what == WHAT_VECTOR && !v->cols) return *f64 = kloop_or(L, *f64, v->f64), QS_OK;
    if (!kloop_is_row(L, v)) return kloop_decline(L, L->pos, "horzcat of anything but vecs and numbers");
    KRef wide;
    TRY(as_row(L, v, &out->row));
    TRY(need_floats(L, "horzcat", out->row, &wide));
    if (out->row->column) return kloop_decline(L, L->pos, "horzcat of a column");
    return *f64 = kloop_or(L, *f64, wide), QS_OK;
}

/* horzcat of rows, vectors and numbers.  The host makes an array of another shape if there are no elements. */
static qs_status join_rows(Loops *L, const Value *args, int nargs, Value *out) {
    Joined part[JOINED];
    KRef copy, f64 = 0, at = zero(L);
    int rows = 0;
    bool some = false;
    if (nargs > JOINED) return kloop_decline(L, L->pos, "horzcat of more than %d slices", JOINED);
    for (int i = 0; i < nargs; i++) {
        TRY(joined_part(L, &args[i], &part[i], &f64));
        double count = 0;
        if (part[i].row) rows++;
        some |= part[i].row ? kir_is_const(L->f, part[i].row->n.count, &count) && count > 0 : part[i].n > 0;
    }
    if (!some) return kloop_decline(L, L->pos, "horzcat of slices that may have no elements");
    TRY(take_copy(L, "horzcat of slices", &copy));
    for (int i = 0; i < nargs; i++) {
        const Row *r = part[i].row;
        if (r) {
            TRY(limit_length(L, r, SLICED / rows));
            TRY(copy_part(L, r, zero(L), r->n.count, copy, at));
        }
        for (int k = 0; k < part[i].n; k++) {
            KRef to = kloop_cast(L, kloop_op(L, K_ADD, at, kloop_i64(L, k)), QS_I32);
            kbuild_emit(&L->walk, (KMake){K_ASTORE, .a = copy, .b = to, .c = kloop_held(L, f64, part[i].at[k]).v});
        }
        at = kloop_op(L, K_ADD, at, r ? r->n.count : kloop_i64(L, part[i].n));
    }
    const Row whole = {.n = {.count = at}};
    return *out = (Value){.what = WHAT_ROW, .row = copied_row(L, &whole, copy, f64)}, QS_OK;
}

/* circshift(x, n): the last elements, then the others. */
static qs_status shift_row(Loops *L, const Row *r, const Value *by, Value *out) {
    KRef copy, cut, f64, n = r->n.count;
    TRY(need_floats(L, "circshift", r, &f64));
    TRY(kloop_shift(L, by, kloop_op(L, K_MAX, n, one(L)), &cut));
    TRY(take_copy(L, "circshift", &copy));
    TRY(limit_length(L, r, LOOP_COPIED));
    KRef rest = kloop_op(L, K_SUB, n, cut);
    TRY(copy_part(L, r, rest, cut, copy, zero(L)));
    TRY(copy_part(L, r, zero(L), rest, copy, cut));
    return *out = (Value){.what = WHAT_ROW, .row = copied_row(L, r, copy, f64)}, QS_OK;
}

/* -- masks --------------------------------------------------------------------------------------------------------- */
static qs_status has_truths(Loops *L, const Row *r, bool *out) {
    qs_dtype d;
    TRY(find_dtype(L, r, &d));
    return *out = d == QS_B1, QS_OK;
}

/* The elements of a vector, or truth values, in an LARRAY. */
static const Row *list_row(Loops *L, const Value *v) {
    Row *r = new_row(L, NULL, ROW_COPY);
    r->factor = kbuild_emit(&L->walk, (KMake){K_LARRAY, .own = QS_F64, .imm = (uint64_t)v->n});
    r->n.count = kloop_i64(L, v->n), r->f64 = v->f64;
    for (int i = 0; i < v->n; i++) {
        KRef x = v->what == WHAT_TRUTHS ? kloop_cast(L, kloop_truth(L, v->at[i]), QS_F64) : v->at[i].v;
        kbuild_emit(&L->walk, (KMake){K_ASTORE, .a = r->factor, .b = kbuild_int(&L->walk, QS_I32, i), .c = x});
    }
    return r;
}

/* *found: the index is a mask of the array. */
static qs_status mask_rows(Loops *L, const Value *x, const Value *mask, const Row **values, const Row **chosen) {
    *values = *chosen = NULL;
    if (x->what == WHAT_VECTOR && mask->what == WHAT_TRUTHS) {
        if (x->n == mask->n && x->cols == mask->cols && x->n) *values = list_row(L, x), *chosen = list_row(L, mask);
        return *values ? QS_OK : kloop_decline(L, L->pos, "a mask of another size than its array");
    }
    TRY(as_row(L, x, values));
    if (*values) TRY(as_row(L, mask, chosen));
    return QS_OK;
}

/* Leaves the loop to the interpreter if the mask has another length. */
static qs_status meet_mask(Loops *L, const Row *r, const Row *mask) {
    if (r->block || mask->block) return meet_blocks(L, r->block, mask->block);
    bool equal = same_extent(&r->n, &mask->n) || kloop_require_equal(L, kloop_assumed(&r->n), kloop_assumed(&mask->n));
    if (equal && r->column == mask->column) return QS_OK;
    return kloop_decline(L, L->pos, "a mask that may have another length than its array");
}

qs_status kloop_mask(Loops *L, const Value *x, const Value *mask, Value *out) {
    const Row *values, *chosen;
    bool truths = mask->what == WHAT_TRUTHS;
    TRY(mask_rows(L, x, mask, &values, &chosen));
    if (!values || !chosen) return *out = *x, QS_OK; /* the pass is repeated */
    if (!truths) TRY(has_truths(L, chosen, &truths));
    if (!truths || !chosen->n.count)
        return kloop_decline(L, L->pos, "an index that is no real number; write a loop over the indices");
    TRY(meet_mask(L, values, chosen));
    Row *r = new_row(L, values, values->form);
    r->pos = values->pos, r->mask = chosen;
    return *out = (Value){.what = WHAT_ROW, .row = r}, QS_OK;
}

/* A reduction of x[mask], or the number of its elements. */
static qs_status reduce_masked(Loops *L, const char *name, Reduce of, const Row *r, Value *out) {
    *out = (Value){.what = WHAT_NUMBER};
    if (!strcmp(name, "numel")) {
        Reducing count = begin_reduction(RED_sum, r->mask, NULL);
        return reduce_row(L, &count, &out->num);
    }
    if (!of) return decline_mask(L);
    Reducing z = begin_reduction(of, r, NULL);
    return reduce_row(L, &z, &out->num);
}

qs_status kloop_row_call(Loops *L, const char *name, const Value *args, int nargs, Value *out) {
    const Row *arg[LOOP_ROW_ARGS];
    Reduce of = find_reduction(name, nargs);
    bool guarded, two;
    if (nargs == 1 && kloop_is_masked(&args[0])) return reduce_masked(L, name, of, args[0].row, out);
    if (kloop_is_masked(&args[0])) return decline_mask(L);
    if (!strcmp(name, "reshape") && args[0].what == WHAT_ROW)
        return flatten_row(L, args[0].row, kloop_flat_size(L, args, nargs, &two), out);
    if (!strcmp(name, "horzcat")) return join_rows(L, args, nargs, out);
    if (nargs > LOOP_ROW_ARGS) return kloop_decline(L, L->pos, "a call of %s", name);
    if (!strcmp(name, "circshift") && nargs == 2) {
        TRY(as_row(L, &args[0], &arg[0]));
        if (arg[0]) return shift_row(L, arg[0], &args[1], out);
        return *out = args[0], QS_OK;
    }
    for (int i = 0; i < nargs; i++) {
        TRY(as_row(L, &args[i], &arg[i]));
        Value later = of ? (Value){.what = WHAT_NUMBER, .num = kloop_num(kloop_f64(L, 0))} : args[i];
        if (!arg[i]) return *out = later, QS_OK;
    }
    *out = (Value){.what = WHAT_NUMBER};
    if (!strcmp(name, "numel") && nargs == 1) return out->num = kloop_from_int(L, arg[0]->n.count, 0, 0x1p48), QS_OK;
    if (!strcmp(name, "median") && nargs == 1) return median_row(L, arg[0], &out->num);
    if (!strcmp(name, "transpose") && nargs == 1) return turn_row(L, arg[0], out);
    if (!strcmp(name, "copy") && nargs == 1) {
        *out = (Value){.what = WHAT_ROW, .row = arg[0]};
        return out->host.kind = args[0].what == WHAT_ARRAY ? LOOP_ARRAY : LOOP_UNSET, QS_OK;
    }
    if (!of) return map_row(L, name, arg, nargs, out);
    Reducing z = begin_reduction(of, arg[0], nargs > 1 ? arg[1] : NULL);
    if (z.b && (z.a->block || z.b->block)) return kloop_decline(L, L->pos, "dotprod of blocks; write sum(a .* b)");
    bool vecs = !z.b || (z.a->n.count && z.b->n.count && !z.b->column);
    if (!vecs || (z.a->column && z.of->map == MAP_SQUARE)) return kloop_decline(L, L->pos, "%s of columns", name);
    if (z.b && !same_extent(&z.a->n, &z.b->n))
        (void)test_equal(L, z.a, z.b, kloop_op(L, K_EQ, z.a->n.count, z.b->n.count),
                         "dotprod: a and b must have as many elements, got %0 and %1", &guarded);
    return reduce_row(L, &z, &out->num);
}

/* -- assigning ----------------------------------------------------------------------------------------------------- */
/* Whether the row reads elements of the target at other positions than it sets them. */
static bool reads_elsewhere(const Loops *L, const Row *r, const Slice *target) {
    for (int i = 0; i < count_args(r); i++)
        if (reads_elsewhere(L, r->arg[i], target)) return true;
    return r->form == ROW_SLICE && kloop_slice_source(r->slice) == kloop_slice_source(target) &&
           !kloop_slices_match(L, r->slice, target);
}

/* Sets the elements of a slice to the elements of r, which has its shape, or to v. */
static qs_status store_elements(Loops *L, const Row *r, Number v, const Slice *to, const SliceShape *shape) {
    Cursor k = open_elements(L, &shape->n, shape->block, !kloop_slice_is_mapped(to));
    if (r) TRY(number_at(L, r, k, &v));
    TRY(kloop_slice_set(L, to, k.at, v));
    return close_elements(L, shape->block), QS_OK;
}

qs_status kloop_row_store(Loops *L, const Slice *to, const SliceShape *shape, const Value *v) {
    char text[160];
    bool guarded;
    const Row *r;
    Number first = {0};
    TRY(decline_calls(L));
    L->out->apart = true;
    TRY(as_row(L, v, &r));
    if (!r) return QS_OK;
    if (!r->n.count) return store_elements(L, NULL, r->num, to, shape);
    if (r->column && !shape->column) return kloop_decline(L, L->pos, "a row that is set to a column");
    TRY(check_unchanged(L, r));
    if (reads_elsewhere(L, r, to)) TRY(copy_row(L, r, &r));
    qs_dtype d;
    TRY(find_dtype(L, r, &d));
    if (kloop_slice_dtype(to) == QS_B1 && d != QS_B1)
        return kloop_decline(L, L->pos, "numbers that are set to a slice of truth values; write != 0 behind them");
    if (r->block || shape->block) {
        TRY(meet_blocks(L, r->block, shape->block));
        return store_elements(L, r, first, to, shape);
    }
    const Row target = {.n = shape->n};
    if (same_extent(&r->n, &target.n)) return store_elements(L, r, first, to, shape);
    KRef equal = kloop_op(L, K_EQ, r->n.count, shape->n.count), single = kloop_op(L, K_EQ, r->n.count, one(L));
    snprintf(text, sizeof text, "cannot assign an array of %s to a selection of %s of %.60s",
             r->column ? "%0x1" : "1x%0", shape->column ? "%1x1" : "1x%1", kloop_slice_name(to));
    if (test_equal(L, r, &target, kloop_op(L, K_OR, equal, single), text, &guarded))
        return store_elements(L, r, first, to, shape);
    kloop_flow(L, K_IF, equal);
    TRY(store_elements(L, r, first, to, shape));
    kloop_flow(L, K_ELSE, 0);
    TRY(number_at(L, r, element_index(zero(L)), &first));
    TRY(store_elements(L, NULL, first, to, shape));
    return kloop_flow(L, K_END, 0), QS_OK;
}

/* Whether all arrays of the row have this rank, so that a new array would have the rank and the dimensions of each. */
static bool has_rank(const Row *r, int rank) {
    for (int i = 0; i < count_args(r); i++)
        if (!has_rank(r->arg[i], rank)) return false;
    return r->form != ROW_SLICE || kloop_slice_rank(r->slice) == rank;
}

/* Whether a new array of the elements of r would have the type and the sizes of the array `to`. */
static qs_status is_alike(Loops *L, const Row *r, const Row *to, bool *out) {
    qs_dtype d, wanted = kloop_slice_dtype(to->slice);
    int wide;
    *out = false;
    if (r->mask || r->form == ROW_FLAT || r->column || !r->block != !to->block) return QS_OK;
    if (!has_rank(r, kloop_slice_rank(to->slice))) return QS_OK;
    TRY(find_types(L, r, &d, &wide));
    if (wanted != (d != QS_F64 ? d : wide ? QS_F64 : L->c->scalar_dtype) || wide < 0) return QS_OK;
    if (r->block) TRY(meet_blocks(L, r->block, to->block));
    *out =
        r->block || same_extent(&r->n, &to->n) || kloop_require_equal(L, kloop_assumed(&r->n), kloop_assumed(&to->n));
    return QS_OK;
}

const Value *kloop_row_array(const Row *r) {
    bool whole = false;
    const Value *found = r->form == ROW_SLICE ? kloop_slice_array(r->slice, &whole) : NULL;
    if (!whole) found = NULL;
    for (int i = 0; i < count_args(r) && !found; i++) found = kloop_row_array(r->arg[i]);
    return found;
}

qs_status kloop_row_replace(Loops *L, const Value *array, const Value *v, bool *done) {
    Value whole;
    *done = false;
    if (!v->row->n.count || array->host.rank > 2) return QS_OK;
    TRY(kloop_whole_array(L, array, &whole));
    const Row *to = whole.row;
    TRY(is_alike(L, v->row, to, done));
    const SliceShape shape = {.n = to->n, .column = to->column, .block = to->block};
    return *done ? kloop_row_store(L, to->slice, &shape, v) : QS_OK;
}

qs_status kloop_row_store_masked(Loops *L, const Value *array, const Value *mask, Number v) {
    const Row *to = array->row, *chosen;
    bool truths = mask->what == WHAT_TRUTHS;
    Number is_chosen;
    if (truths) chosen = list_row(L, mask);
    else TRY(as_row(L, mask, &chosen));
    if (!truths) TRY(has_truths(L, chosen, &truths));
    if (!truths || reads_elsewhere(L, chosen, to->slice))
        return kloop_decline(L, L->pos, "a mask that reads elements at other positions; write a loop with an if");
    TRY(meet_mask(L, to, chosen));
    TRY(check_unchanged(L, chosen));
    Cursor k = open_elements(L, &to->n, to->block, true);
    TRY(number_at(L, chosen, k, &is_chosen));
    kloop_flow(L, K_IF, kloop_truth(L, is_chosen));
    TRY(kloop_slice_set(L, to->slice, k.at, v));
    kloop_flow(L, K_END, 0);
    return close_elements(L, to->block), QS_OK;
}
