/* bridge.c -- opens and closes the bridge: Python for a VM, the C module for Python, and their common parts. */
#include "bridge/bridge.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Bridge qbridge;

PyObject *qbridge_support(const char *name, const char *format, ...) {
    va_list ap;
    PyObject *f = PyObject_GetAttrString(qbridge.support, name), *args, *r = NULL;
    va_start(ap, format);
    args = f ? Py_VaBuildValue(format, ap) : NULL;
    va_end(ap);
    if (args) r = PyObject_CallObject(f, args);
    Py_XDECREF(args);
    Py_XDECREF(f);
    return r;
}

/* -- Border objects ------------------------------------------------------------------------------------------------ */

void qborder_release(Border *b) {
    if (--b->refs > 0) return;
    free(b->dropped);
    free(b);
}

Border *qbridge_border(qs_vm *vm, bool inside) {
    if (border_of(vm)) return border_of(vm);
    Border *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->vm = vm;
    b->refs = 1;
    b->many = MANY_WRAPPERS;
    b->wrappers.prev = b->wrappers.next = &b->wrappers;
    qvm(vm)->border = b;
    qgil_start(b, inside);
    return b;
}

static void forget_names(Border *b) {
    for (int i = 0; i < NAME_SLOTS; i++) Py_CLEAR(b->names[i].name);
    for (int i = 0; i < TUPLE_SLOTS; i++) Py_CLEAR(b->tuples[i].tuple);
}

/* Empties a wrapper: Python may keep the wrapper, but not its value. */
static bool empty_wrapper(Border *b, qs_value *v) {
    qgil_lock();
    Wrapper *w = b->wrappers.next;
    bool any = w != &b->wrappers;
    if (any) {
        w->prev->next = w->next;
        w->next->prev = w->prev;
        w->prev = w->next = NULL;
        *v = w->v;
        w->v = qs_nil();
    }
    qgil_unlock();
    return any;
}

static void empty_wrappers(Border *b) {
    ALONE;
    qs_value v;
    while (empty_wrapper(b, &v)) qgil_release(b, v);
}

/* -- built-ins ----------------------------------------------------------------------------------------------------- */

static qs_status import_module(qs_vm *vm, qs_call_args *c) {
    Border *b = border_of(vm);
    size_t n;
    const char *name = qs_to_string(c->in[0], &n);
    if (!name) return qs_fail(vm, QS_ETYPE, "pyimport: name must be a string, got %s", qval_type_name(vm, c->in[0]));
    TRY(qgpu_lend(b));
    qgil_outside(b);
    return qpy_result(b, PyImport_ImportModule(name), &c->out[0]);
}

/* Returns a Python object without converting it back. */
static qs_status keep_object(Border *b, PyObject *o, qs_value *out) {
    qgil_back(b);
    if (!o) return qerror_take(b);
    *out = qpyvalue_new(b->vm, o);
    return QS_OK;
}

static qs_status to_py(qs_vm *vm, qs_call_args *c) {
    Border *b = qgil_border(vm);
    qs_value v = c->in[0];
    PyObject *o;
    if (v.kind == QS_ARRAY) o = qnd_from_array(b, v.u.p);
    else if (v.kind == QS_NUM) o = PyFloat_FromDouble(v.u.f);
    else o = qpy_pass(b, v);
    return keep_object(b, o, &c->out[0]);
}

static qs_status from_py(qs_vm *vm, qs_call_args *c) {
    Border *b = qgil_border(vm);
    PyObject *o = qpyvalue_get(c->in[0]);
    if (!o) return c->out[0] = qval_retain(c->in[0]), QS_OK;
    return qnd_import(b, o, &c->out[0]);
}

static PyObject *to_int(Border *b, qs_value v) {
    PyObject *o, *r;
    if (v.kind == QS_NUM) return PyLong_FromDouble(v.u.f);
    if (v.kind == QS_ARRAY) return qnd_integers(b, v.u.p);
    if (v.kind == QS_STRING) return PyLong_FromString(((Str *)v.u.p)->s, NULL, 10);
    if (v.kind == QS_BOOL) return PyLong_FromLong(v.u.i != 0);
    o = qpy_from_value(b, v);
    r = o ? PyNumber_Long(o) : NULL;
    Py_XDECREF(o);
    return r;
}

