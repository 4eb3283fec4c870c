/* canvas.c -- draws with cairo and pango; the only file that uses them, through dlopen and without their headers. */
#include "stdlib/figure/canvas.h"
#include "vm/base/ctx.h"
#include "vm/base/dynlib.h"
#include "vm/base/utf8.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CanvasWrite(void *to, const unsigned char *data, unsigned int n);
typedef struct {
    int x, y, width, height;
} CanvasExtents; /* has the layout of a PangoRectangle */
enum { FORMAT_ARGB = 0, FORMAT_RGB = 1, WRITE_ERROR = 11, JOIN_ROUND = 1, CAP_ROUND = 1, CAP_BUTT = 0 };
enum { FILTER_GOOD = 1, FILTER_NEAREST = 3, EXTEND_PAD = 3, PANGO_UNITS = 1024, MOST_PIXELS = 32767 };
enum { ELLIPSIZE_END = 3 };

struct CanvasLib {
#define API(result, name, arguments) result(*name) arguments;
#include "stdlib/figure/canvas_api.def"
#undef API
};

typedef struct {
    char *s;
    size_t n, cap;
    bool lost;
} Bytes;

struct Canvas {
    const CanvasLib *lib;
    CanvasKind kind;
    void *surface, *cr;
    uint32_t *pixels; /* pixels of a CANVAS_PIXELS */
    int width, height;
    Bytes file; /* contents of the other kinds */
};

/* -- opening ------------------------------------------------------------------------------------------------------- */
static CanvasLib library;
static bool is_here;
static char failure[DYNLIB_WHY], reason[DYNLIB_WHY + 100];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Loads libpangocairo, which depends on the other two libraries, so that their functions are found through it. */
static void open_library(void) {
    void *lib = qdynlib_open("libpangocairo-1.0.so.0", RTLD_NOW | RTLD_LOCAL, failure);
    is_here = lib != NULL;
    snprintf(reason, sizeof reason, "figures are drawn by cairo and pango, which cannot be opened: %s", failure);
#define API(result, name, arguments) is_here = is_here && (*(void **)&library.name = dlsym(lib, #name)) != NULL;
#include "stdlib/figure/canvas_api.def"
#undef API
}

const CanvasLib *qcanvas_library(const char **why) {
    pthread_once(&once, open_library);
    *why = "figures are drawn by cairo and pango, which are not here; on Debian and Ubuntu the package "
           "libpangocairo-1.0-0 has them, and fonts-dejavu-core has letters; in Python matplotlib draws arrays, too";
    if (*failure) *why = reason;
    return is_here ? &library : NULL;
}

/* -- a canvas ------------------------------------------------------------------------------------------------------ */
static int add_bytes(void *to, const unsigned char *data, unsigned int n) {
    Bytes *b = to;
    if (b->n + n > b->cap) {
        size_t cap = qmem_size(b->n + n, 2, 0);
        char *s = realloc(b->s, cap);
        if (!s) return b->lost = true, WRITE_ERROR;
        b->s = s, b->cap = cap;
    }
    memcpy(b->s + b->n, data, n);
    b->n += n;
    return 0;
}

uint32_t *qcanvas_block(PixelBlocks *b, size_t n) {
    for (int i = 0; i < BLOCKS_KEPT; i++) {
        uint32_t *pixels = b->of[i].pixels;
        if (!pixels || b->of[i].n != n) continue;
        return b->of[i].pixels = NULL, pixels;
    }
    return malloc(qmem_size(n, 4, 0));
}

void qcanvas_block_done(PixelBlocks *b, uint32_t *pixels, size_t n) {
    int at = b->next;
    for (int i = 0; i < BLOCKS_KEPT; i++)
        if (!b->of[i].pixels) at = i;
    if (!pixels) return;
    free(b->of[at].pixels);
    b->of[at].pixels = pixels, b->of[at].n = n;
    b->next = (at + 1) % BLOCKS_KEPT;
}

