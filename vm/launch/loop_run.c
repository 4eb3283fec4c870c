/* loop_run.c    -- parameters of a version, locks around its launch, variables afterwards. */
#include "vm/launch/loop_run.h"

#include "vm/session/python.h"

#include <string.h>

/* -- parameters -------------------------------------------------------------------------------------------------- */
static DevArg number(KSlot s) { return (DevArg){.bits = s.bits, .size = 8}; }
static DevArg real_arg(double x) { KSlot s = {0}; return s.F64 = x, number(s); }
static DevArg whole_arg(int64_t x) { KSlot s = {0}; return s.I64 = x, number(s); }

static DevArg array_arg(const Array *a) {
    DevArg arg = {.is_array = true, .offset = a->offset * qdtype_size((qs_dtype)a->dtype), .rank = a->rank};
    memcpy(arg.dims, a->dims, sizeof arg.dims);
    memcpy(arg.strides, a->strides, sizeof arg.strides);
    return arg;
}

static DevArg source_arg(const Call *c, int index, qs_dtype d) {
    qs_value v = qloop_value(c->vm, c->f, c->v, index);
    if (v.kind == QS_ARRAY) return array_arg(v.u.p);
    if (v.kind == QS_COMPLEX) return real_arg(((const Complex *)v.u.p)->re);
    if (d == QS_F64) return real_arg(qval_number(v));
    if (d == QS_B1) return (DevArg){.bits = v.u.i != 0, .size = 1};
    return whole_arg(v.kind == QS_NUM ? (int64_t)v.u.f : v.u.i);
}

static DevArg imaginary_arg(const Call *c, int index) {
    return real_arg(((const Complex *)qloop_value(c->vm, c->f, c->v, index).u.p)->im);
}

static DevArg counter_arg(const Call *c, const LoopBind *b, qs_dtype d) {
    const Counter *k = &c->counters[b->index];
    double x = b->kind == LOOP_FIRST ? k->first : qloop_last(k);
    if (b->kind == LOOP_TURNS) return whole_arg(k->turns);
    return d == QS_F64 ? real_arg(x) : whole_arg((int64_t)x);
}

/* The memory of the host that a parameter for results means, n elements of eight bytes; NULL: it is none. */
static void *results_of(Call *c, const LoopBind *b, int64_t *n) {
    switch ((LoopBindKind)b->kind) {
    case LOOP_REALS: return *n = RESULTS, c->reals;
    case LOOP_WHOLES: return *n = RESULTS, c->wholes;
    case LOOP_PARTS: return *n = PARTS * LOOP_CHUNKS, c->parts;
    case LOOP_SUMS: return *n = c->nchunks * qloop_sum_count(c, b->index), c->sums[b->index];
    default: return NULL;
    }
}

static DevArg results_arg(Call *c, const LoopBind *b) {
    DevArg a = {.is_array = true, .rank = 1, .strides = {1}};
    a.block = (DevPtr)(uintptr_t)results_of(c, b, &a.dims[0]);
    return a;
}

static void bind(Call *c, const LoopCode *code) {
    for (int i = 0; i < code->func->nparams; i++) {
        const LoopBind *b = &code->binds[i];
        qs_dtype d = (qs_dtype)code->func->params[i].dtype;
        switch ((LoopBindKind)b->kind) {
        case LOOP_SOURCE: case LOOP_SNAPSHOT: c->args[i] = source_arg(c, b->index, d); break;
        case LOOP_IMAGINARY: c->args[i] = imaginary_arg(c, b->index); break;
        case LOOP_REALS: case LOOP_WHOLES: case LOOP_PARTS: case LOOP_SUMS: c->args[i] = results_arg(c, b); break;
        case LOOP_CHUNK: c->args[i] = whole_arg(c->chunk); break;
        case LOOP_SEED: c->args[i] = whole_arg((int64_t)qvm(c->vm)->random_seed); break;
        case LOOP_DRAWN: c->args[i] = whole_arg((int64_t)qvm(c->vm)->random_drawn); break;
        default: c->args[i] = counter_arg(c, b, d); break;
        }
    }
}

const Array *qloop_array(const Call *c, const LoopBind *b) {
    if (b->kind != LOOP_SOURCE && b->kind != LOOP_SNAPSHOT) return NULL;
    qs_value v = qloop_value(c->vm, c->f, c->v, b->index);
    return v.kind == QS_ARRAY ? v.u.p : NULL;
}

static qs_status unlock(Call *c, qs_status s) {
    while (c->nheld) {
        const Held *h = &c->held[--c->nheld];
        s = qbuf_leave(qvm_ctx(c->vm), h->buf, c->d, h->mode, s);
    }
    return s;
}

