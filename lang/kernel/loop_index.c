/* loop_index.c -- x[i,j]: single elements, read, written and updated as the host does. */
#include "lang/kernel/looping.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    Value base;
    const char *name;
    AccessMode mode;
    int rank, n;
    Number index[QS_MAX_RANK];
    KRef at[QS_MAX_RANK], guard; /* places, and what must hold for them to exist; 0: they do */
    bool plain;                  /* no place was mapped to another */
} Access;

static qs_dtype dtype_of(const Access *a) { return (qs_dtype)a->base.host.dtype; }
static bool is_mapped(AccessMode m) { return m == ACC_MIRROR || m == ACC_CIRCULAR || m == ACC_CLAMPED; }

static int array_param(Loops *L, const Value *array) {
    const LoopValue *h = &array->host;
    KParam p = {.name = array->sym->name, .kind = KP_ARRAY, .dtype = h->dtype, .rank = h->rank,
                .contiguous = h->contiguous, .unit_last = h->unit_last};
    return kloop_param(L, &p, (LoopBind){LOOP_SOURCE, h->source});
}

KRef kloop_extent(Loops *L, const Value *array, int axis) {
    uint64_t dim = (uint64_t)array_param(L, array) << 8 | (uint64_t)axis;
    return kir_add(L->f, K_DIM, QS_I64, 0, 0, 0, 0, dim, L->pos);
}

/* -- places ------------------------------------------------------------------------------------------------------ */
/* Rounded toward zero, downward where a mode gives negative places a meaning; `shown` is what messages call it. */
static KRef whole_index(Loops *L, const Access *a, Number n, KRef *shown) {
    char text[160];
    bool down = is_mapped(a->mode) || a->mode == ACC_SAFE;
    KRef t = n.kind == LOOP_INT && !is_mapped(a->mode) ? n.v : kloop_twin(L, n);
    if (t) return *shown = t;
    KRef x = kloop_real(L, n);
    snprintf(text, sizeof text, "an index of %.80s is not a number", a->name);
    kloop_fail_unless(L, kloop_op(L, K_EQ, x, x), QS_EINDEX, text, 0, 0);
    *shown = kir_fold(L->f, K_MATH, QS_B1, down ? MF_floor : MF_trunc, x, 0, 0, L->pos);
    t = kloop_cast(L, *shown, QS_I64);
    return kloop_op(L, K_MIN, kloop_op(L, K_MAX, t, kloop_i64(L, INT64_MIN / 4)), kloop_i64(L, INT64_MAX / 4));
}

static void must_be_inside(Loops *L, const Access *a, KRef at, KRef n, KRef shown, int axis) {
    char text[160];
    snprintf(text, sizeof text, "index %%0 is outside dimension %d of %.80s (size %%1)", a->rank == 1 ? 1 : axis,
             a->name);
    kloop_inside(L, at, n, shown, text);
}

static KRef place(Loops *L, Access *a, Number index, KRef n, int axis) {
    KRef shown, at = whole_index(L, a, index, &shown);
    if (is_mapped(a->mode)) {
        a->plain = false;
        must_be_inside(L, a, kloop_i64(L, 0), n, shown, axis);
        return kir_fold(L->f, K_BOUND, QS_I64, (uint16_t)a->mode, at, n, 0, L->pos);
    }
    if (a->mode != ACC_SAFE) return must_be_inside(L, a, at, n, shown, axis), at;
    KRef in = kloop_op(L, K_INB, at, n);
    a->guard = a->guard ? kloop_op(L, K_AND, a->guard, in) : in;
    return at;
}

/* A vec is a matrix of one row when it is given two indices. */
static qs_status places(Loops *L, Access *a) {
    bool row = a->rank == 1 && a->n == 2;
    if (a->n != a->rank && !row)
        return kloop_decline(L, L->pos, "%s has %d dimension%s, but %d ind%s given", a->name, a->rank,
                             a->rank == 1 ? "" : "s", a->n, a->n == 1 ? "ex is" : "ices are");
    a->plain = true;
    if (row) {
        Access first = *a;
        first.rank = 2;
        place(L, &first, a->index[0], kloop_i64(L, 1), 0);
        if (first.guard || !first.plain) return kloop_decline(L, L->pos, "two indices of a vec with an access mode");
    }
    for (int d = 0; d < a->rank; d++) a->at[d] = place(L, a, a->index[d + row], kloop_extent(L, &a->base, d), d);
    return QS_OK;
}

