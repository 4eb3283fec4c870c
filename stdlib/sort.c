/* sort.c -- sorting by radix.
 *
 *     elements ── keys: unsigned numbers in the same order ── passes over digits, least first ── elements again
 *
 * Each pass is stable, so elements that are equal keep their order.  The keys are taken relative to the least one,
 * which leaves as many digits as the values differ in.  Of many digits only the first ones are passed over; what is
 * then still out of order is near its place, and insertion ends the work (unless there is much of it: then all digits
 * have to be).  NaN has the largest key whichever way is sorted, and -0
 * that of 0.  Several lines are sorted at once
 * by as many threads; a long line alone is cut into pieces that all take part in each pass. */
#include "devices/pool.h"
#include "devices/threads.h"
#include "stdlib/stdlib.h"

#include <string.h>

enum {
    CHUNK = 512,       /* keys that are made at once */
    FEW = 64,          /* so many are sorted by insertion */
    SHORT = 1 << 13,   /* fewer elements get narrow digits: clearing the counters takes time, too */
    NARROW = 8, WIDE = 10,
    PASSES = 3,        /* then insertion */
    PATIENCE = 4,      /* places that insertion may move an element by, on average */
    PIECE = 1 << 16,   /* elements worth a thread */
    PIECES = 64
};

/* -- keys ---------------------------------------------------------------------------------------------------------- */
typedef uint8_t U8;
typedef uint16_t U16;
typedef uint32_t U32;
typedef uint64_t U64;

#define TOP(U) ((U)((U)1 << (sizeof(U) * 8 - 1)))
#define UNSIGNED_KEY(U, u, inf) (u)
#define SIGNED_KEY(U, u, inf) ((U)((u) ^ TOP(U)))
#define REAL_KEY(U, u, inf)                                                                                            \
    ((U)((u) & (U)~TOP(U)) > (inf) ? (U) ~(U)0 : (u) > TOP(U) ? (U) ~(u) : (U)((u) | TOP(U))) /* -0 is TOP itself */
#define REAL_BACK(U, k, inf) ((k) == (U)~(U)0 ? (U)~TOP(U) : (k) & TOP(U) ? (U)((k) & (U)~TOP(U)) : (U) ~(k))

/* A key for the other direction, and back again: NaN stays what it is. */
#define TURNED(U, real, k, flip) ((U)((k) ^ ((real) && (k) == (U) ~(U)0 ? (U)0 : (flip))))

/* down: larger elements get smaller keys, NaN stays last.  Keys of up to 32 bits are kept in as many, others in 64. */
typedef union { uint32_t narrow[CHUNK]; uint64_t wide[CHUNK]; } Keys;

#define KEYS(id, U, K, real, inf, KEY, BACK)                                                                           \
    static bool keys_##id(const void *src, size_t step, size_t n, bool down, void *keys) {                             \
        const U *x = src, flip = down ? (U) ~(U)0 : 0;                                                                 \
        K *to = keys;                                                                                                  \
        U signs = 0;                                                                                                   \
        if (step == 1)                                                                                                 \
            for (size_t i = 0; i < n; i++) to[i] = TURNED(U, real, KEY(U, x[i], inf), flip);                           \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) to[i] = TURNED(U, real, KEY(U, x[i * step], inf), flip);                    \
        for (size_t i = 0; (real) && i < n; i++) signs |= x[i * step] == TOP(U);                                       \
        return signs;                                                                                                  \
    }                                                                                                                  \
    static void back_##id(const void *keys, size_t n, bool down, void *dst, size_t step) {                             \
        U *x = dst, flip = down ? (U) ~(U)0 : 0;                                                                       \
        const K *from = keys;                                                                                          \
        if (step == 1)                                                                                                 \
            for (size_t i = 0; i < n; i++) x[i] = BACK(U, TURNED(U, real, (U)from[i], flip), inf);                     \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) x[i * step] = BACK(U, TURNED(U, real, (U)from[i], flip), inf);              \
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

