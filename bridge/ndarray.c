/* ndarray.c -- shares numeric memory between Python and the language, without a copy where the elements permit it.
 *
 * Export: an array supports the buffer protocol, which NumPy and other libraries use.  Import: NumPy arrays are read
 * through their C structure, which is verified once against NumPy; other objects through the buffer protocol.  The last
 * view keeps the owner of the memory alive.  Memory that cannot be used in place (other byte order, odd strides) is
 * first packed by NumPy.
 *
 * Arguments of functions are used in place, because a function that writes to its argument must not write to an
 * invisible copy.  Therefore foreign memory in an argument is marked (ARRAY_AS_IS).  A declared parameter with other
 * elements gets a converted copy, as in the language; a write to the copy of marked memory is an error
 * (vm/interp/converted.c).  A list must be copied, so its array is read-only until the call is over
 * (Buffer.unseen).
 *
 * Exported memory is not moved (qbuf_give).  Each view that Python has of an array's memory, by any protocol, is in the
 * list of the border (Export) and makes this memory the array's home: as with foreign memory, this copy is the only
 * current one whenever no lock is held.  Thus a NumPy array on the host sees what a kernel on a device has written, and
 * the language sees what torch writes on the device.  An array has one home at a time: where it is already shared, or
 * else where kernels run.
 *
 * Views outlive the VM.  When it closes, the contents are copied to their home, and the views alone keep this memory;
 * it is freed with the last of them.  A device block is then freed by an object that itself retains the device's
 * primary context. */
#include "bridge/bridge.h"
#include "vm/array/convert.h"
#include "vm/base/number.h"
#include "vm/tape/tape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- NumPy, if needed ---------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject ob_base;
    char *data;
    int nd;
    Py_ssize_t *dims, *strides;
    PyObject *base, *descr;
    int flags;
} NdArray;
typedef struct {
    PyObject ob_base;
    PyTypeObject *type;
    char kind, code, byteorder, flags;
    int num;
} Descr;
enum { ND_ALIGNED = 0x100, ND_WRITEABLE = 0x400 };

static struct {
    PyObject *asarray, *packed, *objects, *native;
    SHARED(PyTypeObject *) ndarray; /* set if its structure matches the one above */
} numpy;

static int open_numpy(void) {
    if (numpy.asarray) return 0;
    PyObject *parts = qbridge_support("open_numpy", "()");
    if (!parts) return -1;
    numpy.asarray = PySequence_GetItem(parts, 0);
    Py_DECREF(parts);
    return numpy.asarray ? 0 : -1;
}

/* Compares the structure of a NumPy array with its description by NumPy: sample is (array, address, num). */
static bool as_declared(PyObject *sample) {
    const NdArray *a = (NdArray *)PyTuple_GetItem(sample, 0);
    const Descr *d = (Descr *)a->descr;
    void *address = PyLong_AsVoidPtr(PyTuple_GetItem(sample, 1));
    return a->nd == 2 && (void *)a->data == address && a->dims[0] == 2 && a->dims[1] == 3 && a->strides[0] == -16 &&
           a->strides[1] == 4 && (a->flags & ND_WRITEABLE) && (a->flags & ND_ALIGNED) && d->byteorder == '=' &&
           d->num == (int)PyLong_AsLong(PyTuple_GetItem(sample, 2));
}

/* Examines NumPy only if it is loaded, because otherwise o cannot be its array.  b: the VM if the caller is inside
 * it. */
static bool is_ndarray(Border *b, PyObject *o) {
    static SHARED(bool) tried;
    if (numpy.ndarray) return Py_TYPE(o) == numpy.ndarray;
    if (tried) return false;
    PyObject *modules = PyImport_GetModuleDict();
    if (!PyDict_GetItemString(modules, "numpy")) return false;
    PyObject *sample = qbridge_support("numpy_sample", "()");
    tried = true; /* another thread may have done the same meanwhile */
    if (b) qgil_back(b);
    if (sample && as_declared(sample)) {
        numpy.ndarray = Py_TYPE(PyTuple_GetItem(sample, 0));
        Py_INCREF(numpy.ndarray);
    }
    Py_XDECREF(sample);
    PyErr_Clear();
    return Py_TYPE(o) == numpy.ndarray;
}

static bool is_ndarray_kind(Border *b, PyObject *o) { /* or an instance of a subclass */
    return is_ndarray(b, o) || (numpy.ndarray && PyType_IsSubtype(Py_TYPE(o), numpy.ndarray));
}

/* -- element types ------------------------------------------------------------------------------------------------- */

/* Returns the format of the buffer protocol; NULL: it has no such elements. */
static const char *format_of(int d) {
    const char *code = qdtype_info[d].numpy;
    return d == QS_C64 ? "Zf" : d == QS_C128 ? "Zd" : *code ? code : NULL;
}

const char *qnd_name(int d) { return d == QS_I32 ? "int32" : qdtype_info[d].name; }

int qnd_pass_dtypes(void) {
    PyObject *all = PyDict_New(), *done = NULL;
    for (int d = 0; all && d < QS_NDTYPES; d++) {
        PyObject *code = PyUnicode_FromString(qdtype_info[d].numpy);
        if (!code || PyDict_SetItemString(all, qnd_name(d), code) < 0) Py_CLEAR(all);
        Py_XDECREF(code);
    }
    if (all) done = qbridge_support("know_elements", "(O)", all);
    Py_XDECREF(all), Py_XDECREF(done);
    return done ? 0 : -1;
}

int qnd_named(const char *name) {
    int d = 0;
    while (d < QS_NDTYPES && strcmp(qnd_name(d), name) != 0) d++;
    return d;
}

static const int8_t of_number[] = {
    /* NumPy's type numbers; long double has no counterpart */
    QS_B1,
    QS_I8,
    QS_U8,
    QS_I16,
    QS_U16,
    QS_I32,
    QS_U32,
    sizeof(long) == 8 ? QS_I64 : QS_I32,
    sizeof(long) == 8 ? QS_U64 : QS_U32,
    QS_I64,
    QS_U64,
    QS_F32,
    QS_F64,
    -1,
    QS_C64,
    QS_C128,
};
enum { NUMBER_HALF = 23 };

static bool dtype_of_number(int num, qs_dtype *d) {
    int known = (int)(sizeof of_number / sizeof *of_number);
    if (num != NUMBER_HALF && (num < 0 || num >= known || of_number[num] < 0)) return false;
    *d = num == NUMBER_HALF ? QS_F16 : (qs_dtype)of_number[num];
    return true;
}

