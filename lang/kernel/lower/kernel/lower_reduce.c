/* lower_reduce.c -- lowers reductions of an array to one number: sum, mean, norm, min, max, dot product. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/kernel/lower_builtin_table.h"
#include "vm/base/reduction.h"

#include <math.h>

/* Converts integers to scalars before they are summed, so that the sum does not wrap. */
static Num as_scalar(Lower *L, Num x) {
    return klnum_is_weak(x) || qdtype_is_real(x.dtype) || qdtype_is_complex(x.dtype)
               ? x
               : klnum_cast(L, x, L->c->scalar_dtype);
}

static qs_status square_of(Lower *L, Num a, Num *out) {
    if (!qdtype_is_complex(a.dtype)) return klnum_binary(L, OP_MUL, a, a, out);
    KRef re = klnum_bin(L, K_MUL, a.re.ref, a.re.ref), im = klnum_bin(L, K_MUL, a.im.ref, a.im.ref);
    return *out = klnum_strong(klnum_bin(L, K_ADD, re, im), qdtype_real_of(a.dtype)), QS_OK;
}

static Op reduce_op(const ReduceInfo *r) {
    static const uint8_t ops[COMBINE__COUNT] = {
#define REDUCTION(...)
#define COMBINE(id, operator, identity) [COMBINE_##id] = OP_##operator,
#include "vm/base/reduce.def"
    };
    return (Op)ops[r->combine];
}

static Num reduce_start(Lower *L, const ReduceInfo *r) {
    if (r->lanes == LANES_BOOL) return klnum_strong(klnum_int(L, QS_B1, r->empty != 0), QS_B1);
    return klbuiltin_integer(L, r->combine == COMBINE_MUL);
}

/* Whether integers are converted to scalars first. */
static bool reduces_scalars(const ReduceInfo *r) {
    return r->lanes == LANES_FLOAT || r->finish == FINISH_ROOT || r->map == MAP_ABS || r->map == MAP_EXP;
}

/* An element and what its map needs: the centre, the index of the element, and one that stands for no index. */
typedef struct {
    Num x, centre, index, none;
} TermIn;

static qs_status reduce_term(Lower *L, const ReduceInfo *r, const TermIn *t, Num *out) {
    Num x = reduces_scalars(r) ? as_scalar(L, t->x) : t->x, same;
    switch ((ReduceMap)r->map) {
    case MAP_SQUARE: return square_of(L, x, out);
    case MAP_ABS: return *out = klnum_apply(L, EL_abs, &x), QS_OK;
    case MAP_EXP: TRY(klnum_binary(L, OP_SUB, x, t->centre, &x)); return *out = klnum_apply(L, EL_exp, &x), QS_OK;
    case MAP_INDEX:
        TRY(klnum_binary(L, OP_EQ, x, t->centre, &same));
        return klnum_choose(L, (Num[]){same, t->index, t->none}, NULL, out);
    default: break;
    }
    if (r->map == MAP_TRUTH) x = klnum_strong(klnum_truth(L, x), QS_B1);
    else if (x.dtype == QS_B1 && r->lanes != LANES_SAME) x = klnum_cast(L, x, QS_I32);
    return *out = x, QS_OK;
}

/* The sum of integers is exact, but a scalar, as on the host: an array made of it accepts any number. */
static void scalar_of_ints(Lower *L, Num n, Val *out) {
    klval_number(L, n, out);
    if (qdtype_is_int(n.dtype) && !klnum_is_weak(n)) out->made.set = MADE_ANY;
}

/* Converts the result of the centre's reduction for the map. */
static qs_status reduce_centre(Lower *L, const ReduceInfo *r, const Val *v, Num *out) {
    Num zero = klbuiltin_integer(L, 0), finite;
    *out = klval_num(v, 0);
    if (r->map != MAP_EXP) return QS_OK;
    *out = as_scalar(L, *out);
    TRY(klnum_binary(L, OP_SUB, *out, *out, &finite));
    TRY(klnum_binary(L, OP_EQ, finite, zero, &finite));
    return klnum_choose(L, (Num[]){finite, *out, zero}, NULL, out);
}

