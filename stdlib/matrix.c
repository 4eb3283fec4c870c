/* matrix.c -- creates arrays and rearranges their elements.
 *
 * Every rearrangement (transpose, repmat, cat, circshift, flip …) consists of a few calls of qmatrix_move between
 * strided buffers, for any element type. */
#include "lang/syntax/operators.h"
#include "stdlib/builtins.h"
#include "vm/array/arith.h"
#include "vm/array/device_ops.h"
#include "vm/array/move.h"

#include <math.h>
#include <string.h>

/* -- shapes -------------------------------------------------------------------------------------------------------- */
void qmatrix_shape(const Array *a, Shape *s) {
    int skip = a->rank < 2;
    s->rank = qarr_size(a, s->dims), s->ndim = a->ndim;
    s->strides[0] = 0;
    memcpy(s->strides + skip, a->strides, a->rank * sizeof *s->strides);
}

/* Uses unsigned arithmetic, because the product of the extents of an empty array may overflow. */
static void set_packed_strides(Shape *s) { qarr_packed_strides(s->rank, s->dims, s->strides); }

static int64_t volume(const Shape *s) {
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++)
        if (!s->dims[d]) return 0; /* checked before the product of the others could overflow */
    for (int d = 0; d < s->rank; d++) n *= s->dims[d];
    return n;
}

/* Extends a shape with trailing extents of 1. */
static void extend(Shape *s, int rank) {
    for (; s->rank < rank; s->rank++) s->dims[s->rank] = 1, s->strides[s->rank] = 0;
}

/* -- moving -------------------------------------------------------------------------------------------------------- */
void qmatrix_move(qs_vm *vm, void *dst, const int64_t *ds, const void *src, const int64_t *ss, int rank,
                  const int64_t *n, size_t size) {
    ptrdiff_t dsteps[QS_MAX_RANK], ssteps[QS_MAX_RANK];
    for (int d = 0; d < rank; d++)
        if (!n[d]) return; /* empty: the other extents may be arbitrarily large */
    for (int d = 0; d < rank; d++) dsteps[d] = ds[d] * (ptrdiff_t)size, ssteps[d] = ss[d] * (ptrdiff_t)size;
    qmove_run(qvm_ctx(vm), size, rank, n, dst, dsteps, src, ssteps);
}

/* A strided region of an array, starting `at` elements behind its first element. */
typedef struct {
    Array *a;
    int64_t at;
    Shape shape;
} Place;

static Place source(Array *a) {
    Place s = {.a = a};
    qmatrix_shape(a, &s.shape);
    return s;
}

/* Creates an array in out[i] with the extents of d->shape, as the destination of moves. */
static qs_status new_target(qs_vm *vm, qs_call_args *c, int i, qs_dtype t, Place *d) {
    void *unused;
    TRY(qarg_result(vm, c, i, t, d->shape.rank, d->shape.dims, &d->a, &unused));
    qarr_keep(d->a, d->shape.ndim);
    if (qdevmath_asks(vm)) qbuf_unset(d->a->buf); /* parts may be written on a device */
    d->at = 0;
    set_packed_strides(&d->shape);
    return QS_OK;
}

static qs_status move_elements(qs_vm *vm, const char *fn, const Place *d, const Place *s, const int64_t *n) {
    return qarr_carry(vm, &(ElementMove){.name = fn,
                                         .from = s->a,
                                         .to = d->a,
                                         .rank = d->shape.rank,
                                         .dims = n,
                                         .from_steps = s->shape.strides,
                                         .to_steps = d->shape.strides,
                                         .from_at = s->at,
                                         .to_at = d->at});
}

/* -- construction -------------------------------------------------------------------------------------------------- */
static qs_status make_array(qs_vm *vm, qs_call_args *c, qs_dtype d, bool zeroed, Array **out) {
    int rank;
    int64_t dims[QS_MAX_RANK];
    TRY(qarr_shape_args(vm, c->name, c->nin, c->in, &rank, dims));
    TRY(qarr_new(vm, d, rank, dims, zeroed, out));
    c->out[0] = qarr_value(*out);
    return QS_OK;
}
static qs_dtype real_type(qs_vm *vm) { return qvm_ctx(vm)->scalar_dtype; }
static qs_dtype cplx_type(qs_vm *vm) { return qdtype_complex_of(qvm_ctx(vm)->scalar_dtype); }

qs_status qmatrix_zeros(qs_vm *vm, qs_call_args *c) {
    Array *a;
    return make_array(vm, c, real_type(vm), true, &a);
}
qs_status qmatrix_czeros(qs_vm *vm, qs_call_args *c) {
    Array *a;
    return make_array(vm, c, cplx_type(vm), true, &a);
}
qs_status qmatrix_uninit(qs_vm *vm, qs_call_args *c) {
    Array *a;
    TRY(make_array(vm, c, real_type(vm), false, &a));
    return qbuf_unset(a->buf), QS_OK;
}
qs_status qmatrix_ones(qs_vm *vm, qs_call_args *c) {
    Array *a;
    TRY(make_array(vm, c, real_type(vm), false, &a));
    return qarr_fill(vm, a, qs_num(1));
}
qs_status qmatrix_cones(qs_vm *vm, qs_call_args *c) {
    Array *a;
    TRY(make_array(vm, c, cplx_type(vm), false, &a));
    return qarr_fill(vm, a, qs_num(1));
}

