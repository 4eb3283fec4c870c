/* eval.c -- the reference evaluator: executes a KFunc in the most direct way, so that it can be checked by reading.
 *
 *     KIR ──keval_prepare──► steps (without constants, jumps resolved) + a frame template
 *     blocks run one after another, in row-major order (serial launches: positions do, across blocks)
 *       each position of a block runs to its next BARRIER or its end, until all have ended
 *
 * The state of a position is a frame: one slot per instruction, then counters of FOR loops, then its LARRAYs.
 * Values that are known at launch (CONST, PARAM, DIM, STRIDE, BLKDIM, BLKCNT) are in the template, which a launch
 * fills in, and need no steps.  Kernels without BARRIER use one frame for all positions.  Every memory access is
 * checked against the extents of the argument, so that an error in a kernel is reported and does not crash the
 * evaluator. */
#include "lang/kernel/ir/sem.h"

#include "vm/base/libm.h"

#include <stdio.h>
#include <string.h>

/* -- mathematical functions ---------------------------------------------------------------------------------------- */
typedef union {
    struct {
        float (*f32)(float);
        double (*f64)(double);
    } a1;
    struct {
        float (*f32)(float, float);
        double (*f64)(double, double);
    } a2;
} LibM;
#define lgamma  qlibm_lgamma
#define lgammaf qlibm_lgammaf
#define tgamma  qlibm_tgamma
#define tgammaf qlibm_tgammaf
#define hypotf  qlibm_hypotf
static const LibM libm[MF__COUNT] = {
#define MATHFN(id, nargs, f32, f64, how32, how64, ...)                                                                 \
    [MF_##id] = {.a##nargs = {MATH_HOST(how32, f32), MATH_HOST(how64, f64)}},
#include "lang/kernel/ir/mathfn.def"
};
#undef lgamma
#undef lgammaf
#undef tgamma
#undef tgammaf
#undef hypotf

double keval_math(MathFn fn, qs_dtype d, double a, double b) {
    bool two = kir_math[fn].nargs == 2;
    if (d == QS_F32) return (double)(two ? libm[fn].a2.f32((float)a, (float)b) : libm[fn].a1.f32((float)a));
    return two ? libm[fn].a2.f64(a, b) : libm[fn].a1.f64(a);
}

/* -- elements of memory: X(dtype, C type, value dtype, value of x, stored form of v) ------------------------------- */
#define CLAMPED(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
#define ELEMENTS(X)                                                                                                    \
    X(B1, uint8_t, B1, x != 0, v)                                                                                      \
    X(I8, int8_t, I32, x, CLAMPED(v, INT8_MIN, INT8_MAX))                                                              \
    X(U8, uint8_t, I32, x, CLAMPED(v, 0, UINT8_MAX))                                                                   \
    X(I16, int16_t, I32, x, CLAMPED(v, INT16_MIN, INT16_MAX))                                                          \
    X(U16, uint16_t, I32, x, CLAMPED(v, 0, UINT16_MAX))                                                                \
    X(I32, int32_t, I32, x, v)                                                                                         \
    X(U32, uint32_t, U32, x, v)                                                                                        \
    X(I64, int64_t, I64, x, v)                                                                                         \
    X(U64, uint64_t, U64, x, v)                                                                                        \
    X(F32, float, F32, x, v)                                                                                           \
    X(F64, double, F64, x, v)                                                                                          \
    X(C64, float, F32, x, v)                                                                                           \
    X(C128, double, F64, x, v)

typedef struct {
    char *data;
    int64_t first, last;
    uint8_t dtype;
} Memory; /* first, last: linear indices that may be accessed; first > last: none */

static KSlot load_element(const Memory *m, int64_t i) {
    KSlot r = {0};
    switch ((qs_dtype)m->dtype) {
#define LOAD(D, T, V, widen, narrow)                                                                                   \
    case QS_##D: {                                                                                                     \
        T x = ((const T *)m->data)[i];                                                                                 \
        r.V = widen;                                                                                                   \
        return r;                                                                                                      \
    }
        ELEMENTS(LOAD)
    default: return r.F32 = (float)qdtype_get((qs_dtype)m->dtype, m->data + 2 * i), r; /* a 16-bit float */
    }
}

static void store_element(const Memory *m, int64_t i, KSlot s) {
    switch ((qs_dtype)m->dtype) {
#define STORE(D, T, V, widen, narrow)                                                                                  \
    case QS_##D: {                                                                                                     \
        KSem##V v = s.V;                                                                                               \
        ((T *)m->data)[i] = (T)(narrow);                                                                               \
        return;                                                                                                        \
    }
        ELEMENTS(STORE)
    default: qdtype_put((qs_dtype)m->dtype, m->data + 2 * i, (double)s.F32);
    }
}

