/* select.c -- resolves the indices of x[…] to positions.
 *
 * Each index becomes a selection in one dimension: a single position, evenly spaced positions, or a list.  Positions
 * outside that the access mode does not map inside are marked OUTSIDE: they read as 0 and ignore writes. */
#include "vm/array/select.h"
#include "devices/pool.h"
#include "lang/kernel/elem/elem_host.h"
#include "vm/array/convert.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"
#include "vm/base/number.h"
#include "vm/base/warning.h"

#include <math.h>
#include <string.h>

/* -- access modes -------------------------------------------------------------------------------------------------- */
bool qselect_bound(AccessMode m, int64_t i, int64_t n, int64_t *out) {
    bool inside = i >= 0 && i < n, mapped = !inside && n > 0 && qaccess_is_mapped(m);
    *out = mapped ? ksem_bound(m, i, n) : i;
    return inside || mapped;
}

static bool has_boundary(AccessMode m) { return m == ACC_SAFE || qaccess_is_mapped(m); }

static qs_status outside_error(const Base *b, int dim, double index) {
    int shown = b->rank == 1 ? 1 : dim; /* a vec counts as 1xN */
    char text[NUMBER_TEXT];
    return qerr_set(qvm_ctx(b->vm), QS_EINDEX, "index %s is outside dimension %d%s%s (size %lld)",
                    qnum_shown(index, text), shown, b->of, b->of_name, (long long)b->dims[dim]);
}

/* Converts an index to a position: rounds toward zero, or downward if the access mode maps negative indices. */
static qs_status resolve_index(const Base *b, int dim, double x, int64_t *out) {
    if (isnan(x)) return qerr_set(qvm_ctx(b->vm), QS_EINDEX, "an index of %s is not a number", b->name);
    double integral = has_boundary(b->mode) ? floor(x) : trunc(x);
    if (integral != x && b->integral) TRY(qwarn_slip(qvm_ctx(b->vm), qvm_here(b->vm), SLIP_FRACTION));
    int64_t i = qdtype_sat_i64(integral, QINDEX_LEAST, QINDEX_MOST);
    if (qselect_bound(b->mode, i, b->dims[dim], out)) return QS_OK;
    *out = OUTSIDE;
    return b->mode == ACC_SAFE ? QS_OK : outside_error(b, dim, integral);
}

/* -- from indices to selections ------------------------------------------------------------------------------------ */
void qselect_close(qs_vm *vm, Selection *s) {
    for (int d = 0; d < s->n; d++)
        if (s->at[d].list) qpool_put(qvm_ctx(vm), s->at[d].list, s->at[d].room * sizeof(int64_t));
}

static qs_status new_list(qs_vm *vm, Select *s, size_t n) {
    s->room = s->count = n;
    s->list = qpool_get(qvm_ctx(vm), qmem_size(n, sizeof *s->list, 0));
    return s->list ? QS_OK : qerr_set(qvm_ctx(vm), QS_ENOMEM, "out of memory: an index list of %zu elements", n);
}

/* Replaces a list that is evenly spaced by first and step. */
static void even_out(qs_vm *vm, Select *s) {
    int64_t first = s->count ? s->list[0] : 0, step = s->count > 1 ? s->list[1] - first : 1;
    for (size_t k = 0; k < s->count; k++)
        if (s->list[k] < 0 || s->list[k] != first + (int64_t)k * step) return;
    s->first = first;
    s->step = step;
    qpool_put(qvm_ctx(vm), s->list, s->room * sizeof *s->list);
    s->list = NULL;
}

static bool convert_inside(const double *x, size_t n, double size, int64_t *list) {
    bool other = false;
    for (size_t k = 0; k < n; k++) other |= !(x[k] >= 0 && x[k] < size);
    if (other) return false;
    if (size <= INT32_MAX) /* conversion to int32 is vectorized */
        for (size_t k = 0; k < n; k++) list[k] = (int32_t)x[k], other |= (double)(int32_t)x[k] != x[k];
    else
        for (size_t k = 0; k < n; k++) list[k] = (int64_t)x[k], other |= (double)list[k] != x[k];
    return !other;
}

