/* lazy_library.h -- opens a C library on first use, so that programs that do not need it start faster.
 *
 * A file that uses a library contains
 *
 *     #define LATE libpng                      name of the struct of functions: libpng.png_read_row …
 *     #define LAZY_API "stdlib/png_api.def"    list of its functions, API(name) each, declared by its header
 *     #define LAZY_FILE QUASAR_PNG             soname of the library
 *     #include "vm/base/lazy_library.h"
 *
 * and must not call the library before missing() has returned NULL.  With QUASAR_LINKED the library is linked, and the
 * interface is the same. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct {
#define API(name) __typeof__(name) *name;
#include LAZY_API
#undef API
} LAZY;
static char lazy_why[200];
static pthread_once_t lazy_once = PTHREAD_ONCE_INIT;

#ifndef QUASAR_LINKED
#define LAZY_TEXT(name) #name /* expands a macro of that name first */
static void lazy_open(void) {
    void *lib = dlopen(LAZY_FILE, RTLD_NOW | RTLD_LOCAL);
    bool good = lib != NULL;
#define API(name) good = good && (*(void **)(void *)&LAZY.name = dlsym(lib, LAZY_TEXT(name))) != NULL;
#include LAZY_API
#undef API
    if (!good) snprintf(lazy_why, sizeof lazy_why, "%s", dlerror());
}
#else
static void lazy_open(void) {
#define API(name) LAZY.name = name;
#include LAZY_API
#undef API
}
#endif

/* Returns NULL if the library is available, otherwise the reason why not. */
static const char *missing(void) { return pthread_once(&lazy_once, lazy_open), *lazy_why ? lazy_why : NULL; }
