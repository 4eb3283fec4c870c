/* legend.c -- draws the legend, inside the axes where it covers least of the data, or beside them. */
#include "stdlib/figure/figure.h"

#include <math.h>

enum { SWATCH = 22, PAD = 6, GAP = 6, ROW = 14, INSET = 7, PLACES = 9 };
/* Minimum scale of the letters; maximum width of a legend beside the axes, as a fraction. */
static const double smallest = 0.6, beside = 0.45;
typedef struct {
    double width, height, scale; /* scale of the letters and everything around them */
    int rows, shown;             /* shown: rows that fit; if fewer than all, the last one is … */
} Extent;

static bool is_named(const Item *i) { return i->name && i->kind != ITEM_TEXT; }

/* Computes the extent with unlimited room. */
static Extent natural(Canvas *c, const Axes *a) {
    Extent e = {.scale = 1};
    Lettering l = qlayout_letters(&a->letters[TEXT_LEGEND], SIZE_TICK);
    l.size = SIZE_TICK;
    for (const Item *i = a->items; i; i = i->next) {
        double w, h;
        if (!is_named(i)) continue;
        qcanvas_text_size(c, i->name, &l, &w, &h);
        e.width = fmax(e.width, w), e.rows++;
    }
    e.width += 2 * PAD + SWATCH + GAP;
    e.height = ROW * e.rows + 2 * PAD - 3;
    return e.shown = e.rows, e;
}

/* Computes the extent within the given room: first the legend is scaled down, then names are cut off, and finally rows
 * are left out. */
static Extent measure_legend(Canvas *c, const Axes *a, double width, double height) {
    Extent e = natural(c, a);
    double size = a->letters[TEXT_LEGEND].size, most = size > 0 ? size / SIZE_TICK : 1;
    e.scale = fmax(fmin(smallest, most), fmin(most, fmin(width / e.width, height / e.height)));
    e.width = fmin(e.scale * e.width, width), e.height *= e.scale;
    if (e.height <= height + 1e-9) return e;
    e.shown = (int)fmax(1, floor((height / e.scale - 2 * PAD + 3) / ROW));
    e.height = e.scale * (ROW * e.shown + 2 * PAD - 3);
    return e;
}

static Extent extent_of(const Painter *p) {
    double width = fmax(8, p->width - 2 * INSET), height = fmax(8, p->height - 2 * INSET);
    if (p->a->legend != LEGEND_OUTSIDE) return measure_legend(p->c, p->a, width, height);
    return measure_legend(p->c, p->a, qlegend_width(p->c, p->a) - INSET, p->height);
}

double qlegend_width(Canvas *c, const Axes *a) {
    double width, height;
    if (a->legend != LEGEND_OUTSIDE) return 0;
    qfigure_size(a->figure, &width, &height);
    return measure_legend(c, a, beside * width / a->columns, INFINITY).width + INSET;
}

/* Returns how much of a line segment is inside the box, by samples every few units. */
static double covered(const double from[2], const double to[2], const double box[4]) {
    double length = hypot(to[0] - from[0], to[1] - from[1]), n = fmin(fmax(1, ceil(length / 6)), 400), in = 0;
    for (double k = 0; k < n; k++) {
        double x = from[0] + (to[0] - from[0]) * k / n, y = from[1] + (to[1] - from[1]) * k / n;
        in += x > box[0] && x < box[0] + box[2] && y > box[1] && y < box[1] + box[3];
    }
    return in;
}

static double bar_cost(const Painter *p, const Item *i, size_t k, const double box[4]) {
    const Column *below = &i->part[PART_U], *above = &i->part[PART_V];
    double x = qdraw_x(p, i->part[PART_X].x[k]), y = i->part[PART_Y].x[k];
    const double from[2] = {x, qdraw_y(p, y - below->x[k % below->n])};
    const double to[2] = {x, qdraw_y(p, y + above->x[k % above->n])};
    return isfinite(from[1] + to[1]) ? covered(from, to, box) : 0;
}

