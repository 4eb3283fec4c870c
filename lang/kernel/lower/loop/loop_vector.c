/* loop_vector.c -- computes with short vectors and matrices, as the host's arrays: [x,y], p + q, A[i,:], v[0].
 *
 * The length is known, and each element is a separate number, rounded to the element type of the array: float32 or
 * float64.  A list with an integral number that float32 rounds is float64, and so is everything computed from it.  If
 * this is known only at run time (Value.f64), elements are computed in float32 and, if necessary, a second time in
 * float64.  Elementwise operations compute in that type, reductions in double, in the order of vm/array/contiguous.c
 * and vm/array/reduce.c.
 *
 * An integral element keeps its twin if float32 certainly represents it; extents and counters of at most 20 bits are
 * compiled in as small for this purpose.  Variables share arrays, so single elements of a vector are set only while one
 * variable holds its array. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/common/reduce_element.h"
#include "lang/kernel/lower/loop/loop_internal.h"

#include <math.h>
#include <string.h>

static qs_dtype elem_dtype(const Loops *L) { return L->c->scalar_dtype; }

Value kloop_vector(Loops *L, int n) {
    return (Value){.what = WHAT_VECTOR,
                   .at = qarena_alloc(L->arena, qmem_size((size_t)n, sizeof(Number), sizeof(Number))),
                   .n = n};
}

static Value shaped(Loops *L, const SmallShape *s) {
    Value v = kloop_vector(L, (int)ksmall_count(s));
    return v.cols = s->rank > 1 ? (int)s->dims[1] : 0, v;
}

Value kloop_matrix(Loops *L, int rows, int cols) {
    SmallShape s = ksmall_matrix(rows, cols);
    return shaped(L, &s);
}

static Value shaped_as(Loops *L, const Value *v) {
    Value r = kloop_vector(L, v->n);
    return r.cols = v->cols, r.f64 = v->f64, r.like = v->like, r;
}

Value kloop_copy_vector(Value v) {
    v.origin = NULL, v.array = 0, v.host.kind = LOOP_UNSET;
    return v;
}

static int rows_of(const Value *v) { return v->cols ? v->n / v->cols : 1; }

static SmallShape shape_of(const Value *v) {
    if (v->what == WHAT_NUMBER) return (SmallShape){0};
    return v->cols ? (SmallShape){2, {v->n / v->cols, v->cols}} : (SmallShape){1, {v->n}};
}

/* The shapes of the operands of an elementwise operation, and the shape that they are broadcast to. */
typedef struct {
    SmallShape of[LOOP_ROW_ARGS], all;
} Stretch;

static bool broadcast_shapes(const Value *args, int n, Stretch *s) {
    for (int k = 0; k < n; k++) s->of[k] = shape_of(&args[k]);
    return ksmall_meet(s->of, n, &s->all) == n && ksmall_count(&s->all) <= LOOP_VECTOR_MAX;
}

/* Whether an integer with these bounds is certainly exact in an element. */
static bool fits_element(const Loops *L, double lo, double hi) {
    return elem_dtype(L) == QS_F32 ? lo >= -0x1p24 && hi <= 0x1p24 : kloop_is_exact(lo, hi);
}

Number kloop_rounded(Loops *L, Number a) {
    a = kloop_to_num(L, a);
    if (elem_dtype(L) == QS_F64 || (a.twin && fits_element(L, a.lo, a.hi))) return a;
    return kloop_num(kloop_cast(L, kloop_cast(L, a.v, QS_F32), QS_F64));
}

KRef kloop_or(Loops *L, KRef a, KRef b) { return !a || !b ? a | b : kloop_op(L, K_OR, a, b); }

/* Whether an array is certainly float64. */
static bool is_surely(const Loops *L, KRef f64) {
    double k;
    return f64 && kir_is_const(L->f, f64, &k) && k != 0;
}

static Number select_width(Loops *L, KRef f64, Number wide, Number narrow) {
    if (!f64 || wide.v == narrow.v) return narrow;
    if (is_surely(L, f64)) return wide;
    return kloop_num(kbuild_pure(&L->walk, (KMake){K_SELECT, .a = f64, .b = wide.v, .c = narrow.v}));
}

Number kloop_held(Loops *L, KRef f64, Number a) {
    return select_width(L, f64, kloop_to_num(L, a), kloop_rounded(L, a));
}

/* -- operators ----------------------------------------------------------------------------------------------------- */
bool kloop_is_elementwise(Op op) {
    return op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_PWMUL || op == OP_DIV || op == OP_PWDIV ||
           op == OP_PWPOW || op == OP_MAXEQ || op == OP_MINEQ;
}

static Number wide(Loops *L, KRef v) { return kloop_num(kloop_cast(L, v, QS_F64)); }

/* Adds the twin of the result if the element certainly represents it. */
static Number with_twin(const Loops *L, Number n, Number doubles) {
    if (!doubles.twin || !fits_element(L, doubles.lo, doubles.hi)) return n;
    return n.twin = doubles.twin, n.lo = doubles.lo, n.hi = doubles.hi, n;
}

static KRef in_type(Loops *L, Number x, qs_dtype d) { return d == QS_F32 && x.f32 ? x.f32 : kloop_cast(L, x.v, d); }

static Number row_in(Loops *L, Elem e, qs_dtype d, const Number *x, int n) {
    KRef refs[LOOP_ROW_ARGS] = {0};
    for (int i = 0; i < n; i++) refs[i] = in_type(L, x[i], d);
    return wide(L, kelem_real(kbuild_rows(&L->walk), e, d, refs).re);
}

/* The computation of all elements: `at` computes the i-th in type d.  If the array is float64, they are computed again
 * in a branch, which is cheaper than always computing both. */
