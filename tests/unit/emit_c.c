/* Kernels as C99 programs: a compiler accepts them, and their output equals the evaluator's results for the same
 * inputs; also for the samples that --dump c gives a kernel.  With a file name as argument: tests the kernels whose
 * text is in it (tests/in_c.py collects those of scripts); with a number: tests as many random ones. */
#include "lang/kernel/codegen/emit.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

enum { ODD = 5 /* only every n-th case, because a compiler takes time */ };

static Ctx ctx;
static char folder[] = "/tmp/quasar-c-XXXXXX";
static int programs, refused;

/* Stores one value, as it is printed, into element i. */
static void put(KBlock *b, qs_dtype d, size_t i, const char *text) {
    char *at = b->block + i * qdtype_size(d);
    float single = strtof(text, NULL);
    double wide = strtod(text, NULL);
    uint16_t half = d == QS_BF16 ? qdtype_float_to_bf16(single) : qdtype_float_to_half(single);
    unsigned long long bits = d == QS_U64 ? strtoull(text, NULL, 10) : (unsigned long long)strtoll(text, NULL, 10);
    if (d == QS_F16 || d == QS_BF16) memcpy(at, &half, sizeof half);
    else if (d == QS_F32) memcpy(at, &single, sizeof single);
    else if (d == QS_F64) memcpy(at, &wide, sizeof wide);
    else memcpy(at, &bits, qdtype_size(d)); /* little-endian */
}

static bool read_array(FILE *f, KCase *k, int param) {
    qs_dtype d = qdtype_real_of((qs_dtype)k->func->params[param].dtype);
    KBlock *b = &k->blocks[param];
    char word[64];
    if (fscanf(f, " %*[^:]:") != 0) return false;
    for (size_t i = 0; i < b->nbytes / qdtype_size(d); i++) {
        if (fscanf(f, "%63s", word) != 1) return false;
        put(b, d, i, word);
    }
    return true;
}

static qs_status read_output(FILE *f, KCase *k) {
    unsigned message;
    for (int i = 0; i < k->func->nparams; i++)
        if (k->func->params[i].written && !read_array(f, k, i))
            return qerr_set(&ctx, QS_EINTERNAL, "the program did not print parameter %d", i);
    if (fscanf(f, " message %u", &message) == 1) k->fault.message = message;
    return QS_OK;
}

static qs_status run_text(const Text *t, KCase *k) {
    char command[400];
    snprintf(command, sizeof command, "%s/k.c", folder);
    FILE *f = fopen(command, "w");
    if (!f || fputs(t->s, f) < 0 || fclose(f)) return qerr_set(&ctx, QS_EINTERNAL, "cannot write %s", command);
    snprintf(command, sizeof command,
             "cc -std=c99 -Wall -Werror -Wno-unused -Wno-tautological-compare -ffp-contract=off -o %s/k %s/k.c -lm "
             "&& timeout 20 %s/k",
             folder, folder, folder);
    f = popen(command, "r");
    qs_status s = read_output(f, k);
    return pclose(f) == 0 ? s : qerr_set(&ctx, QS_EINTERNAL, "the program is not taken, or fails");
}

static void sample_of(const KCase *k, KSample *out) {
    *out = (KSample){k->launch, qarena_alloc(k->arena, (size_t)k->func->nparams * sizeof *out->args)};
    for (int i = 0; i < k->func->nparams; i++) {
        const KBlock *b = &k->blocks[i];
        KSampleArg *a = &out->args[i];
        *a = (KSampleArg){.block = b->block, .nbytes = b->nbytes, .offset = b->offset, .bits = k->args[i].bits};
        memcpy(a->dims, k->args[i].dims, sizeof a->dims), memcpy(a->strides, k->args[i].strides, sizeof a->strides);
    }
}

static qs_status run(KCase *k) {
    KSample s;
    Text t;
    sample_of(k, &s);
    qtext_init(&t, &ctx);
    bool said = kemit_c(&ctx, k->func, &s, &t);
    qs_status status = said ? run_text(&t, k) : QS_OK;
    qtext_free(&t);
    return programs++, status;
}

