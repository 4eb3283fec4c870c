/* saved_arrays.c -- saves array contents that a backward or forward pass reads again.
 *
 * A snapshot is a separate array on the same memory.  The buffer is marked (Buffer.kept), and locking it for writing
 * first moves its snapshots to one copy of the old contents.  So nothing is copied unless it is overwritten, and the
 * code that writes need not know about snapshots. */
#include "vm/interp/interp.h"
#include "vm/tape/tape_internal.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_BUCKETS = 64 };

static size_t bucket(const Tape *t, const Buffer *b) {
    return (size_t)((uintptr_t)b / 64 * 0x9e3779b97f4a7c15u >> 20) & (t->nbuckets - 1);
}

/* -- the table of snapshots ---------------------------------------------------------------------------------------- */
static void grow_table(Ctx *c, Tape *t) {
    size_t old_n = t->nbuckets;
    Kept **old = t->kept;
    t->nbuckets = old_n ? 2 * old_n : FIRST_BUCKETS;
    t->kept = qmem_alloc(c, qmem_size(t->nbuckets, sizeof *t->kept, 0));
    for (size_t i = 0; i < old_n; i++)
        for (Kept *k = old[i], *next; k; k = next) {
            Kept **at = &t->kept[bucket(t, k->a->buf)];
            next = k->next;
            k->next = *at, *at = k;
        }
    qmem_free(c, old, old_n * sizeof *old);
}

static void add_snapshot(qs_vm *vm, Array *a) {
    Ctx *c = qvm_ctx(vm);
    Tape *t = qtape_state(vm);
    if (t->nkept == t->nbuckets) grow_table(c, t);
    Kept *k = qmem_alloc(c, sizeof *k), **at = &t->kept[bucket(t, a->buf)];
    *k = (Kept){*at, a};
    *at = k;
    t->nkept++;
    a->hdr.flags |= ARRAY_KEPT;
    a->buf->kept = true;
}

static Kept *take_out(Tape *t, Kept **at) {
    Kept *k = *at;
    *at = k->next;
    t->nkept--;
    return k;
}

static bool any_left(const Tape *t, const Buffer *b) {
    for (const Kept *k = t->kept[bucket(t, b)]; k; k = k->next)
        if (k->a->buf == b) return true;
    return false;
}

void qsaved_forget(qs_vm *vm, Array *a) {
    Tape *t = qtape_state(vm);
    Buffer *b = a->buf;
    Kept **at = &t->kept[bucket(t, b)];
    while ((*at)->a != a) at = &(*at)->next;
    qmem_free(qvm_ctx(vm), take_out(t, at), sizeof(Kept));
    b->kept = any_left(t, b) || qbuf_mark(b);
}

/* Moves the snapshots of b to a copy. */
qs_status qsaved_before_write(Ctx *c, Buffer *b) {
    Tape *t = ((Machine *)c)->tape;
    Buffer *copy;
    Kept *moved = NULL;
    TRY(qconverted_written(c, b));
    if (!t->nbuckets || !any_left(t, b)) return b->kept = false, QS_OK;
    TRY(qbuf_clone(c, b, &copy));
    for (Kept **at = &t->kept[bucket(t, b)]; *at;)
        if ((*at)->a->buf == b) {
            Kept *k = take_out(t, at);
            k->next = moved, moved = k;
        } else {
            at = &(*at)->next;
        }
    while (moved) {
        Kept *k = moved, **at = &t->kept[bucket(t, copy)];
        moved = k->next;
        qbuf_retain(copy);
        k->a->buf = copy;
        k->next = *at, *at = k;
        t->nkept++;
        qbuf_release(c, b);
    }
    copy->kept = true;
    b->kept = false;
    qbuf_release(c, copy);
    return QS_OK;
}

/* -- snapshots ----------------------------------------------------------------------------------------------------- */
static bool same_view(const Array *a, const Array *b) {
    size_t n = a->rank * sizeof *a->dims;
    return a->buf == b->buf && a->trace == b->trace && a->dtype == b->dtype && a->rank == b->rank &&
           a->ndim == b->ndim && a->offset == b->offset && !memcmp(a->dims, b->dims, n) &&
           !memcmp(a->strides, b->strides, n);
}

