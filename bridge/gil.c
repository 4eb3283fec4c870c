/* gil.c -- coordinates threads that use a VM and the GIL.
 *
 * Script code, including built-ins, runs with the GIL held, so the GIL also protects the VM.  Other threads can run in
 * two ways:
 *
 * 1. The GIL is released while the VM works.  The compiler and longer launches (vm/launch/launch.c) do this (unblock …
 * block), as does work on a large array: until script code calls Python, yields, or has its result (let_go … take).
 * Meanwhile the VM is `away`: a thread that needs it waits without the GIL, and references to its values that other
 * threads drop are queued until it is back.  Thus built-ins need not know about Python.  Shorter work keeps the GIL,
 * because a thread that releases it while another one computes gets it back only after the switch interval of 5 ms.
 *
 * 2. When script code calls Python, waits or yields, another thread may get the GIL and enter the VM.  It runs on its
 * own stack (Thread, vm/program/thread.c), and the first thread switches back when it returns (qgil_back).  A
 * computation on memory that no other thread accesses counts as such a wait (release_vm … acquire_vm).
 *
 * Lock order: the GIL first, then the VM.  No thread waits for the VM while it holds the GIL.
 *
 * In a Python without the GIL, threads enter in parallel, and two locks replace it.  A thread holds the VM from entry
 * to exit, also while the VM is away; it releases the VM while script code calls unknown Python code (qgil_outside),
 * and where the GIL would be released.  A thread that waits for the VM is detached from Python.  Data that is used
 * without the VM (the ring of wrappers, queued references) is protected by `lock`, which is held briefly and never
 * across a call of Python.  Code that only reads a value needs neither, as long as no VM closes meanwhile (ALONE). */
#include "bridge/bridge.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t back = PTHREAD_COND_INITIALIZER; /* signalled when a VM is no longer away */
typedef struct {
    PyThreadState *state; /* the Python state of a thread that has released the GIL; otherwise NULL */
    Border *border;       /* the VM that the thread has released together with the GIL, retained; or NULL */
    bool computes;        /* the thread computes in the memory of that VM meanwhile */
} Released;

/* The locks that this thread has released.  The alignment avoids an offset of 16 bytes into a page, where the leak
 * checker of GCC 12 takes the pointer for a glibc structure and reads invalid addresses. */
static _Thread_local _Alignas(64) Released released;

/* -- threads of a VM ----------------------------------------------------------------------------------------------- */

static Thread *thread_of(Border *b, pthread_t id) {
    for (Thread *t = b->threads; t; t = t->next)
        if (t->depth > 0 && pthread_equal(t->id, id)) return t;
    return NULL;
}

static void free_thread(Thread *t) {
    free(t->followed);
    free(t->had);
    free(t);
}

static Thread *idle_thread(Border *b) {
    for (Thread *t = b->threads; t; t = t->next)
        if (t->depth == 0) return t;
    return NULL;
}

static void to_front(Border *b, Thread *t) {
    Thread **at = &b->threads;
    while (*at && *at != t) at = &(*at)->next;
    if (*at) *at = t->next;
    t->next = b->threads;
    b->threads = t;
    b->owner = t->id;
}

static void switch_to(Border *b, Thread *t) {
    Thread *from = b->threads;
    if (t != from) qthread_switch(b->vm, from->state, t->state);
    to_front(b, t);
}

/* Creates the Thread for the first VM state, which belongs to the thread that opens the border. */
static void first_thread(Border *b) {
    Thread *t = calloc(1, sizeof *t);
    t->id = pthread_self();
    t->state = qthread_running(b->vm);
    b->threads = t;
    b->owner = t->id;
}

static Thread *new_thread(Border *b) {
    QThread *state;
    if (qthread_new(b->vm, &state) != QS_OK) return NULL;
    Thread *t = calloc(1, sizeof *t);
    if (!t) return qthread_free(b->vm, state), NULL;
    t->state = state;
    t->next = b->threads->next;
    b->threads->next = t;
    return t;
}

/* Returns the Thread of a thread that enters, creating it if needed; NULL: no memory. */
static Thread *find_or_make_thread(Border *b, pthread_t id) {
    Thread *t = thread_of(b, id);
    if (!t) t = idle_thread(b);
    if (!t) t = new_thread(b);
    if (t) t->id = id;
    return t;
}

