/* The coherence rule: every sequence of locks and unlocks, compared with a model that counts the required transfers. */
#include "devices/buffer.h"
#include "devices/heap.h"
#include "devices/pool.h"
#include "tests/support/mock_device.h"
#include "tests/unit/check.h"

enum {
    SPACES = 3,
    MODES = 3,
    ACTIONS = SPACES * MODES * 2,
    BYTES = 8,
    ROOM = 512 /* size of such a block on a device */
};

#ifdef QUASAR_STRESS /* arrays then move at every lock: contents and conflicts are the same, the transfers are more */
enum { COUNTS = 0 };
#else
enum { COUNTS = 1 };
#endif

static Device devices[SPACES]; /* [0] is the host */
static bool peers;             /* devices copy from each other */
static int released;

static void release(void *owner) { (void)owner, released++; }

static void open_devices(Ctx *c) {
    for (int m = 0; m < SPACES; m++) {
        devices[m] = (Device){.ops = &mock_device_ops, .ctx = c, .memory = m};
        CHECK(mock_device_ops.open(&devices[m], m) == QS_OK);
    }
}

static void close_devices(void) {
    for (int m = 0; m < SPACES; m++) {
        qheap_close(&devices[m]);
        CHECK(mock_state(&devices[m])->live == 0);
        mock_device_ops.close(&devices[m]);
    }
}

static unsigned transfers(void) {
    unsigned n = 0;
    for (int m = 1; m < SPACES; m++) {
        const MockState *s = mock_state(&devices[m]);
        n += s->uploads + s->downloads + s->peers;
    }
    return n;
}

/* The contract of buffer.h in its simplest form. */
typedef struct {
    unsigned valid, readers[SPACES];
    int writer, owner; /* owner: -1, or the memory space of foreign memory */
    qs_access writer_mode;
    uint64_t content;
} Model;

static bool any_reader(const Model *m) {
    for (int i = 0; i < SPACES; i++)
        if (m->readers[i]) return true;
    return false;
}

static unsigned model_bring(Model *m, int to) {
    unsigned cost = 0;
    if (m->valid & 1u << to) return 0;
    if (to == 0 || (peers && !(m->valid & 1))) cost = 1;
    else cost = m->valid & 1 ? 1 : 2, m->valid |= 1;
    m->valid |= 1u << to;
    return cost;
}

static unsigned model_settle(Model *m) {
    if (m->owner < 0 || m->writer >= 0 || any_reader(m)) return 0;
    unsigned cost = model_bring(m, m->owner);
    m->valid = 1u << m->owner;
    return cost;
}

static bool model_lock(Model *m, int at, qs_access mode, unsigned *cost) {
    if (m->writer >= 0 || (mode != QS_READ && any_reader(m))) return false;
    *cost = model_settle(m);
    if (mode != QS_WRITE) *cost += model_bring(m, at);
    if (mode != QS_READ) m->valid = 1u << at, m->writer = at, m->writer_mode = mode;
    else m->readers[at]++;
    return true;
}

static bool model_unlock(Model *m, int at, qs_access mode, unsigned *cost) {
    if (mode == QS_READ ? !m->readers[at] : m->writer != at || m->writer_mode != mode) return false;
    if (mode == QS_READ) m->readers[at]--;
    else m->writer = -1;
    *cost = model_settle(m);
    return true;
}

static bool lock_behaves(Ctx *c, Buffer *b, Model *m, int at, qs_access mode, uint64_t next) {
    DevPtr p = 0;
    unsigned cost = 0, before = transfers();
    bool want = model_lock(m, at, mode, &cost), got = qbuf_lock(c, b, &devices[at], mode, &p) == QS_OK;
    if (!got) qerr_clear(c);
    if (want != got || (COUNTS && got && transfers() - before != cost)) return false;
    uint64_t *word = (uint64_t *)(uintptr_t)p;
    if (got && mode != QS_WRITE && *word != m->content) return false;
    if (got && mode != QS_READ) *word = m->content = next;
    return true;
}

