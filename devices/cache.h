/* cache.h -- compiled code on disk: bytes under a 128-bit key.
 *
 * Safe against other users (a directory of our own, mode 0700, checked at every start), against other processes
 * (entries are written aside and renamed), and against damage (checksum, key and length are checked on every read;
 * a bad entry is removed and counts as absent).  Old entries leave when the total passes the bound.  Nothing here
 * ever fails a program: without a usable directory every get misses, and qcache_why says why. */
#ifndef DEVICES_CACHE_H
#define DEVICES_CACHE_H
#include "vm/base/ctx.h"

typedef struct Cache Cache;
typedef struct {
    uint64_t w[2];
} CacheKey;

/* dir: NULL the usual place, "" none.  bound: bytes, 0 the usual 256 MiB.  Never NULL. */
Cache *qcache_open(Ctx *c, const char *dir, size_t bound);
void qcache_close(Ctx *c, Cache *k);
const char *qcache_why(const Cache *k); /* why there is no cache; "" when there is one */

typedef struct {
    size_t entries, bytes, bound;
} CacheSize;
CacheSize qcache_size(Cache *k);
size_t qcache_clear(Cache *k); /* removes all entries; how many */
const char *qcache_path(const Cache *k);

/* Bundles are asked before the disk (bundle.h): *list, whatever is in it by then. */
struct Bundle;
void qcache_consult(Cache *k, struct Bundle *const *list);
const struct Bundle *qcache_bundles(const Cache *k); /* NULL: none */
/* Whoever makes a bundle hears of all that is found and all that is put; NULL ends it. */
typedef void CacheListener(void *ud, CacheKey key, const void *p, size_t n);
void qcache_listen(Cache *k, CacheListener *f, void *ud);

CacheKey qcache_key(CacheKey seed, const void *p, size_t n);
bool qcache_get(Cache *k, CacheKey key, Text *out); /* out becomes the bytes */
void qcache_put(Cache *k, CacheKey key, const void *p, size_t n);
#endif
