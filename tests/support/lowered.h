/* lowered.h -- for tests: parse a text, lower one of its kernels for given arguments, run it on the evaluator. */
#ifndef TESTS_SUPPORT_LOWERED_H
#define TESTS_SUPPORT_LOWERED_H
#include "lang/kernel/lower/kernel/lower.h"
#include "lang/names/scope.h"
#include "lang/syntax/parse.h"
#include "tests/unit/check.h"

#include <stdlib.h>

typedef struct {
    int8_t kind;
    qs_dtype dtype;
    int rank;
    int64_t dims[4];
    void *data;
    double num;
    const char *text;
} TArg;
enum { T_ARRAY, T_NUM, T_INT, T_STR, T_BOOL };

#define VEC(p, n)        ((TArg){T_ARRAY, QS_F32, 1, {n}, p, 0, 0})
#define MAT(p, m, n)     ((TArg){T_ARRAY, QS_F32, 2, {m, n}, p, 0, 0})
#define CUBE(p, m, n, k) ((TArg){T_ARRAY, QS_F32, 3, {m, n, k}, p, 0, 0})
#define TYPED(d, p, n)   ((TArg){T_ARRAY, d, 1, {n}, p, 0, 0})
#define NUM(v)           ((TArg){T_NUM, QS_F32, 0, {0}, 0, v, 0})
#define INT(v)           ((TArg){T_INT, QS_I32, 0, {0}, 0, v, 0})
#define BOOL(v)          ((TArg){T_BOOL, QS_B1, 0, {0}, 0, v, 0})
#define STR(s)           ((TArg){T_STR, QS_B1, 0, {0}, 0, 0, s})

typedef struct {
    Ctx c;
    Unit *u;
    bool checked, serial;
    int32_t block[QS_MAX_RANK];
    bool has_block;
    bool known_nums; /* numbers are compiled in */
    Text kir;        /* of the last run */
    char fault[QERR_TEXT];
    KArg kargs[32];
} Lowered;

static bool lowered_lookup(void *ud, Str *name, Sym *out) {
    (void)ud;
    if (qtype_builtin(&((Lowered *)ud)->c, name->s)) return false;
    out->kind = SYM_GLOBAL, out->index = -1;
    return true;
}
static int lowered_define(void *ud, Str *name) { return (void)ud, (void)name, 0; }

static void lowered_open(Lowered *t, const char *text) {
    *t = (Lowered){0};
    qctx_init(&t->c, 32);
    Source *src = qsource_add(&t->c, "test.q", text, strlen(text));
    ScopeHost host = {.ud = t, .lookup = lowered_lookup, .define = lowered_define};
    if (qparse_unit(&t->c, src, &t->u) != QS_OK || qscope_resolve(t->u, &host) != QS_OK) printf("%s\n", t->u->report.s);
    qtext_init(&t->kir, &t->c);
}

static void lowered_close(Lowered *t) {
    qtext_free(&t->kir);
    qparse_free(t->u);
    qctx_close(&t->c);
}

static Func *lowered_func(Lowered *t, Str *name) {
    for (int i = 0; i < t->u->nfuncs; i++)
        if (t->u->funcs[i]->u.func->name == name) return t->u->funcs[i]->u.func;
    return NULL;
}

static bool lowered_function(void *ud, Str *name, KVal *out) {
    Lowered *t = ud;
    KVal *all = qast_alloc(t->u, (size_t)t->u->nfuncs * sizeof *all);
    int n = 0;
    for (int i = 0; i < t->u->nfuncs; i++)
        if (t->u->funcs[i]->u.func->name == name) all[n++] = (KVal){.kind = KV_FUNC, .func = t->u->funcs[i]->u.func};
    if (n) *out = n == 1 ? all[0] : (KVal){.kind = KV_FUNC, .overloads = all, .noverloads = n};
    return n > 0;
}

static bool lowered_symbol(void *ud, const KVal *fn, const Sym *sym, KVal *out) {
    (void)fn;
    return lowered_function(ud, sym->name, out);
}

