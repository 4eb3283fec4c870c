/* buffer.c -- keeps the copies of a buffer coherent, and evicts device copies when memory runs out. */
#include "devices/buffer.h"
#include "devices/heap.h"
#include "devices/pool.h"
#include "devices/threads.h"

#include <string.h>

_Static_assert(sizeof(((Ctx *)0)->spaces) / sizeof(Device *) == MAX_DEVICES, "Ctx knows every memory space");

/* Maximum size of a host block that is allocated together with its header. */
enum { JOIN_MAX = 1024, HEADER = 128 };
_Static_assert(sizeof(Buffer) <= HEADER, "what follows the header stays 64-byte aligned");

static uint32_t bit(int memory) { return 1u << memory; }
static void *host_block(const Buffer *b) { return (void *)(uintptr_t)b->block[HOST_MEMORY]; }

/* -- making and releasing ------------------------------------------------------------------------------------------ */
static Buffer *new_header(Ctx *c, size_t nbytes, size_t behind) {
    Buffer *b = qpool_get(c, qmem_size(behind, 1, HEADER));
    if (!b) return NULL;
    memset(b, 0, sizeof *b);
    atomic_init(&b->refs, 1);
    b->writer = b->home = -1;
    b->nbytes = nbytes;
    return b;
}

static qs_status no_memory(Ctx *c, size_t nbytes) {
    static const char units[] = "kMGTPE";
    double n = (double)nbytes / 1024;
    int unit = 0;
    for (; n >= 1024 && unit < 5; unit++) n /= 1024;
    size_t used, limit = qpool_limit(c, &used);
    if (!limit) return qerr_set(c, QS_ENOMEM, "out of memory: an array needs %.4g %cB", n, units[unit]);
    return qerr_set(c, QS_ENOMEM, "out of memory: an array needs %.4g %cB, and %zu of the %zu bytes allowed are in use",
                    n, units[unit], used, limit);
}

static qs_status get_host_block(Ctx *c, Buffer *b) {
    void *p = qpool_get(c, b->nbytes);
    if (!p) return no_memory(c, b->nbytes);
    b->block[HOST_MEMORY] = (DevPtr)(uintptr_t)p;
    return QS_OK;
}

/* The first touch of memory is slower than writing to it, so all threads clear a large block together. */
enum { CLEARED = 1 << 18 };
typedef struct {
    char *p;
    size_t n;
} Block;

static void clear_parts(void *ud, int64_t first, int64_t last, int worker) {
    const Block *b = ud;
    size_t from = (size_t)first * CLEARED, to = (size_t)last * CLEARED;
    (void)worker;
    memset(b->p + from, 0, (to < b->n ? to : b->n) - from);
}

static void clear_block(Ctx *c, Buffer *b) {
    Block x = {host_block(b), b->nbytes};
    if (x.n <= 2 * CLEARED) memset(x.p, 0, x.n);
    else qthreads_run(qthreads_of(c), (int64_t)((x.n + CLEARED - 1) / CLEARED), 1, clear_parts, &x);
    b->valid = bit(HOST_MEMORY);
    b->blank = false;
}

void qbuf_clear(Ctx *c, Buffer *b) {
    b->valid = 0;
    b->blank = true;
    if (b->joined) clear_block(c, b);
}

qs_status qbuf_new(Ctx *c, size_t nbytes, bool zeroed, Buffer **out) {
    bool joined = nbytes <= JOIN_MAX;
    Buffer *b = new_header(c, nbytes, joined ? nbytes : 0);
    if (!b) return no_memory(c, nbytes);
    b->joined = joined;
    b->valid = bit(HOST_MEMORY);
    if (joined) b->block[HOST_MEMORY] = (DevPtr)(uintptr_t)((char *)b + HEADER);
    else if (get_host_block(c, b)) return qpool_put(c, b, HEADER), QS_ENOMEM;
    if (zeroed) qbuf_clear(c, b);
    *out = b;
    return QS_OK;
}

