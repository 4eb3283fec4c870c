/* lower_recursion.c -- lowers calls of functions that call themselves at run time.
 *
 * A function is inlined where it is called.  If 64 calls are open, and one function is open twice, it is marked, and
 * the pass starts again.  Recursion that ends for arguments known to the compiler is inlined, too.  As the number of
 * such calls may grow exponentially, a function is also marked after KLOWER_TRIAL of them, unless this leads to an
 * error.  A marked function is lowered once for each call from outside, as a routine:
 *
 *     LOCALs       pass the arguments and results; hidden variables, so their types join those of all calls
 *     LOOP … END   the body, flag KLOWER_ROUTINE; it reads its arguments first and sets the results last
 *     CALL         runs the body (operand a: the LOOP), here after the body and at each call inside it
 *
 * Arrays, functions and objects of the host are the same in all calls, so no variable holds them.  lower_stack.c
 * replaces routines by a loop with a stack. */
#include "lang/kernel/lower/kernel/lower_internal.h"

#include <string.h>

struct Recursive {
    const Func *func;
    struct Recursive *next;
};

/* A function that calls itself, while its body is lowered. */
struct Routine {
    const Closure *fn;
    InlineFrame *frame;
    KRef region;
    int nouts;
    Var **in, **out, **back; /* arguments (NULL: fixed or not given), results, arrays that it changes */
    Val *fixed;
    bool *given;
};

static bool is_recursive(const Lower *L, const Func *f) {
    const struct Recursive *r = L->recursive;
    while (r && r->func != f) r = r->next;
    return r != NULL;
}

/* Returns the outermost open function that is open again further inside, or is being called; NULL: none. */
static const Func *find_repeated(const Lower *L, const Func *called) {
    const Func *found = NULL;
    for (const InlineFrame *in = L->in; in && in->up; in = in->up) {
        bool again = in->func == called;
        for (const InlineFrame *k = L->in; k != in && !again; k = k->up) again = k->func == in->func;
        if (again) found = in->func;
    }
    return found;
}

/* Marks a function that calls itself, if there is one; the pass then ends and is repeated. */
static bool mark_recursive(Lower *L, const Func *called) {
    const Func *f = find_repeated(L, called);
    if (!f) return false;
    struct Recursive *r = qarena_alloc(L->keep, sizeof *r);
    *r = (struct Recursive){f, L->recursive};
    return L->recursive = r, L->restart = true;
}

static bool is_open(const Lower *L, const Func *f) {
    const InlineFrame *in = L->in;
    while (in && in->func != f) in = in->up;
    return in != NULL;
}

static struct Routine *find_open(const Lower *L, const Func *f) {
    const InlineFrame *in = L->in;
    while (in && (in->func != f || !in->routine)) in = in->up;
    return in ? in->routine : NULL;
}

bool klrecursion_is_open(const Lower *L) {
    const InlineFrame *in = L->in;
    while (in && !in->routine) in = in->up;
    return in != NULL;
}

/* -- the body ------------------------------------------------------------------------------------------------------ */
static bool is_by_value(const Val *v) {
    return v->kind == V_NUM || v->kind == V_UNKNOWN || (v->kind == V_MEMORY && !v->u.mem->shared);
}

/* Declares a variable that passes a value, of the type that it has after the passes before. */
static Var *declare_variable(Lower *L, const Node *site, int part, Str *name) {
    Var *v = klvar_hidden(L, site, part);
    v->name = name;
    klvar_hidden_begin(L, v);
    int64_t n = v->slots ? klval_count(&v->stored) * (qdtype_is_complex(v->stored.dtype) ? 2 : 1) : 0;
    for (int64_t i = 0; i < (v->memory && n ? 1 : n); i++) L->f->ins[v->slots[i]].flag = KLOWER_ROUTINE;
    if (v->slots && v->which) L->f->ins[v->which].flag = KLOWER_ROUTINE;
    return v;
}

