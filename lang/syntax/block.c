/* block.c -- parses blocks of statements: finds their ends and reports blocks that are not closed. */
#include "lang/syntax/parser.h"

#include <stdio.h>

/* Returns the opener that belongs to a closing or dividing word; T_EOF: none, as for T_END, which closes any block. */
static TokenKind opener_of(TokenKind k) {
    switch (k) {
    case T_ENDFUNCTION: return T_FUNCTION;
    case T_ENDIF:
    case T_ELSE:
    case T_ELSEIF: return T_IF;
    case T_ENDFOR: return T_FOR;
    case T_ENDWHILE: return T_WHILE;
    case T_UNTIL: return T_REPEAT;
    case T_ENDMATCH:
    case T_BAR: return T_MATCH;
    case T_ENDTRY:
    case T_CATCH: return T_TRY;
    case T_ENDTYPE: return T_ENDTYPE;
    default: return T_EOF;
    }
}

static const char *opener_text(TokenKind opener) { return opener == T_ENDTYPE ? "type" : qlex_text(opener); }

static bool is_open(const Parser *p, TokenKind opener) {
    for (const BlockParser *b = p->block; b && b->opener != T_LPAREN; b = b->up)
        if (b->opener == opener) return true;
    return false;
}

static int indent(const Parser *p, uint32_t tok) { /* of a token; -1: it is not the first on its line */
    if (!p->tok[tok].first) return -1;
    uint32_t pos = p->tok[tok].pos, s = pos;
    while (s > 0 && (p->text[s - 1] == ' ' || p->text[s - 1] == '\t')) s--;
    return (int)(pos - s);
}

static bool closes_by_layout(const Parser *p) { /* wrong closer, indented like the block */
    return p->k != T_BAR && p->k != T_ELSE && p->k != T_ELSEIF && p->k != T_CATCH && p->k != T_UNTIL &&
           indent(p, p->i) == indent(p, p->block->tok);
}

/* finally is a word with a meaning only where it divides a try: alone, as a statement of its block. */
bool qblock_at_finally(const Parser *p) {
    if (!p->block || p->block->opener != T_TRY || p->block->last || !qparse_is_word(p, "finally")) return false;
    TokenKind k = qparse_peek(p, 1);
    return k == T_NEWLINE || k == T_SEMI;
}

bool qblock_ends(const Parser *p) {
    if (p->k == T_EOF) return true;
    if (!p->block) return false;
    if (qblock_at_finally(p)) return true;
    if (p->block->opener == T_LPAREN) return p->k == T_RPAREN || p->k == T_END || opener_of(p->k) != T_EOF;
    if (opener_of(p->k) == T_EOF) return p->k == T_END;
    return is_open(p, opener_of(p->k)) || closes_by_layout(p);
}

void qblock_stray_closer(Parser *p) {
    const char *word = qlex_text(p->k), *opener = opener_text(opener_of(p->k));
    if (p->k == T_END) qparse_fail(p, qparse_pos(p), "'end' has nothing to close here");
    else if (!p->block) qparse_fail(p, qparse_pos(p), "'%s' without '%s'", word, opener);
    else
        qparse_fail(p, qparse_pos(p), "'%s' cannot stand in the '%s' of line %d", word, opener_text(p->block->opener),
                    qparse_line(p, p->block->pos));
    p->i++; /* a closer is not part of the next statement */
}

bool qblock_separator(const Parser *p) { return p->k == T_NEWLINE || p->k == T_SEMI || p->k == T_COMMA; }

NodeList qblock_statements(Parser *p) {
    uint32_t mark = p->nscratch;
    for (;;) {
        while (qblock_separator(p)) qparse_next(p);
        if (qblock_ends(p)) break;
        qstmt_statement(p);
    }
    return qparse_take_nodes(p, mark);
}

void qblock_begin(Parser *p, BlockParser *b, uint32_t pos, TokenKind opener) {
    *b = (BlockParser){.up = p->block, .opener = (uint8_t)opener, .pos = pos, .tok = p->i};
    if (!qparse_enter(p)) qparse_resync(p);
    p->block = b;
}

static void note_indent(Parser *p, const BlockParser *b) {
    int a = indent(p, b->tok), z = indent(p, p->i);
    if (a < 0 || z < 0 || a == z || p->odd.closer) return;
    p->odd.opener = b->pos, p->odd.closer = qparse_pos(p), p->odd.kind = b->opener;
    const BlockParser *owner = z < a ? b->up : NULL;
    while (owner && indent(p, owner->tok) != z) owner = owner->up;
    if (owner) p->odd.owner = owner->pos, p->odd.owns = owner->opener;
}

/* Reports that block b is not closed, unless an error on the line of its opener explains the missing end.  If the
 * indentation shows which block took the end, the message names it. */
static void never_closed(Parser *p, const BlockParser *b, TokenKind closer) {
    char hint[128] = "";
    const ErrorState *first = &p->ctx->err;
    if (first->status && first->where.src && qparse_line(p, first->where.pos) == qparse_line(p, b->pos)) {
        p->stopped = true;
        return;
    }
    if (p->odd.owns) {
        qparse_stop(p, p->odd.opener,
                    "this '%s' is not closed: by its indentation, the end in line %d is that of the "
                    "'%s' of line %d",
                    opener_text(p->odd.kind), qparse_line(p, p->odd.closer), opener_text(p->odd.owns),
                    qparse_line(p, p->odd.owner));
        return;
    }
    if (p->odd.closer)
        snprintf(hint, sizeof hint, "; the indentation suggests a look at lines %d to %d",
                 qparse_line(p, p->odd.opener), qparse_line(p, p->odd.closer));
    qparse_stop(p, b->pos, "this '%s' is not closed: its '%s' is missing before the end of the file%s",
                opener_text(b->opener), qlex_text(closer), hint);
}

void qblock_end(Parser *p, const BlockParser *b, TokenKind closer) {
    p->block = b->up;
    qparse_leave(p);
    p->stmt = p->i;
    if (p->k == closer || (p->k == T_END && closer != T_UNTIL)) {
        note_indent(p, b);
        qparse_next(p);
    } else if (p->k == T_EOF) {
        never_closed(p, b, closer);
    } else if (opener_of(p->k) != T_EOF && is_open(p, opener_of(p->k))) { /* an enclosing block takes this closer */
        qparse_fail(p, qparse_pos(p), "'%s' found where the '%s' of line %d needs its '%s'", qlex_text(p->k),
                    opener_text(b->opener), qparse_line(p, b->pos), qlex_text(closer));
        p->k = p->tok[p->i].kind;
    } else {
        qparse_fail(p, qparse_pos(p), "'%s' cannot close the '%s' of line %d: write '%s'", qlex_text(p->k),
                    opener_text(b->opener), qparse_line(p, b->pos), qlex_text(closer));
        p->i++;
    }
}

void qblock_end_of(Parser *p, const char *what) {
    if (p->k != T_ERROR && !qblock_separator(p) && !qblock_ends(p) && !(p->failed && qparse_at(p)->first))
        qparse_expected(p, what);
    qparse_resync(p);
}

/* Expects the end of a condition.  In `if (x) y = 1; end` the closing parenthesis ends it. */
void qblock_end_of_condition(Parser *p) {
    bool obvious = p->i > 0 && p->tok[p->i - 1].kind == T_RPAREN && p->k != T_ERROR;
    if (p->k == T_ASSIGN || p->k == T_LBRACE) obvious = false;
    if (!obvious) qblock_end_of(p, "the end of the line or ';' after the condition");
}
