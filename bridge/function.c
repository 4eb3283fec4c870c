/* function.c -- a function of the language as a Python callable, and what it shares with value_type.c. */
#include "bridge/bridge.h"
#include "lang/syntax/ast.h"
#include "vm/base/number.h"
#include "vm/launch/launch.h"
#include "vm/tape/tape.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    Wrapper head;
    PyObject *(*call)(PyObject *, PyObject *const *, size_t, PyObject *);
    const void *identity; /* the function, by which the object is found in sets also when the machine is closed */
} FunctionObject;

/* -- wrappers ------------------------------------------------------------------------------------------------------ */

/* Script code alone makes Python collect too seldom, in 3.12 and later hardly ever. */
static void collect_some(Border *b) {
    PyGC_Collect();
    b->many = 2 * b->nwrappers > MANY_WRAPPERS ? 2 * b->nwrappers : MANY_WRAPPERS;
}

/* A new one for v, which is retained. */
PyObject *qwrapper_make(PyTypeObject *t, Border *b, qs_value v) {
    if (b->nwrappers >= b->many) collect_some(b);
    Wrapper *w = (Wrapper *)PyType_GenericAlloc(t, 0);
    if (!w) return NULL;
    w->border = qborder_retain(b);
    w->v = qval_retain(v);
    qgil_lock();
    w->next = &b->wrappers;
    w->prev = b->wrappers.prev;
    w->prev->next = w->next->prev = w;
    b->nwrappers++;
    qgil_unlock();
    return (PyObject *)w;
}

PyObject *qwrapper_refuse(PyTypeObject *t, PyObject *args, PyObject *names) {
    (void)t, (void)args, (void)names;
    PyErr_SetString(PyExc_TypeError, "a value of the language is made by pyquasar.value(x), or by a function of it");
    return NULL;
}

static void let_go(Wrapper *w) {
    qs_value v = w->v;
    w->v = qs_nil();
    qgil_release(w->border, v);
}

void qwrapper_dealloc(PyObject *o) {
    Wrapper *w = (Wrapper *)o;
    PyTypeObject *t = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (w->weak) PyObject_ClearWeakRefs(o);
    qgil_lock();
    if (w->next) w->prev->next = w->next, w->next->prev = w->prev;
    if (w->border) w->border->nwrappers--;
    qgil_unlock();
    if (w->border) {
        let_go(w);
        qborder_release(w->border);
    }
    Py_XDECREF(w->hub);
    PyObject_GC_Del(o);
    Py_DECREF(t);
}

int qwrapper_traverse(PyObject *o, visitproc visit, void *arg) {
    Py_VISIT(((Wrapper *)o)->hub);
    Py_VISIT(Py_TYPE(o));
    return 0;
}

int qwrapper_clear(PyObject *o) {
    Py_CLEAR(((Wrapper *)o)->hub);
    if (((Wrapper *)o)->border) let_go((Wrapper *)o);
    return 0;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

enum { FEW = 12, MOST = 255 };

static const Class *class_of(qs_value fn) { return fn.kind == QS_TYPE ? ((TypeValue *)fn.u.p)->type->cls : NULL; }

static const Func *script_of(qs_value fn) {
    const Function *f = fn.kind == QS_FUNCTION ? fn.u.p : NULL;
    return f && f->fkind == FN_SCRIPT ? f->ast : NULL;
}

void qfunction_argument(qs_value fn, int i, char name[ARGUMENT_NAME]) {
    const Func *f = script_of(fn);
    const Class *c = class_of(fn);
    if (f && i < f->nparams) snprintf(name, ARGUMENT_NAME, "%s", f->params[i].name->s);
    else if (c && i < c->nfields) snprintf(name, ARGUMENT_NAME, "%s", c->fields[i].name->s);
    else snprintf(name, ARGUMENT_NAME, "%d", i + 1);
}

Takes qfunction_takes(qs_value fn) { return fn.kind == QS_FUNCTION ? (Takes)((Function *)fn.u.p)->takes : TAKES_ANY; }

const Type *qfunction_declares(Border *b, qs_value fn, int i) {
    const Class *c = class_of(fn);
    const Func *f = script_of(fn);
    return f ? qvm_param_type(b->vm, f, i) : c && i < c->nfields ? c->fields[i].type : NULL;
}

/* Which parameter or field argument i is for; the last ones are named. */
static int parameter_of(qs_value fn, Py_ssize_t i, Py_ssize_t positional, PyObject *names) {
    const Class *c = class_of(fn);
    const Func *f = script_of(fn);
    if (i < positional || (!f && !c)) return (int)i;
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i - positional), NULL);
    int p = 0, n = f ? f->nparams : c->nfields;
    while (name && p < n && strcmp((f ? f->params[p].name : c->fields[p].name)->s, name) != 0) p++;
    PyErr_Clear();
    return p;
}

