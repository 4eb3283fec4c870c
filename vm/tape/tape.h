/* tape.h -- records operations on traced values, and computes derivatives from the record.
 *
 *     tape.c          traces, nodes and levels             hooks.c         operators, literals, built-ins
 *     backward.c      the backward and forward passes      hooks_index.c   x[...]
 *     rule.c          rules written in the language        small_op.c      arithmetic of numbers and short arrays
 *     saved_arrays.c  contents that a pass reads again     matrix_product.c  products of matrices
 *     view.c          views, as Python takes them
 *
 * The interpreter calls the hooks. vm/launch records its launches. stdlib/grad.c and the bridge open levels and run
 * the passes.  A pass turns adjoints of results into adjoints of arguments, or tangents of arguments into tangents of
 * results.
 *
 * The record is a graph of reference-counted nodes.  A node is an operation that ran: a rule, and the traces of its
 * operands.  A trace is one result of a node.  The array that holds this result points to the trace (Array.trace).  A
 * traced number is an object of kind QS_TRACED, which no fast path of the interpreter accepts as a number.  A write
 * to an array gives it the trace of its new contents and leaves it the same array, so cells, objects, closures and
 * recursion need no special rules.  Nodes that are not reachable any more are freed with all that they saved.
 *
 * A level is a running call of grad, vjp and so on.  It makes leaves of its arguments; a leaf is a new trace even if
 * the argument has one.  An operation is recorded if an operand depends on a running level.  A pass over the nodes of
 * a finished level computes without recording for that level, but still records for the other levels.  Levels of
 * several threads can run at the same time; an operation is recorded for every level that its operands depend on.  A
 * level owns a bit of a mask until it ends, then another level can get that bit; serial numbers tell which of the two
 * a node belongs to.  A pass visits only the nodes between a result and its own leaves, so nested derivatives are not
 * confused: the identity of a leaf replaces the tags of other systems.
 *
 * Reading the elements of an array that a running level has traced is an error unless a function of this folder
 * allows it (grad_inside).  Therefore no derivative is dropped silently. */
#ifndef VM_TAPE_H
#define VM_TAPE_H
#include "vm/array/array.h"
#include "vm/value/trace.h"

struct Subscript;

/* -- tape.c: traces ------------------------------------------------------------------------------------------------ */
/* The running levels that n depends on. */
uint64_t qtape_live(const qs_vm *vm, const GradNode *n);
void qtape_release(qs_vm *vm, Trace *t);      /* NULL: does nothing */
void qtape_free_number(qs_vm *vm, Traced *t); /* called by qval_destroy */
void qtape_free_array(qs_vm *vm, Array *a);   /* called by qarr_free: frees the trace and the family of an array */
void qtape_open(qs_vm *vm);                   /* sets Machine.trace_hooks; called by qs_open */
void qtape_close(qs_vm *vm);
/* Attaches a trace to v: replaces the trace of an array, or makes a traced number.  Consumes the reference to v and
 * retains t. */
qs_value qtape_attach(qs_vm *vm, qs_value v, Trace *t);
/* Returns whether every function that fn stands for declares argument i as integers or truth values, which have no
 * derivative.  why: the end of a sentence that says so. */
enum { WHY_CONSTANT = 256 };
bool qtape_is_constant(qs_vm *vm, qs_value fn, int i, char why[WHY_CONSTANT]);

/* -- tape.c: the record -------------------------------------------------------------------------------------------- */
/* Records an operation that has run.  in[]: the edges of its operands, taken before it ran.  The node owns them and
 * `data`, where the rule saves what it needs of the operands.  out[]: the results, which get traces: a number becomes a
 * traced number, and an array (new or overwritten) gets the trace of its new contents.  Integers, truth values and nil
 * get no trace.  If all edges are NULL, nothing is recorded, arrays in out lose their traces, and data is released. */
void qtape_record(qs_vm *vm, const GradRule *rule, void *data, int nin, Trace *const *in, int nout, qs_value *out);
/* Returns s, the status of recording an operation; on failure it also releases the results. */
qs_status qtape_recorded(qs_vm *vm, qs_status s, int nout, qs_value *out);
/* Result i of n with its trace: `kept` is the value saved without it, since a node must not keep itself alive.
 * Owned. */
qs_status qtape_result(qs_vm *vm, GradNode *n, int i, qs_value kept, qs_value *out);
/* Sets the error "<what> has no derivative: <why>" with the current line. */
qs_status qtape_refuse(qs_vm *vm, const char *what, const char *why);
/* Sets the error for a traced number that would become a plain number of another language. */
qs_status qtape_refuse_number(qs_vm *vm);

qs_status qtape_forbidden(qs_vm *vm);
qs_status qtape_unwritten(qs_vm *vm); /* sets the error for a write to a snapshot */

/* -- saved_arrays.c: contents that a pass reads again -------------------------------------------------------------- */
/* Makes a snapshot: the value with its present contents and trace, unaffected by later writes.  It shares the memory
 * until such a write: locking a buffer for writing first moves its snapshots to a copy (Buffer.kept).  Owned. */
