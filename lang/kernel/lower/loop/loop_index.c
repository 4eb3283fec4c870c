/* loop_index.c -- lowers x[…] in a loop: elements and short slices, read, written and updated as the host does.
 *
 * x[p] with a vector p is the element at that position; x[i,:] and other slices of few elements are vectors, those of
 * many elements, or of a number that only the running code knows, are rows (loop_row.c).  An access mode is applied to
 * the index of each element. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/loop/loop_internal.h"
#include "lang/syntax/fold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A dimension of a slice of unknown length: every `step`-th element from `first` to `last`, or all. */
typedef struct {
    bool all;
    int along, axis; /* its index, and the dimension of the array */
    int64_t step;
    Number last;
    KRef lo, hi, shown; /* the ends of the range as int64, 0: they may have a fraction; lo as messages show it */
    KRef first, most;   /* most: an upper bound of the number of elements, for the guard */
    SliceExtent extent;
} Span;

typedef struct {
    Places p;
    Value base;
    AccessMode written;
    /* The indices as written.  In the last dimension, or in the first two, `count` consecutive elements from index[] on
     * are selected; 0: a single one.  `sliced` is the first of these dimensions.  down: their indices decrease. */
    int n;
    Number index[QS_MAX_RANK];
    int count[2], sliced;
    bool down[2];
    bool rows;    /* slices are rows, however short they are */
    Span span[2]; /* the dimensions of a slice of unknown length */
    int spans;    /* how many there are; 0: no such slice */
    SliceShape shape;
    KRef guard; /* condition under which the elements exist; 0: they do */
    bool part;  /* a slice of a WHAT_VECTOR: sub[] */
    bool text;  /* a character of a string */
    Value mask; /* x[mask]; WHAT_NOTHING: no index is one */
    Subvector sub[2];
} Access;
struct Slice {
    Access a;
};

static qs_dtype dtype_of(const Access *a) { return (qs_dtype)a->base.host.dtype; }
static const char *shown_name(const Access *a) { return a->p.name ? a->p.name : "an array"; }

static int array_param(Loops *L, const Value *array) {
    const LoopValue *h = &array->host;
    KParam p = {.name = (Str *)(uintptr_t)array->name,
                .kind = KP_ARRAY,
                .dtype = h->dtype,
                .rank = h->rank,
                .contiguous = h->contiguous,
                .unit_last = h->unit_last};
    return kloop_param(L, &p, (LoopBind){LOOP_SOURCE, h->source});
}

static Layout layout_of(Loops *L, const Value *array) {
    const LoopValue *h = &array->host;
    return (Layout){.param = array_param(L, array),
                    .rank = h->rank,
                    .contiguous = h->contiguous,
                    .unit_last = h->unit_last,
                    .dims = h->dims};
}

KRef kloop_extent(Loops *L, const Value *array, int axis) {
    if (array->what == WHAT_ROW) return kloop_row_extent(L, array->row, axis);
    Value like = *array;
    like.host = *kloop_like(L, &array->host);
    Layout a = layout_of(L, &like);
    return kmemory_extent(&L->walk, &a, axis);
}

/* -- indices ------------------------------------------------------------------------------------------------------- */
static KRef whole_index(Loops *L, const Access *a, Number n, KRef *shown) {
    if (n.kind == LOOP_NUM) (void)kloop_expect_int(L, &n);
    KRef t = qaccess_is_mapped(a->p.mode) ? kloop_twin(L, n) : kloop_as_int(L, n);
    if (t) return *shown = t;
    *shown = kloop_round_index(L, kloop_real(L, n), ksubscript_is_down(a->written) ? MF_floor : MF_trunc);
    return kloop_integral_index(L, kloop_real(L, n), *shown, a->p.name, a->written == ACC_DEFAULT);
}

static KRef is_inside(Walk *w, KRef at, KRef n) { return kloop_op((Loops *)w, K_INB, at, n); }

static void emit_index_test(Walk *w, const Places *p, int axis, AxisIndex x) {
    kloop_inside((Loops *)w, x, p->name, ksubscript_shown_axis(p, axis));
}

static void emit_exists_test(Walk *w, const Places *p, int axis, AxisIndex x) {
    emit_index_test(w, p, axis, (AxisIndex){kloop_i64((Loops *)w, 0), x.n, x.shown});
}

const PlaceRules kloop_place_rules = {.inside = is_inside, .test = emit_index_test, .exists = emit_exists_test};

static KRef lower_index(Loops *L, Access *a, Number index, KRef n, int axis) {
    KRef shown, at = whole_index(L, a, index, &shown);
    return ksubscript_bring(&L->walk, &a->p, axis, (AxisIndex){at, n, shown}, &a->guard);
}

static KRef map_index(Loops *L, const Access *a, KRef at, KRef n) {
    return kbuild_pure(&L->walk, (KMake){K_BOUND, .flag = a->p.mode, .a = at, .b = n});
}

static Subindex indices_from(Loops *L, KRef first, int count, bool down) {
    KRef last = down ? kloop_op(L, K_SUB, first, kloop_i64(L, count - 1)) : first;
    Subindex list = ksubscript_from(&L->walk, last, count);
    for (int i = 0, k = count - 1; down && i < k; i++, k--) {
        KRef other = list.list[i];
        list.list[i] = list.list[k], list.list[k] = other;
    }
    return list;
}

/* Applies the access mode to the indices of `count` elements.  Indices that 'safe leaves outside are tested at the use
 * of the elements (reach_element). */
static Subindex list_indices(Loops *L, Access *a, int i, int axis, int count) {
    KRef shown, n = kloop_extent(L, &a->base, axis), first = whole_index(L, a, a->index[i], &shown);
    Subindex list = indices_from(L, first, count, a->down[axis - a->sliced]);
    if (!qaccess_is_mapped(a->p.mode)) return list;
    emit_exists_test(&L->walk, &a->p, axis, (AxisIndex){first, n, shown});
    for (int k = 0; k < count; k++) list.list[k] = map_index(L, a, list.list[k], n);
    return list;
}

/* The last index of a slice must be inside, too; the first index outside is n, or -1. */
static Subindex places_along(Loops *L, Access *a, int i, int axis) {
    int count = axis >= a->sliced && axis < a->sliced + 2 ? a->count[axis - a->sliced] : 0;
    if (count && ksubscript_is_down(a->p.mode)) return list_indices(L, a, i, axis, count);
    KRef n = kloop_extent(L, &a->base, axis), at = lower_index(L, a, a->index[i], n, axis);
    if (!count) return (Subindex){.kind = AT_ONE, .one = at};
    bool down = a->down[axis - a->sliced];
    KRef last = kloop_op(L, down ? K_SUB : K_ADD, at, kloop_i64(L, count - 1));
    emit_index_test(&L->walk, &a->p, axis, (AxisIndex){last, n, down ? kloop_i64(L, -1) : n});
    return indices_from(L, at, count, down);
}

/* Finds the number of elements from lo to hi. */
static KRef count_span(Loops *L, Span *s) {
    KRef one = kloop_i64(L, 1), zero = kloop_i64(L, 0), size = kloop_i64(L, s->step < 0 ? -s->step : s->step);
    KRef way = s->step > 0 ? kloop_op(L, K_SUB, s->hi, s->lo) : kloop_op(L, K_SUB, s->lo, s->hi);
    s->extent.spanned = (s->step == 1 || s->step == -1) && kaffine_of(L->f, way, &s->extent.span);
    if (s->extent.spanned && !s->extent.span.n)
        return kloop_i64(L, s->extent.span.constant < 0 ? 0 : s->extent.span.constant + 1);
    if (s->step == 1 || s->step == -1) return kloop_op(L, K_MAX, kloop_op(L, K_ADD, way, one), zero);
    KRef count = kloop_op(L, K_ADD, kloop_op(L, K_DIV, way, size), one);
    return kbuild_pure(&L->walk, (KMake){K_SELECT, .a = kloop_op(L, K_LE, zero, way), .b = count, .c = zero});
}

/* A term is the first of several equal values (kaffine_leader), which may be in a block that is closed. */
static KRef visible_term(Loops *L, KRef r) {
    const KIns i = L->f->ins[r];
    if (i.op == K_CAST) return kloop_cast(L, visible_term(L, i.a), (qs_dtype)i.dtype);
    if (i.op != K_PARAM && i.op != K_DIM) return r;
    return kbuild_pure(&L->walk, (KMake){(KOp)i.op, .own = (qs_dtype)i.dtype, .imm = i.imm});
}

static KRef emit_sum(Loops *L, const Affine *a) {
    KRef sum = kloop_i64(L, a->constant);
    for (int i = 0; i < a->n; i++) {
        KRef term = visible_term(L, a->term[i].ref);
        sum = kloop_op(L, K_ADD, sum, kloop_op(L, K_MUL, term, kloop_i64(L, a->term[i].factor)));
    }
    return sum;
}

