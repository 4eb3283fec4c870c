/* bridge.h -- private to the bridge between the machine and CPython.
 *
 *     bridge.c host_module.c    opening and closing: Python for a script, the machine for Python
 *     gil.c              who may run: one machine, one GIL, many threads, Ctrl-C
 *     py_convert.c          the one table of conversions; py_scalar.c: a number that is also an index
 *     pyvalue.c          Python objects in the language
 *     value_type.c items.c operators.c function.c     values of the language in Python
 *     ndarray.c dlpack.c gpu.c                   memory that both sides use
 *     written.c                                  tells torch what was written of its memory
 *     py_typed.c            arrays of the Array API standard, whose operators keep types
 *     py_grad.c             derivatives of what Python computes with values
 *     xla.c              calls from what XLA has compiled
 *     errors.c           exceptions as errors, errors as exceptions, one traceback
 *     cycles.c           garbage that passes through both heaps
 *
 * Values and calls of one side come in and go out as those of the other.  The machine reaches this folder by
 * vm/program/python.h alone, Python by the package pyquasar/.
 *
 * Only this folder sees Python.h, and of that the limited interface of 3.9, so that one binary serves 3.9 and all later
 * versions; of a Python without the global lock it takes the whole interface, and its binary serves that version alone.
 * The object is linked to no libpython: its symbols come from the one that is there.  The same sources make two
 * objects.  `_inside` is what qrun opens for a script, and finds the machine in the program.  `_bridge` is what
 * `import pyquasar` opens; it contains the machine and exports nothing but its door, so that no other library's symbols
 * meet ours.
 *
 * Whoever runs script code holds the GIL, or has let it go for a while (gil.c).  What the machine calls begins with
 * qgil_here, or with qgpu_lend, which contains it: everything behind may count on the GIL, and counts of both sides may
 * be changed freely; what arrives without it (finalisers) is queued.
 *
 * Two ways to fail: functions that return PyObject * or int leave a Python exception, functions that return qs_status
 * leave the machine's error.  errors.c turns one into the other, nothing else does. */
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

/* -- what the limited interface of 3.9 leaves out, the same in every version since --------------------------------- */
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

/* What several threads read and write where no GIL puts them in order (gil.c). */
#ifdef Py_GIL_DISABLED
#define SHARED(type) _Atomic(type)
#else
#define SHARED(type) type
#endif

/* -- a machine as Python's side sees it: Machine.border ------------------------------------------------------------ */
enum { NAME_SLOTS = 1024, TUPLE_SLOTS = 64, MANY_WRAPPERS = 10000 };

typedef struct Thread { /* one that runs script code; with depth 0 one that did, and whose stack waits for another */
    struct Thread *next;
    pthread_t id;
    QThread *state; /* while another one runs */
    int depth;      /* entries inside each other */
    int works;      /* the depth at which the machine works for itself, and may let the GIL go; 0: at none */
    struct Followed {
        Device *device;
        DevPtr stream;
        int depth;
    } * followed; /* gpu.c: by which entry, innermost last */
    int nfollowed, cap_followed;
    bool *had; /* without the GIL: of each entry, whether the thread had the machine before */
    int cap_had;
} Thread;

typedef struct Wrapper { /* a value of the language in Python: the head of function and value objects */
    PyObject ob_base;
    PyObject *weak;
    struct Border *border;
    qs_value v;
    struct Wrapper *prev, *next; /* Border.wrappers */
    PyObject *hub;               /* cycles.c */
} Wrapper;

