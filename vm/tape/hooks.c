/* hooks.c -- hooks of the interpreter for traced operands: operators, built-ins, choices, conversions.
 *
 *     plain    the operation runs on the values as usual, inside qtape_enter, which permits reading traced arrays
 *     record   the operation is recorded with its rule: a function of adjoints.q, or an op of elem.def (vm/launch)
 *
 * An operation without a rule is refused here, with a sentence that says why. hooks_index.c has the hooks of x[…]. */
#include "vm/value/hooks.h"
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/elem/elem_build.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/array/index.h"
#include "vm/interp/interp.h"
#include "vm/launch/launch.h"
#include "vm/program/names.h"
#include "vm/tape/tape_internal.h"

#include <stdio.h>
#include <string.h>

/* -- recording ----------------------------------------------------------------------------------------------------- */
/* Records an operation that computed its only result *out from items. */
static qs_status record_by(qs_vm *vm, const char *rule, const char *keeps, int n, const qs_value *items,
                           qs_value *out) {
    qs_value fn;
    RuleCall call;
    qs_status s = qrule_find(vm, rule, &fn);
    if (s == QS_OK) s = qrule_begin(vm, fn, keeps, n, items, 1, &call);
    if (s == QS_OK) s = qrule_end(vm, &call, 1, out);
    return qtape_recorded(vm, s, 1, out);
}

/* -- operators ----------------------------------------------------------------------------------------------------- */
static bool has_elements(qs_value v) {
    v = qtape_plain(v);
    return v.kind == QS_ARRAY || qval_is_scalar(v);
}

/* Returns whether the result is differentiable.  Results of other operators, such as truth values, are constant. */
static bool has_slopes(Op op) {
    Elem e = kelem_operator(op);
    return e != EL__COUNT && kelem_slope_kind(e) == ELEM_SLOPES;
}

qs_status qhook_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    const qs_value in[2] = {a, b};
    bool recorded = qtape_any(vm, 2, in) && has_elements(a) && has_elements(b);
    if (qtape_any(vm, 2, in) && (a.kind == QS_FOREIGN || b.kind == QS_FOREIGN))
        return qtape_refuse(vm, "this operator", "what a foreign value computes is not seen");
    qtape_enter(vm);
    qs_status s = qops_binary(vm, op, qtape_plain(a), qtape_plain(b), out);
    qtape_leave(vm);
    if (s != QS_OK || !recorded || !has_slopes(op)) return s;
    if (qarith_is_product(op, a, b)) return qtape_recorded(vm, qproduct_record(vm, in, out), 1, out);
    return qtape_recorded(vm, qsmallop_record(vm, kelem_operator(op), 2, in, out), 1, out);
}

qs_status qhook_unary(qs_vm *vm, Op op, qs_value a, qs_value *out) {
    bool recorded = qtape_is_recorded(vm, a);
    if (op == OP_PLUS && recorded) return *out = qval_retain(a), QS_OK;
    qtape_enter(vm);
    qs_status s = qops_unary(vm, op, qtape_plain(a), out);
    qtape_leave(vm);
    if (s != QS_OK || !recorded || !has_slopes(op)) return s;
    return qtape_recorded(vm, qsmallop_record(vm, kelem_operator(op), 1, &a, out), 1, out);
}

/* Assigns all elements of src to dst, in place. */
static qs_status assign_all(qs_vm *vm, qs_value dst, qs_value src) {
    const qs_value at[QS_MAX_RANK] = {qval_colon(), qval_colon(), qval_colon(), qval_colon(),
                                      qval_colon(), qval_colon(), qval_colon(), qval_colon()};
    return qhook_set(vm, dst, &(Subscript){.n = qval_array(dst)->rank, .at = at}, src);
}

/* x op= v: computes the new value separately, then writes it into the same array. */
qs_status qhook_update(qs_vm *vm, Op op, qs_value *target, qs_value v) {
    qs_value r;
    TRY(qops_binary(vm, op, *target, v, &r));
    if (target->kind != QS_ARRAY) return qinterp_put(vm, target, r), QS_OK;
    qs_status s = assign_all(vm, *target, r);
    qval_release(vm, r);
    return s;
}

