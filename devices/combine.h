/* combine.h -- partial results of several parts of a launch become one: arrays that a kernel only accumulates into. */
#ifndef DEVICES_COMBINE_H
#define DEVICES_COMBINE_H
#include "vm/base/dtype.h"

typedef enum { COMBINE_ADD, COMBINE_MIN, COMBINE_MAX, COMBINE_AND, COMBINE_OR, COMBINE_XOR } Combine;

/* Integers of 32 and 64 bits, float32, float64; n elements.  Of floats the minimum and maximum ignore NaN, and -0 is
 * the smaller zero. */
void qcombine_start(Combine op, qs_dtype d, void *p, size_t n); /* what leaves the other operand as it is */
void qcombine_into(Combine op, qs_dtype d, void *p, const void *from, size_t n); /* p op= from */
#endif
