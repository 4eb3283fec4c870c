/* lower_index.c -- lowers x[…]: elements and slices of arrays, of private and shared memory, and of small values.
 *
 *     index nodes ── the index of each dimension (common.h: Places)
 *                 ── addresses: subscript.c applies the access mode to each index, memory.c computes the address
 *                 ── LOAD, STORE or ATOMIC with a guard, or after a CHECK
 *
 * Index expressions compute in int64 and keep their form (position plus constant), so that a later pass can split a
 * launch into an interior without tests and a border. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/kernel/lower_internal.h"
#include "lang/syntax/fold.h"
#include "vm/base/warning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Access {
    Places p;
    Val base;  /* V_ARRAY, V_MEMORY or V_NUM; only the type for a local stored in LOCALs */
    Var *var;  /* the local that base is stored in, or NULL */
    int entry; /* dimensions from this one on belong to a field, which has no access mode; 0: none */
    /* Indices beyond the rank of base, along dimensions with one element. */
    struct {
        KRef at;
        int axis;
    } beyond[QS_MAX_RANK];
    int nbeyond;
} Access;

/* -- extents ------------------------------------------------------------------------------------------------------- */
static int outer_rank(const Val *v) { return v->rank - v->inner; }

int klidx_ndims(const Val *v) { return outer_rank(v) < 2 ? 2 : outer_rank(v); }

static KRef extent_of(Lower *L, const Val *v, int axis) {
    if (v->kind != V_ARRAY || v->dims[axis] >= 0) return klnum_int(L, QS_I64, v->dims[axis]);
    return klnum_pure(L, (KMake){K_DIM, .imm = (uint64_t)klower_array_param(L, v) << 8 | (uint64_t)axis});
}

/* Any array field of an array of objects; its extents are those of the array. */
static const Val *any_field(const Val *v) {
    for (int i = 0; i < v->u.rec->nfields; i++)
        if (v->u.rec->fields[i].kind == V_ARRAY) return &v->u.rec->fields[i];
    return NULL;
}

KRef klidx_dim(Lower *L, const Val *v, int d) {
    if (v->kind == V_OBJECT) v = any_field(v);
    int axis = outer_rank(v) == 1 ? d - 1 : d;
    return axis >= 0 && axis < outer_rank(v) ? extent_of(L, v, axis) : klnum_int(L, QS_I64, 1);
}

/* -- addresses ----------------------------------------------------------------------------------------------------- */
static AccessMode effective_mode(const Lower *L, AccessMode m) {
    if (L->job->checked && (m == ACC_DEFAULT || m == ACC_UNCHECKED)) return ACC_CHECKED;
    return m == ACC_DEFAULT ? ACC_SAFE : m;
}

static KRef is_inside(Walk *w, KRef at, KRef n) {
    Lower *L = (Lower *)w;
    double lo, hi, size;
    if (kir_is_const(L->f, n, &size) && klnum_range(L, at, &lo, &hi) && lo >= 0 && hi < size)
        return klnum_int(L, QS_B1, 1);
    return klnum_bin(L, K_INB, at, n);
}

static void emit_bounds_check(Walk *w, const Places *p, int axis, AxisIndex x) {
    char text[KPLACE_TEXT];
    double k;
    KRef in = is_inside(w, x.at, x.n);
    if (kir_is_const(w->f, in, &k) && k != 0) return;
    ksubscript_sentence(p->name, ksubscript_shown_axis(p, axis), text);
    kbuild_emit(w, (KMake){K_CHECK, .a = in, .b = x.at, .c = x.n, .imm = (uint64_t)kir_message(w->f, QS_EINDEX, text)});
}

const PlaceRules klidx_rules = {.inside = is_inside, .test = emit_bounds_check};

/* Applies the access mode to all indices.  Returns the condition under which the element exists; 0: always. */
static KRef bring_all_inside(Lower *L, const Access *a, KRef *at) {
    KRef guard = 0, one = klnum_int(L, QS_I64, 1);
    Places inner = a->p;
    inner.mode = effective_mode(L, ACC_DEFAULT);
    for (int d = 0; d < a->p.rank; d++)
        at[d] = ksubscript_bring(&L->walk, a->entry && d >= a->entry ? &inner : &a->p, d,
                                 (AxisIndex){at[d], extent_of(L, &a->base, d), at[d]}, &guard);
    for (int i = 0; i < a->nbeyond; i++)
        ksubscript_bring(&L->walk, &a->p, a->beyond[i].axis, (AxisIndex){a->beyond[i].at, one, a->beyond[i].at},
                         &guard);
    return guard;
}

static KRef linear_index(Lower *L, const Val *v, const KRef *at) {
    Layout a = {.param = -1, .rank = v->rank, .contiguous = true, .dims = v->dims};
    if (v->kind == V_ARRAY) {
        const KVal *host = &v->u.array->host;
        a.param = klower_array_param(L, v), a.contiguous = host->contiguous, a.unit_last = host->unit_last;
    }
    return kmemory_linear(&L->walk, &a, at);
}

/* -- one element --------------------------------------------------------------------------------------------------- */
static int parts_of(qs_dtype d) { return qdtype_is_complex(d) ? 2 : 1; }

static int array_param(Lower *L, const Access *a) {
    int p = klower_array_param(L, &a->base);
    if (qaccess_is_mapped(a->p.mode) || a->p.mode == ACC_UNCHECKED) L->binds[p].nonempty = true;
    return p;
}

/* Converts a loaded element by all declarations of the array, the oldest first. */
static Num apply_declarations(Lower *L, const ArrayRef *ref, Num n) {
    if (ref->under) n = apply_declarations(L, ref->under, n);
    if (ref->declared) klnum_check_integral(L, ref->declared, n);
    return ref->converts ? klnum_narrow(L, n, ref->as) : n;
}

static Num load_array(Lower *L, const Access *a, KRef linear, KRef guard) {
    qs_dtype elem = a->base.dtype, v = kir_value_dtype(elem);
    int param = array_param(L, a);
    Num n = {.dtype = qdtype_is_complex(elem) ? elem : v};
    for (int p = 0; p < parts_of(elem); p++)
        *(p ? &n.im.ref : &n.re.ref) = kmemory_load(&L->walk, param, elem, linear, p, guard);
    return apply_declarations(L, a->base.u.array, n);
}

/* ALOAD must stay inside its memory, so a guarded read loads element 0 and discards it. */
static Num load_memory(Lower *L, const Access *a, KRef linear, KRef guard) {
    qs_dtype d = a->base.dtype, r = qdtype_real_of(d);
    bool safe = !guard;
    KRef at = safe ? linear : klnum_pick(L, guard, linear, klnum_int(L, QS_I64, 0));
    Num n = {.dtype = d};
    for (int p = 0; p < parts_of(d); p++) {
        KRef x = klnum_emit(L, (KMake){K_ALOAD, .a = a->base.u.mem->ref, .b = kmemory_part(&L->walk, at, d, p)});
        *(p ? &n.im.ref : &n.re.ref) = safe ? x : klnum_pick(L, guard, x, klnum_const(L, r, 0));
    }
    return n;
}

/* Selects an element of a value held in components, by an index that may be computed. */
static Num load_value(Lower *L, const Access *a, KRef linear, KRef guard) {
    double k;
    int count = (int)klval_count(&a->base);
    Val *items = kval_new(&L->walk, count), one;
    if (!count) return klnum_cast(L, klnum_literal(L, 0, true), a->base.dtype);
    if (kir_is_const(L->f, linear, &k) && k >= 0 && k < count) return klval_num(&a->base, (int64_t)k);
    for (int i = 0; i < count; i++) klval_number(L, klval_num(&a->base, i), &items[i]);
    (void)ksmall_pick(&L->walk, linear, items, count, &one); /* selecting numbers cannot fail */
    Num n = klval_num(&one, 0);
    return guard ? klnum_select(L, guard, n, klnum_literal(L, 0, true)) : n;
}

