/* radix.c -- implements radix.h; also compiled from radix_avx2.c for processors with AVX2. */
#include "stdlib/radix.h"
#include "vm/array/contiguous.h"

#include <string.h>

/* -- keys ---------------------------------------------------------------------------------------------------------- */
typedef uint8_t U8;
typedef uint16_t U16;
typedef uint32_t U32;
typedef uint64_t U64;

#define TOP(U)                  ((U)((U)1 << (sizeof(U) * 8 - 1)))
#define UNSIGNED_KEY(U, u, inf) (u)
#define SIGNED_KEY(U, u, inf)   ((U)((u) ^ TOP(U)))
#define REAL_KEY(U, u, inf)                                                                                            \
    ((U)((u) & (U)~TOP(U)) > (inf) ? (U) ~(U)0 : (u) > TOP(U) ? (U) ~(u) : (U)((u) | TOP(U))) /* TOP is -0 */
#define REAL_BACK(U, k, inf) ((k) == (U) ~(U)0 ? (U)~TOP(U) : (k)&TOP(U) ? (U)((k) & (U)~TOP(U)) : (U) ~(k))

/* Inverts a key for descending order, or back; NaN keeps its key. */
#define FLIPPED(U, real, k, flip) ((U)((k) ^ ((real) && (k) == (U) ~(U)0 ? (U)0 : (flip))))

#define KEYS(id, U, K, real, inf, KEY, BACK)                                                                           \
    static bool keys_##id(const void *src, size_t step, size_t n, bool down, void *keys) {                             \
        const U *x = src, flip = down ? (U) ~(U)0 : 0;                                                                 \
        K *to = keys;                                                                                                  \
        U signs = 0;                                                                                                   \
        if (step == 1)                                                                                                 \
            for (size_t i = 0; i < n; i++) to[i] = FLIPPED(U, real, KEY(U, x[i], inf), flip);                          \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) to[i] = FLIPPED(U, real, KEY(U, x[i * step], inf), flip);                   \
        for (size_t i = 0; (real) && i < n; i++) signs |= x[i * step] == TOP(U);                                       \
        return signs;                                                                                                  \
    }                                                                                                                  \
    static void back_##id(const void *keys, size_t n, bool down, void *dst, size_t step) {                             \
        U *x = dst, flip = down ? (U) ~(U)0 : 0;                                                                       \
        const K *from = keys;                                                                                          \
        if (step == 1)                                                                                                 \
            for (size_t i = 0; i < n; i++) x[i] = BACK(U, FLIPPED(U, real, (U)from[i], flip), inf);                    \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) x[i * step] = BACK(U, FLIPPED(U, real, (U)from[i], flip), inf);             \
    }                                                                                                                  \
    static void zeros_##id(const void *src, size_t n, void *dst, size_t step) {                                        \
        const U *x = src;                                                                                              \
        U *y = dst;                                                                                                    \
        while (y[0] & (U)~TOP(U)) y += step;                                                                           \
        for (size_t i = 0; i < n; i++)                                                                                 \
            if (!(x[i * step] & (U)~TOP(U))) *y = x[i * step], y += step;                                              \
    }
KEYS(U8, U8, U32, false, 0, UNSIGNED_KEY, UNSIGNED_KEY)
KEYS(I8, U8, U32, false, 0, SIGNED_KEY, SIGNED_KEY)
KEYS(U16, U16, U32, false, 0, UNSIGNED_KEY, UNSIGNED_KEY)
KEYS(I16, U16, U32, false, 0, SIGNED_KEY, SIGNED_KEY)
KEYS(U32, U32, U32, false, 0, UNSIGNED_KEY, UNSIGNED_KEY)
KEYS(I32, U32, U32, false, 0, SIGNED_KEY, SIGNED_KEY)
KEYS(U64, U64, U64, false, 0, UNSIGNED_KEY, UNSIGNED_KEY)
KEYS(I64, U64, U64, false, 0, SIGNED_KEY, SIGNED_KEY)
KEYS(F16, U16, U32, true, 0x7c00, REAL_KEY, REAL_BACK)
KEYS(BF16, U16, U32, true, 0x7f80, REAL_KEY, REAL_BACK)
KEYS(F32, U32, U32, true, 0x7f800000, REAL_KEY, REAL_BACK)
KEYS(F64, U64, U64, true, 0x7ff0000000000000, REAL_KEY, REAL_BACK)

