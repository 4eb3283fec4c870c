/* image.c -- implements imread, imwrite and related functions, and the netpbm formats. */
#include "stdlib/image.h"
#include "stdlib/builtins.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "vm/array/convert.h"
#include "vm/base/warning.h"
#include "vm/program/python.h"

/* -- reading ------------------------------------------------------------------------------------------------------- */
qs_status qimage_corrupt(Image *m, const char *why) {
    return qs_fail(m->vm, QS_EVALUE, "%s: %s is damaged: %s", m->fn, m->path, why);
}

static qs_status sheet(Image *m, int channels, qs_value *out) {
    Array *a;
    int64_t dims[3] = {m->height, m->width, channels};
    TRY(qarr_new(m->vm, qvm_ctx(m->vm)->scalar_dtype, channels == 1 ? 2 : 3, dims, true, &a));
    *out = qarr_value(a);
    return QS_OK;
}

/* Upper bound for compression: the best codecs reach about 1:1000 on bytes that contain 8 samples. */
enum { SAMPLES_PER_BYTE = 16384 };

bool qimage_begin(Image *m, int64_t height, int64_t width, int channels, bool has_alpha, int depth, qs_status *status) {
    m->height = height, m->width = width, m->channels = channels, m->has_alpha = has_alpha, m->depth = depth;
    *status = QS_OK;
    double samples = (double)height * (double)width * channels;
    if (height < 1 || width < 1 || channels < 1 || samples > (double)m->nbytes * SAMPLES_PER_BYTE)
        *status = qs_fail(m->vm, QS_EVALUE, "%s: %s is damaged: it claims %lld x %lld pixels in %zu bytes", m->fn,
                          m->path, (long long)height, (long long)width, m->nbytes);
    if (*status != QS_OK || m->info_only) return false;
    *status = sheet(m, channels - has_alpha, &m->picture);
    if (*status == QS_OK && has_alpha) *status = sheet(m, 1, &m->alpha);
    return *status == QS_OK;
}

static qs_status channels_of_row(qs_vm *vm, qs_value to, int64_t y, int64_t width, int n, qs_dtype d, const char *src,
                                 ptrdiff_t step) {
    Array *a = qval_array(to);
    size_t size = qdtype_size((qs_dtype)a->dtype), from = qdtype_size(d);
    void *p;
    TRY(qarr_write(vm, a, &p));
    char *dst = (char *)p + (size_t)(y * width) * (size_t)n * size;
    for (int k = 0; k < n; k++)
        qconv_run(d, src + (size_t)k * from, step, (qs_dtype)a->dtype, dst + (size_t)k * size,
                  (ptrdiff_t)((size_t)n * size), (size_t)width);
    return QS_OK;
}

/* Counts a row for the progress report; the order of rows depends on the file. */
static void count_row(const Image *m) {
    Doing *d = &qvm_ctx(m->vm)->doing;
    if (!qdoing_is_known(d)) qdoing_stage(d, 0, 1, m->height);
    qdoing_add(d, 1);
}

qs_status qimage_row(Image *m, int64_t y, qs_dtype d, const void *row) {
    int n = m->channels - m->has_alpha;
    size_t size = qdtype_size(d);
    ptrdiff_t step = (ptrdiff_t)((size_t)m->channels * size);
    count_row(m);
    TRY(qthread_safe_point(m->vm));
    if (!m->has_alpha) return channels_of_row(m->vm, m->picture, y, m->width * n, 1, d, row, (ptrdiff_t)size);
    TRY(channels_of_row(m->vm, m->picture, y, m->width, n, d, row, step));
    return channels_of_row(m->vm, m->alpha, y, m->width, 1, d, (const char *)row + (size_t)n * size, step);
}

/* -- netpbm: P1 … P6 (netpbm.sourceforge.net/doc) ------------------------------------------------------------------ */
typedef struct {
    const uint8_t *p, *end;
} Cursor;

