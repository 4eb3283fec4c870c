/* types.h -- type expressions to type descriptors. */
#ifndef LANG_TYPES_H
#define LANG_TYPES_H
#include "lang/syntax/ast.h"

typedef struct TypeHost {
    void *ud;
    const Type *(*lookup)(void *ud, Str *name); /* user classes and aliases, bound type parameters; NULL: unknown */
    const Type *(*instantiate)(void *ud, Str *generic, const Type **args, int nargs); /* list[int] */
    bool (*constant)(void *ud, Str *name, double *value); /* a dimension given by a name: vec(N) */
    void (*offer)(void *ud, Nearest *near);
} TypeHost;

/* mods receives the access modifiers written on the type. */
qs_status qtypes_resolve(Ctx *c, TypeExpr *e, const TypeHost *host, const Source *src, const Type **out,
                         TypeMods *mods);
#endif
