/* property.c -- properties of what is drawn: styles, "r--", and pairs of a name and a value, "linewidth", 2.  One table
 * lists the names and which functions take them. */
#include "stdlib/figure/figure.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

typedef enum {
    P_COLOUR,
    P_WIDTH,
    P_DASH,
    P_MARK,
    P_SIZE,
    P_ALPHA,
    P_LABEL,
    P_WEIGHT,
    P_ALIGNMENT,
    P_LOCATION
} Property;
static const struct {
    const char *name;
    Property what;
    unsigned on; /* PropertyTarget */
} properties[] = {{"color", P_COLOUR, ON_ITEM | ON_LETTERS},
                  {"linewidth", P_WIDTH, ON_ITEM},
                  {"linestyle", P_DASH, ON_ITEM},
                  {"marker", P_MARK, ON_ITEM},
                  {"markersize", P_SIZE, ON_ITEM},
                  {"alpha", P_ALPHA, ON_ITEM},
                  {"label", P_LABEL, ON_ITEM},
                  {"displayname", P_LABEL, ON_ITEM},
                  {"facecolor", P_COLOUR, ON_ITEM},
                  {"edgecolor", P_COLOUR, ON_ITEM},
                  {"colour", P_COLOUR, ON_ITEM | ON_LETTERS},
                  {"fontsize", P_SIZE, ON_LETTERS | ON_LEGEND},
                  {"fontweight", P_WEIGHT, ON_LETTERS | ON_LEGEND},
                  {"horizontalalignment", P_ALIGNMENT, ON_TEXT},
                  {"location", P_LOCATION, ON_LEGEND},
                  {"textcolor", P_COLOUR, ON_LEGEND}};
enum { NPROPERTIES = sizeof properties / sizeof *properties };

/* -- names --------------------------------------------------------------------------------------------------------- */
static int find_property(const char *name, unsigned on) {
    for (int i = 0; name && i < NPROPERTIES; i++)
        if ((properties[i].on & on) && !strcasecmp(name, properties[i].name)) return i;
    return -1;
}

bool qproperty_known(const char *name, unsigned on) { return find_property(name, on) >= 0; }

static const char *nearest_property(const char *name, unsigned on) {
    char lower[64] = "";
    Nearest near = {.wanted = lower};
    for (size_t i = 0; name[i] && i + 1 < sizeof lower; i++) lower[i] = (char)tolower((unsigned char)name[i]);
    for (int i = 0; i < NPROPERTIES; i++)
        if (properties[i].on & on) qstr_offer(&near, properties[i].name);
    return near.best;
}

qs_status qproperty_unknown(qs_vm *vm, const char *fn, const char *name, unsigned on) {
    const char *best = nearest_property(name, on);
    Text list;
    qtext_init(&list, qvm_ctx(vm));
    if (best) qtext_printf(&list, "; did you mean \"%s\"? There are", best);
    else qtext_puts(&list, "; there are");
    const char *before = "";
    for (int i = 0; i < NPROPERTIES; i++)
        if (properties[i].on & on) qtext_printf(&list, "%s %s", before, properties[i].name), before = ",";
    qs_status s = qs_fail(vm, QS_ENAME, "%s: there is no property \"%s\"%s", fn, name, list.s);
    qtext_free(&list);
    return s;
}

/* -- values -------------------------------------------------------------------------------------------------------- */
static qs_status set_colour(qs_vm *vm, const char *fn, qs_value v, Style *out) {
    const char *s = qs_to_string(v, NULL);
    Column c = {0};
    out->coloured = true;
    if (s && qcolour_named(s, &out->colour)) return QS_OK;
    if (s)
        return qs_fail(vm, QS_EVALUE,
                       "%s: \"%s\" is no colour; write a letter of rgbkcmyw, a name as \"orange\" or "
                       "\"#rrggbb\"",
                       fn, s);
    TRY(qseries_column(vm, fn, "colour", v, &c));
    bool good = c.n == 3;
    for (size_t k = 0; good && k < 3; k++) good = c.x[k] >= 0 && c.x[k] <= 1;
    if (good) out->colour = (Colour){c.x[0], c.x[1], c.x[2]};
    qcolumn_free(&c);
    return good ? QS_OK : qs_fail(vm, QS_EVALUE, "%s: a colour of numbers is [red, green, blue], each from 0 to 1", fn);
}

static qs_status set_number(qs_vm *vm, const char *fn, const char *name, qs_value v, double most, double *out) {
    double x;
    TRY(qarg_num(vm, fn, name, v, &x));
    if (!(x > 0 && x <= most))
        return qs_fail(vm, QS_EVALUE, "%s: %s must be above 0 and at most %g, got %g", fn, name, most, x);
    return *out = x, QS_OK;
}

/* Returns the index of a word in a list that ends with NULL, or -1. */
static int find_word(const char *s, const char *const *words) {
    for (int k = 0; words[k]; k++)
        if (!strcasecmp(s, words[k])) return k;
    return -1;
}

