/* vector_sort.h -- sorts integers by quicksort with vectors; radix.c includes it in builds for such processors.
 *
 * A vector of keys is compared with the pivot, and a permutation moves the larger keys behind the others.  They are
 * stored at the end of the left part and before the right part.  Keys move from one array to the other at each level.
 * Up to LEAF keys are sorted in registers by a bitonic network.  Vectors have QRADIX_BYTES bytes: 32 (AVX2) or 64
 * (AVX-512). */
#include <immintrin.h>

enum {
    LEAF_VECTORS = 8,
    SHORT_PART = 256 /* below this number of keys, the pivot is the median of three, else of nine */
};

typedef int32_t Key32;
typedef int64_t Key64;
typedef Key32 Vec32 __attribute__((vector_size(QRADIX_BYTES)));
typedef Key64 Vec64 __attribute__((vector_size(QRADIX_BYTES)));
typedef Key32 Near32 __attribute__((vector_size(QRADIX_BYTES), aligned(4), may_alias));
typedef Key64 Near64 __attribute__((vector_size(QRADIX_BYTES), aligned(8), may_alias));

/* -- what the processor has ---------------------------------------------------------------------------------------- */
#if QRADIX_BYTES == 32
#define LANES32 0, 1, 2, 3, 4, 5, 6, 7
#define LANES64 0, 1, 2, 3

/* The order of eight lanes, four bits each, in which those without a bit in m come first. */
#define BELOW_LANE(m, i) __builtin_popcount((m) & ((1u << (i)) - 1))
#define LANE_TO(m, i)                                                                                                  \
    ((unsigned)(i) << 4 * ((m) >> (i)&1 ? 8 - __builtin_popcount(m) + BELOW_LANE(m, i) : (i)-BELOW_LANE(m, i)))
#define ORDER(m)                                                                                                       \
    (LANE_TO(m, 0) | LANE_TO(m, 1) | LANE_TO(m, 2) | LANE_TO(m, 3) | LANE_TO(m, 4) | LANE_TO(m, 5) | LANE_TO(m, 6) |   \
     LANE_TO(m, 7))
#define ORDERS4(m)  ORDER(m), ORDER((m) + 1), ORDER((m) + 2), ORDER((m) + 3)
#define ORDERS16(m) ORDERS4(m), ORDERS4((m) + 4), ORDERS4((m) + 8), ORDERS4((m) + 12)
#define ORDERS64(m) ORDERS16(m), ORDERS16((m) + 16), ORDERS16((m) + 32), ORDERS16((m) + 48)
static const uint32_t lane_orders[256] = {ORDERS64(0u), ORDERS64(64u), ORDERS64(128u), ORDERS64(192u)};

static inline Vec32 min32(Vec32 a, Vec32 b) { return (Vec32)_mm256_min_epi32((__m256i)a, (__m256i)b); }
static inline Vec32 max32(Vec32 a, Vec32 b) { return (Vec32)_mm256_max_epi32((__m256i)a, (__m256i)b); }
static inline Vec64 select64(Vec64 a, Vec64 b, Vec64 second) {
    return (Vec64)_mm256_blendv_epi8((__m256i)a, (__m256i)b, (__m256i)second);
}
static inline Vec64 min64(Vec64 a, Vec64 b) { return select64(a, b, a > b); }
static inline Vec64 max64(Vec64 a, Vec64 b) { return select64(b, a, a > b); }

/* Splits v by the pivot p: stores its keys up to p at `left`, and the others before `right`.  May overwrite the rest of
 * both vectors, the one at `left` and the one that ends at `right`.  Returns the number of others. */
#define SPLIT(bits)                                                                                                    \
    static inline size_t split##bits(Vec##bits v, Vec##bits p, Key##bits *left, Key##bits *right) {                    \
        unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps((__m256i)(v > p)));                           \
        __m256i order = _mm256_srlv_epi32(_mm256_set1_epi32((int)lane_orders[mask]),                                   \
                                          _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));                             \
        v = (Vec##bits)_mm256_permutevar8x32_epi32((__m256i)v, order);                                                 \
        *(Near##bits *)left = v, *(Near##bits *)(right - 256 / bits) = v;                                              \
        return (size_t)__builtin_popcount(mask) * 32 / bits;                                                           \
    }                                                                                                                  \
    /* The same for n keys, fewer than a vector has. */                                                                \
    static inline size_t split_few##bits(const Key##bits *x, size_t n, Key##bits pivot, Key##bits *left,               \
                                         Key##bits *right) {                                                           \
        size_t larger = 0;                                                                                             \
        for (size_t i = 0; i < n; i++) {                                                                               \
            left[i - larger] = x[i], right[-1 - (ptrdiff_t)larger] = x[i];                                             \
            larger += x[i] > pivot;                                                                                    \
        }                                                                                                              \
        return larger;                                                                                                 \
    }