static Num load_local(Lower *L, const Access *a, KRef linear) {
    double k;
    Num n = klnum_literal(L, 0, true);
    if (kir_is_const(L->f, linear, &k) && k >= 0 && k < (double)klval_count(&a->base))
        (void)klvar_read_part(L, a->var, (int64_t)k, L->pos, &n);
    return n;
}

static Num load_one(Lower *L, const Access *a, KRef *at) {
    KRef guard = bring_all_inside(L, a, at), linear = linear_index(L, &a->base, at);
    if (a->base.kind == V_ARRAY) return load_array(L, a, linear, guard);
    if (a->base.kind == V_MEMORY) return load_memory(L, a, linear, guard);
    return a->base.at ? load_value(L, a, linear, guard) : load_local(L, a, linear);
}

/* With 'hwtex_linear, a fractional index interpolates between its two neighbors along each axis that has a fraction. */
static Num load_mixed(Lower *L, const Access *a, const KRef *at, int axis) {
    KRef here[QS_MAX_RANK];
    memcpy(here, at, sizeof here);
    while (axis < a->p.rank && !a->p.item[axis].frac) axis++;
    if (axis == a->p.rank) return load_one(L, a, here);
    Num w = klnum_strong(a->p.item[axis].frac, L->f->ins[a->p.item[axis].frac].dtype), rest, x, y;
    x = load_mixed(L, a, here, axis + 1);
    here[axis] = klnum_bin(L, K_ADD, here[axis], klnum_int(L, QS_I64, 1));
    y = load_mixed(L, a, here, axis + 1);
    (void)klnum_binary(L, OP_SUB, klnum_literal(L, 1, true), w, &rest); /* cannot fail for real numbers */
    (void)klnum_binary(L, OP_MUL, x, rest, &x);
    (void)klnum_binary(L, OP_MUL, y, w, &y);
    (void)klnum_binary(L, OP_ADD, x, y, &x);
    return x;
}

static KRef element_part(Lower *L, Num n, qs_dtype elem, int part) {
    if (elem == QS_B1) return klnum_truth(L, n);
    return klnum_part(L, n, part, kir_value_dtype(elem));
}

static qs_dtype dtype_of(Lower *L, Num n) { return klnum_is_weak(n) ? klnum_weak_dtype(L, n.re.weak) : n.dtype; }

/* The condition that x is representable in an integer type or in bool. */
static KRef holds_type(Lower *L, qs_dtype type, KRef x) {
    qs_dtype d = (qs_dtype)L->f->ins[x].dtype;
    if (type != QS_B1 || d == QS_B1) return klnum_holds(L, type, x);
    KRef zero = klnum_const(L, d, 0), one = klnum_const(L, d, 1);
    return klnum_bin(L, K_OR, klnum_bin(L, K_EQ, x, zero), klnum_bin(L, K_EQ, x, one));
}

/* Storing a number other than 0 or 1 in an array of bool is an error. */
static void check_truth(Lower *L, Num n, KRef guard) {
    double v;
    bool known = klnum_known(L, n, &v) && (v == 0 || v == 1);
    if (n.dtype == QS_B1 || known) return;
    KRef x = klnum_ref(L, n, dtype_of(L, n)), fits = holds_type(L, QS_B1, x);
    if (guard) fits = klnum_bin(L, K_OR, klnum_un(L, K_NOT, guard), fits);
    klnum_emit(L,
               (KMake){K_CHECK, .a = fits, .imm = (uint64_t)kir_message(L->f, QS_EVALUE, "a number " QDTYPE_NO_TRUTH)});
}

static void store_array(Lower *L, const Access *a, KRef linear, KRef guard, Num n) {
    qs_dtype d = a->base.dtype;
    int param = array_param(L, a);
    for (const ArrayRef *ref = a->base.u.array; ref; ref = ref->under) {
        if (ref->converts && ref->as == QS_B1) check_truth(L, n, guard);
        if (ref->converts && !qdtype_is_real(ref->as)) n = klnum_narrow(L, n, ref->as);
    }
    if (d == QS_B1) check_truth(L, n, guard);
    for (int p = 0; p < parts_of(d); p++) kmemory_store(&L->walk, param, d, linear, p, element_part(L, n, d, p), guard);
}

static void store_memory(Lower *L, const Access *a, KRef linear, KRef guard, Num n, KOp op, uint16_t flag) {
    qs_dtype d = a->base.dtype;
    KRef parts[2] = {element_part(L, n, d, 0), parts_of(d) > 1 ? element_part(L, n, d, 1) : 0};
    if (guard) kbuild_flow(&L->walk, K_IF, guard);
    for (int p = 0; p < parts_of(d); p++)
        klnum_emit(L, (KMake){op, .flag = flag, .a = a->base.u.mem->ref, .b = kmemory_part(&L->walk, linear, d, p),
                              .c = parts[p]});
    if (guard) kbuild_end(&L->walk);
}

/* Emits the error for storing a complex number in an array that is made of integers on the path taken. */
static void check_takes_complex(Lower *L, const char *name, KRef which, KRef guard) {
    char text[160];
    KRef fits = klnum_bin(L, K_EQ, which, klnum_int(L, QS_I32, QS_NDTYPES));
    if (guard) fits = klnum_bin(L, K_OR, klnum_un(L, K_NOT, guard), fits);
    snprintf(text, sizeof text, "%.60s is made of integers here and cannot take a complex number", name);
    klnum_emit(L, (KMake){K_CHECK, .a = fits, .imm = (uint64_t)kir_message(L->f, QS_ETYPE, text)});
}

/* Converts n to the element type d for a store. */
static Num kept_as(Lower *L, qs_dtype d, Num n, KRef guard) {
    if (d == QS_B1) check_truth(L, n, guard);
    return klnum_narrow(L, n, d);
}

/* Converts n for storing it in the private or shared array `name`, whose elements are made of m. */
static Num convert_kept(Lower *L, const char *name, Made m, Num n, KRef guard) {
    Num out = n;
    if (m.which && qdtype_is_complex(n.dtype)) return check_takes_complex(L, name, m.which, guard), n;
    for (int d = 0; d < QS_NDTYPES; d++) {
        if (!(m.set >> d & 1)) continue;
        if (!m.which) return kept_as(L, (qs_dtype)d, n, guard);
        KRef is = klnum_bin(L, K_EQ, m.which, klnum_int(L, QS_I32, d));
        KRef here = guard ? klnum_bin(L, K_AND, guard, is) : is;
        out = klnum_select(L, is, kept_as(L, (qs_dtype)d, n, here), out);
    }
    return out;
}

static qs_status store_local(Lower *L, const Access *a, KRef linear, Num n) {
    double k;
    if (!kir_is_const(L->f, linear, &k) || k < 0 || k >= (double)klval_count(&a->base))
        return QS_OK; /* the array will be stored in memory */
    n = convert_kept(L, a->p.name, a->base.made, n, 0);
    return klvar_assign_part(L, a->var, (int64_t)k, n, L->pos);
}

static qs_status takes_complex(Lower *L, const char *name, const Val *array, Num n) {
    if (!qdtype_is_complex(n.dtype)) return QS_OK;
    if (qdtype_is_complex(array->dtype) && klval_takes_any(array->made)) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s is %s and cannot take a complex number", name,
                        klval_type_name(L, array));
}

static qs_status store_one(Lower *L, const Access *a, KRef *at, Num n) {
    bool private = a->base.kind == V_NUM || (a->base.kind == V_MEMORY && !a->base.u.mem->shared && a->var);
    if (!private || a->base.made.set) TRY(takes_complex(L, a->p.name, &a->base, n));
    KRef guard = bring_all_inside(L, a, at), linear = linear_index(L, &a->base, at);
    if (a->base.kind == V_NUM) return store_local(L, a, linear, n);
    if (a->base.kind == V_ARRAY) return store_array(L, a, linear, guard, n), QS_OK;
    n = convert_kept(L, a->p.name, a->base.made, n, guard);
    if (!a->base.u.mem->shared && a->var) klvar_widen(L, a->var, n);
    store_memory(L, a, linear, guard, n, K_ASTORE, 0);
    return QS_OK;
}