/* Each buffer is locked once, in the strongest mode that any of its arrays needs. */
static qs_status lock(Call *c, const LoopCode *code) {
    int which[PARAMS] = {0};
    c->nheld = 0;
    Held list[PARAMS];
    int n = 0;
    for (int i = 0; i < code->func->nparams; i++) {
        const Array *a = qloop_array(c, &code->binds[i]);
        Buffer *buf = a ? a->buf : c->results[i];
        if (!buf) continue;
        int k = 0;
        while (k < n && list[k].buf != buf) k++;
        if (k == n) list[n++] = (Held){buf, QS_READ, 0};
        if (code->func->params[i].written) list[k].mode = QS_READWRITE;
        which[i] = k + 1;
    }
    for (int k = 0; k < n; k++) {
        qs_status s = qbuf_lock(qvm_ctx(c->vm), list[k].buf, c->d, list[k].mode, &list[k].block);
        if (s != QS_OK) return unlock(c, s);
        c->held[c->nheld++] = list[k];
    }
    for (int i = 0; i < code->func->nparams; i++)
        if (which[i]) c->args[i].block = list[which[i] - 1].block;
    return QS_OK;
}

/* -- results on a device with memory of its own ------------------------------------------------------------------- */
static void drop_results(Call *c, int n) {
    for (int i = 0; i < n; i++)
        if (c->results[i]) qbuf_release(qvm_ctx(c->vm), c->results[i]);
}

/* All but sums are only written; these go on from what they are. */
static qs_status make_result(Call *c, const LoopBind *b, Buffer **out) {
    int64_t n = 0;
    void *from = results_of(c, b, &n), *to;
    if (!from) return QS_OK;
    TRY(qbuf_new(qvm_ctx(c->vm), (size_t)n * sizeof(double), b->kind != LOOP_SUMS, out));
    if (b->kind != LOOP_SUMS) return QS_OK;
    TRY(qbuf_host(qvm_ctx(c->vm), *out, QS_WRITE, &to));
    memcpy(to, from, (size_t)n * sizeof(double));
    return QS_OK;
}

static qs_status make_results(Call *c, const LoopCode *code) {
    int n = code->func->nparams;
    memset(c->results, 0, (size_t)n * sizeof *c->results);
    for (int i = 0; i < n && c->d->memory != HOST_MEMORY; i++) {
        qs_status s = make_result(c, &code->binds[i], &c->results[i]);
        if (s != QS_OK) return drop_results(c, i + 1), s;
    }
    return QS_OK;
}

static qs_status fetch_results(Call *c, const LoopCode *code) {
    int64_t count = 0;
    void *p;
    for (int i = 0; i < code->func->nparams; i++) {
        if (!c->results[i]) continue;
        TRY(qbuf_host(qvm_ctx(c->vm), c->results[i], QS_READ, &p));
        void *to = results_of(c, &code->binds[i], &count);
        memcpy(to, p, (size_t)count * sizeof(double));
    }
    return QS_OK;
}

/* An array that is written shares its memory with no other, and its elements with each other. */
bool qloop_apart(const Call *c, const LoopCode *code) {
    for (int i = 0; i < code->func->nparams; i++) {
        const Array *a = qloop_array(c, &code->binds[i]);
        if (!a || !code->func->params[i].written) continue;
        if (!a->contiguous) return false;
        for (int k = 0; k < code->func->nparams; k++) {
            const Array *b = k == i ? NULL : qloop_array(c, &code->binds[k]);
            if (b && qbuf_overlap(b->buf, a->buf)) return false;
        }
    }
    return true;
}

bool qloop_vectors_apart(const Call *c) {
    const LoopCode *code = &c->v->code.exact;
    for (int i = 0; i < code->func->nparams; i++) {
        const Array *a = qloop_array(c, &code->binds[i]);
        if (!a || code->binds[i].kind != LOOP_SNAPSHOT) continue;
        for (int k = 0; k < code->func->nparams; k++) {
            const Array *b = code->func->params[k].written ? qloop_array(c, &code->binds[k]) : NULL;
            if (b && qbuf_overlap(b->buf, a->buf)) return false;
        }
    }
    return true;
}

/* An object of which fields are set has one name in the loop. */
bool qloop_objects_apart(const Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        for (int k = 0; o->object >= 0 && k < c->v->nsources; k++) {
            bool other = k != o->object && c->v->source[k].seen.kind == LOOP_OBJECT;
            if (other && qloop_value(c->vm, c->f, c->v, k).u.p == qloop_value(c->vm, c->f, c->v, o->object).u.p)
                return false;
        }
    }
    return true;
}

const Launch qloop_serially = {.rank = 1, .domain = {1}, .block = {1}};