qs_status qbuf_wrap(Ctx *c, const Wrapped *m, Buffer **out) {
    Buffer *b = new_header(c, m->nbytes, 0);
    int memory = m->device ? m->device->memory : HOST_MEMORY;
    if (!b) return no_memory(c, HEADER);
    if (memory != HOST_MEMORY) c->spaces[memory] = m->device;
    b->valid = bit(memory);
    b->home = (int8_t)memory;
    b->foreign = true;
    b->block[memory] = m->data;
    b->readonly = m->readonly;
    b->release = m->release;
    b->owner = m->owner;
    *out = b;
    return QS_OK;
}

/* -- the list of buffers that occupy devices ----------------------------------------------------------------------- */
static void unlink_device(Ctx *c, Buffer *b) {
    if (c->on_devices != b && !b->newer) return;
    if (b->newer) b->newer->older = b->older;
    else c->on_devices = b->older;
    if (b->older) b->older->newer = b->newer;
    b->newer = b->older = NULL;
}

static void used_on_device(Ctx *c, Buffer *b) {
    if (c->on_devices == b) return;
    unlink_device(c, b);
    b->older = c->on_devices;
    if (b->older) b->older->newer = b;
    c->on_devices = b;
}

static void free_block(Ctx *c, Buffer *b, int m) {
    if (!b->block[m] || (b->foreign && m == b->home)) return;
    if (m != HOST_MEMORY) qheap_put(c->spaces[m], b->block[m], b->nbytes);
    else if (!b->joined) qpool_put(c, host_block(b), b->nbytes);
    b->block[m] = 0;
    b->valid &= ~bit(m);
}

void qbuf_release(Ctx *c, Buffer *b) {
    if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
    unlink_device(c, b);
    for (int m = 0; m < MAX_DEVICES; m++) free_block(c, b, m);
    if (b->release) b->release(b->owner);
    qpool_put(c, b, HEADER + (b->joined ? b->nbytes : 0));
}

/* -- coherence ----------------------------------------------------------------------------------------------------- */
static qs_status bring(Ctx *c, Buffer *b, int m);

/* Makes room in memory space m: evicts the least recently used copy there.  Returns `full` if no copy can be evicted.
 * Returns the fault of an earlier asynchronous launch if it is detected here. */
static qs_status evict_one(Ctx *c, int m, qs_status full) {
    Buffer *victim = NULL;
    ErrorState why = c->err;
    for (Buffer *b = c->on_devices; b; b = b->older)
        if (b->block[m] && b->home != m && !b->readers[m] && b->writer != m) victim = b;
    if (!victim) return full;
    qerr_clear(c);
    qs_status s = victim->valid == bit(m) ? bring(c, victim, HOST_MEMORY) : QS_OK;
    if (s == QS_OK) free_block(c, victim, m);
    else if (!c->err.late) c->err = why, s = full;
    return s;
}

/* A recorded graph runs later and repeatedly, so its arrays need their memory and contents before the recording. */
static qs_status cannot_record(Ctx *c, Device *d, const char *what) {
    return qerr_set(c, QS_ELOCK, "the array %s %s, and a CUDA graph is being recorded there: %s", what, qdev_name(d),
                    "let the same code run once before, and change nothing on the host in between");
}

static qs_status get_device_block(Ctx *c, Buffer *b, int m, bool filled) {
    qs_status (*get)(Device *, size_t, DevPtr *) = filled ? qheap_get_idle : qheap_get;
    if (qdev_is_recording(c->spaces[m])) return cannot_record(c, c->spaces[m], "has no memory yet on");
    qs_status s = get(c->spaces[m], b->nbytes, &b->block[m]);
    while (s == QS_ENOMEM) {
        TRY(evict_one(c, m, s));
        s = get(c->spaces[m], b->nbytes, &b->block[m]);
    }
    return s;
}

/* Ensures that there is a block in memory space m.  filled: the caller fills it from another copy at once. */
static qs_status have_block(Ctx *c, Buffer *b, int m, bool filled) {
    if (m != HOST_MEMORY) used_on_device(c, b);
    if (b->block[m] || (b->foreign && m == b->home)) return QS_OK;
    return m == HOST_MEMORY ? get_host_block(c, b) : get_device_block(c, b, m, filled);
}

/* Returns a device that has a current copy and can copy it directly to memory space m, or NULL. */
static Device *peer_of(const Ctx *c, const Buffer *b, int m) {
    const Device *to = c->spaces[m];
    if (!qbuf_is_away(b) || !to->ops->peer) return NULL;
    for (int i = 1; i < MAX_DEVICES; i++)
        if (b->valid & bit(i) && c->spaces[i]->ops->peer == to->ops->peer) return c->spaces[i];
    return NULL;
}

