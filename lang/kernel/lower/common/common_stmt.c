/* common_stmt.c -- lowers statements and control flow.
 *
 * Control flow becomes KIR blocks.  Where paths meet, a variable has a value if it has one on all of them (Ways).
 * After a construct that no path leaves, Walk.left is set, and the rest of the block is unreachable. */
#include "lang/kernel/lower/common/common.h"
#include "lang/syntax/operators.h"

#include "vm/base/warning.h"

#include <stdio.h>

/* -- paths --------------------------------------------------------------------------------------------------------- */
bool *kstmt_save(Walk *w) { return w->rules->save ? w->rules->save(w) : NULL; }

void kstmt_restore(Walk *w, const bool *sure) {
    if (sure) w->rules->restore(w, sure);
}

void kstmt_add_way(Walk *w, Ways *ways) {
    if (!ways->sure) ways->sure = kstmt_save(w);
    else w->rules->join(w, ways->sure);
    ways->any = true;
}

/* Continues at the point where the paths meet. */
static void meet_paths(Walk *w, const Ways *ways) {
    w->left = !ways->any;
    kstmt_restore(w, ways->sure);
}

void kstmt_meet_exits(Walk *w, const Exits *e) {
    kstmt_restore(w, e->next.sure);
    if (e->next.sure && e->outs.sure) w->rules->join(w, e->outs.sure);
    kstmt_restore(w, e->outs.sure);
}

/* -- assignment ---------------------------------------------------------------------------------------------------- */
static qs_status object_of(Walk *w, const Node *target, struct Val **out) {
    *out = kval_new(w, 1);
    TRY(kexpr_lower(w, target->u.field.base, *out));
    return w->pos = target->pos, QS_OK;
}

static qs_status assign_to(Walk *w, Node *target, TypeExpr *type, struct Val *x) {
    struct Val *object;
    w->pos = target->pos;
    switch ((NodeKind)target->kind) {
    case N_IDENT: return target->u.ident.sym ? w->rules->set_name(w, target, type, x) : QS_OK; /* _ */
    case N_INDEX: return w->rules->set_element(w, target, x);
    case N_FIELD: TRY(object_of(w, target, &object)); return w->rules->set_field(w, object, target, x);
    default: return w->rules->fail(w, QS_ETYPE, target->pos, "this cannot be assigned");
    }
}

/* Lowers a op= b.  As in the interpreter, a variable is read after b, where a function may have changed its elements,
 * and a field before b.  That a variable has no value is an error before b is computed. */
static qs_status lower_update(Walk *w, const Node *n) {
    const WalkRules *r = w->rules;
    Node *target = n->u.assign.targets[0];
    struct Val *old = kval_new(w, 1), *x = kval_new(w, 1), *sum = kval_new(w, 1), *object = NULL;
    bool field = target->kind == N_FIELD, done = false;
    if (target->kind == N_INDEX) return r->update_element(w, target, (Op)n->op, n->u.assign.value);
    if (!field && (target->kind != N_IDENT || !target->u.ident.sym))
        return r->fail(w, QS_ETYPE, target->pos, "this cannot be changed");
    w->pos = target->pos;
    if (field) TRY(object_of(w, target, &object));
    if (field && r->update_field) TRY(r->update_field(w, object, target, (Op)n->op, n->u.assign.value, &done));
    if (done) return QS_OK;
    if (field) TRY(r->expr->field(w, object, target, old));
    else TRY(kcall_name(w, target->u.ident.sym, target->pos, old));
    TRY(kexpr_lower(w, n->u.assign.value, x));
    w->pos = target->pos;
    if (!field) TRY(kcall_name(w, target->u.ident.sym, target->pos, old));
    w->pos = n->u.assign.value->pos; /* as the interpreter reports errors */
    TRY(r->combine(w, target, (Op)n->op, old, x, sum));
    w->pos = target->pos;
    return field ? r->set_field(w, object, target, sum) : r->set_name(w, target, NULL, sum);
}

