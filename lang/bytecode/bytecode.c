/* bytecode.c -- compiles statements and functions to instructions.
 *
 *   parameters │ results │ other locals │ type parameters │ temporaries →      (registers)
 *
 * One walk over the tree emits the code; forward jumps are patched when their target is reached.  The walk also tracks
 * which variables certainly have a value, so that only reads of other variables are checked at run time.  A numeric
 * annotation on a variable applies to the assignments that follow it in the source. */
#include "lang/bytecode/bytecode.h"
#include "lang/syntax/operators.h"

#include "lang/bytecode/code.h"

#include <string.h>

static void block(Coder *e, NodeList l);

/* -- variables ----------------------------------------------------------------------------------------------------- */

static TypeExpr *type_of(const Coder *e, const Sym *s) {
    for (uint32_t i = e->ntyped; i-- > 0;)
        if (e->typed[i].sym == s) return e->typed[i].type;
    return NULL;
}

bool qcode_has_type(const Coder *e, const Sym *s) { return type_of(e, s) != NULL; }

/* Records an annotation.  A numeric one applies to later assignments of the variable; any other one ends this. */
static void annotate_variable(Coder *e, const Sym *s, TypeExpr *t) {
    const Type *type = t->kind == TE_ANY ? NULL : qcode_known_type(e, t);
    bool stays = type && type->kind == TY_NUM;
    if (!stays && !type_of(e, s)) return;
    if (e->ntyped == e->cap_typed) {
        uint32_t cap = e->cap_typed ? e->cap_typed * 2 : 8;
        TypedVar *more = qcode_alloc(e, qmem_size(cap, sizeof *more, 0));
        if (e->ntyped) memcpy(more, e->typed, e->ntyped * sizeof *more);
        e->typed = more;
        e->cap_typed = cap;
    }
    e->typed[e->ntyped++] = (TypedVar){s, stays ? t : NULL};
}

static void mark_set(Coder *e, const Sym *s) {
    int reg = qcode_register(e, s);
    if (reg >= 0) e->set[reg] = true;
}

static void mark_all_set(Coder *e) { memset(e->set, true, e->nset); } /* for unreachable code */

/* Returns the register for the new value of a variable: its own, or a temporary that store_variable then moves. */
static int store_register(Coder *e, const Sym *s, bool checked) {
    int own = qcode_register(e, s);
    return own >= 0 && !checked ? own : qcode_temps(e, 1);
}

static void store_variable(Coder *e, const Sym *s, int reg) {
    int own = qcode_register(e, s);
    if (own >= 0) {
        qcode_move(e, own, reg);
        mark_set(e, s);
    } else if (s->kind == SYM_GLOBAL) {
        qcode_op(e, BC_SETGLOBAL, reg, 0, 0);
        qcode_word(e, (uint32_t)s->index);
    } else {
        qcode_fail(e, e->pos, "%s cannot be assigned here", s->name->s);
    }
}

static Sym *target_symbol(Coder *e, const Node *target) {
    if (!target->u.ident.sym) qcode_fail(e, target->pos, "%s has no meaning here", target->u.ident.name->s);
    return target->u.ident.sym;
}

/* -- assignment ---------------------------------------------------------------------------------------------------- */

static bool is_discard(const Node *n) { return n->kind == N_IDENT && strcmp(n->u.ident.name->s, "_") == 0; }

static void check_type(Coder *e, Node *target, TypeExpr *written, int reg) {
    Str *name = target->kind == N_IDENT ? target->u.ident.name : target->kind == N_FIELD ? target->u.field.name : NULL;
    Sym *s = qast_symbol(target);
    if (s && written) annotate_variable(e, s, written);
    TypeExpr *t = written ? written : s ? type_of(e, s) : NULL;
    if (t) qcode_coerce(e, reg, t, name, false);
}

/* Rejects a write into a 'const array, as kernels do. */
static void check_writable(Coder *e, const Node *target) {
    const Node *base = target->u.index.base;
    const Sym *s = qast_symbol(base);
    if (s && s->mods.flags & MOD_CONST)
        qcode_fail(e, target->pos, "%s is 'const and cannot be written", base->u.ident.name->s);
}

void qcode_set_element(Coder *e, Node *target, int base, int first, int value) {
    int n = target->u.index.at.n;
    qcode_at(e, target->pos);
    qcode_op(e, n == 1 ? BC_SETELEM1 : n == 2 ? BC_SETELEM2 : BC_SETELEM, base, first, value);
    qcode_word(e, qcode_index_word(e, target));
    if (n != 1 && n != 2) qcode_word(e, (uint32_t)n);
}

static void set_element(Coder *e, Node *target, int value) {
    check_writable(e, target);
    int mark = e->top, base = qcode_any(e, target->u.index.base);
    qcode_set_element(e, target, base, qcode_indices(e, target->u.index.at), value);
    e->top = mark;
}

static void set_field(Coder *e, Node *target, int value) {
    int mark = e->top, base = qcode_any(e, target->u.field.base);
    qcode_at(e, target->pos);
    qcode_op(e, BC_SETFIELD, base, value, 0);
    qcode_word(e, qcode_field_word(e, target->u.field.name));
    e->top = mark;
}

