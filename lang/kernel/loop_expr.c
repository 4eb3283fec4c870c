/* loop_expr.c -- expressions and calls.  Functions of the program are inlined with locals of their own. */
#include "lang/kernel/looping.h"

#include <math.h>
#include <string.h>

qs_status kloop_number(Loops *L, Node *n, Number *out) {
    Value v;
    TRY(kloop_expr(L, n, &v));
    L->pos = n->pos;
    if (v.what != WHAT_NUMBER) return kloop_decline(L, n->pos, "a value that is no number");
    return *out = v.num, QS_OK;
}

qs_status kloop_cond(Loops *L, Node *n, KRef *out) {
    Number v;
    TRY(kloop_number(L, n, &v));
    return *out = kloop_truth(L, v), QS_OK;
}

/* -- choices ----------------------------------------------------------------------------------------------------- */
static void find_effect(void *ud, Node **child) {
    Node *n = *child;
    if (!n) return;
    if (n->kind == N_INDEX || n->kind == N_CALL) *(bool *)ud = true;
    qast_children(n, find_effect, ud);
}

/* Reads no memory and calls nothing.  Arithmetic of ints may fail all the same, which only its code shows. */
static bool is_plain(Node *n) {
    bool found = false;
    find_effect(&found, &n);
    return !found;
}

typedef struct { uint32_t nins, nfaults, loose, loose_pos; } Mark;

static Mark mark_of(const Loops *L) { return (Mark){L->f->nins, L->nfaults, L->loose, L->loose_pos}; }

/* The code since the mark may fail: it is taken back, to be made again where it is asked for. */
static bool take_back(Loops *L, Mark m) {
    if (L->loose == m.loose) return false;
    L->f->nins = m.nins, L->nfaults = m.nfaults, L->loose = m.loose, L->loose_pos = m.loose_pos;
    return true;
}

static void open_branch(Loops *L, KRef c) { kloop_emit(L, K_IF, QS_B1, c, 0, 0, 0); }

/* a && b with b computed only when a does not decide. */
static qs_status logical(Loops *L, Node *n, Number *out) {
    KRef a, b;
    bool is_and = n->op == OP_ANDAND;
    double k;
    TRY(kloop_cond(L, n->u.bin.a, &a));
    if (kir_is_const(L->f, a, &k) && (k != 0) != is_and) return *out = kloop_bool(a), QS_OK;
    if (is_plain(n->u.bin.b)) {
        Mark before = mark_of(L);
        TRY(kloop_cond(L, n->u.bin.b, &b));
        if (!take_back(L, before)) return *out = kloop_bool(kloop_op(L, is_and ? K_AND : K_OR, a, b)), QS_OK;
    }
    KRef local = kloop_emit(L, K_LOCAL, QS_B1, a, 0, 0, 0);
    bool *before = kloop_state(L);
    open_branch(L, is_and ? a : kir_fold(L->f, K_NOT, QS_B1, 0, a, 0, 0, L->pos));
    TRY(kloop_cond(L, n->u.bin.b, &b));
    kloop_emit(L, K_SET, QS_B1, local, b, 0, 0);
    kloop_emit(L, K_END, QS_B1, 0, 0, 0, 0);
    kloop_restore(L, before);
    return *out = kloop_bool(kloop_emit(L, K_GET, QS_B1, local, 0, 0, 0)), QS_OK;
}

static qs_status same_kind(Loops *L, const Node *n, Number a, Number b) {
    return a.kind == b.kind ? QS_OK : kloop_decline(L, n->pos, "two kinds of numbers in one expression with `?`");
}

