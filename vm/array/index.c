/* index.c -- implements x[…] on arrays, cells and strings: reading, writing, updating. */
#include "vm/array/index.h"
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/array/device_ops.h"
#include "vm/array/mask.h"
#include "vm/array/select.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"
#include "vm/base/utf8.h"
#include "vm/base/warning.h"

#include <string.h>

/* -- reading an array ---------------------------------------------------------------------------------------------- */
/* Handles the most frequent case: integral indices inside, one per dimension of a contiguous array. */
static bool quick_index(const Array *a, int n, const qs_value *at, size_t *linear) {
    size_t k = 0;
    if (n != a->rank || !a->contiguous) return false;
    for (int d = 0; d < n; d++) {
        int64_t i;
        if (at[d].kind == QS_NUM) {
            if (!(at[d].u.f >= 0 && at[d].u.f < 0x1p62)) return false;
            i = (int64_t)at[d].u.f;
            if ((double)i != at[d].u.f) return false;
        } else if (at[d].kind == QS_INT) i = at[d].u.i;
        else return false;
        if (i < 0 || i >= a->dims[d]) return false;
        k = k * (size_t)a->dims[d] + (size_t)i;
    }
    *linear = k;
    return true;
}

static const void *element_of(const Base *b, const Selection *s, const void *p, size_t size) {
    ptrdiff_t at = 0;
    for (int d = 0; d < s->n; d++) {
        if (s->at[d].outside) return NULL;
        at += s->at[d].first * b->strides[d];
    }
    return (const char *)p + at * (ptrdiff_t)size;
}

static qs_status get_single(const Base *b, Array *a, const Selection *s, qs_value *out) {
    const QComplexD zero = {0, 0};
    const void *p;
    TRY(qarr_read(b->vm, a, &p));
    const void *e = element_of(b, s, p, qdtype_size((qs_dtype)a->dtype));
    return qarr_load(b->vm, (qs_dtype)a->dtype, e ? e : &zero, out);
}

static qs_status read_places(const Base *b, Array *a, const Selection *s, Array *r) {
    const void *p;
    void *block;
    bool done = false;
    if (qdevmath_asks(b->vm)) TRY(qgather_on_device(b, a, s, r, false, &done));
    if (done) return QS_OK;
    TRY(qarr_read(b->vm, a, &p));
    TRY(qarr_write(b->vm, r, &block));
    return qgather_read(b, s, qdtype_size((qs_dtype)a->dtype), p, block), QS_OK;
}

/* The result of reading: a single element as a number; a view where possible; always a new array. */
typedef enum { GET_VALUE, GET_VIEW, GET_BLOCK } GetForm;

static qs_status get_selection(const Base *b, Array *a, const Selection *s, GetForm form, qs_value *out) {
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    ptrdiff_t offset;
    Array *r;
    if (form != GET_BLOCK && qselect_single(s)) return get_single(b, a, s, out);
    int rank = form == GET_VIEW ? qselect_view(b, s, dims, strides, &offset) : 0;
    if (rank) {
        TRY(qarr_view(b->vm, a, rank, dims, strides, (size_t)((ptrdiff_t)a->offset + offset), &r));
        return *out = qarr_value(r), QS_OK;
    }
    rank = qselect_shape(s, dims);
    TRY(qarr_new(b->vm, (qs_dtype)a->dtype, rank, dims, qselect_outside(s), &r));
    qs_status status = r->count ? read_places(b, a, s, r) : QS_OK;
    if (status) return qarr_release(b->vm, r), status;
    return *out = qarr_value(r), QS_OK;
}

static void open_mask_nest(Nest *n, const Array *a, const void *p, const Array *mask, const void *q) {
    qstrided_begin(n, a->rank, a->dims);
    qstrided_array(n, p, a);
    qstrided_array(n, q, mask);
    qstrided_fuse(n);
}

static size_t count_true(Nest n) {
    size_t total = 0;
    while (qstrided_next(&n)) {
        if (n.step[1] == 1) total += qmask_count(n.count, (const uint8_t *)n.at[1]);
        else
            for (size_t i = 0; i < n.count; i++) total += n.at[1][(ptrdiff_t)i * n.step[1]] != 0;
    }
    return total;
}

static bool is_aligned(const char *p, size_t size) { return (uintptr_t)p % (size < 8 ? size : 8) == 0; }