/* -- references dropped meanwhile ---------------------------------------------------------------------------------- */

static struct {
    PyObject **at;
    SHARED(int) n;
    int cap;
} orphans; /* references dropped without the GIL; protected by `lock` */

static int release_orphans(void *Py_UNUSED(unused)) {
    for (;;) {
        pthread_mutex_lock(&lock);
        PyObject *o = orphans.n ? orphans.at[--orphans.n] : NULL;
        pthread_mutex_unlock(&lock);
        if (!o) return 0;
        Py_DECREF(o);
    }
}

static bool next_dropped(Border *b, struct Dropped *out) {
    pthread_mutex_lock(&lock);
    bool any = b->ndropped > 0;
    if (any) *out = b->dropped[--b->ndropped];
    pthread_mutex_unlock(&lock);
    return any;
}

/* Releases the references that other threads dropped while the VM was away.  Must not be called before a launch is
 * over: a finalizer may enter the VM and replace data that the launch uses. */
static __attribute__((noinline)) void release_dropped(Border *b) {
    struct Dropped d;
    while (b->ndropped && next_dropped(b, &d)) {
        if (d.e) qnd_take_back(d.e);
        else if (b->vm) qs_release(b->vm, d.v);
    }
    if (orphans.n) release_orphans(NULL);
}

/* The caller holds `lock` or the GIL. */
static void drop_later(Border *b, qs_value v, struct Export *e) {
    if (b->ndropped == b->cap_dropped) {
        uint32_t cap = b->cap_dropped ? 2 * b->cap_dropped : 64;
        struct Dropped *at = realloc(b->dropped, qmem_size(cap, sizeof *at, 0));
        if (!at) return;
        b->dropped = at;
        b->cap_dropped = cap;
    }
    b->dropped[b->ndropped++] = (struct Dropped){v, e};
}

/* -- waiting ------------------------------------------------------------------------------------------------------- */

#ifdef Py_GIL_DISABLED
enum { TOO_LONG_NS = 1000000 }; /* a thread that has waited this long is next, before threads that just had the VM */

void qgil_lock(void) { pthread_mutex_lock(&lock); }
void qgil_unlock(void) { pthread_mutex_unlock(&lock); }

/* The caller holds `lock`. */
static bool is_free_for(Border *b, pthread_t me) {
    return !b->holder && (!b->next_holder || pthread_equal(b->next_holder, me));
}

static void wait_for_machine(Border *b, pthread_t me) {
    struct timespec until;
    b->waiting++;
    while (!is_free_for(b, me)) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TOO_LONG_NS;
        if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
        bool late = pthread_cond_timedwait(&back, &lock, &until) != 0;
        if (late && !b->next_holder) b->next_holder = me;
    }
    if (pthread_equal(b->next_holder, me)) b->next_holder = 0;
    b->waiting--;
}

static bool take_at_once(Border *b, pthread_t me) {
    pthread_mutex_lock(&lock);
    bool taken = is_free_for(b, me);
    if (taken) b->holder = me;
    pthread_mutex_unlock(&lock);
    return taken;
}

bool qgil_hold(Border *b) {
    pthread_t me = pthread_self();
    if (qgil_holds(b)) return false;
    qbridge.disturbed = true;
    if (take_at_once(b, me)) return true;
    PyThreadState *state = PyEval_SaveThread();
    pthread_mutex_lock(&lock);
    wait_for_machine(b, me);
    b->holder = me;
    pthread_mutex_unlock(&lock);
    PyEval_RestoreThread(state);
    return true;
}

/* Releases the queued references first. */
void qgil_give(Border *b) {
    pthread_mutex_lock(&lock);
    while (b->ndropped) {
        pthread_mutex_unlock(&lock);
        release_dropped(b);
        pthread_mutex_lock(&lock);
    }
    b->holder = 0;
    if (b->waiting) pthread_cond_broadcast(&back);
    pthread_mutex_unlock(&lock);
}

Turn qgil_turn(Border *b, qs_value v, struct Export *e) {
    if (qgil_holds(b)) return TURN_HAD;
    qbridge.disturbed = true;
    pthread_mutex_lock(&lock);
    Turn turn = b->holder ? TURN_NONE : TURN_TAKEN;
    if (turn == TURN_TAKEN) b->holder = pthread_self();
    else drop_later(b, v, e);
    pthread_mutex_unlock(&lock);
    return turn;
}

