/* field.c -- creates items from matrices: imshow, imagesc, montage, contour, contourf, surf, mesh. */
#include "stdlib/builtins.h"
#include "stdlib/figure/figure.h"
#include "stdlib/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- images -------------------------------------------------------------------------------------------------------- */
static qs_dtype shown_as(qs_dtype d) { /* returns a dtype that paint.c supports and that represents all values of d */
    if (d == QS_U8 || d == QS_U16 || d == QS_F32) return d;
    return d == QS_B1 ? QS_U8 : qdtype_size(d) <= 2 ? QS_F32 : QS_F64;
}

static qs_status check_image(qs_vm *vm, const char *fn, const Array *a) {
    int64_t channels = a->rank > 2 ? a->dims[2] : 1;
    bool good = a->rank <= 3 && a->count && (channels == 1 || channels == 3 || channels == 4) && a->dtype < QS_C64;
    for (int k = 0; k < a->rank && good; k++) good = a->dims[k] <= 1 << 15;
    char shape[SHAPE_TEXT];
    if (good) return QS_OK;
    return qs_fail(vm, QS_ESHAPE, "%s: img must be real numbers, height x width, with 3 channels or one, got %s", fn,
                   qarr_shape_text(a, shape));
}

/* Returns the image of these axes if it has the same dtype and shape, so that its memory can be overwritten. */
static Item *same_image(const Axes *a, const Array *img, qs_dtype d) {
    for (Item *i = a->items; i; i = i->next)
        if (i->kind == ITEM_IMAGE) return i->image->dtype == d && qarr_same_shape(i->image, img) ? i : NULL;
    return NULL;
}

static qs_status copy_elements(qs_vm *vm, Item *i, Array *img, qs_dtype d) {
    Array *fresh;
    if (!i->image) {
        TRY(qarr_like(vm, img, d, &fresh));
        i->image = fresh;
    }
    TRY(qarr_assign(vm, i->image, img));
    i->shown_map = NULL;
    return qarr_read(vm, i->image, &i->elements);
}

static void drop_images(qs_vm *vm, Axes *a) {
    for (Item *i = a->items, *next; i; i = next) {
        next = i->next;
        if (i->kind == ITEM_IMAGE) qaxes_drop(vm, a, i);
    }
}

/* Reads the centres of the first and the last of `pixels` pixels from their coordinates: these two, or evenly spaced
 * ones of all pixels. */
static qs_status centres_of(qs_vm *vm, const char *fn, const char *what, qs_value v, int64_t pixels, double out[2]) {
    Column x = {0};
    TRY(qseries_column(vm, fn, what, v, &x));
    size_t n = x.n, wanted = (size_t)pixels;
    double step = n > 1 ? (x.x[n - 1] - x.x[0]) / (double)(n - 1) : 1;
    bool good = n == wanted || (n == 2 && pixels > 1), even = good && step != 0 && isfinite(step) && isfinite(x.x[0]);
    for (size_t k = 1; even && k < n; k++) even = fabs(x.x[k] - x.x[k - 1] - step) <= 1e-3 * fabs(step);
    if (good) out[0] = x.x[0], out[1] = x.x[n - 1];
    qcolumn_free(&x);
    if (!good)
        return qs_fail(vm, QS_ESHAPE, "%s: %s must have %zu number%s, one for each %s%s, got %zu", fn, what, wanted,
                       wanted == 1 ? "" : "s", *what == 'x' ? "column" : "row",
                       pixels > 1 ? ", or 2, for the first and the last" : "", n);
    return even ? QS_OK : qs_fail(vm, QS_EVALUE, "%s: %s must be finite and evenly spaced", fn, what);
}

/* Computes the centres of the first and last pixel in x and y, from in[0] and in[1] if the image is in[2]. */
static qs_status centres(qs_vm *vm, qs_call_args *c, const Array *img, double out[2][2]) {
    int64_t n[] = {img->dims[img->rank > 1], img->rank > 1 ? img->dims[0] : 1};
    for (int k = 0; k < 2; k++) {
        out[k][0] = 0, out[k][1] = (double)n[k] - 1;
        if (c->nin > 2) TRY(centres_of(vm, c->name, k ? "y" : "x", c->in[k], n[k], out[k]));
    }
    return QS_OK;
}

