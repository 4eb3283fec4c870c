/* sort.c -- sorts arrays by radix sort.
 *
 *     elements ── keys: unsigned numbers in the same order ── passes over digits, least first ── elements again
 *                                       └── long lines: buckets ──────┘ each sorted in the cache, in parallel
 *
 * Each pass is stable, so equal elements keep their order.  The smallest key is subtracted from all keys, which leaves
 * only the digits in which the values differ.  Passes use only the leading digits, about as many bits as the number of
 * elements has.  The remaining elements are then close to their final positions, and insertion sort finishes the work;
 * if that takes too many moves, passes over all digits follow.  Keys without positions that differ in several digits
 * are sorted by comparisons of vectors instead, if the processor has AVX2 or AVX-512 (vector_sort.h).  Several lines
 * are sorted in parallel.  Other threads may use the VM between the steps of a long sort. */
#include "devices/pool.h"
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "stdlib/radix.h"
#include "vm/array/convert.h"
#include "vm/program/python.h"

#include <string.h>

/* Elements and items are counted in numbers of them, not in bytes. */
enum {
    CHUNK_KEYS = 512,     /* number of keys that are converted at once */
    FEW_ITEMS = 64,       /* lines up to this length are sorted by insertion */
    SHORT_LINE = 1 << 13, /* lines below this length use NARROW_BITS, because clearing the counters also takes time */
    NARROW_BITS = 8,      /* maximum number of bits of a digit: in short lines, in others */
    WIDE_BITS = 10,
    MOST_PASSES = 3, /* before insertion */
    /* Bits sorted in addition to those that number the elements, so that few elements are left to insertion. */
    SPARE_BITS = 2,
    /* The same if it needs no further pass: every element left to insertion costs a branch misprediction. */
    PLENTY_BITS = 5,
    PATIENCE = 4,          /* average number of positions by which insertion may move an element */
    PIECE_ITEMS = 1 << 16, /* minimum length of the pieces of a line; one thread divides a piece into buckets */
    MOST_PIECES = 64,
    LONG_LINE = 1 << 15,       /* length from which a line is divided into buckets */
    LONG_LINE_ALONE = 1 << 20, /* the same for one thread that compares vectors */
    BUCKET_ITEMS = 15000,      /* in most buckets; 2^n would put their ends into the same set of the cache */
    FINE_BITS = 13,            /* number of leading key bits by which items are counted before these form buckets */
    COUNTED_BITS = 18,         /* keys that differ in so few bits are sorted by counting each of them */
    STREAM_BYTES = 1 << 20,    /* size from which items of buckets bypass the cache */
    STEP_ITEMS = 1 << 20       /* number of elements per thread that are sorted between two safe points */
};

typedef struct { /* a line, or a bucket of a line, during sorting */
    const KeyLoops *keys;
    const ItemLoops *form;
    size_t n;
    void *items, *spare;
    size_t *counts;    /* counts of digits */
    qs_dtype d, place; /* dtype of the elements, and of the old positions */
    bool down;
    const char *src;
    char *dst, *index; /* index: receives the old positions; NULL: not wanted */
    size_t step;       /* stride of elements and of `index` */
} Items;

static ItemForm form_of(qs_dtype d, size_t n, bool index) {
    bool small = qdtype_size(d) < 8;
    if (!index) return small ? ITEM_KEY32 : ITEM_KEY64;
    return !small ? ITEM_PAIR : n <= UINT32_MAX ? ITEM_WORD : ITEM_FAR;
}

/* -- in the cache -------------------------------------------------------------------------------------------------- */
/* Replaces counts by the start positions of the digits; false: all items have the same digit. */
static bool assign_places(const Items *s, size_t digits) {
    size_t at = 0;
    for (size_t k = 0; k < digits; k++) {
        size_t n = s->counts[k];
        if (n == s->n) return false;
        s->counts[k] = at, at += n;
    }
    return true;
}

static void pass(Items *s, Digit d) {
    memset(s->counts, 0, (size_t)(d.mask + 1) * sizeof *s->counts);
    s->form->count(s->items, s->n, d, s->counts);
    if (!assign_places(s, (size_t)d.mask + 1)) return;
    s->form->scatter(s->items, s->n, d, s->counts, s->spare);
    void *t = s->items;
    s->items = s->spare, s->spare = t;
}

