/* parse_help.h -- shared by the tests of lexer, parser and scope: one context per snippet, readable failures. */
#ifndef TESTS_PARSE_HELP_H
#define TESTS_PARSE_HELP_H
#include "lang/syntax/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static inline void compare(const char *text, const char *expected, const char *got) {
    if (strcmp(expected, got) == 0) return;
    failures++;
    printf("---- %s\nexpected  %s\ngot       %s\n", text, expected, got);
}

/* The dump of a tree on one line: children in parentheses. */
static inline char *one_line(const char *dump) {
    char *out = malloc(2 * strlen(dump) + 2), *w = out;
    int depth = 0;
    for (const char *s = dump; *s;) {
        int indent = 0;
        while (*s == ' ') s++, indent++;
        indent /= 2;
        if (w > out && indent <= depth) {
            for (; depth > indent; depth--) *w++ = ')';
            *w++ = ' ';
        }
        for (; depth < indent; depth++) *w++ = '(';
        const char *e = strchr(s, '\n');
        size_t n = e ? (size_t)(e - s) : strlen(s);
        memcpy(w, s, n);
        w += n;
        s += n + (e != NULL);
    }
    while (depth-- > 0) *w++ = ')';
    *w = 0;
    return out;
}

/* "line:col: error: sentence" of every message, one per line. */
static inline char *sentences(const Unit *u) {
    const char *s = u->report.s ? u->report.s : "";
    char *out = malloc(strlen(s) + 1), *w = out;
    for (const char *e; *s; s = *e ? e + 1 : e) {
        e = strchr(s, '\n');
        if (!e) e = s + strlen(s);
        if (strncmp(s, "t.q:", 4) != 0) continue;
        if (w > out) *w++ = '\n';
        memcpy(w, s + 4, (size_t)(e - s - 4));
        w += e - s - 4;
    }
    *w = 0;
    return out;
}

static inline Unit *parse_text(Ctx *c, const char *text, size_t n) {
    Unit *u;
    qs_status s = qparse_unit(c, qsource_add(c, "t.q", text, n), &u);
    if ((s == QS_OK) != (u->nerrors == 0) || (s != QS_OK && c->err.status != QS_ESYNTAX))
        failures++, printf("status %d\n", s);
    return u;
}

static inline void parses_to(const char *text, const char *expected) {
    Ctx c;
    qctx_init(&c, 32);
    Unit *u = parse_text(&c, text, strlen(text));
    Text dump;
    qtext_init(&dump, &c);
    qast_print(u, &dump);
    char *got = u->nerrors ? sentences(u) : one_line(dump.s ? dump.s : "");
    compare(text, expected, got);
    free(got);
    qtext_free(&dump);
    qparse_free(u);
    qctx_close(&c);
}

static inline void complains(const char *text, const char *expected) {
    Ctx c;
    qctx_init(&c, 32);
    Unit *u = parse_text(&c, text, strlen(text));
    char *got = sentences(u);
    compare(text, expected, got);
    free(got);
    qparse_free(u);
    qctx_close(&c);
}
#endif
