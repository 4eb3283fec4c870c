/* names.h -- manages global slots and resolves names as seen from a module (private to the VM). */
#ifndef VM_NAMES_H
#define VM_NAMES_H
#include "vm/program/module.h"

typedef struct Meaning {
    qs_vm *vm;
    Str *name;
    int first;            /* the slot that takes precedence; < 0: none */
    Function **functions; /* functions of this name, if the slot holds one; the first wins ties */
    uint32_t n, cap;
} Meaning;

int qnames_slot(qs_vm *vm, Module *m, Str *name); /* global slot of a name that m defines; created if missing */
int qnames_lookup(qs_vm *vm, Module *m,
                  Str *name); /* global slot of a name, or of module.name, as seen from m; < 0: unknown */
/* the imports of m changed: joined overload sets are computed anew */
void qnames_joined_again(Module *m);
/* the same immediately, for compiled code, which does not look names up */
void qnames_rejoin(qs_vm *vm, Module *m);
Meaning qnames_outside(qs_vm *vm, Module *m, Str *name); /* its meaning in m's imports and the built-ins */
void qnames_forget(Meaning *w);                          /* frees the list of functions */
/* The value of a global, or the outer meaning of its name if it has no value.  Returns a new reference; the value is
 * "unset" if there is neither. */
qs_value qnames_value(qs_vm *vm, Module *m, int slot);
/* Sets the error for a variable without a value. */
qs_status qnames_no_value(qs_vm *vm, const char *name);
/* Handles a read of a global without a value: returns the outer meaning of the name, if there is one. */
qs_status qnames_unset(qs_vm *vm, Module *m, int slot, qs_value *out);

/* Joins the functions into one function value; functions[0] wins ties.  Returns a new reference. */
qs_value qnames_joined(qs_vm *vm, Str *name, Function **functions, int n);
Function *qnames_set(qs_vm *vm, Str *name, Function **functions, int n);

typedef struct NameVisitor {
    void (*f)(void *ud, const char *name);
    void *ud;
} NameVisitor;
void qnames_in(const Map *map, const NameVisitor *v);
void qnames_each(qs_vm *vm, Module *m, void (*f)(void *ud, const char *name), void *ud); /* names visible from m */
bool qnames_offer(qs_vm *vm, Module *m, Nearest *near);
/* Sets the error for an unknown name, with the nearest known one. */
qs_status qnames_unknown(qs_vm *vm, Module *m, const char *name);
void qnames_close(qs_vm *vm);
#endif
