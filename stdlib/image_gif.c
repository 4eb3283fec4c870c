/* image_gif.c -- reads and writes GIF: frames with a palette, compressed by LZW.
 *
 *     screen: extents, palette │ blocks: control (delay, transparent index, disposal), frame, others │ 0x3B
 *     a frame: rectangle, palette, bits of a code, blocks of up to 255 bytes with codes of growing length
 *
 * A frame is drawn over those before it.  Source: CompuServe, Graphics Interchange Format, version 89a. */
#include "stdlib/bytes.h"
#include "stdlib/image.h"

#include <stdlib.h>
#include <string.h>

enum { CODES = 4096, EXTENSION = 0x21, FRAME = 0x2C, TRAILER = 0x3B, CONTROL = 0xF9 };
enum { KEEP = 1, CLEAR, RESTORE }; /* disposal: what happens to a frame before the next one is drawn */

typedef struct {
    Image *m;
    ByteReader b;
    int64_t width, height; /* of the screen */
    const uint8_t *shared; /* palette of the screen; NULL: none */
    int nshared, frames;
    bool gray, transparent;           /* of all palettes; a frame leaves pixels without a colour */
    int disposal, clear_index;        /* control of the next frame; clear_index -1: no transparent index */
    double delay;                     /* in seconds */
    uint8_t *canvas, *before, *index; /* 4 bytes per pixel; a copy of it; indices of a frame */
    size_t ncanvas, nindex;
} Gif;

typedef struct {
    int64_t x, y, width, height;
    bool interlaced;
    const uint8_t *palette;
    int npalette;
} Frame;

/* -- reading: structure -------------------------------------------------------------------------------------------- */
static void skip_blocks(ByteReader *b) {
    for (size_t n = 1; n && !b->short_of;) {
        n = (size_t)qbytes_number(b, 1);
        qbytes_take(b, n);
    }
}

static const uint8_t *read_palette(Gif *g, int flags, int *n) {
    *n = flags & 0x80 ? 2 << (flags & 7) : 0;
    const uint8_t *p = *n ? qbytes_take(&g->b, 3 * (size_t)*n) : NULL;
    for (int i = 0; p && i < *n; i++) g->gray &= p[3 * i] == p[3 * i + 1] && p[3 * i + 1] == p[3 * i + 2];
    return p;
}

static void read_extension(Gif *g) {
    if (qbytes_number(&g->b, 1) == CONTROL && g->b.n >= 5 && g->b.p[0] >= 4) {
        const uint8_t *p = g->b.p + 1;
        g->disposal = p[0] >> 2 & 7, g->clear_index = p[0] & 1 ? p[3] : -1;
        g->delay = (double)qbytes_le(p + 1, 2) / 100;
        g->transparent |= p[0] & 1;
    }
    skip_blocks(&g->b);
}

static qs_status read_frame_header(Gif *g, Frame *f) {
    ByteReader *b = &g->b;
    f->x = (int64_t)qbytes_number(b, 2), f->y = (int64_t)qbytes_number(b, 2);
    f->width = (int64_t)qbytes_number(b, 2), f->height = (int64_t)qbytes_number(b, 2);
    int flags = (int)qbytes_number(b, 1);
    f->interlaced = flags & 0x40;
    f->palette = read_palette(g, flags, &f->npalette);
    if (!f->npalette) f->palette = g->shared, f->npalette = g->nshared;
    if (b->short_of) return qimage_corrupt(g->m, "it ends before its last frame");
    if (!f->palette) return qimage_corrupt(g->m, "a frame has no palette");
    if (f->width < 1 || f->height < 1 || f->x + f->width > g->width || f->y + f->height > g->height)
        return qimage_corrupt(g->m, "a frame is empty or outside the screen");
    g->transparent |= g->frames == 0 && (f->width < g->width || f->height < g->height);
    g->transparent |= g->disposal == CLEAR;
    return QS_OK;
}

/* -- reading: LZW -------------------------------------------------------------------------------------------------- */
typedef struct {
    ByteReader *b;
    size_t left; /* bytes of the block */
    uint32_t bits;
    int have;
} CodeReader;

static int next_code(CodeReader *c, int size) {
    for (; c->have < size; c->have += 8) {
        if (!c->left) c->left = (size_t)qbytes_number(c->b, 1);
        if (!c->left || !c->b->n) return -1;
        c->bits |= (uint32_t)qbytes_number(c->b, 1) << c->have, c->left--;
    }
    int code = (int)(c->bits & ((1u << size) - 1));
    return c->bits >>= size, c->have -= size, code;
}

