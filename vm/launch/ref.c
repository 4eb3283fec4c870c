/* ref.c -- implements the reference device: the evaluator runs KIR on host memory.  Slow, exact, always available. */
#include "devices/host.h"
#include "lang/kernel/ir/kfunc.h"
#include "lang/kernel/ir/kir.h"

#include <stdio.h>
#include <string.h>

struct Program {
    const KFunc *func;
};

_Static_assert(sizeof(KFault) == sizeof(DevFault) && offsetof(KFault, at) == offsetof(DevFault, at), "one layout");

static qs_status open_device(Device *d, int ordinal) {
    d->ordinal = ordinal, d->memory = HOST_MEMORY, d->max_block = 1024;
    snprintf(d->named, sizeof d->named, "reference evaluator");
    return QS_OK;
}

static void close_device(Device *d) { (void)d; }

static qs_status load_program(Device *d, const Code *code, Program **out) {
    TRY(kir_verify(d->ctx, code->bytes));
    *out = qmem_alloc(d->ctx, sizeof **out);
    (*out)->func = code->bytes;
    return QS_OK;
}

static void unload_program(Device *d, Program *p) { qmem_free(d->ctx, p, sizeof *p); }

static KArg make_argument(const DevArg *a) {
    KArg k = {.data = a->is_array ? qhost_ptr(a->block) + a->offset : NULL, .bits = a->bits};
    memcpy(k.dims, a->dims, sizeof k.dims);
    memcpy(k.strides, a->strides, sizeof k.strides);
    return k;
}

static qs_status launch_program(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args,
                                DevFault *fault) {
    KLaunch kl = {.rank = l->rank};
    memcpy(kl.domain, l->domain, sizeof kl.domain);
    memcpy(kl.block, l->block, sizeof kl.block);
    KArg *k = qmem_alloc(d->ctx, qmem_size((size_t)nargs, sizeof *k, 0));
    for (int i = 0; i < nargs; i++) k[i] = make_argument(&args[i]);
    qs_status s = keval_run(d->ctx, p->func, k, &kl, (KFault *)fault, d->stop);
    qmem_free(d->ctx, k, (size_t)nargs * sizeof *k);
    return s;
}

const DeviceOps qdev_ref_ops = {"ref",          CODE_KIR,     qhost_probe,    open_device, close_device, qhost_alloc,
                                qhost_free,     qhost_upload, qhost_download, qhost_copy,  load_program, unload_program,
                                launch_program, qhost_sync,   NULL,           NULL,        NULL};