static double cost_of(const Painter *p, const Item *i, const double box[4]) {
    double cost = 0, last[2] = {NAN, NAN};
    const Column *x = &i->part[PART_X], *y = &i->part[PART_Y];
    size_t n = x->n < y->n ? x->n : y->n, every = n / 2000 + 1;
    for (size_t k = 0; k < n; k += every) {
        double now[2] = {qdraw_x(p, x->x[k]), qdraw_y(p, y->x[k])};
        const double foot[2] = {now[0], i->kind == ITEM_BARS ? qdraw_y(p, 0) : now[1]};
        if (!isfinite(now[0] + now[1])) last[0] = NAN;
        else if (i->kind == ITEM_BARS || !i->style.dash || !isfinite(last[0])) cost += covered(now, foot, box);
        else cost += covered(last, now, box);
        if (i->kind == ITEM_ERRORS) cost += bar_cost(p, i, k, box);
        if (isfinite(now[0] + now[1])) last[0] = now[0], last[1] = now[1];
    }
    return cost;
}

/* Candidate positions in the order in which they are tried: corners, sides, the middle; as fractions of the free
 * room. */
static const double places[PLACES][2] = {{1, 0},   {0, 0},   {0, 1},   {1, 1},    {1, 0.5},
                                         {0, 0.5}, {0.5, 0}, {0.5, 1}, {0.5, 0.5}};

static void place_legend(const Painter *p, const Extent *e, int k, double box[4]) {
    box[0] = p->x + INSET + places[k][0] * (p->width - e->width - 2 * INSET);
    box[1] = p->y + INSET + places[k][1] * (p->height - e->height - 2 * INSET);
    box[2] = e->width, box[3] = e->height;
}

/* Finds the position that covers least; returns how much it covers. */
static double best(const Painter *p, const Extent *e, double box[4]) {
    double least = INFINITY, tried[4];
    for (int k = 0; k < PLACES && least > 0; k++) {
        double cost = 0;
        place_legend(p, e, k, tried);
        for (const Item *i = p->a->items; i; i = i->next) cost += cost_of(p, i, tried);
        if (cost >= least) continue;
        least = cost;
        for (int j = 0; j < 4; j++) box[j] = tried[j];
    }
    return least;
}

/* If every position covers some data and the program has not set the limits of y, extends them so that the legend is
 * above the data. */
void qlegend_make_room(const Painter *p) {
    Axis *y = &p->a->axis[AXIS_Y];
    Extent e = extent_of(p);
    double box[4], room = e.height + 2 * INSET;
    if (p->a->legend != LEGEND_BEST || !e.rows || y->fixed || y->log || y->flipped || room > p->height / 2) return;
    if (best(p, &e, box) > 0) y->hi += (y->hi - y->lo) * room / (p->height - room);
}

/* Draws the key and name of an item in row `at`; the last row becomes … if not all fit. */
static void draw_name(const Painter *p, const Extent *e, const double box[4], const Item *i, int at) {
    bool more = at == e->shown - 1 && e->shown < e->rows;
    double x = box[0] + e->scale * PAD, y = box[1] + e->scale * (PAD + ROW * (at + 0.5) - 1.5);
    double name = x + e->scale * (SWATCH + GAP), room = box[0] + box[2] - e->scale * PAD - name;
    Lettering l = qlayout_letters(&p->a->letters[TEXT_LEGEND], SIZE_TICK);
    l.size = e->scale * SIZE_TICK, l.up = 0.5, l.room = fmax(room + 1, 8);
    if (!more) qpaint_key(p, i, x, y, e->scale * SWATCH);
    qcanvas_text(p->c, name, y, more ? "\xe2\x80\xa6" : i->name, &l);
}

void qlegend_draw(const Painter *p) {
    Extent e = extent_of(p);
    double box[4] = {0};
    if (p->a->legend == LEGEND_NONE || !e.rows) return;
    if (p->a->legend == LEGEND_BEST) best(p, &e, box);
    else place_legend(p, &e, p->a->legend == LEGEND_OUTSIDE ? 0 : (int)p->a->legend - LEGEND_NE, box);
    if (p->a->legend == LEGEND_OUTSIDE) box[0] = p->x + p->width + INSET, box[1] = p->y;
    qcanvas_box(p->c, box[0], box[1], box[2], box[3]);
    qcanvas_fill_and_stroke(p->c, (Colour){1, 1, 1}, 0.85, qdraw_grid, 0.8);
    int at = 0;
    for (const Item *i = p->a->items; i && at < e.shown; i = i->next)
        if (is_named(i)) draw_name(p, &e, box, i, at++);
}
