/* convert.h -- runs of elements from one dtype to another, by the one rule of the language: to an integer toward zero,
 * saturating, NaN gives 0; to bool whether it differs from 0; complex to real drops the imaginary part. */
#ifndef VM_CONVERT_H
#define VM_CONVERT_H
#include "vm/base/dtype.h"

/* Steps count bytes.  Source and destination may be the same memory when dtype and step agree, else they must not
 * overlap. */
typedef void Packed(const void *restrict src, void *restrict dst, size_t n);
Packed *qconv_packed(qs_dtype from, qs_dtype to); /* the loop for elements without gaps; from != to */
Packed *qconv_packed_avx2(qs_dtype from, qs_dtype to);
void qconv_run(qs_dtype from, const void *src, ptrdiff_t sstep, qs_dtype to, void *dst, ptrdiff_t dstep, size_t n);
#endif
