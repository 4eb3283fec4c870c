/* axis_kernel.c -- builds kernels for reductions and scans along an axis; see axis_kernel.h. */
#include "lang/kernel/lower/fusion/axis_kernel.h"
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/common/reduce_element.h"

typedef struct {
    union {
        Walk walk;
        struct {
#include "lang/kernel/lower/common/members.def"
        };
    };
    const AlongKey *k;
    int x, centres, y, apart, by, before[2], per; /* parameters */
    KRef at[QS_MAX_RANK];                         /* index of the result */
    KRef first;                                   /* first element of this position */
    /* LOCALs of the accumulated value: real part, imaginary part (0: none) */
    KRef acc[2];
} Merge;

static KRef emit_ins(Merge *z, KMake i) { return kbuild_emit(&z->walk, i); }
static KRef emit_pure(Merge *z, KMake i) { return kbuild_pure(&z->walk, i); }
static KRef cast_to(Merge *z, KRef a, qs_dtype d) {
    return z->f->ins[a].dtype == d ? a : emit_pure(z, (KMake){K_CAST, .own = d, .a = a});
}
static qs_dtype lane_dtype(const Merge *z) { return qdtype_real_of((qs_dtype)z->k->lane); }

/* -- parameters ---------------------------------------------------------------------------------------------------- */
static int add_number_param(Merge *z, const char *name, qs_dtype d) {
    return kir_param(z->f, &(KParam){.name = qstr_cname(z->c, name), .kind = KP_NUM, .dtype = (uint8_t)d});
}

static KRef load_param(Merge *z, int param) {
    return emit_ins(z, (KMake){K_PARAM, .own = (qs_dtype)z->f->params[param].dtype, .imm = (uint64_t)param});
}

static void add_params(Merge *z) {
    static const char *const names[] = {"before", "far"};
    const AlongKey *k = z->k;
    z->x = kbuild_array_param(&z->walk, "x", (qs_dtype)k->from, k->rank + 1, false, false);
    qs_dtype centre = k->map == MAP_INDEX ? (qs_dtype)k->from : QS_F64;
    if (k->centred || k->logarithm || k->map == MAP_INDEX)
        z->centres = kbuild_array_param(&z->walk, "centres", centre, k->rank, true, false);
    z->y = kbuild_array_param(&z->walk, "y", (qs_dtype)k->to, k->rank + 1, !k->running, true);
    z->apart = add_number_param(z, "apart", QS_I64);
    if (k->divided) z->by = add_number_param(z, "by", QS_F64);
    for (int i = 0; i < k->before; i++)
        z->before[i] = kbuild_array_param(&z->walk, names[i], (qs_dtype)k->lane, k->rank + 1, true, false);
    if (k->before) z->per = add_number_param(z, "per", QS_I64);
}

/* -- merging ------------------------------------------------------------------------------------------------------- */
static KPair merge_values(Walk *w, KPair a, KPair b) {
    Merge *z = (Merge *)w;
    KInto into = {z->f, &z->pos, true};
    Elem e = z->k->combine == COMBINE_MUL ? EL_mul : EL_add;
    if (a.im) return kelem_complex(kelem_into(&into), e, lane_dtype(z), (KPair[]){a, b});
    bool extreme = z->k->combine == COMBINE_MIN || z->k->combine == COMBINE_MAX;
    KMake i = {kbuild_combine((Combine)z->k->combine), .own = lane_dtype(z), .flag = extreme ? KFLAG_ZEROS : 0,
               .a = a.re, .b = b.re};
    return (KPair){emit_ins(z, i), 0};
}

static KRef emit_product(Merge *z, KRef a, KRef b) {
    return emit_pure(z, (KMake){K_MUL, .own = lane_dtype(z), .a = a, .b = b});
}

static KRef no_index(Merge *z) { return kbuild_int(&z->walk, QS_I64, INT64_MAX); }

/* Loads the centre of the current result for MAP_EXP. */
static KRef load_centre(Merge *z) {
    Layout m = {.param = z->centres, .rank = z->k->rank, .contiguous = true};
    KRef linear = kmemory_linear(&z->walk, &m, z->at);
    return kreduce_centre(&z->walk, MAP_EXP, kmemory_load(&z->walk, z->centres, QS_F64, linear, 0, 0));
}

