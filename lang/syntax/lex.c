/* lex.c -- splits source text into tokens and converts number literals. */
#include "lang/syntax/lex.h"

#include "vm/base/number.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Ctx *ctx;
    Unit *u;
    const char *text, *end, *s; /* s: current character */
    bool line_start;            /* no token on this line yet */
    TokenList *out;
    uint32_t *open; /* stack of the token indices of open brackets */
    uint32_t nopen, cap_open;
    int formats; /* number of formatted strings that are open */
} Lexer;

enum { MAX_LEX_ERRORS = 100, MAX_FORMATS = 20 };

typedef struct {
    const char *text;
    uint8_t len, kind;
    bool flag;
} Spelling;

static const Spelling keywords[] = {
#define TOKEN(id, text)
#define KEYWORD(id, text, opens) {text, sizeof(text) - 1, T_##id, opens},
#define PUNCT(id, text, goes_on)
#include "lang/syntax/tokens.def"
};
static const Spelling marks[] = {
/* an empty spelling never matches; the binary `-` comes before the unary one */
#define TOKEN(id, text)
#define KEYWORD(id, text, opens)
#define PUNCT(id, text, goes_on) {text, sizeof(text) - 1, T_##id, goes_on},
#include "lang/syntax/tokens.def"
#define BINARY(id, text, inplace, prec, method)                                                                        \
    {text, sizeof(text) - 1, T_OP(OP_##id), true}, {inplace, sizeof(inplace) - 1, T_INPLACE(OP_##id), true},
#define UNARY(id, text, prec, method) {text, sizeof(text) - 1, T_OP(OP_##id), true},
#include "lang/syntax/operators.def"
};
static const char *const texts[T__COUNT] = {
#define TOKEN(id, text)          [T_##id] = text,
#define KEYWORD(id, text, opens) [T_##id] = text,
#define PUNCT(id, text, goes_on) [T_##id] = text,
#include "lang/syntax/tokens.def"
#define BINARY(id, text, inplace, prec, method) [T_OP(OP_##id)] = text, [T_INPLACE(OP_##id)] = inplace,
#define UNARY(id, text, prec, method)           [T_OP(OP_##id)] = text,
#include "lang/syntax/operators.def"
};
static const bool goes_on[T__COUNT] = {
#define TOKEN(id, text)
#define KEYWORD(id, text, opens)
#define PUNCT(id, text, goes_on) [T_##id] = goes_on,
#include "lang/syntax/tokens.def"
#define BINARY(id, text, inplace, prec, method) [T_OP(OP_##id)] = true, [T_INPLACE(OP_##id)] = true,
#define UNARY(id, text, prec, method)           [T_OP(OP_##id)] = true,
#include "lang/syntax/operators.def"
};

/* Characters used in other languages, and what to write instead. */
static const struct {
    char c;
    const char *advice;
} habits[] = {
    {'&', "write a && b, or and(a,b) for bits"},
    {'~', "write !x for not, a != b for different, [_, i] = f(x) for a result that is left out"},
    {'#', "comments begin with %"},
    {'@', "functions are values: write f, or a lambda x -> ..."},
    {'\\', "there is no \\ operator: write linsolve(A,b)"},
};

const char *qlex_text(TokenKind k) { return texts[k]; }
bool qlex_is_keyword(TokenKind k) { return k >= T_FUNCTION && k <= T_HOST; }
bool qlex_opens(TokenKind k) { return qlex_is_keyword(k) && keywords[k - T_FUNCTION].flag; }

static bool is_digit(char c) { return (unsigned)(c - '0') < 10; }
static bool is_letter(char c) { return (unsigned)((c | 32) - 'a') < 26 || c == '_'; }
static bool is_word(char c) { return is_letter(c) || is_digit(c); }
static char peek(const Lexer *l, int k) { return l->end - l->s > k ? l->s[k] : 0; }
static uint32_t here(const Lexer *l, const char *s) { return (uint32_t)(s - l->text); }

QS_PRINTF(3, 4) static void complain(Lexer *l, const char *at, const char *fmt, ...) {
    TokenList *o = l->out;
    if (o->nerrors == MAX_LEX_ERRORS) return;
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    qmem_grow(l->ctx, &o->errors, &o->cap_errors, o->nerrors, sizeof *o->errors);
    size_t len = n < (int)sizeof text ? (size_t)n : sizeof text - 1;
    o->errors[o->nerrors++] = (LexError){here(l, at), qstr_name(l->ctx, text, len)};
}

static TokenKind last(const Lexer *l) { return l->out->n ? l->out->at[l->out->n - 1].kind : T_NEWLINE; }

static Token *push_token(Lexer *l, TokenKind k, const char *from, const char *to) {
    TokenList *o = l->out;
    if (o->n == o->cap) qmem_grow(l->ctx, &o->at, &o->cap, o->n, sizeof *o->at);
    Token *t = &o->at[o->n++];
    *t = (Token){(uint8_t)k, l->line_start, here(l, from), here(l, to), 0};
    l->line_start = false;
    return t;
}

/* -- brackets ------------------------------------------------------------------------------------------------------ */
static void open_bracket(Lexer *l) {
    if (l->nopen == l->cap_open) qmem_grow(l->ctx, &l->open, &l->cap_open, l->nopen, sizeof *l->open);
    l->open[l->nopen++] = l->out->n - 1;
}

/* Links the closing bracket just pushed to its opener.  If the kinds differ, match stays 0 and the parser reports
 * it. */
static void close_bracket(Lexer *l, TokenKind opener) {
    if (l->nopen == 0) return;
    uint32_t at = l->open[--l->nopen];
    if (l->out->at[at].kind == opener) l->out->at[at].match = l->out->n - 1;
}

static bool in_cell(const Lexer *l) { return l->nopen > 0 && l->out->at[l->open[l->nopen - 1]].kind == T_CELL; }

static void track_bracket(Lexer *l, TokenKind k) {
    switch (k) {
    case T_LPAREN:
    case T_LBRACK:
    case T_LBRACE:
    case T_CELL: open_bracket(l); break;
    case T_RPAREN: close_bracket(l, T_LPAREN); break;
    case T_RBRACK: close_bracket(l, T_LBRACK); break;
    case T_RBRACE: close_bracket(l, T_LBRACE); break;
    case T_ENDCELL: close_bracket(l, T_CELL); break;
    default: break;
    }
}

static bool ends_operand(TokenKind k) {
    return k == T_IDENT || k == T_ANY || k == T_NUMBER || k == T_STRING || k == T_ENDFORMAT || k == T_RPAREN ||
           k == T_RBRACK || k == T_RBRACE || k == T_ENDCELL;
}

/* -- lines --------------------------------------------------------------------------------------------------------- */
static void end_line(Lexer *l) {
    l->line_start = true;
    TokenKind k = last(l);
    if (l->nopen > 0 || goes_on[k] || k == T_NEWLINE) return;
    push_token(l, T_NEWLINE, l->s, l->s);
    l->line_start = true;
}

static void skip_comment(Lexer *l) {
    const char *nl = memchr(l->s, '\n', (size_t)(l->end - l->s));
    l->s = nl ? nl : l->end;
}

static void skip_blanks(Lexer *l) {
    while (l->s < l->end && (*l->s == ' ' || *l->s == '\t' || *l->s == '\r')) l->s++;
}

/* Skips a comment.  If it follows an operand, % may be meant as a remainder; its position is recorded for lint.c, which
 * decides when the names are known. */
static void comment(Lexer *l) {
    const char *from = l->s;
    bool behind = !l->line_start && ends_operand(last(l));
    skip_comment(l);
    if (behind) *(uint32_t *)qast_append(l->u, &l->u->percents, &l->u->npercents, sizeof(uint32_t)) = here(l, from);
}

/* A lone _ at the end of a line continues the line; elsewhere it is a token. */
static void underscore(Lexer *l) {
    const char *from = l->s++;
    const char *after = l->s;
    skip_blanks(l);
    if (peek(l, 0) == '%') skip_comment(l);
    if (l->s < l->end && *l->s != '\n') {
        l->s = after;
        push_token(l, T_UNDERSCORE, from, after);
    } else if (l->s < l->end) {
        l->s++;
        l->line_start = true;
    } else {
        l->out->goes_on = true;
    }
}

/* -- words --------------------------------------------------------------------------------------------------------- */
static TokenKind keyword(const char *s, size_t n) {
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (keywords[i].len == n && keywords[i].text[0] == s[0] && !memcmp(keywords[i].text, s, n))
            return keywords[i].kind;
    return T_IDENT;
}

static bool names_argument(const Lexer *l) { /* end := "" is a named argument, not the end of a block */
    const char *s = l->s;
    while (s < l->end && (*s == ' ' || *s == '\t')) s++;
    return l->end - s >= 2 && s[0] == ':' && s[1] == '=';
}

static void lex_format(Lexer *l, const char *from);

static void word(Lexer *l) {
    const char *from = l->s;
    while (l->s < l->end && is_word(*l->s)) l->s++;
    if (l->s - from == 1 && *from == 'f' && peek(l, 0) == '"') {
        lex_format(l, from);
        return;
    }
    TokenKind k = keyword(from, (size_t)(l->s - from));
    if (l->nopen > 0 && l->line_start && qlex_opens(k) && !names_argument(l)) { /* a bracket was not closed */
        l->nopen = 0;
        const char *at = l->text + l->out->at[l->out->n - 1].end;
        push_token(l, T_NEWLINE, at, at);
        l->line_start = true;
    }
    push_token(l, k, from, l->s);
}

static void meta(Lexer *l) {
    const char *from = l->s++;
    if (!is_letter(peek(l, 0))) {
        complain(l, from, "'$' begins the name of a meta function, as in $ftype(...)");
        return;
    }
    while (l->s < l->end && is_word(*l->s)) l->s++;
    push_token(l, T_META, from, l->s);
}

/* -- numbers ------------------------------------------------------------------------------------------------------- */
static bool radix_digits(const char *s, const char *end, int radix) {
    for (; s < end; s++) {
        int d = is_digit(*s) ? *s - '0' : (unsigned)((*s | 32) - 'a') < 6 ? (*s | 32) - 'a' + 10 : 99;
        if (d >= radix) return false;
    }
    return true;
}

/* Returns the radix that a suffix selects: 1011b, 17o, 0FFh; 10: no suffix. */
static int radix_of(const char *s, const char *end) {
    if (end - s < 2) return 10;
    switch (end[-1] | 32) {
    case 'b': return radix_digits(s, end - 1, 2) ? 2 : 10;
    case 'o': return radix_digits(s, end - 1, 8) ? 8 : 10;
    case 'h': return radix_digits(s, end - 1, 16) ? 16 : 10;
    default: return 10;
    }
}

static void digits(Lexer *l) {
    while (l->s < l->end && is_digit(*l->s)) l->s++;
}

/* Returns whether a dot belongs to the number: not if it begins an operator, as in 0..2 and 1./x. */
static bool dot_is_ours(const Lexer *l) {
    if (peek(l, 0) != '.') return false;
    char c = peek(l, 1);
    return c != '.' && c != '*' && c != '/' && c != '^' && !(is_letter(c) && (c | 32) != 'e' && c != 'i' && c != 'j');
}

static void exponent(Lexer *l) {
    if ((peek(l, 0) | 32) != 'e') return;
    int sign = peek(l, 1) == '+' || peek(l, 1) == '-';
    if (!is_digit(peek(l, 1 + sign))) return;
    l->s += 1 + sign;
    digits(l);
}

static void lex_number(Lexer *l) {
    const char *from = l->s, *run = l->s;
    while (run < l->end && is_word(*run)) run++;
    if (radix_of(from, run) != 10) {
        l->s = run;
    } else {
        digits(l);
        if (dot_is_ours(l)) {
            l->s++;
            digits(l);
        }
        exponent(l);
        if ((peek(l, 0) == 'i' || peek(l, 0) == 'j') && !is_word(peek(l, 1))) l->s++;
    }
    if (is_word(peek(l, 0))) {
        const char *bad = l->s;
        while (l->s < l->end && is_word(*l->s)) l->s++;
        if (bad - from == 1 && *from == '0' && (*bad | 32) == 'x')
            complain(l, from, "hexadecimal numbers are written with the suffix h, as in 0FFh");
        else
            complain(l, from, "'%.*s' is neither a number nor a name", (int)(l->s - from > 40 ? 40 : l->s - from),
                     from);
    }
    push_token(l, T_NUMBER, from, l->s);
}

static double radix_value(const char *s, size_t n, int radix) {
    double v = 0;
    for (size_t i = 0; i < n; i++) v = v * radix + (is_digit(s[i]) ? s[i] - '0' : (s[i] | 32) - 'a' + 10);
    return v;
}

/* Returns the correctly rounded value of a decimal number of any length. */
static double decimal_value(const char *s, size_t n) {
    char small[64], *copy = n < sizeof small ? small : malloc(n + 1);
    if (!copy) abort();
    memcpy(copy, s, n);
    copy[n] = 0;
    double v = qnum_read(copy, NULL);
    if (copy != small) free(copy);
    return v;
}

/* Converts up to 15 digits with an optional point.  The digits and the power of ten are exact in float64, so only the
 * quotient is rounded.  false: the number is longer or has an exponent. */
static bool short_decimal(const char *s, size_t n, double *v) {
    double digits = 0, scale = 1;
    bool fraction = false;
    if (n > 16) return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '.') {
            fraction = true;
        } else {
            if (!is_digit(s[i])) return false;
            digits = digits * 10 + (s[i] - '0');
            if (fraction) scale *= 10;
        }
    }
    *v = digits / scale;
    return n <= 15 || fraction;
}

