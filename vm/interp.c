/* interp.c -- the dispatch loop, frames, and what happens when something fails.
 *
 * Script calls push a Frame and stay in the same C call; a native that calls back enters qvm_call, which runs until its
 * own frame is left.  An error looks for a handler frame by frame, down to where this run began. */
#include "vm/fuse.h"
#include "vm/loop.h"
#include "vm/module.h"
#include "vm/names.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

/* -- memory of the machine --------------------------------------------------------------------------------------- */

enum { STACK_SLOTS = 6 << 20 };

/* Address space only: pages come when they are touched. */
static void *reserve(size_t n) {
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

qs_status qinterp_open(qs_vm *vm) {
    Machine *m = qvm(vm);
    m->stack = reserve(STACK_SLOTS * sizeof *m->stack);
    m->frames = reserve(MAX_FRAMES * sizeof *m->frames);
    if (!m->stack || !m->frames) return qerr_set(qvm_ctx(vm), QS_ENOMEM, "no address space for the stack");
    m->top = m->stack;
    m->stack_limit = m->stack + STACK_SLOTS - STACK_SLACK;
    m->cap_frames = MAX_FRAMES;
    return QS_OK;
}

void qinterp_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (m->stack) munmap(m->stack, STACK_SLOTS * sizeof *m->stack);
    if (m->frames) munmap(m->frames, MAX_FRAMES * sizeof *m->frames);
    m->stack = NULL;
    m->frames = NULL;
}

/* -- frames ------------------------------------------------------------------------------------------------------ */

static __attribute__((noinline)) qs_status too_deep(qs_vm *vm) {
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "the recursion is too deep (%u calls)", qvm(vm)->nframes);
}

static __attribute__((noinline)) void drop_value(qs_vm *vm, qs_value *slot) {
    qs_value v = *slot;
    slot->kind = QS_NIL;
    slot->aux = 0;
    qval_destroy(vm, v);
}

static inline void clear_slot(qs_vm *vm, qs_value *r) {
    if (r->kind >= QS_COMPLEX) {
        if (--((Obj *)r->u.p)->refs == 0) drop_value(vm, r);
        else r->kind = QS_NIL, r->aux = 0;
    }
}

static inline void set_num(qs_vm *vm, qs_value *r, double x) {
    if (__builtin_expect(r->kind >= QS_COMPLEX, 0)) clear_slot(vm, r);
    *r = qs_num(x);
}

static inline void set_bool(qs_vm *vm, qs_value *r, bool b) {
    if (__builtin_expect(r->kind >= QS_COMPLEX, 0)) clear_slot(vm, r);
    *r = qs_bool(b);
}

/* The function stays in *ret, which keeps it alive. */
static inline qs_status push_frame(qs_vm *vm, Function *fn, Proto *p, qs_value *args, qs_value *ret, uint32_t want) {
    Machine *m = qvm(vm);
    qs_value *end = args + p->chunk.nregs;
    if (__builtin_expect(m->nframes >= m->cap_frames || end > m->stack_limit, 0)) return too_deep(vm);
    Frame *f = &m->frames[m->nframes++];
    *f = (Frame){p->chunk.code, args, end, ret, p, fn, want};
    for (qs_value *r = args + p->nparams, *stop = args + p->chunk.ntemp; r < stop; r++) {
        clear_slot(vm, r);
        *r = qval_unset();
    }
    return QS_OK;
}

/* The top level keeps its global variables in registers while it runs: register i is the home of global aliases[i], and
 * register n+i remembers the cell that was its home before. */
static void enter_aliases(qs_vm *vm, Frame *f) {
    const Chunk *c = &f->proto->chunk;
    for (uint32_t i = 0, n = c->naliases; i < n; i++) {
        qs_value **home = &qvm(vm)->globals[c->aliases[i]], before = qs_nil();
        before.u.p = *home;
        f->base[n + i] = before;
        f->base[i] = **home;
        **home = qval_unset();
        *home = &f->base[i];
    }
}

static __attribute__((noinline)) void leave_aliases(qs_vm *vm, Frame *f) {
    const Chunk *c = &f->proto->chunk;
    for (uint32_t i = c->naliases; i-- > 0;) {
        qs_value *cell = f->base[c->naliases + i].u.p;
        if (!cell) continue;
        *cell = f->base[i];
        f->base[i] = qs_nil();
        qvm(vm)->globals[c->aliases[i]] = cell;
    }
}

/* Leaves the registers empty.  The results are taken out before. */
static inline void pop_frame(qs_vm *vm, Frame *f) {
    Machine *m = qvm(vm);
    if (__builtin_expect(f->proto->chunk.naliases > 0, 0)) leave_aliases(vm, f);
    for (qs_value *r = f->base; r < f->end; r++) clear_slot(vm, r);
    m->nframes--;
}

/* The first slot that neither a frame nor a native uses. */
static qs_value *free_slot(const Machine *m) {
    qs_value *end = m->nframes ? m->frames[m->nframes - 1].end : m->stack;
    return end > m->top ? end : m->top;
}

static uint32_t frame_pc(const Frame *f) { return (uint32_t)(f->pc - f->proto->chunk.code) - 1; }

static Where frame_where(const Frame *f) {
    return qast_where(f->proto->func->unit, qbytecode_pos(&f->proto->chunk, frame_pc(f)));
}

Where qvm_here(qs_vm *vm) {
    const Machine *m = qvm(vm);
    return m->nframes ? frame_where(&m->frames[m->nframes - 1]) : (Where){NULL, 0};
}

/* -- errors ------------------------------------------------------------------------------------------------------ */

static const Handler *handler_of(const Frame *f) {
    uint32_t pc = frame_pc(f);
    for (uint32_t i = 0; i < f->proto->chunk.nhandlers; i++) {
        const Handler *h = &f->proto->chunk.handlers[i];
        if (pc >= h->start && pc < h->end) return h;
    }
    return NULL;
}

/* What `catch e` receives: the payload, or the message. */
static qs_value caught(qs_vm *vm) {
    Ctx *c = qvm_ctx(vm);
    qs_value v = c->err.payload, other;
    const Foreign *x = v.kind == QS_FOREIGN ? v.u.p : NULL;
    if (x && x->ftype->caught && x->ftype->caught(vm, x->p, &other) == QS_OK) qinterp_put(vm, &v, other);
    if (v.kind == QS_NIL) v = qval_object(QS_STRING, qstr_new(c, c->err.text, strlen(c->err.text)));
    c->err.payload = qs_nil();
    qerr_clear(c);
    return v;
}

/* Down to the next handler above frame `floor`; false: there is none, and the frames are gone. */
static bool unwind(qs_vm *vm, qs_status s, uint32_t floor) {
    Machine *m = qvm(vm);
    while (m->nframes > floor) {
        Frame *f = qinterp_frame(vm);
        const Handler *h = s == QS_EINTERRUPT ? NULL : handler_of(f);
        if (h) {
            for (qs_value *r = f->base + h->temp; r < f->end; r++) clear_slot(vm, r);
            qinterp_put(vm, f->base + h->reg, caught(vm));
            f->pc = f->proto->chunk.code + h->handler;
            return true;
        }
        Where w = frame_where(f);
        qerr_place(qvm_ctx(vm), w);
        qerr_frame(qvm_ctx(vm), w, f->proto->func->name);
        clear_slot(vm, f->ret);
        pop_frame(vm, f);
    }
    return false;
}

/* -- calls of natives -------------------------------------------------------------------------------------------- */

