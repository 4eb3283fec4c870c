/* figure.c -- imshow, plot and what belongs to them, without a display: with QUASAR_FIGURES=folder every figure is kept
 * as folder/figure_0001.png …, drawn anew when something is added; without it the first call says what is missing. */
#include "stdlib/builtins.h"
#include "stdlib/canvas.h"
#include "stdlib/image.h"
#include "vm/base/number.h"
#include "vm/value/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char color, mark; const struct Dash *dash; } Style; /* 0: the next colour, no marks; NULL: no line */
typedef struct Series { double *x, *y; size_t n; Style style; char *name; struct Series *next; } Series;

typedef struct Figures {
    int number;             /* of the current figure; 0: none yet */
    bool hold, told;        /* plots are added; the note has been given */
    char *title;
    Series *series;         /* in order; NULL for an image */
    uint8_t *image; int height, width; /* RGB; NULL for a plot */
} Figures;

/* -- state --------------------------------------------------------------------------------------------------------- */
static Figures *figures(qs_vm *vm) {
    if (!qlib(vm)->figures) qlib(vm)->figures = qmem_alloc(qvm_ctx(vm), sizeof(Figures));
    return qlib(vm)->figures;
}

static void set_text(char **slot, const char *s) {
    free(*slot);
    *slot = s ? strdup(s) : NULL;
}

static void clear(Figures *f) {
    while (f->series) {
        Series *s = f->series;
        f->series = s->next;
        free(s->x), free(s->y), free(s->name), free(s);
    }
    free(f->image), f->image = NULL;
    set_text(&f->title, NULL);
}

void qfigure_close(qs_vm *vm) {
    if (!qlib(vm)->figures) return;
    clear(qlib(vm)->figures);
    qmem_free(qvm_ctx(vm), qlib(vm)->figures, sizeof(Figures));
    qlib(vm)->figures = NULL;
}

/* The folder, or NULL after saying once that nothing will be seen. */
static const char *folder(qs_vm *vm, const char *fn) {
    const char *path = getenv("QUASAR_FIGURES");
    Figures *f = figures(vm);
    if ((path && *path) || f->told) return path && *path ? path : NULL;
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s: there is no display; set QUASAR_FIGURES=folder to get figures as PNG files\n", fn);
    const qs_config *cfg = &qvm(vm)->config;
    qvm_flush(vm);
    if (cfg->write) cfg->write(cfg->ud, 2, t.s, t.len);
    else fwrite(t.s, 1, t.len, stderr);
    qtext_free(&t);
    f->told = true;
    return NULL;
}

/* -- drawing a plot ------------------------------------------------------------------------------------------------ */
enum { PLOT_WIDTH = 800, PLOT_HEIGHT = 600, LEFT = 80, RIGHT = 24, TOP = 48, BOTTOM = 48, SWATCH = 28 };
static const Rgb black = {20, 20, 20}, white = {255, 255, 255}, grid = {224, 224, 224};

