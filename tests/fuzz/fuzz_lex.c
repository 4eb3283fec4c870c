/* libFuzzer entry: tokens are in order inside the text, brackets point forward, and the array ends with EOF. */
#include "lang/syntax/lex.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const TokenList *l, size_t size) {
    if (l->n == 0 || l->at[l->n - 1].kind != T_EOF) abort();
    for (uint32_t i = 0; i < l->n; i++) {
        const Token *t = &l->at[i];
        if (t->end < t->pos || t->end > size || (i && t->pos < l->at[i - 1].end)) abort();
        if (t->match && (t->match <= i || t->match >= l->n)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Ctx c;
    qctx_init(&c, 32);
    Unit u = {.ctx = &c, .src = qsource_add(&c, "fuzz.q", (const char *)data, size)};
    qarena_init(&u.arena, &c);
    TokenList l = {0};
    qlex_run(&u, &l);
    check(&l, size);
    for (uint32_t i = 0; i < l.n; i++) {
        bool imaginary, integer;
        uint64_t bits;
        if (l.at[i].kind != T_NUMBER) continue;
        (void)qlex_number(u.src->text + l.at[i].pos, l.at[i].end - l.at[i].pos, &imaginary, &integer);
        (void)qlex_integer(u.src->text + l.at[i].pos, l.at[i].end - l.at[i].pos, &bits);
    }
    qlex_free(&c, &l);
    qarena_free(&u.arena);
    qctx_close(&c);
    return 0;
}
