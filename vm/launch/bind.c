/* bind.c -- turns values into arguments and locks the buffers that contain them, each buffer once. */
#include "vm/launch/run.h"

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

void qbind_text(Binding *b, int i, const char *s, uint32_t n) {
    qbind_memory(b, i, (void *)(uintptr_t)s, n);
    b->locked[b->nlocked - 1].nbytes = n + (size_t)1, b->locked[b->nlocked - 1].mode = QS_READ;
}

/* -- temporary buffers --------------------------------------------------------------------------------------------- */
static void drop_made(const Run *r, Locked *x) {
    if (x->made) qbuf_release(qvm_ctx(r->vm), x->buf);
    x->made = false;
}

static void drop_all_made(Run *r) {
    for (int i = 0; i < r->bound.nlocked; i++) drop_made(r, &r->bound.locked[i]);
}

/* Wraps host memory in buffers for a device with memory of its own; their contents are copied back at the end. */
static qs_status wrap_memory(Run *r) {
    for (int i = 0; i < r->bound.nlocked; i++) {
        Locked *x = &r->bound.locked[i];
        if (x->buf) continue;
        TRY(qbuf_wrap(qvm_ctx(r->vm), &(Wrapped){.data = (uintptr_t)x->host, .nbytes = x->nbytes}, &x->buf));
        x->made = true;
    }
    return QS_OK;
}

/* Do two buffers wrap the same foreign host memory, with a write?  On a device with memory of its own they would be two
 * copies, and the later copy back would overwrite the earlier one.  Such buffers are united for the launch. */
static bool collide(const Locked *x, const Locked *y) {
    bool theirs = x->buf->home == HOST_MEMORY && y->buf->home == HOST_MEMORY;
    return theirs && (x->mode | y->mode) & QS_WRITE && qbuf_overlap(x->buf, y->buf);
}

/* Moves the arguments in buffer `from` to buffer `to`, adding `bytes` to their offsets. */
static void move_args(Run *r, int from, int to, size_t bytes) {
    for (int i = 0; i < qlaunch_func(r)->nparams; i++)
        if (r->bound.arg[i].is_array && r->bound.lock[i] == from)
            r->bound.lock[i] = to, r->bound.arg[i].offset += bytes;
}

/* Replaces buffer i by a union of both; the last buffer moves to index k. */
static qs_status unite(Run *r, int i, int k) {
    Ctx *c = qvm_ctx(r->vm);
    Locked *x = &r->bound.locked[i], *y = &r->bound.locked[k];
    void *p, *q;
    Buffer *both;
    TRY(qbuf_reach_host(c, x->buf, (qs_access)x->mode, &p));
    TRY(qbuf_reach_host(c, y->buf, (qs_access)y->mode, &q));
    uintptr_t xlo = (uintptr_t)p, ylo = (uintptr_t)q, xhi = xlo + x->buf->nbytes, yhi = ylo + y->buf->nbytes;
    uintptr_t lo = xlo < ylo ? xlo : ylo, hi = xhi > yhi ? xhi : yhi;
    TRY(qbuf_wrap(c, &(Wrapped){.data = lo, .nbytes = hi - lo}, &both));
    move_args(r, i, i, xlo - lo);
    move_args(r, k, i, ylo - lo);
    drop_made(r, x), drop_made(r, y);
    *x = (Locked){.buf = both, .mode = QS_READWRITE, .made = true};
    *y = r->bound.locked[--r->bound.nlocked];
    move_args(r, r->bound.nlocked, k, 0);
    return QS_OK;
}

static qs_status check_places(const Run *r) {
    const KFunc *f = qlaunch_func(r);
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        if (!r->bound.arg[i].is_array || !r->bound.locked[r->bound.lock[i]].made) continue;
        if (r->bound.arg[i].offset % qdtype_size(qdtype_real_of((qs_dtype)p->dtype)) == 0) continue;
        return qerr_set(qvm_ctx(r->vm), QS_EVALUE,
                        "%s%s: %s shares memory with an argument whose elements are of another size; pass copy(%s)",
                        r->form->noun, f->name->s, p->name->s, p->name->s);
    }
    return QS_OK;
}

static qs_status unite_all(Run *r) {
    for (int i = 0; i < r->bound.nlocked; i++)
        for (int k = i + 1; k < r->bound.nlocked;) {
            if (!collide(&r->bound.locked[i], &r->bound.locked[k])) {
                k++;
                continue;
            }
            TRY(unite(r, i, k));
            i = 0, k = 1; /* the larger buffer may overlap others */
        }
    return check_places(r);
}

/* -- locks --------------------------------------------------------------------------------------------------------- */
static qs_status unlock_buffers(const Run *r, int n, qs_status s) {
    while (n--) {
        const Locked *x = &r->bound.locked[n];
        if (x->buf) s = qbuf_leave(qvm_ctx(r->vm), x->buf, r->device, (qs_access)x->mode, s);
    }
    return s;
}

/* Reports the failure with the name of the first array in buffer `which`. */
static qs_status lock_failed(const Run *r, int which, qs_status s) {
    const KFunc *f = qlaunch_func(r);
    for (int i = 0; i < f->nparams; i++)
        if (r->bound.arg[i].is_array && r->bound.lock[i] == which && r->bound.array[i])
            return qarr_lock_failed(r->vm, r->bound.array[i], f->params[i].name ? f->params[i].name->s : NULL, s);
    return s;
}

/* The source location of the first statement of a loop that writes to buffer `which`, for a warning about the write. */
static Where writes_at(const Run *r, int which) {
    const KFunc *f = qlaunch_func(r);
    for (int i = 0; i < f->nparams && r->form->spec_kind == SPEC_LOOP; i++)
        if (f->params[i].written && f->params[i].written_at && r->bound.arg[i].is_array && r->bound.lock[i] == which)
            return (Where){f->src, f->params[i].written_at};
    return (Where){NULL, 0};
}

static qs_status touch_each(Run *r) {
    const KFunc *f = qlaunch_func(r);
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].written && r->bound.arg[i].is_array && r->bound.array[i])
            TRY(qarr_touch(r->vm, r->bound.array[i]));
    return QS_OK;
}

static qs_status lock_each(Run *r) {
    const KFunc *f = qlaunch_func(r);
    TRY(touch_each(r));
    if (r->device->memory != HOST_MEMORY) {
        TRY(wrap_memory(r));
        TRY(unite_all(r));
    }
    for (int i = 0; i < r->bound.nlocked; i++) {
        Locked *x = &r->bound.locked[i];
        x->block = (DevPtr)(uintptr_t)x->host;
        if (!x->buf) continue;
        qvm(r->vm)->writes_at = writes_at(r, i);
        qs_status s = qbuf_lock(qvm_ctx(r->vm), x->buf, r->device, (qs_access)x->mode, &x->block);
        qvm(r->vm)->writes_at = (Where){NULL, 0};
        if (s != QS_OK) return lock_failed(r, i, unlock_buffers(r, i, s));
    }
    for (int i = 0; i < f->nparams; i++) {
        DevArg *arg = &r->bound.arg[i];
        if (!arg->is_array) continue;
        const Locked *x = &r->bound.locked[r->bound.lock[i]];
        arg->block = x->block, arg->only_read = x->mode == QS_READ;
    }
    return QS_OK;
}

qs_status qbind_lock(Run *r) {
    qs_status s = lock_each(r);
    if (s != QS_OK) drop_all_made(r);
    return s;
}

qs_status qbind_unlock(Run *r, qs_status s) {
    s = unlock_buffers(r, r->bound.nlocked, s);
    drop_all_made(r);
    return s;
}