static bool integer_of_size(Py_ssize_t size, bool is_signed, qs_dtype *d) {
    switch (size) {
    case 1: *d = is_signed ? QS_I8 : QS_U8; return true;
    case 2: *d = is_signed ? QS_I16 : QS_U16; return true;
    case 4: *d = is_signed ? QS_I32 : QS_U32; return true;
    case 8: *d = is_signed ? QS_I64 : QS_U64; return true;
    default: return false;
    }
}

/* Accepts one element per item, in native byte order. */
static bool dtype_of_format(const char *f, Py_ssize_t size, qs_dtype *d) {
    const uint16_t one = 1;
    bool little = *(const uint8_t *)&one, foreign = *f == '>' || *f == '!' ? little : *f == '<' && !little;
    if (strchr("@=<>!", *f) && *f) f++;
    if (!*f || (foreign && size > 1)) return false;
    if (f[0] == 'Z') {
        *d = f[1] == 'f' ? QS_C64 : QS_C128;
        return (f[1] == 'f' || f[1] == 'd') && !f[2];
    }
    if (f[1]) return false;
    if (strchr("bhilqn", *f)) return integer_of_size(size, true, d);
    if (strchr("BHILQNc", *f)) return integer_of_size(size, false, d);
    *d = *f == 'f' ? QS_F32 : *f == 'd' ? QS_F64 : *f == 'e' ? QS_F16 : QS_B1;
    return strchr("fde?", *f) != NULL;
}

/* -- export -------------------------------------------------------------------------------------------------------- */

/* A converted copy, whose caller would not see a write, is exported read-only.  A snapshot saved for a derivative is,
 * too, and through an ordinary view: the snapshot itself is moved to other memory before a write, while exported memory
 * is not moved. */
qs_status qnd_give(Border *b, Array *a, Device *d, Export **out) {
    DevPtr block;
    size_t size = qdtype_size((qs_dtype)a->dtype);
    if (qtape_forbids(b->vm, a)) return qtape_forbidden(b->vm);
    qs_value view = qval_retain(qarr_value(a));
    bool kept = qtape_is_kept(view), guarded = qbuf_is_guarded(a->buf);
    qs_status s = kept ? qtape_own(b->vm, &view) : QS_OK;
    if (!guarded) qbuf_unmark(a->buf); /* a converted copy within the language: the library probably only reads it */
    if (s == QS_OK) s = qbuf_give(qvm_ctx(b->vm), a->buf, d, kept || guarded, &block);
    Export *e = s == QS_OK ? PyMem_Calloc(1, sizeof *e) : NULL;
    if (s == QS_OK && !e) qbuf_take_back(a->buf), s = qs_fail(b->vm, QS_ENOMEM, "out of memory");
    if (s != QS_OK) return qs_release(b->vm, view), qarr_lock_failed(b->vm, a, NULL, s);
    *e = (Export){.border = qborder_retain(b),
                  .array = view,
                  .next = b->exports,
                  .on_device = d != NULL,
                  .readonly = kept || guarded || qbuf_is_readonly(a->buf),
                  .data = (char *)(uintptr_t)block + a->offset * size};
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    for (int i = qarr_shape(a, dims, strides); i-- > 0;) {
        e->shape[i] = dims[i];
        e->strides[i] = strides[i] * (Py_ssize_t)size;
    }
    if (e->next) e->next->prev = e;
    return *out = b->exports = e, QS_OK;
}

/* Releases memory after the VM, in whose context it was counted, has closed. */
static void release_alone(Buffer *memory) {
    Ctx account;
    qctx_init(&account, 32);
    qbuf_release(&account, memory);
    qctx_close(&account);
}

static void release_export(Export *e) {
    Border *b = e->border;
    if (e->prev) e->prev->next = e->next;
    else b->exports = e->next;
    if (e->next) e->next->prev = e->prev;
    if (e->memory) release_alone(e->memory);
    else if (b->vm) qbuf_take_back(qval_array(e->array)->buf);
    if (!e->memory) qgil_release(b, e->array);
    PyMem_Free(e);
}

void qnd_take_back(Export *e) {
    Border *b = e->border;
    Turn turn = qgil_turn(b, qs_nil(), e);
    if (turn == TURN_NONE) return;
    release_export(e);
    qgil_end_turn(b, turn);
    qborder_release(b);
}

void qnd_keep_exports(Border *b) {
    for (Export *e = b->exports; e; e = e->next) {
        e->memory = qval_array(e->array)->buf;
        qbuf_retain(e->memory);
        if (qbuf_outlive(qvm_ctx(b->vm), e->memory) != QS_OK) qs_error_clear(b->vm);
        qs_release(b->vm, e->array);
        e->array = qs_nil();
    }
}

static int refuse_view(BufferView *view, const char *why, const char *what) {
    view->obj = NULL;
    PyErr_Format(PyExc_BufferError, why, what);
    return -1;
}

static void fill_view(Export *e, PyObject *self, BufferView *view, int flags) {
    const Array *a = qval_array(e->array);
    Py_ssize_t size = (Py_ssize_t)qdtype_size((qs_dtype)a->dtype);
    *view = (BufferView){.buf = e->data,
                         .obj = self,
                         .len = (Py_ssize_t)a->count * size,
                         .itemsize = size,
                         .ndim = a->ndim,
                         .internal = e,
                         .readonly = e->readonly,
                         .format = flags & BUF_FORMAT ? (char *)(uintptr_t)format_of(a->dtype) : NULL,
                         .shape = flags & BUF_ND ? e->shape : NULL,
                         .strides = (flags & BUF_STRIDES) == BUF_STRIDES ? e->strides : NULL};
    Py_INCREF(self);
}

enum { WHY = 300 };

/* Copies the first line of the error message and clears the error. */
static const char *settle_error(Border *b, char why[WHY]) {
    const char *text = qs_error(b->vm);
    snprintf(why, WHY, "%.*s", (int)strcspn(text, "\n"), text);
    qs_error_clear(b->vm);
    return why;
}

/* Returns whether the elements are packed with the first index fastest, as in Fortran. */
static bool by_columns(const Array *a) {
    int64_t step = 1;
    for (int i = 0; i < a->rank && a->count; step *= a->dims[i++])
        if (a->dims[i] != 1 && a->strides[i] != step) return false;
    return true;
}

/* Returns whether the elements have the order that the consumer requests; without strides: row-major. */
static bool in_order(const Array *a, int flags) {
    if ((flags & BUF_STRIDES) != BUF_STRIDES || flags & BUF_ROWS) return a->contiguous;
    if (flags & BUF_COLUMNS) return by_columns(a);
    return !(flags & BUF_PACKED) || a->contiguous || by_columns(a);
}

