/* axis_kernel.c -- see axis_kernel.h. */
#include "lang/kernel/lower/fusion/axis_kernel.h"
#include "lang/kernel/lower/common/common.h"

typedef struct {
    union {
        Walk walk;
        struct {
#include "lang/kernel/lower/common/members.def"
        };
    };
    const AlongKey *k;
    int x, centres, y, apart, by, before[2], per; /* parameters */
    KRef at[QS_MAX_RANK];                         /* the place of the result */
    KRef first;                                   /* the first element that this position takes */
    KRef acc[2];                                  /* what it has, and the imaginary part of that; 0: there is none */
} Merge;

static KRef emit(Merge *z, KMake i) { return kbuild_emit(&z->walk, i); }
static KRef pure(Merge *z, KMake i) { return kbuild_pure(&z->walk, i); }
static KRef cast(Merge *z, KRef a, qs_dtype d) {
    return z->f->ins[a].dtype == d ? a : pure(z, (KMake){K_CAST, .own = d, .a = a});
}
static qs_dtype lane(const Merge *z) { return qdtype_real_of((qs_dtype)z->k->lane); }

/* -- parameters ---------------------------------------------------------------------------------------------------- */
static int array(Merge *z, const char *name, qs_dtype d, int rank, bool packed, bool written) {
    return kir_param(z->f, &(KParam){.name = qstr_cname(z->c, name),
                                     .kind = KP_ARRAY,
                                     .dtype = (uint8_t)d,
                                     .rank = (uint8_t)rank,
                                     .contiguous = packed,
                                     .unit_last = packed,
                                     .read = !written,
                                     .written = written});
}

static int number(Merge *z, const char *name, qs_dtype d) {
    return kir_param(z->f, &(KParam){.name = qstr_cname(z->c, name), .kind = KP_NUM, .dtype = (uint8_t)d});
}

static KRef value_of(Merge *z, int param) {
    return emit(z, (KMake){K_PARAM, .own = (qs_dtype)z->f->params[param].dtype, .imm = (uint64_t)param});
}

static void parameters(Merge *z) {
    static const char *const names[] = {"before", "far"};
    const AlongKey *k = z->k;
    z->x = array(z, "x", (qs_dtype)k->from, k->rank + 1, false, false);
    qs_dtype centre = k->places ? (qs_dtype)k->from : QS_F64;
    if (k->centred || k->places) z->centres = array(z, "centres", centre, k->rank, true, false);
    z->y = array(z, "y", (qs_dtype)k->to, k->rank + 1, !k->running, true);
    z->apart = number(z, "apart", QS_I64);
    if (k->divided) z->by = number(z, "by", QS_F64);
    for (int i = 0; i < k->before; i++) z->before[i] = array(z, names[i], (qs_dtype)k->lane, k->rank + 1, true, false);
    if (k->before) z->per = number(z, "per", QS_I64);
}

/* -- what is merged ------------------------------------------------------------------------------------------------ */
static KPair merged(Walk *w, KPair a, KPair b) {
    Merge *z = (Merge *)w;
    static const KOp ops[] = {[ALONG_ADD] = K_ADD, [ALONG_MUL] = K_MUL, [ALONG_MIN] = K_MIN,
                              [ALONG_MAX] = K_MAX, [ALONG_OR] = K_OR,   [ALONG_AND] = K_AND};
    KInto into = {z->f, &z->pos, true};
    Elem e = z->k->op == ALONG_MUL ? EL_mul : EL_add;
    if (a.im) return kelem_complex(kelem_into(&into), e, lane(z), (KPair[]){a, b});
    bool extreme = z->k->op == ALONG_MIN || z->k->op == ALONG_MAX;
    KMake i = {ops[z->k->op], .own = lane(z), .flag = extreme ? KFLAG_ZEROS : 0, .a = a.re, .b = b.re};
    return (KPair){emit(z, i), 0};
}

static KRef product(Merge *z, KRef a, KRef b) { return pure(z, (KMake){K_MUL, .own = lane(z), .a = a, .b = b}); }

static KRef nowhere(Merge *z) { return kbuild_int(&z->walk, QS_I64, INT64_MAX); }