static qs_status wrong_count(qs_vm *vm, const qs_native_def *d, int nin) {
    const char *some = d->max_in < 0            ? "at least "
                       : d->min_in == d->max_in ? ""
                       : nin < d->min_in        ? "at least "
                                                : "at most ";
    int n = nin < d->min_in ? d->min_in : d->max_in;
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s takes %s%d argument%s, got %d", d->name, some, n, n == 1 ? "" : "s",
                    nin);
}

static qs_status no_result(qs_vm *vm, const char *name) {
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s gives no result", name);
}

/* Results at `from` (have of them, taken from there) to the want slots at ret; one list for several is taken apart. */
static qs_status deliver(qs_vm *vm, const char *name, qs_value *from, int have, qs_value *ret, uint32_t want) {
    if (want == WANT_MAYBE) {
        qinterp_put(vm, ret, have ? from[0] : qval_unset());
        if (have) from[0] = qs_nil();
        return QS_OK;
    }
    if (want == 0) return clear_slot(vm, ret), QS_OK;
    if (have == 0) return no_result(vm, name);
    if ((int)want <= have) {
        for (uint32_t i = 0; i < want; i++) {
            qinterp_put(vm, &ret[i], from[i]);
            from[i] = qs_nil();
        }
        return QS_OK;
    }
    if (have > 1) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s gives %d results, %u are wanted", name, have, want);
    for (uint32_t i = 0; i < want; i++) qinterp_clear(vm, &ret[i]);
    qs_value list = from[0];
    from[0] = qs_nil();
    qs_status s = qops_destruct(vm, list, (int)want, ret);
    qval_release(vm, list);
    return s;
}

static int results_for(int most, uint32_t want) {
    int n = want == WANT_MAYBE ? 1 : (int)want;
    return n < most ? n : most;
}

/* Runs a native or another callable that is no script.  `fn` is NULL for what qcall_other calls. */
static qs_status call_out(qs_vm *vm, Function *fn, qs_value *args, int nin, const NameTable *names, qs_value *ret,
                          uint32_t want) {
    Machine *m = qvm(vm);
    const qs_native_def *d = fn ? fn->native : NULL;
    int nnamed = names ? names->n : 0, most = d ? d->max_out : 1;
    if (d && (nin < d->min_in || (d->max_in >= 0 && nin > d->max_in))) return wrong_count(vm, d, nin);
    if (d && nnamed) TRY(qcall_arrange_native(vm, d, args, nin, nnamed, names->at));
    if (most > MAX_WANTED) most = MAX_WANTED;
    uint32_t slots = most > 1 ? (uint32_t)most : 1;
    qs_value *out = free_slot(m), *top = m->top;
    if (out + slots > m->stack_limit) return too_deep(vm);
    for (uint32_t i = 0; i < slots; i++) qinterp_clear(vm, &out[i]);
    m->top = out + slots;
    qs_status s;
    if (d) {
        qs_call_args c = {.nin = nin, .nout = results_for(most, want), .in = args, .out = out};
        s = d->fn(vm, &c);
    } else {
        s = qcall_other(vm, *ret, nin, args, nnamed, names ? names->at : NULL, results_for(most, want), out);
    }
    if (s == QS_OK && __builtin_expect(qflag_is_up(&m->attention), 0)) s = qvm_attend(vm); /* it may have taken long */
    int have = results_for(most, want);
    for (int i = 0; i < nin; i++) clear_slot(vm, &args[i]);
    if (s == QS_OK) s = deliver(vm, d ? d->name : "this", out, have, ret, want);
    for (uint32_t i = 0; i < slots; i++) clear_slot(vm, &out[i]);
    m->top = top;
    return s;
}

/* r[1].name(r[2], …) on a foreign value, nin arguments; the result goes to r[0]. */
static qs_status foreign_method(qs_vm *vm, qs_value *r, int nin, Str *name, const NameTable *names, uint32_t want,
                                bool *found) {
    Machine *m = qvm(vm);
    qs_value *out = free_slot(m), *top = m->top;
    if (out + 1 > m->stack_limit) return too_deep(vm);
    qinterp_clear(vm, out);
    m->top = out + 1;
    qs_status s = qcall_foreign(vm, r[1].u.p, name, nin, r + 2, names ? names->n : 0, names ? names->at : NULL,
                                results_for(1, want), out, found);
    if (*found || s != QS_OK) {
        for (int i = 0; i <= nin; i++) clear_slot(vm, &r[1 + i]);
        if (s == QS_OK) s = deliver(vm, name->s, out, 1, r, want);
    }
    clear_slot(vm, out);
    m->top = top;
    return s;
}

static qs_status prepare(qs_vm *vm, Function *fn) { return qproto_of(vm, fn->ast, false, &fn->proto); }

/* -- elements without a call ------------------------------------------------------------------------------------- */

static inline bool host_current(const Buffer *b) { return (b->valid & 1) && b->writer < 0; }
static inline bool host_alone(const Buffer *b) {
    return b->valid == 1 && b->writer < 0 && b->nreaders == 0 && !b->readonly && b->home <= HOST_MEMORY;
}

/* An index that no access mode maps elsewhere. */
static inline bool plain_index(const qs_value *v, int64_t *n) {
    if (v->kind == QS_NUM) {
        if (!(v->u.f >= 0 && v->u.f < 0x1p63)) return false;
        *n = (int64_t)v->u.f;
        return true;
    }
    *n = v->u.i;
    return v->kind == QS_INT;
}

static inline bool load_element(const Array *a, int64_t n, qs_value *out) {
    const void *p = (const void *)(uintptr_t)a->buf->block[HOST_MEMORY];
    size_t i = a->offset + (size_t)n;
    switch ((qs_dtype)a->dtype) {
    case QS_F32: *out = qs_num((double)((const float *)p)[i]); return true;
    case QS_F64: *out = qs_num(((const double *)p)[i]); return true;
    case QS_U8: *out = qs_int(((const uint8_t *)p)[i]); return true;
    case QS_I32: *out = qs_int(((const int32_t *)p)[i]); return true;
    case QS_B1: *out = qs_bool(((const uint8_t *)p)[i] != 0); return true;
    default: return false;
    }
}

static inline bool store_element(Array *a, int64_t n, double x) {
    void *p = (void *)(uintptr_t)a->buf->block[HOST_MEMORY];
    size_t i = a->offset + (size_t)n;
    switch ((qs_dtype)a->dtype) {
    case QS_F32: ((float *)p)[i] = (float)x; return true;
    case QS_F64: ((double *)p)[i] = x; return true;
    default: return false;
    }
}

static inline bool place1(const Array *a, const qs_value *i, int64_t *n) {
    return a->rank == 1 && a->contiguous && plain_index(i, n) && (uint64_t)*n < (uint64_t)a->dims[0];
}

static inline bool place2(const Array *a, const qs_value *at, int64_t *n) {
    int64_t r, c;
    if (a->rank != 2 || !a->contiguous || !plain_index(&at[0], &r) || !plain_index(&at[1], &c)) return false;
    *n = r * a->dims[1] + c;
    return (uint64_t)r < (uint64_t)a->dims[0] && (uint64_t)c < (uint64_t)a->dims[1];
}

/* x[i] op= v and x[i,j] op= v of one float. */
static bool update_number(Array *a, const qs_value *at, double v, uint32_t what) {
    int64_t n;
    qs_value old;
    if ((what & 0xffff) == 1 ? !place1(a, at, &n) : (what & 0xffff) != 2 || !place2(a, at, &n)) return false;
    if (!host_alone(a->buf) || (a->dtype != QS_F32 && a->dtype != QS_F64) || !load_element(a, n, &old)) return false;
    switch ((Op)(what >> 16)) {
    case OP_ADD: return store_element(a, n, old.u.f + v);
    case OP_SUB: return store_element(a, n, old.u.f - v);
    case OP_MUL: case OP_PWMUL: return store_element(a, n, old.u.f * v);
    case OP_DIV: case OP_PWDIV: return store_element(a, n, old.u.f / v);
    default: return false;
    }
}