/* Assigns a value in a temporary to a target. */
static void assign_from(Coder *e, Node *target, TypeExpr *type, int value) {
    if (is_discard(target) && !target->u.ident.sym) {
        qcode_op(e, BC_CLEAR, value, 1, 0);
        return;
    }
    check_type(e, target, type, value);
    switch ((NodeKind)target->kind) {
    case N_IDENT: {
        Sym *s = target_symbol(e, target);
        if (s) store_variable(e, s, value);
        break;
    }
    case N_INDEX: set_element(e, target, value); break;
    case N_FIELD: set_field(e, target, value); break;
    default: qcode_fail(e, target->pos, "this cannot be assigned to"); break;
    }
}

static void assign_name(Coder *e, Node *target, TypeExpr *type, Node *value) {
    Sym *s = target_symbol(e, target);
    if (!s) return;
    bool checked = type || type_of(e, s);
    int mark = e->top, reg = store_register(e, s, checked);
    if (value->kind == N_LAMBDA) { /* the lambda may call itself by this name, and messages use it */
        value->u.lambda.func->name = s->name;
        e->assigning = s;
    }
    qcode_for(e, type ? type : type_of(e, s), value, reg);
    e->assigning = NULL;
    qcode_at(e, target->pos);
    check_type(e, target, type, reg);
    store_variable(e, s, reg);
    e->top = mark;
}

static void assign_one(Coder *e, Node *target, TypeExpr *type, Node *value) {
    if (target->kind == N_IDENT && target->u.ident.sym) {
        assign_name(e, target, type, value);
        return;
    }
    int mark = e->top, reg;
    FuseRegion *masked = type ? NULL : qcode_begin_update(e, target, OP__COUNT, value);
    if (target->kind == N_INDEX) check_writable(e, target);
    if (!masked && !type && qcode_fused_into(e, target, value)) return;
    if (type || is_discard(target)) {
        reg = qcode_temps(e, 1);
        qcode_for(e, type, value, reg);
    } else {
        reg = qcode_any(e, value);
    }
    assign_from(e, target, type, reg);
    qcode_end_update(e, masked, target);
    e->top = mark;
}

static bool is_plain_call(const Node *n) {
    if (n->kind != N_CALL) return false;
    const Node *f = n->u.call.callee;
    return f->kind != N_TYPE && !qast_means(f, SYM_TYPE);
}

/* Compiles [a,b] = …: assigns the results of a call, the items of a literal, or the elements of a value. */
static void assign_many(Coder *e, Node *n) {
    int count = n->u.assign.ntargets, mark = e->top, first = qcode_temps(e, count > 1 ? count : 1);
    Node *value = n->u.assign.value;
    if (count > MAX_WANTED) qcode_fail(e, n->pos, "too many targets (more than %d)", MAX_WANTED);
    if (is_plain_call(value)) {
        e->top = first + 1;
        qcode_call(e, value, first, count);
        e->top = first;
        qcode_temps(e, count > 1 ? count : 1);
    } else if ((value->kind == N_MATRIX || value->kind == N_CELL) && value->u.items.n == count && count > 1) {
        for (int i = 0; i < count; i++) qcode_to(e, value->u.items.at[i], first + i);
    } else {
        int whole = qcode_any(e, value);
        qcode_at(e, value->pos);
        qcode_op(e, BC_DESTRUCT, first, whole, count);
    }
    for (int i = 0; i < count; i++) {
        qcode_at(e, n->u.assign.targets[i]->pos);
        assign_from(e, n->u.assign.targets[i], n->u.assign.types[i], first + i);
    }
    e->top = mark;
}

static void update_register(Coder *e, Op op, int reg, Node *value) {
    double x;
    int mark = e->top;
    if (op == OP_ADD && qfold_number(value, &x)) {
        qcode_opx(e, BC_ADDTOK, reg, qcode_number(e, x));
        return;
    }
    int rv = qcode_any(e, value);
    switch (op) {
    case OP_ADD: qcode_op(e, BC_ADDTO, reg, rv, 0); break;
    case OP_SUB: qcode_op(e, BC_SUBTO, reg, rv, 0); break;
    case OP_MUL: qcode_op(e, BC_MULTO, reg, rv, 0); break;
    case OP_DIV: qcode_op(e, BC_DIVTO, reg, rv, 0); break;
    default: qcode_op(e, BC_UPDATE, reg, rv, (int)op); break;
    }
    e->top = mark;
}

static void update_name(Coder *e, Node *target, Op op, Node *value) {
    Sym *s = target_symbol(e, target);
    if (!s) return;
    int mark = e->top, reg;
    if (qcode_register(e, s) >= 0) {
        reg = qcode_any(e, target); /* its own register, after a check that it has a value */
    } else {
        reg = qcode_temps(e, 1);
        qcode_to(e, target, reg);
    }
    FuseRegion *region = qcode_begin_update(e, target, (int)op, value);
    update_register(e, op, reg, value);
    qcode_end_update(e, region, target);
    qcode_at(e, target->pos);
    check_type(e, target, NULL, reg);
    store_variable(e, s, reg);
    e->top = mark;
}

