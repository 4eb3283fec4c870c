/* lower_expr.c -- lowers expressions of kernels: names, literals, ranges, choices, fields. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/kernel/lower_internal.h"

#include <string.h>

static qs_status one_number(Lower *L, const Val *v, const char *what, Num *out) {
    Val all;
    if (v->kind == V_UNKNOWN) return *out = klnum_literal(L, 0, true), L->changed = true, QS_OK;
    TRY(klval_components(L, v, &all));
    return klval_one(L, &all, what, out);
}

/* -- names --------------------------------------------------------------------------------------------------------- */
void klexpr_function(Walk *w, Func *f, Val *captures, Val *out) {
    Closure *c = qarena_alloc(w->arena, sizeof *c);
    c->func = f, c->captures = captures;
    *out = (Val){.kind = V_FUNC};
    out->u.fn = c;
}

qs_status klexpr_variable(Walk *w, const Sym *sym, uint32_t pos, Val *out, bool *found) {
    Lower *L = (Lower *)w;
    Var *v = klvar_of(L, sym);
    *found = v != NULL;
    return v ? klvar_read(L, v, pos, out) : QS_OK;
}

static qs_status outside_value(Lower *L, const Sym *sym, uint32_t pos, Val *out) {
    const LowerHost *h = L->job->host;
    const Closure *fn = L->in->closure;
    KVal v = {0};
    double k;
    if (h && h->symbol && h->symbol(h->ud, fn->host, sym, &v)) {
        klower_import(L, &v, sym->name, out);
        if (sym->mods.access != ACC_DEFAULT || sym->mods.flags) out->mods = sym->mods;
        return QS_OK;
    }
    if (kquery_constant(sym->name->s, &k)) return klval_number(L, klnum_literal(L, k, false), out), QS_OK;
    bool t = !strcmp(sym->name->s, "true");
    if (t || !strcmp(sym->name->s, "false"))
        return klval_number(L, klnum_strong(klnum_int(L, QS_B1, t), QS_B1), out), QS_OK;
    if (klbuiltin_find(sym->name->s, &(int){0})) {
        Closure *c = qarena_alloc(L->arena, sizeof *c);
        c->builtin = sym->name->s;
        *out = (Val){.kind = V_FUNC};
        return out->u.fn = c, QS_OK;
    }
    return klower_error(L, QS_ENAME, pos,
                        "%s has no value that a kernel can use: numbers, arrays, objects of classes "
                        "and cells of such objects are passed as arguments",
                        sym->name->s);
}

/* The value of an expression that a rewrite rule uses several times; it is computed once per block. */
static qs_status temporary_value(Lower *L, const Sym *sym, Val *out) {
    Var *h = klvar_hidden(L, sym, 0);
    if (!kbuild_is_open(h->home)) {
        TRY(klexpr_lower(L, sym->bound, &h->val));
        h->home = L->block;
    }
    return *out = h->val, QS_OK;
}

qs_status klexpr_outside(Walk *w, const Sym *sym, uint32_t pos, Val *out) {
    Lower *L = (Lower *)w;
    if (sym->kind == SYM_TEMP) return temporary_value(L, sym, out);
    if (sym->kind != SYM_TYPE) return outside_value(L, sym, pos, out);
    *out = (Val){.kind = V_TYPE, .mods = sym->mods};
    return out->u.type = sym->type, QS_OK;
}

/* -- literals ------------------------------------------------------------------------------------------------------ */
static qs_status lower_literal(Walk *w, const Node *n, Val *out) {
    Lower *L = (Lower *)w;
    int64_t whole = n->u.num.int_value;
    if (n->u.num.is_uint64) return klval_number(L, klnum_strong(kbuild_uint64(w, (uint64_t)whole), QS_U64), out), QS_OK;
    if (whole) return klval_number(L, klnum_strong(klnum_int(L, QS_I64, whole), QS_I64), out), QS_OK;
    if (!n->u.num.imaginary) return klval_number(L, klnum_literal(L, n->u.num.value, n->u.num.integer), out), QS_OK;
    qs_dtype d = qdtype_complex_of(L->c->scalar_dtype), r = qdtype_real_of(d);
    Num z = {.dtype = d, .re = {.ref = klnum_const(L, r, 0)}, .im = {.ref = klnum_const(L, r, n->u.num.value)}};
    klval_number(L, z, out);
    return QS_OK;
}

