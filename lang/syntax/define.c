/* define.c -- parses definitions: functions, types, reductions and attributes. */
#include "lang/syntax/fold.h"
#include "lang/syntax/parser.h"
#include "vm/base/warning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- functions ----------------------------------------------------------------------------------------------------- */
static size_t line_begin(const char *text, size_t pos) {
    while (pos > 0 && text[pos - 1] != '\n') pos--;
    return pos;
}

/* Returns the comment lines directly above token `tok`, without the leading % and one blank; NULL: there are none. */
static Str *doc_above(Parser *p, uint32_t tok) {
    if (!p->tok[tok].first) return NULL;
    const char *t = p->text;
    uint32_t pos = p->tok[tok].pos;
    size_t below = line_begin(t, pos), first = below;
    while (first > 0) {
        size_t at = line_begin(t, first - 1), s = at;
        while (t[s] == ' ' || t[s] == '\t') s++;
        if (t[s] != '%') break;
        first = at;
    }
    if (first == below) return NULL;
    Text doc;
    qtext_init(&doc, p->ctx);
    for (size_t s = first; s < below; s++) {
        while (t[s] == ' ' || t[s] == '\t') s++;
        while (t[s] == '%') s++;
        if (t[s] == ' ') s++;
        size_t stop = s;
        while (t[stop] != '\n') stop++;
        qtext_add(&doc, t + s, stop - s - (stop > s && t[stop - 1] == '\r'));
        if (stop + 1 < below) qtext_puts(&doc, "\n");
        s = stop;
    }
    Str *str = qstr_name(p->ctx, doc.s ? doc.s : "", doc.len);
    qtext_free(&doc);
    return str;
}

/* [T, U : scalar] */
static void type_parameters(Parser *p, Str ***names, TypeExpr ***constraints, int *n) {
    typedef struct {
        Str *name;
        TypeExpr *constraint;
    } TypeParam;
    uint32_t opener = p->i, mark = p->nscratch;
    if (!qparse_accept(p, T_LBRACK)) return;
    do {
        TypeParam t = {qparse_name(p, "a type parameter"), NULL};
        if (qparse_accept(p, T_COLON)) t.constraint = qtexpr_type(p);
        qparse_push(p, &t, sizeof t);
    } while (qparse_accept(p, T_COMMA));
    qparse_close(p, T_RBRACK, opener, "',' or ");
    const TypeParam *at = qparse_take(p, mark, sizeof *at, n);
    *names = qast_alloc(p->u, qmem_size((size_t)*n, sizeof **names, sizeof **names));
    TypeExpr **types = qast_alloc(p->u, qmem_size((size_t)*n, sizeof *types, sizeof *types));
    for (int i = 0; i < *n; i++) (*names)[i] = at[i].name, types[i] = at[i].constraint;
    *constraints = types;
}

static Param parse_result(Parser *p) {
    Param r = {.pos = qparse_pos(p)};
    r.name = qparse_name(p, "the name of a result");
    if (qparse_accept(p, T_COLON)) r.type = qtexpr_type(p);
    return r;
}

static void check_names(Parser *p, const char *what, const Param *at, int n) {
    Map seen;
    uint64_t before;
    qmap_init(&seen);
    for (int i = 0; i < n && !p->failed; i++) {
        if (qmap_get(&seen, at[i].name, &before))
            qparse_fail(p, at[i].pos, "two %s are called '%s'", what, at[i].name->s);
        if (n > 1) qmap_set(&seen, p->ctx, at[i].name, 1);
    }
    qmap_free(&seen, p->ctx);
}

static void results(Parser *p, Func *f) { /* y, y : mat, [a, b : vec], [] */
    uint32_t opener = p->i, mark = p->nscratch;
    bool bracketed = qparse_accept(p, T_LBRACK);
    if (!bracketed || p->k != T_RBRACK) {
        do {
            Param r = parse_result(p);
            qparse_push(p, &r, sizeof r);
        } while (bracketed && qparse_accept(p, T_COMMA));
    }
    if (bracketed) qparse_close(p, T_RBRACK, opener, "',' or ");
    f->outs = qparse_take(p, mark, sizeof(Param), &f->nouts);
    check_names(p, "results", f->outs, f->nouts);
}

