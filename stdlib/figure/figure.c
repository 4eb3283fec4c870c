/* figure.c -- creates, selects and removes figures and axes, and outputs figures.
 *
 *     QUASAR_FIGURES=folder ── PNG files there;  a display ── windows;  neither ── PNG files in figures/, with one note
 *
 * A changed figure is output when the next one begins, at drawnow(), pause() and hold(), and when a program or a call
 * from outside ends, so that a figure made by ten statements is drawn once. */
#include "stdlib/figure/figure.h"
#include "stdlib/figure/window.h"
#include "vm/value/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qfigure_set(char **slot, const char *text) {
    char *copy = text ? strdup(text) : NULL;
    free(*slot);
    *slot = copy;
}

void qcolumn_free(Column *c) {
    free(c->x);
    c->x = NULL;
}

/* -- items and axes ------------------------------------------------------------------------------------------------ */
static void free_item(qs_vm *vm, Axes *a, Item *i) {
    for (int k = 0; k < PARTS; k++) qcolumn_free(&i->part[k]);
    qcanvas_block_done(&a->figure->blocks, i->pixels, i->npixels);
    if (i->image) qarr_release(vm, i->image);
    free(i->name);
    qmem_free(qvm_ctx(vm), i, sizeof *i);
}

Item *qaxes_add(qs_vm *vm, Axes *a, ItemKind kind) {
    Item *i = qmem_alloc(qvm_ctx(vm), sizeof *i), **end = &a->items;
    while (*end) end = &(*end)->next;
    i->kind = kind, i->style = qcolour_plain;
    return *end = i;
}

void qaxes_drop(qs_vm *vm, Axes *a, Item *i) {
    Item **p = &a->items;
    while (*p != i) p = &(*p)->next;
    *p = i->next;
    free_item(vm, a, i);
}

static void reset_axis(Axis *a) {
    free(a->label), free(a->ticks);
    for (size_t i = 0; i < a->nticks; i++) free(a->names ? a->names[i] : NULL);
    free(a->names);
    *a = (Axis){.lo = 0, .hi = 1};
}

void qaxes_clear(qs_vm *vm, Axes *a) {
    while (a->items) {
        Item *i = a->items;
        a->items = i->next;
        free_item(vm, a, i);
    }
    for (int k = 0; k < 3; k++) reset_axis(&a->axis[k]);
    qfigure_set(&a->title, NULL), qfigure_set(&a->bar_label, NULL);
    memset(a->letters, 0, sizeof a->letters);
    a->grid = a->hidden = a->edged = a->equal = a->tight = a->deep = a->bar = a->ranged = a->zoomed = false;
    a->legend = LEGEND_NONE, a->map = qcolour_map("viridis"), a->azimuth = -37.5, a->elevation = 30;
}

Axes *qaxes_new(qs_vm *vm, Figure *f, int rows, int columns, int at) {
    Axes *a = qmem_alloc(qvm_ctx(vm), sizeof *a), **end = &f->axes;
    while (*end) end = &(*end)->next;
    a->figure = f, a->id = ++qfigure_all(vm)->ids;
    a->rows = rows, a->columns = columns, a->at = at;
    qaxes_clear(vm, a);
    return f->current = *end = a;
}

Axes *qaxes_find(qs_vm *vm, int id) {
    for (Figure *f = qfigure_all(vm)->list; f; f = f->next)
        for (Axes *a = f->axes; a; a = a->next)
            if (a->id == id) return a;
    return NULL;
}

/* -- figures ------------------------------------------------------------------------------------------------------- */
Figures *qfigure_all(qs_vm *vm) {
    if (!qlib(vm)->figures) qlib(vm)->figures = qmem_alloc(qvm_ctx(vm), sizeof(Figures));
    return qlib(vm)->figures;
}

Figure *qfigure_find(qs_vm *vm, int number) {
    Figure *f = qfigure_all(vm)->list;
    while (f && (f->number != number || f->embedded)) f = f->next;
    return f;
}

Figure *qfigure_new(qs_vm *vm) {
    Figures *all = qfigure_all(vm);
    Figure *f = qmem_alloc(qvm_ctx(vm), sizeof *f);
    f->next = all->list, all->list = f;
    do f->number = ++all->number;
    while (qfigure_find(vm, f->number) != f);
    return all->current = f;
}

