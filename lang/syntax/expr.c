/* expr.c -- parses expressions: precedence climbing over operators.def, postfix operators, literals, lambdas. */
#include "lang/syntax/parser.h"

#include "vm/base/number.h"

#include <stdio.h>
#include <string.h>

enum { PREC_LOWEST = 2, PREC_EQUAL = 4, PREC_RANGE = 6 };

static const uint8_t precedence[OP__COUNT] = {
#define BINARY(id, text, inplace, prec, method) [OP_##id] = prec,
#define UNARY(id, text, prec, method)
#include "lang/syntax/operators.def"
};

static Node *leaf(Parser *p, NodeKind k, uint32_t pos) { return qparse_grown(p, qparse_node(p, k, pos), 0); }
static int higher(int a, int b) { return a > b ? a : b; }

static Node *binary_node(Parser *p, Op op, uint32_t pos, Node *a, int height, Node *b) {
    Node *n = qparse_node(p, N_BINARY, pos);
    n->op = (uint8_t)op;
    n->u.bin.a = a;
    n->u.bin.b = b;
    return qparse_grown(p, n, higher(height, p->height));
}

static Node *missing_expression(Parser *p) { /* placeholder for an expression after an error */
    return leaf(p, N_MATRIX, qparse_pos(p));
}

/* -- literals ------------------------------------------------------------------------------------------------------ */
static Node *parse_number(Parser *p) {
    const Token *t = qparse_at(p);
    Node *n = leaf(p, N_NUM, t->pos);
    n->u.num.value = qlex_number(p->text + t->pos, t->end - t->pos, &n->u.num.imaginary, &n->u.num.integer);
    uint64_t bits;
    switch (qlex_integer(p->text + t->pos, t->end - t->pos, &bits)) {
    case INT_AS_DOUBLE: break;
    case INT_AS_UINT64: n->u.num.is_uint64 = true; /* fallthrough */
    case INT_AS_INT64: n->u.num.int_value = (int64_t)bits; break;
    case INT_TOO_LONG: qparse_fail(p, t->pos, "no type holds this integer exactly: append .0 for the nearest float64");
    }
    qparse_next(p);
    return n;
}

static Str *string_value(Parser *p, const char *s,
                         size_t n) { /* decodes the text between the quotes; "" is one quote */
    if (!memchr(s, '"', n)) return qstr_name(p->ctx, s, n);
    char *copy = qast_alloc(p->u, n);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        copy[k++] = s[i];
        if (s[i] == '"') i++;
    }
    return qstr_name(p->ctx, copy, k);
}

static Node *parse_string(Parser *p) {
    const Token *t = qparse_at(p);
    Node *n = leaf(p, N_STR, t->pos);
    size_t len = t->end - t->pos;
    bool closed = len >= 2 && p->text[t->end - 1] == '"';
    n->u.str = string_value(p, p->text + t->pos + 1, len - 1 - closed);
    qparse_next(p);
    return n;
}

static Node *type_value(Parser *p, TypeExpr *t) {
    Node *n = leaf(p, N_TYPE, t->pos);
    n->u.type = t;
    return n;
}

/* Parses comma-separated expressions up to the partner of the opening token, which has been consumed.  A comma may
 * follow the last one.  The items of a dictionary are a key, a value, a key, a value. */
static NodeList items(Parser *p, uint32_t opener, TokenKind closer, bool *dictionary) {
    uint32_t mark = p->nscratch;
    int height = 0;
    while (p->k != closer && p->k != T_ERROR) {
        Node *n = qexpr_any(p);
        height = higher(height, p->height);
        if (p->k == T_COLON && closer == T_RBRACE && p->nscratch == mark) *dictionary = true;
        qparse_push(p, &n, sizeof n);
        if (*dictionary) {
            qparse_expect(p, T_COLON, "and a value after the key");
            n = qexpr_any(p);
            height = higher(height, p->height);
            qparse_push(p, &n, sizeof n);
        }
        if (!qparse_accept(p, T_COMMA)) break;
    }
    bool matrix = closer == T_RBRACK;
    if (p->k == T_SEMI && matrix)
        qparse_fail(p, qparse_pos(p),
                    "';' does not separate rows: a matrix is written as a list of rows, [[1,2],[3,4]]");
    if (matrix && (p->k == T_NUMBER || p->k == T_IDENT) && p->nscratch > mark)
        qparse_expected(p, "',' between elements or ']'");
    qparse_close(p, closer, opener, "',' or ");
    p->height = height;
    return qparse_take_nodes(p, mark);
}

static Node *ident(Parser *p, const char *name, uint32_t pos) {
    Node *n = leaf(p, N_IDENT, pos);
    n->u.ident.name = qstr_cname(p->ctx, name);
    return n;
}