static qs_status fill_from_device(const Buffer *b, Device *from) {
    return b->nbytes ? from->ops->download(from, host_block(b), b->block[from->memory], 0, b->nbytes) : QS_OK;
}

static qs_status fill_from_peer(const Buffer *b, Device *to, Device *from) {
    return b->nbytes ? to->ops->peer(to, b->block[to->memory], from, b->block[from->memory], b->nbytes) : QS_OK;
}

static qs_status fill_from_host(const Buffer *b, Device *to) {
    return b->nbytes ? to->ops->upload(to, b->block[to->memory], 0, host_block(b), b->nbytes) : QS_OK;
}

static qs_status may_move(Ctx *c, const Buffer *b, int m) {
    for (int i = 1; i < MAX_DEVICES; i++) {
        Device *d = i == m || b->valid & bit(i) ? c->spaces[i] : NULL;
        if (d && qdev_is_recording(d))
            return cannot_record(c, d, i == m ? "would have to be copied to" : "would have to be copied from");
    }
    return QS_OK;
}

/* All messages below begin with "the array"; a caller that knows the array's name substitutes it (qerr_subject). */
static const char *space_name(const Ctx *c, int m) { return m == HOST_MEMORY ? "the host" : qdev_name(c->spaces[m]); }

static int reading_space(const Buffer *b) {
    int m = 0;
    while (!b->readers[m]) m++;
    return m;
}

static qs_status conflict(Ctx *c, const Buffer *b, qs_access mode) {
    if (!b->valid)
        return qerr_set(c, QS_ELOCK,
                        "the array was lent for a call that is over, and was not kept: it was locked "
                        "then, or there was no memory");
    if (b->writer >= 0) return qerr_set(c, QS_ELOCK, "the array is locked for writing on %s", space_name(c, b->writer));
    if (b->nreaders && mode != QS_READ)
        return qerr_set(c, QS_ELOCK, "the array is locked for reading on %s and cannot be written",
                        space_name(c, reading_space(b)));
    if (!b->readonly || mode == QS_READ) return QS_OK;
    return qerr_set(c, QS_ELOCK,
                    b->unseen ? "the array is a copy of a list that was passed, and nobody would see what is written "
                                "to it; pass value(list)"
                              : "the array is read-only and cannot be written");
}

/* Makes the copy in memory space m current.  Copies between devices without peer access pass through the host, whose
 * copy becomes current, too. */
static qs_status bring(Ctx *c, Buffer *b, int m) {
    Device *from;
    if (b->valid & bit(m)) return QS_OK;
    if (!b->valid) return conflict(c, b, QS_READ); /* qbuf_part has failed */
    if (!b->unset) TRY(may_move(c, b, m));
    TRY(have_block(c, b, m, !b->unset));
    if (b->unset) return b->valid |= bit(m), QS_OK;
    if (m == HOST_MEMORY) {
        TRY(fill_from_device(b, c->spaces[__builtin_ctz(b->valid)]));
        c->fetched[b->maker] += (double)b->nbytes;
    } else if ((from = peer_of(c, b, m))) {
        TRY(fill_from_peer(b, c->spaces[m], from));
    } else {
        TRY(bring(c, b, HOST_MEMORY));
        TRY(fill_from_host(b, c->spaces[m]));
    }
    b->valid |= bit(m);
    return QS_OK;
}

qs_status qbuf_settle(Ctx *c, Buffer *b) {
    if (b->home < 0 || b->writer >= 0 || b->nreaders || b->valid == bit(b->home)) return QS_OK;
    TRY(bring(c, b, b->home));
    b->valid = bit(b->home);
    return QS_OK;
}

static qs_status begin_access(Ctx *c, Buffer *b, int m, qs_access mode) {
    if (b->blank) clear_block(c, b);
    TRY(conflict(c, b, mode));
    if (mode != QS_READ && b->kept) TRY(c->before_write(c, b));
    TRY(qbuf_settle(c, b));
    if (mode == QS_WRITE) TRY(have_block(c, b, m, false));
    else TRY(bring(c, b, m));
    if (mode != QS_READ) b->valid = bit(m), b->unset = false;
    return QS_OK;
}