/* Creates an array with the dtype of x and the extents of x, or of the arguments behind x. */
static qs_status make_like(qs_vm *vm, qs_call_args *c, bool zeroed, Array **out) {
    Array *x;
    int rank;
    int64_t dims[QS_MAX_RANK];
    TRY(qarg_listed(vm, c, 0, "x", &x));
    if (c->nin > 1) {
        TRY(qarr_shape_args(vm, c->name, c->nin - 1, c->in + 1, &rank, dims));
        TRY(qarr_new(vm, (qs_dtype)x->dtype, rank, dims, zeroed, out));
    } else {
        rank = qarr_shape(x, dims, NULL);
        TRY(qarr_new(vm, (qs_dtype)x->dtype, rank, dims, zeroed, out));
    }
    c->out[0] = qarr_value(*out);
    return QS_OK;
}
qs_status qmatrix_zeros_like(qs_vm *vm, qs_call_args *c) {
    Array *a;
    return make_like(vm, c, true, &a);
}
qs_status qmatrix_uninit_like(qs_vm *vm, qs_call_args *c) {
    Array *a;
    TRY(make_like(vm, c, false, &a));
    return qbuf_unset(a->buf), QS_OK;
}
qs_status qmatrix_ones_like(qs_vm *vm, qs_call_args *c) {
    Array *a;
    TRY(make_like(vm, c, false, &a));
    return qarr_fill(vm, a, qs_num(1));
}

/* Creates a rows x cols matrix of zeros with ones (or the elements of a vector) on the k-th diagonal. */
static qs_status diagonal(qs_vm *vm, qs_call_args *c, qs_dtype t, int64_t rows, int64_t cols, const Place *v,
                          int64_t n) {
    Array *a;
    const void *from = NULL;
    void *p;
    TRY(qarr_make(vm, t, 2, (int64_t[]){rows, cols}, true, &a, &p));
    c->out[0] = qarr_value(a);
    if (v) TRY(qarr_read(vm, v->a, &from));
    size_t size = qdtype_size(t);
    for (int64_t i = 0; i < n; i++) {
        char *at = (char *)p + (size_t)(i * (cols + 1)) * size;
        if (v) memcpy(at, (const char *)from + i * v->shape.strides[1] * (int64_t)size, size);
        else qdtype_put(t, at, 1);
    }
    return QS_OK;
}

qs_status qmatrix_eye(qs_vm *vm, qs_call_args *c) {
    int64_t m, n;
    TRY(qarg_count(vm, c->name, "rows", c->in[0], &m));
    n = m;
    if (c->nin > 1) TRY(qarg_count(vm, c->name, "columns", c->in[1], &n));
    return diagonal(vm, c, real_type(vm), m, n, NULL, m < n ? m : n);
}

qs_status qmatrix_linspace(qs_vm *vm, qs_call_args *c) {
    double a, b;
    int64_t n = 100;
    TRY(qarg_num(vm, c->name, "a", c->in[0], &a));
    TRY(qarg_num(vm, c->name, "b", c->in[1], &b));
    if (c->nin > 2) TRY(qarg_count(vm, c->name, "n", c->in[2], &n));
    double *x;
    TRY(qsampled_scratch(vm, c->name, (size_t)n, &x));
    for (int64_t i = 0; i < n; i++) x[i] = i == n - 1 ? b : a + (b - a) * ((double)i / (double)(n - 1));
    qs_status s = qarg_exact(vm, x, 1, &n, &c->out[0]);
    return qsampled_done(vm, x, (size_t)n), s;
}

/* meshgrid: x varies along columns, y along rows, and z, if given, along the third dimension. */
qs_status qmatrix_meshgrid(qs_vm *vm, qs_call_args *c) {
    static const char *const names[] = {"x", "y", "z"};
    Array *given[3] = {0};
    const void *unused;
    int rank = qarg_given(c, 2) || c->nout > 2 ? 3 : 2;
    for (int i = 0; i < c->nin; i++)
        if (i == 0 || qarg_given(c, i)) TRY(qarg_floats(vm, c, i, names[i], &given[i], &unused));
    if (rank == 3 && !given[1] != !given[2])
        return qs_fail(vm, QS_EVALUE, "meshgrid: three results need x, y and z, or x alone");
    for (int i = 1; i < rank; i++)
        if (!given[i]) given[i] = given[0];
    Place d = {.shape = {.rank = rank, .ndim = rank}};
    static const int along[] = {1, 0, 2};
    for (int i = 0; i < rank; i++) d.shape.dims[along[i]] = (int64_t)given[i]->count;
    for (int i = 0; i < c->nout; i++) {
        Place from = source(given[i]);
        int64_t n[3];
        memcpy(n, d.shape.dims, sizeof n);
        for (int k = 0; k < rank; k++) from.shape.strides[k] = k == along[i];
        TRY(new_target(vm, c, i, (qs_dtype)given[i]->dtype, &d));
        TRY(move_elements(vm, c->name, &d, &from, n));
    }
    return QS_OK;
}

/* -- shape --------------------------------------------------------------------------------------------------------- */
/* Refuses an object of another language, whose size only that language knows. */
static qs_status check_own(qs_vm *vm, const qs_call_args *c) {
    if (c->in[0].kind != QS_FOREIGN) return QS_OK;
    return qarg_wrong(vm, c->name, "x",
                      "a value of the language (of objects of Python len(x) of its builtins, or "
                      "x.shape, says how large they are)",
                      c->in[0]);
}

/* Returns the extents of a value: arrays and cells have their own, a string is 1 x length, anything else 1 x 1. */
static int extents(qs_value v, int64_t dims[QS_MAX_RANK]) {
    if (v.kind == QS_ARRAY) return qarr_size(qval_array(v), dims);
    dims[0] = dims[1] = 1;
    if (v.kind == QS_STRING) {
        size_t n;
        qs_to_string(v, &n), dims[1] = (int64_t)n;
    }
    if (v.kind != QS_CELL) return 2;
    const Cell *x = v.u.p;
    if (x->rank == 1) return dims[1] = x->dims[0], 2;
    memcpy(dims, x->dims, sizeof x->dims);
    return x->rank;
}