static qs_status place_image(qs_vm *vm, Item *i, double at[2][2]) {
    for (int k = 0; k < 2; k++) {
        qcolumn_free(&i->part[k]);
        i->part[k] = (Column){calloc(2, sizeof(double)), 2};
        if (!i->part[k].x) return qs_fail(vm, QS_ENOMEM, "no memory for an image");
        memcpy(i->part[k].x, at[k], sizeof at[k]);
    }
    return QS_OK;
}

/* Adds an image to the axes or replaces the existing one; it is drawn below all other items. */
static qs_status put_image(qs_vm *vm, Axes *a, Array *img, double at[2][2], Item **out) {
    qs_dtype d = shown_as((qs_dtype)img->dtype);
    Item *i = same_image(a, img, d);
    if (!i) {
        drop_images(vm, a);
        i = qaxes_add(vm, a, ITEM_IMAGE);
        for (Item **p = &a->items; a->items != i; p = &(*p)->next)
            if (*p == i) { /* it was added last; moves it to the front of the list */
                *p = NULL, i->next = a->items, a->items = i;
                break;
            }
    }
    TRY(place_image(vm, i, at));
    return *out = i, copy_elements(vm, i, img, d);
}

/* Reads a range [lo, hi].  [] and null mean the range of the elements; without an argument it is `usual`, or the
 * range of the elements if `usual` is NULL. */
static qs_status range_of(qs_vm *vm, qs_call_args *c, int at, const double *usual, double out[2], bool *own) {
    Column r = {0};
    *own = at >= c->nin && !usual;
    if (at >= c->nin && usual) return memcpy(out, usual, 2 * sizeof *out), QS_OK;
    if (at >= c->nin || c->in[at].kind == QS_NIL) return *own = true, QS_OK;
    TRY(qseries_column(vm, c->name, "range", c->in[at], &r));
    if (r.n == 2) memcpy(out, r.x, 2 * sizeof *out);
    *own = r.n == 0;
    qcolumn_free(&r);
    if (r.n == 2 && !(out[0] < out[1] && isfinite(out[1] - out[0])))
        return qs_fail(vm, QS_EVALUE, "%s: range must be finite and ascend, got %g and %g", c->name, out[0], out[1]);
    return r.n == 0 || r.n == 2 ? QS_OK
                                : qs_fail(vm, QS_EVALUE, "%s: range must be [lo, hi] or [], got %zu number%s", c->name,
                                          r.n, r.n == 1 ? "" : "s");
}

static void own_range(const Item *i, double out[2]) {
    out[0] = INFINITY, out[1] = -INFINITY;
    for (size_t k = 0; k < i->image->count; k++) {
        double x = 0;
        switch (i->image->dtype) {
        case QS_U8: x = ((const uint8_t *)i->elements)[k]; break;
        case QS_U16: x = ((const uint16_t *)i->elements)[k]; break;
        case QS_F32: x = (double)((const float *)i->elements)[k]; break;
        default: x = ((const double *)i->elements)[k];
        }
        if (isfinite(x)) out[0] = fmin(out[0], x), out[1] = fmax(out[1], x);
    }
    if (!(out[0] <= out[1])) out[0] = 0, out[1] = 1;
    if (out[0] == out[1]) out[1] = out[0] + 1;
}

enum { BYTE_WHITE = 255 };
typedef struct {
    const char *fn;
    const double *usual;
    bool bare;
} ImageKind; /* bare: without ticks, in gray */

static qs_status image(qs_vm *vm, qs_call_args *c, const ImageKind *k) {
    Array *img;
    Item *i;
    double range[2] = {0, BYTE_WHITE}, at[2][2];
    bool own;
    int first = c->nin > 2 ? 2 : 0; /* after the coordinates x and y */
    TRY(qarg_array(vm, c, first, "img", &img));
    TRY(check_image(vm, k->fn, img));
    TRY(centres(vm, c, img, at));
    TRY(range_of(vm, c, first + 1, k->usual, range, &own));
    Axes *a = qfigure_begin(vm);
    bool fresh = !a->items;
    TRY(put_image(vm, a, img, at, &i));
    if (own) own_range(i, range);
    else if (c->nin < 2 && range[1] == BYTE_WHITE)
        TRY(qimage_check_white(vm, k->fn, "the image", (qs_dtype)i->image->dtype, i->elements, i->image->count,
                               BYTE_WHITE, strcmp(k->fn, "imshow") ? "" : ", or imshow(img, [0,1])"));
    memcpy(a->range, range, sizeof range);
    a->ranged = true;
    if (fresh || !same_image(a, img, shown_as((qs_dtype)img->dtype))) {
        a->axis[AXIS_Y].flipped = true, a->equal = k->bare, a->hidden = a->edged = k->bare;
        if (k->bare) a->map = qcolour_map("gray");
    }
    qfigure_changed(vm, a->figure);
    return qhandle_new(vm, a, &c->out[0]);
}

