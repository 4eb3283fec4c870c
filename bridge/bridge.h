/* bridge.h -- declares what the files of the bridge between the VM and CPython share (private to the bridge).
 *
 *     bridge.c host_module.c                      opening and closing: Python for a script, the VM for Python
 *     gil.c                                       threads, the GIL, use of the VM by one thread at a time, Ctrl-C
 *     py_convert.c                                the table of conversions
 *     py_scalar.c                                 a float that also serves as an index
 *     pyvalue.c                                   Python objects in the language
 *     value_type.c items.c operators.c function.c values of the language in Python
 *     ndarray.c dlpack.c gpu.c                    memory that both sides use
 *     written.c                                   reports writes to tensor memory to torch
 *     py_typed.c                                  arrays of the Array API standard, whose operators keep dtypes
 *     py_grad.c                                   derivatives of computations that Python does with values
 *     xla.c                                       calls from code compiled by XLA
 *     errors.c                                    exceptions as errors, errors as exceptions, one traceback
 *     cycles.c                                    garbage cycles through both heaps
 *
 * The VM calls this folder only through vm/program/python.h, Python only through the package pyquasar/.
 *
 * Only this folder includes Python.h.  It uses the limited API of 3.9, so that one binary serves 3.9 and all later
 * versions.  For a Python without the GIL it uses the full API, and the binary serves only that version.  The object is
 * not linked to libpython; its symbols come from the libpython of the process.  The same sources make two objects:
 *   - `_inside` is loaded by qrun for a script and uses the VM of the program.
 *   - `_bridge` is loaded by `import pyquasar`.  It contains the VM and exports only its init function, so that its
 *     symbols cannot collide with those of other libraries.
 *
 * A thread that runs script code holds the GIL or has released it temporarily (gil.c).  Functions that the VM calls
 * begin with qgil_here, or with qgpu_lend, which calls it.  All code after that holds the GIL and may change the
 * reference counts of both sides.  Requests that arrive without the GIL (finalizers) are queued.
 *
 * Errors: functions that return PyObject * or int set a Python exception; functions that return qs_status set the error
 * of the VM.  Only errors.c converts one into the other. */
#ifndef BRIDGE_BRIDGE_H
#define BRIDGE_BRIDGE_H
#define PY_SSIZE_T_CLEAN
#include <pyconfig.h>
#ifndef Py_GIL_DISABLED
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>
#include <structmember.h>

#include <pthread.h>
#include <stdatomic.h>

#include "vm/array/array.h"
#include "vm/program/python.h"

/* -- declarations that the limited API of 3.9 lacks; unchanged in all versions since ------------------------------- */
#define EXTERN_WEAK extern __attribute__((weak))
EXTERN_WEAK PyObject *PyObject_Vectorcall(PyObject *f, PyObject *const *a, size_t nargsf, PyObject *names); /* 3.11 */
extern PyObject *PyObject_VectorcallDict(PyObject *f, PyObject *const *args, size_t nargsf, PyObject *dict);
extern PyObject *PyVectorcall_Call(PyObject *f, PyObject *args, PyObject *dict);
extern PyObject *PyObject_VectorcallMethod(PyObject *name, PyObject *const *args, size_t nargsf, PyObject *names);
extern int PyGILState_Check(void);
extern const char *PyUnicode_AsUTF8AndSize(PyObject *s, Py_ssize_t *n);
#define ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1)) /* PY_VECTORCALL_ARGUMENTS_OFFSET */
enum { FASTCALL = 0x80 };                                        /* METH_FASTCALL */
enum { HAVE_VECTORCALL = 1 << 11 };                              /* Py_TPFLAGS_HAVE_VECTORCALL */

#ifdef Py_LIMITED_API
typedef struct { /* Py_buffer */
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} BufferView;
#else
typedef Py_buffer BufferView;
#endif
extern int PyObject_CheckBuffer(PyObject *o);
extern int PyObject_GetBuffer(PyObject *o, BufferView *view, int flags);
extern void PyBuffer_Release(BufferView *view);
enum {
    BUF_WRITABLE = 1,
    BUF_FORMAT = 4,
    BUF_ND = 8,
    BUF_STRIDES = 0x10 | BUF_ND,
    BUF_INDIRECT = 0x100 | BUF_STRIDES,
    BUF_RECORDS_RO = BUF_STRIDES | BUF_FORMAT,
    BUF_ROWS = 0x20,
    BUF_COLUMNS = 0x40,
    BUF_PACKED = 0x80
};                                                   /* PyBUF_C_CONTIGUOUS … without BUF_STRIDES */
enum { SLOT_GETBUFFER = 1, SLOT_RELEASEBUFFER = 2 }; /* Py_bf_getbuffer, Py_bf_releasebuffer */

