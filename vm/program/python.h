/* python.h -- declares the functions that the VM calls in the Python bridge.
 *
 * The bridge is a shared object of its own.  stdlib/python.c loads it, after the libpython of the chosen Python, when a
 * script first uses Python.  Until then Machine.python is NULL and these functions cost nothing. */
#ifndef VM_PYTHON_H
#define VM_PYTHON_H
#include "vm/value/machine.h"

#include <limits.h>

typedef struct PythonPlace { /* the chosen Python */
    const char *executable;  /* its sys.executable */
    const char *library;     /* its libpython; NULL when this process is already a Python */
    const char *package;     /* the folder that contains the package pyquasar; NULL: it is inside this executable */
    const char *bridge;      /* path of the bridge */
} PythonPlace;

typedef struct PythonTurn {
    int gil, works;
    bool on;
} PythonTurn; /* state of a thread before attach */

typedef struct Python {
    size_t size; /* sizeof(Python), to check that both sides come from the same build */
    qs_native_fn *import, *to_py, *from_py, *make_int, *make_bool, *make_float, *make_string, *make_function;
    qs_native_fn *version; /* sys.version, for pyconfig */
    /* Called around long work or waits of the VM that use no values; other Python threads run meanwhile. */
    void (*unblock)(qs_vm *);
    void (*block)(qs_vm *);
    qs_status (*yield)(qs_vm *);       /* the same, between two instructions */
    void (*interrupt)(void);           /* qs_interrupt: safe from any thread and in signal handlers */
    void (*forget_interrupt)(qs_vm *); /* called when the VM has handled the interrupt */
    /* Release the VM for a wait or a computation, as a call into Python does: other threads may use it until
     * acquire_vm. acquire_vm does not return if the VM was closed meanwhile; closing waits only for computations. */
    void (*release_vm)(qs_vm *, bool computes);
    void (*acquire_vm)(void);
    /* handles events of Python's windows while the prompt waits for a line; the VM is released */
    void (*serve_windows)(void);
    /* List the names in v.path ("": v itself), one per line, and describe it.  Neither runs code of properties. */
    qs_status (*members)(qs_vm *, qs_value v, const char *path, qs_value *out);
    qs_status (*describe)(qs_vm *, qs_value v, const char *path, qs_value *out);
    /* Returns the end of the message of an error whose payload is an exception: "; did you mean shape?", or "". */
    qs_status (*hint)(qs_vm *, qs_value payload, qs_value *out);
    /* Called around a call from a foreign thread (native_entry.c), which may or may not hold the GIL; detach restores
     * that state.  If `on` is false, the call began before the VM had a Python. */
    qs_status (*attach)(qs_vm *, PythonTurn *);
    void (*detach)(qs_vm *, const PythonTurn *);
    void (*collect)(qs_vm *); /* frees cycles that pass through Python */
    void (*close)(qs_vm *);   /* the VM closes; script functions may be called for the last time */
    void (*closed)(qs_vm *);  /* the VM holds no values any more */
} Python;

/* Type of qbridge_open in the bridge. */
typedef qs_status qs_python_open(qs_vm *vm, const PythonPlace *place, const Python **out);

static inline void qpython_unblock(qs_vm *vm) {
    if (qvm(vm)->python) qvm(vm)->python->unblock(vm);
}
static inline void qpython_block(qs_vm *vm) {
    if (qvm(vm)->python) qvm(vm)->python->block(vm);
}

/* Returns whether qvm_lookup finds a name in the session or among the built-ins; sets no error, which would be slow. */
bool qvm_knows(qs_vm *vm, const char *name);
bool qvm_autoloads(qs_vm *vm, const char *name); /* whether qvm_lookup finds it in the library */

/* Release the GIL around a wait, if this process is a Python and the thread holds it, for threads that may need it. */
void *qpython_pause(void);
void qpython_resume(void *paused);

/* Releases the VM around a wait, so that other threads may use it.  The wait must not use memory of the VM, which may
 * be closed before the wait ends; therefore the result is passed to qpython_acquire_vm. */