static void function_header(Parser *p, Func *f) {
    qparse_next(p);
    if (p->k == T_IDENT && qparse_peek(p, 1) == T_LPAREN)
        qparse_fail(p, qparse_pos(p),
                    "the results are missing: write 'function y = name(...)', or 'function [] = name(...)' for none");
    results(p, f);
    qparse_expect(p, T_ASSIGN, "between the results and the name of the function");
    if (qparse_accept(p, T_KERNEL)) f->qual = Q_KERNEL;
    else if (qparse_accept(p, T_DEVICE)) f->qual = Q_DEVICE;
    else qparse_accept(p, T_HOST);
    f->name = qparse_name(p, "the name of the function");
    type_parameters(p, &f->typarams, &f->constraints, &f->ntyparams);
    if (p->k == T_LPAREN) qexpr_params(p, T_RPAREN, &f->params, &f->nparams);
    else qparse_expected(p, "'(' after the name of the function");
    f->head_end = qparse_end(p);
    qblock_end_of(p, "the end of the line after the parameters");
}

/* Collects the attributes in the body of f and the one directly before it. */
static void collect_attributes(Parser *p, Func *f, Attr *before) {
    uint32_t mark = p->nscratch;
    if (before) qparse_push(p, &before, sizeof before);
    for (int i = 0; i < f->body.n; i++)
        if (f->body.at[i]->kind == N_ATTR) qparse_push(p, &f->body.at[i]->u.attr, sizeof(Attr *));
    f->attrs = qparse_take(p, mark, sizeof(Attr *), &f->nattrs);
    const Attr *rule = f->qual == Q_KERNEL ? qast_attribute(f, "adjoint") : NULL;
    if (rule)
        qparse_warn(p, rule->pos,
                    "{!adjoint} has no effect here: the derivative of a kernel is computed; a function "
                    "that launches it can have a rule");
}

void qdef_function(Parser *p, Attr *attr, uint32_t first) {
    Node *n = qparse_node(p, N_FUNC, qparse_pos(p));
    Func *f = qparse_func(p, Q_HOST, NULL, n->pos), *outer = p->func;
    BlockParser b;
    qblock_begin(p, &b, n->pos, T_FUNCTION);
    p->func = f;
    function_header(p, f);
    if (f->qual == Q_KERNEL && f->nouts > 0)
        qparse_fail(p, f->outs[0].pos,
                    "a kernel has no results: write 'function [] = __kernel__ %s(...)' and store into an array",
                    f->name->s);
    qparse_resync(p);
    f->body = qblock_statements(p);
    qblock_end(p, &b, T_ENDFUNCTION);
    f->end = qparse_end(p);
    f->doc = doc_above(p, first);
    collect_attributes(p, f, attr);
    p->func = outer;
    n->u.func = f;
    qparse_emit(p, n);
    if (outer == p->u->main) qparse_append(p, &p->u->funcs, &p->u->nfuncs, n);
}

/* -- types --------------------------------------------------------------------------------------------------------- */
static bool word_is(const Parser *p, uint32_t ahead, const char *word) {
    const Token *t = &p->tok[p->i + ahead];
    return t->kind == T_IDENT && t->end - t->pos == strlen(word) && !memcmp(p->text + t->pos, word, strlen(word));
}

/* `type` begins a definition if a name and then a colon or bracket follow; otherwise it is the function type(x). */
bool qdef_at_type(const Parser *p) {
    TokenKind k = qparse_peek(p, 2);
    return qparse_is_word(p, "type") && qparse_peek(p, 1) == T_IDENT && (k == T_COLON || k == T_LBRACK);
}

static bool class_kind(Parser *p, TypeDef *d) {
    bool qualified = word_is(p, 0, "mutable") || word_is(p, 0, "dynamic");
    if (!word_is(p, qualified, "class")) return false;
    d->class_kind = word_is(p, 0, "mutable") ? CLASS_MUTABLE : qualified ? CLASS_DYNAMIC : CLASS_IMMUTABLE;
    if (qualified) qparse_next(p);
    qparse_next(p);
    return true;
}

static void function_in_class(Parser *p) {
    uint32_t mark = p->nscratch;
    qparse_fail(p, qparse_pos(p), "a method is a function outside the class, with a first parameter self : Class");
    p->k = qparse_at(p)->kind;
    if (!p->stopped) qdef_function(p, NULL, p->i);
    p->nscratch = mark;
}

static Param class_field(Parser *p) {
    Param f = {.pos = qparse_pos(p)};
    f.name = qparse_name(p, "a field: name : type");
    if (qparse_accept(p, T_COLON)) f.type = qtexpr_type(p);
    qtexpr_refuse_mode(p, f.type, "a field");
    if (qparse_accept(p, T_ASSIGN)) f.init = qexpr_any(p);
    return f;
}

