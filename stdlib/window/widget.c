/* widget.c -- implements forms and widgets as values of the language: f = form("…"); s = f.add_slider("x", 1, 0, 10);
 * s.value, s.onchange.add(() -> …).
 *
 * When the user or the program changes a value, the handlers in onchange are called. */
#include "stdlib/window/widget.h"
#include "lang/syntax/ast.h"
#include "stdlib/builtins.h"
#include "stdlib/image.h"
#include "vm/base/number.h"
#include "vm/value/machine.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    qs_vm *vm;
    int id;
    OnEvent on;
    char name[24];
} Ref;                       /* name: of a bound method */
enum { MOST_HANDLERS = 64 }; /* maximum handlers of an event */
static const qs_foreign_type form_type, widget_type, event_type, method_type;

typedef enum { NONE, ICON, NUMBER, TRUTH, WORDS } Holding;
static const struct {
    const char *method;
    int least, most;
    Holding field;
    int at;
    const char *script, *doc;
} kinds[] = {
#define WIDGET(id, method, least, most, field, at, script, doc) {method, least, most, field, at, script, doc},
#include "stdlib/window/widgets.def"
#undef WIDGET
};

static Holding field_of(const Window *w) { return w->kind < WIDGET_FORM ? kinds[w->kind].field : NONE; }
static bool has_value(const Window *w) { return field_of(w) >= NUMBER; }

/* Returns the name of a widget type in messages: its method without add_. */
static const char *noun(const Window *w) {
    return w->kind < WIDGET_FORM ? strchr(kinds[w->kind].method, '_') + 1 : "form";
}

/* Returns the type of widget that a method of a form adds; WIDGET_FORM: none. */
static WidgetKind kind_added(const char *method) {
    int k = 0;
    while (k < WIDGET_FORM && strcmp(method, kinds[k].method) != 0) k++;
    return (WidgetKind)k;
}

/* -- the list of widgets ------------------------------------------------------------------------------------------- */
Window *qwidget_find(qs_vm *vm, int id) {
    Window *w = qwindow_all(vm)->list;
    while (w && w->id != id) w = w->next;
    return w;
}

Window *qwidget_new(qs_vm *vm, WidgetKind kind, Window *form) {
    Windows *all = qwindow_all(vm);
    Window *w = qmem_alloc(qvm_ctx(vm), sizeof *w);
    w->kind = kind, w->id = ++all->ids, w->form = form ? form : w, w->open = true;
    snprintf(w->path, sizeof w->path, form ? "%s.w%d" : "%.0s.w%d", form ? form->path : "", w->id);
    w->next = all->list, all->list = w;
    return w;
}

static void forget_handlers(qs_vm *vm, Window *w) {
    for (int on = 0; on < ON_EVENTS; on++)
        while (w->on[on]) {
            WidgetHandler *h = w->on[on];
            w->on[on] = h->next;
            qs_release(vm, h->fn);
            qmem_free(qvm_ctx(vm), h, sizeof *h);
        }
}

void qwidget_free(qs_vm *vm, Window *w) {
    forget_handlers(vm, w);
    for (char **c = w->choices; c && *c; c++) free(*c);
    free(w->choices), free(w->text), free(w->value);
    qmem_free(qvm_ctx(vm), w, sizeof *w);
}

void qwidget_gone(qs_vm *vm, Window *form) {
    for (Window *w = qwindow_all(vm)->list; w; w = w->next) {
        if (w->form != form) continue;
        w->open = false;
        forget_handlers(vm, w);
        if (w->figure && !w->figure->embedded) w->figure->window = NULL, w->figure->dismissed = true, w->figure = NULL;
    }
}

static qs_status run_script(qs_vm *vm, const Window *w, const char *script) {
    Windows *all = qwindow_all(vm);
    return all->tk && w->form->open ? qtk_run(vm, all->tk, w->id, w->path, script, NULL, 0) : QS_OK;
}

static void set_variable(qs_vm *vm, const Window *w, const char *array, const char *text) {
    if (qwindow_all(vm)->tk) qtk_set(qwindow_all(vm)->tk, array, w->id, text);
}

