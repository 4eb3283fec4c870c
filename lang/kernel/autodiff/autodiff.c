/* autodiff.c -- makes the passes of a derivative and their parameters; see autodiff.h.
 *
 * The backward pass is built twice.  The first time, all reads that would return other contents later are assumed
 * to be on a tape.  Then it is known which of them the pass uses, and only those are saved.  Usually there are
 * none, and the derivative is one function. */
#include "lang/kernel/autodiff/autodiff_internal.h"
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_EXTRAS = QS_MAX_RANK + 3 * KTAPES,
    GROUP_EXTRAS = 3 /* per array */,
    GROUP_PASSES = 3,
    MOST = 4 /* gathering passes per array */
};

typedef struct {
    Ctx *c;
    Arena *arena;
    const KFunc *given; /* the function to differentiate */
    KNormal normal;
    const bool *active, *enters, *adds, *one;
    KGrad *out;
    KGroup *group;         /* by parameter of `given` */
    uint8_t *used;         /* a read whose value is saved and used */
    const uint8_t *common; /* by instruction of normal.func: see KGrading */
    KGrading s;
} Grad;

/* -- unsupported functions ----------------------------------------------------------------------------------------- */
static qs_status refuse_function(const Grad *d, const KFunc *f, uint32_t pos, const char *what) {
    return qerr_at(d->c, QS_ETYPE, (Where){f->src, pos}, "kernel %s has no derivative: %s", f->name->s, what);
}

static qs_status check_params(const Grad *d) {
    const KFunc *f = d->given;
    if (f->ruled)
        return qerr_at(d->c, QS_ETYPE, (Where){f->src, f->ruled_pos},
                       "kernel %s has no derivative: it calls %s, whose {!adjoint …} is followed outside of kernels "
                       "only",
                       f->name->s, f->ruled->s);
    for (int p = 0; p < d->given->nparams; p++) {
        qs_dtype t = (qs_dtype)d->given->params[p].dtype;
        if (d->active[p] && !qdtype_is_smooth(t))
            return qerr_set(d->c, QS_ETYPE, "kernel %s: %s holds no floats and has no derivative", d->given->name->s,
                            d->given->params[p].name->s);
    }
    return QS_OK;
}

static qs_status check_ins(const Grad *d, const KFunc *f, const KActive *act, KRef r) {
    const KIns *i = &f->ins[r];
    if (i->op == K_ANY) return refuse_function(d, f, i->pos, "it asks other positions (any)");
    if (kir_is_fetch(i->op))
        return refuse_function(d, f, i->pos,
                               "the value of an atomic function depends on which position comes first; an update "
                               "whose value is not used, as in x[i] += v, has one");
    if (i->op == K_AATOMIC && act->live[i->a] && !kshared_is_sum(i))
        return refuse_function(d, f, i->pos,
                               "of updates of shared memory where positions meet only += and -= are "
                               "differentiated; reductions by syncthreads and s[i] = max(s[i], …) are, too");
    if (f->serial && (i->op == K_BLKPOS || i->op == K_BLKIDX))
        return refuse_function(d, f, i->pos, "it runs in order, and asks for its block");
    return QS_OK;
}

static qs_status check_all(const Grad *d, const KFunc *f, const KActive *act) {
    for (KRef r = 1; r < f->nins; r++) TRY(check_ins(d, f, act, r));
    return QS_OK;
}

/* -- parameters ---------------------------------------------------------------------------------------------------- */
KRef kautodiff_add(KFunc *g, KRef a, KRef b) { return !a ? b : !b ? a : kir_op(g, K_ADD, a, b); }

KFunc *kautodiff_shell(const KGrading *s) { return kir_shell_with(s->ctx, s->arena, s->f, s->params, s->nparams); }

/* Returns the other factor if t is a product with the factor x, else 0. */
static KRef without_factor(const KFunc *g, KRef t, KRef x) {
    const KIns *i = &g->ins[t];
    return i->op != K_MUL ? 0 : i->a == x ? i->b : i->b == x ? i->a : 0;
}

