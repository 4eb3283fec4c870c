/* handle.c -- implements handles of figures: h = plot(…); h.title = "…"; pixels = h.rasterize().
 *
 * A handle refers to its axes by number and may outlive them: using the handle of a closed figure is an error. */
#include "stdlib/builtins.h"
#include "stdlib/figure/figure.h"

#include <string.h>

typedef struct {
    qs_vm *vm;
    int axes, figure;
} Handle;
static const qs_foreign_type handle_type;

static qs_status find_axes(qs_vm *vm, const Handle *h, Axes **out) {
    if ((*out = qaxes_find(vm, h->axes))) return QS_OK;
    return qs_fail(vm, QS_EVALUE, "figure %d is closed", h->figure);
}

qs_status qhandle_new(qs_vm *vm, const Axes *a, qs_value *out) {
    Handle *h = qmem_alloc(qvm_ctx(vm), sizeof *h);
    *h = (Handle){vm, a->id, a->figure->number};
    return qs_foreign(vm, &handle_type, h, out);
}

qs_status qhandle_figure(qs_vm *vm, const char *fn, qs_value v, Figure **out, Axes **axes) {
    Handle *h = qs_foreign_ptr(v, &handle_type);
    int64_t n;
    if (h) {
        TRY(find_axes(vm, h, axes));
        return *out = (*axes)->figure, QS_OK;
    }
    TRY(qarg_count(vm, fn, "figure", v, &n));
    *out = n <= 1 << 24 ? qfigure_find(vm, (int)n) : NULL;
    *axes = *out ? (*out)->current : NULL;
    return *out ? QS_OK : qs_fail(vm, QS_EVALUE, "%s: there is no figure %ld", fn, (long)n);
}

/* -- methods ------------------------------------------------------------------------------------------------------- */
static qs_status rasterize(qs_vm *vm, const char *fn, Figure *f, qs_value *out) {
    Canvas *c;
    int w, h;
    Array *a;
    void *p;
    TRY(qfigure_canvas(vm, fn, f, CANVAS_PIXELS, qfigure_scale(f), &c));
    const uint8_t *from = qcanvas_pixels(c, &w, &h);
    const int64_t dims[] = {h, w, 3};
    qs_status s = qarr_make(vm, QS_U8, 3, dims, false, &a, &p);
    uint8_t *to = p;
    for (size_t k = 0; s == QS_OK && k < (size_t)w * (size_t)h; k++, from += 4, to += 3)
        to[0] = from[2], to[1] = from[1], to[2] = from[0];
    if (s == QS_OK) *out = qarr_value(a), s = qarr_settle(vm, a);
    qcanvas_free(c);
    return s;
}

qs_status qhandle_getframe(qs_vm *vm, qs_call_args *c) {
    Figure *f = qfigure_all(vm)->current;
    Axes *a;
    if (qarg_given(c, 0)) TRY(qhandle_figure(vm, c->name, c->in[0], &f, &a));
    return f ? rasterize(vm, c->name, f, &c->out[0]) : qs_fail(vm, QS_EVALUE, "getframe: there is no figure");
}

static qs_status link_axes(qs_vm *vm, Axes *a, qs_call_args *c) {
    Figure *f;
    Axes *b;
    if (c->nin != 1) return qs_fail(vm, QS_ETYPE, "connect: wants the handle of another figure");
    TRY(qhandle_figure(vm, "connect", c->in[0], &f, &b));
    if (!a->link) a->link = b->link ? b->link : ++qfigure_all(vm)->links;
    return b->link = a->link, QS_OK;
}

/* Functions on figures that are also methods of handles and displays. */
static const struct {
    const char *name;
    qs_native_fn *fn;
    int least, most;
} methods[] = {
#define GROUP(title)
#define CONSTANT(name, value, doc, matlab, numpy)
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)
#define FIGURE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)                        \
    {name, function, min_in, max_in},
#include "stdlib/builtins.def"
};

bool qhandle_is_method(const char *name) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(name, methods[i].name)) return true;
    return false;
}