typedef bool MakeKeys(const void *src, size_t step, size_t n, bool down, void *keys); /* true: -0 is among them */
typedef void TakeBack(const void *keys, size_t n, bool down, void *dst, size_t step);
/* Zeros get the signs they had, in their old order. */
typedef void SignZeros(const void *src, size_t n, void *dst, size_t step);
static const struct { MakeKeys *make; TakeBack *back; SignZeros *zeros; } loops[QS_NDTYPES] = {
#define ROW(id, loop) [QS_##id] = {keys_##loop, back_##loop, zeros_##loop},
    ROW(B1, U8) ROW(I8, I8) ROW(U8, U8) ROW(I16, I16) ROW(U16, U16) ROW(I32, I32) ROW(U32, U32) ROW(I64, I64)
    ROW(U64, U64) ROW(F16, F16) ROW(BF16, BF16) ROW(F32, F32) ROW(F64, F64)
};

/* -- items: what is moved about ------------------------------------------------------------------------------------ */
typedef struct Items Items;
typedef struct { /* a form of items: the key alone, the key above the position, or both side by side */
    size_t size;
    int low;   /* bits below the key */
    void (*pack)(void *items, size_t first, size_t n, const Keys *keys, uint64_t range[2]);
    void (*unpack)(const void *items, size_t first, size_t n, Keys *keys);
    void (*places)(const void *items, size_t first, size_t n, double *at, size_t step);
    void (*count)(const Items *s, size_t first, size_t last, size_t *counts);
    void (*scatter)(const Items *s, size_t first, size_t last, size_t *places);
    bool (*insert)(void *items, size_t first, size_t last); /* false: too much to move, given up */
    uint64_t (*key)(const void *items, size_t i);
} Form;

struct Items { /* one line while it is sorted */
    const Form *form;
    Threads *threads;  /* NULL: by the caller alone */
    size_t n, piece;
    int npieces;
    void *items, *spare;
    size_t *counts;    /* a table of digits for each piece */
    uint64_t base;     /* the least key, and as many low bits */
    int shift, digit;  /* of this pass: its place and width in bits */
    /* the elements */
    qs_dtype d;
    bool down;
    const char *src;
    char *dst;
    double *index;     /* NULL: not wanted */
    size_t step;       /* of elements and index */
    uint64_t least[PIECES], most[PIECES];
    bool signs[PIECES];        /* -0 is in the piece */
    size_t border[PIECES + 1]; /* for insertion: no element has to cross these */
    bool inserted[PIECES];
};

