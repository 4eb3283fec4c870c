/* proto.h -- compiled functions and the frames in which they run.
 *
 * There is one stack of values, in address space that is reserved once.  It never moves, so natives may keep pointers
 * to their arguments while they call back.  A frame's registers are a window of it; a callee's window begins at its
 * first argument, inside the caller's, and the frame adds where the results go and where the caller goes on.  Every
 * slot always holds a valid value: whoever writes one releases what was there.
 *
 * Calls from script to script do not recurse in C.  Natives that call back do, at most MAX_NESTING deep. */
#ifndef VM_PROTO_H
#define VM_PROTO_H
#include "lang/bytecode/bytecode.h"
#include "vm/array/array.h"

enum { MAX_FRAMES = 200000, MAX_NESTING = 190 /* native, script, native …: bounds the C stack */, STACK_SLACK = 512 };

typedef struct {
    const Class *shape;
    uint32_t slot;
} FieldCache; /* for objects of that class: field, or global of a method */

struct Proto {
    Chunk chunk;
    qs_value *k; /* literals: see qproto_of */
    FieldCache *caches;
    Func *func;
    struct Proto *next; /* all there are */
    uint32_t nparams, nouts;
    bool variadic; /* otherwise nparams arguments without names need no preparation */
};

typedef struct Frame {
    const uint32_t *pc;   /* after the instruction that is being executed */
    qs_value *base, *end; /* its registers */
    qs_value *ret;        /* where the results go; holds the function while it runs */
    Proto *proto;
    Function *fn;
    uint32_t want; /* results wanted, or WANT_MAYBE */
} Frame;

/* -- proto.c ------------------------------------------------------------------------------------------------------- */
/* The compiled form of a function, made on first use.  Literals are values; a type that depends on type parameters is a
 * nil with its TypeExpr in u.p, functions and argument names are nils with Func and NameTable. */
qs_status qproto_of(qs_vm *vm, Func *f, bool echo, Proto **out);
void qproto_drop(qs_vm *vm, Proto *p);
qs_status qproto_table(qs_vm *vm, const NumTable *t, qs_value *out); /* an array of its own */
void qproto_close(qs_vm *vm);
enum { LIT_AUX_TYPE = 16, LIT_AUX_FUNC, LIT_AUX_NAMES, LIT_AUX_UNIT }; /* aux of such nils */

/* -- slots of the stack -------------------------------------------------------------------------------------------- */
static inline void qinterp_put(qs_vm *vm, qs_value *slot, qs_value v) { /* takes the reference of v */
    qs_value old = *slot;
    *slot = v;
    qval_release(vm, old);
}
static inline void qinterp_clear(qs_vm *vm, qs_value *slot) { qinterp_put(vm, slot, qs_nil()); }
static inline qs_value qval_unset(void) {
    qs_value v = {QS_NIL, NIL_UNSET, {0}};
    return v;
}
static inline bool qval_is_unset(qs_value v) { return v.kind == QS_NIL && v.aux == NIL_UNSET; }
#endif
