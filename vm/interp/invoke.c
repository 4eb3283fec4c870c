/* invoke.c -- runs callables that are not script functions, and delivers results to the caller.
 *
 * A native writes its results to stack slots above all slots in use, while its arguments are still in the registers of
 * its caller.  The results of a script function are in its registers, so they are moved out before its frame is popped.
 */
#include "vm/base/warning.h"
#include "vm/interp/effects.h"
#include "vm/interp/frame.h"
#include "vm/interp/interp.h"
#include "vm/value/trace.h"

#include <string.h>

static qs_status no_result(qs_vm *vm, const char *name) {
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s gives no result", name);
}

static qs_status too_few(qs_vm *vm, const char *name, int have, uint32_t want) {
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s gives %d results, %u are wanted", name, have, want);
}

/* Checks that a native has set all results: some have further results only for some arguments, as max(x) has two and
 * max(a, b) one. */
static qs_status check_set(qs_vm *vm, const qs_native_def *d, const qs_value *results, int want) {
    int have = 1;
    while (have < want && !qval_is_unset(results[have])) have++;
    if (have == want) return QS_OK;
    if (!d->doc) return too_few(vm, d->name, have, (uint32_t)want);
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s gives %d result%s for these arguments, %d are wanted: %.*s", d->name,
                    have, have == 1 ? "" : "s", want, (int)strcspn(d->doc, "\n"), d->doc);
}

/* The function that returned.  func: its tree, if it is a script function; acts: see Function. */
typedef struct {
    const char *name;
    const Func *func;
    bool unpacks, acts;
} Giver;

static Giver function_gives(const Func *f) { return (Giver){f->name->s, f, false, true}; }

static Giver native_gives(const Function *fn) {
    if (!fn || !fn->native) return (Giver){"this", NULL, true, true}; /* a Python callable, or a type */
    return (Giver){fn->native->name, NULL, fn->traits & TRAIT_UNPACKS, fn->acts};
}

/* Checks [a, b] = f(…) if f returns one list; warns if this is probably not meant. */
static qs_status check_unpacked(qs_vm *vm, const Giver *g, qs_value list, int want) {
    bool cell = list.kind == QS_CELL;
    if (g->unpacks || (list.kind != QS_ARRAY && !cell)) return QS_OK;
    size_t have = cell ? ((Cell *)list.u.p)->count : qval_array(list)->count;
    if (have < (size_t)want) return QS_OK; /* qops_destruct reports this error */
    bool meant = cell || (g->func && qast_means_list(g->func, want));
    return qwarn_unpacked(qvm_ctx(vm), qvm_here(vm), g->name, have, want, meant);
}

/* Warns about an unused result if the call is a statement of a program, and not a call from C.  The place of the call
 * is looked up last, because that takes longest. */
static qs_status check_unused(qs_vm *vm, const Giver *g) {
    if (g->acts) return QS_OK;
    Where w = qvm_here(vm);
    return !w.src || w.src->library ? QS_OK : qwarn_unused(qvm_ctx(vm), w, g->name);
}

/* Moves `have` results at `from` to the `want` slots at ret.  If several results are expected, a single list is
 * unpacked. */
static qs_status deliver(qs_vm *vm, const Giver *g, qs_value *from, int have, qs_value *ret, uint32_t want) {
    if (want == WANT_MAYBE) {
        qinterp_put(vm, ret, have ? from[0] : qval_unset());
        if (have) from[0] = qs_nil();
        return QS_OK;
    }
    if (want == 0) return qframe_drop(vm, ret), check_unused(vm, g);
    if (have == 0) return no_result(vm, g->name);
    if ((int)want <= have) {
        for (uint32_t i = 0; i < want; i++) {
            qinterp_put(vm, &ret[i], from[i]);
            from[i] = qs_nil();
        }
        return QS_OK;
    }
    if (have > 1) return too_few(vm, g->name, have, want);
    for (uint32_t i = 0; i < want; i++) qinterp_clear(vm, &ret[i]);
    qs_value list = from[0];
    from[0] = qs_nil();
    qs_status s = check_unpacked(vm, g, list, (int)want);
    if (s == QS_OK) s = qops_destruct(vm, list, (int)want, ret);
    qval_release(vm, list);
    return s;
}

