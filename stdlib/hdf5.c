/* hdf5.c -- reads and writes HDF5 files with libhdf5, which is opened on first use and whose headers are not needed.
 *
 *     group    an object with a field for each of its members
 *     dataset  a number, an array, a string, or a cell of strings
 *     complex numbers are compounds of r and i, and truth values an enumeration of FALSE and TRUE, as h5py has them
 *
 * Files of MATLAB 7.3 are HDF5 with 512 bytes before it.  Their extents are reversed, an attribute MATLAB_class names
 * the class of a dataset, and a cell is a dataset of references to datasets of the group #refs#.
 *
 * A library that is not built for threads allows one call at a time, so that `one_at_a_time` is held from open_file to
 * close_file. */
#include "stdlib/builtins.h"
#include "stdlib/npy.h"
#include "vm/base/dynlib.h"
#include "vm/program/python.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef int64_t Id;
typedef uint64_t Size;
typedef struct {
    Id class, major, minor;
    unsigned line;
    const char *function, *file, *description;
} ErrorEntry; /* has the layout of an H5E_error2_t */

enum { READ_ONLY = 0, READ_WRITE = 1, TRUNCATE = 2, GROUP = 2, DATASET = 5 };
enum { INTEGER, FLOAT, STRING = 3, COMPOUND = 6, REFERENCE, ENUMERATION };
enum { SPACE_SCALAR, SPACE_SIMPLE, SPACE_NULL, UTF8 = 1, MOST_RANK = 32, DEEPEST = 200, LONGEST_NAME = 1024 };

static struct {
#define API(result, name, arguments) result(*name) arguments;
#define TYPE(dtype, name)            const Id *name;
    const Id *H5T_C_S1_g, *H5T_STD_REF_OBJ_g, *H5P_CLS_LINK_CREATE_ID_g;
#include "stdlib/hdf5_api.def"
#undef API
#undef TYPE
} h5;

/* -- the library --------------------------------------------------------------------------------------------------- */
static char failure[DYNLIB_WHY];
static bool is_here;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void open_library(void) {
    static const char *const names[] = {"libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5.so.103",
                                        "libhdf5.so.200",        "libhdf5.so.310",        "libhdf5.so"};
    void *lib = NULL;
    for (size_t i = 0; !lib && i < sizeof names / sizeof *names; i++)
        lib = qdynlib_open(names[i], RTLD_NOW | RTLD_LOCAL, failure);
    if (!lib) return;
    bool good = true;
#define LOOK_UP(name)                good = good && (*(void **)(void *)&h5.name = dlsym(lib, #name)) != NULL;
#define API(result, name, arguments) LOOK_UP(name)
#define TYPE(dtype, name)            LOOK_UP(name)
#include "stdlib/hdf5_api.def"
#undef API
#undef TYPE
    LOOK_UP(H5T_C_S1_g)
    LOOK_UP(H5T_STD_REF_OBJ_g) LOOK_UP(H5P_CLS_LINK_CREATE_ID_g) unsigned major = 0, minor = 0, release;
    /* Files are closed after each call; after a full disk, what the library does at exit would end in a crash. */
    is_here = good && h5.H5dont_atexit() >= 0 && h5.H5open() >= 0 &&
              h5.H5get_libversion(&major, &minor, &release) >= 0 &&
              (major > 1 || minor >= 10); /* an hid_t was an int before */
    if (!is_here) snprintf(failure, sizeof failure, "libhdf5 must be of version 1.10 or later");
}

bool qhdf5_here(void) { return pthread_once(&once, open_library), is_here; }

typedef struct {
    qs_vm *vm;
    const char *fn, *path;
    Id id;
    bool matlab;
    int depth;
} File;

/* Keeps the first description, which is that of the innermost function. */
static int keep_description(unsigned n, const ErrorEntry *e, void *text) {
    const char *s = e->description ? e->description : "";
    if (n == 0) snprintf(text, 200, ": %.*s", (int)strcspn(s, "\n"), s);
    return 0;
}

static qs_status failed(const File *f, const char *what, const char *name) {
    char why[200] = "";
    h5.H5Ewalk2(0, 0, keep_description, why);
    return qs_fail(f->vm, QS_EIO, "%s: %s: %s \"%.100s\" failed%s", f->fn, f->path, what, name, why);
}

static qs_status unsupported(const File *f, const char *name, const char *what) {
    return qs_fail(
        f->vm, QS_EVALUE,
        "%s: %s holds %s in \"%.100s\", which is not supported; load(path, name, ...) reads other variables, "
        "and h5py = pyimport(\"h5py\") all",
        f->fn, f->path, what, name);
}

static bool is_matlab(const char *path) {
    char head[10] = "";
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(head, 1, sizeof head, in) : 0;
    if (in) fclose(in);
    return n == sizeof head && !memcmp(head, "MATLAB 7.3", n);
}

/* Ends a call with the status s; the last bytes of a file are written here, so that it may fail. */
static qs_status close_file(File *f, qs_status s) {
    enum { WHOLE_FILE = 1 };
    if (f->id > 0) {
        bool written = h5.H5Fflush(f->id, WHOLE_FILE) >= 0;
        if (!written && s == QS_OK) s = failed(f, "writing", f->path);
        if (h5.H5Fclose(f->id) < 0 && s == QS_OK) s = failed(f, "closing", f->path);
    }
    h5.H5Eclear2(0);
    return pthread_mutex_unlock(&one_at_a_time), s;
}

/* A thread that has the mutex may need the VM again, so that one that waits for the mutex releases the VM. */
static void lock_library(qs_vm *vm) {
    if (!pthread_mutex_trylock(&one_at_a_time)) return;
    const Python *python = qpython_release_vm_to_compute(vm);
    pthread_mutex_lock(&one_at_a_time);
    qpython_acquire_vm(python);
}