/* Returns whether the loops of mask.h can process the current run. */
static bool is_packed_run(const Nest *n, size_t size) {
    return n->step[0] == (ptrdiff_t)size && n->step[1] == 1 && is_aligned(n->at[0], size);
}

/* Copies the true elements of the current run to `to`, where `room` elements are left; returns their number. */
static size_t compress_run(const Nest *n, size_t size, char *to, size_t room) {
    const uint8_t *mask = (const uint8_t *)n->at[1];
    size_t moved = 0;
    if (is_packed_run(n, size)) return qmask_compress(size, n->count, mask, n->at[0], to, room);
    for (size_t i = 0; i < n->count; i++)
        if (mask[(ptrdiff_t)i * n->step[1]]) memcpy(to + moved++ * size, n->at[0] + (ptrdiff_t)i * n->step[0], size);
    return moved;
}

/* How values are assigned to the true elements: one to all, one to each, or those at the same positions. */
typedef enum { VALUES_ONE, VALUES_NEXT, VALUES_BESIDE } MaskedValues;

/* Assigns to the true elements of the current run; returns the number of values that it has passed. */
static size_t put_run(const Nest *n, size_t size, MaskedValues how, const char *values, size_t room) {
    const uint8_t *mask = (const uint8_t *)n->at[1];
    size_t used = how == VALUES_BESIDE ? n->count : 0;
    if (is_packed_run(n, size) && is_aligned(values, size)) {
        if (how == VALUES_NEXT) return qmask_expand(size, n->count, mask, values, room, n->at[0]);
        return qmask_blend(size, n->count, mask, values, how == VALUES_ONE, n->at[0]), used;
    }
    for (size_t i = 0, from = 0; i < n->count; i++) {
        bool take = mask[(ptrdiff_t)i * n->step[1]] != 0;
        if (take) memcpy(n->at[0] + (ptrdiff_t)i * n->step[0], values + from * size, size);
        if (how == VALUES_BESIDE || (take && how == VALUES_NEXT)) from++;
        if (how == VALUES_NEXT) used = from;
    }
    return used;
}

/* Reads the last element of a contiguous array without copying the rest from its device. */
static qs_status last_of(qs_vm *vm, Array *a, qs_value *out) {
    Array *last;
    int64_t one = 1;
    TRY(qarr_new(vm, (qs_dtype)a->dtype, 1, &one, false, &last));
    qs_status s = qarr_carry(vm, &(ElementMove){.name = "last",
                                                .from = a,
                                                .to = last,
                                                .rank = 1,
                                                .dims = &one,
                                                .from_steps = &one,
                                                .to_steps = &one,
                                                .from_at = (int64_t)a->count - 1});
    if (s == QS_OK) s = qarr_get(vm, last, 0, out);
    return qarr_release(vm, last), s;
}

/* Selects by a mask on a device.  A running count of the true elements gives the target position of each element, and
 * the number of results. */
static qs_status pick_there(qs_vm *vm, Array *a, Array *mask, Array *counts, qs_value *out, bool *done) {
    qs_value n;
    Array *r;
    int64_t one = 1, count = (int64_t)a->count, none = 0;
    AxisOp run = {.name = "x[mask]",
                  .combine = COMBINE_ADD,
                  .lane = QS_I64,
                  .x = mask,
                  .y = counts,
                  .rank = 1,
                  .dims = &one,
                  .strides = &none,
                  .n = count,
                  .step = 1,
                  .y_strides = &none,
                  .y_step = 1,
                  .beside = a};
    TRY(qaxisop_run(vm, &run, done));
    if (!*done) return QS_OK;
    TRY(last_of(vm, counts, &n));
    TRY(qarr_new(vm, (qs_dtype)a->dtype, 1, &(int64_t){(int64_t)qval_number(n)}, false, &r));
    qbuf_unset(r->buf);
    int64_t extent = (int64_t)r->count;
    ElementMove c = {.name = "x[mask]",
                     .from = a,
                     .to = r,
                     .rank = 1,
                     .dims = &count,
                     .from_steps = &one,
                     .to_steps = &one,
                     .lists = &counts,
                     .extents = &extent,
                     .into = true,
                     .from_one = true,
                     .mask = mask,
                     .mask_steps = &one};
    qs_status s = r->count ? qmovelaunch_on_device(vm, &c, done) : QS_OK;
    if (s || !*done) return qarr_release(vm, r), s;
    return *out = qarr_value(r), QS_OK;
}

