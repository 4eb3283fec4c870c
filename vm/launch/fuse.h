/* fuse.h -- array expressions as single kernels, at run time. */
#ifndef VM_FUSE_H
#define VM_FUSE_H
#include "vm/interp/proto.h"
#include "vm/value/machine.h"

/* An operator at `pc` of the running frame met a large array: when it lies in a fusible expression whose leaves are all
 * there, and compiling it is worth it, the expression is computed, the frame goes on behind it, and *done is true.
 * Otherwise nothing has changed. */
qs_status qfuse_at(qs_vm *vm, Frame *f, uint32_t pc, bool *done);
qs_status qfuse_region(qs_vm *vm, Frame *f, FuseRegion *r, bool *done);
void qfuse_free(qs_vm *vm, FuseRegion *r);

enum { FUSE_LEAST = 2048 }; /* elements below which operators one by one are as good */
static inline bool qfuse_is_large(qs_vm *vm, qs_value v) {
    return v.kind == QS_ARRAY && qval_array(v)->count >= qvm(vm)->fuse_least;
}
#endif