/* Opens the file, or creates it if `flags` is TRUNCATE. */
static qs_status open_file(qs_vm *vm, const char *fn, const char *path, unsigned flags, File *f) {
    *f = (File){.vm = vm, .fn = fn, .path = path, .matlab = flags != TRUNCATE && is_matlab(path)};
    if (!qhdf5_here() && *failure) return qs_fail(vm, QS_EIO, "%s: libhdf5 cannot be used: %s", fn, failure);
    if (!is_here)
        return qs_fail(vm, QS_EIO,
                       "%s: HDF5 files need libhdf5, which is not here; on Debian and Ubuntu the package libhdf5-103-1 "
                       "(libhdf5-310 in new ones) has it",
                       fn);
    if (flags != TRUNCATE && access(path, R_OK)) return qio_error(vm, fn, "read", path);
    lock_library(vm);
    h5.H5Eset_auto2(0, NULL, NULL); /* it would print its errors */
    f->id = flags == TRUNCATE ? h5.H5Fcreate(path, TRUNCATE, 0, 0) : h5.H5Fopen(path, flags, 0);
    if (f->id >= 0) return QS_OK;
    return close_file(f, failed(f, "opening", path));
}

/* -- types --------------------------------------------------------------------------------------------------------- */
static Id native_type(qs_dtype d) {
    switch (d) {
#define API(result, name, arguments)
#define TYPE(dtype, name)                                                                                              \
    case dtype:                                                                                                        \
        return *h5.name;
#include "stdlib/hdf5_api.def"
#undef API
#undef TYPE
    default: return -1;
    }
}

/* Creates the type of elements of an array in memory, which is that of the file, too, when writing. */
static Id new_type(qs_dtype d) {
    if (d == QS_B1) {
        Id t = h5.H5Tenum_create(native_type(QS_I8));
        h5.H5Tenum_insert(t, "FALSE", &(int8_t){0});
        return h5.H5Tenum_insert(t, "TRUE", &(int8_t){1}), t;
    }
    if (!qdtype_is_complex(d)) return h5.H5Tcopy(native_type(d));
    Id t = h5.H5Tcreate(COMPOUND, qdtype_size(d)), part = native_type(qdtype_real_of(d));
    h5.H5Tinsert(t, "r", 0, part);
    return h5.H5Tinsert(t, "i", qdtype_size(d) / 2, part), t;
}

static bool has_members(Id type, const char *first, const char *second) {
    const char *const names[] = {first, second};
    bool same = h5.H5Tget_nmembers(type) == 2;
    for (unsigned i = 0; same && i < 2; i++) {
        char *name = h5.H5Tget_member_name(type, i);
        same = name && !strcmp(name, names[i]);
        h5.H5free_memory(name);
    }
    return same;
}

/* Whether it is the enumeration that h5py writes for truth values. */
static bool is_bool(Id type) {
    int8_t no = -1, yes = -1;
    return h5.H5Tget_size(type) == 1 && has_members(type, "FALSE", "TRUE") &&
           h5.H5Tget_member_value(type, 0, &no) >= 0 && h5.H5Tget_member_value(type, 1, &yes) >= 0 && no == 0 &&
           yes == 1;
}

static bool integer_type(size_t size, bool is_signed, qs_dtype *d) {
    static const qs_dtype types[][2] = {{QS_U8, QS_I8}, {QS_U16, QS_I16}, {QS_U32, QS_I32}, {QS_U64, QS_I64}};
    for (int i = 0; i < 4; i++)
        if (size == (size_t)1 << i) return *d = types[i][is_signed], true;
    return false;
}

/* Finds the dtype that holds the elements of a type exactly; *memory is the type to read them as (H5Tclose). */
static bool dtype_of(Id type, qs_dtype *d, Id *memory) {
    size_t size = h5.H5Tget_size(type);
    bool good = false;
    switch (h5.H5Tget_class(type)) {
    case INTEGER: good = integer_type(size, h5.H5Tget_sign(type) != 0, d); break;
    case FLOAT: *d = size <= 4 ? QS_F32 : QS_F64, good = size <= 8; break;
    case ENUMERATION: {
        Id base = h5.H5Tget_super(type);
        good = integer_type(size, h5.H5Tget_sign(base) != 0, d);
        h5.H5Tclose(base);
        if (!is_bool(type)) break;
        return *d = QS_B1, *memory = h5.H5Tcopy(type), true;
    }
    case COMPOUND: {
        bool matlab = has_members(type, "real", "imag");
        good = (matlab || has_members(type, "r", "i")) && h5.H5Tget_member_class(type, 0) == FLOAT && size <= 16;
        *d = size <= 8 ? QS_C64 : QS_C128;
        if (!good || !matlab) break;
        *memory = h5.H5Tcreate(COMPOUND, qdtype_size(*d));
        h5.H5Tinsert(*memory, "real", 0, native_type(qdtype_real_of(*d)));
        return h5.H5Tinsert(*memory, "imag", qdtype_size(*d) / 2, native_type(qdtype_real_of(*d))), true;
    }
    default: break;
    }
    if (good) *memory = new_type(*d);
    return good;
}

/* The name of a type for messages. */
static const char *class_name(Id type) {
    static const char *const names[] = {
        "integers",     "floats",    "times",      "strings",      "bit fields",
        "opaque bytes", "compounds", "references", "enumerations", "lists of any length",
        "small arrays"};
    int class = h5.H5Tget_class(type);
    return class >= 0 && class < (int)(sizeof names / sizeof *names) ? names[class] : "elements of an unknown type";
}

/* -- reading ------------------------------------------------------------------------------------------------------- */
typedef struct {
    Id id, type, space, memory; /* memory: extents of what is read, 0 if that is all */
    bool attribute;
    const char *name;
    int rank;
    int64_t dims[QS_MAX_RANK];
    size_t count;
} Data;

