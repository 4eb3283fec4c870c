/* bind.c -- values become arguments; the buffers in which they lie are locked, each once. */
#include "vm/launch/run.h"

void qbind_begin(Binding *b, const Form *f, int version) {
    b->func = f->version[version].func, b->noun = f->noun, b->nlocked = 0;
}

static int add_buffer(Binding *b, Buffer *buf, qs_access mode) {
    int i = 0;
    while (i < b->nlocked && b->locked[i].buf != buf) i++;
    if (i == b->nlocked) b->locked[b->nlocked++] = (Locked){.buf = buf};
    b->locked[i].mode |= (uint8_t)mode;
    return i;
}

DevArg *qbind_array(Binding *b, int i, Array *a, qs_access mode) {
    DevArg *arg = &b->arg[i];
    b->array[i] = a, b->lock[i] = add_buffer(b, a->buf, mode);
    arg->is_array = true, arg->offset = a->offset * qdtype_size((qs_dtype)a->dtype), arg->rank = a->rank;
    for (int d = 0; d < a->rank; d++) arg->dims[d] = a->dims[d], arg->strides[d] = a->strides[d];
    return arg;
}

void qbind_memory(Binding *b, int i, void *p, int64_t n) {
    b->array[i] = NULL, b->lock[i] = b->nlocked;
    b->arg[i].is_array = true, b->arg[i].offset = 0, b->arg[i].rank = 1;
    b->arg[i].dims[0] = n, b->arg[i].strides[0] = 1, b->arg[i].block = (DevPtr)(uintptr_t)p;
    b->locked[b->nlocked++] = (Locked){.host = p, .nbytes = (size_t)n * 8, .mode = QS_READWRITE};
}

/* -- buffers that are made for the launch -------------------------------------------------------------------------- */
static void drop_made(qs_vm *vm, Locked *x) {
    if (x->made) qbuf_release(qvm_ctx(vm), x->buf);
    x->made = false;
}

static void drop_all_made(qs_vm *vm, Binding *b) {
    for (int i = 0; i < b->nlocked; i++) drop_made(vm, &b->locked[i]);
}

/* A device with memory of its own gets what is the host's as a buffer whose contents come home. */
static qs_status wrap_memory(qs_vm *vm, Binding *b) {
    for (int i = 0; i < b->nlocked; i++) {
        Locked *x = &b->locked[i];
        if (x->buf) continue;
        TRY(qbuf_wrap(qvm_ctx(vm), x->host, x->nbytes, false, NULL, NULL, &x->buf));
        x->made = true;
    }
    return QS_OK;
}

/* Two buffers of the same memory of others are two copies on such a device, and what comes home last would undo what
 * the other one brought.  So they are one for the launch. */
static bool collide(const Locked *x, const Locked *y) {
    bool theirs = x->buf->home == HOST_MEMORY && y->buf->home == HOST_MEMORY;
    return theirs && (x->mode | y->mode) & QS_WRITE && qbuf_overlap(x->buf, y->buf);
}

/* The arguments in buffer `from` are in buffer `to`, so many bytes further on. */
static void move_args(Binding *b, int from, int to, size_t bytes) {
    for (int i = 0; i < b->func->nparams; i++)
        if (b->arg[i].is_array && b->lock[i] == from) b->lock[i] = to, b->arg[i].offset += bytes;
}