typedef struct Making {
    Number (*at)(Loops *L, const struct Making *m, qs_dtype d, int i);
    const void *a, *b;
    int n;
    Elem e;
    double power;
    Product product;
} Making;

void kloop_fork(Loops *L, const Value *v, KRef *again) {
    for (int i = 0; i < v->n; i++) again[i] = kbuild_local(&L->walk, v->at[i].v);
}

/* Reads the LOCALs after the branch.  Integral elements are the same in both types.  Float32 computations that follow
 * use the float32 value (f32) and do not depend on the branch. */
void kloop_merge(Loops *L, Value *v, const KRef *again) {
    for (int i = 0; i < v->n; i++) {
        KIns made = L->f->ins[v->at[i].v];
        if (v->at[i].twin) continue;
        v->at[i] = kloop_num(kbuild_get(&L->walk, again[i]));
        if (made.op == K_CAST && L->f->ins[made.a].dtype == QS_F32) v->at[i].f32 = made.a;
    }
}

static void make_elements(Loops *L, const Making *m, Value *out) {
    KRef again[LOOP_VECTOR_MAX];
    bool sure = is_surely(L, out->f64);
    for (int i = 0; i < out->n; i++) out->at[i] = m->at(L, m, sure ? QS_F64 : elem_dtype(L), i);
    if (!out->f64 || sure) return;
    kloop_fork(L, out, again);
    kloop_flow(L, K_IF, out->f64);
    for (int i = 0; i < out->n; i++) kbuild_set(&L->walk, again[i], m->at(L, m, QS_F64, i).v);
    kloop_flow(L, K_END, 0);
    kloop_merge(L, out, again);
}

static Number power_in(Loops *L, qs_dtype d, Number a, double n) {
    KPair z;
    if (d == QS_F32) n = (double)(float)n;
    if (kelem_power(kbuild_rows(&L->walk), d, (KPair){in_type(L, a, d), 0}, n, &z)) return wide(L, z.re);
    return row_in(L, EL_pow, d, (Number[]){a, kloop_num(kloop_f64(L, n))}, 2);
}

bool kloop_is_vectorial(const Value *a, const Value *b) { return a->what == WHAT_VECTOR || b->what == WHAT_VECTOR; }

static bool takes_part(const Value *a) {
    return a->what == WHAT_VECTOR || (a->what == WHAT_NUMBER && a->num.kind != LOOP_COMPLEX);
}

/* The element of operand k that contributes to element i.  A number is converted to the type of the arrays. */
static Number operand_element(Loops *L, const Value *args, int k, const Stretch *s, int i, KRef f64) {
    const Value *a = &args[k];
    return a->what == WHAT_NUMBER ? kloop_held(L, f64, a->num) : a->at[ksmall_source(&s->all, i, &s->of[k])];
}

static uint64_t like_of(const Value *args, int n) {
    uint64_t like = 0;
    for (int i = 0; i < n; i++) like |= args[i].what == WHAT_VECTOR ? args[i].like : 0;
    return like;
}

static KRef f64_of(Loops *L, const Value *args, int n) {
    KRef f64 = 0;
    for (int i = 0; i < n; i++)
        if (args[i].what == WHAT_VECTOR) f64 = kloop_or(L, f64, args[i].f64);
    return f64;
}

/* Sums products in the element type, as vm/array/gemm.c does. */
static Number product_at(Loops *L, const Making *m, qs_dtype d, int i) {
    const Value *a = m->a, *b = m->b;
    KRef sum = kbuild_const(&L->walk, d, 0);
    for (int64_t k = 0; k < m->product.depth; k++) {
        KRef x = in_type(L, a->at[ksmall_left(&m->product, i, k)], d);
        KRef y = in_type(L, b->at[ksmall_right(&m->product, i, k)], d);
        sum = kloop_op(L, K_ADD, sum, kloop_op(L, K_MUL, x, y));
    }
    return wide(L, sum);
}

static qs_status matrix_product(Loops *L, const Value *a, const Value *b, Value *out) {
    enum { IN_STRANDS = 8 /* the host splits sums of this depth into a row or column */, LARGE = 16 /* elements */ };
    Making m = {.at = product_at, .a = a, .b = b};
    SmallShape left = shape_of(a), right = shape_of(b);
    Product *p = &m.product;
    bool fits = ksmall_product(&left, &right, p), large = a->n > LARGE || b->n > LARGE || p->rows * p->cols > LARGE;
    if (!fits || large || ((p->rows == 1 || p->cols == 1) && p->depth >= IN_STRANDS))
        return kloop_decline(L, L->pos, "a product of matrices that do not fit, or are too large");
    *out = kloop_matrix(L, (int)p->rows, (int)p->cols);
    out->f64 = kloop_or(L, a->f64, b->f64), out->like = a->like;
    return make_elements(L, &m, out), QS_OK;
}

static bool is_comparison(Op op) { return op >= OP_EQ && op <= OP_GE; }

static Number power_at(Loops *L, const Making *m, qs_dtype d, int i) {
    return power_in(L, d, ((const Number *)m->a)[i], m->power);
}

static Number row_at(Loops *L, const Making *m, qs_dtype d, int i) {
    return row_in(L, m->e, d, (const Number *)m->a + i * m->n, m->n);
}

static qs_status apply_powers(Loops *L, const Number *x, Number n, Value *out) {
    Making m = {.at = power_at, .a = x};
    if (!kloop_known(L, n, &m.power)) return kloop_decline(L, L->pos, "a power of a vector that is not known");
    return make_elements(L, &m, out), QS_OK;
}

