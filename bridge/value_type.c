/* value_type.c -- implements qvalue, the Python type of values of the language.  Elements are in items.c, operators in
 * operators.c, and parts that are shorter in Python in pyquasar/_values.py. */
#include "bridge/bridge.h"
#include "vm/tape/tape.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    Wrapper head;
    PyObject *grad; /* another value, of the same shape; NULL: none */
    Export *given;  /* memory whose address was requested, exported as long as this object lives; NULL: none */
} ValueObject;

PyObject *qvalue_new(Border *b, qs_value v) {
    return qwrapper_make(v.kind == QS_TYPE ? qbridge.type : qbridge.value, b, v);
}

static const Array *array_of(PyObject *o) { return qwrapper_value(o).kind == QS_ARRAY ? qwrapper_value(o).u.p : NULL; }

/* Returns the result of an operation of the VM, or NULL with an exception. */
PyObject *qvalue_result(Border *b, qs_status s, qs_value *out) {
    return s == QS_OK ? qpy_give(b, *out) : qerror_raise(b, s);
}

/* -- text ---------------------------------------------------------------------------------------------------------- */

static PyObject *format_value(PyObject *o, bool brief) {
    Border *b = qwrapper_border(o);
    Text t;
    if (qgil_enter(b) < 0) return NULL;
    qtext_init(&t, qvm_ctx(b->vm));
    int before = qgil_work(b);
    qtape_enter(b->vm); /* text carries no derivative */
    qs_status s = qfmt_made(b->vm, qwrapper_value(o), brief, &t);
    qtape_leave(b->vm);
    qgil_rest(b, before);
    PyObject *r = s == QS_OK ? qpy_string(t.s ? t.s : "", t.len) : qerror_raise(b, s);
    qtext_free(&t);
    qgil_leave(b);
    return r;
}

static PyObject *str(PyObject *o) { return format_value(o, false); }

enum { SHOWN_ELEMENTS = 64 };

/* Shows small values as the prompt does, and large ones by type and size. */
static PyObject *repr(PyObject *o) {
    ALONE;
    const Array *a = array_of(o);
    char size[SHAPE_TEXT];
    if (!qwrapper_border(o)->vm) return PyUnicode_FromString("<value of a Quasar machine that is closed>");
    if (!a || a->count <= SHOWN_ELEMENTS) return format_value(o, true);
    return PyUnicode_FromFormat("<quasar %s of size %s>", qs_type_name(qwrapper_border(o)->vm, qwrapper_value(o)),
                                qarr_shape_text(a, size));
}

/* -- conversion to Python objects ---------------------------------------------------------------------------------- */

static PyObject *to_py(PyObject *o, PyObject *Py_UNUSED(unused)) {
    Border *b = qwrapper_border(o);
    qs_value v = qwrapper_value(o);
    PyObject *r = NULL;
    if (qgil_enter(b) < 0) return NULL;
    if (v.kind == QS_ARRAY) r = qnd_from_wrapper(b, o);
    else if (v.kind == QS_NUM) r = PyFloat_FromDouble(v.u.f);
    else if (v.kind == QS_OBJECT || v.kind == QS_TYPE) r = (Py_INCREF(o), o);
    else if (v.kind == QS_TRACED) r = qerror_raise(b, qtape_refuse_number(b->vm));
    else r = qpy_from_value(b, v);
    qgil_leave(b);
    return r;
}

static PyObject *tolist(PyObject *o, PyObject *unused);

/* Converts an item to plain Python objects; takes the reference. */
static PyObject *own_item(PyObject *o) {
    if (!o) return NULL;
    PyObject *own = qvalue_check(o)                ? tolist(o, NULL)
                    : Py_TYPE(o) == qbridge.scalar ? PyFloat_FromDouble(PyFloat_AsDouble(o))
                                                   : (Py_INCREF(o), o);
    Py_DECREF(o);
    return own;
}

