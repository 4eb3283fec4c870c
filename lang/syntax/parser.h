/* parser.h -- declares what the files of the parser share: parse.c (units, errors, recovery), stmt.c, block.c,
 * define.c, expr.c, typeexpr.c.
 *
 * The parser does not unwind on errors.  An error sets `k` to T_ERROR, which no rule accepts; therefore every loop ends
 * and every function returns a harmless node.  qparse_resync then skips to the next statement. */
#ifndef LANG_PARSER_H
#define LANG_PARSER_H
#include "lang/syntax/diag.h"
#include "lang/syntax/lex.h"
#include "lang/syntax/parse.h"

enum {
    MAX_DEPTH = 200,   /* nesting of brackets and blocks; bounds the stack depth of the parser */
    MAX_HEIGHT = 1000, /* height of an expression tree; bounds the stack depth of functions that walk it */
    MAX_ERRORS = 25    /* number of errors reported per source */
};

typedef struct BlockParser { /* an open block; allocated on the C stack */
    struct BlockParser *up;
    uint8_t opener;    /* T_IF, T_FOR …; T_LPAREN: body of a lambda */
    uint32_t pos, tok; /* position and token index of the word that opens it */
    bool last;         /* it is the part of a try after finally */
} BlockParser;

typedef struct Parser {
    Unit *u;
    Ctx *ctx;
    const char *text;
    const Token *tok;
    const TokenList *tokens;
    uint32_t lex_error;               /* index of the next lexer error to report */
    uint32_t i;                       /* index of the current token */
    uint32_t stmt;                    /* index of the first token of the statement */
    uint8_t k;                        /* kind of the current token; T_ERROR from an error until resync */
    int quiet;                        /* > 0: errors only set `failed` and are not reported */
    bool failed, incomplete, stopped; /* incomplete: first error at the end of the text; stopped: gave up */
    char message[160];                /* first error that was not reported */
    bool guessing;                    /* a speculative parse of a type after [ is under way */
    int depth, height;                /* depth: current nesting; height: height of the expression parsed last */
    int nreported;
    bool in_index; /* directly inside x[…], where `end` gets its own error message */
    bool in_list;  /* directly inside [a,b] or {a,b} */
    int index_dim;
    Node *index_base;
    Func *func;
    BlockParser *block;
    struct {
        uint32_t opener, closer, owner;
        uint8_t kind, owns;
    } odd;            /* first block whose opener and closer are indented differently; owner: the enclosing block, if
                       * any, that has the indentation of the closer */
    uint8_t *scratch; /* stack of list items under construction */
    uint32_t nscratch, cap_scratch;
} Parser;

/* -- parse.c: tokens ----------------------------------------------------------------------------------------------- */
void qparse_next(Parser *p);
bool qparse_accept(Parser *p, TokenKind k);
bool qparse_expect(Parser *p, TokenKind k, const char *where);                   /* where: such as "after 'for'" */
void qparse_close(Parser *p, TokenKind k, uint32_t opener, const char *or_what); /* expects the partner of `opener` */
static inline const Token *qparse_at(const Parser *p) { return &p->tok[p->i]; }
static inline uint32_t qparse_pos(const Parser *p) { return p->tok[p->i].pos; }
/* Returns the end position of the previous token. */
static inline uint32_t qparse_end(const Parser *p) { return p->i ? p->tok[p->i - 1].end : 0; }
TokenKind qparse_peek(const Parser *p, uint32_t n);        /* kind of the token n ahead */
TokenKind qparse_beyond(const Parser *p, uint32_t opener); /* kind after the partner of `opener`; T_EOF: none */
bool qparse_is_word(const Parser *p, const char *word);    /* the current token is the name `word` */
Str *qparse_name(Parser *p, const char *what);             /* takes a name, or fails with "expected `what`" */
bool qparse_at_word(const Parser *p);                      /* the current token is a name or keyword */
Str *qparse_take_word(Parser *p);

/* -- parse.c: errors ----------------------------------------------------------------------------------------------- */
void qparse_fail(Parser *p, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);
void qparse_fail_range(Parser *p, uint32_t pos); /* a colon at pos that is meant as a range */
void qparse_warn(Parser *p, uint32_t pos, const char *sentence);
void qparse_expected(Parser *p, const char *what); /* "expected …, found …" at the current token */
void qparse_stop(Parser *p, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4); /* also skips the rest of the text */
void qparse_resync(Parser *p); /* after an error: skips to the end of the statement */
int qparse_line(const Parser *p, uint32_t pos);
bool qparse_enter(Parser *p); /* false: nested too deeply */
static inline void qparse_leave(Parser *p) { p->depth--; }
Node *qparse_grown(Parser *p, Node *n, int height); /* sets the height of n, whose highest child has `height` */