/* -- indices ------------------------------------------------------------------------------------------------------- */
static qs_status index_value(Lower *L, Node *n, bool down, Val *out) {
    Val v;
    bool exact, saved = L->indexing;
    L->indexing = true;
    TRY(klexpr_is_quotient(n) ? klexpr_quotient(L, n, down, &v, &exact) : klexpr_lower(L, n, &v));
    *out = v;
    if (v.kind != V_COLON) TRY(klval_components(L, &v, out));
    out->is_pos = v.is_pos;
    L->indexing = saved;
    L->pos = n->pos;
    return QS_OK;
}

/* With --checked, an index x[v] with a fraction is an error; a quotient of integral numbers as in x[pos/2] is rounded
 * first. */
static void check_integral(Lower *L, const Access *a, Num n, KRef at) {
    char text[160];
    if (!L->job->checked || klnum_is_integral(n) || !qdtype_is_real(n.dtype) ||
        effective_mode(L, a->p.mode) != ACC_CHECKED)
        return;
    KRef x = klnum_ref(L, n, klnum_real_dtype(L, n));
    snprintf(text, sizeof text, "index %%0 of %.80s is not an integer (int(x) drops a fraction)", a->p.name);
    klnum_emit(L, (KMake){K_CHECK, .a = klnum_bin(L, K_EQ, x, klnum_cast_ref(L, at, L->f->ins[x].dtype)), .b = x,
                          .imm = (uint64_t)kir_message(L->f, QS_EINDEX, text)});
}

static KRef index_of(Lower *L, const Access *a, Num n, bool down) {
    KRef at = klnum_index(L, n, down);
    return check_integral(L, a, n, at), at;
}

static Subindex single_index(Lower *L, const Access *a, Num n, bool down) {
    uint8_t texture = a->base.mods.flags & (MOD_HWTEX_LINEAR | MOD_HWTEX_NEAREST);
    if (!texture || klnum_is_integral(n)) return (Subindex){.kind = AT_ONE, .one = index_of(L, a, n, down)};
    qs_dtype d = klnum_real_dtype(L, n);
    KRef x = klnum_ref(L, n, d), whole = klnum_math(L, texture & MOD_HWTEX_LINEAR ? MF_floor : MF_round, x, 0);
    KRef frac = texture & MOD_HWTEX_LINEAR ? klnum_bin(L, K_SUB, x, whole) : 0;
    return (Subindex){.kind = AT_ONE, .one = klnum_cast_ref(L, whole, QS_I64), .frac = frac};
}

static qs_status make_item(Lower *L, const Access *a, const Val *v, bool down, Subindex *out) {
    if (v->kind == V_COLON) return *out = (Subindex){.kind = AT_ALL}, QS_OK;
    if (v->dtype == QS_B1 && v->rank)
        return klower_error(L, QS_ETYPE, L->pos, "a mask cannot be used as an index in a kernel");
    if (qdtype_is_complex(v->dtype)) return klower_error(L, QS_ETYPE, L->pos, "an index cannot be complex");
    if (v->rank == 0) return *out = single_index(L, a, klval_num(v, 0), down), QS_OK;
    int64_t n = klval_count(v);
    *out = (Subindex){
        .kind = AT_LIST, .n = n, .list = qarena_alloc(L->arena, qmem_size((size_t)n, sizeof(KRef), sizeof(KRef)))};
    for (int64_t i = 0; i < n; i++) out->list[i] = index_of(L, a, klval_num(v, i), down);
    return QS_OK;
}