struct Border {
    qs_vm *vm;         /* NULL when the machine is closed; wrappers in Python may live on */
    SHARED(long) refs; /* the machine and every wrapper */
    struct Border *next;
    /* gil.c */
    pthread_t owner;                       /* threads->id, whose state the machine has now */
    Thread *threads;                       /* the owner first */
    Flag away;                             /* the owner works without the GIL: nobody may touch the machine */
    int loose;                             /* reasons why: 0 when it holds the GIL */
    SHARED(int) waiting;                   /* threads that want the machine */
    unsigned entered;                      /* times that one who waited got it */
    atomic_int computing;                  /* threads that have released the machine and compute in its memory */
    bool closing;                          /* it ends, and so do the stacks of threads that are inside */
    pthread_t closer;                      /* … but for this one */
    SHARED(pthread_t) holder, next_holder; /* without the GIL: who has it, and who has waited too long; 0: nobody */
    struct Dropped {
        qs_value v;
        struct Export *e;
    } * dropped; /* to be released when it is back */
    SHARED(uint32_t) ndropped;
    uint32_t cap_dropped;
    enum Gil { GIL_OF_OTHERS, GIL_ENSURED, GIL_STARTED } gil; /* how this thread came to have it: to go as it came */
    bool hosted; /* Python opened the machine: its arrays go in as they are, cells stay cells (py_convert.c) */
    struct Export *exports;  /* ndarray.c: views of the machine's memory */
    struct Written *written; /* written.c: changes of which torch is to be told */
    Wrapper wrappers;        /* head of the ring of all of them */
    size_t nwrappers, many;  /* how many; when so many, a full collection is due */
    /* py_convert.c */
    struct {
        const Str *key;
        PyObject *name;
    } names[NAME_SLOTS]; /* attribute names met so far */
    struct {
        int n;
        const Str *keys[6];
        PyObject *tuple;
    } tuples[TUPLE_SLOTS]; /* lists of keyword names */
};
typedef struct Border Border;
static inline Border *border_of(qs_vm *vm) { return qvm(vm)->border; }

/* -- bridge.c: the process has one Python, and this is all that the bridge keeps of it ----------------------------- */
typedef struct {
    PyTypeObject *scalar, *value, *function, *error; /* error: QuasarError */
    PyTypeObject *type;                              /* qvalues that are types, which can be called */
    PyTypeObject *typed;                             /* arrays of the standard: pyquasar.array_api */
    PyObject *typed_items[2];                        /* functions of that module: items of any key, and setting them */
    PyObject *errors[QS_EINTERNAL + 1];              /* the exception type of each status */
    PyObject *closed;                                /* of a machine that is not open */
    PyObject *support;                               /* module pyquasar._support */
    PyObject *builtins, *eval, *exec, *sys;
    Border *borders;
    SHARED(Border *) host;  /* the machine of the package pyquasar */
    bool plain_floats;      /* the value of a float lies where we look for it */
    SHARED(bool) disturbed; /* cycles.c: something changed during a full collection */
    bool ours, finished;    /* Python was started by the bridge; it has ended */
    SHARED(bool) ending;    /* the program has ended, and Python is about to */
} Bridge;
extern Bridge qbridge;
/* Calls a function of pyquasar/_support.py. */
PyObject *qbridge_support(const char *name, const char *format, ...);
Border *qbridge_border(qs_vm *vm, bool inside); /* made when missing; inside: this thread runs script code */
void qbridge_attach(qs_vm *vm);                 /* the machine asks this Python when it needs one */
static inline Border *qborder_retain(Border *b) {
    b->refs++;
    return b;
}
void qborder_release(Border *b);

/* -- host_module.c: the machine that Python opens, as functions of the package ------------------------------------- */
extern PyMethodDef qhost_functions[];
extern PyMethodDef qgrad_functions[]; /* py_grad.c */
extern PyMethodDef qxla_functions[];  /* xla.c */
/* The machine, entered, to be left by qgil_leave; NULL with an exception.  `what` wants it. */
Border *qhost_enter(const char *what);

