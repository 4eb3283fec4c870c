/* buffer.h -- manages the memory of an array: one copy per memory space, kept coherent by locks.
 *
 * `valid` is the set of current copies.  A READ lock updates the copy on its device.  A WRITE lock copies nothing and
 * makes that copy the only current one.  READWRITE does both.  Any number of read locks may be held at the same time,
 * in any memory spaces; a write lock excludes every other lock.  A conflicting lock is an immediate error: only one
 * thread uses a VM at a time, so the conflict is a bug of the program, and waiting for it would never end.
 *
 * Foreign memory is read and written by its owner without notice; the same holds for a block that we gave to another
 * library.  The memory space of such a block is `home`.  Its copy is the only current one whenever no lock is held: the
 * unlock of a write elsewhere copies the result home and invalidates the other copies.
 *
 * A device without room for a block evicts the least recently used copies.  A copy that is current only there is first
 * moved to the host. */
#ifndef DEVICES_BUFFER_H
#define DEVICES_BUFFER_H
#include "devices/device.h"
#include <stdatomic.h>

enum { GIVEN_MAX = 0x1fff };

typedef struct Buffer {
    atomic_uint refs;
    uint32_t valid;               /* bit m: block[m] holds the current contents */
    uint8_t readers[MAX_DEVICES]; /* READ locks held per memory space */
    uint16_t nreaders;            /* sum of readers[] */
    uint16_t given : 13;          /* number of loans of the block at home; saturates at GIVEN_MAX */
    bool unset : 1;               /* no element has a value yet (qbuf_unset), so copies are not filled */
    bool blank : 1;               /* all bytes are 0, and no copy is current: the host block is not cleared yet */
    bool lent : 1;                /* borrowed memory, valid only during a call: its address must not be passed on */
    int8_t writer;                /* memory space holding the write lock, or -1 */
    uint8_t maker;                /* index in Ctx.fetched of the kernel that wrote the device copy; 0: not counted */
    int8_t home;                  /* memory space that others read and write without notice; -1: none */
    uint8_t writer_mode : 2;      /* QS_WRITE or QS_READWRITE while writer >= 0 */
    bool foreign : 1;             /* the block at home belongs to `owner`: released once, never freed by us */
    bool readonly : 1;            /* foreign memory that must not be written */
    bool unseen : 1;              /* a copy of a list argument: the caller would not see a write to it */
    bool joined : 1;              /* the host block is in the same allocation, directly behind this header */
    bool kept : 1;                /* Ctx.before_write is called once before the next write; see its two users */
    bool watched : 1;             /* the owner of the foreign memory observes writes: Ctx.written */
    size_t nbytes;
    DevPtr block[MAX_DEVICES];    /* block[HOST_MEMORY] is a void * */
    void (*release)(void *owner); /* called at the end of foreign memory; NULL: none */
    void *owner; /* of foreign memory; otherwise the mark of a converted copy (vm/interp/converted.c) */
    struct Buffer *newer, *older; /* neighbours in Ctx.on_devices, while some device has a block */
} Buffer;

/* Creates a buffer whose host copy is allocated and valid.  The QS_ENOMEM error reports the size. */
qs_status qbuf_new(Ctx *c, size_t nbytes, bool zeroed, Buffer **out);
/* Declares that the elements of a new buffer have no values before the first write.  A device that then writes some of
 * them gets memory without a copy of the contents. */
static inline void qbuf_unset(Buffer *b) { b->unset = true; }
/* Sets all bytes of a new buffer to 0.  A large block is cleared when it is first used, so that a conversion or copy of
 * zeros reads and writes nothing. */
