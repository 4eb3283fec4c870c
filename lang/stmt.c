/* stmt.c -- statements: blocks and their closers, definitions, assignments. */
#include "lang/parser.h"

#include <stdio.h>
#include <string.h>

static void statement(Parser *p);

static Node *make(Parser *p, NodeKind k, uint32_t pos) { return qast_node(p->u, k, pos); }
static void emit(Parser *p, Node *n) { qparse_push(p, &n, sizeof n); }

/* To one of the lists of the unit, which grow by doubling inside the arena. */
static void append(Parser *p, void *list, int *n, void *item) {
    void **at;
    memcpy(&at, list, sizeof at); /* list points to a pointer of any type */
    if ((*n & (*n - 1)) == 0) {
        void **bigger = qast_alloc(p->u, (size_t)(*n ? *n * 2 : 1) * sizeof item);
        if (*n) memcpy(bigger, at, (size_t)*n * sizeof item);
        memcpy(list, &bigger, sizeof bigger);
        at = bigger;
    }
    at[(*n)++] = item;
}

/* -- blocks and their ends ----------------------------------------------------------------------------------------- */
/* The opener that a closing or dividing word belongs to; T_END closes any. */
static TokenKind opener_of(TokenKind k) {
    switch (k) {
    case T_ENDFUNCTION: return T_FUNCTION;
    case T_ENDIF: case T_ELSE: case T_ELSEIF: return T_IF;
    case T_ENDFOR: return T_FOR;
    case T_ENDWHILE: return T_WHILE;
    case T_UNTIL: return T_REPEAT;
    case T_ENDMATCH: case T_BAR: return T_MATCH;
    case T_ENDTRY: case T_CATCH: return T_TRY;
    case T_ENDTYPE: return T_ENDTYPE;
    default: return T_EOF;
    }
}

static const char *opener_text(TokenKind opener) { return opener == T_ENDTYPE ? "type" : qlex_text(opener); }

static bool is_open(const Parser *p, TokenKind opener) {
    for (const Block *b = p->block; b && b->opener != T_LPAREN; b = b->up)
        if (b->opener == opener) return true;
    return false;
}

static int indent(const Parser *p, uint32_t tok) { /* -1: not the first on its line */
    if (!p->tok[tok].first) return -1;
    uint32_t pos = p->tok[tok].pos, s = pos;
    while (s > 0 && (p->text[s - 1] == ' ' || p->text[s - 1] == '\t')) s--;
    return (int)(pos - s);
}

static bool closes_by_layout(const Parser *p) { /* endwhile, written for the endfor that belongs there */
    return p->k != T_BAR && p->k != T_ELSE && p->k != T_ELSEIF && p->k != T_CATCH && p->k != T_UNTIL &&
           indent(p, p->i) == indent(p, p->block->tok);
}

static bool block_ends(const Parser *p) {
    if (p->k == T_EOF) return true;
    if (!p->block) return false;
    if (p->block->opener == T_LPAREN) return p->k == T_RPAREN || p->k == T_END || opener_of(p->k) != T_EOF;
    if (opener_of(p->k) == T_EOF) return p->k == T_END;
    return is_open(p, opener_of(p->k)) || closes_by_layout(p);
}

static void stray_closer(Parser *p) {
    const char *word = qlex_text(p->k), *opener = opener_text(opener_of(p->k));
    if (p->k == T_END) qparse_fail(p, qparse_pos(p), "'end' has nothing to close here");
    else if (!p->block) qparse_fail(p, qparse_pos(p), "'%s' without '%s'", word, opener);
    else
        qparse_fail(p, qparse_pos(p), "'%s' cannot stand in the '%s' of line %d", word, opener_text(p->block->opener),
                    qparse_line(p, p->block->pos));
    p->i++; /* a closer is not part of the next statement */
}

static bool separator(const Parser *p) { return p->k == T_NEWLINE || p->k == T_SEMI || p->k == T_COMMA; }

/* Statements up to a word that ends or divides an open block. */
static NodeList block(Parser *p) {
    uint32_t mark = p->nscratch;
    for (;;) {
        while (separator(p)) qparse_next(p);
        if (block_ends(p)) break;
        statement(p);
    }
    return qparse_take_nodes(p, mark);
}

static Block begin(Parser *p, uint32_t pos, TokenKind opener) {
    Block b = {p->block, (uint8_t)opener, pos, p->i};
    if (!qparse_enter(p)) qparse_resync(p);
    return b;
}

static void note_indent(Parser *p, const Block *b) {
    int a = indent(p, b->tok), z = indent(p, p->i);
    if (a >= 0 && z >= 0 && a != z && !p->odd.closer) p->odd.opener = b->pos, p->odd.closer = qparse_pos(p);
}

