/* names.h -- private to the machine: global slots, and what a name means as seen from a module. */
#ifndef VM_NAMES_H
#define VM_NAMES_H
#include "vm/program/module.h"

enum { MEANING_MAX = 32 };

typedef struct Meaning {
    qs_vm *vm;
    Str *name;
    int first; /* the slot that wins; < 0: none */
    Function *functions[MEANING_MAX];
    int n; /* if it holds a function: all of that name, the first wins ties */
} Meaning;

int qnames_slot(qs_vm *vm, Module *m, Str *name);   /* global slot of its own name, made when missing */
int qnames_lookup(qs_vm *vm, Module *m, Str *name); /* global slot of a name as seen from m; < 0: unknown */
void qnames_joined_again(Module *m);                /* m sees others than before: what was joined is joined anew: */
void qnames_rejoin(qs_vm *vm, Module *m);           /* for code that is there already and does not look names up */
Meaning qnames_outside(qs_vm *vm, Module *m, Str *name); /* what it means in m's imports and among the built-ins */
/* The value of a global, or what its name means outside while it has none; a new reference, unset when neither. */
qs_value qnames_value(qs_vm *vm, Module *m, int slot);
/* A global is read that has no value (yet): an outer meaning of the name, if there is one. */
qs_status qnames_unset(qs_vm *vm, Module *m, int slot, qs_value *out);

/* One function value for all of them; functions[0] wins ties.  A new reference. */
qs_value qnames_joined(qs_vm *vm, Str *name, Function **functions, int n);
Function *qnames_set(qs_vm *vm, Str *name, Function **functions, int n);

typedef struct NameVisitor {
    void (*f)(void *ud, const char *name);
    void *ud;
} NameVisitor;
void qnames_in(const Map *map, const NameVisitor *v);
void qnames_each(qs_vm *vm, Module *m, void (*f)(void *ud, const char *name), void *ud); /* visible from m */
bool qnames_offer(qs_vm *vm, Module *m, Nearest *near);
/* The message for a name that is not known, with the nearest one. */
qs_status qnames_unknown(qs_vm *vm, Module *m, const char *what, const char *name);
void qnames_close(qs_vm *vm);
#endif
