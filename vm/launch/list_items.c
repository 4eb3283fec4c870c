/* list_items.c -- gives a compiled loop the items of its lists, and makes numbers the items of the cells afterwards.
 *
 * The memory of a list that the loop changes is address space for LOOP_LIST_ROOM items, so that machine code never asks
 * for more.  Half of the machine's memory is the limit for the items and the cell that they become.  The loop keeps the
 * memory from run to run, unless many pages of it were used. */
#include "vm/launch/loop_run.h"

#include <sys/mman.h>
#include <unistd.h>

static const size_t reserved = (size_t)LOOP_LIST_ROOM * 8;

static void unmap(void **memory) {
    if (*memory) munmap(*memory, reserved);
    *memory = NULL;
}

void qloop_free_lists(LoopState *s) {
    for (int i = 0; i < LOOP_LISTS; i++) unmap(&s->lists[i]);
}

/* NULL: the loop makes the list. */
static Cell *cell_of(const Call *c, const LoopList *l) { return l->source < 0 ? NULL : c->value[l->source].u.p; }

bool qloop_lists_apart(const Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nlists; i++)
        for (int k = 0; code->lists[i].written && k < c->v->base.nentries; k++) {
            bool other = k != code->lists[i].source && c->value[k].kind == QS_CELL;
            if (other && c->value[k].u.p == (void *)cell_of(c, &code->lists[i])) return false;
        }
    return true;
}

bool qloop_open_lists(Call *c) {
    const LoopResult *code = &c->v->code;
    LoopState *s = c->region->machine;
    for (int i = 0; i < code->nlists; i++) {
        if (s->lists[i]) continue;
        void *p = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) return qloop_free_lists(s), false;
        s->lists[i] = p;
    }
    return true;
}

static int list_at(const Call *c, int source) {
    int i = 0;
    while (c->v->code.lists[i].source != source) i++;
    return i;
}

int64_t qloop_list_room(const Call *c, int source) {
    const LoopList *l = &c->v->code.lists[list_at(c, source)];
    if (!l->written && (l->kind == LOOP_ITEM || l->kind == LOOP_VECTOR))
        return (int64_t)cell_of(c, l)->count * (l->kind == LOOP_VECTOR ? l->n + 1 : 1);
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double room = memory / 2 / (sizeof(double) + sizeof(qs_value)) / c->v->code.nlists;
    return room < (double)LOOP_LIST_ROOM ? (int64_t)room : LOOP_LIST_ROOM;
}

void *qloop_list_items(Call *c, int source) {
    LoopState *s = c->region->machine;
    int list = list_at(c, source);
    double *reals = s->lists[list], start = qclock_ns();
    const LoopList *l = &c->v->code.lists[list];
    const Cell *cell = cell_of(c, l);
    if (!cell || l->kind == LOOP_ITEM || l->kind == LOOP_VECTOR) return reals; /* empty, or filled before */
    for (size_t k = 0; k < cell->count; k++) {
        const qs_value *v = &cell->items[k];
        if (v->kind == QS_INT) ((int64_t *)reals)[k] = v->u.i;
        else reals[k] = qval_number(*v);
    }
    c->copied += (double)cell->count, c->copying += qclock_ns() - start;
    return reals;
}

/* Whether the loop writes an array that shares memory with a. */
static bool is_written(const Call *c, const Array *a) {
    const LoopCode *code = &c->v->code.exact;
    for (int i = 0; i < code->func->nparams; i++) {
        const Array *b = code->func->params[i].written ? qloop_array(c, &code->binds[i]) : NULL;
        if (b && qbuf_overlap(b->buf, a->buf)) return true;
    }
    return false;
}

static bool get_vector(Call *c, Array *a, double *to) {
    const void *p;
    if (is_written(c, a) || qarr_read(c->vm, a, &p) != QS_OK) return qerr_clear(qvm_ctx(c->vm)), false;
    size_t size = qdtype_size((qs_dtype)a->dtype);
    for (size_t i = 0; i < a->count; i++)
        to[i] = qdtype_get((qs_dtype)a->dtype, (const char *)p + qarr_offset(a, i) * size);
    return true;
}

