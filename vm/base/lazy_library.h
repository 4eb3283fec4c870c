/* lazy_library.h -- opens a C library on first use, so that programs that do not need it start faster.
 *
 * A file that uses a library contains
 *
 *     #define LATE libpng                      name of the struct of functions: libpng.png_read_row …
 *     #define LATE_API "stdlib/png_api.def"    list of its functions, API(name) each, declared by its header
 *     #define LATE_FILE QUASAR_PNG             soname of the library
 *     #include "vm/base/lazy_library.h"
 *
 * and must not call the library before missing() has returned NULL.  With QUASAR_LINKED the library is linked, and the
 * interface is the same. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct {
#define API(name) __typeof__(name) *name;
#include LATE_API
#undef API
} LATE;
static char late_why[200];
static pthread_once_t late_once = PTHREAD_ONCE_INIT;

#ifndef QUASAR_LINKED
#define LATE_TEXT(name) #name /* expands a macro of that name first */
static void late_open(void) {
    void *lib = dlopen(LATE_FILE, RTLD_NOW | RTLD_LOCAL);
    bool good = lib != NULL;
#define API(name) good = good && (*(void **)(void *)&LATE.name = dlsym(lib, LATE_TEXT(name))) != NULL;
#include LATE_API
#undef API
    if (!good) snprintf(late_why, sizeof late_why, "%s", dlerror());
}
#else
static void late_open(void) {
#define API(name) LATE.name = name;
#include LATE_API
#undef API
}
#endif

/* Returns NULL if the library is available, otherwise the reason why not. */
static const char *missing(void) { return pthread_once(&late_once, late_open), *late_why ? late_why : NULL; }
