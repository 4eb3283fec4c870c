/* fuse.h -- compiles an elementwise expression over arrays to one kernel: one pass over memory, no temporaries.
 *
 *     y = exp(-x.*x).*sin(x)      leaf x;       out[pos] = …
 *     s = mean((x-y).^2)          leaves x, y;  partial[pos] = sum over chunk number pos, or, with thousands of
 *                                 positions, partial[block] = sum over the elements of all positions of a block
 *
 *     y[x < 0] = 0.1*x[x < 0]     leaves y, x, x;  y[pos] = mask ? … : y[pos]
 *
 *     y = exp(x)./sum(exp(x),1)   position r has a loop over row r of the domain for each reduction, and one that
 *                                 stores row r of the result; likewise along other dimensions
 *
 * Element types follow the rules of host arithmetic (vm/base/dtype.h), not those of kernels, so that fusion changes
 * nothing but the time.  Unsupported expressions (half, matrix products, unknown functions) are declined; the caller
 * then evaluates operator by operator. */
#ifndef LANG_FUSE_H
#define LANG_FUSE_H
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/ir/kfunc.h"
#include "lang/syntax/fuse_item.h"
#include "vm/base/reduction.h"

enum { FUSE_GROUP = 256 };

/* The layout of an array that is not flat; zero for others. */
typedef struct {
    /* Bit d of fixed: its elements are the same along dimension d.  stride: that of the last dimension, if it is
     * known. */
    uint8_t fixed, stride;
    /* Leaves that are channels of the same pixels share the parameter of the first of them: a dimension more, of
     * `channels`.  beside: 1 + index of that first one; 0: it is the first, or channels is 0. */
    uint8_t beside, channels;
    int8_t channel;
} FuseLayout;

typedef struct {
    bool array;
    uint8_t dtype; /* element type of an array */
    bool weak_int; /* a number that is an int or a bool */
    bool complex;  /* a complex number, which has two parameters */
    uint8_t same;  /* 1 + index of an earlier leaf with the same value, whose parameter is used; 0: none */
    FuseLayout layout;
} FuseLeafType;

/* The expression as the bytecode compiler found it: the VM evaluates `leaves`, and everything above them is fused. */
typedef struct {
    const Source *src; /* source file */
    Node *root;        /* operand of the reduction, or the expression itself */
    Reduce kind;       /* RED_NONE: the expression itself is the result */
    bool counts;       /* the result is the number of elements of x[mask] */
    Node **leaves;
    int nleaves;  /* N_IDENT, N_INDEX, N_CALL …, compared by identity; literals are not leaves */
    Node **casts; /* the conversions above the leaves, and their element types */
    const uint8_t *cast_dtypes;
    int ncasts;
    int nops; /* number of operators and functions above the leaves */
    bool fast_math;
    bool grouped; /* reduces by blocks of FUSE_GROUP positions instead of by chunks */
    /* A map with reductions along dimension `axis`; each position of the launch computes one line of elements along it.
     * extent: number of elements of a line, if it is compiled in; 0: not known.  ordered: sums are in the order of the
     * elements, and the positions are computed side by side. */
    bool rows, ordered;
    int axis;
    int64_t extent;
    /* A masked assignment, out[pos] = root where mask is true, which reads and writes leaf 0; NULL: none.  updates: the
     * value is leaf 0 op root.  With a reduction, it takes the elements where mask is true; partial[2*pos + 1] is their
     * number, and the kernel's caller handles none. */
    Node *mask;
    bool updates;
    uint8_t op;
    bool strided, unit; /* the result of a map is not contiguous; its elements are adjacent along the last dimension */
    bool boxed;         /* the domain is a box of that of the arrays, so that none is contiguous */
    const FuseItem *items; /* statements before the root, in order; their results come first */
    int nitems;
    bool adds; /* a sum for its derivative: each position adds its element atomically to one result */
} FuseExpr;

typedef struct {
    KFunc *func;     /* parameters: the leaves in order (arrays are flat or of rank `rank`), then the result;
                        rows: before it, the number of elements of a line */
    qs_dtype dtype;  /* element type of the result; for partial results float64, int64 or the element type */
    bool integral;   /* a sum of integers */
    const char *why; /* func NULL: the reason, and its source position; NULL: not known */
    uint32_t pos;
    bool narrow; /* rows: the result has one element for each */
    struct {
        qs_dtype dtype;
        bool narrow;
    } value[FUSE_ITEMS]; /* the same for each value that is stored */
} FuseKernel;

/* flat: every array leaf has the shape of the result and is contiguous.  Otherwise leaves are strided, of rank `rank`,
 * with stride 0 along broadcast dimensions.  Sets out->func to NULL if the expression is declined. */
qs_status kfuse_build(Ctx *c, Arena *arena, const FuseExpr *e, const FuseLeafType *types, bool flat, int rank,
                      FuseKernel *out);

/* One row of elem.def: out[pos] = elem(leaves).  Used for derivatives of elementwise host operations. */
enum { FUSE_ROW_ARGS = 3 };
typedef struct {
    Elem elem;
    qs_dtype compute; /* type of the computation; complex for a row of complex numbers */
    qs_dtype result;  /* element type of the result */
    bool flat;
    int rank; /* as in kfuse_build */
    FuseLeafType types[FUSE_ROW_ARGS];
    bool known;
    double exponent; /* exponent of a power, compiled in if `known`, as in the host's loops */
} FuseRow;
qs_status kfuse_row(Ctx *c, Arena *arena, const FuseRow *, FuseKernel *out);

/* Whether a built-in function of this name can be fused. */
bool kfuse_function(const char *name, int nargs);
/* Return the built-in reduction with this number of arguments that can be fused, of all elements or along a dimension;
 * RED_NONE: it is none. */
Reduce kfuse_reduction(const char *name, int nargs);
Reduce kfuse_along(const char *name, int nargs);
#endif