static qs_status make_int(qs_vm *vm, qs_call_args *c) {
    Border *b = qgil_border(vm);
    return keep_object(b, to_int(b, c->in[0]), &c->out[0]);
}

/* Converts an array to elements of type d. */
static PyObject *convert_elements(Border *b, Array *a, qs_dtype d) {
    Array *r;
    qs_status s = qarr_convert(b->vm, a, d, &r);
    if (s != QS_OK) return qerror_raise(b, s);
    PyObject *o = qnd_from_array(b, r);
    qarr_release(b->vm, r);
    return o;
}

static PyObject *to_bool(Border *b, qs_value v) {
    if (v.kind == QS_ARRAY) return convert_elements(b, v.u.p, QS_B1);
    PyObject *o = qpy_from_value(b, v);
    int t = o ? PyObject_IsTrue(o) : -1;
    Py_XDECREF(o);
    return t < 0 ? NULL : PyBool_FromLong(t);
}

static qs_status make_bool(qs_vm *vm, qs_call_args *c) {
    Border *b = qgil_border(vm);
    return keep_object(b, to_bool(b, c->in[0]), &c->out[0]);
}

static PyObject *to_float(Border *b, qs_value v) {
    if (qval_is_number(v)) return PyFloat_FromDouble(qval_number(v));
    if (v.kind == QS_ARRAY) return convert_elements(b, v.u.p, QS_F64);
    PyObject *o = qpy_from_value(b, v), *r = o ? PyNumber_Float(o) : NULL;
    Py_XDECREF(o);
    return r;
}

static qs_status make_float(qs_vm *vm, qs_call_args *c) {
    Border *b = qgil_border(vm);
    return keep_object(b, to_float(b, c->in[0]), &c->out[0]);
}

static qs_status make_string(qs_vm *vm, qs_call_args *c) {
    qs_value text;
    size_t n;
    TRY(qs_format(vm, c->in[0], &text));
    const char *s = qs_to_string(text, &n);
    Border *b = qgil_border(vm);
    qs_status status = keep_object(b, qpy_string(s, n), &c->out[0]);
    qs_release(vm, text);
    return status;
}

static qs_status make_function(qs_vm *vm, qs_call_args *c) {
    PyObject *o = qpyvalue_get(c->in[0]);
    qgil_here(border_of(vm));
    if (c->in[0].kind != QS_FUNCTION && (!o || !PyCallable_Check(o)))
        return qs_fail(vm, QS_ETYPE, "pyfunc: f must be a Python object that can be called, got %s",
                       qval_type_name(vm, c->in[0]));
    c->out[0] = o ? qpyvalue_function(vm, c->in[0]) : qval_retain(c->in[0]);
    return QS_OK;
}

static qs_status version(qs_vm *vm, qs_call_args *c) {
    const char *s = Py_GetVersion();
    return qs_string(vm, s, strcspn(s, "\n"), &c->out[0]);
}

/* -- help and completion at the prompt ----------------------------------------------------------------------------- */

static qs_status ask_support(qs_vm *vm, const char *what, qs_value v, const char *path, qs_value *out) {
    Border *b = qgil_border(vm);
    PyObject *o = qpyvalue_get(v), *text = o ? qbridge_support(what, "(Os)", o, path) : NULL;
    qgil_back(b);
    if (!o) return qs_fail(vm, QS_ETYPE, "no Python object");
    return text ? qpy_text(b, text, out) : qerror_take(b);
}

static qs_status members(qs_vm *vm, qs_value v, const char *path, qs_value *out) {
    return ask_support(vm, "members", v, path, out);
}
static qs_status describe_member(qs_vm *vm, qs_value v, const char *path, qs_value *out) {
    return ask_support(vm, "description", v, path, out);
}

/* -- interrupts ---------------------------------------------------------------------------------------------------- */

static void interrupt(void) { PyErr_SetInterrupt(); }

/* Clears the interrupt that Python has also received. */
static void forget_interrupt(qs_vm *vm) {
    qgil_here(border_of(vm));
    if (PyErr_CheckSignals() < 0) PyErr_Clear();
}