/* -- gil.c: threads ------------------------------------------------------------------------------------------------ */
void qgil_reclaim(Border *b);
/* The machine for a moment, without waiting for it; who does not get it leaves v or e to the one that has it. */
typedef enum { TURN_NONE, TURN_TAKEN, TURN_HAD } Turn;
#ifdef Py_GIL_DISABLED
static inline bool qgil_holds(const Border *b) { return pthread_equal(b->holder, pthread_self()); }
bool qgil_hold(Border *b); /* waits for the machine; true when this thread did not have it before */
void qgil_give(Border *b); /* the machine is anybody's */
Turn qgil_turn(Border *b, qs_value v, struct Export *e);
bool qgil_try(Border *b); /* whether it could be had at once; given back by qgil_give */
static inline void qgil_end_turn(Border *b, Turn t) {
    if (t == TURN_TAKEN) qgil_give(b);
}
/* Before script code calls what may be anybody's Python: others may use the machine until qgil_back. */
static inline void qgil_outside(Border *b) {
    if (qgil_holds(b)) qgil_give(b);
}
/* What is reached without the machine: wrappers' places in the ring, hubs.  Nobody calls Python between the two. */
void qgil_lock(void);
void qgil_unlock(void);
Border *qgil_next(Border *b); /* of all machines, NULL: the first one; retains it, and releases b */
/* The rest of the function, as long as it does not wait, reads values that no machine closes under it. */
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
/* After every call of Python from script code: another thread may have run the machine meanwhile. */
static inline void qgil_back(Border *b) {
    if (__builtin_expect(!qgil_holds(b), 0)) qgil_reclaim(b);
}
extern const char qgil_closed_text[];
int qgil_closed(void); /* -1 with the exception that says so; hasattr says False */
/* Around every use of the machine from Python; -1 with an exception when the machine is closed, and from leave when
 * streams cannot be handed back and there was no exception before. */
int qgil_enter(Border *b);
int qgil_leave(Border *b);
static inline PyObject *qgil_result(Border *b, PyObject *r) { /* leaves with it; takes the reference */
    if (qgil_leave(b) == 0) return r;
    Py_XDECREF(r);
    return NULL;
}
/* Around work of the machine that Python asks for.  In it the machine lets the GIL go when it works on large arrays
 * (Ctx.let_go), and has it again when it calls Python, and at the end.  work gives what rest takes. */
int qgil_work(Border *b);
void qgil_rest(Border *b, int before);
void qgil_take(Border *b);
static inline void qgil_here(Border *b) { /* from here on with the GIL */
    if (__builtin_expect(b->loose, 0)) qgil_take(b);
}
static inline Border *qgil_border(qs_vm *vm) { /* how functions begin that the machine calls */
    qgil_here(border_of(vm));
    return border_of(vm);
}
void qgil_unblock(qs_vm *vm);
void qgil_block(qs_vm *vm);
qs_status qgil_yield(qs_vm *vm);
void qgil_release_vm(qs_vm *vm, bool computes);
void qgil_acquire_vm(void);
void qgil_serve_windows(void);
void qgil_start(Border *b, bool inside); /* inside: this thread runs script code now */
void qgil_stop(Border *b);               /* the machine is about to close */
void qgil_stopped(Border *b);
bool qgil_used(Border *b);                /* somebody besides the caller is inside */
void qgil_forked(void);                   /* in the child of a fork */
void qgil_decref(PyObject *o);            /* from any thread, with the GIL or not */
void qgil_release(Border *b, qs_value v); /* a reference held by Python goes; the machine may be busy or closed */

/* -- py_scalar.c: a float that Python takes for an index when it is whole ------------------------------------------ */
int qscalar_init(void);
PyObject *qscalar_new(double x);
static inline bool qscalar_check(PyObject *o) { return Py_TYPE(o) == qbridge.scalar; }

/* -- py_convert.c: the one table of conversions (docs/python.md) --------------------------------------------------- */
PyObject *qpy_from_value(Border *b, qs_value v);
PyObject *qpy_give(Border *b, qs_value v);                     /* what a call from Python gives; takes the reference */
qs_status qpy_to_value(Border *b, PyObject *o, qs_value *out); /* takes the reference; o is not NULL */
PyObject *qpy_string(const char *s, size_t n);
qs_status qpy_text(Border *b, PyObject *str, qs_value *out);  /* a str; takes the reference */
PyObject *qpy_name(Border *b, const Str *s);                  /* borrowed, for names of code */
PyObject *qpy_names(Border *b, int n, const qs_value *names); /* borrowed tuple */
/* The result of a Python call made by script code: NULL is the exception that is set.  Takes the reference. */
qs_status qpy_result(Border *b, PyObject *r, qs_value *out);