/* Returns the accessible memory of an array argument.  With negative strides the first element is not the lowest. */
static Memory memory_of(const KParam *p, const KArg *a) {
    Memory m = {a->data, 0, 0, p->dtype};
    int parts = qdtype_is_complex((qs_dtype)p->dtype) ? 2 : 1;
    for (int d = 0; d < p->rank; d++) {
        if (a->dims[d] < 1) return m.first = 1, m.last = 0, m;
        int64_t reach = (a->dims[d] - 1) * a->strides[d];
        if (reach < 0) m.first += reach;
        else m.last += reach;
    }
    m.first *= parts, m.last = m.last * parts + parts - 1;
    return m;
}

/* -- atomics: only one position runs at a time, so a load, the operation and a store suffice ----------------------- */
#define APPLY_ARITHMETIC(D)                                                                                            \
    case KA_ADD: r.D = ksem_ADD_##D(a.D, b.D); break;                                                                  \
    case KA_SUB: r.D = ksem_SUB_##D(a.D, b.D); break;                                                                  \
    case KA_MUL: r.D = ksem_MUL_##D(a.D, b.D); break;                                                                  \
    case KA_DIV: r.D = ksem_DIV_##D(a.D, b.D); break;                                                                  \
    case KA_XCHG: r.D = b.D; break;                                                                                    \
    case KA_MIN: r.D = ksem_MIN_##D(a.D, b.D); break;                                                                  \
    case KA_MAX:                                                                                                       \
        r.D = ksem_MAX_##D(a.D, b.D);                                                                                  \
        break;
#define APPLY_INT(D)                                                                                                   \
    case QS_##D:                                                                                                       \
        switch (op) {                                                                                                  \
            APPLY_ARITHMETIC(D)                                                                                        \
        case KA_AND: r.D = ksem_AND_##D(a.D, b.D); break;                                                              \
        case KA_OR: r.D = ksem_OR_##D(a.D, b.D); break;                                                                \
        default: r.D = ksem_XOR_##D(a.D, b.D); break;                                                                  \
        }                                                                                                              \
        return r;
#define APPLY_REAL(D, power)                                                                                           \
    case QS_##D:                                                                                                       \
        switch (op) {                                                                                                  \
            APPLY_ARITHMETIC(D)                                                                                        \
        default: r.D = power(a.D, b.D); break;                                                                         \
        }                                                                                                              \
        return r;

static KSlot apply_atomic(KAtomic op, qs_dtype d, KSlot a, KSlot b) {
    KSlot r = {0};
    switch (d) {
        APPLY_INT(I32)
        APPLY_INT(U32)
        APPLY_INT(I64)
        APPLY_INT(U64)
        APPLY_REAL(F32, powf)
        APPLY_REAL(F64, pow)
    default: r.B1 = op == KA_AND ? a.B1 && b.B1 : op == KA_OR ? a.B1 || b.B1 : a.B1 != b.B1; return r;
    }
}

/* -- steps --------------------------------------------------------------------------------------------------------- */
typedef enum {
#define ARITH(op, D, R) S_##op##_##D,
    KSEM_UNARY(ARITH) KSEM_BINARY(ARITH)
#undef ARITH
#define CONVERT(D, R) S_CAST_##D##_##R,
        KSEM_CAST(CONVERT)
#undef CONVERT
            S_MATH1_F32,
    S_MATH1_F64,
    S_MATH2_F32,
    S_MATH2_F64,
    S_SELECT,
    S_BOUND,
    S_INB,
    S_COPY,
    S_POS,
    S_POS_I64,
    S_BLKPOS,
    S_BLKIDX,
    S_CLEAR,
    S_ALOAD,
    S_ASTORE,
    S_AATOMIC,
    S_LOAD,
    S_STORE,
    S_ATOMIC,
    S_FETCH,
    S_AFETCH,
    S_UNLESS,
    S_JUMP,
    S_REPEAT,
    S_FOR_I32,
    S_FOR_I64,
    S_NEXT_I32,
    S_NEXT_I64,
    S_END,
    S_BARRIER,
    S_CHECK,
    S_ARG,
    S_CALL,
    S_RESULT,
    S_OUTPUT
} StepOp;

/* r, a, b, c: slots of the frame; imm: a jump target, a parameter or an axis; at: the instruction, for messages */
typedef struct {
    uint16_t op, flag;
    uint32_t r, a, b, c, at;
    uint64_t imm;
} Step;

/* Memory of a LARRAY (in the frame) or SHARED (in the block's slots): its first slot and the number of slots.  A FOR
 * has one slot, which counts the remaining iterations. */
typedef struct {
    uint32_t base, count;
    bool shared;
} Storage;

typedef struct {
    int64_t pos[QS_MAX_RANK], blkpos[QS_MAX_RANK];
    KSlot *frame;
    const Step *next; /* NULL: ended */
} Item;

