/* str.c -- implements interned strings, near-miss search for names, and the hash map. */
#include "vm/base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* -- intern table: chained buckets.  A name (STR_NAME) stays until the table closes; any other string is removed when
 *    its count reaches 0. ------------------------------------------------------------------------------------------ */

typedef struct StrTable {
    Str **buckets;
    uint32_t nbuckets, count; /* nbuckets is a power of two */
    Str *chars[128];          /* strings of one ASCII character, made when first needed */
} StrTable;

enum { FIRST_BUCKETS = 256, LONG_TEXT = 4096 /* bytes; a longer string may find no memory */ };

void qstr_table_init(Ctx *c) {
    StrTable *t = qmem_alloc(c, sizeof *t);
    t->nbuckets = FIRST_BUCKETS;
    t->buckets = qmem_alloc(c, qmem_size(t->nbuckets, sizeof *t->buckets, 0));
    c->strings = t;
}

/* Returns the size of a string's block; a string that grew in place has 2^aux bytes. */
static size_t str_bytes(const Str *s) { return s->hdr.aux ? (size_t)1 << s->hdr.aux : sizeof *s + s->len + 1; }

void qstr_table_close(Ctx *c) {
    StrTable *t = c->strings;
    for (uint32_t i = 0; i < t->nbuckets; i++)
        for (Str *s = t->buckets[i], *next; s; s = next) {
            next = s->chain;
            qmem_free(c, s, str_bytes(s));
        }
    qmem_free(c, t->buckets, t->nbuckets * sizeof *t->buckets);
    qmem_free(c, t, sizeof *t);
    c->strings = NULL;
}