/* Sets a property whose value is a word.  false: the word is unknown, and *known lists the known ones. */
static bool set_word(Property p, const char *text, const Properties *to, const char **known) {
    static const char *const weights[] = {"normal", "bold", NULL}, *const sides[] = {"left", "center", "right", NULL};
    static const char *const places[] = {"none",      "best",      "northeast",   "northwest",
                                         "southwest", "southeast", "eastoutside", NULL};
    Style *s = to->style;
    int k = p == P_WEIGHT ? find_word(text, weights) : find_word(text, p == P_LOCATION ? places : sides);
    switch (p) {
    case P_MARK: return *known = "marks are . o * x + s d ^ v < > p h none", qcolour_mark(text, &s->mark);
    case P_DASH:
        s->dash = qcolour_dash(text), *known = "lines are - -- -. : none";
        return s->dash || !strcasecmp(text, "none");
    case P_WEIGHT: return *known = "weights are normal bold", s->weight = (Weight)(k + 1), k >= 0;
    case P_ALIGNMENT: return *known = "alignments are left center right", s->across = k / 2.0, k >= 0;
    case P_LOCATION:
        *known = "location is best, northeast, northwest, southwest, southeast, eastoutside or none";
        return *to->place = (LegendPlace)k, k >= 0;
    default: return qfigure_set(to->name, text), true;
    }
}

static qs_status set_property(qs_vm *vm, const char *fn, const char *key, unsigned on, qs_value v,
                              const Properties *to) {
    const char *text = qs_to_string(v, NULL), *known = "";
    Property p = properties[find_property(key, on)].what;
    if (p == P_COLOUR) return set_colour(vm, fn, v, to->style);
    if (p == P_WIDTH) return set_number(vm, fn, key, v, 100, &to->style->width);
    if (p == P_SIZE) return set_number(vm, fn, key, v, 200, &to->style->size);
    if (p == P_ALPHA) return set_number(vm, fn, key, v, 1, &to->style->alpha);
    if (!text) return qarg_wrong(vm, fn, key, "a string", v);
    if (set_word(p, text, to, &known)) return QS_OK;
    if (p == P_LOCATION) return qs_fail(vm, QS_EVALUE, "%s: %s, got \"%s\"", fn, known, text);
    return qs_fail(vm, QS_EVALUE, "%s: %s \"%s\" is not known; %s", fn, key, text, known);
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */
static const char *string_at(const qs_call_args *c, int at) {
    return at < c->nin ? qs_to_string(c->in[at], NULL) : NULL;
}

static qs_status read_style(qs_vm *vm, const char *fn, const char *text, Style *out) {
    const char *at;
    if (qcolour_style(text, out, &at)) return QS_OK;
    if (nearest_property(text, ON_ITEM) || qproperty_known(text, ~0U)) return qproperty_unknown(vm, fn, text, ON_ITEM);
    return qs_fail(
        vm, QS_EVALUE,
        "%s: the style \"%s\" may have a colour (r g b k c m y w, or a name alone), a line (- -- -. :) and a "
        "mark (. o * x + s d ^ v < > p h), each once; '%c' is none of them, or another one",
        fn, text, *at);
}

static qs_status read_pairs(qs_vm *vm, const qs_call_args *c, int *at, unsigned on, const Properties *to) {
    for (const char *s; (s = string_at(c, *at)) && qproperty_known(s, on); *at += 2) {
        if (*at + 1 >= c->nin) return qs_fail(vm, QS_EVALUE, "%s: \"%s\" wants a value behind it", c->name, s);
        TRY(set_property(vm, c->name, s, on, c->in[*at + 1], to));
    }
    return QS_OK;
}

static qs_status check_end(qs_vm *vm, const qs_call_args *c, int at, unsigned on) {
    if (string_at(c, at)) return qproperty_unknown(vm, c->name, string_at(c, at), on);
    return at >= c->nin ? QS_OK : qs_fail(vm, QS_EVALUE, "%s: argument %d is not understood", c->name, at + 1);
}

qs_status qproperty_first(qs_vm *vm, qs_call_args *c, int *at, Style *style, char **name) {
    const char *s = string_at(c, *at);
    if (s && !qproperty_known(s, ON_ITEM)) {
        TRY(read_style(vm, c->name, s, style));
        ++*at;
    }
    return read_pairs(vm, c, at, ON_ITEM, &(Properties){.style = style, .name = name});
}

qs_status qproperty_style(qs_vm *vm, qs_call_args *c, int *at, Style *style, char **name) {
    TRY(qproperty_first(vm, c, at, style, name));
    return check_end(vm, c, *at, ON_ITEM);
}

qs_status qproperty_pairs(qs_vm *vm, qs_call_args *c, int at, unsigned on, const Properties *to) {
    TRY(read_pairs(vm, c, &at, on, to));
    return check_end(vm, c, at, on);
}
