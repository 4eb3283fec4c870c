/* device_program.c -- turns a KIR function into a program on a device.
 *
 *     KFunc ── found by its hash ── or compiled, printed if --dump requests it, and loaded */
#include "lang/kernel/target.h"
#include "vm/launch/run.h"
#include "vm/program/python.h"

#include <string.h>

typedef struct Loaded {
    struct Loaded *next;
    uint64_t hash;
    Device *device;
    Program *program;
    int users;
} Loaded;

static Loaded *find_loaded(const Launches *k, const Device *d, uint64_t hash) {
    if (d->ops->code == CODE_KIR) return NULL; /* the program is the KFunc itself */
    for (Loaded *l = k->loaded; l; l = l->next)
        if (l->hash == hash && l->device == d) return l;
    return NULL;
}

static void add_loaded(qs_vm *vm, Device *d, uint64_t hash, Program *p) {
    Loaded *l = qmem_alloc(qvm_ctx(vm), sizeof *l);
    *l = (Loaded){qvm(vm)->launches->loaded, hash, d, p, 1};
    qvm(vm)->launches->loaded = l;
}

static KCompiler *compiler_of(qs_vm *vm) {
    Launches *k = qlaunch_state(vm);
    if (k->compiler) return k->compiler;
    k->compiler = kcompile_open(qvm_ctx(vm), qvm(vm)->config.cache_dir);
    qcache_consult(kcompile_cache(k->compiler), &qvm(vm)->bundles);
    return k->compiler;
}

Cache *qdevprog_cache(qs_vm *vm) { return kcompile_cache(compiler_of(vm)); }

void qdevprog_listen(qs_vm *vm, CacheListener *f, void *ud) {
    Launches *k = qlaunch_state(vm);
    k->listener = f, k->listener_ud = ud;
}

int qdevprog_libc(void) { return ktarget_libc(); }

/* Turns the cache listener on or off.  It receives code for the requested targets and binaries that drivers make from
 * text, but not the code for this computer that the program runs with meanwhile. */
static void listen(qs_vm *vm, bool on) {
    const Launches *k = qvm(vm)->launches;
    if (k->listener) qcache_listen(kcompile_cache(compiler_of(vm)), on ? k->listener : NULL, k->listener_ud);
}

static qs_status compile_for(qs_vm *vm, const KFunc *f, const TargetName *t) {
    Code code;
    KCompiler *k = compiler_of(vm);
    if (kcompile_differs(f, t->kind) || (f->small && t->kind != CODE_PTX)) return QS_OK;
    listen(vm, true);
    qs_status s = kcompile_ahead(k, f, t->name, &code);
    listen(vm, false);
    if (s) return s;
    if (t->kind == CODE_PTX) qreport_code(vm, &code);
    kcompile_free(k, &code);
    return QS_OK;
}

qs_status qdevprog_compile_ahead(qs_vm *vm, const KFunc *f) {
    const char *list = qvm(vm)->config.compile_for;
    TargetName t;
    while (list && ktarget_next(&list, &t)) TRY(compile_for(vm, f, &t));
    return QS_OK;
}

/* Compiles code that a driver refused again, with source positions, so that the second error has the statement's
 * location.  If that is impossible, the first error is returned. */
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

static qs_status make_program(KCompiler *compiler, const KFunc *f, Device *d, Program **out) {
    Code code;
    TRY(kcompile(compiler, f, d, &code));
    qs_status s = d->ops->load(d, &code, out);
    kcompile_free(compiler, &code);
    return s == QS_EDEVICE && kcompile_locates(code.kind) && f->src ? load_located(compiler, f, d, out) : s;
}

qs_status qdevprog_get(qs_vm *vm, const KFunc *f, Device *d, Program **out) {
    Loaded *known = find_loaded(qlaunch_state(vm), d, f->hash);
    if (known) return known->users++, *out = known->program, QS_OK;
    KCompiler *compiler = compiler_of(vm);
    TRY(qdevprog_compile_ahead(vm, f));
    TRY(qreport_show(vm, compiler, f, d));
    qpython_unblock(vm); /* this takes milliseconds unless the disk cache has the code */
    listen(vm, kcompile_locates(d->ops->code) || d->ops->code == CODE_OPENCL);
    qs_status status = make_program(compiler, f, d, out);
    listen(vm, false);
    qpython_block(vm);
    if (status != QS_OK && f->src) qerr_location(qvm_ctx(vm), (Where){f->src, f->ins[1].pos});
    if (status == QS_OK) add_loaded(vm, d, f->hash, *out);
    return status;
}

/* Does nothing when the VM closes: qdevprog_close has unloaded all programs. */
void qdevprog_release(qs_vm *vm, Program *p) {
    if (!qvm(vm)->launches) return;
    Loaded **at = &qvm(vm)->launches->loaded;
    while (*at && (*at)->program != p) at = &(*at)->next;
    Loaded *l = *at;
    if (!l || --l->users) return;
    *at = l->next;
    l->device->ops->unload(l->device, p);
    qmem_free(qvm_ctx(vm), l, sizeof *l);
}

void qdevprog_close(qs_vm *vm) {
    Launches *k = qvm(vm)->launches;
    while (k->loaded) k->loaded->users = 1, qdevprog_release(vm, k->loaded->program);
    if (k->compiler) kcompile_close(k->compiler);
}
