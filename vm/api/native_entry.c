/* native_entry.c -- calls functions of a library made by qrun --make-lib from C.
 *
 *     filters_twice(&x, &y) ── a stub in libfilters.so ── qs_native_call(library, 0, {&x, &y})
 *         the library's VM, opened by the first call ── arguments by signature ── qs_call ── results
 *
 * A signature has one letter for each argument, '>', and one letter for each result:
 *     d double   i int64_t   b bool   s char *   a qs_view
 * NAME_error, NAME_release and NAME_device have the first numbers, before the program's functions.
 *
 * A library that uses Python holds the GIL during a call and releases it afterwards.  A thread never waits for a
 * library while it holds the GIL, because the thread inside the library may need it.
 *
 * The only global state is the lock for the creation of a Library and the error of each thread.  Everything else
 * belongs to the Library. */
#include "devices/bundle.h"
#include "devices/solib.h"
#include "vm/api/bindings.h"
#include "vm/api/options.h"
#include "vm/array/array.h"
#include "vm/base/dtype.h"
#include "vm/program/prebuilt.h"
#include "vm/program/python.h"
#include "vm/value/machine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_TEXT = 4096, MOST = 32 /* arguments and results */ };
typedef struct {
    pthread_mutex_t lock; /* protects the following members */
    qs_vm *vm;            /* NULL: not opened, or opening failed; the next call tries again */
    bool ready;           /* its top level has run */
    const Bundle *bundle;
    char settings[PREBUILT_SETTINGS], program[PATH_MAX];
    struct Owner *_Atomic late; /* results released by any thread when begin_turn failed; freed later */
} Library;
typedef struct Owner {
    Library *library;
    qs_value v;
    double number[2];
    struct Owner *next;
} Owner; /* the owner of a result */

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char last_error[ERROR_TEXT];

const char *qs_native_error(void) { return last_error; }

static qs_status keep_error(qs_vm *vm, qs_status s) {
    const char *report = vm ? qs_error_report(vm) : NULL;
    snprintf(last_error, sizeof last_error, "%s", report ? report : "no memory for a machine\n");
    if (vm) qs_error_clear(vm);
    return s;
}

/* -- the VM of a library ------------------------------------------------------------------------------------------- */
static qs_status load_program(Library *l, const SolibData *d) {
    Dl_info where;
    char path[PATH_MAX];
    if (!dladdr(d, &where) || !realpath(where.dli_fname, path))
        return qs_fail(l->vm, QS_EIO, "a library cannot find its own file");
    TRY(qprebuilt_take(l->vm, path, d->bundle, d->n, l->program));
    l->bundle = qvm(l->vm)->bundles;
    return qs_run_file(l->vm, l->program);
}

static qs_status open_machine(Library *l, const SolibData *d) {
    qs_config c;
    qs_config_init(&c);
    qbundle_settings(d->bundle, d->n, l->settings, sizeof l->settings);
    qoptions_restore(l->settings, &c);
    qs_status s = qs_open(&c, &l->vm);
    if (s == QS_OK) s = load_program(l, d);
    if (s == QS_OK) return l->ready = true, s;
    keep_error(l->vm, s);
    qs_close(l->vm);
    return l->vm = NULL, s;
}

static Library *new_library(void) {
    /* recursive, because Python code in a call may call back */
    static const pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    Library *l = calloc(1, sizeof *l);
    if (l) l->lock = again;
    return l;
}

static Library *library_of(SolibData *d) {
    Library *l = __atomic_load_n(&d->state, __ATOMIC_ACQUIRE);
    if (l) return l;
    pthread_mutex_lock(&making);
    if (!d->state) __atomic_store_n(&d->state, new_library(), __ATOMIC_RELEASE);
    l = d->state;
    pthread_mutex_unlock(&making);
    return l;
}

/* -- serialization of threads -------------------------------------------------------------------------------------- */
static void wait_for(Library *l) {
    if (!pthread_mutex_trylock(&l->lock)) return;
    void *paused = qpython_pause();
    pthread_mutex_lock(&l->lock);
    qpython_resume(paused);
}

static void end_turn(Library *l, const PythonTurn *turn) {
    if (l->vm && qvm(l->vm)->python) qvm(l->vm)->python->detach(l->vm, turn);
    pthread_mutex_unlock(&l->lock);
}