typedef struct {
    uint32_t i, nscratch;
    uint8_t k;
    bool failed, incomplete, stopped;
    int depth;
    Func *func;
} ParseMark;
ParseMark qparse_try(Parser *p);                      /* begins a speculative parse */
bool qparse_tried(Parser *p, ParseMark m, bool keep); /* true: parsed without error and keep; else rewinds */

/* -- parse.c: lists and nodes -------------------------------------------------------------------------------------- */
void qparse_push(Parser *p, const void *item, size_t size);
void *qparse_take(Parser *p, uint32_t mark, size_t size, int *n); /* moves the items pushed since mark to the arena */
NodeList qparse_take_nodes(Parser *p, uint32_t mark);
void qparse_append(Parser *p, void *list, int *n, void *item); /* appends to a list of the unit */
static inline Node *qparse_node(Parser *p, NodeKind k, uint32_t pos) { return qast_node(p->u, k, pos); }
static inline void qparse_emit(Parser *p, Node *n) { qparse_push(p, &n, sizeof n); } /* adds a statement to the block */
Func *qparse_func(Parser *p, FuncQual qual, Str *name, uint32_t pos);

/* -- expr.c -------------------------------------------------------------------------------------------------------- */
Node *qexpr_any(Parser *p); /* lambda or ternary */
Node *qexpr_ternary(Parser *p);
Node *qexpr_postfix(Parser *p); /* includes everything that can be assigned to */
void qexpr_params(Parser *p, TokenKind closer, Param **at, int *n);
void qexpr_list(Parser *p, ArgList *out); /* values of print: a, b, c */

/* -- typeexpr.c ---------------------------------------------------------------------------------------------------- */
TypeExpr *qtexpr_type(Parser *p); /* type in an annotation, where vec(N) is a fixed size */
TypeExpr *qtexpr_base(Parser *p); /* type without a fixed size (…) */
void qtexpr_refuse_mode(Parser *p, const TypeExpr *t, const char *what);
TypeExpr *qtexpr_suffixes(Parser *p, TypeExpr *t, bool fixed);
TypeExpr *qtexpr_new(Parser *p, TypeExprKind k, uint32_t pos);
bool qtexpr_is_builtin(Parser *p, const TypeExpr *t); /* t consists of predefined type names only */

/* -- block.c ------------------------------------------------------------------------------------------------------- */
NodeList qblock_statements(Parser *p); /* statements up to a word that ends or divides an open block */
void qblock_begin(Parser *p, BlockParser *b, uint32_t pos, TokenKind opener);
void qblock_end(Parser *p, const BlockParser *b, TokenKind closer); /* expects the closer of b */
bool qblock_at_finally(const Parser *p);
bool qblock_ends(const Parser *p);
bool qblock_separator(const Parser *p);
void qblock_end_of(Parser *p, const char *what); /* expects the end of a header or simple statement */
void qblock_end_of_condition(Parser *p);
void qblock_stray_closer(Parser *p);

/* -- define.c ------------------------------------------------------------------------------------------------------ */
void qdef_function(Parser *p, Attr *attr, uint32_t first); /* first: first token of the function or of its attribute */
bool qdef_at_type(const Parser *p);
void qdef_type(Parser *p);
void qdef_reduction(Parser *p);
Attr *qdef_attribute(Parser *p);
void qdef_attribute_before(Parser *p, const Attr *a, TokenKind next); /* warns if a has no effect before `next` */

/* -- stmt.c -------------------------------------------------------------------------------------------------------- */
void qstmt_program(Parser *p);
void qstmt_statement(Parser *p);
void qstmt_simple(Parser *p); /* emits an assignment, declaration or expression */
Node *qstmt_assignment(Parser *p, Node *to, TypeExpr *type, Node *value);
NodeList qstmt_lambda_body(Parser *p, Node **value);
/* Returns the token after an assignment target (x, x[i].f, [a,b], _) that begins at the current token; T_ERROR: there
 * is no target. */
TokenKind qstmt_after_target(const Parser *p);
#endif