/* -- forms --------------------------------------------------------------------------------------------------------- */
qs_status qwidget_show_window(qs_vm *vm, Window *form, const char *title, double width, double height) {
    char size[64] = "";
    qfigure_set(&form->text, title);
    set_variable(vm, form, "q_text", title);
    TRY(run_script(vm, form,
                   "toplevel %p -class Quasar\n"
                   "wm title %p $q_text(%i)\n"
                   "%p configure -background [ttk::style lookup TFrame -background]\n"
                   "wm protocol %p WM_DELETE_WINDOW {quasar close %i}\n"
                   "bind %p <KeyPress> {quasar key %i 0 0 %K}\n"
                   "bind %p <Configure> {if {{%W} eq {%p}} {quasar size %i %w %h}}"));
    if (width > 0) qnum_print(size, sizeof size, "wm geometry %%p %dx%d", (int)width, (int)height);
    return *size ? run_script(vm, form, size) : QS_OK;
}

static qs_status new_ref(qs_vm *vm, const Window *w, OnEvent on, const qs_foreign_type *t, qs_value *out) {
    Ref *r = qmem_alloc(qvm_ctx(vm), sizeof *r);
    *r = (Ref){.vm = vm, .id = w->id, .on = on};
    return qs_foreign(vm, t, r, out);
}

qs_status qwidget_form(qs_vm *vm, qs_call_args *c) {
    const char *title = "Quasar";
    if (qarg_given(c, 0)) TRY(qarg_string(vm, c->name, "title", c->in[0], &title, NULL));
    TRY(qwindow_open(vm, c->name));
    Window *w = qwidget_new(vm, WIDGET_FORM, NULL);
    TRY(qwidget_show_window(vm, w, title, 0, 0));
    return new_ref(vm, w, ON_CLICK, &form_type, &c->out[0]);
}

static bool is_closed(qs_vm *vm, void *w) { return (void)vm, !((Window *)w)->open; }

static qs_status close_form(qs_vm *vm, Window *w) {
    if (!w->open) return QS_OK;
    TRY(run_script(vm, w, "destroy %p"));
    qwidget_gone(vm, w);
    return QS_OK;
}

typedef struct {
    Window *w;
    char path[512];
    bool done;
} Choice;

static bool has_chosen(qs_vm *vm, void *ud) {
    Choice *c = ud;
    (void)vm;
    c->done = c->w->value != NULL;
    return c->done || !c->w->open;
}

/* Tk shows the dialog while the program waits; the choice arrives as an event.  Closing the form closes its dialog. */
static qs_status choose_file(qs_vm *vm, Window *w, const char *dialog, qs_value *out) {
    Choice c = {.w = w};
    char script[240];
    free(w->value), w->value = NULL;
    snprintf(script, sizeof script,
             "after idle {set q_failed [catch {%s -parent %%p} q_file]\n"
             "if {[winfo exists %%p]} {if {$q_failed} {error $q_file} else {quasar file %%i 0 0 $q_file}}}",
             dialog);
    TRY(run_script(vm, w, script));
    TRY(qwindow_wait(vm, INFINITY, has_chosen, &c));
    return qs_string(vm, w->value ? w->value : "", w->value ? strlen(w->value) : 0, out);
}

/* -- values -------------------------------------------------------------------------------------------------------- */
static qs_status get_value(qs_vm *vm, const Window *w, qs_value *out) {
    if (field_of(w) == WORDS) return qs_string(vm, w->value ? w->value : "", w->value ? strlen(w->value) : 0, out);
    *out = field_of(w) == TRUTH ? qs_bool(w->number != 0) : qs_num(w->number);
    return QS_OK;
}

/* Stores the value; returns whether it has changed. */
static bool keep_value(qs_vm *vm, Window *w, const char *text) {
    bool is_text = field_of(w) == WORDS;
    double x = is_text ? 0 : qnum_read(text, NULL);
    bool same = is_text ? w->value && !strcmp(w->value, text) : x == w->number;
    char shown[32];
    if (is_text) qfigure_set(&w->value, text);
    w->number = x;
    qnum_print(shown, sizeof shown, fabs(x) >= 1e4 && fabs(x) < 1e9 ? "%.0f" : "%.4g", x);
    if (w->kind == WIDGET_SLIDER) set_variable(vm, w, "q_shown", shown);
    return !same;
}

/* Checks that the value is one of the choices of a combo box. */
static qs_status chosen_one(qs_vm *vm, const Window *w, const char *fn, const char *value) {
    Nearest near = {.wanted = value};
    for (char **c = w->choices; *c; c++) {
        if (!strcmp(*c, value)) return QS_OK;
        qstr_offer(&near, *c);
    }
    return qs_fail(vm, QS_EVALUE, "%s: value must be one of the choices, got \"%s\"; %s \"%s\"%s", fn, value,
                   near.best ? "did you mean" : "the first is", near.best ? near.best : w->choices[0],
                   near.best ? "?" : "");
}

