/* kir_gen.c -- random kernels that end and have one result.
 *
 * Values.  Integers and bools are arbitrary.  Floats are quarters within ±256: after every operation a value is brought
 * back to that set, so float arithmetic is exact in float32, contracted or not.  Results of mathematical functions are
 * inexact, so they go straight to arrays that carry a tolerance, never into control flow.
 * Memory.  Inputs are only read, anywhere; a position writes its own element of an output; cells of an atomic array are
 * only updated, by one operator that commutes exactly.  Kernels with barriers write to shared memory between barriers
 * and read it in the next phase; their control flow around barriers is uniform.
 * Loops have at most eight turns and nest at most three deep. */
#include "tests/support/kir_gen.h"
#include "lang/kernel/elem/elem_build.h"

#include "lang/kernel/elem/elem.h"

#include <math.h>
#include <stdio.h>

enum { POOL = 192, MAX_LOCALS = 24, MAX_ARRAYS = 4, MAX_DEPTH = 4, MAX_LOOPS = 3 };

typedef struct {
    KRef ref[POOL];
    int n;
} Pool; /* the values of one dtype that are visible */

typedef struct {
    KCase *k;
    KFunc *f;
    uint64_t random;
    unsigned features;
    Pool pool[QS_NDTYPES];
    KRef locals[MAX_LOCALS];
    int nlocals;
    KRef larrays[MAX_ARRAYS];
    int nlarrays;
    int inputs[MAX_ARRAYS], ninputs, outputs[MAX_ARRAYS], noutputs, approx[2], napprox, cells[2], ncells;
    uint16_t cell_op[2];
    KRef own[MAX_ARRAYS], own_approx[2]; /* index of this position's element */
    int message;
    bool barrier;
    int depth, loops, budget;
} Gen;

static bool parts(const Gen *g) { return g->features & KGEN_PARTING; }

/* -- chance -------------------------------------------------------------------------------------------------------- */
static uint64_t next(Gen *g) {
    uint64_t z = g->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static int below(Gen *g, int n) { return (int)(next(g) % (uint64_t)n); }
static bool chance(Gen *g, int percent) { return below(g, 100) < percent; }
#define ONE_OF(g, list) (list)[below(g, (int)(sizeof(list) / sizeof *(list)))]

/* -- values -------------------------------------------------------------------------------------------------------- */
static const qs_dtype all_values[] = {QS_I32, QS_I64, QS_F32, QS_B1, QS_U32, QS_U64, QS_F64};
static const qs_dtype int_values[] = {QS_I32, QS_U32, QS_I64, QS_U64};

static qs_dtype any_dtype(Gen *g) {
    qs_dtype d = ONE_OF(g, all_values);
    return d == QS_F64 && !(g->features & KGEN_FP64) ? QS_F32 : d;
}

static KRef keep(Gen *g, KRef r) {
    Pool *p = &g->pool[g->f->ins[r].dtype];
    if (p->n < POOL) p->ref[p->n++] = r;
    return r;
}

static KRef op1(Gen *g, KOp op, KRef a) { return kgen_op(g->k, op, a, 0, 0); }
static KRef op2(Gen *g, KOp op, KRef a, KRef b) { return kgen_op(g->k, op, a, b, 0); }

static KRef constant(Gen *g, qs_dtype d) {
    static const int64_t small[] = {0, 1, 2, 3, -1, 5, 7, 8, 31, 32, 100, -100, 255, 256, 1000, -32768, 65535};
    if (d == QS_F32 || d == QS_F64) return kir_const_num(g->f, d, (double)(below(g, 801) - 400) / 4, 0);
    if (d == QS_B1) return kir_const_int(g->f, d, below(g, 2), 0);
    if (chance(g, 60)) return kir_const_int(g->f, d, ONE_OF(g, small), 0);
    return kir_const_int(g->f, d, (int64_t)next(g) >> below(g, 64), 0);
}

static KRef value(Gen *g, qs_dtype d) {
    Pool *p = &g->pool[d];
    return p->n && chance(g, 85) ? p->ref[chance(g, 50) ? p->n - 1 - below(g, p->n < 6 ? p->n : 6) : below(g, p->n)]
                                 : constant(g, d);
}

/* Brings a value back into ±256, and to integers if it may be finer than quarters. */
static KRef tame(Gen *g, KRef r, bool fraction) {
    qs_dtype d = (qs_dtype)g->f->ins[r].dtype;
    r = op2(g, K_MIN, op2(g, K_MAX, r, kir_const_num(g->f, d, -256, 0)), kir_const_num(g->f, d, 256, 0));
    return fraction ? kir_add(g->f, (KMake){K_MATH, .flag = MF_floor, .a = r}) : r;
}

static KRef float_value(Gen *g, qs_dtype d) {
    static const KOp exact[] = {K_ADD, K_SUB, K_MIN, K_MAX, K_ADD, K_SUB, K_MUL};
    static const MathFn whole[] = {MF_floor, MF_ceil, MF_round, MF_trunc};
    KRef a = value(g, d);
    switch (below(g, 6)) {
    case 0: return op1(g, chance(g, 50) ? K_NEG : K_ABS, a);
    case 1: return kir_add(g->f, (KMake){K_MATH, .flag = ONE_OF(g, whole), .a = a});
    case 2: return tame(g, kgen_cast(g->k, d, value(g, any_dtype(g))), false);
    default: break;
    }
    KOp op = ONE_OF(g, exact);
    return tame(g, op2(g, op, a, value(g, d)), op == K_MUL);
}

static KRef int_value(Gen *g, qs_dtype d) {
    static const KOp ops[] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MOD, K_MIN, K_MAX,
                              K_AND, K_OR,  K_XOR, K_SHL, K_SHR, K_ADD, K_SUB};
    static const KOp unary[] = {K_NEG, K_ABS, K_NOT};
    static const AccessMode modes[] = {ACC_MIRROR, ACC_REFLECT, ACC_CIRCULAR, ACC_CLAMPED};
    KRef a = value(g, d);
    switch (below(g, 8)) {
    case 0: return op1(g, ONE_OF(g, unary), a);
    case 1: return kgen_cast(g->k, d, value(g, any_dtype(g)));
    case 2:
        if (d == QS_I64) return kir_add(g->f, (KMake){K_BOUND, .flag = ONE_OF(g, modes), .a = a, .b = value(g, d)});
        break;
    default: break;
    }
    return op2(g, ONE_OF(g, ops), a, value(g, d));
}

