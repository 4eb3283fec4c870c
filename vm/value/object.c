/* object.c -- creates cells, class instances, dynamic objects, functions, foreign and type values, accesses fields, and
 * frees all reference-counted objects. */
#include "devices/pool.h"
#include "lang/syntax/ast.h"
#include "vm/base/number.h"
#include "vm/value/hooks.h"
#include "vm/value/machine.h"
#include "vm/value/trace.h"

#include <math.h>
#include <string.h>

static void *new_counted(qs_vm *vm, size_t size, qs_kind kind) {
    Obj *o = qmem_alloc(qvm_ctx(vm), size);
    o->refs = 1;
    o->kind = (uint8_t)kind;
    return o;
}

static void *new_tracked(qs_vm *vm, size_t size, qs_kind kind) {
    GcObj *o = new_counted(vm, size, kind);
    qgc_track(vm, o);
    return o;
}

/* -- memory for the items of cells --------------------------------------------------------------------------------- */
enum { FEW_ITEMS = 8 }; /* the system's allocator has blocks of this size without alignment */

static qs_value *get_items(qs_vm *vm, size_t n) {
    Ctx *c = qvm_ctx(vm);
    size_t bytes = qmem_size(n, sizeof(qs_value), 0);
    if (n > FEW_ITEMS) return qpool_get(c, bytes);
    if (c->fail_after > 0 && --c->fail_after == 0) return NULL; /* as in qmem_try */
    return qmem_try_resize(c, NULL, 0, bytes);
}

static void put_items(qs_vm *vm, qs_value *items, size_t n) {
    (n <= FEW_ITEMS ? qmem_free : qpool_put)(qvm_ctx(vm), items, n * sizeof *items);
}

/* -- freeing objects ----------------------------------------------------------------------------------------------- */

static void release_values(qs_vm *vm, const qs_value *at, size_t n) {
    for (size_t i = 0; i < n; i++) qval_release(vm, at[i]);
}

static void bury_cell(qs_vm *vm, Cell *c) {
    release_values(vm, c->items, c->count);
    put_items(vm, c->items, c->room);
    qmem_free(qvm_ctx(vm), c, sizeof *c);
}

static void bury_object(qs_vm *vm, Object *o) {
    release_values(vm, o->slots, o->nslots);
    qmem_free(qvm_ctx(vm), o->slots, o->cap * sizeof *o->slots);
    qkeymap_free(vm, &o->keys);
    qmem_free(qvm_ctx(vm), o, sizeof *o);
}

static size_t function_bytes(int ncaptures) { return sizeof(Function) + (size_t)ncaptures * sizeof(qs_value); }

/* Counts a function less in its program; after the last function, a replaced program is queued for unload.c. */
static void leave_unit(qs_vm *vm, Unit *u) {
    if (--u->functions > 0 || !u->loose) return;
    u->next_dead = qvm(vm)->dead_units;
    qvm(vm)->dead_units = u;
}

static void bury_function(qs_vm *vm, Function *f) {
    bool closing = !qvm(vm)->modules; /* on exit, programs and their syntax trees are freed before the values */
    if (f->fkind == FN_SCRIPT && !closing) leave_unit(vm, f->ast->unit);
    release_values(vm, f->captures, (size_t)f->ncaptures);
    for (int i = 0; i < f->nmembers; i++) qval_release(vm, qval_object(QS_FUNCTION, f->members[i]));
    qmem_free(qvm_ctx(vm), f->members, (size_t)f->nmembers * sizeof *f->members);
    if (f->choices) qmem_free(qvm_ctx(vm), f->choices, sizeof *f->choices);
    qmem_free(qvm_ctx(vm), f, function_bytes(f->ncaptures));
}

static void bury_foreign(qs_vm *vm, Foreign *f) {
    if (f->ftype->release) f->ftype->release(f->p);
    qmem_free(qvm_ctx(vm), f, sizeof *f);
}

static void bury(qs_vm *vm, GcObj *o) {
    switch (o->hdr.kind) {
    case QS_CELL: bury_cell(vm, (Cell *)o); break;
    case QS_OBJECT: bury_object(vm, (Object *)o); break;
    case QS_FUNCTION: bury_function(vm, (Function *)o); break;
    default: bury_foreign(vm, (Foreign *)o); break;
    }
}