static qs_status cannot_begin(Library *l, qs_status s, const char *why) {
    pthread_mutex_unlock(&l->lock);
    return snprintf(last_error, sizeof last_error, "%s\n", why), s;
}

static void free_owner(Owner *o) {
    qs_vm *vm = o->library->vm;
    if (o->v.kind == QS_ARRAY && qs_unlock(vm, o->v, -1, QS_READ)) qs_error_clear(vm);
    qs_release(vm, o->v), free(o);
}

static void free_released(Library *l) {
    for (Owner *o = atomic_exchange(&l->late, NULL), *next; o; o = next) next = o->next, free_owner(o);
}

static qs_status begin_turn(Library *l, PythonTurn *turn) {
    *turn = (PythonTurn){.on = false};
    wait_for(l);
    if (!l->vm) return QS_OK;
    if (!l->ready) return cannot_begin(l, QS_EVALUE, "a library is called by its own top level, before that has ended");
    if (qvm(l->vm)->python && qvm(l->vm)->python->attach(l->vm, turn) != QS_OK)
        return cannot_begin(l, QS_ENOMEM, "no memory for the stack of another thread");
    return free_released(l), QS_OK;
}

/* Runs a job in the library, which is opened if needed; saves the error for this thread. */
typedef qs_status Job(Library *l, void *what, va_list ap);
static qs_status in_turn(SolibData *d, Job *job, void *what, va_list ap) {
    PythonTurn turn;
    Library *l = library_of(d);
    if (!l) return keep_error(NULL, QS_ENOMEM);
    TRY(begin_turn(l, &turn));
    qs_status s = l->vm ? QS_OK : open_machine(l, d);
    if (s == QS_OK && (s = job(l, what, ap)) != QS_OK) keep_error(l->vm, s);
    end_turn(l, &turn);
    return s;
}

/* -- views --------------------------------------------------------------------------------------------------------- */
static Owner *owner_of(const qs_view *v) { return v->owner == QS_READONLY ? NULL : v->owner; }

static void release_view(qs_view *v) {
    if (owner_of(v)) free_owner(owner_of(v));
    *v = (qs_view){.data = NULL};
}

/* Queues the release for the next thread that enters the library. */
static void queue_release(qs_view *v) {
    Owner *o = owner_of(v);
    o->next = atomic_load(&o->library->late);
    while (!atomic_compare_exchange_weak(&o->library->late, &o->next, o)) {}
    *v = (qs_view){.data = NULL};
}

void qs_view_release(qs_view *v) {
    PythonTurn turn;
    Library *l = owner_of(v) ? owner_of(v)->library : NULL;
    if (!l) release_view(v);
    else if (begin_turn(l, &turn) == QS_OK) release_view(v), end_turn(l, &turn);
    else queue_release(v);
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    const char *name;
    size_t nname;
    int number;
} Place; /* the function and the argument, for messages */

static qs_status argument_error(const Place *p, const char *what) {
    return qs_fail(p->vm, QS_EVALUE, "argument %d of %.*s: %s", p->number + 1, (int)p->nname, p->name, what);
}

static qs_status number_of(qs_vm *vm, const qs_view *v, qs_value *out) { return qarr_load(vm, v->dtype, v->data, out); }

static qs_status array_of(const Place *p, const qs_view *v, qs_value *out) {
    if (!v) return argument_error(p, "an array is wanted, got NULL");
    if (v->rank < 0 || v->rank > QS_MAX_RANK) return argument_error(p, "an array has 0 to 8 dimensions");
    if (v->dtype > QS_C128) return argument_error(p, "this is no type of elements");
    qs_array_info info = {.dtype = v->dtype, .rank = v->rank, .readonly = v->owner == QS_READONLY};
    size_t last = 0, n = 1;
    for (int i = 0; i < v->rank; i++) {
        if (v->dims[i] < 0) return argument_error(p, "an extent is negative");
        info.dims[i] = v->dims[i], info.strides[i] = v->strides[i], n *= (size_t)v->dims[i];
        if (v->dims[i]) last += (size_t)(v->dims[i] - 1) * (size_t)llabs(v->strides[i]);
    }
    if (n && !v->data) return argument_error(p, "its data are NULL");
    if (!v->rank) return number_of(p->vm, v, out);
    info.nbytes = n ? (last + 1) * qdtype_size(v->dtype) : 0;
    return qs_array_wrap(p->vm, &info, v->data, -1, NULL, NULL, out);
}