static qs_status get_masked_there(qs_vm *vm, Array *a, Array *mask, qs_value *out, bool *done) {
    Array *counts;
    *done = false;
    qs_value both[] = {qarr_value(a), qarr_value(mask)};
    if (!a->count || !a->contiguous || !mask->contiguous || !qdevmath_holder(vm, 2, both)) return QS_OK;
    TRY(qarr_new(vm, QS_I64, 1, &(int64_t){(int64_t)a->count}, false, &counts));
    qs_status s = pick_there(vm, a, mask, counts, out, done);
    return qarr_release(vm, counts), s;
}

/* Computes A[mask]: a vec of the elements where the mask is true, in row-major order. */
static qs_status get_masked(qs_vm *vm, Array *a, Array *mask, qs_value *out) {
    size_t size = qdtype_size((qs_dtype)a->dtype);
    const void *p, *q;
    void *block;
    Array *r;
    Nest n;
    bool done = false;
    if (qdevmath_asks(vm)) TRY(get_masked_there(vm, a, mask, out, &done));
    if (done) return QS_OK;
    TRY(qarr_read(vm, a, &p));
    TRY(qarr_read(vm, mask, &q));
    open_mask_nest(&n, a, p, mask, q);
    size_t moved = 0, chosen = count_true(n);
    TRY(qarr_make(vm, (qs_dtype)a->dtype, 1, &(int64_t){(int64_t)chosen}, false, &r, &block));
    while (moved < chosen && qstrided_next(&n))
        moved += compress_run(&n, size, (char *)block + moved * size, chosen - moved);
    *out = qarr_value(r);
    return QS_OK;
}

/* Returns all elements, x[:]. */
static qs_status get_whole(qs_vm *vm, Array *a, GetForm form, qs_value *out) {
    Array *r;
    if (form == GET_VIEW) TRY(qarr_view(vm, a, a->rank, a->dims, a->strides, a->offset, &r));
    else TRY(qarr_copy(vm, a, &r));
    qarr_keep(r, a->ndim);
    return *out = qarr_value(r), QS_OK;
}

static qs_status get_array(Base *b, Array *a, int n, const qs_value *at, GetForm form, qs_value *out) {
    Indices x;
    Selection s;
    TRY(qselect_open(b, n, at, &x));
    if (x.form == FORM_MASK) return get_masked(b->vm, a, qval_array(at[0]), out);
    if (x.form == FORM_WHOLE) return get_whole(b->vm, a, form, out);
    *out = qs_nil();
    if (x.n == 1) TRY(qgather_list(b, a, x.at[0], out));
    if (out->kind != QS_NIL) return QS_OK;
    TRY(qselect_each(b, &x, &s));
    qs_status status = get_selection(b, a, &s, form, out);
    qselect_close(b->vm, &s);
    return status;
}

/* -- writing to an array ------------------------------------------------------------------------------------------- */
static qs_status assign_error(const Base *b, const Array *value, int rank, const int64_t *dims) {
    char have[SHAPE_TEXT], want[SHAPE_TEXT];
    Array shape = {.rank = (uint8_t)rank};
    memcpy(shape.dims, dims, (size_t)rank * sizeof *dims);
    return qerr_set(qvm_ctx(b->vm), QS_ESHAPE, "cannot assign an array of %s to a selection of %s%s%s",
                    qarr_shape_text(value, have), qarr_shape_text(&shape, want), b->of, b->of_name);
}

/* Compares shapes without their extents of 1, so that a row of values fits a column. */
static bool same_extents(int na, const int64_t *a, int nb, const int64_t *b) {
    int i = 0, j = 0;
    for (;; i++, j++) {
        while (i < na && a[i] == 1) i++;
        while (j < nb && b[j] == 1) j++;
        if (i == na || j == nb) return i == na && j == nb;
        if (a[i] != b[j]) return false;
    }
}

/* Converts the value to a contiguous array of a's dtype whose storage does not overlap with a. */
static qs_status value_block(qs_vm *vm, Array *a, qs_value v, Array **out) {
    if (v.kind == QS_ARRAY && qdtype_is_complex((qs_dtype)qval_array(v)->dtype) &&
        !qdtype_is_complex((qs_dtype)a->dtype))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "cannot assign complex numbers to an array of %s",
                        qdtype_info[a->dtype].name);
    if (v.kind == QS_ARRAY) TRY(qarr_check_truths(vm, a, qval_array(v)));
    if (v.kind != QS_ARRAY || qval_array(v)->dtype != a->dtype) return qarr_from_value(vm, v, (qs_dtype)a->dtype, out);
    if (qarr_overlap(a, qval_array(v))) return qarr_copy(vm, qval_array(v), out);
    return qarr_contiguous(vm, qval_array(v), out);
}

