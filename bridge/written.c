/* written.c -- reports to torch which of its tensors were written by the VM.
 *
 * Autograd keeps the tensors needed by backward() by reference, with their version counters, and rejects a tensor that
 * was changed since.  torch counts the writes of its own functions; writes of the VM must be reported.
 *
 *     first write to a watched buffer ──► a note; the buffer is no longer watched, so further writes are free
 *     Python is about to run ──► all notes are reported to torch, and their buffers are watched again
 *
 * Notes are reported where an entry into the VM ends, where script code calls Python, and where a loop yields.  A note
 * is made with or without the GIL.  It replaces the owner of the buffer, because the buffer may be freed before the
 * report. */
#include "bridge/bridge.h"

struct Written {
    struct Written *next;
    PyObject *owner; /* the tensor, or a tuple (owner of the memory, tensor) */
    Buffer *memory;  /* NULL: the buffer was freed; the note then holds its reference to the owner */
};

static void clear_memory(void *note_write) { ((struct Written *)note_write)->memory = NULL; }

static void note_write(Ctx *c, Buffer *memory) {
    Border *b = border_of((qs_vm *)c);
    struct Written *w = qmem_alloc(c, sizeof *w);
    *w = (struct Written){b->written, memory->owner, memory};
    b->written = w;
    memory->watched = false;
    memory->release = clear_memory, memory->owner = w;
}

void qwritten_watch(Border *b, Array *a) {
    if (a->buf->readonly) return;
    qvm_ctx(b->vm)->written = note_write;
    a->buf->watched = true;
}

static void report_write(PyObject *owner) {
    static PyObject *increment; /* protected by the GIL */
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

void qwritten_report_all(Border *b) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (b->written) {
        PyObject *owner = take_note(b);
        report_write(owner);
        Py_DECREF(owner);
        qgil_back(b);
    }
    PyErr_Restore(type, value, traceback);
}
