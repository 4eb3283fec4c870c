/* kir_suite.c -- every instruction of KIR on edge values, one kernel for each dtype and group of instructions. */
#include "tests/support/kir_gen.h"

#include <math.h>
#include <string.h>

static const qs_dtype values[] = {QS_B1, QS_I32, QS_U32, QS_I64, QS_U64, QS_F32, QS_F64};
enum { NVALUES = sizeof values / sizeof *values, MAX_EDGES = 40 };

static KSlot slot(qs_dtype d, double v) {
    switch (d) {
    case QS_B1: return (KSlot){.B1 = v != 0};
    case QS_I32: return (KSlot){.I32 = (int32_t)v};
    case QS_U32: return (KSlot){.U32 = (uint32_t)(int64_t)v};
    case QS_I64: return (KSlot){.I64 = (int64_t)v};
    case QS_U64: return (KSlot){.U64 = (uint64_t)(int64_t)v};
    case QS_F32: return (KSlot){.F32 = (float)v};
    default: return (KSlot){.F64 = v};
    }
}

static int edges_of_int(qs_dtype d, KSlot *out) {
    static const int small[] = {0,   1,   -1,  2,   -2,   3,    -7,    31,    32,    -33,   63,     64,
                                127, 128, 255, 256, -128, -129, 32767, 32768, 65535, 65536, -32769, 16777217};
    static const uint64_t u64[] = {INT64_MAX,         (uint64_t)INT64_MAX + 1,  UINT64_MAX,
                                   UINT32_MAX,        (uint64_t)UINT32_MAX + 1, 1ull << 53 | 1,
                                   INT32_MAX,         (uint64_t)INT32_MIN,      (uint64_t)INT32_MIN - 1,
                                   0xffffff0000000001};
    static const uint32_t u32[] = {INT32_MAX, (uint32_t)INT32_MAX + 1, UINT32_MAX, INT32_MAX - 1,
                                   (uint32_t)INT32_MIN + 1};
    int n = 0;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) out[n++] = slot(d, small[i]);
    if (qdtype_size(d) == 8)
        for (size_t i = 0; i < sizeof u64 / sizeof *u64; i++) out[n++].U64 = u64[i];
    else
        for (size_t i = 0; i < sizeof u32 / sizeof *u32; i++) out[n++].U32 = u32[i];
    return n;
}

static int edges_of(qs_dtype d, KSlot *out) {
    static const double reals[] = {0,         -0.0,         0.5,          -0.5,          1,
                                   -1,        1.5,          2.5,          -2.5,          3,
                                   -7,        0.1,          127.5,        -128.5,        254.5,
                                   255.5,     32767.5,      65504,        65520,         1e5,
                                   -1e10,     2147483648.0, 2147483520.0, -2147483648.0, 4294967296.0,
                                   9.3e18,    1.9e19,       -1e20,        1e38,          INFINITY,
                                   -INFINITY, NAN};
    if (d == QS_B1) return out[0] = slot(d, 0), out[1] = slot(d, 1), 2;
    if (qdtype_is_int(d)) return edges_of_int(d, out);
    int n = sizeof reals / sizeof *reals;
    for (int i = 0; i < n; i++) out[i] = slot(d, reals[i]);
    return n;
}

static void put_slot(char *p, qs_dtype d, KSlot s) {
    switch (qdtype_size(d)) {
    case 1: *(uint8_t *)p = s.B1; break;
    case 4: memcpy(p, &s.U32, 4); break;
    default: memcpy(p, &s.U64, 8);
    }
}

static int array1(KCase *k, qs_dtype d, int64_t n) { return kgen_array(k, d, 1, &n, NULL, 0, 0); }

static int array_of(KCase *k, qs_dtype d, const KSlot *s, int n) {
    int p = array1(k, d, n);
    for (int i = 0; i < n; i++) put_slot(kgen_data(k, p) + (size_t)i * qdtype_size(d), d, s[i]);
    return p;
}

static KRef position(KCase *k, int axis) {
    return kir_add(k->func, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)axis});
}

static void domain1(KCase *k, int64_t n, int32_t block) { k->launch.domain[0] = n, k->launch.block[0] = block; }

