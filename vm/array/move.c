/* move.c -- copies elements between strided memory; see move.h for the method. */
#include "vm/array/move.h"
#include "devices/threads.h"

#include <string.h>

/* A tile has ROWS x ROWS elements of 4 bytes: each line is a few cache lines, and the tile fits into the first-level
 * cache.  If one side is short, the other is longer. */
enum {
    ROWS = 64,
    TILE_BYTES = ROWS * ROWS * 4,
    SHORT = 16,     /* for shorter lines, strided access along the other axis is faster */
    WIDEST = 32,    /* largest number of bytes that are moved as one element */
    SHARE = 1 << 18 /* least number of bytes per thread */
};

typedef struct {
    int64_t n;
    ptrdiff_t d, s;
} Axis; /* extent; steps of both sides in bytes */
typedef struct {
    size_t size;
    char *dst;
    const char *src;
    int rank; /* at least 2; the last two axes are divided into tiles */
    Axis axis[QS_MAX_RANK + 2];
    int64_t ni, nj;  /* size of a tile: ni lines of nj elements */
    bool transposed; /* the source has its smallest stride along the axis across the lines, so tiles are transposed */
} Move;

/* -- lines --------------------------------------------------------------------------------------------------------- */
/* glibc copies more than 2 KB by REP MOVSB.  On AMD processors (Zen 3 and 4) that takes 30 times as long if the
 * destination begins less than 32 bytes after the source within a page, as in x[1..n] = y with two large arrays. */
void qmove_bytes(void *dst, const void *src, size_t n) {
    enum { PAGE = 4096, NEAR = 32, SLICE = 2048 };
    size_t after = ((uintptr_t)dst - (uintptr_t)src) % PAGE, most = after && after < NEAR ? SLICE : n;
    for (size_t at = 0, part; at < n; at += part) {
        part = n - at < most ? n - at : most;
        memmove((char *)dst + at, (const char *)src + at, part);
    }
}

/* Writes one element n times, doubling the written part. */
static void fill_line(char *d, const char *s, size_t n, size_t size) {
    memcpy(d, s, size);
    for (size_t done = 1, more; done < n; done += more) {
        more = n - done < done ? n - done : done;
        memcpy(d + done * size, d, more * size);
    }
}

/* Moves elements, or short runs that are moved as one element, such as the pixels of an image. */
#define LINE(bytes)                                                                                                    \
    case bytes:                                                                                                        \
        for (int64_t i = 0; i < n; i++) memcpy(d + i * ds, s + i * ss, bytes);                                         \
        return;
static void move_line(char *d, ptrdiff_t ds, const char *s, ptrdiff_t ss, int64_t n, size_t size) {
    if (ds == (ptrdiff_t)size && ss == ds) {
        qmove_bytes(d, s, (size_t)n * size);
        return;
    }
    if (ds == (ptrdiff_t)size && !ss) {
        fill_line(d, s, (size_t)n, size);
        return;
    }
    switch (size) {
        /* clang-format off */
    LINE(1) LINE(2) LINE(3) LINE(4) LINE(6) LINE(8) LINE(12) LINE(16) LINE(24) LINE(32)
            /* clang-format on */
            default : for (int64_t i = 0; i < n; i++) memcpy(d + i * ds, s + i * ss, size);
    }
}

/* -- transposed tiles ---------------------------------------------------------------------------------------------- */
/* Transposes W x W elements in W vectors.  Each of the log2 W stages interleaves the vectors of the first half with the
 * vectors of the second half; after the last stage the rows have become columns. */