static void class_body(Parser *p, TypeDef *d, uint32_t pos) {
    BlockParser b;
    qblock_begin(p, &b, pos, T_ENDTYPE);
    d->is_class = true;
    qblock_end_of(p, "the end of the line after 'class'");
    uint32_t mark = p->nscratch;
    for (;;) {
        while (qblock_separator(p)) qparse_next(p);
        p->stmt = p->i;
        if (p->k == T_END || p->k == T_ENDTYPE || p->k == T_EOF) break;
        if (p->k == T_FUNCTION) {
            function_in_class(p);
        } else {
            Param f = class_field(p);
            qparse_push(p, &f, sizeof f);
        }
        qblock_end_of(p, "the end of the field");
        if (p->k != T_EOF && !qblock_separator(p) && p->k != T_END && p->k != T_ENDTYPE) break;
    }
    d->fields = qparse_take(p, mark, sizeof(Param), &d->nfields);
    qblock_end(p, &b, T_ENDTYPE);
}

static bool is_null(const Node *n) {
    return n->kind == N_IDENT && (!strcmp(n->u.ident.name->s, "null") || !strcmp(n->u.ident.name->s, "nullptr"));
}

/* Emits assignments of computed initial values to hidden variables (qast_initial_name), so that they are evaluated at
 * the position of the type definition. */
static void initial_values(Parser *p, const TypeDef *d) {
    for (int i = 0; i < d->nfields; i++) {
        const Param *f = &d->fields[i];
        if (!f->init || qfold_is_constant(f->init) || is_null(f->init)) continue;
        Node *name = qparse_node(p, N_IDENT, f->init->pos);
        name->u.ident.name = qast_initial_name(p->ctx, d->name, f->name);
        Node *n = qstmt_assignment(p, name, d->ntyparams ? NULL : f->type, f->init);
        /* The copy protects the initial value from later changes of the array.  A lambda is assigned plainly, because
         * the assignment gives it its name. */
        if (f->init->kind != N_LAMBDA) n->flag = ASSIGN_COPIES;
        qparse_emit(p, n);
    }
}

static void add_constant(Parser *p, TypeDef *d, Param constant) {
    if ((d->nfields & (d->nfields - 1)) == 0) { /* full: double the capacity */
        Param *at = qast_alloc(p->u, qmem_size((size_t)(2 * d->nfields), sizeof *at, sizeof *at));
        if (d->nfields) memcpy(at, d->fields, (size_t)d->nfields * sizeof *at);
        d->fields = at;
    }
    d->fields[d->nfields++] = constant;
}

static double enum_value(Parser *p) {
    double x = 0;
    Node *value = qexpr_any(p);
    if (!qfold_number(value, &x) || x != rint(x))
        qparse_fail(p, value->pos, "the value of a constant of an enum is an integer, known before the program runs");
    return x;
}

/* Parses an enum.  Each constant becomes an ordinary assignment red = 0, green = 1 …; color.red also gives the
 * number. */
static void enum_body(Parser *p, TypeDef *d, uint32_t pos) {
    BlockParser b;
    qblock_begin(p, &b, pos, T_ENDTYPE);
    qparse_next(p);
    d->is_enum = true;
    d->alias = qtexpr_new(p, TE_NAME, pos);
    d->alias->name = qstr_cname(p->ctx, "int");
    qblock_end_of(p, "the end of the line after 'enum'");
    for (double next = 0;; next++) {
        while (qblock_separator(p)) qparse_next(p);
        p->stmt = p->i;
        if (p->k == T_END || p->k == T_ENDTYPE || p->k == T_EOF) break;
        Node *name = qparse_node(p, N_IDENT, qparse_pos(p)), *value = qparse_node(p, N_NUM, name->pos);
        name->u.ident.name = qparse_name(p, "the name of a constant");
        if (qparse_accept(p, T_ASSIGN)) next = enum_value(p);
        value->u.num.value = next;
        value->u.num.integer = true;
        qparse_emit(p, qstmt_assignment(p, name, NULL, value));
        add_constant(p, d, (Param){.name = name->u.ident.name, .init = value, .pos = name->pos});
        qblock_end_of(p, "the end of the constant");
    }
    qblock_end(p, &b, T_ENDTYPE);
}

