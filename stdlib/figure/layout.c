/* layout.c -- computes the positions of axes on the page: cells of a grid without the room for texts around them.
 *
 * Axes of the same row or column get the same margins, so that their frames are aligned. */
#include "stdlib/figure/figure.h"

#include <math.h>

enum { EDGE = 7, GAP = 4, HEADING = 24, BAR_GAP = 10 };

bool qlayout_ticked(const Axes *a) { return !a->hidden; }

const Item *qlayout_mapped(const Axes *a) {
    for (const Item *i = a->items; i; i = i->next) {
        bool gray = i->kind == ITEM_IMAGE && (i->image->rank < 3 || i->image->dims[2] == 1);
        if (gray || i->kind == ITEM_SURFACE || i->kind == ITEM_CONTOUR) return i;
        if (i->kind == ITEM_SCATTER && i->part[PART_Z].n) return i;
    }
    return NULL;
}

void qlayout_ticks(const Axes *a, AxisName n, double length, Ticks *out) {
    qscale_ticks(&a->axis[n], 1 + (int)(length / (n == AXIS_X ? TICKS_EACH : 0.75 * TICKS_EACH)), out);
}

static void text_size(Canvas *c, const char *s, double size, double *w, double *h) {
    qcanvas_text_size(c, s, &(Lettering){.size = size}, w, h);
}

static void widest(Canvas *c, const Ticks *t, double *w, double *h) {
    *w = *h = 0;
    for (int i = 0; i < t->n; i++) {
        double tw, th;
        text_size(c, t->text[i], SIZE_TICK, &tw, &th);
        *w = fmax(*w, tw), *h = fmax(*h, th);
    }
}

/* Returns whether the tick texts set by the program would overlap below the axes. */
static bool crowded(Canvas *c, const Axes *a) {
    Ticks t;
    double last = -INFINITY, width = a->room[0], w, h;
    qlayout_ticks(a, AXIS_X, width, &t);
    for (int i = 0; a->axis[AXIS_X].ticks && i < t.n; i++) {
        double x = qscale_position(&a->axis[AXIS_X], t.at[i]) * width;
        text_size(c, t.text[i], SIZE_TICK, &w, &h);
        if (x - w / 2 < last) return true;
        last = x + w / 2 + GAP;
    }
    return false;
}

Lettering qlayout_letters(const Style *s, double usual) {
    return (Lettering){.size = s->size > 0 ? s->size : usual,
                       .bold = s->weight == WEIGHT_BOLD,
                       .colour = s->coloured ? s->colour : qdraw_ink};
}

/* Returns the room for a line of text; 0 if there is no text. */
static double line_room(Canvas *c, const char *s, const Style *style, double usual) {
    double w, h;
    Lettering l = qlayout_letters(style, usual);
    if (!s) return 0;
    qcanvas_text_size(c, s, &l, &w, &h);
    return h + GAP;
}

static double bar_room(Canvas *c, const Axes *a, double height) {
    Axis range = {.lo = a->range[0], .hi = a->range[1]};
    Ticks t;
    double w, h;
    if (!a->bar || !qlayout_mapped(a)) return 0;
    qscale_ticks(&range, (int)(height / (0.7 * TICKS_EACH)), &t);
    widest(c, &t, &w, &h);
    double factor, beside = BAR_WIDTH + TICK_LENGTH + GAP;
    text_size(c, t.factor, SIZE_TICK, &factor, &h);
    return BAR_GAP + fmax(beside + w, factor) + line_room(c, a->bar_label, &a->letters[TEXT_BAR], SIZE_LABEL);
}

