/* simplify.c -- simplifies sums and products of powers in derivatives of kernels with fast math.
 *
 *     1/(d*sqrt(d))         q*q*q, where q = 1/sqrt(d)           derivatives repeat the same factors:
 *     s*r*r*sqrt(d)         s * q*q*q*q*q, if r is the above     they become one power,
 *     t*u + 0.5*u*t         1.5*t*u                              equal products become one product,
 *     a*t + s - b*t         (a - b)*t + s                        products that differ in one factor are joined,
 *     (b - a)*c             -((a - b)*c)                         and differences get one canonical sign
 *
 * A value is a number times powers of values that are not products.  Exponents are multiples of one half.  The pass
 * rebuilds a product only if roots or quotients meet in it; other products stay as written, so that they remain common
 * subexpressions.  A sum keeps a list of its terms, and a sum that is its only user takes them over.  Equal
 * instructions are merged, so that equal factors are recognized. */
#include "lang/kernel/ir/kir.h"
#include "lang/kernel/passes/passes.h"

#include <math.h>
#include <string.h>

enum { FACTORS = 6, TERMS = 8, MOST = 16 /* largest exponent, in halves */, BUCKETS = 256 };

typedef struct {
    KRef of;
    int halves;
    bool rooted;
} Power; /* of: an instruction of g; rooted: its square root is computed in any case */
typedef struct {
    double number; /* 0: the value is not a float */
    KRef value;    /* in g, without the sign of the number */
    bool joined;   /* value was built from the powers, not from operands */
    int n;
    Power power[FACTORS];
} Product;

typedef struct Sum Sum;
struct Sum {
    const Sum *next;
    KRef value /* in g */, at /* of f */;
    int n;
    Product *term;
};

typedef struct {
    KRef ref;
    uint32_t before;
} Seen; /* before: the previous entry of its bucket, as index + 1 */

typedef struct {
    const KFunc *f;
    KFunc *g;
    Arena *arena;
    Seen *seen;
    uint32_t nseen, cap_seen, bucket[BUCKETS]; /* instructions of the open regions */
    uint32_t *open;
    int nopen; /* nseen at the beginning of each open region */
    KRef *map; /* by instruction of f */
    Product *product;
    uint32_t *uses;
    const Sum *sums;
    uint64_t *key;
    uint32_t nkeys, cap; /* by instruction of g: the key of its value, without its guard */
    KRef at;
    uint32_t pos; /* in f */
} Powers;

/* -- equal instructions -------------------------------------------------------------------------------------------- */
static bool is_repeatable(const Powers *v, const KIns *i) {
    return kir_ops[i->op].effect == KE_PURE || (i->op == K_LOAD && !v->f->params[i->imm].written);
}

static uint32_t *bucket_of(Powers *v, const KIns *i) {
    uint64_t h = (uint64_t)i->op << 56 ^ i->imm ^ (uint64_t)i->a << 32 ^ (uint64_t)i->b << 16 ^ i->c;
    return &v->bucket[h * 0x9e3779b97f4a7c15u >> 56];
}

static void see(Powers *v, KRef r, uint32_t *bucket) {
    if (v->nseen == v->cap_seen) {
        Seen *more = qarena_alloc(v->arena, qmem_size(v->cap_seen, 2 * sizeof *more, 0));
        memcpy(more, v->seen, v->nseen * sizeof *more);
        v->seen = more, v->cap_seen *= 2;
    }
    v->seen[v->nseen++] = (Seen){r, *bucket};
    *bucket = v->nseen;
}

/* Returns r, the newest instruction, or an earlier instruction that is equal to it. */
static KRef one(Powers *v, KRef r) {
    const KIns *i = &v->g->ins[r];
    if (r + 1 != v->g->nins || !is_repeatable(v, i)) return r;
    uint32_t *bucket = bucket_of(v, i);
    for (uint32_t k = *bucket; k; k = v->seen[k - 1].before)
        if (v->seen[k - 1].ref == r || kir_equal_ins(i, &v->g->ins[v->seen[k - 1].ref])) {
            if (v->seen[k - 1].ref != r) v->g->nins--;
            return v->seen[k - 1].ref;
        }
    return see(v, r, bucket), r;
}

static void close_region(Powers *v) {
    for (uint32_t to = v->open[--v->nopen]; v->nseen > to; v->nseen--)
        *bucket_of(v, &v->g->ins[v->seen[v->nseen - 1].ref]) = v->seen[v->nseen - 1].before;
}

static void follow_regions(Powers *v, const KIns *i) {
    if (i->op == K_END || i->op == K_ELSE) close_region(v);
    if (kir_opens(i->op) || i->op == K_ELSE) v->open[v->nopen++] = v->nseen;
}