static int results_for(int most, uint32_t want) {
    int n = want == WANT_MAYBE ? 1 : (int)want;
    return n < most ? n : most;
}

static bool needs_hook(const qs_vm *vm, int n, const qs_value *v) {
    if (__builtin_expect(!((const Machine *)vm)->tape, 1)) return false;
    if (qtape_is_on(vm)) return true;
    for (int i = 0; i < n; i++)
        if (qtape_touches(v[i])) return true;
    return false;
}

qs_status qinvoke(qs_vm *vm, Function *fn, qs_value *args, int nin, const NameTable *names, qs_value *ret,
                  uint32_t want) {
    Machine *m = qvm(vm);
    const qs_native_def *d = fn ? fn->native : NULL;
    int most = d ? d->max_out : 1;
    if (d && (nin < d->min_in || (d->max_in >= 0 && nin > d->max_in))) return qcall_count(vm, d, nin);
    if (most > MAX_WANTED) most = MAX_WANTED;
    uint32_t slots = most > 1 ? (uint32_t)most : 1;
    qs_value *top = m->top;
    if (d && names && names->n)
        TRY(qcall_arrange_native(vm, d, &(CallArgs){nin, args, names->n, names->at, 0}, &args, &nin));
    qs_value *out = qframe_free_slot(m);
    if (out + slots > m->stack_limit) return m->top = top, qframe_too_deep(vm);
    for (uint32_t i = 0; i < slots; i++) qinterp_clear(vm, &out[i]);
    m->top = out + slots;
    qs_status s;
    if (d) {
        qs_call_args c = {.nin = nin, .nout = results_for(most, want), .in = args, .out = out, .name = d->name};
        for (int i = 1; i < c.nout; i++) out[i] = qval_unset();
        qdoing_begin(&m->base.doing, d->name);
        s = needs_hook(vm, nin, args) ? qtrace(vm)->native(vm, d, &c) : d->fn(vm, &c);
        qdoing_end(&m->base.doing, &m->base);
    } else {
        CallArgs a = qcall_args(nin, args, names);
        s = qcall_other(vm, *ret, &a, results_for(most, want), out);
    }
    if (s == QS_OK && __builtin_expect(qflag_is_up(&m->attention), 0)) s = qvm_attend(vm); /* after a long call */
    int have = results_for(most, want);
    if (s == QS_OK && d && have > 1) s = check_set(vm, d, out, have);
    for (int i = 0; i < nin; i++) qframe_drop(vm, &args[i]);
    if (s == QS_OK && want == 1 && have == 1) {
        qinterp_put(vm, ret, out[0]), out[0] = qs_nil();
    } else if (s == QS_OK) {
        Giver g = native_gives(fn);
        s = deliver(vm, &g, out, have, ret, want);
    }
    for (uint32_t i = 0; i < slots; i++) qframe_drop(vm, &out[i]);
    m->top = top;
    return s;
}

/* All results are computed, because the rule receives them and their adjoints by position.  The frame is popped first
 * and only its arguments remain, so that errors are located at the call. */
qs_status qinvoke_with_rule(qs_vm *vm, const Frame *frame) {
    Machine *m = qvm(vm);
    Frame f = *frame;
    f.want &= ~(uint32_t)WANT_CONVERTED;
    const Func *fn = f.fn->ast;
    int most = fn->is_lambda ? 1 : fn->nouts;
    qs_value *out = qframe_free_slot(m), *top = m->top;
    if (out + MAX_WANTED > m->stack_limit) return qframe_too_deep(vm);
    for (int i = 0; i < MAX_WANTED; i++) qinterp_clear(vm, &out[i]);
    m->top = out + MAX_WANTED;
    m->nframes--;
    qs_status s = qtrace(vm)->function(vm, f.fn, fn->nparams, f.base, most, out);
    for (qs_value *r = f.base; r < f.end; r++) qframe_drop(vm, r);
    Giver g = function_gives(fn);
    if (s == QS_OK) s = deliver(vm, &g, out, results_for(most, f.want), f.ret, f.want);
    for (int i = 0; i < MAX_WANTED; i++) qframe_drop(vm, &out[i]);
    m->top = top;
    return s;
}

