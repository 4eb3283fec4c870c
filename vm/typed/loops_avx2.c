/* loops_avx2.c -- compiles loops.c for processors with AVX2, without FMA so that all processors give the same results.
 */
#include "vm/array/contiguous.h"
#include "vm/typed/typed.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define TYPED_AVX2
#include "vm/typed/loops.c"
#endif
