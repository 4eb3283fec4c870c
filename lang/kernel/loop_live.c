/* loop_live.c -- whether anybody reads a variable after the loop before it is set again.
 *
 * The program is walked in the order in which it runs, from the end of the loop on; a loop around it may bring the walk
 * back to its beginning.  What cannot be followed counts as reading. */
#include "lang/kernel/looping.h"

#include <string.h>

/* BEFORE the loop nothing counts; then the first of READ and SET decides. */
typedef enum { BEFORE, OPEN, SET, READ } Fate;
typedef struct { const Node *loop; const Sym *sym; Fate fate; } Walk;

static void walk(Walk *w, Node *n);

static void walk_list(Walk *w, NodeList l) {
    for (int i = 0; i < l.n; i++) walk(w, l.at[i]);
}

static bool is_it(const Walk *w, const Sym *s) {
    return s && (s == w->sym || (s->kind == SYM_GLOBAL && w->sym->kind == SYM_GLOBAL && s->index == w->sym->index));
}

static void note(Walk *w, Fate f) {
    if (w->fate == OPEN) w->fate = f;
}

static void captured(Walk *w, const Func *f) {
    for (int i = 0; i < f->ncaptures; i++)
        if (is_it(w, f->captures[i].outer)) note(w, READ);
}

static void walk_child(void *ud, Node **child) { walk(ud, *child); }

static void walk_targets(Walk *w, Node *n) {
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        Node *t = n->u.assign.targets[i];
        if (t->kind != N_IDENT) walk(w, t);
        else if (is_it(w, t->u.ident.sym)) note(w, n->u.assign.in_place ? READ : SET);
    }
}

/* One of several ways: read on any of them is read, set on all of them is set. */
static void merge(Fate *all, Fate one) {
    if (*all == READ || one == READ) *all = READ;
    else if (*all == BEFORE || one == BEFORE) *all = *all > one ? *all : one; /* the loop was on one of them */
    else *all = *all == SET && one == SET ? SET : OPEN;
}

static void walk_if(Walk *w, Node *n) {
    Fate all = SET;
    bool any = false;
    for (int i = 0; i <= n->u.ifs.n; i++) {
        if (i < n->u.ifs.n) walk(w, n->u.ifs.conds[i]);
        Fate here = w->fate;
        if (i < n->u.ifs.n) walk_list(w, n->u.ifs.blocks[i]);
        else if (n->u.ifs.has_else) walk_list(w, n->u.ifs.other);
        if (any) merge(&all, w->fate);
        else all = w->fate, any = true;
        if (i < n->u.ifs.n) w->fate = here;
    }
    w->fate = all;
}

/* The body may run again, from its beginning, or not at all. */
static void walk_loop(Walk *w, Node *n, NodeList body, Node *cond) {
    bool counts = false;
    Fate entry = w->fate;
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) counts |= is_it(w, n->u.loop.syms[i]);
    for (int turn = 0; turn < 2; turn++) {
        if (cond && n->kind == N_WHILE) walk(w, cond);
        if (counts) note(w, SET);
        walk_list(w, body);
        if (cond && n->kind == N_REPEAT) walk(w, cond);
    }
    if (entry == OPEN && w->fate == SET) w->fate = OPEN;
}

static void walk_for(Walk *w, Node *n) {
    if (n == w->loop) {
        if (w->fate == BEFORE) w->fate = OPEN;
        return; /* met again it sets what it did the first time */
    }
    for (int i = 0; i < n->u.loop.nranges; i++) walk(w, n->u.loop.ranges[i]);
    walk_loop(w, n, n->u.loop.body, NULL);
}

static void walk(Walk *w, Node *n) {
    if (!n) return;
    switch ((NodeKind)n->kind) {
    case N_IDENT:
        if (is_it(w, n->u.ident.sym) || !strcmp(n->u.ident.name->s, "eval")) note(w, READ);
        break;
    case N_ASSIGN:
        walk(w, n->u.assign.value);
        walk_targets(w, n);
        break;
    case N_IF: walk_if(w, n); break;
    case N_FOR: walk_for(w, n); break;
    case N_WHILE: case N_REPEAT: walk_loop(w, n, n->u.whiles.body, n->u.whiles.cond); break;
    case N_LAMBDA: captured(w, n->u.lambda.func); break;
    case N_FUNC: captured(w, n->u.func); break;
    case N_TRY: case N_MATCH: case N_BREAK: case N_CONTINUE: case N_RETURN: {
        Fate before = w->fate;
        qast_children(n, walk_child, w);
        if (before == OPEN && w->fate == SET) w->fate = OPEN;
        break;
    }
    default: qast_children(n, walk_child, w); break;
    }
}

static void find_mention(void *ud, Node **child) {
    Walk *w = ud;
    Node *n = *child;
    if (!n) return;
    if (n->kind == N_IDENT && (is_it(w, n->u.ident.sym) || !strcmp(n->u.ident.name->s, "eval"))) w->fate = READ;
    if (n->kind == N_LAMBDA) {
        for (int i = 0; i < n->u.lambda.func->body.n; i++) find_mention(ud, &n->u.lambda.func->body.at[i]);
        find_mention(ud, &n->u.lambda.func->expr);
    }
    qast_children(n, find_mention, ud);
}

/* A global may be read by every function of its file. */
static bool is_mentioned(const Unit *u, const Sym *sym) {
    Walk w = {.sym = sym};
    for (int i = 0; i < u->nfuncs; i++) {
        Func *f = u->funcs[i]->u.func;
        for (int k = 0; k < f->body.n; k++) find_mention(&w, &f->body.at[k]);
        find_mention(&w, &f->expr);
    }
    return w.fate == READ;
}

bool kloop_is_live(const LoopJob *job, const Sym *sym) {
    Walk w = {job->loop, sym, BEFORE};
    if (sym->kind == SYM_GLOBAL && (!job->ends || is_mentioned(job->func->unit, sym))) return true;
    walk_list(&w, job->func->body);
    bool result = false;
    for (int i = 0; i < job->func->nouts; i++) result |= is_it(&w, job->func->outs[i].sym);
    if (job->func->expr) walk(&w, job->func->expr);
    return w.fate == READ || (w.fate != SET && result);
}
