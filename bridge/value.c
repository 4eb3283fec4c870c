/* value.c -- arrays, objects and types of the language as Python objects: qvalue. */
#include "bridge/bridge.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct { Wrapper head; } ValueObject;

PyObject *qvalue_new(Border *b, qs_value v) { return qwrapper_make(qbridge.value, b, v); }

static qs_value value_of(PyObject *o) { return ((Wrapper *)o)->v; }
static Border *border(PyObject *o) { return ((Wrapper *)o)->border; }
static const Array *array_of(PyObject *o) { return value_of(o).kind == QS_ARRAY ? value_of(o).u.p : NULL; }

/* The end of an operation on the machine: its result, or its error. */
static PyObject *finish(Border *b, qs_status s, qs_value *out) {
    PyObject *r = s == QS_OK ? qpy_give(b, *out) : qerror_raise(b, s);
    qgil_leave(b);
    return r;
}

/* -- text ---------------------------------------------------------------------------------------------------------- */

static PyObject *text(PyObject *o, qs_status (*print)(qs_vm *, qs_value, Text *)) {
    Border *b = border(o);
    Text t;
    if (qgil_enter(b) < 0) return NULL;
    qtext_init(&t, qvm_ctx(b->vm));
    qs_status s = print(b->vm, value_of(o), &t);
    PyObject *r = s == QS_OK ? qpy_string(t.s ? t.s : "", t.len) : qerror_raise(b, s);
    qtext_free(&t);
    qgil_leave(b);
    return r;
}

static PyObject *str(PyObject *o) { return text(o, qfmt_value); }
static PyObject *repr(PyObject *o) { return text(o, qfmt_brief); }

/* -- NumPy --------------------------------------------------------------------------------------------------------- */

static PyObject *to_py(PyObject *o, PyObject *unused) {
    Border *b = border(o);
    (void)unused;
    if (!array_of(o)) return Py_INCREF(o), o;
    if (qgil_enter(b) < 0) return NULL;
    PyObject *r = qnd_from_array(b, value_of(o).u.p);
    qgil_leave(b);
    return r;
}

/* -- items --------------------------------------------------------------------------------------------------------- */

static Py_ssize_t length(PyObject *o) {
    const Array *a = array_of(o);
    if (a) return a->rank ? (Py_ssize_t)a->dims[0] : 1;
    if (value_of(o).kind == QS_CELL) return (Py_ssize_t)((Cell *)value_of(o).u.p)->dims[0];
    PyErr_Format(PyExc_TypeError, "a value of type %s has no length", qs_type_name(border(o)->vm, value_of(o)));
    return -1;
}

/* start:stop:step of n elements as a range of the language; its end is included. */
static int range_of(Border *b, PyObject *slice, int64_t n, qs_value *out) {
    Py_ssize_t start, stop, step;
    Array *a;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) return -1;
    Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)n, &start, &stop, step);
    if (count == n && step == 1) return *out = qval_colon(), 0;
    qs_status s = qarr_range(b->vm, (double)start, (double)step, (double)(start + (count - 1) * step), &a);
    if (s != QS_OK) return qerror_raise(b, s), -1;
    *out = qarr_value(a);
    return 0;
}

/* One index; negative ones count from the end, as everywhere in Python. */
static int index_of(Border *b, PyObject *key, int64_t n, qs_value *out) {
    if (PySlice_Check(key)) return range_of(b, key, n, out);
    if (PyIndex_Check(key) && Py_TYPE(key) != qbridge.value) {
        Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (i == -1 && PyErr_Occurred()) return -1;
        *out = qs_int(i < 0 ? i + n : i);
        return 0;
    }
    qs_status s = qnd_import(b, key, out);
    return s == QS_OK ? 0 : (qerror_raise(b, s), -1);
}

/* The indices that a Python key stands for; -1 with an exception. */
static int indices_of(Border *b, const Array *a, PyObject *key, qs_value *at) {
    bool several = PyTuple_Check(key);
    int n = several ? (int)PyTuple_Size(key) : 1;
    if (n > QS_MAX_RANK) return PyErr_Format(PyExc_IndexError, "at most %d indices can be given", QS_MAX_RANK), -1;
    for (int i = 0; i < n; i++) {
        PyObject *k = several ? PyTuple_GetItem(key, i) : key;
        if (index_of(b, k, a ? qarr_dim(a, i) : 0, &at[i]) == 0) continue;
        while (i-- > 0) qs_release(b->vm, at[i]);
        return -1;
    }
    while (a && !several && n < a->rank && n < QS_MAX_RANK && at[0].kind != QS_ARRAY)
        at[n++] = qval_colon(); /* a row */
    return n;
}

