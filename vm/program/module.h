/* module.h -- represents source files as modules and resolves their names (private to the VM).
 *
 *     module.c         finds, reads and runs files        names.c    meaning of a name in a module
 *     link.c           links a file to its imports        modtype.c  meaning of a type in a module
 *     unload.c         frees replaced modules             make.c     ahead-of-time compilation
 *     prebuilt.c       loads compiled programs            source_bundle.c  sends sources to other processes
 *
 * The input is paths and texts, the result running programs.  Host programs use api.c (quasar.h); qrun.c and prompt.c
 * implement the command.  The interpreter calls these functions to resolve names and types.
 *
 * A file sees its own names, then those of its imports (later imports first), then the built-ins.  Functions of the
 * same name are joined into overload sets.  A single flat table, as in the original implementation, would fail as soon
 * as two libraries had a helper of the same name. */
#ifndef VM_MODULE_H
#define VM_MODULE_H
#include "lang/names/scope.h"
#include "lang/names/types.h"
#include "vm/value/machine.h"

#include <time.h>

typedef struct ClassInstance {
    const Type **args;
    int nargs;
    Class *cls;
} ClassInstance; /* an instance of a generic class */

typedef struct ModType { /* a type definition */
    TypeDef *def;
    const Source *src; /* source that defines it */
    const Type *type;  /* NULL: generic, or not yet resolved */
    Class *cls;
    bool resolving;
    ClassInstance *instances;
    uint32_t ninstances, cap_instances;
} ModType;

/* states from MOD_FAILED on: it has run */
typedef enum { MOD_PARSED, MOD_LINKED, MOD_RUNNING, MOD_FAILED, MOD_DONE } ModState;

typedef struct {
    uint64_t slot;
    qs_value before;
} Adopted; /* a slot taken over from another module, and its previous value */

typedef struct Module {
    struct Module *next;
    char *path;
    size_t path_size; /* absolute path of the file, or the name of a module without one; "" when it was rejected */
    Unit **units;
    uint32_t nunits, cap_units; /* one unit; the session has one per line */
    Map names;                  /* its own top-level names, mapped to global slots */
    Map joined;                 /* names whose functions come from several modules: see qnames_joined_again */
    Map types;                  /* its own type names, mapped to indices in typedefs */
    ModType *typedefs;
    uint32_t ntypedefs, cap_typedefs;
    struct Module **imports;
    uint32_t nimports, cap_imports;
    Map named; /* imports whose names are written module.name: name -> Module *; 0: none any more */
    Reduction **rules;
    uint32_t nrules, cap_rules;
    bool rules_known; /* whether `rules` is complete: its own rules and the rules of its imports, in order */
    ModState state;
    bool left; /* it was replaced before it had run; freed afterwards */
    struct timespec changed;
    int64_t bytes;          /* size of its file when it was read */
    const char *called;     /* name of a library module whose functions C calls (qmod_library); else NULL */
    uint32_t visited;       /* number of the last walk over imports that reached it */
    Function *main;         /* its top level */
    struct Module *heir_of; /* unload.c: module whose slots it takes over; NULL once that is settled */
    Adopted *adopted;
    uint32_t nadopted, cap_adopted;
} Module;

void qmod_free(qs_vm *vm, Module *m);
qs_status qmod_open(qs_vm *vm);
void qmod_close(qs_vm *vm);
static inline Module *qmod_of(const Func *f) { return f->unit->module; }

/* Reads, checks and links a file and everything it imports, without running anything.  A file that is already loaded is
 * reused, unless it or one of its imports was edited; "-" is the standard input. */
qs_status qmod_load_file(qs_vm *vm, const char *path, Module **out);
qs_status qmod_load_text(qs_vm *vm, const char *name, const char *text, size_t n, Module **out);
/* Reloads and runs the modules that the session imported and that were edited since, with the modules that import them.
 * Calls f for each. */
qs_status qmod_reload(qs_vm *vm, void (*f)(qs_vm *vm, const Module *m));
Module *qmod_at(qs_vm *vm, const char *path); /* the loaded module; for a library, its program; NULL: none */
qs_status qmod_run(qs_vm *vm, Module *m);     /* runs its top level, until it succeeds once */
/* Finds a function in a library module that C calls, such as "planes.q"; borrowed.  The first call loads the module. */
qs_status qmod_library(qs_vm *vm, const char *file, const char *name, qs_value *out);
int qmod_library_slot(qs_vm *vm, const char *file, Str *name); /* its global slot; -1: there is none */
extern const char *const qmod_called[]; /* all such modules, NULL-terminated; compiled programs include them */
/* Loads and runs the library module that defines a documented function, for a call without an import.  Only this
 * function becomes visible: *slot is its global slot, -1 if the library has no such function.  u: the unit that calls
 * it, or NULL. */
qs_status qmod_autoload(qs_vm *vm, Module *m, Unit *u, const Str *name, int *slot);
void qmod_import_name(const Node *n, Text *out); /* the name after `import`, with ${…} expanded */
qs_status qmod_import(qs_vm *vm, Node *import);  /* executes an import statement */
qs_status qmod_eval(qs_vm *vm, const char *text, size_t n, qs_value *out); /* runs one more unit in the session */
void qmod_use(qs_vm *vm, Module *into, Module *m);                         /* makes the names of m visible in `into` */
Module *qmod_named(const Module *m, const Str *name); /* of import … as name; NULL: there is none */
/* Splits module.member.  Returns the module, or NULL: the name has no such form, or there is no such module. */
Module *qmod_of_member(qs_vm *vm, const Module *m, const Str *name, Str **member);

/* source_bundle.c: text received with a program of another process; NULL or false: there is none. */
const char *qmovelaunch_text(qs_vm *vm, const char *path, size_t *n);
bool qmovelaunch_find(qs_vm *vm, const char *importer, const char *name, char out[]);
void qmovelaunch_close(qs_vm *vm);

Reduction **qmod_rules(qs_vm *vm, Module *m, int *n); /* the reductions that apply to its code */

/* Calls f for the direct and indirect imports of m whose names it sees, in order of precedence.  Stops and returns true
 * when f returns true. */
bool qmod_over_imports(qs_vm *vm, Module *m, bool (*f)(void *ud, Module *m), void *ud);
/* The same for all files that m needs, also those imported under a name. */
bool qmod_over_files(qs_vm *vm, Module *m, bool (*f)(void *ud, Module *m), void *ud);
#endif
