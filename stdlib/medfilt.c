/* medfilt.c -- computes the median of the window around each pixel.
 *
 * Windows of 3 x 3 and 5 x 5 pixels are sorted row by row, by the networks of stencil.h.  For larger ones:
 *
 *     image ── tiles including the border of the windows ── ranks of their pixels ── a moving window ── medians
 *
 * The pixels of a tile are sorted once and replaced by their ranks.  A window is then a set of ranks, with one bit per
 * rank. It moves back and forth over the tile; each step removes 2r+1 ranks and adds as many, and the search for the
 * median starts at the previous one.  Source: Huang, Yang, Tang 1979, with ranks instead of grey values.
 *
 * Bytes are their own ranks.  The histogram of a window is the sum of its columns' histograms, so that a step costs the
 * same for all windows.  Source: Perreault, Hebert: Median filtering in constant time (2007). */
#include "devices/pool.h"
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "stdlib/stencil.h"
#include "vm/array/device_math.h"
#include "vm/base/dtype.h"
#include "vm/program/module.h"
#include "vm/value/machine.h"

#include <stdatomic.h>
#include <string.h>

enum {
    WIDEST = 255,
    MOST_COUNTED = 127, /* radius up to which 16 bits count the pixels of a window */
    SIDE = 64,          /* side of a tile, without the border */
    STRETCH = 512       /* and length of a tile of a vector */
};

typedef struct {
    qs_vm *vm;
    qs_dtype d;
    int64_t h, w, channels, r;
    int64_t down, right;   /* elements of a window on each side of its middle */
    int64_t height, width; /* of a tile, without the border */
    const char *src;
    char *dst;
    char *room; /* buffers of all workers */
    size_t bytes;
    const struct RowKeys *keys; /* small windows: of the rows */
    MedianRow *median;
    bool direct;       /* the medians are stored in dst at once */
    bool counted;      /* the pixels are bytes, which are counted */
    SpecialLoop *scan; /* not NULL: only rows in which it finds nothing can be compared */
    atomic_bool special;
} Filter;

/* Buffers of one worker; a tile with its border has at most most_pixels() pixels. */
typedef struct {
    char *pixels;
    SortItem *items; /* followed by as many spare ones */
    uint32_t *ranks;
    uint64_t *bits;  /* the window: bit set of ranks */
    uint8_t *counts; /* number of ranks in each word of bits */
    size_t word;     /* word that contained the last median */
    size_t below;    /* number of ranks in the words before that */
} Work;

static size_t most_pixels(const Filter *f) { return (size_t)((f->height + 2 * f->down) * (f->width + 2 * f->right)); }

static size_t work_bytes(const Filter *f) {
    size_t n = (most_pixels(f) + 63) & ~(size_t)63;
    return n * (2 * sizeof(SortItem) + sizeof(double) + sizeof(uint32_t)) + n / 64 * sizeof(uint64_t) + n;
}

static Work open_work(const Filter *f, int worker) {
    size_t n = (most_pixels(f) + 63) & ~(size_t)63;
    Work k = {.items = (SortItem *)(f->room + (size_t)worker * f->bytes)};
    k.pixels = (char *)(k.items + 2 * n);
    k.bits = (uint64_t *)(k.pixels + n * sizeof(double));
    k.ranks = (uint32_t *)(k.bits + n / 64);
    k.counts = (uint8_t *)(k.ranks + n);
    return k;
}

/* -- the window ---------------------------------------------------------------------------------------------------- */
static inline void add_rank(Work *k, uint32_t rank) {
    k->bits[rank / 64] |= (uint64_t)1 << rank % 64;
    k->counts[rank / 64]++;
    k->below += rank / 64 < k->word;
}

static inline void drop_rank(Work *k, uint32_t rank) {
    k->bits[rank / 64] &= ~((uint64_t)1 << rank % 64);
    k->counts[rank / 64]--;
    k->below -= rank / 64 < k->word;
}

/* Removes n pixels and adds n others, each `step` apart. */
static void move_window(Work *k, const uint32_t *go, const uint32_t *come, size_t n, size_t step) {
    for (size_t i = 0; i < n; i++) drop_rank(k, go[i * step]), add_rank(k, come[i * step]);
}