static void data_close(Data *d) {
    if (d->type > 0) h5.H5Tclose(d->type);
    if (d->space > 0) h5.H5Sclose(d->space);
    if (d->memory > 0) h5.H5Sclose(d->memory);
}

static void set_dims(Data *d, const Size *dims) {
    d->count = 1;
    for (int i = 0; i < d->rank; i++) d->dims[i] = (int64_t)dims[i], d->count = qmem_size(d->count, (size_t)dims[i], 0);
}

/* Reads the type and the extents of a dataset or of an attribute. */
static qs_status data_open(const File *f, Id id, bool attribute, const char *name, Data *d) {
    Size dims[QS_MAX_RANK] = {0};
    *d = (Data){.id = id, .attribute = attribute, .name = name};
    d->type = attribute ? h5.H5Aget_type(id) : h5.H5Dget_type(id);
    d->space = attribute ? h5.H5Aget_space(id) : h5.H5Dget_space(id);
    if (d->type < 0 || d->space < 0) return failed(f, "reading", name);
    d->rank = h5.H5Sget_simple_extent_ndims(d->space);
    if (d->rank > QS_MAX_RANK) return unsupported(f, name, "an array of more than 8 dimensions");
    if (h5.H5Sget_simple_extent_type(d->space) == SPACE_NULL) d->rank = 1;
    else if (d->rank < 0 || h5.H5Sget_simple_extent_dims(d->space, dims, NULL) < 0) return failed(f, "reading", name);
    return set_dims(d, dims), QS_OK;
}

static qs_status data_read(const File *f, const Data *d, Id type, void *to) {
    int s = !d->count      ? 0
            : d->attribute ? h5.H5Aread(d->id, type, to)
                           : h5.H5Dread(d->id, type, d->memory, d->memory ? d->space : 0, 0, to);
    return s < 0 ? failed(f, "reading", d->name) : QS_OK;
}

/* Reads all elements, in the order of the file, to a new array with the extents `dims`. */
static qs_status read_elements(const File *f, const Data *d, int rank, const int64_t *dims, Array **out) {
    qs_dtype t;
    Id memory;
    void *p;
    if (!dtype_of(d->type, &t, &memory)) return unsupported(f, d->name, class_name(d->type));
    qs_status s = qarr_make(f->vm, t, rank, dims, false, out, &p);
    if (s == QS_OK && (s = data_read(f, d, memory, p)) != QS_OK) qarr_release(f->vm, *out);
    return h5.H5Tclose(memory), s;
}

static qs_status read_array(const File *f, const Data *d, qs_value *out) {
    Array *a;
    int64_t n = (int64_t)d->count;
    TRY(d->rank ? read_elements(f, d, d->rank, d->dims, &a) : read_elements(f, d, 1, &n, &a));
    bool large = false; /* a number would round it */
    uint64_t unused;
    qs_status s = d->rank ? QS_OK : qarr_get_large(f->vm, a, 0, &unused, &large);
    if (s == QS_OK && (d->rank || large)) return *out = qarr_value(a), QS_OK;
    if (s == QS_OK) s = qarr_get(f->vm, a, 0, out);
    return qarr_release(f->vm, a), s;
}

/* Stores string i of the elements at p, which are pointers if `variable`, otherwise `size` bytes each; padded: with
 * blanks, as Fortran does. */
static qs_status make_string(const File *f, const char *p, size_t i, size_t size, bool variable, bool padded,
                             qs_value *out) {
    const char *s = p + i * size;
    if (variable) memcpy(&s, p + i * sizeof s, sizeof s);
    size_t n = !s ? 0 : variable ? strlen(s) : strnlen(s, size);
    while (padded && n && s[n - 1] == ' ') n--;
    return qval_string(f->vm, s ? s : "", n, out);
}

static qs_status make_strings(const File *f, const Data *d, const char *p, size_t size, bool variable, qs_value *out) {
    enum { BLANKS = 2 };
    Cell *cell;
    bool padded = !variable && h5.H5Tget_strpad(d->type) == BLANKS;
    if (!d->rank) return make_string(f, p, 0, size, variable, padded, out);
    TRY(qcell_new(f->vm, qtype_any(qvm_ctx(f->vm)), d->rank, d->dims, &cell));
    *out = qval_object(QS_CELL, cell);
    for (size_t i = 0; i < d->count; i++) TRY(make_string(f, p, i, size, variable, padded, &cell->items[i]));
    return QS_OK;
}

/* Reads a string, or a cell of strings. */
static qs_status read_strings(const File *f, const Data *d, qs_value *out) {
    bool variable = h5.H5Tis_variable_str(d->type) > 0;
    size_t size = variable ? sizeof(char *) : h5.H5Tget_size(d->type), bytes = qmem_size(d->count, size, 1);
    char *p = qmem_try(qvm_ctx(f->vm), bytes);
    if (!p) return qs_fail(f->vm, QS_ENOMEM, "%s: no memory for %zu bytes", f->fn, bytes);
    memset(p, 0, bytes);
    Id all = d->memory ? d->memory : d->space;
    qs_status s = data_read(f, d, d->type, p);
    if (s == QS_OK) s = make_strings(f, d, p, size, variable, out);
    if (variable && d->count) h5.H5Dvlen_reclaim(d->type, all, 0, p);
    qmem_try_free(qvm_ctx(f->vm), p, bytes);
    return s;
}

static qs_status read_data(const File *f, const Data *d, qs_value *out) {
    return h5.H5Tget_class(d->type) == STRING ? read_strings(f, d, out) : read_array(f, d, out);
}

/* -- MATLAB's values ----------------------------------------------------------------------------------------------- */
static qs_status read_object(File *f, Id id, const char *name, qs_value *out);

