/* kernel.c -- launches: parallel_do and serial_do.
 *
 *     arguments ── signatures ── a specialisation (found, or made once)
 *               ── parameters bound, buffers locked ── the device runs it ── unlocked; a fault becomes an error
 *
 * A launch that was seen before allocates nothing. */
#include "vm/launch/run.h"
#include "vm/session/python.h"

#include <math.h>
#include <string.h>

/* -- the domain -------------------------------------------------------------------------------------------------- */
static qs_status whole_extent(qs_vm *vm, const char *fn, const char *what, double x, int axis, int64_t *out) {
    if (x >= 0 && x == floor(x) && x <= 0x1p53) return *out = (int64_t)x, QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: the %s along dimension %d must be a whole number ≥ 0, got %g", fn,
                    what, axis, x);
}

static qs_status block_extent(qs_vm *vm, const char *fn, double x, int axis, int32_t *out) {
    int64_t n = 0;
    TRY(whole_extent(vm, fn, "block", x, axis, &n));
    if (n < 1 || n > INT32_MAX)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: the block along dimension %d must be ≥ 1, got %g", fn, axis, x);
    return *out = (int32_t)n, QS_OK;
}

/* [d0,d1,…], or two rows: the size and the block */
static qs_status extents_of(qs_vm *vm, const char *fn, Array *a, Request *r) {
    const void *p;
    bool rows = a->rank == 2 && a->dims[0] == 2;
    size_t n = rows ? (size_t)a->dims[1] : a->count;
    if (n < 1 || n > QS_MAX_RANK || (a->rank == 2 && !rows && a->dims[1] != 1))
        return qerr_set(qvm_ctx(vm), QS_ESHAPE,
                        "%s: the size must be 1 to 8 numbers, or two rows of them: size and block", fn);
    TRY(qarr_read(vm, a, &p));
    size_t bytes = qdtype_size((qs_dtype)a->dtype);
    r->rank = (int)n, r->explicit_block = rows;
    for (int i = 0; i < r->rank; i++) {
        const char *at = (const char *)p + qarr_offset(a, (size_t)i) * bytes;
        TRY(whole_extent(vm, fn, "size", qdtype_get((qs_dtype)a->dtype, at), i, &r->domain[i]));
        if (!rows) continue;
        at = (const char *)p + qarr_offset(a, n + (size_t)i) * bytes;
        TRY(block_extent(vm, fn, qdtype_get((qs_dtype)a->dtype, at), i, &r->block[i]));
    }
    return QS_OK;
}

static qs_status read_domain(qs_vm *vm, const char *fn, qs_value v, Request *r) {
    if (qval_is_number(v)) {
        r->rank = 1;
        return whole_extent(vm, fn, "size", qval_number(v), 0, &r->domain[0]);
    }
    if (v.kind == QS_ARRAY) return extents_of(vm, fn, v.u.p, r);
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: the size must be a number or a list of numbers, got %s", fn,
                    qval_type_name(vm, v));
}

static void drop_axis(Request *r, int axis) {
    r->rank--;
    for (int i = axis; i < r->rank; i++) r->domain[i] = r->domain[i + 1], r->block[i] = r->block[i + 1];
}

static bool trivial(const Request *r, int axis) {
    return r->domain[axis] == 1 && (!r->explicit_block || r->block[axis] == 1);
}

/* size(x) of a vec is [1,N]: a kernel over one position sees N.  `positions`: see klower_positions. */
static void fit_domain(Request *r, int positions) {
    if (positions == 0 && r->rank == 2 && trivial(r, 0)) drop_axis(r, 0);
    while (positions > 0 && r->rank > positions && trivial(r, r->rank - 1)) drop_axis(r, r->rank - 1);
    while (positions > 0 && r->rank > positions && trivial(r, 0)) drop_axis(r, 0);
}

static bool is_empty(const Request *r) {
    for (int i = 0; i < r->rank; i++)
        if (r->domain[i] == 0) return true;
    return false;
}

