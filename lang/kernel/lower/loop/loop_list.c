/* loop_list.c -- lowers lists of numbers: cells whose items are read by any index, appended or removed; and lists of
 * objects, whose items are only read; and lists of short vectors.
 *
 * The VM copies the items of such a cell to memory before each run, and makes them its items again afterwards.  The
 * memory is address space for LOOP_LIST_ROOM items, so that an append is a store.  Two LOCALs per list have the number
 * of items and the index of the first one: pop(list, 0) advances it, and moves the items to the front of the memory
 * once they are fewer than the removed ones.  All items have one type, that of the first; an item of another type
 * declines the loop.  An object is represented by its number (loop_object.c), a vector by its elements as float64 and
 * one more number, which is not 0 for an array that the cell has had before the loop.  Other vectors are new arrays,
 * which nothing else refers to (kloop_put_away).
 * Loops with lists run in order, because each change of a list depends on the earlier ones.
 *
 * `stack = {x}` in the loop makes a list of its own for the variable: memory without a cell.  Each such assignment
 * empties it, which is right because no other name can refer to the cell. */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <string.h>

/* -- lists --------------------------------------------------------------------------------------------------------- */
static qs_dtype memory_type(const List *l) { return l->kind == LOOP_INT || l->kind == LOOP_ITEM ? QS_I64 : QS_F64; }

static uint64_t memory_of(Loops *L, const List *l) {
    KParam p = {.name = l->name,
                .kind = KP_ARRAY,
                .dtype = (uint8_t)memory_type(l),
                .rank = 1,
                .contiguous = true,
                .unit_last = true};
    return (uint64_t)kloop_param(L, &p, (LoopBind){LOOP_LIST_ITEMS, l->source});
}

void kloop_declare_list(Loops *L, List *l) {
    LoopBind count = {LOOP_LIST_COUNT, l->source};
    l->count = kbuild_local(&L->walk, l->source < 0 ? kloop_i64(L, 0) : kloop_number_param(L, l->name, QS_I64, count));
    l->first = kbuild_local(&L->walk, kloop_i64(L, 0));
}

static bool may_add_list(const Loops *L) {
    return L->mode == MODE_EXACT && !L->module && !L->callees && L->nlists < LOOP_LISTS;
}

typedef struct {
    const Sym *sym;
    int n; /* of the elements of an item; 0: not known */
} Appended;

/* Finds c.append([a,b]) and append(c, [a,b]). */
static bool is_append(const Node *n, void *ud) {
    Appended *a = ud;
    const Node *callee = n->kind == N_CALL ? n->u.call.callee : NULL;
    if (!callee || !n->u.call.args.n) return false;
    const ArgList *args = &n->u.call.args;
    bool method = callee->kind == N_FIELD && !strcmp(callee->u.field.name->s, "append") && args->n == 1;
    bool call = callee->kind == N_IDENT && !strcmp(callee->u.ident.name->s, "append") && args->n == 2;
    const Node *cell = method ? callee->u.field.base : call ? args->at[0].value : NULL;
    const Node *item = args->at[args->n - 1].value;
    if (!cell || cell->kind != N_IDENT || cell->u.ident.sym != a->sym || item->kind != N_MATRIX) return false;
    return a->n = item->u.items.n, true;
}

/* An empty list gets vectors if the loop appends [a,b] somewhere, perhaps after it reads items. */
static void expect_vectors(Loops *L, const Sym *sym, LoopItems *out) {
    Appended a = {.sym = sym};
    if (!sym || !kquery_node(kquery_body_of(L->job->loop), true, is_append, &a)) return;
    out->kind = LOOP_VECTOR, out->n = a.n, out->dtype = (uint8_t)L->c->scalar_dtype;
}