/* Returns the rank that has `at` smaller ones in the window. */
static size_t rank_of(Work *k, size_t at) {
    while (k->below > at) k->below -= k->counts[--k->word];
    while (k->below + k->counts[k->word] <= at) k->below += k->counts[k->word++];
    uint64_t bits = k->bits[k->word];
    for (size_t i = k->below; i < at; i++) bits &= bits - 1;
    return k->word * 64 + (size_t)__builtin_ctzll(bits);
}

/* -- a tile -------------------------------------------------------------------------------------------------------- */
typedef struct {
    int64_t y, x, h, w, channel;
} Tile; /* position in the image, without the border */

static int64_t mirrored(int64_t i, int64_t n) {
    i %= 2 * n;
    if (i < 0) i += 2 * n;
    return i < n ? i : 2 * n - 1 - i;
}

static inline void copy_pixel(char *to, const char *from, size_t size) {
    switch (size) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
    }
}

static size_t pixel_at(const Filter *f, const Tile *t, int64_t y, int64_t x) {
    return (size_t)((y * f->w + x) * f->channels + t->channel) * qdtype_size(f->d);
}

static void load_tile(const Filter *f, const Tile *t, Work *k) {
    char *to = k->pixels;
    size_t size = qdtype_size(f->d);
    for (int64_t y = t->y - f->down; y < t->y + t->h + f->down; y++)
        for (int64_t x = t->x - f->right; x < t->x + t->w + f->right; x++, to += size)
            copy_pixel(to, f->src + pixel_at(f, t, mirrored(y, f->h), mirrored(x, f->w)), size);
}

static void rank_pixels(const Filter *f, Work *k, size_t n) {
    qsort_items(f->d, k->pixels, n, 0, k->items);
    SortItem *sorted = qsort_by_key(k->items, k->items + n, n);
    for (size_t i = 0; i < n; i++) k->ranks[sorted[i].at] = (uint32_t)i;
    k->items = sorted;
}

static void begin_window(Work *k, size_t n, size_t height, size_t width, size_t row) {
    size_t words = (n + 63) / 64;
    memset(k->bits, 0, words * sizeof *k->bits), memset(k->counts, 0, words);
    k->word = k->below = 0;
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++) add_rank(k, k->ranks[i * row + j]);
}

static void filter_tile(const Filter *f, const Tile *t, Work k) {
    size_t height = (size_t)(2 * f->down + 1), width = (size_t)(2 * f->right + 1);
    size_t row = (size_t)t->w + width - 1, n = ((size_t)t->h + height - 1) * row;
    size_t size = qdtype_size(f->d), middle = (height * width - 1) / 2;
    load_tile(f, t, &k);
    rank_pixels(f, &k, n);
    begin_window(&k, n, height, width, row);
    for (int64_t y = 0, x = 0, step = 1; y < t->h; y++, step = -step) {
        const uint32_t *top = k.ranks + (size_t)y * row;
        for (int64_t column = 0; column < t->w; column++) {
            copy_pixel(f->dst + pixel_at(f, t, t->y + y, t->x + x), k.pixels + k.items[rank_of(&k, middle)].at * size,
                       size);
            if (column == t->w - 1) break;
            if (step > 0) move_window(&k, top + x, top + (size_t)x + width, height, row);
            else move_window(&k, top + (size_t)x + width - 1, top + x - 1, height, row);
            x += step;
        }
        if (y < t->h - 1) move_window(&k, top + x, top + height * row + (size_t)x, width, 1);
    }
}

/* -- a tile of bytes ----------------------------------------------------------------------------------------------- */
enum { GROUPS = 16 };
typedef struct {
    uint16_t groups[GROUPS], bytes[GROUPS][GROUPS]; /* counts by the upper four bits, and by all */
} Histogram;

static size_t columns_of(const Filter *f) { return (size_t)(f->width + 2 * f->right); }

