/* lex.h -- splits source text into tokens.
 *
 * The lexer turns a whole source into one array of tokens and links each bracket to its partner.  The parser can
 * therefore look ahead without limit: it recognizes `(a, b) ->` as a lambda at the `(`.  The lexer also handles line
 * ends: it emits no NEWLINE token inside brackets, after an operator, or after a trailing `_`. */
#ifndef LANG_LEX_H
#define LANG_LEX_H
#include "lang/syntax/ast.h"
#include "lang/syntax/operators.h"

typedef enum {
#define TOKEN(id, text)          T_##id,
#define KEYWORD(id, text, opens) T_##id,
#define PUNCT(id, text, goes_on) T_##id,
#include "lang/syntax/tokens.def"
    T__OPS, /* first operator token; T_OP(op) is an operator, T_INPLACE(op) its in-place form */
#define BINARY(id, text, inplace, prec, method) T_OP_##id = T__OPS + 2 * OP_##id, T_INPLACE_##id,
#define UNARY(id, text, prec, method)           T_OP_##id = T__OPS + 2 * OP_##id,
#include "lang/syntax/operators.def"
    T__COUNT = T__OPS + 2 * OP__COUNT
} TokenKind;
#define T_OP(op)      (T__OPS + 2 * (op))
#define T_INPLACE(op) (T__OPS + 2 * (op) + 1)

typedef struct {
    uint8_t kind; /* TokenKind */
    bool first;   /* first token on its line */
    uint32_t pos, end;
    uint32_t match; /* opening bracket: index of the closing token; 0: it is never closed */
} Token;

typedef struct {
    uint32_t pos;
    const Str *sentence;
} LexError;

typedef struct {
    Token *at; /* the last ones are NEWLINE (unless the last line is continued) and EOF */
    uint32_t n, cap;
    LexError *errors; /* invalid characters and literals in source order; the parser reports them */
    uint32_t nerrors, cap_errors;
    bool goes_on; /* the text ends with a line continuation `_` */
} TokenList;

void qlex_run(Unit *u, TokenList *out);
void qlex_free(Ctx *c, TokenList *l);
const char *qlex_text(TokenKind k); /* the spelling; for names, numbers and the like a description */
bool qlex_is_keyword(TokenKind k);
bool qlex_opens(TokenKind k); /* keyword that begins or ends a statement */
static inline bool qlex_is_inplace(TokenKind k) { return k >= T__OPS && ((k - T__OPS) & 1); }
static inline Op qlex_op(TokenKind k) { return (Op)((k - T__OPS) >> 1); }
/* Returns the value of a NUMBER token.  integer: it has no '.' and no exponent. */
double qlex_number(const char *s, size_t n, bool *imaginary, bool *integer);
/* Returns which type represents an integer literal exactly.  `bits` receives the value for int64 and uint64. */
typedef enum {
    INT_AS_DOUBLE, /* float64 represents it exactly, or it is not an integer literal */
    INT_AS_INT64,
    INT_AS_UINT64,
    INT_TOO_LONG /* no type represents it exactly */
} IntLiteral;
IntLiteral qlex_integer(const char *s, size_t n, uint64_t *bits);
#endif