static KRef op(KFunc *g, const KIns *of, KOp op, KRef a, KRef b) {
    return kir_fold(g, (KMake){op, .a = a, .b = b, .pos = of->pos});
}

KRef kautodiff_slope(KFunc *g, const KIns *i, int arg, const KRef *args, KRef result, KRef t) {
    double x;
    KRef rest = g->fast && i->op == K_MATH && i->flag == MF_sqrt ? without_factor(g, t, args[0]) : 0;
    if (rest) { /* a value divided by its root is the root */
        KRef half = kir_const_num(g, (qs_dtype)i->dtype, 0.5, i->pos);
        return op(g, i, K_MUL, op(g, i, K_MUL, rest, half), result);
    }
    KInto into = {.f = g, .pos = &i->pos};
    if (i->op != K_DIV || arg != 1 || !kir_is_const(g, args[0], &x) || x != 1)
        return kelem_slope(kelem_into(&into), kelem_instruction(i), (qs_dtype)i->dtype, arg, args, result, t);
    return op(g, i, K_NEG, op(g, i, K_MUL, op(g, i, K_MUL, t, result), result), 0);
}

KPair kautodiff_analytic(KFunc *g, const KIns *i, KPair x) {
    KInto into = {.f = g, .pos = &i->pos};
    return kelem_analytic(kelem_into(&into), i, x);
}

KRef kautodiff_along(KFunc *g, const KIns *i, int arg, KPair slope, KRef t) {
    bool imaginary = i->imm & 1, same = imaginary == (arg == 2);
    KRef x = op(g, i, K_MUL, t, same ? slope.re : slope.im);
    return same || imaginary ? x : op(g, i, K_NEG, x, 0);
}

static int add_param(Grad *d, KParam p, const char *name, const char *of) {
    char text[80];
    snprintf(text, sizeof text, "%s%.60s", name, of);
    p.name = qstr_cname(d->c, text);
    KParam *all = (KParam *)d->s.params;
    all[d->s.nparams] = p;
    return d->s.nparams++;
}

static qs_dtype adjoint_dtype(const KParam *p) {
    qs_dtype t = (qs_dtype)p->dtype;
    return p->kind == KP_NUM || qdtype_is_complex(t) ? t : kir_value_dtype(t);
}

static void add_adjoints(Grad *d, const char *name) {
    const KFunc *f = d->given;
    KGradParam *out = qarena_alloc(d->arena, qmem_size((size_t)f->nparams, sizeof *out, sizeof *out));
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        KParam a = {.kind = KP_ARRAY,
                    .dtype = (uint8_t)adjoint_dtype(p),
                    .contiguous = true,
                    .unit_last = true,
                    .rank = p->kind == KP_NUM ? 1 : p->rank};
        out[i].adjoint = d->active[i] ? add_param(d, a, name, p->name->s) : -1;
        out[i].adds = d->adds && d->adds[i];
    }
    d->out->param = out, d->out->nparams = f->nparams;
    d->s.param = out;
}

static int add_extra(Grad *d, KExtraKind kind, int which, KParam p, const char *name) {
    d->out->extra[d->out->nextra++] = (KExtra){(uint8_t)kind, which};
    return add_param(d, p, name, "");
}

static void begin_params(Grad *d, const char *adjoints) {
    const KFunc *f = d->given;
    int most = 2 * f->nparams + MAX_EXTRAS + GROUP_EXTRAS * f->nparams;
    KParam *all = qarena_alloc(d->arena, qmem_size((size_t)most, sizeof *all, 0));
    memcpy(all, f->params, (size_t)f->nparams * sizeof *all);
    d->s = (KGrading){.ctx = d->c, .arena = d->arena, .params = all, .nparams = f->nparams, .group = d->group};
    for (int t = 0; t < KTAPES; t++) d->s.tape[t] = d->s.room[t] = d->s.count[t] = -1;
    for (int a = 0; a < QS_MAX_RANK; a++) d->s.extent[a] = -1;
    add_adjoints(d, adjoints);
    d->out->extra = qarena_alloc(d->arena, qmem_size((size_t)(most - 2 * f->nparams), sizeof(KExtra), 0));
    d->out->nextra = 0, d->out->first_extra = d->s.nparams;
}

