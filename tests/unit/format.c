/* The text of values as printed, the short form at the prompt, and C-like formats. */
#include "tests/unit/machine.h"

#include <math.h>

static void shows(qs_vm *vm, qs_value v, const char *want) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    CHECK(qfmt_value(vm, v, &t) == QS_OK);
    CHECK_TEXT(t.s, want);
    qtext_free(&t);
    qval_release(vm, v);
}

static void brief(qs_vm *vm, qs_value v, const char *want) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    CHECK(qfmt_brief(vm, v, &t) == QS_OK);
    CHECK_TEXT(t.s, want);
    qtext_free(&t);
    qval_release(vm, v);
}

static qs_value cplx(qs_vm *vm, double re, double im) {
    qs_value z = qs_nil();
    CHECK(qval_complex(vm, re, im, &z) == QS_OK);
    return z;
}

static void numbers(qs_vm *vm) {
    static const struct {
        double x;
        const char *text;
    } rows[] = {{0, "0"},
                {-0.0, "-0"},
                {3, "3"},
                {-17, "-17"},
                {0.1, "0.1"},
                {1.0 / 3, "0.333333333333333"},
                {0.1 + 0.2, "0.3"},
                {1e6, "1000000"},
                {123456789012345, "123456789012345"},
                {1e15, "1e+15"},
                {1e300, "1e+300"},
                {1.5e-7, "1.5e-07"},
                {(double)INFINITY, "inf"},
                {-(double)INFINITY, "-inf"},
                {(double)NAN, "nan"},
                {-(double)NAN, "nan"},
                {2.5, "2.5"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) shows(vm, qs_num(rows[i].x), rows[i].text);
    shows(vm, qs_int(INT64_MIN), "-9223372036854775808");
    shows(vm, qs_bool(true), "1");
    shows(vm, qs_nil(), "null");
    shows(vm, cplx(vm, 3, 4), "3+4j");
    shows(vm, cplx(vm, 0.5, -1), "0.5-1j");
    shows(vm, cplx(vm, (double)NAN, (double)NAN), "nan+nanj");
    shows(vm, make_string(vm, "raw \"text\"\\n"), "raw \"text\"\\n");
}

static void arrays(qs_vm *vm) {
    double x[] = {1, 2.5, -0.1, 16777216, 5e-8, 6, 7, 8, 9, 10, 11, 12};
    shows(vm, make_vec(vm, QS_F32, 6, x), "[1,2.5,-0.1,16777216,5e-08,6]");
    shows(vm, make_vec(vm, QS_U8, 3, x), "[1,2,0]");
    shows(vm, make_vec(vm, QS_F16, 3, x), "[1,2.5,-0.1]");
    shows(vm, make_vec(vm, QS_BF16, 3, x), "[1,2.5,-0.1]");
    shows(vm, make_vec(vm, QS_B1, 3, (double[]){1, 0, 2}), "[1,0,1]");
    shows(vm, make_vec(vm, QS_C64, 2, x), "[1+0j,2.5+0j]");
    shows(vm, make_vec(vm, QS_F32, 0, NULL), "[]");
    shows(vm, qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 2}, x)), "[[1,2.5],\n [-0.1,16777216]]");
    shows(vm, qarr_value(make_array(vm, QS_F64, 2, (int64_t[]){3, 1}, x)), "[[1],\n [2.5],\n [-0.1]]");
    shows(vm, qarr_value(make_array(vm, QS_I32, 3, (int64_t[]){2, 2, 3}, x)),
          "[[[1,2,0],\n  [16777216,0,6]],\n [[7,8,9],\n  [10,11,12]]]");
    shows(vm, qarr_value(make_array(vm, QS_I32, 2, (int64_t[]){2, 0}, NULL)), "[]");
    shows(vm, qarr_value(make_array(vm, QS_F32, 0, (int64_t[]){0}, x)), "[1]");
    Array *a = make_array(vm, QS_U64, 1, (int64_t[]){1}, NULL),
          *base = make_array(vm, QS_I16, 2, (int64_t[]){2, 3}, (double[]){1, 2, 3, 4, 5, 6}), *v;
    void *p;
    CHECK(qarr_write(vm, a, &p) == QS_OK);
    *(uint64_t *)p = UINT64_MAX;
    shows(vm, qarr_value(a), "[18446744073709551615]");
    CHECK(qarr_view(vm, base, 2, (int64_t[]){3, 2}, (int64_t[]){-1, 3}, 2, &v) == QS_OK);
    shows(vm, qarr_value(v), "[[3,6],\n [2,5],\n [1,4]]");
    qarr_release(vm, base);
}

