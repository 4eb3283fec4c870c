/* pyvalue.c -- implements Python objects in the language: attributes, items, calls, operators, iteration, text. */
#include "bridge/bridge.h"
#include "lang/syntax/operators.h"

#include <math.h>
#include <string.h>

enum { FEW_ARGS = 12 };

qs_value qpyvalue_new(qs_vm *vm, PyObject *o) { return qval_object(QS_FOREIGN, qobj_foreign(vm, &qpyvalue_type, o)); }

static void release_value(void *p) { qgil_decref(p); }

/* Ends an operation without a result. */
static qs_status finish_call(Border *b, int failed) {
    qgil_back(b);
    return qgpu_regain(b, failed ? qerror_take(b) : QS_OK);
}

/* -- attributes ---------------------------------------------------------------------------------------------------- */

static PyObject *name_of(Border *b, qs_value key) { return qpy_name(b, key.u.p); }

/* Adds the owner and the name to an AttributeError that lacks them, for the message about a missing attribute. */
static void add_owner_and_name(PyObject *o, PyObject *name) {
    PyObject *type, *value, *traceback, *r;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    /* Usually set since 3.10. */
    PyObject *known = value && !PyDict_Check(o) ? PyObject_GetAttrString(value, "name") : NULL;
    bool complete = known && known != Py_None;
    Py_XDECREF(known);
    PyErr_Clear();
    r = value && !complete ? qbridge_support("missing_attribute", "(OOO)", value, o, name) : NULL;
    if (!r) PyErr_Clear();
    Py_XDECREF(r);
    PyErr_Restore(type, value, traceback);
}

/* Gives the text of an exception, which `catch e` may have received, for e.message as of errors of the language. */
static PyObject *message_of(PyObject *p, PyObject *name) {
    bool wanted = PyExceptionInstance_Check(p) && PyErr_ExceptionMatches(PyExc_AttributeError) &&
                  PyUnicode_CompareWithASCIIString(name, "message") == 0;
    if (!wanted) return NULL;
    PyErr_Clear();
    return PyObject_Str(p);
}

static qs_status get_attribute(qs_vm *vm, void *p, qs_value key, qs_value *out) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    PyObject *name = name_of(b, key), *r = NULL;
    qgil_outside(b);
    if (name) r = PyObject_GetAttr(p, name);
    if (!r && name) r = message_of(p, name);
    if (!r && name) add_owner_and_name(p, name);
    return qpy_result(b, r, out);
}

static qs_status set_attribute(qs_vm *vm, void *p, qs_value key, qs_value v) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    PyObject *name = name_of(b, key), *o = name ? qpy_pass(b, v) : NULL;
    qgil_outside(b);
    int failed = !o || PyObject_SetAttr(p, name, o) < 0;
    Py_XDECREF(o);
    return finish_call(b, failed);
}

/* -- items --------------------------------------------------------------------------------------------------------- */

static bool is_integral(double x) { return x == floor(x) && fabs(x) < 0x1p53; }

static PyObject *number_or_none(double x, bool none) {
    if (none) return Py_INCREF(Py_None), Py_None;
    return PyLong_FromDouble(x);
}

/* Converts a..step..b to a Python slice; a range includes b, a slice does not. */
static PyObject *slice(double first, double step, double last) {
    double stop = last + (step > 0 ? 1 : -1);
    bool open = step < 0 && stop < 0; /* down to the first element */
    PyObject *lo = PyLong_FromDouble(first), *hi = number_or_none(stop, open), *by = PyLong_FromDouble(step), *r = NULL;
    if (lo && hi && by) r = PySlice_New(lo, hi, by);
    Py_XDECREF(lo);
    Py_XDECREF(hi);
    Py_XDECREF(by);
    return r;
}

/* Converts a vector of evenly spaced integers to a slice, because it was usually written as a range; NULL: none. */
static PyObject *slice_of(qs_vm *vm, Array *a) {
    double x[3] = {0, 0, -1}, value;
    size_t n = a->count;
    if (a->rank != 1 || qdtype_is_complex((qs_dtype)a->dtype) || a->dtype == QS_B1 || n == 1) return NULL;
    for (size_t i = 0; i < n; i++) {
        qs_value v;
        if (qarr_get(vm, a, i, &v) != QS_OK) return NULL;
        value = qval_number(v);
        if (!is_integral(value) || (i > 1 && value - x[2] != x[1] - x[0])) return NULL;
        if (i < 2) x[i] = value;
        x[2] = value;
    }
    if (n == 0) return slice(0, 1, -1);
    bool steps = x[1] != x[0] && (x[0] >= 0) == (x[2] >= 0);
    return steps ? slice(x[0], x[1] - x[0], x[2]) : NULL;
}