/* Returns whether the digits are the exact decimal digits of v. */
static bool prints_as(const char *s, size_t n, double v) {
    char text[DBL_MAX_10_EXP + 3];
    while (n > 1 && *s == '0') s++, n--;
    return (size_t)qnum_print(text, sizeof text, "%.0f", v) == n && memcmp(s, text, n) == 0;
}

IntLiteral qlex_integer(const char *s, size_t n, uint64_t *bits) {
    int radix = radix_of(s, s + n);
    bool imaginary = radix == 10 && (s[n - 1] == 'i' || s[n - 1] == 'j'), overflows = false, rounded = false;
    uint64_t v = 0;
    double held = 0; /* rounded: adding a digit to `held` was inexact; multiplying by a power of two is exact */
    if (radix != 10 || imaginary) n--;
    for (size_t i = 0; i < n; i++) {
        if (radix == 10 && !is_digit(s[i])) return INT_AS_DOUBLE;
        uint64_t digit = (uint64_t)(is_digit(s[i]) ? s[i] - '0' : (s[i] | 32) - 'a' + 10);
        overflows |= __builtin_mul_overflow(v, (uint64_t)radix, &v) || __builtin_add_overflow(v, digit, &v);
        double shifted = held * radix;
        held = shifted + (double)digit;
        rounded |= held - shifted != (double)digit;
    }
    if (overflows)
        return (radix == 10 ? prints_as(s, n, decimal_value(s, n)) : !rounded) ? INT_AS_DOUBLE : INT_TOO_LONG;
    held = (double)v;
    if (held < 0x1p64 && (uint64_t)held == v) return INT_AS_DOUBLE;
    *bits = v;
    return imaginary ? INT_TOO_LONG : v >> 63 ? INT_AS_UINT64 : INT_AS_INT64;
}

