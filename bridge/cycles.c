/* cycles.c -- collects garbage cycles through both heaps, such as a script object with a dict that holds the object.
 *
 *     wrapper (Python) ──► object (script) ──► … ──► pyvalue ──► dict (Python) ──► wrapper
 *
 * Python's collector sees only the references that tp_traverse visits.  A wrapper cannot simply visit everything its
 * object reaches: two wrappers may reach the same pyvalue, whose single reference must be visited once, and references
 * held by the VM itself must not be visited.  Therefore, when a full collection starts, the objects that are held only
 * by wrappers are found by trial deletion (as in vm/value/gc.c) and partitioned into connected groups.  Every wrapper
 * of a group visits the hub of the group, and the hub visits the pyvalues in it.  If any wrapper is reachable, the
 * whole group is; if none is, Python clears them, and the script objects are freed with their last reference.
 *
 * Hubs are correct only while no references change.  If code enters the VM during the collection (a __del__), the hubs
 * stop visiting, and the objects survive until the next collection. */
#include "bridge/bridge.h"

#include <stdlib.h>
#include <string.h>

typedef struct Hub {
    PyObject ob_base;
    struct Hub *next; /* list of all hubs */
    PyObject **items; /* each with a reference of the hub, in addition to that of the pyvalue */
    int n, cap;
} Hub;

static struct {
    PyTypeObject *type;
    Hub *all;
} hubs;

/* -- hubs ---------------------------------------------------------------------------------------------------------- */

static int traverse(PyObject *o, visitproc visit, void *arg) {
    const Hub *h = (Hub *)o;
    Py_VISIT(Py_TYPE(o));
    for (int i = 0; i < h->n; i++) {
        Py_VISIT(h->items[i]);
        if (!qbridge.disturbed) Py_VISIT(h->items[i]); /* the reference held by the pyvalue */
    }
    return 0;
}

static int clear(PyObject *o) {
    Hub *h = (Hub *)o;
    while (h->n) Py_DECREF(h->items[--h->n]);
    return 0;
}

static void dealloc(PyObject *o) {
    PyTypeObject *t = Py_TYPE(o);
    Hub **at = &hubs.all;
    PyObject_GC_UnTrack(o);
    qgil_lock();
    while (*at && *at != (Hub *)o) at = &(*at)->next;
    if (*at) *at = ((Hub *)o)->next;
    qgil_unlock();
    clear(o);
    free(((Hub *)o)->items);
    PyObject_GC_Del(o);
    Py_DECREF(t);
}

static Hub *new_hub(void) {
    Hub *h = (Hub *)PyType_GenericAlloc(hubs.type, 0);
    if (!h) return NULL;
    qgil_lock();
    h->next = hubs.all;
    hubs.all = h;
    qgil_unlock();
    return h;
}

static bool add_item(Hub *h, PyObject *o) {
    if (h->n == h->cap) {
        int cap = h->cap ? 2 * h->cap : 8;
        PyObject **at = realloc(h->items, qmem_size((size_t)cap, sizeof *at, 0));
        if (!at) return false;
        h->items = at;
        h->cap = cap;
    }
    Py_INCREF(o);
    h->items[h->n++] = o;
    return true;
}

/* -- the script heap: `trial` counts the references to a container from outside of containers and wrappers --------- */

static GcObj *container(qs_value v) {
    bool is = v.kind == QS_CELL || v.kind == QS_OBJECT || v.kind == QS_FUNCTION || v.kind == QS_FOREIGN;
    GcObj *o = is ? v.u.p : NULL;
    return o && o->next ? o : NULL;
}

static void remove_reference(void *Py_UNUSED(ud), qs_value child) {
    GcObj *o = container(child);
    if (o) o->trial--;
}

enum { ALIVE = UINT32_MAX };
typedef struct {
    GcObj **at;
    size_t n, cap;
    bool failed;
} Stack;

static void push_object(Stack *s, GcObj *o) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        GcObj **at = realloc(s->at, qmem_size(cap, sizeof *at, 0));
        if (!at) {
            s->failed = true;
            return;
        }
        s->at = at;
        s->cap = cap;
    }
    s->at[s->n++] = o;
}

