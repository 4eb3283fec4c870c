/* radix.c -- implements radix.h; radix_avx2.c and radix_avx512.c also compile it, for processors with such vectors. */
#include "stdlib/radix.h"
#include "vm/array/contiguous.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
    static size_t take_zeros_##id(const void *src, size_t step, size_t n, void *zeros) {                               \
        const U *x = src;                                                                                              \
        U *to = zeros;                                                                                                 \
        size_t m = 0;                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            if (!(x[i * step] & (U)~TOP(U))) to[m++] = x[i * step];                                                    \
        return m;                                                                                                      \
    }                                                                                                                  \
    static void put_zeros_##id(const void *zeros, size_t n, void *dst, size_t step) {                                  \
        const U *x = zeros;                                                                                            \
        U *y = dst;                                                                                                    \
        while (y[0] & (U)~TOP(U)) y += step;                                                                           \
        for (size_t i = 0; i < n; i++) y[i * step] = x[i];                                                             \
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
#define ROW(id, loop) [QS_##id] = {keys_##loop, back_##loop, take_zeros_##loop, put_zeros_##loop},
    ROW(B1, U8) ROW(I8, I8) ROW(U8, U8) ROW(I16, I16) ROW(U16, U16) ROW(I32, I32) ROW(U32, U32) ROW(I64, I64)
        ROW(U64, U64) ROW(F16, F16) ROW(BF16, BF16) ROW(F32, F32) ROW(F64, F64)};

/* -- items --------------------------------------------------------------------------------------------------------- */
/* `spread` collects the items of a bucket in a line of the cache and then stores the line at once.  With `stream` the
 * stores bypass the cache, which is faster if the items do not fit there. */
enum { LINE_BYTES = 64 };

static inline void store_line(void *to, const void *line, bool stream) {
#ifdef __SSE2__
    if (stream) {
        for (int i = 0; i < LINE_BYTES / 16; i++)
            _mm_stream_si128((__m128i *)to + i, _mm_load_si128((const __m128i *)line + i));
        return;
    }
#endif
    (void)stream;
    memcpy(to, line, LINE_BYTES);
}

/* Makes streamed stores visible to other threads before later stores. */
static inline void finish_lines(bool stream) {
#ifdef __SSE2__
    if (stream) _mm_sfence();
#endif
    (void)stream;
}

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
    static void range_##name(const void *items, size_t n, KeyRange *range) {                                           \
        const T *x = items;                                                                                            \
        W least = (W)range->least, most = (W)range->most, common = (W)range->common, any = (W)range->any;              \
        for (size_t i = 0; i < n; i++) {                                                                               \
            W k = (W)(KEY(T, x[i]) >> (LOW));                                                                          \
            least = k < least ? k : least, most = k > most ? k : most;                                                 \
            common &= k, any |= k;                                                                                     \
        }                                                                                                              \
        *range = (KeyRange){least, most, common, any};                                                                 \
    }                                                                                                                  \
    static void tally_##name(const void *keys, size_t n, Digit d, size_t *counts) {                                    \
        const W *k = keys, base = (W)d.base;                                                                           \
        for (size_t i = 0; i < n; i++) counts[(W)(k[i] - base) >> d.shift]++;                                          \
    }                                                                                                                  \
    static void spread_##name(const void *keys, size_t n, size_t first, Digit d, const uint16_t *bucket,               \
                              size_t *places, bool stream, void *items) {                                              \
        enum { LINE = LINE_BYTES / sizeof(T) };                                                                        \
        const W *k = keys, base = (W)d.base;                                                                           \
        T *x = items, lines[QRADIX_BUCKETS][LINE] __attribute__((aligned(LINE_BYTES)));                                \
        size_t begins[QRADIX_BUCKETS];                                                                                 \
        memcpy(begins, places, sizeof begins);                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                               \
            size_t b = bucket[(W)(k[i] - base) >> d.shift], at = places[b]++, lane = at % LINE, line = at - lane;      \
            lines[b][lane] = PACK(k[i], first + i);                                                                    \
            if (lane < LINE - 1) continue;                                                                             \
            if (begins[b] <= line) store_line(x + line, lines[b], stream);                                             \
            else memcpy(x + begins[b], lines[b] + (begins[b] - line), (at + 1 - begins[b]) * sizeof *x);               \
        }                                                                                                              \
        for (size_t b = 0; b < QRADIX_BUCKETS; b++) {                                                                  \
            size_t line = places[b] - places[b] % LINE, from = begins[b] > line ? begins[b] : line;                    \
            memcpy(x + from, lines[b] + (from - line), (places[b] - from) * sizeof *x);                                \
        }                                                                                                              \
        finish_lines(stream);                                                                                          \
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
#ifdef QRADIX_BYTES
#include "stdlib/vector_sort.h"
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

#if !defined(QRADIX_BYTES)
const KeyLoops *qradix_keys(qs_dtype d) {
    return QCPU_AVX512 ? qradix_keys_avx512(d) : QCPU_AVX2 ? qradix_keys_avx2(d) : &key_loops[d];
}
const ItemLoops *qradix_items(ItemForm form) {
    return QCPU_AVX512 ? qradix_items_avx512(form) : QCPU_AVX2 ? qradix_items_avx2(form) : &item_loops[form];
}
#elif QRADIX_BYTES == 32
const KeyLoops *qradix_keys_avx2(qs_dtype d) { return &key_loops[d]; }
const ItemLoops *qradix_items_avx2(ItemForm form) { return &item_loops[form]; }
#else
const KeyLoops *qradix_keys_avx512(qs_dtype d) { return &key_loops[d]; }
const ItemLoops *qradix_items_avx512(ItemForm form) { return &item_loops[form]; }
#endif
