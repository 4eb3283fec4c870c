/* function.c -- exposes functions of the language as Python callables; contains code shared with value_type.c. */
#include "bridge/bridge.h"
#include "lang/syntax/ast.h"
#include "vm/base/number.h"
#include "vm/launch/launch.h"
#include "vm/tape/tape.h"
#include "vm/value/hooks.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    Wrapper head;
    PyObject *(*call_wrapper)(PyObject *, PyObject *const *, size_t, PyObject *);
    const void *identity; /* the function; identifies the object in sets even after the VM is closed */
} FunctionObject;

/* -- wrappers ------------------------------------------------------------------------------------------------------ */

/* Collects garbage, because script code alone rarely triggers Python's collector (from 3.12 on hardly ever). */
static void collect_some(Border *b) {
    PyGC_Collect();
    b->many = 2 * b->nwrappers > MANY_WRAPPERS ? 2 * b->nwrappers : MANY_WRAPPERS;
}

/* Creates a wrapper of v, which is retained. */
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

PyObject *qwrapper_refuse(PyTypeObject *Py_UNUSED(t), PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(names)) {
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

/* Returns the index of the parameter or field for argument i; the last arguments are named. */
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

/* Python integers from 2^63 on are not numbers of the language. */
static bool is_huge(PyObject *o, qs_value v) { return v.kind == QS_FOREIGN && PyLong_Check(o); }

static qs_status too_large(Border *b, const char *fn, const char *what, const char *wanted, PyObject *o) {
    PyErr_Format(PyExc_OverflowError, "%s: %s must be %s, got %R", fn, what, wanted, o);
    qgil_back(b);
    return qerror_take(b);
}

/* Rejects a number of elements that is not integral. */
static qs_status take_size(Border *b, const Function *f, PyObject *o, int i, qs_value v) {
    char text[NUMBER_TEXT];
    double *x;
    size_t n;
    if (!(f->traits & TRAIT_SIZE << (i < 7 ? i : 7))) return QS_OK;
    if (is_huge(o, v)) return too_large(b, f->name->s, "a size", "less than 2^63", o);
    if (!qval_is_number(v) && v.kind != QS_ARRAY) return QS_OK;
    if (qarr_doubles(b->vm, v, "a size", &x, &n) != QS_OK) return qs_error_clear(b->vm), QS_OK;
    size_t k = 0;
    while (k < n && x[k] == trunc(x[k]) && fabs(x[k]) < 0x1p63) k++;
    double bad = k < n ? x[k] : 0;
    qmem_free(qvm_ctx(b->vm), x, n * sizeof *x);
    if (k == n) return QS_OK;
    return qs_fail(b->vm, QS_EVALUE, "%s: a size must be an integer, got %s", f->name->s, qnum_shown(bad, text));
}

static int dimensions_of(qs_value v) {
    return v.kind == QS_ARRAY ? qval_array(v)->ndim : v.kind == QS_CELL ? ((Cell *)v.u.p)->rank : 0;
}

/* Returns whether f is a function of the language, not of a program. */
static bool is_known(const Function *f) {
    return f->fkind == FN_NATIVE || (f->fkind == FN_SCRIPT && f->ast->unit->src->library);
}

/* Returns whether argument i of f, given by name or by position, is a dimension. */
static bool is_dimension(const Function *f, int i, const char *name) {
    if (!name && f->fkind == FN_NATIVE) return i < 8 && f->traits & TRAIT_DIM << i;
    if (!name && i < f->ast->nparams) name = f->ast->params[i].name->s;
    return name && !strcmp(name, "dim");
}

/* Rejects a dimension that none of the arrays has: scripts may use further dimensions, of extent 1, but Python code may
 * not.  A vec has the dimensions 0 and 1. */
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
        if ((!several && !high) || !is_dimension(f, i, name)) continue;
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

/* Rejects memory that a field would keep as a converted copy: neither side would see the writes of the other. */
static qs_status check_shared(Border *b, const Type *t, const char *what, qs_value v) {
    bool as_is = v.kind == QS_ARRAY && qval_array(v)->hdr.flags & ARRAY_AS_IS;
    if (!as_is || !t || t->kind != TY_ARRAY || qval_is_type(b->vm, v, t)) return QS_OK;
    return qs_fail(b->vm, QS_ETYPE,
                   "%s must be %s, got %s; memory that is passed is used in place: pass value(x) for a converted copy",
                   what, qtype_name(t), qval_type_name(b->vm, v));
}

qs_status qfunction_holds(Border *b, const Type *t, const char *what, qs_value v) {
    const Type *n = t && t->kind == TY_ARRAY ? t->inner : t;
    qs_value same;
    TRY(check_shared(b, t, what, v));
    if (!n || n->kind != TY_NUM || !qdtype_is_int(n->dtype)) return QS_OK;
    TRY(qval_pass(b->vm, v, t, what, &same));
    return qs_release(b->vm, same), QS_OK;
}

/* Checks an argument where the VM would report a worse error, or none. */
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

static bool is_list(PyObject *o) { return PyList_Check(o) || PyTuple_Check(o); }

/* Returns whether v has float64 elements, beside which a list keeps its digits. */
static bool is_wide(qs_value v) {
    return v.kind == QS_ARRAY && (qval_array(v)->dtype == QS_F64 || qval_array(v)->dtype == QS_C128);
}

/* Converts the arguments of a Python call, named ones last, but lists after all others. */
static int take_args(Border *b, qs_value fn, PyObject *const *args, Py_ssize_t n, PyObject *names, qs_value *in) {
    Py_ssize_t positional = names ? n - PyTuple_Size(names) : n, lists = 0;
    bool wide = false;
    for (Py_ssize_t i = 0; i < n; i++) lists += is_list(args[i]), in[i] = qs_nil();
    for (Py_ssize_t k = 0; k < (lists ? 2 * n : n); k++) {
        Py_ssize_t i = k < n ? k : k - n;
        if (lists && is_list(args[i]) != (k >= n)) continue;
        int p = parameter_of(fn, i, positional, names);
        b->wide_lists = wide && k >= n;
        qs_status s = take_arg(b, fn, args[i], p, &in[i]);
        b->wide_lists = false;
        if (s != QS_OK) in[i] = qs_nil();
        else if ((s = check_arg(b, fn, args[i], p, in[i])) == QS_OK) {
            wide |= is_wide(in[i]) && k < n;
            continue;
        }
        for (i = 0; i < n; i++) qs_release(b->vm, in[i]);
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

/* The number of results to request; of several functions of one name, the number that all declare. */
static int declared_results(const Function *f) {
    int n = f->fkind == FN_SET && f->nmembers ? declared_results(f->members[0]) : PERHAPS;
    for (int i = 1; f->fkind == FN_SET && i < f->nmembers; i++)
        if (declared_results(f->members[i]) != n) return PERHAPS;
    if (f->fkind != FN_SCRIPT || f->ast->is_lambda) return n;
    return f->ast->nouts <= MOST_RESULTS ? f->ast->nouts : PERHAPS;
}

/* Returns the number of results to request of a call.  If functions of one name declare different numbers, the function
 * that the arguments select decides. */
static int requested_results(Border *b, qs_value fn, const CallArgs *a) {
    Function *f = fn.kind == QS_FUNCTION ? fn.u.p : NULL, *chosen;
    int n = f ? declared_results(f) : PERHAPS;
    if (n != PERHAPS || !f || f->fkind != FN_SET) return n;
    if (qinterp_hooks(b->vm)->select(b->vm, f, a, NULL, &chosen) == QS_OK) return declared_results(chosen);
    return qs_error_clear(b->vm), n; /* the call reports it */
}

/* [a, b] = f() becomes a tuple in Python. */
static PyObject *give_all(Border *b, qs_value *out, int n) {
    PyObject *r = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *o = qpy_return(b, out[i]);
        if (r && o) PyTuple_SetItem(r, i, o);
        else Py_CLEAR(r);
    }
    return r;
}

/* Makes an array made from a list an ordinary one, because the call may return or keep it. */
static void make_visible(qs_value v) {
    Buffer *memory = v.kind == QS_ARRAY ? qval_array(v)->buf : NULL;
    if (memory && memory->unseen) memory->unseen = memory->readonly = false;
}

/* Returns whether the array, or a view of it, is referenced from outside the call. */
static bool outlives(qs_value v) {
    return v.kind == QS_ARRAY && (qval_array(v)->hdr.refs > 1 || qbuf_shared(qval_array(v)->buf));
}

/* Overload resolution treats a Python int like a number that a script writes as an integer (CallArgs.integral). */
static uint64_t python_ints(PyObject *const *args, int n) {
    uint64_t bits = 0;
    for (int i = 0; i < n && i < 64; i++) {
        int overflow = 1;
        long long x = PyLong_Check(args[i]) ? PyLong_AsLongLongAndOverflow(args[i], &overflow) : 0;
        if (!overflow && x > -INT64_C(0x80000000) && x < INT64_C(0x80000000)) bits |= (uint64_t)1 << i;
    }
    return bits;
}

static PyObject *run_function(Border *b, qs_value fn, const CallArgs *a, int wanted) {
    int n = wanted ? wanted : requested_results(b, fn, a);
    qs_value out[MOST_RESULTS];
    out[0] = qs_nil();
    qs_status s = qfunction_takes(fn) == TAKES_EACH ? qoperator_align(b->vm, a->in, a->nin) : QS_OK;
    int before = qgil_work(b);
    if (s == QS_OK) s = qvm_call_named(b->vm, fn, a, n, out);
    qgil_rest(b, before);
    if (s != QS_OK) return qerror_raise(b, s);
    make_visible(out[0]);
    return n > 1 ? give_all(b, out, n) : qpy_return(b, out[0]);
}

static PyObject *run_named(Border *b, qs_value fn, CallArgs *a, PyObject *names, int wanted) {
    Str *strings[MOST];
    a->nnamed = (int)PyTuple_Size(names), a->names = strings;
    return take_names(b, names, a->nnamed, strings) < 0 ? NULL : run_function(b, fn, a, wanted);
}

static PyObject *call_inside(Border *b, qs_value fn, PyObject *const *args, int nin, PyObject *names, int wanted) {
    qs_value few[FEW], *in = nin <= FEW ? few : PyMem_Malloc((size_t)nin * sizeof *in);
    PyObject *r = NULL;
    if (!in) return PyErr_NoMemory();
    if (take_args(b, fn, args, nin, names, in) == 0) {
        CallArgs all = {.nin = nin, .in = in, .integral = python_ints(args, nin)};
        const Function *f = fn.kind == QS_FUNCTION ? fn.u.p : NULL;
        qs_status s = f && is_known(f) && nin > 1 ? check_dimensions(b, f, nin, in, names) : QS_OK;
        if (s != QS_OK) r = qerror_raise(b, s);
        else if (names) r = run_named(b, fn, &all, names, wanted);
        else r = run_function(b, fn, &all, wanted);
        for (int i = 0; i < nin; i++) {
            make_visible(in[i]);
            if (outlives(in[i])) qdl_hold(b, in[i]);
            qval_release(b->vm, in[i]);
        }
    }
    if (in != few) PyMem_Free(in);
    return r;
}

/* wanted: number of results; 0: the declared ones, or the first of a built-in. */
static PyObject *call_for(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names, int wanted) {
    Wrapper *w = (Wrapper *)self;
    Border *b = w->border;
    Py_ssize_t n = (Py_ssize_t)(nargsf & ~ARGUMENTS_OFFSET) + (names ? PyTuple_Size(names) : 0);
    if (n > MOST) return PyErr_Format(PyExc_TypeError, "at most %d arguments can be given to a script function", MOST);
    if (qgil_enter(b) < 0) return NULL;
    qs_value fn = qval_retain(w->v); /* the object may be freed during the call */
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

/* The position of nargout= among the names, unless the function has such a parameter; -1: none. */
static Py_ssize_t place_of_nargout(PyObject *self, PyObject *names) {
    ALONE;
    qs_value fn = qwrapper_value(self);
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

/* Calls the function without nargout. */
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

static PyObject *call_wrapper(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    Py_ssize_t at = names ? place_of_nargout(self, names) : -1;
    if (at < 0) return call_for(self, args, nargsf, names, 0);
    return call_nargout(self, args, nargsf & ~ARGUMENTS_OFFSET, names, at);
}

/* -- the type ------------------------------------------------------------------------------------------------------ */

static PyObject *name_of(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Function *f = qwrapper_value(o).u.p;
    return f && f->name ? qpy_string(f->name->s, f->name->len) : PyUnicode_FromString("function");
}

/* -- introspection: inspect.signature, help ------------------------------------------------------------------------ */

/* Returns a literal default value; … for anything that must be computed. */
static PyObject *default_value(const Node *n) {
    if (n->kind == N_NUM && n->u.num.is_uint64) return PyLong_FromUnsignedLongLong((uint64_t)n->u.num.int_value);
    if (n->kind == N_NUM && n->u.num.int_value) return PyLong_FromLongLong(n->u.num.int_value);
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

/* (name, type, is variadic[, default]) */
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

/* Lists the parameters that a caller passes; for a kernel, without those that the launch sets. */
static PyObject *list_parameters(const Func *f) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < f->nparams; i++) {
        if (f->qual == Q_KERNEL && qkernel_sets(&f->params[i])) continue;
        PyObject *p = parameter(&f->params[i]);
        if (!p || PyList_Append(list, p) < 0) Py_CLEAR(list);
        Py_XDECREF(p);
    }
    return list;
}

/* Returns (comment or None, [parameter]) for a script function, the manual with the signature in its first line for a
 * built-in. */
static PyObject *get_signature(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Function *f = qwrapper_value(o).kind == QS_FUNCTION ? qwrapper_value(o).u.p : NULL;
    if (f && f->fkind == FN_NATIVE && f->native->doc) return PyUnicode_FromString(f->native->doc);
    if (!f || f->fkind != FN_SCRIPT) return Py_INCREF(Py_None), Py_None;
    PyObject *doc = f->ast->doc ? qpy_string(f->ast->doc->s, f->ast->doc->len) : (Py_INCREF(Py_None), Py_None);
    return Py_BuildValue("(NN)", doc, list_parameters(f->ast));
}

static PyObject *is_kernel(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Function *f = qwrapper_value(o).kind == QS_FUNCTION ? qwrapper_value(o).u.p : NULL;
    return PyBool_FromLong(f && f->fkind == FN_SCRIPT && f->ast->qual == Q_KERNEL);
}

/* The function that checkpoint(f) wraps; None: it wraps none. */
static PyObject *wrapped_function(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    const Function *f = qwrapper_value(o).kind == QS_FUNCTION ? qwrapper_value(o).u.p : NULL;
    if (!f || f->fkind != FN_FOREIGN || !f->nmembers) return Py_INCREF(Py_None), Py_None;
    return qfunction_new(((Wrapper *)o)->border, qval_object(QS_FUNCTION, f->members[0]));
}

/* The number of results when all are requested; 1 if undeclared. */
static PyObject *number_of_results(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    qs_value fn = qwrapper_value(o);
    int n = fn.kind == QS_FUNCTION ? declared_results(fn.u.p) : 1;
    return PyLong_FromLong(n > 1 ? n : 1);
}

/* (i): the reason why no derivative is taken with respect to argument i, as a sentence; None: it can be. */
static PyObject *why_constant(PyObject *o, PyObject *place) {
    char why[WHY_CONSTANT];
    Border *b = ((Wrapper *)o)->border;
    long i = PyLong_AsLong(place);
    if ((i == -1 && PyErr_Occurred()) || qgil_enter(b) < 0) return NULL;
    bool yes = qtape_is_constant(b->vm, qwrapper_value(o), (int)i, why);
    return qgil_result(b, yes ? PyUnicode_FromString(why) : (Py_INCREF(Py_None), Py_None));
}

static PyMethodDef methods[] = {{"_constant", why_constant, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static PyObject *repr(PyObject *o) {
    PyObject *name = name_of(o, NULL), *r = name ? PyUnicode_FromFormat("<quasar function %U>", name) : NULL;
    Py_XDECREF(name);
    return r;
}

static Py_hash_t hash(PyObject *o) {
    Py_hash_t h = (Py_hash_t)((uintptr_t)((FunctionObject *)o)->identity >> 4);
    return h == -1 ? -2 : h;
}

/* Two wrappers of one function are equal, so that a callback can be found for removal. */
static PyObject *compare_functions(PyObject *a, PyObject *b, int op) {
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(b) != qbridge.function)
        return Py_INCREF(Py_NotImplemented), Py_NotImplemented;
    const FunctionObject *f = (FunctionObject *)a, *g = (FunctionObject *)b;
    bool same = f->identity == g->identity && f->head.border == g->head.border;
    return PyBool_FromLong(same == (op == Py_EQ));
}

static PyObject *call_by_tuple(PyObject *o, PyObject *args, PyObject *names) {
    return PyVectorcall_Call(o, args, names);
}

/* Binds the function as a method when it is an attribute of a class. */
static PyObject *bind_method(PyObject *o, PyObject *owner, PyObject *Py_UNUSED(type)) {
    if (!owner || owner == Py_None) return Py_INCREF(o), o;
    return qbridge_support("method", "(OO)", o, owner);
}

static PyGetSetDef attributes[] = {
    {"__name__", name_of, NULL, NULL, NULL},
    {"__qualname__", name_of, NULL, NULL, NULL},
    {"_known", get_signature, NULL, NULL, NULL},
    {"_is_kernel", is_kernel, NULL, NULL, NULL},
    {"_results", number_of_results, NULL, NULL, NULL},
    {"_wraps", wrapped_function, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call_wrapper), READONLY, NULL},
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
    {Py_tp_richcompare, (void *)compare_functions},
    {Py_tp_call, (void *)call_by_tuple},
    {Py_tp_descr_get, (void *)bind_method},
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
    if (f) f->call_wrapper = call_wrapper, f->identity = fn.u.p;
    return (PyObject *)f;
}