/* [a, b] = f(…), where f returns one list: applies the interpreter's rule (qwarn_unpacked).  A loop with an error is
 * left to the interpreter, which reports it. */
static qs_status check_unpacked(Walk *w, const Node *call, const struct Val *list, int want) {
    const Node *callee = call->u.call.callee;
    const Sym *s = qast_symbol(callee);
    const bool field = callee->kind == N_FIELD;
    const Where at = qast_where(w->in->func->unit, call->pos);
    const char *name = callee->kind == N_IDENT ? callee->u.ident.name->s
                       : field                 ? callee->u.field.name->s
                                               : "the function";
    bool converts = callee->kind == N_TYPE || (s && s->kind == SYM_TYPE);
    int have = w->rules->count(w, list);
    if (have < want || converts || w->unpacks) return QS_OK;
    if (have == want)
        return qwarn_unpacked(w->c, at, name, (size_t)have, want, w->called && qast_means_list(w->called, want));
    char sentence[160];
    snprintf(sentence, sizeof sentence,
             "%.60s gives one result, an array of %d elements, but %d variables are "
             "assigned",
             name, have, want);
    return w->rules->fail(w, QS_ESHAPE, call->pos, sentence);
}

/* The values of [a,b] = …: the results of a call, the items of a literal, or the elements of one value. */
static qs_status values_of(Walk *w, const Node *n, struct Val *v) {
    const WalkRules *r = w->rules;
    Node *from = n->u.assign.value;
    int count = n->u.assign.ntargets;
    struct Val *whole = v;
    if ((from->kind == N_MATRIX || from->kind == N_CELL) && from->u.items.n == count && count > 1) {
        for (int i = 0; i < count; i++) TRY(kexpr_lower(w, from->u.items.at[i], kval_at(w, v, i)));
        return QS_OK;
    }
    if (from->kind == N_CALL) {
        TRY(kcall_lower(w, from, v, count));
        if (count == 1 || !r->is_nothing(kval_at(w, v, 1))) return QS_OK;
    } else {
        whole = kval_new(w, 1);
        TRY(kexpr_lower(w, from, whole));
    }
    w->pos = n->pos;
    if (from->kind == N_CALL) TRY(check_unpacked(w, from, v, count));
    return r->spread(w, whole, count, v);
}

static qs_status lower_assign(Walk *w, Node *n) {
    int count = n->u.assign.ntargets;
    if (n->u.assign.in_place) return lower_update(w, n);
    struct Val *v = kval_new(w, count);
    if (n->u.assign.bracketed) TRY(values_of(w, n, v));
    else TRY(kexpr_lower(w, n->u.assign.value, v));
    for (int i = 0; i < count; i++)
        TRY(assign_to(w, n->u.assign.targets[i], n->u.assign.types ? n->u.assign.types[i] : NULL, kval_at(w, v, i)));
    return QS_OK;
}

/* -- branches ------------------------------------------------------------------------------------------------------ */
static qs_status lower_branch(Walk *w, NodeList body, Ways *after) {
    TRY(kstmt_block(w, body));
    if (!w->left) kstmt_add_way(w, after);
    return w->left = false, QS_OK;
}

/* An `if` or `match`; `from` lowers the branches from number i on. */
typedef struct Branches Branches;
typedef qs_status BranchesFn(Walk *, Branches *, int i);
struct Branches {
    Node *n;
    BranchesFn *from;
    struct Val *value; /* the value of a `match` */
    Ways after;
};

/* Lowers branch i and those after it; `last`: there are none after it.  `known` as from kexpr_cond: a branch that is
 * never taken is not compiled. */
static qs_status lower_choice(Walk *w, Branches *b, int i, KRef c, int known, NodeList body, bool last) {
    if (known == 1) return lower_branch(w, body, &b->after);
    if (known == 0) return b->from(w, b, i + 1);
    bool *before = kstmt_save(w);
    kbuild_flow(w, K_IF, c);
    TRY(lower_branch(w, body, &b->after));
    kstmt_restore(w, before);
    if (!last) kbuild_flow(w, K_ELSE, 0);
    TRY(b->from(w, b, i + 1));
    return kbuild_end(w), QS_OK;
}

