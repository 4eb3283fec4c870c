/* mask.c -- implements the loops of mask.h: counts, compresses, expands and blends elements by truth values.
 *
 * The loops have no branches, so their time does not depend on the truth values.  Compressing stores every element and
 * moves on behind the true ones; expanding loads a value for each element and keeps it where the element is true.  Both
 * stop before they would reach the end of the shorter array, and finish with branches.
 *
 * This file is compiled twice: directly, and from mask_avx2.c for processors with AVX2. */
#include "vm/array/mask.h"
#include "vm/array/contiguous.h"

#include <string.h>

#define MASK_LOOPS(bits, T)                                                                                            \
    static inline void blend_##bits(size_t n, const uint8_t *mask, const T *y, T *x) {                                 \
        for (size_t i = 0; i < n; i++) x[i] = mask[i] ? y[i] : x[i];                                                   \
    }                                                                                                                  \
    static inline void fill_##bits(size_t n, const uint8_t *mask, T y, T *x) {                                         \
        for (size_t i = 0; i < n; i++) x[i] = mask[i] ? y : x[i];                                                      \
    }

typedef struct {
    uint64_t low, high;
} Pair;

MASK_LOOPS(8, uint8_t)
MASK_LOOPS(16, uint16_t)
MASK_LOOPS(32, uint32_t)
MASK_LOOPS(64, uint64_t)
MASK_LOOPS(128, Pair)

#define BLEND(bits, T)                                                                                                 \
    if (single) fill_##bits(n, mask, *(const T *)y, x);                                                                \
    else blend_##bits(n, mask, y, x)

static inline void blend_elements(size_t size, size_t n, const uint8_t *mask, const void *y, bool single, void *x) {
    switch (size) {
    case 1: BLEND(8, uint8_t); break;
    case 2: BLEND(16, uint16_t); break;
    case 4: BLEND(32, uint32_t); break;
    case 8: BLEND(64, uint64_t); break;
    default: BLEND(128, Pair); break;
    }
}

/* Counts runs of bytes, so that the inner loop is one of bytes. */
static inline size_t count_bytes(size_t n, const uint8_t *mask) {
    size_t total = 0;
    for (size_t at = 0, m; at < n; at += m) {
        uint8_t run = 0;
        m = n - at < 255 ? n - at : 255;
        for (size_t i = 0; i < m; i++) run = (uint8_t)(run + (mask[at + i] != 0));
        total += run;
    }
    return total;
}

#ifdef QMASK_AVX2
size_t qmask_count_avx2(size_t n, const uint8_t *mask) {
    enum { RUN = 255 * 32 };
    size_t total = 0, at = 0;
    const __m256i zero = _mm256_setzero_si256();
    while (n - at >= 32) {
        size_t end = n - at < RUN ? at + (n - at) / 32 * 32 : at + RUN;
        __m256i falses = zero; /* minus the number of false bytes, in each byte */
        size_t first = at;
        for (; at < end; at += 32)
            falses = _mm256_add_epi8(falses, _mm256_cmpeq_epi8(_mm256_loadu_si256((const void *)(mask + at)), zero));
        uint64_t sums[4];
        _mm256_storeu_si256((void *)sums, _mm256_sad_epu8(_mm256_sub_epi8(zero, falses), zero));
        total += at - first - (size_t)(sums[0] + sums[1] + sums[2] + sums[3]);
    }
    return total + count_bytes(n - at, mask + at);
}

void qmask_blend_avx2(size_t size, size_t n, const uint8_t *mask, const void *y, bool single, void *x) {
    blend_elements(size, n, mask, y, single, x);
}

/* Entry b of the tables has the lanes, four bits each from the lowest on, of the bits that are set in b: the compressed
 * order.  The expanding order has in lane i the number of bits that are set below bit i. */
typedef struct {
    uint32_t compress[256], expand[256];
} Orders;