static const KParam int_param = {.kind = KP_NUM, .dtype = QS_I64};
static const qs_dtype tape_dtype[KKINDS] = {QS_F32, QS_F64, QS_I64};
static const char *const axis_name[QS_MAX_RANK] = {"extent 0", "extent 1", "extent 2", "extent 3",
                                                   "extent 4", "extent 5", "extent 6", "extent 7"};

static void add_extents(Grad *d) {
    for (int a = 0; a < d->given->rank; a++) d->s.extent[a] = add_extra(d, KX_EXTENT, a, int_param, axis_name[a]);
}

static KParam row_of(qs_dtype t) {
    return (KParam){.kind = KP_ARRAY, .dtype = (uint8_t)t, .rank = 1, .contiguous = true, .unit_last = true};
}

static void add_tape(Grad *d, int t) {
    d->out->room[t] = d->s.fixed_room[t];
    d->s.tape[t] = add_extra(d, KX_TAPE, t, row_of(tape_dtype[t % KKINDS]), "tape");
    if (d->s.fixed_room[t] >= 0) return;
    d->s.room[t] = add_extra(d, KX_ROOM, t, int_param, "room");
    d->s.count[t] = add_extra(d, KX_COUNT, t, row_of(QS_I64), "count");
}

static int add_twin(Grad *d, KExtraKind kind, int p, qs_dtype t, const char *name) {
    KParam k = row_of(t);
    k.rank = d->given->params[p].rank;
    return add_extra(d, kind, p, k, name);
}

static void add_groups(Grad *d) {
    for (int p = 0; p < d->given->nparams; p++) {
        KGroup *k = &d->group[p];
        bool product = k->kind == KGROUP_PRODUCT;
        qs_dtype t = product ? QS_F64 : (qs_dtype)d->given->params[p].dtype;
        if (k->meets) k->claim = add_twin(d, KX_CLAIM, p, QS_I64, "claim");
        if (!k->kind) continue;
        k->of = add_twin(d, KX_GROUP, p, t, product ? "product" : "best");
        if (product) k->zeros = add_twin(d, KX_GROUP, p, QS_F64, "zeros");
        k->count = add_twin(d, KX_GROUP, p, QS_I64, "group");
    }
}

/* -- pointers into the tapes --------------------------------------------------------------------------------------- */
int64_t kautodiff_iterations(const KFunc *f, KRef loop) {
    const KIns *i = &f->ins[loop], *a = &f->ins[i->a], *b = &f->ins[i->b], *c = &f->ins[i->c];
    if (i->op != K_FOR || a->op != K_CONST || b->op != K_CONST || c->op != K_CONST) return -1;
    __int128 from = (int64_t)a->imm, to = (int64_t)b->imm, by = (int64_t)c->imm;
    if (by == 0 || (by > 0 ? to < from : to > from)) return 0;
    __int128 n = (to - from) / by + 1;
    return n > INT32_MAX ? -1 : (int64_t)n;
}

/* Returns how often a position executes r at most; -1: unknown. */
static int64_t count_runs(const KFunc *f, KRef r) {
    enum { MANY = 1 << 20 };
    int64_t n = 1;
    for (KRef l = kir_loop_around(f, r); l; l = kir_loop_around(f, l)) {
        int64_t iterations = kautodiff_iterations(f, l);
        if (iterations < 0 || iterations * n > MANY) return -1;
        n *= iterations;
    }
    return n;
}

static void count_room(Grad *d, const uint8_t *used) {
    const KFunc *f = d->normal.func;
    for (KRef r = 1; r < f->nins; r++) {
        if (!used[r]) continue;
        int t = kautodiff_tape_of(f, d->common, r);
        int64_t n = count_runs(f, r), *room = &d->s.fixed_room[t];
        *room = n < 0 || *room < 0 ? -1 : *room + n;
    }
}

