/* The builder, folding, the verifier and the text form of KIR. */
#include "lang/kernel/ir/sem.h"
#include "tests/unit/check.h"

#include <math.h>

static Ctx ctx;
static Arena arena;

static KFunc *fresh(const char *name) { return kir_new(&ctx, &arena, qstr_cname(&ctx, name), NULL); }

static KRef ci(KFunc *f, qs_dtype d, int64_t v) { return kir_const_int(f, d, v, 0); }
static KRef cn(KFunc *f, qs_dtype d, double v) { return kir_const_num(f, d, v, 0); }
static KRef fold2(KFunc *f, KOp op, KRef a, KRef b) { return kir_fold(f, (KMake){op, .a = a, .b = b}); }

static double value(const KFunc *f, KRef r) {
    double v = 12345.678;
    CHECK(kir_is_const(f, r, &v));
    return v;
}

static void folds_with_the_semantics_of_the_table(void) {
    KFunc *f = fresh("fold");
    CHECK(value(f, fold2(f, K_ADD, ci(f, QS_I32, INT32_MAX), ci(f, QS_I32, 1))) == INT32_MIN);
    CHECK(value(f, fold2(f, K_DIV, ci(f, QS_I32, INT32_MIN), ci(f, QS_I32, -1))) == INT32_MIN);
    CHECK(value(f, fold2(f, K_DIV, ci(f, QS_I32, -7), ci(f, QS_I32, 2))) == -3);
    CHECK(value(f, fold2(f, K_DIV, ci(f, QS_I32, 7), ci(f, QS_I32, 0))) == 0);
    CHECK(value(f, fold2(f, K_MOD, ci(f, QS_I32, -7), ci(f, QS_I32, 3))) == 2);
    CHECK(value(f, fold2(f, K_MOD, ci(f, QS_I32, 7), ci(f, QS_I32, -3))) == -2);
    CHECK(value(f, fold2(f, K_MOD, ci(f, QS_I64, INT64_MIN), ci(f, QS_I64, -1))) == 0);
    CHECK(value(f, fold2(f, K_MOD, cn(f, QS_F32, -0.5), cn(f, QS_F32, 2))) == 1.5);
    CHECK(value(f, fold2(f, K_SHL, ci(f, QS_I32, 1), ci(f, QS_I32, 32))) == 0);
    CHECK(value(f, fold2(f, K_SHR, ci(f, QS_I32, -8), ci(f, QS_I32, 1))) == -4);
    CHECK(value(f, fold2(f, K_SHR, ci(f, QS_I32, -8), ci(f, QS_I32, -1))) == -1);
    CHECK(value(f, fold2(f, K_SHR, ci(f, QS_U32, 8), ci(f, QS_U32, 32))) == 0);
    CHECK(value(f, fold2(f, K_MIN, cn(f, QS_F32, NAN), cn(f, QS_F32, 2))) == 2);
    CHECK(value(f, fold2(f, K_LT, ci(f, QS_U32, 5), ci(f, QS_U32, 4000000000u))) == 1);
    CHECK(value(f, fold2(f, K_ADD, cn(f, QS_F32, 16777216), cn(f, QS_F32, 1))) == 16777216); /* rounded to float32 */
    CHECK(value(f, kir_fold(f, (KMake){K_CAST, .own = QS_I32, .a = cn(f, QS_F32, 3e9)})) == INT32_MAX);
    CHECK(value(f, kir_fold(f, (KMake){K_CAST, .own = QS_U32, .a = ci(f, QS_I32, -3)})) == 0);
    CHECK(value(f, kir_fold(f, (KMake){K_CAST, .own = QS_I64, .a = cn(f, QS_F64, NAN)})) == 0);
    CHECK(value(f, kir_fold(f, (KMake){K_MATH, .flag = MF_sqrt, .a = cn(f, QS_F64, 9)})) == 3);
    CHECK(value(f, kir_fold(f, (KMake){K_INB, .a = ci(f, QS_I64, -1), .b = ci(f, QS_I64, 4)})) == 0);
}

static void bounds(void) {
    static const int64_t mirror[] = {3, 2, 1, 0, 0, 1, 2, 3, 3, 2};
    for (int i = -4; i < 6; i++) CHECK(ksem_bound(ACC_MIRROR, i, 4) == mirror[i + 4]);
    CHECK(ksem_bound(ACC_MIRROR, INT64_MIN, 4) >= 0 && ksem_bound(ACC_MIRROR, INT64_MIN, INT64_MAX) >= 0);
    static const int64_t reflect[] = {2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1};
    for (int i = -4; i < 8; i++) CHECK(ksem_bound(ACC_REFLECT, i, 4) == reflect[i + 4]);
    for (int i = -4; i < 8; i++) CHECK(ksem_bound(ACC_REFLECT, i, 1) == 0 && ksem_bound(ACC_REFLECT, i, 2) == (i & 1));
    CHECK(ksem_bound(ACC_REFLECT, INT64_MIN, 4) == 2 && ksem_bound(ACC_REFLECT, INT64_MIN, INT64_MAX) == INT64_MAX - 3);
    CHECK(ksem_bound(ACC_CIRCULAR, -1, 4) == 3 && ksem_bound(ACC_CIRCULAR, 9, 4) == 1);
    CHECK(ksem_bound(ACC_CLAMPED, -9, 4) == 0 && ksem_bound(ACC_CLAMPED, 9, 4) == 3 &&
          ksem_bound(ACC_MIRROR, 9, 0) == 0);
}

