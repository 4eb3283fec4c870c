/* image_bmp.c -- reads BMP with 1 to 32 bits, palettes, run lengths and bit fields; writes 8, 24 or 32 bits.
 *
 *     14 bytes: position of the pixels │ header (identified by its size) │ masks │ palette │ rows, the lowest one first
 *
 * Source: Microsoft's descriptions of BITMAPFILEHEADER, BITMAPCOREHEADER, BITMAPINFOHEADER and BITMAPV4HEADER. */
#include "stdlib/bytes.h"
#include "stdlib/image.h"

#include <string.h>

enum { FILE_HEADER = 14, CORE_HEADER = 12, INFO_HEADER = 40, V3_HEADER = 56, V4_HEADER = 108 };
enum { PLAIN, RUNS_8, RUNS_4, FIELDS, ALPHA_FIELDS = 6 }; /* values of the field `compression` */

typedef struct {
    Image *m;
    const uint8_t *p;
    size_t n; /* the contents of the file */
    int64_t width, height;
    bool top_down;
    int bits, channels;            /* channels of the result */
    uint32_t compression, mask[4]; /* masks of red, green, blue, alpha */
    size_t header, pixels;         /* bytes of the header; position of the rows */
    uint8_t palette[256][3];
} Bmp;

static uint32_t le(const uint8_t *p, int bytes) { return (uint32_t)qbytes_le(p, bytes); }

static bool has_palette(const Bmp *b) { return b->bits <= 8; }
static bool has_runs(const Bmp *b) { return b->compression == RUNS_8 || b->compression == RUNS_4; }

/* -- the header ---------------------------------------------------------------------------------------------------- */
static void default_masks(Bmp *b) {
    static const uint32_t narrow[] = {0x7c00, 0x3e0, 0x1f, 0}, wide[] = {0xff0000, 0xff00, 0xff, 0};
    memcpy(b->mask, b->bits == 16 ? narrow : wide, sizeof b->mask);
}

static bool read_extents(Bmp *b) {
    const uint8_t *h = b->p + FILE_HEADER;
    if (b->n < FILE_HEADER + CORE_HEADER) return false;
    b->pixels = le(b->p + 10, 4), b->header = le(h, 4);
    if (b->header == CORE_HEADER) {
        b->width = le(h + 4, 2), b->height = le(h + 6, 2), b->bits = (int)le(h + 10, 2);
        return true;
    }
    if (b->header < INFO_HEADER || b->header > b->n - FILE_HEADER) return false;
    int32_t height = (int32_t)le(h + 8, 4);
    b->width = (int32_t)le(h + 4, 4), b->top_down = height < 0, b->height = height < 0 ? -(int64_t)height : height;
    b->bits = (int)le(h + 14, 2), b->compression = le(h + 16, 4);
    return true;
}

/* Reads the masks, which follow the 40 bytes of the info header, whether they belong to the header or not. */
static bool read_masks(Bmp *b) {
    default_masks(b);
    if (b->compression != FIELDS && b->compression != ALPHA_FIELDS) return true;
    bool alpha = b->compression == ALPHA_FIELDS || b->header >= V3_HEADER;
    size_t at = FILE_HEADER + INFO_HEADER, count = alpha ? 4 : 3;
    if (b->n < at + 4 * count) return false;
    for (size_t i = 0; i < count; i++) b->mask[i] = le(b->p + at + 4 * i, 4);
    return true;
}

static bool is_gray_palette(const Bmp *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (b->palette[i][0] != b->palette[i][1] || b->palette[i][1] != b->palette[i][2]) return false;
    return true;
}

static bool read_palette(Bmp *b) {
    size_t entry = b->header == CORE_HEADER ? 3 : 4, at = FILE_HEADER + b->header, n = (size_t)1 << b->bits;
    uint32_t used = b->header == CORE_HEADER ? 0 : le(b->p + FILE_HEADER + 32, 4);
    if (used && used < n) n = used;
    if (at > b->n || n * entry > b->n - at) return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) b->palette[i][k] = b->p[at + i * entry + 2 - k]; /* blue comes first */
    b->channels = is_gray_palette(b, n) ? 1 : 3;
    return true;
}

static bool known_form(const Bmp *b) {
    switch (b->compression) {
    case PLAIN:
        return b->bits == 1 || b->bits == 2 || b->bits == 4 || b->bits == 8 || b->bits == 16 || b->bits == 24 ||
               b->bits == 32;
    case RUNS_8: return b->bits == 8;
    case RUNS_4: return b->bits == 4;
    case FIELDS:
    case ALPHA_FIELDS: return b->bits == 16 || b->bits == 32;
    default: return false;
    }
}

