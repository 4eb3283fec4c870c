/* Types of values, annotations, conversions, truth, equality, construction. */
#include "tests/unit/machine.h"

#include <math.h>

static qs_value z34(qs_vm *vm) {
    qs_value z = qs_nil();
    CHECK(qval_complex(vm, 3, 4, &z) == QS_OK);
    return z;
}

static void types(qs_vm *vm) {
    qs_value s = make_string(vm, "x"), v = make_vec(vm, QS_F32, 3, NULL), u = make_vec(vm, QS_U8, 3, NULL), z = z34(vm);
    qs_value c = make_cell(vm, 2, (qs_value[]){s, v});
    Object *o;
    CHECK(qobj_new(vm, NULL, &o) == QS_OK);
    CHECK_TEXT(qval_type_name(vm, qs_nil()), "null");
    CHECK_TEXT(qval_type_name(vm, qval_colon()), ":");
    CHECK_TEXT(qval_type_name(vm, qs_bool(true)), "bool");
    CHECK_TEXT(qval_type_name(vm, qs_int(3)), "int");
    CHECK_TEXT(qval_type_name(vm, qs_num(3)), "scalar");
    CHECK_TEXT(qval_type_name(vm, z), "cscalar");
    CHECK_TEXT(qval_type_name(vm, s), "string");
    CHECK_TEXT(qval_type_name(vm, v), "vec");
    CHECK_TEXT(qval_type_name(vm, u), "vec[uint8]");
    CHECK_TEXT(qval_type_name(vm, c), "vec[??]");
    CHECK_TEXT(qval_type_name(vm, qval_object(QS_OBJECT, o)), "object");
    qval_release(vm, c);
    qval_release(vm, u);
    qval_release(vm, z);
    qval_release(vm, qval_object(QS_OBJECT, o));
}

static void is(qs_vm *vm, qs_value v, const char *fits, const char *misfits) {
    char text[200];
    for (int want = 1; want >= 0; want--) {
        snprintf(text, sizeof text, "%s", want ? fits : misfits);
        for (char *name = strtok(text, " "); name; name = strtok(NULL, " ")) {
            const Type *t = named(vm, name);
            CHECK(t != NULL);
            if (t && qval_is_type(vm, v, t) != want) CHECK_TEXT(name, want ? "(should fit)" : "(should not fit)");
        }
    }
}

static void annotations(qs_vm *vm) {
    qs_value v3 = make_vec(vm, QS_F32, 3, NULL), i3 = make_vec(vm, QS_I32, 3, NULL), d3 = make_vec(vm, QS_F64, 3, NULL),
             z = z34(vm);
    qs_value m22 = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 2}, NULL)),
             col = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){3, 1}, NULL));
    qs_value row = qarr_value(make_array(vm, QS_F32, 3, (int64_t[]){1, 3, 1}, NULL)),
             cube = qarr_value(make_array(vm, QS_U8, 3, (int64_t[]){2, 3, 4}, NULL));
    qs_value four = qarr_value(make_array(vm, QS_F32, 4, (int64_t[]){2, 2, 2, 2}, NULL));
    is(vm, qs_num(2.5), "scalar float64 float16 cscalar ??", "int uint8 bool string vec object function");
    is(vm, qs_int(300), "int int16 uint64 scalar cscalar", "uint8 int8 bool");
    is(vm, qs_bool(true), "bool scalar", "int uint8");
    is(vm, z, "cscalar complex128", "scalar int");
    is(vm, qs_nil(), "object ??", "scalar vec string function cell");
    is(vm, v3, "vec mat cube vec3", "vec4 ivec cvec mat2x2 scalar cell cellvec vec1 string");
    is(vm, i3, "ivec imat ivec3", "vec ivec2");
    is(vm, d3, "vec mat vec3", "ivec cvec");
    is(vm, m22, "mat cube mat2x2", "vec vec4 mat3x3 cube2x2x2");
    is(vm, col, "mat cube mat3x1", "vec vec3");
    is(vm, row, "vec mat vec3 mat1x3", "vec2");
    is(vm, four, "cube2x2x2x2", "cube mat");
    const Type *any_cube = qtype_array(qvm_ctx(vm), qtype_num(qvm_ctx(vm), QS_U8), RANK_ANY);
    CHECK(qval_is_type(vm, cube, any_cube) && !qval_is_type(vm, v3, any_cube));
    const Type *members[] = {named(vm, "string"), named(vm, "mat")}, *either = qtype_union(qvm_ctx(vm), members, 2);
    CHECK(qval_is_type(vm, m22, either) && !qval_is_type(vm, qs_num(1), either));
    qs_value all[] = {v3, i3, d3, z, m22, col, row, cube, four};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) qval_release(vm, all[i]);
}