static void update_element(Coder *e, Node *target, Op op, Node *value) {
    check_writable(e, target);
    NodeList at = target->u.index.at;
    int mark = e->top;
    FuseRegion *region = qcode_begin_update(e, target, (int)op, value);
    bool begun = region && region->nat;
    int base = begun ? region->base : qcode_any(e, target->u.index.base);
    int first = begun ? region->at : qcode_indices(e, at), rv = qcode_any(e, value);
    qcode_at(e, target->pos);
    qcode_op(e, BC_UPDELEM, base, first, rv);
    qcode_word(e, qcode_index_word(e, target));
    qcode_word(e, (uint32_t)op << 16 | (uint32_t)at.n);
    qcode_end_update(e, region, target);
    e->top = mark;
}

static void update_field(Coder *e, Node *target, Op op, Node *value) {
    int mark = e->top, object = qcode_any(e, target->u.field.base), reg = qcode_temps(e, 1);
    Str *name = target->u.field.name;
    qcode_at(e, target->pos);
    qcode_op(e, BC_GETFIELD, reg, object, 1);
    qcode_word(e, qcode_field_word(e, name));
    update_register(e, op, reg, value);
    qcode_at(e, target->pos);
    qcode_op(e, BC_SETFIELD, object, reg, 0);
    qcode_word(e, qcode_field_word(e, name));
    e->top = mark;
}

static void update(Coder *e, Node *n) {
    Node *target = n->u.assign.targets[0], *value = n->u.assign.value;
    switch ((NodeKind)target->kind) {
    case N_IDENT: update_name(e, target, n->op, value); break;
    case N_INDEX: update_element(e, target, n->op, value); break;
    case N_FIELD: update_field(e, target, n->op, value); break;
    default: qcode_fail(e, target->pos, "this cannot be assigned to"); break;
    }
}

static void assign_copy(Coder *e, Node *n) {
    int mark = e->top, reg = qcode_temps(e, 1);
    TypeExpr *type = n->u.assign.types ? n->u.assign.types[0] : NULL;
    qcode_for(e, type, n->u.assign.value, reg);
    qcode_at(e, n->pos);
    qcode_op(e, BC_OWN, reg, 0, 0);
    assign_from(e, n->u.assign.targets[0], type, reg);
    e->top = mark;
}

static void assignment(Coder *e, Node *n) {
    if (n->flag == ASSIGN_COPIES) assign_copy(e, n);
    else if (n->u.assign.in_place) update(e, n);
    else if (n->u.assign.bracketed) assign_many(e, n);
    else assign_one(e, n->u.assign.targets[0], n->u.assign.types ? n->u.assign.types[0] : NULL, n->u.assign.value);
}

/* -- branches ------------------------------------------------------------------------------------------------------ */

static void if_statement(Coder *e, Node *n) {
    int end = 0;
    bool *after = NULL;
    for (int i = 0; i < n->u.ifs.n; i++) {
        int next = 0;
        bool last = i + 1 == n->u.ifs.n && !n->u.ifs.has_else;
        qcode_jump_if(e, n->u.ifs.conds[i], false, &next);
        bool *before = qcode_state(e);
        block(e, n->u.ifs.blocks[i]);
        if (after) qcode_join(e, after);
        else after = qcode_state(e);
        qcode_restore(e, before);
        if (!last) qcode_jump(e, BC_JMP, 0, 0, 0, &end);
        qcode_here(e, next);
    }
    if (n->u.ifs.has_else) block(e, n->u.ifs.other);
    qcode_join(e, after);
    qcode_restore(e, after);
    qcode_here(e, end);
}

/* Compiles a pattern.  (a,b) matches a list of a and b, and also a single value that equals a or b. */
static void match_pattern(Coder *e, MatchArm *arm, int value, int *found) {
    int mark = e->top, r = qcode_temps(e, arm->npatterns);
    for (int i = 0; i < arm->npatterns; i++) qcode_to(e, arm->patterns[i], r + i);
    qcode_at(e, arm->pos);
    if (arm->npatterns > 1) qcode_op(e, BC_CELL, r, r, arm->npatterns);
    qcode_jump(e, BC_JMATCH, value, r, arm->npatterns > 1, found);
    e->top = mark;
}

static void match_statement(Coder *e, Node *n) {
    int mark = e->top, value = qcode_temps(e, 1), end = 0;
    bool *after = NULL, wildcard = false;
    qcode_to(e, n->u.match.value, value);
    for (int i = 0; i < n->u.match.narms && !wildcard; i++) {
        MatchArm *arm = &n->u.match.arms[i];
        int found = 0, next = 0;
        wildcard = arm->wildcard;
        if (!wildcard) {
            match_pattern(e, arm, value, &found);
            qcode_jump(e, BC_JMP, 0, 0, 0, &next);
            qcode_here(e, found);
        }
        bool *before = qcode_state(e);
        block(e, arm->body);
        if (after) qcode_join(e, after);
        else after = qcode_state(e);
        qcode_restore(e, before);
        qcode_jump(e, BC_JMP, 0, 0, 0, &end);
        qcode_here(e, next);
    }
    if (!wildcard && after) qcode_join(e, after);
    if (after) qcode_restore(e, after);
    qcode_here(e, end);
    qcode_op(e, BC_CLEAR, value, 1, 0);
    e->top = mark;
}

