/* Cells, class instances, dynamic objects, functions, foreign values; their destruction, and the cycle collector. */
#include "lang/syntax/ast.h"
#include "tests/unit/machine.h"

static Str *name(qs_vm *vm, const char *s) { return qstr_cname(qvm_ctx(vm), s); }

static qs_value object(Object *o) { return qval_object(QS_OBJECT, o); }

static void cells(qs_vm *vm) {
    Cell *c;
    CHECK(qcell_new(vm, named(vm, "??"), 3, (int64_t[]){1, 4, 1}, &c) == QS_OK && c->rank == 1 && c->dims[0] == 4 &&
          c->count == 4);
    qval_release(vm, qval_object(QS_CELL, c));
    CHECK(qcell_new(vm, named(vm, "string"), 2, (int64_t[]){2, 0}, &c) == QS_OK && c->count == 0);
    qval_release(vm, qval_object(QS_CELL, c));
    CHECK(qcell_new(vm, named(vm, "string"), 1, (int64_t[]){2}, &c) == QS_OK && c->items[1].kind == QS_STRING);
    CHECK(qcell_store(vm, c, 1, qs_num(1)) == QS_ETYPE);
    qerr_clear(qvm_ctx(vm));
    qval_release(vm, qval_object(QS_CELL, c));
    CHECK_ERROR(vm, qcell_new(vm, named(vm, "??"), 1, (int64_t[]){-3}, &c), QS_ESHAPE,
                "cell: size must be ≥ 0, got -3");
    CHECK_ERROR(vm, qcell_new(vm, named(vm, "??"), 3, (int64_t[]){INT64_MAX, INT64_MAX, 9}, &c), QS_ENOMEM,
                "cell: no memory for so many items");
    CHECK(qcell_new(vm, named(vm, "??"), 2, (int64_t[]){INT64_MAX, 0}, &c) == QS_OK && c->count == 0);
    qval_release(vm, qval_object(QS_CELL, c));
    qvm_ctx(vm)->fail_after = 1;
    CHECK_ERROR(vm, qcell_new(vm, named(vm, "??"), 1, (int64_t[]){3}, &c), QS_ENOMEM, "cell: no memory for 3 items");
}

static Class *make_class(qs_vm *vm, ClassKind kind) {
    Field f[] = {{name(vm, "x"), named(vm, "scalar"), qs_num(5), 0},
                 {name(vm, "count"), named(vm, "int"), qs_nil(), 0},
                 {name(vm, "data"), named(vm, "vec"), make_vec(vm, QS_F32, 2, (double[]){1, 2}), 0},
                 {name(vm, "tag"), named(vm, "string"), qs_nil(), 0}};
    return qclass_new(vm, name(vm, "point"), kind, 4, f);
}

static void instances(qs_vm *vm) {
    Class *cls = make_class(vm, CLASS_MUTABLE);
    Object *a = NULL, *b = NULL;
    qs_value v, s = make_string(vm, "s");
    CHECK(qobj_new(vm, cls, &a) == QS_OK && qobj_new(vm, cls, &b) == QS_OK);
    CHECK(qobj_get(vm, a, name(vm, "x"), &v) == QS_OK && v.u.f == 5);
    CHECK(qobj_get(vm, a, name(vm, "count"), &v) == QS_OK && v.kind == QS_INT && v.u.i == 0);
    CHECK(a->slots[2].u.p != b->slots[2].u.p && qval_equal(vm, a->slots[2], b->slots[2]));
    CHECK(qobj_set(vm, a, name(vm, "count"), qs_num(3.7)) == QS_OK && a->slots[1].kind == QS_INT &&
          a->slots[1].u.i == 3);
    CHECK(qobj_set(vm, a, name(vm, "tag"), s) == QS_OK && qobj_has(a, name(vm, "tag")) && !qobj_has(a, name(vm, "y")));
    CHECK_ERROR(vm, qobj_set(vm, a, name(vm, "x"), s), QS_ETYPE, "field x of point must be scalar, got string");
    CHECK_ERROR(vm, qobj_get(vm, a, name(vm, "cuont"), &v), QS_ENAME, "point has no field cuont; did you mean count?");
    CHECK_ERROR(vm, qobj_set(vm, a, name(vm, "zzzzz"), s), QS_ENAME, "point has no field zzzzz");
    CHECK(qval_type(vm, object(a)) == cls->type && qval_is_type(vm, object(a), cls->type) &&
          qval_is_type(vm, qs_nil(), cls->type));
    CHECK(qval_is_type(vm, object(a), qtype_ptr(qvm_ctx(vm), cls->type)) &&
          !qval_is_type(vm, object(a), named(vm, "object")));
    qs_value made, args[] = {qs_num(1), qs_num(2)};
    CHECK(qval_construct(vm, cls->type, 2, args, &made) == QS_OK && ((Object *)made.u.p)->slots[1].u.i == 2);
    qval_release(vm, made);
    CHECK_ERROR(vm, qval_construct(vm, cls->type, 1, &s, &made), QS_ETYPE,
                "field x of point must be scalar, got string");
    qval_release(vm, s);
    qval_release(vm, object(a));
    qval_release(vm, object(b));
    qclass_free(vm, cls);
}