static PyObject *cell_list(PyObject *cell) {
    Py_ssize_t n = qitem_count(cell);
    PyObject *list = n < 0 ? NULL : PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *o = own_item(qitem_at(cell, i));
        if (!o) Py_CLEAR(list);
        else PyList_SetItem(list, i, o);
    }
    return list;
}

static PyObject *tolist(PyObject *o, PyObject *unused) {
    Border *b = qwrapper_border(o);
    if (qwrapper_value(o).kind == QS_CELL) return cell_list(o);
    if (qwrapper_value(o).kind != QS_ARRAY) return to_py(o, unused);
    if (qgil_enter(b) < 0) return NULL;
    return qgil_result(b, qnd_list(b, qwrapper_value(o).u.p));
}

/* -- fields -------------------------------------------------------------------------------------------------------- */

static bool is_private(PyObject *name) { return PyUnicode_GetLength(name) > 0 && PyUnicode_ReadChar(name, 0) == '_'; }

static Str *name_text(Border *b, PyObject *name) {
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(name, &n);
    return s ? qstr_name(qvm_ctx(b->vm), s, (size_t)n) : NULL;
}

/* Handles x.f where f is a function of the language: binds x as its first argument. */
static PyObject *method_named(Border *b, PyObject *o, PyObject *name) {
    qs_value fn;
    Str *s = name_text(b, name);
    /* The usual case: hasattr, and libraries that test for protocols. */
    if (!s || !qvm_knows(b->vm, s->s)) return NULL;
    if (qvm_lookup(b->vm, s->s, &fn) != QS_OK) return qs_error_clear(b->vm), NULL;
    PyObject *f = fn.kind == QS_FUNCTION ? qpy_from_value(b, fn) : NULL;
    qs_release(b->vm, fn);
    PyObject *r = f ? qbridge_support("method", "(OO)", f, o) : NULL;
    Py_XDECREF(f);
    return r;
}

/* Gets a field of a window or figure, which is created on access. */
static PyObject *foreign_field(Border *b, PyObject *o, Str *s) {
    qs_value r;
    qs_status status = qs_get(b->vm, qwrapper_value(o), qval_object(QS_STRING, s), &r);
    if (status == QS_ENAME || status == QS_ETYPE) return qs_error_clear(b->vm), NULL;
    return status == QS_OK ? qpy_give(b, r) : qerror_raise(b, status);
}

static PyObject *get_field(Border *b, PyObject *o, PyObject *name) {
    Str *s = name_text(b, name);
    Object *x = qwrapper_value(o).u.p;
    qs_value r;
    if (s && qwrapper_value(o).kind == QS_FOREIGN && !is_private(name)) return foreign_field(b, o, s);
    if (!s || qwrapper_value(o).kind != QS_OBJECT || !qobj_has(x, s) || qobj_get(b->vm, x, s, &r) != QS_OK) return NULL;
    PyObject *p = qpy_from_value(b, r);
    qs_release(b->vm, r);
    return p;
}

static bool has_fields(qs_value v) { return v.kind == QS_OBJECT || v.kind == QS_FOREIGN; }

/* Looks up fields first, then the attributes of all values, then functions.  Functions are looked up only for objects,
 * because NumPy tests arrays for methods.  When the VM is closed, only names that begin with _ remain, by which Python
 * and libraries examine an object. */
static PyObject *get_attribute(PyObject *o, PyObject *name) {
    Border *b = qwrapper_border(o);
    if (!b->vm && PyUnicode_Check(name) && !is_private(name)) return qgil_closed(), NULL;
    if (!has_fields(qwrapper_value(o)) || !b->vm) return PyObject_GenericGetAttr(o, name);
    if (qgil_enter(b) < 0) return NULL;
    PyObject *r = get_field(b, o, name);
    if (!r && !PyErr_Occurred()) r = PyObject_GenericGetAttr(o, name);
    if (!r && PyErr_ExceptionMatches(PyExc_AttributeError) && !is_private(name)) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        r = method_named(b, o, name);
        if (!r) PyErr_Restore(type, value, traceback);
        else Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    }
    qgil_leave(b);
    return r;
}