/* Converts and checks a value.  fn: function named in errors, add_slider or later slider. */
static qs_status value_text(qs_vm *vm, const Window *w, const char *fn, qs_value v, char room[40], const char **out) {
    double x;
    if (field_of(w) == WORDS) {
        TRY(qarg_string(vm, fn, "value", v, out, NULL));
        return w->kind == WIDGET_COMBO ? chosen_one(vm, w, fn, *out) : QS_OK;
    }
    TRY(qarg_num(vm, fn, "value", v, &x));
    if (isnan(x)) return qs_fail(vm, QS_EVALUE, "%s: value must be a number, got nan", fn);
    if (w->kind == WIDGET_SLIDER) x = fmin(fmax(x, w->lo), w->hi);
    if (w->kind == WIDGET_PROGRESS) x = fmin(fmax(x, 0), 1);
    qnum_print(room, 40, "%.17g", field_of(w) == TRUTH ? x != 0 : x);
    return *out = room, QS_OK;
}

static qs_status set_value(qs_vm *vm, Window *w, qs_value v, bool fires) {
    char room[40];
    const char *s;
    TRY(value_text(vm, w, fires ? noun(w) : kinds[w->kind].method, v, room, &s));
    bool other = keep_value(vm, w, s);
    if (other || !fires) set_variable(vm, w, "q_value", s);
    return other && fires ? qwidget_fire(vm, w, ON_CHANGE, 0, NULL) : QS_OK;
}

/* -- progress bars, for progress.c --------------------------------------------------------------------------------- */
int qwidget_is_bar(qs_vm *vm, qs_value v) {
    const Ref *r = qs_foreign_ptr(v, &widget_type);
    const Window *w = r ? qwidget_find(vm, r->id) : NULL;
    return w && w->kind == WIDGET_PROGRESS ? w->id : 0;
}

void qwidget_move_bar(Tk *tk, int id, double part, const char *text) {
    char room[40];
    qnum_print(room, sizeof room, "%.4f", part);
    if (part >= 0) qtk_set(tk, "q_value", id, room);
    qtk_set(tk, "q_text", id, text);
}

qs_status qwidget_set_bar(qs_vm *vm, int id, double part, const char *text) {
    Window *w = qwidget_find(vm, id);
    qfigure_set(&w->text, text);
    TRY(set_value(vm, w, qs_num(part), true));
    return qwidget_move_bar(qwindow_all(vm)->tk, id, part, text), QS_OK; /* a built-in may have moved the visible bar */
}

/* -- adding widgets ------------------------------------------------------------------------------------------------ */
/* Appends an item of a Tcl list; escapes all characters but letters and digits. */
static void put_item(Text *list, const char *s) {
    if (!*s) qtext_puts(list, "{}");
    for (; *s; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s & 0x80;
        if (!plain) qtext_putc(list, '\\');
        qtext_putc(list, *s == '\n' ? 'n' : *s);
    }
    qtext_putc(list, ' ');
}

static qs_status set_choices(qs_vm *vm, Window *w, qs_value v) {
    const Cell *cell = v.kind == QS_CELL ? v.u.p : NULL;
    Text list;
    if (!cell) return qarg_wrong(vm, "add_combo", "choices", "a cell of strings", v);
    if (!cell->count) return qs_fail(vm, QS_EVALUE, "add_combo: choices is a cell without elements");
    w->choices = calloc(1, qmem_size(cell->count, sizeof *w->choices, sizeof *w->choices));
    if (!w->choices) return qs_fail(vm, QS_ENOMEM, "add_combo: no memory for the choices");
    qtext_init(&list, qvm_ctx(vm));
    for (size_t i = 0; i < cell->count; i++) {
        const char *s = qs_to_string(cell->items[i], NULL);
        if (!s) return qtext_free(&list), qarg_wrong(vm, "add_combo", "each choice", "a string", cell->items[i]);
        qfigure_set(&w->choices[i], s);
        put_item(&list, s);
    }
    qfigure_set(&w->value, w->choices[0]);
    set_variable(vm, w, "q_items", list.s);
    qtext_free(&list);
    set_variable(vm, w, "q_value", w->value);
    return QS_OK;
}

