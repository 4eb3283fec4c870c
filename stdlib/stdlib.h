/* stdlib.h -- the built-in functions: their table, and what the files of stdlib share.
 *
 * A call with its arguments comes in, results or an error go out; only the table builtins.def calls natives, and other
 * rooms use what is declared below.
 *
 * A native owns its argument slots (vm/quasar.h): the helpers below replace c->in[i] by a converted value, and results
 * go to c->out at once, before they are filled.  Both are released by the caller, so a native can return at any point.
 *
 * The modules of the library (*.q) are written in the language.  They keep float64: results are made by
 * `uninit_like(img)`, tables by `cast_like(float64([…]), img)`, and functions for kernels leave off `: scalar`, which
 * would round.  They reflect masks and frame images on the host (imboundary.q), not index by index in a kernel, so that
 * the interior of an image needs no test. */
#ifndef STDLIB_STDLIB_H
#define STDLIB_STDLIB_H
#include "vm/array/array.h"
#include "vm/quasar.h"

/* -- core.c: registration ------------------------------------------------------------------------------------------ */
void qlib_register(qs_vm *vm);      /* from qs_open: one walk over builtins.def */
void qlib_close(qs_vm *vm);         /* from qs_close */
bool qpython_has(const char *what); /* python, or a module of it */
bool qpython_bridge(char out[]);    /* the folder, of PATH_MAX, that has the package with the bridge */
/* png jpeg tiff pcre2 zlib lapack figures video cameras: whether it can be opened; -1: it is none of these. */
int qlib_has(const char *library);
bool qvideo_has(void);
bool qvideo_has_devices(void); /* cameras: FFmpeg's libavdevice */
bool qfigure_has(void);

typedef struct { /* a row of builtins.def; name NULL: the heading of a group, its title in doc */
    const char *name, *signature, *doc, *matlab, *numpy;
} LibDoc;
const LibDoc *qlib_docs(int *n);
const LibDoc *qlib_called_elsewhere(const char *name); /* what MATLAB or NumPy call so; NULL: nothing here is like it */
void qlib_manual(Text *out);                           /* what docs/builtins.md says of the table */

typedef struct Lib {           /* Machine.lib */
    size_t overwritten;        /* string.c: columns of the text that the next overwrite covers */
    double timer;              /* time.c: tic, in seconds of the monotonic clock; < 0 never started */
    struct Lapack *lapack;     /* linalg.c: opened on first use */
    struct Regex *regex;       /* regex.c: compiled patterns */
    struct Figures *figures;   /* figure/figure.c */
    struct Progress *progress; /* progress.c */
    struct Windows *windows;   /* window/window.c */
} Lib;
Lib *qlib(qs_vm *vm);

void qlinalg_close(qs_vm *vm);
bool qlinalg_available(void);
bool qregex_here(void);
void qregex_close(qs_vm *vm);
bool qnpy_inflates(void); /* compressed .npz */
void qfigure_close(qs_vm *vm);
void qprogress_open(qs_vm *vm);
void qprogress_close(qs_vm *vm);
void qwindow_end(qs_vm *vm);
struct Tk *qwindow_tk(qs_vm *vm);          /* NULL: there is no window */
int qwidget_is_bar(qs_vm *vm, qs_value v); /* its number; 0: it is no bar of a form */
qs_status qwidget_set_bar(qs_vm *vm, int id, double part, const char *text);
/* The same from any thread, of what is seen alone; part < 0: it stays. */
void qwidget_move_bar(struct Tk *tk, int id, double part, const char *text);
qs_status qfigure_flush(qs_vm *vm); /* figures that have changed are written, or shown */

/* What the column `adjoint` of builtins.def says; NULL: it is no built-in of the table. */
enum { ADJOINT_ZERO = '0', ADJOINT_ELEMENTS = '.', ADJOINT_CALLS = '>', ADJOINT_NONE = '!' };
const char *qlib_adjoint(const struct qs_native_def *d);

