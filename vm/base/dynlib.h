/* dynlib.h -- opens shared libraries, and reports why a library that is present cannot be loaded. */
#ifndef QUASAR_DYNLIB_H
#define QUASAR_DYNLIB_H
#include <stdbool.h>

enum { DYNLIB_WHY = 300 };

/* Calls dlopen.  If this fails for another reason than a missing file, `why` receives the message of the loader: the
 * library needs another one, is for another processor, or finds no memory.  Otherwise `why` is not changed, so that
 * callers can try several names.  The caller initializes it with "". */
void *qdynlib_open(const char *name, int flags, char why[DYNLIB_WHY]);
typedef struct {
    void *lib; /* NULL: not opened */
    char why[DYNLIB_WHY];
} OpenedLibrary;
/* Opens a library now, with local symbols; `opened` is an OpenedLibrary, so that this may be a callback. */
bool qdynlib_take(void *opened, const char *name);

#endif
