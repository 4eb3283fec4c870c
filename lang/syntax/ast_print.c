/* ast_print.c -- prints the syntax tree, one node per line, for golden tests and --dump ast. */
#include "lang/syntax/ast.h"
#include "lang/syntax/operators.h"
#include "vm/base/number.h"

#include <stdio.h>

typedef struct {
    Text *out;
    int depth;
} Printer;

static void print_node(Printer *p, const Node *n, const char *label);

static void begin_line(Printer *p, const char *label, const char *what) {
    qtext_printf(p->out, "%*s", 2 * p->depth, "");
    if (*label) qtext_printf(p->out, "%s: ", label);
    qtext_puts(p->out, what);
}

static void line(Printer *p, const char *label, const char *what) {
    begin_line(p, label, what);
    qtext_puts(p->out, "\n");
}

static void name_line(Printer *p, const char *label, const char *what, const Str *name) {
    begin_line(p, label, what);
    qtext_printf(p->out, " %s\n", name ? name->s : "?");
}

/* -- types (on one line) ------------------------------------------------------------------------------------------- */
static void print_type(Text *t, const TypeExpr *e);
static void print_inline(Text *t, const Node *n);

static void print_types(Text *t, TypeExpr *const *at, int n, const char *separator) {
    for (int i = 0; i < n; i++) {
        if (i) qtext_puts(t, separator);
        print_type(t, at[i]);
    }
}

static void print_modifiers(Text *t, TypeMods m) {
    static const struct {
        int flag;
        const char *name;
    } flags[] = {{MOD_CONST, "const"},
                 {MOD_NONCONST, "nonconst"},
                 {MOD_HWTEX_NEAREST, "hwtex_nearest"},
                 {MOD_HWTEX_LINEAR, "hwtex_linear"},
                 {MOD_HWTEX_CONST, "hwtex_const"},
                 {MOD_SHARED, "shared"}};
    if (m.access) qtext_printf(t, "'%s", qaccess_name((AccessMode)m.access));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (m.flags & flags[i].flag) qtext_printf(t, "'%s", flags[i].name);
}

static void print_function_type(Text *t, const TypeExpr *e) {
    static const char *const quals[] = {"", "__device__ ", "__kernel__ "};
    qtext_printf(t, "[%s(", quals[e->qual]);
    print_types(t, e->args, e->nargs, ",");
    qtext_puts(t, ") -> (");
    print_types(t, e->outs, e->nouts, ",");
    qtext_puts(t, ")]");
}

static void print_type(Text *t, const TypeExpr *e) {
    switch (e->kind) {
    case TE_NAME: qtext_puts(t, e->name->s); break;
    case TE_ANY: qtext_puts(t, "??"); break;
    case TE_PTR: qtext_puts(t, "^"), print_type(t, e->base); break;
    case TE_FN: print_function_type(t, e); break;
    case TE_UNION: qtext_puts(t, "["), print_types(t, e->args, e->nargs, "|"), qtext_puts(t, "]"); break;
    case TE_ARRAY:
        print_type(t, e->base), qtext_puts(t, "["), print_types(t, e->args, e->nargs, ","), qtext_puts(t, "]");
        break;
    case TE_RANK:
        print_type(t, e->base);
        if (e->rank == RANK_ANY) qtext_puts(t, "{:}");
        else qtext_printf(t, "{%d}", e->rank);
        break;
    case TE_FIXED:
        print_type(t, e->base), qtext_puts(t, "(");
        for (int i = 0; i < e->ndims; i++) {
            if (i) qtext_puts(t, ",");
            print_inline(t, e->dims[i]);
        }
        qtext_puts(t, ")");
        break;
    }
    print_modifiers(t, e->mods);
}

