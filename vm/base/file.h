/* file.h -- opens the files that the runtime itself reads: imports, cache entries, libraries, bundles. */
#ifndef VM_BASE_FILE_H
#define VM_BASE_FILE_H
#include <stdio.h>

/* Returns a descriptor for reading the regular file `path`, relative to the directory `dir` (AT_FDCWD: the working
 * directory), or -1 and sets errno.  A pipe, socket or device is refused with ENOTSUP, because opening or reading one
 * may block.  `flags`: additional flags of open(2), such as O_RDWR for
 * writing, too. */
int qfile_open(int dir, const char *path, int flags);
FILE *qfile_stream(const char *path); /* opens the file as a stream; NULL: see errno */
const char *qfile_error(int error);   /* strerror, except for ENOTSUP */
#endif