static bool unlock_behaves(Ctx *c, Buffer *b, Model *m, int at, qs_access mode) {
    unsigned cost = 0, before = transfers();
    bool want = model_unlock(m, at, mode, &cost), got = qbuf_unlock(c, b, &devices[at], mode) == QS_OK;
    if (!got) qerr_clear(c);
    return want == got && (!COUNTS || !got || transfers() - before == cost);
}

static Buffer *new_buffer(Ctx *c, int owner, uint64_t *foreign, Model *m) {
    Buffer *b = NULL;
    *foreign = 7;
    *m = (Model){.valid = owner > 0 ? 1u << owner : 1, .writer = -1, .owner = owner, .content = owner < 0 ? 0 : 7};
    if (owner < 0) CHECK(qbuf_new(c, BYTES, true, &b) == QS_OK);
    else if (owner == 0)
        CHECK(qbuf_wrap(c, &(Wrapped){NULL, (uintptr_t)foreign, BYTES, false, release, foreign}, &b) == QS_OK);
    else {
        DevPtr p;
        CHECK(mock_device_ops.alloc(&devices[owner], BYTES, &p) == QS_OK);
        CHECK(mock_device_ops.upload(&devices[owner], p, 0, foreign, BYTES) == QS_OK);
        CHECK(qbuf_wrap(c, &(Wrapped){&devices[owner], p, BYTES, false, release, NULL}, &b) == QS_OK);
    }
    return b;
}

/* Runs the actions coded in `code`, base ACTIONS; compares with the model after each. */
static bool sequence_behaves(Ctx *c, int length, unsigned code, int owner) {
    uint64_t foreign;
    Model m;
    Buffer *b = new_buffer(c, owner, &foreign, &m);
    bool ok = true;
    for (int i = 0; i < length && ok; i++, code /= ACTIONS) {
        unsigned action = code % ACTIONS;
        int at = (int)(action / 2 % SPACES);
        qs_access mode = (qs_access)(action / 2 / SPACES + 1);
        ok = action & 1 ? unlock_behaves(c, b, &m, at, mode) : lock_behaves(c, b, &m, at, mode, (uint64_t)i + 100);
        ok = ok && (!COUNTS || b->valid == m.valid) && b->writer == m.writer;
        if (owner == 0 && m.writer < 0 && !any_reader(&m)) ok = ok && foreign == m.content;
    }
    DevPtr mine = owner > 0 ? b->block[owner] : 0;
    int before = released;
    qbuf_release(c, b);
    if (mine) mock_device_ops.free(&devices[owner], mine);
    return ok && released == before + (owner >= 0);
}

static void all_sequences(Ctx *c, int length, int owner) {
    unsigned n = 1, bad = 0;
    for (int i = 0; i < length; i++) n *= ACTIONS;
    for (unsigned code = 0; code < n; code++)
        if (!sequence_behaves(c, length, code, owner) && !bad++)
            printf("  length %d owner %d code %u\n", length, owner, code);
    CHECK(bad == 0);
}

/* -- failures ------------------------------------------------------------------------------------------------------ */
static void let_go(Ctx *c, Buffer *b) {
    for (int m = 0; m < SPACES; m++)
        while (b->readers[m]) CHECK(qbuf_unlock(c, b, &devices[m], QS_READ) == QS_OK);
    if (b->writer >= 0) CHECK(qbuf_unlock(c, b, &devices[b->writer], (qs_access)b->writer_mode) == QS_OK);
}