/* Wraps a va_list in a struct, which can be passed by pointer.  On aarch64, a va_list parameter is a copy, and the
 * caller's list would not advance. */
typedef struct {
    va_list list;
} Rest;

static qs_status read_argument(const Place *p, char kind, Rest *rest, qs_value *out) {
    const char *text;
    switch (kind) {
    case 'd': return *out = qs_num(va_arg(rest->list, double)), QS_OK;
    case 'i': return *out = qs_int(va_arg(rest->list, int64_t)), QS_OK;
    /* Only the lowest byte of a bool is defined. */
    case 'b': return *out = qs_bool(va_arg(rest->list, int) & 0xff), QS_OK;
    case 's':
        text = va_arg(rest->list, const char *);
        return text ? qs_string(p->vm, text, strlen(text), out) : argument_error(p, "a text is wanted, got NULL");
    default: return array_of(p, va_arg(rest->list, const qs_view *), out);
    }
}

/* -- results ------------------------------------------------------------------------------------------------------- */
static qs_status create_owner(Library *l, qs_value v, qs_view *out, Owner **made) {
    if (!(*made = calloc(1, sizeof **made))) return qs_fail(l->vm, QS_ENOMEM, "no memory for a result");
    **made = (Owner){.library = l, .v = v};
    out->owner = *made;
    return QS_OK;
}

static void show_number(Owner *o, qs_value v, qs_view *out) {
    double parts[2];
    out->data = o->number, out->dtype = QS_F64;
    if (v.kind == QS_BOOL) memcpy(o->number, (bool[]){v.u.i}, 1), out->dtype = QS_B1;
    else if (v.kind == QS_INT) memcpy(o->number, &v.u.i, 8), out->dtype = QS_I64;
    else if (qs_to_complex(o->library->vm, v, parts) == QS_OK) memcpy(o->number, parts, sizeof parts);
    if (v.kind == QS_COMPLEX) out->dtype = QS_C128;
}

static void show_string(qs_value v, qs_view *out) {
    size_t n;
    out->data = (void *)(uintptr_t)qs_to_string(v, &n);
    out->dtype = QS_U8, out->rank = 1, out->dims[0] = (int64_t)n, out->strides[0] = 1;
}

static qs_status show_array(qs_vm *vm, qs_value v, qs_view *out) {
    qs_array_info info;
    qs_array_describe(v, &info);
    out->dtype = info.dtype, out->rank = info.rank;
    memcpy(out->dims, info.dims, sizeof out->dims), memcpy(out->strides, info.strides, sizeof out->strides);
    return qs_lock(vm, v, -1, QS_READ, &out->data);
}

/* Takes the reference to v. */
static qs_status view_of(Library *l, const Place *p, qs_value v, qs_view *out) {
    Owner *o;
    bool number = v.kind == QS_BOOL || v.kind == QS_INT || v.kind == QS_NUM || v.kind == QS_COMPLEX;
    *out = (qs_view){.data = NULL};
    if (!number && v.kind != QS_STRING && v.kind != QS_ARRAY) {
        qs_status s = qs_fail(l->vm, QS_ETYPE,
                              "result %d of %.*s is %s: C gets numbers, arrays and strings here, and "
                              "any value from qs_call",
                              p->number + 1, (int)p->nname, p->name, qs_type_name(l->vm, v));
        return qs_release(l->vm, v), s;
    }
    qs_status s = create_owner(l, v, out, &o);
    if (s != QS_OK) return qs_release(l->vm, v), s;
    if (number) show_number(o, v, out);
    else if (v.kind == QS_STRING) show_string(v, out);
    else s = show_array(l->vm, v, out);
    if (s == QS_OK) return s;
    qs_release(l->vm, v), free(o);
    return *out = (qs_view){.data = NULL}, s;
}

static qs_status number_result(qs_vm *vm, char kind, qs_value v, void *to) {
    double x;
    if (kind == 'i') return qs_to_int(vm, v, to);
    TRY(qs_to_num(vm, v, &x));
    if (kind == 'b') *(bool *)to = x != 0;
    else *(double *)to = x;
    return QS_OK;
}