static const KeyLoops key_loops[QS_NDTYPES] = {
#define ROW(id, loop) [QS_##id] = {keys_##loop, back_##loop, zeros_##loop},
    ROW(B1, U8) ROW(I8, I8) ROW(U8, U8) ROW(I16, I16) ROW(U16, U16) ROW(I32, I32) ROW(U32, U32) ROW(I64, I64)
        ROW(U64, U64) ROW(F16, F16) ROW(BF16, BF16) ROW(F32, F32) ROW(F64, F64)};

/* -- items --------------------------------------------------------------------------------------------------------- */
#define WORD(T, x) ((x))
#define PAIR(T, x) ((x).key)
#define FORM(name, T, W, KEY, LOW, PACK, POSITION)                                                                     \
    static void pack_##name(const void *keys, size_t n, size_t first, void *items) {                                   \
        const W *k = keys;                                                                                             \
        T *x = items;                                                                                                  \
        for (size_t i = 0; i < n; i++) x[i] = PACK(k[i], first + i);                                                   \
        (void)first;                                                                                                   \
    }                                                                                                                  \
    static void unpack_##name(const void *items, size_t n, void *keys) {                                               \
        const T *x = items;                                                                                            \
        W *k = keys;                                                                                                   \
        for (size_t i = 0; i < n; i++) k[i] = (W)(KEY(T, x[i]) >> (LOW));                                              \
    }                                                                                                                  \
    static void places_##name(const void *items, size_t n, double *at) {                                               \
        const T *x = items;                                                                                            \
        (void)x;                                                                                                       \
        for (size_t i = 0; i < n; i++) at[i] = POSITION(x[i]);                                                         \
    }                                                                                                                  \
    static void range_##name(const void *items, size_t n, uint64_t range[2]) {                                         \
        const T *x = items;                                                                                            \
        W least = (W)range[0], most = (W)range[1]; /* initially all ones and 0 */                                      \
        for (size_t i = 0; i < n; i++) {                                                                               \
            W k = (W)(KEY(T, x[i]) >> (LOW));                                                                          \
            least = k < least ? k : least, most = k > most ? k : most;                                                 \
        }                                                                                                              \
        range[0] = least, range[1] = most;                                                                             \
    }                                                                                                                  \
    static void tally_##name(const void *keys, size_t n, Digit d, size_t *counts) {                                    \
        const W *k = keys, base = (W)d.base;                                                                           \
        for (size_t i = 0; i < n; i++) counts[(W)(k[i] - base) >> d.shift]++;                                          \
    }                                                                                                                  \
    static void spread_##name(const void *keys, size_t n, size_t first, Digit d, const uint16_t *bucket,               \
                              size_t *places, void *items) {                                                           \
        const W *k = keys, base = (W)d.base;                                                                           \
        T *x = items;                                                                                                  \
        for (size_t i = 0; i < n; i++) x[places[bucket[(W)(k[i] - base) >> d.shift]]++] = PACK(k[i], first + i);       \
        (void)first;                                                                                                   \
    }                                                                                                                  \
    static void count_##name(const void *items, size_t n, Digit d, size_t *counts) {                                   \
        const T *x = items;                                                                                            \
        for (size_t i = 0; i < n; i++) counts[(KEY(T, x[i]) - d.base) >> d.shift & d.mask]++;                          \
    }                                                                                                                  \
    static void scatter_##name(const void *items, size_t n, Digit d, size_t *places, void *to) {                       \
        const T *x = items;                                                                                            \
        T *y = to;                                                                                                     \
        for (size_t i = 0; i < n; i++) y[places[(KEY(T, x[i]) - d.base) >> d.shift & d.mask]++] = x[i];                \
    }                                                                                                                  \
    static bool insert_##name(void *items, size_t n, size_t most) {                                                    \
        T *x = items;                                                                                                  \
        size_t moves = 0;                                                                                              \
        for (size_t i = 1; i < n; i++) {                                                                               \
            if (KEY(T, x[i - 1]) >> (LOW) <= KEY(T, x[i]) >> (LOW)) continue;                                          \
            T v = x[i];                                                                                                \
            size_t j = i;                                                                                              \
            for (; j && KEY(T, x[j - 1]) >> (LOW) > KEY(T, v) >> (LOW); j--) x[j] = x[j - 1];                          \
            x[j] = v;                                                                                                  \
            if ((moves += i - j) > most) return false;                                                                 \
        }                                                                                                              \
        return true;                                                                                                   \
    }