/* Frees a container.  Nested containers wait in a list, linked through gc.next, until the ones before them have been
 * freed, so that deep structures need no C recursion. */
static void destroy_container(qs_vm *vm, GcObj *o) {
    Machine *m = qvm(vm);
    qgc_untrack(vm, o);
    o->next = m->dying;
    m->dying = o;
    if (m->burying) return;
    m->burying = true;
    while ((o = m->dying) != NULL) {
        m->dying = o->next;
        bury(vm, o);
    }
    m->burying = false;
}

void qval_destroy(qs_vm *vm, qs_value v) {
    switch ((qs_kind)v.kind) {
    case QS_STRING: qstr_free(qvm_ctx(vm), v.u.p); break;
    case QS_ARRAY: qarr_free(vm, v.u.p); break;
    case QS_COMPLEX: qmem_free(qvm_ctx(vm), v.u.p, sizeof(Complex)); break;
    case QS_TRACED: qtrace(vm)->free_number(vm, v.u.p); break;
    case QS_TYPE: qmem_free(qvm_ctx(vm), v.u.p, sizeof(TypeValue)); break;
    default: destroy_container(vm, v.u.p); break;
    }
}

/* -- cells --------------------------------------------------------------------------------------------------------- */

static qs_status count_items(Ctx *c, int rank, const int64_t *dims, size_t *count) {
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0) return qerr_set(c, QS_ESHAPE, "cell: size must be ≥ 0, got %lld", (long long)dims[i]);
    if (qarr_multiply_extents(rank, dims, count) && *count < SIZE_MAX / sizeof(qs_value)) return QS_OK;
    return qerr_set(c, QS_ENOMEM, "cell: no memory for so many items");
}

/* Sets all items to zero.  Each item gets its own numeric array of fixed size; any other zero may be shared. */
static qs_status fill_zero(qs_vm *vm, Cell *c) {
    qs_value zero;
    TRY(qval_zero(vm, c->elem, &zero));
    bool own = zero.kind == QS_ARRAY && c->elem->nfixed;
    for (size_t i = 0; i < c->count; i++) {
        qs_value item = zero;
        qs_status s = own ? qarr_copy(vm, zero.u.p, (Array **)&item.u.p) : QS_OK;
        if (s != QS_OK) {
            qval_release(vm, zero);
            return s;
        }
        c->items[i] = own ? item : qval_retain(item);
    }
    qval_release(vm, zero);
    return QS_OK;
}

qs_status qcell_new(qs_vm *vm, const Type *elem, int rank, const int64_t *dims, Cell **out) {
    size_t count = 0;
    TRY(count_items(qvm_ctx(vm), rank, dims, &count));
    qs_value *items = get_items(vm, count);
    if (!items) return qerr_set(qvm_ctx(vm), QS_ENOMEM, "cell: no memory for %zu items", count);
    memset(items, 0, count * sizeof *items); /* QS_NIL is 0 */
    Cell *c = new_tracked(vm, sizeof *c, QS_CELL);
    memcpy(c->dims, dims, (size_t)rank * sizeof *dims);
    c->rank = (uint8_t)qarr_normalise(rank, c->dims);
    c->elem = elem;
    c->count = c->room = count;
    c->items = items;
    qs_status s = elem->kind == TY_ANY ? QS_OK : fill_zero(vm, c);
    if (s == QS_OK) *out = c;
    else qval_release(vm, qval_object(QS_CELL, c));
    return s;
}

/* Converts v to an item of c, which is about to be changed. */
static qs_status make_item(qs_vm *vm, Cell *c, qs_value v, qs_value *item) {
    if (c->gc.hdr.aux) TRY(qinterp_hooks(vm)->cell_written(vm, c));
    if (c->elem->kind == TY_ANY) return *item = qval_retain(v), QS_OK;
    if ((c->gc.hdr.flags & CELL_INFERRED) && !qval_is_type(vm, v, c->elem)) {
        c->elem = qtype_any(qvm_ctx(vm));
        return *item = qval_retain(v), QS_OK;
    }
    return qval_coerce(vm, v, c->elem, "an item of the cell", item);
}

