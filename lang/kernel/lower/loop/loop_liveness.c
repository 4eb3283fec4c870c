/* loop_liveness.c -- determines whether a variable is read after the loop before it is set again.
 *
 * The program is walked in execution order.  A path is open from the end of the loop until the variable is set; the
 * analysis looks for a read on an open path.  A loop around this one may lead an open path back to its beginning.
 * Constructs that cannot be followed count as reads: closures, evaluated text.
 *
 * In the parallel version each iteration begins with no variable set; the value of a live variable after the loop comes
 * from the last iteration. */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <string.h>

typedef struct {
    const LoopJob *job;
    const Node *loop;
    const Sym *sym;
    bool open;      /* the path to here is open */
    bool brk, cont; /* a path that leaves the innermost loop is open; a path to its next iteration is open */
    bool returned,
        ever;    /* a path to a return is open; a path so far in the innermost try, which an error may leave, is open */
    bool inside; /* in the loop */
    bool read;
} Liveness;

static void walk_node(Liveness *w, Node *n);

static void walk_list(Liveness *w, NodeList l) {
    for (int i = 0; i < l.n; i++) walk_node(w, l.at[i]);
}

static bool is_it(const Liveness *w, const Sym *s) {
    return s && (s == w->sym || (s->kind == SYM_GLOBAL && w->sym->kind == SYM_GLOBAL && s->index == w->sym->index));
}

static void walk_child(void *ud, Node **child) { walk_node(ud, *child); }

static void walk_assign(Liveness *w, Node *n) {
    walk_node(w, n->u.assign.value);
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        Node *t = n->u.assign.targets[i];
        if (t->kind != N_IDENT || n->u.assign.in_place) walk_node(w, t);
        if (t->kind == N_IDENT && is_it(w, t->u.ident.sym)) w->open = false;
    }
}

static void walk_if(Liveness *w, Node *n) {
    bool after = false;
    for (int i = 0; i < n->u.ifs.n; i++) {
        walk_node(w, n->u.ifs.conds[i]);
        bool here = w->open;
        walk_list(w, n->u.ifs.blocks[i]);
        after |= w->open, w->open = here;
    }
    if (n->u.ifs.has_else) walk_list(w, n->u.ifs.other);
    w->open |= after;
}

static void walk_match(Liveness *w, Node *n) {
    bool after = false, wildcard = false;
    walk_node(w, n->u.match.value);
    for (int i = 0; i < n->u.match.narms && !wildcard; i++) {
        const MatchArm *arm = &n->u.match.arms[i];
        for (int k = 0; k < arm->npatterns; k++) walk_node(w, arm->patterns[k]);
        bool here = w->open;
        walk_list(w, arm->body);
        after |= w->open, w->open = here, wildcard = arm->wildcard;
    }
    w->open = after || (w->open && !wildcard);
}

/* Walks two iterations: the second begins in the state in which the first may have ended.  If the first has begun in
 * it, too, the second is left out, because it would double the work at each level of nested loops. */
static void walk_loop(Liveness *w, Node *n, NodeList body, Node *cond) {
    bool brk = w->brk, cont = w->cont, inside = w->inside, after = n->kind == N_FOR && w->open;
    w->brk = w->cont = false, w->inside |= n == w->loop;
    for (int pass = 0, begun = -1; pass < 2 && begun != w->open; pass++) {
        begun = w->open;
        if (n->kind == N_WHILE) walk_node(w, cond), after |= w->open;
        /* an outer counter keeps what the body assigns to it until its next value */
        if (n->kind == N_FOR && is_it(w, n->u.loop.syms[n->u.loop.nvars - 1])) w->open = false;
        walk_list(w, body);
        w->open |= w->cont;
        if (n->kind == N_REPEAT) walk_node(w, cond);
        if (n->kind != N_WHILE) after |= w->open;
    }
    if (n->kind == N_WHILE) walk_node(w, cond), after |= w->open;
    w->open = after || w->brk;
    w->brk = brk, w->cont = cont, w->inside = inside;
    if (n == w->loop) w->open = w->ever = true;
}

static void walk_for(Liveness *w, Node *n) {
    for (int i = 0; i < n->u.loop.nranges; i++) walk_node(w, n->u.loop.ranges[i]);
    walk_loop(w, n, n->u.loop.body, NULL);
}

