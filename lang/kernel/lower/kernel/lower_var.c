/* lower_var.c -- reads and assigns locals of a kernel.
 *
 * A local is bound to the value last assigned to it.  That is correct as long as every read sees exactly one
 * assignment: another assignment in the same block just replaces the binding.  An assignment in an inner block (a
 * branch, a loop body) while an outer binding is alive means that paths meet: the local is `merged`, and is stored in
 * LOCALs from the next pass on.  A read after the block of the binding was closed means that the LOCALs must be
 * declared outside: `hoisted`, at the start of the function, where they begin as zero.  A small array with a computed
 * index is stored in `memory`.
 *
 * Variables of compiled loops (loop/loop_variable.c) also have the value `val` while their `home` is open.  They are in
 * LOCALs from the start, so nothing has to be merged or hoisted: they have values before and after the loop, may lack a
 * value at some point (which is found at run time), and carry bounds and an int64 twin.  Here this would cost each
 * kernel a second pass, because a LOCAL has a type, and types are known only after the first pass; most kernels need
 * just one.  Arrays, functions, strings and objects, which no LOCAL can hold, would still need bindings. */
#include "lang/kernel/lower/kernel/lower_internal.h"

#include <string.h>

Var *klvar_of(Lower *L, const Sym *sym) {
    if (sym->kind != SYM_LOCAL || sym->owner != L->in->func) return NULL;
    return &L->in->vars[sym->index];
}

Var *klvar_hidden(Lower *L, const void *key, int part) {
    for (struct Hidden *h = L->in->hidden; h; h = h->next)
        if (h->key == key && h->part == part) return &h->var;
    struct Hidden *h = qarena_alloc(L->keep, sizeof *h);
    h->key = key, h->part = part, h->next = L->in->hidden;
    h->var.name = L->in->func->name;
    L->in->hidden = h;
    return &h->var;
}

static bool is_live(const Var *v) { return kbuild_is_open(v->home); }

static void learn_flag(Lower *L, bool *flag) { kbuild_learn(&L->walk, flag); }

static int parts_of(qs_dtype d) { return qdtype_is_complex(d) ? 2 : 1; }

/* -- storage ------------------------------------------------------------------------------------------------------- */
/* Makes a value of the type with meaningless contents, for a pass that will be repeated. */
static void make_placeholder(Lower *L, const Val *type, Val *out) {
    int64_t n = klval_count(type);
    qs_dtype r = qdtype_real_of(type->dtype);
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)(n ? n : 1), sizeof *nums, 0));
    KRef slot = kbuild_local(&L->walk, klnum_const(L, r, 0));
    for (int64_t i = 0; i < n; i++) {
        nums[i] = klnum_strong(kbuild_get(&L->walk, slot), type->dtype);
        nums[i].im.ref = nums[i].re.ref;
    }
    klval_from_nums(L, nums, type->rank, type->dims, out);
}

static void unknown_or_placeholder(Lower *L, const Var *v, Val *out) {
    if (v->type.kind == V_NUM) make_placeholder(L, &v->type, out);
    else *out = (Val){0}, L->unknown = true, L->unknown_pos = L->pos;
}

static void declare_memory(Lower *L, Var *v) {
    int64_t n = klval_count(&v->stored) * parts_of(v->stored.dtype);
    v->slots = qarena_alloc(L->arena, sizeof *v->slots);
    v->slots[0] =
        klnum_emit(L, (KMake){K_LARRAY, .own = qdtype_real_of(v->stored.dtype), .imm = (uint64_t)(n ? n : 1)});
}

static void declare_locals(Lower *L, Var *v, const Val *init) {
    int64_t n = klval_count(&v->stored);
    int parts = parts_of(v->stored.dtype);
    qs_dtype r = qdtype_real_of(v->stored.dtype);
    v->slots = qarena_alloc(L->arena, qmem_size((size_t)(n ? n : 1), (size_t)parts * sizeof *v->slots, 0));
    for (int64_t i = 0; i < n * parts; i++) {
        KRef x = init ? klnum_part(L, klval_num(init, i / parts), (int)(i % parts), r) : klnum_const(L, r, 0);
        v->slots[i] = kbuild_local(&L->walk, x);
    }
}

/* Whether the element type depends on the path taken at run time. */
static bool depends_on_path(const Val *type) { return type->made.set & (type->made.set - 1); }