qs_status qcell_store(qs_vm *vm, Cell *c, size_t linear, qs_value v) {
    qs_value old = c->items[linear], item;
    TRY(make_item(vm, c, v, &item));
    c->items[linear] = item;
    qval_release(vm, old);
    return QS_OK;
}

/* Moves the first `kept` items to a block with memory for `room` items. */
static qs_status move_items(qs_vm *vm, Cell *c, size_t room, size_t kept) {
    qs_value *items = get_items(vm, room);
    if (!items) return qerr_set(qvm_ctx(vm), QS_ENOMEM, "cell: no memory for %zu items", room);
    if (kept > c->count) kept = c->count;
    if (kept) memcpy(items, c->items, kept * sizeof *items);
    put_items(vm, c->items, c->room);
    c->items = items, c->room = room;
    return QS_OK;
}

qs_status qcell_resize(qs_vm *vm, Cell *c, size_t count) {
    if (count > c->room || (c->room > 64 && count < c->room / 4)) TRY(move_items(vm, c, count + count / 2 + 8, count));
    return c->dims[0] = (int64_t)(c->count = count), QS_OK;
}

qs_status qcell_insert(qs_vm *vm, Cell *c, size_t at, qs_value v) {
    qs_value item;
    if (c->count == c->room) TRY(move_items(vm, c, c->room + c->room / 2 + 8, c->count));
    TRY(make_item(vm, c, v, &item));
    memmove(c->items + at + 1, c->items + at, (c->count - at) * sizeof *c->items);
    c->items[at] = item;
    c->dims[0] = (int64_t)++c->count;
    return QS_OK;
}

qs_status qcell_remove(qs_vm *vm, Cell *c, size_t at, qs_value *out) {
    if (c->gc.hdr.aux) TRY(qinterp_hooks(vm)->cell_written(vm, c));
    *out = c->items[at];
    memmove(c->items + at, c->items + at + 1, (c->count - at - 1) * sizeof *c->items);
    c->dims[0] = (int64_t)--c->count;
    if (c->room > 64 && c->count < c->room / 4) (void)move_items(vm, c, c->room / 2, c->count);
    return QS_OK;
}

qs_status qcell_copy(qs_vm *vm, const Cell *a, int rank, const int64_t *dims, qs_value *out) {
    Cell *r;
    TRY(qcell_new(vm, a->elem, rank, dims, &r));
    *out = qval_object(QS_CELL, r);
    for (size_t i = 0; i < a->count; i++) {
        qs_value old = r->items[i];
        r->items[i] = qval_retain(a->items[i]);
        qval_release(vm, old);
    }
    return QS_OK;
}

/* -- classes and objects ------------------------------------------------------------------------------------------- */

Class *qclass_new(qs_vm *vm, Str *name, ClassKind kind, int nfields, const Field *fields) {
    Ctx *c = qvm_ctx(vm);
    Class *cls = qmem_alloc(c, sizeof *cls);
    cls->name = name;
    cls->kind = kind;
    cls->nfields = nfields;
    cls->fields = qmem_alloc(c, qmem_size((size_t)nfields, sizeof *fields, 0));
    for (int i = 0; i < nfields; i++) {
        cls->fields[i] = fields[i];
        qmap_set(&cls->index, c, fields[i].name, (uint64_t)i);
    }
    cls->type = qtype_class(c, name);
    cls->type->cls = cls;
    return cls;
}

void qclass_free(qs_vm *vm, Class *cls) {
    Ctx *c = qvm_ctx(vm);
    for (int i = 0; i < cls->nfields; i++) qval_release(vm, cls->fields[i].init);
    qmem_free(c, cls->fields, (size_t)cls->nfields * sizeof *cls->fields);
    qmap_free(&cls->index, c);
    cls->type->cls = NULL;
    qmem_free(c, cls, sizeof *cls);
}

qs_status qobj_initial(qs_vm *vm, const Class *cls, int field, qs_value *out) {
    const Field *f = &cls->fields[field];
    if (!f->given) return *out = qval_retain(f->init), QS_OK;
    qs_value v = *qvm_global(vm, (uint64_t)f->given - 1);
    if (v.kind == QS_NIL && v.aux == NIL_UNSET)
        return qerr_set(qvm_ctx(vm), QS_ENAME,
                        "field %s of %s begins with a value that is computed where the class "
                        "stands, and the program has not come there yet",
                        f->name->s, cls->name->s);
    if (!f->type || v.kind == QS_NIL) return *out = qval_retain(v), QS_OK;
    return qval_coerce(vm, v, f->type, f->name->s, out);
}

