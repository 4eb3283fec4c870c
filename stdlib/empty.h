/* empty.h -- declares the warning about statistics of no elements. */
#ifndef STDLIB_EMPTY_H
#define STDLIB_EMPTY_H
#include "vm/array/array.h"

/* Warns, as NumPy does, that the mean, median or spread of no elements is nan; no warning if the result has no
 * elements. dim: the reduced dimension, or DIM_ALL.  Defined in stats.c. */
qs_status qstats_warn_of_empty(qs_vm *vm, const char *fn, const Array *a, int dim);
#endif