qs_status qloop_guard(Call *c) {
    const LoopCode *g = &c->v->code.guard;
    KArg args[PARAMS];
    KLaunch l = {.rank = 1, .domain = {1}, .block = {1}};
    KFault fault = {0};
    bind(c, g);
    for (int i = 0; i < g->func->nparams; i++) {
        const DevArg *a = &c->args[i];
        args[i] = (KArg){.data = (void *)(uintptr_t)a->block, .bits = a->bits};
        memcpy(args[i].dims, a->dims, sizeof a->dims);
        memcpy(args[i].strides, a->strides, sizeof a->strides);
    }
    return keval_run(qvm_ctx(c->vm), g->func, args, &l, &fault, NULL);
}

/* -- afterwards -------------------------------------------------------------------------------------------------- */
static qs_status vector_value(Call *c, const LoopOut *o, qs_value *out) {
    int64_t dims[2] = {o->columns ? o->length / o->columns : o->length, o->columns};
    qs_dtype d = qvm_ctx(c->vm)->scalar_dtype;
    Array *a;
    void *p;
    for (int i = 0; i < o->length; i++)
        if (qdtype_rounds_whole(c->reals[o->slot + i])) d = QS_F64;
    TRY(qarr_new(c->vm, d, o->columns ? 2 : 1, dims, false, &a));
    *out = qarr_value(a);
    TRY(qarr_write(c->vm, a, &p));
    for (int i = 0; i < o->length; i++)
        if (a->dtype == QS_F64) ((double *)p)[i] = c->reals[o->slot + i];
        else ((float *)p)[i] = (float)c->reals[o->slot + i];
    return QS_OK;
}

static qs_status result(Call *c, const LoopOut *o, qs_value *out) {
    switch ((LoopKind)o->kind) {
    case LOOP_INT: *out = qs_int(c->wholes[o->slot]); return QS_OK;
    case LOOP_BOOL: *out = qs_bool(c->reals[o->slot] != 0); return QS_OK;
    case LOOP_COMPLEX: return qval_complex(c->vm, c->reals[o->slot], c->reals[o->slot + 1], out);
    case LOOP_VECTOR: return vector_value(c, o, out);
    default: *out = qs_num(c->reals[o->slot]); return QS_OK;
    }
}

static qs_status set_variables(Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        qs_value v = qs_nil();
        if (o->given >= 0 && c->reals[o->given] == 0) continue;
        qs_status s = result(c, o, &v);
        if (s != QS_OK) return qval_release(c->vm, v), s;
        if (o->object >= 0) {
            s = qobj_set(c->vm, qloop_value(c->vm, c->f, c->v, o->object).u.p, o->sym->name, v);
            qval_release(c->vm, v);
            TRY(s);
            continue;
        }
        qinterp_put(c->vm, qloop_place(c->vm, c->f, o->sym), v);
    }
    return QS_OK;
}

static void note_drawn(Call *c, Version which) {
    const LoopResult *code = &c->v->code;
    uint64_t *drawn = &qvm(c->vm)->random_drawn;
    if (code->drawn < 0) return;
    if (which == PARALLEL) *drawn += (uint64_t)(code->draws * c->counters[0].turns);
    else *drawn = (uint64_t)c->wholes[code->drawn];
}

static qs_status launch(Call *c, const LoopCode *code, Program *p, const Launch *l, DevFault *fault) {
    qs_status s = lock(c, code);
    c->launched = s == QS_OK;
    if (s != QS_OK) return s;
    qpython_unblock(c->vm);
    s = qreport_launch(c->vm, c->d, code->func, p, l, c->args, fault);
    qpython_block(c->vm);
    return unlock(c, s);
}

static qs_status run(Call *c, Version which, Program *p, Launch l, bool *again) {
    const LoopCode *code = qloop_code(c->v, which);
    DevFault fault = {0};
    if (which == PARALLEL) qdevices_block(c->d, l.rank, l.domain, l.block);
    bind(c, code);
    TRY(make_results(c, code));
    qs_status s = launch(c, code, p, &l, &fault);
    if (s == QS_OK) s = fetch_results(c, code);
    drop_results(c, code->func->nparams);
    TRY(s);
    if (which == PARALLEL && fault.message) return *again = true, QS_OK; /* nothing was changed */
    if (which == PARALLEL && c->v->code.chunked) {
        if (!qloop_reduce(c)) return *again = true, QS_OK;
        TRY(qloop_add_sums(c));
    }
    note_drawn(c, which);
    TRY(set_variables(c));
    return fault.message ? qloop_fault(c, code, &fault) : QS_OK;
}

qs_status qloop_run(Call *c, Device *d, Version which, const Launch *l, bool *again) {
    Program *p;
    c->d = d, c->launched = false;
    qs_status s = qvariants_load(c->vm, &c->v->base, (int)which, qloop_code(c->v, which)->func, d, &p);
    c->loaded = s == QS_OK;
    return c->loaded ? run(c, which, p, *l, again) : s;
}