/* Said of a block whose head is right: a wrong one may have swallowed its end. */
static void never_closed(Parser *p, const Block *b, TokenKind closer) {
    char hint[128] = "";
    const ErrorState *first = &p->ctx->err;
    if (first->status && first->where.src && qparse_line(p, first->where.pos) == qparse_line(p, b->pos)) {
        p->stopped = true;
        return;
    }
    if (p->odd.closer)
        snprintf(hint, sizeof hint, "; the indentation suggests a look at lines %d to %d",
                 qparse_line(p, p->odd.opener), qparse_line(p, p->odd.closer));
    qparse_stop(p, b->pos, "this '%s' is not closed: its '%s' is missing before the end of the file%s",
                opener_text(b->opener), qlex_text(closer), hint);
}

/* After the last part of block b: its closer. */
static void end(Parser *p, const Block *b, TokenKind closer) {
    p->block = b->up;
    qparse_leave(p);
    p->stmt = p->i;
    if (p->k == closer || (p->k == T_END && closer != T_UNTIL)) {
        note_indent(p, b);
        qparse_next(p);
    } else if (p->k == T_EOF) {
        never_closed(p, b, closer);
    } else if (opener_of(p->k) != T_EOF && is_open(p, opener_of(p->k))) { /* leave it to the block it belongs to */
        qparse_fail(p, qparse_pos(p), "'%s' found where the '%s' of line %d needs its '%s'", qlex_text(p->k),
                    opener_text(b->opener), qparse_line(p, b->pos), qlex_text(closer));
        p->k = p->tok[p->i].kind;
    } else {
        qparse_fail(p, qparse_pos(p), "'%s' cannot close the '%s' of line %d: write '%s'", qlex_text(p->k),
                    opener_text(b->opener), qparse_line(p, b->pos), qlex_text(closer));
        p->i++;
    }
}

/* Between a header and its body, or behind a simple statement. */
static void end_of(Parser *p, const char *what) {
    if (p->k != T_ERROR && !separator(p) && !block_ends(p) && !(p->failed && qparse_at(p)->first))
        qparse_expected(p, what);
    qparse_resync(p);
}

/* `if (x) y = 1; end`: the parenthesis shows where the condition stops. */
static void end_of_condition(Parser *p) {
    bool obvious = p->i > 0 && p->tok[p->i - 1].kind == T_RPAREN && p->k != T_ERROR;
    if (!obvious || p->k == T_ASSIGN) end_of(p, "the end of the line after the condition");
}

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
    Node *n = make(p, N_IDENT, qparse_pos(p));
    n->u.ident.name = qstr_cname(p->ctx, "_");
    qparse_next(p);
    return n;
}

static bool is_target(const Node *n) { return n->kind == N_IDENT || n->kind == N_INDEX || n->kind == N_FIELD; }

static Node *target(Parser *p) {
    if (p->k == T_UNDERSCORE) return discard(p);
    Node *n = qexpr_postfix(p);
    if (n->kind == N_CALL)
        qparse_fail(p, n->pos, "a call cannot be assigned to: elements are written with brackets, x[i] = value");
    else if (!is_target(n))
        qparse_fail(p, n->pos, "this cannot be assigned to: a name, an element x[i] or a field x.f is needed");
    return n;
}

typedef struct { Node *node; TypeExpr *type; } Target;

static void set_targets(Parser *p, Node *n, const Target *t, int count) {
    n->u.assign.ntargets = count;
    n->u.assign.targets = qast_alloc(p->u, (size_t)count * sizeof(Node *));
    n->u.assign.types = qast_alloc(p->u, (size_t)count * sizeof(TypeExpr *));
    for (int i = 0; i < count; i++) n->u.assign.targets[i] = t[i].node, n->u.assign.types[i] = t[i].type;
}

static void bracketed_targets(Parser *p, Node *n) { /* [a, b : vec, _, o.x] */
    uint32_t opener = p->i, mark = p->nscratch;
    qparse_next(p);
    do {
        Target t = {target(p), NULL};
        if (qparse_accept(p, T_COLON)) t.type = qtexpr_type(p);
        qparse_push(p, &t, sizeof t);
    } while (qparse_accept(p, T_COMMA));
    qparse_close(p, T_RBRACK, opener, "',' or ");
    int count;
    Target *list = qparse_take(p, mark, sizeof(Target), &count);
    set_targets(p, n, list, count);
    n->u.assign.bracketed = true;
}

