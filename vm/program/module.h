/* module.h -- private to the machine: source files as modules, and what their names mean.
 *
 *     module.c    finds, reads and runs files       names.c     what a name means to a module
 *     link.c      joins a file to its imports       modtype.c   what a type means to it
 *     unload.c    what became of replaced ones      source_bundle.c     programs as texts, for other processes
 *     prebuilt.c    programs that were compiled       make.c      compiles them
 *
 * Paths and texts come in, running programs go out; api.c is the door for host programs (quasar.h), qrun.c and prompt.c
 * are the command.  The interpreter asks here what a name or a type means.
 *
 * A file sees its own names, then those of its imports, later ones first, then the built-ins; functions of one name
 * join as overloads.  One flat table for all, as in the original, breaks as soon as two libraries have a helper of the
 * same name. */
#ifndef VM_MODULE_H
#define VM_MODULE_H
#include "lang/names/scope.h"
#include "lang/names/types.h"
#include "vm/interp/proto.h"

#include <time.h>

typedef struct ClassInstance {
    const Type **args;
    int nargs;
    Class *cls;
} ClassInstance; /* of a generic class */

typedef struct ModType { /* a type definition */
    TypeDef *def;
    const Source *src; /* where it is defined */
    const Type *type;  /* NULL: generic, or not yet known */
    Class *cls;
    bool resolving;
    ClassInstance *instances;
    uint32_t ninstances, cap_instances;
} ModType;

typedef enum { MOD_PARSED, MOD_LINKED, MOD_RUNNING, MOD_FAILED, MOD_DONE } ModState; /* from MOD_FAILED on: it ran */

typedef struct {
    uint64_t slot;
    qs_value before;
} Adopted; /* a slot that was another module's, and what it held */

typedef struct Module {
    struct Module *next;
    char *path;
    size_t path_size; /* the file, absolute; of other modules their name; "" when it was refused */
    Unit **units;
    uint32_t nunits, cap_units; /* one; the session has one per line */
    Map names;                  /* own top-level names: global slot */
    Map joined;                 /* names whose functions come from several places: see qnames_joined_again */
    Map types;                  /* own type names: number in typedefs */
    ModType *typedefs;
    uint32_t ntypedefs, cap_typedefs;
    struct Module **imports;
    uint32_t nimports, cap_imports;
    Reduction **rules;
    uint32_t nrules, cap_rules;
    bool rules_known; /* its own and its imports', ordered */
    ModState state;
    bool left; /* another one has taken its place before it had run: it goes then */
    struct timespec changed;
    int64_t bytes;          /* of its file, when it was read */
    const char *called;     /* of the library, whose functions C calls: its name there (qmod_library); else NULL */
    uint32_t visited;       /* of the walk over imports that came by last */
    Function *main;         /* its top level */
    struct Module *heir_of; /* unload.c: whose slots it takes over; NULL when that is settled */
    Adopted *adopted;
    uint32_t nadopted, cap_adopted;
} Module;

void qmod_free(qs_vm *vm, Module *m);
qs_status qmod_open(qs_vm *vm);
void qmod_close(qs_vm *vm);
static inline Module *qmod_of(const Func *f) { return f->unit->module; }

/* Reads, checks and links a file with all that it imports; nothing runs.  A file that is loaded already is found again,
 * unless it was edited, or what it imports; "-" is the standard input. */
qs_status qmod_load_file(qs_vm *vm, const char *path, Module **out);
qs_status qmod_load_text(qs_vm *vm, const char *name, const char *text, size_t n, Module **out);
/* Loads again what the session imported and was edited since, with what imports it, and runs it.  Each goes to f. */
qs_status qmod_reload(qs_vm *vm, void (*f)(qs_vm *vm, const Module *m));
Module *qmod_at(qs_vm *vm, const char *path); /* the one that is loaded; of a library: its
                                                               * program; NULL: none */
qs_status qmod_run(qs_vm *vm, Module *m);     /* its top level, until it succeeds once */
/* A function of a module of the library that C calls, "planes.q"; borrowed.  The first call loads the module. */
qs_status qmod_library(qs_vm *vm, const char *file, const char *name, qs_value *out);
extern const char *const qmod_called[]; /* all such modules, NULL at the end: compiled programs take them along */
void qmod_import_name(const Node *n, Text *out); /* what stands behind `import`, with its ${…} replaced */
qs_status qmod_import(qs_vm *vm, Node *import);  /* an import statement is reached */
qs_status qmod_eval(qs_vm *vm, const char *text, size_t n, qs_value *out); /* one more unit of the session */
void qmod_use(qs_vm *vm, Module *into, Module *m);                         /* names of m become visible in `into` */

/* source_bundle.c: a text that came with a program of another process; NULL, false: there is none. */
const char *qmovelaunch_text(qs_vm *vm, const char *path, size_t *n);
bool qmovelaunch_find(qs_vm *vm, const char *importer, const char *name, char out[]);
void qmovelaunch_close(qs_vm *vm);

Reduction **qmod_rules(qs_vm *vm, Module *m, int *n); /* those that apply to its code */

/* Calls f for m's imports, direct and indirect, those that win first; stops when f returns true, and says so. */
bool qmod_over_imports(qs_vm *vm, Module *m, bool (*f)(void *ud, Module *m), void *ud);
#endif
