/* code_call.c -- compiles calls, conversions and meta functions $name(…). */
#include "lang/bytecode/code.h"

#include <string.h>

/* -- calls --------------------------------------------------------------------------------------------------------- */

static int count_named(Coder *e, ArgList args) {
    int named = 0;
    for (int i = 0; i < args.n; i++) {
        if (args.at[i].name) named++;
        else if (named) qcode_fail(e, args.at[i].pos, "an argument without a name cannot follow a named one");
    }
    return named;
}

static uint32_t name_table(Coder *e, ArgList args, int named) {
    NameTable *t = qcode_alloc(e, sizeof *t);
    t->n = named;
    t->at = qcode_alloc(e, qmem_size((size_t)named, sizeof *t->at, 0));
    for (int i = 0; i < named; i++) t->at[i] = args.at[args.n - named + i].name;
    return qcode_literal(e, (Literal){.kind = LIT_NAMES, .u.names = t});
}

/* Evaluates arguments into new temporaries.  wide: they are arguments of a conversion. */
static void arguments(Coder *e, ArgList args, bool wide) {
    for (int i = 0; i < args.n; i++) {
        int r = qcode_temps(e, 1);
        bool before = e->wide;
        e->wide = wide;
        qcode_to(e, args.at[i].value, r);
        e->wide = before;
        if (args.at[i].type) qcode_coerce(e, r, args.at[i].type, args.at[i].name, false);
    }
}

static void emit_method_call(Coder *e, Node *n, int base, int want) {
    Node *field = n->u.call.callee;
    ArgList args = n->u.call.args;
    int named = count_named(e, args), self = qcode_temps(e, 1);
    qcode_to(e, field->u.field.base, self);
    arguments(e, args, false);
    qcode_at(e, n->pos);
    qcode_op(e, BC_METHOD, base, args.n, want);
    qcode_word(e, qcode_field_word(e, field->u.field.name));
    qcode_word(e, named ? name_table(e, args, named) : NO_NAMES);
}

static void global_call(Coder *e, Node *n, int slot, ArgList args, int base, int want) {
    arguments(e, args, slot == e->host->builtin(e->host->ud, "int"));
    qcode_at(e, n->pos);
    qcode_op(e, BC_CALLG, base, args.n, want);
    qcode_word(e, (uint32_t)slot);
}

int qcode_call(Coder *e, Node *n, int base, int want) {
    Node *callee = n->u.call.callee;
    ArgList args = n->u.call.args;
    int mark = e->top, named = count_named(e, args);
    if (callee->kind == N_FIELD) {
        emit_method_call(e, n, base, want);
    } else if (qast_means(callee, SYM_GLOBAL) && !named) {
        global_call(e, n, callee->u.ident.sym->index, args, base, want);
    } else {
        qcode_to(e, callee, base);
        arguments(e, args, false);
        qcode_at(e, n->pos);
        qcode_op(e, named ? BC_CALLN : BC_CALL, base, args.n, want);
        if (named) qcode_word(e, name_table(e, args, named));
    }
    qcode_call_site(e, qfold_integral(&args) << (callee->kind == N_FIELD));
    e->top = mark;
    return base;
}

TypeExpr *qcode_conversion(Coder *e, const Node *n, const Type **type) {
    Node *callee = n->u.call.callee;
    ArgList args = n->u.call.args;
    bool by_name = qast_means(callee, SYM_TYPE);
    if ((!by_name && callee->kind != N_TYPE) || args.n != 1 || args.at[0].name || args.at[0].type) return NULL;
    TypeExpr *t = by_name ? qcode_named_type(e, callee) : callee->u.type;
    *type = qcode_known_type(e, t);
    return *type && (*type)->kind == TY_NUM ? t : NULL;
}

