/* The reference evaluator on the kernels of tests/kir: control flow, memory, barriers, faults.  Single instructions are
 * in kir_ops.c. */
#include "lang/kernel/ir/kir.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <time.h>

static Ctx ctx;
static Arena arena;

static KFunc *kernel(const char *name) {
    char path[200], text[4096];
    snprintf(path, sizeof path, QUASAR_SOURCE_DIR "/tests/kir/%s.kir", name);
    FILE *file = fopen(path, "r");
    if (!file) return perror(path), exit(1), NULL;
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    KFunc *f = NULL;
    qs_status s = kir_parse(&ctx, &arena, text, n, &f);
    if (s == QS_OK) s = kir_verify(&ctx, f);
    if (s != QS_OK) printf("%s: %s\n", path, ctx.err.text), exit(1);
    return f;
}

static KArg vec(void *data, int64_t n) { return (KArg){.data = data, .dims = {n}, .strides = {1}}; }
static KArg num(int64_t v) { return (KArg){.bits = ((KSlot){.I64 = v}).bits}; }

static qs_status launch(const char *name, const KArg *args, int64_t n, int32_t block, KFault *fault) {
    return keval_run(&ctx, kernel(name), args, &(KLaunch){1, {n}, {block}}, fault, NULL);
}

static void a_stencil_with_mirrored_border(void) {
    float x[5] = {1, 2, 3, 4, 5}, y[5];
    static const float want[5] = {3, 4, 6, 8, 9};
    CHECK(launch("blur", (KArg[]){vec(x, 5), vec(y, 5)}, 5, 2, NULL) == QS_OK);
    CHECK(!memcmp(y, want, sizeof want));
}

/* Sum over a block in shared memory, in log2 steps with a barrier each; 10 elements in blocks of 4. */
static void reduction_with_barriers(void) {
    int32_t x[10], y[3] = {0};
    for (int i = 0; i < 10; i++) x[i] = 1 << i;
    CHECK(launch("reduce", (KArg[]){vec(x, 10), vec(y, 3)}, 10, 4, NULL) == QS_OK);
    CHECK(y[0] == 15 && y[1] == 240 && y[2] == 768);
}

static void nested_break_and_continue(void) {
    int32_t y[1] = {0}, want = 0;
    CHECK(launch("nest", (KArg[]){vec(y, 1)}, 1, 1, NULL) == QS_OK);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++) want += 10 * i + j;
    CHECK(y[0] == want);
}

static int64_t turns(const char *name, int64_t from, int64_t to, int64_t step) {
    int64_t y[1] = {0};
    CHECK(launch(name, (KArg[]){vec(y, 1), num(from), num(to), num(step)}, 1, 1, NULL) == QS_OK);
    return y[0];
}

static void for_is_inclusive_and_never_overflows(void) {
    static const struct {
        int64_t from, to, step, want;
    } small[] = {{0, 3, 1, 4}, {0, 3, 2, 2}, {3, 0, -1, 4}, {3, 0, 1, 0}, {0, 3, -1, 0}, {0, 3, 0, 0}, {5, 5, -9, 1}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        CHECK(turns("turns", small[i].from, small[i].to, small[i].step) == small[i].want);
        CHECK(turns("turns32", small[i].from, small[i].to, small[i].step) == small[i].want);
    }
    CHECK(turns("turns32", INT32_MAX - 2, INT32_MAX, 1) == 3 && turns("turns32", INT32_MIN + 1, INT32_MIN, -1) == 2);
    CHECK(turns("turns32", INT32_MIN, INT32_MAX, INT32_MAX) == 3);
    CHECK(turns("turns", INT64_MAX - 1, INT64_MAX, 1) == 2 && turns("turns", INT64_MIN, INT64_MAX, INT64_MAX) == 3);
    CHECK(turns("turns", INT64_MAX, INT64_MIN, INT64_MIN) == 2);
}

static void strides_and_narrow_elements(void) {
    uint8_t x[6] = {1, 2, 3, 4, 5, 250}, y[3] = {0}; /* x from its end, every other element */
    CHECK(launch("reverse", (KArg[]){{.data = x + 5, .dims = {3}, .strides = {-2}}, vec(y, 3)}, 3, 8, NULL) == QS_OK);
    CHECK(y[0] == 255 && y[1] == 11 && y[2] == 9);
}

static void failed(const char *want) {
    CHECK(ctx.err.status == QS_EINTERNAL);
    CHECK_TEXT(ctx.err.text, want);
    qerr_clear(&ctx);
}