static void declare_storage(Lower *L, Var *v, const Val *init) {
    v->stored = v->type, v->stored.at = NULL;
    v->home = L->block;
    if (v->memory) declare_memory(L, v);
    else declare_locals(L, v, init);
    Made none = {0};
    if (depends_on_path(&v->stored)) v->which = kbuild_local(&L->walk, klval_which(L, init ? init->made : none));
}

static bool is_same_type(const Val *a, const Val *b) {
    return a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank && a->made.set == b->made.set &&
           !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

static void store_memory(Lower *L, Var *v, int64_t at, KRef x, bool fresh) {
    double k;
    if (fresh && kir_is_const(L->f, x, &k) && L->f->ins[x].imm == 0) return; /* an LARRAY begins as zeros */
    klnum_emit(L, (KMake){K_ASTORE, .a = v->slots[0], .b = klnum_int(L, QS_I32, at), .c = x});
}

static void store_part(Lower *L, Var *v, int64_t i, Num n, bool fresh) {
    int parts = parts_of(v->stored.dtype);
    for (int p = 0; p < parts; p++) {
        KRef x = klnum_part(L, n, p, qdtype_real_of(v->stored.dtype));
        if (v->memory) store_memory(L, v, i * parts + p, x, fresh);
        else kbuild_set(&L->walk, v->slots[i * parts + p], x);
    }
}

static void store_all(Lower *L, Var *v, const Val *x, bool fresh) {
    int64_t n = klval_count(&v->stored), have = klval_count(x);
    for (int64_t i = 0; i < n; i++) store_part(L, v, i, klval_num(x, have == 1 ? 0 : i), fresh);
    if (depends_on_path(&v->stored)) kbuild_set(&L->walk, v->which, klval_which(L, x->made));
}

static Num stored_part(Lower *L, const Var *v, int64_t i) {
    int parts = parts_of(v->stored.dtype);
    Num n = {.dtype = v->stored.dtype};
    for (int p = 0; p < parts; p++) {
        KRef slot = v->memory ? v->slots[0] : v->slots[i * parts + p];
        KRef at = v->memory ? klnum_int(L, QS_I32, i * parts + p) : 0;
        *(p ? &n.im.ref : &n.re.ref) = klnum_emit(L, (KMake){v->memory ? K_ALOAD : K_GET, .a = slot, .b = at});
    }
    return n;
}

Made klvar_made(Lower *L, const Var *v) {
    return (Made){v->stored.made.set, depends_on_path(&v->stored) ? kbuild_get(&L->walk, v->which) : 0};
}

static void stored_value(Lower *L, const Var *v, Val *out) {
    if (v->memory) {
        *out = v->stored, out->kind = V_MEMORY;
        out->made = klvar_made(L, v);
        out->u.mem = qarena_alloc(L->arena, sizeof(Memory));
        out->u.mem->ref = v->slots[0];
        return;
    }
    int64_t n = klval_count(&v->stored);
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)(n ? n : 1), sizeof *nums, 0));
    for (int64_t i = 0; i < n; i++) nums[i] = stored_part(L, v, i);
    klval_from_nums(L, nums, v->stored.rank, v->stored.dims, out);
    out->made = klvar_made(L, v);
}

/* -- reading ------------------------------------------------------------------------------------------------------- */
static void note_early(Lower *L, Var *v, uint32_t pos, Val *out) {
    if (!v->early) v->early = true, v->early_pos = pos, v->early_loop = kbuild_outermost_loop(&L->walk);
    unknown_or_placeholder(L, v, out);
}

/* Reads a variable whose value was bound in a block that is closed. */
static qs_status read_outside(Lower *L, Var *v, uint32_t pos, Val *out) {
    if (v->val.kind != V_NUM && v->val.kind != V_UNKNOWN && !v->merged)
        return klower_error(L, QS_ETYPE, pos, "%s is set inside a block only; a name for %s must be set outside",
                            v->name->s, klval_type_name(L, &v->val));
    learn_flag(L, &v->merged), learn_flag(L, &v->hoisted);
    unknown_or_placeholder(L, v, out);
    return QS_OK;
}

/* The declaration determines how elements are accessed.  An array that is 'const in the caller stays const. */
void klvar_modify(TypeMods declared, Val *v) {
    v->mods = (TypeMods){declared.access, (uint8_t)(declared.flags | (v->mods.flags & MOD_CONST))};
}