/* x: the operands of each element, adjacent. */
static qs_status apply_operator(Loops *L, Op op, const Number *x, Value *out) {
    Number doubles;
    make_elements(L, &(Making){.at = row_at, .a = x, .n = 2, .e = kelem_operator(op)}, out);
    for (int i = 0; i < out->n; i++) {
        TRY(kloop_binary(L, op, x[2 * i], x[2 * i + 1], &doubles));
        out->at[i] = with_twin(L, out->at[i], doubles);
    }
    return QS_OK;
}

qs_status kloop_vector_binary(Loops *L, Op op, const Value *a, const Value *b, Value *out) {
    const Value args[2] = {*a, *b};
    Stretch s;
    bool both = a->what == b->what;
    bool known = kloop_is_elementwise(op) || is_comparison(op);
    if (!takes_part(a) || !takes_part(b) || !known || (op == OP_PWPOW && b->what == WHAT_VECTOR))
        return kloop_decline(L, L->pos, "the operator `%s` of a vector",
                             *qop_text(op) ? qop_text(op) : qop_inplace(op));
    bool many = both && a->n != 1 && b->n != 1; /* one element is like a number */
    if (many && op == OP_MUL) return matrix_product(L, a, b, out);
    if (!broadcast_shapes(args, 2, &s) || (many && op == OP_DIV && (a->n != b->n || a->cols != b->cols)))
        return kloop_decline(L, L->pos, "vectors or matrices of different sizes");
    *out = shaped(L, &s.all);
    out->f64 = f64_of(L, args, 2), out->like = like_of(args, 2);
    Number x[2 * LOOP_VECTOR_MAX];
    for (int i = 0; i < out->n; i++) {
        Number p = operand_element(L, args, 0, &s, i, out->f64), q = operand_element(L, args, 1, &s, i, out->f64);
        if (op == OP_PWPOW) x[i] = p;
        else x[2 * i] = p, x[2 * i + 1] = q;
    }
    if (op == OP_PWPOW) return apply_powers(L, x, b->num, out);
    if (!is_comparison(op)) return apply_operator(L, op, x, out);
    for (int i = 0; i < out->n; i++) TRY(kloop_binary(L, op, x[2 * i], x[2 * i + 1], &out->at[i]));
    return out->what = WHAT_TRUTHS, QS_OK;
}

/* Vectors have the type `scalar`, or float64 if one of them does (f64_of). */
static Term term_of(const Loops *L, const Value *v) {
    static const qs_dtype numbers[] = {
        [LOOP_NUM] = QS_F64, [LOOP_INT] = QS_I64, [LOOP_BOOL] = QS_B1, [LOOP_COMPLEX] = QS_C128};
    return v->what == WHAT_NUMBER ? (Term){numbers[v->num.kind], true} : (Term){elem_dtype(L), false};
}

static bool has_many_types(const Value *v) { return v->what == WHAT_NUMBER && v->num.kind == LOOP_MIXED; }

/* Whether a list with this number may be float64, because the number is unknown or rounded. */
static bool may_round(Loops *L, const Value *v) {
    double x;
    return v->what == WHAT_NUMBER && (!kloop_known(L, v->num, &x) || qdtype_rounds_integral(x));
}

/* Whether the value is exact in a double; an int that is not would be rounded twice. */
static bool is_exact(const Value *v) {
    return v->what != WHAT_NUMBER || !kloop_may_be_int(v->num) || kloop_is_exact(v->num.lo, v->num.hi);
}

qs_status kloop_vector_choose(Loops *L, const Value *c, const Value *a, const Value *b, Value *out) {
    const Value args[3] = {*c, *a, *b};
    Stretch s;
    bool values = takes_part(a) && takes_part(b);
    if (!values || !broadcast_shapes(args, 3, &s)) return kloop_decline(L, L->pos, "`?` of vectors of different sizes");
    if (has_many_types(a) || has_many_types(b))
        return kloop_decline(L, L->pos, "`?` of a vector and a number of several types");
    Term x = term_of(L, a), y = term_of(L, b);
    qs_dtype list = may_round(L, a) || may_round(L, b) ? QS_NDTYPES : elem_dtype(L);
    bool plain = qdtype_choose(x, y, list, qdtype_meet(x, y, false, elem_dtype(L))) == elem_dtype(L);
    if (!plain || !is_exact(a) || !is_exact(b))
        return kloop_decline(L, L->pos, "`?` of a vector and numbers whose type is not known");
    Value r = shaped(L, &s.all);
    r.f64 = f64_of(L, args + 1, 2), r.like = like_of(args, 3);
    for (int i = 0; i < r.n; i++)
        r.at[i] = kloop_choose(L, kloop_truth(L, operand_element(L, args, 0, &s, i, 0)),
                               operand_element(L, args, 1, &s, i, r.f64), operand_element(L, args, 2, &s, i, r.f64));
    return *out = r, QS_OK;
}

qs_status kloop_vector_unary(Loops *L, Op op, const Value *a, Value *out) {
    if (op == OP_NOT) return kloop_decline(L, L->pos, "`!` of a vector");
    if (op == OP_PLUS) return *out = *a, QS_OK;
    Value r = shaped_as(L, a);
    for (int i = 0; i < a->n; i++) TRY(kloop_unary(L, op, a->at[i], &r.at[i]));
    return *out = r, QS_OK;
}

/* -- elements ------------------------------------------------------------------------------------------------------ */
/* Lowers an index of an array without an access mode and tests it; returns it as int64. */
static KRef place_in(Loops *L, int extent, int axis, Number index, const char *name) {
    KRef t = kloop_as_int(L, index), shown = t, n = kloop_i64(L, extent);
    if (!t) {
        shown = kloop_round_index(L, kloop_real(L, index), MF_trunc);
        t = kloop_integral_index(L, kloop_real(L, index), shown, name, true);
    }
    return kloop_inside(L, (AxisIndex){t, n, shown}, name, axis), t;
}