#define LOW1(W)  0, W, 1, W + 1, 2, W + 2, 3, W + 3, 4, W + 4, 5, W + 5, 6, W + 6, 7, W + 7
#define HIGH1(W) 8, W + 8, 9, W + 9, 10, W + 10, 11, W + 11, 12, W + 12, 13, W + 13, 14, W + 14, 15, W + 15
#define LOW2(W)  0, W, 1, W + 1, 2, W + 2, 3, W + 3
#define HIGH2(W) 4, W + 4, 5, W + 5, 6, W + 6, 7, W + 7
#define LOW4(W)  0, W, 1, W + 1
#define HIGH4(W) 2, W + 2, 3, W + 3
#define LOW8(W)  0, W
#define HIGH8(W) 1, W + 1
#define SQUARE(bytes, T, W)                                                                                            \
    typedef T Vector##bytes __attribute__((vector_size(16), aligned(1), may_alias));                                   \
    static inline void square_##bytes(const char *src, ptrdiff_t ss, char *dst, ptrdiff_t ds) {                        \
        Vector##bytes x[W], y[W];                                                                                      \
        for (int i = 0; i < W; i++) x[i] = *(const Vector##bytes *)(src + i * ss);                                     \
        for (int stage = 1; stage < W; stage *= 2) {                                                                   \
            for (int i = 0; i < W / 2; i++) {                                                                          \
                y[2 * i] = __builtin_shufflevector(x[i], x[i + W / 2], LOW##bytes(W));                                 \
                y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + W / 2], HIGH##bytes(W));                            \
            }                                                                                                          \
            memcpy(x, y, sizeof x);                                                                                    \
        }                                                                                                              \
        for (int i = 0; i < W; i++) *(Vector##bytes *)(dst + i * ds) = x[i];                                           \
    }
/* clang-format off */
SQUARE(1, uint8_t, 16)
SQUARE(2, uint16_t, 8)
SQUARE(4, uint32_t, 4)
SQUARE(8, uint64_t, 2)
/* clang-format on */

/* Transposes the squares within the first ni - ni % W by nj - nj % W elements.  Rows of the source are columns of the
 * lines. */
#define SQUARES(bytes, W)                                                                                              \
    for (int64_t j = 0; j + W <= nj; j += W)                                                                           \
        for (int64_t i = 0; i + W <= ni; i += W)                                                                       \
            square_##bytes(src + j * ss + i * bytes, ss, dst + i * ds + j * bytes, ds);                                \
    return W;
static int64_t transpose_squares(char *dst, ptrdiff_t ds, const char *src, ptrdiff_t ss, int64_t ni, int64_t nj,
                                 size_t size) {
    switch (size) {
    case 1: SQUARES(1, 16)
    case 2: SQUARES(2, 8)
    case 4: SQUARES(4, 4)
    case 8: SQUARES(8, 2)
    default: return 0;
    }
}

/* Transposes element by element, along the longer side. */
static void transpose_slowly(char *dst, ptrdiff_t ds, const char *src, Axis i, Axis j, size_t size) {
    ptrdiff_t step = (ptrdiff_t)size;
    if (i.n < j.n)
        for (int64_t k = 0; k < i.n; k++) move_line(dst + k * ds, step, src + k * i.s, j.s, j.n, size);
    else
        for (int64_t k = 0; k < j.n; k++) move_line(dst + k * step, ds, src + k * j.s, i.s, i.n, size);
}

/* Transposes i.n lines of j.n elements, `ds` apart.  Squares are used if the source is contiguous along axis i; the
 * ends of the lines and the last lines remain and are moved element by element. */
static void transpose_tile(char *dst, ptrdiff_t ds, const char *src, Axis i, Axis j, size_t size) {
    ptrdiff_t step = (ptrdiff_t)size;
    int64_t w = i.s == step ? transpose_squares(dst, ds, src, j.s, i.n, j.n, size) : 0;
    int64_t done_i = w ? i.n - i.n % w : 0, done_j = w ? j.n - j.n % w : 0;
    transpose_slowly(dst + done_i * ds, ds, src + done_i * i.s, (Axis){i.n - done_i, i.d, i.s},
                     (Axis){done_j, j.d, j.s}, size);
    transpose_slowly(dst + done_j * step, ds, src + done_j * j.s, i, (Axis){j.n - done_j, j.d, j.s}, size);
}

/* Moves one tile.  It is transposed in a local buffer, because distant lines would evict each other from the cache. */
static void move_tile(const Move *m, char *dst, const char *src, int64_t ni, int64_t nj) {
    Axis i = m->axis[m->rank - 2], j = m->axis[m->rank - 1];
    ptrdiff_t size = (ptrdiff_t)m->size;
    _Alignas(64) char room[TILE_BYTES];
    i.n = ni, j.n = nj;
    if (m->transposed && j.d == size && nj < SHORT) {
        transpose_tile(dst, i.d, src, i, j, m->size);
        return;
    }
    if (m->transposed) {
        transpose_tile(room, nj * size, src, i, j, m->size);
        src = room, i.s = nj * size, j.s = size;
    }
    for (int64_t k = 0; k < ni; k++) move_line(dst + k * i.d, j.d, src + k * i.s, j.s, nj, m->size);
}

/* -- all tiles ----------------------------------------------------------------------------------------------------- */
static int64_t count_pieces(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Moves the tiles [first, last), numbered along the lines first. */
static void move_tiles(void *ud, int64_t first, int64_t last, int worker) {
    const Move *m = ud;
    const Axis *i = &m->axis[m->rank - 2], *j = i + 1;
    int64_t wide = count_pieces(j->n, m->nj), high = count_pieces(i->n, m->ni);
    (void)worker;
    for (int64_t k = first; k < last; k++) {
        int64_t ti = k / wide % high * m->ni, tj = k % wide * m->nj, outer = k / wide / high;
        char *dst = m->dst + ti * i->d + tj * j->d;
        const char *src = m->src + ti * i->s + tj * j->s;
        for (int a = m->rank - 3; outer; a--) {
            dst += outer % m->axis[a].n * m->axis[a].d, src += outer % m->axis[a].n * m->axis[a].s;
            outer /= m->axis[a].n;
        }
        move_tile(m, dst, src, i->n - ti < m->ni ? i->n - ti : m->ni, j->n - tj < m->nj ? j->n - tj : m->nj);
    }
}

/* -- axes ---------------------------------------------------------------------------------------------------------- */
static ptrdiff_t abs_step(ptrdiff_t step) { return step < 0 ? -step : step; }

/* Inserts an axis; the axes are sorted by the stride of the destination, largest first. */
static void add_axis(Move *m, Axis a) {
    int at = m->rank++;
    for (; at && abs_step(m->axis[at - 1].d) < abs_step(a.d); at--) m->axis[at] = m->axis[at - 1];
    m->axis[at] = a;
}

static void join_axes(Move *m) {
    int r = 0;
    for (int k = 1; k < m->rank; k++) {
        Axis *outer = &m->axis[r], a = m->axis[k];
        if (outer->d == a.d * a.n && outer->s == a.s * a.n) *outer = (Axis){outer->n * a.n, a.d, a.s};
        else m->axis[++r] = a;
    }
    m->rank = r + 1;
}

/* Turns a short run that is contiguous on both sides into one element. */
static void widen_elements(Move *m) {
    const Axis *a = &m->axis[m->rank - 1];
    ptrdiff_t size = (ptrdiff_t)m->size;
    if (m->rank > 1 && a->d == size && a->s == size && a->n <= WIDEST / size) m->size *= (size_t)a->n, m->rank--;
}

/* Chooses the second axis of the tiles: the axis with the smallest stride in the source, if it is not the axis of the
 * lines; otherwise the longest axis, which replaces the axis of the lines if those are short. */
static void choose_axis(Move *m) {
    const Axis *line = &m->axis[m->rank - 1];
    int other = m->rank - 2;
    for (int k = 0; k < m->rank - 1; k++) {
        const Axis *a = &m->axis[k], *best = &m->axis[other];
        bool runs = a->s && abs_step(a->s) < abs_step(line->s);
        if (runs && (!m->transposed || abs_step(a->s) < abs_step(best->s))) other = k, m->transposed = true;
        else if (!m->transposed && a->n > best->n) other = k;
    }
    Axis chosen = m->axis[other];
    for (int k = other; k < m->rank - 2; k++) m->axis[k] = m->axis[k + 1];
    m->axis[m->rank - 2] = chosen;
    if (m->transposed || line->n >= SHORT || chosen.n < line->n) return;
    m->axis[m->rank - 2] = *line, m->axis[m->rank - 1] = chosen;
}

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }

static void cut_tiles(Move *m) {
    int64_t i = m->axis[m->rank - 2].n, j = m->axis[m->rank - 1].n, area = TILE_BYTES / (int64_t)m->size;
    m->ni = min_i64(i, ROWS);
    m->nj = min_i64(j, m->transposed ? area / m->ni : area);
    m->ni = min_i64(i, area / m->nj);
}

/* Sets up at least two axes.  Returns true if several elements have the same destination, so that their order matters.
 */
static bool lay_out(Move *m, int rank, const int64_t *n, const ptrdiff_t *dsteps, const ptrdiff_t *ssteps) {
    bool again = false;
    m->rank = 0, m->transposed = false;
    for (int k = 0; k < rank; k++) {
        if (n[k] == 1) continue;
        add_axis(m, (Axis){n[k], dsteps[k], ssteps[k]});
        again = again || !dsteps[k];
    }
    if (!m->rank) m->axis[m->rank++] = (Axis){1, 0, 0};
    join_axes(m);
    widen_elements(m);
    if (m->rank == 1) m->axis[1] = m->axis[0], m->axis[0] = (Axis){1, 0, 0}, m->rank = 2;
    choose_axis(m);
    cut_tiles(m);
    return again;
}

void qmove_run(Ctx *c, size_t size, int rank, const int64_t *n, void *dst, const ptrdiff_t *dsteps, const void *src,
               const ptrdiff_t *ssteps) {
    Move m; /* not initialized as a whole: it is large, and most moves are small */
    for (int k = 0; k < rank; k++)
        if (!n[k]) return;
    m.size = size, m.dst = dst, m.src = src;
    bool again = lay_out(&m, rank, n, dsteps, ssteps);
    const Axis *i = &m.axis[m.rank - 2], *j = i + 1;
    int64_t tiles = count_pieces(i->n, m.ni) * count_pieces(j->n, m.nj),
            grain = SHARE / (m.ni * m.nj * (int64_t)m.size) + 1;
    for (int k = 0; k < m.rank - 2; k++) tiles *= m.axis[k].n;
    if (tiles == 1) move_tile(&m, dst, src, i->n, j->n);
    else if (tiles <= 2 * grain || again) move_tiles(&m, 0, tiles, 0);
    else qthreads_run(qthreads_of(c), tiles, grain, move_tiles, &m);
}