static qs_status set_range(qs_vm *vm, Window *w, const qs_call_args *c) {
    double *const slots[] = {&w->lo, &w->hi};
    static const char *const names[] = {"from", "to"}, *const arrays[] = {"q_lo", "q_hi"};
    for (int k = 0; k < 2; k++) {
        char text[40];
        TRY(qarg_num(vm, "add_slider", names[k], c->in[2 + k], slots[k]));
        qnum_print(text, sizeof text, "%.17g", *slots[k]);
        set_variable(vm, w, arrays[k], text);
    }
    if (w->lo <= w->hi && isfinite(w->hi - w->lo)) return QS_OK;
    return qs_fail(vm, QS_EVALUE, "add_slider: from and to must be finite, and from at most to, got %g and %g", w->lo,
                   w->hi);
}

static qs_status prepare_widget(qs_vm *vm, Window *w, const qs_call_args *c) {
    const char *s = "";
    double ms;
    if (w->kind == WIDGET_TIMER) {
        TRY(qarg_num(vm, "add_timer", "ms", c->in[0], &ms));
        if (!(ms >= 1 && ms <= INT_MAX))
            return qs_fail(vm, QS_EVALUE, "add_timer: ms must be 1 to %d, got %g", INT_MAX, ms);
        char text[32];
        qnum_print(text, sizeof text, "%.0f", ms);
        return set_variable(vm, w, "q_text", text), QS_OK;
    }
    if (c->nin) TRY(qarg_string(vm, kinds[w->kind].method, "text", c->in[0], &s, NULL));
    qfigure_set(&w->text, s);
    set_variable(vm, w, "q_text", s);
    if (w->kind == WIDGET_SLIDER) TRY(set_range(vm, w, c));
    if (w->kind == WIDGET_COMBO) TRY(set_choices(vm, w, c->in[1]));
    int at = kinds[w->kind].at;
    if (has_value(w) && at < c->nin) return set_value(vm, w, c->in[at], false);
    if (has_value(w) && !w->value) set_variable(vm, w, "q_value", field_of(w) == WORDS ? "" : "0");
    return QS_OK;
}

/* If only the width of a form is set, adapts its height to the contents. */
static qs_status fit_form(qs_vm *vm, Window *form) {
    char script[80];
    if (!form->asked) return QS_OK;
    qnum_print(script, sizeof script, "update idletasks\nqfit %%p %d\nupdate idletasks", (int)form->asked);
    return run_script(vm, form, script);
}

static qs_status add_widget(qs_vm *vm, Window *form, WidgetKind kind, qs_call_args *c) {
    if (c->nin < kinds[kind].least || c->nin > kinds[kind].most)
        return qs_fail(vm, QS_ETYPE, "%s: %d argument%s not taken; %s", kinds[kind].method, c->nin,
                       c->nin == 1 ? " is" : "s are", kinds[kind].doc);
    Window *w = qwidget_new(vm, kind, form);
    w->open = form->open;
    TRY(prepare_widget(vm, w, c));
    if (kind == WIDGET_DISPLAY) {
        Figure *before = qfigure_all(vm)->current;
        w->figure = qfigure_new(vm);
        qfigure_all(vm)->number--;
        w->figure->embedded = true, w->figure->window = w, w->width = 480, w->height = 360;
        qfigure_all(vm)->current = before;
    }
    TRY(run_script(vm, w, kinds[kind].script));
    TRY(fit_form(vm, form));
    return new_ref(vm, w, ON_CLICK, &widget_type, &c->out[0]);
}