/* -- args.c: reading arguments.  Messages name the function, fn or c->name, and the argument, what ----------------- */
qs_status qarg_wrong(qs_vm *vm, const char *fn, const char *what, const char *wanted, qs_value got); /* QS_ETYPE */
qs_status qarg_num(qs_vm *vm, const char *fn, const char *what, qs_value v, double *out);    /* 1-element arrays too */
qs_status qarg_int(qs_vm *vm, const char *fn, const char *what, qs_value v, int64_t *out);   /* a whole number */
qs_status qarg_count(qs_vm *vm, const char *fn, const char *what, qs_value v, int64_t *out); /* a whole number ≥ 0 */
/* n NULL: a C string, in which a NUL byte would hide what follows and is refused. */
qs_status qarg_string(qs_vm *vm, const char *fn, const char *what, qs_value v, const char **s, size_t *n);
/* A dimension 0…7 of an array. */
qs_status qarg_dim(qs_vm *vm, const char *fn, qs_value v, int *out);
/* One that x may have: its own, and the first three, which any image has (along those that x lacks its extent is 1). */
qs_status qarg_dim_of(qs_vm *vm, const char *fn, qs_value x, qs_value v, int *out);
/* Numbers lose no digit: one by itself becomes a vec of one element of the type that holds it exactly, and one that
 * takes part with arrays is converted once, to the type in which they meet (qoperand_meet).  So a native for several
 * operands asks for that type before it opens any of them: here of in[from..to-1]. */
qs_dtype qarg_meet(qs_vm *vm, const qs_call_args *c, int from, int to);
/* The same where results are floats: float64 for what meets in float64 or in integers of 32 bits and more, else
 * `scalar`; or the complex type of that. */
qs_dtype qarg_meet_float(qs_vm *vm, const qs_call_args *c, int from, int to);
/* in[i] as an array; a number becomes a vec of one element. */
qs_status qarg_array(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out);
/* The same for functions that make arrays: a number becomes what it is in a list. */
qs_status qarg_listed(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out);
/* in[i] as an array of dtype d, wherever and however it lies. */
qs_status qarg_typed(qs_vm *vm, qs_call_args *c, int i, const char *what, qs_dtype d, Array **out);
/* in[i] as a contiguous array of dtype d, with the pointer to its first element. */
qs_status qarg_packed(qs_vm *vm, qs_call_args *c, int i, const char *what, qs_dtype d, Array **out, const void **p);
/* in[i] as a contiguous float array: float64 and complex128 stay, everything else becomes float32 or complex64 (float64
 * for wide integers, and for numbers). */
qs_status qarg_floats(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out, const void **p);
static inline bool qarg_given(const qs_call_args *c, int i) { return i < c->nin && c->in[i].kind != QS_NIL; }

/* Results: a new array in out[i], not initialised, with its pointer. */
qs_status qarg_result(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, int rank, const int64_t *dims, Array **out,
                      void **p);
/* One with the shape of x. */
qs_status qarg_result_like(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, const Array *x, Array **out, void **p);
/* The result, if it is an array, has at least as many dimensions as x. */
static inline void qarg_keep(qs_value result, const Array *x) {
    if (result.kind == QS_ARRAY) qarr_keep(result.u.p, x->ndim);
}
/* A vec of numbers that must stay exact: `scalar`, or float64 when one is beyond 2^24. */
qs_status qarg_exact(qs_vm *vm, const double *x, int rank, const int64_t *dims, qs_value *out);

/* Numbers to compute with in double. */
typedef struct {
    Array *a;
    const double *x;
    size_t n;
    int parts;
} Numbers;                                               /* n numbers of 1 (real) or 2 doubles */
int qarg_parts(const qs_call_args *c, int from, int to); /* 2 when one of in[from..to-1] is complex */
/* in[i] so; complex arguments are refused where parts is 1. */
qs_status qarg_wide(qs_vm *vm, qs_call_args *c, int i, const char *what, int parts, Numbers *out);
/* The result of it: an array of dtype d; one number when rank is -1. */
qs_status qarg_narrow(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, int rank, const int64_t *dims, const double *x);

/* -- matrix.c: moving elements ------------------------------------------------------------------------------------- */
typedef struct { /* a vec is 1xN: rank >= 2; ndim: what an array of this shape keeps (qarr_keep) */
    int rank, ndim;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
} Shape;
void qmatrix_shape(const Array *a, Shape *s);
void qmatrix_packed(Shape *s); /* row-major strides for s->dims */
/* Copies a block of n[0..rank-1] elements of `size` bytes between two strided places. */
void qmatrix_move(qs_vm *vm, void *dst, const int64_t *dstride, const void *src, const int64_t *sstride, int rank,
                  const int64_t *n, size_t size);