/* Loads element k of the current result and applies the transformations of the key. */
static KPair load_element(Merge *z, KRef k) {
    Layout a = {.param = z->x, .rank = z->k->rank + 1};
    Layout m = {.param = z->centres, .rank = z->k->rank, .contiguous = true};
    qs_dtype from = (qs_dtype)z->k->from;
    KPair v = {0, 0};
    z->at[z->k->rank] = k;
    KRef linear = kmemory_linear(&z->walk, &a, z->at);
    v.re = kmemory_load(&z->walk, z->x, from, linear, 0, 0);
    if (qdtype_is_complex(from)) v.im = kmemory_load(&z->walk, z->x, from, linear, 1, 0);
    if (z->k->map == MAP_INDEX) {
        KRef wanted = kmemory_load(&z->walk, z->centres, from, kmemory_linear(&z->walk, &m, z->at), 0, 0);
        KRef same = emit_pure(z, (KMake){K_EQ, .own = QS_B1, .a = v.re, .b = wanted});
        return (KPair){emit_pure(z, (KMake){K_SELECT, .own = QS_I64, .a = same, .b = k, .c = no_index(z)}), 0};
    }
    if (z->k->map == MAP_TRUTH) {
        KRef truth = cast_to(z, v.re, QS_B1);
        if (v.im) truth = emit_pure(z, (KMake){K_OR, .own = QS_B1, .a = truth, .b = cast_to(z, v.im, QS_B1)});
        return (KPair){cast_to(z, truth, QS_I32), 0};
    }
    v.re = cast_to(z, v.re, lane_dtype(z));
    if (v.im) v.im = cast_to(z, v.im, lane_dtype(z));
    if (z->k->map == MAP_EXP) return (KPair){kreduce_map(&z->walk, MAP_EXP, v.re, load_centre(z), 0), 0};
    if (z->k->map == MAP_ABS && v.im) return kelem_complex(kbuild_rows(&z->walk), EL_abs, lane_dtype(z), &v);
    if (z->k->map == MAP_ABS) return (KPair){kreduce_map(&z->walk, MAP_ABS, v.re, 0, 0), 0};
    if (z->k->centred) {
        KRef centre = kmemory_load(&z->walk, z->centres, QS_F64, kmemory_linear(&z->walk, &m, z->at), 0, 0);
        v.re = emit_pure(z, (KMake){K_SUB, .own = lane_dtype(z), .a = v.re, .b = centre});
    }
    if (z->k->map != MAP_SQUARE) return v;
    KRef square = emit_product(z, v.re, v.re);
    if (v.im)
        square = emit_pure(z, (KMake){K_ADD, .own = lane_dtype(z), .a = square, .b = emit_product(z, v.im, v.im)});
    return (KPair){square, 0};
}

static KPair get_accumulated(Merge *z) {
    KPair v = {kbuild_get(&z->walk, z->acc[0]), 0};
    if (z->acc[1]) v.im = kbuild_get(&z->walk, z->acc[1]);
    return v;
}

static void set_accumulated(Merge *z, KPair v) {
    kbuild_set(&z->walk, z->acc[0], v.re);
    if (z->acc[1]) kbuild_set(&z->walk, z->acc[1], v.im);
}

/* Merges the elements of this position.  A position of a group without elements loads the last element, which is not
 * merged. */
static void accumulate(Merge *z) {
    KRef n = emit_pure(z, (KMake){K_DIM, .imm = (uint64_t)z->x << 8 | z->k->rank}), apart = load_param(z, z->apart);
    KRef last = emit_pure(z, (KMake){K_SUB, .own = QS_I64, .a = n, .b = kbuild_int(&z->walk, QS_I64, 1)});
    KRef first = emit_pure(z, (KMake){K_MIN, .own = QS_I64, .a = z->first, .b = last});
    KPair x = load_element(z, first);
    z->acc[0] = kbuild_local(&z->walk, x.re);
    if (x.im) z->acc[1] = kbuild_local(&z->walk, x.im);
    KRef second = emit_pure(z, (KMake){K_ADD, .own = QS_I64, .a = z->first, .b = apart});
    KRef k = emit_ins(z, (KMake){K_FOR, .own = QS_I64, .a = second, .b = last, .c = apart});
    x = load_element(z, k);
    set_accumulated(z, merge_values(&z->walk, get_accumulated(z), x));
    kbuild_end(&z->walk);
}