double qlex_number(const char *s, size_t n, bool *imaginary, bool *integer) {
    *imaginary = false;
    *integer = true;
    int radix = radix_of(s, s + n);
    if (radix != 10) return radix_value(s, n - 1, radix);
    *imaginary = s[n - 1] == 'i' || s[n - 1] == 'j';
    if (*imaginary) n--;
    for (size_t i = 0; i < n && *integer; i++) *integer = is_digit(s[i]);
    double v;
    return short_decimal(s, n, &v) ? v : decimal_value(s, n);
}

/* -- strings and other marks --------------------------------------------------------------------------------------- */
/* Lexes a string.  Backslashes are ordinary characters; a doubled quote is one quote. */
static void lex_string(Lexer *l) {
    const char *from = l->s++;
    for (; l->s < l->end && *l->s != '\n'; l->s++) {
        if (*l->s == 0) complain(l, l->s, "a NUL byte in a string");
        if (*l->s != '"') continue;
        if (peek(l, 1) != '"') {
            l->s++;
            push_token(l, T_STRING, from, l->s);
            return;
        }
        l->s++;
    }
    const char *line = from;
    while (line > l->text && line[-1] != '\n') line--;
    bool escaped = memmem(line, (size_t)(from - line), "\\\"", 2);
    complain(l, from,
             escaped ? "the string is not closed: a quote in a string is doubled, \"\", and \\ is an ordinary character"
                     : "the string is not closed: a \" is missing before the end of the line");
    push_token(l, T_STRING, from, l->s);
}