static PyObject *colon(void) { return PySlice_New(NULL, NULL, NULL); }

static PyObject *key_of(Border *b, qs_value v) {
    if (qval_is_colon(v)) return colon();
    if (v.kind == QS_NUM && is_integral(v.u.f)) return PyLong_FromDouble(v.u.f);
    if (v.kind != QS_ARRAY) return qpy_from_value(b, v);
    PyObject *s = slice_of(b->vm, v.u.p);
    if (s || PyErr_Occurred()) return s;
    return qval_array(v)->dtype == QS_B1 ? qnd_from_array(b, v.u.p) : qnd_integers(b, v.u.p);
}

static PyObject *subscript(Border *b, int n, const qs_value *at) {
    if (n == 1) return key_of(b, at[0]);
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++) {
        PyObject *k = key_of(b, at[i]);
        if (!k) return Py_DECREF(t), NULL;
        PyTuple_SetItem(t, i, k);
    }
    return t;
}

static qs_status get_item(qs_vm *vm, void *p, int n, const qs_value *at, qs_value *out) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    PyObject *key = subscript(b, n, at), *r = NULL;
    qgil_outside(b);
    if (key) r = PyObject_GetItem(p, key);
    Py_XDECREF(key);
    return qpy_result(b, r, out);
}

static qs_status set_item(qs_vm *vm, void *p, int n, const qs_value *at, qs_value v) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    PyObject *key = subscript(b, n, at), *o = key ? qpy_pass(b, v) : NULL;
    qgil_outside(b);
    /* Pandas treats an object without other references as a temporary, whose items cannot be set. */
    Py_INCREF((PyObject *)p);
    int failed = !o || PyObject_SetItem(p, key, o) < 0;
    Py_DECREF((PyObject *)p);
    Py_XDECREF(key);
    Py_XDECREF(o);
    return finish_call(b, failed);
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

typedef struct { /* converted arguments, after one free slot, which callees may use */
    PyObject *few[FEW_ARGS + 1], **at, *names;
    int n, npos;
} Args;

static int reserve_args(Args *a, int n) {
    a->n = 0;
    a->names = NULL;
    a->at = n <= FEW_ARGS ? a->few : PyMem_Malloc((size_t)(n + 1) * sizeof *a->at);
    if (a->at) return 0;
    PyErr_NoMemory();
    return -1;
}

static void free_args(Args *a) {
    for (int i = 0; i < a->n; i++) Py_DECREF(a->at[i + 1]);
    if (a->at != a->few) PyMem_Free(a->at);
}

/* Converts an argument.  py.tuple({1, 2}) and py.list({1, 2}) get the numbers of a cell, not a NumPy array. */
static PyObject *convert_argument(Border *b, PyObject *callee, const qs_call_args *c, int i) {
    bool sequence = callee == (PyObject *)&PyTuple_Type || callee == (PyObject *)&PyList_Type;
    if (sequence && c->in[i].kind == QS_CELL) return qnd_tuple(b, c->in[i].u.p);
    return qpy_pass(b, c->in[i]);
}

/* eval(text) and exec(text) use the names of their caller; for a script, pass those of __main__. */
static int add_globals(PyObject *callee, Args *a) {
    if ((callee != qbridge.eval && callee != qbridge.exec) || a->n != 1 || a->npos != 1) return 0;
    PyObject *main = PyImport_AddModule("__main__");
    if (!main) return -1;
    a->at[++a->n] = PyModule_GetDict(main);
    a->npos++;
    Py_INCREF(a->at[a->n]);
    return 0;
}

static int convert_args(Border *b, PyObject *callee, const qs_call_args *c, Args *a) {
    a->npos = c->nin - c->nnamed;
    for (int i = 0; i < c->nin; i++) {
        PyObject *o = convert_argument(b, callee, c, i);
        if (!o) return -1;
        a->at[++a->n] = o;
    }
    if (c->nnamed && !(a->names = qpy_names(b, c->nnamed, c->names))) return -1;
    return callee ? add_globals(callee, a) : 0;
}

