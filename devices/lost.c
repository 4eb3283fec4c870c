/* lost.c -- replaces devices with their own memory in the child of a fork.
 *
 * The driver's threads and queues do not exist in the child, so a call of the driver would wait for ever.  Therefore
 * every operation fails with an error that says what to do instead.  Host copies of arrays can still be read, and
 * freeing a block does nothing. */
#include "devices/device.h"

static qs_status lost(Device *d) {
    return qerr_set(d->ctx, QS_EDEVICE,
                    "%s was opened before this process forked and cannot be used here: open a machine after the fork "
                    "(in Python: destroy(), then init()), or start processes without fork",
                    qdev_name(d));
}

static int probe(Ctx *c, const char **why) {
    (void)c;
    *why = "it was lost in a fork";
    return 0;
}
static qs_status open_lost(Device *d, int ordinal) { return (void)ordinal, lost(d); }
static void close_lost(Device *d) { (void)d; }
static qs_status alloc(Device *d, size_t n, DevPtr *out) { return (void)n, (void)out, lost(d); }
static void forget(Device *d, DevPtr p) { (void)d, (void)p; }
static qs_status upload(Device *d, DevPtr p, size_t off, const void *from, size_t n) {
    return (void)p, (void)off, (void)from, (void)n, lost(d);
}
static qs_status download(Device *d, void *to, DevPtr p, size_t off, size_t n) {
    return (void)to, (void)p, (void)off, (void)n, lost(d);
}
static qs_status copy(Device *d, DevPtr to, DevPtr from, size_t n) { return (void)to, (void)from, (void)n, lost(d); }
static qs_status load(Device *d, const Code *code, Program **out) { return (void)code, (void)out, lost(d); }
static void unload(Device *d, Program *p) { (void)d, (void)p; }
static qs_status launch(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    return (void)p, (void)l, (void)nargs, (void)args, (void)fault, lost(d);
}

static DevPtr queue(Device *d) { return (void)d, 0; }
static qs_status order(Device *d, DevPtr theirs, bool back) { return (void)theirs, (void)back, lost(d); }
static int ordinal(Device *d, DevPtr p) { return (void)d, (void)p, -1; }
static qs_status move(Device *d, DevPtr to, DevPtr from, size_t n) { return (void)to, (void)from, (void)n, lost(d); }
static void nothing(void *owner) { (void)owner; }
static qs_status outlive(Device *d, DevPtr p, void (**release)(void *), void **owner) {
    return (void)d, (void)p, *release = nothing, *owner = NULL, QS_OK;
}
static const SharingOps sharing = {queue, order, ordinal, move, outlive, NULL, NULL};

const DeviceOps qdev_lost_ops = {.kind = "lost",
                                 .code = CODE_KIR,
                                 .probe = probe,
                                 .open = open_lost,
                                 .close = close_lost,
                                 .alloc = alloc,
                                 .free = forget,
                                 .upload = upload,
                                 .download = download,
                                 .copy = copy,
                                 .load = load,
                                 .unload = unload,
                                 .launch = launch,
                                 .sync = lost,
                                 .sharing = &sharing};
