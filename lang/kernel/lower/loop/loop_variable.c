/* loop_variable.c -- imports the values that a loop uses, reads and assigns its variables, and emits its tests.
 *
 * A variable is stored in a LOCAL for its value and one for its twin; for variables of kernels, which are bound to
 * values, see kernel/lower_var.c.  Facts about a variable (type, bounds, whether it may have a fraction) are kept
 * from pass to pass; `set` is updated along the statements and means that it certainly has a value.
 *
 * The value of a variable is known while its block is open: if it was set or read in this block or an enclosing one,
 * its value is used directly, so `k = i+1` before `x[k]` hides no counter from the tests and the dependence analysis,
 * and two indices with one variable are tested once.  At the beginning of a loop the values of variables that the body
 * sets are forgotten; a branch forgets at its end, because its block is closed.  Reading a variable that may have no
 * value is a test, like an index test. */
#include "lang/kernel/lower/loop/loop_internal.h"

#include "lang/syntax/fold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROWTH = 6 }; /* number of times that bounds may widen before they are given up */
/* A number that changes only in small steps stays exact for as long as any program can run: from COUNTED to 2^53,
 * beyond which doubles are not exact, takes 2^48 steps. */
static const double COUNTED = 0x1p52, STEP = 16;

/* -- parameters ---------------------------------------------------------------------------------------------------- */
int kloop_param(Loops *L, const KParam *p, LoopBind b) {
    if (L->module || L->callees) return kfunction_param(L, p, b);
    for (int i = 0; i < L->f->nparams; i++)
        if (L->binds[i].kind == b.kind && L->binds[i].index == b.index && L->f->params[i].dtype == p->dtype) return i;
    int i = kir_param(L->f, p);
    qmem_grow(L->c, &L->binds, &L->cap_binds, (uint32_t)i, sizeof *L->binds);
    L->binds[i] = b;
    return i;
}

KRef kloop_number_param(Loops *L, Str *name, qs_dtype d, LoopBind b) {
    KParam p = {.name = name, .kind = KP_NUM, .dtype = (uint8_t)d};
    return kbuild_pure(&L->walk, (KMake){K_PARAM, .own = d, .imm = (uint64_t)kloop_param(L, &p, b)});
}

int kloop_results_param(Loops *L, LoopBindKind kind) {
    KParam p = {.name = qstr_cname(L->c, kind == LOOP_REALS ? "reals" : "wholes"),
                .kind = KP_ARRAY,
                .dtype = kind == LOOP_REALS ? QS_F64 : QS_I64,
                .rank = 1,
                .contiguous = true,
                .unit_last = true};
    return kloop_param(L, &p, (LoopBind){(uint8_t)kind, 0});
}

/* -- variables ----------------------------------------------------------------------------------------------------- */
Var *kloop_find_var(InlineFrame *in, const Sym *sym) {
    for (int i = 0; i < in->nvars; i++)
        if (in->vars[i].sym == sym ||
            (sym->kind == SYM_GLOBAL && in->vars[i].sym->kind == SYM_GLOBAL && in->vars[i].sym->index == sym->index))
            return &in->vars[i];
    return NULL;
}

Var *kloop_var(Loops *L, const Sym *sym) {
    bool global = sym->kind == SYM_GLOBAL;
    InlineFrame *in = global ? L->root : L->in;
    if (!global && sym->kind != SYM_LOCAL) return NULL;
    return kloop_find_var(in, sym);
}

static Number entry_number(Loops *L, const LoopValue *v, Str *name) {
    LoopBind b = {LOOP_SOURCE, v->source};
    double most = v->small ? LOOP_SMALL : 0x1p31; /* for an integral number */
    if (v->fixed && v->kind == LOOP_NUM) return kloop_const(L, v->number);
    if (v->fixed) return kloop_int(kloop_i64(L, (int64_t)v->number), v->number, v->number);
    switch ((LoopKind)v->kind) {
    case LOOP_INT: {
        KRef param = kloop_number_param(L, name, QS_I64, b);
        return v->integral ? kloop_int(param, -most, most) : kloop_wide(L, param);
    }
    case LOOP_BOOL: return kloop_bool(kloop_number_param(L, name, QS_B1, b));
    case LOOP_CHAR: return kloop_int(kloop_number_param(L, name, QS_I64, b), 0, 127);
    case LOOP_COMPLEX:
        return kloop_complex(kloop_number_param(L, name, QS_F64, b),
                             kloop_number_param(L, name, QS_F64, (LoopBind){LOOP_IMAGINARY, v->source}));
    default:
        if (v->integral) return kloop_from_int(L, kloop_number_param(L, name, QS_I64, b), -most, most);
        return kloop_num(kloop_number_param(L, name, QS_F64, b));
    }
}

/* A short array of numbers, loaded before the first iteration. */
static Value entry_vector(Loops *L, const Var *var, Str *name) {
    const LoopValue *v = &var->entry;
    KParam p = {.name = name, .kind = KP_ARRAY, .dtype = v->dtype, .rank = v->rank, .contiguous = true};
    p.unit_last = true;
    uint64_t param = (uint64_t)kloop_param(L, &p, (LoopBind){LOOP_SNAPSHOT, v->source});
    Value x = kloop_vector(L, var->n);
    x.cols = var->cols, x.f64 = kloop_width(L, (qs_dtype)v->dtype), x.array = kloop_entry_number(L, var);
    for (int i = 0; i < x.n; i++) {
        KRef e = kbuild_emit(
            &L->walk, (KMake){K_LOAD, .own = kir_value_dtype((qs_dtype)v->dtype), .a = kloop_i64(L, i), .imm = param});
        x.at[i] = kloop_num(kloop_cast(L, e, QS_F64));
    }
    return x;
}

Value kloop_entry(Loops *L, const Var *v) {
    Str *name = v->sym->name;
    if (v->kind == LOOP_VECTOR) return entry_vector(L, v, name);
    if (v->kind == LOOP_ITEM) return kobject_value(L, v->item_cls, kobject_entry(L, v));
    if (v->kind == LOOP_ARRAY) return (Value){.what = WHAT_ARRAY, .array = kloop_i64(L, -1 - v->entry.source)};
    Number n = entry_number(L, &v->entry, name);
    if (v->kind == LOOP_CHAR) return (Value){.what = WHAT_CHAR, .num = n};
    return (Value){.what = WHAT_NUMBER, .num = v->kind == LOOP_COMPLEX ? kloop_to_complex(L, n) : n};
}

/* Makes *out from the host value v, which the program calls `called`. */
static qs_status import_value(Loops *L, const LoopValue *v, Str *called, Value *out) {
    out->host = *v, out->name = called;
    switch ((LoopKind)v->kind) {
    case LOOP_NUM:
    case LOOP_INT:
    case LOOP_BOOL:
    case LOOP_COMPLEX: out->what = WHAT_NUMBER, out->num = entry_number(L, v, called); return QS_OK;
    case LOOP_CHAR: out->what = WHAT_CHAR, out->num = entry_number(L, v, called); return QS_OK;
    case LOOP_ARRAY: out->what = WHAT_ARRAY; return QS_OK;
    case LOOP_FUNC:
    case LOOP_OVERLOADS:
    case LOOP_BUILTIN: out->what = WHAT_FUNCTION; return QS_OK;
    case LOOP_OBJECT: out->what = WHAT_OBJECT; return kobject_give_number(L, out), QS_OK;
    case LOOP_CELL: out->what = WHAT_CELL; return QS_OK;
    case LOOP_UNSET: return kloop_decline(L, L->pos, "%s has no value", called->s);
    case LOOP_STRING: return out->what = WHAT_STRING, QS_OK;
    default:
        return kloop_decline(L, L->pos, "%s is neither a number nor an array of numbers, which are compiled",
                             called->s);
    }
}