static KRef bool_value(Gen *g) {
    static const KOp order[] = {K_LT, K_LE, K_EQ, K_NE}, logic[] = {K_AND, K_OR, K_XOR, K_EQ, K_NE};
    qs_dtype d = any_dtype(g);
    if (chance(g, 10)) return op2(g, K_INB, value(g, QS_I64), value(g, QS_I64));
    if (chance(g, 10)) return kgen_cast(g->k, QS_B1, value(g, d));
    if (chance(g, 10)) return op1(g, K_NOT, value(g, QS_B1));
    if (d == QS_B1) return op2(g, ONE_OF(g, logic), value(g, d), value(g, d));
    return op2(g, ONE_OF(g, order), value(g, d), value(g, d));
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
static KRef extent(Gen *g, int param, int axis) {
    return kir_add(g->f, (KMake){K_DIM, .imm = (uint64_t)param << 8 | (uint64_t)axis});
}

static KRef stride(Gen *g, int param, int axis) {
    const KParam *p = &g->f->params[param];
    if (p->contiguous || (p->unit_last && axis == p->rank - 1)) return kgen_i64(g->k, g->k->args[param].strides[axis]);
    return kir_add(g->f, (KMake){K_STRIDE, .imm = (uint64_t)param << 8 | (uint64_t)axis});
}

static KRef element(Gen *g, int param, const KRef *at) {
    const KParam *p = &g->f->params[param];
    KRef index = kgen_i64(g->k, 0);
    for (int d = 0; d < p->rank; d++) index = op2(g, K_ADD, index, op2(g, K_MUL, at[d], stride(g, param, d)));
    if (!qdtype_is_complex((qs_dtype)p->dtype)) return index;
    return op2(g, K_ADD, op2(g, K_ADD, index, index), kgen_i64(g->k, below(g, 2)));
}

/* An index of axis d: anything, or near the position, as in stencils (which opt.c splits into interior and border). */
static KRef some_index(Gen *g, int d, bool near) {
    if (near && d < g->f->rank) {
        KRef p = kir_add(g->f, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)d});
        return kir_fold(g->f, (KMake){K_ADD, .a = p, .b = kgen_i64(g->k, below(g, 5) - 2)});
    }
    return chance(g, 50) ? value(g, QS_I64) : kgen_cast(g->k, QS_I64, value(g, QS_I32));
}

