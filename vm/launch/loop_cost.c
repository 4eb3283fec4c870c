/* loop_cost.c -- estimates the interpreter steps of a loop, from its tree and the current values of variables. */
#include "lang/kernel/elem/elem.h"
#include "lang/syntax/operators.h"
#include "vm/launch/loop_run.h"
#include "vm/value/trace.h"

#include <math.h>
#include <string.h>

/* f NULL: the estimate is for a called function, whose variables are unknown. */
typedef struct {
    qs_vm *vm;
    const Frame *f;
    double sum;
    double arrays; /* the part of it that is elements of arrays, which an array expression computes by all threads */
    bool loops;
    int calls;
    bool sure; /* bodies of `if`, which may not run, count nothing */
} Estimate;

static double bound_value(Estimate *e, const Node *n);

/* Returns the current value of a name; unset: unknown. */
static qs_value meaning(const Estimate *e, const Sym *sym) {
    qs_value v = qval_unset();
    if (sym && e->f) (void)qloop_find(e->vm, e->f, sym, &v);
    else if (sym && sym->kind == SYM_GLOBAL) v = *qvm_global(e->vm, (uint64_t)sym->index);
    return qtape_plain(v);
}

static double known_symbol(const Estimate *e, const Sym *sym) {
    qs_value v = meaning(e, sym);
    return qval_is_number(v) ? qval_number(v) : NAN;
}

static bool is_native(const Estimate *e, const Node *callee, const char *name) {
    qs_value v = meaning(e, qast_symbol(callee));
    const Function *fn = v.kind == QS_FUNCTION ? v.u.p : NULL;
    return fn && fn->fkind == FN_NATIVE && !strcmp(fn->native->name, name);
}

static double known_extent(Estimate *e, const Node *n) { /* size(x,d), numel(x) */
    const ArgList *args = &n->u.call.args;
    const Node *callee = n->u.call.callee, *x = args->n ? args->at[0].value : NULL;
    const Sym *sym = qast_symbol(x);
    qs_value v = meaning(e, sym);
    if (v.kind != QS_ARRAY || !is_native(e, callee, args->n == 1 ? "numel" : "size")) return NAN;
    const Array *a = v.u.p;
    if (args->n == 1) return (double)a->count;
    double d = bound_value(e, args->at[1].value) - (a->rank == 1);
    return d >= 0 && d < a->rank ? (double)a->dims[(int)d] : 1;
}

static double bound_value(Estimate *e, const Node *n) {
    double a, b;
    switch (n->kind) {
    case N_NUM: return n->u.num.value;
    case N_IDENT: return known_symbol(e, n->u.ident.sym);
    case N_CALL: return known_extent(e, n);
    case N_UNARY: return n->op == OP_NEG ? -bound_value(e, n->u.bin.a) : NAN;
    case N_BINARY:
        a = bound_value(e, n->u.bin.a), b = bound_value(e, n->u.bin.b);
        return n->op == OP_ADD   ? a + b
               : n->op == OP_SUB ? a - b
               : n->op == OP_MUL ? a * b
               : n->op == OP_DIV ? a / b
                                 : NAN;
    default: return NAN;
    }
}

double qloop_bound(qs_vm *vm, const Frame *f, const Node *n) {
    Estimate e = {.vm = vm, .f = f};
    return bound_value(&e, n);
}

enum { GUESS = 16 /* iterations of a loop whose range is unknown */ };

/* The iterations of a range.  If only one of its bounds is known, the other one is assumed to be half of it. */
static double count_range(Estimate *e, const Node *r) {
    if (r->kind != N_RANGE) return GUESS;
    double lo = bound_value(e, r->u.range.lo), hi = bound_value(e, r->u.range.hi);
    double step = r->u.range.step ? bound_value(e, r->u.range.step) : 1;
    if (isnan(lo) != isnan(hi)) return fmax(GUESS, (isnan(lo) ? hi : lo) / 2);
    double iterations = (hi - lo) / step + 1;
    return iterations >= 0 && iterations < INFINITY ? iterations : GUESS;
}

static double count_inner_iterations(Estimate *e, const Node *n) {
    double iterations = 1;
    if (n->kind != N_FOR) return GUESS;
    for (int i = 0; i < n->u.loop.nvars; i++)
        iterations *= count_range(e, n->u.loop.ranges[n->u.loop.nranges > i ? i : 0]);
    return iterations;
}