/* The list that a cell is, if all its items are of one type; NULL: it is none. */
static List *find_list(Loops *L, const Value *cell) {
    LoopItems items;
    for (int i = 0; i < L->nlists; i++)
        if (L->lists[i].source == cell->host.source) return &L->lists[i];
    if (cell->host.source < 0 || !may_add_list(L) || !L->job->list(L->job->ud, cell->host.source, &items)) return NULL;
    if (items.kind == LOOP_UNSET) expect_vectors(L, cell->sym, &items);
    int cls = items.kind == LOOP_ITEM ? kobject_class(L, items.cls) : 0;
    if (cls < 0 || items.n > LOOP_VECTOR_MAX || (items.kind == LOOP_VECTOR && L->no_vectors)) return NULL;
    List *l = &L->lists[L->nlists++];
    *l = (List){.source = cell->host.source, .kind = items.kind, .dtype = items.dtype, .n = items.n, .cls = cls};
    l->name = (Str *)(uintptr_t)cell->name;
    kloop_declare_list(L, l);
    return L->changed = true, l;
}

static qs_status need_list(Loops *L, const Value *cell, List **out) {
    *out = find_list(L, cell);
    if (!*out)
        return kloop_decline(
            L, L->pos,
            "a cell whose items are not all numbers of one type, objects of one class, or short vectors "
            "of one length; elements of arrays are compiled");
    L->listed = L->f->nins;
    return QS_OK;
}

static bool is_fixed(const List *l) { return l->kind == LOOP_ITEM; }

static qs_status decline_change(Loops *L, const List *l) {
    return kloop_decline(L, L->pos, "%s, a list of objects, changes", l->name->s);
}

/* How many numbers an item consists of. */
static int width_of(const List *l) { return l->kind == LOOP_VECTOR ? l->n + 1 : 1; }

static qs_status check_visits(Loops *L, const List *l) {
    for (int i = 0; i < L->nvisits; i++)
        if (L->visit[i].source == l->source)
            return kloop_decline(L, L->pos, "%s changes while a loop goes through it", l->name->s);
    return QS_OK;
}

/* The same for a list that is changed. */
static qs_status change_list(Loops *L, const Value *cell, List **out) {
    TRY(need_list(L, cell, out));
    TRY(check_visits(L, *out));
    if (is_fixed(*out)) return decline_change(L, *out);
    kbuild_learn(&L->walk, &(*out)->written);
    return QS_OK;
}

bool kloop_is_list(const Loops *L, const Value *cell) {
    for (int i = 0; i < L->nlists; i++)
        if (L->lists[i].source == cell->host.source) return L->lists[i].written || L->lists[i].kind == LOOP_ITEM;
    return false;
}

/* -- items --------------------------------------------------------------------------------------------------------- */
static KRef count_of(Loops *L, const List *l) { return kbuild_get(&L->walk, l->count); }

/* Returns the index of the first element of item `at` in the memory. */
static KRef index_of(Loops *L, const List *l, KRef at) {
    KRef item = kloop_op(L, K_ADD, kbuild_get(&L->walk, l->first), at);
    return width_of(l) > 1 ? kloop_op(L, K_MUL, item, kloop_i64(L, width_of(l))) : item;
}

static KRef element_at(Loops *L, KRef item, int i) { return kloop_op(L, K_ADD, item, kloop_i64(L, i)); }

static void store_memory(Loops *L, const List *l, KRef at, KRef v) {
    kloop_emit(L, (KMake){K_STORE, .a = at, .b = v, .imm = memory_of(L, l)});
}

static KRef load_memory(Loops *L, const List *l, KRef at) {
    return kloop_emit(L, (KMake){K_LOAD, .own = memory_type(l), .a = at, .imm = memory_of(L, l)});
}

static Value load_vector(Loops *L, const List *l, KRef at) {
    KRef first = index_of(L, l, at);
    Value v = kloop_vector(L, l->n);
    for (int i = 0; i < l->n; i++) v.at[i] = kloop_num(load_memory(L, l, element_at(L, first, i)));
    v.num.v = first, v.cls = (int)(l - L->lists);
    v.f64 = kloop_width(L, (qs_dtype)l->dtype);
    if (l->varies)
        v.f64 = kloop_op(L, v.f64 ? K_NE : K_LT, load_memory(L, l, element_at(L, first, l->n)), kloop_f64(L, 0));
    return v.array = kloop_i64(L, LOOP_FIRST_NEW - 1), v.host.kind = LOOP_ITEM, v;
}

