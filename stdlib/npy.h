/* npy.h -- declares what the files of save and load share: npy.c, mat.c and safetensors.c, and blocks.c, which reads
 * and writes .npy files in blocks. */
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

/* Row-major arrays from elements a in column-major order, which are contiguous, and the strides of that order. */
qs_status qnpy_from_columns(qs_vm *vm, Array *a, int rank, const int64_t *dims, Array **out);
void qnpy_column_strides(int rank, const int64_t *dims, int64_t *strides);

/* save: calls put for each field of an object, or for each pair "name", value; form: the kind of file, for messages. */
typedef qs_status SaveVariable(void *ud, const char *name, qs_value v);
qs_status qnpy_variables(qs_vm *vm, const char *form, int n, const qs_value *in, SaveVariable *put, void *ud);
/* load(path, name, ...): whether a variable was asked for. */
bool qnpy_is_wanted(const qs_call_args *c, const char *name, size_t n);

/* -- mat.c: MATLAB's files of version 5 to 7 ----------------------------------------------------------------------- */
bool qmat_is(const char *path, const uint8_t *p, size_t n);
qs_status qmat_load(qs_vm *vm, const qs_call_args *c, const char *path, const uint8_t *p, size_t n, Object *o);
qs_status qmat_save(qs_vm *vm, const char *path, int n, const qs_value *in);
/* Makes a value from the elements a (taken over) of a matrix in column-major order; rank >= 2.  1 x 1: a number. */
qs_status qmat_from_columns(qs_vm *vm, Array *a, int rank, const int64_t *dims, qs_value *out);
/* Makes a string, or of several rows a cell of strings, from n characters in column-major order. */
qs_status qmat_strings(qs_vm *vm, int64_t rows, const uint32_t *chars, size_t n, qs_value *out);
/* Returns where the k-th item in column-major order is in row-major order. */
size_t qmat_row_major_index(int rank, const int64_t *dims, size_t k);

/* -- hdf5.c: HDF5, and MATLAB's files of version 7.3 --------------------------------------------------------------- */
bool qhdf5_here(void); /* whether libhdf5 can be opened */
bool qhdf5_is(const uint8_t *p, size_t n);
qs_status qhdf5_load(qs_vm *vm, const qs_call_args *c, const char *path, Object *o);
qs_status qhdf5_save(qs_vm *vm, const char *path, int n, const qs_value *in);

/* -- zlib.c -------------------------------------------------------------------------------------------------------- */
/* Decompresses the first `size` bytes for load; raw: without a header, as in zip files, and nothing may follow them. */
qs_status qzlib_inflate(qs_vm *vm, const char *path, const uint8_t *p, size_t n, bool raw, uint8_t *out, size_t size);
#endif
