/* The lexer: the tokens of a text, one line per side; values of numbers. */
#include "lang/syntax/lex.h"
#include "tests/unit/parse_help.h"

#include <math.h>

static void append_token(char *out, const char *text, const Token *t) {
    char one[128];
    int n = (int)(t->end - t->pos);
    switch (t->kind) {
    case T_NEWLINE: strcpy(one, "/"); break;
    case T_EOF: strcpy(one, "."); break;
    case T_IDENT: snprintf(one, sizeof one, "%.*s", n, text + t->pos); break;
    case T_NUMBER: snprintf(one, sizeof one, "#%.*s", n, text + t->pos); break;
    case T_STRING: snprintf(one, sizeof one, "%.*s", n, text + t->pos); break;
    default: snprintf(one, sizeof one, "<%.*s>", n, text + t->pos); break;
    }
    if (*out) strcat(out, " ");
    strcat(out, one);
}

static void tokens(const char *text, const char *expected) {
    Ctx c;
    char got[2048] = "";
    qctx_init(&c, 32);
    Unit u = {.ctx = &c, .src = qsource_add(&c, "t.q", text, strlen(text))};
    qarena_init(&u.arena, &c);
    TokenList l = {0};
    qlex_run(&u, &l);
    for (uint32_t i = 0; i < l.n; i++) append_token(got, text, &l.at[i]);
    for (uint32_t i = 0; i < l.nerrors; i++) strcat(got, " !");
    compare(text, expected, got);
    qlex_free(&c, &l);
    qarena_free(&u.arena);
    qctx_close(&c);
}

static void number(const char *text, double value, bool imaginary, bool integer) {
    bool i, whole;
    double v = qlex_number(text, strlen(text), &i, &whole);
    if (v == value && i == imaginary && whole == integer) return;
    failures++;
    printf("%s: got %.17g %d %d\n", text, v, i, whole);
}

static void numbers(void) {
    number("0", 0, false, true);
    number("42", 42, false, true);
    number("1011011b", 91, false, true);
    number("17o", 15, false, true);
    number("0FFh", 255, false, true);
    number("0ffH", 255, false, true);
    number("1e5h", 0x1e5, false, true);
    number("3j", 3, true, true);
    number("2.5i", 2.5, true, false);
    number("0.", 0, false, false);
    number(".5", 0.5, false, false);
    number("1e3", 1000, false, false);
    number("1.9e-4", 1.9e-4, false, false);
    number("0.1", 0.1, false, false);
    number("123456789012345", 123456789012345.0, false, true);
    number("9007199254740993", 9007199254740992.0, false, true);
    number("0.123456789012345678901", 0.123456789012345678901, false, false);
    number("2.2250738585072011e-308", 2.2250738585072011e-308, false, false);
    number("1e400", INFINITY, false, false);
}

static void integer(const char *text, IntLiteral kind, uint64_t bits) {
    uint64_t got = 0;
    IntLiteral k = qlex_integer(text, strlen(text), &got);
    if (k == kind && got == bits) return;
    failures++;
    printf("%s: got %d %llu\n", text, k, (unsigned long long)got);
}

/* Integers are kept exactly, in every radix, or are reported as too long. */
static void integers(void) {
    integer("0", INT_AS_DOUBLE, 0);
    integer("9007199254740992", INT_AS_DOUBLE, 0);
    integer("9007199254740993", INT_AS_INT64, 9007199254740993u);
    integer("0009007199254740993", INT_AS_INT64, 9007199254740993u);
    integer("20000000000001h", INT_AS_INT64, 9007199254740993u);
    integer("400000000000000001o", INT_AS_INT64, 9007199254740993u);
    integer("100000000000000000000000000000000000000000000000000001b", INT_AS_INT64, 9007199254740993u);
    integer("9223372036854775807", INT_AS_INT64, INT64_MAX);
    integer("9223372036854775808", INT_AS_DOUBLE, 0);
    integer("9223372036854775809", INT_AS_UINT64, 9223372036854775809u);
    integer("18446744073709551615", INT_AS_UINT64, UINT64_MAX);
    integer("0FFFFFFFFFFFFFFFEh", INT_AS_UINT64, UINT64_MAX - 1);
    integer("18446744073709551616", INT_AS_DOUBLE, 0);
    integer("00018446744073709551616", INT_AS_DOUBLE, 0);
    integer("18446744073709551617", INT_TOO_LONG, 0);
    integer("10000000000000001h", INT_TOO_LONG, 0);
    integer("100000000000000000000000h", INT_AS_DOUBLE, 0);
    integer("10000000000000000000000", INT_AS_DOUBLE, 0);
    integer("100000000000000000000000", INT_TOO_LONG, 0);
    integer("18446744073709551617.0", INT_AS_DOUBLE, 0);
    integer("18446744073709551617e0", INT_AS_DOUBLE, 0);
    integer("9007199254740993e2", INT_AS_DOUBLE, 0);
    integer("9007199254740992j", INT_AS_DOUBLE, 0);
    integer("9007199254740993j", INT_TOO_LONG, 9007199254740993u);
    char text[401];
    memset(text, '9', 400);
    text[400] = 0;
    integer(text, INT_TOO_LONG, 0);
    text[399] = 'h';
    integer(text, INT_TOO_LONG, 0);
}

