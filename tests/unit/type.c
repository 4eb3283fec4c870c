/* Interning, printed names, predefined names. */
#include "vm/base/type.h"
#include "tests/unit/check.h"

static void interned(Ctx *c) {
    const Type *s = qtype_scalar(c), *any = qtype_any(c);
    CHECK(s == qtype_num(c, QS_F32) && s != qtype_num(c, QS_F64));
    CHECK(qtype_array(c, s, 1) == qtype_builtin(c, "vec") && qtype_array(c, s, 2) != qtype_builtin(c, "vec"));
    CHECK(qtype_fixed(c, s, 1, (int32_t[]){3}) == qtype_builtin(c, "vec3"));
    CHECK(qtype_builtin(c, "vec3") != qtype_builtin(c, "vec4"));
    const Type *two[] = {s, any}, *one[] = {s};
    CHECK(qtype_fn(c, TY_FN, two, 2) == qtype_fn(c, TY_FN, two, 2));
    CHECK(qtype_fn(c, TY_FN, two, 2) != qtype_fn(c, TY_FN, one, 1));
    CHECK(qtype_fn(c, TY_FN, NULL, 0) != qtype_simple(c, TY_FN));
    CHECK(qtype_fn(c, TY_FN, NULL, 0) == qtype_fn(c, TY_FN, two, 0));
    CHECK(qtype_class(c, qstr_cname(c, "point")) != qtype_class(c, qstr_cname(c, "point")));
    CHECK(qtype_is_cell(qtype_builtin(c, "cellvec")) && qtype_is_numeric_array(qtype_builtin(c, "ivec")));
}

static void unions(Ctx *c) {
    const Type *v = qtype_builtin(c, "vec"), *m = qtype_builtin(c, "mat");
    const Type *vm = qtype_union(c, (const Type *[]){v, m}, 2);
    CHECK_TEXT(qtype_name(vm), "[vec|mat]");
    CHECK(qtype_union(c, (const Type *[]){v, vm, m}, 3) == vm);
    CHECK(qtype_union(c, (const Type *[]){v, v}, 2) == v);
    CHECK(qtype_union(c, (const Type *[]){v, qtype_any(c)}, 2) == qtype_any(c));
}

static void printed(Ctx *c) {
    const Type *s = qtype_scalar(c), *any = qtype_any(c), *u8 = qtype_num(c, QS_U8), *mat = qtype_builtin(c, "mat");
    CHECK_TEXT(qtype_name(qtype_array(c, u8, 3)), "cube[uint8]");
    CHECK_TEXT(qtype_name(qtype_array(c, mat, 1)), "vec[mat]");
    CHECK_TEXT(qtype_name(qtype_array(c, any, 2)), "mat[??]");
    CHECK_TEXT(qtype_name(qtype_array(c, s, 4)), "cube{4}");
    CHECK_TEXT(qtype_name(qtype_array(c, s, RANK_ANY)), "cube{:}");
    CHECK_TEXT(qtype_name(qtype_array(c, u8, RANK_ANY)), "cube{:}[uint8]");
    CHECK_TEXT(qtype_name(qtype_fixed(c, s, 1, (int32_t[]){256})), "vec(256)");
    CHECK_TEXT(qtype_name(qtype_fixed(c, u8, 2, (int32_t[]){2, 3})), "mat[uint8](2,3)");
    CHECK_TEXT(qtype_name(qtype_ptr(c, qtype_class(c, qstr_cname(c, "point")))), "^point");
    CHECK_TEXT(qtype_name(qtype_fn(c, TY_FN, &any, 1)), "[?? -> ??]");
    CHECK_TEXT(qtype_name(qtype_fn(c, TY_FN, (const Type *[]){s, any}, 2)), "[(scalar,?"
                                                                            "?) -> ??]");
    CHECK_TEXT(qtype_name(qtype_fn(c, TY_KERNEL, &mat, 1)), "[__kernel__ (mat) -> ()]");
    CHECK_TEXT(qtype_name(qtype_array(c, qtype_fn(c, TY_FN, &any, 1), 3)), "cube[[?? -> ??]]");
    CHECK_TEXT(qtype_name(qtype_num(c, QS_F64)), "float64");
    CHECK_TEXT(qtype_name(qtype_array(c, qtype_num(c, QS_F64), 1)), "vec[float64]");
}