/* From 2^63 on Python's own integers are no numbers of the language. */
static bool is_huge(PyObject *o, qs_value v) { return v.kind == QS_FOREIGN && PyLong_Check(o); }

static qs_status too_large(Border *b, const char *fn, const char *what, const char *wanted, PyObject *o) {
    PyErr_Format(PyExc_OverflowError, "%s: %s must be %s, got %R", fn, what, wanted, o);
    qgil_back(b);
    return qerror_take(b);
}

/* Parameter i of a built-in, as its signature at the beginning of doc calls it; "": there is none. */
static void parameter_called(const char *doc, int i, char name[ARGUMENT_NAME]) {
    const char *p = strchr(doc, '(');
    *name = 0;
    for (; p && *p != ')' && i >= 0; i--) {
        p += strspn(p, "(, [");
        size_t n = strcspn(p, ",) .]");
        if (n) snprintf(name, ARGUMENT_NAME, "%.*s", (int)n, p); /* else …: more of the same */
        p += strcspn(p, ",)");
    }
}

/* How many elements there shall be is no number with a fraction. */
static qs_status take_size(Border *b, const Function *f, PyObject *o, int i, qs_value v) {
    char name[ARGUMENT_NAME];
    char text[NUMBER_TEXT];
    double *x;
    size_t n;
    parameter_called(f->native->doc, i, name);
    if (strcmp(name, "n") && strcmp(name, "m") && strcmp(name, "size")) return QS_OK;
    if (is_huge(o, v)) return too_large(b, f->name->s, "a size", "less than 2^63", o);
    if (!qval_is_number(v) && v.kind != QS_ARRAY) return QS_OK;
    if (qarr_doubles(b->vm, v, name, &x, &n) != QS_OK) return qs_error_clear(b->vm), QS_OK;
    size_t k = 0;
    while (k < n && x[k] == trunc(x[k]) && fabs(x[k]) < 0x1p63) k++;
    double bad = k < n ? x[k] : 0;
    qmem_free(qvm_ctx(b->vm), x, n * sizeof *x);
    if (k == n) return QS_OK;
    return qs_fail(b->vm, QS_EVALUE, "%s: a size must be a whole number, got %s", f->name->s, qnum_shown(bad, text));
}

/* Whether argument i of a built-in is a dimension of its arrays, in one of the forms that its manual begins with. */
static bool is_dimension(const char *doc, int i) {
    const char *line = strchr(doc, '\n'), *form = doc;
    char name[ARGUMENT_NAME];
    for (; form && (!line || form < line); form = strstr(form + 1, " or ")) {
        parameter_called(form, i, name);
        if (!strcmp(name, "dim")) return true;
        if (!strncmp(doc, "size(", 5) && !strcmp(name, "dims")) return true;
        if (!strncmp(doc, "moveaxis(", 9) && (!strcmp(name, "from") || !strcmp(name, "to"))) return true;
    }
    return false;
}