static KRef load_input(Gen *g) {
    static const AccessMode modes[] = {ACC_MIRROR, ACC_REFLECT, ACC_CIRCULAR, ACC_CLAMPED};
    int param = g->inputs[below(g, g->ninputs)];
    KRef at[QS_MAX_RANK], guard = 0;
    bool near = parts(g) || chance(g, 50);
    for (int d = 0; d < g->f->params[param].rank; d++) {
        KRef n = extent(g, param, d), i = some_index(g, d, near);
        if (!parts(g) && chance(g, 50))
            at[d] = kir_add(g->f, (KMake){K_BOUND, .flag = ONE_OF(g, modes), .a = i, .b = n});
        else {
            KRef in = op2(g, K_INB, i, n);
            guard = guard ? op2(g, K_AND, guard, in) : in;
            at[d] = i;
        }
    }
    return kgen_load(g->k, param, element(g, param, at), guard);
}

static KRef array_index(Gen *g, KRef array) {
    int64_t n = (int64_t)g->f->ins[array].imm;
    KRef i = kir_add(g->f, (KMake){K_BOUND, .flag = ACC_CIRCULAR, .a = value(g, QS_I64), .b = kgen_i64(g->k, n)});
    return chance(g, 50) ? i : kgen_cast(g->k, QS_I32, i);
}

static KRef new_value(Gen *g) {
    qs_dtype d = any_dtype(g);
    switch (below(g, 12)) {
    case 0:
    case 1:
        if (g->ninputs) return keep(g, load_input(g));
        break;
    case 2:
    case 3:
        if (g->nlocals) return keep(g, op1(g, K_GET, g->locals[below(g, g->nlocals)]));
        break;
    case 4:
        if (g->nlarrays) {
            KRef array = g->larrays[below(g, g->nlarrays)];
            return keep(g, op2(g, K_ALOAD, array, array_index(g, array)));
        }
        break;
    case 5: return keep(g, kgen_op(g->k, K_SELECT, value(g, QS_B1), value(g, d), value(g, d)));
    default: break;
    }
    return keep(g, d == QS_B1 ? bool_value(g) : qdtype_is_real(d) ? float_value(g, d) : int_value(g, d));
}

/* A part of a function of a complex number, with a derivative of its own (ANALYTIC): of numbers within ±4, never on
 * an axis or at a branch point, where the sign of a zero decides. */
static KRef analytic_value(Gen *g, qs_dtype d) {
    static const Elem rows[] = {EL_sqrt,  EL_exp,   EL_log, EL_sinh, EL_cosh, EL_tanh,  EL_asin, EL_acos,
                                EL_acosh, EL_atanh, EL_sin, EL_cos,  EL_tan,  EL_asinh, EL_atan};
    static const uint32_t nowhere = 0;
    KInto to = {g->f, &nowhere, false};
    KRef part[2];
    for (int i = 0; i < 2; i++)
        part[i] = op2(g, K_ADD, op2(g, K_MUL, value(g, d), kir_const_num(g->f, d, 1.0 / 64, 0)),
                      kir_const_num(g->f, d, 0.0013, 0));
    KPair z = {part[0], part[1]}, r = kelem_complex(kelem_into(&to), ONE_OF(g, rows), d, &z);
    return chance(g, 50) ? r.re : r.im;
}

/* A mathematical function of something in its domain, perhaps combined: inexact. */
static KRef inexact_value(Gen *g, qs_dtype d) {
    if (chance(g, 30)) return analytic_value(g, d);
    KRef size = op2(g, K_MUL, op1(g, K_ABS, value(g, d)), kir_const_num(g->f, d, 1.0 / 512, 0));
    MathFn fn = (MathFn)below(g, MF__COUNT);
    if (fn == MF_floor || fn == MF_ceil || fn == MF_round || fn == MF_trunc || fn == MF_lgamma) fn = MF_exp;
    KRef x = op2(g, K_ADD, size, kir_const_num(g->f, d, fn == MF_acosh ? 1.25 : 0.25, 0));
    KRef y = kir_math[fn].nargs == 2 ? op2(g, K_ADD, size, kir_const_num(g->f, d, 0.5, 0)) : 0;
    KRef r = kir_add(g->f, (KMake){K_MATH, .flag = fn, .a = x, .b = y});
    if (chance(g, 50)) r = op2(g, K_ADD, op2(g, K_MUL, r, value(g, d)), value(g, d));
    if (chance(g, 30)) r = op2(g, K_DIV, r, x);
    return r;
}

