/* loops.c once more, for processors with AVX2.  Without FMA: every processor gives the same results. */
#include "vm/array/contiguous.h"
#include "vm/typed/typed.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define TYPED_AVX2
#include "vm/typed/loops.c"
#else
TypedLoop *qtyped_loop_avx2(Typed f, qs_dtype d) { return qtyped_loop(f, d); }
#endif