#define FEW_LANES(bits)                                                                                                \
    static inline Vec##bits load_few##bits(const Key##bits *x, size_t n) {                                             \
        Vec##bits given = (Vec##bits){LANES##bits} < (Vec##bits){0} + (Key##bits)n;                                    \
        Vec##bits v = (Vec##bits)_mm256_maskload_epi##bits((const void *)x, (__m256i)given);                           \
        return v | (~given & INT##bits##_MAX);                                                                         \
    }                                                                                                                  \
    static inline void store_few##bits(Key##bits *x, size_t n, Vec##bits v) {                                          \
        Vec##bits given = (Vec##bits){LANES##bits} < (Vec##bits){0} + (Key##bits)n;                                    \
        _mm256_maskstore_epi##bits((void *)x, (__m256i)given, (__m256i)v);                                             \
    }
#else
#define LANES32     0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define LANES64     0, 1, 2, 3, 4, 5, 6, 7
typedef __mmask16 LaneMask32;
typedef __mmask8 LaneMask64;
#define andn_mask32 _kandn_mask16
#define andn_mask64 _kandn_mask8

static inline Vec32 min32(Vec32 a, Vec32 b) { return (Vec32)_mm512_min_epi32((__m512i)a, (__m512i)b); }
static inline Vec32 max32(Vec32 a, Vec32 b) { return (Vec32)_mm512_max_epi32((__m512i)a, (__m512i)b); }
static inline Vec64 min64(Vec64 a, Vec64 b) { return (Vec64)_mm512_min_epi64((__m512i)a, (__m512i)b); }
static inline Vec64 max64(Vec64 a, Vec64 b) { return (Vec64)_mm512_max_epi64((__m512i)a, (__m512i)b); }

#define SPLIT(bits)                                                                                                    \
    static inline size_t store_split##bits(Vec##bits v, LaneMask##bits given, LaneMask##bits mask, Key##bits *left,    \
                                           Key##bits *right) {                                                         \
        size_t larger = (size_t)__builtin_popcount(mask);                                                              \
        _mm512_storeu_si512(left, _mm512_maskz_compress_epi##bits(andn_mask##bits(mask, given), (__m512i)v));          \
        _mm512_mask_storeu_epi##bits(right - larger, (LaneMask##bits)((1u << larger) - 1),                             \
                                     _mm512_maskz_compress_epi##bits(mask, (__m512i)v));                               \
        return larger;                                                                                                 \
    }                                                                                                                  \
    static inline size_t split##bits(Vec##bits v, Vec##bits p, Key##bits *left, Key##bits *right) {                    \
        LaneMask##bits mask = _mm512_cmpgt_epi##bits##_mask((__m512i)v, (__m512i)p);                                   \
        return store_split##bits(v, (LaneMask##bits) ~0, mask, left, right);                                           \
    }                                                                                                                  \
    /* The same for n keys, fewer than a vector has, if there is room for a vector. */                                 \
    static inline size_t split_few##bits(const Key##bits *x, size_t n, Key##bits pivot, Key##bits *left,               \
                                         Key##bits *right) {                                                           \
        LaneMask##bits given = (LaneMask##bits)((1u << n) - 1);                                                        \
        __m512i v = _mm512_maskz_loadu_epi##bits(given, x), p = (__m512i)((Vec##bits){0} + pivot);                     \
        return store_split##bits((Vec##bits)v, given, _mm512_mask_cmpgt_epi##bits##_mask(given, v, p), left, right);   \
    }
#define FEW_LANES(bits)                                                                                                \
    static inline Vec##bits load_few##bits(const Key##bits *x, size_t n) {                                             \
        LaneMask##bits given = (LaneMask##bits)((1u << n) - 1);                                                        \
        return (Vec##bits)_mm512_mask_loadu_epi##bits((__m512i)((Vec##bits){0} + INT##bits##_MAX), given, x);          \
    }                                                                                                                  \
    static inline void store_few##bits(Key##bits *x, size_t n, Vec##bits v) {                                          \
        _mm512_mask_storeu_epi##bits(x, (LaneMask##bits)((1u << n) - 1), (__m512i)v);                                  \
    }
#endif