/* The type that the class declares for the field; NULL: none. */
static const Type *field_type(PyObject *o, const Str *name) {
    const Class *c = qwrapper_value(o).kind == QS_OBJECT ? ((Object *)qwrapper_value(o).u.p)->cls : NULL;
    for (int i = 0; c && i < c->nfields; i++)
        if (c->fields[i].name == name) return c->fields[i].type;
    return NULL;
}

static int set_field(Border *b, PyObject *o, PyObject *name, PyObject *x) {
    qs_value v;
    Str *s = name_text(b, name);
    if (!s) return -1;
    const Type *t = field_type(o, s);
    qs_status status = qnd_kept(b, x, t, &v);
    if (status == QS_OK) {
        status = qfunction_holds(b, t, s->s, v);
        if (status == QS_OK) status = qs_set(b->vm, qwrapper_value(o), qval_object(QS_STRING, s), v);
        qs_release(b->vm, v);
    }
    return status == QS_OK ? 0 : (qerror_raise(b, status), -1);
}

static int set_attribute(PyObject *o, PyObject *name, PyObject *x) {
    if (!has_fields(qwrapper_value(o)) || !x) return PyObject_GenericSetAttr(o, name, x);
    if (qgil_enter(qwrapper_border(o)) < 0) return -1;
    int r = set_field(qwrapper_border(o), o, name, x);
    return qgil_leave(qwrapper_border(o)) < 0 ? -1 : r;
}

/* Adds the names of its fields to the names that all values have. */
static PyObject *dir(PyObject *o, PyObject *Py_UNUSED(unused)) {
    PyObject *list = PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__dir__", "O", o);
    Str *name;
    qs_value v;
    if (!list || qwrapper_value(o).kind != QS_OBJECT || !qwrapper_border(o)->vm) return list;
    if (qgil_enter(qwrapper_border(o)) < 0) return Py_DECREF(list), NULL;
    for (uint32_t i = 0; qobj_field(qwrapper_value(o).u.p, i, &name, &v); i++) {
        PyObject *s = name ? qpy_string(name->s, name->len) : NULL;
        if (name && (!s || PyList_Append(list, s) < 0)) PyErr_Clear();
        Py_XDECREF(s);
    }
    return qgil_result(qwrapper_border(o), list);
}

/* Returns [(key, value)] of an object, for dict(o), copies and pickles. */
static PyObject *fields_of(PyObject *o, PyObject *Py_UNUSED(unused)) {
    if (qwrapper_value(o).kind != QS_OBJECT) return PyErr_SetString(PyExc_TypeError, "no object"), NULL;
    return qitem_entries(o, true);
}

static PyObject *is_dictionary(PyObject *o, PyObject *Py_UNUSED(unused)) {
    return PyBool_FromLong(qwrapper_value(o).kind == QS_OBJECT && qobj_is_dictionary(qwrapper_value(o).u.p));
}

/* -- calls: a type creates a value --------------------------------------------------------------------------------- */

static PyObject *call_type(PyObject *o, PyObject *args, PyObject *names) {
    PyObject *f = qfunction_new(qwrapper_border(o), qwrapper_value(o));
    PyObject *r = f ? PyObject_Call(f, args, names) : NULL;
    Py_XDECREF(f);
    return r;
}

/* -- pointers ------------------------------------------------------------------------------------------------------ */

enum { ON_HOST, ON_CUDA, ON_OPENCL, ON_DEVICE0 = 16 }; /* the constants MEMRESOURCE_ of pyquasar/__init__.py */