/* The same while the operation `after` of device `at` fails: the last write is present at the end. */
static bool survives(Ctx *c, int length, unsigned code, int owner, int at, long after) {
    uint64_t foreign;
    Model m;
    Buffer *b = new_buffer(c, owner, &foreign, &m);
    mock_state(&devices[at])->fail_after = after;
    for (int i = 0; i < length; i++, code /= ACTIONS) {
        Device *d = &devices[code % ACTIONS / 2 % SPACES];
        qs_access mode = (qs_access)(code % ACTIONS / 2 / SPACES + 1);
        DevPtr p;
        if (code % ACTIONS & 1) (void)qbuf_unlock(c, b, d, mode);
        else if (qbuf_lock(c, b, d, mode, &p) == QS_OK && mode != QS_READ)
            *(uint64_t *)(uintptr_t)p = m.content = (uint64_t)i + 100;
        qerr_clear(c);
    }
    mock_state(&devices[at])->fail_after = -1;
    let_go(c, b);
    void *host = NULL;
    bool ok = qbuf_host(c, b, QS_READ, &host) == QS_OK && *(uint64_t *)host == m.content;
    DevPtr mine = owner > 0 ? b->block[owner] : 0;
    qbuf_release(c, b);
    if (mine) mock_device_ops.free(&devices[owner], mine);
    for (int i = 1; i < SPACES; i++) qheap_trim(&devices[i]); /* so that allocations can fail, too */
    return ok;
}

static void all_failures(Ctx *c, int length, int owner) {
    unsigned n = 1, bad = 0;
    for (int i = 0; i < length; i++) n *= ACTIONS;
    for (int at = 1; at < SPACES; at++)
        for (long after = 0; after < 4; after++)
            for (unsigned code = 0; code < n; code++)
                if (!survives(c, length, code, owner, at, after) && !bad++)
                    printf("  length %d owner %d device %d after %ld code %u\n", length, owner, at, after, code);
    CHECK(bad == 0);
}

/* A failed transfer leaves no lock and no stale copy marked as current. */
static void failures(Ctx *c) {
    DevPtr p;
    Buffer *b;
    CHECK(qbuf_new(c, BYTES, true, &b) == QS_OK);
    for (long after = 0; after < 2; after++) {
        mock_state(&devices[1])->fail_after = after;
        CHECK(qbuf_lock(c, b, &devices[1], QS_READWRITE, &p) == QS_EDEVICE);
        mock_state(&devices[1])->fail_after = -1;
        qerr_clear(c);
        CHECK(b->writer == -1 && b->valid == 1);
        qheap_trim(&devices[1]);
    }
    CHECK(qbuf_lock(c, b, &devices[1], QS_WRITE, &p) == QS_OK);
    *(uint64_t *)(uintptr_t)p = 5;
    CHECK(qbuf_unlock(c, b, &devices[1], QS_WRITE) == QS_OK && b->valid == 2);
    mock_state(&devices[1])->fail_after = 0;
    void *host;
    CHECK(qbuf_host(c, b, QS_READ, &host) == QS_EDEVICE && b->valid == 2);
    mock_state(&devices[1])->fail_after = -1;
    qerr_clear(c);
    CHECK(qbuf_host(c, b, QS_READ, &host) == QS_OK && b->valid == 3 && *(uint64_t *)host == 5);
    qbuf_release(c, b);
}

/* The least recently used copy makes room on a device; locked copies stay. */
static void eviction(Ctx *c) {
    enum { N = 3 };
    Buffer *b[N];
    DevPtr p;
    void *host;
    mock_state(&devices[1])->capacity = 2 * ROOM;
    for (int i = 0; i < N; i++) {
        CHECK(qbuf_new(c, BYTES, true, &b[i]) == QS_OK);
        CHECK(qbuf_lock(c, b[i], &devices[1], QS_WRITE, &p) == QS_OK);
        *(uint64_t *)(uintptr_t)p = (uint64_t)i + 1;
        if (i) CHECK(qbuf_unlock(c, b[i], &devices[1], QS_WRITE) == QS_OK);
    }
    CHECK(b[0]->block[1] && !b[1]->block[1] && b[2]->block[1]);
    for (int i = 1; i < N; i++)
        CHECK(qbuf_host(c, b[i], QS_READ, &host) == QS_OK && *(uint64_t *)host == (uint64_t)i + 1);
    CHECK(qbuf_lock(c, b[2], &devices[1], QS_READ, &p) == QS_OK);
    CHECK(qbuf_lock(c, b[1], &devices[1], QS_READ, &p) == QS_ENOMEM); /* both blocks are locked */
    qerr_clear(c);
    CHECK(qbuf_unlock(c, b[2], &devices[1], QS_READ) == QS_OK);
    CHECK(qbuf_lock(c, b[1], &devices[1], QS_READ, &p) == QS_OK && *(uint64_t *)(uintptr_t)p == 2);
    CHECK(qbuf_unlock(c, b[1], &devices[1], QS_READ) == QS_OK && qbuf_unlock(c, b[0], &devices[1], QS_WRITE) == QS_OK);
    for (int i = 0; i < N; i++) qbuf_release(c, b[i]);
    mock_state(&devices[1])->capacity = 0;
    CHECK(c->on_devices == NULL);
}