/* Counts a row of the image, which may be outside, once more or less; the pixels of columns[j] are at offset[j]. */
static void count_row(const Filter *f, const Tile *t, int64_t y, int by, const size_t *offset, size_t n,
                      Histogram *columns) {
    const uint8_t *row = (const uint8_t *)f->src + pixel_at(f, t, mirrored(t->y + y, f->h), 0);
    int flip = f->d == QS_I8 ? 0x80 : 0;
    for (size_t j = 0; j < n; j++) {
        int v = row[offset[j]] ^ flip;
        columns[j].groups[v / GROUPS] = (uint16_t)(columns[j].groups[v / GROUPS] + by);
        columns[j].bytes[v / GROUPS][v % GROUPS] = (uint16_t)(columns[j].bytes[v / GROUPS][v % GROUPS] + by);
    }
}

static inline void add_counts(uint16_t *restrict to, const uint16_t *restrict come, const uint16_t *restrict go) {
    for (int i = 0; i < GROUPS; i++) to[i] = (uint16_t)(to[i] + come[i] - go[i]);
}

/* Returns the first index at which the counts exceed `middle`, and adds the counts before it to *below. */
static inline int find_count(const uint16_t *counts, size_t middle, size_t *below) {
    int i = 0;
    while (*below + counts[i] <= middle) *below += counts[i++];
    return i;
}

/* Filters a row.  The window has the counts of all groups.  The counts of the bytes of a group are as old as column
 * at[group], because a median seldom needs most of them. */
static void filter_bytes(const Filter *f, const Tile *t, const Histogram *columns, uint8_t *dst) {
    static const uint16_t none[GROUPS];
    int64_t last = 2 * f->right, at[GROUPS];
    size_t middle = (size_t)((2 * f->down + 1) * (last + 1) - 1) / 2;
    int flip = f->d == QS_I8 ? 0x80 : 0;
    Histogram window = {0};
    for (int k = 0; k < GROUPS; k++) at[k] = -last - 2;
    for (int64_t j = 0; j < last; j++) add_counts(window.groups, columns[j].groups, none);
    for (int64_t x = 0; x < t->w; x++) {
        size_t below = 0;
        add_counts(window.groups, columns[x + last].groups, x ? columns[x - 1].groups : none);
        int k = find_count(window.groups, middle, &below);
        uint16_t *bytes = window.bytes[k];
        if (x - at[k] > last) {
            memset(bytes, 0, sizeof window.bytes[k]);
            for (int64_t j = x; j <= x + last; j++) add_counts(bytes, columns[j].bytes[k], none);
        } else
            for (int64_t j = at[k] + 1; j <= x; j++)
                add_counts(bytes, columns[j + last].bytes[k], columns[j - 1].bytes[k]);
        at[k] = x;
        dst[x * f->channels] = (uint8_t)((k * GROUPS + find_count(bytes, middle, &below)) ^ flip);
    }
}

static void count_tile(const Filter *f, const Tile *t, Histogram *columns) {
    size_t n = (size_t)(t->w + 2 * f->right), *offset = (size_t *)(columns + columns_of(f));
    memset(columns, 0, n * sizeof *columns);
    for (size_t j = 0; j < n; j++) offset[j] = (size_t)(mirrored(t->x - f->right + (int64_t)j, f->w) * f->channels);
    for (int64_t y = -f->down; y < f->down; y++) count_row(f, t, y, 1, offset, n, columns);
    for (int64_t y = 0; y < t->h; y++) {
        count_row(f, t, y + f->down, 1, offset, n, columns);
        filter_bytes(f, t, columns, (uint8_t *)f->dst + pixel_at(f, t, t->y + y, t->x));
        count_row(f, t, y - f->down, -1, offset, n, columns);
    }
}

static int64_t tiles_along(int64_t n, int64_t side) { return (n + side - 1) / side; }

static void filter_tiles(void *ud, int64_t first, int64_t last, int worker) {
    const Filter *f = ud;
    int64_t down = tiles_along(f->h, f->height), across = tiles_along(f->w, f->width);
    for (int64_t i = first; i < last && !qflag_is_up(&qvm(f->vm)->interrupted); i++) {
        Tile t = {.y = i / across % down * f->height, .x = i % across * f->width, .channel = i / across / down};
        t.h = f->h - t.y < f->height ? f->h - t.y : f->height, t.w = f->w - t.x < f->width ? f->w - t.x : f->width;
        if (f->counted) count_tile(f, &t, (Histogram *)(f->room + (size_t)worker * f->bytes));
        else filter_tile(f, &t, open_work(f, worker));
    }
}

