/* stdlib.h -- declares the built-in functions: their table, and the helpers that the files of stdlib share.
 *
 * Only the table builtins.def calls the native functions.  Other folders use the functions that are declared below.
 *
 * A native function may change its argument slots (vm/quasar.h): the helpers below replace c->in[i] by a converted
 * value. A new result is stored in c->out before it is filled.  The caller releases both, so a native can return at any
 * point.
 *
 * The modules of the library (*.q) are written in the language.  They preserve float64: they create results with
 * `uninit_like(img)` and tables with `cast_like(float64([…]), img)`, and kernel functions omit `: scalar`, which would
 * round.  They reflect masks and pad images on the host (imboundary.q) instead of reflecting each index in a kernel, so
 * that the interior of an image needs no test. */
#ifndef STDLIB_STDLIB_H
#define STDLIB_STDLIB_H
#include "vm/array/array.h"
#include "vm/quasar.h"
#include "vm/value/hooks.h"

/* -- core.c: registration ------------------------------------------------------------------------------------------ */
void qlib_register(qs_vm *vm);      /* called by qs_open: registers every row of builtins.def */
void qlib_close(qs_vm *vm);         /* called by qs_close */
bool qpython_has(const char *what); /* whether Python ("python") or one of its modules is available */
bool qpython_bridge(char out[]);    /* writes the folder of the package with the bridge to out[PATH_MAX] */
/* Returns whether png, jpeg, tiff, pcre2, zlib, lapack, figures, video or cameras can be opened; -1: unknown name. */
int qlib_has(const char *library);
bool qvideo_has(void);
bool qvideo_has_devices(void); /* cameras: FFmpeg's libavdevice */
bool qfigure_has(void);

const LibDoc *qlib_docs(int *n);
const LibDoc *qlib_called_elsewhere(const char *name); /* by its name in MATLAB or NumPy; NULL: no equivalent */
void qlib_manual(Text *out);                           /* appends the text of docs/builtins.md */

typedef struct Lib {           /* the state of the library in one VM (Machine.lib) */
    size_t overwritten;        /* string.c: number of columns of text that the next overwrite covers */
    double timer;              /* time.c: time of the last tic, in seconds of the monotonic clock; < 0: none */
    struct Lapack *lapack;     /* linalg.c: opened on first use */
    struct Regex *regex;       /* regex.c: compiled patterns */
    struct Figures *figures;   /* figure/figure.c */
    struct Progress *progress; /* progress.c */
    struct Windows *windows;   /* window/window.c */
    struct FftPlans *fft;      /* fft.c: plans of the lengths used last */
} Lib;
Lib *qlib(qs_vm *vm);

void qstring_put(qs_vm *vm, const char *s, size_t n); /* string.c: writes to the output as print does */
void qlinalg_close(qs_vm *vm);
bool qlinalg_available(void);
bool qregex_here(void);
void qregex_close(qs_vm *vm);
void qfft_close(qs_vm *vm);
bool qzlib_here(void); /* whether compressed files can be read */
void qfigure_close(qs_vm *vm);
void qprogress_open(qs_vm *vm);
void qprogress_close(qs_vm *vm);
void qwindow_end(qs_vm *vm);
struct Tk *qwindow_tk(qs_vm *vm);          /* NULL: no window has been opened */
int qwidget_is_bar(qs_vm *vm, qs_value v); /* returns the number of a progress bar widget; 0: v is not one */
qs_status qwidget_set_bar(qs_vm *vm, int id, double part, const char *text);
/* Updates only the display of the bar, from any thread; part < 0: leaves the position unchanged. */
void qwidget_move_bar(struct Tk *tk, int id, double part, const char *text);
qs_status qfigure_flush(qs_vm *vm); /* writes or shows the figures that have changed */

/* -- args.c: reading arguments.  Messages name the function (fn or c->name) and the argument (what) ---------------- */
qs_status qarg_wrong(qs_vm *vm, const char *fn, const char *what, const char *wanted, qs_value got); /* sets QS_ETYPE */
qs_status qarg_num(qs_vm *vm, const char *fn, const char *what, qs_value v, double *out);    /* or a 1-element array */
qs_status qarg_int(qs_vm *vm, const char *fn, const char *what, qs_value v, int64_t *out);   /* an integer */
qs_status qarg_count(qs_vm *vm, const char *fn, const char *what, qs_value v, int64_t *out); /* an integer ≥ 0 */
/* Reads a string.  n NULL: a C string; a string with a NUL byte is refused, because C would cut it there. */
qs_status qarg_string(qs_vm *vm, const char *fn, const char *what, qs_value v, const char **s, size_t *n);
/* Reads a dimension 0…7 of an array. */
qs_status qarg_dim(qs_vm *vm, const char *fn, qs_value v, int *out);
/* Reads a dimension that x may have: one of its own, or one of the first three (with extent 1 if x lacks it). */
qs_status qarg_dim_of(qs_vm *vm, const char *fn, qs_value x, qs_value v, int *out);
/* Returns the common dtype of in[from..to-1] (qoperand_meet).  Numbers lose no digit: a number by itself becomes a
 * 1-element vec of the type that represents it exactly, and a number used together with arrays is converted once, to
 * the common type.  A native with several operands must therefore call this before it opens any of them. */
