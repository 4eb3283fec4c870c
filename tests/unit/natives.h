/* natives.h -- calling built-ins directly. */
#ifndef TESTS_UNIT_NATIVES_H
#define TESTS_UNIT_NATIVES_H
#include "stdlib/builtins.h"
#include "tests/unit/machine.h"

/* Takes over the references of the arguments. */
static inline qs_status native(qs_vm *vm, qs_native_fn *f, int nin, qs_value *in, int nout, qs_value *out) {
    for (int i = 0; i < nout || i < 1; i++) out[i] = qs_nil();
    qs_call_args c = {nin, nout, in, out, .name = "native"};
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