/* -- small windows ------------------------------------------------------------------------------------------------- */
/* Keys are integers in the order of the elements; NaN has the largest one. */
#define AS_KEY(x) (x)
#define REAL_KEY(T, x, inf)                                                                                            \
    (((x) & (T)~TOP_BIT(T)) > (inf) ? (T)~TOP_BIT(T) : (x) < 0 ? (T)((x) ^ (T)~TOP_BIT(T)) : (x))
#define REAL_BACK(T, k) ((k) < 0 ? (T)((k) ^ (T)~TOP_BIT(T)) : (k))
#define TOP_BIT(T)      ((T)((uint64_t)1 << (8 * sizeof(T) - 1)))
#define F16_KEY(x)      REAL_KEY(int16_t, x, 0x7c00)
#define BF16_KEY(x)     REAL_KEY(int16_t, x, 0x7f80)
#define F32_KEY(x)      REAL_KEY(int32_t, x, 0x7f800000)
#define F64_KEY(x)      REAL_KEY(int64_t, x, 0x7ff0000000000000)
#define BACK16(k)       REAL_BACK(int16_t, k)
#define BACK32(k)       REAL_BACK(int32_t, k)
#define BACK64(k)       REAL_BACK(int64_t, k)

typedef struct RowKeys {
    KeyType type;
    /* Converts n elements, `step` apart, to keys, and back. */
    void (*make)(const char *src, size_t step, size_t n, char *keys);
    void (*back)(const char *keys, size_t n, char *dst, size_t step);
} RowKeys;

#define ROW_KEYS(id, T, KEY, BACK)                                                                                     \
    static void make_##id(const char *src, size_t step, size_t n, char *keys) {                                        \
        const T *x = (const T *)src;                                                                                   \
        T *k = (T *)keys;                                                                                              \
        if (step == 1)                                                                                                 \
            for (size_t i = 0; i < n; i++) k[i] = KEY(x[i]);                                                           \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) k[i] = KEY(x[i * step]);                                                    \
    }                                                                                                                  \
    static void back_##id(const char *keys, size_t n, char *dst, size_t step) {                                        \
        const T *k = (const T *)keys;                                                                                  \
        T *x = (T *)dst;                                                                                               \
        if (step == 1)                                                                                                 \
            for (size_t i = 0; i < n; i++) x[i] = BACK(k[i]);                                                          \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) x[i * step] = BACK(k[i]);                                                   \
    }
ROW_KEYS(I8, int8_t, AS_KEY, AS_KEY)
ROW_KEYS(I16, int16_t, AS_KEY, AS_KEY)
ROW_KEYS(I32, int32_t, AS_KEY, AS_KEY)
ROW_KEYS(I64, int64_t, AS_KEY, AS_KEY)
ROW_KEYS(F16, int16_t, F16_KEY, BACK16)
ROW_KEYS(BF16, int16_t, BF16_KEY, BACK16)
ROW_KEYS(F32, int32_t, F32_KEY, BACK32)
ROW_KEYS(F64, int64_t, F64_KEY, BACK64)

static const RowKeys row_keys[QS_NDTYPES] = {
#define ROW(id, key, loops) [QS_##id] = {KEY_##key, make_##loops, back_##loops},
    ROW(B1, U8, I8) ROW(I8, I8, I8) ROW(U8, U8, I8) ROW(I16, I16, I16) ROW(U16, U16, I16) ROW(I32, I32, I32)
        ROW(U32, U32, I32) ROW(I64, I64, I64) ROW(U64, U64, I64) ROW(F16, I16, F16) ROW(BF16, I16, BF16)
            ROW(F32, I32, F32) ROW(F64, I64, F64)
#undef ROW
};

enum { MOST_ROWS = 5 };

/* Returns the bytes of a row of keys with its border. */
static size_t row_bytes(const Filter *f) { return ((size_t)(f->w + 2 * f->r) * qdtype_size(f->d) + 63) & ~(size_t)63; }

static const char *source_row(const Filter *f, int64_t channel, int64_t y) {
    return f->src + (size_t)(mirrored(y, f->h) * f->w * f->channels + channel) * qdtype_size(f->d);
}

