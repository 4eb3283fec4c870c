/* depth.c -- draws axes in three dimensions: the data is in a box that is rotated by azimuth and elevation, projected
 * in parallel, and drawn from back to front. */
#include "stdlib/figure/figure.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double x, y, z;
} Point; /* position in the box, each coordinate from 0 to 1 */
typedef struct {
    double x, y, depth;
} Seen; /* position on the page; depth grows away from the viewer */
typedef struct {
    const Painter *p;
    double ca, sa, ce, se, unit, cx, cy;
} Eye;
enum { HEIGHT_PERCENT = 75, SHADES_OF_EDGE = 60 };

static Seen project_point(const Eye *e, Point q) {
    double x = q.x - 0.5, y = q.y - 0.5, z = (q.z - 0.5) * HEIGHT_PERCENT / 100;
    double along = x * e->ca + y * e->sa, back = -x * e->sa + y * e->ca;
    return (Seen){e->cx + e->unit * along, e->cy - e->unit * (z * e->ce + back * e->se), back * e->ce - z * e->se};
}

/* Does not use fmin and fmax, on which the vectoriser of gcc 12 for aarch64 fails. */
static void widen_range(double *lo, double *hi, double x) {
    if (x < *lo) *lo = x;
    if (x > *hi) *hi = x;
}

static Eye eye_of(const Painter *p) {
    double a = p->a->azimuth * 3.14159265358979323846 / 180, el = p->a->elevation * 3.14159265358979323846 / 180;
    Eye e = {p, cos(a), sin(a), cos(el), sin(el), 1, 0, 0};
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 8; k++) {
        Seen s = project_point(&e, (Point){k & 1, k >> 1 & 1, k >> 2});
        widen_range(&lo[0], &hi[0], s.x), widen_range(&lo[1], &hi[1], s.y);
    }
    double room = 27; /* for ticks and labels around the box */
    e.unit = fmin((p->width - 2 * room) / (hi[0] - lo[0]), (p->height - 1.8 * room) / (hi[1] - lo[1]));
    e.cx = p->x + p->width / 2 - e.unit * (lo[0] + hi[0]) / 2;
    e.cy = p->y + p->height / 2 - e.unit * (lo[1] + hi[1]) / 2 - room / 4;
    return e;
}

static Point in_box(const Axes *a, const Item *i, size_t k) {
    return (Point){qscale_position(&a->axis[0], i->part[PART_X].x[k]),
                   qscale_position(&a->axis[1], i->part[PART_Y].x[k]),
                   qscale_position(&a->axis[2], i->part[PART_Z].x[k])};
}

/* -- the box: its three far sides with a grid ---------------------------------------------------------------------- */
/* Returns the coordinate of the far side across axis n: 0 or 1. */
static double far_side(const Eye *e, int n) {
    Point near = {0.5, 0.5, 0.5}, far = near;
    (&near.x)[n] = 0, (&far.x)[n] = 1;
    return project_point(e, far).depth > project_point(e, near).depth;
}

static void path(const Eye *e, const Point *q, int n) {
    for (int k = 0; k < n; k++) {
        Seen s = project_point(e, q[k]);
        (k ? qcanvas_line : qcanvas_move)(e->p->c, s.x, s.y);
    }
}

static void side(const Eye *e, int n) {
    int u = (n + 1) % 3, v = (n + 2) % 3;
    Point q[4];
    for (int k = 0; k < 4; k++) {
        (&q[k].x)[n] = far_side(e, n);
        (&q[k].x)[u] = k == 1 || k == 2, (&q[k].x)[v] = k > 1;
    }
    path(e, q, 4);
    qcanvas_close(e->p->c);
    qcanvas_fill_and_stroke(e->p->c, (Colour){0.955, 0.955, 0.96}, 1, (Colour){0.7, 0.7, 0.7}, 0.7);
}

static void side_grid(const Eye *e, int n, int along, const Ticks *t) {
    for (int k = 0; k < t->n; k++) {
        Point q[2];
        int other = 3 - n - along;
        for (int j = 0; j < 2; j++) {
            (&q[j].x)[n] = far_side(e, n), (&q[j].x)[other] = j;
            (&q[j].x)[along] = qscale_position(&e->p->a->axis[along], t->at[k]);
        }
        path(e, q, 2);
    }
}

static void box(const Eye *e, const Ticks t[3]) {
    for (int n = 0; n < 3; n++) side(e, n);
    for (int n = 0; n < 3; n++)
        for (int along = 0; along < 3; along++)
            if (along != n) side_grid(e, n, along, &t[along]);
    qcanvas_stroke(e->p->c, qdraw_grid, (Stroke){.width = 0.6, .alpha = 1});
}

/* -- ticks: along the visible edges of the box --------------------------------------------------------------------- */
/* Returns a point on the edge that has the ticks of axis n: for x and y on the floor, on the side of the viewer; for z
 * the vertical edge at the left of the page. */
static Point point_on_edge(const Eye *e, int n, double t) {
    Point q = {1 - far_side(e, 0), 1 - far_side(e, 1), 0};
    if (e->p->a->elevation < 0) q.z = 1;
    if (n < 2) return (&q.x)[n] = t, q;
    Point a = {far_side(e, 0), 1 - far_side(e, 1), t}, b = {1 - far_side(e, 0), far_side(e, 1), t};
    return project_point(e, a).x < project_point(e, b).x ? a : b;
}