/* Sorts by the `bits` bits from `low` on. */
static void pass_over(Items *s, uint64_t base, int low, int bits, int passes) {
    int width = (bits + passes - 1) / passes;
    for (int k = 0; k < passes; k++) pass(s, (Digit){base, low + k * width, ((uint64_t)1 << width) - 1});
}

static bool insert(const Items *s) { return s->form->insert(s->items, s->n, PATIENCE * s->n + FEW_ITEMS * FEW_ITEMS); }
static int bits_of(uint64_t x) { return x ? 64 - __builtin_clzll(x) : 0; }

/* Returns the number of low bits that are the same in all keys: small integers as floats differ in few leading bits. */
static int same_bits(const KeyRange *r) { return r->common == r->any ? 0 : __builtin_ctzll(r->common ^ r->any); }

/* Sorts items with keys in a range; counts has room for 1 << WIDE_BITS. */
static void sort_items(Items *s, const KeyRange *r) {
    if (r->least >= r->most) return;
    uint64_t least = r->least;
    int same = same_bits(r), low = s->form->low + same, bits = bits_of(r->most - least) - same,
        widest = s->n < SHORT_LINE ? NARROW_BITS : WIDE_BITS;
    if (s->form->compare && (bits > widest || s->n <= FEW_ITEMS)) {
        s->form->compare(s->items, s->n, s->spare);
        return;
    }
    if (s->n <= FEW_ITEMS && insert(s)) return;
    int number = bits_of(s->n), passes = (number + SPARE_BITS + widest - 1) / widest;
    if (passes > MOST_PASSES) passes = MOST_PASSES;
    int wanted = number + PLENTY_BITS < passes * widest ? number + PLENTY_BITS : passes * widest;
    if (bits > wanted) {
        pass_over(s, least << s->form->low, low + bits - wanted, wanted, passes);
        if (insert(s)) return;
    }
    pass_over(s, least << s->form->low, low, bits, (bits + widest - 1) / widest);
}

/* -- elements and items -------------------------------------------------------------------------------------------- */
typedef struct {
    KeyRange keys;
    bool signs; /* a -0 occurs */
} Range;
static const Range no_keys = {{UINT64_MAX, 0, UINT64_MAX, 0}, false};

/* Buffer for keys of 32 or 64 bits. */
typedef union {
    uint32_t narrow[CHUNK_KEYS];
    uint64_t wide[CHUNK_KEYS];
} Keys;

static bool make_keys(const Items *s, size_t at, size_t n, void *keys) {
    return s->keys->make(s->src + at * s->step * qdtype_size(s->d), s->step, n, s->down, keys);
}

static size_t chunk(size_t at, size_t end) { return end - at < CHUNK_KEYS ? end - at : CHUNK_KEYS; }

static Range pack_line(const Items *s) {
    Range r = no_keys;
    Keys keys;
    for (size_t at = 0, n; at < s->n; at += n) {
        char *items = (char *)s->items + at * s->form->size;
        n = chunk(at, s->n);
        r.signs |= make_keys(s, at, n, &keys);
        s->form->pack(&keys, n, at, items);
        s->form->range(items, n, &r.keys);
    }
    return r;
}

/* Converts the items back to elements, starting at position `to` of the line. */
static void take_back(const Items *s, size_t to) {
    Keys keys;
    double places[CHUNK_KEYS];
    size_t size = qdtype_size(s->d), place = qdtype_size(s->place);
    for (size_t at = 0, n; at < s->n; at += n) {
        const char *items = (const char *)s->items + at * s->form->size;
        n = chunk(at, s->n);
        s->form->unpack(items, n, &keys);
        s->keys->back(&keys, n, s->down, s->dst + (to + at) * s->step * size, s->step);
        if (!s->index) continue;
        s->form->places(items, n, places);
        qconv_run(QS_F64, places, sizeof *places, s->place, s->index + (to + at) * s->step * place,
                  (ptrdiff_t)(s->step * place), n);
    }
}

/* Keys do not contain the signs of zeros, which are therefore taken from the elements before these are overwritten.
 * That is impossible if the items are in the same memory as the elements. */
static void sort_line(Items *s) {
    size_t counts[1 << WIDE_BITS], zeros = 0;
    bool apart = s->src != s->items;
    s->counts = counts;
    Range r = pack_line(s);
    sort_items(s, &r.keys);
    if (r.signs && apart) zeros = s->keys->take_zeros(s->src, s->step, s->n, s->spare);
    take_back(s, 0);
    if (zeros) s->keys->put_zeros(s->spare, zeros, s->dst, s->step);
}

