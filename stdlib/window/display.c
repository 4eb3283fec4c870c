/* display.c -- shows figures in windows: drawn at the size of the window, with zoom, pan, cursor and contrast.
 *
 * Zooming changes the limits of axes, so it works for images and plots, and linked axes follow. */
#include "stdlib/window/widget.h"
#include "vm/base/number.h"

#include <math.h>
#include <string.h>

const char qdisplay_script[] =
    "wm withdraw .\n"
    "catch {ttk::style theme use clam}\n"
    "ttk::style configure TProgressbar -background #0072bd\n"
    "font create quasarHeading {*}[font actual TkDefaultFont]\n"
    "font configure quasarHeading -weight bold\n"
    "proc qdisplay {id path {w 480} {h 360}} {\n"
    "  image create $::q_image photo$id\n"
    "  canvas $path -width $w -height $h -highlightthickness 0 -background white -takefocus 1\n"
    "  $path create image 0 0 -anchor nw -image photo$id\n"
    "  bind $path <Destroy> \"image delete photo$id\"\n"
    "  bind $path <Configure> \"quasar size $id %w %h\"\n"
    "  bind $path <Motion> \"quasar move $id %x %y\"\n"
    "  bind $path <Leave> \"quasar leave $id\"\n"
    "  bind $path <ButtonPress-1> \"focus $path; quasar press $id %x %y\"\n"
    "  bind $path <B1-Motion> \"quasar drag $id %x %y\"\n"
    "  bind $path <ButtonRelease-1> \"quasar release $id %x %y\"\n"
    "  bind $path <Double-1> \"quasar home $id\"\n"
    "  bind $path <ButtonPress-3> \"quasar range $id %x %y\"\n"
    "  bind $path <B3-Motion> \"quasar contrast $id %x %y\"\n"
    "  bind $path <Button-4> \"quasar in $id %x %y\"\n"
    "  bind $path <Button-5> \"quasar out $id %x %y\"\n"
    "}\n"
    "proc qstatus {id path} {\n"
    "  set ::q_status($id) {}\n"
    "  ttk::label $path-status -textvariable q_status($id) -anchor w -font TkFixedFont\n"
    "  pack $path-status -side bottom -fill x\n"
    "  pack $path -fill both -expand 1\n"
    "  focus $path\n"
    "}\n"
    "proc qmenu {id path} {\n"
    "  set top [join [lrange [split $path .] 0 1] .]\n"
    "  set parts [split $::q_text($id) /]\n"
    "  if {![winfo exists $top.menu]} {menu $top.menu -tearoff 0; $top configure -menu $top.menu}\n"
    "  if {[llength $parts] == 1} {$top.menu add command -label [lindex $parts 0] -command \"quasar click $id\"; "
    "return}\n"
    "  set name [lindex $parts 0]\n"
    "  if {![info exists ::q_menu($top,$name)]} {\n"
    "    set ::q_menu($top,$name) $top.menu.m$id\n"
    "    menu $top.menu.m$id -tearoff 0\n"
    "    $top.menu add cascade -label $name -menu $top.menu.m$id\n"
    "  }\n"
    "  $::q_menu($top,$name) add command -label [join [lrange $parts 1 end] /] -command \"quasar click $id\"\n"
    "}\n"
    "proc qfit {path width} {\n"
    "  if {![winfo exists $path]} return\n"
    "  set height [winfo reqheight $path]\n"
    "  wm geometry $path ${width}x[expr {$height > 1 ? $height : 300}]\n"
    "}\n"
    "proc qtick {id ms} {\n"
    "  if {![info exists ::q_text($id)]} return\n"
    "  quasar tick $id\n"
    "  after $ms [list qtick $id $ms]\n"
    "}\n";

enum { DOTS_PER_INCH = 96 };
static const double zoom_step = 1.25;

/* -- drawing ------------------------------------------------------------------------------------------------------- */
static double scale_of(const Figure *f) { return qfigure_scale(f) > 1 ? DOTS_PER_INCH / 72.0 : 1; }

qs_status qdisplay_draw(qs_vm *vm, Window *w) {
    Figure *f = w->figure;
    Canvas *c;
    int width, height;
    double scale = scale_of(f), before[2] = {f->width, f->height};
    f->width = w->width / scale, f->height = w->height / scale;
    qs_status s = qfigure_canvas(vm, "figure", f, CANVAS_PIXELS, scale, &c);
    f->width = before[0], f->height = before[1];
    TRY(s);
    uint32_t *pixels = qcanvas_take(c, &width, &height);
    size_t n;
    pixels = qtk_show(qwindow_all(vm)->tk, w->id, pixels, width, height, &n);
    qcanvas_block_done(&f->blocks, pixels, n);
    return QS_OK;
}

