/* gradient.h -- one launch of a derivative, for the files that make such launches; who records includes record.h.
 *
 *     gradient.c   its code, its arguments, its run; the way back       fused_backward.c    two ways back in one launch
 *                                                                       jvp.c   forward */
#ifndef VM_GRADIENT_H
#define VM_GRADIENT_H
#include "vm/interp/interp.h"
#include "vm/launch/record.h"

enum { GRADIENT_MANY = 1 << 15 }; /* elements: code that spares going through so many is worth making */

typedef struct Gradient {
    Run run;
    Run *into;
    int first;              /* where its arguments are bound, and from which parameter on */
    struct Gradient *above; /* which would have given it an adjoint that it computes; NULL: none */
    int without;            /* the parameter whose adjoint that is */
    JoinedForm *joined;     /* the code that does */
    const GradNode *node;
    const Recorded *rec;
    GradientForm *form;
    const KGrad *code;
    qs_value *dx; /* by input of the node: what it adds to, until it is in `adjoint` */
    int64_t room[KGRAD_TAPES];
    Array *contents[MAX_PARAMS]; /* of what entered: as it was, a copy that is changed, or what nobody reads */
    Array *adjoint[MAX_PARAMS];  /* of what is active */
    Array *extra[MAX_PARAMS];
} Gradient;

/* -- gradient.c: begin, open, run, close --------------------------------------------------------------------------- */
/* The code for what has arrived: dx is NULL where nothing has. */
qs_status qgradient_choose(qs_vm *vm, const Recorded *rec, const qs_value *dy, const qs_value *dx, GradientForm **out);
void qgradient_begin(Gradient *g, qs_vm *vm, const GradNode *n, GradientForm *form, qs_value *dx);
qs_status qgradient_open(Gradient *g, const qs_value *dy);
qs_status qgradient_open_contents(Gradient *g, int param);
qs_status qgradient_open_adjoint(Gradient *g, int param, qs_value dy);
qs_status qgradient_zeros(qs_vm *vm, const NodeShape *s, bool covered, Array **out); /* covered: all of it is stored */
qs_status qgradient_run(Gradient *g);
qs_status qgradient_finish(Gradient *g, const qs_value *dy, qs_value *dx); /* opens, runs, gives what came of it */
void qgradient_close(Gradient *g);

qs_status qgradient_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx);
double qgradient_positions(const Launch *l);
/* Each position stores an element of the adjoint, and each element has a position. */
bool qgradient_owns_all(const Recorded *rec, const KGradParam *k, int param);
/* The errors of what has no derivative, and of what an error stopped. */
qs_status qgradient_refusal(qs_vm *vm, const GradNode *n, const GradientForm *f);
qs_status qgradient_stopped(qs_vm *vm, const GradNode *n, const Recorded *rec);

/* -- fused_backward.c: see GradRule -------------------------------------------------------------------------------- */
qs_status qfusedback_joins(qs_vm *vm, const GradNode *n, const DeferredAdjoint *l, bool *yes);
qs_status qfusedback_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, const DeferredAdjoint *l, qs_value *dx);

/* -- jvp.c --------------------------------------------------------------------------------------------------------- */
qs_status qjvp_forward(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy);
#endif
