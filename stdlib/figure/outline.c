/* outline.c -- describes a figure as text.  `print h` writes this text, and tests compare it: it contains what the
 * picture shows, and does not depend on the sizes of letters. */
#include "stdlib/figure/figure.h"

static void ticks(const Axes *a, AxisName n, Text *out) {
    Ticks t;
    qlayout_ticks(a, n, 300, &t);
    if (n == AXIS_Z) qscale_ticks(&a->axis[n], 5, &t);
    for (int k = 0; k < t.n; k++) qtext_printf(out, "%s%s", k ? " " : " at ", t.text[k]);
    if (*t.factor) qtext_printf(out, " (%s)", t.factor);
}

static void letters(const Style *s, Text *out) {
    if (s->size > 0) qtext_printf(out, ", %g points", s->size);
    if (s->weight) qtext_puts(out, s->weight == WEIGHT_BOLD ? ", bold" : ", not bold");
    if (s->coloured) qtext_printf(out, ", #%06x", qpaint_rgb(s->colour));
}

static void axis(const Axes *a, AxisName n, Text *out) {
    const Axis *x = &a->axis[n];
    static const char names[] = "xyz";
    qtext_printf(out, "\n    %c", names[n]);
    if (x->label) qtext_printf(out, " \"%s\"", x->label), letters(&a->letters[n], out);
    qtext_printf(out, " from %.4g to %.4g%s%s", x->lo, x->hi, x->log ? ", logarithmic" : "",
                 x->flipped ? n == AXIS_Y ? ", downwards" : ", backwards" : "");
    if (!a->hidden) ticks(a, n, out);
}

static void colour(const Style *s, Text *out) { qtext_printf(out, " #%06x", qpaint_rgb(s->colour)); }

static void outline_item(const Item *i, Text *out) {
    const Style *s = &i->style;
    qtext_printf(out, "\n    %s", qpaint_name(i));
    if (i->name) qtext_printf(out, " \"%s\"", i->name);
    if (i->kind == ITEM_IMAGE) {
        char shape[SHAPE_TEXT];
        qtext_printf(out, " %s", qarr_shape_text(i->image, shape));
        return;
    }
    if (i->rows) qtext_printf(out, " %zux%zu", i->rows, i->columns);
    else qtext_printf(out, " of %zu", i->part[PART_X].n);
    bool mapped = i->kind == ITEM_SCATTER && i->part[PART_Z].n;
    if ((!i->rows || s->coloured) && !mapped) colour(s, out);
    if (mapped) qtext_puts(out, " coloured by value");
    if (i->kind == ITEM_LINE || i->kind == ITEM_ERRORS) qtext_printf(out, " %s", s->dash ? s->dash->name : "no line");
    if (s->mark) qtext_printf(out, " marks %c", s->mark);
    if (i->kind == ITEM_TEXT && s->size > 0) qtext_printf(out, ", %g points", s->size);
    if (i->kind == ITEM_CONTOUR) {
        qtext_printf(out, "%s at", i->filled ? " filled" : "");
        for (size_t k = 0; k < i->part[PART_U].n; k++) qtext_printf(out, " %.4g", i->part[PART_U].x[k]);
    }
}

static void axes(Axes *a, Text *out) {
    qtext_printf(out, "\n  axes %d of %dx%d", a->at, a->rows, a->columns);
    if (a->title) qtext_printf(out, " \"%s\"", a->title), letters(&a->letters[TEXT_TITLE], out);
    if (a->grid) qtext_puts(out, ", grid");
    if (a->equal) qtext_puts(out, ", equal units");
    if (a->legend) qtext_puts(out, ", legend"), letters(&a->letters[TEXT_LEGEND], out);
    for (int n = 0; n < (a->deep ? 3 : 2); n++) axis(a, (AxisName)n, out);
    if (qlayout_mapped(a))
        qtext_printf(out, "\n    colours %s from %.4g to %.4g%s", qcolour_map_name(a->map), a->range[0], a->range[1],
                     a->bar ? ", with a bar" : "");
    if (a->bar_label) qtext_printf(out, " \"%s\"", a->bar_label), letters(&a->letters[TEXT_BAR], out);
    for (const Item *i = a->items; i; i = i->next) outline_item(i, out);
}

void qoutline_figure(Figure *f, Text *out) {
    qtext_printf(out, "figure %d", f->number);
    if (f->title) qtext_printf(out, " \"%s\"", f->title), letters(&f->letters, out);
    for (Axes *a = f->axes; a; a = a->next) {
        qscale_limits(a);
        axes(a, out);
    }
}