/* Reads a short attribute of text; "": there is none. */
static void text_attribute(const File *f, Id id, const char *name, char text[64]) {
    Data d;
    Id a = h5.H5Aexists(id, name) > 0 ? h5.H5Aopen(id, name, 0) : -1;
    text[0] = 0;
    if (a < 0) return;
    qs_status s = data_open(f, a, true, name, &d);
    if (s != QS_OK) qs_error_clear(f->vm);
    if (s == QS_OK && !d.rank && h5.H5Tget_class(d.type) == STRING && h5.H5Tis_variable_str(d.type) == 0 &&
        h5.H5Tget_size(d.type) < 64 && h5.H5Aread(a, d.type, text) >= 0)
        text[h5.H5Tget_size(d.type)] = 0;
    else text[0] = 0;
    data_close(&d), h5.H5Aclose(a);
}

/* An empty dataset holds its extents. */
static qs_status read_matlab_empty(const File *f, Data *d, const char *class, qs_value *out) {
    uint64_t dims[QS_MAX_RANK] = {0};
    int64_t extents[QS_MAX_RANK];
    Array *a;
    Cell *cell;
    if (!strcmp(class, "char")) return qval_string(f->vm, "", 0, out);
    int rank = d->count >= 2 && d->count <= QS_MAX_RANK ? (int)d->count : 2;
    if ((size_t)rank == d->count) TRY(data_read(f, d, native_type(QS_U64), dims));
    for (int i = 0; i < rank; i++) extents[i] = dims[i] < INT64_MAX ? (int64_t)dims[i] : INT64_MAX;
    if (!strcmp(class, "cell") || !strcmp(class, "struct")) {
        TRY(qcell_new(f->vm, qtype_any(qvm_ctx(f->vm)), rank, extents, &cell));
        return *out = qval_object(QS_CELL, cell), QS_OK;
    }
    qs_dtype t = !strcmp(class, "single") ? QS_F32 : !strcmp(class, "logical") ? QS_B1 : QS_F64;
    TRY(qarr_new(f->vm, t, rank, extents, true, &a));
    return *out = qarr_value(a), QS_OK;
}

static qs_status read_matlab_cell(File *f, const Data *d, qs_value *out) {
    Cell *cell;
    size_t bytes = qmem_size(d->count, sizeof(uint64_t), 1);
    uint64_t *references = qmem_try(qvm_ctx(f->vm), bytes);
    if (!references) return qs_fail(f->vm, QS_ENOMEM, "%s: no memory for %zu bytes", f->fn, bytes);
    qs_status s = data_read(f, d, *h5.H5T_STD_REF_OBJ_g, references);
    if (s == QS_OK) s = qcell_new(f->vm, qtype_any(qvm_ctx(f->vm)), d->rank, d->dims, &cell);
    if (s == QS_OK) *out = qval_object(QS_CELL, cell);
    for (size_t i = 0; s == QS_OK && i < d->count; i++) {
        Id item = h5.H5Rdereference2(d->id, 0, 0, &references[i]);
        s = item < 0 ? failed(f, "reading", d->name)
                     : read_object(f, item, d->name, &cell->items[qmat_row_major_index(d->rank, d->dims, i)]);
        if (item >= 0) h5.H5Oclose(item);
    }
    qmem_try_free(qvm_ctx(f->vm), references, bytes);
    return s;
}

static qs_status read_matlab_text(const File *f, const Data *d, qs_value *out) {
    if (d->rank > 2) return unsupported(f, d->name, "characters in more than two dimensions");
    size_t bytes = qmem_size(d->count, sizeof(uint32_t), 1);
    uint32_t *chars = qmem_try(qvm_ctx(f->vm), bytes);
    if (!chars) return qs_fail(f->vm, QS_ENOMEM, "%s: no memory for %zu bytes", f->fn, bytes);
    qs_status s = data_read(f, d, native_type(QS_U32), chars);
    if (s == QS_OK) s = qmat_strings(f->vm, d->dims[0], chars, d->count, out);
    qmem_try_free(qvm_ctx(f->vm), chars, bytes);
    return s;
}

static qs_status read_matlab_array(const File *f, const Data *d, bool logical, qs_value *out) {
    Array *a, *truths;
    int64_t n = (int64_t)d->count;
    TRY(read_elements(f, d, 1, &n, &a));
    if (logical) {
        qs_status s = qarr_convert(f->vm, a, QS_B1, &truths);
        qarr_release(f->vm, a);
        TRY(s);
        a = truths;
    }
    return qmat_from_columns(f->vm, a, d->rank, d->dims, out);
}

static qs_status read_matlab(File *f, Data *d, qs_value *out) {
    char class[64];
    text_attribute(f, d->id, "MATLAB_class", class);
    if (h5.H5Aexists(d->id, "MATLAB_empty") > 0) return read_matlab_empty(f, d, class, out);
    for (int i = 0; i < d->rank / 2; i++) {
        int64_t extent = d->dims[i];
        d->dims[i] = d->dims[d->rank - 1 - i], d->dims[d->rank - 1 - i] = extent;
    }
    if (d->rank < 2) d->dims[1] = d->rank ? d->dims[0] : 1, d->dims[0] = 1, d->rank = 2;
    if (h5.H5Tget_class(d->type) == REFERENCE) return read_matlab_cell(f, d, out);
    if (!strcmp(class, "char")) return read_matlab_text(f, d, out);
    if (!strcmp(class, "function_handle")) return unsupported(f, d->name, "a function handle");
    return read_matlab_array(f, d, !strcmp(class, "logical"), out);
}

/* -- groups -------------------------------------------------------------------------------------------------------- */
static qs_status read_dataset(File *f, Id id, const char *name, qs_value *out) {
    Data d;
    qs_status s = data_open(f, id, false, name, &d);
    if (s == QS_OK) s = f->matlab ? read_matlab(f, &d, out) : read_data(f, &d, out);
    return data_close(&d), s;
}