qs_status qmatrix_size(qs_vm *vm, qs_call_args *c) {
    int64_t dims[QS_MAX_RANK];
    double out[QS_MAX_RANK];
    TRY(check_own(vm, c));
    int rank = extents(c->in[0], dims), d;
    int64_t n = rank;
    for (int i = 0; i < rank; i++) out[i] = (double)dims[i];
    if (c->nin == 1) {
        TRY(qarg_exact(vm, out, 1, &n, &c->out[0]));
        if (c->in[0].kind == QS_ARRAY) qval_array(c->out[0])->size_of = qval_array(c->in[0])->ndim;
        return QS_OK;
    }
    if (qval_is_number(c->in[1])) {
        TRY(qarg_dim(vm, c->name, c->in[1], &d));
        c->out[0] = qs_num(d < rank ? (double)dims[d] : 1);
        return QS_OK;
    }
    double few[QS_MAX_RANK], *want = few, *made = NULL;
    size_t nwant;
    if (!qarr_few_doubles(vm, c->in[1], few, &nwant)) {
        TRY(qarr_doubles(vm, c->in[1], "size: dimension", &made, &nwant));
        want = made;
    }
    qs_status s = nwant > QS_MAX_RANK
                      ? qs_fail(vm, QS_EINDEX, "size: at most %d dimensions, got %zu", QS_MAX_RANK, nwant)
                      : QS_OK;
    for (size_t i = 0; s == QS_OK && i < nwant; i++)
        if ((s = qarg_dim(vm, c->name, qs_num(want[i]), &d)) == QS_OK) out[i] = d < rank ? (double)dims[d] : 1;
    qmem_free(qvm_ctx(vm), made, nwant * sizeof *made);
    n = (int64_t)nwant;
    return s ? s : qarg_exact(vm, out, 1, &n, &c->out[0]);
}

/* The entries of a dictionary, or the elements of any other value. */
static double numel(qs_value v) {
    int64_t dims[QS_MAX_RANK];
    double n = 1;
    if (v.kind == QS_OBJECT && qobj_is_dictionary(v.u.p)) return qobj_count(v.u.p);
    for (int i = 0, rank = extents(v, dims); i < rank; i++) n *= (double)dims[i];
    return n;
}
qs_status qmatrix_numel(qs_vm *vm, qs_call_args *c) {
    TRY(check_own(vm, c));
    return c->out[0] = qs_num(numel(c->in[0])), QS_OK;
}
qs_status qmatrix_isempty(qs_vm *vm, qs_call_args *c) {
    TRY(check_own(vm, c));
    c->out[0] = qs_bool(c->in[0].kind == QS_NIL || numel(c->in[0]) == 0);
    return QS_OK;
}
qs_status qmatrix_ndims(qs_vm *vm, qs_call_args *c) {
    int64_t dims[QS_MAX_RANK];
    TRY(check_own(vm, c));
    int n = extents(c->in[0], dims);
    bool made = false;
    if (c->nin > 1) TRY(qval_truth(vm, c->in[1], &made));
    if (made && c->in[0].kind == QS_ARRAY && qval_array(c->in[0])->ndim > n) n = qval_array(c->in[0])->ndim;
    return c->out[0] = qs_num(n), QS_OK;
}

qs_status qmatrix_copy(qs_vm *vm, qs_call_args *c) {
    qs_value x = c->in[0];
    if (x.kind == QS_FOREIGN)
        return qarg_wrong(vm, c->name, "x", "a value of the language (objects of Python have their own copy)", x);
    return qval_copy(vm, x, &c->out[0]);
}

/* Replaces a size of -1 by the extent that the other sizes leave for `count` elements. */
static qs_status leave_over(qs_vm *vm, size_t count, int rank, const double *size, int64_t *dims) {
    int open = -1;
    double known = 1;
    for (int i = 0; i < rank; i++) {
        if (size[i] != -1) dims[i] = (int64_t)size[i], known *= size[i];
        else if (open >= 0) return qs_fail(vm, QS_EVALUE, "reshape: one size may be -1, got two");
        else open = i;
    }
    if (!(known >= 1) || fmod((double)count, known) != 0)
        return qs_fail(vm, QS_ESHAPE, "reshape: %zu elements cannot be divided by %.15g", count, known);
    dims[open] = (int64_t)((double)count / known);
    return QS_OK;
}

/* Reads the sizes: either all arguments after the first are numbers, or the only one is a vector. */
static qs_status reshape_size(qs_vm *vm, qs_call_args *c, size_t count, int *rank, int64_t dims[QS_MAX_RANK]) {
    double few[QS_MAX_RANK], *list = few, *made = NULL, numbers[QS_MAX_RANK];
    size_t n = (size_t)c->nin - 1;
    bool vector = n == 1 && c->in[1].kind == QS_ARRAY, some = false, sizes = true;
    if (vector && !qarr_few_doubles(vm, c->in[1], few, &n)) {
        TRY(qarr_doubles(vm, c->in[1], "reshape: the sizes", &made, &n));
        list = made;
    }
    for (size_t i = 0; i < n && i < QS_MAX_RANK; i++) {
        bool number = vector || qval_is_number(c->in[i + 1]);
        numbers[i] = vector ? list[i] : number ? qval_number(c->in[i + 1]) : 0;
        some |= numbers[i] == -1;
        sizes &= number && numbers[i] >= -1 && numbers[i] <= 0x1p53 && trunc(numbers[i]) == numbers[i];
    }
    qmem_free(qvm_ctx(vm), made, n * sizeof *made);
    if (!some || !sizes || n > QS_MAX_RANK) return qarr_shape_args(vm, "reshape", c->nin - 1, c->in + 1, rank, dims);
    *rank = (int)n;
    return leave_over(vm, count, *rank, numbers, dims);
}

qs_status qmatrix_reshape(qs_vm *vm, qs_call_args *c) {
    int rank;
    int64_t dims[QS_MAX_RANK];
    Array *a = NULL, *r;
    if (c->in[0].kind != QS_CELL) TRY(qarg_array(vm, c, 0, "x", &a));
    TRY(reshape_size(vm, c, a ? a->count : ((Cell *)c->in[0].u.p)->count, &rank, dims));
    if (!a) {
        Cell *x = c->in[0].u.p;
        size_t n = 1;
        for (int i = 0; i < rank; i++) n *= (size_t)dims[i];
        if (n != x->count)
            return qs_fail(vm, QS_ESHAPE, "reshape: %zu elements do not fit a shape of %zu", x->count, n);
        return qcell_copy(vm, x, rank, dims, &c->out[0]);
    }
    TRY(qarr_reshape_view(vm, a, rank, dims, &r));
    c->out[0] = qarr_value(r);
    return QS_OK;
}

