/* interp.h -- private to the interpreter: what the instructions are made of.
 *
 *     lang/bytecode ── instructions ──► proto.c      with literals as values
 *                                         │
 *                     interp.c   the dispatch loop: numbers at once, everything else in
 *                     step.c     one instruction on other values, of which it lets temporaries go
 *                     ops.c      what an operator, a loop, a field or an annotation does to any value
 *                     call.c     who is called with what
 *                     invoke.c   natives run; results reach who wants them
 *                     frame.c    the stack of registers; an error unwinds it
 *
 * Bytecode and values come in; changed values, output and errors go out.  The session and natives run functions by
 * qvm_call (vm/value/object.h); besides, api.c and names.c of the session ask ops.c.  Loops and expressions that are
 * worth it go on in vm/launch (jit_hooks.h).
 *
 * A temporary is written once and read once, and the instruction that reads it empties it.  So an array goes with its
 * last use, and an operand with a count of 1 may be overwritten. */
#ifndef VM_INTERP_H
#define VM_INTERP_H
#include "lang/names/overload.h"
#include "lang/syntax/operators.h"
#include "vm/interp/proto.h"

/* -- step.c: instructions, with the release of temporaries --------------------------------------------------------- */
qs_status qstep_binary(qs_vm *vm, Frame *f, Op op, qs_value *dst, qs_value *a, qs_value *b);
qs_status qstep_unary(qs_vm *vm, Frame *f, Op op, qs_value *dst, qs_value *a);
qs_status qstep_compare(qs_vm *vm, Frame *f, Op op, qs_value *a, qs_value *b, bool *out);
/* base[at[0], …]; w: the name of base and the modes, see INDEX_NAME */
qs_status qstep_get(qs_vm *vm, Frame *f, qs_value *dst, qs_value *base, int n, qs_value *at, uint32_t w);
qs_status qstep_set(qs_vm *vm, Frame *f, qs_value *base, int n, qs_value *at, qs_value *v, uint32_t w);
qs_status qstep_update(qs_vm *vm, Frame *f, Op op, qs_value *base, int n, qs_value *at, qs_value *v, uint32_t w);
qs_status qstep_closure(qs_vm *vm, Frame *f, Func *func, const uint32_t *from, qs_value *dst);
qs_value qstep_begin(qs_vm *vm, Frame *f, bool captured, uint32_t n);    /* capture or global n; owned, may be unset */
qs_status qstep_capture(qs_vm *vm, Frame *f, uint32_t n, qs_value *out); /* one that had no value when captured */
typedef enum { LIST_CELL, LIST_MATRIX, LIST_WIDE } ListKind;
qs_status qstep_own(qs_vm *vm, qs_value *at);                /* a copy takes the place of *at */
qs_status qstep_array(qs_vm *vm, qs_value k, qs_value *dst); /* a new one with the elements of k */
qs_status qstep_literal(qs_vm *vm, ListKind k, int n, qs_value *items, qs_value *dst);
qs_status qstep_literal_of(qs_vm *vm, ListKind k, qs_value *list, qs_value *dst);
qs_status qstep_range(qs_vm *vm, Frame *f, ListKind k, qs_value *bounds, bool stepped, qs_value *dst);

/* -- ops.c: what operators do -------------------------------------------------------------------------------------- */
qs_status qops_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out);
qs_status qops_concat(qs_vm *vm, int n, const qs_value *at, qs_value *out); /* at[0] + … + at[n-1], at[0] a string */
qs_status qops_unary(qs_vm *vm, Op op, qs_value a, qs_value *out);
/* *target op= v, in its storage where it is an array */
qs_status qops_update(qs_vm *vm, Op op, qs_value *target, qs_value v);
qs_status qops_decide(qs_vm *vm, qs_value v, bool *out); /* the truth of a condition; an array warns */
qs_status qops_compare(qs_vm *vm, Op op, qs_value a, qs_value b, bool *out); /* a condition that is a comparison */
/* c[0] ? c[1] : c[2] of a condition of several elements.  Whether c[1] is the value, and c[2] is not needed; otherwise
 * the value into c[2], and the others are let go. */
