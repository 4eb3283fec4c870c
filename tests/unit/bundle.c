/* bundle.c -- opens compiled programs that are truncated at every length, or changed in thousands of ways. */
#include "devices/bundle.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <string.h>

static Ctx ctx;
enum { CHANGES = 20000 };

static void make(Text *out) {
    BundleMaker *m = qbundle_maker(&ctx);
    qbundle_add_module(m, "a.q", "import \"b.q\"\n", 13, false);
    qbundle_add_import(m, "b.q", 1);
    qbundle_add_module(m, "b.q", "x = 1\n", 6, true);
    qbundle_add_code(m, (CacheKey){{7, 9}}, "code", 4);
    qbundle_add_code(m, (CacheKey){{3, 9}}, "more", 4);
    qbundle_add_code(m, (CacheKey){{7, 9}}, "none", 4); /* known already */
    qbundle_add_target(m, "x86-64-v3", 36);
    qbundle_add_function(m, "f", "ad>a");
    qbundle_write(m, "1.2.3", "precision=32", out);
    qbundle_maker_free(m);
}

/* A copy without memory after it, so that a sanitizer detects reads beyond the end. */
static qs_status open_copy(const char *bytes, size_t n, Bundle **out, void **copy) {
    *copy = malloc(n ? n : 1);
    memcpy(*copy, bytes, n);
    *out = NULL;
    return qbundle_open(&ctx, "x", "1.2.3", *copy, n, out);
}

static bool is_refused(const char *bytes, size_t n) {
    Bundle *b;
    void *copy;
    qs_status s = open_copy(bytes, n, &b, &copy);
    bool good = s == QS_EIO && !b && !strncmp(ctx.err.text, "x ", 2);
    qerr_clear(&ctx);
    qbundle_close(&ctx, b);
    free(copy);
    return good;
}

static void test_whole(const Text *t, size_t n) {
    Bundle *b;
    void *copy;
    Text code;
    qtext_init(&code, &ctx);
    CHECK(open_copy(t->s, n, &b, &copy) == QS_OK && b->nmodules == 2 && b->ncodes == 2 && b->nfunctions == 1);
    CHECK(qbundle_is(b, b->modules[1].path, "b.q", 3) && b->modules[1].library && b->imports[0].module == 1);
    CHECK(qbundle_code(b, (CacheKey){{7, 9}}, &code) && code.len == 4 && !memcmp(code.s, "code", 4));
    CHECK(qbundle_code(b, (CacheKey){{3, 9}}, &code) && !memcmp(code.s, "more", 4));
    CHECK(!qbundle_code(b, (CacheKey){{3, 8}}, &code) && !strcmp(b->targets[0].name, "x86-64-v3"));
    qtext_free(&code);
    qbundle_close(&ctx, b);
    free(copy);
}

static uint64_t state = 1;
static uint64_t any(uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static void test_damaged(Text *t, size_t n) {
    for (size_t k = 0; k < n; k++) CHECK(is_refused(t->s, k));
    for (size_t k = 0; k < 8 * n; k++) {
        t->s[k / 8] ^= (char)(1 << k % 8);
        CHECK(is_refused(t->s, n));
        t->s[k / 8] ^= (char)(1 << k % 8);
    }
}

/* With a correct checksum: anybody can compute one, so the tables are tested, too. */
static void test_forged(const Text *t, size_t n) {
    char *bytes = malloc(n);
    for (int k = 0; k < CHANGES; k++) {
        Bundle *b;
        void *copy;
        memcpy(bytes, t->s, n);
        for (uint64_t i = any(3) + 1; i-- > 0;) bytes[any(n < 400 ? n : 400)] = (char)any(256);
        qbundle_seal(bytes, n);
        if (open_copy(bytes, n, &b, &copy) == QS_OK) {
            Text code;
            qtext_init(&code, &ctx);
            for (uint32_t i = 0; i < b->ncodes; i++) (void)qbundle_code(b, b->codes[i].key, &code);
            for (uint32_t i = 0; i < b->nmodules; i++) (void)qbundle_is(b, b->modules[i].text, "x", 1);
            qtext_free(&code);
        }
        qerr_clear(&ctx);
        qbundle_close(&ctx, b);
        free(copy);
    }
    free(bytes);
}

int main(void) {
    Text t;
    qctx_init(&ctx, 32);
    qtext_init(&t, &ctx);
    make(&t);
    size_t n = t.len - sizeof(BundleTrailer);
    test_whole(&t, n);
    test_damaged(&t, n);
    test_forged(&t, n);
    qtext_free(&t);
    qctx_close(&ctx);
    return check_done();
}