static void mark_alive(void *ud, qs_value child) {
    GcObj *o = container(child);
    if (!o || o->trial == ALIVE) return;
    o->trial = ALIVE;
    push_object(ud, o);
}

/* Sets trial to ALIVE for all containers reachable from outside.  Collects the others in `rest` and sets trial to their
 * index there. */
static void find_rest(Border *b, Stack *rest) {
    GcObj *list = &qvm(b->vm)->gc_list;
    Stack alive = {0};
    for (GcObj *o = list->next; o != list; o = o->next) o->trial = o->hdr.refs;
    for (GcObj *o = list->next; o != list; o = o->next) qgc_children(o, remove_reference, NULL);
    qgil_lock();
    for (Wrapper *w = b->wrappers.next; w != &b->wrappers; w = w->next) remove_reference(NULL, w->v);
    qgil_unlock();
    for (GcObj *o = list->next; o != list; o = o->next)
        if (o->trial != 0 && o->trial != ALIVE) mark_alive(&alive, qval_object(o->hdr.kind, o));
    while (alive.n) qgc_children(alive.at[--alive.n], mark_alive, &alive);
    for (GcObj *o = list->next; o != list; o = o->next)
        if (o->trial != ALIVE) push_object(rest, o);
    rest->failed = rest->failed || alive.failed;
    free(alive.at);
    for (size_t i = 0; i < rest->n; i++) rest->at[i]->trial = (uint32_t)i;
}

/* -- groups: union-find over `rest` -------------------------------------------------------------------------------- */

