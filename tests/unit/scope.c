/* Names: each test lists, in the order of the text, how every identifier was resolved. */
#include "tests/unit/scope_help.h"

typedef struct {
    char *out;
} Lister;

static void list_node(void *ud, Node **child);

static void word(Lister *l, const char *s) {
    size_t n = strlen(l->out);
    if (n && l->out[n - 1] != '(') strcat(l->out, " ");
    strcat(l->out, s);
}

static void list_symbol(Lister *l, const char *name, const Sym *s) {
    static const char *const kinds[] = {"local", "capture", "global", "type", "nested", "temp"};
    char one[96];
    if (!s) snprintf(one, sizeof one, "%s:-", name);
    else if (s->kind <= SYM_CAPTURE) snprintf(one, sizeof one, "%s:%s%d", name, kinds[s->kind], s->index);
    else snprintf(one, sizeof one, "%s:%s", name, kinds[s->kind]);
    word(l, one);
}

static void list_func(Lister *l, Func *f) {
    word(l, "(");
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].init) list_node(l, &f->params[i].init);
    for (int i = 0; i < f->body.n; i++) list_node(l, &f->body.at[i]);
    if (f->expr) list_node(l, &f->expr);
    strcat(l->out, ")");
}

static void list_node(void *ud, Node **child) {
    Lister *l = ud;
    Node *n = *child;
    if (n->kind == N_IDENT) list_symbol(l, n->u.ident.name->s, n->u.ident.sym);
    else if (n->kind == N_TYPE) word(l, "TYPE");
    else if (n->kind == N_FUNC) list_func(l, n->u.func);
    else if (n->kind == N_LAMBDA) list_func(l, n->u.lambda.func);
    else qast_children(n, list_node, l);
}

static void names(const char *text, const char *expected) {
    Ctx c;
    World w;
    char got[4096] = "";
    Lister l = {got};
    qctx_init(&c, 32);
    Unit *u = resolved(&c, &w, text);
    if (u->nerrors) {
        char *said = sentences(u);
        compare(text, expected, said);
        free(said);
    } else {
        for (int i = 0; i < u->main->body.n; i++) list_node(&l, &u->main->body.at[i]);
        compare(text, expected, got);
    }
    qparse_free(u);
    qctx_close(&c);
}

static Func *function_at(const Unit *u, int i) { return u->funcs[i]->u.func; }

/* k is defined above a and mentioned in h, which itself does not use a: h must capture it. */
static void nested_captures(void) {
    Ctx c;
    World w;
    qctx_init(&c, 32);
    Unit *u = resolved(&c, &w,
                       "function [] = f(x)\n"
                       " function [] = __kernel__ k(pos)\n  x[pos] = a\n end\n"
                       " function [] = h()\n  g = () -> k(1)\n  k(2)\n end\n a = 3\n h()\nend");
    Func *f = function_at(u, 0), *k = f->body.at[0]->u.func, *h = f->body.at[1]->u.func;
    Func *g = h->body.at[0]->u.assign.value->u.lambda.func;
    if (k->ncaptures != 2 || h->ncaptures != 2 || g->ncaptures != 2 || f->ncaptures != 0)
        failures++, printf("counts\n");
    for (int i = 0; i < k->ncaptures; i++) {
        Sym *outer = k->captures[i].outer, *seen = qscope_view(g, outer);
        if (outer->owner != f || qscope_view(f, outer) != outer || !seen || seen->owner != g ||
            seen->name != outer->name)
            failures++, printf("view of %s\n", outer->name->s);
    }
    qparse_free(u);
    qctx_close(&c);
}

static void recursion(void) { /* two nested functions that call each other include each other's captures */
    Ctx c;
    World w;
    qctx_init(&c, 32);
    Unit *u = resolved(&c, &w,
                       "function y = f(a, b)\n function z = p(n)\n  z = a + q(n)\n end\n"
                       " function z = q(n)\n  z = b + p(n)\n end\n y = p(1)\nend");
    Func *f = function_at(u, 0);
    if (f->body.at[0]->u.func->ncaptures != 2 || f->body.at[1]->u.func->ncaptures != 2)
        failures++, printf("recursion\n");
    qparse_free(u);
    qctx_close(&c);
}