static qs_status put_selection(const Base *b, Array *a, const Selection *s, Array *value) {
    const void *block;
    void *p;
    size_t count = qselect_count(s);
    int64_t dims[QS_MAX_RANK];
    int rank = qselect_shape(s, dims);
    if (value->count != 1 && (count != value->count || !same_extents(rank, dims, value->rank, value->dims)))
        return assign_error(b, value, rank, dims);
    bool done = false;
    if (!count) return QS_OK;
    if (qdevmath_asks(b->vm)) TRY(qgather_on_device(b, a, s, value, true, &done));
    if (done) return QS_OK;
    TRY(qarr_read(b->vm, value, &block));
    TRY(qarr_write(b->vm, a, &p));
    qgather_write(b, s, qdtype_size((qs_dtype)a->dtype), p, block, value->count == 1);
    return qarr_settle(b->vm, a);
}

static qs_status fill_masked_there(qs_vm *vm, Array *a, Array *mask, Array *value, bool *done) {
    static const int64_t none[QS_MAX_RANK];
    return qmovelaunch_on_device(vm,
                                 &(ElementMove){.name = "x[mask] = y",
                                                .from = value,
                                                .to = a,
                                                .rank = a->rank,
                                                .dims = a->dims,
                                                .from_steps = none,
                                                .to_steps = a->strides,
                                                .mask = mask,
                                                .mask_steps = mask->strides},
                                 done);
}

/* Computes A[mask] = v, where v is one number, has one element for each true mask element, or has the shape of A. */
static qs_status put_masked(const Base *b, Array *a, Array *mask, Array *value) {
    size_t size = qdtype_size((qs_dtype)a->dtype);
    const void *q, *block;
    void *p;
    Nest n;
    bool done = false;
    if (value->count == 1 && a->count && qdevmath_asks(b->vm)) TRY(fill_masked_there(b->vm, a, mask, value, &done));
    if (done) return QS_OK;
    TRY(qarr_read(b->vm, mask, &q));
    TRY(qarr_read(b->vm, value, &block));
    TRY(qarr_write(b->vm, a, &p));
    open_mask_nest(&n, a, p, mask, q);
    size_t chosen = value->count == 1 ? 1 : count_true(n), used = 0;
    bool beside = value->count != chosen && qarr_same_shape(a, value);
    if (beside)
        TRY(qwarn_at(qvm_ctx(b->vm), qvm_here(b->vm),
                     "%zu values for %zu chosen elements: those at the same positions are taken, as in x[m] = v[m]",
                     value->count, chosen));
    if (value->count != chosen && !beside) return assign_error(b, value, 1, &(int64_t){(int64_t)chosen});
    MaskedValues how = value->count == 1 ? VALUES_ONE : beside ? VALUES_BESIDE : VALUES_NEXT;
    while (qstrided_next(&n)) used += put_run(&n, size, how, (const char *)block + used * size, value->count - used);
    return qarr_settle(b->vm, a);
}

/* Copies a mask that overlaps with A before A is written. */
static qs_status put_by_mask(const Base *b, Array *a, Array *mask, Array *value) {
    Array *copy;
    if (!qarr_overlap(a, mask) || qarr_same_elements(a, mask)) return put_masked(b, a, mask, value);
    TRY(qarr_copy(b->vm, mask, &copy));
    qs_status s = put_masked(b, a, copy, value);
    qarr_release(b->vm, copy);
    return s;
}

static qs_status put_form(Base *b, Array *a, const Indices *x, Array *value) {
    Selection s;
    if (x->form == FORM_MASK) return put_by_mask(b, a, qval_array(x->at[0]), value);
    if (x->form == FORM_WHOLE) {
        if (value->count != 1 && !qarr_same_shape(a, value)) return assign_error(b, value, a->rank, a->dims);
        return qarr_assign(b->vm, a, value);
    }
    TRY(qselect_each(b, x, &s));
    qs_status status = put_selection(b, a, &s, value);
    qselect_close(b->vm, &s);
    return status;
}