/* Updates an element of this position and keeps its value before. */
static void fetch_own(Gen *g, int param, KRef at) {
    static const uint8_t ops[] = {KA_XCHG, KA_ADD, KA_SUB, KA_MIN, KA_MAX, KA_AND, KA_OR, KA_XOR, KA_CAS};
    qs_dtype d = (qs_dtype)g->f->params[param].dtype;
    if (!kir_is_value_dtype(d) || d == QS_B1) return;
    uint8_t op = qdtype_is_real(d) ? KA_XCHG : ONE_OF(g, ops);
    KRef v = value(g, d), guard = chance(g, 30) ? value(g, QS_B1) : 0;
    if (op == KA_CAS) v = kgen_op(g->k, K_EXPECT, v, chance(g, 50) ? kgen_load(g->k, param, at, 0) : value(g, d), 0);
    keep(g, kir_add(g->f, (KMake){K_FETCH, .own = d, .flag = op, .a = at, .b = v, .c = guard, .imm = (uint64_t)param}));
}

static void store_output(Gen *g) {
    KRef guard = chance(g, 30) ? value(g, QS_B1) : 0;
    if (g->napprox && chance(g, 20)) {
        int i = below(g, g->napprox);
        kgen_store(g->k, g->approx[i], g->own_approx[i],
                   inexact_value(g, kir_value_dtype((qs_dtype)g->f->params[g->approx[i]].dtype)), guard);
        return;
    }
    int i = below(g, g->noutputs), param = g->outputs[i];
    kgen_store(g->k, param, g->own[i], value(g, kir_value_dtype((qs_dtype)g->f->params[param].dtype)), guard);
    if (chance(g, 30)) keep(g, kgen_load(g->k, param, g->own[i], chance(g, 50) ? value(g, QS_B1) : 0));
    if (g->features & KGEN_FETCH && chance(g, 20)) fetch_own(g, param, g->own[i]);
}

/* Operations that may run in any order: sums of 0 and 1, extremes, and bits without saturation in narrow elements. */
static KRef commuting_value(Gen *g, uint16_t op, qs_dtype elem) {
    qs_dtype v = kir_value_dtype(elem);
    if (op == KA_ADD && (qdtype_is_real(v) || qdtype_size(elem) < 4)) return kgen_cast(g->k, v, value(g, QS_B1));
    bool bits = op == KA_AND || op == KA_OR || op == KA_XOR;
    if (bits && v != QS_B1 && qdtype_size(elem) < 4) return op2(g, K_AND, value(g, v), kir_const_int(g->f, v, 63, 0));
    return value(g, v);
}

static void update_cell(Gen *g) {
    int i = below(g, g->ncells), param = g->cells[i];
    KRef at = kir_add(g->f, (KMake){K_BOUND, .flag = ACC_CIRCULAR, .a = value(g, QS_I64), .b = extent(g, param, 0)});
    if (qdtype_is_complex((qs_dtype)g->f->params[param].dtype)) at = op2(g, K_ADD, at, at);
    KRef v = commuting_value(g, g->cell_op[i], (qs_dtype)g->f->params[param].dtype);
    kir_add(g->f, (KMake){K_ATOMIC, .flag = g->cell_op[i], .a = at, .b = v, .c = chance(g, 30) ? value(g, QS_B1) : 0,
                          .imm = (uint64_t)param});
}

/* -- statements ---------------------------------------------------------------------------------------------------- */
typedef struct {
    int pool[QS_NDTYPES], nlocals, nlarrays;
} Scope;

static Scope enter(Gen *g) {
    Scope s = {.nlocals = g->nlocals, .nlarrays = g->nlarrays};
    for (int d = 0; d < QS_NDTYPES; d++) s.pool[d] = g->pool[d].n;
    g->depth++;
    return s;
}

static void leave(Gen *g, const Scope *s) {
    for (int d = 0; d < QS_NDTYPES; d++) g->pool[d].n = s->pool[d];
    g->nlocals = s->nlocals, g->nlarrays = s->nlarrays;
    g->depth--;
}