static bool pnm_number(Cursor *c, int64_t *out) {
    while (c->p < c->end && (isspace(*c->p) || *c->p == '#'))
        if (*c->p == '#')
            while (c->p < c->end && *c->p != '\n') c->p++; /* a comment may end with the file */
        else c->p++;
    if (c->p == c->end || !isdigit(*c->p)) return false;
    for (*out = 0; c->p < c->end && isdigit(*c->p) && *out < 1 << 30; c->p++) *out = *out * 10 + (*c->p - '0');
    return true;
}

static bool pnm_bit(Cursor *c, uint16_t *out) { /* the digits of P1 need not be separated */
    while (c->p < c->end && isspace(*c->p)) c->p++;
    if (c->p == c->end || (*c->p != '0' && *c->p != '1')) return false;
    *out = *c->p++ == '0' ? 1 : 0; /* 1 is black */
    return true;
}

static bool pnm_row(Cursor *c, char kind, int64_t n, int64_t most, uint16_t *row) {
    if (kind == '4') {
        if (c->end - c->p < (n + 7) / 8) return false;
        for (int64_t i = 0; i < n; i++) row[i] = c->p[i / 8] >> (7 - i % 8) & 1 ? 0 : 1;
        c->p += (n + 7) / 8;
        return true;
    }
    for (int64_t i = 0, x; i < n; i++) {
        if (kind == '1') {
            if (!pnm_bit(c, &row[i])) return false;
            continue;
        }
        if (kind < '4') {
            if (!pnm_number(c, &x)) return false;
            row[i] = (uint16_t)(x > most ? most : x);
            continue;
        }
        int bytes = most > 255 ? 2 : 1;
        if (c->end - c->p < bytes) return false;
        row[i] = (uint16_t)(bytes == 2 ? c->p[0] << 8 | c->p[1] : c->p[0]);
        c->p += bytes;
    }
    return true;
}

