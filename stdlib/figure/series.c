/* series.c -- plots vectors: plot, semilogx …, scatter, bar, hist, errorbar, stairs, quiver, line, text, rectangle. */
#include "stdlib/builtins.h"
#include "stdlib/figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* -- arguments ----------------------------------------------------------------------------------------------------- */
qs_status qseries_column(qs_vm *vm, const char *fn, const char *what, qs_value v, Column *out) {
    double *x;
    size_t n;
    char name[64];
    snprintf(name, sizeof name, "%s: %s", fn, what);
    TRY(qarr_doubles(vm, v, name, &x, &n));
    out->x = malloc(qmem_size(n, sizeof *x, sizeof *x)), out->n = n;
    if (out->x) memcpy(out->x, x, n * sizeof *x);
    qmem_free(qvm_ctx(vm), x, n * sizeof *x);
    return out->x ? QS_OK : qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", fn, n);
}

void qseries_grid(qs_value v, size_t *rows, size_t *columns) {
    const Array *a = v.kind == QS_ARRAY ? qval_array(v) : NULL;
    bool matrix = a && a->rank > 1;
    *rows = matrix ? (size_t)a->dims[0] : a ? a->count : 1;
    *columns = !matrix ? 1 : *rows ? (size_t)a->dims[1] : 0; /* columns without elements are not counted */
}

static qs_status finish_plot(qs_vm *vm, Axes *a, qs_call_args *c) {
    qfigure_changed(vm, a->figure);
    return qhandle_new(vm, a, &c->out[0]);
}

static int cycled(const Axes *a) { /* number of items whose colour is from the cycle */
    int n = 0;
    for (const Item *i = a->items; i; i = i->next)
        n += !i->style.coloured && i->kind != ITEM_IMAGE && i->kind != ITEM_TEXT && i->kind != ITEM_CONTOUR;
    return n;
}

static Item *add_item(qs_vm *vm, Axes *a, ItemKind kind, const Style *style, const char *name) {
    int n = cycled(a);
    Item *i = qaxes_add(vm, a, kind);
    i->style = *style;
    if (!style->coloured) i->style.colour = qcolour_cycle(n);
    qfigure_set(&i->name, name);
    return i;
}

/* -- lines --------------------------------------------------------------------------------------------------------- */
/* Copies column k of a rows x columns matrix. */
static qs_status copy_column(qs_vm *vm, const char *fn, const Column *from, size_t rows, size_t columns, size_t k,
                             Column *out) {
    out->x = malloc(qmem_size(rows, sizeof *out->x, sizeof *out->x));
    if (!out->x) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", fn, rows);
    for (size_t i = 0; i < rows; i++) out->x[i] = from->n ? from->x[i * columns + k] : (double)i;
    return out->n = rows, QS_OK;
}

typedef struct {
    const char *fn;
    Axes *a;
    Column x, y;
    size_t rows, columns, own;
} Lines; /* own: columns of x */

static bool same_column(const Column *a, const Column *b) {
    return a->n == b->n && memcmp(a->x, b->x, a->n * sizeof *a->x) == 0;
}

static bool same_line(const Item *a, const Item *b) {
    const Style *s = &a->style, *t = &b->style;
    return a->kind == b->kind && s->coloured == t->coloured && s->dash == t->dash && s->mark == t->mark &&
           s->width == t->width && s->alpha == t->alpha && s->size == t->size &&
           same_column(&a->part[PART_X], &b->part[PART_X]) && same_column(&a->part[PART_Y], &b->part[PART_Y]);
}

/* Removes the last line if the axes already have an equal one, which a loop under hold would otherwise accumulate. */
static void drop_again(qs_vm *vm, Axes *a, Item *last) {
    for (Item *i = a->items; i != last; i = i->next)
        if (same_line(i, last) &&
            (!last->style.coloured || !memcmp(&i->style.colour, &last->style.colour, sizeof(Colour)))) {
            qaxes_drop(vm, a, last);
            return;
        }
}