static int give_view(Border *b, PyObject *self, Array *a, BufferView *view, int flags) {
    Export *e;
    char why[WHY];
    if (!format_of(a->dtype))
        return refuse_view(view, "the buffer protocol has no elements of type %s", qdtype_info[a->dtype].name);
    if ((flags & BUF_WRITABLE) && qarr_is_readonly(a))
        return refuse_view(view, "the array is read-only%s", a->buf->nreaders ? ": it is locked for reading" : "");
    if (a->buf->home > HOST_MEMORY)
        return refuse_view(view, "the elements are on a device, where others use them%s", "");
    if (!in_order(a, flags)) return refuse_view(view, "the elements do not lie in the order that is wanted%s", "");
    if (qnd_give(b, a, NULL, &e) != QS_OK) return refuse_view(view, "%s", settle_error(b, why));
    return fill_view(e, self, view, flags), 0;
}

int qnd_getbuffer(PyObject *self, BufferView *view, int flags) {
    Wrapper *w = (Wrapper *)self;
    if (w->v.kind != QS_ARRAY) return refuse_view(view, "a value that is no array has no memory%s", "");
    view->obj = NULL;
    if (qgil_enter(w->border) < 0) return -1; /* until now another thread may have moved it to a device */
    int r = give_view(w->border, self, w->v.u.p, view, flags);
    qgil_leave(w->border);
    return r;
}

void qnd_releasebuffer(PyObject *Py_UNUSED(self), BufferView *view) { qnd_take_back(view->internal); }

/* A copy of memory used on a device is read-only, because writes to it would have no effect there. */
static PyObject *as_ndarray(Border *b, Array *a, bool writeable) {
    PyObject *w = qvalue_new(b, qarr_value(a));
    PyObject *r = w ? PyObject_CallFunctionObjArgs(numpy.asarray, w, NULL) : NULL;
    PyObject *done = r && !writeable ? PyObject_CallMethod(r, "setflags", "i", 0) : NULL;
    Py_XDECREF(w);
    Py_XDECREF(done);
    if (PyErr_Occurred()) Py_CLEAR(r);
    return r;
}

PyObject *qnd_from_array(Border *b, Array *a) {
    Array *plain = NULL;
    qs_status s = QS_OK;
    bool away = a->buf->home > HOST_MEMORY;
    if (open_numpy() < 0) return NULL;
    if (!format_of(a->dtype)) s = qarr_convert(b->vm, a, QS_F32, &plain);
    else if (away) s = qarr_copy(b->vm, a, &plain);
    if (s != QS_OK) return qerror_raise(b, s);
    PyObject *r = as_ndarray(b, plain ? plain : a, !away);
    if (plain) qarr_release(b->vm, plain);
    return r;
}

PyObject *qnd_from_wrapper(Border *b, PyObject *o) {
    Array *a = qwrapper_value(o).u.p;
    if (!format_of(a->dtype) || a->buf->home > HOST_MEMORY) return qnd_from_array(b, a);
    return open_numpy() < 0 ? NULL : PyObject_CallFunctionObjArgs(numpy.asarray, o, NULL);
}

/* -- lists --------------------------------------------------------------------------------------------------------- */

/* Returns a plain Python number; numbers of values would also be indices. */
static PyObject *own_number(Border *b, qs_dtype d, const char *p) {
    qs_value v;
    qs_status s = qnd_element(b, d, p, &v);
    if (s != QS_OK) return qerror_raise(b, s);
    if (v.kind != QS_NUM) return qpy_give(b, v);
    return qdtype_is_int(d) ? PyLong_FromDouble(v.u.f) : PyFloat_FromDouble(v.u.f);
}

typedef struct {
    qs_dtype dtype;
    int rank;
    int64_t dims[QS_MAX_RANK], steps[QS_MAX_RANK]; /* in bytes */
} Layout;

static bool fit_doubles(qs_dtype d) {
    return qdtype_is_real(d) || (qdtype_is_int(d) && qdtype_size(d) < sizeof(int64_t));
}

/* Returns the same numbers as own_number, converted in chunks. */
static PyObject *row_of(const Layout *l, int d, const char *p) {
    enum { PART = 64 };
    double part[PART];
    int64_t n = l->dims[d], step = l->steps[d];
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        int64_t k = i % PART, left = n - i < PART ? n - i : PART;
        if (!k) qconv_run(l->dtype, p + i * step, step, QS_F64, part, sizeof *part, (size_t)left);
        PyObject *o = qdtype_is_int(l->dtype) ? PyLong_FromDouble(part[k]) : PyFloat_FromDouble(part[k]);
        if (!o) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, o);
    }
    return list;
}

static PyObject *list_of(Border *b, const Layout *l, int d, const char *p) {
    if (d == l->rank) return own_number(b, l->dtype, p);
    if (d == l->rank - 1 && fit_doubles(l->dtype)) return row_of(l, d, p);
    PyObject *list = PyList_New((Py_ssize_t)l->dims[d]);
    for (int64_t i = 0; list && i < l->dims[d]; i++) {
        PyObject *o = list_of(b, l, d + 1, p + i * l->steps[d]);
        if (!o) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, o);
    }
    return list;
}

PyObject *qnd_list(Border *b, Array *a) {
    const void *p;
    Layout l = {.dtype = (qs_dtype)a->dtype};
    qs_status s = qarr_read(b->vm, a, &p);
    if (s != QS_OK) return qerror_raise(b, s);
    l.rank = qarr_shape(a, l.dims, l.steps);
    for (int i = 0; i < l.rank; i++) l.steps[i] *= (int64_t)qdtype_size(l.dtype);
    return list_of(b, &l, 0, p);
}

PyObject *qnd_integers(Border *b, Array *a) {
    Array *whole;
    qs_status s = qarr_convert(b->vm, a, QS_I64, &whole);
    if (s != QS_OK) return qerror_raise(b, s);
    PyObject *r = qnd_from_array(b, whole);
    qarr_release(b->vm, whole);
    return r;
}

/* -- cells --------------------------------------------------------------------------------------------------------- */

static bool is_whole(qs_value v) {
    return v.kind == QS_INT || (v.kind == QS_NUM && fabs(v.u.f) < 0x1p53 && v.u.f == trunc(v.u.f));
}

static PyObject *cell_item(Border *b, qs_value v, bool integers) {
    if (integers && v.kind == QS_NUM) return PyLong_FromDouble(v.u.f);
    return qpy_pass(b, v);
}