static const char *ordinal_name(int i) {
    static const char *const names[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"};
    return names[i < 8 ? i : 7];
}

/* An index beyond the rank must be 0, or a list with the single element 0. */
static qs_status beyond_rank(Lower *L, Access *a, const Subindex *it, int number, int given) {
    double k = 0;
    if (it->kind == AT_ALL) return QS_OK;
    KRef r = it->kind == AT_ONE ? it->one : it->n == 1 ? it->list[0] : 0;
    bool known = r && kir_is_const(L->f, r, &k);
    if (!r || (known && k != 0))
        return klower_error(L, QS_ESHAPE, L->pos, "%s has type %s, %d indices given where the %s is not 0", a->p.name,
                            klval_type_name(L, &a->base), given, ordinal_name(number));
    if (known) return QS_OK;
    a->beyond[a->nbeyond].at = r;
    a->beyond[a->nbeyond++].axis = a->p.rank == 1 ? ksubscript_axis(1, given, number) : number;
    return QS_OK;
}

/* Distributes n indices over the dimensions: a vec with two indices is 1xN.  The dimensions of an entry are selected
 * completely. */
static qs_status place_items(Lower *L, Access *a, const Subindex *items, int n) {
    int outer = outer_rank(&a->base);
    if (n < outer)
        return klower_error(L, QS_ESHAPE, L->pos, "%s has %d dimensions, %d %s given", a->p.name, outer, n,
                            n == 1 ? "index" : "indices");
    for (int i = 0; i < n; i++) {
        int d = ksubscript_axis(outer, n, i);
        if (d >= 0 && d < outer) a->p.item[d] = items[i];
        else TRY(beyond_rank(L, a, &items[i], i, n));
    }
    for (int d = outer; d < a->p.rank; d++) a->p.item[d] = (Subindex){.kind = AT_ALL};
    return QS_OK;
}

/* A vector as the only index addresses one element of a matrix or cube; in a vec it selects elements. */
static bool is_coordinate(const Access *a, const Val *v) {
    if (v->kind != V_NUM || v->rank != 1) return false;
    return outer_rank(&a->base) >= 2 || (v->is_pos && v->dims[0] >= 2);
}

static qs_status coordinate_items(Lower *L, Access *a, const Val *v, bool down) {
    Subindex items[QS_MAX_RANK];
    int n = (int)v->dims[0];
    if (v->dims[0] > QS_MAX_RANK || n < outer_rank(&a->base))
        return klower_error(L, QS_ESHAPE, L->pos, "%s has %d dimensions, but the index vector has %lld components",
                            a->p.name, outer_rank(&a->base), (long long)v->dims[0]);
    for (int i = 0; i < n; i++) items[i] = single_index(L, a, klval_num(v, i), down);
    return place_items(L, a, items, n);
}

static bool all_whole(Lower *L, const Val *v) {
    double x;
    for (int64_t i = 0; i < v->dims[0]; i++)
        if (klnum_known(L, klval_num(v, i), &x) && x != trunc(x)) return false;
    return true;
}

static qs_status warn_of_place(Lower *L, const Access *a, NodeList at, const Val *v, uint32_t pos) {
    if (!qfold_is_list(at) || !all_whole(L, v)) return QS_OK; /* the host has a different warning for fractions */
    return qwarn_location(L->c, klower_where(L, pos), a->p.name, outer_rank(&a->base));
}

static qs_status lower_items(Lower *L, Access *a, NodeList at) {
    bool down = ksubscript_is_down((AccessMode)a->base.mods.access);
    uint32_t pos = L->pos;
    Subindex items[QS_MAX_RANK];
    Val v;
    if (at.n > QS_MAX_RANK) return klower_error(L, QS_ESHAPE, L->pos, "more than %d indices", QS_MAX_RANK);
    for (int i = 0; i < at.n; i++) {
        TRY(index_value(L, at.at[i], down, &v));
        if (v.kind == V_UNKNOWN) return a->base.kind = V_UNKNOWN, QS_OK;
        if (at.n == 1 && is_coordinate(a, &v)) {
            TRY(coordinate_items(L, a, &v, down));
            return warn_of_place(L, a, at, &v, pos);
        }
        TRY(make_item(L, a, &v, down, &items[i]));
    }
    return place_items(L, a, items, at.n);
}

/* -- indexed arrays ------------------------------------------------------------------------------------------------ */
static const char *name_of(const Node *base) {
    if (base->kind == N_IDENT) return base->u.ident.name->s;
    return base->kind == N_FIELD ? base->u.field.name->s : "the array";
}

static qs_status variable_of(Lower *L, Node *base, Val *object, Var **out) {
    const Record *r;
    int i;
    *out = base->kind == N_IDENT ? klvar_of(L, base->u.ident.sym) : NULL;
    if (base->kind != N_FIELD) return QS_OK;
    TRY(klexpr_lower(L, base->u.field.base, object));
    L->pos = base->pos;
    return klexpr_field(L, object, base, out, &r, &i);
}

/* Finds the indexed value.  A local stored in LOCALs is not read completely for one component. */
static qs_status base_of(Lower *L, Node *n, Access *a) {
    Node *base = n->u.index.base;
    Val object;
    a->p.name = name_of(base);
    TRY(variable_of(L, base, &object, &a->var));
    bool in_locals = a->var && a->var->merged && a->var->slots && !a->var->memory && a->var->home->open;
    if (in_locals) {
        a->base = a->var->stored, a->base.made = klvar_made(L, a->var);
        if (a->var->typed) klvar_modify(a->var->mods, &a->base);
    } else {
        bool saved = L->indexing;
        L->indexing = false;
        bool field = base->kind == N_FIELD;
        TRY(field ? klexpr_rules.field(&L->walk, &object, base, &a->base) : klexpr_lower(L, base, &a->base));
        L->indexing = saved;
    }
    L->pos = n->pos;
    a->p.rank = a->base.rank;
    a->p.mode = effective_mode(L, (AccessMode)a->base.mods.access);
    if (a->base.kind == V_UNKNOWN) return QS_OK;
    if (a->base.kind == V_OBJECT && a->p.rank && any_field(&a->base)) return QS_OK;
    if ((a->base.kind != V_ARRAY && a->base.kind != V_NUM && a->base.kind != V_MEMORY) || a->p.rank == 0)
        return klower_error(L, QS_ETYPE, n->pos, "%s is %s and cannot be indexed", a->p.name,
                            klval_type_name(L, &a->base));
    return QS_OK;
}

static bool constant_items(Lower *L, const Access *a) {
    double k;
    for (int d = 0; d < a->p.rank; d++) {
        const Subindex *it = &a->p.item[d];
        if (it->kind == AT_ONE && !kir_is_const(L->f, it->one, &k)) return false;
        for (int64_t i = 0; it->kind == AT_LIST && i < it->n; i++)
            if (!kir_is_const(L->f, it->list[i], &k)) return false;
    }
    return true;
}

/* A small value needs constant indices that are in range; a local indexed otherwise is moved to memory. */
static qs_status settle_small(Lower *L, Access *a, bool writing) {
    enum { SELECTS = 4 };
    if (a->base.kind != V_NUM) return QS_OK;
    if (!constant_items(L, a)) {
        if (!writing && a->base.at && (klval_count(&a->base) <= SELECTS || !a->var)) return QS_OK;
        return klvar_memory(L, a->var, L->pos, &a->base);
    }
    for (int d = 0; d < a->p.rank; d++) {
        double k;
        const Subindex *it = &a->p.item[d];
        if (it->kind != AT_ONE || !kir_is_const(L->f, it->one, &k) || (k >= 0 && k < (double)a->base.dims[d])) continue;
        return klower_error(L, QS_EINDEX, L->pos, "index %g is outside dimension %d of %s (size %lld)", k,
                            ksubscript_shown_axis(&a->p, d), a->p.name, (long long)a->base.dims[d]);
    }
    return QS_OK;
}

/* Lowers the second index of n[…][…]: its indices follow those that select the entry. */
static qs_status items_of_entry(Lower *L, Access *a, NodeList at) {
    int outer = outer_rank(&a->base);
    Access e = *a;
    e.p.rank = e.base.rank = a->base.inner, e.base.inner = 0;
    TRY(lower_items(L, &e, at));
    if (e.base.kind == V_UNKNOWN) return a->base.kind = V_UNKNOWN, QS_OK;
    memcpy(a->p.item + outer, e.p.item, (size_t)e.p.rank * sizeof *e.p.item);
    memcpy(a->beyond, e.beyond, sizeof a->beyond);
    return a->nbeyond = e.nbeyond, QS_OK;
}

/* x[i][k] on an array of entries is one access, which may be assigned. */
static qs_status access_of_entry(Lower *L, Node *n, Access *a, bool *done) {
    Node *entry = n->u.index.base;
    *done = false;
    if (entry->kind != N_INDEX || entry->u.index.base->kind != N_IDENT) return QS_OK;
    TRY(base_of(L, entry, a));
    if (a->base.kind != V_ARRAY || !a->base.inner) return QS_OK;
    TRY(lower_items(L, a, entry->u.index.at));
    for (int d = 0; d < outer_rank(&a->base) && a->base.kind == V_ARRAY; d++)
        if (a->p.item[d].kind != AT_ONE) return QS_OK;
    *done = true;
    return a->base.kind == V_UNKNOWN ? QS_OK : items_of_entry(L, a, n->u.index.at);
}

/* The access to a field of a host object as a whole. */
static Access whole_field(Lower *L, const Val *object, int i) {
    const Record *r = object->u.rec;
    Access a = r->element ? *r->element : (Access){.p = {.name = r->names[i]->s, .mode = ACC_UNCHECKED}};
    TypeMods mods = r->element ? a.base.mods : object->mods;
    a.base = r->fields[i], a.base.mods.flags |= mods.flags, a.p.rank = a.base.rank, a.entry = 0;
    if (r->element) a.base.mods = mods, a.entry = outer_rank(&a.base);
    for (int d = a.entry; d < a.p.rank; d++) a.p.item[d] = (Subindex){.kind = AT_ALL};
    if (!r->element && a.base.inner) a.p.item[0] = (Subindex){.kind = AT_ONE, .one = klnum_int(L, QS_I64, 0)};
    return a;
}

/* x[i].f[k] = v: writes to an element of a field in an array of objects. */
static qs_status access_of_field(Lower *L, Node *n, Access *a, bool *done) {
    Node *field = n->u.index.base;
    const Record *r;
    Val object;
    Var *v;
    int i;
    *done = false;
    if (field->kind != N_FIELD) return QS_OK;
    TRY(klexpr_lower(L, field->u.field.base, &object));
    L->pos = field->pos;
    TRY(klexpr_field(L, &object, field, &v, &r, &i));
    if (!r || !r->element || r->fields[i].kind != V_ARRAY || !r->fields[i].inner) return QS_OK;
    *a = whole_field(L, &object, i), *done = true;
    return items_of_entry(L, a, n->u.index.at);
}

static qs_status access_of(Lower *L, Node *n, Access *a, bool writing) {
    bool done;
    *a = (Access){0};
    TRY(access_of_entry(L, n, a, &done));
    if (done) return L->pos = n->pos, QS_OK;
    if (writing) TRY(access_of_field(L, n, a, &done));
    if (done) return L->pos = n->pos, QS_OK;
    *a = (Access){0};
    TRY(base_of(L, n, a));
    if (a->base.kind == V_UNKNOWN) return QS_OK;
    TRY(lower_items(L, a, n->u.index.at));
    L->pos = n->pos;
    return a->base.kind == V_UNKNOWN ? QS_OK : settle_small(L, a, writing);
}

/* -- slices -------------------------------------------------------------------------------------------------------- */
/* Replaces `:` by the list 0..n-1. */
static qs_status spell_out(Lower *L, Access *a, int d, int64_t n) {
    Subindex *it = &a->p.item[d];
    if (n > KLOWER_UNROLL)
        return klower_error(L, QS_ESHAPE, L->pos, "a slice of more than %d elements in a kernel", KLOWER_UNROLL);
    return *it = ksubscript_from(&L->walk, klnum_int(L, QS_I64, 0), n), QS_OK;
}

static qs_status spell_out_known(Lower *L, Access *a) {
    for (int d = 0; d < a->p.rank; d++) {
        if (a->p.item[d].kind != AT_ALL) continue;
        if (a->base.kind == V_ARRAY && a->base.dims[d] < 0)
            return klower_need(L, a->base.u.array->host.source, d, a->base.rank);
        TRY(spell_out(L, a, d, a->base.dims[d]));
    }
    return QS_OK;
}

static qs_status read_slice(Lower *L, Access *a, Val *out) {
    KRef at[QS_MAX_RANK] = {0};
    int64_t dims[QS_MAX_RANK];
    TRY(spell_out_known(L, a));
    int64_t n = ksubscript_count(&a->p);
    if (n > KLOWER_UNROLL)
        return klower_error(L, QS_ESHAPE, L->pos, "a slice of more than %d elements in a kernel", KLOWER_UNROLL);
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)n, sizeof *nums, sizeof *nums));
    for (int64_t i = 0; i < n; i++) ksubscript_at(&a->p, i, at), nums[i] = load_mixed(L, a, at, 0);
    klval_from_nums(L, nums, ksubscript_shape(&a->p, dims), dims, out);
    bool mixed = a->base.kind == V_ARRAY && qdtype_is_real(out->dtype); /* texture interpolation gives real numbers */
    if (!mixed) out->made = klval_made_of(&a->base);
    return QS_OK;
}