static KVal lowered_kval(Lowered *t, const TArg *a, int i) {
    KVal v = {.kind = KV_NUM, .dtype = (uint8_t)a->dtype, .source = i};
    bool whole = a->num == (double)(int64_t)a->num;
    switch (a->kind) {
    case T_ARRAY:
        v.kind = KV_ARRAY, v.rank = (uint8_t)a->rank, v.contiguous = v.unit_last = true;
        for (int d = 0; d < a->rank; d++) v.dims[d] = -1;
        break;
    case T_STR: v.kind = KV_STRING, v.str = qstr_cname(&t->c, a->text); break;
    case T_NUM: v.dtype = (uint8_t)t->c.scalar_dtype; /* fall through */
    case T_INT:
        v.bits = whole ? 24 : 0;
        v.known = t->known_nums, v.num[0] = a->num;
        break;
    default: break;
    }
    return v;
}

static uint32_t lowered_key[2]; /* the key of random numbers */

static void lowered_bind(const KFunc *f, const KBind *b, const TArg *args, KArg *out) {
    for (int i = 0; i < f->nparams; i++) {
        out[i] = (KArg){0};
        if (b[i].source == KLOWER_RANDOM) {
            out[i].bits = lowered_key[b[i].part];
            continue;
        }
        const TArg *a = &args[b[i].source];
        const KParam *p = &f->params[i];
        if (p->kind == KP_NUM) {
            KSlot s = {0};
            switch ((qs_dtype)p->dtype) {
            case QS_B1: s.B1 = a->num != 0; break;
            case QS_I32: s.I64 = (int64_t)a->num; break;
            case QS_I64: s.I64 = (int64_t)a->num; break;
            case QS_F32: s.F32 = (float)a->num; break;
            default: s.F64 = a->num; break;
            }
            out[i].bits = s.bits;
            continue;
        }
        out[i].data = a->data;
        int skip = p->rank > a->rank && a->rank == 1 ? 1 : 0;
        int64_t stride = 1;
        for (int d = 0; d < p->rank; d++) out[i].dims[d] = d - skip >= 0 && d - skip < a->rank ? a->dims[d - skip] : 1;
        for (int d = p->rank - 1; d >= 0; d--) out[i].strides[d] = stride, stride *= out[i].dims[d];
    }
}

static qs_status lowered_lower(Lowered *t, Arena *arena, const char *kernel, int rank, TArg *args, int nargs,
                               LowerResult *r) {
    KVal vals[16];
    LowerHost host = {.ud = t, .symbol = lowered_symbol, .function = lowered_function};
    for (int i = 0; i < nargs; i++) vals[i] = lowered_kval(t, &args[i], i);
    LowerJob job = {.fn = {.kind = KV_FUNC, .func = lowered_func(t, qstr_cname(&t->c, kernel))},
                    .args = vals,
                    .nargs = nargs,
                    .rank = rank,
                    .block = t->has_block ? t->block : NULL,
                    .serial = t->serial,
                    .checked = t->checked,
                    .host = &host};
    for (int turn = 0; turn < 8; turn++) {
        TRY(klower_kernel(&t->c, arena, &job, r));
        if (r->func) return QS_OK;
        if (r->needs_block) job.block = t->block;
        for (int i = 0; i < r->nneeds; i++) {
            KNeed n = r->needs[i];
            KVal *v = &vals[n.source];
            int axis = n.rank > v->rank && v->rank == 1 ? n.axis - 1 : n.axis;
            if (n.axis < 0 && v->kind == KV_ARRAY) return qerr_set(&t->c, QS_EVALUE, "elements must be known");
            if (n.axis < 0) v->known = true;
            else v->dims[axis] = args[n.source].dims[axis];
        }
    }
    return qerr_set(&t->c, QS_EINTERNAL, "needs without end");
}