/* -- built-ins ----------------------------------------------------------------------------------------------------- */
static qs_status run_plain(qs_vm *vm, const qs_native_def *d, qs_call_args *c) {
    for (int i = 0; i < c->nin; i++)
        if (c->in[i].kind == QS_TRACED) {
            qs_value plain = qval_retain(qtape_plain(c->in[i]));
            qinterp_put(vm, &c->in[i], plain);
        }
    qtape_enter(vm);
    qs_status s = d->fn(vm, c);
    qtape_leave(vm);
    return s;
}

enum { MOST = MOST_RESULTS };

/* Returns the number of results to compute: more than the script requested if the rule needs them (keeps: 'f'). */
static int results_made(const qs_native_def *d, const char *keeps, const qs_call_args *c) {
    const char *results = strchr(keeps, '|');
    const char *last = results ? strrchr(results, 'f') : NULL;
    int n = last ? (int)(last - results) : 0;
    return n > c->nout && n <= d->max_out ? n : c->nout;
}

static qs_status run_for_record(qs_vm *vm, const qs_native_def *d, const char *keeps, qs_call_args *c, qs_value *out) {
    qs_call_args all = *c;
    for (int i = 0; i < d->max_out; i++) out[i] = qs_nil();
    all.nout = results_made(d, keeps, c), all.out = out;
    return run_plain(vm, d, &all);
}

/* Omitted arguments are null, so that a rule finds its arguments by position. */
static qs_status run_recorded(qs_vm *vm, const qs_native_def *d, qs_value fn, const char *keeps, qs_call_args *c,
                              const qs_value *in, int nin) {
    qs_value out[MOST];
    RuleCall call;
    TRY(qrule_begin(vm, fn, keeps, nin, in, d->max_out, &call));
    qs_status s = run_for_record(vm, d, keeps, c, out);
    if (s == QS_OK) s = qrule_end(vm, &call, d->max_out, out);
    else qrule_drop(vm, &call);
    for (int i = 0; i < d->max_out; i++) { /* also after a failure, since some results may exist already */
        if (i < c->nout) c->out[i] = out[i];
        else qval_release(vm, out[i]);
    }
    return s;
}

static qs_status by_rule(qs_vm *vm, const qs_native_def *d, const char *rule, qs_call_args *c) {
    char name[64];
    qs_value fn, in[MOST];
    size_t n = strcspn(rule, " ");
    if (n >= sizeof name) return qerr_set(qvm_ctx(vm), QS_EINTERNAL, "%s: the name of its rule is too long", d->name);
    snprintf(name, sizeof name, "%.*s", (int)n, rule);
    TRY(qrule_find(vm, name, &fn));
    const char *keeps = rule[n] ? rule + n + 1 : d->max_in < 0 ? "*" : "";
    if (d->max_in < 0 || d->max_in > MOST) return run_recorded(vm, d, fn, keeps, c, c->in, c->nin);
    for (int i = 0; i < d->max_in; i++) in[i] = i < c->nin ? c->in[i] : qs_nil();
    return run_recorded(vm, d, fn, keeps, c, in, d->max_in);
}

/* Runs an elementwise function and records it by its op. */
static qs_status by_elements(qs_vm *vm, const qs_native_def *d, Elem row, qs_call_args *c) {
    qs_value in[MOST];
    int n = c->nin;
    for (int i = 0; i < n; i++) in[i] = qval_retain(c->in[i]);
    qs_status s = run_plain(vm, d, c);
    bool itself = c->out[0].kind == QS_ARRAY && n == 1 && c->out[0].u.p == in[0].u.p; /* real(x) of a real x */
    if (s == QS_OK && !itself) s = qelementwise_record(vm, row, n, in, &c->out[0]);
    for (int i = 0; i < n; i++) qval_release(vm, in[i]);
    return s;
}