/* Permutes the dimensions of a. */
static qs_status permute(qs_vm *vm, qs_call_args *c, Array *a, const int *order, int rank) {
    Place s = source(a), d, v;
    extend(&s.shape, rank);
    v = s, d.shape.rank = rank, d.shape.ndim = order[0] && a->ndim < 2 ? 2 : a->ndim; /* a column has two */
    for (int i = 0; i < rank; i++) {
        d.shape.dims[i] = s.shape.dims[order[i]];
        v.shape.strides[i] = s.shape.strides[order[i]];
    }
    int64_t n[QS_MAX_RANK];
    memcpy(n, d.shape.dims, sizeof n);
    TRY(new_target(vm, c, 0, (qs_dtype)a->dtype, &d));
    return move_elements(vm, c->name, &d, &v, n);
}

static void negate_imag(Array *a, void *p) {
    if (a->dtype == QS_C64)
        for (size_t i = 0; i < a->count; i++) ((QComplexF *)p)[i].im *= -1;
    if (a->dtype == QS_C128)
        for (size_t i = 0; i < a->count; i++) ((QComplexD *)p)[i].im *= -1;
}

/* A vec becomes a column, and such a column a vec again. */
static qs_status swap_first_two(qs_vm *vm, qs_call_args *c, bool conjugate) {
    static const int order[QS_MAX_RANK] = {1, 0, 2, 3, 4, 5, 6, 7};
    Array *a;
    void *p;
    TRY(qarg_array(vm, c, 0, "x", &a));
    bool column = a->transposed && a->ndim == 2;
    TRY(permute(vm, c, a, order, a->rank < 2 ? 2 : a->rank));
    Array *r = qval_array(c->out[0]);
    if (conjugate) {
        TRY(qarr_write(vm, r, &p));
        negate_imag(r, p);
    }
    if (column) qarr_keep(r, 1);
    else if (a->ndim < 2) r->transposed = true;
    return QS_OK;
}

qs_status qmatrix_transpose(qs_vm *vm, qs_call_args *c) { return swap_first_two(vm, c, false); }
qs_status qmatrix_herm_transpose(qs_vm *vm, qs_call_args *c) { return swap_first_two(vm, c, true); }

qs_status qmatrix_permute(qs_vm *vm, qs_call_args *c) {
    Array *a;
    double *want;
    size_t n;
    int order[QS_MAX_RANK], seen = 0;
    TRY(qarg_array(vm, c, 0, "x", &a));
    TRY(qarr_doubles(vm, c->in[1], "permute: order", &want, &n));
    bool good = n >= (size_t)(a->rank < 2 ? 2 : a->rank) && n <= QS_MAX_RANK;
    for (size_t i = 0; good && i < n; i++) {
        good = want[i] >= 0 && want[i] < (double)n && want[i] == floor(want[i]);
        if (good) order[i] = (int)want[i], seen |= 1 << order[i];
    }
    qmem_free(qvm_ctx(vm), want, n * sizeof *want);
    if (!good || seen != (1 << n) - 1)
        return qs_fail(vm, QS_EVALUE, "permute: order must hold each of the %d dimensions once",
                       a->rank < 2 ? 2 : a->rank);
    return permute(vm, c, a, order, (int)n);
}

qs_status qmatrix_moveaxis(qs_vm *vm, qs_call_args *c) {
    Array *a;
    int from, to, order[QS_MAX_RANK];
    TRY(qarg_array(vm, c, 0, "x", &a));
    TRY(qarg_dim(vm, c->name, c->in[1], &from));
    TRY(qarg_dim(vm, c->name, c->in[2], &to));
    int n = a->ndim < 2 ? 2 : a->ndim;
    if (from >= n || to >= n)
        return qs_fail(vm, QS_EVALUE, "moveaxis: x has %d dimensions, got %d and %d", n, from, to);
    for (int i = 0, k = 0; i < n; i++) {
        if (k == from) k++;
        order[i] = i == to ? from : k++;
    }
    return permute(vm, c, a, order, n);
}

qs_status qmatrix_squeeze(qs_vm *vm, qs_call_args *c) {
    Array *a, *r;
    TRY(qarg_array(vm, c, 0, "x", &a));
    int rank = 0;
    int64_t dims[QS_MAX_RANK];
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != 1) dims[rank++] = a->dims[i];
    if (rank == 0) dims[rank++] = 1;
    TRY(qarr_reshape_view(vm, a, rank, dims, &r));
    return c->out[0] = qarr_value(r), QS_OK;
}

/* -- joining and repeating ----------------------------------------------------------------------------------------- */
static qs_status join_cells(qs_vm *vm, int n, const qs_value *in, qs_value *out) {
    int64_t total = 0, at = 0;
    for (int i = 0; i < n; i++) total += in[i].kind == QS_CELL ? (int64_t)((Cell *)in[i].u.p)->count : 1;
    const Type *elem = in[0].kind == QS_CELL ? ((Cell *)in[0].u.p)->elem : qtype_any(qvm_ctx(vm));
    for (int i = 0; i < n; i++)
        if (in[i].kind != QS_CELL || ((Cell *)in[i].u.p)->elem != elem) elem = qtype_any(qvm_ctx(vm));
    Cell *r;
    TRY(qcell_new(vm, elem, 1, &total, &r));
    *out = qval_object(QS_CELL, r);
    for (int i = 0; i < n; i++) {
        const Cell *x = in[i].kind == QS_CELL ? in[i].u.p : NULL;
        const qs_value *items = x ? x->items : &in[i];
        for (size_t k = 0; k < (x ? x->count : 1); k++, at++) {
            qval_release(vm, r->items[at]);
            r->items[at] = qval_retain(items[k]);
        }
    }
    return QS_OK;
}