/* The number of elements of x[i-r..i+r] as 2*r+1, if r is known before the loop; 0: it is not. */
static KRef fixed_count(Loops *L, const SliceExtent *e) {
    Affine n = e->span;
    for (int i = 0; i < n.n && e->spanned; i++)
        if (!kloop_is_fixed(L, n.term[i].ref)) return 0;
    return n.constant++, e->spanned ? kloop_op(L, K_MAX, emit_sum(L, &n), kloop_i64(L, 0)) : 0;
}

/* The operands of r, which has the operation op; r alone if it has another one. */
static int alternatives(const Loops *L, KOp op, KRef r, KRef *out) {
    const KIns *i = &L->f->ins[r];
    if (i->op != op) return out[0] = r, 1;
    return out[0] = i->a, out[1] = i->b, 2;
}

/* Returns an upper bound of the number of elements, for the guard.  x[max(i-k,0)..min(i+k,n-1)] is at most as long as
 * the shortest of the slices x[i-k..i+k], x[0..i+k], x[i-k..n-1] and x[0..n-1].  extent: the size of the dimension; an
 * access mode may repeat elements, so that a slice is longer. */
static KRef bound_span(Loops *L, const Access *a, const Span *s, KRef extent) {
    KRef lo[2], hi[2], most = ksubscript_is_down(a->p.mode) ? s->extent.count : extent;
    Affine span;
    int nlo = alternatives(L, K_MAX, s->step > 0 ? s->lo : s->hi, lo);
    int nhi = alternatives(L, K_MIN, s->step > 0 ? s->hi : s->lo, hi);
    for (int i = 0; i < nlo * nhi; i++) {
        if (!ksubscript_span(&L->walk, lo[i / nhi], hi[i % nhi], &span)) continue;
        span.constant++;
        KRef sum = emit_sum(L, &span);
        most = most == s->extent.count ? sum : kloop_op(L, K_MIN, most, sum);
    }
    return kloop_op(L, K_MAX, most, kloop_i64(L, 0));
}

bool kloop_has_elements(Loops *L, const SliceExtent *e) {
    KRef lo[2], hi[2], most = kloop_i64(L, QINDEX_MOST);
    Affine span;
    uint32_t nchecks = L->nchecks;
    int nlo = alternatives(L, K_MAX, e->lo, lo), nhi = alternatives(L, K_MIN, e->hi, hi);
    for (int i = 0; i < nlo * nhi; i++) {
        bool sum = e->lo && ksubscript_span(&L->walk, lo[i / nhi], hi[i % nhi], &span);
        if (!sum || !kloop_guard_inside(L, emit_sum(L, &span), most, "a slice has no elements"))
            return L->nchecks = nchecks, false;
    }
    return true;
}

/* Tests the first and the last index, unless there are no elements.  The error shows the first index outside. */
static void test_span(Loops *L, const Access *a, const Span *s, KRef n) {
    KRef one = kloop_i64(L, 1), zero = kloop_i64(L, 0), step = kloop_i64(L, s->step), lo = s->lo, hi = s->hi;
    KRef none = kloop_op(L, K_EQ, s->extent.count, zero), last = hi, out = n;
    int shown = ksubscript_shown_axis(&a->p, s->axis);
    if (s->step == -1) out = kloop_i64(L, -1);
    else if (s->step != 1) {
        KRef steps = kloop_op(L, K_SUB, s->extent.count, one), size = kloop_i64(L, s->step < 0 ? -s->step : s->step);
        last = kloop_op(L, K_ADD, lo, kloop_op(L, K_MUL, steps, step));
        KRef left = kloop_op(L, K_SUB, s->step > 0 ? n : lo, s->step > 0 ? kloop_op(L, K_ADD, lo, one) : zero);
        KRef more = kloop_op(L, K_ADD, kloop_op(L, K_DIV, left, size), one);
        out = kloop_op(L, K_ADD, lo, kloop_op(L, K_MUL, more, step));
    }
    KRef guarded = kloop_op(L, s->step > 0 ? K_MAX : K_MIN, hi, lo);
    kloop_inside_unless(L, none, lo, (AxisIndex){lo, n, s->shown}, a->p.name, shown);
    kloop_inside_unless(L, none, guarded, (AxisIndex){last, n, out}, a->p.name, shown);
}

/* An access mode maps all indices of an array that has elements. */
static void test_exists(Loops *L, const Access *a, const Span *s, KRef n) {
    KRef zero = kloop_i64(L, 0), none = kloop_op(L, K_EQ, s->extent.count, zero);
    if (!qaccess_is_mapped(a->p.mode)) return;
    kloop_inside_unless(L, none, zero, (AxisIndex){zero, n, s->shown}, a->p.name,
                        ksubscript_shown_axis(&a->p, s->axis));
}

static Subindex lower_span(Loops *L, const Access *a, Span *s) {
    KRef n = kloop_extent(L, &a->base, s->axis);
    SliceExtent *e = &s->extent;
    s->first = s->all ? kloop_i64(L, 0) : s->lo;
    e->lo = s->step > 0 ? s->lo : s->hi, e->hi = s->step > 0 ? s->hi : s->lo;
    if (s->all) {
        s->most = e->count = n, e->spanned = kaffine_of(L->f, n, &e->span), e->span.constant--;
        e->lo = s->first, e->hi = kloop_op(L, K_SUB, n, kloop_i64(L, 1));
    } else {
        e->count = count_span(L, s), e->assumed = fixed_count(L, e);
        s->most = bound_span(L, a, s, n);
        if (ksubscript_is_down(a->p.mode)) test_exists(L, a, s, n);
        else test_span(L, a, s, n);
    }
    return (Subindex){.kind = AT_ONE, .one = s->first};
}

/* Finds the shape of a slice of unknown length. */
static void find_shape(Loops *L, Access *a) {
    const Span *x = &a->span[0], *y = &a->span[1];
    a->shape = (SliceShape){.n = x->extent, .column = a->base.host.rank == 2 && x->axis == 0};
    if (a->spans < 2) return;
    Block *b = qarena_alloc(L->arena, sizeof *b);
    *b = (Block){.side = {x->extent, y->extent}, .axis = {x->axis, y->axis}};
    KRef rows = kloop_assumed(&x->extent), columns = kloop_assumed(&y->extent);
    a->shape = (SliceShape){.block = b,
                            .n = {.count = kloop_op(L, K_MUL, x->extent.count, y->extent.count),
                                  .assumed = kloop_op(L, K_MUL, rows, columns)}};
}

static qs_status lower_indices(Loops *L, Access *a) {
    if (a->n != a->p.rank && !(a->p.rank == 1 && a->n == 2))
        return kloop_decline(L, L->pos, "%s has %d dimension%s, but %d ind%s given", shown_name(a), a->p.rank,
                             a->p.rank == 1 ? "" : "s", a->n, a->n == 1 ? "ex is" : "ices are");
    for (int i = 0; i < a->n; i++) {
        int axis = ksubscript_axis(a->p.rank, a->n, i);
        if (axis < 0) lower_index(L, a, a->index[i], kloop_i64(L, 1), axis);
        else if (a->spans && i == a->span[0].along) a->p.item[axis] = lower_span(L, a, &a->span[0]);
        else if (a->spans > 1 && i == a->span[1].along) a->p.item[axis] = lower_span(L, a, &a->span[1]);
        else a->p.item[axis] = places_along(L, a, i, axis);
    }
    if (a->spans) find_shape(L, a);
    return QS_OK;
}

static KRef linear_index(Loops *L, const Access *a, const KRef *at) {
    Layout l = layout_of(L, &a->base);
    return kmemory_linear(&L->walk, &l, at);
}

/* Returns the linear index. */
static KRef record_access(Loops *L, const Access *a, const KRef *at, bool store, SumKind sum) {
    Touch t = {.param = array_param(L, &a->base),
               .source = a->base.host.source,
               .rank = a->p.rank,
               .store = store,
               .plain = !qaccess_is_mapped(a->p.mode),
               .sum = sum,
               .pos = L->pos,
               .ins = L->f->nins};
    memcpy(t.at, at, (size_t)t.rank * sizeof *at);
    t.element = linear_index(L, a, at);
    if (store && !kloop_is_stored(L, t.source)) {
        if (L->nstored < LOOP_STORED) L->stored[L->nstored] = t.source;
        L->nstored++, L->changed = true;
    }
    qmem_grow(L->c, &L->touches, &L->cap_touches, L->ntouches, sizeof t);
    L->touches[L->ntouches++] = t;
    return t.element;
}

