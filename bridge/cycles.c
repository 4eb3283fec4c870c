/* cycles.c -- garbage that holds itself through both heaps: a script object with a dict that holds the object.
 *
 *     wrapper (Python) ──► object (script) ──► … ──► pyvalue ──► dict (Python) ──► wrapper
 *
 * Python's collector sees only what tp_traverse shows it, and a wrapper cannot simply show what its object reaches:
 * two wrappers may reach the same pyvalue, whose one reference must be shown once, and what the machine itself holds
 * must not be shown at all.  So when a full collection starts, objects that only wrappers hold are found by trial
 * deletion (as in vm/value/gc.c), and those that touch each other form a group.  Every wrapper of a group shows the
 * hub of the group, and the hub shows the pyvalues in it.  If any wrapper lives, all the group does; if none does,
 * Python clears them, and the script objects go with their last reference.
 *
 * A hub tells the truth only while nothing changes.  Whatever enters the machine during the collection (a __del__)
 * makes hubs silent from then on, and the objects live until the next one. */
#include "bridge/bridge.h"

#include <stdlib.h>
#include <string.h>

typedef struct Hub {
    PyObject ob_base;
    struct Hub *next; /* all hubs */
    PyObject **items; /* with a reference of its own beside that of the pyvalue */
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
        if (!qbridge.disturbed) Py_VISIT(h->items[i]); /* the reference of the pyvalue */
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

/* -- the script's heap: trial of each container is what holds it beside containers and wrappers -------------------- */

static GcObj *container(qs_value v) {
    bool is = v.kind == QS_CELL || v.kind == QS_OBJECT || v.kind == QS_FUNCTION || v.kind == QS_FOREIGN;
    GcObj *o = is ? v.u.p : NULL;
    return o && o->next ? o : NULL;
}

static void take_away(void *ud, qs_value child) {
    (void)ud;
    GcObj *o = container(child);
    if (o) o->trial--;
}

enum { ALIVE = UINT32_MAX };
typedef struct {
    GcObj **at;
    size_t n, cap;
    bool failed;
} Stack;

static void push(Stack *s, GcObj *o) {
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

static void revive(void *ud, qs_value child) {
    GcObj *o = container(child);
    if (!o || o->trial == ALIVE) return;
    o->trial = ALIVE;
    push(ud, o);
}

/* Everything that something outside reaches gets trial ALIVE; the rest is collected in `rest`, numbered from 0. */
static void find_rest(Border *b, Stack *rest) {
    GcObj *list = &qvm(b->vm)->gc_list;
    Stack alive = {0};
    for (GcObj *o = list->next; o != list; o = o->next) o->trial = o->hdr.refs;
    for (GcObj *o = list->next; o != list; o = o->next) qgc_children(o, take_away, NULL);
    qgil_lock();
    for (Wrapper *w = b->wrappers.next; w != &b->wrappers; w = w->next) take_away(NULL, w->v);
    qgil_unlock();
    for (GcObj *o = list->next; o != list; o = o->next)
        if (o->trial != 0 && o->trial != ALIVE) revive(&alive, qval_object(o->hdr.kind, o));
    while (alive.n) qgc_children(alive.at[--alive.n], revive, &alive);
    for (GcObj *o = list->next; o != list; o = o->next)
        if (o->trial != ALIVE) push(rest, o);
    rest->failed = rest->failed || alive.failed;
    free(alive.at);
    for (size_t i = 0; i < rest->n; i++) rest->at[i]->trial = (uint32_t)i;
}

/* -- groups: union-find over the rest ------------------------------------------------------------------------------ */

static uint32_t root(uint32_t *parent, uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

typedef struct {
    uint32_t *parent, from;
} Join;

static void join(void *ud, qs_value child) {
    Join *j = ud;
    GcObj *o = container(child);
    if (o && o->trial != ALIVE) j->parent[root(j->parent, o->trial)] = root(j->parent, j->from);
}

static void make_groups(const Stack *rest, uint32_t *parent) {
    for (uint32_t i = 0; i < rest->n; i++) parent[i] = i;
    for (uint32_t i = 0; i < rest->n; i++) {
        Join j = {parent, i};
        qgc_children(rest->at[i], join, &j);
    }
}

/* That of what a wrapper holds; ALIVE: none. */
static uint32_t group_of(uint32_t *parent, const Wrapper *w) {
    const GcObj *o = container(w->v);
    return o && o->trial != ALIVE ? root(parent, o->trial) : ALIVE;
}

/* A group without a wrapper is the machine's own garbage. */
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
        Hub *h = of[root(parent, i)];
        PyObject *o = qpyvalue_get(qval_object(rest->at[i]->hdr.kind, rest->at[i]));
        if (h && o && !add_item(h, o)) qbridge.disturbed = true;
    }
}

static void drop_own(Hub **of, size_t n) { /* wrappers hold them now */
    for (size_t i = 0; i < n; i++) Py_XDECREF((PyObject *)of[i]);
}

static void show(Border *b) {
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

/* -- before and after a full collection ---------------------------------------------------------------------------- */

/* Without the GIL others may run until Python stops them: whoever takes the machine from here on disturbs. */
#ifdef Py_GIL_DISABLED
static void begin(void) {
    qbridge.disturbed = false;
    for (Border *b = qgil_next(NULL); b; b = qgil_next(b)) {
        bool had = qgil_holds(b);
        if (!had && !qgil_try(b)) continue;
        show(b);
        if (!had) qgil_give(b);
    }
}
#else
static void begin(void) {
    qbridge.disturbed = false;
    for (Border *b = qbridge.borders; b; b = b->next) show(b);
}
#endif

/* References that are dropped when nobody goes through what they were in any more. */
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

static void end(void) {
    Dropped d = {0};
    qgil_lock();
    empty_hubs(&d);
    for (Border *b = qbridge.borders; b; b = b->next) take_hubs(b, &d);
    qgil_unlock();
    while (d.n) Py_DECREF(d.at[--d.n]);
    free(d.at);
}

PyObject *qcycles_watch(PyObject *module, PyObject *args) {
    const char *phase;
    PyObject *info;
    (void)module;
    if (!PyArg_ParseTuple(args, "sO", &phase, &info)) return NULL;
    PyObject *generation = PyDict_GetItemString(info, "generation");
    if (generation && PyLong_AsLong(generation) == 2) {
        if (strcmp(phase, "start") == 0) begin();
        else end();
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
