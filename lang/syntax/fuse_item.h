/* fuse_item.h -- consecutive statements that one kernel computes: the rows that the bytecode compiler makes of them
 * (lang/bytecode/code_region.c) and the expression compiler reads (lang/kernel/lower/fusion/fuse.c). */
#ifndef LANG_FUSE_ITEM_H
#define LANG_FUSE_ITEM_H
#include "lang/syntax/ast.h"

/* A statement `sym = root` before the root of a region.  stored: its value is needed after the region, in R[dst].
 * uses: a bit for each earlier item that it reads; leaves from `first` on are its own.
 *
 * array: the statement changes elements of an array, and sym is the variable `array`.  They are old op root, or root if
 * op is OP__COUNT, where mask is true; mask NULL: root is the new value.  Leaf `target` is the array. */
typedef struct FuseItem {
    Node *root;
    const Sym *sym; /* NULL: a part of the last statement */
    uint8_t dst;
    bool stored, calls; /* calls: contains functions or powers that take long */
    uint32_t uses;
    int first;
    Node *array, *mask; /* array NULL: the value is a new one */
    uint8_t op;
    int target;
} FuseItem;
enum { FUSE_ITEMS = 16 };

/* Returns the last of the n items that gives the variable `node` its value, which is then no leaf; -1: `node` is
 * something else. */
static inline int qfuse_item_of(const FuseItem *items, int n, const Node *node) {
    for (int i = n - 1; node->kind == N_IDENT && i >= 0; i--)
        if (items[i].sym && items[i].sym == node->u.ident.sym) return i;
    return -1;
}
#endif