static qs_status read_header(Bmp *b) {
    if (!read_extents(b)) return qimage_corrupt(b->m, "its header");
    if (!known_form(b))
        return qs_fail(b->m->vm, QS_EVALUE, "%s: %s has %d bits and compression %u, which is not read", b->m->fn,
                       b->m->path, b->bits, b->compression);
    if (!read_masks(b)) return qimage_corrupt(b->m, "its masks");
    b->channels = b->mask[3] ? 4 : 3;
    if (has_palette(b) && !read_palette(b)) return qimage_corrupt(b->m, "its palette");
    return b->pixels > b->n ? qimage_corrupt(b->m, "it ends before its first pixel") : QS_OK;
}

/* -- pixels -------------------------------------------------------------------------------------------------------- */
static void from_palette(const Bmp *b, int index, uint8_t *to) { memcpy(to, b->palette[index], (size_t)b->channels); }

static uint8_t scale_field(uint32_t pixel, uint32_t mask) { /* scaled to 0 … 255 */
    if (!mask) return 0;
    int shift = __builtin_ctz(mask);
    uint64_t most = mask >> shift, x = (pixel & mask) >> shift;
    return (uint8_t)((x * 255 + most / 2) / most);
}

static void unpack_row(const Bmp *b, const uint8_t *row, uint8_t *to) {
    int bytes = b->bits / 8;
    for (int64_t x = 0; x < b->width; x++, to += b->channels) {
        if (has_palette(b)) {
            int64_t at = x * b->bits;
            from_palette(b, row[at / 8] >> (8 - b->bits - at % 8) & ((1 << b->bits) - 1), to);
            continue;
        }
        uint32_t pixel = le(row + x * bytes, bytes);
        for (int k = 0; k < b->channels; k++) to[k] = scale_field(pixel, b->mask[k]);
    }
}

static qs_status read_rows(const Bmp *b, uint8_t *out) {
    size_t stride = ((size_t)b->width * (size_t)b->bits + 31) / 32 * 4;
    if ((b->n - b->pixels) / stride < (size_t)b->height) return qimage_corrupt(b->m, "it ends before its last pixel");
    qs_status s = QS_OK;
    for (int64_t y = 0; y < b->height && s == QS_OK; y++) {
        unpack_row(b, b->p + b->pixels + (size_t)y * stride, out);
        s = qimage_row(b->m, b->top_down ? y : b->height - 1 - y, QS_U8, out);
    }
    return s;
}

/* -- run lengths --------------------------------------------------------------------------------------------------- */
typedef struct {
    const Bmp *b;
    uint8_t *index;
    int64_t x, y;
} Canvas; /* a palette index per pixel */

static void put_index(Canvas *c, uint8_t index) {
    if (c->x < c->b->width && c->y < c->b->height) c->index[c->y * c->b->width + c->x] = index;
    c->x++;
}

static uint8_t half(const Bmp *b, uint8_t byte, size_t k) { /* a byte contains two pixels of 4 bits */
    if (b->bits == 8) return byte;
    return k % 2 ? byte & 15 : byte >> 4;
}

static bool read_runs(Canvas *c) { /* false: the file ends too early */
    const Bmp *b = c->b;
    for (size_t i = b->pixels; i + 2 <= b->n;) {
        uint8_t count = b->p[i], what = b->p[i + 1];
        i += 2;
        if (count) {
            for (size_t k = 0; k < count; k++) put_index(c, half(b, what, k));
        } else if (what == 0) {
            c->x = 0, c->y++;
        } else if (what == 1) {
            return true;
        } else if (what == 2) {
            if (b->n - i < 2) return false;
            c->x += b->p[i], c->y += b->p[i + 1], i += 2;
        } else {
            size_t bytes = b->bits == 8 ? what : (what + 1u) / 2;
            if (b->n - i < bytes) return false;
            for (size_t k = 0; k < what; k++) put_index(c, half(b, b->p[i + (b->bits == 8 ? k : k / 2)], k));
            i += bytes + bytes % 2;
        }
    }
    return false;
}

