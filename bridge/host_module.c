/* host_module.c -- implements the functions of pyquasar/__init__.py: opening and closing the VM, compiling, names,
 * devices, types.
 *
 * There is one VM at a time, qbridge.host; in a script it is the VM that runs the script.  Functions of the language
 * are cached in the dict of the package after their first use, until something is compiled, so that q.f is as fast as
 * any other attribute. */
#include "bridge/bridge.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/operators.h"
#include "vm/api/options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static PyObject *kept;            /* names cached in the dict of the package: {name: object} */
static PyObject *kept_in_modules; /* the same for pyquasar.module: [(dict, name)] */

static PyObject *package_dict(void) {
    PyObject *package = PyImport_AddModule("pyquasar");
    return package ? PyModule_GetDict(package) : NULL;
}

/* Removes the cached names, except those that were assigned since. */
static void forget_names(void) {
    PyObject *dict = package_dict(), *name, *o;
    for (Py_ssize_t i = 0; dict && kept && PyDict_Next(kept, &i, &name, &o);)
        if (PyDict_GetItem(dict, name) == o && PyDict_DelItem(dict, name) < 0) PyErr_Clear();
    for (Py_ssize_t n = kept_in_modules ? PyList_Size(kept_in_modules) : 0; n-- > 0;) {
        PyObject *place = PyList_GetItem(kept_in_modules, n);
        if (PyDict_DelItem(PyTuple_GetItem(place, 0), PyTuple_GetItem(place, 1)) < 0) PyErr_Clear();
    }
    PyErr_Clear();
    Py_CLEAR(kept);
    Py_CLEAR(kept_in_modules);
}

static void keep_in_module(PyObject *dict, const char *name, PyObject *o) {
    PyObject *place = Py_BuildValue("(Os)", dict, name);
    if (!kept_in_modules) kept_in_modules = PyList_New(0);
    if (!place || !kept_in_modules || PyDict_SetItemString(dict, name, o) < 0 ||
        PyList_Append(kept_in_modules, place) < 0)
        PyErr_Clear();
    Py_XDECREF(place);
}

/* Returns whether caching the name would hide a Python built-in from functions of the package, which use the same dict.
 * Names of built-in functions and types of the language are cached anyway; the package knows them. */
static bool is_taken(PyObject *name, qs_value v) {
    const Type *t = v.kind == QS_TYPE ? ((TypeValue *)v.u.p)->type : NULL;
    bool own = t ? !t->cls : ((Function *)v.u.p)->fkind == FN_NATIVE;
    return !own && PyObject_HasAttr(qbridge.builtins, name);
}

static void keep_name(PyObject *name, PyObject *o) {
    PyObject *dict = package_dict();
    if (!kept) kept = PyDict_New();
    if (!dict || !kept || PyDict_SetItem(kept, name, o) < 0 || PyDict_SetItem(dict, name, o) < 0) PyErr_Clear();
}

static PyObject *none(void) { return Py_INCREF(Py_None), Py_None; }

/* -- opening and closing ------------------------------------------------------------------------------------------- */

/* sys.stdout or sys.stderr; NULL: there is none. */
static PyObject *stream_of(int fd) {
    PyObject *stream = PyObject_GetAttrString(qbridge.sys, fd == 1 ? "stdout" : "stderr");
    if (stream == Py_None) Py_CLEAR(stream);
    return stream;
}

static void write_to(PyObject *stream, const char *s, size_t n) { /* takes the reference to stream */
    PyObject *text = PyUnicode_DecodeUTF8(s, (Py_ssize_t)n, "replace");
    PyObject *r = text ? PyObject_CallMethod(stream, "write", "O", text) : NULL;
    if (!r) PyErr_WriteUnraisable(stream);
    Py_XDECREF(r);
    Py_XDECREF(text);
    Py_DECREF(stream);
}

/* Writes program output to the same stream as Python's own output, in order with it. */
static void write_output(void *Py_UNUSED(unused), int fd, const char *s, size_t n) {
    Border *b = qbridge.host;
    if (b) qgil_here(b);
    PyObject *type, *make_value, *traceback;
    PyErr_Fetch(&type, &make_value, &traceback);
    PyObject *stream = stream_of(fd);
    if (b) qgil_outside(b);
    if (stream) write_to(stream, s, n);
    PyErr_Clear();
    PyErr_Restore(type, make_value, traceback);
    if (b) qgil_back(b);
}

/* Passes warnings to Python's warnings module, which may raise an exception. */
static qs_status report_warning(void *Py_UNUSED(unused), const qs_where *where, const char *sentence) {
    Border *b = qbridge.host;
    if (!b) return QS_OK;
    qgil_here(b);
    PyObject *r = qbridge_support("warn", "(ssi)", sentence, where->file ? where->file : "?", where->line);
    qgil_back(b);
    if (!r) return qerror_take(b);
    Py_DECREF(r);
    return QS_OK;
}

static PyObject *raise_error(const char *text) { return PyErr_SetString((PyObject *)qbridge.error, text), NULL; }

