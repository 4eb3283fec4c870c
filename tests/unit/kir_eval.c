/* The reference evaluator: control flow, memory, barriers, faults.  Single instructions are in kir_ops.c. */
#include "lang/kernel/kir.h"
#include "tests/unit/check.h"

#include <math.h>
#include <time.h>

static Ctx ctx;
static Arena arena;

static KFunc *kernel(const char *text) {
    KFunc *f = NULL;
    qs_status s = kir_parse(&ctx, &arena, text, strlen(text), &f);
    if (s == QS_OK) s = kir_verify(&ctx, f);
    CHECK(s == QS_OK);
    if (s != QS_OK) printf("  %s\n", ctx.err.text), qerr_clear(&ctx);
    return s == QS_OK ? f : NULL;
}

static KArg vec(void *data, int64_t n) { return (KArg){.data = data, .dims = {n}, .strides = {1}}; }

static qs_status launch(const char *text, const KArg *args, int64_t n, int32_t block, KFault *fault) {
    KFunc *f = kernel(text);
    return f ? keval_run(&ctx, f, args, &(KLaunch){1, {n}, {block}}, fault, NULL) : QS_EINTERNAL;
}

static void a_stencil_with_mirrored_border(void) {
    float x[5] = {1, 2, 3, 4, 5}, y[5];
    KArg args[2] = {vec(x, 5), vec(y, 5)};
    CHECK(launch("kernel \"blur\" rank 1 {\n param \"x\" array float32 rank 1\n param \"y\" array float32 rank 1\n"
                 "%1 = pos int64 0\n %2 = const int64 1\n %3 = dim int64 x$0.0\n"
                 "%4 = sub int64 %1 %2\n %5 = bound.mirror int64 %4 %3\n %6 = add int64 %1 %2\n %7 = bound.mirror int64 %6 %3\n"
                 "%8 = load float32 $0 %5\n %9 = load float32 $0 %7\n %10 = add float32 %8 %9\n store $1 %1 %10\n}\n",
                 args, 5, 2, NULL) == QS_OK);
    static const float want[5] = {3, 4, 6, 8, 9};
    CHECK(!memcmp(y, want, sizeof want));
}

/* Sum over a block in shared memory: log2 steps with a barrier in a loop; 10 elements in blocks of 4. */
static void reduction_with_barriers(void) {
    int32_t x[10], y[3] = {0};
    for (int i = 0; i < 10; i++) x[i] = 1 << i;
    KArg args[2] = {vec(x, 10), vec(y, 3)};
    CHECK(launch("kernel \"sum\" rank 1 {\n param \"x\" array int rank 1\n param \"y\" array int rank 1\n"
                 "%1 = pos int64 0\n %2 = blkpos int 0\n %3 = shared.zeroed int 4\n %4 = load int $0 %1\n astore %3 %2 %4\n"
                 "%6 = const int 2\n %7 = local int %6\n loop\n barrier\n %10 = get int %7\n %11 = const int 1\n"
                 "%12 = lt bool %10 %11\n if %12\n break 0\n end\n"
                 "%16 = lt bool %2 %10\n if %16\n %18 = add int %2 %10\n %19 = aload int %3 %18\n aatomic.add %3 %2 %19\n end\n"
                 "%22 = shr int %10 %11\n set %7 %22\n end\n"
                 "%25 = const int 0\n %26 = eq bool %2 %25\n %27 = blkidx int 0\n %28 = cast int64 %27\n %29 = aload int %3 %25\n"
                 "store $1 %28 %29 %26\n}\n",
                 args, 10, 4, NULL) == QS_OK);
    CHECK(y[0] == 15 && y[1] == 240 && y[2] == 768);
}