static PyObject *call_with_dict(PyObject *f, const Args *a) { /* before 3.11 */
    PyObject *names = a->names ? PyDict_New() : NULL;
    for (int i = a->npos; names && i < a->n; i++)
        if (PyDict_SetItem(names, PyTuple_GetItem(a->names, i - a->npos), a->at[1 + i]) < 0)
            return Py_DECREF(names), NULL;
    if (a->names && !names) return NULL;
    PyObject *r = PyObject_VectorcallDict(f, a->at + 1, (size_t)a->npos | ARGUMENTS_OFFSET, names);
    Py_XDECREF(names);
    return r;
}

static PyObject *call_object(Border *b, PyObject *f, const qs_call_args *c) {
    PyObject *r = NULL;
    Args a;
    if (reserve_args(&a, c->nin + 1) < 0) return NULL;
    if (convert_args(b, f, c, &a) == 0) {
        qgil_outside(b);
        if (PyObject_Vectorcall) r = PyObject_Vectorcall(f, a.at + 1, (size_t)a.npos | ARGUMENTS_OFFSET, a.names);
        else r = call_with_dict(f, &a);
    }
    free_args(&a);
    return r;
}

static qs_status call_value(qs_vm *vm, void *p, qs_call_args *c) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    return qpy_result(b, call_object(b, p, c), &c->out[0]);
}

/* -- pyfunc: a function of the language that calls a Python object ------------------------------------------------- */

qs_value qpyvalue_function(qs_vm *vm, qs_value callee) {
    PyObject *name = PyObject_GetAttrString(qpyvalue_get(callee), "__name__");
    const char *s = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    PyErr_Clear();
    Function *f = qfn_foreign(vm, qstr_cname(qvm_ctx(vm), s ? s : "python"), callee);
    Py_XDECREF(name);
    return qval_object(QS_FUNCTION, f);
}

PyObject *qpyvalue_callee(const Function *f) { return f->fkind == FN_FOREIGN ? qpyvalue_get(f->captures[0]) : NULL; }

/* Implements `with`: x.enter() calls __enter__; x.leave() and x.exit() call __exit__ without an exception. */
static PyObject *call_special(PyObject *o, const char *name, int nin, bool *found) {
    bool enter = strcmp(name, "enter") == 0, leave = strcmp(name, "leave") == 0 || strcmp(name, "exit") == 0;
    *found = nin == 0 && (enter || leave) && PyObject_HasAttrString(o, enter ? "__enter__" : "__exit__");
    if (!*found) return NULL;
    if (enter) return PyObject_CallMethod(o, "__enter__", NULL);
    return PyObject_CallMethod(o, "__exit__", "OOO", Py_None, Py_None, Py_None);
}

/* Returns whether the attribute itself is missing, not one that its code looked up. */
static bool no_such_method(PyObject *o, PyObject *name) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *attribute = PyObject_GetAttr(o, name);
    if (!attribute) PyErr_Clear();
    Py_XDECREF(attribute);
    PyErr_Restore(type, value, traceback);
    return !attribute;
}

static qs_status handle_absent(Border *b, PyObject *o, PyObject *name, qs_value key, qs_call_args *c, bool *found) {
    PyObject *type, *value, *traceback, *r;
    bool special;
    qgil_back(b);
    PyErr_Fetch(&type, &value, &traceback);
    r = call_special(o, qs_to_string(key, NULL), c->nin, &special);
    if (special) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return qpy_result(b, r, &c->out[0]);
    }
    qs_value fn;
    const char *called = qs_to_string(key, NULL);
    if (qvm_knows(b->vm, called) && qvm_lookup(b->vm, called, &fn) == QS_OK) { /* it may be a function that takes o */
        *found = fn.kind != QS_FUNCTION;
        qs_release(b->vm, fn);
    } else {
        qs_error_clear(b->vm);
    }
    PyErr_Restore(type, value, traceback);
    if (!*found) return PyErr_Clear(), finish_call(b, false);
    add_owner_and_name(o, name);
    return qpy_result(b, NULL, &c->out[0]);
}

static bool has_cell(const qs_call_args *c) {
    int i = 0;
    while (i < c->nin && c->in[i].kind != QS_CELL) i++;
    return i < c->nin;
}