/* Both sides may fail, so only one is computed.  The value lies in a LOCAL, a double without its twin. */
static qs_status branches(Loops *L, Node *n, KRef c, Number *out) {
    Number a, b;
    bool *before = kloop_state(L);
    static const qs_dtype dtypes[] = {[LOOP_NUM] = QS_F64, [LOOP_INT] = QS_I64, [LOOP_BOOL] = QS_B1};
    KRef locals[LOOP_BOOL + 1]; /* by kind, which is known only inside */
    for (unsigned k = LOOP_NUM; k <= LOOP_BOOL; k++)
        locals[k] = kloop_emit(L, K_LOCAL, QS_B1, kir_const_int(L->f, dtypes[k], 0, L->pos), 0, 0, 0);
    open_branch(L, c);
    TRY(kloop_number(L, n->u.ternary.then, &a));
    kloop_emit(L, K_SET, QS_B1, locals[a.kind], a.v, 0, 0);
    kloop_restore(L, before);
    kloop_emit(L, K_ELSE, QS_B1, 0, 0, 0, 0);
    TRY(kloop_number(L, n->u.ternary.other, &b));
    TRY(same_kind(L, n, a, b));
    kloop_emit(L, K_SET, QS_B1, locals[b.kind], b.v, 0, 0);
    kloop_emit(L, K_END, QS_B1, 0, 0, 0, 0);
    kloop_restore(L, before);
    *out =
        (Number){a.kind, kloop_emit(L, K_GET, QS_B1, locals[a.kind], 0, 0, 0), 0, fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
    return QS_OK;
}

static qs_status ternary(Loops *L, Node *n, Number *out) {
    KRef c;
    Number a, b;
    TRY(kloop_cond(L, n->u.ternary.cond, &c));
    if (!is_plain(n->u.ternary.then) || !is_plain(n->u.ternary.other)) return branches(L, n, c, out);
    Mark before = mark_of(L);
    TRY(kloop_number(L, n->u.ternary.then, &a));
    TRY(kloop_number(L, n->u.ternary.other, &b));
    if (take_back(L, before)) return branches(L, n, c, out);
    TRY(same_kind(L, n, a, b));
    return *out = kloop_choose(L, c, a, b), QS_OK;
}

/* -- built-ins --------------------------------------------------------------------------------------------------- */
typedef qs_status BuiltinFn(Loops *, int imm, const Number *args, Number *out);

static qs_status math_fn(Loops *L, int fn, const Number *a, Number *out) {
    return *out = kloop_num(kir_fold(L->f, K_MATH, QS_B1, (uint16_t)fn, kloop_real(L, a[0]), 0, 0, L->pos)), QS_OK;
}

static qs_status math_fn2(Loops *L, int fn, const Number *a, Number *out) {
    KRef x = kloop_real(L, a[0]), y = kloop_real(L, a[1]);
    return *out = kloop_num(kir_fold(L->f, K_MATH, QS_B1, (uint16_t)fn, x, y, 0, L->pos)), QS_OK;
}

/* Whole numbers stay what they are, ints as ints. */
static qs_status rounding(Loops *L, int fn, const Number *a, Number *out) {
    if (a->kind == LOOP_BOOL) return kloop_decline(L, L->pos, "a rounded truth value");
    if (a->kind == LOOP_INT || a->twin) return *out = *a, QS_OK;
    return math_fn(L, fn, a, out);
}

static qs_status abs_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    if (a->kind != LOOP_NUM) return kloop_decline(L, L->pos, "abs of an int or a truth value");
    *out = kloop_num(kir_fold(L->f, K_ABS, QS_B1, 0, a->v, 0, 0, L->pos));
    if (a->twin) {
        out->twin = kir_fold(L->f, K_ABS, QS_B1, 0, a->twin, 0, 0, L->pos);
        out->hi = fmax(fabs(a->lo), fabs(a->hi)), out->lo = 0;
    }
    return QS_OK;
}

static qs_status operator_fn(Loops *L, int op, const Number *a, Number *out) {
    return kloop_binary(L, (Op)op, a[0], a[1], out);
}

