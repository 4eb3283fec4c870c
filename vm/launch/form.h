/* form.h -- what a region of the program has become: a form for each combination of kinds of values that it met.
 *
 * The owner begins its own struct with a Variant.  A form keeps its code in its arena, and what is loaded of it. */
#ifndef VM_FORM_H
#define VM_FORM_H
#include "lang/kernel/ir/kfunc.h"
#include "vm/value/object.h"

enum { VARIANT_PROGRAMS = 3 };
typedef struct Variant {
    struct Variant *next;        /* made before this one */
    size_t size;
    Arena arena;
    struct { Device *device; struct Program *program; } on[VARIANT_PROGRAMS];
} Variant;
typedef struct { Variant *last; int n; } Variants;

void *qvariants_new(qs_vm *vm, Variants *list, size_t size); /* zeroed, and the first of the list */
/* The program `which` of the variant on this device; what it had on another one goes. */
qs_status qvariants_load(qs_vm *vm, Variant *v, int which, const KFunc *f, Device *d, struct Program **out);
void qvariants_drop_oldest(qs_vm *vm, Variants *list);
void qvariants_free(qs_vm *vm, Variants *list);
#endif