/* -- a long line --------------------------------------------------------------------------------------------------- */
/* Sorts a long line with buckets.  The first FINE_BITS bits of a key select its bucket.  Neighbouring values of these
 * bits share a bucket until it has its share of elements: floats have such uneven exponents that buckets of equal
 * width would be very unbalanced.  Each thread sorts buckets in the cache, as it would sort short lines, and writes
 * them out. The line is divided into pieces, one per thread, which fill the buckets in order.  The spare buffer holds
 * the keys meanwhile.  If the keys have few bits and no positions, they are not moved: their numbers define the
 * result.  Other threads may use the VM and change the array as soon as its keys have been made. */
typedef struct {
    Items line;
    const ItemLoops *keys; /* loops for items that consist of keys only */
    Digit first;           /* the first `fine_bits` bits of a key */
    int npieces, nbuckets, fine_bits;
    int64_t from; /* number of the first bucket of the batch that is sorted */
    size_t piece, bytes, zero_bytes;
    bool signs;
    Range ranges[MOST_PIECES];
    size_t *fine;   /* for each piece: histogram of these bits */
    size_t *places; /* for each piece: position of its next element in each bucket */
    char *zeros;    /* the zeros of the line, if one of them is -0 */
    size_t nzeros;
    uint16_t bucket[1 << FINE_BITS];
    size_t ends[QRADIX_BUCKETS]; /* end positions of the buckets */
} Long;

static size_t begin_of(const Long *l, int64_t piece) {
    size_t at = (size_t)piece * l->piece;
    return at < l->line.n ? at : l->line.n;
}

static char *key_at(const Long *l, size_t i) { return (char *)l->line.spare + i * l->keys->size; }

static void make_pieces(void *ud, int64_t first, int64_t last, int worker) {
    Long *l = ud;
    (void)worker;
    for (int64_t p = first; p < last; p++) {
        Range r = no_keys;
        for (size_t at = begin_of(l, p), end = begin_of(l, p + 1), n; at < end; at += n) {
            n = chunk(at, end);
            r.signs |= make_keys(&l->line, at, n, key_at(l, at));
            l->keys->range(key_at(l, at), n, &r.keys);
        }
        l->ranges[p] = r;
    }
}

static void tally_pieces(void *ud, int64_t first, int64_t last, int worker) {
    const Long *l = ud;
    (void)worker;
    for (int64_t p = first; p < last; p++) {
        size_t *fine = l->fine + ((size_t)p << l->fine_bits), at = begin_of(l, p), end = begin_of(l, p + 1);
        memset(fine, 0, sizeof *fine << l->fine_bits);
        l->line.form->tally(key_at(l, at), end - at, l->first, fine);
    }
}

static void spread_pieces(void *ud, int64_t first, int64_t last, int worker) {
    const Long *l = ud;
    (void)worker;
    for (int64_t p = first; p < last; p++) {
        size_t at = begin_of(l, p), end = begin_of(l, p + 1);
        l->line.form->spread(key_at(l, at), end - at, at, l->first, l->bucket, l->places + (size_t)p * QRADIX_BUCKETS,
                             l->line.n * l->line.form->size >= STREAM_BYTES, l->line.items);
    }
}

/* Combines values of the first bits into buckets until each has its share.  Two neighbouring buckets together exceed
 * it, so there are at most QRADIX_BUCKETS. */
static void make_buckets(Long *l) {
    size_t share = l->line.n / (QRADIX_BUCKETS / 2 - 1) + 1, in_bucket = 0;
    if (share < BUCKET_ITEMS && l->npieces == 1) share = BUCKET_ITEMS;
    l->nbuckets = 0;
    memset(l->places, 0, (size_t)l->npieces * QRADIX_BUCKETS * sizeof *l->places);
    for (size_t k = 0; k < (size_t)1 << FINE_BITS; k++) {
        size_t n = 0;
        for (int p = 0; p < l->npieces; p++) n += l->fine[((size_t)p << FINE_BITS) + k];
        if (in_bucket && in_bucket + n > share) l->nbuckets++, in_bucket = 0;
        in_bucket += n, l->bucket[k] = (uint16_t)l->nbuckets;
        for (int p = 0; p < l->npieces; p++)
            l->places[(size_t)p * QRADIX_BUCKETS + (size_t)l->nbuckets] += l->fine[((size_t)p << FINE_BITS) + k];
    }
    l->nbuckets++;
    size_t at = 0;
    for (int b = 0; b < l->nbuckets; b++) {
        for (int p = 0; p < l->npieces; p++) {
            size_t *place = &l->places[(size_t)p * QRADIX_BUCKETS + (size_t)b], n = *place;
            *place = at, at += n;
        }
        l->ends[b] = at;
    }
}

