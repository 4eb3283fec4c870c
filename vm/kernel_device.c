/* kernel_device.c -- which devices there are, and which one runs kernels. */
#include "devices/heap.h"
#include "vm/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of preference when none was asked for. */
static const DeviceOps *const kinds[] = {&qdev_cpu_ops, &qdev_ref_ops, &qdev_opencl_ops, &qdev_cuda_ops};
enum { NKINDS = sizeof kinds / sizeof *kinds };

static qs_status absent(qs_vm *vm, const char *wanted, const char *why) {
    return qerr_set(qvm_ctx(vm), QS_EDEVICE, "device %s is not there: %s", wanted, why ? why : "none was found");
}

static qs_status unknown(qs_vm *vm, const char *wanted) {
    char list[128] = "";
    for (int i = 0; i < NKINDS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", kinds[i]->kind);
    return qerr_set(qvm_ctx(vm), QS_EDEVICE, "there is no device kind %s; this build has %s", wanted, list);
}

static qs_status open_one(qs_vm *vm, const DeviceOps *ops, int ordinal, const char *wanted) {
    Machine *m = qvm(vm);
    const char *why = NULL;
    int n = ops->probe(&m->base, &why);
    if (ordinal >= n) return absent(vm, wanted, n ? "there are fewer of that kind" : why);
    if (m->ndevices == MAX_DEVICES - 1) return QS_OK;
    Device *d = &m->devices[m->ndevices];
    *d = (Device){.ops = ops, .ctx = &m->base, .stop = &m->interrupted};
    d->memory = m->ndevices + 1; /* its own memory space; host devices set HOST_MEMORY when they open */
    d->limit = m->config.memory_limit;
    TRY(ops->open(d, ordinal));
    m->ndevices++;
    return QS_OK;
}

/* "cuda:1" -> the kind and 1 */
static const DeviceOps *parse(const char *wanted, int *ordinal) {
    const char *colon = strchr(wanted, ':');
    size_t n = colon ? (size_t)(colon - wanted) : strlen(wanted);
    *ordinal = colon ? atoi(colon + 1) : 0;
    for (int i = 0; i < NKINDS; i++)
        if (strlen(kinds[i]->kind) == n && !memcmp(kinds[i]->kind, wanted, n)) return kinds[i];
    return NULL;
}

bool qkrn_has(const char *kind) {
    Ctx c;
    const char *why;
    int n = 0;
    qctx_init(&c, 32);
    for (int i = 0; i < NKINDS; i++)
        if (!strcmp(kinds[i]->kind, kind)) n = kinds[i]->probe(&c, &why);
    qctx_close(&c);
    return n > 0;
}

static qs_status open_default(qs_vm *vm) {
    for (int i = 0; i < NKINDS; i++)
        if (open_one(vm, kinds[i], 0, kinds[i]->kind) == QS_OK) return QS_OK;
        else if (i + 1 < NKINDS) qerr_clear(qvm_ctx(vm));
    return qvm_ctx(vm)->err.status;
}

/* The device asked for comes first and runs kernels; the processor is always there as well. */
qs_status qkrn_open_devices(qs_vm *vm, const char *wanted) {
    Machine *m = qvm(vm);
    int ordinal = 0;
    bool any = !wanted || !*wanted || !strcmp(wanted, "auto");
    const DeviceOps *ops = any ? NULL : parse(wanted, &ordinal);
    if (m->devices) return QS_OK;
    if (!any && !ops) return unknown(vm, wanted);
    m->devices = qmem_alloc(&m->base, MAX_DEVICES * sizeof *m->devices);
    qs_status s = any ? open_default(vm) : open_one(vm, ops, ordinal, wanted);
    if (s != QS_OK) return qkdevice_close(vm), s;
    m->device = &m->devices[0];
    if (m->device->memory == HOST_MEMORY) return QS_OK;
    ErrorState kept = m->base.err;
    if (open_one(vm, &qdev_cpu_ops, 0, "cpu") != QS_OK) m->base.err = kept;
    return QS_OK;
}

qs_status qkdevice_current(qs_vm *vm, Device **out) {
    if (!qvm(vm)->device) TRY(qkrn_open_devices(vm, qvm(vm)->config.device));
    return *out = qvm(vm)->device, QS_OK;
}

/* 256 positions, the last axis first because memory is contiguous along it; no axis longer than the domain needs. */
void qkdevice_block(const Device *d, int rank, const int64_t *domain, int32_t *block) {
    int32_t left = d->max_block < 256 ? d->max_block : 256;
    for (int i = rank - 1; i >= 0; i--) {
        int32_t b = 1, most = rank > 1 && left > 16 && i == rank - 1 ? 16 : left;
        while (2 * b <= most && b < domain[i]) b *= 2;
        block[i] = b, left /= b;
    }
}

void qkdevice_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    for (int i = 0; i < m->ndevices; i++) {
        qheap_close(&m->devices[i]);
        m->devices[i].ops->close(&m->devices[i]);
    }
    if (m->devices) qmem_free(&m->base, m->devices, MAX_DEVICES * sizeof *m->devices);
    m->devices = m->device = NULL;
    m->ndevices = 0;
}