/* -- rows: results of many instructions in one array, row r at r*n ------------------------------------------------- */
typedef struct {
    KCase *k;
    int array;
    KRef at;
    int64_t n;
    int row, max;
} Rows;

static Rows rows(KCase *k, qs_dtype d, int max, int64_t n, KRef at) {
    return (Rows){k, array1(k, d, max * n), at, n, 0, max};
}

static void row(Rows *r, KRef value) {
    if (r->row == r->max) return;
    kgen_store(r->k, r->array, kgen_op(r->k, K_ADD, r->at, kgen_i64(r->k, r->row++ * r->n), 0), value, 0);
}

/* -- arithmetic: every pair of edge values ------------------------------------------------------------------------- */
static bool takes(KOp op, qs_dtype d) {
    bool real = qdtype_is_real(d), logic = d == QS_B1;
    switch (op) {
    case K_AND:
    case K_OR:
    case K_XOR:
    case K_NOT: return !real;
    case K_SHL:
    case K_SHR: return !real && !logic;
    case K_EQ:
    case K_NE: return true;
    case K_MOD:
    case K_DIV: return !real && !logic; /* of floats: apart */
    default: return !logic;
    }
}

static KRef pair(KCase *k, const KSlot *e, const KSlot *e2, int n, qs_dtype d, KRef *a, KRef *b) {
    int x = array_of(k, d, e, n), y = array_of(k, d, e2, n);
    KRef i = position(k, 0), j = position(k, 1);
    k->launch = (KLaunch){2, {n, n}, {4, 8}};
    *a = kgen_load(k, x, i, 0), *b = kgen_load(k, y, j, 0);
    return kgen_op(k, K_ADD, kgen_op(k, K_MUL, i, kgen_i64(k, n), 0), j, 0);
}

static KCase *arithmetic(Ctx *c, Arena *arena, qs_dtype d) {
    static const KOp same[] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MOD, K_MIN, K_MAX, K_AND, K_OR, K_XOR, K_SHL, K_SHR},
                     compare[] = {K_LT, K_LE, K_EQ, K_NE}, unary[] = {K_NEG, K_ABS, K_NOT};
    KCase *k = kgen_case(c, arena, "arithmetic", 2);
    KSlot e[MAX_EDGES];
    int n = edges_of(d, e);
    KRef a, b, at = pair(k, e, e, n, d, &a, &b);
    Rows out = rows(k, d, 20, n * n, at), logic = rows(k, QS_B1, 8, n * n, at);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (takes(same[i], d)) row(&out, kgen_op(k, same[i], a, b, 0));
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
        if (takes(unary[i], d)) row(&out, kgen_op(k, unary[i], a, 0, 0));
    for (size_t i = 0; i < sizeof compare / sizeof *compare; i++)
        if (takes(compare[i], d)) row(&logic, kgen_op(k, compare[i], a, b, 0));
    row(&out, kgen_op(k, K_SELECT, kgen_op(k, K_NE, a, b, 0), b, a));
    return k;
}

/* MOD: values whose quotients, products and remainders are exact; DIV need not be rounded correctly by a device. */
static KCase *division(Ctx *c, Arena *arena, qs_dtype d) {
    static const double x[] = {0, 0.25, -0.25, 1, -1, 2.5, -2.5, 7, -7.75, 100, -100.25, 64},
                        y[] = {1, -1, 2, -2, 0.5, 4, -8, 0.25, 16, 64, -0.5, 32};
    enum { N = sizeof x / sizeof *x };
    KSlot e[MAX_EDGES], a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = slot(d, x[i]), b[i] = slot(d, y[i]);
    KCase *k = kgen_case(c, arena, "division", 2);
    KRef p, q, at = pair(k, a, b, N, d, &p, &q);
    Rows mod = rows(k, d, 1, N * N, at);
    row(&mod, kgen_op(k, K_MOD, p, q, 0));
    int n = edges_of(d, e), edge = array_of(k, d, e, n);
    Rows div = rows(k, d, n, N * N, at); /* every value by every edge */
    k->blocks[div.array].ulps = d == QS_F32 ? 3 : 0;
    for (int i = 0; i < n; i++) row(&div, kgen_op(k, K_DIV, p, kgen_load(k, edge, kgen_i64(k, i), 0), 0));
    return k;
}

