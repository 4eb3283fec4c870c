/* paint.c -- paints items on a canvas.  Each kind of item has a function for its bounds, one that paints it, and one
 * that draws its key in the legend; kinds.def lists them. */
#include "stdlib/figure/figure.h"

#include <math.h>
#include <string.h>

static Column column_of(const Item *i, Part p) { return i->part[p]; }
static double at(const Item *i, Part p, size_t k) { return i->part[p].n ? i->part[p].x[k % i->part[p].n] : 0; }

uint32_t qpaint_rgb(Colour k) {
    return (uint32_t)(k.r * 255 + 0.5) << 16 | (uint32_t)(k.g * 255 + 0.5) << 8 | (uint32_t)(k.b * 255 + 0.5);
}

static Stroke stroke_of(const Style *s) {
    bool whole = !s->dash || !(s->dash->lengths[0] > 0);
    return (Stroke){s->width, s->alpha, whole ? NULL : s->dash->lengths, whole ? 0 : 4};
}

/* -- bounds -------------------------------------------------------------------------------------------------------- */
static void reach(double b[6], AxisName n, double v) {
    if (isfinite(v)) b[2 * n] = fmin(b[2 * n], v), b[2 * n + 1] = fmax(b[2 * n + 1], v);
}

static void bounds_points(const Item *i, double b[6]) {
    for (int n = 0; n < 3; n++)
        for (size_t k = 0; k < i->part[n].n; k++)
            if (n < 2 || i->kind == ITEM_SURFACE) reach(b, (AxisName)n, i->part[n].x[k]);
}

static double half_bar(const Item *i, size_t k) { return (column_of(i, PART_V).n ? at(i, PART_V, k) : i->width) / 2; }

static void bounds_bars(const Item *i, double b[6]) {
    for (size_t k = 0; k < column_of(i, PART_X).n; k++) {
        double x = at(i, PART_X, k), w = half_bar(i, k);
        reach(b, AXIS_X, x - w), reach(b, AXIS_X, x + w);
        reach(b, AXIS_Y, at(i, PART_U, k)), reach(b, AXIS_Y, at(i, PART_Y, k));
    }
}

static void bounds_errors(const Item *i, double b[6]) {
    bounds_points(i, b);
    for (size_t k = 0; k < column_of(i, PART_X).n; k++) {
        reach(b, AXIS_Y, at(i, PART_Y, k) - at(i, PART_U, k));
        reach(b, AXIS_Y, at(i, PART_Y, k) + at(i, PART_V, k));
    }
}

static double image_size(const Item *i, int dim) {
    return i->image->rank == 1 ? (dim ? (double)i->image->dims[0] : 1) : (double)i->image->dims[dim];
}

/* Returns half a pixel, by which an image extends beyond the centres of its first and last pixel. */
static double half(const Item *i, Part p) {
    double n = image_size(i, p == PART_X);
    return n > 1 ? (at(i, p, 1) - at(i, p, 0)) / (n - 1) / 2 : 0.5;
}

bool qpaint_unit_pixels(const Item *i, AxisName n) { return half(i, (Part)n) == 0.5; }

double qpaint_pixel(const Item *i, AxisName n, double v) {
    return floor((v - at(i, (Part)n, 0)) / (2 * half(i, (Part)n)) + 0.5);
}

static void bounds_image(const Item *i, double b[6]) {
    for (int n = 0; n < 2; n++) {
        double h = half(i, (Part)n);
        reach(b, (AxisName)n, at(i, (Part)n, 0) - h), reach(b, (AxisName)n, at(i, (Part)n, 1) + h);
    }
}

bool qpaint_tight(const Item *i) { return i->kind == ITEM_IMAGE || i->kind == ITEM_CONTOUR || i->kind == ITEM_SURFACE; }

bool qpaint_sticky(const Item *i, AxisName n, double edge) { return i->kind == ITEM_BARS && n == AXIS_Y && edge == 0; }

/* -- marks --------------------------------------------------------------------------------------------------------- */
static void polygon(Canvas *c, double x, double y, double r, int corners, double turn) {
    for (int k = 0; k < corners; k++) {
        double t = (k + turn) * 2 * 3.14159265358979323846 / corners;
        (k ? qcanvas_line : qcanvas_move)(c, x + r * sin(t), y - r * cos(t));
    }
    qcanvas_close(c);
}

static void cross(Canvas *c, double x, double y, double dx, double dy) {
    qcanvas_move(c, x - dx, y - dy), qcanvas_line(c, x + dx, y + dy);
    qcanvas_move(c, x - dy, y + dx), qcanvas_line(c, x + dy, y - dx);
}

