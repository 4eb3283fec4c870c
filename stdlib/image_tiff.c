/* image_tiff.c -- reads and writes TIFF with libtiff: several pages, 8 to 64 bits, integers and floats, strips and
 * tiles.
 *
 * Gray and RGB samples of whole bytes, and any further channels, are read unchanged; everything else (palettes, YCbCr,
 * CMYK, bits) is converted to 8-bit RGBA by libtiff. */
#include "stdlib/image.h"

#include <string.h>

#ifdef QUASAR_TIFF
#include <stdarg.h>
#include <tiffio.h>

#define LAZY      tiff
#define LAZY_API  "stdlib/tiff_api.def"
#define LAZY_FILE QUASAR_TIFF
#include "vm/base/lazy_library.h"

/* A file in memory: `out` when writing, otherwise `in`, which is NULL if the file is empty. */
typedef struct {
    const uint8_t *in;
    Text *out;
    uint64_t n, at;
    char why[200];
} Memory;

static tmsize_t mem_read(thandle_t h, void *p, tmsize_t n) {
    Memory *m = h;
    const uint8_t *from = m->out ? (const uint8_t *)m->out->s : m->in;
    uint64_t have = m->out ? m->out->len : m->n;
    if (m->at >= have) return 0;
    if ((uint64_t)n > have - m->at) n = (tmsize_t)(have - m->at);
    memcpy(p, from + m->at, (size_t)n);
    m->at += (uint64_t)n;
    return n;
}
static tmsize_t mem_write(thandle_t h, void *p, tmsize_t n) {
    Memory *m = h;
    if (!m->out) return -1;
    if (m->at + (uint64_t)n > m->out->len) qtext_pad(m->out, 0, m->at + (uint64_t)n - m->out->len);
    memcpy(m->out->s + m->at, p, (size_t)n);
    m->at += (uint64_t)n;
    return n;
}
static toff_t mem_size(thandle_t h) {
    Memory *m = h;
    return m->out ? m->out->len : m->n;
}
static toff_t mem_seek(thandle_t h, toff_t off, int whence) {
    Memory *m = h;
    return m->at = whence == SEEK_SET ? off : whence == SEEK_CUR ? m->at + off : mem_size(h) + off;
}
static int mem_close(thandle_t h) {
    (void)h;
    return 0;
}
static int mem_map(thandle_t h, void **p, toff_t *n) {
    (void)h, (void)p, (void)n;
    return 0;
}
static void mem_unmap(thandle_t h, void *p, toff_t n) { (void)h, (void)p, (void)n; }

#if TIFFLIB_VERSION >= 20221213 /* 4.5 has handlers and limits per file */
static int keep_error(TIFF *t, void *ud, const char *module, const char *fmt, va_list ap) {
    (void)t, (void)module;
    Memory *m = ud;
    if (!*m->why) vsnprintf(m->why, sizeof m->why, fmt, ap);
    if (strstr(m->why, " at scanline 4294967295")) snprintf(m->why, sizeof m->why, "it ends too early");
    return 1;
}
static int keep_quiet(TIFF *t, void *ud, const char *module, const char *fmt, va_list ap) {
    (void)t, (void)ud, (void)module, (void)fmt, (void)ap;
    return 1;
}
static TIFF *open_tiff(Memory *m, const char *path, const char *mode) {
    TIFFOpenOptions *o = tiff.TIFFOpenOptionsAlloc();
    tiff.TIFFOpenOptionsSetErrorHandlerExtR(o, keep_error, m);
    tiff.TIFFOpenOptionsSetWarningHandlerExtR(o, keep_quiet, m);
    tiff.TIFFOpenOptionsSetMaxSingleMemAlloc(o, 1 << 30);
    TIFF *t = tiff.TIFFClientOpenExt(path, mode, m, mem_read, mem_write, mem_seek, mem_close, mem_size, mem_map,
                                     mem_unmap, o);
    tiff.TIFFOpenOptionsFree(o);
    return t;
}
#else /* older versions print by default, through handlers of the whole process */
static TIFF *open_tiff(Memory *m, const char *path, const char *mode) {
    tiff.TIFFSetErrorHandler(NULL), tiff.TIFFSetWarningHandler(NULL);
    return tiff.TIFFClientOpen(path, mode, m, mem_read, mem_write, mem_seek, mem_close, mem_size, mem_map, mem_unmap);
}
#endif

typedef struct {
    uint32_t width, height;
    uint16_t bits, samples, format, photo, planar, extra, orientation;
} Layout;