static qs_status sign_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    if (a->kind != LOOP_NUM) return kloop_decline(L, L->pos, "sign of an int or a truth value");
    KRef zero = kloop_f64(L, 0), x = a->v;
    KRef less = kir_fold(L->f, K_SELECT, QS_B1, 0, kloop_op(L, K_LT, x, zero), kloop_f64(L, -1), x, L->pos);
    x = kir_fold(L->f, K_SELECT, QS_B1, 0, kloop_op(L, K_LT, zero, x), kloop_f64(L, 1), less, L->pos);
    return *out = kloop_num(x), QS_OK;
}

static qs_status frac_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    KRef x = kloop_real(L, a[0]);
    *out = kloop_num(kloop_op(L, K_SUB, x, kir_fold(L->f, K_MATH, QS_B1, MF_floor, x, 0, 0, L->pos)));
    return QS_OK;
}

/* 0 not a number, 1 infinite, 2 finite */
static qs_status classify(Loops *L, int which, const Number *a, Number *out) {
    KRef x = kloop_real(L, a[0]), size = kir_fold(L->f, K_ABS, QS_B1, 0, x, 0, 0, L->pos), inf = kloop_f64(L, INFINITY);
    KRef c = which == 0 ? kloop_op(L, K_NE, x, x) : kloop_op(L, which == 1 ? K_EQ : K_LT, size, inf);
    return *out = kloop_bool(c), QS_OK;
}

static KRef real_mod(Loops *L, const Number *a) { return kloop_op(L, K_MOD, kloop_real(L, a[0]), kloop_real(L, a[1])); }

/* The remainder of integers is a machine instruction, that of doubles is not.  A zero has the sign of the modulus. */
static KRef quick_mod(Loops *L, const Number *a, KRef x, KRef y) {
    KRef result = kloop_emit(L, K_LOCAL, QS_B1, kloop_f64(L, 0), 0, 0, 0);
    open_branch(L, kloop_op(L, K_LT, kloop_i64(L, 0), y));
    kloop_emit(L, K_SET, QS_B1, result, kloop_cast(L, kloop_op(L, K_MOD, x, y), QS_F64), 0, 0);
    kloop_emit(L, K_ELSE, QS_B1, 0, 0, 0, 0);
    kloop_emit(L, K_SET, QS_B1, result, real_mod(L, a), 0, 0);
    kloop_emit(L, K_END, QS_B1, 0, 0, 0, 0);
    return kloop_emit(L, K_GET, QS_B1, result, 0, 0, 0);
}

static qs_status mod_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    KRef x = kloop_twin(L, a[0]), y = kloop_twin(L, a[1]);
    bool whole = x && y, positive = a[1].lo >= 1;
    if (a[0].kind == LOOP_INT && a[1].kind == LOOP_INT && !(whole && positive))
        return kloop_decline(L, L->pos, "mod of ints that may be large, or of one that may be below 1");
    if (!whole) return *out = kloop_num(real_mod(L, a)), QS_OK;
    if (!positive) return *out = kloop_num(quick_mod(L, a, x, y)), QS_OK;
    *out = kloop_whole(L, kloop_op(L, K_MOD, x, y), 0, a[1].hi - 1);
    if (a[0].kind == LOOP_INT && a[1].kind == LOOP_INT) *out = kloop_int(out->twin, out->lo, out->hi);
    return QS_OK;
}

static qs_status int_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    return *out = kloop_to_int(L, a[0]), QS_OK;
}

static qs_status float_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    return *out = kloop_to_num(L, a[0]), QS_OK;
}

/* clamp(x, lo, hi) and clamp(x, hi) */
static qs_status clamp_fn(Loops *L, int nargs, const Number *a, Number *out) {
    Number low;
    TRY(kloop_binary(L, OP_MAXEQ, a[0], nargs == 3 ? a[1] : kloop_const(L, 0), &low));
    return kloop_binary(L, OP_MINEQ, low, a[nargs - 1], out);
}