static void brackets(void) {
    Ctx c;
    qctx_init(&c, 32);
    const char *text = "f([1,(2)],{3}) (4]";
    Unit u = {.ctx = &c, .src = qsource_add(&c, "t.q", text, strlen(text))};
    qarena_init(&u.arena, &c);
    TokenList l = {0};
    qlex_run(&u, &l);
    static const uint32_t partner[] = {0, 13, 8, 0, 0, 7, 0, 0, 0, 0, 12};
    for (uint32_t i = 0; i < sizeof partner / sizeof *partner; i++)
        if (l.at[i].match != partner[i]) failures++, printf("token %u: match %u\n", i, l.at[i].match);
    if (l.at[14].match != 0) failures++;
    qlex_free(&c, &l);
    qarena_free(&u.arena);
    qctx_close(&c);
}

int main(void) {
    tokens("", ".");
    tokens("\n\n% only\n", ".");
    tokens("a\n\n\nb", "a / b / .");
    tokens("0..2", "#0 <..> #2 / .");
    tokens("0...5", "#0 <..> #.5 / .");
    tokens("10.0.^x", "#10.0 <.^> x / .");
    tokens("1./(1+x)", "#1 <./> <(> #1 <+> x <)> / .");
    tokens("2.*x", "#2 <.*> x / .");
    tokens("0.0..1/(2^p-1)..1.0", "#0.0 <..> #1 </> <(> #2 <^> p <-> #1 <)> <..> #1.0 / .");
    tokens("2^-n", "#2 <^> <-> n / .");
    tokens("x[1].f", "x <[> #1 <]> <.> f / .");
    tokens("1.e5+1.", "#1.e5 <+> #1. / .");
    tokens("3j+1i+2e", "#3j <+> #1i <+> #2e / . !");
    tokens("a<=b>=c!=d==e", "a <<=> b <>=> c <!=> d <==> e / .");
    tokens("a<-1", "a <<> <-> #1 / .");
    tokens("x .^= y __= z ^^= w", "x <.^=> y <__=> z <^^=> w / .");
    tokens("__kernel__ _a a_ _", "<__kernel__> _a a_ / .");
    tokens("a -> b:=c ?? d|e", "a <->> b <:=> c <\?\?> d <|> e / .");
    tokens("a + % why\n b", "a <+> b / .");
    tokens("a _ % why\n b", "a b / .");
    tokens("[a,_] = f", "<[> a <,> <_> <]> <=> f / .");
    tokens("f(a\n,b\n)\nc", "f <(> a <,> b <)> / c / .");
    tokens("f(a\nend", "f <(> a / <end> / .");
    tokens("f(a,\nend := 1)", "f <(> a <,> <end> <:=> #1 <)> / .");
    tokens("a,\nb;c", "a <,> / b <;> c / .");
    tokens("x = \"a\"\"b\" % \"c\"", "x <=> \"a\"\"b\" / .");
    tokens("\"C:\\dir\\\"", "\"C:\\dir\\\" / .");
    tokens("\"open\nb", "\"open / b / . !");
    tokens("mat'circular", "mat <'> circular / .");
    tokens("cube' clamped'hwtex_const", "cube <'> clamped <'> hwtex_const / .");
    tokens("step : 'unchecked", "step <:> <'> unchecked / .");
    tokens("x = 'text'", "x <=> 'text' / . !");
    tokens("`a,b'", "<`> a <,> b <'> / .");
    tokens("`a,b\xc2\xb4 `c\xb4", "<`> a <,> b <\xc2\xb4> <`> c <\xb4> / .");
    tokens("`vec'const,b'", "<`> vec <'> const <,> b <'> / .");
    tokens("a\xc2\xa0\xa0+b\r\nc % \xe9\xff\r\n", "a <+> b / c / .");
    tokens("\xef\xbb\xbfx", "x / .");
    tokens("a # b & c @ \\ ~ \x01 \xe9", "a b c / . ! ! ! ! ! ! !");
    tokens("$diff(x) $ x", "<$diff> <(> x <)> x / . !");
    tokens("if endif match with until", "<if> <endif> <match> <with> <until> / .");
    tokens("type print class mutable", "type print class mutable / .");
    tokens("{!parallel for}", "<{> <!> parallel <for> <}> / .");
    numbers();
    integers();
    brackets();
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