#define WORD(T, x) ((x))
#define PAIR(T, x) ((x).key)
#define FORM(name, T, W, KEY, LOW, PACK, POSITION)                                                                     \
    static void pack_##name(void *items, size_t first, size_t n, const Keys *keys, uint64_t range[2]) {                \
        T *x = (T *)items + first;                                                                                     \
        uint32_t narrow_least = UINT32_MAX, narrow_most = 0;                                                           \
        uint64_t wide_least = UINT64_MAX, wide_most = 0;                                                               \
        for (size_t i = 0; i < n; i++) {                                                                               \
            x[i] = PACK(keys->W[i], first + i);                                                                        \
            W##_least = keys->W[i] < W##_least ? keys->W[i] : W##_least;                                               \
            W##_most = keys->W[i] > W##_most ? keys->W[i] : W##_most;                                                  \
        }                                                                                                              \
        range[0] = W##_least < range[0] ? W##_least : range[0], range[1] = W##_most > range[1] ? W##_most : range[1];  \
        (void)narrow_least, (void)narrow_most, (void)wide_least, (void)wide_most;                                      \
    }                                                                                                                  \
    static void unpack_##name(const void *items, size_t first, size_t n, Keys *keys) {                                 \
        const T *x = (const T *)items + first;                                                                         \
        for (size_t i = 0; i < n; i++) keys->W[i] = (W)(KEY(T, x[i]) >> (LOW));                                        \
    }                                                                                                                  \
    static void places_##name(const void *items, size_t first, size_t n, double *at, size_t step) {                    \
        const T *x = (const T *)items + first;                                                                         \
        (void)x;                                                                                                       \
        for (size_t i = 0; i < n; i++) at[i * step] = POSITION(x[i]);                                                  \
    }                                                                                                                  \
    static void count_##name(const Items *s, size_t first, size_t last, size_t *counts) {                              \
        const T *x = s->items;                                                                                         \
        uint64_t base = s->base, mask = (1u << s->digit) - 1;                                                          \
        for (size_t i = first; i < last; i++) counts[(KEY(T, x[i]) - base) >> s->shift & mask]++;                      \
    }                                                                                                                  \
    static void scatter_##name(const Items *s, size_t first, size_t last, size_t *places) {                            \
        const T *x = s->items;                                                                                         \
        T *y = s->spare;                                                                                               \
        uint64_t base = s->base, mask = (1u << s->digit) - 1;                                                          \
        for (size_t i = first; i < last; i++) y[places[(KEY(T, x[i]) - base) >> s->shift & mask]++] = x[i];            \
    }                                                                                                                  \
    static bool insert_##name(void *items, size_t first, size_t last) {                                                \
        T *x = items;                                                                                                  \
        size_t moves = 0, most = PATIENCE * (last - first) + FEW * FEW;                                                \
        for (size_t i = first + 1; i < last; i++) {                                                                    \
            if (KEY(T, x[i - 1]) >> (LOW) <= KEY(T, x[i]) >> (LOW)) continue;                                          \
            T v = x[i];                                                                                                \
            size_t j = i;                                                                                              \
            for (; j > first && KEY(T, x[j - 1]) >> (LOW) > KEY(T, v) >> (LOW); j--) x[j] = x[j - 1];                  \
            x[j] = v;                                                                                                  \
            if ((moves += i - j) > most) return false;                                                                 \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    static uint64_t key_##name(const void *items, size_t i) { return KEY(T, ((const T *)items)[i]); }                  \
    static const Form name##_form = {sizeof(T),    LOW,            pack_##name,   unpack_##name, places_##name,        \
                                     count_##name, scatter_##name, insert_##name, key_##name};
#define ALONE(k, i) (k)
#define ABOVE(k, i) ((uint64_t)(k) << 32 | (i))
#define BESIDE(k, i) ((SortItem){k, i})
#define NOWHERE(x) 0
#define BELOW(x) ((double)((x) & UINT32_MAX))
#define NEXT_TO_IT(x) ((double)(x).at)
typedef uint32_t narrow;
typedef uint64_t wide;
FORM(key32, uint32_t, narrow, WORD, 0, ALONE, NOWHERE)
FORM(key64, uint64_t, wide, WORD, 0, ALONE, NOWHERE)
FORM(word, uint64_t, narrow, WORD, 32, ABOVE, BELOW)
FORM(pair, SortItem, wide, PAIR, 0, BESIDE, NEXT_TO_IT)
FORM(far, SortItem, narrow, PAIR, 0, BESIDE, NEXT_TO_IT)

static const Form *form_of(qs_dtype d, size_t n, bool index) {
    bool small = qdtype_size(d) < 8;
    if (!index) return small ? &key32_form : &key64_form;
    return !small ? &pair_form : n <= UINT32_MAX ? &word_form : &far_form;
}

/* -- pieces of a line ---------------------------------------------------------------------------------------------- */
static size_t end_of(const Items *s, int64_t piece) {
    size_t end = ((size_t)piece + 1) * s->piece;
    return end < s->n ? end : s->n;
}

static size_t *counts_of(const Items *s, int64_t piece) { return s->counts + ((size_t)piece << s->digit); }

static void for_pieces(Items *s, ThreadsJob *job) {
    if (s->threads && s->npieces > 1) qthreads_run(s->threads, s->npieces, 1, job, s);
    else job(s, 0, s->npieces, 0);
}

static void make_keys(void *ud, int64_t first, int64_t last, int worker) {
    Items *s = ud;
    Keys keys;
    (void)worker;
    for (int64_t p = first; p < last; p++) {
        uint64_t range[2] = {UINT64_MAX, 0};
        s->signs[p] = false;
        for (size_t at = (size_t)p * s->piece, n; at < end_of(s, p); at += n) {
            n = end_of(s, p) - at < CHUNK ? end_of(s, p) - at : CHUNK;
            s->signs[p] |= loops[s->d].make(s->src + at * s->step * qdtype_size(s->d), s->step, n, s->down, &keys);
            s->form->pack(s->items, at, n, &keys, range);
        }
        s->least[p] = range[0], s->most[p] = range[1];
    }
}

static void take_back(void *ud, int64_t first, int64_t last, int worker) {
    Items *s = ud;
    Keys keys;
    (void)worker;
    for (int64_t p = first; p < last; p++)
        for (size_t at = (size_t)p * s->piece, n; at < end_of(s, p); at += n) {
            n = end_of(s, p) - at < CHUNK ? end_of(s, p) - at : CHUNK;
            s->form->unpack(s->items, at, n, &keys);
            loops[s->d].back(&keys, n, s->down, s->dst + at * s->step * qdtype_size(s->d), s->step);
            if (s->index) s->form->places(s->items, at, n, s->index + at * s->step, s->step);
        }
}

static void count_digits(void *ud, int64_t first, int64_t last, int worker) {
    Items *s = ud;
    (void)worker;
    for (int64_t p = first; p < last; p++) {
        memset(counts_of(s, p), 0, sizeof *s->counts << s->digit);
        s->form->count(s, (size_t)p * s->piece, end_of(s, p), counts_of(s, p));
    }
}

static void scatter_digits(void *ud, int64_t first, int64_t last, int worker) {
    Items *s = ud;
    (void)worker;
    for (int64_t p = first; p < last; p++) s->form->scatter(s, (size_t)p * s->piece, end_of(s, p), counts_of(s, p));
}

/* Counts become the places where the items of each digit begin, piece after piece; false: all have one digit. */
static bool assign_places(Items *s) {
    size_t at = 0;
    for (size_t digit = 0; digit < (size_t)1 << s->digit; digit++) {
        size_t begin = at;
        for (int p = 0; p < s->npieces; p++) {
            size_t *place = counts_of(s, p) + digit, n = *place;
            *place = at, at += n;
        }
        if (at - begin == s->n) return false;
    }
    return true;
}

static void pass(Items *s) {
    for_pieces(s, count_digits);
    if (!assign_places(s)) return;
    for_pieces(s, scatter_digits);
    void *t = s->items;
    s->items = s->spare, s->spare = t;
}

/* -- a line -------------------------------------------------------------------------------------------------------- */
static void insert_pieces(void *ud, int64_t first, int64_t last, int worker) {
    Items *s = ud;
    (void)worker;
    for (int64_t p = first; p < last; p++)
        s->inserted[p] = s->form->insert(s->items, s->border[p], s->border[p + 1]);
}

/* Ends what passes over the bits from `shift` on have begun: elements are out of order only among equal such bits. */
static bool finish(Items *s, int shift) {
    s->border[0] = 0, s->border[s->npieces] = s->n;
    for (int p = 1; p < s->npieces; p++) {
        size_t at = (size_t)p * s->piece;
        if (at < s->border[p - 1]) at = s->border[p - 1];
        while (at > 0 && at < s->n &&
               (s->form->key(s->items, at) - s->base) >> shift == (s->form->key(s->items, at - 1) - s->base) >> shift)
            at++;
        s->border[p] = at;
    }
    for_pieces(s, insert_pieces);
    for (int p = 0; p < s->npieces; p++)
        if (!s->inserted[p]) return false;
    return true;
}

/* Passes over the `bits` bits from `low` on. */
static void pass_over(Items *s, int low, int bits, int passes) {
    s->digit = (bits + passes - 1) / passes;
    for (int k = 0; k < passes; k++) s->shift = low + k * s->digit, pass(s);
}

static void sort_items(Items *s) {
    uint64_t least = UINT64_MAX, most = 0;
    if (s->n <= FEW && s->form->insert(s->items, 0, s->n)) return;
    for (int p = 0; p < s->npieces; p++) {
        if (s->least[p] < least) least = s->least[p];
        if (s->most[p] > most) most = s->most[p];
    }
    if (least == most) return;
    int low = s->form->low, bits = 64 - __builtin_clzll(most - least), widest = s->n < SHORT ? NARROW : WIDE;
    int passes = (bits + widest - 1) / widest, left = bits - PASSES * widest;
    s->base = least << low;
    if (left > 0) {
        pass_over(s, low + left, bits - left, PASSES);
        if (finish(s, low + left)) return;
    }
    pass_over(s, low, bits, passes);
}

/* Keys do not know the sign of zero: it is put back, unless a line is sorted in its place. */
static void end_line(Items *s) {
    for_pieces(s, take_back);
    bool signs = false;
    for (int p = 0; p < s->npieces; p++) signs |= s->signs[p];
    if (signs && s->src != s->dst) loops[s->d].zeros(s->src, s->n, s->dst, s->step);
}

/* What a line needs beside its elements: items twice, then the counters. */
static size_t item_bytes(const Items *s) { return s->n * s->form->size; }
static size_t work_bytes(const Items *s) {
    return 2 * item_bytes(s) + ((size_t)s->npieces * sizeof *s->counts << (s->n < SHORT ? NARROW : WIDE));
}

static void give_room(Items *s, char *room) {
    s->counts = (void *)(room + 2 * item_bytes(s)); /* items of a whole line: a multiple of 8 bytes, twice */
    s->items = room, s->spare = room + item_bytes(s);
}

typedef struct { Items line; ArrayLines lines; char *room; size_t bytes; } Lines;

static void sort_lines(void *ud, int64_t first, int64_t last, int worker) {
    const Lines *l = ud;
    size_t size = qdtype_size(l->line.d);
    for (size_t k = (size_t)first; k < (size_t)last; k++) {
        Items s = l->line;
        size_t at = qstats_line_at(&l->lines, k);
        s.src += at * size, s.dst += at * size;
        if (s.index) s.index += at;
        give_room(&s, l->room + (size_t)worker * l->bytes);
        make_keys(&s, 0, 1, worker);
        sort_items(&s);
        end_line(&s);
    }
}

static void cut(Items *s, Threads *t) {
    size_t most = (size_t)qthreads_count(t), pieces = s->n / PIECE;
    if (pieces > most) pieces = most;
    if (pieces > PIECES) pieces = PIECES;
    if (pieces < 1) pieces = 1;
    s->piece = (s->n + pieces - 1) / pieces;
    s->npieces = (int)((s->n + s->piece - 1) / s->piece);
}

static void sort_one(Lines *l, Threads *t) {
    Items *s = &l->line;
    s->threads = t;
    give_room(s, l->room);
    for_pieces(s, make_keys);
    sort_items(s);
    end_line(s);
}

static qs_status no_memory(qs_vm *vm, const char *fn, size_t n) {
    return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu elements", fn, n);
}

qs_status qsort_lines(qs_vm *vm, const char *fn, qs_dtype d, const ArrayLines *l, bool down, const void *src, void *dst,
                      double *index) {
    Ctx *c = qvm_ctx(vm);
    Threads *t = qthreads_of(c);
    size_t lines = l->outer * l->inner;
    if (!lines || !l->n) return QS_OK;
    int64_t grain = 1 + (int64_t)(PIECE / 4 / l->n);
    size_t workers = (size_t)qthreads_workers(t, (int64_t)lines, grain);
    Lines all = {.lines = *l, .line = {.form = form_of(d, l->n, index), .n = l->n, .piece = l->n, .npieces = 1, .d = d,
                                       .down = down, .src = src, .dst = dst, .index = index, .step = l->inner}};
    if (lines == 1) cut(&all.line, t);
    all.bytes = (work_bytes(&all.line) + 63) & ~(size_t)63;
    if (!(all.room = qpool_get(c, all.bytes * workers))) return no_memory(vm, fn, l->n);
    if (lines == 1) sort_one(&all, t);
    else qthreads_run(t, (int64_t)lines, grain, sort_lines, &all);
    qpool_put(c, all.room, all.bytes * workers);
    return QS_OK;
}

void qsort_doubles(double *x, size_t n, double *spare) {
    size_t counts[1 << WIDE];
    Items s = {.form = &key64_form, .n = n, .piece = n, .npieces = 1, .items = x, .spare = spare, .counts = counts,
               .d = QS_F64, .src = (const char *)x, .dst = (char *)x, .step = 1};
    if (!n) return;
    make_keys(&s, 0, 1, 0);
    sort_items(&s);
    end_line(&s);
}

void qsort_items(qs_dtype d, const void *x, size_t n, size_t first, SortItem *items) {
    Keys keys;
    uint64_t range[2] = {0, 0};
    const Form *form = qdtype_size(d) < 8 ? &far_form : &pair_form;
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < CHUNK ? n - at : CHUNK;
        loops[d].make((const char *)x + at * qdtype_size(d), 1, m, false, &keys);
        form->pack(items, at, m, &keys, range);
    }
    for (size_t i = 0; i < n; i++) items[i].at += first;
}