void kloop_test_row(Loops *L, Number row, const char *name) { (void)place_in(L, 1, 0, row, name); }

static KRef linear_place(Loops *L, const Value *v, const Number *index, const char *name) {
    if (!v->cols) return place_in(L, v->n, 1, index[0], name);
    KRef row = place_in(L, rows_of(v), 0, index[0], name), col = place_in(L, v->cols, 1, index[1], name);
    return kloop_op(L, K_ADD, kloop_op(L, K_MUL, row, kloop_i64(L, v->cols)), col);
}

static qs_status pick_element(Loops *L, KRef at, const Number *x, int n, int step, Number *out) {
    Value *items = kval_new(&L->walk, n), one;
    for (int i = 0; i < n; i++) items[i] = (Value){.what = WHAT_NUMBER, .num = x[i * step]};
    TRY(ksmall_pick(&L->walk, at, items, n, &one));
    return *out = one.num, QS_OK;
}

/* Returns the slice's dimensions that are ranges, its shape, and the tested index of the other dimension. */
static SmallShape shape_of_slice(Loops *L, const Value *v, const Subvector *at, const char *name, KRef *index) {
    int rank = v->cols ? 2 : 1;
    SmallShape s = {.rank = 0};
    *index = 0;
    for (int d = 0; d < rank; d++)
        if (!at[d].n) *index = place_in(L, d ? v->cols : rows_of(v), d, at[d].index, name);
    if (rank == 1) return (SmallShape){1, {at[0].n}};
    if (!at[0].n) return (SmallShape){1, {at[1].n}};
    return s.rank = 2, s.dims[0] = at[0].n, s.dims[1] = at[1].n ? at[1].n : 1, s;
}

/* The position in v of element k of the slice, along dimension d, which is a range. */
static int slice_position(const Subvector *at, int d, int k) { return at[d].first + k * at[d].step; }

qs_status kloop_vector_slice(Loops *L, const Value *v, const Subvector *at, const char *name, Value *out) {
    KRef index;
    SmallShape s = shape_of_slice(L, v, at, name, &index);
    int width = v->cols ? v->cols : 1, cols = s.rank > 1 ? (int)s.dims[1] : v->cols && !at[0].n ? at[1].n : 1;
    *out = shaped(L, &s);
    out->f64 = v->f64;
    for (int k = 0; k < out->n; k++) {
        int row = at[0].n ? slice_position(at, 0, k / cols) : 0, col = 0;
        if (v->cols && at[1].n) col = slice_position(at, 1, k % cols);
        const Number *x = v->at + row * width + col;
        if (!index) out->at[k] = *x;
        else if (at[0].n) TRY(pick_element(L, index, x, width, 1, &out->at[k]));
        else TRY(pick_element(L, index, x, rows_of(v), width, &out->at[k]));
    }
    return QS_OK;
}

/* The element of the slice that position k of dimension d is; -1: none. */
static int find_in_range(const Subvector *at, int k) {
    int steps = (k - at->first) / at->step;
    return steps >= 0 && steps < at->n && at->first + steps * at->step == k ? steps : -1;
}

qs_status kloop_vector_set(Loops *L, const Value *v, const Subvector *at, const char *name, const Value *to,
                           Value *out) {
    KRef index;
    SmallShape s = shape_of_slice(L, v, at, name, &index);
    int count = (int)ksmall_count(&s), cols = s.rank > 1 ? (int)s.dims[1] : 0;
    bool same = to->what == WHAT_VECTOR && to->n == count && to->cols == cols;
    if (!same && (to->what != WHAT_NUMBER || to->num.kind == LOOP_COMPLEX))
        return kloop_decline(L, L->pos, "a slice that is set to something else");
    *out = shaped_as(L, v);
    for (int i = 0; i < v->n; i++) {
        int row = v->cols ? i / v->cols : i, col = v->cols ? i % v->cols : 0;
        int m = at[0].n ? find_in_range(&at[0], row) : 0, n = v->cols && at[1].n ? find_in_range(&at[1], col) : 0;
        out->at[i] = v->at[i];
        if (m < 0 || n < 0) continue;
        Number e = kloop_held(L, v->f64, same ? to->at[cols ? m * cols + n : m + n] : to->num);
        KRef here = index ? kloop_op(L, K_EQ, index, kloop_i64(L, at[0].n ? col : row)) : 0;
        out->at[i] = here ? kloop_choose(L, here, e, v->at[i]) : e;
    }
    return QS_OK;
}

qs_status kloop_vector_set_masked(Loops *L, const Value *v, const Value *mask, const Value *to, Value *out) {
    bool fits = mask->what == WHAT_TRUTHS && mask->n == v->n && mask->cols == v->cols;
    if (!fits || to->what != WHAT_NUMBER || to->num.kind == LOOP_COMPLEX)
        return kloop_decline(L, L->pos, "elements that a mask selects are set to something else than a number");
    *out = shaped_as(L, v);
    Number e = kloop_held(L, v->f64, to->num);
    for (int i = 0; i < v->n; i++) out->at[i] = kloop_choose(L, kloop_truth(L, mask->at[i]), e, v->at[i]);
    return QS_OK;
}

qs_status kloop_vector_element(Loops *L, const Value *v, const Number *index, const char *name, Number *out) {
    double k;
    KRef at = linear_place(L, v, index, name);
    if (kir_is_const(L->f, at, &k) && k >= 0 && k < v->n) return *out = v->at[(int)k], QS_OK;
    if (!v->n) return kloop_decline(L, L->pos, "an element of an empty vector");
    return pick_element(L, at, v->at, v->n, 1, out);
}