/* -- the network --------------------------------------------------------------------------------------------------- */
/* One step of bitonic sort: elements whose numbers differ in the bit `distance` change places if they are in the wrong
 * order.  The order is ascending where the bit `size` of their number is 0. */
#define NETWORK(bits)                                                                                                  \
    enum { WIDTH##bits = QRADIX_BYTES * 8 / bits, LEAF##bits = LEAF_VECTORS * WIDTH##bits };                           \
    static inline                                                                                                      \
        __attribute__((always_inline)) void exchange##bits(Vec##bits *v, int vectors, int size, int distance) {        \
        const Vec##bits lane = {LANES##bits};                                                                          \
        int other = distance / WIDTH##bits;                                                                            \
        _Pragma("GCC unroll 8") for (int k = 0; k < vectors; k++) {                                                    \
            if (k & other) continue;                                                                                   \
            Vec##bits a = v[k], b = other ? v[k | other] : __builtin_shuffle(a, lane ^ distance);                      \
            Vec##bits low = min##bits(a, b), high = max##bits(a, b);                                                   \
            bool down = k * WIDTH##bits & size;                                                                        \
            if (other) v[k] = down ? high : low, v[k | other] = down ? low : high;                                     \
            else {                                                                                                     \
                Vec##bits second = ((lane & distance) != 0) ^ (((lane + k * WIDTH##bits) & size) != 0);                \
                v[k] = __builtin_shuffle(low, high, lane + (second & WIDTH##bits));                                    \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static inline __attribute__((always_inline)) void merge##bits(Vec##bits *v, int vectors, int size) {               \
        if (size > vectors * WIDTH##bits) return;                                                                      \
        if (size > 64) exchange##bits(v, vectors, size, 64);                                                           \
        if (size > 32) exchange##bits(v, vectors, size, 32);                                                           \
        if (size > 16) exchange##bits(v, vectors, size, 16);                                                           \
        if (size > 8) exchange##bits(v, vectors, size, 8);                                                             \
        if (size > 4) exchange##bits(v, vectors, size, 4);                                                             \
        if (size > 2) exchange##bits(v, vectors, size, 2);                                                             \
        exchange##bits(v, vectors, size, 1);                                                                           \
    }                                                                                                                  \
    /* Stores x, sorted, in `to`, which may be x.  The keys fill `vectors` vectors, a power of 2, at least in part. */ \
    static inline __attribute__((always_inline)) void sort_vectors##bits(const Key##bits *x, size_t n, int vectors,    \
                                                                         Key##bits *to) {                              \
        Vec##bits v[LEAF_VECTORS];                                                                                     \
        size_t full = n / WIDTH##bits;                                                                                 \
        _Pragma("GCC unroll 8") for (size_t k = 0; k < (size_t)vectors; k++) v[k] =                                    \
            k < full ? (Vec##bits) * (const Near##bits *)(x + k * WIDTH##bits)                                         \
                     : load_few##bits(x + k * WIDTH##bits, k == full ? n % WIDTH##bits : 0);                           \
        merge##bits(v, vectors, 2), merge##bits(v, vectors, 4), merge##bits(v, vectors, 8);                            \
        merge##bits(v, vectors, 16), merge##bits(v, vectors, 32), merge##bits(v, vectors, 64);                         \
        merge##bits(v, vectors, 128);                                                                                  \
        _Pragma("GCC unroll 8") for (size_t k = 0; k < (size_t)vectors; k++) {                                         \
            if (k < full) *(Near##bits *)(to + k * WIDTH##bits) = v[k];                                                \
            else if (k == full) store_few##bits(to + k * WIDTH##bits, n % WIDTH##bits, v[k]);                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void sort_leaf##bits(const Key##bits *x, size_t n, Key##bits *to) {                                         \
        if (n <= WIDTH##bits) sort_vectors##bits(x, n, 1, to);                                                         \
        else if (n <= 2 * WIDTH##bits) sort_vectors##bits(x, n, 2, to);                                                \
        else if (n <= 4 * WIDTH##bits) sort_vectors##bits(x, n, 4, to);                                                \
        else sort_vectors##bits(x, n, 8, to);                                                                          \
    }

/* -- quicksort ----------------------------------------------------------------------------------------------------- */
#define QUICKSORT(bits)                                                                                                \
    /* Moves x to y, keys up to the pivot first; returns their number. */                                              \
    static size_t partition##bits(const Key##bits *x, size_t n, Key##bits pivot, Key##bits *y) {                       \
        size_t few = n % WIDTH##bits, larger = split_few##bits(x, few, pivot, y, y + n);                               \
        size_t left = few - larger, right = n - larger;                                                                \
        Vec##bits p = (Vec##bits){0} + pivot;                                                                          \
        /* There is room for whole vectors, so that no store overwrites lanes of another one that count. */            \
        for (size_t i = few; i < n; i += WIDTH##bits) {                                                                \
            larger = split##bits(*(const Near##bits *)(x + i), p, y + left, y + right);                                \
            left += WIDTH##bits - larger, right -= larger;                                                             \
        }                                                                                                              \
        return left;                                                                                                   \
    }                                                                                                                  \
    static Key##bits middle##bits(Key##bits a, Key##bits b, Key##bits c) {                                             \
        Key##bits low = a < b ? a : b, high = a < b ? b : a;                                                           \
        return c < low ? low : c > high ? high : c;                                                                    \
    }                                                                                                                  \
    static Key##bits choose_pivot##bits(const Key##bits *x, size_t n) {                                                \
        size_t s = n / 9;                                                                                              \
        if (n < SHORT_PART) return middle##bits(x[s], x[n / 2], x[n - 1 - s]);                                         \
        return middle##bits(middle##bits(x[s / 2], x[s], x[2 * s]), middle##bits(x[3 * s], x[4 * s], x[5 * s]),        \
                            middle##bits(x[6 * s], x[7 * s], x[n - 1 - s / 2]));                                       \
    }                                                                                                                  \
    static void sift##bits(Key##bits *x, size_t i, size_t n) {                                                         \
        Key##bits key = x[i];                                                                                          \
        for (size_t child; (child = 2 * i + 1) < n; i = child) {                                                       \
            child += child + 1 < n && x[child + 1] > x[child];                                                         \
            if (x[child] <= key) break;                                                                                \
            x[i] = x[child];                                                                                           \
        }                                                                                                              \
        x[i] = key;                                                                                                    \
    }                                                                                                                  \
    /* Heap sort, for keys that defeat the choice of pivots. */                                                        \
    static void sort_heap##bits(Key##bits *x, size_t n) {                                                              \
        for (size_t i = n / 2; i-- > 0;) sift##bits(x, i, n);                                                          \
        for (size_t i = n; i-- > 1;) {                                                                                 \
            Key##bits largest = x[0];                                                                                  \
            x[0] = x[i], x[i] = largest;                                                                               \
            sift##bits(x, 0, i);                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    /* Sorts x, and stores the result in y if `across` is set, else in x; the other array is overwritten. */           \
    static void sort_part##bits(Key##bits *x, size_t n, Key##bits *y, bool across, int depth) {                        \
        if (n <= LEAF##bits) {                                                                                         \
            sort_leaf##bits(x, n, across ? y : x);                                                                     \
            return;                                                                                                    \
        }                                                                                                              \
        if (depth == 0) {                                                                                              \
            sort_heap##bits(x, n);                                                                                     \
            if (across) memcpy(y, x, n * sizeof *x);                                                                   \
            return;                                                                                                    \
        }                                                                                                              \
        Key##bits pivot = choose_pivot##bits(x, n);                                                                    \
        size_t left = partition##bits(x, n, pivot, y);                                                                 \
        if (left < n) sort_part##bits(y + left, n - left, x + left, !across, depth - 1);                               \
        else if (pivot > INT##bits##_MIN) { /* the pivot is the largest key: all its copies are in place */            \
            left = partition##bits(x, n, pivot - 1, y);                                                                \
            if (!across) memcpy(x + left, y + left, (n - left) * sizeof *x);                                           \
        } else {                                                                                                       \
            if (!across) memcpy(x, y, n * sizeof *x);                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        sort_part##bits(y, left, x, !across, depth - 1);                                                               \
    }                                                                                                                  \
    static void compare_KEY##bits(void *items, size_t n, void *spare) {                                                \
        uint##bits##_t *x = items, top = TOP(uint##bits##_t);                                                          \
        for (size_t i = 0; i < n; i++) x[i] ^= top; /* signed numbers in the same order */                             \
        sort_part##bits(items, n, spare, false, 2 * (64 - __builtin_clzll(n | 1)));                                    \
        for (size_t i = 0; i < n; i++) x[i] ^= top;                                                                    \
    }
SPLIT(32)
SPLIT(64)
FEW_LANES(32)
FEW_LANES(64)
NETWORK(32)
NETWORK(64)
QUICKSORT(32)
QUICKSORT(64)