/* The handler begins after a failure in any part of the body, the block after finally also after one in the handler. */
static void walk_try(Liveness *w, Node *n) {
    bool ever = w->ever;
    w->ever = w->open;
    walk_list(w, n->u.tries.body);
    bool after = w->open;
    w->open = w->ever && !is_it(w, n->u.tries.sym);
    walk_list(w, n->u.tries.handler);
    w->open |= after;
    if (n->u.tries.has_last) w->open |= w->ever, walk_list(w, n->u.tries.last);
    w->ever |= ever;
}

/* The interpreter makes the message of an error, after the loop has stored its variables. */
static void walk_call(Liveness *w, Node *n) {
    bool open = w->open;
    w->open |= w->inside && qast_makes_message(n);
    qast_children(n, walk_child, w);
    w->open &= open;
}

static void walk_node(Liveness *w, Node *n) {
    if (!n) return;
    w->open |= w->inside && kloop_is_left(w->job, n); /* the interpreter continues here */
    switch ((NodeKind)n->kind) {
    case N_IDENT: w->read |= w->open && is_it(w, n->u.ident.sym); break;
    case N_ASSIGN: walk_assign(w, n); break;
    case N_IF: walk_if(w, n); break;
    case N_MATCH: walk_match(w, n); break;
    case N_FOR: walk_for(w, n); break;
    case N_WHILE:
    case N_REPEAT: walk_loop(w, n, n->u.whiles.body, n->u.whiles.cond); break;
    case N_TRY: walk_try(w, n); break;
    case N_CALL: walk_call(w, n); break;
    case N_BREAK: w->brk |= w->open, w->open = false; break;
    case N_CONTINUE: w->cont |= w->open, w->open = false; break;
    case N_RETURN: w->returned |= w->open, w->open = false; break;
    default: qast_children(n, walk_child, w); break;
    }
}

/* -- closures and evaluated text ----------------------------------------------------------------------------------- */
/* inside: in a function of the variable's unit or scope */
typedef struct {
    const Liveness *w;
    bool inside, found;
} Search;

static void search(void *ud, Node **child);

static void search_function(Search *s, Func *f) {
    Search in = {s->w, true, false};
    for (int i = 0; i < f->ncaptures; i++) s->found |= is_it(s->w, f->captures[i].outer);
    for (int i = 0; i < f->body.n; i++) search(&in, &f->body.at[i]);
    search(&in, &f->expr);
    s->found |= in.found;
}

static void search(void *ud, Node **child) {
    Search *s = ud;
    Node *n = *child;
    if (!n) return;
    if (n->kind == N_IDENT)
        s->found |= !strcmp(n->u.ident.name->s, "eval") || (s->inside && is_it(s->w, n->u.ident.sym));
    if (n->kind == N_LAMBDA) search_function(s, n->u.lambda.func);
    if (n->kind == N_FUNC) search_function(s, n->u.func);
    qast_children(n, search, ud);
}

/* Closures read a local when they are made, wherever that is; every function of its file may read a global. */
static bool escapes(const Liveness *w, const LoopJob *job) {
    const Unit *u = job->func->unit;
    Search s = {.w = w};
    for (int i = 0; i < job->func->body.n; i++) search(&s, &job->func->body.at[i]);
    for (int i = 0; w->sym->kind == SYM_GLOBAL && i < u->nfuncs; i++) search_function(&s, u->funcs[i]->u.func);
    return s.found;
}

bool kloop_is_live(const LoopJob *job, const Sym *sym) {
    const Node *origin = job->loop->kind == N_FOR ? job->loop->u.loop.origin : NULL;
    Liveness w = {.job = job, .loop = origin ? origin : job->loop, .sym = sym};
    w.returned = kquery_node(kquery_body_of(job->loop), true, kquery_is_return, NULL);
    if ((sym->kind == SYM_GLOBAL && !job->ends) || escapes(&w, job)) return true;
    walk_list(&w, job->func->body);
    if (job->func->expr) walk_node(&w, job->func->expr);
    for (int i = 0; i < job->func->nouts; i++) w.read |= is_it(&w, job->func->outs[i].sym) && (w.open || w.returned);
    return w.read;
}
