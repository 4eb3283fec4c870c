/* py_grad.c -- takes derivatives of Python callables: records one run and computes any number of derivatives from it.
 *
 *     _record(f, arguments, chosen)      runs f with leaves in place of the chosen arguments: (result, record)
 *     _sweep(record, False, adjoints)    backward: an adjoint of each result, or None → one of each chosen argument
 *     _sweep(record, True, tangents)     forward: a tangent of each chosen argument, or None → one of each result
 *     _by_rule(f, back, arguments)       runs f unrecorded, which returns a tuple; back(arguments, adjoints)
 *                                        returns a tuple with an adjoint of each argument, or None
 *
 * pyquasar/_grad.py builds all else on these: grad, jacobian, operators of torch and JAX.  Inside f the leaves are
 * ordinary qvalues; its results are plain again, unless an enclosing derivative records them. */
#include "bridge/bridge.h"
#include "vm/tape/tape.h"

#include <stdio.h>

enum { MOST = 1024 };

typedef struct {
    qs_vm *vm;
    int nx, ny;
    Trace *x[MOST]; /* traces of the leaves; retained */
    Trace *y[MOST]; /* traces of the results; retained; NULL: the result depends on no leaf */
} Record;

static void release_record(void *p) {
    Record *r = p;
    for (int i = 0; i < r->nx; i++) qtape_release(r->vm, r->x[i]);
    for (int i = 0; i < r->ny; i++) qtape_release(r->vm, r->y[i]);
    qmem_free(qvm_ctx(r->vm), r, sizeof *r);
}

static const qs_foreign_type record_type = {.name = "record of a derivative", .release = release_record};

static int too_many(const char *what) {
    PyErr_Format(PyExc_TypeError, "a derivative of more than %d %s at once", MOST, what);
    return -1;
}

/* -- the recorded run ---------------------------------------------------------------------------------------------- */
static qs_status make_leaf(Border *b, Record *r, const GradLevel *l, PyObject *o, PyObject **out) {
    qs_value v, x;
    TRY(qnd_value(b, o, &v));
    qs_status s = qtape_leaf(b->vm, l, v, &x);
    qs_release(b->vm, v);
    if (s != QS_OK) return s;
    r->x[r->nx++] = qtape_retain(qtape_trace(x));
    *out = qvalue_new(b, x);
    return qs_release(b->vm, x), QS_OK;
}

/* Replaces the arguments with the indices in `chosen` by leaves; NULL with an exception. */
static PyObject *with_leaves(Border *b, Record *r, const GradLevel *l, PyObject *args, PyObject *chosen) {
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *all = PyTuple_GetSlice(args, 0, n), *list = all ? PySequence_List(all) : NULL;
    Py_XDECREF(all);
    for (Py_ssize_t i = 0; list && i < PyTuple_Size(chosen); i++) {
        Py_ssize_t k = PyLong_AsSsize_t(PyTuple_GetItem(chosen, i));
        PyObject *o = NULL;
        qs_status s = make_leaf(b, r, l, PyTuple_GetItem(args, k), &o);
        if (s != QS_OK) qerror_raise(b, s);
        if (!o || PyList_SetItem(list, k, o) < 0) Py_CLEAR(list);
    }
    PyObject *t = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return t;
}

/* Lists and objects are not accepted, because the traces of their items would be lost. */
static bool is_result(PyObject *o) {
    if (!qvalue_check(o)) return PyNumber_Check(o);
    qs_value v = qtape_plain(qwrapper_value(o));
    return qval_is_scalar(v) || v.kind == QS_ARRAY;
}

/* Removes the finished level from a result of f. */
static PyObject *settle_result(Border *b, Record *r, const GradLevel *l, PyObject *o) {
    if (o == Py_None)
        return PyErr_Format(PyExc_TypeError,
                            "a function whose derivative is taken must give a number or an array, it gave "
                            "nothing");
    if (!is_result(o))
        return PyErr_Format(PyExc_TypeError,
                            "a function whose derivative is taken must give a number or an array, or a tuple, "
                            "list or dict of them, got %R",
                            Py_TYPE(o));
    Trace *t = qvalue_check(o) ? qtape_trace(qwrapper_value(o)) : NULL;
    bool ours = t && t->node->serial >= l->first;
    r->y[r->ny++] = ours ? qtape_retain(t) : NULL;
    if (!ours && !(qvalue_check(o) && qtape_is_kept(qwrapper_value(o)))) return Py_INCREF(o), o;
    qs_value v = qval_retain(qwrapper_value(o));
    qs_status s = qtape_settle(b->vm, &v);
    if (s == QS_OK) return qpy_give(b, v);
    return qs_release(b->vm, v), qerror_raise(b, s);
}