bool qloop_get_vectors(Call *c) {
    const LoopState *s = c->region->machine;
    for (int i = 0; i < c->v->code.nlists; i++) {
        const LoopList *l = &c->v->code.lists[i];
        const Cell *cell = l->kind == LOOP_VECTOR ? cell_of(c, l) : NULL;
        for (size_t k = 0; cell && k < cell->count; k++) {
            double *item = (double *)s->lists[i] + k * ((size_t)l->n + 1);
            if (!get_vector(c, cell->items[k].u.p, item)) return false;
            item[l->n] = (double)k + 1;
        }
        c->copied += cell ? (double)cell->count * l->n : 0;
    }
    return true;
}

static qs_value item_value(const LoopList *l, const double *at) {
    if (l->kind == LOOP_INT) return qs_int(*(const int64_t *)at);
    return l->kind == LOOP_BOOL ? qs_bool(*at != 0) : qs_num(*at);
}

static qs_status make_vector(Call *c, const LoopList *l, const double *from, qs_value *out) {
    Array *a;
    void *p;
    qs_dtype d = from[l->n] < 0 ? QS_F64 : qvm_ctx(c->vm)->scalar_dtype;
    TRY(qarr_new(c->vm, d, 1, (int64_t[]){l->n}, false, &a));
    *out = qarr_value(a);
    TRY(qarr_write(c->vm, a, &p));
    for (int i = 0; i < l->n; i++)
        if (d == QS_F64) ((double *)p)[i] = from[i];
        else ((float *)p)[i] = (float)from[i];
    return QS_OK;
}

/* Makes the items from new vectors and from the vectors that are left in the cell, in the order from before. */
static qs_status put_vectors(Call *c, const LoopList *l, Cell *cell, const double *items) {
    int64_t n = c->ints[l->count];
    Cell *made;
    TRY(qcell_new(c->vm, cell->elem, 1, &n, &made));
    qs_status s = QS_OK;
    items += c->ints[l->first] * (l->n + 1);
    for (size_t k = 0; k < made->count && s == QS_OK; k++, items += l->n + 1) {
        qs_value v = qs_nil();
        if (items[l->n] > 0) v = qval_retain(cell->items[(size_t)items[l->n] - 1]);
        else s = make_vector(c, l, items, &v);
        qval_release(c->vm, made->items[k]);
        made->items[k] = v;
    }
    for (size_t k = 0; k < cell->count && s == QS_OK; k++) {
        qval_release(c->vm, cell->items[k]);
        cell->items[k] = qs_nil();
    }
    if (s == QS_OK) s = qcell_resize(c->vm, cell, made->count);
    for (size_t k = 0; k < made->count && s == QS_OK; k++) cell->items[k] = made->items[k], made->items[k] = qs_nil();
    qval_release(c->vm, qval_object(QS_CELL, made));
    return s;
}

static qs_status put_list(Call *c, const LoopList *l, const double *items) {
    Cell *cell = cell_of(c, l);
    if (!cell) return QS_OK;
    if (l->kind == LOOP_VECTOR) return put_vectors(c, l, cell, items);
    TRY(qcell_resize(c->vm, cell, (size_t)c->ints[l->count]));
    c->copied += (double)cell->count;
    items += c->ints[l->first];
    for (size_t k = 0; k < cell->count; k++) cell->items[k] = item_value(l, &items[k]);
    return QS_OK;
}

qs_status qloop_put_lists(Call *c) {
    enum { KEPT = 1 << 17 /* items */ };
    const LoopResult *code = &c->v->code;
    LoopState *s = c->region->machine;
    qs_status status = QS_OK;
    double start = qclock_ns();
    for (int i = 0; i < code->nlists; i++) {
        const LoopList *l = &code->lists[i];
        if (l->written && status == QS_OK) status = put_list(c, l, s->lists[i]);
        const Cell *cell = cell_of(c, l);
        if (c->ints[l->count] + c->ints[l->first] > KEPT || (cell && cell->count > KEPT)) unmap(&s->lists[i]);
    }
    c->copying += qclock_ns() - start;
    return status;
}
