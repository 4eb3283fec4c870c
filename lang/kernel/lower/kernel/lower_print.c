/* lower_print.c -- lowers print and printf in kernels.
 *
 *     print "x is ", x[pos] ──► a record in an array that the launch passes: statement, position, numbers of the values
 *     after the launch      ──► vm/launch/print.c sorts the records by position and writes their texts
 *
 * A position reserves room for a record by an atomic addition, and stores the record if the array has room for it.  The
 * texts and types of a statement are constants, which the specialization keeps (KPrint). */
#include "lang/kernel/lower/kernel/lower_builtin_table.h"

enum { MAX_NUMBERS = 256 }; /* in a record */

typedef struct PrintSite {
    KPrint print;
    struct PrintSite *before;
} PrintSite;

typedef struct {
    KPrint print;
    KRef numbers[MAX_NUMBERS];
    bool unknown;
} PrintRecord;

static qs_status add_number(Lower *L, PrintRecord *r, KRef x) {
    if (r->print.nnumbers == MAX_NUMBERS)
        return klower_error(L, QS_ESHAPE, L->pos, "one line of print can show %d numbers at most", MAX_NUMBERS);
    r->numbers[r->print.nnumbers++] = klnum_cast_ref(L, x, QS_F64);
    return QS_OK;
}

static qs_status add_part(Lower *L, PrintRecord *r, qs_dtype d, KRef x) {
    if (d != QS_I64 && d != QS_U64) return add_number(L, r, x);
    TRY(add_number(L, r, klnum_bin(L, K_SHR, x, klnum_int(L, d, 32))));
    return add_number(L, r, klnum_bin(L, K_AND, x, klnum_int(L, d, UINT32_MAX)));
}

static qs_status add_values(Lower *L, PrintRecord *r, const Val *v) {
    Val all;
    TRY(klval_components(L, v, &all));
    if (all.kind == V_UNKNOWN) return r->unknown = true, QS_OK;
    KShown *s = &r->print.shown[r->print.nshown++];
    qs_dtype d = (qs_dtype)all.dtype;
    int64_t n = klval_count(&all);
    if (all.rank == 0 && klnum_is_weak(klval_num(&all, 0))) d = klnum_weak_dtype(L, klval_num(&all, 0).re.weak);
    *s = (KShown){.dtype = (uint8_t)d, .rank = all.rank};
    memcpy(s->dims, all.dims, sizeof s->dims);
    qs_dtype part = kir_value_dtype(d);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k <= qdtype_is_complex(d); k++)
            TRY(add_part(L, r, part, klnum_part(L, klval_num(&all, i), k, part)));
    return QS_OK;
}

static qs_status add_shown(Lower *L, PrintRecord *r, const Val *v) {
    switch (v->kind) {
    case V_STRING: r->print.shown[r->print.nshown++] = (KShown){.text = v->u.str}; return QS_OK;
    case V_UNKNOWN: r->unknown = true; return QS_OK;
    case V_NUM:
    case V_MEMORY:
    case V_ARRAY: return add_values(L, r, v);
    default:
        return klower_error(L, QS_ETYPE, L->pos, "print shows texts, numbers and small arrays in a kernel, not %s%s",
                            klval_type_name(L, v), v->kind == V_OBJECT ? "; print its fields" : "");
    }
}

/* Adds x to an element of the log, and returns the element before. */
static KRef add_to(Lower *L, uint64_t log, int element, KRef x) {
    KRef at = klnum_int(L, QS_I64, element);
    if (!L->job->serial)
        return klnum_emit(L, (KMake){K_FETCH, .own = QS_F64, .flag = KA_ADD, .a = at, .b = x, .imm = log});
    KRef before = klnum_emit(L, (KMake){K_LOAD, .own = QS_F64, .a = at, .imm = log});
    klnum_emit(L, (KMake){K_STORE, .a = at, .b = klnum_bin(L, K_ADD, before, x), .imm = log});
    return before;
}