/* -- stats.c ------------------------------------------------------------------------------------------------------- */
int qstats_main_dim(const Array *a); /* the first dimension longer than 1 */
typedef struct {                     /* lines along one dimension: packed data seen as outer x n x inner */
    size_t outer, n, inner;
} ArrayLines;
ArrayLines qstats_lines(const Array *a, int dim);
/* The first element of line k. */
static inline size_t qstats_line_at(const ArrayLines *l, size_t k) {
    return k / l->inner * l->n * l->inner + k % l->inner;
}
/* The extents of a with dimension `dim` replaced; the rank. */
int qstats_with_dim(const Array *a, int dim, int64_t n, int64_t dims[QS_MAX_RANK]);

/* -- sort.c: stable; NaN last either way; -0 equals 0 -------------------------------------------------------------- */
/* Sorts each line of src into dst, which may be the same: then zeros lose their signs.  index: the old positions in the
 * line, as elements of type `place` laid out as dst; NULL when they are not wanted. */
qs_status qsort_lines(qs_vm *vm, const char *fn, qs_dtype d, const ArrayLines *l, bool down, const void *src, void *dst,
                      qs_dtype place, void *index);
/* In place, ascending, on the calling thread; spare: room for n more. */
void qsort_doubles(double *x, size_t n, double *spare);
/* Drops repetitions of sorted elements; how many are left. */
size_t qsort_distinct(qs_dtype d, void *x, size_t n);
qs_status qsort_unique(qs_vm *vm, qs_call_args *c); /* of real numbers, without positions */

typedef struct {
    uint64_t key;
    size_t at;
} SortItem;
/* Items of n real elements of x, numbered from `first`: the unsigned order of keys is that of the numbers. */
void qsort_items(qs_dtype d, const void *x, size_t n, size_t first, SortItem *items);
/* Sorts n items by key; `spare` has room for n.  Gives the array of the two that holds the result. */
SortItem *qsort_by_key(SortItem *x, SortItem *spare, size_t n);
qs_status qsets_sort(qs_vm *vm, qs_call_args *c, bool down); /* sort of a cell of strings */

/* -- fft.c --------------------------------------------------------------------------------------------------------- */
/* The full convolution of n elements a and m elements b, of 1 or 2 doubles each, by transforms: n + m - 1 elements, m
 * at most n.  The errors of all have the size that rounding gives the largest of them. */
qs_status qfft_convolve(qs_vm *vm, const double *a, size_t n, const double *b, size_t m, int parts, double *out);

/* -- sampled.c ----------------------------------------------------------------------------------------------------- */
/* Zeroed room for n numbers, given back with the same n. */
qs_status qsampled_scratch(qs_vm *vm, const char *fn, size_t n, double **out);
void qsampled_done(qs_vm *vm, double *x, size_t n);
/* The interval k with x[k] <= at <= x[k+1] of ascending x, n >= 2; false: outside, or nan. */
bool qsampled_interval(const double *x, size_t n, double at, size_t *k);
qs_status qsampled_ascending(qs_vm *vm, const char *fn, const char *what, const Numbers *x);

/* -- io.c ---------------------------------------------------------------------------------------------------------- */
qs_status qio_error(qs_vm *vm, const char *fn, const char *verb, const char *path); /* with errno's reason */
qs_status qio_slurp(qs_vm *vm, const char *fn, const char *path, Text *out);        /* a whole file */
qs_status qio_spill(qs_vm *vm, const char *fn, const char *path, const char *s, size_t n);
qs_status qpath_make(qs_vm *vm, const char *fn, const char *path, size_t n); /* a folder and those above it */

/* -- json.c -------------------------------------------------------------------------------------------------------- */
qs_status qjson_read(qs_vm *vm, const char *fn, const char *s, size_t n, qs_value *out); /* s[n] need not be NUL */
void qjson_put_string(qs_vm *vm, Text *t, const char *s, size_t n);

/* -- safetensors.c: what load and save of npy.c do with such files ------------------------------------------------- */
bool qsafetensors_is(const uint8_t *p, size_t n);
qs_status qsafetensors_load(qs_vm *vm, const char *path, const uint8_t *p, size_t n, qs_value *out);
qs_status qsafetensors_save(qs_vm *vm, const char *path, int n, const qs_value *in);

/* -- random.c ------------------------------------------------------------------------------------------------------ */
void qrandom_block(uint64_t seed, uint64_t counter, uint32_t out[4]); /* Philox4x32-10 */
#endif