static bool closed_mark(Canvas *c, char mark, double x, double y, double r) {
    switch (mark) {
    case '.': qcanvas_circle(c, x, y, r * 0.55); break;
    case 'o': qcanvas_circle(c, x, y, r); break;
    case 's': polygon(c, x, y, r * 1.3, 4, 0.5); break;
    case 'd': polygon(c, x, y, r * 1.25, 4, 0); break;
    case '^': polygon(c, x, y, r * 1.2, 3, 0); break;
    case 'v': polygon(c, x, y, r * 1.2, 3, 1.5); break;
    case '<': polygon(c, x, y, r * 1.2, 3, 2.25); break;
    case '>': polygon(c, x, y, r * 1.2, 3, 0.75); break;
    case 'p': polygon(c, x, y, r * 1.15, 5, 0); break;
    case 'h': polygon(c, x, y, r * 1.15, 6, 0); break;
    default: return false;
    }
    return true;
}

static void draw_mark(Canvas *c, char mark, double x, double y, double size, Colour k, double alpha) {
    double r = size / 2, slant = r * 0.75;
    if (!isfinite(x) || !isfinite(y) || !mark) return;
    if (closed_mark(c, mark, x, y, r)) {
        qcanvas_fill(c, k, alpha);
        return;
    }
    if (mark != 'x') cross(c, x, y, r, 0);
    if (mark != '+') cross(c, x, y, slant, slant);
    qcanvas_stroke(c, k, (Stroke){.width = fmax(0.8, size / 5), .alpha = alpha});
}

/* -- lines --------------------------------------------------------------------------------------------------------- */
/* Consecutive points in the same half pixel column are reduced to the first, least, greatest and last one.  A line of a
 * million points looks the same and is drawn quickly. */
typedef struct {
    double column, lo, hi, last;
    bool any;
} Strip;

static void end_strip(Canvas *c, Strip *s) {
    if (s->any && s->lo < s->hi)
        qcanvas_line(c, s->column, s->lo), qcanvas_line(c, s->column, s->hi), qcanvas_line(c, s->column, s->last);
    s->any = false;
}

static void add_point(Canvas *c, Strip *s, double x, double y, bool first) {
    if (s->any && !first && fabs(x - s->column) < 0.25) {
        s->lo = fmin(s->lo, y), s->hi = fmax(s->hi, y), s->last = y;
        return;
    }
    end_strip(c, s);
    (first ? qcanvas_move : qcanvas_line)(c, x, y);
    *s = (Strip){x, y, y, y, true};
}

/* Limits coordinates, because cairo uses 24.8 fixed-point numbers. */
static double near(double v) { return fmin(fmax(v, -1e5), 1e5); }

static void paint_curve(const Painter *p, const Item *i) {
    bool pen_down = false, dense = column_of(i, PART_X).n > 4000;
    Strip s = {0};
    for (size_t k = 0; k < column_of(i, PART_X).n; k++) {
        double x = qdraw_x(p, at(i, PART_X, k)), y = qdraw_y(p, at(i, PART_Y, k));
        bool here = isfinite(x) && isfinite(y);
        if (here && dense) add_point(p->c, &s, near(x), near(y), !pen_down);
        else if (here) (pen_down ? qcanvas_line : qcanvas_move)(p->c, near(x), near(y));
        else end_strip(p->c, &s);
        pen_down = here;
    }
    end_strip(p->c, &s);
    qcanvas_stroke(p->c, i->style.colour, stroke_of(&i->style));
}

static void paint_line(const Painter *p, Item *i) {
    const Style *s = &i->style;
    if (s->dash) paint_curve(p, i);
    for (size_t k = 0; s->mark && k < column_of(i, PART_X).n; k++)
        draw_mark(p->c, s->mark, qdraw_x(p, at(i, PART_X, k)), qdraw_y(p, at(i, PART_Y, k)), s->size, s->colour,
                  s->alpha);
}

static Colour mapped(const Axes *a, double v) {
    return qcolour_at(a->map, (v - a->range[0]) / (a->range[1] - a->range[0]));
}

static void paint_scatter(const Painter *p, Item *i) {
    for (size_t k = 0; k < column_of(i, PART_X).n; k++) {
        if (column_of(i, PART_Z).n && isnan(at(i, PART_Z, k))) continue;
        double size = column_of(i, PART_U).n ? sqrt(fmax(0, at(i, PART_U, k))) : i->style.size;
        Colour c = column_of(i, PART_Z).n ? mapped(p->a, at(i, PART_Z, k)) : i->style.colour;
        draw_mark(p->c, i->style.mark, qdraw_x(p, at(i, PART_X, k)), qdraw_y(p, at(i, PART_Y, k)), size, c,
                  i->style.alpha);
    }
}