/* Compiles a conversion; false: n is a call. */
static bool conversion_to(Coder *e, Node *n, int dst) {
    const Type *type;
    TypeExpr *t = qcode_conversion(e, n, &type);
    if (!t) return false;
    bool before = e->wide;
    e->wide = qcode_is_wide(type);
    int mark = e->top, r = qcode_any(e, n->u.call.args.at[0].value);
    e->wide = before;
    qcode_at(e, n->pos);
    qcode_op(e, BC_CONVERT, dst, r, 0);
    qcode_word(e, qcode_type(e, t));
    e->top = mark;
    return true;
}

void qcode_call_to(Coder *e, Node *n, int dst) {
    if (conversion_to(e, n, dst)) return;
    int mark = e->top, base = dst == e->top - 1 && qcode_is_temp(e, dst) ? dst : qcode_temps(e, 1);
    qcode_call(e, n, base, 1);
    qcode_move(e, dst, base);
    e->top = mark;
}

/* -- $name(…) ------------------------------------------------------------------------------------------------------ */

static void builtin_to(Coder *e, Node *n, const char *name, int dst) {
    int mark = e->top, base = qcode_temps(e, 1);
    global_call(e, n, e->host->builtin(e->host->ud, name), n->u.meta.args, base, 1);
    qcode_move(e, dst, base);
    e->top = mark;
}

static bool meta_is(const Node *n, const char *name) { return strcmp(n->u.meta.name->s, name) == 0; }

static bool first_string_is(const Node *n, const char *text) {
    const Node *a = n->u.meta.args.n ? n->u.meta.args.at[0].value : NULL;
    return a && a->kind == N_STR && strcmp(a->u.str->s, text) == 0;
}

static int operands(const Node *n) {
    switch (n->kind) {
    case N_UNARY: return 1;
    case N_BINARY: return 2;
    case N_TERNARY: return 3;
    case N_CALL: return n->u.call.args.n;
    case N_MATRIX:
    case N_CELL: return n->u.items.n;
    default: return 0;
    }
}

/* Loads the source text of the argument as a string. */
static void text_to(Coder *e, const Node *n, int dst) {
    const char *s = e->func->unit->src->text + n->pos, *start = strchr(s, '(');
    size_t len = 0;
    int depth = 0;
    bool quoted = false;
    for (const char *p = start; p && *p; p++) {
        if (*p == '"') quoted = !quoted;
        if (!quoted && strchr("([{", *p)) depth++;
        if (!quoted && strchr(")]}", *p) && --depth == 0) {
            len = (size_t)(p - start - 1);
            break;
        }
    }
    qcode_opx(e, BC_LOADK, dst, qcode_string(e, qstr_name(e->ctx, len ? start + 1 : "", len)));
}

/* Compiles $name(…) for interpreted code, whose target is the cpu. */
void qcode_meta(Coder *e, Node *n, int dst) {
    ArgList args = n->u.meta.args;
    if (meta_is(n, "ftype")) {
        qcode_op(e, BC_LOADBOOL, dst, first_string_is(n, e->func->qual == Q_DEVICE ? "__device__" : "__host__"), 0);
    } else if (meta_is(n, "target")) {
        qcode_op(e, BC_LOADBOOL, dst, first_string_is(n, "cpu"), 0);
    } else if (args.n == 0) {
        qcode_fail(e, n->pos, "$%s needs an argument", n->u.meta.name->s);
    } else if (meta_is(n, "type") || meta_is(n, "size")) {
        builtin_to(e, n, n->u.meta.name->s, dst);
    } else if (meta_is(n, "nops")) {
        qcode_load_number(e, operands(args.at[0].value), dst);
    } else if (meta_is(n, "str")) {
        text_to(e, n, dst);
    } else if (meta_is(n, "eval") || meta_is(n, "inline") || meta_is(n, "specialize") || meta_is(n, "value") ||
               meta_is(n, "check")) {
        qcode_to(e, args.at[0].value, dst);
    } else {
        qcode_fail(e, n->pos, "$%s is not known", n->u.meta.name->s);
    }
}