/* Converts row y of a channel, which may be outside the image; rows for windows of 5 x 5 with their border. */
static void load_row(const Filter *f, int64_t channel, int64_t y, char *row) {
    size_t size = qdtype_size(f->d), w = (size_t)f->w, r = f->r > 1 ? (size_t)f->r : 0;
    f->keys->make(source_row(f, channel, y), (size_t)f->channels, w, row + r * size);
    for (int64_t i = 1; i <= (int64_t)r; i++) {
        copy_pixel(row + (r - (size_t)i) * size, row + (r + (size_t)mirrored(-i, f->w)) * size, size);
        copy_pixel(row + (r + w + (size_t)i - 1) * size, row + (r + (size_t)mirrored(f->w + i - 1, f->w)) * size, size);
    }
}

/* Filters rows; they are numbered through all channels.  Rows of keys are kept for the next windows.  Ends when a row
 * contains NaN or -0 that the loops cannot compare. */
static void filter_rows(void *ud, int64_t first, int64_t last, int worker) {
    Filter *f = ud;
    int64_t side = 2 * f->r + 1;
    size_t bytes = row_bytes(f), size = qdtype_size(f->d), n = (size_t)(f->r > 1 ? f->w + 2 * f->r : f->w);
    char *room = f->room + (size_t)worker * f->bytes, *scratch = room + MOST_ROWS * bytes, *out = scratch + 3 * bytes;
    for (int64_t i = first; i < last && !qflag_is_up(&qvm(f->vm)->interrupted); i++) {
        int64_t channel = i / f->h, y = i % f->h;
        const void *rows[MOST_ROWS];
        for (int64_t k = 0; k < side; k++) {
            char *row = room + (size_t)((y + k) % side) * bytes;
            bool new_row = i == first || y == 0 || k == side - 1;
            rows[k] = f->direct && f->r == 1 ? source_row(f, channel, y + k - 1) : row;
            if (new_row && rows[k] == row) load_row(f, channel, y + k - f->r, row);
            if (new_row && f->scan && f->scan(rows[k], n)) atomic_store(&f->special, true);
        }
        if (f->scan && atomic_load(&f->special)) return;
        char *dst = f->dst + (size_t)(y * f->w * f->channels + channel) * size;
        f->median(rows, (size_t)f->w, scratch, f->direct ? dst : out);
        if (!f->direct) f->keys->back(out, (size_t)f->w, dst, (size_t)f->channels);
    }
}

/* Divides the work, of `items` rows or tiles, among the threads. */
static qs_status run_filter(qs_vm *vm, Filter *f, int64_t items, int64_t grain, size_t each, ThreadsJob *job) {
    Threads *t = qthreads_of(qvm_ctx(vm));
    f->bytes = (each + 63) & ~(size_t)63;
    size_t bytes = qmem_size((size_t)qthreads_workers(t, items, grain), f->bytes, 0);
    if (!(f->room = qpool_get(qvm_ctx(vm), bytes))) return qs_fail(vm, QS_ENOMEM, "medfilt: no memory for its tiles");
    qdoing_stage(&qvm_ctx(vm)->doing, 0, 1, 0);
    qthreads_run(t, items, grain, job, f);
    qpool_put(qvm_ctx(vm), f->room, bytes);
    return QS_OK;
}

/* Chooses the loops for rows; plain: for floats that are compared as they are, if the rows have no NaN or -0. */
static void choose_loops(Filter *f, bool plain) {
    const StencilLoops *loops = qstencil_loops();
    bool wide = f->d == QS_F64;
    f->keys = &row_keys[!plain ? f->d : wide ? QS_I64 : QS_I32];
    int type = plain ? qstencil_type(f->d) : (int)f->keys->type;
    f->median = (f->r == 1 ? loops->median3 : loops->median5)[type];
    f->direct = f->channels == 1 && (plain || f->d < QS_F16);
    f->scan = !plain ? NULL : wide ? loops->special64 : loops->special32;
}