bool qgil_try(Border *b) { return !qgil_holds(b) && take_at_once(b, pthread_self()); }

Border *qgil_next(Border *b) {
    pthread_mutex_lock(&lock);
    Border *next = b ? b->next : qbridge.borders;
    if (next) qborder_retain(next);
    pthread_mutex_unlock(&lock);
    if (b) qborder_release(b);
    return next;
}

/* Records whether the thread already held the VM when this entry began, and thus keeps it afterwards. */
static bool push_entry(Thread *t, bool had) {
    if (t->depth >= t->cap_had) {
        int cap = 2 * t->depth + 8;
        bool *at = realloc(t->had, qmem_size((size_t)cap, sizeof *at, 0));
        if (!at) return false;
        t->had = at, t->cap_had = cap;
    }
    return t->had[t->depth] = had, true;
}

static void leave_as_it_was(Border *b, const Thread *t) {
    if (!t->had[t->depth]) qgil_give(b);
}

/* Called in the child of a fork, which has no other threads; false: one of them held the VM. */
static bool forget_others(Border *b) {
    bool mine = !b->holder || qgil_holds(b);
    b->next_holder = 0;
    if (!mine) b->holder = 0;
    return mine;
}
#else
static bool push_entry(Thread *Py_UNUSED(t), bool Py_UNUSED(had)) { return true; }
static void leave_as_it_was(Border *b, const Thread *t) { (void)b, (void)t; }
static bool forget_others(Border *Py_UNUSED(b)) { return true; }
#endif

Border *qgil_host(void) {
    qgil_lock();
    Border *b = qbridge.host;
    if (b) qborder_retain(b);
    qgil_unlock();
    return b;
}

static void wait_until_back(Border *b) {
    PyThreadState *me = PyEval_SaveThread();
    pthread_mutex_lock(&lock);
    while (qflag_is_up(&b->away)) pthread_cond_wait(&back, &lock);
    pthread_mutex_unlock(&lock);
    PyEval_RestoreThread(me);
}

/* Waits until no thread works in the VM without the GIL.  The VM may be closed meanwhile. */
static void await_machine(Border *b) {
    if (!b->vm || !qflag_is_up(&b->away)) return;
    b->waiting++;
    while (b->vm && qflag_is_up(&b->away)) wait_until_back(b);
    b->waiting--;
    pthread_mutex_lock(&lock);
    b->entered++;
    pthread_cond_broadcast(&back); /* wakes let_in */
    pthread_mutex_unlock(&lock);
}

/* Blocks a thread that still has frames in a closed VM and therefore cannot continue. */
static void stop_forever(void) {
    PyEval_SaveThread();
    for (;;) pause();
}

void qgil_reclaim(Border *b) {
    bool taken = qgil_hold(b);
    await_machine(b);
    if (!b->vm && taken) qgil_give(b);
    if (!b->vm) stop_forever();
    Thread *mine = thread_of(b, pthread_self());
    if (mine) switch_to(b, mine);
    else if (b->closing && !pthread_equal(b->closer, pthread_self())) stop_forever(); /* its stack was freed */
}

const char qgil_closed_text[] = "the machine of this value was closed";

int qgil_closed(void) { return PyErr_SetString(qbridge.closed, qgil_closed_text), -1; }

/* A separate function, to keep the fast path of qgil_enter short. */
static __attribute__((noinline)) int enter_thread(Border *b, bool had) {
    pthread_t me = pthread_self();
    /* The thread that holds the VM may never return. */
    if (qbridge.ending && qflag_is_up(&b->away)) return qgil_closed();
    await_machine(b);
    if (!b->vm) return qgil_closed();
    Thread *t = find_or_make_thread(b, me);
    if (!t || !push_entry(t, had)) return qerror_raise(b, QS_ENOMEM), -1;
    switch_to(b, t);
    t->depth++;
    return 0;
}

#ifdef Py_GIL_DISABLED
int qgil_enter(Border *b) {
    if (qbridge.ending && !qgil_holds(b) && b->holder) return qgil_closed();
    bool taken = qgil_hold(b);
    int r = enter_thread(b, !taken);
    if (r < 0 && taken) qgil_give(b);
    return r;
}
#else
int qgil_enter(Border *b) {
    qbridge.disturbed = true; /* see cycles.c */
    bool simple = b->vm && !qflag_is_up(&b->away) && pthread_equal(b->owner, pthread_self());
    return simple ? b->threads->depth++, 0 : enter_thread(b, true);
}
#endif