/* Returns the value of a member of c as check_options does; None: it is unset. */
static PyObject *get_option(const Option *o, const qs_config *c) {
    const void *member = (const char *)c + o->offset;
    bool unset = !strcmp(o->standard, "UNSET");
    switch (o->type) {
    case OPTION_FLAG: return PyBool_FromLong(*(const bool *)member);
    case OPTION_INT: return unset && !*(const int *)member ? none() : PyLong_FromLong(*(const int *)member);
    case OPTION_SIZE: return PyLong_FromSize_t(*(const size_t *)member);
    default: break;
    }
    const char *text = *(const char *const *)member;
    return text && (*text || o->type == OPTION_PATH) ? PyUnicode_DecodeFSDefault(text) : none();
}

static PyObject *get_default(const Option *o) {
    qs_config c;
    qs_config_init(&c);
    return get_option(o, &c);
}

static PyObject *raise_value(const Option *o, const char *wanted, PyObject *x) {
    return PyErr_Format(PyExc_ValueError, "init: %s must be %s, got %R", o->name, wanted, x);
}

/* Converts an argument of init to an integer that the option accepts.  None is kept if the option has no default. */
static PyObject *check_number(const Option *o, PyObject *x) {
    char wanted[200], least[40];
    PyObject *n = PyBool_Check(x) ? NULL : PyNumber_Index(x);
    if (!n) {
        PyErr_Clear();
        return PyErr_Format(PyExc_TypeError, "init: %s must be %s, got %R", o->name,
                            o->type == OPTION_SIZE ? "a number of bytes" : "a number", x);
    }
    int too_large = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(n, &too_large);
    if (!too_large && qoptions_takes_number(o, value)) return n;
    Py_DECREF(n);
    qoptions_expectation(o, wanted, sizeof wanted);
    snprintf(least, sizeof least, "\u2265 %lld", (long long)o->least);
    bool low = !o->choices && (too_large < 0 || (!too_large && value < o->least));
    return raise_value(o, low ? least : o->choices ? wanted : "a smaller number", x);
}

static PyObject *check_text(const Option *o, PyObject *x) {
    char wanted[200];
    if (o->type == OPTION_PATH) {
        PyObject *text = NULL;
        if (PyUnicode_FSDecoder(x, &text)) return text;
        PyErr_Clear();
        return PyErr_Format(PyExc_TypeError, "init: %s must be a string or a path, got %R", o->name, x);
    }
    if (!PyUnicode_Check(x)) return PyErr_Format(PyExc_TypeError, "init: %s must be a string, got %R", o->name, x);
    qoptions_expectation(o, wanted, sizeof wanted);
    PyObject *bytes = o->choices ? PyUnicode_EncodeFSDefault(x) : NULL;
    bool good = o->choices ? bytes && qoptions_takes_text(o, PyBytes_AsString(bytes)) : PyUnicode_GetLength(x) > 0;
    Py_XDECREF(bytes);
    if (PyErr_Occurred()) return NULL;
    return good ? (Py_INCREF(x), x) : raise_value(o, wanted, x);
}

static PyObject *check_option(const Option *o, PyObject *x) {
    if (o->type == OPTION_FLAG) {
        if (PyBool_Check(x)) return Py_INCREF(x), x;
        return PyErr_Format(PyExc_TypeError, "init: %s must be True or False, got %R", o->name, x);
    }
    if (x == Py_None) return get_default(o);
    return o->type == OPTION_INT || o->type == OPTION_SIZE ? check_number(o, x) : check_text(o, x);
}

/* ({name: value}): checks the arguments of init.  Returns {name: value} with values of one type each. */
static PyObject *check_options(PyObject *Py_UNUSED(module), PyObject *given) {
    PyObject *all = PyDict_New();
    for (const Option *o = qoptions; all && o < qoptions + qoptions_count; o++) {
        PyObject *x = o->uses & USE_PYTHON ? PyDict_GetItemString(given, o->name) : NULL;
        if (!x) continue;
        PyObject *checked = check_option(o, x);
        if (!checked || PyDict_SetItemString(all, o->name, checked) < 0) Py_CLEAR(all);
        Py_XDECREF(checked);
    }
    return all;
}

/* Stores a checked value in c; `texts` owns the texts.  Returns false with an exception. */
static bool store_option(const Option *o, PyObject *x, qs_config *c, PyObject *texts) {
    void *member = (char *)c + o->offset;
    if (x == Py_None) return true; /* the default */
    if (o->type == OPTION_FLAG) return *(bool *)member = x == Py_True, true;
    if (o->type == OPTION_INT) return *(int *)member = (int)PyLong_AsLong(x), !PyErr_Occurred();
    if (o->type == OPTION_SIZE) return *(size_t *)member = PyLong_AsSize_t(x), !PyErr_Occurred();
    PyObject *bytes = PyUnicode_EncodeFSDefault(x);
    bool held = bytes && PyList_Append(texts, bytes) == 0;
    char *text = NULL;
    held = held && PyBytes_AsStringAndSize(bytes, &text, NULL) == 0; /* no NUL inside */
    if (held) *(const char **)member = text;
    Py_XDECREF(bytes);
    return held;
}