static bool all_whole(const Cell *c) {
    size_t i = 0;
    while (i < c->count && is_whole(c->items[i])) i++;
    return i == c->count && c->count > 0;
}

static bool all_numbers(const Cell *c) {
    size_t i = 0;
    while (i < c->count && qval_is_scalar(c->items[i])) i++;
    return i == c->count;
}

PyObject *qnd_tuple(Border *b, Cell *c) {
    PyObject *t = PyTuple_New((Py_ssize_t)c->count);
    bool integers = all_whole(c);
    for (size_t i = 0; t && i < c->count; i++) {
        PyObject *o = cell_item(b, c->items[i], integers);
        if (!o) return Py_DECREF(t), NULL;
        PyTuple_SetItem(t, (Py_ssize_t)i, o);
    }
    return t;
}

PyObject *qnd_tuple_of(int rank, const int64_t *x, int64_t factor) {
    PyObject *t = PyTuple_New(rank);
    for (int i = 0; t && i < rank; i++) PyTuple_SetItem(t, i, PyLong_FromLongLong(x[i] * factor));
    return t;
}

/* Reshapes packed elements. */
qs_status qnd_shape(qs_vm *vm, int ndim, const int64_t *dims, qs_value *v) {
    Array *a = qval_array(*v), *r;
    int64_t steps[QS_MAX_RANK];
    if (qarr_has_shape(a, ndim, dims)) return QS_OK;
    if (qtape_is_recorded(vm, *v)) { /* a recorded result, which is packed */
        qarr_packed_strides(ndim, dims, steps);
        TRY(qhook_view(vm, a, ndim, dims, steps, a->offset, &r));
    } else TRY(qarr_reshape(vm, a, ndim, dims, &r));
    qarr_release(vm, a);
    return *v = qarr_value(r), QS_OK;
}