static inline uint64_t mix(uint64_t h) {
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* Loads 1 to 7 bytes: two halves that may overlap, or single bytes. */
static uint64_t load_rest(const char *s, size_t n) {
    uint32_t first, last;
    if (n < sizeof first) return (uint8_t)s[0] | (uint32_t)(uint8_t)s[n / 2] << 8 | (uint32_t)(uint8_t)s[n - 1] << 16;
    memcpy(&first, s, sizeof first), memcpy(&last, s + n - sizeof last, sizeof last);
    return first | (uint64_t)last << 32;
}

static uint32_t hash_of(const char *s, size_t n) {
    uint64_t h = n, k; /* eight bytes at a time, mixed so that the low bits depend on all */
    for (; n >= sizeof k; s += sizeof k, n -= sizeof k) memcpy(&k, s, sizeof k), h = mix(h ^ k);
    if (n) h = mix(h ^ load_rest(s, n));
    return (uint32_t)h;
}

static void grow_table(Ctx *c, StrTable *t) {
    uint32_t n = t->nbuckets * 2;
    Str **buckets = qmem_alloc(c, qmem_size(n, sizeof *buckets, 0));
    for (uint32_t i = 0; i < t->nbuckets; i++)
        for (Str *s = t->buckets[i], *next; s; s = next) {
            next = s->chain;
            s->chain = buckets[s->hash & (n - 1)];
            buckets[s->hash & (n - 1)] = s;
        }
    qmem_free(c, t->buckets, t->nbuckets * sizeof *t->buckets);
    t->buckets = buckets;
    t->nbuckets = n;
}

static Str *new_blank_str(Ctx *c, size_t n) {
    if (n > UINT32_MAX) abort(); /* `len` is 32 bits wide */
    Str *p = qmem_alloc(c, sizeof *p + n + 1);
    p->hdr = (Obj){.refs = 1, .kind = QS_STRING};
    p->len = (uint32_t)n;
    return p;
}

static Str *new_str(Ctx *c, const char *s, size_t n) {
    Str *p = new_blank_str(c, n);
    memcpy(p->s, s, n);
    return p;
}

static Str *try_str(Ctx *c, const char *s, size_t n) {
    Str *p = n > UINT32_MAX ? NULL : qmem_try(c, qmem_size(n, 1, sizeof *p + 1));
    if (!p) return NULL;
    *p = (Str){.hdr = {.refs = 1, .kind = QS_STRING}, .len = (uint32_t)n};
    memcpy(p->s, s, n);
    p->s[n] = 0;
    return p;
}

static Str *intern(Ctx *c, const char *s, size_t n) {
    StrTable *t = c->strings;
    uint32_t hash = hash_of(s, n);
    for (Str *p = t->buckets[hash & (t->nbuckets - 1)]; p; p = p->chain)
        if (p->hash == hash && p->len == n && memcmp(p->s, s, n) == 0) {
            p->hdr.refs++;
            return p;
        }
    if (++t->count > t->nbuckets) grow_table(c, t);
    Str *p = new_str(c, s, n), **head = &t->buckets[hash & (t->nbuckets - 1)];
    p->hdr.flags = STR_INTERNED;
    p->hash = hash;
    p->chain = *head;
    *head = p;
    return p;
}

static Str *char_str(Ctx *c, const char *s) {
    Str **p = &c->strings->chars[(unsigned char)*s];
    if (!*p) *p = qstr_name(c, s, 1);
    return (*p)->hdr.refs++, *p;
}

Str *qstr_new(Ctx *c, const char *s, size_t n) {
    if (n == 1 && (unsigned char)*s < 128) return char_str(c, s);
    if (n <= STR_INTERN_MAX) return intern(c, s, n);
    return n <= LONG_TEXT ? new_str(c, s, n) : try_str(c, s, n);
}

static Str *add_place(Str *s, Str *chain, uint32_t line) {
    s->hdr.flags = STR_PLACED;
    s->chain = chain;
    s->hash = line;
    return s;
}

/* The location is stored in `chain` and `hash`, which only interned strings use otherwise.  The chain of the message is
 * the text of the stack, whose chain is the file. */
Str *qstr_placed(Ctx *c, const char *s, const char *file, uint32_t line, const Text *stack) {
    Str *places = new_str(c, stack->s ? stack->s : "", stack->len);
    add_place(places, qstr_new(c, file, strlen(file)), line);
    return add_place(new_str(c, s, strlen(s)), places, line);
}

bool qstr_location(const Str *s, Str **file, uint32_t *line, const Str **stack) {
    if (!(s->hdr.flags & STR_PLACED)) return false;
    *file = s->chain->chain;
    *line = s->hash;
    if (stack) *stack = s->chain;
    return true;
}

uint32_t qstr_hash(const Str *s) {
    Str *keeps = (Str *)(uintptr_t)s;
    if (s->hdr.flags & (STR_INTERNED | STR_HASHED)) return s->hash;
    if (s->hdr.flags & STR_PLACED) return hash_of(s->s, s->len); /* its `hash` is a line */
    keeps->hdr.flags |= STR_HASHED;
    return keeps->hash = hash_of(s->s, s->len);
}

bool qstr_is_ascii(Str *s) {
    unsigned char all = 0;
    if (s->hdr.flags & STR_SEARCHED) return s->hdr.flags & STR_ASCII;
    for (uint32_t i = 0; i < s->len; i++) all |= (unsigned char)s->s[i];
    s->hdr.flags |= STR_SEARCHED | (all < 128 ? STR_ASCII : 0);
    return all < 128;
}

bool qstr_append(Ctx *c, Str **at, const char *t, size_t n) {
    Str *s = *at;
    size_t have = str_bytes(s), need = sizeof *s + s->len + n + 1;
    s->hdr.flags &= (uint8_t) ~(STR_SEARCHED | STR_ASCII | STR_HASHED);
    if (s->hdr.refs != 1 || s->hdr.flags || need > UINT32_MAX) return false;
    if (need > have) {
        uint16_t log2 = (uint16_t)(64 - __builtin_clzll(need));
        if (!(s = qmem_try_resize(c, s, have, (size_t)1 << log2))) return false;
        *at = s;
        s->hdr.aux = log2;
    }
    memcpy(s->s + s->len, t, n);
    s->len += (uint32_t)n;
    s->s[s->len] = 0;
    s->hash = 0;
    return true;
}

Str *qstr_name(Ctx *c, const char *s, size_t n) {
    Str *p = intern(c, s, n);
    if (p->hdr.flags & STR_NAME) p->hdr.refs--; /* the table holds the one reference a name needs */
    p->hdr.flags |= STR_NAME;
    return p;
}

Str *qstr_cname(Ctx *c, const char *s) { return qstr_name(c, s, strlen(s)); }

static void unlink_str(StrTable *t, Str *s) {
    Str **at = &t->buckets[s->hash & (t->nbuckets - 1)];
    while (*at != s) at = &(*at)->chain;
    *at = s->chain;
    t->count--;
}

void qstr_free(Ctx *c, Str *s) {
    if (s->hdr.flags & STR_NAME) {
        s->hdr.refs = 1;
        return;
    }
    if (s->hdr.flags & STR_INTERNED) unlink_str(c->strings, s);
    if (s->hdr.flags & STR_PLACED) qstr_release(c, s->chain);
    qmem_free(c, s, str_bytes(s));
}

bool qstr_is_one_of(const char *s, const char *const *list) {
    while (*list && strcmp(*list, s) != 0) list++;
    return *list;
}

bool qstr_equal(const Str *a, const Str *b) {
    if (a == b) return true;
    if (a->hdr.flags & b->hdr.flags & STR_INTERNED) return false;
    return a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
}

int qstr_compare(const Str *a, const Str *b) {
    int r = memcmp(a->s, b->s, a->len < b->len ? a->len : b->len);
    return r ? r : (a->len > b->len) - (a->len < b->len);
}

/* -- near misses --------------------------------------------------------------------------------------------------- */

enum { NAME_MAX_COMPARED = 63 };

static int min3(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

/* Computes the optimal string alignment distance: insert, delete, replace, swap of two neighbours.  The dynamic
 * program keeps three rows of its table. */
int qstr_distance(const char *a, const char *b, int limit) {
    size_t na = strlen(a), nb = strlen(b);
    size_t gap = na > nb ? na - nb : nb - na;
    if (na > NAME_MAX_COMPARED || nb > NAME_MAX_COMPARED || gap > (size_t)limit) return limit + 1;
    int rows[3][NAME_MAX_COMPARED + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++) last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int best = row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
            if (row[j] < best) best = row[j];
        }
        if (best > limit) return limit + 1;
        int *t = before;
        before = last, last = row, row = t;
    }
    return last[nb] <= limit ? last[nb] : limit + 1;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Returns whether the candidate is a different word rather than a misspelling.  This holds if `wanted` extends a short
 * candidate by one letter (expm and exp), except by a plural s or a repeated letter, or if one has a digit where the
 * other has a letter (exp2 and expm). */
static bool is_another(const char *wanted, const char *candidate) {
    enum { SHORT = 4 };
    size_t n = strlen(candidate), same = 0;
    while (wanted[same] && wanted[same] == candidate[same]) same++;
    char a = wanted[same], b = candidate[same];
    if (same == n) return n && n <= SHORT && a && !wanted[n + 1] && a != 's' && a != wanted[n - 1];
    return is_digit(a) != is_digit(b) && a && !strcmp(wanted + same + 1, candidate + same + 1);
}

void qstr_offer(void *nearest, const char *candidate) {
    Nearest *n = nearest;
    size_t len = strlen(n->wanted);
    int limit = len < 2 || is_another(n->wanted, candidate) ? 0 : 1; /* with more edits, unrelated names match */
    if (n->best && n->distance - 1 < limit) limit = n->distance - 1;
    int d = strcasecmp(n->wanted, candidate) == 0 ? 0 : qstr_distance(n->wanted, candidate, limit);
    if (d > limit || len == 0) return;
    n->best = candidate;
    n->distance = d;
}

/* -- map ----------------------------------------------------------------------------------------------------------- */

void qmap_init(Map *m) { *m = (Map){0}; }

void qmap_free(Map *m, Ctx *c) {
    qmem_free(c, m->entries, m->cap * sizeof *m->entries);
    qmem_free(c, m->index, m->nindex * sizeof *m->index);
    qmap_init(m);
}

/* Returns the slot of key, or the empty slot where it belongs. */
static uint32_t find_slot(const Map *m, const Str *key) {
    uint32_t mask = m->nindex - 1, i = qstr_hash(key) & mask;
    while (m->index[i] && !qstr_equal(m->entries[m->index[i] - 1].key, key)) i = (i + 1) & mask;
    return i;
}

static uint32_t find_entry(const Map *m, const Str *key) { return m->nindex ? m->index[find_slot(m, key)] : 0; }

uint64_t *qmap_at(const Map *m, const Str *key) {
    uint32_t e = find_entry(m, key);
    return e ? &m->entries[e - 1].val : NULL;
}

bool qmap_get(const Map *m, const Str *key, uint64_t *val) {
    const uint64_t *at = qmap_at(m, key);
    if (at) *val = *at;
    return at != NULL;
}

/* Rebuilds the index with at least twice as many slots as entries, counting one entry more. */
static void rehash(Map *m, Ctx *c) {
    uint32_t size = 8;
    while (size < (m->n + 1) * 2) size *= 2;
    qmem_free(c, m->index, m->nindex * sizeof *m->index);
    m->index = qmem_alloc(c, qmem_size(size, sizeof *m->index, 0));
    m->nindex = size;
    for (uint32_t i = 0; i < m->n; i++) m->index[find_slot(m, m->entries[i].key)] = i + 1;
}

void qmap_set(Map *m, Ctx *c, Str *key, uint64_t val) {
    uint64_t *at = qmap_at(m, key);
    if (at) {
        *at = val;
        return;
    }
    if (m->n + 1 > m->nindex / 4 * 3) rehash(m, c);
    qmem_grow(c, &m->entries, &m->cap, m->n, sizeof *m->entries);
    m->entries[m->n] = (MapEntry){key, val};
    m->index[find_slot(m, key)] = ++m->n;
}