static void sort_buckets(void *ud, int64_t first, int64_t last, int worker) {
    const Long *l = ud;
    size_t counts[1 << WIDE_BITS], size = l->line.form->size;
    (void)worker;
    for (int64_t b = l->from + first; b < l->from + last; b++) {
        size_t from = b ? l->ends[b - 1] : 0;
        Items s = l->line;
        s.n = l->ends[b] - from, s.counts = counts;
        s.items = (char *)s.items + from * size, s.spare = (char *)s.spare + from * size;
        Range r = no_keys;
        s.form->range(s.items, s.n, &r.keys);
        sort_items(&s, &r.keys);
        take_back(&s, from);
    }
}

/* Sorts by the numbers of all keys: each piece of the result is filled with the keys that belong there. */
static void fill_pieces(void *ud, int64_t first, int64_t last, int worker) {
    const Long *l = ud;
    const Items *s = &l->line;
    (void)worker;
    for (int64_t p = first; p < last; p++) {
        Keys keys;
        uint64_t key = 0;
        int shift = l->first.shift;
        size_t end = begin_of(l, p + 1), n;
        for (size_t to = begin_of(l, p); to < end; to += n) {
            n = chunk(to, end);
            for (size_t i = 0; i < n;) {
                while (l->fine[key] <= to + i) key++;
                size_t stop = l->fine[key] - to < n ? l->fine[key] - to : n;
                if (l->keys->size == sizeof *keys.narrow)
                    for (; i < stop; i++) keys.narrow[i] = (uint32_t)(l->first.base + (key << shift));
                else
                    for (; i < stop; i++) keys.wide[i] = l->first.base + (key << shift);
            }
            s->keys->back(&keys, n, s->down, s->dst + to * s->step * qdtype_size(s->d), s->step);
        }
    }
}

/* Replaces the histogram of the first piece by the end positions of the keys in the result. */
static void sum_tallies(const Long *l) {
    size_t end = 0;
    for (size_t k = 0; k < (size_t)1 << l->fine_bits; k++) {
        for (int p = 0; p < l->npieces; p++) end += l->fine[((size_t)p << l->fine_bits) + k];
        l->fine[k] = end;
    }
}

/* Chooses the first bits by the range of the keys; returns whether these are all bits in which keys differ, so that
 * counting sorts. */
static bool choose_bits(Long *l) {
    KeyRange r = no_keys.keys;
    for (int p = 0; p < l->npieces; p++) {
        const KeyRange *keys = &l->ranges[p].keys;
        r.least = keys->least < r.least ? keys->least : r.least, r.most = keys->most > r.most ? keys->most : r.most;
        r.common &= keys->common, r.any |= keys->any;
        l->signs |= l->ranges[p].signs;
    }
    int bits = bits_of(r.most - r.least), same = same_bits(&r), counted_bits = bits - same;
    bool counted = !l->line.index && counted_bits <= COUNTED_BITS && l->line.n >> counted_bits;
    l->fine_bits = counted ? counted_bits : FINE_BITS;
    int shift = counted ? same : bits > FINE_BITS ? bits - FINE_BITS : 0;
    l->first = (Digit){r.least, shift, ((uint64_t)1 << l->fine_bits) - 1};
    return counted;
}

/* Allocates the tables, and copies the zeros of the line if it has a -0. */
static bool make_tables(Ctx *c, Long *l) {
    const Items *s = &l->line;
    size_t fine = (size_t)l->npieces << l->fine_bits;
    l->bytes = qmem_size(fine + (size_t)l->npieces * QRADIX_BUCKETS, sizeof *l->fine, 0);
    if (!(l->fine = qpool_get(c, l->bytes))) return false;
    l->places = l->fine + fine;
    if (!l->signs) return true;
    l->zero_bytes = qmem_size(s->n, qdtype_size(s->d), 0);
    if (!(l->zeros = qpool_get(c, l->zero_bytes))) return false;
    l->nzeros = s->keys->take_zeros(s->src, s->step, s->n, l->zeros);
    return true;
}