static Elem row_of(const qs_native_def *d, int nin) {
    if (nin == 2 && !strcmp(d->name, "pow")) return kelem_operator(OP_POW);
    return nin < MOST ? kelem_find(d->name, nin) : EL__COUNT;
}

static qs_status record_native(qs_vm *vm, const qs_native_def *d, qs_call_args *c) {
    const char *rule = qlibrary_hooks(vm)->adjoint(d);
    if (rule && *rule == ADJOINT_CALLS) return d->fn(vm, c);
    if (!qtape_any(vm, c->nin, c->in)) return run_plain(vm, d, c);
    if (!rule) return qtape_refuse(vm, d->name, "it is a function of the host program");
    Elem row = row_of(d, c->nin);
    if (row != EL__COUNT) return by_elements(vm, d, row, c);
    switch (*rule) {
    case ADJOINT_ZERO: return run_plain(vm, d, c);
    case ADJOINT_NONE: return qtape_refuse(vm, d->name, rule + 1);
    case ADJOINT_ELEMENTS: return qtape_refuse(vm, d->name, "it is known for other numbers of arguments");
    default: return by_rule(vm, d, rule, c);
    }
}

/* -- functions with their own rule --------------------------------------------------------------------------------- */
static qs_status own_rule(qs_vm *vm, const Func *f, qs_value *out) {
    const Attr *a = qast_attribute(f, "adjoint");
    const char *name = a->nitems ? a->items[0].key->s : "";
    int slot = a->nitems ? qnames_lookup(vm, qmod_of(f), a->items[0].key) : -1;
    if (slot < 0 || qvm_global(vm, (uint64_t)slot)->kind != QS_FUNCTION)
        return qerr_set(qvm_ctx(vm), QS_ENAME, "%s: {!adjoint %s} names no function of the file", f->name->s, name);
    *out = *qvm_global(vm, (uint64_t)slot);
    const Function *rule = out->u.p;
    bool variadic = f->nparams && f->params[f->nparams - 1].variadic;
    if (variadic || rule->fkind != FN_SCRIPT || rule->ast->nouts <= f->nparams) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: its rule %s gives %d adjoints, one for each argument is %d", f->name->s,
                    name, rule->ast->nouts, f->nparams);
}

/* Returns whether v contains a recorded value; true for deeper structures, because they may be cyclic. */
static bool holds_recorded(const qs_vm *vm, qs_value v, int depth) {
    enum { DEEPEST = 32 };
    const Cell *c = v.u.p;
    Str *name;
    qs_value field;
    if (v.kind != QS_CELL && v.kind != QS_OBJECT) return qtape_is_recorded(vm, v);
    if (depth == DEEPEST) return true;
    for (size_t i = 0; v.kind == QS_CELL && i < c->count; i++)
        if (holds_recorded(vm, c->items[i], depth + 1)) return true;
    for (uint32_t i = 0; v.kind == QS_OBJECT && qobj_field(v.u.p, i, &name, &field); i++)
        if (holds_recorded(vm, field, depth + 1)) return true;
    return false;
}

/* Returns whether a function with {!adjoint name} is called with arguments that contain recorded values.  Then the
 * function runs unrecorded, and the function `name` is its rule. */
static bool has_recorded_argument(const qs_vm *vm, int nin, const qs_value *in) {
    for (int i = 0; i < nin; i++)
        if (holds_recorded(vm, in[i], 0)) return true;
    return false;
}

/* Refuses recorded values inside cells and objects, because adjoints exist for numbers and arrays only. */
static qs_status check_no_trees(qs_vm *vm, const Function *fn, int nin, const qs_value *in) {
    char what[96];
    for (int i = 0; i < nin; i++) {
        if (qtape_is_recorded(vm, in[i]) || !holds_recorded(vm, in[i], 0)) continue;
        snprintf(what, sizeof what, "argument %s of %s", fn->ast->params[i].name->s, fn->name->s);
        return qtape_refuse(vm, what,
                            "in a cell or an object it holds what a derivative depends on, and a rule gives "
                            "adjoints of numbers and arrays; pass them as arguments");
    }
    return QS_OK;
}