/* For an array that the interpreter makes.  LANES elements of it cost about one step. */
enum { MAKE = 48, LANES = 16 };

static double element_steps(Estimate *e, double n) {
    e->arrays += n / LANES;
    return n / LANES;
}

/* x + y, -x, [a,b]; arrays as operands are found if they are variables. */
static double operator_steps(Estimate *e, const Node *n) {
    const Node *operands[2] = {n->u.bin.a, n->kind == N_BINARY ? n->u.bin.b : NULL};
    if (n->kind == N_MATRIX) return MAKE;
    for (int i = 0; i < 2; i++) {
        const Node *x = operands[i];
        qs_value v = meaning(e, qast_symbol(x));
        if (v.kind == QS_ARRAY) return MAKE + element_steps(e, (double)((const Array *)v.u.p)->count);
    }
    return 1;
}

/* The number of elements of x[i,:] or x[a..b]; 0: it is a single element. */
static double slice_length(Estimate *e, const Node *n) {
    double length = 0;
    const Node *base = n->u.index.base;
    qs_value v = meaning(e, qast_symbol(base));
    const Array *a = v.kind == QS_ARRAY ? v.u.p : NULL;
    for (int i = 0; i < n->u.index.at.n; i++) {
        const Node *at = n->u.index.at.at[i];
        if (at->kind != N_COLON && at->kind != N_RANGE) continue;
        length = fmax(length, 1);
        if (at->kind == N_RANGE) length *= count_range(e, at);
        else if (a && i < a->rank) length *= (double)a->dims[i];
    }
    return length;
}

/* The steps of a node without its children.  A slice makes an array. */
static double own_steps(Estimate *e, const Node *n) {
    if (n->kind == N_BINARY || n->kind == N_UNARY || n->kind == N_MATRIX) return operator_steps(e, n);
    double length = n->kind == N_INDEX ? slice_length(e, n) : 0;
    return length > 0 ? MAKE + element_steps(e, length) : 1;
}

/* The number of elements of an argument, as far as it is known; 0: it is a number. */
static double argument_length(Estimate *e, const Node *n) {
    if (n->kind == N_INDEX) return slice_length(e, n);
    if (n->kind == N_UNARY) return argument_length(e, n->u.bin.a);
    if (n->kind == N_BINARY) return fmax(argument_length(e, n->u.bin.a), argument_length(e, n->u.bin.b));
    qs_value v = meaning(e, n->kind == N_IDENT ? n->u.ident.sym : NULL);
    return v.kind == QS_ARRAY ? (double)((const Array *)v.u.p)->count : 0;
}

/* exp(x[i,:]): the interpreter needs about a step for each element of a short array; for a long array it has compiled
 * code. */
static double function_steps(Estimate *e, const Node *n, const Function *fn) {
    enum { LONG = 4096 };
    const ArgList *args = &n->u.call.args;
    Elem row = args->n == 1 ? kelem_find(fn->native->name, 1) : EL__COUNT;
    if (row == EL__COUNT || kelem_info[row].integers != ELEM_FLOATS) return 0;
    double steps = fmin(argument_length(e, args->at[0].value), LONG);
    return e->arrays += steps, steps;
}

static void add_steps(void *ud, Node **child);

/* Estimates a call: a script function and the functions it calls, up to depth DEEP. */
static double call_steps(Estimate *e, const Node *n) {
    enum { CALL = 4, DEEP = 2 };
    const Node *callee = n->u.call.callee;
    qs_value v = meaning(e, qast_symbol(callee));
    const Function *fn = v.kind == QS_FUNCTION ? v.u.p : NULL;
    if (fn && fn->fkind == FN_NATIVE) return CALL + function_steps(e, n, fn);
    if (!fn || fn->fkind != FN_SCRIPT || fn->ast->qual == Q_KERNEL || e->calls == DEEP) return CALL;
    Estimate body = {.vm = e->vm, .sum = CALL, .calls = e->calls + 1, .sure = e->sure};
    for (int i = 0; i < fn->ast->body.n; i++) add_steps(&body, &fn->ast->body.at[i]);
    if (fn->ast->expr) add_steps(&body, &fn->ast->expr);
    return e->loops |= body.loops, body.sum;
}