static int dimensions_of(qs_value v) {
    return v.kind == QS_ARRAY ? qval_array(v)->ndim : v.kind == QS_CELL ? ((Cell *)v.u.p)->rank : 0;
}

/* A dimension that none of the arrays has: programs may look along one, where the extent is 1, and Python does not.  A
 * vec has the dimensions 0 and 1. */
static qs_status check_dimensions(Border *b, const Function *f, int nin, const qs_value *in, PyObject *names) {
    int positional = nin - (names ? (int)PyTuple_Size(names) : 0), arrays = 0;
    for (int i = 0; i < nin; i++) arrays += in[i].kind == QS_ARRAY || in[i].kind == QS_CELL;
    for (int i = 1; arrays && i < nin; i++) {
        PyObject *given = i < positional ? NULL : PyTuple_GetItem(names, i - positional);
        const char *name = given ? PyUnicode_AsUTF8AndSize(given, NULL) : NULL;
        double *d;
        size_t n;
        int most = 2;
        bool several = in[i].kind == QS_ARRAY && !strcmp(f->name->s, "size");
        bool high = qval_is_number(in[i]) && !(qval_number(in[i]) < most);
        if (!several && !high) continue; /* as a rule, and then the manual need not be read */
        if (name ? strcmp(name, "dim") : !is_dimension(f->native->doc, i)) continue;
        for (int k = 0; k < nin; k++)
            if (k != i && dimensions_of(in[k]) > most) most = dimensions_of(in[k]);
        if (qarr_doubles(b->vm, in[i], "dim", &d, &n) != QS_OK) return qs_error_clear(b->vm), QS_OK;
        size_t k = 0;
        while (k < n && d[k] < most) k++;
        double wrong = k < n ? d[k] : 0;
        qmem_free(qvm_ctx(b->vm), d, n * sizeof *d);
        if (k < n)
            return qs_fail(b->vm, QS_EVALUE, "%s: x has the dimensions 0 to %d, got dimension %g", f->name->s, most - 1,
                           wrong);
    }
    return QS_OK;
}

qs_status qfunction_holds(Border *b, const Type *t, const char *what, qs_value v) {
    const Type *n = t && t->kind == TY_ARRAY ? t->inner : t;
    qs_value same;
    if (!n || n->kind != TY_NUM || !qdtype_is_int(n->dtype)) return QS_OK;
    TRY(qval_pass(b->vm, v, t, what, &same));
    return qs_release(b->vm, same), QS_OK;
}

/* What the language itself would say less well of an argument, or not at all. */
static qs_status check_arg(Border *b, qs_value fn, PyObject *o, int i, qs_value v) {
    char name[ARGUMENT_NAME], what[ARGUMENT_NAME + sizeof "argument "];
    const Function *f = fn.kind == QS_FUNCTION ? fn.u.p : NULL;
    bool launch = f && f->takes == TAKES_LAUNCH, huge = f && is_huge(o, v);
    if (f && f->fkind == FN_NATIVE && !launch) return take_size(b, f, o, i, v);
    if (!huge && !class_of(fn)) return QS_OK;
    const Type *t = qfunction_declares(b, fn, i);
    qfunction_argument(fn, i, name);
    snprintf(what, sizeof what, "%s %s", f ? "argument" : "field", name);
    if (!huge) return qfunction_holds(b, t, what, v);
    if (launch) return too_large(b, f->name->s, what, "less than 2^63", o);
    return t && t->kind == TY_NUM ? too_large(b, f->name->s, what, qtype_name(t), o) : QS_OK;
}

static qs_status take_arg(Border *b, qs_value fn, PyObject *o, int i, qs_value *out) {
    if (b->hosted) return qnd_argument(b, o, fn, i, out);
    Py_INCREF(o);
    return qpy_to_value(b, o, out);
}