static bool is_numpys(PyObject *k) { return k == Py_None || k == Py_Ellipsis; }

/* A key with None or … in it, which only NumPy understands. */
static bool for_numpy(PyObject *key) {
    bool found = is_numpys(key);
    for (Py_ssize_t i = 0; PyTuple_Check(key) && i < PyTuple_Size(key); i++)
        found = found || is_numpys(PyTuple_GetItem(key, i));
    return found;
}

static PyObject *numpy_item(PyObject *o, PyObject *key) {
    PyObject *a = to_py(o, NULL), *r = a ? PyObject_GetItem(a, key) : NULL;
    Py_XDECREF(a);
    return r;
}

static PyObject *get_item(PyObject *o, PyObject *key) {
    Border *b = border(o);
    qs_value at[QS_MAX_RANK], r;
    if (array_of(o) && for_numpy(key)) return numpy_item(o, key);
    if (qgil_enter(b) < 0) return NULL;
    int n = indices_of(b, array_of(o), key, at);
    if (n < 0) return qgil_leave(b), NULL;
    qs_status s = qidx_get(b->vm, value_of(o), n, at, (TypeMods){0}, NULL, &r);
    for (int i = 0; i < n; i++) qs_release(b->vm, at[i]);
    return finish(b, s, &r);
}

static int set_inside(Border *b, PyObject *o, PyObject *key, PyObject *x) {
    qs_value at[QS_MAX_RANK], v;
    int n = indices_of(b, array_of(o), key, at);
    if (n < 0) return -1;
    qs_status s = qnd_import(b, x, &v);
    if (s == QS_OK) {
        s = qidx_set(b->vm, value_of(o), n, at, (TypeMods){0}, NULL, v);
        qs_release(b->vm, v);
    }
    for (int i = 0; i < n; i++) qs_release(b->vm, at[i]);
    return s == QS_OK ? 0 : (qerror_raise(b, s), -1);
}

static int set_item(PyObject *o, PyObject *key, PyObject *x) {
    if (!x) return PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted"), -1;
    if (qgil_enter(border(o)) < 0) return -1;
    int r = set_inside(border(o), o, key, x);
    qgil_leave(border(o));
    return r;
}

static PyObject *sequence_item(PyObject *o, Py_ssize_t i) { /* iteration ends with the IndexError */
    if (i >= length(o))
        return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_IndexError, "index out of range"), NULL);
    PyObject *key = PyLong_FromSsize_t(i), *r = key ? get_item(o, key) : NULL;
    Py_XDECREF(key);
    return r;
}

/* -- fields -------------------------------------------------------------------------------------------------------- */

static Str *name_text(Border *b, PyObject *name) {
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(name, &n);
    return s ? qstr_name(qvm_ctx(b->vm), s, (size_t)n) : NULL;
}

/* x.f where f is a function of the language: called with x in front. */
static PyObject *method_named(Border *b, PyObject *o, PyObject *name) {
    qs_value fn;
    Str *s = name_text(b, name);
    if (!s || qvm_lookup(b->vm, s->s, &fn) != QS_OK) return qs_error_clear(b->vm), NULL;
    PyObject *f = fn.kind == QS_FUNCTION ? qpy_from_value(b, fn) : NULL;
    qs_release(b->vm, fn);
    PyObject *r = f ? qbridge_support("method", "(OO)", f, o) : NULL;
    Py_XDECREF(f);
    return r;
}

static PyObject *field(Border *b, PyObject *o, PyObject *name) {
    Str *s = name_text(b, name);
    Object *x = value_of(o).u.p;
    qs_value r;
    if (!s || value_of(o).kind != QS_OBJECT || !qobj_has(x, s) || qobj_get(b->vm, x, s, &r) != QS_OK) return NULL;
    PyObject *p = qpy_from_value(b, r);
    qs_release(b->vm, r);
    return p;
}

/* Fields first, then what every value has, then functions: for objects alone, since NumPy asks arrays for their
 * methods. */
static PyObject *get_attribute(PyObject *o, PyObject *name) {
    Border *b = border(o);
    if (value_of(o).kind != QS_OBJECT || !b->vm) return PyObject_GenericGetAttr(o, name);
    if (qgil_enter(b) < 0) return NULL;
    PyObject *r = field(b, o, name);
    if (!r && !PyErr_Occurred()) r = PyObject_GenericGetAttr(o, name);
    if (!r && PyErr_ExceptionMatches(PyExc_AttributeError) && PyUnicode_ReadChar(name, 0) != '_') {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        r = method_named(b, o, name);
        if (!r) PyErr_Restore(type, value, traceback);
        else Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    }
    qgil_leave(b);
    return r;
}

