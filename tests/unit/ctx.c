/* The memory interface, the error state, arenas, text and source reports. */
#include "tests/unit/check.h"
#include "vm/base/str.h"

static void memory(Ctx *c) {
    size_t before = c->bytes;
    char *p = qmem_alloc(c, 10);
    CHECK(p[9] == 0 && c->bytes == before + 10);
    p = qmem_resize(c, p, 10, 100);
    CHECK(p[99] == 0 && c->bytes == before + 100);
    qmem_free(c, p, 100);
    qmem_free(c, NULL, 100);
    CHECK(c->bytes == before);
    void *q = qmem_try(c, 0), *r = qmem_try(c, 65);
    CHECK(q && r && (uintptr_t)q % 64 == 0 && (uintptr_t)r % 64 == 0);
    qmem_try_free(c, q, 0);
    qmem_try_free(c, r, 65);
    CHECK(qmem_try(c, SIZE_MAX) == NULL && qmem_try(c, SIZE_MAX / 2) == NULL && c->bytes == before);
    c->fail_after = 2;
    CHECK((q = qmem_try(c, 8)) != NULL && qmem_try(c, 8) == NULL && (r = qmem_try(c, 8)) != NULL);
    qmem_try_free(c, q, 8);
    qmem_try_free(c, r, 8);
    int *v = NULL;
    uint32_t cap = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        qmem_grow(c, &v, &cap, i, sizeof *v);
        CHECK(v[i] == 0);
        v[i] = (int)i;
    }
    CHECK(v[999] == 999 && v[0] == 0);
    qmem_free(c, v, cap * sizeof *v);
    CHECK(c->bytes == before);
}

static qs_status tried(Ctx *c) {
    TRY(qerr_set(c, QS_EVALUE, "x must be > %d", 3));
    return QS_OK;
}

static void errors(Ctx *c) {
    Source *src = qsource_add(c, "a.q", "x = 1\ny = 2\n", 12);
    CHECK(tried(c) == QS_EVALUE);
    CHECK(qerr_set(c, QS_ETYPE, "second") == QS_ETYPE);
    CHECK_TEXT(c->err.text, "x must be > 3");
    CHECK(c->err.status == QS_EVALUE && !c->err.placed);
    qerr_location(c, (Where){src, 6});
    qerr_location(c, (Where){src, 0});
    CHECK(c->err.placed && c->err.where.pos == 6);
    for (uint32_t i = 0; i < 20; i++) qerr_frame(c, (Where){src, i}, NULL);
    CHECK(c->err.nframes == QERR_FRAMES && c->err.nlost == 4 && c->err.frames[15].where.pos == 15);
    qerr_clear(c);
    CHECK(c->err.status == QS_OK && c->err.text[0] == 0 && !c->err.placed && c->err.nframes == 0);
    qerr_location(c, (Where){src, 6});
    CHECK(!c->err.placed);
    CHECK(qerr_at(c, QS_EINDEX, (Where){src, 4}, "%0*d", 5000, 0) == QS_EINDEX);
    CHECK(strlen(c->err.text) == QERR_TEXT - 1 && !strcmp(c->err.text + QERR_TEXT - 4, "…"));
    qerr_clear(c);
}

static void arenas(Ctx *c) {
    size_t before = c->bytes;
    Arena a;
    qarena_init(&a, c);
    char *big = NULL;
    for (size_t i = 0; i < 3000; i++) {
        size_t n = i % 97;
        char *p = qarena_alloc(&a, n);
        CHECK((uintptr_t)p % 16 == 0 && (n == 0 || (p[0] == 0 && p[n - 1] == 0)));
        memset(p, 1, n);
        if (i == 1500) big = qarena_alloc(&a, 100000);
    }
    CHECK(big[0] == 0 && big[99999] == 0);
    qarena_free(&a);
    CHECK(c->bytes == before && a.block == NULL);
    big = qarena_alloc(&a, 200000);
    CHECK(big[199999] == 0);
    qarena_free(&a);
    CHECK(c->bytes == before);
}

static void texts(Ctx *c) {
    Text t;
    qtext_init(&t, c);
    qtext_add(&t, "", 0);
    CHECK_TEXT(t.s, "");
    qtext_puts(&t, "ab");
    qtext_putc(&t, 'c');
    qtext_pad(&t, '-', 3);
    qtext_printf(&t, "%d|%0*d|", 42, 300, 7);
    CHECK(t.len == 6 + 3 + 301 && t.s[t.len] == 0 && !strncmp(t.s, "abc---42|000", 12) && t.s[t.len - 2] == '7');
    qtext_free(&t);
    CHECK(t.s == NULL);
}

static void reported(Ctx *c, const char *text, uint32_t pos, const char *want) {
    Text t;
    qtext_init(&t, c);
    qsource_report(&t, (Where){qsource_add(c, "f.q", text, strlen(text)), pos}, "error", "wrong");
    CHECK_TEXT(t.s, want);
    qtext_free(&t);
}

static void sources(Ctx *c) {
    int line, col;
    Source *s = qsource_add(c, "b.q", "one\n\tzwo\r\n", 10);
    qsource_line_col(s, 0, &line, &col);
    CHECK(line == 1 && col == 1);
    qsource_line_col(s, 5, &line, &col);
    CHECK(line == 2 && col == 2);
    qsource_line_col(s, 999, &line, &col);
    CHECK(line == 3 && col == 1);
    reported(c, "one\nx = yy\n", 8, "f.q:2:5: error: wrong\nx = yy\n    ^\n");
    reported(c, "\tä = \ty\r\n", 7, "f.q:1:8: error: wrong\n\tä = \ty\n\t    \t^\n");
    reported(c, "a\xe9z\x1b+", 4, "f.q:1:5: error: wrong\na?z +\n    ^\n");
    reported(c, "abc", 99, "f.q:1:4: error: wrong\nabc\n   ^\n");
    reported(c, "abc\n", 99, "f.q:2:1: error: wrong\n");
    reported(c, "", 0, "f.q:1:1: error: wrong\n");
    Text t;
    qtext_init(&t, c);
    qsource_report(&t, (Where){NULL, 0}, "warning", "odd");
    CHECK_TEXT(t.s, "warning: odd\n");
    qtext_free(&t);
}

/* The caret stays under the column however long the line is. */
static void long_lines(Ctx *c) {
    static char text[5001];
    for (int i = 0; i < 5000; i++) text[i] = (char)('a' + i % 26);
    Source *s = qsource_add(c, "l.q", text, 5000);
    for (uint32_t pos = 0; pos < 5000; pos += 7) {
        Text t;
        qtext_init(&t, c);
        qsource_report(&t, (Where){s, pos}, "error", "e");
        char *shown = strchr(t.s, '\n') + 1, *caret = strchr(shown, '\n') + 1;
        size_t at = strcspn(caret, "^"), skip = strncmp(shown, "…", 3) == 0 ? 2 : 0; /* "…" is 3 bytes, one column */
        CHECK(shown[at + skip] == text[pos] && strlen(shown) < 300);
        qtext_free(&t);
    }
}

int main(void) {
    Ctx c;
    qctx_init(&c, 32);
    CHECK(c.scalar_dtype == QS_F32);
    memory(&c);
    errors(&c);
    arenas(&c);
    texts(&c);
    sources(&c);
    long_lines(&c);
    qctx_close(&c);
    CHECK(c.bytes == 0);
    return check_done();
}
