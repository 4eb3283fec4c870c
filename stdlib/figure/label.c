/* label.c -- implements functions on axes: figure, subplot, title, xlabel, axis, grid, legend, colorbar, colormap,
 * close … */
#include "stdlib/builtins.h"
#include "stdlib/figure/figure.h"
#include "stdlib/figure/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static qs_status changed(qs_vm *vm, Axes *a) { return qfigure_changed(vm, a->figure), QS_OK; }

/* -- figures and subplots ------------------------------------------------------------------------------------------ */
/* figure(): creates a figure; figure(n): selects figure n, or creates it; figure(h): selects the figure of a handle. */
qs_status qlabel_figure(qs_vm *vm, qs_call_args *c) {
    int64_t n = 0;
    Figure *f = NULL;
    Axes *a;
    TRY(qfigure_flush(vm));
    if (qarg_given(c, 0)) {
        if (c->in[0].kind == QS_FOREIGN) TRY(qhandle_figure(vm, c->name, c->in[0], &f, &a));
        else TRY(qarg_count(vm, c->name, "number", c->in[0], &n));
    }
    if (n > 1 << 24) return qs_fail(vm, QS_EVALUE, "figure: number must be at most %d", 1 << 24);
    if (n) f = qfigure_find(vm, (int)n);
    if (!f) {
        f = qfigure_new(vm);
        if (n) f->number = (int)n;
        qfigure_all(vm)->hold = false;
    }
    f->chosen = true, f->dismissed = false;
    qfigure_all(vm)->current = f;
    return qhandle_new(vm, qfigure_axes(vm), &c->out[0]);
}

static Axes *cell_of(const Figure *f, int rows, int columns, int at) {
    for (Axes *a = f->axes; a; a = a->next)
        if (a->rows == rows && a->columns == columns && a->at == at) return a;
    return NULL;
}

/* The first empty axes that belong to no such grid. */
static Axes *empty_axes(const Figure *f, int rows, int columns) {
    for (Axes *a = f->axes; a; a = a->next)
        if (!a->items && (a->rows != rows || a->columns != columns)) return a;
    return NULL;
}

/* The axes at this place of a grid.  An access to the figure may have created empty axes: they move there, so that the
 * handle of the figure stays valid. */
static Axes *take_cell(qs_vm *vm, Figure *f, int rows, int columns, int at) {
    Axes *a = cell_of(f, rows, columns, at);
    if (a) return a;
    a = empty_axes(f, rows, columns);
    if (!a) return qaxes_new(vm, f, rows, columns, at);
    qaxes_clear(vm, a);
    return a->rows = rows, a->columns = columns, a->at = at, a;
}

/* Removes other empty axes. */
static void drop_empty(qs_vm *vm, Figure *f, int rows, int columns) {
    for (Axes **p = &f->axes; *p;) {
        Axes *a = *p;
        if (a->items || (a->rows == rows && a->columns == columns)) {
            p = &a->next;
            continue;
        }
        *p = a->next;
        qaxes_clear(vm, a);
        qmem_free(qvm_ctx(vm), a, sizeof *a);
    }
}

qs_status qlabel_subplot(qs_vm *vm, qs_call_args *c) {
    int64_t v[3];
    static const char *const names[] = {"rows", "columns", "place"};
    Figures *all = qfigure_all(vm);
    for (int k = 0; k < 3; k++) TRY(qarg_count(vm, c->name, names[k], c->in[k], &v[k]));
    if (v[0] < 1 || v[1] < 1 || v[0] > 64 || v[1] > 64)
        return qs_fail(vm, QS_EVALUE, "subplot: rows and columns must be 1 to 64, got %ld and %ld", (long)v[0],
                       (long)v[1]);
    if (v[2] >= v[0] * v[1])
        return qs_fail(vm, QS_EVALUE, "subplot: positions of %ld x %ld subplots count from 0 to %ld, got %ld",
                       (long)v[0], (long)v[1], (long)(v[0] * v[1] - 1), (long)v[2]);
    bool full = all->current && !all->current->chosen && !all->current->embedded;
    Figure *f = !all->current || full ? qfigure_new(vm) : all->current;
    f->chosen = true;
    Axes *a = take_cell(vm, f, (int)v[0], (int)v[1], (int)v[2]);
    drop_empty(vm, f, (int)v[0], (int)v[1]);
    f->current = a;
    return qhandle_new(vm, f->current, &c->out[0]);
}

