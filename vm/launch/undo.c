/* undo.c -- see undo.h.  A function that calls itself, or a loop that calls one, may fail at any depth; then its stores
 * are taken back, and the interpreter runs it, which reports the error in its place.  A speculative version of a loop
 * may fail, too; then the exact version runs. */
#include "vm/launch/undo.h"
#include "vm/array/array.h"

/* A copy takes about this time for each byte, in nanoseconds. */
static const double per_byte = 0.15;

static bool is_kept(const Undo *u, const Array *a) {
    for (int i = 0; i < u->n; i++)
        if (u->array[i] == a) return true;
    return false;
}

qs_status qundo_keep(qs_vm *vm, Undo *u, Array *a) {
    if (is_kept(u, a)) return QS_OK;
    TRY(qarr_copy(vm, a, &u->before[u->n]));
    return u->array[u->n++] = a, QS_OK;
}

double qundo_cost(const Array *a) { return per_byte * (double)a->count * (double)qdtype_size((qs_dtype)a->dtype); }

qs_status qundo_take_back(qs_vm *vm, Undo *u) {
    for (int i = 0; i < u->n; i++) TRY(qarr_assign(vm, u->array[i], u->before[i]));
    return QS_OK;
}

void qundo_free(qs_vm *vm, Undo *u) {
    for (int i = 0; i < u->n; i++) qarr_release(vm, u->before[i]);
    u->n = 0;
}