/* DEVICE0 is the device that runs kernels, DEVICE1 the processor, DEVICE2 the next one in devices() … */
static qs_status device_of(Border *b, int resource, int *out) {
    const char *kind = resource == ON_CUDA ? "cuda" : "opencl";
    qs_device_info d;
    *out = resource == ON_HOST ? -1 : resource - ON_DEVICE0 - 1;
    if (resource == ON_HOST || resource > ON_DEVICE0) return QS_OK;
    for (*out = 0; resource == ON_DEVICE0 && qs_device(b->vm, *out, &d); ++*out)
        if (d.default_device) return QS_OK;
    if (resource != ON_CUDA && resource != ON_OPENCL)
        return qs_fail(b->vm, QS_EVALUE, "lock: the device must be one of MEMRESOURCE_..., got %d", resource);
    for (*out = 0; qs_device(b->vm, *out, &d); ++*out)
        if (strcmp(d.kind, kind) == 0) return QS_OK;
    return qs_fail(b->vm, QS_EDEVICE, "lock: no %s device is open; init(\"%s\") opens one", kind, kind);
}

static qs_status check_lock(Border *b, qs_value v, int mode) {
    if (mode != QS_READ && mode != QS_WRITE && mode != QS_READWRITE)
        return qs_fail(b->vm, QS_EVALUE, "lock: the mode must be LOCK_READ, LOCK_WRITE or LOCK_READWRITE, got %d",
                       mode);
    if (v.kind == QS_ARRAY && !qval_array(v)->contiguous)
        return qs_fail(b->vm, QS_EVALUE,
                       "lock: the elements do not lie one behind the other; copy(A) makes an array where they do");
    return QS_OK;
}

static bool take_lock(PyObject *args, PyObject *names, int *mode, int *resource) {
    static const char *const keywords[] = {"mode", "device", NULL};
    *mode = QS_READWRITE, *resource = ON_HOST;
    return PyArg_ParseTupleAndKeywords(args, names, "|ii:lock", (char **)(uintptr_t)keywords, mode, resource);
}

static PyObject *lock(PyObject *o, PyObject *args, PyObject *names) {
    Border *b = qwrapper_border(o);
    int mode, resource, device;
    void *p = NULL;
    if (!take_lock(args, names, &mode, &resource) || qgil_enter(b) < 0) return NULL;
    qs_status s = check_lock(b, qwrapper_value(o), mode);
    if (s == QS_OK) s = device_of(b, resource, &device);
    if (s == QS_OK) s = qs_lock(b->vm, qwrapper_value(o), device, (qs_access)mode, &p);
    PyObject *r = s == QS_OK ? PyLong_FromVoidPtr(p) : qerror_raise(b, s);
    qgil_leave(b);
    return r;
}

static PyObject *unlock(PyObject *o, PyObject *args, PyObject *names) {
    Border *b = qwrapper_border(o);
    int mode, resource, device;
    if (!take_lock(args, names, &mode, &resource) || qgil_enter(b) < 0) return NULL;
    qs_status s = device_of(b, resource, &device);
    if (s == QS_OK) s = qs_unlock(b->vm, qwrapper_value(o), device, (qs_access)mode);
    if (s != QS_OK) qerror_raise(b, s);
    qgil_leave(b);
    return s == QS_OK ? (Py_INCREF(Py_None), Py_None) : NULL;
}

/* -- methods and attributes ---------------------------------------------------------------------------------------- */

static const Array *array_for(PyObject *o, const char *attribute) {
    const Array *a = array_of(o);
    if (qwrapper_is_closed((Wrapper *)o)) qgil_closed();
    else if (!a) PyErr_Format(PyExc_AttributeError, "only arrays have the attribute %s", attribute);
    return a;
}

static PyObject *get_shape(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    if (qwrapper_value(o).kind == QS_CELL) {
        const Cell *c = qwrapper_value(o).u.p;
        return qnd_tuple_of(c->rank, c->dims, 1);
    }
    const Array *a = array_for(o, "shape");
    int64_t dims[QS_MAX_RANK];
    return a ? qnd_tuple_of(qarr_shape(a, dims, NULL), dims, 1) : NULL;
}

static PyObject *get_strides(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Array *a = array_for(o, "strides");
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    if (!a) return NULL;
    return qnd_tuple_of(qarr_shape(a, dims, strides), strides, (int64_t)qdtype_size((qs_dtype)a->dtype));
}