static qs_status read_access(Lower *L, Access *a, Val *out) {
    KRef at[QS_MAX_RANK] = {0};
    if (!ksubscript_is_single(&a->p)) return read_slice(L, a, out);
    ksubscript_at(&a->p, 0, at);
    klval_number(L, load_mixed(L, a, at, 0), out);
    return QS_OK;
}

/* x[i] of an array of objects is an object that knows its place; fields are read when they are used. */
static qs_status read_object(Lower *L, const Access *a, Val *out) {
    const Record *all = a->base.u.rec;
    Record *r = qarena_alloc(L->arena, sizeof *r);
    Access *place = qarena_alloc(L->arena, sizeof *place);
    if (!ksubscript_is_single(&a->p))
        return klower_error(L, QS_ETYPE, L->pos, "%s: a kernel takes one object at a time", a->p.name);
    *place = *a, *r = *all, r->element = place;
    *out = (Val){.kind = V_OBJECT};
    return out->u.rec = r, QS_OK;
}

static bool atomic_of(Op op, KAtomic *out);

/* An element that an atomic update without a value has changed; other positions may have changed it, too, since. */
struct Updated {
    const Node *element;
    const InlineFrame *in;
    KAtomic by;
    struct Updated *before;
};

static void note_update(Lower *L, const Node *element, Op op) {
    struct Updated *u = qarena_alloc(L->arena, sizeof *u);
    *u = (struct Updated){element, L->in, KA__COUNT, L->updated};
    if (!atomic_of(op, &u->by)) return;
    L->updated = u;
}

static qs_status warn_read_back(Lower *L, const Node *n) {
    const struct Updated *u = L->updated;
    while (u && (u->in != L->in || !qast_equal(u->element, n))) u = u->before;
    if (!u) return QS_OK;
    const char *name = klbuiltin_atomic_name(u->by);
    return qwarn_at(L->c, klower_where(L, n->pos),
                    "several positions update this element, so what is read here is not what this position made of it: "
                    "%s gives the value before an update",
                    name ? name : "atomic_cas");
}

qs_status klidx_read(Walk *w, Node *n, Val *out) {
    Lower *L = (Lower *)w;
    Access a;
    TRY(access_of(L, n, &a, false));
    if (a.base.kind == V_UNKNOWN) return *out = a.base, QS_OK;
    if (a.base.kind == V_OBJECT) return read_object(L, &a, out);
    TRY(warn_read_back(L, n));
    return read_access(L, &a, out);
}

qs_status klidx_field(Lower *L, const Val *object, int i, const Node *n, Val *out) {
    const Record *r = object->u.rec;
    *out = r->fields[i];
    bool packed = r->element ? out->kind == V_ARRAY || out->kind == V_NUM : out->kind == V_ARRAY && out->inner;
    if (!packed) return QS_OK;
    Access a = whole_field(L, object, i);
    TRY(warn_read_back(L, n));
    return read_access(L, &a, out);
}

qs_status klidx_load_all(Lower *L, const Val *array, Val *out) {
    Access a = {.base = *array, .p = {.rank = array->rank, .mode = ACC_UNCHECKED, .name = ""}};
    for (int d = 0; d < a.p.rank; d++) a.p.item[d].kind = AT_ALL;
    TRY(read_slice(L, &a, out));
    out->rank = array->rank; /* all dimensions are kept */
    return QS_OK;
}

qs_status klidx_element(Lower *L, const Val *base, const KRef *at, int n, const char *name, Num *out) {
    Access a = {.base = *base, .p = {.rank = base->rank, .mode = ACC_UNCHECKED, .name = name}};
    KRef copy[QS_MAX_RANK];
    for (int i = 0; i < n; i++) copy[i] = at[i];
    return *out = load_one(L, &a, copy), QS_OK;
}

/* -- assignment ---------------------------------------------------------------------------------------------------- */
/* x[p,:] = number with an unknown extent: opens a loop for each such dimension. */
static void open_loops(Lower *L, Access *a) {
    KRef zero = klnum_int(L, QS_I64, 0), one = klnum_int(L, QS_I64, 1);
    for (int d = 0; d < a->p.rank; d++) {
        if (a->p.item[d].kind != AT_ALL) continue;
        KRef last = klnum_bin(L, K_SUB, extent_of(L, &a->base, d), one);
        a->p.item[d] = (Subindex){.kind = AT_ONE,
                                  .one = klnum_emit(L, (KMake){K_FOR, .own = QS_I64, .a = zero, .b = last, .c = one})};
    }
}

static int count_all(const Access *a) {
    int n = 0;
    for (int d = 0; d < a->p.rank; d++) n += a->p.item[d].kind == AT_ALL;
    return n;
}

/* Gives each `:` the array's extent if known, else the length of the value on the right; for a single number, opens
 * loops. */
static qs_status fit_slice(Lower *L, Access *a, const Val *v, int *loops) {
    int all = count_all(a);
    *loops = 0;
    bool fixed = a->base.kind != V_ARRAY;
    for (int d = 0; d < a->p.rank; d++) {
        if (a->p.item[d].kind != AT_ALL || (!fixed && a->base.dims[d] < 0)) continue;
        TRY(spell_out(L, a, d, a->base.dims[d]));
        all--;
    }
    if (!all) return QS_OK;
    if (v->rank == 0) return *loops = all, open_loops(L, a), QS_OK;
    if (all > 1) return spell_out_known(L, a);
    for (int d = 0; d < a->p.rank; d++)
        if (a->p.item[d].kind == AT_ALL) return spell_out(L, a, d, klval_count(v) / ksubscript_count(&a->p));
    return QS_OK;
}

typedef qs_status StoreFn(Lower *, const Access *, KRef *, Num, const void *);

static qs_status each_element(Lower *L, Access *a, const Val *v, StoreFn *f, const void *ud) {
    KRef at[QS_MAX_RANK] = {0};
    int loops;
    TRY(fit_slice(L, a, v, &loops));
    int64_t n = ksubscript_count(&a->p), have = klval_count(v);
    if (have != n && have != 1)
        return klower_error(L, QS_ESHAPE, L->pos, "%lld element%s of %s %s assigned %s", (long long)n,
                            n == 1 ? "" : "s", a->p.name, n == 1 ? "is" : "are", klval_type_name(L, v));
    for (int64_t i = 0; i < n; i++) {
        ksubscript_at(&a->p, i, at);
        TRY(f(L, a, at, klval_num(v, have == 1 ? 0 : i), ud));
    }
    kbuild_end_loops(&L->walk, loops);
    return QS_OK;
}