qs_status kloop_vector_patch(Loops *L, const Value *v, const Number *index, const char *name, Number to, Value *out) {
    double k;
    KRef at = linear_place(L, v, index, name);
    bool known = kir_is_const(L->f, at, &k);
    *out = shaped_as(L, v);
    Number e = kloop_held(L, v->f64, to);
    for (int i = 0; i < v->n; i++)
        out->at[i] =
            known ? (k == i ? e : v->at[i]) : kloop_choose(L, kloop_op(L, K_EQ, at, kloop_i64(L, i)), e, v->at[i]);
    return QS_OK;
}

/* float64(a): the array itself if it is float64. */
qs_status kloop_vector_float64(Loops *L, const Value *a, Value *out) {
    bool itself = is_surely(L, a->f64) || elem_dtype(L) == QS_F64;
    if (a->f64 && !itself && (a->origin || a->array))
        return kloop_decline(L, L->pos, "float64 of an array whose type is not known");
    *out = itself ? *a : kloop_copy_vector(*a);
    return out->f64 = kloop_width(L, QS_F64), QS_OK;
}

/* -- reductions ---------------------------------------------------------------------------------------------------- */
/* Sums in sixteen lanes, which are then added pairwise by halves: lane l and lane l + 8, 4, 2, 1.  A lane begins with
 * -0, so that its first term is its value. */
static Number sum_of(Loops *L, KRef *x, int n) {
    enum { LANES = 16 };
    for (int i = LANES; i < n; i++) x[i % LANES] = kloop_op(L, K_ADD, x[i % LANES], x[i]);
    if (n > LANES) n = LANES;
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half && l + half < n; l++) x[l] = kloop_op(L, K_ADD, x[l], x[l + half]);
    return kloop_num(x[0]);
}

/* Reduces by halves, for the operations other than sums. */
static Number merge_halves(Loops *L, KOp op, KRef *x, int n) {
    while (n > 1) {
        int half = (n + 1) / 2;
        for (int l = 0; l < n - half; l++) x[l] = kloop_op(L, op, x[l], x[half + l]);
        n = half;
    }
    return kloop_num(x[0]);
}

static void get_values(const Value *a, KRef *x) {
    for (int i = 0; i < a->n; i++) x[i] = a->at[i].v;
}

static Number dot_product(Loops *L, const Value *a, const Value *b) {
    KRef x[LOOP_VECTOR_MAX];
    for (int i = 0; i < a->n; i++) x[i] = kloop_op(L, K_MUL, a->at[i].v, b->at[i].v);
    for (int i = 0; i < a->n && i < 16; i++) x[i] = kloop_op(L, K_ADD, kloop_f64(L, 0), x[i]); /* lanes begin with 0 */
    return sum_of(L, x, a->n);
}

static Number merge_in_order(Loops *L, KOp op, KRef *x, int n) {
    for (int i = 1; i < n; i++) x[0] = kloop_op(L, op, x[0], x[i]);
    return kloop_num(x[0]);
}

static Number merge_values(Loops *L, const ReduceInfo *of, KRef *x, int n, bool in_order) {
    KOp op = kbuild_combine((Combine)of->combine);
    if (in_order) return merge_in_order(L, op, x, n);
    return of->combine == COMBINE_ADD && of->map == MAP_SELF ? sum_of(L, x, n) : merge_halves(L, op, x, n);
}

/* Reduces n values, which `x` has; in_order: one after the other, as the host does along a dimension. */
static Number reduce_values(Loops *L, Reduce r, const KRef *x, int n, bool in_order) {
    KRef y[LOOP_VECTOR_MAX], centre = 0;
    const ReduceInfo *of = &qreduction_info[r];
    memcpy(y, x, (size_t)n * sizeof *x);
    if (of->centre) {
        KRef extreme = merge_values(L, &qreduction_info[of->centre], y, n, in_order).v;
        centre = kreduce_centre(&L->walk, (ReduceMap)of->map, extreme);
        L->f->ruled = qstr_cname(L->c, of->name), L->f->ruled_pos = L->pos;
    }
    for (int i = 0; i < n; i++) y[i] = kreduce_map(&L->walk, (ReduceMap)of->map, x[i], centre, kloop_f64(L, i));
    KRef v = merge_values(L, of, y, n, in_order).v;
    return kloop_num(kreduce_finish(&L->walk, of, v, kloop_f64(L, n), centre));
}

static bool apply_reduction(Loops *L, const char *name, const Value *a, Number *out) {
    KRef x[LOOP_VECTOR_MAX];
    Reduce r = qreduction_find(name);
    const ReduceInfo *of = &qreduction_info[r];
    if (!strcmp(name, "numel")) return *out = kloop_const(L, a->n), true;
    if (!r || of->map == MAP_TRUTH) return false; /* any and all are no numbers */
    get_values(a, x);
    if (of->map != MAP_SQUARE) return *out = reduce_values(L, r, x, a->n, false), true;
    KRef sum = dot_product(L, a, a).v;
    return *out = kloop_num(kreduce_finish(&L->walk, of, sum, kloop_f64(L, a->n), 0)), true;
}

/* The reduction, if this is a call of one along a known dimension, *dim; RED_NONE: it is none. */
static Reduce find_along(Loops *L, const char *name, const Value *args, int nargs, int *dim) {
    Reduce r = qreduction_find(name);
    const ReduceInfo *of = &qreduction_info[r];
    double k;
    bool vector = nargs == 2 && args[0].what == WHAT_VECTOR && args[0].n;
    if (!vector || !r || of->dim != 1 || of->map == MAP_TRUTH || args[1].what != WHAT_NUMBER) return RED_NONE;
    if (!kloop_known(L, args[1].num, &k) || (k != 0 && k != 1)) return RED_NONE;
    bool warns = k == 0 && !args[0].cols; /* the elements of a vec lie along dimension 1 */
    return *dim = (int)k, warns ? RED_NONE : r;
}