static KRef fold_op(Powers *v, KOp op, KRef a, KRef b) {
    return one(v, kir_fold(v->g, (KMake){op, .a = a, .b = b, .pos = v->pos}));
}
static KRef multiply_values(Powers *v, KRef a, KRef b) { return !a ? b : fold_op(v, K_MUL, a, b); }
static KRef number(Powers *v, qs_dtype d, double x) { return one(v, kir_const_num(v->g, d, x, v->pos)); }
static KRef root(Powers *v, KRef x) {
    return one(v, kir_fold(v->g, (KMake){K_MATH, .flag = MF_sqrt, .a = x, .pos = v->pos}));
}

/* -- making values ------------------------------------------------------------------------------------------------- */
static KRef integral_power(Powers *v, KRef x, int n) { /* n > 0; larger powers are built from smaller ones */
    if (n <= 2) return n == 1 ? x : fold_op(v, K_MUL, x, x);
    return fold_op(v, K_MUL, integral_power(v, x, n - 2), integral_power(v, x, 2));
}

static KRef power(Powers *v, const Power *p) {
    qs_dtype d = (qs_dtype)v->g->ins[p->of].dtype;
    int n = p->halves;
    if (n < 0 && p->rooted) return integral_power(v, fold_op(v, K_DIV, number(v, d, 1), root(v, p->of)), -n);
    if (n < 0) return integral_power(v, fold_op(v, K_DIV, number(v, d, 1), p->of), -n / 2);
    KRef whole = n > 1 ? integral_power(v, p->of, n / 2) : 0;
    return n & 1 ? multiply_values(v, whole, root(v, p->of)) : whole;
}

/* Multiplies roots, quotients and the number first, because products often share these. */
static KRef make_product(Powers *v, const Product *p, qs_dtype d) {
    KRef x = 0;
    for (int k = 0; k < p->n; k++)
        if (p->power[k].halves != 2) x = multiply_values(v, x, power(v, &p->power[k]));
    if (fabs(p->number) != 1 || p->n == 0) x = multiply_values(v, x, number(v, d, fabs(p->number)));
    for (int k = 0; k < p->n; k++)
        if (p->power[k].halves == 2) x = multiply_values(v, x, p->power[k].of);
    return x;
}

static Product atom(KRef value, double sign) {
    return (Product){.number = sign, .value = value, .n = 1, .power[0] = {value, 2, false}};
}

/* -- products ------------------------------------------------------------------------------------------------------ */
static bool is_plain(int halves) { return halves > 0 && halves % 2 == 0; }

static Power *find_power(Product *p, KRef of) {
    for (int k = 0; k < p->n; k++)
        if (p->power[k].of == of) return &p->power[k];
    return NULL;
}

/* Sets *meet if a root or quotient is combined with another factor of the same base. */
static bool add_power(Product *p, Power b, bool *meet) {
    Power *a = find_power(p, b.of);
    if (!a) {
        if (p->n == FACTORS) return false;
        return p->power[p->n++] = b, true;
    }
    *meet |= !is_plain(a->halves) || !is_plain(b.halves);
    a->halves += b.halves, a->rooted |= b.rooted;
    if (a->halves == 0) *a = p->power[--p->n];
    return a->halves <= MOST && a->halves >= -MOST;
}

static bool is_factor(qs_dtype d, double x) { /* neither 0 nor out of range of d */
    return d == QS_F32 ? (float)x != 0 && isfinite((float)x) : x != 0 && isfinite(x);
}

/* Multiplies or divides as products of powers; false: this gains nothing. */
static bool multiply_products(Powers *v, const KIns *i, Product *out) {
    const Product *a = &v->product[i->a], *b = &v->product[i->b];
    bool over = i->op == K_DIV, meet = over && b->joined;
    *out = *a;
    for (int k = 0; k < b->n; k++) {
        Power p = b->power[k];
        meet |= over && p.rooted;
        if (over) p.halves = -p.halves;
        if (!add_power(out, p, &meet)) return false;
    }
    out->number = over ? a->number / b->number : a->number * b->number;
    out->joined = meet || (a->joined && b->n == 0) || (b->joined && a->n == 0);
    if (!is_factor((qs_dtype)i->dtype, out->number)) return false;
    if (out->joined) out->value = make_product(v, out, (qs_dtype)i->dtype);
    else out->value = one(v, kir_fold(v->g, kir_like(i, a->value, b->value, 0)));
    return true;
}

static Product take_root(Powers *v, const KIns *i) {
    KRef of = v->map[i->a];
    return (Product){.number = 1, .value = root(v, of), .n = 1, .power[0] = {of, 1, true}};
}