static void containers(qs_vm *vm) {
    qs_value mat = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 2}, (double[]){1, 2, 3, 4}));
    Object *o;
    CHECK(qobj_new(vm, NULL, &o) == QS_OK);
    CHECK(qobj_set(vm, o, qstr_cname(qvm_ctx(vm), "x"), qs_num(1)) == QS_OK);
    CHECK(qobj_set(vm, o, qstr_cname(qvm_ctx(vm), "self"), qval_object(QS_OBJECT, o)) == QS_OK);
    qs_value empty = make_cell(vm, 0, NULL);
    qs_value items[] = {qs_num(1), make_string(vm, "a"), mat, empty, qs_nil(), qval_object(QS_OBJECT, o)};
    qs_value c = make_cell(vm, 6, items);
    qval_retain(items[5]);
    shows(vm, c, "{1,\"a\",[[1,2],[3,4]],{},null,object{x: 1, self: …}}");
    shows(vm, items[5], "object{x: 1, self: …}");
    CHECK(qgc_collect(vm) == 1);
    Cell *grid;
    CHECK(qcell_new(vm, named(vm, "string"), 2, (int64_t[]){2, 2}, &grid) == QS_OK);
    shows(vm, qval_object(QS_CELL, grid), "{{\"\",\"\"},\n {\"\",\"\"}}");
    shows(vm, qobj_type(vm, named(vm, "mat"), (TypeMods){ACC_CIRCULAR, 0}), "mat'circular");
    static const qs_native_def def = {"sum", NULL, 1, 2, 1, NULL};
    shows(vm, qval_object(QS_FUNCTION, qfn_native(vm, &def)), "function sum");
}

static void depths(qs_vm *vm) {
    Text t;
    qs_value v = qs_nil();
    for (int i = 0; i < 100000; i++) v = make_cell(vm, 1, &v);
    qtext_init(&t, qvm_ctx(vm));
    CHECK(qfmt_value(vm, v, &t) == QS_OK && t.len == 203 && strstr(t.s, "{…}"));
    qtext_free(&t);
    qval_release(vm, v);
}

static void prompt(qs_vm *vm) {
    brief(vm, make_string(vm, "text"), "\"text\"");
    brief(vm, qarr_value(make_array(vm, QS_U8, 2, (int64_t[]){100, 20}, NULL)),
          "[[0,0,0,…,0,0,0],\n [0,0,0,…,0,0,0],\n [0,0,0,…,0,0,0],\n …,\n [0,0,0,…,0,0,0],\n [0,0,0,…,0,0,0],\n "
          "[0,0,0,…,0,0,0]] (100x20 uint8)");
    brief(vm, qarr_value(make_array(vm, QS_U8, 2, (int64_t[]){2, 600}, NULL)),
          "[[0,0,0,…,0,0,0],\n [0,0,0,…,0,0,0]] (2x600 uint8)");
    brief(vm, make_vec(vm, QS_F32, 1001, NULL), "[0,0,0,…,0,0,0] (1001 float32)");
    char text[5001];
    memset(text, 'x', 5000);
    text[5000] = 0;
    memcpy(text + 1998, "äää", 6);
    Text t;
    qs_value s = make_string(vm, text);
    qtext_init(&t, qvm_ctx(vm));
    CHECK(qfmt_brief(vm, s, &t) == QS_OK && t.len == 1 + 2000 + 3 + 1);
    qtext_free(&t);
    qval_release(vm, s);
}

static void prints(qs_vm *vm, const char *fmt, int n, const qs_value *args, const char *want) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    CHECK(qfmt_printf(vm, fmt, strlen(fmt), n, args, &t) == QS_OK);
    CHECK_TEXT(t.s ? t.s : "", want);
    qtext_free(&t);
    qerr_clear(qvm_ctx(vm));
}
#define PRINTS(fmt, want, ...)                                                                                         \
    prints(vm, fmt, (int)(sizeof(qs_value[]){__VA_ARGS__} / sizeof(qs_value)), (qs_value[]){__VA_ARGS__}, want)

static void fails(qs_vm *vm, const char *fmt, int n, const qs_value *args, qs_status status, const char *text) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    CHECK_ERROR(vm, qfmt_printf(vm, fmt, strlen(fmt), n, args, &t), status, text);
    qtext_free(&t);
}
#define FAILS(fmt, status, text, ...)                                                                                  \
    fails(vm, fmt, (int)(sizeof(qs_value[]){__VA_ARGS__} / sizeof(qs_value)), (qs_value[]){__VA_ARGS__}, status, text)