typedef struct KPrepared Run;
struct KPrepared {
    Ctx *ctx;
    const KFunc *f;
    Run *callees, *root;    /* functions that CALL runs; the run of the kernel */
    KSlot slots[KIR_SLOTS]; /* of the kernel: arguments of the next CALL; results of the last one */
    const KArg *args;
    const KLaunch *l;
    int64_t blkcnt[QS_MAX_RANK], blkidx[QS_MAX_RANK];
    Step *steps;
    uint32_t nsteps;
    uint32_t *first;         /* by instruction: its first step, or the next step if it needs none */
    uint32_t *known, nknown; /* instructions whose values are known at launch, without constants */
    Storage *storage;        /* by instruction */
    Memory *memory;          /* by parameter */
    KSlot *frame;            /* the template */
    uint32_t nslots;
    KSlot *shared;
    uint32_t nshared;
    Item *items;
    KSlot *frames;
    size_t nitems; /* 1, or the number of positions of a block in kernels with BARRIER */
    uint32_t polls;
    const Flag *stop;
    KFault *fault;
    const Item *fault_item; /* position of the fault, if it occurred in the current block; else NULL */
};

/* -- preparing ----------------------------------------------------------------------------------------------------- */
/* Assigns memory to LARRAYs and iteration counters, behind the slots of the frame, and to SHAREDs. */
static void place_storage(Run *r) {
    r->nslots = r->f->nins;
    for (uint32_t i = 1; i < r->f->nins; i++) {
        const KIns *k = &r->f->ins[i];
        uint32_t *n = k->op == K_SHARED ? &r->nshared : &r->nslots;
        uint32_t count = k->op == K_FOR                           ? 1
                         : k->op == K_CALL                        ? KIR_SLOTS
                         : k->op == K_LARRAY || k->op == K_SHARED ? (uint32_t)k->imm
                                                                  : 0;
        r->storage[i] = (Storage){*n, count, k->op == K_SHARED};
        *n += count;
    }
}

static bool is_known_at_launch(KOp op) {
    return op == K_PARAM || op == K_DIM || op == K_STRIDE || op == K_BLKDIM || op == K_BLKCNT;
}

static void enter_known_value(Run *r, const KIns *k, KSlot *s) {
    switch ((KOp)k->op) {
    case K_PARAM: s->bits = r->args[k->imm].bits; break;
    case K_DIM: s->I64 = r->args[k->imm >> 8].dims[k->imm & 255]; break;
    case K_STRIDE: s->I64 = r->args[k->imm >> 8].strides[k->imm & 255]; break;
    case K_BLKDIM: s->I32 = r->l->block[k->imm]; break;
    default: s->I32 = (int32_t)r->blkcnt[k->imm]; break;
    }
}

enum { PAIR = 16 }; /* combines two small numbers for a switch */

static uint16_t arith_step(KOp op, qs_dtype d) {
    switch ((int)op * PAIR + (int)d) {
#define ARITH(OP, D, R)                                                                                                \
    case K_##OP *PAIR + QS_##D: return S_##OP##_##D;
        KSEM_UNARY(ARITH) KSEM_BINARY(ARITH)
#undef ARITH
    }
    return S_END; /* not reached: kir_verify rejects other dtypes */
}

static uint16_t cast_step(qs_dtype from, qs_dtype to) {
    switch ((int)from * PAIR + (int)to) {
#define CONVERT(D, R)                                                                                                  \
    case QS_##D *PAIR + QS_##R: return S_CAST_##D##_##R;
        KSEM_CAST(CONVERT)
#undef CONVERT
    }
    return S_END;
}

static uint16_t math_step(const KIns *k) {
    bool two = kir_math[k->flag].nargs == 2;
    return k->dtype == QS_F32 ? (two ? S_MATH2_F32 : S_MATH1_F32) : (two ? S_MATH2_F64 : S_MATH1_F64);
}

static Step *add_step(Run *r, unsigned op, uint32_t at) {
    const KIns *k = &r->f->ins[at];
    r->steps[r->nsteps] = (Step){(uint16_t)op, k->flag, at, k->a, k->b, k->c, at, k->imm};
    return &r->steps[r->nsteps++];
}

static void add_jump(Run *r, unsigned op, uint32_t at, uint32_t target) { add_step(r, op, at)->imm = target; }

static void add_back_edge(Run *r, uint32_t at, uint32_t loop) {
    const KIns *k = &r->f->ins[loop];
    if (k->op == K_LOOP) return add_jump(r, S_REPEAT, at, loop + 1);
    Step *s = add_step(r, k->dtype == QS_I64 ? S_NEXT_I64 : S_NEXT_I32, at);
    s->r = loop, s->a = k->c, s->b = r->storage[loop].base, s->imm = loop + 1;
}