/* -- positions ----------------------------------------------------------------------------------------------------- */
typedef struct {
    Axes *a;
    double x, y;
} Spot; /* position in the data; a NULL: outside all axes */

static double value_at(const Axis *a, double t) {
    if (a->flipped) t = 1 - t;
    return a->log ? pow(10, log10(a->lo) + t * (log10(a->hi) - log10(a->lo))) : a->lo + t * (a->hi - a->lo);
}

static Spot spot(const Window *w, double px, double py) {
    double scale = scale_of(w->figure), x = px / scale, y = py / scale;
    for (Axes *a = w->figure->axes; a; a = a->next) {
        const double *b = a->box;
        if (x < b[0] || y < b[1] || x > b[0] + b[2] || y > b[1] + b[3]) continue;
        return (Spot){a, value_at(&a->axis[0], (x - b[0]) / b[2]), value_at(&a->axis[1], 1 - (y - b[1]) / b[3])};
    }
    return (Spot){NULL, 0, 0};
}

/* -- limits -------------------------------------------------------------------------------------------------------- */
static void save_limits(Axes *a) {
    if (a->zoomed) return;
    for (int k = 0; k < 2; k++) a->home[2 * k] = a->axis[k].lo, a->home[2 * k + 1] = a->axis[k].hi;
    a->zoomed = true;
}

static void set_limits(qs_vm *vm, Axes *a, const double v[4]) {
    save_limits(a);
    for (int k = 0; k < 2; k++) a->axis[k].lo = v[2 * k], a->axis[k].hi = v[2 * k + 1], a->axis[k].fixed = true;
    qfigure_changed(vm, a->figure);
}

static void go_home(qs_vm *vm, Axes *a) {
    if (!a->zoomed) return;
    set_limits(vm, a, a->home);
    a->zoomed = false;
    for (int k = 0; k < 2; k++) a->axis[k].fixed = false;
}

/* Applies f to a and all axes that are linked with it. */
static void each_linked(qs_vm *vm, Axes *a, void (*f)(qs_vm *, Axes *, const double *), const double *v) {
    for (Figure *g = qfigure_all(vm)->list; g; g = g->next)
        for (Axes *b = g->axes; b; b = b->next)
            if (b == a || (a->link && b->link == a->link)) f(vm, b, v);
}

static void home_of(qs_vm *vm, Axes *a, const double *v) { (void)v, go_home(vm, a); }

static double stretched(const Axis *a, double edge, double around, double k) {
    return a->log ? around * pow(edge / around, k) : around + (edge - around) * k;
}

static void zoom(qs_vm *vm, const Spot *s, double k) {
    const Axis *x = &s->a->axis[0], *y = &s->a->axis[1];
    const double v[4] = {stretched(x, x->lo, s->x, k), stretched(x, x->hi, s->x, k), stretched(y, y->lo, s->y, k),
                         stretched(y, y->hi, s->y, k)};
    if (fabs(v[1] - v[0]) > 1e-9 * fabs(s->x) && isfinite(v[1] - v[0] + v[3] - v[2]))
        each_linked(vm, s->a, set_limits, v);
}

static void pan(qs_vm *vm, Window *w, const TkEvent *e) {
    Spot s = spot(w, w->press[0], w->press[1]);
    if (!s.a || s.a->axis[0].log || s.a->axis[1].log) return;
    double v[4];
    for (int k = 0; k < 2; k++) {
        const Axis *a = &s.a->axis[k];
        double moved = (k ? e->b - w->press[1] : e->a - w->press[0]) / scale_of(w->figure) / s.a->box[2 + k];
        double d = moved * (w->start[2 * k + 1] - w->start[2 * k]) * (k ? 1 : -1) * (a->flipped ? -1 : 1);
        v[2 * k] = w->start[2 * k] + d, v[2 * k + 1] = w->start[2 * k + 1] + d;
    }
    each_linked(vm, s.a, set_limits, v);
}

/* Changes contrast by vertical and brightness by horizontal mouse movement. */
static void contrast(qs_vm *vm, Window *w, const TkEvent *e) {
    Spot s = spot(w, w->press[0], w->press[1]);
    if (!s.a || !(w->start[3] > w->start[2])) return;
    double span = w->start[3] - w->start[2], middle = (w->start[2] + w->start[3]) / 2;
    span *= pow(2, (e->b - w->press[1]) / 100), middle -= span * (e->a - w->press[0]) / 300;
    s.a->range[0] = middle - span / 2, s.a->range[1] = middle + span / 2, s.a->ranged = true;
    qfigure_changed(vm, s.a->figure);
}

