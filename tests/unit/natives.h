/* natives.h -- calling built-ins directly. */
#ifndef TESTS_UNIT_NATIVES_H
#define TESTS_UNIT_NATIVES_H
#include "stdlib/stdlib.h"
#include "tests/unit/machine.h"

__attribute__((weak)) qs_status qs_fail(qs_vm *vm, qs_status s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    qerr_vset(qvm_ctx(vm), s, (Where){NULL, 0}, fmt, ap);
    va_end(ap);
    return s;
}
__attribute__((weak)) const char *qs_to_string(qs_value v, size_t *n) {
    if (v.kind != QS_STRING) return NULL;
    if (n) *n = ((Str *)v.u.p)->len;
    return ((Str *)v.u.p)->s;
}
__attribute__((weak)) qs_status qs_string(qs_vm *vm, const char *s, size_t n, qs_value *out) {
    return *out = qval_object(QS_STRING, qstr_new(qvm_ctx(vm), s, n)), QS_OK;
}

__attribute__((weak)) qs_status qs_to_int(qs_vm *vm, qs_value v, int64_t *out) {
    (void)vm;
    return *out = (int64_t)qval_number(v), QS_OK;
}

__attribute__((weak)) qs_status qs_foreign(qs_vm *vm, const qs_foreign_type *t, void *p, qs_value *out) {
    (void)t, (void)p, (void)out;
    return qs_fail(vm, QS_EINTERNAL, "no foreign values in a bare machine");
}
__attribute__((weak)) void *qs_foreign_ptr(qs_value v, const qs_foreign_type *t) { return (void)v, (void)t, NULL; }

/* Takes the references of the arguments. */
static inline qs_status native(qs_vm *vm, qs_native_fn *f, int nin, qs_value *in, int nout, qs_value *out) {
    for (int i = 0; i < nout || i < 1; i++) out[i] = qs_nil();
    qs_call_args c = {nin, nout, in, out, 0, NULL};
    qs_status s = f(vm, &c);
    for (int i = 0; i < nin; i++) qval_release(vm, in[i]);
    return s;
}
static inline qs_value native1(qs_vm *vm, qs_native_fn *f, qs_value x) {
    qs_value out;
    CHECK(native(vm, f, 1, &x, 1, &out) == QS_OK);
    return out;
}
#endif
