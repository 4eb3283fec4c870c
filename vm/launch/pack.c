/* pack.c -- packs cells of arrays and of objects into array arguments of kernels. */
#include "vm/launch/pack.h"
#include "vm/launch/slice_node.h"
#include "vm/value/machine.h"

#include <stdlib.h>
#include <string.h>

static bool alike(const Array *a, const Array *b) {
    return a->dtype == b->dtype && a->rank == b->rank && !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

typedef struct {
    const Cell *c;
    int field;
} EntryList; /* the entries of a cell (field -1), or one field of each entry */

static qs_value entry(const EntryList *e, size_t i) {
    return e->field < 0 ? e->c->items[i] : ((const Object *)e->c->items[i].u.p)->slots[e->field];
}

/* Returns the first entry if all entries are arrays of its type and shape; otherwise NULL. */
static const Array *pattern(const EntryList *e) {
    const Array *first = e->c->count && entry(e, 0).kind == QS_ARRAY ? entry(e, 0).u.p : NULL;
    if (!first || first->rank < 1 || e->c->rank + first->rank > QS_MAX_RANK) return NULL;
    for (size_t i = 1; i < e->c->count; i++)
        if (entry(e, i).kind != QS_ARRAY || !alike(entry(e, i).u.p, first)) return NULL;
    return first;
}

/* Returns the class if all entries are objects of one class; otherwise NULL. */
static Class *class_of(const Cell *c) {
    Class *cls = c->count && c->items[0].kind == QS_OBJECT ? ((Object *)c->items[0].u.p)->cls : NULL;
    if (!cls || cls->kind == CLASS_DYNAMIC) return NULL;
    for (size_t i = 1; i < c->count; i++)
        if (c->items[i].kind != QS_OBJECT || ((Object *)c->items[i].u.p)->cls != cls) return NULL;
    return cls;
}

/* -- arrays -------------------------------------------------------------------------------------------------------- */
/* Copies the entries into the packed array, or back. */
static qs_status copy_entries(qs_vm *vm, const EntryList *e, Array *packed, bool back) {
    const Array *first = entry(e, 0).u.p;
    int64_t strides[QS_MAX_RANK], step = 1;
    for (int d = first->rank; d-- > 0;) strides[d] = step, step *= first->dims[d];
    for (size_t i = 0; i < e->c->count && first->count; i++) {
        Array *target, *one = entry(e, i).u.p;
        TRY(qarr_view(vm, packed, first->rank, first->dims, strides, i * first->count, &target));
        qs_status s = back ? qarr_assign(vm, one, target) : qarr_assign(vm, target, one);
        qarr_release(vm, target);
        TRY(s);
    }
    return QS_OK;
}

static void record_packing(qs_vm *vm, const EntryList *e, qs_value packed) {
    qs_value *entries = qmem_alloc(qvm_ctx(vm), qmem_size(e->c->count, sizeof *entries, 0));
    for (size_t i = 0; i < e->c->count; i++) entries[i] = entry(e, i);
    qslice_packed(vm, (int)e->c->count, entries, packed);
    qmem_free(qvm_ctx(vm), entries, e->c->count * sizeof *entries);
}

static qs_status pack(qs_vm *vm, const EntryList *e, const Array *first, qs_value *out) {
    int64_t dims[QS_MAX_RANK];
    Array *a;
    memcpy(dims, e->c->dims, e->c->rank * sizeof *dims);
    memcpy(dims + e->c->rank, first->dims, (size_t)first->rank * sizeof *dims);
    TRY(qarr_new(vm, (qs_dtype)first->dtype, e->c->rank + first->rank, dims, false, &a));
    qtape_enter(vm);
    qs_status s = copy_entries(vm, e, a, false);
    qtape_leave(vm);
    if (s != QS_OK) return qarr_release(vm, a), s;
    *out = qarr_value(a);
    if (qtape_is_on(vm)) record_packing(vm, e, *out);
    return QS_OK;
}

/* A cell that is passed twice is packed once, so that a write through one parameter is visible through the other. */
static int same_as_before(const Packed *p, int arg) {
    for (int i = 0; i < arg; i++)
        if (p->inner[i] && p->given[i].u.p == p->given[arg].u.p) return i;
    return -1;
}

/* -- objects ------------------------------------------------------------------------------------------------------- */
static bool all_numbers(const EntryList *e) {
    for (size_t i = 0; i < e->c->count; i++)
        if (!qval_is_number(qtape_plain(entry(e, i)))) return false;
    return true;
}

static qs_status put_numbers(qs_vm *vm, const EntryList *e, qs_dtype d, qs_value *out) {
    size_t n = e->c->count;
    Ctx *c = qvm_ctx(vm);
    NodeShape s = {.dtype = d, .ndim = e->c->rank, .rank = e->c->rank};
    qs_value *number = qmem_alloc(c, qmem_size(n, sizeof *number, 0));
    int64_t *at = qmem_alloc(c, qmem_size(n, sizeof *at, 0));
    Array *a;
    memcpy(s.dims, e->c->dims, sizeof s.dims);
    for (size_t i = 0; i < n; i++) number[i] = entry(e, i), at[i] = (int64_t)i;
    qs_status st = qslice_put(vm, &s, (int)n, at, number, &a);
    qmem_free(c, number, n * sizeof *number);
    qmem_free(c, at, n * sizeof *at);
    if (st == QS_OK) *out = qarr_value(a);
    return st;
}

static qs_status pack_numbers(qs_vm *vm, const EntryList *e, qs_dtype d, qs_value *out) {
    Array *a;
    void *p;
    if (qtape_is_on(vm)) return put_numbers(vm, e, d, out);
    TRY(qarr_make(vm, d, e->c->rank, e->c->dims, false, &a, &p));
    qs_status s = QS_OK;
    for (size_t i = 0; i < e->c->count && s == QS_OK; i++)
        s = qarr_store(vm, d, (char *)p + i * qdtype_size(d), entry(e, i));
    if (s != QS_OK) return qarr_release(vm, a), s;
    return *out = qarr_value(a), QS_OK;
}

/* A field that is neither a number nor an array of one size is left nil; that is an error only if the kernel uses
 * it. */
static qs_status pack_fields(qs_vm *vm, Packed *p, int arg) {
    const Class *cls = p->cls[arg];
    for (int f = 0; f < cls->nfields; f++) {
        EntryList e = {p->given[arg].u.p, f};
        const Type *t = cls->fields[f].type;
        const Array *first = pattern(&e);
        qs_value *out = &p->args[p->first[arg] + f];
        qs_dtype d = t && t->kind == TY_NUM ? t->dtype : qvm_ctx(vm)->scalar_dtype;
        if (first) TRY(pack(vm, &e, first, out));
        else if (all_numbers(&e) && !qdtype_is_complex(d)) TRY(pack_numbers(vm, &e, d, out));
    }
    return QS_OK;
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */
static qs_status pack_one(qs_vm *vm, Packed *p, int i) {
    EntryList e = {p->given[i].u.p, -1};
    const Array *first = p->given[i].kind == QS_CELL ? pattern(&e) : NULL;
    int before = first ? same_as_before(p, i) : -1;
    if (p->cls[i]) TRY(pack_fields(vm, p, i));
    if (first && before < 0) TRY(pack(vm, &e, first, &p->args[i]));
    else p->args[i] = qval_retain(first ? p->args[before] : p->given[i]);
    if (first) p->inner[i] = (uint8_t)first->rank;
    return QS_OK;
}

static bool is_packed(qs_value v) {
    EntryList e = {v.u.p, -1};
    return v.kind == QS_CELL && (pattern(&e) || class_of(v.u.p));
}

static void make_room(qs_vm *vm, Packed *p) {
    Ctx *c = qvm_ctx(vm);
    p->inner = qmem_alloc(c, (size_t)p->n);
    p->cls = qmem_alloc(c, qmem_size((size_t)p->n, sizeof *p->cls, 0));
    p->first = qmem_alloc(c, qmem_size((size_t)p->n, sizeof *p->first, 0));
    p->total = p->n;
    for (int i = 0; i < p->n; i++) {
        p->inner[i] = 0, p->first[i] = p->total;
        p->cls[i] = p->given[i].kind == QS_CELL ? class_of(p->given[i].u.p) : NULL;
        if (p->cls[i]) p->total += p->cls[i]->nfields;
    }
    p->args = qmem_alloc(c, qmem_size((size_t)p->total, sizeof *p->args, 0));
    for (int i = 0; i < p->total; i++) p->args[i] = qs_nil();
}

qs_status qpack_open(qs_vm *vm, int n, const qs_value *given, Packed *out) {
    bool any = false;
    *out = (Packed){.given = given, .n = n};
    for (int i = 0; i < n && !any; i++) any = is_packed(given[i]);
    if (!any) return QS_OK;
    make_room(vm, out);
    qs_status s = QS_OK;
    for (int i = 0; i < n && s == QS_OK; i++) s = pack_one(vm, out, i);
    if (s != QS_OK) qpack_close(vm, out);
    return s;
}

/* -- shared memory ------------------------------------------------------------------------------------------------- */
typedef struct {
    const void *buf;
    int64_t first, end;
    bool mine;
} Stretch; /* range of elements of a buffer, from the first to the last one; or an object */

static Stretch stretch_of(const Array *a, bool mine) {
    int64_t low = (int64_t)a->offset, high = low;
    for (int d = 0; d < a->rank; d++) *(a->strides[d] < 0 ? &low : &high) += (a->dims[d] - 1) * a->strides[d];
    return (Stretch){a->buf, low, a->count ? high + 1 : low, mine};
}

static int by_place(const void *x, const void *y) {
    const Stretch *a = x, *b = y;
    uintptr_t p = (uintptr_t)a->buf, q = (uintptr_t)b->buf;
    return p != q ? (p < q ? -1 : 1) : (a->first > b->first) - (a->first < b->first);
}

static size_t field_stretches(const Packed *p, int i, int arg, Stretch *out) {
    size_t n = 0;
    for (int f = 0; p->cls[i] && f < p->cls[i]->nfields; f++) {
        EntryList e = {p->given[i].u.p, f};
        for (size_t k = 0; pattern(&e) && k < e.c->count; k++)
            out[n++] = stretch_of(entry(&e, k).u.p, p->first[i] + f == arg);
    }
    return n;
}

static size_t stretches(const Packed *p, int arg, Stretch *out) {
    size_t n = 0;
    for (int i = 0; i < p->n; i++) {
        const Cell *c = p->given[i].u.p;
        bool mine = arg < p->n && p->given[i].kind == QS_CELL && p->given[i].u.p == p->given[arg].u.p;
        if (p->given[i].kind == QS_ARRAY) out[n++] = stretch_of(p->given[i].u.p, false);
        else if (p->inner[i] && (!mine || i == arg))
            for (size_t k = 0; k < c->count; k++) out[n++] = stretch_of(c->items[k].u.p, mine);
        n += field_stretches(p, i, arg, out + n);
    }
    return n;
}

/* Lists the objects of all arguments.  The kernel writes to the objects of argument `arg`, a cell. */
static size_t list_objects(const Packed *p, int arg, Stretch *out) {
    size_t n = 0;
    for (int i = 0; i < p->n; i++) {
        const Cell *c = p->given[i].u.p;
        if (p->given[i].kind == QS_OBJECT) out[n++] = (Stretch){p->given[i].u.p, 0, 1, false};
        for (size_t k = 0; p->cls[i] && k < c->count; k++) out[n++] = (Stretch){c->items[k].u.p, 0, 1, i == arg};
    }
    return n;
}

static size_t most_stretches(const Packed *p) {
    size_t n = (size_t)p->n;
    for (int i = 0; i < p->n; i++) {
        if (p->inner[i]) n += ((const Cell *)p->given[i].u.p)->count;
        if (p->cls[i]) n += ((const Cell *)p->given[i].u.p)->count * ((size_t)p->cls[i]->nfields + 1);
    }
    return n;
}

/* The argument that the element `arg` of args belongs to: a cell, or the cell of objects with this field. */
static int cell_of(const Packed *p, int arg) {
    int i = arg < p->n ? arg : p->n - 1;
    while (arg >= p->n && !(p->cls[i] && p->first[i] <= arg)) i--;
    return i;
}

static EntryList entries_of(const Packed *p, int arg) {
    int cell = cell_of(p, arg);
    return (EntryList){p->given[cell].u.p, arg < p->n ? -1 : arg - p->first[cell]};
}

/* Whether the launch gives new values to fields of objects, and does not write into arrays of them. */
static bool sets_fields(const EntryList *e, bool own) { return e->field >= 0 && (own || !pattern(e)); }

qs_status qpack_alone(qs_vm *vm, const Packed *p, int arg, bool own) {
    size_t room = most_stretches(p);
    EntryList e = entries_of(p, arg);
    bool sets = sets_fields(&e, own);
    Stretch *s = qmem_alloc(qvm_ctx(vm), qmem_size(room, sizeof *s, 0));
    size_t n = sets ? list_objects(p, cell_of(p, arg), s) : stretches(p, arg, s), i = 0;
    int64_t mine = INT64_MIN, others = INT64_MIN; /* the largest ends in this buffer so far */
    qsort(s, n, sizeof *s, by_place);
    for (; i < n; i++) {
        if (i && s[i].buf != s[i - 1].buf) mine = others = INT64_MIN;
        if (s[i].first < mine || (s[i].mine && s[i].first < others)) break;
        int64_t *end = s[i].mine ? &mine : &others;
        if (s[i].end > *end) *end = s[i].end;
    }
    qmem_free(qvm_ctx(vm), s, room * sizeof *s);
    if (i == n) return QS_OK;
    if (sets)
        return qs_fail(vm, QS_EVALUE,
                       "argument %d: the kernel writes to fields of its objects, and one of these enters the "
                       "launch twice",
                       cell_of(p, arg) + 1);
    return qs_fail(vm, QS_EVALUE,
                   "argument %d: the kernel writes to entries of a cell that share memory with each other, or with "
                   "another argument; copy(x) makes an array of its own",
                   cell_of(p, arg) + 1);
}

/* -- copying back -------------------------------------------------------------------------------------------------- */
/* Whether the number is one that the array has for the number `before`, which may have more digits. */
static bool is_unchanged(qs_vm *vm, qs_dtype d, qs_value before, qs_value now) {
    uint64_t x[2] = {0}, y[2] = {0};
    if (before.kind == QS_TRACED || now.kind == QS_TRACED) return false;
    return qarr_store(vm, d, x, before) == QS_OK && qarr_store(vm, d, y, now) == QS_OK && !memcmp(x, y, sizeof x);
}

/* Gives the field of o element i of the array, unless it is what the array got from the field. */
static qs_status give_number(qs_vm *vm, Object *o, int field, Array *a, int64_t i) {
    qs_value v;
    TRY(qslice_take(vm, a, i, &v));
    bool same = is_unchanged(vm, (qs_dtype)a->dtype, o->slots[field], v);
    qs_status s = same ? QS_OK : qobj_set(vm, o, o->cls->fields[field].name, v);
    return qval_release(vm, v), s;
}

static qs_status give_numbers(qs_vm *vm, const EntryList *e, Array *a) {
    for (size_t i = 0; i < e->c->count; i++) TRY(give_number(vm, e->c->items[i].u.p, e->field, a, (int64_t)i));
    return QS_OK;
}

/* Gives each object a new array, as an assignment does. */
static qs_status renew_arrays(qs_vm *vm, const EntryList *e) {
    for (size_t i = 0; i < e->c->count; i++) {
        Object *o = e->c->items[i].u.p;
        const Array *old = entry(e, i).u.p;
        Array *a;
        TRY(qarr_like(vm, old, (qs_dtype)old->dtype, &a));
        qs_status s = qobj_set(vm, o, o->cls->fields[e->field].name, qarr_value(a));
        qarr_release(vm, a);
        TRY(s);
    }
    return QS_OK;
}

qs_status qpack_back(qs_vm *vm, const Packed *p, int arg, bool own) {
    EntryList e = entries_of(p, arg);
    if (e.field >= 0 && !pattern(&e)) return give_numbers(vm, &e, p->args[arg].u.p);
    if (own) TRY(renew_arrays(vm, &e));
    Trace *edge = qtape_edge(vm, p->args[arg]);
    qs_status s = QS_OK;
    for (size_t i = 0; edge && i < e.c->count && s == QS_OK; i++)
        s = qtrace(vm)->check_alone(vm, entry(&e, i).u.p, NULL);
    qtape_enter(vm);
    if (s == QS_OK) s = copy_entries(vm, &e, p->args[arg].u.p, true);
    qtape_leave(vm);
    for (size_t i = 0; edge && s == QS_OK && i < e.c->count; i++)
        qslice_unpacked(vm, qtape_retain(edge), (int64_t)i, entry(&e, i));
    return qtrace(vm)->release(vm, edge), s;
}

void qpack_close(qs_vm *vm, Packed *p) {
    Ctx *c = qvm_ctx(vm);
    if (!p->args) return;
    for (int i = 0; i < p->total; i++) qval_release(vm, p->args[i]);
    qmem_free(c, p->args, (size_t)p->total * sizeof *p->args);
    qmem_free(c, p->first, (size_t)p->n * sizeof *p->first);
    qmem_free(c, p->cls, (size_t)p->n * sizeof *p->cls);
    qmem_free(c, p->inner, (size_t)p->n);
    p->args = NULL;
}

/* -- fields of single objects -------------------------------------------------------------------------------------- */
qs_status qpack_field(qs_vm *vm, const Object *o, int field, qs_value *out) {
    qs_value v = o->slots[field];
    const Array *given = v.kind == QS_ARRAY ? v.u.p : NULL;
    NodeShape s = {.ndim = 1, .rank = 1, .dims = {1}};
    Array *a;
    if (given) {
        s = (NodeShape){.dtype = (qs_dtype)given->dtype, .ndim = given->ndim, .rank = given->rank};
        memcpy(s.dims, given->dims, sizeof s.dims);
        TRY(qslice_copy(vm, v, &s, &a));
    } else {
        s.dtype = o->cls->fields[field].type->dtype;
        TRY(qslice_put(vm, &s, 1, (int64_t[]){0}, &v, &a));
    }
    return *out = qarr_value(a), QS_OK;
}

qs_status qpack_field_back(qs_vm *vm, Object *o, int field, qs_value packed) {
    if (o->slots[field].kind != QS_ARRAY) return give_number(vm, o, field, packed.u.p, 0);
    return qobj_set(vm, o, o->cls->fields[field].name, packed);
}

bool qpack_has_object(const Packed *p, const Object *o) {
    for (int i = 0; i < p->n; i++) {
        const Cell *c = p->given[i].u.p;
        for (size_t k = 0; p->cls[i] == o->cls && k < c->count; k++)
            if (c->items[k].u.p == o) return true;
    }
    return false;
}