int qnd_of_tuple(PyObject *tuple, int64_t out[QS_MAX_RANK]) {
    Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (n < 0 || n > QS_MAX_RANK)
        return PyErr_SetString(PyExc_ValueError, "the shape must be a tuple of at most 8 numbers"), -1;
    for (Py_ssize_t i = 0; i < n; i++) out[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    return PyErr_Occurred() ? -1 : (int)n;
}

/* Integral numbers become an array of int64, which functions that take a shape accept; other numbers an array of their
 * own type, anything else an array of objects. */
PyObject *qnd_from_cell(Border *b, Cell *c) {
    PyObject *items = qnd_tuple(b, c), *shape = items ? qnd_tuple_of(c->rank, c->dims, 1) : NULL, *r = NULL;
    const char *as = all_whole(c) ? "int64" : c->count && all_numbers(c) ? "" : "object";
    if (shape) r = qbridge_support("cell_array", "(OOs)", items, shape, as);
    Py_XDECREF(items);
    Py_XDECREF(shape);
    return r;
}

/* Integral numbers that are keys become ints, which JSON and others write without a point. */
PyObject *qnd_from_dictionary(Border *b, const Object *o) {
    qs_value key, v;
    PyObject *r = PyDict_New();
    for (uint32_t i = 0; r && qobj_entry(o, i, &key, &v); i++) {
        qval_retain(key), qval_retain(v); /* other threads may change the dictionary meanwhile */
        PyObject *k = is_whole(key) ? cell_item(b, key, true) : qnd_key(b, key), *x = k ? qpy_pass(b, v) : NULL;
        if (!x || PyDict_SetItem(r, k, x) < 0) Py_CLEAR(r);
        Py_XDECREF(k);
        Py_XDECREF(x);
        qval_release(b->vm, key), qval_release(b->vm, v);
    }
    return r;
}

/* -- import -------------------------------------------------------------------------------------------------------- */

void qnd_drop_owner(void *owner) { qgil_decref(owner); }

qs_status qnd_element(Border *b, qs_dtype d, const void *p, qs_value *out) {
    uint64_t n = 0;
    if (d == QS_U64) memcpy(&n, p, sizeof n);
    if (n <= INT64_MAX) return qarr_load(b->vm, d, p, out);
    PyObject *o = PyLong_FromUnsignedLongLong(n);
    if (!o) return qerror_take(b);
    return *out = qpyvalue_new(b->vm, o), QS_OK;
}

qs_status qnd_only(Border *b, Array *a, qs_value *out) {
    const void *p;
    TRY(qarr_read(b->vm, a, &p));
    return qnd_element(b, (qs_dtype)a->dtype, p, out);
}

bool qnd_is_stretched(const qs_array_info *info) {
    bool repeated = false, empty = false;
    for (int i = 0; i < info->rank; i++) {
        repeated |= info->dims[i] > 1 && info->strides[i] == 0;
        empty |= info->dims[i] == 0;
    }
    return repeated && !empty;
}

/* Takes the reference to owner. */
static qs_status wrap_memory(Border *b, qs_array_info *info, void *data, const Py_ssize_t *dims,
                             const Py_ssize_t *strides, PyObject *owner, qs_value *out) {
    Array *a;
    int log_size = __builtin_ctzll(qdtype_size(info->dtype)); /* avoids slow divisions; sizes are powers of two */
    for (int i = 0; i < info->rank; i++) {
        info->dims[i] = dims[i];
        info->strides[i] = strides[i] >> log_size;
    }
    info->readonly |= qnd_is_stretched(info);
    Wrapped m = {.data = (uintptr_t)data, .release = qnd_drop_owner, .owner = owner};
    TRY(qarr_wrap(b->vm, info, &m, &a));
    if (info->rank) return *out = qarr_value(a), QS_OK;
    qs_status s = qnd_only(b, a, out); /* an array without dimensions becomes a number */
    qarr_release(b->vm, a);
    return s;
}

/* Returns whether elements can be used in place: strides are multiples of the size, and addresses are aligned. */
bool qnd_usable(const void *p, int rank, const Py_ssize_t *strides, const Py_ssize_t *dims, qs_dtype d) {
    Py_ssize_t size = (Py_ssize_t)qdtype_size(d), part = qdtype_is_complex(d) ? size / 2 : size;
    uintptr_t odd = (uintptr_t)p & (uintptr_t)(part - 1); /* sizes are powers of two */
    bool empty = false;
    for (int i = 0; i < rank && rank <= QS_MAX_RANK; i++) {
        if (dims[i] > 1) odd |= (uintptr_t)(strides[i] & (size - 1));
        if (dims[i] == 0) empty = true;
    }
    return rank <= QS_MAX_RANK && (odd == 0 || empty);
}

static bool import_ndarray(Border *b, PyObject *o, qs_value *out, qs_status *s) {
    const NdArray *a = (NdArray *)o;
    const Descr *d = (Descr *)a->descr;
    qs_array_info info = {.rank = a->nd, .readonly = !(a->flags & ND_WRITEABLE)};
    if (d->byteorder == '>' || !dtype_of_number(d->num, &info.dtype) ||
        !qnd_usable(a->data, a->nd, a->strides, a->dims, info.dtype))
        return false;
    Py_INCREF(o);
    *s = wrap_memory(b, &info, a->data, a->dims, a->strides, o, out);
    return true;
}

bool qnd_borrow(Border *b, PyObject *o, qs_value *out, qs_status *s) {
    return is_ndarray(b, o) && ((NdArray *)o)->nd && import_ndarray(b, o, out, s);
}

static bool has_attribute(Border *b, PyObject *o, const char *attribute) {
    bool r = PyObject_HasAttrString(o, attribute);
    qgil_back(b);
    return r;
}

/* Some exporters (ctypes) omit the strides of packed elements. */
static const Py_ssize_t *strides_of(const BufferView *view, Py_ssize_t packed[QS_MAX_RANK]) {
    Py_ssize_t step = view->itemsize;
    if (view->strides || view->ndim > QS_MAX_RANK) return view->strides;
    for (int i = view->ndim; i-- > 0; step *= view->shape[i]) packed[i] = step;
    return packed;
}

static qs_status masked_error(Border *b) {
    return qs_fail(b->vm, QS_ETYPE, "a masked array; x.filled(value) is one without a mask, x.data the elements alone");
}

/* The owner is a memoryview, which keeps the memory in place. */
static bool import_buffer(Border *b, PyObject *o, qs_value *out, qs_status *s) {
    BufferView view;
    Py_ssize_t packed[QS_MAX_RANK];
    if (!PyObject_CheckBuffer(o) || PyObject_GetBuffer(o, &view, BUF_RECORDS_RO) < 0) return PyErr_Clear(), false;
    const Py_ssize_t *strides = strides_of(&view, packed);
    qs_array_info info = {.rank = view.ndim, .readonly = view.readonly};
    bool bytes_of_number = view.ndim && PyNumber_Check(o) && !is_ndarray_kind(b, o); /* numpy.datetime64 */
    bool fits = view.ndim <= QS_MAX_RANK && !bytes_of_number &&
                dtype_of_format(view.format ? view.format : "B", view.itemsize, &info.dtype) &&
                qnd_usable(view.buf, view.ndim, strides, view.shape, info.dtype);
    bool unknown = fits && has_attribute(b, o, "mask"); /* a masked array */
    PyObject *owner = fits && !unknown ? PyMemoryView_FromObject(o) : NULL;
    qgil_back(b);
    if (owner) *s = wrap_memory(b, &info, view.buf, view.shape, strides, owner, out);
    if (unknown) *s = masked_error(b);
    PyBuffer_Release(&view);
    if (!owner) PyErr_Clear();
    return owner || unknown;
}

static qs_status import_items(Border *b, PyObject *list, qs_value *out) { /* converts a list or tuple to a cell */
    Cell *c;
    int64_t n = PySequence_Size(list);
    TRY(qcell_new(b->vm, qtype_any(qvm_ctx(b->vm)), 1, &n, &c));
    *out = qval_object(QS_CELL, c);
    for (int64_t i = 0; i < n; i++) {
        PyObject *o = PySequence_GetItem(list, i);
        qs_status s = o ? qnd_import(b, o, &c->items[i]) : qerror_take(b);
        Py_XDECREF(o);
        if (s == QS_OK) continue;
        qs_release(b->vm, *out);
        *out = qs_nil();
        return s;
    }
    return QS_OK;
}

qs_status qnd_import_key(Border *b, PyObject *key, qs_value *out) {
    qs_value v;
    if (PyTuple_Check(key)) return import_items(b, key, out);
    TRY(qnd_value(b, key, &v));
    bool may = v.kind == QS_STRING || qval_is_number(v) || v.kind == QS_CELL;
    if (may) return *out = v, QS_OK;
    qs_release(b->vm, v);
    return qs_fail(b->vm, QS_EVALUE, "from_py: a key of a dict must be a string, a number or a tuple of these");
}

PyObject *qnd_key(Border *b, qs_value key) {
    if (key.kind != QS_CELL) return qpy_from_value(b, key);
    const Cell *c = key.u.p;
    PyObject *t = PyTuple_New((Py_ssize_t)c->count);
    for (size_t i = 0; t && i < c->count; i++) {
        PyObject *item = qnd_key(b, c->items[i]);
        if (!item) return Py_DECREF(t), NULL;
        PyTuple_SetItem(t, (Py_ssize_t)i, item);
    }
    return t;
}

static qs_status import_pair(Border *b, Object *o, PyObject *key, PyObject *value) {
    qs_value k, v;
    TRY(qnd_import_key(b, key, &k));
    qs_status s = qnd_import(b, value, &v);
    if (s == QS_OK) {
        s = qobj_set_key(b->vm, o, k, v);
        qs_release(b->vm, v);
    }
    return qs_release(b->vm, k), s;
}

static qs_status import_pairs(Border *b, PyObject *dict, Object *o) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) TRY(import_pair(b, o, key, value));
    return QS_OK;
}

static qs_status import_dict(Border *b, PyObject *dict, qs_value *out) {
    Object *o;
    PyObject *copy = PyDict_Copy(dict); /* other threads may change it meanwhile */
    if (!copy) return qerror_take(b);
    qs_status s = qobj_new_dictionary(b->vm, &o);
    if (s == QS_OK && (s = import_pairs(b, copy, o)) != QS_OK) qs_release(b->vm, qval_object(QS_OBJECT, o));
    Py_DECREF(copy);
    if (s == QS_OK) *out = qval_object(QS_OBJECT, o);
    return s;
}

/* Converts other objects that NumPy can make an array: elements in other byte order, tensors, lists of numbers; else
 * the result of _support.plain. */
static qs_status import_other(Border *b, PyObject *o, qs_value *out) {
    qs_status s;
    PyObject *plain = qbridge_support("plain", "(O)", o);
    qgil_back(b);
    if (!plain) return qerror_take(b);
    if (PyList_Check(plain) || PyTuple_Check(plain)) s = import_items(b, plain, out);
    else if (PyDict_Check(plain)) s = import_dict(b, plain, out);
    else if (PyNumber_Check(plain) && !PyObject_CheckBuffer(plain)) return qpy_to_value(b, plain, out);
    else if (PyUnicode_Check(plain)) return qpy_text(b, plain, out);
    else if (import_buffer(b, plain, out, &s)) {
    } else s = qs_fail(b->vm, QS_ETYPE, "from_py: the elements cannot be used");
    Py_DECREF(plain);
    return s;
}

