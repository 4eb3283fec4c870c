/* options.h -- the table of options (vm/options.def) as data: values, checks, texts. */
#ifndef VM_OPTIONS_H
#define VM_OPTIONS_H
#include "vm/base/ctx.h"
#include "vm/quasar.h"

typedef enum { OPTION_FLAG, OPTION_INT, OPTION_SIZE, OPTION_TEXT, OPTION_PATH } OptionType;
enum { USE_COMMANDED = 1, USE_PYTHON = 2, USE_KEPT = 4, USE_GIVEN = 8 };

/* The options of qrun alone: its members are the rows COMMAND. */
typedef struct {
#define C_FLAG                                  bool
#define C_INT                                   int
#define C_SIZE                                  size_t
#define C_TEXT                                  const char *
#define C_PATH                                  const char *
#define COMMAND(name, type, check, value, help) C_##type name;
#include "vm/options.def"
} CommandOptions;

typedef struct Option {
    const char *name;
    OptionType type;
    int uses;
    bool in_command;      /* a member of CommandOptions, else of qs_config */
    size_t offset;        /* of the member */
    const char *standard; /* its default as text: "32", "false"; NULL: UNSET */
    /* The condition for a value: at least `least`; one of `choices`; accepted by is_valid, as `expected` says. */
    int64_t least;
    const char *choices, *expected;
    bool (*is_valid)(const char *text);
    const char *alias_of, *alias_text; /* for an ALIAS: the name of the option, and its value or NULL */
    const char *environment;           /* variable that is read if the option is not given, or NULL */
    const char *value, *help;
} Option;

extern const Option qoptions[];
extern const int qoptions_count;

/* Writes the condition for a value, such as "a number from 1 on" or "32 or 64". */
void qoptions_expectation(const Option *o, char *out, size_t n);
/* Returns whether a number is in the range or among the choices. */
bool qoptions_takes_number(const Option *o, int64_t x);
/* Returns whether a text is one of the choices and accepted by the check. */
bool qoptions_takes_text(const Option *o, const char *text);
/* Checks the numbers and choices of a configuration; the devices are checked when they are opened. */
qs_status qoptions_check(Ctx *c, const qs_config *config);
void qoptions_copy_texts(qs_config *config, Ctx *c); /* copies live as long as the VM */

/* -- the command line ---------------------------------------------------------------------------------------------- */
typedef struct {
    qs_config *config;
    CommandOptions *command;
    char error[400]; /* a sentence about a wrong option */
} OptionTarget;
/* Takes the option argv[*i], and its value, which may be the next argument.  Returns false and sets `error`: it is
 * unknown, or its value is wrong. */
bool qoptions_take(OptionTarget *t, int argc, char **argv, int *i);
void qoptions_help(void (*print)(const char *line)); /* the lines of --help about options, ends of lines included */

/* -- options stored in compiled programs --------------------------------------------------------------------------- */
/* Writes the rows KEPT as words: "precision=64 fast-math".  Fails if a value has a blank, or they do not fit. */
qs_status qoptions_keep(Ctx *c, const qs_config *from, char *out, size_t n);
void qoptions_restore(char *words, qs_config *to); /* modifies `words`, and stores pointers into it */
#endif