static PyObject *settle_results(Border *b, Record *r, const GradLevel *l, PyObject *y) {
    if (!PyTuple_CheckExact(y)) return settle_result(b, r, l, y);
    Py_ssize_t n = PyTuple_Size(y);
    if (n > MOST) return too_many("results"), NULL;
    PyObject *t = PyTuple_New(n);
    for (Py_ssize_t i = 0; t && i < n; i++) {
        PyObject *o = settle_result(b, r, l, PyTuple_GetItem(y, i));
        if (!o || PyTuple_SetItem(t, i, o) < 0) Py_CLEAR(t);
    }
    return t;
}

/* Runs f while the level is active. */
static PyObject *run_recorded(Border *b, Record *r, GradLevel *l, PyObject *f, PyObject *args, PyObject *chosen) {
    qs_status s = qtape_begin(b->vm, l);
    if (s != QS_OK) return qerror_raise(b, s);
    PyObject *x = with_leaves(b, r, l, args, chosen), *y = NULL;
    qgil_outside(b);
    if (x) y = PyObject_CallObject(f, x);
    qgil_back(b);
    qtape_end(b->vm, l);
    Py_XDECREF(x);
    return y;
}

/* _record(f, arguments, chosen): returns (result, record) */
static PyObject *record_call(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *f, *x, *chosen;
    GradLevel l;
    if (!PyArg_ParseTuple(args, "OO!O!", &f, &PyTuple_Type, &x, &PyTuple_Type, &chosen)) return NULL;
    if (PyTuple_Size(chosen) > MOST) return too_many("arguments"), NULL;
    Border *b = qhost_enter("a derivative");
    if (!b) return NULL;
    Record *r = qmem_alloc(qvm_ctx(b->vm), sizeof *r);
    r->vm = b->vm;
    qs_value v = qval_object(QS_FOREIGN, qobj_foreign(b->vm, &record_type, r));
    PyObject *y = run_recorded(b, r, &l, f, x, chosen), *plain = y ? settle_results(b, r, &l, y) : NULL;
    Py_XDECREF(y);
    PyObject *held = plain ? qvalue_new(b, v) : NULL;
    qs_release(b->vm, v);
    PyObject *both = held ? PyTuple_Pack(2, plain, held) : NULL;
    Py_XDECREF(plain);
    Py_XDECREF(held);
    return qgil_result(b, both);
}

/* -- forward and backward passes ----------------------------------------------------------------------------------- */
typedef struct {
    int n;
    Trace *const *traces;
    qs_value v[MOST];
} Row;

static void row_init(Row *row, int n, Trace *const *traces) {
    row->n = n, row->traces = traces;
    for (int i = 0; i < n; i++) row->v[i] = qs_nil();
}

static void row_free(qs_vm *vm, Row *row) {
    for (int i = 0; i < row->n; i++) qs_release(vm, row->v[i]);
}

/* Checks that a value given by Python has the shape and type of an adjoint or tangent of t. */
static qs_status check_value(qs_vm *vm, const char *what, int i, const Trace *t, qs_value v) {
    char name[32];
    qs_value form;
    snprintf(name, sizeof name, "%s %d", what, i);
    TRY(qbackward_form(vm, t, &form));
    qs_status s = qbackward_check(vm, name, form, v);
    qs_release(vm, form);
    return s;
}

/* Converts the given adjoints or tangents, one for each trace; nil: zero. */
static qs_status read_values(Border *b, const char *what, PyObject *given, Row *row) {
    for (int i = 0; i < row->n; i++) {
        PyObject *o = PyTuple_GetItem(given, i);
        qs_value v;
        if (o == Py_None || !row->traces[i]) continue;
        TRY(qnd_value(b, o, &v));
        qs_status s = check_value(b->vm, what, i, row->traces[i], v);
        if (s == QS_OK) s = qbackward_fit(b->vm, row->traces[i], v, &row->v[i]);
        qs_release(b->vm, v);
        if (s != QS_OK) return s;
    }
    return QS_OK;
}

/* Returns the results as separate values; None where there is no trace. */
static PyObject *give_values(Border *b, Row *row) {
    qs_status s = QS_OK;
    for (int i = 0; i < row->n && s == QS_OK; i++)
        if (row->traces[i]) s = qbackward_hand_out(b->vm, row->traces[i], &row->v[i]);
    if (s != QS_OK) return qerror_raise(b, s);
    PyObject *t = PyTuple_New(row->n);
    for (int i = 0; t && i < row->n; i++) {
        PyObject *o = qpy_give(b, row->v[i]);
        row->v[i] = qs_nil();
        if (!o || PyTuple_SetItem(t, i, o) < 0) Py_CLEAR(t);
    }
    return t;
}

