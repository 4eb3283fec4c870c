/* loop_alias.c -- short vectors that several variables hold.
 *
 * `b = a` shares the array, so that b shows a later change of an element of a.  Compiled code has a copy of the
 * elements for each variable.  Therefore a variable that may share its array has a LOCAL with the number of the array.
 * A change of an element is made in all variables with the same number.  After the loop, the VM gives them one array
 * (vm/launch/loop_run.c).
 *
 *     number of an array      0: of one variable only; LOOP_FIRST_NEW and above: made in the loop
 *                             -1 - source: held by the captured variable `source` before the loop, and unchanged
 *                             1 + source: the same, changed in the loop; nothing else refers to it
 *                             LOOP_FIRST_NEW - 1: an item of a list, which is not changed
 *
 * Such a change is possible only in the function of the variable, and if no variable of a calling function shares the
 * array.  Else the loop is declined. */
#include "lang/kernel/lower/loop/loop_internal.h"

/* -- numbers ------------------------------------------------------------------------------------------------------- */
KRef kloop_entry_number(Loops *L, const Var *v) {
    return kloop_i64(L, v->patched ? 1 + v->entry.source : -1 - v->entry.source);
}

void kloop_declare_number(Loops *L, Var *v, const Value *init) {
    v->array = v->shared || v->foreign ? kbuild_local(&L->walk, init->array ? init->array : kloop_i64(L, 0)) : 0;
}

void kloop_declare_arrays(Loops *L) {
    L->arrays = L->shares ? kbuild_local(&L->walk, kloop_i64(L, LOOP_FIRST_NEW)) : 0;
}

static KRef next_number(Loops *L) {
    if (!L->arrays) return kloop_i64(L, 0); /* in the next pass */
    KRef n = kbuild_get(&L->walk, L->arrays);
    kbuild_set(&L->walk, L->arrays, kloop_op(L, K_ADD, n, kloop_i64(L, 1)));
    return n;
}

/* -- sharing ------------------------------------------------------------------------------------------------------- */
static bool is_of(const InlineFrame *in, const Var *v) { return v >= in->vars && v < in->vars + in->nvars; }

static void mark_shared(Loops *L, Var *v) {
    kbuild_learn(&L->walk, &v->shared);
    kbuild_learn(&L->walk, &L->shares);
}

/* A captured array, whose elements are those from here on. */
static qs_status hold_captured(Loops *L, Var *v, const Value *x) {
    if (L->module || L->callees || kloop_is_stored(L, x->host.source)) return kloop_decline_array(L, v);
    kbuild_learn(&L->walk, &v->captured);
    return L->out->apart = true, QS_OK;
}

/* An item of a list is not changed, and the VM does not find it again after the loop. */
static qs_status hold_item(Loops *L, Var *v) {
    kbuild_learn(&L->walk, &v->captured);
    kbuild_learn(&L->walk, &v->held);
    kbuild_learn(&L->walk, &L->holds_items);
    if (!v->live) return QS_OK;
    return kloop_decline(L, L->pos, "%s, an array of a list, is read after the loop%s; copy(…) makes another array",
                         v->sym->name->s, L->job->nleaves ? ", or by a statement that the interpreter executes" : "");
}

/* A new array, or that of a variable which has got a new one in this iteration and nothing else since. */
qs_status kloop_put_away(Loops *L, const Value *x) {
    Var *v = x->origin;
    bool new = v ? kbuild_is_open(v->made) && v->made_depth == L->depth : !x->array;
    if (!new || x->host.kind == LOOP_ITEM)
        return kloop_decline(L, L->pos, "a list gets an array that may have another name; copy(…) makes another array");
    if (!v) return QS_OK;
    v->made = NULL;
    return hold_item(L, v);
}

qs_status kloop_share(Loops *L, Var *v, Value *x) {
    Var *from = x->origin;
    if (from == v) return QS_OK;
    v->made = from || x->array ? NULL : L->block, v->made_depth = L->depth;
    if (from) from->made = NULL;
    if (from ? from->held : x->array && x->host.kind == LOOP_ITEM) TRY(hold_item(L, v));
    if (from || x->array) mark_shared(L, v);
    if (from) mark_shared(L, from);
    else if (x->array && x->host.kind == LOOP_ARRAY) TRY(hold_captured(L, v, x));
    if (from && is_of(L->in, from) != is_of(L->in, v))
        kbuild_learn(&L->walk, &v->elsewhere), kbuild_learn(&L->walk, &from->elsewhere);
    if (!x->array) x->array = v->shared ? next_number(L) : kloop_i64(L, 0);
    if (v->array) kbuild_set(&L->walk, v->array, x->array);
    return QS_OK;
}

/* A vector that is a result of the function: the function's variable is no longer used.  Its array has no number yet if
 * that was the only variable with it. */
void kloop_leave_behind(const Loops *L, Value *v) {
    if (v->what != WHAT_VECTOR || !v->origin || !is_of(L->in, v->origin)) return;
    if (!v->origin->shared) v->array = 0;
    v->origin = NULL;
}

/* -- changes ------------------------------------------------------------------------------------------------------- */
static bool may_be_same(const Var *v, const Var *w) {
    return v == w || (v->shared && w->shared && w->kind == LOOP_VECTOR && w->n == v->n && w->cols == v->cols);
}

/* Whether a parameter of an open function holds the array; its elements are those from the call. */
static bool is_argument(const Loops *L, const Var *v) {
    for (const InlineFrame *in = L->in; in; in = in->up)
        for (int i = 0; i < in->nvars; i++) {
            const Var *w = &in->vars[i], *from = w->val.origin;
            bool holds = w->bound && w->val.what == WHAT_VECTOR && from;
            if (holds && (from == v || (from->shared && v->shared))) return true;
        }
    return false;
}

qs_status kloop_may_change(Loops *L, Var *v) {
    InlineFrame *in = is_of(L->in, v) ? L->in : L->root;
    bool other = is_argument(L, v) || (v->shared && in != L->in);
    for (int i = 0; i < in->nvars && !other; i++) {
        Var *w = &in->vars[i];
        if (!may_be_same(v, w)) continue;
        kbuild_learn(&L->walk, &w->patched);
        other = w->captured || w->elsewhere || (w->foreign && !L->job->sole(L->job->ud, w->entry.source));
    }
    if (!other) return QS_OK;
    return kloop_decline(L, L->pos,
                         "%s is changed, and perhaps its array has another name; copy(…) makes another array",
                         v->sym->name->s);
}

void kloop_changed(Loops *L, Var *v, Value *x) {
    x->origin = v, x->array = v->array ? kbuild_get(&L->walk, v->array) : 0;
}

void kloop_change_others(Loops *L, const Var *v) {
    InlineFrame *in = is_of(L->in, v) ? L->in : L->root;
    for (int i = 0; i < in->nvars; i++) {
        Var *w = &in->vars[i];
        if (w == v || !may_be_same(v, w) || !w->part || !w->array || !v->array) continue;
        KRef same = kloop_op(L, K_EQ, kbuild_get(&L->walk, v->array), kbuild_get(&L->walk, w->array));
        kloop_flow(L, K_IF, same);
        for (int k = 0; k < v->n; k++) kbuild_set(&L->walk, w->part[k], kbuild_get(&L->walk, v->part[k]));
        kloop_flow(L, K_END, 0);
        w->home = NULL;
    }
}
