/* aot.c -- compiles the kernels of a library ahead of time (qrun --make-lib).
 *
 * A kernel whose parameters have types is compiled for them.  For other kernels, {!specialize x="cube[uint8]",
 * r="int"} gives the missing types, any number of times.  Values of these types are created, a specialization is
 * found for them as in a launch, and its code is compiled for the targets; nothing is launched.  A specialization key
 * contains more than the types, so several variants are compiled: dense arrays, rows of a larger one, every second
 * element, or a single row; numbers that are integral and numbers that are not. */
#include "lang/kernel/lower/kernel/lower.h"
#include "vm/launch/kernel_internal.h"

#include <string.h>

enum { EXTENT = MAX_CHANNELS + 1 /* it is not compiled in */, ARGS = 32 };
typedef enum { PACKED, ROWS, SPREAD, ONE_ROW, LAYOUTS } Layout;
typedef struct {
    Layout layout;
    bool integral;
} Variant;

static qs_status sample_array(qs_vm *vm, const Type *t, Variant v, qs_value *out) {
    Array *base, *a;
    int rank = v.layout == ONE_ROW || t->rank < 1 ? 1 : t->rank, apart = v.layout == SPREAD ? 2 : 1;
    int64_t dims[QS_MAX_RANK], wide[QS_MAX_RANK], strides[QS_MAX_RANK], stride = apart;
    for (int i = rank; i-- > 0; stride *= wide[i]) {
        dims[i] = t->nfixed && rank == t->rank ? t->dims[i] : EXTENT;
        wide[i] = v.layout == PACKED || v.layout == ONE_ROW || t->nfixed ? dims[i] : 2 * dims[i];
        strides[i] = stride;
    }
    bool plain = v.layout == PACKED || v.layout == ONE_ROW || t->nfixed;
    int64_t all[QS_MAX_RANK + 1];
    memcpy(all, wide, sizeof wide);
    all[rank - 1] *= apart; /* includes memory behind the last element */
    TRY(qarr_new(vm, t->inner->dtype, rank, all, true, &base));
    if (plain) return *out = qarr_value(base), QS_OK;
    qs_status s = qarr_view(vm, base, rank, dims, strides, 0, &a);
    qval_release(vm, qarr_value(base));
    if (s == QS_OK) *out = qarr_value(a);
    return s;
}

/* Creates a sample value; false: there is none for this type. */
static bool sample(qs_vm *vm, const Type *t, Variant v, qs_value *out) {
    if (t && qtype_is_numeric_array(t) && t->rank != RANK_ANY) return sample_array(vm, t, v, out) == QS_OK;
    if (!t || t->kind != TY_NUM || t->dtype >= QS_C64) return false;
    if (t->dtype == QS_B1) *out = qs_bool(true);
    else *out = qdtype_is_int(t->dtype) || v.integral ? qs_num(1) : qs_num(0.5);
    return true;
}

bool qaot_sample(qs_vm *vm, const Type *t, qs_value *out) { return sample(vm, t, (Variant){PACKED, false}, out); }

/* -- one variant --------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    Function *fn;
    const Type *type[ARGS];
    int n;
    bool numbers, arrays;
} Wanted;

static qs_status compile(const Wanted *w, Variant v) {
    qs_value in[ARGS];
    int made = 0;
    qs_status s = QS_OK;
    while (made < w->n && sample(w->vm, w->type[made], v, &in[made])) made++;
    if (made == w->n) s = qkernel_compile(w->vm, w->fn, w->n, in);
    while (made-- > 0) qval_release(w->vm, in[made]);
    return s;
}

/* Compiles all variants.  The first one is requested, so its errors count; a kernel may refuse others, such as a row if
 * it indexes columns. */
static qs_status compile_all(const Wanted *w) {
    Ctx *c = qvm_ctx(w->vm);
    TRY(compile(w, (Variant){PACKED, false}));
    for (int i = 1; i < 2 * LAYOUTS; i++) {
        Variant v = {(Layout)(i / 2), i % 2};
        if ((v.integral && !w->numbers) || (v.layout != PACKED && !w->arrays)) continue;
        qs_status s = compile(w, v);
        if (s == QS_EDEVICE || s == QS_EINTERRUPT || s == QS_ENOMEM) return s;
        if (s != QS_OK) qerr_clear(c);
    }
    return QS_OK;
}