/* -- results ------------------------------------------------------------------------------------------------------- */
static KRef finish_result(Merge *z, KRef v) {
    if (z->k->found) {
        KRef none = emit_pure(z, (KMake){K_EQ, .own = QS_B1, .a = v, .b = no_index(z)});
        v = emit_pure(z, (KMake){K_SELECT, .own = QS_I64, .a = none, .b = kbuild_int(&z->walk, QS_I64, 0), .c = v});
    }
    if (z->k->divided) v = emit_pure(z, (KMake){K_DIV, .own = lane_dtype(z), .a = v, .b = load_param(z, z->by)});
    if (z->k->root) v = emit_pure(z, (KMake){K_MATH, .own = lane_dtype(z), .flag = MF_sqrt, .a = v});
    if (z->k->logarithm) v = kreduce_finish(&z->walk, &(ReduceInfo){.finish = FINISH_LOG}, v, 0, load_centre(z));
    return v;
}

static void store_result(Merge *z, const KRef *at, KPair v) {
    qs_dtype to = (qs_dtype)z->k->to, as = kir_value_dtype(to);
    Layout y = {.param = z->y, .rank = z->k->rank + 1, .contiguous = !z->k->running};
    KRef linear = kmemory_linear(&z->walk, &y, at);
    kmemory_store(&z->walk, z->y, to, linear, 0, cast_to(z, finish_result(z, v.re), as), 0);
    if (v.im) kmemory_store(&z->walk, z->y, to, linear, 1, cast_to(z, finish_result(z, v.im), as), 0);
}

/* Whether the position `distance` further on has elements. */
static KRef has_elements(Walk *w, KRef distance) {
    Merge *z = (Merge *)w;
    KRef n = emit_pure(z, (KMake){K_DIM, .imm = (uint64_t)z->x << 8 | z->k->rank});
    KRef other = emit_pure(z, (KMake){K_ADD, .own = QS_I64, .a = z->first, .b = cast_to(z, distance, QS_I64)});
    return emit_pure(z, (KMake){K_LT, .own = QS_B1, .a = other, .b = n});
}

static void merge_group(Merge *z) {
    int rank = z->k->rank;
    KPair all = kmemory_merge_group(&z->walk, &(Grouped){rank, z->k->group, lane_dtype(z), merge_values, has_elements},
                                    get_accumulated(z));
    z->at[rank] = cast_to(z, emit_ins(z, (KMake){K_BLKIDX, .own = QS_I32, .imm = (uint64_t)rank}), QS_I64);
    store_result(z, z->at, all);
    kbuild_end(&z->walk);
}

/* -- pieces -------------------------------------------------------------------------------------------------------- */
typedef struct {
    KRef is;
    KPair v;
} Before; /* whether anything precedes the current piece, and its total */

static KPair select_pair(Merge *z, KRef which, KPair a, KPair b) {
    KPair v = {emit_pure(z, (KMake){K_SELECT, .own = lane_dtype(z), .a = which, .b = a.re, .c = b.re}), 0};
    if (a.im) v.im = emit_pure(z, (KMake){K_SELECT, .own = lane_dtype(z), .a = which, .b = a.im, .c = b.im});
    return v;
}

/* Loads the running total of the preceding piece (i = 0) or stretch (i = 1). */
static Before load_before(Merge *z, int i) {
    KRef at[QS_MAX_RANK], one = kbuild_int(&z->walk, QS_I64, 1), none = kbuild_int(&z->walk, QS_I64, 0);
    KRef per = load_param(z, z->per), which = z->first;
    qs_dtype d = (qs_dtype)z->k->lane;
    Layout a = {.param = z->before[i], .rank = z->k->rank + 1, .contiguous = true};
    if (i) which = emit_pure(z, (KMake){K_DIV, .own = QS_I64, .a = which, .b = per});
    KRef number = i ? which : emit_pure(z, (KMake){K_MOD, .own = QS_I64, .a = which, .b = per});
    Before b = {emit_pure(z, (KMake){K_LT, .own = QS_B1, .a = none, .b = number}), {0, 0}};
    at[0] = emit_pure(z, (KMake){K_SUB, .own = QS_I64, .a = which, .b = one});
    memcpy(at + 1, z->at, z->k->rank * sizeof *at);
    KRef linear = kmemory_linear(&z->walk, &a, at);
    b.v.re = kmemory_load(&z->walk, z->before[i], d, linear, 0, b.is);
    if (qdtype_is_complex(d)) b.v.im = kmemory_load(&z->walk, z->before[i], d, linear, 1, b.is);
    return b;
}

