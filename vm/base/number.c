/* number.c -- the C library reads and writes numbers by the locale of the thread; here it is the C locale for the time
 * of a call.  newlocale of "C" allocates nothing. */
#include "vm/base/number.h"

#include <math.h>

#include <locale.h>
#include <stdint.h>
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

/* -- formats of %s, %d, %u, %c and %% alone -------------------------------------------------------------------------
 * Most lines of code that is made are such, and the C library takes three times as long for them. */
static bool is_plain(const char *fmt) {
    for (; *fmt; fmt++) {
        if (*fmt != '%') continue;
        char letter = *++fmt;
        if (letter != 's' && letter != 'd' && letter != 'u' && letter != '%' && letter != 'c') return false;
    }
    return true;
}

typedef struct {
    char *s;
    size_t n, at;
} Room; /* what does not fit is counted */

static inline void put(Room *r, char c) {
    if (r->at < r->n) r->s[r->at] = c;
    r->at++;
}

static void put_digits(Room *r, uint32_t x) {
    char digits[10];
    int n = 0;
    do digits[n++] = (char)('0' + x % 10);
    while (x /= 10);
    while (n) put(r, digits[--n]);
}

static void put_whole(Room *r, int x) {
    if (x < 0) put(r, '-');
    put_digits(r, x < 0 ? 0u - (uint32_t)x : (uint32_t)x);
}

static int print_plain(char *s, size_t n, const char *fmt, va_list ap) {
    Room r = {s, n, 0};
    for (; *fmt; fmt++) {
        if (*fmt != '%' || *++fmt == '%') put(&r, *fmt);
        else if (*fmt == 's')
            for (const char *text = va_arg(ap, const char *); *text; text++) put(&r, *text);
        else if (*fmt == 'u') put_digits(&r, va_arg(ap, unsigned));
        else if (*fmt == 'd') put_whole(&r, va_arg(ap, int));
        else put(&r, (char)va_arg(ap, int));
    }
    if (n) s[r.at < n ? r.at : n - 1] = 0;
    return (int)r.at;
}

int qnum_vprint(char *s, size_t n, const char *fmt, va_list ap) {
    if (is_plain(fmt)) return print_plain(s, n, fmt, ap);
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