void qbuf_clear(Ctx *c, Buffer *b);
/* Foreign memory to make a buffer of. */
typedef struct {
    Device *device; /* owner of the memory space; NULL: the host */
    DevPtr data;
    size_t nbytes;
    bool readonly;
    void (*release)(void *owner); /* called when the buffer no longer uses the memory; NULL: never */
    void *owner;
} Wrapped;
qs_status qbuf_wrap(Ctx *c, const Wrapped *m, Buffer **out);
static inline void qbuf_retain(Buffer *b) { atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed); }
void qbuf_release(Ctx *c, Buffer *b);
static inline bool qbuf_shared(Buffer *b) { return atomic_load_explicit(&b->refs, memory_order_relaxed) > 1; }
/* Returns the mark of a converted copy (vm/interp/converted.c); 0: the buffer is none. */
static inline uintptr_t qbuf_mark(const Buffer *b) { return b->foreign ? 0 : (uintptr_t)b->owner; }
/* Returns whether the buffer is a converted copy of memory from outside of the language: a write to it is an error. */
static inline bool qbuf_is_guarded(const Buffer *b) { return qbuf_mark(b) & 1; }
static inline void qbuf_unmark(Buffer *b) {
    if (!b->foreign) b->owner = NULL;
}
/* Returns whether the buffer cannot be written now: it is read-only foreign memory, or locked for reading. */
static inline bool qbuf_is_readonly(const Buffer *b) { return b->readonly || b->nreaders; }

/* Returns whether the memory space has the contents, so that they need not be brought there. */
static inline bool qbuf_is_in(const Buffer *b, int memory) {
    return b->valid >> memory & 1 || (b->blank && memory == HOST_MEMORY);
}
/* Returns whether only devices have the contents, so that the host would have to download them. */
static inline bool qbuf_is_away(const Buffer *b) { return !qbuf_is_in(b, HOST_MEMORY); }

qs_status qbuf_lock(Ctx *c, Buffer *b, Device *d, qs_access mode, DevPtr *out);
qs_status qbuf_unlock(Ctx *c, Buffer *b, Device *d, qs_access mode);
/* Unlocks after work that ended with status s.  Returns the first failure: s, or else the status of the unlock. */
static inline qs_status qbuf_leave(Ctx *c, Buffer *b, Device *d, qs_access mode, qs_status s) {
    qs_status home = qbuf_unlock(c, b, d, mode);
    return s != QS_OK ? s : home;
}
/* Returns the host pointer for an access that ends before other code runs.  It registers no lock, but makes the host
 * copy coherent and checks for conflicts. */
qs_status qbuf_reach_host(Ctx *c, Buffer *b, qs_access mode, void **out);
static inline qs_status qbuf_host(Ctx *c, Buffer *b, qs_access mode, void **out) {
    bool mine = b->valid == 1 && b->writer < 0; /* the usual case: current only on the host, no write lock */
    bool plain = !qbuf_is_readonly(b) && !b->kept && !b->watched && !b->unset; /* a write needs no further action */
    if (!mine || (mode != QS_READ && !plain)) return qbuf_reach_host(c, b, mode, out);
    *out = (void *)(uintptr_t)b->block[HOST_MEMORY];
    return QS_OK;
}
/* Copies the contents home if the buffer has a home on a device and no lock is held; to be called after a write through
 * qbuf_host.  Does nothing for other buffers. */
qs_status qbuf_settle(Ctx *c, Buffer *b);
/* Gives another library the address of the block on d (NULL: the host), until qbuf_take_back.  readonly: the library
 * does not write to it.  Fails with QS_ELOCK if the block is given out in another memory space, and with QS_EDEVICE if
 * d has no addresses to share. */
qs_status qbuf_give(Ctx *c, Buffer *b, Device *d, bool readonly, DevPtr *out);
void qbuf_take_back(Buffer *b);
/* Ends the use of foreign host memory: copies its contents to memory of our own, which is writable, and releases the
 * owner.  On failure (QS_ENOMEM, or QS_ELOCK if a lock is held) the contents are lost and every later lock is an
 * error. */
qs_status qbuf_part(Ctx *c, Buffer *b);
/* Prepares a buffer that outlives the devices: moves the contents home, or to the host if it has no home, and drops all
 * other copies.  After an error no copy is valid. */
qs_status qbuf_outlive(Ctx *c, Buffer *b);
/* Returns whether two buffers share memory: they are the same buffer, or their foreign blocks overlap. */
bool qbuf_overlap(const Buffer *a, const Buffer *b);
/* Creates a new buffer with the same contents.  They are copied where they are current, so that device data stay on the
 * device. */
qs_status qbuf_clone(Ctx *c, Buffer *b, Buffer **out);
#endif