static KCase *conversions(Ctx *c, Arena *arena, qs_dtype from) {
    KCase *k = kgen_case(c, arena, "conversions", 1);
    KSlot e[MAX_EDGES];
    int n = edges_of(from, e), x = array_of(k, from, e, n);
    KRef i = position(k, 0), a = kgen_load(k, x, i, 0);
    domain1(k, n, 16);
    for (int t = 0; t < NVALUES; t++) kgen_store(k, array1(k, values[t], n), i, kgen_cast(k, values[t], a), 0);
    return k;
}

static KCase *constants(Ctx *c, Arena *arena, qs_dtype d) {
    KCase *k = kgen_case(c, arena, "constants", 1);
    KSlot e[MAX_EDGES];
    int n = edges_of(d, e);
    Rows out = rows(k, d, 2 * n, 1, kgen_i64(k, 0));
    domain1(k, 1, 1);
    for (int i = 0; i < n; i++) {
        KSlot s = d == QS_I32 ? (KSlot){.I64 = e[i].I32} : d == QS_U32 || d == QS_F32 ? (KSlot){e[i].U32} : e[i];
        row(&out, kir_const_bits(k->func, d, s.bits, 0));
        row(&out, kir_add(k->func, (KMake){K_PARAM, .own = d, .imm = (uint64_t)kgen_number(k, d, e[i])}));
        if (k->func->nparams > 30) break;
    }
    return k;
}

/* -- mathematical functions ---------------------------------------------------------------------------------------- */
static KCase *functions(Ctx *c, Arena *arena, qs_dtype d) {
    static const double x[] = {0,    0.125, -0.125, 0.5,   -0.5, 0.875, 0.9, -0.9,   1,        -1,        1.5,
                               -1.5, 2.75,  3.25,   -3.25, 10.5, -10.5, 30,  100.25, INFINITY, -INFINITY, NAN};
    enum { N = sizeof x / sizeof *x };
    KSlot e[N];
    for (int i = 0; i < N; i++) e[i] = slot(d, x[i]);
    KCase *k = kgen_case(c, arena, "functions", 2);
    KRef a, b, at = pair(k, e, e, N, d, &a, &b);
    Rows out = rows(k, d, MF__COUNT, N * N, at);
    k->blocks[out.array].ulps = 20, k->blocks[out.array].slack = d == QS_F32 ? 1e-6 : 1e-15;
    for (int fn = 0; fn < MF__COUNT; fn++)
        row(&out,
            kir_add(k->func, (KMake){K_MATH, .flag = (unsigned)fn, .a = a, .b = kir_math[fn].nargs == 2 ? b : 0}));
    return k;
}

/* -- indices ------------------------------------------------------------------------------------------------------- */
static KCase *indices(Ctx *c, Arena *arena, qs_dtype d) {
    static const AccessMode modes[] = {ACC_MIRROR, ACC_REFLECT, ACC_CIRCULAR, ACC_CLAMPED};
    KCase *k = kgen_case(c, arena, "indices", 2);
    KSlot e[MAX_EDGES];
    int n = edges_of(d, e);
    KRef a, b, at = pair(k, e, e, n, d, &a, &b);
    Rows out = rows(k, d, 4, n * n, at), in = rows(k, QS_B1, 1, n * n, at);
    for (int m = 0; m < 4; m++) row(&out, kir_add(k->func, (KMake){K_BOUND, .flag = modes[m], .a = a, .b = b}));
    row(&in, kgen_op(k, K_INB, a, b, 0));
    return k;
}

