/* lower.c -- runs the passes over a kernel, imports its arguments, and collects the KFunc's parameters. */
#include "lang/kernel/lower/kernel/lower_internal.h"
#include "vm/base/number.h"

#include <stdio.h>
#include <string.h>

/* -- errors and needs ---------------------------------------------------------------------------------------------- */
static const Source *source_of(const InlineFrame *inst) { return inst->func->unit ? inst->func->unit->src : NULL; }

Where klower_where(const Lower *L, uint32_t pos) {
    const InlineFrame *at = L->in ? L->in : L->root;
    return (Where){at ? source_of(at) : NULL, pos};
}

/* The call in the program that led into a function of the library; NULL: the code is not in the library. */
static const InlineFrame *call_into_library(const Lower *L) {
    const InlineFrame *call = NULL;
    for (const InlineFrame *in = L->in; in && source_of(in) && source_of(in)->library; in = in->up) call = in;
    return call && call->site ? call : NULL;
}

/* The name by which a program calls a function of the library: kernel_cross of kernels.q is `cross`. */
static const char *name_in_program(const char *name) {
    static const char *const prefixes[] = {"kernel_full_", "kernel_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return name + strlen(prefixes[i]);
    return name;
}

/* An error in a function of the library is reported at the call in the program.  If a function of the host uses a name
 * that kernels lack, which the user has not written, the error message says what to write instead of the call. */
qs_status klower_error(Lower *L, qs_status s, uint32_t pos, const char *fmt, ...) {
    char sentence[QERR_TEXT / 2];
    const InlineFrame *call = call_into_library(L);
    const char *kernel = L->job->fn.func->name->s;
    va_list ap;
    va_start(ap, fmt);
    qnum_vprint(sentence, sizeof sentence, fmt, ap);
    va_end(ap);
    if (!call) return qerr_at(L->c, s, klower_where(L, pos), "in kernel %s: %s", kernel, sentence);
    const char *name = name_in_program(call->func->name->s);
    Where where = {source_of(call->up), call->site->pos};
    if (s == QS_ENAME && call->func->qual != Q_DEVICE)
        return qerr_at(L->c, s, where, "in kernel %s: %s cannot be used in a kernel; %s", kernel, name,
                       klcall_substitute(name));
    return qerr_at(L->c, s, where, "in kernel %s: cannot call %s: %s", kernel, name, sentence);
}

qs_status klower_need(Lower *L, int source, int axis, int rank) {
    LowerResult *out = L->out;
    KNeed *more = qarena_alloc(L->keep, qmem_size((size_t)out->nneeds, sizeof *more, sizeof *more));
    if (out->nneeds) memcpy(more, out->needs, (size_t)out->nneeds * sizeof *more);
    more[out->nneeds++] = (KNeed){source, axis, rank};
    out->needs = more;
    L->stopped = true;
    return QS_EINTERNAL;
}

/* -- parameters of the KFunc --------------------------------------------------------------------------------------- */
static int add_param(Lower *L, const KParam *p, KBind b) {
    int i = kir_param(L->f, p);
    qmem_grow(L->c, &L->binds, &L->cap_binds, (uint32_t)i, sizeof *L->binds);
    L->binds[i] = b;
    return i;
}

KRef klower_host_num(Lower *L, int source, int part, qs_dtype d, Str *name) {
    int i = 0;
    while (i < L->nnums && (L->nums[i].source != source || L->nums[i].part != part || L->nums[i].dtype != d)) i++;
    if (i == L->nnums) {
        KParam p = {.name = name, .kind = KP_NUM, .dtype = (uint8_t)d};
        qmem_grow(L->c, &L->nums, &L->cap_nums, (uint32_t)i, sizeof *L->nums);
        L->nums[i] = (HostNum){source, part, (uint8_t)d, add_param(L, &p, (KBind){.source = source, .part = part})};
        L->nnums++;
    }
    return klnum_pure(L, (KMake){K_PARAM, .own = d, .imm = (uint64_t)L->nums[i].param});
}

int klower_array_param(Lower *L, const Val *v) {
    const ArrayRef *a = v->u.array;
    for (int i = 0; i < L->f->nparams; i++) {
        const KParam *p = &L->f->params[i];
        if (p->kind == KP_ARRAY && L->binds[i].source == a->host.source && p->rank == v->rank) return i;
    }
    KParam p = {.name = a->name, .kind = KP_ARRAY, .dtype = v->dtype, .rank = v->rank};
    p.contiguous = a->host.contiguous, p.unit_last = a->host.unit_last;
    return add_param(L, &p, (KBind){.source = a->host.source});
}

int klower_log_param(Lower *L) {
    for (int i = 0; i < L->f->nparams; i++)
        if (L->f->params[i].log) return i;
    KParam p = {.name = qstr_cname(L->c, "print"), .kind = KP_ARRAY, .dtype = QS_F64, .rank = 1};
    p.contiguous = p.unit_last = p.log = true;
    return add_param(L, &p, (KBind){.source = KLOWER_LOG});
}

/* -- values from outside ------------------------------------------------------------------------------------------- */
static Num import_number(Lower *L, const KVal *v, int part, Str *name) {
    qs_dtype r = qdtype_real_of(v->dtype);
    if (qdtype_is_complex(v->dtype)) {
        Num n = {.dtype = v->dtype};
        n.re.ref = v->known ? klnum_const(L, r, v->num[0]) : klower_host_num(L, v->source, 2 * part, r, name);
        n.im.ref = v->known ? klnum_const(L, r, v->num[1]) : klower_host_num(L, v->source, 2 * part + 1, r, name);
        return n;
    }
    if (v->kind == KV_VEC && v->known) return klnum_literal(L, v->vec[part], true);
    if (v->kind == KV_VEC)
        return klnum_strong(klower_host_num(L, v->source, part, kir_value_dtype(r), name), kir_value_dtype(r));
    if (v->known && v->dtype == QS_B1) return klnum_strong(klnum_int(L, QS_B1, v->num[0] != 0), QS_B1);
    if (!v->known && v->dtype == QS_B1) return klnum_strong(klower_host_num(L, v->source, 0, QS_B1, name), QS_B1);
    Num n = v->known ? klnum_literal(L, v->num[0], v->bits > 0)
                     : klnum_from_weak(L, klnum_weak_param(L, v->source, name, v->bits, true));
    n.re.weak->declared = v->is_int;
    return n;
}

static void import_vector(Lower *L, const KVal *v, Str *name, Val *out) {
    Val shape = {.rank = v->rank};
    memcpy(shape.dims, v->dims, sizeof shape.dims);
    int64_t n = klval_count(&shape);
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)(n ? n : 1), sizeof *nums, 0));
    for (int64_t i = 0; i < n; i++) nums[i] = import_number(L, v, (int)i, name);
    klval_from_nums(L, nums, v->rank, v->dims, out);
    out->made = klval_made((qs_dtype)v->dtype);
}