static Rgb color_of(Style style, int index) {
    static const Rgb cycle[] = {{0, 114, 189}, {217, 83, 25},  {90, 150, 40}, {126, 47, 142},
                                {200, 150, 0}, {60, 160, 200}, {162, 20, 47}};
    static const struct {
        char letter;
        Rgb color;
    } named[] = {{'r', {214, 39, 40}},  {'g', {44, 140, 44}},  {'b', {31, 80, 200}}, {'k', {20, 20, 20}},
                 {'c', {20, 170, 190}}, {'m', {190, 50, 170}}, {'y', {200, 170, 0}}, {'w', {255, 255, 255}}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (style.color == named[i].letter) return named[i].color;
    return cycle[index % (int)(sizeof cycle / sizeof *cycle)];
}

typedef struct { double lo, hi, step; int size; double at; } Axis; /* values to pixels: at + (v-lo)/(hi-lo)*size */
static double pixel(const Axis *a, double v) { return a->at + (v - a->lo) / (a->hi - a->lo) * a->size; }

/* Ticks at 1, 2 or 5 times a power of ten. */
static void choose_ticks(Axis *a, int wanted) {
    if (!(a->hi >= a->lo)) a->lo = 0, a->hi = 1;
    if (a->hi == a->lo) a->lo -= 0.5, a->hi += 0.5;
    double raw = (a->hi - a->lo) / wanted, power = pow(10, floor(log10(raw)));
    a->step = raw / power < 1.5 ? power : raw / power < 3.5 ? 2 * power : raw / power < 7.5 ? 5 * power : 10 * power;
}

static void limits(const Figures *f, Axis *x, Axis *y) {
    x->lo = y->lo = INFINITY, x->hi = y->hi = -INFINITY;
    for (const Series *s = f->series; s; s = s->next)
        for (size_t i = 0; i < s->n; i++) {
            if (!isfinite(s->x[i]) || !isfinite(s->y[i])) continue;
            x->lo = fmin(x->lo, s->x[i]), x->hi = fmax(x->hi, s->x[i]);
            y->lo = fmin(y->lo, s->y[i]), y->hi = fmax(y->hi, s->y[i]);
        }
    choose_ticks(x, 8), choose_ticks(y, 6);
    y->lo = floor(y->lo / y->step) * y->step, y->hi = ceil(y->hi / y->step) * y->step;
}

static void draw_axes(Canvas *c, const Axis *x, const Axis *y) {
    char text[32];
    for (double v = ceil(x->lo / x->step) * x->step; v <= x->hi + x->step / 1e6; v += x->step) {
        double p = pixel(x, v);
        qcanvas_line(c, p, TOP, p, PLOT_HEIGHT - BOTTOM, 1, grid);
        qnum_print(text, sizeof text, "%.4g", fabs(v) < x->step / 1e6 ? 0 : v);
        qcanvas_text(c, p - qcanvas_text_width(9, text) / 2, PLOT_HEIGHT - BOTTOM + 20, 9, text, black);
    }
    for (double v = y->lo; v <= y->hi + y->step / 1e6; v += y->step) {
        double p = pixel(y, v);
        qcanvas_line(c, LEFT, p, PLOT_WIDTH - RIGHT, p, 1, grid);
        qnum_print(text, sizeof text, "%.4g", fabs(v) < y->step / 1e6 ? 0 : v);
        qcanvas_text(c, LEFT - 8 - qcanvas_text_width(9, text), p + 4, 9, text, black);
    }
    qcanvas_line(c, LEFT, TOP, LEFT, PLOT_HEIGHT - BOTTOM, 1.2, black);
    qcanvas_line(c, LEFT, PLOT_HEIGHT - BOTTOM, PLOT_WIDTH - RIGHT, PLOT_HEIGHT - BOTTOM, 1.2, black);
}

/* -- styles -------------------------------------------------------------------------------------------------------- */
typedef struct Dash { const char *text; double pixels[4]; } Dash; /* on, off, on, off; the first 0: without gaps */
static const Dash dashes[] = {{"--", {9, 6, 9, 6}}, {"-.", {9, 5, 2, 5}}, {"-", {0}}, {":", {2, 5, 2, 5}}};

static const Dash *dash_at(const char *s) {
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++)
        if (strncmp(s, dashes[i].text, strlen(dashes[i].text)) == 0) return &dashes[i];
    return NULL;
}

static bool take_letter(char *slot, const char *letters, char c) {
    if (*slot || !strchr(letters, c)) return false;
    return *slot = c, true;
}

/* A colour, a line and a mark, each at most once and in any order; marks alone have no line. */
static qs_status style_of(qs_vm *vm, const char *text, Style *out) {
    *out = (Style){0};
    for (const char *s = text; *s;) {
        const Dash *d = out->dash ? NULL : dash_at(s);
        if (d) out->dash = d, s += strlen(d->text);
        else if (take_letter(&out->color, "rgbkcmyw", *s) || take_letter(&out->mark, ".o*x+", *s)) s++;
        else
            return qs_fail(vm, QS_EVALUE,
                           "plot: the style \"%s\" may have a colour (r g b k c m y w), a line (- -- -. :) and a mark "
                           "(. o * x +), each once; '%c' is none of them, or another one", text, *s);
    }
    if (!out->dash && !out->mark) out->dash = dash_at("-");
    return QS_OK;
}