/* Ends stream ordering; an exception that is already set takes precedence over a new one. */
static int hand_back(Border *b) {
    qs_status s = qgpu_hand_back(b);
    if (s == QS_OK) return 0;
    if (PyErr_Occurred()) qs_error_clear(b->vm);
    else qerror_raise(b, s);
    return -1;
}

/* Python code called inside may have let another thread run the VM. */
int qgil_leave(Border *b) {
    qgil_back(b);
    qwritten_report(b);
    if (b->threads->depth == 1 && (b->ndropped || orphans.n)) release_dropped(b);
    int r = b->threads->nfollowed ? hand_back(b) : 0;
    b->threads->depth--;
    leave_as_it_was(b, b->threads);
    return r;
}

/* -- work without the GIL ------------------------------------------------------------------------------------------ */

static void let_go(Border *b) {
    if (b->loose++) return;
    qflag_raise(&b->away);
    released.state = PyEval_SaveThread();
}

void qgil_take(Border *b) {
    b->loose = 0;
    PyEval_RestoreThread(released.state);
    released.state = NULL;
    if (b->waiting) pthread_mutex_lock(&lock);
    qflag_lower(&b->away);
    if (b->waiting) {
        pthread_cond_broadcast(&back);
        pthread_mutex_unlock(&lock);
    }
}

void qgil_unblock(qs_vm *vm) { let_go(border_of(vm)); }

void qgil_block(qs_vm *vm) {
    Border *b = border_of(vm);
    if (b->loose == 1) qgil_take(b);
    else if (b->loose) b->loose--;
}

/* Releases the GIL only where the VM computes by itself.  A Python function that it called may use the VM, too, and
 * relies on the GIL. */
static void let_go_at_work(Ctx *c) {
    Border *b = border_of((qs_vm *)c);
    if (!b->loose && b->threads->works == b->threads->depth) let_go(b);
}

int qgil_work(Border *b) {
    int before = b->threads->works;
    b->threads->works = b->threads->depth;
    return before;
}

/* Python also knows of a Ctrl-C that came too late to stop anything, so the flag is cleared. */
void qgil_rest(Border *b, int before) {
    qgil_here(b);
    qgil_back(b);
    qwritten_report(b);
    if (b->hosted && !before) qflag_lower(&qvm(b->vm)->interrupted);
    b->threads->works = before;
}

/* Lets all waiting threads enter the VM before the program continues.  Otherwise a program that works on one large
 * array after the other would be away again before a woken thread gets the GIL.  Called without the GIL; `until` is the
 * value that b->entered must reach. */
#ifdef Py_GIL_DISABLED
static void let_in(Border *b, unsigned until) { (void)b, (void)until; } /* next_holder ensures this */
#else
static void let_in(Border *b, unsigned until) {
    enum { AT_MOST_MS = 50 }; /* one of them may work longer; then the program waits for the VM like other threads */
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += AT_MOST_MS * 1000000L;
    if (end.tv_nsec >= 1000000000L) end.tv_sec++, end.tv_nsec -= 1000000000L;
    pthread_mutex_lock(&lock);
    while ((int)(b->entered - until) < 0)
        if (pthread_cond_timedwait(&back, &lock, &end) != 0) break;
    pthread_mutex_unlock(&lock);
}
#endif

/* Also checks signals.  Python's own eval loop would collect garbage here as well, from 3.12 on only here. */
qs_status qgil_yield(qs_vm *vm) {
    Border *b = border_of(vm);
    qgil_here(b);
    qwritten_report(b);
    qgil_outside(b);
    unsigned all = b->entered + (unsigned)b->waiting; /* both change only with the GIL held */
    bool wanted = b->waiting > 0;
    PyThreadState *me = PyEval_SaveThread();
    if (wanted) let_in(b, all);
    PyEval_RestoreThread(me);
    int failed = PyErr_CheckSignals();
    qgil_back(b);
    release_dropped(b);
    return failed ? qerror_take(b) : QS_OK;
}

