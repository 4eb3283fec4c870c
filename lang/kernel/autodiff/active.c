/* active.c -- finds the values that have a derivative, and the reads that would return other contents later.
 *
 * A value is live if it depends on an active parameter (`varies`) and an active parameter depends on it
 * (`matters`).  Both sets grow until they no longer change; the index of a memory access is ignored. */
#include "lang/kernel/autodiff/autodiff_internal.h"
#include "lang/kernel/elem/elem_build.h"

typedef struct {
    const KFunc *f;
    const bool *active;
    uint8_t *varies, *matters;
    bool *array; /* by parameter: the array holds values that depend on active parameters */
    bool changed;
} Flow;

static const KIns *get_ins(const Flow *s, KRef r) { return &s->f->ins[r]; }
static bool is_real(const Flow *s, KRef r) { return r && kir_is_float((qs_dtype)get_ins(s, r)->dtype); }

static void mark_value(Flow *s, uint8_t *set, KRef r, bool yes) {
    if (yes && is_real(s, r) && !set[r]) set[r] = 1, s->changed = true;
}

static bool has_slopes(const KIns *i) { /* a PURE instruction has derivatives with respect to its operands */
    if (i->op == K_SELECT || i->op == K_CAST || i->op == K_ANALYTIC) return true;
    Elem e = kelem_instruction(i);
    return e != EL__COUNT && kelem_slope_kind(e) == ELEM_SLOPES;
}

/* Returns the number of the first operand with a derivative. */
static int first_of(const KIns *i) { return i->op == K_ANALYTIC; }

static void propagate_varies(Flow *s, KRef r) {
    const KIns *i = get_ins(s, r);
    switch ((KOp)i->op) {
    case K_PARAM: mark_value(s, s->varies, r, s->active[i->imm]); break;
    case K_LOAD: mark_value(s, s->varies, r, s->array[i->imm]); break;
    case K_LOCAL:
    case K_GET:
    case K_ALOAD: mark_value(s, s->varies, r, s->varies[i->a]); break;
    case K_SET: mark_value(s, s->varies, i->a, s->varies[i->b]); break;
    case K_ASTORE:
    case K_AATOMIC: mark_value(s, s->varies, i->a, s->varies[i->c]); break;
    case K_STORE:
    case K_ATOMIC:
        if (s->varies[i->b] && !s->array[i->imm]) s->array[i->imm] = s->changed = true;
        break;
    default:
        if (kir_ops[i->op].effect != KE_PURE || !has_slopes(i)) break;
        for (int k = first_of(i); k < 3; k++) mark_value(s, s->varies, r, s->varies[i->arg[k]]);
    }
}

static void propagate_matters(Flow *s, KRef r) {
    const KIns *i = get_ins(s, r);
    switch ((KOp)i->op) {
    case K_STORE:
    case K_ATOMIC: mark_value(s, s->matters, i->b, s->active[i->imm]); break;
    case K_LOCAL:
    case K_GET:
    case K_ALOAD: mark_value(s, s->matters, i->a, s->matters[r]); break;
    case K_SET: mark_value(s, s->matters, i->b, s->matters[i->a]); break;
    case K_ASTORE:
    case K_AATOMIC: mark_value(s, s->matters, i->c, s->matters[i->a]); break;
    default:
        if (kir_ops[i->op].effect != KE_PURE || !has_slopes(i)) break;
        for (int k = first_of(i); k < 3; k++) mark_value(s, s->matters, i->arg[k], s->matters[r]);
    }
}

static qs_status refuse_reads(Ctx *c, const Flow *s) {
    for (KRef r = 1; r < s->f->nins; r++) {
        const KIns *i = get_ins(s, r);
        if (i->op != K_LOAD || !s->array[i->imm] || s->active[i->imm]) continue;
        return qerr_at(c, QS_ETYPE, (Where){s->f->src, i->pos},
                       "kernel %s: %s is written and read, and needs an adjoint for the derivative", s->f->name->s,
                       s->f->params[i->imm].name->s);
    }
    return QS_OK;
}

/* -- reads that return other contents later ------------------------------------------------------------------------ */
static bool is_write_to(const KIns *i, const KIns *read) {
    if (read->op == K_LOAD) return (i->op == K_STORE || i->op == K_ATOMIC) && i->imm == read->imm;
    return (i->op == K_ASTORE || i->op == K_AATOMIC) && i->a == read->a;
}

/* Returns true if no earlier write of the position reaches the element that r reads: r reads the contents before the
 * launch. */
bool kactive_reads_first(const KFunc *f, KRef r) {
    for (KRef w = 1; w < f->nins; w++) {
        bool again = kir_share_loop(f, w, r);
        if (!is_write_to(&f->ins[w], &f->ins[r]) || (w > r && !again)) continue;
        if (f->ins[r].op != K_LOAD || !kadjindex_apart(f, w, r, again)) return false;
    }
    return true;
}

/* Returns true if no write to the memory that r reads follows it. */
static bool comes_last(const KFunc *f, KRef r) {
    for (KRef w = 1; w < f->nins; w++)
        if (is_write_to(&f->ins[w], &f->ins[r]) && (w > r || kir_share_loop(f, w, r))) return false;
    return true;
}

static bool is_kept(const KFunc *f, KRef r) {
    const KIns *i = &f->ins[r];
    if (i->op == K_LOAD) return f->params[i->imm].written && (f->serial || !kactive_reads_first(f, r));
    if (i->op != K_ALOAD) return false;
    if (f->ins[i->a].op == K_SHARED) return true;
    return kir_loop_around(f, i->a) != kir_loop_around(f, r) && !comes_last(f, r);
}

qs_status kactive_find(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KActive *out) {
    size_t n = f->nins;
    Flow s = {.f = f, .active = active, .varies = qarena_alloc(arena, n), .matters = qarena_alloc(arena, n)};
    s.array = qarena_alloc(arena, (size_t)f->nparams + 1);
    for (int i = 0; i < f->nparams; i++) s.array[i] = active[i];
    do {
        s.changed = false;
        for (KRef r = 1; r < n; r++) propagate_varies(&s, r);
    } while (s.changed);
    do {
        s.changed = false;
        for (KRef r = f->nins; r-- > 1;) propagate_matters(&s, r);
    } while (s.changed);
    TRY(refuse_reads(c, &s));
    *out = (KActive){s.matters, s.varies, qarena_alloc(arena, n)};
    for (KRef r = 1; r < n; r++) {
        out->live[r] = s.varies[r] && s.matters[r];
        out->kept[r] = is_kept(f, r);
    }
    return QS_OK;
}
