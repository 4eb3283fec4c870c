/* colour.c -- defines colours, line styles and colour maps. */
#include "stdlib/figure/figure.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static const Dash dashes[] = {{"--", "dashed", {4.5, 2.6, 4.5, 2.6}},
                              {"-.", "dashdot", {4.8, 2.2, 1.2, 2.2}},
                              {"-", "solid", {0}},
                              {":", "dotted", {1.1, 1.8, 1.1, 1.8}}};
static const char marks[] = ".o*x+sd^v<>ph";
const Style qcolour_plain = {.dash = &dashes[2], .width = 1.5, .size = 6, .alpha = 1};

#define RGB(hex)                                                                                                       \
    { ((hex) >> 16 & 255) / 255.0, ((hex) >> 8 & 255) / 255.0, ((hex)&255) / 255.0 }
static const struct {
    const char *letter, *name;
    Colour colour;
} names[] = {{"r", "red", RGB(0xd62728)},    {"g", "green", RGB(0x2c8c2c)}, {"b", "blue", RGB(0x1f50c8)},
             {"k", "black", RGB(0x000000)},  {"c", "cyan", RGB(0x14aabe)},  {"m", "magenta", RGB(0xbe32aa)},
             {"y", "yellow", RGB(0xe0b400)}, {"w", "white", RGB(0xffffff)}, {"", "orange", RGB(0xff7f0e)},
             {"", "purple", RGB(0x7e2f8e)},  {"", "brown", RGB(0x8c564b)},  {"", "pink", RGB(0xe377c2)},
             {"", "gray", RGB(0x7f7f7f)},    {"", "grey", RGB(0x7f7f7f)},   {"", "olive", RGB(0x8a8b22)},
             {"", "teal", RGB(0x008080)},    {"", "navy", RGB(0x000080)},   {"", "gold", RGB(0xd4a000)}};

Colour qcolour_cycle(int i) {
    static const Colour cycle[] = {RGB(0x0072bd), RGB(0xd95319), RGB(0x5a9628), RGB(0x7e2f8e),
                                   RGB(0xc89600), RGB(0x3ca0c8), RGB(0xa2142f)};
    return cycle[i % (int)(sizeof cycle / sizeof *cycle)];
}

static bool from_hex(const char *s, Colour *out) {
    unsigned v = 0;
    if (*s++ != '#' || strlen(s) != 6) return false;
    for (; isxdigit((unsigned char)*s); s++)
        v = v * 16 + (unsigned)(isdigit((unsigned char)*s) ? *s - '0' : tolower((unsigned char)*s) - 'a' + 10);
    return *out = (Colour)RGB(v), *s == 0;
}

bool qcolour_named(const char *text, Colour *out) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*text && (!strcmp(text, names[i].letter) || !strcasecmp(text, names[i].name)))
            return *out = names[i].colour, true;
    return from_hex(text, out);
}

/* -- styles -------------------------------------------------------------------------------------------------------- */
static const Dash *dash_at(const char *s) {
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++)
        if (strncmp(s, dashes[i].text, strlen(dashes[i].text)) == 0) return &dashes[i];
    return NULL;
}

const Dash *qcolour_dash(const char *text) {
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++)
        if (!strcmp(text, dashes[i].text) || !strcasecmp(text, dashes[i].name)) return &dashes[i];
    return NULL;
}

bool qcolour_mark(const char *text, char *mark) {
    if (!strcmp(text, "none")) return *mark = 0, true;
    if (strlen(text) != 1 || !strchr(marks, *text)) return false;
    return *mark = *text, true;
}

static bool take_colour(Style *s, char c) {
    char letter[2] = {c, 0};
    return !s->coloured && (s->coloured = qcolour_named(letter, &s->colour));
}

bool qcolour_style(const char *text, Style *out, const char **at) {
    *out = qcolour_plain;
    out->dash = NULL;
    out->coloured = *text && qcolour_named(text, &out->colour); /* "red" */
    for (*at = out->coloured ? "" : text; **at;) {
        const Dash *d = out->dash ? NULL : dash_at(*at);
        bool is_mark = !d && !out->mark && strchr(marks, **at);
        if (is_mark) out->mark = **at;
        else if (d) out->dash = d;
        else if (!take_colour(out, **at)) return false;
        *at += d ? strlen(d->text) : 1;
    }
    if (!out->dash && !out->mark) out->dash = qcolour_plain.dash;
    return true;
}

