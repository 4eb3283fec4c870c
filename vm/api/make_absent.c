/* make_absent.c -- defines the functions of executables and libraries in a build without them (vm/base/parts.h). */
#include "devices/bundle.h"
#include "vm/api/make.h"
#include "vm/base/parts.h"
#include "vm/value/machine.h"

qs_status qmake_run(qs_vm *vm, const Make *m) { return (void)m, qparts_absent(qvm_ctx(vm), OPTIONAL_EXECUTABLES); }

qs_status qbundle_open(Ctx *c, const char *path, const char *version, const void *at, size_t n, Bundle **out) {
    return (void)path, (void)version, (void)at, (void)n, (void)out, qparts_absent(c, OPTIONAL_EXECUTABLES);
}

qs_status qbundle_open_file(Ctx *c, const char *path, const char *version, Bundle **out) {
    return (void)path, (void)version, (void)out, qparts_absent(c, OPTIONAL_EXECUTABLES);
}

void qbundle_close(Ctx *c, Bundle *b) { (void)c, (void)b; }

void qbundle_settings(const void *at, size_t n, char *out, size_t room) {
    (void)at, (void)n;
    if (room) *out = 0;
}

bool qbundle_is(const Bundle *b, BundleText t, const char *s, size_t n) {
    return (void)b, (void)t, (void)s, (void)n, false;
}

bool qbundle_code(const Bundle *list, CacheKey key, Text *out) { return (void)list, (void)key, (void)out, false; }

/* No library can be loaded, so there are no errors and no results of one. */
const char *qs_native_error(void) { return "this build has no executables (QUASAR_WITH_EXECUTABLES)"; }
intptr_t qs_native_call(void *library, uint32_t function, va_list ap) {
    return (void)library, (void)ap, function == 0 ? (intptr_t)qs_native_error() : QS_EVALUE;
}

void qs_view_release(qs_view *v) { *v = (qs_view){0}; }