/* The host computes several results side by side, and adds the elements of each in order. */
static Value reduce_along(Loops *L, Reduce r, const Value *a, int dim) {
    int rows = rows_of(a), cols = a->n / rows, n = dim ? cols : rows, results = a->n / n;
    KRef x[LOOP_VECTOR_MAX];
    Value y = dim ? kloop_matrix(L, rows, 1) : kloop_matrix(L, 1, cols);
    y.f64 = qreduction_info[r].lanes == LANES_INDEX ? 0 : a->f64;
    y.like = !a->cols ? a->like : y.cols ? 0 : LOOP_LIKE(LOOP_TWO);
    for (int i = 0; i < results; i++) {
        for (int k = 0; k < n; k++) x[k] = a->at[dim ? i * cols + k : k * cols + i].v;
        y.at[i] = kloop_held(L, y.f64, reduce_values(L, r, x, n, results > 1));
    }
    return y;
}

/* any, all, sum and mean of truth values; *found: it is one. */
qs_status kloop_truths_call(Loops *L, const char *name, const Value *a, bool *found, Value *out) {
    Reduce r = qreduction_find(name);
    const ReduceInfo *of = &qreduction_info[r];
    bool logical = of->map == MAP_TRUTH, adds = of->map == MAP_SELF && of->combine == COMBINE_ADD;
    if (!r || (!logical && (!adds || a->what != WHAT_TRUTHS)) || !a->n) return QS_OK;
    KRef v = kloop_truth(L, a->at[0]);
    if (adds) v = kloop_cast(L, v, QS_I64);
    for (int i = 1; i < a->n; i++) {
        KRef x = kloop_truth(L, a->at[i]);
        v = kloop_op(L, kbuild_combine((Combine)of->combine), v, adds ? kloop_cast(L, x, QS_I64) : x);
    }
    *found = true, *out = (Value){.what = WHAT_NUMBER, .num = kloop_bool(v)};
    if (adds) out->num = kloop_from_int(L, v, 0, a->n);
    if (of->finish == FINISH_MEAN) return kloop_binary(L, OP_DIV, out->num, kloop_const(L, a->n), &out->num);
    return QS_OK;
}

/* -- built-ins ----------------------------------------------------------------------------------------------------- */
/* Applies a row of elem.def to the elements, in their type. */
static qs_status map_row(Loops *L, const char *name, const Value *args, int nargs, Value *out) {
    Elem e = kelem_find(name, nargs);
    Stretch s;
    if (e == EL__COUNT || kelem_info[e].real != ELEM_NUMBER)
        return kloop_decline(L, L->pos, "%s of a vector; write a loop over its elements", name);
    bool fits = broadcast_shapes(args, nargs, &s);
    for (int k = 0; k < nargs; k++) fits = fits && takes_part(&args[k]);
    if (!fits) return kloop_decline(L, L->pos, "%s of vectors that do not fit", name);
    *out = shaped(L, &s.all);
    out->f64 = f64_of(L, args, nargs), out->like = like_of(args, nargs);
    Number x[LOOP_VECTOR_MAX * LOOP_ROW_ARGS];
    for (int i = 0; i < out->n; i++)
        for (int k = 0; k < nargs; k++) x[i * nargs + k] = operand_element(L, args, k, &s, i, out->f64);
    make_elements(L, &(Making){.at = row_at, .a = x, .n = nargs, .e = e}, out);
    for (int i = 0; i < out->n; i++)
        if (kelem_info[e].integers == ELEM_ITSELF && x[i * nargs].twin) out->at[i] = x[i * nargs];
    return QS_OK;
}

static qs_status vector_extreme(Loops *L, const char *name, const Value *a, const Value *b, Value *out) {
    return kloop_vector_binary(L, !strcmp(name, "max") ? OP_MAXEQ : OP_MINEQ, a, b, out);
}

static Value transpose_matrix(Loops *L, const Value *m) {
    SmallShape s = shape_of(m);
    Value t = kloop_matrix(L, (int)ksmall_extent(&s, 1), (int)ksmall_extent(&s, 0));
    t.f64 = m->f64, t.like = m->cols ? LOOP_LIKE(LOOP_TWO) : 0;
    for (int i = 0; i < t.n; i++) t.at[i] = m->at[ksmall_transposed(&s, i)];
    return t;
}

double kloop_value_before(Loops *L, KRef r, bool fix) {
    const KIns *i = &L->f->ins[r];
    double x, y;
    if (kir_is_const(L->f, r, &x)) return x;
    if (i->op == K_CAST) return kloop_value_before(L, i->a, fix);
    if (i->op == K_PARAM || i->op == K_DIM) {
        if (L->module || L->callees) return NAN;
        LoopBind b = L->binds[i->op == K_DIM ? i->imm >> 8 : i->imm];
        int axis = (int)(i->imm & 0xff);
        if (b.kind != LOOP_SOURCE) return NAN;
        L->changed |= fix;
        if (i->op == K_PARAM) return L->job->number(L->job->ud, b.index, fix);
        return (double)kloop_peek(L, b.index, axis, fix);
    }
    if (i->op != K_ADD && i->op != K_SUB && i->op != K_MUL && i->op != K_MIN && i->op != K_MAX) return NAN;
    x = kloop_value_before(L, i->a, fix), y = kloop_value_before(L, i->b, fix);
    if (isnan(x) || isnan(y)) return NAN;
    if (i->op == K_MIN || i->op == K_MAX) return i->op == K_MIN ? fmin(x, y) : fmax(x, y);
    return i->op == K_ADD ? x + y : i->op == K_SUB ? x - y : x * y;
}