/* Every predefined name prints as itself, or as the name it is an alias of. */
static void builtin(Ctx *c) {
    static const struct {
        const char *name, *printed;
    } names[] = {{"scalar", "scalar"},
                 {"cscalar", "cscalar"},
                 {"int", "int"},
                 {"int8", "int8"},
                 {"int32", "int"},
                 {"uint64", "uint64"},
                 {"float32", "scalar"},
                 {"float16", "float16"},
                 {"bfloat16", "bfloat16"},
                 {"complex64", "cscalar"},
                 {"complex128", "complex128"},
                 {"bool", "bool"},
                 {"string", "string"},
                 {"vec", "vec"},
                 {"mat", "mat"},
                 {"cube", "cube"},
                 {"cvec", "cvec"},
                 {"ccube", "ccube"},
                 {"imat", "imat"},
                 {"icube", "icube"},
                 {"vec1", "vec1"},
                 {"vec32", "vec32"},
                 {"cvec7", "cvec7"},
                 {"ivec4", "ivec4"},
                 {"mat2x2", "mat2x2"},
                 {"cmat3x4", "cmat3x4"},
                 {"cube2x3x2", "cube2x3x2"},
                 {"cube2x2x2x2", "cube2x2x2x2"},
                 {"cell", "cell"},
                 {"cellvec", "vec[??]"},
                 {"cellmat", "mat[??]"},
                 {"cellcube", "cube[??]"},
                 {"object", "object"},
                 {"function", "function"},
                 {"kernel_function", "kernel_function"},
                 {"type", "type"},
                 {"pyvalue", "pyvalue"},
                 {"??", "??"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Type *t = qtype_builtin(c, names[i].name);
        CHECK_TEXT(t ? qtype_name(t) : names[i].name, names[i].printed);
        CHECK(t != NULL);
    }
    static const char *const none[] = {"",
                                       "c",
                                       "i",
                                       "vec0",
                                       "vec33",
                                       "vec03",
                                       "vec3x",
                                       "vec3x3",
                                       "mat3",
                                       "mat2x2x2",
                                       "cube2x2",
                                       "mat2x",
                                       "vecs",
                                       "cellvec3",
                                       "cells",
                                       "point",
                                       "ccell",
                                       "cub",
                                       "vec99999999999999999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) CHECK(qtype_builtin(c, none[i]) == NULL);
}

static void modifiers(void) {
    TypeMods m = {0};
    CHECK(qaccess_from_name("circular", &m) && m.access == ACC_CIRCULAR);
    CHECK(qaccess_from_name("hwtex_const", &m) && m.access == ACC_CIRCULAR && m.flags == MOD_HWTEX_CONST);
    CHECK(qaccess_from_name("const", &m) && m.flags == (MOD_HWTEX_CONST | MOD_CONST));
    CHECK(!qaccess_from_name("circle", &m));
    CHECK_TEXT(qaccess_name(ACC_MIRROR), "mirror");
    CHECK_TEXT(qaccess_name(ACC_DEFAULT), "default");
}

int main(void) {
    Ctx c;
    qctx_init(&c, 32);
    interned(&c);
    unions(&c);
    printed(&c);
    builtin(&c);
    modifiers();
    qctx_close(&c);
    CHECK(c.bytes == 0);
    qctx_init(&c, 64);
    CHECK(qtype_scalar(&c) == qtype_num(&c, QS_F64));
    CHECK_TEXT(qtype_name(qtype_builtin(&c, "float32")), "float32");
    CHECK_TEXT(qtype_name(qtype_builtin(&c, "complex128")), "cscalar");
    qctx_close(&c);
    return check_done();
}
