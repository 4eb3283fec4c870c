/* gather_scatter.c -- builds gather and scatter kernels; see gather_scatter.h. */
#include "lang/kernel/lower/fusion/gather_scatter.h"
#include "lang/kernel/lower/common/common.h"

typedef struct {
    union {
        Walk walk;
        struct {
#include "lang/kernel/lower/common/members.def"
        };
    };
    const CarryKey *k;
    int x, y, mask, list[QS_MAX_RANK]; /* parameters */
} Carrying;

static KRef emit_pure(Carrying *z, KMake i) { return kbuild_pure(&z->walk, i); }

static void add_params(Carrying *z) {
    const CarryKey *k = z->k;
    z->x = kbuild_array_param(&z->walk, "x", (qs_dtype)k->from, k->rank, false, false);
    z->y = kbuild_array_param(&z->walk, "y", (qs_dtype)k->to, k->rank, false, true);
    if (k->masked) z->mask = kbuild_array_param(&z->walk, "mask", (qs_dtype)k->mask, k->rank, false, false);
    for (int d = 0; d < k->rank; d++)
        if (k->listed & 1 << d) z->list[d] = kbuild_array_param(&z->walk, "places", QS_I64, 1, true, false);
}

static KRef and_condition(Carrying *z, KRef a, KRef b) {
    return a ? emit_pure(z, (KMake){K_AND, .own = QS_B1, .a = a, .b = b}) : b;
}

/* Loads the list entry of dimension d and adds to *there the condition that it is not negative. */
static KRef load_index(Carrying *z, int d, KRef at, KRef *there) {
    KRef p = kmemory_load(&z->walk, z->list[d], QS_I64, at, 0, 0), none = kbuild_int(&z->walk, QS_I64, 0);
    KRef one = kbuild_int(&z->walk, QS_I64, 1);
    if (z->k->from_one) p = emit_pure(z, (KMake){K_SUB, .own = QS_I64, .a = p, .b = one});
    *there = and_condition(z, *there, emit_pure(z, (KMake){K_LE, .own = QS_B1, .a = none, .b = p}));
    return p;
}

static KRef load_mask(Carrying *z, const KRef *at) {
    Layout m = {.param = z->mask, .rank = z->k->rank};
    KRef v = kmemory_load(&z->walk, z->mask, (qs_dtype)z->k->mask, kmemory_linear(&z->walk, &m, at), 0, 0);
    return z->k->mask == QS_B1 ? v : emit_pure(z, (KMake){K_CAST, .own = QS_B1, .a = v});
}

static void build_kernel(Carrying *z) {
    const CarryKey *k = z->k;
    KRef at[QS_MAX_RANK], listed[QS_MAX_RANK], there = 0, written;
    for (int d = 0; d < k->rank; d++) {
        listed[d] = at[d] = kbuild_emit(&z->walk, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)d});
        if (k->listed & 1 << d) listed[d] = load_index(z, d, at[d], &there);
    }
    written = k->into ? there : 0;
    if (k->masked) written = and_condition(z, written, load_mask(z, at));
    Layout x = {.param = z->x, .rank = k->rank}, y = {.param = z->y, .rank = k->rank};
    KRef from = kmemory_linear(&z->walk, &x, k->into ? at : listed),
         to = kmemory_linear(&z->walk, &y, k->into ? listed : at);
    qs_dtype d = kir_value_dtype((qs_dtype)k->to);
    for (int part = 0; part < 1 + qdtype_is_complex((qs_dtype)k->from); part++) {
        KRef v = kmemory_load(&z->walk, z->x, (qs_dtype)k->from, from, part, k->into ? 0 : there);
        if (z->f->ins[v].dtype != d) v = emit_pure(z, (KMake){K_CAST, .own = d, .a = v});
        kmemory_store(&z->walk, z->y, (qs_dtype)k->to, to, part, v, written);
    }
}

static const WalkRules rules = {.value_size = sizeof(KRef)};

qs_status kgatherscatter_build(Ctx *c, Arena *arena, const CarryKey *k, KFunc **out) {
    Carrying z = {.walk = {.rules = &rules, .c = c}, .k = k};
    kbuild_begin(&z.walk, kir_new(c, arena, qstr_cname(c, "carry"), NULL), arena, 0);
    z.f->rank = k->rank;
    add_params(&z);
    build_kernel(&z);
    return kbuild_seal(&z.walk, out);
}
