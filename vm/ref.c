/* ref.c -- the reference device: KIR as it is, run by the evaluator on host memory.  Slow, exact, always there. */
#include "devices/device.h"
#include "lang/kernel/kir.h"

#include <stdio.h>
#include <string.h>

struct Program { const KFunc *func; };

_Static_assert(sizeof(KFault) == sizeof(DevFault) && offsetof(KFault, at) == offsetof(DevFault, at), "one layout");

static int probe(Ctx *c, const char **why) {
    (void)c, *why = NULL;
    return 1;
}

static qs_status open_device(Device *d, int ordinal) {
    d->ordinal = ordinal, d->memory = HOST_MEMORY, d->max_block = 1024;
    snprintf(d->name, sizeof d->name, "reference evaluator");
    return QS_OK;
}

static void close_device(Device *d) { (void)d; }

/* A block begins with its size, because free is not told it. */
enum { HEADER = 64 };

static qs_status alloc(Device *d, size_t n, DevPtr *out) {
    char *p = n > SIZE_MAX - HEADER ? NULL : qmem_try(d->ctx, n + HEADER);
    if (!p) return qerr_set(d->ctx, QS_ENOMEM, "ref: no memory for %zu bytes", n);
    memcpy(p, &n, sizeof n);
    *out = (DevPtr)(uintptr_t)(p + HEADER);
    return QS_OK;
}

static char *host(DevPtr p) { return (char *)(uintptr_t)p; }

static void release(Device *d, DevPtr p) {
    size_t n;
    if (!p) return;
    memcpy(&n, host(p) - HEADER, sizeof n);
    qmem_try_free(d->ctx, host(p) - HEADER, n + HEADER);
}

static qs_status upload(Device *d, DevPtr dst, size_t off, const void *src, size_t n) {
    (void)d;
    memcpy(host(dst) + off, src, n);
    return QS_OK;
}

static qs_status download(Device *d, void *dst, DevPtr src, size_t off, size_t n) {
    (void)d;
    memcpy(dst, host(src) + off, n);
    return QS_OK;
}

static qs_status copy(Device *d, DevPtr dst, DevPtr src, size_t n) {
    (void)d;
    memmove(host(dst), host(src), n);
    return QS_OK;
}

static qs_status load(Device *d, const Code *code, Program **out) {
    TRY(kir_verify(d->ctx, code->bytes));
    *out = qmem_alloc(d->ctx, sizeof **out);
    (*out)->func = code->bytes;
    return QS_OK;
}

static void unload(Device *d, Program *p) { qmem_free(d->ctx, p, sizeof *p); }

static KArg argument(const DevArg *a) {
    KArg k = {.data = a->is_array ? host(a->block) + a->offset : NULL, .bits = a->bits};
    memcpy(k.dims, a->dims, sizeof k.dims);
    memcpy(k.strides, a->strides, sizeof k.strides);
    return k;
}

static qs_status launch(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    KLaunch kl = {.rank = l->rank};
    memcpy(kl.domain, l->domain, sizeof kl.domain);
    memcpy(kl.block, l->block, sizeof kl.block);
    KArg *k = qmem_alloc(d->ctx, (size_t)nargs * sizeof *k);
    for (int i = 0; i < nargs; i++) k[i] = argument(&args[i]);
    qs_status s = keval_run(d->ctx, p->func, k, &kl, (KFault *)fault, d->stop);
    qmem_free(d->ctx, k, (size_t)nargs * sizeof *k);
    return s;
}

static qs_status sync(Device *d) {
    (void)d;
    return QS_OK;
}

const DeviceOps qdev_ref_ops = {"ref",  CODE_KIR, probe, open_device, close_device, alloc,  release,
                                upload, download, copy,  load,        unload,       launch, sync, NULL};
