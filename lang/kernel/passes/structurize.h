/* structurize.h -- replaces jumps by conditions. */
#ifndef LANG_PASSES_STRUCTURIZE_H
#define LANG_PASSES_STRUCTURIZE_H
#include "lang/kernel/ir/kfunc.h"

/* A function without CONTINUE, RET and CHECK.  BREAK occurs only in the head of a LOOP, which decides whether there
 * is another iteration:
 *
 *     LOOP
 *       head …  IF over  BREAK  END
 *       body                          starts at body[loop]; the body of a FOR starts after the FOR itself
 *     END */
typedef struct {
    KFunc *func;
    KRef *body;
} KNormal;
void kstructurize_make(Ctx *c, Arena *arena, const KFunc *f, KNormal *out);
#endif