/* Adds a line for each column of y, over the corresponding column of x or the only one. */
static qs_status add_lines(qs_vm *vm, const Lines *l, const Style *style, const char *name) {
    for (size_t k = 0; k < l->columns; k++) {
        Item *i = add_item(vm, l->a, ITEM_LINE, style, name);
        TRY(copy_column(vm, l->fn, &l->x, l->rows, l->own, l->own > 1 ? k : 0, &i->part[PART_X]));
        TRY(copy_column(vm, l->fn, &l->y, l->rows, l->columns, k, &i->part[PART_Y]));
        drop_again(vm, l->a, i);
    }
    return QS_OK;
}

static qs_status check_lines(qs_vm *vm, Lines *l, qs_value x, qs_value y) {
    size_t nx = 0;
    if (y.kind == QS_ARRAY && qval_array(y)->rank > 2)
        return qs_fail(vm, QS_ESHAPE, "%s: y must be a vector or a matrix, got %d dimensions", l->fn,
                       qval_array(y)->rank);
    qseries_grid(y, &l->rows, &l->columns);
    l->own = 1;
    if (x.kind == QS_NIL) return qseries_column(vm, l->fn, "y", y, &l->y);
    qseries_grid(x, &nx, &l->own);
    bool row = l->columns > 1 && l->own == 1 && nx == l->columns && nx != l->rows;
    if ((nx != l->rows && !row) || (l->own != 1 && l->own != l->columns))
        return qs_fail(vm, QS_ESHAPE, "%s: x and y must have as many numbers, got %zu and %zu", l->fn, nx, l->rows);
    if (row)
        return qs_fail(vm, QS_ESHAPE,
                       "%s: the columns of y are lines; x has %zu numbers, a column of y %zu: transpose(y) "
                       "draws its rows",
                       l->fn, nx, l->rows);
    TRY(qseries_column(vm, l->fn, "x", x, &l->x));
    return qseries_column(vm, l->fn, "y", y, &l->y);
}

static bool is_number(const qs_call_args *c, int i) { return i < c->nin && c->in[i].kind != QS_STRING; }

/* Reads y, or x and y, followed by a style and properties; repeats until the arguments end. */
static qs_status lines(qs_vm *vm, Axes *a, qs_call_args *c) {
    if (!is_number(c, 0))
        return qs_fail(vm, QS_ETYPE, "%s: wants %s(y), %s(x, y) or %s(x, y, \"style\")", c->name, c->name, c->name,
                       c->name);
    for (int at = 0; at < c->nin;) {
        Lines l = {.fn = c->name, .a = a};
        Style style = qcolour_plain;
        char *name = NULL;
        if (!is_number(c, at)) return qproperty_unknown(vm, c->name, qs_to_string(c->in[at], NULL), ON_ITEM);
        bool two = is_number(c, at + 1);
        qs_value x = two ? c->in[at] : qs_nil(), y = c->in[at + two];
        at += 1 + two;
        qs_status s = qproperty_first(vm, c, &at, &style, &name);
        if (s == QS_OK) s = check_lines(vm, &l, x, y);
        if (s == QS_OK) s = add_lines(vm, &l, &style, name);
        qcolumn_free(&l.x), qcolumn_free(&l.y), free(name);
        TRY(s);
    }
    return finish_plot(vm, a, c);
}

/* Validates style and shapes on trial axes first, so that a call that fails leaves the figure unchanged. */
static qs_status plot(qs_vm *vm, qs_call_args *c, bool log_x, bool log_y) {
    Figure trial = {0};
    Axes a = {.figure = &trial};
    qs_call_args once = *c;
    qs_value out = qs_nil();
    once.out = &out;
    qs_status s = lines(vm, &a, &once);
    qs_release(vm, out);
    qaxes_clear(vm, &a);
    TRY(s);
    Axes *real = qfigure_begin(vm);
    real->axis[AXIS_X].log |= log_x, real->axis[AXIS_Y].log |= log_y;
    return lines(vm, real, c);
}