static void add_handler(Coder *e, Handler h) {
    Chunk *c = e->chunk;
    c->handlers = qcode_grow(e, c->handlers, c->nhandlers, &c->cap_handlers, sizeof *c->handlers);
    c->handlers[c->nhandlers++] = h;
}

void qcode_catch_repeated(Coder *e, uint32_t start, uint32_t end, uint32_t handler, int reg, int temp) {
    add_handler(e, (Handler){start, end, handler, (uint8_t)reg, (uint8_t)temp, .repeats = true});
}

/* -- try ----------------------------------------------------------------------------------------------------------- */

static void end_part(Coder *e, TryRegion *t) {
    if (t->nbounds + 2 > t->cap_bounds) {
        uint32_t cap = 2 * t->cap_bounds + 4, *more = qcode_alloc(e, qmem_size(cap, sizeof *more, 0));
        if (t->nbounds) memcpy(more, t->bounds, t->nbounds * sizeof *more);
        t->bounds = more, t->cap_bounds = cap;
    }
    t->bounds[t->nbounds++] = t->from, t->bounds[t->nbounds++] = qcode_pc(e);
}

static void begin_region(Coder *e, TryRegion *t, Node *leaving) {
    *t = (TryRegion){.outer = e->tries, .leaving = leaving, .loop = e->loop, .from = qcode_pc(e)};
    e->tries = t;
}

static void end_region(Coder *e, TryRegion *t) {
    end_part(e, t);
    e->tries = t->outer;
}

/* Sends errors in the region to a handler that begins here. */
static void add_handlers(Coder *e, const TryRegion *t, Handler h) {
    h.handler = qcode_pc(e);
    for (uint32_t i = 0; i < t->nbounds; i += 2) {
        h.start = t->bounds[i], h.end = t->bounds[i + 1];
        add_handler(e, h);
    }
}

/* Emits the `finally` blocks of the regions that a jump leaves, either inside the innermost loop or all.  Returns the
 * outermost of these regions; NULL: there is none.  The jump follows, then enter_regions. */
static TryRegion *leave_regions(Coder *e, bool all) {
    TryRegion *inner = e->tries, *last = NULL;
    LoopExits *loop = e->loop;
    for (TryRegion *t = inner; t && (all || t->loop == loop); t = t->outer)
        if (t->leaving) last = t;
    if (!last) return NULL;
    for (TryRegion *t = inner; t != last->outer; t = t->outer) end_part(e, t);
    for (TryRegion *t = inner; t != last->outer; t = t->outer) {
        e->tries = t->outer, e->loop = t->loop;
        if (t->leaving) block(e, t->leaving->u.tries.last);
    }
    e->tries = inner, e->loop = loop;
    return last;
}

static void enter_regions(Coder *e, const TryRegion *last) {
    for (TryRegion *t = last ? e->tries : NULL; t && t != last->outer; t = t->outer) t->from = qcode_pc(e);
}

static void try_catch(Coder *e, Node *n) {
    int end = 0, mark = e->top;
    TryRegion t;
    bool *before = qcode_state(e);
    begin_region(e, &t, NULL);
    block(e, n->u.tries.body);
    end_region(e, &t);
    bool *after = qcode_state(e);
    qcode_jump(e, BC_JMP, 0, 0, 0, &end);
    qcode_restore(e, before);
    Sym *s = n->u.tries.sym;
    int own = s ? qcode_register(e, s) : -1, reg = own >= 0 ? own : qcode_temps(e, 1);
    add_handlers(e, &t, (Handler){.reg = (uint8_t)reg, .temp = (uint8_t)mark});
    if (s) store_variable(e, s, reg);
    else qcode_op(e, BC_CLEAR, reg, 1, 0);
    e->top = mark;
    block(e, n->u.tries.handler);
    qcode_join(e, after);
    qcode_restore(e, after);
    qcode_here(e, end);
}

/* The block after finally is emitted once for each way in which the code before it ends. */
static void try_statement(Coder *e, Node *n) {
    int end = 0, mark = e->top;
    TryRegion t;
    if (!n->u.tries.has_last) {
        try_catch(e, n);
        return;
    }
    bool *before = qcode_state(e);
    begin_region(e, &t, n);
    if (n->u.tries.has_catch) try_catch(e, n);
    else block(e, n->u.tries.body);
    end_region(e, &t);
    block(e, n->u.tries.last);
    bool *after = qcode_state(e);
    qcode_jump(e, BC_JMP, 0, 0, 0, &end);
    qcode_restore(e, before);
    int reg = qcode_temps(e, 1);
    uint32_t first = e->chunk->nhandlers;
    add_handlers(e, &t, (Handler){.reg = (uint8_t)reg, .temp = (uint8_t)mark, .keeps = true});
    block(e, n->u.tries.last);
    qcode_at(e, n->pos);
    for (uint32_t i = 0; i < t.nbounds / 2; i++) e->chunk->handlers[first + i].rethrow = qcode_pc(e);
    qcode_op(e, BC_RETHROW, reg, 0, 0);
    e->top = mark;
    qcode_restore(e, after);
    qcode_here(e, end);
}

