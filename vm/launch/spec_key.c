/* spec_key.c -- computes the specialization key of a value and compares it with an earlier one. */
#include "vm/launch/spec_key.h"

#include "lang/syntax/ast.h"
#include "vm/value/trace.h"

#include <math.h>

typedef struct {
    uint64_t number, array;
    bool which;
} KeyParts;
static const uint64_t layout = ARRAY_DTYPE | ARRAY_RANK | ARRAY_GAPLESS | ARRAY_UNIT_LAST;
static const KeyParts key_parts[] = {
    [SPEC_KERNEL] = {NUM_24 | NUM_INT | NUM_53, layout, true},
    [SPEC_LOOP] = {NUM_20 | NUM_31 | NUM_MINUS_ZERO, layout | ARRAY_ALIGNED | ARRAY_WRITABLE | ARRAY_SMALL, false},
    [SPEC_EXPRESSION] = {0, ARRAY_DTYPE, false}};

static unsigned number_facts(double x) {
    double a = fabs(x);
    if (x != floor(x)) return 0;
    return (a <= 0x1p20) * NUM_20 | (a <= 0x1p24) * NUM_24 | (a < 0x1p31) * NUM_INT | (a <= 0x1p31) * NUM_31 |
           (a <= 0x1p53) * NUM_53 | (x == 0 && signbit(x)) * NUM_MINUS_ZERO;
}

int qkey_bits(qs_value v) {
    if ((v.kind != QS_INT && v.kind != QS_NUM) || v.aux == NUM_SMOOTH) return 0;
    uint64_t f = number_facts(qval_number(v));
    return f & NUM_24 ? 24 : f & NUM_INT ? 31 : f & NUM_53 || v.kind == QS_INT ? 53 : 0;
}

static bool is_small(const Array *a) {
    for (int d = 0; d < a->rank; d++)
        if (a->dims[d] > 1 << 20) return false;
    return true;
}

static uint64_t array_facts(const Array *a, uint64_t wanted) {
    uint64_t f = (uint64_t)a->dtype | (uint64_t)a->rank << 8 | (a->contiguous ? ARRAY_GAPLESS : 0) |
                 (qkey_unit_last(a) ? ARRAY_UNIT_LAST : 0);
    if (wanted & ARRAY_ALIGNED && qarr_aligned(a)) f |= ARRAY_ALIGNED;
    if (wanted & ARRAY_WRITABLE && !a->buf->readonly && !qbuf_is_guarded(a->buf)) f |= ARRAY_WRITABLE;
    if (wanted & ARRAY_SMALL && is_small(a)) f |= ARRAY_SMALL;
    return f & wanted;
}

static uint64_t address_bits(const void *p) { return (uint64_t)(uintptr_t)p; }

static uint64_t function_facts(const Function *f, bool which) {
    return f->fkind == FN_SCRIPT   ? f->ast->id
           : f->fkind == FN_NATIVE ? address_bits(f->native)
           : which                 ? address_bits(f)
                                   : 0;
}

uint64_t qkey_facts(qs_value v, SpecKind spec_kind) {
    const KeyParts *t = &key_parts[spec_kind];
    Str *text = v.u.p;
    uint64_t f = 0;
    switch ((qs_kind)v.kind) {
    case QS_NUM: f = v.aux != NUM_SMOOTH ? number_facts(v.u.f) & t->number : 0; break;
    case QS_INT: f = t->number ? number_facts((double)v.u.i) & t->number : 0; break;
    case QS_ARRAY: f = array_facts(v.u.p, t->array); break;
    case QS_STRING:
        if (t->which) f = (uint64_t)text->hash << 16 ^ text->len;
        else if (spec_kind == SPEC_LOOP && qstr_is_ascii(text)) f = TEXT_ASCII | (text->len == 1 ? TEXT_CHAR : 0);
        break;
    case QS_FUNCTION: f = function_facts(v.u.p, t->which); break;
    case QS_OBJECT: f = address_bits(((const Object *)v.u.p)->cls); break;
    case QS_TYPE: f = t->which ? address_bits(((const TypeValue *)v.u.p)->type) : 0; break;
    default: f = v.aux; break;
    }
    return f | (uint64_t)v.kind << 56;
}

int qkey_channels(qs_vm *vm) { return qvm(vm)->bundles || qvm(vm)->config.compile_for ? 1 : MAX_CHANNELS; }

static const uint64_t number_without_facts = (uint64_t)QS_NUM << 56;
void qkey_any_number(Captured *e) { e->any_number = true, e->facts = number_without_facts; }

/* -- known values beyond the key ----------------------------------------------------------------------------------- */
double qkey_element(qs_vm *vm, Array *a, size_t i) {
    const void *p;
    qtape_enter(vm); /* not recorded here: the elements are recorded as parameters (record.c) */
    qs_status s = qarr_read(vm, a, &p);
    qtape_leave(vm);
    if (s != QS_OK) return 0;
    return qdtype_get((qs_dtype)a->dtype, (const char *)p + qarr_offset(a, i) * qdtype_size((qs_dtype)a->dtype));
}

void qkey_know_extent(Captured *e, const Array *a, int axis) {
    e->dims_known |= (uint8_t)(1u << axis);
    e->dims[axis] = a->dims[axis];
}