/* -- pyvalue.c: Python objects in the language --------------------------------------------------------------------- */
extern const qs_foreign_type qpyvalue_type;
static inline PyObject *qpyvalue_get(qs_value v) { /* borrowed; NULL when v is none */
    return v.kind == QS_FOREIGN && ((Foreign *)v.u.p)->ftype == &qpyvalue_type ? ((Foreign *)v.u.p)->p : NULL;
}
qs_value qpyvalue_new(qs_vm *vm, PyObject *o);          /* takes the reference */
qs_value qpyvalue_function(qs_vm *vm, qs_value callee); /* pyfunc */
PyObject *qpyvalue_callee(const Function *f);           /* what such a function calls, borrowed; else NULL */

/* -- function.c, value_type.c: what scripts hand to Python --------------------------------------------------------- */
PyObject *qfunction_new(Border *b, qs_value fn);
Takes qfunction_takes(qs_value fn); /* TAKES_ANY unless fn is a built-in that says more */
/* What argument i of a call is declared as: a parameter, a field of the object that is made; NULL: nothing. */
const Type *qfunction_declares(Border *b, qs_value fn, int i);
/* Integers of a field take no number that they do not hold, as those of a parameter. */
qs_status qfunction_holds(Border *b, const Type *t, const char *what, qs_value v);
enum { ARGUMENT_NAME = 64 };
void qfunction_argument(qs_value fn, int i, char name[ARGUMENT_NAME]); /* what messages call it */
int qfunction_init(void);
PyObject *qvalue_new(Border *b, qs_value v);
PyObject *qvalue_result(Border *b, qs_status s, qs_value *out); /* of an operation: the value, or the error */
int qvalue_init(void);
static inline bool qvalue_check(PyObject *o) {
    return Py_TYPE(o) == qbridge.value || Py_TYPE(o) == qbridge.type || Py_TYPE(o) == qbridge.typed;
}
/* Its machine is closed, or closes and has emptied it. */
static inline bool qwrapper_is_closed(const Wrapper *w) { return !w->border->vm || !w->next; }
static inline bool qwrapper_check(PyObject *o) { return qvalue_check(o) || Py_TYPE(o) == qbridge.function; }
/* As tp_new: only the machine makes them. */
PyObject *qwrapper_refuse(PyTypeObject *t, PyObject *args, PyObject *names);
PyObject *qwrapper_make(PyTypeObject *t, Border *b, qs_value v);
void qwrapper_dealloc(PyObject *o);
int qwrapper_traverse(PyObject *o, visitproc visit, void *arg);
int qwrapper_clear(PyObject *o);

/* -- items.c, operators.c: the protocols of qvalue ----------------------------------------------------------------- */
PyObject *qitem_get(PyObject *o, PyObject *key);
int qitem_set(PyObject *o, PyObject *key, PyObject *x);
Py_ssize_t qitem_count(PyObject *o);
PyObject *qitem_at(PyObject *o, Py_ssize_t i);
extern const PyType_Slot qoperator_slots[];
/* Arrays get as many dimensions as that of them which has most, so that they meet from their ends, as in NumPy. */
qs_status qoperator_align(qs_vm *vm, qs_value *v, int n);
PyObject *qoperator_compare(PyObject *x, PyObject *y, int op);
Py_hash_t qoperator_hash(PyObject *x);
PyObject *qoperator_complex(PyObject *x, PyObject *unused);

/* -- py_typed.c: arrays of the standard ---------------------------------------------------------------------------- */
int qtyped_init(void);                 /* after qvalue_init */
extern PyMethodDef qtyped_functions[]; /* _xp_…, for pyquasar/array_api */