/* Adds the step of a control-flow instruction.  Jump targets are instructions; resolve_jumps replaces them by steps. */
static void add_flow(Run *r, uint32_t at) {
    const KIns *k = &r->f->ins[at];
    const KRegion *region = r->f->regions;
    switch ((KOp)k->op) {
    case K_IF: add_jump(r, S_UNLESS, at, region[at].end + 1); break;
    case K_ELSE: add_jump(r, S_JUMP, at, region[at].end + 1); break;
    case K_FOR: add_jump(r, k->dtype == QS_I64 ? S_FOR_I64 : S_FOR_I32, at, region[at].end + 1); break;
    case K_BREAK: add_jump(r, S_JUMP, at, region[kir_jump_target(r->f, at)].end + 1); break;
    case K_CONTINUE: add_jump(r, S_JUMP, at, region[kir_jump_target(r->f, at)].end); break;
    case K_END:
        if (kir_is_loop(r->f->ins[region[at].opener].op)) add_back_edge(r, at, region[at].opener);
        break;
    case K_RET: add_step(r, S_END, at); break;
    default: break;
    }
}

static void add_value(Run *r, uint32_t at) {
    const KIns *k = &r->f->ins[at];
    qs_dtype d = (qs_dtype)k->dtype, from = (qs_dtype)r->f->ins[k->a].dtype;
    Step *s;
    switch ((KOp)k->op) {
    case K_POS: add_step(r, d == QS_I64 ? S_POS_I64 : S_POS, at); break;
    case K_BLKPOS: add_step(r, S_BLKPOS, at); break;
    case K_BLKIDX: add_step(r, S_BLKIDX, at); break;
    case K_LOCAL:
    case K_GET:
    case K_EXPECT:
    case K_ANALYTIC:
    case K_ANY: add_step(r, S_COPY, at); break;
    case K_SET: s = add_step(r, S_COPY, at), s->r = k->a, s->a = k->b; break;
    case K_SHARED: break;
    case K_LARRAY: add_step(r, S_CLEAR, at); break;
    case K_ALOAD: add_step(r, S_ALOAD, at); break;
    case K_ASTORE: add_step(r, S_ASTORE, at); break;
    case K_AATOMIC: add_step(r, S_AATOMIC, at); break;
    case K_LOAD: add_step(r, S_LOAD, at); break;
    case K_STORE: add_step(r, S_STORE, at); break;
    case K_ATOMIC: add_step(r, S_ATOMIC, at); break;
    case K_FETCH: add_step(r, S_FETCH, at); break;
    case K_AFETCH: add_step(r, S_AFETCH, at); break;
    case K_BOUND: add_step(r, S_BOUND, at); break;
    case K_INB: add_step(r, S_INB, at); break;
    case K_SELECT: add_step(r, S_SELECT, at); break;
    case K_CAST: add_step(r, cast_step(from, d), at); break;
    case K_MATH: add_step(r, math_step(k), at); break;
    case K_BARRIER: add_step(r, S_BARRIER, at); break;
    case K_CHECK: add_step(r, S_CHECK, at); break;
    case K_INPUT: break; /* run_callee sets it */
    case K_ARG: add_step(r, S_ARG, at); break;
    case K_CALL: add_step(r, S_CALL, at); break;
    case K_RESULT: add_step(r, S_RESULT, at); break;
    case K_OUTPUT: add_step(r, S_OUTPUT, at); break;
    default: add_step(r, arith_step((KOp)k->op, from), at); break;
    }
}

static bool jumps(uint16_t op) { return op >= S_UNLESS && op <= S_NEXT_I64; }

static void add_steps(Run *r) {
    uint32_t n = r->f->nins;
    for (uint32_t at = 1; at < n; at++) {
        const KIns *k = &r->f->ins[at];
        r->first[at] = r->nsteps;
        if (k->op == K_CONST) r->frame[at].bits = k->imm;
        else if (is_known_at_launch((KOp)k->op)) r->known[r->nknown++] = at;
        else if (kir_ops[k->op].effect == KE_FLOW) add_flow(r, at);
        else add_value(r, at);
    }
    r->first[n] = r->nsteps;
    r->steps[r->nsteps++].op = S_END;
    for (Step *s = r->steps; s < r->steps + r->nsteps; s++)
        if (jumps(s->op)) s->imm = r->first[s->imm];
}

/* -- errors -------------------------------------------------------------------------------------------------------- */
static qs_status QS_PRINTF(3, 4) wrong(const Run *r, const Step *s, const char *fmt, ...) {
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const KIns *k = &r->f->ins[s->at];
    return qerr_at(r->ctx, QS_EINTERNAL, (Where){r->f->src, k->pos}, "kernel %s, instruction %%%u (%s): %s",
                   r->f->name->s, s->at, kir_ops[k->op].name, text);
}

static qs_status outside_memory(const Run *r, const Step *s, int64_t i) {
    const Memory *m = &r->memory[s->imm];
    return wrong(r, s, "element %lld of %s is outside its memory [%lld,%lld]", (long long)i,
                 r->f->params[s->imm].name->s, (long long)m->first, (long long)m->last);
}

