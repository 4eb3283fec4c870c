/* fuse.h -- an elementwise expression over arrays as one kernel: one pass over memory, no temporaries.
 *
 *     y = exp(-x.*x).*sin(x)          leaves x;  out[pos] = …
 *     s = mean((x-y).^2)              leaves x y; partial[pos] = sum over the pos-th chunk, or, where positions
 *                                     run by the thousand, partial[block] = sum over what the
 *                                     positions of a block have met
 *
 * The element types follow the rules of host arithmetic (vm/base/dtype.h), not those of kernels, so that fusing changes
 * nothing but the time.  What is not of this kind (half, matrix products, unknown functions) is declined, and
 * the caller goes on operator by operator. */
#ifndef LANG_FUSE_H
#define LANG_FUSE_H
#include "lang/kernel/elem/elem.h"
#include "lang/syntax/ast.h"

typedef enum { FUSE_MAP, FUSE_SUM, FUSE_MEAN, FUSE_MIN, FUSE_MAX } FuseKind;

enum { FUSE_GROUP = 256 };

typedef struct {
    bool array;
    uint8_t dtype; /* of an array's elements */
    bool weak_int; /* a number that is an int or a bool */
    bool complex;  /* a number that is complex: two parameters, its parts */
    uint8_t same;  /* 1 + number of the leaf before it which is the same value: no parameter; 0: none is */
} FuseLeafType;

/* The expression as the bytecode compiler found it: `leaves` are evaluated by the machine, what lies above
 * them is fused. */
typedef struct {
    const Source *src; /* where it stands */
    Node *root;        /* the operand of the reduction, or the expression itself */
    FuseKind kind;
    Node **leaves;
    int nleaves; /* N_IDENT, N_INDEX, N_CALL …: by identity; literals are not leaves */
    int nops;    /* operators and functions above the leaves */
    bool fast_math;
    bool grouped; /* a reduction by blocks of FUSE_GROUP positions, instead of one by chunks */
    bool adds;    /* a sum as its derivative is taken: each position adds its element to the one of the result */
} FuseExpr;

typedef struct {
    KFunc *func;    /* parameters: the leaves in order (arrays: flat or of rank `rank`), then the result */
    qs_dtype dtype; /* of the result's elements; of partial results: float64, int64 or the element type */
    bool integral;  /* a sum of integers */
} FuseKernel;

/* flat: every array leaf has the shape of the result and no gaps.  Otherwise leaves are strided, of rank `rank`, with
 * stride 0 along the dimensions they are stretched over.  Gives out->func == NULL when the expression is declined. */
qs_status kfuse_build(Ctx *c, Arena *arena, const FuseExpr *e, const FuseLeafType *types, bool flat, int rank,
                      FuseKernel *out);

/* One row of elem.def: out[pos] = elem(leaves).  For derivatives of what the host has computed. */
enum { FUSE_ROW_ARGS = 3 };
typedef struct {
    Elem elem;
    qs_dtype compute; /* in which elements are computed; complex where the row is of complex numbers */
    qs_dtype result;  /* of the elements that come out */
    bool flat;
    int rank; /* as above */
    FuseLeafType types[FUSE_ROW_ARGS];
    bool known;
    double exponent; /* of powers: the code is for this number, as the host's loops are */
} FuseRow;
qs_status kfuse_row(Ctx *c, Arena *arena, const FuseRow *, FuseKernel *out);

/* The function behind a call that can be fused, by the name of the built-in; false: none. */
bool kfuse_function(const char *name, int nargs);
/* SUM … for the name of a built-in reduction with one argument; FUSE_MAP when it is none. */
FuseKind kfuse_reduction(const char *name, int nargs);
#endif