static void move_pointer(KFunc *g, KRef pointer, uint32_t pos) {
    KRef n = kir_add(g, (KMake){K_GET, .a = pointer, .pos = pos}), one = kir_const_int(g, QS_I64, 1, pos);
    n = kir_fold(g, (KMake){K_ADD, .a = n, .b = one, .pos = pos});
    kir_add(g, (KMake){K_SET, .a = pointer, .b = n, .pos = pos});
}

/* Copies the structurized function and adds the pointers, which count the saved reads.  map: by instruction of the
 * function, the instruction of the copy. */
static void add_pointers(Grad *d, const uint8_t *used, KRef *map) {
    const KFunc *f = d->normal.func;
    KFunc *g = kir_shell_with(d->c, d->arena, f, f->params, f->nparams);
    bool wants[KTAPES] = {0};
    for (KRef r = 1; r < f->nins; r++) wants[kautodiff_tape_of(f, d->common, r)] |= used[r];
    for (int t = 0; t < KTAPES; t++)
        if (wants[t]) d->s.pointer[t] = kir_add(g, (KMake){K_LOCAL, .a = kir_const_int(g, QS_I64, 0, 0)});
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        /* not kir_copy, which may fold: the copy must have the same structure */
        map[r] = kir_add(g, kir_like(i, map[i->a], map[i->b], map[i->c]));
        if (used[r]) move_pointer(g, d->s.pointer[kautodiff_tape_of(f, d->common, r)], i->pos);
    }
    kir_seal(g);
    KRef *body = qarena_alloc(d->arena, qmem_size(g->nins, sizeof *body, 0));
    for (KRef r = 1; r < f->nins; r++)
        if (kir_is_loop(f->ins[r].op)) body[map[r]] = map[d->normal.body[r] - 1] + 1;
    uint8_t *common = d->common ? qarena_alloc(d->arena, g->nins) : NULL;
    for (KRef r = 1; common && r < f->nins; r++) common[map[r]] = d->common[r];
    d->s.f = g, d->s.body = body, d->s.common = common;
}

static bool on_tape(const Grad *d, const uint8_t *used, int t) {
    for (KRef r = 1; r < d->normal.func->nins; r++)
        if (used[r] && kautodiff_tape_of(d->normal.func, d->common, r) == t) return true;
    return false;
}

/* Prepares the parameters and the function for a backward pass that saves the reads in `used`. */
static qs_status prepare_pass(Grad *d, const uint8_t *used, KRef *map) {
    const KFunc *f = d->normal.func;
    begin_params(d, "adjoint of ");
    count_room(d, used);
    bool any = memchr(used, 1, f->nins);
    if (any || !f->serial || kir_has(f, K_POS)) add_extents(d);
    for (int t = 0; t < KTAPES; t++)
        if (on_tape(d, used, t)) add_tape(d, t);
    add_groups(d);
    add_pointers(d, used, map);
    TRY(kactive_find(d->c, d->arena, d->s.f, d->active, &d->s.act));
    for (KRef r = 1; r < f->nins; r++)
        if (used[r] || d->s.act.kept[map[r]]) d->s.act.kept[map[r]] = used[r] ? KEPT_ON_TAPE : KEPT_UNUSED;
    return QS_OK;
}

/* -- backward pass ------------------------------------------------------------------------------------------------- */
/* Returns true if the resulting adjoint of parameter p is not wanted, and no position reads an element of it that
 * another position has changed. */
static bool is_spent(const Grad *d, int p) {
    KRef first;
    const KParam *x = &d->given->params[p];
    if (!d->enters || d->enters[p] || x->kind != KP_ARRAY || d->given->serial || d->group[p].kind) return false;
    return kadjindex_owner(d->normal.func, p, &first) != KOWN_NOT;
}

static bool *adjoints_wanted(const Grad *d) {
    bool *wanted = qarena_alloc(d->arena, (size_t)d->s.nparams + 1);
    for (int p = 0; p < d->given->nparams; p++)
        if (d->s.param[p].adjoint >= 0) wanted[d->s.param[p].adjoint] = !is_spent(d, p);
    return wanted;
}

