/* file.h -- opens files that the runtime reads by itself: imports, cache entries, libraries, bundles. */
#ifndef VM_BASE_FILE_H
#define VM_BASE_FILE_H
#include <stdio.h>

/* A descriptor for reading the regular file `path` below the directory `dir` (AT_FDCWD: the working directory).  -1:
 * errno says why.  A pipe, socket or device in its place is refused with ENOTSUP, because opening or reading one may
 * block.  `flags`: more flags of open(2). */
int qfile_open(int dir, const char *path, int flags);
FILE *qfile_stream(const char *path); /* the same as a stream; NULL: errno says why */
const char *qfile_error(int error);   /* strerror, and a sentence of its own for ENOTSUP */
#endif