void qcanvas_blocks_free(PixelBlocks *b) {
    for (int i = 0; i < BLOCKS_KEPT; i++) free(b->of[i].pixels), b->of[i].pixels = NULL;
}

static void *pixel_surface(Canvas *c, double width, double height, double scale, PixelBlocks *blocks) {
    c->width = (int)fmin(fmax(1, floor(width * scale + 0.5)), MOST_PIXELS);
    c->height = (int)fmin(fmax(1, floor(height * scale + 0.5)), MOST_PIXELS);
    size_t n = (size_t)c->width * (size_t)c->height;
    c->pixels = qcanvas_block(blocks, n);
    if (!c->pixels) return NULL;
    memset(c->pixels, 0xFF, 4 * n);
    return c->lib->cairo_image_surface_create_for_data((unsigned char *)c->pixels, FORMAT_RGB, c->width, c->height,
                                                       4 * c->width);
}

Canvas *qcanvas_new(const CanvasLib *lib, CanvasKind kind, double width, double height, double scale,
                    PixelBlocks *blocks) {
    Canvas *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->lib = lib, c->kind = kind;
    c->surface = kind == CANVAS_PIXELS ? pixel_surface(c, width, height, scale, blocks)
                 : kind == CANVAS_SVG  ? lib->cairo_svg_surface_create_for_stream(add_bytes, &c->file, width, height)
                                       : lib->cairo_pdf_surface_create_for_stream(add_bytes, &c->file, width, height);
    if (!c->surface) return free(c), NULL;
    c->cr = lib->cairo_create(c->surface);
    if (kind == CANVAS_PIXELS) lib->cairo_scale(c->cr, scale, scale);
    lib->cairo_set_line_join(c->cr, JOIN_ROUND);
    return c;
}

void qcanvas_free(Canvas *c) {
    c->lib->cairo_destroy(c->cr);
    c->lib->cairo_surface_destroy(c->surface);
    free(c->pixels), free(c->file.s), free(c);
}

const uint8_t *qcanvas_pixels(Canvas *c, int *width, int *height) {
    c->lib->cairo_surface_flush(c->surface);
    *width = c->width, *height = c->height;
    return (const uint8_t *)c->pixels;
}

uint32_t *qcanvas_take(Canvas *c, int *width, int *height) {
    (void)qcanvas_pixels(c, width, height);
    uint32_t *pixels = c->pixels;
    c->pixels = NULL;
    return qcanvas_free(c), pixels;
}

const char *qcanvas_failure(const Canvas *c) {
    int status = c->lib->cairo_status(c->cr);
    return status ? c->lib->cairo_status_to_string(status) : NULL;
}

char *qcanvas_file(Canvas *c, size_t *n, const char **why) {
    int status = 0;
    if (c->kind == CANVAS_PIXELS) status = c->lib->cairo_surface_write_to_png_stream(c->surface, add_bytes, &c->file);
    else c->lib->cairo_surface_finish(c->surface);
    if (!status) status = c->lib->cairo_surface_status(c->surface);
    *why = c->file.lost ? "no memory" : c->lib->cairo_status_to_string(status);
    if (status || c->file.lost) return NULL;
    char *s = c->file.s;
    *n = c->file.n;
    c->file = (Bytes){0};
    return s;
}

/* -- paths --------------------------------------------------------------------------------------------------------- */
void qcanvas_move(Canvas *c, double x, double y) { c->lib->cairo_move_to(c->cr, x, y); }
void qcanvas_line(Canvas *c, double x, double y) { c->lib->cairo_line_to(c->cr, x, y); }
void qcanvas_close(Canvas *c) { c->lib->cairo_close_path(c->cr); }
void qcanvas_box(Canvas *c, double x, double y, double width, double height) {
    c->lib->cairo_rectangle(c->cr, x, y, width, height);
}
void qcanvas_circle(Canvas *c, double x, double y, double radius) {
    c->lib->cairo_new_sub_path(c->cr);
    c->lib->cairo_arc(c->cr, x, y, radius, 0, 2 * 3.14159265358979323846);
}

