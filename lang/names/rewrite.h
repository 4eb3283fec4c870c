/* rewrite.h -- applies reductions: rewrite rules that a program adds to the compiler.
 *
 *     reduction (x : M, a : M, b, c) -> (x[a > b] = c) = (x += (c - x).*(a > b)) where cond
 *
 * A compiler uses it for a node as follows:
 *
 *     Rewrite rw;
 *     if (qrewrite_find(unit, rules, nrules, node, active, &rw)) {
 *         for each i with rw.temps[i]: evaluate rw.bound[i] into a register and store its number in rw.temps[i]->index;
 *         if some type guard rw.rule->params[i].type or rw.where is not known to hold: emit the tests, a jump, and
 *             compile(rw.original, &rw.frame) for when they fail;
 *         compile(rw.replacement, &rw.frame);
 *     }
 *
 * Every bound expression is therefore evaluated once, before either version.  Type guards that are known to hold at
 * compile time cost nothing.  Other guards are tested at run time, and the code has both the replacement and the
 * original.
 *
 * `active` lists the rules whose result is being compiled; NULL: none.  Compiling `original` under the same frame tries
 * the next best rule. */
#ifndef LANG_REWRITE_H
#define LANG_REWRITE_H
#include "lang/syntax/ast.h"

typedef struct RewriteFrame {
    const struct RewriteFrame *up;
    const Reduction *rule;
    int size; /* size of the rewritten node; inside its own result a rule applies only to smaller nodes */
    int depth;
} RewriteFrame;

typedef struct Rewrite {
    const Reduction *rule;
    int n;        /* rule->nparams */
    Node **bound; /* subexpression bound to each variable; part of the matched node */
    Sym **temps;  /* SYM_TEMP that replaces bound[i] in the new nodes; NULL: a name or literal, inserted directly */
    Node *replacement, *where, *original; /* new nodes with the position of the matched node; where may be NULL */
    RewriteFrame frame;
} Rewrite;

/* Sorts rules from definition order to best first: most specific guards, then largest pattern, then latest definition.
 * A list is sorted once and then searched often. */
void qrewrite_order(Reduction **rules, int n);

/* Applies the first rule that matches `node`, which is an expression, N_ASSIGN or N_EXPR; false: none matches.  New
 * nodes are allocated in u's arena.  A rule whose replacement is an assignment matches statements only; a statement may
 * be replaced by an expression. */
bool qrewrite_find(Unit *u, Reduction *const *rules, int n, const Node *node, const RewriteFrame *active, Rewrite *out);
#endif