static void print_inline(Text *t, const Node *n) { /* prints the size of a dimension */
    switch (n->kind) {
    case N_NUM: qtext_printf(t, "%.17g", n->u.num.value); break;
    case N_IDENT: qtext_puts(t, n->u.ident.name->s); break;
    case N_BINARY:
        qtext_puts(t, "("), print_inline(t, n->u.bin.a);
        qtext_puts(t, qop_text((Op)n->op));
        print_inline(t, n->u.bin.b), qtext_puts(t, ")");
        break;
    default: qtext_puts(t, "…"); break;
    }
}

static void type_line(Printer *p, const char *label, const TypeExpr *e) {
    if (!e) return;
    begin_line(p, label, "");
    print_type(p->out, e);
    qtext_puts(p->out, "\n");
}

/* -- lists and functions ------------------------------------------------------------------------------------------- */
static void print_nodes(Printer *p, Node *const *at, int n, const char *label) {
    p->depth++;
    for (int i = 0; i < n; i++) print_node(p, at[i], label);
    p->depth--;
}

static void print_list(Printer *p, NodeList l) { print_nodes(p, l.at, l.n, ""); }

static void print_child(Printer *p, const Node *n, const char *label) {
    p->depth++;
    if (n) print_node(p, n, label);
    p->depth--;
}

static void print_args(Printer *p, ArgList a) {
    p->depth++;
    for (int i = 0; i < a.n; i++) {
        print_node(p, a.at[i].value, a.at[i].name ? a.at[i].name->s : "");
        if (a.at[i].type) type_line(p, "  as", a.at[i].type);
    }
    p->depth--;
}

static void print_params(Printer *p, const char *what, const Param *at, int n) {
    for (int i = 0; i < n; i++) {
        begin_line(p, "", what);
        qtext_printf(p->out, " %s%s", at[i].variadic ? "..." : "", at[i].name->s);
        if (at[i].type) qtext_puts(p->out, " : "), print_type(p->out, at[i].type);
        qtext_puts(p->out, "\n");
        print_child(p, at[i].init, "default");
    }
}

static void print_typarams(Printer *p, Str *const *at, int n) {
    for (int i = 0; i < n; i++) qtext_printf(p->out, "%s%s%s", i ? "," : "[", at[i]->s, i == n - 1 ? "]" : "");
}

static void print_func(Printer *p, const Func *f, const char *label) {
    static const char *const quals[] = {"", "__device__ ", "__kernel__ "};
    begin_line(p, label, f->is_lambda ? "lambda" : "function");
    qtext_printf(p->out, " %s", quals[f->qual]);
    if (!f->is_lambda) qtext_puts(p->out, f->name->s);
    print_typarams(p, f->typarams, f->ntyparams);
    while (p->out->len && p->out->s[p->out->len - 1] == ' ') p->out->s[--p->out->len] = 0;
    qtext_puts(p->out, "\n");
    p->depth++;
    print_params(p, "param", f->params, f->nparams);
    print_params(p, "result", f->outs, f->nouts);
    for (int i = 0; i < f->body.n; i++) print_node(p, f->body.at[i], "");
    if (f->expr) print_node(p, f->expr, "value");
    p->depth--;
}

/* -- nodes --------------------------------------------------------------------------------------------------------- */
static void print_assign(Printer *p, const Node *n, const char *label) {
    begin_line(p, label, "assign");
    qtext_printf(p->out, " %s%s\n", n->u.assign.in_place ? qop_inplace((Op)n->op) : "=",
                 n->u.assign.bracketed ? " []" : "");
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        print_child(p, n->u.assign.targets[i], "to");
        p->depth++;
        type_line(p, "  as", n->u.assign.types[i]);
        p->depth--;
    }
    print_child(p, n->u.assign.value, "");
}

static void print_blocks(Printer *p, const Node *n) { /* prints the parts of an if */
    for (int i = 0; i < n->u.ifs.n; i++) {
        line(p, "", i ? "elseif" : "if");
        print_child(p, n->u.ifs.conds[i], "when");
        print_list(p, n->u.ifs.blocks[i]);
    }
    if (!n->u.ifs.has_else) return;
    line(p, "", "else");
    print_list(p, n->u.ifs.other);
}