static bool store_options(PyObject *given, qs_config *c, PyObject *texts) {
    for (const Option *o = qoptions; o < qoptions + qoptions_count; o++) {
        bool settable = o->uses & (USE_PYTHON | USE_GIVEN);
        PyObject *x = settable && !o->in_command && !o->alias_of ? PyDict_GetItemString(given, o->name) : NULL;
        if (x && !store_option(o, x, c, texts)) return false;
    }
    return true;
}

/* ({name: value}): checked options, and the ones that the package sets itself */
static PyObject *open_machine(PyObject *Py_UNUSED(module), PyObject *given) {
    qs_config c;
    qs_vm *vm = NULL;
    qs_config_init(&c);
    PyObject *texts = PyList_New(0);
    if (!texts || !store_options(given, &c, texts)) return Py_XDECREF(texts), NULL;
    c.write = write_output;
    c.warn = report_warning;
    qs_status s = qs_open(&c, &vm);
    Py_DECREF(texts);
    Border *b = vm ? qbridge_border(vm, false) : NULL;
    if (!b) return qs_close(vm), PyErr_NoMemory();
    qbridge_attach(vm);
    if (s != QS_OK) return qerror_raise(b, s), qs_close(vm), NULL;
    b->hosted = true;
    qvm(vm)->unbuffered = true;
    qbridge.host = b;
    return none();
}

static PyObject *close_entered(Border *b) {
    if (qgil_enter(b) < 0) return NULL;
    bool used = qgil_used(b);
    qgil_leave(b);
    if (used) return raise_error("destroy: a script function is still running");
    forget_names();
    qs_close(b->vm);
    return none();
}

static PyObject *close_host(Border *b) {
    if (!b->hosted) return raise_error("destroy: the machine belongs to the script that runs");
    bool taken = qgil_hold(b); /* until it is closed */
    PyObject *r = close_entered(b);
    if (taken && qgil_holds(b)) qgil_give(b);
    return r;
}

static PyObject *close_machine(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    Border *b = qgil_host();
    PyObject *r = b ? close_host(b) : none();
    if (b) qborder_release(b);
    return r;
}

/* Called at the end of the program.  Does not wait: if a thread is still inside the VM, the VM ends with the
 * process. */
static PyObject *end_machine(PyObject *module, PyObject *unused) {
    Border *b = qbridge.host;
    qbridge.ending = true;
    if (!b || !b->hosted || qflag_is_up(&b->away) || !qgil_try(b)) return none();
    bool used = qgil_used(b);
    qgil_give(b);
    return used ? none() : close_machine(module, unused);
}

static PyObject *version(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    return PyUnicode_FromString(qs_version());
}

static PyObject *is_open(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    return PyBool_FromLong(qbridge.host != NULL);
}

/* Returns the running built-in of any thread: (number of this call, name, fraction done or None); None: there is none.
 * Does not enter the VM. */
static PyObject *get_progress(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    Border *b = qgil_host();
    PyObject *r = NULL;
    if (b && b->vm) {
        const Doing *d = &qvm_ctx(b->vm)->doing;
        const char *name = atomic_load(&d->name);
        double part = (double)qdoing_part(d);
        if (name)
            r = Py_BuildValue("(IsN)", atomic_load(&d->serial), name, part < 0 ? none() : PyFloat_FromDouble(part));
    }
    if (b) qborder_release(b);
    return r || PyErr_Occurred() ? r : none();
}

/* Returns the arguments of init for a VM like the one that is open, which a script may have opened; None: none is
 * open. */
static PyObject *get_settings(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    Border *b = qbridge.host ? qhost_enter("settings") : NULL;
    if (!b) return PyErr_Clear(), none();
    const qs_config *c = &qvm(b->vm)->config;
    PyObject *all = PyDict_New();
    for (const Option *o = qoptions; all && o < qoptions + qoptions_count; o++) {
        if (!(o->uses & USE_PYTHON)) continue;
        PyObject *x = get_option(o, c);
        if (!x || PyDict_SetItemString(all, o->name, x) < 0) Py_CLEAR(all);
        Py_XDECREF(x);
    }
    return qgil_result(b, all);
}

/* Called in the child of a fork. */
static PyObject *forked(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    qgil_forked();
    if (!qbridge.host) forget_names();
    return none();
}

Border *qhost_enter(const char *what) {
    Border *b = qgil_host();
    if (!b) {
        PyErr_Format(qbridge.closed, "%s: call pyquasar.init first, as in init(\"cpu\")", what);
        return NULL;
    }
    int r = qgil_enter(b); /* from here on it cannot be closed */
    qborder_release(b);
    return r < 0 ? NULL : b;
}

/* -- compiling ----------------------------------------------------------------------------------------------------- */