static void immutable(qs_vm *vm) {
    Class *cls = make_class(vm, CLASS_IMMUTABLE);
    Object *a;
    CHECK(qobj_new(vm, cls, &a) == QS_OK && qobj_init(vm, a, name(vm, "x"), qs_num(7)) == QS_OK &&
          a->slots[0].u.f == 7);
    CHECK_ERROR(vm, qobj_set(vm, a, name(vm, "x"), qs_num(1)), QS_EVALUE,
                "field x of point cannot be assigned: the class is not declared mutable");
    qval_release(vm, object(a));
    qclass_free(vm, cls);
}

static void dynamic(qs_vm *vm) {
    Class *cls = make_class(vm, CLASS_DYNAMIC);
    Object *o, *d;
    qs_value v;
    Str *field;
    char text[20];
    CHECK(qobj_new(vm, NULL, &o) == QS_OK && qobj_new(vm, cls, &d) == QS_OK);
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "f%d", i);
        CHECK(qobj_set(vm, o, name(vm, text), qs_num(i)) == QS_OK &&
              qobj_set(vm, d, name(vm, text), qs_num(-i)) == QS_OK);
    }
    CHECK(qobj_set(vm, o, name(vm, "f3"), make_string(vm, "new")) == QS_OK);
    qval_release(vm, o->slots[3]); /* the test's own reference */
    CHECK(qobj_count(o) == 100 && qobj_count(d) == 104);
    CHECK(qobj_field(d, 0, &field, &v) && field == name(vm, "x") && qobj_field(d, 104 - 1, &field, &v) &&
          field == name(vm, "f99") && v.u.f == -99);
    CHECK(!qobj_field(d, 104, &field, &v) && !qobj_field(o, 100, &field, &v));
    CHECK(qobj_get(vm, o, name(vm, "f42"), &v) == QS_OK && v.u.f == 42);
    CHECK_ERROR(vm, qobj_get(vm, o, name(vm, "g42"), &v), QS_ENAME, "the object has no field g42; did you mean f42?");
    CHECK(qval_is_type(vm, object(d), named(vm, "object")) && qval_is_type(vm, object(o), named(vm, "object")));
    qval_release(vm, object(o));
    qval_release(vm, object(d));
    qclass_free(vm, cls);
}

static int released;
static void count_release(void *p) { released += *(int *)p; }

static void functions(qs_vm *vm) {
    static const qs_native_def def = {"sum", NULL, 1, 2, 1, NULL};
    Function *f = qfn_native(vm, &def), *g = qfn_native(vm, &def), *set = qfn_set(vm, name(vm, "sum"));
    CHECK(qval_equal(vm, qval_object(QS_FUNCTION, f), qval_object(QS_FUNCTION, g)));
    qfn_set_add(vm, set, f);
    qfn_set_add(vm, set, g);
    CHECK(f->gc.hdr.refs == 2);
    const Type *one = named(vm, "scalar"), *args[] = {one, one, one};
    CHECK(qval_is_type(vm, qval_object(QS_FUNCTION, set), qtype_fn(qvm_ctx(vm), TY_FN, args, 2)));
    CHECK(!qval_is_type(vm, qval_object(QS_FUNCTION, f), qtype_fn(qvm_ctx(vm), TY_FN, args, 3)));
    CHECK(!qval_is_type(vm, qval_object(QS_FUNCTION, f), named(vm, "kernel_function")));
    qval_release(vm, qval_object(QS_FUNCTION, f));
    qval_release(vm, qval_object(QS_FUNCTION, g));
    qval_release(vm, qval_object(QS_FUNCTION, set));
    qs_value t = qobj_type(vm, one, (TypeMods){0});
    CHECK(((TypeValue *)t.u.p)->type == one && qval_is_type(vm, t, named(vm, "type")));
    qval_release(vm, t);
}