void qdef_type(Parser *p) {
    Node *n = qparse_node(p, N_TYPEDEF, qparse_pos(p));
    TypeDef *d = n->u.typedefn = qast_alloc(p->u, sizeof *d);
    d->pos = n->pos;
    qparse_next(p);
    d->name = qparse_name(p, "the name of the type");
    type_parameters(p, &d->typarams, &d->constraints, &d->ntyparams);
    qparse_expect(p, T_COLON, "after the name of the type");
    qparse_emit(p, n);
    if (class_kind(p, d)) class_body(p, d, n->pos), initial_values(p, d);
    else if (word_is(p, 0, "enum")) enum_body(p, d, n->pos);
    else qtexpr_refuse_mode(p, d->alias = qtexpr_type(p), "a name for a type");
    check_names(p, d->is_enum ? "constants" : "fields", d->fields, d->nfields);
    qparse_append(p, &p->u->typedefs, &p->u->ntypedefs, d);
}

/* -- reductions ---------------------------------------------------------------------------------------------------- */
/* Parses the pattern or the replacement, which ends at stop or stop2.  If it is entirely in parentheses, it may be an
 * assignment, as in (x[a > b] = c). */
static Node *rule_part(Parser *p, TokenKind stop, TokenKind stop2) {
    TokenKind beyond = p->k == T_LPAREN ? qparse_beyond(p, p->i) : T_ERROR;
    if (beyond != stop && beyond != stop2 && beyond != T_SEMI && !(beyond == T_EOF && stop2 == T_NEWLINE))
        return qexpr_any(p);
    uint32_t opener = p->i, mark = p->nscratch;
    qparse_next(p);
    qstmt_simple(p);
    qparse_close(p, T_RPAREN, opener, "");
    Node *n = qparse_take_nodes(p, mark).at[0];
    return n->kind == N_EXPR ? n->u.expr : n;
}

void qdef_reduction(Parser *p) {
    Node *n = qparse_node(p, N_REDUCTION, qparse_pos(p));
    Reduction *r = n->u.reduction = qast_alloc(p->u, sizeof *r);
    r->pos = n->pos;
    r->unit = p->u;
    r->order = p->u->nreductions;
    qparse_next(p);
    if (p->k == T_LPAREN) {
        qexpr_params(p, T_RPAREN, &r->params, &r->nparams);
    } else {
        Param m = parse_result(p);
        qparse_push(p, &m, sizeof m);
        r->params = qparse_take(p, p->nscratch - (uint32_t)sizeof m, sizeof m, &r->nparams);
    }
    qparse_expect(p, T_ARROW, "after the variables of the reduction");
    r->pattern = rule_part(p, T_ASSIGN, T_ASSIGN);
    qparse_expect(p, T_ASSIGN, "between the pattern and its replacement");
    r->replacement = rule_part(p, T_WHERE, T_NEWLINE);
    if (qparse_accept(p, T_WHERE)) r->where = qexpr_any(p);
    qparse_emit(p, n);
    qparse_append(p, &p->u->reductions, &p->u->nreductions, r);
}

/* -- attributes ---------------------------------------------------------------------------------------------------- */
static Node *attribute_value(Parser *p) { /* an expression, or a list as in args=(a, b) */
    uint32_t opener = p->i;
    if (!qparse_accept(p, T_LPAREN)) return qexpr_any(p);
    Node *n = qparse_node(p, N_CELL, p->tok[opener].pos);
    uint32_t mark = p->nscratch;
    do {
        Node *item = qexpr_any(p);
        qparse_push(p, &item, sizeof item);
    } while (qparse_accept(p, T_COMMA));
    n->u.items = qparse_take_nodes(p, mark);
    qparse_close(p, T_RPAREN, opener, "',' or ");
    return n;
}

static void attribute_items(Parser *p, Attr *a) {
    uint32_t mark = p->nscratch;
    while (p->k != T_RBRACE && p->k != T_ERROR) {
        if (qparse_accept(p, T_SEMI) || qparse_accept(p, T_COMMA)) continue;
        if (!qparse_at_word(p)) {
            qparse_expected(p, "a word in the attribute");
            break;
        }
        AttrItem item = {qparse_take_word(p), NULL};
        if (qparse_accept(p, T_ASSIGN)) item.value = attribute_value(p);
        qparse_push(p, &item, sizeof item);
    }
    a->items = qparse_take(p, mark, sizeof(AttrItem), &a->nitems);
}

/* Handles {!warnings off} and {!warnings on}, which suppress warnings for the lines between them. */
static void switch_warnings(Parser *p, const Attr *a) {
    const char *word = a->nitems == 1 && !a->items[0].value ? a->items[0].key->s : "";
    bool on = !strcmp(word, "on");
    if (!on && strcmp(word, "off")) qparse_warn(p, a->pos, "write {!warnings off} or {!warnings on}");
    else if (!p->quiet) qwarn_switch(p->ctx, p->u->src, a->pos, on);
}