static uint32_t find_root(uint32_t *parent, uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

typedef struct {
    uint32_t *parent, from;
} Join;

static void join_groups(void *ud, qs_value child) {
    Join *j = ud;
    GcObj *o = container(child);
    if (o && o->trial != ALIVE) j->parent[find_root(j->parent, o->trial)] = find_root(j->parent, j->from);
}

static void make_groups(const Stack *rest, uint32_t *parent) {
    for (uint32_t i = 0; i < rest->n; i++) parent[i] = i;
    for (uint32_t i = 0; i < rest->n; i++) {
        Join j = {parent, i};
        qgc_children(rest->at[i], join_groups, &j);
    }
}

/* The group of the value in a wrapper; ALIVE: none. */
static uint32_t group_of(uint32_t *parent, const Wrapper *w) {
    const GcObj *o = container(w->v);
    return o && o->trial != ALIVE ? find_root(parent, o->trial) : ALIVE;
}

/* A group without a wrapper is garbage of the VM alone and gets no hub. */
static void make_hubs(Border *b, uint32_t *parent, size_t n, bool *wanted, Hub **of) {
    qgil_lock();
    for (Wrapper *w = b->wrappers.next; w != &b->wrappers; w = w->next)
        if (group_of(parent, w) != ALIVE) wanted[group_of(parent, w)] = true;
    qgil_unlock();
    for (size_t i = 0; i < n; i++)
        if (wanted[i]) of[i] = new_hub();
}

static void give_hubs(Border *b, uint32_t *parent, Hub **of) {
    qgil_lock();
    for (Wrapper *w = b->wrappers.next; w != &b->wrappers; w = w->next) {
        uint32_t group = group_of(parent, w);
        if (group == ALIVE || !of[group]) continue;
        Py_INCREF((PyObject *)of[group]);
        w->hub = (PyObject *)of[group];
    }
    qgil_unlock();
}

static void fill_hubs(const Stack *rest, uint32_t *parent, Hub **of) {
    for (uint32_t i = 0; i < rest->n; i++) {
        Hub *h = of[find_root(parent, i)];
        PyObject *o = qpyvalue_get(qval_object(rest->at[i]->hdr.kind, rest->at[i]));
        if (h && o && !add_item(h, o)) qbridge.disturbed = true;
    }
}

static void drop_own(Hub **of, size_t n) { /* the wrappers hold them now */
    for (size_t i = 0; i < n; i++) Py_XDECREF((PyObject *)of[i]);
}

static void make_visible(Border *b) {
    Stack rest = {0};
    if (!b->vm || qflag_is_up(&b->away) || b->wrappers.next == &b->wrappers || !qvm(b->vm)->gc_list.next ||
        qvm(b->vm)->gc_running)
        return;
    find_rest(b, &rest);
    uint32_t *parent = calloc(1, qmem_size(rest.n, sizeof *parent, sizeof *parent));
    bool *wanted = calloc(1, qmem_size(rest.n, sizeof *wanted, sizeof *wanted));
    Hub **of = calloc(1, qmem_size(rest.n, sizeof *of, sizeof *of));
    if (parent && wanted && of && !rest.failed) {
        make_groups(&rest, parent);
        make_hubs(b, parent, rest.n, wanted, of);
        give_hubs(b, parent, of);
        fill_hubs(&rest, parent, of);
        drop_own(of, rest.n);
    }
    free(of);
    free(wanted);
    free(parent);
    free(rest.at);
}

/* -- callbacks before and after a full collection ------------------------------------------------------------------ */

/* Without the GIL, other threads run until Python stops them; a thread that takes the VM from here on sets
 * `disturbed`. */
#ifdef Py_GIL_DISABLED
static void begin_collection(void) {
    qbridge.disturbed = false;
    for (Border *b = qgil_next(NULL); b; b = qgil_next(b)) {
        bool had = qgil_holds(b);
        if (!had && !qgil_try(b)) continue;
        make_visible(b);
        if (!had) qgil_give(b);
    }
}
#else
static void begin_collection(void) {
    qbridge.disturbed = false;
    for (Border *b = qbridge.borders; b; b = b->next) make_visible(b);
}
#endif

/* References to release after the traversal of the containers that held them. */
typedef struct {
    PyObject **at;
    size_t n, cap;
} Dropped;

static bool drop_later(Dropped *d, PyObject *o) {
    if (d->n == d->cap) {
        size_t cap = d->cap ? 2 * d->cap : 256;
        PyObject **at = realloc(d->at, qmem_size(cap, sizeof *at, 0));
        if (!at) return false;
        d->at = at, d->cap = cap;
    }
    return d->at[d->n++] = o, true;
}

static void empty_hubs(Dropped *d) {
    for (Hub *h = hubs.all; h; h = h->next)
        while (h->n && drop_later(d, h->items[h->n - 1])) h->n--;
}

static void take_hubs(Border *b, Dropped *d) {
    for (Wrapper *w = b->wrappers.next; w != &b->wrappers; w = w->next)
        if (w->hub && drop_later(d, w->hub)) w->hub = NULL;
}

static void end_collection(void) {
    Dropped d = {0};
    qgil_lock();
    empty_hubs(&d);
    for (Border *b = qbridge.borders; b; b = b->next) take_hubs(b, &d);
    qgil_unlock();
    while (d.n) Py_DECREF(d.at[--d.n]);
    free(d.at);
}

PyObject *qcycles_watch(PyObject *Py_UNUSED(module), PyObject *args) {
    const char *phase;
    PyObject *info;
    if (!PyArg_ParseTuple(args, "sO", &phase, &info)) return NULL;
    PyObject *generation = PyDict_GetItemString(info, "generation");
    if (generation && PyLong_AsLong(generation) == 2) {
        if (strcmp(phase, "start") == 0) begin_collection();
        else end_collection();
    }
    return Py_INCREF(Py_None), Py_None;
}

/* -- the type ------------------------------------------------------------------------------------------------------ */

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_clear, (void *)clear},
    {0, NULL},
};
static PyType_Spec spec = {"pyquasar.hub", sizeof(Hub), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int qcycles_init(void) {
    hubs.type = (PyTypeObject *)PyType_FromSpec(&spec);
    return hubs.type ? 0 : -1;
}

void qcycles_collect(qs_vm *vm) {
    Border *b = qgil_border(vm);
    PyGC_Collect();
    qgil_back(b);
}