#define ALONE(k, i)   (k)
#define ABOVE(k, i)   ((uint64_t)(k) << 32 | (i))
#define BESIDE(k, i)  ((SortItem){k, i})
#define NOWHERE(x)    0
#define BELOW(x)      ((double)((x)&UINT32_MAX))
#define NEXT_TO_IT(x) ((double)(x).at)
FORM(KEY32, uint32_t, uint32_t, WORD, 0, ALONE, NOWHERE)
FORM(KEY64, uint64_t, uint64_t, WORD, 0, ALONE, NOWHERE)
FORM(WORD, uint64_t, uint32_t, WORD, 32, ABOVE, BELOW)
FORM(PAIR, SortItem, uint64_t, PAIR, 0, BESIDE, NEXT_TO_IT)
FORM(FAR, SortItem, uint32_t, PAIR, 0, BESIDE, NEXT_TO_IT)

/* -- keys only, by comparisons ------------------------------------------------------------------------------------- */
/* Quicksort with vectors: a vector of keys is compared with the pivot, and a permutation moves the larger keys behind
 * the others, so that the whole vector can be stored at the end of the left part and before the right part.  Keys move
 * from one array to the other at each level.  Up to LEAF keys are sorted by counting, for each key, those before it. */
#if defined(QRADIX_AVX2)
#include <immintrin.h>

enum {
    LANES = 8, /* of 32 bits */
    LEAF_VECTORS = 4,
    SHORT_PART = 256 /* below this number of keys, the pivot is the median of three, else of nine */
};

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

