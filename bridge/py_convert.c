/* py_convert.c -- implements the implicit conversions in both directions.
 *
 *     script → Python   number: py_scalar.c   int, bool, null, string, complex: same type   pyvalue: its object
 *                       array, object, type: value_type.c   function: function.c   cell: ndarray.c
 *     Python → script   exact float, int, bool, str, complex, None: same type   values from a script: unwrapped
 *                       all other objects, also subclasses of these: pyvalue */
#include "bridge/bridge.h"

enum { EXACT = 53 }; /* bits of the integers that a double represents exactly */

/* -- strings ------------------------------------------------------------------------------------------------------- */

PyObject *qpy_string(const char *s, size_t n) { return PyUnicode_DecodeUTF8(s, (Py_ssize_t)n, "surrogateescape"); }

/* Converts a str with escaped bytes.  Half a surrogate pair is an error, because it represents no bytes. */
static qs_status bytes_text(Border *b, PyObject *str, qs_value *out) {
    char *s;
    Py_ssize_t n;
    PyErr_Clear();
    PyObject *bytes = PyUnicode_AsEncodedString(str, "utf-8", "surrogateescape");
    if (!bytes || PyBytes_AsStringAndSize(bytes, &s, &n) < 0) return qerror_take(b);
    qs_status status = qs_string(b->vm, s, (size_t)n, out);
    Py_DECREF(bytes);
    return status;
}

qs_status qpy_text(Border *b, PyObject *str, qs_value *out) {
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(str, &n);
    qs_status status = s ? qs_string(b->vm, s, (size_t)n, out) : bytes_text(b, str, out);
    Py_DECREF(str);
    return status;
}

/* Caches by address, because names in code live as long as the VM. */
PyObject *qpy_name(Border *b, const Str *s) {
    size_t i = ((uintptr_t)s >> 4 ^ (uintptr_t)s >> 14) % NAME_SLOTS;
    if (b->names[i].key == s) return b->names[i].name;
    PyObject *name = qpy_string(s->s, s->len);
    if (!name) return NULL;
    PyUnicode_InternInPlace(&name);
    Py_XDECREF(b->names[i].name);
    b->names[i].key = s->hdr.flags & STR_NAME ? s : NULL;
    return b->names[i].name = name;
}

static PyObject *names_tuple(Border *b, int n, const qs_value *names) {
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++) {
        PyObject *name = qpy_name(b, names[i].u.p);
        if (!name) return Py_DECREF(t), NULL;
        Py_INCREF(name);
        PyTuple_SetItem(t, i, name);
    }
    return t;
}

PyObject *qpy_names(Border *b, int n, const qs_value *names) {
    uintptr_t hash = (uintptr_t)n;
    for (int i = 0; i < n; i++) hash = hash * 31 + ((uintptr_t)names[i].u.p >> 4);
    size_t at = (hash ^ hash >> 8) % TUPLE_SLOTS;
    int most = sizeof b->tuples[at].keys / sizeof *b->tuples[at].keys;
    bool same = b->tuples[at].n == n && b->tuples[at].tuple;
    for (int i = 0; i < n && same; i++) same = i < most && b->tuples[at].keys[i] == names[i].u.p;
    if (same) return b->tuples[at].tuple;
    PyObject *t = names_tuple(b, n, names);
    if (!t) return NULL;
    Py_XDECREF(b->tuples[at].tuple);
    b->tuples[at].tuple = t;
    b->tuples[at].n = n <= most ? n : -1;
    for (int i = 0; i < n && i < most; i++) b->tuples[at].keys[i] = names[i].u.p;
    return t;
}

/* -- script → Python ----------------------------------------------------------------------------------------------- */

static PyObject *retain_object(PyObject *o) { return Py_INCREF(o), o; }

/* A cell or dictionary may contain itself, so nesting is limited. */
static PyObject *from_container(Border *b, qs_value v) {
    enum { DEEPEST = 500 };
    if (b->nesting == DEEPEST)
        return PyErr_Format(PyExc_RecursionError, "a %s contains itself, or is nested more than %d deep",
                            v.kind == QS_CELL ? "cell" : "dictionary", DEEPEST);
    b->nesting++;
    PyObject *r = v.kind == QS_CELL ? qnd_from_cell(b, v.u.p) : qnd_from_dictionary(b, v.u.p);
    return b->nesting--, r;
}

