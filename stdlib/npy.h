/* npy.h -- what npy.c knows of a .npy file that is read or written in parts (blocks.c). */
#ifndef STDLIB_NPY_H
#define STDLIB_NPY_H
#include "stdlib/stdlib.h"

typedef struct {
    qs_dtype dtype;
    int rank;
    int64_t dims[QS_MAX_RANK];
    uint64_t offset; /* of the first element */
} NpyFile;

/* Of a file whose elements lie as in memory: row-major, in the order of bytes of this machine. */
qs_status qnpy_header(qs_vm *vm, const char *path, int fd, NpyFile *out);
/* Appends the header of such a file; false: NumPy has no elements of this type. */
bool qnpy_begin(Text *t, qs_dtype d, int rank, const int64_t *dims);
#endif
