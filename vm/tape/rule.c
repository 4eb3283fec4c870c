/* rule.c -- calls derivative rules written in the language: rules of stdlib/adjoints.q, which is loaded when the
 * first one is needed, and rules that a program names with {!adjoint …}.
 *
 * A rule gets the arguments of the operation, its results, and the adjoints of the results.  It returns the adjoints
 * of the arguments, in order: null for arguments that have none, and trailing ones may be omitted.  A string in place
 * of an adjoint is the error message.  Rules of adjoints.q get null for an adjoint that is zero because the result is
 * unused; rules of programs get zeros.  A rule of adjoints.q with one more parameter, `wanted`, gets a truth value
 * for each argument in it: is the adjoint of the argument needed?  It may return null for the others. */
#include "vm/interp/frame.h"
#include "vm/program/module.h"
#include "vm/tape/tape_internal.h"

#include "lang/syntax/ast.h"

#include <string.h>

typedef struct {
    qs_value fn;
    int nin, nout;
    bool list, zeros; /* arguments are passed as a list; zeros are passed in place of null */
    qs_value kept[];
} Rule;

/* -- finding rules ------------------------------------------------------------------------------------------------- */
qs_status qrule_find(qs_vm *vm, const char *name, qs_value *out) { return qmod_library(vm, "adjoints.q", name, out); }

static qs_status call_rule(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nout, qs_value *out) {
    for (int i = 0; i < nout; i++) out[i] = qs_nil();
    return qvm_call(vm, fn, nin, in, nout, out);
}

qs_status qrule_call_named(qs_vm *vm, const char *name, int nin, const qs_value *in, int nout, qs_value *out) {
    qs_value fn;
    TRY(qrule_find(vm, name, &fn));
    return call_rule(vm, fn, nin, in, nout, out);
}

qs_status qrule_builtin(qs_vm *vm, const char *name, int nin, const qs_value *in, qs_value *out) {
    qs_value fn;
    TRY(qvm_lookup_builtin(vm, name, &fn));
    qs_status s = call_rule(vm, fn, nin, in, 1, out);
    qval_release(vm, fn);
    return s;
}

/* -- nodes --------------------------------------------------------------------------------------------------------- */
static void free_rule(qs_vm *vm, GradNode *n) {
    Rule *r = n->data;
    for (int i = 0; i < r->nin + r->nout; i++) qval_release(vm, r->kept[i]);
    qval_release(vm, r->fn);
    qmem_free(qvm_ctx(vm), r, sizeof *r + (size_t)(r->nin + r->nout) * sizeof *r->kept);
}

/* Returns how many adjoints the function returns. */
static int count_adjoints(qs_value fn, int most) {
    const Function *f = fn.u.p;
    int n = fn.kind == QS_FUNCTION && f->fkind == FN_SCRIPT ? f->ast->nouts : most;
    return n < 1 ? 1 : n < most ? n : most;
}

static bool asks_what_is_wanted(const Rule *r) {
    const Function *f = r->fn.u.p;
    if (r->list || r->fn.kind != QS_FUNCTION || f->fkind != FN_SCRIPT) return false;
    return f->ast->nparams == r->nin + 2 * r->nout + 1;
}

static qs_status list_wanted(qs_vm *vm, const GradNode *n, qs_value *out) {
    Array *a;
    void *p;
    TRY(qarr_make(vm, QS_B1, 1, &(int64_t){n->nin}, false, &a, &p));
    *out = qarr_value(a);
    for (int i = 0; i < n->nin; i++) ((bool *)p)[i] = n->in[i] != NULL;
    return QS_OK;
}