/* (name, text) */
static PyObject *load_text(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *name, *text;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "sy#", &name, &text, &n)) return NULL;
    Border *b = qhost_enter("compile");
    if (!b) return NULL;
    int before = qgil_work(b);
    qs_status s = qs_load(b->vm, name, text, (size_t)n);
    qgil_rest(b, before);
    forget_names();
    return qgil_result(b, s == QS_OK ? none() : qerror_raise(b, s));
}

/* (name): imports a compiled library; returns the name of its module, or None if its functions are built in. */
static PyObject *import_native(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *name;
    char path[PATH_MAX];
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    Border *b = qhost_enter("import_native");
    if (!b) return NULL;
    int before = qgil_work(b);
    qs_status s = qmod_import_native(b->vm, name, path);
    qgil_rest(b, before);
    forget_names();
    if (s != QS_OK) return qgil_result(b, qerror_raise(b, s));
    return qgil_result(b, path[0] ? PyUnicode_DecodeFSDefault(path) : none());
}

typedef struct {
    PyObject *list;
} Texts;

static void add_text(void *ud, const char *path, const char *text, size_t n) {
    Texts *t = ud;
    PyObject *pair = t->list ? Py_BuildValue("(sy#)", path, text, (Py_ssize_t)n) : NULL;
    if (!pair || PyList_Append(t->list, pair) < 0) Py_CLEAR(t->list);
    Py_XDECREF(pair);
}

/* (module): returns [(path, text)] of its imports and, last, of itself; None: there is no such module. */
static PyObject *list_texts(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    Border *b = qhost_enter("pickle");
    if (!b) return NULL;
    Texts t = {PyList_New(0)};
    bool found = qmovelaunch_each(b->vm, name, add_text, &t);
    if (!found && t.list) Py_DECREF(t.list), t.list = none();
    return qgil_result(b, t.list);
}

/* (value): returns the name of the module that defines it, or None. */
static PyObject *find_home(PyObject *Py_UNUSED(module), PyObject *o) {
    if (!qwrapper_check(o)) return PyErr_SetString(PyExc_TypeError, "a value of the language is wanted"), NULL;
    Border *b = qhost_enter("pickle");
    if (!b) return NULL;
    const char *name = qmovelaunch_home(b->vm, qwrapper_value(o));
    return qgil_result(b, name ? qpy_string(name, strlen(name)) : none());
}

/* (path, text): registers an imported file as another process had it. */
static PyObject *take_text(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *path, *text;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "sy#", &path, &text, &n)) return NULL;
    Border *b = qhost_enter("unpickle");
    if (!b) return NULL;
    qs_status s = qmovelaunch_take(b->vm, path, text, (size_t)n);
    return qgil_result(b, s == QS_OK ? none() : qerror_raise(b, s));
}

/* (path): returns the local path of a library file that had this path in another process; None: there is none. */
static PyObject *find_library(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *path, *here;
    char found[PATH_MAX];
    if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
    Border *b = qhost_enter("unpickle");
    if (!b) return NULL;
    here = qmovelaunch_library(b->vm, path, found);
    return qgil_result(b, here ? qpy_string(here, strlen(here)) : none());
}

static PyObject *evaluate(PyObject *Py_UNUSED(module), PyObject *text) {
    qs_value v = qs_nil();
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    char *source;
    bool whole = bytes && PyBytes_AsStringAndSize(bytes, &source, NULL) == 0; /* otherwise a NUL would truncate it */
    Border *b = whole ? qhost_enter("evaluate") : NULL;
    if (!b) return Py_XDECREF(bytes), NULL;
    int before = qgil_work(b);
    qs_status s = qs_eval(b->vm, source, &v);
    qgil_rest(b, before);
    Py_DECREF(bytes);
    forget_names();
    return qgil_result(b, s == QS_OK ? qpy_give(b, v) : qerror_raise(b, s));
}

/* (name, x): defines a variable of the session */
static PyObject *define(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *name;
    PyObject *x;
    qs_value v;
    if (!PyArg_ParseTuple(args, "sO", &name, &x)) return NULL;
    Border *b = qhost_enter("define");
    if (!b) return NULL;
    qs_status s = qnd_value(b, x, &v);
    if (s != QS_OK) return qgil_result(b, qerror_raise(b, s));
    s = qs_set_global(b->vm, name, v);
    qs_release(b->vm, v);
    forget_names();
    return qgil_result(b, s == QS_OK ? none() : qerror_raise(b, s));
}

/* -- names --------------------------------------------------------------------------------------------------------- */

/* Returns whether the value is a type, or a function under its own name: only compiling can then change the name's
 * meaning. */
static bool is_lasting(qs_value v, const char *name) {
    if (v.kind == QS_TYPE) return true;
    const Function *f = v.kind == QS_FUNCTION ? v.u.p : NULL;
    return f && f->name && f->fkind != FN_FOREIGN && !(f->fkind == FN_SCRIPT && f->ast->is_lambda) &&
           strcmp(f->name->s, name) == 0;
}