static qs_status plain_store(Lower *L, const Access *a, KRef *at, Num n, const void *ud) {
    return (void)ud, store_one(L, a, at, n);
}

/* A declaration x : mat allows storing scalars, which an array of integers would round. */
static qs_status takes_scalars(Lower *L, const Access *a) {
    const ArrayRef *ref = a->base.kind == V_ARRAY ? a->base.u.array : NULL;
    qs_dtype given = (qs_dtype)(ref && ref->under ? ref->under->as : a->base.dtype);
    if (!ref || !ref->converts || !qdtype_is_real(ref->as)) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s was declared with scalars and is written, but what was given holds %s",
                        a->p.name, qdtype_info[given].name);
}

static qs_status check_writable(Lower *L, const Access *a) {
    if (a->base.kind == V_OBJECT)
        return klower_error(L, QS_ETYPE, L->pos,
                            "objects of %s cannot be replaced in a kernel; set the fields, as in %s[i].x = …",
                            a->p.name, a->p.name);
    TRY(takes_scalars(L, a));
    if (a->base.mods.flags & MOD_CONST)
        return klower_error(L, QS_ETYPE, L->pos, "%s is 'const and cannot be written", a->p.name);
    if (a->base.kind == V_NUM && !a->var)
        return klower_error(L, QS_ETYPE, L->pos, "%s is a value and cannot be written", a->p.name);
    return QS_OK;
}

static bool is_private(const Access *a) {
    return a->var && (a->base.kind == V_NUM || (a->base.kind == V_MEMORY && !a->base.u.mem->shared));
}

/* A private array passed as an argument belongs to the caller; writing to it requires a copy, made in the next pass. */
static bool own_memory(Lower *L, Access *a) {
    if (is_private(a)) a->var->changed = true;
    if (a->base.kind != V_MEMORY || !a->base.u.mem->borrowed || !a->var) return true;
    Val ignored;
    (void)klvar_memory(L, a->var, L->pos, &ignored);
    return false;
}

qs_status klidx_assign(Walk *w, Node *target, const Val *v) {
    Lower *L = (Lower *)w;
    Access a;
    Val all;
    TRY(access_of(L, target, &a, true));
    if (a.base.kind == V_UNKNOWN || v->kind == V_UNKNOWN) return QS_OK;
    TRY(check_writable(L, &a));
    if (!own_memory(L, &a)) return QS_OK;
    TRY(klval_components(L, v, &all));
    return each_element(L, &a, &all, plain_store, NULL);
}

/* -- in-place updates ---------------------------------------------------------------------------------------------- */
typedef struct {
    Op op;
    bool alone;
} Update;

static bool atomic_of(Op op, KAtomic *out) {
    static const struct {
        uint8_t op, atomic;
    } list[] = {{OP_ADD, KA_ADD},    {OP_SUB, KA_SUB},   {OP_MUL, KA_MUL},   {OP_PWMUL, KA_MUL},  {OP_DIV, KA_DIV},
                {OP_PWDIV, KA_DIV},  {OP_POW, KA_POW},   {OP_PWPOW, KA_POW}, {OP_BITAND, KA_AND}, {OP_BITOR, KA_OR},
                {OP_BITXOR, KA_XOR}, {OP_MAXEQ, KA_MAX}, {OP_MINEQ, KA_MIN}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].op == op) return *out = (KAtomic)list[i].atomic, true;
    return false;
}

/* Whether every position of the launch (or block) addresses an element of its own: each of its coordinates is one of
 * the indices, unmapped. */
static bool is_exclusive(Lower *L, const Access *a, KOp position) {
    if (qaccess_is_mapped(a->p.mode)) return false;
    for (int axis = 0; axis < L->job->rank; axis++) {
        bool found = false;
        for (int d = 0; d < a->p.rank; d++) {
            KRef r = a->p.item[d].kind == AT_ONE ? a->p.item[d].one : 0;
            if (r && L->f->ins[r].op == K_CAST) r = L->f->ins[r].a;
            found |= r && L->f->ins[r].op == position && L->f->ins[r].imm == (uint64_t)axis;
        }
        if (!found) return false;
    }
    return true;
}

static qs_status plain_update(Lower *L, const Access *a, KRef *at, Num n, Op op) {
    KRef copy[QS_MAX_RANK];
    Num old, sum;
    memcpy(copy, at, sizeof copy);
    old = load_one(L, a, copy);
    if (!klnum_update(L, op, old, n, &sum)) TRY(klnum_binary(L, op, old, n, &sum));
    return store_one(L, a, at, sum);
}

/* Whether an update of elements of type d may give values that the declared type does not have.  Integers of 32 bits
 * and more wrap when updated; in wider memory they do not. */
static bool may_leave(qs_dtype declared, qs_dtype d) {
    double lo, hi, least, most;
    bool narrow = declared == QS_B1 || (qdtype_is_int(declared) && qdtype_size(declared) < 4);
    if (declared == d || d == QS_B1 || !narrow) return false;
    if (declared == QS_B1 || !qdtype_is_int(d)) return true;
    qdtype_int_span(declared, &lo, &hi), qdtype_int_span(d, &least, &most);
    return least < lo || most > hi;
}

/* An atomic update computes in the type of the memory and ignores declarations, so they must agree. */
static qs_status check_declared(Lower *L, const Access *a, const char *how) {
    qs_dtype d = a->base.dtype, other = d;
    const ArrayRef *ref = a->base.kind == V_ARRAY ? a->base.u.array : NULL;
    for (; ref; ref = ref->under)
        if (ref->converts && may_leave(ref->as, d)) other = ref->as;
    for (int m = 0; m < QS_NDTYPES && a->base.kind == V_MEMORY; m++)
        if (a->base.made.set >> m & 1 && may_leave((qs_dtype)m, d)) other = (qs_dtype)m;
    if (other == d) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos,
                        "`%s` on an element of %s, which was declared with %s and whose memory holds %s, cannot be "
                        "done by several positions at once",
                        how, a->p.name, qdtype_info[other].name, qdtype_info[d].name);
}

static qs_status check_atomic(Lower *L, const Access *a, Op op, KAtomic *k) {
    qs_dtype d = a->base.dtype;
    bool known = atomic_of(op, k), bitwise = *k == KA_AND || *k == KA_OR || *k == KA_XOR;
    bool ok = known && (qdtype_is_complex(d) ? *k == KA_ADD || *k == KA_SUB
                        : d == QS_B1         ? bitwise
                        : qdtype_is_real(d)  ? !bitwise
                                             : *k != KA_POW);
    if (ok) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos,
                        "`%s` on an element of %s, which is %s, cannot be done by several positions at once",
                        qop_inplace(op), a->p.name, klval_type_name(L, &a->base));
}

/* The condition that the operand x is allowed in an atomic update of integers.  The elements are not converted in
 * between, as in x[i] = x[i] op n, so x must be an integer of the type.  For minimum and maximum only NaN is
 * excluded. */
static KRef is_allowed_operand(Lower *L, qs_dtype d, KAtomic k, KRef x) {
    bool real = qdtype_is_real((qs_dtype)L->f->ins[x].dtype);
    if (k == KA_MIN || k == KA_MAX) return real ? klnum_bin(L, K_EQ, x, x) : klnum_int(L, QS_B1, 1);
    KRef holds = klnum_holds(L, d < QS_I32 ? QS_I32 : d, x);
    if (k != KA_DIV) return holds;
    return klnum_bin(L, K_AND, holds, klnum_bin(L, K_NE, x, klnum_const(L, (qs_dtype)L->f->ins[x].dtype, 0)));
}