static inline const Python *qpython_release_vm(qs_vm *vm) {
    const Python *python = qvm(vm)->python;
    if (python) python->release_vm(vm, false);
    return python;
}
/* The same around a computation on memory of the VM that no other thread accesses and that sets no errors. */
static inline const Python *qpython_release_vm_to_compute(qs_vm *vm) {
    const Python *python = qvm(vm)->python;
    if (python) python->release_vm(vm, true);
    return python;
}
static inline void qpython_acquire_vm(const Python *python) {
    if (python) python->acquire_vm();
}

/* -- waits (thread.c) ---------------------------------------------------------------------------------------------- */
/* The longest time in seconds for which a wait may leave Ctrl-C and Python's signals unnoticed. */
#define QTHREAD_SLICE 0.05
/* Sleeps with the VM released, for at most QTHREAD_SLICE seconds; then calls qthread_check. */
qs_status qthread_sleep(qs_vm *vm, double seconds);
/* Returns an error if Ctrl-C, a Python signal handler or a lack of memory ends the wait.  The caller holds the VM. */
qs_status qthread_check(qs_vm *vm);
/* Lets other threads use the VM if one is due.  For loops of long built-ins, at points where they use nothing that
 * other threads could change.  Returns an error as qthread_check does. */
qs_status qthread_yield(qs_vm *vm);
static inline bool qthread_is_wanted(qs_vm *vm) { return __builtin_expect(qflag_is_up(&qvm(vm)->attention), 0); }
static inline qs_status qthread_safe_point(qs_vm *vm) { return qthread_is_wanted(vm) ? qthread_yield(vm) : QS_OK; }
/* Waits until no other thread is in a wait that uses an object; *users counts these threads. */
qs_status qthread_turn(qs_vm *vm, const int *users);

/* -- threads: each thread that runs script code has a stack of its own --------------------------------------------- */
typedef struct QThread QThread;
QThread *qthread_running(qs_vm *vm); /* storage for the state of the running thread, for qthread_switch */
qs_status qthread_new(qs_vm *vm, QThread **out);
void qthread_free(qs_vm *vm, QThread *t); /* also frees its stack */
void qthread_drop(qs_vm *vm, QThread *t); /* frees the result of qthread_running, which has no stack */
/* Saves the running thread's state in `from` and continues with that of `to`. */
void qthread_switch(qs_vm *vm, QThread *from, QThread *to);
/* Called in the child of a fork whose VM has no thread that works without the GIL; continues on the remaining
 * thread. */
void qthread_forked(qs_vm *vm);

/* -- prebuilt.c: the Python package inside this executable --------------------------------------------------------- */
/* Returns file `number` of the package, from 0 on; the name is relative to the folder of the package.  Returns false
 * after the last one. */
bool qprebuilt_python(qs_vm *vm, int number, const char **name, const char **bytes, size_t *n);

/* -- module.c: libraries ------------------------------------------------------------------------------------------- */
/* Implements import_native(name) at the prompt.  out: its module; "": the functions of the library are built in. */
qs_status qmod_import_native(qs_vm *vm, const char *name, char out[PATH_MAX]);

/* -- source_bundle.c: a program as texts, for other processes ------------------------------------------------------ */
/* The module that defines a function, type or object; NULL: it is built in, or was typed at the prompt. */
const char *qmovelaunch_home(qs_vm *vm, qs_value v);
/* Calls f with the texts of the imports of `module`, except library files, and last with its own text.  Returns false
 * if there is no such module. */
bool qmovelaunch_each(qs_vm *vm, const char *module, void (*f)(void *ud, const char *path, const char *text, size_t n),
                      void *ud);
/* Makes imports of `path` use this text from now on; QS_EVALUE if it is loaded with a different text. */
qs_status qmovelaunch_take(qs_vm *vm, const char *path, const char *text, size_t n);
/* The local path of the library file that had this path in another process; NULL: there is none. */
const char *qmovelaunch_library(qs_vm *vm, const char *path, char out[]);
#endif