static void nested_break_and_continue(void) {
    int32_t y[1] = {0};
    KArg args[1] = {vec(y, 1)};
    /* for i in 0..9: for j in 0..9: if j==3 continue outer; if i==5 break both; y += 10*i+j */
    CHECK(launch("kernel \"nest\" rank 1 {\n param \"y\" array int rank 1\n"
                 "%1 = const int 0\n %2 = const int 9\n %3 = const int 1\n %4 = const int 10\n %5 = const int64 0\n %6 = const int 3\n"
                 "%7 = const int 5\n %8 = for int %1 %2 %3\n %9 = for int %1 %2 %3\n %10 = eq bool %9 %6\n if %10\n continue 1\n end\n"
                 "%14 = eq bool %8 %7\n if %14\n break 1\n end\n %18 = mul int %8 %4\n %19 = add int %18 %9\n atomic.add $0 %5 %19\n"
                 "end\n end\n}\n",
                 args, 1, 1, NULL) == QS_OK);
    int want = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++) want += 10 * i + j;
    CHECK(y[0] == want);
}

static int64_t turns(const char *dtype, const char *from, const char *to, const char *step) {
    char text[1024];
    int64_t y[1] = {0};
    KArg args[1] = {vec(y, 1)};
    snprintf(text, sizeof text,
             "kernel \"turns\" rank 1 {\n param \"y\" array int64 rank 1\n %%1 = const %s %s\n %%2 = const %s %s\n %%3 = const %s %s\n"
             "%%4 = const int64 0\n %%5 = const int64 1\n %%6 = for %s %%1 %%2 %%3\n atomic.add $0 %%4 %%5\n end\n}\n",
             dtype, from, dtype, to, dtype, step, dtype);
    CHECK(launch(text, args, 1, 1, NULL) == QS_OK);
    return y[0];
}

static void for_is_inclusive_and_never_overflows(void) {
    CHECK(turns("int", "0", "3", "1") == 4 && turns("int", "0", "3", "2") == 2 && turns("int", "3", "0", "-1") == 4);
    CHECK(turns("int", "3", "0", "1") == 0 && turns("int", "0", "3", "-1") == 0 && turns("int", "0", "3", "0") == 0);
    CHECK(turns("int", "2147483645", "2147483647", "1") == 3 && turns("int", "-2147483647", "-2147483648", "-1") == 2);
    CHECK(turns("int", "-2147483648", "2147483647", "2147483647") == 3);
    CHECK(turns("int64", "9223372036854775806", "9223372036854775807", "1") == 2);
    CHECK(turns("int64", "-9223372036854775808", "9223372036854775807", "9223372036854775807") == 3);
}

static void strides_and_narrow_elements(void) {
    uint8_t x[6] = {1, 2, 3, 4, 5, 250}, y[3] = {0}; /* x read backwards by two */
    KArg args[2] = {{.data = x + 5, .dims = {3}, .strides = {-2}}, vec(y, 3)};
    CHECK(launch("kernel \"narrow\" rank 1 {\n param \"x\" array uint8 rank 1\n param \"y\" array uint8 rank 1\n"
                 "%1 = pos int64 0\n %2 = stride int64 $0.0\n %3 = mul int64 %1 %2\n %4 = load int $0 %3\n %5 = const int 7\n"
                 "%6 = add int %4 %5\n store $1 %1 %6\n}\n",
                 args, 3, 8, NULL) == QS_OK);
    CHECK(y[0] == 255 && y[1] == 11 && y[2] == 9);
}

static void accesses_are_tested(void) {
    float x[4] = {0};
    KArg args[1] = {vec(x, 4)};
    CHECK(launch("kernel \"wild\" rank 1 {\n param \"x\" array float32 rank 1\n %1 = const int64 4\n %2 = load float32 $0 %1\n}\n",
                 args, 1, 1, NULL) == QS_EINTERNAL);
    CHECK_TEXT(ctx.err.text, "kernel wild, instruction %2 (LOAD): element 4 of x is outside its memory [0,3]");
    qerr_clear(&ctx);
    CHECK(launch("kernel \"wild\" rank 1 {\n param \"x\" array float32 rank 1\n %1 = const int64 -9\n %2 = const bool false\n"
                 "%3 = load float32 $0 %1 %2\n store $0 %1 %3 %2\n}\n", args, 1, 1, NULL) == QS_OK);
    CHECK(launch("kernel \"wild\" rank 1 {\n param \"x\" array float32 rank 1\n %1 = larray int 3\n %2 = const int 3\n %3 = aload int %1 %2\n}\n",
                 args, 1, 1, NULL) == QS_EINTERNAL);
    qerr_clear(&ctx);
    CHECK(launch("kernel \"split\" rank 1 {\n param \"x\" array float32 rank 1\n %1 = pos int 0\n %2 = const int 2\n %3 = lt bool %1 %2\n"
                 "if %3\n barrier\n else\n barrier\n end\n}\n", args, 4, 4, NULL) == QS_EINTERNAL);
    CHECK(strstr(ctx.err.text, "not all positions") != NULL);
    qerr_clear(&ctx);
}

