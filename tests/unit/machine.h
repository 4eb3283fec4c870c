/* machine.h -- a minimal VM for unit tests of vm: values, arrays and errors work, no program runs. */
#ifndef TESTS_UNIT_MACHINE_H
#define TESTS_UNIT_MACHINE_H
#include "tests/unit/check.h"
#include "vm/array/array.h"
#include "vm/value/machine.h"

#include <stdlib.h>

__attribute__((weak)) const char *qs_type_name(qs_vm *vm, qs_value v) { return qval_type_name(vm, v); }

static inline qs_vm *machine_open(void) {
    Machine *m = calloc(1, sizeof *m);
    qctx_init(&m->base, 32);
    m->fuse_least = SIZE_MAX, m->loop_least = INT64_MAX; /* nothing is compiled */
    return (qs_vm *)m;
}

/* Everything was released: only the memory of the context itself is left, and it is freed with the context. */
static inline void machine_close(qs_vm *vm) {
    qgc_collect(vm);
    CHECK(qvm(vm)->gc_count == 0);
    qctx_close(qvm_ctx(vm));
    CHECK(qvm_ctx(vm)->bytes == 0);
    free(vm);
}

static inline qs_value make_string(qs_vm *vm, const char *s) {
    return qval_object(QS_STRING, qstr_new(qvm_ctx(vm), s, strlen(s)));
}

/* A number as an element of type d: bool takes true and false only. */
static inline qs_value as_element(qs_dtype d, double x) { return qs_num(d == QS_B1 ? x != 0 : x); }

static inline Array *make_array(qs_vm *vm, qs_dtype d, int rank, const int64_t *dims, const double *x) {
    Array *a = NULL;
    CHECK(qarr_new(vm, d, rank, dims, true, &a) == QS_OK);
    for (size_t i = 0; x && i < a->count; i++) CHECK(qarr_put(vm, a, i, as_element(d, x[i])) == QS_OK);
    return a;
}

static inline qs_value make_vec(qs_vm *vm, qs_dtype d, int n, const double *x) {
    return qarr_value(make_array(vm, d, 1, (int64_t[]){n}, x));
}

/* A cell of ?? that takes over the references of its items. */
static inline qs_value make_cell(qs_vm *vm, int n, const qs_value *items) {
    Cell *c = NULL;
    CHECK(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, (int64_t[]){n}, &c) == QS_OK);
    for (int i = 0; i < n; i++) c->items[i] = items[i];
    return qval_object(QS_CELL, c);
}

static inline const Type *named(qs_vm *vm, const char *name) { return qtype_builtin(qvm_ctx(vm), name); }

/* Checks that the last error has this status and this message; clears it. */
static inline void check_error(qs_vm *vm, qs_status got, qs_status want, const char *text, const char *file, int line) {
    check_report(got == want, file, line, "status");
    check_text(qvm_ctx(vm)->err.text, text, file, line, "sentence");
    qerr_clear(qvm_ctx(vm));
}
#define CHECK_ERROR(vm, expr, status, text) check_error(vm, expr, status, text, __FILE__, __LINE__)
#endif
