/* loop_object.c -- lowers objects that are items of lists, or that variables hold in turn.
 *
 * Each object of their classes that enters the loop has a number, which the VM assigns before each run: an object that
 * is found several times, in lists or variables, has one number.  The code represents the object by its number.  A
 * field that the loop uses is a column: memory with the value of the field in each object of the class.  The VM copies
 * the values there before the run, and copies written columns back afterwards (vm/launch/list_objects.c).  So a change
 * is seen by every name of the object.
 *
 * Objects of other classes have variables in place of columns (loop_variable.c). */
#include "lang/kernel/lower/loop/loop_internal.h"

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

qs_status kobject_field(Loops *L, const Value *object, const Str *name, Value *out, bool *found) {
    Value o = *object;
    int k;
    TRY(find_column(L, &o, name, &k, found));
    if (!*found) return QS_OK;
    const LoopColumn *c = &L->out->columns[k];
    L->listed = L->f->nins;
    KRef v = kloop_emit(L, (KMake){K_LOAD, .own = memory_type(c), .a = o.num.v, .imm = memory_of(L, k)});
    *out = (Value){.what = WHAT_NUMBER, .name = name};
    out->num = c->dtype == QS_B1                   ? kloop_bool(kloop_op(L, K_NE, v, kloop_f64(L, 0)))
               : qdtype_is_int((qs_dtype)c->dtype) ? kloop_wide(L, v)
                                                   : kloop_num(v);
    return QS_OK;
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
    L->listed = L->f->nins;
    KRef to = v.num.kind == LOOP_INT ? v.num.v : kloop_real(L, v.num);
    kloop_emit(L, (KMake){K_STORE, .a = o.num.v, .b = to, .imm = memory_of(L, k)});
    return QS_OK;
}