static qs_status stack_rows(Lower *L, const Val *items, int n, Val *out) {
    int64_t each = klval_count(&items[0]), dims[QS_MAX_RANK] = {n};
    Num *nums = qarena_alloc(L->arena, qmem_size(qmem_size((size_t)n, (size_t)each, 0), sizeof *nums, sizeof *nums));
    for (int i = 0; i < n; i++) {
        if (items[i].rank != items[0].rank ||
            memcmp(items[i].dims, items[0].dims, (size_t)items[0].rank * sizeof *dims))
            return klower_error(L, QS_ESHAPE, L->pos, "the rows of a matrix must have one size, got %s and %s",
                                klval_type_name(L, &items[0]), klval_type_name(L, &items[i]));
        for (int64_t k = 0; k < each; k++) nums[i * each + k] = klval_num(&items[i], k);
    }
    if (items[0].rank == QS_MAX_RANK) return klower_error(L, QS_ESHAPE, L->pos, "too many dimensions");
    memcpy(dims + 1, items[0].dims, (size_t)items[0].rank * sizeof *dims);
    bool row = n == 1 && items[0].rank >= 1; /* 1xN is a vec */
    klval_from_nums(L, nums, items[0].rank + !row, row ? dims + 1 : dims, out);
    if (items[0].rank) klval_make_together(L, out, items, n, true); /* numbers in brackets become scalars */
    return QS_OK;
}

static qs_status lower_matrix(Walk *w, Val *items, int n, Val *out) {
    Lower *L = (Lower *)w;
    for (int i = 0; i < n; i++) {
        TRY(klval_components(L, &items[i], &items[i]));
        if (items[i].kind == V_UNKNOWN) return *out = items[i], QS_OK;
    }
    if (n == 0) return klval_zero(L, L->c->scalar_dtype, 1, &(int64_t){0}, 0, out), QS_OK;
    return stack_rows(L, items, n, out);
}

/* -- ranges -------------------------------------------------------------------------------------------------------- */
qs_status klexpr_range_of(Lower *L, const RangeEnds *b, int i, RangeVal *out) {
    TRY(one_number(L, &b->lo[i], "the start of a range", &out->lo));
    double step;
    out->step = klnum_literal(L, 1, true);
    if (b->step) TRY(one_number(L, &b->step[i], "the step of a range", &out->step));
    if (klnum_known(L, out->step, &step) && step == 0)
        return klower_error(L, QS_EVALUE, L->pos, "the step of a range is 0");
    return one_number(L, &b->hi[i], "the end of a range", &out->hi);
}

/* The start and end of a range with a known length: x-1..x+1 has three elements for any x, as 0..2 has. */
static qs_status range_span(Lower *L, Num lo, Num hi, double *from, double *to) {
    Affine s;
    if (klnum_known(L, lo, from) && klnum_known(L, hi, to)) return QS_OK;
    bool known = ksubscript_span(&L->walk, klnum_index(L, lo, true), klnum_index(L, hi, true), &s);
    for (int i = 0; known && i < s.n; i++) TRY(klval_need(L, klnum_strong(s.term[i].ref, QS_I64)));
    if (known && !s.n) return *from = 0, *to = (double)s.constant, QS_OK;
    return klower_error(L, QS_EVALUE, L->pos,
                        "how many elements this range has must be known before the kernel runs; for a window that is "
                        "clipped, write loops over its elements, or the slice i-r..i+r of an array x : mat'safe");
}

static qs_status range_value(Lower *L, Node *n, Val *out) {
    RangeEnds b;
    RangeVal r;
    double from = 0, to = 0, step = 1;
    TRY(kstmt_bounds(&L->walk, n, 1, &b));
    L->pos = n->pos;
    TRY(klexpr_range_of(L, &b, 0, &r));
    if (!klnum_known(L, r.step, &step))
        return klower_error(L, QS_EVALUE, L->pos, "the step of this range must be known before the kernel runs");
    TRY(range_span(L, r.lo, r.hi, &from, &to));
    int64_t count = qdtype_sat_i64(qdtype_range_count(from, step, to), 0, KLOWER_UNROLL + 1);
    if (count > KLOWER_UNROLL)
        return klower_error(L, QS_ESHAPE, L->pos, "a range of more than %d elements cannot be a value in a kernel",
                            KLOWER_UNROLL);
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)count, sizeof *nums, sizeof *nums));
    for (int64_t i = 0; i < count; i++)
        TRY(klnum_binary(L, OP_ADD, r.lo, klnum_literal(L, (double)i * step, klnum_is_integral(r.step)), &nums[i]));
    klval_vector(L, nums, count, out);
    return QS_OK;
}