/* The size that an argument of zeros gives; false: it is not known, or too large. */
static bool size_of(Loops *L, const Value *v, double *out) {
    if (v->what != WHAT_NUMBER || v->num.kind == LOOP_COMPLEX) return false;
    KRef r = v->num.twin ? v->num.twin : v->num.v;
    *out = kloop_value_before(L, r, false);
    return *out >= 1 && *out <= LOOP_VECTOR_MAX && *out == floor(*out);
}

/* Whether the call is zeros_like(x) or uninit_like(x) of a vector x, also with sizes. */
static bool is_made_like(const char *name, const Value *args, int nargs) {
    return nargs && args[0].what == WHAT_VECTOR && (!strcmp(name, "zeros_like") || !strcmp(name, "uninit_like"));
}

/* zeros(n), zeros(r,c), ones and eye of a known size; the same of the type of a vector. */
qs_status kloop_made(Loops *L, const char *name, const Value *args, int nargs, bool *found, Value *out) {
    double sizes[2] = {1, 1};
    bool eye = !strcmp(name, "eye"), ones = !strcmp(name, "ones"), like = is_made_like(name, args, nargs);
    if (!like && !eye && !ones && strcmp(name, "zeros")) return QS_OK;
    KRef f64 = like ? args[0].f64 : 0;
    Value shape = like ? args[0] : (Value){.what = WHAT_NOTHING};
    if (like) args++, nargs--;
    if (like && !nargs) {
        *out = shaped_as(L, &shape);
        for (int i = 0; i < out->n; i++) out->at[i] = kloop_const(L, 0);
        return *found = true, QS_OK;
    }
    bool known = nargs >= 1 && nargs <= 2;
    for (int i = 0; known && i < nargs; i++) known = size_of(L, &args[i], &sizes[2 - nargs + i]);
    if (eye && nargs == 1) sizes[0] = sizes[1];
    if (!known || sizes[0] * sizes[1] > LOOP_VECTOR_MAX)
        return kloop_decline(L, L->pos,
                             "%s of a size that changes, or of more than %d elements; make the array before "
                             "the loop",
                             name, LOOP_VECTOR_MAX);
    for (int i = 0; i < nargs; i++)
        (void)kloop_value_before(L, args[i].num.twin ? args[i].num.twin : args[i].num.v, true);
    *out = kloop_matrix(L, (int)sizes[0], (int)sizes[1]);
    if (nargs == 2 || eye) out->like = LOOP_LIKE(LOOP_TWO);
    out->f64 = f64;
    for (int i = 0; i < out->n; i++)
        out->at[i] = kloop_const(L, ones || (eye && i / (int)sizes[1] == i % (int)sizes[1]));
    return *found = true, QS_OK;
}

/* Sorts by Batcher's network, which compares the same pairs whatever the numbers are. */
static void sort_values(Loops *L, KRef *x, int n) {
    for (int p = 1; p < n; p *= 2)
        for (int k = p; k; k /= 2)
            for (int i = k % p; i + k < n; i++) {
                if ((i - k % p) / k % 2 || i / (2 * p) != (i + k) / (2 * p)) continue;
                KRef less = kloop_op(L, K_LT, x[i], x[i + k]), a = x[i], b = x[i + k];
                x[i] = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = less, .b = a, .c = b});
                x[i + k] = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = less, .b = b, .c = a});
            }
}

Number kloop_median(Loops *L, const Value *v) {
    KRef x[LOOP_VECTOR_MAX], some_nan = 0;
    get_values(v, x);
    for (int i = 0; i < v->n; i++) some_nan = kloop_or(L, some_nan, kloop_op(L, K_NE, x[i], x[i]));
    sort_values(L, x, v->n);
    KRef low = x[(v->n - 1) / 2], high = x[v->n / 2];
    KRef mean = kloop_op(L, K_DIV, kloop_op(L, K_ADD, low, high), kloop_f64(L, 2));
    KRef middle = kloop_op(L, K_ADD, v->n % 2 ? low : mean, kloop_f64(L, 0)); /* +0 instead of -0 */
    L->f->ruled = qstr_cname(L->c, "median"), L->f->ruled_pos = L->pos;
    return kloop_num(kbuild_pure(&L->walk, (KMake){K_SELECT, .a = some_nan, .b = kloop_f64(L, NAN), .c = middle}));
}

double kloop_flat_size(Loops *L, const Value *args, int nargs, bool *two) {
    double size[2] = {1, 0};
    bool list = nargs == 2 && args[1].what == WHAT_VECTOR && !args[1].cols && args[1].n == 2;
    *two = list || nargs == 3;
    if (!list && (nargs < 2 || nargs > 3 || args[1].what != WHAT_NUMBER || args[nargs - 1].what != WHAT_NUMBER))
        return 0;
    for (int i = *two ? 0 : 1; i < 2; i++) {
        Number n = list ? args[1].at[i] : args[*two ? 1 + i : 1].num;
        size[i] = kloop_value_before(L, n.twin ? n.twin : n.v, true);
    }
    return size[0] == 1 && size[1] > 0 ? size[1] : 0;
}

/* reshape of a new array to a vec. */
static qs_status flatten_vector(Loops *L, const Value *args, int nargs, Value *out) {
    bool two, new = !args[0].origin && !args[0].array;
    if (!new || kloop_flat_size(L, args, nargs, &two) != args[0].n)
        return kloop_decline(L, L->pos, "reshape of a vector; write its elements in a list, or a loop over them");
    *out = args[0], out->cols = 0, out->like = two ? LOOP_LIKE(LOOP_TWO) : 0;
    return QS_OK;
}