static void quoted(Lexer *l, const char *from) { /* reports 'text' in single quotes */
    const char *nl = memchr(l->s, '\n', (size_t)(l->end - l->s));
    const char *close = memchr(l->s, '\'', (size_t)((nl ? nl : l->end) - l->s));
    if (!close) {
        complain(l, from, "a lone ' : strings are written in double quotes");
        return;
    }
    int n = close - l->s > 60 ? 60 : (int)(close - l->s);
    complain(l, from, "strings are written in double quotes: \"%.*s\"", n, l->s);
    l->s = close + 1;
    push_token(l, T_STRING, from, l->s);
}

static bool at_modifier(const Lexer *l) {
    const char *name = l->s;
    while (name < l->end && (*name == ' ' || *name == '\t')) name++;
    const char *stop = name;
    while (stop < l->end && is_word(*stop)) stop++;
    char text[32] = "";
    TypeMods ignored = {0};
    if (stop - name < (long)sizeof text) memcpy(text, name, (size_t)(stop - name));
    return text[0] && qaccess_from_name(text, &ignored);
}

/* Lexes '.  It begins an access modifier after a type or colon, and closes a cell that began with a back quote. */
static void apostrophe(Lexer *l) {
    const char *from = l->s++;
    TokenKind before = last(l);
    if (in_cell(l)) {
        TokenKind k = before == T_IDENT && at_modifier(l) ? T_QUOTE : T_ENDCELL;
        push_token(l, k, from, l->s);
        track_bracket(l, k);
    } else if (ends_operand(before) || (before == T_COLON && at_modifier(l))) {
        push_token(l, T_QUOTE, from, l->s);
    } else {
        quoted(l, from);
    }
}