static void block(Gen *g, int statements);

static void branch(Gen *g, KOp op, int statements) {
    kgen_op(g->k, op, op == K_IF ? value(g, QS_B1) : 0, 0, 0);
    Scope s = enter(g);
    block(g, statements);
    leave(g, &s);
}

static void if_statement(Gen *g) {
    branch(g, K_IF, 1 + below(g, 4));
    if (chance(g, 50)) branch(g, K_ELSE, 1 + below(g, 4));
    kgen_op(g->k, K_END, 0, 0, 0);
}

static void for_statement(Gen *g) {
    static const int steps[] = {1, 1, 1, 2, 3, -1, -2};
    qs_dtype d = chance(g, 50) ? QS_I32 : QS_I64;
    KRef seven = kir_const_int(g->f, d, 7, 0), from = op2(g, K_AND, value(g, d), seven),
         to = op2(g, K_AND, value(g, d), seven);
    if (chance(g, 10)) { /* at the end of the range */
        KRef top = kir_const_int(g->f, d, d == QS_I64 ? INT64_MAX : INT32_MAX, 0);
        from = op2(g, K_SUB, top, from), to = top;
    }
    KRef counter =
        kir_add(g->f, (KMake){K_FOR, .own = d, .a = from, .b = to, .c = kir_const_int(g->f, d, ONE_OF(g, steps), 0)});
    Scope s = enter(g);
    g->loops++;
    keep(g, counter);
    block(g, 1 + below(g, 4));
    g->loops--;
    leave(g, &s);
    kgen_op(g->k, K_END, 0, 0, 0);
}

static void loop_statement(Gen *g) { /* a counter of its own ends it, whatever the body does */
    KRef zero = kir_const_int(g->f, QS_I32, 0, 0), one = kir_const_int(g->f, QS_I32, 1, 0);
    KRef limit = op2(g, K_AND, value(g, QS_I32), kir_const_int(g->f, QS_I32, 7, 0)), count = op1(g, K_LOCAL, zero);
    kgen_op(g->k, K_LOOP, 0, 0, 0);
    Scope s = enter(g);
    g->loops++;
    KRef n = keep(g, op1(g, K_GET, count));
    kgen_op(g->k, K_IF, op2(g, K_LE, limit, n), 0, 0);
    kgen_op(g->k, K_BREAK, 0, 0, 0);
    kgen_op(g->k, K_END, 0, 0, 0);
    op2(g, K_SET, count, op2(g, K_ADD, n, one));
    block(g, 1 + below(g, 4));
    if (chance(g, 30)) kgen_op(g->k, K_BREAK, 0, 0, 0);
    g->loops--;
    leave(g, &s);
    kgen_op(g->k, K_END, 0, 0, 0);
}

static bool may_end(const Gen *g) { return !g->barrier || g->features & KGEN_ENDING; }

static void jump_statement(Gen *g) {
    bool inside = g->loops > 0;
    if (!inside && (!may_end(g) || !chance(g, parts(g) ? 40 : 20))) return;
    kgen_op(g->k, K_IF, value(g, QS_B1), 0, 0);
    KOp op = !inside || (may_end(g) && chance(g, 10)) ? K_RET : chance(g, 50) ? K_BREAK : K_CONTINUE;
    bool innermost = op == K_RET || (op == K_CONTINUE && parts(g));
    kir_add(g->f, (KMake){op, .imm = innermost ? 0 : (uint64_t)below(g, g->loops)});
    if (chance(g, 10)) op1(g, K_NOT, value(g, QS_B1)); /* dead */
    kgen_op(g->k, K_END, 0, 0, 0);
}

static void local_statement(Gen *g) {
    if (g->nlocals && chance(g, 60)) {
        KRef local = g->locals[below(g, g->nlocals)];
        op2(g, K_SET, local, value(g, (qs_dtype)g->f->ins[local].dtype));
    } else if (g->nlocals < MAX_LOCALS) g->locals[g->nlocals++] = op1(g, K_LOCAL, value(g, any_dtype(g)));
}

static void array_statement(Gen *g) {
    if (g->nlarrays < MAX_ARRAYS && (!g->nlarrays || chance(g, 30)))
        g->larrays[g->nlarrays++] =
            kir_add(g->f, (KMake){K_LARRAY, .own = any_dtype(g), .imm = (uint64_t)(1 + below(g, 9))});
    KRef array = g->larrays[below(g, g->nlarrays)];
    KRef i = array_index(g, array), v = value(g, (qs_dtype)g->f->ins[array].dtype);
    kgen_op(g->k, K_ASTORE, array, i, v);
}