qs_status qfield_imshow(qs_vm *vm, qs_call_args *c) {
    static const double bytes[2] = {0, 255}, truths[2] = {0, 1};
    bool mask = c->in[0].kind == QS_ARRAY && qval_array(c->in[0])->dtype == QS_B1;
    return image(vm, c, &(ImageKind){"imshow", mask ? truths : bytes, true});
}

qs_status qfield_imagesc(qs_vm *vm, qs_call_args *c) { return image(vm, c, &(ImageKind){"imagesc", NULL, false}); }

/* -- montage: images of one size side by side ---------------------------------------------------------------------- */
typedef struct {
    int64_t n, height, width, channels, columns;
} Tiles;

static qs_status tile_size(qs_vm *vm, qs_value v, Tiles *t) {
    const Array *a = v.kind == QS_ARRAY ? qval_array(v) : NULL;
    if (!a) return qarg_wrong(vm, "montage", "every image", "an array", v);
    TRY(check_image(vm, "montage", a));
    Tiles own = {t->n, a->rank > 1 ? a->dims[0] : 1, a->rank > 1 ? a->dims[1] : a->dims[0],
                 a->rank > 2 ? a->dims[2] : 1, 0};
    if (!t->height) *t = own;
    bool grey = own.channels == 1 || t->channels == 1; /* one of the images is grey, and gets three equal channels */
    if (own.height != t->height || own.width != t->width)
        return qs_fail(vm, QS_ESHAPE, "montage: images must have one size, got %ldx%ld and %ldx%ld", (long)t->height,
                       (long)t->width, (long)own.height, (long)own.width);
    if (own.channels != t->channels && !grey)
        return qs_fail(vm, QS_ESHAPE, "montage: images in colour must have as many channels, got %ld and %ld",
                       (long)t->channels, (long)own.channels);
    if (own.channels > t->channels) t->channels = own.channels;
    return QS_OK;
}

/* Copies tile k of doubles x, whose pixels are `step` apart, to the whole image.  Grey tiles are opaque in all
 * channels. */
static void put_tile(const Tiles *t, const double *x, int64_t step, double scale, int64_t k, double *whole) {
    int64_t top = k / t->columns * t->height, left = k % t->columns * t->width, wide = t->columns * t->width;
    for (int64_t r = 0; r < t->height; r++)
        for (int64_t c = 0; c < t->width; c++)
            for (int64_t j = 0; j < t->channels; j++)
                whole[((top + r) * wide + left + c) * t->channels + j] =
                    step == 1 && j == 3 ? 255 : scale * x[(r * t->width + c) * step + (step == t->channels ? j : 0)];
}

/* Copies an image of a cell, or all `slices` of a cube, to the whole image, beginning with tile k. */
static qs_status put_image_of(qs_vm *vm, const Tiles *t, qs_value v, int64_t k, int64_t slices, double *whole) {
    Array *converted, *packed = NULL;
    const Array *given = qval_array(v);
    const void *p;
    int64_t step = slices > 1 ? slices : given->rank > 2 ? given->dims[2] : 1;
    double scale = given->dtype == QS_B1 ? 255 : 1;
    TRY(qarr_from_value(vm, v, QS_F64, &converted));
    qs_status s = qarr_contiguous(vm, converted, &packed);
    if (s == QS_OK) s = qarr_read(vm, packed, &p);
    for (int64_t i = 0; i < slices && s == QS_OK; i++) put_tile(t, (const double *)p + i, step, scale, k + i, whole);
    if (packed) qarr_release(vm, packed);
    qarr_release(vm, converted);
    return s;
}

static qs_status whole_of(qs_vm *vm, const Tiles *t, qs_value *v, double **out) {
    int64_t rows = (t->n + t->columns - 1) / t->columns;
    const int64_t dims[] = {rows * t->height, t->columns * t->width, t->channels};
    Array *a;
    void *p;
    TRY(qarr_make(vm, QS_F64, t->channels > 1 ? 3 : 2, dims, true, &a, &p));
    *v = qarr_value(a);
    return *out = p, QS_OK;
}