static qs_status outside_array(const Run *r, const Step *s, int64_t i) {
    return wrong(r, s, "element %lld of an array of %u", (long long)i, r->storage[s->a].count);
}

static bool stopped(Run *r) { return (++r->polls & 0xfff) == 0 && r->stop && qflag_is_up(r->stop); }

static double as_double(qs_dtype d, KSlot s) { return ksem_pure(K_CAST, 0, d, QS_F64, s, (KSlot){0}, (KSlot){0}).F64; }

/* Records a fault unless there is an earlier one, in the order of blocks and then of positions in the block. */
static void record_fault(Run *r, const Item *it, const Step *s) {
    if (!r->fault || (r->fault->message && !(r->fault_item && it < r->fault_item))) return;
    const KIns *k = &r->f->ins[s->at];
    *r->fault = (KFault){.message = (uint32_t)k->imm + 1, .pos = k->pos};
    if (k->b) r->fault->value[0] = as_double((qs_dtype)r->f->ins[k->b].dtype, it->frame[k->b]);
    if (k->c) r->fault->value[1] = as_double((qs_dtype)r->f->ins[k->c].dtype, it->frame[k->c]);
    memcpy(r->fault->at, it->pos, sizeof r->fault->at);
    r->fault_item = it;
}

/* -- running ------------------------------------------------------------------------------------------------------- */
/* Computes the number of iterations after the first; false: there is no iteration.  Never overflows. */
static bool count_iterations(int64_t from, int64_t to, int64_t step, uint64_t *more) {
    if (step == 0 || (step > 0 ? to < from : to > from)) return false;
    uint64_t span = step > 0 ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    *more = span / (step > 0 ? (uint64_t)step : 0 - (uint64_t)step);
    return true;
}

static KSlot *array_element(const Run *r, KSlot *frame, const Step *s, int64_t *i) {
    const Storage *m = &r->storage[s->a];
    *i = r->f->ins[s->b].dtype == QS_I64 ? frame[s->b].I64 : frame[s->b].I32;
    if (!ksem_inb(*i, m->count)) return NULL;
    return (m->shared ? r->shared : frame) + m->base + *i;
}

static bool in_memory(const Memory *m, int64_t i) { return i >= m->first && i <= m->last; }

/* Returns the element after a FETCH or AFETCH with this value, which found `old`. */
static KSlot after_fetch(const Run *r, const KSlot *x, const Step *s, KRef value, KSlot old) {
    const KIns *v = &r->f->ins[value];
    if (s->flag != KA_CAS) return apply_atomic((KAtomic)s->flag, (qs_dtype)v->dtype, old, x[value]);
    bool wide = qdtype_size((qs_dtype)v->dtype) == 8;
    return (wide ? old.U64 == x[v->b].U64 : old.U32 == x[v->b].U32) ? x[v->a] : old;
}

static qs_status run_item(Run *r, Item *it);

/* Runs a callee with a frame of its own, and copies its results to `out`. */
static qs_status run_callee(Run *root, Run *f, KSlot *out) {
    size_t bytes = qmem_size(f->nslots, sizeof(KSlot), 0);
    KSlot *frame = qmem_try(root->ctx, bytes);
    if (!frame) return qerr_set(root->ctx, QS_ENOMEM, "kernel %s: no memory for a call", root->f->name->s);
    memcpy(frame, f->frame, bytes);
    for (uint32_t i = 1; i < f->f->nins; i++)
        if (f->f->ins[i].op == K_INPUT) frame[i] = root->slots[f->f->ins[i].imm];
    Item it = {.frame = frame, .next = f->steps};
    root->slots[0].bits = 0; /* if it ends early, it has failed */
    qs_status s = stopped(root) ? QS_EINTERRUPT : run_item(f, &it);
    memcpy(out, root->slots, KIR_SLOTS * sizeof *out);
    return qmem_try_free(root->ctx, frame, bytes), s;
}