/* The values that a Python call hands over, named ones last. */
static int take_args(Border *b, qs_value fn, PyObject *const *args, Py_ssize_t n, PyObject *names, qs_value *in) {
    Py_ssize_t positional = names ? n - PyTuple_Size(names) : n;
    for (Py_ssize_t i = 0; i < n; i++) {
        int p = parameter_of(fn, i, positional, names);
        qs_status s = take_arg(b, fn, args[i], p, &in[i]);
        if (s == QS_OK && (s = check_arg(b, fn, args[i], p, in[i])) != QS_OK) qs_release(b->vm, in[i]);
        if (s == QS_OK) continue;
        while (i-- > 0) qs_release(b->vm, in[i]);
        return qerror_raise(b, s), -1;
    }
    return 0;
}

static int take_names(Border *b, PyObject *names, int n, Str **out) {
    for (int i = 0; i < n; i++) {
        Py_ssize_t len;
        const char *s = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), &len);
        if (!s) return -1;
        out[i] = qstr_name(qvm_ctx(b->vm), s, (size_t)len);
    }
    return 0;
}

enum { MOST_RESULTS = 16, PERHAPS = -1 };

/* How many results to ask for. */
static int results_of(qs_value fn) {
    const Function *f = fn.u.p;
    if (fn.kind != QS_FUNCTION || f->fkind != FN_SCRIPT || f->ast->is_lambda) return PERHAPS;
    return f->ast->nouts <= MOST_RESULTS ? f->ast->nouts : PERHAPS;
}

/* [a, b] = f() is a tuple in Python. */
static PyObject *give_all(Border *b, qs_value *out, int n) {
    PyObject *r = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *o = qpy_give(b, out[i]);
        if (r && o) PyTuple_SetItem(r, i, o);
        else Py_CLEAR(r);
    }
    return r;
}

/* A list that was passed may be the result as well, or be kept; now it is an array like others. */
static void be_seen(qs_value v) {
    Buffer *memory = v.kind == QS_ARRAY ? qval_array(v)->buf : NULL;
    if (memory && memory->unseen) memory->unseen = memory->readonly = false;
}

/* Somebody besides the call has the array, or a view of it. */
static bool outlives(qs_value v) {
    return v.kind == QS_ARRAY && (qval_array(v)->hdr.refs > 1 || qbuf_shared(qval_array(v)->buf));
}

static PyObject *run(Border *b, qs_value fn, const CallArgs *a, int wanted) {
    int n = wanted ? wanted : results_of(fn);
    qs_value out[MOST_RESULTS];
    out[0] = qs_nil();
    qs_status s = qfunction_takes(fn) == TAKES_EACH ? qoperator_align(b->vm, a->in, a->nin) : QS_OK;
    int before = qgil_work(b);
    if (s == QS_OK) s = qvm_call_named(b->vm, fn, a, n, out);
    qgil_rest(b, before);
    if (s != QS_OK) return qerror_raise(b, s);
    be_seen(out[0]);
    return n > 1 ? give_all(b, out, n) : qpy_give(b, out[0]);
}

static PyObject *run_named(Border *b, qs_value fn, int nin, qs_value *in, PyObject *names, int wanted) {
    Str *strings[MOST];
    int n = (int)PyTuple_Size(names);
    return take_names(b, names, n, strings) < 0 ? NULL : run(b, fn, &(CallArgs){nin, in, n, strings}, wanted);
}

static PyObject *call_inside(Border *b, qs_value fn, PyObject *const *args, int nin, PyObject *names, int wanted) {
    qs_value few[FEW], *in = nin <= FEW ? few : PyMem_Malloc((size_t)nin * sizeof *in);
    PyObject *r = NULL;
    if (!in) return PyErr_NoMemory();
    if (take_args(b, fn, args, nin, names, in) == 0) {
        const Function *f = fn.kind == QS_FUNCTION ? fn.u.p : NULL;
        qs_status s = f && f->fkind == FN_NATIVE && nin > 1 ? check_dimensions(b, f, nin, in, names) : QS_OK;
        if (s != QS_OK) r = qerror_raise(b, s);
        else if (names) r = run_named(b, fn, nin, in, names, wanted);
        else r = run(b, fn, &(CallArgs){.nin = nin, .in = in}, wanted);
        for (int i = 0; i < nin; i++) {
            be_seen(in[i]);
            if (outlives(in[i])) qdl_hold(b, in[i]);
            qval_release(b->vm, in[i]);
        }
    }
    if (in != few) PyMem_Free(in);
    return r;
}

