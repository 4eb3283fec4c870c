/* record.h -- records launches on the tape and differentiates them; private to this folder.
 *
 *     record.c             turns a Run into a node of the tape: its parameters and the arrays that it wrote
 *     gradient.c           the derivative rule of such nodes: gradient code, made once per specialization; launches it
 *     elementwise_node.c   specializations for elementwise operators and functions
 *     slice_node.c         small rules: a copy, elements taken out of an array and put into one
 *
 * The gradient needs few of the arrays that enter a launch.  Its code is therefore made when the launch is recorded.
 * The code states which arrays it reads, and only their contents are saved (vm/tape/saved_arrays.c); for all others
 * the trace and the shape are saved. */
#ifndef VM_RECORD_H
#define VM_RECORD_H
#include "lang/kernel/autodiff/autodiff.h"
#include "lang/kernel/elem/elem.h"
#include "vm/launch/run.h"
#include "vm/launch/slice_node.h"

/* Kept small, because a program of numbers and short vectors creates as many records as operations. */
typedef struct {
    uint64_t bits;
    uint8_t size; /* size of a number in bytes */
    bool array, written, active;
    /* for an array: rank as it was bound; rank, ndim and type of its adjoint */
    uint8_t rank, own_rank, own_ndim, dtype;
    int64_t *extent;         /* extents and strides as they were bound, then extents of the adjoint */
    Array *contents, *after; /* contents before and after the launch; NULL: the gradient does not read them */
    Origin origin;           /* for a traced number: its origin, owned; otherwise nil */
    int input, output;       /* index among the inputs and outputs of the node; -1: none */
} RecordedParam;

typedef struct {
    int param;
    int64_t element;
} RecordedOut; /* element -1: the whole array */

/* Key of gradient code.  By parameter: it has an adjoint; its value before the launch depends on a leaf; its adjoint
 * is added to an existing one; the incoming adjoint is one number for all elements. forward: forward mode, with
 * tangents. */
typedef struct {
    bool active[MAX_PARAMS], enters[MAX_PARAMS], adds[MAX_PARAMS], one[MAX_PARAMS], forward;
} GradientOf;

/* A gradient pass that computes an incoming adjoint where it reads it, instead of loading it. */
typedef struct JoinedForm {
    Specialization base;       /* no function: the passes cannot be fused */
    struct JoinedForm *before; /* next fused variant of the same pass */
    uint64_t of;               /* hash of the pass that would have stored the adjoint */
    int param, store;          /* the adjoint: parameter of this pass, and of the pass that would have stored it */
} JoinedForm;

/* The passes are specializations of their own, and gradients are taken of them as of any other; they are in
 * base.gradients, last one first. */
typedef struct GradientForm {
    Specialization base;
    int which;      /* version of the enclosing specialization */
    GradientOf key; /* the key that it was made for */
    KGrad code;
    Specialization **pass;
    JoinedForm *joined; /* fused variants of its only pass; also in base.gradients */
    bool reported;      /* --explain has reported which arrays it saves */
    bool refused;       /* no gradient exists; `why` is the error */
    ErrorState why;
} GradientForm;

typedef struct Recorded {
    Specialization *form;
    int which;
    Launch launch;
    Device *device; /* NULL: to be chosen */
    bool optional;  /* as in Run: may the processor run it if the device refuses? */
    bool row;       /* an op of elem.def, which the evaluator may run */
    bool stopped;   /* an error stopped the launch while it ran */
    GradientForm *gradient;
    int n, nin, nout;
    RecordedParam *param;
    Trace **in;                 /* NULL as soon as the node is made, which then owns them */
    RecordedOut *out, first[2]; /* out points to `first` if two outputs are enough */
    size_t size;                /* size in bytes of the block that contains the record */
} Recorded;

static inline NodeShape qrecord_shape(const RecordedParam *p) {
    NodeShape s = {.dtype = (qs_dtype)p->dtype, .ndim = p->own_ndim, .rank = p->own_rank};
    for (int d = 0; d < s.rank; d++) s.dims[d] = p->extent[2 * p->rank + d];
    return s;
}

/* -- gradient.c ---------------------------------------------------------------------------------------------------- */
qs_status qgradient_form(qs_vm *vm, Specialization *of, int which, const GradientOf *key, GradientForm **out);
extern const GradRule qgradient_rule; /* its nodes have a Recorded as data */

/* -- record.c ------------------------------------------------------------------------------------------------------ */
void qrecord_free(qs_vm *vm, Recorded *rec);

/* -- kernel_footprint.c -------------------------------------------------------------------------------------------- */
/* Adds the reads of the gradient passes of a node that is about to run to Machine.reach, if that is set. */
qs_status qkernel_swept(qs_vm *vm, const GradNode *n);

/* -- elementwise_node.c -------------------------------------------------------------------------------------------- */
/* Should the evaluator run it, because a launch or compilation would take longer for so few elements?  And runs it. */
bool qelementwise_is_small(Run *r);
qs_status qelementwise_run(Run *r);
#endif