/* -- sums ---------------------------------------------------------------------------------------------------------- */
static uint64_t key_of(const Powers *v, const KIns *i) {
    uint64_t h = (uint64_t)i->op << 32 | (uint64_t)i->dtype << 16 | i->flag;
    for (int k = 0; k < 3; k++) h = (h ^ (i->op == K_LOAD && k == 1 ? 0 : v->key[i->arg[k]])) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 29 ^ i->imm) * 0xbf58476d1ce4e5b9u;
}

static uint64_t key(Powers *v, KRef x) {
    if (v->cap <= x) {
        uint64_t *more = qarena_alloc(v->arena, qmem_size(v->g->nins, 2 * sizeof *more, 0));
        if (v->nkeys) memcpy(more, v->key, v->nkeys * sizeof *more);
        v->key = more, v->cap = 2 * v->g->nins;
    }
    for (; v->nkeys <= x; v->nkeys++) v->key[v->nkeys] = key_of(v, &v->g->ins[v->nkeys]);
    return v->key[x];
}

static Product sum_of_products(Powers *v, const Product *a, const Product *b) {
    bool minus_a = a->number < 0, minus_b = b->number < 0;
    if (minus_a == minus_b) return atom(fold_op(v, K_ADD, a->value, b->value), minus_a ? -1 : 1);
    if (key(v, a->value) <= key(v, b->value)) return atom(fold_op(v, K_SUB, a->value, b->value), minus_a ? -1 : 1);
    return atom(fold_op(v, K_SUB, b->value, a->value), minus_b ? -1 : 1);
}

static bool same_powers(Product *a, const Product *b) {
    for (int k = 0; k < b->n; k++) {
        const Power *p = find_power(a, b->power[k].of);
        if (!p || p->halves != b->power[k].halves) return false;
    }
    return a->n == b->n && a->n > 0;
}

static bool add_alike(Powers *v, Product *a, const Product *b, qs_dtype d, Product *out) {
    double sum = a->number + b->number;
    if (!same_powers(a, b) || !is_factor(d, sum)) return false;
    *out = *a;
    out->number = sum;
    out->joined = a->joined || a->value != b->value;
    KRef x = number(v, d, fabs(sum / a->number));
    out->value = out->joined ? make_product(v, out, d) : fold_op(v, K_MUL, a->value, x);
    return true;
}

/* The only factor of a that is not in b; NULL: there are several, or the products share no factor. */
static Power *odd_one(Product *a, Product *b) {
    Power *odd = NULL;
    for (int k = 0; k < a->n; k++) {
        const Power *p = find_power(b, a->power[k].of);
        if (p && p->halves == a->power[k].halves) continue;
        if (odd || p || a->power[k].halves != 2) return NULL;
        odd = &a->power[k];
    }
    return a->n > 1 ? odd : NULL;
}

static Product add_products(Powers *v, Product a, Product b, qs_dtype d);

/* Combines a + b into one product, if possible. */
static bool unite(Powers *v, Product *a, Product *b, qs_dtype d, Product *out) {
    if (add_alike(v, a, b, d, out)) return true;
    Power *x = odd_one(a, b), *y = odd_one(b, a);
    if (!x || !y || fabs(a->number) != fabs(b->number)) return false;
    Product sum = add_products(v, atom(x->of, a->number < 0 ? -1 : 1), atom(y->of, b->number < 0 ? -1 : 1), d);
    *out = *a;
    out->number = fabs(a->number) * sum.number;
    if (sum.n != 1 || sum.power[0].halves != 2 || find_power(a, sum.power[0].of)) return false;
    out->power[x - a->power] = sum.power[0];
    out->joined = true, out->value = make_product(v, out, d);
    return true;
}

static bool unite_some(Powers *v, Sum *s, qs_dtype d) {
    for (int j = 0; j < s->n; j++)
        for (int k = j + 1; k < s->n; k++) {
            Product p;
            if (!unite(v, &s->term[j], &s->term[k], d, &p)) continue;
            s->term[j] = p, s->term[k] = s->term[--s->n];
            return true;
        }
    return false;
}

static const Sum *sum_in(const Powers *v, const Product *p) {
    const KRegion *g = v->f->regions;
    if (p->n != 1 || p->power[0].halves != 2) return NULL;
    for (const Sum *s = v->sums; s; s = s->next)
        if (s->value == p->power[0].of) return v->uses[s->at] == 1 && g[s->at].around == g[v->at].around ? s : NULL;
    return NULL;
}

