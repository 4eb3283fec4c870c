/* floor.c -- the same crossings through the bare C API: what no bridge can beat.  Prints one line per path: ns per
 * call. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <time.h>

enum { ROUNDS = 2000000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void use(PyObject *r) {
    volatile double x = PyFloat_AsDouble(r);
    (void)x;
    Py_DECREF(r);
}

/* Two fresh floats to a function. */
static double call2(PyObject *f) {
    double start = now();
    for (int i = 0; i < ROUNDS; i++) {
        PyObject *a[3] = {NULL, PyFloat_FromDouble(i), PyFloat_FromDouble(2)};
        use(PyObject_Vectorcall(f, a + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL));
        Py_DECREF(a[1]);
        Py_DECREF(a[2]);
    }
    return (now() - start) / ROUNDS;
}

static double method(PyObject *o, const char *name, PyObject *names) {
    PyObject *n = PyUnicode_InternFromString(name);
    double start = now();
    for (int i = 0; i < ROUNDS; i++) {
        PyObject *a[3] = {NULL, o, PyFloat_FromDouble(i)};
        use(PyObject_VectorcallMethod(n, a + 1, (names ? 1 : 2) | PY_VECTORCALL_ARGUMENTS_OFFSET, names));
        Py_DECREF(a[2]);
    }
    return (now() - start) / ROUNDS;
}

static PyObject *one(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self, (void)args, (void)n;
    return PyFloat_FromDouble(1);
}
static PyMethodDef native = {"one", (PyCFunction)(void (*)(void))one, METH_FASTCALL, NULL};

int main(int argc, char **argv) {
    Py_InitializeEx(0);
    PyObject *path = PySys_GetObject("path"), *folder = PyUnicode_FromString(argc > 1 ? argv[1] : ".");
    PyList_Append(path, folder);
    PyObject *math = PyImport_ImportModule("math"), *m = PyImport_ImportModule("peer");
    if (!m) return PyErr_Print(), 1;
    PyObject *c = PyObject_CallMethod(m, "C", NULL), *names = PyTuple_Pack(1, PyUnicode_InternFromString("key"));
    printf("C function, two scalars|%.1f\n", call2(PyObject_GetAttrString(math, "copysign")));
    printf("def f(x, y)|%.1f\n", call2(PyObject_GetAttrString(m, "f")));
    printf("obj.method(x)|%.1f\n", method(c, "m", NULL));
    printf("obj.method(key:=x)|%.1f\n", method(c, "k", names));
    PyObject *r = PyObject_CallMethod(m, "loop", "Oi", PyCFunction_New(&native, NULL), ROUNDS);
    printf("Python to function, no argument|%.1f\n", PyFloat_AsDouble(r));
    return 0;
}