/* Runs one position to its next BARRIER (it->next is set) or its end (it->next is NULL). */
static qs_status run_item(Run *r, Item *it) {
    KSlot *x = it->frame, *e;
    const Memory *m;
    int64_t i;
    for (const Step *s = it->next;; s++) switch ((StepOp)s->op) {
#define ARITH1(op, D, R)                                                                                               \
    case S_##op##_##D: x[s->r].R = ksem_##op##_##D(x[s->a].D); break;
            KSEM_UNARY(ARITH1)
#define ARITH2(op, D, R)                                                                                               \
    case S_##op##_##D: x[s->r].R = ksem_##op##_##D(x[s->a].D, x[s->b].D); break;
            KSEM_BINARY(ARITH2)
#define CONVERT(D, R)                                                                                                  \
    case S_CAST_##D##_##R: x[s->r].R = ksem_CAST_##D##_##R(x[s->a].D); break;
            KSEM_CAST(CONVERT)
        case S_MATH1_F32: x[s->r].F32 = libm[s->flag].a1.f32(x[s->a].F32); break;
        case S_MATH1_F64: x[s->r].F64 = libm[s->flag].a1.f64(x[s->a].F64); break;
        case S_MATH2_F32: x[s->r].F32 = libm[s->flag].a2.f32(x[s->a].F32, x[s->b].F32); break;
        case S_MATH2_F64: x[s->r].F64 = libm[s->flag].a2.f64(x[s->a].F64, x[s->b].F64); break;
        case S_SELECT: x[s->r] = x[s->a].B1 ? x[s->b] : x[s->c]; break;
        case S_BOUND: x[s->r].I64 = ksem_bound((AccessMode)s->flag, x[s->a].I64, x[s->b].I64); break;
        case S_INB: x[s->r].B1 = ksem_inb(x[s->a].I64, x[s->b].I64); break;
        case S_COPY: x[s->r] = x[s->a]; break;
        case S_POS: x[s->r].I32 = (int32_t)it->pos[s->imm]; break;
        case S_POS_I64: x[s->r].I64 = it->pos[s->imm]; break;
        case S_BLKPOS: x[s->r].I32 = (int32_t)it->blkpos[s->imm]; break;
        case S_BLKIDX: x[s->r].I32 = (int32_t)r->blkidx[s->imm]; break;
        case S_CLEAR: memset(x + r->storage[s->r].base, 0, s->imm * sizeof *x); break;
        case S_ALOAD:
            if (!(e = array_element(r, x, s, &i))) return outside_array(r, s, i);
            x[s->r] = *e;
            break;
        case S_ASTORE:
            if (!(e = array_element(r, x, s, &i))) return outside_array(r, s, i);
            *e = x[s->c];
            break;
        case S_AATOMIC:
            if (!(e = array_element(r, x, s, &i))) return outside_array(r, s, i);
            *e = apply_atomic((KAtomic)s->flag, (qs_dtype)r->f->ins[s->a].dtype, *e, x[s->c]);
            break;
        case S_AFETCH:
            if (!(e = array_element(r, x, s, &i))) return outside_array(r, s, i);
            x[s->r] = *e;
            *e = after_fetch(r, x, s, s->c, *e);
            break;
        case S_LOAD: /* an absent guard is slot 0, which is true */
            m = &r->memory[s->imm], i = x[s->a].I64;
            if (!x[s->b].B1) x[s->r] = (KSlot){0};
            else if (in_memory(m, i)) x[s->r] = load_element(m, i);
            else return outside_memory(r, s, i);
            break;
        case S_STORE:
            m = &r->memory[s->imm], i = x[s->a].I64;
            if (!x[s->c].B1) break;
            if (!in_memory(m, i)) return outside_memory(r, s, i);
            store_element(m, i, x[s->b]);
            break;
        case S_ATOMIC:
            m = &r->memory[s->imm], i = x[s->a].I64;
            if (!x[s->c].B1) break;
            if (!in_memory(m, i)) return outside_memory(r, s, i);
            store_element(m, i,
                          apply_atomic((KAtomic)s->flag, (qs_dtype)r->f->ins[s->b].dtype, load_element(m, i), x[s->b]));
            break;
        case S_FETCH:
            m = &r->memory[s->imm], i = x[s->a].I64;
            x[s->r] = (KSlot){0};
            if (!x[s->c].B1) break;
            if (!in_memory(m, i)) return outside_memory(r, s, i);
            x[s->r] = load_element(m, i);
            store_element(m, i, after_fetch(r, x, s, s->b, x[s->r]));
            break;
        case S_UNLESS:
            if (!x[s->a].B1) s = r->steps + s->imm - 1;
            break;
        case S_JUMP: s = r->steps + s->imm - 1; break;
        case S_REPEAT:
            if (stopped(r)) return QS_EINTERRUPT;
            s = r->steps + s->imm - 1;
            break;
        case S_FOR_I32:
            x[s->r].I32 = x[s->a].I32;
            if (!count_iterations(x[s->a].I32, x[s->b].I32, x[s->c].I32, &x[r->storage[s->r].base].U64))
                s = r->steps + s->imm - 1;
            break;
        case S_FOR_I64:
            x[s->r].I64 = x[s->a].I64;
            if (!count_iterations(x[s->a].I64, x[s->b].I64, x[s->c].I64, &x[r->storage[s->r].base].U64))
                s = r->steps + s->imm - 1;
            break;
        case S_NEXT_I32:
        case S_NEXT_I64:
            if (stopped(r)) return QS_EINTERRUPT;
            if (x[s->b].U64-- == 0) break;
            if (s->op == S_NEXT_I32) x[s->r].I32 += x[s->a].I32;
            else x[s->r].I64 += x[s->a].I64;
            s = r->steps + s->imm - 1;
            break;
        case S_CHECK:
            if (x[s->a].B1) break;
            record_fault(r, it, s);
            it->next = NULL;
            return QS_OK;
        case S_ARG: r->root->slots[s->imm] = x[s->a]; break;
        case S_CALL:
            e = x + r->storage[s->r].base;
            TRY(run_callee(r->root, &r->root->callees[s->imm], e));
            x[s->r].B1 = e->B1;
            break;
        case S_RESULT: x[s->r] = x[r->storage[s->a].base + s->imm]; break;
        case S_OUTPUT: r->root->slots[s->imm] = x[s->a]; break;
        case S_END: it->next = NULL; return QS_OK;
        case S_BARRIER: it->next = s + 1; return QS_OK;
        }
}