/* Runs the kernel over the domain; the first error is in t->c.err, a fault of a CHECK in t->fault. */
static inline qs_status lowered_run(Lowered *t, const char *kernel, int rank, const int64_t *domain, TArg *args,
                                    int nargs) {
    Arena arena;
    LowerResult r = {0};
    KFault fault = {0};
    qarena_init(&arena, &t->c);
    t->fault[0] = '\0';
    qs_status s = lowered_lower(t, &arena, kernel, rank, args, nargs, &r);
    if (s == QS_OK) {
        KLaunch l = {.rank = rank};
        for (int i = 0; i < rank; i++) l.domain[i] = domain[i], l.block[i] = t->block[i] ? t->block[i] : 1;
        t->kir.len = 0;
        kir_print(r.func, &t->kir);
        lowered_bind(r.func, r.binds, args, t->kargs);
        s = keval_run(&t->c, r.func, t->kargs, &l, &fault, NULL);
        if (fault.message) {
            Text text;
            qtext_init(&text, &t->c);
            kir_fault_text(r.func, &fault, &text);
            snprintf(t->fault, sizeof t->fault, "%s", text.s);
            qtext_free(&text);
        }
    }
    if (s != QS_OK) snprintf(t->fault, sizeof t->fault, "%s", t->c.err.text);
    qarena_free(&arena);
    return s;
}

#define RUN1(t, name, n, ...)                                                                                          \
    lowered_run(t, name, 1, (int64_t[]){n}, (TArg[]){__VA_ARGS__}, (int)(sizeof((TArg[]){__VA_ARGS__}) / sizeof(TArg)))
#define RUN2(t, name, m, n, ...)                                                                                       \
    lowered_run(t, name, 2, (int64_t[]){m, n}, (TArg[]){__VA_ARGS__},                                                  \
                (int)(sizeof((TArg[]){__VA_ARGS__}) / sizeof(TArg)))
#define RUN3(t, name, m, n, k, ...)                                                                                    \
    lowered_run(t, name, 3, (int64_t[]){m, n, k}, (TArg[]){__VA_ARGS__},                                               \
                (int)(sizeof((TArg[]){__VA_ARGS__}) / sizeof(TArg)))
#define OK(t, call) check_ok(t, call, __FILE__, __LINE__)

static inline void check_ok(Lowered *t, qs_status s, const char *file, int line) {
    check_report(s == QS_OK && !t->fault[0], file, line, "the kernel runs");
    if (s != QS_OK || t->fault[0]) printf("  %s\n", t->fault);
    if (s != QS_OK) qerr_clear(&t->c);
}

/* The message of an error, or of a fault. */
static inline void check_fails(Lowered *t, qs_status s, const char *want, const char *file, int line) {
    bool ok = (s != QS_OK || t->fault[0]) && strstr(t->fault, want);
    check_report(ok, file, line, want);
    if (!ok) printf("  got: %s\n", t->fault[0] ? t->fault : "no error");
    qerr_clear(&t->c);
}
#define FAILS(t, call, want) check_fails(t, call, want, __FILE__, __LINE__)

static inline void check_floats(const float *got, int n, const float *want, const char *file, int line) {
    bool ok = true;
    for (int i = 0; i < n; i++) ok &= got[i] == want[i] || (got[i] - want[i] < 1e-5f && want[i] - got[i] < 1e-5f);
    check_report(ok, file, line, "values");
    for (int i = 0; !ok && i < n; i++) printf("  [%d] got %g, want %g\n", i, (double)got[i], (double)want[i]);
}
#define FLOATS(got, ...)                                                                                               \
    check_floats(got, (int)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), (float[]){__VA_ARGS__}, __FILE__, __LINE__)

/* A test of its own kernels, on x and y. */
#define BEGIN(text)                                                                                                    \
    Lowered t;                                                                                                         \
    float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, y[12] = {0};                                                \
    (void)x, (void)y;                                                                                                  \
    lowered_open(&t, text)
#define END lowered_close(&t)
#endif