static void folding_removes_identities(void) {
    KFunc *f = fresh("identity");
    KRef x = kir_add(f, (KMake){K_POS, .own = QS_I32}), y = kir_fold(f, (KMake){K_CAST, .own = QS_F32, .a = x});
    KRef t = kir_const_int(f, QS_B1, 1, 0), c = fold2(f, K_LT, x, ci(f, QS_I32, 4));
    CHECK(fold2(f, K_ADD, x, ci(f, QS_I32, 0)) == x);
    CHECK(fold2(f, K_ADD, y, cn(f, QS_F32, 0)) != y); /* -0 + 0 is 0 */
    KRef square = fold2(f, K_MUL, y, y), size = kir_fold(f, (KMake){K_ABS, .a = y});
    KRef sum = fold2(f, K_ADD, fold2(f, K_ADD, square, size), cn(f, QS_F32, 0.5)), none = ci(f, QS_B1, 0);
    KRef root = kir_fold(f, (KMake){K_MATH, .flag = MF_sqrt, .a = sum}), ratio = fold2(f, K_DIV, size, sum);
    KRef zero = cn(f, QS_F32, 0), wide = kir_fold(f, (KMake){K_CAST, .own = QS_F64, .a = root});
    CHECK(fold2(f, K_ADD, square, zero) == square && fold2(f, K_ADD, ratio, zero) == ratio);
    CHECK(f->ins[fold2(f, K_LT, square, zero)].imm == 0 && f->ins[fold2(f, K_LT, square, zero)].op == K_CONST);
    CHECK(f->ins[fold2(f, K_EQ, square, cn(f, QS_F32, -INFINITY))].op == K_CONST);
    CHECK(f->ins[fold2(f, K_EQ, square, zero)].op == K_EQ && f->ins[fold2(f, K_LE, ratio, zero)].op == K_LE);
    CHECK(f->ins[fold2(f, K_EQ, sum, zero)].imm == f->ins[none].imm && f->ins[fold2(f, K_EQ, sum, zero)].op == K_CONST);
    CHECK(f->ins[fold2(f, K_LE, wide, cn(f, QS_F64, 0))].op == K_CONST);
    CHECK(f->ins[fold2(f, K_LE, root, cn(f, QS_F32, 0.25))].op == K_LE && f->ins[fold2(f, K_LT, zero, sum)].op == K_LT);
    CHECK(f->ins[fold2(f, K_EQ, fold2(f, K_SUB, sum, y), zero)].op == K_EQ);
    CHECK(f->ins[fold2(f, K_EQ, fold2(f, K_ADD, sum, y), zero)].op == K_EQ);
    CHECK(f->ins[fold2(f, K_EQ, fold2(f, K_MUL, sum, sum), zero)].op == K_EQ); /* it may be too small for a float */
    CHECK(f->ins[fold2(f, K_EQ, fold2(f, K_ADD, square, cn(f, QS_F32, 1e-40)), zero)].op == K_EQ);
    CHECK(fold2(f, K_ADD, fold2(f, K_ADD, square, cn(f, QS_F32, -0.0)), zero) != square);
    CHECK(fold2(f, K_SUB, y, cn(f, QS_F32, 0)) == y);
    CHECK(fold2(f, K_SUB, y, cn(f, QS_F32, -0.0)) != y);
    CHECK(fold2(f, K_MUL, cn(f, QS_F32, 1), y) == y);
    CHECK(value(f, fold2(f, K_MUL, x, ci(f, QS_I32, 0))) == 0);
    CHECK(fold2(f, K_AND, t, c) == c && fold2(f, K_OR, t, c) == t);
    CHECK(kir_fold(f, (KMake){K_CAST, .own = QS_I32, .a = x}) == x);
    CHECK(kir_fold(f, (KMake){K_SELECT, .a = t, .b = x, .c = ci(f, QS_I32, 9)}) == x);
    CHECK(fold2(f, K_NOT, fold2(f, K_NOT, c, 0), 0) == c);
}