/* Type of a variable that several threads access; atomic if there is no GIL to serialize them (gil.c). */
#ifdef Py_GIL_DISABLED
#define SHARED(type) _Atomic(type)
#else
#define SHARED(type) type
#endif

/* -- Border: the state of a VM as the bridge sees it (Machine.border) ---------------------------------------------- */
enum { NAME_SLOTS = 1024, TUPLE_SLOTS = 64, MANY_WRAPPERS = 10000 };

/* A thread that runs script code.  With depth 0 it has left the VM; its stack is kept for another thread. */
typedef struct Thread {
    struct Thread *next;
    pthread_t id;
    QThread *state; /* saved state while another thread runs */
    int depth;      /* number of nested entries into the VM */
    int works;      /* depth at which the VM computes by itself and may release the GIL; 0: none */
    struct Followed {
        Device *device;
        DevPtr stream;
        int depth;
    } * followed; /* gpu.c: streams followed by each entry, innermost last */
    int nfollowed, cap_followed;
    bool *had; /* without the GIL: for each entry, whether the thread held the VM before */
    int cap_had;
} Thread;

typedef struct Wrapper { /* A value of the language in Python; the head of function and value objects. */
    PyObject ob_base;
    PyObject *weak;
    struct Border *border;
    qs_value v;
    struct Wrapper *prev, *next; /* neighbours in the ring Border.wrappers */
    PyObject *hub;               /* node of the cycle collector (cycles.c) */
} Wrapper;

struct Border {
    qs_vm *vm;         /* NULL when the VM is closed; wrappers in Python may outlive it */
    SHARED(long) refs; /* references by the VM and by every wrapper */
    struct Border *next;
    /* fields of gil.c */
    pthread_t owner; /* id of the first thread in `threads`, whose state the VM currently has */
    Thread *threads; /* the owner is first */
    /* Raised while the owner works without the GIL: no other thread may touch the VM. */
    Flag away;
    int loose;            /* number of reasons for that; 0 while it holds the GIL */
    SHARED(int) waiting;  /* number of threads that wait for the VM */
    unsigned entered;     /* counts the waits for the VM that have ended */
    atomic_int computing; /* number of threads that have released the VM and compute in its memory */
    bool closing;         /* the VM is closing, and with it the stacks of threads inside it */
    pthread_t closer;     /* … except for this thread */
    /* Without the GIL: the thread that holds the VM, and one that has waited too long; 0: none. */
    SHARED(pthread_t) holder, next_holder;
    struct Dropped {
        qs_value v;
        struct Export *e;
    } * dropped; /* values and exports to release once the GIL is held again */
    SHARED(uint32_t) ndropped;
    uint32_t cap_dropped;
    /* How this thread got the GIL, which determines how it is released. */
    enum Gil { GIL_OF_OTHERS, GIL_ENSURED, GIL_STARTED } gil;
    bool hosted; /* Python opened the VM: arrays are passed without conversion, and cells stay cells (py_convert.c) */
    bool wide_lists; /* lists of numbers that are converted now become float64, because another argument has it */
    int nesting;     /* number of containers that are being converted (py_convert.c) */
    struct Export *exports;  /* ndarray.c: views of the VM's memory */
    struct Written *written; /* written.c: writes to report to torch */
    Wrapper wrappers;        /* head of the ring of all wrappers */
    size_t nwrappers, many;  /* number of wrappers, and the number at which a full collection is due */
    /* caches of py_convert.c */
    struct {
        const Str *key;
        PyObject *name;
    } names[NAME_SLOTS]; /* attribute names, by Str */
    struct {
        int n;
        const Str *keys[6];
        PyObject *tuple;
    } tuples[TUPLE_SLOTS]; /* tuples of keyword names */
};
typedef struct Border Border;
static inline Border *border_of(qs_vm *vm) { return qvm(vm)->border; }