/* Moves empty arguments ([]), which are ignored, behind the others in [from, nin); returns the end of the others. */
static int set_apart_empty(qs_call_args *c, int from) {
    int end = from;
    for (int i = from; i < c->nin; i++) {
        qs_value v = c->in[i];
        if (v.kind == QS_ARRAY && qval_array(v)->count == 0 && qval_array(v)->rank < 2) continue;
        c->in[i] = c->in[end], c->in[end++] = v;
    }
    return end;
}

/* Determines the shape and dtype of arguments [from, end) concatenated along dim; without arguments, of []. */
static qs_status joined_shape(qs_vm *vm, qs_call_args *c, int from, int end, int dim, Shape *out, qs_dtype *t) {
    bool first = true;
    out->rank = out->ndim = 2, out->dims[0] = 0, out->dims[1] = 0;
    *t = qarg_meet(vm, c, from, end > from ? end : from + 1);
    for (int i = from; i < end; i++) {
        Array *a;
        Shape s;
        TRY(qarg_array(vm, c, i, "every argument", &a));
        qmatrix_shape(a, &s);
        extend(&s, dim + 1);
        if (first) {
            *out = s, first = false;
            continue;
        }
        extend(out, s.rank), extend(&s, out->rank);
        if (s.ndim > out->ndim) out->ndim = s.ndim;
        for (int d = 0; d < s.rank; d++)
            if (d != dim && s.dims[d] != out->dims[d])
                return qs_fail(vm, QS_ESHAPE, "%s: dimension %d must be the same in all arguments, got %lld and %lld",
                               c->name, d, (long long)out->dims[d], (long long)s.dims[d]);
        if (__builtin_add_overflow(out->dims[dim], s.dims[dim], &out->dims[dim]))
            return qs_fail(vm, QS_ENOMEM, "%s: out of memory: the result is larger than any memory", c->name);
    }
    return QS_OK;
}

/* Copies the arguments on a device (away) or on the host to their positions in d.  Those on a device are copied first,
 * so that the result is there. */
static qs_status place_all(qs_vm *vm, qs_call_args *c, int from, int end, int dim, Place d, bool away) {
    for (int i = from; i < end; i++) {
        Array *a = qval_array(c->in[i]);
        if (a->count == 0) continue;
        Place s = source(a);
        extend(&s.shape, d.shape.rank);
        if (qbuf_is_away(a->buf) == away) TRY(move_elements(vm, c->name, &d, &s, s.shape.dims));
        d.at += d.shape.strides[dim] * s.shape.dims[dim];
    }
    return QS_OK;
}

static bool are_numbers(const qs_call_args *c, int from) {
    for (int i = from; i < c->nin; i++)
        if (c->in[i].kind != QS_NUM) return false;
    return c->nin > from;
}

/* Joins numbers without an array for each. */
static qs_status join_numbers(qs_vm *vm, qs_call_args *c, int from, int dim) {
    Place d;
    Array *first;
    qs_dtype t = qarg_meet(vm, c, from, c->nin);
    qs_value number = c->in[from];
    TRY(qarg_array(vm, c, from, "every argument", &first));
    qmatrix_shape(first, &d.shape);
    extend(&d.shape, dim + 1);
    d.shape.dims[dim] = c->nin - from;
    TRY(new_target(vm, c, 0, t, &d));
    TRY(qarr_put(vm, d.a, 0, number));
    for (int i = from + 1; i < c->nin; i++) TRY(qarr_put(vm, d.a, (size_t)(i - from), c->in[i]));
    return QS_OK;
}

/* Returns whether the arguments are numbers and rows with elements of type t, in the memory of the host. */
static bool are_rows(qs_vm *vm, const qs_call_args *c, int from, qs_dtype t) {
    if (qdevmath_asks(vm)) return false;
    for (int i = from; i < c->nin; i++) {
        const Array *a = c->in[i].u.p;
        if (c->in[i].kind == QS_NUM && t == QS_F32) continue;
        if (c->in[i].kind != QS_ARRAY || a->rank != 1 || a->ndim != 1 || a->dtype != t) return false;
        if (!a->count || !a->contiguous || a->trace || qbuf_is_away(a->buf)) return false;
    }
    return true;
}

/* Joins rows and numbers without general moves. */
static qs_status join_rows(qs_vm *vm, qs_call_args *c, int from, qs_dtype t) {
    int64_t n[2] = {1, 0};
    size_t size = qdtype_size(t), at = 0, count;
    const void *row;
    char *to;
    Array *r;
    for (int i = from; i < c->nin; i++) n[1] += c->in[i].kind == QS_NUM ? 1 : (int64_t)qval_array(c->in[i])->count;
    TRY(qarg_result(vm, c, 0, t, 2, n, &r, (void **)&to));
    qarr_keep(r, 1);
    for (int i = from; i < c->nin; i++, at += count) {
        count = c->in[i].kind == QS_NUM ? 1 : qval_array(c->in[i])->count;
        if (c->in[i].kind == QS_NUM) TRY(qarr_put(vm, r, at, c->in[i]));
        else TRY(qarr_read(vm, c->in[i].u.p, &row));
        if (c->in[i].kind != QS_NUM) memcpy(to + at * size, row, count * size);
    }
    return QS_OK;
}