static void print_loop(Printer *p, const Node *n) {
    begin_line(p, "", n->u.loop.bracketed ? "for []" : "for");
    for (int i = 0; i < n->u.loop.nvars; i++) qtext_printf(p->out, " %s", n->u.loop.names[i]->s);
    if (n->u.loop.attr) qtext_printf(p->out, " {!%s}", n->u.loop.attr->name->s);
    qtext_puts(p->out, "\n");
    print_nodes(p, n->u.loop.ranges, n->u.loop.nranges, "in");
    print_list(p, n->u.loop.body);
}

static void print_match(Printer *p, const Node *n) {
    line(p, "", "match");
    print_child(p, n->u.match.value, "value");
    p->depth++;
    for (int i = 0; i < n->u.match.narms; i++) {
        const MatchArm *a = &n->u.match.arms[i];
        line(p, "", a->wildcard ? "arm _" : "arm");
        print_nodes(p, a->patterns, a->npatterns, "pattern");
        print_list(p, a->body);
    }
    p->depth--;
}

static void print_try(Printer *p, const Node *n) {
    line(p, "", "try");
    print_list(p, n->u.tries.body);
    if (n->u.tries.has_catch || !n->u.tries.has_last) {
        begin_line(p, "", "catch");
        qtext_printf(p->out, "%s%s\n", n->u.tries.name ? " " : "", n->u.tries.name ? n->u.tries.name->s : "");
        print_list(p, n->u.tries.handler);
    }
    if (!n->u.tries.has_last) return;
    line(p, "", "finally");
    print_list(p, n->u.tries.last);
}

static void print_typedef(Printer *p, const TypeDef *d) {
    static const char *const kinds[] = {"class", "mutable class", "dynamic class"};
    begin_line(p, "", "type");
    qtext_printf(p->out, " %s", d->name->s);
    print_typarams(p, d->typarams, d->ntyparams);
    qtext_puts(p->out, " : ");
    if (d->is_class) qtext_puts(p->out, kinds[d->class_kind]);
    else if (d->alias) print_type(p->out, d->alias);
    qtext_puts(p->out, "\n");
    p->depth++;
    print_params(p, "field", d->fields, d->nfields);
    p->depth--;
}

static void print_reduction(Printer *p, const Reduction *r) {
    line(p, "", "reduction");
    p->depth++;
    print_params(p, "var", r->params, r->nparams);
    p->depth--;
    print_child(p, r->pattern, "pattern");
    print_child(p, r->replacement, "becomes");
    print_child(p, r->where, "where");
}

static void print_attr(Printer *p, const Attr *a) {
    begin_line(p, "", "attribute");
    qtext_printf(p->out, " %s\n", a->name->s);
    p->depth++;
    for (int i = 0; i < a->nitems; i++) {
        if (a->items[i].value) print_node(p, a->items[i].value, a->items[i].key->s);
        else line(p, "", a->items[i].key->s);
    }
    p->depth--;
}

static void print_number(Printer *p, const Node *n, const char *label) {
    char text[32];
    qnum_print(text, sizeof text, "%.15g", n->u.num.value);
    if (qnum_read(text, NULL) != n->u.num.value) qnum_print(text, sizeof text, "%.17g", n->u.num.value);
    if (n->u.num.int_value)
        qnum_print(text, sizeof text, n->u.num.is_uint64 ? "%llu" : "%lld", (long long)n->u.num.int_value);
    begin_line(p, label, text);
    qtext_puts(p->out, n->u.num.imaginary ? "j\n" : n->u.num.integer ? "\n" : " real\n");
}