static void folding_narrows_extremes(void) {
    KFunc *f = fresh("extremes");
    KRef x = kir_add(f, (KMake){K_POS, .own = QS_I32}), i = kir_add(f, (KMake){K_POS, .own = QS_I64});
    KRef wide = kir_fold(f, (KMake){K_CAST, .own = QS_I64, .a = x});
    CHECK(kir_fold(f, (KMake){K_CAST, .own = QS_I32, .a = wide}) == x);
    KRef m = kir_fold(f, (KMake){K_CAST, .own = QS_I32, .a = fold2(f, K_MAX, i, wide)});
    CHECK(f->ins[m].op == K_MAX && f->ins[m].dtype == QS_I32 && f->ins[m].b == x);
    CHECK(f->ins[f->ins[m].a].op == K_CAST && f->ins[f->ins[m].a].a == i);
    CHECK(f->ins[kir_fold(f, (KMake){K_CAST, .own = QS_F64, .a = fold2(f, K_MAX, i, wide)})].op == K_CAST);
}

static KFunc *parsed(const char *text) {
    KFunc *f = NULL;
    qs_status s = kir_parse(&ctx, &arena, text, strlen(text), &f);
    CHECK(s == QS_OK);
    if (s != QS_OK) printf("  %s\n", ctx.err.text), qerr_clear(&ctx);
    return s == QS_OK ? f : NULL;
}

static const char everything[] = "kernel \"all \\\"of\\\" it\" rank 2 block 4 8 {\n"
                                 "  param \"a\" float32\n"
                                 "  param \"x.y\" array uint8 rank 2 contiguous unit_last read written\n"
                                 "  message EINDEX \"at %p: %0 > %1\"\n"
                                 "  %1 = const float32 0.100000001\n"
                                 "  %2 = param float32 a$0\n"
                                 "  %3 = pos int 1\n"
                                 "  %4 = blkpos int 0\n"
                                 "  %5 = dim int64 x_y$1.1\n"
                                 "  %6 = const bool true\n"
                                 "  %7 = local float32 %1\n"
                                 "  %8 = larray float64 3\n"
                                 "  %9 = shared.zeroed int 16\n"
                                 "  %10 = cast int64 %3\n"
                                 "  %11 = const int -2147483648\n"
                                 "  %12 = load int x_y$1 %10\n"
                                 "  store x_y$1 %10 %12 %6\n"
                                 "  atomic.max x_y$1 %10 %12\n"
                                 "  aatomic.add %9 %4 %12\n"
                                 "  %16 = bound.mirror int64 %10 %5\n"
                                 "  %17 = math.atan2 float32 %1 %2\n"
                                 "  %18 = for.fixed int %11 %3 %12\n"
                                 "    if %6\n"
                                 "      continue 0\n"
                                 "    else\n"
                                 "      break 0\n"
                                 "    end\n"
                                 "  end\n"
                                 "  barrier\n"
                                 "  check #0 %6 _ %1 @77\n"
                                 "  %27 = const float64 0x7ff8000000000001\n"
                                 "  %28 = const float64 -inf\n"
                                 "  ret\n"
                                 "}\n";

static void text_is_read_back_exactly(void) {
    KFunc *f = parsed("kernel \"k\" rank 1 {\n}\n");
    CHECK(f && f->nins == 1);
    if (!(f = parsed(everything))) return;
    CHECK(kir_verify(&ctx, f) == QS_OK);
    Text t;
    qtext_init(&t, &ctx);
    kir_print(f, &t);
    CHECK_TEXT(t.s, everything);
    uint64_t hash = f->hash;
    KFunc *again = parsed(t.s);
    CHECK(again && again->hash == hash && f->barrier && f->shared);
    again->ins[3].pos = 99, kir_seal(again);
    CHECK(again->hash == hash);
    again->ins[3].imm = 0, kir_seal(again);
    CHECK(again->hash != hash);
    qtext_free(&t);
}

/* A name may contain any characters; its text is one line, and other control characters are syntax errors. */
static void names_hold_control_characters(void) {
    static const char odd[] = "a\n\t\"\\\x7f\x01z";
    Str *name = qstr_name(&ctx, odd, sizeof odd - 1);
    KFunc *f = kir_new(&ctx, &arena, name, NULL);
    Text t;
    qtext_init(&t, &ctx);
    kir_add(f, (KMake){.op = K_RET});
    kir_seal(f);
    kir_print(f, &t);
    CHECK(strstr(t.s, "\"a\\x0a\\x09\\\"\\\\\\x7f\\x01z\"") != NULL);
    KFunc *again = parsed(t.s);
    CHECK(again && again->name == name);
    qtext_free(&t);
}

static void refuses(const char *body, const char *why) {
    char text[2048];
    snprintf(text, sizeof text,
             "kernel \"k\" rank 1 {\n param \"x\" array float32 rank 1 contiguous\n param \"n\" int\n%s}\n", body);
    KFunc *f = parsed(text);
    if (!f) return;
    CHECK(kir_verify(&ctx, f) == QS_EINTERNAL);
    if (!strstr(ctx.err.text, why)) CHECK_TEXT(ctx.err.text, why);
    qerr_clear(&ctx);
}

