/* loop_object.c -- lowers objects that are items of lists, or that variables hold in turn.
 *
 * Each object of their classes that enters the loop has a number, which the VM assigns before each run: an object that
 * is found several times, in lists or variables, has one number.  The code represents the object by its number.  A
 * field that the loop uses is a column: memory with the value of the field in each object of the class.  The VM copies
 * the values there before the run, and copies written columns back afterwards (vm/launch/list_objects.c).  So a change
 * is seen by every name of the object.
 *
 * An object that the loop makes gets one of LOOP_OBJECTS further numbers, in turn, that no variable of an open function
 * holds.  So a number is free again once nothing refers to its object, and the memory does not grow.  Lists cannot hold
 * such objects.  The VM makes those that variables hold after the loop.
 *
 * Objects of other classes have variables in place of columns (loop_variable.c). */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <string.h>

/* -- numbers ------------------------------------------------------------------------------------------------------- */
/* Before the class had numbers, a field that is set had a variable. */
static void drop_variables(Loops *L, const void *cls) {
    LoopColumn c;
    for (int i = 0; i < L->root->nvars; i++) {
        Var *v = &L->root->vars[i];
        if (v->object < 0 || v->cls != cls || !L->job->column(L->job->ud, cls, v->sym->name, &c)) continue;
        v->live = false;
    }
}

int kobject_class(Loops *L, const void *cls) {
    LoopResult *r = L->out;
    for (int i = 0; i < r->nclasses; i++)
        if (r->cls[i] == cls) return i;
    if (r->nclasses == LOOP_CLASSES) return -1;
    drop_variables(L, cls);
    L->changed = true;
    return r->cls[r->nclasses] = cls, r->nclasses++;
}

Value kobject_value(const Loops *L, int cls, KRef number) {
    Value v = {.what = WHAT_OBJECT, .cls = cls, .num = {.kind = LOOP_INT, .v = number}};
    v.host.kind = LOOP_OBJECT, v.host.cls = L->out->cls[cls], v.host.source = -1;
    return v;
}

static KRef entry_number(Loops *L, Str *name, int source) {
    return kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_NUMBER, source});
}

KRef kobject_entry(Loops *L, const Var *v) { return entry_number(L, v->sym->name, v->entry.source); }

void kobject_give_number(Loops *L, Value *object) {
    for (int i = 0; i < L->out->nclasses; i++)
        if (L->out->cls[i] == object->host.cls) {
            object->cls = i, object->num.kind = LOOP_INT;
            object->num.v = entry_number(L, (Str *)(uintptr_t)object->name, object->host.source);
        }
}

void kobject_number(Loops *L, Value *object) {
    bool may = L->mode == MODE_EXACT && !L->module && !L->callees;
    if (object->what != WHAT_OBJECT || object->num.v || object->host.source < 0 || !object->host.cls) return;
    if (may) (void)kobject_class(L, object->host.cls);
    kobject_give_number(L, object);
}

bool kobject_is_of(const Loops *L, const Value *v, const Func *f, const TypeExpr *e) {
    TypeExpr *type = (TypeExpr *)(uintptr_t)e;
    return v->what == WHAT_OBJECT && v->host.cls && L->job->is_class(L->job->ud, v->host.cls, f, type);
}

/* -- columns ------------------------------------------------------------------------------------------------------- */
/* Finds the column of a field.  The class may have numbers since the object was captured. */
static qs_status find_column(Loops *L, Value *object, const Str *name, int *out, bool *found) {
    LoopResult *r = L->out;
    if (!object->num.v) kobject_give_number(L, object);
    LoopColumn c = {.cls = object->cls, .name = name};
    *found = object->num.v;
    if (!*found) return QS_OK;
    for (*out = 0; *out < r->ncolumns; ++*out)
        if (r->columns[*out].cls == object->cls && qstr_equal(r->columns[*out].name, name)) return QS_OK;
    *found = L->job->column(L->job->ud, object->host.cls, name, &c);
    if (!*found && object->host.source >= 0) return QS_OK;
    if (!*found)
        return kloop_decline(L, L->pos, "the field %s of an object, whose declared type is no real number", name->s);
    if (r->ncolumns == LOOP_COLUMNS) return kloop_decline(L, L->pos, "too many fields of objects in lists");
    return r->columns[r->ncolumns++] = c, QS_OK;
}

