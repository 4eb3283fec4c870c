/* gc.c -- frees unreachable cycles of objects, which reference counts alone never free.
 *
 * The algorithm is trial deletion over all containers.  Each container starts with its reference count, and every
 * reference held by another container is subtracted.  Containers with a remaining count are referenced from outside (a
 * stack, a global, C).  All containers reachable from these are alive; the rest is garbage.  The code does not recurse.
 * It needs no root set: all references of the interpreter are counted. */
#include "vm/value/machine.h"
#include "vm/value/object.h"

/* The next collection runs when there are 1/GROWTH more containers than after the last one, so the cost is amortized.
 */
#ifdef QUASAR_STRESS
enum { FIRST_THRESHOLD = 4, GROWTH = 8 };
#else
enum { FIRST_THRESHOLD = 10000, GROWTH = 1 };
#endif

static void list_init(GcObj *list) { list->prev = list->next = list; }

static void list_add(GcObj *list, GcObj *o) {
    o->prev = list->prev;
    o->next = list;
    list->prev->next = o;
    list->prev = o;
}

static void list_remove(GcObj *o) {
    o->prev->next = o->next;
    o->next->prev = o->prev;
    o->prev = o->next = NULL;
}

void qgc_track(qs_vm *vm, GcObj *o) {
    Machine *m = qvm(vm);
    if (!m->gc_list.next) {
        list_init(&m->gc_list);
        m->gc_threshold = FIRST_THRESHOLD;
    }
    if (m->gc_count >= m->gc_threshold) qgc_collect(vm);
    list_add(&m->gc_list, o);
    m->gc_count++;
}

void qgc_untrack(qs_vm *vm, GcObj *o) {
    if (!o->next) return;
    list_remove(o);
    qvm(vm)->gc_count--;
}

static void each_value(const qs_value *at, size_t n, void (*f)(void *ud, qs_value child), void *ud) {
    for (size_t i = 0; i < n; i++) f(ud, at[i]);
}

void qgc_children(GcObj *o, void (*f)(void *ud, qs_value child), void *ud) {
    if (o->hdr.kind == QS_CELL) {
        each_value(((Cell *)o)->items, ((Cell *)o)->count, f, ud);
    } else if (o->hdr.kind == QS_OBJECT) {
        each_value(((Object *)o)->slots, ((Object *)o)->nslots, f, ud);
    } else if (o->hdr.kind == QS_FUNCTION) {
        Function *fn = (Function *)o;
        each_value(fn->captures, (size_t)fn->ncaptures, f, ud);
        for (int i = 0; i < fn->nmembers; i++) f(ud, qval_object(QS_FUNCTION, fn->members[i]));
    }
}

static bool is_container(qs_value v) {
    return v.kind == QS_CELL || v.kind == QS_OBJECT || v.kind == QS_FUNCTION || v.kind == QS_FOREIGN;
}

/* Returns the tracked container that v refers to; NULL: none. */
static GcObj *container(qs_value v) {
    GcObj *o = is_container(v) ? v.u.p : NULL;
    return o && o->next ? o : NULL;
}

static void take_away(void *ud, qs_value child) {
    (void)ud;
    GcObj *o = container(child);
    if (o) o->trial--;
}

/* Marks a child of a live container as live.  If it was moved to the garbage, puts it back at the end of the list, so
 * that the scan visits it. */
static void revive(void *ud, qs_value child) {
    GcObj *list = ud, *o = container(child);
    if (!o) return;
    if (o->hdr.flags & OBJ_GARBAGE) {
        o->hdr.flags &= (uint8_t)~OBJ_GARBAGE;
        list_remove(o);
        list_add(list, o);
    }
    o->trial = 1;
}

static void count_outside(GcObj *list) {
    for (GcObj *o = list->next; o != list; o = o->next) o->trial = o->hdr.refs;
    for (GcObj *o = list->next; o != list; o = o->next) qgc_children(o, take_away, NULL);
}

/* Moves containers that are not reachable from outside to `garbage`.  One that was moved too early is moved back when
 * the scan finds a live container that refers to it. */
static void move_unreachable(GcObj *list, GcObj *garbage) {
    for (GcObj *o = list->next, *next; o != list; o = next) {
        if (o->trial > 0) {
            qgc_children(o, revive, list);
            next = o->next; /* after revive: it may have appended */
        } else {
            next = o->next;
            list_remove(o);
            list_add(garbage, o);
            o->hdr.flags |= OBJ_GARBAGE;
        }
    }
}

static void drop_values(qs_vm *vm, qs_value *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        qs_value v = at[i];
        at[i] = qs_nil();
        qval_release(vm, v);
    }
}

static void drop_contents(qs_vm *vm, GcObj *o) {
    if (o->hdr.kind == QS_CELL) drop_values(vm, ((Cell *)o)->items, ((Cell *)o)->count);
    else if (o->hdr.kind == QS_OBJECT) drop_values(vm, ((Object *)o)->slots, ((Object *)o)->nslots);
    else if (o->hdr.kind == QS_FUNCTION) drop_values(vm, ((Function *)o)->captures, (size_t)((Function *)o)->ncaptures);
}

/* Frees the containers in the list.  All are retained while their contents are released, so that none is freed during
 * the traversal. */
static size_t free_garbage(qs_vm *vm, GcObj *garbage) {
    size_t n = 0;
    for (GcObj *o = garbage->next; o != garbage; o = o->next, n++) {
        o->hdr.refs++;
        o->hdr.flags &= (uint8_t)~OBJ_GARBAGE;
    }
    for (GcObj *o = garbage->next; o != garbage; o = o->next) drop_contents(vm, o);
    while (garbage->next != garbage) {
        GcObj *o = garbage->next;
        list_remove(o);
        list_add(&qvm(vm)->gc_list, o);
        qval_release(vm, qval_object((qs_kind)o->hdr.kind, o));
    }
    return n;
}

size_t qgc_collect(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (m->gc_running || !m->gc_list.next) return 0;
    m->gc_running = true;
    GcObj garbage;
    list_init(&garbage);
    count_outside(&m->gc_list);
    move_unreachable(&m->gc_list, &garbage);
    size_t n = free_garbage(vm, &garbage);
    m->gc_threshold = m->gc_count + m->gc_count / GROWTH;
    if (m->gc_threshold < FIRST_THRESHOLD) m->gc_threshold = FIRST_THRESHOLD;
    m->gc_running = false;
    return n;
}