static void import_array(Lower *L, const KVal *v, Str *name, Val *out) {
    *out = (Val){.kind = V_ARRAY, .dtype = v->dtype, .rank = v->rank, .inner = v->inner, .mods = v->mods};
    memcpy(out->dims, v->dims, sizeof out->dims);
    out->u.array = qarena_alloc(L->arena, sizeof(ArrayRef));
    *out->u.array = (ArrayRef){.host = *v, .name = name};
}

static void import_function(Lower *L, const KVal *v, Val *out) {
    Closure *f = qarena_alloc(L->arena, sizeof *f);
    KVal *copy = qarena_alloc(L->arena, sizeof *copy);
    *copy = *v;
    *f = (Closure){.func = v->func, .builtin = v->builtin, .host = copy, .noverloads = v->noverloads};
    f->overloads = qarena_alloc(L->arena, qmem_size((size_t)v->noverloads, sizeof *f->overloads, sizeof *f->overloads));
    for (int i = 0; i < v->noverloads; i++) import_function(L, &v->overloads[i], &f->overloads[i]);
    *out = (Val){.kind = V_FUNC};
    out->u.fn = f;
}

static void import_object(Lower *L, const KVal *v, Val *out) {
    Record *r = qarena_alloc(L->arena, sizeof *r);
    *r = (Record){.names = v->names, .nfields = v->nfields, .type = v->type, .is_mutable = v->is_mutable};
    r->types = v->types, r->host = v->fields;
    r->fields = qarena_alloc(L->arena, qmem_size((size_t)v->nfields, sizeof *r->fields, sizeof *r->fields));
    for (int i = 0; i < v->nfields; i++) klower_import(L, &v->fields[i], v->names[i], &r->fields[i]);
    *out = (Val){.kind = V_OBJECT, .rank = v->rank};
    out->u.rec = r;
}

