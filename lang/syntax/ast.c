/* ast.c -- creates, visits, copies and compares nodes of the syntax tree. */
#include "lang/syntax/ast.h"
#include "lang/syntax/operators.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_texts[OP__COUNT] = {
#define BINARY(id, text, inplace, prec, method) [OP_##id] = text,
#define UNARY(id, text, prec, method)           [OP_##id] = text,
#include "lang/syntax/operators.def"
};
static const char *const op_inplaces[OP__COUNT] = {
#define BINARY(id, text, inplace, prec, method) [OP_##id] = inplace,
#define UNARY(id, text, prec, method)           [OP_##id] = "",
#include "lang/syntax/operators.def"
};

const char *qop_inplace(Op op) { return op_inplaces[op]; }
const char *qop_text(Op op) { return *op_texts[op] ? op_texts[op] : op_inplaces[op]; }

void *qast_alloc(Unit *u, size_t n) { return qarena_alloc(&u->arena, n); }

Node *qast_node(Unit *u, NodeKind k, uint32_t pos) {
    Node *n = qast_alloc(u, sizeof *n);
    n->kind = (uint8_t)k;
    n->pos = pos;
    return n;
}

void *qast_append(Unit *u, void *list, int *n, size_t size) {
    char *at;
    memcpy(&at, list, sizeof at); /* list points to a pointer of any type */
    if ((*n & (*n - 1)) == 0) {
        char *bigger = qast_alloc(u, qmem_size(*n ? (size_t)*n * 2 : 1, size, 0));
        if (*n) memcpy(bigger, at, (size_t)*n * size);
        memcpy(list, &bigger, sizeof bigger);
        at = bigger;
    }
    return at + (size_t)(*n)++ * size;
}

Where qast_where(const Unit *u, uint32_t pos) { return (Where){u->src, pos}; }

/* -- expressions that denote types --------------------------------------------------------------------------------- */
static TypeExpr *new_type(Unit *u, TypeExprKind k, uint32_t pos) {
    TypeExpr *t = qast_alloc(u, sizeof *t);
    t->kind = k;
    t->pos = pos;
    return t;
}

static TypeExpr *type_of_index(Unit *u, const Node *n) {
    TypeExpr *t = new_type(u, TE_ARRAY, n->pos);
    t->base = qast_type_of_expr(u, n->u.index.base);
    if (!t->base) return NULL;
    t->mods = t->base->mods;
    t->nargs = n->u.index.at.n;
    t->args = qast_alloc(u, qmem_size((size_t)t->nargs, sizeof(TypeExpr *), 0));
    for (int i = 0; i < t->nargs; i++)
        if (!(t->args[i] = qast_type_of_expr(u, n->u.index.at.at[i]))) return NULL;
    return t;
}

Str *qast_member_name(Unit *u, const Str *module, const Str *name) {
    Text t;
    qtext_init(&t, u->ctx);
    qtext_printf(&t, "%s.%s", module->s, name->s);
    Str *joined = qstr_name(u->ctx, t.s, t.len);
    qtext_free(&t);
    return joined;
}

TypeExpr *qast_type_of_expr(Unit *u, const Node *n) {
    if (n->kind == N_TYPE) return n->u.type;
    if (n->kind == N_INDEX) return type_of_index(u, n);
    const Node *module = n->kind == N_FIELD && n->u.field.base->kind == N_IDENT ? n->u.field.base : NULL;
    if (n->kind != N_IDENT && !module) return NULL;
    TypeExpr *t = new_type(u, TE_NAME, n->pos);
    t->name = module ? qast_member_name(u, module->u.ident.name, n->u.field.name) : n->u.ident.name;
    return t;
}

/* -- visiting children --------------------------------------------------------------------------------------------- */
typedef struct {
    void (*f)(void *ud, Node **child);
    void *ud;
} Visitor;

static void visit_child(const Visitor *v, Node **child) {
    if (*child) v->f(v->ud, child);
}

static void visit_all(const Visitor *v, Node **at, int n) {
    for (int i = 0; i < n; i++) visit_child(v, &at[i]);
}

static void visit_list(const Visitor *v, NodeList l) { visit_all(v, l.at, l.n); }

static void visit_args(const Visitor *v, ArgList a) {
    for (int i = 0; i < a.n; i++) visit_child(v, &a.at[i].value);
}