static int set_field(Border *b, PyObject *o, PyObject *name, PyObject *x) {
    qs_value v;
    Str *s = name_text(b, name);
    if (!s) return -1;
    Py_INCREF(x);
    qs_status status = qpy_to_value(b, x, &v);
    if (status == QS_OK) {
        status = qobj_set(b->vm, value_of(o).u.p, s, v);
        qs_release(b->vm, v);
    }
    return status == QS_OK ? 0 : (qerror_raise(b, status), -1);
}

static int set_attribute(PyObject *o, PyObject *name, PyObject *x) {
    if (value_of(o).kind != QS_OBJECT || !x) return PyObject_GenericSetAttr(o, name, x);
    if (qgil_enter(border(o)) < 0) return -1;
    int r = set_field(border(o), o, name, x);
    qgil_leave(border(o));
    return r;
}

/* -- operators ----------------------------------------------------------------------------------------------------- */

static bool operand(PyObject *o) {
    return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || Py_TYPE(o) == qbridge.value;
}

/* Also numbers of derived types, like numpy.float64: never a pyvalue, which would ask Python for the operator again. */
static int take_operand(Border *b, PyObject *o, qs_value *out) {
    qs_status s = QS_OK;
    if (Py_TYPE(o) == qbridge.value) *out = qval_retain(value_of(o));
    else if (PyFloat_Check(o)) *out = qs_num(PyFloat_AsDouble(o));
    else if (PyComplex_Check(o)) s = qval_complex(b->vm, PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o), out);
    else *out = qs_num(PyLong_AsDouble(o));
    if (s != QS_OK) qerror_raise(b, s);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *binary(Op op, PyObject *x, PyObject *y) {
    Border *b = border(Py_TYPE(x) == qbridge.value ? x : y);
    qs_value p, q, r;
    if (!operand(x) || !operand(y)) return Py_INCREF(Py_NotImplemented), Py_NotImplemented;
    if (qgil_enter(b) < 0) return NULL;
    if (take_operand(b, x, &p) < 0) return qgil_leave(b), NULL;
    if (take_operand(b, y, &q) < 0) return qs_release(b->vm, p), qgil_leave(b), NULL;
    qs_status s = qarith_binary(b->vm, op, p, q, &r);
    qs_release(b->vm, p);
    qs_release(b->vm, q);
    return finish(b, s, &r);
}

static PyObject *unary(Op op, PyObject *x) {
    Border *b = border(x);
    qs_value r;
    if (qgil_enter(b) < 0) return NULL;
    return finish(b, qarith_unary(b->vm, op, value_of(x), &r), &r);
}

#define BINARY_SLOT(name, op)                                                                                          \
    static PyObject *name(PyObject *x, PyObject *y) { return binary(op, x, y); }
BINARY_SLOT(add, OP_ADD)
BINARY_SLOT(subtract, OP_SUB)
BINARY_SLOT(multiply, OP_PWMUL)
BINARY_SLOT(divide, OP_PWDIV)
BINARY_SLOT(matrix_product, OP_MUL)
static PyObject *power(PyObject *x, PyObject *y, PyObject *modulus) {
    (void)modulus;
    return binary(OP_PWPOW, x, y);
}
static PyObject *negative(PyObject *x) { return unary(OP_NEG, x); }
static PyObject *positive(PyObject *x) { return unary(OP_PLUS, x); }

static PyObject *compare(PyObject *x, PyObject *y, int op) {
    static const Op ops[] = {
        [Py_LT] = OP_LT, [Py_LE] = OP_LE, [Py_EQ] = OP_EQ, [Py_NE] = OP_NE, [Py_GT] = OP_GT, [Py_GE] = OP_GE};
    if (array_of(x) && operand(y)) return binary(ops[op], x, y);
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(y) != qbridge.value)
        return Py_INCREF(Py_NotImplemented), Py_NotImplemented;
    return PyBool_FromLong((value_of(x).u.p == value_of(y).u.p) == (op == Py_EQ));
}

static Py_hash_t hash(PyObject *o) {
    if (array_of(o)) return PyErr_SetString(PyExc_TypeError, "unhashable type: an array"), -1;
    Py_hash_t h = (Py_hash_t)((uintptr_t)value_of(o).u.p >> 4);
    return h == -1 ? -2 : h;
}

static int is_true(PyObject *o) {
    Border *b = border(o);
    bool t;
    const Array *a = array_of(o);
    if (a && a->count > 1) {
        PyErr_SetString(PyExc_ValueError, "the truth of an array of several elements is ambiguous; use all() or any()");
        return -1;
    }
    if (!a) return 1;
    if (qgil_enter(b) < 0) return -1;
    qs_status s = qval_truth(b->vm, value_of(o), &t);
    if (s != QS_OK) qerror_raise(b, s);
    qgil_leave(b);
    return s == QS_OK ? t : -1;
}