bool qselect_run(qs_dtype d, const char *p, ptrdiff_t step, size_t n, double size, int64_t *list) {
    double x[PIECE];
    bool outside = false;
    if (!qdtype_is_int(d)) {
        qconv_run(d, p, step, QS_F64, x, sizeof *x, n);
        return convert_inside(x, n, size, list);
    }
    qconv_run(d, p, step, QS_I64, list, sizeof *list, n);
    for (size_t k = 0; k < n; k++) outside |= (uint64_t)list[k] >= (uint64_t)size;
    return !outside;
}

static qs_status places_of_run(const Base *b, int dim, qs_dtype d, const char *p, ptrdiff_t step, size_t n,
                               int64_t *list) {
    double x[PIECE];
    for (size_t m; n; n -= m, p += step * (ptrdiff_t)m, list += m) {
        m = n < PIECE ? n : PIECE;
        if (qselect_run(d, p, step, m, (double)b->dims[dim], list)) continue;
        qconv_run(d, p, step, QS_F64, x, sizeof *x, m);
        for (size_t k = 0; k < m; k++) TRY(resolve_index(b, dim, x[k], &list[k]));
    }
    return QS_OK;
}

/* Recognizes a range, integral numbers evenly spaced and inside, without building a list; most index vectors are
 * ranges.
 */
static bool select_range(const Base *b, int dim, const Array *a, const void *p, Select *s) {
    double x[PIECE], size = (double)b->dims[dim], origin = 0, step = 1;
    ptrdiff_t elem = (ptrdiff_t)qdtype_size((qs_dtype)a->dtype);
    if (!a->contiguous || a->count < 2) return false;
    for (size_t at = 0, m; at < a->count; at += m) {
        m = a->count - at < PIECE ? a->count - at : PIECE;
        qconv_run((qs_dtype)a->dtype, (const char *)p + (ptrdiff_t)at * elem, elem, QS_F64, x, sizeof *x, m);
        if (!at) origin = x[0], step = x[1] - x[0];
        double first = origin + (double)at * step;
        bool uneven = false;
        for (size_t k = 0; k < m; k++) uneven |= x[k] != first + (double)(int32_t)k * step;
        if (uneven || !(x[0] >= 0 && x[0] < size && x[m - 1] >= 0 && x[m - 1] < size)) return false;
    }
    if (origin != trunc(origin) || step != trunc(step)) return false;
    *s = (Select){.count = a->count, .first = (int64_t)origin, .step = (int64_t)step};
    return true;
}

static qs_status select_list(const Base *b, int dim, Array *a, Select *s) {
    const void *p;
    Nest n;
    TRY(qarr_read(b->vm, a, &p));
    bool even = select_range(b, dim, a, p, s);
    if (a->rank >= 2 && a->dims[1] != 1) s->shape = a;
    if (even) return QS_OK;
    TRY(new_list(b->vm, s, a->count));
    qstrided_begin(&n, a->rank, a->dims);
    qstrided_array(&n, p, a);
    qstrided_fuse(&n);
    for (int64_t *list = s->list; qstrided_next(&n); list += n.count)
        TRY(places_of_run(b, dim, (qs_dtype)a->dtype, n.at[0], n.step[0], n.count, list));
    even_out(b->vm, s);
    return QS_OK;
}

static bool truth_at(const Array *mask, const uint8_t *p, size_t k) { return p[(ptrdiff_t)qarr_offset(mask, k)] != 0; }

qs_status qselect_true(const Base *b, int dim, Array *mask, Select *s) {
    const void *p;
    size_t n = 0;
    if (mask->count != (size_t)b->dims[dim])
        return qerr_set(qvm_ctx(b->vm), QS_ESHAPE, "a mask of %zu elements does not fit dimension %d%s%s (size %lld)",
                        mask->count, b->rank == 1 ? 1 : dim, b->of, b->of_name, (long long)b->dims[dim]);
    TRY(qarr_read(b->vm, mask, &p));
    TRY(new_list(b->vm, s, mask->count));
    for (size_t k = 0; k < mask->count; k++)
        if (truth_at(mask, p, k)) s->list[n++] = (int64_t)k;
    s->count = n;
    even_out(b->vm, s);
    return QS_OK;
}