static Value load_item(Loops *L, const List *l, KRef at) {
    if (l->kind == LOOP_VECTOR) return load_vector(L, l, at);
    KRef v = load_memory(L, l, index_of(L, l, at));
    if (l->kind == LOOP_ITEM) return kobject_value(L, l->cls, v);
    Value out = {.what = WHAT_NUMBER, .num = l->kind == LOOP_INT ? kloop_wide(L, v) : kloop_num(v)};
    if (l->kind == LOOP_BOOL) out.num = kloop_bool(kloop_op(L, K_NE, v, kloop_f64(L, 0)));
    return out;
}

/* Stores a vector; its array is none of those that the list has had before the loop. */
static qs_status store_vector(Loops *L, List *l, KRef at, const Value *v) {
    double f64 = 0;
    bool known = !v->f64 || kir_is_const(L->f, v->f64, &f64);
    qs_dtype dtype = f64 != 0 ? QS_F64 : L->c->scalar_dtype;
    KRef kind = kloop_f64(L, -(f64 != 0));
    if (v->cols || v->like & LOOP_LIKE(LOOP_TWO))
        return kloop_decline(L, L->pos, "an item of %s that is no plain vec", l->name->s);
    L->out->replaces |= v->like != 0;
    TRY(kloop_put_away(L, v));
    if (l->kind == LOOP_UNSET) l->kind = LOOP_VECTOR, l->n = v->n, l->dtype = (uint8_t)dtype, L->changed = true;
    if (l->kind != LOOP_VECTOR || l->n != v->n)
        return kloop_decline(L, L->pos, "items of %s that have several types or lengths", l->name->s);
    if (!known || l->dtype != dtype) kbuild_learn(&L->walk, &l->varies);
    if (!known)
        kind = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = v->f64, .b = kloop_f64(L, -1), .c = kloop_f64(L, 0)});
    KRef item = index_of(L, l, at);
    for (int i = 0; i < v->n; i++) store_memory(L, l, element_at(L, item, i), v->at[i].v);
    return store_memory(L, l, element_at(L, item, v->n), kind), QS_OK;
}

static qs_status store_item(Loops *L, List *l, KRef at, const Value *v) {
    if (v->what == WHAT_VECTOR) return store_vector(L, l, at, v);
    if (v->what != WHAT_NUMBER) return kloop_decline(L, L->pos, "an item of %s that is no number", l->name->s);
    if (l->kind == LOOP_UNSET && v->num.kind != LOOP_MIXED && v->num.kind != LOOP_COMPLEX)
        l->kind = v->num.kind, L->changed = true;
    if (l->kind != v->num.kind) return kloop_decline(L, L->pos, "items of %s that have several types", l->name->s);
    KRef x = l->kind == LOOP_BOOL ? kloop_cast(L, v->num.v, QS_F64) : v->num.v;
    return store_memory(L, l, index_of(L, l, at), x), QS_OK;
}

Number kloop_list_count(Loops *L, const Value *cell) {
    return kloop_from_int(L, count_of(L, find_list(L, cell)), 0, LOOP_LIST_ROOM);
}

/* -- changes ------------------------------------------------------------------------------------------------------- */
static qs_status append_item(Loops *L, const Value *cell, const Value *v) {
    List *l = NULL;
    TRY(change_list(L, cell, &l));
    KRef n = count_of(L, l), room = kbuild_pure(&L->walk, (KMake){K_DIM, .imm = memory_of(L, l) << 8});
    KRef fits = kloop_op(L, K_LT, element_at(L, index_of(L, l, n), width_of(l) - 1), room);
    kloop_fail_unless(L, fits, QS_ENOMEM, "cell: no memory for %0 items", n, 0);
    TRY(store_item(L, l, n, v));
    return kbuild_set(&L->walk, l->count, kloop_op(L, K_ADD, n, kloop_i64(L, 1))), QS_OK;
}