qs_status qhandle_method(qs_vm *vm, Figure *to, const char *name, qs_call_args *c, bool *found) {
    Figures *all = qfigure_all(vm);
    *found = false;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(name, methods[i].name) != 0) continue;
        *found = true;
        if (c->nin < methods[i].least || (methods[i].most >= 0 && c->nin > methods[i].most))
            return qs_fail(vm, QS_ETYPE, "%s: %d argument%s not taken", name, c->nin, c->nin == 1 ? " is" : "s are");
        Figure *before = all->current;
        bool hold = all->hold;
        all->current = to, all->hold = hold && !to->embedded;
        qs_status s = methods[i].fn(vm, c);
        all->current = before;
        if (to->embedded) all->hold = hold;
        return s;
    }
    return QS_OK;
}

static qs_status call_method(qs_vm *vm, void *p, qs_value key, qs_call_args *c, bool *found) {
    const char *name = qs_to_string(key, NULL);
    Axes *a;
    *found = true;
    TRY(find_axes(vm, p, &a));
    if (!strcmp(name, "rasterize")) return rasterize(vm, name, a->figure, &c->out[0]);
    if (!strcmp(name, "connect")) return link_axes(vm, a, c);
    a->figure->current = a;
    return qhandle_method(vm, a->figure, name, c, found);
}

/* -- fields -------------------------------------------------------------------------------------------------------- */
typedef struct {
    const char *name;
    char **slot;
} TextField;

static char **text_field(Axes *a, const char *key) {
    const TextField fields[] = {{"title", &a->title},
                                {"xlabel", &a->axis[AXIS_X].label},
                                {"ylabel", &a->axis[AXIS_Y].label},
                                {"zlabel", &a->axis[AXIS_Z].label},
                                {"name", &a->figure->title}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!strcmp(key, fields[i].name)) return fields[i].slot;
    return NULL;
}

static double *number_field(Axes *a, const char *key) {
    if (!strcmp(key, "width")) return &a->figure->width;
    return !strcmp(key, "height") ? &a->figure->height : NULL;
}

static qs_status fail_unknown_field(qs_vm *vm, const char *key) {
    return qs_fail(vm, QS_ENAME,
                   "a figure has no %s; it has number, title, xlabel, ylabel, zlabel, name, width, height, "
                   "rasterize(), connect(other) and the functions on figures",
                   key);
}

static qs_status get_field(qs_vm *vm, void *p, qs_value key, qs_value *out) {
    Handle *h = p;
    Axes *a;
    const char *name = qs_to_string(key, NULL);
    if (!name) return qs_fail(vm, QS_ETYPE, "a figure has no elements");
    if (!strcmp(name, "number")) return *out = qs_num(h->figure), QS_OK;
    TRY(find_axes(vm, h, &a));
    char **text = text_field(a, name);
    double *number = number_field(a, name), width, height;
    if (text) return qs_string(vm, *text ? *text : "", *text ? strlen(*text) : 0, out);
    if (!number) return fail_unknown_field(vm, name);
    qfigure_size(a->figure, &width, &height);
    return *out = qs_num(*name == 'w' ? width : height), QS_OK;
}

static qs_status set_field(qs_vm *vm, void *p, qs_value key, qs_value v) {
    Axes *a;
    const char *name = qs_to_string(key, NULL), *s;
    TRY(find_axes(vm, p, &a));
    char **text = name ? text_field(a, name) : NULL;
    double *number = name ? number_field(a, name) : NULL, x;
    if (!text && !number) return fail_unknown_field(vm, name ? name : "elements");
    if (text) {
        TRY(qarg_string(vm, "figure", name, v, &s, NULL));
        qfigure_set(text, *s ? s : NULL);
    } else {
        TRY(qarg_num(vm, "figure", name, v, &x));
        if (!(x >= 36 && x <= 10000)) return qs_fail(vm, QS_EVALUE, "figure: %s must be 36 to 10000, got %g", name, x);
        *number = x;
    }
    return qfigure_changed(vm, a->figure), QS_OK;
}

static qs_status format_handle(qs_vm *vm, void *p, qs_value *out) {
    Axes *a;
    Text t;
    TRY(find_axes(vm, p, &a));
    qtext_init(&t, qvm_ctx(vm));
    qoutline_figure(a->figure, &t);
    return qval_text(vm, &t, QS_OK, out);
}

static void release_handle(void *p) {
    Handle *h = p;
    qmem_free(qvm_ctx(h->vm), h, sizeof *h);
}

static const qs_foreign_type handle_type = {.name = "figure",
                                            .release = release_handle,
                                            .get = get_field,
                                            .set = set_field,
                                            .format = format_handle,
                                            .method = call_method};