/* Returns the initial value of a field as a copy, so that instances do not share it. */
static qs_status initial_value(qs_vm *vm, const Class *cls, int field, qs_value *out) {
    qs_value v;
    TRY(qobj_initial(vm, cls, field, &v));
    const Type *t = cls->fields[field].type;
    qs_status s = v.kind == QS_NIL && t ? qval_zero(vm, t, out) : qval_copy(vm, v, out);
    return qval_release(vm, v), s;
}

qs_status qobj_new(qs_vm *vm, Class *cls, Object **out) {
    Object *o = new_tracked(vm, sizeof *o, QS_OBJECT);
    o->cls = cls;
    uint32_t n = cls ? (uint32_t)cls->nfields : 0;
    if (n) qmem_grow(qvm_ctx(vm), &o->slots, &o->cap, n - 1, sizeof *o->slots);
    for (; o->nslots < n; o->nslots++) {
        qs_status s = initial_value(vm, cls, (int)o->nslots, &o->slots[o->nslots]);
        if (s == QS_OK) continue;
        qval_release(vm, qval_object(QS_OBJECT, o));
        return s;
    }
    *out = o;
    return QS_OK;
}

qs_status qobj_new_dictionary(qs_vm *vm, Object **out) {
    TRY(qobj_new(vm, NULL, out));
    return (*out)->gc.hdr.flags |= OBJECT_DICTIONARY, QS_OK;
}

static bool open_ended(const Object *o) { return !o->cls || o->cls->kind == CLASS_DYNAMIC; }

static uint32_t count_declared(const Object *o) { return o->cls ? (uint32_t)o->cls->nfields : 0; }

static int64_t find_added(qs_vm *vm, const Object *o, qs_value key, uint32_t hash) {
    int64_t i = qkeymap_find(vm, &o->keys, key, hash);
    return i < 0 ? -1 : i + count_declared(o);
}

/* Returns the slot of a declared or added field; -1: there is none. */
static int64_t find_slot(const Object *o, Str *name) {
    uint64_t i;
    if (o->cls && qmap_get(&o->cls->index, name, &i)) return (int64_t)i;
    return o->keys.n ? find_added(NULL, o, qval_object(QS_STRING, name), qstr_hash(name)) : -1;
}

bool qobj_has(const Object *o, Str *name) { return find_slot(o, name) >= 0; }

uint32_t qobj_count(const Object *o) { return o->nslots - o->keys.holes; }

static void close_holes(Object *o) {
    if (!o->keys.holes) return;
    qkeymap_compact(&o->keys, o->slots + count_declared(o));
    o->nslots = count_declared(o) + o->keys.n;
}

bool qobj_entry(const Object *o, uint32_t i, qs_value *key, qs_value *value) {
    uint32_t declared = count_declared(o);
    close_holes((Object *)o); /* not a visible change */
    if (i >= o->nslots) return false;
    *key = i < declared ? qval_object(QS_STRING, o->cls->fields[i].name) : o->keys.entries[i - declared].key;
    *value = o->slots[i];
    return true;
}

bool qobj_field(const Object *o, uint32_t i, Str **name, qs_value *value) {
    qs_value key;
    if (!qobj_entry(o, i, &key, value)) return false;
    return *name = key.kind == QS_STRING ? key.u.p : NULL, true;
}

qs_status qobj_check_names(qs_vm *vm, const Object *o, const char *what) {
    qs_value key, v;
    for (uint32_t i = 0; qobj_entry(o, i, &key, &v); i++)
        if (key.kind != QS_STRING)
            return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: every key must be a string, got a key of type %s", what,
                            qval_type_name(vm, key));
    return QS_OK;
}

static qs_status no_field(qs_vm *vm, const Object *o, Str *name) {
    Nearest near = {.wanted = name->s};
    Str *field;
    qs_value v;
    for (uint32_t i = 0; qobj_field(o, i, &field, &v); i++)
        if (field) qstr_offer(&near, field->s);
    const char *owner = o->cls ? o->cls->name->s : "the object";
    if (near.best)
        return qerr_set(qvm_ctx(vm), QS_ENAME, "%s has no field %s; did you mean %s?", owner, name->s, near.best);
    return qerr_set(qvm_ctx(vm), QS_ENAME, "%s has no field %s", owner, name->s);
}

