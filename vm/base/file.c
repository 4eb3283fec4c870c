/* file.c -- opens regular files only. */
#include "vm/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int qfile_open(int dir, const char *path, int flags) {
    int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    struct stat st;
    if (fd < 0) return -1;
    int error = fstat(fd, &st) ? errno : S_ISDIR(st.st_mode) ? EISDIR : S_ISREG(st.st_mode) ? 0 : ENOTSUP;
    if (!error) return fd;
    close(fd);
    return errno = error, -1;
}

FILE *qfile_stream(const char *path) {
    int fd = qfile_open(AT_FDCWD, path, 0);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!f && fd >= 0) close(fd);
    return f;
}

const char *qfile_error(int error) { return error == ENOTSUP ? "it is not a regular file" : strerror(error); }
