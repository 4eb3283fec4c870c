/* libFuzzer entry: any text parses or fails with a message, prints, and leaves no memory behind. */
#include "lang/parse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Ctx c;
    qctx_init(&c, 32);
    Unit *u;
    Text out;
    qtext_init(&out, &c);
    qs_status s = qparse_unit(&c, qsource_add(&c, "fuzz.q", (const char *)data, size), &u);
    if ((s != QS_OK) != (u->nerrors > 0) || (s != QS_OK && c.err.status == QS_OK)) abort();
    if (s == QS_OK) qast_print(u, &out);
    qtext_free(&out);
    qparse_free(u);
    qerr_clear(&c);
    if (qparse_incomplete(&c, (const char *)data, size) && s == QS_OK && size == 0) abort();
    TypeExpr *t;
    if (qparse_type(&c, (const char *)data, size, &u, &t) == QS_OK) qparse_free(u);
    qctx_close(&c);
    if (c.bytes != 0) abort();
    return 0;
}