qs_status qseries_plot(qs_vm *vm, qs_call_args *c) { return plot(vm, c, false, false); }
qs_status qseries_semilogx(qs_vm *vm, qs_call_args *c) { return plot(vm, c, true, false); }
qs_status qseries_semilogy(qs_vm *vm, qs_call_args *c) { return plot(vm, c, false, true); }
qs_status qseries_loglog(qs_vm *vm, qs_call_args *c) { return plot(vm, c, true, true); }
qs_status qseries_line(qs_vm *vm, qs_call_args *c) { return lines(vm, qfigure_axes(vm), c); }

/* -- pairs x, y ---------------------------------------------------------------------------------------------------- */
typedef struct {
    Column x, y;
} Pair;

static void free_pair(Pair *p) { qcolumn_free(&p->x), qcolumn_free(&p->y); }

static qs_status new_pair(qs_vm *vm, const char *fn, const char *what, size_t n, Pair *out) {
    size_t bytes = qmem_size(n, sizeof(double), sizeof(double));
    *out = (Pair){{calloc(1, bytes), n}, {calloc(1, bytes), n}};
    if (out->x.x && out->y.x) return QS_OK;
    return free_pair(out), qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu %s", fn, n, what);
}

/* Reads x and y of the same length from in[0] and in[1]; with `alone` only y, and x becomes 0, 1 … */
static qs_status pair(qs_vm *vm, qs_call_args *c, bool alone, Pair *out) {
    *out = (Pair){0};
    TRY(qseries_column(vm, c->name, alone ? "y" : "x", c->in[0], &out->x));
    if (!alone) return qseries_column(vm, c->name, "y", c->in[1], &out->y);
    out->y = out->x;
    out->x = (Column){0};
    return copy_column(vm, c->name, &out->x, out->y.n, 1, 0, &out->x);
}

static qs_status same_length(qs_vm *vm, const char *fn, const char *what, size_t got, size_t wanted) {
    if (got == wanted) return QS_OK;
    return qs_fail(vm, QS_ESHAPE, "%s: %s must have as many numbers as x, got %zu and %zu", fn, what, got, wanted);
}

static qs_status begin_pair(qs_vm *vm, qs_call_args *c, bool alone, Pair *p) {
    qs_status s = pair(vm, c, alone, p);
    if (s == QS_OK) s = same_length(vm, c->name, "y", p->y.n, p->x.n);
    if (s != QS_OK) free_pair(p);
    return s;
}

static Item *take_pair(qs_vm *vm, Axes *a, ItemKind kind, const Style *s, const char *name, Pair *p) {
    Item *i = add_item(vm, a, kind, s, name);
    i->part[PART_X] = p->x, i->part[PART_Y] = p->y;
    return i;
}

static qs_status not_negative(qs_vm *vm, const char *fn, const char *what, const Column *x) {
    for (size_t k = 0; k < x->n; k++)
        if (x->x[k] < 0) return qs_fail(vm, QS_EVALUE, "%s: %s must not be negative, got %g", fn, what, x->x[k]);
    return QS_OK;
}

#define MOST_AREA 1e6 /* larger than a page */

/* -- scatter(x, y [, areas [, colours]] …) ------------------------------------------------------------------------- */
typedef struct {
    Style style;
    char *name;
    Column sizes, colours;
} Dots;

static qs_status dots(qs_vm *vm, qs_call_args *c, size_t n, Dots *d) {
    int at = 2;
    d->style = qcolour_plain, d->style.alpha = 0.85;
    if (is_number(c, at)) TRY(qseries_column(vm, "scatter", "areas", c->in[at++], &d->sizes));
    if (is_number(c, at)) TRY(qseries_column(vm, "scatter", "colours", c->in[at++], &d->colours));
    if (d->sizes.n > 1) TRY(same_length(vm, "scatter", "areas", d->sizes.n, n));
    TRY(not_negative(vm, "scatter", "areas", &d->sizes));
    for (size_t k = 0; k < d->sizes.n; k++)
        if (d->sizes.x[k] > MOST_AREA)
            return qs_fail(vm, QS_EVALUE, "scatter: areas must be at most %g square points, got %g", MOST_AREA,
                           d->sizes.x[k]);
    if (d->colours.n) TRY(same_length(vm, "scatter", "colours", d->colours.n, n));
    TRY(qproperty_style(vm, c, &at, &d->style, &d->name));
    if (!d->style.mark) d->style.mark = 'o';
    return d->style.dash = NULL, QS_OK;
}

