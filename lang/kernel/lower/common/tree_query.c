/* tree_query.c -- searches in the syntax tree. */
#include "lang/kernel/lower/common/common.h"

#include <math.h>

typedef struct {
    bool inner_loops;
    Finder *is;
    void *ud;
    const Node *found;
} Search;

static bool is_loop(const Node *n) { return n->kind == N_FOR || n->kind == N_WHILE || n->kind == N_REPEAT; }

static void search_node(void *ud, Node **child) {
    Search *s = ud;
    Node *n = *child;
    if (!n || s->found || (is_loop(n) && !s->inner_loops)) return;
    if (s->is(n, s->ud)) s->found = n;
    else qast_children(n, search_node, s);
}

const Node *kquery_node(NodeList list, bool inner_loops, Finder *is, void *ud) {
    Search s = {inner_loops, is, ud, NULL};
    for (int i = 0; i < list.n; i++) search_node(&s, &list.at[i]);
    return s.found;
}

bool kquery_is_call(const Node *n, void *ud) { return (void)ud, n->kind == N_CALL; }
bool kquery_is_return(const Node *n, void *ud) { return (void)ud, n->kind == N_RETURN; }
bool kquery_is_exit(const Node *n, void *ud) { return (void)ud, n->kind == N_RETURN || qast_makes_message(n); }
bool kquery_is_leaving(const Node *n, void *ud) { return (void)ud, n->kind == N_BREAK || n->kind == N_CONTINUE; }
bool kquery_is_continue(const Node *n, void *ud) { return (void)ud, n->kind == N_CONTINUE; }

/* -- assigned variables -------------------------------------------------------------------------------------------- */
bool kquery_sets_here(const Node *n, const Sym *sym) {
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++) {
        const Node *t = n->u.assign.targets[i];
        if (t->kind == N_INDEX) t = t->u.index.base; /* an element of a local vector */
        if (qast_is_name(t, sym)) return true;
    }
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++)
        if (n->u.loop.syms[i] == sym) return true;
    return false;
}

static bool sets_symbol(const Node *n, void *ud) { return kquery_sets_here(n, ud); }

NodeList kquery_body_of(const Node *loop) { return loop->kind == N_FOR ? loop->u.loop.body : loop->u.whiles.body; }

bool kquery_sets(const Node *loop, const Sym *sym) {
    return kquery_node(kquery_body_of(loop), true, sets_symbol, (void *)(uintptr_t)sym);
}

bool kquery_constant(const char *name, double *v) {
    static const struct {
        const char *name;
        double value;
    } list[] = {{"pi", 3.14159265358979323846}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(name, list[i].name)) return *v = list[i].value, true;
    return false;
}

/* -- annotations --------------------------------------------------------------------------------------------------- */
typedef struct {
    const Sym *sym;
    uint32_t before;
    const TypeExpr *last;
} Annotation;

static void note_if_later(Annotation *a, const Sym *sym, const TypeExpr *t) {
    if (sym == a->sym && t && t->pos < a->before && (!a->last || a->last->pos < t->pos)) a->last = t;
}

static bool note_annotation(const Node *n, void *ud) {
    for (int i = 0; n->kind == N_ASSIGN && n->u.assign.types && i < n->u.assign.ntargets; i++)
        if (n->u.assign.targets[i]->kind == N_IDENT)
            note_if_later(ud, n->u.assign.targets[i]->u.ident.sym, n->u.assign.types[i]);
    if (n->kind == N_DECL) note_if_later(ud, n->u.decl.sym, n->u.decl.type);
    return false;
}

const TypeExpr *kquery_annotation(const Func *f, const Sym *sym, uint32_t before) {
    if (!sym->declared) return NULL;
    Annotation a = {.sym = sym, .before = before};
    note_if_later(&a, sym, sym->declared);
    (void)kquery_node(f->body, true, note_annotation, &a);
    return a.last;
}