/* Shows the images of a cell, or the slices of a cube. */
qs_status qfield_montage(qs_vm *vm, qs_call_args *c) {
    Tiles t = {0};
    qs_value v = c->in[0], made = qs_nil();
    const Cell *cell = v.kind == QS_CELL ? v.u.p : NULL;
    const Array *cube = v.kind == QS_ARRAY ? qval_array(v) : NULL;
    double *whole;
    if (!cell && (!cube || cube->rank != 3))
        return qarg_wrong(vm, c->name, "images", "a cell of images or a cube of slices", v);
    for (size_t k = 0; cell && k < cell->count; k++) TRY(tile_size(vm, cell->items[k], &t));
    if (cube) t = (Tiles){0, cube->dims[0], cube->dims[1], 1, 0};
    t.n = cell ? (int64_t)cell->count : cube->count ? cube->dims[2] : 0;
    if (t.n == 0) return qs_fail(vm, QS_EVALUE, "montage: there is no image");
    t.columns = (int64_t)ceil(sqrt((double)t.n * (double)t.height / (double)t.width));
    if (t.columns > t.n) t.columns = t.n;
    TRY(whole_of(vm, &t, &made, &whole));
    qs_status s = QS_OK;
    for (int64_t k = 0; cell && k < t.n && s == QS_OK; k++) s = put_image_of(vm, &t, cell->items[k], k, 1, whole);
    if (cube) s = put_image_of(vm, &t, v, 0, t.n, whole);
    if (s != QS_OK) return qs_release(vm, made), s;
    qs_release(vm, c->in[0]);
    c->in[0] = made;
    static const double bytes[2] = {0, 255};
    return image(vm, c, &(ImageKind){"montage", bytes, true});
}

/* -- fields z over x and y ----------------------------------------------------------------------------------------- */
typedef struct {
    Column x, y, z;
    size_t rows, columns;
} Heights;

static void free_field(Heights *f) { qcolumn_free(&f->x), qcolumn_free(&f->y), qcolumn_free(&f->z); }

/* Computes the coordinates of all elements from a matrix of the same size, a vector with one for each column (or row),
 * or nothing. */
static qs_status spread_coordinates(qs_vm *vm, const char *fn, const char *what, qs_value v, const Heights *f,
                                    bool down, Column *out) {
    Column given = {0};
    size_t n = f->rows * f->columns, wanted = down ? f->rows : f->columns;
    if (v.kind != QS_NIL) TRY(qseries_column(vm, fn, what, v, &given));
    if (given.x && given.n == n) return *out = given, QS_OK;
    bool good = !given.x || given.n == wanted;
    size_t got = given.n;
    *out = (Column){good ? malloc(qmem_size(n, sizeof(double), sizeof(double))) : NULL, n};
    for (size_t k = 0; out->x && k < n; k++) {
        size_t at = down ? k / f->columns : k % f->columns;
        out->x[k] = given.x ? given.x[at] : (double)at;
    }
    qcolumn_free(&given);
    if (!good)
        return qs_fail(vm, QS_ESHAPE, "%s: %s must have %zu numbers, or as many as z, got %zu", fn, what, wanted, got);
    return out->x ? QS_OK : qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", fn, n);
}

/* Reads (z) or (x, y, z) from in[0] on; *at becomes the index behind them. */
static qs_status read_field(qs_vm *vm, qs_call_args *c, int *at, Heights *f) {
    bool three = c->nin > 2 && c->in[1].kind != QS_STRING && c->in[2].kind != QS_STRING;
    qs_value z = c->in[three ? 2 : 0];
    *f = (Heights){0};
    *at = three ? 3 : 1;
    if (z.kind != QS_ARRAY || qval_array(z)->rank != 2 || qval_array(z)->dims[0] < 2 || qval_array(z)->dims[1] < 2)
        return qarg_wrong(vm, c->name, "z", "a matrix of at least 2 x 2", z);
    qseries_grid(z, &f->rows, &f->columns);
    TRY(qseries_column(vm, c->name, "z", z, &f->z));
    qs_status s = spread_coordinates(vm, c->name, "x", three ? c->in[0] : qs_nil(), f, false, &f->x);
    if (s == QS_OK) s = spread_coordinates(vm, c->name, "y", three ? c->in[1] : qs_nil(), f, true, &f->y);
    if (s != QS_OK) free_field(f);
    return s;
}