static PyObject *compute_pass(Border *b, const Record *r, bool forward, PyObject *given) {
    Row from, to;
    row_init(&from, forward ? r->nx : r->ny, forward ? r->x : r->y);
    row_init(&to, forward ? r->ny : r->nx, forward ? r->y : r->x);
    if (PyTuple_Size(given) != from.n)
        return PyErr_Format(PyExc_TypeError, "%d %s wanted, got %zd", from.n, forward ? "tangents are" : "adjoints are",
                            PyTuple_Size(given));
    qs_status s = read_values(b, forward ? "tangent" : "adjoint", given, &from);
    int before = qgil_work(b);
    Traces known = {from.n, from.traces}, wanted = {to.n, to.traces};
    if (s == QS_OK) s = (forward ? qbackward_forward : qbackward_reverse)(b->vm, known, from.v, wanted, to.v);
    qgil_rest(b, before);
    PyObject *out = s == QS_OK ? give_values(b, &to) : qerror_raise(b, s);
    row_free(b->vm, &from);
    row_free(b->vm, &to);
    return out;
}

/* _sweep(record, forward, given) */
static PyObject *run_pass(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *o, *given;
    int forward;
    if (!PyArg_ParseTuple(args, "OpO!", &o, &forward, &PyTuple_Type, &given)) return NULL;
    Border *b = qhost_enter("a derivative");
    if (!b) return NULL;
    const Record *r = qvalue_check(o) ? qs_foreign_ptr(qwrapper_value(o), &record_type) : NULL;
    if (r && r->vm == b->vm) return qgil_result(b, compute_pass(b, r, forward, given));
    PyErr_SetString(PyExc_TypeError, "a derivative of a machine that is closed");
    return qgil_result(b, NULL);
}

/* -- functions with a custom rule ---------------------------------------------------------------------------------- */
typedef struct {
    PyObject *back;
    int n;
    qs_value x[];
} ByRule;

static size_t by_rule_bytes(const ByRule *r) { return sizeof *r + (size_t)r->n * sizeof *r->x; }

static void by_rule_free(qs_vm *vm, ByRule *r) {
    for (int i = 0; i < r->n; i++) qval_release(vm, r->x[i]);
    qgil_decref(r->back);
    qmem_free(qvm_ctx(vm), r, by_rule_bytes(r));
}

static void by_rule_release(qs_vm *vm, GradNode *n) { by_rule_free(vm, n->data); }

/* Passes a value to Python read-only, with its trace if an enclosing derivative records it. */
static PyObject *give_readonly(Border *b, qs_value v, bool plain) {
    qs_value kept;
    bool recorded = !plain && qtape_is_recorded(b->vm, v);
    qs_status s = (recorded ? qtape_keep : qtape_keep_plain)(b->vm, v, &kept);
    if (s != QS_OK) return qerror_raise(b, s);
    if (!recorded) return qpy_give(b, kept);
    PyObject *o = qvalue_new(b, kept);
    return qs_release(b->vm, kept), o;
}

static PyObject *give_all_readonly(Border *b, int n, const qs_value *v, bool plain) {
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++) {
        PyObject *o = give_readonly(b, v[i], plain);
        if (!o || PyTuple_SetItem(t, i, o) < 0) Py_CLEAR(t);
    }
    return t;
}

/* Replaces missing adjoints by zeros; None where the result is not floating-point. */
static PyObject *give_adjoints(Border *b, const GradNode *n, const qs_value *dy) {
    PyObject *t = PyTuple_New(n->nout);
    for (int i = 0; t && i < n->nout; i++) {
        qs_value v = qval_retain(dy[i]);
        qs_status s = v.kind == QS_NIL && n->out[i].kind != QS_NIL ? qbackward_zero(b->vm, &n->out[i], &v) : QS_OK;
        PyObject *o = s == QS_OK ? give_readonly(b, v, false) : qerror_raise(b, s);
        qs_release(b->vm, v);
        if (!o || PyTuple_SetItem(t, i, o) < 0) Py_CLEAR(t);
    }
    return t;
}

static qs_status take_adjoint(Border *b, qs_value x, PyObject *o, qs_value *dx) {
    TRY(qnd_value(b, o, dx));
    return qbackward_check(b->vm, "the adjoint that a rule gives", x, *dx);
}

static qs_status take_adjoints(Border *b, const GradNode *n, PyObject *t, qs_value *dx) {
    const ByRule *r = n->data;
    for (int i = 0; i < r->n; i++) {
        PyObject *o = PyTuple_GetItem(t, i);
        if (!o) return qerror_take(b);
        if (n->in[i] && o != Py_None) TRY(take_adjoint(b, r->x[i], o, &dx[i]));
    }
    return QS_OK;
}

