/* interp.h -- internal declarations of the bytecode interpreter.
 *
 *     lang/bytecode ── instructions ──► proto.c      creates the literal values
 *                                         │
 *                     interp.c   dispatch loop; executes instructions on numbers directly
 *                     step.c     one instruction on other values; releases the temporaries that it reads
 *                     ops.c      semantics of operators, loops, fields and annotations for all values
 *                     call.c     selects the callee and arranges its arguments
 *                     invoke.c   runs natives; delivers results to the caller
 *                     converted.c  reports writes to the converted copy of an argument
 *                     frame.c    stack of registers; unwinds it after an error
 *
 * The session and natives run functions with qvm_call (vm/value/object.h); api.c and names.c of the session also call
 * ops.c.  Loops and expressions that are worth compiling continue in vm/launch (jit.h).
 *
 * A temporary is written once and read once, and the instruction that reads it clears it.  Thus an array is freed at
 * its last use, and an operand with a reference count of 1 may be overwritten. */
#ifndef VM_INTERP_H
#define VM_INTERP_H
#include "lang/names/overload.h"
#include "vm/interp/proto.h"

enum Op;

/* -- step.c: instructions, with the release of temporaries --------------------------------------------------------- */
qs_status qstep_binary(qs_vm *vm, Frame *f, enum Op op, qs_value *dst, qs_value *a, qs_value *b);
qs_status qstep_unary(qs_vm *vm, Frame *f, enum Op op, qs_value *dst, qs_value *a);
qs_status qstep_compare(qs_vm *vm, Frame *f, enum Op op, qs_value *a, qs_value *b, bool *out);
/* Reads base[at[0], …]; w: the name of base and the modes, see INDEX_NAME. */
qs_status qstep_get(qs_vm *vm, Frame *f, qs_value *dst, qs_value *base, int n, qs_value *at, uint32_t w);
/* The same; the result may share its elements with *base, and is only read. */
qs_status qstep_part(qs_vm *vm, Frame *f, qs_value *dst, qs_value *base, int n, qs_value *at, uint32_t w);
qs_status qstep_set(qs_vm *vm, Frame *f, qs_value *base, int n, qs_value *at, qs_value *v, uint32_t w);
qs_status qstep_update(qs_vm *vm, Frame *f, enum Op op, qs_value *base, int n, qs_value *at, qs_value *v, uint32_t w);
qs_status qstep_closure(qs_vm *vm, Frame *f, Func *func, const uint32_t *from, qs_value *dst);
qs_value qstep_begin(qs_vm *vm, Frame *f, bool captured, uint32_t n);    /* capture or global n; owned, may be unset */
qs_status qstep_capture(qs_vm *vm, Frame *f, uint32_t n, qs_value *out); /* capture n, if it was unset when captured */
typedef enum { LIST_CELL, LIST_MATRIX, LIST_WIDE } ListKind;
qs_status qstep_own(qs_vm *vm, qs_value *at); /* replaces *at by a copy */
/* Transposes *a, without a copy if it is a matrix that *other is multiplied by; slot: the global transpose. */
qs_status qstep_transpose(qs_vm *vm, Frame *f, qs_value *dst, qs_value *a, const qs_value *other, uint32_t slot);
qs_status qstep_settle(qs_vm *vm, qs_value *at);             /* the same if it shares its elements */
qs_status qstep_array(qs_vm *vm, qs_value k, qs_value *dst); /* a new array with the elements of k */
qs_status qstep_literal(qs_vm *vm, ListKind k, int n, qs_value *items, qs_value *dst);
qs_status qstep_literal_of(qs_vm *vm, ListKind k, qs_value *list, qs_value *dst);
qs_status qstep_range(qs_vm *vm, Frame *f, ListKind k, qs_value *bounds, bool stepped, qs_value *dst);
qs_status qstep_span(qs_vm *vm, Frame *f, qs_value *bounds, bool stepped, qs_value *dst); /* dst < bounds */

/* -- ops.c: semantics of operators --------------------------------------------------------------------------------- */
qs_status qops_binary(qs_vm *vm, enum Op op, qs_value a, qs_value b, qs_value *out);
qs_status qops_concat(qs_vm *vm, int n, const qs_value *at, qs_value *out); /* at[0] + … + at[n-1]; at[0] is a string */
qs_status qops_unary(qs_vm *vm, enum Op op, qs_value a, qs_value *out);
/* Computes *target op= v, in place if *target is an array. */
qs_status qops_update(qs_vm *vm, enum Op op, qs_value *target, qs_value v);
qs_status qops_decide(qs_vm *vm, qs_value v, bool *out); /* truth of a condition; warns about an array */
qs_status qops_compare(qs_vm *vm, enum Op op, qs_value a, qs_value b,
                       bool *out); /* truth of a comparison as condition */
/* Evaluate c[0] ? c[1] : c[2] if c[0] has several elements.  qops_settles returns whether c[1] alone is the result, so
 * that c[2] need not be evaluated.  Otherwise qops_choose stores the result in c[2] and releases the others. */
