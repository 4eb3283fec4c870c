/* proto.h -- declares compiled functions and their frames.
 *
 * There is one stack of values, in address space that is reserved once.  It never moves, so natives may keep pointers
 * to their arguments while they call back.  The registers of a frame are a window of this stack.  The window of a
 * callee begins at its first argument, inside the window of the caller.  The frame also stores the destination of the
 * results and the instruction pointer.  Every slot always holds a valid value: code that writes a slot releases the
 * value that was there.
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
} FieldCache; /* last lookup: for objects of class `shape`, the slot of the field or the global of the method */

struct Proto {
    Chunk chunk;
    qs_value *k; /* literals: see qproto_of */
    FieldCache *caches;
    Func *func;
    struct Proto *next; /* list of all Protos */
    uint32_t nparams, nouts;
    struct FunctionState *calls; /* function_launch.c; NULL: not examined yet */
    int32_t look;                /* calls until it is examined again */
    bool variadic;               /* if false, a call with nparams unnamed arguments needs no arranging */
};

enum { WANT_CONVERTED = 256 }; /* the frame has marked a copy (converted.c) */

typedef struct Frame {
    const uint32_t *pc;   /* points behind the current instruction */
    qs_value *base, *end; /* registers of the frame */
    qs_value *ret;        /* destination of the results; holds the function while it runs */
    Proto *proto;
    Function *fn;
    uint32_t want; /* number of results that the caller needs, or WANT_MAYBE; perhaps with WANT_CONVERTED */
} Frame;

/* -- proto.c ------------------------------------------------------------------------------------------------------- */
/* Returns the compiled function, compiling it on first use.  Literals are stored in `k` as values.  A type that depends
 * on type parameters is a nil with its TypeExpr in u.p; functions and argument names are nils with Func or NameTable.
 */
qs_status qproto_of(qs_vm *vm, Func *f, bool echo, Proto **out);
void qproto_drop_unit(qs_vm *vm, const Unit *u); /* drops the functions of a unit that is unloaded */
qs_status qproto_table(qs_vm *vm, const NumTable *t, qs_value *out); /* creates a new array */
void qproto_close(qs_vm *vm);
enum { LIT_AUX_TYPE = 16, LIT_AUX_FUNC, LIT_AUX_NAMES, LIT_AUX_UNIT }; /* aux of the nils that hold a pointer */
#endif