/* Buffer number i becomes both; the last one takes the place of k. */
static qs_status unite(qs_vm *vm, Binding *b, int i, int k) {
    Locked *x = &b->locked[i], *y = &b->locked[k];
    void *p, *q;
    Buffer *both;
    TRY(qbuf_reach_host(qvm_ctx(vm), x->buf, (qs_access)x->mode, &p));
    TRY(qbuf_reach_host(qvm_ctx(vm), y->buf, (qs_access)y->mode, &q));
    uintptr_t xlo = (uintptr_t)p, ylo = (uintptr_t)q, xhi = xlo + x->buf->nbytes, yhi = ylo + y->buf->nbytes;
    uintptr_t lo = xlo < ylo ? xlo : ylo, hi = xhi > yhi ? xhi : yhi;
    TRY(qbuf_wrap(qvm_ctx(vm), (void *)lo, hi - lo, false, NULL, NULL, &both));
    move_args(b, i, i, xlo - lo);
    move_args(b, k, i, ylo - lo);
    drop_made(vm, x), drop_made(vm, y);
    *x = (Locked){.buf = both, .mode = QS_READWRITE, .made = true};
    *y = b->locked[--b->nlocked];
    move_args(b, b->nlocked, k, 0);
    return QS_OK;
}

static qs_status check_places(qs_vm *vm, const Binding *b) {
    for (int i = 0; i < b->func->nparams; i++) {
        const KParam *p = &b->func->params[i];
        if (!b->arg[i].is_array || !b->locked[b->lock[i]].made) continue;
        if (b->arg[i].offset % qdtype_size(qdtype_real_of((qs_dtype)p->dtype)) == 0) continue;
        return qerr_set(qvm_ctx(vm), QS_EVALUE,
                        "%s%s: %s shares memory with an argument whose elements are of another size; pass copy(%s)",
                        b->noun, b->func->name->s, p->name->s, p->name->s);
    }
    return QS_OK;
}

static qs_status unite_all(qs_vm *vm, Binding *b) {
    for (int i = 0; i < b->nlocked; i++)
        for (int k = i + 1; k < b->nlocked;) {
            if (!collide(&b->locked[i], &b->locked[k])) { k++; continue; }
            TRY(unite(vm, b, i, k));
            i = 0, k = 1; /* what is larger now may reach others */
        }
    return check_places(vm, b);
}

/* -- locks --------------------------------------------------------------------------------------------------------- */
static qs_status leave(qs_vm *vm, Device *d, Binding *b, int n, qs_status s) {
    while (n--)
        if (b->locked[n].buf) s = qbuf_leave(qvm_ctx(vm), b->locked[n].buf, d, (qs_access)b->locked[n].mode, s);
    return s;
}

/* The first array that lies in buffer number `which` names it. */
static qs_status lock_failed(qs_vm *vm, const Binding *b, int which, qs_status s) {
    for (int i = 0; i < b->func->nparams; i++) {
        const Str *name = b->func->params[i].name;
        if (b->arg[i].is_array && b->lock[i] == which && b->array[i])
            return qarr_lock_failed(vm, b->array[i], name ? name->s : NULL, s);
    }
    return s;
}

static qs_status lock_each(qs_vm *vm, Device *d, Binding *b) {
    if (d->memory != HOST_MEMORY) {
        TRY(wrap_memory(vm, b));
        TRY(unite_all(vm, b));
    }
    for (int i = 0; i < b->nlocked; i++) {
        Locked *x = &b->locked[i];
        x->block = (DevPtr)(uintptr_t)x->host;
        qs_status s = x->buf ? qbuf_lock(qvm_ctx(vm), x->buf, d, (qs_access)x->mode, &x->block) : QS_OK;
        if (s != QS_OK) return lock_failed(vm, b, i, leave(vm, d, b, i, s));
    }
    for (int i = 0; i < b->func->nparams; i++)
        if (b->arg[i].is_array) b->arg[i].block = b->locked[b->lock[i]].block;
    return QS_OK;
}

qs_status qbind_lock(qs_vm *vm, Device *d, Binding *b) {
    qs_status s = lock_each(vm, d, b);
    if (s != QS_OK) drop_all_made(vm, b);
    return s;
}

qs_status qbind_unlock(qs_vm *vm, Device *d, Binding *b, qs_status s) {
    s = leave(vm, d, b, b->nlocked, s);
    drop_all_made(vm, b);
    return s;
}