/* -- requested types ----------------------------------------------------------------------------------------------- */
static const AttrItem *said_of(const Attr *a, const Str *name) {
    for (int i = 0; a && i < a->nitems; i++)
        if (a->items[i].key == name) return &a->items[i];
    return NULL;
}

static qs_status type_of(Wanted *w, const Attr *a, int i, const Type **out) {
    const Func *f = w->fn->ast;
    const AttrItem *said = said_of(a, f->params[i].name);
    TypeMods mods;
    *out = f->params[i].type ? qvm_param_type(w->vm, f, i) : NULL;
    if (!said) return QS_OK;
    Where at = {f->unit->src, a->pos};
    if (!said->value || said->value->kind != N_STR)
        return qerr_at(qvm_ctx(w->vm), QS_ETYPE, at, "specialize: %s=\"type\" is wanted", said->key->s);
    const Str *s = said->value->u.str;
    qs_status status = qvm_type_named(w->vm, s->s, s->len, out, &mods);
    if (status != QS_OK) qerr_location(qvm_ctx(w->vm), at);
    return status;
}

/* Collects the types of one signature.  *known false: a parameter has no type. */
static qs_status collect_types(Wanted *w, const Attr *a, bool *known) {
    const Func *f = w->fn->ast;
    w->n = 0, *known = true, w->numbers = w->arrays = false;
    for (int i = 0; i < f->nparams && *known; i++) {
        if (klower_special(f->params[i].name) >= 0) continue;
        if (w->n == ARGS) return *known = false, QS_OK;
        const Type **t = &w->type[w->n++];
        TRY(type_of(w, a, i, t));
        qs_value probe = qs_nil();
        *known = qaot_sample(w->vm, *t, &probe);
        qval_release(w->vm, probe);
        w->arrays = w->arrays || (*known && (*t)->kind == TY_ARRAY);
        w->numbers = w->numbers || (*known && (*t)->kind == TY_NUM && !qdtype_is_int((*t)->dtype));
    }
    return QS_OK;
}

static qs_status check_names(const Wanted *w, const Attr *a) {
    const Func *f = w->fn->ast;
    for (int i = 0; i < a->nitems; i++) {
        int k = 0;
        while (k < f->nparams && f->params[k].name != a->items[i].key) k++;
        if (k == f->nparams)
            return qerr_at(qvm_ctx(w->vm), QS_ENAME, (Where){f->unit->src, a->pos},
                           "specialize: %s has no parameter %s", f->name->s, a->items[i].key->s);
    }
    return QS_OK;
}

static qs_status compile_as(Wanted *w, const Attr *a) {
    bool known;
    if (a) TRY(check_names(w, a));
    TRY(collect_types(w, a, &known));
    if (known) return compile_all(w);
    if (!a) return QS_OK;
    return qerr_at(qvm_ctx(w->vm), QS_ETYPE, (Where){w->fn->ast->unit->src, a->pos},
                   "specialize: each parameter of %s that has no type wants one, of numbers or arrays of them",
                   w->fn->ast->name->s);
}

static qs_status compile_kernel(Wanted *w) {
    const Func *f = w->fn->ast;
    bool said = false;
    for (int i = 0; i < f->nattrs; i++) {
        if (strcmp(f->attrs[i]->name->s, "specialize")) continue;
        said = true;
        TRY(compile_as(w, f->attrs[i]));
    }
    return said ? QS_OK : compile_as(w, NULL);
}

qs_status qaot_compile(qs_vm *vm, const Unit *u) {
    for (int i = 0; i < u->nfuncs; i++) {
        Func *f = u->funcs[i]->u.func;
        if (f->qual != Q_KERNEL) continue;
        Wanted w = {.vm = vm, .fn = qfn_script(vm, f, 0)};
        qs_status s = compile_kernel(&w);
        qval_release(vm, qval_object(QS_FUNCTION, w.fn));
        if (s) return s;
    }
    return QS_OK;
}