/* Advances `at` to the next position below limit, last axis fastest; false: it was the last one. */
static bool advance(int rank, int64_t *at, const int64_t *limit) {
    for (int d = rank - 1; d >= 0; d--) {
        if (++at[d] < limit[d]) return true;
        at[d] = 0;
    }
    return false;
}

static void place_item(const Run *r, Item *it, const int64_t *blkpos) {
    for (int d = 0; d < r->f->rank; d++) {
        it->blkpos[d] = blkpos[d];
        it->pos[d] = r->blkidx[d] * r->l->block[d] + blkpos[d];
    }
    it->next = r->steps;
}

/* Checks that all positions that have not ended wait at the same BARRIER.  *waiting: there are such positions. */
static qs_status check_barrier(const Run *r, size_t n, bool *waiting) {
    const Step *at = NULL;
    for (const Item *it = r->items; it < r->items + n; it++) {
        if (at && it->next && it->next != at) return wrong(r, it->next - 1, "not all positions of the block reach it");
        if (it->next) at = it->next;
    }
    *waiting = at != NULL;
    return QS_OK;
}

static qs_status run_together(Run *r, const int64_t *extent) {
    int64_t blkpos[QS_MAX_RANK] = {0};
    size_t n = 0;
    do place_item(r, &r->items[n++], blkpos);
    while (advance(r->f->rank, blkpos, extent));
    for (bool waiting = true; waiting;) {
        for (Item *it = r->items; it < r->items + n; it++)
            if (it->next) TRY(run_item(r, it));
        if (stopped(r)) return QS_EINTERRUPT;
        TRY(check_barrier(r, n, &waiting));
    }
    return QS_OK;
}

static qs_status run_one_by_one(Run *r, const int64_t *extent) {
    int64_t blkpos[QS_MAX_RANK] = {0};
    do {
        place_item(r, r->items, blkpos);
        TRY(run_item(r, r->items));
        if (stopped(r)) return QS_EINTERRUPT;
    } while (advance(r->f->rank, blkpos, extent));
    return QS_OK;
}

static qs_status run_serial(Run *r) {
    int64_t pos[QS_MAX_RANK] = {0}, blkpos[QS_MAX_RANK];
    do {
        for (int d = 0; d < r->f->rank; d++)
            r->blkidx[d] = pos[d] / r->l->block[d], blkpos[d] = pos[d] % r->l->block[d];
        place_item(r, r->items, blkpos);
        TRY(run_item(r, r->items));
        if (stopped(r)) return QS_EINTERRUPT;
    } while (advance(r->f->rank, pos, r->l->domain));
    return QS_OK;
}

static void clear_shared(Run *r) {
    for (uint32_t i = 1; i < r->f->nins; i++)
        if (r->storage[i].shared && r->f->ins[i].flag)
            memset(r->shared + r->storage[i].base, 0, r->storage[i].count * sizeof *r->shared);
}

static qs_status run_blocks(Run *r) {
    do {
        int64_t extent[QS_MAX_RANK];
        for (int d = 0; d < r->f->rank; d++) {
            int64_t left = r->l->domain[d] - r->blkidx[d] * r->l->block[d];
            extent[d] = left < r->l->block[d] ? left : r->l->block[d];
        }
        if (r->nshared) clear_shared(r);
        r->fault_item = NULL;
        TRY(r->f->barrier ? run_together(r, extent) : run_one_by_one(r, extent));
    } while (advance(r->f->rank, r->blkidx, r->blkcnt));
    return QS_OK;
}

