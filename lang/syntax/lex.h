/* lex.h -- text to tokens.
 *
 * A whole source becomes one array of tokens, with each bracket linked to its partner, so that the parser looks ahead
 * without limit: `(a, b) ->` is known to be a lambda at its `(`.  All rules about lines live here: no NEWLINE token
 * is made inside brackets, after an operator, or after a trailing `_`. */
#ifndef LANG_LEX_H
#define LANG_LEX_H
#include "lang/syntax/ast.h"
#include "lang/syntax/operators.h"

typedef enum {
#define TOKEN(id, text)          T_##id,
#define KEYWORD(id, text, opens) T_##id,
#define PUNCT(id, text, goes_on) T_##id,
#include "lang/syntax/tokens.def"
    T__OPS, /* operator tokens: T_OP(op), and T_INPLACE(op) for its in-place form */
#define BINARY(id, text, inplace, prec, method) T_OP_##id = T__OPS + 2 * OP_##id, T_INPLACE_##id,
#define UNARY(id, text, prec, method)           T_OP_##id = T__OPS + 2 * OP_##id,
#include "lang/syntax/operators.def"
    T__COUNT = T__OPS + 2 * OP__COUNT
} TokenKind;
#define T_OP(op)      (T__OPS + 2 * (op))
#define T_INPLACE(op) (T__OPS + 2 * (op) + 1)

typedef struct {
    uint8_t kind; /* TokenKind */
    bool first;   /* on its line */
    uint32_t pos, end;
    uint32_t match; /* of an opening bracket: the closing token; 0 when it is never closed */
} Token;

typedef struct {
    uint32_t pos;
    const Str *sentence;
} LexError;

typedef struct {
    Token *at; /* ends with NEWLINE (unless the last line goes on) and EOF */
    uint32_t n, cap;
    LexError *errors; /* characters and literals that make no sense, in order; the parser reports them */
    uint32_t nerrors, cap_errors;
    bool goes_on; /* the text ends with a line continuation `_` */
} TokenList;

void qlex_run(Unit *u, TokenList *out);
void qlex_free(Ctx *c, TokenList *l);
const char *qlex_text(TokenKind k); /* as written; a description for names, numbers and the like */
bool qlex_is_keyword(TokenKind k);
bool qlex_opens(TokenKind k); /* begins or ends a statement */
static inline bool qlex_is_inplace(TokenKind k) { return k >= T__OPS && ((k - T__OPS) & 1); }
static inline Op qlex_op(TokenKind k) { return (Op)((k - T__OPS) >> 1); }
/* The value of a NUMBER token. */
double qlex_number(const char *s, size_t n, bool *imaginary, bool *integer);
/* How the value of an integer literal is kept exactly.  `bits` receives the value of an int64 or uint64. */
typedef enum {
    INT_AS_DOUBLE, /* float64 holds it, or it is no integer literal */
    INT_AS_INT64,
    INT_AS_UINT64,
    INT_TOO_LONG /* nothing does */
} IntLiteral;
IntLiteral qlex_integer(const char *s, size_t n, uint64_t *bits);
#endif