qs_status qobj_get(qs_vm *vm, Object *o, Str *name, qs_value *out) {
    int64_t i = find_slot(o, name);
    if (i < 0) return no_field(vm, o, name);
    *out = qval_retain(o->slots[i]);
    return QS_OK;
}

/* Adds an entry; takes the reference to the key.  Before the table of keys grows, it loses its holes. */
static void add_entry(qs_vm *vm, Object *o, qs_value key, uint32_t hash, qs_value v) {
    if (o->keys.n == o->keys.cap && o->keys.holes > o->keys.n / 4) close_holes(o);
    qmem_grow(qvm_ctx(vm), &o->slots, &o->cap, o->nslots, sizeof *o->slots);
    qkeymap_add(&o->keys, qvm_ctx(vm), key, hash);
    o->slots[o->nslots++] = qval_retain(v);
}

static qs_status declared_value(qs_vm *vm, const Class *cls, int64_t i, qs_value v, qs_value *out) {
    const Field *f = &cls->fields[i];
    if (!f->type || f->type->kind == TY_ANY) return *out = qval_retain(v), QS_OK;
    Text what;
    qtext_init(&what, qvm_ctx(vm));
    if (!qval_is_type(vm, v, f->type)) qtext_printf(&what, "field %s of %s", f->name->s, cls->name->s);
    qs_status s = qval_coerce(vm, v, f->type, what.s ? what.s : "", out);
    qtext_free(&what);
    return s;
}

qs_status qobj_init(qs_vm *vm, Object *o, Str *name, qs_value v) {
    int64_t i = find_slot(o, name);
    if (i < 0 && !open_ended(o)) return no_field(vm, o, name);
    if (i < 0) return add_entry(vm, o, qval_retain(qval_object(QS_STRING, name)), qstr_hash(name), v), QS_OK;
    qs_value old = o->slots[i], item;
    if (o->cls && i < o->cls->nfields) TRY(declared_value(vm, o->cls, i, v, &item));
    else item = qval_retain(v);
    o->slots[i] = item;
    qval_release(vm, old);
    return QS_OK;
}

/* -- objects by key ------------------------------------------------------------------------------------------------ */

bool qobj_has_keys(const Object *o) { return open_ended(o); }

/* Finds the slot of a key that is not a string.  *hash is computed for an absent one, too. */
static qs_status find_key(qs_vm *vm, const Object *o, qs_value key, uint32_t *hash, int64_t *slot) {
    TRY(qkey_hash(vm, key, hash));
    return *slot = key.kind == QS_STRING ? find_slot(o, key.u.p) : find_added(vm, o, key, *hash), QS_OK;
}

qs_status qobj_find(qs_vm *vm, Object *o, qs_value key, qs_value *out, bool *found) {
    uint32_t hash;
    int64_t slot;
    TRY(find_key(vm, o, key, &hash, &slot));
    if ((*found = slot >= 0)) *out = qval_retain(o->slots[slot]);
    return QS_OK;
}

/* Returns whether the object has the key 2 instead of "2", or the reverse. */
static bool has_other_type(qs_vm *vm, const Object *o, qs_value key) {
    Text t;
    char *end;
    uint32_t hash;
    int64_t slot = -1;
    qs_value other = qs_nil();
    if (key.kind == QS_STRING) {
        double x = qnum_read(((Str *)key.u.p)->s, &end);
        if (((Str *)key.u.p)->len && !*end && isfinite(x)) other = qs_num(x);
    } else if (qval_is_number(key)) {
        qtext_init(&t, qvm_ctx(vm));
        (void)qval_text(vm, &t, qfmt_brief(vm, key, &t), &other);
    }
    if (other.kind != QS_NIL) (void)find_key(vm, o, other, &hash, &slot);
    qval_release(vm, other);
    return slot >= 0;
}

enum { KEYS_LISTED = 5, KEYS_COMPARED = 10000 };