/* Positions may add elements in another order than the evaluator, block by block: so there is one block. */
static void try_case(KCase *k, const char *kind, uint64_t number) {
    if (k->func->barrier || k->func->shared) return (void)refused++;
    if (!kir_knows_blocks(k->func))
        for (int d = 0; d < k->launch.rank; d++) k->launch.block[d] = (int32_t)k->launch.domain[d];
    CHECK(kgen_agrees(k, run, kind, number));
}

/* With the sample data that the program contains. */
static void try_sample(KCase *k, const char *kind, uint64_t number) {
    Arena arena;
    KSample s;
    qarena_init(&arena, &ctx);
    kemit_c_sample(&arena, k->func, &s);
    k->launch = s.launch;
    for (int i = 0; i < k->func->nparams; i++) {
        const KSampleArg *a = &s.args[i];
        KBlock *b = &k->blocks[i];
        k->args[i].bits = a->bits;
        if (k->func->params[i].kind != KP_ARRAY) continue;
        b->block = qarena_alloc(k->arena, a->nbytes + 64), b->nbytes = a->nbytes, b->offset = 0;
        memcpy(b->block, a->block, a->nbytes);
        k->args[i].data = b->block;
        memcpy(k->args[i].dims, a->dims, sizeof a->dims), memcpy(k->args[i].strides, a->strides, sizeof a->strides);
    }
    KCase *first = kgen_copy(k); /* the sample may be too small for it */
    if (kgen_evaluate(first) == QS_OK) try_case(k, kind, number);
    qerr_clear(&ctx);
    qarena_free(&arena);
}

/* The text of a kernel extends from its first line to the line of its last brace. */
static void try_text(const char *text, const char *end, uint64_t number) {
    Arena arena;
    qarena_init(&arena, &ctx);
    KCase *k = kgen_case(&ctx, &arena, "script", 1);
    bool read = kir_parse(&ctx, &arena, text, (size_t)(end - text), &k->func) == QS_OK;
    CHECK(read);
    if (!read) printf("  kernel %llu: %s\n", (unsigned long long)number, ctx.err.text);
    qerr_clear(&ctx);
    size_t n = read ? (size_t)k->func->nparams : 0;
    k->args = qarena_alloc(&arena, (n + 1) * sizeof *k->args);
    k->blocks = qarena_alloc(&arena, (n + 1) * sizeof *k->blocks);
    for (size_t i = 0; i < n; i++) k->blocks[i].slack = 1e-5; /* sums in another order */
    if (read) try_sample(k, "kernel", number);
    qarena_free(&arena);
}

static void try_file(const char *name) {
    FILE *f = fopen(name, "r");
    static char text[1 << 24];
    CHECK(f && (text[fread(text, 1, sizeof text - 1, f)] = 0, fclose(f) == 0));
    uint64_t number = 0;
    for (char *at = text, *end; (at = strstr(at, "kernel \"")); at = end) {
        if (!(end = strstr(at, "\n}\n"))) break;
        end += 3;
        try_text(at, end, number++);
    }
    CHECK(number > 0);
}

static void cannot_be_said(void) {
    static const char text[] = "kernel \"waits\" rank 1 {\n  barrier\n}\n";
    Arena arena;
    KFunc *f;
    Text t;
    qarena_init(&arena, &ctx), qtext_init(&t, &ctx);
    CHECK(kir_parse(&ctx, &arena, text, sizeof text - 1, &f) == QS_OK && !kemit_c(&ctx, f, NULL, &t));
    CHECK(strstr(t.s, "waits cannot be said"));
    qtext_free(&t), qarena_free(&arena);
}

int main(int argc, char **argv) {
    qctx_init(&ctx, 32);
    if (system("cc --version >/dev/null 2>&1")) {
        printf("skipped: no C compiler is installed\n");
        return 0;
    }
    if (!mkdtemp(folder)) return 1;
    bool file = argc > 1 && strchr(argv[1], '/');
    if (file) try_file(argv[1]);
    else {
        kgen_each(&ctx, 0, (uint64_t)kgen_suite_size(), argc > 1 ? 1 : 2, 0, try_case);
        kgen_each(&ctx, 1, argc > 1 ? strtoull(argv[1], NULL, 10) : 30 * ODD, ODD, KGEN_ALL, try_case);
        kgen_each(&ctx, 2, 10 * ODD, ODD, KGEN_FP64, try_sample);
        cannot_be_said();
    }
    printf("%d programs; %d kernels wait\n", programs, refused);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    qctx_close(&ctx);
    return check_done();
}