/* Sorts some of the buckets at a time; other threads may use the VM in between. */
static qs_status sort_all_buckets(qs_vm *vm, Long *l) {
    Threads *t = qthreads_of(qvm_ctx(vm));
    size_t room = (size_t)qthreads_workers(t, l->nbuckets, 1) * STEP_ITEMS;
    for (int from = 0, to; from < l->nbuckets; from = to) {
        size_t begin = from ? l->ends[from - 1] : 0;
        for (to = from + 1; to < l->nbuckets && l->ends[to] - begin <= room;) to++;
        l->from = from;
        qthreads_run(t, to - from, 1, sort_buckets, l);
        TRY(qthread_safe_point(vm));
    }
    return QS_OK;
}

static qs_status no_memory(qs_vm *vm, const char *fn, size_t n) {
    return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu elements", fn, n);
}

static qs_status sort_long(qs_vm *vm, const char *fn, Long *l) {
    Ctx *c = qvm_ctx(vm);
    Threads *t = qthreads_of(c);
    Doing *doing = &c->doing;
    qdoing_stage(doing, 0, 0.1f, 0);
    qthreads_run(t, l->npieces, 1, make_pieces, l);
    bool counted = choose_bits(l);
    if (!make_tables(c, l)) return no_memory(vm, fn, l->line.n);
    TRY(qthread_safe_point(vm));
    qdoing_stage(doing, 0.1f, 0.2f, 0);
    qthreads_run(t, l->npieces, 1, tally_pieces, l);
    TRY(qthread_safe_point(vm));
    if (counted) {
        sum_tallies(l);
        qdoing_stage(doing, 0.2f, 1, 0);
        qthreads_run(t, l->npieces, 1, fill_pieces, l);
    } else {
        make_buckets(l);
        qdoing_stage(doing, 0.2f, 0.4f, 0);
        qthreads_run(t, l->npieces, 1, spread_pieces, l);
        TRY(qthread_safe_point(vm));
        qdoing_stage(doing, 0.4f, 1, 0);
        TRY(sort_all_buckets(vm, l));
    }
    if (l->nzeros) l->line.keys->put_zeros(l->zeros, l->nzeros, l->line.dst, l->line.step);
    return QS_OK;
}

/* -- lines --------------------------------------------------------------------------------------------------------- */
typedef struct {
    Items line;
    ArrayLines lines;
    char *room;
    size_t bytes, from; /* number of the first line of the batch that is sorted */
} Lines;

static void give_room(Items *s, char *room) { s->items = room, s->spare = room + s->n * s->form->size; }

static void sort_lines(void *ud, int64_t first, int64_t last, int worker) {
    const Lines *l = ud;
    size_t size = qdtype_size(l->line.d);
    for (size_t k = l->from + (size_t)first; k < l->from + (size_t)last; k++) {
        Items s = l->line;
        size_t at = qstats_line_at(&l->lines, k);
        s.src += at * size, s.dst += at * size;
        if (s.index) s.index += at * qdtype_size(s.place);
        give_room(&s, l->room + (size_t)worker * l->bytes);
        sort_line(&s);
    }
}

/* Copies the lines from `from` on to the result, where they are then sorted: other threads may change the array. */
static void copy_rest(Lines *l, size_t from) {
    Items *s = &l->line;
    size_t size = qdtype_size(s->d);
    for (size_t k = from; s->src != s->dst && k < l->lines.outer * l->lines.inner; k++) {
        size_t at = qstats_line_at(&l->lines, k);
        for (size_t i = 0; i < s->n; i++, at += s->step) memcpy(s->dst + at * size, s->src + at * size, size);
    }
    s->src = s->dst;
}

static qs_status sort_all_lines(qs_vm *vm, Lines *l, int64_t grain, size_t workers) {
    size_t lines = l->lines.outer * l->lines.inner, batch = workers * (STEP_ITEMS / l->lines.n + 1), n;
    for (l->from = 0; l->from < lines; l->from += n) {
        n = lines - l->from < batch ? lines - l->from : batch;
        qthreads_run(qthreads_of(qvm_ctx(vm)), (int64_t)n, grain, sort_lines, l);
        if (!qthread_is_wanted(vm)) continue;
        copy_rest(l, l->from + n);
        TRY(qthread_yield(vm));
    }
    return QS_OK;
}