static Node *assignment(Parser *p, Node *to, Node *value) {
    Node *n = make(p, N_ASSIGN, to->pos);
    Target t = {to, NULL};
    set_targets(p, n, &t, 1);
    n->u.assign.value = value;
    return n;
}

/* a = b = v, with `a =` in n and `b` in its value: becomes b = v, then a = b (or a = v again when v is a literal). */
static void chain(Parser *p, Node *n) {
    Node *to = n->u.assign.value;
    qparse_next(p);
    Node *inner = assignment(p, to, qparse_enter(p) ? qexpr_any(p) : to);
    if (p->k == T_ASSIGN && is_target(inner->u.assign.value)) chain(p, inner);
    qparse_leave(p);
    emit(p, inner);
    const Node *v = inner->u.assign.value;
    bool literal = v->kind == N_NUM || v->kind == N_STR || (v->kind == N_UNARY && v->u.bin.a->kind == N_NUM);
    n->u.assign.value = qast_clone(p->u, literal ? v : to);
}

static Node *assign(Parser *p, Node *n) { /* at = or op= */
    int height = p->height;
    if (p->k != T_ERROR && qlex_is_inplace(p->k)) {
        n->op = (uint8_t)qlex_op(p->k);
        n->u.assign.in_place = true;
        qparse_next(p);
    } else {
        qparse_expect(p, T_ASSIGN, "in an assignment");
    }
    n->u.assign.value = qexpr_any(p);
    if (p->k == T_ASSIGN && is_target(n->u.assign.value)) chain(p, n);
    if (height > p->height) p->height = height;
    return n;
}

static Node *declaration(Parser *p, Node *name, TypeExpr *type) { /* img : cube */
    Node *n = make(p, N_DECL, name->pos);
    if (name->kind != N_IDENT) qparse_fail(p, name->pos, "only a name can be declared without a value");
    else n->u.decl.name = name->u.ident.name;
    n->u.decl.type = type;
    return n;
}

static Node *single_target(Parser *p) {
    Node *n = make(p, N_ASSIGN, qparse_pos(p));
    Target t = {target(p), NULL};
    if (qparse_accept(p, T_COLON)) {
        t.type = qtexpr_type(p);
        if (p->k != T_ASSIGN) return declaration(p, t.node, t.type);
    }
    set_targets(p, n, &t, 1);
    return assign(p, n);
}

static bool at_c_declaration(Parser *p) { /* int pw = 5 */
    if (p->k != T_IDENT || qparse_peek(p, 1) != T_IDENT || qparse_peek(p, 2) != T_ASSIGN) return false;
    const Token *t = qparse_at(p);
    return qtype_builtin(p->ctx, qstr_name(p->ctx, p->text + t->pos, t->end - t->pos)->s) != NULL;
}

static Node *c_declaration(Parser *p) {
    TypeExpr *type = qtexpr_base(p);
    Node *n = make(p, N_ASSIGN, qparse_pos(p));
    Target t = {target(p), type};
    set_targets(p, n, &t, 1);
    return assign(p, n);
}

static Node *expression(Parser *p) {
    Node *n = make(p, N_EXPR, qparse_pos(p));
    n->u.expr = qexpr_any(p);
    if (p->k == T_ASSIGN)
        qparse_fail(p, n->pos, "this cannot be assigned to: a name, an element x[i] or a field x.f is needed");
    return n;
}

static Node *simple(Parser *p) {
    if (at_c_declaration(p)) return c_declaration(p);
    TokenKind k = qstmt_after_target(p);
    if (p->k == T_LBRACK && k == T_ASSIGN) {
        Node *n = make(p, N_ASSIGN, qparse_pos(p));
        bracketed_targets(p, n);
        return assign(p, n);
    }
    bool targeted = k == T_ASSIGN || qlex_is_inplace(k) || k == T_COLON;
    return targeted && p->k != T_LBRACK ? single_target(p) : expression(p);
}

void qstmt_simple(Parser *p) { emit(p, simple(p)); }

/* -- print, sync, return, import ----------------------------------------------------------------------------------- */
/* print a, b is a statement; print(a) too when nothing follows; in print = 3, print.x and the like it is a name. */
static bool at_print(const Parser *p) {
    if (!qparse_is_word(p, "print")) return false;
    switch (qparse_peek(p, 1)) {
    case T_NEWLINE:
    case T_SEMI:
    case T_EOF:
    case T_NUMBER:
    case T_STRING:
    case T_IDENT:
    case T_META:
    case T_LBRACK:
    case T_LBRACE:
    case T_CELL: case T_ANY: case T_OP(OP_SUB): case T_OP(OP_NOT): case T_LPAREN: return true;
    default: return false;
    }
}