/* Restores the original arguments: the last argument of a variadic function is a list of the remaining arguments. */
static qs_status plain_arguments(qs_vm *vm, const Func *f, int nin, const qs_value *in, int *n, qs_value *plain) {
    bool variadic = nin && f->params[nin - 1].variadic;
    const Cell *rest = variadic ? in[nin - 1].u.p : NULL;
    size_t nrest = rest ? rest->count : 0;
    int fixed = nin - variadic;
    if ((size_t)fixed + nrest > MOST) return qtape_refuse(vm, f->name->s, "it has too many arguments for {!adjoint …}");
    for (int i = 0; i < fixed; i++, ++*n) TRY(qtape_keep_plain(vm, in[i], &plain[i]));
    for (size_t i = 0; i < nrest; i++) plain[(*n)++] = qval_retain(rest->items[i]);
    return QS_OK;
}

static qs_status call_plain(qs_vm *vm, Function *fn, int nin, const qs_value *in, int nout, qs_value *out) {
    qs_value plain[MOST];
    int n = 0;
    qs_status s = plain_arguments(vm, fn->ast, nin, in, &n, plain);
    if (s == QS_OK) s = qvm_call(vm, qval_object(QS_FUNCTION, fn), n, plain, nout, out);
    for (int i = 0; i < n; i++) qval_release(vm, plain[i]);
    bool captured = s == QS_OK && qtape_any(vm, nout, out);
    for (int i = 0; i < nout && s == QS_OK && !captured; i++) s = qtape_own(vm, &out[i]);
    if (!captured) return s;
    return qtape_refuse(vm, fn->name->s,
                        "its rule does not know of a value that it has captured and that a derivative "
                        "depends on; pass it as an argument");
}

static qs_status record_function(qs_vm *vm, Function *fn, int nin, const qs_value *in, int nout, qs_value *out) {
    qs_value rule;
    RuleCall call;
    if (nin > MOST || nout > MOST) return qtape_refuse(vm, fn->name->s, "it has too many arguments for {!adjoint …}");
    TRY(check_no_trees(vm, fn, nin, in));
    TRY(own_rule(vm, fn->ast, &rule));
    TRY(qrule_begin(vm, rule, NULL, nin, in, nout, &call));
    qs_status s = call_plain(vm, fn, nin, in, nout, out);
    if (s != QS_OK) return qrule_drop(vm, &call), s;
    return qtape_recorded(vm, qrule_end(vm, &call, nout, out), nout, out);
}

/* -- choices, conversions, lists ----------------------------------------------------------------------------------- */
static qs_status record_where(qs_vm *vm, const qs_value *c, qs_value *out) {
    qs_value fn;
    qs_value in[3] = {qtape_plain(c[0]), c[1], c[2]};
    RuleCall call;
    bool recorded = qtape_any(vm, 2, c + 1);
    if (recorded) {
        TRY(qrule_find(vm, "where_adjoint", &fn));
        TRY(qrule_begin(vm, fn, "vss", 3, in, 1, &call));
    }
    qtape_enter(vm);
    qs_status s = qarith_where(vm, in[0], qtape_plain(c[1]), qtape_plain(c[2]), out);
    qtape_leave(vm);
    if (recorded && s != QS_OK) qrule_drop(vm, &call);
    else if (recorded) s = qtape_recorded(vm, qrule_end(vm, &call, 1, out), 1, out);
    return s;
}

static qs_status record_coercion(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out) {
    qs_value plain = qtape_plain(v);
    bool recorded = qtape_is_recorded(vm, v);
    qtape_enter(vm);
    qs_status s = qval_coerce(vm, plain, t, what, out);
    qtape_leave(vm);
    if (s != QS_OK || !recorded || (out->kind == QS_ARRAY && out->u.p == v.u.p)) return s;
    if (out->kind == QS_NUM && plain.kind == QS_NUM) return *out = qval_retain(v), QS_OK;
    return record_by(vm, "conversion_adjoint", "s", 1, &v, out);
}