/* -- texts --------------------------------------------------------------------------------------------------------- */
/* Sets a text to in[0] and its letters to the properties behind it. */
static qs_status set_text(qs_vm *vm, qs_call_args *c, char **slot, Style *letters, Axes *a) {
    const char *s;
    Style style = {0};
    TRY(qarg_string(vm, c->name, "text", c->in[0], &s, NULL));
    TRY(qproperty_pairs(vm, c, 1, ON_LETTERS, &(Properties){.style = &style}));
    *letters = style;
    qfigure_set(slot, *s ? s : NULL);
    return changed(vm, a);
}

qs_status qlabel_title(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    return set_text(vm, c, &a->title, &a->letters[TEXT_TITLE], a);
}
qs_status qlabel_sgtitle(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    return set_text(vm, c, &a->figure->title, &a->figure->letters, a);
}
static qs_status set_label(qs_vm *vm, qs_call_args *c, AxisName n) {
    Axes *a = qfigure_axes(vm);
    return set_text(vm, c, &a->axis[n].label, &a->letters[n], a);
}
qs_status qlabel_xlabel(qs_vm *vm, qs_call_args *c) { return set_label(vm, c, AXIS_X); }
qs_status qlabel_ylabel(qs_vm *vm, qs_call_args *c) { return set_label(vm, c, AXIS_Y); }
qs_status qlabel_zlabel(qs_vm *vm, qs_call_args *c) { return set_label(vm, c, AXIS_Z); }

/* -- words: "on", "off" and others --------------------------------------------------------------------------------- */
static qs_status on_off(qs_vm *vm, qs_call_args *c, bool otherwise, bool *out) {
    const char *s = otherwise ? "on" : "off";
    if (qarg_given(c, 0)) TRY(qarg_string(vm, c->name, "mode", c->in[0], &s, NULL));
    if (strcmp(s, "on") && strcmp(s, "off"))
        return qs_fail(vm, QS_EVALUE, "%s: mode must be \"on\" or \"off\", got \"%s\"", c->name, s);
    return *out = !strcmp(s, "on"), QS_OK;
}

qs_status qlabel_grid(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    TRY(on_off(vm, c, !a->grid, &a->grid));
    return changed(vm, a);
}

/* Sets whether further plots are added to the contents of axes; returns whether a window is open. */
qs_status qlabel_hold(qs_vm *vm, qs_call_args *c) {
    Figures *all = qfigure_all(vm);
    TRY(on_off(vm, c, true, &all->hold));
    TRY(qfigure_flush(vm));
    TRY(qwindow_events(vm));
    c->out[0] = qs_bool(all->current && all->current->window);
    return QS_OK;
}

/* -- limits -------------------------------------------------------------------------------------------------------- */
static qs_status set_limits(qs_vm *vm, const char *fn, Axis *x, const double v[2]) {
    if (!(v[0] < v[1]) || !isfinite(v[1] - v[0]))
        return qs_fail(vm, QS_EVALUE, "%s: limits must be finite and ascend, got %g and %g", fn, v[0], v[1]);
    if (x->log && !(v[0] > 0))
        return qs_fail(vm, QS_EVALUE, "%s: limits of a logarithmic axis are positive, got %g", fn, v[0]);
    return x->lo = v[0], x->hi = v[1], x->fixed = true, QS_OK;
}

static qs_status axis_numbers(qs_vm *vm, Axes *a, qs_value v) {
    Column n = {0};
    TRY(qseries_column(vm, "axis", "limits", v, &n));
    bool good = n.n == 4 || n.n == 6;
    qs_status s = good ? QS_OK
                       : qs_fail(vm, QS_EVALUE, "axis: limits are a list, [x0, x1, y0, y1], got %zu number%s", n.n,
                                 n.n == 1 ? "" : "s");
    for (size_t k = 0; s == QS_OK && k < n.n / 2; k++) s = set_limits(vm, "axis", &a->axis[k], n.x + 2 * k);
    qcolumn_free(&n);
    return s;
}

static bool axis_word(Axes *a, const char *s) {
    bool *no_margins = &a->tight;
    if (!strcmp(s, "equal") || !strcmp(s, "image")) a->equal = true;
    else if (!strcmp(s, "normal")) a->equal = false;
    else if (!strcmp(s, "off")) a->hidden = true, a->edged = false;
    else if (!strcmp(s, "on")) a->hidden = false;
    else if (!strcmp(s, "ij")) a->axis[AXIS_Y].flipped = true;
    else if (!strcmp(s, "xy")) a->axis[AXIS_Y].flipped = false;
    else if (!strcmp(s, "auto"))
        for (int k = 0; k < 3; k++) a->axis[k].fixed = false;
    else if (strcmp(s, "tight") != 0) return false;
    if (!strcmp(s, "tight") || !strcmp(s, "image")) *no_margins = true;
    if (!strcmp(s, "auto")) *no_margins = false;
    return true;
}

