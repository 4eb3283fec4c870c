/* emit_rewrite.c -- an expression or statement that a reduction of the program fits: the guards, the replacement, and
 * the original where a guard may fail when the program runs. */
#include "lang/emit.h"

#include "lang/rewrite.h"

bool qemit_could_rewrite(Emit *e, Node *n) {
    Rewrite rw;
    return qrewrite_find(e->func->unit, e->host->rules, e->host->nrules, n, e->rewriting, &rw);
}

static void compile_form(Emit *e, Node *n, int dst) {
    if (dst < 0) qemit_statement(e, n);
    else qemit_to(e, n, dst);
}

/* reduction x -> x.T = …: the variable whose field the pattern is. */
static bool owns_field(const Reduction *r, int i) {
    const Node *p = r->pattern, *base = p->kind == N_FIELD ? p->u.field.base : NULL;
    return base && base->kind == N_IDENT && base->u.ident.sym == r->params[i].sym;
}

static void guard_jump(Emit *e, int *otherwise) {
    qemit_word(e, (uint32_t)*otherwise);
    *otherwise = (int)qemit_pc(e) - 1;
}

static void test_guard(Emit *e, const Rewrite *rw, int i, int *otherwise) {
    TypeExpr *t = rw->rule->params[i].type;
    bool typed = t && t->kind != TE_ANY && rw->bound[i]->kind != N_TYPE, field = owns_field(rw->rule, i);
    if (!typed && !field) return;
    int mark = e->top, r = rw->temps[i] ? rw->temps[i]->index : qemit_any(e, rw->bound[i]);
    if (typed) {
        qemit_op(e, BC_JTYPE, r, 0, 0);
        qemit_word(e, qemit_type(e, t));
        guard_jump(e, otherwise);
    }
    if (field) {
        qemit_op(e, BC_JSPACE, r, 0, 0);
        guard_jump(e, otherwise);
    }
    if (e->top > mark) qemit_op(e, BC_CLEAR, mark, e->top - mark, 0);
    e->top = mark;
}

/* Jumps to `otherwise` when a guard of the rule does not hold for what it is applied to. */
static void test_guards(Emit *e, const Rewrite *rw, int *otherwise) {
    for (int i = 0; i < rw->n; i++) test_guard(e, rw, i, otherwise);
    if (rw->where) qemit_jump_if(e, rw->where, false, otherwise);
}

/* What the variables of the rule stand for is evaluated once; then the result of the rule, or the original, is made of
 * these values. */
bool qemit_rewritten(Emit *e, Node *n, int dst) {
    Rewrite rw;
    if (!qrewrite_find(e->func->unit, e->host->rules, e->host->nrules, n, e->rewriting, &rw)) return false;
    e->chunk->nrewritten++;
    const RewriteFrame *outer = e->rewriting;
    int mark = e->top, otherwise = 0, end = 0, result = dst < 0 || !qemit_is_temp(e, dst) ? dst : qemit_temps(e, 1);
    int first = e->top;
    for (int i = 0; i < rw.n; i++) {
        if (!rw.temps[i]) continue;
        int r = qemit_temps(e, 1);
        qemit_to(e, rw.bound[i], r);
        rw.temps[i]->index = r;
    }
    int count = e->top - first;
    test_guards(e, &rw, &otherwise);
    bool *before = qemit_state(e);
    e->rewriting = &rw.frame;
    compile_form(e, rw.replacement, result);
    if (otherwise) {
        qemit_jump(e, BC_JMP, 0, 0, 0, &end);
        qemit_here(e, otherwise);
        bool *after = qemit_state(e);
        qemit_restore(e, before);
        compile_form(e, rw.original, result);
        qemit_join(e, after);
        qemit_restore(e, after);
        qemit_here(e, end);
    }
    e->rewriting = outer;
    if (count) qemit_op(e, BC_CLEAR, first, count, 0);
    if (result >= 0) qemit_move(e, dst, result);
    e->top = mark;
    return true;
}
