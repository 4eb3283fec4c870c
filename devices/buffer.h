/* buffer.h -- one logical block of memory with a copy per memory space and one rule of coherence.
 *
 * `valid` says which copies are current.  READ brings this copy up to date; WRITE copies nothing and makes this copy
 * the only current one; READWRITE does both.  Any number of read locks may be held together, in any memory spaces; a
 * write lock excludes every other lock.  A conflicting lock is an error at once: one machine is used by one thread at a
 * time, so a conflict is a mistake of the program, and who waited for it to go away would wait for ever.
 *
 * Foreign memory has an owner who reads and writes it without telling us, and so does who was given a block of ours.
 * So that copy, the one at home, is the only current one whenever no lock is held: the unlock of a write elsewhere
 * brings the result home and forgets the other copies.
 *
 * A device that has no room for a block gets it by giving up the copies that were used longest ago; what was current
 * only there moves to the host first. */
#ifndef DEVICES_BUFFER_H
#define DEVICES_BUFFER_H
#include "devices/device.h"
#include <stdatomic.h>

enum { GIVEN_MAX = 0x3fff };

typedef struct Buffer {
    atomic_uint refs;
    uint32_t valid;               /* bit m: block[m] holds the current contents */
    uint8_t readers[MAX_DEVICES]; /* READ locks held per memory space */
    uint16_t nreaders;            /* their sum */
    uint16_t given : 14;          /* how often the block at home was given out; at GIVEN_MAX it stays */
    bool unset : 1;               /* no element has a value yet (qbuf_unset), so none is copied anywhere */
    bool lent : 1;                /* foreign memory that goes before its owner: its address is not given on */
    int8_t writer;                /* memory space holding the write lock, or -1 */
    uint8_t maker;                /* who wrote what a device holds, as its number in Ctx.fetched; 0: nobody who asks */
    int8_t home;                  /* memory space that others read and write without telling us; -1: none */
    uint8_t writer_mode : 2;      /* QS_WRITE or QS_READWRITE while writer >= 0 */
    bool foreign : 1;             /* the block at home is its owner's: released once, never freed by us */
    bool readonly : 1;            /* foreign memory that must not be written */
    bool unseen : 1;              /* a copy of what somebody passed: what is written to it would be lost */
    bool joined : 1;              /* the host block lies in the same allocation, directly behind this header */
    bool kept : 1;                /* others share the block who want its contents as they are: Ctx.before_write */
    bool watched : 1;             /* the owner of foreign memory wants to know that it is written: Ctx.written */
    size_t nbytes;
    DevPtr block[MAX_DEVICES]; /* block[HOST_MEMORY] is a void * */
    void (*release)(void *owner);
    void *owner;
    struct Buffer *newer, *older; /* Ctx.on_devices, when some device has a block */
} Buffer;

/* The host's copy is allocated and valid; QS_ENOMEM tells the size. */
qs_status qbuf_new(Ctx *c, size_t nbytes, bool zeroed, Buffer **out);
/* Of a new one: its elements have no value until somebody writes.  A device that writes some of them gets room and no
 * contents. */
static inline void qbuf_unset(Buffer *b) { b->unset = true; }
/* Memory of others, of a device (NULL: the host), over which there is a buffer until release(owner); NULL: for ever. */
typedef struct {
    Device *device;
    DevPtr data;
    size_t nbytes;
    bool readonly;
    void (*release)(void *owner);
    void *owner;
} Wrapped;
qs_status qbuf_wrap(Ctx *c, const Wrapped *m, Buffer **out);
static inline void qbuf_retain(Buffer *b) { atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed); }
void qbuf_release(Ctx *c, Buffer *b);
static inline bool qbuf_shared(Buffer *b) { return atomic_load_explicit(&b->refs, memory_order_relaxed) > 1; }
/* Now: memory of somebody who forbids to write to it, or locked for reading. */
static inline bool qbuf_is_readonly(const Buffer *b) { return b->readonly || b->nreaders; }

/* A device has the contents, and the host would have to fetch them. */
static inline bool qbuf_is_away(const Buffer *b) { return !(b->valid & 1u << HOST_MEMORY); }

qs_status qbuf_lock(Ctx *c, Buffer *b, Device *d, qs_access mode, DevPtr *out);
qs_status qbuf_unlock(Ctx *c, Buffer *b, Device *d, qs_access mode);
/* After work that ended with s.  What failed first counts: of work that went well, that its results stay away. */
static inline qs_status qbuf_leave(Ctx *c, Buffer *b, Device *d, qs_access mode, qs_status s) {
    qs_status home = qbuf_unlock(c, b, d, mode);
    return s != QS_OK ? s : home;
}
/* The host pointer for work that ends before anything else runs: no lock is counted, coherence and conflicts are. */
qs_status qbuf_reach_host(Ctx *c, Buffer *b, qs_access mode, void **out);
static inline qs_status qbuf_host(Ctx *c, Buffer *b, qs_access mode, void **out) {
    bool mine = b->valid == 1 && b->writer < 0; /* the usual case: current here and nowhere else, nothing held */
    bool plain = !qbuf_is_readonly(b) && !b->kept && !b->watched && !b->unset; /* nobody minds that it is written */
    if (!mine || (mode != QS_READ && !plain)) return qbuf_reach_host(c, b, mode, out);
    *out = (void *)(uintptr_t)b->block[HOST_MEMORY];
    return QS_OK;
}
/* After such work wrote to what others use on a device: brings it home.  Nothing to do for other buffers. */
qs_status qbuf_settle(Ctx *c, Buffer *b);
/* The address of the block on d (NULL: the host) for others, who use it until it is taken back; readonly: they do not
 * write to it.  QS_ELOCK when others use it elsewhere, QS_EDEVICE when d has no addresses. */
qs_status qbuf_give(Ctx *c, Buffer *b, Device *d, bool readonly, DevPtr *out);
void qbuf_take_back(Buffer *b);
/* The foreign memory goes: its contents move to memory of our own, which may be written, and the owner is let go.
 * QS_ENOMEM, QS_ELOCK (a lock is held): then every lock from here on is an error. */
qs_status qbuf_part(Ctx *c, Buffer *b);
/* For memory that outlives the devices: the contents are at home, else on the host, and nowhere else; in case of an
 * error nowhere. */
qs_status qbuf_outlive(Ctx *c, Buffer *b);
/* Whether both have memory in common: one buffer, or foreign blocks that overlap. */
bool qbuf_overlap(const Buffer *a, const Buffer *b);
/* A new buffer with the same contents, copied where they are current, so that device data stay on the device. */
qs_status qbuf_clone(Ctx *c, Buffer *b, Buffer **out);
#endif