static qs_status by_rule_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const ByRule *r = n->data;
    Border *b = qgil_border(vm);
    PyObject *x = give_all_readonly(b, r->n, r->x, false), *given = x ? give_adjoints(b, n, dy) : NULL, *t = NULL;
    if (given) {
        qgil_outside(b);
        t = PyObject_CallFunctionObjArgs(r->back, x, given, NULL);
        qgil_back(b);
    }
    Py_XDECREF(x);
    Py_XDECREF(given);
    qs_status s = t ? take_adjoints(b, n, t, dx) : qerror_take(b);
    Py_XDECREF(t);
    return s;
}

static const GradRule by_rule_rule = {.name = "a rule", .reverse = by_rule_reverse, .release = by_rule_release};

static qs_status take_result(Border *b, PyObject *o, qs_value *out) {
    TRY(qnd_value(b, o, out));
    if (!qtape_is_recorded(b->vm, *out)) return qtape_own(b->vm, out);
    return qtape_refuse(b->vm, "custom_vjp",
                        "its function uses a value that a derivative depends on and that is no "
                        "argument of it; pass it as an argument");
}

static qs_status take_results(Border *b, PyObject *y, Row *row) {
    row_init(row, 0, NULL);
    if (!PyTuple_Check(y) || PyTuple_Size(y) > MOST)
        return qs_fail(b->vm, QS_ETYPE,
                       "a function with a rule gives a "
                       "tuple of at most %d results",
                       MOST);
    for (Py_ssize_t i = 0; i < PyTuple_Size(y); i++) {
        PyObject *o = PyTuple_GetItem(y, i);
        if (!is_result(o)) return qs_fail(b->vm, QS_ETYPE, "a function with a rule must give numbers or arrays");
        row->v[row->n++] = qs_nil();
        TRY(take_result(b, o, &row->v[row->n - 1]));
    }
    return QS_OK;
}

static PyObject *run_plain(Border *b, PyObject *f, const ByRule *r) {
    PyObject *x = give_all_readonly(b, r->n, r->x, true), *y = NULL;
    qgil_outside(b);
    if (x) y = PyObject_CallObject(f, x);
    qgil_back(b);
    Py_XDECREF(x);
    return y;
}

static qs_status keep_all(Border *b, PyObject *args, ByRule *r) {
    for (int i = 0; i < r->n; i++) {
        qs_value v;
        TRY(qnd_value(b, PyTuple_GetItem(args, i), &v));
        qs_status s = qtape_keep(b->vm, v, &r->x[i]);
        qs_release(b->vm, v);
        if (s != QS_OK) return s;
    }
    return QS_OK;
}

/* Returns the results with traces.  The saved arguments have the traces that were given. */
static PyObject *with_rule(Border *b, PyObject *f, ByRule *r, bool *recorded) {
    Trace *edges[MOST];
    Row row;
    PyObject *y = run_plain(b, f, r), *t = NULL;
    if (!y) return NULL;
    qs_status s = take_results(b, y, &row);
    Py_DECREF(y);
    if (s == QS_OK) {
        for (int i = 0; i < r->n; i++) edges[i] = qtape_edge(b->vm, r->x[i]);
        qtape_record(b->vm, &by_rule_rule, r, r->n, edges, row.n, row.v);
        *recorded = true;
        t = PyTuple_New(row.n);
    } else qerror_raise(b, s);
    for (int i = 0; t && i < row.n; i++) {
        PyObject *o = qvalue_new(b, row.v[i]);
        if (!o || PyTuple_SetItem(t, i, o) < 0) Py_CLEAR(t);
    }
    return row_free(b->vm, &row), t;
}

/* _by_rule(f, back, arguments) */
static PyObject *by_rule(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *f, *back, *x, *y = NULL;
    bool recorded = false;
    if (!PyArg_ParseTuple(args, "OOO!", &f, &back, &PyTuple_Type, &x)) return NULL;
    if (PyTuple_Size(x) > MOST) return too_many("arguments"), NULL;
    Border *b = qhost_enter("a derivative");
    if (!b) return NULL;
    int n = (int)PyTuple_Size(x);
    ByRule *r = qmem_alloc(qvm_ctx(b->vm), qmem_size((size_t)n, sizeof *r->x, sizeof *r));
    r->back = back, r->n = n;
    Py_INCREF(back);
    for (int i = 0; i < n; i++) r->x[i] = qs_nil();
    qs_status s = keep_all(b, x, r);
    if (s == QS_OK) y = with_rule(b, f, r, &recorded);
    else qerror_raise(b, s);
    if (!recorded) by_rule_free(b->vm, r);
    return qgil_result(b, y);
}

PyMethodDef qgrad_functions[] = {
    {"_by_rule", by_rule, METH_VARARGS, NULL},
    {"_record", record_call, METH_VARARGS, NULL},
    {"_sweep", run_pass, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