/* Raises the exception for an undefined name.  Its message is computed when it is read, which hasattr does not. */
static PyObject *raise_unknown(const char *name) {
    PyObject *e = qbridge_support("unknown_name", "(s)", name);
    if (e) PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    Py_XDECREF(e);
    return NULL;
}

/* Returns the message of that exception. */
static PyObject *explain_unknown(PyObject *Py_UNUSED(module), PyObject *name) {
    const char *s = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    Border *b = s ? qhost_enter(s) : NULL;
    qs_value v;
    if (!b) return NULL;
    qs_status status = qvm_lookup(b->vm, s, &v);
    if (status == QS_OK) qs_release(b->vm, v);
    PyObject *r = status == QS_OK ? PyUnicode_FromFormat("unknown name %s", s) : PyUnicode_FromString(qs_error(b->vm));
    qs_error_clear(b->vm);
    return qgil_result(b, r);
}

/* Finds a variable, function or type; if there is none, reports the error of the variable lookup. */
static qs_status find_name(qs_vm *vm, const char *module, const char *name, qs_value *out) {
    const Type *t;
    TypeMods mods = {0};
    if (!module && !qvm_knows(vm, name) && !qvm_autoloads(vm, name)) {
        qs_status s = qvm_type_named(vm, name, strlen(name), &t, &mods);
        if (s == QS_OK) *out = qobj_type(vm, t, mods);
        else qs_error_clear(vm);
        return s == QS_OK ? QS_OK : QS_ENAME; /* no error is set; see raise_unknown */
    }
    qs_status s = module ? qvm_lookup_in(vm, module, name, out) : qvm_lookup(vm, name, out);
    if (s != QS_ENAME) return s;
    ErrorState unknown = qvm_ctx(vm)->err;
    qs_error_clear(vm);
    if (qvm_type_named(vm, name, strlen(name), &t, &mods) == QS_OK) return *out = qobj_type(vm, t, mods), QS_OK;
    qs_error_clear(vm);
    qvm_ctx(vm)->err = unknown;
    return s;
}

static const char *plain_name(PyObject *name) { /* names that begin with _ belong to Python */
    const char *s = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (s && *s != '_') return s;
    if (!PyErr_Occurred()) PyErr_Format(PyExc_AttributeError, "module 'pyquasar' has no attribute %R", name);
    return NULL;
}

static PyObject *attribute(PyObject *Py_UNUSED(module), PyObject *name) {
    const char *s = plain_name(name);
    Border *b = s ? qhost_enter(s) : NULL;
    qs_value v;
    if (!b) return NULL;
    qs_status status = find_name(b->vm, NULL, s, &v);
    if (status == QS_ENAME && !qs_error(b->vm)) return qgil_result(b, raise_unknown(s));
    if (status != QS_OK) return qgil_result(b, qerror_raise(b, status));
    bool keep = is_lasting(v, s) && !is_taken(name, v);
    PyObject *r = qpy_give(b, v);
    if (r && keep) keep_name(name, r);
    return qgil_result(b, r);
}

/* Returns a built-in function, even if a program redefines its name. */
static PyObject *built_in(PyObject *Py_UNUSED(module), PyObject *name) {
    const char *s = plain_name(name);
    Border *b = s ? qhost_enter(s) : NULL;
    qs_value v;
    if (!b) return NULL;
    qs_status status = qvm_lookup_builtin(b->vm, s, &v);
    return qgil_result(b, status == QS_OK ? qpy_give(b, v) : qerror_raise(b, status));
}

/* (module, name[, dict that caches functions until something is compiled]) */
static PyObject *attribute_in(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *in, *name;
    PyObject *dict = NULL;
    qs_value v;
    if (!PyArg_ParseTuple(args, "ss|O", &in, &name, &dict)) return NULL;
    Border *b = qhost_enter(name);
    if (!b) return NULL;
    qs_status s = find_name(b->vm, in, name, &v);
    if (s != QS_OK) return qgil_result(b, qerror_raise(b, s));
    bool keep = dict && is_lasting(v, name);
    PyObject *r = qpy_give(b, v);
    if (r && keep) keep_in_module(dict, name, r);
    return qgil_result(b, r);
}

/* (module, name, x) */
static PyObject *assign_in(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *in, *name;
    PyObject *x;
    qs_value v;
    if (!PyArg_ParseTuple(args, "ssO", &in, &name, &x)) return NULL;
    Border *b = qhost_enter(name);
    if (!b) return NULL;
    qs_status s = qnd_kept(b, x, NULL, &v);
    if (s == QS_OK) {
        s = qvm_assign_in(b->vm, in, name, v);
        qs_release(b->vm, v);
    }
    return qgil_result(b, s == QS_OK ? none() : qerror_raise(b, s));
}

