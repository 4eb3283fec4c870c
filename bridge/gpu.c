/* gpu.c -- shares GPU memory with other libraries of the process: devices, stream ordering, and the CUDA Array
 * Interface (DLPack is in dlpack.c).
 *
 * The VM's queue is an ordinary stream, which the driver orders with the default stream.  So work on the default stream
 * needs no ordering.  Other streams wait for the VM's queue, and the queue for them, by events; the host never waits.
 * A stream named by an argument (DLPack, the CUDA Array Interface) is followed by the entry that takes the argument;
 * otherwise `with stream(s)` does the same.  Each entry has its own list of streams.  They are ordered whenever Python
 * may run: where the entry ends (qgil_leave), and around each call of Python by script code, because a callback may use
 * the memory or queue more work. */
#include "bridge/bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- devices ------------------------------------------------------------------------------------------------------- */

static Device *next_shared(Border *b, Device *after) { /* after NULL: returns the first */
    Machine *m = qvm(b->vm);
    for (Device *d = after ? after + 1 : m->devices; d && d < m->devices + m->ndevices; d++)
        if (d->ops->sharing) return d;
    return NULL;
}

Device *qgpu_first(Border *b) { return next_shared(b, NULL); }

Device *qgpu_named(Border *b, int ordinal) {
    Device *d = qgpu_first(b);
    while (d && d->ordinal != ordinal) d = next_shared(b, d);
    return d;
}

/* Returns the device where others already use the memory, else the device where kernels run. */
Device *qgpu_of(Border *b, const Array *a) {
    Device *kernels = qvm(b->vm)->device;
    if (a->buf->home >= 0) return a->buf->home == HOST_MEMORY ? NULL : qvm_ctx(b->vm)->spaces[a->buf->home];
    return kernels && kernels->ops->sharing ? kernels : NULL;
}

qs_status qgpu_absent(Border *b, const char *kind, int id) {
    Text wanted;
    char where[32];
    qtext_init(&wanted, qvm_ctx(b->vm));
    for (Device *d = qgpu_first(b); d; d = next_shared(b, d))
        qtext_printf(&wanted, " or of %s:%d", d->ops->kind, d->ordinal);
    snprintf(where, sizeof where, id < 0 ? "%s" : "%s:%d", kind, id);
    bool other = strcmp(kind, "cuda") != 0;
    qs_status s = qs_fail(b->vm, QS_ETYPE,
                          "the elements are on %s, and memory of the cpu%s is wanted; from_dlpack(x, copy=True) makes "
                          "a copy%s%s%s",
                          where, wanted.len ? wanted.s : "", other ? "" : ", init(\"", other ? "" : where,
                          other ? "" : "\") uses them in place");
    qtext_free(&wanted);
    return s;
}

/* -- ordering ------------------------------------------------------------------------------------------------------ */

/* Returns the first stream of the current entry.  Streams of outer entries have received other work since. */
static struct Followed *first_followed(const Thread *t) {
    struct Followed *f = t->followed + t->nfollowed;
    while (f > t->followed && f[-1].depth == t->depth) f--;
    return f;
}

static bool is_followed(const Thread *t, const Device *d, DevPtr stream) {
    for (const struct Followed *f = first_followed(t); f < t->followed + t->nfollowed; f++)
        if (f->device == d && f->stream == stream) return true;
    return false;
}

static qs_status reserve(Border *b, Thread *t) {
    if (t->nfollowed < t->cap_followed) return QS_OK;
    int cap = t->cap_followed ? 2 * t->cap_followed : 4;
    struct Followed *f = realloc(t->followed, qmem_size((size_t)cap, sizeof *f, 0));
    if (!f) return qs_fail(b->vm, QS_ENOMEM, "out of memory");
    t->followed = f;
    t->cap_followed = cap;
    return QS_OK;
}

/* Streams 0 and 1 are the default stream. */
qs_status qgpu_follow(Border *b, Device *d, DevPtr stream) {
    Thread *t = b->threads;
    if (stream <= 1 || is_followed(t, d, stream)) return QS_OK;
    TRY(reserve(b, t));
    TRY(d->ops->sharing->order(d, stream, false));
    t->followed[t->nfollowed++] = (struct Followed){d, stream, t->depth};
    return QS_OK;
}

/* Continues after a failure, so that the other streams are ordered; returns the first error. */
qs_status qgpu_order_all(Border *b, bool back) {
    const Thread *t = b->threads;
    qs_status first = QS_OK;
    for (const struct Followed *f = first_followed(t); f < t->followed + t->nfollowed; f++) {
        qs_status s = f->device->ops->sharing->order(f->device, f->stream, back);
        if (first == QS_OK) first = s;
    }
    return first;
}

qs_status qgpu_hand_back(Border *b) {
    qs_status s = qgpu_order_all(b, true);
    b->threads->nfollowed = (int)(first_followed(b->threads) - b->threads->followed);
    return s;
}

/* -- import by the CUDA Array Interface ---------------------------------------------------------------------------- */

int qgpu_stream(PyObject *o, void *out) {
    int overflow;
    PyObject *n = PyNumber_Index(o);
    long long address = n ? PyLong_AsLongLongAndOverflow(n, &overflow) : 0;
    Py_XDECREF(n);
    if (!n) return false;
    if (overflow || address < 0) return PyErr_Format(PyExc_ValueError, "%R is not the address of a stream", o), false;
    return *(DevPtr *)out = (DevPtr)address, true;
}

