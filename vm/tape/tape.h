/* tape.h -- how derivatives are taken: what is computed from traced values is recorded, and swept afterwards.
 *
 *     tape.c    traces, nodes, levels: the record            saved_arrays.c    contents that a sweep will need again
 *     hooks.c    operators, indexing, literals, built-ins     rule.c    rules written in the language:
 * stdlib/adjoints.q
 *     view.c    views, as Python takes them              hooks_index.c   x[…]
 *     small_op.c     arithmetic of numbers and few elements
 *     backward.c   back from results to arguments, or forward
 *
 * Values come in, the same values with traces go out; a sweep turns adjoints of results into adjoints of arguments.
 * The interpreter calls hooks.c, vm/launch the functions below, stdlib/grad.c and the bridge the levels and the sweep.
 *
 * The record is a graph of counted nodes.  A node is an operation that ran: a rule, and the traces of its operands.  A
 * trace is one result of a node; the array that holds this result points to it (Array.trace), a number that has one is
 * an object of kind QS_TRACED, which no fast path of the interpreter takes for a number.  An array that is written gets
 * the trace of its new contents and stays the same array, so cells, objects, closures and recursion need nothing.  What
 * nobody can reach any more goes, with all that it kept.
 *
 * A level is a running call of grad, vjp, …: it makes leaves of its arguments, which are new traces even where the
 * arguments have one.  An operation is recorded when an operand depends on a level that is running; who sweeps the
 * nodes of a level that is over computes without a record of it, and with the records of the others.  Levels of several
 * threads run beside each other, and what a thread computes is recorded for whichever its operands depend on.  A level
 * has a bit, which another one gets when it is over: of which one a node is, its serial says.  A sweep visits
 * the nodes between a result and its own leaves and no other, so nested derivatives are not confused: what other
 * systems need tags for is the identity of a leaf here.
 *
 * Reading the elements of an array whose level is running is an error, unless a door of this folder let the reader in
 * (grad_inside): so nothing drops a derivative silently. */
#ifndef VM_TAPE_H
#define VM_TAPE_H
#include "lang/syntax/operators.h"
#include "vm/array/array.h"
#include "vm/value/machine.h"

struct Subscript;

typedef struct GradNode GradNode;

typedef struct Trace Trace;
struct Trace { /* one result of a node, and the form that its adjoint has */
    GradNode *node;
    uint8_t kind;              /* QS_NUM, QS_COMPLEX or QS_ARRAY */
    uint8_t dtype, rank, ndim; /* of an array */
    int64_t dims[QS_MAX_RANK];
};

/* The adjoint of result `of` of a node, which nobody has computed: it is what reverse of `node`, of dy, gives to its
 * operand. */
typedef struct DeferredAdjoint {
    int of;
    GradNode *node;
    int operand;
    const qs_value *dy;
} DeferredAdjoint;

typedef struct GradRule {
    const char *name; /* for messages: "solve", "kernel blur" where the rule is a kernel's */
    /* Adjoints of the results (nil: zero) to those of the operands, which start as nil: zero.  Operands without a trace
     * (n->in[i] NULL) need none.  All that it computes is done with ordinary operations on values that carry their
     * traces, so that levels around this one record it. */
    qs_status (*reverse)(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx);
    /* Tangents of the operands (nil: zero) to those of the results; NULL: qbackward_transpose. */
    qs_status (*forward)(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy);
    void (*release)(qs_vm *vm, GradNode *n); /* lets go of n->data; NULL: there is none */
    /* Of a rule with one operand: adds its adjoint to *sum (nil: nothing is there yet) in place, where it can. */
    qs_status (*add)(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *sum, bool *done);
    /* Whether `reverse` adds to `sum`, an array that has arrived at operand i so far and that nobody else has, when
     * dx[i] comes in as that; NULL: no. */
    bool (*adds)(const GradNode *n, int i, qs_value sum);
    /* Whether the node n, of the same rule, can do without this adjoint, and compute what it wants of it on its way
     * back: `reverse_late`, which does what `reverse` does; dy[late->of] is nil.  NULL: no. */
    qs_status (*joins)(qs_vm *vm, const GradNode *n, const DeferredAdjoint *late, bool *yes);
    qs_status (*reverse_late)(qs_vm *vm, GradNode *n, const qs_value *dy, const DeferredAdjoint *late, qs_value *dx);
    bool stretched; /* an adjoint that is one number may come as an array of strides 0 */
} GradRule;