/* -- loops --------------------------------------------------------------------------------------------------------- */

static void loop_begin(Coder *e, LoopExits *l) {
    *l = (LoopExits){e->loop, 0, 0};
    e->loop = l;
}

static void loop_end(Coder *e) { e->loop = e->loop->outer; }

static bool is_demanded(const Node *n) {
    return n->kind == N_FOR && n->u.loop.attr && !strcmp(n->u.loop.attr->name->s, "parallel");
}

static void refuse_parallel(Coder *e, const Node *n, const char *why) {
    if (is_demanded(n)) qcode_fail(e, n->pos, "this loop cannot run in parallel: %s", why);
}

/* Registers the loop whose code begins at start and ends here: the VM may run it as machine code.  This is not possible
 * if a reduction replaced an expression in it, because machine code is compiled from the tree. */
static void loop_region(Coder *e, Node *n, uint32_t start, int reg, uint32_t rewritten) {
    Chunk *c = e->chunk;
    if (c->nrewritten != rewritten) {
        refuse_parallel(e, n, "a reduction of the program replaces an expression in it");
        return;
    }
    c->loops = qcode_grow(e, c->loops, c->nloops, &c->cap_loops, sizeof *c->loops);
    c->demands |= is_demanded(n);
    c->loops[c->nloops++] = (LoopRegion){.start = start, .end = qcode_pc(e), .reg = (uint8_t)reg, .loop = n};
}

/* A while or repeat loop.  The instructions WHILE, at its beginning, and LOOP contain the number of its region, if it
 * has one. */
typedef struct {
    LoopExits exits;
    uint32_t begin, start, rewritten;
} WhileLoop;

static void begin_while(Coder *e, WhileLoop *t) {
    loop_begin(e, &t->exits);
    t->begin = qcode_pc(e), t->rewritten = e->chunk->nrewritten;
    qcode_op(e, BC_WHILE, 0, 0, 0);
    t->start = qcode_pc(e);
}

/* Emits the jump to the next iteration of the loop that is registered next.  Returns whether it names that loop. */
static bool jump_back(Coder *e, BackJump kind, uint32_t start, uint32_t rewritten) {
    uint32_t number = e->chunk->nloops;
    bool named = number <= UINT16_MAX && e->chunk->nrewritten == rewritten;
    qcode_jump_to(e, BC_LOOP, named ? (int)kind : BACK, (int)(number & 0xff), (int)(number >> 8 & 0xff), start);
    return named;
}

static void end_while(Coder *e, Node *n, const WhileLoop *t) {
    uint32_t number = e->chunk->nloops;
    if (!jump_back(e, BACK_CONDITION, t->start, t->rewritten)) return;
    e->chunk->code[t->begin] |= 1u << 8 | number << 16;
    loop_region(e, n, t->start, 0, t->rewritten);
}

static void while_statement(Coder *e, Node *n) {
    WhileLoop t;
    begin_while(e, &t);
    qcode_jump_if(e, n->u.whiles.cond, false, &t.exits.breaks);
    bool *before = qcode_state(e);
    block(e, n->u.whiles.body);
    qcode_patch(e, t.exits.continues, t.start);
    end_while(e, n, &t);
    qcode_restore(e, before);
    qcode_here(e, t.exits.breaks);
    loop_end(e);
}

static void repeat_statement(Coder *e, Node *n) {
    WhileLoop t;
    begin_while(e, &t);
    bool *before = qcode_state(e);
    block(e, n->u.whiles.body);
    bool *after = qcode_state(e);
    if (t.exits.continues || t.exits.breaks) qcode_restore(e, before); /* the body may have been left early */
    qcode_here(e, t.exits.continues);
    qcode_jump_if(e, n->u.whiles.cond, true, &t.exits.breaks);
    end_while(e, n, &t);
    if (!t.exits.continues) qcode_restore(e, after);
    qcode_here(e, t.exits.breaks);
    loop_end(e);
}

typedef struct {
    const Sym *sym;
    int reg;
} Counter;

static Counter counter(Coder *e, const Sym *s) {
    int own = qcode_register(e, s);
    return (Counter){s, own >= 0 ? own : qcode_temps(e, 1)};
}

static void counter_ready(Coder *e, Counter c) {
    if (qcode_register(e, c.sym) < 0) store_variable(e, c.sym, c.reg);
    mark_set(e, c.sym);
}

static bool range_bounds(Coder *e, Node *range, int at) { /* evaluates lo, hi, step; returns whether there is a step */
    qcode_to(e, range->u.range.lo, at);
    qcode_to(e, range->u.range.hi, at + 1);
    if (range->u.range.step) qcode_to(e, range->u.range.step, at + 2);
    qcode_at(e, range->pos);
    return range->u.range.step != NULL;
}