static double number(qs_vm *vm, qs_value v, const char *type, qs_kind kind) {
    qs_value r = qs_nil();
    CHECK(qval_coerce(vm, v, named(vm, type), "x", &r) == QS_OK);
    CHECK(r.kind == kind);
    return kind == QS_NIL ? 0 : qval_number(r);
}

static void numbers(qs_vm *vm) {
    CHECK(number(vm, qs_num(2.9), "int", QS_INT) == 2 && number(vm, qs_num(-2.9), "int", QS_INT) == -2);
    CHECK(number(vm, qs_num(1e30), "int", QS_INT) == INT32_MAX &&
          number(vm, qs_num((double)NAN), "int64", QS_INT) == 0);
    CHECK(number(vm, qs_num(300), "uint8", QS_INT) == 255 && number(vm, qs_int(-5), "uint8", QS_INT) == 0);
    CHECK(number(vm, qs_num(1e30), "uint64", QS_NUM) == 0x1p64);
    CHECK(number(vm, qs_num(0x1p63), "uint64", QS_NUM) == 0x1p63);
    CHECK(number(vm, qs_num(0x1p62), "uint64", QS_INT) == 0x1p62 && number(vm, qs_num(-1), "uint64", QS_INT) == 0);
    CHECK(number(vm, qs_int(INT64_MIN), "int8", QS_INT) == -128);
    CHECK(number(vm, qs_int(3), "scalar", QS_NUM) == 3 && number(vm, qs_bool(true), "scalar", QS_NUM) == 1);
    CHECK(number(vm, qs_num(0.1), "scalar", QS_NUM) == 0.1 && number(vm, qs_num(0.1), "float64", QS_NUM) == 0.1);
    CHECK(number(vm, qs_num(2049), "float16", QS_NUM) == 2048);
    CHECK(number(vm, qs_num(0.5), "bool", QS_BOOL) == 1 && number(vm, qs_num(0), "bool", QS_BOOL) == 0);
    qs_value z;
    CHECK(qval_coerce(vm, qs_num(2), named(vm, "cscalar"), "x", &z) == QS_OK && z.kind == QS_COMPLEX);
    CHECK(((Complex *)z.u.p)->re == 2 && ((Complex *)z.u.p)->im == 0);
    qval_release(vm, z);
}

static void conversions(qs_vm *vm) {
    qs_value v = make_vec(vm, QS_F32, 3, (double[]){1.5, -2.5, 300}), r, e;
    CHECK(qval_coerce(vm, v, named(vm, "vec"), "x", &r) == QS_OK && r.u.p == v.u.p); /* by reference */
    qval_release(vm, r);
    CHECK(qval_coerce(vm, v, named(vm, "ivec"), "x", &r) == QS_OK && r.u.p != v.u.p);
    CHECK(qarr_get(vm, r.u.p, 1, &e) == QS_OK && e.kind == QS_INT && e.u.i == -2);
    qval_release(vm, r);
    CHECK(qval_coerce(vm, v, named(vm, "cvec3"), "x", &r) == QS_OK && qval_array(r)->dtype == QS_C64);
    CHECK_ERROR(vm, qval_coerce(vm, r, named(vm, "vec"), "x", &e), QS_ETYPE, "x must be vec, got cvec of size 1x3");
    qval_release(vm, r);
    CHECK_ERROR(vm, qval_coerce(vm, v, named(vm, "ivec4"), "pos", &e), QS_ETYPE,
                "pos must be ivec4, got vec of size 1x3");
    CHECK_ERROR(vm, qval_coerce(vm, v, named(vm, "scalar"), "n", &e), QS_ETYPE, "n must be scalar, got vec");
    CHECK_ERROR(vm, qval_coerce(vm, qs_nil(), named(vm, "string"), "name", &e), QS_ETYPE,
                "name must be string, got null");
    CHECK_ERROR(vm, qval_coerce(vm, qs_num(1), named(vm, "function"), "f", &e), QS_ETYPE,
                "f must be function, got scalar");
    const Type *members[] = {named(vm, "string"), named(vm, "int")};
    CHECK(qval_coerce(vm, qs_num(2.5), qtype_union(qvm_ctx(vm), members, 2), "x", &e) == QS_OK && e.kind == QS_INT &&
          e.u.i == 2);
    qval_release(vm, v);
}

