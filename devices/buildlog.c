/* buildlog.c -- implements buildlog.h: finds line numbers in compiler messages. */
#include "devices/buildlog.h"

#include <string.h>

enum { MOST_LINES = 100000000 };

typedef struct {
    const char *from, *to;
    uint32_t line;
} Place; /* a location in a log line: the range of its characters, and the line number in it */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Parses the number at p and returns its end, or p if there is none. */
static const char *read_number(const char *p, const char *end, uint32_t *out) {
    for (*out = 0; p < end && is_digit(*p) && *out < MOST_LINES; p++) *out = *out * 10 + (uint32_t)(*p - '0');
    return p;
}

/* Parses :LINE or :LINE:COLUMN at p, followed by a colon; returns its end, or NULL. */
static const char *colons(const char *p, const char *end, uint32_t *line) {
    uint32_t column;
    if (p >= end || *p != ':') return NULL;
    const char *q = read_number(p + 1, end, line);
    if (q == p + 1 || q >= end || *q != ':') return NULL;
    const char *r = read_number(q + 1, end, &column);
    return r == q + 1 ? q : r < end && *r == ':' ? r : NULL;
}

/* Parses `, line LINE` at p and returns its end, or NULL. */
static const char *words(const char *p, const char *end, bool ptx, uint32_t *line) {
    static const char word[] = ", line ";
    size_t n = sizeof word - 1;
    if ((size_t)(end - p) <= n || memcmp(p, word, n) != 0) return NULL;
    const char *q = read_number(p + n, end, line);
    return q > p + n && q < end && *q == (ptx ? ';' : ':') ? q : NULL;
}

/* Returns the start of the name that ends at p, which is quoted or has no spaces. */
static const char *name_before(const char *row, const char *p) {
    bool quoted = p > row && p[-1] == '"';
    const char *q = quoted ? p - 1 : p;
    while (q > row && q[-1] != (quoted ? '"' : ' ')) q--;
    return quoted && q > row ? q - 1 : q;
}

/* Finds the first location between from and to, or the last one. */
static bool find_place(const char *from, const char *to, const char *end, bool last, bool ptx, Place *out) {
    const char *row = from, *behind = NULL;
    bool found = false;
    for (const char *p = from; p < to && (last || !found); p++) {
        uint32_t line;
        if ((!ptx && (behind = colons(p, end, &line))) || (behind = words(p, end, ptx, &line))) {
            *out = (Place){name_before(row, p), behind, line};
            found = true, p = behind - 1;
        }
    }
    return found;
}

/* Returns the first occurrence of a severity word that is followed by a colon, possibly after spaces; NULL: none. */
static const char *severity(const char *row, const char *end, const char *word) {
    size_t n = strlen(word);
    for (const char *p = row; (size_t)(end - p) > n; p++)
        if (!memcmp(p, word, n) && p[n + strspn(p + n, " ")] == ':' && (p == row || p[-1] == ' ')) return p;
    return NULL;
}

/* Finds the location of a log line.  clang writes it before the severity, PoCL after it.  Numbers in the message text
 * are ignored. */
static bool place_of(const char *row, const char *end, bool errors_only, bool ptx, Place *out) {
    static const char *const all[] = {"error", "warning", "note"};
    for (int i = 0; i < (errors_only ? 1 : 3); i++) {
        const char *p = severity(row, end, all[i]);
        if (p)
            return find_place(row, p, end, true, ptx, out) || find_place(p + strlen(all[i]), end, end, false, ptx, out);
    }
    return false;
}

static const char *end_of_row(const char *row) {
    const char *end = strchr(row, '\n');
    return end ? end : row + strlen(row);
}

uint32_t qbuildlog_position(const CodeLines *lines, uint32_t line) {
    return lines->src && line >= 1 && line <= lines->n ? lines->pos[line - 1] : 0;
}

uint32_t qbuildlog_error(const CodeLines *lines, const char *log) {
    for (const char *row = log, *end; *row; row = *end ? end + 1 : end) {
        Place p;
        end = end_of_row(row);
        uint32_t pos = place_of(row, end, true, lines->ptx, &p) ? qbuildlog_position(lines, p.line) : 0;
        if (pos) return pos;
    }
    return 0;
}

void qbuildlog_translate(const CodeLines *lines, const char *log, Text *out) {
    for (const char *row = log, *end; *row; row = *end ? end + 1 : end) {
        Place p;
        int line, column;
        end = end_of_row(row);
        uint32_t pos = place_of(row, end, false, lines->ptx, &p) ? qbuildlog_position(lines, p.line) : 0;
        if (pos) {
            qsource_line_col(lines->src, pos, &line, &column);
            qtext_add(out, row, (size_t)(p.from - row));
            qtext_printf(out, "%s:%d", lines->src->path, line);
            row = p.to;
        }
        qtext_add(out, row, (size_t)(end - row) + (*end == '\n'));
    }
}