/* (name, x): assigns a variable of a program; returns whether there is one.  Functions and built-ins do not count. */
static PyObject *assign_variable(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *name;
    PyObject *x;
    qs_value v;
    if (!PyArg_ParseTuple(args, "sO", &name, &x)) return NULL;
    Border *b = qbridge.host ? qhost_enter(name) : (PyErr_Clear(), NULL);
    if (!b || !qvm_is_variable(b->vm, name)) return b && qgil_leave(b) < 0 ? NULL : PyBool_FromLong(0);
    qs_status s = qnd_kept(b, x, NULL, &v);
    if (s == QS_OK) {
        s = qvm_assign_in(b->vm, NULL, name, v);
        qs_release(b->vm, v);
    }
    return qgil_result(b, s == QS_OK ? PyBool_FromLong(1) : qerror_raise(b, s));
}

static void add_name(void *list, const char *name) {
    PyObject *s = qpy_string(name, strlen(name));
    if (s) PyList_Append(list, s);
    Py_XDECREF(s);
}

/* (module or None): lists the names of a module, or all names; empty without a VM. */
static PyObject *list_names(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *in;
    if (!PyArg_ParseTuple(args, "z", &in)) return NULL;
    PyObject *list = PyList_New(0);
    Border *b = list && qbridge.host ? qhost_enter("names") : NULL;
    if (!b) return list;
    qvm_each_name(b->vm, in, add_name, list);
    return qgil_result(b, list);
}

/* -- values and types ---------------------------------------------------------------------------------------------- */

/* Converts x with the given conversion function. */
static PyObject *convert_with(const char *what, PyObject *x, qs_status (*make)(Border *, PyObject *, qs_value *)) {
    Border *b = qhost_enter(what);
    qs_value v;
    if (!b) return NULL;
    qs_status s = make(b, x, &v);
    if (s != QS_OK) return qgil_result(b, qerror_raise(b, s));
    PyObject *r = v.kind == QS_FUNCTION ? qpy_from_value(b, v) : qvalue_new(b, v);
    qs_release(b->vm, v);
    return qgil_result(b, r);
}

/* Converts an array without dimensions to one on the same memory. */
static qs_status take_point(Border *b, PyObject *x, qs_value *out) {
    PyObject *line = PyObject_CallMethod(x, "reshape", "i", 1);
    qgil_back(b);
    if (!line) return qerror_take(b);
    qs_status s = qnd_value(b, line, out);
    Py_DECREF(line);
    Array *a = s == QS_OK && out->kind == QS_ARRAY ? out->u.p : NULL, *point;
    if (!a) return s;
    s = qarr_view(b->vm, a, 0, NULL, NULL, a->offset, &point);
    qarr_release(b->vm, a);
    if (s == QS_OK) *out = qarr_value(point);
    return s;
}

static qs_status take_value(Border *b, PyObject *x, qs_value *out) {
    bool point = qnd_is_point(b, x);
    qgil_back(b);
    return point ? take_point(b, x, out) : qnd_value(b, x, out);
}

static PyObject *make_value(PyObject *Py_UNUSED(module), PyObject *x) { return convert_with("value", x, take_value); }

/* Uses NumPy's structure or the C functions of the type if possible, which is much faster than a capsule. */
static qs_status take_here(Border *b, PyObject *x, qs_value *out) {
    qs_status s;
    if (qnd_borrow(b, x, out, &s)) return s;
    if (!qdl_borrow(b, x, true, out, &s)) return qdl_take(b, x, false, out);
    if (s == QS_OK && out->kind == QS_ARRAY) return qdl_hold(b, *out), QS_OK;
    if (s == QS_OK) qs_release(b->vm, *out); /* without dimensions it was converted to a number */
    else qs_error_clear(b->vm);              /* the error of qdl_take is more informative */
    return qdl_take(b, x, false, out);
}
static qs_status take_copy(Border *b, PyObject *x, qs_value *out) {
    qs_value v;
    Array *copy;
    TRY(qdl_take(b, x, true, &v));
    int before = qgil_work(b);
    qs_status s = qarr_copy(b->vm, v.u.p, &copy);
    qgil_rest(b, before);
    qs_release(b->vm, v);
    if (s == QS_OK) *out = qarr_value(copy);
    return s;
}

/* (x, whether to copy) */
static PyObject *from_dlpack(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *x;
    int copy;
    return PyArg_ParseTuple(args, "Op", &x, &copy) ? convert_with("from_dlpack", x, copy ? take_copy : take_here)
                                                   : NULL;
}

/* Converts x like an argument of a function, so that the same objects are rejected. */
static qs_status borrow_described(Border *b, PyObject *x, qs_value *out) {
    TRY(qnd_argument(b, x, qs_nil(), 0, out));
    if (out->kind != QS_FOREIGN) return qdl_hold(b, *out), QS_OK;
    qs_release(b->vm, *out);
    PyErr_Format(PyExc_TypeError, "descriptor: %R has no memory to be used", Py_TYPE(x));
    return qerror_take(b);
}

static PyObject *descriptor(PyObject *Py_UNUSED(module), PyObject *x) {
    return convert_with("descriptor", x, borrow_described);
}

