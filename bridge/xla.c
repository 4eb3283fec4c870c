/* xla.c -- handles calls from XLA programs through its foreign function interface, without copying arrays.
 *
 *     jax_op (pyquasar/_jax_op.py) ──► a custom call "quasar_call" with a key ──► handler: memory of the arguments and
 *     of the results as memoryviews ──► called(key, arguments, results) in Python, on the thread of XLA
 *
 * The structures are the fields used here of XLA's C API, version 0 (xla/ffi/api/c_api.h, part of jaxlib).  Each begins
 * with its size and a list of extensions; newer versions append fields. */
#include "bridge/bridge.h"

enum {
    BUFFER = 1,
    SCALAR = 3,
    EXECUTE = 3,
    METADATA = 1,
    FAILED = 2 /* argument types, a stage, an extension, an error code */
};
enum { S64 = 5 };

typedef struct Extension {
    size_t size;
    int type;
    struct Extension *next;
} Extension;
typedef struct {
    size_t size;
    Extension *first;
    int major, minor;
} Version;
typedef struct {
    size_t size;
    Extension *first;
    const char *message;
    int code;
} NewError;
typedef struct {
    size_t size;
    Extension *first;
    Version version;
    const void *internal;
    void *(*error)(NewError *);
} Api;
typedef struct {
    size_t size;
    Version version;
    uint32_t traits;
} Metadata;
typedef struct {
    Extension base;
    Metadata *metadata;
} Asked;
typedef struct {
    size_t size;
    Extension *first;
    int dtype;
    void *data;
    int64_t rank, *dims;
} Memory;
typedef struct {
    size_t size;
    Extension *first;
    int64_t n;
    int *kind;
    Memory **item;
} Memories;
typedef struct {
    const char *ptr;
    size_t n;
} Name;
typedef struct {
    int dtype;
    void *value;
} Scalar;
typedef struct {
    size_t size;
    Extension *first;
    int64_t n;
    int *kind;
    Name **name;
    void **item;
} Attributes;
typedef struct {
    size_t size;
    Extension *first;
    const Api *api;
    void *context;
    int stage;
    Memories args, results;
    Attributes attributes;
} Frame;

static PyObject *called;

static void *make_error(const Frame *f, const char *why) {
    NewError e = {.size = sizeof e, .message = why, .code = FAILED};
    return f->api->error(&e);
}

/* Returns the element size in bytes by XLA's type number; 0: unknown. */
static int64_t element_size(int dtype) {
    static const uint8_t size[] = {[1] = 1, [2] = 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, [15] = 8, [16] = 2, [18] = 16};
    return dtype > 0 && dtype < (int)sizeof size ? size[dtype] : 0;
}

static PyObject *make_view(const Memory *m, bool write) {
    static char nothing;
    int64_t bytes = element_size(m->dtype);
    if (!bytes) return PyErr_Format(PyExc_TypeError, "elements of XLA's type %d are not known here", m->dtype);
    for (int64_t d = 0; d < m->rank; d++) bytes *= m->dims[d];
    return PyMemoryView_FromMemory(m->data ? m->data : &nothing, bytes, write ? 0x200 : 0x100);
}

static PyObject *make_views(const Memories *all, bool write) {
    PyObject *t = PyTuple_New(all->n);
    for (int64_t i = 0; t && i < all->n; i++) {
        PyObject *v = all->kind[i] == BUFFER ? make_view(all->item[i], write) : NULL;
        if (!v && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "an argument that is no memory");
        if (!v || PyTuple_SetItem(t, i, v) < 0) Py_CLEAR(t);
    }
    return t;
}

static PyObject *key_of(const Attributes *a) {
    for (int64_t i = 0; i < a->n; i++) {
        const Scalar *s = a->item[i];
        if (a->name[i]->n == 3 && !memcmp(a->name[i]->ptr, "key", 3) && a->kind[i] == SCALAR && s->dtype == S64)
            return PyLong_FromLongLong(*(const int64_t *)s->value);
    }
    return PyErr_Format(PyExc_TypeError, "a call from XLA without its key");
}

/* Converts the current exception to an XLA error "Type: text". */
static void *report_exception(const Frame *f) {
    PyObject *type, *e, *trace;
    PyErr_Fetch(&type, &e, &trace);
    PyErr_NormalizeException(&type, &e, &trace);
    PyObject *name = type ? PyObject_GetAttrString(type, "__name__") : NULL, *text = e ? PyObject_Str(e) : NULL;
    PyObject *both = name && text ? PyUnicode_FromFormat("%U: %U", name, text) : NULL;
    const char *s = both ? PyUnicode_AsUTF8AndSize(both, NULL) : NULL;
    void *error = make_error(f, s ? s : "an error without a text");
    PyErr_Clear();
    Py_XDECREF(both), Py_XDECREF(name), Py_XDECREF(text), Py_XDECREF(type), Py_XDECREF(e), Py_XDECREF(trace);
    return error;
}

static void *call_python(const Frame *f) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *key = key_of(&f->attributes), *args = key ? make_views(&f->args, false) : NULL;
    PyObject *results = args ? make_views(&f->results, true) : NULL;
    PyObject *r = results ? PyObject_CallFunctionObjArgs(called, key, args, results, NULL) : NULL;
    void *error = r ? NULL : report_exception(f);
    Py_XDECREF(r), Py_XDECREF(results), Py_XDECREF(args), Py_XDECREF(key);
    PyGILState_Release(state);
    return error;
}

/* Answers XLA's query for the API version with the caller's version, because all fields used here exist in it. */
static void *handler(Frame *f) {
    if (f->first && f->first->type == METADATA) {
        Metadata *m = ((Asked *)f->first)->metadata;
        m->version.major = f->api->version.major, m->version.minor = f->api->version.minor;
        m->traits = 0;
        return NULL;
    }
    if (f->api->version.major != 0) return make_error(f, "XLA's interface for foreign functions has changed");
    return f->stage == EXECUTE ? call_python(f) : NULL;
}

/* _xla_handler(called): the address for jax.ffi.register_ffi_target. */
static PyObject *xla_handler(PyObject *Py_UNUSED(self), PyObject *f) {
    Py_INCREF(f);
    Py_XDECREF(called);
    called = f;
    return PyCapsule_New((void *)(uintptr_t)handler, NULL, NULL);
}

PyMethodDef qxla_functions[] = {{"_xla_handler", xla_handler, METH_O, NULL}, {NULL, NULL, 0, NULL}};
