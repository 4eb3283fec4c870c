/* draw.c -- draws a figure on a canvas: heading, axes with frames, ticks and texts, colour bars, items. */
#include "stdlib/figure/figure.h"

#include <math.h>

const Colour qdraw_ink = {0.13, 0.13, 0.13}, qdraw_grid = {0.86, 0.86, 0.86};
static const Stroke frame_stroke = {.width = 0.8, .alpha = 1};

double qdraw_x(const Painter *p, double v) { return p->x + qscale_position(&p->a->axis[AXIS_X], v) * p->width; }
double qdraw_y(const Painter *p, double v) { return p->y + (1 - qscale_position(&p->a->axis[AXIS_Y], v)) * p->height; }

/* Aligns thin vertical and horizontal lines to pixels. */
static double crisp(double v) { return floor(v * 2) / 2 + 0.25; }

static void segment(Canvas *c, double x0, double y0, double x1, double y1) {
    qcanvas_move(c, x0, y0);
    qcanvas_line(c, x1, y1);
}

/* -- grid and ticks ------------------------------------------------------------------------------------------------ */
static void minor_ticks(const Painter *p, AxisName n) {
    const Axis *a = &p->a->axis[n];
    double decades = a->log && a->lo > 0 ? log10(a->hi / a->lo) : 99;
    double power = pow(10, floor(log10(a->lo)));
    if (decades > 8 || !(power > 0)) return;
    for (; power < a->hi; power *= 10)
        for (int k = 2; k < 10; k++) {
            double v = k * power, x = qdraw_x(p, v), y = qdraw_y(p, v);
            if (v < a->lo || v > a->hi) continue;
            if (n == AXIS_X) segment(p->c, crisp(x), p->y + p->height, crisp(x), p->y + p->height + TICK_LENGTH * 0.6);
            else segment(p->c, p->x, crisp(y), p->x - TICK_LENGTH * 0.6, crisp(y));
        }
}

static void draw_grid(const Painter *p, const Ticks *x, const Ticks *y) {
    for (int i = 0; i < x->n; i++) {
        double at = crisp(qdraw_x(p, x->at[i]));
        segment(p->c, at, p->y, at, p->y + p->height);
    }
    for (int i = 0; i < y->n; i++) {
        double at = crisp(qdraw_y(p, y->at[i]));
        segment(p->c, p->x, at, p->x + p->width, at);
    }
    qcanvas_stroke(p->c, qdraw_grid, frame_stroke);
}

static void x_ticks(const Painter *p, const Ticks *t) {
    Lettering l = {.size = SIZE_TICK, .across = 0.5, .up = 1, .colour = qdraw_ink};
    double bottom = p->y + p->height, last = -INFINITY;
    if (p->a->upright) l.angle = 1, l.across = 1, l.up = 0.5;
    for (int i = 0; i < t->n; i++) {
        double at = qdraw_x(p, t->at[i]);
        segment(p->c, crisp(at), bottom, crisp(at), bottom + TICK_LENGTH);
        if (p->a->upright && fabs(at - last) < SIZE_TICK + 2) continue; /* does not fit even when upright */
        qcanvas_text(p->c, at, bottom + TICK_LENGTH + 2, t->text[i], &l);
        last = at;
    }
    minor_ticks(p, AXIS_X);
    qcanvas_stroke(p->c, qdraw_ink, frame_stroke);
    l.across = 1, l.up = 1, l.angle = 0;
    if (*t->factor) qcanvas_text(p->c, p->x + p->width, bottom + TICK_LENGTH + 14, t->factor, &l);
}

static void y_ticks(const Painter *p, const Ticks *t) {
    Lettering l = {.size = SIZE_TICK, .across = 1, .up = 0.5, .colour = qdraw_ink};
    for (int i = 0; i < t->n; i++) {
        double at = qdraw_y(p, t->at[i]);
        segment(p->c, p->x, crisp(at), p->x - TICK_LENGTH, crisp(at));
        qcanvas_text(p->c, p->x - TICK_LENGTH - 3, at, t->text[i], &l);
    }
    minor_ticks(p, AXIS_Y);
    qcanvas_stroke(p->c, qdraw_ink, frame_stroke);
    l.across = 0, l.up = 0;
    if (*t->factor) qcanvas_text(p->c, p->x, p->y - 1, t->factor, &l);
}