qs_status qseries_scatter(qs_vm *vm, qs_call_args *c) {
    Pair p;
    Dots d = {0};
    TRY(begin_pair(vm, c, false, &p));
    qs_status s = dots(vm, c, p.x.n, &d);
    if (s == QS_OK) {
        Axes *a = qfigure_begin(vm);
        Item *i = take_pair(vm, a, ITEM_SCATTER, &d.style, d.name, &p);
        i->part[PART_U] = d.sizes, i->part[PART_Z] = d.colours;
        s = finish_plot(vm, a, c);
    } else free_pair(&p), qcolumn_free(&d.sizes), qcolumn_free(&d.colours);
    free(d.name);
    return s;
}

/* -- bars ---------------------------------------------------------------------------------------------------------- */
static double least_step(const Column *x) {
    double least = INFINITY;
    for (size_t k = 1; k < x->n; k++)
        if (x->x[k] != x->x[k - 1]) least = fmin(least, fabs(x->x[k] - x->x[k - 1]));
    return isfinite(least) ? least : 1;
}

/* Draws a group of bars for each row of y with one bar for each column; or stacks them. */
static qs_status bars(qs_vm *vm, qs_call_args *c, Lines *l, const Style *style, const char *name, bool stacked) {
    Axes *a = l->a = qfigure_begin(vm);
    Column *below = NULL;
    double whole = 0.8 * (l->x.n ? least_step(&l->x) : 1), width = stacked ? whole : whole / (double)l->columns;
    for (size_t k = 0; k < l->columns; k++) {
        Item *i = add_item(vm, a, ITEM_BARS, style, name);
        TRY(copy_column(vm, "bar", &l->x, l->rows, 1, 0, &i->part[PART_X]));
        TRY(copy_column(vm, "bar", &l->y, l->rows, l->columns, k, &i->part[PART_Y]));
        i->width = width;
        double offset = stacked ? 0 : ((double)k - ((double)l->columns - 1) / 2) * width;
        for (size_t j = 0; j < l->rows; j++) i->part[PART_X].x[j] += offset;
        if (stacked && below) TRY(copy_column(vm, "bar", below, l->rows, 1, 0, &i->part[PART_U]));
        for (size_t j = 0; stacked && below && j < l->rows; j++) i->part[PART_Y].x[j] += below->x[j];
        below = &i->part[PART_Y];
    }
    return finish_plot(vm, a, c);
}

static bool take_word(qs_call_args *c, int at, const char *word) {
    const char *s = at < c->nin ? qs_to_string(c->in[at], NULL) : NULL;
    return s && !strcasecmp(s, word);
}

qs_status qseries_bar(qs_vm *vm, qs_call_args *c) {
    Lines l = {.fn = "bar"};
    Style style = qcolour_plain;
    char *name = NULL;
    bool two = is_number(c, 1);
    int at = 1 + two;
    bool stacked = take_word(c, at, "stacked");
    at += stacked || take_word(c, at, "grouped");
    qs_status s = check_lines(vm, &l, two ? c->in[0] : qs_nil(), c->in[two]);
    if (s == QS_OK) s = qproperty_style(vm, c, &at, &style, &name);
    if (s == QS_OK) s = bars(vm, c, &l, &style, name, stacked);
    qcolumn_free(&l.x), qcolumn_free(&l.y), free(name);
    return s;
}

/* -- hist(x [, bins or edges]) ------------------------------------------------------------------------------------- */
static void range_of(const Column *x, double *lo, double *hi) {
    *lo = INFINITY, *hi = -INFINITY;
    for (size_t k = 0; k < x->n; k++)
        if (isfinite(x->x[k])) *lo = fmin(*lo, x->x[k]), *hi = fmax(*hi, x->x[k]);
    if (!(*lo <= *hi)) *lo = 0, *hi = 1;
    if (*lo == *hi) *lo -= 0.5, *hi += 0.5;
}

