/* rewrite.h -- reductions: rewrite rules that a program adds to the compiler.
 *
 *     reduction (x : M, a : M, b, c) -> (x[a > b] = c) = (x += (c - x).*(a > b)) where cond
 *
 * How the compiler of a node uses it:
 *
 *     Rewrite rw;
 *     if (qrewrite_find(unit, rules, nrules, node, active, &rw)) {
 *         for each i with rw.temps[i]: evaluate rw.bound[i] into a register and note it in rw.temps[i]->index;
 *         if some type guard rw.rule->params[i].type or rw.where is not known to hold: emit the tests, a jump, and
 *             compile(rw.original, &rw.frame) for when they fail;
 *         compile(rw.replacement, &rw.frame);
 *     }
 *
 * Every bound expression is thus evaluated once, before either form.  A guard about types that is known to hold when
 * the code is compiled costs nothing; any other is tested by the code, which keeps the original beside the replacement.
 *
 * `active` are the rules whose result is being compiled, NULL outside.  Compiling `original` under the same frame makes
 * the next best rule have its turn. */
#ifndef LANG_REWRITE_H
#define LANG_REWRITE_H
#include "lang/syntax/ast.h"

typedef struct RewriteFrame {
    const struct RewriteFrame *up;
    const Reduction *rule;
    int size; /* of the rewritten node: inside its own result a rule applies only to something smaller */
    int depth;
} RewriteFrame;

typedef struct Rewrite {
    const Reduction *rule;
    int n;        /* rule->nparams */
    Node **bound; /* what each variable stands for, part of the matched node */
    Sym **temps;  /* SYM_TEMP that stands for bound[i] below; NULL: a name or literal, put in directly */
    Node *replacement, *where, *original; /* where may be NULL; positions are those of the matched node */
    RewriteFrame frame;
} Rewrite;

/* Takes rules in the order of their definition and puts the best first: most specific guards, then the pattern with the
 * most structure, then the latest.  Order a list once, then search it often. */
void qrewrite_order(Reduction **rules, int n);

/* The first rule that fits `node`: an expression, N_ASSIGN or N_EXPR; nodes made go to u's arena.  A rule whose result
 * is an assignment fits statements only; the result of a statement may be an expression. */
bool qrewrite_find(Unit *u, Reduction *const *rules, int n, const Node *node, const RewriteFrame *active, Rewrite *out);
#endif
