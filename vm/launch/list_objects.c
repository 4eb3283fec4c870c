/* list_objects.c -- gives a compiled loop the fields of objects that have numbers (loop_object.c), and sets them
 * afterwards.
 *
 * All objects of these classes that enter the loop get numbers from 0 on before each run.  The number is stored in
 * the object itself, in the member `trial`, which collections of cycles use, too (vm/value/gc.c, bridge/cycles.c).  It
 * is valid if the table has this object at this number.  So an object that is found again has the same number, and no
 * number is ever cleared.  No collection runs between the numbering and the last use of a number. */
#include "vm/launch/loop_run.h"

typedef struct {
    Object **at;
    uint32_t n, cap;
} ObjectTable;

typedef union { /* an int, or a number or truth value as a number */
    int64_t i;
    double f;
} Held;

typedef struct ObjectTables {
    ObjectTable of[LOOP_CLASSES];
    Held *column[LOOP_COLUMNS];
    size_t bytes[LOOP_COLUMNS];
} ObjectTables;

void qloop_free_objects(qs_vm *vm, LoopState *s) {
    ObjectTables *t = s->objects;
    if (!t) return;
    for (int i = 0; i < LOOP_CLASSES; i++) qmem_free(qvm_ctx(vm), t->of[i].at, t->of[i].cap * sizeof *t->of[i].at);
    for (int i = 0; i < LOOP_COLUMNS; i++) qmem_free(qvm_ctx(vm), t->column[i], t->bytes[i]);
    qmem_free(qvm_ctx(vm), t, sizeof *t);
    s->objects = NULL;
}

static ObjectTables *tables_of(const Call *c) { return ((LoopState *)c->region->machine)->objects; }

/* -- numbers ------------------------------------------------------------------------------------------------------- */
static uint32_t number_of(Call *c, ObjectTable *t, Object *o) {
    if (o->gc.trial < t->n && t->at[o->gc.trial] == o) return o->gc.trial;
    if (t->n == t->cap) qmem_grow(qvm_ctx(c->vm), &t->at, &t->cap, t->n, sizeof *t->at);
    return t->at[t->n] = o, o->gc.trial = t->n++;
}

static ObjectTable *table_of(const Call *c, const Class *cls) {
    for (int i = 0; i < c->v->code.nclasses; i++)
        if (c->v->code.cls[i] == cls) return &tables_of(c)->of[i];
    return NULL;
}

bool qloop_open_objects(Call *c) {
    const LoopResult *code = &c->v->code;
    LoopState *s = c->region->machine;
    double start = qclock_ns();
    if (!code->nclasses) return true;
    if (!s->objects) s->objects = qmem_alloc(qvm_ctx(c->vm), sizeof *s->objects);
    for (int i = 0; i < LOOP_CLASSES; i++) s->objects->of[i].n = 0;
    for (int i = 0; i < code->nlists; i++) {
        const LoopList *l = &code->lists[i];
        const Cell *cell = l->kind == LOOP_ITEM ? c->value[l->source].u.p : NULL;
        for (size_t k = 0; cell && k < cell->count; k++)
            ((int64_t *)s->lists[i])[k] = number_of(c, &s->objects->of[l->cls], cell->items[k].u.p);
        c->copied += cell ? (double)cell->count : 0;
    }
    for (int i = 0; i < c->v->base.nentries; i++) {
        Object *o = c->value[i].kind == QS_OBJECT ? c->value[i].u.p : NULL;
        ObjectTable *t = o ? table_of(c, o->cls) : NULL;
        if (t) (void)number_of(c, t, o);
    }
    bool plain = qloop_get_columns(c);
    return c->copying += 2 * (qclock_ns() - start), plain; /* and back again */
}

int64_t qloop_object_number(const Call *c, int source) { return ((const Object *)c->value[source].u.p)->gc.trial; }

int64_t qloop_object_count(const Call *c, int cls) { return tables_of(c)->of[cls].n; }

/* -- columns ------------------------------------------------------------------------------------------------------- */
qs_kind qloop_column_kind(const LoopColumn *k) {
    if (k->dtype == QS_B1) return QS_BOOL;
    return qdtype_is_int((qs_dtype)k->dtype) ? QS_INT : QS_NUM;
}

static int64_t count_numbers(const Call *c, int cls) {
    return tables_of(c)->of[cls].n + (c->v->code.makes[cls] ? LOOP_OBJECTS : 0);
}

static void make_room(Call *c, const ObjectTable *of, int column) {
    ObjectTables *t = tables_of(c);
    size_t bytes = qmem_size((size_t)of->cap + LOOP_OBJECTS, sizeof(Held), 0);
    if (t->bytes[column] >= bytes) return;
    qmem_free(qvm_ctx(c->vm), t->column[column], t->bytes[column]);
    t->column[column] = qmem_alloc(qvm_ctx(c->vm), bytes), t->bytes[column] = bytes;
}

/* A number that a derivative is requested for is a traced value, and so no plain number. */
bool qloop_get_columns(Call *c) {
    const LoopResult *code = &c->v->code;
    bool plain = true;
    for (int n = 0; n < code->ncolumns; n++) {
        const LoopColumn *k = &code->columns[n];
        const ObjectTable *of = &tables_of(c)->of[k->cls];
        make_room(c, of, n);
        Held *held = tables_of(c)->column[n];
        qs_kind kind = qloop_column_kind(k);
        for (uint32_t i = 0; i < of->n; i++) {
            qs_value v = of->at[i]->slots[k->field];
            plain &= v.kind == kind;
            if (kind == QS_BOOL) held[i].f = (double)v.u.i;
            else held[i].i = v.u.i;
        }
        c->copied += of->n;
    }
    return plain;
}

void *qloop_column(const Call *c, int column, int64_t *count) {
    ObjectTables *t = tables_of(c);
    return *count = count_numbers(c, c->v->code.columns[column].cls), t->column[column];
}

static void put_field(qs_value *v, const Held *held, qs_kind kind) {
    if (kind == QS_BOOL) *v = qs_bool(held->f != 0);
    else v->u.i = held->i;
}

/* Makes an object that the loop has made. */
static qs_status make_object(const Call *c, int cls, int64_t number, qs_value *out) {
    const LoopResult *code = &c->v->code;
    Object *o;
    TRY(qobj_new(c->vm, (Class *)(uintptr_t)code->cls[cls], &o));
    for (int n = 0; n < code->ncolumns; n++) {
        const LoopColumn *k = &code->columns[n];
        if (k->cls == cls) put_field(&o->slots[k->field], &tables_of(c)->column[n][number], qloop_column_kind(k));
    }
    return *out = qval_object(QS_OBJECT, o), QS_OK;
}

qs_status qloop_object(const Call *c, int cls, int64_t number, qs_value *out) {
    const ObjectTable *t = &tables_of(c)->of[cls];
    if (number >= t->n) return make_object(c, cls, number, out);
    return *out = qval_retain(qval_object(QS_OBJECT, t->at[number])), QS_OK;
}

void qloop_put_columns(Call *c) {
    const LoopResult *code = &c->v->code;
    for (int n = 0; n < code->ncolumns; n++) {
        const LoopColumn *k = &code->columns[n];
        const ObjectTable *of = &tables_of(c)->of[k->cls];
        const Held *held = tables_of(c)->column[n];
        qs_kind kind = qloop_column_kind(k);
        if (!k->written) continue;
        for (uint32_t i = 0; i < of->n; i++) put_field(&of->at[i]->slots[k->field], &held[i], kind);
        c->copied += of->n;
    }
}