static void for_numbers(Coder *e, Node *n) {
    LoopExits l;
    int r = qcode_temps(e, LOOP_REGISTERS);
    Counter c = counter(e, n->u.loop.syms[0]);
    bool stepped = range_bounds(e, n->u.loop.ranges[0], r), *before = qcode_state(e);
    loop_begin(e, &l);
    uint32_t before_loop = qcode_pc(e), rewritten = e->chunk->nrewritten;
    qcode_jump(e, BC_FORPREP, r, c.reg, stepped, &l.breaks);
    uint32_t start = qcode_pc(e);
    counter_ready(e, c);
    block(e, n->u.loop.body);
    qcode_here(e, l.continues);
    qcode_at(e, n->pos);
    qcode_jump_to(e, BC_FORLOOP, r, c.reg, 0, start);
    qcode_restore(e, before);
    qcode_here(e, l.breaks);
    loop_end(e);
    loop_region(e, n, before_loop, r, rewritten);
}

/* Compiles for [m,n,p] with one range of vectors, or one range per counter: nested loops, the first counter
 * outermost. */
static void for_dimensions(Coder *e, Node *n) {
    LoopExits l;
    int nvars = n->u.loop.nvars, bounds = qcode_temps(e, 3), r = qcode_temps(e, LOOP_REGISTERS * nvars);
    if (nvars > QS_MAX_RANK) refuse_parallel(e, n, "it has too many counters");
    bool *before = qcode_state(e), shared = n->u.loop.nranges == 1;
    uint32_t *starts = qcode_alloc(e, qmem_size((size_t)nvars, sizeof *starts, 0));
    int *empty = qcode_alloc(e, qmem_size((size_t)nvars, sizeof *empty, sizeof *empty));
    Counter *c = qcode_alloc(e, qmem_size((size_t)nvars, sizeof *c, 0));
    for (int i = 0; i < n->u.loop.nranges; i++) {
        bool stepped = range_bounds(e, n->u.loop.ranges[i], bounds);
        qcode_op(e, BC_FORDIMS, bounds, r + LOOP_REGISTERS * i, (shared ? nvars : 1) | (stepped ? 128 : 0));
    }
    loop_begin(e, &l);
    uint32_t before_loop = qcode_pc(e), rewritten = e->chunk->nrewritten;
    for (int i = 0; i < nvars; i++) {
        c[i] = counter(e, n->u.loop.syms[i]);
        qcode_jump(e, BC_FORDIM, r + LOOP_REGISTERS * i, c[i].reg, 0, &empty[i]);
        starts[i] = qcode_pc(e);
        counter_ready(e, c[i]);
    }
    block(e, n->u.loop.body);
    qcode_here(e, l.continues);
    qcode_at(e, n->pos);
    for (int i = nvars - 1; i >= 0; i--) {
        qcode_jump_to(e, BC_FORLOOP, r + LOOP_REGISTERS * i, c[i].reg, 0, starts[i]);
        qcode_here(e, empty[i]); /* an inner loop without iterations continues with the outer one */
    }
    qcode_restore(e, before);
    qcode_here(e, l.breaks);
    loop_end(e);
    loop_region(e, n, before_loop, r, rewritten);
}

static void for_items(Coder *e, Node *n) {
    LoopExits l;
    int nvars = n->u.loop.nvars, r = qcode_temps(e, 2), item = nvars > 1 ? qcode_temps(e, nvars + 1) : 0;
    Counter c = {0};
    refuse_parallel(e, n, "it is over items, not over a range of numbers");
    qcode_to(e, n->u.loop.ranges[0], r);
    qcode_at(e, n->pos);
    uint32_t before_loop = qcode_pc(e), rewritten = e->chunk->nrewritten;
    qcode_op(e, BC_ITER, r, 0, 0);
    bool *before = qcode_state(e);
    if (nvars == 1) c = counter(e, n->u.loop.syms[0]);
    loop_begin(e, &l);
    uint32_t start = qcode_pc(e);
    qcode_jump(e, BC_NEXT, r, nvars == 1 ? c.reg : item, 0, &l.breaks);
    if (nvars == 1) {
        counter_ready(e, c);
    } else {
        qcode_op(e, BC_DESTRUCT, item + 1, item, nvars);
        for (int i = 0; i < nvars; i++) store_variable(e, n->u.loop.syms[i], item + 1 + i);
    }
    block(e, n->u.loop.body);
    qcode_patch(e, l.continues, start);
    if (nvars == 1) (void)jump_back(e, BACK_ITEMS, start, rewritten);
    else qcode_jump_to(e, BC_LOOP, 0, 0, 0, start);
    qcode_restore(e, before);
    qcode_here(e, l.breaks);
    if (nvars == 1) loop_region(e, n, before_loop, r, rewritten);
    qcode_op(e, BC_CLEAR, r, 2, 0);
    loop_end(e);
}

