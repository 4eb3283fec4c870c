/* kir_grad.h -- checks derivatives of a kernel against central differences of the kernel itself, and forward mode
 * against reverse mode: <v, J u> = <J' v, u> for random u, v. */
#ifndef TESTS_SUPPORT_KIR_GRAD_H
#define TESTS_SUPPORT_KIR_GRAD_H
#include "lang/kernel/autodiff/autodiff.h"

typedef struct {
    Ctx *ctx;
    Arena *arena;
    const KFunc *func;
    const KArg *args; /* arrays without gaps; they are not changed */
    KLaunch launch;
    const bool *active; /* by parameter; NULL: all floats */
    uint64_t seed;
    double tolerance;  /* relative to the size of what is added up; 0: 1e-6 */
    double rounding;   /* allowed between the two directions, relative as well; 0: 1e-10 */
    bool exact_only;   /* no differences: where a step would cross an edge */
    bool reverse_only; /* there are no tangents */
    bool again;        /* the derivative of the derivative, too */
    int npasses, natomics,
        nproducts; /* come back: passes of the backward pass; ATOMICs, products and quotients in them */
    int nzeros;    /* comes back: writes to adjoints of what is written, where nobody asks for old contents */
} KGradCase;

/* false: `why` has the difference, or the error. */
bool kgradtest_check(KGradCase *k, Text *why);

/* Runs the passes for adjoints that are arguments of out: args has room for all parameters, the first f->nparams are
 * those of f before its launch, then the adjoints. */
qs_status kgradtest_run(Ctx *c, Arena *arena, const KFunc *f, const KGrad *d, KArg *args, const KLaunch *l);
#endif