static qs_status declare_argument(Lower *L, const Node *site, struct Routine *r, int i, const Val *v) {
    const Param *p = &r->fn->func->params[i];
    Var *known = klvar_hidden(L, site, i);
    r->given[i] = true, r->fixed[i] = *v;
    if (!is_by_value(v)) return QS_OK;
    known->slots = NULL, known->name = p->name;
    if (known->type.kind == V_UNKNOWN) TRY(klvar_hidden_set(L, known, v));
    r->in[i] = declare_variable(L, site, i, p->name);
    return QS_OK;
}

static bool is_changed(const struct Routine *r, int i) {
    const Param *p = &r->fn->func->params[i];
    return r->in[i] && r->fixed[i].rank && p->sym && r->frame->vars[p->sym->index].changed;
}

static qs_status declare_routine(Lower *L, const Node *site, Closure *fn, const Args *args, struct Routine **out) {
    const Func *f = fn->func;
    const Callee callee = klcall_callee(fn);
    struct Routine *r = *out = qarena_alloc(L->arena, sizeof *r);
    size_t n = (size_t)f->nparams, nouts = f->nouts ? (size_t)f->nouts : f->expr != NULL;
    *r = (struct Routine){.fn = fn, .frame = kcall_frame(&L->walk, site, &callee), .nouts = (int)nouts};
    r->in = qarena_alloc(L->arena, qmem_size(2 * n + nouts, sizeof *r->in, sizeof *r->in));
    r->back = r->in + n, r->out = r->back + n;
    r->fixed = qarena_alloc(L->arena, qmem_size(n, sizeof *r->fixed, sizeof *r->fixed));
    r->given = qarena_alloc(L->arena, qmem_size(n, sizeof *r->given, sizeof *r->given));
    for (int i = 0; i < f->nparams; i++) {
        int k = kcall_find_argument(args, f, i), part = f->nparams + r->nouts + i;
        r->in[i] = r->back[i] = NULL, r->given[i] = false;
        if (k >= 0) TRY(declare_argument(L, site, r, i, &args->at[k]));
        if (is_changed(r, i)) r->back[i] = declare_variable(L, site, part, f->params[i].name);
    }
    for (int i = 0; i < r->nouts; i++) r->out[i] = declare_variable(L, site, f->nparams + i, f->name);
    return QS_OK;
}

/* Sets the results, and the arrays that the function has changed. */
static qs_status set_results(Lower *L, const struct Routine *r, const Val *results) {
    const Func *f = r->fn->func;
    for (int i = 0; i < r->nouts; i++) {
        if (!is_by_value(&results[i]))
            return klower_error(
                L, QS_ETYPE, L->pos,
                "%s calls itself: it can return numbers, and vectors and matrices of known size, not %s", f->name->s,
                klval_type_name(L, &results[i]));
        TRY(klvar_hidden_set(L, r->out[i], &results[i]));
    }
    for (int i = 0; i < f->nparams; i++) {
        Val v;
        if (is_changed(r, i) && !r->back[i]) L->changed = true; /* the next pass has a variable for it */
        if (!r->back[i]) continue;
        TRY(klvar_read(L, &r->frame->vars[f->params[i].sym->index], L->pos, &v));
        TRY(klvar_hidden_set(L, r->back[i], &v));
    }
    return QS_OK;
}

static qs_status lower_body(Lower *L, const Node *site, struct Routine *r) {
    const Func *f = r->fn->func;
    const Callee callee = klcall_callee((Closure *)(uintptr_t)r->fn);
    size_t n = (size_t)f->nparams;
    Val *at = qarena_alloc(L->arena, qmem_size(n, sizeof *at, sizeof *at));
    Val *results = qarena_alloc(L->arena, qmem_size((size_t)r->nouts, sizeof *results, sizeof *results));
    Args args = {at, qarena_alloc(L->arena, qmem_size(n, sizeof *args.names, sizeof *args.names)), 0};
    for (int i = 0; i < f->nparams; i++) {
        if (!r->given[i]) continue;
        args.names[args.n] = f->params[i].name;
        if (r->in[i]) klvar_hidden_get(L, r->in[i], &at[args.n++]);
        else at[args.n++] = r->fixed[i];
    }
    r->frame->routine = r;
    TRY(kcall_inline(&L->walk, site, &callee, &args, results, r->nouts));
    return set_results(L, r, results);
}