/* -- memory: every element type, copied and converted to ----------------------------------------------------------- */
static KCase *memory(Ctx *c, Arena *arena, qs_dtype d) {
    KCase *k = kgen_case(c, arena, "memory", 1);
    KSlot e[MAX_EDGES];
    qs_dtype v = kir_value_dtype(d);
    int n = edges_of(v, e), parts = qdtype_is_complex(d) ? 2 : 1;
    int x = array_of(k, v, e, n), y = array1(k, d, n), z = array1(k, v, n), w = array1(k, d, n);
    KRef i = position(k, 0), own = kgen_op(k, K_MUL, i, kgen_i64(k, parts), 0), value = kgen_load(k, x, i, 0);
    KRef odd = kgen_cast(k, QS_B1, kgen_op(k, K_MOD, i, kgen_i64(k, 2), 0));
    domain1(k, n, 8);
    kgen_store(k, y, own, value, 0);
    kgen_store(k, z, i, kgen_load(k, y, own, 0), 0);
    kgen_store(k, w, own, value, odd);
    kgen_store(
        k, w, own,
        kgen_load(k, y, kgen_op(k, K_SELECT, odd, kgen_i64(k, INT64_MAX / 16), own), kgen_op(k, K_NOT, odd, 0, 0)), 0);
    if (parts == 2) kgen_store(k, y, kgen_op(k, K_ADD, own, kgen_i64(k, 1), 0), value, 0);
    return k;
}

/* -- atomics: every operator, in an order that does not matter ----------------------------------------------------- */
static bool atomic_takes(KAtomic op, qs_dtype d) {
    if (op > KA_POW) return false;
    if (op == KA_AND || op == KA_OR || op == KA_XOR) return !qdtype_is_real(d);
    return d != QS_B1 && (op != KA_POW || qdtype_is_real(d));
}

/* Values and start: sums stay small, products and quotients are of powers of two, ±1 or zeros. */
static double atomic_start(KAtomic op) {
    return op == KA_DIV ? 64 : op == KA_POW ? 2 : op == KA_MUL ? 1 : op == KA_MIN ? 90 : 5;
}

static KRef atomic_value(KCase *k, KAtomic op, qs_dtype v, KRef i) {
    KRef last = kgen_cast(k, QS_B1, kgen_op(k, K_MOD, i, kgen_i64(k, 20), 0));
    if (op == KA_MUL || op == KA_DIV)
        return kgen_op(k, K_SELECT, last, kir_const_num(k->func, v, 1, 0), kir_const_num(k->func, v, 2, 0));
    if (op == KA_POW) return kir_const_num(k->func, v, 1, 0);
    if (v == QS_B1) return kgen_op(k, K_LT, i, kgen_i64(k, 7), 0);
    KRef small = kgen_op(k, K_MOD, i, kgen_i64(k, op == KA_ADD || op == KA_SUB ? 2 : 100), 0);
    return kgen_cast(k, v, small);
}

static KCase *atomics(Ctx *c, Arena *arena, qs_dtype d) {
    KCase *k = kgen_case(c, arena, "atomics", 1);
    enum { CELLS = 3, N = 60 };
    qs_dtype v = kir_value_dtype(d);
    int y = array1(k, d, CELLS * KA__COUNT);
    KRef i = position(k, 0), cell = kgen_op(k, K_MOD, i, kgen_i64(k, CELLS), 0);
    KRef guard = kgen_op(k, K_NE, i, kgen_i64(k, 33), 0);
    domain1(k, N, 16);
    for (int op = 0; op < KA__COUNT; op++) {
        for (int e = 0; e < CELLS; e++) {
            char *p = kgen_data(k, y) + (size_t)(op * CELLS + e) * qdtype_size(d);
            qdtype_put(d, p, atomic_start((KAtomic)op));
            if (qdtype_is_complex(d)) memcpy(p + qdtype_size(d) / 2, p, qdtype_size(d) / 2);
        }
        if (!atomic_takes((KAtomic)op, v)) continue;
        KRef at = kgen_op(k, K_ADD, cell, kgen_i64(k, op * CELLS), 0);
        if (qdtype_is_complex(d)) at = kgen_op(k, K_ADD, kgen_op(k, K_ADD, at, at, 0), kgen_i64(k, 1), 0);
        kir_add(k->func, (KMake){K_ATOMIC, .flag = (unsigned)op, .a = at, .b = atomic_value(k, (KAtomic)op, v, i),
                                 .c = op & 1 ? guard : 0, .imm = (uint64_t)y});
    }
    return k;
}