static void check_statement(Gen *g) {
    if (!(g->features & KGEN_CHECK) || !may_end(g)) return;
    KRef i = value(g, QS_I32), ok = op2(g, K_OR, value(g, QS_B1), op2(g, K_NE, i, constant(g, QS_I32)));
    kir_add(g->f, (KMake){K_CHECK, .a = ok, .b = i, .c = chance(g, 50) ? value(g, any_dtype(g)) : 0,
                          .imm = (uint64_t)g->message});
}

static void statement(Gen *g) {
    int what = below(g, parts(g) ? 11 : 20);
    bool nest = g->depth < MAX_DEPTH && g->budget > 5;
    if (what < 3 && nest) if_statement(g);
    else if (what < 5 && nest && g->loops < MAX_LOOPS) for_statement(g);
    else if (what < 6 && nest && g->loops < MAX_LOOPS) loop_statement(g);
    else if (what < 7) jump_statement(g);
    else if (what < 10) local_statement(g);
    else if (what < 11 && !parts(g)) array_statement(g);
    else if (what < 12 && !parts(g)) check_statement(g);
    else if (what < 14 && g->ncells) update_cell(g);
    else store_output(g);
}

static void block(Gen *g, int statements) {
    while (statements-- > 0 && g->budget-- > 0) {
        for (int n = 1 + below(g, 4); n > 0; n--) new_value(g);
        statement(g);
    }
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */
static void fill(Gen *g, int param, qs_dtype d, bool small) {
    const KBlock *b = &g->k->blocks[param];
    qs_dtype part = qdtype_real_of(d);
    size_t size = qdtype_size(part);
    for (size_t i = 0; i < b->nbytes / size; i++) {
        double v = (double)below(g, 2 * 256) - 256;
        if (qdtype_is_real(d) || qdtype_is_complex(d)) v = d == QS_BF16 ? v / 2 : v / 4;
        else if (small) v = below(g, 64);
        else if (chance(g, 30)) v = ldexp(v, below(g, 56));
        qdtype_put(part, b->block + i * size, v);
    }
}

/* Extents in some memory order, now and then with gaps, backwards or repeated; written arrays must not overlap
 * themselves. */
static int strided(Gen *g, qs_dtype d, int rank, const int64_t *dims, bool written) {
    if (parts(g) || chance(g, 50)) return kgen_array(g->k, d, rank, dims, NULL, 0, 0);
    int64_t s[QS_MAX_RANK], room = 1, first = 0;
    int order[QS_MAX_RANK];
    for (int i = 0; i < rank; i++) order[i] = i;
    for (int i = rank - 1; i > 0; i--) {
        int j = below(g, i + 1), t = order[i];
        order[i] = order[j], order[j] = t;
    }
    for (int i = 0; i < rank; i++) {
        int axis = order[i];
        if (chance(g, 20)) room += below(g, 3);
        bool repeated = !written && chance(g, 10), backwards = chance(g, 20);
        s[axis] = repeated ? 0 : backwards ? -room : room;
        if (backwards && !repeated) first += (dims[axis] - 1) * room;
        if (!repeated) room *= dims[axis];
    }
    return kgen_array(g->k, d, rank, dims, s, (size_t)first, (size_t)room);
}

static qs_dtype any_element(Gen *g) {
    qs_dtype d = (qs_dtype)below(g, QS_NDTYPES);
    return (d == QS_F64 || d == QS_C128) && !(g->features & KGEN_FP64) ? QS_F32 : d;
}

static void add_inputs(Gen *g) {
    for (int n = below(g, MAX_ARRAYS); n > 0; n--) {
        int64_t dims[QS_MAX_RANK];
        int rank = parts(g) ? g->f->rank : 1 + below(g, 3);
        for (int i = 0; i < rank; i++) dims[i] = 1 + below(g, 9);
        for (int i = 0; i < rank && i < g->f->rank && (parts(g) || chance(g, 60)); i++)
            dims[i] = g->k->launch.domain[i];
        qs_dtype d = any_element(g);
        int param = strided(g, d, rank, dims, false);
        fill(g, param, d, false);
        g->inputs[g->ninputs++] = param;
    }
    for (int n = below(g, 4); n > 0; n--) {
        qs_dtype d = any_dtype(g);
        KSlot s = {g->f->ins[constant(g, d)].imm};
        keep(g, kir_add(g->f, (KMake){K_PARAM, .own = d, .imm = (uint64_t)kgen_number(g->k, d, s)}));
    }
}

static KRef own_element(Gen *g, int param) {
    KRef at[QS_MAX_RANK];
    for (int d = 0; d < g->f->rank; d++) at[d] = kir_add(g->f, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)d});
    return element(g, param, at);
}