/* NumPy arrays have been handled before, including those of strings and objects. */
static bool import_tensor(Border *b, PyObject *o, qs_value *out, qs_status *s) {
    if (is_ndarray_kind(b, o)) return false;
    if (!qdl_borrow(b, o, true, out, s)) return qdl_argument(b, o, out, s);
    if (*s == QS_OK) qdl_hold(b, *out);
    return true;
}

enum { DEEP = 200 };

qs_status qnd_import(Border *b, PyObject *o, qs_value *out) {
    static int depth; /* protected by the GIL */
    qs_status s;
    qs_value simple;
    if (is_ndarray(b, o) && import_ndarray(b, o, out, &s)) return s;
    Py_INCREF(o);
    TRY(qpy_to_value(b, o, &simple));
    if (simple.kind != QS_FOREIGN) return *out = simple, QS_OK;
    qs_release(b->vm, simple);
    if (import_buffer(b, o, out, &s) || import_tensor(b, o, out, &s)) return s;
    if (has_attribute(b, o, "__cuda_array_interface__")) return qgpu_import(b, o, out);
    if (depth >= DEEP) return qs_fail(b->vm, QS_EVALUE, "from_py: more than %d lists inside each other", DEEP);
    depth++;
    s = import_other(b, o, out);
    depth--;
    return s;
}

/* -- arguments of calls from Python -------------------------------------------------------------------------------- */

enum { ARGUMENT_PREFIX = ARGUMENT_NAME + sizeof "argument : " };

/* "argument x: "; empty if fn is nil. */
static const char *argument_prefix(qs_value fn, int i, char text[ARGUMENT_PREFIX]) {
    char name[ARGUMENT_NAME];
    *text = 0;
    if (fn.kind == QS_NIL) return text;
    qfunction_argument(fn, i, name);
    snprintf(text, ARGUMENT_PREFIX, "argument %s: ", name);
    return text;
}

/* Sets the error for elements of a supported type whose position or byte order cannot be used. */
static qs_status misplaced_error(Border *b, PyObject *o, qs_value fn, int i) {
    char which[ARGUMENT_PREFIX];
    PyObject *text = qbridge_support("misplaced", "(O)", o);
    qgil_back(b);
    const char *why = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    qs_status s = why ? qs_fail(b->vm, QS_ETYPE, "%s%s", argument_prefix(fn, i, which), why) : qerror_take(b);
    Py_XDECREF(text);
    return s;
}

static bool is_numeric(PyObject *array) {
    char k = ((Descr *)((NdArray *)array)->descr)->kind;
    return k == 'f' || k == 'i' || k == 'u' || k == 'b' || k == 'c';
}

bool qnd_is_numbers(PyObject *o) { return is_ndarray(NULL, o) && is_numeric(o); }

/* Returns whether o is a plain list or tuple, which has no memory to share.  A quick check that avoids slow attribute
 * lookups. */
