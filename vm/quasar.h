/* quasar.h -- the whole embedding API of the Quasar array language.  Nothing else is installed, but quasar_types.h,
 * which holds the types of status and value.
 *
 * Conventions.  A function that can fail returns qs_status and gives its result through the last argument, which is
 * written only on success.  Arguments are borrowed, results are owned (qs_release them).  The first failure stays in
 * the machine, with its message and place, until qs_error_clear.  A qs_vm is used by one thread at a time. */
#ifndef QUASAR_H
#define QUASAR_H
#include "quasar_types.h" /* by no path of the tree, for it lies beside this file where both are installed, too */
#include <stdarg.h>
#ifdef __cplusplus
extern "C" {
#endif

#define QS_API __attribute__((visibility("default")))
typedef struct qs_array_info { /* dims and strides count elements; strides may be negative or zero for foreign memory */
    qs_dtype dtype;
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    size_t nbytes; /* of its elements; qs_array_wrap does not ask for it */
    bool readonly; /* writing to it is an error */
} qs_array_info;

/* Of packed memory: rank extents, the last varies fastest. */
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

/* A native function: in[0..nin-1] are borrowed, out[0..nout-1] start as nil and are owned by the caller.  A native
 * may take an argument (set in[i] to nil after moving it) and reuse its block when it holds the only reference, or put
 * another owned value in its place: the caller releases what it finds in `in` and `out`, on failure too.  out[0] may be
 * written even when nout is 0. */
typedef struct qs_call_args {
    int nin, nout;
    qs_value *in, *out;
    int nnamed;            /* the last nnamed of `in` were written name := value; only foreign callables receive any */
    const qs_value *names; /* their names, as strings */
    const char *name;      /* what was called, for messages */
} qs_call_args;
typedef qs_status qs_native_fn(qs_vm *vm, qs_call_args *c);
typedef struct qs_native_def {
    const char *name;
    qs_native_fn *fn;
    int8_t min_in, max_in; /* max_in -1: any number */
    int8_t max_out;
    const char *doc;
} qs_native_def;

enum { QS_OP_IN_PLACE = 0x100 }; /* added to the op of a foreign type's operator when it is written a op= b */

/* A foreign type: what pyvalue is made of; a NULL member means "not supported". */
typedef struct qs_foreign_type {
    const char *name;
    void (*release)(void *p);
    qs_status (*call)(qs_vm *, void *p, qs_call_args *);
    qs_status (*get)(qs_vm *, void *p, qs_value key, qs_value *out);
    qs_status (*set)(qs_vm *, void *p, qs_value key, qs_value v);
    qs_status (*op)(qs_vm *, int op, qs_value a, qs_value b, qs_value *out);
    qs_status (*format)(qs_vm *, void *p, qs_value *out);
    qs_status (*iter)(qs_vm *, void *p, qs_value *out); /* a foreign value that has `next` */
    qs_status (*next)(qs_vm *, void *p, bool *more, qs_value *out);
    /* x[i, j], apart from x.name, which get and set are for then; indices as written: numbers, ranges, colons (nil) */
    qs_status (*get_item)(qs_vm *, void *p, int n, const qs_value *at, qs_value *out);
    qs_status (*set_item)(qs_vm *, void *p, int n, const qs_value *at, qs_value v);
    /* x.name(…) in one step; *found false: x has nothing of that name, and a function called name may take x instead */
    qs_status (*method)(qs_vm *, void *p, qs_value name, qs_call_args *, bool *found);
    qs_status (*truth)(qs_vm *, void *p, bool *out);
    bool (*is_space)(void *p); /* a module: its attributes are names, which no reduction rewrites */
    /* As the payload of an error: what `catch` receives (NULL: the value itself), and text to show below the report. */
    qs_status (*caught)(qs_vm *, void *p, qs_value *out);
    qs_status (*report)(qs_vm *, void *p, qs_value *out);
    qs_status (*detail)(qs_vm *, void *p, qs_value *out); /* what messages say behind the name, in brackets */
} qs_foreign_type;

typedef struct qs_config {
    size_t size;                                              /* sizeof(qs_config): the ABI check */
    void (*write)(void *ud, int fd, const char *s, size_t n); /* fd 1: program output, 2: diagnostics; NULL = stdio */
    const char *device;       /* "cpu", "cuda:1", "cpu,opencl", "auto", "x.xml"; NULL = "cpu" */
    const char *library_path; /* ':'-separated folders searched by import; NULL = installed one */
    const char *cache_dir;    /* NULL = default place, "" = no kernel cache on disk */
    size_t memory_limit;      /* bytes of device memory to use; 0 = no limit */
    int precision;            /* 32 or 64: what `scalar` means as an array element */
    int threads;              /* worker threads of the cpu device; 0 = all that we may use */
    bool checked;             /* out-of-range access in kernels is an error */
    bool fast_math;           /* kernels and array expressions may estimate and regroup */
    bool explain;             /* says on fd 2 what became of each loop */
    bool no_warnings;         /* about programs that are legal and hardly meant */
    bool strict;              /* warns of what is often meant, too, as qrun --check does */
    bool unbuffered;          /* output to stdio is written at once */
    bool final;               /* nobody reads the variables of a program after it has ended */
    const char *loops; /* host loops, array expressions as machine code: "always", "never"; NULL = when worth it */
    int argc;
    char **argv; /* what args() returns to the script */
    /* Tells a warning; NULL: as text on fd 2.  What is not QS_OK, with an error that is set, ends the program. */
    qs_status (*warn)(void *ud, const qs_where *where, const char *sentence);
    const char *llvmlite;    /* Python's libllvmlite, for where the system has no libLLVM; NULL: looked for */
    bool progress;           /* built-ins that take longer than a second say on stderr how far they are */
    const char *compile_for; /* "sm_90": kernels are also made for that target, for the cache */
    void *ud;
} qs_config;

/* -- lifetime ------------------------------------------------------------------------------------------------------ */
QS_API void qs_config_init(qs_config *c); /* the defaults; change what you want to be different */
/* A machine; NULL config: the defaults.  What the config points to is copied, argv and ud are not.  On failure *out is
 * NULL (no memory, or a config of another version) or a machine that is only good for telling the error: close it. */
QS_API QS_CHECK qs_status qs_open(const qs_config *config, qs_vm **out);
/* Ends it; NULL does nothing.  Release your values before; memory that was wrapped is given back by now. */
QS_API void qs_close(qs_vm *vm);
QS_API const char *qs_version(void); /* "0.1.0" */
/* Whether something is here: a kind of device (ref cpu opencl cuda hip), a library that this build can use (png jpeg
 * tiff pcre2 zlib lapack figures video), python or a module of it.  Needs no machine. */
QS_API bool qs_has(const char *what);
QS_API void *qs_userdata(qs_vm *vm); /* config.ud */

/* -- running ------------------------------------------------------------------------------------------------------- */
/* Compiles a text of n bytes as a module called `name` (for messages) and runs its top level; its names are those of
 * the session from then on. */
QS_API QS_CHECK qs_status qs_load(qs_vm *vm, const char *name, const char *src, size_t n);
/* Runs a text in the session, as the prompt does.  out: the value of the last statement, nil when it has none; NULL:
 * nobody wants it. */
QS_API QS_CHECK qs_status qs_eval(qs_vm *vm, const char *src, qs_value *out);
QS_API QS_CHECK qs_status qs_run_file(qs_vm *vm, const char *path); /* its top level, then its main() */
/* Calls anything that can be called.  nout: how many results are wanted; those that the function does not give are an
 * error, -1 asks for one or nil.  out may be NULL when nout is 0. */
QS_API QS_CHECK qs_status qs_call(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nout, qs_value *out);
/* Whether the script called exit(code): the QS_EINTERRUPT just returned is no failure then.  code may be NULL. */
QS_API bool qs_exit_code(qs_vm *vm, int *code);
/* Stops what runs, with QS_EINTERRUPT, which no script catches.  The one call for any thread and for signal
 * handlers. */
QS_API void qs_interrupt(qs_vm *vm);

/* -- errors: the first one wins and stays until cleared; texts live until then or the next call -------------------- */
/* Sets an error, with printf's formats, and returns the status, for `return qs_fail(…)` in natives. */
QS_API qs_status qs_fail(qs_vm *vm, qs_status status, const char *fmt, ...) QS_PRINTF(3, 4);
QS_API const char *qs_error(qs_vm *vm); /* the sentence alone; NULL: there is no error */
/* file:line:column: error: sentence, source line, caret, call chain; NULL: there is no error. */
QS_API const char *qs_error_report(qs_vm *vm);
/* Where it happened (depth 0) and who called (1, 2 …); file and function are NULL when unknown.  false: no such
 * depth. */
QS_API bool qs_error_frame(qs_vm *vm, int depth, qs_where *out);
QS_API void qs_error_clear(qs_vm *vm);

/* -- values -------------------------------------------------------------------------------------------------------- */
QS_API qs_value qs_retain(qs_value v);         /* one more reference, which wants a release of its own; gives v */
QS_API void qs_release(qs_vm *vm, qs_value v); /* values without an object, such as numbers, do not mind */
QS_API QS_CHECK qs_status qs_complex(qs_vm *vm, double re, double im, qs_value *out);
QS_API QS_CHECK qs_status qs_string(qs_vm *vm, const char *s, size_t n, qs_value *out); /* copies n bytes, NULs too */
QS_API QS_CHECK qs_status qs_to_num(qs_vm *vm, qs_value v, double *out); /* of an array of one element, too; QS_ETYPE */
QS_API QS_CHECK qs_status qs_to_int(qs_vm *vm, qs_value v, int64_t *out); /* QS_EVALUE when it has a fraction */
QS_API QS_CHECK qs_status qs_to_complex(qs_vm *vm, qs_value v, double out[2]);
/* Its bytes, followed by a NUL, as long as v lives; NULL: it is no string.  n may be NULL. */
QS_API const char *qs_to_string(qs_value v, size_t *n);
QS_API QS_CHECK qs_status qs_format(qs_vm *vm, qs_value v, qs_value *out); /* the string that print shows */
QS_API const char *qs_type_name(qs_vm *vm, qs_value v); /* "vec", "cube[uint8]" …; lives as long as vm */
/* op: "+", ".*" … */
QS_API QS_CHECK qs_status qs_binary(qs_vm *vm, const char *op, qs_value a, qs_value b, qs_value *out);

/* -- arrays and memory: `device` is an index of qs_device, or -1 for the host -------------------------------------- */
QS_API QS_CHECK qs_status qs_array(qs_vm *vm, qs_dtype d, int rank, const int64_t *dims, qs_value *out); /* of zeros */
/* Memory of yours as an array, without a copy; `data` is its first element.  release(owner) is called once, when the
 * last reference goes, and at once when this fails; NULL: the memory outlives the machine anyway. */
QS_API QS_CHECK qs_status qs_array_wrap(qs_vm *vm, const qs_array_info *info, void *data, int device,
                                        void (*release)(void *owner), void *owner, qs_value *out);
QS_API bool qs_array_describe(qs_value v, qs_array_info *out); /* false: it is no array */
/* A pointer to the first element in the memory of a device.  READ brings the contents there, WRITE promises to write
 * all of them.  Until the unlock, with the same device and access, nobody else may write the array, nor read it while
 * it is written (QS_ELOCK, with the array and who holds it).  What was queued on the device is done when the
 * pointer is given. */
QS_API QS_CHECK qs_status qs_lock(qs_vm *vm, qs_value v, int device, qs_access access, void **ptr);
QS_API QS_CHECK qs_status qs_unlock(qs_vm *vm, qs_value v, int device, qs_access access);

/* -- containers, globals ------------------------------------------------------------------------------------------- */
QS_API QS_CHECK qs_status qs_cell(qs_vm *vm, int n, const qs_value *items, qs_value *out);
/* v.name of a string key, v[i] of a number, v[i,j] of a cell of indices.  QS_ENAME, QS_EINDEX. */
QS_API QS_CHECK qs_status qs_get(qs_vm *vm, qs_value v, qs_value key, qs_value *out);
QS_API QS_CHECK qs_status qs_set(qs_vm *vm, qs_value v, qs_value key, qs_value x);
/* Of the session, or built in; QS_ENAME. */
QS_API QS_CHECK qs_status qs_global(qs_vm *vm, const char *name, qs_value *out);
QS_API QS_CHECK qs_status qs_set_global(qs_vm *vm, const char *name, qs_value v);

/* -- extending: tables and types are not copied, they have to outlive the machine ---------------------------------- */
QS_API QS_CHECK qs_status qs_define(qs_vm *vm, const qs_native_def *defs, int n); /* like built-ins, for all modules */
/* An object of a type of yours; type->release(p) is called when the last reference goes, not when this fails. */
QS_API QS_CHECK qs_status qs_foreign(qs_vm *vm, const qs_foreign_type *type, void *p, qs_value *out);
QS_API void *qs_foreign_ptr(qs_value v, const qs_foreign_type *type); /* its p; NULL: v is not of that type */

/* -- devices: they are opened by the first question about them, or the first kernel; number 0 is the processor ----- */
QS_API int qs_device_count(qs_vm *vm);                            /* 0: none could be opened */
QS_API bool qs_device(qs_vm *vm, int index, qs_device_info *out); /* false: no such device; texts live as long as vm */
QS_API QS_CHECK qs_status qs_sync(qs_vm *vm, int device); /* waits for what was started on it; -1: on all of them */
/* Where kernels run from now on, in the words of config.device; devices that are not open yet are opened. */
QS_API QS_CHECK qs_status qs_use_device(qs_vm *vm, const char *wanted);

/* -- libraries in machine code (qrun --make-lib): their own headers declare their functions -------------------------
 * A library has a machine of its own, which the first call opens; one thread at a time is in it, others wait. */
/* An array, or with rank 0 one number.  As an argument it is memory of yours on the host, with any strides, which
 * is not copied: it lives until the call ends, or until what the function gave or kept of it is released; a
 * function that writes to its argument writes to this memory, `const` before the view or not, unless it is of
 * qs_view_readonly: then that is an error.  As a result it is memory of the library, which nobody changes until
 * qs_view_release; a string is an array of uint8 with a NUL behind it. */
#define QS_READONLY ((void *)1)
typedef struct qs_view {
    void *data; /* the first element */
    qs_dtype dtype;
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK]; /* count elements */
    void *owner;                                     /* in arguments NULL, or QS_READONLY */
} qs_view;
/* Packed memory: rank extents, the last varies fastest. */
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
static inline size_t qs_view_count(const qs_view *v) { /* its elements */
    size_t n = 1;
    for (int i = 0; i < v->rank; i++) n *= (size_t)v->dims[i];
    return n;
}
static inline double qs_view_number(const qs_view *v) { /* a result that is a number; NaN when it is none */
    if (!v->data || v->rank) return __builtin_nan("");
    if (v->dtype == QS_B1) return *(const bool *)v->data;
    if (v->dtype == QS_I64) return (double)*(const int64_t *)v->data;
    return v->dtype == QS_F64 || v->dtype == QS_C128 ? *(const double *)v->data : __builtin_nan("");
}
QS_API void qs_view_release(qs_view *v); /* a result; it is empty then, and may be released again */
/* The report of what failed last in this thread: sentence, place in the program, call chain; "" when nothing did. */
QS_API const char *qs_native_error(void);
/* What all functions of such a library jump to; programs do not call it.  A status, or a pointer. */
QS_API intptr_t qs_native_call(void *library, uint32_t function, va_list arguments);

#ifdef __cplusplus
}
#endif
#endif