/* Notifies the observer of writes.  qbuf_give does not call this: the library that gets the block reports its writes.
 * */
static void was_written(Ctx *c, Buffer *b) {
    if (b->watched) c->written(c, b);
}

#ifdef QUASAR_STRESS
/* Frees every unlocked device copy before each lock, so that arrays change their addresses as often as possible. */
static qs_status migrate(Ctx *c, Buffer *b) {
    for (int m = 1; m < MAX_DEVICES && b->writer < 0 && !b->nreaders; m++) {
        if (!b->block[m] || m == b->home) continue;
        if (b->valid == bit(m)) TRY(bring(c, b, HOST_MEMORY));
        free_block(c, b, m);
        qheap_trim(c->spaces[m]);
    }
    return QS_OK;
}
#else
static qs_status migrate(Ctx *c, Buffer *b) { return (void)c, (void)b, QS_OK; }
#endif

qs_status qbuf_lock(Ctx *c, Buffer *b, Device *d, qs_access mode, DevPtr *out) {
    int m = d->memory;
    if (m != HOST_MEMORY) c->spaces[m] = d;
    if (mode == QS_READ && b->readers[m] == UINT8_MAX)
        return qerr_set(c, QS_ELOCK, "the array has too many read locks on %s", space_name(c, m));
    TRY(migrate(c, b));
    TRY(begin_access(c, b, m, mode));
    if (mode == QS_READ) {
        b->readers[m]++;
        b->nreaders++;
    } else {
        b->writer = (int8_t)m;
        b->writer_mode = (unsigned)mode & 3u;
    }
    if (m != HOST_MEMORY) used_on_device(c, b);
    *out = b->block[m];
    return QS_OK;
}

static const char *mode_name(qs_access mode) {
    return mode == QS_READ ? "reading" : mode == QS_WRITE ? "writing" : "reading and writing";
}

/* Sets the error for an unlock without such a lock; the message names the locks that are held instead. */
static qs_status not_held(Ctx *c, const Buffer *b, int m, qs_access mode) {
    if (b->writer >= 0)
        return qerr_set(c, QS_ELOCK, "the array is locked for %s on %s, not for %s on %s",
                        mode_name((qs_access)b->writer_mode), space_name(c, b->writer), mode_name(mode),
                        space_name(c, m));
    if (b->nreaders)
        return qerr_set(c, QS_ELOCK, "the array is locked for reading on %s, not for %s on %s",
                        space_name(c, reading_space(b)), mode_name(mode), space_name(c, m));
    return qerr_set(c, QS_ELOCK, "the array is not locked, so it cannot be unlocked on %s", space_name(c, m));
}

qs_status qbuf_unlock(Ctx *c, Buffer *b, Device *d, qs_access mode) {
    int m = d->memory;
    bool held = mode == QS_READ ? b->readers[m] > 0 : b->writer == m && b->writer_mode == mode;
    if (m != HOST_MEMORY) c->spaces[m] = d;
    if (!held) return not_held(c, b, m, mode);
    if (mode != QS_READ) b->writer = -1, was_written(c, b);
    else b->readers[m]--, b->nreaders--;
    return qbuf_settle(c, b);
}

qs_status qbuf_reach_host(Ctx *c, Buffer *b, qs_access mode, void **out) {
    TRY(migrate(c, b));
    TRY(begin_access(c, b, HOST_MEMORY, mode));
    if (mode != QS_READ) was_written(c, b);
    *out = host_block(b);
    return QS_OK;
}

/* -- blocks that others use ---------------------------------------------------------------------------------------- */
static qs_status may_give(Ctx *c, const Buffer *b, Device *d, int m) {
    if (d && !d->ops->sharing)
        return qerr_set(c, QS_EDEVICE, "memory of %s has no addresses that others could use", qdev_name(d));
    if (b->home < 0 || b->home == m) return QS_OK;
    return qerr_set(c, QS_ELOCK, "the array is in use on %s and cannot be given away on %s at the same time",
                    space_name(c, b->home), space_name(c, m));
}

