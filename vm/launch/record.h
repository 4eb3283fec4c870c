/* record.h -- private to the launch: what was launched while a tape recorded, and how that is differentiated.
 *
 *     record.c     a Run becomes a node of the tape: its parameters, what was written
 *     gradient.c   the rule of such nodes: the code of the gradient, made once for a form; its launch (gradient.h)
 *     elementwise_node.c        operators and functions of elements: their rows as forms
 *     slice_node.c      small rules: a copy, elements taken out of an array and put into one
 *
 * Of the arrays that enter a launch the gradient wants few again.  So its code is made when the launch is recorded; it
 * says whose contents it reads, and only these are kept (vm/tape/saved_arrays.c), of all others the trace and the
 * shape. */
#ifndef VM_RECORD_H
#define VM_RECORD_H
#include "lang/kernel/autodiff/autodiff.h"
#include "lang/kernel/elem/elem.h"
#include "vm/launch/run.h"
#include "vm/launch/slice_node.h"

/* Small, for a program of numbers and short vectors makes as many as it has operations. */
typedef struct {
    uint64_t bits;
    uint8_t size; /* of a number */
    bool array, written, active;
    uint8_t rank, own_rank, own_ndim, dtype; /* of an array: as it was bound, and of its adjoint */
    int64_t *extent;                         /* extents and strides as it was bound, then extents of the adjoint */
    Array *contents, *after;                 /* as they were, and became; NULL: the gradient does not read them */
    Origin origin;                           /* of a number that is traced, owned; otherwise nil */
    int input, output;                       /* of the node; -1: none */
} RecordedParam;

typedef struct {
    int param;
    int64_t element;
} RecordedOut; /* element -1: the array */

/* By parameter: whether it has an adjoint, whether what it held before the launch depends on a leaf, whether its
 * adjoint is added to what has arrived before, and whether that comes in as one number for all elements.  forward:
 * tangents, not adjoints. */
typedef struct {
    bool active[MAX_PARAMS], enters[MAX_PARAMS], adds[MAX_PARAMS], one[MAX_PARAMS], forward;
} GradientOf;

/* A pass that computes an adjoint where it reads it. */
typedef struct JoinedForm {
    Specialization base;       /* without a function: it cannot be done */
    struct JoinedForm *before; /* others of this pass */
    uint64_t of;               /* hash of the pass that would have stored the adjoint */
    int param, store;          /* of both passes: the adjoint */
} JoinedForm;

/* Its passes are forms of their own, of which gradients are taken as of any other: base.gradients, last one first. */
typedef struct GradientForm {
    Specialization base;
    int which;      /* version of the form around it */
    GradientOf key; /* that it was made for */
    KGrad code;
    Specialization **pass;
    JoinedForm *joined; /* of its only pass; among base.gradients, too */
    bool told;          /* --explain has said what it keeps */
    bool refused;       /* there is none, and why */
    ErrorState why;
} GradientForm;

typedef struct Recorded {
    Specialization *form;
    int which;
    Launch launch;
    Device *device; /* NULL: to be chosen */
    bool optional;  /* as of the Run: may the processor run it where the device refuses? */
    bool row;       /* of elem.def, which the evaluator may run */
    bool stopped;   /* by an error, while it ran */
    GradientForm *gradient;
    int n, nin, nout;
    RecordedParam *param;
    Trace **in;                 /* until the node is made */
    RecordedOut *out, first[2]; /* out: these, when there are no more */
    size_t size;                /* of the block in which all this lies */
} Recorded;

static inline NodeShape qrecord_shape(const RecordedParam *p) {
    NodeShape s = {.dtype = (qs_dtype)p->dtype, .ndim = p->own_ndim, .rank = p->own_rank};
    for (int d = 0; d < s.rank; d++) s.dims[d] = p->extent[2 * p->rank + d];
    return s;
}

/* -- gradient.c ---------------------------------------------------------------------------------------------------- */
qs_status qgradient_form(qs_vm *vm, Specialization *of, int which, const GradientOf *key, GradientForm **out);
extern const GradRule qgradient_rule; /* data: a Recorded */

/* -- record.c ------------------------------------------------------------------------------------------------------ */
void qrecord_free(qs_vm *vm, Recorded *rec);

/* -- kernel_footprint.c -------------------------------------------------------------------------------------------- */
/* A sweep is about to go back through a launch: while Machine.reach is there, what its passes read is added. */
qs_status qkernel_swept(qs_vm *vm, const GradNode *n);

/* -- elementwise_node.c -------------------------------------------------------------------------------------------- */
/* Whether to run it by the evaluator, for so few elements that a launch, or compiling, takes longer; and doing it. */
bool qelementwise_is_small(Run *r);
qs_status qelementwise_run(Run *r);
#endif