/* -- labels -------------------------------------------------------------------------------------------------------- */
static double widest(Canvas *c, const Ticks *t) {
    double most = 0, w, h;
    for (int i = 0; i < t->n; i++) {
        qcanvas_text_size(c, t->text[i], &(Lettering){.size = SIZE_TICK}, &w, &h);
        most = fmax(most, w);
    }
    return most;
}

/* Reduces the letter size, down to a limit, if a text is longer than its room. */
static void fit_text(Canvas *c, const char *s, Lettering *l, double room) {
    double w = 0, h;
    if (s) qcanvas_text_size(c, s, l, &w, &h);
    if (w > room) l->size *= fmax(0.6, room / w);
}

static void labels(const Painter *p, const Ticks *x, const Ticks *y) {
    const Axes *a = p->a;
    Lettering l = qlayout_letters(&a->letters[TEXT_X], SIZE_LABEL);
    l.across = 0.5, l.up = 1;
    double texts = a->upright ? widest(p->c, x) + 4 : 16;
    double below = p->y + p->height + (x->n ? TICK_LENGTH + texts : 4) + (*x->factor ? 11 : 0);
    fit_text(p->c, a->axis[AXIS_X].label, &l, p->width);
    if (a->axis[AXIS_X].label) qcanvas_text(p->c, p->x + p->width / 2, below, a->axis[AXIS_X].label, &l);
    l = qlayout_letters(&a->letters[TEXT_Y], SIZE_LABEL);
    l.across = 0.5, l.angle = 1;
    fit_text(p->c, a->axis[AXIS_Y].label, &l, p->height);
    double left = p->x - (y->n ? TICK_LENGTH + 5 + widest(p->c, y) : 4);
    if (a->axis[AXIS_Y].label) qcanvas_text(p->c, left, p->y + p->height / 2, a->axis[AXIS_Y].label, &l);
}

static void heading(const Painter *p, bool factor) {
    Lettering l = qlayout_letters(&p->a->letters[TEXT_TITLE], SIZE_TITLE);
    double x = p->x + p->width / 2;
    if (!p->a->title) return;
    l.across = 0.5;
    fit_text(p->c, p->a->title, &l, p->width);
    qcanvas_text(p->c, x, p->y - 4 - (factor ? 8 : 0), p->a->title, &l);
}

/* -- colour bar ---------------------------------------------------------------------------------------------------- */
enum { SHADES = 256 };

static void colour_bar(const Painter *p) {
    const Axes *a = p->a;
    Axis range = {.lo = a->range[0], .hi = a->range[1]};
    Ticks t;
    uint32_t shades[SHADES];
    double x = p->x + p->width + 10;
    Lettering l = {.size = SIZE_TICK, .up = 0.5, .colour = qdraw_ink};
    const Item *item = qlayout_mapped(a);
    for (int i = 0; i < SHADES; i++)
        shades[i] = qpaint_rgb(qpaint_shade(a, item, range.hi + (range.lo - range.hi) * i / (SHADES - 1.0)));
    qcanvas_picture(p->c, &(Picture){shades, 1, SHADES, false, false}, x, p->y, BAR_WIDTH, p->height);
    qcanvas_box(p->c, x, p->y, BAR_WIDTH, p->height);
    qscale_ticks(&range, (int)(p->height / (0.7 * TICKS_EACH)), &t);
    for (int i = 0; i < t.n; i++) {
        double y = p->y + (1 - qscale_position(&range, t.at[i])) * p->height;
        segment(p->c, x + BAR_WIDTH, crisp(y), x + BAR_WIDTH + TICK_LENGTH, crisp(y));
    }
    qcanvas_stroke(p->c, qdraw_ink, frame_stroke);
    for (int i = 0; i < t.n; i++)
        qcanvas_text(p->c, x + BAR_WIDTH + TICK_LENGTH + 3, p->y + (1 - qscale_position(&range, t.at[i])) * p->height,
                     t.text[i], &l);
    Lettering factor = {.size = SIZE_TICK, .colour = qdraw_ink};
    if (*t.factor) qcanvas_text(p->c, x, p->y - 1, t.factor, &factor);
    Lettering name = qlayout_letters(&a->letters[TEXT_BAR], SIZE_LABEL);
    name.angle = 1, name.across = 0.5, name.up = 1;
    if (a->bar_label)
        qcanvas_text(p->c, x + BAR_WIDTH + TICK_LENGTH + 6 + widest(p->c, &t), p->y + p->height / 2, a->bar_label,
                     &name);
}

