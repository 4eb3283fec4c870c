/* fuse.c -- runs a fusible expression as one kernel: shapes, specialisation by element types, launch.
 *
 * A region is compiled for the element types of its leaves once it has worked enough for the compiler to pay: a cheap
 * expression on small arrays never leaves the loops of arith.c.  Those loops also serve where there is no code
 * generator, and what lang/kernel/host/fuse.c declines; results agree, that is what the types are chosen for. */
#include "vm/launch/regions.h"

#include "lang/kernel/host/fuse.h"
#include "lang/kernel/ir/sem.h"
#include "vm/launch/run.h"
#include "vm/array/operand.h"
#include "vm/launch/form.h"

#include <math.h>
#include <string.h>

/* Operator evaluations after which a region is compiled: about the time that compiling takes.  A function takes that
 * of many operators. */
static const double worth_compiling = 4e6;
enum { CALL = 8 };
enum { LEAVES = 16, CHUNKS = 64, CHUNK_LEAST = 16384, BLOCKS = 1024, PARTS = BLOCKS /* the larger of the two */ };

typedef struct { /* the region for one combination of leaf types */
    Variant base;
    FuseLeafType types[LEAVES];
    bool flat, grouped;
    int rank;
    FuseKernel kernel; /* func NULL: declined */
    Device *device;    /* that it is for; NULL: made for the cache */
} Form;

typedef struct { double work; FuseExpr expr; Variants forms; } State;

typedef struct { /* the leaves now */
    int n;
    qs_value at[LEAVES];
    FuseLeafType types[LEAVES];
    bool flat;
    int rank;
    int64_t dims[QS_MAX_RANK];
    size_t count;
    int shape_rank; /* of the result: as arith.c gives it */
    int64_t shape[QS_MAX_RANK];
} Now;

/* -- the leaves ---------------------------------------------------------------------------------------------------- */
static bool leaf_type(qs_value v, FuseLeafType *t) {
    *t = (FuseLeafType){.array = v.kind == QS_ARRAY, .weak_int = v.kind == QS_INT || v.kind == QS_BOOL,
                        .complex = v.kind == QS_COMPLEX};
    if (t->array) t->dtype = qval_array(v)->dtype;
    return t->array || t->complex || qval_is_number(v);
}

/* Extents of an array seen with rank r: a vec is one row of a matrix. */
static int64_t extent(const Array *a, int r, int d) {
    int from = d - (r - a->rank);
    return from < 0 ? 1 : a->dims[from];
}