/* horzcat of vecs and numbers. */
static qs_status join_vectors(Loops *L, const Value *args, int nargs, Value *out) {
    int n = 0;
    for (int i = 0; i < nargs; i++) {
        const Value *v = &args[i];
        bool vec = v->what == WHAT_VECTOR && !v->cols, number = v->what == WHAT_NUMBER && v->num.kind == LOOP_NUM;
        if (!vec && !number) return kloop_decline(L, L->pos, "horzcat of anything but vecs and numbers");
        n += vec ? v->n : 1;
    }
    if (n > LOOP_VECTOR_MAX)
        return kloop_decline(L, L->pos, "an array of more than %d elements, made of short vectors", LOOP_VECTOR_MAX);
    *out = kloop_vector(L, n);
    out->f64 = f64_of(L, args, nargs), out->like = like_of(args, nargs);
    for (int i = 0, at = 0; i < nargs; i++)
        for (int k = 0; k < (args[i].what == WHAT_VECTOR ? args[i].n : 1); k++)
            out->at[at++] = kloop_held(L, out->f64, args[i].what == WHAT_VECTOR ? args[i].at[k] : args[i].num);
    return QS_OK;
}

qs_status kloop_shift(Loops *L, const Value *n, KRef length, KRef *out) {
    Number by;
    TRY(kloop_real_number(L, n, &by));
    if (by.kind == LOOP_NUM) (void)kloop_expect_int(L, &by);
    KRef at = by.kind == LOOP_NUM || by.kind == LOOP_INT ? kloop_as_int(L, by) : 0;
    if (!at || !kloop_is_exact(by.lo, by.hi))
        return kloop_decline(L, L->pos, "circshift by a number that may have a fraction; write int(…) of it");
    return *out = kelem_real(kbuild_rows(&L->walk), EL_mod, QS_I64, (KRef[]){at, length}).re, QS_OK;
}

/* circshift of a vec.  A number of steps that is not known is made of powers of two. */
static qs_status shift_vector(Loops *L, const Value *v, const Value *by, Value *out) {
    KRef cut;
    double known;
    if (v->cols || !v->n) return kloop_decline(L, L->pos, "circshift of a matrix");
    TRY(kloop_shift(L, by, kloop_i64(L, v->n), &cut));
    bool fixed = kir_is_const(L->f, cut, &known);
    *out = shaped_as(L, v);
    memcpy(out->at, v->at, (size_t)v->n * sizeof *v->at);
    for (int step = 1; step < v->n; step *= 2) {
        Number before[LOOP_VECTOR_MAX];
        KRef bit = kloop_op(L, K_AND, cut, kloop_i64(L, step)), moves = kloop_op(L, K_NE, bit, kloop_i64(L, 0));
        memcpy(before, out->at, (size_t)v->n * sizeof *before);
        for (int i = 0; i < v->n && !(fixed && !((int)known & step)); i++) {
            const Number *from = &before[(i - step + v->n) % v->n];
            out->at[i] = fixed ? *from : kloop_choose(L, moves, *from, before[i]);
        }
    }
    return QS_OK;
}

qs_status kloop_vector_call(Loops *L, const char *name, const Value *args, int nargs, Value *out) {
    bool extremes = !strcmp(name, "max") || !strcmp(name, "min"), vectors = true;
    *out = (Value){.what = WHAT_NUMBER};
    for (int i = 0; i < nargs; i++) vectors &= args[i].what == WHAT_VECTOR;
    bool lengths = !strcmp(name, "norm") || !strcmp(name, "squared_norm") || !strcmp(name, "dotprod");
    bool matrix = args[0].cols > 1 && args[0].cols < args[0].n; /* more than a row or a column */
    if (matrix && lengths) return kloop_decline(L, L->pos, "%s of a matrix", name);
    if (!strcmp(name, "reshape") && args[0].what == WHAT_VECTOR) return flatten_vector(L, args, nargs, out);
    if (!strcmp(name, "horzcat")) return join_vectors(L, args, nargs, out);
    if (!strcmp(name, "circshift") && nargs == 2 && args[0].what == WHAT_VECTOR)
        return shift_vector(L, &args[0], &args[1], out);
    int dim;
    Reduce along = find_along(L, name, args, nargs, &dim);
    if (along) return *out = reduce_along(L, along, &args[0], dim), QS_OK;
    if (nargs == 1 && !strcmp(name, "median")) {
        if (args[0].cols) return kloop_decline(L, L->pos, "median per column; median(reshape(x,n)) is of all elements");
        return out->num = kloop_median(L, &args[0]), QS_OK;
    }
    if (nargs == 1 && !strcmp(name, "transpose")) return *out = transpose_matrix(L, &args[0]), QS_OK;
    if (nargs == 1 && !strcmp(name, "copy")) return *out = kloop_copy_vector(args[0]), QS_OK;
    bool same = !strcmp(name, "real") || !strcmp(name, "conj") || !strcmp(name, "float");
    if (nargs == 1 && same) return *out = args[0], QS_OK; /* the array itself */
    if (nargs == 1)
        return args[0].n && apply_reduction(L, name, &args[0], &out->num) ? QS_OK : map_row(L, name, args, 1, out);
    if (nargs != 2) return map_row(L, name, args, nargs, out);
    if (extremes) return vector_extreme(L, name, &args[0], &args[1], out);
    if (!strcmp(name, "dotprod") && vectors && args[0].n == args[1].n)
        return out->num = dot_product(L, &args[0], &args[1]), QS_OK;
    return map_row(L, name, args, nargs, out);
}