#define BIT(b, i)   ((b) >> (i)&1u)
#define BELOW(b, i) (uint32_t) __builtin_popcount((b) & ((1u << (i)) - 1u))
#define TAKEN(b, i) (BIT(b, i) ? (uint32_t)(i) << 4 * BELOW(b, i) : 0u)
#define COMPRESS(b)                                                                                                    \
    (TAKEN(b, 0) | TAKEN(b, 1) | TAKEN(b, 2) | TAKEN(b, 3) | TAKEN(b, 4) | TAKEN(b, 5) | TAKEN(b, 6) | TAKEN(b, 7))
#define EXPAND(b)                                                                                                      \
    (BELOW(b, 1) << 4 | BELOW(b, 2) << 8 | BELOW(b, 3) << 12 | BELOW(b, 4) << 16 | BELOW(b, 5) << 20 |                 \
     BELOW(b, 6) << 24 | BELOW(b, 7) << 28)
#define EACH4(f, b)  f(b), f(b + 1u), f(b + 2u), f(b + 3u)
#define EACH16(f, b) EACH4(f, b), EACH4(f, b + 4u), EACH4(f, b + 8u), EACH4(f, b + 12u)
#define EACH64(f, b) EACH16(f, b), EACH16(f, b + 16u), EACH16(f, b + 32u), EACH16(f, b + 48u)
#define EACH256(f)   EACH64(f, 0u), EACH64(f, 64u), EACH64(f, 128u), EACH64(f, 192u)
static const Orders orders = {{EACH256(COMPRESS)}, {EACH256(EXPAND)}};

/* Unpacks eight lanes of four bits. */
static inline __m256i unpack_order(uint32_t order) {
    const __m256i shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    return _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32((int)order), shifts), _mm256_set1_epi32(7));
}

/* Returns a bit for each of eight truth values. */
static inline unsigned bits_of(const uint8_t *mask) {
    __m128i m = _mm_loadl_epi64((const void *)mask);
    return ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(m, _mm_setzero_si128())) & 0xffu;
}

/* The order of four elements of 64 bits as one of eight lanes of 32 bits. */
static inline __m256i doubled(__m256i order) {
    __m256i low = _mm256_permutevar8x32_epi32(order, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
    return _mm256_add_epi32(_mm256_add_epi32(low, low), _mm256_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1));
}

static inline __m256i load_lanes(const char *p) { return _mm256_loadu_si256((const void *)p); }
static inline void store_lanes(char *p, __m256i x) { _mm256_storeu_si256((void *)p, x); }

/* Extends truth values to lanes of 32 or 64 bits. */
static inline __m256i lanes_of(const uint8_t *mask, size_t size) {
    int32_t four;
    if (size == 4) {
        __m256i m = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)mask));
        return _mm256_cmpgt_epi32(m, _mm256_setzero_si256());
    }
    memcpy(&four, mask, sizeof four);
    return _mm256_cmpgt_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four)), _mm256_setzero_si256());
}

static inline size_t compress_lanes(size_t size, size_t n, const uint8_t *mask, const char *x, char *out, size_t room,
                                    size_t *moved) {
    size_t at = 0, to = 0;
    for (; at + 8 <= n && to + 8 <= room; at += 8) {
        unsigned bits = bits_of(mask + at);
        if (size == 4) {
            __m256i v = load_lanes(x + at * 4);
            store_lanes(out + to * 4, _mm256_permutevar8x32_epi32(v, unpack_order(orders.compress[bits])));
            to += (size_t)__builtin_popcount(bits);
            continue;
        }
        for (unsigned half = 0; half < 2; half++) {
            unsigned four = bits >> 4 * half & 15u;
            __m256i v = load_lanes(x + (at + 4 * half) * 8), order = doubled(unpack_order(orders.compress[four]));
            store_lanes(out + to * 8, _mm256_permutevar8x32_epi32(v, order));
            to += (size_t)__builtin_popcount(four);
        }
    }
    return *moved = to, at;
}