/* -- bridge.c: the process has one Python; this struct holds all global state of the bridge ------------------------ */
typedef struct {
    PyTypeObject *scalar, *value, *function, *error; /* error: QuasarError */
    PyTypeObject *type;                              /* values that are types, and thus callable */
    PyTypeObject *typed;      /* arrays of the Array API standard: pyquasar.array_api; NULL: the build has none */
    PyObject *typed_items[2]; /* functions of that module that get and set items with any key */
    PyObject *errors[QS_EINTERNAL + 1]; /* exception type of each status */
    PyObject *closed;                   /* exception type for a closed VM */
    PyObject *support;                  /* module pyquasar._support */
    PyObject *builtins, *eval, *exec, *sys;
    Border *borders;
    SHARED(Border *) host;  /* the VM of the package pyquasar */
    bool plain_floats;      /* the value of a Python float is at the expected offset */
    SHARED(bool) disturbed; /* cycles.c: references changed during a full collection */
    bool ours, finished;    /* ours: the bridge started Python; finished: it has ended */
    SHARED(bool) ending;    /* the program has ended, and Python is about to */
} Bridge;
extern Bridge qbridge;
/* Calls a function of pyquasar/_support.py. */
PyObject *qbridge_support(const char *name, const char *format, ...);
/* Returns the Border of vm, created if missing; inside: this thread runs script code. */
Border *qbridge_border(qs_vm *vm, bool inside);
void qbridge_attach(qs_vm *vm); /* makes the VM use this Python when it needs one */
static inline Border *qborder_retain(Border *b) {
    b->refs++;
    return b;
}
void qborder_release(Border *b);

/* -- host_module.c: the VM that Python opens, as functions of the package ------------------------------------------ */
extern PyMethodDef qhost_functions[];
extern PyMethodDef qgrad_functions[]; /* py_grad.c */
extern PyMethodDef qxla_functions[];  /* xla.c */
/* Enters the VM and returns it; leave it with qgil_leave.  NULL with an exception on failure.  `what` names the
 * user. */
Border *qhost_enter(const char *what);

/* -- gil.c: threads ------------------------------------------------------------------------------------------------ */
void qgil_reclaim(Border *b);
/* Uses the VM briefly, without waiting.  If another thread holds it, v or e is queued for that thread. */
typedef enum { TURN_NONE, TURN_TAKEN, TURN_HAD } Turn;
#ifdef Py_GIL_DISABLED
static inline bool qgil_holds(const Border *b) { return pthread_equal(b->holder, pthread_self()); }
bool qgil_hold(Border *b); /* waits for the VM; true when this thread did not hold it before */
void qgil_give(Border *b); /* releases the VM */
Turn qgil_turn(Border *b, qs_value v, struct Export *e);
bool qgil_try(Border *b); /* tries to get the VM without waiting; release it with qgil_give */
static inline void qgil_end_turn(Border *b, Turn t) {
    if (t == TURN_TAKEN) qgil_give(b);
}
/* Releases the VM before script code calls unknown Python code, until qgil_back. */
static inline void qgil_outside(Border *b) {
    if (qgil_holds(b)) qgil_give(b);
}
/* Protect data that is used without the VM: the ring of wrappers, and hubs.  Python must not be called in between. */
void qgil_lock(void);
void qgil_unlock(void);
Border *qgil_next(Border *b); /* Returns the next VM after b (NULL: the first one), retained, and releases b. */
/* Keeps values readable for the rest of the function: no VM closes meanwhile.  The function must not wait. */
static inline void qgil_end_section(PyCriticalSection *section) { PyCriticalSection_End(section); }
#define ALONE                                                                                                          \
    PyCriticalSection section __attribute__((cleanup(qgil_end_section)));                                              \
    PyCriticalSection_Begin(&section, qbridge.support)