/* Moves the items to the front if as many others have been removed there. */
static void move_to_front(Loops *L, List *l) {
    enum { LEAST = 1024 };
    KRef first = kbuild_get(&L->walk, l->first), n = count_of(L, l), one = kloop_i64(L, 1);
    kloop_flow(L, K_IF, kloop_op(L, K_LE, kloop_op(L, K_MAX, n, kloop_i64(L, LEAST)), first));
    KRef width = kloop_i64(L, width_of(l)), last = kloop_op(L, K_SUB, kloop_op(L, K_MUL, n, width), one);
    KRef from = kloop_op(L, K_MUL, first, width);
    KRef k = kloop_emit(L, (KMake){K_FOR, .own = QS_I64, .a = kloop_i64(L, 0), .b = last, .c = one});
    KRef v =
        kloop_emit(L, (KMake){K_LOAD, .own = memory_type(l), .a = kloop_op(L, K_ADD, from, k), .imm = memory_of(L, l)});
    store_memory(L, l, k, v);
    kloop_flow(L, K_END, 0);
    kbuild_set(&L->walk, l->first, kloop_i64(L, 0));
    kloop_flow(L, K_END, 0);
}

static qs_status pop_item(Loops *L, const Value *cell, const Value *at, Value *out) {
    List *l = NULL;
    double k = -1;
    TRY(change_list(L, cell, &l));
    if (at && (at->what != WHAT_NUMBER || !kloop_known(L, at->num, &k) || k != 0))
        return kloop_decline(L, L->pos, "pop at a position other than the first and the last");
    KRef n = count_of(L, l), one = kloop_i64(L, 1);
    kloop_fail_unless(L, kloop_op(L, K_LT, kloop_i64(L, 0), n), QS_EINDEX, "pop: the list is empty", 0, 0);
    KRef left = kloop_op(L, K_SUB, n, one);
    *out = load_item(L, l, at ? kloop_i64(L, 0) : left);
    kbuild_set(&L->walk, l->count, left);
    if (!at) return QS_OK;
    kbuild_set(&L->walk, l->first, kloop_op(L, K_ADD, kbuild_get(&L->walk, l->first), one));
    return move_to_front(L, l), QS_OK;
}

/* -- lists of the loop --------------------------------------------------------------------------------------------- */
qs_status kloop_list_literal(Loops *L, const Node *n, Value *out) {
    *out = (Value){.what = WHAT_CELL, .n = n->u.items.n, .host = {.kind = LOOP_CELL, .source = -1}};
    out->caught = qarena_alloc(L->arena, qmem_size((size_t)out->n, sizeof *out->caught, sizeof *out->caught));
    for (int i = 0; i < out->n; i++) {
        Value *item = &out->caught[i];
        TRY(kloop_expr(L, n->u.items.at[i], item));
        L->pos = n->u.items.at[i]->pos;
        if (item->what != WHAT_VECTOR) TRY(kloop_real_number(L, item, &item->num));
    }
    return QS_OK;
}

/* A cell without a name has no source, so the VM cannot find its items. */
qs_status kloop_decline_literal(Loops *L) {
    return kloop_decline(L, L->pos, "an item of a list without a name; give it one before the loop");
}

qs_status kloop_make_list(Loops *L, Var *v, Value *literal) {
    if (!v->list) {
        if (!may_add_list(L)) return kloop_decline(L, L->pos, "too many lists");
        List *made = &L->lists[L->nlists];
        *made = (List){.source = LOOP_OWN_LIST(L->nlists), .name = v->sym->name, .written = true};
        kloop_declare_list(L, made);
        v->list = (uint8_t)++L->nlists, L->changed = true;
    }
    List *l = &L->lists[v->list - 1];
    TRY(check_visits(L, l));
    L->listed = L->f->nins;
    kbuild_set(&L->walk, l->first, kloop_i64(L, 0));
    for (int i = 0; i < literal->n; i++) TRY(store_item(L, l, kloop_i64(L, i), &literal->caught[i]));
    kbuild_set(&L->walk, l->count, kloop_i64(L, literal->n));
    return literal->host.source = l->source, QS_OK;
}