static inline size_t expand_lanes(size_t size, size_t n, const uint8_t *mask, const char *values, size_t room, char *x,
                                  size_t *moved) {
    size_t at = 0, from = 0;
    for (; at + 8 <= n && from + 8 <= room; at += 8) {
        unsigned bits = bits_of(mask + at);
        if (size == 4) {
            __m256i v = _mm256_permutevar8x32_epi32(load_lanes(values + from * 4), unpack_order(orders.expand[bits]));
            __m256i old = load_lanes(x + at * 4);
            store_lanes(x + at * 4, _mm256_blendv_epi8(old, v, lanes_of(mask + at, 4)));
            from += (size_t)__builtin_popcount(bits);
            continue;
        }
        for (unsigned half = 0; half < 2; half++) {
            unsigned four = bits >> 4 * half & 15u;
            char *to = x + (at + 4 * half) * 8;
            __m256i order = doubled(unpack_order(orders.expand[four])), old = load_lanes(to);
            __m256i v = _mm256_permutevar8x32_epi32(load_lanes(values + from * 8), order);
            store_lanes(to, _mm256_blendv_epi8(old, v, lanes_of(mask + at + 4 * half, 8)));
            from += (size_t)__builtin_popcount(four);
        }
    }
    return *moved = from, at;
}

size_t qmask_compress_avx2(size_t size, size_t n, const uint8_t *mask, const void *x, void *out, size_t room,
                           size_t *moved) {
    return size == 4 ? compress_lanes(4, n, mask, x, out, room, moved)
                     : compress_lanes(8, n, mask, x, out, room, moved);
}

size_t qmask_expand_avx2(size_t size, size_t n, const uint8_t *mask, const void *values, size_t room, void *x,
                         size_t *moved) {
    return size == 4 ? expand_lanes(4, n, mask, values, room, x, moved)
                     : expand_lanes(8, n, mask, values, room, x, moved);
}
#else
size_t qmask_count(size_t n, const uint8_t *mask) {
    return QCPU_AVX2 ? qmask_count_avx2(n, mask) : count_bytes(n, mask);
}

void qmask_blend(size_t size, size_t n, const uint8_t *mask, const void *y, bool single, void *x) {
    if (QCPU_AVX2) qmask_blend_avx2(size, n, mask, y, single, x);
    else blend_elements(size, n, mask, y, single, x);
}

static bool has_lanes(size_t size) { return size == 4 || size == 8; }

/* `size` is a constant in each call, so that memcpy is one load and one store. */
static inline size_t compress_rest(size_t size, size_t at, size_t n, const uint8_t *mask, const char *x, char *out,
                                   size_t to, size_t room) {
    for (; at < n && to < room; at++) {
        memcpy(out + to * size, x + at * size, size);
        to += mask[at] != 0;
    }
    return to;
}

static inline size_t expand_rest(size_t size, size_t at, size_t n, const uint8_t *mask, const char *values, size_t from,
                                 size_t room, char *x) {
    for (; at < n && from < room; at++) {
        const char *taken = mask[at] ? values + from * size : x + at * size;
        memmove(x + at * size, taken, size);
        from += mask[at] != 0;
    }
    return from;
}

size_t qmask_compress(size_t size, size_t n, const uint8_t *mask, const void *x, void *out, size_t room) {
    size_t to = 0, at = QCPU_AVX2 && has_lanes(size) ? qmask_compress_avx2(size, n, mask, x, out, room, &to) : 0;
    switch (size) {
    case 1: return compress_rest(1, at, n, mask, x, out, to, room);
    case 2: return compress_rest(2, at, n, mask, x, out, to, room);
    case 4: return compress_rest(4, at, n, mask, x, out, to, room);
    case 8: return compress_rest(8, at, n, mask, x, out, to, room);
    default: return compress_rest(16, at, n, mask, x, out, to, room);
    }
}

size_t qmask_expand(size_t size, size_t n, const uint8_t *mask, const void *values, size_t room, void *x) {
    size_t from = 0, at = QCPU_AVX2 && has_lanes(size) ? qmask_expand_avx2(size, n, mask, values, room, x, &from) : 0;
    switch (size) {
    case 1: return expand_rest(1, at, n, mask, values, from, room, x);
    case 2: return expand_rest(2, at, n, mask, values, from, room, x);
    case 4: return expand_rest(4, at, n, mask, values, from, room, x);
    case 8: return expand_rest(8, at, n, mask, values, from, room, x);
    default: return expand_rest(16, at, n, mask, values, from, room, x);
    }
}
#endif