/* Each code is the string of an earlier one and a byte.  A code may be the one that it defines itself. */
static bool decode(ByteReader *b, int least, uint8_t *out, size_t n) {
    uint16_t prefix[CODES];
    uint8_t suffix[CODES], stack[CODES];
    CodeReader c = {.b = b};
    int clear = 1 << least, next = clear + 2, size = least + 1, before = -1, first = 0;
    for (size_t at = 0; at < n;) {
        int code = next_code(&c, size), top = 0;
        if (code == clear) {
            next = clear + 2, size = least + 1, before = -1;
            continue;
        }
        if (code < 0 || code == clear + 1 || code > next || (before < 0 && code > clear)) return false;
        int k = code;
        if (code == next && before >= 0) stack[top++] = (uint8_t)first, k = before;
        for (; k > clear; k = prefix[k]) stack[top++] = suffix[k];
        first = k, stack[top++] = (uint8_t)k;
        while (top > 0 && at < n) out[at++] = stack[--top];
        if (before >= 0 && next < CODES) {
            prefix[next] = (uint16_t)before, suffix[next] = (uint8_t)first;
            if (++next == 1 << size && size < 12) size++;
        }
        before = code;
    }
    qbytes_take(b, c.left);
    skip_blocks(b);
    return !b->short_of;
}