const Str *qkey_know_text(Captured *e, qs_value string) {
    if (!e->value_known) e->kept = qval_retain(string), e->value_known = true;
    return e->kept.u.p;
}

void qkey_know_overloads(Captured *e, qs_value set) {
    if (!e->value_known) e->kept = qval_retain(set), e->value_known = true;
    e->num[0] = ((const Function *)set.u.p)->nmembers;
}

void qkey_know_number(Captured *e, qs_value v) { e->value_known = true, e->num[0] = qval_number(v); }

static bool is_sole(const Array *a) {
    const Buffer *b = a->buf;
    bool ours = !b->foreign && !b->readonly && !b->lent && !b->given && b->home < 0;
    bool plain = !b->kept && !a->transposed && !a->trace && !a->family; /* a write has no other effect */
    return a->hdr.refs == 1 && !qbuf_shared(a->buf) && ours && plain;
}

static const Class *class_of(qs_value v) {
    const Class *cls = v.kind == QS_OBJECT ? ((const Object *)v.u.p)->cls : NULL;
    return cls && cls->kind != CLASS_DYNAMIC ? cls : NULL;
}

static ItemKey key_of_item(qs_value v) {
    const Array *a = v.kind == QS_ARRAY ? v.u.p : NULL;
    bool number = v.kind == QS_NUM || v.kind == QS_INT || v.kind == QS_BOOL;
    bool vector = a && a->rank == 1 && a->ndim == 1 && qdtype_is_real((qs_dtype)a->dtype) && !a->trace;
    ItemKey k = {.kind = number || vector ? (int)v.kind : -2, .cls = class_of(v)};
    if (vector) k.dtype = a->dtype, k.count = a->count;
    if (k.cls) k.kind = QS_OBJECT;
    return k;
}

static bool same_item(const ItemKey *a, const ItemKey *b) {
    return a->kind == b->kind && a->cls == b->cls && a->dtype == b->dtype && a->count == b->count;
}

static ItemKey key_of_items(const Cell *c) {
    const ItemKey none = {.kind = -2}, empty = {.kind = -1};
    ItemKey k = c->count ? key_of_item(c->items[0]) : empty;
    bool changes = k.kind != QS_OBJECT && k.kind != QS_ARRAY;
    if (c->rank != 1 || (changes && (c->elem->kind != TY_ANY || c->gc.hdr.aux))) return none;
    for (size_t i = 1; i < c->count && k.kind != -2; i++) {
        if ((int)c->items[i].kind != k.kind) return none;
        if (changes) continue;
        ItemKey item = key_of_item(c->items[i]);
        if (!same_item(&k, &item)) return none;
    }
    return k;
}

bool qkey_know_list(Captured *e, qs_value cell) {
    ItemKey k = key_of_items(cell.u.p);
    if (k.kind > -2) e->list = true, e->items = k;
    return k.kind > -2;
}

bool qkey_know_sole(Captured *e, const Array *a) { return e->sole = is_sole(a); }

bool qkey_know_positive(Captured *e, qs_value v, int axis) {
    bool array = v.kind == QS_ARRAY, number = v.kind == QS_NUM || v.kind == QS_INT;
    if (array ? ((const Array *)v.u.p)->dims[axis] < 1 : !number || !(qval_number(v) >= 1)) return false;
    if (array) e->dims_positive |= (uint8_t)(1u << axis);
    else e->positive = true;
    return true;
}

static bool same_value(const Captured *e, qs_value v) {
    if (v.kind == QS_STRING) return qstr_equal(e->kept.u.p, v.u.p);
    if (v.kind == QS_FUNCTION) return e->kept.u.p == v.u.p && e->num[0] == ((const Function *)v.u.p)->nmembers;
    if (v.kind == QS_COMPLEX)
        return e->num[0] == ((const Complex *)v.u.p)->re && e->num[1] == ((const Complex *)v.u.p)->im;
    return e->num[0] == qval_number(v);
}

static bool same_items(const Captured *e, const Cell *c) {
    ItemKey k = key_of_items(c);
    return same_item(&k, &e->items);
}

static bool same_dims(const Captured *e, const Array *a) {
    for (int d = 0; d < a->rank; d++)
        if (e->dims_known >> d & 1 && a->dims[d] != e->dims[d]) return false;
    return true;
}

static bool has_elements(const Captured *e, const Array *a) {
    for (int d = 0; d < a->rank; d++)
        if (e->dims_positive >> d & 1 && a->dims[d] < 1) return false;
    return true;
}

static bool same_elements(qs_vm *vm, const Captured *e, Array *a) {
    for (size_t i = 0; i < a->count; i++)
        if (qkey_element(vm, a, i) != e->vec[i]) return false;
    return true;
}

bool qkey_agrees(qs_vm *vm, const Captured *e, qs_value v, SpecKind t) {
    if (e->any_number && v.kind == QS_NUM) return true;
    if (qkey_facts(v, t) != e->facts) return false;
    if (e->dims_known && !same_dims(e, v.u.p)) return false;
    if (e->dims_positive && !has_elements(e, v.u.p)) return false;
    if (e->positive && !(qval_number(v) >= 1)) return false;
    if (e->sole && !is_sole(v.u.p)) return false;
    if (e->list && !same_items(e, v.u.p)) return false;
    if (!e->value_known) return true;
    return v.kind == QS_ARRAY ? same_elements(vm, e, v.u.p) : same_value(e, v);
}