static Item *put_field(qs_vm *vm, Axes *a, ItemKind kind, Heights *f, const Style *style) {
    Item *i = qaxes_add(vm, a, kind);
    i->part[PART_X] = f->x, i->part[PART_Y] = f->y, i->part[PART_Z] = f->z;
    i->rows = f->rows, i->columns = f->columns, i->style = *style;
    return i;
}

/* -- contours ------------------------------------------------------------------------------------------------------ */
/* Chooses about `wanted` levels at round numbers within the values; for filled areas the first is below all values. */
static qs_status round_levels(qs_vm *vm, const Column *z, int wanted, bool filled, Column *out) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t k = 0; k < z->n; k++)
        if (isfinite(z->x[k])) lo = fmin(lo, z->x[k]), hi = fmax(hi, z->x[k]);
    double span = hi - lo, raw = span / wanted, power = pow(10, floor(log10(raw)));
    double step = raw / power <= 1 ? power : raw / power <= 2 ? 2 * power : raw / power <= 5 ? 5 * power : 10 * power;
    double first = filled ? floor(lo / step) : ceil(lo / step), count = floor(hi / step) - first + 1;
    if (!(span > 0) || !isfinite(span) || !(step > 0) || !(count >= 0)) return *out = (Column){0}, QS_OK;
    out->x = malloc(qmem_size((size_t)count, sizeof *out->x, sizeof *out->x)), out->n = 0;
    if (!out->x) return qs_fail(vm, QS_ENOMEM, "contour: no memory for levels");
    for (double k = 0; k < count; k++) {
        double level = (first + k) * step; /* for huge numbers two levels may be equal */
        if (!out->n || level > out->x[out->n - 1]) out->x[out->n++] = level;
    }
    return QS_OK;
}

static qs_status levels(qs_vm *vm, qs_call_args *c, int *at, const Column *z, bool filled, Column *out) {
    Column given = {0};
    double wanted = 8;
    if (*at < c->nin && c->in[*at].kind != QS_STRING)
        TRY(qseries_column(vm, c->name, "levels", c->in[(*at)++], &given));
    if (given.n > 1) return *out = given, QS_OK;
    if (given.n) wanted = given.x[0];
    qcolumn_free(&given);
    if (!(wanted >= 1 && wanted <= 1000))
        return qs_fail(vm, QS_EVALUE, "%s: levels must be 1 to 1000, or a vector", c->name);
    return round_levels(vm, z, (int)wanted, filled, out);
}

static qs_status contour(qs_vm *vm, qs_call_args *c, bool filled) {
    Heights f;
    Column at_levels = {0};
    Style style = qcolour_plain;
    char *name = NULL;
    int at;
    style.width = 1.2;
    TRY(read_field(vm, c, &at, &f));
    qs_status s = levels(vm, c, &at, &f.z, filled, &at_levels);
    if (s == QS_OK) s = qproperty_style(vm, c, &at, &style, &name);
    free(name);
    if (s != QS_OK) return free_field(&f), qcolumn_free(&at_levels), s;
    Axes *a = qfigure_begin(vm);
    Item *i = put_field(vm, a, ITEM_CONTOUR, &f, &style);
    i->part[PART_U] = at_levels, i->filled = filled;
    qfigure_changed(vm, a->figure);
    return qhandle_new(vm, a, &c->out[0]);
}

qs_status qfield_contour(qs_vm *vm, qs_call_args *c) { return contour(vm, c, false); }
qs_status qfield_contourf(qs_vm *vm, qs_call_args *c) { return contour(vm, c, true); }

/* -- surfaces ------------------------------------------------------------------------------------------------------ */
static qs_status surface(qs_vm *vm, qs_call_args *c, bool flat) {
    Heights f;
    Style style = qcolour_plain;
    char *name = NULL;
    int at;
    TRY(read_field(vm, c, &at, &f));
    qs_status s = qproperty_style(vm, c, &at, &style, &name);
    free(name);
    if (s != QS_OK) return free_field(&f), s;
    Axes *a = qfigure_begin(vm);
    put_field(vm, a, ITEM_SURFACE, &f, &style)->flat = flat;
    a->deep = true;
    qfigure_changed(vm, a->figure);
    return qhandle_new(vm, a, &c->out[0]);
}

qs_status qfield_surf(qs_vm *vm, qs_call_args *c) { return surface(vm, c, false); }
qs_status qfield_mesh(qs_vm *vm, qs_call_args *c) { return surface(vm, c, true); }
