/* python.h -- what the machine asks of Python, and nothing about how it is done.
 *
 * The bridge is an object of its own.  stdlib/python.c opens it, after the libpython of the chosen Python, when a
 * script first asks for Python; until then Machine.python is NULL and nothing here costs anything. */
#ifndef VM_PYTHON_H
#define VM_PYTHON_H
#include "vm/value/machine.h"

#include <limits.h>

typedef struct PythonPlace { /* the Python that was chosen */
    const char *executable;  /* sys.executable of it */
    const char *library;     /* its libpython; NULL when this process is a Python already */
    const char *package;     /* the folder that holds the package pyquasar; NULL: it is inside this executable */
    const char *bridge;      /* the file of the bridge */
} PythonPlace;

typedef struct PythonTurn {
    int gil, works;
    bool on;
} PythonTurn; /* what a thread was before attach */

typedef struct Python {
    size_t size; /* sizeof(Python): both sides come from the same build */
    qs_native_fn *import, *to_py, *from_py, *make_int, *make_bool, *make_float, *make_string, *make_function;
    qs_native_fn *version; /* sys.version, for pyconfig */
    /* The machine works, or waits, for long and without values: Python's other threads run meanwhile. */
    void (*unblock)(qs_vm *);
    void (*block)(qs_vm *);
    qs_status (*yield)(qs_vm *);       /* the same between two instructions */
    void (*interrupt)(void);           /* qs_interrupt: safe from any thread and in a signal handler */
    void (*forget_interrupt)(qs_vm *); /* the machine has dealt with it */
    /* A wait or a computation releases the VM, as a call into Python does: other threads may use it until acquire_vm.
     * That does not return when the VM was closed meanwhile, for which only computations are waited. */
    void (*release_vm)(qs_vm *, bool computes);
    void (*acquire_vm)(void);
    void (*serve_windows)(void); /* of Python, while the prompt waits for a line; the VM is released */
    /* Of what v.path is ("" for v itself), without running code of its properties: the names in it, one per line; and
     * what is known of it. */
    qs_status (*members)(qs_vm *, qs_value v, const char *path, qs_value *out);
    qs_status (*describe)(qs_vm *, qs_value v, const char *path, qs_value *out);
    /* What the message of an error whose payload is an exception ends with: "; did you mean shape?", or "". */
    qs_status (*hint)(qs_vm *, qs_value payload, qs_value *out);
    /* Around a call from a thread of others (native_entry.c), which may have the GIL or not, and is as it was
     * afterwards.  A
     * turn that is not `on` began when the machine had no Python yet. */
    qs_status (*attach)(qs_vm *, PythonTurn *);
    void (*detach)(qs_vm *, const PythonTurn *);
    void (*collect)(qs_vm *); /* frees cycles that pass through Python */
    void (*close)(qs_vm *);   /* the machine ends; script functions may be called for the last time */
    void (*closed)(qs_vm *);  /* it holds no value any more */
} Python;

/* Of the bridge: qbridge_open. */
typedef qs_status qs_python_open(qs_vm *vm, const PythonPlace *place, const Python **out);

static inline void qpython_unblock(qs_vm *vm) {
    if (qvm(vm)->python) qvm(vm)->python->unblock(vm);
}
static inline void qpython_block(qs_vm *vm) {
    if (qvm(vm)->python) qvm(vm)->python->block(vm);
}

/* Whether qvm_lookup finds a name in the session or among the built-ins; no error, whose message takes long, if not. */
bool qvm_knows(qs_vm *vm, const char *name);

/* Around a wait for who may need the GIL: this thread lets it go, if the process is a Python and it has it. */
void *qpython_pause(void);
void qpython_resume(void *paused);

/* Around a wait: other threads may use the VM meanwhile.  The wait uses no memory of the VM, which may be closed before
 * it ends; so the result of the first function is for the second. */
static inline const Python *qpython_release_vm(qs_vm *vm) {
    const Python *python = qvm(vm)->python;
    if (python) python->release_vm(vm, false);
    return python;
}
/* The same around a computation on memory of the VM that no other thread knows, and without errors. */
static inline const Python *qpython_release_vm_to_compute(qs_vm *vm) {
    const Python *python = qvm(vm)->python;
    if (python) python->release_vm(vm, true);
    return python;
}
static inline void qpython_acquire_vm(const Python *python) {
    if (python) python->acquire_vm();
}

/* -- waits (thread.c) ---------------------------------------------------------------------------------------------- */
/* The longest time for which a wait may leave Ctrl-C and Python's signals unnoticed. */
#define QTHREAD_SLICE 0.05
/* Sleeps with the VM released, for at most QTHREAD_SLICE; then qthread_check. */
qs_status qthread_sleep(qs_vm *vm, double seconds);
/* An error when the wait is to end, by Ctrl-C or by a signal handler of Python.  The VM is held. */
qs_status qthread_check(qs_vm *vm);
/* In the loops of long built-ins, where nothing that other threads could change is in use: lets them use the VM when it
 * is time for that.  An error as from qthread_check. */
qs_status qthread_yield(qs_vm *vm);
static inline qs_status qthread_safe_point(qs_vm *vm) {
    return __builtin_expect(qflag_is_up(&qvm(vm)->attention), 0) ? qthread_yield(vm) : QS_OK;
}
/* Waits until no other thread is in a wait that uses an object: *users counts them. */
qs_status qthread_turn(qs_vm *vm, const int *users);

/* -- threads: each thread that runs script code has a stack of its own --------------------------------------------- */
typedef struct QThread QThread;
QThread *qthread_running(qs_vm *vm); /* a place for the state of the thread that runs now, for qthread_switch */
qs_status qthread_new(qs_vm *vm, QThread **out);
void qthread_free(qs_vm *vm, QThread *t); /* with its stack */
void qthread_drop(qs_vm *vm, QThread *t); /* what qthread_running gave, without one */
/* The running thread's state goes to `from`, and the machine goes on with that of `to`. */
void qthread_switch(qs_vm *vm, QThread *from, QThread *to);
/* In the child of a fork, of a machine in which nobody works without the GIL: it goes on, on the thread that is left.
 */
void qthread_forked(qs_vm *vm);

/* -- prebuilt.c: the package inside this executable ---------------------------------------------------------------- */
/* Its files, numbered from 0 on; the name is that from the folder of the package on.  False: there are no more. */
bool qprebuilt_python(qs_vm *vm, int number, const char **name, const char **bytes, size_t *n);

/* -- module.c: a library ------------------------------------------------------------------------------------------- */
/* What import_native(name) at the prompt does.  out: its module; "": what the library has is built in. */
qs_status qmod_import_native(qs_vm *vm, const char *name, char out[PATH_MAX]);

/* -- source_bundle.c: a program as texts, for other processes ------------------------------------------------------ */
/* The module whose program defines a function, type or object; NULL: it is built in, or was typed at the prompt. */
const char *qmovelaunch_home(qs_vm *vm, qs_value v);
/* The text of the module of that name, the last one, and before it those of what it imports, but the library's.
 * False: there is no such module. */
bool qmovelaunch_each(qs_vm *vm, const char *module, void (*f)(void *ud, const char *path, const char *text, size_t n),
                      void *ud);
/* Imports that mean `path` find this text from now on; QS_EVALUE when it is loaded with another one. */
qs_status qmovelaunch_take(qs_vm *vm, const char *path, const char *text, size_t n);
/* Where the file of the library is here that had this path in another process; NULL: there is none. */
const char *qmovelaunch_library(qs_vm *vm, const char *path, char out[]);
#endif