static const struct { const char *name; int nargs; BuiltinFn *fn; int imm; } builtins[] = {
    {"clamp", 2, clamp_fn, 2}, {"clamp", 3, clamp_fn, 3},
    {"sin", 1, math_fn, MF_sin}, {"cos", 1, math_fn, MF_cos}, {"tan", 1, math_fn, MF_tan},
    {"asin", 1, math_fn, MF_asin}, {"acos", 1, math_fn, MF_acos}, {"atan", 1, math_fn, MF_atan},
    {"sinh", 1, math_fn, MF_sinh}, {"cosh", 1, math_fn, MF_cosh}, {"tanh", 1, math_fn, MF_tanh},
    {"asinh", 1, math_fn, MF_asinh}, {"acosh", 1, math_fn, MF_acosh}, {"atanh", 1, math_fn, MF_atanh},
    {"exp", 1, math_fn, MF_exp}, {"exp2", 1, math_fn, MF_exp2}, {"expm1", 1, math_fn, MF_expm1},
    {"log", 1, math_fn, MF_log}, {"log2", 1, math_fn, MF_log2}, {"log10", 1, math_fn, MF_log10},
    {"log1p", 1, math_fn, MF_log1p}, {"sqrt", 1, math_fn, MF_sqrt}, {"cbrt", 1, math_fn, MF_cbrt},
    {"erf", 1, math_fn, MF_erf}, {"erfc", 1, math_fn, MF_erfc},
    {"floor", 1, rounding, MF_floor}, {"ceil", 1, rounding, MF_ceil}, {"round", 1, rounding, MF_round},
    {"trunc", 1, rounding, MF_trunc}, {"frac", 1, frac_fn, 0}, {"abs", 1, abs_fn, 0}, {"sign", 1, sign_fn, 0},
    {"int", 1, int_fn, 0}, {"float", 1, float_fn, 0}, {"isnan", 1, classify, 0},
    {"isinf", 1, classify, 1}, {"isfinite", 1, classify, 2},
    {"atan2", 2, math_fn2, MF_atan2}, {"hypot", 2, math_fn2, MF_hypot}, {"pow", 2, operator_fn, OP_POW},
    {"min", 2, operator_fn, OP_MINEQ}, {"max", 2, operator_fn, OP_MAXEQ}, {"mod", 2, mod_fn, 0}};

/* size(x,d) and numel(x) of arrays; a vec is 1xN. */
static qs_status extents(Loops *L, const char *name, const Value *args, int nargs, Value *out) {
    const LoopValue *h = &args[0].host;
    double d;
    KRef n = kloop_i64(L, 1);
    if (!strcmp(name, "numel"))
        for (int i = 0; i < h->rank; i++) n = kloop_op(L, K_MUL, n, kloop_extent(L, &args[0], i));
    else {
        if (nargs != 2 || args[1].what != WHAT_NUMBER || !kloop_known(L, args[1].num, &d) || d < 0 || d != floor(d))
            return kloop_decline(L, L->pos, "size of a dimension that is not known");
        int axis = (int)fmin(d, QS_MAX_RANK) - (h->rank == 1);
        if (axis >= 0 && axis < h->rank) n = kloop_extent(L, &args[0], axis);
    }
    out->what = WHAT_NUMBER;
    return out->num = kloop_whole(L, n, 0, 0x1p48), QS_OK;
}

static qs_status call_builtin(Loops *L, const char *name, const Value *args, int nargs, Value *out) {
    Number nums[3];
    bool array = nargs && args[0].what == WHAT_ARRAY;
    if (array && (!strcmp(name, "size") || !strcmp(name, "numel"))) return extents(L, name, args, nargs, out);
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(builtins[i].name, name) || builtins[i].nargs != nargs) continue;
        for (int k = 0; k < nargs; k++) {
            if (args[k].what != WHAT_NUMBER) return kloop_decline(L, L->pos, "%s of an array", name);
            nums[k] = args[k].num;
        }
        out->what = WHAT_NUMBER;
        return builtins[i].fn(L, builtins[i].imm, nums, &out->num);
    }
    return kloop_decline(L, L->pos, "a call of %s", name);
}

