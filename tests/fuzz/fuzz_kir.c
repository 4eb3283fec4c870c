/* libFuzzer entry: any text is read or rejected; text that the verifier accepts can be printed, read back, run and
 * compiled. */
#include "lang/kernel/codegen/emit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EXTENT = 2, ROOM = 1 << QS_MAX_RANK };

static void run(Ctx *c, Arena *arena, const KFunc *f) {
    static const Flag stop = 1; /* asked for now and then only, so short loops run to their end */
    KArg *args = qarena_alloc(arena, (size_t)f->nparams * sizeof *args);
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        args[i].bits = p->dtype == QS_B1 ? (uint64_t)i % 2 : (uint64_t)i;
        if (p->kind == KP_ARRAY) args[i].data = qarena_alloc(arena, ROOM * qdtype_size((qs_dtype)p->dtype));
        for (int d = p->rank - 1, s = 1; d >= 0; d--, s *= EXTENT) args[i].dims[d] = EXTENT, args[i].strides[d] = s;
    }
    KLaunch l = {.rank = f->rank};
    for (int d = 0; d < f->rank; d++) l.domain[d] = 3, l.block[d] = f->fixed_block ? f->block[d] : d < 2 ? 2 : 1;
    KFault fault;
    (void)keval_run(c, f, args, &l, &fault, &stop);
}

static void print_and_read_back(Ctx *c, Arena *arena, const KFunc *f) {
    Text t, again;
    KFunc *g;
    qtext_init(&t, c), qtext_init(&again, c);
    kir_print(f, &t);
    if (kir_parse(c, arena, t.s, t.len, &g) != QS_OK) abort();
    kir_print(g, &again);
    if (strcmp(t.s, again.s) != 0 || f->hash != g->hash) abort();
    qtext_free(&t), qtext_free(&again);
}

static void make_code(Ctx *c, const KFunc *f) {
    Text t;
    qtext_init(&t, c);
    if (kemit_opencl(c, f, &t, NULL) != QS_OK) abort();
    (void)kemit_llvm(c, f, &(KTarget){0}, &t);
    qtext_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Ctx c;
    Arena arena;
    KFunc *f;
    qctx_init(&c, 32);
    qarena_init(&arena, &c);
    if (kir_parse(&c, &arena, (const char *)data, size, &f) == QS_OK && kir_verify(&c, f) == QS_OK) {
        print_and_read_back(&c, &arena, f);
        make_code(&c, f);
        qerr_clear(&c);
        run(&c, &arena, f);
    }
    qarena_free(&arena);
    qctx_close(&c);
    return 0;
}
