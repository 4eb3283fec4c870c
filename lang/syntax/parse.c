/* parse.c -- implements token access, error reporting, error recovery and the entry points of the parser. */
#include "lang/syntax/parse.h"

#include "lang/syntax/parser.h"

#include <stdio.h>
#include <string.h>

/* -- tokens -------------------------------------------------------------------------------------------------------- */
void qparse_next(Parser *p) {
    if (p->k == T_ERROR || p->tok[p->i].kind == T_EOF) return;
    p->k = p->tok[++p->i].kind;
}

bool qparse_accept(Parser *p, TokenKind k) {
    if (p->k != k) return false;
    qparse_next(p);
    return true;
}

TokenKind qparse_peek(const Parser *p, uint32_t n) {
    uint32_t i = p->i;
    while (n-- > 0 && p->tok[i].kind != T_EOF) i++;
    return p->tok[i].kind;
}

TokenKind qparse_beyond(const Parser *p, uint32_t opener) {
    uint32_t m = p->tok[opener].match;
    return m ? p->tok[m + 1].kind : T_EOF;
}

static const char *token_text(const Parser *p) { return p->text + qparse_pos(p); }
static size_t token_length(const Parser *p) { return qparse_at(p)->end - qparse_at(p)->pos; }

bool qparse_is_word(const Parser *p, const char *word) {
    return p->k == T_IDENT && token_length(p) == strlen(word) && !memcmp(token_text(p), word, token_length(p));
}

bool qparse_at_word(const Parser *p) { return p->k == T_IDENT || qlex_is_keyword(p->k); }

Str *qparse_take_word(Parser *p) {
    Str *s = qstr_name(p->ctx, token_text(p), token_length(p));
    qparse_next(p);
    return s;
}

Str *qparse_name(Parser *p, const char *what) {
    if (p->k == T_IDENT) return qparse_take_word(p);
    if (qlex_is_keyword(p->k))
        qparse_fail(p, qparse_pos(p), "'%s' is a reserved word and cannot be %s", qlex_text(p->k), what);
    else qparse_expected(p, what);
    return qstr_cname(p->ctx, "?");
}

/* -- errors -------------------------------------------------------------------------------------------------------- */
int qparse_line(const Parser *p, uint32_t pos) {
    int line, col;
    qsource_line_col(p->u->src, pos, &line, &col);
    return line;
}

/* Reports the errors of the lexer up to the end of the line of `pos`, so that messages appear in source order, and one
 * for each line, because the others usually follow from it.  Returns true if the last one is in the current statement
 * and therefore explains an error of the parser there. */
static bool lexical_errors(Parser *p, uint32_t pos) {
    size_t len = p->u->src->len;
    const char *end = pos < len ? memchr(p->text + pos, '\n', len - pos) : NULL;
    bool explained = false;
    while (p->lex_error < p->tokens->nerrors && p->nreported < MAX_ERRORS) {
        const LexError *e = &p->tokens->errors[p->lex_error];
        if (end && e->pos > (uint32_t)(end - p->text)) break;
        bool again = p->lex_error && qparse_line(p, e->pos) == qparse_line(p, e[-1].pos);
        p->lex_error++;
        explained = e->pos >= p->tok[p->stmt].pos;
        if (again) continue;
        p->nreported++;
        qdiag_error(p->u, e->pos, "%s", e->sentence->s);
    }
    return explained;
}

static void report_error(Parser *p, uint32_t pos, const char *fmt, va_list ap) {
    if (p->k == T_ERROR) return;
    p->k = T_ERROR;
    if (!p->failed) {
        p->incomplete = p->tok[p->i].kind == T_EOF;
        if (p->quiet) vsnprintf(p->message, sizeof p->message, fmt, ap);
    }
    p->failed = true;
    if (p->quiet || p->stopped || lexical_errors(p, pos)) return;
    if (p->nreported++ >= MAX_ERRORS) {
        p->stopped = true;
        qdiag_error(p->u, pos, "too many errors; the rest is not shown");
        return;
    }
    qdiag_verror(p->u, QS_ESYNTAX, pos, fmt, ap);
}

