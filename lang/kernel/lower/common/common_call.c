/* common_call.c -- lowers names, nested functions and calls.
 *
 * Every function is inlined where it is called, with its own variables.  The next pass finds the frame of a call again
 * by its node in the tree. */
#include "lang/kernel/lower/common/common.h"
#include "lang/names/scope.h"

#include <stdarg.h>
#include <stdio.h>

qs_status kcall_fail(Walk *w, qs_status s, uint32_t pos, const char *fmt, ...) {
    char sentence[240];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, ap);
    va_end(ap);
    return w->rules->fail(w, s, pos, sentence);
}

/* -- names --------------------------------------------------------------------------------------------------------- */
qs_status kcall_name(Walk *w, const Sym *sym, uint32_t pos, struct Val *out) {
    bool found = false;
    TRY(w->rules->call->variable(w, sym, pos, out, &found));
    if (found) return QS_OK;
    if (sym->kind == SYM_CAPTURE && w->in->captures && sym->owner == w->in->func)
        return kval_copy(w, out, kval_at(w, (struct Val *)(uintptr_t)w->in->captures, sym->index)), QS_OK;
    if (sym->kind == SYM_NESTED) return kcall_closure(w, sym->func, out);
    return w->rules->call->outside(w, sym, pos, out);
}

/* Makes a function value that captures the current values of its outer names. */
qs_status kcall_closure(Walk *w, Func *f, struct Val *out) {
    struct Val *captures =
        qarena_alloc(w->arena, qmem_size((size_t)f->ncaptures, w->rules->value_size, w->rules->value_size));
    for (int i = 0; i < f->ncaptures; i++) {
        const Sym *sym = qscope_view(w->in->func, f->captures[i].outer);
        if (sym) TRY(kcall_name(w, sym, w->pos, kval_at(w, captures, i)));
    }
    return w->rules->call->function(w, f, captures, out), QS_OK;
}

/* -- entering and leaving functions -------------------------------------------------------------------------------- */
InlineFrame *kcall_frame(Walk *w, const Node *site, const Callee *fn) {
    InlineFrame **list = w->in ? &w->in->child : &w->root;
    for (InlineFrame *i = *list; i; i = i->next)
        if (i->site == site && i->func == fn->func && i->source == fn->source) return i;
    InlineFrame *i = qarena_alloc(w->keep, sizeof *i);
    i->up = w->in, i->site = site, i->func = fn->func, i->source = fn->source, i->nvars = fn->func->nlocals;
    w->rules->call->new_frame(w, i);
    i->next = *list;
    return *list = i;
}

static const Source *source_of(const Func *f) { return f->unit ? f->unit->src : NULL; }

Caller kcall_enter(Walk *w, const Node *site, const Callee *fn) {
    InlineFrame *in = kcall_frame(w, site, fn);
    Caller saved = {w->in, w->exits, w->pos, w->site_pos, w->foreign};
    if (!w->foreign) w->site_pos = w->pos;
    w->foreign = source_of(fn->func) != w->f->src;
    w->exits = NULL; /* `break` stays inside the function */
    w->in = in;
    in->captures = fn->captures, in->closure = fn->closure;
    w->rules->call->enter(w, in);
    return saved;
}