PyObject *qpy_from_value(Border *b, qs_value v) {
    PyObject *o;
    switch ((qs_kind)v.kind) {
    case QS_NIL: return retain_object(Py_None);
    case QS_BOOL: return retain_object(v.u.i ? Py_True : Py_False);
    case QS_INT: return PyLong_FromLongLong(v.u.i);
    case QS_NUM: return qscalar_new(v.u.f);
    case QS_COMPLEX: return PyComplex_FromDoubles(((Complex *)v.u.p)->re, ((Complex *)v.u.p)->im);
    case QS_STRING: return qpy_string(((Str *)v.u.p)->s, ((Str *)v.u.p)->len);
    case QS_CELL: return from_container(b, v);
    case QS_FUNCTION: o = qpyvalue_callee(v.u.p); return o ? retain_object(o) : qfunction_new(b, v);
    case QS_FOREIGN: o = qpyvalue_get(v); return o ? retain_object(o) : qvalue_new(b, v);
    default: return qvalue_new(b, v);
    }
}

PyObject *qpy_pass(Border *b, qs_value v) {
    bool dictionary = v.kind == QS_OBJECT && qobj_is_dictionary(v.u.p);
    return dictionary ? from_container(b, v) : qpy_from_value(b, v);
}

/* If Python opened the VM, cells and dictionaries stay what they are; to_py() converts them. */
PyObject *qpy_return(Border *b, qs_value v) {
    if (b->hosted) return qpy_give(b, v);
    PyObject *o = qpy_pass(b, v);
    return qval_release(b->vm, v), o;
}

PyObject *qpy_give(Border *b, qs_value v) {
    PyObject *o = b->hosted && v.kind == QS_CELL ? qvalue_new(b, v) : qpy_from_value(b, v);
    qval_release(b->vm, v);
    return o;
}

/* -- Python → script ----------------------------------------------------------------------------------------------- */

static qs_status from_int(Border *b, PyObject *o, qs_value *out) {
    int overflow;
    long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) return *out = qpyvalue_new(b->vm, o), QS_OK;
    *out = n >= -(1LL << EXACT) && n <= 1LL << EXACT ? qs_num((double)n) : qs_int(n);
    Py_DECREF(o);
    return QS_OK;
}

static qs_status from_complex(Border *b, PyObject *o, qs_value *out) {
    qs_status s = qval_complex(b->vm, PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o), out);
    Py_DECREF(o);
    return s;
}

static qs_status unwrap_value(Border *b, PyObject *o, qs_value *out) {
    const Wrapper *w = (Wrapper *)o;
    bool mine = w->border == b;
    *out = mine ? qval_retain(w->v) : qpyvalue_new(b->vm, o);
    if (mine) Py_DECREF(o);
    return QS_OK;
}

qs_status qpy_to_value(Border *b, PyObject *o, qs_value *out) {
    const PyTypeObject *t = Py_TYPE(o);
    if (t == &PyFloat_Type || t == qbridge.scalar) {
        *out = qs_num(PyFloat_AsDouble(o));
        Py_DECREF(o);
        return QS_OK;
    }
    if (o == Py_None || t == &PyBool_Type) {
        *out = o == Py_None ? qs_nil() : qs_bool(o == Py_True);
        Py_DECREF(o);
        return QS_OK;
    }
    if (t == &PyLong_Type) return from_int(b, o, out);
    if (t == &PyUnicode_Type) return qpy_text(b, o, out);
    if (t == &PyComplex_Type) return from_complex(b, o, out);
    if (qwrapper_check(o)) return unwrap_value(b, o, out);
    *out = qpyvalue_new(b->vm, o);
    return QS_OK;
}

qs_status qpy_result(Border *b, PyObject *r, qs_value *out) {
    qgil_back(b);
    qs_status s = qgpu_regain(b, r ? QS_OK : qerror_take(b));
    if (s != QS_OK) return Py_XDECREF(r), s;
    TRY(qpy_to_value(b, r, out));
    if (!qvm(b->vm)->exiting) return QS_OK;
    qs_release(b->vm, *out); /* a callback called exit(), and Python code caught the exception */
    *out = qs_nil();
    return qs_fail(b->vm, QS_EINTERRUPT, "exit");
}