/* Computes the edges from in[1]: a number of equal bins, or the edges themselves; ten bins by default. */
static qs_status edges_of(qs_vm *vm, qs_call_args *c, const Column *x, Column *out) {
    double lo, hi, bins = 10;
    Column e = {0};
    if (is_number(c, 1)) TRY(qseries_column(vm, "hist", "bins", c->in[1], &e));
    if (e.n > 1) return *out = e, QS_OK;
    if (e.n) bins = e.x[0];
    qcolumn_free(&e);
    if (!(bins >= 1 && bins <= 1e6 && bins == floor(bins)))
        return qs_fail(vm, QS_EVALUE, "hist: bins must be an integer from 1 to 1000000, or edges, got %g", bins);
    range_of(x, &lo, &hi);
    out->n = (size_t)bins + 1, out->x = malloc(qmem_size(out->n, sizeof *out->x, 0));
    for (size_t k = 0; out->x && k < out->n; k++) out->x[k] = lo + (hi - lo) * (double)k / bins;
    return out->x ? QS_OK : qs_fail(vm, QS_ENOMEM, "hist: no memory for %g bins", bins);
}

static void count_into(const Column *x, const Column *e, double *n) {
    for (size_t k = 0; k < x->n; k++) {
        size_t lo = 0, hi = e->n - 1;
        double v = x->x[k];
        if (!(v >= e->x[0] && v <= e->x[hi])) continue;
        while (hi - lo > 1) {
            size_t middle = (lo + hi) / 2;
            if (v >= e->x[middle]) lo = middle;
            else hi = middle;
        }
        n[lo]++;
    }
}

static qs_status histogram(qs_vm *vm, const Column *x, const Column *e, Pair *out) {
    size_t n = e->n - 1;
    TRY(new_pair(vm, "hist", "bins", n, out));
    for (size_t k = 0; k < n; k++) {
        if (!(e->x[k + 1] > e->x[k])) return free_pair(out), qs_fail(vm, QS_EVALUE, "hist: edges must ascend");
        out->x.x[k] = (e->x[k] + e->x[k + 1]) / 2;
    }
    count_into(x, e, out->y.x);
    return QS_OK;
}

qs_status qseries_hist(qs_vm *vm, qs_call_args *c) {
    Column x = {0}, e = {0};
    Pair p = {0};
    Style style = qcolour_plain;
    char *name = NULL;
    int at = 1 + is_number(c, 1);
    qs_status s = qseries_column(vm, c->name, "x", c->in[0], &x);
    if (s == QS_OK) s = edges_of(vm, c, &x, &e);
    if (s == QS_OK) s = qproperty_style(vm, c, &at, &style, &name);
    if (s == QS_OK) s = histogram(vm, &x, &e, &p);
    if (s == QS_OK) {
        Axes *a = qfigure_begin(vm);
        Item *i = take_pair(vm, a, ITEM_BARS, &style, name, &p);
        for (size_t k = 0; k + 1 < e.n; k++) e.x[k] = e.x[k + 1] - e.x[k];
        i->part[PART_V] = (Column){e.x, e.n - 1}, e.x = NULL;
        s = finish_plot(vm, a, c);
    }
    qcolumn_free(&x), qcolumn_free(&e), free(name);
    return s;
}

/* -- errorbar(x, y, e) or (x, y, below, above) --------------------------------------------------------------------- */
static qs_status error_parts(qs_vm *vm, qs_call_args *c, size_t n, int *at, Column out[2]) {
    TRY(qseries_column(vm, "errorbar", "the error", c->in[(*at)++], &out[0]));
    bool two = is_number(c, *at);
    TRY(qseries_column(vm, "errorbar", "the error above", c->in[two ? (*at)++ : *at - 1], &out[1]));
    if (out[0].n > 1) TRY(same_length(vm, "errorbar", "the error", out[0].n, n));
    if (out[1].n > 1) TRY(same_length(vm, "errorbar", "the error above", out[1].n, n));
    TRY(not_negative(vm, "errorbar", "the error", &out[0]));
    return not_negative(vm, "errorbar", "the error above", &out[1]);
}