static qs_status join_arrays(qs_vm *vm, qs_call_args *c, int from, int dim) {
    Place d;
    qs_dtype t;
    if (are_numbers(c, from)) return join_numbers(vm, c, from, dim);
    t = c->in[from].kind == QS_ARRAY ? (qs_dtype)qval_array(c->in[from])->dtype : QS_F32;
    if (dim == 1 && are_rows(vm, c, from, t) && qarg_meet(vm, c, from, c->nin) == t) return join_rows(vm, c, from, t);
    for (int i = from; i < c->nin; i++)
        if (c->in[i].kind == QS_CELL) return join_cells(vm, c->nin - from, c->in + from, &c->out[0]);
    int end = set_apart_empty(c, from);
    TRY(joined_shape(vm, c, from, end, dim, &d.shape, &t));
    TRY(new_target(vm, c, 0, t, &d));
    for (int i = from; i < end; i++) { /* numbers become arrays, so that it is known which data is on a device */
        if (c->in[i].kind == QS_ARRAY && qval_array(c->in[i])->count == 0) continue;
        TRY(qarg_typed(vm, c, i, "every argument", t, &(Array *){NULL}));
    }
    if (qdevmath_asks(vm)) TRY(place_all(vm, c, from, end, dim, d, true));
    return place_all(vm, c, from, end, dim, d, false);
}

qs_status qmatrix_vertcat(qs_vm *vm, qs_call_args *c) { return join_arrays(vm, c, 0, 0); }
qs_status qmatrix_horzcat(qs_vm *vm, qs_call_args *c) { return join_arrays(vm, c, 0, 1); }
qs_status qmatrix_cat(qs_vm *vm, qs_call_args *c) {
    int dim;
    TRY(qarg_dim(vm, c->name, c->in[0], &dim));
    return join_arrays(vm, c, 1, dim);
}

/* Repeats s as one move, in which the repetition counts are additional dimensions.  If there would be too many
 * dimensions, the first ones need one move per repetition. */
static qs_status repeat(qs_vm *vm, const char *fn, Place d, Place s, int64_t *times, int rank) {
    for (int i = rank - 1; i >= 0 && s.shape.rank < QS_MAX_RANK; i--) {
        int k = s.shape.rank;
        if (times[i] == 1) continue;
        s.shape.dims[k] = times[i], s.shape.strides[k] = 0;
        d.shape.strides[k] = s.shape.dims[i] * d.shape.strides[i];
        s.shape.rank = d.shape.rank = k + 1, times[i] = 1;
    }
    int i = 0;
    while (i < rank && times[i] == 1) i++;
    if (i == rank) return move_elements(vm, fn, &d, &s, s.shape.dims);
    int64_t n = times[i], step = s.shape.dims[i] * d.shape.strides[i];
    times[i] = 1;
    for (int64_t k = 0; k < n; k++, d.at += step) TRY(repeat(vm, fn, d, s, times, rank));
    return times[i] = n, QS_OK;
}

qs_status qmatrix_repmat(qs_vm *vm, qs_call_args *c) {
    Array *a;
    int rank;
    int64_t times[QS_MAX_RANK];
    TRY(qarg_listed(vm, c, 0, "x", &a));
    TRY(qarr_shape_args(vm, c->name, c->nin - 1, c->in + 1, &rank, times));
    Place s = source(a), d;
    if (rank > s.shape.ndim) s.shape.ndim = rank;
    if (rank == 1) times[1] = times[0], times[0] = 1, rank = 2; /* repmat(x, n) repeats side by side */
    extend(&s.shape, rank);
    for (; rank < s.shape.rank; rank++) times[rank] = 1;
    d.shape = s.shape;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(s.shape.dims[i], times[i], &d.shape.dims[i]))
            return qs_fail(vm, QS_EVALUE, "repmat: the result would be too large");
    TRY(new_target(vm, c, 0, (qs_dtype)a->dtype, &d));
    return volume(&d.shape) > 0 ? repeat(vm, c->name, d, s, times, rank) : QS_OK;
}

/* Moves the block of s that starts at `cut` to the beginning of dimension `dim` of d, and the part before it to the
 * end. Recursion over the dimensions moves the 2^rank blocks of a cyclic shift. */
static qs_status rotate(qs_vm *vm, Place d, Place s, const int64_t *cut, int64_t *n, int dim) {
    if (dim == d.shape.rank) return move_elements(vm, "circshift", &d, &s, n);
    int64_t all = n[dim], k = cut[dim];
    Place tail = d, from = s;
    from.at += k * s.shape.strides[dim];
    n[dim] = all - k;
    TRY(rotate(vm, d, from, cut, n, dim + 1));
    tail.at += (all - k) * d.shape.strides[dim];
    n[dim] = k;
    if (k > 0) TRY(rotate(vm, tail, s, cut, n, dim + 1));
    return n[dim] = all, QS_OK;
}

qs_status qmatrix_circshift(qs_vm *vm, qs_call_args *c) {
    Array *a;
    double *by;
    size_t nby;
    int first = 0;
    TRY(qarg_array(vm, c, 0, "x", &a));
    if (c->nin > 2) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[2], &first));
    TRY(qarr_doubles(vm, c->in[1], "circshift: shift", &by, &nby));
    Place s = source(a), d;
    qs_status status = QS_OK;
    if (c->nin > 2 && nby != 1)
        status = qs_fail(vm, QS_EVALUE, "circshift: shift must be one number if a dimension is given, got %zu", nby);
    int64_t cut[QS_MAX_RANK], n[QS_MAX_RANK];
    bool integral = qarr_cyclic_cut(s.shape.rank, s.shape.dims, by, nby, c->nin > 2 ? first : -1, cut);
    for (size_t i = 0; i < nby && status == QS_OK && !integral; i++)
        if (!(fabs(by[i]) < INFINITY) || by[i] != floor(by[i]))
            status = qs_fail(vm, QS_EVALUE, "circshift: shift must hold integers, got %g", by[i]);
    qmem_free(qvm_ctx(vm), by, nby * sizeof *by);
    TRY(status);
    d.shape = s.shape;
    TRY(new_target(vm, c, 0, (qs_dtype)a->dtype, &d));
    memcpy(n, s.shape.dims, sizeof n);
    return a->count ? rotate(vm, d, s, cut, n, 0) : QS_OK;
}

