/* options.c -- checks and parses options by their table, vm/options.def. */
#include "vm/api/options.h"
#include "devices/config.h"
#include "vm/base/str.h"
#include "vm/launch/launch.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDED       USE_COMMANDED
#define PYTHON          USE_PYTHON
#define KEPT            USE_KEPT
#define GIVEN           USE_GIVEN
#define TEXT_OF(...)    TEXT_OF_(__VA_ARGS__)
#define TEXT_OF_(...)   #__VA_ARGS__
#define ANY             .least = 0
#define FROM(x)         .least = (x)
#define ONE_OF(list)    .choices = list
#define LIKE(test, say) .is_valid = test, .expected = say

const Option qoptions[] = {
#define OPTION(id, kind, std, check, use, variable, shown, text)                                                       \
    {.name = #id,                                                                                                      \
     .type = OPTION_##kind,                                                                                            \
     .uses = (use),                                                                                                    \
     .offset = offsetof(qs_config, id),                                                                                \
     .standard = #std,                                                                                                 \
     check,                                                                                                            \
     .environment = variable,                                                                                          \
     .value = shown,                                                                                                   \
     .help = text},
#define COMMAND(id, kind, check, shown, text)                                                                          \
    {.name = #id,                                                                                                      \
     .type = OPTION_##kind,                                                                                            \
     .uses = USE_COMMANDED,                                                                                            \
     .in_command = true,                                                                                               \
     .offset = offsetof(CommandOptions, id),                                                                           \
     check,                                                                                                            \
     .value = shown,                                                                                                   \
     .help = text},
#define ALIAS(id, option, given, shown, text)                                                                          \
    {.name = #id,                                                                                                      \
     .type = OPTION_FLAG,                                                                                              \
     .uses = USE_COMMANDED,                                                                                            \
     .alias_of = #option,                                                                                              \
     .alias_text = given,                                                                                              \
     .value = shown,                                                                                                   \
     .help = text},
#include "vm/options.def"
};
const int qoptions_count = sizeof qoptions / sizeof *qoptions;

/* -- values -------------------------------------------------------------------------------------------------------- */
/* Finds an option by its C name, such as memory_limit; NULL: none. */
static const Option *find_by_name(const char *name) {
    for (int k = 0; k < qoptions_count; k++)
        if (!strcmp(qoptions[k].name, name)) return &qoptions[k];
    return NULL;
}

static bool is_choice(const char *list, const char *text) {
    size_t n = strlen(text);
    for (const char *p = list; *p; p += strcspn(p, "|"), p += *p == '|')
        if (n && strcspn(p, "|") == n && !strncmp(p, text, n)) return true;
    return false;
}

bool qoptions_takes_number(const Option *o, int64_t x) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)x);
    if (o->choices) return is_choice(o->choices, text);
    return x >= o->least && (o->type == OPTION_SIZE || x <= 1 << 20);
}

/* "a|b|c" as "a, b or c". */
static void list_choices(const char *list, char *out, size_t n) {
    size_t k = 0;
    const char *last = strrchr(list, '|');
    for (const char *p = list; *p && k + 5 < n; p++) {
        if (*p != '|') out[k++] = *p;
        else k += (size_t)snprintf(out + k, n - k, "%s", p == last ? " or " : ", ");
    }
    out[k] = 0;
}

void qoptions_expectation(const Option *o, char *out, size_t n) {
    if (o->choices) list_choices(o->choices, out, n);
    else if (o->expected) snprintf(out, n, "%s", o->expected);
    else if (o->type == OPTION_SIZE) snprintf(out, n, "a size like 500M");
    else snprintf(out, n, "a number from %lld on", (long long)o->least);
}

static bool parse_int(const Option *o, const char *text, int *out) {
    char *end;
    long x = strtol(text, &end, 10);
    if (*end || end == text || !qoptions_takes_number(o, x)) return false;
    return *out = (int)x, true;
}

bool qoptions_takes_text(const Option *o, const char *text) {
    return (!o->choices || is_choice(o->choices, text)) && (!o->is_valid || (*text && o->is_valid(text)));
}

/* Parses a value and stores it in `base`, which is the qs_config or CommandOptions; false: it is not a valid value.
 * A text is borrowed. */