/* -- accesses ------------------------------------------------------------------------------------------------------ */
static qs_status base_of(Loops *L, Node *n, Access *a) {
    Node *base = n->u.index.base;
    bool named = base->kind == N_IDENT && base->u.ident.sym;
    if (named) TRY(kloop_read(L, base->u.ident.sym, &a->base));
    else TRY(kloop_expr(L, base, &a->base));
    L->pos = n->pos;
    a->p.name = named ? base->u.ident.name->s : base->kind == N_FIELD ? base->u.field.name->s : NULL;
    if (a->base.what == WHAT_VECTOR) return QS_OK;
    bool row = a->base.what == WHAT_ROW;
    const Var *var = named && a->base.what == WHAT_NUMBER ? kloop_var(L, base->u.ident.sym) : NULL;
    if (var && var->kind == LOOP_ARRAY) return kloop_decline_array(L, var);
    a->text = a->base.what == WHAT_STRING || (a->base.what == WHAT_CHAR && a->base.host.kind == LOOP_CHAR);
    if (a->text && !a->base.host.contiguous)
        return kloop_decline(L, n->pos, "%s is a string with characters beyond ASCII; tounicode gives them as numbers",
                             shown_name(a));
    if (a->text) a->base.what = WHAT_ARRAY;
    if (a->text && n->u.index.at.n != 1) return kloop_decline(L, n->pos, "several indices of a string");
    if (a->base.what == WHAT_CELL && !named && a->base.host.source == -1) return kloop_decline_literal(L);
    if (!row && a->base.what != WHAT_ARRAY) return kloop_decline(L, n->pos, "%s is no array of numbers", shown_name(a));
    TypeMods mods = named ? base->u.ident.sym->mods : (TypeMods){0};
    if (mods.flags & (MOD_HWTEX_LINEAR | MOD_HWTEX_NEAREST))
        return kloop_decline(L, n->pos, "%s is a texture", shown_name(a));
    a->written = (AccessMode)mods.access;
    a->p.mode = ksubscript_is_down(a->written) ? a->written : ACC_CHECKED;
    a->p.rank = row ? kloop_row_rank(a->base.row) : a->base.host.rank, a->n = n->u.index.at.n;
    return QS_OK;
}

/* Returns an end of a range as an integer, which indexes an array only if it is one of its positions; 0: it may have a
 * fraction.  *real: it is a float, which may be infinite or NaN. */
static KRef integral_end(Loops *L, Number *n, bool *real) {
    if (n->kind == LOOP_NUM) (void)kloop_expect_int(L, n);
    KRef t = kloop_twin(L, *n), least = kloop_i64(L, QINDEX_LEAST), most = kloop_i64(L, QINDEX_MOST);
    if (t) return t;
    *real = n->kind == LOOP_NUM && kloop_is_rounded(L, n->v);
    t = *real ? kloop_cast(L, n->v, QS_I64) : kloop_as_int(L, *n);
    return t ? kloop_op(L, K_MIN, kloop_op(L, K_MAX, t, least), most) : 0;
}

/* Splits k+3 and k-3 into k, which is returned, and 3; others have 0. */
static KRef without_constant(const Loops *L, KRef r, double *k) {
    const KIns *i = &L->f->ins[r];
    double left, right;
    *k = 0;
    if (i->op != K_ADD && i->op != K_SUB) return r;
    bool a = kir_is_const(L->f, i->a, &left) && i->op == K_ADD, b = kir_is_const(L->f, i->b, &right);
    if (a || b) *k = a ? left : i->op == K_SUB ? -right : right;
    return a ? i->b : b ? i->a : r;
}

/* The number of elements of a range from `span`, its length less 1.  A small one that follows from variables which the
 * loop does not set, x[i-r..i+r], is compiled in.  < 0: it is not known. */
static double short_length(Loops *L, const Affine *span) {
    if (!span->n) return (double)span->constant + 1;
    KRef sum = emit_sum(L, span);
    double n = L->job->many ? -1 : kloop_value_before(L, sum, false) + 1;
    if (!(n >= 2 && n <= LOOP_VECTOR_MAX)) return -1;
    return (void)kloop_value_before(L, sum, true), n;
}

void kloop_fix_window(Loops *L, KRef lo, KRef hi) {
    KRef from[2], to[2];
    Affine span;
    int nlo = alternatives(L, K_MAX, lo, from), nhi = alternatives(L, K_MIN, hi, to);
    for (int i = 0; i < nlo * nhi; i++) {
        KRef a = from[i / nhi], b = to[i % nhi];
        if (!kloop_is_fixed(L, a) && !kloop_is_fixed(L, b) && ksubscript_span(&L->walk, a, b, &span))
            (void)short_length(L, &span);
    }
}

/* Finds the ends of a range.  The number of its elements may be known even if the ends are not: x[i-1..i+1].
 * *length < 0: it is not known. */
static void find_ends(Loops *L, Span *s, Number *first, double *length) {
    bool real[2] = {false, false};
    double lo, hi;
    KRef from = without_constant(L, kloop_real(L, *first), &lo), to = without_constant(L, kloop_real(L, s->last), &hi);
    s->lo = integral_end(L, first, &real[0]), s->hi = integral_end(L, &s->last, &real[1]), s->shown = s->lo;
    *length = -1;
    if (!s->lo || !s->hi) return;
    if (real[0] || real[1]) {
        KRef x = kloop_real(L, *first), y = kloop_real(L, s->last), zero = kloop_f64(L, 0);
        KRef span = kloop_op(L, K_ADD, kloop_op(L, K_SUB, x, x), kloop_op(L, K_SUB, y, y));
        char text[120];
        snprintf(text, sizeof text, "a range needs finite bounds and a step other than 0, got %%0..%lld..%%1",
                 (long long)s->step);
        kloop_fail_unless(L, kloop_op(L, K_EQ, span, zero), QS_EVALUE, text, x, y);
    }
    Affine span;
    bool twins = kloop_twin(L, *first) && kloop_twin(L, s->last), down = s->step < 0;
    if (kloop_known(L, *first, &lo) && kloop_known(L, s->last, &hi)) *length = (down ? lo - hi : hi - lo) + 1;
    else if (twins && ksubscript_span(&L->walk, down ? s->hi : s->lo, down ? s->lo : s->hi, &span))
        *length = short_length(L, &span);
    else if (!twins && from == to && lo == floor(lo) && hi == floor(hi) && fabs(hi - lo) < LOOP_SMALL) {
        *length = (down ? lo - hi : hi - lo) + 1;
    }
    if (*length < 0 && twins && !down) kloop_fix_window(L, s->lo, s->hi);
    if (*length > 0) s->hi = kloop_op(L, down ? K_SUB : K_ADD, s->lo, kloop_i64(L, (int64_t)*length - 1));
    if (!twins) s->shown = first->kind == LOOP_NUM ? first->v : kloop_as_int(L, *first);
}

/* The ends and the step of a range; the step is compiled in. */
static qs_status range_ends(Loops *L, const Node *n, Number *first, Number *last, double *step) {
    Number by = kloop_const(L, 1);
    TRY(kloop_number(L, n->u.range.lo, first));
    if (n->u.range.step) TRY(kloop_number(L, n->u.range.step, &by));
    TRY(kloop_number(L, n->u.range.hi, last));
    bool integral = kloop_known(L, by, step) && *step == floor(*step) && *step != 0 && fabs(*step) < 0x1p31;
    return integral ? QS_OK : kloop_decline(L, n->pos, "a slice with a step that is not known, or has a fraction");
}

qs_status kloop_range(Loops *L, const Node *n, Value *out) {
    static const double exact = 0x1p53;
    Span s = {0};
    Number first;
    double step, length;
    TRY(range_ends(L, n, &first, &s.last, &step));
    s.step = (int64_t)step;
    find_ends(L, &s, &first, &length);
    bool small = kloop_twin(L, first) && first.lo >= -exact && first.hi <= exact;
    if (!small || !kloop_twin(L, s.last) || s.last.lo < -exact || s.last.hi > exact)
        return kloop_decline(L, n->pos, "a range whose ends may have a fraction; write floor(…) or int(…)");
    if (length >= 2 && length <= LOOP_VECTOR_MAX && fabs(step) == 1 && !L->no_vectors) {
        Value items[LOOP_VECTOR_MAX];
        for (int i = 0; i < (int)length; i++) {
            KRef at = kloop_op(L, K_ADD, s.lo, kloop_i64(L, i * s.step));
            items[i] = (Value){.what = WHAT_NUMBER, .num = kloop_int(at, first.lo + i * step, first.hi + i * step)};
        }
        return kloop_list(L, items, (int)length, out);
    }
    s.extent.count = count_span(L, &s), s.extent.assumed = fixed_count(L, &s.extent);
    s.extent.lo = step > 0 ? s.lo : s.hi, s.extent.hi = step > 0 ? s.hi : s.lo;
    return kloop_range_row(L, s.lo, s.step, &s.extent, out), QS_OK;
}

