/* stmt.c -- parses statements. */
#include "lang/syntax/parser.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* -- assignment ---------------------------------------------------------------------------------------------------- */
TokenKind qstmt_after_target(const Parser *p) {
    uint32_t i = p->i;
    const Token *t = p->tok;
    if (p->k == T_UNDERSCORE) return t[i + 1].kind;
    if (p->k == T_LBRACK) return qparse_beyond(p, i);
    if (p->k != T_IDENT) return T_ERROR;
    for (i++;;) {
        if ((t[i].kind == T_LBRACK || t[i].kind == T_LPAREN) && t[i].match) i = t[i].match + 1;
        else if (t[i].kind == T_DOT && (t[i + 1].kind == T_IDENT || qlex_is_keyword(t[i + 1].kind))) i += 2;
        else return t[i].kind;
    }
}

static Node *discard(Parser *p) {
    Node *n = qparse_node(p, N_IDENT, qparse_pos(p));
    n->u.ident.name = qstr_cname(p->ctx, "_");
    qparse_next(p);
    return n;
}

static bool is_target(const Node *n) { return n->kind == N_IDENT || n->kind == N_INDEX || n->kind == N_FIELD; }

static Node *parse_target(Parser *p) {
    if (p->k == T_UNDERSCORE) return discard(p);
    Node *n = qexpr_postfix(p);
    if (n->kind == N_CALL)
        qparse_fail(p, n->pos, "a call cannot be assigned to: elements are written with brackets, x[i] = value");
    else if (!is_target(n))
        qparse_fail(p, n->pos, "this cannot be assigned to: a name, an element x[i] or a field x.f is needed");
    return n;
}

typedef struct {
    Node *node;
    TypeExpr *type;
} Target;

static void set_targets(Parser *p, Node *n, const Target *t, int count) {
    n->u.assign.ntargets = count;
    n->u.assign.targets = qast_alloc(p->u, qmem_size((size_t)count, sizeof(Node *), 0));
    n->u.assign.types = qast_alloc(p->u, qmem_size((size_t)count, sizeof(TypeExpr *), 0));
    for (int i = 0; i < count; i++) n->u.assign.targets[i] = t[i].node, n->u.assign.types[i] = t[i].type;
}

static void bracketed_targets(Parser *p, Node *n) { /* [a, b : vec, _, o.x] */
    uint32_t opener = p->i, mark = p->nscratch;
    qparse_next(p);
    do {
        Target t = {parse_target(p), NULL};
        if (qparse_accept(p, T_COLON)) t.type = qtexpr_type(p);
        qparse_push(p, &t, sizeof t);
    } while (qparse_accept(p, T_COMMA));
    qparse_close(p, T_RBRACK, opener, "',' or ");
    int count;
    Target *list = qparse_take(p, mark, sizeof(Target), &count);
    set_targets(p, n, list, count);
    n->u.assign.bracketed = true;
}

Node *qstmt_assignment(Parser *p, Node *to, TypeExpr *type, Node *value) {
    Node *n = qparse_node(p, N_ASSIGN, to->pos);
    Target t = {to, type};
    set_targets(p, n, &t, 1);
    n->u.assign.value = value;
    return n;
}

/* Parses the rest of a = b = v, where n is a = b.  Emits b = v and turns n into a = b, or into a = v if v is a
 * literal. */
static void chain(Parser *p, Node *n) {
    Node *to = n->u.assign.value;
    qparse_next(p);
    Node *inner = qstmt_assignment(p, to, NULL, qparse_enter(p) ? qexpr_any(p) : to);
    if (p->k == T_ASSIGN && is_target(inner->u.assign.value)) chain(p, inner);
    qparse_leave(p);
    qparse_emit(p, inner);
    const Node *v = inner->u.assign.value;
    bool literal = v->kind == N_NUM || v->kind == N_STR || (v->kind == N_UNARY && v->u.bin.a->kind == N_NUM);
    n->u.assign.value = qast_clone(p->u, literal ? v : to);
}

