/* parser.h -- what the parts of the parser share: parse.c (units, errors, recovery), stmt.c, block.c, define.c,
 * expr.c, typeexpr.c.
 *
 * There is no unwinding.  An error sets `k` to T_ERROR, which no rule accepts, so that every loop ends and every
 * function returns a harmless node; qparse_resync then goes to the next statement. */
#ifndef LANG_PARSER_H
#define LANG_PARSER_H
#include "lang/syntax/diag.h"
#include "lang/syntax/lex.h"
#include "lang/syntax/parse.h"

enum {
    MAX_DEPTH = 200,   /* brackets and blocks inside each other: bounds the parser's own stack */
    MAX_HEIGHT = 1000, /* of an expression tree: bounds the stack of all who walk it */
    MAX_ERRORS = 25    /* reported for one source */
};

typedef struct BlockParser { /* an open block; lives on the C stack */
    struct BlockParser *up;
    uint8_t opener;    /* T_IF, T_FOR …; T_LPAREN: the body of a lambda */
    uint32_t pos, tok; /* of the word that opens it */
} BlockParser;

typedef struct Parser {
    Unit *u;
    Ctx *ctx;
    const char *text;
    const Token *tok;
    const TokenList *tokens;
    uint32_t lex_error;               /* the next error of the lexer to report */
    uint32_t i;                       /* current token */
    uint32_t stmt;                    /* first token of the statement */
    uint8_t k;                        /* its kind; T_ERROR after an error until resync */
    int quiet;                        /* > 0: errors are only noted in `failed` */
    bool failed, incomplete, stopped; /* incomplete: the first error was at the end of the text; stopped: gave up */
    char message[160];                /* the first quiet error */
    bool guessing;                    /* whether a [ begins a type */
    int depth, height;                /* height: of the expression made last */
    int nreported;
    bool in_index; /* directly inside x[…], where `end` gets an explanation */
    bool in_list;  /* directly inside [a,b] or {a,b} */
    int index_dim;
    Node *index_base;
    Func *func;
    BlockParser *block;
    struct {
        uint32_t opener, closer, owner;
        uint8_t kind, owns;
    } odd;            /* first block whose two ends are indented
                                         * differently; that around it, if any, with which its closer is in line */
    uint8_t *scratch; /* lists under construction */
    uint32_t nscratch, cap_scratch;
} Parser;

/* -- parse.c: tokens ----------------------------------------------------------------------------------------------- */
void qparse_next(Parser *p);
bool qparse_accept(Parser *p, TokenKind k);
bool qparse_expect(Parser *p, TokenKind k, const char *where);                   /* where: "after 'for'" */
void qparse_close(Parser *p, TokenKind k, uint32_t opener, const char *or_what); /* the partner of token `opener` */
static inline const Token *qparse_at(const Parser *p) { return &p->tok[p->i]; }
static inline uint32_t qparse_pos(const Parser *p) { return p->tok[p->i].pos; }
/* End of the previous token. */
static inline uint32_t qparse_end(const Parser *p) { return p->i ? p->tok[p->i - 1].end : 0; }
TokenKind qparse_peek(const Parser *p, uint32_t n);        /* n tokens ahead */
TokenKind qparse_beyond(const Parser *p, uint32_t opener); /* after the partner of `opener`; EOF if none */
bool qparse_is_word(const Parser *p, const char *word);    /* the name `word` */
Str *qparse_name(Parser *p, const char *what);             /* a name, or an error about `what` */
bool qparse_at_word(const Parser *p);                      /* name or keyword */
Str *qparse_take_word(Parser *p);

/* -- parse.c: errors ----------------------------------------------------------------------------------------------- */
void qparse_fail(Parser *p, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);
void qparse_warn(Parser *p, uint32_t pos, const char *sentence);
void qparse_expected(Parser *p, const char *what); /* "expected …, found …" at the current token */
void qparse_stop(Parser *p, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4); /* gives up on the rest of the text */
void qparse_resync(Parser *p); /* after an error: to the end of the statement */
int qparse_line(const Parser *p, uint32_t pos);
bool qparse_enter(Parser *p); /* false: nested too deeply */
static inline void qparse_leave(Parser *p) { p->depth--; }
Node *qparse_grown(Parser *p, Node *n, int height); /* n has children up to `height` */

