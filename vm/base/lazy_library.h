/* lazy_library.h -- a library of C that is opened when it is first used: a program that never needs it would wait 0.1
 * ms for it
 * at its start, for libtiff 2 ms.  The file that uses one says
 *
 *     #define LATE libpng                      its functions are libpng.png_read_row ...; they
 *     #define LATE_API "stdlib/png_api.def"    stand there, API(name) each, and have the types that its header says
 *     #define LATE_FILE QUASAR_PNG             its soname
 *     #include "vm/base/lazy_library.h"
 *
 * and calls nothing of it before missing() has said NULL.  QUASAR_LINKED: it is linked, and this looks the same. */
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
#define LATE_TEXT(name) #name /* of what a macro of that name stands for */
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

/* NULL: it is here; else why it is not. */
static const char *missing(void) { return pthread_once(&late_once, late_open), *late_why ? late_why : NULL; }