static PyObject *call_method(Border *b, PyObject *o, PyObject *name, const qs_call_args *c) {
    PyObject *r = NULL;
    Args a;
    if (o == qbridge.builtins || has_cell(c)) { /* the conversion of the arguments depends on the callee */
        PyObject *f = PyObject_GetAttr(o, name);
        if (f) r = call_object(b, f, c);
        Py_XDECREF(f);
        return r;
    }
    if (reserve_args(&a, c->nin + 1) < 0) return NULL;
    Py_INCREF(o);
    a.at[++a.n] = o;
    bool right = convert_args(b, NULL, c, &a) == 0;
    qgil_outside(b);
    if (right) r = PyObject_VectorcallMethod(name, a.at + 1, (size_t)(a.npos + 1) | ARGUMENTS_OFFSET, a.names);
    free_args(&a);
    return r;
}

static qs_status call_named(qs_vm *vm, void *p, qs_value key, qs_call_args *c, bool *found) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    PyObject *name = name_of(b, key), *r = name ? call_method(b, p, name, c) : NULL;
    *found = true;
    if (!r && name && no_such_method(p, name)) return handle_absent(b, p, name, key, c, found);
    return qpy_result(b, r, &c->out[0]);
}

/* -- operators ----------------------------------------------------------------------------------------------------- */

static PyObject *power_of(PyObject *a, PyObject *b) { return PyNumber_Power(a, b, Py_None); }
static PyObject *in_place_power(PyObject *a, PyObject *b) { return PyNumber_InPlacePower(a, b, Py_None); }

typedef PyObject *Binary(PyObject *, PyObject *);
static const struct {
    Binary *plain, *in_place;
} binary[OP__COUNT] = {
    [OP_ADD] = {PyNumber_Add, PyNumber_InPlaceAdd},
    [OP_SUB] = {PyNumber_Subtract, PyNumber_InPlaceSubtract},
    [OP_MUL] = {PyNumber_Multiply, PyNumber_InPlaceMultiply},
    [OP_PWMUL] = {PyNumber_Multiply, PyNumber_InPlaceMultiply},
    [OP_DIV] = {PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide},
    [OP_PWDIV] = {PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide},
    [OP_POW] = {power_of, in_place_power},
    [OP_PWPOW] = {power_of, in_place_power},
    [OP_BITAND] = {PyNumber_And, PyNumber_InPlaceAnd},
    [OP_BITOR] = {PyNumber_Or, PyNumber_InPlaceOr},
    [OP_BITXOR] = {PyNumber_Xor, PyNumber_InPlaceXor},
};

static int comparison(int op) {
    switch (op) {
    case OP_EQ: return Py_EQ;
    case OP_NE: return Py_NE;
    case OP_LT: return Py_LT;
    case OP_LE: return Py_LE;
    case OP_GT: return Py_GT;
    case OP_GE: return Py_GE;
    default: return -1;
    }
}

/* Returns whether o has elements, like an array or a tensor: its logical operators are elementwise, and its truth value
 * is not used. */
static bool has_elements(PyObject *o) {
    return PyObject_HasAttrString(o, "dtype") && PyObject_HasAttrString(o, "__invert__");
}

static PyObject *truth_object(PyObject *o) {
    int t = PyObject_IsTrue(o);
    return t < 0 ? NULL : PyBool_FromLong(t);
}

static PyObject *logical(int op, PyObject *x, PyObject *y) {
    if (has_elements(x) || has_elements(y)) return op == OP_ANDAND ? PyNumber_And(x, y) : PyNumber_Or(x, y);
    int t = PyObject_IsTrue(x);
    if (t < 0) return NULL;
    return t == (op == OP_OROR) ? PyBool_FromLong(t) : truth_object(y);
}

static PyObject *max_or_min(int op, PyObject *x, PyObject *y) { /* x ^^= y, x __= y */
    PyObject *r = op == OP_MAXEQ ? qbridge_support("maximum", "(OO)", x, y) : qbridge_support("minimum", "(OO)", x, y);
    return r;
}

static PyObject *operate(int op, bool in_place, PyObject *x, PyObject *y) {
    if (comparison(op) >= 0) return PyObject_RichCompare(x, y, comparison(op));
    if (op == OP_ANDAND || op == OP_OROR) return logical(op, x, y);
    if (op == OP_MAXEQ || op == OP_MINEQ) return max_or_min(op, x, y);
    return in_place ? binary[op].in_place(x, y) : binary[op].plain(x, y);
}