static const struct KnownAttribute {
    const char *name;
    enum { ANYWHERE, AUTOMATIC, BEFORE_FOR, AT_FUNCTION, BEFORE_EITHER } place;
    const char *settings;
} known_attributes[] = {
#define ATTRIBUTE(name, place, settings) {name, place, settings},
#include "lang/syntax/attributes.def"
};
enum { KNOWN_ATTRIBUTES = sizeof known_attributes / sizeof *known_attributes };

static const struct KnownAttribute *known_attribute(const Attr *a) {
    for (int i = 0; i < KNOWN_ATTRIBUTES; i++)
        if (!strcmp(known_attributes[i].name, a->name->s)) return &known_attributes[i];
    return NULL;
}

enum { SENTENCE = 240 };

static void warn_unknown(Parser *p, uint32_t pos, const char *what, const char *of, const Nearest *near) {
    char sentence[SENTENCE];
    const char *best = near->best;
    snprintf(sentence, SENTENCE, "the unknown %s '%.60s'%s%s%s is ignored%s%s%s", what, near->wanted,
             *of ? " of {!" : "", of, *of ? "}" : "", best ? ": did you mean '" : "", best ? best : "",
             best ? "'?" : "");
    qparse_warn(p, pos, sentence);
}

static void check_setting(Parser *p, const Attr *a, const char *settings, const char *key) {
    char words[SENTENCE], *rest = NULL;
    Nearest near = {.wanted = key};
    snprintf(words, SENTENCE, "%s", settings);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (!strcmp(word, key)) return;
        qstr_offer(&near, word);
    }
    warn_unknown(p, a->pos, "setting", a->name->s, &near);
}

static void check_attribute(Parser *p, const Attr *a) {
    const struct KnownAttribute *k = known_attribute(a);
    Nearest near = {.wanted = a->name->s};
    for (int i = 0; !k && i < KNOWN_ATTRIBUTES; i++) qstr_offer(&near, known_attributes[i].name);
    if (!k) warn_unknown(p, a->pos, "attribute", "", &near);
    for (int i = 0; k && k->settings && i < a->nitems; i++) check_setting(p, a, k->settings, a->items[i].key->s);
}

void qdef_attribute_before(Parser *p, const Attr *a, TokenKind next) {
    const struct KnownAttribute *k = known_attribute(a);
    bool at_function = next == T_FUNCTION || p->func != p->u->main;
    char sentence[SENTENCE];
    const char *wanted = NULL;
    if (k && k->place == BEFORE_FOR && next != T_FOR) wanted = "directly before a for loop";
    if (k && k->place == AT_FUNCTION && !at_function) wanted = "directly before a function, or in it";
    if (k && k->place == BEFORE_EITHER && next != T_FOR && !at_function)
        wanted = "directly before a for loop or a function, or in a function";
    if (k && k->place == AUTOMATIC) {
        snprintf(sentence, SENTENCE,
                 "{!%s} has no effect: blocks are chosen automatically, and qrun --tune measures others", k->name);
        qparse_warn(p, a->pos, sentence);
    }
    if (!wanted) return;
    snprintf(sentence, SENTENCE, "{!%s} has no effect here: it stands %s", k->name, wanted);
    qparse_warn(p, a->pos, sentence);
}

/* Parses {!name key=value; …}.  Attributes do not change what a program computes, so an invalid one causes only a
 * warning. */
Attr *qdef_attribute(Parser *p) {
    Node *n = qparse_node(p, N_ATTR, qparse_pos(p));
    Attr *a = n->u.attr = qast_alloc(p->u, sizeof *a);
    uint32_t opener = p->i;
    a->pos = n->pos;
    qparse_next(p);
    qparse_next(p);
    ParseMark m = qparse_try(p);
    a->name = qparse_at_word(p) ? qparse_take_word(p) : qparse_name(p, "the name of the attribute");
    attribute_items(p, a);
    bool closed = p->tok[opener].match != 0, understood = qparse_tried(p, m, true);
    if (!understood && closed) {
        a->items = NULL, a->nitems = 0;
        qparse_warn(p, a->pos, "this attribute is not understood and is ignored");
        p->i = p->tok[opener].match;
        p->k = T_RBRACE;
    }
    if (!strcmp(a->name->s, "warnings")) switch_warnings(p, a);
    if (understood) check_attribute(p, a);
    qparse_close(p, T_RBRACE, opener, "");
    qparse_emit(p, n);
    return a;
}