static qs_status read_packed(const Bmp *b, uint8_t *out) {
    Ctx *ctx = qvm_ctx(b->m->vm);
    size_t n = qmem_size((size_t)b->width, (size_t)b->height, 0);
    Canvas c = {.b = b, .index = qmem_try(ctx, n)};
    if (!c.index) return qs_fail(b->m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", b->m->fn, n);
    memset(c.index, 0, n);
    qs_status s = read_runs(&c) ? QS_OK : qimage_corrupt(b->m, "it ends before its last pixel");
    for (int64_t y = 0; y < b->height && s == QS_OK; y++) {
        for (int64_t x = 0; x < b->width; x++) from_palette(b, c.index[y * b->width + x], out + x * b->channels);
        s = qimage_row(b->m, b->top_down ? y : b->height - 1 - y, QS_U8, out);
    }
    qmem_try_free(ctx, c.index, n);
    return s;
}

qs_status qimage_bmp_read(Image *m) {
    Bmp b = {.m = m, .p = m->bytes, .n = m->nbytes};
    qs_status s = QS_OK;
    m->format = "bmp";
    TRY(read_header(&b));
    if (!qimage_begin(m, b.height, b.width, b.channels, b.channels == 4, 8, &s)) return s;
    size_t bytes = qmem_size((size_t)b.width, (size_t)b.channels, 0);
    uint8_t *row = qmem_try(qvm_ctx(m->vm), bytes);
    if (!row) return qs_fail(m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", m->fn, bytes);
    s = has_runs(&b) ? read_packed(&b, row) : read_rows(&b, row);
    qmem_try_free(qvm_ctx(m->vm), row, bytes);
    return s;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
static void write_header(const Pixels *x, int bits, size_t stride, Text *out) {
    size_t header = bits == 32 ? V4_HEADER : INFO_HEADER, palette = bits == 8 ? 256 * 4 : 0;
    size_t pixels = FILE_HEADER + header + palette, size = stride * (size_t)x->height;
    qtext_puts(out, "BM");
    qbytes_put_le(out, pixels + size, 4), qbytes_put_le(out, 0, 4), qbytes_put_le(out, pixels, 4);
    qbytes_put_le(out, header, 4), qbytes_put_le(out, (uint64_t)x->width, 4),
        qbytes_put_le(out, (uint64_t)x->height, 4);
    qbytes_put_le(out, 1, 2), qbytes_put_le(out, (uint64_t)bits, 2), qbytes_put_le(out, bits == 32 ? FIELDS : PLAIN, 4);
    qbytes_put_le(out, size, 4), qbytes_put_le(out, 2835, 4),
        qbytes_put_le(out, 2835, 4); /* 72 dots per inch, in dots per metre */
    qbytes_put_le(out, palette / 4, 4), qbytes_put_le(out, 0, 4);
    if (bits == 8)
        for (unsigned i = 0; i < 256; i++) qbytes_put_le(out, i * 0x10101u, 4);
    if (bits != 32) return;
    qbytes_put_le(out, 0xff0000, 4), qbytes_put_le(out, 0xff00, 4), qbytes_put_le(out, 0xff, 4),
        qbytes_put_le(out, 0xff000000, 4);
    qbytes_put_le(out, 0x73524742, 4); /* sRGB */
    qtext_pad(out, 0, V4_HEADER - INFO_HEADER - 20);
}

static void write_pixel(const Pixels *x, const uint8_t *from, Text *out) {
    bool gray = x->channels <= 2, alpha = x->channels % 2 == 0;
    if (x->channels == 1) {
        qtext_putc(out, (char)from[0]);
        return;
    }
    for (int k = 2; k >= 0; k--) qtext_putc(out, (char)from[gray ? 0 : k]);
    if (alpha) qtext_putc(out, (char)from[x->channels - 1]);
}

qs_status qimage_bmp_write(const Pixels *x, int n, Text *out) {
    (void)n;
    int bits = x->channels == 1 ? 8 : x->channels == 3 ? 24 : 32;
    size_t row = (size_t)x->width * (size_t)(bits / 8), stride = (row + 3) / 4 * 4;
    if ((double)stride * (double)x->height > 0x7fffffff)
        return qs_fail(x->vm, QS_EVALUE, "imwrite: %s: a .bmp file holds at most 2 GiB", x->path);
    write_header(x, bits, stride, out);
    for (int64_t y = x->height; y-- > 0;) {
        const uint8_t *from = x->data + (size_t)(y * x->width) * (size_t)x->channels;
        for (int64_t i = 0; i < x->width; i++) write_pixel(x, from + i * x->channels, out);
        qtext_pad(out, 0, stride - row);
    }
    return QS_OK;
}