static Node *text_node(Parser *p, Str *text, uint32_t pos) {
    Node *n = leaf(p, N_STR, pos);
    n->u.str = text;
    return n;
}

static void add_argument(Parser *p, Node *value) {
    Arg a = {.value = value, .pos = value->pos};
    qparse_push(p, &a, sizeof a);
}

/* Changes {key : value} to $dict(key, value). */
static void make_dictionary(Parser *p, Node *n) {
    const NodeList given = n->u.items;
    uint32_t mark = p->nscratch;
    for (int i = 0; i < given.n; i++) add_argument(p, given.at[i]);
    n->kind = N_CALL;
    n->u.call.callee = ident(p, "$dict", n->pos);
    n->u.call.args.at = qparse_take(p, mark, sizeof(Arg), &n->u.call.args.n);
}

static Node *list(Parser *p, NodeKind k, TokenKind closer) {
    Node *n = qparse_node(p, k, qparse_pos(p));
    uint32_t opener = p->i;
    bool in_list = p->in_list, dictionary = false;
    qparse_next(p);
    p->in_list = true;
    n->u.items = items(p, opener, closer, &dictionary);
    p->in_list = in_list;
    if (dictionary) make_dictionary(p, n);
    return qparse_grown(p, n, p->height);
}

static Node *parse_matrix(Parser *p) { return list(p, N_MATRIX, T_RBRACK); }

/* -- types in expression position ---------------------------------------------------------------------------------- */
static bool is_type_name(Parser *p, uint32_t ahead) { /* of a predefined type */
    const Token *t = &p->tok[p->i + ahead];
    return qparse_peek(p, ahead) == T_IDENT &&
           qtype_builtin(p->ctx, qstr_name(p->ctx, p->text + t->pos, t->end - t->pos)->s) != NULL;
}

/* Returns whether a bracket may begin a type.  [?? -> ??] and [vec|mat] look like a list with a lambda or operator;
 * they are types if they consist of predefined type names. */
static bool may_be_type(Parser *p) {
    TokenKind k = qparse_peek(p, 1);
    if (k == T_ANY || k == T_LPAREN || k == T_KERNEL || k == T_DEVICE || k == T_HOST) return true;
    TokenKind after = qparse_peek(p, 2);
    return (after == T_ARROW || after == T_BAR || after == T_LBRACK) && is_type_name(p, 1);
}

static TypeExpr *bracketed_type(Parser *p) {
    if (p->guessing || !may_be_type(p)) return NULL; /* nested speculative parses would take exponential time */
    ParseMark m = qparse_try(p);
    p->guessing = true;
    TypeExpr *t = qtexpr_base(p);
    p->guessing = false;
    bool is_type = (t->kind == TE_FN && (t->nargs + t->nouts > 0 || t->qual)) || (t->kind == TE_UNION && t->nargs > 1);
    return qparse_tried(p, m, is_type && qtexpr_is_builtin(p, t)) ? t : NULL;
}

static TypeExpr *as_type(Parser *p, const Node *n) { /* converts a name or name[…] */
    TypeExpr *t = qast_type_of_expr(p->u, n);
    if (!t) qparse_expected(p, "an operator");
    return t ? t : qtexpr_new(p, TE_ANY, n->pos);
}

static bool at_rank(const Parser *p) { /* {:} or {4} */
    TokenKind k = qparse_peek(p, 1);
    return (k == T_COLON || k == T_NUMBER) && qparse_peek(p, 2) == T_RBRACE;
}

/* -- calls, indices, fields ---------------------------------------------------------------------------------------- */
/* Returns whether an argument is an index in MATLAB syntax, x(2:3) or x(1,:).  f(x : cube) and f(2 : scalar) are
 * arguments with a type. */
static bool is_slice(Parser *p, const Arg *a) {
    TokenKind next = qparse_peek(p, 1);
    if (p->k != T_COLON || !a->value) return p->k == T_COLON;
    return (a->value->kind == N_NUM && !is_type_name(p, 1)) || next == T_NUMBER || next == T_END || next == T_COMMA ||
           next == T_RPAREN || next == T_COLON || next == T_OP(OP_SUB);
}

static void slice_in_call(Parser *p) {
    qparse_fail(p, qparse_pos(p), "elements are read with brackets: x[first..last] for a part, x[i,:] for a whole row");
}