struct GradNode {
    uint32_t refs;
    int nin, nout;
    uint64_t serial;      /* operands have smaller ones */
    uint64_t levels;      /* of those that ran when it was made: it depends on their leaves */
    uint64_t mark;        /* of the last sweep that found it */
    GradNode *next;       /* of those that are being freed */
    const GradRule *rule; /* NULL: a leaf */
    void *data;           /* of the rule */
    Where at;             /* in the program */
    uint32_t visit;       /* its place in the last sweep that found it */
    Trace **in;           /* NULL: an operand that is constant */
    Trace out[];
};

/* A number that depends on a leaf; value is a QS_NUM or QS_COMPLEX. */
typedef struct Traced {
    Obj hdr;
    Trace *trace;
    qs_value value;
} Traced;

/* -- tape.c: traces ------------------------------------------------------------------------------------------------ */
static inline Trace *qtape_trace(qs_value v) {
    if (v.kind == QS_ARRAY) return ((Array *)v.u.p)->trace;
    return v.kind == QS_TRACED ? ((Traced *)v.u.p)->trace : NULL;
}
static inline Trace *qtape_retain(Trace *t) { return t ? t->node->refs++, t : NULL; }
/* The levels that n depends on and that still run. */
uint64_t qtape_live(const qs_vm *vm, const GradNode *n);
/* Whether operations on v are recorded now. */
static inline bool qtape_is_recorded(const qs_vm *vm, qs_value v) {
    const Machine *m = (const Machine *)vm;
    const Trace *t = qtape_trace(v);
    return t && (t->node->levels & m->grad_levels) && !m->grad_inside && qtape_live(vm, t->node);
}
bool qtape_any(const qs_vm *vm, int n, const qs_value *v); /* … of one of them */
/* Whether something records at all: what asks in a hot place asks this first. */
static inline bool qtape_is_on(const qs_vm *vm) { return ((const Machine *)vm)->grad_levels != 0; }
/* The number in a traced number; anything else as it is.  Borrowed. */
static inline qs_value qtape_plain(qs_value v) { return v.kind == QS_TRACED ? ((Traced *)v.u.p)->value : v; }
bool qtape_is_smooth(qs_value v);             /* derivatives may be taken to and of values of its kind */
void qtape_release(qs_vm *vm, Trace *t);      /* NULL: nothing */
void qtape_free_number(qs_vm *vm, Traced *t); /* of qval_destroy */
void qtape_free_array(qs_vm *vm, Array *a);   /* of qarr_free: what an array has of this folder */
void qtape_close(qs_vm *vm);
/* v with a trace: an array gets it in place of the one that it had, a number becomes an object.  Takes the reference to
 * v, and retains t. */
qs_value qtape_attach(qs_vm *vm, qs_value v, Trace *t);
/* Whether every function that fn stands for declares argument i as integers or truth values, which have no derivative.
 * why: the end of a sentence that says so. */
enum { WHY_CONSTANT = 256 };
bool qtape_is_constant(qs_vm *vm, qs_value fn, int i, char why[WHY_CONSTANT]);

/* -- tape.c: the record -------------------------------------------------------------------------------------------- */
/* The trace of an operand as it is before the operation, retained; NULL: it is constant here. */
static inline Trace *qtape_edge(const qs_vm *vm, qs_value v) {
    return qtape_is_recorded(vm, v) ? qtape_retain(qtape_trace(v)) : NULL;
}
/* An operation ran.  in[]: the edges of its operands, taken before it ran; they, and data, belong to the node from now
 * on, and what the rule needs of the operands it keeps in data.  out[]: the results, which get traces: a number becomes
 * a traced one, an array (a new one, or one that was overwritten) the trace of its new contents.  Integers, truth
 * values and nil get none.  When all edges are NULL nothing is recorded, arrays in out lose their traces, and data is
 * released at once. */