qs_status qops_settles(qs_vm *vm, qs_value *c, bool *out);
qs_status qops_choose(qs_vm *vm, qs_value *c);
bool qops_match(qs_vm *vm, qs_value v, qs_value pattern, bool is_list);
qs_status qops_range(qs_vm *vm, qs_dtype d, const qs_value *bounds, bool stepped, qs_value *out);
qs_status qops_for(qs_vm *vm, qs_value *r, bool stepped); /* r: lo, hi, step becomes iteration, lo, step, iterations */
qs_status qops_for_dims(qs_vm *vm, const qs_value *bounds, int n, bool stepped, qs_value *loops);
qs_status qops_iter(qs_vm *vm, qs_value *r);
qs_status qops_next(qs_vm *vm, qs_value *r, qs_value *item, bool *more);
qs_status qops_destruct(qs_vm *vm, qs_value v, int n, qs_value *out);
qs_status qops_append(qs_vm *vm, qs_value *list, int n, qs_value *items);
qs_status qops_cell(qs_vm *vm, int n, const qs_value *items, qs_value *out);
qs_status qops_get_field(qs_vm *vm, qs_value v, Str *name, FieldCache *cache, qs_value *out);
qs_status qops_set_field(qs_vm *vm, qs_value v, Str *name, FieldCache *cache, qs_value x);
qs_status qops_coerce(qs_vm *vm, Frame *f, qs_value *r, qs_value type, qs_value what, bool param);

/* -- converted.c: converted copies of arguments -------------------------------------------------------------------- */
/* Marks the copy of the argument `given` that frame f has made, if the caller could see a write to its argument. */
void qconverted_mark(qs_vm *vm, Frame *f, Str *param, qs_value given, qs_value copy);
/* Warns, or fails, if the memory is such a copy; a warning ends the mark. */
qs_status qconverted_written(Ctx *c, Buffer *b);
qs_status qconverted_cell_written(qs_vm *vm, Cell *c);
qs_status qconverted_before_write(Ctx *c, Buffer *b); /* Ctx.before_write, until there is a tape */
void qconverted_returned(qs_vm *vm, const Frame *f, const Func *maker, int n, const qs_value *results);
void qconverted_close(qs_vm *vm);

/* -- invoke.c: running natives and other callables, delivery of results -------------------------------------------- */
/* Runs a native, or with fn NULL any other callable (qcall_other). */
qs_status qinvoke(qs_vm *vm, Function *fn, qs_value *args, int nin, const NameTable *names, qs_value *ret,
                  uint32_t want);
/* Runs the function of the frame, which has a user-defined gradient rule, while gradients with respect to an argument
 * are recorded.  The frame holds the arguments and is popped afterwards. */
qs_status qinvoke_with_rule(qs_vm *vm, const Frame *frame);
/* Calls r[1].name(r[2], …) on a foreign value with nin arguments; stores the result in r[0]. */
qs_status qinvoke_method(qs_vm *vm, qs_value *r, int nin, Str *name, const NameTable *names, uint32_t want,
                         bool *found);
/* Called after a call statement of f has returned: warns if a program called a library function without side effects.
 * */
qs_status qinvoke_unused(qs_vm *vm, Func *f);
/* Leaves the running function and delivers its results to the caller.  Errors here are reported for the function. */
qs_status qinvoke_leave(qs_vm *vm, Frame *f, qs_value *results, int have);

/* -- call.c: selection of the callee, arrangement of arguments ----------------------------------------------------- */
static inline CallArgs qcall_args(int nin, qs_value *in, const NameTable *names) {
    return (CallArgs){nin, in, names ? names->n : 0, names ? names->at : NULL, 0};
}
/* How a launch passes its arguments.  It selects among functions of the program only. */
typedef struct LaunchRules {
    bool (*skips)(const Param *); /* parameters that the launch sets, such as pos */
    bool partial;                 /* an argument that is null or missing fits every type */
} LaunchRules;
/* Picks the overload for these arguments (lang/names/overload.h).  launch: NULL for a call. */
qs_status qcall_select(qs_vm *vm, Function *set, const CallArgs *a, const LaunchRules *launch, Function **out);
/* The steps of qcall_select.  qcall_declared gives the properties of a parameter that overload resolution uses (vm is
 * the qs_vm).  qcall_tie returns whether two candidates differ only in their order of definition. */
bool qcall_declared(void *vm, const Func *f, const Param *p, Declared *out);
bool qcall_tie(qs_vm *vm, const Function *set, const CallArgs *a, const GivenCall *call, const Func **chosen,
               const Func **other);
/* Checks the number and the names of the arguments, not their values. */
qs_status qcall_fits(qs_vm *vm, const Function *fn, const CallArgs *a);
qs_status qcall_count(qs_vm *vm, const struct qs_native_def *d, int nin); /* checks the number for a native */
/* Arranges the arguments in parameter order: places named ones, collects variadic ones, sets defaults to unset. */
qs_status qcall_arrange(qs_vm *vm, Function *fn, const CallArgs *a);
/* Moves the arguments of a built-in, whose signature names its parameters, to the top of the stack in the order of the
 * parameters.  An optional argument that is left out before a named one becomes null. */
qs_status qcall_arrange_native(qs_vm *vm, const struct qs_native_def *d, const CallArgs *a, qs_value **args, int *nin);
/* Calls a value that is not a function: a type constructs a value, a foreign value is called. */
qs_status qcall_other(qs_vm *vm, qs_value callee, const CallArgs *a, int nout, qs_value *out);
/* Calls a foreign value, or with `method` its method of that name; *found false: it has none, and nothing was called.
 */
qs_status qcall_foreign(qs_vm *vm, Foreign *f, Str *method, const CallArgs *a, int nout, qs_value *out, bool *found);
/* Resolves v.name(…): the function in a field (then *is_field), or the function `name` with v as its first argument. */
qs_status qcall_method(qs_vm *vm, Func *from, qs_value v, Str *name, FieldCache *cache, qs_value *fn, bool *is_field);
qs_status qcall_bind_types(qs_vm *vm, Frame *f, int first);
/* Evaluates a type expression with the type parameters bound in this call. */
qs_status qcall_type(qs_vm *vm, Frame *f, TypeExpr *e, const Type **out);
qs_status qcall_type_value(qs_vm *vm, const Type *t, TypeMods mods, qs_value *out);
#endif