static qs_status collect_args(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *args, bool wants_list) {
    const Rule *r = n->data;
    if (wants_list) TRY(list_wanted(vm, n, &args[r->nin + 2 * r->nout]));
    for (int i = 0; i < r->nin; i++) args[i] = qval_retain(r->kept[i]);
    for (int i = 0; i < r->nout; i++) {
        qs_value kept = r->kept[r->nin + i], *y = &args[r->nin + i], *d = &args[r->nin + r->nout + i];
        bool has = n->out[i].kind != QS_NIL;
        if (has) TRY(qtape_result(vm, n, i, kept, y));
        else *y = qval_retain(kept);
        *d = qval_retain(dy[i]);
        if (has && dy[i].kind == QS_NIL && r->zeros) TRY(qbackward_zero(vm, &n->out[i], d));
    }
    return QS_OK;
}

static qs_status new_list(qs_vm *vm, int n, qs_value *items, qs_value *out) {
    Cell *c;
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, &(int64_t){n}, &c));
    for (int i = 0; i < n; i++) c->items[i] = items[i], items[i] = qs_nil();
    return *out = qval_object(QS_CELL, c), QS_OK;
}

/* For any number of arguments: fn(list of arguments, result, adjoint of the result) returns a list of adjoints. */
static qs_status call_with_list(qs_vm *vm, const Rule *r, qs_value *args, qs_value *dx) {
    qs_value list[3] = {qs_nil(), args[r->nin], args[r->nin + 1]}, result = qs_nil();
    TRY(new_list(vm, r->nin, args, &list[0]));
    qs_status s = call_rule(vm, r->fn, 3, list, 1, &result);
    const Cell *c = result.u.p;
    if (s == QS_OK && (result.kind != QS_CELL || c->count != (size_t)r->nin))
        s = qerr_set(qvm_ctx(vm), QS_EINTERNAL, "a rule gave a list of other adjoints than of its %d arguments",
                     r->nin);
    for (int i = 0; i < r->nin && s == QS_OK; i++) dx[i] = qval_retain(c->items[i]);
    qval_release(vm, list[0]);
    qval_release(vm, result);
    return s;
}

/* Checks the shape of an adjoint; the error names it: "root_rule: the adjoint of a". */
static qs_status check_form(qs_vm *vm, const Rule *r, int i, qs_value dx) {
    const Function *f = r->fn.u.p;
    bool named = f->fkind == FN_SCRIPT && i < f->ast->nparams;
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s: the adjoint of ", f->name->s);
    if (named) qtext_puts(&t, f->ast->params[i].name->s);
    else qtext_printf(&t, "argument %d", i + 1);
    qs_status s = qbackward_check(vm, t.s, r->kept[i], dx);
    return qtext_free(&t), s;
}

/* Checks the adjoints of rules of programs.  Rules of adjoints.q may return adjoints of the broadcast shape, which the
 * pass sums up. */
static qs_status check_given(qs_vm *vm, const Rule *r, int i, qs_value dx) {
    if (dx.kind == QS_STRING) return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s", ((Str *)dx.u.p)->s);
    return dx.kind == QS_NIL || !r->zeros ? QS_OK : check_form(vm, r, i, dx);
}

/* Calls the rule.  An error in a rule of adjoints.q gets the source line of the operation, not that of the rule. */
static qs_status call_at(qs_vm *vm, const GradNode *n, int nargs, qs_value *args, qs_value *dx) {
    const Rule *r = n->data;
    ErrorState *e = &qvm_ctx(vm)->err;
    Where outer = qvm(vm)->grad_at;
    qvm(vm)->grad_at = r->zeros ? (Where){NULL, 0} : n->at;
    qs_status s = r->list ? call_with_list(vm, r, args, dx)
                          : call_rule(vm, r->fn, nargs, args, count_adjoints(r->fn, r->nin), dx);
    qvm(vm)->grad_at = outer;
    if (s != QS_OK && s != QS_EINTERRUPT && !r->zeros && !e->late && n->at.src)
        e->placed = false, e->nframes = e->nlost = 0;
    return s;
}

static bool is_empty(const Trace *t) {
    for (int i = 0; t->kind == QS_ARRAY && i < t->rank; i++)
        if (!t->dims[i]) return true;
    return t->kind == QS_NIL;
}