/* of: element type of the argument. */
static qs_status reduce_finish(Lower *L, const ReduceInfo *r, qs_dtype of, Num sum, Num count, Num centre, Val *out) {
    if (r->finish == FINISH_LOG) {
        sum = klnum_apply(L, EL_log, &sum);
        TRY(klnum_binary(L, OP_ADD, sum, centre, &sum));
    }
    if (r->map == MAP_INDEX) {
        Num none;
        TRY(klnum_binary(L, OP_EQ, sum, count, &none));
        TRY(klnum_choose(L, (Num[]){none, klbuiltin_integer(L, 0), sum}, NULL, &sum));
        return scalar_of_ints(L, sum, out), QS_OK;
    }
    bool counted = of == QS_B1 && r->lanes == LANES_WIDE;
    if (r->finish == FINISH_MEAN) TRY(klnum_binary(L, OP_DIV, sum, count, &sum));
    if (r->finish == FINISH_ROOT) sum = klnum_apply(L, EL_sqrt, &sum);
    if (counted || (r->lanes == LANES_REAL && !reduces_scalars(r))) return scalar_of_ints(L, sum, out), QS_OK;
    return klval_number(L, sum, out), QS_OK;
}

static qs_status reduce_small(Lower *L, const BuiltinCall *c, const Val *v, Val *out) {
    const ReduceInfo *r = &qreduction_info[c->imm];
    int64_t n = klval_count(v);
    Num sum = reduce_start(L, r), term, count = klbuiltin_integer(L, (double)n);
    TermIn t = {.none = count};
    if (!n && r->refuses_empty) return klbuiltin_refuse(L, c, "of an empty array");
    if (!n && r->finish == FINISH_LOG) return klval_number(L, klnum_literal(L, r->empty, false), out), QS_OK;
    if (r->centre) {
        Val centre;
        TRY(reduce_small(L, &(BuiltinCall){.name = c->name, .site = c->site, .imm = r->centre}, v, &centre));
        TRY(reduce_centre(L, r, &centre, &t.centre));
    }
    for (int64_t i = 0; i < n; i++) {
        t.x = klval_num(v, i), t.index = klbuiltin_integer(L, (double)i);
        TRY(reduce_term(L, r, &t, &term));
        if (i == 0) sum = term;
        else TRY(klnum_binary(L, reduce_op(r), sum, term, &sum));
    }
    return reduce_finish(L, r, (qs_dtype)v->dtype, sum, count, t.centre, out);
}

/* Arrays that are not small are reduced by loops, one for each dimension. */
typedef struct {
    KRef at[QS_MAX_RANK], n[QS_MAX_RANK];
    KRef count;
} Elements;

static void open_elements(Lower *L, const Val *array, Elements *w) {
    Val flat = *array, *v = &flat; /* including the dimensions of its entries */
    flat.inner = 0;
    KRef zero = klnum_int(L, QS_I64, 0), one = klnum_int(L, QS_I64, 1), *n = w->n;
    w->count = one;
    for (int d = 0; d < v->rank; d++) {
        n[d] = klidx_dim(L, v, v->rank == 1 ? 1 : d);
        w->count = klnum_bin(L, K_MUL, w->count, n[d]);
    }
    for (int d = 0; d < v->rank; d++) {
        KRef last = klnum_bin(L, K_SUB, n[d], one);
        w->at[d] = klnum_emit(L, (KMake){K_FOR, .own = QS_I64, .a = zero, .b = last, .c = one});
    }
}

static KRef linear_index(Lower *L, const Elements *w, int rank) {
    KRef k = w->at[0];
    for (int d = 1; d < rank; d++) k = klnum_bin(L, K_ADD, klnum_bin(L, K_MUL, k, w->n[d]), w->at[d]);
    return k;
}

static qs_dtype walk_dtype(Lower *L, const ReduceInfo *r, const Val *v) {
    if (r->lanes == LANES_BOOL) return QS_B1;
    if (r->lanes == LANES_INDEX) return QS_I64;
    qs_dtype d = kir_value_dtype((qs_dtype)v->dtype);
    if (reduces_scalars(r) && !qdtype_is_real(d)) return L->c->scalar_dtype;
    return d == QS_B1 ? QS_I32 : d;
}