qs_status klvar_read(Lower *L, Var *v, uint32_t pos, Val *out) {
    if (!v->home) return note_early(L, v, pos, out), QS_OK;
    if (!is_live(v)) return read_outside(L, v, pos, out);
    if (v->merged && v->slots) stored_value(L, v, out);
    else *out = v->val;
    if (v->typed) klvar_modify(v->mods, out);
    return QS_OK;
}

qs_status klvar_read_part(Lower *L, Var *v, int64_t i, uint32_t pos, Num *out) {
    (void)pos;
    *out = stored_part(L, v, i);
    return QS_OK;
}

/* -- assigning ----------------------------------------------------------------------------------------------------- */
static qs_status cannot_join(Lower *L, const Var *v, const Val *x, uint32_t pos) {
    if (v->type.kind == V_UNKNOWN && klrecursion_is_open(L))
        return klower_error(L, QS_ETYPE, pos,
                            "%s is %s: a function that calls itself returns numbers, and vectors and matrices of known "
                            "size",
                            v->name->s, klval_type_name(L, x));
    return klower_error(L, QS_ETYPE, pos, "%s is %s here and %s elsewhere; in a kernel a variable keeps one type",
                        v->name->s, klval_type_name(L, x), klval_type_name(L, &v->type));
}

static bool join_into(Lower *L, Var *v, const Val *x) {
    Val joined;
    if (x->kind != V_NUM || !klval_join(L, &v->type, x, &joined)) return x->kind == V_UNKNOWN;
    if (v->merged && v->slots && !is_same_type(&joined, &v->type)) L->changed = true;
    v->type = joined;
    return true;
}

static qs_status assign_merged(Lower *L, Var *v, const Val *x, uint32_t pos) {
    if (!join_into(L, v, x)) return cannot_join(L, v, x, pos);
    if (v->type.kind == V_UNKNOWN) return v->home = L->block, v->val = *x, QS_OK;
    if (v->home && !is_live(v)) learn_flag(L, &v->hoisted);
    bool fresh = !v->slots || !is_live(v);
    bool fits = x->kind == V_NUM && (klval_count(x) == 1 || klval_count(x) == klval_count(&v->type));
    bool whole = fits && klval_count(x) == klval_count(&v->type);
    if (fresh) declare_storage(L, v, whole && !v->memory ? x : NULL);
    if (!fits || !is_same_type(&v->stored, &v->type)) return QS_OK; /* this pass is repeated */
    if (!fresh || v->memory || !whole) store_all(L, v, x, fresh);
    return QS_OK;
}

/* Merges an assignment in an inner block with the binding of an outer block, which is alive. */
static qs_status merge_assignment(Lower *L, Var *v, const Val *x, uint32_t pos) {
    if (klval_same(&v->val, x)) return QS_OK;
    bool numbers = (v->val.kind == V_NUM || v->val.kind == V_UNKNOWN) && (x->kind == V_NUM || x->kind == V_UNKNOWN);
    if (!numbers)
        return klower_error(
            L, QS_ETYPE, pos,
            "%s would stand for %s on one path and for something else on another; in a kernel it cannot", v->name->s,
            klval_type_name(L, v->val.kind == V_NUM ? x : &v->val));
    join_into(L, v, &v->val);
    if (!join_into(L, v, x)) return cannot_join(L, v, x, pos);
    learn_flag(L, &v->merged);
    unknown_or_placeholder(L, v, &v->val);
    return QS_OK;
}

/* Assignment copies a private array; a shared or borrowed one gets another name. */
static qs_status own_value(Lower *L, const Val *x, Val *out) {
    *out = *x;
    if (x->kind == V_VOID) return klower_error(L, QS_ETYPE, L->pos, "a value is wanted, but the call gives none");
    if (x->kind == V_MEMORY && !x->u.mem->shared && !x->u.mem->borrowed) TRY(klval_components(L, x, out));
    return out->made = x->made, QS_OK;
}

static void notice_early(Lower *L, Var *v) {
    if (!v->early || !kbuild_is_open(v->early_loop)) return;
    learn_flag(L, &v->merged), learn_flag(L, &v->hoisted);
    v->early = false;
}

