/* primal.c -- runs f before the backward pass and saves on a tape the values that cannot be read a second time. */
#include "lang/kernel/autodiff/autodiff_internal.h"
#include "lang/kernel/ir/kir.h"
#include "lang/kernel/passes/passes.h"

int kautodiff_tape_of(const KFunc *f, const uint8_t *common, KRef r) {
    qs_dtype d = (qs_dtype)f->ins[r].dtype;
    return (d == QS_F32 ? 0 : d == QS_F64 ? 1 : 2) + (common && common[r] ? KKINDS : 0);
}

typedef struct {
    const KGrading *s;
    KFunc *g;
    KRef *map, base[KTAPES];
} Record;

static KRef int_const(KFunc *g, int64_t n) { return kir_const_int(g, QS_I64, n, 0); }
static KRef load_param(KFunc *g, int p) { return kir_add(g, (KMake){K_PARAM, .own = QS_I64, .imm = (uint64_t)p}); }

static KRef position(void *v, int axis) {
    return kir_add(((Record *)v)->g, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)axis});
}

KRef kprimal_base(const KGrading *s, KFunc *g, int tape, KRef (*pos)(void *ud, int axis), void *ud) {
    KRef at = pos(ud, 0);
    for (int a = 1; a < s->f->rank; a++) {
        KRef row = kir_fold(g, (KMake){K_MUL, .a = at, .b = load_param(g, s->extent[a])});
        at = kir_fold(g, (KMake){K_ADD, .a = row, .b = pos(ud, a)});
    }
    bool known = s->fixed_room[tape] >= 0;
    KRef room = known ? int_const(g, s->fixed_room[tape]) : load_param(g, s->room[tape]);
    return kir_fold(g, (KMake){K_MUL, .a = at, .b = room});
}

static void save_value(Record *v, KRef r) {
    int t = kautodiff_tape_of(v->s->f, v->s->common, r), p = v->s->tape[t];
    KRef n = kir_get(v->g, v->map[v->s->pointer[t]]);
    KRef at = kir_op(v->g, K_ADD, v->base[t], n);
    KRef x = kir_cast(v->g, (qs_dtype)v->g->params[p].dtype, v->map[r]);
    kir_emit(v->g, (KMake){K_STORE, .a = at, .b = x, .imm = (uint64_t)p});
}

static void report_counts(Record *v) {
    for (int t = 0; t < KTAPES; t++) {
        if (v->s->count[t] < 0) continue;
        KRef n = kir_add(v->g, (KMake){K_GET, .a = v->map[v->s->pointer[t]]});
        kir_add(v->g,
                (KMake){K_ATOMIC, .flag = KA_MAX, .a = int_const(v->g, 0), .b = n, .imm = (uint64_t)v->s->count[t]});
    }
}

KFunc *kprimal_make(const KGrading *s, bool counts) {
    Record v = {.s = s, .g = kautodiff_shell(s), .map = qarena_alloc(s->arena, qmem_size(s->f->nins, sizeof(KRef), 0))};
    bool *wanted = qarena_alloc(s->arena, (size_t)s->nparams + 1);
    for (int t = 0; t < KTAPES && !counts; t++)
        if (s->pointer[t]) v.base[t] = kprimal_base(s, v.g, t, position, &v);
    for (KRef r = 1; r < s->f->nins; r++) {
        v.g->pos = s->f->ins[r].pos;
        kir_copy_mapped(v.g, s->f, v.map, r);
        if (s->act.kept[r] == KEPT_ON_TAPE && !counts) save_value(&v, r);
    }
    if (counts) report_counts(&v);
    kir_seal(v.g);
    for (int t = 0; t < KTAPES; t++) {
        int p = counts ? s->count[t] : s->tape[t];
        if (p >= 0) wanted[p] = true;
    }
    return kdeadcode(s->ctx, s->arena, v.g, wanted, NULL);
}
