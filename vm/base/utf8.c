/* utf8.c -- reads and writes UTF-8 text. */
#include "vm/base/utf8.h"

typedef struct {
    uint32_t first, last;
    int32_t distance;
    uint32_t step;
} CaseRow;

static const CaseRow upper[] = {
#define UPPER(first, last, distance, step) {first, last, distance, step},
#define LOWER(first, last, distance, step)
#include "vm/base/case.def"
};
static const CaseRow lower[] = {
#define UPPER(first, last, distance, step)
#define LOWER(first, last, distance, step) {first, last, distance, step},
#include "vm/base/case.def"
};

enum { UTF8_REPLACEMENT = 0xFFFD };

size_t qutf8_length(const char *s, size_t n) {
    const unsigned char *p = (const unsigned char *)s;
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    if (len > n) return 0;
    /* Longer forms than necessary, surrogates, and code points beyond U+10FFFF (Unicode 15, table 3-7). */
    bool excluded = len > 1 && ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
                                (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F));
    if (excluded) return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    return len;
}

int32_t qutf8_read(const char *s, size_t n, size_t *len) {
    size_t bytes = qutf8_length(s, n);
    *len = bytes ? bytes : 1;
    if (bytes <= 1) return bytes ? (unsigned char)*s : -1;
    int32_t code = (unsigned char)*s & (0x7F >> bytes);
    for (size_t i = 1; i < bytes; i++) code = code << 6 | ((unsigned char)s[i] & 0x3F);
    return code;
}

uint32_t qutf8_next(const char **s, const char *end) {
    size_t len;
    int32_t code = qutf8_read(*s, (size_t)(end - *s), &len);
    return *s += len, code < 0 ? UTF8_REPLACEMENT : (uint32_t)code;
}

void qutf8_add(Text *t, uint32_t c) {
    if (c > 0x10FFFF || c >> 11 == 0xD800 >> 11) c = UTF8_REPLACEMENT;
    if (c < 0x80) qtext_putc(t, (char)c);
    else if (c < 0x800) qtext_putc(t, (char)(0xC0 | c >> 6));
    else if (c < 0x10000) qtext_putc(t, (char)(0xE0 | c >> 12));
    else qtext_putc(t, (char)(0xF0 | c >> 18)), qtext_putc(t, (char)(0x80 | (c >> 12 & 63)));
    if (c >= 0x800) qtext_putc(t, (char)(0x80 | (c >> 6 & 63)));
    if (c >= 0x80) qtext_putc(t, (char)(0x80 | (c & 63)));
}

static uint32_t map_case(const CaseRow *rows, size_t n, uint32_t code) {
    while (n > 1) { /* the row wanted is among the n from `rows` on */
        size_t half = n / 2;
        if (rows[half].first <= code) rows += half, n -= half;
        else n = half;
    }
    bool listed = code >= rows->first && code <= rows->last && (code - rows->first) % rows->step == 0;
    return listed ? code + (uint32_t)rows->distance : code;
}

uint32_t qutf8_upper(uint32_t code) {
    if (code < 0x80) return code >= 'a' && code <= 'z' ? code - ('a' - 'A') : code;
    return map_case(upper, sizeof upper / sizeof *upper, code);
}

uint32_t qutf8_lower(uint32_t code) {
    if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
    return map_case(lower, sizeof lower / sizeof *lower, code);
}
