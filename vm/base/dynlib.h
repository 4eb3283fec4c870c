/* dynlib.h -- opens shared libraries, and keeps the reason where one is present but cannot be loaded. */
#ifndef QUASAR_DYNLIB_H
#define QUASAR_DYNLIB_H

enum { DYNLIB_WHY = 300 };

/* dlopen.  Where it fails, and not because there is no such file, `why` receives the message of the loader: the library
 * needs another one, is for another processor, finds no memory.  Otherwise `why` is left alone, so that several names
 * may be tried.  It begins as "". */
void *qdynlib_open(const char *name, int flags, char why[DYNLIB_WHY]);

#endif