static Layout layout_of(TIFF *t) {
    Layout l = {0};
    uint16_t *kinds;
    tiff.TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &l.width), tiff.TIFFGetField(t, TIFFTAG_IMAGELENGTH, &l.height);
    tiff.TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &l.bits),
        tiff.TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &l.samples);
    tiff.TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &l.format),
        tiff.TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &l.planar);
    if (!tiff.TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &l.photo))
        l.photo = l.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    tiff.TIFFGetFieldDefaulted(t, TIFFTAG_EXTRASAMPLES, &l.extra, &kinds);
    tiff.TIFFGetFieldDefaulted(t, TIFFTAG_ORIENTATION, &l.orientation);
    if (l.orientation < 1 || l.orientation > 8) l.orientation = 1;
    return l;
}

static bool dtype_of(const Layout *l, qs_dtype *out) {
    static const qs_dtype table[3][4] = {
        {QS_U8, QS_U16, QS_U32, QS_U64}, {QS_I8, QS_I16, QS_I32, QS_I64}, {QS_B1, QS_F16, QS_F32, QS_F64}};
    int size = l->bits == 8 ? 0 : l->bits == 16 ? 1 : l->bits == 32 ? 2 : l->bits == 64 ? 3 : -1;
    int form = l->format == SAMPLEFORMAT_UINT     ? 0
               : l->format == SAMPLEFORMAT_INT    ? 1
               : l->format == SAMPLEFORMAT_IEEEFP ? 2
                                                  : -1;
    if (size < 0 || form < 0 || (form == 2 && size == 0)) return false;
    *out = table[form][size];
    return true;
}

static bool is_plain(const Layout *l) {
    qs_dtype d;
    bool inverted = l->photo == PHOTOMETRIC_MINISWHITE && l->samples == 1 && l->format == SAMPLEFORMAT_UINT;
    int colors = l->photo == PHOTOMETRIC_MINISBLACK || inverted ? 1 : l->photo == PHOTOMETRIC_RGB ? 3 : 0;
    return colors && l->samples >= colors && dtype_of(l, &d);
}

/* One further channel is alpha; several are channels of their own. */
static bool has_alpha(const Layout *l) { return l->extra == 1 && l->samples == (l->photo == PHOTOMETRIC_RGB ? 4 : 2); }

/* -- reading ------------------------------------------------------------------------------------------------------- */
/* Copies a strip or tile of one plane (or of all, interleaved) into the page. */
typedef struct {
    uint8_t *page;
    size_t sample, pixel, width, height;
    Doing *doing; /* counts the pixels of each plane */
} Page;           /* sample and pixel: sizes in bytes; width and height: in pixels */

static void copy_chunk(const Page *p, const uint8_t *chunk, size_t x0, size_t y0, size_t w, size_t h, size_t plane,
                       size_t step) {
    for (size_t y = 0; y < h && y0 + y < p->height; y++) {
        size_t n = w < p->width - x0 ? w : p->width - x0;
        uint8_t *to = p->page + ((y0 + y) * p->width + x0) * p->pixel + plane * p->sample;
        const uint8_t *from = chunk + y * w * step;
        qdoing_add(p->doing, (int64_t)n);
        if (step == p->pixel) memcpy(to, from, n * step);
        else
            for (size_t x = 0; x < n; x++) memcpy(to + x * p->pixel, from + x * step, p->sample);
    }
}

static bool read_tiles(TIFF *t, const Page *p, uint8_t *chunk, size_t planes, size_t step) {
    uint32_t tw = 0, th = 0;
    tiff.TIFFGetField(t, TIFFTAG_TILEWIDTH, &tw), tiff.TIFFGetField(t, TIFFTAG_TILELENGTH, &th);
    for (size_t k = 0; k < planes; k++)
        for (size_t y = 0; y < p->height; y += th)
            for (size_t x = 0; x < p->width; x += tw) {
                if (tiff.TIFFReadTile(t, chunk, (uint32_t)x, (uint32_t)y, 0, (uint16_t)k) < 0) return false;
                copy_chunk(p, chunk, x, y, tw, th, k, step);
            }
    return true;
}