/* Warns about x =+ 1, which may be meant as x += 1. */
static void check_sign(Parser *p) {
    const Token *t = qparse_at(p), *sign = t + 1;
    bool adds = sign->kind == T_OP(OP_ADD);
    if ((!adds && sign->kind != T_OP(OP_SUB)) || sign->pos != t->end || sign[1].pos == sign->end) return;
    qparse_warn(p, t->pos, adds ? "this assigns: x += 1 adds" : "this assigns: x -= 1 subtracts");
}

static Node *parse_assignment(Parser *p, Node *n) { /* the current token is = or op= */
    int height = p->height;
    if (p->k != T_ERROR && qlex_is_inplace(p->k)) {
        n->op = (uint8_t)qlex_op(p->k);
        n->u.assign.in_place = true;
        if (p->k == T_INPLACE(OP_BITXOR) && p->u->src->internal) /* typed at the prompt, probably to compare */
            qparse_warn(p, qparse_pos(p), "'~=' changes the left side, by the exclusive or of bits; != compares");
        qparse_next(p);
    } else {
        if (p->k == T_ASSIGN) check_sign(p);
        qparse_expect(p, T_ASSIGN, "in an assignment");
    }
    n->u.assign.value = qexpr_any(p);
    if (p->k == T_ASSIGN && is_target(n->u.assign.value)) chain(p, n);
    if (height > p->height) p->height = height;
    return n;
}

static Node *declaration(Parser *p, Node *name, TypeExpr *type) { /* img : cube */
    Node *n = qparse_node(p, N_DECL, name->pos);
    if (name->kind != N_IDENT) qparse_fail(p, name->pos, "only a name can be declared without a value");
    else n->u.decl.name = name->u.ident.name;
    n->u.decl.type = type;
    return n;
}

static Node *single_target(Parser *p) {
    Node *n = qparse_node(p, N_ASSIGN, qparse_pos(p));
    Target t = {parse_target(p), NULL};
    if (qparse_accept(p, T_COLON)) {
        t.type = qtexpr_type(p);
        if (p->k != T_ASSIGN) return declaration(p, t.node, t.type);
    }
    set_targets(p, n, &t, 1);
    return parse_assignment(p, n);
}

static bool at_c_declaration(Parser *p) { /* int pw = 5 */
    if (p->k != T_IDENT || qparse_peek(p, 1) != T_IDENT || qparse_peek(p, 2) != T_ASSIGN) return false;
    const Token *t = qparse_at(p);
    return qtype_builtin(p->ctx, qstr_name(p->ctx, p->text + t->pos, t->end - t->pos)->s) != NULL;
}

static Node *c_declaration(Parser *p) {
    TypeExpr *type = qtexpr_base(p);
    Node *n = qparse_node(p, N_ASSIGN, qparse_pos(p));
    Target t = {parse_target(p), type};
    set_targets(p, n, &t, 1);
    return parse_assignment(p, n);
}

static Node *expression(Parser *p) {
    Node *n = qparse_node(p, N_EXPR, qparse_pos(p));
    n->u.expr = qexpr_any(p);
    if (p->k == T_ASSIGN)
        qparse_fail(p, n->pos, "this cannot be assigned to: a name, an element x[i] or a field x.f is needed");
    return n;
}

/* Returns whether the statement is x++ or x--. */
static bool at_increment(const Parser *p) {
    TokenKind op = qparse_peek(p, 1), end = qparse_peek(p, 3);
    return p->k == T_IDENT && (op == T_OP(OP_ADD) || op == T_OP(OP_SUB)) && qparse_peek(p, 2) == op &&
           (end == T_NEWLINE || end == T_SEMI || end == T_EOF || end == T_RPAREN || p->tok[p->i + 3].first);
}

/* Reports x++ and continues with the next statement: the lexer emitted no NEWLINE after the second sign. */
static Node *increment(Parser *p) {
    const Token *name = qparse_at(p), *op = name + 1;
    qparse_fail(p, op->pos, "there is no '%.2s': write %.*s %c= 1", p->text + op->pos, (int)(name->end - name->pos),
                p->text + name->pos, p->text[op->pos]);
    p->i += 3;
    p->k = qparse_at(p)->kind;
    return qast_node(p->u, N_BLOCK, name->pos);
}