/* Builds the backward pass.  used: the saved reads; reduced to those that this pass or the passes for groups use. */
static qs_status make_adjoint(Grad *d, uint8_t *used, KFunc **out) {
    KAdjoint a;
    KRef *swept, *map = qarena_alloc(d->arena, qmem_size(d->normal.func->nins, sizeof *map, 0));
    TRY(prepare_pass(d, used, map));
    TRY(kadjoint_make(&d->s, &a));
    *out = kdeadcode(d->c, d->arena, a.func, adjoints_wanted(d), &swept);
    uint8_t *asked = qarena_alloc(d->arena, d->s.f->nins);
    for (uint32_t k = 0; k < a.nread; k++)
        if (swept[a.read[k].at]) asked[a.read[k].of] = 1;
    for (KRef r = 1; r < d->normal.func->nins; r++) used[r] = used[r] && asked[map[r]];
    kshared_keep(d->normal.func, d->group, used);
    return QS_OK;
}

static bool is_one(const Grad *d, const KIns *i) {
    for (int p = 0; i->op == K_LOAD && d->one && p < d->given->nparams; p++)
        if (d->one[p] && d->s.param[p].adjoint == (int)i->imm) return true;
    return false;
}

/* Returns f, changed so that it reads element 0 of each adjoint that is stored as one number (KGradOf.one). */
static KFunc *with_numbers(const Grad *d, KFunc *f) {
    bool any = false;
    for (KRef r = 1; r < f->nins; r++) any = any || is_one(d, &f->ins[r]);
    if (!any) return f;
    KFunc *g = kir_shell_with(d->c, d->arena, f, f->params, f->nparams);
    KRef *map = qarena_alloc(d->arena, qmem_size(f->nins, sizeof *map, 0)), first = kir_const_int(g, QS_I64, 0, 0);
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        map[r] = kir_copy(g, i, is_one(d, i) ? first : map[i->a], map[i->b], map[i->c]);
    }
    return kir_seal(g), g;
}

static void add_pass(Grad *d, KGradPass p) {
    p.func = with_numbers(d, p.func);
    if (p.func->fast) p.func = ksimplify_join(d->c, d->arena, p.func);
    d->out->pass[d->out->npasses++] = p;
}

static bool has_tape(const Grad *d, bool counted) {
    for (int t = 0; t < KTAPES; t++)
        if (counted ? d->s.count[t] >= 0 : d->s.tape[t] >= 0) return true;
    return false;
}

static bool is_empty(const KFunc *f) { /* it has no effect */
    return !kir_has(f, K_STORE) && !kir_has(f, K_ATOMIC);
}

static bool *wanted_but(const Grad *d, int p) {
    bool *wanted = adjoints_wanted(d);
    wanted[d->s.param[p].adjoint] = false;
    return wanted;
}

static bool writes_another(const KFunc *f, int param) {
    for (KRef r = 1; r < f->nins; r++)
        if ((f->ins[r].op == K_STORE || f->ins[r].op == K_ATOMIC) && (int)f->ins[r].imm != param) return true;
    return false;
}

/* Adds a separate pass for the additions at the border, which few positions make.  Returns false if that pass would
 * clear adjoints that a later one reads. */
static bool add_border(Grad *d, const KFunc *rest, int p) {
    bool *wanted = qarena_alloc(d->arena, (size_t)d->s.nparams + 1);
    wanted[d->s.param[p].adjoint] = true;
    KFunc *border = kdeadcode(d->c, d->arena, rest, wanted, NULL);
    if (writes_another(border, d->s.param[p].adjoint)) return false;
    border->few = true;
    kir_seal(border);
    return add_pass(d, (KGradPass){.func = border, .over = -1}), true;
}

static void add_element_pass(Grad *d, int p, KFunc *make(const KGrading *s, int p)) {
    KGradPass pass = {.func = make(&d->s, p), .over = p};
    for (int a = 0; a < QS_MAX_RANK; a++) pass.axis[a] = a;
    add_pass(d, pass);
}

static qs_status add_position_pass(Grad *d, qs_status make(const KGrading *s, KFunc **out)) {
    KGradPass pass = {.over = -1};
    TRY(make(&d->s, &pass.func));
    return add_pass(d, pass), QS_OK;
}

