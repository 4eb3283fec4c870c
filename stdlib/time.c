/* time.c -- implements timers, sleep and calendar functions. */
#include "stdlib/builtins.h"
#include "vm/base/clock.h"
#include "vm/launch/launch.h"
#include "vm/program/python.h"

#include <math.h>
#include <time.h>

/* Waits for running kernels, which belong to the measured interval. */
static qs_status wait_for_device(qs_vm *vm) { return qdevices_sync(vm, -1); }

qs_status qtime_tic(qs_vm *vm, qs_call_args *c) {
    (void)c;
    TRY(wait_for_device(vm));
    qlib(vm)->timer = qclock_seconds();
    return QS_OK;
}

/* toc() prints the time since tic(); toc("text") prints it after the text; toc("") prints nothing.  All return ms. */
qs_status qtime_toc(qs_vm *vm, qs_call_args *c) {
    const char *text = "Elapsed time: ";
    size_t n = 1;
    TRY(wait_for_device(vm));
    if (qlib(vm)->timer < 0) return qs_fail(vm, QS_EVALUE, "toc: call tic() first");
    double ms = (qclock_seconds() - qlib(vm)->timer) * 1e3;
    if (qarg_given(c, 0)) TRY(qarg_string(vm, c->name, "text", c->in[0], &text, &n));
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

/* Sleeps in slices, so that an interrupt ends it early. */
qs_status qtime_sleep(qs_vm *vm, qs_call_args *c) {
    double ms;
    TRY(qarg_num(vm, c->name, "ms", c->in[0], &ms));
    if (!(ms >= 0)) return qs_fail(vm, QS_EVALUE, "sleep: ms must be ≥ 0, got %g", ms);
    for (double end = qclock_seconds() + ms * 1e-3, left; (left = end - qclock_seconds()) > 0;)
        TRY(qthread_sleep(vm, left));
    return qflag_is_up(&qvm(vm)->interrupted) ? qvm_attend(vm) : QS_OK;
}

/* -- dates: seconds since 1970 to calendar fields, local unless the last argument asks for UTC --------------------- */
static qs_status wants_utc(qs_vm *vm, qs_call_args *c, int i, bool *utc) {
    double x = 0;
    if (qarg_given(c, i)) TRY(qarg_num(vm, c->name, "utc", c->in[i], &x));
    *utc = x != 0;
    return QS_OK;
}

/* strftime(format [, t [, utc]]) */
qs_status qtime_strftime(qs_vm *vm, qs_call_args *c) {
    const char *format;
    size_t n;
    struct tm date;
    bool utc;
    qs_value now = qs_nil();
    qs_call_args clock = {.nout = 1, .out = &now, .name = c->name};
    TRY(qtime_time(vm, &clock));
    double t = now.u.f;
    TRY(qarg_string(vm, c->name, "format", c->in[0], &format, &n));
    if (qarg_given(c, 1)) TRY(qarg_num(vm, c->name, "t", c->in[1], &t));
    TRY(wants_utc(vm, c, 2, &utc));
    if (!(fabs(t) < 1e15)) return qs_fail(vm, QS_EVALUE, "strftime: t must be seconds since 1970, got %g", t);
    time_t whole = (time_t)floor(t);
    if (!(utc ? gmtime_r(&whole, &date) : localtime_r(&whole, &date)))
        return qs_fail(vm, QS_EVALUE, "strftime: no date is at %g seconds", t);
    char text[1024] = "";
    n = n ? strftime(text, sizeof text, format, &date) : 0;
    if (!n && *format) return qs_fail(vm, QS_EVALUE, "strftime: the date is empty or longer than 1023 bytes");
    return qs_string(vm, text, n, &c->out[0]);
}

/* strptime(text, format [, utc]) */
qs_status qtime_strptime(qs_vm *vm, qs_call_args *c) {
    const char *text, *format;
    struct tm date = {.tm_mday = 1, .tm_year = 70, .tm_isdst = -1};
    bool utc;
    TRY(qarg_string(vm, c->name, "text", c->in[0], &text, NULL));
    TRY(qarg_string(vm, c->name, "format", c->in[1], &format, NULL));
    TRY(wants_utc(vm, c, 2, &utc));
    const char *end = strptime(text, format, &date);
    if (!end || *end) return qs_fail(vm, QS_EVALUE, "strptime: \"%s\" is not a date of the form \"%s\"", text, format);
    date.tm_isdst = -1;
    c->out[0] = qs_num((double)(utc ? timegm(&date) : mktime(&date)));
    return QS_OK;
}
