/* errors.c -- converts Python exceptions to errors of the VM and back.
 *
 * A Python exception that a script does not catch is the same object on the other side.  A script error becomes a
 * QuasarError in Python, whose class also derives from IndexError, TypeError … where one fits.  In both cases the
 * exception carries both stacks: frames of script functions are added to its traceback, with file, line and source
 * (pyquasar/_support.py). */
#include "bridge/bridge.h"

#include <string.h>

int qerror_init(PyObject *module) {
    PyObject *classes = PyObject_GetAttrString(module, "error_types"), *base;
    if (!classes) return -1;
    for (int i = 0; i <= QS_EINTERNAL; i++) {
        PyObject *c = PySequence_GetItem(classes, i);
        if (!c) return Py_DECREF(classes), -1;
        qbridge.errors[i] = c;
    }
    Py_DECREF(classes);
    base = PyObject_GetAttrString(module, "QuasarError");
    qbridge.error = (PyTypeObject *)base;
    qbridge.closed = PyObject_GetAttrString(module, "closed_error");
    return base && qbridge.closed ? 0 : -1;
}

/* -- Python → VM --------------------------------------------------------------------------------------------------- */

static PyObject *fetch_exception(void) { /* returns the current exception, with its traceback, and clears it */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback && value) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

/* Sets the error with e as its payload, unless an error was set before.  Takes the reference to e. */
static qs_status set_error(Border *b, qs_status s, const char *text, PyObject *e) {
    ErrorState *err = &qvm_ctx(b->vm)->err;
    bool first = err->status == QS_OK;
    qs_fail(b->vm, s, "%s", text);
    if (first) err->payload = qpyvalue_new(b->vm, e);
    else Py_DECREF(e);
    return s;
}

/* Handles SystemExit: ends the program.  In a VM opened by Python it ends only the running call, and Python may
 * continue. */
static qs_status exit_program(Border *b, PyObject *e) {
    Machine *m = qvm(b->vm);
    if (b->hosted) return set_error(b, QS_EINTERRUPT, "exit", e);
    PyObject *code = qbridge_support("exit_code", "(O)", e);
    qgil_back(b);
    m->exit_code = code ? (int)PyLong_AsLong(code) : 1;
    m->exiting = true;
    Py_XDECREF(code);
    PyErr_Clear();
    Py_DECREF(e);
    return qs_fail(b->vm, QS_EINTERRUPT, "exit");
}

static qs_status set_interrupt(Border *b, PyObject *e) {
    qflag_lower(&qvm(b->vm)->interrupted);
    Py_DECREF(e);
    return qs_fail(b->vm, QS_EINTERRUPT, "interrupted");
}

static qs_status status_of(PyObject *e) {
    if (!PyObject_IsInstance(e, (PyObject *)qbridge.error)) return QS_EFOREIGN;
    for (int i = QS_OK + 1; i <= QS_EINTERNAL; i++)
        if (Py_TYPE(e) == (PyTypeObject *)qbridge.errors[i]) return (qs_status)i;
    return QS_EFOREIGN;
}

static qs_status format_exception(Border *b, const char *function, PyObject *e, qs_value *out) {
    PyObject *text = qbridge_support(function, "(O)", e);
    qgil_back(b); /* otherwise the error could be that of another thread */
    if (!text) {
        PyErr_Clear();
        text = PyUnicode_FromString("an exception that cannot be described");
    }
    return text ? qpy_text(b, text, out) : qs_fail(b->vm, QS_ENOMEM, "out of memory");
}

qs_status qerror_format(Border *b, PyObject *e, qs_value *out) { return format_exception(b, "describe", e, out); }

qs_status qerror_hint(qs_vm *vm, qs_value payload, qs_value *out) {
    Border *b = qgil_border(vm);
    PyObject *e = qpyvalue_get(payload), *text = e ? qbridge_support("suggestion", "(O)", e) : NULL;
    qgil_back(b);
    if (text) return qpy_text(b, text, out);
    PyErr_Clear();
    return qs_string(vm, "", 0, out);
}

/* Returns "AttributeError: …" for a failed attribute lookup; NULL: e or its text is of a different type. */
static PyObject *text_of_missing(PyObject *e) {
    if (Py_TYPE(e) != (PyTypeObject *)PyExc_AttributeError) return NULL;
    PyObject *s = PyObject_Str(e), *text = NULL;
    if (s && PyUnicode_GetLength(s) > 0 && PyUnicode_AsUTF8AndSize(s, NULL))
        text = PyUnicode_FromFormat("AttributeError: %U", s);
    Py_XDECREF(s);
    PyErr_Clear();
    return text;
}

/* Omits suggestions, because scripts may look attributes up just to test whether they exist. */
static qs_status error_of(Border *b, PyObject *e) {
    qs_value text = qs_nil();
    PyObject *missing = text_of_missing(e); /* a faster path with the same result */
    qgil_back(b);
    TRY(missing ? qpy_text(b, missing, &text) : format_exception(b, "summary", e, &text));
    qs_status s = set_error(b, status_of(e), qs_to_string(text, NULL), e);
    qs_release(b->vm, text);
    return s;
}