static inline __m256i separate(__m256i v, unsigned mask) {
    __m256i order =
        _mm256_srlv_epi32(_mm256_set1_epi32((int)lane_orders[mask]), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    return _mm256_permutevar8x32_epi32(v, order);
}

#define COMPARE(bits)                                                                                                  \
    typedef int##bits##_t Key##bits;                                                                                   \
    typedef Key##bits Vec##bits __attribute__((vector_size(32)));                                                      \
    typedef Key##bits Near##bits __attribute__((vector_size(32), aligned(bits / 8), may_alias));                       \
    enum { LEAF##bits = LEAF_VECTORS * 256 / bits };                                                                   \
    /* Stores x, sorted, in `to`, which may be x.  x has at most `vectors` vectors of keys. */                         \
    static inline __attribute__((always_inline)) void sort_vectors##bits(const Key##bits *x, size_t n, int vectors,    \
                                                                         Key##bits *to) {                              \
        enum { WIDTH = 256 / bits };                                                                                   \
        Key##bits keys[LEAF##bits], places[LEAF##bits] = {0};                                                          \
        Vec##bits v[LEAF_VECTORS], place[LEAF_VECTORS], lane;                                                          \
        for (int i = 0; i < WIDTH; i++) lane[i] = i;                                                                   \
        for (int k = 0; k < vectors; k++) *(Near##bits *)(keys + k * WIDTH) = (Vec##bits){0} + INT##bits##_MAX;        \
        memcpy(keys, x, n * sizeof *x);                                                                                \
        for (int k = 0; k < vectors; k++)                                                                              \
            v[k] = *(const Near##bits *)(keys + k * WIDTH), place[k] = (Vec##bits){0} + (Key##bits)(k * WIDTH);        \
        _Pragma("GCC unroll 4") for (int j = 0; j < vectors; j++)                                                      \
            _Pragma("GCC unroll 8") for (int l = 0; l < WIDTH; l++) {                                                  \
            Vec##bits key = (Vec##bits){0} + keys[j * WIDTH + l];                                                      \
            _Pragma("GCC unroll 4") for (int k = 0; k < j; k++) place[k] -= v[k] > key;                                \
            place[j] -= (v[j] > key) | ((v[j] == key) & (lane > (Key##bits)l));                                        \
            _Pragma("GCC unroll 4") for (int k = j + 1; k < vectors; k++) place[k] += key > v[k];                      \
        }                                                                                                              \
        for (int k = 0; k < vectors; k++) *(Near##bits *)(places + k * WIDTH) = place[k];                              \
        for (size_t i = 0; i < n; i++) to[places[i]] = keys[i];                                                        \
    }                                                                                                                  \
    static void sort_leaf##bits(const Key##bits *x, size_t n, Key##bits *to) {                                         \
        switch ((n * bits + 255) / 256) {                                                                              \
        case 0: break;                                                                                                 \
        case 1: sort_vectors##bits(x, n, 1, to); break;                                                                \
        case 2: sort_vectors##bits(x, n, 2, to); break;                                                                \
        case 3: sort_vectors##bits(x, n, 3, to); break;                                                                \
        default: sort_vectors##bits(x, n, 4, to); break;                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    /* Moves x to y, keys up to the pivot first; returns their number. */                                              \
    static size_t partition##bits(const Key##bits *x, size_t n, Key##bits pivot, Key##bits *y) {                       \
        enum { WIDTH = 256 / bits };                                                                                   \
        size_t left = 0, right = n, i = 0;                                                                             \
        Vec##bits p = (Vec##bits){0} + pivot;                                                                          \
        for (; i < n % WIDTH; i++) {                                                                                   \
            bool larger = x[i] > pivot;                                                                                \
            y[left] = x[i], y[right - 1] = x[i];                                                                       \
            left += !larger, right -= larger;                                                                          \
        }                                                                                                              \
        /* There is room for whole vectors, so that neither store overwrites lanes of the other one that count. */     \
        for (; i < n; i += WIDTH) {                                                                                    \
            Vec##bits v = *(const Near##bits *)(x + i);                                                                \
            unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps((__m256i)(v > p)));                       \
            v = (Vec##bits)separate((__m256i)v, mask);                                                                 \
            *(Near##bits *)(y + left) = v, *(Near##bits *)(y + right - WIDTH) = v;                                     \
            size_t larger = (size_t)__builtin_popcount(mask) * WIDTH / LANES;                                          \
            left += WIDTH - larger, right -= larger;                                                                   \
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
COMPARE(32)
COMPARE(64)
#else
#define compare_KEY32 NULL
#define compare_KEY64 NULL
#endif
#define compare_WORD NULL
#define compare_PAIR NULL
#define compare_FAR  NULL

static const ItemLoops item_loops[ITEM_FORMS] = {
#define FORM_ROW(name, T, low)                                                                                         \
    [ITEM_##name] = {sizeof(T),    low,           pack_##name,  unpack_##name,  places_##name, range_##name,           \
                     tally_##name, spread_##name, count_##name, scatter_##name, insert_##name, compare_##name},
    FORM_ROW(KEY32, uint32_t, 0) FORM_ROW(KEY64, uint64_t, 0) FORM_ROW(WORD, uint64_t, 32) FORM_ROW(PAIR, SortItem, 0)
        FORM_ROW(FAR, SortItem, 0)};

#ifdef QRADIX_AVX2
const KeyLoops *qradix_keys_avx2(qs_dtype d) { return &key_loops[d]; }
const ItemLoops *qradix_items_avx2(ItemForm form) { return &item_loops[form]; }
#else
const KeyLoops *qradix_keys(qs_dtype d) { return QCPU_AVX2 ? qradix_keys_avx2(d) : &key_loops[d]; }
const ItemLoops *qradix_items(ItemForm form) { return QCPU_AVX2 ? qradix_items_avx2(form) : &item_loops[form]; }
#endif