/* -- quotients of integral numbers --------------------------------------------------------------------------------- */
static bool exact_operands(Lower *L, const Val *a, const Val *b) {
    double x, y;
    if (!klval_is_number(a) || !klval_is_number(b) || !klnum_is_integral(klval_num(a, 0)) ||
        !klnum_is_integral(klval_num(b, 0)))
        return false;
    return !klnum_known(L, klval_num(a, 0), &x) || !klnum_known(L, klval_num(b, 0), &y);
}

qs_status klexpr_quotient(Lower *L, Node *n, bool down, Val *out, bool *exact) {
    Val a, b;
    TRY(klexpr_lower(L, n->u.bin.a, &a));
    TRY(klexpr_lower(L, n->u.bin.b, &b));
    L->pos = n->pos;
    *exact = a.kind != V_UNKNOWN && b.kind != V_UNKNOWN && exact_operands(L, &a, &b);
    if (!*exact) return klval_binary(L, OP_DIV, &a, &b, out);
    Num x = klval_num(&a, 0), y = klval_num(&b, 0);
    qs_dtype d = klnum_join(L, x, y);
    if (L->indexing || !qdtype_is_int(d)) d = QS_I64;
    KRef p = klnum_ref(L, x, d), q = klnum_ref(L, y, d);
    if (down) p = klnum_bin(L, K_SUB, p, klnum_bin(L, K_MOD, p, q));
    klval_number(L, klnum_strong(klnum_bin(L, K_DIV, p, q), d), out);
    return QS_OK;
}

/* -- operators ----------------------------------------------------------------------------------------------------- */
static void check_cheap(void *ud, Node **child) {
    if (*child && !klexpr_cheap(*child)) *(bool *)ud = false;
}

bool klexpr_cheap(const Node *n) {
    if (n->kind == N_INDEX || n->kind == N_LAMBDA) return false;
    if (n->kind == N_CALL) {
        const Node *f = n->u.call.callee;
        if (f->kind != N_IDENT || !f->u.ident.sym || f->u.ident.sym->kind != SYM_GLOBAL ||
            !klbuiltin_find(f->u.ident.name->s, &(int){0}))
            return false;
    }
    bool cheap = true;
    qast_children((Node *)(uintptr_t)n, check_cheap, &cheap);
    return cheap;
}

static void *mark_code(Walk *w) {
    KRef *from = qarena_alloc(w->arena, sizeof *from);
    return *from = w->f->nins, from;
}

static bool take_code_back(Walk *w, void *mark) {
    KRef from = *(const KRef *)mark;
    for (KRef r = from; r < w->f->nins; r++)
        if (w->f->ins[r].op == K_CHECK) return kbuild_take_back(w, from), true;
    return false;
}

static void boolean_value(Walk *w, KRef r, Val *out) { klval_number((Lower *)w, klnum_strong(r, QS_B1), out); }

static qs_status lower_binary(Walk *w, Op op, Val *a, Val *b, Val *out) {
    return klval_binary((Lower *)w, op, a, b, out);
}
static qs_status lower_unary(Walk *w, Op op, Val *a, Val *out) { return klval_unary((Lower *)w, op, a, out); }
static bool is_elementwise(const Val *v) { return v->kind != V_UNKNOWN && v->rank; }

static qs_status truth_of(Walk *w, const Val *v, KRef *out, int *known) {
    TRY(klval_truth((Lower *)w, v, out, known));
    if (!*out) *out = kbuild_int(w, QS_B1, 1); /* not known yet */
    return QS_OK;
}

static qs_status select_one(Lower *L, const Num *x, const void *ud, Num *out) {
    return *out = klnum_select(L, *(const KRef *)ud, x[0], x[1]), QS_OK;
}