typedef struct {
    const char *dtype;
    unsigned long long address;
    DevPtr stream;
    int readonly, rank;
    int64_t dims[QS_MAX_RANK];
    Py_ssize_t strides[QS_MAX_RANK];
} Description;

/* Reads the result of _support.cuda_interface: (address, shape, strides, element type, read-only, stream). */
static bool read_description(PyObject *parts, Description *out) {
    PyObject *shape, *strides;
    int64_t steps[QS_MAX_RANK];
    if (!parts || !PyArg_ParseTuple(parts, "KOOspO&", &out->address, &shape, &strides, &out->dtype, &out->readonly,
                                    qgpu_stream, &out->stream))
        return false;
    out->rank = qnd_of_tuple(shape, out->dims);
    int nsteps = out->rank < 0 ? -1 : qnd_of_tuple(strides, steps);
    if (nsteps < 0) return false;
    if (nsteps != out->rank) {
        PyErr_Format(PyExc_ValueError, "an array of %d dimensions has as many strides, not %d", out->rank, nsteps);
        return false;
    }
    for (int i = 0; i < out->rank; i++) out->strides[i] = (Py_ssize_t)steps[i];
    return true;
}

/* An array without elements may be on any device. */
static qs_status place_of(Border *b, const Description *x, Device **out) {
    Device *first = qgpu_first(b);
    if (!first) return qgpu_absent(b, "cuda", -1);
    if (!x->address) return *out = first, QS_OK;
    int ordinal = first->ops->sharing->ordinal(first, x->address);
    if (ordinal < 0) return qs_fail(b->vm, QS_ETYPE, "the address of the elements is not known to CUDA");
    *out = qgpu_named(b, ordinal);
    return *out ? QS_OK : qgpu_absent(b, "cuda", ordinal);
}

static qs_status wrap_memory(Border *b, const Description *x, Device *d, PyObject *owner, Array **out) {
    qs_array_info info = {.rank = x->rank, .readonly = x->readonly, .dtype = (qs_dtype)qnd_named(x->dtype)};
    Py_ssize_t size = (Py_ssize_t)qdtype_size(info.dtype);
    for (int i = 0; i < x->rank; i++) {
        info.dims[i] = x->dims[i];
        info.strides[i] = x->strides[i] / size;
    }
    void *data = (void *)(uintptr_t)x->address;
    if (!qnd_usable(data, x->rank, x->strides, (const Py_ssize_t *)x->dims, info.dtype))
        return qs_fail(b->vm, QS_ETYPE, "the elements lie at addresses that are no multiples of their size");
    Py_INCREF(owner);
    return qarr_wrap(b->vm, &info, &(Wrapped){d, x->address, .release = qnd_drop_owner, .owner = owner}, out);
}

qs_status qgpu_import(Border *b, PyObject *o, qs_value *out) {
    Description x;
    Device *d = NULL;
    Array *a;
    PyObject *parts = qbridge_support("cuda_interface", "(O)", o);
    bool right = read_description(parts, &x);
    qgil_back(b);
    qs_status s = right ? place_of(b, &x, &d) : qerror_take(b);
    if (s == QS_OK) s = qgpu_follow(b, d, x.stream);
    if (s == QS_OK) s = wrap_memory(b, &x, d, o, &a);
    Py_XDECREF(parts);
    if (s == QS_OK) *out = qarr_value(a);
    return s;
}

/* -- functions for pyquasar/_interop.py ---------------------------------------------------------------------------- */

static Device *enter_device(int ordinal) {
    Border *b = qhost_enter("stream");
    if (!b) return NULL;
    Device *d = ordinal < 0 ? qgpu_first(b) : qgpu_named(b, ordinal);
    if (d) return d;
    qgil_leave(b);
    PyErr_Format(PyExc_RuntimeError, "stream: no cuda device is open, and memory of the cpu has no streams");
    return NULL;
}

/* (ordinal): the VM's stream on that device; -1: the first. */
static PyObject *get_queue(PyObject *Py_UNUSED(module), PyObject *args) {
    int ordinal;
    if (!PyArg_ParseTuple(args, "i", &ordinal)) return NULL;
    Device *d = enter_device(ordinal);
    if (!d) return NULL;
    DevPtr q = d->ops->sharing->queue(d);
    qgil_leave(qbridge.host);
    return PyLong_FromUnsignedLongLong(q);
}

/* Converts a stream given in Python to its address. */
static PyObject *stream_address(PyObject *Py_UNUSED(module), PyObject *o) {
    DevPtr stream;
    return qgpu_stream(o, &stream) ? PyLong_FromUnsignedLongLong(stream) : NULL;
}

/* (ordinal, stream, back) */
static PyObject *order_stream(PyObject *Py_UNUSED(module), PyObject *args) {
    int ordinal, back;
    DevPtr stream;
    if (!PyArg_ParseTuple(args, "iO&p", &ordinal, qgpu_stream, &stream, &back)) return NULL;
    Device *d = enter_device(ordinal);
    Border *b = qbridge.host;
    if (!d) return NULL;
    qs_status s = d->ops->sharing->order(d, stream, back);
    if (s != QS_OK) qerror_raise(b, s);
    qgil_leave(b);
    return s == QS_OK ? (Py_INCREF(Py_None), Py_None) : NULL;
}

PyMethodDef qgpu_functions[] = {
    {"_queue", get_queue, METH_VARARGS, NULL},
    {"_order", order_stream, METH_VARARGS, NULL},
    {"_stream", stream_address, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