static void for_statement(Coder *e, Node *n) {
    int mark = e->top;
    bool range = n->u.loop.ranges[0]->kind == N_RANGE;
    for (int i = 0; i < n->u.loop.nvars; i++)
        if (!n->u.loop.syms[i]) qcode_fail(e, n->pos, "%s has no meaning here", n->u.loop.names[i]->s);
    if (e->status) return;
    if (n->u.loop.nranges > 1 && n->u.loop.nranges != n->u.loop.nvars)
        qcode_fail(e, n->pos, "for: %d counters, but %d ranges", n->u.loop.nvars, n->u.loop.nranges);
    else if (!range) for_items(e, n);
    else if (n->u.loop.bracketed || n->u.loop.nvars > 1) for_dimensions(e, n);
    else for_numbers(e, n);
    e->top = mark;
}

static void leave_loop(Coder *e, Node *n, bool stop) {
    if (!e->loop) {
        qcode_fail(e, n->pos, "%s outside of a loop", stop ? "break" : "continue");
        return;
    }
    const TryRegion *left = leave_regions(e, false);
    qcode_jump(e, BC_JMP, 0, 0, 0, stop ? &e->loop->breaks : &e->loop->continues);
    enter_regions(e, left);
    mark_all_set(e);
}

/* -- other statements ---------------------------------------------------------------------------------------------- */

static void expression(Coder *e, Node *n) {
    int mark = e->top, r = qcode_temps(e, 1);
    if (is_plain_call(n)) {
        qcode_call(e, n, r, 0);
    } else {
        qcode_to(e, n, r);
        qcode_op(e, BC_CLEAR, r, 1, 0);
    }
    e->top = mark;
}

static void print_statement(Coder *e, Node *n) {
    int mark = e->top, base = qcode_temps(e, 1);
    for (int i = 0; i < n->u.print.n; i++) qcode_to(e, n->u.print.at[i].value, qcode_temps(e, 1));
    qcode_at(e, n->pos);
    qcode_op(e, BC_CALLG, base, n->u.print.n, 0);
    qcode_word(e, (uint32_t)e->host->builtin(e->host->ud, "print"));
    e->top = mark;
}

/* Returns the first of consecutive registers with the results.  They are the locals after the parameters, unless a
 * result has the name of a parameter, as in y = f(y); then the results are copied. */
static int first_result(Coder *e) {
    const Func *f = e->func;
    bool in_place = true;
    for (int i = 0; i < f->nouts; i++) in_place = in_place && f->outs[i].sym->index == f->nparams + i;
    if (in_place) return f->nparams;
    int mark = e->top, first = qcode_temps(e, f->nouts);
    for (int i = 0; i < f->nouts; i++) qcode_move(e, first + i, f->outs[i].sym->index);
    e->top = mark;
    return first;
}

static void return_results(Coder *e) {
    for (int i = 0; i < e->func->nouts; i++) {
        Param *out = &e->func->outs[i];
        if (out->type && out->sym && !type_of(e, out->sym) && out->sym->kind == SYM_LOCAL)
            qcode_coerce(e, out->sym->index, out->type, out->name, false);
    }
    qcode_op(e, BC_RETURN, first_result(e), 0, 0);
}

static void emit_begin(Coder *e, const Node *n) {
    const Sym *outer = n->u.assign.value->u.ident.sym;
    qcode_op(e, BC_BEGIN, n->u.assign.targets[0]->u.ident.sym->index, outer->kind == SYM_CAPTURE, 0);
    qcode_word(e, (uint32_t)outer->index);
}

void qcode_statement(Coder *e, Node *n) {
    qcode_at(e, n->pos);
    qcode_exit(e, n);
    if (n->kind == N_ASSIGN && n->flag == ASSIGN_BEGINS) {
        emit_begin(e, n);
        return;
    }
    bool could = n->kind == N_ASSIGN || n->kind == N_EXPR;
    if (could && e->host->nrules && qcode_rewritten(e, n, -1)) return;
    if (NODE_IS_EXPR(n)) { /* replacement built by a reduction */
        expression(e, n);
        return;
    }
    switch ((NodeKind)n->kind) {
    case N_EXPR:
        if (qast_makes_message(n->u.expr)) qcode_exit(e, n->u.expr); /* (error(…)) is at another position */
        expression(e, n->u.expr);
        break;
    case N_ASSIGN: assignment(e, n); break;
    case N_DECL:
        if (n->u.decl.sym) annotate_variable(e, n->u.decl.sym, n->u.decl.type);
        break;
    case N_IF: if_statement(e, n); break;
    case N_FOR: for_statement(e, n); break;
    case N_WHILE: while_statement(e, n); break;
    case N_REPEAT: repeat_statement(e, n); break;
    case N_MATCH: match_statement(e, n); break;
    case N_TRY: try_statement(e, n); break;
    case N_BREAK: leave_loop(e, n, true); break;
    case N_CONTINUE: leave_loop(e, n, false); break;
    case N_RETURN: {
        const TryRegion *left = leave_regions(e, true);
        return_results(e);
        enter_regions(e, left);
        mark_all_set(e);
        break;
    }
    case N_PRINT: print_statement(e, n); break;
    case N_IMPORT: qcode_opx(e, BC_IMPORT, 0, qcode_literal(e, (Literal){.kind = LIT_UNIT, .u.import = n})); break;
    case N_BLOCK: block(e, n->u.block); break;
    default: break; /* functions, types, reductions and attributes need no code; barriers have no effect here */
    }
}