qs_status qseries_errorbar(qs_vm *vm, qs_call_args *c) {
    Pair p;
    Column e[2] = {{0}, {0}};
    Style style = qcolour_plain;
    char *name = NULL;
    int at = 2;
    TRY(begin_pair(vm, c, false, &p));
    qs_status s = error_parts(vm, c, p.x.n, &at, e);
    if (s == QS_OK) s = qproperty_style(vm, c, &at, &style, &name);
    if (s == QS_OK) {
        Axes *a = qfigure_begin(vm);
        Item *i = take_pair(vm, a, ITEM_ERRORS, &style, name, &p);
        i->part[PART_U] = e[0], i->part[PART_V] = e[1];
        s = finish_plot(vm, a, c);
    } else free_pair(&p), qcolumn_free(&e[0]), qcolumn_free(&e[1]);
    free(name);
    return s;
}

/* -- stairs([x,] y): the value holds until the next x -------------------------------------------------------------- */
static qs_status steps(qs_vm *vm, const Pair *p, Pair *out) {
    size_t n = p->x.n ? 2 * p->x.n - 1 : 0;
    TRY(new_pair(vm, "stairs", "points", n, out));
    for (size_t k = 0; k < n; k++) out->x.x[k] = p->x.x[(k + 1) / 2], out->y.x[k] = p->y.x[k / 2];
    return QS_OK;
}

qs_status qseries_stairs(qs_vm *vm, qs_call_args *c) {
    Pair p, q;
    Style style = qcolour_plain;
    char *name = NULL;
    bool two = is_number(c, 1);
    int at = 1 + two;
    TRY(begin_pair(vm, c, !two, &p));
    qs_status s = qproperty_style(vm, c, &at, &style, &name);
    if (s == QS_OK) s = steps(vm, &p, &q);
    if (s == QS_OK) {
        Axes *a = qfigure_begin(vm);
        take_pair(vm, a, ITEM_LINE, &style, name, &q);
        s = finish_plot(vm, a, c);
    }
    free_pair(&p), free(name);
    return s;
}

/* -- quiver([x, y,] u, v) ------------------------------------------------------------------------------------------ */
/* Uses the columns and rows of u as positions if none are given. */
static qs_status raster(qs_vm *vm, size_t rows, size_t columns, Pair *out) {
    size_t n = rows * columns;
    TRY(new_pair(vm, "quiver", "arrows", n, out));
    for (size_t k = 0; k < n; k++) out->x.x[k] = (double)(k % columns), out->y.x[k] = (double)(k / columns);
    return QS_OK;
}

/* Scales the arrows so that the longest one reaches the next position. */
static double arrow_factor(const Item *i) {
    double lo, hi, wide, high, longest = 0, n = (double)i->part[PART_X].n;
    range_of(&i->part[PART_X], &lo, &hi), wide = hi - lo;
    range_of(&i->part[PART_Y], &lo, &hi), high = hi - lo;
    for (size_t k = 0; k < i->part[PART_U].n; k++)
        if (isfinite(i->part[PART_U].x[k] + i->part[PART_V].x[k]))
            longest = fmax(longest, hypot(i->part[PART_U].x[k], i->part[PART_V].x[k]));
    return longest > 0 ? sqrt(wide * high / fmax(1, n)) / longest : 1;
}