static qs_dtype memory_type(const LoopColumn *c) { return qdtype_is_int((qs_dtype)c->dtype) ? QS_I64 : QS_F64; }

static uint64_t memory_of(Loops *L, int column) {
    const LoopColumn *c = &L->out->columns[column];
    KParam p = {.name = (Str *)(uintptr_t)c->name,
                .kind = KP_ARRAY,
                .dtype = (uint8_t)memory_type(c),
                .rank = 1,
                .contiguous = true,
                .unit_last = true};
    return (uint64_t)kloop_param(L, &p, (LoopBind){LOOP_COLUMN, column});
}

static KRef load_field(Loops *L, int column, KRef number) {
    L->listed = L->f->nins;
    qs_dtype type = memory_type(&L->out->columns[column]);
    return kloop_emit(L, (KMake){K_LOAD, .own = type, .a = number, .imm = memory_of(L, column)});
}

qs_status kobject_field(Loops *L, const Value *object, const Str *name, Value *out, bool *found) {
    Value o = *object;
    int k;
    TRY(find_column(L, &o, name, &k, found));
    if (!*found) return QS_OK;
    const LoopColumn *c = &L->out->columns[k];
    KRef v = load_field(L, k, o.num.v);
    *out = (Value){.what = WHAT_NUMBER, .name = name};
    out->num = c->dtype == QS_B1                   ? kloop_bool(kloop_op(L, K_NE, v, kloop_f64(L, 0)))
               : qdtype_is_int((qs_dtype)c->dtype) ? kloop_wide(L, v)
                                                   : kloop_num(v);
    return QS_OK;
}

static void store_field(Loops *L, int column, KRef number, KRef v) {
    L->listed = L->f->nins;
    kloop_emit(L, (KMake){K_STORE, .a = number, .b = v, .imm = memory_of(L, column)});
}

qs_status kobject_set_field(Loops *L, const Value *object, const Str *name, const Value *x, bool *found) {
    const Type *type;
    int k;
    Value o = *object, v = *x;
    TRY(find_column(L, &o, name, &k, found));
    if (!*found) return QS_OK;
    if (!L->job->settable(L->job->ud, o.host.cls, name, &type))
        return kloop_decline(L, L->pos, "the field %s cannot be set", name->s);
    TRY(kloop_convert_field(L, type, name, &v));
    kbuild_learn(&L->walk, &L->out->columns[k].written);
    KRef to = v.num.kind == LOOP_INT ? v.num.v : kloop_real(L, v.num);
    return store_field(L, k, o.num.v, to), QS_OK;
}

/* -- new objects --------------------------------------------------------------------------------------------------- */
void kobject_declare(Loops *L) {
    memset(L->nmade, 0, sizeof L->nmade);
    for (int i = 0; i < L->out->nclasses; i++)
        L->latest[i] = L->out->makes[i] && L->mode != MODE_PARALLEL ? kbuild_local(&L->walk, kloop_i64(L, 0)) : 0;
}

static bool is_loop(const Node *n, void *ud) {
    return (void)ud, n->kind == N_FOR || n->kind == N_WHILE || n->kind == N_REPEAT;
}

/* Whether some variable of an open function holds object `number` of the class.  *n: how many may hold one. */
static KRef is_held(Loops *L, int cls, KRef number, int *n) {
    KRef held = kbuild_int(&L->walk, QS_B1, 0);
    for (const InlineFrame *in = L->in; in; in = in->up)
        for (int i = 0; i < in->nvars; i++) {
            const Var *v = &in->vars[i];
            bool bound = v->bound && kobject_has_number(&v->val) && v->val.cls == cls;
            bool local = !v->bound && v->kind == LOOP_ITEM && v->item_cls == cls && v->v;
            if (!bound && !local) continue;
            ++*n;
            KRef other = bound ? v->val.num.v : kbuild_get(&L->walk, v->v);
            held = kloop_op(L, K_OR, held, kloop_op(L, K_EQ, number, other));
        }
    return held;
}

/* The number of a new object.  A value that no variable holds yet, such as an argument, keeps its number because less
 * than half of the numbers are given before a variable has it, and less than half are held: no loop runs in between. */
