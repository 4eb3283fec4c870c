/* combine.h -- combines partial results from the parts of a launch, for arrays that a kernel only accumulates into. */
#ifndef DEVICES_COMBINE_H
#define DEVICES_COMBINE_H
#include "vm/base/dtype.h"

typedef enum { COMBINE_ADD, COMBINE_MIN, COMBINE_MAX, COMBINE_AND, COMBINE_OR, COMBINE_XOR } Combine;

/* The element types are 32-bit and 64-bit integers, float32 and float64; n is the number of elements.  The minimum and
 * maximum of floats ignore NaN and treat -0 as less than +0. */
void qcombine_start(Combine op, qs_dtype d, void *p, size_t n); /* fills p with the identity element of op */
void qcombine_into(Combine op, qs_dtype d, void *p, const void *from, size_t n); /* p op= from */
#endif