static void free_figure(qs_vm *vm, Figure *f) {
    qwindow_close(vm, f);
    while (f->axes) {
        Axes *a = f->axes;
        f->axes = a->next;
        qaxes_clear(vm, a);
        qmem_free(qvm_ctx(vm), a, sizeof *a);
    }
    qcanvas_blocks_free(&f->blocks);
    free(f->title);
    qmem_free(qvm_ctx(vm), f, sizeof *f);
}

void qfigure_forget(qs_vm *vm, Figure *f) {
    Figures *all = qfigure_all(vm);
    Figure **p = &all->list;
    while (*p != f) p = &(*p)->next;
    *p = f->next;
    if (all->current == f) all->current = NULL;
    for (Figure *g = all->list; g && !all->current; g = g->next)
        if (!g->embedded) all->current = g;
    free_figure(vm, f);
}

void qfigure_close(qs_vm *vm) {
    Figures *all = qlib(vm)->figures;
    if (!all) return;
    qwindow_hurry(vm);
    if (qfigure_flush(vm) != QS_OK) qs_error_clear(vm); /* nothing can report the error any more */
    while (all->list) {
        Figure *f = all->list;
        all->list = f->next;
        free_figure(vm, f);
    }
    free(all->folder);
    qmem_free(qvm_ctx(vm), all, sizeof *all);
    qlib(vm)->figures = NULL;
}

/* -- the current axes ---------------------------------------------------------------------------------------------- */
/* Creates the next figure.  The previous one without a window has been written by then; the one before it is removed,
 * unless the program has selected it. */
static Figure *next_figure(qs_vm *vm) {
    Figures *all = qfigure_all(vm);
    Figure *old = all->current;
    if (old && !old->chosen && !old->window && !old->embedded && old->next && !old->next->window &&
        !old->next->chosen && !old->next->embedded)
        qfigure_forget(vm, old->next); /* handles of the previous figure stay valid */
    return qfigure_new(vm);
}

Axes *qfigure_axes(qs_vm *vm) {
    Figures *all = qfigure_all(vm);
    Figure *f = all->current ? all->current : qfigure_new(vm);
    return f->current ? f->current : qaxes_new(vm, f, 1, 1, 0);
}

Axes *qfigure_begin(qs_vm *vm) {
    Figures *all = qfigure_all(vm);
    Figure *f = all->current;
    bool full = f && f->current && f->current->items;
    if (full && !all->hold && !f->chosen && !f->embedded) {
        qfigure_flush(vm);
        next_figure(vm);
    } else if (full && !all->hold) qaxes_clear(vm, f->current);
    return qfigure_axes(vm);
}

/* -- output -------------------------------------------------------------------------------------------------------- */
static void print_note(qs_vm *vm, const char *fmt, const char *a) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, fmt, a);
    qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

/* Returns the folder for figures; NULL: they are shown in windows. */
static const char *folder(qs_vm *vm) {
    const char *wanted = getenv("QUASAR_FIGURES");
    Figures *all = qfigure_all(vm);
    if (wanted && *wanted) return wanted;
    if (all->folder) return all->folder;
    if (qwindow_possible(vm)) return NULL;
    print_note(vm, "figures are written to the folder %s, because there is no display\n", "figures/");
    qfigure_set(&all->folder, "figures");
    return all->folder;
}

qs_status qfigure_canvas(qs_vm *vm, const char *fn, Figure *f, CanvasKind kind, double scale, Canvas **out) {
    const char *why;
    double width, height;
    const CanvasLib *lib = qcanvas_library(&why);
    if (!lib) return qs_fail(vm, QS_EIO, "%s: %s", fn, why);
    qfigure_size(f, &width, &height);
    *out = qcanvas_new(lib, kind, width, height, scale, &f->blocks);
    if (!*out) return qs_fail(vm, QS_ENOMEM, "%s: no memory for a figure of %g x %g", fn, width, height);
    qdraw_figure(*out, f, width, height);
    why = qcanvas_failure(*out);
    if (!why) return QS_OK;
    qcanvas_free(*out);
    return qs_fail(vm, QS_EVALUE, "%s: figure %d cannot be drawn: %s", fn, f->number, why);
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcasecmp(s + n - m, end);
}

