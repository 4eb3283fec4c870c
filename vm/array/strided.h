/* strided.h -- iterates over up to four strided operands, one run of the innermost dimension at a time.
 *
 *     qstrided_begin(&n, rank, dims);
 *     qstrided_operand(&n, p, element size, rank of the operand, its dims, its strides);     once per operand
 *     qstrided_fuse(&n);
 *     while (qstrided_next(&n)) work(n.count, n.at[0], n.step[0], n.at[1], n.step[1], …);
 *
 * Dimensions are matched from the first one on.  An operand is stretched in dimensions where its extent is 1 or
 * missing; a vec counts as 1xN.  Fusing drops dimensions of extent 1 and merges neighbours whose strides allow it in
 * all
 * operands, so that contiguous operands become one run. */
#ifndef VM_STRIDED_H
#define VM_STRIDED_H
#include "vm/value/object.h"

enum { NEST_OPERANDS = 4 };

typedef struct Nest {
    int rank, noperands;
    bool started;
    size_t count; /* number of elements in a run */
    int64_t dims[QS_MAX_RANK], index[QS_MAX_RANK];
    ptrdiff_t steps[NEST_OPERANDS][QS_MAX_RANK]; /* strides in bytes */
    char *at[NEST_OPERANDS];                     /* first element of the current run */
    ptrdiff_t step[NEST_OPERANDS];               /* stride within the run, in bytes */
} Nest;

void qstrided_begin(Nest *n, int rank, const int64_t *dims);
void qstrided_operand(Nest *n, const void *p, size_t elem, int rank, const int64_t *dims, const int64_t *strides);
void qstrided_array(Nest *n, const void *p, const Array *a); /* p: its first element */
void qstrided_fuse(Nest *n);
/* Makes the longest dimension the innermost one if the last one is short; only for work whose order does not matter. */
void qstrided_lengthen(Nest *n);
bool qstrided_next(Nest *n);
#endif
