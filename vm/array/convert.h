/* convert.h -- converts runs of elements from one dtype to another.
 *
 * The rules are the same everywhere in the language.  Conversion to an integer truncates toward zero and saturates; NaN
 * gives 0.  Conversion to bool tests for != 0.  Conversion of complex to real drops the imaginary part. */
#ifndef VM_CONVERT_H
#define VM_CONVERT_H
#include "vm/base/dtype.h"

/* Steps are in bytes.  Source and destination may be the same memory if dtype and step agree; otherwise they must not
 * overlap. */
typedef void Packed(const void *restrict src, void *restrict dst, size_t n);
Packed *qconv_packed(qs_dtype from, qs_dtype to); /* returns the loop for contiguous elements; from != to */
Packed *qconv_packed_avx2(qs_dtype from, qs_dtype to);
void qconv_run(qs_dtype from, const void *src, ptrdiff_t sstep, qs_dtype to, void *dst, ptrdiff_t dstep, size_t n);
#endif