qs_status qlabel_axis(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    const char *s = qs_to_string(c->in[0], NULL);
    if (!s) TRY(axis_numbers(vm, a, c->in[0]));
    else if (!axis_word(a, s))
        return qs_fail(vm, QS_EVALUE,
                       "axis: wants [x0, x1, y0, y1] or equal, image, normal, tight, auto, on, off, ij, xy, "
                       "got \"%s\"",
                       s);
    return changed(vm, a);
}

static qs_status limits(qs_vm *vm, qs_call_args *c, AxisName n) {
    Axes *a = qfigure_axes(vm);
    Column v = {0};
    TRY(qseries_column(vm, c->name, "limits", c->in[0], &v));
    qs_status s = v.n == 2 ? set_limits(vm, c->name, &a->axis[n], v.x)
                           : qs_fail(vm, QS_EVALUE, "%s: limits are a list, [lo, hi], got %zu number%s", c->name, v.n,
                                     v.n == 1 ? "" : "s");
    qcolumn_free(&v);
    return s == QS_OK ? changed(vm, a) : s;
}

qs_status qlabel_xlim(qs_vm *vm, qs_call_args *c) { return limits(vm, c, AXIS_X); }
qs_status qlabel_ylim(qs_vm *vm, qs_call_args *c) { return limits(vm, c, AXIS_Y); }
qs_status qlabel_zlim(qs_vm *vm, qs_call_args *c) { return limits(vm, c, AXIS_Z); }

static qs_status tick_names(qs_vm *vm, const char *fn, qs_value v, Axis *x) {
    const Cell *cell = v.kind == QS_CELL ? v.u.p : NULL;
    if (!cell || cell->count != x->nticks)
        return qarg_wrong(vm, fn, "names", "a cell of as many strings as positions", v);
    x->names = calloc(1, qmem_size(x->nticks, sizeof *x->names, sizeof *x->names));
    for (size_t k = 0; x->names && k < x->nticks; k++) {
        const char *s = qs_to_string(cell->items[k], NULL);
        if (!s) return qarg_wrong(vm, fn, "every name", "a string", cell->items[k]);
        x->names[k] = strdup(s);
    }
    return QS_OK;
}

static qs_status ticks(qs_vm *vm, qs_call_args *c, AxisName n) {
    Axes *a = qfigure_axes(vm);
    Axis *x = &a->axis[n];
    Column v = {0};
    TRY(qseries_column(vm, c->name, "positions", c->in[0], &v));
    if (v.n > MOST_TICKS)
        return qcolumn_free(&v), qs_fail(vm, QS_EVALUE, "%s: at most %d positions, got %zu", c->name, MOST_TICKS, v.n);
    for (size_t k = 0; k < x->nticks; k++) free(x->names ? x->names[k] : NULL);
    free(x->ticks), free(x->names);
    x->ticks = v.x, x->nticks = v.n, x->names = NULL;
    if (c->nin > 1) TRY(tick_names(vm, c->name, c->in[1], x));
    return changed(vm, a);
}

qs_status qlabel_xticks(qs_vm *vm, qs_call_args *c) { return ticks(vm, c, AXIS_X); }
qs_status qlabel_yticks(qs_vm *vm, qs_call_args *c) { return ticks(vm, c, AXIS_Y); }

qs_status qlabel_view(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    double azimuth, elevation;
    TRY(qarg_num(vm, c->name, "azimuth", c->in[0], &azimuth));
    TRY(qarg_num(vm, c->name, "elevation", c->in[1], &elevation));
    if (!isfinite(azimuth + elevation)) return qs_fail(vm, QS_EVALUE, "view: angles must be finite");
    a->azimuth = azimuth, a->elevation = elevation;
    return changed(vm, a);
}

/* -- legend -------------------------------------------------------------------------------------------------------- */
static Item *next_named(Item *i) { /* returns the next item from i on that has a legend entry */
    while (i && (i->kind == ITEM_IMAGE || i->kind == ITEM_TEXT || i->kind == ITEM_CONTOUR || i->kind == ITEM_SURFACE))
        i = i->next;
    return i;
}