static bool parse_value(const Option *o, void *base, const char *text) {
    void *member = (char *)base + o->offset;
    switch (o->type) {
    case OPTION_FLAG: return *(bool *)member = true;
    case OPTION_INT: return parse_int(o, text, member);
    case OPTION_SIZE:
        return o->least == 0 && !strcmp(text, "0") ? (*(size_t *)member = 0, true) : qconfig_bytes(text, member);
    case OPTION_TEXT:
    case OPTION_PATH: return qoptions_takes_text(o, text) && (*(const char **)member = text, true);
    }
    return false;
}

qs_status qoptions_check(Ctx *c, const qs_config *config) {
    for (const Option *o = qoptions; o < qoptions + qoptions_count; o++) {
        const void *member = (const char *)config + o->offset;
        char expected[200];
        if (o->in_command || o->alias_of) continue;
        qoptions_expectation(o, expected, sizeof expected);
        if (o->type == OPTION_INT) {
            int x = *(const int *)member, standard = o->standard ? atoi(o->standard) : 0, n;
            const char *set = o->environment && x == standard ? getenv(o->environment) : NULL;
            if (set && *set && !parse_int(o, set, &n))
                return qerr_set(c, QS_EVALUE, "%s must be %s, got %s", o->environment, expected, set);
            if (x != standard && !qoptions_takes_number(o, x))
                return qerr_set(c, QS_EVALUE, "the option %s must be %s, got %d", o->name, expected, x);
        } else if (o->type == OPTION_TEXT && o->choices) {
            const char *text = *(const char *const *)member;
            if (text && !is_choice(o->choices, text))
                return qerr_set(c, QS_EVALUE, "the option %s must be %s, got %s", o->name, expected, text);
        }
    }
    return QS_OK;
}

void qoptions_copy_texts(qs_config *config, Ctx *c) {
    for (const Option *o = qoptions; o < qoptions + qoptions_count; o++) {
        if (o->in_command || o->alias_of || (o->type != OPTION_TEXT && o->type != OPTION_PATH)) continue;
        const char **text = (const char **)((char *)config + o->offset);
        if (*text) *text = qstr_cname(c, *text)->s;
    }
}

/* -- the command line ---------------------------------------------------------------------------------------------- */
static void spell_option(const Option *o, char *out, size_t n) {
    snprintf(out, n, "--%s", o->name);
    for (char *p = out; *p; p++)
        if (*p == '_') *p = '-';
}

/* Returns whether the argument is the option, as --name, -name or --name=value; *value: the text after its '='. */
static bool names_option(const char *arg, const Option *o, const char **value) {
    char spelled[40];
    spell_option(o, spelled, sizeof spelled);
    size_t n = strlen(spelled);
    *value = NULL;
    if (!strncmp(arg, spelled, n) && arg[n] == '=') return *value = arg + n + 1, true;
    return !strcmp(arg, spelled) || (arg[0] == '-' && arg[1] && arg[1] != '-' && !strcmp(arg + 1, spelled + 2));
}