/* Stores the name of member i of a group; false: there is none. */
static bool member_name(Id group, Size i, char name[LONGEST_NAME]) {
    return h5.H5Lget_name_by_idx(group, ".", 0, 0, i, name, LONGEST_NAME, 0) > 0;
}

/* Reads the members of a group to the fields of an object; c: chooses among them (NULL: all). */
static qs_status read_members(File *f, Id id, const qs_call_args *c, Object *o) {
    char name[LONGEST_NAME];
    for (Size i = 0; member_name(id, i, name); i++) {
        if (f->matlab && (!strcmp(name, "#refs#") || !strcmp(name, "#subsystem#"))) continue;
        if (c && !qnpy_is_wanted(c, name, strlen(name))) continue;
        qs_value v = qs_nil();
        Id member = h5.H5Oopen(id, name, 0);
        qs_status s = member < 0 ? failed(f, "opening", name) : read_object(f, member, name, &v);
        if (member >= 0) h5.H5Oclose(member);
        if (s == QS_OK) s = qobj_set(f->vm, o, qstr_name(qvm_ctx(f->vm), name, strlen(name)), v);
        qval_release(f->vm, v);
        TRY(s);
    }
    return QS_OK;
}

static qs_status read_group(File *f, Id id, qs_value *out) {
    Object *o;
    TRY(qobj_new(f->vm, NULL, &o));
    *out = qval_object(QS_OBJECT, o);
    return read_members(f, id, NULL, o);
}

static qs_status read_object(File *f, Id id, const char *name, qs_value *out) {
    int kind = h5.H5Iget_type(id);
    if (f->depth == DEEPEST) return unsupported(f, name, "groups within groups without end");
    if (f->matlab && h5.H5Aexists(id, "MATLAB_sparse") > 0) return unsupported(f, name, "a sparse matrix");
    if (kind != GROUP && kind != DATASET) return unsupported(f, name, "a named type");
    f->depth++;
    qs_status s = kind == GROUP ? read_group(f, id, out) : read_dataset(f, id, name, out);
    return f->depth--, s;
}

bool qhdf5_is(const uint8_t *p, size_t n) {
    static const char signature[8] = "\x89HDF\r\n\x1a\n";
    return (n >= 8 && !memcmp(p, signature, 8)) || (n >= 520 && !memcmp(p + 512, signature, 8));
}

qs_status qhdf5_load(qs_vm *vm, const qs_call_args *c, const char *path, Object *o) {
    File f;
    TRY(open_file(vm, "load", path, READ_ONLY, &f));
    Id root = h5.H5Oopen(f.id, "/", 0);
    qs_status s = root < 0 ? failed(&f, "opening", "/") : read_members(&f, root, c, o);
    if (root >= 0) h5.H5Oclose(root);
    return close_file(&f, s);
}

/* -- h5read -------------------------------------------------------------------------------------------------------- */
/* Opens what is at a path such as "/group/name". */
static qs_status open_object(const File *f, const char *name, Id *out) {
    *out = h5.H5Oopen(f->id, *name ? name : "/", 0);
    if (*out >= 0) return QS_OK;
    h5.H5Eclear2(0);
    return qs_fail(f->vm, QS_ENAME, "%s: %s has no \"%.100s\"; h5info(path) shows what it has", f->fn, f->path, name);
}

/* Reads numbers of argument i, one for each dimension. */
static qs_status read_counts(qs_vm *vm, qs_call_args *c, int i, const char *what, int rank, Size *out) {
    Numbers n;
    TRY(qarg_wide(vm, c, i, what, 1, &n));
    if (n.n != (size_t)rank)
        return qs_fail(vm, QS_ESHAPE, "%s: %s must have a number for each of the %d dimensions, got %zu", c->name, what,
                       rank, n.n);
    for (int k = 0; k < rank; k++) {
        if (!(n.x[k] >= 0 && n.x[k] < 0x1p53) || n.x[k] != (double)(Size)n.x[k])
            return qs_fail(vm, QS_EVALUE, "%s: %s must be integers from 0, got %g", c->name, what, n.x[k]);
        out[k] = (Size)n.x[k];
    }
    return QS_OK;
}

/* Restricts what is read to `count` elements from `start` on, each `step` after the one before. */
static qs_status choose_part(const File *f, qs_call_args *c, Data *d) {
    Size start[QS_MAX_RANK], count[QS_MAX_RANK], step[QS_MAX_RANK];
    if (!d->rank) return qs_fail(f->vm, QS_ESHAPE, "h5read: \"%.100s\" is one value and has no parts", d->name);
    TRY(read_counts(f->vm, c, 2, "start", d->rank, start));
    TRY(read_counts(f->vm, c, 3, "count", d->rank, count));
    for (int i = 0; i < d->rank; i++) step[i] = 1;
    if (qarg_given(c, 4)) TRY(read_counts(f->vm, c, 4, "step", d->rank, step));
    for (int i = 0; i < d->rank; i++) {
        Size extent = (Size)d->dims[i];
        if (!step[i]) return qs_fail(f->vm, QS_EVALUE, "h5read: step must be positive");
        if (!count[i] ? start[i] <= extent : start[i] < extent && count[i] - 1 <= (extent - 1 - start[i]) / step[i])
            continue;
        return qs_fail(f->vm, QS_EINDEX,
                       "h5read: %llu elements from %llu on, by %llu, leave the extent %llu of dimension %d",
                       (unsigned long long)count[i], (unsigned long long)start[i], (unsigned long long)step[i],
                       (unsigned long long)extent, i);
    }
    set_dims(d, count);
    if (!d->count) return QS_OK;
    d->memory = h5.H5Screate_simple(d->rank, count, NULL);
    return h5.H5Sselect_hyperslab(d->space, 0, start, step, count, NULL) < 0 ? failed(f, "reading", d->name) : QS_OK;
}