void klower_import(Lower *L, const KVal *v, Str *name, Val *out) {
    switch (v->kind) {
    case KV_NUM: klval_number(L, import_number(L, v, 0, name), out); break;
    case KV_VEC: import_vector(L, v, name, out); break;
    case KV_ARRAY: import_array(L, v, name, out); break;
    case KV_FUNC: import_function(L, v, out); break;
    case KV_STRING: *out = (Val){.kind = V_STRING}, out->u.str = v->str; break;
    case KV_TYPE: *out = (Val){.kind = V_TYPE, .mods = v->mods}, out->u.type = v->type; break;
    case KV_OBJECT: import_object(L, v, out); break;
    default: *out = (Val){.kind = V_VOID}; break;
    }
}

/* -- positions ----------------------------------------------------------------------------------------------------- */
/* beyond: the value on axes that the launch does not have */
static const struct {
    const char *name;
    uint8_t op, beyond;
} specials[] = {
    {"pos", K_POS, 0},       {"blkpos", K_BLKPOS, 0}, {"blkdim", K_BLKDIM, 1},
    {"blkidx", K_BLKIDX, 0}, {"blkcnt", K_BLKCNT, 1},
};
enum { NSPECIALS = sizeof specials / sizeof *specials };

int klower_special(const Str *name) {
    for (int i = 0; i < NSPECIALS; i++)
        if (!strcmp(name->s, specials[i].name)) return i;
    return -1;
}

typedef struct {
    const Sym *sym;
    bool indexed, assigned;
} Uses;

static void find_uses(void *ud, Node **child) {
    Uses *u = ud;
    Node *n = *child;
    if (!n) return;
    const Node *updated = klbuiltin_updated(n);
    if (n->kind == N_INDEX && qast_is_name(n->u.index.base, u->sym)) u->indexed = true;
    if (updated && updated->kind == N_INDEX && qast_is_name(updated->u.index.base, u->sym)) u->assigned = true;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++) {
        const Node *t = n->u.assign.targets[i];
        if (qast_is_name(t, u->sym) || (t->kind == N_INDEX && qast_is_name(t->u.index.base, u->sym)))
            u->assigned = true;
    }
    qast_children(n, find_uses, ud);
}

static Uses uses_of(const Func *f, const Sym *sym) {
    Uses u = {.sym = sym};
    for (int i = 0; i < f->body.n; i++) find_uses(&u, &f->body.at[i]);
    Node *e = f->expr;
    if (e) find_uses(&u, &e);
    return u;
}

static bool is_indexed(const Func *f, const Sym *sym) { return uses_of(f, sym).indexed; }
bool klower_assigns(const Func *f, const Sym *param) { return uses_of(f, param).assigned; }

/* The declared number of components: 1 for int and scalar, N for ivecN, vecN and vec(N) with a literal N, else 0. */
static int declared_count(const TypeExpr *e) {
    if (!e) return 0;
    if (e->kind == TE_FIXED) return e->ndims == 1 && e->dims[0]->kind == N_NUM ? (int)e->dims[0]->u.num.value : 0;
    if (e->kind != TE_NAME) return 0;
    const char *s = e->name->s;
    size_t n = strcspn(s, "0123456789");
    if (strstr(s, "vec") && s[n]) return s[n] - '0';
    return !strcmp(s, "int") || !strcmp(s, "scalar") ? 1 : 0;
}