/* Checks that both sides of ?: have one size.  Otherwise the condition must be known before the kernel runs. */
static qs_status check_sides(Lower *L, KRef c, const Val *a, const Val *b) {
    SmallShape met, of[] = {klval_shape(a), klval_shape(b)};
    bool fit = ksmall_meet(of, 2, &met) == 2 && ksmall_count(&of[0]) == ksmall_count(&of[1]);
    if (fit && ksmall_count(&met) == ksmall_count(&of[0])) return QS_OK;
    if (klval_is_early(L, c)) TRY(klval_need(L, klnum_strong(c, QS_B1)));
    return klower_error(L, QS_ESHAPE, L->pos,
                        "one side of `?:` is %s, the other %s; which of two sizes a value has must be known before the "
                        "kernel runs",
                        klval_type_name(L, a), klval_type_name(L, b));
}

static qs_status select_rule(Walk *w, KRef c, Val *a, Val *b, Val *out) {
    Lower *L = (Lower *)w;
    Val sides[2];
    TRY(klval_components(L, a, &sides[0]));
    TRY(klval_components(L, b, &sides[1]));
    if (sides[0].kind != V_UNKNOWN && sides[1].kind != V_UNKNOWN) TRY(check_sides(L, c, &sides[0], &sides[1]));
    TRY(klval_each(L, EL__COUNT, sides, 2, select_one, &c, out));
    if (out->rank) out->made = klval_made_either(L, c, &sides[0], &sides[1]);
    return QS_OK;
}

static bool has_many(const Val *v) {
    return (v->kind == V_NUM || v->kind == V_MEMORY) && v->rank && klval_count(v) != 1;
}

static bool has_elements(const Val *v) { return v->kind <= V_MEMORY && v->kind != V_VOID; }

/* Selects element by element; between values without elements, all elements of the condition decide. */
static qs_status choose_elements(Walk *w, Val *c, Val *a, Val *b, Val *out) {
    Lower *L = (Lower *)w;
    KRef all;
    int known;
    if (has_elements(a) && has_elements(b)) {
        TRY(klval_each(L, EL__COUNT, (Val[]){*c, *a, *b}, 3, klnum_choose, NULL, out));
        if (c->rank || !out->rank) return klval_make_together(L, out, (Val[]){*a, *b}, 2, true), QS_OK;
        return out->made = klval_made_either(L, klnum_truth(L, klval_num(c, 0)), a, b), QS_OK;
    }
    TRY(truth_of(w, c, &all, &known));
    if (known >= 0) return *out = known ? *a : *b, QS_OK;
    return select_rule(w, all, a, b, out);
}

typedef struct {
    Var *to;
    KRef c;
    Val first;
} Choice; /* first: value of the first branch; V_UNKNOWN before it is known */

static void *choice(Walk *w, const Node *n, KRef c) {
    Choice *made = qarena_alloc(w->arena, sizeof *made);
    *made = (Choice){.to = klvar_hidden((Lower *)w, n, 0), .c = c};
    klvar_hidden_begin((Lower *)w, made->to);
    return made;
}

static qs_status choice_set(Walk *w, void *ud, Val *v) {
    Lower *L = (Lower *)w;
    Choice *choice = ud;
    Val all;
    TRY(klval_components(L, v, &all));
    if (all.kind == V_UNKNOWN) return QS_OK;
    if (choice->first.kind != V_UNKNOWN) TRY(check_sides(L, choice->c, &choice->first, &all));
    choice->first = all;
    return klvar_hidden_set(L, choice->to, &all);
}

static void choice_get(Walk *w, void *choice, Val *out) { klvar_hidden_get((Lower *)w, ((Choice *)choice)->to, out); }

/* -- fields and meta functions ------------------------------------------------------------------------------------- */
qs_status klexpr_field(Lower *L, const Val *base, const Node *n, Var **var, const Record **of, int *number) {
    *of = NULL, *var = NULL;
    if (base->kind == V_UNKNOWN) return QS_OK;
    if (base->kind != V_OBJECT)
        return klower_error(L, QS_ETYPE, n->pos, "%s has no fields%s", klval_type_name(L, base),
                            base->kind == V_NUM && base->rank ? "; elements are read with brackets: x[0]" : "");
    const Record *r = base->u.rec;
    if (base->rank)
        return klower_error(L, QS_ETYPE, n->pos, "an array of objects has no fields: take one of them, as in x[i].%s",
                            n->u.field.name->s);
    for (int i = 0; i < r->nfields; i++)
        if (r->names[i] == n->u.field.name) return *of = r, *number = i, *var = r->vars ? r->vars[i] : NULL, QS_OK;
    return klower_error(L, QS_ENAME, n->pos, "there is no field %s that a kernel can use", n->u.field.name->s);
}

