/* converted.c -- reports writes to the converted copy of an argument.
 *
 * A parameter that is declared with another element type gets a converted copy.  The caller does not see a write to it,
 * so the first write warns.  If the argument is memory from outside of the language (ARRAY_AS_IS), whose owner expects
 * it to change, each write is an error.
 *
 * The mark of a copy is part of its memory: Buffer.kept, which makes each lock for writing call Ctx.before_write, with
 * Buffer.owner; or the aux of a cell.  So it does not matter which variable, closure, field, loop or kernel writes.
 * The mark ends when the function that made the copy returns it, also as an item of a cell: results are ordinary.  What
 * else keeps the copy of a parameter after the call, such as a field, warns of its first write, and is ordinary then.
 * The frame of such a function has WANT_CONVERTED, so that it returns by qinvoke_leave, and other returns are not
 * tested. */
#include "vm/array/array.h"
#include "vm/base/warning.h"
#include "vm/interp/interp.h"
#include "vm/value/machine.h"

/* One parameter and conversion, which all copies that it makes share.  The mark of a cell is 1 + its index; the mark of
 * a buffer is twice that, and odd if a write is an error. */
typedef struct Conversion {
    Str *func, *param;
    const Type *given, *made;
} Conversion;

/* Returns whether the caller could see what the function writes to its argument: it is not a temporary value. */
static bool is_seen_by_caller(qs_value v) {
    return ((Obj *)v.u.p)->refs > 1 || (v.kind == QS_ARRAY && qbuf_shared(qval_array(v)->buf));
}

static uint32_t find_conversion(qs_vm *vm, Conversion x) {
    Machine *m = qvm(vm);
    for (uint32_t i = 0; i < m->nconversions; i++) {
        const Conversion *at = &m->conversions[i];
        if (at->func == x.func && at->param == x.param && at->given == x.given && at->made == x.made) return i;
    }
    qmem_grow(&m->base, &m->conversions, &m->cap_conversions, m->nconversions + 1, sizeof x);
    qval_retain(qval_object(QS_STRING, x.func)), qval_retain(qval_object(QS_STRING, x.param));
    m->conversions[m->nconversions] = x;
    return m->nconversions++;
}

void qconverted_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    for (uint32_t i = 0; i < m->nconversions; i++) {
        qval_release(vm, qval_object(QS_STRING, m->conversions[i].func));
        qval_release(vm, qval_object(QS_STRING, m->conversions[i].param));
    }
    qmem_free(&m->base, m->conversions, m->cap_conversions * sizeof *m->conversions);
    m->conversions = NULL, m->nconversions = m->cap_conversions = 0;
}

void qconverted_mark(qs_vm *vm, Frame *f, Str *param, qs_value given, qs_value copy) {
    bool array = copy.kind == QS_ARRAY;
    Buffer *b = array ? qval_array(copy)->buf : NULL;
    if (copy.kind != given.kind || copy.u.p == given.u.p || !is_seen_by_caller(given)) return;
    if (array ? qbuf_shared(b) : copy.kind != QS_CELL) return;
    uintptr_t mark =
        1 + find_conversion(vm, (Conversion){f->proto->func->name, param, qval_type(vm, given), qval_type(vm, copy)});
    if (!array) {
        ((Obj *)copy.u.p)->aux = (uint16_t)(mark <= UINT16_MAX ? mark : 0);
    } else {
        const Array *a = qval_array(given);
        b->owner = (void *)(2 * mark + (a->hdr.flags & ARRAY_AS_IS || qbuf_is_guarded(a->buf)));
        b->kept = true;
    }
    if (f->want) f->want |= WANT_CONVERTED;
}

static qs_status report_write(qs_vm *vm, uintptr_t mark, bool error) {
    Ctx *c = qvm_ctx(vm);
    const Conversion *x = &qvm(vm)->conversions[mark - 1];
    Where at = qvm(vm)->writes_at.src ? qvm(vm)->writes_at : qvm_here(vm);
    const Type *item = x->made->inner;
    const char *to = item->kind == TY_NUM ? qdtype_info[item->dtype].name : qtype_name(item);
#define WRITTEN_COPY                                                                                                   \
    "%s: argument %s is declared as %s and was given %s, so that this changes a copy converted to %s and not the "     \
    "array of the caller: pass %s, leave out the type of %s, or return %s",                                            \
        x->func->s, x->param->s, qtype_name(x->made), qtype_name(x->given), to, qtype_name(x->made), x->param->s,      \
        x->param->s
    return error ? qerr_at(c, QS_ELOCK, at, WRITTEN_COPY) : qwarn_at(c, at, WRITTEN_COPY);
}

qs_status qconverted_written(Ctx *c, Buffer *b) {
    uintptr_t mark = qbuf_mark(b);
    if (!mark) return QS_OK;
    TRY(report_write((qs_vm *)c, mark / 2, mark & 1));
    return qbuf_unmark(b), QS_OK;
}

qs_status qconverted_before_write(Ctx *c, Buffer *b) {
    TRY(qconverted_written(c, b));
    return b->kept = false, QS_OK;
}

qs_status qconverted_cell_written(qs_vm *vm, Cell *c) {
    TRY(report_write(vm, c->gc.hdr.aux, false));
    return c->gc.hdr.aux = 0, QS_OK;
}

/* A buffer that stays `kept` without a mark is harmless: the next write finds nothing to do. */
static void end_mark(qs_vm *vm, const Func *maker, qs_value v) {
    const Conversion *all = qvm(vm)->conversions;
    if (v.kind == QS_ARRAY) {
        Buffer *b = qval_array(v)->buf;
        uintptr_t mark = qbuf_mark(b) / 2;
        if (mark && all[mark - 1].func == maker->name) qbuf_unmark(b);
    } else if (v.kind == QS_CELL) {
        Cell *c = v.u.p;
        if (c->gc.hdr.aux && all[c->gc.hdr.aux - 1].func == maker->name) c->gc.hdr.aux = 0;
        for (size_t i = 0; i < c->count; i++)
            if (c->items[i].kind == QS_ARRAY) end_mark(vm, maker, c->items[i]);
    }
}

void qconverted_returned(qs_vm *vm, const Frame *f, const Func *maker, int n, const qs_value *results) {
    for (int i = 0; i < n; i++) end_mark(vm, maker, results[i]);
    for (int k = 0; k < maker->nparams; k++) {
        Buffer *b = f->base[k].kind == QS_ARRAY ? qval_array(f->base[k])->buf : NULL;
        uintptr_t mark = b ? qbuf_mark(b) : 0;
        if (mark && qvm(vm)->conversions[mark / 2 - 1].func == maker->name) b->owner = (void *)(mark & ~(uintptr_t)1);
    }
}