/* Appends a similar key, or all keys if there are few. */
static qs_status suggest_key(qs_vm *vm, const Object *o, qs_value key, Text *t) {
    Nearest near = {.wanted = key.kind == QS_STRING ? ((Str *)key.u.p)->s : ""};
    qs_value present, v;
    for (uint32_t i = 0; i < KEYS_COMPARED && qobj_entry(o, i, &present, &v); i++)
        if (present.kind == QS_STRING) qstr_offer(&near, ((Str *)present.u.p)->s);
    if (near.best) return qtext_printf(t, "; did you mean \"%s\"?", near.best), QS_OK;
    if (has_other_type(vm, o, key)) {
        bool string = key.kind == QS_STRING;
        qtext_puts(t, string ? "; the number " : "; the string \"");
        if (string) qtext_puts(t, ((Str *)key.u.p)->s);
        else TRY(qfmt_brief(vm, key, t));
        return qtext_puts(t, string ? " is a key" : "\" is a key"), QS_OK;
    }
    if (qobj_count(o) > KEYS_LISTED) return QS_OK;
    qtext_puts(t, qobj_count(o) ? "; its keys are " : "; it is empty");
    for (uint32_t i = 0; qobj_entry(o, i, &present, &v); i++) {
        qtext_puts(t, i ? ", " : "");
        TRY(qfmt_brief(vm, present, t));
    }
    if (key.kind != QS_STRING && qobj_entry(o, 0, &present, &v) && present.kind == QS_STRING && v.kind == QS_ARRAY) {
        qtext_printf(t, "; an element of a field is written .%s[", ((Str *)present.u.p)->s);
        TRY(qfmt_brief(vm, key, t));
        qtext_puts(t, "]");
    }
    return QS_OK;
}

static qs_status no_key(qs_vm *vm, const Object *o, qs_value key) {
    Text t;
    if (!open_ended(o) && key.kind == QS_STRING) return no_field(vm, o, key.u.p);
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s has no key ", o->cls ? o->cls->name->s : "the dictionary");
    qs_status s = qfmt_brief(vm, key, &t);
    if (s == QS_OK) s = suggest_key(vm, o, key, &t);
    if (s == QS_OK) s = qerr_set(qvm_ctx(vm), QS_ENAME, "%s", t.s);
    return qtext_free(&t), s;
}

qs_value *qobj_value(qs_vm *vm, const Object *o, qs_value key) {
    int64_t i = o->cls ? -1 : qkeymap_find_plain(vm, &o->keys, key);
    return i < 0 ? NULL : &o->slots[i];
}

qs_status qobj_get_key(qs_vm *vm, Object *o, qs_value key, qs_value *out) {
    bool found;
    TRY(qobj_find(vm, o, key, out, &found));
    return found ? QS_OK : no_key(vm, o, key);
}

qs_status qobj_set_key(qs_vm *vm, Object *o, qs_value key, qs_value v) {
    uint32_t hash;
    int64_t slot;
    qs_value own;
    if (key.kind == QS_STRING) return qobj_set(vm, o, key.u.p, v);
    TRY(find_key(vm, o, key, &hash, &slot));
    if (slot < 0) {
        TRY(qkey_copy(vm, key, &own));
        return add_entry(vm, o, own, hash, v), QS_OK;
    }
    own = o->slots[slot];
    o->slots[slot] = qval_retain(v);
    return qval_release(vm, own), QS_OK;
}

qs_status qobj_remove(qs_vm *vm, Object *o, qs_value key, qs_value *out) {
    uint32_t hash, declared = count_declared(o);
    int64_t slot;
    TRY(find_key(vm, o, key, &hash, &slot));
    if (slot < 0) return no_key(vm, o, key);
    if (slot < declared)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "field %s of %s is declared and cannot be removed", ((Str *)key.u.p)->s,
                        o->cls->name->s);
    *out = o->slots[slot];
    o->slots[slot] = qs_nil();
    return qkeymap_remove(vm, &o->keys, (uint32_t)slot - declared), QS_OK;
}