/* Whether vectors have elements of this type. */
static bool is_element_type(const Loops *L, qs_dtype d) { return d == L->c->scalar_dtype || d == QS_F64; }

static bool may_be_row(const Loops *L, const Access *a) {
    qs_dtype d = dtype_of(a);
    return d == L->c->scalar_dtype || d == QS_F64 || d == QS_B1 || (qdtype_is_int(d) && d != QS_U64);
}

/* A slice whose elements are not compiled in. */
static qs_status long_slice(Loops *L, const Node *n, Access *a, const Span *s) {
    if (!may_be_row(L, a)) return kloop_decline(L, n->pos, "a slice of an array of %s", qdtype_info[dtype_of(a)].name);
    if (!s->all && (!s->lo || !s->hi))
        return kloop_decline(L, n->pos, "a slice with an end that may have a fraction; write floor(…) or int(…)");
    return a->span[a->spans++] = *s, QS_OK;
}

/* x[i,:], x[i,a..b], x[a..b,c..d]: a few elements, as many as the array has now, or as the range has.  The number is
 * compiled in.  A slice of many elements is a row (loop_row.c). */
static qs_status slice_of(Loops *L, Node *n, Access *a, int d) {
    bool all = n->kind == N_COLON, row = a->p.rank == 1 && a->n == 2 && d == 1; /* x[0,:] of a vec */
    if (a->p.rank != a->n && !row)
        return kloop_decline(L, n->pos, "a slice of %s with another number of indices than dimensions", shown_name(a));
    Span s = {.all = all, .along = d, .axis = row ? 0 : d, .step = 1};
    double step = 1, extent = all ? (double)kloop_peek(L, a->base.host.source, s.axis, false) : 0;
    a->index[d] = kloop_const(L, 0);
    if (!all) {
        TRY(range_ends(L, n, &a->index[d], &s.last, &step));
        s.step = (int64_t)step;
        find_ends(L, &s, &a->index[d], &extent);
    }
    bool few = extent >= 2 && extent <= LOOP_VECTOR_MAX && fabs(step) == 1 && !row && !L->no_vectors && !a->rows;
    if (!few) return long_slice(L, n, a, &s);
    if (all) (void)kloop_peek(L, a->base.host.source, d, true);
    a->down[d - a->sliced] = step < 0;
    return a->count[d - a->sliced] = (int)extent, QS_OK;
}

static bool is_slice(const Node *n) { return n->kind == N_COLON || n->kind == N_RANGE; }

/* Returns how many indices are slices.  Two of them make a row unless they are the first two. */
static int count_slices(const Node *n, Access *a) {
    NodeList at = n->u.index.at;
    int slices = 0;
    for (int i = at.n; i-- > 0;)
        if (is_slice(at.at[i])) slices++, a->sliced = i;
    if (slices == 2 && !(is_slice(at.at[0]) && is_slice(at.at[1]))) a->rows = true;
    return slices;
}

/* x[p] with the position in a vector. */
static bool is_place(const Access *a, const Value *v) {
    return v->what == WHAT_VECTOR && !v->cols && a->n == 1 && v->n == a->p.rank && a->p.rank > 1;
}

/* Whether no number has a fraction, for which there is a different warning. */
static KRef are_whole(Loops *L, const Value *v) {
    KRef all = kbuild_int(&L->walk, QS_B1, 1);
    for (int i = 0; i < v->n; i++) {
        if (kloop_twin(L, v->at[i])) continue;
        KRef cut = kbuild_pure(&L->walk, (KMake){K_MATH, .flag = MF_trunc, .a = v->at[i].v});
        all = kloop_op(L, K_AND, all, kloop_op(L, K_EQ, v->at[i].v, cut));
    }
    return all;
}

/* A slice of an array that is held as a WHAT_VECTOR.  The ends of its range are compiled in. */
static qs_status part_of(Loops *L, const Node *n, Access *a, int d) {
    Number first, last;
    double lo = 0, hi, step = 1;
    bool as_row = !a->base.cols && a->n == 2 && d == 1; /* v[0,:] */
    if (a->n != (a->base.cols ? 2 : 1) && !as_row)
        return kloop_decline(L, n->pos, "%s has another number of dimensions than indices", shown_name(a));
    int rows = a->base.cols ? a->base.n / a->base.cols : a->base.n, extent = d && !as_row ? a->base.cols : rows;
    bool known = true;
    if (n->kind == N_COLON) hi = extent - 1;
    else {
        TRY(range_ends(L, n, &first, &last, &step));
        known = kloop_known(L, first, &lo) && kloop_known(L, last, &hi) && lo == floor(lo) && hi == floor(hi);
    }
    double count = known ? floor((hi - lo) / step) + 1 : 0;
    bool inside = known && lo >= 0 && lo < extent && hi >= 0 && hi < extent && count >= (n->kind == N_COLON ? 1 : 2);
    if (!inside) return kloop_decline(L, n->pos, "a slice of a short array whose ends are not known");
    return a->part = true, a->sub[d] = (Subvector){(int)count, (int)lo, (int)step, {0}}, QS_OK;
}

static qs_status indices_of(Loops *L, Node *n, Access *a) {
    int slices = count_slices(n, a);
    for (int i = 0; i < a->n; i++) {
        Node *at = n->u.index.at.at[i];
        Value v;
        if (is_slice(at) && a->base.what == WHAT_VECTOR) {
            TRY(part_of(L, at, a, i));
            continue;
        }
        if (a->text && is_slice(at))
            return kloop_decline(L, n->pos, "a part of a string; single characters are compiled");
        if (is_slice(at) && a->base.what == WHAT_ARRAY) {
            if (slices > 2) return kloop_decline(L, n->pos, "slices of %d dimensions; write loops over one", slices);
            TRY(slice_of(L, at, a, i));
            continue;
        }
        TRY(kloop_expr(L, at, &v));
        if (a->n == 1 && a->p.rank > 1) kloop_short(L, &v);
        if (is_place(a, &v)) {
            L->pos = n->pos;
            if (qfold_is_list(n->u.index.at)) kloop_note_place(L, a->p.name, a->p.rank, are_whole(L, &v));
            memcpy(a->index, v.at, (size_t)v.n * sizeof *v.at);
            a->n = v.n;
            return QS_OK;
        }
        bool mask = v.what == WHAT_TRUTHS || v.what == WHAT_ROW;
        if (mask && a->n == 1) return a->mask = v, L->pos = n->pos, QS_OK;
        if (v.what != WHAT_NUMBER || v.num.kind == LOOP_COMPLEX)
            return kloop_decline(L, n->pos, "an index that is no real number; write a loop over the indices");
        a->index[i] = v.num;
        if (a->base.what == WHAT_VECTOR && i < 2) a->sub[i].index = v.num;
    }
    bool many = a->count[0] * (a->count[1] ? a->count[1] : 1) > LOOP_VECTOR_MAX;
    if (!many && (!a->spans || a->spans == slices)) return QS_OK;
    a->rows = true, a->spans = a->count[0] = a->count[1] = 0; /* both dimensions are of a row */
    return indices_of(L, n, a);
}

/* v: the value that is stored; NULL: elements are read, too. */
static qs_status access_of(Loops *L, Node *n, const Value *v, Access *a) {
    *a = (Access){.n = n->u.index.at.n};
    TRY(base_of(L, n, a));
    a->rows = v ? v->what == WHAT_ROW : a->base.what == WHAT_ARRAY && !is_element_type(L, dtype_of(a));
    if (n->u.index.at.n > QS_MAX_RANK) return kloop_decline(L, n->pos, "more than %d indices", QS_MAX_RANK);
    TRY(indices_of(L, n, a));
    if (a->mask.what) return QS_OK;
    if (a->base.what == WHAT_VECTOR && !a->base.cols && a->n == 2 && !a->sub[0].n) { /* v[0,k] */
        L->pos = n->pos;
        kloop_test_row(L, a->index[0], a->p.name);
        a->n = 1, a->index[0] = a->index[1], a->sub[0] = a->sub[1];
    }
    if (a->base.what == WHAT_VECTOR && a->n != (a->base.cols ? 2 : 1))
        return kloop_decline(L, n->pos, "%s has another number of dimensions than indices", shown_name(a));
    return L->pos = n->pos, QS_OK;
}

/* Finds the elements that a statement sets.  A row has no memory, so its elements cannot be set. */
static qs_status target_of(Loops *L, Node *n, const Value *v, Access *a) {
    TRY(access_of(L, n, v, a));
    if (a->text) return kloop_decline(L, L->pos, "characters of %s are set", shown_name(a));
    if (a->base.what != WHAT_ROW) return QS_OK;
    return kloop_decline(L, n->pos, "%s, a slice of a length that is not known, is changed", shown_name(a));
}