typedef struct {
    uint32_t i, nscratch;
    uint8_t k;
    bool failed, incomplete, stopped;
    int depth;
    Func *func;
} ParseMark;
ParseMark qparse_try(Parser *p);                      /* begin a silent attempt */
bool qparse_tried(Parser *p, ParseMark m, bool keep); /* went well and keep: stay, true; else back */

/* -- parse.c: lists and nodes -------------------------------------------------------------------------------------- */
void qparse_push(Parser *p, const void *item, size_t size);
void *qparse_take(Parser *p, uint32_t mark, size_t size, int *n); /* to the arena, all pushed since mark */
NodeList qparse_take_nodes(Parser *p, uint32_t mark);
void qparse_append(Parser *p, void *list, int *n, void *item); /* to one of the lists of the unit */
static inline Node *qparse_node(Parser *p, NodeKind k, uint32_t pos) { return qast_node(p->u, k, pos); }
static inline void qparse_emit(Parser *p, Node *n) { qparse_push(p, &n, sizeof n); } /* one more statement of a block */
Func *qparse_func(Parser *p, FuncQual qual, Str *name, uint32_t pos);

/* -- expr.c -------------------------------------------------------------------------------------------------------- */
Node *qexpr_any(Parser *p); /* lambda or ternary */
Node *qexpr_ternary(Parser *p);
Node *qexpr_postfix(Parser *p); /* what can be assigned to is one of these */
void qexpr_params(Parser *p, TokenKind closer, Param **at, int *n);
void qexpr_list(Parser *p, ArgList *out); /* a, b, c of print */

/* -- typeexpr.c ---------------------------------------------------------------------------------------------------- */
TypeExpr *qtexpr_type(Parser *p); /* as in an annotation: vec(N) is a fixed size */
TypeExpr *qtexpr_base(Parser *p); /* without the (…) */
void qtexpr_refuse_mode(Parser *p, const TypeExpr *t, const char *what);
TypeExpr *qtexpr_suffixes(Parser *p, TypeExpr *t, bool fixed);
TypeExpr *qtexpr_new(Parser *p, TypeExprKind k, uint32_t pos);
bool qtexpr_is_builtin(Parser *p, const TypeExpr *t); /* made of predefined type names only */

/* -- block.c ------------------------------------------------------------------------------------------------------- */
NodeList qblock_statements(Parser *p); /* up to a word that ends or divides an open block */
void qblock_begin(Parser *p, BlockParser *b, uint32_t pos, TokenKind opener);
void qblock_end(Parser *p, const BlockParser *b, TokenKind closer); /* after the last part of b: its closer */
bool qblock_ends(const Parser *p);
bool qblock_separator(const Parser *p);
void qblock_end_of(Parser *p, const char *what); /* between a header and its body, or behind a simple statement */
void qblock_end_of_condition(Parser *p);
void qblock_stray_closer(Parser *p);

/* -- define.c ------------------------------------------------------------------------------------------------------ */
void qdef_function(Parser *p, Attr *attr, uint32_t first); /* first: token of the function or its attribute */
bool qdef_at_type(const Parser *p);
void qdef_type(Parser *p);
void qdef_reduction(Parser *p);
Attr *qdef_attribute(Parser *p);
void qdef_attribute_before(Parser *p, const Attr *a, TokenKind next); /* tells of one that has no effect there */

/* -- stmt.c -------------------------------------------------------------------------------------------------------- */
void qstmt_program(Parser *p);
void qstmt_statement(Parser *p);
void qstmt_simple(Parser *p); /* assignment, declaration or expression: pushes its node */
Node *qstmt_assignment(Parser *p, Node *to, TypeExpr *type, Node *value);
NodeList qstmt_lambda_body(Parser *p, Node **value);
/* The token behind what can be assigned to (x, x[i].f, [a,b], _) at the current place; T_ERROR when it is not that. */
TokenKind qstmt_after_target(const Parser *p);
#endif