/* A block that others use is not evicted, and is distinguished from their other blocks by its address. */
static void given(Ctx *c) {
    static const SharingOps sharing = {0};
    DeviceOps ops = mock_device_ops;
    Device *d = &devices[1];
    Buffer *b, *other[3], *theirs;
    DevPtr p, q;
    ops.sharing = &sharing, d->ops = &ops;
    qheap_trim(d);
    d->limit = 2 * ROOM;
    CHECK(qbuf_new(c, BYTES, true, &b) == QS_OK && qbuf_give(c, b, d, false, &p) == QS_OK && b->home == 1);
    for (int i = 0; i < 3; i++) {
        CHECK(qbuf_new(c, BYTES, true, &other[i]) == QS_OK && qbuf_lock(c, other[i], d, QS_WRITE, &q) == QS_OK);
        CHECK(qbuf_unlock(c, other[i], d, QS_WRITE) == QS_OK && b->block[1] == p && b->valid == 2);
    }
    CHECK(!other[0]->block[1] && !other[1]->block[1] && other[2]->block[1]);
    CHECK(qbuf_give(c, b, NULL, false, &q) == QS_ELOCK); /* not elsewhere at the same time */
    qerr_clear(c);
    CHECK(qbuf_wrap(c, &(Wrapped){d, p + BYTES / 2, BYTES, false, NULL, NULL}, &theirs) == QS_OK);
    CHECK(qbuf_overlap(b, theirs) && qbuf_overlap(theirs, b) && !qbuf_overlap(theirs, other[2]));
    CHECK(qbuf_give(c, theirs, d, false, &q) == QS_OK && q == p + BYTES / 2);
    qbuf_take_back(theirs);
    CHECK(theirs->home == 1); /* foreign memory is not moved */
    qbuf_release(c, theirs);
    CHECK(qbuf_wrap(c, &(Wrapped){d, p + BYTES, BYTES, false, NULL, NULL}, &theirs) == QS_OK);
    CHECK(!qbuf_overlap(b, theirs));
    qbuf_release(c, theirs);
    qbuf_take_back(b);
    CHECK(b->home == -1);
    qbuf_release(c, b);
    for (int i = 0; i < 3; i++) qbuf_release(c, other[i]);
    d->limit = 0, d->ops = &mock_device_ops;
}

static bool refused(Ctx *c, const char *why) {
    bool so = strncmp(c->err.text, why, strlen(why)) == 0;
    return qerr_clear(c), so;
}