/* -- elements ------------------------------------------------------------------------------------------------------ */
/* An int, or from 2^63 on a number. */
static Number from_uint64(Loops *L, KRef v) {
    Number n = {.kind = LOOP_MIXED, .lo = 0, .hi = 0x1p63, .v = kloop_cast(L, v, QS_F64)};
    n.twin = kloop_cast(L, v, QS_I64);
    n.is_int = kloop_op(L, K_LE, v, kbuild_int(&L->walk, QS_U64, INT64_MAX));
    return n;
}

static Number from_memory(Loops *L, KRef v, qs_dtype d) {
    double lo, hi;
    if (d == QS_B1) return kloop_bool(v);
    if (qdtype_is_real(d)) return kloop_num(kloop_cast(L, v, QS_F64));
    if (d == QS_U64) return from_uint64(L, v);
    qdtype_int_span(d, &lo, &hi);
    return kloop_int(kloop_cast(L, v, QS_I64), lo, hi);
}

/* Returns an earlier load of the same element, on every path to here, without a store since then; 0: none.  A condition
 * on x[i] then also holds for the next x[i]. */
static KRef read_before(const Loops *L, int param, KRef at, KRef guard) {
    enum { FAR = 256 };
    const KFunc *f = L->f;
    int closed = 0; /* closed blocks: a load inside may not have been executed */
    for (KRef r = f->nins - 1; r > 0 && f->nins - r < FAR; r--) {
        const KIns *i = &f->ins[r];
        if (i->op == K_STORE || i->op == K_ATOMIC || i->op == K_CALL || (!closed && kir_is_loop(i->op))) return 0;
        if (i->op == K_END || (i->op == K_ELSE && !closed)) closed++;
        else if (closed && kir_opens(i->op)) closed--;
        if (!closed && i->op == K_LOAD && (int)i->imm == param && i->a == at && i->b == guard) return r;
    }
    return 0;
}

static KRef load_part(Loops *L, const Access *a, KRef linear, int part) {
    int param = array_param(L, &a->base);
    KRef before = read_before(L, param, kmemory_part(&L->walk, linear, dtype_of(a), part), a->guard);
    return before ? before : kmemory_load(&L->walk, param, dtype_of(a), linear, part, a->guard);
}

/* The access to one element of a slice, which 'safe tests. */
static Access reach_element(Loops *L, const Access *a, const KRef *at) {
    Access e = *a;
    for (int d = 0; d < a->p.rank && a->p.mode == ACC_SAFE; d++) {
        KRef inside = kloop_op(L, K_INB, at[d], kloop_extent(L, &a->base, d));
        e.guard = e.guard ? kloop_op(L, K_AND, e.guard, inside) : inside;
    }
    return e;
}

static Number load_element(Loops *L, const Access *a, const KRef *at, SumKind sum) {
    qs_dtype d = dtype_of(a);
    KRef k = record_access(L, a, at, false, sum), v = load_part(L, a, k, 0);
    if (!qdtype_is_complex(d)) return from_memory(L, v, d);
    return kloop_complex(kloop_cast(L, v, QS_F64), kloop_cast(L, load_part(L, a, k, 1), QS_F64));
}

static KRef to_truth(Loops *L, Number n) {
    KRef t = kloop_truth(L, n), x = kloop_real(L, n);
    if (n.kind == LOOP_BOOL || (kloop_twin(L, n) && n.lo >= 0 && n.hi <= 1)) return t;
    KRef fits = kloop_op(L, K_OR, kloop_op(L, K_EQ, x, kloop_f64(L, 0)), kloop_op(L, K_EQ, x, kloop_f64(L, 1)));
    return kloop_fail_unless(L, fits, QS_EVALUE, "%0 " QDTYPE_NO_TRUTH, x, 0), t;
}

static KRef to_memory(Loops *L, Number n, qs_dtype d) {
    if (d == QS_B1) return to_truth(L, n);
    qs_dtype as = kir_value_dtype(d);
    KRef v = n.kind == LOOP_INT ? n.v : qdtype_is_int(d) && kloop_twin(L, n) ? kloop_twin(L, n) : kloop_real(L, n);
    KRef stored = kloop_cast(L, v, as);
    if (!n.is_int || kloop_twin(L, n)) return stored;
    return kbuild_pure(&L->walk, (KMake){K_SELECT, .a = n.is_int, .b = kloop_cast(L, n.twin, as), .c = stored});
}

static void store_part(Loops *L, const Access *a, KRef linear, int part, KRef v) {
    kmemory_store(&L->walk, array_param(L, &a->base), dtype_of(a), linear, part, v, a->guard);
}

static qs_status may_store(Loops *L, const Access *a, bool complex) {
    qs_dtype d = dtype_of(a);
    if (!a->base.host.writable || a->base.mods.flags & MOD_CONST)
        return kloop_decline(L, L->pos, "%s cannot be written", shown_name(a));
    if (qdtype_is_short(d)) return kloop_decline(L, L->pos, "%s holds %s", shown_name(a), qdtype_info[d].name);
    if (complex && !qdtype_is_complex(d))
        return kloop_decline(L, L->pos, "%s cannot hold complex numbers", shown_name(a));
    return QS_OK;
}

static qs_status store_element(Loops *L, const Access *a, const KRef *at, Number n, SumKind sum) {
    qs_dtype d = dtype_of(a);
    TRY(may_store(L, a, n.kind == LOOP_COMPLEX));
    KRef k = record_access(L, a, at, true, sum);
    if (!qdtype_is_complex(d)) return store_part(L, a, k, 0, to_memory(L, n, d)), QS_OK;
    Number z = kloop_to_complex(L, n);
    store_part(L, a, k, 0, kloop_cast(L, z.v, qdtype_real_of(d)));
    store_part(L, a, k, 1, kloop_cast(L, z.im, qdtype_real_of(d)));
    return QS_OK;
}

/* Adds v to an element of the chunk's own copy of the array, in any order. */
static qs_status add_to_copy(Loops *L, const Access *a, const KRef *at, Op op, Number v) {
    KParam p = {.name = qstr_cname(L->c, "sums"),
                .kind = KP_ARRAY,
                .dtype = QS_F64,
                .rank = 1,
                .contiguous = true,
                .unit_last = true};
    int number = kloop_sum_array(L, a->base.host.source);
    uint64_t param = (uint64_t)kloop_param(L, &p, (LoopBind){LOOP_SUMS, number});
    KRef pos = kbuild_pure(&L->walk, (KMake){K_POS, .own = QS_I64}), count = kloop_i64(L, 1);
    for (int d = 0; d < a->p.rank; d++) count = kloop_op(L, K_MUL, count, kloop_extent(L, &a->base, d));
    KRef k = kloop_op(L, K_ADD, kloop_op(L, K_MUL, pos, count), linear_index(L, a, at));
    KRef old = kbuild_emit(&L->walk, (KMake){K_LOAD, .own = QS_F64, .a = k, .b = a->guard, .imm = param});
    KRef more = op == OP_ADD ? kloop_real(L, v) : kloop_op(L, K_NEG, kloop_real(L, v), 0);
    KRef sum = kbuild_pure(&L->walk, (KMake){K_ADD, .flag = KFLAG_REASSOC, .a = old, .b = more});
    kbuild_emit(&L->walk, (KMake){K_STORE, .a = k, .b = sum, .c = a->guard, .imm = param});
    return QS_OK;
}

/* -- slices -------------------------------------------------------------------------------------------------------- */
KRef kloop_width(Loops *L, qs_dtype d) { return d == L->c->scalar_dtype ? 0 : kbuild_int(&L->walk, QS_B1, 1); }

/* The indices of the first and the last element were tested, so all elements exist. */
static qs_status load_slice(Loops *L, const Access *a, Value *out) {
    KRef at[QS_MAX_RANK];
    int64_t dims[QS_MAX_RANK];
    if (!is_element_type(L, dtype_of(a)))
        return kloop_decline(L, L->pos, "a slice of an array of %s", qdtype_info[dtype_of(a)].name);
    bool vec = ksubscript_shape(&a->p, dims) == 1;
    *out = vec ? kloop_vector(L, (int)dims[0]) : kloop_matrix(L, (int)dims[0], (int)dims[1]);
    out->f64 = kloop_width(L, dtype_of(a));
    for (int k = 0; k < out->n; k++) {
        ksubscript_at(&a->p, k, at);
        const Access e = reach_element(L, a, at);
        out->at[k] = load_element(L, &e, at, SUM_NOT);
    }
    return QS_OK;
}

