/* mock_device.c -- see mock_device.h. */
#include "tests/support/mock_device.h"

#include <stdlib.h>
#include <string.h>

/* The header in front of each block stores its size, so that accesses outside the block are detected. */
typedef struct {
    size_t n;
} Block;
struct Program {
    char entry[64];
};

static Block *block_of(DevPtr p) { return (Block *)(uintptr_t)p - 1; }

static qs_status count_operation(Device *d, unsigned *counter, const char *what) {
    MockState *s = d->state;
    ++*counter;
    if (s->fail_after < 0 || s->fail_after-- > 0) return QS_OK;
    return qerr_set(d->ctx, QS_EDEVICE, "%s: %s failed as the test asked", qdev_name(d), what);
}

static int probe(Ctx *c, const char **why) {
    (void)c;
    *why = NULL;
    return 1;
}

static qs_status open_mock(Device *d, int ordinal) {
    MockState *s = qmem_alloc(d->ctx, sizeof *s);
    s->fail_after = -1;
    d->state = s;
    d->ordinal = ordinal;
    d->max_block = 1024;
    memcpy(d->named, "mock", 5);
    return QS_OK;
}

static void close_mock(Device *d) {
    qmem_free(d->ctx, d->state, sizeof(MockState));
    d->state = NULL;
}

static qs_status alloc_block(Device *d, size_t n, DevPtr *out) {
    MockState *s = d->state;
    TRY(count_operation(d, &s->allocs, "alloc"));
    Block *b = s->capacity && s->live + n > s->capacity ? NULL : malloc(sizeof *b + n);
    if (!b) return qerr_set(d->ctx, QS_ENOMEM, "%s: no room for %zu bytes", qdev_name(d), n);
    b->n = n;
    s->live += n;
    *out = (DevPtr)(uintptr_t)(b + 1);
    return QS_OK;
}

static void free_block(Device *d, DevPtr p) {
    MockState *s = d->state;
    s->frees++;
    s->live -= block_of(p)->n;
    free(block_of(p));
}

static bool is_inside(DevPtr p, size_t off, size_t n) { return off <= block_of(p)->n && n <= block_of(p)->n - off; }

static qs_status upload_block(Device *d, DevPtr to, size_t off, const void *from, size_t n) {
    MockState *s = d->state;
    TRY(count_operation(d, &s->uploads, "upload"));
    if (!is_inside(to, off, n)) return qerr_set(d->ctx, QS_EINTERNAL, "%s: upload outside its block", qdev_name(d));
    memcpy((char *)(uintptr_t)to + off, from, n);
    return QS_OK;
}

static qs_status download_block(Device *d, void *to, DevPtr from, size_t off, size_t n) {
    MockState *s = d->state;
    TRY(count_operation(d, &s->downloads, "download"));
    if (!is_inside(from, off, n)) return qerr_set(d->ctx, QS_EINTERNAL, "%s: download outside its block", qdev_name(d));
    memcpy(to, (const char *)(uintptr_t)from + off, n);
    return QS_OK;
}

static qs_status move_bytes(Device *d, DevPtr to, DevPtr from, size_t n) {
    if (!is_inside(to, 0, n) || !is_inside(from, 0, n))
        return qerr_set(d->ctx, QS_EINTERNAL, "%s: copy outside a block", qdev_name(d));
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n);
    return QS_OK;
}

static qs_status copy_block(Device *d, DevPtr to, DevPtr from, size_t n) {
    TRY(count_operation(d, &((MockState *)d->state)->copies, "copy"));
    return move_bytes(d, to, from, n);
}

static qs_status peer(Device *to, DevPtr dst, Device *from, DevPtr src, size_t n) {
    (void)from;
    TRY(count_operation(to, &((MockState *)to->state)->peers, "copy from a device"));
    return move_bytes(to, dst, src, n);
}

static qs_status load_program(Device *d, const Code *code, Program **out) {
    MockState *s = d->state;
    TRY(count_operation(d, &s->loads, "load"));
    Program *p = qmem_alloc(d->ctx, sizeof *p);
    strncpy(p->entry, code->entry ? code->entry : "", sizeof p->entry - 1);
    *out = p;
    return QS_OK;
}

static void unload_program(Device *d, Program *p) { qmem_free(d->ctx, p, sizeof *p); }

static qs_status launch_nothing(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args,
                                DevFault *fault) {
    (void)p, (void)l, (void)nargs, (void)args, (void)fault;
    return count_operation(d, &((MockState *)d->state)->launches, "launch");
}

static qs_status sync_mock(Device *d) { return count_operation(d, &((MockState *)d->state)->syncs, "sync"); }

#define MOCK_OPS                                                                                                       \
    "mock", CODE_KIR, probe, open_mock, close_mock, alloc_block, free_block, upload_block, download_block, copy_block, \
        load_program, unload_program, launch_nothing, sync_mock
const DeviceOps mock_device_ops = {MOCK_OPS, peer, NULL, NULL}, mock_apart_ops = {MOCK_OPS, NULL, NULL, NULL};
