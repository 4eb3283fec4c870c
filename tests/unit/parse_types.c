/* Type expressions to types: names, sizes known before the program runs, and messages about wrong ones. */
#include "lang/names/types.h"
#include "tests/unit/parse_help.h"

static const Type *user_type(void *ud, Str *name) {
    if (!strcmp(name->s, "T")) return qtype_num(ud, QS_U8);
    if (!strcmp(name->s, "picture")) return qtype_array(ud, qtype_num(ud, QS_U8), 3);
    return NULL;
}

static const Type *generic(void *ud, Str *name, const Type **args, int nargs) {
    return !strcmp(name->s, "list") && nargs == 1 ? qtype_ptr(ud, args[0]) : NULL;
}

static bool constant(void *ud, Str *name, double *value) {
    (void)ud;
    *value = 16;
    return !strcmp(name->s, "N");
}

static void type_is(const char *text, const char *expected, int access) {
    Ctx c;
    Unit *u;
    TypeExpr *e;
    const Type *t;
    TypeMods mods = {0};
    qctx_init(&c, 32);
    TypeHost host = {&c, user_type, generic, constant, NULL};
    qs_status s = qparse_type(&c, text, strlen(text), &u, &e);
    if (s == QS_OK) s = qtypes_resolve(&c, e, &host, u->src, &t, &mods);
    compare(text, expected, s == QS_OK ? qtype_name(t) : c.err.text);
    if (s == QS_OK && mods.access != access) failures++, printf("%s: access %d\n", text, mods.access);
    qparse_free(u);
    qctx_close(&c);
}

int main(void) {
    type_is("int", "int", ACC_DEFAULT);
    type_is("mat'circular", "mat", ACC_CIRCULAR);
    type_is("vec'clamped(256)", "vec(256)", ACC_CLAMPED);
    type_is("?\?'unchecked", "??", ACC_UNCHECKED);
    type_is("vec[uint8]", "vec[uint8]", ACC_DEFAULT);
    type_is("vec[scalar]", "vec", ACC_DEFAULT);
    type_is("cube[cscalar]", "ccube", ACC_DEFAULT);
    type_is("vec[mat]", "vec[mat]", ACC_DEFAULT);
    type_is("cube{:}", "cube{:}", ACC_DEFAULT);
    type_is("cube{:}[uint8]", "cube{:}[uint8]", ACC_DEFAULT);
    type_is("vec[T]", "vec[uint8]", ACC_DEFAULT);
    type_is("picture", "cube[uint8]", ACC_DEFAULT);
    type_is("vec(N)", "vec16", ACC_DEFAULT);
    type_is("mat(2, N/4)", "mat2x4", ACC_DEFAULT);
    type_is("vec(2^3-1)", "vec7", ACC_DEFAULT);
    type_is("list[int]", "^int", ACC_DEFAULT);
    type_is("[vec|mat|vec]", "[vec|mat]", ACC_DEFAULT);
    type_is("[__kernel__ () -> ()]", "[__kernel__ () -> ()]", ACC_DEFAULT);
    type_is("vecc", "unknown type 'vecc': did you mean 'vec'?", 0);
    type_is("vec[M]", "unknown type 'M': a function has its own type parameters, as in f[M](x : vec[M])", 0);
    type_is("int[vec]", "int cannot be followed by [vec]: it is not an array or generic type", 0);
    type_is("vec(2,3)", "vec takes 1 size, got 2", 0);
    type_is("vec(K)", "the size of a fixed type must be known before the program runs, and is not for K", 0);
    type_is("vec(0)", "the size of a fixed type must be an integer ≥ 1, got 0", 0);
    type_is("vec(1.5)", "the size of a fixed type must be an integer ≥ 1, got 1.5", 0);
    type_is("scalar(3)", "scalar cannot have a fixed size: only vec, mat and cube types can", 0);
    type_is("mat{:}", "a number of dimensions in braces belongs to a cube type, as in cube{:}", 0);
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