/* Borrows memory for one call of a function that must not write to it. */
static qs_status borrow_readonly(Border *b, PyObject *x, qs_value *out) {
    TRY(borrow_described(b, x, out));
    if (out->kind == QS_ARRAY) qval_array(*out)->buf->readonly = true;
    return QS_OK;
}

static PyObject *lent(PyObject *Py_UNUSED(module), PyObject *x) { return convert_with("torch_op", x, borrow_readonly); }

/* Borrows memory that its owner takes back after the call. */
static qs_status borrow_until(Border *b, PyObject *x, qs_value *out) {
    TRY(borrow_readonly(b, x, out));
    Buffer *memory = out->kind == QS_ARRAY ? qval_array(*out)->buf : NULL;
    if (memory && memory->foreign) memory->lent = true;
    return QS_OK;
}

/* Returns the value twice; the second is for take_back. */
static PyObject *lent_until(PyObject *Py_UNUSED(module), PyObject *x) {
    PyObject *v = convert_with("jax_op", x, borrow_until), *r = v ? PyTuple_New(2) : NULL;
    PyObject *again = r && qvalue_check(v) ? qvalue_new(((Wrapper *)v)->border, qwrapper_value(v)) : NULL;
    if (!again) return Py_XDECREF(v), Py_XDECREF(r), NULL;
    PyTuple_SetItem(r, 0, v), PyTuple_SetItem(r, 1, again);
    return r;
}

static qs_status end_loan(Border *b, PyObject *w) {
    Array *a = qvalue_check(w) && qwrapper_value(w).kind == QS_ARRAY ? qval_array(qwrapper_value(w)) : NULL;
    bool used = a && a->buf->lent && (a->hdr.refs > 1 || qbuf_shared(a->buf));
    return used ? qbuf_part(qvm_ctx(b->vm), a->buf) : QS_OK;
}

/* Ends the loans.  Values that still use the memory, including slices, get a copy of their own. */
static PyObject *take_back(PyObject *Py_UNUSED(module), PyObject *loans) {
    Border *b = qhost_enter("jax_op");
    qs_status s = QS_OK;
    if (!b) return NULL;
    for (Py_ssize_t i = 0; i < PyList_Size(loans); i++) {
        qs_status own = end_loan(b, PyList_GetItem(loans, i));
        if (s == QS_OK) s = own;
    }
    return qgil_result(b, s == QS_OK ? (Py_INCREF(Py_None), Py_None) : qerror_raise(b, s));
}

static qs_status fill_array(qs_vm *vm, Array *a, const char *bytes, Py_ssize_t n) {
    void *p;
    if ((size_t)n != a->count * qdtype_size((qs_dtype)a->dtype))
        return qs_fail(vm, QS_EVALUE, "%zd bytes do not make an array of %zu elements", n, a->count);
    TRY(qarr_write(vm, a, &p));
    memcpy(p, bytes, (size_t)n);
    return qarr_settle(vm, a);
}

/* (element type, shape, bytes or None): returns an array of exactly this shape. */
static PyObject *array_of_bytes(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *name, *bytes;
    PyObject *shape;
    Py_ssize_t n;
    int64_t dims[QS_MAX_RANK];
    Array *a;
    int d, rank;
    if (!PyArg_ParseTuple(args, "sOz#", &name, &shape, &bytes, &n) || (rank = qnd_of_tuple(shape, dims)) < 0)
        return NULL;
    if ((d = qnd_named(name)) == QS_NDTYPES) return PyErr_Format(PyExc_TypeError, "there is no element type %s", name);
    Border *b = qhost_enter("array");
    if (!b) return NULL;
    qs_status s = qarr_new(b->vm, (qs_dtype)d, rank, dims, !bytes, &a);
    if (s != QS_OK) return qgil_result(b, qerror_raise(b, s));
    if (bytes) s = fill_array(b->vm, a, bytes, n);
    PyObject *r = s == QS_OK ? qvalue_new(b, qarr_value(a)) : qerror_raise(b, s);
    qarr_release(b->vm, a);
    return qgil_result(b, r);
}

static PyObject *type_named(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *text;
    Py_ssize_t n;
    const Type *t;
    TypeMods mods = {0};
    if (!PyArg_ParseTuple(args, "s#", &text, &n)) return NULL;
    Border *b = qhost_enter("typename");
    if (!b) return NULL;
    qs_status s = qvm_type_named(b->vm, text, (size_t)n, &t, &mods);
    if (s != QS_OK) return qgil_result(b, qerror_raise(b, s));
    qs_value v = qobj_type(b->vm, t, mods);
    PyObject *r = qvalue_new(b, v);
    qs_release(b->vm, v);
    return qgil_result(b, r);
}

/* -- devices and memory -------------------------------------------------------------------------------------------- */

/* _drawing(f, arguments): returns (f(*arguments), whether this thread drew random numbers meanwhile), to detect whether
 * another run of f would give the same result. */