/* -- functions of the program ------------------------------------------------------------------------------------ */
static Inline *inline_of(Loops *L, const Node *site, Func *f) {
    for (Inline *i = L->in->child; i; i = i->next)
        if (i->site == site && i->func == f) return i;
    Inline *i = qarena_alloc(L->keep, sizeof *i);
    i->up = L->in, i->site = site, i->func = f, i->next = L->in->child;
    i->nvars = f->nlocals;
    i->vars = qarena_alloc(L->keep, (size_t)(f->nlocals + 1) * sizeof *i->vars);
    for (int k = 0; k < f->nlocals; k++) i->vars[k].sym = f->locals[k];
    L->changed = true; /* its variables are declared at the start of the next pass */
    return L->in->child = i;
}

static qs_status may_inline(Loops *L, const Func *f, int nargs, int wanted) {
    const char *name = f->name->s;
    if (f->ncaptures || f->ntyparams || f->qual == Q_KERNEL || nargs != f->nparams || (wanted > 1 && wanted > f->nouts))
        return kloop_decline(L, L->pos, "a call of %s", name);
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].variadic) return kloop_decline(L, L->pos, "a call of %s", name);
    if (L->f->nins > LOOP_LONGEST) return kloop_decline(L, L->pos, "%s makes it too long", name);
    if (L->calls >= LOOP_CALLS) return kloop_decline(L, L->pos, "%s calls itself", name);
    return QS_OK;
}

/* Numbers are converted; of arrays it must be known that they are what is wanted. */
static qs_status accept_type(Loops *L, const Func *f, const Param *p, Value *v) {
    static const char *const ranks[] = {"scalar", "vec", "mat", "cube"};
    const TypeExpr *t = p->type;
    if (!t) return QS_OK;
    if (v->what == WHAT_NUMBER) return kloop_convert(L, t->kind == TE_NAME ? t->name : NULL, &v->num);
    bool real = v->what == WHAT_ARRAY && (v->host.dtype == L->c->scalar_dtype);
    if (real && t->kind == TE_NAME && v->host.rank < 4 && !strcmp(t->name->s, ranks[v->host.rank])) return QS_OK;
    return kloop_decline(L, L->pos, "a call of %s, whose parameter %s has a type", f->name->s, p->name->s);
}

static qs_status bind(Loops *L, Var *v, const Value *x) {
    if (x->what == WHAT_NUMBER) return kloop_assign(L, v, x->num);
    v->bound = v->set = true, v->val = *x;
    return QS_OK;
}

static qs_status results_of(Loops *L, Inline *in, Value *out, int wanted) {
    const Func *f = in->func;
    if (!f->nouts) return f->expr ? kloop_expr(L, f->expr, out) : QS_OK;
    for (int i = 0; i < wanted || i == 0; i++) {
        TRY(kloop_read(L, f->outs[i].sym, &out[i]));
        TRY(accept_type(L, f, &f->outs[i], &out[i]));
    }
    return QS_OK;
}

static qs_status call_function(Loops *L, Node *site, Func *f, Value *args, int nargs, Value *out, int wanted) {
    TRY(may_inline(L, f, nargs, wanted));
    Inline *in = inline_of(L, site, f), *up = L->in;
    Exits *exits = L->exits;
    for (int i = 0; i < in->nvars; i++) in->vars[i].set = in->vars[i].bound = false;
    for (int i = 0; i < nargs; i++) TRY(accept_type(L, f, &f->params[i], &args[i]));
    uint32_t pos = L->pos;
    L->in = in, L->exits = NULL, L->calls++;
    for (int i = 0; i < nargs; i++) TRY(bind(L, &in->vars[f->params[i].sym->index], &args[i]));
    TRY(kloop_body(L, in));
    TRY(results_of(L, in, out, wanted));
    L->in = up, L->exits = exits, L->calls--, L->pos = pos;
    return QS_OK;
}