static qs_status set_array(Base *b, Array *a, int n, const qs_value *at, qs_value v) {
    Indices x;
    Array *value;
    TRY(qselect_open(b, n, at, &x));
    TRY(value_block(b->vm, a, v, &value));
    qs_status s = put_form(b, a, &x, value);
    qarr_release(b->vm, value);
    return s;
}

/* -- cells --------------------------------------------------------------------------------------------------------- */
/* Returns the linear index of the k-th selected item; OUTSIDE: it does not exist. */
static int64_t item_place(const Base *b, const Selection *s, size_t k) {
    int64_t at = 0;
    for (int d = s->n - 1; d >= 0; d--) {
        const Select *x = &s->at[d];
        size_t i = k % x->count;
        int64_t place = x->list ? x->list[i] : x->first + (int64_t)i * x->step;
        if (x->outside || place < 0) return OUTSIDE;
        at += place * b->strides[d];
        k /= x->count;
    }
    return at;
}

static qs_status get_items(const Base *b, Cell *c, const Selection *s, qs_value *out) {
    int64_t dims[QS_MAX_RANK], at;
    Cell *r;
    if (qselect_single(s)) {
        if ((at = item_place(b, s, 0)) == OUTSIDE) return qval_zero(b->vm, c->elem, out);
        return *out = qval_retain(c->items[at]), QS_OK;
    }
    int rank = qselect_shape(s, dims);
    TRY(qcell_new(b->vm, c->elem, rank, dims, &r));
    for (size_t k = 0; k < r->count; k++) {
        if ((at = item_place(b, s, k)) == OUTSIDE) continue;
        qval_release(b->vm, r->items[k]);
        r->items[k] = qval_retain(c->items[at]);
    }
    *out = qval_object(QS_CELL, r);
    return QS_OK;
}

/* Assigns to the selected items: a cell with as many items is distributed, any other value is stored in each item. */
static qs_status put_items(const Base *b, Cell *c, const Selection *s, qs_value v) {
    size_t count = qselect_count(s);
    const Cell *from = v.kind == QS_CELL && !qselect_single(s) ? v.u.p : NULL;
    if (from && from->count != count)
        return qerr_set(qvm_ctx(b->vm), QS_ESHAPE, "cannot assign a cell of %zu items to %zu items%s%s", from->count,
                        count, b->of, b->of_name);
    for (size_t k = 0; k < count; k++) {
        int64_t at = item_place(b, s, k);
        if (at != OUTSIDE) TRY(qcell_store(b->vm, c, (size_t)at, from ? from->items[k] : v));
    }
    return QS_OK;
}

/* Converts a mask to a one-dimensional selection of the items in linear order. */
static qs_status select_masked(Base *b, Array *mask, size_t count, Selection *s) {
    b->rank = 1, b->dims[0] = (int64_t)count, b->strides[0] = 1;
    s->n = 1;
    s->at[0] = (Select){.step = 1};
    qs_status status = qselect_true(b, 0, mask, &s->at[0]);
    if (status) qselect_close(b->vm, s);
    return status;
}

static qs_status select_items(Base *b, Cell *c, int n, const qs_value *at, Selection *s) {
    Indices x;
    TRY(qselect_open(b, n, at, &x));
    if (x.form == FORM_MASK) return select_masked(b, qval_array(at[0]), c->count, s);
    if (x.form == FORM_WHOLE) {
        s->n = b->rank;
        for (int d = 0; d < b->rank; d++) s->at[d] = (Select){.step = 1, .count = (size_t)b->dims[d]};
        return QS_OK;
    }
    return qselect_each(b, &x, s);
}

static qs_status get_cell(Base *b, Cell *c, int n, const qs_value *at, qs_value *out) {
    Selection s;
    TRY(select_items(b, c, n, at, &s));
    qs_status status = get_items(b, c, &s, out);
    qselect_close(b->vm, &s);
    return status;
}

static qs_status set_cell(Base *b, Cell *c, int n, const qs_value *at, qs_value v) {
    Selection s;
    TRY(select_items(b, c, n, at, &s));
    qs_status status = put_items(b, c, &s, v);
    qselect_close(b->vm, &s);
    return status;
}