/* -- axes ---------------------------------------------------------------------------------------------------------- */
/* Returns whether an item is a text whose position is inside the axes; it is not clipped at their frame. */
static bool is_note(const Painter *p, const Item *i) {
    if (i->kind != ITEM_TEXT || !i->part[PART_X].n || !i->part[PART_Y].n) return false;
    double x = qdraw_x(p, i->part[PART_X].x[0]) - p->x, y = qdraw_y(p, i->part[PART_Y].x[0]) - p->y;
    return x >= 0 && x <= p->width && y >= 0 && y <= p->height;
}

static void items(const Painter *p) {
    qcanvas_clip(p->c, p->x, p->y, p->width, p->height);
    for (Item *i = p->a->items; i; i = i->next)
        if (!is_note(p, i)) qpaint_item(p, i);
    qcanvas_unclip(p->c);
}

static void notes(const Painter *p) {
    for (Item *i = p->a->items; i; i = i->next)
        if (is_note(p, i)) qpaint_item(p, i);
}

/* Draws an edge around an image beside other axes, so that its extent is visible even if it is as white as the page.
 * The edge covers none of its pixels. */
static void draw_image_edge(const Painter *p) {
    if (!p->a->edged || !p->a->figure->axes->next) return;
    qcanvas_box(p->c, crisp(p->x) - 1, crisp(p->y) - 1, ceil(p->width) + 1, ceil(p->height) + 1);
    qcanvas_stroke(p->c, qdraw_ink, frame_stroke);
}

static void flat_axes(const Painter *p) {
    Ticks x = {0}, y = {0};
    bool ticked = qlayout_ticked(p->a);
    if (ticked) qlayout_ticks(p->a, AXIS_X, p->width, &x), qlayout_ticks(p->a, AXIS_Y, p->height, &y);
    if (p->a->grid) draw_grid(p, &x, &y);
    items(p);
    if (ticked) {
        x_ticks(p, &x), y_ticks(p, &y);
        qcanvas_box(p->c, crisp(p->x), crisp(p->y), floor(p->width * 2) / 2, floor(p->height * 2) / 2);
        qcanvas_stroke(p->c, qdraw_ink, frame_stroke);
        labels(p, &x, &y);
    } else draw_image_edge(p);
    notes(p);
    heading(p, *y.factor != 0);
    qlegend_draw(p);
}

static Painter painter_of(Canvas *c, Axes *a) { return (Painter){c, a, a->box[0], a->box[1], a->box[2], a->box[3]}; }

static void draw_axes(Canvas *c, Axes *a) {
    Painter p = painter_of(c, a);
    if (!a->deep) flat_axes(&p);
    else qdepth_draw(&p), heading(&p, false);
    if (a->bar && qlayout_mapped(a)) colour_bar(&p);
}

void qdraw_figure(Canvas *c, Figure *f, double width, double height) {
    Lettering l = qlayout_letters(&f->letters, SIZE_TITLE + 1);
    l.across = 0.5, l.up = 1, l.bold = f->letters.weight != WEIGHT_NORMAL;
    for (Axes *a = f->axes; a; a = a->next) qscale_limits(a);
    qlayout_boxes(c, f, width, height, false);
    for (Axes *a = f->axes; a; a = a->next) {
        Painter p = painter_of(c, a);
        if (!a->deep) qlegend_make_room(&p);
    }
    qlayout_boxes(c, f, width, height, true);
    if (f->title) qcanvas_text(c, width / 2, 5, f->title, &l);
    for (Axes *a = f->axes; a; a = a->next) draw_axes(c, a);
}