static void check_taken(Lower *L, const Access *a, KAtomic k, const char *how, Num n, KRef guard) {
    char text[256];
    double known;
    qs_dtype d = a->base.dtype;
    if (a->base.kind == V_ARRAY && !qdtype_is_int(d)) d = klval_element(&a->base);
    if (!qdtype_is_int(d) || n.dtype == QS_B1) return;
    KRef x = klnum_ref(L, n, dtype_of(L, n)), holds = is_allowed_operand(L, d, k, x);
    if (guard) holds = klnum_bin(L, K_OR, klnum_un(L, K_NOT, guard), holds);
    if (kir_is_const(L->f, holds, &known) && known != 0) return;
    snprintf(text, sizeof text,
             "`%s` with %%0 on an element of %.60s, which is %.60s, cannot be done by several positions at once", how,
             a->p.name, klval_type_name(L, &a->base));
    klnum_emit(L, (KMake){K_CHECK, .a = holds, .b = x, .imm = (uint64_t)kir_message(L->f, QS_EVALUE, text)});
}

static qs_status atomic_update(Lower *L, const Access *a, KRef *at, Num n, Op op) {
    KAtomic k = KA_ADD;
    qs_dtype d = a->base.dtype;
    TRY(check_declared(L, a, qop_inplace(op)));
    TRY(check_atomic(L, a, op, &k));
    TRY(takes_complex(L, a->p.name, &a->base, n));
    KRef guard = bring_all_inside(L, a, at), linear = linear_index(L, &a->base, at);
    check_taken(L, a, k, qop_inplace(op), n, guard);
    /* checks that the stored element is integral */
    if (a->base.kind == V_ARRAY && a->base.u.array->declared && klval_element(&a->base) != d)
        (void)load_array(L, a, linear, guard);
    if (a->base.kind == V_MEMORY) return store_memory(L, a, linear, guard, n, K_AATOMIC, (uint16_t)k), QS_OK;
    int param = array_param(L, a);
    for (int p = 0; p < parts_of(d); p++)
        klnum_emit(L, (KMake){K_ATOMIC, .flag = k, .a = kmemory_part(&L->walk, linear, d, p),
                              .b = element_part(L, n, d, p), .c = guard, .imm = (uint64_t)param});
    return QS_OK;
}

/* Gives a number in x[i] |= n and the like as many bits as the elements have, as on the host. */
static Num share_bits(Lower *L, const Access *a, Op op, Num n) {
    qs_dtype d = a->base.dtype;
    bool bits = op == OP_BITAND || op == OP_BITOR || op == OP_BITXOR;
    bool same = !klnum_is_weak(n) && (n.dtype == d || n.dtype == QS_U64);
    if (!bits || same || !qdtype_is_int(d) || qdtype_is_complex(n.dtype)) return n;
    return klnum_bits_beside(L, kelem_operator(op), n, klval_made_of(&a->base), kir_value_dtype(d));
}

static qs_status update_one(Lower *L, const Access *a, KRef *at, Num n, const void *ud) {
    const Update *u = ud;
    n = share_bits(L, a, u->op, n);
    return u->alone ? plain_update(L, a, at, n, u->op) : atomic_update(L, a, at, n, u->op);
}

/* The bit of the array in Lower.crowded and the like. */
static uint64_t array_bit(Lower *L, const Access *a) {
    int at = a->base.kind == V_ARRAY ? klower_array_param(L, &a->base) : 63;
    return 1ull << (at < 63 ? at : 63);
}

/* Whether no other position updates the element: it is this position's own, and no other statement updates elements of
 * other positions.  The statements are known from the previous pass. */
static bool is_alone(Lower *L, const Access *a) {
    bool common = a->base.kind == V_ARRAY;
    if (L->job->serial || (!common && !(a->base.kind == V_MEMORY && a->base.u.mem->shared))) return true;
    uint64_t array = array_bit(L, a);
    if (!is_exclusive(L, a, common ? K_POS : K_BLKPOS)) return L->crowded |= array, false;
    bool alone = !((L->crowded | L->was_crowded) & array);
    return *(alone ? &L->lone : &L->joined) |= array, alone;
}

qs_status klidx_keep(Lower *L, const char *name, const Val *array, const Val *x, Val *out) {
    int64_t n = klval_count(array);
    if (klval_count(x) != n)
        return klower_error(L, QS_ESHAPE, L->pos, "%s is %s and stays so: it cannot become %s in place", name,
                            klval_type_name(L, array), klval_type_name(L, x));
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)(n ? n : 1), sizeof *nums, 0));
    for (int64_t i = 0; i < n; i++) {
        nums[i] = klval_num(x, i);
        if (array->made.set) TRY(takes_complex(L, name, array, nums[i]));
        nums[i] = convert_kept(L, name, array->made, nums[i], 0);
    }
    klval_from_nums(L, nums, array->rank, array->dims, out);
    return out->made = array->made, QS_OK;
}

qs_status klidx_update(Walk *w, Node *target, Op op, Node *value) {
    Lower *L = (Lower *)w;
    Access a;
    Val v, all;
    TRY(klexpr_lower(L, value, &v));
    TRY(access_of(L, target, &a, true));
    if (a.base.kind == V_UNKNOWN || v.kind == V_UNKNOWN) return QS_OK;
    TRY(check_writable(L, &a));
    if (!own_memory(L, &a)) return QS_OK;
    TRY(klval_components(L, &v, &all));
    Update u = {op, is_alone(L, &a)};
    if (!u.alone) note_update(L, target, op);
    return each_element(L, &a, &all, update_one, &u);
}

/* -- fields of host objects ---------------------------------------------------------------------------------------- */
static qs_status check_field(Lower *L, const Record *r, int i, uint32_t pos) {
    const char *name = r->names[i]->s;
    if (!r->is_mutable)
        return klower_error(L, QS_EVALUE, pos, "field %s cannot be written: its class is not declared mutable", name);
    if (r->fields[i].kind == V_ARRAY || r->fields[i].kind == V_NUM) return QS_OK;
    return klower_error(L, QS_ETYPE, pos, "field %s cannot be written in a kernel: it is %s", name,
                        r->fields[i].kind == V_VOID ? "neither a number nor an array"
                                                    : klval_type_name(L, &r->fields[i]));
}

/* A number, or an array that is set as a whole, must be an array that belongs to the launch. */
static qs_status own_field(Lower *L, const Record *r, int i, bool whole) {
    const KVal *given = &r->host[i];
    bool packed = r->element && !r->fields[i].inner;
    if (given->own || packed || (given->kind == KV_ARRAY && !whole)) return QS_OK;
    return klower_need(L, given->source, KNEED_OWN, 0);
}

/* Lowers object.f = v, or with a StoreFn for updates object.f op= v. */
static qs_status write_field(Lower *L, const Val *object, int i, const Val *v, Update *u) {
    Val all;
    Access a = whole_field(L, object, i);
    TRY(check_writable(L, &a));
    TRY(klval_components(L, v, &all));
    if (!u || all.rank) TRY(spell_out_known(L, &a));
    if (!ksubscript_is_single(&a.p) && all.rank && klval_count(&all) != ksubscript_count(&a.p))
        return klower_error(L, QS_ESHAPE, L->pos, "field %s has %lld elements and cannot become %s",
                            object->u.rec->names[i]->s, (long long)ksubscript_count(&a.p), klval_type_name(L, v));
    if (u) u->alone = is_alone(L, &a);
    return each_element(L, &a, &all, u ? update_one : plain_store, u);
}

qs_status klidx_set_field(Lower *L, const Val *object, int i, const Node *target, Val *v) {
    const Record *r = object->u.rec;
    TRY(check_field(L, r, i, target->pos));
    TRY(own_field(L, r, i, true));
    TRY(kltype_coerce(L, r->types[i], r->names[i]->s, target->pos, v));
    return v->kind == V_UNKNOWN ? QS_OK : write_field(L, object, i, v, NULL);
}

