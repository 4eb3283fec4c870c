/* diag.c -- formats and records errors and warnings about source text. */
#include "lang/syntax/diag.h"

#include "vm/base/number.h"
#include "vm/base/warning.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCE = 1024 };

void qdiag_verror(Unit *u, qs_status s, uint32_t pos, const char *fmt, va_list ap) {
    char sentence[SENTENCE];
    va_list again;
    va_copy(again, ap);
    qnum_vprint(sentence, sizeof sentence, fmt, again);
    va_end(again);
    qsource_report(&u->report, qast_where(u, pos), "error", sentence);
    u->nerrors++;
    (void)qerr_vset(u->ctx, s, qast_where(u, pos), fmt, ap); /* keeps an earlier error */
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
    char sentence[SENTENCE];
    va_list ap;
    if (!qwarn_wanted(u->ctx, qast_where(u, pos))) return;
    va_start(ap, fmt);
    qnum_vprint(sentence, sizeof sentence, fmt, ap);
    va_end(ap);
    qsource_report(&u->report, qast_where(u, pos), "warning", sentence);
    char *kept = qast_alloc(u, strlen(sentence) + 1);
    strcpy(kept, sentence);
    struct UnitWarning *w = qast_append(u, &u->warnings, &u->nwarnings, sizeof *w);
    *w = (struct UnitWarning){pos, kept};
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

static const char *find_python_module(const char *name) {
    static const struct {
        const char *module, *names;
    } modules[] = {
#define IN_PYTHON(module, names) {module, " " names},
#include "lang/syntax/python_names.def"
    };
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %s ", name);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strstr(modules[i].names, wanted)) return modules[i].module;
    return NULL;
}

void qdiag_unknown_name(const Nearest *near, bool script, Text *out) {
    const char *name = near->wanted, *habit = qdiag_habit(name, strlen(name)), *module = find_python_module(name);
    const char *last = module && strrchr(module, '.') ? strrchr(module, '.') + 1 : module;
    qtext_printf(out, script ? "unknown name '%s'" : "unknown name %s", name);
    if (habit) qtext_printf(out, ": %s", habit);
    else if (near->home) qtext_printf(out, ": import \"%s\" brings it", near->home);
    else if (near->instead) qtext_printf(out, ": write %s", near->instead);
    else if (module && script)
        qtext_printf(out, ": write %s = pyimport(\"%s\"), then %s.%s(…)", last, module, last, name);
    else if (module) qtext_printf(out, ": Python has it as %s.%s", module, name);
    else if (near->best) qtext_printf(out, script ? ": did you mean '%s'?" : "; did you mean %s?", near->best);
}