static void print_expr(Printer *p, const Node *n, const char *label) {
    switch ((NodeKind)n->kind) {
    case N_NUM: print_number(p, n, label); break;
    case N_STR:
        begin_line(p, label, "\""), qtext_add(p->out, n->u.str->s, n->u.str->len), qtext_puts(p->out, "\"\n");
        break;
    case N_IDENT: begin_line(p, label, n->u.ident.name->s), qtext_puts(p->out, "\n"); break;
    case N_META: name_line(p, label, "meta", n->u.meta.name), print_args(p, n->u.meta.args); break;
    case N_UNARY:
        begin_line(p, label, "unary "), qtext_printf(p->out, "%s\n", qop_text((Op)n->op)),
            print_child(p, n->u.bin.a, "");
        break;
    case N_BINARY:
        line(p, label, qop_text((Op)n->op));
        print_child(p, n->u.bin.a, ""), print_child(p, n->u.bin.b, "");
        break;
    case N_TERNARY:
        line(p, label, "choose");
        print_child(p, n->u.ternary.cond, "when"), print_child(p, n->u.ternary.then, ""),
            print_child(p, n->u.ternary.other, "");
        break;
    case N_RANGE:
        line(p, label, "range");
        print_child(p, n->u.range.lo, ""), print_child(p, n->u.range.step, "step"), print_child(p, n->u.range.hi, "");
        break;
    case N_CALL: line(p, label, "call"), print_child(p, n->u.call.callee, ""), print_args(p, n->u.call.args); break;
    case N_INDEX: line(p, label, "index"), print_child(p, n->u.index.base, ""), print_list(p, n->u.index.at); break;
    case N_FIELD: name_line(p, label, "field", n->u.field.name), print_child(p, n->u.field.base, ""); break;
    case N_LAMBDA: print_func(p, n->u.lambda.func, label); break;
    case N_MATRIX: line(p, label, "matrix"), print_list(p, n->u.items); break;
    case N_CELL: line(p, label, "cell"), print_list(p, n->u.items); break;
    case N_COLON: line(p, label, ":"); break;
    default: begin_line(p, label, "type "), print_type(p->out, n->u.type), qtext_puts(p->out, "\n"); break;
    }
}

static void print_node(Printer *p, const Node *n, const char *label) {
    switch ((NodeKind)n->kind) {
    case N_EXPR: line(p, label, "evaluate"), print_child(p, n->u.expr, ""); break;
    case N_ASSIGN: print_assign(p, n, label); break;
    case N_DECL: name_line(p, label, "declare", n->u.decl.name), type_line(p, "  as", n->u.decl.type); break;
    case N_IF: print_blocks(p, n); break;
    case N_FOR: print_loop(p, n); break;
    case N_WHILE:
        line(p, label, "while"), print_child(p, n->u.whiles.cond, "when"), print_list(p, n->u.whiles.body);
        break;
    case N_REPEAT:
        line(p, label, "repeat"), print_list(p, n->u.whiles.body), print_child(p, n->u.whiles.cond, "until");
        break;
    case N_MATCH: print_match(p, n); break;
    case N_BREAK: line(p, label, "break"); break;
    case N_CONTINUE: line(p, label, "continue"); break;
    case N_RETURN: line(p, label, "return"); break;
    case N_SYNC: name_line(p, label, "syncthreads", n->u.scope); break;
    case N_PRINT: line(p, label, "print"), print_args(p, n->u.print); break;
    case N_IMPORT:
        name_line(p, label, "import", n->u.import.path);
        if (n->u.import.name) name_line(p, "as", "", n->u.import.name);
        break;
    case N_FUNC: print_func(p, n->u.func, label); break;
    case N_TYPEDEF: print_typedef(p, n->u.typedefn); break;
    case N_REDUCTION: print_reduction(p, n->u.reduction); break;
    case N_ATTR: print_attr(p, n->u.attr); break;
    case N_TRY: print_try(p, n); break;
    case N_BLOCK: line(p, label, "block"), print_list(p, n->u.block); break;
    default: print_expr(p, n, label); break;
    }
}

void qast_print(const Unit *u, Text *out) {
    Printer p = {out, 0};
    for (int i = 0; i < u->main->body.n; i++) print_node(&p, u->main->body.at[i], "");
}