/* Values of the caller are computed again in the body, because another call of the caller may have run in between. */
static qs_status lower_routine(Lower *L, const Node *site, struct Routine *r) {
    uint32_t *hidden = memcpy(qarena_alloc(L->arena, sizeof L->buckets), L->buckets, sizeof L->buckets);
    kbuild_once(&L->walk);
    r->region = L->f->nins - 1;
    L->f->ins[r->region].flag = KLOWER_ROUTINE;
    memset(L->buckets, 0, sizeof L->buckets);
    TRY(lower_body(L, site, r));
    kbuild_end(&L->walk);
    memcpy(L->buckets, hidden, sizeof L->buckets);
    return QS_OK;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */
static qs_status pass_argument(Lower *L, const struct Routine *r, int i, const Val *v) {
    const char *f = r->fn->func->name->s, *name = r->fn->func->params[i].name->s;
    if ((v != NULL) != r->given[i])
        return klower_error(L, QS_ETYPE, L->pos, "%s calls itself: argument %s must be given in all calls or in none",
                            f, name);
    if (!v || v->kind == V_UNKNOWN) return QS_OK;
    if (r->in[i] && is_by_value(v)) return klvar_hidden_set(L, r->in[i], v);
    const Val *first = &r->fixed[i];
    if (!r->in[i] && klval_same(v, first) && v->mods.access == first->mods.access) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s calls itself: argument %s (%s) must be the same in all calls%s", f,
                        name, klval_type_name(L, first), first->kind == V_OBJECT ? "; pass its fields" : "");
}

static qs_status call_routine(Lower *L, const Node *site, const struct Routine *r, const Args *args, Val *outs,
                              int wanted) {
    const Func *f = r->fn->func;
    TRY(kcall_check_names(&L->walk, args, f));
    for (int i = 0; i < f->nparams; i++) {
        int k = kcall_find_argument(args, f, i);
        TRY(pass_argument(L, r, i, k < 0 ? NULL : &args->at[k]));
    }
    klnum_emit(L, (KMake){K_CALL, .a = r->region});
    for (int i = 0; i < wanted; i++) {
        if (i < r->nouts) klvar_hidden_get(L, r->out[i], &outs[i]);
        else outs[i] = (Val){.kind = V_VOID};
    }
    const Callee callee = klcall_callee((Closure *)(uintptr_t)r->fn);
    L->called = f, L->walk.unpacks = false;
    return klcall_give_back(L, site, &callee, args, r->frame, r->back);
}

/* Returns whether the captured values of a nested function are the ones that it has captured itself. */
static bool has_same_captures(const Closure *a, const Closure *b) {
    for (int i = 0; a->captures && b->captures && i < a->func->ncaptures; i++) {
        const Val *x = &a->captures[i], *y = &b->captures[i];
        bool same = x->kind == V_NUM ? y->kind == V_NUM && x->at == y->at : klval_same(x, y);
        if (!same && x->kind != V_UNKNOWN && y->kind != V_UNKNOWN && x->kind != V_FUNC) return false;
    }
    return true;
}

qs_status klrecursion_call(Lower *L, const Node *site, Closure *fn, const Args *args, Val *outs, int wanted,
                           bool *done) {
    struct Routine *r = find_open(L, fn->func);
    *done = r || is_recursive(L, fn->func);
    bool many = !*done && L->trial != TRIAL_FAILED && is_open(L, fn->func) && ++L->nested > KLOWER_TRIAL;
    if (!*done && !many && L->calls < KLOWER_CALLS) {
        const Callee callee = klcall_callee(fn);
        return kcall_frame(&L->walk, site, &callee)->routine = NULL, QS_OK;
    }
    if (!*done && many) L->trial = TRIAL_RUNS;
    if (!*done) return mark_recursive(L, fn->func) ? QS_EINTERNAL : QS_OK;
    if (r && !has_same_captures(r->fn, fn))
        return klower_error(L, QS_ETYPE, L->pos, "%s calls itself with other values of outer variables",
                            fn->func->name->s);
    if (!r) {
        TRY(declare_routine(L, site, fn, args, &r));
        TRY(lower_routine(L, site, r));
    }
    return call_routine(L, site, r, args, outs, wanted);
}