static qs_status if_from(Walk *w, Branches *b, int i) {
    KRef c;
    int known;
    const Node *n = b->n;
    if (i == n->u.ifs.n && n->u.ifs.has_else) return lower_branch(w, n->u.ifs.other, &b->after);
    if (i == n->u.ifs.n) return kstmt_add_way(w, &b->after), QS_OK;
    TRY(kexpr_cond(w, n->u.ifs.conds[i], &c, &known));
    return lower_choice(w, b, i, c, known, n->u.ifs.blocks[i], i + 1 == n->u.ifs.n && !n->u.ifs.has_else);
}

typedef struct {
    const Node *in;
    bool found;
} Names;

static void find_name(void *ud, Node **child) {
    Names *n = ud;
    if (!*child) return;
    n->found |= qast_same_name(*child, n->in);
    qast_children(*child, find_name, ud);
}

static bool has_name(Node *in, const Node *name) {
    Names n = {name, false};
    find_name(&n, &in);
    return n.found;
}

static void check_names(void *ud, Node **child) {
    Names *n = ud;
    if (!*child) return;
    if ((*child)->kind == N_IDENT && !has_name((Node *)(uintptr_t)n->in, *child)) n->found = false;
    qast_children(*child, check_names, ud);
}

/* Whether n has no names but those in the condition, which certainly have values. */
static bool has_names_of(const Node *cond, Node *n) {
    Names names = {cond, true};
    check_names(&names, &n);
    return names.found;
}

/* Whether n is a sum, difference or product of real numbers that certainly have values. */
static bool has_numbers(Walk *w, const Node *n) {
    switch ((NodeKind)n->kind) {
    case N_NUM: return !n->u.num.imaginary;
    case N_IDENT: return w->rules->expr->is_number(w, n);
    case N_UNARY: return n->op == OP_NEG && has_numbers(w, n->u.bin.a);
    case N_BINARY:
        return (n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL) && has_numbers(w, n->u.bin.a) &&
               has_numbers(w, n->u.bin.b);
    default: return false;
    }
}

/* Whether v = cond ? e : v does the same as the assignment of e in `if cond`; the condition is `a op b`. */
static bool may_select(Walk *w, Node *cond, const Node *set, Node *e) {
    Node *a = cond->u.bin.a, *b = cond->u.bin.b;
    const ExprRules *r = w->rules->expr;
    if (r->is_number && has_numbers(w, a) && has_numbers(w, b) && has_numbers(w, e)) return true;
    if (set->u.assign.in_place) return false;
    return cond->op != OP_EQ && cond->op != OP_NE && has_names_of(cond, e) && r->cheap(e) && r->cheap(a) && r->cheap(b);
}

/* The value that the assignment gives the variable v: v + e of v += e. */
static Node *value_of(Walk *w, const Node *set, Node *v) {
    Node *sum = qarena_alloc(w->arena, sizeof *sum);
    if (!set->u.assign.in_place) return set->u.assign.value;
    *sum = (Node){.kind = N_BINARY, .op = set->op, .pos = set->pos};
    return sum->u.bin.a = v, sum->u.bin.b = set->u.assign.value, sum;
}

/* Returns v = v < w ? e : v for `if v < w, v = e end` and the like, if w and e are cheap: no branch then hides from
 * indices and bounds of loops that v is an extreme, or wraps around.  NULL: it is another statement. */