/* -- slow sides that release temporaries ------------------------------------------------------------------------- */

static inline bool is_temp(const Frame *f, const qs_value *r) {
    return (uintptr_t)r - (uintptr_t)(f->base + f->proto->chunk.ntemp) < (uintptr_t)(f->end - f->base) * sizeof *r;
}

static inline void used(qs_vm *vm, const Frame *f, qs_value *r) {
    if (is_temp(f, r)) clear_slot(vm, r);
}

/* An operator may be the first of an expression that runs as one kernel; then the frame goes on behind it. */
static qs_status fuse_from(qs_vm *vm, Frame *f, qs_value a, qs_value b, bool *done) {
    *done = false;
    if (!f->proto->chunk.nfuses || (!qfuse_is_large(vm, a) && !qfuse_is_large(vm, b))) return QS_OK;
    return qfuse_at(vm, f, frame_pc(f), done);
}

/* A temporary, or the variable that gets the result, which nobody else holds and whose block fits the result. */
static bool reusable(const Frame *f, Op op, const qs_value *dst, const qs_value *a, const qs_value *other) {
    qs_value b = *other;
    const Array *x = a->u.p, *y = b.u.p;
    if (a->kind != QS_ARRAY || x->hdr.refs != 1 || a == other || (!is_temp(f, a) && a != dst)) return false;
    if ((x->dtype != QS_F32 && x->dtype != QS_F64) || !x->contiguous) return false;
    if (qbuf_shared(x->buf) || x->buf->home >= 0) return false;
    bool elementwise = op == OP_ADD || op == OP_SUB || op == OP_PWMUL || op == OP_PWDIV;
    if (b.kind == QS_NUM) return elementwise || op == OP_MUL || op == OP_DIV;
    return b.kind == QS_ARRAY && elementwise && y->dtype == x->dtype && y->rank <= x->rank && qarr_same_shape(x, y);
}