void qtape_record(qs_vm *vm, const GradRule *rule, void *data, int nin, Trace *const *in, int nout, qs_value *out);
/* After the results of an operation were made: s says whether that could be recorded; where not, they go. */
qs_status qtape_recorded(qs_vm *vm, qs_status s, int nout, qs_value *out);
/* What result i was, kept without its trace (or it would keep its own node): the same value with it.  Owned. */
qs_status qtape_result(qs_vm *vm, GradNode *n, int i, qs_value kept, qs_value *out);
/* Refuses: "<what> has no derivative: <why>", at the line that runs. */
qs_status qtape_refuse(qs_vm *vm, const char *what, const char *why);
/* The same of a number of another language, which a traced one would become. */
qs_status qtape_refuse_number(qs_vm *vm);

/* Around a reader that a door let in: reading elements of traced arrays is right there. */
static inline void qtape_enter(qs_vm *vm) { qvm(vm)->grad_inside++; }
static inline void qtape_leave(qs_vm *vm) { qvm(vm)->grad_inside--; }
/* What qarr_read and its like ask. */
static inline bool qtape_forbids(const qs_vm *vm, const Array *a) {
    const Machine *m = (const Machine *)vm;
    return __builtin_expect(a->trace != NULL, 0) && !m->grad_inside && (a->trace->node->levels & m->grad_levels) &&
           qtape_live(vm, a->trace->node);
}
qs_status qtape_forbidden(qs_vm *vm);
qs_status qtape_unwritten(qs_vm *vm); /* a snapshot was to be written */

/* -- saved_arrays.c: contents that are needed again ---------------------------------------------------------------- */
/* A snapshot: the value as it is now, whatever is written later, with its trace.  It shares the memory until then: who
 * locks a buffer for writing moves its snapshots to a copy first (Buffer.kept).  Owned. */
qs_status qtape_keep(qs_vm *vm, qs_value v, qs_value *out);
qs_status qtape_keep_plain(qs_vm *vm, qs_value v, qs_value *out); /* without its trace: for results */
/* Where only type and shape will be asked for: an array of zeros of a single element of memory. */
qs_status qtape_keep_shape(qs_vm *vm, qs_value v, qs_value *out);
/* What a function gives that got snapshots, or that may give an array that others have: *v becomes an ordinary array on
 * the same memory, with the same trace, which nobody else has.  No element is copied. */
qs_status qtape_own(qs_vm *vm, qs_value *v);
static inline bool qtape_is_kept(qs_value v) { return v.kind == QS_ARRAY && (qval_array(v)->hdr.flags & ARRAY_KEPT); }
/* Before elements of `a` are written whose new trace will be recorded: refuses with the line where others have its
 * memory, who know of no trace, and where another array of the program shares it, or should, and would keep the trace
 * of what it does not hold any more.  name: what the program calls it, or NULL. */
qs_status qtape_check_alone(qs_vm *vm, Array *a, const char *name);