static qs_status sort_one(qs_vm *vm, const char *fn, const Items *line) {
    Ctx *c = qvm_ctx(vm);
    int64_t pieces = qthreads_workers(qthreads_of(c), (int64_t)line->n, PIECE_ITEMS);
    size_t size = line->form->size;
    bool inside = !line->index && size == qdtype_size(line->d) && (uintptr_t)line->dst % 64 == 0; /* items in dst */
    size_t items = qmem_size(line->n, qmem_size(inside ? 1 : 2, size, 0), 0);
    char *room = qpool_get(c, items);
    Long *l = qpool_get(c, sizeof *l);
    qs_status s = QS_OK;
    if (room && l) {
        memset(l, 0, sizeof *l);
        l->line = *line;
        l->line.items = inside ? line->dst : room, l->line.spare = inside ? room : room + line->n * size;
        l->npieces = pieces < MOST_PIECES ? (int)pieces : MOST_PIECES;
        l->piece = (line->n + (size_t)l->npieces - 1) / (size_t)l->npieces;
        l->keys = qradix_items(form_of(line->d, line->n, false));
        s = sort_long(vm, fn, l);
        qpool_put(c, l->fine, l->bytes), qpool_put(c, l->zeros, l->zero_bytes);
    } else s = no_memory(vm, fn, line->n);
    qpool_put(c, room, items), qpool_put(c, l, sizeof *l);
    return s;
}

qs_status qsort_lines(qs_vm *vm, const char *fn, qs_dtype d, const ArrayLines *l, bool down, const void *src, void *dst,
                      qs_dtype place, void *index) {
    Ctx *c = qvm_ctx(vm);
    Threads *t = qthreads_of(c);
    size_t lines = l->outer * l->inner;
    if (!lines || !l->n) return QS_OK;
    Items line = {.keys = qradix_keys(d),
                  .form = qradix_items(form_of(d, l->n, index)),
                  .n = l->n,
                  .d = d,
                  .place = place,
                  .down = down,
                  .src = src,
                  .dst = dst,
                  .index = index,
                  .step = l->inner};
    bool one_thread = qthreads_workers(t, (int64_t)l->n, PIECE_ITEMS) == 1,
         compared = line.form->compare && qdtype_size(d) > 2;
    if (lines == 1 && l->n >= (one_thread && compared ? LONG_LINE_ALONE : LONG_LINE)) return sort_one(vm, fn, &line);
    int64_t grain = 1 + (int64_t)(PIECE_ITEMS / 4 / l->n);
    size_t workers = (size_t)qthreads_workers(t, (int64_t)lines, grain);
    Lines all = {.lines = *l, .line = line};
    all.bytes = qmem_size(l->n, 2 * line.form->size, 63) & ~(size_t)63;
    if (!(all.room = qpool_get(c, qmem_size(workers, all.bytes, 0)))) return no_memory(vm, fn, l->n);
    qdoing_stage(&c->doing, 0, 1, 0);
    qs_status s = sort_all_lines(vm, &all, grain, workers);
    qpool_put(c, all.room, all.bytes * workers);
    return s;
}

void qsort_doubles(double *x, size_t n, double *spare) {
    Items s = {.keys = qradix_keys(QS_F64),
               .form = qradix_items(ITEM_KEY64),
               .n = n,
               .items = x,
               .spare = spare,
               .d = QS_F64,
               .src = (const char *)x,
               .dst = (char *)x,
               .step = 1};
    if (n) sort_line(&s);
}

void qsort_items(qs_dtype d, const void *x, size_t n, size_t first, SortItem *items) {
    Keys keys;
    const ItemLoops *form = qradix_items(qdtype_size(d) < 8 ? ITEM_FAR : ITEM_PAIR);
    for (size_t at = 0, m; at < n; at += m) {
        m = chunk(at, n);
        qradix_keys(d)->make((const char *)x + at * qdtype_size(d), 1, m, false, &keys);
        form->pack(&keys, m, first + at, items + at);
    }
}