static qs_status binary(qs_vm *vm, Frame *f, Op op, qs_value *dst, qs_value *a, qs_value *b) {
    if (op == OP_ADD && dst == a && a != b && a->kind == QS_STRING) return qops_update(vm, op, a, *b); /* t = t + x */
    qs_value r;
    bool done;
    TRY(fuse_from(vm, f, *a, *b, &done));
    if (done) return QS_OK;
    if (reusable(f, op, dst, a, b)) {
        TRY(qarith_update(vm, op, *a, *b));
        used(vm, f, b);
        if (dst == a) return QS_OK;
        r = *a;
        *a = qs_nil();
        return qinterp_put(vm, dst, r), QS_OK;
    }
    TRY(qops_binary(vm, op, *a, *b, &r));
    used(vm, f, a);
    used(vm, f, b);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

static qs_status unary(qs_vm *vm, Frame *f, Op op, qs_value *dst, qs_value *a) {
    qs_value r;
    bool done;
    TRY(fuse_from(vm, f, *a, *a, &done));
    if (done) return QS_OK;
    TRY(qops_unary(vm, op, *a, &r));
    used(vm, f, a);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

static qs_status compare(qs_vm *vm, Frame *f, Op op, qs_value *a, qs_value *b, bool *out) {
    TRY(qops_compare(vm, op, *a, *b, out));
    used(vm, f, a);
    used(vm, f, b);
    return QS_OK;
}

static const char *index_name(const Frame *f, uint32_t w) {
    return INDEX_NAME(w) == 0xffff ? NULL : ((Str *)f->proto->k[INDEX_NAME(w)].u.p)->s;
}

static TypeMods index_mods(uint32_t w) { return (TypeMods){INDEX_ACCESS(w), INDEX_FLAGS(w)}; }

static qs_status read_element(qs_vm *vm, Frame *f, qs_value base, int n, const qs_value *at, uint32_t w,
                              qs_value *out) {
    const Foreign *x = base.kind == QS_FOREIGN ? base.u.p : NULL;
    if (x && x->ftype->get_item) return x->ftype->get_item(vm, x->p, n, at, out);
    if (x && x->ftype->get && n == 1) return x->ftype->get(vm, x->p, at[0], out);
    return qidx_get(vm, base, n, at, index_mods(w), index_name(f, w), out);
}

static qs_status write_element(qs_vm *vm, Frame *f, qs_value base, int n, const qs_value *at, uint32_t w, qs_value v) {
    const Foreign *x = base.kind == QS_FOREIGN ? base.u.p : NULL;
    if (x && x->ftype->set_item) return x->ftype->set_item(vm, x->p, n, at, v);
    if (x && x->ftype->set && n == 1) return x->ftype->set(vm, x->p, at[0], v);
    return qidx_set(vm, base, n, at, index_mods(w), index_name(f, w), v);
}

static void used_element(qs_vm *vm, const Frame *f, qs_value *base, int n, qs_value *at) {
    used(vm, f, base);
    for (int i = 0; i < n; i++) used(vm, f, &at[i]);
}

static qs_status get_element(qs_vm *vm, Frame *f, qs_value *dst, qs_value *base, int n, qs_value *at, uint32_t w) {
    qs_value r;
    TRY(read_element(vm, f, *base, n, at, w, &r));
    used_element(vm, f, base, n, at);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

static qs_status set_element(qs_vm *vm, Frame *f, qs_value *base, int n, qs_value *at, qs_value *v, uint32_t w) {
    TRY(write_element(vm, f, *base, n, at, w, *v));
    used_element(vm, f, base, n, at);
    used(vm, f, v);
    return QS_OK;
}

/* x[i] op= v of what is no numeric array: read, combine, write. */
static qs_status update_item(qs_vm *vm, Frame *f, Op op, qs_value base, int n, const qs_value *at, qs_value v,
                             uint32_t w) {
    qs_value item;
    TRY(read_element(vm, f, base, n, at, w, &item));
    qs_status s = qops_update(vm, op, &item, v);
    if (s == QS_OK) s = write_element(vm, f, base, n, at, w, item);
    qval_release(vm, item);
    return s;
}

static qs_status update_element(qs_vm *vm, Frame *f, Op op, qs_value *base, int n, qs_value *at, qs_value *v,
                                uint32_t w) {
    if (base->kind == QS_ARRAY) TRY(qidx_update(vm, op, *base, n, at, index_mods(w), index_name(f, w), *v));
    else TRY(update_item(vm, f, op, *base, n, at, *v, w));
    used_element(vm, f, base, n, at);
    used(vm, f, v);
    return QS_OK;
}

static qs_status make_closure(qs_vm *vm, Frame *f, Func *func, const uint32_t *from, qs_value *dst) {
    Function *fn = qfn_script(vm, func, func->ncaptures);
    for (int i = 0; i < func->ncaptures; i++) {
        uint32_t n = from[i] & CAPTURE_NUMBER;
        switch ((CaptureFrom)(from[i] >> CAPTURE_SHIFT)) {
        case CAP_LOCAL: fn->captures[i] = qval_retain(f->base[n]); break;
        case CAP_CAPTURE: fn->captures[i] = qval_retain(f->fn->captures[n]); break;
        case CAP_GLOBAL: fn->captures[i] = qval_retain(*qvm_global(vm, n)); break;
        case CAP_SELF: fn->captures[i] = qval_retain(qval_object(QS_FUNCTION, f->fn)); break;
        case CAP_THIS: fn->captures[i] = qval_retain(qval_object(QS_FUNCTION, fn)); break;
        case CAP_UNSET: fn->captures[i] = qval_unset(); break;
        }
    }
    qinterp_put(vm, dst, qval_object(QS_FUNCTION, fn));
    return QS_OK;
}

static qs_status unset_capture(qs_vm *vm, Frame *f, uint32_t n, qs_value *out) {
    const Sym *outer = f->proto->func->captures[n].outer;
    if (outer->kind != SYM_GLOBAL) return qops_unset(vm, outer->name->s);
    *out = qval_retain(*qvm_global(vm, (uint64_t)outer->index));
    return qval_is_unset(*out) ? qnames_unset(vm, qmod_of(f->proto->func), outer->index, out) : QS_OK;
}

static qs_status array_literal(qs_vm *vm, qs_value k, qs_value *dst) {
    Array *a;
    TRY(qarr_copy(vm, k.u.p, &a));
    qinterp_put(vm, dst, qarr_value(a));
    return QS_OK;
}

typedef enum { LIST_CELL, LIST_MATRIX, LIST_WIDE } ListKind;

static qs_dtype literal_dtype(qs_vm *vm, ListKind k) {
    return k == LIST_WIDE ? QS_F64 : qvm_ctx(vm)->scalar_dtype;
}

static qs_status literal_of(qs_vm *vm, ListKind k, int n, qs_value *items, qs_value *dst) {
    qs_value r;
    TRY(k == LIST_CELL ? qops_cell(vm, n, items, &r) : qarr_literal(vm, literal_dtype(vm, k), n, items, &r));
    for (int i = 0; i < n; i++) clear_slot(vm, &items[i]);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

static qs_status literal_of_list(qs_vm *vm, ListKind k, qs_value *list, qs_value *dst) {
    qs_value r;
    int n = (int)list->aux;
    Cell *c = list->u.p;
    TRY(k == LIST_CELL ? qops_cell(vm, n, c->items, &r) : qarr_literal(vm, literal_dtype(vm, k), n, c->items, &r));
    clear_slot(vm, list);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

static qs_status named_result_missing(qs_vm *vm, const Func *f, const qs_value *results) {
    for (int i = 0; i < f->nouts; i++)
        if (qval_is_unset(results[i]))
            return qerr_set(qvm_ctx(vm), QS_ENAME, "result %s of %s was not given a value", f->outs[i].name->s,
                            f->name->s);
    return no_result(vm, f->name->s);
}

/* The running function is left: its results go to the caller.  Errors here are still the function's. */
static qs_status leave_many(qs_vm *vm, Frame *f, qs_value *results, int have) {
    qs_value kept[MAX_WANTED], *ret = f->ret;
    uint32_t want = f->want;
    const char *name = f->proto->func->name->s;
    int n = have < (int)want || want == WANT_MAYBE ? have : (int)want;
    if (n > MAX_WANTED) n = MAX_WANTED;
    if (want == WANT_MAYBE && have > 0 && qval_is_unset(results[0])) n = have = 0;
    if (have == 0 && want > 0 && want != WANT_MAYBE) return no_result(vm, name);
    if (want != WANT_MAYBE && have > 1 && have < (int)want)
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s gives %d results, %u are wanted", name, have, want);
    for (int i = 0; i < n; i++)
        if (want != 0 && qval_is_unset(results[i])) return named_result_missing(vm, f->proto->func, results);
    for (int i = 0; i < n; i++) {
        kept[i] = results[i];
        results[i] = qs_nil();
    }
    pop_frame(vm, f);
    qs_value *top = qvm(vm)->top, *end = ret + (want > 1 && want != WANT_MAYBE ? want : 1);
    if (end > top) qvm(vm)->top = end; /* taking a list apart may call */
    qs_status s = deliver(vm, name, kept, n, ret, want);
    qvm(vm)->top = top;
    for (int i = 0; i < n; i++) qval_release(vm, kept[i]);
    return s;
}

/* -- the dispatch loop ------------------------------------------------------------------------------------------- */

#define A        (w >> 8 & 0xff)
#define B        (w >> 16 & 0xff)
#define C        (w >> 24)
#define BX       (w >> 16)
#define RA       (base + A)
#define RB       (base + B)
#define RC       (base + C)
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define NUMBERS(a, b) ((a)->kind == QS_NUM && (b)->kind == QS_NUM)
#define NEXT                                                                                                           \
    do {                                                                                                               \
        w = *pc++;                                                                                                     \
        goto *labels[w & 0xff];                                                                                        \
    } while (0)
#define SLOW(expr)                                                                                                     \
    do {                                                                                                               \
        f->pc = pc;                                                                                                    \
        if (__builtin_expect((status = (expr)) != QS_OK, 0)) goto fail;                                                \
    } while (0)
#define ATTEND()                                                                                                       \
    do {                                                                                                               \
        if (__builtin_expect(qflag_is_up(&m->attention), 0)) {                                                         \
            if (f && m->nframes > floor_frames) f->pc = pc;                                                            \
            if ((status = qvm_attend(vm)) != QS_OK) goto fail;                                                         \
        }                                                                                                              \
    } while (0)
#define JUMP_WHEN(cond)                                                                                                \
    do {                                                                                                               \
        if (cond) pc += (int32_t)*pc;                                                                                  \
        pc++;                                                                                                          \
    } while (0)

#define ARITHMETIC(id, op, expr)                                                                                       \
    L_##id : {                                                                                                         \
        qs_value *a = RB, *b = RC;                                                                                     \
        if (LIKELY(NUMBERS(a, b))) {                                                                                   \
            double x = a->u.f, y = b->u.f;                                                                             \
            set_num(vm, RA, expr);                                                                                     \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(binary(vm, f, op, RA, a, b));                                                                             \
        pc = f->pc;                                                                                                    \
        NEXT;                                                                                                          \
    }
#define ARITHMETIC_K(id, op, first, second, expr)                                                                      \
    L_##id : {                                                                                                         \
        qs_value *a = RB, *b = &k[C];                                                                                  \
        if (LIKELY(a->kind == QS_NUM)) {                                                                               \
            double x = a->u.f, y = b->u.f;                                                                             \
            set_num(vm, RA, expr);                                                                                     \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(binary(vm, f, op, RA, first, second));                                                                    \
        pc = f->pc;                                                                                                    \
        NEXT;                                                                                                          \
    }
#define COMPARISON(id, op, expr)                                                                                       \
    L_##id : {                                                                                                         \
        qs_value *a = RB, *b = RC;                                                                                     \
        if (LIKELY(NUMBERS(a, b))) {                                                                                   \
            double x = a->u.f, y = b->u.f;                                                                             \
            set_bool(vm, RA, expr);                                                                                    \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(binary(vm, f, op, RA, a, b));                                                                             \
        pc = f->pc;                                                                                                    \
        NEXT;                                                                                                          \
    }
#define COMPARE_JUMP(id, op, other, expr)                                                                              \
    L_##id : {                                                                                                         \
        qs_value *a = RA, *b = other;                                                                                  \
        if (LIKELY(NUMBERS(a, b))) {                                                                                   \
            double x = a->u.f, y = b->u.f;                                                                             \
            JUMP_WHEN((expr) == (bool)C);                                                                              \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(compare(vm, f, op, a, b, &truth));                                                                        \
        JUMP_WHEN(truth == (bool)C);                                                                                   \
        NEXT;                                                                                                          \
    }
#define UPDATE_BY(id, op, source, expr)                                                                                \
    L_##id : {                                                                                                         \
        qs_value *a = RA, *b = source;                                                                                 \
        if (LIKELY(NUMBERS(a, b))) {                                                                                   \
            double x = a->u.f, y = b->u.f;                                                                             \
            a->u.f = expr;                                                                                             \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(qops_update(vm, op, a, *b));                                                                              \
        used(vm, f, b);                                                                                                \
        NEXT;                                                                                                          \
    }

static bool number_annotation(const Type *t, const Ctx *c) {
    return t->kind == TY_NUM && (t->dtype == c->scalar_dtype || t->dtype == QS_F64);
}

/* The common annotations, decided at once: a scalar, an int, an array of that element type and no higher rank. */
static inline bool fits_at_once(const qs_value *v, const qs_value *type, const Ctx *c) {
    if (type->kind != QS_TYPE) return false;
    const Type *t = ((TypeValue *)type->u.p)->type;
    if (v->kind == QS_NUM) return number_annotation(t, c);
    if (v->kind == QS_INT) return t->kind == TY_NUM && t->dtype == QS_I32 && v->u.i == (int32_t)v->u.i;
    if (v->kind == QS_OBJECT)
        return t->kind == TY_CLASS && ((Object *)v->u.p)->cls && ((Object *)v->u.p)->cls->type == t;
    if (v->kind == QS_STRING) return t->kind == TY_STRING;
    if (v->kind != QS_ARRAY || t->kind != TY_ARRAY || t->nfixed || t->inner->kind != TY_NUM) return false;
    const Array *a = v->u.p;
    return a->rank >= 1 && (t->rank == RANK_ANY || a->rank <= t->rank) && t->inner->dtype == (qs_dtype)a->dtype;
}

/* A scalar given to an int. */
static inline bool becomes_int(qs_value *v, const qs_value *type) {
    const Type *t = type->kind == QS_TYPE ? ((TypeValue *)type->u.p)->type : NULL;
    if (v->kind != QS_NUM || !t || t->kind != TY_NUM || t->dtype != QS_I32 || !(fabs(v->u.f) < 0x1p31)) return false;
    *v = qs_int((int64_t)v->u.f);
    return true;
}

/* One indirect jump per instruction, so that each has its own history of what follows it: gcc would merge them. */
#if defined(__GNUC__) && !defined(__clang__)
#define DISPATCH __attribute__((optimize("no-gcse", "no-crossjumping")))
#else
#define DISPATCH
#endif

/* Runs the function at *entry with nin arguments behind it, until it has given its results. */
static DISPATCH qs_status run(qs_vm *vm, qs_value *entry, int entry_nin, const NameTable *entry_names,
                              uint32_t entry_want) {
    static const void *const labels[] = {
#define OPCODE(id, words, doc) &&L_##id,
#include "lang/opcodes.def"
    };
    Machine *const m = qvm(vm);
    const uint32_t floor_frames = m->nframes;
    const uint32_t *pc = NULL;
    qs_value *base = NULL, *k = NULL;
    Frame *f = NULL;
    uint32_t w;
    bool truth;
    qs_status status = QS_OK;
    /* a call in the making */
    qs_value *ret = entry, *args = entry + 1;
    int nin = entry_nin;
    uint32_t want = entry_want;
    const NameTable *names = entry_names;
    Function *fn;
    goto call_value;

    L_MOVE: {
        qs_value *a = RA, *b = RB, v = *b;
        if (__builtin_expect(v.kind >= QS_COMPLEX, 0)) {
            if (is_temp(f, b)) b->kind = QS_NIL, b->aux = 0;
            else ((Obj *)v.u.p)->refs++;
        }
        if (__builtin_expect(a->kind >= QS_COMPLEX, 0)) clear_slot(vm, a);
        *a = v;
        NEXT;
    }
    L_COPY: qinterp_put(vm, RA, qval_retain(*RB)); NEXT;
    L_LOADK: {
        qs_value v = k[BX];
        if (v.kind >= QS_COMPLEX) ((Obj *)v.u.p)->refs++;
        clear_slot(vm, RA);
        *RA = v;
        NEXT;
    }
    L_LOADN: set_num(vm, RA, (double)(int16_t)BX); NEXT;
    L_LOADBOOL: set_bool(vm, RA, B != 0); NEXT;
    L_LOADNIL: {
        qs_value v = {QS_NIL, B, {0}};
        qinterp_put(vm, RA, v);
        NEXT;
    }
    L_LOADTYPE: {
        const Type *t;
        qs_value v;
        SLOW(qcall_type(vm, f, k[BX].u.p, &t));
        SLOW(qcall_type_value(vm, t, (TypeMods){0}, &v));
        qinterp_put(vm, RA, v);
        NEXT;
    }
    L_ARRAYK: SLOW(array_literal(vm, k[BX], RA)); NEXT;
    L_GETGLOBAL: {
        qs_value v = *m->globals[*pc++];
        if (v.kind >= QS_COMPLEX) ((Obj *)v.u.p)->refs++;
        else if (__builtin_expect(qval_is_unset(v), 0))
            SLOW(qnames_unset(vm, qmod_of(f->proto->func), (int)pc[-1], &v));
        clear_slot(vm, RA);
        *RA = v;
        NEXT;
    }
    L_SETGLOBAL: {
        qs_value *a = RA, v = *a;
        if (v.kind >= QS_COMPLEX) {
            if (is_temp(f, a)) a->kind = QS_NIL, a->aux = 0;
            else ((Obj *)v.u.p)->refs++;
        }
        qinterp_put(vm, m->globals[*pc++], v);
        NEXT;
    }
    L_GETCAP: {
        qs_value v = f->fn->captures[BX];
        if (v.kind >= QS_COMPLEX) ((Obj *)v.u.p)->refs++;
        else if (__builtin_expect(qval_is_unset(v), 0)) SLOW(unset_capture(vm, f, BX, &v));
        clear_slot(vm, RA);
        *RA = v;
        NEXT;
    }
    L_CHECKSET:
        if (__builtin_expect(qval_is_unset(*RA), 0)) SLOW(qops_unset(vm, ((Str *)k[BX].u.p)->s));
        NEXT;
    L_ALIAS: enter_aliases(vm, f); NEXT;
    L_FILL: {
        qs_value *a = RA;
        uint32_t slot = *pc++;
        if (__builtin_expect(qval_is_unset(*a), 0)) SLOW(qnames_unset(vm, qmod_of(f->proto->func), (int)slot, a));
        NEXT;
    }
    L_SELF: qinterp_put(vm, RA, qval_retain(qval_object(QS_FUNCTION, f->fn))); NEXT;
    L_CLOSURE: {
        Func *func = k[BX].u.p;
        SLOW(make_closure(vm, f, func, pc, RA));
        pc += func->ncaptures;
        NEXT;
    }
    L_CLEAR: {
        qs_value *a = RA;
        for (uint32_t n = B; n-- > 0; a++) clear_slot(vm, a);
        NEXT;
    }
    L_COERCE: {
        uint32_t x = *pc++;
        if (LIKELY(fits_at_once(RA, &k[x & 0xffff], &m->base) || becomes_int(RA, &k[x & 0xffff]))) NEXT;
        qs_value what = x >> 16 == 0xffff ? qs_nil() : k[x >> 16];
        SLOW(qops_coerce(vm, f, RA, k[x & 0xffff], what, B));
        NEXT;
    }
    L_JTYPE: {
        const Type *t;
        if (LIKELY(k[pc[0]].kind == QS_TYPE)) t = ((TypeValue *)k[pc[0]].u.p)->type;
        else SLOW(qcall_type(vm, f, k[pc[0]].u.p, &t));
        pc++;
        JUMP_WHEN(!qval_is_type(vm, *RA, t));
        NEXT;
    }
    L_JSPACE: {
        const Foreign *x = RA->kind == QS_FOREIGN ? RA->u.p : NULL;
        JUMP_WHEN(x && x->ftype->is_space && x->ftype->is_space(x->p));
        NEXT;
    }
    L_CONVERT: {
        qs_value *b = RB, v;
        const Type *t = ((TypeValue *)k[*pc++].u.p)->type;
        if (LIKELY(b->kind == QS_NUM && t->dtype == QS_I32 && fabs(b->u.f) < 0x1p31)) {
            double x = b->u.f;
            clear_slot(vm, RA);
            *RA = qs_int((int64_t)x);
            NEXT;
        }
        SLOW(qval_construct(vm, t, 1, b, &v));
        used(vm, f, b);
        qinterp_put(vm, RA, v);
        NEXT;
    }
    L_DEFAULT: JUMP_WHEN(!qval_is_unset(*RA)); NEXT;
    L_BINDTYPES: SLOW(qcall_bind_types(vm, f, (int)A)); NEXT;

    ARITHMETIC(ADD, OP_ADD, x + y)
    ARITHMETIC(SUB, OP_SUB, x - y)
    ARITHMETIC(MUL, OP_MUL, x * y)
    ARITHMETIC(PWMUL, OP_PWMUL, x * y)
    ARITHMETIC(DIV, OP_DIV, x / y)
    ARITHMETIC(PWDIV, OP_PWDIV, x / y)
    ARITHMETIC(POW, OP_POW, y == 2 ? x * x : pow(x, y))
    ARITHMETIC(PWPOW, OP_PWPOW, y == 2 ? x * x : pow(x, y))
    COMPARISON(EQ, OP_EQ, x == y)
    COMPARISON(NE, OP_NE, x != y)
    COMPARISON(LT, OP_LT, x < y)
    COMPARISON(LE, OP_LE, x <= y)
    COMPARISON(GT, OP_GT, x > y)
    COMPARISON(GE, OP_GE, x >= y)
    ARITHMETIC_K(ADDK, OP_ADD, a, b, x + y)
    ARITHMETIC_K(SUBK, OP_SUB, a, b, x - y)
    ARITHMETIC_K(MULK, OP_MUL, a, b, x * y)
    ARITHMETIC_K(DIVK, OP_DIV, a, b, x / y)
    ARITHMETIC_K(RSUBK, OP_SUB, b, a, y - x)
    ARITHMETIC_K(RDIVK, OP_DIV, b, a, y / x)
    L_BINARY: {
        Op op = (Op)*pc++;
        SLOW(binary(vm, f, op, RA, RB, RC));
        pc = f->pc;
        NEXT;
    }
    L_CONCAT: {
        qs_value *b = RB, v;
        SLOW(qops_concat(vm, (int)C, b, &v));
        for (uint32_t i = 0; i < C; i++) clear_slot(vm, &b[i]);
        qinterp_put(vm, RA, v);
        NEXT;
    }
    L_UNARY: {
        qs_value *b = RB;
        if (LIKELY(b->kind == QS_NUM)) {
            double x = b->u.f;
            if (C == OP_NEG) set_num(vm, RA, -x);
            else if (C == OP_PLUS) set_num(vm, RA, x);
            else set_bool(vm, RA, x == 0);
            NEXT;
        }
        SLOW(unary(vm, f, (Op)C, RA, b));
        pc = f->pc;
        NEXT;
    }
    UPDATE_BY(ADDTO, OP_ADD, RB, x + y)
    UPDATE_BY(SUBTO, OP_SUB, RB, x - y)
    UPDATE_BY(MULTO, OP_MUL, RB, x * y)
    UPDATE_BY(DIVTO, OP_DIV, RB, x / y)
    UPDATE_BY(ADDTOK, OP_ADD, &k[BX], x + y)
    L_UPDATE: {
        qs_value *b = RB;
        SLOW(qops_update(vm, (Op)C, RA, *b));
        used(vm, f, b);
        NEXT;
    }
    L_AND: L_OR: {
        qs_value *a = RA;
        bool t;
        if (a->kind == QS_ARRAY || a->kind == QS_FOREIGN) { /* element by element, in the BINARY that follows */
            pc++;
            NEXT;
        }
        SLOW(qval_truth(vm, *a, &t));
        set_bool(vm, a, t);
        JUMP_WHEN(t == ((w & 0xff) == BC_OR));
        NEXT;
    }
    L_JMP: pc += (int32_t)*pc + 1; NEXT;
    L_LOOP:
        ATTEND();
        pc += (int32_t)*pc + 1;
        NEXT;
    L_JTEST: {
        qs_value *a = RA;
        bool t;
        if (LIKELY(a->kind == QS_BOOL)) {
            t = a->u.i != 0;
        } else {
            SLOW(qval_truth(vm, *a, &t));
            used(vm, f, a);
        }
        JUMP_WHEN(t == (bool)B);
        NEXT;
    }
    COMPARE_JUMP(JEQ, OP_EQ, RB, x == y)
    COMPARE_JUMP(JNE, OP_NE, RB, x != y)
    COMPARE_JUMP(JLT, OP_LT, RB, x < y)
    COMPARE_JUMP(JLE, OP_LE, RB, x <= y)
    COMPARE_JUMP(JGT, OP_GT, RB, x > y)
    COMPARE_JUMP(JGE, OP_GE, RB, x >= y)
    COMPARE_JUMP(JEQK, OP_EQ, &k[B], x == y)
    COMPARE_JUMP(JNEK, OP_NE, &k[B], x != y)
    COMPARE_JUMP(JLTK, OP_LT, &k[B], x < y)
    COMPARE_JUMP(JLEK, OP_LE, &k[B], x <= y)
    COMPARE_JUMP(JGTK, OP_GT, &k[B], x > y)
    COMPARE_JUMP(JGEK, OP_GE, &k[B], x >= y)
    L_JMATCH: {
        bool same = qops_match(vm, *RA, *RB, C);
        used(vm, f, RB);
        JUMP_WHEN(same);
        NEXT;
    }
    L_RANGE:
    L_WIDERANGE: {
        qs_value *b = RB, v;
        SLOW(qops_range(vm, literal_dtype(vm, (w & 0xff) == BC_WIDERANGE ? LIST_WIDE : LIST_MATRIX), b, C, &v));
        for (uint32_t i = 0; i < 2 + C; i++) used(vm, f, &b[i]);
        qinterp_put(vm, RA, v);
        NEXT;
    }
    L_MATRIX: SLOW(literal_of(vm, LIST_MATRIX, (int)C, RB, RA)); NEXT;
    L_WIDEMATRIX: SLOW(literal_of(vm, LIST_WIDE, (int)C, RB, RA)); NEXT;
    L_CELL: SLOW(literal_of(vm, LIST_CELL, (int)C, RB, RA)); NEXT;
    L_APPEND: SLOW(qops_append(vm, RA, (int)C, RB)); NEXT;
    L_MATRIXOF: SLOW(literal_of_list(vm, LIST_MATRIX, RB, RA)); NEXT;
    L_WIDEMATRIXOF: SLOW(literal_of_list(vm, LIST_WIDE, RB, RA)); NEXT;
    L_CELLOF: SLOW(literal_of_list(vm, LIST_CELL, RB, RA)); NEXT;

    L_GETELEM1: {
        qs_value *b = RB, *i = RC, v;
        int64_t n;
        if (LIKELY(b->kind == QS_ARRAY)) {
            Array *x = b->u.p;
            if (LIKELY(place1(x, i, &n) && host_current(x->buf) && load_element(x, n, &v))) {
                used(vm, f, b);
                pc++;
                clear_slot(vm, RA);
                *RA = v;
                NEXT;
            }
        } else if (b->kind == QS_CELL) {
            Cell *x = b->u.p;
            if (LIKELY(x->rank == 1 && plain_index(i, &n) && (uint64_t)n < x->count)) {
                v = qval_retain(x->items[n]);
                used(vm, f, b);
                pc++;
                qinterp_put(vm, RA, v);
                NEXT;
            }
        }
        SLOW(get_element(vm, f, RA, b, 1, i, *pc));
        pc++;
        NEXT;
    }
    L_GETELEM2: {
        qs_value *b = RB, *i = RC, v;
        int64_t n;
        if (LIKELY(b->kind == QS_ARRAY)) {
            Array *x = b->u.p;
            if (LIKELY(place2(x, i, &n) && host_current(x->buf) && load_element(x, n, &v))) {
                used(vm, f, b);
                pc++;
                clear_slot(vm, RA);
                *RA = v;
                NEXT;
            }
        }
        SLOW(get_element(vm, f, RA, b, 2, i, *pc));
        pc++;
        NEXT;
    }
    L_GETELEM:
        SLOW(get_element(vm, f, RA, RB, (int)pc[1], RC, pc[0]));
        pc += 2;
        NEXT;
    L_SETELEM1: {
        qs_value *a = RA, *i = RB, *v = RC;
        int64_t n;
        if (LIKELY(a->kind == QS_ARRAY && v->kind == QS_NUM)) {
            Array *x = a->u.p;
            if (LIKELY(place1(x, i, &n) && host_alone(x->buf) && store_element(x, n, v->u.f))) {
                used(vm, f, a);
                pc++;
                NEXT;
            }
        }
        if (a->kind == QS_CELL && ((Cell *)a->u.p)->elem->kind == TY_ANY) {
            Cell *x = a->u.p;
            if (LIKELY(x->rank == 1 && plain_index(i, &n) && (uint64_t)n < x->count)) {
                qinterp_put(vm, &x->items[n], qval_retain(*v));
                used(vm, f, v);
                used(vm, f, a);
                pc++;
                NEXT;
            }
        }
        SLOW(set_element(vm, f, a, 1, i, v, *pc));
        pc++;
        NEXT;
    }
    L_SETELEM2: {
        qs_value *a = RA, *i = RB, *v = RC;
        int64_t n;
        if (LIKELY(a->kind == QS_ARRAY && v->kind == QS_NUM)) {
            Array *x = a->u.p;
            if (LIKELY(place2(x, i, &n) && host_alone(x->buf) && store_element(x, n, v->u.f))) {
                used(vm, f, a);
                pc++;
                NEXT;
            }
        }
        SLOW(set_element(vm, f, a, 2, i, v, *pc));
        pc++;
        NEXT;
    }
    L_SETELEM:
        SLOW(set_element(vm, f, RA, (int)pc[1], RB, RC, pc[0]));
        pc += 2;
        NEXT;
    L_UPDELEM:
        if (RA->kind == QS_ARRAY && RC->kind == QS_NUM && update_number(RA->u.p, RB, RC->u.f, pc[1])) {
            used(vm, f, RA);
            pc += 2;
            NEXT;
        }
        SLOW(update_element(vm, f, (Op)(pc[1] >> 16), RA, (int)(pc[1] & 0xffff), RB, RC, pc[0]));
        pc += 2;
        NEXT;

    L_GETFIELD: {
        qs_value *b = RB, v;
        uint32_t x = *pc;
        FieldCache *cache = &f->proto->caches[FIELD_CACHE(x)];
        Object *o = b->u.p;
        if (LIKELY(b->kind == QS_OBJECT && o->cls && o->cls == cache->shape)) v = qval_retain(o->slots[cache->slot]);
        else SLOW(qops_get_field(vm, *b, k[FIELD_NAME(x)].u.p, cache, &v));
        pc++;
        if (!C) used(vm, f, b);
        qinterp_put(vm, RA, v);
        NEXT;
    }
    L_SETFIELD: {
        qs_value *a = RA, *b = RB;
        uint32_t x = *pc;
        const FieldCache *cache = &f->proto->caches[FIELD_CACHE(x)];
        Object *o = a->u.p;
        if (LIKELY(a->kind == QS_OBJECT && o->cls && o->cls == cache->shape && b->kind == QS_NUM)) {
            o->slots[cache->slot] = *b; /* a scalar, as the cache says */
            pc++;
            used(vm, f, a);
            NEXT;
        }
        SLOW(qops_set_field(vm, *a, k[FIELD_NAME(x)].u.p, &f->proto->caches[FIELD_CACHE(x)], *b));
        pc++;
        used(vm, f, a);
        used(vm, f, b);
        NEXT;
    }

    L_CALLG: {
        qs_value g = *m->globals[*pc++];
        ret = RA;
        args = ret + 1;
        nin = (int)B;
        want = C;
        names = NULL;
        f->pc = pc;
        if (LIKELY(g.kind == QS_FUNCTION)) {
            fn = g.u.p;
            if (fn->fkind == FN_NATIVE) goto call_native;
            fn->gc.hdr.refs++;
        } else if (qval_is_unset(g)) {
            SLOW(qnames_unset(vm, qmod_of(f->proto->func), (int)pc[-1], &g));
        } else {
            qval_retain(g);
        }
        clear_slot(vm, ret);
        *ret = g;
        goto call_value;
    }
    L_CALLN:
        names = k[*pc++].u.p;
        goto call_registers;
    L_CALL:
        names = NULL;
    call_registers:
        ret = RA;
        args = ret + 1;
        nin = (int)B;
        want = C;
        f->pc = pc;
        goto call_value;
    L_METHOD: {
        bool is_field = false;
        qs_value v;
        uint32_t x = pc[0], names_at = pc[1];
        ret = RA;
        if (ret[1].kind == QS_FOREIGN && ((Foreign *)ret[1].u.p)->ftype->method) {
            bool found = true;
            names = names_at == NO_NAMES ? NULL : k[names_at].u.p;
            SLOW(foreign_method(vm, ret, (int)B, k[FIELD_NAME(x)].u.p, names, C, &found));
            if (found) {
                pc += 2;
                NEXT;
            }
        }
        FieldCache *cache = &f->proto->caches[FIELD_CACHE(x)];
        const Object *o = ret[1].u.p;
        if (LIKELY(ret[1].kind == QS_OBJECT && o->cls && o->cls == cache->shape))
            v = qval_retain(*m->globals[cache->slot]);
        else SLOW(qcall_method(vm, f->proto->func, ret[1], k[FIELD_NAME(x)].u.p, cache, &v, &is_field));
        pc += 2;
        f->pc = pc;
        args = ret + 1;
        nin = (int)B + 1;
        want = C;
        names = names_at == NO_NAMES ? NULL : k[names_at].u.p;
        qinterp_put(vm, ret, v);
        if (is_field) {
            clear_slot(vm, args);
            args++;
            nin--;
        }
        goto call_value;
    }

call_value:
    if (__builtin_expect(ret->kind != QS_FUNCTION, 0)) goto call_other;
    fn = ret->u.p;
call_function:
    if (LIKELY(fn->fkind == FN_SCRIPT)) {
        if (__builtin_expect(!fn->proto, 0) && (status = prepare(vm, fn)) != QS_OK) goto fail;
        Proto *p = fn->proto;
        if (__builtin_expect(nin != (int)p->nparams || p->variadic || names, 0) &&
            (status = qcall_arrange(vm, fn, args, nin, names ? names->n : 0, names ? names->at : NULL)) != QS_OK)
            goto fail;
        ATTEND();
        if ((status = push_frame(vm, fn, p, args, ret, want)) != QS_OK) goto fail;
        f = &m->frames[m->nframes - 1];
        pc = p->chunk.code;
        k = p->k;
        base = args;
        NEXT;
    }
    if (fn->fkind == FN_NATIVE) {
    call_native:
        if ((status = call_out(vm, fn, args, nin, names, ret, want)) != QS_OK) goto fail;
        goto called_out;
    }
    if (fn->fkind == FN_FOREIGN) {
        qinterp_put(vm, ret, qval_retain(fn->captures[0]));
        goto call_other;
    }
    {
        Function *chosen = NULL;
        Class *cls = fn->cls;
        status = qcall_select(vm, fn, nin, args, names ? names->n : 0, names ? names->at : NULL, &chosen);
        if (status == QS_OK) {
            fn = chosen;
            goto call_function;
        }
        if (!cls) goto fail;
        qerr_clear(&m->base);
        qinterp_put(vm, ret, qobj_type(vm, cls->type, (TypeMods){0}));
        if ((status = call_out(vm, NULL, args, nin, names, ret, want)) != QS_OK) goto fail;
        goto called_out;
    }
call_other:
    if (ret->kind == QS_TYPE && ((TypeValue *)ret->u.p)->cls && ((TypeValue *)ret->u.p)->cls->ctors) {
        fn = ((TypeValue *)ret->u.p)->cls->ctors;
        qinterp_put(vm, ret, qval_retain(qval_object(QS_FUNCTION, fn)));
        goto call_function;
    }
    if ((status = call_out(vm, NULL, args, nin, names, ret, want)) != QS_OK) goto fail;
called_out:
    if (m->nframes == floor_frames) return QS_OK;
    NEXT;

    L_RETURN: {
        Proto *p = f->proto;
        qs_value *r = f->ret, *result = RA;
        if (LIKELY(f->want == 1 && p->nouts >= 1 && !qval_is_unset(*result))) {
            qs_value v = *result;
            result->kind = QS_NIL;
            pop_frame(vm, f);
            qinterp_put(vm, r, v);
        } else if (f->want == 0) {
            pop_frame(vm, f);
            clear_slot(vm, r);
        } else {
            SLOW(leave_many(vm, f, result, (int)p->nouts));
        }
        goto returned;
    }
    L_RETURN1: {
        qs_value *r = f->ret, *result = RA;
        if (LIKELY((f->want == 1 || f->want == WANT_MAYBE) && !qval_is_unset(*result))) {
            qs_value v = *result;
            if (is_temp(f, result)) result->kind = QS_NIL;
            else qval_retain(v);
            pop_frame(vm, f);
            qinterp_put(vm, r, v);
        } else {
            SLOW(leave_many(vm, f, result, !qval_is_unset(*result)));
        }
    }
returned:
    if (m->nframes == floor_frames) return QS_OK;
    f = &m->frames[m->nframes - 1];
    pc = f->pc;
    base = f->base;
    k = f->proto->k;
    NEXT;

    L_FORPREP:
        SLOW(qops_for(vm, RA, C));
    turns: {
        qs_value *r = RA;
        if (__builtin_expect(qloop_asks(vm, f, r[3].u.i), 0)) {
            bool done;
            SLOW(qloop_enter(vm, f, (uint32_t)(pc - 1 - f->proto->chunk.code), &done));
            if (done) {
                pc = f->pc;
                NEXT;
            }
        }
        if (r[3].u.i > 0) {
            set_num(vm, RB, r[1].u.f);
            pc++;
        } else {
            pc += (int32_t)*pc + 1;
        }
        NEXT;
    }
    L_FORLOOP: {
        qs_value *r = RA;
        int64_t i = ++r[0].u.i;
        if (LIKELY(i < r[3].u.i)) {
            ATTEND();
            set_num(vm, RB, r[1].u.f + (double)i * r[2].u.f);
            pc += (int32_t)*pc;
        }
        pc++;
        NEXT;
    }
    L_FORDIMS: {
        qs_value *a = RA;
        SLOW(qops_for_dims(vm, a, (int)(C & 127), C & 128, RB));
        for (int i = 0; i < 3; i++) clear_slot(vm, &a[i]);
        NEXT;
    }
    L_FORDIM:
        RA[0].u.i = 0;
        goto turns;
    L_ITER: SLOW(qops_iter(vm, RA)); NEXT;
    L_NEXT: {
        qs_value v;
        bool more;
        SLOW(qops_next(vm, RA, &v, &more));
        if (more) qinterp_put(vm, RB, v);
        JUMP_WHEN(!more);
        NEXT;
    }
    L_DESTRUCT: {
        qs_value *a = RA, *b = RB, whole = qval_retain(*b);
        used(vm, f, b);
        for (uint32_t i = 0; i < C; i++) qinterp_clear(vm, &a[i]);
        f->pc = pc;
        status = qops_destruct(vm, whole, (int)C, a);
        qval_release(vm, whole);
        if (status != QS_OK) goto fail;
        NEXT;
    }
    L_FUSE: {
        bool done;
        SLOW(qfuse_region(vm, f, &f->proto->chunk.fuses[BX], &done));
        pc = f->pc;
        NEXT;
    }
    L_IMPORT: SLOW(qmod_import(vm, k[BX].u.p)); NEXT;

fail:
    if (status == QS_EINTERRUPT) (void)qvm_take_interrupt(vm); /* a kernel leaves the flag up */
    if (!unwind(vm, status, floor_frames)) return status;
    f = &m->frames[m->nframes - 1];
    pc = f->pc;
    base = f->base;
    k = f->proto->k;
    NEXT;
}

/* -- calls from C ------------------------------------------------------------------------------------------------ */

/* Arguments go on the stack behind the function; its results come back to the same place. */
qs_status qvm_call(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nnamed, Str *const *names, int nout,
                   qs_value *out) {
    Machine *m = qvm(vm);
    qs_value *top = m->top, *ret = free_slot(m);
    bool maybe = nout < 0;
    if (maybe) nout = 1;
    if (m->depth >= MAX_NESTING)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "the recursion is too deep (%u calls between scripts and built-ins)",
                        m->depth);
    if (nin < 0 || nout > MAX_WANTED || ret + nin + MAX_WANTED > m->stack_limit) return too_deep(vm);
    qinterp_put(vm, ret, qval_retain(fn));
    for (int i = 0; i < nin; i++) qinterp_put(vm, ret + 1 + i, qval_retain(in[i]));
    for (int i = 1 + nin; i < nout; i++) qinterp_clear(vm, ret + i);
    m->top = ret + 1 + (nin > nout ? nin : nout);
    NameTable table = {nnamed, (Str **)names};
    m->depth++;
    qs_status s = run(vm, ret, nin, nnamed ? &table : NULL, maybe ? WANT_MAYBE : (uint32_t)nout);
    m->depth--;
    m->top = top;
    for (int i = 0; i < nout && s == QS_OK; i++) {
        out[i] = qval_is_unset(ret[i]) ? qs_nil() : ret[i];
        ret[i] = qs_nil();
    }
    for (int i = 0; i <= (nin > nout ? nin : nout); i++) qinterp_clear(vm, ret + i);
    return s;
}