bool qrule_is_trivial(const GradNode *n) {
    bool in = true, out = true;
    for (int i = 0; i < n->nin; i++) in = in && (!n->in[i] || is_empty(n->in[i]));
    for (int i = 0; i < n->nout; i++) out = out && is_empty(&n->out[i]);
    return in || out;
}

static qs_status reverse_rule(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const Rule *r = n->data;
    bool wants_list = asks_what_is_wanted(r);
    if (qrule_is_trivial(n)) return QS_OK;
    int nargs = r->nin + 2 * r->nout + wants_list;
    qs_value *args = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)nargs, sizeof *args, 0));
    qs_status s = collect_args(vm, n, dy, args, wants_list);
    if (s == QS_OK) s = call_at(vm, n, nargs, args, dx);
    for (int i = 0; i < r->nin && s == QS_OK; i++)
        if (n->in[i]) s = check_given(vm, r, i, dx[i]);
    for (int i = 0; i < nargs; i++) qval_release(vm, args[i]);
    qmem_free(qvm_ctx(vm), args, (size_t)nargs * sizeof *args);
    return s;
}

static const GradRule by_function = {.reverse = reverse_rule, .release = free_rule};

qs_status qrule_begin(qs_vm *vm, qs_value fn, const char *keeps, int nin, const qs_value *in, int nout,
                      RuleCall *call) {
    Rule *r = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)(nin + nout), sizeof *r->kept, sizeof *r));
    r->fn = qval_retain(fn), r->nin = nin, r->nout = nout;
    r->list = keeps && *keeps == '*';
    r->zeros = !keeps;
    if (r->list) keeps++;
    *call = (RuleCall){.rule = r,
                       .edges = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)nin, sizeof(Trace *), sizeof(Trace *))),
                       .nin = nin};
    qs_status s = QS_OK;
    for (int i = 0; i < nin; i++) {
        char how = keeps && (size_t)i < strcspn(keeps, "|") ? keeps[i] : 'v';
        if (how != 'z') call->edges[i] = qtape_edge(vm, in[i]);
        if (s == QS_OK) s = (how == 'v' ? qtape_keep : qtape_keep_shape)(vm, in[i], &r->kept[i]);
    }
    const char *results = keeps ? strchr(keeps, '|') : NULL;
    call->results = results ? results + 1 : "";
    call->all = !keeps;
    if (s != QS_OK) qrule_drop(vm, call);
    return s;
}

void qrule_drop(qs_vm *vm, RuleCall *call) {
    GradNode n = {.data = call->rule};
    for (int i = 0; i < call->nin; i++) qtape_release(vm, call->edges[i]);
    qmem_free(qvm_ctx(vm), call->edges, (size_t)(call->nin + 1) * sizeof(Trace *));
    free_rule(vm, &n);
}

qs_status qrule_end(qs_vm *vm, RuleCall *call, int nout, qs_value *out) {
    Rule *r = call->rule;
    qs_status s = QS_OK;
    size_t n = strlen(call->results);
    for (int i = 0; i < nout && s == QS_OK; i++) {
        bool whole = call->all || ((size_t)i < n && call->results[i] != 's');
        s = (whole ? qtape_keep_plain : qtape_keep_shape)(vm, out[i], &r->kept[r->nin + i]);
    }
    if (s != QS_OK) return qrule_drop(vm, call), s;
    qs_value smooth[MOST_RESULTS];
    for (int i = 0; i < nout; i++) smooth[i] = (size_t)i < n && strchr("zf", call->results[i]) ? qs_nil() : out[i];
    qtape_record(vm, &by_function, r, r->nin, call->edges, r->nout, smooth);
    for (int i = 0; i < nout; i++)
        if (smooth[i].kind != QS_NIL) out[i] = smooth[i];
    qmem_free(qvm_ctx(vm), call->edges, (size_t)(call->nin + 1) * sizeof(Trace *));
    return QS_OK;
}
