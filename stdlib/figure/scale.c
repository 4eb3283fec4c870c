/* scale.c -- computes the limits of axes, and ticks at round numbers. */
#include "stdlib/figure/figure.h"
#include "vm/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- limits -------------------------------------------------------------------------------------------------------- */
static void widen_limits(Axis *a, const double b[2], bool sticky_lo, bool sticky_hi, bool tight) {
    double margin = tight ? 0 : 0.05;
    if (!(b[0] <= b[1])) {
        a->lo = a->log ? 1 : 0, a->hi = a->log ? 10 : 1;
        return;
    }
    double lo = a->log ? log10(b[0]) : b[0], hi = a->log ? log10(b[1]) : b[1], span = hi - lo;
    if (span <= fabs(hi) * 1e-12) lo -= (span = fmax(1, fabs(hi) * 0.1)) / 2, hi += span / 2;
    if (!sticky_lo) lo -= margin * span;
    if (!sticky_hi) hi += margin * span;
    a->lo = a->log ? pow(10, lo) : lo, a->hi = a->log ? pow(10, hi) : hi;
}

/* Restricts the bounds to positive numbers of the items, since only these have logarithms. */
static void positive(const Axes *a, AxisName n, double b[2]) {
    Part part = n == AXIS_X ? PART_X : n == AXIS_Y ? PART_Y : PART_Z;
    if (b[0] > 0) return;
    b[0] = INFINITY;
    for (const Item *i = a->items; i; i = i->next)
        for (size_t k = 0; k < i->part[part].n; k++)
            if (i->part[part].x[k] > 0) b[0] = fmin(b[0], i->part[part].x[k]);
    if (!(b[0] < INFINITY)) b[0] = 1, b[1] = 10;
}

static void fit_limits(Axes *a, AxisName n, double b[2]) {
    Axis *x = &a->axis[n];
    bool tight = a->tight, lo = false, hi = false;
    x->whole = false;
    for (const Item *i = a->items; i && n != AXIS_Z; i = i->next)
        x->whole |= i->kind == ITEM_IMAGE && qpaint_unit_pixels(i, n);
    if (x->fixed) return;
    if (x->log) positive(a, n, b);
    for (const Item *i = a->items; i; i = i->next) {
        tight = tight || qpaint_tight(i);
        lo = lo || qpaint_sticky(i, n, b[0]), hi = hi || qpaint_sticky(i, n, b[1]);
    }
    widen_limits(x, b, lo, hi, tight);
}

static void colours(Axes *a) {
    const Item *i = qlayout_mapped(a);
    if (a->ranged || !i || i->kind == ITEM_IMAGE) return;
    const Column *z = &i->part[PART_Z];
    a->range[0] = INFINITY, a->range[1] = -INFINITY;
    for (size_t k = 0; k < z->n; k++)
        if (isfinite(z->x[k])) a->range[0] = fmin(a->range[0], z->x[k]), a->range[1] = fmax(a->range[1], z->x[k]);
    if (!(a->range[0] < a->range[1])) a->range[1] = a->range[0] + 1;
}