void qgil_release_vm(qs_vm *vm, bool computes) {
    Border *b = border_of(vm);
    qgil_here(b);
    qwritten_report(b);
    released.border = qborder_retain(b), released.computes = computes;
    if (computes) atomic_fetch_add(&b->computing, 1);
    qgil_outside(b);
    released.state = PyEval_SaveThread();
}

void qgil_acquire_vm(void) {
    Border *b = released.border;
    if (released.computes) atomic_fetch_sub(&b->computing, 1);
    PyEval_RestoreThread(released.state);
    released = (Released){0};
    qgil_back(b); /* a thread that finds the VM closed blocks here and keeps its reference */
    qborder_release(b);
}

/* Called at the prompt.  GUI toolkits set PyOS_InputHook, which handles window events until input is available.  The
 * hook takes the GIL, and its Python code may use the VM and wait in it, which releases both again. */
void qgil_serve_windows(void) {
    Released before = released;
    if (!PyOS_InputHook) return;
    released = (Released){0};
    PyOS_InputHook();
    released = before;
}

/* -- finalizers ---------------------------------------------------------------------------------------------------- */

static void add_orphan(PyObject *o) {
    pthread_mutex_lock(&lock);
    if (orphans.n == orphans.cap) {
        int cap = orphans.cap ? 2 * orphans.cap : 64;
        PyObject **at = realloc(orphans.at, qmem_size((size_t)cap, sizeof *at, 0));
        if (at) orphans.at = at, orphans.cap = cap;
    }
    bool first = orphans.n == 0;
    if (orphans.n < orphans.cap) orphans.at[orphans.n++] = o;
    pthread_mutex_unlock(&lock);
    if (first) Py_AddPendingCall(release_orphans, NULL);
}

void qgil_decref(PyObject *o) {
    if (qbridge.finished) return;
    qbridge.disturbed = true;
    if (!released.state && PyGILState_Check()) Py_DECREF(o);
    else add_orphan(o);
}

#ifdef Py_GIL_DISABLED
void qgil_release(Border *b, qs_value v) {
    Turn turn = b->vm && qval_is_object(v) ? qgil_turn(b, v, NULL) : TURN_NONE;
    if (turn != TURN_NONE && b->vm) qs_release(b->vm, v);
    qgil_end_turn(b, turn);
}
#else
void qgil_release(Border *b, qs_value v) {
    if (!b->vm || !qval_is_object(v)) return;
    if (qflag_is_up(&b->away)) drop_later(b, v, NULL);
    else qs_release(b->vm, v);
}
#endif

/* -- ticks: make script loops yield regularly, as Python threads do ------------------------------------------------ */

enum { TICK_MS = 10 };
static struct {
    bool running;
    int machines;
} ticker; /* protected by `lock` */

/* While a kernel runs, Python does not check for Ctrl-C.  Therefore, when the ticker finds the VM away, it installs a
 * handler in front of Python's until the VM is back: the kernel stops, and Python raises KeyboardInterrupt.  At other
 * times the signal handlers are not touched, because a package must not change them.  qrun has its own handler and does
 * not need this. */
static struct {
    bool on;
    struct sigaction before;
    Machine *_Atomic machine;
} watch; /* protected by `lock` */

static void on_interrupt(int sig) {
    Machine *m = atomic_load(&watch.machine);
    if (m) {
        qflag_raise(&m->interrupted);
        qflag_raise(&m->attention);
        (void)qvm_is_stuck((qs_vm *)m, "KeyboardInterrupt follows when that has ended\n");
    }
    if (watch.before.sa_handler != SIG_IGN && watch.before.sa_handler != SIG_DFL) watch.before.sa_handler(sig);
}

static void begin_watch(Machine *m) {
    struct sigaction action = {.sa_handler = on_interrupt};
    atomic_store(&watch.machine, m);
    if (watch.on || sigaction(SIGINT, NULL, &watch.before) != 0) return;
    const struct sigaction *b = &watch.before;
    bool pythons = !(b->sa_flags & SA_SIGINFO) && b->sa_handler != SIG_IGN && b->sa_handler != SIG_DFL;
    watch.on = pythons && sigaction(SIGINT, &action, NULL) == 0;
}

static void end_watch(void) {
    struct sigaction now;
    atomic_store(&watch.machine, NULL);
    if (!watch.on) return;
    watch.on = false; /* unless other code has replaced our handler */
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == on_interrupt) sigaction(SIGINT, &watch.before, NULL);
}