void qparse_warn(Parser *p, uint32_t pos, const char *sentence) {
    if (p->quiet || p->stopped) return;
    lexical_errors(p, pos);
    qdiag_warning(p->u, pos, "%s", sentence);
}

void qparse_fail(Parser *p, uint32_t pos, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report_error(p, pos, fmt, ap);
    va_end(ap);
}

void qparse_fail_range(Parser *p, uint32_t pos) {
    qparse_fail(p, pos, "':' does not make a range: write first..last or first..step..last");
}

void qparse_stop(Parser *p, uint32_t pos, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report_error(p, pos, fmt, ap);
    va_end(ap);
    p->stopped = true;
}

static const char *describe_token(const Parser *p, char *buf, size_t size) {
    const Token *t = qparse_at(p);
    int n = t->end - t->pos > 40 ? 40 : (int)(t->end - t->pos);
    const char *s = p->text + t->pos;
    switch (t->kind) {
    case T_EOF:
    case T_NEWLINE: return qlex_text(t->kind);
    case T_STRING: snprintf(buf, size, "the string %.*s", n, s); break;
    case T_FORMAT:
    case T_PIECE:
    case T_SPEC:
    case T_ENDFORMAT: snprintf(buf, size, "the %s", qlex_text(t->kind)); break;
    case T_NUMBER: snprintf(buf, size, "the number %.*s", n, s); break;
    case T_IDENT: snprintf(buf, size, "the name '%.*s'", n, s); break;
    default: snprintf(buf, size, "'%.*s'", n, s); break;
    }
    return buf;
}

static const char *habit(const Parser *p, uint32_t i) {
    const Token *t = &p->tok[i];
    return t->kind == T_IDENT ? qdiag_habit(p->text + t->pos, t->end - t->pos) : NULL;
}

/* Returns the keyword that the name at the beginning of a statement resembles; NULL: none. */
static const char *nearly(Parser *p, const Token *t) {
    Nearest near = {.wanted = qstr_name(p->ctx, p->text + t->pos, t->end - t->pos)->s};
#define TOKEN(id, text)
#define KEYWORD(id, text, opens)                                                                                       \
    if (opens) qstr_offer(&near, text);
#define PUNCT(id, text, goes_on)
#include "lang/syntax/tokens.def"
    qstr_offer(&near, "print");
    return near.best;
}

/* Returns a hint for two words in a row: a word of another language, a misspelt keyword, or a call in shell syntax. */
static const char *advice_on_words(Parser *p, char *buf, size_t size) {
    uint32_t i = p->i;
    const char *hint = habit(p, i);
    bool command = i && p->tok[i - 1].kind == T_IDENT && p->tok[i - 1].first;
    if (!hint && i) hint = habit(p, i - 1);
    if (!hint && command && (hint = nearly(p, &p->tok[i - 1]))) {
        snprintf(buf, size, " (did you mean '%s'?)", hint);
        return buf;
    }
    if (!hint) return command ? " (a call is written name(x))" : "";
    snprintf(buf, size, " (%s)", hint);
    return buf;
}

/* Returns a hint for ':' at the end of a block header or in a range. */
static const char *advice_on_colon(const Parser *p) {
    const Token *next = &p->tok[p->i + 1];
    if (next->first || next->kind == T_NEWLINE || next->kind == T_EOF) return " (no ':' is needed)";
    return " (a range is written first..last or first..step..last)";
}

/* Returns a hint for x[i]++ and x[i]--, which end in an operator without its second operand. */
static const char *after_increment(const Parser *p) {
    TokenKind k = p->i > 1 ? p->tok[p->i - 1].kind : T_NEWLINE;
    bool twice = (k == T_OP(OP_ADD) || k == T_OP(OP_SUB)) && p->tok[p->i - 2].kind == k;
    return !twice ? "" : k == T_OP(OP_ADD) ? " (write += 1)" : " (write -= 1)";
}

