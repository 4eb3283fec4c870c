/* time.c -- clocks. */
#include "stdlib/stdlib.h"
#include "vm/python.h"

#include <errno.h>
#include <math.h>
#include <time.h>

static double monotonic(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Kernels may still be running on the device: an interval ends when they have. */
static qs_status wait_for_device(qs_vm *vm) {
    Device *d = qvm(vm)->device;
    return d && d->ops->sync ? d->ops->sync(d) : QS_OK;
}

qs_status qtime_tic(qs_vm *vm, qs_call_args *c) {
    (void)c;
    TRY(wait_for_device(vm));
    qlib(vm)->timer = monotonic();
    return QS_OK;
}

/* toc() prints the time since tic(); toc("text") prints it behind the text; toc("") prints nothing.  All give it in ms.
 */
qs_status qtime_toc(qs_vm *vm, qs_call_args *c) {
    const char *text = "Elapsed time: ";
    size_t n = 1;
    TRY(wait_for_device(vm));
    if (qlib(vm)->timer < 0) return qs_fail(vm, QS_EVALUE, "toc: call tic() first");
    double ms = (monotonic() - qlib(vm)->timer) * 1e3;
    if (qarg_given(c, 0)) TRY(qarg_string(vm, "toc", "text", c->in[0], &text, &n));
    c->out[0] = qs_num(ms);
    if (!n) return QS_OK;
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s%s%.6g ms\n", text, qarg_given(c, 0) ? ": " : "", ms);
    qvm_write(vm, t.s, t.len);
    qtext_free(&t);
    return QS_OK;
}

qs_status qtime_time(qs_vm *vm, qs_call_args *c) {
    (void)vm;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    c->out[0] = qs_num((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
    return QS_OK;
}

/* Sleeps in slices, so that an interrupt ends it. */
qs_status qtime_sleep(qs_vm *vm, qs_call_args *c) {
    double ms;
    TRY(qarg_num(vm, "sleep", "ms", c->in[0], &ms));
    if (!(ms >= 0)) return qs_fail(vm, QS_EVALUE, "sleep: ms must be ≥ 0, got %g", ms);
    qpython_unblock(vm);
    for (double end = monotonic() + ms * 1e-3, left; (left = end - monotonic()) > 0 && !qvm(vm)->interrupted;) {
        left = fmin(left, 0.05);
        nanosleep(&(struct timespec){0, (long)(left * 1e9)}, NULL);
    }
    qpython_block(vm);
    return qvm(vm)->interrupted ? qvm_attend(vm) : QS_OK;
}