static qs_status pnm_read(Image *m) {
    char kind = (char)m->bytes[1];
    Cursor c = {m->bytes + 2, m->bytes + m->nbytes};
    int64_t width, height, most = 1;
    bool bits = kind == '1' || kind == '4';
    m->format = "pnm";
    if (!pnm_number(&c, &width) || !pnm_number(&c, &height) || (!bits && !pnm_number(&c, &most)))
        return qimage_corrupt(m, "its header");
    if (most < 1 || most > 65535) return qimage_corrupt(m, "its largest value");
    if (kind >= '4') c.p += c.p < c.end; /* one blank ends the header */
    int channels = kind == '3' || kind == '6' ? 3 : 1;
    qs_status s;
    /* A sample takes at least one bit. */
    if (!m->info_only && (double)width * (double)height * channels > 8 * (double)m->nbytes)
        return qimage_corrupt(m, "it ends before its last pixel");
    if (!qimage_begin(m, height, width, channels, false, most > 255 ? 16 : 8, &s)) return s;
    size_t bytes = qmem_size((size_t)width, (size_t)channels * sizeof(uint16_t), 0);
    uint16_t *row = qmem_try(qvm_ctx(m->vm), bytes);
    if (!row) return qs_fail(m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", m->fn, bytes);
    double scale = most > 255 ? 65535.0 / (double)most : 255.0 / (double)most; /* scales to the full range */
    for (int64_t y = 0; y < height && s == QS_OK; y++) {
        if (!pnm_row(&c, kind, width * channels, most, row)) {
            s = qimage_corrupt(m, "it ends before its last pixel");
            break;
        }
        for (int64_t i = 0; scale != 1 && i < width * channels; i++)
            row[i] = (uint16_t)fmin(row[i] * scale + 0.5, 65535);
        s = qimage_row(m, y, QS_U16, row);
    }
    qmem_free(qvm_ctx(m->vm), row, bytes);
    return s;
}

static qs_status pnm_write(const Pixels *x, int n, Text *out) {
    (void)n;
    qtext_printf(out, "P%d\n%lld %lld\n%d\n", x->channels == 3 ? 6 : 5, (long long)x->width, (long long)x->height,
                 x->bits == 16 ? 65535 : 255);
    if (x->bits == 8) return qtext_add(out, (const char *)x->data, x->size), QS_OK;
    for (size_t i = 0; i < x->size; i += 2) { /* high byte first */
        uint16_t v;
        memcpy(&v, x->data + i, 2);
        qtext_putc(out, (char)(v >> 8)), qtext_putc(out, (char)(v & 255));
    }
    return QS_OK;
}

/* -- formats ------------------------------------------------------------------------------------------------------- */
qs_status qimage_unread(const Image *m, const char *what, const char *library, const char *why) {
    return qs_fail(m->vm, QS_EIO, "%s: %s is a %s file, and %s cannot be opened: %s", m->fn, m->path, what, library,
                   why);
}

qs_status qimage_unwritten(const Pixels *x, const char *library, const char *why) {
    return qs_fail(x->vm, QS_EIO, "imwrite: %s: %s cannot be opened: %s; .ppm and .pgm always work", x->path, library,
                   why);
}

static qs_status decode_image(Image *m) {
    const uint8_t *p = m->bytes;
    if (m->nbytes >= 8) {
        if (!memcmp(p, "\x89PNG", 4)) return qimage_png_read(m);
        if (!memcmp(p, "\xff\xd8\xff", 3)) return qimage_jpeg_read(m);
        if (!memcmp(p, "II*\0", 4) || !memcmp(p, "MM\0*", 4) || !memcmp(p, "II+\0", 4) || !memcmp(p, "MM\0+", 4))
            return qimage_tiff_read(m);
        if (p[0] == 'P' && p[1] >= '1' && p[1] <= '6') return pnm_read(m);
        if (p[0] == 'B' && p[1] == 'M') return qimage_bmp_read(m);
        if (!memcmp(p, "GIF87a", 6) || !memcmp(p, "GIF89a", 6)) return qimage_gif_read(m);
        if (p[0] == '#' && p[1] == '?') return qimage_hdr_read(m);
    }
    return qs_fail(m->vm, QS_EVALUE, "%s: %s is no PNG, JPEG, TIFF, BMP, GIF, HDR, PPM, PGM or PBM file", m->fn,
                   m->path);
}

typedef struct {
    const char *extension;
    ImageWriter *write;
    int max_bits, max_channels;
    bool alpha, pages;
} Format;
static const Format formats[] = {
    {"png", qimage_png_write, 16, 4, true, false},   {"jpg", qimage_jpeg_write, 8, 3, false, false},
    {"jpeg", qimage_jpeg_write, 8, 3, false, false}, {"tif", qimage_tiff_write, 32, 4, true, true},
    {"tiff", qimage_tiff_write, 32, 4, true, true},  {"bmp", qimage_bmp_write, 8, 4, true, false},
    {"ppm", pnm_write, 16, 3, false, false},         {"pgm", pnm_write, 16, 1, false, false},
    {"gif", qimage_gif_write, 8, 3, false, true},    {"hdr", qimage_hdr_write, 32, 3, false, false},
};

static qs_status format_of(qs_vm *vm, const char *path, const Format **out) {
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (!strcasecmp(dot + 1, formats[i].extension)) return *out = &formats[i], QS_OK;
    return qs_fail(vm, QS_EVALUE, "imwrite: %s must end in .png, .jpg, .tif, .bmp, .gif, .hdr, .ppm or .pgm", path);
}

static qs_status open_image(qs_vm *vm, qs_call_args *c, Image *m, Text *bytes) {
    int64_t page = 0;
    *m = (Image){.vm = vm, .fn = c->name, .pages = 1, .orientation = 1, .delay = -1};
    TRY(qarg_string(vm, c->name, "path", c->in[0], &m->path, NULL));
    if (qarg_given(c, 1) && c->in[1].kind != QS_ARRAY && c->in[1].kind != QS_STRING)
        TRY(qarg_count(vm, c->name, "page", c->in[1], &page));
    if (page > 65535) return qs_fail(vm, QS_EINDEX, "%s: page must be below 65536, got %lld", c->name, (long long)page);
    m->page = (int)page;
    TRY(qio_slurp(vm, c->name, m->path, bytes));
    m->bytes = (const uint8_t *)bytes->s, m->nbytes = bytes->len;
    return QS_OK;
}

/* Turns an image so that its first row is the top: orientations from 5 on exchange rows and columns, and some then
 * reverse rows or columns. */
static qs_status turn_image(qs_vm *vm, int orientation, qs_value *image) {
    static const bool reversed[][2] = {{false, false}, {false, true}, {true, true}, {true, false},
                                       {false, false}, {false, true}, {true, true}, {true, false}};
    int64_t dims[QS_MAX_RANK], steps[QS_MAX_RANK];
    size_t first = 0;
    Array *view, *turned;
    if (image->kind != QS_ARRAY || orientation == 1) return QS_OK;
    int rank = qarr_shape(qval_array(*image), dims, steps);
    if (orientation >= 5) {
        int64_t extent = dims[0], step = steps[0];
        dims[0] = dims[1], dims[1] = extent, steps[0] = steps[1], steps[1] = step;
    }
    for (int i = 0; i < 2; i++)
        if (reversed[orientation - 1][i]) first += (size_t)((dims[i] - 1) * steps[i]), steps[i] = -steps[i];
    TRY(qarr_view(vm, qval_array(*image), rank, dims, steps, first, &view));
    qs_status s = qarr_contiguous(vm, view, &turned);
    qarr_release(vm, view);
    TRY(s);
    qval_release(vm, *image);
    return *image = qarr_value(turned), QS_OK;
}

/* Reads the option AutoOrient behind the page, if there is one. */
static qs_status read_auto_orient(qs_vm *vm, const qs_call_args *c, bool *turn) {
    int at = c->nin > 1 && c->in[1].kind == QS_STRING ? 1 : 2;
    const char *name;
    *turn = false;
    if (c->nin <= at) return QS_OK;
    TRY(qarg_string(vm, "imread", "option", c->in[at], &name, NULL));
    if (strcasecmp(name, "AutoOrient") || c->nin != at + 2 || c->in[at + 1].kind != QS_BOOL)
        return qs_fail(vm, QS_EVALUE,
                       "imread: the option is \"AutoOrient\", with true or false after it, got \"%.40s\"", name);
    return *turn = c->in[at + 1].u.i, QS_OK;
}

qs_status qimage_imread(qs_vm *vm, qs_call_args *c) {
    Image m;
    Text bytes;
    bool turn;
    TRY(read_auto_orient(vm, c, &turn));
    qtext_init(&bytes, qvm_ctx(vm));
    qs_status s = open_image(vm, c, &m, &bytes);
    if (s == QS_OK) s = decode_image(&m);
    if (s == QS_OK && turn) s = turn_image(vm, m.orientation, &m.picture);
    if (s == QS_OK && turn) s = turn_image(vm, m.orientation, &m.alpha);
    qtext_free(&bytes);
    c->out[0] = m.picture;
    if (c->nout > 1) c->out[1] = m.alpha;
    else qval_release(vm, m.alpha);
    return s;
}

qs_status qimage_imfinfo(qs_vm *vm, qs_call_args *c) {
    Image m;
    Text bytes;
    Object *o;
    qs_value format;
    qtext_init(&bytes, qvm_ctx(vm));
    int64_t page;
    if (qarg_given(c, 1)) TRY(qarg_count(vm, c->name, "page", c->in[1], &page));
    qs_status s = open_image(vm, c, &m, &bytes);
    m.info_only = true;
    if (s == QS_OK) s = decode_image(&m);
    qtext_free(&bytes);
    TRY(s);
    TRY(qobj_new(vm, NULL, &o));
    c->out[0] = qval_object(QS_OBJECT, o);
    TRY(qs_string(vm, m.format, strlen(m.format), &format));
    TRY(qarg_set_field(vm, o, "format", format));
    TRY(qarg_set_field(vm, o, "width", qs_num((double)m.width)));
    TRY(qarg_set_field(vm, o, "height", qs_num((double)m.height)));
    TRY(qarg_set_field(vm, o, "channels", qs_num(m.channels)));
    TRY(qarg_set_field(vm, o, "depth", qs_num(m.depth)));
    TRY(qarg_set_field(vm, o, "pages", qs_num(m.pages)));
    TRY(qarg_set_field(vm, o, "orientation", qs_num(m.orientation)));
    return m.delay < 0 ? QS_OK : qarg_set_field(vm, o, "delay", qs_num(m.delay));
}

/* tiffread(path, pages).slices: returns the pages as a list of matrices. */
static qs_status read_pages(Image *m, const double *pages, int64_t n, qs_value *out) {
    Cell *cell;
    TRY(qcell_new(m->vm, qtype_any(qvm_ctx(m->vm)), 1, &n, &cell));
    *out = qval_object(QS_CELL, cell);
    for (int64_t i = 0; i < n; i++) {
        double page = pages ? pages[i] : (double)i;
        if (!(page >= 0 && page < m->pages && page == floor(page)))
            return qs_fail(m->vm, QS_EINDEX, "tiffread: %s has %d pages, page %g was asked for", m->path, m->pages,
                           page);
        m->page = (int)page;
        TRY(qimage_tiff_read(m));
        qval_release(m->vm, m->alpha);
        cell->items[i] = m->picture;
        m->picture = m->alpha = qs_nil();
    }
    return QS_OK;
}

qs_status qimage_tiffread(qs_vm *vm, qs_call_args *c) {
    Image m;
    Text bytes;
    Object *o;
    double *pages = NULL;
    size_t n = 0;
    qs_value list = qs_nil();
    TRY(qobj_new(vm, NULL, &o));
    c->out[0] = qval_object(QS_OBJECT, o);
    if (qarg_given(c, 1)) TRY(qarr_doubles(vm, c->in[1], "tiffread: pages", &pages, &n));
    qtext_init(&bytes, qvm_ctx(vm));
    qs_call_args path = {1, 1, c->in, c->out, .name = c->name};
    qs_status s = open_image(vm, &path, &m, &bytes);
    m.info_only = true;
    if (s == QS_OK) s = qimage_tiff_read(&m);
    m.info_only = false;
    if (s == QS_OK) s = read_pages(&m, pages, pages ? (int64_t)n : m.pages, &list);
    qval_release(vm, m.picture), qval_release(vm, m.alpha);
    qtext_free(&bytes);
    if (pages) qmem_free(qvm_ctx(vm), pages, n * sizeof *pages);
    if (s != QS_OK) return qval_release(vm, list), s;
    return qarg_set_field(vm, o, "slices", list);
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
/* Recognizes images where white is 1, as is usual in other libraries: filters and noise exceed [0,1] a little. */
#define IS_UNIT(T)                                                                                                     \
    static bool is_unit_##T(const T *x, size_t n) {                                                                    \
        bool fraction = false;                                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                               \
            if (!(x[i] >= -1.5 && x[i] <= 1.5)) return false;                                                          \
            fraction |= x[i] > 0 && x[i] < 1;                                                                          \
        }                                                                                                              \
        return fraction;                                                                                               \
    }