static bool is_whole_call(const Parser *p) { /* print(…) with nothing behind */
    TokenKind k = qparse_beyond(p, p->i + 1);
    return qparse_peek(p, 1) == T_LPAREN &&
           (k == T_NEWLINE || k == T_SEMI || k == T_EOF || k == T_RPAREN || k == T_BAR || qlex_opens(k));
}

static void print(Parser *p) {
    Node *n = make(p, N_PRINT, qparse_pos(p));
    if (is_whole_call(p)) {
        Node *c = qexpr_postfix(p);
        if (c->kind == N_CALL) n->u.print = c->u.call.args;
    } else {
        qparse_next(p);
        if (!separator(p) && p->k != T_EOF) qexpr_list(p, &n->u.print);
    }
    emit(p, n);
}

static void sync(Parser *p) {
    Node *n = make(p, N_SYNC, qparse_pos(p));
    uint32_t opener = p->i + 1;
    qparse_next(p);
    n->u.scope = qstr_cname(p->ctx, "block");
    if (qparse_accept(p, T_LPAREN)) {
        if (p->k != T_RPAREN) n->u.scope = qparse_name(p, "a scope: block, warp or grid");
        qparse_close(p, T_RPAREN, opener, "");
    }
    emit(p, n);
}

static bool in_loop(const Parser *p) {
    for (const Block *b = p->block; b && b->opener != T_FUNCTION && b->opener != T_LPAREN; b = b->up)
        if (b->opener == T_FOR || b->opener == T_WHILE || b->opener == T_REPEAT) return true;
    return false;
}

static void jump(Parser *p, NodeKind k) {
    if (k != N_RETURN && !in_loop(p)) qparse_fail(p, qparse_pos(p), "'%s' outside of a loop", qlex_text(p->k));
    emit(p, make(p, k, qparse_pos(p)));
    qparse_next(p);
    if (k == N_RETURN && p->k != T_ERROR && !separator(p) && !block_ends(p) && p->k != T_RPAREN)
        qparse_fail(p, qparse_pos(p), "'return' takes no value: assign to the name of the result, then return");
}

static void import(Parser *p) {
    Node *n = make(p, N_IMPORT, qparse_pos(p));
    qparse_next(p);
    if (p->k == T_STRING) n->u.import.path = qexpr_postfix(p)->u.str;
    else qparse_expected(p, "the name of a file in double quotes after 'import'");
    emit(p, n);
    if (n->u.import.path) append(p, &p->u->imports.at, &p->u->imports.n, n);
}

/* -- if, for, while, repeat ---------------------------------------------------------------------------------------- */
typedef struct { Node *cond; NodeList body; } Branch;

static void conditional(Parser *p) {
    Node *n = make(p, N_IF, qparse_pos(p));
    Block b = begin(p, n->pos, T_IF);
    p->block = &b;
    uint32_t mark = p->nscratch;
    do {
        Branch br;
        qparse_next(p);
        br.cond = qexpr_any(p);
        end_of_condition(p);
        br.body = block(p);
        qparse_push(p, &br, sizeof br);
        p->stmt = p->i;
    } while (p->k == T_ELSEIF);
    int count;
    Branch *list = qparse_take(p, mark, sizeof(Branch), &count);
    n->u.ifs.n = count;
    n->u.ifs.conds = qast_alloc(p->u, (size_t)count * sizeof(Node *));
    n->u.ifs.blocks = qast_alloc(p->u, (size_t)count * sizeof(NodeList));
    for (int i = 0; i < count; i++) n->u.ifs.conds[i] = list[i].cond, n->u.ifs.blocks[i] = list[i].body;
    if (qparse_accept(p, T_ELSE)) {
        n->u.ifs.has_else = true;
        if (p->k == T_IF && !qparse_at(p)->first)
            qparse_warn(p, qparse_pos(p),
                        "'else if' opens a second 'if' that needs its own 'endif'; 'elseif' does not");
        n->u.ifs.other = block(p);
        if (p->k == T_ELSEIF || p->k == T_ELSE) {
            qparse_fail(p, qparse_pos(p), "'%s' after the 'else' of the 'if' of line %d", qlex_text(p->k),
                        qparse_line(p, n->pos));
            p->i++;
            qparse_resync(p);
            block(p);
        }
    }
    end(p, &b, T_ENDIF);
    emit(p, n);
}

