/* keymap.c -- implements the hash table of the keys of an object. */
#include "vm/value/keymap.h"
#include "vm/value/trace.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 32 }; /* cells in cells in a key */

/* -- keys ---------------------------------------------------------------------------------------------------------- */
static uint32_t mix_bits(uint64_t h) {
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

/* The hash of a small integer is the integer, so that consecutive integers are neighbours in the index. */
static uint32_t hash_integer(int64_t i) { return (uint32_t)i + (uint32_t)((uint64_t)i >> 32) * 0x9e3779b9u; }

/* Integral numbers of all types have one hash. */
static uint32_t hash_number(qs_value v) {
    uint64_t bits;
    if (v.kind != QS_NUM) return hash_integer(v.u.i);
    if (fabs(v.u.f) < 0x1p63 && v.u.f == (double)(int64_t)v.u.f) return hash_integer((int64_t)v.u.f);
    memcpy(&bits, &v.u.f, sizeof bits);
    return mix_bits(bits);
}

static qs_status cannot_be_key(qs_vm *vm, qs_value v) {
    const char *hint = v.kind == QS_ARRAY ? "; the cell {i, j} of two numbers can" : "";
    return qerr_set(qvm_ctx(vm), QS_ETYPE,
                    "a key is a string, a number, or a cell of these, and a value of type %s cannot be one%s",
                    v.kind == QS_NIL && v.aux == NIL_COLON ? ":" : qval_type_name(vm, v), hint);
}

static qs_status hash_at(qs_vm *vm, qs_value v, int depth, uint32_t *hash) {
    uint32_t item = 0;
    v = qtape_plain(v);
    if (v.kind == QS_STRING) return *hash = qstr_hash(v.u.p), QS_OK;
    if (v.kind == QS_NUM && isnan(v.u.f))
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "nan cannot be a key, because it equals no number");
    if (qval_is_number(v)) return *hash = hash_number(v), QS_OK;
    if (v.kind != QS_CELL) return cannot_be_key(vm, v);
    if (depth == DEPTH_MAX) return qerr_set(qvm_ctx(vm), QS_EVALUE, "a key has cells in cells, more than %d", depth);
    const Cell *c = v.u.p;
    uint64_t h = c->count;
    for (size_t i = 0; i < c->count; i++) {
        TRY(hash_at(vm, c->items[i], depth + 1, &item));
        h = (h ^ item) * 0x100000001b3u;
    }
    return *hash = mix_bits(h), QS_OK;
}

qs_status qkey_hash(qs_vm *vm, qs_value v, uint32_t *hash) { return hash_at(vm, v, 0, hash); }

qs_status qkey_copy(qs_vm *vm, qs_value key, qs_value *out) {
    key = qtape_plain(key);
    if (key.kind != QS_CELL) return *out = qval_retain(key), QS_OK;
    TRY(qval_copy(vm, key, out));
    Cell *c = out->u.p;
    for (size_t i = 0; i < c->count; i++) {
        qs_value item = c->items[i];
        qs_status s = qkey_copy(vm, item, &c->items[i]);
        if (s) return c->items[i] = item, qval_release(vm, *out), s;
        qval_release(vm, item);
    }
    return QS_OK;
}

static bool same_key(qs_vm *vm, qs_value a, qs_value b);

static bool same_cell(qs_vm *vm, const Cell *a, const Cell *b) {
    if (a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims)) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_key(vm, a->items[i], b->items[i])) return false;
    return true;
}

static bool same_key(qs_vm *vm, qs_value a, qs_value b) {
    if (a.kind == QS_NUM && b.kind == QS_NUM) return a.u.f == b.u.f;
    if (a.kind == QS_STRING && b.kind == QS_STRING) return a.u.p == b.u.p || qstr_equal(a.u.p, b.u.p);
    if (a.kind == QS_CELL && b.kind == QS_CELL) return same_cell(vm, a.u.p, b.u.p);
    return a.kind != QS_STRING && b.kind != QS_STRING && qval_equal(vm, a, qtape_plain(b));
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

/* A search visits the slot of the hash, then a sequence in which all bits of the hash take part, as in CPython.
 * It ends at an empty slot: at least half of them are empty. */
typedef struct {
    uint32_t at, bits;
} Search;

static inline void search_on(Search *s) { s->at = 5 * s->at + (s->bits >>= 5) + 1; }

int64_t qkeymap_find(qs_vm *vm, const KeyMap *m, qs_value key, uint32_t hash) {
    if (!m->nindex) return -1;
    for (Search s = {hash, hash};; search_on(&s)) {
        KeySlot slot = m->index[s.at & (m->nindex - 1)];
        if (!slot.entry) return -1;
        if (slot.hash != hash) continue;
        qs_value found = m->entries[slot.entry - 1].key;
        if (found.kind != QS_NIL && same_key(vm, found, key)) return slot.entry - 1;
    }
}

int64_t qkeymap_find_plain(qs_vm *vm, const KeyMap *m, qs_value key) {
    if (key.kind == QS_STRING) return qkeymap_find(vm, m, key, qstr_hash(key.u.p));
    return qval_is_number(key) ? qkeymap_find(vm, m, key, hash_number(key)) : -1;
}

static void insert_index(KeyMap *m, uint32_t hash, uint32_t entry) {
    Search s = {hash, hash};
    while (m->index[s.at & (m->nindex - 1)].entry) search_on(&s);
    m->index[s.at & (m->nindex - 1)] = (KeySlot){hash, entry + 1};
}

static void fill_index(KeyMap *m) {
    memset(m->index, 0, m->nindex * sizeof *m->index);
    for (uint32_t i = 0; i < m->n; i++) insert_index(m, m->entries[i].hash, i);
}

void qkeymap_add(KeyMap *m, Ctx *c, qs_value key, uint32_t hash) {
    qmem_grow(c, &m->entries, &m->cap, m->n, sizeof *m->entries);
    m->entries[m->n] = (KeyEntry){key, hash};
    if (2 * ++m->n > m->nindex) {
        uint32_t n = m->nindex ? 2 * m->nindex : 8;
        qmem_free(c, m->index, m->nindex * sizeof *m->index);
        m->index = qmem_alloc(c, qmem_size(n, sizeof *m->index, 0));
        m->nindex = n;
        fill_index(m);
    } else {
        insert_index(m, hash, m->n - 1);
    }
}

/* The index keeps pointing to the entry, so that searches continue behind it. */
void qkeymap_remove(qs_vm *vm, KeyMap *m, uint32_t entry) {
    qval_release(vm, m->entries[entry].key);
    m->entries[entry].key = qs_nil();
    m->holes++;
}

void qkeymap_compact(KeyMap *m, qs_value *values) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->entries[i].key.kind != QS_NIL) m->entries[n] = m->entries[i], values[n++] = values[i];
    m->n = n, m->holes = 0;
    fill_index(m);
}

void qkeymap_free(qs_vm *vm, KeyMap *m) {
    for (uint32_t i = 0; i < m->n; i++) qval_release(vm, m->entries[i].key);
    qmem_free(qvm_ctx(vm), m->entries, m->cap * sizeof *m->entries);
    qmem_free(qvm_ctx(vm), m->index, m->nindex * sizeof *m->index);
}