/* -- finding a specialisation ------------------------------------------------------------------------------------ */
static uint64_t mix(uint64_t h, uint64_t w) {
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t key_of(const Request *r) {
    uint64_t h = mix((uint64_t)r->rank << 2 | (uint64_t)r->serial << 1 | r->explicit_block, (uint64_t)r->nargs);
    for (int i = 0; i < r->nargs; i++) h = mix(h, qkspec_signature(r->args[i]));
    return h;
}

static bool same_block(const Spec *s, const Request *r) {
    if (!s->func->fixed_block || !r->explicit_block) return true;
    return !memcmp(s->block, r->block, (size_t)r->rank * sizeof *r->block);
}

static bool fits(qs_vm *vm, const Spec *s, const Request *r, uint64_t key, qs_value *values) {
    if (s->key != key || s->rank != r->rank || s->serial != r->serial || s->explicit_block != r->explicit_block ||
        !same_block(s, r))
        return false;
    for (int i = 0; i < s->nsources; i++) {
        values[i] = qkspec_value(vm, &s->sources[i], r, values);
        if (!qkspec_agrees(vm, &s->sources[i], values[i])) return false;
    }
    return true;
}

static uint32_t slot_of(const KernelCache *k, const Func *f) {
    uint32_t i = (uint32_t)(mix(1, (uint64_t)(uintptr_t)f) & (k->cap - 1));
    while (k->entries[i].func && k->entries[i].func != f) i = (i + 1) & (k->cap - 1);
    return i;
}

static void grow_entries(qs_vm *vm, KernelCache *k) {
    KernelEntry *old = k->entries;
    uint32_t n = k->cap;
    k->cap = n ? 2 * n : 32;
    k->entries = qmem_alloc(qvm_ctx(vm), k->cap * sizeof *k->entries);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].func) k->entries[slot_of(k, old[i].func)] = old[i];
    qmem_free(qvm_ctx(vm), old, n * sizeof *old);
}

static KernelEntry *entry_of(qs_vm *vm, const Func *f) {
    KernelCache *k = qlaunch_state(vm);
    if (2 * k->n >= k->cap) grow_entries(vm, k);
    KernelEntry *e = &k->entries[slot_of(k, f)];
    if (!e->func) *e = (KernelEntry){.func = f, .positions = klower_positions(f)}, k->n++;
    return e;
}

static void add_spec(KernelCache *k, KernelEntry *e, Spec *s) {
    s->next = e->specs, e->specs = s, e->nspecs++;
    if (k->last) k->last->newer = s;
    else k->first = s;
    k->last = s;
}

/* Forgets the specialisation that was not used for the longest time. */
static void drop_oldest(qs_vm *vm, KernelCache *k, KernelEntry *e) {
    Spec **at = &e->specs, **all = &k->first, *before = NULL;
    while ((*at)->next) at = &(*at)->next;
    Spec *s = *at;
    *at = NULL, e->nspecs--;
    while (*all != s) before = *all, all = &(*all)->newer;
    *all = s->newer;
    if (k->last == s) k->last = before;
    qkspec_free(vm, s);
}

static qs_status make_spec(qs_vm *vm, KernelEntry *e, Request *r, uint64_t key, qs_value *values) {
    Spec *s;
    Device *d;
    const Func *f = e->func;
    TRY(qdevices_current(vm, &d));
    if (!r->explicit_block) qdevices_block(d, r->rank, r->domain, r->block);
    TRY(qkspec_make(vm, r, key, &s));
    KernelCache *k = qvm(vm)->kernels;
    e = &k->entries[slot_of(k, f)];
    if (e->nspecs == KRN_SPECS) drop_oldest(vm, k, e);
    add_spec(k, e, s);
    for (int i = 0; i < s->nsources; i++) values[i] = qkspec_value(vm, &s->sources[i], r, values);
    return QS_OK;
}

/* The specialisation is the first of its kernel's list then, so the usual one is found at once. */
static qs_status find_spec(qs_vm *vm, KernelEntry *e, Request *r, Spec **out, qs_value *values) {
    uint64_t key = key_of(r);
    for (Spec **at = &e->specs; *at; at = &(*at)->next) {
        Spec *s = *at;
        if (!fits(vm, s, r, key, values)) continue;
        *at = s->next, s->next = e->specs, e->specs = s;
        return *out = s, QS_OK;
    }
    TRY(make_spec(vm, e, r, key, values));
    return *out = entry_of(vm, r->kernel->ast)->specs, QS_OK;
}

