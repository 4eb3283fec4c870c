/* dead_code.h -- removes instructions whose results are not used. */
#ifndef LANG_PASSES_DEAD_CODE_H
#define LANG_PASSES_DEAD_CODE_H
#include "lang/kernel/ir/kfunc.h"

/* Returns a copy of f without the instructions that do not influence the `wanted` parameters.  map: by instruction
 * of f, the instruction of the copy, or 0 if it was removed; NULL: not returned. */
KFunc *kdeadcode(Ctx *c, Arena *arena, const KFunc *f, const bool *wanted, KRef **map);
#endif