qs_status qobj_keys(qs_vm *vm, const Object *o, qs_value *out) {
    Cell *r;
    qs_value key;
    int64_t n = qobj_count(o);
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, &n, &r));
    *out = qval_object(QS_CELL, r);
    uint32_t declared = count_declared(o), at = 0;
    for (uint32_t i = 0; i < o->nslots; i++) { /* skips holes, because a loop may remove an entry each time */
        key = i < declared ? qval_object(QS_STRING, o->cls->fields[i].name) : o->keys.entries[i - declared].key;
        if (key.kind == QS_CELL) TRY(qkey_copy(vm, key, &r->items[at++]));
        else if (key.kind != QS_NIL) r->items[at++] = qval_retain(key);
    }
    return QS_OK;
}

static qs_status copy_object(qs_vm *vm, const Object *a, qs_value *out) {
    Object *r;
    qs_value key, v;
    TRY(qobj_new(vm, a->cls, &r));
    r->gc.hdr.flags = a->gc.hdr.flags & OBJECT_DICTIONARY;
    *out = qval_object(QS_OBJECT, r);
    for (uint32_t i = 0; qobj_entry(a, i, &key, &v); i++) /* as constructors do: immutable fields, too */
        TRY(key.kind == QS_STRING ? qobj_init(vm, r, key.u.p, v) : qobj_set_key(vm, r, key, v));
    return QS_OK;
}

qs_status qval_copy(qs_vm *vm, qs_value v, qs_value *out) {
    const Cell *c = v.u.p;
    Array *r;
    if (v.kind == QS_OBJECT) return copy_object(vm, v.u.p, out);
    if (v.kind == QS_CELL) return qcell_copy(vm, c, c->rank, c->dims, out);
    if (v.kind != QS_ARRAY) return *out = qval_retain(v), QS_OK;
    TRY(qarr_copy(vm, v.u.p, &r));
    return *out = qval_object(QS_ARRAY, r), QS_OK;
}

qs_status qobj_set(qs_vm *vm, Object *o, Str *name, qs_value v) {
    if (o->cls && o->cls->kind == CLASS_IMMUTABLE && qobj_has(o, name))
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "field %s of %s cannot be assigned: the class is not declared mutable",
                        name->s, o->cls->name->s);
    return qobj_init(vm, o, name, v);
}

/* -- functions, foreign objects, types ----------------------------------------------------------------------------- */

static Function *new_function(qs_vm *vm, FunctionKind kind, Str *name, int ncaptures) {
    Function *f = new_counted(vm, function_bytes(ncaptures), QS_FUNCTION);
    f->fkind = (uint8_t)kind;
    f->name = name;
    f->ncaptures = ncaptures;
    qgc_track(vm, &f->gc);
    return f;
}

Function *qfn_native(qs_vm *vm, const qs_native_def *def) {
    Function *f = new_function(vm, FN_NATIVE, qstr_cname(qvm_ctx(vm), def->name), 0);
    f->native = def;
    return f;
}

Function *qfn_foreign(qs_vm *vm, Str *name, qs_value callee) {
    Function *f = new_function(vm, FN_FOREIGN, name, 1);
    f->captures[0] = qval_retain(callee);
    return f;
}

Function *qfn_script(qs_vm *vm, Func *ast, int ncaptures) {
    Function *f = new_function(vm, FN_SCRIPT, ast->name, ncaptures);
    f->ast = ast;
    ast->unit->functions++;
    return f;
}

Function *qfn_set(qs_vm *vm, Str *name) { return new_function(vm, FN_SET, name, 0); }

void qfn_set_add(qs_vm *vm, Function *set, Function *member) {
    size_t n = (size_t)set->nmembers;
    set->members =
        qmem_resize(qvm_ctx(vm), set->members, n * sizeof member, qmem_size(n, sizeof member, sizeof member));
    set->members[set->nmembers++] = member;
    member->gc.hdr.refs++;
}

Foreign *qobj_foreign(qs_vm *vm, const qs_foreign_type *ftype, void *p) {
    Foreign *f = new_counted(vm, sizeof *f, QS_FOREIGN);
    f->ftype = ftype;
    f->p = p;
    qgc_track(vm, &f->gc);
    return f;
}

qs_value qobj_type(qs_vm *vm, const Type *t, TypeMods mods) {
    TypeValue *v = new_counted(vm, sizeof *v, QS_TYPE);
    v->type = t;
    v->mods = mods;
    v->cls = t->kind == TY_CLASS ? t->cls : NULL;
    return qval_object(QS_TYPE, v);
}