static void add_outputs(Gen *g) {
    const int64_t *domain = g->k->launch.domain;
    for (int n = 1 + below(g, MAX_ARRAYS); n > 0; n--) {
        qs_dtype d = any_element(g);
        int param = strided(g, d, g->f->rank, domain, true);
        fill(g, param, d, false);
        g->own[g->noutputs] = own_element(g, param);
        g->outputs[g->noutputs++] = param;
    }
    for (int n = below(g, 3); n > 0; n--) {
        int param = strided(g, g->features & KGEN_FP64 && chance(g, 30) ? QS_F64 : QS_F32, g->f->rank, domain, true);
        g->k->blocks[param].slack = 4e-3;
        g->own_approx[g->napprox] = own_element(g, param);
        g->approx[g->napprox++] = param;
    }
}

static void add_cells(Gen *g) {
    static const uint16_t real[] = {KA_ADD, KA_MIN, KA_MAX}, bits[] = {KA_AND, KA_OR, KA_XOR},
                          whole[] = {KA_ADD, KA_MIN, KA_MAX, KA_AND, KA_OR, KA_XOR};
    for (int n = parts(g) ? 0 : below(g, 3); n > 0; n--) {
        int64_t cells = 1 + below(g, 5);
        qs_dtype d = any_element(g);
        int param = kgen_array(g->k, d, 1, &cells, NULL, 0, 0);
        fill(g, param, d, true);
        qs_dtype v = kir_value_dtype(d);
        g->cell_op[g->ncells] = v == QS_B1 ? ONE_OF(g, bits) : qdtype_is_real(v) ? ONE_OF(g, real) : ONE_OF(g, whole);
        g->cells[g->ncells++] = param;
    }
}

static void add_geometry(Gen *g) {
    static const KOp ops[] = {K_POS, K_BLKPOS, K_BLKDIM, K_BLKIDX, K_BLKCNT};
    for (int d = 0; d < g->f->rank; d++)
        for (size_t i = 0; i < (parts(g) ? 1 : sizeof ops / sizeof *ops); i++)
            if (chance(g, 60)) keep(g, kir_add(g->f, (KMake){ops[i], .own = QS_I32, .imm = (uint64_t)d}));
}

static void choose_launch(Gen *g) {
    static const int max_extent[] = {0, 200, 24, 8, 4};
    for (int d = 0; d < g->f->rank; d++) {
        g->k->launch.domain[d] = 1 + below(g, parts(g) && d == g->f->rank - 1 ? 100 : max_extent[g->f->rank]);
        g->k->launch.block[d] = 1 << below(g, g->f->rank > 2 ? 3 : 5);
    }
}

/* This position's number in its block, as int. */
static KRef block_linear(Gen *g) {
    KRef r = kir_const_int(g->f, QS_I32, 0, 0);
    for (int d = 0; d < g->f->rank; d++) {
        KRef n = kir_const_int(g->f, QS_I32, g->k->launch.block[d], 0);
        r = op2(g, K_ADD, op2(g, K_MUL, r, n), kir_add(g->f, (KMake){K_BLKPOS, .own = QS_I32, .imm = (uint64_t)d}));
    }
    return r;
}

/* Write one's own slot and update cells; barrier; read any; barrier. */
static void phase(Gen *g, KRef slots, KRef cells, KRef self) {
    block(g, 1 + below(g, 4));
    kgen_op(g->k, K_ASTORE, slots, self, value(g, (qs_dtype)g->f->ins[slots].dtype));
    if (chance(g, 70))
        kir_add(g->f, (KMake){K_AATOMIC, .flag = KA_ADD, .a = cells, .b = array_index(g, cells),
                              .c = value(g, (qs_dtype)g->f->ins[cells].dtype)});
    kgen_op(g->k, K_BARRIER, 0, 0, 0);
    for (int n = 1 + below(g, 3); n > 0; n--) keep(g, op2(g, K_ALOAD, slots, array_index(g, slots)));
    keep(g, op2(g, K_ALOAD, cells, array_index(g, cells)));
    block(g, 1 + below(g, 3));
    kgen_op(g->k, K_BARRIER, 0, 0, 0);
}