static PyObject *get_ndim(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Array *a = array_for(o, "ndim");
    return a ? PyLong_FromLong(a->ndim) : NULL;
}

static PyObject *get_size(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Array *a = array_for(o, "size");
    return a ? PyLong_FromSize_t(a->count) : NULL;
}

static PyObject *get_dtype(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Array *a = array_for(o, "dtype");
    return a ? PyUnicode_FromString(qnd_name(a->dtype)) : NULL;
}

static PyObject *get_readonly(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Array *a = array_for(o, "readonly");
    return a ? PyBool_FromLong(qarr_is_readonly(a)) : NULL;
}

/* -- addresses for other libraries, which keep this object alive --------------------------------------------------- */

static qs_status export_memory(Border *b, ValueObject *o, bool on_device) {
    Device *d = qgpu_of(b, o->head.v.u.p);
    if ((d != NULL) != on_device) return QS_OK;
    return qnd_give(b, o->head.v.u.p, d, &o->given);
}

/* Returns the address on a device (True) or the host (False); None when the elements are shared elsewhere. */
static PyObject *get_address(PyObject *o, PyObject *on_device) {
    ValueObject *x = (ValueObject *)o;
    bool wanted = on_device == Py_True;
    if (!array_of(o)) return Py_INCREF(Py_None), Py_None;
    if (qgil_enter(qwrapper_border(o)) < 0) return NULL;
    qs_status s = x->given ? QS_OK : export_memory(qwrapper_border(o), x, wanted);
    if (s != QS_OK) qerror_raise(qwrapper_border(o), s);
    qgil_leave(qwrapper_border(o));
    if (s != QS_OK) return NULL;
    if (!x->given || x->given->on_device != wanted) return Py_INCREF(Py_None), Py_None;
    return PyLong_FromVoidPtr(x->given->data);
}

/* -- views with other shapes and conversions, for _values.py ------------------------------------------------------- */

static PyObject *new_array(Border *b, qs_status s, Array *a) {
    if (s != QS_OK) return qerror_raise(b, s);
    PyObject *r = qvalue_new(b, qarr_value(a));
    qarr_release(b->vm, a);
    return r;
}

/* (shape, strides in elements): returns a view of the same memory.  The caller ensures that it stays inside. */
static PyObject *make_view(PyObject *o, PyObject *args) {
    PyObject *shape, *steps;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    Array *a = qwrapper_value(o).u.p, *r = NULL;
    if (!array_for(o, "_view") || !PyArg_ParseTuple(args, "OO", &shape, &steps)) return NULL;
    int rank = qnd_of_tuple(shape, dims);
    if (rank < 0 || qnd_of_tuple(steps, strides) != rank || qgil_enter(qwrapper_border(o)) < 0) return NULL;
    qs_status s = qhook_view(qwrapper_border(o)->vm, a, rank, dims, strides, a->offset, &r);
    PyObject *made = new_array(qwrapper_border(o), s, r);
    qgil_leave(qwrapper_border(o));
    return made;
}

/* (element type, whether always a copy) */
static PyObject *convert_elements(PyObject *o, PyObject *args) {
    const char *name;
    int copy;
    Array *a = qwrapper_value(o).u.p, *r = NULL;
    if (!array_for(o, "_converted") || !PyArg_ParseTuple(args, "sp", &name, &copy)) return NULL;
    int d = qnd_named(name);
    if (d == QS_NDTYPES) return PyErr_Format(PyExc_TypeError, "there is no element type %s", name);
    if (qgil_enter(qwrapper_border(o)) < 0) return NULL;
    bool same = a->dtype == d && copy;
    int before = qgil_work(qwrapper_border(o));
    qs_status s =
        same ? qarr_copy(qwrapper_border(o)->vm, a, &r) : qarr_convert(qwrapper_border(o)->vm, a, (qs_dtype)d, &r);
    qgil_rest(qwrapper_border(o), before);
    PyObject *made = new_array(qwrapper_border(o), s, r);
    qgil_leave(qwrapper_border(o));
    return made;
}