static void cell_types(qs_vm *vm) {
    Ctx *c = qvm_ctx(vm);
    const Type *vec = named(vm, "vec"), *mat = named(vm, "mat"), *vecs = qtype_array(c, vec, 1),
               *mats = qtype_array(c, mat, 1);
    Cell *typed;
    qs_value x, r, any = make_cell(vm, 1, (qs_value[]){make_vec(vm, QS_F32, 2, NULL)});
    CHECK(qcell_new(vm, vec, 1, (int64_t[]){2}, &typed) == QS_OK && typed->items[0].kind == QS_ARRAY);
    x = qval_object(QS_CELL, typed);
    CHECK(qval_is_type(vm, x, vecs) && qval_is_type(vm, x, mats) && qval_is_type(vm, x, named(vm, "cellvec")) &&
          qval_is_type(vm, x, named(vm, "cell")));
    CHECK(!qval_is_type(vm, any, vecs) && qval_is_type(vm, any, named(vm, "cell")) && !qval_is_type(vm, any, vec));
    CHECK(qval_coerce(vm, any, vecs, "x", &r) == QS_OK && ((Cell *)r.u.p)->elem == vec && r.u.p != any.u.p);
    qval_release(vm, r);
    CHECK(qcell_store(vm, any.u.p, 0, qs_num(3)) == QS_OK);
    CHECK_ERROR(vm, qval_coerce(vm, any, vecs, "x", &r), QS_ETYPE, "x must be vec[vec], got vec[??] of size 1x1");
    CHECK_ERROR(vm, qcell_store(vm, typed, 0, qs_num(3)), QS_ETYPE, "an item of the cell must be vec, got scalar");
    qval_release(vm, any);
    qval_release(vm, x);
}

static bool truth(qs_vm *vm, qs_value v) {
    bool t = false;
    CHECK(qval_truth(vm, v, &t) == QS_OK);
    qval_release(vm, v);
    return t;
}

static void truths(qs_vm *vm) {
    bool t;
    CHECK(truth(vm, qs_num(0.5)) && !truth(vm, qs_num(-0.0)) && truth(vm, qs_int(-1)) && !truth(vm, qs_bool(false)) &&
          truth(vm, z34(vm)));
    CHECK(truth(vm, make_vec(vm, QS_F32, 2, (double[]){1, 2})) && !truth(vm, make_vec(vm, QS_U8, 2, (double[]){1, 0})));
    CHECK(!truth(vm, make_vec(vm, QS_F32, 0, NULL)) && truth(vm, make_vec(vm, QS_C128, 1, (double[]){3})));
    qs_value s = make_string(vm, "yes");
    CHECK_ERROR(vm, qval_truth(vm, s, &t), QS_ETYPE, "a condition must be a number or an array of numbers, got string");
    qval_release(vm, s);
}

static bool equal(qs_vm *vm, qs_value a, qs_value b) {
    bool same = qval_equal(vm, a, b);
    CHECK(qval_equal(vm, b, a) == same);
    qval_release(vm, a);
    qval_release(vm, b);
    return same;
}

static void equality(qs_vm *vm) {
    CHECK(equal(vm, qs_num(3), qs_int(3)) && equal(vm, qs_bool(true), qs_num(1)) &&
          !equal(vm, qs_num((double)NAN), qs_num((double)NAN)));
    CHECK(!equal(vm, qs_int(INT64_C(9007199254740993)), qs_num(9007199254740992.0)) &&
          !equal(vm, qs_int(INT64_MAX), qs_num(0x1p63)));
    CHECK(equal(vm, z34(vm), z34(vm)) && !equal(vm, z34(vm), qs_num(3)) && !equal(vm, qs_nil(), qs_num(0)) &&
          equal(vm, qs_nil(), qs_nil()));
    CHECK(equal(vm, make_string(vm, "a"), make_string(vm, "a")) && !equal(vm, make_string(vm, "a"), qs_num(1)));
    double x[] = {1, 2, 3};
    CHECK(equal(vm, make_vec(vm, QS_F32, 3, x), make_vec(vm, QS_U8, 3, x)) &&
          !equal(vm, make_vec(vm, QS_F32, 3, x), make_vec(vm, QS_F32, 2, x)));
    CHECK(equal(vm, make_vec(vm, QS_I64, 3, x), make_vec(vm, QS_I64, 3, x)) &&
          equal(vm, make_vec(vm, QS_C64, 3, x), make_vec(vm, QS_F64, 3, x)));
    qs_value a = make_cell(vm, 2, (qs_value[]){qs_num(1), make_string(vm, "a")}),
             b = make_cell(vm, 2, (qs_value[]){qs_int(1), make_string(vm, "a")});
    CHECK(equal(vm, qval_retain(a), qval_retain(b)));
    CHECK(qcell_store(vm, b.u.p, 0, qs_num(2)) == QS_OK && !equal(vm, a, b));
    qs_value loop1 = make_cell(vm, 1, (qs_value[]){qs_nil()}), loop2 = make_cell(vm, 1, (qs_value[]){qs_nil()});
    CHECK(qcell_store(vm, loop1.u.p, 0, loop1) == QS_OK && qcell_store(vm, loop2.u.p, 0, loop2) == QS_OK);
    CHECK(!equal(vm, loop1, loop2)); /* both are released here; the collector frees them */
    CHECK(qgc_collect(vm) == 2);
}

