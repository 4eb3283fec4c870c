/* npy.h -- declares the access to headers of .npy files that are read or written in blocks (blocks.c). */
#ifndef STDLIB_NPY_H
#define STDLIB_NPY_H
#include "stdlib/stdlib.h"

typedef struct {
    qs_dtype dtype;
    int rank;
    int64_t dims[QS_MAX_RANK];
    uint64_t offset; /* offset of the first element in the file */
} NpyFile;

/* Reads the header of a file whose elements are row-major and in native byte order. */
qs_status qnpy_header(qs_vm *vm, const char *path, int fd, NpyFile *out);
/* Appends the header of such a file; false: NumPy has no equivalent of this type. */
bool qnpy_begin(Text *t, qs_dtype d, int rank, const int64_t *dims);
#endif