static void deep(qs_vm *vm) {
    enum { DEPTH = 1000000 };
    qs_value v = qs_nil();
    for (int i = 0; i < DEPTH; i++) v = make_cell(vm, 1, &v);
    CHECK(qvm(vm)->gc_count == DEPTH);
    qval_release(vm, v);
    CHECK(qvm(vm)->gc_count == 0);
    Object *o, *last = NULL;
    for (int i = 0; i < DEPTH / 10; i++) {
        CHECK(qobj_new(vm, NULL, &o) == QS_OK &&
              qobj_set(vm, o, name(vm, "next"), last ? object(last) : qs_nil()) == QS_OK);
        if (last) qval_release(vm, object(last));
        last = o;
    }
    CHECK(qgc_collect(vm) == 0);
    qval_release(vm, object(last));
    CHECK(qvm(vm)->gc_count == 0);
}

/* A ring through every type of container, which also refers to an array and a foreign value. */
static void ring(qs_vm *vm) {
    static const qs_foreign_type ftype = {.name = "thing", .release = count_release};
    static int one = 1;
    static Unit unit;
    static Func ast = {.unit = &unit}; /* only its name is looked at, and functions are counted */
    Object *o;
    released = 0;
    ast.name = name(vm, "lambda");
    Function *f = qfn_script(vm, &ast, 2);
    CHECK(qobj_new(vm, NULL, &o) == QS_OK);
    qs_value cell = make_cell(vm, 2, (qs_value[]){object(o), qval_object(QS_FOREIGN, qobj_foreign(vm, &ftype, &one))});
    f->captures[0] = cell;
    f->captures[1] = make_vec(vm, QS_F32, 1000, NULL);
    CHECK(qobj_set(vm, o, name(vm, "call"), qval_object(QS_FUNCTION, f)) == QS_OK);
    CHECK(qgc_collect(vm) == 0 && released == 0); /* f is held here */
    qval_release(vm, qval_object(QS_FUNCTION, f));
    CHECK(released == 0 && qgc_collect(vm) == 4 && released == 1);
}

/* Every object reachable from outside survives with its contents, whatever the order of the list. */
static void random_graph(qs_vm *vm) {
    enum { N = 200 };
    qs_value held[N];
    uint32_t seed = 7;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < N; i++) held[i] = make_cell(vm, 3, (qs_value[]){qs_num(i), qs_nil(), qs_nil()});
        for (int i = 0; i < 2 * N; i++) {
            seed = seed * 1664525u + 1013904223u;
            CHECK(qcell_store(vm, held[seed >> 8 & 127].u.p, 1 + (seed >> 20 & 1), held[(seed >> 16) % N]) == QS_OK);
        }
        for (int i = 1; i < N; i++) qval_release(vm, held[i]);
        qgc_collect(vm);
        size_t alive = qvm(vm)->gc_count;
        CHECK(alive >= 1 && alive < N && ((Cell *)held[0].u.p)->items[0].u.f == 0);
        CHECK(qgc_collect(vm) == 0 && qvm(vm)->gc_count == alive);
        qval_release(vm, held[0]);
        qgc_collect(vm);
        CHECK(qvm(vm)->gc_count == 0);
    }
}

/* Cycles made in a loop do not accumulate: the collector starts automatically. */
static void automatic(qs_vm *vm) {
    size_t most = 0;
    for (int i = 0; i < 100000; i++) {
        qs_value c = make_cell(vm, 1, (qs_value[]){qs_nil()});
        CHECK(qcell_store(vm, c.u.p, 0, c) == QS_OK);
        qval_release(vm, c);
        if (qvm(vm)->gc_count > most) most = qvm(vm)->gc_count;
    }
    CHECK(most <= 10001);
    qgc_collect(vm);
}

int main(void) {
    qs_vm *vm = machine_open();
    cells(vm);
    instances(vm);
    immutable(vm);
    dynamic(vm);
    functions(vm);
    deep(vm);
    ring(vm);
    random_graph(vm);
    automatic(vm);
    machine_close(vm);
    return check_done();
}
