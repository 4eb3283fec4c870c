/* simplify.h -- simplifies sums and products of powers in functions with fast math. */
#ifndef LANG_PASSES_SIMPLIFY_H
#define LANG_PASSES_SIMPLIFY_H
#include "lang/kernel/ir/kfunc.h"

KFunc *ksimplify_join(Ctx *c, Arena *arena, const KFunc *f); /* returns f with fewer products */
#endif
