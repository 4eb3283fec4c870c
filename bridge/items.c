/* items.c -- implements x[…] of a qvalue with NumPy's rules.
 *
 * Numbers, slices, … and None give a view of the same memory, of the shape that NumPy would give it.  A mask of the
 * same shape is handled by the language.  All other indices (lists, index arrays, several of them) are passed to NumPy
 * on a view of the array.  Cells and strings accept numbers and slices. */
#include "bridge/bridge.h"
#include "vm/array/convert.h"
#include "vm/array/index.h"
#include "vm/array/strided.h"
#include "vm/tape/tape.h"

#include <math.h>
#include <string.h>

/* -- keys ---------------------------------------------------------------------------------------------------------- */

typedef struct { /* the part of an array selected by the indices so far */
    const Array *a;
    int next;                                     /* dimension of a that the next index applies to */
    int64_t has[QS_MAX_RANK], steps[QS_MAX_RANK]; /* extents and strides of a */
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK], offset;
    bool rest; /* the key contains …: the result is an array even without dimensions */
} View;

typedef enum { KEY_NUMBER, KEY_SLICE, KEY_REST, KEY_NEW, KEY_OTHER } KeyKind;

static KeyKind kind_of(PyObject *k) {
    if (k == Py_Ellipsis) return KEY_REST;
    if (k == Py_None) return KEY_NEW;
    if (PySlice_Check(k)) return KEY_SLICE;
    if (qvalue_check(k)) return qval_is_number(qwrapper_value(k)) ? KEY_NUMBER : KEY_OTHER;
    if (PyLong_Check(k)) return PyBool_Check(k) ? KEY_OTHER : KEY_NUMBER;
    /* Arrays may be both, and tensors have the number protocol. */
    bool number = PyIndex_Check(k) && !PySequence_Check(k);
    return number && (!qnd_is_tensor(k) || qnd_is_point(NULL, k)) ? KEY_NUMBER : KEY_OTHER;
}

static Py_ssize_t key_count(PyObject *key) { return PyTuple_Check(key) ? PyTuple_Size(key) : 1; }
static PyObject *key_at(PyObject *key, Py_ssize_t i) { return PyTuple_Check(key) ? PyTuple_GetItem(key, i) : key; }

/* Returns whether the key gives a view; *indexed: number of dimensions it consumes. */
static bool makes_view(PyObject *key, int *indexed) {
    int rests = 0;
    *indexed = 0;
    for (Py_ssize_t i = 0; i < key_count(key); i++) {
        KeyKind k = kind_of(key_at(key, i));
        if (k == KEY_OTHER) return false;
        rests += k == KEY_REST;
        *indexed += k == KEY_NUMBER || k == KEY_SLICE;
    }
    return rests <= 1;
}

static int raise_outside(Py_ssize_t i, int64_t n, int dim) {
    PyErr_Format(qbridge.errors[QS_EINDEX], "index %zd is outside dimension %d of size %lld", i, dim, (long long)n);
    return -1;
}

/* Converts an index among n elements; negative ones count from the end. */
static int read_index(PyObject *k, int64_t n, int dim, int64_t *out) {
    Py_ssize_t i = PyNumber_AsSsize_t(k, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return -1;
    *out = i < 0 ? i + n : i;
    return *out < 0 || *out >= n ? raise_outside(i, n, dim) : 0;
}

static int add_dimension(View *v, int64_t dim, int64_t stride) {
    if (v->rank == QS_MAX_RANK)
        return PyErr_Format(PyExc_IndexError, "an array has at most %d dimensions", QS_MAX_RANK), -1;
    v->dims[v->rank] = dim;
    v->strides[v->rank++] = stride;
    return 0;
}

static int take_slice(View *v, PyObject *k) {
    Py_ssize_t start, stop, step;
    int64_t n = v->has[v->next], stride = v->steps[v->next];
    if (PySlice_Unpack(k, &start, &stop, &step) < 0) return -1;
    Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)n, &start, &stop, step);
    if (count) v->offset += start * stride;
    v->next++;
    return add_dimension(v, count, count > 1 ? step * stride : stride);
}

static int take_number(View *v, PyObject *k) {
    int64_t i;
    if (read_index(k, v->has[v->next], v->next, &i) < 0) return -1;
    v->offset += i * v->steps[v->next++];
    return 0;
}