static Arg parse_argument(Parser *p) {
    Arg a = {.pos = qparse_pos(p)};
    if (is_slice(p, &a)) slice_in_call(p);
    TokenKind next = qparse_peek(p, 1);
    if (qparse_at_word(p) && (next == T_NAMED || next == T_ASSIGN)) {
        if (next == T_ASSIGN) qparse_warn(p, qparse_pos(p), "a named argument is written with ':='");
        a.name = qparse_take_word(p);
        qparse_next(p);
    }
    a.value = qexpr_any(p);
    if (is_slice(p, &a)) slice_in_call(p);
    if (qparse_accept(p, T_COLON)) a.type = qtexpr_type(p);
    return a;
}

/* Parses arguments; the current token is (, and a comma may follow the last argument.  *lists gets a bit
 * for each of the first 64 arguments that is a list, written ...list; NULL: lists are refused. */
static ArgList arguments(Parser *p, uint64_t *lists) {
    uint32_t opener = p->i, mark = p->nscratch;
    int height = 0;
    bool in_index = p->in_index, in_list = p->in_list;
    p->in_index = p->in_list = false;
    qparse_next(p);
    for (int i = 0; p->k != T_RPAREN && p->k != T_ERROR; i++) {
        uint32_t pos = qparse_pos(p);
        bool list = p->k == T_ELLIPSIS;
        if (list) qparse_next(p);
        Arg a = parse_argument(p);
        if (list && (!lists || i > 63 || a.name || a.type))
            qparse_fail(p, pos, "...list is not possible here: it gives positional arguments to a function");
        else if (list) *lists |= (uint64_t)1 << i;
        height = higher(height, p->height);
        qparse_push(p, &a, sizeof a);
        while (qparse_accept(p, T_SEMI)) {} /* as in add(() -> x = 1;) */
        if (!qparse_accept(p, T_COMMA)) break;
    }
    qparse_close(p, T_RPAREN, opener, "',' or ");
    ArgList list;
    list.at = qparse_take(p, mark, sizeof(Arg), &list.n);
    p->height = height;
    p->in_index = in_index, p->in_list = in_list;
    return list;
}

/* Changes f(a, ...list) to $spread(f, "-*", a, list). */
static void spread_lists(Parser *p, Node *n, uint64_t lists) {
    const ArgList given = n->u.call.args;
    uint32_t mark = p->nscratch;
    Text kinds;
    qtext_init(&kinds, p->ctx);
    for (int i = 0; i < given.n; i++) qtext_putc(&kinds, i < 64 && lists >> i & 1 ? '*' : '-');
    add_argument(p, n->u.call.callee);
    add_argument(p, text_node(p, qstr_name(p->ctx, kinds.s, kinds.len), n->pos));
    qtext_free(&kinds);
    for (int i = 0; i < given.n; i++) {
        if (given.at[i].name) qparse_fail(p, given.at[i].pos, "a named argument cannot be beside ...list");
        qparse_push(p, &given.at[i], sizeof(Arg));
    }
    n->u.call.callee = ident(p, "$spread", n->pos);
    n->u.call.args.at = qparse_take(p, mark, sizeof(Arg), &n->u.call.args.n);
}

/* Changes object(a := 1) to $object("a", 1). */
static void name_fields(Parser *p, Node *n) {
    const ArgList given = n->u.call.args;
    uint32_t mark = p->nscratch;
    for (int i = 0; i < given.n; i++) {
        if (!given.at[i].name)
            qparse_fail(p, given.at[i].pos, "object takes fields as arguments: object(name := value)");
        else add_argument(p, text_node(p, given.at[i].name, given.at[i].pos));
        add_argument(p, given.at[i].value);
    }
    n->u.call.callee = ident(p, "$object", n->pos);
    n->u.call.args.at = qparse_take(p, mark, sizeof(Arg), &n->u.call.args.n);
}

static Node *parse_call(Parser *p, Node *callee) {
    int height = p->height;
    uint64_t lists = 0;
    Node *n = qparse_node(p, N_CALL, callee->pos);
    n->u.call.callee = callee;
    n->u.call.args = arguments(p, &lists);
    height = higher(height, p->height);
    const ArgList given = n->u.call.args;
    if (lists) spread_lists(p, n, lists);
    else if (callee->kind == N_IDENT && !strcmp(callee->u.ident.name->s, "object") && given.n && given.at[0].name)
        name_fields(p, n);
    return qparse_grown(p, n, height);
}

static Node *index_item(Parser *p) {
    uint32_t pos = qparse_pos(p);
    if (qparse_accept(p, T_COLON)) {
        if (p->k != T_COMMA && p->k != T_RBRACK) qparse_fail_range(p, pos);
        return leaf(p, N_COLON, pos);
    }
    Node *n = qexpr_any(p);
    if (p->k == T_COLON) qparse_fail_range(p, qparse_pos(p));
    return n;
}