static qs_status flip(qs_vm *vm, qs_call_args *c, int dim) {
    Array *a;
    TRY(qarg_array(vm, c, 0, "x", &a));
    Place s = source(a), d;
    extend(&s.shape, dim + 1);
    d.shape = s.shape;
    TRY(new_target(vm, c, 0, (qs_dtype)a->dtype, &d));
    if (!a->count) return QS_OK;
    s.at += (s.shape.dims[dim] - 1) * s.shape.strides[dim];
    s.shape.strides[dim] *= -1;
    return move_elements(vm, c->name, &d, &s, d.shape.dims);
}
qs_status qmatrix_fliplr(qs_vm *vm, qs_call_args *c) { return flip(vm, c, 1); }
qs_status qmatrix_flipud(qs_vm *vm, qs_call_args *c) { return flip(vm, c, 0); }
qs_status qmatrix_flip(qs_vm *vm, qs_call_args *c) {
    Array *a;
    int dim;
    TRY(qstats_array_and_dim(vm, c, &a, &dim));
    return flip(vm, c, dim);
}

/* -- diagonals ----------------------------------------------------------------------------------------------------- */
qs_status qmatrix_diag(qs_vm *vm, qs_call_args *c) {
    Array *a;
    TRY(qarg_array(vm, c, 0, "x", &a));
    if (a->rank > 2) return qs_fail(vm, QS_ESHAPE, "diag: x must be a vec or a mat, got %d dimensions", a->rank);
    Place s = source(a), d;
    if (s.shape.dims[1] == 1 && s.shape.dims[0] > 1)
        s.shape.dims[1] = s.shape.dims[0], s.shape.dims[0] = 1, s.shape.strides[1] = s.shape.strides[0];
    int64_t n = s.shape.dims[1];
    if (s.shape.dims[0] == 1) return diagonal(vm, c, (qs_dtype)a->dtype, n, n, &s, n);
    n = s.shape.dims[0] < s.shape.dims[1] ? s.shape.dims[0] : s.shape.dims[1];
    d.shape = (Shape){.rank = 2, .ndim = 1, .dims = {1, n}};
    TRY(new_target(vm, c, 0, (qs_dtype)a->dtype, &d));
    s.shape.strides[1] += s.shape.strides[0];
    return move_elements(vm, c->name, &d, &s, (int64_t[]){1, n});
}

qs_status qmatrix_diagm(qs_vm *vm, qs_call_args *c) {
    Array *a;
    const void *p;
    TRY(qarg_array(vm, c, 0, "x", &a));
    TRY(qarg_packed(vm, c, 0, "x", (qs_dtype)a->dtype, &a, &p));
    Place s = source(a);
    s.shape.strides[1] = 1; /* a column is also accepted as a list */
    return diagonal(vm, c, (qs_dtype)a->dtype, (int64_t)a->count, (int64_t)a->count, &s, (int64_t)a->count);
}

/* Returns the part of a matrix on and above (sign 1) or below (sign -1) its k-th diagonal. */
static qs_status triangle(qs_vm *vm, qs_call_args *c, int sign) {
    Array *a, *r;
    int64_t k = 0;
    void *p;
    TRY(qarg_array(vm, c, 0, "x", &a));
    if (a->rank > 2) return qs_fail(vm, QS_ESHAPE, "%s: x must be a mat, got %d dimensions", c->name, a->rank);
    if (c->nin > 1) TRY(qarg_int(vm, c->name, "k", c->in[1], &k));
    TRY(qarr_copy(vm, a, &r));
    c->out[0] = qarr_value(r);
    TRY(qarr_write(vm, r, &p));
    Shape s;
    qmatrix_shape(r, &s);
    size_t size = qdtype_size((qs_dtype)r->dtype);
    for (int64_t i = 0; r->count && i < s.dims[0]; i++)
        for (int64_t j = 0; j < s.dims[1]; j++)
            if (sign > 0 ? j - i < k : j - i > k) memset((char *)p + (size_t)(i * s.dims[1] + j) * size, 0, size);
    return QS_OK;
}
qs_status qmatrix_triu(qs_vm *vm, qs_call_args *c) { return triangle(vm, c, 1); }
qs_status qmatrix_tril(qs_vm *vm, qs_call_args *c) { return triangle(vm, c, -1); }

/* -- positions ----------------------------------------------------------------------------------------------------- */
static qs_status extents_arg(qs_vm *vm, const char *fn, qs_value v, Shape *s) {
    double *x;
    size_t n;
    TRY(qarr_doubles(vm, v, fn, &x, &n));
    bool good = n >= 1 && n <= QS_MAX_RANK;
    s->rank = (int)n;
    double product = 1;
    for (size_t i = 0; good && i < n; i++) {
        good = x[i] >= 0 && x[i] == floor(x[i]) && x[i] < 0x1p53;
        if (good) s->dims[i] = (int64_t)x[i], product *= x[i] > 1 ? x[i] : 1;
    }
    qmem_free(qvm_ctx(vm), x, n * sizeof *x);
    if (!good) return qs_fail(vm, QS_EVALUE, "%s: size must hold 1 to %d integers ≥ 0", fn, QS_MAX_RANK);
    if (product > 0x1p53) return qs_fail(vm, QS_EVALUE, "%s: size is larger than any array", fn);
    set_packed_strides(s);
    return QS_OK;
}

/* Converts linear indices to positions: one row per index. */
qs_status qmatrix_ind2pos(qs_vm *vm, qs_call_args *c) {
    Shape s;
    double *x, *pos;
    size_t n;
    TRY(extents_arg(vm, c->name, c->in[0], &s));
    TRY(qarr_doubles(vm, c->in[1], "ind2pos: index", &x, &n));
    qs_status status = QS_OK;
    size_t rank = (size_t)s.rank, bytes = qmem_size(n, rank * sizeof *pos, 0);
    pos = qmem_try(qvm_ctx(vm), bytes);
    if (!pos) status = qs_fail(vm, QS_ENOMEM, "ind2pos: no memory for %zu positions", n);
    for (size_t i = 0; i < n && status == QS_OK; i++) {
        if (!(x[i] >= 0 && x[i] < (double)volume(&s)))
            status = qs_fail(vm, QS_EINDEX, "ind2pos: index %g is outside an array of %lld elements", x[i],
                             (long long)volume(&s));
        else
            for (size_t d = 0; d < rank; d++) pos[i * rank + d] = (double)((int64_t)x[i] / s.strides[d] % s.dims[d]);
    }
    if (status == QS_OK) status = qarg_exact(vm, pos, 2, (int64_t[]){(int64_t)n, s.rank}, &c->out[0]);
    qmem_free(qvm_ctx(vm), pos, bytes);
    qmem_free(qvm_ctx(vm), x, n * sizeof *x);
    return status;
}