static qs_status select_one(const Base *b, int dim, double x, Select *s) {
    s->count = 1;
    s->scalar = true;
    TRY(resolve_index(b, dim, x, &s->first));
    s->outside = s->first == OUTSIDE;
    return QS_OK;
}

qs_status qselect_range(qs_vm *vm, const qs_value *span, Array **out) {
    double first = (double)span[0].u.i, step = (double)span[1].u.i, last = (double)(span[2].u.i - 1) * step + first;
    return qarr_range(vm, qvm_ctx(vm)->scalar_dtype, first, step, last, out);
}

/* Returns the first position of a span that is outside. */
static double first_outside(int64_t first, int64_t step, int64_t size) {
    if (first < 0 || first >= size) return (double)first;
    int64_t last_inside = step > 0 ? (size - 1 - first) / step : -(first / step);
    return (double)first + (double)(last_inside + 1) * (double)step;
}

/* The access mode handles positions outside, as it does for a vector. */
static qs_status select_span(const Base *b, int dim, const qs_value *span, Select *s) {
    int64_t first = span[0].u.i, step = span[1].u.i, count = span[2].u.i, last, size = b->dims[dim];
    Array *a;
    if (!count) return QS_OK;
    bool fits = !__builtin_mul_overflow(count - 1, step, &last) && !__builtin_add_overflow(last, first, &last);
    if (fits && first >= 0 && first < size && last >= 0 && last < size) {
        *s = (Select){.count = (size_t)count, .first = first, .step = count > 1 ? step : 1};
        return QS_OK;
    }
    if (!has_boundary(b->mode)) return outside_error(b, dim, first_outside(first, step, size));
    TRY(qselect_range(b->vm, span, &a));
    qs_status status = select_list(b, dim, a, s);
    return qarr_release(b->vm, a), status;
}

static qs_status select_dim(const Base *b, int dim, const qs_value *index, Select *s) {
    qs_value at = *index;
    *s = (Select){.step = 1};
    if (qval_is_span(at)) return select_span(b, dim, qval_span(index), s);
    if (qval_is_colon(at)) return s->count = (size_t)b->dims[dim], QS_OK;
    if (qval_is_number(at)) return select_one(b, dim, qval_number(at), s);
    if (at.kind != QS_ARRAY || qdtype_is_complex((qs_dtype)qval_array(at)->dtype))
        return qerr_set(qvm_ctx(b->vm), QS_ETYPE,
                        "an index%s%s must be a number, a vector or :, got a value of type %s%s", b->of, b->of_name,
                        qval_type_name(b->vm, at),
                        at.kind == QS_STRING && !b->dims[b->rank - 1] ? "; dict() makes a dictionary" : "");
    Array *a = qval_array(at);
    return a->dtype == QS_B1 ? qselect_true(b, dim, a, s) : select_list(b, dim, a, s);
}

/* -- the indexed value, with as many dimensions as indices --------------------------------------------------------- */
static qs_status count_error(const Base *b, int rank, int n) {
    return qerr_set(qvm_ctx(b->vm), QS_EINDEX, "%s has %d dimensions, %d ind%s given", b->name, rank, n,
                    n == 1 ? "ex" : "ices");
}

/* Gives the base n dimensions.  A vec with two or more indices is 1xN; additional dimensions have extent 1. */
static qs_status fit_rank(Base *b, int n) {
    if (n > QS_MAX_RANK) return count_error(b, b->rank, n);
    if (b->rank == 1 && n > 1) {
        b->dims[1] = b->dims[0], b->strides[1] = b->strides[0];
        b->dims[0] = 1, b->strides[0] = 0;
        b->rank = 2;
    }
    for (; b->rank < n; b->rank++) b->dims[b->rank] = 1, b->strides[b->rank] = 0;
    return b->rank == n ? QS_OK : count_error(b, b->rank, n);
}