/* *at: pixels since the pattern began; it goes on from one piece of the line to the next. */
static void draw_dashed(Canvas *c, const Dash *d, double *at, const double from[2], const double to[2], Rgb color) {
    double length = hypot(to[0] - from[0], to[1] - from[1]), done = 0;
    double period = d->pixels[0] + d->pixels[1] + d->pixels[2] + d->pixels[3];
    if (!(period > 0)) {
        qcanvas_line(c, from[0], from[1], to[0], to[1], 1.8, color);
        return;
    }
    while (done < length) {
        double left = fmod(*at, period);
        int part = 0;
        while (left >= d->pixels[part]) left -= d->pixels[part++];
        double next = fmin(done + d->pixels[part] - left, length), a = done / length, b = next / length;
        if (part % 2 == 0)
            qcanvas_line(c, from[0] + a * (to[0] - from[0]), from[1] + a * (to[1] - from[1]),
                         from[0] + b * (to[0] - from[0]), from[1] + b * (to[1] - from[1]), 1.8, color);
        *at += next - done, done = next;
    }
}

static void draw_mark(Canvas *c, char mark, double x, double y, Rgb color) {
    enum { REACH = 4 };
    double slant = REACH * 0.7;
    bool upright = mark == '+' || mark == '*', crossed = mark == 'x' || mark == '*';
    if (mark == '.') qcanvas_line(c, x, y, x, y, 4, color);
    if (mark == 'o') qcanvas_line(c, x, y, x, y, 2 * REACH, color), qcanvas_line(c, x, y, x, y, REACH, white);
    if (upright) qcanvas_line(c, x - REACH, y, x + REACH, y, 1.4, color);
    if (upright) qcanvas_line(c, x, y - REACH, x, y + REACH, 1.4, color);
    if (crossed) qcanvas_line(c, x - slant, y - slant, x + slant, y + slant, 1.4, color);
    if (crossed) qcanvas_line(c, x - slant, y + slant, x + slant, y - slant, 1.4, color);
}

static void draw_series(Canvas *c, const Series *s, const Axis *x, const Axis *y, Rgb color) {
    double at = 0, last[2] = {NAN, NAN};
    for (size_t i = 0; i < s->n; i++) {
        double now[2] = {pixel(x, s->x[i]), pixel(y, s->y[i])};
        if (s->style.dash && i && isfinite(last[0] + last[1] + now[0] + now[1]))
            draw_dashed(c, s->style.dash, &at, last, now, color);
        memcpy(last, now, sizeof last);
    }
    for (size_t i = 0; s->style.mark && i < s->n; i++)
        draw_mark(c, s->style.mark, pixel(x, s->x[i]), pixel(y, s->y[i]), color);
}

static void draw_legend(Canvas *c, const Figures *f) {
    double widest = 0;
    int rows = 0, k = 0;
    for (const Series *s = f->series; s; s = s->next)
        if (s->name) widest = fmax(widest, qcanvas_text_width(10, s->name)), rows++;
    if (!rows) return;
    int w = (int)widest + SWATCH + 28, x = PLOT_WIDTH - RIGHT - w - 8, y = TOP + 8;
    qcanvas_fill(c, x, y, w, 20 * rows + 8, grid);
    qcanvas_fill(c, x + 1, y + 1, w - 2, 20 * rows + 6, white);
    for (const Series *s = f->series; s; s = s->next, k++) {
        if (!s->name) continue;
        y += 20;
        const double from[] = {x + 10, y - 5}, to[] = {x + 10 + SWATCH, y - 5};
        if (s->style.dash) draw_dashed(c, s->style.dash, &(double){0}, from, to, color_of(s->style, k));
        draw_mark(c, s->style.mark, x + 10 + SWATCH / 2.0, y - 5, color_of(s->style, k));
        qcanvas_text(c, x + 20 + SWATCH, y, 10, s->name, black);
    }
}