static int take_rest(View *v, int n) {
    while (n-- > 0) {
        if (add_dimension(v, v->has[v->next], v->steps[v->next]) < 0) return -1;
        v->next++;
    }
    return 0;
}

static int take_key(View *v, PyObject *k, int rest) {
    switch (kind_of(k)) {
    case KEY_REST: v->rest = true; return take_rest(v, rest);
    case KEY_NEW: return add_dimension(v, 1, 1);
    case KEY_SLICE: return take_slice(v, k);
    default: return take_number(v, k);
    }
}

static int make_view(const Array *a, PyObject *key, int indexed, View *v) {
    *v = (View){.a = a, .offset = (int64_t)a->offset};
    int ndim = qarr_shape(a, v->has, v->steps);
    if (indexed > ndim)
        return PyErr_Format(qbridge.errors[QS_EINDEX], "the array has %d dimensions, %d indices given", ndim, indexed),
               -1;
    for (Py_ssize_t i = 0; i < key_count(key); i++)
        if (take_key(v, key_at(key, i), ndim - indexed) < 0) return -1;
    return take_rest(v, ndim - v->next);
}

/* -- arrays -------------------------------------------------------------------------------------------------------- */

static char *element_address(const View *v, const void *first) {
    return (char *)(uintptr_t)first + (v->offset - (int64_t)v->a->offset) * (int64_t)qdtype_size((qs_dtype)v->a->dtype);
}

static qs_status read_view(Border *b, Array *a, const View *v, qs_value *out) {
    const void *p;
    Array *r;
    if (v->rank == 0 && qtape_is_recorded(b->vm, qarr_value(a))) {
        TRY(qhook_view(b->vm, a, 1, (int64_t[]){1}, (int64_t[]){1}, (size_t)v->offset, &r));
        qs_status s = qhook_element(b->vm, qarr_value(r), 0, out);
        return qarr_release(b->vm, r), s;
    }
    if (v->rank == 0 && !v->rest) {
        TRY(qarr_read(b->vm, a, &p));
        return qnd_element(b, (qs_dtype)a->dtype, element_address(v, p), out);
    }
    TRY(qhook_view(b->vm, a, v->rank, v->dims, v->strides, (size_t)v->offset, &r));
    return *out = qarr_value(r), QS_OK;
}

static qs_status write_element(Border *b, Array *a, const View *v, qs_value x) {
    void *p;
    TRY(qarr_write(b->vm, a, &p));
    TRY(qarr_store(b->vm, (qs_dtype)a->dtype, element_address(v, p), x));
    return qarr_settle(b->vm, a);
}

bool qitem_same_shape(const Array *a, const Array *b) { return a->ndim == b->ndim && qarr_same_shape(a, b); }

/* *fits false: the shapes differ, so NumPy decides whether they broadcast. */
static qs_status write_view(Border *b, Array *a, const View *v, qs_value x, bool *fits) {
    Array *r;
    *fits = true;
    if (v->rank == 0) return write_element(b, a, v, x);
    TRY(qhook_view(b->vm, a, v->rank, v->dims, v->strides, (size_t)v->offset, &r));
    qs_status s = QS_OK;
    if (x.kind != QS_ARRAY) s = qarr_fill(b->vm, r, x);
    else if (qitem_same_shape(r, qval_array(x))) s = qarr_assign(b->vm, r, qval_array(x));
    else *fits = false;
    qarr_release(b->vm, r);
    return s;
}

static bool is_mask(PyObject *key, const Array *a) {
    const Array *m = qvalue_check(key) && qwrapper_value(key).kind == QS_ARRAY ? qwrapper_value(key).u.p : NULL;
    return m && m->dtype == QS_B1 && qitem_same_shape(m, a);
}

static PyObject *get_by_numpy(PyObject *o, PyObject *key) { return qbridge_support("get_item", "(OO)", o, key); }