qs_status qerror_take(Border *b) {
    PyObject *e = fetch_exception();
    qgil_back(b);
    if (!e) return qs_fail(b->vm, QS_EINTERNAL, "Python failed without an exception");
    if (PyErr_GivenExceptionMatches(e, PyExc_SystemExit)) return exit_program(b, e);
    if (PyErr_GivenExceptionMatches(e, PyExc_KeyboardInterrupt)) return set_interrupt(b, e);
    return error_of(b, e);
}

qs_status qerror_report(qs_vm *vm, PyObject *e, qs_value *out) {
    Border *b = qgil_border(vm);
    PyObject *text = qbridge_support("traceback_text", "(O)", e);
    qgil_back(b);
    if (text) return qpy_text(b, text, out);
    PyErr_Clear();
    return qs_string(vm, "", 0, out);
}

/* -- VM → Python --------------------------------------------------------------------------------------------------- */

static PyObject *frame_entry(const Where w, const char *function) {
    int line = 0, column = 0;
    if (w.src) qsource_line_col(w.src, w.pos, &line, &column);
    PyObject *text = w.src ? qpy_string(w.src->text, w.src->len) : NULL;
    PyObject *entry = Py_BuildValue("(NiNO)", qpy_string(w.src ? w.src->path : "?", strlen(w.src ? w.src->path : "?")),
                                    line, qpy_string(function, strlen(function)), text ? text : Py_None);
    Py_XDECREF(text);
    return entry;
}

static PyObject *add_entry(PyObject *list, PyObject *entry) {
    if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
    Py_XDECREF(entry);
    return list;
}

static bool on_one_line(Where a, Where b) {
    int lines[2] = {0}, column;
    if (a.src != b.src) return false;
    qsource_line_col(a.src, a.pos, &lines[0], &column);
    qsource_line_col(b.src, b.pos, &lines[1], &column);
    return lines[0] == lines[1];
}

/* Lists the frames, innermost first.  Kernels have no frame, but an error in one has its source location. */
static PyObject *frames_list(const ErrorState *e) {
    PyObject *list = PyList_New(0);
    bool apart = e->placed && e->where.src && (!e->nframes || !on_one_line(e->where, e->frames[0].where));
    if (list && apart) list = add_entry(list, frame_entry(e->where, e->nframes ? "<kernel>" : "<program>"));
    for (int i = 0; list && i < e->nframes; i++)
        list = add_entry(list, frame_entry(e->frames[i].where, e->frames[i].function->s));
    return list;
}

/* Creates a SyntaxError with file, line and column, like Python's own. */
static PyObject *syntax_error(const ErrorState *e) {
    int line = 0, column = 0;
    const Source *src = e->where.src;
    qsource_line_col(src, e->where.pos, &line, &column);
    return qbridge_support("syntax_error", "(NNiiN)", qpy_string(e->text, strlen(e->text)),
                           qpy_string(src->path, strlen(src->path)), line, column, qpy_string(src->text, src->len));
}

/* Returns the exception that caused the error, or creates one. */
static PyObject *exception_of(Border *b, qs_status s) {
    Machine *m = qvm(b->vm);
    const ErrorState *e = &qvm_ctx(b->vm)->err;
    PyObject *cause = qpyvalue_get(e->payload);
    bool exits = m->exiting;
    m->exiting = exits && !b->hosted;
    if (exits) return PyObject_CallFunction(PyExc_SystemExit, "i", m->exit_code);
    if (cause) return Py_INCREF(cause), cause;
    if (s == QS_ESYNTAX && e->placed && e->where.src) return syntax_error(e);
    PyObject *type = s == QS_EINTERRUPT ? PyExc_KeyboardInterrupt : qbridge.errors[s];
    PyObject *text = qpy_string(e->text, strlen(e->text));
    PyObject *r = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    Py_XDECREF(text);
    return r;
}

PyObject *qerror_raise(Border *b, qs_status s) {
    PyObject *e = exception_of(b, s), *places = frames_list(&qvm_ctx(b->vm)->err);
    PyObject *frames = places ? qbridge_support("make_frames", "(O)", places) : NULL;
    PyObject *done = e && frames ? qbridge_support("add_frames", "(OO)", e, frames) : NULL;
    Py_XDECREF(places);
    Py_XDECREF(done);
    Py_XDECREF(frames);
    qgil_back(b);
    qs_error_clear(b->vm);
    if (!e) return NULL;
    PyErr_Clear();
    PyObject *traceback = PyException_GetTraceback(e);
    Py_INCREF(Py_TYPE(e));
    PyErr_Restore((PyObject *)Py_TYPE(e), e, traceback);
    return NULL;
}