/* -- colour maps --------------------------------------------------------------------------------------------------- */
struct ColourMap {
    const char *name;
    const uint32_t *samples; /* NULL: defined by a formula */
    Colour (*formula)(double t);
};

enum { SAMPLES = 33 };
#define SAMPLED(name, ...) static const uint32_t name##_samples[SAMPLES] = {__VA_ARGS__};
#include "stdlib/figure/colour_maps.def"
#undef SAMPLED

static double ramp(double t) { return t < 0 ? 0 : t > 1 ? 1 : t; }

static Colour gray(double t) { return (Colour){t, t, t}; }
/* Three trapezoids over [0,1] around 3/4, 1/2 and 1/4, with width 1/2 at half height. */
static Colour jet(double t) {
    return (Colour){ramp(1.5 - fabs(4 * t - 3)), ramp(1.5 - fabs(4 * t - 2)), ramp(1.5 - fabs(4 * t - 1))};
}
/* The colours of a glowing body: adds red, then green, then blue. */
static Colour hot(double t) { return (Colour){ramp(t * 8 / 3), ramp(t * 8 / 3 - 1), ramp(t * 4 - 3)}; }
static Colour cool(double t) { return (Colour){t, 1 - t, 1}; }
static Colour spring(double t) { return (Colour){1, t, 1 - t}; }
static Colour summer(double t) { return (Colour){t, 0.5 + t / 2, 0.4}; }
static Colour autumn(double t) { return (Colour){1, t, 0}; }
static Colour winter(double t) { return (Colour){0, t, 1 - t / 2}; }
static Colour bone(double t) {
    Colour h = hot(t);
    return (Colour){(7 * t + h.b) / 8, (7 * t + h.g) / 8, (7 * t + h.r) / 8};
}
static Colour copper(double t) { return (Colour){ramp(1.25 * t), 0.7812 * t, 0.4975 * t}; }
/* All hues, fully saturated. */
static Colour hsv(double t) {
    return (Colour){ramp(fabs(6 * t - 3) - 1), ramp(2 - fabs(6 * t - 2)), ramp(2 - fabs(6 * t - 4))};
}
/* Blue through light grey to red: linear in squared light from the middle to both ends, after the idea of K. Moreland,
 * Diverging color maps for scientific visualization, 2009. */
static Colour coolwarm(double t) {
    static const double ends[2][3] = {{0.230, 0.299, 0.754}, {0.706, 0.016, 0.150}}, middle = 0.865;
    const double *end = ends[t > 0.5];
    double k = pow(fabs(2 * t - 1), 1.15), v[3];
    for (int i = 0; i < 3; i++) v[i] = sqrt((1 - k) * middle * middle + k * end[i] * end[i]);
    return (Colour){v[0], v[1], v[2]};
}

static const ColourMap maps[] = {
#define SAMPLED(name, ...) {#name, name##_samples, NULL},
#include "stdlib/figure/colour_maps.def"
#undef SAMPLED
    {"gray", NULL, gray},     {"jet", NULL, jet},       {"hot", NULL, hot},       {"cool", NULL, cool},
    {"spring", NULL, spring}, {"summer", NULL, summer}, {"autumn", NULL, autumn}, {"winter", NULL, winter},
    {"bone", NULL, bone},     {"copper", NULL, copper}, {"hsv", NULL, hsv},       {"coolwarm", NULL, coolwarm}};

const ColourMap *qcolour_map(const char *name) {
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (!strcasecmp(name, maps[i].name)) return &maps[i];
    return !strcasecmp(name, "grey") ? qcolour_map("gray") : NULL;
}

const char *qcolour_map_name(const ColourMap *m) { return m->name; }

void qcolour_map_list(Text *out) {
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) qtext_printf(out, "%s%s", i ? " " : "", maps[i].name);
}

static Colour mix_colours(uint32_t a, uint32_t b, double t) {
    Colour x = RGB(a), y = RGB(b);
    return (Colour){x.r + t * (y.r - x.r), x.g + t * (y.g - x.g), x.b + t * (y.b - x.b)};
}

Colour qcolour_at(const ColourMap *m, double t) {
    t = ramp(t);
    if (m->formula) return m->formula(t);
    int k = (int)fmin(t * (SAMPLES - 1), SAMPLES - 2);
    return mix_colours(m->samples[k], m->samples[k + 1], t * (SAMPLES - 1) - k);
}