qs_status qops_settles(qs_vm *vm, qs_value *c, bool *out);
qs_status qops_choose(qs_vm *vm, qs_value *c);
bool qops_match(qs_vm *vm, qs_value v, qs_value pattern, bool is_list);
qs_status qops_range(qs_vm *vm, qs_dtype d, const qs_value *bounds, bool stepped, qs_value *out);
qs_status qops_for(qs_vm *vm, qs_value *r, bool stepped); /* lo, hi, step to round, lo, step, rounds */
qs_status qops_for_dims(qs_vm *vm, const qs_value *bounds, int n, bool stepped, qs_value *loops);
qs_status qops_iter(qs_vm *vm, qs_value *r);
qs_status qops_next(qs_vm *vm, qs_value *r, qs_value *item, bool *more);
qs_status qops_destruct(qs_vm *vm, qs_value v, int n, qs_value *out);
qs_status qops_append(qs_vm *vm, qs_value *list, int n, qs_value *items);
qs_status qops_cell(qs_vm *vm, int n, const qs_value *items, qs_value *out);
qs_status qops_get_field(qs_vm *vm, qs_value v, Str *name, FieldCache *cache, qs_value *out);
qs_status qops_set_field(qs_vm *vm, qs_value v, Str *name, FieldCache *cache, qs_value x);
qs_status qops_coerce(qs_vm *vm, Frame *f, qs_value *r, qs_value type, qs_value what, bool param);
qs_status qops_unset(qs_vm *vm, const char *name);

/* -- invoke.c: other callables are run, results delivered ---------------------------------------------------------- */
/* Runs a native, or with fn NULL what qcall_other calls. */
qs_status qinvoke(qs_vm *vm, Function *fn, qs_value *args, int nin, const NameTable *names, qs_value *ret,
                  uint32_t want);
/* Runs the function of the frame, which has a rule of its own, because derivatives are taken to an argument.  The frame
 * holds its arguments, and is gone afterwards. */
qs_status qinvoke_with_rule(qs_vm *vm, const Frame *frame);
/* r[1].name(r[2], …) on a foreign value, nin arguments; the result goes to r[0]. */
qs_status qinvoke_method(qs_vm *vm, qs_value *r, int nin, Str *name, const NameTable *names, uint32_t want,
                         bool *found);
/* The statement of the running function was a call of f, which was left: a warning if that had no effect. */
qs_status qinvoke_unused(qs_vm *vm, Func *f);
/* The running function is left: its results go to the caller.  Errors here are still the function's. */
qs_status qinvoke_leave(qs_vm *vm, Frame *f, qs_value *results, int have);

/* -- call.c: who is called with what ------------------------------------------------------------------------------- */
static inline CallArgs qcall_args(int nin, qs_value *in, const NameTable *names) {
    return (CallArgs){nin, in, names ? names->n : 0, names ? names->at : NULL};
}
/* Picks the overload for these arguments (lang/names/overload.h). */
qs_status qcall_select(qs_vm *vm, Function *set, const CallArgs *a, Function **out);
/* The parts of it: what the choice knows of a value and of a parameter (vm is the qs_vm); the choice for a call that is
 * described, script: among functions of the program alone; and whether only the order of two definitions decides. */
void qcall_describe(qs_vm *vm, qs_value v, GivenArg *out);
bool qcall_declared(void *vm, const Func *f, const Param *p, Declared *out);
qs_status qcall_choose(qs_vm *vm, const Function *set, bool script, const CallArgs *a, const GivenCall *call,
                       Function **out);
bool qcall_tie(qs_vm *vm, const Function *set, const CallArgs *a, const GivenCall *call, const Func **chosen,
               const Func **other);
/* The error that a call with so many arguments of these names would be, whatever they are. */
qs_status qcall_fits(qs_vm *vm, const Function *fn, const CallArgs *a);
qs_status qcall_count(qs_vm *vm, const struct qs_native_def *d, int nin); /* the same of a native, by their number */
/* Lays out the arguments as the parameters want them: names, variadic rest, unset for a default. */
qs_status qcall_arrange(qs_vm *vm, Function *fn, const CallArgs *a);
/* The same for a built-in, whose signature names its arguments. */
qs_status qcall_arrange_native(qs_vm *vm, const struct qs_native_def *d, const CallArgs *a);
/* Anything that is no function: types construct, foreign values are called. */
qs_status qcall_other(qs_vm *vm, qs_value callee, const CallArgs *a, int nout, qs_value *out);
/* A foreign value, or with `method` its method of that name; *found false: it has none, and nothing happened. */
qs_status qcall_foreign(qs_vm *vm, Foreign *f, Str *method, const CallArgs *a, int nout, qs_value *out, bool *found);
/* v.name(…): the function in a field (then *is_field), or the function called `name` with v as its first argument. */
qs_status qcall_method(qs_vm *vm, Func *from, qs_value v, Str *name, FieldCache *cache, qs_value *fn, bool *is_field);
qs_status qcall_bind_types(qs_vm *vm, Frame *f, int first);
/* With the type parameters bound in this call. */
qs_status qcall_type(qs_vm *vm, Frame *f, TypeExpr *e, const Type **out);
qs_status qcall_type_value(qs_vm *vm, const Type *t, TypeMods mods, qs_value *out);
#endif