static PyObject *array_item(Border *b, PyObject *o, PyObject *key) {
    Array *a = qwrapper_value(o).u.p;
    View v;
    qs_value r, mask;
    int indexed;
    if (makes_view(key, &indexed)) {
        if (make_view(a, key, indexed, &v) < 0) return NULL;
        return qvalue_result(b, read_view(b, a, &v, &r), &r);
    }
    if (!is_mask(key, a) || qtape_is_recorded(b->vm, qwrapper_value(o))) return get_by_numpy(o, key);
    mask = qwrapper_value(key);
    int before = qgil_work(b);
    qs_status s = qidx_get(b->vm, qwrapper_value(o), &(Subscript){.n = 1, .at = &mask}, &r);
    qgil_rest(b, before);
    return qvalue_result(b, s, &r);
}

static int check_status(Border *b, qs_status s) { return s == QS_OK ? 0 : (qerror_raise(b, s), -1); }

static int set_by_numpy(PyObject *o, PyObject *key, PyObject *x) {
    PyObject *r = qbridge_support("set_item", "(OOO)", o, key, x);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

/* *found: an element is nan. */
static qs_status find_nan(Border *b, Array *a, bool *found) {
    double x[64];
    const void *p;
    Nest n;
    TRY(qarr_read(b->vm, a, &p));
    qstrided_begin(&n, a->rank, a->dims);
    qstrided_array(&n, p, a);
    qstrided_fuse(&n);
    while (!*found && qstrided_next(&n))
        for (size_t left = n.count, m; left; left -= m, n.at[0] += n.step[0] * (ptrdiff_t)m) {
            m = left < 64 ? left : 64;
            qconv_run((qs_dtype)a->dtype, n.at[0], n.step[0], QS_F64, x, sizeof *x, m);
            for (size_t k = 0; k < m; k++) *found |= isnan(x[k]);
        }
    return QS_OK;
}

/* Integers have no nan: assigning it is an error, as in NumPy. */
static qs_status refuse_nan(Border *b, const Array *a, qs_value y) {
    bool found = y.kind == QS_NUM && isnan(y.u.f);
    if (!qdtype_is_int(a->dtype)) return QS_OK;
    if (y.kind == QS_ARRAY && qdtype_is_real(qval_array(y)->dtype)) TRY(find_nan(b, y.u.p, &found));
    if (!found) return QS_OK;
    return qs_fail(b->vm, QS_EVALUE, "elements of %s cannot be nan", qdtype_info[a->dtype].name);
}

static int set_in_array(Border *b, PyObject *o, PyObject *key, PyObject *x) {
    Array *a = qwrapper_value(o).u.p;
    View v;
    int indexed;
    bool view = makes_view(key, &indexed), fits = true;
    qs_value y, mask;
    if (view && make_view(a, key, indexed, &v) < 0) return -1;
    if (!view && !is_mask(key, a)) return set_by_numpy(o, key, x);
    qs_status s = qnd_assigned(b, x, &y);
    if (s != QS_OK) return check_status(b, s);
    if (qtape_any(b->vm, 2, (const qs_value[]){qwrapper_value(o), y})) {
        qs_release(b->vm, y);
        return check_status(
            b, qtape_refuse(b->vm, "x[…] = v in Python",
                            "it changes an array that other names may share; where(c, v, x) makes a new one, "
                            "and a function of a script may assign"));
    }
    if (y.kind == QS_ARRAY && qval_array(y)->ndim == 0 && (s = qnd_number(b, &y)) != QS_OK) return check_status(b, s);
    if ((s = refuse_nan(b, a, y)) != QS_OK) return qs_release(b->vm, y), check_status(b, s);
    mask = view ? qs_nil() : qwrapper_value(key);
    int before = qgil_work(b);
    if (y.kind == QS_FOREIGN && PyLong_Check(x)) fits = false; /* uint64 elements may be able to hold it */
    else if (view) s = write_view(b, a, &v, y, &fits);
    else s = qidx_set(b->vm, qwrapper_value(o), &(Subscript){.n = 1, .at = &mask}, y);
    qgil_rest(b, before);
    qs_release(b->vm, y);
    return fits ? check_status(b, s) : set_by_numpy(o, key, x);
}

/* -- cells and strings --------------------------------------------------------------------------------------------- */

/* Copies the elements lo, lo+step, … of a one-dimensional cell to a new cell. */
static qs_status cell_part(Border *b, const Cell *c, Py_ssize_t lo, Py_ssize_t step, Py_ssize_t n, qs_value *out) {
    Cell *r;
    int64_t dims[1] = {n};
    TRY(qcell_new(b->vm, c->elem, 1, dims, &r));
    for (Py_ssize_t i = 0; i < n; i++) {
        qs_release(b->vm, r->items[i]);
        r->items[i] = qval_retain(c->items[lo + i * step]);
    }
    return *out = qval_object(QS_CELL, r), QS_OK;
}

/* Returns the linear index of an element; -1 with an exception. */
static int64_t cell_place(const Cell *c, PyObject *key) {
    int64_t at = 0, i;
    if (key_count(key) != c->rank)
        return PyErr_Format(qbridge.errors[QS_EINDEX], "the cell has %d dimensions, %zd indices given", c->rank,
                            key_count(key)),
               -1;
    for (int d = 0; d < c->rank; d++) {
        PyObject *k = key_at(key, d);
        if (kind_of(k) != KEY_NUMBER)
            return PyErr_SetString(PyExc_TypeError, "elements of a cell are found by numbers"), -1;
        if (read_index(k, c->dims[d], d, &i) < 0) return -1;
        at = at * c->dims[d] + i;
    }
    return at;
}

static PyObject *cell_item(Border *b, const Cell *c, PyObject *key) {
    Py_ssize_t start, stop, step;
    qs_value r;
    if (PySlice_Check(key) && c->rank == 1) {
        if (PySlice_Unpack(key, &start, &stop, &step) < 0) return NULL;
        Py_ssize_t n = PySlice_AdjustIndices((Py_ssize_t)c->count, &start, &stop, step);
        return qvalue_result(b, cell_part(b, c, start, step, n, &r), &r);
    }
    int64_t at = cell_place(c, key);
    return at < 0 ? NULL : qpy_give(b, qval_retain(c->items[at]));
}

static int set_in_cell(Border *b, Cell *c, PyObject *key, PyObject *x) {
    qs_value v;
    int64_t at = cell_place(c, key);
    if (at < 0) return -1;
    qs_status s = qnd_value(b, x, &v);
    if (s != QS_OK) return check_status(b, s);
    s = qcell_store(b->vm, c, (size_t)at, v);
    qs_release(b->vm, v);
    return check_status(b, s);
}

static PyObject *string_item(qs_value v, PyObject *key) {
    const Str *s = v.u.p;
    PyObject *text = qpy_string(s->s, s->len), *r = text ? PyObject_GetItem(text, key) : NULL;
    Py_XDECREF(text);
    return r;
}

static PyObject *object_item(Border *b, Object *o, PyObject *key) {
    qs_value k, r;
    bool found = false;
    qs_status s = qnd_import_key(b, key, &k);
    if (s != QS_OK) return check_status(b, s), NULL;
    s = qobj_find(b->vm, o, k, &r, &found);
    qs_release(b->vm, k);
    if (s != QS_OK) return check_status(b, s), NULL;
    return found ? qpy_give(b, r) : (PyErr_SetObject(PyExc_KeyError, key), NULL);
}

static int set_in_object(Border *b, Object *o, PyObject *key, PyObject *x) {
    qs_value k, v;
    qs_status s = qnd_import_key(b, key, &k);
    if (s != QS_OK) return check_status(b, s);
    s = qnd_value(b, x, &v);
    if (s == QS_OK) {
        s = qobj_set_key(b->vm, o, k, v);
        qs_release(b->vm, v);
    }
    qs_release(b->vm, k);
    return check_status(b, s);
}

static int delete_from_object(Border *b, Object *o, PyObject *key) {
    qs_value k, v = qs_nil();
    bool found = false;
    qs_status s = qnd_import_key(b, key, &k);
    if (s != QS_OK) return check_status(b, s);
    s = qobj_find(b->vm, o, k, &v, &found);
    qs_release(b->vm, v);
    v = qs_nil();
    if (s == QS_OK && found) s = qobj_remove(b->vm, o, k, &v);
    qs_release(b->vm, v);
    qs_release(b->vm, k);
    if (s == QS_OK && !found) return PyErr_SetObject(PyExc_KeyError, key), -1;
    return check_status(b, s);
}

bool qitem_is_dictionary(PyObject *o) {
    return qwrapper_value(o).kind == QS_OBJECT && qobj_has_keys(qwrapper_value(o).u.p);
}

PyObject *qitem_entries(PyObject *o, bool pairs) {
    Border *b = qwrapper_border(o);
    qs_value key, v;
    if (qgil_enter(b) < 0) return NULL;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && qobj_entry(qwrapper_value(o).u.p, i, &key, &v); i++) {
        PyObject *k = qnd_key(b, key), *item = k && pairs ? Py_BuildValue("(NN)", k, qpy_give(b, qval_retain(v))) : k;
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return qgil_result(b, list);
}

/* -- any value ----------------------------------------------------------------------------------------------------- */

static PyObject *no_items(PyObject *o) {
    PyErr_Format(PyExc_TypeError, "a value of type %s has no elements",
                 qval_type_name(qwrapper_border(o)->vm, qwrapper_value(o)));
    return NULL;
}

PyObject *qitem_get(PyObject *o, PyObject *key) {
    Border *b = qwrapper_border(o);
    PyObject *r;
    if (qgil_enter(b) < 0) return NULL;
    switch (qwrapper_value(o).kind) {
    case QS_ARRAY: r = array_item(b, o, key); break;
    case QS_CELL: r = cell_item(b, qwrapper_value(o).u.p, key); break;
    case QS_STRING: r = string_item(qwrapper_value(o), key); break;
    default: r = qitem_is_dictionary(o) ? object_item(b, qwrapper_value(o).u.p, key) : no_items(o); break;
    }
    return qgil_result(b, r);
}

int qitem_set(PyObject *o, PyObject *key, PyObject *x) {
    Border *b = qwrapper_border(o);
    int r;
    if (!x && !qitem_is_dictionary(o)) return PyErr_SetString(PyExc_TypeError, "elements cannot be deleted"), -1;
    if (qgil_enter(b) < 0) return -1;
    if (!x) {
        r = delete_from_object(b, qwrapper_value(o).u.p, key);
        return qgil_leave(b) < 0 ? -1 : r;
    }
    switch (qwrapper_value(o).kind) {
    case QS_ARRAY: r = set_in_array(b, o, key, x); break;
    case QS_CELL: r = set_in_cell(b, qwrapper_value(o).u.p, key, x); break;
    default: r = qitem_is_dictionary(o) ? set_in_object(b, qwrapper_value(o).u.p, key, x) : (no_items(o), -1); break;
    }
    return qgil_leave(b) < 0 ? -1 : r;
}

Py_ssize_t qitem_count(PyObject *o) {
    ALONE;
    qs_value v = qwrapper_value(o);
    int64_t dims[QS_MAX_RANK];
    if (v.kind == QS_ARRAY && qarr_shape(qval_array(v), dims, NULL)) return (Py_ssize_t)dims[0];
    if (v.kind == QS_CELL) return (Py_ssize_t)((Cell *)v.u.p)->dims[0];
    if (v.kind == QS_STRING) {
        PyObject *text = qpy_string(((Str *)v.u.p)->s, ((Str *)v.u.p)->len);
        Py_ssize_t n = text ? PyUnicode_GetLength(text) : -1;
        Py_XDECREF(text);
        return n;
    }
    if (qitem_is_dictionary(o)) return (Py_ssize_t)qobj_count(v.u.p);
    if (qgil_enter(qwrapper_border(o)) < 0) return -1;
    PyErr_Format(PyExc_TypeError, "a value of type %s has no length", qval_type_name(qwrapper_border(o)->vm, v));
    return qgil_leave(qwrapper_border(o)), -1;
}

PyObject *qitem_at(PyObject *o, Py_ssize_t i) { /* iteration ends with the IndexError */
    ALONE;
    Py_ssize_t n = qitem_count(o);
    if (n < 0) return NULL;
    if (i >= n) return PyErr_SetString(PyExc_IndexError, "index out of range"), NULL;
    PyObject *key = PyLong_FromSsize_t(i), *r = NULL;
    const Cell *c = qwrapper_value(o).kind == QS_CELL ? qwrapper_value(o).u.p : NULL;
    if (c && c->rank > 1) PyErr_SetString(PyExc_TypeError, "only a cell of one dimension can be iterated over");
    else if (key) r = qitem_get(o, key);
    Py_XDECREF(key);
    return r;
}
