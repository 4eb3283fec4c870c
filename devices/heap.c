/* heap.c -- implements the device allocator of heap.h. */
#include "devices/heap.h"
#include "devices/pool.h"

#include <string.h>

/* There is one free list per size class of pool.h, starting with the class of the smallest block. */
enum { LEAST = 512, FIRST = 8 * 9 /* size class of LEAST */, LISTS = 8 * 63 - FIRST };
static const size_t keep_least = (size_t)256 << 20; /* bytes that may be kept, or an eighth of a larger device */
static const size_t worth_asking = (size_t)1 << 20; /* minimum block size for querying the driver */

typedef struct {
    DevPtr *at;
    uint32_t n, cap;
} FreeList;
struct Heap {
    FreeList lists[LISTS];
    size_t used, kept;
};

/* Returns the index of the free list for n bytes and sets *size to its block size. */
static size_t list_of(size_t n, size_t *size) { return qpool_step(n < LEAST ? LEAST : n, size) - FIRST; }

static struct Heap *heap_of(Device *d) {
    if (!d->heap) d->heap = qmem_alloc(d->ctx, sizeof(struct Heap));
    return d->heap;
}

static void empty(Device *d) {
    struct Heap *h = d->heap;
    for (size_t i = 0; h && h->kept && i < LISTS; i++) {
        FreeList *l = &h->lists[i];
        while (l->n) d->ops->free(d, l->at[--l->n]), h->kept -= qpool_step_size(FIRST + i);
    }
}

void qheap_trim(Device *d) {
    const SharingOps *s = d->ops->sharing;
    if (!d->heap || qdev_is_recording(d)) return;
    empty(d);
    if (s && s->give_back) s->give_back(d);
}

static qs_status full(Device *d, size_t size) {
    const struct Heap *h = d->heap;
    return qerr_set(d->ctx, QS_ENOMEM, "%s: no room for %zu bytes: %zu of %zu are in use", qdev_name(d), size, h->used,
                    d->limit);
}

static qs_status fresh(Device *d, size_t size, DevPtr *out) {
    struct Heap *h = heap_of(d);
    if (d->limit && (size > d->limit || h->used > d->limit - size)) return full(d, size);
    if (d->limit && h->used + h->kept > d->limit - size) qheap_trim(d);
    qs_status s = d->ops->alloc(d, size, out);
    if (s != QS_ENOMEM || !h->kept) return s;
    qerr_clear(d->ctx);
    qheap_trim(d);
    return d->ops->alloc(d, size, out);
}

static DevPtr take_kept(FreeList *l, uint32_t i) {
    DevPtr p = l->at[i];
    memmove(&l->at[i], &l->at[i + 1], (--l->n - i) * sizeof *l->at);
    return p;
}

/* Returns the index of an idle block, or else of the block that was freed first.  Returns l->n for a new block if there
 * is room and the list is short: a program may use a few blocks in rotation, filling one while others are in use. */
static uint32_t choose_idle(Device *d, const FreeList *l, size_t size) {
    enum { REUSED = 3 };
    bool room = !d->limit || d->heap->used + d->heap->kept + size <= d->limit;
    for (uint32_t i = 0; i < l->n; i++)
        if (!d->busy(d, l->at[i])) return i;
    return l->n < REUSED && room ? l->n : 0;
}

static qs_status get_block(Device *d, size_t n, bool idle, DevPtr *out) {
    size_t size;
    if (n > SIZE_MAX / 4) return qerr_set(d->ctx, QS_ENOMEM, "%s: no room for %zu bytes", qdev_name(d), n);
    FreeList *l = &heap_of(d)->lists[list_of(n, &size)];
    uint32_t i = !l->n ? 0 : idle ? choose_idle(d, l, size) : l->n - 1;
    if (i < l->n) *out = take_kept(l, i), d->heap->kept -= size;
    else TRY(fresh(d, size, out));
    d->heap->used += size;
    return QS_OK;
}

qs_status qheap_get(Device *d, size_t n, DevPtr *out) { return get_block(d, n, false, out); }

qs_status qheap_get_idle(Device *d, size_t n, DevPtr *out) {
    return get_block(d, n, d->busy && n >= worth_asking, out);
}

/* Returns whether we would keep more memory than the device has left for other users.  Then all kept blocks are
 * freed. */
static bool are_others_short(Device *d, size_t kept, size_t size) {
    const SharingOps *s = d->ops->sharing;
    return kept > keep_least && size >= worth_asking && s && s->left && s->left(d) < kept;
}

void qheap_put(Device *d, DevPtr p, size_t n) {
    size_t size;
    struct Heap *h = d->heap;
    FreeList *l = &h->lists[list_of(n, &size)];
    h->used -= size;
    size_t kept = h->kept + size;
    bool full = kept > keep_least && kept > d->total_memory / 8;
    if ((full || are_others_short(d, kept, size)) && !qdev_is_recording(d)) {
        if (!full) empty(d);
        d->ops->free(d, p);
        return;
    }
    qmem_grow(d->ctx, &l->at, &l->cap, l->n + 1, sizeof *l->at);
    l->at[l->n++] = p, h->kept += size;
}

size_t qheap_used(const Device *d) { return d->heap ? d->heap->used : 0; }

void qheap_close(Device *d) {
    if (!d->heap) return;
    qheap_trim(d);
    for (size_t i = 0; i < LISTS; i++) qmem_free(d->ctx, d->heap->lists[i].at, d->heap->lists[i].cap * sizeof(DevPtr));
    qmem_free(d->ctx, d->heap, sizeof *d->heap);
    d->heap = NULL;
}