static Node *as_selection(Walk *w, const Node *n) {
    const Node *set = n->u.ifs.n == 1 && n->u.ifs.blocks[0].n == 1 ? n->u.ifs.blocks[0].at[0] : n;
    Node *cond = n->u.ifs.conds[0];
    bool compares = cond->kind == N_BINARY && cond->op >= OP_EQ && cond->op <= OP_GE;
    if (n->u.ifs.has_else || set->kind != N_ASSIGN || !compares) return NULL;
    if (set->u.assign.ntargets != 1 || set->u.assign.bracketed) return NULL;
    if (set->u.assign.types && set->u.assign.types[0]) return NULL;
    Node *v = set->u.assign.targets[0], *e = value_of(w, set, v);
    if ((!qast_same_name(cond->u.bin.a, v) && !qast_same_name(cond->u.bin.b, v)) || !may_select(w, cond, set, e))
        return NULL;
    Node *made = qarena_alloc(w->arena, sizeof *made), *choice = qarena_alloc(w->arena, sizeof *choice);
    *choice = (Node){.kind = N_TERNARY, .pos = set->pos};
    choice->u.ternary.cond = cond, choice->u.ternary.then = e, choice->u.ternary.other = v;
    *made = *set, made->u.assign.value = choice, made->u.assign.in_place = false;
    return made;
}

static qs_status if_statement(Walk *w, Node *n) {
    Node *selection = as_selection(w, n);
    struct Val *c = kval_new(w, 1);
    if (selection) TRY(kexpr_lower(w, n->u.ifs.conds[0], c));
    /* a condition with several elements holds if all do, while `?:` selects element by element */
    if (selection && !w->rules->expr->many(c)) return lower_assign(w, selection);
    Branches b = {.n = n, .from = if_from};
    TRY(if_from(w, &b, 0));
    return meet_paths(w, &b.after), QS_OK;
}

/* -- match --------------------------------------------------------------------------------------------------------- */
/* A list of patterns: matches a value with elements one by one, all of which must match; a single value must match
 * any. */
static qs_status match_patterns(Walk *w, struct Val *value, const MatchArm *arm, KRef *out, int *known) {
    int n = arm->npatterns, count = n > 1 ? w->rules->count(w, value) : -1;
    bool all = count >= 0;
    KRef one;
    double k;
    *out = 0, *known = 0;
    if (all && count != n) return QS_OK;
    struct Val *items = all ? kval_new(w, n) : value;
    if (all) TRY(w->rules->spread(w, value, n, items));
    for (int i = 0; i < n; i++) {
        TRY(w->rules->equal(w, all ? kval_at(w, items, i) : value, arm->patterns[i], &one));
        *out = *out ? kbuild_pure(w, (KMake){all ? K_AND : K_OR, .a = *out, .b = one}) : one;
    }
    *known = kir_is_const(w->f, *out, &k) ? k != 0 : -1;
    return QS_OK;
}

static qs_status match_from(Walk *w, Branches *b, int i) {
    KRef c = 0;
    int known = 1, n = b->n->u.match.narms;
    if (i == n) return kstmt_add_way(w, &b->after), QS_OK;
    const MatchArm *arm = &b->n->u.match.arms[i];
    if (!arm->wildcard) TRY(match_patterns(w, b->value, arm, &c, &known));
    return lower_choice(w, b, i, c, known, arm->body, i + 1 == n);
}

static qs_status match_statement(Walk *w, Node *n) {
    Branches b = {.n = n, .from = match_from, .value = kval_new(w, 1)};
    TRY(kexpr_lower(w, n->u.match.value, b.value));
    TRY(match_from(w, &b, 0));
    return meet_paths(w, &b.after), QS_OK;
}

/* -- loops --------------------------------------------------------------------------------------------------------- */
static qs_status each_bound(Walk *w, Node *e, int n, struct Val **out, bool *differ) {
    *out = NULL;
    if (!e) return QS_OK;
    struct Val *v = kval_new(w, 1);
    *out = kval_new(w, n);
    TRY(kexpr_lower(w, e, v));
    w->pos = e->pos;
    int have = n > 1 ? w->rules->count(w, v) : -1;
    if (have == n) return *differ = true, w->rules->spread(w, v, n, *out);
    if (have >= 0) return kcall_fail(w, QS_ESHAPE, e->pos, "%d loop variables run over a vector of %d", n, have);
    for (int i = 0; i < n; i++) kval_copy(w, kval_at(w, *out, i), v);
    return QS_OK;
}

