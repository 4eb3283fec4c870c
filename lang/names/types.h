/* types.h -- resolves type expressions to type descriptors. */
#ifndef LANG_TYPES_H
#define LANG_TYPES_H
#include "lang/syntax/ast.h"

typedef struct TypeHost { /* lookup of names that the language does not define; ud is passed to each function */
    void *ud;
    const Type *(*lookup)(void *ud, Str *name); /* class, alias or bound type parameter; NULL: unknown */
    const Type *(*instantiate)(void *ud, Str *generic, const Type **args,
                               int nargs);                /* generic class, as in list[int] */
    bool (*constant)(void *ud, Str *name, double *value); /* value of a name used as a size, as in vec(N) */
    void (*offer)(void *ud, Nearest *near);
} TypeHost;

/* Resolves e; mods, unless NULL, receives the access modifiers written on the type. */
qs_status qtypes_resolve(Ctx *c, TypeExpr *e, const TypeHost *host, const Source *src, const Type **out,
                         TypeMods *mods);
#endif