static bool fail_unknown(OptionTarget *t, const char *arg) {
    char name[64], best[40];
    const char *word = arg + strspn(arg, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (char *p = name; *p; p++)
        if (*p == '-') *p = '_';
    Nearest near = {.wanted = name};
    for (const Option *o = qoptions; o < qoptions + qoptions_count; o++)
        if (o->uses & USE_COMMANDED) qstr_offer(&near, o->name);
    int n = snprintf(t->error, sizeof t->error, "unknown option %.200s", arg);
    if (!near.best) return false;
    spell_option(find_by_name(near.best), best, sizeof best);
    snprintf(t->error + n, sizeof t->error - (size_t)n, ", did you mean %s?", best);
    return false;
}

static bool fail_value(OptionTarget *t, const char *spelled, const Option *o, const char *text) {
    char expected[200];
    qoptions_expectation(o, expected, sizeof expected);
    snprintf(t->error, sizeof t->error, "%s must be %s, got %.100s", spelled, expected, text);
    return false;
}

bool qoptions_take(OptionTarget *t, int argc, char **argv, int *i) {
    const char *arg = argv[*i], *text, *spelled = arg;
    char full[40];
    const Option *named = qoptions, *end = qoptions + qoptions_count;
    if (!strcmp(arg, "-o")) arg = "--out";
    while (named < end && !(named->uses & USE_COMMANDED && names_option(arg, named, &text))) named++;
    if (named == end) return fail_unknown(t, arg);
    if (arg == spelled) spell_option(named, full, sizeof full), spelled = full;
    const Option *o = named->alias_of ? find_by_name(named->alias_of) : named;
    if (!named->value && text) return snprintf(t->error, sizeof t->error, "%s takes no value", spelled), false;
    if (named->value && !text) {
        if (*i + 1 >= argc) return snprintf(t->error, sizeof t->error, "%s needs a value", spelled), false;
        text = argv[++*i];
    }
    if (named->alias_text) text = named->alias_text;
    if (parse_value(o, o->in_command ? (void *)t->command : (void *)t->config, text)) return true;
    return fail_value(t, spelled, o, text);
}

enum { HELP_COLUMN = 23, HELP_WIDTH = 118 };

/* Counts the columns of the text up to `n` bytes: those that do not continue a character of UTF-8. */
static int columns_of(const char *s, size_t n) {
    int columns = 0;
    for (size_t k = 0; k < n; k++) columns += ((unsigned char)s[k] & 0xC0) != 0x80;
    return columns;
}

static void print_wrapped(void (*print)(const char *), const char *left, const char *text) {
    char line[300];
    int n = snprintf(line, sizeof line, "%-*s", HELP_COLUMN, left), column = HELP_COLUMN;
    if (columns_of(left, strlen(left)) + 2 > HELP_COLUMN) {
        snprintf(line, sizeof line, "%s\n", left);
        print(line);
        n = snprintf(line, sizeof line, "%*s", HELP_COLUMN, "");
    }
    for (const char *word = text; *word;) {
        size_t length = strcspn(word, " ");
        int width = columns_of(word, length);
        if (column + width + 1 > HELP_WIDTH) {
            snprintf(line + n, sizeof line - (size_t)n, "\n");
            print(line);
            n = snprintf(line, sizeof line, "%*s", HELP_COLUMN, ""), column = HELP_COLUMN;
        }
        const char *gap = column > HELP_COLUMN ? " " : "";
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%.*s", gap, (int)length, word);
        column += width + (*gap != 0);
        word += length, word += strspn(word, " ");
    }
    snprintf(line + n, sizeof line - (size_t)n, "\n");
    print(line);
}

void qoptions_help(void (*print)(const char *line)) {
    for (const Option *o = qoptions; o < qoptions + qoptions_count; o++) {
        char spelled[40], left[80];
        if (!(o->uses & USE_COMMANDED)) continue;
        spell_option(o, spelled, sizeof spelled);
        snprintf(left, sizeof left, "  %s%s%s", spelled, o->value ? " " : "", o->value ? o->value : "");
        print_wrapped(print, left, o->help);
    }
}

/* -- options stored in programs ------------------------------------------------------------------------------------ */
static qs_status add_word(Ctx *c, Text *words, const Option *o, const void *member) {
    const char *text = o->type == OPTION_TEXT ? *(const char *const *)member : NULL, *before = words->len ? " " : "";
    char name[40];
    spell_option(o, name, sizeof name);
    if (text && strchr(text, ' '))
        return qerr_set(c, QS_EVALUE, "a program cannot keep the option %s \"%s\": it has a blank", o->name, text);
    if (o->type == OPTION_INT) qtext_printf(words, "%s%s=%d", before, name + 2, *(const int *)member);
    else if (o->type == OPTION_SIZE) qtext_printf(words, "%s%s=%zu", before, name + 2, *(const size_t *)member);
    else if (o->type == OPTION_FLAG && *(const bool *)member) qtext_printf(words, "%s%s", before, name + 2);
    else if (text) qtext_printf(words, "%s%s=%s", before, name + 2, text);
    return QS_OK;
}

qs_status qoptions_keep(Ctx *c, const qs_config *from, char *out, size_t n) {
    Text words;
    qs_status s = QS_OK;
    qtext_init(&words, c);
    for (const Option *o = qoptions; o < qoptions + qoptions_count && s == QS_OK; o++)
        if (o->uses & USE_KEPT) s = add_word(c, &words, o, (const char *)from + o->offset);
    if (s == QS_OK && words.len >= n)
        s = qerr_set(c, QS_EVALUE, "a program cannot keep options of %zu bytes, at most %zu", words.len, n - 1);
    if (s == QS_OK) snprintf(out, n, "%s", words.len ? words.s : "");
    return qtext_free(&words), s;
}

void qoptions_restore(char *words, qs_config *to) {
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *text = strchr(word, '=');
        if (text) *text++ = 0;
        for (char *p = word; *p; p++)
            if (*p == '-') *p = '_';
        const Option *o = find_by_name(word);
        if (o && o->uses & USE_KEPT && (text || o->type == OPTION_FLAG)) parse_value(o, to, text);
    }
}