static void modes(void) { /* B = A takes over the access mode; captures see the mode of their variable */
    Ctx c;
    World w;
    qctx_init(&c, 32);
    Unit *u = resolved(&c, &w,
                       "function [] = f(A : mat'circular, n : int)\n B = A\n C : mat'clamped = A\n D = n\n"
                       " g = () -> B[-1] + C[0]\nend");
    Func *f = function_at(u, 0);
    Func *g = f->body.at[3]->u.assign.value->u.lambda.func;
    static const uint8_t expected[] = {ACC_CIRCULAR, ACC_DEFAULT, ACC_CIRCULAR, ACC_CLAMPED, ACC_DEFAULT, ACC_DEFAULT};
    for (int i = 0; i < f->nlocals; i++)
        if (f->locals[i]->mods.access != expected[i]) failures++, printf("mode of %s\n", f->locals[i]->name->s);
    if (g->captures[0].inner->mods.access != ACC_CIRCULAR || g->captures[1].inner->mods.access != ACC_CLAMPED)
        failures++;
    if (!f->locals[1]->declared || f->locals[2]->declared) failures++;
    qparse_free(u);
    qctx_close(&c);
}

int main(void) {
    names("x = 1; y = x + pi", "x:global x:global pi:global y:global");
    names("imported += 1", "imported:global");
    names("function y = f(a, b=a)\n c = a + y\n y = c\nend", "(a:local0 a:local0 y:local2 c:local3 c:local3 y:local2)");
    names("function y = f(y)\n y = y + 1\nend", "(y:local0 y:local0)");
    names("function y = f(a)\n g = x -> x + a\n y = g(1)\nend", "((x:local0 a:capture0) g:local2 g:local2 y:local1)");
    names("function y = f(a)\n y = () -> () -> a\nend", "(((a:capture0)) y:local1)");
    names("function y = f(a)\n y = () -> a = 1\nend", "((a:local0) y:local1)");
    names("function [] = f()\n for [i,j] = 0..1\n  s += i\n end\n try\n catch e\n  print e\n end\n _ = size(s)\nend",
          "(i:local0 s:local2 e:local3 size:global s:local2 _:-)");
    names("function [] = f()\n g()\n function [] = g()\n  g()\n end\nend", "(g:nested (g:nested))");
    names("function [] = f()\n k = later\nend\nlater = 2", "(later:global k:local0) later:global");
    names("x = vec[mat](4); y = cube{:}; z = int(3)", "TYPE x:global TYPE y:global int:type z:global");
    names("function y = f(vec)\n y = vec[0]\nend", "(vec:local0 y:local1)");
    names("function y = f[T](x : vec[T])\n y = vec[T](3) + T(1)\nend", "(TYPE TYPE y:local1)");
    names("max = 3; size = max", "max:global max:global size:global");
    names("o.sise = 3; x = o.sise", "1:1: error: unknown name 'o': make it first, o = object()");
    names("y = sise(3)\nz = sise(4) + qwertz", "1:5: error: unknown name 'sise': did you mean 'size'?\n"
                                               "2:15: error: unknown name 'qwertz'");
    names("function y = f(alpha)\n y = alpah\nend", "2:6: error: unknown name 'alpah': did you mean 'alpha'?");
    names("function y = f(a, a)\nend", "1:19: error: two parameters are called 'a'");
    names("function [] = f()\n function [] = g()\n end\n g = 3\nend",
          "4:2: error: 'g' is a function defined in this function and cannot be assigned to");
    names("x = vec[3]", "1:5: error: the brackets after a type name hold types, as in vec[int]");
    names("{!hint when=nowhere}\nx = 1", "x:global");
    names("reduction (x, y) -> x + 0 = x", "1:15: error: 'y' does not occur in the pattern");
    names("reduction (x) -> x = 0", "1:18: error: a single name is not a pattern: it would match everything");
    names("reduction (x) -> twice(x) = 2*x\ny = twice(3)", "twice:global y:global");
    names("reduction (x) -> sin(x) = max(() -> x)", "1:37: error: a lambda in a reduction cannot use its variable 'x'");
    nested_captures();
    recursion();
    modes();
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