SortItem *qsort_by_key(SortItem *x, SortItem *spare, size_t n) {
    size_t counts[1 << WIDE_BITS];
    Items s = {.form = qradix_items(ITEM_PAIR), .n = n, .items = x, .spare = spare, .counts = counts};
    Range r = no_keys;
    s.form->range(x, n, &r.keys);
    sort_items(&s, &r.keys);
    return s.items;
}

/* sort(x), sort(x, dim), sort(x, "descend"), sort(x, dim, "descend"); the second result contains the old positions. */
qs_status qsort_sort(qs_vm *vm, qs_call_args *c) {
    Array *a, *r;
    const void *p;
    void *q;
    bool down = false;
    int dim = -1;
    for (int i = 1; i < c->nin; i++) {
        const char *mode;
        if (!qarg_given(c, i)) continue;
        if (c->in[i].kind != QS_STRING) {
            TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[i], &dim));
            continue;
        }
        TRY(qarg_string(vm, c->name, "mode", c->in[i], &mode, NULL));
        down = !strcmp(mode, "descend");
        if (!down && strcmp(mode, "ascend"))
            return qs_fail(vm, QS_EVALUE, "sort: mode must be \"ascend\" or \"descend\", got \"%s\"", mode);
    }
    if (c->in[0].kind == QS_CELL) return qsets_sort(vm, c, down);
    TRY(qarg_array(vm, c, 0, "x", &a));
    qs_dtype d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(d)) return qarg_wrong(vm, c->name, "x", "real", c->in[0]);
    TRY(qarg_packed(vm, c, 0, "x", d, &a, &p));
    if (dim < 0) dim = qstats_main_dim(a);
    TRY(qarg_result_like(vm, c, 0, d, a, &r, &q));
    ArrayLines l = qstats_lines(a, dim);
    if (c->nout < 2) return qsort_lines(vm, c->name, d, &l, down, p, q, QS_F64, NULL);
    void *index;
    qs_dtype place = l.n > (1 << 24) + 1 ? QS_F64 : qvm_ctx(vm)->scalar_dtype; /* positions must be exact */
    TRY(qarg_result_like(vm, c, 1, place, a, &r, &index));
    return qsort_lines(vm, c->name, d, &l, down, p, q, place, index);
}

/* -- distinct elements --------------------------------------------------------------------------------------------- */
#define DISTINCT(id, T, SAME)                                                                                          \
    static size_t distinct_##id(T *x, size_t n) {                                                                      \
        size_t m = n > 0;                                                                                              \
        T last = m ? x[0] : 0;                                                                                         \
        for (size_t i = 1; i < n; i++) {                                                                               \
            T v = x[i];                                                                                                \
            x[m] = v;                                                                                                  \
            m += !(SAME);                                                                                              \
            last = v;                                                                                                  \
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
    if (qdtype_is_short(d)) return distinct_f16(x, n);
    if (d == QS_F32) return distinct_f32(x, n);
    if (d == QS_F64) return distinct_f64(x, n);
    size_t size = qdtype_size(d);
    return size == 1   ? distinct_u8(x, n)
           : size == 2 ? distinct_u16(x, n)
           : size == 4 ? distinct_u32(x, n)
                       : distinct_u64(x, n);
}

/* Returns the sorted distinct elements as a vec. */
qs_status qsort_unique(qs_vm *vm, qs_call_args *c) {
    Array *a, *r;
    const void *p;
    void *q, *x;
    TRY(qarg_array(vm, c, 0, "x", &a));
    qs_dtype d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(d)) return qarg_wrong(vm, "unique", "x", "real", c->in[0]);
    TRY(qarg_packed(vm, c, 0, "x", d, &a, &p));
    ArrayLines l = {1, a->count, 1};
    size_t bytes = qmem_size(a->count, qdtype_size(d), 8);
    if (!(x = qpool_get(qvm_ctx(vm), bytes))) return no_memory(vm, "unique", a->count);
    qs_status s = qsort_lines(vm, "unique", d, &l, false, p, x, QS_F64, NULL);
    int64_t n = s == QS_OK ? (int64_t)qsort_distinct(d, x, a->count) : 0;
    if (s == QS_OK) s = qarg_result(vm, c, 0, d, 1, &n, &r, &q);
    if (s == QS_OK) memcpy(q, x, (size_t)n * qdtype_size(d));
    qpool_put(qvm_ctx(vm), x, bytes);
    return s;
}