static PyObject *apply_unary(int op, PyObject *x) {
    if (op == OP_NEG) return PyNumber_Negative(x);
    if (op == OP_PLUS) return PyNumber_Positive(x);
    if (has_elements(x)) return PyNumber_Invert(x);
    int t = PyObject_IsTrue(x);
    return t < 0 ? NULL : PyBool_FromLong(!t);
}

static qs_status operator(qs_vm *vm, int op, qs_value x, qs_value y, qs_value *out) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    bool in_place = op & QS_OP_IN_PLACE;
    op &= ~QS_OP_IN_PLACE;
    PyObject *a = qpy_from_value(b, x), *r = NULL;
    if (op == OP_NEG || op == OP_PLUS || op == OP_NOT) {
        qgil_outside(b);
        if (a) r = apply_unary(op, a);
    } else {
        PyObject *c = a ? qpy_from_value(b, y) : NULL;
        qgil_outside(b);
        if (c) r = operate(op, in_place, a, c);
        Py_XDECREF(c);
    }
    Py_XDECREF(a);
    return qpy_result(b, r, out);
}

static qs_status truth_of(qs_vm *vm, void *p, bool *out) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    qgil_outside(b);
    int t = PyObject_IsTrue(p);
    *out = t > 0;
    return finish_call(b, t < 0);
}

/* `builtins` has the type of all modules. */
static bool is_space(void *p) { return PyObject_TypeCheck((PyObject *)p, Py_TYPE(qbridge.builtins)); }

/* -- iteration, text, errors --------------------------------------------------------------------------------------- */

static qs_status iter(qs_vm *vm, void *p, qs_value *out) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    qgil_outside(b);
    PyObject *r = PyObject_GetIter(p);
    qs_status s = finish_call(b, !r);
    if (s != QS_OK) return Py_XDECREF(r), s;
    *out = qpyvalue_new(vm, r);
    return QS_OK;
}

static qs_status next(qs_vm *vm, void *p, bool *more, qs_value *out) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    qgil_outside(b);
    PyObject *r = PyIter_Next(p);
    *more = r || PyErr_Occurred();
    return *more ? qpy_result(b, r, out) : finish_call(b, false);
}

static bool is_exception(PyObject *o) { return PyObject_IsInstance(o, PyExc_BaseException) == 1; }

static qs_status format_value(qs_vm *vm, void *p, qs_value *out) {
    Border *b = border_of(vm);
    TRY(qgpu_lend(b));
    if (is_exception(p)) return qgpu_regain(b, qerror_format(b, p, out));
    qgil_outside(b);
    PyObject *text = PyObject_Str(p);
    qs_status s = finish_call(b, !text);
    return s == QS_OK ? qpy_text(b, text, out) : (Py_XDECREF(text), s);
}

/* Describes the type of the object. */
static qs_status detail(qs_vm *vm, void *p, qs_value *out) {
    Border *b = qgil_border(vm);
    PyObject *text = qbridge_support("kind", "(O)", p);
    qgil_back(b);
    return text ? qpy_text(b, text, out) : qerror_take(b);
}

/* `catch e` receives the exception, or the message of a script error, as if Python were not in between. */
static qs_status caught(qs_vm *vm, void *p, qs_value *out) {
    Border *b = qgil_border(vm);
    if (PyObject_IsInstance(p, (PyObject *)qbridge.error) == 1) return qerror_format(b, p, out);
    *out = qpyvalue_new(vm, p);
    Py_INCREF((PyObject *)p);
    return QS_OK;
}

static qs_status report(qs_vm *vm, void *p, qs_value *out) { return qerror_report(vm, p, out); }

const qs_foreign_type qpyvalue_type = {
    .name = "pyvalue",
    .release = release_value,
    .call = call_value,
    .get = get_attribute,
    .set = set_attribute,
    .op = operator,
    .format = format_value,
    .iter = iter,
    .next = next,
    .get_item = get_item,
    .set_item = set_item,
    .method = call_named,
    .truth = truth_of,
    .is_space = is_space,
    .caught = caught,
    .report = report,
    .detail = detail,
};
