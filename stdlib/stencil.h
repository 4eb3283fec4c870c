/* stencil.h -- declares loops over neighbourhoods of rows, which are compiled twice: stencil.c and stencil_avx2.c. */
#ifndef STDLIB_STENCIL_H
#define STDLIB_STENCIL_H
#include "vm/base/dtype.h"

/* Integers that are compared in median filters: the elements, or keys in the same order. */
typedef enum { KEY_I8, KEY_U8, KEY_I16, KEY_U16, KEY_I32, KEY_U32, KEY_I64, KEY_U64, KEY_TYPES } KeyType;

/* Elements that are compared as they are: integers, and floats without NaN in medians. */
enum { PLAIN_F32 = KEY_TYPES, PLAIN_F64, PLAIN_TYPES };

/* Computes the medians of n windows.  Windows of 3 x 3 elements read rows of n, whose first and last elements are
 * repeated outside; windows of 5 x 5 read rows with four elements more.  scratch has room for three rows. */
typedef void MedianRow(const void *const *rows, size_t n, void *scratch, void *out);

/* The factors that meet rows of elements in a convolution: row r of f, which has `taps` elements, meets row r of x. */
typedef struct {
    const double *x, *f;
    ptrdiff_t x_step, f_step;
    size_t rows, taps;
} Window;

/* Stores the smallest (largest) one of element i of four vectors in out[i] for i < n; NaN loses, and -0 becomes 0.  A
 * vector may begin at out or behind it. */
typedef void ExtremeLoop(const void *const *from, size_t n, void *out);

/* Returns 0 if floats have neither NaN nor -0, or else what they have: at least HAS_NEGATIVE_ZERO if there is -0. */
enum { HAS_NAN = 1, HAS_NEGATIVE_ZERO = 2 };
typedef int SpecialLoop(const void *x, size_t n);

typedef struct {
    MedianRow *median3[PLAIN_TYPES], *median5[PLAIN_TYPES];
    /* Adds to out[i] the sum over all rows r and taps l of f[r][l]*x[r][i-l], in this order. */
    void (*convolve)(const Window *w, size_t n, double *out);
    ExtremeLoop *least[PLAIN_TYPES], *most[PLAIN_TYPES];
    SpecialLoop *special16, *special32, *special64; /* special16 knows the NaN of float16 only */
} StencilLoops;

int qstencil_type(
    qs_dtype d); /* returns the element type of moving extremes for integers, bool and floats of 4 or 8 bytes */
const StencilLoops *qstencil_loops(void);
const StencilLoops *qstencil_loops_avx2(void);
#endif
