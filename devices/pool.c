/* pool.c -- implements the pool of host blocks of pool.h. */
#include "devices/pool.h"

#include <sys/mman.h>
#include <unistd.h>

/* There is one free list per multiple of 64 bytes up to SMALL_MAX, and for larger blocks one per size class
 * (qpool_step).  The block size is a function of the requested size, so it is not stored. */
enum { GRAIN = 64, SMALL_MAX = 1 << 12, SMALL_LISTS = SMALL_MAX / GRAIN };
enum { FIRST_LARGE = 8 * 12 /* the step of SMALL_MAX */, LARGE_LISTS = 8 * 64 - FIRST_LARGE };
enum { KEEP_SMALL = 256 };                          /* blocks per small list */
static const size_t keep_large = (size_t)256 << 20; /* bytes over all large lists */
static const size_t large_pages = (size_t)4 << 20;  /* minimum block size for requesting huge pages */
static const size_t worth_asking = (size_t)1 << 30; /* minimum block size for checking the physical memory */

typedef struct Free {
    struct Free *next;
} Free;
typedef struct Pool {
    Free *small[SMALL_LISTS + 1];
    uint16_t nsmall[SMALL_LISTS + 1];
    Free *large[LARGE_LISTS];
    size_t held;  /* bytes in the large lists */
    size_t used;  /* bytes of allocated blocks */
    size_t limit; /* maximum of used + held; 0: none */
} Pool;

/* The pool is bypassed under AddressSanitizer, which detects use after free only if blocks are really freed, and in
 * failure tests, which count every allocation. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
static bool bypass(const Ctx *c) {
    (void)c;
    return true;
}
#else
static bool bypass(const Ctx *c) { return c->fail_after > 0; }
#endif

static size_t small_list(size_t n) { return (n + GRAIN - 1) / GRAIN; }

/* Returns the index of the list for a large block and sets *size to its block size. */
static size_t large_list(size_t n, size_t *size) { return qpool_step(n, size) - FIRST_LARGE; }

/* Returns whether n exceeds the physical memory.  Linux overcommits memory, so such an allocation would succeed and the
 * process would be killed when it touches the block. */
static bool impossible(size_t n) {
    if (n < worth_asking) return false;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 && n / (size_t)size >= (size_t)pages;
}

/* Requests huge pages for a large block, which make its first touch faster. */
static void *in_large_pages(void *p, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)p + page - 1) / page * page;
    size_t before = first - (uintptr_t)p;
    if (p) madvise((char *)p + before, size - before, MADV_HUGEPAGE);
    return p;
}

static void *fresh(Ctx *c, size_t size) {
    if (impossible(size)) return NULL;
    void *p = qmem_try(c, size);
    if (!p && c->pool->held) {
        qpool_drain(c);
        p = qmem_try(c, size);
    }
    return size < large_pages ? p : in_large_pages(p, size);
}

static void close_pool(Ctx *c) {
    qpool_drain(c);
    qmem_free(c, c->pool, sizeof(Pool));
    c->pool = NULL, c->pool_drain = NULL;
}

static Pool *open_pool(Ctx *c) {
    if (c->pool) return c->pool;
    c->pool_close = close_pool, c->pool_drain = qpool_drain;
    return c->pool = qmem_alloc(c, sizeof(Pool));
}

void qpool_set_limit(Ctx *c, size_t limit) { open_pool(c)->limit = limit; }

size_t qpool_limit(const Ctx *c, size_t *used) {
    *used = c->pool ? c->pool->used : 0;
    return c->pool ? c->pool->limit : 0;
}

/* Counts a block that is about to be allocated; false: the limit forbids it.  The limit includes the kept blocks. */
static bool admit(Ctx *c, size_t size) {
    Pool *p = open_pool(c);
    if (p->limit) {
        if (size > p->limit || p->used > p->limit - size) return false;
        if (p->used + p->held > p->limit - size) qpool_drain(c);
    }
    p->used += size;
    return true;
}

static void *take_fresh(Ctx *c, size_t size) {
    void *p = fresh(c, size);
    if (!p) c->pool->used -= size;
    return p;
}

static void *get_large(Ctx *c, size_t n) {
    size_t size, list;
    if (n > SIZE_MAX / 4) return NULL;
    list = large_list(n, &size);
    if (!admit(c, size)) return NULL;
    if (bypass(c) || list >= LARGE_LISTS || !c->pool->large[list]) return take_fresh(c, size);
    Free *f = c->pool->large[list];
    c->pool->large[list] = f->next;
    c->pool->held -= size;
    return f;
}

void *qpool_get(Ctx *c, size_t n) {
    if (n > SMALL_MAX) return get_large(c, n);
    size_t list = small_list(n ? n : 1), size = list * GRAIN;
    if (!admit(c, size)) return NULL;
    if (bypass(c) || !c->pool->small[list]) return take_fresh(c, size);
    Free *f = c->pool->small[list];
    c->pool->small[list] = f->next;
    c->pool->nsmall[list]--;
    return f;
}

/* Counts a released block.  A block from the pool of another Ctx, which is closed, was not counted here. */
static Pool *count_returned(Ctx *c, size_t size) {
    Pool *p = open_pool(c);
    p->used -= p->used < size ? p->used : size;
    return p;
}

static void put_large(Ctx *c, Free *f, size_t n) {
    size_t size, list = large_list(n, &size);
    Pool *p = count_returned(c, size);
    if (bypass(c) || list >= LARGE_LISTS || p->held + size > keep_large) {
        qmem_try_free(c, f, size);
        return;
    }
    f->next = p->large[list];
    p->large[list] = f;
    p->held += size;
}

void qpool_put(Ctx *c, void *block, size_t n) {
    Free *f = block;
    if (!f) return;
    if (n > SMALL_MAX) {
        put_large(c, f, n);
        return;
    }
    size_t list = small_list(n ? n : 1);
    count_returned(c, list * GRAIN);
    if (bypass(c) || c->pool->nsmall[list] == KEEP_SMALL) {
        qmem_try_free(c, f, list * GRAIN);
        return;
    }
    f->next = c->pool->small[list];
    c->pool->small[list] = f;
    c->pool->nsmall[list]++;
}

static void drop_list(Ctx *c, Free **list, size_t size) {
    for (Free *f = *list, *next; f; f = next) {
        next = f->next;
        qmem_try_free(c, f, size);
    }
    *list = NULL;
}

void qpool_drain(Ctx *c) {
    Pool *p = c->pool;
    if (!p) return;
    for (size_t i = 1; i <= SMALL_LISTS; i++) {
        drop_list(c, &p->small[i], i * GRAIN);
        p->nsmall[i] = 0;
    }
    for (size_t i = 0; i < LARGE_LISTS; i++) drop_list(c, &p->large[i], qpool_step_size(FIRST_LARGE + i));
    p->held = 0;
}