static KRef linear(Loops *L, const Access *a) {
    const LoopValue *h = &a->base.host;
    uint64_t param = (uint64_t)array_param(L, &a->base) << 8;
    KRef r = 0;
    for (int d = 0; d < a->rank; d++) {
        KRef term = a->at[d];
        if (h->contiguous && d > 0) r = kloop_op(L, K_MUL, r, kloop_extent(L, &a->base, d));
        else if (!h->contiguous && !(h->unit_last && d == a->rank - 1))
            term = kloop_op(L, K_MUL, term,
                            kir_add(L->f, K_STRIDE, QS_I64, 0, 0, 0, 0, param | (uint64_t)d, L->pos));
        r = r ? kloop_op(L, K_ADD, r, term) : term;
    }
    return r;
}

static void touched(Loops *L, const Access *a, bool store, bool sum) {
    Touch t = {.param = array_param(L, &a->base), .source = a->base.host.source, .rank = a->rank, .store = store,
               .plain = a->plain, .sum = sum, .pos = L->pos};
    for (int d = 0; d < a->rank; d++) t.at[d] = a->at[d];
    qmem_grow(L->c, &L->touches, &L->cap_touches, L->ntouches, sizeof t);
    L->touches[L->ntouches++] = t;
}

/* -- what is accessed -------------------------------------------------------------------------------------------- */
static qs_status base_of(Loops *L, Node *n, Access *a) {
    Node *base = n->u.index.base;
    if (base->kind != N_IDENT) return kloop_decline(L, n->pos, "elements of something that has no name");
    TRY(kloop_read(L, base->u.ident.sym, &a->base));
    a->name = base->u.ident.name->s;
    if (a->base.what != WHAT_ARRAY) return kloop_decline(L, n->pos, "%s is no array of numbers", a->name);
    if (qdtype_is_complex(dtype_of(a)) || dtype_of(a) == QS_U64)
        return kloop_decline(L, n->pos, "elements of %s are %s", a->name, qdtype_info[dtype_of(a)].name);
    TypeMods mods = base->u.ident.sym->mods;
    if (mods.flags & (MOD_HWTEX_LINEAR | MOD_HWTEX_NEAREST))
        return kloop_decline(L, n->pos, "%s is a texture", a->name);
    a->mode = (AccessMode)mods.access;
    a->rank = a->base.host.rank, a->n = n->u.index.at.n;
    return QS_OK;
}

static qs_status access_of(Loops *L, Node *n, Access *a) {
    *a = (Access){0};
    TRY(base_of(L, n, a));
    if (a->n > QS_MAX_RANK) return kloop_decline(L, n->pos, "more than %d indices", QS_MAX_RANK);
    for (int i = 0; i < a->n; i++) TRY(kloop_number(L, n->u.index.at.at[i], &a->index[i]));
    L->pos = n->pos;
    return QS_OK;
}

/* -- elements ---------------------------------------------------------------------------------------------------- */
static Number from_memory(Loops *L, KRef v, qs_dtype d) {
    static const struct { double lo, hi; } spans[QS_NDTYPES] = {
        [QS_I8] = {INT8_MIN, INT8_MAX}, [QS_U8] = {0, UINT8_MAX}, [QS_I16] = {INT16_MIN, INT16_MAX},
        [QS_U16] = {0, UINT16_MAX}, [QS_I32] = {INT32_MIN, INT32_MAX}, [QS_U32] = {0, UINT32_MAX},
        [QS_I64] = {-0x1p63, 0x1p63}};
    if (d == QS_B1) return kloop_bool(v);
    if (qdtype_is_real(d)) return kloop_num(kloop_cast(L, v, QS_F64));
    return kloop_int(kloop_cast(L, v, QS_I64), spans[d].lo, spans[d].hi);
}