/* -- shutdown ------------------------------------------------------------------------------------------------------ */

static void finalize(void) {
    if (qbridge.borders) return; /* exit() was called while a program runs */
    PyGILState_Ensure();
    qbridge.finished = true;
    Py_FinalizeEx();
}

/* Hands the ownership of Python from a closing VM to another VM of the same thread.  false: there is none. */
static bool has_heir(void) {
    Border *b = qbridge.borders;
    pthread_t me = pthread_self();
    while (b && (b->hosted || b->gil != GIL_OF_OTHERS || !b->threads->depth || !pthread_equal(b->owner, me)))
        b = b->next;
    return b && (b->gil = GIL_STARTED);
}

/* Returns how this thread got the GIL and clears it in b, because b belongs to another thread once the GIL is
 * released. */
static enum Gil take_gil_state(Border *b) {
    enum Gil gil = b->gil == GIL_STARTED && has_heir() ? GIL_OF_OTHERS : b->gil;
    b->gil = GIL_OF_OTHERS;
    return gil;
}

/* Releases the GIL if the bridge acquired it. */
static void release_gil(enum Gil gil) {
    if (gil == GIL_ENSURED) PyGILState_Release(PyGILState_UNLOCKED);
    if (gil == GIL_STARTED) PyEval_SaveThread();
}

static qs_status attach(qs_vm *vm, PythonTurn *turn) {
    Border *b = border_of(vm);
    turn->gil = (int)PyGILState_Ensure();
    if (qgil_enter(b) < 0) {
        PyErr_Clear();
        PyGILState_Release((PyGILState_STATE)turn->gil);
        return QS_ENOMEM;
    }
    turn->works = qgil_work(b);
    return turn->on = true, QS_OK;
}

static void detach(qs_vm *vm, const PythonTurn *turn) {
    Border *b = border_of(vm);
    qgil_rest(b, turn->works);
    if (qgil_leave(b) < 0) PyErr_WriteUnraisable(NULL);
    if (turn->on) PyGILState_Release((PyGILState_STATE)turn->gil);
    else release_gil(take_gil_state(b));
}

static void forget_host(void) {
    qgil_lock();
    qbridge.host = NULL;
    qgil_unlock();
}

static void close_border(qs_vm *vm) {
    Border *b = qgil_border(vm);
    qgil_hold(b);
    qwritten_report(b);
    if (qbridge.ours && qbridge.host == b) {
        PyObject *r = qbridge_support("end", "()");
        Py_XDECREF(r);
        PyErr_Clear();
        qgil_back(b);
    }
    qgil_stop(b);
    qnd_keep_exports(b);
    empty_wrappers(b);
    if (qbridge.host == b) forget_host();
}

static void closed(qs_vm *vm) {
    static bool registered;
    Border *b = border_of(vm);
    forget_names(b);
    qgil_stopped(b);
    enum Gil gil = take_gil_state(b);
    qborder_release(b);
    qvm(vm)->border = NULL;
    /* Runs before the libraries that Python loaded are unloaded. */
    if (qbridge.ours && !registered) registered = !atexit(finalize);
    release_gil(gil);
}

static const Python table = {
    .size = sizeof(Python),
    .import = import_module,
    .to_py = to_py,
    .from_py = from_py,
    .make_int = make_int,
    .make_bool = make_bool,
    .make_float = make_float,
    .make_string = make_string,
    .make_function = make_function,
    .version = version,
    .unblock = qgil_unblock,
    .block = qgil_block,
    .yield = qgil_yield,
    .interrupt = interrupt,
    .forget_interrupt = forget_interrupt,
    .release_vm = qgil_release_vm,
    .acquire_vm = qgil_acquire_vm,
    .serve_windows = qgil_serve_windows,
    .members = members,
    .describe = describe_member,
    .hint = qerror_hint,
    .attach = attach,
    .detach = detach,
    .collect = qcycles_collect,
    .close = close_border,
    .closed = closed,
};

void qbridge_attach(qs_vm *vm) { qvm(vm)->python = &table; }

/* -- redirection of Python's output -------------------------------------------------------------------------------- */

