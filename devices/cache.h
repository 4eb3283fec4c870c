/* cache.h -- stores compiled code on disk, as byte strings under 128-bit keys.
 *
 * Other users cannot write to the cache: its directory is our own with mode 0700, which is checked at every start.
 * Processes do not disturb each other: entries are written to a temporary file and renamed.  Damage is detected:
 * checksum, key and length are checked on every read, and a bad entry is removed and counts as absent.  Old entries are
 * removed when the total size exceeds the bound.  The cache never makes a program fail: without a usable directory
 * every lookup misses, and qcache_why returns the reason. */
#ifndef DEVICES_CACHE_H
#define DEVICES_CACHE_H
#include "vm/base/ctx.h"

typedef struct Cache Cache;
typedef struct {
    uint64_t w[2];
} CacheKey;

/* Opens the cache in dir (NULL: the default directory, "": no cache).  bound is its maximum size in bytes (0: the
 * default of 256 MiB).  Never returns NULL. */
Cache *qcache_open(Ctx *c, const char *dir, size_t bound);
void qcache_close(Ctx *c, Cache *k);
const char *qcache_why(const Cache *k); /* reason why there is no cache; "": there is one */

typedef struct {
    size_t entries, bytes, bound;
} CacheSize;
CacheSize qcache_size(Cache *k);
size_t qcache_clear(Cache *k); /* removes all entries and returns their number */
const char *qcache_path(const Cache *k);

/* Makes lookups search the bundles in *list before the disk (bundle.h).  The list is read at each lookup. */
struct Bundle;
void qcache_consult(Cache *k, struct Bundle *const *list);
const struct Bundle *qcache_bundles(const Cache *k); /* NULL: none */
/* Calls f for each entry that is found or stored, so that a bundle can collect the code.  f = NULL ends this. */
typedef void CacheListener(void *ud, CacheKey key, const void *p, size_t n);
void qcache_listen(Cache *k, CacheListener *f, void *ud);

CacheKey qcache_key(CacheKey seed, const void *p, size_t n);
bool qcache_get(Cache *k, CacheKey key, Text *out); /* replaces out by the entry's bytes; false: no such entry */
bool qcache_put(Cache *k, CacheKey key, const void *p, size_t n); /* false: it is not on disk */
#endif
