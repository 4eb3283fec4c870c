/* warning.c -- decides whether a warning is shown, and writes the warnings that depend on values. */
#include "vm/base/warning.h"

#include "vm/base/number.h"

#include <string.h>

enum { SENTENCE = 1024 };

bool qwarn_wanted(const Ctx *c, Where w) {
    uint32_t i = 0;
    if (c->no_warnings) return false;
    while (w.src && i < w.src->nswitches && w.src->switches[i] <= w.pos) i++;
    return i % 2 == 0;
}

void qwarn_switch(Ctx *c, Source *src, uint32_t pos, bool on) {
    if ((src->nswitches % 2 == 0) == on) return;
    qmem_grow(c, &src->switches, &src->cap_switches, src->nswitches, sizeof *src->switches);
    src->switches[src->nswitches++] = pos;
}

enum { MOST = 1000 }; /* locations that warn, in one source */

/* Returns whether this location has not warned yet.  The list belongs to the source. */
static bool is_new(const Source *src, uint32_t pos) {
    for (uint32_t i = 0; i < src->nwarned; i++)
        if (src->warned[i] == pos) return false;
    return src->nwarned < MOST;
}

static void remember_location(Ctx *c, Source *src, uint32_t pos) {
    qmem_grow(c, &src->warned, &src->cap_warned, src->nwarned, sizeof *src->warned);
    src->warned[src->nwarned++] = pos;
}

bool qwarn_expected(const Ctx *c, Where w) { return c->warn && qwarn_wanted(c, w) && (!w.src || is_new(w.src, w.pos)); }

bool qwarn_code(Where w) { return !w.src || !w.src->library; }

qs_status qwarn_at(Ctx *c, Where w, const char *fmt, ...) {
    char sentence[SENTENCE];
    va_list ap;
    if (!qwarn_expected(c, w)) return QS_OK;
    /* The code that repeats this warns, if it comes here: the value that is computed now may not be needed. */
    if (c->retries && c->retries(c)) return qerr_set(c, QS_EVALUE, "a warning that is not due yet");
    if (w.src) remember_location(c, (Source *)w.src, w.pos);
    va_start(ap, fmt);
    qnum_vprint(sentence, sizeof sentence, fmt, ap);
    va_end(ap);
    return c->warn(c, w, sentence);
}

qs_status qwarn_slip(Ctx *c, Where w, Slip s) {
    static const char *const sentences[] = {
        [SLIP_FRACTION] = "an index is an integer: this one has a fraction, which is dropped",
        [SLIP_CUT] = "the variable has an integer type that does not hold this number, which is cut off",
        [SLIP_MEAN] = "mean: x has no elements, and the result is nan",
        [SLIP_FLOAT32] = "these differ by the rounding of a float32 element only: float64([0.1])[0] == 0.1 holds",
    };
    return qwarn_code(w) ? qwarn_at(c, w, "%s", sentences[s]) : QS_OK;
}

qs_status qwarn_location(Ctx *c, Where w, const char *name, int rank) {
    const char *x = name ? name : "x";
    return qwarn_at(c, w, "this is one element: %s[0..1,%s:] has the rows 0 and 1, %s[0,1%s] is an element", x,
                    rank > 2 ? ":," : "", x, rank > 2 ? ",0" : "");
}

qs_status qwarn_unpacked(Ctx *c, Where w, const char *fn, size_t have, int want, bool meant) {
    if (have > (size_t)want)
        return qerr_at(c, QS_ESHAPE, w,
                       "%s gives one result, an array or cell of %zu elements, but %d variables are "
                       "assigned: write y = %s(…) for the result, and then [a, b] = y for its first elements",
                       fn, have, want, fn);
    if (meant) return QS_OK;
    return qwarn_at(c, w,
                    "%s gives one result, and its %zu elements are unpacked here: if this is meant, write "
                    "y = %s(…), then [a, b] = y",
                    fn, have, fn);
}

qs_status qwarn_unused(Ctx *c, Where w, const char *fn) {
    return qwarn_at(c, w, "the result of %s is not used: %s changes none of its arguments, write y = %s(…)", fn, fn,
                    fn);
}

/* The positions are kept in order, so that a call that runs finds its own quickly.  They arrive nearly in text order,
 * so few entries move. */
void qwarn_note_dimension(Ctx *c, Source *src, uint32_t pos) {
    qmem_grow(c, &src->literal_dims, &src->cap_literal_dims, src->nliteral_dims, sizeof *src->literal_dims);
    uint32_t i = src->nliteral_dims++;
    for (; i > 0 && src->literal_dims[i - 1] > pos; i--) src->literal_dims[i] = src->literal_dims[i - 1];
    src->literal_dims[i] = pos;
}

bool qwarn_dimension_is_noted(Where w) {
    uint32_t lo = 0, hi = w.src ? w.src->nliteral_dims : 0;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (w.src->literal_dims[mid] < w.pos) lo = mid + 1;
        else hi = mid;
    }
    return w.src && lo < w.src->nliteral_dims && w.src->literal_dims[lo] == w.pos;
}

qs_status qwarn_dimension(Ctx *c, Where w, const char *fn, int rank, int dim) {
    if (rank == 1)
        return qwarn_at(c, w,
                        "%s: x is a vec, a row whose elements lie along dimension 1: along dimension %d there is "
                        "one, and nothing to do",
                        fn, dim);
    return qwarn_at(c, w,
                    "%s: dimensions are counted from 0, so a matrix has 0 (down its columns) and 1 (along its "
                    "rows): along %d there is nothing to do; declare x : cube where it may be an image",
                    fn, dim);
}

static bool is_rounding_of(double x, double y) {
    float f = (float)y;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (double)f == x && bits & 0xff;
}

bool qwarn_is_rounded(double x, double y) { return x != y && (is_rounding_of(x, y) || is_rounding_of(y, x)); }