static qs_status store_slice(Loops *L, const Access *a, const Value *v) {
    KRef at[QS_MAX_RANK];
    int n = (int)ksubscript_count(&a->p);
    bool column = !a->count[1] && a->sliced == 0 && a->p.rank == 2;
    bool same = v->what == WHAT_VECTOR && v->n == n && (v->cols == a->count[1] || (column && v->cols == 1));
    if (!same && v->what != WHAT_NUMBER) return kloop_decline(L, L->pos, "a slice that is set to something else");
    for (int k = 0; k < n; k++) {
        ksubscript_at(&a->p, k, at);
        const Access e = reach_element(L, a, at);
        TRY(store_element(L, &e, at, same ? v->at[k] : v->num, SUM_NOT));
    }
    return QS_OK;
}

/* -- slices of unknown length -------------------------------------------------------------------------------------- */
/* The access to the element with these indices in the dimensions of the slice. */
static Access slice_access(Loops *L, const Slice *s, const KRef *k, KRef *at) {
    ksubscript_at(&s->a.p, 0, at);
    for (int i = 0; i < s->a.spans; i++) {
        const Span *d = &s->a.span[i];
        at[d->axis] = kloop_op(L, K_ADD, d->first, kloop_op(L, K_MUL, k[i], kloop_i64(L, d->step)));
        if (qaccess_is_mapped(s->a.p.mode) && !d->all)
            at[d->axis] = map_index(L, &s->a, at[d->axis], kloop_extent(L, &s->a.base, d->axis));
    }
    return reach_element(L, &s->a, at);
}

qs_status kloop_slice_element(Loops *L, const Slice *s, const KRef *k, Value *out) {
    KRef at[QS_MAX_RANK];
    const Access e = slice_access(L, s, k, at);
    Number n = load_element(L, &e, at, SUM_NOT);
    if (!is_element_type(L, dtype_of(&s->a))) return *out = kloop_typed(L, dtype_of(&s->a), n), QS_OK;
    *out = kloop_vector(L, 1);
    return out->at[0] = n, out->f64 = kloop_width(L, dtype_of(&s->a)), QS_OK;
}

qs_status kloop_slice_set(Loops *L, const Slice *s, const KRef *k, Number v) {
    KRef at[QS_MAX_RANK];
    const Access e = slice_access(L, s, k, at);
    return store_element(L, &e, at, v, SUM_NOT);
}

/* Whether an access mode may select more elements than there are. */
static bool may_repeat(const Access *a) {
    bool all = true;
    for (int i = 0; i < a->spans; i++) all &= a->span[i].all;
    return !all && ksubscript_is_down(a->p.mode);
}

LoopLimit kloop_slice_limit(Loops *L, const Slice *s, int most) {
    LoopLimit l = {.param = (uint16_t)array_param(L, &s->a.base), .most = (uint16_t)most, .naxes = (uint8_t)s->a.spans};
    for (int i = 0; i < s->a.spans; i++) l.axis[i] = (uint8_t)s->a.span[i].axis;
    return l.any = may_repeat(&s->a), l;
}

KRef kloop_slice_bound(Loops *L, const Slice *s) {
    KRef wide = kloop_i64(L, LOOP_SMALL); /* so that the product does not wrap */
    if (s->a.spans == 1) return s->a.span[0].most;
    return kloop_op(L, K_MUL, kloop_op(L, K_MIN, s->a.span[0].most, wide), kloop_op(L, K_MIN, s->a.span[1].most, wide));
}

double kloop_slice_most(const Slice *s) {
    bool small = s->a.base.host.small && !may_repeat(&s->a);
    return !small ? 0x1p48 : s->a.spans == 1 ? LOOP_SMALL : (double)LOOP_SMALL * LOOP_SMALL;
}

int kloop_slice_param(Loops *L, const Slice *s) { return array_param(L, &s->a.base); }
const Value *kloop_slice_array(const Slice *s, bool *whole) {
    *whole = s->a.spans == s->a.p.rank && s->a.n == s->a.p.rank;
    for (int i = 0; i < s->a.spans; i++) *whole &= s->a.span[i].all;
    return &s->a.base;
}
int kloop_slice_source(const Slice *s) { return s->a.base.host.source; }
int kloop_slice_rank(const Slice *s) { return s->a.base.host.rank; }
qs_dtype kloop_slice_dtype(const Slice *s) { return dtype_of(&s->a); }
const char *kloop_slice_name(const Slice *s) { return shown_name(&s->a); }
bool kloop_slice_is_mapped(const Slice *s) { return qaccess_is_mapped(s->a.p.mode); }

static bool spans_match(const Loops *L, const Span *a, const Span *b) {
    Affine x, y;
    if (a->axis != b->axis || a->step != b->step) return false;
    if (a->first == b->first) return true;
    return kaffine_of(L->f, a->first, &x) && kaffine_of(L->f, b->first, &y) && kaffine_add(&x, &y, -1) && !x.n &&
           !x.constant;
}

bool kloop_slices_match(const Loops *L, const Slice *a, const Slice *b) {
    bool match = a->a.spans == b->a.spans && !kloop_slice_is_mapped(a) && !kloop_slice_is_mapped(b);
    for (int i = 0; i < a->a.spans && match; i++) match = spans_match(L, &a->a.span[i], &b->a.span[i]);
    return match;
}

bool kloop_is_stored(const Loops *L, int source) {
    for (int i = 0; i < L->nstored && i < LOOP_STORED; i++)
        if (L->stored[i] == source) return true;
    return L->nstored > LOOP_STORED;
}

static const Slice *keep_slice(Loops *L, const Access *a) {
    Slice *s = qarena_alloc(L->arena, sizeof *s);
    return s->a = *a, s;
}

qs_status kloop_whole_array(Loops *L, const Value *array, Value *out) {
    int rank = array->host.rank;
    Access a = {.base = *array, .p = {.mode = ACC_CHECKED, .rank = rank}, .n = rank, .spans = rank};
    a.p.name = array->name ? array->name->s : NULL;
    if (rank > 2 || !may_be_row(L, &a)) return kloop_decline(L, L->pos, "an array of many elements");
    for (int d = 0; d < rank; d++) {
        a.span[d] = (Span){.all = true, .step = 1, .along = d, .axis = d};
        a.p.item[d] = lower_span(L, &a, &a.span[d]);
    }
    find_shape(L, &a);
    return kloop_slice_row(L, keep_slice(L, &a), &a.shape, out);
}

/* -- short arrays -------------------------------------------------------------------------------------------------- */
bool kloop_is_short(Loops *L, const LoopValue *h, int *rows, int *cols) {
    int64_t extents[2] = {1, 1};
    if (h->kind != LOOP_ARRAY || h->rank > 2 || !is_element_type(L, (qs_dtype)h->dtype) || !h->contiguous) return false;
    for (int d = 0; d < h->rank; d++)
        if (kloop_peek(L, h->source, d, false) > LOOP_VECTOR_MAX) return false;
    for (int d = 0; d < h->rank; d++) extents[2 - h->rank + d] = kloop_peek(L, h->source, d, true);
    if (extents[0] > LOOP_VECTOR_MAX || extents[1] > LOOP_VECTOR_MAX) return false;
    *rows = (int)extents[0], *cols = (int)extents[1];
    return *rows * *cols > 0 && *rows * *cols <= LOOP_VECTOR_MAX && (h->rank == 1 || *rows > 1);
}

void kloop_short(Loops *L, Value *v) {
    int rows, cols;
    if (v->what != WHAT_ARRAY || !kloop_is_short(L, &v->host, &rows, &cols)) return;
    Access a = {.base = *v, .p = {.mode = ACC_CHECKED, .rank = v->host.rank}};
    KRef at[2];
    *v = kloop_matrix(L, rows, cols);
    v->host = a.base.host, v->array = kloop_i64(L, -1 - a.base.host.source);
    v->f64 = kloop_width(L, dtype_of(&a));
    v->like = a.base.host.source < LOOP_TWO ? LOOP_LIKE(a.base.host.source) : 0;
    for (int i = 0; i < v->n; i++) {
        if (a.p.rank == 2) at[0] = kloop_i64(L, i / cols);
        at[a.p.rank - 1] = kloop_i64(L, i % cols);
        v->at[i] = load_element(L, &a, at, SUM_NOT);
    }
}

/* The row `index` of a matrix that a loop iterates over; the index is inside. */
static qs_status row_of_matrix(Loops *L, const Value *v, Number index, Value *out) {
    *out = kloop_vector(L, v->cols);
    out->f64 = v->f64;
    for (int i = 0; i < out->n; i++) {
        const Number at[2] = {index, kloop_const(L, i)};
        TRY(kloop_vector_element(L, v, at, "the items", &out->at[i]));
    }
    return QS_OK;
}