static const char checked[] = "kernel \"checked\" rank 1 {\n param \"y\" array int rank 1\n message EINDEX \"index %0 of %1\"\n"
                              "%1 = pos int 0\n %2 = cast int64 %1\n %3 = const int 3\n %4 = lt bool %1 %3\n %5 = const float32 0.5\n"
                              "check #0 %4 %1 %5 @17\n store $0 %2 %3\n}\n";

static void the_first_fault_is_reported(void) {
    int32_t y[8] = {0};
    KArg args[1] = {vec(y, 8)};
    KFault fault;
    CHECK(launch(checked, args, 8, 2, &fault) == QS_OK);
    CHECK(fault.message == 1 && fault.pos == 17 && fault.value[0] == 3 && fault.value[1] == 0.5 && fault.at[0] == 3);
    CHECK(y[2] == 3 && y[3] == 0 && y[7] == 0);
    CHECK(launch(checked, args, 3, 2, &fault) == QS_OK && fault.message == 0);
}

static void stop_ends_an_endless_loop(void) {
    volatile int stop = 1;
    KFunc *f = kernel("kernel \"forever\" rank 1 {\n loop\n end\n}\n");
    CHECK(f && keval_run(&ctx, f, NULL, &(KLaunch){1, {1}, {1}}, NULL, &stop) == QS_EINTERRUPT);
    qerr_clear(&ctx);
}

static void empty_and_wrong_launches(void) {
    KFunc *f = kernel("kernel \"none\" rank 2 {\n barrier\n}\n");
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){2, {0, 5}, {4, 4}}, NULL, NULL) == QS_OK);
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){2, {5, 5}, {4, 4}}, NULL, NULL) == QS_OK);
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){2, {5, 5}, {4, 0}}, NULL, NULL) == QS_EINTERNAL);
    qerr_clear(&ctx);
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){1, {5}, {4}}, NULL, NULL) == QS_EINTERNAL);
    qerr_clear(&ctx);
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){2, {9, 9}, {1 << 30, 1 << 30}}, NULL, NULL) == QS_ENOMEM);
    qerr_clear(&ctx);
}

static void speed(void) { /* printed, not judged: 10 million turns of 4 instructions */
    int64_t y[1] = {0};
    KArg args[1] = {vec(y, 1)};
    clock_t t = clock();
    CHECK(launch("kernel \"speed\" rank 1 {\n param \"y\" array int64 rank 1\n %1 = const int64 0\n %2 = const int64 9999999\n %3 = const int64 1\n"
                 "%4 = local int64 %1\n %5 = for int64 %1 %2 %3\n %6 = get int64 %4\n %7 = add int64 %6 %5\n set %4 %7\n end\n"
                 "%10 = get int64 %4\n store $0 %1 %10\n}\n", args, 1, 1, NULL) == QS_OK);
    CHECK(y[0] == 49999995000000);
    printf("%.0f million instructions per second\n", 40 / ((double)(clock() - t) / CLOCKS_PER_SEC + 1e-9));
}

int main(void) {
    qctx_init(&ctx, 32);
    qarena_init(&arena, &ctx);
    a_stencil_with_mirrored_border();
    reduction_with_barriers();
    nested_break_and_continue();
    for_is_inclusive_and_never_overflows();
    strides_and_narrow_elements();
    accesses_are_tested();
    the_first_fault_is_reported();
    stop_ends_an_endless_loop();
    empty_and_wrong_launches();
    speed();
    qarena_free(&arena);
    qctx_close(&ctx);
    return check_done();
}