static bool take_terms(const Powers *v, Sum *to, const Product *p) {
    const Sum *s = sum_in(v, p);
    int n = s && fabs(p->number) == 1 ? s->n : 0;
    if (to->n + (n ? n : 1) > TERMS) return false;
    if (!n) return to->term[to->n++] = *p, true;
    for (int k = 0; k < n; k++) to->term[to->n] = s->term[k], to->term[to->n++].number *= p->number;
    return true;
}

static void note(Powers *v, const Sum *s, const Product *sum) {
    size_t n = (size_t)s->n;
    Sum *all = qarena_alloc(v->arena, sizeof *all);
    *all = (Sum){v->sums, sum->value, v->at, s->n, qarena_alloc(v->arena, qmem_size(n, sizeof *all->term, 0))};
    for (size_t k = 0; k < n; k++) all->term[k] = s->term[k], all->term[k].number *= sum->number;
    v->sums = all;
}

static Product add_products(Powers *v, Product a, Product b, qs_dtype d) {
    Product term[TERMS];
    Sum s = {.term = term};
    if (!take_terms(v, &s, &a) || !take_terms(v, &s, &b)) return sum_of_products(v, &a, &b);
    bool united = false;
    while (unite_some(v, &s, d)) united = true;
    Product sum = united ? term[0] : sum_of_products(v, &a, &b);
    for (int k = 1; united && k < s.n; k++) sum = sum_of_products(v, &sum, &term[k]);
    if (s.n > 1) note(v, &s, &sum);
    return sum;
}

static Product add_both(Powers *v, const KIns *i) {
    Product b = v->product[i->b];
    if (i->op == K_SUB) b.number = -b.number;
    return add_products(v, v->product[i->a], b, (qs_dtype)i->dtype);
}

/* -- all instructions ---------------------------------------------------------------------------------------------- */
static Product make_constant(Powers *v, const KIns *i, KRef value) {
    double x;
    qs_dtype d = (qs_dtype)i->dtype;
    if (!kir_is_const(v->g, value, &x) || !is_factor(d, x)) return atom(value, 1);
    return (Product){.number = x, .value = number(v, d, fabs(x))};
}

static Product other(Powers *v, const KIns *i) {
    KRef x = one(v, kir_copy(v->g, i, v->map[i->a], v->map[i->b], v->map[i->c]));
    return kir_is_float((qs_dtype)i->dtype) && kir_has_result(i) ? make_constant(v, i, x) : (Product){.value = x};
}

static Product product_of(Powers *v, const KIns *i) {
    Product p;
    if (!kir_is_float((qs_dtype)i->dtype)) return other(v, i);
    switch ((KOp)i->op) {
    case K_MUL:
    case K_DIV: return multiply_products(v, i, &p) ? p : other(v, i);
    case K_ADD:
    case K_SUB: return i->flag ? other(v, i) : add_both(v, i);
    case K_NEG: p = v->product[i->a], p.number = -p.number; return p;
    case K_MATH: return i->flag == MF_sqrt ? take_root(v, i) : other(v, i);
    default: return other(v, i);
    }
}

static void visit_ins(Powers *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    v->at = r, v->pos = i->pos;
    follow_regions(v, i);
    Product p = v->product[r] = product_of(v, i);
    v->map[r] = p.number < 0 ? fold_op(v, K_NEG, p.value, 0) : p.value;
}

static void count_uses(Powers *v) {
    for (KRef r = 1; r < v->f->nins; r++)
        for (int k = 0; k < 3; k++) v->uses[v->f->ins[r].arg[k]]++;
}

static Powers begin_powers(Ctx *c, Arena *arena, const KFunc *f) {
    size_t n = f->nins;
    Powers v = {.f = f, .g = kir_shell_with(c, arena, f, f->params, f->nparams), .arena = arena, .cap_seen = f->nins};
    v.map = qarena_alloc(arena, qmem_size(n, sizeof *v.map, 0)),
    v.product = qarena_alloc(arena, qmem_size(n, sizeof *v.product, 0));
    v.uses = qarena_alloc(arena, qmem_size(n, sizeof *v.uses, 0)),
    v.open = qarena_alloc(arena, qmem_size(n, sizeof *v.open, 0));
    v.seen = qarena_alloc(arena, qmem_size(n, sizeof *v.seen, 0));
    return v;
}

KFunc *ksimplify_join(Ctx *c, Arena *arena, const KFunc *f) {
    Powers v = begin_powers(c, arena, f);
    bool *wanted = qarena_alloc(arena, (size_t)f->nparams + 1);
    count_uses(&v);
    for (KRef r = 1; r < f->nins; r++) visit_ins(&v, r);
    kir_seal(v.g);
    for (int p = 0; p < f->nparams; p++) wanted[p] = f->params[p].written;
    return kdeadcode(c, arena, v.g, wanted, NULL);
}