qs_status kloop_outside(Walk *w, const Sym *sym, uint32_t pos, Value *out) {
    Loops *L = (Loops *)w;
    LoopValue v = {0};
    double k;
    (void)pos;
    L->job->value(L->job->ud, L->in->source, sym, &v);
    if (L->module && sym->kind == SYM_GLOBAL) kfunction_reads(L, sym, -1, NULL);
    *out = (Value){.sym = sym, .mods = sym->mods};
    if (v.kind == LOOP_BUILTIN && kquery_constant(v.builtin, &k))
        return out->what = WHAT_NUMBER, out->num = kloop_const(L, k), QS_OK;
    return import_value(L, &v, sym->name, out);
}

static qs_status no_value(Loops *L, const Var *v) {
    if (v->replaced) {
        L->out->types_settle = true;
        return kloop_decline(L, L->pos, "%s is of a different type before the loop", v->sym->name->s);
    }
    if (L->mode == MODE_PARALLEL && v->entry.kind != LOOP_UNSET)
        return kloop_decline(L, L->pos, "%s is carried from one iteration to the next", v->sym->name->s);
    return kloop_decline(L, L->pos, "%s may have no value here", v->sym->name->s);
}

/* Whether the variable is a real number before the loop and is read when it may already be complex. */
static bool was_real(const Loops *L, const Var *v) {
    bool read = L->mode != MODE_PARALLEL && v->replaced && !v->live;
    return read && v->replacee.kind == LOOP_NUM && v->kind == LOOP_COMPLEX;
}

static bool is_real(uint8_t kind) { return kind >= LOOP_NUM && kind <= LOOP_MIXED; }

/* From here on the variable holds values of several types. */
static void mix_types(Loops *L, Var *v, uint8_t kind) {
    const uint8_t kinds[] = {v->kind, kind};
    for (int i = 0; i < 2; i++) v->ints |= kinds[i] == LOOP_INT, v->truths |= kinds[i] == LOOP_BOOL;
    v->kind = LOOP_MIXED, v->reduce = 0, v->v = v->twin = 0, v->home = NULL;
    L->changed = true;
}

bool kloop_is_number_name(Walk *w, const Node *name) {
    Loops *L = (Loops *)w;
    const Sym *sym = name->u.ident.sym;
    const Var *v = sym ? kloop_var(L, sym) : NULL;
    LoopValue before = {0};
    if (!v && sym) L->job->value(L->job->ud, L->in->source, sym, &before);
    return v ? (v->bound ? v->val.what == WHAT_NUMBER && is_real(v->val.num.kind) : v->set && is_real(v->kind))
             : before.kind >= LOOP_NUM && before.kind <= LOOP_BOOL;
}

/* Whether the variable has a value of another type before the loop, and is read when it may still have it. */
static bool was_other(const Loops *L, const Var *v) {
    return L->mode != MODE_PARALLEL && v->replaced && is_real(v->kind) && is_real(v->replacee.kind);
}

/* Reading a variable that may have no value is an error at run time, or makes the loop decline. */
qs_status kloop_doubt(Loops *L, Var *v, const char *sentence) {
    if (was_real(L, v)) {
        v->entry = v->replacee, v->replaced = false, v->maybe = MAYBE_REAL;
        return v->set = L->changed = true, QS_OK;
    }
    if (was_other(L, v)) {
        v->entry = v->replacee, v->replaced = false, v->set = true;
        Number before = {.kind = v->entry.kind};
        mix_types(L, v, v->entry.kind);
        if (v->entry.integral || before.kind == LOOP_BOOL) {
            double most = before.kind == LOOP_BOOL ? 1 : v->entry.small ? LOOP_SMALL : 0x1p31;
            v->lo = fmin(v->lo, before.kind == LOOP_BOOL ? 0 : -most), v->hi = fmax(v->hi, most);
        } else if (before.kind == LOOP_INT) v->lo = -0x1p63, v->hi = 0x1p63;
        else v->fraction = true;
        return QS_OK;
    }
    if (L->mode == MODE_PARALLEL || v->replaced || (v->doubted && v->kind == LOOP_UNSET)) return no_value(L, v);
    kbuild_learn(&L->walk, &v->doubted);
    if (v->given) kloop_fail_unless(L, kbuild_get(&L->walk, v->given), QS_ENAME, sentence, 0, 0);
    return v->set = true, QS_OK;
}

static qs_status doubt_read(Loops *L, Var *v) {
    char text[160];
    snprintf(text, sizeof text, "%.100s is used before it has a value", v->sym->name->s);
    return kloop_doubt(L, v, text);
}

/* The elements of a short vector are loaded before the first iteration; other variables may hold the same array. */
static void enter_vector(Loops *L, Var *v) {
    const LoopValue *e = &v->entry;
    int rows, cols;
    if (!kloop_is_short(L, e, &rows, &cols)) return;
    v->kind = LOOP_VECTOR, v->n = rows * cols, v->cols = e->rank > 1 ? cols : 0, v->foreign = true;
    v->varies = e->dtype != L->c->scalar_dtype;
}

void kloop_enter_var(Loops *L, Var *v) {
    if (v->entry.kind == LOOP_UNSET) return;
    v->kind = v->entry.kind;
    if (v->kind == LOOP_ARRAY) enter_vector(L, v);
    kloop_enter_bounds(v);
}

/* Gives the variable, which may be LOOP_MIXED, the bounds of its value before the loop. */
void kloop_enter_bounds(Var *v) {
    uint8_t kind = v->entry.kind;
    if (kind == LOOP_NUM && !v->entry.integral) v->fraction = true;
    if (kind == LOOP_INT) v->lo = -0x1p63, v->hi = 0x1p63;
    if (kind != LOOP_BOOL && v->entry.integral) v->hi = v->entry.small ? LOOP_SMALL : 0x1p31, v->lo = -v->hi;
    if (kind == LOOP_BOOL) v->lo = 0, v->hi = 1;
}