SortItem *qsort_by_key(SortItem *x, SortItem *spare, size_t n) {
    size_t counts[1 << WIDE];
    Items s = {.form = &pair_form, .n = n, .piece = n, .npieces = 1, .items = x, .spare = spare, .counts = counts};
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = x[i].key < least ? x[i].key : least;
        most = x[i].key > most ? x[i].key : most;
    }
    s.least[0] = least, s.most[0] = most;
    if (n > 1) sort_items(&s);
    return s.items;
}

/* sort(x), sort(x, dim), sort(x, "descend"), sort(x, dim, "descend"); the second result holds the old positions. */
qs_status qsort_sort(qs_vm *vm, qs_call_args *c) {
    Array *a, *r;
    const void *p;
    void *q;
    bool down = false;
    int dim = -1;
    for (int i = 1; i < c->nin; i++) {
        const char *mode;
        if (c->in[i].kind != QS_STRING) { TRY(qarg_dim(vm, "sort", c->in[i], &dim)); continue; }
        TRY(qarg_string(vm, "sort", "mode", c->in[i], &mode, NULL));
        down = !strcmp(mode, "descend");
        if (!down && strcmp(mode, "ascend"))
            return qs_fail(vm, QS_EVALUE, "sort: mode must be \"ascend\" or \"descend\", got \"%s\"", mode);
    }
    if (c->in[0].kind == QS_CELL) return qsets_sort(vm, c, down);
    TRY(qarg_array(vm, c, 0, "sort", "x", &a));
    qs_dtype d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(d)) return qarg_wrong(vm, "sort", "x", "real", c->in[0]);
    TRY(qarg_packed(vm, c, 0, "sort", "x", d, &a, &p));
    if (dim < 0) dim = qstats_main_dim(a);
    TRY(qarg_result(vm, c, 0, d, a->rank, a->dims, &r, &q));
    ArrayLines l = qstats_lines(a, dim);
    if (c->nout < 2) return qsort_lines(vm, "sort", d, &l, down, p, q, NULL);
    size_t bytes = a->count * sizeof(double) + 8;
    double *index = qmem_try(qvm_ctx(vm), bytes);
    if (!index) return no_memory(vm, "sort", a->count);
    qs_status s = qsort_lines(vm, "sort", d, &l, down, p, q, index);
    if (s == QS_OK) s = qarg_exact(vm, index, a->rank, a->dims, &c->out[1]);
    qmem_try_free(qvm_ctx(vm), index, bytes);
    return s;
}