static void margins(Canvas *c, const Axes *a, Margins *m) {
    Ticks x, y;
    double xw = 0, xh = 0, yw = 0, yh = 0;
    bool around = qlayout_ticked(a) && !a->deep;
    qlayout_ticks(a, AXIS_X, a->room[0], &x), qlayout_ticks(a, AXIS_Y, a->room[1], &y);
    widest(c, &x, &xw, &xh), widest(c, &y, &yw, &yh);
    if (a->upright) xh = xw, xw = 0;
    double ticks_below = around && x.n ? xh + TICK_LENGTH + GAP : 0,
           ticks_left = around && y.n ? yw + TICK_LENGTH + GAP : 0;
    double label[2];
    for (int n = 0; n < 2; n++) label[n] = around ? line_room(c, a->axis[n].label, &a->letters[n], SIZE_LABEL) : 0;
    m->left = fmax(m->left, ticks_left + label[AXIS_Y]);
    m->bottom = fmax(m->bottom, ticks_below + (*x.factor ? xh : 0) + label[AXIS_X]);
    m->top = fmax(m->top, line_room(c, a->title, &a->letters[TEXT_TITLE], SIZE_TITLE) + (around && *y.factor ? yh
                                                                                         : around            ? yh / 2
                                                                                                             : 0));
    m->right = fmax(m->right, around ? xw / 2 : 0);
    double beside = bar_room(c, a, a->room[1]), names = qlegend_width(c, a);
    m->right = fmax(m->right, beside + names);
    if (beside > 0 && !around) m->top = fmax(m->top, BAR_EDGE), m->bottom = fmax(m->bottom, BAR_EDGE);
}

/* Extends the margins: axes in a column share the margins at their sides, axes in a row those above and below. */
static void line_up(Canvas *c, const Axes *a, const Axes *b, Margins *m) {
    Margins own = {0};
    if (a->rows != b->rows || a->columns != b->columns) return;
    margins(c, b, &own);
    if (a->at % a->columns == b->at % b->columns)
        m->left = fmax(m->left, own.left), m->right = fmax(m->right, own.right);
    if (a->at / a->columns == b->at / b->columns)
        m->top = fmax(m->top, own.top), m->bottom = fmax(m->bottom, own.bottom);
}

static void place_axes(const Axes *a, const Margins *m, double top, double edge, double width, double height,
                       double box[4]) {
    double w = (width - edge) / a->columns, h = (height - top - edge) / a->rows;
    box[0] = edge + w * (a->at % a->columns) + m->left;
    box[1] = top + h * (a->at / a->columns) + m->top;
    box[2] = fmax(8, w - edge - m->left - m->right);
    box[3] = fmax(8, h - edge - m->top - m->bottom);
}

/* Makes the box narrower or lower, so that units of x and y have the same length. */
static void keep_aspect(const Axes *a, double box[4]) {
    double x = fabs(a->axis[AXIS_X].hi - a->axis[AXIS_X].lo), y = fabs(a->axis[AXIS_Y].hi - a->axis[AXIS_Y].lo);
    double unit = fmin(box[2] / x, box[3] / y);
    if (!a->equal || !(unit > 0) || !isfinite(unit)) return;
    box[0] += (box[2] - unit * x) / 2, box[1] += (box[3] - unit * y) / 2;
    box[2] = unit * x, box[3] = unit * y;
}

/* Returns the edge of the page; a page with only one image has none. */
static double edge_of(const Figure *f) {
    return f->axes && !f->axes->next && !qlayout_ticked(f->axes) && !f->axes->deep ? 0 : EDGE;
}

static void guess_room(Axes *a, double width, double height) {
    a->room[0] = width / a->columns * 0.8, a->room[1] = height / a->rows * 0.8;
}

void qlayout_boxes(Canvas *c, Figure *f, double width, double height, bool again) {
    double top = f->title ? HEADING * fmax(1, f->letters.size / SIZE_TITLE) : 0, edge = edge_of(f);
    if (top == 0) top = edge;
    for (Axes *a = f->axes; a; a = a->next) {
        if (again) a->room[0] = a->box[2], a->room[1] = a->box[3];
        else guess_room(a, width - edge, height - top);
        a->upright = crowded(c, a);
    }
    for (Axes *a = f->axes; a; a = a->next) {
        Margins m = {0};
        for (Axes *b = f->axes; b; b = b->next) line_up(c, a, b, &m);
        place_axes(a, &m, top, edge, width, height, a->box);
        keep_aspect(a, a->box);
    }
}
