/* number.c -- the C library reads and writes numbers by the locale of the thread; here it is the C locale for the time
 * of a call.  newlocale of "C" allocates nothing. */
#include "vm/base/number.h"

#include <math.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t enter(void) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) abort();
    return uselocale(c);
}

static void leave(locale_t before) { freelocale(uselocale(before)); }

double qnum_read(const char *s, char **end) {
    locale_t before = enter();
    double x = strtod(s, end);
    return leave(before), x;
}

float qnum_read_float(const char *s, char **end) {
    locale_t before = enter();
    float x = strtof(s, end);
    return leave(before), x;
}

int qnum_vprint(char *s, size_t n, const char *fmt, va_list ap) {
    locale_t before = enter();
    int length = vsnprintf(s, n, fmt, ap);
    return leave(before), length;
}

int qnum_print(char *s, size_t n, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int length = qnum_vprint(s, n, fmt, ap);
    va_end(ap);
    return length;
}

const char *qnum_shown(double x, char buf[NUMBER_TEXT]) {
    bool whole = x == floor(x) && fabs(x) < 0x1p63;
    qnum_print(buf, NUMBER_TEXT, whole ? "%.0f" : "%.15g", isnan(x) ? fabs(x) : x + 0);
    return buf;
}
