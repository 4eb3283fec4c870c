/* str.h -- interned, counted strings (equality of names is ==) and the hash map keyed by them. */
#ifndef VM_BASE_STR_H
#define VM_BASE_STR_H
#include "vm/base/ctx.h"

struct Str { /* QS_STRING; s is NUL-terminated and may contain NUL bytes */
    Obj hdr;
    uint32_t hash, len;
    struct Str *chain; /* intern table; NULL for strings that are not interned */
    char s[];
};
enum { STR_INTERNED = 1, STR_NAME = 2, STR_PLACED = 4, STR_INTERN_MAX = 64 }; /* hdr.flags; bytes */

/* A new reference.  Up to STR_INTERN_MAX bytes are interned, longer strings are not: compare with qstr_equal.  NULL
 * when there is no memory for one of more than a few thousand bytes. */
Str *qstr_new(Ctx *c, const char *s, size_t n);
/* A name of code: interned whatever its length, lives until qctx_close and needs no release (retaining and releasing it
 * is harmless). */
Str *qstr_name(Ctx *c, const char *s, size_t n);
Str *qstr_cname(Ctx *c, const char *s);
/* Adds t to *s itself, whose block may move; false, and nothing done, when others hold it, it is interned, or memory is
 * short. */
bool qstr_append(Ctx *c, Str **s, const char *t, size_t n);
/* The message of an error, with the place it is about: a string of its own, never interned (STR_PLACED). */
Str *qstr_placed(Ctx *c, const char *s, const char *file, uint32_t line);
bool qstr_place(const Str *s, Str **file, uint32_t *line); /* false: s has none; *file is borrowed */
void qstr_free(Ctx *c, Str *s);                            /* called when refs reached 0 */
static inline void qstr_retain(Str *s) { s->hdr.refs++; }
static inline void qstr_release(Ctx *c, Str *s) {
    if (--s->hdr.refs == 0) qstr_free(c, s);
}
bool qstr_equal(const Str *a, const Str *b);
int qstr_compare(const Str *a, const Str *b); /* <0, 0, >0: by bytes, which is the order of code points in UTF-8 */

void qstr_table_init(Ctx *c);
void qstr_table_close(Ctx *c);

/* Edit distance (insert, delete, replace, swap) for did-you-mean; limit + 1 when it is greater than `limit`. */
int qstr_distance(const char *a, const char *b, int limit);
/* The best of candidates offered one by one: start with {wanted}, offer each, read `best` (NULL when none is near). */
typedef struct {
    const char *wanted, *best;
    int distance;
    const char *home; /* the module whose import would bring `wanted` itself, set by who knows of modules; else NULL */
} Nearest;
void qstr_offer(Nearest *n, const char *candidate);

/* -- map: interned name -> 64-bit payload, insertion order kept ---------------------------------------------------- */
typedef struct {
    Str *key;
    uint64_t val;
} MapEntry;
typedef struct {
    MapEntry *entries; /* in insertion order */
    uint32_t *index;   /* open addressing, entry number + 1 */
    uint32_t n, cap, nindex;
} Map;
void qmap_init(Map *m);
void qmap_free(Map *m, Ctx *c);
bool qmap_get(const Map *m, const Str *key, uint64_t *val);
uint64_t *qmap_at(const Map *m, const Str *key);       /* NULL when absent */
void qmap_set(Map *m, Ctx *c, Str *key, uint64_t val); /* does not count the key: intern names */
#endif
