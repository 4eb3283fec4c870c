/* form.c -- the list of forms of a region: loops of the program (loop.c), array expressions (fuse.c). */
#include "vm/launch/form.h"

#include "vm/launch/run.h"

void *qvariants_new(qs_vm *vm, Variants *list, size_t size) {
    Variant *v = qmem_alloc(qvm_ctx(vm), size);
    v->size = size;
    v->next = list->last, list->last = v, list->n++;
    qarena_init(&v->arena, qvm_ctx(vm));
    return v;
}

/* When the machine ends its kernels go first, with every program that is loaded. */
static void unload(qs_vm *vm, Variant *v, int which) {
    if (v->on[which].program && qvm(vm)->kernels) qprogram_release(vm, v->on[which].program);
    v->on[which].program = NULL;
}

qs_status qvariants_load(qs_vm *vm, Variant *v, int which, const KFunc *f, Device *d, Program **out) {
    if (v->on[which].device != d) unload(vm, v, which);
    v->on[which].device = d;
    if (!v->on[which].program) TRY(qprogram_get(vm, f, d, &v->on[which].program));
    return *out = v->on[which].program, QS_OK;
}

static void drop(qs_vm *vm, Variant *v) {
    for (int i = 0; i < VARIANT_PROGRAMS; i++) unload(vm, v, i);
    qarena_free(&v->arena);
    qmem_free(qvm_ctx(vm), v, v->size);
}

void qvariants_drop_oldest(qs_vm *vm, Variants *list) {
    Variant **at = &list->last;
    if (!*at) return;
    while ((*at)->next) at = &(*at)->next;
    drop(vm, *at);
    *at = NULL, list->n--;
}

void qvariants_free(qs_vm *vm, Variants *list) {
    while (list->n) qvariants_drop_oldest(vm, list);
}