/* wanted: how many results; 0: those that are declared, of a built-in the first. */
static PyObject *call_for(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names, int wanted) {
    Wrapper *w = (Wrapper *)self;
    Border *b = w->border;
    Py_ssize_t n = (Py_ssize_t)(nargsf & ~ARGUMENTS_OFFSET) + (names ? PyTuple_Size(names) : 0);
    if (n > MOST) return PyErr_Format(PyExc_TypeError, "at most %d arguments can be given to a script function", MOST);
    if (qgil_enter(b) < 0) return NULL;
    qs_value fn = qval_retain(w->v); /* the object may go while it runs */
    PyObject *r = call_inside(b, fn, args, (int)n, names, wanted);
    qval_release(b->vm, fn);
    return qgil_result(b, r);
}

static bool has_nargout(const Function *f) {
    for (int i = 0; f->fkind == FN_SCRIPT && i < f->ast->nparams; i++)
        if (!strcmp(f->ast->params[i].name->s, "nargout")) return true;
    for (int i = 0; f->fkind == FN_SET && i < f->nmembers; i++)
        if (has_nargout(f->members[i])) return true;
    return false;
}

/* Where nargout= stands among the names, unless it is a parameter of the function; -1: nowhere. */
static Py_ssize_t place_of_nargout(PyObject *self, PyObject *names) {
    ALONE;
    qs_value fn = ((Wrapper *)self)->v;
    if (fn.kind == QS_FUNCTION && has_nargout(fn.u.p)) return -1;
    for (Py_ssize_t i = 0, n = PyTuple_Size(names); i < n; i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), "nargout") == 0) return i;
    return -1;
}

static int results_wanted(PyObject *nargout) {
    int overflow;
    long n = PyBool_Check(nargout) ? 0 : PyLong_Check(nargout) ? PyLong_AsLongAndOverflow(nargout, &overflow) : 0;
    if (n >= 1 && n <= MOST_RESULTS) return (int)n;
    PyErr_Format(PyExc_ValueError, "nargout must be the number of results, 1 to %d, got %R", MOST_RESULTS, nargout);
    return -1;
}

/* The call without that one. */
static PyObject *call_nargout(PyObject *self, PyObject *const *args, size_t n, PyObject *names, Py_ssize_t at) {
    Py_ssize_t nnames = PyTuple_Size(names);
    size_t place = n + (size_t)at, after = (size_t)(nnames - at - 1);
    int wanted = results_wanted(args[place]);
    PyObject **rest = wanted < 0 ? NULL : PyMem_Malloc((n + (size_t)nnames) * sizeof *rest), *r = NULL;
    if (!rest) return wanted < 0 ? NULL : PyErr_NoMemory();
    memcpy(rest, args, place * sizeof *rest);
    memcpy(rest + place, args + place + 1, after * sizeof *rest);
    PyObject *before = PyTuple_GetSlice(names, 0, at), *behind = PyTuple_GetSlice(names, at + 1, nnames);
    PyObject *others = before && behind ? PySequence_Concat(before, behind) : NULL;
    if (others) r = call_for(self, rest, n, nnames > 1 ? others : NULL, wanted);
    Py_XDECREF(others);
    Py_XDECREF(behind);
    Py_XDECREF(before);
    PyMem_Free(rest);
    return r;
}

static PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    Py_ssize_t at = names ? place_of_nargout(self, names) : -1;
    if (at < 0) return call_for(self, args, nargsf, names, 0);
    return call_nargout(self, args, nargsf & ~ARGUMENTS_OFFSET, names, at);
}