qs_status kstmt_bounds(Walk *w, Node *range, int n, RangeEnds *out) {
    out->differ = false;
    TRY(each_bound(w, range->u.range.lo, n, &out->lo, &out->differ));
    TRY(each_bound(w, range->u.range.step, n, &out->step, &out->differ));
    return each_bound(w, range->u.range.hi, n, &out->hi, &out->differ);
}

void kstmt_enter_loop(Walk *w, Exits *e) {
    *e = (Exits){.up = w->exits, .brk = w->depth, .cont = w->depth, .out = &e->outs};
    w->exits = e;
}

void kstmt_leave_loop(Walk *w) {
    w->exits = w->exits->up;
    w->left = false;
    kbuild_end(w);
}

qs_status kstmt_loop_body(Walk *w, Node *loop) {
    return w->rules->loop_body ? w->rules->loop_body(w, loop) : kstmt_block(w, kquery_body_of(loop));
}

static void notify_loop(Walk *w, const Node *n) {
    if (w->rules->loop_begins) w->rules->loop_begins(w, n);
}

static qs_status while_loop(Walk *w, Node *n) {
    Exits frame;
    bool done = false, always;
    if (w->rules->counted_while) TRY(w->rules->counted_while(w, n, &done));
    if (done) return QS_OK;
    bool *before = kstmt_save(w);
    notify_loop(w, n);
    kbuild_flow(w, K_LOOP, 0);
    kstmt_enter_loop(w, &frame);
    TRY(kexpr_leave_unless(w, n->u.whiles.cond, &always));
    TRY(kstmt_loop_body(w, n));
    kstmt_leave_loop(w);
    kstmt_restore(w, always && frame.outs.any ? frame.outs.sure : before);
    return QS_OK;
}

/* `continue` jumps to the condition at the end: it leaves an inner LOOP of one iteration that contains the body. */
static qs_status repeat_body(Walk *w, Node *n, Exits *frame) {
    if (!kquery_node(n->u.whiles.body, false, kquery_is_continue, NULL)) return kstmt_loop_body(w, n);
    kbuild_once(w);
    frame->cont = w->depth, frame->cont_breaks = true;
    TRY(kstmt_loop_body(w, n));
    if (!w->left) kstmt_add_way(w, &frame->next), kbuild_flow(w, K_BREAK, 0);
    w->left = false;
    kstmt_restore(w, frame->next.sure);
    return kbuild_end(w), QS_OK;
}

static qs_status repeat_loop(Walk *w, Node *n) {
    Exits frame;
    KRef c;
    int known;
    notify_loop(w, n);
    kbuild_flow(w, K_LOOP, 0);
    kstmt_enter_loop(w, &frame);
    TRY(repeat_body(w, n, &frame));
    frame.next = (Ways){0};
    if (!w->left) {
        TRY(kexpr_cond(w, n->u.whiles.cond, &c, &known));
        kstmt_add_way(w, &frame.next);
        kexpr_leave_if(w, c);
    }
    kstmt_leave_loop(w);
    return kstmt_meet_exits(w, &frame), QS_OK;
}

/* -- leaving ------------------------------------------------------------------------------------------------------- */
static qs_status lower_continue(Walk *w, Node *n) {
    bool is_break = n->kind == N_BREAK;
    Exits *e = w->exits;
    if (!e || (is_break && !e->brk)) return w->rules->statement(w, n);
    Ways *ways = is_break ? e->out : &e->next;
    if (ways) kstmt_add_way(w, ways);
    kbuild_leave(w, is_break || e->cont_breaks ? K_BREAK : K_CONTINUE, is_break ? e->brk : e->cont);
    return w->left = true, QS_OK;
}

static qs_status end_function(Walk *w, uint32_t pos) {
    return w->rules->function_ends ? w->rules->function_ends(w, pos) : QS_OK;
}