/* -- ndarray.c: arrays --------------------------------------------------------------------------------------------- */
PyObject *qnd_from_array(Border *b, Array *a);      /* a NumPy array of the same memory */
PyObject *qnd_from_wrapper(Border *b, PyObject *o); /* the same of the array in a qvalue */
PyObject *qnd_list(Border *b, Array *a);            /* nested lists of Python's own numbers */
PyObject *qnd_from_cell(Border *b, Cell *c);
PyObject *qnd_integers(Border *b, Array *a);                                /* a NumPy array of int64 */
PyObject *qnd_tuple(Border *b, Cell *c);                                    /* {1, 2} as (1, 2) */
PyObject *qnd_tuple_of(int rank, const int64_t *x, int64_t factor);         /* (x[0]*factor, …) */
int qnd_of_tuple(PyObject *tuple, int64_t out[QS_MAX_RANK]);                /* how many; -1 with an exception */
qs_status qnd_shape(qs_vm *vm, int ndim, const int64_t *dims, qs_value *v); /* packed elements, in that shape */
bool qnd_is_numbers(PyObject *o);                                           /* a NumPy array of numbers */
/* An array of NumPy with dimensions, where it is; false: its elements cannot be used so, or it is something else. */
bool qnd_borrow(Border *b, PyObject *o, qs_value *out, qs_status *s);
bool qnd_is_tensor(PyObject *o); /* of another library, which speaks DLPack */
bool qnd_is_array(PyObject *o);  /* either, whatever the elements */
/* Any Python object as a value of the language; not an element of the implicit table. */
qs_status qnd_import(Border *b, PyObject *o, qs_value *out);
/* Argument i of a call of fn from Python: memory becomes an array of it, a list of numbers what [ … ] is. */
qs_status qnd_argument(Border *b, PyObject *o, qs_value fn, int i, qs_value *out);
qs_status qnd_value(Border *b, PyObject *o, qs_value *out); /* the same, and lists of anything are cells: value(x) */
qs_status qnd_operand(Border *b, PyObject *list, qs_value *out); /* an array of the exact numbers of a list */
qs_status qnd_assigned(Border *b, PyObject *o, qs_value *out);   /* what elements are set to: value(x), lists exactly */
/* For a field that is declared so, or a variable (NULL): lists by value(x). */
qs_status qnd_kept(Border *b, PyObject *o, const Type *declared, qs_value *out);
void qnd_keep_exports(Border *b); /* the machine closes: views stay, without it */
const char *qnd_name(int dtype);  /* as NumPy calls the element type */
int qnd_tell_elements(void);      /* to _support, which names them; -1: an exception is set */
int qnd_named(const char *name);  /* the other way; QS_NDTYPES: there is none */
/* Memory that somebody outside has.  It stays where it is until it is taken back, also when the machine closes: then
 * this holds the memory alone. */
typedef struct Export {
    struct Export *prev, *next; /* Border.exports */
    Border *border;
    qs_value array;
    Buffer *memory; /* NULL while the machine is open */
    bool on_device, readonly;
    char *data; /* the first element */
    Py_ssize_t shape[QS_MAX_RANK], strides[QS_MAX_RANK];
} Export;
qs_status qnd_give(Border *b, Array *a, Device *d, Export **out); /* d: NULL is the host */
void qnd_take_back(Export *e);
bool qnd_usable(const void *p, int rank, const Py_ssize_t *strides, const Py_ssize_t *dims, qs_dtype d); /* in place */
/* An element as a number; what no integer of the language holds is one of Python. */
qs_status qnd_element(Border *b, qs_dtype d, const void *p, qs_value *out);
qs_status qnd_only(Border *b, Array *a, qs_value *out); /* the first */
qs_status qnd_number(Border *b, qs_value *v);           /* an array without dimensions becomes its number */
bool qnd_is_point(Border *b, PyObject *o);              /* an array or tensor without dimensions */
/* Several elements are one number, as in torch's expand(): who writes to one would write to all. */
bool qnd_is_stretched(const qs_array_info *info);
void qnd_drop_owner(void *object); /* of memory that belongs to Python */
int qnd_getbuffer(PyObject *self, BufferView *view, int flags);
void qnd_releasebuffer(PyObject *self, BufferView *view);