static void store_number(Lower *L, uint64_t log, KRef first, int i, KRef x) {
    KRef at = klnum_bin(L, K_ADD, first, klnum_int(L, QS_I64, KLOG_FIRST + i));
    klnum_emit(L, (KMake){K_STORE, .a = at, .b = x, .imm = log});
}

static void store_record(Lower *L, const PrintRecord *r) {
    uint64_t log = (uint64_t)klower_log_param(L);
    int rank = L->job->rank, size = 1 + rank + r->print.nnumbers;
    KRef count = klnum_const(L, QS_F64, size);
    add_to(L, log, KLOG_RECORDS, klnum_const(L, QS_F64, 1));
    KRef used = add_to(L, log, KLOG_NUMBERS, count);
    KRef all = klnum_cast_ref(L, klnum_pure(L, (KMake){K_DIM, .imm = log << 8}), QS_F64);
    KRef room = klnum_bin(L, K_SUB, all, klnum_const(L, QS_F64, KLOG_FIRST));
    kbuild_flow(&L->walk, K_IF, klnum_bin(L, K_LE, klnum_bin(L, K_ADD, used, count), room));
    KRef first = klnum_cast_ref(L, used, QS_I64);
    store_number(L, log, first, 0, klnum_const(L, QS_F64, L->nprints));
    for (int i = 0; i < rank; i++) {
        KRef pos = klnum_pure(L, (KMake){K_POS, .own = QS_I32, .imm = (uint64_t)i});
        store_number(L, log, first, 1 + i, klnum_cast_ref(L, pos, QS_F64));
    }
    for (int i = 0; i < r->print.nnumbers; i++) store_number(L, log, first, 1 + rank + i, r->numbers[i]);
    kbuild_end(&L->walk);
}

static qs_status lower_print(Lower *L, bool formats, const Val *args, int nargs) {
    Where at = klower_where(L, L->pos);
    PrintRecord *r = qarena_alloc(L->arena, sizeof *r);
    r->print = (KPrint){.src = at.src, .pos = at.pos, .formats = formats};
    r->print.shown = qarena_alloc(L->arena, qmem_size((size_t)nargs, sizeof(KShown), sizeof(KShown)));
    for (int i = 0; i < nargs; i++) TRY(add_shown(L, r, &args[i]));
    if (r->unknown) return QS_OK;
    if (formats && !r->print.shown[0].text)
        return klower_error(L, QS_ETYPE, L->pos, "printf: the format must be a string");
    PrintSite *s = qarena_alloc(L->arena, sizeof *s);
    *s = (PrintSite){r->print, L->prints};
    L->prints = s, L->nprints++;
    return store_record(L, r), QS_OK;
}

qs_status klprint_statement(Lower *L, const Node *n) {
    const ArgList *list = &n->u.print;
    Val *v = qarena_alloc(L->arena, qmem_size((size_t)list->n, sizeof *v, sizeof *v));
    for (int i = 0; i < list->n; i++) TRY(klexpr_lower(L, list->at[i].value, &v[i]));
    L->pos = n->pos;
    return lower_print(L, false, v, list->n);
}

qs_status klprint_call(Lower *L, const BuiltinCall *c, Val *out) {
    *out = (Val){.kind = V_VOID};
    return lower_print(L, c->imm, c->args, c->nargs);
}

void klprint_keep(const Lower *L, Arena *arena) {
    LowerResult *out = L->out;
    out->nprints = L->nprints;
    out->prints = qarena_alloc(arena, qmem_size((size_t)L->nprints, sizeof(KPrint), sizeof(KPrint)));
    int i = L->nprints;
    for (const PrintSite *s = L->prints; s; s = s->before) {
        KPrint *p = &out->prints[--i];
        *p = s->print;
        p->shown = qarena_alloc(arena, qmem_size((size_t)p->nshown, sizeof *p->shown, sizeof *p->shown));
        if (p->nshown) memcpy(p->shown, s->print.shown, (size_t)p->nshown * sizeof *p->shown);
    }
}