#else
static inline bool qgil_holds(const Border *b) { return pthread_equal(b->owner, pthread_self()); }
static inline bool qgil_hold(Border *b) { return (void)b, false; }
static inline bool qgil_try(Border *b) { return (void)b, true; }
static inline void qgil_give(Border *b) { (void)b; }
static inline Turn qgil_turn(Border *b, qs_value v, struct Export *e) { return (void)b, (void)v, (void)e, TURN_HAD; }
static inline void qgil_end_turn(Border *b, Turn t) { (void)b, (void)t; }
static inline void qgil_outside(Border *b) { (void)b; }
static inline void qgil_lock(void) {}
static inline void qgil_unlock(void) {}
#define ALONE (void)0
#endif
Border *qgil_host(void); /* qbridge.host, retained */
/* Must follow every call of Python from script code, because another thread may have run the VM meanwhile. */
static inline void qgil_back(Border *b) {
    if (__builtin_expect(!qgil_holds(b), 0)) qgil_reclaim(b);
}
extern const char qgil_closed_text[];
int qgil_closed(void); /* sets the exception for a closed VM and returns -1; hasattr then returns False */
/* Enclose every use of the VM from Python.  They return -1 with an exception when the VM is closed; qgil_leave also
 * when streams cannot be handed back and no exception was set before. */
int qgil_enter(Border *b);
int qgil_leave(Border *b);
/* Leaves the VM and returns r, or NULL on failure; takes the reference. */
static inline PyObject *qgil_result(Border *b, PyObject *r) {
    if (qgil_leave(b) == 0) return r;
    Py_XDECREF(r);
    return NULL;
}
/* Enclose work of the VM that Python requests.  In between the VM may release the GIL while it works on large arrays
 * (Ctx.let_go); it holds the GIL again when it calls Python, and at the end.  qgil_rest takes the result of
 * qgil_work. */
int qgil_work(Border *b);
void qgil_rest(Border *b, int before);
void qgil_take(Border *b);
static inline void qgil_here(Border *b) { /* acquires the GIL if it is released */
    if (__builtin_expect(b->loose, 0)) qgil_take(b);
}
static inline Border *qgil_border(qs_vm *vm) { /* the first call of every function that the VM calls */
    qgil_here(border_of(vm));
    return border_of(vm);
}
void qgil_unblock(qs_vm *vm);
void qgil_block(qs_vm *vm);
qs_status qgil_yield(qs_vm *vm);
void qgil_release_vm(qs_vm *vm, bool computes);
void qgil_acquire_vm(void);
void qgil_serve_windows(void);
void qgil_start(Border *b, bool inside); /* inside: this thread runs script code from now on */
void qgil_stop(Border *b);               /* the VM is about to close */
void qgil_stopped(Border *b);
bool qgil_used(Border *b);                /* a thread other than the caller is inside */
void qgil_forked(void);                   /* called in the child of a fork */
void qgil_decref(PyObject *o);            /* from any thread, with or without the GIL */
void qgil_release(Border *b, qs_value v); /* releases a reference held by Python; the VM may be busy or closed */

/* -- py_scalar.c: a float that serves as an index if it is integral ------------------------------------------------ */
int qscalar_init(void);
PyObject *qscalar_new(double x);

/* -- py_convert.c: the table of conversions (docs/python.md) ------------------------------------------------------- */
PyObject *qpy_from_value(Border *b, qs_value v);
/* The same for what Python gets to keep: an argument, an item of a container.  A dictionary becomes a dict, as a cell
 * becomes an array. */
PyObject *qpy_pass(Border *b, qs_value v);
/* Converts what Python reads from a value; takes the reference. */
PyObject *qpy_give(Border *b, qs_value v);
PyObject *qpy_return(Border *b, qs_value v);                   /* the same for the result of a function */
qs_status qpy_to_value(Border *b, PyObject *o, qs_value *out); /* takes the reference; o is not NULL */
PyObject *qpy_string(const char *s, size_t n);
qs_status qpy_text(Border *b, PyObject *str, qs_value *out);  /* converts a str; takes the reference */
PyObject *qpy_name(Border *b, const Str *s);                  /* borrowed; for names in code */
PyObject *qpy_names(Border *b, int n, const qs_value *names); /* borrowed tuple */
/* Converts the result of a Python call made by script code; NULL: an exception is set.  Takes the reference. */
qs_status qpy_result(Border *b, PyObject *r, qs_value *out);