static qs_value construct(qs_vm *vm, const char *type, int n, const qs_value *args) {
    qs_value v = qs_nil();
    CHECK(qval_construct(vm, named(vm, type), n, args, &v) == QS_OK);
    return v;
}

static void construction(qs_vm *vm) {
    qs_value v, sizes[] = {qs_num(2), qs_num(3), qs_num(4)}, parts[] = {qs_num(1), qs_num(-2)};
    CHECK((v = construct(vm, "int", 1, (qs_value[]){qs_num(2.7)})).u.i == 2 && v.kind == QS_INT);
    CHECK((v = construct(vm, "mat", 2, sizes)).kind == QS_ARRAY && qval_array(v)->rank == 2 &&
          qval_array(v)->dims[1] == 3);
    qval_release(vm, v);
    v = construct(vm, "icube", 3, sizes);
    CHECK(qval_array(v)->dtype == QS_I32 && qval_array(v)->count == 24);
    qval_release(vm, v);
    v = construct(vm, "vec3", 3, sizes);
    CHECK(qval_array(v)->count == 3);
    qval_release(vm, v);
    v = construct(vm, "cscalar", 2, parts);
    CHECK(v.kind == QS_COMPLEX && ((Complex *)v.u.p)->im == -2);
    qval_release(vm, v);
    v = construct(vm, "string", 2, sizes);
    CHECK_TEXT(qs_nil().kind == v.kind ? "" : ((Str *)v.u.p)->s, "23");
    qval_release(vm, v);
    v = construct(vm, "cell", 2, sizes);
    CHECK(v.kind == QS_CELL && ((Cell *)v.u.p)->count == 6 && ((Cell *)v.u.p)->items[5].kind == QS_NIL);
    qval_release(vm, v);
    v = construct(vm, "object", 0, NULL);
    CHECK(v.kind == QS_OBJECT);
    qval_release(vm, v);
    v = make_vec(vm, QS_F32, 2, (double[]){1.5, -1.5});
    qs_value r = construct(vm, "int", 1, &v);
    CHECK(qval_array(r)->dtype == QS_I32);
    qval_release(vm, r);
    qval_release(vm, v);
    CHECK_ERROR(vm, qval_construct(vm, named(vm, "mat"), 3, sizes, &v), QS_ESHAPE, "mat takes 2 sizes, 3 given");
    CHECK_ERROR(vm, qval_construct(vm, named(vm, "vec3"), 2, sizes, &v), QS_ESHAPE, "vec3 takes 3 elements, 2 given");
    CHECK_ERROR(vm, qval_construct(vm, named(vm, "function"), 0, NULL, &v), QS_ETYPE,
                "a value of type function cannot be made by calling the type");
    const Type *mats = qtype_array(qvm_ctx(vm), named(vm, "mat2x2"), 1);
    CHECK(qval_construct(vm, mats, 1, sizes, &v) == QS_OK);
    qs_value *items = ((Cell *)v.u.p)->items;
    CHECK(items[0].kind == QS_ARRAY && qval_array(items[1])->count == 4 && items[0].u.p != items[1].u.p);
    qval_release(vm, v);
}

/* Whichever allocation fails, construction reports it and leaks nothing. */
static void out_of_memory(qs_vm *vm) {
    const Type *mats = qtype_array(qvm_ctx(vm), named(vm, "mat2x2"), 1);
    qs_value v, three = qs_num(3), x = make_vec(vm, QS_F32, 3, NULL);
    int failures = 0;
    for (long n = 1; n < 40; n++) {
        qvm_ctx(vm)->fail_after = n;
        qs_status s = n % 2 ? qval_construct(vm, mats, 1, &three, &v) : qval_coerce(vm, x, named(vm, "ivec"), "x", &v);
        qvm_ctx(vm)->fail_after = 0;
        if (s == QS_OK) qval_release(vm, v);
        CHECK(s == QS_OK || s == QS_ENOMEM);
        failures += s == QS_ENOMEM;
        qerr_clear(qvm_ctx(vm));
    }
    CHECK(failures >= 4 && failures < 20);
    qval_release(vm, x);
}

int main(void) {
    qs_vm *vm = machine_open();
    types(vm);
    annotations(vm);
    numbers(vm);
    conversions(vm);
    cell_types(vm);
    truths(vm);
    equality(vm);
    construction(vm);
    out_of_memory(vm);
    machine_close(vm);
    return check_done();
}