/* uint8(x), scalar(x) … */
static qs_status convert(Loops *L, const Str *type, const Value *args, int nargs, Value *out) {
    if (nargs != 1 || args[0].what != WHAT_NUMBER) return kloop_decline(L, L->pos, "%s of an array", type->s);
    out->what = WHAT_NUMBER, out->num = args[0].num;
    return kloop_convert(L, type, &out->num);
}

qs_status kloop_call(Loops *L, Node *n, Value *out, int wanted) {
    Node *callee = n->u.call.callee;
    const ArgList *list = &n->u.call.args;
    Value fn, *args = qarena_alloc(L->arena, (size_t)(list->n + 1) * sizeof *args);
    *out = (Value){.what = WHAT_NOTHING};
    if (callee->kind != N_IDENT || !callee->u.ident.sym) return kloop_decline(L, n->pos, "a call of a method");
    const Sym *sym = callee->u.ident.sym;
    if (sym->kind != SYM_TYPE) TRY(kloop_read(L, sym, &fn));
    for (int i = 0; i < list->n; i++) {
        if (list->at[i].name || list->at[i].type) return kloop_decline(L, n->pos, "a call with named arguments");
        TRY(kloop_expr(L, list->at[i].value, &args[i]));
    }
    L->pos = n->pos;
    if (sym->kind == SYM_TYPE) return convert(L, sym->name, args, list->n, out);
    if (fn.what != WHAT_FUNCTION) return kloop_decline(L, n->pos, "a call of %s", sym->name->s);
    if (!fn.host.func && wanted > 1) return kloop_decline(L, n->pos, "several results of %s", sym->name->s);
    TRY(fn.host.func ? call_function(L, n, fn.host.func, args, list->n, out, wanted)
                     : call_builtin(L, fn.host.builtin, args, list->n, out));
    if (wanted && out->what == WHAT_NOTHING) return kloop_decline(L, n->pos, "%s gives no value", sym->name->s);
    return QS_OK;
}

/* -- expressions ------------------------------------------------------------------------------------------------- */
static qs_status binary(Loops *L, Node *n, Number *out) {
    Number a, b;
    if (n->op == OP_ANDAND || n->op == OP_OROR) return logical(L, n, out);
    TRY(kloop_number(L, n->u.bin.a, &a));
    TRY(kloop_number(L, n->u.bin.b, &b));
    L->pos = n->pos;
    return kloop_binary(L, (Op)n->op, a, b, out);
}

static qs_status unary(Loops *L, Node *n, Number *out) {
    Number a;
    TRY(kloop_number(L, n->u.bin.a, &a));
    L->pos = n->pos;
    return kloop_unary(L, (Op)n->op, a, out);
}

qs_status kloop_expr(Loops *L, Node *n, Value *out) {
    L->pos = n->pos;
    *out = (Value){.what = WHAT_NUMBER};
    switch ((NodeKind)n->kind) {
    case N_NUM:
        if (n->u.num.imaginary) return kloop_decline(L, n->pos, "a complex number");
        return out->num = kloop_const(L, n->u.num.value), QS_OK;
    case N_IDENT: return kloop_read(L, n->u.ident.sym, out);
    case N_UNARY: return unary(L, n, &out->num);
    case N_BINARY: return binary(L, n, &out->num);
    case N_TERNARY: return ternary(L, n, &out->num);
    case N_INDEX: return kloop_load(L, n, &out->num);
    case N_CALL: return kloop_call(L, n, out, 1);
    case N_STR: return kloop_decline(L, n->pos, "a string");
    case N_MATRIX: return kloop_decline(L, n->pos, "an array made in the loop");
    case N_FIELD: return kloop_decline(L, n->pos, "a field of an object");
    case N_LAMBDA: return kloop_decline(L, n->pos, "a function made in the loop");
    case N_RANGE: case N_COLON: return kloop_decline(L, n->pos, "a slice or a range as a value");
    default: return kloop_decline(L, n->pos, "an expression of this kind");
    }
}