static qs_status row_of_array(Loops *L, const Value *v, Number index, Value *out) {
    Access a = {.base = *v, .p = {.mode = ACC_CHECKED, .rank = 2}};
    int64_t n = kloop_peek(L, v->host.source, 1, false);
    if (n < 2 || n > LOOP_VECTOR_MAX || L->no_vectors || !is_element_type(L, dtype_of(&a)))
        return kloop_decline(L, L->pos, "a loop over rows that are long, or of %s; write for i = 0..n-1, and x[i,j]",
                             qdtype_info[dtype_of(&a)].name);
    (void)kloop_peek(L, v->host.source, 1, true);
    *out = kloop_vector(L, (int)n);
    out->f64 = kloop_width(L, dtype_of(&a));
    for (int i = 0; i < out->n; i++) {
        const KRef at[2] = {index.twin, kloop_i64(L, i)};
        out->at[i] = load_element(L, &a, at, SUM_NOT);
    }
    return QS_OK;
}

qs_status kloop_element(Loops *L, const Value *v, Number index, Value *out) {
    Access a = {.base = *v, .p = {.mode = ACC_CHECKED, .rank = 1}};
    *out = (Value){.what = WHAT_NUMBER};
    if (v->what == WHAT_NUMBER) return *out = *v, QS_OK;
    if (v->what == WHAT_CELL) return *out = kloop_visited_item(L, v, index.twin), QS_OK;
    if (v->what == WHAT_VECTOR && v->cols) return row_of_matrix(L, v, index, out);
    if (v->what == WHAT_ARRAY && v->host.rank == 2) return row_of_array(L, v, index, out);
    if (v->what == WHAT_VECTOR) return kloop_vector_element(L, v, &index, "the items", &out->num);
    return out->num = load_element(L, &a, &index.twin, SUM_NOT), QS_OK;
}

/* -- statements ---------------------------------------------------------------------------------------------------- */
/* Finds the cell of an item c[k]. */
static qs_status find_cell(Loops *L, Node *n, Value *cell, bool *found) {
    Node *base = n->u.index.base;
    *found = false;
    if (n->u.index.at.n != 1 || base->kind != N_IDENT || !base->u.ident.sym) return QS_OK;
    TRY(kloop_read(L, base->u.ident.sym, cell));
    *found = cell->what == WHAT_CELL;
    if (*found) cell->name = base->u.ident.sym->name;
    return L->pos = n->pos, QS_OK;
}

/* Finds the dictionary of an entry d["name"], which is compiled as the field d.name.  *name NULL: it is no such entry.
 */
static qs_status find_entry(Loops *L, Node *n, Value *object, Str **name) {
    Node *base = n->u.index.base, *key = n->u.index.at.n == 1 ? n->u.index.at.at[0] : NULL;
    *name = key && key->kind == N_STR ? (Str *)(uintptr_t)key->u.str : NULL;
    if (!*name) return QS_OK;
    if (base->kind == N_IDENT && base->u.ident.sym) TRY(kloop_read(L, base->u.ident.sym, object));
    else TRY(kloop_expr(L, base, object));
    L->pos = n->pos;
    bool entry = object->what == WHAT_OBJECT && object->host.has_keys;
    return entry ? QS_OK : kloop_decline(L, n->pos, "an entry of something that is no dictionary");
}

static qs_status update_entry(Loops *L, Node *target, const Value *object, Str *name, Op op, Node *value) {
    Value v, old, result;
    TRY(kloop_expr(L, value, &v));
    L->pos = target->pos;
    TRY(kloop_field(L, object, name, &old));
    if (old.what != WHAT_NUMBER) return kloop_decline_value(L, &old);
    TRY(kloop_operator(L, op, &old, &v, &result));
    return kloop_set_field(L, object, name, &result);
}

static qs_status item_index(Loops *L, Node *target, Value *at) {
    if (target->u.index.base->u.ident.sym->mods.access) return kloop_decline(L, L->pos, "a cell with an access mode");
    TRY(kloop_expr(L, target->u.index.at.at[0], at));
    return L->pos = target->pos, QS_OK;
}

static qs_status store_item(Loops *L, Node *target, const Value *cell, const Value *v) {
    Value at;
    TRY(item_index(L, target, &at));
    return kloop_list_store(L, cell, &at, v);
}

static qs_status update_item(Loops *L, Node *target, const Value *cell, Op op, Node *value) {
    Value at, v, old, result;
    TRY(item_index(L, target, &at));
    TRY(kloop_expr(L, value, &v));
    L->pos = target->pos;
    TRY(kloop_list_load(L, cell, &at, &old));
    TRY(kloop_operator(L, op, &old, &v, &result));
    return kloop_list_store(L, cell, &at, &result);
}

static qs_status load_masked(Loops *L, Access *a, Value *out) {
    if (a->text || a->written != ACC_DEFAULT)
        return kloop_decline(L, L->pos, "a mask of a string, or of an array with an access mode");
    if (a->mask.what == WHAT_TRUTHS) kloop_short(L, &a->base);
    return kloop_mask(L, &a->base, &a->mask, out);
}

qs_status kloop_load(Walk *w, Node *n, Value *out) {
    Loops *L = (Loops *)w;
    Access a;
    KRef at[QS_MAX_RANK];
    Value v = {.what = WHAT_NUMBER};
    Value cell, object;
    Str *name;
    bool is_item;
    TRY(find_entry(L, n, &object, &name));
    if (name) return kloop_field(L, &object, name, out);
    TRY(find_cell(L, n, &cell, &is_item));
    if (is_item) return kloop_item(L, &cell, n->u.index.at.at[0], out);
    TRY(access_of(L, n, NULL, &a));
    if (a.mask.what) return load_masked(L, &a, out);
    if (a.part) return kloop_vector_slice(L, &a.base, a.sub, a.p.name, out);
    if (a.base.what == WHAT_VECTOR) {
        TRY(kloop_vector_element(L, &a.base, a.index, a.p.name, &v.num));
        return *out = v, QS_OK;
    }
    TRY(lower_indices(L, &a));
    if (a.spans) return kloop_slice_row(L, keep_slice(L, &a), &a.shape, out);
    if (a.count[0]) return load_slice(L, &a, out);
    ksubscript_at(&a.p, 0, at);
    if (a.base.what == WHAT_ROW) TRY(kloop_row_element(L, a.base.row, at, &v.num));
    else v.num = load_element(L, &a, at, SUM_NOT);
    if (a.text) v.what = WHAT_CHAR;
    return *out = v, QS_OK;
}

Number kloop_text_length(Loops *L, const Value *text) {
    Value bytes = *text;
    if (text->text) return kloop_const(L, (double)text->text->len);
    bytes.what = WHAT_ARRAY;
    return kloop_from_int(L, kloop_extent(L, &bytes, 0), 0, 0x1p48);
}

/* x[mask] = to */
static qs_status store_masked(Loops *L, const Access *a, const Value *to) {
    Value whole;
    if (to->what != WHAT_NUMBER || to->num.kind == LOOP_COMPLEX || a->base.what != WHAT_ARRAY || a->written)
        return kloop_decline(L, L->pos, "elements of %s that a mask selects are changed; write a loop with an if",
                             shown_name(a));
    TRY(may_store(L, a, false));
    TRY(kloop_whole_array(L, &a->base, &whole));
    return kloop_row_store_masked(L, &whole, &a->mask, to->num);
}

/* v[k] = to, or v[…] = to for a slice, where v is a variable. */
static qs_status patch_vector(Loops *L, Node *target, const Access *a, const Value *to) {
    const Node *base = target->u.index.base;
    Var *v = base->kind == N_IDENT ? kloop_var(L, base->u.ident.sym) : NULL;
    Value patched;
    bool item = !v && a->base.host.kind == LOOP_ITEM && a->base.num.v && base->kind == N_INDEX;
    if (item && !a->mask.what && !a->part && to->what == WHAT_NUMBER) {
        TRY(kloop_vector_patch(L, &a->base, a->index, a->p.name, to->num, &patched));
        return kloop_list_patch(L, &a->base, &patched);
    }
    if (!v) return kloop_decline(L, L->pos, "an element of a vector that others see is set");
    if (v->bound) TRY(kloop_unbind(L, v));
    if (a->mask.what) {
        TRY(kloop_vector_set_masked(L, &a->base, &a->mask, to, &patched));
        return kloop_patch(L, v, &patched);
    }
    if (!a->part && to->what != WHAT_NUMBER) return kloop_decline_value(L, to);
    if (!a->part && to->num.kind == LOOP_COMPLEX)
        return kloop_decline(L, L->pos, "%s cannot hold complex numbers", shown_name(a));
    if (a->part) TRY(kloop_vector_set(L, &a->base, a->sub, a->p.name, to, &patched));
    else TRY(kloop_vector_patch(L, &a->base, a->index, a->p.name, to->num, &patched));
    return kloop_patch(L, v, &patched);
}