/* Returns whether the statement is a, b = … in Python syntax; it would be read as two statements. */
static bool at_bare_targets(const Parser *p) {
    const Token *t = qparse_at(p);
    if (!t->first || t->kind != T_IDENT || t[1].kind != T_COMMA) return false;
    while (t->kind == T_IDENT && t[1].kind == T_COMMA) t += 2;
    return t->kind == T_IDENT && !t->first && t[1].kind == T_ASSIGN;
}

static Node *simple(Parser *p) {
    if (at_bare_targets(p)) qparse_fail(p, qparse_pos(p), "several results are written [a, b] = …");
    if (at_c_declaration(p)) return c_declaration(p);
    if (at_increment(p)) return increment(p);
    TokenKind k = qstmt_after_target(p);
    if (p->k == T_LBRACK && k == T_ASSIGN) {
        Node *n = qparse_node(p, N_ASSIGN, qparse_pos(p));
        bracketed_targets(p, n);
        return parse_assignment(p, n);
    }
    bool targeted = k == T_ASSIGN || qlex_is_inplace(k) || k == T_COLON;
    return targeted && p->k != T_LBRACK ? single_target(p) : expression(p);
}

void qstmt_simple(Parser *p) { qparse_emit(p, simple(p)); }

/* -- print, sync, return, import ----------------------------------------------------------------------------------- */
/* Returns whether the statement is print a, b or print(a).  In print = 3, print.x and the like, print is a name. */
static bool at_print(const Parser *p) {
    if (!qparse_is_word(p, "print")) return false;
    switch (qparse_peek(p, 1)) {
    case T_NEWLINE:
    case T_SEMI:
    case T_EOF:
    case T_NUMBER:
    case T_STRING:
    case T_FORMAT:
    case T_IDENT:
    case T_META:
    case T_LBRACK:
    case T_LBRACE:
    case T_CELL:
    case T_ANY:
    case T_OP(OP_SUB):
    case T_OP(OP_NOT):
    case T_LPAREN: return true;
    case T_WHERE: return qparse_peek(p, 2) == T_LPAREN;
    default: return false;
    }
}

static bool is_whole_call(const Parser *p) { /* print(…) with nothing after it */
    TokenKind k = qparse_beyond(p, p->i + 1);
    return qparse_peek(p, 1) == T_LPAREN &&
           (k == T_NEWLINE || k == T_SEMI || k == T_EOF || k == T_RPAREN || k == T_BAR || qlex_opens(k));
}

static void print(Parser *p) {
    Node *n = qparse_node(p, N_PRINT, qparse_pos(p));
    if (is_whole_call(p)) {
        Node *c = qexpr_postfix(p);
        if (c->kind == N_CALL) n->u.print = c->u.call.args;
        for (int i = 0; i < n->u.print.n; i++)
            if (n->u.print.at[i].name) qparse_fail(p, n->u.print.at[i].pos, "print takes no named arguments");
    } else {
        qparse_next(p);
        if (!qblock_separator(p) && p->k != T_EOF) qexpr_list(p, &n->u.print);
    }
    qparse_emit(p, n);
}

static void sync(Parser *p) {
    Node *n = qparse_node(p, N_SYNC, qparse_pos(p));
    uint32_t opener = p->i + 1;
    qparse_next(p);
    n->u.scope = qstr_cname(p->ctx, "block");
    if (qparse_accept(p, T_LPAREN)) {
        if (p->k != T_RPAREN) n->u.scope = qparse_name(p, "a scope: block, warp or grid");
        qparse_close(p, T_RPAREN, opener, "");
    }
    qparse_emit(p, n);
}

static bool in_loop(const Parser *p) {
    for (const BlockParser *b = p->block; b && b->opener != T_FUNCTION && b->opener != T_LPAREN; b = b->up)
        if (b->opener == T_FOR || b->opener == T_WHILE || b->opener == T_REPEAT) return true;
    return false;
}