/* -- the type ------------------------------------------------------------------------------------------------------ */

static PyObject *name_of(PyObject *o, void *unused) {
    ALONE;
    const Function *f = ((Wrapper *)o)->v.u.p;
    (void)unused;
    return f && f->name ? qpy_string(f->name->s, f->name->len) : PyUnicode_FromString("function");
}

/* -- what is known of it: inspect.signature, help ------------------------------------------------------------------ */

/* A literal as a default value; … for anything that must be computed. */
static PyObject *default_value(const Node *n) {
    if (n->kind == N_NUM && n->u.num.is_uint64) return PyLong_FromUnsignedLongLong((uint64_t)n->u.num.whole);
    if (n->kind == N_NUM && n->u.num.whole) return PyLong_FromLongLong(n->u.num.whole);
    if (n->kind == N_NUM && !n->u.num.imaginary)
        return n->u.num.integer ? PyLong_FromDouble(n->u.num.value) : PyFloat_FromDouble(n->u.num.value);
    if (n->kind == N_STR) return qpy_string(n->u.str->s, n->u.str->len);
    const char *name = n->kind == N_IDENT ? n->u.ident.name->s : "";
    if (!strcmp(name, "true") || !strcmp(name, "false")) return PyBool_FromLong(*name == 't');
    if (!strcmp(name, "null")) return Py_INCREF(Py_None), Py_None;
    return Py_INCREF(Py_Ellipsis), Py_Ellipsis;
}

static PyObject *type_text(const TypeExpr *t) {
    const char *s = t && t->resolved ? qtype_name(t->resolved) : t && t->name ? t->name->s : "";
    return PyUnicode_FromString(s);
}

/* (name, type, whether it takes the rest[, default]) */
static PyObject *parameter(const Param *p) {
    PyObject *name = qpy_string(p->name->s, p->name->len), *type = name ? type_text(p->type) : NULL;
    PyObject *rest = PyBool_FromLong(p->variadic), *r = NULL;
    if (type && p->init) r = Py_BuildValue("(OOON)", name, type, rest, default_value(p->init));
    else if (type) r = Py_BuildValue("(OOO)", name, type, rest);
    Py_XDECREF(rest);
    Py_XDECREF(type);
    Py_XDECREF(name);
    return r;
}

/* What a caller gives; of a kernel that is what parallel_do gives, without what the launch sets. */
static PyObject *parameters(const Func *f) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < f->nparams; i++) {
        if (f->qual == Q_KERNEL && qkernel_sets(&f->params[i])) continue;
        PyObject *p = parameter(&f->params[i]);
        if (!p || PyList_Append(list, p) < 0) Py_CLEAR(list);
        Py_XDECREF(p);
    }
    return list;
}

/* Of a script function (comment or None, [parameter]); of a built-in its manual, the signature in the first line. */
static PyObject *known(PyObject *o, void *unused) {
    ALONE;
    const Function *f = ((Wrapper *)o)->v.kind == QS_FUNCTION ? ((Wrapper *)o)->v.u.p : NULL;
    (void)unused;
    if (f && f->fkind == FN_NATIVE && f->native->doc) return PyUnicode_FromString(f->native->doc);
    if (!f || f->fkind != FN_SCRIPT) return Py_INCREF(Py_None), Py_None;
    PyObject *doc = f->ast->doc ? qpy_string(f->ast->doc->s, f->ast->doc->len) : (Py_INCREF(Py_None), Py_None);
    return Py_BuildValue("(NN)", doc, parameters(f->ast));
}

static PyObject *is_kernel(PyObject *o, void *unused) {
    ALONE;
    const Function *f = ((Wrapper *)o)->v.kind == QS_FUNCTION ? ((Wrapper *)o)->v.u.p : NULL;
    (void)unused;
    return PyBool_FromLong(f && f->fkind == FN_SCRIPT && f->ast->qual == Q_KERNEL);
}