/* Returns whether a float is -0: keys do not keep the order of zeros. */
static bool has_negative_zero(const Filter *f, size_t n) {
    const StencilLoops *l = qstencil_loops();
    SpecialLoop *scan = f->d == QS_F64 ? l->special64 : f->d == QS_F32 ? l->special32 : l->special16;
    return f->d >= QS_F16 && scan(f->src, n) & HAS_NEGATIVE_ZERO;
}

/* Sets the extent of windows and tiles.  The window of a vector is a vector, as all its rows, or columns, are copies;
 * with zeros of both signs, the order of the copies decides which zero is the median. */
static void set_extents(Filter *f) {
    bool flat = (f->h == 1 || f->w == 1) && !has_negative_zero(f, (size_t)(f->h * f->w * f->channels));
    int64_t side = flat ? STRETCH + 4 * f->r : SIDE + 2 * f->r;
    f->down = flat && f->h == 1 ? 0 : f->r, f->right = flat && f->w == 1 ? 0 : f->r;
    f->height = f->h == 1 ? 1 : side, f->width = f->w == 1 ? 1 : side;
}

static qs_status run_rows(qs_vm *vm, Filter *f, bool plain) {
    choose_loops(f, plain);
    return run_filter(vm, f, f->h * f->channels, 1 + (1 << 14) / f->w, (MOST_ROWS + 4) * row_bytes(f), filter_rows);
}

/* For arrays on a device: by the kernel of immedfilt.q. */
static qs_status run_by_kernel(qs_vm *vm, qs_call_args *c, const Array *a, int64_t r) {
    qs_value fn, in[] = {c->in[0], qs_num((double)r)};
    TRY(qmod_library(vm, "immedfilt.q", "immedfilt_small", &fn));
    c->out[0] = qs_nil();
    TRY(qvm_call(vm, fn, 2, in, 1, &c->out[0]));
    qarg_keep(c->out[0], a);
    return QS_OK;
}

/* medfilt(x [, r]) */
qs_status qmedfilt_medfilt(qs_vm *vm, qs_call_args *c) {
    Array *a, *y;
    const void *p;
    void *q;
    Shape s;
    int64_t r = 1;
    TRY(qarg_array(vm, c, 0, "x", &a));
    qs_dtype d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(d)) return qarg_wrong(vm, c->name, "x", "real", c->in[0]);
    if (qarg_given(c, 1)) TRY(qarg_count(vm, c->name, "r", c->in[1], &r));
    if (r > WIDEST) return qs_fail(vm, QS_EVALUE, "medfilt: r must be 0 to %d, got %lld", WIDEST, (long long)r);
    qmatrix_shape(a, &s);
    if (s.rank > 3) return qs_fail(vm, QS_ESHAPE, "medfilt: x must have at most 3 dimensions, got %d", s.rank);
    bool floats = c->in[0].kind == QS_ARRAY && (d == QS_F32 || d == QS_F64);
    if (floats && a->count && r < 2 && qdevmath_by_kernels(vm, c->name, a, a, (double)a->count)) {
        qs_status e = run_by_kernel(vm, c, a, r);
        if (!qdevmath_left(vm, c->name, a, a, e)) return e;
    }
    TRY(qarg_packed(vm, c, 0, "x", d, &a, &p));
    TRY(qarg_result_like(vm, c, 0, d, a, &y, &q));
    if (!a->count) return QS_OK;
    Filter f = {.vm = vm, .d = d, .r = r, .src = p, .dst = q};
    f.h = s.dims[0], f.w = s.dims[1], f.channels = s.rank > 2 ? s.dims[2] : 1;
    if (r == 1 || r == 2) {
        if (d == QS_F32 || d == QS_F64) {
            TRY(run_rows(vm, &f, true));
            if (!atomic_load(&f.special)) return QS_OK;
        }
        if (!has_negative_zero(&f, a->count)) return run_rows(vm, &f, false);
    }
    set_extents(&f);
    f.counted = qdtype_size(d) == 1 && r <= MOST_COUNTED;
    if (f.counted) f.height *= 4;
    int64_t tiles = tiles_along(f.h, f.height) * tiles_along(f.w, f.width) * f.channels;
    size_t each = f.counted ? columns_of(&f) * (sizeof(Histogram) + sizeof(size_t)) : work_bytes(&f);
    return run_filter(vm, &f, tiles, 1, each, filter_tiles);
}