bool klower_by_value(const Func *f, const Param *p, const Type *t) {
    int64_t n = 1;
    if (t->kind != TY_ARRAY || !t->nfixed || t->inner->kind != TY_NUM || qdtype_is_complex(t->inner->dtype))
        return false;
    for (int i = 0; i < t->nfixed; i++) n *= t->dims[i];
    return n <= KLOWER_BY_VALUE && !klower_assigns(f, p->sym);
}

int klower_positions(const Func *f) {
    int count = 0;
    bool indexed = false;
    for (int i = 0; i < f->nparams; i++) {
        const Param *p = &f->params[i];
        if (klower_special(p->name) < 0) continue;
        int n = declared_count(p->type);
        if (n > count) count = n;
        indexed |= !n && is_indexed(f, p->sym);
    }
    return count ? count : indexed ? -1 : 0;
}

KFit klower_fit(int rank, int positions, const bool *trivial) {
    KFit fit = {0};
    if (positions == 0 && rank == 2 && trivial[0]) fit.front = 1;
    if (positions <= 0) return fit;
    while (rank - fit.back > positions && trivial[rank - fit.back - 1]) fit.back++;
    while (rank - fit.back - fit.front > positions && trivial[fit.front]) fit.front++;
    fit.beyond = rank - fit.back - fit.front > positions ? rank - fit.back - fit.front - positions : 0;
    return fit;
}

static KRef special_ref(Lower *L, int which, int axis) {
    if (axis >= L->job->rank) return klnum_int(L, QS_I32, specials[which].beyond);
    if (which == SPECIAL_BLKDIM && L->job->block) return klnum_int(L, QS_I32, L->job->block[axis]);
    return klnum_pure(L, (KMake){(KOp)specials[which].op, .own = QS_I32, .imm = (uint64_t)axis});
}

/* Makes the position parameter p of the kernel f, with as many components as declared, from one number per axis of the
 * launch. */
qs_status klower_position(Lower *L, const Func *f, const Param *p, const Num *nums, int rank, Val *out) {
    int n = declared_count(p->type), beyond = specials[klower_special(p->name)].beyond;
    bool number = n ? n == 1 && p->type->kind == TE_NAME && !strstr(p->type->name->s, "vec")
                    : rank == 1 && !is_indexed(f, p->sym);
    if (!n) n = rank;
    if (n > QS_MAX_RANK)
        return klower_error(L, QS_ESHAPE, p->pos, "%s can have at most %d components", p->name->s, QS_MAX_RANK);
    if (n < rank)
        return klower_error(L, QS_ESHAPE, p->pos, "%s has %d component%s, but the launch has %d dimensions", p->name->s,
                            n, n > 1 ? "s" : "", rank);
    Num all[QS_MAX_RANK];
    for (int i = 0; i < n; i++) all[i] = i < rank ? nums[i] : klnum_strong(klnum_int(L, QS_I32, beyond), QS_I32);
    if (number) klval_number(L, all[0], out);
    else klval_vector(L, all, n, out);
    return QS_OK;
}

static qs_status bind_special(Lower *L, const Func *f, const Param *p, Val *out) {
    Num nums[QS_MAX_RANK];
    int which = klower_special(p->name);
    for (int i = 0; i < L->job->rank; i++) nums[i] = klnum_strong(special_ref(L, which, i), QS_I32);
    TRY(klower_position(L, f, p, nums, L->job->rank, out));
    out->is_pos = which == SPECIAL_POS;
    return QS_OK;
}

/* -- one pass ------------------------------------------------------------------------------------------------------ */
/* Reports a wrong number of arguments, not counting position parameters: "3 arguments wanted (x, y, n), got 2". */
static qs_status wrong_count(Lower *L, const Func *f) {
    char names[120] = "";
    int wanted = 0;
    size_t used = 0;
    for (int i = 0; i < f->nparams; i++) {
        if (klower_special(f->params[i].name) >= 0) continue;
        const char *between = wanted++ ? ", " : " (", *name = f->params[i].name->s;
        if (used < sizeof names) used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", between, name);
    }
    const char *plural = wanted == 1 ? "" : "s", *close = wanted ? ")" : "";
    if (wanted == f->nparams && wanted == L->job->nargs + 1)
        return klower_error(L, QS_ETYPE, f->pos,
                            "%d argument%s wanted%s%s, got %d; the position goes to a parameter named pos, which %s "
                            "is not",
                            wanted, plural, names, close, L->job->nargs, f->params[wanted - 1].name->s);
    return klower_error(L, QS_ETYPE, f->pos, "%d argument%s wanted%s%s, got %d", wanted, plural, names, close,
                        L->job->nargs);
}

