/* buffer.h -- one logical block of memory with a copy per memory space and one rule of coherence.
 *
 * `valid` says which copies are current.  READ brings this copy up to date; WRITE copies nothing and makes this copy the
 * only current one; READWRITE does both.  A conflicting lock is an error at once, never a wait. */
#ifndef DEVICES_BUFFER_H
#define DEVICES_BUFFER_H
#include "devices/device.h"
#include <stdatomic.h>

typedef struct Buffer {
    atomic_uint refs;
    uint32_t valid;            /* bit m: block[m] holds the current contents */
    uint16_t readers[MAX_DEVICES]; /* READ locks held per memory space */
    int8_t writer;             /* memory space holding the write lock, or -1 */
    bool readonly;             /* foreign memory that must not be written */
    size_t nbytes;
    DevPtr block[MAX_DEVICES]; /* block[HOST_MEMORY] is a void * */
    void (*release)(void *owner); void *owner; int8_t owner_memory; /* foreign block: released once, never freed by us */
} Buffer;

qs_status qbuf_new(Ctx *c, size_t nbytes, bool zeroed, Buffer **out);   /* host copy allocated and valid; QS_ENOMEM with the size */
qs_status qbuf_wrap(Ctx *c, void *data, size_t nbytes, bool readonly, void (*release)(void *), void *owner, Buffer **out);
static inline void qbuf_retain(Buffer *b) { atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed); }
void qbuf_release(Ctx *c, Buffer *b);
static inline bool qbuf_shared(Buffer *b) { return atomic_load_explicit(&b->refs, memory_order_relaxed) > 1; }

qs_status qbuf_lock(Ctx *c, Buffer *b, Device *d, qs_access mode, DevPtr *out);
qs_status qbuf_unlock(Ctx *c, Buffer *b, Device *d, qs_access mode);
/* The host pointer for work that ends before anything else runs: no lock is counted, coherence and conflicts are. */
qs_status qbuf_host(Ctx *c, Buffer *b, qs_access mode, void **out);
#endif