qs_dtype qarg_meet(qs_vm *vm, const qs_call_args *c, int from, int to);
/* The same for float results: float64 if the common type is float64 or an integer of at least 32 bits, otherwise
 * `scalar`; the corresponding complex type if an operand is complex. */
qs_dtype qarg_meet_float(qs_vm *vm, const qs_call_args *c, int from, int to);
/* Opens in[i] as an array; a number becomes a 1-element vec. */
qs_status qarg_array(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out);
/* The same for functions that create arrays: a number is converted as in an array literal. */
qs_status qarg_listed(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out);
/* Opens in[i] as an array of dtype d, in any memory space and layout. */
qs_status qarg_typed(qs_vm *vm, qs_call_args *c, int i, const char *what, qs_dtype d, Array **out);
/* Opens in[i] as a contiguous array of dtype d and returns the pointer to its first element. */
qs_status qarg_packed(qs_vm *vm, qs_call_args *c, int i, const char *what, qs_dtype d, Array **out, const void **p);
/* Opens in[i] as a contiguous float array: float64 and complex128 are kept, every other type becomes float32 or
 * complex64 (float64 for wide integers and for numbers). */
qs_status qarg_floats(qs_vm *vm, qs_call_args *c, int i, const char *what, Array **out, const void **p);
static inline bool qarg_given(const qs_call_args *c, int i) { return i < c->nin && c->in[i].kind != QS_NIL; }

/* Stores a new, uninitialised array in out[i] and returns the pointer to its elements. */
qs_status qarg_result(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, int rank, const int64_t *dims, Array **out,
                      void **p);
/* The same with the shape of x. */
qs_status qarg_result_like(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, const Array *x, Array **out, void **p);
/* Gives the result, if it is an array, at least as many dimensions as x has. */
static inline void qarg_keep(qs_value result, const Array *x) {
    if (result.kind == QS_ARRAY) qarr_keep(result.u.p, x->ndim);
}
/* Creates a vec of numbers that must stay exact: `scalar`, or float64 if a number exceeds 2^24. */
qs_status qarg_exact(qs_vm *vm, const double *x, int rank, const int64_t *dims, qs_value *out);

/* Sets a field of an object that is a result, and takes the reference to v. */
qs_status qarg_set_field(qs_vm *vm, Object *o, const char *name, qs_value v);

/* Numbers converted to double for computing. */
typedef struct {
    Array *a;
    const double *x;
    size_t n;
    int parts;
} Numbers;                                               /* parts: doubles per number, 1 (real) or 2 (complex) */
int qarg_parts(const qs_call_args *c, int from, int to); /* 2 if one of in[from..to-1] is complex, otherwise 1 */
/* Opens in[i] as such numbers; parts 1 refuses complex arguments. */
qs_status qarg_wide(qs_vm *vm, qs_call_args *c, int i, const char *what, int parts, Numbers *out);
/* Stores the result of such a computation: an array of dtype d, or a single number if rank is -1. */
qs_status qarg_narrow(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, int rank, const int64_t *dims, const double *x);

/* -- matrix.c: moving elements ------------------------------------------------------------------------------------- */
/* Shape of a matrix; a vec is 1xN, so rank >= 2; ndim: number of dimensions that a result keeps (qarr_keep). */
typedef struct {
    int rank, ndim;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
} Shape;
void qmatrix_shape(const Array *a, Shape *s);
/* Copies a block of n[0..rank-1] elements of `size` bytes between two strided buffers. */
void qmatrix_move(qs_vm *vm, void *dst, const int64_t *dstride, const void *src, const int64_t *sstride, int rank,
                  const int64_t *n, size_t size);