void qscale_limits(Axes *a) {
    double b[6] = {INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (const Item *i = a->items; i; i = i->next) {
        double own[6] = {INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY};
        qpaint_bounds(i, own);
        for (int k = 0; k < 6; k++) b[k] = k % 2 ? fmax(b[k], own[k]) : fmin(b[k], own[k]);
    }
    for (int n = 0; n < 3; n++) fit_limits(a, (AxisName)n, b + 2 * n);
    colours(a);
}

double qscale_position(const Axis *a, double v) {
    double t = a->log ? (log10(v) - log10(a->lo)) / (log10(a->hi) - log10(a->lo)) : (v - a->lo) / (a->hi - a->lo);
    if (a->log && !(v > 0)) t = -1e4; /* far below */
    return a->flipped ? 1 - t : t;
}

/* -- ticks --------------------------------------------------------------------------------------------------------- */
/* Returns the smallest of 1, 2, 2.5 or 5 times a power of ten with at most `wanted` steps. */
static double step_for(double span, int wanted, bool whole) {
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double raw = fmax(span / wanted, whole), power = pow(10, floor(log10(raw)));
    for (int i = 0; i < 5; i++) {
        double step = steps[i] * power;
        if (step >= raw * (1 - 1e-9) && !(whole && floor(step) != step)) return step;
    }
    return 10 * power;
}

/* Converts an exponent or a number of powers to int; limits may be infinite. */
static int small_int(double x) { return x > 1000 ? 1000 : x < -1000 ? -1000 : isnan(x) ? 0 : (int)x; }

static int decimals_of(double step) { /* enough to distinguish its multiples */
    for (int d = 0; d < 12; d++)
        if (fabs(step * pow(10, d) - round(step * pow(10, d))) < 1e-6 * fabs(step * pow(10, d))) return d;
    return 12;
}

/* Replaces the hyphen by U+2212, which is as wide as a plus. */
static void minus(char *s, size_t size) {
    size_t n = strlen(s);
    if (*s != '-' || n + 3 > size) return;
    memmove(s + 3, s + 1, n);
    memcpy(s, "\xe2\x88\x92", 3);
}

/* Returns the common part of ticks that differ only in their last digits, which is to be added to their texts;
 * otherwise 0. `digits`: its number of digits. */
static double common_part(const Ticks *t, int *digits) {
    double lo = t->n ? t->at[0] : 0, hi = t->n ? t->at[t->n - 1] : 0, least = fmin(fabs(lo), fabs(hi));
    if (!(lo * hi > 0) || !(least >= 1e4 * (hi - lo)) || !(hi > lo)) return 0;
    double unit = pow(10, ceil(log10(hi - lo) - 1e-9)), units = floor(least / unit + 1e-6);
    *digits = (int)log10(units) + 1;
    return copysign(units * unit, lo);
}

static void write_factor(Ticks *t, int power, double common, int digits) {
    size_t n = 0;
    char number[40];
    if (power)
        n = (size_t)qnum_print(t->factor, TICK_TEXT, "\xc3\x97 10^{%s%d}", power < 0 ? "\xe2\x88\x92" : "",
                               power < 0 ? -power : power);
    if (common == 0) return;
    qnum_print(number, sizeof number, "%.*g", digits < 15 ? digits : 15, fabs(common));
    char *e = strchr(number, 'e');
    if (e) *e = 0;
    n += (size_t)qnum_print(t->factor + n, TICK_TEXT - n, "%s%s %s", n ? " " : "", common < 0 ? "\xe2\x88\x92" : "+",
                            number);
    if (e)
        qnum_print(t->factor + n, TICK_TEXT - n,
                   "\xc3\x97"
                   "10^{%d}",
                   atoi(e + 1));
}

static void write_ticks(Ticks *t, double step) {
    int digits = 0;
    double largest = 0, common = common_part(t, &digits);
    for (int i = 0; i < t->n; i++) largest = fmax(largest, fabs(t->at[i] - common));
    int power = largest > 0 ? small_int(floor(log10(largest) + 1e-4)) : 0;
    power = power >= 5 || power <= -4 ? power : 0;
    double unit = pow(10, power);
    int decimals = decimals_of(step / unit);
    for (int i = 0; i < t->n; i++) {
        double v = t->at[i] - common;
        qnum_print(t->text[i], TICK_TEXT, "%.*f", decimals, fabs(v) < step * 1e-3 ? 0 : v / unit);
        minus(t->text[i], TICK_TEXT);
    }
    write_factor(t, power, common, digits);
}

/* Chooses at least two ticks, because one does not show the scale. */
static void even_ticks(const Axis *a, int wanted, Ticks *t) {
    double lo = fmin(a->lo, a->hi), hi = fmax(a->lo, a->hi), step, first, last;
    do {
        step = step_for(hi - lo, wanted, a->whole && hi - lo >= 2);
        first = ceil(lo / step - 1e-9) + 0.0, last = floor(hi / step + 1e-9);
    } while (last - first < 1 && wanted++ < 9);
    for (double k = first; k <= last && t->n < MOST_TICKS; k++) t->at[t->n++] = k * step;
    write_ticks(t, step);
}

/* Chooses powers of ten, or even ticks if fewer than two powers are in range. */
static void power_ticks(const Axis *a, int wanted, Ticks *t) {
    int first = small_int(ceil(log10(a->lo) - 1e-9)), last = small_int(floor(log10(a->hi) + 1e-9));
    if (last - first < 1) {
        even_ticks(a, wanted, t);
        return;
    }
    int every = small_int(step_for(fmax(last - first, wanted), wanted, false));
    if (every * wanted < last - first) every++; /* happens for a step of 2.5 */
    for (int k = every * small_int(ceil((double)first / every)); k <= last && t->n < MOST_TICKS; k += every) {
        qnum_print(t->text[t->n], TICK_TEXT, "10^{%s%d}", k < 0 ? "\xe2\x88\x92" : "", k < 0 ? -k : k);
        t->at[t->n++] = pow(10, k);
    }
}

static void own_ticks(const Axis *a, Ticks *t) {
    for (size_t k = 0; k < a->nticks && t->n < MOST_TICKS; k++) {
        if (a->ticks[k] < fmin(a->lo, a->hi) || a->ticks[k] > fmax(a->lo, a->hi)) continue;
        if (a->names) qnum_print(t->text[t->n], TICK_TEXT, "%s", a->names[k]);
        else qnum_print(t->text[t->n], TICK_TEXT, "%.6g", a->ticks[k]), minus(t->text[t->n], TICK_TEXT);
        t->at[t->n++] = a->ticks[k];
    }
}

void qscale_ticks(const Axis *a, int wanted, Ticks *t) {
    *t = (Ticks){0};
    wanted = wanted < 2 ? 2 : wanted > 9 ? 9 : wanted;
    if (a->ticks) own_ticks(a, t);
    else if (a->log && a->lo > 0) power_ticks(a, wanted, t);
    else if (a->hi > a->lo && isfinite(a->hi - a->lo)) even_ticks(a, wanted, t);
}
