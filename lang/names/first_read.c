/* first_read.c -- finds locals that must be initialized from an outer variable of the same name.
 *
 *     n = 5;  f = () -> (n = n + 1; print n)        the local n begins as 5 and becomes 6; the outer n stays 5
 *
 * One walk in the order of evaluation finds out whether a local may be read before the function assigns to it.  Only
 * then the outer variable is captured, because a capture has a cost: each captured array becomes an argument of a
 * kernel, and a closure keeps it alive. */
#include "lang/names/first_read.h"

typedef struct {
    const Sym *sym;
    bool set, early;
} Order; /* set: sym certainly has a value here; early: it may have been read without one */

static void visit_node(void *ud, Node **child);

static void visit_all(Order *o, NodeList l) {
    for (int i = 0; i < l.n; i++) visit_node(o, &l.at[i]);
}

static void read_here(Order *o) { o->early |= !o->set; }

static void captured_by(Order *o, const Func *f) {
    for (int i = 0; i < f->ncaptures; i++)
        if (f->captures[i].outer == o->sym) read_here(o);
}

static void name(Order *o, const Sym *s) {
    if (s == o->sym) read_here(o);
    else if (s && s->kind == SYM_NESTED && s->func) captured_by(o, s->func);
}

static void assignment(Order *o, Node *n) {
    bool names_itself = n->u.assign.value->kind == N_LAMBDA && qast_is_name(n->u.assign.targets[0], o->sym);
    if (!names_itself) visit_node(o, &n->u.assign.value);
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        if (!qast_is_name(n->u.assign.targets[i], o->sym)) visit_node(o, &n->u.assign.targets[i]);
        else if (n->u.assign.in_place) read_here(o);
    }
    for (int i = 0; i < n->u.assign.ntargets; i++) o->set |= qast_is_name(n->u.assign.targets[i], o->sym);
}

/* Visits a part that may not run.  Clears *after if sym may have no value at its end, then restores the state
 * before. */
static void branch(Order *o, NodeList part, bool *after) {
    bool before = o->set;
    visit_all(o, part);
    *after &= o->set;
    o->set = before;
}

static void conditional(Order *o, Node *n) {
    bool after = true;
    for (int i = 0; i < n->u.ifs.n; i++) {
        visit_node(o, &n->u.ifs.conds[i]);
        branch(o, n->u.ifs.blocks[i], &after);
    }
    branch(o, n->u.ifs.other, &after);
    o->set = after;
}

static void match(Order *o, Node *n) {
    bool after = true, every = false;
    visit_node(o, &n->u.match.value);
    for (int i = 0; i < n->u.match.narms; i++) {
        branch(o, n->u.match.arms[i].body, &after);
        every |= n->u.match.arms[i].wildcard;
    }
    o->set = every ? after : o->set;
}

static void for_loop(Order *o, Node *n) {
    bool after = true;
    for (int i = 0; i < n->u.loop.nranges; i++) visit_node(o, &n->u.loop.ranges[i]);
    bool before = o->set;
    for (int i = 0; i < n->u.loop.nvars; i++) o->set |= n->u.loop.syms[i] == o->sym;
    branch(o, n->u.loop.body, &after);
    o->set = before;
}

static void try_block(Order *o, Node *n) {
    bool after = true, before = o->set;
    branch(o, n->u.tries.body, &after);
    o->set = before || n->u.tries.sym == o->sym;
    branch(o, n->u.tries.handler, &after);
    o->set = before;
    visit_all(o, n->u.tries.last);
    o->set |= after;
}

static void visit_node(void *ud, Node **child) {
    Order *o = ud;
    Node *n = *child;
    bool after = true;
    switch ((NodeKind)n->kind) {
    case N_IDENT: name(o, n->u.ident.sym); break;
    case N_LAMBDA: captured_by(o, n->u.lambda.func); break;
    case N_ASSIGN: assignment(o, n); break;
    case N_DECL: o->set |= n->u.decl.sym == o->sym; break;
    case N_IF: conditional(o, n); break;
    case N_MATCH: match(o, n); break;
    case N_FOR: for_loop(o, n); break;
    case N_WHILE:
        visit_node(o, &n->u.whiles.cond);
        branch(o, n->u.whiles.body, &after);
        break;
    case N_TRY: try_block(o, n); break;
    case N_BREAK:
    case N_CONTINUE:
    case N_RETURN: o->set = true; break; /* the code after it is not reached */
    default: qast_children(n, visit_node, o); break;
    }
}

bool qfirstread_is_read_first(const Func *f, const Sym *local) {
    Order o = {.sym = local};
    visit_all(&o, f->body);
    if (f->expr) visit_node(&o, (Node **)&f->expr);
    return o.early;
}

/* -- assignments without another use ------------------------------------------------------------------------------- */
typedef struct {
    const Sym *sym;
    bool used;
    const Node *set;
} Use;

static void look_for_use(void *ud, Node **child) {
    Use *u = ud;
    Node *n = *child;
    const Func *inner = n->kind == N_LAMBDA ? n->u.lambda.func : n->kind == N_FUNC ? n->u.func : NULL;
    for (int i = 0; inner && i < inner->ncaptures; i++) u->used |= inner->captures[i].outer == u->sym;
    if (n->kind == N_ASSIGN && n->u.assign.ntargets == 1 && n->u.assign.targets[0]->kind == N_IDENT &&
        n->u.assign.targets[0]->u.ident.sym == u->sym) {
        if (!u->set) u->set = n;
        return; /* n += 1 and n = n + 1 use n only for n itself */
    }
    if (n->kind == N_IDENT) u->used |= n->u.ident.sym == u->sym;
    else qast_children(n, look_for_use, u);
}

const Node *qfirstread_useless(const Func *f, const Sym *local) {
    Use u = {.sym = local};
    for (int i = 0; i < f->body.n; i++) look_for_use(&u, &f->body.at[i]);
    if (f->expr) look_for_use(&u, (Node **)&f->expr);
    return u.used ? NULL : u.set;
}