/* Returns whether the jump would leave a block after finally, in which an error may be waiting. */
static bool leaves_finally(const Parser *p, bool returns) {
    for (const BlockParser *b = p->block; b && b->opener != T_FUNCTION && b->opener != T_LPAREN; b = b->up) {
        if (b->last) return true;
        if (!returns && (b->opener == T_FOR || b->opener == T_WHILE || b->opener == T_REPEAT)) return false;
    }
    return false;
}

static void parse_jump(Parser *p, NodeKind k) {
    if (k != N_RETURN && !in_loop(p)) qparse_fail(p, qparse_pos(p), "'%s' outside of a loop", qlex_text(p->k));
    else if (leaves_finally(p, k == N_RETURN))
        qparse_fail(p, qparse_pos(p), "'%s' cannot leave the block after 'finally'", qlex_text(p->k));
    qparse_emit(p, qparse_node(p, k, qparse_pos(p)));
    qparse_next(p);
    if (k == N_RETURN && p->k != T_ERROR && !qblock_separator(p) && !qblock_ends(p) && p->k != T_RPAREN)
        qparse_fail(p, qparse_pos(p), "'return' takes no value: assign to the name of the result, then return");
}

static void import(Parser *p) {
    Node *n = qparse_node(p, N_IMPORT, qparse_pos(p));
    qparse_next(p);
    if (p->k == T_STRING) n->u.import.path = qexpr_postfix(p)->u.str;
    else qparse_expected(p, "the name of a file in double quotes after 'import'");
    if (qparse_is_word(p, "as")) {
        qparse_next(p);
        n->u.import.name = qparse_name(p, "a name after 'as'");
    }
    qparse_emit(p, n);
    if (n->u.import.path) qparse_append(p, &p->u->imports.at, &p->u->imports.n, n);
}