/* -- parameters -------------------------------------------------------------------------------------------------- */
static uint64_t number_bits(qs_value v, int part, qs_dtype d) {
    KSlot s = {0};
    double x =
        v.kind == QS_COMPLEX ? (part ? ((const Complex *)v.u.p)->im : ((const Complex *)v.u.p)->re) : qval_number(v);
    bool exact = v.kind == QS_INT || v.kind == QS_BOOL;
    int64_t i = exact ? v.u.i : 0;
    switch (d) {
    case QS_B1: s.B1 = x != 0; break;
    case QS_I32: s.I64 = qdtype_sat_i64(x, INT32_MIN, INT32_MAX); break;
    case QS_U32: s.U64 = qdtype_sat_u64(x, UINT32_MAX); break;
    case QS_I64: s.I64 = exact ? i : qdtype_sat_i64(x, INT64_MIN, INT64_MAX); break;
    case QS_U64: s.U64 = exact && i >= 0 ? (uint64_t)i : qdtype_sat_u64(x, UINT64_MAX); break;
    case QS_F32: s.F32 = (float)x; break;
    default: s.F64 = x; break;
    }
    return s.bits;
}

static void bind_number(qs_vm *vm, const KParam *p, const KBind *b, qs_value v, DevArg *out) {
    if (v.kind == QS_ARRAY) v = qs_num(qkspec_element(vm, v.u.p, (size_t)b->part)); /* of a small array, by value */
    out->is_array = false;
    out->bits = number_bits(v, b->part, (qs_dtype)p->dtype);
    out->size = (uint8_t)qdtype_size((qs_dtype)p->dtype);
}

/* A vec may come as a matrix with one row; extents beyond the array's are 1. */
static void bind_shape(const Array *a, int rank, DevArg *out) {
    int skip = rank > a->rank && a->rank == 1;
    out->rank = rank;
    for (int d = 0; d < rank; d++) {
        int from = d - skip;
        bool inside = from >= 0 && from < a->rank;
        out->dims[d] = inside ? a->dims[from] : 1;
        out->strides[d] = inside ? a->strides[from] : d < skip ? (int64_t)a->count : 1;
    }
}

static qs_status bind_array(qs_vm *vm, const KFunc *f, const KParam *p, const KBind *b, const Array *a, DevArg *out) {
    if (b->nonempty && a->count == 0)
        return qerr_at(qvm_ctx(vm), QS_ESHAPE, (Where){f->src, f->ins[1].pos},
                       "kernel %s: %s is empty and cannot be read with its access mode", f->name->s, p->name->s);
    if (!qarr_aligned(a))
        return qerr_set(qvm_ctx(vm), QS_EVALUE,
                        "kernel %s: the elements of %s do not lie at multiples of their size in memory; pass copy(%s)",
                        f->name->s, p->name->s, p->name->s);
    if (p->written && a->buf->unseen)
        return qerr_at(qvm_ctx(vm), QS_ETYPE, (Where){f->src, f->ins[1].pos},
                       "kernel %s: %s must be an array, since the kernel writes to it; what came is a list, and nobody "
                       "would see what is written to the copy",
                       f->name->s, p->name->s);
    if (p->written && a->buf->readonly)
        return qerr_at(qvm_ctx(vm), QS_EVALUE, (Where){f->src, f->ins[1].pos},
                       "kernel %s: %s is read-only, and the kernel writes to it", f->name->s, p->name->s);
    out->is_array = true;
    out->offset = a->offset * qdtype_size((qs_dtype)p->dtype);
    bind_shape(a, p->rank, out);
    return QS_OK;
}

/* Does the launch write every element of the buffer?  If not, what it does not write must stay. */
static bool overwrites(const Spec *s, int param, const Array *a, const Request *r) {
    if (!s->covers[param] || a->count * qdtype_size((qs_dtype)a->dtype) != a->buf->nbytes) return false;
    for (int d = 0; d < r->rank; d++)
        if (d < a->rank ? a->dims[d] != r->domain[d] : r->domain[d] != 1) return false;
    return a->rank <= r->rank;
}

static uint8_t lock_mode(const Spec *s, int param, const Array *a, const Request *r) {
    if (!s->func->params[param].written) return QS_READ;
    return overwrites(s, param, a, r) ? QS_WRITE : QS_READWRITE;
}