/* -- dlpack.c: tensors of other libraries -------------------------------------------------------------------------- */
/* o as an array of its memory, by the C functions of its type; false when it has none (look: of a type not met
 * before). */
bool qdl_borrow(Border *b, PyObject *o, bool look, qs_value *out, qs_status *s);
/* Of an array that stays longer than the call it was borrowed for: the tensor object may get other memory meanwhile
 * (t.data = …, module.half(), t.resize_(…)), so another tensor keeps this. */
void qdl_hold(Border *b, qs_value v);
/* By its __dlpack__; false when there is none. */
bool qdl_argument(Border *b, PyObject *o, qs_value *out, qs_status *s);
/* from_dlpack: of a tensor or a capsule; away: memory of a device that is not ours is copied to the host. */
qs_status qdl_take(Border *b, PyObject *o, bool away, qs_value *out);
PyObject *qdl_export(PyObject *self, PyObject *args, PyObject *names); /* __dlpack__ */
PyObject *qdl_device(PyObject *self, PyObject *unused);                /* __dlpack_device__ */

/* -- written.c: changes that torch counts -------------------------------------------------------------------------- */
void qwritten_watch(Border *b, Array *a); /* a is the memory of a tensor, or of one in a pair */
void qwritten_tell_all(Border *b);
static inline void qwritten_tell(Border *b) { /* whenever Python has its turn */
    if (__builtin_expect(b->written != NULL, 0)) qwritten_tell_all(b);
}

/* -- gpu.c: memory and streams of CUDA ----------------------------------------------------------------------------- */
Device *qgpu_first(Border *b);              /* of those that are open and share their memory; NULL: none */
Device *qgpu_named(Border *b, int ordinal); /* NULL: not open */
Device *qgpu_of(Border *b, const Array *a); /* where the array is offered to others; NULL: on the host */
qs_status qgpu_absent(Border *b, const char *kind, int id); /* an error: memory that this machine cannot use */
/* Our queue comes after what is queued on the stream, and the stream goes on after the entry that runs now. */
qs_status qgpu_follow(Border *b, Device *d, DevPtr stream);
qs_status qgpu_hand_back(Border *b); /* the entry ends */
/* Around every call of Python by script code, which may queue work on streams that are followed. */
qs_status qgpu_order_all(Border *b, bool back);
static inline qs_status qgpu_lend(Border *b) {
    qgil_here(b);
    qwritten_tell(b);
    return b->threads->nfollowed ? qgpu_order_all(b, true) : QS_OK;
}
static inline qs_status qgpu_regain(Border *b, qs_status s) { /* s: how the call ended */
    qs_status order = b->threads->nfollowed ? qgpu_order_all(b, false) : QS_OK;
    return s == QS_OK ? order : s;
}
qs_status qgpu_import(Border *b, PyObject *o, qs_value *out); /* by its __cuda_array_interface__ */
int qgpu_stream(PyObject *o, void *out);                      /* a converter of PyArg_ParseTuple: to a DevPtr */
extern PyMethodDef qgpu_functions[];

/* -- errors.c ------------------------------------------------------------------------------------------------------ */
int qerror_init(PyObject *module);
qs_status qerror_take(Border *b);               /* the exception that is set becomes the machine's error */
PyObject *qerror_raise(Border *b, qs_status s); /* the other way; returns NULL */
qs_status qerror_report(qs_vm *vm, PyObject *exception, qs_value *out);
qs_status qerror_format(Border *b, PyObject *exception, qs_value *out); /* "TypeError: message" */
qs_status qerror_hint(qs_vm *vm, qs_value payload, qs_value *out);      /* what is left out where nobody reads it */

/* -- cycles.c: objects of both sides that hold each other ---------------------------------------------------------- */
int qcycles_init(void);
PyObject *qcycles_watch(PyObject *module, PyObject *args); /* for gc.callbacks */
void qcycles_collect(qs_vm *vm);
#endif