static Node *indexed(Parser *p, Node *base) {
    int height = p->height;
    struct {
        bool in, list;
        int dim;
        Node *base;
    } outer = {p->in_index, p->in_list, p->index_dim, p->index_base};
    Node *n = qparse_node(p, N_INDEX, base->pos);
    uint32_t opener = p->i, mark = p->nscratch;
    qparse_next(p);
    p->in_index = true;
    p->in_list = false;
    p->index_dim = 0;
    p->index_base = base;
    do {
        Node *item = index_item(p);
        height = higher(height, p->height);
        qparse_push(p, &item, sizeof item);
        p->index_dim++;
    } while (qparse_accept(p, T_COMMA));
    qparse_close(p, T_RBRACK, opener, "',' or ");
    n->u.index.base = base;
    n->u.index.at = qparse_take_nodes(p, mark);
    p->in_index = outer.in, p->in_list = outer.list, p->index_dim = outer.dim, p->index_base = outer.base;
    return qparse_grown(p, n, height);
}

static Node *parse_field(Parser *p, Node *base) {
    int height = p->height;
    Node *n = qparse_node(p, N_FIELD, base->pos);
    qparse_next(p);
    n->u.field.base = base;
    n->u.field.name = qparse_at_word(p) ? qparse_take_word(p) : qparse_name(p, "a field name after '.'");
    return qparse_grown(p, n, height);
}

/* Returns whether $name exists; code_call.c and lang/kernel/lower implement these names. */
static bool is_meta(const char *name) {
    static const char *const known[] = {"ftype", "target", "type",       "size",  "nops", "str",
                                        "eval",  "inline", "specialize", "value", "check"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i])) return true;
    return false;
}

