#include "tests/support/kir_gen.h"

#include <stdio.h>
#include <stdlib.h>

void kgen_each(Ctx *c, uint64_t first, uint64_t n, uint64_t step, unsigned features, KTry *f) {
    for (uint64_t i = first; i < first + n; i += step) {
        Arena arena;
        qarena_init(&arena, c);
        KCase *k = features ? kgen_random(c, &arena, i, features) : kgen_suite(c, &arena, (int)i);
        if (k) f(k, features ? "seed" : "case", i);
        else printf("  case %llu was not made: %s\n", (unsigned long long)i, c->err.text), exit(1);
        qarena_free(&arena);
    }
}

void kgen_program(Ctx *c, int argc, char **argv, uint64_t count, unsigned features, KTry *f) {
    if (argc < 2) kgen_each(c, 0, (uint64_t)kgen_suite_size(), 1, 0, f);
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 10) : count;
    kgen_each(c, first, n, 1, features, f);
}

bool kgen_agrees(KCase *k, qs_status (*run)(KCase *), const char *kind, uint64_t number) {
    Text why;
    qtext_init(&why, k->ctx);
    KCase *got = kgen_copy(k);
    bool ok = kgen_evaluate(k) == QS_OK && run(got) == QS_OK && kgen_same(k, got, &why);
    if (!ok)
        printf("  %s %llu (%s): %s%s\n", kind, (unsigned long long)number, k->what ? k->what : "", k->ctx->err.text,
               why.len ? why.s : "");
    qerr_clear(k->ctx);
    qtext_free(&why);
    return ok;
}
