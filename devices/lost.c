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
static qs_status alloc_lost(Device *d, size_t n, DevPtr *out) { return (void)n, (void)out, lost(d); }
static void forget_block(Device *d, DevPtr p) { (void)d, (void)p; }
static qs_status upload_lost(Device *d, DevPtr p, size_t off, const void *from, size_t n) {
    return (void)p, (void)off, (void)from, (void)n, lost(d);
}
static qs_status download_lost(Device *d, void *to, DevPtr p, size_t off, size_t n) {
    return (void)to, (void)p, (void)off, (void)n, lost(d);
}
static qs_status copy_lost(Device *d, DevPtr to, DevPtr from, size_t n) {
    return (void)to, (void)from, (void)n, lost(d);
}
static qs_status load_lost(Device *d, const Code *code, Program **out) { return (void)code, (void)out, lost(d); }
static void unload_lost(Device *d, Program *p) { (void)d, (void)p; }
static qs_status launch_lost(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    return (void)p, (void)l, (void)nargs, (void)args, (void)fault, lost(d);
}

static DevPtr queue(Device *d) { return (void)d, 0; }
static qs_status order(Device *d, DevPtr theirs, bool back) { return (void)theirs, (void)back, lost(d); }
static int ordinal(Device *d, DevPtr p) { return (void)d, (void)p, -1; }
static qs_status move_lost(Device *d, DevPtr to, DevPtr from, size_t n) {
    return (void)to, (void)from, (void)n, lost(d);
}
static void release_nothing(void *owner) { (void)owner; }
static qs_status outlive(Device *d, DevPtr p, void (**release)(void *), void **owner) {
    return (void)d, (void)p, *release = release_nothing, *owner = NULL, QS_OK;
}
static const SharingOps sharing = {queue, order, ordinal, move_lost, outlive, NULL, NULL};

const DeviceOps qdev_lost_ops = {.kind = "lost",
                                 .code = CODE_KIR,
                                 .probe = probe,
                                 .open = open_lost,
                                 .close = close_lost,
                                 .alloc = alloc_lost,
                                 .free = forget_block,
                                 .upload = upload_lost,
                                 .download = download_lost,
                                 .copy = copy_lost,
                                 .load = load_lost,
                                 .unload = unload_lost,
                                 .launch = launch_lost,
                                 .sync = lost,
                                 .sharing = &sharing};