/* Memory that is freed before the buffer. */
static void parted(Ctx *c) {
    static uint64_t theirs[1 << 14];
    Buffer *b;
    DevPtr p;
    void *host;
    int before = released;
    theirs[0] = 1;
    CHECK(qbuf_wrap(c, &(Wrapped){NULL, (uintptr_t)theirs, sizeof theirs, true, release, theirs}, &b) == QS_OK);
    b->lent = true;
    CHECK(qbuf_lock(c, b, &devices[1], QS_READ, &p) == QS_OK);
    CHECK(qbuf_give(c, b, NULL, false, &p) == QS_ELOCK && refused(c, "the array is locked for reading on"));
    CHECK(qbuf_unlock(c, b, &devices[1], QS_READ) == QS_OK && released == before);
    CHECK(qbuf_give(c, b, NULL, false, &p) == QS_OK && p != (DevPtr)(uintptr_t)theirs && released == before + 1);
    theirs[0] = 2;
    CHECK(*(uint64_t *)(uintptr_t)p == 1 && b->home == HOST_MEMORY && !b->lent);
    qbuf_take_back(b);
    CHECK(qbuf_lock(c, b, &devices[1], QS_READWRITE, &p) == QS_OK && *(uint64_t *)(uintptr_t)p == 1);
    CHECK(qbuf_unlock(c, b, &devices[1], QS_READWRITE) == QS_OK);
    qbuf_release(c, b);
    CHECK(qbuf_wrap(c, &(Wrapped){NULL, (uintptr_t)theirs, sizeof theirs, true, release, theirs}, &b) == QS_OK);
    c->limit = 1;
    qpool_drain(c);
    CHECK(qbuf_part(c, b) == QS_ENOMEM && refused(c, "out of memory: an array needs 128 kB"));
    c->limit = 0;
    CHECK(qbuf_host(c, b, QS_READ, &host) == QS_ELOCK && refused(c, "the array was lent for a call"));
    CHECK(qbuf_lock(c, b, &devices[1], QS_WRITE, &p) == QS_ELOCK && refused(c, "the array was lent for a call"));
    CHECK(released == before + 2);
    qbuf_release(c, b);
    for (int mode = QS_READ; mode <= QS_WRITE; mode++) { /* the call returns while queued work holds it */
        CHECK(qbuf_wrap(c, &(Wrapped){NULL, (uintptr_t)theirs, sizeof theirs, false, release, theirs}, &b) == QS_OK);
        CHECK(qbuf_lock(c, b, &devices[1], (qs_access)mode, &p) == QS_OK);
        CHECK(qbuf_part(c, b) == QS_ELOCK && refused(c, "the array is locked for "));
        CHECK(released == before + 3 + mode - QS_READ);
        CHECK(qbuf_unlock(c, b, &devices[1], (qs_access)mode) == QS_OK);
        CHECK(qbuf_host(c, b, QS_READ, &host) == QS_ELOCK && refused(c, "the array was lent for a call"));
        CHECK(qbuf_outlive(c, b) == QS_ELOCK && refused(c, "the array was lent for a call") && !b->block[1]);
        qbuf_release(c, b);
    }
}

static void cloning(Ctx *c) {
    Buffer *b, *copy;
    DevPtr p = 0;
    void *host;
    CHECK(qbuf_new(c, BYTES, true, &b) == QS_OK && qbuf_lock(c, b, &devices[2], QS_WRITE, &p) == QS_OK);
    *(uint64_t *)(uintptr_t)p = 9;
    CHECK(qbuf_unlock(c, b, &devices[2], QS_WRITE) == QS_OK);
    unsigned before = transfers();
    CHECK(qbuf_clone(c, b, &copy) == QS_OK && transfers() == before && copy->valid == 4 && !copy->block[0]);
    CHECK(qbuf_host(c, copy, QS_READ, &host) == QS_OK && *(uint64_t *)host == 9 && b->valid == 4);
    qbuf_release(c, b);
    qbuf_release(c, copy);
}

static bool is_zero(const void *p) {
    static const char zeros[1 << 12];
    return !memcmp(p, zeros, sizeof zeros);
}