qs_status kloop_list_call(Loops *L, const char *name, const Value *args, int nargs, Value *out, int wanted) {
    List *l = NULL;
    if (!strcmp(name, "append") && nargs == 2 && !wanted) return append_item(L, args, &args[1]);
    if (!strcmp(name, "pop") && (nargs == 1 || nargs == 2)) {
        Value item;
        TRY(pop_item(L, args, nargs == 2 ? &args[1] : NULL, &item));
        if (wanted) *out = item;
        return QS_OK;
    }
    if (strcmp(name, "numel") != 0 || nargs != 1) return kloop_decline(L, L->pos, "%s of a cell", name);
    TRY(need_list(L, args, &l));
    return *out = (Value){.what = WHAT_NUMBER, .num = kloop_list_count(L, args)}, QS_OK;
}

/* -- indices ------------------------------------------------------------------------------------------------------- */
/* Emits the tests of an index of the variable `name`, and returns its rounded value. */
static KRef test_index(Loops *L, const List *l, const char *name, Number index) {
    if (index.kind == LOOP_NUM) (void)kloop_expect_int(L, &index);
    KRef at = kloop_as_int(L, index), shown = at;
    if (!at) {
        shown = kloop_round_index(L, kloop_real(L, index), MF_trunc);
        at = kloop_integral_index(L, kloop_real(L, index), shown, name, true);
    }
    kloop_inside(L, (AxisIndex){at, count_of(L, l), shown}, name, 1);
    return at;
}

qs_status kloop_list_load(Loops *L, const Value *cell, const Value *index, Value *out) {
    List *l = NULL;
    Number at;
    TRY(need_list(L, cell, &l));
    TRY(kloop_real_number(L, index, &at));
    return *out = load_item(L, l, test_index(L, l, cell->name->s, at)), QS_OK;
}

qs_status kloop_list_store(Loops *L, const Value *cell, const Value *index, const Value *v) {
    List *l = NULL;
    Number at;
    TRY(need_list(L, cell, &l)); /* the items that a loop goes through may be set */
    if (is_fixed(l)) return decline_change(L, l);
    kbuild_learn(&L->walk, &l->written);
    TRY(kloop_real_number(L, index, &at));
    return store_item(L, l, test_index(L, l, cell->name->s, at), v);
}

/* The arrays of the list have no other name if the loop has made all of them, and no variable holds one. */
qs_status kloop_list_patch(Loops *L, const Value *item, const Value *x) {
    List *l = &L->lists[item->cls];
    LoopItems before = {.kind = LOOP_UNSET};
    bool own = l->source < 0 || (L->job->list(L->job->ud, l->source, &before) && before.kind == LOOP_UNSET);
    kbuild_learn(&L->walk, &l->written);
    if (!own || L->holds_items || L->in != L->root || L->nvisits)
        return kloop_decline(L, L->pos, "an element of an array in %s is set, which may have another name", l->name->s);
    for (int i = 0; i < x->n; i++)
        if (x->at[i].v != item->at[i].v) store_memory(L, l, element_at(L, item->num.v, i), x->at[i].v);
    return QS_OK;
}

/* -- loops over items ---------------------------------------------------------------------------------------------- */
qs_status kloop_visit_list(Loops *L, const Value *cell, const Node *loop) {
    List *l = NULL;
    TRY(need_list(L, cell, &l));
    if (L->nvisits == LOOP_VISITS) return kloop_decline(L, L->pos, "too many loops over the items of cells");
    L->visit[L->nvisits].loop = loop, L->visit[L->nvisits++].source = l->source;
    return QS_OK;
}

void kloop_leave_list(Loops *L, const Node *loop) {
    while (L->nvisits && L->visit[L->nvisits - 1].loop == loop) L->nvisits--;
}

Value kloop_visited_item(Loops *L, const Value *cell, KRef at) { return load_item(L, find_list(L, cell), at); }