/* Each buffer is locked once, whatever number of arguments lie in it. */
static int add_buffer(Locked *list, int *n, Buffer *b, uint8_t mode) {
    int i = 0;
    while (i < *n && list[i].buf != b) i++;
    if (i == *n) list[(*n)++] = (Locked){.buf = b};
    list[i].mode |= mode;
    return i;
}

typedef struct { DevArg arg[KRN_PARAMS]; int lock[KRN_PARAMS]; Locked locked[KRN_PARAMS]; int nlocked; } Bound;

static qs_status bind_params(qs_vm *vm, const Spec *s, const Request *r, const qs_value *values, Bound *b) {
    b->nlocked = 0;
    for (int i = 0; i < s->func->nparams; i++) {
        const KParam *p = &s->func->params[i];
        qs_value v = values[s->binds[i].source];
        if (p->kind == KP_NUM) {
            bind_number(vm, p, &s->binds[i], v, &b->arg[i]);
            continue;
        }
        TRY(bind_array(vm, s->func, p, &s->binds[i], v.u.p, &b->arg[i]));
        const Array *a = v.u.p;
        b->lock[i] = add_buffer(b->locked, &b->nlocked, a->buf, lock_mode(s, i, a, r));
    }
    return QS_OK;
}

/* -- memory that several arguments share --------------------------------------------------------------------------
 * Two buffers of the same memory of others are two copies on a device with memory of its own, and what comes home last
 * would undo what the other one brought.  Such buffers are one for the launch. */
static bool collide(const Locked *x, const Locked *y) {
    bool theirs = x->buf->home == HOST_MEMORY && y->buf->home == HOST_MEMORY;
    return theirs && (x->mode | y->mode) & QS_WRITE && qbuf_overlap(x->buf, y->buf);
}

/* The arguments in buffer `from` are in buffer `to`, so many bytes further on. */
static void move_args(const KFunc *f, Bound *b, int from, int to, size_t bytes) {
    for (int i = 0; i < f->nparams; i++)
        if (b->arg[i].is_array && b->lock[i] == from) b->lock[i] = to, b->arg[i].offset += bytes;
}

static void drop_joint(qs_vm *vm, Locked *x) {
    if (x->joint) qbuf_release(qvm_ctx(vm), x->buf);
    x->joint = false;
}

static void drop_all_joint(qs_vm *vm, Bound *b) {
    for (int i = 0; i < b->nlocked; i++) drop_joint(vm, &b->locked[i]);
}

/* Buffer number i becomes both; the last one takes the place of k. */
static qs_status unite(qs_vm *vm, const KFunc *f, Bound *b, int i, int k) {
    Locked *x = &b->locked[i], *y = &b->locked[k];
    void *p, *q;
    Buffer *both;
    TRY(qbuf_reach_host(qvm_ctx(vm), x->buf, (qs_access)x->mode, &p));
    TRY(qbuf_reach_host(qvm_ctx(vm), y->buf, (qs_access)y->mode, &q));
    uintptr_t xlo = (uintptr_t)p, ylo = (uintptr_t)q, xhi = xlo + x->buf->nbytes, yhi = ylo + y->buf->nbytes;
    uintptr_t lo = xlo < ylo ? xlo : ylo, hi = xhi > yhi ? xhi : yhi;
    TRY(qbuf_wrap(qvm_ctx(vm), (void *)lo, hi - lo, false, NULL, NULL, &both));
    move_args(f, b, i, i, xlo - lo);
    move_args(f, b, k, i, ylo - lo);
    drop_joint(vm, x), drop_joint(vm, y);
    *x = (Locked){.buf = both, .mode = QS_READWRITE, .joint = true};
    *y = b->locked[--b->nlocked];
    move_args(f, b, b->nlocked, k, 0);
    return QS_OK;
}

static qs_status check_places(qs_vm *vm, const KFunc *f, const Bound *b) {
    for (int i = 0; i < f->nparams; i++) {
        if (!b->arg[i].is_array || !b->locked[b->lock[i]].joint) continue;
        if (b->arg[i].offset % qdtype_size(qdtype_real_of((qs_dtype)f->params[i].dtype)) == 0) continue;
        return qerr_set(qvm_ctx(vm), QS_EVALUE,
                        "kernel %s: %s shares memory with an argument whose elements are of another size; pass "
                        "copy(%s)",
                        f->name->s, f->params[i].name->s, f->params[i].name->s);
    }
    return QS_OK;
}