/* -- fields -------------------------------------------------------------------------------------------------------- */
Var *kloop_field_var(const Loops *L, int object, const Str *name) {
    for (int i = 0; i < L->root->nvars; i++) {
        Var *v = &L->root->vars[i];
        if (v->object == object && object >= 0 && qstr_equal(v->sym->name, name)) return v;
    }
    return NULL;
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */
/* Whether the loop may set the variable.  Functions that it calls may set fields, and an array with several names is
 * perhaps changed by another name. */
static bool may_set(const Node *loop, const Var *v) { return v->object >= 0 || v->shared || kquery_sets(loop, v->sym); }

void kloop_forget(Loops *L, const Node *loop) {
    for (InlineFrame *in = L->in; in; in = in->up)
        for (int i = 0; i < in->nvars; i++)
            if (in->vars[i].home && may_set(loop, &in->vars[i])) in->vars[i].home = NULL;
}

static bool is_from(const Number *n, KRef from) {
    return n->v >= from || n->twin >= from || n->is_int >= from || n->is_bool >= from;
}

static bool holds_from(const Value *v, KRef from) {
    bool vector = v->what == WHAT_VECTOR, gone = vector && (v->f64 >= from || v->array >= from);
    for (int i = 0; vector && i < v->n; i++) gone |= is_from(&v->at[i], from);
    bool number = v->what == WHAT_NUMBER || v->what == WHAT_CHAR || v->what == WHAT_OBJECT;
    return gone || (number && is_from(&v->num, from));
}

static void forget_from(InlineFrame *in, KRef from) {
    for (int i = 0; i < in->nvars; i++)
        if (in->vars[i].home && holds_from(&in->vars[i].val, from)) in->vars[i].home = NULL;
    for (InlineFrame *i = in->child; i; i = i->next) forget_from(i, from);
}

void kloop_forget_from(Loops *L, KRef from) {
    while (L->nwraps && L->wraps[L->nwraps - 1].mod >= from) L->nwraps--;
    forget_from(L->root, from);
}

/* -- reading ------------------------------------------------------------------------------------------------------- */
static bool is_declared(const Var *v) { return v->kind == LOOP_VECTOR ? v->part != NULL : v->v || v->twin; }

/* Whether each assignment changes the value and makes it an int, so that the value says which type it has. */
static bool shows_type(const Var *v) {
    return v->extreme && !v->fraction && !v->others && v->entry.kind >= LOOP_NUM && v->entry.kind <= LOOP_BOOL;
}

static void derive_type(Loops *L, const Var *v, Number *n) {
    KRef changed = kloop_op(L, K_NE, n->twin, kloop_as_int(L, kloop_entry(L, v).num));
    n->is_int = v->entry.kind == LOOP_INT ? kbuild_int(&L->walk, QS_B1, 1) : changed;
    n->is_bool = v->entry.kind == LOOP_BOOL ? kloop_not(L, changed) : 0;
}

Number kloop_held_number(Loops *L, const Var *v) {
    Number n = {.kind = LOOP_MIXED, .lo = v->lo, .hi = v->hi, .integral = !v->fraction};
    n.unsigned_zero = n.integral && !v->v;
    if (v->twin) n.twin = kbuild_get(&L->walk, v->twin);
    n.v = v->v ? kbuild_get(&L->walk, v->v) : kloop_cast(L, n.twin, QS_F64);
    if (shows_type(v)) return derive_type(L, v, &n), n;
    if (v->is_int) n.is_int = kbuild_get(&L->walk, v->is_int);
    if (v->is_bool) n.is_bool = kbuild_get(&L->walk, v->is_bool);
    return n;
}

static Value from_locals(Loops *L, Var *v) {
    Value x = {.what = WHAT_NUMBER, .num = {.kind = v->kind, .lo = v->lo, .hi = v->hi}};
    if (v->kind == LOOP_VECTOR) {
        x = kloop_vector(L, v->n), x.cols = v->cols;
        for (int i = 0; i < v->n; i++) x.at[i] = kloop_num(kbuild_get(&L->walk, v->part[i]));
        if (v->f64) x.f64 = kbuild_get(&L->walk, v->f64);
        if (v->array) x.array = kbuild_get(&L->walk, v->array);
        /* Here it may still have its value from before the loop. */
        uint64_t entry = v->entry.kind == LOOP_ARRAY && v->entry.source < LOOP_TWO ? LOOP_LIKE(v->entry.source) : 0;
        if ((v->like | entry) != v->like) v->like |= entry, L->changed = true;
        x.like = v->like;
        return x;
    }
    if (!is_declared(v)) { /* declared in the next pass */
        if (v->kind == LOOP_CHAR) return (Value){.what = WHAT_CHAR, .num = kloop_int(kloop_i64(L, 0), 0, 127)};
        if (v->kind == LOOP_ITEM) return kobject_value(L, v->item_cls, kloop_i64(L, 0));
        return (Value){.what = WHAT_NUMBER, .num = kloop_const(L, 0)};
    }
    if (v->kind == LOOP_MIXED) return (Value){.what = WHAT_NUMBER, .num = kloop_held_number(L, v)};
    if (v->kind == LOOP_ITEM) return kobject_value(L, v->item_cls, kbuild_get(&L->walk, v->v));
    if (v->kind == LOOP_CHAR) return (Value){.what = WHAT_CHAR, .num = kloop_int(kbuild_get(&L->walk, v->v), 0, 127)};
    if (!v->v) {
        x.num = kloop_from_int(L, kbuild_get(&L->walk, v->twin), v->lo, v->hi);
        return x;
    }
    x.num.v = kbuild_get(&L->walk, v->v);
    if (v->kind == LOOP_COMPLEX) x.num.im = kbuild_get(&L->walk, v->im), x.num.maybe = v->maybe;
    if (v->kind == LOOP_NUM && !v->fraction && v->twin) x.num.twin = kbuild_get(&L->walk, v->twin);
    return x;
}

/* A row is known in the block that has set it. */
static qs_status read_row(Loops *L, Var *v, Value *out) {
    if (!kbuild_is_open(v->home))
        return kloop_decline(L, L->pos, "%s is a slice of a length that is not known, from another place",
                             v->sym->name->s);
    *out = v->val, out->name = v->sym->name, out->sym = v->sym;
    return QS_OK;
}

/* The loop sets the variable, which holds an object before: it is an object with a number. */
static void enter_object(Loops *L, Var *v) {
    int cls = v->entry.cls ? kobject_class(L, v->entry.cls) : -1;
    if (cls >= 0) v->kind = LOOP_ITEM, v->item_cls = cls, v->set = L->changed = true;
}

static qs_status read_var(Loops *L, Var *v, Value *out) {
    if (v->bound) return *out = v->val, QS_OK;
    if (v->kind == LOOP_ARRAY) return kloop_read_array(L, v, out);
    if (v->kind == LOOP_ROW) return read_row(L, v, out);
    if (v->kind == LOOP_LIST && v->set) return *out = v->val, QS_OK;
    if (v->kind == LOOP_OBJECT && L->mode == MODE_EXACT) enter_object(L, v);
    if (!v->set) TRY(doubt_read(L, v));
    /* A called function would see the partial result of the chunk. */
    bool part = L->mode == MODE_PARALLEL && v->reduce && L->in != L->root;
    if (part) return kloop_decline(L, L->pos, "%s is read by a function that the loop calls", v->sym->name->s);
    bool known = kbuild_is_open(v->home);
    *out = known ? v->val : from_locals(L, v);
    /* The next read knows the facts that one read has tested, such as an index. */
    if (!known && (out->what == WHAT_NUMBER || out->what == WHAT_VECTOR)) v->home = L->block, v->val = *out;
    out->name = v->sym->name, out->sym = v->sym;
    if (out->what == WHAT_VECTOR) out->origin = v;
    return QS_OK;
}

qs_status kloop_variable(Walk *w, const Sym *sym, uint32_t pos, Value *out, bool *found) {
    Loops *L = (Loops *)w;
    Var *v = kloop_var(L, sym);
    (void)pos;
    *found = v != NULL;
    return v ? read_var(L, v, out) : QS_OK;
}

/* -- assigning ----------------------------------------------------------------------------------------------------- */
static const char *kind_name(uint8_t kind) {
    static const char *const names[] = {[LOOP_UNSET] = "nothing",
                                        [LOOP_NUM] = "a number",
                                        [LOOP_INT] = "an int",
                                        [LOOP_BOOL] = "a truth value",
                                        [LOOP_MIXED] = "a number of several types",
                                        [LOOP_COMPLEX] = "a complex number",
                                        [LOOP_CHAR] = "a character",
                                        [LOOP_ITEM] = "an object",
                                        [LOOP_VECTOR] = "a vector",
                                        [LOOP_ARRAY] = "an array",
                                        [LOOP_FUNC] = "a function",
                                        [LOOP_OVERLOADS] = "a function",
                                        [LOOP_BUILTIN] = "a function",
                                        [LOOP_OBJECT] = "an object",
                                        [LOOP_CELL] = "a cell",
                                        [LOOP_ROW] = "a slice",
                                        [LOOP_LIST] = "a list",
                                        [LOOP_STRING] = "a string",
                                        [LOOP_OTHER] = "something else"};
    return names[kind];
}

static void learn_bounds(Loops *L, Var *v, Number n) {
    if (n.kind == LOOP_COMPLEX) return;
    if (v->kind == LOOP_MIXED && !n.unsigned_zero && (n.kind == LOOP_NUM || n.kind == LOOP_MIXED))
        kbuild_learn(&L->walk, &v->signed_zero);
    if (!kloop_is_integral(n)) kbuild_learn(&L->walk, &v->fraction);
    if (!kloop_is_integral(n) && !n.is_int) return;
    if (L->speculates && v->kind == LOOP_NUM && !n.unsigned_zero && n.kind == LOOP_NUM)
        kbuild_learn(&L->walk, &v->signed_zero);
    if (v->kind == LOOP_MIXED && v->fraction && !kloop_may_be_int(n)) return;
    bool lower = n.lo<v->lo, higher = n.hi> v->hi;
    if ((v->fraction && v->kind == LOOP_NUM) || (!lower && !higher)) return;
    bool counts = n.lo >= -COUNTED - STEP && n.hi <= COUNTED + STEP;
    if (v->counted && counts && (!lower || v->lo == -COUNTED) && (!higher || v->hi == COUNTED)) return;
    L->changed = true;
    double before[] = {v->lo, v->hi};
    v->lo = fmin(v->lo, n.lo), v->hi = fmax(v->hi, n.hi);
    if (++v->grown <= GROWTH) return;
    bool number = v->kind == LOOP_NUM || (v->kind == LOOP_MIXED && !kloop_may_be_int(n));
    bool alone = v->kind == LOOP_NUM || v->kind == LOOP_INT || !v->fraction;
    bool small_steps = counts && (!v->counted || v->lo > -COUNTED || v->hi < COUNTED);
    if (alone && small_steps) {
        v->counted = true;
        v->lo = lower ? -COUNTED : before[0], v->hi = higher ? COUNTED : before[1];
        return;
    }
    if (L->speculates && v->demanded && kloop_may_be_demanded(v)) {
        v->lo = lower ? -LOOP_EXACT_MOST : before[0], v->hi = higher ? LOOP_EXACT_MOST : before[1];
        return;
    }
    if (v->kind == LOOP_INT || (v->kind == LOOP_MIXED && !number && !counts)) v->lo = -0x1p63, v->hi = 0x1p63;
    else if (counts && !v->counted) v->counted = true, v->lo = -COUNTED, v->hi = COUNTED;
    else v->fraction = true;
}

/* Learns the types of the values of a LOOP_MIXED. */
static void learn_types(Loops *L, Var *v, Number n) {
    if (kloop_may_be_int(n)) kbuild_learn(&L->walk, &v->ints);
    if (n.kind == LOOP_BOOL || n.is_bool) kbuild_learn(&L->walk, &v->truths);
    if (n.kind != LOOP_INT) kbuild_learn(&L->walk, &v->others);
}

static KRef make_local(Loops *L, KRef init) { return init ? kbuild_local(&L->walk, init) : 0; }

static KRef truth_or_no(Loops *L, KRef truth) { return truth ? truth : kbuild_int(&L->walk, QS_B1, 0); }

static void declare_mixed(Loops *L, Var *v, Number init) {
    bool plain = !v->fraction && !v->signed_zero; /* the value is the int64 */
    v->v = plain ? 0 : make_local(L, init.v);
    v->twin = v->ints || !v->fraction ? make_local(L, init.twin ? init.twin : kloop_i64(L, 0)) : 0;
    if (shows_type(v)) return;
    v->is_int = v->ints ? make_local(L, truth_or_no(L, init.is_int)) : 0;
    v->is_bool = v->truths ? make_local(L, truth_or_no(L, init.is_bool)) : 0;
}

void kloop_declare(Loops *L, Var *v, const Value *init) {
    if (v->kind == LOOP_VECTOR) {
        kloop_declare_number(L, v, init);
        v->part = qarena_alloc(L->arena, qmem_size((size_t)v->n, sizeof *v->part, sizeof *v->part));
        for (int i = 0; i < v->n; i++) v->part[i] = make_local(L, init->at[i].v);
        v->f64 = v->varies ? make_local(L, init->f64 ? init->f64 : kbuild_int(&L->walk, QS_B1, 0)) : 0;
        return;
    }
    if (v->kind == LOOP_ARRAY) {
        v->array = kbuild_local(&L->walk, init->array ? init->array : kloop_i64(L, 0));
        return;
    }
    if (v->kind == LOOP_MIXED) {
        declare_mixed(L, v, kloop_mixed(L, init->num));
        return;
    }
    bool integral = v->kind == LOOP_NUM && !v->fraction;
    v->twin = integral ? make_local(L, init->num.twin) : 0;
    if (L->speculates && v->twin && !v->signed_zero && !v->reduce) return;
    v->v = make_local(L, init->num.v), v->im = make_local(L, init->num.im);
}

static void replace_type(Var *v, uint8_t kind, int n, int cols) {
    if (v->entry.kind != LOOP_UNSET) v->replaced = true, v->replacee = v->entry;
    v->entry.kind = LOOP_UNSET, v->reduce = 0;
    v->kind = kind, v->n = n, v->cols = cols, v->item_cls = 0, v->holds = NULL,
    v->shared = v->foreign = v->fraction = false, v->v = 0, v->part = NULL;
    v->lo = INFINITY, v->hi = -INFINITY, v->grown = 0, v->counted = false;
    v->ints = v->truths = v->signed_zero = v->others = false;
}

static uint8_t maybe_real(Loops *L, Number x) {
    double k;
    if (x.kind == LOOP_COMPLEX) return x.maybe;
    return kloop_known(L, x, &k) && k == 0 && !signbit(k) ? MAYBE_ZERO : MAYBE_REAL;
}

/* Whether a real value may be stored as complex (`z = 0` before z becomes complex): no code after the loop reads it. */
static bool serves_as_complex(const Var *v, const Value *x) {
    if (v->live || x->what != WHAT_NUMBER) return false;
    if (v->kind == LOOP_COMPLEX) return x->num.kind == LOOP_NUM;
    return v->kind == LOOP_NUM && v->assigned && x->num.kind == LOOP_COMPLEX;
}

/* A variable has one type in the loop, or is LOOP_MIXED.  Before the loop it may have any type, if that value is not
 * read. */
static qs_status set_type(Loops *L, Var *v, const Value *x) {
    bool first = !v->assigned, vector = x->what == WHAT_VECTOR;
    bool item = x->what == WHAT_OBJECT;
    int n = vector ? x->n : 0, cols = vector ? x->cols : 0, cls = item ? x->cls : 0;
    uint8_t kind = vector ? LOOP_VECTOR : item ? LOOP_ITEM : x->what == WHAT_CHAR ? LOOP_CHAR : x->num.kind;
    v->assigned = true;
    if (!first || v->kind == LOOP_COMPLEX) {
        bool becomes_complex = v->kind == LOOP_NUM && serves_as_complex(v, x);
        if (becomes_complex)
            replace_type(v, LOOP_COMPLEX, 0, 0), L->changed = true; /* v->maybe describes its values so far */
        if (becomes_complex || serves_as_complex(v, x)) return QS_OK;
    }
    bool same = v->kind == LOOP_OBJECT && item && v->entry.cls == x->host.cls;
    if (same) return v->kind = LOOP_ITEM, v->item_cls = cls, L->changed = true, QS_OK;
    if (v->kind == kind && v->n == n && v->cols == cols && v->item_cls == cls) return QS_OK;
    if (v->kind == LOOP_MIXED && is_real(kind)) return QS_OK;
    if (!first && is_real(v->kind) && is_real(kind)) return mix_types(L, v, kind), QS_OK;
    if (!first && v->kind == kind)
        return kloop_decline(L, L->pos, "%s is of one %s here and of another elsewhere", v->sym->name->s,
                             item ? "class" : "size");
    if (!first)
        return kloop_decline(L, L->pos, "%s is %s here and %s elsewhere%s", v->sym->name->s, kind_name(kind),
                             kind_name(v->kind), v->kind == LOOP_ROW ? "; the slice needs a name of its own" : "");
    return replace_type(v, kind, n, cols), v->item_cls = cls, L->changed = true, QS_OK;
}

static void set_local(Loops *L, KRef to, KRef v) {
    if (to && v) kbuild_set(&L->walk, to, v);
}

static void set_mixed(Loops *L, const Var *v, Number x) {
    set_local(L, v->v, x.v), set_local(L, v->twin, x.twin);
    set_local(L, v->is_int, truth_or_no(L, x.is_int)), set_local(L, v->is_bool, truth_or_no(L, x.is_bool));
}

qs_status kloop_decline_array(Loops *L, const Var *v) {
    const char *name = v->sym->name->s;
    if (L->module)
        return kloop_decline(L, L->pos,
                             "%s becomes an array; a function that calls itself is compiled if it sets "
                             "elements of arrays that it is given",
                             name);
    if (v->entry.kind != LOOP_ARRAY) return kloop_decline(L, L->pos, "%s becomes an array", name);
    return kloop_decline(L, L->pos, "%s becomes another array; %s[:] = … copies the elements into the one it has", name,
                         name);
}

static const Str *text_of(Loops *L, const Value *v) {
    return v->text ? v->text : L->job->text(L->job->ud, v->host.source);
}

bool kloop_same_text(Loops *L, const Value *a, const Value *b) { return qstr_equal(text_of(L, a), text_of(L, b)); }

qs_status kloop_decline_value(Loops *L, const Value *v) {
    static const char *const names[] = {
        [WHAT_NOTHING] = "nothing",     [WHAT_NUMBER] = "a number", [WHAT_VECTOR] = "a vector",
        [WHAT_TRUTHS] = "truth values", [WHAT_ARRAY] = "an array",  [WHAT_FUNCTION] = "a function",
        [WHAT_OBJECT] = "an object",    [WHAT_CELL] = "a cell",     [WHAT_ROW] = "a slice"};
    if (v->what == WHAT_STRING || v->what == WHAT_CHAR)
        return kloop_decline(L, L->pos, "%s is a string; toascii gives its characters as numbers",
                             v->name ? v->name->s : "this");
    return kloop_decline(L, L->pos, "%s in place of a number", names[v->what]);
}

/* Prepares a variable that holds a slice or a list, which exists only in the loop.  made: as messages name it. */
static qs_status hold_inside(Loops *L, Var *v, LoopKind kind, const char *made) {
    if (v->live && L->in == L->root)
        return kloop_decline(L, L->pos, "%s, %s made in the loop, is read afterwards", v->sym->name->s, made);
    if (v->assigned && v->kind != kind)
        return kloop_decline(L, L->pos, "%s is %s here and %s elsewhere; it needs a name of its own", v->sym->name->s,
                             kind_name((uint8_t)kind), kind_name(v->kind));
    if (v->kind != kind) replace_type(v, (uint8_t)kind, 0, 0), L->changed = true;
    return v->assigned = v->set = true, v->bound = false, QS_OK;
}

static qs_status assign_array(Loops *L, Var *v, const Value *x) {
    if (v->assigned && v->kind != LOOP_ARRAY) return kloop_decline_array(L, v);
    if (v->kind != LOOP_ARRAY) replace_type(v, LOOP_ARRAY, 0, 0), L->changed = true;
    return v->assigned = true, kloop_hold_array(L, v, x);
}

static qs_status assign_row(Loops *L, Var *v, const Value *x) {
    bool array = v->kind == LOOP_ARRAY, held = array && (v->carried || v->live), done = false;
    if (array || v->live || x->host.kind == LOOP_ARRAY) TRY(kloop_new_array(L, v, x, &done));
    if (done || held) return done ? QS_OK : kloop_decline_array(L, v);
    TRY(hold_inside(L, v, LOOP_ROW, "an array"));
    v->home = L->block, v->val = *x;
    return kloop_keep_row(L, &v->val);
}

static qs_status assign_list(Loops *L, Var *v, const Value *literal) {
    TRY(hold_inside(L, v, LOOP_LIST, "a list"));
    v->val = *literal, v->val.name = v->sym->name, v->val.sym = v->sym;
    return kloop_make_list(L, v, &v->val);
}

/* Whether the LOCAL holds x, which has just been read from it. */
static bool still_holds(const Loops *L, KRef local, KRef x) {
    enum { FAR = 512 };
    const KIns *get = &L->f->ins[x];
    if (get->op != K_GET || get->a != local || L->f->nins - x > FAR) return false;
    for (KRef r = x + 1; r < L->f->nins; r++) {
        const KIns *i = &L->f->ins[r];
        if (kir_is_loop(i->op) || (i->op == K_SET && i->a == local)) return false;
    }
    return true;
}

/* Sets the elements of a vector.  old: its value so far; NULL: it is not known. */
static void set_parts(Loops *L, const Var *v, const Value *old, const Value *x) {
    for (int i = 0; i < v->n; i++) {
        KRef to = x->at[i].v;
        bool same = old ? old->at[i].v == to : still_holds(L, v->part[i], to);
        if (!same) set_local(L, v->part[i], to);
    }
}

qs_status kloop_assign(Loops *L, Var *v, const Value *x) {
    if (x->what == WHAT_ROW) return assign_row(L, v, x);
    if (x->what == WHAT_CELL && x->host.source == -1) return assign_list(L, v, x);
    Value held = *x;
    kloop_short(L, &held);
    if (held.what == WHAT_ARRAY) return assign_array(L, v, &held);
    bool vector = held.what == WHAT_VECTOR;
    kobject_number(L, &held);
    x = &held;
    bool number = x->what == WHAT_NUMBER;
    if (x->what == WHAT_STRING) return kloop_decline(L, L->pos, "%s becomes another string", v->sym->name->s);
    if (!vector && !number && x->what != WHAT_CHAR && !kobject_has_number(x)) return kloop_decline_value(L, x);
    TRY(set_type(L, v, x));
    Value as_complex = *x;
    uint8_t maybe = number ? maybe_real(L, x->num) : SURELY_COMPLEX;
    if (maybe > v->maybe) v->maybe = maybe, L->changed |= v->kind == LOOP_COMPLEX;
    if (v->kind == LOOP_COMPLEX) {
        as_complex.num = kloop_to_complex(L, x->num), as_complex.num.maybe = maybe;
        x = &as_complex;
    }
    Value integral = *x;
    if (v->demanded && kloop_may_be_demanded(v) && x->what == WHAT_NUMBER) {
        (void)kloop_expect_int(L, &integral.num);
        x = &integral;
    }
    if (v->kind == LOOP_MIXED) learn_types(L, v, x->num);
    if (!v->counting && !v->uncounted) v->uncounted = true, L->changed |= v->steps > 0;
    v->counting = false;
    if (number) learn_bounds(L, v, x->num);
    if (vector) TRY(kloop_share(L, v, &held));
    if (vector && (v->like | x->like) != v->like) v->like |= x->like, L->changed = true;
    if (vector && x->f64 && !v->varies) v->varies = L->changed = true;
    Value before = v->val;
    bool known = v->home && v->home->open && vector && before.what == WHAT_VECTOR && before.n == x->n;
    v->set = true, v->bound = false;
    v->home = L->block, v->val = *x, v->val.origin = NULL;
    if (!is_declared(v)) return kloop_declare(L, v, x), L->changed = true, QS_OK;
    if (vector) set_parts(L, v, known ? &before : NULL, x);
    if (vector && v->f64) set_local(L, v->f64, x->f64 ? x->f64 : kbuild_int(&L->walk, QS_B1, 0));
    if (v->kind == LOOP_MIXED) set_mixed(L, v, kloop_mixed(L, x->num));
    else if (!vector) set_local(L, v->v, x->num.v), set_local(L, v->im, x->num.im), set_local(L, v->twin, x->num.twin);
    if (v->given) set_local(L, v->given, kbuild_int(&L->walk, QS_B1, 1));
    if (v->most) kloop_watched(L, v);
    return QS_OK;
}

qs_status kloop_unbind(Loops *L, Var *v) {
    Value held = v->val;
    v->bound = false;
    return kloop_assign(L, v, &held);
}

qs_status kloop_patch(Loops *L, Var *v, const Value *x) {
    Value changed = *x;
    TRY(kloop_may_change(L, v));
    kloop_changed(L, v, &changed);
    TRY(kloop_assign(L, v, &changed));
    return kloop_change_others(L, v), QS_OK;
}

void kloop_unset(Loops *L, Var *v) {
    v->set = v->bound = false, v->home = NULL, v->start = NULL;
    if (v->given) set_local(L, v->given, kbuild_int(&L->walk, QS_B1, 0));
}

/* -- fields that are set ------------------------------------------------------------------------------------------- */
qs_status kloop_convert_field(Loops *L, const Type *t, const Str *name, Value *x) {
    bool vector = t && t->kind == TY_ARRAY && t->inner->kind == TY_NUM && t->inner->dtype == L->c->scalar_dtype &&
                  t->rank == 1 && !x->cols && (!t->nfixed || t->dims[0] == x->n);
    if (!t) return QS_OK;
    if (x->what == WHAT_NUMBER && t->kind == TY_NUM) kloop_note_cut(L, t->dtype, x->num);
    if (x->what == WHAT_NUMBER && t->kind == TY_NUM) return kloop_convert_to(L, t->dtype, &x->num);
    if (x->what == WHAT_VECTOR && vector) return QS_OK;
    return kloop_decline(L, L->pos, "a conversion to the type of the field %s", name->s);
}

/* Adds a variable for a field that is set.  Its address must not change, so the array of variables has room for it. */
static Var *add_field(Loops *L, int object, Str *name, const LoopValue *entry, const Type *type) {
    InlineFrame *r = L->root;
    Sym *sym = qarena_alloc(L->keep_result, sizeof *sym);
    *sym = (Sym){.kind = SYM_LOCAL, .name = name};
    Var *v = &r->vars[r->nvars++];
    *v = (Var){.sym = sym, .object = object, .type = type, .entry = *entry, .live = true};
    v->lo = INFINITY, v->hi = -INFINITY;
    kloop_enter_var(L, v);
    return L->changed = true, v;
}

qs_status kloop_set_field(Loops *L, const Value *object, Str *name, const Value *x) {
    int of = object->host.source;
    bool found;
    TRY(kobject_set_field(L, object, name, x, &found));
    if (found) return QS_OK;
    if (L->module) return kloop_decline(L, L->pos, "a field that is set");
    Var *v = kloop_field_var(L, of, name);
    const Type *type = NULL;
    LoopValue entry;
    if (!v) {
        L->job->field(L->job->ud, of, name, &entry);
        if (entry.kind == LOOP_UNSET || !L->job->settable(L->job->ud, object->host.cls, name, &type))
            return kloop_decline(L, L->pos, "the field %s cannot be set, or is a new one", name->s);
        if (L->root->nvars == L->root->cap) return kloop_decline(L, L->pos, "too many fields that are set");
        v = add_field(L, of, name, &entry, type);
        v->cls = object->host.cls;
    }
    Value converted = *x;
    TRY(kloop_convert_field(L, v->type, name, &converted));
    return kloop_assign(L, v, &converted);
}

qs_status kloop_field(Loops *L, const Value *object, const Str *name, Value *out) {
    bool found;
    TRY(kobject_field(L, object, name, out, &found));
    if (found) return QS_OK;
    Var *set = kloop_field_var(L, object->host.source, name);
    LoopValue v = {0};
    if (set) return read_var(L, set, out);
    if (L->module) kfunction_reads(L, NULL, object->host.source, name);
    L->job->field(L->job->ud, object->host.source, name, &v);
    *out = (Value){.what = WHAT_NOTHING};
    return import_value(L, &v, (Str *)(uintptr_t)name, out);
}

static qs_status load_from_list(Loops *L, const Value *cell, Node *index, Value *out) {
    uint32_t pos = L->pos;
    Value at;
    TRY(kloop_expr(L, index, &at));
    L->pos = pos;
    return kloop_list_load(L, cell, &at, out);
}

qs_status kloop_item(Loops *L, const Value *cell, Node *index, Value *out) {
    double k = -1;
    Value at = {0};
    LoopValue v = {0};
    if (kloop_is_list(L, cell)) return load_from_list(L, cell, index, out);
    if (cell->host.source < 0) return kloop_decline_literal(L);
    bool known = qfold_number(index, &k) && k == floor(k) && k >= 0 && k < INT32_MAX;
    bool named = !known && index->kind == N_IDENT && index->u.ident.sym;
    if (named) TRY(kloop_read(L, index->u.ident.sym, &at));
    bool entered = named && at.what == WHAT_NUMBER && (at.host.kind == LOOP_NUM || at.host.kind == LOOP_INT);
    if (!known && !entered) return load_from_list(L, cell, index, out);
    L->job->item(L->job->ud, cell->host.source, known ? -1 - (int)k : at.host.source, &v);
    *out = (Value){.what = WHAT_NOTHING};
    char called[80];
    snprintf(called, sizeof called, "an item of %.60s", cell->name->s);
    return import_value(L, &v, qstr_cname(L->c, called), out);
}

/* -- definite assignment ------------------------------------------------------------------------------------------- */
static int count_vars(const InlineFrame *in) {
    int n = in->nvars;
    for (const InlineFrame *i = in->child; i; i = i->next) n += count_vars(i);
    return n;
}

static void each_var(InlineFrame *in, bool **at, bool save, bool join) {
    for (int i = 0; i < in->nvars; i++, (*at)++) {
        if (save) **at = join ? **at && in->vars[i].set : in->vars[i].set;
        else in->vars[i].set = **at;
    }
    for (InlineFrame *i = in->child; i; i = i->next) each_var(i, at, save, join);
}

/* A function inlined for the first time changes the number of variables; such a pass is repeated. */
bool *kloop_save(Walk *w) {
    Loops *L = (Loops *)w;
    bool *s = qarena_alloc(L->arena, (size_t)count_vars(L->root) + 1), *at = s;
    each_var(L->root, &at, true, false);
    return s;
}

void kloop_restore(Walk *w, const bool *state) {
    bool *at = (bool *)(uintptr_t)state;
    if (!w->changed) each_var(w->root, &at, false, false);
}

void kloop_join(Walk *w, bool *into) {
    bool *at = into;
    if (!w->changed) each_var(w->root, &at, true, true);
}

/* -- tests --------------------------------------------------------------------------------------------------------- */
static void fill_place(Loops *L, const InlineFrame *in, uint32_t pos, LoopPlace *out) {
    *out = (LoopPlace){in->func, pos, NULL};
    if (!in->up) return;
    out->caller = qarena_alloc(L->keep_result, sizeof *out->caller);
    fill_place(L, in->up, in->site->pos, out->caller);
}

void kloop_fail_unless(Loops *L, KRef cond, qs_status s, const char *sentence, KRef a, KRef b) {
    double k;
    if (kir_is_const(L->f, cond, &k) && k != 0) return;
    if (L->module) return kfunction_fail_unless(L, cond);
    if (!L->loose++) L->loose_pos = L->pos;
    if (L->mode == MODE_PARALLEL) { /* all results are then discarded, and the exact version runs */
        kloop_emit(L, (KMake){K_CHECK, .a = cond, .imm = (uint64_t)kir_message(L->f, s, sentence)});
        return;
    }
    qmem_grow(L->c, &L->faults, &L->cap_faults, L->nfaults, sizeof *L->faults);
    fill_place(L, L->in, L->pos, &L->faults[L->nfaults].place);
    L->faults[L->nfaults].message = kir_message(L->f, s, sentence);
    kloop_flow(L, K_IF, kloop_not(L, cond));
    kbuild_set(&L->walk, L->fault, kbuild_int(&L->walk, QS_I32, (int64_t)++L->nfaults));
    if (a) kbuild_set(&L->walk, L->value[0], kloop_cast(L, a, QS_F64));
    if (b) kbuild_set(&L->walk, L->value[1], kloop_cast(L, b, QS_F64));
    kbuild_leave(&L->walk, K_BREAK, 1);
    kloop_flow(L, K_END, 0);
}

/* -- warnings ------------------------------------------------------------------------------------------------------ */
static int note_at(Loops *L, Slip slip) {
    LoopResult *r = L->out;
    for (int i = 0; i < r->nnotes; i++)
        if (r->notes[i].func == L->in->func && r->notes[i].pos == L->pos && r->notes[i].slip == slip) return i;
    if (r->nnotes == LOOP_NOTES) return -1;
    r->notes[r->nnotes] = (LoopNote){.func = L->in->func, .pos = L->pos, .slip = (uint8_t)slip};
    return L->changed = true, r->nnotes++; /* its LOCAL exists from the next pass on */
}

static void set_note(Loops *L, int n, KRef when) {
    L->slips++;
    if (n < 0 || !L->note[n]) return;
    KRef first = kloop_op(L, K_EQ, kbuild_get(&L->walk, L->note[n]), kloop_f64(L, 0));
    kloop_flow(L, K_IF, kloop_op(L, K_AND, when, first));
    KRef number = kloop_op(L, K_ADD, kbuild_get(&L->walk, L->noted), kloop_f64(L, 1));
    if (L->mode == MODE_PARALLEL) number = kloop_f64(L, 1);
    kbuild_set(&L->walk, L->noted, number), kbuild_set(&L->walk, L->note[n], number);
    kloop_flow(L, K_END, 0);
}

void kloop_note(Loops *L, Slip slip, KRef when) {
    double k;
    if (kir_is_const(L->f, when, &k) && k == 0) return;
    if (L->module) return kfunction_fail_unless(L, kloop_not(L, when)); /* the interpreter warns */
    set_note(L, note_at(L, slip), when);
}

void kloop_note_place(Loops *L, const char *name, int rank, KRef when) {
    double k;
    if (kir_is_const(L->f, when, &k) && k == 0) return;
    if (L->module) return kfunction_fail_unless(L, kloop_not(L, when));
    int n = note_at(L, SLIP_PLACE);
    if (n >= 0) L->out->notes[n].name = name, L->out->notes[n].rank = (uint8_t)rank;
    set_note(L, n, when);
}

static bool is_rounded(const Loops *L, KRef r, int depth) {
    const KIns *i = &L->f->ins[r];
    double k;
    if (kir_is_const(L->f, r, &k)) return k == floor(k);
    if (i->op == K_CAST) return !qdtype_is_real((qs_dtype)L->f->ins[i->a].dtype);
    bool sum = i->op == K_ADD || i->op == K_SUB || i->op == K_MUL || i->op == K_MIN || i->op == K_MAX;
    return kir_is_rounding(i) || (sum && depth && is_rounded(L, i->a, depth - 1) && is_rounded(L, i->b, depth - 1));
}

bool kloop_is_rounded(const Loops *L, KRef r) { return is_rounded(L, r, 4); }

KRef kloop_round_index(Loops *L, KRef x, MathFn rounding) {
    return kloop_is_rounded(L, x) ? x : kbuild_pure(&L->walk, (KMake){K_MATH, .flag = rounding, .a = x});
}

/* Emits the error unless the index x of the array is a number; warns: also the warning for a fraction.  `integral`
 * is its rounded value.  In sequential versions both tests of an element are in one branch, which is rarely taken. */
static void test_number(Loops *L, KRef x, KRef integral, const char *array, bool warns) {
    char text[160];
    const KIns i = L->f->ins[x];
    /* LLVM merges the tests for NaN of accesses with the same computed index if they are not in a branch. */
    bool element = i.op == K_LOAD || (i.op == K_CAST && L->f->ins[i.a].op == K_LOAD);
    warns = warns && x != integral;
    uint32_t loose = L->loose;
    bool guarded, known = kloop_is_number(L, x, &guarded), dropped = known && !(guarded && L->mode == MODE_EXACT);
    KRef number = dropped ? kbuild_int(&L->walk, QS_B1, 1) : kloop_op(L, K_EQ, x, x);
    KRef odd = kloop_op(L, K_NE, x, integral); /* holds for NaN, too */
    bool rare = warns && L->mode != MODE_PARALLEL;
    snprintf(text, sizeof text, "an index of %.80s is not a number", array ? array : "the array");
    if (!element) kloop_fail_unless(L, number, QS_EINDEX, text, 0, 0);
    if (rare) kloop_flow(L, K_IF, odd);
    if (element) kloop_fail_unless(L, number, QS_EINDEX, text, 0, 0);
    if (known) L->loose = loose;
    if (warns) kloop_note(L, SLIP_FRACTION, rare ? kbuild_int(&L->walk, QS_B1, 1) : odd);
    if (rare) kloop_flow(L, K_END, 0);
}

KRef kloop_integral_index(Loops *L, KRef x, KRef rounded, const char *array, bool warns) {
    test_number(L, x, rounded, array, warns);
    KRef low = kloop_op(L, K_MAX, rounded, kloop_f64(L, (double)QINDEX_LEAST));
    return kloop_cast(L, kloop_op(L, K_MIN, low, kloop_f64(L, (double)QINDEX_MOST)), QS_I64);
}

bool kloop_is_fixed(const Loops *L, KRef r) {
    const KIns *i = &L->f->ins[r];
    bool sum = i->op == K_ADD || i->op == K_SUB || i->op == K_MUL || i->op == K_MIN || i->op == K_MAX;
    if (!qdtype_is_int((qs_dtype)i->dtype)) return false;
    if (i->op == K_DIM || i->op == K_CONST || i->op == K_PARAM) return true;
    return sum && kloop_is_fixed(L, i->a) && kloop_is_fixed(L, i->b);
}

bool kloop_require_equal(Loops *L, KRef a, KRef b) {
    if (L->nunlike == LOOP_LIMITS || L->module || L->callees || !kloop_is_fixed(L, a) || !kloop_is_fixed(L, b))
        return false;
    return L->unlike[L->nunlike++] = kloop_op(L, K_SUB, a, b), true;
}

/* Emits the error unless `holds`, which follows if 0 <= a - b < n.  Returns whether that is certain in this version,
 * because the guard has tested it. */
bool kloop_test_lengths(Loops *L, LengthTest *t, KRef holds, const char *sentence) {
    uint32_t loose = L->loose;
    t->guarded = kloop_is_fixed(L, t->a) && kloop_is_fixed(L, t->b) && kloop_is_fixed(L, t->n) && !L->module;
    if (t->guarded) {
        KRef at = kloop_op(L, K_SUB, t->a, t->b);
        Check check = {.at = at,
                       .n = t->n,
                       .ranged = true,
                       .test = {L->in->func, L->pos, "the lengths of arrays differ", -1, false}};
        qmem_grow(L->c, &L->checks, &L->cap_checks, L->nchecks, sizeof *L->checks);
        L->checks[L->nchecks++] = check;
        if (L->mode != MODE_EXACT) return true;
    }
    kloop_fail_unless(L, holds, t->status, sentence, t->shown[0], t->shown[1]);
    if (t->guarded) L->loose = loose;
    return false;
}

void kloop_inside(Loops *L, AxisIndex x, const char *array, int axis) {
    kloop_inside_unless(L, 0, x.at, x, array, axis);
}

static bool guard_index(Loops *L, Check check, int choices);

/* Lets the guard test both sides of a choice; each knows the condition. */
static bool guard_sides(Loops *L, const Check *check, int choices) {
    const KIns i = L->f->ins[check->at];
    uint32_t nchecks = L->nchecks;
    struct Asked *asked = L->block->asked;
    bool known = true;
    for (int side = 0; side < 2 && known; side++) {
        Check c = *check;
        c.at = side ? i.c : i.b;
        kbuild_know(&L->walk, i.a, side == 0);
        known = guard_index(L, c, choices);
        L->block->asked = asked;
    }
    if (!known) L->nchecks = nchecks;
    return known;
}

static bool guard_index(Loops *L, Check check, int choices) {
    if (choices && L->f->ins[check.at].op == K_SELECT && guard_sides(L, &check, choices - 1)) return true;
    check.ranged = kloop_has_range(L, check.at);
    kloop_prove(L, &check);
    if (!kloop_is_known(&check, &check.low) || !kloop_is_known(&check, &check.high)) return false;
    qmem_grow(L->c, &L->checks, &L->cap_checks, L->nchecks, sizeof *L->checks);
    return L->checks[L->nchecks++] = check, true;
}

/* Lets the guard make the test, if it can. */
static bool guard_check(Loops *L, Check check) {
    enum { CHOICES = 3 /* one in the side of the other */ };
    return guard_index(L, check, CHOICES);
}

bool kloop_guard_inside(Loops *L, KRef at, KRef n, const char *otherwise) {
    return guard_check(L, (Check){.at = at, .n = n, .test = {L->in->func, L->pos, otherwise, -1, false}});
}

bool kloop_guard_optional(Loops *L, KRef at, KRef n, const char *otherwise) {
    Check check = {.at = at, .n = n, .test = {L->in->func, L->pos, otherwise, -1, true}};
    return kloop_has_range(L, at) && kloop_has_range(L, n) && guard_check(L, check);
}

void kloop_inside_unless(Loops *L, KRef none, KRef guarded, AxisIndex x, const char *array, int axis) {
    char text[KPLACE_TEXT];
    uint32_t loose = L->loose;
    bool fixed = L->f->ins[x.n].op != K_GET; /* the number of items of a list changes */
    LoopTest test = {L->in->func, L->pos, array ? array : "an array", axis, false};
    bool checked = fixed && guard_check(L, (Check){.at = guarded, .n = x.n, .test = test});
    ksubscript_sentence(array, axis, text);
    if (checked && L->mode != MODE_EXACT) return;
    KRef inside = kloop_op(L, K_INB, x.at, x.n);
    if (none) inside = kloop_op(L, K_OR, none, inside);
    kloop_fail_unless(L, inside, QS_EINDEX, text, x.shown, x.n);
    if (checked) L->loose = loose;
}