qs_status qbuf_part(Ctx *c, Buffer *b) {
    qs_status s = b->nreaders || b->writer >= 0 ? conflict(c, b, QS_WRITE) : QS_OK;
    void *own = s == QS_OK ? qpool_get(c, b->nbytes) : NULL;
    if (own) memcpy(own, host_block(b), b->nbytes);
    else b->valid = 0;
    b->block[HOST_MEMORY] = (DevPtr)(uintptr_t)own;
    b->home = -1, b->foreign = b->readonly = b->lent = false;
    if (b->release) b->release(b->owner);
    b->release = NULL, b->owner = NULL;
    return own || s ? s : no_memory(c, b->nbytes);
}

qs_status qbuf_give(Ctx *c, Buffer *b, Device *d, bool readonly, DevPtr *out) {
    int m = d ? d->memory : HOST_MEMORY;
    if (m != HOST_MEMORY) c->spaces[m] = d;
    if (b->lent && (b->nreaders || b->writer >= 0)) return conflict(c, b, QS_WRITE);
    if (b->lent) TRY(qbuf_part(c, b));
    TRY(may_give(c, b, d, m));
    TRY(begin_access(c, b, m, readonly || qbuf_is_readonly(b) ? QS_READ : QS_READWRITE));
    b->home = (int8_t)m, b->unset = false;
    if (b->given < GIVEN_MAX) b->given++;
    *out = b->block[m];
    return QS_OK;
}

void qbuf_take_back(Buffer *b) {
    if (b->given < GIVEN_MAX && --b->given == 0 && !b->foreign) b->home = -1;
}

qs_status qbuf_outlive(Ctx *c, Buffer *b) {
    int home = b->home < 0 ? HOST_MEMORY : b->home;
    if (b->blank) clear_block(c, b);
    qs_status s = bring(c, b, home); /* on failure, too, the copies on devices are freed below */
    unlink_device(c, b);
    for (int m = HOST_MEMORY + 1; m < MAX_DEVICES; m++)
        if (m != home) free_block(c, b, m);
    if (home == HOST_MEMORY || b->foreign || !b->block[home]) return s;
    Device *d = c->spaces[home];
    TRY(d->ops->sharing->outlive(d, b->block[home], &b->release, &b->owner));
    b->foreign = true;
    return s;
}

bool qbuf_overlap(const Buffer *a, const Buffer *b) {
    if (a == b) return true;
    for (int m = 0; m < MAX_DEVICES; m++) { /* a DevPtr is an address only on the host and at home */
        bool addresses = m == HOST_MEMORY || m == a->home || m == b->home;
        if (!addresses || !a->block[m] || !b->block[m]) continue;
        if (a->block[m] < b->block[m] + b->nbytes && b->block[m] < a->block[m] + a->nbytes) return true;
    }
    return false;
}

/* Copies b on device d.  Allocating the copy may evict buffers, b last; the contents of an evicted b are uploaded from
 * the host. */
static qs_status fill_clone(Ctx *c, Buffer *copy, Buffer *b, Device *d) {
    int m = d->memory;
    used_on_device(c, b);
    TRY(have_block(c, copy, m, false));
    if (b->valid & bit(m)) return b->nbytes ? d->ops->copy(d, copy->block[m], b->block[m], b->nbytes) : QS_OK;
    TRY(bring(c, b, HOST_MEMORY));
    return b->nbytes ? d->ops->upload(d, copy->block[m], 0, host_block(b), b->nbytes) : QS_OK;
}

static qs_status clone_on(Ctx *c, Buffer *b, Device *d, Buffer **out) {
    Buffer *copy = new_header(c, b->nbytes, 0);
    if (!copy) return no_memory(c, HEADER);
    qs_status s = fill_clone(c, copy, b, d);
    if (s) return qbuf_release(c, copy), s;
    copy->valid = bit(d->memory);
    *out = copy;
    return QS_OK;
}

qs_status qbuf_clone(Ctx *c, Buffer *b, Buffer **out) {
    if (b->blank) return qbuf_new(c, b->nbytes, true, out);
    TRY(conflict(c, b, QS_READ));
    if (!(b->valid & bit(HOST_MEMORY))) return clone_on(c, b, c->spaces[__builtin_ctz(b->valid)], out);
    TRY(qbuf_new(c, b->nbytes, false, out));
    memcpy(host_block(*out), host_block(b), b->nbytes);
    return QS_OK;
}