static qs_status unite_all(qs_vm *vm, const KFunc *f, Bound *b) {
    for (int i = 0; i < b->nlocked; i++)
        for (int k = i + 1; k < b->nlocked;) {
            if (!collide(&b->locked[i], &b->locked[k])) { k++; continue; }
            TRY(unite(vm, f, b, i, k));
            i = 0, k = 1; /* what is larger now may reach others */
        }
    return check_places(vm, f, b);
}

static qs_status unlock(qs_vm *vm, Device *d, Bound *b, int n, qs_status s) {
    while (n--) s = qbuf_leave(qvm_ctx(vm), b->locked[n].buf, d, (qs_access)b->locked[n].mode, s);
    return s;
}

/* The first array argument that lies in buffer number `which` names it. */
static qs_status lock_failed(qs_vm *vm, const Spec *s, const qs_value *values, const Bound *b, int which,
                             qs_status st) {
    for (int i = 0; i < s->func->nparams; i++)
        if (b->arg[i].is_array && b->lock[i] == which)
            return qarr_lock_failed(vm, values[s->binds[i].source].u.p, s->func->params[i].name->s, st);
    return st;
}

static qs_status lock_each(qs_vm *vm, Device *d, const Spec *spec, const qs_value *values, Bound *b) {
    const KFunc *f = spec->func;
    if (d->memory != HOST_MEMORY) TRY(unite_all(vm, f, b));
    for (int i = 0; i < b->nlocked; i++) {
        qs_status s = qbuf_lock(qvm_ctx(vm), b->locked[i].buf, d, (qs_access)b->locked[i].mode, &b->locked[i].block);
        if (s != QS_OK) return lock_failed(vm, spec, values, b, i, unlock(vm, d, b, i, s));
    }
    for (int i = 0; i < f->nparams; i++)
        if (b->arg[i].is_array) b->arg[i].block = b->locked[b->lock[i]].block;
    return QS_OK;
}

static qs_status lock(qs_vm *vm, Device *d, const Spec *spec, const qs_value *values, Bound *b) {
    qs_status s = lock_each(vm, d, spec, values, b);
    if (s != QS_OK) drop_all_joint(vm, b);
    return s;
}

/* -- launching --------------------------------------------------------------------------------------------------- */
_Static_assert(sizeof(KFault) == sizeof(DevFault) && offsetof(KFault, at) == offsetof(DevFault, at), "one layout");

static qs_status fault_error(qs_vm *vm, const KFunc *f, const DevFault *fault) {
    Text t;
    KFault k;
    memcpy(&k, fault, sizeof k);
    qtext_init(&t, qvm_ctx(vm));
    kir_fault_text(f, &k, &t);
    qs_status s = qerr_at(qvm_ctx(vm), f->messages[k.message - 1].status, (Where){f->src, k.pos}, "%s", t.s ? t.s : "");
    qtext_free(&t);
    return s;
}

static qs_status choose_block(qs_vm *vm, const Spec *s, const Request *r, const Device *d, Launch *l) {
    if (!s->uses_blocks || r->serial) {
        for (int i = 0; i < r->rank; i++) l->block[i] = 1;
        l->any_block = !r->serial;
        if (!r->serial) qdevices_block(d, r->rank, r->domain, l->block);
        return QS_OK;
    }
    if (s->func->fixed_block) memcpy(l->block, s->func->block, sizeof l->block);
    else if (r->explicit_block) memcpy(l->block, r->block, sizeof l->block);
    else qdevices_block(d, r->rank, r->domain, l->block);
    double positions = 1;
    for (int i = 0; i < r->rank; i++) positions *= l->block[i];
    if (positions <= d->max_block) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "kernel %s: a block of %g positions is too large; %s allows %d",
                    s->func->name->s, positions, d->name, d->max_block);
}

static double count_positions(const Request *r) {
    double n = 1;
    for (int i = 0; i < r->rank; i++) n *= (double)r->domain[i];
    return n;
}

static qs_status pick_device(qs_vm *vm, Spec *s, const Request *r, const Bound *b, Device **d, Program **p) {
    qs_status status;
    TRY(qdevices_current(vm, d));
    do {
        if (qvm(vm)->automatic) *d = qchoose_device(vm, s, count_positions(r), b->locked, b->nlocked);
        status = qkspec_load(vm, s, *d, p);
    } while (status == QS_EDEVICE && qchoose_shun(vm, s, *d));
    return status;
}