static PyObject *drawing(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *f, *x;
    if (!PyArg_ParseTuple(args, "OO!", &f, &PyTuple_Type, &x)) return NULL;
    Border *b = qhost_enter("random numbers");
    if (!b) return NULL;
    uint64_t before = qvm(b->vm)->random_took;
    qgil_outside(b);
    PyObject *y = PyObject_CallObject(f, x);
    qgil_back(b);
    bool drew = qvm(b->vm)->random_took != before;
    return qgil_result(b, y ? Py_BuildValue("(NO)", y, drew ? Py_True : Py_False) : NULL);
}

/* [(name, type, memory, whether kernels run there, ordinal, memory limit, maximum block size)] */
static PyObject *devices(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    Border *b = qhost_enter("devices");
    qs_device_info d;
    PyObject *list = b ? PyList_New(0) : NULL;
    for (int i = 0; list && qs_device(b->vm, i, &d); i++) {
        const Device *x = &qvm(b->vm)->devices[i];
        PyObject *o =
            Py_BuildValue("(ssnOini)", d.name, d.kind, (Py_ssize_t)d.memory, d.default_device ? Py_True : Py_False,
                          x->ordinal, (Py_ssize_t)x->limit, (int)x->max_block);
        if (!o || PyList_Append(list, o) < 0) Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return b ? qgil_result(b, list) : NULL;
}

/* With a GPU, copies by its driver, which distinguishes host and device addresses. */
static PyObject *move_memory(Border *b, void *to, const void *from, size_t n) {
    Device *d = qgpu_first(b);
    if (!d) return memcpy(to, from, n), none();
    qs_status s = d->ops->sharing->move(d, (uintptr_t)to, (uintptr_t)from, n);
    return s == QS_OK ? none() : qerror_raise(b, s);
}

/* (destination, source, bytes), like memcpy in C. */
static PyObject *copy_memory(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *dst, *src;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "OOn:memcpy", &dst, &src, &n)) return NULL;
    void *to = PyLong_AsVoidPtr(dst), *from = PyErr_Occurred() ? NULL : PyLong_AsVoidPtr(src);
    if (PyErr_Occurred()) return NULL;
    if (n < 0 || (n > 0 && (!to || !from)))
        return PyErr_SetString(PyExc_ValueError, "memcpy: addresses and a number of bytes >= 0 are wanted"), NULL;
    Border *b = qhost_enter("memcpy");
    return b ? qgil_result(b, move_memory(b, to, from, (size_t)n)) : NULL;
}

PyMethodDef qhost_functions[] = {
    {"_version", version, METH_NOARGS, NULL},
    {"_open", open_machine, METH_O, NULL},
    {"_check_options", check_options, METH_O, NULL},
    {"_close", close_machine, METH_NOARGS, NULL},
    {"_is_open", is_open, METH_NOARGS, NULL},
    {"_doing", get_progress, METH_NOARGS, NULL},
    {"_settings", get_settings, METH_NOARGS, NULL},
    {"_end", end_machine, METH_NOARGS, NULL},
    {"_forked", forked, METH_NOARGS, NULL},
    {"_load", load_text, METH_VARARGS, NULL},
    {"_import_native", import_native, METH_VARARGS, NULL},
    {"_evaluate", evaluate, METH_O, NULL},
    {"_texts", list_texts, METH_VARARGS, NULL},
    {"_home", find_home, METH_O, NULL},
    {"_carry", take_text, METH_VARARGS, NULL},
    {"_library", find_library, METH_VARARGS, NULL},
    {"_define", define, METH_VARARGS, NULL},
    {"_attribute", attribute, METH_O, NULL},
    {"_built_in", built_in, METH_O, NULL},
    {"_unknown", explain_unknown, METH_O, NULL},
    {"_attribute_in", attribute_in, METH_VARARGS, NULL},
    {"_assign", assign_variable, METH_VARARGS, NULL},
    {"_assign_in", assign_in, METH_VARARGS, NULL},
    {"_names", list_names, METH_VARARGS, NULL},
    {"_devices", devices, METH_NOARGS, NULL},
    {"value", make_value, METH_O,
     "value(x, /)\n--\n\nx as a value of the language: an array of the same memory, of a list of numbers what [...] "
     "makes, of "
     "any other list a cell."},
    {"descriptor", descriptor, METH_O,
     "descriptor(x, /)\n--\n\nThe memory of an array or tensor as an argument for many calls, looked at once; never a "
     "copy."},
    {"_lent", lent, METH_O, NULL},
    {"_drawing", drawing, METH_VARARGS, NULL},
    {"_lent_until", lent_until, METH_O, NULL},
    {"_take_back", take_back, METH_O, NULL},
    {"_from_dlpack", from_dlpack, METH_VARARGS, NULL},
    {"_array", array_of_bytes, METH_VARARGS, NULL},
    {"_typename", type_named, METH_VARARGS, NULL},
    {"memcpy", copy_memory, METH_VARARGS,
     "memcpy(dst, src, n, /)\n--\n\nCopies n bytes between two addresses, of the host or of a CUDA device that is "
     "open."},
    {NULL, NULL, 0, NULL},
};
