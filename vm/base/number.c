/* number.c -- reads and writes numbers in the C locale.
 *
 * The C library uses the locale of the thread, so each call switches the thread to the "C" locale and back.  newlocale
 * of "C" allocates nothing. */
#include "vm/base/number.h"

#include <math.h>

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t enter_c_locale(void) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) abort();
    return uselocale(c);
}

static void leave_c_locale(locale_t before) { freelocale(uselocale(before)); }

double qnum_read(const char *s, char **end) {
    locale_t before = enter_c_locale();
    double x = strtod(s, end);
    return leave_c_locale(before), x;
}

float qnum_read_float(const char *s, char **end) {
    locale_t before = enter_c_locale();
    float x = strtof(s, end);
    return leave_c_locale(before), x;
}

/* -- formats with only %s, %d, %u, %lld, %llu, %c and %% -------------------------------------------------------------
 * Most lines of generated code use only these, and this code is faster for them than the C library. */
static bool is_plain(const char *fmt) {
    for (; *fmt; fmt++) {
        if (*fmt != '%') continue;
        if (fmt[1] == 'l' && fmt[2] == 'l' && (fmt[3] == 'd' || fmt[3] == 'u')) fmt += 2;
        char letter = *++fmt;
        if (letter != 's' && letter != 'd' && letter != 'u' && letter != '%' && letter != 'c') return false;
    }
    return true;
}

typedef struct {
    char *s;
    size_t n, at;
} Room; /* output buffer of n bytes; `at` also counts bytes that do not fit */

static inline void put_char(Room *r, char c) {
    if (r->at < r->n) r->s[r->at] = c;
    r->at++;
}

static void put_digits(Room *r, uint64_t x) {
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + x % 10);
    while (x /= 10);
    while (n) put_char(r, digits[--n]);
}

static void put_int(Room *r, int64_t x) {
    if (x < 0) put_char(r, '-');
    put_digits(r, x < 0 ? 0u - (uint64_t)x : (uint64_t)x);
}

static int print_plain(char *s, size_t n, const char *fmt, va_list ap) {
    Room r = {s, n, 0};
    for (; *fmt; fmt++) {
        bool is_long = *fmt == '%' && fmt[1] == 'l';
        if (is_long) fmt += 2;
        if (*fmt != '%' && !is_long) put_char(&r, *fmt);
        else if (*++fmt == '%') put_char(&r, '%');
        else if (*fmt == 's')
            for (const char *text = va_arg(ap, const char *); *text; text++) put_char(&r, *text);
        else if (*fmt == 'u') put_digits(&r, is_long ? va_arg(ap, unsigned long long) : va_arg(ap, unsigned));
        else if (*fmt == 'd') put_int(&r, is_long ? va_arg(ap, long long) : va_arg(ap, int));
        else put_char(&r, (char)va_arg(ap, int));
    }
    if (n) s[r.at < n ? r.at : n - 1] = 0;
    return (int)r.at;
}

int qnum_vprint(char *s, size_t n, const char *fmt, va_list ap) {
    if (is_plain(fmt)) return print_plain(s, n, fmt, ap);
    locale_t before = enter_c_locale();
    int length = vsnprintf(s, n, fmt, ap);
    return leave_c_locale(before), length;
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

size_t qnum_digits(char out[INTEGER_TEXT], int64_t n) {
    char digits[INTEGER_TEXT];
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    size_t count = 0, at = 0;
    if (n < 0) out[at++] = '-';
    do digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    while (count > 0) out[at++] = digits[--count];
    return at;
}