static int count_groups(const Grad *d, bool extremes) {
    int n = 0;
    for (int p = 0; p < d->given->nparams; p++)
        n += d->group[p].kind && (!extremes || d->group[p].kind != KGROUP_PRODUCT);
    return n;
}

static qs_status check_claims(Grad *d) {
    bool any = false;
    for (int p = 0; p < d->given->nparams; p++) any |= d->group[p].meets;
    if (!any) return QS_OK;
    TRY(add_position_pass(d, kconflict_claim));
    return add_position_pass(d, kconflict_check);
}

static qs_status begin_groups(Grad *d) {
    if (!count_groups(d, false)) return QS_OK;
    for (int p = 0; p < d->given->nparams; p++)
        if (d->group[p].kind) add_element_pass(d, p, kshared_begin);
    TRY(add_position_pass(d, kshared_collect));
    if (count_groups(d, true)) TRY(add_position_pass(d, kshared_count));
    for (int p = 0; p < d->given->nparams; p++)
        if (d->group[p].kind && d->group[p].kind != KGROUP_PRODUCT) add_element_pass(d, p, kshared_share);
    return QS_OK;
}

static void end_groups(Grad *d) {
    for (int p = 0; p < d->given->nparams; p++)
        if (d->group[p].kind) add_element_pass(d, p, kshared_end);
}

static KFunc *gather_adjoint(Grad *d, KFunc *adjoint, int p) {
    KGathered g;
    for (int n = 0; n < MOST && kscatter_make(&d->s, adjoint, p, n == 0, &g); n++) {
        KGradPass pass = {.func = kdeadcode(d->c, d->arena, g.func, adjoints_wanted(d), NULL), .over = p};
        memcpy(pass.axis, g.axis, sizeof pass.axis);
        add_pass(d, pass);
        if (g.all) ((KGradParam *)d->out->param)[p].stored = KSTORED_ALL;
        bool border = g.border && add_border(d, g.rest, p);
        adjoint = kdeadcode(d->c, d->arena, g.rest, border ? wanted_but(d, p) : adjoints_wanted(d), NULL);
    }
    return adjoint;
}

/* Adds the gathering passes for all arrays; returns the backward pass without their additions. */
static KFunc *gather_all(Grad *d, KFunc *adjoint) {
    for (int p = 0; p < d->given->nparams; p++) {
        const KParam *x = &d->given->params[p];
        if (x->kind != KP_ARRAY || x->written || d->s.param[p].adjoint < 0) continue;
        adjoint = gather_adjoint(d, adjoint, p);
    }
    KGathered rows;
    if (!kscatter_rows(&d->s, adjoint, &rows)) return adjoint;
    KFunc *sums = kdeadcode(d->c, d->arena, rows.func, adjoints_wanted(d), NULL);
    add_pass(d, (KGradPass){.func = sums, .over = -1, .row = KGRAD_ROW});
    return kdeadcode(d->c, d->arena, rows.rest, adjoints_wanted(d), NULL);
}

static KFunc *with_windows(Grad *d, KFunc *adjoint) {
    KFunc *g = kprivatize_make(&d->s, adjoint);
    return g == adjoint ? g : kdeadcode(d->c, d->arena, g, adjoints_wanted(d), NULL);
}

/* Records that each position stores its own element of the adjoint. */
static void report_own(Grad *d, int p, KRef element) {
    KGradParam *out = (KGradParam *)&d->out->param[p];
    out->stored = KSTORED_OWN;
    kadjindex_axes(d->normal.func, &d->normal.func->ins[element], out->axis);
}

static void report_stored(Grad *d) {
    KRef first;
    for (int p = 0; p < d->out->nparams; p++) {
        const KParam *x = &d->given->params[p];
        if (x->kind != KP_ARRAY || d->s.param[p].adjoint < 0 || d->given->serial) continue;
        bool own = kadjindex_owner(d->normal.func, p, &first) == KOWN_ELEMENT;
        if (own && !x->written && !d->s.param[p].adds && !qdtype_is_complex((qs_dtype)x->dtype))
            report_own(d, p, first);
    }
}