/* Every edge value divided by every other one, and by 0 and -1 that the compiler knows; each element once. */
static KCase *atomic_division(Ctx *c, Arena *arena, qs_dtype d) {
    KCase *k = kgen_case(c, arena, "atomic division", 2);
    KSlot e[MAX_EDGES], all[3 * MAX_EDGES * MAX_EDGES];
    int n = edges_of(d, e);
    KRef a, b, at = pair(k, e, e, n, d, &a, &b);
    for (int i = 0; i < 3 * n * n; i++) all[i] = e[i / n % n];
    int y = array_of(k, d, all, 3 * n * n);
    double other = qdtype_info[d].cls == DC_SINT ? -1 : 3;
    KRef by[3] = {b, kir_const_num(k->func, d, 0, 0), kir_const_num(k->func, d, other, 0)};
    for (int i = 0; i < 3; i++) {
        KRef own = kgen_op(k, K_ADD, at, kgen_i64(k, i * n * n), 0);
        kir_add(k->func, (KMake){K_ATOMIC, .flag = KA_DIV, .a = own, .b = by[i], .imm = (uint64_t)y});
    }
    return k;
}

/* -- updates that give the element before: a position has an element for each operator ---------------------------- */
static bool fetch_takes(KAtomic op, qs_dtype d) {
    if (op == KA_MUL || op == KA_DIV || op == KA_POW) return false;
    return !qdtype_is_real(d) || op < KA_AND || op == KA_XCHG;
}

/* An operand that some elements of `few` different values are equal to. */
static KRef fetch_value(KCase *k, KAtomic op, qs_dtype v, KRef i) {
    KRef value = kgen_cast(k, v, kgen_op(k, K_MOD, i, kgen_i64(k, 7), 0));
    if (op != KA_CAS) return value;
    return kgen_op(k, K_EXPECT, value, kgen_cast(k, v, kgen_op(k, K_MOD, i, kgen_i64(k, 3), 0)), 0);
}

static KCase *fetches(Ctx *c, Arena *arena, qs_dtype d) {
    KCase *k = kgen_case(c, arena, "fetches", 1);
    enum { N = 60 };
    int y = array1(k, d, N * KA__COUNT), old = array1(k, d, N * KA__COUNT);
    KRef i = position(k, 0), guard = kgen_op(k, K_NE, i, kgen_i64(k, 33), 0);
    domain1(k, N, 16);
    for (int op = 0; op < KA__COUNT; op++) {
        for (int e = 0; e < N; e++) qdtype_put(d, kgen_data(k, y) + (size_t)(op * N + e) * qdtype_size(d), e % 5);
        if (!fetch_takes((KAtomic)op, d)) continue;
        KRef at = kgen_op(k, K_ADD, i, kgen_i64(k, op * N), 0);
        KRef found = kir_add(k->func, (KMake){K_FETCH, .own = d, .flag = (unsigned)op, .a = at,
                                              .b = fetch_value(k, (KAtomic)op, d, i), .c = op & 1 ? guard : 0,
                                              .imm = (uint64_t)y});
        kgen_store(k, old, at, found, 0);
    }
    return k;
}

static KCase *shared_fetches(Ctx *c, Arena *arena, qs_dtype d) {
    KCase *k = kgen_case(c, arena, "shared fetches", 1);
    enum { N = 50, BLOCK = 16 };
    int y = array1(k, d, 2 * N * KA__COUNT);
    domain1(k, N, BLOCK);
    KRef i = position(k, 0), b = kir_add(k->func, (KMake){K_BLKPOS, .own = QS_I32});
    KRef cells = kir_add(k->func, (KMake){K_SHARED, .own = d, .flag = 1, .imm = BLOCK});
    for (int op = 0; op < KA__COUNT; op++) {
        if (!fetch_takes((KAtomic)op, d)) continue;
        KRef found = kir_add(k->func, (KMake){K_AFETCH, .flag = (unsigned)op, .a = cells, .b = b,
                                              .c = fetch_value(k, (KAtomic)op, d, i)});
        kgen_store(k, y, kgen_op(k, K_ADD, i, kgen_i64(k, 2 * op * N), 0), found, 0);
        kgen_op(k, K_BARRIER, 0, 0, 0);
        kgen_store(k, y, kgen_op(k, K_ADD, i, kgen_i64(k, (2 * op + 1) * N), 0), kgen_op(k, K_ALOAD, cells, b, 0), 0);
    }
    return k;
}