static qs_status new_number(Loops *L, int cls, KRef *out) {
    int holders = 0;
    if (++L->nmade[cls] >= LOOP_OBJECTS / 2) return kloop_decline(L, L->pos, "many expressions that make objects");
    for (const InlineFrame *in = L->in; in != L->root; in = in->up)
        if (kquery_node(in->func->body, true, is_loop, NULL))
            return kloop_decline(L, L->pos, "an object made in a function with a loop");
    kbuild_learn(&L->walk, &L->out->makes[cls]);
    *out = kloop_i64(L, 0);
    if (!L->latest[cls]) return QS_OK; /* in the next pass */
    Str *name = qstr_cname(L->c, "objects");
    KRef first = kloop_number_param(L, name, QS_I64, (LoopBind){LOOP_OBJECT_COUNT, cls});
    kloop_flow(L, K_LOOP, 0);
    KRef next = kloop_op(L, K_ADD, kbuild_get(&L->walk, L->latest[cls]), kloop_i64(L, 1));
    next = kloop_op(L, K_AND, next, kloop_i64(L, LOOP_OBJECTS - 1));
    kbuild_set(&L->walk, L->latest[cls], next);
    kloop_flow(L, K_IF, kloop_not(L, is_held(L, cls, kloop_op(L, K_ADD, first, next), &holders)));
    kloop_flow(L, K_BREAK, 0);
    kloop_flow(L, K_END, 0);
    kloop_flow(L, K_END, 0);
    if (holders >= LOOP_OBJECTS / 2) return kloop_decline(L, L->pos, "many variables that hold objects");
    return *out = kloop_op(L, K_ADD, first, kbuild_get(&L->walk, L->latest[cls])), QS_OK;
}

/* Gives all fields their initial values, or copies the fields of another object. */
static qs_status fill_object(Loops *L, Value *o, KRef from) {
    const Str *name;
    for (int i = 0; (name = L->job->field_name(L->job->ud, o->host.cls, i)); i++) {
        bool found;
        int k;
        TRY(find_column(L, o, name, &k, &found));
        const LoopColumn *c = &L->out->columns[k];
        double real;
        memcpy(&real, &c->initial, sizeof real);
        bool integral = memory_type(c) == QS_I64;
        store_field(L, k, o->num.v,
                    from       ? load_field(L, k, from)
                    : integral ? kloop_i64(L, c->initial)
                               : kloop_f64(L, real));
    }
    return QS_OK;
}

/* from: the number of an object of the class whose fields are copied; 0: the fields have their initial values. */
static qs_status new_object(Loops *L, const void *cls, KRef from, Value *out) {
    KRef number = 0;
    if (L->module || L->callees || L->mode == MODE_PARALLEL) return kloop_decline(L, L->pos, "an object is made");
    int n = kobject_class(L, cls);
    if (n < 0) return kloop_decline(L, L->pos, "objects of more than %d classes", LOOP_CLASSES);
    TRY(new_number(L, n, &number));
    *out = kobject_value(L, n, number);
    return fill_object(L, out, from);
}

qs_status kobject_copy(Loops *L, const Value *object, Value *out) {
    Value o = *object;
    kobject_number(L, &o);
    const void *cls = o.num.v ? L->job->made_class(L->job->ud, NULL, o.host.cls) : NULL;
    if (!cls) return kloop_decline(L, L->pos, "a copy of an object with fields that are no real numbers");
    return new_object(L, cls, o.num.v, out);
}

qs_status kobject_make(Loops *L, const Type *type, const Args *args, Value *out, bool *found) {
    const void *cls = type ? L->job->made_class(L->job->ud, type, NULL) : NULL;
    int k;
    *found = cls != NULL;
    if (!cls && type && type->kind == TY_CLASS)
        return kloop_decline(L, L->pos, "an object of %s, whose fields are not all declared as real numbers or bool",
                             type->name->s);
    if (!cls) return QS_OK;
    TRY(new_object(L, cls, 0, out));
    for (int i = 0; i < args->n; i++) {
        const Str *name = args->names[i] ? args->names[i] : L->job->field_name(L->job->ud, cls, i);
        const Type *declared;
        Value v = args->at[i];
        bool exists = false;
        if (name) TRY(find_column(L, out, name, &k, &exists));
        if (!exists) return kloop_decline(L, L->pos, "a field that the class does not have");
        (void)L->job->settable(L->job->ud, cls, name, &declared);
        TRY(kloop_convert_field(L, declared, name, &v));
        store_field(L, k, out->num.v, v.num.kind == LOOP_INT ? v.num.v : kloop_real(L, v.num));
    }
    return QS_OK;
}