IS_UNIT(float)
IS_UNIT(double)

qs_status qimage_check_white(qs_vm *vm, const char *fn, const char *what, qs_dtype d, const void *x, size_t n,
                             double white, const char *otherwise) {
    bool unit = (d == QS_F32 && is_unit_float(x, n)) || (d == QS_F64 && is_unit_double(x, n));
    if (!unit) return QS_OK;
    return qwarn_at(qvm_ctx(vm), qvm_here(vm),
                    "%s: %s will be black: no value is above 1.5, and white is %g; write %g*img%s", fn, what, white,
                    white, otherwise);
}

/* Returns whether one of n floats exceeds every white in [0,1], even of an image with highlights. */
#define IS_BYTES(T)                                                                                                    \
    static bool is_bytes_##T(const T *x, size_t n) {                                                                   \
        for (size_t i = 0; i < n; i++)                                                                                 \
            if (x[i] > 16) return true;                                                                                \
        return false;                                                                                                  \
    }
IS_BYTES(float)
IS_BYTES(double)

/* check_scale(what, x, white): elements that only a device has are not fetched for a warning. */
qs_status qimage_check_scale(qs_vm *vm, qs_call_args *c) {
    const char *what;
    int64_t white;
    Array *a;
    const void *p;
    TRY(qarg_string(vm, c->name, "what", c->in[0], &what, NULL));
    TRY(qarg_count(vm, c->name, "white", c->in[2], &white));
    if (c->in[1].kind != QS_ARRAY) return QS_OK;
    a = qval_array(c->in[1]);
    bool wide = a->dtype == QS_F64, small = white < 255;
    Where w = qvm_here_of_script(vm);
    if (!(a->buf->valid & 1) || !qwarn_expected(qvm_ctx(vm), w) || !a->count) return QS_OK;
    if (!small && a->dtype != QS_F32 && !wide) return QS_OK;
    if (qdtype_is_complex((qs_dtype)a->dtype) || a->dtype == QS_B1) return QS_OK;
    TRY(qarg_packed(vm, c, 1, "x", wide ? QS_F64 : QS_F32, &a, &p));
    bool wrong = small  ? wide ? is_bytes_double(p, a->count) : is_bytes_float(p, a->count)
                  : wide ? is_unit_double(p, a->count)
                        : is_unit_float(p, a->count);
    if (!wrong) return QS_OK;
    if (small)
        return qwarn_at(qvm_ctx(vm), w, "%s must have values in [0,1], and has larger ones: divide by 255", what);
    return qwarn_at(qvm_ctx(vm), w, "%s has no value above 1.5, and white is 255: multiply by 255, or give the scale",
                    what);
}

