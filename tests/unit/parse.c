/* The parser: what a text becomes, and what is said about a wrong one. */
#include "lang/parse.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void expect(const char *text, const char *dump) {
    Ctx c;
    qctx_init(&c, 32);
    Unit *u;
    qs_status s = qparse_unit(&c, qsource_add(&c, "t.q", text, strlen(text)), &u);
    Text out;
    qtext_init(&out, &c);
    qast_print(u, &out);
    const char *got = s ? u->report.s : out.s ? out.s : "";
    if (strcmp(got, dump) != 0) {
        failures++;
        printf("%s\n-- expected\n%s-- got\n%s\n", text, dump, got);
    }
    qtext_free(&out);
    qparse_free(u);
    qctx_close(&c);
}

int main(void) {
    expect("a = 0..2", "assign =\n  to: a\n  range\n    0\n    2\n");
    expect("a=1; beta=2,\n", "assign =\n  to: a\n  1\nassign =\n  to: beta\n  2\n");
    return failures != 0;
}
