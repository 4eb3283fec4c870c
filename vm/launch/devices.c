/* devices.c -- opens and lists devices, and keeps track of the one that runs kernels. */
#include "devices/config.h"
#include "devices/heap.h"
#include "devices/pool.h"
#include "lang/kernel/target.h"
#include "vm/array/device_math.h"
#include "vm/launch/run.h"

#include <stdio.h>
#include <string.h>

/* In order of preference if no device was requested. */
static const DeviceOps *const kinds[] = {&qdev_cpu_ops, &qdev_ref_ops, &qdev_opencl_ops, &qdev_cuda_ops};
enum { NKINDS = sizeof kinds / sizeof *kinds };

static qs_status absent(qs_vm *vm, const char *wanted, const char *why) {
    return qerr_set(qvm_ctx(vm), QS_EDEVICE, "device %s is not there: %s", wanted, why ? why : "none was found");
}

static qs_status unknown_type(qs_vm *vm, const char *wanted) {
    char list[128] = "";
    for (int i = 0; i < NKINDS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", kinds[i]->kind);
    return qerr_set(qvm_ctx(vm), QS_EDEVICE,
                    "there is no device kind %s; this build has %s, gpu and auto (AMD GPUs are reached by opencl)",
                    wanted, list);
}

static const DeviceOps *kind_named(const char *name) {
    for (int i = 0; i < NKINDS; i++)
        if (!strcmp(kinds[i]->kind, name)) return kinds[i];
    return NULL;
}

static bool is_kind(const char *name, size_t n) {
    char kind[16];
    snprintf(kind, sizeof kind, "%.*s", (int)n, name);
    return n < sizeof kind && (kind_named(kind) || !strcmp(kind, "gpu"));
}

bool qdevices_are_kinds(const char *list) {
    const char *end = strrchr(list, '.');
    if (end && !strcmp(end, ".xml")) return true;
    if (!strcmp(list, "auto")) return true;
    if (!strncmp(list, "auto:", 5)) list += 5;
    for (; is_kind(list, strcspn(list, ":,")); list += 1) {
        list += strcspn(list, ",");
        if (!*list) return true;
    }
    return false;
}

/* Returns a device with a memory space of its own; host devices set HOST_MEMORY when they open. */
static Device blank(Machine *m, const DeviceOps *ops, const DeviceWish *w, int memory) {
    return (Device){.ops = ops,
                    .ctx = &m->base,
                    .stop = &m->interrupted,
                    .waits = &m->waits,
                    .memory = memory,
                    .threads = w->threads ? w->threads : m->config.threads,
                    .limit = w->memory ? w->memory : m->config.memory_limit};
}

static Device *find_open(Machine *m, const DeviceOps *ops, int ordinal) {
    for (int i = 0; i < m->ndevices; i++)
        if (m->devices[i].ops == ops && m->devices[i].ordinal == ordinal) return &m->devices[i];
    return NULL;
}

static qs_status open_wish(qs_vm *vm, const DeviceWish *w, Device **out) {
    Machine *m = qvm(vm);
    const DeviceOps *ops = kind_named(w->kind);
    char wanted[32];
    const char *why = NULL;
    if (!ops) return unknown_type(vm, w->kind);
    if ((*out = find_open(m, ops, w->ordinal))) return QS_OK;
    snprintf(wanted, sizeof wanted, w->ordinal ? "%s:%d" : "%s", w->kind, w->ordinal);
    int n = ops->probe(&m->base, &why);
    if (w->ordinal >= n) return absent(vm, wanted, n ? "there are fewer of that kind" : why);
    if (m->ndevices == MAX_DEVICES - 1)
        return qerr_set(&m->base, QS_EDEVICE, "device %s: %d others are open already", wanted, m->ndevices);
    Device *d = &m->devices[m->ndevices];
    *d = blank(m, ops, w, m->ndevices + 1);
    TRY(ops->open(d, w->ordinal));
    m->ndevices++, m->held = HELD_UNKNOWN;
    return *out = d, QS_OK;
}

bool qdevices_has(const char *kind) {
    Ctx c;
    const char *why;
    int n = 0;
    qctx_init(&c, 32);
    for (int i = 0; i < NKINDS; i++)
        if (!strcmp(kinds[i]->kind, kind)) n = kinds[i]->probe(&c, &why);
    qctx_close(&c);
    return n > 0;
}

bool qdevices_are_targets(const char *list) {
    TargetName t;
    while (ktarget_next(&list, &t)) continue;
    return !*list;
}

bool qdevices_next_target(const char **list, char name[TARGET_NAME]) {
    TargetName t;
    if (!ktarget_next(list, &t)) return false;
    memcpy(name, t.name, sizeof t.name);
    return true;
}

static void report_device(qs_vm *vm, const char *device, const char *why) {
    char line[512];
    int n = snprintf(line, sizeof line, "kernels run on %s: %s\n", device, why);
    qvm_diagnostic(vm, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

/* -- opening ------------------------------------------------------------------------------------------------------- */
/* Opens the processor as the first device, whichever device runs kernels, so that device numbers are stable. */
static qs_status open_processor(qs_vm *vm, const DeviceWishes *w) {
    DeviceWish cpu = {.kind = "cpu"};
    const DeviceWish *wish = &cpu;
    Device *d;
    for (int i = w->n - 1; i >= 0; i--)
        if (!strcmp(w->at[i].kind, "cpu") || (!strcmp(w->at[i].kind, "ref") && w->n == 1)) wish = &w->at[i];
    return open_wish(vm, wish, &d);
}

static DeviceWish wish_for(const DeviceOps *ops, int ordinal) {
    DeviceWish w = {.ordinal = ordinal};
    snprintf(w.kind, sizeof w.kind, "%s", ops->kind);
    return w;
}

/* Opens the GPUs of one type, all or the first, and appends the reasons for failures to `why`; returns their number. */
static int open_gpus_of(qs_vm *vm, const DeviceOps *ops, bool all, Text *why) {
    Machine *m = qvm(vm);
    const char *none = NULL;
    int n = ops->probe(&m->base, &none), opened = 0;
    for (int i = 0; i < n && (all || !opened) && m->ndevices < MAX_DEVICES - 1; i++) {
        DeviceWish w = wish_for(ops, i);
        Device *d;
        bool fresh = !find_open(m, ops, i);
        if (open_wish(vm, &w, &d) != QS_OK) {
            qtext_printf(why, "; %s:%d: %s", ops->kind, i, m->base.err.text);
            qerr_clear(&m->base);
            continue;
        }
        opened += d->wide;
        if (!d->wide && fresh) ops->close(d), m->ndevices--;
    }
    if (n > 0) none = "its devices are no GPUs";
    if (!opened) qtext_printf(why, "; %s: %s", ops->kind, none ? none : "none was found");
    return opened;
}

/* Opens the GPUs, all or the first.  OpenCL is used last, because it would list CUDA devices again. */
static int open_gpus(qs_vm *vm, bool all, Text *why) {
    static const DeviceOps *const gpus[] = {&qdev_cuda_ops, &qdev_opencl_ops};
    int n = 0;
    qtext_puts(why, "no GPU is here");
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus && !n; i++) n = open_gpus_of(vm, gpus[i], all, why);
    return n;
}

static Device *first_gpu(Machine *m) {
    for (int i = 0; i < m->ndevices; i++)
        if (m->devices[i].wide) return &m->devices[i];
    return NULL;
}

static qs_status open_first_gpu(qs_vm *vm, Device **out) {
    Machine *m = qvm(vm);
    Text why;
    qtext_init(&why, &m->base);
    qs_status s = QS_OK;
    if (open_gpus(vm, false, &why)) *out = first_gpu(m);
    else s = qerr_set(&m->base, QS_EDEVICE, "%s", why.s);
    qtext_free(&why);
    return s;
}

static qs_status open_any(qs_vm *vm, const DeviceWish *w, Device **out) {
    return strcmp(w->kind, "gpu") ? open_wish(vm, w, out) : open_first_gpu(vm, out);
}

static qs_status open_listed(qs_vm *vm, const DeviceWishes *w) {
    Machine *m = qvm(vm);
    for (int i = 0; i < w->n; i++)
        if (strcmp(w->at[i].kind, "gpu") != 0 && !kind_named(w->at[i].kind)) return unknown_type(vm, w->at[i].kind);
    TRY(open_processor(vm, w));
    for (int i = 0; i < w->n; i++) {
        Device *d;
        TRY(open_any(vm, &w->at[i], &d));
        if (i == 0) m->device = d;
    }
    return QS_OK;
}

/* Opens the processor and every GPU; reports if there is no GPU. */
static qs_status open_present(qs_vm *vm) {
    Text why;
    TRY(open_processor(vm, &(DeviceWishes){.n = 0}));
    qtext_init(&why, qvm_ctx(vm));
    if (!open_gpus(vm, true, &why)) report_device(vm, qvm(vm)->devices[0].ops->kind, why.s);
    qtext_free(&why);
    return QS_OK;
}

/* Opens the first device type that works; reports if that is not the preferred one. */
static qs_status open_default(qs_vm *vm) {
    Ctx *c = qvm_ctx(vm);
    char why[QERR_TEXT] = "";
    for (int i = 0; i < NKINDS; i++) {
        DeviceWish w = wish_for(kinds[i], 0);
        Device *d;
        if (open_wish(vm, &w, &d) == QS_OK) {
            if (i > 0) report_device(vm, kinds[i]->kind, why);
            return QS_OK;
        }
        if (!*why) memcpy(why, c->err.text, sizeof why);
        if (i + 1 < NKINDS) qerr_clear(c);
    }
    return c->err.status;
}

static qs_status open_wishes(qs_vm *vm, const DeviceWishes *w) {
    Machine *m = qvm(vm);
    TRY(w->n ? open_listed(vm, w) : w->automatic ? open_present(vm) : open_default(vm));
    if (!m->device) m->device = &m->devices[0];
    m->automatic = w->automatic && m->ndevices > 1;
    /* if other devices compute, the limit applies to them, and the host takes the arrays that do not fit there */
    if (m->device->memory == HOST_MEMORY && !m->automatic) qpool_set_limit(&m->base, m->device->limit);
    return QS_OK;
}

static qs_status parse_wishes(qs_vm *vm, const char *wanted, DeviceWishes *w) {
    Text warnings;
    qtext_init(&warnings, qvm_ctx(vm));
    qs_status s = qconfig_parse(qvm_ctx(vm), wanted, w, &warnings);
    if (s == QS_OK && warnings.len && !qvm_ctx(vm)->no_warnings) qvm_diagnostic(vm, warnings.s, warnings.len);
    qtext_free(&warnings);
    return s;
}

qs_status qdevices_open(qs_vm *vm, const char *wanted) {
    Machine *m = qvm(vm);
    DeviceWishes w = {.n = 0};
    if (m->devices) return QS_OK;
    if (wanted && *wanted) TRY(parse_wishes(vm, wanted, &w));
    m->devices = qmem_alloc(&m->base, MAX_DEVICES * sizeof *m->devices);
    qs_status s = open_wishes(vm, &w);
    if (s != QS_OK) qdevices_close(vm);
    return s;
}

qs_status qdevices_current(qs_vm *vm, Device **out) {
    if (!qvm(vm)->device) TRY(qdevices_open(vm, qvm(vm)->config.device));
    return *out = qvm(vm)->device, QS_OK;
}

qs_status qdevices_get(qs_vm *vm, int index, Device **out) {
    TRY(qdevices_open(vm, qvm(vm)->config.device));
    if (index < 0 || index >= qvm(vm)->ndevices)
        return qerr_set(qvm_ctx(vm), QS_EDEVICE, "there is no device %d (%d are open)", index, qvm(vm)->ndevices);
    return *out = &qvm(vm)->devices[index], QS_OK;
}

/* -- choosing ------------------------------------------------------------------------------------------------------ */
qs_status qdevices_use(qs_vm *vm, int index) {
    Machine *m = qvm(vm);
    Device *d;
    TRY(qdevices_get(vm, index, &d));
    m->device = d, m->automatic = false;
    return QS_OK;
}

static void open_gpus_quietly(qs_vm *vm) {
    Text why;
    qtext_init(&why, qvm_ctx(vm));
    (void)open_gpus(vm, true, &why);
    qtext_free(&why);
}

qs_status qdevices_use_named(qs_vm *vm, const char *wanted) {
    Machine *m = qvm(vm);
    DeviceWishes w;
    Device *first = NULL, *d;
    TRY(qdevices_open(vm, m->config.device));
    TRY(parse_wishes(vm, wanted, &w));
    if (w.automatic && !w.n) open_gpus_quietly(vm);
    for (int i = 0; i < w.n; i++) {
        TRY(open_any(vm, &w.at[i], &d));
        if (!first) first = d;
    }
    if (first) m->device = first;
    m->automatic = w.automatic && m->ndevices > 1;
    return QS_OK;
}

int qdevices_used(qs_vm *vm) {
    const Machine *m = qvm(vm);
    return m->automatic || !m->device ? -1 : (int)(m->device - m->devices);
}

qs_status qdevices_sync(qs_vm *vm, int index) {
    Device *d;
    qctx_let_go(qvm_ctx(vm));
    if (index >= 0) {
        TRY(qdevices_get(vm, index, &d));
        return d->ops->sync(d);
    }
    for (int i = 0; i < qvm(vm)->ndevices; i++) TRY(qvm(vm)->devices[i].ops->sync(&qvm(vm)->devices[i]));
    return QS_OK;
}

/* -- listing ------------------------------------------------------------------------------------------------------- */
static void list_device(qs_vm *vm, const DeviceOps *ops, int ordinal, Text *t) {
    const Device *current = qvm(vm)->device;
    DeviceWish w = wish_for(ops, ordinal);
    Device d = blank(qvm(vm), ops, &w, 1);
    ErrorState kept = qvm_ctx(vm)->err;
    qs_status s = ops->open(&d, ordinal);
    bool runs = current && current->ops == ops && current->ordinal == ordinal;
    qtext_printf(t, "%c %s:%d  %s%s\n", runs ? '*' : ' ', ops->kind, ordinal, s ? "cannot be opened: " : "",
                 s ? qvm_ctx(vm)->err.text : qdev_name(&d));
    if (s) qvm_ctx(vm)->err = kept;
    else ops->close(&d);
}

void qdevices_list(qs_vm *vm, Text *t) {
    qs_device_count(vm); /* opens the device that runs kernels */
    for (int i = 0; i < NKINDS; i++) {
        const char *why = NULL;
        int n = kinds[i]->probe(qvm_ctx(vm), &why);
        for (int k = 0; k < n; k++) list_device(vm, kinds[i], k, t);
        if (n <= 0) qtext_printf(t, "  %s  not here: %s\n", kinds[i]->kind, why ? why : "none was found");
    }
}

/* Uses 256 positions, last axis first because memory is contiguous along it; no axis is longer than the domain
 * needs. */
void qdevices_block(const Device *d, int rank, const int64_t *domain, int32_t *block) {
    int32_t left = d->max_block < 256 ? d->max_block : 256;
    for (int i = rank - 1; i >= 0; i--) {
        int32_t b = 1, most = rank > 1 && left > 16 && i == rank - 1 ? 16 : left;
        while (2 * b <= most && b < domain[i]) b *= 2;
        block[i] = b, left /= b;
    }
}

void qdevices_forked(qs_vm *vm) {
    Machine *m = qvm(vm);
    qasync_forget(vm);
    for (int i = 0; i < m->ndevices; i++) {
        Device *d = &m->devices[i];
        if (d->memory == HOST_MEMORY) continue;
        d->ops = &qdev_lost_ops;
        d->math = NULL, d->recording = NULL;
    }
}

void qdevices_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    for (int i = 0; i < m->ndevices; i++) {
        qheap_close(&m->devices[i]);
        m->devices[i].ops->close(&m->devices[i]);
    }
    if (m->devices) qmem_free(&m->base, m->devices, MAX_DEVICES * sizeof *m->devices);
    m->devices = m->device = NULL;
    m->ndevices = 0, m->automatic = false;
}