qs_status qfigure_write(qs_vm *vm, const char *fn, Figure *f, const char *path) {
    Canvas *c;
    const char *why;
    size_t n = 0;
    bool png = ends_with(path, ".png"), svg = ends_with(path, ".svg");
    if (!png && !svg && !ends_with(path, ".pdf"))
        return qs_fail(vm, QS_EVALUE, "%s: a figure becomes a .png, .svg or .pdf, got \"%s\"", fn, path);
    TRY(qfigure_canvas(vm, fn, f, png ? CANVAS_PIXELS : svg ? CANVAS_SVG : CANVAS_PDF, qfigure_scale(f), &c));
    char *s = qcanvas_file(c, &n, &why);
    qs_status status = s ? qio_spill(vm, fn, path, s, n) : qs_fail(vm, QS_EIO, "%s: %s: %s", fn, path, why);
    free(s);
    qcanvas_free(c);
    return status;
}

static qs_status write_numbered(qs_vm *vm, Figure *f, const char *where) {
    Text name;
    TRY(qpath_make(vm, "figure", where, strlen(where)));
    qtext_init(&name, qvm_ctx(vm));
    qtext_printf(&name, "%s/figure_%04d.png", where, f->number);
    qs_status s = qfigure_write(vm, "figure", f, name.s);
    qtext_free(&name);
    return s;
}

bool qfigure_has(void) {
    const char *why;
    return qcanvas_library(&why) != NULL;
}

/* Returns whether cairo is available; otherwise prints one note, and the program continues without figures. */
static bool can_draw(qs_vm *vm) {
    const char *why;
    if (qcanvas_library(&why)) return true;
    if (!qfigure_all(vm)->reported) print_note(vm, "no figures: %s\n", why);
    qfigure_all(vm)->reported = true;
    return false;
}

static qs_status output(qs_vm *vm, Figure *f) {
    f->dirty = false;
    if (f->embedded || f->window) return qwindow_show(vm, f);
    if (!can_draw(vm)) return QS_OK;
    const char *where = folder(vm);
    return where ? write_numbered(vm, f, where) : qwindow_show(vm, f);
}

bool qfigure_is_there(qs_vm *vm, const Figure *f) {
    const Figure *x = qfigure_all(vm)->list;
    while (x && x != f) x = x->next;
    return x != NULL;
}

/* Outputs all changed figures.  A window may wait for the time of its next frame, and another thread may close figures
 * meanwhile. */
qs_status qfigure_flush(qs_vm *vm) {
    Figures *all = qlib(vm) ? qlib(vm)->figures : NULL;
    for (Figure *f = all ? all->list : NULL; f;) {
        if (f->dirty) TRY(output(vm, f));
        f = qfigure_is_there(vm, f) ? f->next : all->list;
    }
    return QS_OK;
}

void qfigure_changed(qs_vm *vm, Figure *f) {
    (void)vm;
    f->dirty = f->axes || f->window;
}

/* -- size ---------------------------------------------------------------------------------------------------------- */
enum { PAGE_WIDTH = 480, PAGE_HEIGHT = 360, LEAST_PICTURE = 256, STRIP = 30, BAR_STRIP = 90 };

/* Returns the image of a figure that shows only one, without axes; otherwise NULL. */
static const Item *lone_image(const Figure *f) {
    const Axes *a = f->axes;
    if (!a || a->next || !a->hidden) return NULL;
    for (const Item *i = a->items; i; i = i->next)
        if (i->kind == ITEM_IMAGE) return i;
    return NULL;
}

/* Returns the size of the page.  An image by itself has one pixel of the page per pixel, or several if it is small. */
void qfigure_size(const Figure *f, double *width, double *height) {
    const Item *i = lone_image(f);
    *width = f->width, *height = f->height;
    if (*width > 0 && *height > 0) return;
    *width = PAGE_WIDTH, *height = PAGE_HEIGHT;
    if (!i) return;
    double w = (double)i->image->dims[1 - (i->image->rank == 1)],
           h = i->image->rank > 1 ? (double)i->image->dims[0] : 1;
    double k = fmax(1, floor(LEAST_PICTURE / fmax(w, h)));
    *width = k * w + (f->axes->bar ? BAR_STRIP : 0);
    double edge = f->axes->bar ? BAR_EDGE : 0;
    double letters = fmax(f->axes->title ? f->axes->letters[TEXT_TITLE].size : 0, f->title ? f->letters.size : 0);
    double strip = STRIP * fmax(1, letters / SIZE_TITLE);
    *height = k * h + (f->axes->title || f->title ? strip : edge) + edge;
}

double qfigure_scale(const Figure *f) { return lone_image(f) ? 1 : FIGURE_PIXELS_PER_INCH / 72.0; }
