/* str.h -- declares interned, reference-counted strings (names compare with ==) and the hash map keyed by them. */
#ifndef VM_BASE_STR_H
#define VM_BASE_STR_H
#include "vm/base/ctx.h"

struct Str { /* QS_STRING; s is NUL-terminated and may contain NUL bytes */
    Obj hdr;
    uint32_t hash, len;
    struct Str *chain; /* next string in its bucket of the intern table; NULL: not interned */
    char s[];
};
enum { /* hdr.flags.  STR_SEARCHED: qstr_is_ascii has looked at all bytes; STR_ASCII: its result.
        * STR_HASHED: `hash` is valid, although the string is not interned */
       STR_INTERNED = 1,
       STR_NAME = 2,
       STR_PLACED = 4,
       STR_SEARCHED = 8,
       STR_ASCII = 16,
       STR_HASHED = 32,
       STR_INTERN_MAX = 16 /* bytes */
};

/* Whether all characters are ASCII.  The string keeps the result. */
bool qstr_is_ascii(Str *s);

/* Returns a new reference.  Strings of up to STR_INTERN_MAX bytes are interned, longer ones are not, so compare strings
 * with qstr_equal.  NULL: no memory; this can only happen for strings of more than a few thousand bytes. */
Str *qstr_new(Ctx *c, const char *s, size_t n);
/* Returns an identifier of a program.  It is interned whatever its length, lives until qctx_close and needs no release
 * (retaining and releasing it is harmless). */
Str *qstr_name(Ctx *c, const char *s, size_t n);
Str *qstr_cname(Ctx *c, const char *s);
/* Appends t to *s in place; the block may move.  Returns false and changes nothing if the string has other references
 * or any of the STR_ flags, or if memory is short. */
bool qstr_append(Ctx *c, Str **s, const char *t, size_t n);
/* Returns an error message with its source location: a separate string, never interned (STR_PLACED).  The text `stack`
 * has three lines for each frame of the call chain: the function, the file, the number of the line. */
Str *qstr_placed(Ctx *c, const char *s, const char *file, uint32_t line, const Text *stack);
/* false: s has no location; *file and *stack are borrowed, stack may be NULL. */
bool qstr_location(const Str *s, Str **file, uint32_t *line, const Str **stack);
void qstr_free(Ctx *c, Str *s); /* called when refs reached 0 */
static inline void qstr_release(Ctx *c, Str *s) {
    if (--s->hdr.refs == 0) qstr_free(c, s);
}
bool qstr_is_one_of(const char *s, const char *const *list); /* whether a list that ends with NULL has s */
bool qstr_equal(const Str *a, const Str *b);
uint32_t qstr_hash(const Str *s);             /* equal strings have one hash, which the string keeps */
int qstr_compare(const Str *a, const Str *b); /* <0, 0, >0: by bytes, which is code point order in UTF-8 */

void qstr_table_init(Ctx *c);
void qstr_table_close(Ctx *c);

/* Returns the edit distance (insert, delete, replace, swap) for did-you-mean hints; limit + 1 if it exceeds `limit`. */
int qstr_distance(const char *a, const char *b, int limit);
/* Search for the candidate nearest to a name: start with {wanted}, offer each candidate, read `best` (NULL: none). */
typedef struct {
    const char *wanted, *best;
    int distance;
    const char *home;    /* module that defines `wanted` itself, set by callers that search modules; else NULL */
    const char *instead; /* how the function is called that has the name `wanted` in MATLAB or NumPy; else NULL */
} Nearest;
void qstr_offer(void *nearest, const char *candidate); /* nearest: a Nearest, so that this may be a callback */

/* -- map: interned name -> 64-bit payload, insertion order kept ---------------------------------------------------- */
typedef struct {
    Str *key;
    uint64_t val;
} MapEntry;
typedef struct {
    MapEntry *entries; /* in insertion order */
    uint32_t *index;   /* hash table with open addressing; holds entry number + 1, 0: empty */
    uint32_t n, cap, nindex;
} Map;
void qmap_init(Map *m);
void qmap_free(Map *m, Ctx *c);
bool qmap_get(const Map *m, const Str *key, uint64_t *val); /* key: any string */
uint64_t *qmap_at(const Map *m, const Str *key);            /* NULL: absent */
void qmap_set(Map *m, Ctx *c, Str *key, uint64_t val);      /* borrows the key, so it must be a name (qstr_name) */
#endif