/* How many results it has when all are taken; 1 where that is not declared. */
static PyObject *number_of_results(PyObject *o, void *unused) {
    ALONE;
    qs_value fn = ((Wrapper *)o)->v;
    int n = results_of(fn);
    (void)unused;
    return PyLong_FromLong(n > 1 ? n : 1);
}

/* (i): why no derivative is taken to argument i, as a sentence; None: one may be. */
static PyObject *constant(PyObject *o, PyObject *place) {
    char why[WHY_CONSTANT];
    Border *b = ((Wrapper *)o)->border;
    long i = PyLong_AsLong(place);
    if ((i == -1 && PyErr_Occurred()) || qgil_enter(b) < 0) return NULL;
    bool yes = qtape_is_constant(b->vm, ((Wrapper *)o)->v, (int)i, why);
    return qgil_result(b, yes ? PyUnicode_FromString(why) : (Py_INCREF(Py_None), Py_None));
}

static PyMethodDef methods[] = {{"_constant", constant, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static PyObject *repr(PyObject *o) {
    PyObject *name = name_of(o, NULL), *r = name ? PyUnicode_FromFormat("<quasar function %U>", name) : NULL;
    Py_XDECREF(name);
    return r;
}

static Py_hash_t hash(PyObject *o) {
    Py_hash_t h = (Py_hash_t)((uintptr_t)((FunctionObject *)o)->identity >> 4);
    return h == -1 ? -2 : h;
}

/* Two wrappers of one function are equal, so that a callback can be found again to remove it. */
static PyObject *compare(PyObject *a, PyObject *b, int op) {
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(b) != qbridge.function)
        return Py_INCREF(Py_NotImplemented), Py_NotImplemented;
    const FunctionObject *f = (FunctionObject *)a, *g = (FunctionObject *)b;
    bool same = f->identity == g->identity && f->head.border == g->head.border;
    return PyBool_FromLong(same == (op == Py_EQ));
}

static PyObject *call_by_tuple(PyObject *o, PyObject *args, PyObject *names) {
    return PyVectorcall_Call(o, args, names);
}

/* As an attribute of a class it is a method. */
static PyObject *bind(PyObject *o, PyObject *owner, PyObject *type) {
    (void)type;
    if (!owner || owner == Py_None) return Py_INCREF(o), o;
    return qbridge_support("method", "(OO)", o, owner);
}

static PyGetSetDef attributes[] = {
    {"__name__", name_of, NULL, NULL, NULL},
    {"__qualname__", name_of, NULL, NULL, NULL},
    {"_known", known, NULL, NULL, NULL},
    {"_is_kernel", is_kernel, NULL, NULL, NULL},
    {"_results", number_of_results, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Wrapper, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, (void *)qwrapper_refuse},
    {Py_tp_dealloc, (void *)qwrapper_dealloc},
    {Py_tp_traverse, (void *)qwrapper_traverse},
    {Py_tp_clear, (void *)qwrapper_clear},
    {Py_tp_repr, (void *)repr},
    {Py_tp_hash, (void *)hash},
    {Py_tp_richcompare, (void *)compare},
    {Py_tp_call, (void *)call_by_tuple},
    {Py_tp_descr_get, (void *)bind},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    {0, NULL},
};
static PyType_Spec spec = {"pyquasar.qfunction", sizeof(FunctionObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | HAVE_VECTORCALL, slots};

int qfunction_init(void) {
    qbridge.function = (PyTypeObject *)PyType_FromSpec(&spec);
    return qbridge.function ? 0 : -1;
}

PyObject *qfunction_new(Border *b, qs_value fn) {
    FunctionObject *f = (FunctionObject *)qwrapper_make(qbridge.function, b, fn);
    if (f) f->call = call, f->identity = fn.u.p;
    return (PyObject *)f;
}
