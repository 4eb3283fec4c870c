/* py_scalar.c -- what a number of the language becomes in Python: a float that is also an index when it is whole, so
 * that
 * np.zeros(3), range(n) and torch.randn(n, m) work as written.
 *
 * Objects are kept for reuse, because every number that crosses needs one.  Their value is written where CPython keeps
 * that of a float, which qscalar_init checks; where it is elsewhere, the slow and general way is taken. */
#include "bridge/bridge.h"

#include <math.h>
#include <string.h>

typedef struct {
    PyObject ob_base;
    double value;
} Float;

#ifdef Py_GIL_DISABLED
enum { REUSED = false }; /* a count that several threads keep does not begin again */
#else
enum { REUSED = true };
#endif
enum { MAX_SPARE = 256 };
static struct {
    Float *at[MAX_SPARE];
    int n;
} spare; /* count 0, and a reference to the type each */

static void dealloc(PyObject *o) {
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

static PyObject *reduce(PyObject *o, PyObject *unused) { /* in a pickle it is a plain float */
    (void)unused;
    return Py_BuildValue("O(d)", (PyObject *)&PyFloat_Type, PyFloat_AsDouble(o));
}

static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void *)(uintptr_t) "A number that came from a script: a float, accepted as an index when it is whole."},
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_methods, methods},
    {Py_nb_index, (void *)as_index},
    {0, NULL},
};
static PyType_Spec spec = {"pyquasar.scalar", 0, 0, Py_TPFLAGS_DEFAULT, slots};

/* Whether a float is a head followed by its value, and nothing counts references in another way. */
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

static PyObject *general(double x) {
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
    if (!qbridge.plain_floats) return general(x);
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