bool qparse_is_native(const char *name) {
    static const char *const ends[] = {".so", ".dll", ".pyd", ".${NATIVEEXT}"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (n > strlen(ends[i]) && !strcasecmp(name + n - strlen(ends[i]), ends[i])) return true;
    return false;
}

void qparse_native_name(const char *name, const char *end, char out[PATH_MAX]) {
    snprintf(out, PATH_MAX, "%s%s", name, qparse_is_native(name) ? "" : end);
}

/* Returns whether the statement is import_native("filters"), another way to write `import "filters.so"`.  It is an
 * import and not a call, because names are resolved before the program runs. */
static bool at_native_import(const Parser *p) {
    bool word = qparse_is_word(p, "import_native") || qparse_is_word(p, "import_dll");
    return word && qparse_peek(p, 1) == T_LPAREN;
}

static void native_import(Parser *p) {
    Node *n = qparse_node(p, N_IMPORT, qparse_pos(p));
    bool dll = qparse_is_word(p, "import_dll");
    qparse_next(p), qparse_next(p);
    if (p->k != T_STRING || qparse_peek(p, 1) != T_RPAREN) {
        qparse_expected(p, "the name of a library in double quotes, for names are known before the program runs");
        return;
    }
    Str *name = qexpr_postfix(p)->u.str;
    char path[PATH_MAX];
    qparse_native_name(name->s, dll ? ".dll" : ".so", path);
    n->u.import.path = qstr_name(p->ctx, path, strlen(path));
    qparse_next(p);
    qparse_emit(p, n);
    qparse_append(p, &p->u->imports.at, &p->u->imports.n, n);
}

/* -- if, for, while, repeat ---------------------------------------------------------------------------------------- */
typedef struct {
    Node *cond;
    NodeList body;
} Branch;

static Node *open_block(Parser *p, BlockParser *b, NodeKind kind, TokenKind opener) {
    Node *n = qparse_node(p, kind, qparse_pos(p));
    qblock_begin(p, b, n->pos, opener);
    return n;
}

static void conditional(Parser *p) {
    BlockParser b;
    Node *n = open_block(p, &b, N_IF, T_IF);
    uint32_t mark = p->nscratch;
    do {
        Branch br;
        qparse_next(p);
        br.cond = qexpr_any(p);
        qblock_end_of_condition(p);
        br.body = qblock_statements(p);
        qparse_push(p, &br, sizeof br);
        p->stmt = p->i;
    } while (p->k == T_ELSEIF);
    int count;
    Branch *list = qparse_take(p, mark, sizeof(Branch), &count);
    n->u.ifs.n = count;
    n->u.ifs.conds = qast_alloc(p->u, qmem_size((size_t)count, sizeof(Node *), 0));
    n->u.ifs.blocks = qast_alloc(p->u, qmem_size((size_t)count, sizeof(NodeList), 0));
    for (int i = 0; i < count; i++) n->u.ifs.conds[i] = list[i].cond, n->u.ifs.blocks[i] = list[i].body;
    if (qparse_accept(p, T_ELSE)) {
        n->u.ifs.has_else = true;
        if (p->k == T_IF && !qparse_at(p)->first)
            qparse_warn(p, qparse_pos(p),
                        "'else if' opens a second 'if' that needs its own 'endif'; 'elseif' does not");
        n->u.ifs.other = qblock_statements(p);
        if (p->k == T_ELSEIF || p->k == T_ELSE) {
            qparse_fail(p, qparse_pos(p), "'%s' after the 'else' of the 'if' of line %d", qlex_text(p->k),
                        qparse_line(p, n->pos));
            p->i++;
            qparse_resync(p);
            qblock_statements(p);
        }
    }
    qblock_end(p, &b, T_ENDIF);
    qparse_emit(p, n);
}

static void loop_variables(Parser *p, Node *n) { /* parses i or [m,n,p] */
    uint32_t mark = p->nscratch, opener = p->i;
    n->u.loop.bracketed = qparse_accept(p, T_LBRACK);
    do {
        Str *name = qparse_name(p, "a loop variable after 'for'");
        qparse_push(p, &name, sizeof name);
    } while (n->u.loop.bracketed && qparse_accept(p, T_COMMA));
    if (n->u.loop.bracketed) qparse_close(p, T_RBRACK, opener, "',' or ");
    n->u.loop.names = qparse_take(p, mark, sizeof(Str *), &n->u.loop.nvars);
    n->u.loop.syms = qast_alloc(p->u, qmem_size((size_t)n->u.loop.nvars, sizeof(Sym *), 0));
}

static void loop_ranges(Parser *p, Node *n) {
    uint32_t mark = p->nscratch;
    do {
        Node *r = qexpr_any(p);
        qparse_push(p, &r, sizeof r);
    } while (n->u.loop.bracketed && p->k == T_COMMA && qparse_peek(p, 1) != T_NEWLINE && qparse_accept(p, T_COMMA));
    NodeList l = qparse_take_nodes(p, mark);
    n->u.loop.ranges = l.at;
    n->u.loop.nranges = l.n;
    if (p->k == T_COLON) qparse_fail_range(p, qparse_pos(p));
    if (l.n > 1 && l.n != n->u.loop.nvars)
        qparse_fail(p, n->pos, "%d loop variables but %d ranges", n->u.loop.nvars, l.n);
}

static void for_loop(Parser *p, Attr *attr) {
    BlockParser b;
    Node *n = open_block(p, &b, N_FOR, T_FOR);
    n->u.loop.attr = attr;
    qparse_next(p);
    loop_variables(p, n);
    if (p->k == T_COMMA)
        qparse_fail(p, qparse_pos(p), "several loop variables are written in brackets: for [a, b] in list");
    if (qparse_is_word(p, "in")) qparse_next(p);
    else qparse_expect(p, T_ASSIGN, "or 'in' after the loop variable");
    loop_ranges(p, n);
    qblock_end_of(p, "the end of the line or ';' after the range");
    n->u.loop.body = qblock_statements(p);
    qblock_end(p, &b, T_ENDFOR);
    qparse_emit(p, n);
}

static void while_loop(Parser *p) {
    BlockParser b;
    Node *n = open_block(p, &b, N_WHILE, T_WHILE);
    qparse_next(p);
    n->u.whiles.cond = qexpr_any(p);
    qblock_end_of_condition(p);
    n->u.whiles.body = qblock_statements(p);
    qblock_end(p, &b, T_ENDWHILE);
    qparse_emit(p, n);
}

static void repeat_loop(Parser *p) {
    BlockParser b;
    Node *n = open_block(p, &b, N_REPEAT, T_REPEAT);
    qparse_next(p);
    qblock_end_of(p, "the end of the line or ';' after 'repeat'");
    n->u.whiles.body = qblock_statements(p);
    bool closed = p->k == T_UNTIL;
    qblock_end(p, &b, T_UNTIL);
    n->u.whiles.cond = closed ? qexpr_any(p) : qparse_node(p, N_NUM, n->pos);
    qparse_emit(p, n);
}

/* -- match, try ---------------------------------------------------------------------------------------------------- */
static void pattern(Parser *p, MatchArm *arm) { /* parses a value, (a,b) or _ */
    uint32_t opener = p->i;
    if (qparse_accept(p, T_UNDERSCORE)) {
        arm->wildcard = true;
        return;
    }
    TokenKind after = qparse_beyond(p, opener);
    bool tuple = p->k == T_LPAREN && (after == T_ARROW || after == T_BAR || after == T_COMMA);
    if (tuple) qparse_next(p);
    do {
        Node *n = qexpr_ternary(p);
        qparse_push(p, &n, sizeof n);
    } while (tuple && qparse_accept(p, T_COMMA));
    if (tuple) qparse_close(p, T_RPAREN, opener, "',' or ");
}

static void arm(Parser *p) { /* the current token is | */
    MatchArm a = {.pos = qparse_pos(p)};
    uint32_t mark = p->nscratch;
    while (qparse_accept(p, T_BAR) || qparse_accept(p, T_COMMA)) pattern(p, &a);
    NodeList patterns = qparse_take_nodes(p, mark);
    a.patterns = patterns.at;
    a.npatterns = patterns.n;
    qparse_expect(p, T_ARROW, "after the pattern");
    qparse_resync(p);
    a.body = qblock_statements(p);
    qparse_push(p, &a, sizeof a);
}

static void match(Parser *p) {
    BlockParser b;
    Node *n = open_block(p, &b, N_MATCH, T_MATCH);
    qparse_next(p);
    n->u.match.value = qexpr_any(p);
    qparse_expect(p, T_WITH, "after the value of 'match'");
    qparse_resync(p);
    uint32_t mark = p->nscratch;
    for (;;) {
        while (qblock_separator(p)) qparse_next(p);
        p->stmt = p->i;
        if (p->k == T_BAR) {
            arm(p);
        } else if (qblock_ends(p)) {
            break;
        } else {
            qparse_expected(p, "'|' and a pattern");
            qparse_resync(p);
        }
    }
    n->u.match.arms = qparse_take(p, mark, sizeof(MatchArm), &n->u.match.narms);
    qblock_end(p, &b, T_ENDMATCH);
    qparse_emit(p, n);
}

static void try_catch(Parser *p) {
    BlockParser b;
    Node *n = open_block(p, &b, N_TRY, T_TRY);
    qparse_next(p);
    qblock_end_of(p, "the end of the line or ';' after 'try'");
    n->u.tries.body = qblock_statements(p);
    p->stmt = p->i;
    if (qparse_accept(p, T_CATCH)) {
        if (p->k == T_IDENT) n->u.tries.name = qparse_take_word(p);
        qblock_end_of(p, "the end of the line or ';' after 'catch'");
        n->u.tries.handler = qblock_statements(p);
        n->u.tries.has_catch = true;
    }
    if (qblock_at_finally(p)) {
        b.last = n->u.tries.has_last = true;
        qparse_next(p);
        n->u.tries.last = qblock_statements(p);
    }
    qblock_end(p, &b, T_ENDTRY);
    qparse_emit(p, n);
}

/* -- statements ---------------------------------------------------------------------------------------------------- */
static void attributed(Parser *p) { /* parses an attribute and the loop or function directly after it */
    uint32_t first = p->i;
    Attr *a = qdef_attribute(p);
    if (p->k != T_FOR && p->k != T_FUNCTION) qblock_end_of(p, "the end of the line after an attribute");
    uint32_t i = p->i;
    while (p->tok[i].kind == T_NEWLINE || p->tok[i].kind == T_SEMI) i++;
    qdef_attribute_before(p, a, p->tok[i].kind);
    if (p->tok[i].kind != T_FOR && p->tok[i].kind != T_FUNCTION) return;
    p->i = i;
    p->k = p->tok[i].kind;
    p->stmt = i;
    if (p->k == T_FOR) for_loop(p, a);
    else qdef_function(p, a, first);
}

static bool at_top_level(Parser *p) {
    if (p->func == p->u->main && !(p->block && p->block->opener == T_LPAREN)) return true;
    const Token *t = qparse_at(p);
    qparse_fail(p, t->pos, "'%.*s' belongs at the top level, not inside a function", (int)(t->end - t->pos),
                p->text + t->pos);
    return false;
}

void qstmt_statement(Parser *p) {
    p->stmt = p->i;
    switch (p->k) {
    case T_FUNCTION: qdef_function(p, NULL, p->i); break;
    case T_IF: conditional(p); break;
    case T_FOR: for_loop(p, NULL); break;
    case T_WHILE: while_loop(p); break;
    case T_REPEAT: repeat_loop(p); break;
    case T_MATCH: match(p); break;
    case T_TRY: try_catch(p); break;
    case T_BREAK: parse_jump(p, N_BREAK); break;
    case T_CONTINUE: parse_jump(p, N_CONTINUE); break;
    case T_RETURN: parse_jump(p, N_RETURN); break;
    case T_SYNCTHREADS: sync(p); break;
    case T_IMPORT:
        if (at_top_level(p)) import(p);
        break;
    case T_REDUCTION:
        if (at_top_level(p)) qdef_reduction(p);
        break;
    case T_END:
    case T_ENDFUNCTION:
    case T_ENDIF:
    case T_ENDFOR:
    case T_ENDWHILE:
    case T_ENDMATCH:
    case T_ENDTRY:
    case T_ENDTYPE:
    case T_ELSE:
    case T_ELSEIF:
    case T_UNTIL:
    case T_CATCH: qblock_stray_closer(p); break;
    case T_LBRACE:
        if (qparse_peek(p, 1) == T_OP(OP_NOT)) attributed(p);
        else qstmt_simple(p);
        break;
    default:
        if (at_print(p)) print(p);
        else if (at_native_import(p)) {
            if (at_top_level(p)) native_import(p);
        } else if (qdef_at_type(p)) {
            if (at_top_level(p)) qdef_type(p);
        } else qstmt_simple(p);
    }
    if (p->block && p->block->opener == T_LPAREN) return; /* the statement around a lambda recovers from errors */
    qblock_end_of(p, "the end of the statement");
}

void qstmt_program(Parser *p) {
    p->u->main->body = qblock_statements(p);
    p->u->main->end = (uint32_t)p->u->src->len;
}

NodeList qstmt_lambda_body(Parser *p, Node **value) {
    uint32_t opener = p->i, mark = p->nscratch;
    BlockParser b = {.up = p->block, .opener = T_LPAREN, .pos = qparse_pos(p), .tok = p->i};
    int height = 0;
    p->block = &b;
    qparse_next(p);
    while (p->k != T_RPAREN && p->k != T_ERROR && p->k != T_EOF) {
        if (qparse_accept(p, T_SEMI)) continue;
        uint32_t stmt = p->stmt;
        qstmt_statement(p);
        p->stmt = stmt;
        if (height < p->height) height = p->height;
        if (p->k != T_SEMI) break;
    }
    qparse_close(p, T_RPAREN, opener, "';' or ");
    p->block = b.up;
    p->height = height;
    NodeList l = qparse_take_nodes(p, mark);
    if (l.n > 0 && l.at[l.n - 1]->kind == N_EXPR) *value = l.at[--l.n]->u.expr;
    return l;
}