/* A large buffer of zeros has no current copy until it is used; its clone has none, either. */
static void cleared(Ctx *c) {
    Buffer *b, *copy;
    DevPtr at = 0;
    void *host;
    for (int mode = QS_READ; mode <= QS_READWRITE; mode++)
        for (int m = 0; m < SPACES; m++) {
            CHECK(qbuf_new(c, 1 << 12, false, &b) == QS_OK && qbuf_host(c, b, QS_WRITE, &host) == QS_OK);
            memset(host, 1, 1 << 12);
            qbuf_release(c, b); /* the pool gives the same memory again */
            CHECK(qbuf_new(c, 1 << 12, true, &b) == QS_OK && b->blank && !b->valid);
            CHECK(qbuf_is_in(b, 0) && !qbuf_is_in(b, 1) && !qbuf_is_away(b));
            CHECK(qbuf_clone(c, b, &copy) == QS_OK && b->blank && copy->blank);
            CHECK(qbuf_lock(c, b, &devices[m], (qs_access)mode, &at) == QS_OK && !b->blank && b->valid & 1u << m);
            if (mode != QS_WRITE) CHECK(is_zero((const void *)(uintptr_t)at));
            if (mode != QS_READ) *(uint64_t *)(uintptr_t)at = 9;
            CHECK(qbuf_unlock(c, b, &devices[m], (qs_access)mode) == QS_OK);
            CHECK(qbuf_host(c, copy, QS_READ, &host) == QS_OK && is_zero(host) && !copy->blank);
            qbuf_release(c, b);
            qbuf_release(c, copy);
        }
    CHECK(qbuf_new(c, 1 << 12, true, &b) == QS_OK && qbuf_give(c, b, NULL, true, &at) == QS_OK);
    CHECK(is_zero((const void *)(uintptr_t)at) && !b->blank);
    qbuf_take_back(b);
    qbuf_release(c, b);
    CHECK(qbuf_new(c, 1 << 12, true, &b) == QS_OK && qbuf_outlive(c, b) == QS_OK && b->valid == 1 && !b->blank);
    qbuf_release(c, b);
}

/* Other buffers are evicted to make room for a copy; the original leaves the device only if there are none. */
static void cloning_without_room(Ctx *c) {
    Device *d = &devices[1];
    for (int others = 0; others < 2; others++) {
        Buffer *b[2], *copy = NULL;
        DevPtr p;
        void *host;
        qheap_trim(d);
        d->limit = (size_t)(1 + others) * ROOM;
        for (int i = 0; i <= others; i++) {
            CHECK(qbuf_new(c, BYTES, true, &b[i]) == QS_OK && qbuf_lock(c, b[i], d, QS_WRITE, &p) == QS_OK);
            *(uint64_t *)(uintptr_t)p = (uint64_t)i + 9;
            CHECK(qbuf_unlock(c, b[i], d, QS_WRITE) == QS_OK);
        }
        CHECK(qbuf_clone(c, b[0], &copy) == QS_OK && copy->valid == 2);
        CHECK(b[0]->valid == (others ? 2 : 1) && (!others || b[1]->valid == 1));
        CHECK(qbuf_host(c, copy, QS_READ, &host) == QS_OK && *(uint64_t *)host == 9);
        for (int i = 0; i <= others; i++) {
            CHECK(qbuf_host(c, b[i], QS_READ, &host) == QS_OK && *(uint64_t *)host == (uint64_t)i + 9);
            qbuf_release(c, b[i]);
        }
        qbuf_release(c, copy);
    }
    d->limit = 0;
}