static qs_status launch(qs_vm *vm, Device *d, Program *p, const Spec *s, const Launch *l, const Bound *b) {
    DevFault fault = {0};
    qpython_unblock(vm);
    qs_status status = qreport_launch(vm, d, s->func, p, l, b->arg, s->has_check ? &fault : NULL);
    qpython_block(vm);
    if (status == QS_EINTERRUPT) (void)qvm_take_interrupt(vm); /* it is over with the launch */
    return status == QS_OK && fault.message ? fault_error(vm, s->func, &fault) : status;
}

static qs_status run(qs_vm *vm, Spec *s, const Request *r, const qs_value *values) {
    Device *d;
    Program *p;
    Bound b;
    Trial trial;
    Launch l = {.rank = r->rank};
    TRY(bind_params(vm, s, r, values, &b));
    TRY(pick_device(vm, s, r, &b, &d, &p));
    memcpy(l.domain, r->domain, sizeof l.domain);
    TRY(choose_block(vm, s, r, d, &l));
    TRY(qchoose_begin(vm, &trial, s, d, count_positions(r), b.locked, b.nlocked));
    qs_status status = lock(vm, d, s, values, &b);
    if (status == QS_ENOMEM && qchoose_shun(vm, s, d)) return run(vm, s, r, values);
    TRY(status);
    qchoose_locked(vm, &trial, b.locked, b.nlocked);
    status = qchoose_end(vm, &trial, launch(vm, d, p, s, &l, &b));
    status = unlock(vm, d, &b, b.nlocked, status);
    drop_all_joint(vm, &b);
    return status;
}

static bool takes(const Function *f, int nargs) {
    int most = 0, least = 0;
    for (int i = 0; i < f->ast->nparams; i++) {
        const Param *p = &f->ast->params[i];
        if (klower_special(p->name) >= 0) continue;
        most++, least += !p->init;
    }
    return least <= nargs && nargs <= most;
}

/* The kernel itself: a script function; of several definitions the last one that takes so many arguments. */
static Function *kernel_of(qs_value v, int nargs) {
    if (v.kind != QS_FUNCTION) return NULL;
    Function *f = v.u.p, *last = NULL;
    if (f->fkind == FN_SCRIPT) return f;
    for (int i = 0; f->fkind == FN_SET && i < f->nmembers; i++) {
        Function *m = f->members[i];
        if (m->fkind == FN_SCRIPT && (!last || takes(m, nargs) || !takes(last, nargs))) last = m;
    }
    return last;
}

qs_status qkernel_do(qs_vm *vm, bool serial, int nin, const qs_value *in) {
    const char *fn = serial ? "serial_do" : "parallel_do";
    Request r = {.serial = serial, .args = in + 1, .nargs = nin - 2};
    qs_value values[KRN_SOURCES];
    Spec *s;
    if (nin < 2) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: the size, arguments and a kernel are wanted", fn);
    r.kernel = kernel_of(in[nin - 1], r.nargs);
    if (!r.kernel)
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: the last argument must be a kernel function, got %s", fn,
                        qval_type_name(vm, in[nin - 1]));
    TRY(read_domain(vm, fn, in[0], &r));
    KernelEntry *e = entry_of(vm, r.kernel->ast);
    fit_domain(&r, e->positions);
    if (is_empty(&r)) return QS_OK;
    TRY(find_spec(vm, e, &r, &s, values));
    return run(vm, s, &r, values);
}

/* -- the rest ---------------------------------------------------------------------------------------------------- */
void qlaunch_close(qs_vm *vm) {
    Ctx *c = qvm_ctx(vm);
    KernelCache *k = qvm(vm)->kernels;
    for (Spec *s = k ? k->first : NULL, *next; s; s = next) next = s->newer, qkspec_free(vm, s);
    while (k && k->loaded) k->loaded->users = 1, qprogram_release(vm, k->loaded->program);
    if (k && k->compiler) kcompile_close(k->compiler);
    if (k) qreport_close(vm, k->report);
    if (k) qmem_free(c, k->entries, k->cap * sizeof *k->entries), qmem_free(c, k, sizeof *k);
    qvm(vm)->kernels = NULL;
    qdevices_close(vm);
}