static qs_status read_part(File *f, qs_call_args *c, Id id, const char *name) {
    Data d;
    if (h5.H5Iget_type(id) != DATASET)
        return qs_fail(f->vm, QS_EVALUE, "h5read: start and count need a dataset, \"%.100s\" is a group", name);
    if (f->matlab) return qs_fail(f->vm, QS_EVALUE, "h5read: parts of MATLAB's files are not supported; read all");
    qs_status s = data_open(f, id, false, name, &d);
    if (s == QS_OK) s = choose_part(f, c, &d);
    if (s == QS_OK) s = read_data(f, &d, &c->out[0]);
    return data_close(&d), s;
}

/* h5read(path, name [, start, count [, step]]) */
qs_status qhdf5_read(qs_vm *vm, qs_call_args *c) {
    const char *path, *name;
    File f;
    Id id;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(qarg_string(vm, c->name, "name", c->in[1], &name, NULL));
    if (qarg_given(c, 2) != qarg_given(c, 3))
        return qs_fail(vm, QS_EVALUE, "h5read: a part needs both, where it starts and how many elements it has");
    TRY(open_file(vm, c->name, path, READ_ONLY, &f));
    qs_status s = open_object(&f, name, &id);
    if (s == QS_OK) {
        s = qarg_given(c, 2) ? read_part(&f, c, id, name) : read_object(&f, id, name, &c->out[0]);
        h5.H5Oclose(id);
    }
    return close_file(&f, s);
}

/* -- h5info -------------------------------------------------------------------------------------------------------- */
/* The attributes of an object; null for those whose type is not supported. */
static qs_status read_attributes(const File *f, Id id, qs_value *out) {
    Object *o;
    char name[LONGEST_NAME];
    TRY(qobj_new(f->vm, NULL, &o));
    *out = qval_object(QS_OBJECT, o);
    for (Size i = 0; h5.H5Aget_name_by_idx(id, ".", 0, 0, i, name, sizeof name, 0) > 0; i++) {
        Data d;
        qs_value v = qs_nil();
        Id a = h5.H5Aopen(id, name, 0);
        qs_status s = a < 0 ? failed(f, "reading", name) : data_open(f, a, true, name, &d);
        if (s == QS_OK && read_data(f, &d, &v) != QS_OK) qs_error_clear(f->vm), qval_release(f->vm, v), v = qs_nil();
        if (a >= 0) data_close(&d), h5.H5Aclose(a);
        TRY(s);
        TRY(qarg_set_field(f->vm, o, name, v));
    }
    return QS_OK;
}

/* The names of the members of a group that are groups, or that are datasets. */
static qs_status member_names(const File *f, Id id, int kind, qs_value *out) {
    Cell *cell;
    char name[LONGEST_NAME];
    TRY(qcell_new(f->vm, qtype_any(qvm_ctx(f->vm)), 1, &(int64_t){0}, &cell));
    *out = qval_object(QS_CELL, cell);
    for (Size i = 0; member_name(id, i, name); i++) {
        qs_value v;
        Id member = h5.H5Oopen(id, name, 0);
        bool wanted = member >= 0 && h5.H5Iget_type(member) == kind;
        if (member >= 0) h5.H5Oclose(member);
        if (!wanted) continue;
        TRY(qval_string(f->vm, name, strlen(name), &v));
        qs_status s = qcell_insert(f->vm, cell, cell->count, v);
        qval_release(f->vm, v);
        TRY(s);
    }
    return QS_OK;
}

static qs_status describe_group(const File *f, Id id, Object *o) {
    qs_value v = qs_nil();
    qs_status s = member_names(f, id, GROUP, &v);
    if (s != QS_OK) return qval_release(f->vm, v), s;
    TRY(qarg_set_field(f->vm, o, "groups", v));
    v = qs_nil();
    s = member_names(f, id, DATASET, &v);
    return s == QS_OK ? qarg_set_field(f->vm, o, "datasets", v) : (qval_release(f->vm, v), s);
}

static qs_status describe_dataset(const File *f, Id id, const char *name, Object *o) {
    Data d;
    double dims[QS_MAX_RANK];
    qs_value v;
    qs_dtype t;
    Id memory;
    qs_status s = data_open(f, id, false, name, &d);
    for (int i = 0; s == QS_OK && i < d.rank; i++) dims[i] = (double)d.dims[i];
    if (s == QS_OK) s = qarg_exact(f->vm, dims, 1, &(int64_t){d.rank}, &v);
    if (s == QS_OK) s = qarg_set_field(f->vm, o, "size", v);
    bool known = s == QS_OK && dtype_of(d.type, &t, &memory);
    const char *type = known ? qdtype_info[t].name : s == QS_OK ? class_name(d.type) : "";
    if (s == QS_OK) s = qval_string(f->vm, type, strlen(type), &v);
    if (s == QS_OK) s = qarg_set_field(f->vm, o, "type", v);
    if (known) h5.H5Tclose(memory);
    return data_close(&d), s;
}