static void sentences(Ctx *c) {
    Buffer *b;
    DevPtr p;
    void *host;
    uint64_t word = 3;
    CHECK(qbuf_wrap(c, &(Wrapped){NULL, (uintptr_t)&word, BYTES, true, release, NULL}, &b) == QS_OK);
    CHECK(qbuf_host(c, b, QS_READWRITE, &host) == QS_ELOCK);
    CHECK_TEXT(c->err.text, "the array is read-only and cannot be written");
    qerr_clear(c);
    CHECK(qbuf_unlock(c, b, &devices[1], QS_READ) == QS_ELOCK);
    CHECK_TEXT(c->err.text, "the array is not locked, so it cannot be unlocked on mock");
    qerr_clear(c);
    CHECK(qbuf_lock(c, b, &devices[1], QS_READ, &p) == QS_OK && qbuf_unlock(c, b, &devices[0], QS_READ) == QS_ELOCK);
    CHECK_TEXT(c->err.text, "the array is locked for reading on mock, not for reading on the host");
    qerr_clear(c);
    CHECK(qbuf_lock(c, b, &devices[0], QS_WRITE, &p) == QS_ELOCK);
    CHECK_TEXT(c->err.text, "the array is locked for reading on mock and cannot be written");
    qerr_subject(c, "img");
    CHECK_TEXT(c->err.text, "img is locked for reading on mock and cannot be written");
    qerr_clear(c);
    CHECK(qbuf_unlock(c, b, &devices[1], QS_READ) == QS_OK);
    CHECK(qbuf_lock(c, b, &devices[0], QS_READ, &p) == QS_OK && p == (DevPtr)(uintptr_t)&word);
    CHECK(qbuf_unlock(c, b, &devices[0], QS_READ) == QS_OK);
    qbuf_release(c, b);
    CHECK(qbuf_new(c, SIZE_MAX / 8, false, &b) == QS_ENOMEM);
    CHECK_TEXT(c->err.text, "out of memory: an array needs 2 EB");
    qerr_clear(c);
    CHECK(qbuf_new(c, (size_t)5 << 40, true, &b) == QS_ENOMEM);
    CHECK_TEXT(c->err.text, "out of memory: an array needs 5 TB");
    qerr_clear(c);
}

/* A device heap reuses freed memory, respects its limit, and empties itself before it fails. */
static void heap(Ctx *c) {
    Device *d = &devices[1];
    MockState *s = mock_state(d);
    DevPtr a, b;
    qheap_trim(d);
    unsigned allocs = s->allocs, frees = s->frees;
    CHECK(qheap_get(d, 1000, &a) == QS_OK && qheap_used(d) == 1024);
    qheap_put(d, a, 1000);
    CHECK(qheap_get(d, 990, &b) == QS_OK && b == a && s->allocs == allocs + 1 && s->frees == frees);
    qheap_put(d, b, 990);
    d->limit = 4096;
    CHECK(qheap_get(d, 4000, &a) == QS_OK && s->frees == frees + 1); /* the kept memory had to be released */
    CHECK(qheap_get(d, 1, &b) == QS_ENOMEM);
    CHECK_TEXT(c->err.text, "mock: no room for 512 bytes: 4096 of 4096 are in use");
    qerr_clear(c);
    qheap_put(d, a, 4000);
    d->limit = 0, s->capacity = s->live;
    CHECK(qheap_get(d, 3000, &a) == QS_OK && s->frees == frees + 2); /* the same when the device itself is full */
    CHECK(qheap_get(d, 3000, &b) == QS_ENOMEM);
    qerr_clear(c);
    CHECK(qheap_get(d, SIZE_MAX, &b) == QS_ENOMEM);
    qerr_clear(c);
    qheap_put(d, a, 3000);
    s->capacity = 0;
}

static bool recording;
static bool is_recording(Device *d) { return d == &devices[1] && recording; }

/* An array without values causes no transfer until it has been written. */
static void unset(Ctx *c) {
    Buffer *b;
    DevPtr at;
    void *host;
    unsigned before = transfers();
    CHECK(qbuf_new(c, BYTES, false, &b) == QS_OK);
    qbuf_unset(b);
    CHECK(qbuf_lock(c, b, &devices[1], QS_READWRITE, &at) == QS_OK && (!COUNTS || transfers() == before));
    CHECK(qbuf_unlock(c, b, &devices[1], QS_READWRITE) == QS_OK);
    CHECK(qbuf_lock(c, b, &devices[2], QS_READWRITE, &at) == QS_OK && transfers() > before);
    CHECK(qbuf_unlock(c, b, &devices[2], QS_READWRITE) == QS_OK);
    qbuf_release(c, b);
    CHECK(qbuf_new(c, BYTES, false, &b) == QS_OK);
    qbuf_unset(b);
    CHECK(qbuf_host(c, b, QS_READWRITE, &host) == QS_OK);
    before = transfers();
    CHECK(qbuf_lock(c, b, &devices[1], QS_READ, &at) == QS_OK && transfers() > before);
    CHECK(qbuf_unlock(c, b, &devices[1], QS_READ) == QS_OK);
    qbuf_release(c, b);
}