static void lex_mark(Lexer *l) {
    size_t left = (size_t)(l->end - l->s);
    const Spelling *best = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const Spelling *m = &marks[i];
        if (m->text[0] != *l->s || m->len > left || (best && m->len <= best->len)) continue;
        if (m->len == 1 || !memcmp(m->text, l->s, m->len)) best = m;
    }
    if (!best || best->len == 0) {
        const char *advice = "";
        for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
            if (habits[i].c == *l->s) advice = habits[i].advice;
        unsigned char c = (unsigned char)*l->s;
        if (c < 32 || c == 127) complain(l, l->s, "unexpected byte %d", c);
        else if (c == '\\' && l->s[1] == '"')
            complain(l, l->s, "unexpected character '\\': a quote in a string is doubled, \"\"");
        else complain(l, l->s, "unexpected character '%c'%s%s", c, *advice ? ": " : "", advice);
        l->s++;
        return;
    }
    TokenKind k = best->kind;
    int len = best->len;
    if (k == T_ELLIPSIS && is_digit(peek(l, 3))) k = T_RANGE, len = 2; /* 0...5 is 0 .. .5 */
    push_token(l, k, l->s, l->s + len);
    l->s += len;
    track_bracket(l, k);
}

static int utf8_length(const Lexer *l) {
    unsigned char c = (unsigned char)*l->s;
    int n = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
    if (c >= 0xf5) n = 1;
    for (int i = 1; i < n; i++)
        if (((unsigned char)peek(l, i) & 0xc0) != 0x80) return 1;
    return n;
}