static void outward(const Eye *e, int n, double *dx, double *dy) {
    Seen middle = project_point(e, (Point){0.5, 0.5, n == 2 ? 0.5 : e->p->a->elevation < 0}),
         s = project_point(e, point_on_edge(e, n, 0.5));
    double length = hypot(s.x - middle.x, s.y - middle.y);
    *dx = n == 2 ? -1 : (s.x - middle.x) / length, *dy = n == 2 ? 0 : (s.y - middle.y) / length;
}

static void ticks(const Eye *e, int n, const Ticks *t) {
    const Axis *a = &e->p->a->axis[n];
    Canvas *c = e->p->c;
    double dx, dy;
    Point ends[2] = {point_on_edge(e, n, 0), point_on_edge(e, n, 1)};
    outward(e, n, &dx, &dy);
    Lettering l = {.size = SIZE_TICK, .across = 0.5 - 0.5 * dx, .up = 0.5 + 0.5 * dy, .colour = qdraw_ink};
    path(e, ends, 2);
    for (int k = 0; k < t->n; k++) {
        Seen s = project_point(e, point_on_edge(e, n, qscale_position(a, t->at[k])));
        qcanvas_move(c, s.x, s.y), qcanvas_line(c, s.x + 3 * dx, s.y + 3 * dy);
    }
    qcanvas_stroke(c, qdraw_ink, (Stroke){.width = 0.8, .alpha = 1});
    for (int k = 0; k < t->n; k++) {
        Seen s = project_point(e, point_on_edge(e, n, qscale_position(a, t->at[k])));
        qcanvas_text(c, s.x + 6 * dx, s.y + 6 * dy, t->text[k], &l);
    }
    Seen s = project_point(e, point_on_edge(e, n, n == 2 ? 1.04 : 0.5));
    Lettering name = qlayout_letters(&e->p->a->letters[n], SIZE_LABEL);
    name.across = n == 2 ? 0.3 : l.across, name.up = n == 2 ? 0 : l.up;
    double away = n == 2 ? 0 : 22;
    if (a->label) qcanvas_text(c, s.x + away * dx, s.y + away * dy, a->label, &name);
    Lettering power = {.size = SIZE_TICK, .across = 0.5, .up = 0, .colour = qdraw_ink};
    Seen end = project_point(e, point_on_edge(e, n, 1));
    if (*t->factor) qcanvas_text(c, end.x + 8 * dx, end.y + 8 * dy - 8, t->factor, &power);
}

/* -- the surface --------------------------------------------------------------------------------------------------- */
typedef struct {
    double depth;
    const Item *item;
    size_t corner;
} Face;

static int by_depth(const void *a, const void *b) {
    double x = ((const Face *)a)->depth, y = ((const Face *)b)->depth;
    return (x < y) - (x > y);
}

static size_t corner_of(const Item *i, size_t first, int k) {
    return first + (size_t)(k == 1 || k == 2) + (k > 1 ? i->columns : 0);
}

static size_t count_faces(const Axes *a) {
    size_t n = 0;
    for (const Item *i = a->items; i; i = i->next)
        if (i->kind == ITEM_SURFACE) n += (i->rows - 1) * (i->columns - 1);
    return n;
}

static size_t faces_of(const Eye *e, const Item *i, Face *out) {
    size_t n = 0;
    for (size_t r = 0; r + 1 < i->rows; r++)
        for (size_t k = 0; k + 1 < i->columns; k++) {
            Face f = {0, i, r * i->columns + k};
            for (int j = 0; j < 4; j++)
                f.depth += project_point(e, in_box(e->p->a, i, corner_of(i, f.corner, j))).depth / 4;
            if (isfinite(f.depth)) out[n++] = f;
        }
    return n;
}

static void face(const Eye *e, const Face *f, bool edges) {
    const Item *i = f->item;
    const Axes *a = e->p->a;
    Point q[4];
    double z = 0;
    for (int j = 0; j < 4; j++) {
        size_t at = corner_of(i, f->corner, j);
        q[j] = in_box(a, i, at), z += i->part[PART_Z].x[at] / 4;
    }
    Colour c =
        i->style.coloured ? i->style.colour : qcolour_at(a->map, (z - a->range[0]) / (a->range[1] - a->range[0]));
    Colour dark = {c.r * SHADES_OF_EDGE / 100, c.g * SHADES_OF_EDGE / 100, c.b * SHADES_OF_EDGE / 100};
    path(e, q, 4);
    qcanvas_close(e->p->c);
    if (i->flat) qcanvas_fill_and_stroke(e->p->c, (Colour){1, 1, 1}, 1, c, 0.8);
    else qcanvas_fill_and_stroke(e->p->c, c, i->style.alpha, edges ? dark : c, edges ? 0.3 : 0.4);
}

static void surfaces(const Eye *e) {
    size_t n = 0, most = count_faces(e->p->a);
    Face *f = malloc(qmem_size(most, sizeof *f, sizeof *f));
    if (!f) return;
    for (const Item *i = e->p->a->items; i; i = i->next)
        if (i->kind == ITEM_SURFACE) n += faces_of(e, i, f + n);
    qsort(f, n, sizeof *f, by_depth);
    for (size_t k = 0; k < n; k++) face(e, &f[k], n <= 5000); /* with many faces, edges would cover everything */
    free(f);
}

void qdepth_draw(Painter *p) {
    Eye e = eye_of(p);
    Ticks t[3] = {0};
    for (int n = 0; n < 3; n++) qscale_ticks(&p->a->axis[n], 5, &t[n]);
    if (!p->a->hidden) box(&e, t);
    surfaces(&e);
    for (int n = 0; n < 3 && !p->a->hidden; n++) ticks(&e, n, &t[n]);
}
