/* scope.h -- name resolution: links every identifier of a tree to its symbol.
 *
 * vm/program/link.c calls it when a file is linked.  Unknown names are errors here, before anything runs.  Related
 * headers: types.h resolves type expressions, rewrite.h applies the rewrite rules of a program.
 *
 * A name that is assigned anywhere in a function (parameter, result, =, +=, for, catch) is a local of that function.  A
 * name that is only read is looked up from the inside out: a local of an enclosing function becomes a capture;
 * otherwise the VM looks for a global (own module, imports, built-ins).  At top level every assigned name is a global
 * of the module.
 *
 * The name of a function defined inside a function is SYM_NESTED.  Each mention creates a closure with the values that
 * its captures have at that moment.  Capturing at the mention, and not at the definition, supports programs that define
 * a kernel first and the variables it uses afterwards; it is still capture by value.
 *
 * A lambda captures the values of variables, including globals, when it is created.  A variable that has no value yet
 * is read when it is needed, so that a lambda may call itself.  A name that is only a function is never captured.
 *
 * Index expressions whose base is a type (vec[mat], list[int]) become N_TYPE, as do mentions of a type parameter.
 * Variables of a reduction get a SYM_LOCAL without owner; their index is the number of the parameter. */
#ifndef LANG_SCOPE_H
#define LANG_SCOPE_H
#include "lang/syntax/ast.h"

typedef struct ScopeHost { /* queries to the VM; ud is passed to each */
    void *ud;
    /* Looks up a name visible in the module and sets kind (SYM_GLOBAL or SYM_TYPE), index, variable, function and type;
     * false: unknown. */
    bool (*lookup)(void *ud, Str *name, Sym *out);
    /* The same for a called name that is not visible: loads it from the library, or reports in `why` that it cannot be
     * loaded.  May be NULL. */
    bool (*autoload)(void *ud, Str *name, Sym *out, Text *why);
    /* Returns the global slot of a top-level name that this unit defines; creates it at the first request. */
    int (*define)(void *ud, Str *name);
    /* Report in `why` that a call would certainly fail, or that a type cannot be resolved; false: no such error. */
    bool (*call_fails)(void *ud, const Node *call, Text *why);
    bool (*type_fails)(void *ud, TypeExpr *type, const Func *in, Text *why);
    /* Report in `why` that only the order of definitions decides which function a call means, as far as the types of
     * its arguments are known, or that a definition has the same parameters as an earlier one.  May be NULL. */
    bool (*call_ties)(void *ud, const Node *call, Text *why);
    bool (*repeats)(void *ud, const Func *f, Text *why);
    /* Offers every visible name to the search for a similar spelling.  May be NULL. */
    void (*offer)(void *ud, Nearest *near);
    /* Returns whether the name means a variable of an imported file and the module has no value of its own yet.  May be
     * NULL. */
    bool (*imported)(void *ud, Str *name);
    /* Returns whether `import … as name` names a module, whose names `lookup` finds as name.member.  `near` (or NULL)
     * gets these.  May be NULL. */
    bool (*module)(void *ud, Str *name, Nearest *near);
} ScopeHost;

/* Resolves every identifier of the unit.  All unknown names are reported in unit->report, like parse errors, with a
 * suggestion if a similar name is visible. */
qs_status qscope_resolve(Unit *u, const ScopeHost *host);

/* Returns the symbol through which f accesses a local or capture of an enclosing function: its capture of it, or `sym`
 * itself if it belongs to f; NULL: f does not capture it.  To create a closure of a SYM_NESTED in f, load
 * qscope_view(f, c.outer) for each of its captures. */
Sym *qscope_view(Func *f, Sym *sym);
#endif