static PyObject *write_text(const char *s, size_t n) {
    if (qbridge.host && qgil_enter(qbridge.host) == 0) {
        qvm_write(qbridge.host->vm, s, n);
        qgil_leave(qbridge.host);
    } else {
        PyErr_Clear();
        fwrite(s, 1, n, stdout);
    }
    return Py_INCREF(Py_None), Py_None;
}

static PyObject *output_write(PyObject *Py_UNUSED(module), PyObject *text) {
    Py_ssize_t n;
    char *s;
    if (!PyUnicode_Check(text)) return PyErr_SetString(PyExc_TypeError, "write() argument must be str"), NULL;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &n);
    Py_ssize_t length = PyUnicode_GetLength(text);
    if (utf8) return Py_XDECREF(write_text(utf8, (size_t)n)), PyLong_FromSsize_t(length);
    PyErr_Clear();
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (!bytes || PyBytes_AsStringAndSize(bytes, &s, &n) < 0) return Py_XDECREF(bytes), NULL;
    Py_XDECREF(write_text(s, (size_t)n));
    Py_DECREF(bytes);
    return PyLong_FromSsize_t(length);
}

static PyObject *output_write_bytes(PyObject *Py_UNUSED(module), PyObject *bytes) {
    char *s;
    Py_ssize_t n;
    return PyBytes_AsStringAndSize(bytes, &s, &n) < 0 ? NULL : write_text(s, (size_t)n);
}

