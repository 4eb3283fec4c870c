/* host.c -- implements device operations on host memory. */
#include "devices/host.h"

#include "devices/pool.h"

#include <string.h>

int qhost_probe(Ctx *c, const char **why) {
    (void)c;
    *why = NULL;
    return 1;
}

/* A header in front of each block stores its size, because DeviceOps.free does not get it. */
enum { HEADER = 64 };

qs_status qhost_alloc(Device *d, size_t n, DevPtr *out) {
    char *p = qpool_get(d->ctx, qmem_size(n, 1, HEADER));
    if (!p) return qerr_set(d->ctx, QS_ENOMEM, "%s: no memory for %zu bytes", d->ops->kind, n);
    memcpy(p, &n, sizeof n);
    *out = (DevPtr)(uintptr_t)(p + HEADER);
    return QS_OK;
}

void qhost_free(Device *d, DevPtr p) {
    size_t n;
    if (!p) return;
    memcpy(&n, qhost_ptr(p) - HEADER, sizeof n);
    qpool_put(d->ctx, qhost_ptr(p) - HEADER, n + HEADER);
}

qs_status qhost_upload(Device *d, DevPtr to, size_t off, const void *from, size_t n) {
    (void)d;
    memcpy(qhost_ptr(to) + off, from, n);
    return QS_OK;
}

qs_status qhost_download(Device *d, void *to, DevPtr from, size_t off, size_t n) {
    (void)d;
    memcpy(to, qhost_ptr(from) + off, n);
    return QS_OK;
}

qs_status qhost_copy(Device *d, DevPtr to, DevPtr from, size_t n) {
    (void)d;
    memmove(qhost_ptr(to), qhost_ptr(from), n);
    return QS_OK;
}

qs_status qhost_sync(Device *d) {
    (void)d;
    return QS_OK;
}
