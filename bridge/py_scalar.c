/* py_scalar.c -- represents a number of the language in Python: a float that is also an index if it is integral, so
 * that np.zeros(3), range(n) and torch.randn(n, m) work as written.
 *
 * Objects are kept for reuse, because every number passed to Python needs one.  The value is written at the offset at
 * which CPython stores the value of a float; qscalar_init checks this offset.  If it differs, the slower general
 * constructor is used. */
#include "bridge/bridge.h"

#include <math.h>
#include <string.h>

typedef struct {
    PyObject ob_base;
    double value;
} Float;

#ifdef Py_GIL_DISABLED
enum { REUSED = false }; /* a reference count shared by several threads cannot be reset */
#else
enum { REUSED = true };
#endif
enum { MAX_SPARE = 256 };
static struct {
    Float *at[MAX_SPARE];
    int n;
} spare; /* objects with reference count 0, each with a reference to the type */

static void dealloc_scalar(PyObject *o) {
    if (REUSED && spare.n < MAX_SPARE && qbridge.plain_floats) {
        spare.at[spare.n++] = (Float *)o;
        return;
    }
    PyTypeObject *t = Py_TYPE(o);
    ((freefunc)PyType_GetSlot(t, Py_tp_free))(o);
    Py_DECREF(t);
}

static PyObject *as_index(PyObject *o) {
    double x = PyFloat_AsDouble(o);
    if (isfinite(x) && x == floor(x)) return PyLong_FromDouble(x);
    PyObject *text = PyObject_Repr(o);
    if (text) PyErr_Format(PyExc_TypeError, "%U cannot be used as an integer: it has a fraction", text);
    Py_XDECREF(text);
    return NULL;
}

static PyObject *reduce_scalar(PyObject *o, PyObject *unused) { /* pickles as a plain float */
    (void)unused;
    return Py_BuildValue("O(d)", (PyObject *)&PyFloat_Type, PyFloat_AsDouble(o));
}

static PyMethodDef methods[] = {
    {"__reduce__", reduce_scalar, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void *)(uintptr_t) "A number that came from a script: a float, accepted as an index when it is whole."},
    {Py_tp_dealloc, (void *)dealloc_scalar},
    {Py_tp_methods, methods},
    {Py_nb_index, (void *)as_index},
    {0, NULL},
};
static PyType_Spec spec = {"pyquasar.scalar", 0, 0, Py_TPFLAGS_DEFAULT, slots};

/* Returns whether the value of a float directly follows the object head, and references are counted as usual. */
static bool is_plain(void) {
    double x;
    PyObject *f = PyFloat_FromDouble(1234.5), *debug = PySys_GetObject("gettotalrefcount");
    if (!f) return false;
    memcpy(&x, &((Float *)f)->value, sizeof x);
    Py_DECREF(f);
    return x == 1234.5 && !debug;
}

int qscalar_init(void) {
    PyObject *bases = PyTuple_Pack(1, (PyObject *)&PyFloat_Type);
    qbridge.scalar = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases) : NULL;
    Py_XDECREF(bases);
    qbridge.plain_floats = is_plain();
    return qbridge.scalar ? 0 : -1;
}

static PyObject *make_scalar(double x) {
    PyObject *f = PyFloat_FromDouble(x), *r = NULL;
    newfunc make = (newfunc)PyType_GetSlot(&PyFloat_Type, Py_tp_new);
    PyObject *args = f ? PyTuple_Pack(1, f) : NULL;
    if (args) r = make(qbridge.scalar, args, NULL);
    Py_XDECREF(args);
    Py_XDECREF(f);
    return r;
}

PyObject *qscalar_new(double x) {
    Float *o;
    if (!qbridge.plain_floats) return make_scalar(x);
    if (REUSED && spare.n) {
        o = spare.at[--spare.n];
        Py_INCREF(o);
    } else {
        o = (Float *)PyType_GenericAlloc(qbridge.scalar, 0);
        if (!o) return NULL;
    }
    o->value = x;
    return (PyObject *)o;
}