/* Returns a hint if a comment begins where the expression ends: "%d" % 3. */
static const char *after_comment(const Parser *p) {
    const char *at = p->i ? p->text + p->tok[p->i - 1].end : "";
    at += strspn(at, " \t");
    return *at == '%' ? " (% begins a comment: mod(a, b) is a remainder, and printf(format, x) fills in x)" : "";
}

/* Returns a hint for syntax of other languages, recognized by the unexpected token. */
static const char *advice(Parser *p, char *buf, size_t size) {
    TokenKind before = p->i ? p->tok[p->i - 1].kind : T_NEWLINE, next = qparse_peek(p, 1);
    bool begins = qparse_at(p)->first; /* a new statement after an unclosed bracket */
    const char *command = p->i > 1 && before == T_RANGE ? habit(p, p->i - 2) : NULL; /* cd .. */
    if (command) return snprintf(buf, size, " (%s)", command), buf;
    if (*after_increment(p)) return after_increment(p);
    switch (qparse_at(p)->kind) {
    case T_COLON: return advice_on_colon(p);
    case T_NAMED: return " (an assignment is written with =)";
    case T_LBRACE: return " (a block has no braces: it closes with end)";
    case T_ASSIGN: return " (== compares; a named argument is written name := value)";
    case T_QUOTE: return " (transposition is transpose(x); strings are written in double quotes)";
    case T_BAR: return " (write a || b, or or(a,b) for bits)";
    case T_OP(OP_DIV):
        return before == T_OP(OP_DIV) || next == T_OP(OP_DIV) || next == T_OP(OP_MUL)
                   ? " (comments begin with %; floor(a/b) divides integers)"
                   : "";
    case T_OP(OP_MUL): return before == T_OP(OP_MUL) ? " (the power operator is ^)" : "";
    case T_OP(OP_LT): return before == T_OP(OP_LT) ? " (write shl(a, n))" : "";
    case T_OP(OP_GT):
        if (before == T_ASSIGN) return " (a lambda is written x -> x+1)";
        return before == T_OP(OP_GT) ? " (write shr(a, n))" : "";
    case T_OP(OP_SUB): return before == T_COLON ? advice_on_colon(p) : "";
    case T_LPAREN: return before == T_FOR ? " (write for i = first..last, without parentheses)" : "";
    case T_RANGE: return " (a range has both ends: x[0..2])";
    case T_COMMA:
    case T_RBRACK: return before == T_RANGE ? " (a range has both ends: x[1..numel(x)-1])" : "";
    case T_NEWLINE:
    case T_EOF: return after_comment(p);
    case T_IF: return begins ? "" : " (a choice is written condition ? a : b)";
    case T_FOR: return begins ? "" : " (operators work on whole arrays: (0..3).^2)";
    case T_END:
        if (begins || (before != T_LPAREN && before != T_COMMA)) return "";
        return " (elements are read with brackets; the last one is x[numel(x)-1])";
    case T_IDENT:
    case T_STRING:
    case T_FORMAT:
    case T_NUMBER: return advice_on_words(p, buf, size);
    default:
        return qlex_is_inplace(qparse_at(p)->kind)
                   ? " (an assignment has no value: in kernels atomic_add(x[i], v) gives the element before)"
                   : "";
    }
}

void qparse_expected(Parser *p, const char *what) {
    char found[80], hint[160];
    qparse_fail(p, qparse_pos(p), "expected %s, found %s%s", what, describe_token(p, found, sizeof found),
                advice(p, hint, sizeof hint));
}

bool qparse_expect(Parser *p, TokenKind k, const char *where) {
    if (qparse_accept(p, k)) return true;
    char what[96];
    snprintf(what, sizeof what, "'%s' %s", qlex_text(k), where);
    qparse_expected(p, what);
    return false;
}

void qparse_close(Parser *p, TokenKind k, uint32_t opener, const char *or_what) {
    if (qparse_accept(p, k) || p->k == T_ERROR) return;
    int line =
        p->quiet ? 0 : qparse_line(p, p->tok[opener].pos); /* counting lines is too slow for a speculative parse */
    char what[96];
    if (p->quiet || line == qparse_line(p, qparse_pos(p))) snprintf(what, sizeof what, "%s'%s'", or_what, qlex_text(k));
    else
        snprintf(what, sizeof what, "%s'%s' for the '%s' of line %d", or_what, qlex_text(k),
                 qlex_text(p->tok[opener].kind), line);
    qparse_expected(p, what);
}