static void quantise(const double *x, size_t n, double scale, Pixels *out) {
    double most = out->bits == 16 ? 65535 : 255;
    for (size_t i = 0; i < n; i++) {
        double v = x[i] * scale;
        v = v > 0 ? floor(fmin(v, most) + 0.5) : 0; /* nan becomes 0 */
        if (out->bits == 8) out->data[i] = (uint8_t)v;
        else ((uint16_t *)(void *)out->data)[i] = (uint16_t)v;
    }
}

/* Warns if uint16 elements beyond 255 are written as 8 bits, which makes them 255. */
static qs_status check_saturation(const Pixels *x, const Array *a, const double *p) {
    double most = 0;
    for (size_t i = 0; a->dtype == QS_U16 && x->bits == 8 && i < a->count; i++) most = fmax(most, p[i]);
    if (most <= 255) return QS_OK;
    return qwarn_at(qvm_ctx(x->vm), qvm_here(x->vm),
                    "imwrite: %s: uint16 values up to %g are saturated to 255; imwrite(path, img, 16) writes all bits "
                    "to a .png, .tif or .ppm",
                    x->path, most);
}

static qs_status check_nan(const Pixels *x, size_t n, const double *p) {
    size_t i = 0;
    while (i < n && !isnan(p[i])) i++;
    if (i == n) return QS_OK;
    return qwarn_at(qvm_ctx(x->vm), qvm_here(x->vm), "imwrite: %s: nan becomes 0", x->path);
}