static void draw_plot(Canvas *c, const Figures *f) {
    Axis x = {.size = PLOT_WIDTH - LEFT - RIGHT, .at = LEFT},
         y = {.size = -(PLOT_HEIGHT - TOP - BOTTOM), .at = PLOT_HEIGHT - BOTTOM};
    int k = 0;
    limits(f, &x, &y);
    draw_axes(c, &x, &y);
    for (const Series *s = f->series; s; s = s->next) draw_series(c, s, &x, &y, color_of(s->style, k++));
    draw_legend(c, f);
}

/* -- the file ------------------------------------------------------------------------------------------------------ */
static void draw(Canvas *c, const Figures *f) {
    int top = f->image ? c->height - f->height : 0;
    qcanvas_fill(c, 0, 0, c->width, c->height, white);
    if (!f->image) draw_plot(c, f);
    else memcpy(c->rgb + 3 * (size_t)top * (size_t)c->width, f->image, 3 * (size_t)f->height * (size_t)f->width);
    if (f->title) qcanvas_text(c, (c->width - qcanvas_text_width(12, f->title)) / 2, 24, 12, f->title, black);
}

static qs_status redraw(qs_vm *vm, const char *fn) {
    const Figures *f = figures(vm);
    const char *path = folder(vm, fn);
    if (!path || !f->number) return QS_OK;
    TRY(qpath_make(vm, fn, path, strlen(path)));
    Canvas c = {f->image ? f->width : PLOT_WIDTH, f->image ? f->height + (f->title ? 36 : 0) : PLOT_HEIGHT, NULL};
    size_t size = 3 * (size_t)c.width * (size_t)c.height;
    c.rgb = qmem_try(qvm_ctx(vm), size);
    if (!c.rgb) return qs_fail(vm, QS_ENOMEM, "%s: no memory for a picture of %d x %d", fn, c.width, c.height);
    draw(&c, f);
    Text out, name;
    qtext_init(&out, qvm_ctx(vm)), qtext_init(&name, qvm_ctx(vm));
    qtext_printf(&name, "%s/figure_%04d.png", path, f->number);
    Pixels p = {.vm = vm,
                .path = name.s,
                .height = c.height,
                .width = c.width,
                .channels = 3,
                .bits = 8,
                .data = c.rgb,
                .size = size};
    qs_status s = qimage_png_write(&p, 1, &out);
    if (s == QS_OK) s = qio_spill(vm, fn, name.s, out.s, out.len);
    qtext_free(&out), qtext_free(&name);
    qmem_try_free(qvm_ctx(vm), c.rgb, size);
    return s;
}

/* -- images -------------------------------------------------------------------------------------------------------- */
static qs_status range_of(qs_vm *vm, qs_call_args *c, const double *x, size_t n, double *lo, double *hi) {
    *lo = 0, *hi = 255;
    if (!qarg_given(c, 1)) return QS_OK;
    double *r;
    size_t nr;
    TRY(qarr_doubles(vm, c->in[1], "imshow: range", &r, &nr));
    if (nr == 2) *lo = r[0], *hi = r[1];
    qmem_free(qvm_ctx(vm), r, nr * sizeof *r);
    if (nr == 2) return QS_OK;
    if (nr) return qs_fail(vm, QS_EVALUE, "imshow: range must be [lo, hi] or [], got %zu numbers", nr);
    *lo = INFINITY, *hi = -INFINITY;
    for (size_t i = 0; i < n; i++) *lo = fmin(*lo, x[i]), *hi = fmax(*hi, x[i]);
    return QS_OK;
}

static uint8_t level(double v, double lo, double hi) {
    double t = hi > lo ? (v - lo) / (hi - lo) * 255 : 0;
    return t > 0 ? (uint8_t)floor(fmin(t, 255) + 0.5) : 0;
}

