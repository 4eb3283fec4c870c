/* code_rewrite.c -- compiles expressions and statements that a reduction of the program matches: the guards, the
 * replacement, and also the original if a guard may fail at run time. */
#include "lang/bytecode/code.h"

#include "lang/names/rewrite.h"

bool qcode_could_rewrite(Coder *e, Node *n) {
    Rewrite rw;
    return qrewrite_find(e->func->unit, e->host->rules, e->host->nrules, n, e->rewriting, &rw);
}

static void compile_form(Coder *e, Node *n, int dst) {
    if (dst < 0) qcode_statement(e, n);
    else qcode_to(e, n, dst);
}

/* Returns whether the pattern is a field of variable i, as in reduction x -> x.T = …. */
static bool owns_field(const Reduction *r, int i) {
    const Node *p = r->pattern, *base = p->kind == N_FIELD ? p->u.field.base : NULL;
    return qast_is_name(base, r->params[i].sym);
}

static void guard_jump(Coder *e, int *otherwise) {
    qcode_word(e, (uint32_t)*otherwise);
    *otherwise = (int)qcode_pc(e) - 1;
}

static void test_guard(Coder *e, const Rewrite *rw, int i, int *otherwise) {
    TypeExpr *t = rw->rule->params[i].type;
    bool typed = t && t->kind != TE_ANY && rw->bound[i]->kind != N_TYPE, field = owns_field(rw->rule, i);
    if (!typed && !field) return;
    int mark = e->top, r = rw->temps[i] ? rw->temps[i]->index : qcode_any(e, rw->bound[i]);
    if (typed) {
        qcode_op(e, BC_JTYPE, r, 0, 0);
        qcode_word(e, qcode_type(e, t));
        guard_jump(e, otherwise);
    }
    if (field) {
        qcode_op(e, BC_JSPACE, r, 0, 0);
        guard_jump(e, otherwise);
    }
    if (e->top > mark) qcode_op(e, BC_CLEAR, mark, e->top - mark, 0);
    e->top = mark;
}

/* Emits jumps to `otherwise` for guards of the rule that do not hold. */
static void test_guards(Coder *e, const Rewrite *rw, int *otherwise) {
    for (int i = 0; i < rw->n; i++) test_guard(e, rw, i, otherwise);
    if (rw->where) qcode_jump_if(e, rw->where, false, otherwise);
}

/* Evaluates the expressions bound to the variables of the rule once; then compiles the replacement, and if necessary
 * the original, with these values. */
bool qcode_rewritten(Coder *e, Node *n, int dst) {
    Rewrite rw;
    if (!qrewrite_find(e->func->unit, e->host->rules, e->host->nrules, n, e->rewriting, &rw)) return false;
    e->chunk->nrewritten++;
    const RewriteFrame *outer = e->rewriting;
    int mark = e->top, otherwise = 0, end = 0, result = dst < 0 || !qcode_is_temp(e, dst) ? dst : qcode_temps(e, 1);
    int first = e->top;
    for (int i = 0; i < rw.n; i++) {
        if (!rw.temps[i]) continue;
        int r = qcode_temps(e, 1);
        qcode_to(e, rw.bound[i], r);
        rw.temps[i]->index = r;
    }
    int count = e->top - first;
    test_guards(e, &rw, &otherwise);
    bool *before = qcode_state(e);
    e->rewriting = &rw.frame;
    compile_form(e, rw.replacement, result);
    if (otherwise) {
        qcode_jump(e, BC_JMP, 0, 0, 0, &end);
        qcode_here(e, otherwise);
        bool *after = qcode_state(e);
        qcode_restore(e, before);
        compile_form(e, rw.original, result);
        qcode_join(e, after);
        qcode_restore(e, after);
        qcode_here(e, end);
    }
    e->rewriting = outer;
    if (count) qcode_op(e, BC_CLEAR, first, count, 0);
    if (result >= 0) qcode_move(e, dst, result);
    e->top = mark;
    return true;
}