/* -- pyvalue.c: Python objects in the language --------------------------------------------------------------------- */
extern const qs_foreign_type qpyvalue_type;
static inline PyObject *qpyvalue_get(qs_value v) { /* borrowed; NULL when v is not a Python object */
    return v.kind == QS_FOREIGN && ((Foreign *)v.u.p)->ftype == &qpyvalue_type ? ((Foreign *)v.u.p)->p : NULL;
}
qs_value qpyvalue_new(qs_vm *vm, PyObject *o);          /* takes the reference */
qs_value qpyvalue_function(qs_vm *vm, qs_value callee); /* implements pyfunc */
/* The Python object that such a function calls, borrowed; else NULL. */
PyObject *qpyvalue_callee(const Function *f);

/* -- function.c, value_type.c: values of scripts in Python --------------------------------------------------------- */
PyObject *qfunction_new(Border *b, qs_value fn);
Takes qfunction_takes(qs_value fn); /* TAKES_ANY, unless fn is a built-in with a declared set of types */
/* The declared type of argument i of a call: of the parameter, or of the field of the created object; NULL: none. */
const Type *qfunction_declares(Border *b, qs_value fn, int i);
/* Fails when an integer field of type t cannot hold the number v, as for parameters, or when a field would hold a
 * converted copy of memory that is passed. */
qs_status qfunction_holds(Border *b, const Type *t, const char *what, qs_value v);
enum { ARGUMENT_NAME = 64 };
void qfunction_argument(qs_value fn, int i, char name[ARGUMENT_NAME]); /* name of the parameter in messages */
int qfunction_init(void);
PyObject *qvalue_new(Border *b, qs_value v);
/* Result of an operation: the value, or NULL with an exception. */
PyObject *qvalue_result(Border *b, qs_status s, qs_value *out);
int qvalue_init(void);
static inline bool qvalue_check(PyObject *o) {
    return Py_TYPE(o) == qbridge.value || Py_TYPE(o) == qbridge.type || Py_TYPE(o) == qbridge.typed;
}
/* The VM of w is closed, or is closing and has emptied w. */
static inline qs_value qwrapper_value(PyObject *o) { return ((Wrapper *)o)->v; }
static inline Border *qwrapper_border(PyObject *o) { return ((Wrapper *)o)->border; }
static inline PyObject *qwrapper_not_implemented(void) { return Py_INCREF(Py_NotImplemented), Py_NotImplemented; }
static inline bool qwrapper_is_closed(const Wrapper *w) { return !w->border->vm || !w->next; }
static inline bool qwrapper_check(PyObject *o) { return qvalue_check(o) || Py_TYPE(o) == qbridge.function; }
/* tp_new that always fails: only the VM creates these objects. */
PyObject *qwrapper_refuse(PyTypeObject *t, PyObject *args, PyObject *names);
PyObject *qwrapper_make(PyTypeObject *t, Border *b, qs_value v);
void qwrapper_dealloc(PyObject *o);
int qwrapper_traverse(PyObject *o, visitproc visit, void *arg);
int qwrapper_clear(PyObject *o);

/* -- items.c, operators.c: the protocols of qvalue ----------------------------------------------------------------- */
PyObject *qitem_get(PyObject *o, PyObject *key);
bool qitem_same_shape(const Array *a, const Array *b); /* with as many dimensions, too */
int qitem_set(PyObject *o, PyObject *key, PyObject *x);
Py_ssize_t qitem_count(PyObject *o);
PyObject *qitem_at(PyObject *o, Py_ssize_t i);
bool qitem_is_dictionary(PyObject *o);
/* Lists the keys of an object, or its pairs of key and value. */
PyObject *qitem_entries(PyObject *o, bool pairs);
extern const PyType_Slot qoperator_slots[];
/* Prepends dimensions until all n arrays have the same rank, so that they broadcast as in NumPy. */
qs_status qoperator_align(qs_vm *vm, qs_value *v, int n);
PyObject *qoperator_compare(PyObject *x, PyObject *y, int op);
Py_hash_t qoperator_hash(PyObject *x);
PyObject *qoperator_complex(PyObject *x, PyObject *unused);

/* -- py_typed.c: arrays of the Array API standard ------------------------------------------------------------------ */
/* Adds the type of arrays, and functions _xp_… for pyquasar/array_api, to the module.  Called after qvalue_init. */
int qtyped_init(PyObject *module);