static void paint_bars(const Painter *p, Item *i) {
    for (size_t k = 0; k < column_of(i, PART_X).n; k++) {
        double w = half_bar(i, k), x0 = qdraw_x(p, at(i, PART_X, k) - w), x1 = qdraw_x(p, at(i, PART_X, k) + w);
        double y0 = near(qdraw_y(p, at(i, PART_U, k))), y1 = qdraw_y(p, at(i, PART_Y, k));
        if (!isfinite(x0 + x1 + y1)) continue;
        qcanvas_box(p->c, fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0), fabs(y1 - y0));
        qcanvas_fill_and_stroke(p->c, i->style.colour, i->style.alpha, (Colour){1, 1, 1}, 0.4);
    }
}

enum { CAP = 3 };

static void paint_errors(const Painter *p, Item *i) {
    for (size_t k = 0; k < column_of(i, PART_X).n; k++) {
        double x = qdraw_x(p, at(i, PART_X, k)), y = at(i, PART_Y, k);
        double ends[2] = {near(qdraw_y(p, y - at(i, PART_U, k))), near(qdraw_y(p, y + at(i, PART_V, k)))};
        if (!isfinite(x + ends[0] + ends[1])) continue;
        qcanvas_move(p->c, x, ends[0]), qcanvas_line(p->c, x, ends[1]);
        for (int e = 0; e < 2; e++) qcanvas_move(p->c, x - CAP, ends[e]), qcanvas_line(p->c, x + CAP, ends[e]);
    }
    qcanvas_stroke(p->c, i->style.colour, (Stroke){.width = i->style.width * 0.8, .alpha = i->style.alpha});
    paint_line(p, i);
}

/* -- arrows -------------------------------------------------------------------------------------------------------- */
static void paint_arrow(Canvas *c, double x0, double y0, double x1, double y1) {
    double dx = x1 - x0, dy = y1 - y0, length = hypot(dx, dy), head = fmin(5, 0.4 * length);
    if (!(length > 0.3) || !isfinite(length)) return;
    dx /= length, dy /= length;
    qcanvas_move(c, x0, y0), qcanvas_line(c, x1, y1);
    for (int side = -1; side <= 1; side += 2)
        qcanvas_move(c, x1, y1),
            qcanvas_line(c, x1 - head * (dx + side * 0.45 * dy), y1 - head * (dy - side * 0.45 * dx));
}

static void paint_arrows(const Painter *p, Item *i) {
    for (size_t k = 0; k < column_of(i, PART_X).n; k++) {
        double x = at(i, PART_X, k), y = at(i, PART_Y, k);
        paint_arrow(p->c, qdraw_x(p, x), qdraw_y(p, y), qdraw_x(p, x + i->width * at(i, PART_U, k)),
                    qdraw_y(p, y + i->width * at(i, PART_V, k)));
    }
    qcanvas_stroke(p->c, i->style.colour, stroke_of(&i->style));
}

/* -- contours ------------------------------------------------------------------------------------------------------ */
static void add_piece(void *ud, const double e[4]) {
    const Painter *p = ud;
    qcanvas_move(p->c, qdraw_x(p, e[0]), qdraw_y(p, e[1]));
    qcanvas_line(p->c, qdraw_x(p, e[2]), qdraw_y(p, e[3]));
}

static void add_area(void *ud, const double *corners, int n) {
    const Painter *p = ud;
    for (int k = 0; k < n; k++)
        (k ? qcanvas_line : qcanvas_move)(p->c, qdraw_x(p, corners[2 * k]), qdraw_y(p, corners[2 * k + 1]));
    qcanvas_close(p->c);
}

static Colour level_colour(const Axes *a, const Item *i, size_t k) {
    Column levels = column_of(i, PART_U);
    double next = k + 1 < levels.n ? levels.x[k + 1] : a->range[1];
    return i->style.coloured ? i->style.colour : mapped(a, i->filled ? (levels.x[k] + next) / 2 : levels.x[k]);
}

Colour qpaint_shade(const Axes *a, const Item *i, double v) {
    Column levels = column_of(i, PART_U);
    size_t k = levels.n;
    if (i->kind != ITEM_CONTOUR || !i->filled || !levels.n) return mapped(a, v);
    while (k && levels.x[k - 1] > v) k--;
    return k ? level_colour(a, i, k - 1) : (Colour){1, 1, 1};
}

/* Each level covers everything at least as high, so that there are no gaps between levels.  All cells of a level are
 * one path, so that shared edges are invisible. */