static bool read_strips(TIFF *t, const Page *p, uint8_t *chunk, size_t planes, size_t step) {
    uint32_t rows = (uint32_t)p->height;
    tiff.TIFFGetField(t, TIFFTAG_ROWSPERSTRIP, &rows);
    if (rows == 0 || rows > p->height) rows = (uint32_t)p->height;
    for (size_t k = 0; k < planes; k++)
        for (size_t y = 0; y < p->height; y += rows) {
            size_t h = p->height - y < rows ? p->height - y : rows;
            tmsize_t want = (tmsize_t)(h * p->width * step);
            if (tiff.TIFFReadEncodedStrip(t, tiff.TIFFComputeStrip(t, (uint32_t)y, (uint16_t)k), chunk, want) < want)
                return false;
            copy_chunk(p, chunk, 0, y, p->width, h, k, step);
        }
    return true;
}

static qs_status read_plain(Image *m, TIFF *t, const Layout *l, Memory *mem) {
    qs_dtype d = QS_U8;
    qs_status s;
    dtype_of(l, &d);
    if (!qimage_begin(m, l->height, l->width, l->samples, has_alpha(l), l->bits, &s)) return s;
    bool tiled = tiff.TIFFIsTiled(t), separate = l->planar == PLANARCONFIG_SEPARATE;
    uint64_t nchunk = tiled ? tiff.TIFFTileSize64(t) : tiff.TIFFStripSize64(t);
    size_t sample = l->bits / 8u, pixel = qmem_size(sample, l->samples, 0);
    size_t npage = qmem_size(qmem_size(l->width, l->height, 0), pixel, 0);
    if (nchunk == 0 || nchunk / SIZE_MAX || nchunk > qmem_size(npage, 64, 1 << 20))
        return qimage_corrupt(m, "its strips or tiles");
    Ctx *ctx = qvm_ctx(m->vm);
    uint8_t *chunk = qmem_try(ctx, nchunk), *page = qmem_try(ctx, npage);
    Page p = {page, sample, pixel, l->width, l->height, &ctx->doing};
    size_t step = separate ? sample : p.pixel, planes = separate ? l->samples : 1;
    qdoing_stage(p.doing, 0, 0.8f, (int64_t)(planes * p.width * p.height));
    if (!chunk || !page) s = qs_fail(m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", m->fn, npage);
    else if (!(tiled ? read_tiles : read_strips)(t, &p, chunk, planes, step))
        s = qimage_corrupt(m, *mem->why ? mem->why : "its data");
    for (size_t i = 0; l->photo == PHOTOMETRIC_MINISWHITE && s == QS_OK && i < npage; i++) page[i] ^= 0xFF;
    qdoing_stage(p.doing, 0.8f, 1, (int64_t)p.height);
    for (size_t y = 0; y < l->height && s == QS_OK; y++)
        s = qimage_row(m, (int64_t)y, d, page + y * l->width * p.pixel);
    if (chunk) qmem_try_free(ctx, chunk, nchunk);
    if (page) qmem_try_free(ctx, page, npage);
    return s;
}

static qs_status read_rgba(Image *m, TIFF *t, const Layout *l, Memory *mem) {
    bool gray = (l->photo == PHOTOMETRIC_MINISBLACK || l->photo == PHOTOMETRIC_MINISWHITE) && l->samples == 1;
    qs_status s;
    if (!qimage_begin(m, l->height, l->width, gray ? 1 : 3, false, 8, &s)) return s;
    Ctx *ctx = qvm_ctx(m->vm);
    uint32_t *rgba;
    size_t n = qmem_size(qmem_size(l->width, l->height, 0), sizeof *rgba, 0);
    rgba = qmem_try(ctx, n);
    if (!rgba) return qs_fail(m->vm, QS_ENOMEM, "%s: no memory for %zu bytes", m->fn, n);
    /* The orientation of the file: libtiff returns the rows in their order, as read_plain does. */
    if (!tiff.TIFFReadRGBAImageOriented(t, l->width, l->height, rgba, l->orientation, 1))
        s = qimage_corrupt(m, *mem->why ? mem->why : "its data");
    for (size_t y = 0; y < l->height && s == QS_OK; y++) {
        uint32_t *row = rgba + y * l->width;
        uint8_t *packed = (uint8_t *)row; /* in place: each pixel is written after it was read, and pixels shrink */
        for (size_t x = 0; x < l->width; x++) {
            uint32_t v = row[x];
            if (gray) {
                packed[x] = (uint8_t)TIFFGetR(v);
                continue;
            }
            packed[3 * x] = (uint8_t)TIFFGetR(v), packed[3 * x + 1] = (uint8_t)TIFFGetG(v),
                       packed[3 * x + 2] = (uint8_t)TIFFGetB(v);
        }
        s = qimage_row(m, (int64_t)y, QS_U8, packed);
    }
    qmem_try_free(ctx, rgba, n);
    return s;
}

qs_status qimage_tiff_read(Image *m) {
    Memory mem = {.in = m->bytes, .n = m->nbytes};
    m->format = "tiff";
    if (missing()) return qimage_unread(m, "TIFF", "libtiff", missing());
    TIFF *t = open_tiff(&mem, m->path, "rm");
    if (!t) return qimage_corrupt(m, *mem.why ? mem.why : "its header");
    qs_status s;
    if (m->info_only) m->pages = (int)tiff.TIFFNumberOfDirectories(t);
    if (m->page > 0 && !tiff.TIFFSetDirectory(t, (tdir_t)m->page))
        s = qs_fail(m->vm, QS_EINDEX, "%s: %s has no page %d", m->fn, m->path, m->page);
    else if (m->page == 0 && m->info_only && !tiff.TIFFSetDirectory(t, 0)) s = qimage_corrupt(m, "its first page");
    else {
        Layout l = layout_of(t);
        m->orientation = l.orientation;
        s = is_plain(&l) ? read_plain(m, t, &l, &mem) : read_rgba(m, t, &l, &mem);
    }
    tiff.TIFFClose(t);
    return s;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
static bool write_page(TIFF *t, const Pixels *x, int i, int n) {
    uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    bool has_alpha = x->channels == 2 || x->channels == 4;
    size_t row = x->size / (size_t)x->height;
    tiff.TIFFSetField(t, TIFFTAG_IMAGEWIDTH, (uint32_t)x->width);
    tiff.TIFFSetField(t, TIFFTAG_IMAGELENGTH, (uint32_t)x->height);
    tiff.TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, x->bits), tiff.TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, x->channels);
    tiff.TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, x->bits == 32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    tiff.TIFFSetField(t, TIFFTAG_PHOTOMETRIC, x->channels >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    tiff.TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG),
        tiff.TIFFSetField(t, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    static const int codes[] = {[COMPRESS_LZW] = COMPRESSION_LZW,
                                [COMPRESS_NONE] = COMPRESSION_NONE,
                                [COMPRESS_DEFLATE] = COMPRESSION_ADOBE_DEFLATE,
                                [COMPRESS_PACKBITS] = COMPRESSION_PACKBITS};
    bool predicts = x->compression == COMPRESS_LZW || x->compression == COMPRESS_DEFLATE;
    tiff.TIFFSetField(t, TIFFTAG_COMPRESSION, codes[x->compression]);
    if (predicts) tiff.TIFFSetField(t, TIFFTAG_PREDICTOR, x->bits == 32 ? PREDICTOR_NONE : PREDICTOR_HORIZONTAL);
    if (has_alpha) tiff.TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    if (n > 1) tiff.TIFFSetField(t, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE), tiff.TIFFSetField(t, TIFFTAG_PAGENUMBER, i, n);
    tiff.TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, tiff.TIFFDefaultStripSize(t, 0));
    qdoing_stage(&qvm_ctx(x->vm)->doing, (float)i / (float)n, (float)(i + 1) / (float)n, x->height);
    for (int64_t y = 0; y < x->height; y++, qdoing_add(&qvm_ctx(x->vm)->doing, 1))
        if (tiff.TIFFWriteScanline(t, x->data + (size_t)y * row, (uint32_t)y, 0) < 0) return false;
    return n == 1 || tiff.TIFFWriteDirectory(t);
}

qs_status qimage_tiff_write(const Pixels *pages, int n, Text *out) {
    Memory mem = {.out = out};
    if (missing()) return qimage_unwritten(pages, "libtiff", missing());
    qtext_reserve(out, 1024);
    TIFF *t = open_tiff(&mem, pages->path, "w");
    if (!t) return qs_fail(pages->vm, QS_EVALUE, "imwrite: %s: %s", pages->path, mem.why);
    bool good = true;
    for (int i = 0; i < n && good; i++) good = write_page(t, &pages[i], i, n);
    tiff.TIFFClose(t);
    return good && !*mem.why ? QS_OK : qs_fail(pages->vm, QS_EVALUE, "imwrite: %s: %s", pages->path, mem.why);
}
bool qimage_tiff_here(void) { return !missing(); }
#else
qs_status qimage_tiff_read(Image *m) { return qimage_unread(m, "TIFF", "libtiff", QIMAGE_UNBUILT); }
qs_status qimage_tiff_write(const Pixels *x, int n, Text *out) {
    return (void)n, (void)out, qimage_unwritten(x, "libtiff", QIMAGE_UNBUILT);
}
bool qimage_tiff_here(void) { return false; }
#endif