/* Converts positions (one per row) to linear indices; a single position gives a number. */
qs_status qmatrix_pos2ind(qs_vm *vm, qs_call_args *c) {
    Shape s;
    double *x;
    size_t n;
    TRY(extents_arg(vm, c->name, c->in[0], &s));
    TRY(qarr_doubles(vm, c->in[1], "pos2ind: position", &x, &n));
    size_t rank = (size_t)s.rank, rows = n / rank;
    qs_status status =
        n == rows * rank
            ? QS_OK
            : qs_fail(vm, QS_ESHAPE,
                      "pos2ind: a position in an array of %d dimensions has as many numbers, got %zu in all", s.rank,
                      n);
    for (size_t i = 0; i < rows && status == QS_OK; i++) { /* results overwrite positions that have already been read */
        double index = 0;
        for (size_t d = 0; d < rank; d++) {
            double at = floor(x[i * rank + d]);
            if (!(at >= 0 && at < (double)s.dims[d]))
                status = qs_fail(vm, QS_EINDEX, "pos2ind: %g is outside dimension %zu (size %lld)", at, d,
                                 (long long)s.dims[d]);
            index += at * (double)s.strides[d];
        }
        x[i] = index;
    }
    int64_t count = (int64_t)rows;
    if (status == QS_OK && rows == 1) c->out[0] = qs_num(x[0]);
    else if (status == QS_OK) status = qarg_exact(vm, x, 1, &count, &c->out[0]);
    qmem_free(qvm_ctx(vm), x, n * sizeof *x);
    return status;
}

/* -- products ------------------------------------------------------------------------------------------------------ */
/* Returns a view of the matrix x with an extent of 1 inserted before (odd 0) or behind (odd 1) each dimension. */
static qs_status spread_dimensions(qs_vm *vm, Array *x, int odd, qs_value *out) {
    Shape s;
    Array *v;
    qmatrix_shape(x, &s);
    int64_t dims[4] = {1, 1, 1, 1}, strides[4] = {0};
    for (int i = 0; i < 2; i++) dims[2 * i + 1 - odd] = s.dims[i], strides[2 * i + 1 - odd] = s.strides[i];
    TRY(qarr_view(vm, x, 4, dims, strides, x->offset, &v));
    *out = qarr_value(v);
    return QS_OK;
}

/* Computes (m x 1 x n x 1) .* (1 x p x 1 x q), viewed as mp x nq. */
qs_status qmatrix_kron(qs_vm *vm, qs_call_args *c) {
    Array *a, *b, *r;
    const void *p;
    qs_dtype d = qarg_meet(vm, c, 0, 2);
    bool numbers = c->in[0].kind != QS_ARRAY || c->in[1].kind != QS_ARRAY;
    TRY(qarg_array(vm, c, 0, "a", &a));
    TRY(qarg_array(vm, c, 1, "b", &b));
    for (int i = 0; numbers && i < 2; i++) TRY(qarg_packed(vm, c, i, i ? "b" : "a", d, i ? &b : &a, &p));
    if (a->rank > 2 || b->rank > 2) return qs_fail(vm, QS_ESHAPE, "kron: a and b must be vectors or matrices");
    qs_value x = qs_nil(), y = qs_nil(), product = qs_nil();
    qs_status s = spread_dimensions(vm, a, 1, &x);
    if (s == QS_OK) s = spread_dimensions(vm, b, 0, &y);
    if (s == QS_OK) s = qarith_binary(vm, OP_PWMUL, x, y, &product);
    int64_t m[QS_MAX_RANK], n[QS_MAX_RANK];
    qarr_size(a, m), qarr_size(b, n);
    if (s == QS_OK) s = qarr_reshape(vm, qval_array(product), 2, (int64_t[]){m[0] * n[0], m[1] * n[1]}, &r);
    if (s == QS_OK) c->out[0] = qarr_value(r), qarr_keep(r, a->ndim > b->ndim ? a->ndim : b->ndim);
    qval_release(vm, x), qval_release(vm, y), qval_release(vm, product);
    return s;
}

qs_status qmatrix_cross(qs_vm *vm, qs_call_args *c) {
    Array *a, *b, *r;
    const void *p, *q;
    void *out;
    qs_dtype d = qarg_meet_float(vm, c, 0, 2);
    TRY(qarg_array(vm, c, 0, "a", &a));
    TRY(qarg_array(vm, c, 1, "b", &b));
    if (qdtype_is_complex(d)) return qarg_wrong(vm, c->name, "a and b", "real", c->in[qdtype_is_complex(b->dtype)]);
    if (!qarr_same_shape(a, b) || a->rank > 2 || (a->rank == 2 ? a->dims[1] : (int64_t)a->count) != 3)
        return qs_fail(vm, QS_ESHAPE, "cross: a and b must be vectors of 3 elements, or matrices of N rows of 3");
    TRY(qarg_packed(vm, c, 0, "a", QS_F64, &a, &p));
    TRY(qarg_packed(vm, c, 1, "b", QS_F64, &b, &q));
    TRY(qarg_result_like(vm, c, 0, d, a, &r, &out));
    for (size_t i = 0; i < a->count; i++) {
        size_t row = i / 3 * 3, j = row + (i + 1) % 3, k = row + (i + 2) % 3;
        const double *x = p, *y = q;
        qdtype_put(d, (char *)out + i * qdtype_size(d), x[j] * y[k] - x[k] * y[j]);
    }
    return QS_OK;
}