/* -- strings: positions count bytes, as strlen does, and no character is split ------------------------------------- */
/* Returns where the UTF-8 character around byte i begins, and its length.  A malformed byte is a character. */
static size_t char_around(const Str *s, size_t i, size_t *len) {
    for (size_t back = 0; back <= i && back < 4; back++)
        if ((*len = qutf8_length(s->s + i - back, s->len - i + back)) > back) return i - back;
    return *len = 1, i;
}

static qs_status splits_char(const Base *b, const Str *s, size_t i) {
    size_t len, from = char_around(s, i, &len);
    return qerr_set(qvm_ctx(b->vm), QS_EINDEX,
                    "index %zu%s%s splits the character %.*s, which is the bytes %zu..%zu of the string", i, b->of,
                    b->of_name, (int)len, s->s + from, from, from + len - 1);
}

/* Appends the selected bytes.  Those of a character must follow each other in order. */
static qs_status add_bytes(const Base *b, const Str *s, const Select *x, Text *t) {
    for (size_t k = 0, len; k < x->count; k += len) {
        int64_t at = x->list ? x->list[k] : x->first + (int64_t)k * x->step;
        len = 1;
        if (at == OUTSIDE || x->outside) continue;
        bool whole = char_around(s, (size_t)at, &len) == (size_t)at && k + len <= x->count;
        for (size_t i = 1; i < len && whole; i++)
            whole = (x->list ? x->list[k + i] - at : (int64_t)i * x->step) == (int64_t)i;
        if (!whole) return splits_char(b, s, (size_t)at);
        qtext_add(t, s->s + at, len);
    }
    return QS_OK;
}

/* Whether these are bytes that follow each other, and no character is split at an end. */
static bool is_part(const Str *s, const Select *x) {
    size_t len, from = (size_t)x->first, to = from + x->count;
    if (x->list || x->outside || x->shape || !x->count || (x->step != 1 && x->count > 1)) return false;
    return char_around(s, from, &len) == from && (to == s->len || char_around(s, to, &len) == to);
}

static qs_status get_string(Base *b, const Str *s, int n, const qs_value *at, qs_value *out) {
    Indices x;
    Selection sel = {0};
    Text t;
    if (n != 1) return qerr_set(qvm_ctx(b->vm), QS_EINDEX, "%s is a string and takes one index, got %d", b->name, n);
    TRY(qselect_open(b, n, at, &x));
    if (x.form == FORM_WHOLE) return *out = qval_retain(qval_object(QS_STRING, (void *)s)), QS_OK;
    if (x.form == FORM_MASK) x.form = FORM_EACH;
    TRY(qselect_each(b, &x, &sel));
    const Select *part = &sel.at[0];
    if (is_part(s, part)) {
        qs_status made = qval_string(b->vm, s->s + part->first, part->count, out);
        return qselect_close(b->vm, &sel), made;
    }
    qtext_init(&t, qvm_ctx(b->vm));
    qs_status status = sel.at[0].shape ? qerr_set(qvm_ctx(b->vm), QS_ETYPE,
                                                  "an index of %s must be a number or a vector, "
                                                  "got a value of type %s",
                                                  b->name, qval_type_name(b->vm, at[0]))
                                       : add_bytes(b, s, &sel.at[0], &t);
    qselect_close(b->vm, &sel);
    return qval_text(b->vm, &t, status, out);
}

/* -- entry points -------------------------------------------------------------------------------------------------- */
static qs_status cannot_index(qs_vm *vm, qs_value base, const char *name, bool writes) {
    const char *type = qval_type_name(vm, base);
    const char *what = writes && base.kind == QS_STRING
                           ? "its characters cannot be assigned; s[0..2] + text makes another"
                           : "cannot be indexed";
    if (!name) return qerr_set(qvm_ctx(vm), QS_ETYPE, "a value of type %s %s", type, what);
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s has type %s and %s", name, type, what);
}

static bool is_dictionary(qs_value base) { return base.kind == QS_OBJECT && qobj_has_keys(base.u.p); }

static qs_status too_many_keys(qs_vm *vm, const Subscript *s) {
    return qerr_set(qvm_ctx(vm), QS_EINDEX, "%s%sa dictionary takes one key, got %d; a cell {i, j} is one key",
                    s->name ? s->name : "", s->name ? ": " : "", s->n);
}

