/* kernel_device.c -- which devices there are, and which one runs kernels. */
#include "devices/heap.h"
#include "devices/ptx.h"
#include "vm/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of preference when none was asked for. */
static const DeviceOps *const kinds[] = {&qdev_cpu_ops, &qdev_ref_ops, &qdev_opencl_ops, &qdev_cuda_ops};
enum { NKINDS = sizeof kinds / sizeof *kinds };

static const DeviceOps *const gpus[] = {&qdev_cuda_ops, &qdev_opencl_ops};
enum { NGPUS = sizeof gpus / sizeof *gpus };

static qs_status absent(qs_vm *vm, const char *wanted, const char *why) {
    return qerr_set(qvm_ctx(vm), QS_EDEVICE, "device %s is not there: %s", wanted, why ? why : "none was found");
}

static qs_status unknown(qs_vm *vm, const char *wanted) {
    char list[128] = "";
    for (int i = 0; i < NKINDS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", kinds[i]->kind);
    return qerr_set(qvm_ctx(vm), QS_EDEVICE, "there is no device kind %s; this build has %s", wanted, list);
}

/* With a memory space of its own; host devices set HOST_MEMORY when they open. */
static Device blank(Machine *m, const DeviceOps *ops, int memory) {
    return (Device){
        .ops = ops, .ctx = &m->base, .stop = &m->interrupted, .memory = memory, .limit = m->config.memory_limit};
}

static qs_status open_one(qs_vm *vm, const DeviceOps *ops, int ordinal, const char *wanted) {
    Machine *m = qvm(vm);
    const char *why = NULL;
    int n = ops->probe(&m->base, &why);
    if (ordinal >= n) return absent(vm, wanted, n ? "there are fewer of that kind" : why);
    if (m->ndevices == MAX_DEVICES - 1) return QS_OK;
    Device *d = &m->devices[m->ndevices];
    *d = blank(m, ops, m->ndevices + 1);
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

bool qkrn_is_target(const char *name) {
    int n = 0, end = 0;
    return sscanf(name, "sm_%d%n", &n, &end) == 1 && !name[end] && n > 0 && qptx_target(n) == n;
}

static void tell(qs_vm *vm, const char *device, const char *why) {
    char line[512];
    int n = snprintf(line, sizeof line, "kernels run on %s: %s\n", device, why);
    qvm_diagnostic(vm, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

/* The first kind that opens; that it is not the first of all is said. */
static qs_status open_default(qs_vm *vm) {
    Ctx *c = qvm_ctx(vm);
    char why[QERR_TEXT] = "";
    for (int i = 0; i < NKINDS; i++) {
        if (open_one(vm, kinds[i], 0, kinds[i]->kind) == QS_OK) {
            if (i > 0) tell(vm, kinds[i]->kind, why);
            return QS_OK;
        }
        if (!*why) memcpy(why, c->err.text, sizeof why);
        if (i + 1 < NKINDS) qerr_clear(c);
    }
    return c->err.status;
}

/* The first device of the kind that is a GPU; else why there is none is added to `why`. */
static bool open_gpu_of(qs_vm *vm, const DeviceOps *ops, Text *why) {
    Machine *m = qvm(vm);
    const char *none = NULL;
    int n = ops->probe(&m->base, &none);
    for (int i = 0; i < n; i++) {
        if (open_one(vm, ops, i, ops->kind) == QS_OK) {
            if (m->devices[0].wide) return true;
            ops->close(&m->devices[--m->ndevices]);
            continue;
        }
        qtext_printf(why, "; %s:%d: %s", ops->kind, i, m->base.err.text);
        qerr_clear(&m->base);
    }
    if (n > 0) none = "its devices are no GPUs";
    qtext_printf(why, "; %s: %s", ops->kind, none ? none : "none was found");
    return false;
}

/* A GPU; when `must` is false and there is none, the device that runs when none is asked for, which is said. */
static qs_status open_gpu(qs_vm *vm, bool must) {
    Text why;
    qtext_init(&why, qvm_ctx(vm));
    qtext_puts(&why, "no GPU is here");
    qs_status s = QS_OK;
    for (int i = 0; i < NGPUS && !qvm(vm)->ndevices; i++) open_gpu_of(vm, gpus[i], &why);
    if (!qvm(vm)->ndevices && must) s = qerr_set(qvm_ctx(vm), QS_EDEVICE, "%s", why.s);
    if (!qvm(vm)->ndevices && !must && (s = open_default(vm)) == QS_OK) tell(vm, qvm(vm)->devices[0].ops->kind, why.s);
    qtext_free(&why);
    return s;
}

static qs_status open_wanted(qs_vm *vm, const char *wanted) {
    int ordinal = 0;
    if (!wanted || !*wanted) return open_default(vm);
    if (!strcmp(wanted, "gpu") || !strcmp(wanted, "auto")) return open_gpu(vm, *wanted == 'g');
    const DeviceOps *ops = parse(wanted, &ordinal);
    return ops ? open_one(vm, ops, ordinal, wanted) : unknown(vm, wanted);
}

/* The device asked for comes first and runs kernels; the processor is always there as well. */
qs_status qkrn_open_devices(qs_vm *vm, const char *wanted) {
    Machine *m = qvm(vm);
    if (m->devices) return QS_OK;
    m->devices = qmem_alloc(&m->base, MAX_DEVICES * sizeof *m->devices);
    qs_status s = open_wanted(vm, wanted);
    if (s != QS_OK) return qkdevice_close(vm), s;
    m->device = &m->devices[0];
    if (m->device->memory == HOST_MEMORY) return QS_OK;
    ErrorState kept = m->base.err;
    if (open_one(vm, &qdev_cpu_ops, 0, "cpu") != QS_OK) m->base.err = kept;
    return QS_OK;
}

static void describe(qs_vm *vm, const DeviceOps *ops, int ordinal, Text *t) {
    const Device *current = qvm(vm)->device;
    Device d = blank(qvm(vm), ops, 1);
    ErrorState kept = qvm_ctx(vm)->err;
    qs_status s = ops->open(&d, ordinal);
    bool runs = current && current->ops == ops && current->ordinal == ordinal;
    qtext_printf(t, "%c %s:%d  %s%s\n", runs ? '*' : ' ', ops->kind, ordinal, s ? "cannot be opened: " : "",
                 s ? qvm_ctx(vm)->err.text : d.name);
    if (s) qvm_ctx(vm)->err = kept;
    else ops->close(&d);
}

void qkrn_list_devices(qs_vm *vm, Text *t) {
    qs_device_count(vm); /* opens the one that runs kernels */
    for (int i = 0; i < NKINDS; i++) {
        const char *why = NULL;
        int n = kinds[i]->probe(qvm_ctx(vm), &why);
        for (int k = 0; k < n; k++) describe(vm, kinds[i], k, t);
        if (n <= 0) qtext_printf(t, "  %s  not here: %s\n", kinds[i]->kind, why ? why : "none was found");
    }
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
