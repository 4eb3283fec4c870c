/* gradient.h -- the launch of a derivative; for the files that make such launches.  Code that records includes
 * record.h.
 *
 *     gradient.c         its code, its arguments, its run; the backward pass of one node
 *     fused_backward.c   the backward passes of two nodes in one launch
 *     jvp.c              forward mode */
#ifndef VM_GRADIENT_H
#define VM_GRADIENT_H
#include "vm/interp/interp.h"
#include "vm/launch/record.h"

enum { GRADIENT_MANY = 1 << 15 }; /* elements: compiling special code that avoids a pass over so many is worthwhile */

typedef struct Gradient {
    Run run;
    Run *into;
    int first; /* the Run that receives the arguments, and the index of its first parameter */
    /* a gradient whose result this one would have read as an adjoint, computed here instead; NULL: none */
    struct Gradient *above;
    int without;        /* the parameter whose adjoint that is */
    JoinedForm *joined; /* the code that computes it */
    const GradNode *node;
    const Recorded *rec;
    GradientForm *form;
    const KGrad *code;
    qs_value *dx; /* by input of the node: the adjoint that it adds to, until it is moved to `adjoint` */
    int64_t room[KGRAD_TAPES];
    /* by parameter: saved contents of the input, a copy that is overwritten, or memory that is not read */
    Array *contents[MAX_PARAMS];
    Array *adjoint[MAX_PARAMS]; /* by parameter: the adjoint of an active one */
    Array *extra[MAX_PARAMS];
} Gradient;

/* -- gradient.c: begin, open, run, close --------------------------------------------------------------------------- */
/* Finds the gradient code for the adjoints that exist: an element of dy or dx is nil without one, dx is NULL for
 * none. */
qs_status qgradient_choose(qs_vm *vm, const Recorded *rec, const qs_value *dy, const qs_value *dx, GradientForm **out);
void qgradient_begin(Gradient *g, qs_vm *vm, const GradNode *n, GradientForm *form, qs_value *dx);
qs_status qgradient_open(Gradient *g, const qs_value *dy);
qs_status qgradient_open_contents(Gradient *g, int param);
qs_status qgradient_open_adjoint(Gradient *g, int param, qs_value dy);
/* Covered: every element will be stored, so no zeros are needed. */
qs_status qgradient_zeros(qs_vm *vm, const NodeShape *s, bool covered, Array **out);
qs_status qgradient_run(Gradient *g);
/* Opens, runs, and moves the results to dx. */
qs_status qgradient_finish(Gradient *g, const qs_value *dy, qs_value *dx);
void qgradient_close(Gradient *g);

qs_status qgradient_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx);
/* Does each position store one element of the adjoint, and does each element have a position? */
bool qgradient_owns_all(const Recorded *rec, const KGradParam *k, int param);
/* The errors for a node that has no derivative, and for one that was stopped by an error. */
qs_status qgradient_refusal(qs_vm *vm, const GradNode *n, const GradientForm *f);
qs_status qgradient_stopped(qs_vm *vm, const GradNode *n, const Recorded *rec);

/* -- fused_backward.c: see GradRule -------------------------------------------------------------------------------- */
qs_status qfusedback_joins(qs_vm *vm, const GradNode *n, const DeferredAdjoint *l, bool *yes);
qs_status qfusedback_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, const DeferredAdjoint *l, qs_value *dx);

/* -- jvp.c --------------------------------------------------------------------------------------------------------- */
qs_status qjvp_forward(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy);
#endif