/* -- gradients: a second array, converted together with this one to and from tensors ------------------------------- */

static PyObject *get_grad(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    PyObject *grad = ((ValueObject *)o)->grad;
    if (!array_for(o, "grad")) return NULL;
    return grad ? (Py_INCREF(grad), grad) : (Py_INCREF(Py_None), Py_None);
}

static int set_grad(PyObject *o, PyObject *grad, void *Py_UNUSED(unused)) {
    ALONE;
    const Array *a = array_for(o, "grad");
    if (!a) return -1;
    if (grad == Py_None) grad = NULL;
    if (grad && (!qvalue_check(grad) || !array_of(grad)))
        return PyErr_Format(PyExc_TypeError, "grad: an array of the language is wanted, got %R", Py_TYPE(grad)), -1;
    if (grad && !qitem_same_shape(a, array_of(grad)))
        return PyErr_SetString(PyExc_ValueError, "grad: the shape must be that of the array"), -1;
    PyObject *old = ((ValueObject *)o)->grad;
    Py_XINCREF(grad);
    ((ValueObject *)o)->grad = grad;
    Py_XDECREF(old);
    return 0;
}

static void dealloc(PyObject *o) {
    PyObject_GC_UnTrack(o);
    Py_CLEAR(((ValueObject *)o)->grad);
    if (((ValueObject *)o)->given) qnd_take_back(((ValueObject *)o)->given);
    qwrapper_dealloc(o);
}

static int traverse(PyObject *o, visitproc visit, void *arg) {
    Py_VISIT(((ValueObject *)o)->grad);
    return qwrapper_traverse(o, visit, arg);
}

static int clear(PyObject *o) {
    Py_CLEAR(((ValueObject *)o)->grad);
    return qwrapper_clear(o);
}

static PyObject *get_kind(PyObject *o, void *Py_UNUSED(unused)) {
    static const char *const names[] = {"null", "bool",   "int",      "number", "complex", "string", "array",
                                        "cell", "object", "function", "type",   "foreign", "number"};
    return PyUnicode_FromString(names[qwrapper_value(o).kind]);
}

/* Returns whether a current derivative depends on it; only the thread that runs the VM can determine that. */
static PyObject *get_recorded(PyObject *o, void *Py_UNUSED(unused)) {
    Border *b = qwrapper_border(o);
    if (!b->vm) Py_RETURN_FALSE;
    if (qgil_enter(b) != 0) return NULL;
    return qgil_result(b, PyBool_FromLong(qtape_is_recorded(b->vm, qwrapper_value(o))));
}

static PyObject *get_type(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    return PyUnicode_FromString(qwrapper_border(o)->vm ? qs_type_name(qwrapper_border(o)->vm, qwrapper_value(o))
                                                       : "closed");
}