/* The start value: for an extreme of floats NaN, which K_MIN and K_MAX ignore; for one of integers the worst value. */
static KRef walk_start(Lower *L, const ReduceInfo *r, qs_dtype d) {
    if (r->lanes == LANES_INDEX) return klnum_const(L, d, INFINITY);
    if (r->lanes != LANES_SAME) return klnum_ref(L, reduce_start(L, r), d);
    return klnum_const(L, d, qdtype_is_real(d) ? NAN : qreduction_identity((Combine)r->combine));
}

static qs_status reduce_array(Lower *L, const BuiltinCall *c, const Val *v, Val *out) {
    const ReduceInfo *r = &qreduction_info[c->imm];
    Elements w;
    Num sum, x;
    TermIn t = {.none = klnum_strong(klnum_int(L, QS_I64, INT64_MAX), QS_I64)};
    qs_dtype d = walk_dtype(L, r, v);
    bool complex = qdtype_is_complex((qs_dtype)v->dtype), ordered = r->lanes == LANES_SAME || r->lanes == LANES_INDEX;
    if (ordered && (complex || v->dtype == QS_B1)) return klbuiltin_refuse(L, c, "wants an array of real numbers");
    if (complex) return klbuiltin_refuse(L, c, "of a complex array of unknown size is not available in kernels");
    if (r->centre) {
        Val centre;
        TRY(reduce_array(L, &(BuiltinCall){.name = c->name, .site = c->site, .imm = r->centre}, v, &centre));
        TRY(reduce_centre(L, r, &centre, &t.centre));
    }
    KRef acc = kbuild_local(&L->walk, walk_start(L, r, d));
    open_elements(L, v, &w);
    TRY(klidx_element(L, v, w.at, v->rank, c->name, &t.x));
    t.index = klnum_strong(linear_index(L, &w, v->rank), QS_I64);
    TRY(reduce_term(L, r, &t, &x));
    KRef old = kbuild_get(&L->walk, acc);
    if (ordered) sum = klnum_strong(klnum_bin(L, kbuild_combine((Combine)r->combine), old, klnum_ref(L, x, d)), d);
    else TRY(klnum_binary(L, reduce_op(r), klnum_strong(old, d), x, &sum));
    kbuild_set(&L->walk, acc, klnum_ref(L, sum, d));
    kbuild_end_loops(&L->walk, v->rank);
    Num count = r->map == MAP_INDEX ? t.none : klnum_strong(w.count, QS_I64);
    sum = klnum_strong(kbuild_get(&L->walk, acc), d);
    return reduce_finish(L, r, (qs_dtype)v->dtype, sum, count, t.centre, out);
}

static bool is_big(const Val *v) {
    enum { UNROLL = 64 };
    if (v->kind != V_ARRAY) return false;
    for (int i = 0; i < v->rank; i++)
        if (v->dims[i] < 0) return true;
    return klval_count(v) > UNROLL;
}

qs_status klreduce_elements(Lower *L, const BuiltinCall *c, Val *out) {
    Val v;
    if (is_big(&c->args[0])) return reduce_array(L, c, &c->args[0], out);
    TRY(klval_components(L, &c->args[0], &v));
    return reduce_small(L, c, &v, out);
}

qs_status klreduce_dot(Lower *L, const BuiltinCall *c, Val *out) {
    Val a, b;
    Num sum = klbuiltin_integer(L, 0), term;
    TRY(klval_components(L, &c->args[0], &a));
    TRY(klval_components(L, &c->args[1], &b));
    int64_t n = klval_count(&a);
    if (n != klval_count(&b))
        return klower_error(L, QS_ESHAPE, L->pos, "dotprod: sizes do not match: %s and %s", klval_type_name(L, &a),
                            klval_type_name(L, &b));
    for (int64_t i = 0; i < n; i++) {
        TRY(klnum_binary(L, OP_MUL, klval_num(&a, i), klval_num(&b, i), &term));
        if (i == 0) sum = term;
        else TRY(klnum_binary(L, OP_ADD, sum, term, &sum));
    }
    return scalar_of_ints(L, sum, out), QS_OK;
}