/* Adds the steps of one iteration: tree nodes, multiplied by the estimated iterations of inner loops. */
static void add_steps(void *ud, Node **child) {
    Estimate *e = ud;
    Node *n = *child;
    if (!n) return;
    if (n->kind == N_IF && e->sure) {
        for (int i = 0; i < n->u.ifs.n; i++) add_steps(e, &n->u.ifs.conds[i]);
        return;
    }
    if (n->kind != N_FOR && n->kind != N_WHILE && n->kind != N_REPEAT) {
        e->sum += n->kind == N_CALL ? call_steps(e, n) : own_steps(e, n);
        qast_children(n, add_steps, ud);
        return;
    }
    Estimate inner = {.vm = e->vm, .f = e->f, .loops = true, .calls = e->calls, .sure = e->sure};
    e->loops = true;
    qast_children(n, add_steps, &inner);
    double iterations = count_inner_iterations(e, n);
    e->sum += inner.sum * iterations, e->arrays += inner.arrays * iterations;
}

static Estimate estimate_iteration(qs_vm *vm, const Frame *f, const Node *loop, bool sure) {
    Estimate e = {.vm = vm, .f = f, .sum = 1, .sure = sure};
    NodeList body = loop->kind == N_FOR ? loop->u.loop.body : loop->u.whiles.body;
    if (loop->kind != N_FOR) {
        Node *cond = loop->u.whiles.cond;
        add_steps(&e, &cond);
    }
    for (int i = 0; i < body.n; i++) add_steps(&e, &body.at[i]);
    return e;
}

double qloop_fixed_steps(qs_vm *vm, const Frame *f, const LoopRegion *r) {
    Estimate e = estimate_iteration(vm, f, r->loop, false);
    return e.loops ? 0 : e.sum;
}

double qloop_steps_per_iteration(qs_vm *vm, const Frame *f, const LoopRegion *r) {
    return estimate_iteration(vm, f, r->loop, false).sum;
}

double qloop_sure_steps(const Call *c) { return estimate_iteration(c->vm, c->f, c->loop, true).sum * c->iterations; }

double qloop_steps(qs_vm *vm, const Frame *f, const LoopRegion *r) {
    double iterations = 1;
    for (int i = 0; i < r->loop->u.loop.nvars; i++) iterations *= (double)qloop_counter(f, r, i).iterations;
    return qloop_steps_per_iteration(vm, f, r) * iterations;
}

/* -- loops inside -------------------------------------------------------------------------------------------------- */
static bool is_inside(const LoopRegion *inner, const LoopRegion *r) {
    return inner != r && inner->start >= r->start && inner->end <= r->end;
}

static bool is_parallel(const LoopRegion *r) {
    const LoopState *s = r->machine;
    const LoopSpec *v = s ? (const LoopSpec *)s->forms.first : NULL;
    return !v || v->code.parallel.func; /* unknown until its first specialization exists */
}

/* Does the loop add up values in chunks, so that the bits of the result differ from serial execution? */
static bool adds_up(const LoopRegion *r) {
    const LoopState *s = r->machine;
    const LoopSpec *v = s ? (const LoopSpec *)s->forms.first : NULL;
    return !v || v->code.chunked;
}

/* Machine code of the outer loop would run its iterations, and so the inner loops and the elements of long arrays,
 * serially.  The remaining work may take at most the share `rest`, because the interpreter is much slower there. */
LoopFrame qloop_is_frame(qs_vm *vm, const Frame *f, const LoopRegion *r) {
    static const double worth_threads = 2e5, rest = 0.01;
    const Chunk *c = &f->proto->chunk;
    const Estimate body = estimate_iteration(vm, f, r->loop, false);
    double all = body.sum, inner = body.arrays;
    bool sums = false;
    for (uint32_t i = 0; i < c->nloops; i++) {
        const LoopRegion *q = &c->loops[i];
        if (!is_inside(q, r) || q->loop->kind != N_FOR || !is_parallel(q)) continue;
        Estimate e = {.vm = vm, .f = f};
        Node *loop = q->loop;
        add_steps(&e, &loop);
        if (e.sum < worth_threads || e.sum == INFINITY) continue;
        inner += e.sum, sums |= adds_up(q);
    }
    return inner <= 0 || all - inner >= rest * all ? FRAME_NOT : sums ? FRAME_OF_SUMS : FRAME;
}