/* -- reading: drawing ---------------------------------------------------------------------------------------------- */
/* Returns the row of the i-th line of an interlaced frame, whose lines come in four passes. */
static int64_t row_of_line(const Frame *f, int64_t i) {
    static const int64_t from[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    if (!f->interlaced) return i;
    for (int k = 0; k < 4; k++) {
        int64_t lines = (f->height - from[k] + step[k] - 1) / step[k];
        if (i < lines) return from[k] + i * step[k];
        i -= lines > 0 ? lines : 0;
    }
    return 0;
}

static qs_status draw_frame(Gif *g, const Frame *f) {
    for (int64_t i = 0; i < f->height; i++) {
        const uint8_t *from = g->index + i * f->width;
        uint8_t *to = g->canvas + 4 * ((f->y + row_of_line(f, i)) * g->width + f->x);
        for (int64_t x = 0; x < f->width; x++, to += 4) {
            if (from[x] == g->clear_index) continue;
            if (from[x] >= f->npalette) return qimage_corrupt(g->m, "an index is outside the palette");
            memcpy(to, f->palette + 3 * from[x], 3), to[3] = 255;
        }
    }
    return QS_OK;
}

static void dispose_frame(Gif *g, const Frame *f) {
    if (g->disposal == RESTORE) memcpy(g->canvas, g->before, g->ncanvas);
    for (int64_t y = 0; g->disposal == CLEAR && y < f->height; y++)
        memset(g->canvas + 4 * ((f->y + y) * g->width + f->x), 0, 4 * (size_t)f->width);
}

static qs_status read_frame(Gif *g, bool draw, bool last) {
    Frame f;
    TRY(read_frame_header(g, &f));
    int least = (int)qbytes_number(&g->b, 1);
    if (least < 2 || least > 8) return qimage_corrupt(g->m, "the bits of its codes");
    if (!draw) return skip_blocks(&g->b), QS_OK;
    if (!decode(&g->b, least, g->index, (size_t)(f.width * f.height)))
        return qimage_corrupt(g->m, "the codes of a frame");
    if (g->disposal == RESTORE) memcpy(g->before, g->canvas, g->ncanvas);
    TRY(draw_frame(g, &f));
    if (!last) dispose_frame(g, &f);
    return QS_OK;
}

/* Reads the blocks; page -1: counts the frames and looks at all palettes, otherwise draws up to that frame. */
static qs_status read_blocks(Gif *g, int page) {
    g->frames = 0, g->clear_index = -1, g->disposal = 0;
    for (;;) {
        int block = (int)qbytes_number(&g->b, 1);
        if (g->b.short_of) return qimage_corrupt(g->m, "it ends before its last block");
        if (block == TRAILER) break;
        if (block == EXTENSION) read_extension(g);
        else if (block == FRAME) {
            if (g->frames == g->m->page) g->m->delay = g->delay;
            TRY(read_frame(g, page >= 0, g->frames == page));
            if (g->frames++ == page) return QS_OK;
            g->clear_index = -1, g->disposal = 0, g->delay = 0;
        } else return qimage_corrupt(g->m, "an unknown block");
        if (g->b.short_of) return qimage_corrupt(g->m, "it ends before its last block");
    }
    return g->frames ? QS_OK : qimage_corrupt(g->m, "it has no frame");
}

static qs_status give_rows(Gif *g) {
    Image *m = g->m;
    int colors = g->gray ? 1 : 3, channels = m->channels;
    for (int64_t y = 0; y < g->height; y++) {
        uint8_t *row = g->canvas + 4 * y * g->width;
        for (int64_t x = 0; x < g->width; x++) {
            uint8_t p[4];
            memcpy(p, row + 4 * x, 4);
            memcpy(row + channels * x, p, (size_t)colors);
            if (channels > colors) row[channels * x + colors] = p[3];
        }
        TRY(qimage_row(m, y, QS_U8, row));
    }
    return QS_OK;
}

static qs_status read_page(Gif *g) {
    Ctx *ctx = qvm_ctx(g->m->vm);
    g->nindex = qmem_size((size_t)g->width, (size_t)g->height, 0), g->ncanvas = qmem_size(g->nindex, 4, 0);
    g->canvas = qmem_try(ctx, g->ncanvas), g->before = qmem_try(ctx, g->ncanvas), g->index = qmem_try(ctx, g->nindex);
    qs_status s = QS_OK;
    if (!g->canvas || !g->before || !g->index)
        s = qs_fail(g->m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", g->m->fn, g->ncanvas);
    if (s == QS_OK) memset(g->canvas, 0, g->ncanvas), s = read_blocks(g, g->m->page);
    if (s == QS_OK) s = give_rows(g);
    if (g->canvas) qmem_try_free(ctx, g->canvas, g->ncanvas);
    if (g->before) qmem_try_free(ctx, g->before, g->ncanvas);
    if (g->index) qmem_try_free(ctx, g->index, g->nindex);
    return s;
}

qs_status qimage_gif_read(Image *m) {
    Gif g = {.m = m, .b = {.p = m->bytes, .n = m->nbytes}, .gray = true};
    qs_status s;
    m->format = "gif";
    qbytes_take(&g.b, 6);
    g.width = (int64_t)qbytes_number(&g.b, 2), g.height = (int64_t)qbytes_number(&g.b, 2);
    int flags = (int)qbytes_number(&g.b, 1);
    qbytes_take(&g.b, 2);
    g.shared = read_palette(&g, flags, &g.nshared);
    if (g.b.short_of) return qimage_corrupt(m, "its header");
    ByteReader blocks = g.b;
    TRY(read_blocks(&g, -1));
    m->pages = g.frames;
    if (m->page >= g.frames) return qs_fail(m->vm, QS_EINDEX, "%s: %s has no page %d", m->fn, m->path, m->page);
    if (!qimage_begin(m, g.height, g.width, (g.gray ? 1 : 3) + g.transparent, g.transparent, 8, &s)) return s;
    g.b = blocks;
    return read_page(&g);
}

/* -- writing: palettes --------------------------------------------------------------------------------------------- */
typedef struct {
    uint8_t colors[256][3];
    int n;
    uint8_t *index; /* of each pixel */
    size_t pixels;
} Palette;

/* Collects up to 256 colours; false: there are more. */
static bool collect_colors(const Pixels *x, Palette *p) {
    enum { SLOTS = 1024 };
    int16_t slots[SLOTS];
    memset(slots, -1, sizeof slots);
    for (size_t i = 0; i < p->pixels; i++) {
        const uint8_t *c = x->data + 3 * i;
        uint32_t h = (c[0] * 31u + c[1] * 227u + c[2] * 701u) % SLOTS;
        while (slots[h] >= 0 && memcmp(p->colors[slots[h]], c, 3) != 0) h = (h + 1) % SLOTS;
        if (slots[h] < 0) {
            if (p->n == 256) return false;
            slots[h] = (int16_t)p->n;
            memcpy(p->colors[p->n++], c, 3);
        }
        p->index[i] = (uint8_t)slots[h];
    }
    return true;
}

/* Median cut: a box of colours, of 5 bits per channel, is divided where half of its pixels are, along its longest side,
 * until there are 256 boxes; each pixel gets the mean colour of its box. */
enum { CELLS = 1 << 15 };
typedef struct {
    uint32_t count[CELLS], used[CELLS]; /* pixels per cell; the cells that have some, in the order of the boxes */
    uint64_t sum[CELLS][3];
    uint8_t box_of[CELLS];
    uint32_t nused;
} Histogram;
typedef struct {
    uint32_t from, to; /* cells: used[from..to-1] */
    uint64_t pixels;
    int side, length; /* the channel with the longest side, and this length */
} Box;

static uint32_t cell_of(const uint8_t *c) { return (uint32_t)(c[0] >> 3 << 10 | c[1] >> 3 << 5 | c[2] >> 3); }
static uint32_t level_of(uint32_t cell, int channel) { return cell >> (10 - 5 * channel) & 31; }

static void measure_box(const Histogram *h, Box *b) {
    b->pixels = 0, b->length = -1;
    for (uint32_t i = b->from; i < b->to; i++) b->pixels += h->count[h->used[i]];
    for (int k = 0; k < 3; k++) {
        uint32_t least = 31, most = 0;
        for (uint32_t i = b->from; i < b->to; i++) {
            uint32_t v = level_of(h->used[i], k);
            least = v < least ? v : least, most = v > most ? v : most;
        }
        if ((int)(most - least) > b->length) b->length = (int)(most - least), b->side = k;
    }
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void split_box(Histogram *h, Box *b, Box *other) {
    for (uint32_t i = b->from; i < b->to; i++) h->used[i] |= level_of(h->used[i], b->side) << 16;
    qsort(h->used + b->from, b->to - b->from, sizeof *h->used, by_number);
    for (uint32_t i = b->from; i < b->to; i++) h->used[i] &= CELLS - 1;
    uint32_t at = b->from;
    for (uint64_t half = 0; at < b->to - 1 && 2 * half < b->pixels; at++) half += h->count[h->used[at]];
    *other = (Box){.from = at, .to = b->to};
    b->to = at;
    measure_box(h, b), measure_box(h, other);
}

static void cut_colors(const Pixels *x, Histogram *h, Palette *p) {
    Box boxes[256];
    memset(h, 0, sizeof *h);
    for (size_t i = 0; i < p->pixels; i++) {
        const uint8_t *c = x->data + 3 * i;
        uint32_t cell = cell_of(c);
        if (!h->count[cell]++) h->used[h->nused++] = cell;
        for (int k = 0; k < 3; k++) h->sum[cell][k] += c[k];
    }
    boxes[0] = (Box){.from = 0, .to = h->nused};
    measure_box(h, &boxes[0]);
    for (p->n = 1; p->n < 256; p->n++) {
        int best = 0;
        for (int i = 1; i < p->n; i++)
            if (boxes[i].pixels * (uint64_t)boxes[i].length > boxes[best].pixels * (uint64_t)boxes[best].length)
                best = i;
        if (boxes[best].length == 0) break; /* every box is one cell */
        split_box(h, &boxes[best], &boxes[p->n]);
    }
    for (int i = 0; i < p->n; i++) {
        uint64_t sum[3] = {0};
        for (uint32_t j = boxes[i].from; j < boxes[i].to; j++) {
            h->box_of[h->used[j]] = (uint8_t)i;
            for (int k = 0; k < 3; k++) sum[k] += h->sum[h->used[j]][k];
        }
        for (int k = 0; k < 3; k++) p->colors[i][k] = (uint8_t)((sum[k] + boxes[i].pixels / 2) / boxes[i].pixels);
    }
    for (size_t i = 0; i < p->pixels; i++) p->index[i] = h->box_of[cell_of(x->data + 3 * i)];
}

static qs_status make_palette(const Pixels *x, Palette *p) {
    p->n = 0;
    if (x->channels == 1) {
        for (p->n = 0; p->n < 256; p->n++) memset(p->colors[p->n], p->n, 3);
        return memcpy(p->index, x->data, p->pixels), QS_OK;
    }
    if (collect_colors(x, p)) return QS_OK;
    Histogram *h = qmem_try(qvm_ctx(x->vm), sizeof *h);
    if (!h) return qs_fail(x->vm, QS_ENOMEM, "imwrite: no memory for %zu bytes", sizeof *h);
    cut_colors(x, h, p);
    return qmem_try_free(qvm_ctx(x->vm), h, sizeof *h), QS_OK;
}

/* -- writing: LZW -------------------------------------------------------------------------------------------------- */
typedef struct {
    Text *out;
    uint32_t bits;
    int have, n;
    char block[255];
} CodeWriter;

static void flush_block(CodeWriter *w) {
    if (w->n) qtext_putc(w->out, (char)w->n), qtext_add(w->out, w->block, (size_t)w->n);
    w->n = 0;
}

static void put_code(CodeWriter *w, int code, int size) {
    w->bits |= (uint32_t)code << w->have;
    for (w->have += size; w->have >= 8; w->have -= 8, w->bits >>= 8) {
        w->block[w->n++] = (char)(w->bits & 255);
        if (w->n == 255) flush_block(w);
    }
}

static void encode(const uint8_t *p, size_t n, int least, Text *out) {
    enum { SLOTS = 8192 };
    int32_t keys[SLOTS];
    uint16_t codes[SLOTS];
    CodeWriter w = {.out = out};
    int clear = 1 << least, next = CODES, size = least + 1, prefix = p[0];
    put_code(&w, clear, size);
    next = clear + 2, memset(keys, -1, sizeof keys);
    for (size_t i = 1; i < n; i++) {
        int32_t key = prefix << 8 | p[i];
        uint32_t h = (uint32_t)key * 2654435761u >> 19;
        while (keys[h] >= 0 && keys[h] != key) h = (h + 1) % SLOTS;
        if (keys[h] == key) {
            prefix = codes[h];
            continue;
        }
        put_code(&w, prefix, size);
        prefix = p[i];
        if (next < CODES) {
            keys[h] = key, codes[h] = (uint16_t)next;
            if (next++ == 1 << size) size++;
            continue;
        }
        put_code(&w, clear, size);
        next = clear + 2, size = least + 1, memset(keys, -1, sizeof keys);
    }
    put_code(&w, prefix, size);
    if (next == 1 << size && size < 12) size++;
    put_code(&w, clear + 1, size);
    put_code(&w, 0, 7); /* completes the last byte */
    flush_block(&w);
    qtext_putc(out, 0);
}

static void write_frame(const Pixels *x, const Palette *p, Text *out) {
    int bits = 1;
    while (1 << bits < p->n) bits++;
    qtext_add(out, "\x21\xF9\4\4", 4); /* control: the frame stays; no transparent index */
    qbytes_put_le(out, (uint64_t)(x->delay * 100 + 0.5), 2), qbytes_put_le(out, 0, 2);
    qbytes_put_le(out, FRAME, 1), qbytes_put_le(out, 0, 4);
    qbytes_put_le(out, (uint64_t)x->width, 2), qbytes_put_le(out, (uint64_t)x->height, 2);
    qtext_putc(out, (char)(0x80 | (bits - 1)));
    qtext_add(out, (const char *)p->colors, 3 * ((size_t)1 << bits));
    int least = bits < 2 ? 2 : bits;
    qtext_putc(out, (char)least);
    encode(p->index, p->pixels, least, out);
}

qs_status qimage_gif_write(const Pixels *x, int n, Text *out) {
    Palette p = {.pixels = qmem_size((size_t)x->width, (size_t)x->height, 0)};
    for (int i = 0; i < n; i++)
        if (x[i].width != x->width || x[i].height != x->height || x->width > 65535 || x->height > 65535)
            return qs_fail(x->vm, QS_ESHAPE,
                           "imwrite: the frames of a .gif file have one size, up to 65535; frame %d is %lld x %lld", i,
                           (long long)x[i].height, (long long)x[i].width);
    p.index = qmem_try(qvm_ctx(x->vm), p.pixels);
    if (!p.index) return qs_fail(x->vm, QS_ENOMEM, "imwrite: no memory for %zu bytes", p.pixels);
    qtext_puts(out, "GIF89a");
    qbytes_put_le(out, (uint64_t)x->width, 2), qbytes_put_le(out, (uint64_t)x->height, 2), qbytes_put_le(out, 0x70, 3);
    if (n > 1) qtext_add(out, "\x21\xFF\x0BNETSCAPE2.0\3\1\0\0\0", 19); /* the frames are repeated for ever */
    qs_status s = QS_OK;
    for (int i = 0; i < n && s == QS_OK; i++) {
        s = make_palette(&x[i], &p);
        if (s == QS_OK) write_frame(&x[i], &p, out);
    }
    qtext_putc(out, TRAILER);
    qmem_try_free(qvm_ctx(x->vm), p.index, p.pixels);
    return s;
}