static void set_colour(Canvas *c, Colour k, double alpha) {
    c->lib->cairo_set_source_rgba(c->cr, k.r, k.g, k.b, alpha);
}

void qcanvas_stroke(Canvas *c, Colour colour, Stroke how) {
    double dash[8];
    for (int i = 0; i < how.ndash; i++) dash[i] = how.dash[i] * how.width;
    set_colour(c, colour, how.alpha);
    c->lib->cairo_set_line_width(c->cr, how.width);
    c->lib->cairo_set_line_cap(c->cr, how.ndash ? CAP_BUTT : CAP_ROUND);
    c->lib->cairo_set_dash(c->cr, dash, how.ndash, 0);
    c->lib->cairo_stroke(c->cr);
}

void qcanvas_fill(Canvas *c, Colour colour, double alpha) {
    set_colour(c, colour, alpha);
    c->lib->cairo_fill(c->cr);
}

void qcanvas_fill_and_stroke(Canvas *c, Colour fill, double alpha, Colour edge, double width) {
    set_colour(c, fill, alpha);
    c->lib->cairo_fill_preserve(c->cr);
    qcanvas_stroke(c, edge, (Stroke){.width = width, .alpha = 1});
}

void qcanvas_clip(Canvas *c, double x, double y, double width, double height) {
    c->lib->cairo_save(c->cr);
    qcanvas_box(c, x, y, width, height);
    c->lib->cairo_clip(c->cr);
}

void qcanvas_unclip(Canvas *c) { c->lib->cairo_restore(c->cr); }

/* -- text ---------------------------------------------------------------------------------------------------------- */
/* Translates x^{2} and x_{i} to raised and lowered spans and escapes the rest.  Sizes of pango's spans are in points of
 * 96 per inch, and rises in 1024ths of these, while a canvas uses its own units. */
static void add_markup(Bytes *out, const char *s, double size) {
    char span[80];
    bool inside = false;
    for (; *s; s++) {
        const char *part = NULL;
        if ((*s == '^' || *s == '_') && s[1] == '{' && strchr(s, '}') && !inside) {
            snprintf(span, sizeof span, "<span size=\"%d\" rise=\"%d\">", (int)(size * 0.53 * PANGO_UNITS),
                     (int)(size * (*s == '^' ? 0.33 : -0.16) * PANGO_UNITS));
            part = span, inside = true, s++;
        } else if (*s == '}' && inside) part = "</span>", inside = false;
        else if (*s == '<') part = "&lt;";
        else if (*s == '&') part = "&amp;";
        if (part) add_bytes(out, (const unsigned char *)part, (unsigned)strlen(part));
        else add_bytes(out, (const unsigned char *)s, 1);
    }
    add_bytes(out, (const unsigned char *)"", 1);
}

/* Copies a text with U+FFFD for each malformed byte, which pango would report to stderr. */
static void add_valid(Bytes *out, const char *s) {
    for (size_t left = strlen(s), n; left; left -= n, s += n) {
        n = qutf8_length(s, left);
        add_bytes(out, (const unsigned char *)(n ? s : "\xEF\xBF\xBD"), n ? (unsigned)n : 3);
        if (!n) n = 1;
    }
    add_bytes(out, (const unsigned char *)"", 1);
}

static void set_text(Canvas *c, void *layout, const char *text, double size) {
    Bytes valid = {0}, markup = {0};
    add_valid(&valid, text);
    const char *s = valid.lost ? "" : valid.s;
    bool plain = !strstr(s, "^{") && !strstr(s, "_{");
    if (!plain) add_markup(&markup, s, size);
    if (!plain && !markup.lost) c->lib->pango_layout_set_markup(layout, markup.s, -1);
    else c->lib->pango_layout_set_text(layout, s, -1);
    free(markup.s), free(valid.s);
}