static qs_status bind_kernel(Lower *L) {
    const Func *f = L->in->func;
    int next = 0;
    for (int i = 0; i < f->nparams; i++) {
        Param *p = &f->params[i];
        Val v;
        L->pos = p->pos;
        if (p->variadic)
            return klower_error(L, QS_ETYPE, p->pos, "a kernel cannot have a variable number of parameters");
        bool special = klower_special(p->name) >= 0, given = !special && next < L->job->nargs;
        if (special) TRY(bind_special(L, f, p, &v));
        else if (given) klower_import(L, &L->job->args[next++], p->name, &v);
        else if (p->init) TRY(klexpr_lower(L, p->init, &v));
        else return wrong_count(L, f);
        L->pos = p->pos;
        TRY(klcall_bind(L, p, special || given, &v));
    }
    return next < L->job->nargs ? wrong_count(L, f) : kltype_check_constraints(L, L->in);
}

/* Reads {!kernel recursion=N}: the number of calls that may be open. */
static qs_status choose_frames(Lower *L, const Attr *a) {
    for (int i = 0; i < a->nitems; i++) {
        const Node *n = a->items[i].value;
        if (strcmp(a->items[i].key->s, "recursion")) continue;
        double v = n && n->kind == N_NUM ? n->u.num.value : 0;
        if (v < 1 || v > KLOWER_MOST_FRAMES || v != (int)v)
            return klower_error(L, QS_EVALUE, a->pos, "recursion is a number from 1 to %d", KLOWER_MOST_FRAMES);
        L->frames = (int)v;
    }
    return QS_OK;
}

/* Reads the attributes {!fast_math} and {!kernel fast_math=true, recursion=N}. */
static qs_status read_attributes(Lower *L) {
    const Func *f = L->job->fn.func;
    L->f->fast = L->job->fast_math;
    L->frames = KLOWER_FRAMES;
    for (int a = 0; a < f->nattrs; a++) {
        bool wrong = false;
        TRY(choose_frames(L, f->attrs[a]));
        L->f->fast = qast_asks_fast(f->attrs[a], L->f->fast, &wrong);
        if (wrong) return klower_error(L, QS_EVALUE, f->attrs[a]->pos, "fast_math is true or false");
    }
    return QS_OK;
}

static void begin_pass(Lower *L, Arena *scratch) {
    const Func *f = L->job->fn.func;
    kbuild_begin(&L->walk, kir_new(L->c, scratch, f->name, f->unit ? f->unit->src : NULL), scratch, f->pos);
    L->f->rank = L->job->rank, L->f->serial = L->job->serial;
    if (L->job->block) {
        L->f->fixed_block = true;
        for (int i = 0; i < L->job->rank; i++) L->f->block[i] = L->job->block[i];
    }
    L->in = NULL, L->exits = NULL;
    L->updated = NULL;
    L->was_crowded = L->crowded, L->crowded = L->lone = L->joined = 0;
    L->nnums = L->nprints = L->nested = 0, L->prints = NULL;
    L->unknown = false;
    klrandom_begin(L);
}

static qs_status lower_once(Lower *L) {
    Val fn;
    import_function(L, &L->job->fn, &fn);
    Callee callee = klcall_callee(fn.u.fn);
    Caller saved = kcall_enter(&L->walk, NULL, &callee);
    L->in->return_depth = -1;
    TRY(read_attributes(L));
    TRY(bind_kernel(L));
    TRY(klcall_kernel_body(L));
    L->changed |= (L->lone & L->crowded) || (L->joined & ~L->crowded);
    return kcall_leave(&L->walk, &saved);
}

