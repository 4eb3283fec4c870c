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

/* The list belongs to the source and goes with it; of a thousand places the rest warns no more. */
static bool first_time(Ctx *c, Source *src, uint32_t pos) {
    enum { MOST = 1000 };
    for (uint32_t i = 0; i < src->nwarned; i++)
        if (src->warned[i] == pos) return false;
    if (src->nwarned == MOST) return false;
    qmem_grow(c, &src->warned, &src->cap_warned, src->nwarned, sizeof *src->warned);
    src->warned[src->nwarned++] = pos;
    return true;
}

qs_status qwarn_at(Ctx *c, Where w, const char *fmt, ...) {
    char sentence[SENTENCE];
    va_list ap;
    if (!c->warn || !qwarn_wanted(c, w) || (w.src && !first_time(c, (Source *)w.src, w.pos))) return QS_OK;
    va_start(ap, fmt);
    qnum_vprint(sentence, sizeof sentence, fmt, ap);
    va_end(ap);
    return c->warn(c, w, sentence);
}

qs_status qwarn_slip(Ctx *c, Where w, Slip s) {
    static const char *const sentences[] = {
        [SLIP_FRACTION] = "an index is a whole number: this one has a fraction, which is dropped",
        [SLIP_CUT] = "the variable has an integer type that does not hold this number, which is cut off",
        [SLIP_FLOAT32] = "these differ by the rounding of a float32 element only: float64([0.1])[0] == 0.1 holds",
    };
    return qwarn_at(c, w, "%s", sentences[s]);
}

qs_status qwarn_place(Ctx *c, Where w, const char *name, int rank) {
    const char *x = name ? name : "x";
    return qwarn_at(c, w, "this is one element: %s[0..1,%s:] has the rows 0 and 1, %s[0,1%s] is an element", x,
                    rank > 2 ? ":," : "", x, rank > 2 ? ",0" : "");
}

static bool is_rounding_of(double x, double y) {
    float f = (float)y;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (double)f == x && bits & 0xff;
}

bool qwarn_is_rounded(double x, double y) { return x != y && (is_rounding_of(x, y) || is_rounding_of(y, x)); }