/* Memory used by a graph that is being recorded stays allocated: none is returned to the driver meanwhile. */
static void heap_while_recording(void) {
    Device *d = &devices[1];
    MockState *s = mock_state(d);
    size_t most = (size_t)256 << 20;
    DevPtr a, b;
    qheap_trim(d);
    d->recording = is_recording;
    CHECK(qheap_get(d, most, &a) == QS_OK && qheap_get(d, 1000, &b) == QS_OK);
    unsigned frees = s->frees;
    recording = true;
    qheap_put(d, a, most);
    qheap_put(d, b, 1000); /* beyond the usual limit of kept memory */
    qheap_trim(d);
    CHECK(s->frees == frees);
    recording = false;
    qheap_trim(d);
    CHECK(s->frees == frees + 2);
    CHECK(qheap_get(d, most, &a) == QS_OK && qheap_get(d, 1000, &b) == QS_OK);
    qheap_put(d, a, most);
    qheap_put(d, b, 1000);
    CHECK(s->frees == frees + 3);
    d->recording = NULL;
}

/* Memory that was just freed is reused; all sizes keep alignment, and the accounting is complete. */
static void pool(Ctx *c) {
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 4097, 5000, 65536, 1000000, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = qpool_get(c, sizes[i]);
        CHECK(p && (uintptr_t)p % 64 == 0);
        memset(p, 1, sizes[i]);
        qpool_put(c, p, sizes[i]);
    }
#ifndef __SANITIZE_ADDRESS__
    void *p = qpool_get(c, 1000000);
    qpool_put(c, p, 1000000);
    CHECK(qpool_get(c, 999999) == p);
    qpool_put(c, p, 999999);
#endif
    qpool_drain(c);
    size_t base = c->bytes;
    void *q[300];
    for (int i = 0; i < 300; i++) q[i] = qpool_get(c, 100);
    for (int i = 0; i < 300; i++) qpool_put(c, q[i], 100);
    CHECK(c->bytes - base <= 256 * 128);
    qpool_drain(c);
    CHECK(c->bytes == base);
    enum { LARGE = 40 << 20, MANY = 8 };
    for (int i = 0; i < MANY; i++) q[i] = qpool_get(c, LARGE);
    for (int i = 0; i < MANY; i++) qpool_put(c, q[i], LARGE);
    CHECK(c->bytes - base <= (size_t)256 << 20); /* more is not kept */
    qpool_drain(c);
    c->fail_after = 1;
    CHECK(qpool_get(c, 100) == NULL);
}

int main(void) {
    Ctx c;
    qctx_init(&c, 32);
    open_devices(&c);
    for (int apart = 0; apart < 2; apart++) {
        peers = !apart;
        for (int m = 0; m < SPACES; m++) devices[m].ops = apart ? &mock_apart_ops : &mock_device_ops;
        for (int owner = -1; owner < 2; owner++)
            for (int length = 1; length <= 5; length++) all_sequences(&c, length, owner);
        for (int owner = -1; owner < 2; owner++) all_failures(&c, 3, owner);
    }
    failures(&c);
    eviction(&c);
    given(&c);
    unset(&c);
    cleared(&c);
    parted(&c);
    heap(&c);
    heap_while_recording();
    cloning(&c);
    cloning_without_room(&c);
    sentences(&c);
    pool(&c);
    close_devices();
    qctx_close(&c);
    CHECK(c.bytes == 0);
    return check_done();
}