/* -- distinct elements --------------------------------------------------------------------------------------------- */
#define DISTINCT(id, T, SAME)                                                                                          \
    static size_t distinct_##id(T *x, size_t n) {                                                                      \
        size_t m = n > 0;                                                                                              \
        for (size_t i = 1; i < n; i++) {                                                                               \
            T v = x[i], last = x[m - 1];                                                                               \
            x[m] = v;                                                                                                  \
            m += !(SAME);                                                                                              \
        }                                                                                                              \
        return m;                                                                                                      \
    }
DISTINCT(u8, uint8_t, v == last)
DISTINCT(u16, uint16_t, v == last)
DISTINCT(u32, uint32_t, v == last)
DISTINCT(u64, uint64_t, v == last)
DISTINCT(f16, uint16_t, v == last || !((v | last) & 0x7fff))
DISTINCT(f32, float, v == last || (v != v && last != last))
DISTINCT(f64, double, v == last || (v != v && last != last))

size_t qsort_distinct(qs_dtype d, void *x, size_t n) {
    if (d == QS_F16 || d == QS_BF16) return distinct_f16(x, n);
    if (d == QS_F32) return distinct_f32(x, n);
    if (d == QS_F64) return distinct_f64(x, n);
    size_t size = qdtype_size(d);
    return size == 1 ? distinct_u8(x, n) : size == 2 ? distinct_u16(x, n) : size == 4 ? distinct_u32(x, n)
                                                                                      : distinct_u64(x, n);
}

/* The sorted distinct elements, as a vec. */
qs_status qsort_unique(qs_vm *vm, qs_call_args *c) {
    Array *a, *r;
    const void *p;
    void *q, *x;
    TRY(qarg_array(vm, c, 0, "unique", "x", &a));
    qs_dtype d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(d)) return qarg_wrong(vm, "unique", "x", "real", c->in[0]);
    TRY(qarg_packed(vm, c, 0, "unique", "x", d, &a, &p));
    ArrayLines l = {1, a->count, 1};
    size_t bytes = a->count * qdtype_size(d) + 8;
    if (!(x = qpool_get(qvm_ctx(vm), bytes))) return no_memory(vm, "unique", a->count);
    qs_status s = qsort_lines(vm, "unique", d, &l, false, p, x, NULL);
    int64_t n = s == QS_OK ? (int64_t)qsort_distinct(d, x, a->count) : 0;
    if (s == QS_OK) s = qarg_result(vm, c, 0, d, 1, &n, &r, &q);
    if (s == QS_OK) memcpy(q, x, (size_t)n * qdtype_size(d));
    qpool_put(qvm_ctx(vm), x, bytes);
    return s;
}