static PyObject *output_flush(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    if (qbridge.host && qgil_enter(qbridge.host) == 0) {
        qvm_flush(qbridge.host->vm);
        qgil_leave(qbridge.host);
    } else {
        PyErr_Clear();
        fflush(stdout);
    }
    return Py_INCREF(Py_None), Py_None;
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

/* Fails in subinterpreters, which would share this module without initializing it. */
static PyObject *check_interpreter(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return Py_INCREF(Py_None), Py_None;
    return PyErr_SetString(PyExc_ImportError, "pyquasar works in the main interpreter only"), NULL;
}

static PyMethodDef functions[] = {
    {"_claim", check_interpreter, METH_NOARGS, NULL},   {"_write", output_write, METH_O, NULL},
    {"_write_bytes", output_write_bytes, METH_O, NULL}, {"_flush", output_flush, METH_NOARGS, NULL},
    {"_watch", qcycles_watch, METH_VARARGS, NULL},      {NULL, NULL, 0, NULL},
};

#define TEXT_(x)    #x
#define TEXT(x)     TEXT_(x)
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define MODULE_NAME "pyquasar." TEXT(BRIDGE_MODULE)

/* Implements gc.callbacks.append(_watch). */
static int watch_collections(PyObject *module) {
    PyObject *gc = PyImport_ImportModule("gc"), *watch = PyObject_GetAttrString(module, "_watch");
    PyObject *callbacks = gc ? PyObject_GetAttrString(gc, "callbacks") : NULL;
    int r = watch && callbacks ? PyList_Append(callbacks, watch) : -1;
    Py_XDECREF(callbacks);
    Py_XDECREF(watch);
    Py_XDECREF(gc);
    return r;
}

static int init_builtins(void) {
    qbridge.builtins = PyImport_ImportModule("builtins");
    if (!qbridge.builtins) return -1;
    qbridge.eval = PyObject_GetAttrString(qbridge.builtins, "eval");
    qbridge.exec = PyObject_GetAttrString(qbridge.builtins, "exec");
    qbridge.sys = PyImport_ImportModule("sys");
    return qbridge.eval && qbridge.exec && qbridge.sys ? 0 : -1;
}

static int init_types(PyObject *module) {
    qbridge.support = PyImport_ImportModule("pyquasar._support");
    if (!qbridge.support || qerror_init(qbridge.support) < 0 || qnd_pass_dtypes() < 0) return -1;
    if (init_builtins() < 0 || qscalar_init() < 0 || qfunction_init() < 0 || qvalue_init() < 0 ||
        qtyped_init(module) < 0 || qcycles_init() < 0 || watch_collections(module) < 0 ||
        PyModule_AddFunctions(module, qhost_functions) < 0 || PyModule_AddFunctions(module, qgrad_functions) < 0 ||
        PyModule_AddFunctions(module, qxla_functions) < 0 || PyModule_AddFunctions(module, qgpu_functions) < 0)
        return -1;
    Py_INCREF(qbridge.value);
    Py_INCREF(qbridge.function);
    if (PyModule_AddObject(module, "qvalue", (PyObject *)qbridge.value) < 0) return -1;
    return PyModule_AddObject(module, "qfunction", (PyObject *)qbridge.function);
}

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, MODULE_NAME, NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC JOIN(PyInit_, BRIDGE_MODULE)(void);
PyMODINIT_FUNC JOIN(PyInit_, BRIDGE_MODULE)(void) {
    PyObject *m = PyModule_Create(&definition), *mine = m ? check_interpreter(m, NULL) : NULL;
#ifdef Py_GIL_DISABLED
    if (mine) PyUnstable_Module_SetGIL(m, Py_MOD_GIL_NOT_USED);
#endif
    if (!mine || (!qbridge.value && init_types(m) < 0)) Py_CLEAR(m);
    Py_XDECREF(mine);
    return m;
}

/* -- start of Python for a VM -------------------------------------------------------------------------------------- */

static qs_status start_python(qs_vm *vm, const PythonPlace *place) {
    struct sigaction on_interrupt;
    void (*set_program_name)(const wchar_t *); /* removed in 3.14; keeps the pointer to the name */
    *(void **)&set_program_name = dlsym(RTLD_DEFAULT, "Py_SetProgramName");
    if (!set_program_name) return qs_fail(vm, QS_EIO, "Python: version %.5s is not known yet", Py_GetVersion());
    set_program_name(Py_DecodeLocale(place->executable, NULL));
    sigaction(SIGINT, NULL, &on_interrupt);
    Py_InitializeEx(0);
    sigaction(SIGINT, &on_interrupt, NULL);
    qbridge.ours = true;
    return QS_OK;
}

static int add_path(const char *folder) {
    PyObject *path = PySys_GetObject("path"), *s = qpy_string(folder, strlen(folder));
    int r = !path || !s || PySequence_Contains(path, s) != 0 ? 0 : PyList_Append(path, s);
    Py_XDECREF(s);
    return r;
}

/* Handles a process that already uses pyquasar with a VM of its own: this bridge registers its types as well. */
static int join_package(PyObject *package) {
    PyObject *version = PyObject_GetAttrString(package, "__version__"), *m = NULL, *values = NULL, *r = NULL;
    const char *v = version ? PyUnicode_AsUTF8AndSize(version, NULL) : NULL;
    if (v && strcmp(v, qs_version()) != 0)
        PyErr_Format(PyExc_ImportError, "pyquasar %s is in use here, and this is Quasar %s", v, qs_version());
    else if (v) m = JOIN(PyInit_, BRIDGE_MODULE)();
    if (m) values = PyImport_ImportModule("pyquasar._values");
    if (values) r = PyObject_CallMethod(values, "install", "OO", qbridge.value, qbridge.function);
    Py_XDECREF(values);
    Py_XDECREF(m);
    Py_XDECREF(version);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

/* Returns the files of the package inside this executable as a dict; importer: the text of its _packed.py. */
static PyObject *packed_files(qs_vm *vm, const char **importer) {
    PyObject *files = PyDict_New();
    const char *name, *bytes;
    size_t n;
    for (int i = 0; files && qprebuilt_python(vm, i, &name, &bytes, &n); i++) {
        PyObject *text = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n);
        if (!text || PyDict_SetItemString(files, name, text) < 0) Py_CLEAR(files);
        Py_XDECREF(text);
        if (!strcmp(name, "pyquasar/_packed.py")) *importer = bytes;
    }
    return files;
}

static int add_importer(qs_vm *vm, const PythonPlace *place) {
    char program[PATH_MAX] = "";
    const char *importer = "";
    PyObject *files = packed_files(vm, &importer), *scope = PyDict_New(), *run = NULL, *r = NULL;
    PyObject *code = Py_CompileString(importer, "pyquasar/_packed.py", Py_file_input);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) program[0] = 0;
    if (code && scope && PyDict_SetItemString(scope, "__builtins__", PyEval_GetBuiltins()) == 0)
        run = PyEval_EvalCode(code, scope, scope);
    if (run && files)
        r = PyObject_CallFunction(PyDict_GetItemString(scope, "install"), "sOs", program, files, place->bridge);
    Py_XDECREF(run);
    Py_XDECREF(code);
    Py_XDECREF(scope);
    Py_XDECREF(files);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

static PyObject *import_from(const char *folder) {
    PyObject *path = PySys_GetObject("path"), *first = qpy_string(folder, strlen(folder));
    int r = path && first ? PyList_Insert(path, 0, first) : -1;
    PyObject *package = r == 0 ? PyImport_ImportModule("pyquasar") : NULL;
    if (r == 0 && (PySequence_DelItem(path, 0) < 0 || add_path(folder) < 0)) Py_CLEAR(package);
    Py_XDECREF(first);
    return package;
}

/* Imports the package of this build, even if another one is installed. */
static int import_package(qs_vm *vm, const PythonPlace *place) {
    if (PySys_SetObject("_quasar_inside", Py_True) < 0 || (!place->package && add_importer(vm, place) < 0)) return -1;
    PyObject *package = place->package ? import_from(place->package) : PyImport_ImportModule("pyquasar");
    int r = package ? 0 : -1;
    if (package && !qbridge.value) r = join_package(package);
    Py_XDECREF(package);
    return r;
}

/* Returns sys.argv; *folder: the folder of the script. */
static PyObject *make_argv(qs_vm *vm, const char **folder) {
    const qs_config *c = &qvm(vm)->config;
    PyObject *argv = PyList_New(0);
    const char *script = qvm_script(vm, folder);
    for (int i = -1; argv && i < c->argc; i++) {
        const char *s = i < 0 ? script : c->argv[i];
        PyObject *o = qpy_string(s, strlen(s));
        if (!o || PyList_Append(argv, o) < 0) Py_CLEAR(argv);
        Py_XDECREF(o);
    }
    return argv;
}

/* Sets up Python for a script.  Keeps the program's interrupt handler, which notifies Python as well. */
static int begin_script(qs_vm *vm) {
    const char *folder;
    struct sigaction on_interrupt;
    PyObject *argv = make_argv(vm, &folder), *module = PyImport_ImportModule(MODULE_NAME), *r = NULL;
    PyObject *write = module ? PyObject_GetAttrString(module, "_write") : NULL;
    PyObject *bytes = module ? PyObject_GetAttrString(module, "_write_bytes") : NULL;
    PyObject *flush = module ? PyObject_GetAttrString(module, "_flush") : NULL;
    sigaction(SIGINT, NULL, &on_interrupt);
    if (argv && write && bytes && flush) r = qbridge_support("begin", "(OsOOO)", argv, folder, write, bytes, flush);
    sigaction(SIGINT, &on_interrupt, NULL);
    Py_XDECREF(flush);
    Py_XDECREF(bytes);
    Py_XDECREF(write);
    Py_XDECREF(module);
    Py_XDECREF(argv);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

static qs_status cannot_start(qs_vm *vm) { /* prints the exception, because errors.c is not initialized yet */
    PyErr_Print();
    return qs_fail(vm, QS_EIO, "Python: the package pyquasar cannot be imported");
}

QS_API qs_python_open qbridge_open;
qs_status qbridge_open(qs_vm *vm, const PythonPlace *place, const Python **out) {
    bool first = !Py_IsInitialized(), here = !first && PyGILState_Check();
    if (first) TRY(start_python(vm, place));
    else if (!here) PyGILState_Ensure();
    if (import_package(vm, place) < 0) return cannot_start(vm);
    Border *b = qbridge_border(vm, true);
    if (!b) return qs_fail(vm, QS_ENOMEM, "out of memory");
    b->gil = first ? GIL_STARTED : here ? GIL_OF_OTHERS : GIL_ENSURED;
    if (qbridge.ours && !qbridge.host) {
        qbridge.host = b;
        if (begin_script(vm) < 0) return cannot_start(vm);
    }
    *out = &table;
    return QS_OK;
}