static qs_status keep_image(qs_vm *vm, qs_call_args *c, Figures *f) {
    Array *a;
    const void *p;
    double lo, hi;
    TRY(qarg_packed(vm, c, 0, "imshow", "img", QS_F64, &a, &p));
    Shape s;
    qmatrix_shape(a, &s);
    int64_t channels = s.rank > 2 ? s.dims[2] : 1;
    if (s.rank > 3 || (channels != 1 && channels != 3 && channels != 4) || a->count == 0 || s.dims[0] > 1 << 15 ||
        s.dims[1] > 1 << 15)
        return qs_fail(vm, QS_ESHAPE, "imshow: img must be height x width, with 3 channels or one");
    TRY(range_of(vm, c, p, a->count, &lo, &hi));
    const double *x = p;
    clear(f);
    f->height = (int)s.dims[0], f->width = (int)s.dims[1];
    f->image = malloc(3 * (size_t)f->height * (size_t)f->width);
    if (!f->image) return qs_fail(vm, QS_ENOMEM, "imshow: no memory for %d x %d pixels", f->height, f->width);
    for (size_t i = 0; i < (size_t)f->height * (size_t)f->width; i++)
        for (size_t k = 0; k < 3; k++)
            f->image[3 * i + k] = level(x[i * (size_t)channels + (channels == 1 ? 0 : k)], lo, hi);
    f->number++;
    return QS_OK;
}

static qs_status accept(qs_vm *vm, qs_call_args *c) { (void)vm, (void)c; return QS_OK; }
static const qs_native_def connect_def = {
    "connect", accept, 1, 1, 0, "connect(other)\nLinks the zoom of two images in a window."};

/* The handle: `number` of the figure, and connect(), which matters to windows only. */
static qs_status handle(qs_vm *vm, int number, qs_value *out) {
    Object *o;
    TRY(qobj_new(vm, NULL, &o));
    *out = qval_object(QS_OBJECT, o);
    TRY(qobj_set(vm, o, qstr_cname(qvm_ctx(vm), "number"), qs_num(number)));
    qs_value connect = qval_object(QS_FUNCTION, qfn_native(vm, &connect_def));
    qs_status s = qobj_set(vm, o, qstr_cname(qvm_ctx(vm), "connect"), connect);
    qval_release(vm, connect);
    return s;
}

qs_status qfigure_imshow(qs_vm *vm, qs_call_args *c) {
    TRY(keep_image(vm, c, figures(vm)));
    TRY(redraw(vm, "imshow"));
    return handle(vm, figures(vm)->number, &c->out[0]);
}

/* -- plots --------------------------------------------------------------------------------------------------------- */
/* A line: element i of column k of y (a vector is one column), over x or over the places. */
static Series *line_of(const double *x, const double *y, size_t n, size_t columns, size_t k) {
    Series *s = calloc(1, sizeof *s);
    double *xs = malloc((n + 1) * sizeof *xs), *ys = malloc((n + 1) * sizeof *ys);
    if (!s || !xs || !ys) return free(s), free(xs), free(ys), NULL;
    for (size_t i = 0; i < n; i++) xs[i] = x ? x[i] : (double)i, ys[i] = y[i * columns + k];
    return *s = (Series){.x = xs, .y = ys, .n = n}, s;
}

static void append(Figures *f, Series *s) {
    Series **end = &f->series;
    while (*end) end = &(*end)->next;
    *end = s;
}

static qs_status add_lines(qs_vm *vm, Figures *f, const double *x, const double *y, size_t n, size_t columns,
                           Style style) {
    for (size_t k = 0; k < columns; k++) {
        Series *s = line_of(x, y, n, columns, k);
        if (!s) return qs_fail(vm, QS_ENOMEM, "plot: no memory for %zu points", n);
        s->style = style;
        append(f, s);
    }
    return QS_OK;
}

/* Rows and columns of what is drawn: columns are lines. */
static void grid_of(qs_value v, size_t *n, size_t *columns) {
    const Array *a = v.kind == QS_ARRAY ? qval_array(v) : NULL;
    bool matrix = a && a->rank > 1;
    *n = matrix ? (size_t)a->dims[0] : a ? a->count : 1;
    *columns = matrix ? (size_t)a->dims[1] : 1;
}