/* Converts a value stored in an array of bool first, because its error precedes an index error. */
static Value as_held(Loops *L, const Access *a, const Value *v) {
    Value held = *v;
    bool truth = a->base.what == WHAT_ARRAY && dtype_of(a) == QS_B1 && v->what == WHAT_NUMBER;
    if (truth && v->num.kind != LOOP_COMPLEX) held.num = kloop_bool(to_truth(L, v->num));
    return held;
}

qs_status kloop_store(Walk *w, Node *target, const Value *v) {
    Loops *L = (Loops *)w;
    Access a;
    KRef at[QS_MAX_RANK];
    Value cell, object;
    Str *name;
    bool is_item;
    TRY(find_entry(L, target, &object, &name));
    if (name) return kloop_set_field(L, &object, name, v);
    TRY(find_cell(L, target, &cell, &is_item));
    if (is_item) return store_item(L, target, &cell, v);
    TRY(target_of(L, target, v, &a));
    Value held = as_held(L, &a, v);
    if (a.mask.what && a.base.what != WHAT_VECTOR) return store_masked(L, &a, v);
    if (a.base.what != WHAT_VECTOR) TRY(lower_indices(L, &a));
    if (a.spans) TRY(may_store(L, &a, false));
    if (a.spans) return kloop_row_store(L, keep_slice(L, &a), &a.shape, &held);
    if (a.count[0]) kloop_short(L, &held);
    if (a.count[0]) return store_slice(L, &a, &held);
    if (a.base.what == WHAT_VECTOR) return patch_vector(L, target, &a, v);
    if (v->what != WHAT_NUMBER) return kloop_decline_value(L, v);
    ksubscript_at(&a.p, 0, at);
    return store_element(L, &a, at, held.num, SUM_NOT);
}

static qs_status update_row(Loops *L, const Access *a, Op op, const Value *v) {
    Value old, result;
    const Slice *s = keep_slice(L, a);
    TRY(may_store(L, a, false));
    if (dtype_of(a) == QS_I64 || dtype_of(a) == QS_B1)
        return kloop_decline(L, L->pos, "an update of a slice of %s; write x[…] = x[…] + …",
                             qdtype_info[dtype_of(a)].name);
    TRY(kloop_slice_row(L, s, &a->shape, &old));
    TRY(kloop_operator(L, op, &old, v, &result));
    return kloop_row_store(L, s, &a->shape, &result);
}

static qs_status update_slice(Loops *L, const Access *a, Op op, const Value *v) {
    Value old, result;
    TRY(load_slice(L, a, &old));
    TRY(kloop_operator(L, op, &old, v, &result));
    return store_slice(L, a, &result);
}

static SumKind sum_kind(Loops *L, const Access *a, Op op, Number v) {
    qs_dtype d = dtype_of(a);
    if ((op != OP_ADD && op != OP_SUB) || !a->base.host.contiguous || v.kind == LOOP_COMPLEX) return SUM_NOT;
    if (qdtype_is_real(d)) return SUM_REAL;
    if (!qdtype_is_int(d) || qdtype_size(d) > 4 || !kloop_twin(L, v)) return SUM_NOT;
    double least = op == OP_ADD ? v.lo : -v.hi, most = op == OP_ADD ? v.hi : -v.lo;
    return least >= 0 ? SUM_UP : most <= 0 ? SUM_DOWN : SUM_NOT;
}

/* Updates an element of 64-bit integers as a whole array is updated: it wraps, and keeps all digits. */
static Number update_int64(Loops *L, Op op, Number old, Number v) {
    KBuild b = kbuild_rows(&L->walk);
    Elem e = kelem_operator(op);
    KRef integral = kloop_as_int(L, v);
    if (integral) return kloop_wide(L, kelem_real(b, e, QS_I64, (KRef[]){old.v, integral}).re);
    KRef r = kelem_update(b, e, QS_I64, old.v, kloop_real(L, v), QS_F64);
    if (!v.is_int) return kloop_wide(L, r);
    KRef exact = kelem_real(b, e, QS_I64, (KRef[]){old.v, v.twin}).re;
    return kloop_wide(L, kbuild_pure(&L->walk, (KMake){K_SELECT, .a = v.is_int, .b = exact, .c = r}));
}

static bool is_int64_update(const Access *a, Op op, Number v) {
    bool arithmetic = op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_PWMUL;
    return arithmetic && dtype_of(a) == QS_I64 && v.kind != LOOP_COMPLEX;
}

/* Refuses a number with more bits than the elements have, and converts other ones to their type. */
static qs_status narrow_bits(Loops *L, Op op, qs_dtype d, Number *v) {
    int bits = 8 * (int)qdtype_size(d);
    bool is_signed = d == QS_I8 || d == QS_I16 || d == QS_I32;
    Number neutral = kloop_wide(L, kloop_i64(L, op == OP_BITAND ? -1 : 0)), integral;
    TRY(kloop_bits(L, op, *v, neutral, &integral));
    KRef n = kloop_as_int(L, integral), all = kloop_i64(L, (int64_t)1 << bits);
    KRef half = kloop_i64(L, (int64_t)1 << (bits - 1));
    if (!n) return kloop_decline(L, L->pos, "bits of a number beside elements");
    KRef least = kloop_op(L, K_LE, kloop_i64(L, -((int64_t)1 << (bits - 1))), n);
    char text[96];
    snprintf(text, sizeof text, KELEM_OTHER_BITS, kelem_name(kelem_operator(op)), "%0", bits, qdtype_info[d].name);
    kloop_fail_unless(L, kloop_op(L, K_AND, least, kloop_op(L, K_LT, n, all)), QS_EVALUE, qstr_cname(L->c, text)->s, n,
                      0);
    KRef low = kloop_op(L, is_signed ? K_LT : K_LE, is_signed ? n : kloop_i64(L, 0), is_signed ? half : n);
    KRef other = kloop_op(L, is_signed ? K_SUB : K_ADD, n, all);
    return *v = kloop_wide(L, kbuild_pure(&L->walk, (KMake){K_SELECT, .a = low, .b = n, .c = other})), QS_OK;
}

qs_status kloop_update(Walk *w, Node *target, Op op, Node *value) {
    Loops *L = (Loops *)w;
    Access a;
    KRef at[QS_MAX_RANK];
    Value v, old = {.what = WHAT_NUMBER}, result, cell, object;
    Str *name;
    bool is_item;
    TRY(find_entry(L, target, &object, &name));
    if (name) return update_entry(L, target, &object, name, op, value);
    TRY(find_cell(L, target, &cell, &is_item));
    if (is_item) return update_item(L, target, &cell, op, value);
    TRY(target_of(L, target, NULL, &a));
    if (a.mask.what)
        return kloop_decline(L, L->pos, "an update of elements that a mask selects; write a loop with an if");
    TRY(kloop_expr(L, value, &v));
    L->pos = target->pos;
    if (a.base.what != WHAT_VECTOR) TRY(lower_indices(L, &a));
    if (a.spans) return update_row(L, &a, op, &v);
    if (a.count[0]) return update_slice(L, &a, op, &v);
    if (a.base.what == WHAT_VECTOR) {
        if (a.part) TRY(kloop_vector_slice(L, &a.base, a.sub, a.p.name, &old));
        else TRY(kloop_vector_element(L, &a.base, a.index, a.p.name, &old.num));
        TRY(kloop_operator(L, op, &old, &v, &result));
        return patch_vector(L, target, &a, &result);
    }
    if (v.what != WHAT_NUMBER) return kloop_decline_value(L, &v);
    bool bits = qop_is_bitwise(op);
    if (dtype_of(&a) == QS_U64 || (bits && dtype_of(&a) == QS_I64))
        return kloop_decline(L, L->pos, "an update of elements of %s; write x[i] = …", qdtype_info[dtype_of(&a)].name);
    ksubscript_at(&a.p, 0, at);
    SumKind sum = sum_kind(L, &a, op, v.num);
    bool summed = kloop_sum_array(L, a.base.host.source) >= 0;
    if (summed && !sum) return kloop_decline(L, L->pos, "more than sums of %s", shown_name(&a));
    if (summed) return add_to_copy(L, &a, at, op, v.num);
    old.num = load_element(L, &a, at, sum);
    if (bits && qdtype_is_int(dtype_of(&a))) TRY(narrow_bits(L, op, dtype_of(&a), &v.num));
    if (is_int64_update(&a, op, v.num)) return store_element(L, &a, at, update_int64(L, op, old.num, v.num), sum);
    TRY(kloop_operator(L, op, &old, &v, &result));
    return store_element(L, &a, at, result.num, sum);
}