static bool is_list(PyObject *o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

/* Looks at the type, because a class itself is not a tensor. */
bool qnd_is_tensor(PyObject *o) {
    return !is_list(o) && !is_ndarray_kind(NULL, o) && PyObject_HasAttrString((PyObject *)Py_TYPE(o), "__dlpack__");
}

bool qnd_is_array(PyObject *o) { return is_ndarray_kind(NULL, o) || qnd_is_tensor(o); }

/* Writes must be visible to the caller, so no copy may replace it. */
static qs_status mark_as_is(qs_status s, qs_value *v) {
    if (s == QS_OK && v->kind == QS_ARRAY) qval_array(*v)->hdr.flags |= ARRAY_AS_IS;
    return s;
}

/* Options for the conversion of a list:
 *     cells      other items than numbers make a cell, and arrays have their NumPy shape; if false, such items are an
 *                error, and [[1, 2]] is a vector, as in the language
 *     declared   the element type is given; otherwise a list of only truth values gets elements of bool
 *     numbers    element type
 *     changed    receives a number of the list that an integer element type cannot represent; may be NULL */
typedef struct {
    bool cells, declared;
    qs_dtype numbers;
    qs_value *changed;
} ListAs;
static qs_status items_value(Border *b, PyObject *list, ListAs as, qs_value *out);

static void look_at(Border *b, int n, const qs_value *items, ListAs as) {
    for (int i = 0; as.changed && i < n; i++) {
        qs_value x = items[i];
        bool point = x.kind == QS_ARRAY && qval_array(x)->ndim == 0; /* a NumPy scalar */
        if (point && qnd_only(b, qval_array(x), &x) != QS_OK) qs_error_clear(b->vm);
        if (qval_is_number(x) && !qval_holds(as.numbers, x)) *as.changed = x;
    }
}

static bool only_truths(int n, const qs_value *items) {
    int i = 0;
    while (i < n && qarr_is_truth(items[i])) i++;
    return n && i == n;
}

static qs_status make_literal(Border *b, int n, qs_value *items, ListAs as, qs_value *out) {
    qs_value v;
    if (!as.declared && only_truths(n, items)) as.numbers = QS_B1;
    look_at(b, n, items, as);
    if (qarr_literal(b->vm, as.numbers, n, items, &v) == QS_OK) {
        bool nested = as.cells && n && items[0].kind == QS_ARRAY;
        if (!nested) return *out = v, QS_OK;
        const Array *first = qval_array(items[0]);
        int64_t dims[QS_MAX_RANK + 1] = {n}; /* qarr_literal has failed for arrays of maximum rank */
        int inner = qarr_shape(first, dims + 1, NULL);
        qs_status s = inner < QS_MAX_RANK ? qnd_shape(b->vm, inner + 1, dims, &v) : QS_OK;
        return *out = v, s;
    }
    qs_error_clear(b->vm);
    return as.cells ? qs_cell(b->vm, n, items, out) : qs_fail(b->vm, QS_ETYPE, "no numbers");
}

static qs_status item_value(Border *b, PyObject *o, ListAs as, qs_value *out) {
    if (is_list(o)) return items_value(b, o, as, out);
    if (as.cells) return qnd_value(b, o, out);
    Py_INCREF(o);
    TRY(qpy_to_value(b, o, out));
    if (out->kind == QS_ARRAY) return qs_release(b->vm, *out), qs_fail(b->vm, QS_ETYPE, "an array in a list");
    bool perhaps = out->kind == QS_FOREIGN && !is_ndarray_kind(b, o); /* a NumPy scalar */
    if (!perhaps || !PyNumber_Check(o) || !PyObject_CheckBuffer(o)) return QS_OK;
    qs_release(b->vm, *out);
    return qnd_import(b, o, out);
}

static qs_status items_value(Border *b, PyObject *list, ListAs as, qs_value *out) {
    static int depth; /* protected by the GIL */
    Py_ssize_t n = PySequence_Size(list), i = 0;
    qs_value *items = PyMem_Malloc(n ? (size_t)n * sizeof *items : 1);
    qs_status s = items ? QS_OK : QS_ENOMEM;
    if (depth >= DEEP || n > INT32_MAX) s = QS_EVALUE;
    depth++;
    for (; i < n && s == QS_OK; i++) {
        PyObject *o = PySequence_GetItem(list, i);
        s = o ? item_value(b, o, as, &items[i]) : qerror_take(b);
        Py_XDECREF(o);
    }
    depth--;
    if (s == QS_OK) s = make_literal(b, (int)n, items, as, out);
    else i -= i > 0;
    while (i-- > 0) qs_release(b->vm, items[i]);
    PyMem_Free(items);
    return s == QS_OK || qs_error(b->vm) ? s : qs_fail(b->vm, s, "a list with too many lists or elements in it");
}

/* Returns whether a list and its nested lists contain only ints; false for a list that contains itself. */
static bool only_ints(PyObject *list, int depth) {
    Py_ssize_t n = PySequence_Size(list), i = 0;
    for (bool right = depth < DEEP; right && i < n; i += right) {
        PyObject *o = PySequence_GetItem(list, i);
        bool inner = o && is_list(o);
        right = o && (inner ? only_ints(o, depth + 1) : PyLong_CheckExact(o));
        Py_XDECREF(o);
    }
    return i == n && depth < DEEP;
}

static bool beyond_doubles(qs_vm *vm, Array *a) {
    const void *p;
    bool large = false;
    if (qarr_read(vm, a, &p) != QS_OK) return qs_error_clear(vm), false;
    for (size_t i = 0; i < a->count; i++) large |= fabs(((const double *)p)[i]) >= 0x1p53;
    return large;
}

/* Like items_value; but if one row of ints needs int64, all rows get it. */
static qs_status list_value(Border *b, PyObject *list, ListAs as, qs_value *out) {
    TRY(items_value(b, list, as, out));
    Array *a = out->kind == QS_ARRAY ? out->u.p : NULL;
    if (!a || a->dtype != QS_F64 || a->rank < 2 || !only_ints(list, 0) || !beyond_doubles(b->vm, a)) return QS_OK;
    qs_release(b->vm, *out);
    as.numbers = QS_I64;
    return items_value(b, list, as, out);
}

/* A conversion such as float64([0.1]) must get the numbers with Python's precision, not those of a float32 list. */
static bool is_conversion(qs_value fn) {
    return fn.kind == QS_TYPE ? ((TypeValue *)fn.u.p)->type->kind == TY_NUM : qfunction_takes(fn) == TAKES_EXACT;
}

static bool wants_array(const Type *t) {
    bool array = t && t->kind == TY_ARRAY, object = false;
    for (int i = 0; t && t->kind == TY_UNION && i < t->nargs; i++) {
        array |= t->args[i]->kind == TY_ARRAY;
        object |= t->args[i]->kind == TY_FOREIGN;
    }
    return array && !object;
}

/* bytes are passed as an object, unless the parameter is an array; kernels take no objects. */
static bool keeps_bytes(PyObject *o, qs_value fn, const Type *declared) {
    return PyBytes_CheckExact(o) && qfunction_takes(fn) != TAKES_LAUNCH && !wants_array(declared);
}

/* Prevents the function from writing to its copy of a list, because the caller would not see it.  Built-ins do not
 * write; the one that launches kernels checks `unseen`. */
static void protect_copy(Array *copy, qs_value fn) {
    copy->buf->unseen = fn.kind != QS_NIL;
    copy->buf->readonly = fn.kind == QS_FUNCTION && ((Function *)fn.u.p)->fkind == FN_SCRIPT;
}

static bool is_declared(const Type *t) { return t && t->kind == TY_ARRAY && t->inner->kind == TY_NUM; }

/* Returns the element type for a list: the declared one directly, to avoid rounding twice. */
static qs_dtype wanted_numbers(Border *b, PyObject *list, qs_value fn, const Type *t) {
    if (is_declared(t)) return t->inner->dtype;
    if (is_conversion(fn)) return only_ints(list, 0) ? QS_I64 : QS_F64;
    return qvm_ctx(b->vm)->scalar_dtype;
}

static qs_status not_held_error(Border *b, qs_value number, qs_value fn, int i, const Type *t) {
    char name[ARGUMENT_NAME], what[2 * ARGUMENT_NAME + sizeof ": argument "] = "the field", text[NUMBER_TEXT];
    if (fn.kind != QS_NIL) {
        qfunction_argument(fn, i, name);
        const char *of = fn.kind == QS_TYPE ? qtype_name(((TypeValue *)fn.u.p)->type) : ((Function *)fn.u.p)->name->s;
        snprintf(what, sizeof what, "%.*s: argument %s", ARGUMENT_NAME, of, name);
    }
    return qs_fail(b->vm, QS_EVALUE, QDTYPE_NOT_HELD, what, qtype_name(t), qnum_shown(qval_number(number), text),
                   qtype_name(t->inner));
}

/* Makes an array of float64 if t allows it. */
static bool wide_list(Border *b, PyObject *list, ListAs as, const Type *t, qs_value *out) {
    as.numbers = QS_F64;
    if (list_value(b, list, as, out) != QS_OK) return qs_error_clear(b->vm), false;
    return !t || qval_is_type(b->vm, *out, t) || (qs_release(b->vm, *out), false);
}

/* t: declared type, or NULL.  Returns false if the list has other items than numbers; it then stays a Python object. */
static bool list_argument(Border *b, PyObject *o, qs_value fn, int i, const Type *t, qs_value *out, qs_status *s) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) return false; /* torch.Size is a tuple, too */
    qs_value changed = qs_nil();
    ListAs as = {.numbers = wanted_numbers(b, o, fn, t), .declared = is_declared(t)};
    if (qdtype_is_int(as.numbers) && t) as.changed = &changed;
    bool wide = b->wide_lists && as.numbers == QS_F32 && wide_list(b, o, as, t, out);
    if (!wide && list_value(b, o, as, out) != QS_OK) return qs_error_clear(b->vm), false;
    if (out->kind == QS_ARRAY) protect_copy(out->u.p, fn);
    if (changed.kind == QS_NIL) return *s = QS_OK, true;
    qs_release(b->vm, *out);
    return *s = not_held_error(b, changed, fn, i, t), true;
}

