/* keymap.h -- declares the hash table from the keys of an object to their numbers, in the order of insertion.
 *
 * Keys are strings, which are the names of fields, numbers, truth values, and cells of these.  Numbers of equal value
 * are one key whatever their type: 1, int(1) and true.  A cell is stored as a copy, so that no key changes. */
#ifndef VM_KEYMAP_H
#define VM_KEYMAP_H
#include "vm/base/str.h"

typedef struct {
    qs_value key; /* null: removed */
    uint32_t hash;
} KeyEntry;
typedef struct {
    uint32_t hash, entry; /* entry number + 1; 0: empty */
} KeySlot;
typedef struct {
    KeyEntry *entries; /* in the order of insertion */
    KeySlot *index;    /* hash table with open addressing */
    uint32_t n, cap, nindex, holes;
} KeyMap;

/* Checks that v can be a key and computes its hash.  Otherwise an error that names its type. */
qs_status qkey_hash(qs_vm *vm, qs_value v, uint32_t *hash);
qs_status qkey_copy(qs_vm *vm, qs_value key, qs_value *out);                   /* a new reference; a copy of a cell */
int64_t qkeymap_find(qs_vm *vm, const KeyMap *m, qs_value key, uint32_t hash); /* -1: absent; vm unused for strings */
int64_t qkeymap_find_plain(qs_vm *vm, const KeyMap *m, qs_value key); /* -1: absent, or no string and no number */
void qkeymap_add(KeyMap *m, Ctx *c, qs_value key, uint32_t hash);     /* takes the reference; key is absent */
void qkeymap_remove(qs_vm *vm, KeyMap *m, uint32_t entry);
void qkeymap_compact(KeyMap *m, qs_value *values); /* closes the holes, also in the values of the entries */
void qkeymap_free(qs_vm *vm, KeyMap *m);
#endif