static void visit_expr(const Visitor *v, Node *n) {
    switch ((NodeKind)n->kind) {
    case N_META: visit_args(v, n->u.meta.args); break;
    case N_UNARY: visit_child(v, &n->u.bin.a); break;
    case N_BINARY: visit_child(v, &n->u.bin.a), visit_child(v, &n->u.bin.b); break;
    case N_TERNARY:
        visit_child(v, &n->u.ternary.cond), visit_child(v, &n->u.ternary.then), visit_child(v, &n->u.ternary.other);
        break;
    case N_RANGE:
        visit_child(v, &n->u.range.lo), visit_child(v, &n->u.range.step), visit_child(v, &n->u.range.hi);
        break;
    case N_CALL: visit_child(v, &n->u.call.callee), visit_args(v, n->u.call.args); break;
    case N_INDEX: visit_child(v, &n->u.index.base), visit_list(v, n->u.index.at); break;
    case N_FIELD: visit_child(v, &n->u.field.base); break;
    case N_MATRIX:
    case N_CELL: visit_list(v, n->u.items); break;
    default: break;
    }
}

static void visit_statement(const Visitor *v, Node *n) {
    switch ((NodeKind)n->kind) {
    case N_EXPR: visit_child(v, &n->u.expr); break;
    case N_ASSIGN: visit_child(v, &n->u.assign.value), visit_all(v, n->u.assign.targets, n->u.assign.ntargets); break;
    case N_IF:
        for (int i = 0; i < n->u.ifs.n; i++) visit_child(v, &n->u.ifs.conds[i]), visit_list(v, n->u.ifs.blocks[i]);
        visit_list(v, n->u.ifs.other);
        break;
    case N_FOR: visit_all(v, n->u.loop.ranges, n->u.loop.nranges), visit_list(v, n->u.loop.body); break;
    case N_WHILE: visit_child(v, &n->u.whiles.cond), visit_list(v, n->u.whiles.body); break;
    case N_REPEAT: visit_list(v, n->u.whiles.body), visit_child(v, &n->u.whiles.cond); break;
    case N_MATCH:
        visit_child(v, &n->u.match.value);
        for (int i = 0; i < n->u.match.narms; i++) {
            MatchArm *a = &n->u.match.arms[i];
            visit_all(v, a->patterns, a->npatterns), visit_list(v, a->body);
        }
        break;
    case N_PRINT: visit_args(v, n->u.print); break;
    case N_TRY:
        visit_list(v, n->u.tries.body), visit_list(v, n->u.tries.handler), visit_list(v, n->u.tries.last);
        break;
    case N_BLOCK: visit_list(v, n->u.block); break;
    default: break;
    }
}

void qast_children(Node *n, void (*f)(void *ud, Node **child), void *ud) {
    Visitor v = {f, ud};
    if (NODE_IS_EXPR(n)) visit_expr(&v, n);
    else visit_statement(&v, n);
}

/* -- copying ------------------------------------------------------------------------------------------------------- */
static void *copy_array(Unit *u, const void *at, int n, size_t size) {
    if (n == 0) return NULL;
    void *copy = qast_alloc(u, qmem_size((size_t)n, size, 0));
    memcpy(copy, at, (size_t)n * size);
    return copy;
}

static void copy_arrays(Unit *u,
                        Node *n) { /* copies the arrays of child pointers, so that a visitor can replace the children */
    ArgList *args = n->kind == N_CALL ? &n->u.call.args : n->kind == N_META ? &n->u.meta.args : NULL;
    NodeList *list = n->kind == N_INDEX                         ? &n->u.index.at
                     : n->kind == N_MATRIX || n->kind == N_CELL ? &n->u.items
                                                                : NULL;
    if (args) args->at = copy_array(u, args->at, args->n, sizeof(Arg));
    if (list) list->at = copy_array(u, list->at, list->n, sizeof(Node *));
    if (n->kind == N_ASSIGN)
        n->u.assign.targets = copy_array(u, n->u.assign.targets, n->u.assign.ntargets, sizeof(Node *));
}

Node *qast_copy(Unit *u, const Node *n) {
    assert(NODE_IS_EXPR(n) || n->kind == N_ASSIGN || n->kind == N_EXPR);
    Node *copy = qast_alloc(u, sizeof *copy);
    *copy = *n;
    copy_arrays(u, copy);
    return copy;
}

static void clone_child(void *ud, Node **child) { *child = qast_clone(ud, *child); }

Node *qast_clone(Unit *u, const Node *n) {
    Node *copy = qast_copy(u, n);
    qast_children(copy, clone_child, u);
    return copy;
}