static bool opens_bracket(TokenKind k) { return k == T_LPAREN || k == T_LBRACK || k == T_LBRACE || k == T_CELL; }

/* Skips to the end of the statement.  Brackets around or after the error are skipped as a whole, so that a `;` in a
 * lambda body does not end the statement.  After an unclosed bracket there are no NEWLINE tokens; there the first token
 * of a line begins a new statement. */
void qparse_resync(Parser *p) {
    if (p->k != T_ERROR) return;
    if (p->stopped) {
        while (p->tok[p->i].kind != T_EOF) p->i++;
        p->k = T_EOF;
        return;
    }
    bool unclosed = false;
    for (uint32_t j = p->stmt; j < p->i; j++) {
        if (p->tok[j].match > p->i) j = p->i = p->tok[j].match;
        else if (opens_bracket(p->tok[j].kind) && !p->tok[j].match) unclosed = true;
    }
    for (;; p->i++) {
        const Token *t = qparse_at(p);
        if (t->kind == T_EOF || t->kind == T_NEWLINE || t->kind == T_SEMI) break;
        if (t->first && p->i > p->stmt && (unclosed || qlex_opens(t->kind))) break;
        if (opens_bracket(t->kind) && !t->match) unclosed = true;
        if (t->match) p->i = t->match;
    }
    p->k = p->tok[p->i].kind;
}

bool qparse_enter(Parser *p) {
    if (++p->depth <= MAX_DEPTH) return true;
    qparse_stop(p, qparse_pos(p), "nested more than %d levels deep", MAX_DEPTH);
    return false;
}

Node *qparse_grown(Parser *p, Node *n, int height) {
    p->height = height + 1;
    if (p->height > MAX_HEIGHT)
        qparse_stop(p, n->pos, "an expression of more than %d operations in a chain: split it into statements",
                    MAX_HEIGHT);
    return n;
}

ParseMark qparse_try(Parser *p) {
    p->quiet++;
    return (ParseMark){p->i, p->nscratch, p->k, p->failed, p->incomplete, p->stopped, p->depth, p->func};
}

bool qparse_tried(Parser *p, ParseMark m, bool keep) {
    p->quiet--;
    if (p->k != T_ERROR && keep) return true;
    p->i = m.i, p->k = m.k, p->nscratch = m.nscratch, p->func = m.func, p->depth = m.depth;
    p->failed = m.failed, p->incomplete = m.incomplete, p->stopped = m.stopped;
    return false;
}

/* -- lists and nodes ----------------------------------------------------------------------------------------------- */
void qparse_push(Parser *p, const void *item, size_t size) {
    qmem_grow(p->ctx, &p->scratch, &p->cap_scratch, p->nscratch + (uint32_t)size, 1);
    memcpy(p->scratch + p->nscratch, item, size);
    p->nscratch += (uint32_t)size;
}

void *qparse_take(Parser *p, uint32_t mark, size_t size, int *n) {
    size_t bytes = p->nscratch - mark;
    *n = (int)(bytes / size);
    if (bytes == 0) return NULL;
    void *at = qast_alloc(p->u, bytes);
    memcpy(at, p->scratch + mark, bytes);
    p->nscratch = mark;
    return at;
}

NodeList qparse_take_nodes(Parser *p, uint32_t mark) {
    NodeList l;
    l.at = qparse_take(p, mark, sizeof(Node *), &l.n);
    return l;
}

void qparse_append(Parser *p, void *list, int *n, void *item) {
    *(void **)qast_append(p->u, list, n, sizeof item) = item;
}