typedef struct {
    KRef slots, cells, self;
} Shared;

static void inner_phase(Gen *g, const Shared *m) {
    Scope s = enter(g);
    phase(g, m->slots, m->cells, m->self);
    leave(g, &s);
}

/* Regions that all positions of a block enter or none; g->loops stays 0, since code inside cannot leave them. */
static void common_if(Gen *g, const Shared *m) {
    KRef block_number = kir_add(g->f, (KMake){K_BLKIDX, .own = QS_I32});
    kgen_op(g->k, K_IF, op2(g, K_LT, block_number, kir_const_int(g->f, QS_I32, below(g, 3), 0)), 0, 0);
    inner_phase(g, m);
    if (chance(g, 50)) kgen_op(g->k, K_ELSE, 0, 0, 0), inner_phase(g, m);
    kgen_op(g->k, K_END, 0, 0, 0);
}

static void common_for(Gen *g, const Shared *m) {
    KRef one = kir_const_int(g->f, QS_I32, 1, 0), last = kir_const_int(g->f, QS_I32, below(g, 4), 0);
    kir_add(g->f, (KMake){K_FOR, .own = QS_I32, .a = one, .b = last, .c = one});
    inner_phase(g, m);
    kgen_op(g->k, K_END, 0, 0, 0);
}

static void common_loop(Gen *g, const Shared *m) {
    KRef one = kir_const_int(g->f, QS_I32, 1, 0), limit = kir_const_int(g->f, QS_I32, below(g, 3), 0);
    KRef count = op1(g, K_LOCAL, kir_const_int(g->f, QS_I32, 0, 0));
    kgen_op(g->k, K_LOOP, 0, 0, 0);
    KRef n = op1(g, K_GET, count);
    kgen_op(g->k, K_IF, op2(g, K_LE, limit, n), 0, 0);
    kgen_op(g->k, K_BREAK, 0, 0, 0);
    kgen_op(g->k, K_END, 0, 0, 0);
    op2(g, K_SET, count, op2(g, K_ADD, n, one));
    inner_phase(g, m);
    if (chance(g, 50)) kgen_op(g->k, K_CONTINUE, 0, 0, 0);
    kgen_op(g->k, K_END, 0, 0, 0);
}

static void barrier_body(Gen *g) {
    static void (*const common[])(Gen *, const Shared *) = {common_if, common_for, common_loop};
    int64_t items = 1;
    for (int d = 0; d < g->f->rank; d++) items *= g->k->launch.block[d];
    Shared m = {kir_add(g->f, (KMake){K_SHARED, .own = any_dtype(g), .flag = 1, .imm = (uint64_t)items}),
                kir_add(g->f, (KMake){K_SHARED, .own = ONE_OF(g, int_values), .flag = 1, .imm = 4}), block_linear(g)};
    phase(g, m.slots, m.cells, m.self);
    for (int n = below(g, 3); n > 0; n--) ONE_OF(g, common)(g, &m);
}

KCase *kgen_random(Ctx *c, Arena *arena, uint64_t seed, unsigned features) {
    Gen g = {.random = seed * 0x2545f4914f6cdd1du, .features = features, .budget = 40};
    char name[32];
    snprintf(name, sizeof name, "random%llu", (unsigned long long)seed);
    g.k = kgen_case(c, arena, qstr_cname(c, name)->s, 1 + below(&g, 4));
    g.f = g.k->func;
    g.barrier = features & KGEN_BARRIER && chance(&g, 30);
    g.message = kir_message(g.f, QS_EINDEX, "%0 and %1 at %p");
    choose_launch(&g);
    add_inputs(&g);
    add_outputs(&g);
    add_cells(&g);
    add_geometry(&g);
    if (g.barrier) barrier_body(&g);
    block(&g, 4 + below(&g, 12));
    for (int i = 0; i < 3; i++) store_output(&g);
    return kgen_finish(g.k) == QS_OK ? g.k : NULL;
}
