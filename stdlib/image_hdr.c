/* image_hdr.c -- reads and writes Radiance's HDR images: the mantissas of red, green and blue, and their exponent, as
 * four bytes per pixel.
 *
 *     lines of text, an empty line │ extents: -Y height +X width │ rows: a run-length code per channel, or pixels
 *
 * The value of a channel is mantissa*2^(exponent-136), as in other libraries; a factor EXPOSURE in the header is not
 * applied.  Source: Ward, "Real Pixels", Graphics Gems II, and the documents of Radiance (File Formats, chapter 4). */
#include "stdlib/bytes.h"
#include "stdlib/image.h"
#include "vm/base/warning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BIAS = 136, LEAST_WIDTH = 8, MOST_WIDTH = 32767 }; /* widths of rows with a code per channel */

typedef struct {
    Image *m;
    ByteReader b;
    int64_t height, width;
    bool bottom_up, right_to_left;
} Hdr;

/* -- reading ------------------------------------------------------------------------------------------------------- */
/* Reads the next line, whose end is left out if it is long. */
static bool take_line(ByteReader *b, char line[80]) {
    const uint8_t *end = b->n ? memchr(b->p, '\n', b->n) : NULL;
    if (!end) return false;
    size_t n = (size_t)(end - b->p), kept = n < 79 ? n : 79;
    memcpy(line, b->p, kept), line[kept] = 0;
    return qbytes_take(b, n + 1) != NULL;
}

static qs_status read_header(Hdr *h) {
    char line[80], y, x, first, second;
    long long height, width;
    do {
        if (!take_line(&h->b, line)) return qimage_corrupt(h->m, "its header");
        if (!strncmp(line, "FORMAT=", 7) && strcmp(line + 7, "32-bit_rle_rgbe") != 0)
            return qs_fail(h->m->vm, QS_EVALUE, "%s: %s has the pixels %.40s; only 32-bit_rle_rgbe is read", h->m->fn,
                           h->m->path, line + 7);
    } while (*line);
    if (!take_line(&h->b, line) || sscanf(line, "%c%c %9lld %c%c %9lld", &y, &first, &height, &x, &second, &width) != 6)
        return qimage_corrupt(h->m, "its extents");
    if (first != 'Y' || second != 'X' || !strchr("+-", y) || !strchr("+-", x))
        return qs_fail(h->m->vm, QS_EVALUE, "%s: %s has the order of pixels \"%.40s\"; only rows (Y before X) are read",
                       h->m->fn, h->m->path, line);
    h->height = height, h->width = width, h->bottom_up = y == '+', h->right_to_left = x == '-';
    return QS_OK;
}

/* Reads one channel of a row: runs of up to 127 equal bytes, or up to 128 bytes as they are. */
static bool read_channel(Hdr *h, uint8_t *to) {
    for (int64_t x = 0; x < h->width;) {
        int code = (int)qbytes_number(&h->b, 1), n = code > 128 ? code - 128 : code;
        const uint8_t *from = qbytes_take(&h->b, code > 128 ? 1 : (size_t)n);
        if (!from || n == 0 || n > h->width - x) return false;
        for (int i = 0; i < n; i++, x++) to[4 * x] = from[code > 128 ? 0 : i];
    }
    return true;
}

/* Reads a row of pixels, of which 1 1 1 n repeats the one before n times; codes in a row are digits of one number. */
static bool read_pixels(Hdr *h, const uint8_t *p, uint8_t *row) {
    int shift = 0;
    for (int64_t x = 0;; p = qbytes_take(&h->b, 4)) {
        if (!p) return false;
        if (p[0] == 1 && p[1] == 1 && p[2] == 1) {
            int64_t n = (int64_t)p[3] << shift;
            if (x == 0 || n > h->width - x || shift > 16) return false;
            for (; n > 0; n--, x++) memcpy(row + 4 * x, row + 4 * x - 4, 4);
            shift += 8;
        } else memcpy(row + 4 * x++, p, 4), shift = 0;
        if (x == h->width) return true;
    }
}

static bool read_row(Hdr *h, uint8_t *row) {
    const uint8_t *p = qbytes_take(&h->b, 4);
    bool coded = p && h->width >= LEAST_WIDTH && h->width <= MOST_WIDTH && p[0] == 2 && p[1] == 2 && p[2] < 128;
    if (!coded) return p && read_pixels(h, p, row);
    bool good = (int64_t)qbytes_be(p + 2, 2) == h->width;
    for (int k = 0; k < 4 && good; k++) good = read_channel(h, row + k);
    return good;
}

static void convert_row(const Hdr *h, const uint8_t *row, float *out) {
    for (int64_t x = 0; x < h->width; x++) {
        const uint8_t *p = row + 4 * (h->right_to_left ? h->width - 1 - x : x);
        for (int k = 0; k < 3; k++) out[3 * x + k] = p[3] ? (float)ldexp(p[k], p[3] - BIAS) : 0;
    }
}