/* -- a launch ------------------------------------------------------------------------------------------------------ */
static qs_status measure_launch(Run *r, bool *empty) {
    const KLaunch *l = r->l;
    size_t items = 1;
    *empty = false;
    if (l->rank != r->f->rank)
        return qerr_set(r->ctx, QS_EINTERNAL, "kernel %s: launched with rank %d, made for %d", r->f->name->s, l->rank,
                        r->f->rank);
    for (int d = 0; d < l->rank; d++) {
        if (l->block[d] < 1 || (r->f->fixed_block && l->block[d] != r->f->block[d]))
            return qerr_set(r->ctx, QS_EINTERNAL, "kernel %s: launched with block extent %d along axis %d",
                            r->f->name->s, l->block[d], d);
        if (l->domain[d] < 1) *empty = true;
        r->blkcnt[d] = l->domain[d] / l->block[d] + (l->domain[d] % l->block[d] != 0);
        if (__builtin_mul_overflow(items, (size_t)l->block[d], &items)) items = SIZE_MAX;
    }
    r->nitems = r->f->barrier ? items : 1;
    return QS_OK;
}

static size_t frames_bytes(const Run *r) { return qmem_size(r->nitems, r->nslots * sizeof(KSlot) + sizeof(Item), 0); }

static qs_status make_items(Run *r) {
    r->items = qmem_try(r->ctx, frames_bytes(r));
    if (!r->items)
        return qerr_set(r->ctx, QS_ENOMEM, "kernel %s: no memory for a block of %zu positions", r->f->name->s,
                        r->nitems);
    r->frames = (KSlot *)(r->items + r->nitems);
    for (size_t i = 0; i < r->nitems; i++) {
        r->items[i] = (Item){.frame = r->frames + i * r->nslots};
        memcpy(r->items[i].frame, r->frame, r->nslots * sizeof *r->frame);
    }
    return QS_OK;
}

static void prepare_function(Run *r, const KFunc *f, Arena *arena) {
    size_t n = f->nins + 1;
    r->f = f;
    r->first = qarena_alloc(arena, qmem_size(n, sizeof *r->first, 0));
    r->known = qarena_alloc(arena, qmem_size(n, sizeof *r->known, 0));
    r->storage = qarena_alloc(arena, qmem_size(n, sizeof *r->storage, 0));
    r->steps = qarena_alloc(arena, qmem_size(n, sizeof *r->steps, 0));
    r->memory = qarena_alloc(arena, qmem_size((size_t)f->nparams, sizeof *r->memory, 0));
    place_storage(r);
    r->frame = qarena_alloc(arena, qmem_size(r->nslots, sizeof *r->frame, 0));
    r->shared = qarena_alloc(arena, qmem_size(r->nshared, sizeof *r->shared, 0));
    r->frame[0].B1 = true;
    add_steps(r);
}

KPrepared *keval_prepare(Arena *arena, const KFunc *f) {
    Run *r = qarena_alloc(arena, sizeof *r);
    prepare_function(r, f, arena);
    r->callees = qarena_alloc(arena, qmem_size((size_t)f->ncallees, sizeof *r, 0));
    for (int i = 0; i < f->ncallees; i++) prepare_function(&r->callees[i], f->callees[i], arena);
    return r;
}

/* Enters what this launch gives. */
static void begin_function(Run *r, Run *root) {
    r->ctx = root->ctx, r->root = root, r->args = root->args, r->l = root->l, r->stop = root->stop;
    for (uint32_t i = 0; i < r->nknown; i++) enter_known_value(r, &r->f->ins[r->known[i]], &r->frame[r->known[i]]);
    for (int i = 0; i < r->f->nparams; i++)
        if (r->f->params[i].kind == KP_ARRAY) r->memory[i] = memory_of(&r->f->params[i], &r->args[i]);
    memset(r->shared, 0, r->nshared * sizeof *r->shared);
    for (int i = 0; r == root && i < r->f->ncallees; i++) begin_function(&r->callees[i], root);
}

static qs_status run_launch(Run *r) {
    begin_function(r, r);
    TRY(make_items(r));
    qs_status s = r->f->serial && !r->f->barrier ? run_serial(r) : run_blocks(r);
    qmem_try_free(r->ctx, r->items, frames_bytes(r));
    return s;
}

qs_status keval_run_prepared(Ctx *c, KPrepared *r, const KArg *args, const KLaunch *l, KFault *fault,
                             const Flag *stop) {
    bool empty;
    r->ctx = c, r->args = args, r->l = l, r->fault = fault, r->stop = stop;
    r->polls = 0, r->fault_item = NULL;
    memset(r->blkidx, 0, sizeof r->blkidx);
    if (fault) *fault = (KFault){0};
    TRY(measure_launch(r, &empty));
    if (empty) return QS_OK;
    qs_status s = run_launch(r);
    return s == QS_EINTERRUPT ? qerr_set(c, s, "interrupted") : s;
}

qs_status keval_run(Ctx *c, const KFunc *f, const KArg *args, const KLaunch *l, KFault *fault, const Flag *stop) {
    Arena arena;
    qarena_init(&arena, c);
    qs_status s = keval_run_prepared(c, keval_prepare(&arena, f), args, l, fault, stop);
    qarena_free(&arena);
    return s;
}