static void report_needs(Grad *d) {
    for (int p = 0; p < d->out->nparams; p++)
        for (int k = 0; k < d->out->npasses; k++) {
            const KParam *x = &d->out->pass[k].func->params[p];
            ((KGradParam *)d->out->param)[p].needed |= x->read;
            ((KGradParam *)d->out->param)[p].changed |= x->written;
        }
}

static qs_status verify_passes(const Grad *d) {
    for (int k = 0; k < d->out->npasses; k++) TRY(kir_verify(d->c, d->out->pass[k].func));
    return QS_OK;
}

static Grad begin_grad(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KGrad *out) {
    size_t n = (size_t)f->nparams, most = (MOST + 1 + GROUP_PASSES) * n + 8;
    *out = (KGrad){.pass = qarena_alloc(arena, qmem_size(most, sizeof(KGradPass), 0))};
    return (Grad){.c = c,
                  .arena = arena,
                  .given = f,
                  .active = active,
                  .out = out,
                  .group = qarena_alloc(arena, qmem_size(n, sizeof(KGroup), sizeof(KGroup)))};
}

qs_status kautodiff_reverse(Ctx *c, Arena *arena, const KFunc *f, const KGradOf *of, KGrad *out) {
    const bool *active = of->active;
    Grad d = begin_grad(c, arena, f, active, out);
    d.enters = of->enters, d.adds = of->adds, d.one = of->one;
    KActive act;
    KFunc *adjoint;
    TRY(check_params(&d));
    kstructurize_make(c, arena, f, &d.normal);
    if (f->barrier && !f->serial) d.common = kplan_common(c, arena, d.normal.func);
    TRY(kactive_find(c, arena, d.normal.func, active, &act));
    TRY(check_all(&d, d.normal.func, &act));
    TRY(kshared_find(c, d.normal.func, active, d.group));
    kconflict_find(d.normal.func, &act, active, d.group);
    uint8_t *used = qarena_alloc(arena, d.normal.func->nins);
    bool any = false;
    for (KRef r = 1; r < d.normal.func->nins; r++) any |= used[r] = act.kept[r] == KEPT_ON_TAPE;
    any |= kshared_keep(d.normal.func, d.group, used);
    TRY(make_adjoint(&d, used, &adjoint));
    if (any) TRY(make_adjoint(&d, used, &adjoint));
    for (int counts = 1; counts >= 0; counts--) {
        if (!has_tape(&d, counts)) continue;
        add_pass(&d, (KGradPass){.func = kprimal_make(&d.s, counts), .again = true, .counts = counts, .over = -1});
    }
    TRY(check_claims(&d));
    TRY(begin_groups(&d));
    adjoint = with_windows(&d, gather_all(&d, adjoint));
    if (!is_empty(adjoint) || !out->npasses) add_pass(&d, (KGradPass){.func = adjoint, .over = -1});
    end_groups(&d);
    report_needs(&d), report_stored(&d);
    return verify_passes(&d);
}

/* -- forward mode -------------------------------------------------------------------------------------------------- */
static qs_status check_sums(const Grad *d, const KFunc *f) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_ATOMIC && d->active[f->ins[r].imm] && !kshared_is_sum(&f->ins[r]))
            return refuse_function(d, f, f->ins[r].pos, "of updates that positions share only += and -= have tangents");
    return QS_OK;
}

qs_status kautodiff_forward(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KGrad *out) {
    Grad d = begin_grad(c, arena, f, active, out);
    TRY(check_params(&d));
    begin_params(&d, "tangent of ");
    d.s.f = f;
    TRY(kactive_find(c, arena, f, active, &d.s.act));
    TRY(check_all(&d, f, &d.s.act));
    TRY(check_sums(&d, f));
    KFunc *dual = kdeadcode(c, arena, kforward_make(&d.s), adjoints_wanted(&d), NULL);
    add_pass(&d, (KGradPass){.func = dual, .again = true, .over = -1});
    report_needs(&d);
    return verify_passes(&d);
}