/* Element k of the result at hand, as it is merged. */
static KPair element(Merge *z, KRef k) {
    Layout a = {.param = z->x, .rank = z->k->rank + 1};
    Layout m = {.param = z->centres, .rank = z->k->rank, .contiguous = true};
    qs_dtype from = (qs_dtype)z->k->from;
    KPair v = {0, 0};
    z->at[z->k->rank] = k;
    KRef linear = kmemory_linear(&z->walk, &a, z->at);
    v.re = kmemory_load(&z->walk, z->x, from, linear, 0, 0);
    if (qdtype_is_complex(from)) v.im = kmemory_load(&z->walk, z->x, from, linear, 1, 0);
    if (z->k->places) {
        KRef wanted = kmemory_load(&z->walk, z->centres, from, kmemory_linear(&z->walk, &m, z->at), 0, 0);
        KRef same = pure(z, (KMake){K_EQ, .own = QS_B1, .a = v.re, .b = wanted});
        return (KPair){pure(z, (KMake){K_SELECT, .own = QS_I64, .a = same, .b = k, .c = nowhere(z)}), 0};
    }
    if (z->k->op == ALONG_OR || z->k->op == ALONG_AND) {
        KRef truth = cast(z, v.re, QS_B1);
        if (v.im) truth = pure(z, (KMake){K_OR, .own = QS_B1, .a = truth, .b = cast(z, v.im, QS_B1)});
        return (KPair){cast(z, truth, QS_I32), 0};
    }
    v.re = cast(z, v.re, lane(z));
    if (v.im) v.im = cast(z, v.im, lane(z));
    if (z->k->centred) {
        KRef centre = kmemory_load(&z->walk, z->centres, QS_F64, kmemory_linear(&z->walk, &m, z->at), 0, 0);
        v.re = pure(z, (KMake){K_SUB, .own = lane(z), .a = v.re, .b = centre});
    }
    if (!z->k->squares) return v;
    KRef square = product(z, v.re, v.re);
    if (v.im) square = pure(z, (KMake){K_ADD, .own = lane(z), .a = square, .b = product(z, v.im, v.im)});
    return (KPair){square, 0};
}

static KPair had(Merge *z) {
    KPair v = {kbuild_get(&z->walk, z->acc[0]), 0};
    if (z->acc[1]) v.im = kbuild_get(&z->walk, z->acc[1]);
    return v;
}

static void have(Merge *z, KPair v) {
    kbuild_set(&z->walk, z->acc[0], v.re);
    if (z->acc[1]) kbuild_set(&z->walk, z->acc[1], v.im);
}

/* From the first one on.  A position of a group that has none takes the last one, and is not merged. */
static void accumulate(Merge *z) {
    KRef n = pure(z, (KMake){K_DIM, .imm = (uint64_t)z->x << 8 | z->k->rank}), apart = value_of(z, z->apart);
    KRef last = pure(z, (KMake){K_SUB, .own = QS_I64, .a = n, .b = kbuild_int(&z->walk, QS_I64, 1)});
    KRef first = pure(z, (KMake){K_MIN, .own = QS_I64, .a = z->first, .b = last});
    KPair x = element(z, first);
    z->acc[0] = kbuild_local(&z->walk, x.re);
    if (x.im) z->acc[1] = kbuild_local(&z->walk, x.im);
    KRef second = pure(z, (KMake){K_ADD, .own = QS_I64, .a = z->first, .b = apart});
    KRef k = emit(z, (KMake){K_FOR, .own = QS_I64, .a = second, .b = last, .c = apart});
    x = element(z, k);
    have(z, merged(&z->walk, had(z), x));
    kbuild_end(&z->walk);
}

/* -- results ------------------------------------------------------------------------------------------------------- */
static KRef finished(Merge *z, KRef v) {
    if (z->k->found) {
        KRef none = pure(z, (KMake){K_EQ, .own = QS_B1, .a = v, .b = nowhere(z)});
        v = pure(z, (KMake){K_SELECT, .own = QS_I64, .a = none, .b = kbuild_int(&z->walk, QS_I64, 0), .c = v});
    }
    if (z->k->divided) v = pure(z, (KMake){K_DIV, .own = lane(z), .a = v, .b = value_of(z, z->by)});
    if (z->k->root) v = pure(z, (KMake){K_MATH, .own = lane(z), .flag = MF_sqrt, .a = v});
    return v;
}

static void store(Merge *z, const KRef *at, KPair v) {
    qs_dtype to = (qs_dtype)z->k->to, as = kir_value_dtype(to);
    Layout y = {.param = z->y, .rank = z->k->rank + 1, .contiguous = !z->k->running};
    KRef linear = kmemory_linear(&z->walk, &y, at);
    kmemory_store(&z->walk, z->y, to, linear, 0, cast(z, finished(z, v.re), as), 0);
    if (v.im) kmemory_store(&z->walk, z->y, to, linear, 1, cast(z, finished(z, v.im), as), 0);
}

/* Whether the position at that distance behind this one has elements. */
static KRef has(Walk *w, KRef distance) {
    Merge *z = (Merge *)w;
    KRef n = pure(z, (KMake){K_DIM, .imm = (uint64_t)z->x << 8 | z->k->rank});
    KRef other = pure(z, (KMake){K_ADD, .own = QS_I64, .a = z->first, .b = cast(z, distance, QS_I64)});
    return pure(z, (KMake){K_LT, .own = QS_B1, .a = other, .b = n});
}

static void merge_group(Merge *z) {
    int rank = z->k->rank;
    KPair all = kmemory_merge_group(&z->walk, &(Grouped){rank, z->k->group, lane(z), merged, has}, had(z));
    z->at[rank] = cast(z, emit(z, (KMake){K_BLKIDX, .own = QS_I32, .imm = (uint64_t)rank}), QS_I64);
    store(z, z->at, all);
    kbuild_end(&z->walk);
}

/* -- pieces -------------------------------------------------------------------------------------------------------- */
typedef struct {
    KRef is;
    KPair v;
} Before; /* whether something is before the piece at hand, and what */