static qs_status draw_lines(qs_vm *vm, Figures *f, qs_value xs, qs_value ys, Style style) {
    double *x = NULL, *y = NULL;
    size_t nx = 0, ny = 0, n, columns;
    if (ys.kind == QS_ARRAY && qval_array(ys)->rank > 2)
        return qs_fail(vm, QS_ESHAPE, "plot: y must be a vector or a matrix, got %d dimensions", qval_array(ys)->rank);
    grid_of(ys, &n, &columns);
    TRY(qarr_doubles(vm, ys, "plot: y", &y, &ny));
    qs_status s = xs.kind == QS_NIL ? QS_OK : qarr_doubles(vm, xs, "plot: x", &x, &nx);
    if (s == QS_OK && x && nx != n)
        s = qs_fail(vm, QS_ESHAPE, "plot: x and y must have as many numbers, got %zu and %zu", nx, n);
    if (s == QS_OK) {
        if (!f->hold || f->image || !f->number) clear(f), f->number++;
        s = add_lines(vm, f, x, y, n, columns, style);
    }
    qmem_free(qvm_ctx(vm), y, ny * sizeof *y);
    if (x) qmem_free(qvm_ctx(vm), x, nx * sizeof *x);
    return s;
}

/* plot(y), plot(x, y), either with a style. */
qs_status qfigure_plot(qs_vm *vm, qs_call_args *c) {
    const char *text = "";
    Style style;
    int nvalues = c->nin;
    if (c->in[c->nin - 1].kind == QS_STRING) TRY(qarg_string(vm, "plot", "style", c->in[--nvalues], &text, NULL));
    if (nvalues < 1 || nvalues > 2)
        return qs_fail(vm, QS_ETYPE, "plot: wants plot(y), plot(x, y) or plot(x, y, \"style\")");
    TRY(style_of(vm, text, &style));
    Figures *f = figures(vm);
    TRY(draw_lines(vm, f, nvalues > 1 ? c->in[0] : qs_nil(), c->in[nvalues - 1], style));
    TRY(redraw(vm, "plot"));
    return handle(vm, f->number, &c->out[0]);
}

qs_status qfigure_title(qs_vm *vm, qs_call_args *c) {
    const char *s;
    TRY(qarg_string(vm, "title", "text", c->in[0], &s, NULL));
    set_text(&figures(vm)->title, s);
    return redraw(vm, "title");
}

qs_status qfigure_legend(qs_vm *vm, qs_call_args *c) {
    Series *s = figures(vm)->series;
    for (int i = 0; i < c->nin; i++, s = s ? s->next : NULL) {
        const char *name;
        TRY(qarg_string(vm, "legend", "every argument", c->in[i], &name, NULL));
        if (s) set_text(&s->name, name);
    }
    return redraw(vm, "legend");
}

/* Whether the window is still open: never, so that `repeat … until !hold("on")` ends after one round. */
qs_status qfigure_hold(qs_vm *vm, qs_call_args *c) {
    const char *mode = "on";
    if (c->nin) TRY(qarg_string(vm, "hold", "mode", c->in[0], &mode, NULL));
    if (strcmp(mode, "on") && strcmp(mode, "off"))
        return qs_fail(vm, QS_EVALUE, "hold: mode must be \"on\" or \"off\", got \"%s\"", mode);
    figures(vm)->hold = !strcmp(mode, "on");
    c->out[0] = qs_bool(false);
    return QS_OK;
}

/* Nobody can press a key here: pause() does not wait, pause(ms) does. */
qs_status qfigure_pause(qs_vm *vm, qs_call_args *c) { return c->nin ? qtime_sleep(vm, c) : QS_OK; }

qs_status qfigure_sync_framerate(qs_vm *vm, qs_call_args *c) {
    double fps;
    return qarg_num(vm, "sync_framerate", "fps", c->in[0], &fps);
}

qs_status qfigure_form(qs_vm *vm, qs_call_args *c) {
    (void)c;
    return qs_fail(vm, QS_EVALUE, "form: windows need a display, and this build has no window system");
}