static qs_status sample(qs_vm *vm, Array *a, Pixels *out) {
    Array *wide, *packed;
    const void *p;
    TRY(qarr_convert(vm, a, out->bits == 32 ? QS_F32 : QS_F64, &wide));
    qs_status s = qarr_contiguous(vm, wide, &packed);
    qarr_release(vm, wide);
    TRY(s);
    out->size = qmem_size(a->count, (size_t)(out->bits / 8), 0);
    out->data = qmem_try(qvm_ctx(vm), out->size);
    s = out->data ? qarr_read(vm, packed, &p) : qs_fail(vm, QS_ENOMEM, "imwrite: no memory for %zu bytes", out->size);
    if (s == QS_OK && out->bits != 32) s = qimage_check_white(vm, "imwrite", out->path, QS_F64, p, a->count, 255, "");
    if (s == QS_OK && out->bits != 32) s = check_saturation(out, a, p);
    if (s == QS_OK && out->bits != 32) s = check_nan(out, a->count, p);
    if (s == QS_OK && out->bits == 32) memcpy(out->data, p, out->size);
    else if (s == QS_OK) quantise(p, a->count, a->dtype == QS_B1 ? out->bits == 16 ? 65535 : 255 : 1, out);
    qarr_release(vm, packed);
    return s;
}