qs_status klvar_assign(Lower *L, Var *v, const Val *val, uint32_t pos) {
    Val x;
    L->pos = pos;
    TRY(own_value(L, val, &x));
    if (v->converts && x.kind != V_UNKNOWN) {
        Val all;
        TRY(klval_components(L, &x, &all));
        kltype_numbers(L, &all, v->declared, &x);
    }
    if (v->merged && x.kind == V_MEMORY && !x.u.mem->shared) TRY(klval_components(L, &x, &x)); /* a borrowed one */
    notice_early(L, v);
    if (x.kind == V_NUM && klval_count(&x) > 64) learn_flag(L, &v->memory), learn_flag(L, &v->merged);
    if (v->merged) return assign_merged(L, v, &x, pos);
    if (is_live(v) && v->home != L->block) return merge_assignment(L, v, &x, pos);
    join_into(L, v, &x);
    v->val = x, v->home = L->block;
    return QS_OK;
}

static qs_status part_of_binding(Lower *L, Var *v, int64_t i, Num n, uint32_t pos) {
    Val old;
    if (v->val.kind == V_MEMORY && v->val.u.mem->borrowed) learn_flag(L, &v->memory), learn_flag(L, &v->merged);
    TRY(klval_components(L, &v->val, &old));
    if (old.kind == V_UNKNOWN) return QS_OK;
    int64_t count = klval_count(&old);
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)count, sizeof *nums, 0));
    for (int64_t k = 0; k < count; k++) nums[k] = k == i ? n : klval_num(&old, k);
    Val x;
    klval_from_nums(L, nums, old.rank, old.dims, &x);
    x.made = v->val.made;
    return klvar_assign(L, v, &x, pos);
}

qs_status klvar_assign_part(Lower *L, Var *v, int64_t i, Num n, uint32_t pos) {
    Val one, ignored;
    if (!v->home) return note_early(L, v, pos, &ignored), QS_OK;
    if (v->converts) n = kltype_number(L, n, v->declared);
    klval_number(L, n, &one);
    if (!v->merged || !v->slots) return part_of_binding(L, v, i, n, pos);
    if (!is_live(v)) learn_flag(L, &v->hoisted);
    join_into(L, v, &one);
    if (is_live(v) && is_same_type(&v->stored, &v->type)) store_part(L, v, i, n, false);
    return QS_OK;
}

void klvar_widen(Lower *L, Var *v, Num n) {
    Val one;
    klval_number(L, n, &one);
    if (!v->converts && klval_takes_any(v->type.made)) join_into(L, v, &one);
}

qs_status klvar_memory(Lower *L, Var *v, uint32_t pos, Val *out) {
    if (v->val.kind == V_MEMORY && is_live(v) && !v->merged && v->val.u.mem->shared) return *out = v->val, QS_OK;
    learn_flag(L, &v->memory), learn_flag(L, &v->merged);
    if (v->slots && is_live(v)) return stored_value(L, v, out), QS_OK;
    Val ignored;
    *out = (Val){0};
    return klvar_read(L, v, pos, &ignored);
}

/* -- hidden locals ------------------------------------------------------------------------------------------------- */
void klvar_hidden_begin(Lower *L, Var *v) {
    v->merged = true, v->slots = NULL;
    if (v->type.kind == V_NUM) declare_storage(L, v, NULL);
}

qs_status klvar_hidden_set(Lower *L, Var *v, const Val *x) {
    if (v->slots) return klvar_assign(L, v, x, L->pos);
    Val all;
    TRY(klval_components(L, x, &all));
    if (!join_into(L, v, &all)) return cannot_join(L, v, &all, L->pos);
    L->changed = true;
    return QS_OK;
}

void klvar_hidden_get(Lower *L, Var *v, Val *out) {
    if (v->slots) stored_value(L, v, out);
    else unknown_or_placeholder(L, v, out);
}

/* -- the start and the end of a function --------------------------------------------------------------------------- */
static void reset_variable(Lower *L, Var *v) {
    v->home = NULL, v->slots = NULL, v->converts = v->typed = v->early = false;
    v->val = (Val){0};
    if (v->hoisted && v->type.kind == V_NUM) declare_storage(L, v, NULL);
}

void klvar_enter(Lower *L, InlineFrame *inst) {
    for (int i = 0; i < inst->func->nlocals; i++) reset_variable(L, &inst->vars[i]);
    for (struct Hidden *h = inst->hidden; h; h = h->next) reset_variable(L, &h->var);
}

qs_status klvar_finish(Lower *L, InlineFrame *inst) {
    for (int i = 0; i < inst->func->nlocals; i++) {
        const Var *v = &inst->vars[i];
        if (v->early) return klower_error(L, QS_ENAME, v->early_pos, "%s is read before it has a value", v->name->s);
    }
    return QS_OK;
}
