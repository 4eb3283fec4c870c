#include "lang/syntax/diag.h"

#include "vm/base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCE = 1024 };

static void report(Unit *u, uint32_t pos, const char *severity, const char *fmt, va_list ap) {
    char sentence[SENTENCE];
    qnum_vprint(sentence, sizeof sentence, fmt, ap);
    qsource_report(&u->report, qast_where(u, pos), severity, sentence);
}

void qdiag_verror(Unit *u, qs_status s, uint32_t pos, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    report(u, pos, "error", fmt, again);
    va_end(again);
    u->nerrors++;
    (void)qerr_vset(u->ctx, s, qast_where(u, pos), fmt, ap); /* keeps the first one */
}

void qdiag_error(Unit *u, uint32_t pos, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    qdiag_verror(u, QS_ESYNTAX, pos, fmt, ap);
    va_end(ap);
}

void qdiag_name_error(Unit *u, uint32_t pos, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    qdiag_verror(u, QS_ENAME, pos, fmt, ap);
    va_end(ap);
}

void qdiag_warning(Unit *u, uint32_t pos, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report(u, pos, "warning", fmt, ap);
    va_end(ap);
    u->nwarnings++;
}

const char *qdiag_habit(const char *word, size_t n) {
    static const struct {
        const char *word, *hint;
    } habits[] = {
#define HABIT(word, hint) {word, hint},
#include "lang/syntax/habits.def"
    };
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (strlen(habits[i].word) == n && !memcmp(habits[i].word, word, n)) return habits[i].hint;
    return NULL;
}
