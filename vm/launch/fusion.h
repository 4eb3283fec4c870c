/* fusion.h -- declarations shared by fusion.c and fusion_examine.c.
 *
 * A fuse region (FuseRegion, lang/bytecode/bytecode.h) is an elementwise expression, or several statements, that may
 * run as one kernel.  The interpreter reaches it with values in its leaves:
 *
 *     fusion_examine.c  decides whether these values suit one kernel: shapes, layouts, memory that is shared
 *     fusion.c          finds or makes the kernel for their types, runs it, and puts the results into the variables
 *
 * A region that does not suit is evaluated operator by operator, or statement by statement, with the same results. */
#ifndef VM_FUSION_H
#define VM_FUSION_H
#include "lang/kernel/lower/fusion/fuse.h"
#include "vm/launch/jit_hooks.h"
#include "vm/launch/run.h"

#include <string.h>

enum { LEAVES = 32 };

/* Versions: a reduction is split into chunks for processor cores, or into groups of cooperating positions for GPUs. */
enum { CHUNKED, GROUPED, ADDED /* the sum in the form in which a tape records it */ };

/* The layout of the elements that the result is assigned to.  strided: they are not contiguous. */
typedef struct {
    bool strided, unit;
} TargetLayout;

typedef struct { /* the region, specialized for one combination of leaf types */
    Specialization base;
    bool flat, ordered;
    TargetLayout target;
    int rank;
    int64_t extent;
    uint8_t same[LEAVES];
    FuseLayout layout[LEAVES];
    FuseKernel kernel[3]; /* CHUNKED, GROUPED, ADDED; func NULL: not made, or declined */
} FuseForm;

typedef struct {
    bool reported; /* the reason why rows are not computed was reported */
    double work, nops;
    FuseExpr expr;
    SpecializationList forms;
} FuseState;

/* One attempt to run a region with the current values of its leaves. */
typedef struct {
    Run run;
    const Frame *f;
    FuseRegion *region;
    FuseState *state;
    FuseForm *form;
    qs_value at[LEAVES];  /* current values of the leaves, numbers without their traces */
    uint8_t same[LEAVES]; /* as in FuseLeafType */
    FuseLayout layout[LEAVES];
    bool recorded; /* a leaf is recorded by the tape */
    bool flat;
    bool no_rows;   /* the reductions along a dimension are left to the operators */
    bool ordered;   /* rows: see FuseExpr */
    int64_t extent; /* rows: as in FuseExpr */
    int rank;
    int64_t dims[QS_MAX_RANK];
    int whole, axis[QS_MAX_RANK]; /* dimension d of the domain is dimension axis[d] of one of rank `whole` */
    size_t count;
    int ndim;                  /* ndim of the result: the maximum over the leaves */
    int nargs;                 /* number of parameters of the leaves */
    int64_t chunk;             /* for a reduction: elements per chunk, or positions of the launch */
    Array *result;             /* the result, or the partial results of a reduction */
    Array *stored[FUSE_ITEMS]; /* the values of earlier statements that are needed afterwards; NULL: none */
    int item_ndim[FUSE_ITEMS + 1];
    /* A view of the elements that the result is assigned to, in place of a result, with its strides in the domain;
     * NULL: there is none. */
    Array *target;
    Array *old; /* the elements before an update that is assigned afterwards; NULL: there is none */
    TargetLayout target_layout;
    int64_t target_strides[QS_MAX_RANK];
    /* The position of the first element of each shifted leaf, along each dimension of its array; and the box of the
     * domain that is computed: with shifted leaves the domain is cut where they begin anew. */
    int64_t cut[FUSE_SHIFTS][QS_MAX_RANK], from[QS_MAX_RANK], extents[QS_MAX_RANK];
} FuseRun;

/* Returns the number of the shift of a leaf, of its shifts; -1: the leaf is not shifted. */
static inline int qfuse_shift_of(const FuseRegion *r, int leaf) {
    for (int i = 0; i < r->nshifts; i++)
        if (r->shifts[i].leaf == leaf) return i;
    return -1;
}

/* Returns the value of a leaf; NULL: it is a number. */
static inline const Array *qfuse_array(const FuseRun *now, int i) {
    return now->at[i].kind == QS_ARRAY ? now->at[i].u.p : NULL;
}

/* A masked assignment writes to leaf 0; other masked regions are reductions. */
static inline bool qfuse_assigns(const FuseRegion *r) { return r->mask && !r->reduction; }

/* Returns whether the region updates elements of an array, x op= root, where leaf 0 has the old elements. */
static inline bool qfuse_updates(const FuseRegion *r) { return r->updates && !r->mask; }

static inline bool qfuse_has_dims(const Array *a, int rank, const int64_t *dims) {
    return a->rank == rank && !memcmp(a->dims, dims, (size_t)rank * sizeof *dims);
}

/* -- fusion_examine.c ---------------------------------------------------------------------------------------------- */
/* Returns the dimension of an array that is dimension d of a domain of rank r; -1: none.  A vec is one row of a matrix,
 * and other arrays have further dimensions of extent 1. */
int qfuse_axis_of(const Array *a, int r, int d);
/* Reads the leaves, and finds the domain and the layout of each leaf in it.  Returns whether one kernel gives the
 * results of the operators. */
bool qfuse_examine(FuseRun *now);
/* Finds the elements that the region assigns to, if the kernel may write there: the assignment after it would convert
 * the values, report errors, or need the values before any element changes. */
qs_status qfuse_find_target(FuseRun *now);
void qfuse_drop_target(FuseRun *now);
#endif