static bool same_dims(const Array *a, const Array *b) {
    return a->rank == b->rank && !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

/* A shape that a leaf has stays; one that comes about by stretching is of the language. */
static void shape_result(Now *now) {
    memcpy(now->shape, now->dims, sizeof now->shape);
    now->shape_rank = now->rank;
    for (int i = 0; i < now->n; i++) {
        const Array *a = now->types[i].array ? qval_array(now->at[i]) : NULL;
        if (a && a->rank == now->rank && !memcmp(a->dims, now->dims, (size_t)a->rank * sizeof *a->dims)) return;
    }
    now->shape_rank = qarr_normalise(now->rank, now->shape);
}

/* The common shape; false: shapes that do not fit are left to the operators, which know the sentence. */
static bool common_shape(Now *now) {
    const Array *first = NULL;
    now->flat = true;
    for (int i = 0; i < now->n; i++) {
        if (!now->types[i].array) continue;
        const Array *a = qval_array(now->at[i]);
        if (a->rank == 0 || !qarr_aligned(a)) return false;
        if (!first) first = a, now->rank = a->rank;
        if (!a->contiguous || !same_dims(a, first)) now->flat = false;
        if (a->rank != now->rank && (a->rank > 2 || now->rank > 2)) return false;
        if (a->rank > now->rank) now->rank = a->rank;
    }
    if (!first) return false;
    now->count = 1;
    for (int d = 0; d < now->rank; d++) {
        now->dims[d] = 1;
        for (int i = 0; i < now->n; i++) {
            if (!now->types[i].array) continue;
            int64_t n = extent(qval_array(now->at[i]), now->rank, d);
            if (now->dims[d] == 1) now->dims[d] = n;
            else if (n != 1 && n != now->dims[d]) return false;
        }
        now->count *= (size_t)now->dims[d]; /* the extents are of arrays that exist, one of each: cannot wrap by much */
        if (now->count > (size_t)1 << 46) return false;
    }
    shape_result(now);
    return true;
}

/* Integers that an array of integers may not hold are errors, or change the type: the operators know. */
static bool ints_fit(const Now *now) {
    bool is_unsigned = false;
    for (int i = 0; i < now->n; i++)
        is_unsigned |= now->types[i].array && (now->types[i].dtype == QS_U32 || now->types[i].dtype == QS_U64);
    for (int i = 0; i < now->n; i++) {
        qs_value v = now->at[i];
        if (v.kind == QS_INT && (v.u.i > INT32_MAX || v.u.i < (is_unsigned ? 0 : INT32_MIN))) return false;
    }
    return true;
}

static bool look(const Frame *f, const FuseRegion *r, Now *now) {
    now->n = r->nleaves;
    if (now->n > LEAVES) return false;
    for (int i = 0; i < now->n; i++) {
        now->at[i] = f->base[r->regs[i]];
        if (!leaf_type(now->at[i], &now->types[i])) return false;
    }
    return ints_fit(now) && common_shape(now);
}

/* -- specialisations ----------------------------------------------------------------------------------------------- */
static State *state_of(qs_vm *vm, const Frame *f, FuseRegion *r) {
    if (r->machine) return r->machine;
    State *s = r->machine = qmem_alloc(qvm_ctx(vm), sizeof *s);
    s->expr = (FuseExpr){.src = f->proto->func->unit->src, .root = r->root,
                         .kind = r->reduction ? kfuse_reduction(r->reduction, 1) : FUSE_MAP,
                         .leaves = r->leaves, .nleaves = r->nleaves, .nops = r->nops,
                         .fast_math = qvm(vm)->config.fast_math};
    return s;
}

static Form *find_form(const State *s, const Now *now, const Device *d, bool grouped) {
    for (Variant *at = s->forms.last; at; at = at->next) {
        Form *v = (Form *)at;
        if (v->device == d && v->flat == now->flat && v->grouped == grouped && (v->flat || v->rank == now->rank) &&
            !memcmp(v->types, now->types, (size_t)now->n * sizeof *now->types))
            return v;
    }
    return NULL;
}

static qs_status make_form(qs_vm *vm, State *s, const Now *now, Device *d, bool grouped, Form **out) {
    Form *v = *out = qvariants_new(vm, &s->forms, sizeof *v);
    v->flat = now->flat;
    v->rank = now->rank;
    v->grouped = grouped;
    v->device = d;
    memcpy(v->types, now->types, sizeof v->types);
    s->expr.grouped = grouped;
    return kfuse_build(qvm_ctx(vm), &v->base.arena, &s->expr, v->types, v->flat, v->rank, &v->kernel);
}

void qfuse_free(qs_vm *vm, FuseRegion *r) {
    State *s = r->machine;
    if (!s) return;
    qvariants_free(vm, &s->forms);
    qmem_free(qvm_ctx(vm), s, sizeof *s);
    r->machine = NULL;
}

/* -- the launch ---------------------------------------------------------------------------------------------------- */
static DevArg float_arg(double x) { return (DevArg){.bits = (KSlot){.F64 = x}.bits, .size = 8}; }

static int number_args(qs_value v, const FuseLeafType *t, DevArg *args) {
    if (t->weak_int) return args[0] = (DevArg){.bits = (KSlot){.I64 = v.u.i}.bits, .size = 8}, 1;
    if (!t->complex) return args[0] = float_arg(v.u.f), 1;
    QComplexD z = qscalar_complex(v);
    return args[0] = float_arg(z.re), args[1] = float_arg(z.im), 2;
}

/* An array over the domain of `now`; stretched dimensions have stride 0. */
static DevArg array_arg(const Now *now, const Array *a) {
    DevArg arg = {
        .is_array = true, .offset = a->offset * qdtype_size((qs_dtype)a->dtype), .rank = now->flat ? 1 : now->rank};
    if (now->flat) return arg.dims[0] = (int64_t)a->count, arg.strides[0] = 1, arg;
    for (int d = 0; d < now->rank; d++) {
        int from = d - (now->rank - a->rank);
        arg.dims[d] = now->dims[d];
        arg.strides[d] = from < 0 || a->dims[from] == 1 ? 0 : a->strides[from];
    }
    return arg;
}

typedef struct { Buffer *buf; qs_access mode; } Held;

static qs_status hold(qs_vm *vm, Device *d, Array *a, qs_access mode, DevArg *arg, Held *held, int *n) {
    qs_status s = qbuf_lock(qvm_ctx(vm), a->buf, d, mode, &arg->block);
    if (s != QS_OK) return qarr_lock_failed(vm, a, NULL, s);
    held[(*n)++] = (Held){a->buf, mode};
    return QS_OK;
}

static qs_status launch(qs_vm *vm, Device *d, const KFunc *f, Program *p, const Now *now, const Launch *l,
                        int64_t chunk, Array *result) {
    DevArg args[2 * LEAVES + 3], *shared[LEAVES];
    Held held[LEAVES + 1];
    int nheld = 0, n = 0, nshared = 0;
    qs_status s = QS_OK;
    for (int i = 0; i < now->n && s == QS_OK; i++) {
        if (!now->types[i].array) {
            n += number_args(now->at[i], &now->types[i], &args[n]);
            continue;
        }
        args[n] = array_arg(now, qval_array(now->at[i]));
        if (qval_array(now->at[i]) == result) shared[nshared++] = &args[n];
        else s = hold(vm, d, qval_array(now->at[i]), QS_READ, &args[n], held, &nheld);
        n++;
    }
    if (chunk) {
        args[n++] = (DevArg){.bits = (uint64_t)chunk, .size = 8};
        args[n++] = (DevArg){.bits = now->count, .size = 8};
    }
    args[n] =
        (DevArg){.is_array = true, .offset = result->offset * qdtype_size((qs_dtype)result->dtype), .rank = l->rank};
    for (int k = l->rank - 1, stride = 1; k >= 0; k--) {
        args[n].dims[k] = l->domain[k];
        args[n].strides[k] = k == l->rank - 1 ? stride : args[n].strides[k + 1] * l->domain[k + 1];
    }
    if (chunk) args[n].dims[0] = result->dims[0];
    if (s == QS_OK) s = hold(vm, d, result, nshared ? QS_READWRITE : QS_WRITE, &args[n], held, &nheld);
    while (nshared--) shared[nshared]->block = args[n].block;
    if (s == QS_OK) s = qreport_launch(vm, d, f, p, l, args, NULL);
    if (s == QS_EINTERRUPT) (void)qvm_take_interrupt(vm); /* it is over with the launch */
    while (nheld--) s = qbuf_leave(qvm_ctx(vm), held[nheld].buf, d, held[nheld].mode, s);
    return s;
}

/* An array whose memory nobody would miss. */
static bool ours(const Array *a, qs_dtype d) {
    return a->dtype == d && a->hdr.refs == 1 && a->hdr.flags == 0 && a->contiguous && a->buf->home < 0 &&
           !qbuf_shared(a->buf);
}

static Array *own(Array *a) { return a->hdr.refs++, a; }

/* Where the result may lie: in an operand that goes with the expression, because each position reads its own element
 * before it writes it, or in what the variable that gets the result held until now.  NULL: nowhere. */
static Array *spare(const Frame *f, const FuseRegion *r, const Form *v, const Now *now) {
    qs_value old = f->base[r->dst];
    for (int i = 0; now->flat && i < now->n; i++) {
        bool goes = r->regs[i] >= f->proto->chunk.ntemp || r->regs[i] == r->dst;
        if (goes && now->types[i].array && ours(qval_array(now->at[i]), v->kernel.dtype))
            return own(qval_array(now->at[i]));
    }
    if (old.kind != QS_ARRAY || !ours(qval_array(old), v->kernel.dtype) || qval_array(old)->rank != now->shape_rank)
        return NULL;
    for (int i = 0; i < now->n; i++)
        if (r->regs[i] == r->dst) return NULL; /* is read in another order */
    bool fits = !memcmp(qval_array(old)->dims, now->shape, (size_t)now->shape_rank * sizeof *now->shape);
    return fits ? own(qval_array(old)) : NULL;
}

static qs_status run_map(qs_vm *vm, Device *d, Program *p, const Form *v, const Now *now, Array *result,
                         qs_value *out) {
    Launch l = {.rank = now->flat ? 1 : now->rank, .any_block = true};
    if (now->flat) l.domain[0] = (int64_t)now->count;
    else memcpy(l.domain, now->dims, sizeof l.domain);
    qdevices_block(d, l.rank, l.domain, l.block);
    if (!result) TRY(qarr_new_raw(vm, v->kernel.dtype, now->shape_rank, now->shape, false, &result));
    qs_status s = launch(vm, d, v->kernel.func, p, now, &l, 0, result);
    if (s != QS_OK) return qarr_release(vm, result), s;
    *out = qarr_value(result);
    return QS_OK;
}

static double merge(FuseKind kind, double a, double b) {
    return kind == FUSE_MIN ? ksem_MIN_F64(a, b) : kind == FUSE_MAX ? ksem_MAX_F64(a, b) : a + b;
}

/* The partial results, merged pairwise so that the error of a sum stays that of its blocks. */
static qs_status merge_parts(qs_vm *vm, const State *st, const Form *v, const Now *now, Array *parts,
                             qs_value *out) {
    const void *p;
    TRY(qarr_read(vm, parts, &p));
    if (v->kernel.dtype == QS_I64) {
        int64_t sum = 0;
        for (size_t i = 0; i < parts->count; i++) sum += ((const int64_t *)p)[i];
        *out = v->kernel.integral ? qs_int(sum) : qs_num((double)sum);
        return QS_OK;
    }
    double x[PARTS];
    for (size_t i = 0; i < parts->count; i++)
        x[i] = qdtype_get(v->kernel.dtype, (const char *)p + i * qdtype_size(v->kernel.dtype));
    for (size_t n = parts->count; n > 1; n = (n + 1) / 2)
        for (size_t i = 0; i < n / 2; i++) x[i] = merge(st->expr.kind, x[i], x[n - 1 - i]);
    *out = qs_num(st->expr.kind == FUSE_MEAN ? x[0] / (double)now->count : x[0]);
    return QS_OK;
}

/* How the elements are shared out: *chunk, the positions of the launch, and the partial results they make. */
static int64_t share_out(const Form *v, size_t count, Launch *l, int64_t *chunk) {
    int64_t n = (int64_t)count, nparts;
    *l = (Launch){.rank = 1, .block = {v->grouped ? FUSE_GROUP : 1}};
    if (v->grouped) {
        nparts = (n - 1) / (8 * FUSE_GROUP) + 1; /* eight elements for a position before there is another block */
        if (nparts > BLOCKS) nparts = BLOCKS;
        l->domain[0] = *chunk = nparts * FUSE_GROUP;
        return nparts;
    }
    *chunk = n / CHUNKS + 1 > CHUNK_LEAST ? n / CHUNKS + 1 : CHUNK_LEAST;
    return l->domain[0] = (n + *chunk - 1) / *chunk;
}

static qs_status run_reduction(qs_vm *vm, Device *d, Program *p, const State *st, const Form *v, const Now *now,
                               qs_value *out) {
    Launch l;
    int64_t chunk, nparts = share_out(v, now->count, &l, &chunk);
    Array *parts;
    TRY(qarr_new_raw(vm, v->kernel.dtype, 1, &nparts, false, &parts));
    qs_status s = launch(vm, d, v->kernel.func, p, now, &l, chunk, parts);
    if (s == QS_OK) s = merge_parts(vm, st, v, now, parts, out);
    qarr_release(vm, parts);
    return s;
}

/* -- the decision -------------------------------------------------------------------------------------------------- */
/* A failure to make or load code leaves the expression to the operators; only an interrupt counts. */
static qs_status give_up(qs_vm *vm, Form *v) {
    if (qvm_ctx(vm)->err.status == QS_EINTERRUPT) return QS_EINTERRUPT;
    qerr_clear(qvm_ctx(vm));
    if (v) v->kernel.func = NULL;
    return QS_OK;
}

/* Would the operators have to fetch an array from the device first? */
static bool is_away(const Now *now) {
    for (int i = 0; i < now->n; i++)
        if (now->types[i].array && !(qval_array(now->at[i])->buf->valid & 1u << HOST_MEMORY)) return true;
    return false;
}

/* When the machine chooses: a device that holds what the host does not, or the processor. */
static Device *nearest(qs_vm *vm, const Now *now) {
    for (int i = 0; i < now->n; i++) {
        uint32_t valid = now->types[i].array ? qval_array(now->at[i])->buf->valid : 1;
        for (int k = 1; k < qvm(vm)->ndevices && !(valid & 1); k++)
            if (valid & 1u << qvm(vm)->devices[k].memory) return &qvm(vm)->devices[k];
    }
    return &qvm(vm)->devices[0];
}

static bool at_once(qs_vm *vm) { return qvm(vm)->fuse_least <= 1; }

static bool pays(qs_vm *vm, const State *s, const Now *now) {
    return s->work >= worth_compiling || at_once(vm) || qvm(vm)->config.compile_for || is_away(now);
}

/* For the cache: what a GPU would run of this expression. */
static qs_status compile_ahead(qs_vm *vm, State *s, const Now *now) {
    Form *v;
    bool grouped = s->expr.kind != FUSE_MAP;
    if (!qvm(vm)->config.compile_for || find_form(s, now, NULL, true)) return QS_OK;
    TRY(make_form(vm, s, now, NULL, true, &v));
    return grouped && v->kernel.func ? qprogram_compile_ahead(vm, v->kernel.func) : QS_OK;
}

/* The kernel for the leaves as they are now, loaded; *program NULL: not worth it, or declined. */
static qs_status prepare(qs_vm *vm, State *s, const FuseRegion *r, const Now *now, Device **d, Form **v,
                         Program **program) {
    *program = NULL;
    s->work += (double)now->count * (r->nops + CALL * r->ncalls + 1);
    if (!s->forms.last && !pays(vm, s, now)) return QS_OK;
    if (qdevices_current(vm, d) != QS_OK) return give_up(vm, NULL);
    if (qvm(vm)->automatic) *d = nearest(vm, now);
    if ((*d)->ops->code == CODE_KIR && !at_once(vm)) return QS_OK; /* the evaluator is slower than the loops */
    bool grouped = (*d)->wide && s->expr.kind != FUSE_MAP;
    *v = find_form(s, now, *d, grouped);
    if (!*v && !pays(vm, s, now)) return QS_OK;
    if (compile_ahead(vm, s, now) != QS_OK) return give_up(vm, NULL);
    if (!*v && make_form(vm, s, now, *d, grouped, v) != QS_OK) return give_up(vm, *v);
    if (!(*v)->kernel.func) return QS_OK;
    return qvariants_load(vm, &(*v)->base, 0, (*v)->kernel.func, *d, program) == QS_OK ? QS_OK : give_up(vm, *v);
}

qs_status qfuse_region(qs_vm *vm, Frame *f, FuseRegion *r, bool *done) {
    Now now;
    Device *d;
    Form *v = NULL;
    Program *program;
    qs_value result = qs_nil();
    *done = false;
    if (!look(f, r, &now) || now.count < qvm(vm)->fuse_least) return QS_OK;
    State *s = state_of(vm, f, r);
    TRY(prepare(vm, s, r, &now, &d, &v, &program));
    if (!program) return QS_OK;
    TRY(s->expr.kind == FUSE_MAP ? run_map(vm, d, program, v, &now, spare(f, r, v, &now), &result)
                                 : run_reduction(vm, d, program, s, v, &now, &result));
    for (int i = 0; i < r->nleaves; i++)
        if (r->regs[i] >= f->proto->chunk.ntemp) qinterp_clear(vm, &f->base[r->regs[i]]);
    qinterp_put(vm, &f->base[r->dst], result);
    f->pc = f->proto->chunk.code + r->end;
    *done = true;
    return QS_OK;
}

qs_status qfuse_at(qs_vm *vm, Frame *f, uint32_t pc, bool *done) {
    Chunk *c = &f->proto->chunk;
    *done = false;
    for (uint32_t i = 0; i < c->nfuses; i++)
        if (pc >= c->fuses[i].start && pc < c->fuses[i].end) return qfuse_region(vm, f, &c->fuses[i], done);
    return QS_OK;
}