/* -- icons --------------------------------------------------------------------------------------------------------- */
static qs_status set_icon(qs_vm *vm, Window *w, qs_value v) {
    Array *a, *packed;
    const void *p;
    if (v.kind != QS_ARRAY) return qarg_wrong(vm, noun(w), "icon", "an image", v);
    TRY(qarr_from_value(vm, v, QS_F64, &a));
    int64_t channels = a->rank > 2 ? a->dims[2] : 1;
    bool good =
        a->rank >= 2 && a->rank <= 3 && a->dims[0] <= 512 && a->dims[1] <= 512 && (channels == 1 || channels >= 3);
    uint32_t *pixels =
        good ? malloc(qmem_size((size_t)a->dims[0], qmem_size((size_t)a->dims[1], sizeof *pixels, 0), 0)) : NULL;
    qs_status s =
        pixels ? qarr_contiguous(vm, a, &packed) : qs_fail(vm, QS_ESHAPE, "icon: wants an image of at most 512x512");
    if (s == QS_OK) {
        s = qarr_read(vm, packed, &p);
        const double *x = p;
        size_t n = a->count / (size_t)channels;
        if (s == QS_OK) s = qimage_check_white(vm, noun(w), "the icon", QS_F64, x, a->count, 255, "");
        for (size_t k = 0; s == QS_OK && k < n; k++, x += channels) {
            Colour c = {x[0] / 255, x[channels > 1] / 255, x[channels > 1 ? 2 : 0] / 255};
            pixels[k] = qpaint_rgb((Colour){fmin(fmax(c.r, 0), 1), fmin(fmax(c.g, 0), 1), fmin(fmax(c.b, 0), 1)});
        }
        if (s == QS_OK)
            s = run_script(vm, w, "image create $q_image photo%i; %p configure -image photo%i -compound left");
        if (s == QS_OK && w->form->open)
            pixels = qtk_show(qwindow_all(vm)->tk, w->id, pixels, (int)a->dims[1], (int)a->dims[0], &n);
        qarr_release(vm, packed);
    }
    free(pixels);
    qarr_release(vm, a);
    return s;
}

/* -- events -------------------------------------------------------------------------------------------------------- */
static int taken(qs_value fn, int n) { /* number of the n arguments that a function takes */
    const Function *f = fn.kind == QS_FUNCTION ? fn.u.p : NULL;
    return f && f->fkind == FN_SCRIPT && f->ast->nparams < n ? f->ast->nparams : n;
}

qs_status qwidget_fire(qs_vm *vm, Window *w, OnEvent on, int n, const qs_value *args) {
    qs_value fns[MOST_HANDLERS];
    int count = 0;
    qs_status s = QS_OK;
    for (WidgetHandler *h = w->on[on]; h; h = h->next) fns[count++] = qs_retain(h->fn);
    for (int k = 0; k < count; k++) { /* one of the handlers may close the form */
        qs_value out = qs_nil();
        if (s == QS_OK) s = qvm_call(vm, fns[k], taken(fns[k], n), args, -1, &out);
        qs_release(vm, out);
        qs_release(vm, fns[k]);
    }
    return s;
}

qs_status qwidget_event(qs_vm *vm, const TkEvent *e) {
    Window *w = qwidget_find(vm, e->id);
    if (!w || !w->form->open) return QS_OK;
    if (!strcmp(e->what, "click")) return qwidget_fire(vm, w, ON_CLICK, 0, NULL);
    if (!strcmp(e->what, "tick")) return qwidget_fire(vm, w, ON_TICK, 0, NULL);
    if (!strcmp(e->what, "close")) return close_form(vm, w);
    if (!strcmp(e->what, "file")) return qfigure_set(&w->value, e->text), QS_OK;
    if (!strcmp(e->what, "size")) return w->width = e->a, w->height = e->b, QS_OK;
    if (!strcmp(e->what, "change")) return keep_value(vm, w, e->text) ? qwidget_fire(vm, w, ON_CHANGE, 0, NULL) : QS_OK;
    if (strcmp(e->what, "key") != 0) return QS_OK;
    qs_value key;
    TRY(qs_string(vm, e->text, strlen(e->text), &key));
    qs_status s = qwidget_fire(vm, w, ON_KEY, 1, &key);
    qs_release(vm, key);
    return s;
}

static qs_status event_method(qs_vm *vm, void *p, qs_value key, qs_call_args *c, bool *found) {
    const Ref *r = p;
    Window *w = qwidget_find(vm, r->id);
    *found = !strcmp(qs_to_string(key, NULL), "add");
    if (!*found) return QS_OK;
    bool callable = c->nin == 1 && (c->in[0].kind == QS_FUNCTION || c->in[0].kind == QS_FOREIGN);
    if (!callable) return qarg_wrong(vm, "add", "its argument", "a function", c->nin ? c->in[0] : qs_nil());
    WidgetHandler **end = &w->on[r->on], *h;
    int n = 0;
    for (; *end; end = &(*end)->next) n++;
    if (n == MOST_HANDLERS) return qs_fail(vm, QS_EVALUE, "add: an event calls at most %d functions", MOST_HANDLERS);
    h = qmem_alloc(qvm_ctx(vm), sizeof *h);
    h->fn = qs_retain(c->in[0]);
    *end = h;
    return QS_OK;
}