/* -- ndarray.c: arrays --------------------------------------------------------------------------------------------- */
PyObject *qnd_from_array(Border *b, Array *a);      /* a NumPy array that shares the memory of a */
PyObject *qnd_from_wrapper(Border *b, PyObject *o); /* the same for the array in a qvalue */
PyObject *qnd_list(Border *b, Array *a);            /* nested lists of Python numbers */
PyObject *qnd_from_cell(Border *b, Cell *c);
PyObject *qnd_from_dictionary(Border *b, const Object *o);
PyObject *qnd_integers(Border *b, Array *a);                        /* a NumPy array of int64 */
qs_status qnd_import_key(Border *b, PyObject *key, qs_value *out);  /* a key of a dict; tuples become cells */
PyObject *qnd_key(Border *b, qs_value key);                         /* the reverse */
PyObject *qnd_tuple(Border *b, Cell *c);                            /* converts {1, 2} to (1, 2) */
PyObject *qnd_tuple_of(int rank, const int64_t *x, int64_t factor); /* (x[0]*factor, …) */
/* Returns the length; -1 with an exception. */
int qnd_of_tuple(PyObject *tuple, int64_t out[QS_MAX_RANK]);
qs_status qnd_shape(qs_vm *vm, int ndim, const int64_t *dims, qs_value *v); /* reshapes packed elements */
bool qnd_is_numbers(PyObject *o);                                           /* whether o is a NumPy array of numbers */
/* Wraps a NumPy array that has dimensions without a copy.  false: its elements cannot be used so, or o is not one. */
bool qnd_borrow(Border *b, PyObject *o, qs_value *out, qs_status *s);
bool qnd_is_tensor(PyObject *o); /* whether o is an array of another library that supports DLPack */
bool qnd_is_array(PyObject *o);  /* whether o is either of these, with any element type */
/* Converts any Python object, including arrays, tensors, lists and dicts, which implicit conversion leaves as they
 * are. */
qs_status qnd_import(Border *b, PyObject *o, qs_value *out);
/* Converts argument i of a call of fn from Python: memory becomes an array on it, a list of numbers the same as […]. */
qs_status qnd_argument(Border *b, PyObject *o, qs_value fn, int i, qs_value *out);
qs_status qnd_value(Border *b, PyObject *o, qs_value *out);      /* value(x): the same, and other lists become cells */
qs_status qnd_operand(Border *b, PyObject *list, qs_value *out); /* an array of the exact numbers of a list */
/* Converts an element to assign: as value(x), but lists exactly. */
qs_status qnd_assigned(Border *b, PyObject *o, qs_value *out);
/* Converts a value for a field of the declared type, or for a variable (NULL); lists as by value(x). */
qs_status qnd_kept(Border *b, PyObject *o, const Type *declared, qs_value *out);
void qnd_keep_exports(Border *b); /* keeps the exported views alive when the VM closes */
const char *qnd_name(int dtype);  /* NumPy's name of the element type */
int qnd_pass_dtypes(void);        /* passes the element types to _support, which names them; -1: an exception is set */
int qnd_named(const char *name);  /* the element type of that name; QS_NDTYPES: there is none */
/* Memory of an array that outside code uses.  It stays at its address until it is taken back, also when the VM closes;
 * then the Export alone keeps the memory. */
typedef struct Export {
    struct Export *prev, *next; /* neighbours in Border.exports */
    Border *border;
    qs_value array;
    Buffer *memory; /* NULL while the VM is open */
    bool on_device, readonly;
    char *data; /* the first element */
    Py_ssize_t shape[QS_MAX_RANK], strides[QS_MAX_RANK];
} Export;
qs_status qnd_give(Border *b, Array *a, Device *d, Export **out); /* d NULL: on the host */
void qnd_take_back(Export *e);
/* Returns whether the memory can be used without a copy. */
bool qnd_usable(const void *p, int rank, const Py_ssize_t *strides, const Py_ssize_t *dims, qs_dtype d);
/* Reads an element as a number; an integer that the language cannot hold becomes a Python int. */
qs_status qnd_element(Border *b, qs_dtype d, const void *p, qs_value *out);
qs_status qnd_only(Border *b, Array *a, qs_value *out); /* the first element */
qs_status qnd_number(Border *b, qs_value *v);           /* replaces an array without dimensions by its number */
bool qnd_is_point(Border *b, PyObject *o);              /* whether o is an array or tensor without dimensions */
/* Returns whether several elements share one memory location, as after torch's expand(); a write would change all of
 * them. */