qs_status qseries_quiver(qs_vm *vm, qs_call_args *c) {
    Pair p = {0}, d = {0};
    Style style = qcolour_plain;
    char *name = NULL;
    bool four = is_number(c, 3);
    int first = four ? 2 : 0, at = first + 2;
    size_t rows, columns;
    style.width = 1;
    if (!is_number(c, 1)) return qs_fail(vm, QS_ETYPE, "quiver: wants quiver(u, v) or quiver(x, y, u, v)");
    qseries_grid(c->in[first], &rows, &columns);
    if (columns == 1) columns = rows, rows = 1;
    qs_status s = four ? begin_pair(vm, c, false, &p) : raster(vm, rows, columns, &p);
    if (s == QS_OK) s = qseries_column(vm, c->name, "u", c->in[first], &d.x);
    if (s == QS_OK) s = qseries_column(vm, c->name, "v", c->in[first + 1], &d.y);
    if (s == QS_OK) s = same_length(vm, c->name, "u", d.x.n, p.x.n);
    if (s == QS_OK) s = same_length(vm, c->name, "v", d.y.n, p.x.n);
    if (s == QS_OK) s = qproperty_style(vm, c, &at, &style, &name);
    if (s == QS_OK) {
        Axes *a = qfigure_begin(vm);
        Item *i = take_pair(vm, a, ITEM_ARROWS, &style, name, &p);
        i->part[PART_U] = d.x, i->part[PART_V] = d.y;
        i->width = 0.9 * arrow_factor(i);
        s = finish_plot(vm, a, c);
    } else free_pair(&p), free_pair(&d);
    free(name);
    return s;
}

/* -- text, rectangle: on the current axes -------------------------------------------------------------------------- */
static qs_status set_position(qs_vm *vm, Item *i, const double *x, const double *y, size_t n) {
    for (int k = 0; k < 2; k++) {
        i->part[k] = (Column){malloc(qmem_size(n, sizeof(double), 0)), n};
        if (!i->part[k].x) return qs_fail(vm, QS_ENOMEM, "no memory for an item");
        memcpy(i->part[k].x, k ? y : x, n * sizeof(double));
    }
    return QS_OK;
}

qs_status qseries_text(qs_vm *vm, qs_call_args *c) {
    double x, y;
    const char *s;
    Style style = {.colour = qdraw_ink};
    TRY(qarg_num(vm, c->name, "x", c->in[0], &x));
    TRY(qarg_num(vm, c->name, "y", c->in[1], &y));
    TRY(qarg_string(vm, c->name, "text", c->in[2], &s, NULL));
    TRY(qproperty_pairs(vm, c, 3, ON_LETTERS | ON_TEXT, &(Properties){.style = &style}));
    Axes *a = qfigure_axes(vm);
    Item *i = qaxes_add(vm, a, ITEM_TEXT);
    i->style = style;
    qfigure_set(&i->name, s);
    TRY(set_position(vm, i, &x, &y, 1));
    return finish_plot(vm, a, c);
}

qs_status qseries_rectangle(qs_vm *vm, qs_call_args *c) {
    Column v = {0};
    Style style = qcolour_plain;
    char *name = NULL;
    int at = 1;
    bool filled = false;
    for (int k = 1; k < c->nin; k++) filled = filled || take_word(c, k, "facecolor");
    qs_status s = qseries_column(vm, c->name, "place", c->in[0], &v);
    if (s == QS_OK && v.n != 4)
        s = qs_fail(vm, QS_EVALUE,
                    "rectangle: the first argument is a list, [x, y, width, height], got %zu "
                    "number%s",
                    v.n, v.n == 1 ? "" : "s");
    if (s == QS_OK && !(v.x[2] >= 0 && v.x[3] >= 0))
        s = qs_fail(vm, QS_EVALUE, "rectangle: width and height must not be negative, got %g and %g", v.x[2], v.x[3]);
    if (s == QS_OK) s = qproperty_style(vm, c, &at, &style, &name);
    if (s == QS_OK) {
        const double x[] = {v.x[0], v.x[0] + v.x[2]}, y[] = {v.x[1], v.x[1] + v.x[3]};
        Axes *a = qfigure_axes(vm);
        Item *i = add_item(vm, a, ITEM_RECT, &style, name);
        i->filled = filled;
        s = set_position(vm, i, x, y, 2);
        if (s == QS_OK) s = finish_plot(vm, a, c);
    }
    qcolumn_free(&v), free(name);
    return s;
}