/* Converts a Python object as from_py does. */
static qs_status from_python(qs_vm *vm, qs_value *v) {
    qs_value fn, made;
    if (v->kind != QS_FOREIGN || !qvm(vm)->python) return QS_OK;
    TRY(qvm_lookup_builtin(vm, "from_py", &fn));
    qs_status s = qs_call(vm, fn, 1, v, 1, &made);
    qs_release(vm, fn);
    if (s == QS_OK) qs_release(vm, *v), *v = made;
    return s;
}

/* Takes the reference to v; `to` NULL: the result is ignored. */
static qs_status give_result(Library *l, const Place *p, char kind, qs_value v, void *to) {
    qs_status given = to ? from_python(l->vm, &v) : QS_OK;
    if (given != QS_OK) return qs_release(l->vm, v), given;
    if (kind == 'a' && to) return view_of(l, p, v, to);
    qs_status s = to ? number_result(l->vm, kind, v, to) : QS_OK;
    qs_release(l->vm, v);
    return s;
}

/* -- a call -------------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_value in[MOST], out[MOST];
    void *to[MOST];
    int nin, nout;
} Call;

static qs_status read_arguments(Place *p, const char *signature, Rest *rest, Call *c) {
    for (; *signature != '>'; signature++) {
        p->number = c->nin;
        TRY(read_argument(p, *signature, rest, &c->in[c->nin]));
        c->nin++;
    }
    for (signature++; *signature; signature++) {
        c->to[c->nout] = va_arg(rest->list, void *);
        if (*signature == 'a' && c->to[c->nout]) *(qs_view *)c->to[c->nout] = (qs_view){.data = NULL};
        c->nout++;
    }
    return QS_OK;
}

/* After a failure, the views created before are released, so that the caller need not check them. */
static qs_status give_results(Library *l, Place *p, const char *signature, Call *c) {
    const char *kinds = strchr(signature, '>') + 1;
    qs_status s = QS_OK;
    for (int i = 0; i < c->nout; i++) {
        if (s == QS_OK) p->number = i, s = give_result(l, p, kinds[i], c->out[i], c->to[i]);
        else qs_release(l->vm, c->out[i]);
    }
    for (int i = 0; i < p->number && s != QS_OK; i++)
        if (kinds[i] == 'a' && c->to[i]) release_view(c->to[i]);
    return s;
}

static bool is_good(const char *signature) {
    const char *more = strchr(signature, '>');
    return more && strlen(signature) <= MOST && strspn(signature, "dibsa") == (size_t)(more - signature) &&
           strspn(more + 1, "diba") == strlen(more + 1);
}

static qs_status call_function(Library *l, void *number, va_list ap) {
    const BundleFunction *f = &l->bundle->functions[*(uint32_t *)number - NATIVE_SERVICES];
    const char *signature = qbundle_text(l->bundle, f->signature), *name = qbundle_text(l->bundle, f->name);
    Place p = {l->vm, name, f->name.n, 0};
    qs_value fn;
    Call c = {.nin = 0};
    Rest rest;
    if (!is_good(signature)) return qs_fail(l->vm, QS_EIO, "%s has a signature that is none", name);
    TRY(qvm_lookup_in(l->vm, l->program, name, &fn));
    va_copy(rest.list, ap);
    qs_status s = read_arguments(&p, signature, &rest, &c);
    va_end(rest.list);
    if (s == QS_OK) s = qs_call(l->vm, fn, c.nin, c.in, c.nout, c.out);
    for (int i = 0; i < c.nin; i++) qs_release(l->vm, c.in[i]);
    qs_release(l->vm, fn);
    return s == QS_OK ? give_results(l, &p, signature, &c) : s;
}

static qs_status choose_device(Library *l, void *unused, va_list ap) {
    const char *name = va_arg(ap, const char *);
    (void)unused;
    return name ? qs_use_device(l->vm, name) : qs_fail(l->vm, QS_EVALUE, "the name of a device is wanted, got NULL");
}

/* The first numbers are services of the library, so that users need not link libquasar.so for them. */
intptr_t qs_native_call(void *library, uint32_t function, va_list ap) {
    switch (function) {
    case 0: return (intptr_t)qs_native_error();
    case 1: return qs_view_release(va_arg(ap, qs_view *)), 0;
    case 2: return in_turn(library, choose_device, NULL, ap);
    default: return in_turn(library, call_function, &function, ap);
    }
}