static qs_status lower_field(Walk *w, const Val *object, const Node *n, Val *out) {
    Lower *L = (Lower *)w;
    Var *v;
    const Record *r;
    int i;
    TRY(klexpr_field(L, object, n, &v, &r, &i));
    if (v) return klvar_read(L, v, n->pos, out);
    if (r) return klidx_field(L, object, i, n, out);
    return *out = (Val){0}, QS_OK;
}

/* $target("cpu"): whether the code is made for such a device.  The reference device is the processor, too. */
static qs_status lower_target(Lower *L, const Node *n, Val *out) {
    static const char *const kinds[] = {"cpu", "ref", "opencl", "cuda", "gpu"};
    const ArgList *args = &n->u.meta.args;
    const char *kind = args->n == 1 && args->at[0].value->kind == N_STR ? args->at[0].value->u.str->s : "";
    bool known = false, is = !strcmp(kind, "gpu") ? L->job->gpu : !strcmp(kind, L->job->device);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) known |= !strcmp(kind, kinds[i]);
    if (!known)
        return klower_error(L, QS_EVALUE, n->pos, "$target takes \"cpu\", \"ref\", \"opencl\", \"cuda\" or \"gpu\"");
    is |= !strcmp(kind, "cpu") && !strcmp(L->job->device, "ref");
    L->out->asks_device = true;
    return boolean_value(&L->walk, klnum_int(L, QS_B1, is), out), QS_OK;
}

static qs_status lower_meta(Lower *L, Node *n, Val *out) {
    const char *name = n->u.meta.name->s;
    static const char *const transparent[] = {"inline", "eval", "specialize", "check"};
    for (size_t i = 0; i < sizeof transparent / sizeof *transparent; i++)
        if (!strcmp(name, transparent[i]) && n->u.meta.args.n >= 1)
            return klexpr_lower(L, n->u.meta.args.at[0].value, out);
    if (!strcmp(name, "ftype") && n->u.meta.args.n == 1 && n->u.meta.args.at[0].value->kind == N_STR) {
        const char *which = n->u.meta.args.at[0].value->u.str->s;
        const char *is = L->in->func->qual == Q_KERNEL ? "__kernel__" : "__device__";
        return boolean_value(&L->walk, klnum_int(L, QS_B1, !strcmp(which, is)), out), QS_OK;
    }
    if (!strcmp(name, "target")) return lower_target(L, n, out);
    return klower_error(L, QS_ENAME, n->pos, "$%s cannot be used in a kernel", name);
}

static qs_status written_type(Lower *L, Node *n, Val *out) {
    int64_t size = n->u.type->kind == TE_NAME ? kltype_size(L, n->u.type->name) : 0;
    if (size) return klval_number(L, klnum_literal(L, (double)size, true), out), QS_OK;
    const Type *t;
    TypeMods mods;
    TRY(kltype_resolve(L, n->u.type, &t, &mods));
    return out->kind = V_TYPE, out->u.type = t, QS_OK;
}

static qs_status lower_other(Walk *w, Node *n, Val *out) {
    Lower *L = (Lower *)w;
    switch ((NodeKind)n->kind) {
    case N_STR: return out->kind = V_STRING, out->u.str = n->u.str, QS_OK;
    case N_META: return lower_meta(L, n, out);
    case N_RANGE: return range_value(L, n, out);
    case N_COLON: return out->kind = V_COLON, QS_OK;
    case N_TYPE: return written_type(L, n, out);
    default: return klower_error(L, QS_ETYPE, n->pos, "cells cannot be made in a kernel; a list of numbers is [a,b]");
    }
}

const ExprRules klexpr_rules = {
    .rereads = true,
    .literal = lower_literal,
    .unary = lower_unary,
    .binary = lower_binary,
    .boolean = boolean_value,
    .truth = truth_of,
    .elementwise = is_elementwise,
    .many = has_many,
    .choose = choose_elements,
    .cheap = klexpr_cheap,
    .mark = mark_code,
    .take_back = take_code_back,
    .select = select_rule,
    .choice = choice,
    .choice_set = choice_set,
    .choice_get = choice_get,
    .matrix = lower_matrix,
    .field = lower_field,
    .index = klidx_read,
    .other = lower_other,
};