static qs_status read_rows(Hdr *h, uint8_t *row, float *out) {
    for (int64_t y = 0; y < h->height; y++) {
        if (!read_row(h, row))
            return qimage_corrupt(h->m, h->b.short_of ? "it ends before its last pixel" : "the code of a row");
        convert_row(h, row, out);
        TRY(qimage_row(h->m, h->bottom_up ? h->height - 1 - y : y, QS_F32, out));
    }
    return QS_OK;
}

qs_status qimage_hdr_read(Image *m) {
    Hdr h = {.m = m, .b = {.p = m->bytes, .n = m->nbytes}};
    qs_status s;
    m->format = "hdr";
    TRY(read_header(&h));
    if (!qimage_begin(m, h.height, h.width, 3, false, 32, &s)) return s;
    size_t n = qmem_size((size_t)h.width, 4 + 3 * sizeof(float), 0);
    float *out = qmem_try(qvm_ctx(m->vm), n);
    if (!out) return qs_fail(m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", m->fn, n);
    s = read_rows(&h, (uint8_t *)(out + 3 * h.width), out);
    qmem_try_free(qvm_ctx(m->vm), out, n);
    return s;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
/* Rounds to nearest; negative numbers and nan become 0, larger ones the largest that there is. */
static void encode_pixel(const float *x, int channels, uint8_t *to) {
    double c[3], most = 0;
    int e;
    for (int k = 0; k < 3; k++) c[k] = fmin(fmax((double)x[channels == 3 ? k : 0], 0), ldexp(255, 255 - BIAS));
    for (int k = 0; k < 3; k++) most = fmax(most, c[k]);
    frexp(most, &e);
    if (ldexp(most, 8 - e) >= 255.5) e++; /* the mantissa would be rounded to 256 */
    bool zero = most == 0 || e + BIAS - 8 < 1;
    for (int k = 0; k < 3; k++) to[k] = zero ? 0 : (uint8_t)floor(ldexp(c[k], 8 - e) + 0.5);
    to[3] = zero ? 0 : (uint8_t)(e + BIAS - 8);
}

static void write_channel(const uint8_t *p, int64_t width, Text *out) {
    for (int64_t x = 0, run = 0; x < width; x += run) {
        int64_t from = x;
        for (run = 0; x < width && run < 4; x += run < 4 ? run : 0) /* finds the next run that is worth a code */
            for (run = 1; run < 127 && x + run < width && p[4 * (x + run)] == p[4 * x];) run++;
        if (run < 4) run = 0;
        for (int64_t n; from < x; from += n) {
            n = x - from < 128 ? x - from : 128;
            qtext_putc(out, (char)n);
            for (int64_t i = 0; i < n; i++) qtext_putc(out, (char)p[4 * (from + i)]);
        }
        if (run) qtext_putc(out, (char)(128 + run)), qtext_putc(out, (char)p[4 * x]);
    }
}

static qs_status check_range(const Pixels *x) {
    const float *p = (const float *)(const void *)x->data, most = (float)ldexp(255, 255 - BIAS);
    size_t n = x->size / sizeof *p, i = 0;
    while (i < n && p[i] >= 0 && p[i] <= most) i++;
    if (i == n) return QS_OK;
    return qwarn_at(qvm_ctx(x->vm), qvm_here(x->vm),
                    "imwrite: %s: this format holds numbers of 0 to %g: negative numbers and nan become 0, larger ones "
                    "the largest",
                    x->path, (double)most);
}

qs_status qimage_hdr_write(const Pixels *x, int n, Text *out) {
    (void)n;
    TRY(check_range(x));
    Ctx *ctx = qvm_ctx(x->vm);
    size_t bytes = qmem_size((size_t)x->width, 4, 0);
    uint8_t *row = qmem_try(ctx, bytes);
    const float *from = (const float *)(const void *)x->data;
    bool coded = x->width >= LEAST_WIDTH && x->width <= MOST_WIDTH;
    if (!row) return qs_fail(x->vm, QS_ENOMEM, "imwrite: no memory for %zu bytes", bytes);
    qtext_printf(out, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %lld +X %lld\n", (long long)x->height,
                 (long long)x->width);
    for (int64_t y = 0; y < x->height; y++) {
        for (int64_t i = 0; i < x->width; i++, from += x->channels) encode_pixel(from, x->channels, row + 4 * i);
        if (coded) qtext_puts(out, "\2\2"), qtext_putc(out, (char)(x->width >> 8)), qtext_putc(out, (char)x->width);
        for (int k = 0; k < 4 && coded; k++) write_channel(row + k, x->width, out);
        if (!coded) qtext_add(out, (const char *)row, bytes);
    }
    qmem_try_free(ctx, row, bytes);
    return QS_OK;
}