static void accesses_are_tested(void) {
    float x[4] = {0};
    CHECK(launch("wild", (KArg[]){vec(x, 4), num(4), num(1)}, 1, 1, NULL) != QS_OK);
    failed("kernel wild, instruction %3 (LOAD): element 4 of x is outside its memory [0,3]");
    CHECK(launch("wild", (KArg[]){vec(x, 0), num(0), num(1)}, 1, 1, NULL) != QS_OK);
    failed("kernel wild, instruction %3 (LOAD): element 0 of x is outside its memory [1,0]");
    CHECK(launch("wild", (KArg[]){vec(x, 4), num(3), num(1)}, 1, 1, NULL) == QS_OK);
    CHECK(launch("wild", (KArg[]){vec(x, 4), num(-9), num(0)}, 1, 1, NULL) == QS_OK);
    CHECK(launch("private", (KArg[]){num(2)}, 1, 1, NULL) == QS_OK);
    CHECK(launch("private", (KArg[]){num(-1)}, 1, 1, NULL) != QS_OK);
    failed("kernel private, instruction %3 (ALOAD): element -1 of an array of 3");
    CHECK(launch("split", NULL, 4, 4, NULL) != QS_OK);
    failed("kernel split, instruction %7 (BARRIER): not all positions of the block reach it");
}

static void the_first_fault_is_reported(void) {
    int32_t y[8] = {0};
    KFault fault;
    CHECK(launch("checked", (KArg[]){vec(y, 8)}, 8, 2, &fault) == QS_OK);
    CHECK(fault.message == 1 && fault.pos == 17 && fault.value[0] == 3 && fault.value[1] == 0.5 && fault.at[0] == 3);
    CHECK(y[2] == 3 && y[3] == 0 && y[7] == 0);
    CHECK(launch("checked", (KArg[]){vec(y, 8)}, 3, 2, &fault) == QS_OK && fault.message == 0);
}

/* Two of eight end before the first barrier, one in the third iteration; the others continue without them. */
static void ended_positions_take_no_part_in_barriers(void) {
    int32_t x[8] = {9, 0, 9, 2, 9, 9, 0, 9}, y[8] = {0};
    static const int32_t want[8] = {4, 0, 4, 0, 4, 4, 0, 4};
    KFault fault;
    CHECK(launch("ended", (KArg[]){vec(x, 8), vec(y, 8)}, 8, 8, &fault) == QS_OK);
    CHECK(fault.message == 1 && fault.value[0] == 2 && fault.at[0] == 3);
    CHECK(!memcmp(y, want, sizeof want));
}

static void stop_ends_an_endless_loop(void) {
    Flag stop = 1;
    CHECK(keval_run(&ctx, kernel("forever"), NULL, &(KLaunch){1, {1}, {1}}, NULL, &stop) == QS_EINTERRUPT);
    qerr_clear(&ctx);
}

static void empty_and_wrong_launches(void) {
    KFunc *f = kernel("wait");
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){2, {0, 5}, {4, 4}}, NULL, NULL) == QS_OK);
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){2, {5, 5}, {4, 4}}, NULL, NULL) == QS_OK);
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){2, {5, 5}, {4, 0}}, NULL, NULL) == QS_EINTERNAL);
    qerr_clear(&ctx);
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){1, {5}, {4}}, NULL, NULL) == QS_EINTERNAL);
    qerr_clear(&ctx);
    CHECK(keval_run(&ctx, f, NULL, &(KLaunch){2, {9, 9}, {1 << 30, 1 << 30}}, NULL, NULL) == QS_ENOMEM);
    qerr_clear(&ctx);
}

/* The second launch sees neither arguments nor counters of the first one. */
static void a_prepared_kernel_runs_again(void) {
    float x[5] = {1, 2, 3, 4, 5}, y[5], small[2] = {3, 6}, z[2];
    static const float want[5] = {3, 4, 6, 8, 9}, then[2] = {9, 9};
    KPrepared *blur = keval_prepare(&arena, kernel("blur"));
    KArg args[] = {vec(x, 5), vec(y, 5)}, others[] = {vec(small, 2), vec(z, 2)};
    CHECK(keval_run_prepared(&ctx, blur, args, &(KLaunch){1, {5}, {2}}, NULL, NULL) == QS_OK);
    CHECK(keval_run_prepared(&ctx, blur, others, &(KLaunch){1, {2}, {4}}, NULL, NULL) == QS_OK);
    CHECK(!memcmp(y, want, sizeof want) && !memcmp(z, then, sizeof then));
    int32_t in[10], out[3] = {0};
    for (int i = 0; i < 10; i++) in[i] = 1 << i;
    KPrepared *sum = keval_prepare(&arena, kernel("reduce"));
    for (int i = 0; i < 2; i++)
        CHECK(keval_run_prepared(&ctx, sum, (KArg[]){vec(in, 10), vec(out, 3)}, &(KLaunch){1, {10}, {4}}, NULL, NULL) ==
              QS_OK);
    CHECK(out[0] == 15 && out[1] == 240 && out[2] == 768);
}

static void speed(void) { /* printed, not checked: 10 million iterations of 4 instructions */
    int64_t y[1] = {0};
    clock_t t = clock();
    CHECK(launch("count", (KArg[]){vec(y, 1)}, 1, 1, NULL) == QS_OK);
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
    ended_positions_take_no_part_in_barriers();
    stop_ends_an_endless_loop();
    empty_and_wrong_launches();
    a_prepared_kernel_runs_again();
    speed();
    qarena_free(&arena);
    qctx_close(&ctx);
    return check_done();
}