static void look_after(const Border *list) {
    while (list && !(list->hosted && list->vm && list->away)) list = list->next;
    if (list) begin_watch(qvm(list->vm));
    else end_watch();
}

static void *tick(void *Py_UNUSED(unused)) {
    const struct timespec pause_time = {0, TICK_MS * 1000000L};
    for (;;) {
        nanosleep(&pause_time, NULL);
        pthread_mutex_lock(&lock);
        if (!ticker.machines) break;
        look_after(qbridge.borders);
        for (Border *b = qbridge.borders; b; b = b->next)
            if (b->vm) qflag_raise(&qvm(b->vm)->attention);
        pthread_mutex_unlock(&lock);
    }
    ticker.running = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void start_ticker(void) {
    pthread_t thread;
    if (ticker.running || pthread_create(&thread, NULL, tick, NULL) != 0) return;
    pthread_detach(thread);
    ticker.running = true;
}

void qgil_start(Border *b, bool inside) {
    first_thread(b);
    if (inside) qgil_hold(b);
    b->threads->depth = b->threads->works = inside;
    qvm_ctx(b->vm)->let_go = let_go_at_work;
    pthread_mutex_lock(&lock);
    b->next = qbridge.borders;
    qbridge.borders = b;
    ticker.machines++;
    start_ticker();
    pthread_mutex_unlock(&lock);
}

/* Waits for computations before the memory of the VM is freed. */
static void await_computations(Border *b) {
    const struct timespec pause_time = {0, 1000000};
    while (atomic_load(&b->computing)) {
        qgil_outside(b);
        PyThreadState *me = PyEval_SaveThread();
        nanosleep(&pause_time, NULL);
        PyEval_RestoreThread(me);
        qgil_back(b);
    }
}

/* Threads that are still inside keep their stacks; they block when they return. */
void qgil_stop(Border *b) {
    await_computations(b);
    b->closing = true, b->closer = pthread_self();
    qvm_ctx(b->vm)->let_go = NULL;
    pthread_mutex_lock(&lock);
    Border **at = &qbridge.borders;
    while (*at != b) at = &(*at)->next;
    *at = b->next;
    end_watch();
    ticker.machines--;
    pthread_mutex_unlock(&lock);
    for (Thread *t = b->threads->next, *next; t; t = next) {
        next = t->next;
        if (t->depth == 0) qthread_free(b->vm, t->state);
        if (t->depth == 0) free_thread(t);
    }
    b->threads->next = NULL;
}

/* Returns whether a thread other than the caller is inside. */
bool qgil_used(Border *b) {
    int depth = b->away;
    for (Thread *t = b->threads; t; t = t->next) depth += t->depth;
    return depth > (pthread_equal(b->owner, pthread_self()) && b->threads->depth > 0);
}

/* Prepares the VM for use in the child of a fork, by the only remaining thread; the other threads and their stacks are
 * gone.  Returns false if a thread was at work in the VM without the GIL, because its state is then inconsistent. */
static bool survive_fork(Border *b) {
    b->waiting = 0;
    atomic_store(&b->computing, 0);
    bool others = !forget_others(b);
    if (!b->vm || qflag_is_up(&b->away) || others) return false;
    Thread *mine = find_or_make_thread(b, pthread_self());
    if (!mine) return false;
    switch_to(b, mine);
    mine->next = NULL;
    qthread_forked(b->vm);
    return true;
}

void qgil_forked(void) {
    Border *list = qbridge.borders;
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&back, NULL);
    end_watch();
    ticker.running = false;
    ticker.machines = 0;
    qbridge.borders = NULL;
    for (Border *b = list, *next; b; b = next) {
        next = b->next;
        if (survive_fork(b)) {
            b->next = qbridge.borders;
            qbridge.borders = b;
            ticker.machines++;
        } else {
            if (qbridge.host == b) qbridge.host = NULL;
            b->vm = NULL;
        }
    }
    if (ticker.machines) start_ticker();
}

void qgil_stopped(Border *b) {
    qthread_drop(b->vm, b->threads->state);
    free_thread(b->threads);
    b->threads = NULL;
    b->owner = 0;
    b->vm = NULL;
    qgil_give(b);
}