/* -- comparing ----------------------------------------------------------------------------------------------------- */
static bool equal_nodes(Node *const *a, Node *const *b, int n) {
    for (int i = 0; i < n; i++)
        if (!qast_equal(a[i], b[i])) return false;
    return true;
}

static bool equal_lists(NodeList a, NodeList b) { return a.n == b.n && equal_nodes(a.at, b.at, a.n); }

static bool equal_types(TypeExpr *const *a, TypeExpr *const *b, int n);

static bool equal_type(const TypeExpr *a, const TypeExpr *b) {
    if (!a || !b) return a == b;
    return a->kind == b->kind && a->name == b->name && a->nargs == b->nargs && a->nouts == b->nouts &&
           a->ndims == b->ndims && a->rank == b->rank && a->qual == b->qual && a->mods.access == b->mods.access &&
           a->mods.flags == b->mods.flags && equal_type(a->base, b->base) && equal_types(a->args, b->args, a->nargs) &&
           equal_types(a->outs, b->outs, a->nouts) && equal_nodes(a->dims, b->dims, a->ndims);
}

static bool equal_types(TypeExpr *const *a, TypeExpr *const *b, int n) {
    for (int i = 0; i < n; i++)
        if (!equal_type(a[i], b[i])) return false;
    return true;
}

static bool equal_args(ArgList a, ArgList b) {
    if (a.n != b.n) return false;
    for (int i = 0; i < a.n; i++)
        if (a.at[i].name != b.at[i].name || !equal_type(a.at[i].type, b.at[i].type) ||
            !qast_equal(a.at[i].value, b.at[i].value))
            return false;
    return true;
}

static bool equal_assign(const Node *a, const Node *b) {
    return a->op == b->op && a->u.assign.in_place == b->u.assign.in_place &&
           a->u.assign.bracketed == b->u.assign.bracketed && a->u.assign.ntargets == b->u.assign.ntargets &&
           equal_nodes(a->u.assign.targets, b->u.assign.targets, a->u.assign.ntargets) &&
           equal_types(a->u.assign.types, b->u.assign.types, a->u.assign.ntargets) &&
           qast_equal(a->u.assign.value, b->u.assign.value);
}

static bool is_temporary(const Node *n) { return n->u.ident.sym && n->u.ident.sym->kind == SYM_TEMP; }

static bool equal_names(const Node *a,
                        const Node *b) { /* temporaries are compared by symbol: different rewrites may reuse a name */
    if (is_temporary(a) || is_temporary(b)) return a->u.ident.sym == b->u.ident.sym;
    return a->u.ident.name == b->u.ident.name;
}

bool qast_is_builtin(const Node *n, const char *name) {
    const Sym *s = qast_symbol(n);
    return s && s->builtin && !strcmp(s->name->s, name);
}

bool qast_calls_builtin(const Node *n, const char *name) {
    return n->kind == N_CALL && qast_is_builtin(n->u.call.callee, name);
}

bool qast_makes_message(const Node *n) {
    int before = qast_calls_builtin(n, "assert") ? 1 : 0; /* arguments before the message */
    if (!before && !qast_calls_builtin(n, "error")) return false;
    const ArgList *args = &n->u.call.args;
    return args->n > before && (args->n > before + 1 || args->at[before].value->kind != N_STR);
}

Node *qast_target(const Node *n) {
    bool single = n->kind == N_ASSIGN && !n->u.assign.bracketed && n->u.assign.ntargets == 1;
    return single && !(n->u.assign.types && n->u.assign.types[0]) ? n->u.assign.targets[0] : NULL;
}

Sym *qast_symbol(const Node *n) { return n && n->kind == N_IDENT ? n->u.ident.sym : NULL; }
bool qast_is_name(const Node *n, const Sym *s) { return n && n->kind == N_IDENT && n->u.ident.sym == s; }
bool qast_same_name(const Node *a, const Node *b) { return b->kind == N_IDENT && qast_is_name(a, b->u.ident.sym); }
bool qast_means(const Node *n, SymKind kind) { return qast_symbol(n) && n->u.ident.sym->kind == kind; }

const Sym *qast_written(const Node *target) {
    while (target->kind == N_INDEX || target->kind == N_FIELD)
        target = target->kind == N_INDEX ? target->u.index.base : target->u.field.base;
    return qast_symbol(target);
}

bool qast_is_variadic(const Func *f) { return f->nparams && f->params[f->nparams - 1].variadic; }