/* h5info(path [, name]) */
qs_status qhdf5_info(qs_vm *vm, qs_call_args *c) {
    const char *path, *name = "/";
    File f;
    Id id;
    Object *o;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    if (qarg_given(c, 1)) TRY(qarg_string(vm, c->name, "name", c->in[1], &name, NULL));
    TRY(qobj_new(vm, NULL, &o));
    c->out[0] = qval_object(QS_OBJECT, o);
    TRY(open_file(vm, c->name, path, READ_ONLY, &f));
    qs_status s = open_object(&f, name, &id);
    if (s == QS_OK) {
        qs_value v = qs_nil();
        s = h5.H5Iget_type(id) == GROUP ? describe_group(&f, id, o) : describe_dataset(&f, id, name, o);
        if (s == QS_OK && (s = read_attributes(&f, id, &v)) == QS_OK) s = qarg_set_field(vm, o, "attributes", v);
        else qval_release(vm, v);
        h5.H5Oclose(id);
    }
    return close_file(&f, s);
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
typedef struct {
    File *file;
    Id id; /* the group of a dataset, or the object of an attribute */
    bool attribute;
} Target;

/* Opens the dataset `name` if it can hold such elements, and deletes another one; fails if it is a group. */
static qs_status existing_dataset(const Target *to, const char *name, Id type, Id space, Id *out) {
    const File *f = to->file;
    *out = -1;
    if (h5.H5Lexists(to->id, name, 0) <= 0) return h5.H5Eclear2(0), QS_OK;
    Id id = h5.H5Oopen(to->id, name, 0);
    if (id >= 0 && h5.H5Iget_type(id) != DATASET) {
        h5.H5Oclose(id);
        return qs_fail(f->vm, QS_EVALUE, "%s: \"%.100s\" is a group of %s and not replaced", f->fn, name, f->path);
    }
    Size dims[MOST_RANK] = {0}, old[MOST_RANK] = {0};
    Id old_type = id < 0 ? -1 : h5.H5Dget_type(id), old_space = id < 0 ? -1 : h5.H5Dget_space(id);
    int rank = h5.H5Sget_simple_extent_dims(space, dims, NULL);
    bool same = old_type >= 0 && h5.H5Tequal(old_type, type) > 0 &&
                h5.H5Sget_simple_extent_type(old_space) == h5.H5Sget_simple_extent_type(space) &&
                h5.H5Sget_simple_extent_dims(old_space, old, NULL) == rank &&
                !memcmp(dims, old, (size_t)rank * sizeof *dims);
    if (old_type >= 0) h5.H5Tclose(old_type);
    if (old_space >= 0) h5.H5Sclose(old_space);
    if (same) return *out = id, QS_OK;
    if (id >= 0) h5.H5Oclose(id);
    return h5.H5Ldelete(to->id, name, 0) < 0 ? failed(f, "replacing", name) : QS_OK;
}

static qs_status write_dataset(const Target *to, const char *name, Id type, Id space, const void *p) {
    Id id;
    TRY(existing_dataset(to, name, type, space, &id));
    if (id < 0) {
        Id parents = h5.H5Pcreate(*h5.H5P_CLS_LINK_CREATE_ID_g);
        h5.H5Pset_create_intermediate_group(parents, 1);
        id = h5.H5Dcreate2(to->id, name, type, space, parents, 0, 0);
        h5.H5Pclose(parents);
    }
    bool good = id >= 0 && h5.H5Dwrite(id, type, 0, 0, 0, p) >= 0;
    qs_status s = good ? QS_OK : failed(to->file, "writing", name);
    if (id >= 0) h5.H5Oclose(id);
    return s;
}

static qs_status write_attribute(const Target *to, const char *name, Id type, Id space, const void *p) {
    if (h5.H5Aexists(to->id, name) > 0) h5.H5Adelete(to->id, name);
    Id id = h5.H5Acreate2(to->id, name, type, space, 0, 0);
    bool good = id >= 0 && h5.H5Awrite(id, type, p) >= 0;
    qs_status s = good ? QS_OK : failed(to->file, "writing", name);
    if (id >= 0) h5.H5Aclose(id);
    return s;
}

/* Writes elements; rank 0: one value. */
static qs_status write_elements(const Target *to, const char *name, Id type, int rank, const int64_t *dims,
                                const void *p) {
    Size extents[QS_MAX_RANK];
    for (int i = 0; i < rank; i++) extents[i] = (Size)dims[i];
    Id space = rank ? h5.H5Screate_simple(rank, extents, NULL) : h5.H5Screate(SPACE_SCALAR);
    qs_status s = (to->attribute ? write_attribute : write_dataset)(to, name, type, space, p);
    return h5.H5Sclose(space), s;
}

static qs_status write_array(const Target *to, const char *name, Array *a, int rank, const int64_t *dims) {
    qs_vm *vm = to->file->vm;
    qs_dtype d = (qs_dtype)a->dtype;
    Array *wide, *packed;
    const void *p;
    TRY(qarr_convert(vm, a, d == QS_F16 || d == QS_BF16 ? QS_F32 : d, &wide));
    qs_status s = qarr_contiguous(vm, wide, &packed);
    if (s == QS_OK) {
        s = qarr_read(vm, packed, &p);
        Id type = new_type((qs_dtype)packed->dtype);
        if (s == QS_OK) s = write_elements(to, name, type, rank, dims, p);
        h5.H5Tclose(type), qarr_release(vm, packed);
    }
    return qarr_release(vm, wide), s;
}

static qs_status write_number(const Target *to, const char *name, qs_value v) {
    qs_dtype d = v.kind == QS_BOOL ? QS_B1 : v.kind == QS_INT ? QS_I64 : v.kind == QS_NUM ? QS_F64 : QS_C128;
    Array *a;
    TRY(qarr_new(to->file->vm, d, 1, &(int64_t){1}, true, &a));
    qs_status s = qarr_put(to->file->vm, a, 0, v);
    if (s == QS_OK) s = write_array(to, name, a, 0, NULL);
    return qarr_release(to->file->vm, a), s;
}

/* Writes strings of any length. */
static qs_status write_strings(const Target *to, const char *name, const qs_value *v, size_t n, int rank,
                               const int64_t *dims) {
    const File *f = to->file;
    size_t bytes = qmem_size(n, sizeof(char *), 1);
    const char **strings = qmem_try(qvm_ctx(f->vm), bytes);
    if (!strings) return qs_fail(f->vm, QS_ENOMEM, "%s: no memory for %zu bytes", f->fn, bytes);
    qs_status s = QS_OK;
    for (size_t i = 0; s == QS_OK && i < n; i++)
        s = v[i].kind == QS_STRING ? qarg_string(f->vm, f->fn, name, v[i], &strings[i], NULL)
                                   : qs_fail(f->vm, QS_ETYPE,
                                             "%s: a cell in an HDF5 file has strings only, \"%.100s\" has %s as well; "
                                             "an object becomes a group of different values",
                                             f->fn, name, qval_type_name(f->vm, v[i]));
    Id type = h5.H5Tcopy(*h5.H5T_C_S1_g);
    h5.H5Tset_size(type, SIZE_MAX), h5.H5Tset_cset(type, UTF8);
    if (s == QS_OK) s = write_elements(to, name, type, rank, dims, strings);
    h5.H5Tclose(type);
    qmem_try_free(qvm_ctx(f->vm), strings, bytes);
    return s;
}

static qs_status write_value(const Target *to, const char *name, qs_value v);

static qs_status write_group(const Target *to, const char *name, const Object *o) {
    File *f = to->file;
    qs_value key, v;
    const char *field;
    if (f->depth == DEEPEST) return qs_fail(f->vm, QS_EVALUE, "%s: \"%.100s\" is nested too deeply", f->fn, name);
    if (to->attribute) return qs_fail(f->vm, QS_ETYPE, "%s: an attribute cannot be an object", f->fn);
    if (h5.H5Lexists(to->id, name, 0) > 0)
        return qs_fail(f->vm, QS_EVALUE, "%s: %s has \"%.100s\" already; it is not replaced by a group", f->fn, f->path,
                       name);
    Target inner = {.file = f, .id = h5.H5Gcreate2(to->id, name, 0, 0, 0)};
    if (inner.id < 0) return failed(f, "writing", name);
    qs_status s = QS_OK;
    f->depth++;
    for (uint32_t i = 0; s == QS_OK && qobj_entry(o, i, &key, &v); i++) {
        s = qarg_string(f->vm, f->fn, "a name", key, &field, NULL);
        if (s == QS_OK) s = write_value(&inner, field, v);
    }
    f->depth--;
    return h5.H5Oclose(inner.id), s;
}

static qs_status write_value(const Target *to, const char *name, qs_value v) {
    int64_t dims[QS_MAX_RANK];
    if (!*name) return qs_fail(to->file->vm, QS_EVALUE, "%s: a name is empty", to->file->fn);
    if (qval_is_scalar(v)) return write_number(to, name, v);
    if (v.kind == QS_STRING) return write_strings(to, name, &v, 1, 0, NULL);
    if (v.kind == QS_OBJECT) return write_group(to, name, v.u.p);
    if (v.kind == QS_CELL) {
        const Cell *cell = v.u.p;
        return write_strings(to, name, cell->items, cell->count, cell->rank, cell->dims);
    }
    if (v.kind != QS_ARRAY)
        return qarg_wrong(to->file->vm, to->file->fn, "every value",
                          "a number, an array, a string, a cell of strings or an object", v);
    int rank = qarr_shape(qval_array(v), dims, NULL);
    return write_array(to, name, qval_array(v), rank, dims);
}

static qs_status check_writable(const File *f) {
    if (!f->matlab) return QS_OK;
    return qs_fail(f->vm, QS_EVALUE, "%s: %s is a file of MATLAB 7.3, which is only read", f->fn, f->path);
}

/* h5write(path, name, x) */
qs_status qhdf5_write(qs_vm *vm, qs_call_args *c) {
    const char *path, *name;
    File f;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(qarg_string(vm, c->name, "name", c->in[1], &name, NULL));
    bool is_new = access(path, F_OK) != 0;
    TRY(open_file(vm, c->name, path, is_new ? TRUNCATE : READ_WRITE, &f));
    qs_status s = check_writable(&f);
    if (s == QS_OK) s = write_value(&(Target){.file = &f, .id = f.id}, name, c->in[2]);
    s = close_file(&f, s);
    if (s != QS_OK && is_new) unlink(path);
    return s;
}

/* h5writeatt(path, name, attribute, value) */
qs_status qhdf5_write_attribute(qs_vm *vm, qs_call_args *c) {
    const char *path, *name, *attribute;
    File f;
    Id id;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(qarg_string(vm, c->name, "name", c->in[1], &name, NULL));
    TRY(qarg_string(vm, c->name, "attribute", c->in[2], &attribute, NULL));
    TRY(open_file(vm, c->name, path, READ_WRITE, &f));
    qs_status s = check_writable(&f);
    if (s == QS_OK && (s = open_object(&f, name, &id)) == QS_OK) {
        s = write_value(&(Target){.file = &f, .id = id, .attribute = true}, attribute, c->in[3]);
        h5.H5Oclose(id);
    }
    return close_file(&f, s);
}

static qs_status save_variable(void *target, const char *name, qs_value v) { return write_value(target, name, v); }

/* Writes to another file first, so that a failure keeps the old one. */
qs_status qhdf5_save(qs_vm *vm, const char *path, int n, const qs_value *in) {
    File f;
    Text part;
    qtext_init(&part, qvm_ctx(vm));
    qtext_printf(&part, "%s.part", path);
    qs_status s = qtext_status(&part);
    if (s == QS_OK) s = open_file(vm, "save", part.s, TRUNCATE, &f);
    if (s == QS_OK) {
        f.path = path;
        s = qnpy_variables(vm, "an HDF5 file", n, in, save_variable, &(Target){.file = &f, .id = f.id});
        s = close_file(&f, s);
        if (s == QS_OK && rename(part.s, path)) s = qio_error(vm, "save", "write", path);
        if (s != QS_OK) unlink(part.s);
    }
    return qtext_free(&part), s;
}