qs_status qidx_get(qs_vm *vm, qs_value base, const Subscript *s, qs_value *out) {
    Base b;
    size_t linear;
    if (base.kind == QS_ARRAY) {
        Array *a = qval_array(base);
        if (quick_index(a, s->n, s->at, &linear)) return qarr_get(vm, a, linear, out);
        qselect_array(&b, vm, a, s->mods, s->name), b.is_list = s->is_list;
        return get_array(&b, a, s->n, s->at, GET_VALUE, out);
    }
    if (base.kind == QS_STRING) {
        qselect_string(&b, vm, base.u.p, s->mods, s->name);
        return get_string(&b, base.u.p, s->n, s->at, out);
    }
    if (is_dictionary(base)) return s->n == 1 ? qobj_get_key(vm, base.u.p, s->at[0], out) : too_many_keys(vm, s);
    if (base.kind != QS_CELL) return cannot_index(vm, base, s->name, false);
    qselect_cell(&b, vm, base.u.p, s->mods, s->name), b.is_list = s->is_list;
    return get_cell(&b, base.u.p, s->n, s->at, out);
}

qs_status qidx_view(qs_vm *vm, qs_value array, const Subscript *s, qs_value *out) {
    Base b;
    Array *a = qval_array(array);
    qselect_array(&b, vm, a, s->mods, s->name), b.is_list = s->is_list;
    return get_array(&b, a, s->n, s->at, GET_VIEW, out);
}

qs_status qidx_set(qs_vm *vm, qs_value base, const Subscript *s, qs_value v) {
    Base b;
    size_t linear;
    if (base.kind == QS_ARRAY) {
        Array *a = qval_array(base);
        if (v.kind != QS_ARRAY && quick_index(a, s->n, s->at, &linear)) return qarr_put(vm, a, linear, v);
        qselect_array(&b, vm, a, s->mods, s->name), b.is_list = s->is_list;
        return set_array(&b, a, s->n, s->at, v);
    }
    if (is_dictionary(base)) return s->n == 1 ? qobj_set_key(vm, base.u.p, s->at[0], v) : too_many_keys(vm, s);
    if (base.kind != QS_CELL) return cannot_index(vm, base, s->name, true);
    qselect_cell(&b, vm, base.u.p, s->mods, s->name), b.is_list = s->is_list;
    return set_cell(&b, base.u.p, s->n, s->at, v);
}

/* Returns whether x[…] op= v must be computed as for a whole array: single numbers have no type in which 64-bit
 * integers wrap or keep their digits beside a double, and more bits than the elements. */
static bool updates_as_array(Op op, qs_value base, qs_value v) {
    if (base.kind != QS_ARRAY || (v.kind != QS_ARRAY && !qval_is_number(v))) return false;
    qs_dtype d = (qs_dtype)qval_array(base)->dtype;
    if (qop_is_bitwise(op)) return qdtype_is_int(d);
    return (d == QS_I64 || d == QS_U64) && op != OP_DIV && op != OP_PWDIV && op != OP_POW && op != OP_PWPOW;
}

static qs_status update_block(qs_vm *vm, Op op, Array *a, const Subscript *s, qs_value v) {
    Base b;
    size_t linear;
    qs_value block;
    if (quick_index(a, s->n, s->at, &linear)) {
        Array *one;
        TRY(qarr_view(vm, a, 1, (int64_t[]){1}, (int64_t[]){1}, a->offset + linear, &one));
        qs_status status = qarith_update(vm, op, qarr_value(one), v);
        return qarr_release(vm, one), status;
    }
    qselect_array(&b, vm, a, s->mods, s->name), b.is_list = s->is_list;
    TRY(get_array(&b, a, s->n, s->at, GET_BLOCK, &block));
    qs_status status = qarith_update(vm, op, block, v);
    if (status == QS_OK) status = qidx_set(vm, qarr_value(a), s, block);
    return qval_release(vm, block), status;
}

qs_status qidx_update(qs_vm *vm, Op op, qs_value base, const Subscript *s, qs_value v) {
    qs_value old, new;
    if (base.kind == QS_ARRAY && s->n == 1 && qval_is_colon(s->at[0])) return qarith_update(vm, op, base, v);
    if (updates_as_array(op, base, v)) return update_block(vm, op, qval_array(base), s, v);
    TRY(qidx_get(vm, base, s, &old));
    TRY(qarith_binary_reuse(vm, op, old, v, ARITH_OWNS_A, &new));
    qs_status status = qidx_set(vm, base, s, new);
    qval_release(vm, new);
    return status;
}