static qs_status pixels_of(qs_vm *vm, const Format *f, const char *path, qs_value v, Pixels *out) {
    if (v.kind != QS_ARRAY || qdtype_is_complex((qs_dtype)qval_array(v)->dtype))
        return qarg_wrong(vm, "imwrite", "img", "a real array", v);
    Array *a = qval_array(v);
    int64_t dims[QS_MAX_RANK];
    int rank = qarr_size(a, dims), channels = rank > 2 ? (int)dims[2] : 1;
    bool alpha = channels == 2 || channels == 4;
    if (rank > 3 || channels > f->max_channels || (alpha && !f->alpha) || channels < 1)
        return qs_fail(vm, QS_ESHAPE, "imwrite: a .%s file holds 1%s channels, img has %d dimensions with %d channels",
                       f->extension,
                       f->max_channels == 4   ? " to 4"
                       : f->max_channels == 3 ? " or 3"
                                              : "",
                       rank, channels);
    if (a->count == 0 || dims[0] > 1 << 24 || dims[1] > 1 << 24)
        return qs_fail(vm, QS_ESHAPE, "imwrite: img must have 1 to 2^24 rows and columns, got %lld x %lld",
                       (long long)dims[0], (long long)dims[1]);
    out->path = path, out->height = dims[0], out->width = dims[1], out->channels = channels;
    return sample(vm, a, out);
}

static void release_pixels(qs_vm *vm, Pixels *x) {
    if (x->data) qmem_try_free(qvm_ctx(vm), x->data, x->size);
}

/* -- options of imwrite: names and values, or one number, whose meaning depends on the format --------------------- */
static qs_status set_bits(const Format *f, qs_value v, Pixels *x) {
    int64_t bits;
    bool only_floats = f->write == qimage_hdr_write;
    TRY(qarg_int(x->vm, "imwrite", "option", v, &bits));
    if (only_floats && bits != 32)
        return qs_fail(x->vm, QS_EVALUE, "imwrite: an .hdr file has floats (32 bits), got %lld", (long long)bits);
    if ((bits != 8 && bits != 16 && bits != 32) || bits > f->max_bits)
        return qs_fail(x->vm, QS_EVALUE, "imwrite: a .%s file has 8%s%s bits per sample, got %lld", f->extension,
                       f->max_bits > 8 ? " to " : "",
                       f->max_bits == 32   ? "32"
                       : f->max_bits == 16 ? "16"
                                           : "",
                       (long long)bits);
    return x->bits = (int)bits, QS_OK;
}

static qs_status set_quality(const Format *f, qs_value v, Pixels *x) {
    (void)f;
    int64_t quality;
    TRY(qarg_int(x->vm, "imwrite", "option", v, &quality));
    if (quality >= 1 && quality <= 100) return x->quality = (int)quality, QS_OK;
    return qs_fail(x->vm, QS_EVALUE, "imwrite: quality must be 1 to 100, got %lld", (long long)quality);
}

static qs_status set_delay(const Format *f, qs_value v, Pixels *x) {
    (void)f;
    TRY(qarg_num(x->vm, "imwrite", "delay", v, &x->delay));
    if (x->delay >= 0 && x->delay <= 655) return QS_OK;
    return qs_fail(x->vm, QS_EVALUE, "imwrite: delay must be 0 to 655 seconds per frame, got %g", x->delay);
}

