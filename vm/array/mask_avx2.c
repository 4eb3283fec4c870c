/* mask_avx2.c -- compiles mask.c for processors with AVX2. */
#include "vm/array/mask.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,popcnt")
#include <immintrin.h>
#define QMASK_AVX2
#include "vm/array/mask.c"
#else
size_t qmask_count_avx2(size_t n, const uint8_t *mask) { return qmask_count(n, mask); }
void qmask_blend_avx2(size_t size, size_t n, const uint8_t *mask, const void *y, bool single, void *x) {
    qmask_blend(size, n, mask, y, single, x);
}
size_t qmask_compress_avx2(size_t size, size_t n, const uint8_t *mask, const void *x, void *out, size_t room,
                           size_t *moved) {
    (void)size, (void)n, (void)mask, (void)x, (void)out, (void)room;
    return *moved = 0, 0;
}
size_t qmask_expand_avx2(size_t size, size_t n, const uint8_t *mask, const void *values, size_t room, void *x,
                         size_t *moved) {
    (void)size, (void)n, (void)mask, (void)values, (void)room, (void)x;
    return *moved = 0, 0;
}
#endif
