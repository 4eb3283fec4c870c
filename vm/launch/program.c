/* program.c -- from a function in KIR to a program on a device.
 *
 *     KFunc ── found by its hash ── or compiled, shown where --dump asks for it, loaded */
#include "vm/launch/run.h"
#include "vm/session/python.h"

#include <stdio.h>
#include <string.h>

typedef struct Loaded { struct Loaded *next; uint64_t hash; Device *device; Program *program; int users; } Loaded;

static Loaded *find_loaded(const Launches *k, const Device *d, uint64_t hash) {
    if (d->ops->code == CODE_KIR) return NULL; /* such a program is the KFunc itself */
    for (Loaded *l = k->loaded; l; l = l->next)
        if (l->hash == hash && l->device == d) return l;
    return NULL;
}

static void remember(qs_vm *vm, Device *d, uint64_t hash, Program *p) {
    Loaded *l = qmem_alloc(qvm_ctx(vm), sizeof *l);
    *l = (Loaded){qvm(vm)->launches->loaded, hash, d, p, 1};
    qvm(vm)->launches->loaded = l;
}

qs_status qprogram_compile_ahead(qs_vm *vm, const KFunc *f) {
    Launches *k = qlaunch_state(vm);
    Code code;
    if (!qvm(vm)->config.compile_for || kcompile_differs(f, CODE_PTX)) return QS_OK;
    if (!k->compiler) k->compiler = kcompile_open(qvm_ctx(vm), qvm(vm)->config.cache_dir);
    TRY(kcompile_ahead(k->compiler, f, qvm(vm)->config.compile_for, &code));
    qreport_code(vm, &code);
    kcompile_free(k->compiler, &code);
    return QS_OK;
}

/* Code that a driver refuses is made once more, with positions, and refused again: then the error has the statement's
 * place.  Where it cannot be made, the first error stands. */
static qs_status load_located(KCompiler *compiler, const KFunc *f, Device *d, Program **out) {
    Ctx *c = d->ctx;
    ErrorState first = c->err;
    Code code;
    qerr_clear(c);
    qs_status s = kcompile_located(compiler, f, d, &code);
    if (s == QS_OK) {
        s = d->ops->load(d, &code, out);
        kcompile_free(compiler, &code);
    } else c->err = first, s = QS_EDEVICE;
    return s;
}

static qs_status make(KCompiler *compiler, const KFunc *f, Device *d, Program **out) {
    Code code;
    TRY(kcompile(compiler, f, d, &code));
    qs_status s = d->ops->load(d, &code, out);
    kcompile_free(compiler, &code);
    return s == QS_EDEVICE && kcompile_locates(code.kind) && f->src ? load_located(compiler, f, d, out) : s;
}

qs_status qprogram_get(qs_vm *vm, const KFunc *f, Device *d, Program **out) {
    Launches *k = qlaunch_state(vm);
    Loaded *known = find_loaded(k, d, f->hash);
    if (known) return known->users++, *out = known->program, QS_OK;
    if (!k->compiler) k->compiler = kcompile_open(qvm_ctx(vm), qvm(vm)->config.cache_dir);
    TRY(qprogram_compile_ahead(vm, f));
    TRY(qreport_show(vm, k->compiler, f, d));
    qpython_unblock(vm); /* it takes some milliseconds, unless the cache on disk has it */
    qs_status status = make(k->compiler, f, d, out);
    qpython_block(vm);
    if (status != QS_OK && f->src) qerr_place(qvm_ctx(vm), (Where){f->src, f->ins[1].pos});
    if (status == QS_OK) remember(vm, d, f->hash, *out);
    return status;
}

/* When the machine ends its programs go first, and then what they were made of. */
void qprogram_release(qs_vm *vm, Program *p) {
    if (!qvm(vm)->launches) return;
    Loaded **at = &qvm(vm)->launches->loaded;
    while (*at && (*at)->program != p) at = &(*at)->next;
    Loaded *l = *at;
    if (!l || --l->users) return;
    *at = l->next;
    l->device->ops->unload(l->device, p);
    qmem_free(qvm_ctx(vm), l, sizeof *l);
}

void qprogram_close(qs_vm *vm) {
    Launches *k = qvm(vm)->launches;
    while (k->loaded) k->loaded->users = 1, qprogram_release(vm, k->loaded->program);
    if (k->compiler) kcompile_close(k->compiler);
}