static void loop_variables(Parser *p, Node *n) { /* i, or [m,n,p] */
    uint32_t mark = p->nscratch, opener = p->i;
    n->u.loop.bracketed = qparse_accept(p, T_LBRACK);
    do {
        Str *name = qparse_name(p, "a loop variable after 'for'");
        qparse_push(p, &name, sizeof name);
    } while (n->u.loop.bracketed && qparse_accept(p, T_COMMA));
    if (n->u.loop.bracketed) qparse_close(p, T_RBRACK, opener, "',' or ");
    n->u.loop.names = qparse_take(p, mark, sizeof(Str *), &n->u.loop.nvars);
    n->u.loop.syms = qast_alloc(p->u, (size_t)n->u.loop.nvars * sizeof(Sym *));
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
    if (p->k == T_COLON)
        qparse_fail(p, qparse_pos(p), "':' does not make a range: write first..last or first..step..last");
    if (l.n > 1 && l.n != n->u.loop.nvars)
        qparse_fail(p, n->pos, "%d loop variables but %d ranges", n->u.loop.nvars, l.n);
}

static void for_loop(Parser *p, Attr *attr) {
    Node *n = make(p, N_FOR, qparse_pos(p));
    Block b = begin(p, n->pos, T_FOR);
    p->block = &b;
    n->u.loop.attr = attr;
    qparse_next(p);
    loop_variables(p, n);
    qparse_expect(p, T_ASSIGN, "after the loop variable");
    loop_ranges(p, n);
    end_of(p, "the end of the line after the range");
    n->u.loop.body = block(p);
    end(p, &b, T_ENDFOR);
    emit(p, n);
}

static void while_loop(Parser *p) {
    Node *n = make(p, N_WHILE, qparse_pos(p));
    Block b = begin(p, n->pos, T_WHILE);
    p->block = &b;
    qparse_next(p);
    n->u.whiles.cond = qexpr_any(p);
    end_of_condition(p);
    n->u.whiles.body = block(p);
    end(p, &b, T_ENDWHILE);
    emit(p, n);
}

static void repeat_loop(Parser *p) {
    Node *n = make(p, N_REPEAT, qparse_pos(p));
    Block b = begin(p, n->pos, T_REPEAT);
    p->block = &b;
    qparse_next(p);
    end_of(p, "the end of the line after 'repeat'");
    n->u.whiles.body = block(p);
    bool closed = p->k == T_UNTIL;
    end(p, &b, T_UNTIL);
    n->u.whiles.cond = closed ? qexpr_any(p) : make(p, N_NUM, n->pos);
    emit(p, n);
}