static void store_running(Merge *z, const Before *b, KRef k, KPair v) {
    for (int i = 0; i < z->k->before; i++) v = select_pair(z, b[i].is, merge_values(&z->walk, b[i].v, v), v);
    z->at[z->k->rank] = k;
    store_result(z, z->at, v);
}

static void build_piece(Merge *z) {
    KRef at[QS_MAX_RANK], one = kbuild_int(&z->walk, QS_I64, 1), n = load_param(z, z->apart);
    Before b[2];
    KRef all = emit_pure(z, (KMake){K_DIM, .imm = (uint64_t)z->x << 8 | z->k->rank});
    KRef begin = emit_pure(z, (KMake){K_MUL, .own = QS_I64, .a = z->first, .b = n});
    KRef end = emit_pure(z, (KMake){K_ADD, .own = QS_I64, .a = begin, .b = n});
    end = emit_pure(z, (KMake){K_MIN, .own = QS_I64, .a = end, .b = all});
    for (int i = 0; i < z->k->before; i++) b[i] = load_before(z, i);
    KPair x = load_element(z, begin);
    z->acc[0] = kbuild_local(&z->walk, x.re);
    if (x.im) z->acc[1] = kbuild_local(&z->walk, x.im);
    if (z->k->running) store_running(z, b, begin, x);
    KRef second = emit_pure(z, (KMake){K_ADD, .own = QS_I64, .a = begin, .b = one});
    KRef last = emit_pure(z, (KMake){K_SUB, .own = QS_I64, .a = end, .b = one});
    KRef k = emit_ins(z, (KMake){K_FOR, .own = QS_I64, .a = second, .b = last, .c = one});
    x = load_element(z, k);
    x = merge_values(&z->walk, get_accumulated(z), x);
    set_accumulated(z, x);
    if (z->k->running) store_running(z, b, k, x);
    kbuild_end(&z->walk);
    if (z->k->running) return;
    at[0] = z->first;
    memcpy(at + 1, z->at, z->k->rank * sizeof *at);
    store_result(z, at, get_accumulated(z));
}

/* ------------------------------------------------------------------------------------------------------------------ */
static void emit_positions(Merge *z) {
    int rank = z->k->rank, from = z->k->group == 0;
    for (int d = 0; d < rank; d++) z->at[d] = emit_ins(z, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)(d + from)});
    z->first = emit_ins(z, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)(from ? 0 : rank)});
}

static void build_kernel(Merge *z) {
    KRef at[QS_MAX_RANK];
    const AlongKey *k = z->k;
    emit_positions(z);
    if (k->pieces) return build_piece(z);
    if (k->group) {
        z->f->fixed_block = true;
        for (int d = 0; d <= k->rank; d++) z->f->block[d] = d == k->rank ? k->group : 1;
    }
    accumulate(z);
    if (k->group) return merge_group(z);
    at[0] = z->first;
    memcpy(at + 1, z->at, k->rank * sizeof *at);
    store_result(z, at, get_accumulated(z));
}

static const WalkRules rules = {.value_size = sizeof(KRef)};

qs_status kaxis_build(Ctx *c, Arena *arena, const AlongKey *k, KFunc **out) {
    Merge z = {.walk = {.rules = &rules, .c = c}, .k = k};
    kbuild_begin(&z.walk, kir_new(c, arena, qstr_cname(c, k->name), NULL), arena, 0);
    z.f->rank = (uint8_t)(k->rank + 1);
    add_params(&z);
    build_kernel(&z);
    return kbuild_seal(&z.walk, out);
}