/* -- shared and private arrays ------------------------------------------------------------------------------------- */
static KCase *arrays(Ctx *c, Arena *arena, qs_dtype v) {
    KCase *k = kgen_case(c, arena, "arrays", 1);
    enum { N = 50, BLOCK = 16 };
    int y = array1(k, v, KA__COUNT * N + 2 * N);
    domain1(k, N, BLOCK);
    KRef i = position(k, 0), b = kir_add(k->func, (KMake){K_BLKPOS, .own = QS_I32});
    KRef swapped = kir_add(k->func, (KMake){K_SHARED, .own = v, .imm = BLOCK}),
         cells = kir_add(k->func, (KMake){K_SHARED, .own = v, .flag = 1, .imm = KA__COUNT});
    KRef mine = kir_add(k->func, (KMake){K_LARRAY, .own = v, .imm = 4}), one = kir_const_int(k->func, QS_I32, 1, 0),
         three = kir_const_int(k->func, QS_I32, 3, 0);
    kgen_op(k, K_ASTORE, swapped, b, kgen_cast(k, v, i));
    kgen_op(k, K_ASTORE, mine, kgen_op(k, K_AND, b, three, 0), kgen_cast(k, v, i));
    kgen_op(k, K_BARRIER, 0, 0, 0);
    for (int op = 0; op < KA__COUNT; op++)
        if (atomic_takes((KAtomic)op, v))
            kir_add(k->func,
                    (KMake){K_AATOMIC, .flag = (unsigned)op, .a = cells, .b = kir_const_int(k->func, QS_I32, op, 0),
                            .c = atomic_value(k, (KAtomic)op, v, i)});
    kgen_op(k, K_BARRIER, 0, 0, 0);
    for (int op = 0; op < KA__COUNT; op++)
        kgen_store(k, y, kgen_op(k, K_ADD, i, kgen_i64(k, op * N), 0), kgen_op(k, K_ALOAD, cells, kgen_i64(k, op), 0),
                   0);
    kgen_store(k, y, kgen_op(k, K_ADD, i, kgen_i64(k, KA__COUNT * N), 0),
               kgen_op(k, K_ALOAD, swapped, kgen_op(k, K_XOR, b, one, 0), 0), 0);
    kgen_store(k, y, kgen_op(k, K_ADD, i, kgen_i64(k, (KA__COUNT + 1) * N), 0), kgen_op(k, K_ALOAD, mine, one, 0), 0);
    return k;
}

/* -- the launch: positions, in every rank -------------------------------------------------------------------------- */
static KCase *geometry(Ctx *c, Arena *arena, int rank) {
    static const int64_t domain[QS_MAX_RANK] = {3, 2, 5, 1, 2, 3, 1, 2};
    static const int32_t block[QS_MAX_RANK] = {2, 2, 4, 1, 1, 2, 3, 1};
    static const KOp ops[] = {K_POS, K_BLKPOS, K_BLKDIM, K_BLKIDX, K_BLKCNT};
    KCase *k = kgen_case(c, arena, "geometry", rank);
    int64_t n = 1;
    KRef at = kgen_i64(k, 0);
    for (int d = 0; d < rank; d++) {
        k->launch.domain[d] = domain[d], k->launch.block[d] = block[d];
        n *= domain[d];
        at = kgen_op(k, K_ADD, kgen_op(k, K_MUL, at, kgen_i64(k, domain[d]), 0), position(k, d), 0);
    }
    Rows out = rows(k, QS_I32, 5 * rank, n, at);
    for (int d = 0; d < rank; d++)
        for (int o = 0; o < 5; o++) row(&out, kir_add(k->func, (KMake){ops[o], .own = QS_I32, .imm = (uint64_t)d}));
    return k;
}

