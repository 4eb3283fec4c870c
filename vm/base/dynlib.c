/* dynlib.c -- opens shared libraries and distinguishes missing files from other errors. */
#include "vm/base/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Returns whether the loader's message means that the file `name` does not exist.  glibc writes "NAME: cannot open
 * shared object file: No such file or directory"; if a dependency is missing, NAME is the dependency. */
static bool is_absent(const char *name, const char *message) {
    static const char absent[] = ": cannot open shared object file: No such file or directory";
    size_t n = strlen(name);
    return !strncmp(message, name, n) && !strcmp(message + n, absent);
}

void *qdynlib_open(const char *name, int flags, char why[DYNLIB_WHY]) {
    void *lib = dlopen(name, flags);
    const char *message = lib ? NULL : dlerror();
    if (message && !is_absent(name, message)) snprintf(why, DYNLIB_WHY, "%s", message);
    return lib;
}

bool qdynlib_take(void *opened, const char *name) {
    OpenedLibrary *o = opened;
    return (o->lib = qdynlib_open(name, RTLD_NOW | RTLD_LOCAL, o->why)) != NULL;
}