qs_status kcall_leave(Walk *w, const Caller *saved) {
    if (w->rules->call->leave) TRY(w->rules->call->leave(w, w->in));
    w->in = saved->in, w->exits = saved->exits, w->pos = saved->pos, w->site_pos = saved->site_pos;
    w->foreign = saved->foreign;
    return QS_OK;
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */
int kcall_find_argument(const Args *args, const Func *f, int param) {
    int positional = 0;
    while (positional < args->n && !args->names[positional]) positional++;
    if (param < positional) return param;
    for (int i = positional; i < args->n; i++)
        if (args->names[i] == f->params[param].name) return i;
    return -1;
}

qs_status kcall_check_names(Walk *w, const Args *args, const Func *f) {
    for (int i = 0; i < args->n; i++) {
        bool found = !args->names[i];
        for (int k = 0; k < f->nparams && !found; k++) found = f->params[k].name == args->names[i];
        if (found) continue;
        return kcall_fail(w, QS_ENAME, w->pos, "%.80s has no parameter %.80s", f->name->s, args->names[i]->s);
    }
    if (args->n <= f->nparams) return QS_OK;
    return kcall_fail(w, QS_ETYPE, w->pos, "%.80s takes %d argument%s, got %d", f->name->s, f->nparams,
                      f->nparams == 1 ? "" : "s", args->n);
}

static qs_status bind_params(Walk *w, const Args *args) {
    const Func *f = w->in->func;
    uint32_t call_pos = w->pos;
    for (int i = 0; i < f->nparams; i++) {
        const Param *p = &f->params[i];
        struct Val *v = kval_new(w, 1);
        int k = kcall_find_argument(args, f, i);
        if (p->variadic)
            return kcall_fail(w, QS_ETYPE, p->pos, "%.80s has a variable number of parameters and cannot be used in %s",
                              f->name->s, w->rules->call->place);
        if (k >= 0) kval_copy(w, v, kval_at(w, args->at, k));
        else if (p->init) TRY(kexpr_lower(w, p->init, v));
        else return kcall_fail(w, QS_ETYPE, p->pos, "%.80s: argument %.80s is missing", f->name->s, p->name->s);
        w->pos = call_pos;
        TRY(w->rules->call->bind(w, p, v));
    }
    return QS_OK;
}

/* -- inlining ------------------------------------------------------------------------------------------------------ */
static qs_status collect_results(Walk *w, struct Val *outs, int wanted) {
    const Func *f = w->in->func;
    for (int i = 0; i < wanted; i++) {
        struct Val *out = kval_at(w, outs, i);
        bool expr = !f->nouts && f->expr && i == 0;
        if (expr) memset(out, 0, w->rules->value_size);
        else w->rules->nothing(out);
        if (expr) TRY(kexpr_lower(w, f->expr, out));
        if (expr || i < f->nouts) TRY(w->rules->call->result(w, expr ? NULL : &f->outs[i], out));
    }
    return !wanted && f->expr ? kexpr_lower(w, f->expr, kval_new(w, 1)) : QS_OK;
}

qs_status kcall_inline(Walk *w, const Node *site, const Callee *fn, const Args *args, struct Val *outs, int wanted) {
    TRY(w->rules->call->may_inline(w, fn->func, args));
    if (w->calls >= w->rules->call->most_calls)
        return kcall_fail(w, QS_ETYPE, w->pos, "%.80s calls itself; recursion is not possible in %s", fn->func->name->s,
                          w->rules->call->place);
    TRY(kcall_check_names(w, args, fn->func));
    if (!w->f->ruled && qast_attribute(fn->func, "adjoint")) w->f->ruled = fn->func->name, w->f->ruled_pos = w->pos;
    w->calls++;
    Caller saved = kcall_enter(w, site, fn);
    w->in->wanted = wanted;
    TRY(bind_params(w, args));
    if (w->rules->call->bound) TRY(w->rules->call->bound(w, w->in));
    TRY(kstmt_body(w, w->in));
    TRY(collect_results(w, outs, wanted));
    w->calls--;
    w->called = fn->func, w->unpacks = false;
    return kcall_leave(w, &saved);
}

static qs_status lower_args(Walk *w, const ArgList *list, struct Val *at, Str **names) {
    for (int i = 0; i < list->n; i++) {
        const Arg *a = &list->at[i];
        TRY(kexpr_lower(w, a->value, kval_at(w, at, i)));
        names[i] = a->name;
        if (a->type) TRY(w->rules->call->convert(w, a->type, "the argument", a->pos, kval_at(w, at, i)));
    }
    for (int i = 0; i < list->n - 1; i++)
        for (int k = list->n - 1; k > i && !list->at[i].type; k--)
            TRY(kexpr_read_again(w, list->at[i].value, list->at[k].value, kval_at(w, at, i)));
    return QS_OK;
}

qs_status kcall_lower(Walk *w, Node *n, struct Val *outs, int wanted) {
    const ArgList *list = &n->u.call.args;
    Called c = {.site = n, .wanted = wanted, .fn = kval_new(w, 1), .args = kval_new(w, list->n + 1), .outs = outs};
    Str **names = qarena_alloc(w->arena, qmem_size((size_t)list->n, sizeof *names, sizeof *names));
    bool indexing = w->indexing;
    w->indexing = false; /* arguments are not index expressions, even if the call is part of one */
    TRY(w->rules->call->callee(w, &c));
    if (c.done) return w->indexing = indexing, QS_OK;
    w->wide_lists = c.wide_lists;
    TRY(lower_args(w, list, kval_at(w, c.args, c.self), names + c.self));
    w->wide_lists = false;
    w->pos = n->pos;
    Args all = {c.args, names, list->n + c.self};
    w->called = NULL, w->unpacks = false;
    TRY(w->rules->call->apply(w, n, c.fn, &all, outs, wanted));
    w->indexing = indexing, w->pos = n->pos;
    return QS_OK;
}