static PyMethodDef methods[] = {
    {"to_py", to_py, METH_NOARGS,
     "to_py($self, /)\n--\n\nA NumPy array of the same memory; of numbers and strings Python's own; of a cell a NumPy "
     "array."},
    {"tolist", tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nThe elements of an array or cell as nested lists of Python's own numbers."},
    {"lock", (PyCFunction)(void (*)(void))lock, METH_VARARGS | METH_KEYWORDS,
     "lock($self, mode=LOCK_READWRITE, device=MEMRESOURCE_CPU)\n--\n\nThe address of the elements in the memory of "
     "a device, "
     "valid until unlock."},
    {"unlock", (PyCFunction)(void (*)(void))unlock, METH_VARARGS | METH_KEYWORDS,
     "unlock($self, mode=LOCK_READWRITE, device=MEMRESOURCE_CPU)\n--\n\nEnds what lock with the same arguments has "
     "begun."},
    {"__dlpack__", (PyCFunction)(void (*)(void))qdl_export, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", qdl_device, METH_NOARGS, NULL},
    {"__complex__", qoperator_complex, METH_NOARGS, NULL},
    {"__dir__", dir, METH_NOARGS, NULL},
    {"_address", get_address, METH_O, NULL},
    {"_view", make_view, METH_VARARGS, NULL},
    {"_converted", convert_elements, METH_VARARGS, NULL},
    {"_fields", fields_of, METH_NOARGS, NULL},
    {"_is_dictionary", is_dictionary, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "Extents of an array.", NULL},
    {"strides", get_strides, NULL, "Bytes from one element to the next, per dimension.", NULL},
    {"ndim", get_ndim, NULL, "How many dimensions an array has.", NULL},
    {"size", get_size, NULL, "How many elements an array has.", NULL},
    {"_dtype", get_dtype, NULL, NULL, NULL},
    {"typename", get_type, NULL, "The type in the language, as type(x) gives it there.", NULL},
    {"readonly", get_readonly, NULL,
     "Whether nobody may write to the elements: whoever has them forbids it, or they are locked for reading.", NULL},
    {"grad", get_grad, set_grad, "An array of the same shape that tensors made of this one have as gradient, or None.",
     NULL},
    {"_kind", get_kind, NULL, NULL, NULL},
    {"_recorded", get_recorded, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
/* iter() would use the items instead, but some libraries test for __iter__ to distinguish an array from a number.  A
 * dictionary gives the keys that it has now. */
static PyObject *iterate(PyObject *o) {
    if (!qitem_is_dictionary(o)) return qitem_count(o) < 0 ? NULL : PySeqIter_New(o);
    PyObject *keys = qitem_entries(o, false), *r = keys ? PyObject_GetIter(keys) : NULL;
    Py_XDECREF(keys);
    return r;
}

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Wrapper, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static const PyType_Slot own_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "A value of the Quasar language: an array, number, string, cell, object or type."},
    {Py_tp_new, (void *)qwrapper_refuse},
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_clear, (void *)clear},
    {Py_tp_str, (void *)str},
    {Py_tp_repr, (void *)repr},
    {Py_tp_getattro, (void *)get_attribute},
    {Py_tp_setattro, (void *)set_attribute},
    {Py_tp_richcompare, (void *)qoperator_compare},
    {Py_tp_hash, (void *)qoperator_hash},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    {Py_mp_length, (void *)qitem_count},
    {Py_mp_subscript, (void *)qitem_get},
    {Py_mp_ass_subscript, (void *)qitem_set},
    {Py_sq_item, (void *)qitem_at},
    {Py_tp_iter, (void *)iterate},
    {SLOT_GETBUFFER, (void *)qnd_getbuffer},
    {SLOT_RELEASEBUFFER, (void *)qnd_releasebuffer},
    {0, NULL},
};

/* A separate type, because pandas and others treat any callable object as a function. */
static PyType_Slot type_slots[] = {
    {Py_tp_call, (void *)call_type},
    {0, NULL},
};

enum { MANY_SLOTS = 80 };

int qvalue_init(void) {
    PyType_Slot slots[MANY_SLOTS];
    int n = 0;
    for (const PyType_Slot *s = own_slots; s->slot; s++) slots[n++] = *s;
    for (const PyType_Slot *s = qoperator_slots; s->slot; s++) slots[n++] = *s;
    slots[n] = (PyType_Slot){0, NULL};
    unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE;
    PyType_Spec spec = {"pyquasar.qvalue", sizeof(ValueObject), 0, flags, slots};
    qbridge.value = (PyTypeObject *)PyType_FromSpec(&spec);
    PyType_Spec callable = {"pyquasar.qtype", sizeof(ValueObject), 0, Py_TPFLAGS_DEFAULT, type_slots};
    PyObject *bases = qbridge.value ? PyTuple_Pack(1, qbridge.value) : NULL;
    qbridge.type = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&callable, bases) : NULL;
    Py_XDECREF(bases);
    return qbridge.type ? 0 : -1;
}