static qs_status array_argument(Border *b, PyObject *o, qs_value fn, int i, qs_value *out) {
    qs_status s;
    if (import_ndarray(b, o, out, &s)) return mark_as_is(s, out);
    return misplaced_error(b, o, fn, i);
}

/* Reduces the error to its first line and adds the argument. */
static qs_status for_argument(Border *b, qs_status s, qs_value fn, int i) {
    char which[ARGUMENT_PREFIX], why[WHY];
    if (s == QS_OK || s == QS_EINTERRUPT) return s;
    settle_error(b, why);
    return qs_fail(b->vm, QS_ETYPE, "%s%s", argument_prefix(fn, i, which), why);
}

/* Handles objects that only describe their memory, by passing them to NumPy.  false: not an array of numbers. */
static bool described_argument(Border *b, PyObject *o, qs_value fn, int i, qs_value *out, qs_status *s) {
    PyObject *a = open_numpy() == 0 ? PyObject_CallFunctionObjArgs(numpy.asarray, o, NULL) : NULL;
    qgil_back(b);
    bool numbers = !a || qnd_is_numbers(a);
    if (numbers) *s = a ? array_argument(b, a, fn, i, out) : for_argument(b, qerror_take(b), fn, i);
    Py_XDECREF(a);
    return numbers;
}

static qs_status closed_vm_error(Border *b, qs_value fn, int i) {
    return for_argument(b, qs_fail(b->vm, QS_EVALUE, "a value of a Quasar machine that is closed"), fn, i);
}

/* Handles an object of another library; false: it has no usable memory. */
static bool memory_argument(Border *b, PyObject *o, qs_value fn, int i, qs_value *out, qs_status *s) {
    if (qvalue_check(o)) return ((Wrapper *)o)->border != b && (*s = closed_vm_error(b, fn, i), true);
    if (is_ndarray(b, o) && is_numeric(o)) return *s = array_argument(b, o, fn, i, out), true;
    if (import_buffer(b, o, out, s) || qdl_borrow(b, o, true, out, s))
        return *s = for_argument(b, mark_as_is(*s, out), fn, i), true;
    if (is_ndarray_kind(b, o) && is_numeric(o)) return *s = misplaced_error(b, o, fn, i), true;
    if (is_ndarray_kind(b, o) || PyDict_Check(o) || PyCallable_Check(o)) return false;
    if (list_argument(b, o, fn, i, qfunction_declares(b, fn, i), out, s)) return true;
    if (import_tensor(b, o, out, s)) return *s = for_argument(b, mark_as_is(*s, out), fn, i), true;
    if (PyMemoryView_Check(o) || has_attribute(b, o, "__array_interface__"))
        return described_argument(b, o, fn, i, out, s);
    if (!has_attribute(b, o, "__cuda_array_interface__")) return false;
    return *s = for_argument(b, mark_as_is(qgpu_import(b, o, out), out), fn, i), true;
}

qs_status qnd_argument(Border *b, PyObject *o, qs_value fn, int i, qs_value *out) {
    qs_status s;
    qs_value wrapped;
    const Type *t = qfunction_declares(b, fn, i);
    bool list = is_list(o);
    bool kept = (t && t->kind == TY_FOREIGN) || (list && !list_argument(b, o, fn, i, t, out, &s));
    if (kept) return *out = qpyvalue_new(b->vm, (Py_INCREF(o), o)), QS_OK;
    if (list) return s;
    if (numpy.ndarray && Py_TYPE(o) == numpy.ndarray && is_numeric(o)) return array_argument(b, o, fn, i, out);
    if (qdl_borrow(b, o, false, out, &s)) return for_argument(b, mark_as_is(s, out), fn, i);
    Py_INCREF(o);
    TRY(qpy_to_value(b, o, &wrapped));
    *out = wrapped;
    bool point = wrapped.kind == QS_ARRAY && qval_array(wrapped)->ndim == 0 && !(t && t->kind == TY_ARRAY);
    if (point) return qnd_number(b, out);
    if (wrapped.kind != QS_FOREIGN || keeps_bytes(o, fn, t) || !memory_argument(b, o, fn, i, out, &s)) return QS_OK;
    qs_release(b->vm, wrapped);
    return s;
}

qs_status qnd_number(Border *b, qs_value *v) {
    qs_value number;
    qs_status s = qnd_only(b, qval_array(*v), &number);
    qs_release(b->vm, *v);
    return *v = s == QS_OK ? number : qs_nil(), s;
}

/* NumPy scalars are not arrays. */
bool qnd_is_point(Border *b, PyObject *o) {
    if (!is_ndarray(b, o) && (qvalue_check(o) || !qnd_is_tensor(o))) return false;
    PyObject *ndim = PyObject_GetAttrString(o, "ndim");
    bool point = ndim && PyLong_Check(ndim) && PyLong_AsLong(ndim) == 0;
    Py_XDECREF(ndim);
    PyErr_Clear();
    return point;
}

qs_status qnd_value(Border *b, PyObject *o, qs_value *out) {
    if (is_list(o)) {
        ListAs as = {.cells = true, .numbers = qvm_ctx(b->vm)->scalar_dtype};
        return list_value(b, o, as, out);
    }
    return qnd_import(b, o, out);
}

qs_status qnd_assigned(Border *b, PyObject *o, qs_value *out) {
    if (!is_list(o)) return qnd_import(b, o, out);
    ListAs as = {.cells = true, .numbers = only_ints(o, 0) ? QS_I64 : QS_F64};
    return items_value(b, o, as, out);
}

qs_status qnd_operand(Border *b, PyObject *list, qs_value *out) {
    ListAs as = {.numbers = only_ints(list, 0) ? QS_I64 : QS_F64};
    return items_value(b, list, as, out);
}

qs_status qnd_kept(Border *b, PyObject *o, const Type *declared, qs_value *out) {
    qs_status s = QS_OK;
    bool whole = is_list(o) || (PyBytes_CheckExact(o) && wants_array(declared));
    bool numbers = declared && is_list(o) && list_argument(b, o, qs_nil(), 0, declared, out, &s);
    if (!numbers) s = whole ? qnd_value(b, o, out) : qnd_argument(b, o, qs_nil(), 0, out);
    TRY(s);
    return qdl_hold(b, *out), QS_OK;
}