static void verifier_refuses_what_is_malformed(void) {
    refuses("%1 = const bool true\n if %1\n %3 = const int 1\n end\n %5 = neg int %3\n", "out of sight");
    refuses("%1 = const bool true\n if %1\n", "not closed");
    refuses("end\n", "nothing is open");
    refuses("%1 = const bool true\n if %1\n else\n else\n end\n", "nothing is open");
    refuses("break 0\n", "0 loops");
    refuses("%1 = const int 1\n if %1\n end\n", "bool");
    refuses("%1 = const int 1\n %2 = const float32 1\n %3 = add int %1 %2\n", "one dtype");
    refuses("%1 = const int 1\n %2 = add float32 %1 %1\n", "result");
    refuses("%1 = const bool true\n %2 = add bool %1 %1\n", "numbers");
    refuses("%1 = pos int 1\n", "1 axes");
    refuses("%1 = const int 1\n %2 = load float32 x$0 %1\n", "int64");
    refuses("%1 = const int64 1\n %2 = load float64 x$0 %1\n", "value dtype");
    refuses("%1 = const int64 1\n %2 = load float32 x$0 %1 %1\n", "guard");
    refuses("%1 = const int64 1\n %2 = load int n$1 %1\n", "wrong kind");
    refuses("%1 = stride int64 x$0.0\n", "contiguous");
    refuses("%1 = dim int64 x$0.1\n", "no such array axis");
    refuses("%1 = const int 1\n %2 = local int %1\n %3 = add int %1 %2\n", "GET");
    refuses("%1 = const int 1\n %2 = get int %1\n", "no LOCAL");
    refuses("%1 = larray int 4000000\n", "elements");
    refuses("%1 = const float32 1\n %2 = math.atan2 float32 %1\n", "flag");
    refuses("%1 = const int 1\n %2 = for int %1 %1 %1\n end\n %4 = neg int %2\n", "out of sight");
    refuses("%1 = const int 1\n %2 = for.zeros int %1 %1 %1\n end\n", "flag");
    refuses("%1 = const int 1\n %2 = add.fixed int %1 %1\n", "flag");
    refuses("%1 = const int 4294967295\n", "bits");
    refuses("%1 = const bool true\n check #0 %1\n", "message");
    refuses("%1 = param float32 n$1\n", "dtype");
}

static void reader_refuses_what_is_no_text(void) {
    static const char *const bad[] = {"",
                                      "kernel",
                                      "kernel \"a",
                                      "kernel \"a\nb\" rank 1 {\n}",
                                      "kernel \"a\tb\" rank 1 {\n}",
                                      "kernel \"a\x01\" rank 1 {\n}",
                                      "kernel \"a\" rank 9 {\n}",
                                      "kernel \"a\" rank 1 {\n%1 = frob\n}",
                                      "kernel \"a\" rank 1 {\n%1 = neg int %7\n}",
                                      "kernel \"a\" rank 1 {\n ret",
                                      "kernel \"a\" rank 1 {\n%1 = ret\n}",
                                      "kernel \"a\" rank 1 {\n%1 = const int x\n}",
                                      "kernel \"a\" rank 1 {\n%1 = const int 1 %%\n}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        KFunc *f;
        CHECK(kir_parse(&ctx, &arena, bad[i], strlen(bad[i]), &f) == QS_ESYNTAX);
        qerr_clear(&ctx);
    }
}

static void fault_sentence(void) {
    KFunc *f = fresh("k");
    f->rank = 2;
    KFault fault = {.message = (uint32_t)kir_message(f, QS_EINDEX, "index %0 of %1 at %p: 100%") + 1,
                    .value = {7, 2.5},
                    .at = {3, -1}};
    CHECK(kir_message(f, QS_EINDEX, "index %0 of %1 at %p: 100%") == 0 && kir_message(f, QS_EASSERT, "no") == 1);
    Text t;
    qtext_init(&t, &ctx);
    kir_fault_text(f, &fault, &t);
    CHECK_TEXT(t.s, "index 7 of 2.5 at [3,-1]: 100%");
    qtext_free(&t);
}

int main(void) {
    qctx_init(&ctx, 32);
    qarena_init(&arena, &ctx);
    folds_with_the_semantics_of_the_table();
    bounds();
    folding_removes_identities();
    folding_narrows_extremes();
    text_is_read_back_exactly();
    names_hold_control_characters();
    verifier_refuses_what_is_malformed();
    reader_refuses_what_is_no_text();
    fault_sentence();
    qarena_free(&arena);
    qctx_close(&ctx);
    return check_done();
}