static void open_base(Base *b, qs_vm *vm, TypeMods mods, const char *name) {
    b->vm = vm;
    b->mode = (AccessMode)mods.access;
    b->is_list = false;
    b->integral = !mods.access && !mods.flags;
    b->name = name ? name : "the array";
    b->of = name ? " of " : "";
    b->of_name = name ? name : "";
}

void qselect_array(Base *b, qs_vm *vm, const Array *a, TypeMods mods, const char *name) {
    open_base(b, vm, mods, name);
    b->rank = a->rank;
    for (int d = 0; d < a->rank; d++) b->dims[d] = a->dims[d], b->strides[d] = a->strides[d];
}

void qselect_string(Base *b, qs_vm *vm, const Str *s, TypeMods mods, const char *name) {
    open_base(b, vm, mods, name);
    if (!name) b->name = "the string";
    b->rank = 1, b->dims[0] = (int64_t)s->len, b->strides[0] = 1;
}

void qselect_cell(Base *b, qs_vm *vm, const Cell *c, TypeMods mods, const char *name) {
    open_base(b, vm, mods, name);
    b->rank = c->rank;
    memcpy(b->dims, c->dims, c->rank * sizeof *b->dims);
    qarr_packed_strides(b->rank, b->dims, b->strides);
}

/* -- a single index for several dimensions ------------------------------------------------------------------------- */
static bool whole_shape(const Base *b, const Array *mask) {
    return mask->rank == b->rank && !memcmp(mask->dims, b->dims, mask->rank * sizeof *mask->dims);
}

static bool is_position(const Base *b, const Array *a) {
    return !qdtype_is_complex((qs_dtype)a->dtype) && b->rank >= 2 && a->count >= (size_t)b->rank &&
           a->count <= QS_MAX_RANK;
}

/* Checks a coordinate vector: x[0..2] of a matrix is an error, x[0..1] warns, because rows are probably meant. */
static qs_status check_position(const Base *b, const Indices *x) {
    bool beyond = false, integral = true;
    for (int d = b->rank; d < x->n; d++) beyond |= b->integral && qval_number(x->parts[d]) != 0;
    for (int d = 0; d < x->n; d++) integral &= qval_number(x->parts[d]) == trunc(qval_number(x->parts[d]));
    const char *name = *b->of_name ? b->of_name : "x";
    if (beyond)
        return qerr_set(qvm_ctx(b->vm), QS_EINDEX,
                        "%s has %d dimensions, and %d numbers as its only index are a place "
                        "in %d: %s[[0,1],%s:] has the rows 0 and 1",
                        b->name, b->rank, x->n, x->n, name, b->rank > 2 ? ":," : "");
    if (!b->is_list || !integral) return QS_OK; /* fractions have another warning */
    return qwarn_location(qvm_ctx(b->vm), qvm_here(b->vm), name, b->rank);
}

/* Splits a coordinate vector into numbers. */
static qs_status unpack_position(const Base *b, Array *a, Indices *x) {
    x->n = (int)a->count;
    x->at = x->parts;
    for (int d = 0; d < x->n; d++) TRY(qarr_get(b->vm, a, (size_t)d, &x->parts[d]));
    return check_position(b, x);
}

/* Warns about an index array of only zeros and ones with the shape of x, if it is computed and has at least 3 elements:
 * it was probably meant as a mask.  An integer type marks positions, such as labels, except uint8, which other programs
 * use for masks. */
static qs_status check_for_mask(const Base *b, Array *a) {
    const void *p;
    size_t size = qdtype_size((qs_dtype)a->dtype);
    if (qdtype_is_int((qs_dtype)a->dtype) && a->dtype != QS_U8) return QS_OK;
    if (a->count < 3 || a->hdr.flags & ARRAY_LITERAL || qdtype_is_complex((qs_dtype)a->dtype) || !whole_shape(b, a))
        return QS_OK;
    if (!qwarn_code(qvm_here(b->vm))) return QS_OK;
    TRY(qarr_read(b->vm, a, &p));
    for (size_t k = 0; k < a->count; k++) {
        double v = qdtype_get((qs_dtype)a->dtype, (const char *)p + (ptrdiff_t)(qarr_offset(a, k) * size));
        if (v != 0 && v != 1) return QS_OK;
    }
    return qwarn_at(qvm_ctx(b->vm), qvm_here(b->vm),
                    "these numbers are the positions 0 and 1%s%s, not a mask: comparisons make masks, as in x[w != 0], "
                    "and int(w) says that they are positions",
                    b->of, b->of_name);
}

