/* scope.h -- who is meant by a name.
 *
 * A name assigned anywhere in a function (parameter, result, =, +=, for, catch) is a local of that function.  A name
 * only read is looked for outwards: a local of an enclosing function becomes a capture; else the machine is asked for a
 * global (own module, imports, built-ins).  The name of a function defined inside a function is SYM_NESTED: each
 * mention makes a closure with the values that its captures have then, so a kernel may be defined before the variables it uses.
 * At top level every assigned name is a global of the module. */
#ifndef LANG_SCOPE_H
#define LANG_SCOPE_H
#include "lang/ast.h"

typedef struct ScopeHost { /* what the machine knows; ud is passed back */
    void *ud;
    /* An existing name visible from the module: fills kind (SYM_GLOBAL or SYM_TYPE), index, type.  false: unknown. */
    bool (*lookup)(void *ud, Str *name, Sym *out);
    /* A top-level name that this unit defines: its global slot, made on first request. */
    int (*define)(void *ud, Str *name);
    /* Offers every visible name to the search for a near miss. */
    void (*offer)(void *ud, Nearest *near);
} ScopeHost;

/* Resolves every identifier of the unit.  Unknown names are errors with a did-you-mean, reported as parse errors are:
 * all of them in unit->report.  `session`: the prompt's module, where a name may be defined by an earlier line. */
qs_status qscope_resolve(Unit *u, const ScopeHost *host);
#endif
