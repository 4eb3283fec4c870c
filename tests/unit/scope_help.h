/* scope_help.h -- a small VM for the tests of scope and rewriting: a few known names, slots in order. */
#ifndef TESTS_SCOPE_HELP_H
#define TESTS_SCOPE_HELP_H
#include "lang/names/scope.h"
#include "tests/unit/parse_help.h"

typedef struct {
    Ctx *ctx;
    Str *slots[64];
    int n;
} World;

static const char *const known[] = {"size", "zeros", "max", "parallel_do", "pi",
                                    "true", "cos",   "sin", "shown",       "imported"};

static inline int slot_of(World *w, Str *name) {
    for (int i = 0; i < w->n; i++)
        if (w->slots[i] == name) return i;
    w->slots[w->n] = name;
    return w->n++;
}

static inline int world_define(void *ud, Str *name) { return slot_of(ud, name); }

static inline bool world_lookup(void *ud, Str *name, Sym *out) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], name->s)) {
            out->kind = SYM_GLOBAL;
            out->index = slot_of(ud, name);
            return true;
        }
    return false;
}

static inline void world_offer(void *ud, Nearest *near) {
    (void)ud;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) qstr_offer(near, known[i]);
}

static inline Unit *resolved(Ctx *c, World *w, const char *text) {
    Unit *u = parse_text(c, text, strlen(text));
    *w = (World){.ctx = c};
    ScopeHost host = {.ud = w, .lookup = world_lookup, .define = world_define, .offer = world_offer};
    if (u->nerrors == 0) (void)qscope_resolve(u, &host);
    return u;
}
#endif