static Number load(Loops *L, const Access *a, bool sum) {
    qs_dtype d = dtype_of(a);
    touched(L, a, false, sum);
    KRef at = linear(L, a);
    KRef v = kir_add(L->f, K_LOAD, kir_value_dtype(d), 0, at, a->guard, 0, (uint64_t)array_param(L, &a->base), L->pos);
    return from_memory(L, v, d);
}

static KRef to_memory(Loops *L, Number n, qs_dtype d) {
    if (d == QS_B1) return kloop_truth(L, n);
    KRef v = n.kind == LOOP_INT ? n.v : qdtype_is_int(d) && kloop_twin(L, n) ? kloop_twin(L, n) : kloop_real(L, n);
    return kloop_cast(L, v, kir_value_dtype(d));
}

static qs_status store(Loops *L, const Access *a, Number n, bool sum) {
    qs_dtype d = dtype_of(a);
    if (!a->base.host.writable || a->base.mods.flags & MOD_CONST)
        return kloop_decline(L, L->pos, "%s cannot be written", a->name);
    if (d == QS_F16 || d == QS_BF16) return kloop_decline(L, L->pos, "%s holds %s", a->name, qdtype_info[d].name);
    touched(L, a, true, sum);
    kir_add(L->f, K_STORE, QS_B1, 0, linear(L, a), to_memory(L, n, d), a->guard, (uint64_t)array_param(L, &a->base),
            L->pos);
    return QS_OK;
}

/* x[…] += v in the chunk's own copy of x. */
static qs_status add_to_copy(Loops *L, const Access *a, Op op, Number v) {
    KParam p = {.name = qstr_cname(L->c, "sums"), .kind = KP_ARRAY, .dtype = QS_F64, .rank = 1, .contiguous = true,
                .unit_last = true};
    int number = kloop_sum_array(L, a->base.host.source);
    uint64_t param = (uint64_t)kloop_param(L, &p, (LoopBind){LOOP_SUMS, number});
    KRef pos = kir_add(L->f, K_POS, QS_I64, 0, 0, 0, 0, 0, L->pos), count = kloop_i64(L, 1);
    for (int d = 0; d < a->rank; d++) count = kloop_op(L, K_MUL, count, kloop_extent(L, &a->base, d));
    KRef at = kloop_op(L, K_ADD, kloop_op(L, K_MUL, pos, count), linear(L, a));
    KRef old = kir_add(L->f, K_LOAD, QS_F64, 0, at, a->guard, 0, param, L->pos);
    KRef sum = kloop_op(L, op == OP_ADD ? K_ADD : K_SUB, old, kloop_real(L, v));
    kir_add(L->f, K_STORE, QS_B1, 0, at, sum, a->guard, param, L->pos);
    return QS_OK;
}

qs_status kloop_load(Loops *L, Node *n, Number *out) {
    Access a;
    TRY(access_of(L, n, &a));
    TRY(places(L, &a));
    return *out = load(L, &a, false), QS_OK;
}

qs_status kloop_store(Loops *L, Node *target, Number v) {
    Access a;
    TRY(access_of(L, target, &a));
    TRY(places(L, &a));
    return store(L, &a, v, false);
}

qs_status kloop_update(Loops *L, Node *target, Op op, Node *value) {
    Access a;
    Number v, sum;
    TRY(access_of(L, target, &a));
    TRY(kloop_number(L, value, &v));
    L->pos = target->pos;
    TRY(places(L, &a));
    bool adds = (op == OP_ADD || op == OP_SUB) && a.base.host.contiguous && qdtype_is_real(dtype_of(&a));
    if (adds && kloop_sum_array(L, a.base.host.source) >= 0) return add_to_copy(L, &a, op, v);
    TRY(kloop_binary(L, op, load(L, &a, adds), v, &sum));
    return store(L, &a, sum, adds);
}