static void paint_contour(const Painter *p, Item *i) {
    Column levels = column_of(i, PART_U);
    for (size_t k = 0; k < levels.n; k++) {
        Colour c = level_colour(p->a, i, k);
        if (i->filled) qlevel_areas(i, levels.x[k], add_area, (void *)(uintptr_t)p), qcanvas_fill(p->c, c, 1);
        else
            qlevel_lines(i, levels.x[k], add_piece, (void *)(uintptr_t)p),
                qcanvas_stroke(p->c, c, stroke_of(&i->style));
    }
}

/* -- images -------------------------------------------------------------------------------------------------------- */
enum { SHADES = 256 };

static int shade(double v, double lo, double scale) {
    double t = (v - lo) * scale;
    return t > 0 ? t < SHADES - 1 ? (int)(t + 0.5) : SHADES - 1 : 0;
}

/* Loops over elements for each dtype of images (shown_as in field.c): one channel is mapped by a table of shades, three
 * are red, green and blue.  The loops are vectorised (CMakeLists.txt allows it), so indices of shades are computed
 * before the table is read. */
#define SHOW(type)                                                                                                     \
    static void look_up_##type(const type *x, size_t n, double lo, double scale, const uint32_t *table,                \
                               uint32_t *out) {                                                                        \
        uint8_t shades[1024];                                                                                          \
        for (size_t end = 0; end < n; x += sizeof shades, out += sizeof shades) {                                      \
            size_t m = n - end < sizeof shades ? n - end : sizeof shades;                                              \
            for (size_t k = 0; k < m; k++) shades[k] = (uint8_t)shade((double)x[k], lo, scale);                        \
            for (size_t k = 0; k < m; k++) out[k] = table[shades[k]];                                                  \
            end += m;                                                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    static inline void mix_##type(const type *x, size_t n, int channels, double lo, double scale, uint32_t *out) {     \
        for (size_t k = 0; k < n; k++, x += channels)                                                                  \
            out[k] = (uint32_t)shade((double)x[0], lo, scale) << 16 | (uint32_t)shade((double)x[1], lo, scale) << 8 |  \
                     (uint32_t)shade((double)x[2], lo, scale);                                                         \
    }                                                                                                                  \
    static void show_##type(const type *x, size_t n, int channels, double lo, double scale, const uint32_t *table,     \
                            uint32_t *out) {                                                                           \
        if (channels == 1) look_up_##type(x, n, lo, scale, table, out);                                                \
        else if (channels == 3) mix_##type(x, n, 3, lo, scale, out);                                                   \
        else mix_##type(x, n, channels, lo, scale, out);                                                               \
    }
SHOW(uint8_t)
SHOW(uint16_t)
SHOW(float)
SHOW(double)

/* Makes pixels with a nan transparent and sets the alpha byte of all others.  false: there is no nan. */
#define COVER(type)                                                                                                    \
    static bool cover_##type(const type *x, size_t n, int channels, uint32_t *out) {                                   \
        size_t holes = 0;                                                                                              \
        for (size_t k = 0; k < n * (size_t)channels; k++) holes += x[k] != x[k];                                       \
        for (size_t k = 0; holes && k < n; k++, x += channels) {                                                       \
            bool hole = x[0] != x[0] || (channels > 1 && (x[1] != x[1] || x[2] != x[2]));                              \
            out[k] = hole ? 0 : out[k] | 0xFF000000;                                                                   \
        }                                                                                                              \
        return holes;                                                                                                  \
    }
COVER(float)
COVER(double)

static bool cover(const Item *i, size_t n, int channels, uint32_t *out) {
    if (i->image->dtype == QS_F32) return cover_float(i->elements, n, channels, out);
    return i->image->dtype == QS_F64 && cover_double(i->elements, n, channels, out);
}

static void make_pixels(const Axes *a, Item *i, uint32_t *out) {
    uint32_t table[SHADES];
    int channels = i->image->rank > 2 ? (int)i->image->dims[2] : 1;
    size_t n = i->image->count / (size_t)channels;
    double lo = a->range[0], scale = (SHADES - 1) / (a->range[1] - a->range[0]);
    for (int k = 0; k < SHADES; k++) table[k] = qpaint_rgb(qcolour_at(a->map, k / (SHADES - 1.0)));
    if (!isfinite(scale)) scale = 0;
    switch (i->image->dtype) {
    case QS_U8: show_uint8_t(i->elements, n, channels, lo, scale, table, out); break;
    case QS_U16: show_uint16_t(i->elements, n, channels, lo, scale, table, out); break;
    case QS_F32: show_float(i->elements, n, channels, lo, scale, table, out); break;
    default: show_double(i->elements, n, channels, lo, scale, table, out);
    }
    i->holes = cover(i, n, channels, out);
}