/* Names the item at *i and moves on to the next one. */
static qs_status name_item(qs_vm *vm, qs_value v, Item **i) {
    const char *s;
    TRY(qarg_string(vm, "legend", "every argument", v, &s, NULL));
    if (!*i) return qs_fail(vm, QS_EVALUE, "legend: nothing is drawn that \"%s\" could name", s);
    qfigure_set(&(*i)->name, s), *i = next_named((*i)->next);
    return QS_OK;
}

/* legend(names … or a cell of names, properties …) */
qs_status qlabel_legend(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    Item *i = next_named(a->items);
    LegendPlace place = a->legend == LEGEND_NONE ? LEGEND_BEST : a->legend;
    Style style = {0};
    int at = 0;
    for (; at < c->nin && !qproperty_known(qs_to_string(c->in[at], NULL), ON_LEGEND); at++) {
        const Cell *names = at == 0 && c->in[0].kind == QS_CELL ? c->in[0].u.p : NULL;
        const char *before = at && c->in[at].kind != QS_STRING ? qs_to_string(c->in[at - 1], NULL) : NULL;
        if (before) return qproperty_unknown(vm, c->name, before, ON_LEGEND);
        if (!names) TRY(name_item(vm, c->in[at], &i));
        for (size_t k = 0; names && k < names->count; k++) TRY(name_item(vm, names->items[k], &i));
    }
    TRY(qproperty_pairs(vm, c, at, ON_LEGEND, &(Properties){.style = &style, .place = &place}));
    a->legend = place, a->letters[TEXT_LEGEND] = style;
    return changed(vm, a);
}

/* -- colours ------------------------------------------------------------------------------------------------------- */
qs_status qlabel_colorbar(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    if (qarg_given(c, 0)) TRY(set_text(vm, c, &a->bar_label, &a->letters[TEXT_BAR], a));
    else qfigure_set(&a->bar_label, NULL);
    a->bar = true;
    return changed(vm, a);
}

qs_status qlabel_colormap(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    const char *s;
    TRY(qarg_string(vm, c->name, "name", c->in[0], &s, NULL));
    const ColourMap *m = qcolour_map(s);
    if (m) return a->map = m, changed(vm, a);
    Text list;
    qtext_init(&list, qvm_ctx(vm));
    qcolour_map_list(&list);
    qs_status status = qs_fail(vm, QS_EVALUE, "colormap: there is no \"%s\"; there are %s", s, list.s);
    qtext_free(&list);
    return status;
}

qs_status qlabel_caxis(qs_vm *vm, qs_call_args *c) {
    Axes *a = qfigure_axes(vm);
    Column v = {0};
    TRY(qseries_column(vm, c->name, "range", c->in[0], &v));
    bool good = v.n == 2 && v.x[0] < v.x[1];
    if (good) a->range[0] = v.x[0], a->range[1] = v.x[1], a->ranged = true;
    qcolumn_free(&v);
    return good ? changed(vm, a) : qs_fail(vm, QS_EVALUE, "caxis: the range of colours is [lo, hi]");
}

/* -- saving and closing -------------------------------------------------------------------------------------------- */
/* saveas(path) or saveas(h, path) */
qs_status qlabel_saveas(qs_vm *vm, qs_call_args *c) {
    Figure *f = qfigure_all(vm)->current;
    Axes *a;
    const char *path;
    if (c->nin > 1) TRY(qhandle_figure(vm, c->name, c->in[0], &f, &a));
    if (!f) return qs_fail(vm, QS_EVALUE, "saveas: there is no figure");
    TRY(qarg_string(vm, c->name, "path", c->in[c->nin - 1], &path, NULL));
    return qfigure_write(vm, c->name, f, path);
}

qs_status qlabel_close(qs_vm *vm, qs_call_args *c) {
    Figures *all = qfigure_all(vm);
    Axes *a;
    bool every = c->nin && qs_to_string(c->in[0], NULL) && !strcmp(qs_to_string(c->in[0], NULL), "all");
    TRY(qfigure_flush(vm));
    Figure *f = all->current;
    if (c->nin && !every) TRY(qhandle_figure(vm, c->name, c->in[0], &f, &a));
    for (Figure *g = all->list, *next; g && every; g = next) {
        next = g->next;
        if (!g->embedded) qfigure_forget(vm, g);
    }
    if (!every && f && !f->embedded) qfigure_forget(vm, f);
    return QS_OK;
}

qs_status qlabel_drawnow(qs_vm *vm, qs_call_args *c) {
    (void)c;
    TRY(qfigure_flush(vm));
    return qwindow_events(vm);
}