/* Returns what to write instead of a meta function of the original language that is missing here; "": nothing. */
static const char *meta_hint(const char *name) {
    static const char *const hints[][2] = {
        {"subs", ": write a function of the symbol, x -> expression, and call it"},
        {"assert", ": write assert(condition), which is an error before the run if it is known to fail"},
        {"cf", " in this version"},
        {"op", " in this version; $nops(e) counts operands"},
        {"args", ": parameters can be variadic, f(...list)"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp(name, hints[i][0])) return hints[i][1];
    return "";
}

/* Parses $diff(expr, x) into a call with the arguments x -> expr and x; $diffmul(expr, x, dx) has dx as a third one. */
static Node *derivative(Parser *p, const char *name, uint32_t pos) {
    uint32_t opener = p->i, mark = p->nscratch;
    Node *n = qparse_node(p, N_CALL, pos), *function = qparse_node(p, N_LAMBDA, pos), *x;
    Func *f = qparse_func(p, Q_HOST, qstr_cname(p->ctx, "lambda"), pos), *outer = p->func;
    Param param = {.pos = pos};
    f->is_lambda = true;
    if (p->k != T_LPAREN) return qparse_expected(p, "'(' with an expression and a variable"), missing_expression(p);
    qparse_next(p);
    p->func = f;
    f->expr = qexpr_any(p);
    f->end = qparse_end(p);
    p->func = outer;
    int height = p->height;
    function->u.lambda.func = f;
    add_argument(p, function);
    qparse_expect(p, T_COMMA, "and the variable");
    add_argument(p, x = qexpr_any(p));
    if (x->kind != N_IDENT && !p->stopped)
        qparse_fail(p, x->pos, "%s: the second argument is the name of a variable", name);
    param.name = x->kind == N_IDENT ? x->u.ident.name : qstr_cname(p->ctx, "x");
    while (qparse_accept(p, T_COMMA)) {
        add_argument(p, qexpr_any(p));
        if (p->height > height) height = p->height;
    }
    qparse_close(p, T_RPAREN, opener, "',' or ");
    n->u.call.callee = ident(p, name, pos);
    n->u.call.args.at = qparse_take(p, mark, sizeof(Arg), &n->u.call.args.n);
    mark = p->nscratch;
    qparse_push(p, &param, sizeof param);
    f->params = qparse_take(p, mark, sizeof param, &f->nparams);
    return qparse_grown(p, n, height);
}

static Node *meta(Parser *p) {
    const Token *t = qparse_at(p);
    Node *n = qparse_node(p, N_META, t->pos);
    n->u.meta.name = qstr_name(p->ctx, p->text + t->pos + 1, t->end - t->pos - 1);
    qparse_next(p);
    p->height = 0;
    const char *word = n->u.meta.name->s;
    if (!strcmp(word, "diff")) return derivative(p, "$diff", t->pos);
    if (!strcmp(word, "diffmul")) return derivative(p, "$diffmul", t->pos);
    if (!is_meta(word)) qparse_fail(p, t->pos, "$%s is not known%s", word, meta_hint(word));
    if (p->k == T_LPAREN) n->u.meta.args = arguments(p, NULL);
    return qparse_grown(p, n, p->height);
}

/* -- primary ------------------------------------------------------------------------------------------------------- */
static Node *name(Parser *p) {
    Node *n = leaf(p, N_IDENT, qparse_pos(p));
    n->u.ident.name = qparse_take_word(p);
    return n;
}

static Node *parenthesised(Parser *p) {
    uint32_t opener = p->i;
    bool in_list = p->in_list;
    qparse_next(p);
    p->in_list = false;
    Node *n = qexpr_any(p);
    p->in_list = in_list;
    if (p->k == T_COMMA)
        qparse_fail(p, qparse_pos(p), "a list in parentheses has no meaning: a vector is [a,b], a cell is {a,b}");
    qparse_close(p, T_RPAREN, opener, "");
    return n;
}

/* Reports `end` in an index.  Whether the first index is the only one is not known yet, so the message covers both. */
static Node *end_of_dimension(Parser *p) {
    const char *base = p->index_base->kind == N_IDENT ? p->index_base->u.ident.name->s : "x", *no = "there is no 'end'";
    if (p->index_dim == 0)
        qparse_fail(p, qparse_pos(p), "%s in an index: write numel(%s)-1, in a matrix size(%s,0)-1", no, base, base);
    else qparse_fail(p, qparse_pos(p), "%s in an index: write size(%s,%d)-1", no, base, p->index_dim);
    return missing_expression(p);
}

/* -- formatted strings: f"a {x} b {y:.3f}" is "a " + $format(x) + " b " + $format(y, "%.3f") ----------------------- */
static Node *parse_piece(Parser *p) {
    const Token *t = qparse_at(p);
    const char *s = p->text + t->pos;
    size_t n = t->end - t->pos, k = 0;
    char *copy = qast_alloc(p->u, n + 1);
    for (size_t i = 0; i < n; i++) {
        copy[k++] = s[i];
        if (strchr("\"{}", s[i]) && i + 1 < n && s[i + 1] == s[i]) i++;
    }
    Node *piece = text_node(p, qstr_name(p->ctx, copy, k), t->pos);
    qparse_next(p);
    return piece;
}

static bool is_among(const char *set, const char *c, const char *end) { return c < end && *c && strchr(set, *c); }

/* Takes a format such as .3f and returns it as sprintf writes it, %.3f. */
static Node *parse_spec(Parser *p) {
    const Token *t = qparse_at(p);
    const char *s = p->text + t->pos, *end = p->text + t->end, *c = s, *digits = "0123456789";
    while (is_among("-+ #0", c, end)) c++;
    while (is_among(digits, c, end)) c++;
    if (is_among(".", c, end)) c++;
    while (is_among(digits, c, end)) c++;
    bool right = end - c == 1 && is_among(QNUM_CONVERSIONS, c, end);
    if (!right)
        qparse_fail(p, t->pos + (uint32_t)(c - s),
                    "a format of sprintf without its %% is expected after ':', such as .3f, 5d or -10s");
    Text text;
    qtext_init(&text, p->ctx);
    qtext_printf(&text, "%%%.*s", (int)(end - s), s);
    Node *n = text_node(p, qstr_name(p->ctx, text.s, text.len), t->pos);
    qtext_free(&text);
    if (right) qparse_next(p);
    return n;
}

/* Parses a value with its format, as a call. */
static Node *parse_formatted(Parser *p) {
    uint32_t mark = p->nscratch;
    bool in_index = p->in_index, in_list = p->in_list;
    p->in_index = p->in_list = false;
    Node *n = qparse_node(p, N_CALL, qparse_pos(p));
    if (p->k == T_PIECE || p->k == T_SPEC) qparse_fail(p, qparse_pos(p), "a value is expected after '{'");
    add_argument(p, qexpr_any(p));
    int height = p->height;
    p->in_index = in_index, p->in_list = in_list;
    if (p->k == T_SPEC) add_argument(p, parse_spec(p));
    if (p->k != T_PIECE) qparse_expected(p, "'}' or ':' after the value");
    n->u.call.callee = ident(p, "$format", n->pos);
    n->u.call.args.at = qparse_take(p, mark, sizeof(Arg), &n->u.call.args.n);
    return qparse_grown(p, n, height);
}

static Node *parse_format(Parser *p) {
    if (!qparse_enter(p)) return missing_expression(p);
    qparse_next(p);
    Node *n = parse_piece(p);
    while (p->k != T_ENDFORMAT && p->k != T_ERROR) {
        int height = p->height;
        Node *value = parse_formatted(p);
        n = binary_node(p, OP_ADD, value->pos, n, height, value);
        if (p->k == T_ERROR) break;
        bool empty = qparse_at(p)->pos == qparse_at(p)->end;
        height = p->height;
        Node *piece = parse_piece(p);
        p->height = 0;
        if (!empty) n = binary_node(p, OP_ADD, piece->pos, n, height, piece);
        else p->height = height;
    }
    qparse_accept(p, T_ENDFORMAT);
    qparse_leave(p);
    return n;
}

static Node *primary(Parser *p) {
    TypeExpr *t;
    switch (p->k) {
    case T_NUMBER: return parse_number(p);
    case T_STRING: return parse_string(p);
    case T_FORMAT: return parse_format(p);
    case T_IDENT: return name(p);
    case T_WHERE: /* keyword after the expression of a reduction; before a parenthesis it is a function */
        if (qparse_peek(p, 1) == T_LPAREN) return name(p);
        break;
    case T_META: return meta(p);
    case T_LPAREN: return parenthesised(p);
    case T_LBRACK: return (t = bracketed_type(p)) ? type_value(p, t) : parse_matrix(p);
    case T_LBRACE: return list(p, N_CELL, T_RBRACE);
    case T_CELL: return list(p, N_CELL, T_ENDCELL);
    case T_ANY:
    case T_OP(OP_POW): return type_value(p, qtexpr_base(p));
    case T_END:
        if (p->in_index) return end_of_dimension(p);
        break;
    case T_UNDERSCORE:
        qparse_fail(p, qparse_pos(p),
                    "'_' has no value: it discards a result, or continues a line when nothing follows it");
        return missing_expression(p);
    default: break;
    }
    qparse_expected(p, "an expression");
    return missing_expression(p);
}

Node *qexpr_postfix(Parser *p) {
    Node *n = primary(p);
    for (;;) {
        switch (p->k) {
        case T_LPAREN: n = parse_call(p, n); break;
        case T_LBRACK: n = indexed(p, n); break;
        case T_DOT: n = parse_field(p, n); break;
        case T_QUOTE: n = type_value(p, qtexpr_suffixes(p, as_type(p, n), false)); break;
        case T_LBRACE:
            if (!at_rank(p)) return n;
            if (n->kind == N_IDENT && !qtype_builtin(p->ctx, n->u.ident.name->s))
                qparse_fail(p, qparse_pos(p), "elements of a cell are read with brackets: %s[i]", n->u.ident.name->s);
            n = type_value(p, qtexpr_suffixes(p, as_type(p, n), false));
            break;
        default: return n;
        }
    }
}

/* -- operators ----------------------------------------------------------------------------------------------------- */
static bool prefix(TokenKind k, Op *op) {
    switch (k) {
    case T_OP(OP_SUB): *op = OP_NEG; return true;
    case T_OP(OP_ADD): *op = OP_PLUS; return true;
    case T_OP(OP_NOT): *op = OP_NOT; return true;
    default: return false;
    }
}

static Node *parse_unary(Parser *p);

static Node *signed_by(Parser *p, Op op, Node *(*operand)(Parser *)) {
    Node *n = qparse_node(p, N_UNARY, qparse_pos(p));
    n->op = (uint8_t)op;
    qparse_next(p);
    n->u.bin.a = qparse_enter(p) ? operand(p) : missing_expression(p);
    qparse_leave(p);
    return qparse_grown(p, n, p->height);
}

static Node *exponent(Parser *p) { /* 2^-n */
    Op op;
    return prefix(p->k, &op) ? signed_by(p, op, exponent) : qexpr_postfix(p);
}

static Node *parse_power(Parser *p) { /* left-associative */
    Node *left = qexpr_postfix(p);
    for (int n = 0; p->k == T_OP(OP_POW) || p->k == T_OP(OP_PWPOW); n++) {
        if (n) qparse_warn(p, qparse_pos(p), "powers are taken from the left: a^b^c is (a^b)^c");
        Op op = qlex_op(p->k);
        uint32_t pos = qparse_pos(p);
        int height = p->height;
        qparse_next(p);
        Node *right = exponent(p);
        left = binary_node(p, op, pos, left, height, right);
    }
    return left;
}

static Node *parse_unary(Parser *p) {
    Op op;
    return prefix(p->k, &op) ? signed_by(p, op, parse_unary) : parse_power(p);
}

/* Sets *op to the current binary operator if its precedence is at least `least`.  `~=` is read as !=, as in MATLAB. */
static bool binary_operator(Parser *p, int least, Op *op) {
    if (p->k < T__OPS) return false;
    if (p->k == T_INPLACE(OP_BITXOR) && PREC_EQUAL >= least) {
        qparse_warn(p, qparse_pos(p), "'~=' read as '!='; as an assignment it is the in-place xor");
        *op = OP_NE;
        return true;
    }
    *op = qlex_op(p->k);
    return !qlex_is_inplace(p->k) && precedence[*op] >= least && precedence[*op] > 0;
}

static Node *parse_binary(Parser *p, int least);

static Node *range(Parser *p, Node *lo) {
    int height = p->height;
    Node *n = qparse_node(p, N_RANGE, lo->pos);
    qparse_next(p);
    n->u.range.lo = lo;
    n->u.range.hi = parse_binary(p, PREC_RANGE + 1);
    height = higher(height, p->height);
    if (qparse_accept(p, T_RANGE)) {
        n->u.range.step = n->u.range.hi;
        n->u.range.hi = parse_binary(p, PREC_RANGE + 1);
        height = higher(height, p->height);
    }
    if (p->k == T_RANGE) qparse_fail(p, qparse_pos(p), "a range is first..last or first..step..last");
    return qparse_grown(p, n, height);
}

/* -- warnings about likely mistakes -------------------------------------------------------------------------------- */
/* Warns about a<b<c, which compares the 0 or 1 of a<b.  chain: the preceding operator outside brackets; OP__COUNT:
 * none. */
static void check_chain(Parser *p, Op chain, Op op) {
    if (op < OP_EQ || op > OP_GE || chain == OP__COUNT || precedence[chain] != precedence[op]) return;
    char text[160];
    snprintf(text, sizeof text, "a comparison is 0 or 1, and that is what is compared here: write a %s b && b %s c",
             qop_text(chain), qop_text(op));
    qparse_warn(p, qparse_pos(p), text);
}

/* Warns about [1 -2], which is one element here and two in MATLAB. */
static void check_spacing(Parser *p, Op op) {
    const Token *t = qparse_at(p);
    if ((op != OP_SUB && op != OP_ADD) || !p->in_list || t->first || t[-1].end == t->pos || t[1].pos != t->end) return;
    qparse_warn(p, t->pos,
                op == OP_SUB ? "this subtracts: a comma separates elements, [a, -b]; a difference is a - b"
                             : "this adds: a comma separates elements, [a, +b]; a sum is a + b");
}

/* Warns about !a == b, which compares the 0 or 1 of !a.  first: first token of the left operand. */
static void check_negation(Parser *p, const Token *first, Op op) {
    if (first->kind == T_OP(OP_NOT) && op >= OP_EQ && op <= OP_GE)
        qparse_warn(p, first->pos, "'!' belongs to what follows it: !a == b is (!a) == b; write a != b, or !(a == b)");
}

static Node *parse_binary(Parser *p, int least) {
    const Token *first = qparse_at(p);
    Node *left = parse_unary(p);
    Op chain = OP__COUNT;
    for (;;) {
        Op op;
        if (p->k == T_RANGE && PREC_RANGE >= least) {
            left = range(p, left);
            continue;
        }
        if (!binary_operator(p, least, &op)) return left;
        uint32_t pos = qparse_pos(p);
        int height = p->height;
        check_chain(p, chain, op);
        if (chain == OP__COUNT) check_negation(p, first, op);
        check_spacing(p, op);
        chain = op;
        qparse_next(p);
        Node *right = parse_binary(p, precedence[op] + 1);
        left = binary_node(p, op, pos, left, height, right);
    }
}

Node *qexpr_ternary(Parser *p) {
    Node *cond = parse_binary(p, PREC_LOWEST);
    if (p->k != T_QUESTION) return cond;
    int height = p->height;
    Node *n = qparse_node(p, N_TERNARY, cond->pos);
    qparse_next(p);
    n->u.ternary.cond = cond;
    n->u.ternary.then = qexpr_any(p);
    height = higher(height, p->height);
    qparse_expect(p, T_COLON, "between the two values of '?'");
    n->u.ternary.other = qexpr_any(p);
    return qparse_grown(p, n, higher(height, p->height));
}

/* -- lambdas ------------------------------------------------------------------------------------------------------- */
static bool is_qualifier(TokenKind k) { return k == T_KERNEL || k == T_DEVICE || k == T_HOST; }

static bool at_lambda(const Parser *p) {
    if (p->k == T_IDENT) return qparse_peek(p, 1) == T_ARROW;
    if (p->k == T_LPAREN) return qparse_beyond(p, p->i) == T_ARROW;
    return is_qualifier(p->k);
}

static Param parameter(Parser *p) {
    Param m = {.variadic = qparse_accept(p, T_ELLIPSIS), .pos = qparse_pos(p)};
    m.name = qparse_name(p, "a parameter name");
    if (qparse_accept(p, T_COLON)) m.type = qtexpr_type(p);
    if (qparse_accept(p, T_ASSIGN)) m.init = qexpr_any(p);
    return m;
}

void qexpr_params(Parser *p, TokenKind closer, Param **at, int *n) { /* the current token is the opening bracket */
    uint32_t opener = p->i, mark = p->nscratch;
    qparse_next(p);
    if (p->k != closer) {
        do {
            Param m = parameter(p);
            qparse_push(p, &m, sizeof m);
        } while (qparse_accept(p, T_COMMA));
    }
    qparse_close(p, closer, opener, "',' or ");
    *at = qparse_take(p, mark, sizeof(Param), n);
}

/* Returns whether a parenthesis contains statements, (a; b;) or (a = 1), and not an expression. */
static bool at_statements(const Parser *p) {
    uint32_t end = qparse_at(p)->match;
    if (p->k != T_LPAREN || !end) return false;
    for (uint32_t i = p->i + 1; i < end; i++) {
        const Token *t = &p->tok[i];
        if (t->kind == T_SEMI || t->kind == T_ASSIGN || (qlex_is_inplace(t->kind) && t->kind != T_INPLACE(OP_BITXOR)))
            return true;
        if (t->match) i = t->match;
    }
    return false;
}

static bool assigns(const Parser *p) {
    TokenKind k = qstmt_after_target(p);
    return k == T_ASSIGN || (qlex_is_inplace(k) && k != T_INPLACE(OP_BITXOR));
}

static void lambda_body(Parser *p, Func *f) {
    if (at_statements(p)) {
        f->body = qstmt_lambda_body(p, &f->expr);
    } else if (assigns(p)) {
        uint32_t mark = p->nscratch;
        qstmt_simple(p);
        f->body = qparse_take_nodes(p, mark);
    } else {
        f->expr = qexpr_any(p);
    }
}

static Func *lambda(Parser *p) {
    uint32_t pos = qparse_pos(p);
    FuncQual qual = p->k == T_KERNEL ? Q_KERNEL : p->k == T_DEVICE ? Q_DEVICE : Q_HOST;
    if (is_qualifier(p->k)) qparse_next(p);
    Func *f = qparse_func(p, qual, qstr_cname(p->ctx, "lambda"), pos), *outer = p->func;
    f->is_lambda = true;
    p->func = f;
    if (p->k == T_LPAREN) {
        qexpr_params(p, T_RPAREN, &f->params, &f->nparams);
    } else {
        Param m = {.pos = qparse_pos(p)};
        m.name = qparse_name(p, "a parameter name");
        qparse_push(p, &m, sizeof m);
        f->params = qparse_take(p, p->nscratch - (uint32_t)sizeof m, sizeof m, &f->nparams);
    }
    qparse_expect(p, T_ARROW, "after the parameters of a lambda");
    lambda_body(p, f);
    f->end = qparse_end(p);
    p->func = outer;
    return f;
}

Node *qexpr_any(Parser *p) {
    if (!qparse_enter(p)) {
        qparse_leave(p);
        return missing_expression(p);
    }
    Node *n;
    if (at_lambda(p)) {
        bool in_index = p->in_index;
        p->in_index = false;
        n = qparse_node(p, N_LAMBDA, qparse_pos(p));
        n->u.lambda.func = lambda(p);
        n = qparse_grown(p, n, p->height);
        p->in_index = in_index;
    } else {
        n = qexpr_ternary(p);
    }
    qparse_leave(p);
    return n;
}

/* Takes the comma before the next value of print.  After a comma at the end of a line the list continues only if an
 * expression follows; otherwise the comma is stray. */
static bool more_values(Parser *p) {
    if (p->k != T_COMMA) return false;
    uint32_t comma = p->i++;
    while (qparse_at(p)->kind == T_NEWLINE) p->i++;
    p->k = qparse_at(p)->kind;
    bool stray = p->k == T_EOF || p->k == T_SEMI || p->k == T_COMMA || p->k == T_BAR || qlex_opens(p->k);
    if (p->i > comma + 1 && qstmt_after_target(p) == T_ASSIGN) stray = true;
    if (stray) p->i = comma, p->k = T_COMMA;
    return !stray;
}

void qexpr_list(Parser *p, ArgList *out) {
    uint32_t mark = p->nscratch;
    do {
        Arg a = {.pos = qparse_pos(p)};
        a.value = qexpr_any(p);
        qparse_push(p, &a, sizeof a);
    } while (more_values(p));
    out->at = qparse_take(p, mark, sizeof(Arg), &out->n);
}