qs_status qselect_open(const Base *b, int n, const qs_value *at, Indices *x) {
    x->form = FORM_EACH;
    x->n = n;
    x->at = at;
    if (n != 1) return QS_OK;
    if (qval_is_colon(at[0])) return x->form = FORM_WHOLE, QS_OK;
    Array *a = at[0].kind == QS_ARRAY ? qval_array(at[0]) : NULL;
    if (a && a->dtype == QS_B1) {
        char text[SHAPE_TEXT];
        if (whole_shape(b, a)) return x->form = FORM_MASK, QS_OK;
        if (b->rank < 2) return QS_OK;
        return qerr_set(qvm_ctx(b->vm), QS_ESHAPE, "a mask of shape %s does not fit %s", qarr_shape_text(a, text),
                        b->name);
    }
    if (a && is_position(b, a)) return unpack_position(b, a, x);
    return a ? check_for_mask(b, a) : QS_OK;
}

qs_status qselect_each(Base *b, const Indices *x, Selection *s) {
    TRY(fit_rank(b, x->n));
    s->n = 0;
    for (int d = 0; d < b->rank; d++) {
        s->n = d + 1;
        qs_status status = select_dim(b, d, &x->at[d], &s->at[d]);
        if (status) return qselect_close(b->vm, s), status;
    }
    return QS_OK;
}

/* -- shapes of selections ------------------------------------------------------------------------------------------ */
static int count_lists(const Selection *s, int *last) {
    int n = 0;
    for (int d = 0; d < s->n; d++)
        if (!s->at[d].scalar) n++, *last = d;
    return n;
}

bool qselect_single(const Selection *s) {
    int last;
    return count_lists(s, &last) == 0;
}

bool qselect_outside(const Selection *s) {
    for (int d = 0; d < s->n; d++) {
        const Select *at = &s->at[d];
        if (at->outside) return true;
        for (size_t k = 0; at->list && k < at->count; k++)
            if (at->list[k] == OUTSIDE) return true;
    }
    return false;
}

/* Computes the shape of the selected elements.  Trailing dimensions with a single position are dropped, and also the
 * leading ones if only one other dimension remains: m[y,:] and img[y,x,:] are vecs. */
int qselect_shape(const Selection *s, int64_t dims[QS_MAX_RANK]) {
    int last = 0, n = count_lists(s, &last);
    if (s->n == 1 && s->at[0].shape) {
        memcpy(dims, s->at[0].shape->dims, s->at[0].shape->rank * sizeof *dims);
        return s->at[0].shape->rank;
    }
    for (int d = 0; d <= last; d++) dims[d] = (int64_t)s->at[d].count;
    if (n == 1 && last >= 1) return dims[0] = dims[last], 1;
    if (last == 0 && s->n > 1) return dims[1] = 1, 2;
    return last + 1;
}

int qselect_view(const Base *b, const Selection *s, int64_t *dims, int64_t *strides, ptrdiff_t *offset) {
    int last = 0, n = count_lists(s, &last), rank = qselect_shape(s, dims);
    *offset = 0;
    for (int d = 0; d < s->n; d++) {
        if (s->at[d].list || s->at[d].outside || s->at[d].shape || !s->at[d].count) return 0;
        *offset += s->at[d].first * b->strides[d];
        if (d <= last) strides[d] = b->strides[d] * s->at[d].step;
    }
    if (n == 1 && last >= 1) strides[0] = strides[last];
    else if (last == 0 && s->n > 1) strides[1] = 1;
    return rank;
}

size_t qselect_count(const Selection *s) {
    size_t n = 1;
    for (int d = 0; d < s->n; d++)
        if (__builtin_mul_overflow(n, s->at[d].count, &n)) return SIZE_MAX;
    return n;
}