static int number(PyObject *o, double *x) {
    Border *b = border(o);
    if (qgil_enter(b) < 0) return -1;
    qs_status s = qs_to_num(b->vm, value_of(o), x);
    if (s != QS_OK) qerror_raise(b, s);
    qgil_leave(b);
    return s == QS_OK ? 0 : -1;
}

static PyObject *to_float(PyObject *o) {
    double x;
    return number(o, &x) < 0 ? NULL : PyFloat_FromDouble(x);
}

static PyObject *to_int(PyObject *o) {
    double x;
    return number(o, &x) < 0 ? NULL : PyLong_FromDouble(x);
}

/* -- calls: a type makes a value ----------------------------------------------------------------------------------- */

static PyObject *call_value(PyObject *o, PyObject *args, PyObject *names) {
    PyObject *f = value_of(o).kind == QS_TYPE && !names ? qfunction_new(border(o), value_of(o)) : NULL;
    if (!f && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "this value cannot be called");
    PyObject *r = f ? PyObject_CallObject(f, args) : NULL;
    Py_XDECREF(f);
    return r;
}

/* -- methods and attributes ---------------------------------------------------------------------------------------- */

static PyObject *get_shape(PyObject *o, void *unused) {
    const Array *a = array_of(o);
    (void)unused;
    if (!a) return PyErr_SetString(PyExc_AttributeError, "shape"), NULL;
    PyObject *t = PyTuple_New(a->rank);
    for (int i = 0; t && i < a->rank; i++) PyTuple_SetItem(t, i, PyLong_FromLongLong(a->dims[i]));
    return t;
}

static PyObject *get_ndim(PyObject *o, void *unused) {
    const Array *a = array_of(o);
    (void)unused;
    return a ? PyLong_FromLong(a->rank) : (PyErr_SetString(PyExc_AttributeError, "ndim"), NULL);
}

static PyObject *get_type(PyObject *o, void *unused) {
    (void)unused;
    return border(o)->vm ? PyUnicode_FromString(qs_type_name(border(o)->vm, value_of(o)))
                         : PyUnicode_FromString("closed");
}

static PyMethodDef methods[] = {
    {"to_py", to_py, METH_NOARGS, "A NumPy array of the same memory; other values are themselves."},
    {"numpy", to_py, METH_NOARGS, "A NumPy array of the same memory."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "Extents of an array.", NULL},
    {"ndim", get_ndim, NULL, "How many dimensions an array has.", NULL},
    {"typename", get_type, NULL, "The type in the language, as type(x) gives it there.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Wrapper, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)"A value of a Quasar script: an array, an object or a type."},
    {Py_tp_dealloc, (void *)qwrapper_dealloc},
    {Py_tp_traverse, (void *)qwrapper_traverse},
    {Py_tp_clear, (void *)qwrapper_clear},
    {Py_tp_str, (void *)str},
    {Py_tp_repr, (void *)repr},
    {Py_tp_getattro, (void *)get_attribute},
    {Py_tp_setattro, (void *)set_attribute},
    {Py_tp_richcompare, (void *)compare},
    {Py_tp_hash, (void *)hash},
    {Py_tp_call, (void *)call_value},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    {Py_mp_length, (void *)length},
    {Py_mp_subscript, (void *)get_item},
    {Py_mp_ass_subscript, (void *)set_item},
    {Py_sq_item, (void *)sequence_item},
    {Py_nb_add, (void *)add},
    {Py_nb_subtract, (void *)subtract},
    {Py_nb_multiply, (void *)multiply},
    {Py_nb_true_divide, (void *)divide},
    {Py_nb_matrix_multiply, (void *)matrix_product},
    {Py_nb_power, (void *)power},
    {Py_nb_negative, (void *)negative},
    {Py_nb_positive, (void *)positive},
    {Py_nb_bool, (void *)is_true},
    {Py_nb_float, (void *)to_float},
    {Py_nb_int, (void *)to_int},
    {SLOT_GETBUFFER, (void *)qnd_getbuffer},
    {SLOT_RELEASEBUFFER, (void *)qnd_releasebuffer},
    {0, NULL},
};
static PyType_Spec spec = {"pyquasar.qvalue", sizeof(ValueObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int qvalue_init(void) {
    qbridge.value = (PyTypeObject *)PyType_FromSpec(&spec);
    return qbridge.value ? 0 : -1;
}
