/* written.c -- tells torch which of its tensors were written here.
 *
 * Autograd keeps what backward will need by reference, with the number of changes that the tensor had, and refuses a
 * tensor that was changed since.  torch counts what its own functions write; what is written here is told to it.
 *
 *     the first write to a watched buffer ──► a note; the buffer is watched no more, so others cost nothing
 *     Python has its turn ──► torch is told of all notes, and their buffers are watched again
 *
 * Python has its turn where an entry ends, where script code calls it, and where a loop gives way.  A note is made with
 * the GIL or without it.  It takes the place of the buffer's owner, so that a buffer may end before torch is told. */
#include "bridge/bridge.h"

struct Written {
    struct Written *next;
    PyObject *owner; /* the tensor, or (whoever keeps the memory, the tensor) */
    Buffer *memory;  /* NULL: it has ended, and left its reference to the owner here */
};

static void ended(void *note) { ((struct Written *)note)->memory = NULL; }

static void note(Ctx *c, Buffer *memory) {
    Border *b = border_of((qs_vm *)c);
    struct Written *w = qmem_alloc(c, sizeof *w);
    *w = (struct Written){b->written, memory->owner, memory};
    b->written = w;
    memory->watched = false;
    memory->release = ended, memory->owner = w;
}

void qwritten_watch(Border *b, Array *a) {
    if (a->buf->readonly) return;
    qvm_ctx(b->vm)->written = note;
    a->buf->watched = true;
}

static void tell(PyObject *owner) {
    static PyObject *increment; /* under the GIL */
    PyObject *tensor = PyTuple_Check(owner) ? PyTuple_GetItem(owner, 1) : owner;
    if (!increment) increment = qbridge_support("version_counter", "()");
    PyObject *r = increment ? PyObject_CallFunctionObjArgs(increment, tensor, NULL) : NULL;
    if (!r) PyErr_WriteUnraisable(tensor);
    Py_XDECREF(r);
}

static PyObject *take_note(Border *b) {
    struct Written *w = b->written;
    PyObject *owner = w->owner;
    b->written = w->next;
    if (w->memory) {
        w->memory->watched = true;
        w->memory->release = qnd_drop_owner, w->memory->owner = (Py_INCREF(owner), owner);
    }
    qmem_free(qvm_ctx(b->vm), w, sizeof *w);
    return owner;
}

void qwritten_tell_all(Border *b) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (b->written) {
        PyObject *owner = take_note(b);
        tell(owner);
        Py_DECREF(owner);
        qgil_back(b);
    }
    PyErr_Restore(type, value, traceback);
}