/* Lexes a non-ASCII character.  Outside strings and comments only the acute accent (UTF-8 or Latin-1), which closes a
 * cell, and the no-break space are valid. */
static void foreign(Lexer *l) {
    int n = utf8_length(l);
    const char *from = l->s;
    l->s += n;
    unsigned char a = (unsigned char)from[0], b = n == 2 ? (unsigned char)from[1] : 0;
    if ((n == 1 && a == 0xb4) || (a == 0xc2 && b == 0xb4)) {
        push_token(l, T_ENDCELL, from, l->s);
        track_bracket(l, T_ENDCELL);
    } else if ((n == 1 && a == 0xa0) || (a == 0xc2 && b == 0xa0)) {
        return;
    } else if (n == 1) {
        complain(l, from, "unexpected byte %d: the text is not UTF-8", a);
    } else if (n == 3 && !memcmp(from, "\xe2\x80", 2) && ((unsigned char)from[2] & 0xf0) == 0x90) {
        complain(l, from, "unexpected character '%.*s': strings are written in straight double quotes", n, from);
    } else {
        complain(l, from, "unexpected character '%.*s': names are of the letters a-z and A-Z, digits and _", n, from);
    }
}

static void token(Lexer *l) {
    char c = *l->s;
    if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)) && !ends_operand(last(l)))) lex_number(l);
    else if (c == '_' && peek(l, 1) == '_' && peek(l, 2) == '=' && peek(l, 3) != '=') lex_mark(l);
    else if (c == '_' && !is_word(peek(l, 1))) underscore(l);
    else if (is_letter(c)) word(l);
    else if (c == '"') lex_string(l);
    else if (c == '\'') apostrophe(l);
    else if (c == '$') meta(l);
    else if (c == '`') push_token(l, T_CELL, l->s, l->s + 1), l->s++, track_bracket(l, T_CELL);
    else if ((unsigned char)c >= 0x80) foreign(l);
    else lex_mark(l);
}

/* -- formatted strings --------------------------------------------------------------------------------------------- */
/* Lexes the characters up to the next value or the end.  A doubled quote or brace is one. */
static void lex_piece(Lexer *l) {
    const char *from = l->s;
    for (; l->s < l->end && *l->s != '\n'; l->s++) {
        bool mark = *l->s == '"' || *l->s == '{' || *l->s == '}';
        if (*l->s == 0) complain(l, l->s, "a NUL byte in a string");
        if (mark && peek(l, 1) == *l->s) l->s++;
        else if (mark && *l->s != '}') break;
        else if (mark) complain(l, l->s, "a brace in the text of f\"…\" is written }}");
    }
    push_token(l, T_PIECE, from, l->s);
}