/* -- FOR over edges: the iteration count, and the last value ------------------------------------------------------- */
static KCase *counting(Ctx *c, Arena *arena, qs_dtype d) {
    const int64_t lo = d == QS_I64 ? INT64_MIN : INT32_MIN, hi = d == QS_I64 ? INT64_MAX : INT32_MAX;
    const int64_t loops[][3] = {{0, 3, 1},    {0, 3, 2},       {3, 0, -1},      {3, 0, 1},        {0, 3, -1},
                                {0, 3, 0},    {hi - 2, hi, 1}, {hi - 3, hi, 2}, {lo + 2, lo, -1}, {lo, hi, hi},
                                {hi, lo, lo}, {hi, hi, 1},     {lo, lo, -5},    {5, 5, -1}};
    enum { N = sizeof loops / sizeof *loops };
    KCase *k = kgen_case(c, arena, "counting", 1);
    int x = array1(k, d, 3 * N), y = array1(k, d, 2 * N);
    for (int i = 0; i < 3 * N; i++)
        put_slot(kgen_data(k, x) + (size_t)i * qdtype_size(d), d,
                 d == QS_I64 ? (KSlot){.I64 = loops[i / 3][i % 3]} : (KSlot){.I32 = (int32_t)loops[i / 3][i % 3]});
    domain1(k, N, 4);
    KRef i = position(k, 0), i3 = kgen_op(k, K_MUL, i, kgen_i64(k, 3), 0), one = kir_const_int(k->func, d, 1, 0);
    KRef arg[3];
    for (int a = 0; a < 3; a++) arg[a] = kgen_load(k, x, kgen_op(k, K_ADD, i3, kgen_i64(k, a), 0), 0);
    KRef turns = kgen_op(k, K_LOCAL, kir_const_int(k->func, d, 0, 0), 0, 0),
         last = kgen_op(k, K_LOCAL, kir_const_int(k->func, d, -77, 0), 0, 0);
    KRef counter = kir_add(k->func, (KMake){K_FOR, .own = d, .a = arg[0], .b = arg[1], .c = arg[2]});
    kgen_op(k, K_SET, last, counter, 0);
    kgen_op(k, K_SET, turns, kgen_op(k, K_ADD, kgen_op(k, K_GET, turns, 0, 0), one, 0), 0);
    kgen_op(k, K_END, 0, 0, 0);
    kgen_store(k, y, i, kgen_op(k, K_GET, turns, 0, 0), 0);
    kgen_store(k, y, kgen_op(k, K_ADD, i, kgen_i64(k, N), 0), kgen_op(k, K_GET, last, 0, 0), 0);
    return k;
}

/* -- the list ------------------------------------------------------------------------------------------------------ */
typedef KCase *Make(Ctx *, Arena *, qs_dtype);
typedef struct {
    Make *make;
    uint32_t dtypes;
} Group;
#define BIT(d) (1u << QS_##d)
enum {
    INTS = BIT(I32) | BIT(U32) | BIT(I64) | BIT(U64),
    FLOATS = BIT(F32) | BIT(F64),
    VALUES = BIT(B1) | INTS | FLOATS,
    ELEMENTS = (1u << QS_NDTYPES) - 1,
    RANKS = 0x1fe /* 1..8 */
};

static KCase *geometry_of(Ctx *c, Arena *arena, qs_dtype rank) { return geometry(c, arena, (int)rank); }

static const Group groups[] = {{arithmetic, VALUES},     {division, FLOATS},
                               {conversions, VALUES},    {constants, VALUES},
                               {functions, FLOATS},      {indices, BIT(I64)},
                               {memory, ELEMENTS},       {atomics, ELEMENTS},
                               {atomic_division, INTS},  {arrays, VALUES},
                               {geometry_of, RANKS},     {counting, BIT(I32) | BIT(I64)},
                               {fetches, INTS | FLOATS}, {shared_fetches, INTS | FLOATS}};

int kgen_suite_size(void) {
    int n = 0;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) n += __builtin_popcount(groups[g].dtypes);
    return n;
}

KCase *kgen_suite(Ctx *c, Arena *arena, int number) {
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (int d = 0; d < 32; d++) {
            if (!(groups[g].dtypes >> d & 1) || number-- > 0) continue;
            KCase *k = groups[g].make(c, arena, (qs_dtype)d);
            qs_status s = kgen_finish(k);
            return s == QS_OK ? k : NULL;
        }
    return NULL;
}