static qs_status run_pass(Walk *w, Arena *scratch) {
    Lower *L = (Lower *)w;
    ErrorState before = L->c->err;
    begin_pass(L, scratch);
    qs_status s = lower_once(L);
    bool failed = s != QS_OK && L->trial == TRIAL_RUNS && !L->restart && !L->stopped;
    if (failed) L->trial = TRIAL_FAILED, L->recursive = NULL, L->c->err = before;
    if (!failed && !L->restart) return s;
    L->restart = false, L->changed = true;
    L->root = NULL; /* forgets what was learned about variables of other calls */
    return QS_OK;
}

/* -- the result ---------------------------------------------------------------------------------------------------- */
/* Removes instructions without a use and renumbers the rest. */
static void drop_unused(Lower *L, KFunc *f) {
    KRef *moved = qarena_alloc(L->arena, qmem_size(f->nins, sizeof *moved, 0)); /* 1: used; later the new number */
    for (uint32_t r = f->nins - 1; r; r--) {
        const KIns *i = &f->ins[r];
        uint8_t effect = kir_ops[i->op].effect;
        if (effect != KE_PURE && effect != KE_READ) moved[r] = 1;
        if (moved[r]) moved[i->a] = moved[i->b] = moved[i->c] = 1;
    }
    uint32_t n = 1;
    moved[0] = 0;
    for (uint32_t r = 1; r < f->nins; r++) {
        KIns i = f->ins[r];
        if (!moved[r]) continue;
        i.a = moved[i.a], i.b = moved[i.b], i.c = moved[i.c];
        moved[r] = n;
        f->ins[n++] = i;
    }
    f->nins = n;
}

/* Copies the function of the last pass to the result, without unused instructions. */
static qs_status keep_result(Walk *w, void *ud) {
    Lower *L = (Lower *)w;
    Arena *arena = ud;
    if (L->unknown) return QS_OK;
    drop_unused(L, L->f);
    L->out->func = kbuild_keep(w, arena);
    klprint_keep(L, arena);
    L->out->binds = qarena_alloc(arena, qmem_size((size_t)L->f->nparams, sizeof *L->binds, sizeof *L->binds));
    if (L->f->nparams) memcpy(L->out->binds, L->binds, (size_t)L->f->nparams * sizeof *L->binds);
    return QS_OK;
}

static qs_status run_passes(Lower *L, Arena *result) {
    bool done;
    TRY(kbuild_passes(&L->walk, KLOWER_PASSES, run_pass, keep_result, result, &done));
    if (L->out->func) return QS_OK;
    L->in = L->root;
    return klower_error(L, QS_ETYPE, L->unknown ? L->unknown_pos : L->job->fn.func->pos,
                        L->recursive ? "a type could not be determined; does each function that calls itself end?"
                                     : "a type could not be determined");
}

qs_status klower_kernel(Ctx *c, Arena *arena, const LowerJob *job, LowerResult *out) {
    Arena keep;
    qarena_init(&keep, c);
    *out = (LowerResult){0};
    Lower L = {.walk = {.rules = &klstmt_rules, .c = c, .keep = &keep}, .job = job, .out = out};
    qs_status s = run_passes(&L, arena);
    if (L.stopped) {
        KNeed *needs = qarena_alloc(arena, qmem_size((size_t)out->nneeds, sizeof *needs, sizeof *needs));
        if (out->nneeds) memcpy(needs, out->needs, (size_t)out->nneeds * sizeof *needs);
        out->needs = needs;
        s = QS_OK;
    }
    qmem_free(c, L.binds, L.cap_binds * sizeof *L.binds);
    qmem_free(c, L.nums, L.cap_nums * sizeof *L.nums);
    kbuild_free(&L.walk);
    qarena_free(&keep);
    if (s == QS_OK && out->func) s = klstack_replace(c, arena, out->func, L.frames, &out->func);
    if (s == QS_OK && out->func) s = kir_verify(c, out->func);
    return s;
}