qs_status qinvoke_method(qs_vm *vm, qs_value *r, int nin, Str *name, const NameTable *names, uint32_t want,
                         bool *found) {
    Machine *m = qvm(vm);
    qs_value *out = qframe_free_slot(m), *top = m->top;
    if (out + 1 > m->stack_limit) return qframe_too_deep(vm);
    qinterp_clear(vm, out);
    m->top = out + 1;
    CallArgs a = qcall_args(nin, r + 2, names);
    qs_status s = qcall_foreign(vm, r[1].u.p, name, &a, results_for(1, want), out, found);
    if (*found || s != QS_OK) {
        for (int i = 0; i <= nin; i++) qframe_drop(vm, &r[1 + i]);
        Giver g = {name->s, NULL, true, true};
        if (s == QS_OK) s = deliver(vm, &g, out, 1, r, want);
    }
    qframe_drop(vm, out);
    m->top = top;
    return s;
}

static qs_status named_result_missing(qs_vm *vm, const Func *f, const qs_value *results) {
    for (int i = 0; i < f->nouts; i++)
        if (qval_is_unset(results[i]))
            return qerr_set(qvm_ctx(vm), QS_ENAME, "result %s of %s was not given a value", f->outs[i].name->s,
                            f->name->s);
    return no_result(vm, f->name->s);
}

/* The caller expects more results than the function returns.  The frame is popped first, so that the error is located
 * in the caller. */
static qs_status wanted_too_much(qs_vm *vm, Frame *f, int have) {
    const char *name = f->proto->func->name->s;
    qs_status s = have ? too_few(vm, name, have, f->want & ~(uint32_t)WANT_CONVERTED) : no_result(vm, name);
    qframe_drop(vm, f->ret);
    qframe_pop(vm, f);
    return s;
}

qs_status qinvoke_unused(qs_vm *vm, Func *f) {
    if (!f->unit->src->library || qeffects_of(vm, f)) return QS_OK;
    Where w = qvm_here(vm);
    return !w.src || w.src->library ? QS_OK : qwarn_unused(qvm_ctx(vm), w, f->name->s);
}

qs_status qinvoke_leave(qs_vm *vm, Frame *f, qs_value *results, int have) {
    qs_value kept[MAX_WANTED], *ret = f->ret;
    bool converted = f->want & WANT_CONVERTED;
    uint32_t want = f->want & ~(uint32_t)WANT_CONVERTED;
    Giver g = function_gives(f->proto->func);
    int n = have < (int)want || want == WANT_MAYBE ? have : (int)want;
    if (n > MAX_WANTED) n = MAX_WANTED;
    if (want == WANT_MAYBE && have > 0 && qval_is_unset(results[0])) n = have = 0;
    if (want != WANT_MAYBE && have != 1 && have < (int)want) return wanted_too_much(vm, f, have);
    for (int i = 0; i < n; i++)
        if (want != 0 && qval_is_unset(results[i])) return named_result_missing(vm, f->proto->func, results);
    for (int i = 0; i < n; i++) {
        kept[i] = results[i];
        results[i] = qs_nil();
    }
    if (converted) qconverted_returned(vm, f, g.func, n, kept);
    qframe_pop(vm, f);
    qs_value *top = qvm(vm)->top, *end = ret + (want > 1 && want != WANT_MAYBE ? want : 1);
    if (end > top) qvm(vm)->top = end; /* unpacking a list may run other functions */
    qs_status s = deliver(vm, &g, kept, n, ret, want);
    qvm(vm)->top = top;
    for (int i = 0; i < n; i++) qval_release(vm, kept[i]);
    return s;
}