static void formats(qs_vm *vm) {
    qs_value size = make_vec(vm, QS_F32, 2, (double[]){129, 257}), s = make_string(vm, "täx"), z = cplx(vm, 3, -4.5),
             c = make_cell(vm, 1, (qs_value[]){qs_num(1)});
    qs_value mat = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 2}, (double[]){1, 2, 3.7, -4.7}));
    prints(vm, "100%% plain", 0, NULL, "100% plain");
    prints(vm, "a\\nb\\tc\\\\d\\\"e\\q\\", 0, NULL, "a\nb\tc\\d\"e\\q\\");
    PRINTS("%d|%d|%d|%i", "3|-3|1|7", qs_num(3.99), qs_num(-3.99), qs_bool(true), qs_int(7));
    PRINTS("%08d|%-5d|%+d|% d", "00000042|7    |+1| 1", qs_num(42), qs_num(7), qs_num(1), qs_num(1));
    PRINTS("size: %d", "size: [129,257]", size);
    PRINTS("%5.1f", "[[  1.0,  2.0],[  3.7, -4.7]]", mat);
    PRINTS("%d", "[[1,2],[3,-4]]", mat);
    PRINTS("%d %d %d", "100000000000000000000 inf nan", qs_num(1e20), qs_num((double)INFINITY), qs_num((double)NAN));
    PRINTS("%f %.2f %e %g %G", "0.500000 3.14 1.000000e+10 1e-05 1E-05", qs_num(0.5), qs_num(3.14159), qs_num(1e10),
           qs_num(1e-5), qs_num(1e-5));
    PRINTS("%x %X %o %#x %ld %lu", "ff FF 17 0xff 5 6", qs_num(255), qs_num(255), qs_num(15), qs_num(255), qs_num(5),
           qs_num(6));
    PRINTS("%x", "ffffffffffffffff", qs_num(-1));
    PRINTS("%.1f|%d", "3.0-4.5j|3-4j", z, z);
    PRINTS("[%s|%5s|%-5s|%.2s]", "[täx|  täx|täx  |tä]", s, s, s, s);
    PRINTS("%s %s %s", "[129,257] 0.25 {1}", size, qs_num(0.25), c);
    PRINTS("%c%c%c%c", "Aä€😀", qs_num(65), qs_num(0xE4), qs_num(0x20AC), qs_num(0x1F600));
    PRINTS("%*d|%-*d|%.*f", "   42|42   |0.33", qs_num(5), qs_num(42), qs_num(5), qs_num(42), qs_num(2),
           qs_num(1.0 / 3));
    qs_value all[] = {size, z, c, mat};
    FAILS("%d %d", QS_EVALUE, "the format asks for more than the 1 value given", qs_num(1));
    FAILS("%d", QS_EVALUE, "the format uses 1 of the 2 values given", qs_num(1), qs_num(2));
    FAILS("%s %d", QS_ETYPE, "%d needs a number, but value 2 is string", qs_num(1), s);
    FAILS("%f", QS_ETYPE, "%f needs a number, but value 1 is vec[??]", c);
    FAILS("%y", QS_EVALUE, "unknown conversion %y in the format; write %% for a percent sign", qs_num(1));
    FAILS("%n", QS_EVALUE, "unknown conversion %n in the format; write %% for a percent sign", qs_num(1));
    FAILS("50%", QS_EVALUE, "the format ends inside a conversion; write %% for a percent sign", qs_num(1));
    FAILS("%99999999999999999999d", QS_EVALUE, "a width in the format is beyond 4096", qs_num(1));
    FAILS("%*d", QS_ETYPE, "* in a format needs a number, but value 1 is string", s, qs_num(1));
    FAILS("%c", QS_EVALUE, "%c: value 1 is not a character code", qs_num(0xD800));
    qval_release(vm, s);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) qval_release(vm, all[i]);
}

/* Any bytes as a format, any value as an argument: text or an error, never a crash. */
static void random_formats(qs_vm *vm) {
    static const char alphabet[] = "%%%%dfsxcg*.-+ #0123456789lh\\nab";
    qs_value s = make_string(vm, "s"), v = make_vec(vm, QS_C64, 2, NULL);
    qs_value args[] = {qs_num(-2.5), qs_int(7), s, v, qs_nil(), cplx(vm, 1, 2)};
    uint32_t seed = 3;
    for (int i = 0; i < 20000; i++) {
        char fmt[12];
        for (size_t j = 0; j < sizeof fmt; j++)
            seed = seed * 1664525u + 1013904223u, fmt[j] = alphabet[(seed >> 16) % (sizeof alphabet)];
        Text t;
        qtext_init(&t, qvm_ctx(vm));
        qs_status got = qfmt_printf(vm, fmt, sizeof fmt, (int)(seed >> 24) % 7, args, &t);
        CHECK(got == qvm_ctx(vm)->err.status);
        qtext_free(&t);
        qerr_clear(qvm_ctx(vm));
    }
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) qval_release(vm, args[i]);
}

int main(void) {
    qs_vm *vm = machine_open();
    numbers(vm);
    arrays(vm);
    containers(vm);
    depths(vm);
    prompt(vm);
    formats(vm);
    random_formats(vm);
    machine_close(vm);
    return check_done();
}