static bool is_shown(const Axes *a, const Item *i) {
    return i->pixels && i->shown[0] == a->range[0] && i->shown[1] == a->range[1] && i->shown_map == a->map;
}

static void paint_image(const Painter *p, Item *i) {
    int w = (int)image_size(i, 1), h = (int)image_size(i, 0);
    i->npixels = (size_t)w * (size_t)h;
    if (!i->pixels && !(i->pixels = qcanvas_block(&p->a->figure->blocks, i->npixels))) return;
    if (!is_shown(p->a, i) || !i->shown_map) make_pixels(p->a, i, i->pixels);
    i->shown[0] = p->a->range[0], i->shown[1] = p->a->range[1], i->shown_map = p->a->map;
    double hx = half(i, PART_X), hy = half(i, PART_Y);
    double x = qdraw_x(p, at(i, PART_X, 0) - hx), y = qdraw_y(p, at(i, PART_Y, 0) - hy);
    double width = qdraw_x(p, at(i, PART_X, 1) + hx) - x, height = qdraw_y(p, at(i, PART_Y, 1) + hy) - y;
    qcanvas_picture(p->c, &(Picture){i->pixels, w, h, fabs(width) < w || fabs(height) < h, i->holes}, x, y, width,
                    height);
}

/* -- text, rectangles ---------------------------------------------------------------------------------------------- */
static void paint_text(const Painter *p, Item *i) {
    Lettering l = qlayout_letters(&i->style, SIZE_TICK);
    l.up = 0.5, l.across = i->style.across;
    if (i->name) qcanvas_text(p->c, qdraw_x(p, at(i, PART_X, 0)), qdraw_y(p, at(i, PART_Y, 0)), i->name, &l);
}

static void paint_rect(const Painter *p, Item *i) {
    double x0 = near(qdraw_x(p, at(i, PART_X, 0))), x1 = near(qdraw_x(p, at(i, PART_X, 1)));
    double y0 = near(qdraw_y(p, at(i, PART_Y, 0))), y1 = near(qdraw_y(p, at(i, PART_Y, 1)));
    qcanvas_box(p->c, fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0), fabs(y1 - y0));
    if (i->filled) qcanvas_fill(p->c, i->style.colour, i->style.alpha);
    else qcanvas_stroke(p->c, i->style.colour, stroke_of(&i->style));
}

static void paint_nothing(const Painter *p, Item *i) { (void)p, (void)i; }

/* -- keys in the legend -------------------------------------------------------------------------------------------- */
static void key_line(const Painter *p, const Item *i, double x, double y, double width) {
    if (i->style.dash) {
        qcanvas_move(p->c, x, y), qcanvas_line(p->c, x + width, y);
        qcanvas_stroke(p->c, i->style.colour, stroke_of(&i->style));
    }
    draw_mark(p->c, i->style.mark, x + width / 2, y, i->style.size, i->style.colour, i->style.alpha);
}

static void key_mark(const Painter *p, const Item *i, double x, double y, double width) {
    draw_mark(p->c, i->style.mark, x + width / 2, y, i->style.size, i->style.colour, i->style.alpha);
}

static void key_patch(const Painter *p, const Item *i, double x, double y, double width) {
    qcanvas_box(p->c, x, y - 4, width, 8);
    qcanvas_fill(p->c, i->style.colour, i->style.alpha);
}

static void key_none(const Painter *p, const Item *i, double x, double y, double width) {
    (void)p, (void)i, (void)x, (void)y, (void)width;
}

/* -- the table ----------------------------------------------------------------------------------------------------- */
static const struct {
    const char *name;
    void (*bounds)(const Item *, double[6]);
    void (*paint)(const Painter *, Item *);
    void (*key)(const Painter *, const Item *, double, double, double);
} kinds[ITEM_KINDS] = {
#define KIND(id, name, bounds, paint, key, doc) {name, bounds_##bounds, paint_##paint, key_##key},
#include "stdlib/figure/kinds.def"
#undef KIND
};

void qpaint_item(const Painter *p, Item *i) { kinds[i->kind].paint(p, i); }
void qpaint_key(const Painter *p, const Item *i, double x, double y, double width) {
    kinds[i->kind].key(p, i, x, y, width);
}
void qpaint_bounds(const Item *i, double b[6]) { kinds[i->kind].bounds(i, b); }
const char *qpaint_name(const Item *i) { return kinds[i->kind].name; }
