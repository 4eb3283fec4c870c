/* parts.h -- says which optional parts this build has (parts.def).
 *
 * A part that is off is not compiled.  absent.c, make_absent.c and typed_absent.c define the functions of the part that
 * others call: built-ins report an error, everything else does nothing. */
#ifndef VM_PARTS_H
#define VM_PARTS_H
#include "vm/base/ctx.h"

typedef enum {
#define PART(name, called, module) OPTIONAL_##name,
#include "vm/base/parts.def"
    OPTIONAL_PARTS
} OptionalPart;

/* Returns whether the build has a part; option: "QUASAR_WITH_FIGURES".  -1: no part has this option. */
int qparts_has(const char *option);
/* Sets the error "this build has no figures (QUASAR_WITH_FIGURES)". */
qs_status qparts_absent(Ctx *c, OptionalPart part);
/* Sets the same error if `file` is a module of the library that belongs to an absent part. */
qs_status qparts_check_module(Ctx *c, const char *file);
#endif
