/* quasar.h -- declares the embedding API of the Quasar array language.  Only this header and quasar_types.h (statuses
 * and values) are installed.
 *
 * Conventions.  A function that can fail returns qs_status and stores its result through the last argument, which is
 * written only on success.  Arguments are borrowed; results are owned by the caller, who releases them with qs_release.
 * The VM keeps the first error, with its message and source location, until qs_error_clear.  Only one thread may use a
 * qs_vm at a time. */
#ifndef QUASAR_H
#define QUASAR_H
#include "quasar_types.h" /* without a path, because both headers are installed in one folder */
#include <stdarg.h>
#ifdef __cplusplus
extern "C" {
#endif

#define QS_API __attribute__((visibility("default")))
typedef struct qs_array_info { /* dims and strides count elements; in foreign memory strides may be negative or zero */
    qs_dtype dtype;
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    size_t nbytes; /* size of the elements in bytes; qs_array_wrap ignores it */
    bool readonly; /* true: writing to the array is an error */
} qs_array_info;

/* Describes packed memory of `rank` dimensions; the last index varies fastest. */
static inline qs_array_info qs_array_packed(qs_dtype dtype, int rank, const int64_t *dims) {
    qs_array_info a = {dtype, rank, {0}, {0}, 0, false};
    int64_t stride = 1;
    for (int i = rank < QS_MAX_RANK ? rank : QS_MAX_RANK; i-- > 0; stride *= dims[i])
        a.dims[i] = dims[i], a.strides[i] = stride;
    return a;
}

typedef struct {
    const char *file, *function;
    int line, column;
} qs_where;
typedef struct {
    const char *name, *kind;
    int id;
    size_t memory;
    bool default_device;
} qs_device_info;

/* A native function.  in[0..nin-1] are borrowed; out[0..nout-1] start as nil and become owned by the caller.  A native
 * may move an argument out of `in` (setting in[i] to nil) and reuse its block if it holds the only reference, or
 * replace the argument by another owned value.  The caller releases all values that it finds in `in` and `out`, also
 * after a failure.  out[0] may be written even when nout is 0. */
typedef struct qs_call_args {
    int nin, nout;
    qs_value *in, *out;
    /* the last nnamed arguments were written name := value; only foreign callables receive them */
    int nnamed;
    const qs_value *names; /* names of these arguments, as strings */
    const char *name;      /* name of the called function, for messages */
} qs_call_args;
typedef qs_status qs_native_fn(qs_vm *vm, qs_call_args *c);
typedef struct qs_native_def {
    const char *name;
    qs_native_fn *fn;
    int8_t min_in, max_in; /* max_in -1: any number of arguments */
    int8_t max_out;
    const char *doc;
} qs_native_def;

enum { QS_OP_IN_PLACE = 0x100 }; /* flag in `op` of a foreign type's operator: the operation was written a op= b */

/* The operations of a foreign type, such as pyvalue.  A NULL member means "not supported". */
typedef struct qs_foreign_type {
    const char *name;
    void (*release)(void *p);
    qs_status (*call)(qs_vm *, void *p, qs_call_args *);
    qs_status (*get)(qs_vm *, void *p, qs_value key, qs_value *out);
    qs_status (*set)(qs_vm *, void *p, qs_value key, qs_value v);
    qs_status (*op)(qs_vm *, int op, qs_value a, qs_value b, qs_value *out);
    qs_status (*format)(qs_vm *, void *p, qs_value *out);
    qs_status (*iter)(qs_vm *, void *p, qs_value *out); /* out: a foreign value that supports `next` */
    qs_status (*next)(qs_vm *, void *p, bool *more, qs_value *out);
    /* x[i, j].  If these are set, get and set serve only x.name.  The indices have the form in which they were written:
     * numbers, ranges, or nil for a colon. */
    qs_status (*get_item)(qs_vm *, void *p, int n, const qs_value *at, qs_value *out);
    qs_status (*set_item)(qs_vm *, void *p, int n, const qs_value *at, qs_value v);
    /* Calls x.name(…) in one step.  *found false: x has no such method; a function called `name` may then take x
     * instead. */
    qs_status (*method)(qs_vm *, void *p, qs_value name, qs_call_args *, bool *found);
    qs_status (*truth)(qs_vm *, void *p, bool *out);
    bool (*is_space)(void *p); /* true: p is a module, so reductions do not rewrite its attributes */
    /* For a value that is the payload of an error: the value that `catch` receives (NULL: the payload itself), and the
     * text shown below the error report. */
    qs_status (*caught)(qs_vm *, void *p, qs_value *out);
    qs_status (*report)(qs_vm *, void *p, qs_value *out);
    qs_status (*detail)(qs_vm *, void *p, qs_value *out); /* text in brackets that messages append to the type name */
} qs_foreign_type;

typedef struct qs_config {
    /* options: begin (written by tools/options.py) */
    /* sizeof(qs_config), checked by qs_open as the ABI version */
    size_t size;
    /* fd 1: program output, 2: diagnostics; NULL = stdio */
    void (*write)(void *ud, int fd, const char *s, size_t n);
    /* the device of kernels: cpu (used if no device is named), cuda, opencl; cuda:1 is the second one; gpu is the
     * first GPU; cpu,opencl opens both, and kernels run on the first; auto opens the processor and every GPU, and
     * each launch runs where it ends soonest; auto:cpu,opencl does the same among these; machine.xml opens the
     * devices that the file lists; ref is the slow reference implementation */
    const char *device;
    /* folders, separated by ':', in which import searches for files before the installed library */
    const char *library_path;
    /* folder for compiled kernels; "": none are kept; not given: ~/.cache/quasar */
    const char *cache_dir;
    /* limit in bytes for arrays on a device, for qrun also as 500M or 4G; 0: none */
    size_t memory_limit;
    /* 32 or 64: bits of an array element of type scalar */
    int precision;
    /* threads of the cpu device; not given: all that the process may use */
    int threads;
    /* an access outside an array is an error in kernels, too */
    bool checked;
    /* kernels, array expressions and loops may approximate quotients and roots, and reorder sums */
    bool fast_math;
    /* measure with which block sizes the kernels, loops and array expressions run fastest, report it on standard
     * error, and keep it in the cache for later runs */
    bool tune;
    /* report on standard error how each loop and array expression was compiled, or why not */
    bool explain;
    /* no warnings about what is legal but suspicious; {!warnings off} does it in a program */
    bool no_warnings;
    /* further warnings, as for qrun --check */
    bool strict;
    /* output to stdio is written at once */
    bool unbuffered;
    /* the variables of a program are not read after it has ended */
    bool final;
    /* host loops and array expressions as machine code: auto (when it pays off; used if not given), always,
     * never */
    const char *loops;
    int argc;
    /* arguments that args() returns to the script */
    char **argv;
    /* Called for each warning; NULL: warnings are printed on fd 2.  If it sets an error and returns its status, the
     * program ends. */
    qs_status (*warn)(void *ud, const qs_where *where, const char *sentence);
    /* path of Python's libllvmlite, used if the system has no libLLVM; not given: it is searched for */
    const char *llvmlite;
    /* built-ins that take longer than a second report their progress on standard error */
    bool progress;
    /* compile the kernels for such an NVIDIA device, too, and keep them in the cache; a list like the one of
     * --targets */
    const char *compile_for;
    /* returned by qs_userdata, and passed to write and warn */
    void *ud;
    /* options: end */
} qs_config;

/* -- lifetime ------------------------------------------------------------------------------------------------------ */
QS_API void qs_config_init(qs_config *c); /* sets the defaults */
/* Creates a VM; NULL config: the defaults.  The config is copied, except for argv and ud, which are borrowed.  On
 * failure *out is NULL (no memory, or a config of another version) or a VM that can only report the error; close it. */
QS_API QS_CHECK qs_status qs_open(const qs_config *config, qs_vm **out);
/* Closes the VM; NULL does nothing.  Release all values before.  Wrapped memory is released at the latest here. */
QS_API void qs_close(qs_vm *vm);
QS_API const char *qs_version(void); /* "0.2.0" */
/* Whether a feature is available: a type of device (ref cpu opencl cuda), a library that this build can use (png
 * jpeg tiff pcre2 zlib lapack figures video), an optional part by its CMake option (QUASAR_WITH_FIGURES), python, or a
 * Python module.  Needs no VM. */
QS_API bool qs_has(const char *what);
QS_API void *qs_userdata(qs_vm *vm); /* config.ud */

/* -- running ------------------------------------------------------------------------------------------------------- */
/* Compiles a text of n bytes as a module called `name` (for messages) and runs its top level.  Its names become visible
 * in the session. */
QS_API QS_CHECK qs_status qs_load(qs_vm *vm, const char *name, const char *src, size_t n);
/* Runs a text in the session, as the prompt does.  out: the value of the last statement, nil if it has none; may be
 * NULL. */
QS_API QS_CHECK qs_status qs_eval(qs_vm *vm, const char *src, qs_value *out);
QS_API QS_CHECK qs_status qs_run_file(qs_vm *vm, const char *path); /* its top level, then its main() */
/* Calls any callable value.  nout is the number of results; it is an error if the function returns fewer.  nout -1 asks
 * for one result, which is nil if the function returns none.  out may be NULL when nout is 0. */
QS_API QS_CHECK qs_status qs_call(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nout, qs_value *out);
/* Whether the script called exit(code).  The QS_EINTERRUPT that the last call returned is then not a failure.  code may
 * be NULL. */
QS_API bool qs_exit_code(qs_vm *vm, int *code);
/* Stops the running script with QS_EINTERRUPT, which scripts cannot catch.  This is the only function that may be
 * called from any thread and from signal handlers. */
QS_API void qs_interrupt(qs_vm *vm);

/* -- errors: the first one is kept until cleared; texts are valid until then or until the next call ---------------- */
/* Sets an error with a printf-style message and returns `status`, for `return qs_fail(…)` in natives. */
QS_API qs_status qs_fail(qs_vm *vm, qs_status status, const char *fmt, ...) QS_PRINTF(3, 4);
QS_API const char *qs_error(qs_vm *vm); /* the message alone; NULL: there is no error */
/* file:line:column: error: message, source line, caret, call chain; NULL: there is no error. */
QS_API const char *qs_error_report(qs_vm *vm);
/* The source location of the error (depth 0) and of its callers (1, 2 …); file and function are NULL if unknown.
 * Returns false if there is no such depth. */
QS_API bool qs_error_frame(qs_vm *vm, int depth, qs_where *out);
QS_API void qs_error_clear(qs_vm *vm);

/* -- values -------------------------------------------------------------------------------------------------------- */
QS_API qs_value qs_retain(qs_value v);         /* adds a reference, to be released separately; returns v */
QS_API void qs_release(qs_vm *vm, qs_value v); /* does nothing for values without an object, such as numbers */
QS_API QS_CHECK qs_status qs_complex(qs_vm *vm, double re, double im, qs_value *out);
/* copies n bytes, including NULs */
QS_API QS_CHECK qs_status qs_string(qs_vm *vm, const char *s, size_t n, qs_value *out);
/* also accepts an array of one element; QS_ETYPE */
QS_API QS_CHECK qs_status qs_to_num(qs_vm *vm, qs_value v, double *out);
QS_API QS_CHECK qs_status qs_to_int(qs_vm *vm, qs_value v, int64_t *out); /* QS_EVALUE if it has a fraction */
QS_API QS_CHECK qs_status qs_to_complex(qs_vm *vm, qs_value v, double out[2]);
/* The bytes of a string, followed by a NUL; valid as long as v lives.  NULL: v is not a string.  n may be NULL. */
QS_API const char *qs_to_string(qs_value v, size_t *n);
QS_API QS_CHECK qs_status qs_format(qs_vm *vm, qs_value v, qs_value *out); /* the text that print shows */
QS_API const char *qs_type_name(qs_vm *vm, qs_value v); /* "vec", "cube[uint8]" …; valid as long as vm */
/* Applies the operator `op`: "+", ".*" … */
QS_API QS_CHECK qs_status qs_binary(qs_vm *vm, const char *op, qs_value a, qs_value b, qs_value *out);

/* -- arrays and memory: `device` is an index of qs_device, or -1 for the host -------------------------------------- */
/* filled with zeros */
QS_API QS_CHECK qs_status qs_array(qs_vm *vm, qs_dtype d, int rank, const int64_t *dims, qs_value *out);
/* Wraps memory of the caller as an array without a copy; `data` points to its first element.  release(owner) is called
 * once: when the last reference is released, or immediately if this function fails.  release may be NULL if the memory
 * outlives the VM. */
QS_API QS_CHECK qs_status qs_array_wrap(qs_vm *vm, const qs_array_info *info, void *data, int device,
                                        void (*release)(void *owner), void *owner, qs_value *out);
QS_API bool qs_array_describe(qs_value v, qs_array_info *out); /* false: not an array */
/* Returns a pointer to the first element in the memory of a device.  READ copies the contents there if needed; WRITE
 * promises to overwrite all of them.  Until qs_unlock is called with the same device and access, no other code may
 * write the array, nor read it while it is locked for writing (QS_ELOCK; the message names the array and the holder).
 * Work queued on the device is complete when the pointer is returned. */
QS_API QS_CHECK qs_status qs_lock(qs_vm *vm, qs_value v, int device, qs_access access, void **ptr);
QS_API QS_CHECK qs_status qs_unlock(qs_vm *vm, qs_value v, int device, qs_access access);

/* -- containers and globals ---------------------------------------------------------------------------------------- */
QS_API QS_CHECK qs_status qs_cell(qs_vm *vm, int n, const qs_value *items, qs_value *out);
/* Evaluates v.name for a string key, v[i] for a number, v[i,j] for a cell of indices.  Errors: QS_ENAME, QS_EINDEX. */
QS_API QS_CHECK qs_status qs_get(qs_vm *vm, qs_value v, qs_value key, qs_value *out);
QS_API QS_CHECK qs_status qs_set(qs_vm *vm, qs_value v, qs_value key, qs_value x);
/* Looks up a name in the session, then among the built-ins; QS_ENAME if there is none. */
QS_API QS_CHECK qs_status qs_global(qs_vm *vm, const char *name, qs_value *out);
QS_API QS_CHECK qs_status qs_set_global(qs_vm *vm, const char *name, qs_value v);

/* -- extending: tables and types are not copied and must outlive the VM -------------------------------------------- */
/* Defines functions that are visible in all modules, like built-ins. */
QS_API QS_CHECK qs_status qs_define(qs_vm *vm, const qs_native_def *defs, int n);
/* Creates an object of a foreign type.  type->release(p) is called when the last reference is released, but not if this
 * function fails. */
QS_API QS_CHECK qs_status qs_foreign(qs_vm *vm, const qs_foreign_type *type, void *p, qs_value *out);
QS_API void *qs_foreign_ptr(qs_value v, const qs_foreign_type *type); /* its p; NULL: v is not of this type */

/* -- devices: opened by the first of these calls or the first kernel; number 0 is the processor -------------------- */
QS_API int qs_device_count(qs_vm *vm); /* 0: none could be opened */
/* false: no such device; texts are valid as long as vm */
QS_API bool qs_device(qs_vm *vm, int index, qs_device_info *out);
/* Waits for all work started on the device; -1: on all devices. */
QS_API QS_CHECK qs_status qs_sync(qs_vm *vm, int device);
/* Selects the devices for kernels from now on, in the syntax of config.device; opens them if needed. */
QS_API QS_CHECK qs_status qs_use_device(qs_vm *vm, const char *wanted);

/* -- compiled libraries (qrun --make-lib): their own headers declare their functions --------------------------------
 * A library has its own VM, which the first call opens.  One thread at a time runs in it; others wait. */
/* An array, or a single number if the rank is 0.  As an argument it is memory of the caller on the host, with any
 * strides, which is not copied.  It must live until the call ends, or until everything that the function returned or
 * kept of it is released.  A function that writes to its argument writes to this memory, even if the view was passed as
 * `const`; writing to a qs_view_readonly is an error.  As a result it is memory of the library, which stays unchanged
 * until qs_view_release.  A string is an array of uint8 followed by a NUL. */
#define QS_READONLY ((void *)1)
typedef struct qs_view {
    void *data; /* the first element */
    qs_dtype dtype;
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK]; /* in elements */
    void *owner;                                     /* in arguments NULL or QS_READONLY */
} qs_view;
/* Describes packed memory of `rank` dimensions; the last index varies fastest. */
static inline qs_view qs_view_packed(void *data, qs_dtype dtype, int rank, const int64_t *dims) {
    qs_view v = {data, dtype, rank, {0}, {0}, NULL};
    int64_t stride = 1;
    for (int i = rank < QS_MAX_RANK ? rank : QS_MAX_RANK; i-- > 0; stride *= dims[i])
        v.dims[i] = dims[i], v.strides[i] = stride;
    return v;
}
static inline qs_view qs_view_readonly(const void *data, qs_dtype dtype, int rank, const int64_t *dims) {
    qs_view v = qs_view_packed((void *)(uintptr_t)data, dtype, rank, dims);
    return v.owner = QS_READONLY, v;
}
static inline size_t qs_view_count(const qs_view *v) { /* number of elements */
    size_t n = 1;
    for (int i = 0; i < v->rank; i++) n *= (size_t)v->dims[i];
    return n;
}
static inline double qs_view_number(const qs_view *v) { /* value of a numeric result; NaN if it is not a number */
    if (!v->data || v->rank) return __builtin_nan("");
    if (v->dtype == QS_B1) return *(const bool *)v->data;
    if (v->dtype == QS_I64) return (double)*(const int64_t *)v->data;
    return v->dtype == QS_F64 || v->dtype == QS_C128 ? *(const double *)v->data : __builtin_nan("");
}
QS_API void qs_view_release(qs_view *v); /* releases a result and empties it; calling it again is harmless */
/* The report of the last failure in this thread: message, source location, call chain; "" if there was none. */
QS_API const char *qs_native_error(void);
/* Entry point that all functions of such a library call; not for programs.  Returns a status or a pointer. */
QS_API intptr_t qs_native_call(void *library, uint32_t function, va_list arguments);

#ifdef __cplusplus
}
#endif
#endif
