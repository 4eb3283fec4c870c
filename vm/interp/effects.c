/* effects.c -- searches the syntax tree of a function for side effects; caches the result in Func.effects. */
#include "vm/interp/effects.h"

#include <string.h>

#include "vm/value/machine.h"

typedef struct {
    qs_vm *vm;
    Func *f;
    bool acts;
} Search;

/* Returns whether a built-in that is marked as acting only calls or stores its arguments, or ends the call by an error.
 */
static bool is_harmless(const char *name) {
    static const char *const names[] = {"error", "assert", "cell", "getfield", "parallel_do", "serial_do"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static bool function_acts(qs_vm *vm, const Function *fn) {
    bool acts = false;
    if (fn->fkind == FN_NATIVE) return fn->acts && !is_harmless(fn->native->name);
    if (fn->fkind == FN_SCRIPT) return qeffects_of(vm, (Func *)fn->ast);
    for (int i = 0; fn->fkind == FN_SET && i < fn->nmembers && !acts; i++) acts = function_acts(vm, fn->members[i]);
    return acts || fn->fkind == FN_FOREIGN;
}

/* Returns the variable whose array or object an assignment writes: x in x[0].y = 1. */
static const Sym *find_written(const Node *target) {
    while (target->kind == N_INDEX || target->kind == N_FIELD)
        target = target->kind == N_INDEX ? target->u.index.base : target->u.field.base;
    return target->kind == N_IDENT ? target->u.ident.sym : NULL;
}

static bool is_parameter(const Func *f, const Sym *s) {
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].sym == s) return true;
    return false;
}

static void look_at_targets(Search *s, const Node *n) {
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        const Node *t = n->u.assign.targets[i];
        const Sym *x = find_written(t);
        if (t->kind == N_IDENT && !n->u.assign.in_place) continue;
        s->acts |= x && (x->kind != SYM_LOCAL || is_parameter(s->f, x));
    }
}

static void visit_node(void *ud, Node **child);

static void look_at_body(Search *s, Func *f) {
    Func *outer = s->f;
    s->f = f;
    for (int i = 0; i < f->body.n && !s->acts; i++) visit_node(s, &f->body.at[i]);
    if (f->expr) visit_node(s, &f->expr);
    s->f = outer;
}

static void visit_node(void *ud, Node **child) {
    Search *s = ud;
    Node *n = *child;
    const Sym *x = n->kind == N_IDENT ? n->u.ident.sym : NULL;
    if (s->acts) return;
    if (n->kind == N_ASSIGN) look_at_targets(s, n);
    if (n->kind == N_CALL && n->u.call.callee->kind != N_IDENT && n->u.call.callee->kind != N_TYPE) s->acts = true;
    if (n->kind == N_CALL && n->u.call.callee->kind == N_IDENT && n->u.call.callee->u.ident.sym &&
        n->u.call.callee->u.ident.sym->kind < SYM_GLOBAL)
        s->acts = true; /* a function that is a value */
    if (n->kind == N_PRINT) s->acts = true;
    if (x && x->kind == SYM_GLOBAL && qvm_global(s->vm, (uint64_t)x->index)->kind == QS_FUNCTION)
        s->acts |= function_acts(s->vm, qvm_global(s->vm, (uint64_t)x->index)->u.p);
    if (n->kind == N_LAMBDA) look_at_body(s, n->u.lambda.func);
    else if (n->kind == N_FUNC) look_at_body(s, n->u.func);
    else qast_children(n, visit_node, s);
}

bool qeffects_of(qs_vm *vm, Func *f) {
    if (f->effects == EFFECTS_UNKNOWN) {
        Search s = {vm, f, false};
        f->effects = EFFECTS_NONE; /* provisional, for recursive calls */
        if (f->qual == Q_HOST) look_at_body(&s, f);
        f->effects = s.acts ? EFFECTS_SOME : EFFECTS_NONE;
    }
    return f->effects == EFFECTS_SOME;
}