/* -- match, try ---------------------------------------------------------------------------------------------------- */
static void pattern(Parser *p, MatchArm *arm) { /* literal, (a,b), or _ */
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

static void arm(Parser *p) { /* at the | */
    MatchArm a = {.pos = qparse_pos(p)};
    uint32_t mark = p->nscratch;
    while (qparse_accept(p, T_BAR) || qparse_accept(p, T_COMMA)) pattern(p, &a);
    NodeList patterns = qparse_take_nodes(p, mark);
    a.patterns = patterns.at;
    a.npatterns = patterns.n;
    qparse_expect(p, T_ARROW, "after the pattern");
    qparse_resync(p);
    a.body = block(p);
    qparse_push(p, &a, sizeof a);
}

static void match(Parser *p) {
    Node *n = make(p, N_MATCH, qparse_pos(p));
    Block b = begin(p, n->pos, T_MATCH);
    p->block = &b;
    qparse_next(p);
    n->u.match.value = qexpr_any(p);
    qparse_expect(p, T_WITH, "after the value of 'match'");
    qparse_resync(p);
    uint32_t mark = p->nscratch;
    for (;;) {
        while (separator(p)) qparse_next(p);
        p->stmt = p->i;
        if (p->k == T_BAR) {
            arm(p);
        } else if (block_ends(p)) {
            break;
        } else {
            qparse_expected(p, "'|' and a pattern");
            qparse_resync(p);
        }
    }
    n->u.match.arms = qparse_take(p, mark, sizeof(MatchArm), &n->u.match.narms);
    end(p, &b, T_ENDMATCH);
    emit(p, n);
}

static void try_catch(Parser *p) {
    Node *n = make(p, N_TRY, qparse_pos(p));
    Block b = begin(p, n->pos, T_TRY);
    p->block = &b;
    qparse_next(p);
    end_of(p, "the end of the line after 'try'");
    n->u.tries.body = block(p);
    p->stmt = p->i;
    if (qparse_accept(p, T_CATCH)) {
        if (p->k == T_IDENT) n->u.tries.name = qparse_take_word(p);
        end_of(p, "the end of the line after 'catch'");
        n->u.tries.handler = block(p);
    }
    end(p, &b, T_ENDTRY);
    emit(p, n);
}

/* -- functions ----------------------------------------------------------------------------------------------------- */
static size_t line_begin(const char *text, size_t pos) {
    while (pos > 0 && text[pos - 1] != '\n') pos--;
    return pos;
}

/* The comment lines directly above token `tok`, without their % and one blank. */
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

static void type_parameters(Parser *p, Str ***names, int *n) { /* [T, U] */
    uint32_t opener = p->i, mark = p->nscratch;
    if (!qparse_accept(p, T_LBRACK)) return;
    do {
        Str *name = qparse_name(p, "a type parameter");
        qparse_push(p, &name, sizeof name);
    } while (qparse_accept(p, T_COMMA));
    qparse_close(p, T_RBRACK, opener, "',' or ");
    *names = qparse_take(p, mark, sizeof(Str *), n);
}

static Param result(Parser *p) {
    Param r = {.pos = qparse_pos(p)};
    r.name = qparse_name(p, "the name of a result");
    if (qparse_accept(p, T_COLON)) r.type = qtexpr_type(p);
    return r;
}

static void results(Parser *p, Func *f) { /* y, y : mat, [a, b : vec], [] */
    uint32_t opener = p->i, mark = p->nscratch;
    bool bracketed = qparse_accept(p, T_LBRACK);
    if (!bracketed || p->k != T_RBRACK) {
        do {
            Param r = result(p);
            qparse_push(p, &r, sizeof r);
        } while (bracketed && qparse_accept(p, T_COMMA));
    }
    if (bracketed) qparse_close(p, T_RBRACK, opener, "',' or ");
    f->outs = qparse_take(p, mark, sizeof(Param), &f->nouts);
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
    type_parameters(p, &f->typarams, &f->ntyparams);
    if (p->k == T_LPAREN) qexpr_params(p, T_RPAREN, &f->params, &f->nparams);
    else qparse_expected(p, "'(' after the name of the function");
    end_of(p, "the end of the line after the parameters");
}

/* Attributes that open the body, and the one directly before the function. */
static void collect_attributes(Parser *p, Func *f, Attr *before) {
    uint32_t mark = p->nscratch;
    if (before) qparse_push(p, &before, sizeof before);
    for (int i = 0; i < f->body.n; i++)
        if (f->body.at[i]->kind == N_ATTR) qparse_push(p, &f->body.at[i]->u.attr, sizeof(Attr *));
    f->attrs = qparse_take(p, mark, sizeof(Attr *), &f->nattrs);
}

static void function(Parser *p, Attr *attr, uint32_t first) { /* first: token of the function or its attribute */
    Node *n = make(p, N_FUNC, qparse_pos(p));
    Func *f = qparse_func(p, Q_HOST, NULL, n->pos), *outer = p->func;
    Block b = begin(p, n->pos, T_FUNCTION);
    p->block = &b;
    p->func = f;
    function_header(p, f);
    f->is_method = f->nparams > 0 && !strcmp(f->params[0].name->s, "self");
    if (f->qual == Q_KERNEL && f->nouts > 0)
        qparse_fail(p, f->outs[0].pos,
                    "a kernel has no results: write 'function [] = __kernel__ %s(...)' and store into an array",
                    f->name->s);
    qparse_resync(p);
    f->body = block(p);
    end(p, &b, T_ENDFUNCTION);
    f->end = qparse_end(p);
    f->doc = doc_above(p, first);
    collect_attributes(p, f, attr);
    p->func = outer;
    n->u.func = f;
    emit(p, n);
    if (outer == p->u->main) append(p, &p->u->funcs, &p->u->nfuncs, n);
}

NodeList qstmt_lambda_body(Parser *p, Node **value) {
    uint32_t opener = p->i, mark = p->nscratch;
    Block b = {p->block, T_LPAREN, qparse_pos(p), p->i};
    int height = 0;
    p->block = &b;
    qparse_next(p);
    while (p->k != T_RPAREN && p->k != T_ERROR && p->k != T_EOF) {
        if (qparse_accept(p, T_SEMI)) continue;
        uint32_t stmt = p->stmt;
        statement(p);
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

/* -- types --------------------------------------------------------------------------------------------------------- */
static bool word_is(const Parser *p, uint32_t ahead, const char *word) {
    const Token *t = &p->tok[p->i + ahead];
    return t->kind == T_IDENT && t->end - t->pos == strlen(word) && !memcmp(p->text + t->pos, word, strlen(word));
}

/* `type` is a name too (the function type(x)); it defines when another name and a colon or bracket follow. */
static bool at_typedef(const Parser *p) {
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
    if (!p->stopped) function(p, NULL, p->i);
    p->nscratch = mark;
}

static Param class_field(Parser *p) {
    Param f = {.pos = qparse_pos(p)};
    f.name = qparse_name(p, "a field: name : type");
    if (qparse_accept(p, T_COLON)) f.type = qtexpr_type(p);
    if (qparse_accept(p, T_ASSIGN)) f.init = qexpr_any(p);
    return f;
}

static void class_body(Parser *p, TypeDef *d, uint32_t pos) {
    Block b = begin(p, pos, T_ENDTYPE);
    p->block = &b;
    d->is_class = true;
    end_of(p, "the end of the line after 'class'");
    uint32_t mark = p->nscratch;
    for (;;) {
        while (separator(p)) qparse_next(p);
        p->stmt = p->i;
        if (p->k == T_END || p->k == T_ENDTYPE || p->k == T_EOF) break;
        if (p->k == T_FUNCTION) {
            function_in_class(p);
        } else {
            Param f = class_field(p);
            qparse_push(p, &f, sizeof f);
        }
        end_of(p, "the end of the field");
        if (p->k != T_EOF && !separator(p) && p->k != T_END && p->k != T_ENDTYPE) break;
    }
    d->fields = qparse_take(p, mark, sizeof(Param), &d->nfields);
    end(p, &b, T_ENDTYPE);
}

/* The constants of an enumeration are ordinary assignments red = 0, green = 1 … */
static void enum_body(Parser *p, TypeDef *d, uint32_t pos) {
    Block b = begin(p, pos, T_ENDTYPE);
    p->block = &b;
    qparse_next(p);
    d->alias = qtexpr_new(p, TE_NAME, pos);
    d->alias->name = qstr_cname(p->ctx, "int");
    end_of(p, "the end of the line after 'enum'");
    for (double next = 0;; next++) {
        while (separator(p)) qparse_next(p);
        p->stmt = p->i;
        if (p->k == T_END || p->k == T_ENDTYPE || p->k == T_EOF) break;
        Node *n = make(p, N_ASSIGN, qparse_pos(p));
        Target t = {make(p, N_IDENT, n->pos), NULL};
        t.node->u.ident.name = qparse_name(p, "the name of a constant");
        set_targets(p, n, &t, 1);
        n->u.assign.value = make(p, N_NUM, n->pos);
        if (qparse_accept(p, T_ASSIGN)) n->u.assign.value = qexpr_any(p);
        if (n->u.assign.value->kind == N_NUM && n->u.assign.value->pos != n->pos) next = n->u.assign.value->u.num.value;
        else n->u.assign.value->u.num.value = next, n->u.assign.value->u.num.integer = true;
        emit(p, n);
        end_of(p, "the end of the constant");
    }
    end(p, &b, T_ENDTYPE);
}

static void type_definition(Parser *p) {
    Node *n = make(p, N_TYPEDEF, qparse_pos(p));
    TypeDef *d = n->u.typedefn = qast_alloc(p->u, sizeof *d);
    d->pos = n->pos;
    qparse_next(p);
    d->name = qparse_name(p, "the name of the type");
    type_parameters(p, &d->typarams, &d->ntyparams);
    qparse_expect(p, T_COLON, "after the name of the type");
    emit(p, n);
    if (class_kind(p, d)) class_body(p, d, n->pos);
    else if (word_is(p, 0, "enum")) enum_body(p, d, n->pos);
    else d->alias = qtexpr_type(p);
    append(p, &p->u->typedefs, &p->u->ntypedefs, d);
}

/* -- reductions ---------------------------------------------------------------------------------------------------- */
/* (x[a > b] = c): the parentheses hold an assignment when nothing but the end of the part follows them. */
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

static void reduction(Parser *p) {
    Node *n = make(p, N_REDUCTION, qparse_pos(p));
    Reduction *r = n->u.reduction = qast_alloc(p->u, sizeof *r);
    r->pos = n->pos;
    r->unit = p->u;
    r->order = p->u->nreductions;
    qparse_next(p);
    if (p->k == T_LPAREN) {
        qexpr_params(p, T_RPAREN, &r->params, &r->nparams);
    } else {
        Param m = result(p);
        qparse_push(p, &m, sizeof m);
        r->params = qparse_take(p, p->nscratch - (uint32_t)sizeof m, sizeof m, &r->nparams);
    }
    qparse_expect(p, T_ARROW, "after the variables of the reduction");
    r->pattern = rule_part(p, T_ASSIGN, T_ASSIGN);
    qparse_expect(p, T_ASSIGN, "between the pattern and its replacement");
    r->replacement = rule_part(p, T_WHERE, T_NEWLINE);
    if (qparse_accept(p, T_WHERE)) r->where = qexpr_any(p);
    emit(p, n);
    append(p, &p->u->reductions, &p->u->nreductions, r);
}

/* -- attributes ---------------------------------------------------------------------------------------------------- */
static Node *attribute_value(Parser *p) { /* an expression, or args=(a, b) */
    uint32_t opener = p->i;
    if (!qparse_accept(p, T_LPAREN)) return qexpr_any(p);
    Node *n = make(p, N_CELL, p->tok[opener].pos);
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

/* {!name key=value; …}.  Attributes have no effect on the meaning, so one that is not understood is only a warning. */
static Attr *attribute(Parser *p) {
    Node *n = make(p, N_ATTR, qparse_pos(p));
    Attr *a = n->u.attr = qast_alloc(p->u, sizeof *a);
    uint32_t opener = p->i;
    a->pos = n->pos;
    qparse_next(p);
    qparse_next(p);
    ParseMark m = qparse_try(p);
    a->name = qparse_at_word(p) ? qparse_take_word(p) : qparse_name(p, "the name of the attribute");
    attribute_items(p, a);
    bool closed = p->tok[opener].match != 0;
    if (!qparse_tried(p, m, true) && closed) {
        a->items = NULL, a->nitems = 0;
        qparse_warn(p, a->pos, "this attribute is not understood and is ignored");
        p->i = p->tok[opener].match;
        p->k = T_RBRACE;
    }
    if (strcmp(a->name->s, "parallel") && qstr_distance(a->name->s, "parallel", 2) <= 2)
        qparse_warn(p, a->pos, "this attribute means nothing: did you mean 'parallel'?");
    qparse_close(p, T_RBRACE, opener, "");
    emit(p, n);
    return a;
}

/* -- statements ---------------------------------------------------------------------------------------------------- */
static void attributed(Parser *p) { /* an attribute goes with the loop or function directly after it */
    uint32_t first = p->i;
    Attr *a = attribute(p);
    if (p->k != T_FOR && p->k != T_FUNCTION) end_of(p, "the end of the line after an attribute");
    uint32_t i = p->i;
    while (p->tok[i].kind == T_NEWLINE || p->tok[i].kind == T_SEMI) i++;
    if (p->tok[i].kind != T_FOR && p->tok[i].kind != T_FUNCTION) return;
    p->i = i;
    p->k = p->tok[i].kind;
    p->stmt = i;
    if (p->k == T_FOR) for_loop(p, a);
    else function(p, a, first);
}

static bool at_top_level(Parser *p) {
    if (p->func == p->u->main && !(p->block && p->block->opener == T_LPAREN)) return true;
    const Token *t = qparse_at(p);
    qparse_fail(p, t->pos, "'%.*s' belongs at the top level, not inside a function", (int)(t->end - t->pos),
                p->text + t->pos);
    return false;
}

static void statement(Parser *p) {
    p->stmt = p->i;
    switch (p->k) {
    case T_FUNCTION: function(p, NULL, p->i); break;
    case T_IF: conditional(p); break;
    case T_FOR: for_loop(p, NULL); break;
    case T_WHILE: while_loop(p); break;
    case T_REPEAT: repeat_loop(p); break;
    case T_MATCH: match(p); break;
    case T_TRY: try_catch(p); break;
    case T_BREAK: jump(p, N_BREAK); break;
    case T_CONTINUE: jump(p, N_CONTINUE); break;
    case T_RETURN: jump(p, N_RETURN); break;
    case T_SYNCTHREADS: sync(p); break;
    case T_IMPORT: if (at_top_level(p)) import(p); break;
    case T_REDUCTION: if (at_top_level(p)) reduction(p); break;
    case T_END:
    case T_ENDFUNCTION:
    case T_ENDIF:
    case T_ENDFOR:
    case T_ENDWHILE:
    case T_ENDMATCH:
    case T_ENDTRY:
    case T_ENDTYPE:
    case T_ELSE: case T_ELSEIF: case T_UNTIL: case T_CATCH: stray_closer(p); break;
    case T_LBRACE:
        if (qparse_peek(p, 1) == T_OP(OP_NOT)) attributed(p);
        else qstmt_simple(p);
        break;
    default:
        if (at_print(p)) print(p);
        else if (at_typedef(p)) { if (at_top_level(p)) type_definition(p); }
        else qstmt_simple(p);
    }
    if (p->block && p->block->opener == T_LPAREN) return; /* in a lambda errors go up to the statement around it */
    end_of(p, "the end of the statement");
}

void qstmt_program(Parser *p) {
    p->u->main->body = block(p);
    p->u->main->end = (uint32_t)p->u->src->len;
}
