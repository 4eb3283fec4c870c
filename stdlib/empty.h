/* empty.h -- statistics of no elements. */
#ifndef STDLIB_EMPTY_H
#define STDLIB_EMPTY_H
#include "vm/array/array.h"

/* The mean, the median and the spread of no elements are nan, with a warning, as in NumPy.  dim: DIM_ALL, or the one
 * that is walked along; without a result there is no warning.  In stats.c. */
qs_status qstats_warn_of_empty(qs_vm *vm, const char *fn, const Array *a, int dim);
#endif