/* -- stats.c ------------------------------------------------------------------------------------------------------- */
int qstats_main_dim(const Array *a); /* returns the first dimension longer than 1 */
/* The arguments x and dim, which is otherwise the first dimension longer than 1. */
qs_status qstats_array_and_dim(qs_vm *vm, qs_call_args *c, Array **a, int *dim);
typedef struct { /* lines along one dimension: contiguous data viewed as outer x n x inner */
    size_t outer, n, inner;
} ArrayLines;
ArrayLines qstats_lines(const Array *a, int dim);
/* Returns the index of the first element of line k. */
static inline size_t qstats_line_at(const ArrayLines *l, size_t k) {
    return k / l->inner * l->n * l->inner + k % l->inner;
}
/* Computes the extents of a with dimension `dim` replaced; returns the rank. */
int qstats_with_dim(const Array *a, int dim, int64_t n, int64_t dims[QS_MAX_RANK]);

/* -- sort.c: stable; NaN is last in both directions; -0 equals 0 --------------------------------------------------- */
/* Sorts each line of src into dst.  If dst is src, zeros lose their signs.  index: receives the old positions in the
 * line, as elements of type `place` with the layout of dst; NULL: not wanted. */
qs_status qsort_lines(qs_vm *vm, const char *fn, qs_dtype d, const ArrayLines *l, bool down, const void *src, void *dst,
                      qs_dtype place, void *index);
/* Sorts in place, ascending, on the calling thread; spare: room for n more numbers. */
void qsort_doubles(double *x, size_t n, double *spare);
/* Removes repeated values from sorted elements; returns how many remain. */
size_t qsort_distinct(qs_dtype d, void *x, size_t n);
qs_status qsort_unique(qs_vm *vm, qs_call_args *c); /* for real numbers, without positions */

typedef struct {
    uint64_t key;
    size_t at;
} SortItem;
/* Creates items for n real elements of x, numbered from `first`.  The unsigned order of the keys is the order of the
 * numbers. */
void qsort_items(qs_dtype d, const void *x, size_t n, size_t first, SortItem *items);
/* Sorts n items by key; `spare` has room for n.  Returns the one of the two arrays that holds the result. */
SortItem *qsort_by_key(SortItem *x, SortItem *spare, size_t n);
qs_status qsets_sort(qs_vm *vm, qs_call_args *c, bool down); /* sorts a cell of strings */

/* -- fft.c --------------------------------------------------------------------------------------------------------- */
/* The full convolution of n elements a and m elements b is wanted at positions `from` to `end`-1; elements have `parts`
 * (1 or 2) doubles. */
typedef struct {
    size_t n, m, from, end;
    int parts;
} ConvolutionSize;
/* Computes these positions by FFT.  The absolute error of every element is about the rounding error of the largest. */
qs_status qfft_convolve(qs_vm *vm, const double *a, const double *b, const ConvolutionSize *size, double *out);
/* Estimates its time, in the unit of one step for one complex number. */
double qfft_convolve_cost(const ConvolutionSize *size);

/* -- sampled.c ----------------------------------------------------------------------------------------------------- */
/* Allocates n zeroed numbers; qsampled_done releases them with the same n. */
qs_status qsampled_scratch(qs_vm *vm, const char *fn, size_t n, double **out);
void qsampled_done(qs_vm *vm, double *x, size_t n);
/* Finds the interval k with x[k] <= at <= x[k+1] in ascending x, n >= 2; false: `at` is outside or nan. */
bool qsampled_interval(const double *x, size_t n, double at, size_t *k);
qs_status qsampled_ascending(qs_vm *vm, const char *fn, const char *what, const Numbers *x);

/* -- io.c ---------------------------------------------------------------------------------------------------------- */
qs_status qio_error(qs_vm *vm, const char *fn, const char *verb, const char *path); /* includes the reason from errno */
qs_status qio_slurp(qs_vm *vm, const char *fn, const char *path, Text *out);        /* reads a whole file */
qs_status qio_spill(qs_vm *vm, const char *fn, const char *path, const char *s, size_t n);
/* Reads in[i], if it is given: one character, and none of `refused`. */
qs_status qio_separator(qs_vm *vm, qs_call_args *c, int i, const char *refused, char *sep);
qs_status qpath_make(qs_vm *vm, const char *fn, const char *path, size_t n); /* creates a folder and its parents */

/* -- json.c -------------------------------------------------------------------------------------------------------- */
qs_status qjson_read(qs_vm *vm, const char *fn, const char *s, size_t n, qs_value *out); /* s[n] may be any byte */
void qjson_put_string(qs_vm *vm, Text *t, const char *s, size_t n);

/* -- safetensors.c: load and save (npy.c) for .safetensors files --------------------------------------------------- */
bool qsafetensors_is(const uint8_t *p, size_t n);
qs_status qsafetensors_load(qs_vm *vm, const char *path, const uint8_t *p, size_t n, qs_value *out);
qs_status qsafetensors_save(qs_vm *vm, const char *path, int n, const qs_value *in);
#endif