/* Finds an equal snapshot, so that a loop which reads an array repeatedly saves it once. */
static Array *there_is(const Tape *t, const Array *a) {
    if (!t->nbuckets || !a->buf->kept) return NULL;
    for (Kept *k = t->kept[bucket(t, a->buf)]; k; k = k->next)
        if (same_view(k->a, a)) return k->a;
    return NULL;
}

static qs_status alias_array(qs_vm *vm, Array *a, Array **out) {
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    int ndim = qarr_shape(a, dims, strides);
    TRY(qarr_alias(vm, a, ndim, dims, strides, a->offset, out));
    (*out)->contiguous = a->contiguous;
    return QS_OK;
}

static qs_status keep_array(qs_vm *vm, Array *a, bool traced, qs_value *out) {
    Array *x;
    if (traced && (x = there_is(qtape_state(vm), a))) return *out = qval_retain(qarr_value(x)), QS_OK;
    TRY(alias_array(vm, a, &x));
    add_snapshot(vm, x);
    if (traced) x->trace = qtape_retain(a->trace);
    return *out = qarr_value(x), QS_OK;
}

qs_status qtape_keep(qs_vm *vm, qs_value v, qs_value *out) {
    if (v.kind == QS_ARRAY) return keep_array(vm, v.u.p, true, out);
    return *out = qval_retain(v), QS_OK;
}

qs_status qtape_keep_plain(qs_vm *vm, qs_value v, qs_value *out) {
    if (v.kind == QS_ARRAY) return keep_array(vm, v.u.p, false, out);
    return *out = qval_retain(qtape_plain(v)), QS_OK;
}

qs_status qtape_own(qs_vm *vm, qs_value *v) {
    Array *a = v->u.p, *own;
    if (v->kind != QS_ARRAY || (a->hdr.refs == 1 && !qtape_is_kept(*v))) return QS_OK;
    TRY(alias_array(vm, a, &own));
    own->trace = qtape_retain(a->trace);
    qarr_release(vm, a);
    return *v = qarr_value(own), QS_OK;
}

/* The strides are 0, because the memory holds one element only. */
qs_status qtape_keep_shape(qs_vm *vm, qs_value v, qs_value *out) {
    const int64_t one = 1, none[QS_MAX_RANK] = {0};
    int64_t dims[QS_MAX_RANK];
    Array *zero, *x;
    if (v.kind != QS_ARRAY) return *out = qval_retain(qtape_plain(v)), QS_OK;
    TRY(qarr_new(vm, (qs_dtype)qval_array(v)->dtype, 1, &one, true, &zero));
    qs_status s = qarr_alias(vm, zero, qarr_shape(v.u.p, dims, NULL), dims, none, 0, &x);
    qarr_release(vm, zero);
    if (s == QS_OK) *out = qarr_value(x);
    return s;
}

/* Snapshots do not count as other users: they are moved to a copy. */
qs_status qtape_check_alone(qs_vm *vm, Array *a, const char *name) {
    char what[96];
    snprintf(what, sizeof what, "writing into %s", name ? name : "this array");
    if (qview_has_relatives(a))
        return qtape_refuse(vm, "changing an array in place of which Python has another view",
                            "while derivatives are taken a view is a copy, and would keep the old elements; write "
                            "x = x + y, or change a copy");
    if (a->buf->home >= 0)
        return qtape_refuse(vm, what,
                            "it is memory of others, as of NumPy or torch, who would read what is written as "
                            "a constant; write into zeros_like(x), or copy(x)");
    if (a->buf->kept) TRY(qsaved_before_write(qvm_ctx(vm), a->buf));
    if (!qbuf_shared(a->buf)) return QS_OK;
    return qtape_refuse(vm, what, "another array shares its memory, and would change unseen; write into copy(…)");
}