/* -- methods ------------------------------------------------------------------------------------------------------- */
static qs_status form_method(qs_vm *vm, Window *w, const char *name, qs_call_args *c, bool *found) {
    if (!strcmp(name, "show")) return run_script(vm, w, "wm deiconify %p; raise %p");
    if (!strcmp(name, "hide")) return run_script(vm, w, "wm withdraw %p");
    if (!strcmp(name, "close")) return close_form(vm, w);
    if (!strcmp(name, "center"))
        return run_script(vm, w,
                          "update idletasks\n"
                          "set g [split [lindex [split [wm geometry %p] +] 0] x]\n"
                          "if {[lindex $g 0] <= 1} {set g [list [winfo reqwidth %p] [winfo reqheight %p]]}\n"
                          "wm geometry %p +[expr {max(0, ([winfo screenwidth %p] - [lindex $g 0])/2)}]"
                          "+[expr {max(0, ([winfo screenheight %p] - [lindex $g 1])/2)}]\nupdate idletasks");
    if (!strcmp(name, "open_file")) return choose_file(vm, w, "tk_getOpenFile", &c->out[0]);
    if (!strcmp(name, "save_file")) return choose_file(vm, w, "tk_getSaveFile", &c->out[0]);
    TRY(qfigure_flush(vm));
    if (!strcmp(name, "wait")) return qwindow_wait(vm, INFINITY, is_closed, w);
    if (!strcmp(name, "closed")) {
        TRY(qwindow_events(vm));
        return c->out[0] = qs_bool(!w->open), QS_OK;
    }
    WidgetKind added = kind_added(name);
    if (added != WIDGET_FORM) return add_widget(vm, w, added, c);
    return *found = false, QS_OK;
}

static qs_status call_method(qs_vm *vm, void *p, qs_value key, qs_call_args *c, bool *found) {
    Window *w = qwidget_find(vm, ((const Ref *)p)->id);
    const char *name = qs_to_string(key, NULL);
    *found = true;
    if (w->kind == WIDGET_FORM) return form_method(vm, w, name, c, found);
    if (w->kind == WIDGET_DISPLAY) return qhandle_method(vm, w->figure, name, c, found);
    return *found = false, QS_OK;
}

/* -- fields -------------------------------------------------------------------------------------------------------- */
static int event_named(const char *name) {
    static const char *const names[ON_EVENTS] = {"onclick", "onchange", "onkey", "onmouse", "ontick"};
    for (int k = 0; k < ON_EVENTS; k++)
        if (!strcmp(name, names[k])) return k;
    return -1;
}

static qs_status fail_unknown_field(qs_vm *vm, const Window *w, const char *name) {
    const char *own = has_value(w) ? "value, " : field_of(w) == ICON ? "icon, " : "";
    return qs_fail(vm, QS_ENAME,
                   "%s has no field %s; there are text, %swidth, height, onclick, onchange, onkey, onmouse, ontick",
                   w->kind == WIDGET_FORM ? "a form" : "a widget", name, own);
}

static bool is_method(const Window *w, const char *name) {
    static const char *const own[] = {"show", "hide", "close", "center", "wait", "closed", "open_file", "save_file"};
    for (size_t k = 0; w->kind == WIDGET_FORM && k < sizeof own / sizeof *own; k++)
        if (!strcmp(name, own[k])) return true;
    if (w->kind == WIDGET_FORM) return kind_added(name) != WIDGET_FORM;
    return w->kind == WIDGET_DISPLAY && qhandle_is_method(name);
}

/* Returns a method that is read without being called; Python reads it before it calls it. */
static qs_status bind_method(qs_vm *vm, const Ref *r, const char *name, qs_value *out) {
    Ref *m = qmem_alloc(qvm_ctx(vm), sizeof *m);
    qs_value v;
    *m = *r;
    snprintf(m->name, sizeof m->name, "%s", name);
    TRY(qs_foreign(vm, &method_type, m, &v));
    *out = qval_object(QS_FUNCTION, qfn_foreign(vm, qstr_cname(qvm_ctx(vm), name), v));
    qs_release(vm, v);
    return QS_OK;
}