static void begin_drag(Window *w, const TkEvent *e, bool range) {
    Spot s = spot(w, e->a, e->b);
    w->press[0] = e->a, w->press[1] = e->b;
    if (!s.a) return;
    for (int k = 0; k < 2; k++) w->start[2 * k] = s.a->axis[k].lo, w->start[2 * k + 1] = s.a->axis[k].hi;
    if (range) w->start[2] = s.a->range[0], w->start[3] = s.a->range[1];
}

/* -- the value under the mouse ------------------------------------------------------------------------------------- */
static double element_at(const Item *i, size_t k) {
    switch (i->image->dtype) {
    case QS_U8: return ((const uint8_t *)i->elements)[k];
    case QS_U16: return ((const uint16_t *)i->elements)[k];
    case QS_F32: return (double)((const float *)i->elements)[k];
    default: return ((const double *)i->elements)[k];
    }
}

static void pixel_text(const Item *i, const Spot *s, char *out, size_t room) {
    int64_t h = i->image->rank > 1 ? i->image->dims[0] : 1, w = i->image->dims[i->image->rank > 1];
    int64_t n = i->image->rank > 2 ? i->image->dims[2] : 1;
    double y = qpaint_pixel(i, AXIS_Y, s->y), x = qpaint_pixel(i, AXIS_X, s->x);
    if (!(y >= 0 && x >= 0 && y < (double)h && x < (double)w)) return;
    int64_t r = (int64_t)y, c = (int64_t)x;
    /* Coordinates that are numbers of pixels are not repeated. */
    const double *xs = i->part[PART_X].x, *ys = i->part[PART_Y].x;
    bool plain = xs[0] == 0 && ys[0] == 0 && xs[1] == (double)w - 1 && ys[1] == (double)h - 1;
    size_t used = plain ? 0 : strlen(out);
    used += (size_t)qnum_print(out + used, room - used, "%s[%ld, %ld]  ", used ? "  " : "", (long)r, (long)c);
    for (int64_t k = 0; k < n && used < room; k++)
        used += (size_t)qnum_print(out + used, room - used, k ? ", %.6g" : "%.6g",
                                   element_at(i, (size_t)((r * w + c) * n + k)));
}

static void report_position(qs_vm *vm, Window *w, const TkEvent *e) {
    Spot s = spot(w, e->a, e->b);
    char text[160] = "";
    const Item *i = s.a ? s.a->items : NULL;
    if (s.a && !s.a->deep) qnum_print(text, sizeof text, "x %.5g  y %.5g", s.x, s.y);
    if (i && i->kind == ITEM_IMAGE) pixel_text(i, &s, text, sizeof text);
    qtk_set(qwindow_all(vm)->tk, "q_status", w->id, text);
}

/* -- events -------------------------------------------------------------------------------------------------------- */
static qs_status notify_program(qs_vm *vm, Window *w, const TkEvent *e) {
    Spot s = w->figure ? spot(w, e->a, e->b) : (Spot){0};
    qs_value args[3] = {qs_num(s.a ? s.x : NAN), qs_num(s.a ? s.y : NAN), qs_nil()};
    if (!w->on[ON_MOUSE]) return QS_OK;
    TRY(qs_string(vm, e->what, strlen(e->what), &args[2]));
    qs_status status = qwidget_fire(vm, w, ON_MOUSE, 3, args);
    qs_release(vm, args[2]);
    return status;
}

static qs_status resize(qs_vm *vm, Window *w, const TkEvent *e) {
    if (w->width == e->a && w->height == e->b) return QS_OK;
    w->width = fmax(e->a, 1), w->height = fmax(e->b, 1);
    if (w->figure) w->figure->dirty = true;
    return qfigure_flush(vm);
}

qs_status qdisplay_event(qs_vm *vm, Window *w, const TkEvent *e, bool *mine) {
    const char *what = e->what;
    *mine = strcmp(what, "key") != 0;
    if (!w->figure) return QS_OK;
    if (!strcmp(what, "size")) return resize(vm, w, e);
    Spot s = spot(w, e->a, e->b);
    if (!strcmp(what, "in") && s.a && !s.a->deep) zoom(vm, &s, 1 / zoom_step);
    if (!strcmp(what, "out") && s.a && !s.a->deep) zoom(vm, &s, zoom_step);
    if (!strcmp(what, "home"))
        for (Axes *a = w->figure->axes; a; a = a->next) each_linked(vm, a, home_of, NULL);
    if (!strcmp(what, "press")) begin_drag(w, e, false);
    if (!strcmp(what, "range")) begin_drag(w, e, true);
    if (!strcmp(what, "drag") && !w->on[ON_MOUSE]) pan(vm, w, e);
    if (!strcmp(what, "contrast")) contrast(vm, w, e);
    if (!strcmp(what, "move")) report_position(vm, w, e);
    TRY(notify_program(vm, w, e));
    return qfigure_flush(vm);
}
