/* libFuzzer entry: any text parses or fails with a message; a valid one is printed, resolved and rewritten; and no
 * memory is leaked. */
#include "lang/names/rewrite.h"
#include "lang/names/scope.h"
#include "lang/names/types.h"
#include "lang/syntax/parse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lookup(void *ud, Str *name, Sym *out) { /* everything is known */
    if (qtype_builtin(ud, name->s)) return false;
    out->kind = SYM_GLOBAL;
    return true;
}

static int define(void *ud, Str *name) {
    (void)ud;
    return (int)name->len;
}

static void rewrite(Unit *u, Node *n, const RewriteFrame *active, int budget) {
    Rewrite rw;
    if (budget == 0 || !qrewrite_find(u, u->reductions, u->nreductions, n, active, &rw)) return;
    rewrite(u, rw.replacement, &rw.frame, budget - 1);
    rewrite(u, rw.original, &rw.frame, budget - 1);
}

static void work_on(Unit *u) {
    Text out;
    ScopeHost host = {.ud = u->ctx, .lookup = lookup, .define = define};
    qtext_init(&out, u->ctx);
    qast_print(u, &out);
    if (qscope_resolve(u, &host) == QS_OK) {
        qrewrite_order(u->reductions, u->nreductions);
        for (int i = 0; i < u->main->body.n; i++) {
            Node *n = u->main->body.at[i];
            if (n->kind == N_ASSIGN || n->kind == N_EXPR) rewrite(u, n, NULL, 5);
        }
        qast_print(u, &out);
    }
    qtext_free(&out);
}

static void as_type(Ctx *c, const char *text, size_t size) {
    Unit *u;
    TypeExpr *e;
    const Type *t;
    TypeMods mods;
    if (qparse_type(c, text, size, &u, &e) != QS_OK) return;
    (void)qtypes_resolve(c, e, NULL, NULL, &t, &mods);
    qparse_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Ctx c;
    qctx_init(&c, 32);
    Unit *u;
    const char *text = (const char *)data;
    qs_status s = qparse_unit(&c, qsource_add(&c, "fuzz.q", text, size), &u);
    if ((s != QS_OK) != (u->nerrors > 0) || (s != QS_OK && c.err.status == QS_OK)) abort();
    if (s == QS_OK) work_on(u);
    qparse_free(u);
    qerr_clear(&c);
    (void)qparse_incomplete(&c, text, size);
    as_type(&c, text, size);
    qctx_close(&c);
    if (c.bytes != 0) abort();
    return 0;
}