qs_status klidx_update_field(Walk *w, const Val *object, Node *target, Op op, Node *value, bool *done) {
    Lower *L = (Lower *)w;
    Var *var;
    const Record *r;
    Val v;
    int i;
    *done = false;
    TRY(klexpr_field(L, object, target, &var, &r, &i));
    if (!r || !r->host) return QS_OK;
    TRY(check_field(L, r, i, target->pos));
    TRY(own_field(L, r, i, false));
    TRY(klexpr_lower(L, value, &v));
    L->pos = target->pos;
    *done = !(op == OP_MUL && v.rank); /* a product of matrices is a new value */
    if (!*done || v.kind == V_UNKNOWN) return QS_OK;
    Update u = {op, false};
    TRY(write_field(L, object, i, &v, &u));
    if (!u.alone) note_update(L, target, op);
    return QS_OK;
}

/* -- atomic functions, which give the element before the update ---------------------------------------------------- */
static qs_status check_fetch(Lower *L, const Access *a, const char *name, KAtomic k) {
    qs_dtype d = a->base.dtype;
    bool array = a->base.kind == V_ARRAY, shared = a->base.kind == V_MEMORY && a->base.u.mem->shared;
    bool real = d == QS_F32 || d == QS_F64, whole = d >= QS_I32 && d <= QS_U64;
    bool bits = k == KA_AND || k == KA_OR || k == KA_XOR || k == KA_CAS;
    if (!array && !shared)
        return klower_error(L, QS_ETYPE, L->pos, "%s: %s belongs to this position alone: use an assignment", name,
                            a->p.name);
    if (!ksubscript_is_single(&a->p))
        return klower_error(L, QS_ESHAPE, L->pos, "%s updates one element, and this is a part of %s", name, a->p.name);
    TRY(check_declared(L, a, name));
    if (whole || (real && !bits)) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s wants %s of 32 or 64 bits, as in vec[int](n), and %s is %s", name,
                        bits ? "integers" : "integers or floats", a->p.name, klval_type_name(L, &a->base));
}

/* The element after the update, where positions run one after another. */
static qs_status after_update(Lower *L, KAtomic k, Num old, const Num *n, Num *out) {
    static const Op ops[KA__COUNT] = {
        [KA_ADD] = OP_ADD,    [KA_SUB] = OP_SUB,  [KA_MIN] = OP_MINEQ, [KA_MAX] = OP_MAXEQ,
        [KA_AND] = OP_BITAND, [KA_OR] = OP_BITOR, [KA_XOR] = OP_BITXOR};
    Num same = old;
    if (k == KA_XCHG) return *out = n[0], QS_OK;
    if (k != KA_CAS) return klnum_binary(L, ops[k], old, n[0], out);
    TRY(klnum_binary(L, OP_EQ, old, n[1], &same));
    return *out = klnum_select(L, klnum_truth(L, same), n[0], old), QS_OK;
}

/* n[0] is the operand; of CAS n[1] is the expected element. */
static qs_status fetch_one(Lower *L, const Access *a, KRef *at, KAtomic k, const Num *n, bool used, Num *old) {
    Walk *w = &L->walk;
    qs_dtype d = a->base.dtype;
    if (L->job->serial) {
        KRef copy[QS_MAX_RANK];
        Num now;
        memcpy(copy, at, sizeof copy);
        *old = load_one(L, a, copy);
        TRY(after_update(L, k, *old, n, &now));
        return store_one(L, a, at, now);
    }
    KRef guard = bring_all_inside(L, a, at), linear = linear_index(L, &a->base, at);
    KRef value = element_part(L, n[0], d, 0);
    if (k == KA_CAS) value = klnum_emit(L, (KMake){K_EXPECT, .a = value, .b = element_part(L, n[1], d, 0)});
    *old = klnum_strong(0, d);
    if (a->base.kind == V_ARRAY) {
        KOp op = used || k >= KA_XCHG ? K_FETCH : K_ATOMIC;
        old->re.ref = klnum_emit(L, (KMake){op, .own = d, .flag = k, .a = linear, .b = value, .c = guard,
                                            .imm = (uint64_t)array_param(L, a)});
        if (used) *old = apply_declarations(L, a->base.u.array, *old);
        return QS_OK;
    }
    KRef result = guard && used ? kbuild_local(w, klnum_const(L, d, 0)) : 0;
    if (guard) kbuild_flow(w, K_IF, guard);
    old->re.ref = klnum_emit(L, (KMake){K_AFETCH, .flag = k, .a = a->base.u.mem->ref, .b = linear, .c = value});
    if (result) kbuild_set(w, result, old->re.ref);
    if (guard) kbuild_end(w);
    if (result) old->re.ref = kbuild_get(w, result);
    return QS_OK;
}

/* Reads the arguments behind the element: the operand, or the expected element and the new one. */
static qs_status fetch_operands(Lower *L, const char *name, const ArgList *list, Num n[2], bool *unknown) {
    for (int i = 1; i < list->n; i++) {
        Val v;
        TRY(klexpr_lower(L, list->at[i].value, &v));
        *unknown |= v.kind == V_UNKNOWN;
        if (!*unknown) TRY(klval_one(L, &v, name, &n[list->n - 1 - i]));
    }
    return QS_OK;
}

/* x[i] of an array, or a number field of a host object. */
static qs_status fetched_place(Lower *L, const char *name, Node *target, Access *a) {
    const Record *r = NULL;
    Val object;
    Var *v = NULL;
    int i;
    if (target->kind == N_INDEX) return access_of(L, target, a, true);
    if (target->kind != N_FIELD)
        return klower_error(L, QS_ETYPE, target->pos, "%s updates an element of an array: its first argument is x[i]",
                            name);
    *a = (Access){0};
    TRY(klexpr_lower(L, target->u.field.base, &object));
    L->pos = target->pos;
    TRY(klexpr_field(L, &object, target, &v, &r, &i));
    if (v)
        return klower_error(L, QS_ETYPE, target->pos, "%s: %s belongs to this position alone: use an assignment", name,
                            target->u.field.name->s);
    if (!r) return QS_OK;
    TRY(check_field(L, r, i, target->pos));
    TRY(own_field(L, r, i, false));
    return *a = whole_field(L, &object, i), QS_OK;
}

qs_status klidx_fetch(Lower *L, const char *name, Node *site, KAtomic k, Val *out) {
    const ArgList *list = &site->u.call.args;
    int want = k == KA_CAS ? 3 : 2;
    bool unknown = false;
    Num n[2], old;
    Access a;
    for (int i = 0; i < list->n; i++)
        if (list->at[i].name) return klower_error(L, QS_ETYPE, site->pos, "%s takes no named arguments", name);
    if (list->n != want)
        return klower_error(L, QS_ETYPE, site->pos, "%s takes %d arguments in a kernel, got %d", name, want, list->n);
    TRY(fetch_operands(L, name, list, n, &unknown));
    TRY(fetched_place(L, name, list->at[0].value, &a));
    if (out) *out = (Val){0};
    if (unknown || a.base.kind == V_UNKNOWN) return QS_OK;
    TRY(check_writable(L, &a));
    TRY(check_fetch(L, &a, name, k));
    for (int i = 0; i < want - 1; i++) {
        TRY(takes_complex(L, a.p.name, &a.base, n[i]));
        check_taken(L, &a, k, name, n[i], 0);
    }
    if (!L->job->serial) L->crowded |= array_bit(L, &a);
    KRef at[QS_MAX_RANK] = {0};
    ksubscript_at(&a.p, 0, at);
    TRY(fetch_one(L, &a, at, k, n, out != NULL, &old));
    if (out) klval_number(L, old, out);
    return QS_OK;
}