static qs_status set_compression(const Format *f, qs_value v, Pixels *x) {
    static const char *const names[] = {"lzw", "none", "deflate", "packbits"}; /* in the order of ImageCompression */
    const char *name;
    (void)f;
    TRY(qarg_string(x->vm, "imwrite", "compression", v, &name, NULL));
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (!strcasecmp(name, names[i])) return x->compression = (ImageCompression)i, QS_OK;
    return qs_fail(x->vm, QS_EVALUE,
                   "imwrite: compression must be \"lzw\", \"none\", \"deflate\" or \"packbits\", got \"%.40s\"", name);
}

static const struct {
    const char *name;
    ImageWriter *of; /* NULL: of every format */
    qs_status (*set)(const Format *f, qs_value v, Pixels *x);
} options[] = {{"Quality", qimage_jpeg_write, set_quality},
               {"DelayTime", qimage_gif_write, set_delay},
               {"Compression", qimage_tiff_write, set_compression},
               {"BitDepth", NULL, set_bits}};
enum { OPTIONS = sizeof options / sizeof *options };

static qs_status set_option(const Format *f, const char *name, qs_value v, Pixels *x) {
    int i = 0;
    while (i < OPTIONS && strcasecmp(name, options[i].name)) i++;
    if (i == OPTIONS)
        return qs_fail(x->vm, QS_ENAME,
                       "imwrite: the options are Quality, DelayTime, Compression and BitDepth, got \"%.40s\"", name);
    if (options[i].of && options[i].of != f->write)
        return qs_fail(x->vm, QS_EVALUE, "imwrite: a .%s file has no %s", f->extension, options[i].name);
    return options[i].set(f, v, x);
}

static qs_status write_options(qs_vm *vm, qs_call_args *c, const Format *f, Pixels *x) {
    *x = (Pixels){.vm = vm, .bits = f->write == qimage_hdr_write ? 32 : 8, .quality = 95, .delay = 0.1};
    bool named = qarg_given(c, 2) && c->in[2].kind == QS_STRING;
    if (!named && c->nin > 3) return qarg_wrong(vm, "imwrite", "option", "a name with its value", c->in[2]);
    if (!named && !qarg_given(c, 2)) return QS_OK;
    if (!named)
        return set_option(f,
                          f->write == qimage_jpeg_write  ? "Quality"
                          : f->write == qimage_gif_write ? "DelayTime"
                                                         : "BitDepth",
                          c->in[2], x);
    for (int i = 2; i < c->nin; i += 2) {
        const char *name;
        TRY(qarg_string(vm, "imwrite", "the name of an option", c->in[i], &name, NULL));
        if (i + 1 == c->nin) return qs_fail(vm, QS_EVALUE, "imwrite: option %.40s has no value", name);
        TRY(set_option(f, name, c->in[i + 1], x));
    }
    return QS_OK;
}

qs_status qimage_imwrite(qs_vm *vm, qs_call_args *c) {
    const char *path;
    const Format *f = NULL;
    Pixels first;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(format_of(vm, path, &f));
    TRY(write_options(vm, c, f, &first));
    const Cell *pages = c->in[1].kind == QS_CELL ? c->in[1].u.p : NULL;
    if (pages && !f->pages)
        return qs_fail(vm, QS_EVALUE, "imwrite: a .%s file holds one image; several go into a .tif or .gif",
                       f->extension);
    if (pages && pages->count == 0) return qs_fail(vm, QS_EVALUE, "imwrite: there are no pages");
    int n = pages ? (int)pages->count : 1;
    Ctx *ctx = qvm_ctx(vm);
    Pixels *x = qmem_alloc(ctx, qmem_size((size_t)n, sizeof *x, 0));
    qs_status s = QS_OK;
    for (int i = 0; i < n && s == QS_OK; i++) {
        x[i] = first;
        s = pixels_of(vm, f, path, pages ? pages->items[i] : c->in[1], &x[i]);
    }
    Text out;
    qtext_init(&out, ctx);
    if (s == QS_OK) s = f->write(x, n, &out);
    if (s == QS_OK) s = qio_spill(vm, c->name, path, out.s, out.len);
    qtext_free(&out);
    for (int i = 0; i < n; i++) release_pixels(vm, &x[i]);
    qmem_free(ctx, x, (size_t)n * sizeof *x);
    return s;
}
