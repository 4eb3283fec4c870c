/* emit_exact.c -- finds products of float64 that are exact, so that a*b + c rounds once in any case.
 *
 * The product of two float32 elements has 48 bits, and float64 loses none of them.  The instruction of the processor
 * that multiplies and adds with one rounding then gives the bits of a multiplication followed by an addition, and loops
 * of the program, which must give these, use it. */
#include "lang/kernel/codegen/emit_llvm.h"

#include <math.h>

/* A finite value is 0, or a multiple of 2^least below 2^most with at most so many significant bits. */
typedef struct {
    int bits, least, most;
} Spread;

enum { DOUBLE_BITS = 53, DOUBLE_LEAST = -1074, DOUBLE_MOST = 1024, FLOAT_BITS = 24, FLOAT_LEAST = -149, DEEP = 6 };
static const Spread any_double = {DOUBLE_BITS, DOUBLE_LEAST, DOUBLE_MOST};

static int min_int(int a, int b) { return a < b ? a : b; }
static int max_int(int a, int b) { return a > b ? a : b; }

static Spread spread_of_constant(double v) {
    int e;
    int64_t m = (int64_t)ldexp(fabs(frexp(v, &e)), DOUBLE_BITS);
    Spread s = {DOUBLE_BITS, e - DOUBLE_BITS, e};
    if (!isnormal(v)) return v == 0 ? (Spread){1, 0, 0} : any_double;
    for (; !(m & 1); m >>= 1) s.bits--, s.least++;
    return s;
}

static Spread spread_of_cast(qs_dtype from) {
    if (from == QS_F32) return (Spread){FLOAT_BITS, FLOAT_LEAST, 128};
    if (from == QS_B1) return (Spread){1, 0, 1};
    if (from == QS_I32 || from == QS_U32) return (Spread){32, 0, 32};
    return from == QS_I64 || from == QS_U64 ? (Spread){DOUBLE_BITS, 0, 64} : any_double;
}

/* The bits of the unrounded product; a power of two adds none. */
static int product_bits(Spread a, Spread b) { return a.bits == 1 || b.bits == 1 ? a.bits * b.bits : a.bits + b.bits; }

static bool is_exact(Spread a, Spread b) {
    return product_bits(a, b) <= DOUBLE_BITS && a.least + b.least >= DOUBLE_LEAST && a.most + b.most <= DOUBLE_MOST;
}

static Spread join_spreads(Spread a, Spread b) {
    return (Spread){max_int(a.bits, b.bits), min_int(a.least, b.least), max_int(a.most, b.most)};
}

static Spread find_spread(const KFunc *f, KRef r, int depth) {
    const KIns *i = &f->ins[r];
    Spread a, b;
    double v;
    if (i->dtype != QS_F64 || !depth) return any_double;
    if (kir_is_const(f, r, &v)) return spread_of_constant(v);
    switch ((KOp)i->op) {
    case K_CAST: return spread_of_cast((qs_dtype)f->ins[i->a].dtype);
    case K_NEG:
    case K_ABS: return find_spread(f, i->a, depth - 1);
    case K_ADD:
    case K_SUB:
    case K_MUL: break;
    default: return any_double;
    }
    a = find_spread(f, i->a, depth - 1), b = find_spread(f, i->b, depth - 1);
    if (i->op == K_MUL)
        return (Spread){min_int(product_bits(a, b), DOUBLE_BITS), max_int(a.least + b.least, DOUBLE_LEAST),
                        min_int(a.most + b.most, DOUBLE_MOST)};
    a = join_spreads(a, b);
    return (Spread){DOUBLE_BITS, a.least, min_int(a.most + 1, DOUBLE_MOST)};
}

static bool is_exact_product(const KFunc *f, KRef r) {
    const KIns *i = &f->ins[r];
    return i->op == K_MUL && i->dtype == QS_F64 && is_exact(find_spread(f, i->a, DEEP), find_spread(f, i->b, DEEP));
}

/* Whether r is a variable that each iteration changes.  Iterations in order wait for it longer if the product is added
 * by the same instruction. */
static bool is_chain(const KFunc *f, KRef r) {
    const KIns *i = &f->ins[r];
    return i->op == K_GET || (i->op == K_CAST && f->ins[i->a].op == K_GET);
}

bool emit_rounds_once(const KFunc *f, KRef r) {
    const KIns *i = &f->ins[r];
    if (i->op == K_MUL) return is_exact_product(f, r);
    if ((i->op != K_ADD && i->op != K_SUB) || i->dtype != QS_F64) return false;
    if (i->flag != KFLAG_REASSOC && (is_chain(f, i->a) || is_chain(f, i->b))) return false;
    return is_exact_product(f, i->a) || is_exact_product(f, i->b);
}