static qs_status get_field(qs_vm *vm, void *p, qs_value key, qs_value *out) {
    Ref *r = p;
    const char *name = qs_to_string(key, NULL);
    Window *w = qwidget_find(vm, r->id);
    if (!name) return qs_fail(vm, QS_ETYPE, "a form has no elements");
    int on = event_named(name);
    if (on >= 0) return new_ref(vm, w, (OnEvent)on, &event_type, out);
    if (!strcmp(name, "value") && has_value(w)) return get_value(vm, w, out);
    if (!strcmp(name, "text") || !strcmp(name, "title"))
        return qs_string(vm, w->text ? w->text : "", w->text ? strlen(w->text) : 0, out);
    if (!strcmp(name, "width")) return *out = qs_num(w->width), QS_OK;
    if (!strcmp(name, "height")) return *out = qs_num(w->height), QS_OK;
    return is_method(w, name) ? bind_method(vm, r, name, out) : fail_unknown_field(vm, w, name);
}

static qs_status set_size(qs_vm *vm, Window *w, const char *name, qs_value v) {
    double x;
    char script[120];
    TRY(qarg_num(vm, "form", name, v, &x));
    if (!(x >= 1 && x <= 20000)) return qs_fail(vm, QS_EVALUE, "form: %s must be 1 to 20000, got %g", name, x);
    *(*name == 'w' ? &w->width : &w->height) = x;
    if (w->kind == WIDGET_DISPLAY) {
        qnum_print(script, sizeof script, "%%p configure -%s %d", name, (int)x);
        TRY(run_script(vm, w, script));
        return fit_form(vm, w->form);
    }
    if (w->kind != WIDGET_FORM) return QS_OK;
    w->tall = w->tall || *name == 'h';
    w->asked = w->tall ? 0 : x;
    if (w->asked) return fit_form(vm, w);
    double width = w->width > 1 ? w->width : 400, height = w->height > 1 ? w->height : 300;
    w->width = width, w->height = height;
    qnum_print(script, sizeof script, "wm geometry %%p %dx%d; update idletasks", (int)width, (int)height);
    return run_script(vm, w, script);
}

static qs_status set_text(qs_vm *vm, Window *w, qs_value v) {
    const char *s;
    TRY(qarg_string(vm, noun(w), "text", v, &s, NULL));
    qfigure_set(&w->text, s);
    set_variable(vm, w, "q_text", s);
    return w->kind == WIDGET_FORM ? run_script(vm, w, "wm title %p $q_text(%i)") : QS_OK;
}

static qs_status set_field(qs_vm *vm, void *p, qs_value key, qs_value v) {
    Window *w = qwidget_find(vm, ((Ref *)p)->id);
    const char *name = qs_to_string(key, NULL);
    if (!name) return qs_fail(vm, QS_ETYPE, "a form has no elements");
    if (!strcmp(name, "value") && has_value(w)) return set_value(vm, w, v, true);
    if (!strcmp(name, "text") || !strcmp(name, "title")) return set_text(vm, w, v);
    if (!strcmp(name, "width") || !strcmp(name, "height")) return set_size(vm, w, name, v);
    if (!strcmp(name, "icon") && field_of(w) == ICON) return set_icon(vm, w, v);
    return fail_unknown_field(vm, w, name);
}

static qs_status event_get(qs_vm *vm, void *p, qs_value key, qs_value *out) {
    const char *name = qs_to_string(key, NULL);
    if (name && !strcmp(name, "add")) return bind_method(vm, p, "add", out);
    return qs_fail(vm, QS_ENAME, "an event has the method add(function)");
}

/* Calls the method by its name; only events have `add`. */
static qs_status method_call(qs_vm *vm, void *p, qs_call_args *c) {
    Ref *r = p;
    qs_value name;
    bool found;
    TRY(qs_string(vm, r->name, strlen(r->name), &name));
    qs_status s = !strcmp(r->name, "add") ? event_method(vm, p, name, c, &found) : call_method(vm, p, name, c, &found);
    qs_release(vm, name);
    return s;
}

static void release_ref(void *p) { qmem_free(qvm_ctx(((Ref *)p)->vm), p, sizeof(Ref)); }

static const qs_foreign_type form_type = {
    .name = "form", .release = release_ref, .get = get_field, .set = set_field, .method = call_method};
static const qs_foreign_type widget_type = {
    .name = "widget", .release = release_ref, .get = get_field, .set = set_field, .method = call_method};
static const qs_foreign_type event_type = {
    .name = "event", .release = release_ref, .get = event_get, .method = event_method};
static const qs_foreign_type method_type = {.name = "method", .release = release_ref, .call = method_call};
