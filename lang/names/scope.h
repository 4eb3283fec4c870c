/* scope.h -- who is meant by a name.
 *
 * A tree comes in, and goes out with a symbol at every identifier; unknown names are errors here, before anything runs.
 * The session calls it when it links a file (vm/program/link.c).  Beside it: types.h, what a written type denotes, and
 * rewrite.h, the rewrite rules of a program.
 *
 * A name assigned anywhere in a function (parameter, result, =, +=, for, catch) is a local of that function.  A name
 * only read is looked for outwards: a local of an enclosing function becomes a capture; else the machine is asked for a
 * global (own module, imports, built-ins).  At top level every assigned name is a global of the module.
 *
 * The name of a function defined inside a function is SYM_NESTED: each mention makes a closure with the values that its
 * captures have then.  For real programs define a kernel first and the variables that it uses afterwards; capturing at
 * the mention serves them, and is capture by value all the same.
 *
 * A lambda captures where it stands, global variables too, so that it keeps the values that they have when it is made.
 * A variable that has no value yet is read when it is needed, so that a lambda may call itself.  A name that is only a
 * function is never captured.
 *
 * Index expressions whose base is a type (vec[mat], list[int]) become N_TYPE; so do mentions of a type parameter.
 * Variables of a reduction get a SYM_LOCAL without owner, numbered like the parameters. */
#ifndef LANG_SCOPE_H
#define LANG_SCOPE_H
#include "lang/syntax/ast.h"

typedef struct ScopeHost { /* what the machine knows; ud is passed back */
    void *ud;
    /* An existing name visible from the module: fills kind (SYM_GLOBAL or SYM_TYPE), index, variable, function, type.
     * false: unknown. */
    bool (*lookup)(void *ud, Str *name, Sym *out);
    /* A top-level name that this unit defines: its global slot, made on first request. */
    int (*define)(void *ud, Str *name);
    /* Why a call would fail at once when it ran, and a written type when it is looked up; false: neither would. */
    bool (*call_fails)(void *ud, const Node *call, Text *why);
    bool (*type_fails)(void *ud, TypeExpr *type, const Func *in, Text *why);
    /* Why only the order of definitions decides which function a call means, as far as the text tells the types of its
     * arguments; and why a definition has the parameters of an earlier one.  May be NULL. */
    bool (*call_ties)(void *ud, const Node *call, Text *why);
    bool (*repeats)(void *ud, const Func *f, Text *why);
    /* Offers every visible name to the search for a near miss.  May be NULL. */
    void (*offer)(void *ud, Nearest *near);
    /* Whether the module has no value of that name yet, and sees a variable of an imported file.  May be NULL. */
    bool (*imported)(void *ud, Str *name);
} ScopeHost;

/* Resolves every identifier of the unit.  Unknown names are errors with a did-you-mean, reported as parse errors are:
 * all of them in unit->report.  `session`: the prompt's module, where a name may be defined by an earlier line. */
qs_status qscope_resolve(Unit *u, const ScopeHost *host);

/* How function f sees a local or capture of an enclosing function: the capture through which it comes, `sym` itself
 * when it is f's own.  To make the closure of a SYM_NESTED mentioned in f, load qscope_view(f, c.outer) for each of its
 * captures. */
Sym *qscope_view(Func *f, Sym *sym);
#endif