qs_status qtape_keep(qs_vm *vm, qs_value v, qs_value *out);
qs_status qtape_keep_plain(qs_vm *vm, qs_value v, qs_value *out); /* the same without its trace, for results */
/* The same when only type and shape are needed: an array of zeros with the memory of one element. */
qs_status qtape_keep_shape(qs_vm *vm, qs_value v, qs_value *out);
/* Makes *v an ordinary array on the same memory, with the same trace and without other owners, if it is a snapshot or
 * an
 * array that others may hold.  Results of functions that got snapshots need this.  No element is copied. */
qs_status qtape_own(qs_vm *vm, qs_value *v);
/* Checks `a` before a recorded write to its elements.  It is an error, with the line, if memory outside the program
 * (NumPy, torch) shares the elements, because that memory has no trace, or if another array of the program shares them,
 * because its trace would be stale.  name: the variable's name, or NULL. */
qs_status qtape_check_alone(qs_vm *vm, Array *a, const char *name);

/* -- levels and passes: stdlib/grad.c, the bridge ------------------------------------------------------------------ */
typedef struct {
    uint64_t bit, first;
    uint32_t inside;
} GradLevel;                                    /* first: serial of its first node */
qs_status qtape_begin(qs_vm *vm, GradLevel *l); /* an error if too many levels run */
void qtape_end(qs_vm *vm, const GradLevel *l);
uint32_t qtape_frames(const qs_vm *vm); /* call depth when the first running level began */
/* Prepares a result of a finished level: removes its trace unless a running level records it, and makes a snapshot an
 * ordinary array. */
qs_status qtape_settle(qs_vm *vm, qs_value *y);
/* Makes a leaf of this level from a float or complex number or array.  Owned. */
qs_status qtape_leaf(qs_vm *vm, const GradLevel *l, qs_value v, qs_value *out);
qs_status qtape_no_tangent(qs_vm *vm, qs_value y, qs_value *out); /* zeros, for a result that depends on no leaf */
typedef struct {
    int n;
    Trace *const *at;
} Traces; /* NULL: a value without a trace */
/* Computes the adjoints dx of the leaves (or any traces) x from the adjoints dy of the results y.  nil: zero, or no
 * trace. */
qs_status qbackward_reverse(qs_vm *vm, Traces y, const qs_value *dy, Traces x, qs_value *dx);
/* Computes the tangents dy of the results y from the tangents dx of the leaves x. */
qs_status qbackward_forward(qs_vm *vm, Traces x, const qs_value *dx, Traces y, qs_value *dy);
/* Computes the tangents of the results of n by transposing its `reverse` rule, which is linear: the rule is recorded
 * and differentiated backward. */
qs_status qbackward_transpose(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy);
qs_status qbackward_zero(qs_vm *vm, const Trace *t, qs_value *out); /* zeros of its type and shape */
/* The same with the memory of one element, read-only. */
qs_status qbackward_form(qs_vm *vm, const Trace *t, qs_value *out);
/* Converts v to an adjoint of t: sums over broadcast dimensions, converts integers to floats, and takes the real part
 * for a real value. */
qs_status qbackward_fit(qs_vm *vm, const Trace *t, qs_value v, qs_value *out);

/* Sets an error if v cannot be the adjoint or tangent of `value`: another size, or complex for a real value.  Nothing
 * is broadcast or dropped silently. */
qs_status qbackward_check(qs_vm *vm, const char *what, qs_value value, qs_value v);

/* Converts a result of a pass to an array of its own that the program may write; nil becomes zeros like t. */
qs_status qbackward_hand_out(qs_vm *vm, const Trace *t, qs_value *v);

/* Calls a function of adjoints.q; results are owned. */
qs_status qtape_library(qs_vm *vm, const char *name, int nin, const qs_value *in, int nout, qs_value *out);

/* -- view.c: qarr_view; for a recorded array, a recorded copy ------------------------------------------------------ */
qs_status qhook_view(qs_vm *vm, Array *a, int ndim, const int64_t *dims, const int64_t *strides, size_t offset,
                     Array **out);

/* -- hooks.c, hooks_index.c ---------------------------------------------------------------------------------------- */
/* The interpreter calls these when an operand may be traced.  Each does what the interpreter's function of the same
 * name does, and records it. */
qs_status qhook_binary(qs_vm *vm, enum Op op, qs_value a, qs_value b, qs_value *out);
qs_status qhook_unary(qs_vm *vm, enum Op op, qs_value a, qs_value *out);
qs_status qhook_update(qs_vm *vm, enum Op op, qs_value *target, qs_value v);
qs_status qhook_literal(qs_vm *vm, qs_dtype d, int n, const qs_value *items, qs_value *out);
qs_status qhook_get(qs_vm *vm, qs_value base, const struct Subscript *s, qs_value *out);
qs_status qhook_set(qs_vm *vm, qs_value base, const struct Subscript *s, qs_value v);
qs_status qhook_update_at(qs_vm *vm, enum Op op, qs_value base, const struct Subscript *s, qs_value v);
qs_status qhook_element(qs_vm *vm, qs_value base, int64_t i, qs_value *out); /* in row-major order */
#endif