static void block(Coder *e, NodeList l) {
    for (int i = 0, n; i < l.n && !e->status; i += n ? n : 1)
        if (!(n = qcode_group(e, l.at + i, l.n - i))) qcode_statement(e, l.at[i]);
}

/* -- functions ----------------------------------------------------------------------------------------------------- */

static void defaults(Coder *e) {
    Func *f = e->func;
    for (int i = 0; i < f->nparams; i++) {
        if (!f->params[i].init || f->params[i].variadic) continue;
        int given = 0;
        qcode_at(e, f->params[i].pos);
        qcode_jump(e, BC_DEFAULT, i, 0, 0, &given);
        qcode_for(e, f->params[i].type, f->params[i].init, i);
        qcode_here(e, given);
    }
}

static void annotations(Coder *e) {
    Func *f = e->func;
    for (int i = 0; i < f->nparams; i++) {
        Param *p = &f->params[i];
        if (!p->type || p->variadic) continue;
        qcode_at(e, p->pos);
        qcode_coerce(e, i, p->type, p->name, true);
        if (p->sym) annotate_variable(e, p->sym, p->type);
    }
    for (int i = 0; i < f->nouts; i++)
        if (f->outs[i].type && f->outs[i].sym) annotate_variable(e, f->outs[i].sym, f->outs[i].type);
}

/* Returns the value of the last expression.  If it is a call, it may also have no result. */
static void return_value(Coder *e, Node *value) {
    int r = qcode_temps(e, 1);
    qcode_at(e, value->pos);
    if (!is_plain_call(value)) qcode_to(e, value, r);
    else if (!qcode_fused(e, value, r)) qcode_call(e, value, r, WANT_MAYBE);
    qcode_op(e, BC_RETURN1, r, 0, 0);
}

static void body(Coder *e, bool echo) {
    Func *f = e->func;
    NodeList l = f->body;
    if (f->expr) {
        block(e, l);
        if (!e->status) return_value(e, f->expr);
        return;
    }
    bool value = (echo || (f->is_lambda && f->nouts == 0)) && l.n > 0 && l.at[l.n - 1]->kind == N_EXPR;
    block(e, (NodeList){l.at, l.n - value});
    if (value && !e->status) return_value(e, l.at[l.n - 1]->u.expr);
    qcode_at(e, f->end ? f->end : f->pos);
    return_results(e);
}

enum { MAX_ALIASES = 80 };

/* Collects the global variables that the top level mentions; they are kept in its registers while it runs. */
static void find_alias(void *ud, Node **child) {
    Coder *e = ud;
    Node *n = *child;
    const Sym *s = qast_symbol(n);
    if (s && s->kind == SYM_GLOBAL && s->variable && qcode_register(e, s) < 0 && e->chunk->naliases < MAX_ALIASES)
        e->chunk->aliases[e->chunk->naliases++] = (uint32_t)s->index;
    qast_children(n, find_alias, e);
}

static void find_aliases(Coder *e) {
    e->chunk->aliases = qcode_alloc(e, MAX_ALIASES * sizeof *e->chunk->aliases);
    for (int i = 0; i < e->func->body.n; i++) find_alias(e, &e->func->body.at[i]);
}

qs_status qbytecode_compile(Ctx *c, Func *f, const BytecodeHost *host, bool echo, Chunk *out) {
    *out = (Chunk){.func = f};
    qarena_init(&out->arena, c);
    Coder e = {.ctx = c, .func = f, .host = host, .chunk = out, .pos = f->pos};
    if (f->is_main_body) find_aliases(&e);
    out->nregs = out->ntemp = (uint32_t)(f->nlocals + f->ntyparams) + 2 * out->naliases;
    e.top = (int)out->ntemp;
    e.nset = (size_t)f->nlocals + out->naliases;
    if (out->ntemp > MAX_REGISTERS - 20)
        qcode_fail(&e, f->pos, "%s has more than %d local variables: split it, or keep them in an array or an object",
                   f->name->s, MAX_REGISTERS - 20);
    e.set = qcode_alloc(&e, e.nset + 1);
    memset(e.set, true, (size_t)f->nparams);
    if (out->naliases) qcode_op(&e, BC_ALIAS, 0, 0, 0);
    if (f->ntyparams) qcode_op(&e, BC_BINDTYPES, f->nlocals, 0, 0);
    defaults(&e);
    annotations(&e);
    if (qast_attribute(f, "adjoint")) qcode_op(&e, BC_RULE, 0, 0, 0);
    body(&e, echo);
    if (!e.status && !out->nhandlers) qcode_return_at_once(out);
    if (e.status) qbytecode_free(out);
    return e.status;
}