bool qast_is_parameter(const Func *f, const Sym *s) {
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].sym == s) return true;
    return false;
}

bool qast_equal(const Node *a, const Node *b) {
    if (!a || !b || a == b) return a == b;
    if (a->kind != b->kind) return false;
    switch ((NodeKind)a->kind) {
    case N_NUM:
        return a->u.num.value == b->u.num.value && a->u.num.int_value == b->u.num.int_value &&
               a->u.num.imaginary == b->u.num.imaginary;
    case N_STR: return a->u.str == b->u.str;
    case N_IDENT: return equal_names(a, b);
    case N_META: return a->u.meta.name == b->u.meta.name && equal_args(a->u.meta.args, b->u.meta.args);
    case N_UNARY: return a->op == b->op && qast_equal(a->u.bin.a, b->u.bin.a);
    case N_BINARY: return a->op == b->op && qast_equal(a->u.bin.a, b->u.bin.a) && qast_equal(a->u.bin.b, b->u.bin.b);
    case N_TERNARY:
        return qast_equal(a->u.ternary.cond, b->u.ternary.cond) && qast_equal(a->u.ternary.then, b->u.ternary.then) &&
               qast_equal(a->u.ternary.other, b->u.ternary.other);
    case N_RANGE:
        return qast_equal(a->u.range.lo, b->u.range.lo) && qast_equal(a->u.range.step, b->u.range.step) &&
               qast_equal(a->u.range.hi, b->u.range.hi);
    case N_CALL: return qast_equal(a->u.call.callee, b->u.call.callee) && equal_args(a->u.call.args, b->u.call.args);
    case N_INDEX: return qast_equal(a->u.index.base, b->u.index.base) && equal_lists(a->u.index.at, b->u.index.at);
    case N_FIELD: return a->u.field.name == b->u.field.name && qast_equal(a->u.field.base, b->u.field.base);
    case N_MATRIX:
    case N_CELL: return equal_lists(a->u.items, b->u.items);
    case N_COLON: return true;
    case N_TYPE: return equal_type(a->u.type, b->u.type);
    case N_EXPR: return qast_equal(a->u.expr, b->u.expr);
    case N_ASSIGN: return equal_assign(a, b);
    default: return false; /* lambdas and statements with blocks are equal only to themselves */
    }
}

bool qast_means_list(const Func *f, int want) {
    const TypeExpr *t = f->nouts == 1 ? f->outs[0].type : NULL;
    const char *digits = t && t->kind == TE_NAME ? strpbrk(t->name->s, "0123456789") : NULL;
    return f->is_lambda || (digits && atoi(digits) == want);
}

const Attr *qast_attribute(const Func *f, const char *name) {
    for (int i = 0; i < f->nattrs; i++)
        if (!strcmp(f->attrs[i]->name->s, name)) return f->attrs[i];
    return NULL;
}

static bool is_word(const Node *n, const char *word) {
    return n && n->kind == N_IDENT && !strcmp(n->u.ident.name->s, word);
}

bool qast_asks_fast(const Attr *a, bool otherwise, bool *wrong) {
    bool own = a && !strcmp(a->name->s, "fast_math"), fast = own || otherwise;
    for (int i = 0; a && i < a->nitems; i++) {
        const AttrItem *item = &a->items[i];
        bool yes = !strcmp(item->key->s, "true"), named = !strcmp(item->key->s, "fast_math");
        if (own) fast = yes, *wrong |= !yes && strcmp(item->key->s, "false");
        else if (named)
            fast = !item->value || is_word(item->value, "true"), *wrong |= !fast && !is_word(item->value, "false");
    }
    return fast;
}

Str *qast_initial_name(Ctx *c, const Str *type, const Str *field) {
    Text t;
    qtext_init(&t, c);
    qtext_printf(&t, "%s.%s", type->s, field->s);
    Str *name = qstr_name(c, t.s, t.len);
    return qtext_free(&t), name;
}

bool qast_is_initial_name(const Str *name) { return memchr(name->s, '.', name->len) != NULL; }

bool qast_carries_width(const Node *n) {
    if (n->kind == N_UNARY) return n->op != OP_NOT;
    if (n->kind != N_BINARY) return n->kind == N_MATRIX || n->kind == N_RANGE || n->kind == N_TERNARY;
    return n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL || n->op == OP_PWMUL || n->op == OP_DIV ||
           n->op == OP_PWDIV || n->op == OP_PWPOW;
}
