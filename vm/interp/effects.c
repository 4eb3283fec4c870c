/* effects.c -- searches the syntax tree of a function for side effects; caches the result in Func.effects. */
#include "vm/interp/effects.h"

#include <string.h>

#include "vm/value/machine.h"

typedef struct {
    qs_vm *vm;
    Func *f;
    bool acts;
    Func **assumed; /* the functions that are looked at or were found to have no effects if the others have none */
    uint32_t nassumed, cap_assumed;
} Search;

static bool search_func(Search *s, Func *f);

static bool function_acts(Search *s, const Function *fn) {
    bool acts = false;
    if (fn->fkind == FN_NATIVE) return fn->acts && !(fn->traits & TRAIT_CALLS_ONLY);
    if (fn->fkind == FN_SCRIPT) return search_func(s, (Func *)fn->ast);
    for (int i = 0; fn->fkind == FN_SET && i < fn->nmembers && !acts; i++) acts = function_acts(s, fn->members[i]);
    return acts || fn->fkind == FN_FOREIGN;
}

static void look_at_targets(Search *s, const Node *n) {
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        const Node *t = n->u.assign.targets[i];
        const Sym *x = qast_written(t);
        if (t->kind == N_IDENT && !n->u.assign.in_place) continue;
        s->acts |= x && (x->kind != SYM_LOCAL || qast_is_parameter(s->f, x));
    }
}

static void visit_node(void *ud, Node **child);

static void look_at_body(Search *s, Func *f) {
    Func *outer = s->f;
    s->f = f;
    for (int i = 0; i < f->body.n && !s->acts; i++) visit_node(s, &f->body.at[i]);
    if (f->expr && !s->acts) visit_node(s, &f->expr);
    s->f = outer;
}

static void visit_node(void *ud, Node **child) {
    Search *s = ud;
    Node *n = *child;
    const Sym *x = qast_symbol(n);
    if (s->acts) return;
    if (n->kind == N_ASSIGN) look_at_targets(s, n);
    if (n->kind == N_CALL && n->u.call.callee->kind != N_IDENT && n->u.call.callee->kind != N_TYPE) s->acts = true;
    if (n->kind == N_CALL && n->u.call.callee->kind == N_IDENT && n->u.call.callee->u.ident.sym &&
        n->u.call.callee->u.ident.sym->kind < SYM_GLOBAL)
        s->acts = true; /* a function that is a value */
    if (n->kind == N_PRINT) s->acts = true;
    if (x && x->kind == SYM_GLOBAL && qvm_global(s->vm, (uint64_t)x->index)->kind == QS_FUNCTION)
        s->acts |= function_acts(s, qvm_global(s->vm, (uint64_t)x->index)->u.p);
    if (n->kind == N_LAMBDA) look_at_body(s, n->u.lambda.func);
    else if (n->kind == N_FUNC) look_at_body(s, n->u.func);
    else qast_children(n, visit_node, s);
}

/* Assumes of a function that is being looked at that it has none, since it may call itself.  When one has effects, so
 * have all functions through which the search came to it, and the search ends. */
static bool search_func(Search *s, Func *f) {
    Func *outer = s->f;
    if (f->effects != EFFECTS_UNKNOWN) return f->effects == EFFECTS_SOME;
    f->effects = EFFECTS_NONE;
    qmem_grow(qvm_ctx(s->vm), &s->assumed, &s->cap_assumed, s->nassumed, sizeof *s->assumed);
    s->assumed[s->nassumed++] = f;
    s->f = f;
    if (f->qual == Q_HOST) look_at_body(s, f);
    s->f = outer;
    if (s->acts) f->effects = EFFECTS_SOME;
    return s->acts;
}

/* Only when the whole search has found no effect do its assumptions hold; else what rests on them is forgotten. */
bool qeffects_of(qs_vm *vm, Func *f) {
    if (f->effects != EFFECTS_UNKNOWN) return f->effects == EFFECTS_SOME;
    Search s = {.vm = vm};
    bool acts = search_func(&s, f);
    for (uint32_t i = 0; acts && i < s.nassumed; i++)
        if (s.assumed[i]->effects == EFFECTS_NONE) s.assumed[i]->effects = EFFECTS_UNKNOWN;
    qmem_free(qvm_ctx(vm), s.assumed, s.cap_assumed * sizeof *s.assumed);
    return acts;
}