static KPair chosen(Merge *z, KRef which, KPair a, KPair b) {
    KPair v = {pure(z, (KMake){K_SELECT, .own = lane(z), .a = which, .b = a.re, .c = b.re}), 0};
    if (a.im) v.im = pure(z, (KMake){K_SELECT, .own = lane(z), .a = which, .b = a.im, .c = b.im});
    return v;
}

/* What the piece or stretch in front of this one has come to. */
static Before before(Merge *z, int i) {
    KRef at[QS_MAX_RANK], one = kbuild_int(&z->walk, QS_I64, 1), none = kbuild_int(&z->walk, QS_I64, 0);
    KRef per = value_of(z, z->per), which = z->first;
    qs_dtype d = (qs_dtype)z->k->lane;
    Layout a = {.param = z->before[i], .rank = z->k->rank + 1, .contiguous = true};
    if (i) which = pure(z, (KMake){K_DIV, .own = QS_I64, .a = which, .b = per});
    KRef number = i ? which : pure(z, (KMake){K_MOD, .own = QS_I64, .a = which, .b = per});
    Before b = {pure(z, (KMake){K_LT, .own = QS_B1, .a = none, .b = number}), {0, 0}};
    at[0] = pure(z, (KMake){K_SUB, .own = QS_I64, .a = which, .b = one});
    memcpy(at + 1, z->at, z->k->rank * sizeof *at);
    KRef linear = kmemory_linear(&z->walk, &a, at);
    b.v.re = kmemory_load(&z->walk, z->before[i], d, linear, 0, b.is);
    if (qdtype_is_complex(d)) b.v.im = kmemory_load(&z->walk, z->before[i], d, linear, 1, b.is);
    return b;
}

static void put(Merge *z, const Before *b, KRef k, KPair v) {
    for (int i = 0; i < z->k->before; i++) v = chosen(z, b[i].is, merged(&z->walk, b[i].v, v), v);
    z->at[z->k->rank] = k;
    store(z, z->at, v);
}

static void build_piece(Merge *z) {
    KRef at[QS_MAX_RANK], one = kbuild_int(&z->walk, QS_I64, 1), n = value_of(z, z->apart);
    Before b[2];
    KRef all = pure(z, (KMake){K_DIM, .imm = (uint64_t)z->x << 8 | z->k->rank});
    KRef begin = pure(z, (KMake){K_MUL, .own = QS_I64, .a = z->first, .b = n});
    KRef end = pure(z, (KMake){K_ADD, .own = QS_I64, .a = begin, .b = n});
    end = pure(z, (KMake){K_MIN, .own = QS_I64, .a = end, .b = all});
    for (int i = 0; i < z->k->before; i++) b[i] = before(z, i);
    KPair x = element(z, begin);
    z->acc[0] = kbuild_local(&z->walk, x.re);
    if (x.im) z->acc[1] = kbuild_local(&z->walk, x.im);
    if (z->k->running) put(z, b, begin, x);
    KRef second = pure(z, (KMake){K_ADD, .own = QS_I64, .a = begin, .b = one});
    KRef last = pure(z, (KMake){K_SUB, .own = QS_I64, .a = end, .b = one});
    KRef k = emit(z, (KMake){K_FOR, .own = QS_I64, .a = second, .b = last, .c = one});
    x = element(z, k);
    x = merged(&z->walk, had(z), x);
    have(z, x);
    if (z->k->running) put(z, b, k, x);
    kbuild_end(&z->walk);
    if (z->k->running) return;
    at[0] = z->first;
    memcpy(at + 1, z->at, z->k->rank * sizeof *at);
    store(z, at, had(z));
}

/* ------------------------------------------------------------------------------------------------------------------ */
static void positions(Merge *z) {
    int rank = z->k->rank, from = z->k->group == 0;
    for (int d = 0; d < rank; d++) z->at[d] = emit(z, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)(d + from)});
    z->first = emit(z, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)(from ? 0 : rank)});
}

static void build(Merge *z) {
    KRef at[QS_MAX_RANK];
    const AlongKey *k = z->k;
    positions(z);
    if (k->pieces) return build_piece(z);
    if (k->group) {
        z->f->fixed_block = true;
        for (int d = 0; d <= k->rank; d++) z->f->block[d] = d == k->rank ? k->group : 1;
    }
    accumulate(z);
    if (k->group) return merge_group(z);
    at[0] = z->first;
    memcpy(at + 1, z->at, k->rank * sizeof *at);
    store(z, at, had(z));
}

static const WalkRules rules = {.value_size = sizeof(KRef)};

qs_status kaxis_build(Ctx *c, Arena *arena, const AlongKey *k, KFunc **out) {
    Merge z = {.walk = {.rules = &rules, .c = c}, .k = k};
    kbuild_begin(&z.walk, kir_new(c, arena, qstr_cname(c, k->name), NULL), arena, 0);
    z.f->rank = (uint8_t)(k->rank + 1);
    parameters(&z);
    build(&z);
    return kbuild_seal(&z.walk, out);
}
