/* specialization.c -- creates, loads and frees the specializations of a kernel, a loop or an expression. */
#include "lang/kernel/ir/kir.h"
#include "vm/base/clock.h"
#include "vm/launch/run.h"

#include <string.h>

void *qspec_new(qs_vm *vm, SpecializationList *list, size_t size, const char *noun) {
    Specialization *f = qmem_alloc(qvm_ctx(vm), size);
    f->size = size, f->noun = noun;
    Launches *l = qlaunch_state(vm);
    /* the index in Ctx.fetched, where 0 means none; a shared index only makes predictions worse */
    f->choice.maker = l->makers = (uint8_t)(l->makers % UINT8_MAX + 1);
    f->choice.patience = 1;
    f->next = list->first, list->first = f, list->n++;
    qarena_init(&f->arena, qvm_ctx(vm));
    return f;
}

void qspec_enter(Specialization *f, const CapturedList *e) {
    f->spec_kind = e->spec_kind, f->nentries = e->n;
    f->entries = qarena_alloc(&f->arena, qmem_size((size_t)e->n, sizeof *f->entries, sizeof *f->entries));
    memcpy(f->entries, e->at, (size_t)e->n * sizeof *f->entries);
}

void qspec_set(Specialization *f, int which, const KFunc *func) {
    Version *v = &f->version[which];
    v->func = func, v->nloops = 0, v->checks = false;
    for (uint32_t i = 1; func && i < func->nins; i++) {
        KOp op = func->ins[i].op;
        v->checks |= op == K_CHECK;
        v->nloops += op == K_LOOP || op == K_FOR;
    }
}

qs_status qspec_load(qs_vm *vm, Specialization *f, int which, Device *d, Program **out) {
    Program **p = &f->version[which].on[d - qvm(vm)->devices];
    if (!*p) {
        double start = qclock_ns();
        TRY(qdevprog_get(vm, f->version[which].func, d, p));
        qchoose_made(vm, d, qclock_ns() - start);
    }
    return *out = *p, QS_OK;
}

static void free_specialization(qs_vm *vm, Specialization *f) {
    qspec_free(vm, &f->gradients);
    for (int i = 0; i < MAX_VERSIONS * MAX_DEVICES; i++) {
        Program *p = f->version[i / MAX_DEVICES].on[i % MAX_DEVICES];
        if (p) qdevprog_release(vm, p);
    }
    qcaptured_release(vm, f->entries, f->nentries);
    qarena_free(&f->arena);
    qmem_free(qvm_ctx(vm), f, f->size);
}

static void remove_specialization(qs_vm *vm, SpecializationList *list, Specialization **at) {
    Specialization *f = *at;
    *at = f->next, list->n--;
    if (f->users) f->dropped = true;
    else free_specialization(vm, f);
}

void qspec_let_go(qs_vm *vm, Specialization *f) {
    Specialization *of = f->of;
    if (--f->users == 0 && f->dropped) free_specialization(vm, f);
    if (of) qspec_let_go(vm, of);
}

void qspec_drop_first(qs_vm *vm, SpecializationList *list) { remove_specialization(vm, list, &list->first); }

void qspec_drop_last(qs_vm *vm, SpecializationList *list) {
    Specialization **at = &list->first;
    while ((*at)->next) at = &(*at)->next;
    remove_specialization(vm, list, at);
}

typedef struct {
    Specialization base;
    char key[];
} KeyedSpecialization;

qs_status qspec_find(qs_vm *vm, SpecializationList *list, const void *key, size_t size, KeyedBuild *build,
                     Specialization **out) {
    KFunc *func;
    for (Specialization *f = list->first; f; f = f->next)
        if (!memcmp(((KeyedSpecialization *)f)->key, key, size)) return *out = f, QS_OK;
    KeyedSpecialization *f = qspec_new(vm, list, sizeof *f + size, "");
    memcpy(f->key, key, size);
    qs_status s = build(qvm_ctx(vm), &f->base.arena, key, &func);
    if (s != QS_OK) return qspec_drop_first(vm, list), s;
    return qspec_set(&f->base, 0, func), *out = &f->base, QS_OK;
}

void qspec_free(qs_vm *vm, SpecializationList *list) {
    while (list->n) qspec_drop_first(vm, list);
}