static bool line_has_quote(const Lexer *l) {
    const char *s = l->s;
    while (s < l->end && *s != '\n' && *s != '"') s++;
    return s < l->end && *s == '"';
}

/* Lexes the expression of a value, up to the } or : behind it.  The : of a ? : belongs to the expression. */
static void lex_formatted(Lexer *l) {
    uint32_t nopen = l->nopen;
    for (int choices = 0;;) {
        skip_blanks(l);
        char c = peek(l, 0);
        bool outside = l->nopen <= nopen;
        if (!c || c == '\n' || c == '%' || (outside && c == '}')) return;
        if (outside && c == '?' && peek(l, 1) != '?') choices++;
        if (outside && c == ':' && choices-- == 0) return;
        if (c == '"') { /* the last quote of the line ends the whole */
            l->s++;
            bool begins = line_has_quote(l);
            l->s--;
            if (!begins) return;
        }
        token(l);
    }
}

static void lex_spec(Lexer *l) {
    const char *from = ++l->s;
    while (l->s < l->end && *l->s != '\n' && *l->s != '}' && *l->s != '"') l->s++;
    push_token(l, T_SPEC, from, l->s);
}

/* Lexes {x} or {x:.3f}.  false: it is not closed. */
static bool lex_value(Lexer *l) {
    const char *brace = l->s++;
    uint32_t nopen = l->nopen, opener = l->open[nopen - 1];
    lex_formatted(l);
    l->nopen = nopen;
    l->open[nopen - 1] = opener; /* unless brackets match, the parser reports them */
    if (peek(l, 0) == ':') lex_spec(l);
    if (peek(l, 0) == '}') return l->s++, true;
    complain(l, brace, "'{' is not closed by '}'; a brace in the text of f\"…\" is written {{");
    return false;
}

/* Lexes f"…{x}…".  `from` is the f, and the current character is the quote. */
static void lex_format(Lexer *l, const char *from) {
    if (l->formats == MAX_FORMATS) {
        complain(l, from, "more than %d formatted strings inside each other", MAX_FORMATS);
        skip_comment(l);
        return;
    }
    l->formats++;
    push_token(l, T_FORMAT, from, ++l->s);
    open_bracket(l);
    lex_piece(l);
    bool closed = true;
    while (closed && peek(l, 0) == '{') {
        closed = lex_value(l);
        if (closed) lex_piece(l);
    }
    const char *end = l->s;
    if (peek(l, 0) == '"') l->s++;
    else if (closed) complain(l, from, "the string is not closed: a \" is missing before the end of the line");
    push_token(l, T_ENDFORMAT, end, l->s);
    close_bracket(l, T_FORMAT);
    l->formats--;
}

void qlex_run(Unit *u, TokenList *out) {
    const Source *src = u->src;
    Lexer l = {.ctx = u->ctx,
               .u = u,
               .text = src->text,
               .s = src->text,
               .end = src->text + src->len,
               .line_start = true,
               .out = out};
    if (src->len >= 3 && !memcmp(src->text, "\xef\xbb\xbf", 3)) l.s += 3;
    if (l.end - l.s >= 2 && !memcmp(l.s, "#!", 2)) skip_comment(&l); /* skips #!/usr/bin/env qrun */
    for (;;) {
        skip_blanks(&l);
        if (l.s == l.end) break;
        if (*l.s == '%') comment(&l);
        else if (*l.s == '\n') end_line(&l), l.s++;
        else token(&l);
    }
    end_line(&l);
    push_token(&l, T_EOF, l.s, l.s);
    qmem_free(l.ctx, l.open, l.cap_open * sizeof *l.open);
}

void qlex_free(Ctx *c, TokenList *l) {
    qmem_free(c, l->at, l->cap * sizeof *l->at);
    qmem_free(c, l->errors, l->cap_errors * sizeof *l->errors);
    *l = (TokenList){0};
}