bool qnd_is_stretched(const qs_array_info *info);
void qnd_drop_owner(void *object); /* releases the Python owner of wrapped memory */
int qnd_getbuffer(PyObject *self, BufferView *view, int flags);
void qnd_releasebuffer(PyObject *self, BufferView *view);

/* -- dlpack.c: tensors of other libraries -------------------------------------------------------------------------- */
/* Wraps the memory of o through the C functions of its type.  false: it has none.  look: also examine types that have
 * not been seen before. */
bool qdl_borrow(Border *b, PyObject *o, bool look, qs_value *out, qs_status *s);
/* Called when an array outlives the call it was borrowed for.  The tensor object may get other memory meanwhile (t.data
 * = …, module.half(), t.resize_(…)), so another tensor is created that keeps this memory. */
void qdl_hold(Border *b, qs_value v);
/* Wraps o through its __dlpack__; false when it has none. */
bool qdl_argument(Border *b, PyObject *o, qs_value *out, qs_status *s);
/* from_dlpack: wraps a tensor or a capsule.  away: memory of a device that the VM does not use is copied to the
 * host. */
qs_status qdl_take(Border *b, PyObject *o, bool away, qs_value *out);
PyObject *qdl_export(PyObject *self, PyObject *args, PyObject *names); /* __dlpack__ */
PyObject *qdl_device(PyObject *self, PyObject *unused);                /* __dlpack_device__ */

/* -- written.c: writes that torch must count ----------------------------------------------------------------------- */
void qwritten_watch(Border *b, Array *a); /* a is the memory of a tensor, or of one in a pair */
void qwritten_report_all(Border *b);
static inline void qwritten_report(Border *b) { /* reports writes; called whenever Python is about to run */
    if (__builtin_expect(b->written != NULL, 0)) qwritten_report_all(b);
}

/* -- gpu.c: CUDA memory and streams -------------------------------------------------------------------------------- */
Device *qgpu_first(Border *b);              /* the first open device whose memory can be shared; NULL: none */
Device *qgpu_named(Border *b, int ordinal); /* NULL: not open */
Device *qgpu_of(Border *b, const Array *a); /* the device on which the array is offered to others; NULL: on the host */
qs_status qgpu_absent(Border *b, const char *kind, int id); /* sets an error: memory that this VM cannot use */
/* Orders the VM's queue after the work on the stream, and later work on the stream after the current entry. */
qs_status qgpu_follow(Border *b, Device *d, DevPtr stream);
qs_status qgpu_hand_back(Border *b); /* called when the entry ends */
/* Called before and after every call of Python by script code, which may queue work on followed streams. */
qs_status qgpu_order_all(Border *b, bool back);
static inline qs_status qgpu_lend(Border *b) {
    qgil_here(b);
    qwritten_report(b);
    return b->threads->nfollowed ? qgpu_order_all(b, true) : QS_OK;
}
static inline qs_status qgpu_regain(Border *b, qs_status s) { /* s: status of the call */
    qs_status order = b->threads->nfollowed ? qgpu_order_all(b, false) : QS_OK;
    return s == QS_OK ? order : s;
}
qs_status qgpu_import(Border *b, PyObject *o, qs_value *out); /* through its __cuda_array_interface__ */
int qgpu_stream(PyObject *o, void *out);                      /* converter for PyArg_ParseTuple: writes a DevPtr */
extern PyMethodDef qgpu_functions[];

/* -- errors.c: conversion of errors and exceptions ----------------------------------------------------------------- */
int qerror_init(PyObject *module);
qs_status qerror_take(Border *b);               /* converts the current exception to the error of the VM */
PyObject *qerror_raise(Border *b, qs_status s); /* converts the error of the VM to an exception; returns NULL */
qs_status qerror_report(qs_vm *vm, PyObject *exception, qs_value *out);
qs_status qerror_format(Border *b, PyObject *exception, qs_value *out); /* "TypeError: message" */
/* The part of the message that is computed only when it is read. */
qs_status qerror_hint(qs_vm *vm, qs_value payload, qs_value *out);

/* -- cycles.c: reference cycles through objects of both sides ------------------------------------------------------ */
int qcycles_init(void);
PyObject *qcycles_watch(PyObject *module, PyObject *args); /* callback for gc.callbacks */
void qcycles_collect(qs_vm *vm);
#endif
