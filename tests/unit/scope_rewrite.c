/* Rewriting: the rule that matches, its result, the parts left for run time, and termination. */
#include "lang/names/rewrite.h"
#include "tests/unit/scope_help.h"

static char *dump(Unit *u, Node *n) {
    NodeList body = u->main->body;
    Text t;
    qtext_init(&t, u->ctx);
    u->main->body = (NodeList){&n, 1};
    qast_print(u, &t);
    u->main->body = body;
    char *line = one_line(t.s ? t.s : "");
    qtext_free(&t);
    return line;
}

static Node *last_statement(Unit *u) { return u->main->body.at[u->main->body.n - 1]; }

/* The last statement of the text, rewritten once. */
static void becomes(const char *text, const char *expected) {
    Ctx c;
    World w;
    Rewrite rw;
    qctx_init(&c, 32);
    Unit *u = resolved(&c, &w, text);
    if (u->nerrors) failures++, printf("%s", u->report.s);
    qrewrite_order(u->reductions, u->nreductions);
    if (qrewrite_find(u, u->reductions, u->nreductions, last_statement(u), NULL, &rw)) {
        char *got = dump(u, rw.replacement);
        compare(text, expected, got);
        free(got);
    } else {
        compare(text, expected, "unchanged");
    }
    qparse_free(u);
    qctx_close(&c);
}

static void temporaries(void) {
    Ctx c;
    World w;
    Rewrite rw;
    qctx_init(&c, 32);
    Unit *u = resolved(&c, &w,
                       "type M : [vec|mat]\nx = 1; b = 2\n"
                       "reduction (x : M, a : M, b, c) -> (x[a > b] = c) = (x += (c - x).*(a > b)) where size(a) > b\n"
                       "x[cos(x) > b] = max(3)");
    if (!qrewrite_find(u, u->reductions, 1, last_statement(u), NULL, &rw)) {
        failures++;
    } else {
        char *original = dump(u, rw.original), *where = dump(u, rw.where);
        compare("original", "assign =(to: index(x >(a b)) c)", original);
        compare("where", ">(call(size a) b)", where);
        free(original), free(where);
        if (rw.n != 4 || rw.temps[0] || !rw.temps[1] || rw.temps[2] || !rw.temps[3])
            failures++, printf("temporaries\n");
        if (rw.temps[1]->kind != SYM_TEMP || rw.temps[1]->bound != rw.bound[1] || rw.bound[1]->kind != N_CALL)
            failures++;
        if (qrewrite_find(u, u->reductions, 1, rw.original, &rw.frame, &rw)) failures++, printf("same rule again\n");
    }
    qparse_free(u);
    qctx_close(&c);
}

static int steps(Unit *u, Node *n, const RewriteFrame *active) { /* rewrites everything as a compiler would */
    Rewrite rw;
    if (!qrewrite_find(u, u->reductions, u->nreductions, n, active, &rw)) return 0;
    int count = 1 + steps(u, rw.replacement, &rw.frame);
    if (rw.replacement->kind == N_BINARY) {
        count += steps(u, rw.replacement->u.bin.a, &rw.frame);
        count += steps(u, rw.replacement->u.bin.b, &rw.frame);
    }
    return count;
}

static void ends(const char *text, int expected) {
    Ctx c;
    World w;
    qctx_init(&c, 32);
    Unit *u = resolved(&c, &w, text);
    if (u->nerrors) failures++, printf("%s", u->report.s);
    qrewrite_order(u->reductions, u->nreductions);
    int n = steps(u, last_statement(u), NULL);
    if (n != expected) failures++, printf("%s: %d steps, expected %d\n", text, n, expected);
    qparse_free(u);
    qctx_close(&c);
}

int main(void) {
    becomes("x = 1\nreduction (a) -> a + 0 = a\nx + 0", "x");
    becomes("x = 1\nreduction (a) -> a + 0 = a\nx + 1", "unchanged");
    becomes("x = 1\nreduction (a) -> a + 0 = a\nx - 0", "unchanged");
    becomes("x = 1\nreduction (a) -> a - a = 0\nsize(x,1) - size(x,1)", "0");
    becomes("x = 1\nreduction (a) -> a - a = 0\nsize(x,1) - size(x,0)", "unchanged");
    becomes("x = 1\nreduction a -> a.T = cos(a)\nx.y.T", "call(cos a)");
    becomes("x = 1\nreduction a -> a.T = cos(a)\nx.y.U", "unchanged");
    becomes("x = 1\nreduction (a) -> size(a, 0) = size(a)\nsize(x, 0)", "call(size x)");
    becomes("x = 1\nreduction (a) -> size(a, 0) = size(a)\nsize(x, 0, 1)", "unchanged");
    becomes("x = 1\nreduction (a) -> sin(a, of:=1) = cos(a)\nsin(x, of:=1)", "call(cos x)");
    becomes("x = 1\nreduction (a) -> sin(a, of:=1) = cos(a)\nsin(x, 1)", "unchanged");
    becomes("x = 1\nreduction (a, i) -> a[i, :] = cos(a)\nx[3, :]", "call(cos x)");
    becomes("x = 1\nreduction (a, i) -> a[i, :] = cos(a)\nx[:, :]", "unchanged");
    becomes("x = 1\nreduction (a, v) -> (a[:] = v) = (a = v)\nx.f[:] = 3", "assign =(to: field f(x) 3)");
    becomes("x = 1\nreduction (a, v) -> (a[:] = v) = (a = v)\nsize(x)[:] = 3", "unchanged"); /* not a target */
    becomes("x = 1\nreduction (a, v) -> (a[0] += v) = (a[1] += v)\nx[0] += 2", "assign +=(to: index(x 1) 2)");
    becomes("x = 1\nreduction (a, v) -> (a[0] += v) = (a[1] += v)\nx[0] -= 2", "unchanged");
    becomes("x = 1\nreduction (a) -> -(a) = (a)\nreduction (a) -> -(-a) = a\n-(-x)", "x");
    /* order: guards, then structure, then the latest */
    becomes("x = 1\nreduction (a : mat) -> sin(a) = 1\nreduction (a) -> sin(a) = 2\nsin(x)", "1");
    becomes("x = 1\nreduction (a) -> sin(a) = 1\nreduction (a) -> sin(a) = 2\nsin(x)", "2");
    becomes("x = 1\nreduction (a) -> sin(a) = 1\nreduction (a : [vec|mat]) -> sin(a) = 2\nsin(x)", "2");
    becomes("x = 1\nreduction (a, b : mat) -> max(a,b) = 1\nreduction (a : mat, b : mat) -> max(a,b) = 2\nmax(x,x)",
            "2");
    becomes("x = 1\nreduction (a) -> sin(a) = 1 where a > 0\nreduction (a) -> sin(a) = 2\nsin(x)", "1");
    temporaries();
    ends("x = 1\nreduction (a, b) -> a + b = b + a\nx + 3", 1);
    ends("x = 1\nreduction (a) -> sin(a) = cos(a)\nreduction (a) -> cos(a) = sin(a)\nsin(x)", 2);
    ends("x = 1\nreduction (a) -> sin(a) = sin(sin(a))\nsin(x)", 1);
    ends("y = 1\nreduction (u, x) -> D(sin(u), x) = cos(u) .* D(u, x)\nreduction (x) -> D(x, x) = "
         "1\nD(sin(sin(sin(y))), y)",
         4);
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
