/* loop_library.c -- built-ins of short vectors and matrices that are functions of stdlib/kernels.q: inv(A), cross(a,b).
 *
 * Kernels call these functions, too.  Here they are inlined with float64 elements, and the elements of the result are
 * rounded to the type of the arguments at the end, as the host does: it reads the arguments as float64, and computes in
 * the same order.  A built-in whose host function uses another algorithm may not be in this table. */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <stdio.h>
#include <string.h>

enum { LIBRARY_ARGS = 3, SMALL = 4 /* rows of systems that the host solves by the same steps (stdlib/linalg.c) */ };

typedef struct {
    const char *name, *function;
    int nargs;
    bool (*takes)(const Value *args); /* whether the host accepts the shapes, and computes in this way */
    bool may_be_singular;             /* the function has a second result: whether the matrix is regular */
    bool as_first;                    /* Python sees as many dimensions as of the first argument */
} Library;

static int rows_of(const Value *v) { return v->cols ? v->n / v->cols : 1; }
static int cols_of(const Value *v) { return v->cols ? v->cols : v->n; }
static bool is_square(const Value *v) { return rows_of(v) == cols_of(v); }
static bool is_small_square(const Value *v) { return is_square(v) && rows_of(v) <= SMALL; }
static bool are_triples(const Value *v) { return !v->cols && v->n == 3 && !v[1].cols && v[1].n == 3; }
static bool is_small_system(const Value *v) { return is_small_square(v) && rows_of(v) == rows_of(v + 1); }

static const Library library[] = {
    {"inv", "small_inv", 1, is_small_square, .may_be_singular = true},
    {"solve", "small_solve", 2, is_small_system, .may_be_singular = true},
    {"linsolve", "small_solve", 2, is_small_system, .may_be_singular = true},
    {"det", "kernel_det", 1, is_small_square, .may_be_singular = false},
    {"trace", "kernel_trace", 1, is_square, .may_be_singular = false},
    {"cross", "kernel_cross", 2, are_triples, .as_first = true},
};

static const Library *find(const char *name, int nargs) {
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
        if (library[i].nargs == nargs && !strcmp(library[i].name, name)) return &library[i];
    return NULL;
}

static bool are_vectors(const Value *args, int n) {
    for (int i = 0; i < n; i++)
        if (args[i].what != WHAT_VECTOR || !args[i].n) return false;
    return true;
}

/* The same elements in a new array of float64. */
static Value widen(Loops *L, const Value *v) {
    Value wide = kloop_copy_vector(*v);
    wide.f64 = kloop_width(L, QS_F64);
    return wide;
}

/* Rounds the result to the type of the arguments. */
static Value narrow(Loops *L, const Value *v, KRef f64, uint64_t like) {
    Value r = kloop_matrix(L, rows_of(v), cols_of(v));
    for (int i = 0; i < r.n; i++) r.at[i] = kloop_held(L, f64, v->at[i]);
    return r.cols = v->cols, r.f64 = f64, r.like = v->cols ? 0 : like, r;
}

static qs_status inline_function(Loops *L, Node *n, const Library *of, const Value *args, Value *results) {
    LoopValue fn;
    Value given[LIBRARY_ARGS];
    Str *names[LIBRARY_ARGS] = {NULL};
    L->job->library(L->job->ud, qstr_cname(L->c, of->function), &fn);
    if (fn.kind != LOOP_FUNC) return kloop_decline(L, L->pos, "a call of %s", of->name);
    for (int i = 0; i < of->nargs; i++) given[i] = widen(L, &args[i]);
    Callee callee = {.func = fn.func, .source = fn.source};
    Args all = {given, names, of->nargs};
    L->library++;
    TRY(kcall_inline(&L->walk, n, &callee, &all, results, of->may_be_singular ? 2 : 1));
    return L->library--, QS_OK;
}

qs_status kloop_library_call(Loops *L, Node *n, const char *name, Value *args, int nargs, Value *out, bool *found) {
    const Library *of = find(name, nargs);
    Value results[2];
    KRef f64 = 0;
    for (int i = 0; of && i < nargs; i++) kloop_short(L, &args[i]);
    *found = of && are_vectors(args, nargs) && of->takes(args);
    if (!*found) return QS_OK;
    for (int i = 0; i < nargs; i++) f64 = kloop_or(L, f64, args[i].f64);
    TRY(inline_function(L, n, of, args, results));
    if (of->may_be_singular) {
        char text[80];
        snprintf(text, sizeof text, "%s: the matrix is singular", strcmp(name, "linsolve") ? name : "solve");
        kloop_fail_unless(L, kloop_truth(L, results[1].num), QS_EVALUE, text, 0, 0);
    }
    uint64_t like = of->as_first ? args->like : LOOP_LIKE(LOOP_TWO);
    return *out = results->what == WHAT_VECTOR ? narrow(L, results, f64, like) : *results, QS_OK;
}