/* -- levels and sweeps: stdlib/grad.c, the bridge ------------------------------------------------------------------ */
typedef struct {
    uint64_t bit, first;
    uint32_t inside;
} GradLevel;                                    /* first: serial of its first node */
qs_status qtape_begin(qs_vm *vm, GradLevel *l); /* an error when too many run */
void qtape_end(qs_vm *vm, const GradLevel *l);
uint32_t qtape_frames(const qs_vm *vm); /* that were there before the first level that runs */
/* A result of a level that is over: it is plain, unless a level that runs records it, and no snapshot any more. */
qs_status qtape_settle(qs_vm *vm, qs_value *y);
/* A value of this level that derivatives may be taken to: a float or complex number or array.  Owned. */
qs_status qtape_leaf(qs_vm *vm, const GradLevel *l, qs_value v, qs_value *out);
qs_status qtape_no_tangent(qs_vm *vm, qs_value y, qs_value *out); /* zeros: of what depends on no leaf */
typedef struct {
    int n;
    Trace *const *at;
} Traces; /* NULL: a value that has none */
/* Adjoints of the leaves (or of any traces), of those of the results y; nil stands for no trace, or zero. */
qs_status qbackward_reverse(qs_vm *vm, Traces y, const qs_value *dy, Traces x, qs_value *dx);
/* Tangents of the results, of those of the leaves. */
qs_status qbackward_forward(qs_vm *vm, Traces x, const qs_value *dx, Traces y, qs_value *dy);
/* Tangents of the results of n by its `reverse`, which is linear: recorded, and swept back. */
qs_status qbackward_transpose(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy);
qs_status qbackward_zero(qs_vm *vm, const Trace *t, qs_value *out); /* zeros of its form */
qs_status qbackward_form(qs_vm *vm, const Trace *t,
                         qs_value *out); /* the same in the memory of one, not to be written */
/* v as an adjoint of t: broadcasting is summed back, integers become floats, a real value has a real adjoint. */
qs_status qbackward_fit(qs_vm *vm, const Trace *t, qs_value v, qs_value *out);

/* Refuses v as the adjoint or tangent of a value of another size, or of a real one where v is complex: nothing is
 * stretched, or dropped, where nobody sees it. */
qs_status qbackward_check(qs_vm *vm, const char *what, qs_value value, qs_value v);

/* What a sweep found, as an array of its own, which the program may write; nil is zeros of the form of t. */
qs_status qbackward_hand_out(qs_vm *vm, const Trace *t, qs_value *v);

/* A function of adjoints.q, called; results are owned. */
qs_status qtape_library(qs_vm *vm, const char *name, int nin, const qs_value *in, int nout, qs_value *out);

/* -- view.c: qarr_view, of a recorded array a recorded copy -------------------------------------------------------- */
qs_status qhook_view(qs_vm *vm, Array *a, int ndim, const int64_t *dims, const int64_t *strides, size_t offset,
                     Array **out);

/* -- hooks.c, hooks_index.c: what the interpreter asks where an operand may be traced
 * ----------------------------------
 *    Each does what the function of the interpreter does that is called so, and records it. */
static inline bool qtape_touches(qs_value v) { return __builtin_expect(qtape_trace(v) != NULL, 0); }
qs_status qhook_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out);
qs_status qhook_unary(qs_vm *vm, Op op, qs_value a, qs_value *out);
qs_status qhook_update(qs_vm *vm, Op op, qs_value *target, qs_value v);
qs_status qhook_native(qs_vm *vm, const struct qs_native_def *d, struct qs_call_args *c);
/* A function with {!adjoint name}: it runs unrecorded, and its rule is the function called so.  Whether it is followed,
 * for these arguments: somewhere in them is something recorded. */
bool qhook_follows_rule(const qs_vm *vm, int nin, const qs_value *in);
qs_status qhook_function(qs_vm *vm, Function *fn, int nin, const qs_value *in, int nout, qs_value *out);
qs_status qhook_construct(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out);
qs_status qhook_where(qs_vm *vm, const qs_value *c, qs_value *out);
qs_status qhook_coerce(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out);
qs_status qhook_literal(qs_vm *vm, qs_dtype d, int n, const qs_value *items, qs_value *out);
qs_status qhook_range(qs_vm *vm, qs_dtype d, const qs_value *bounds, bool stepped, qs_value *out);
qs_status qhook_get(qs_vm *vm, qs_value base, const struct Subscript *s, qs_value *out);
qs_status qhook_set(qs_vm *vm, qs_value base, const struct Subscript *s, qs_value v);
qs_status qhook_assign(qs_vm *vm, qs_value dst, qs_value src);
qs_status qhook_update_at(qs_vm *vm, Op op, qs_value base, const struct Subscript *s, qs_value v);
qs_status qhook_element(qs_vm *vm, qs_value base, int64_t i, qs_value *out); /* in row-major order */
#endif
