/* fuse.c -- expressions as single kernels: the evaluator against the same formula in C, element by element. */
#include "lang/kernel/lower/fusion/fuse.h"
#include "lang/syntax/parse.h"
#include "tests/unit/check.h"

#include <math.h>
#include <string.h>

static Ctx ctx;

/* The right side of `y = …`; leaves are the identifiers a, b, c. */
static Node *parse(const char *text, Unit **u) {
    Source *s = qsource_add(&ctx, "expression", text, strlen(text));
    CHECK(qparse_unit(&ctx, s, u) == QS_OK);
    return (*u)->main->body.at[0]->u.assign.value;
}

typedef struct {
    Node *at[8];
    int n;
} Leaves;
static void collect(void *ud, Node **child) {
    Leaves *l = ud;
    if ((*child)->kind == N_IDENT && (*child)->u.ident.name->len == 1) l->at[l->n++] = *child;
    else qast_children(*child, collect, ud);
}

enum { N = 5 };
static const float a[N] = {-2, -0.5f, 0, 1.25f, 3}, b[N] = {1, 2, -3, NAN, 0.5f};

static bool grouped; /* reductions run in blocks */
static const float *at_a = a;
static int count_a = N;

static void run(const char *text, Reduce kind, double scalar, FuseKernel *k, void *out) {
    Unit *u;
    Node *root = parse(text, &u);
    Leaves l = {.n = 0};
    if (root->kind == N_IDENT) collect(&l, &root);
    else qast_children(root, collect, &l);
    FuseLeafType types[8];
    KArg args[12] = {0};
    for (int i = 0; i < l.n; i++) {
        char name = l.at[i]->u.ident.name->s[0];
        types[i] = (FuseLeafType){.array = name != 'c', .dtype = QS_F32};
        args[i].data = name == 'a' ? (void *)(uintptr_t)at_a : (void *)(uintptr_t)b;
        args[i].dims[0] = count_a;
        args[i].strides[0] = 1;
        if (name == 'c') args[i].bits = ((KSlot){.F64 = scalar}).bits;
    }
    FuseExpr e = {.root = root, .kind = kind, .leaves = l.at, .nleaves = l.n, .grouped = grouped};
    Arena arena;
    qarena_init(&arena, &ctx);
    CHECK(kfuse_build(&ctx, &arena, &e, types, true, 1, k) == QS_OK);
    if (k->func) {
        KLaunch launch = {.rank = 1, .domain = {kind == RED_NONE ? count_a : 2}, .block = {1}};
        int n = l.n;
        if (kind != RED_NONE)
            args[n++].bits = grouped ? 2 * FUSE_GROUP : 3, args[n++].bits = (uint64_t)count_a; /* chunks of 3 */
        if (kind != RED_NONE && grouped) launch.domain[0] = 2 * FUSE_GROUP, launch.block[0] = FUSE_GROUP;
        args[n].data = out;
        args[n].dims[0] = launch.domain[0];
        args[n].strides[0] = 1;
        KFault fault = {0};
        CHECK(keval_run(&ctx, k->func, args, &launch, &fault, NULL) == QS_OK);
    }
    k->func = k->func ? (KFunc *)1 : NULL; /* the arena is freed */
    qarena_free(&arena);
    qparse_free(u);
}

static void maps(void) {
    FuseKernel k;
    float y[N];
    run("y = exp(-a.*a).*sin(a) + c*b", RED_NONE, 2, &k, y);
    CHECK(k.func && k.dtype == QS_F32);
    for (int i = 0; i < N; i++) {
        float want = expf(-a[i] * a[i]) * sinf(a[i]) + 2 * b[i];
        CHECK(isnan(want) ? isnan(y[i]) : fabsf(y[i] - want) < 1e-6f);
    }
    uint8_t m[N];
    run("y = (a > b) != (a == c)", RED_NONE, 3, &k, m);
    CHECK(k.func && k.dtype == QS_B1);
    for (int i = 0; i < N; i++) CHECK(m[i] == ((a[i] > b[i]) != (a[i] == 3)));
    int32_t n[N];
    run("y = (a > 0) + (b > 0)", RED_NONE, 0, &k, n);
    CHECK(k.func && k.dtype == QS_I32);
    for (int i = 0; i < N; i++) CHECK(n[i] == (a[i] > 0) + (b[i] > 0));
    run("y = (a./4).^3 - a.^(-2) + max(a,0) + clamp(b, 1)", RED_NONE, 0, &k, y);
    CHECK(k.func);
    CHECK(y[0] == -0.125f - 0.25f + 0 + 1);
}

static void reductions(void) {
    FuseKernel k;
    double s[2];
    run("y = a.*a", RED_sum, 0, &k, s);
    CHECK(k.func && k.dtype == QS_F64 && !k.integral);
    CHECK(s[0] == 4.25 && s[1] == 1.25 * 1.25 + 9);
    int64_t count[2];
    run("y = a > 0", RED_sum, 0, &k, count);
    CHECK(k.func && k.dtype == QS_I64 && !k.integral);
    CHECK(count[0] == 0 && count[1] == 2);
    float best[2];
    run("y = abs(b)", RED_max, 0, &k, best);
    CHECK(k.func && best[0] == 3 && best[1] == 0.5f); /* NaN loses */
}

/* Two blocks over more elements than they have positions. */
static void groups(void) {
    enum { MANY = 2000 };
    FuseKernel k;
    static float x[MANY];
    double s[2];
    int64_t count[2];
    float best[2];
    for (int i = 0; i < MANY; i++) x[i] = (float)(i % 7) - 3;
    x[1234] = 50, x[1999] = -60, x[3] = NAN;
    grouped = true, at_a = x, count_a = MANY;
    run("y = a > 0", RED_sum, 0, &k, count);
    int64_t want = 0;
    for (int i = 0; i < MANY; i++) want += x[i] > 0;
    CHECK(k.func && count[0] + count[1] == want && count[0] && count[1]);
    run("y = abs(a)", RED_max, 0, &k, best);
    CHECK(k.func && fmaxf(best[0], best[1]) == 60);
    run("y = a + 0", RED_min, 0, &k, best);
    CHECK(k.func && fminf(best[0], best[1]) == -60);
    x[3] = 0;
    run("y = a.*a", RED_sum, 0, &k, s);
    double sum = 0;
    for (int i = 0; i < MANY; i++) sum += (double)(x[i] * x[i]);
    CHECK(k.func && k.dtype == QS_F64 && s[0] + s[1] == sum);
    grouped = false, at_a = a, count_a = N;
}

static void declines(void) {
    FuseKernel k;
    float y[N];
    static const char *const no[] = {"y = a*b", "y = a^2", "y = solve(a, b)", "y = isnan(c) + (a > 0)"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) run(no[i], RED_NONE, 0, &k, y), CHECK(!k.func);
}

int main(void) {
    qctx_init(&ctx, 32);
    maps();
    reductions();
    groups();
    declines();
    qctx_close(&ctx);
    return check_done();
}