static void *layout_of(Canvas *c, const char *s, const Lettering *l) {
    void *layout = c->lib->pango_cairo_create_layout(c->cr);
    void *font = c->lib->pango_font_description_from_string(l->bold ? "DejaVu Sans, Sans Bold" : "DejaVu Sans, Sans");
    c->lib->pango_font_description_set_absolute_size(font, l->size * PANGO_UNITS);
    c->lib->pango_layout_set_font_description(layout, font);
    c->lib->pango_font_description_free(font);
    set_text(c, layout, s, l->size);
    if (l->room > 0) {
        c->lib->pango_layout_set_width(layout, (int)(l->room * PANGO_UNITS));
        c->lib->pango_layout_set_ellipsize(layout, ELLIPSIZE_END);
    }
    c->lib->pango_layout_set_alignment(layout, l->across < 0.25 ? 0 : l->across < 0.75 ? 1 : 2);
    return layout;
}

void qcanvas_text_size(Canvas *c, const char *s, const Lettering *l, double *width, double *height) {
    CanvasExtents ink, logical;
    void *layout = layout_of(c, s, l);
    c->lib->pango_layout_get_pixel_extents(layout, &ink, &logical);
    *width = logical.width, *height = logical.height;
    c->lib->g_object_unref(layout);
}

void qcanvas_text(Canvas *c, double x, double y, const char *s, const Lettering *l) {
    CanvasExtents ink, logical;
    void *layout = layout_of(c, s, l);
    c->lib->pango_layout_get_pixel_extents(layout, &ink, &logical);
    c->lib->cairo_save(c->cr);
    c->lib->cairo_translate(c->cr, x, y);
    c->lib->cairo_rotate(c->cr, -l->angle * 3.14159265358979323846 / 2);
    c->lib->cairo_move_to(c->cr, -l->across * logical.width, -(1 - l->up) * logical.height);
    set_colour(c, l->colour, 1);
    c->lib->pango_cairo_show_layout(c->cr, layout);
    c->lib->cairo_restore(c->cr);
    c->lib->g_object_unref(layout);
}

/* -- pictures ------------------------------------------------------------------------------------------------------ */
/* The sides of a box are kept in this range, because cairo draws nothing more after a scale without an inverse. */
static const double least_side = 0.25, most_side = 1e30;

static double usable_side(double side) { return copysign(fmin(fmax(fabs(side), least_side), most_side), side); }

void qcanvas_picture(Canvas *c, const Picture *p, double x, double y, double width, double height) {
    if (!isfinite(x) || !isfinite(y)) return;
    width = usable_side(width), height = usable_side(height);
    void *data = (void *)(uintptr_t)p->pixels;
    void *s = c->lib->cairo_image_surface_create_for_data(data, p->has_alpha ? FORMAT_ARGB : FORMAT_RGB, p->width,
                                                          p->height, 4 * p->width);
    c->lib->cairo_save(c->cr);
    qcanvas_box(c, x, y, width, height);
    c->lib->cairo_clip(c->cr);
    c->lib->cairo_translate(c->cr, x, y);
    c->lib->cairo_scale(c->cr, width / p->width, height / p->height);
    c->lib->cairo_set_source_surface(c->cr, s, 0, 0);
    void *source = c->lib->cairo_get_source(c->cr);
    c->lib->cairo_pattern_set_filter(source, p->smooth ? FILTER_GOOD : FILTER_NEAREST);
    c->lib->cairo_pattern_set_extend(source, EXTEND_PAD);
    c->lib->cairo_paint(c->cr);
    c->lib->cairo_restore(c->cr);
    /* A canvas of a file may copy the pixels as late as at its end; finishing the source surface forces the copy
     * now. */
    c->lib->cairo_surface_finish(s);
    c->lib->cairo_surface_destroy(s);
}