Func *qparse_func(Parser *p, FuncQual qual, Str *name, uint32_t pos) {
    Func *f = qast_alloc(p->u, sizeof *f);
    f->name = name;
    f->id = ++p->ctx->nfuncs;
    f->qual = (uint8_t)qual;
    f->pos = pos;
    f->unit = p->u;
    f->parent = p->func && p->func->is_main_body ? NULL : p->func;
    return f;
}

/* -- entry points -------------------------------------------------------------------------------------------------- */
static Unit *new_unit(Ctx *c, Source *src) {
    Unit *u = qmem_alloc(c, sizeof *u);
    u->ctx = c;
    u->src = src;
    qarena_init(&u->arena, c);
    qtext_init(&u->report, c);
    u->main = qast_alloc(u, sizeof *u->main);
    u->main->name = qstr_cname(c, "main program");
    u->main->id = ++c->nfuncs;
    u->main->unit = u;
    u->main->is_main_body = true;
    return u;
}

void qparse_free(Unit *u) {
    if (!u) return;
    qtext_free(&u->report);
    qarena_free(&u->arena);
    qmem_free(u->ctx, u, sizeof *u);
}

static void start_parser(Parser *p, Unit *u, TokenList *tokens, int quiet) {
    qlex_run(u, tokens);
    *p = (Parser){.u = u,
                  .ctx = u->ctx,
                  .text = u->src->text,
                  .tok = tokens->at,
                  .tokens = tokens,
                  .k = tokens->at[0].kind,
                  .quiet = quiet,
                  .func = u->main};
}

static void finish_parser(Parser *p, TokenList *tokens) {
    qmem_free(p->ctx, p->scratch, p->cap_scratch);
    qlex_free(p->ctx, tokens);
}

qs_status qparse_unit(Ctx *c, Source *src, Unit **out) {
    Unit *u = *out = new_unit(c, src);
    if (src->len >= UINT32_MAX / 16) {
        qdiag_error(u, 0, "a source of %zu bytes is too long", src->len);
        return QS_ESYNTAX;
    }
    TokenList tokens = {0};
    Parser p;
    start_parser(&p, u, &tokens, 0);
    qstmt_program(&p);
    lexical_errors(&p, UINT32_MAX);
    finish_parser(&p, &tokens);
    return u->nerrors ? QS_ESYNTAX : QS_OK;
}

static Source *loose_source(Arena *a, const char *text, size_t n) { /* freed with its unit */
    Source *src = qarena_alloc(a, sizeof *src);
    src->text = qarena_alloc(a, n + 1);
    memcpy(src->text, text, n);
    src->len = n;
    src->path = (char *)"";
    src->internal = true;
    return src;
}

bool qparse_incomplete(Ctx *c, const char *text, size_t n) {
    Unit *u = new_unit(c, NULL);
    u->src = loose_source(&u->arena, text, n);
    TokenList tokens = {0};
    Parser p;
    start_parser(&p, u, &tokens, 1);
    qstmt_program(&p);
    bool command = tokens.n == 3 && tokens.at[1].kind == T_RANGE && habit(&p, 0); /* cd .. */
    bool incomplete = tokens.nerrors == 0 && !command && (p.failed ? p.incomplete : tokens.goes_on);
    finish_parser(&p, &tokens);
    qparse_free(u);
    return incomplete;
}

qs_status qparse_type(Ctx *c, const char *text, size_t n, Unit **unit, TypeExpr **out) {
    Unit *u = *unit = new_unit(c, NULL);
    u->src = loose_source(&u->arena, text, n);
    TokenList tokens = {0};
    Parser p;
    start_parser(&p, u, &tokens, 1);
    *out = qtexpr_type(&p);
    qparse_accept(&p, T_NEWLINE);
    if (p.k != T_EOF) qparse_expected(&p, "the end of the type");
    bool bad = p.failed || tokens.nerrors;
    finish_parser(&p, &tokens);
    if (!bad) return QS_OK;
    qparse_free(u);
    *unit = NULL;
    *out = NULL;
    return qerr_set(c, QS_ESYNTAX, "\"%.*s\" is not a type%s%s", n > 60 ? 60 : (int)n, text, p.message[0] ? ": " : "",
                    p.message);
}