static qs_status leave_function(Walk *w, const Node *n) {
    w->left = true;
    if (w->in->return_depth < 0) return w->rules->return_outermost(w, n);
    TRY(end_function(w, n->pos));
    kstmt_add_way(w, &w->in->ways);
    return kbuild_leave(w, K_BREAK, w->in->return_depth), QS_OK;
}

/* `return` before the end of an inlined function leaves a LOOP of one iteration around its statements. */
qs_status kstmt_body(Walk *w, InlineFrame *in) {
    NodeList body = in->func->body;
    uint32_t end = in->func->end ? in->func->end : in->func->pos;
    if (body.n && body.at[body.n - 1]->kind == N_RETURN) end = body.at[--body.n]->pos;
    if (!in->up || !kquery_node(body, true, kquery_is_return, NULL)) {
        TRY(kstmt_block(w, body));
        return w->left = false, end_function(w, end);
    }
    kbuild_once(w);
    in->return_depth = w->depth, in->ways = (Ways){0};
    TRY(kstmt_block(w, body));
    if (!w->left) {
        TRY(end_function(w, end));
        kstmt_add_way(w, &in->ways);
        kbuild_flow(w, K_BREAK, 0);
    }
    w->left = false;
    kstmt_restore(w, in->ways.sure);
    return kbuild_end(w), QS_OK;
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */
static qs_status lower_expression(Walk *w, Node *n) {
    struct Val *ignored = kval_new(w, 1);
    if (n->kind == N_CALL) return kcall_lower(w, n, ignored, 0);
    return kexpr_lower(w, n, ignored);
}

static qs_status lower_node(Walk *w, Node *n) {
    w->pos = n->pos;
    switch ((NodeKind)n->kind) {
    case N_EXPR: return lower_expression(w, n->u.expr);
    case N_ASSIGN: return lower_assign(w, n);
    case N_IF: return if_statement(w, n);
    case N_MATCH: return match_statement(w, n);
    case N_WHILE: return while_loop(w, n);
    case N_REPEAT: return repeat_loop(w, n);
    case N_FOR: return kcounted_lower(w, n);
    case N_BREAK:
    case N_CONTINUE: return lower_continue(w, n);
    case N_RETURN: return leave_function(w, n);
    case N_BLOCK: return kstmt_block(w, n->u.block);
    case N_ATTR: return QS_OK;
    default: return w->rules->statement(w, n);
    }
}

qs_status kstmt_lower(Walk *w, Node *n) {
    char *temp = w->temp, *end = w->temp_end;
    if (w->rules->statement_begins) TRY(w->rules->statement_begins(w, n));
    if (w->left) return QS_OK;
    qs_status s = lower_node(w, n);
    if (s == QS_OK) kval_release(w, temp, end);
    else if (w->rules->statement_failed && !w->pending) w->rules->statement_failed(w, n);
    return s;
}

Point kstmt_point(const Walk *w) {
    return (Point){w->in, w->exits, w->block, w->pos, w->site_pos, w->calls, w->foreign, w->indexing, w->wide_lists};
}

qs_status kstmt_resume(Walk *w, const Point *p, qs_status s, bool *resumed) {
    *resumed = s != QS_OK && w->pending;
    if (!*resumed) return s;
    while (w->block != p->block) kbuild_end(w);
    w->in = p->in, w->exits = p->exits, w->pos = p->pos, w->site_pos = p->site_pos, w->calls = p->calls;
    w->foreign = p->foreign, w->indexing = p->indexing, w->wide_lists = p->wide_lists;
    return w->pending = w->left = false, QS_OK;
}

qs_status kstmt_block(Walk *w, NodeList body) {
    for (int i = 0; i < body.n && !w->left; i++) {
        Point before = kstmt_point(w);
        bool resumed;
        TRY(kstmt_resume(w, &before, kstmt_lower(w, body.at[i]), &resumed));
        w->left = w->left || resumed;
    }
    return QS_OK;
}