/* Returns the rule of a type call: float64(x), cscalar(re, im), vec3(a, b, c).  Sizes, as in mat(n, m), and strings
 * have no derivative. */
static const char *construction_rule(const Type *t, int n) {
    if (t->kind == TY_NUM) return n == 2 ? "complex_adjoint" : "conversion_adjoint";
    return t->kind == TY_ARRAY && t->nfixed ? "literal_adjoint" : NULL;
}

static qs_status record_construction(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out) {
    qs_value plain[MOST] = {{0}};
    const char *rule = construction_rule(t, n);
    if (n > MOST) return qtape_refuse(vm, "this conversion", "it was called with too many arguments");
    for (int i = 0; i < n; i++) plain[i] = qtape_plain(args[i]);
    bool recorded = rule && qtape_any(vm, n, args);
    qtape_enter(vm);
    qs_status s = qval_construct(vm, t, n, plain, out);
    qtape_leave(vm);
    bool same = s == QS_OK && n == 1 && out->kind == QS_ARRAY && out->u.p == args[0].u.p;
    if (s != QS_OK || !recorded || same) return s;
    return record_by(vm, rule, t->kind == TY_NUM ? "ss" : "*", n, args, out);
}

qs_status qhook_literal(qs_vm *vm, qs_dtype d, int n, const qs_value *items, qs_value *out) {
    bool recorded = qtape_any(vm, n, items);
    qs_value *plain = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)n, sizeof *plain, 0));
    for (int i = 0; i < n; i++) plain[i] = qtape_plain(items[i]);
    qtape_enter(vm);
    qs_status s = qarr_literal(vm, d, n, plain, out);
    qtape_leave(vm);
    qmem_free(qvm_ctx(vm), plain, (size_t)n * sizeof *plain);
    if (s != QS_OK || !recorded || qsmallop_record_list(vm, n, items, out)) return s;
    return record_by(vm, "literal_adjoint", "*", n, items, out);
}

static qs_status record_range(qs_vm *vm, qs_dtype d, const qs_value *bounds, bool stepped, qs_value *out) {
    qs_value plain[3];
    bool recorded = qtape_any(vm, 2 + stepped, bounds);
    for (int i = 0; i < 2 + stepped; i++) plain[i] = qtape_plain(bounds[i]);
    qtape_enter(vm);
    qs_status s = qops_range(vm, d, plain, stepped, out);
    qtape_leave(vm);
    if (s != QS_OK || !recorded) return s;
    return record_by(vm, stepped ? "steps_adjoint" : "range_adjoint", "*", 2 + stepped, bounds, out);
}

/* -- the table ----------------------------------------------------------------------------------------------------- */
void qtape_open(qs_vm *vm) {
    static const TraceHooks hooks = {
        .live = qtape_live,
        .release = qtape_release,
        .free_number = qtape_free_number,
        .free_array = qtape_free_array,
        .forbidden = qtape_forbidden,
        .unwritten = qtape_unwritten,
        .refuse = qtape_refuse,
        .frames = qtape_frames,
        .record = qtape_record,
        .keep = qtape_keep,
        .keep_plain = qtape_keep_plain,
        .check_alone = qtape_check_alone,
        .recorded = qtape_recorded,
        .result = qtape_result,
        .form = qbackward_form,
        .transpose = qbackward_transpose,
        .binary = qhook_binary,
        .unary = qhook_unary,
        .update = qhook_update,
        .native = record_native,
        .follows_rule = has_recorded_argument,
        .function = record_function,
        .construct = record_construction,
        .where = record_where,
        .coerce = record_coercion,
        .literal = qhook_literal,
        .range = record_range,
        .get = qhook_get,
        .set = qhook_set,
        .update_at = qhook_update_at,
        .element = qhook_element,
    };
    qvm(vm)->trace_hooks = &hooks;
}
