/* mat.c -- loads and saves MATLAB's MAT-files of version 5 to 7.
 *
 *     128 bytes: text, version, order of bytes │ elements: type (4 bytes), size (4 bytes), data, padding to 8 bytes
 *     a matrix:  flags and class │ extents │ name │ its elements, in column-major order; or cells, or fields: matrices
 *
 * An element of up to 4 bytes may have its size in the upper half of its type, and its data after it; a matrix may be
 * compressed by zlib.  Source: MathWorks, "MAT-File Format" (level 5).  Version 7.3 is HDF5: hdf5.c.
 * Files are not trusted: extents are compared with the number of bytes before memory is allocated. */
#include "stdlib/builtins.h"
#include "stdlib/bytes.h"
#include "stdlib/npy.h"
#include "vm/array/convert.h"
#include "vm/base/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { HEADER = 128, LONGEST_NAME = 63, DEEPEST = 200 };
enum {
    MI_INT8 = 1,
    MI_UINT16 = 4,
    MI_INT32 = 5,
    MI_UINT32 = 6,
    MI_MATRIX = 14,
    MI_COMPRESSED,
    MI_UTF8,
    MI_UTF16,
    MI_UTF32
};
enum {
    CLASS_CELL = 1,
    CLASS_STRUCT,
    CLASS_OBJECT,
    CLASS_CHAR,
    CLASS_SPARSE,
    CLASS_DOUBLE,
    CLASS_FUNCTION = 16,
    CLASS_OPAQUE
};
enum { LOGICAL = 0x200, COMPLEX = 0x800 }; /* flags */

/* The types of data in a file and the classes of numeric matrices; QS_B1: there is none. */
static const qs_dtype data_types[] = {QS_B1,  QS_I8, QS_U8,  QS_I16, QS_U16, QS_I32, QS_U32,
                                      QS_F32, QS_B1, QS_F64, QS_B1,  QS_B1,  QS_I64, QS_U64};
static const qs_dtype class_types[] = {QS_F64, QS_F32, QS_I8, QS_U8, QS_I16, QS_U16, QS_I32, QS_U32, QS_I64, QS_U64};
enum { DATA_TYPES = sizeof data_types / sizeof *data_types, CLASS_TYPES = sizeof class_types / sizeof *class_types };

/* -- reading ------------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    const char *path;
    const qs_call_args *c;           /* names of the variables that are wanted */
    char variable[LONGEST_NAME + 1]; /* the one that is being read */
    int depth;
} Mat;

typedef struct {
    uint32_t type;
    ByteReader data;
} Element;

typedef struct {
    uint32_t flags;
    int class, rank;
    int64_t dims[QS_MAX_RANK];
    size_t count;
    Element name;
} Matrix;

static qs_status damaged(const Mat *m, const char *why) {
    if (!*m->variable) return qs_fail(m->vm, QS_EVALUE, "load: %s is damaged: %s", m->path, why);
    return qs_fail(m->vm, QS_EVALUE, "load: %s is damaged: %s (in \"%s\")", m->path, why, m->variable);
}

static qs_status unsupported(const Mat *m, const char *what) {
    return qs_fail(
        m->vm, QS_EVALUE,
        "load: %s holds %s in \"%s\", which is not supported; load(path, \"name\", ...) reads other variables", m->path,
        what, m->variable);
}

static qs_status take_element(const Mat *m, ByteReader *b, Element *e) {
    uint32_t tag = (uint32_t)qbytes_number(b, 4);
    size_t size = tag >> 16;
    *e = (Element){.type = tag & 0xFFFF};
    if (size) {
        const uint8_t *p = qbytes_take(b, 4);
        if (!p || size > 4) return damaged(m, "a small element");
        return e->data = (ByteReader){p, size, b->swapped, false}, QS_OK;
    }
    size = (size_t)qbytes_number(b, 4);
    const uint8_t *p = qbytes_take(b, size);
    if (!p) return damaged(m, "it ends before its last element");
    e->data = (ByteReader){p, size, b->swapped, false};
    size_t padding = e->type == MI_COMPRESSED ? 0 : (8 - size % 8) % 8;
    qbytes_take(b, padding < b->n ? padding : b->n);
    return QS_OK;
}

static qs_status read_extents(const Mat *m, ByteReader *b, Matrix *x) {
    Element e;
    TRY(take_element(m, b, &e));
    size_t n = e.data.n / 4;
    if ((e.type != MI_INT32 && e.type != MI_UINT32) || n < 2) return damaged(m, "a matrix has no extents");
    for (size_t i = 0; i < n; i++) {
        int32_t extent = (int32_t)qbytes_number(&e.data, 4);
        if (extent < 0) return damaged(m, "an extent is negative");
        if (i >= QS_MAX_RANK && extent != 1)
            return qs_fail(m->vm, QS_EVALUE, "load: %s has more than %d dimensions in \"%s\"", m->path, QS_MAX_RANK,
                           m->variable);
        if (i < QS_MAX_RANK) x->dims[i] = extent, x->rank = (int)i + 1;
    }
    while (x->rank > 2 && x->dims[x->rank - 1] == 1) x->rank--;
    return qarr_multiply_extents(x->rank, x->dims, &x->count) ? QS_OK : damaged(m, "its extents are too large");
}

/* Reads flags, extents and name of a matrix; an opaque object has no extents. */
static qs_status read_header(const Mat *m, ByteReader *b, Matrix *x) {
    Element e;
    *x = (Matrix){.rank = 2};
    TRY(take_element(m, b, &e));
    if (e.type != MI_UINT32 || e.data.n < 8) return damaged(m, "a matrix has no class");
    uint32_t word = (uint32_t)qbytes_number(&e.data, 4);
    x->class = (int)(word & 0xFF), x->flags = word & 0xFF00;
    if (x->class != CLASS_OPAQUE) TRY(read_extents(m, b, x));
    return take_element(m, b, &x->name);
}

/* Reads count numbers to elements of type d that are `step` bytes apart. */
static qs_status read_numbers(const Mat *m, ByteReader *b, size_t count, qs_dtype d, void *out, size_t step) {
    Element e;
    TRY(take_element(m, b, &e));
    qs_dtype from = e.type < DATA_TYPES ? data_types[e.type] : QS_B1;
    if (from == QS_B1) return damaged(m, "a type of numbers");
    size_t size = qdtype_size(from), bytes = qmem_size(count, size, 0);
    if (bytes != e.data.n) return damaged(m, "the extents and the number of elements do not agree");
    if (!count) return QS_OK;
    uint8_t *copy = qmem_try(qvm_ctx(m->vm), bytes); /* aligned, and in the order of this computer's bytes */
    if (!copy) return qs_fail(m->vm, QS_ENOMEM, "load: no memory for %zu bytes", bytes);
    memcpy(copy, e.data.p, bytes);
    if (b->swapped) qbytes_swap(copy, bytes, size);
    qconv_run(from, copy, (ptrdiff_t)size, d, out, (ptrdiff_t)step, count);
    qmem_try_free(qvm_ctx(m->vm), copy, bytes);
    return QS_OK;
}

static qs_status fill_array(const Mat *m, ByteReader *b, const Matrix *x, qs_dtype d, Array *a) {
    void *p;
    size_t step = qdtype_size((qs_dtype)a->dtype);
    TRY(qarr_write(m->vm, a, &p));
    TRY(read_numbers(m, b, x->count, d, p, step));
    if (x->flags & COMPLEX) TRY(read_numbers(m, b, x->count, d, (char *)p + qdtype_size(d), step));
    for (size_t i = 0; a->dtype == QS_B1 && i < x->count; i++) ((uint8_t *)p)[i] = ((uint8_t *)p)[i] != 0;
    return QS_OK;
}

qs_status qmat_from_columns(qs_vm *vm, Array *a, int rank, const int64_t *dims, qs_value *out) {
    bool vec = rank == 2 && dims[0] == 1;
    Array *rows;
    if (vec && dims[1] != 1) return *out = qarr_value(a), QS_OK;
    qs_status s = vec ? qarr_get(vm, a, 0, out) : qnpy_from_columns(vm, a, rank, dims, &rows);
    if (s == QS_OK && !vec) *out = qarr_value(rows);
    return qarr_release(vm, a), s;
}

/* Complex integers become complex128, because the language has only complex floats. */
static qs_status read_array(const Mat *m, ByteReader *b, const Matrix *x, qs_value *out) {
    bool complex = x->flags & COMPLEX;
    qs_dtype part = class_types[x->class - CLASS_DOUBLE];
    if (complex && part != QS_F32) part = QS_F64;
    qs_dtype d = complex ? qdtype_complex_of(part) : x->flags & LOGICAL ? QS_B1 : part;
    Array *a;
    int64_t n = (int64_t)x->count;
    if (x->count > b->n) return damaged(m, "it ends before its last element");
    TRY(qarr_new(m->vm, d, 1, &n, true, &a));
    qs_status s = fill_array(m, b, x, d == QS_B1 ? QS_U8 : part, a);
    return s == QS_OK ? qmat_from_columns(m->vm, a, x->rank, x->dims, out) : (qarr_release(m->vm, a), s);
}

/* Decodes the characters of a string; returns how many. */
static size_t decode_text(Element *e, uint32_t *out) {
    const char *s = (const char *)e->data.p, *end = s + e->data.n;
    size_t n = 0;
    if (e->type == MI_UTF8)
        while (s < end) out[n++] = qutf8_next(&s, end);
    int unit = e->type == MI_UTF32 ? 4 : e->type == MI_UINT16 || e->type == MI_UTF16 ? 2 : 1;
    while (e->type != MI_UTF8 && e->data.n >= (size_t)unit) {
        uint32_t c = (uint32_t)qbytes_number(&e->data, unit);
        bool pair = n && unit == 2 && c >> 10 == 0xDC00 >> 10 && out[n - 1] >> 10 == 0xD800 >> 10;
        if (pair) out[n - 1] = 0x10000 + ((out[n - 1] & 0x3FF) << 10) + (c & 0x3FF);
        else out[n++] = c;
    }
    return n;
}

static qs_status make_string(qs_vm *vm, const uint32_t *chars, size_t n, size_t step, qs_value *out) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_puts(&t, "");
    for (size_t i = 0; i < n; i++) qutf8_add(&t, chars[i * step]);
    return qval_text(vm, &t, QS_OK, out);
}

qs_status qmat_strings(qs_vm *vm, int64_t rows, const uint32_t *chars, size_t n, qs_value *out) {
    Cell *cell;
    if (rows <= 1 || !n) return make_string(vm, chars, n, 1, out);
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, &rows, &cell));
    *out = qval_object(QS_CELL, cell);
    for (int64_t i = 0; i < rows; i++) TRY(make_string(vm, chars + i, n / (size_t)rows, (size_t)rows, &cell->items[i]));
    return QS_OK;
}

static qs_status make_strings(const Mat *m, const Matrix *x, const uint32_t *chars, size_t n, qs_value *out) {
    bool several = x->rank > 2 || x->dims[0] > 1;
    if (several && x->rank > 2) return unsupported(m, "characters in more than two dimensions");
    if (several && n != x->count) return damaged(m, "the extents and the number of characters do not agree");
    return qmat_strings(m->vm, x->dims[0], chars, n, out);
}

static qs_status read_text(const Mat *m, ByteReader *b, const Matrix *x, qs_value *out) {
    Element e = {0};
    if (b->n) TRY(take_element(m, b, &e));
    size_t bytes = qmem_size(e.data.n + 1, sizeof(uint32_t), 0);
    uint32_t *chars = qmem_try(qvm_ctx(m->vm), bytes);
    if (!chars) return qs_fail(m->vm, QS_ENOMEM, "load: no memory for %zu bytes", bytes);
    qs_status s = make_strings(m, x, chars, decode_text(&e, chars), out);
    qmem_try_free(qvm_ctx(m->vm), chars, bytes);
    return s;
}

static qs_status read_matrix(Mat *m, const Element *e, qs_value *out);

static qs_status read_item(Mat *m, ByteReader *b, qs_value *out) {
    Element e;
    TRY(take_element(m, b, &e));
    return read_matrix(m, &e, out);
}

size_t qmat_row_major_index(int rank, const int64_t *dims, size_t k) {
    int64_t strides[QS_MAX_RANK];
    size_t at = 0;
    qarr_packed_strides(rank, dims, strides);
    for (int i = 0; i < rank; i++) at += k % (size_t)dims[i] * (size_t)strides[i], k /= (size_t)dims[i];
    return at;
}

/* Makes a cell of x->count items.  Each item has at least `least` bytes in the file. */
static qs_status make_cell(const Mat *m, const ByteReader *b, const Matrix *x, size_t least, Cell **out) {
    if (x->count > b->n / least) return damaged(m, "it ends before its last element");
    return qcell_new(m->vm, qtype_any(qvm_ctx(m->vm)), x->rank, x->dims, out);
}

static qs_status read_cell(Mat *m, ByteReader *b, const Matrix *x, qs_value *out) {
    Cell *cell;
    TRY(make_cell(m, b, x, 8, &cell));
    *out = qval_object(QS_CELL, cell);
    for (size_t i = 0; i < x->count; i++) TRY(read_item(m, b, &cell->items[qmat_row_major_index(x->rank, x->dims, i)]));
    return QS_OK;
}

static qs_status read_fields(Mat *m, ByteReader *b, const ByteReader *names, size_t length, qs_value *out) {
    Object *o;
    TRY(qobj_new(m->vm, NULL, &o));
    *out = qval_object(QS_OBJECT, o);
    for (size_t i = 0; i < names->n / length; i++) {
        const char *name = (const char *)names->p + i * length;
        qs_value v = qs_nil();
        qs_status s = read_item(m, b, &v);
        if (s == QS_OK) s = qobj_set(m->vm, o, qstr_name(qvm_ctx(m->vm), name, strnlen(name, length)), v);
        qval_release(m->vm, v);
        TRY(s);
    }
    return QS_OK;
}

/* A struct becomes an object, an array of structs a cell of objects. */
static qs_status read_struct(Mat *m, ByteReader *b, const Matrix *x, qs_value *out) {
    Element length, names;
    Cell *cell;
    TRY(take_element(m, b, &length));
    TRY(take_element(m, b, &names));
    size_t n = (size_t)qbytes_number(&length.data, 4);
    if (n < 1 || n > 1024 || names.data.n % n) return damaged(m, "the names of its fields");
    if (x->count == 1) return read_fields(m, b, &names.data, n, out);
    size_t fields = names.data.n / n;
    if (!fields && x->count > 65536) return damaged(m, "its extents are too large");
    TRY(fields ? make_cell(m, b, x, 8 * fields, &cell)
               : qcell_new(m->vm, qtype_any(qvm_ctx(m->vm)), x->rank, x->dims, &cell));
    *out = qval_object(QS_CELL, cell);
    for (size_t i = 0; i < x->count; i++)
        TRY(read_fields(m, b, &names.data, n, &cell->items[qmat_row_major_index(x->rank, x->dims, i)]));
    return QS_OK;
}

static qs_status read_contents(Mat *m, ByteReader *b, const Matrix *x, qs_value *out) {
    switch (x->class) {
    case CLASS_CELL: return read_cell(m, b, x, out);
    case CLASS_STRUCT: return read_struct(m, b, x, out);
    case CLASS_CHAR: return read_text(m, b, x, out);
    case CLASS_SPARSE: return unsupported(m, "a sparse matrix");
    case CLASS_FUNCTION: return unsupported(m, "a function handle");
    case CLASS_OBJECT:
    case CLASS_OPAQUE: return unsupported(m, "an object of a class (a string, table, datetime ... of MATLAB)");
    default:
        if (x->class < CLASS_DOUBLE || x->class >= CLASS_DOUBLE + CLASS_TYPES) return damaged(m, "a class of matrices");
        return read_array(m, b, x, out);
    }
}

static qs_status read_matrix(Mat *m, const Element *e, qs_value *out) {
    ByteReader b = e->data;
    Matrix x;
    if (e->type != MI_MATRIX) return damaged(m, "an element is no matrix");
    if (!b.n) { /* an item of a cell that was never set */
        Array *a;
        TRY(qarr_new(m->vm, QS_F64, 2, (int64_t[]){0, 0}, true, &a));
        return *out = qarr_value(a), QS_OK;
    }
    TRY(read_header(m, &b, &x));
    if (m->depth == DEEPEST) return damaged(m, "its cells are nested too deeply");
    m->depth++;
    qs_status s = read_contents(m, &b, &x, out);
    return m->depth--, s;
}

static qs_status read_variable(Mat *m, const Element *e, Object *o) {
    ByteReader b = e->data;
    Matrix x;
    *m->variable = 0;
    if (e->type != MI_MATRIX) return damaged(m, "an element is no matrix");
    TRY(read_header(m, &b, &x));
    size_t n = x.name.data.n < LONGEST_NAME ? x.name.data.n : LONGEST_NAME;
    if (!n) return QS_OK; /* internal data of MATLAB */
    memcpy(m->variable, x.name.data.p, n), m->variable[n] = 0;
    n = strlen(m->variable);
    if (!qnpy_is_wanted(m->c, m->variable, n)) return QS_OK;
    qs_value v = qs_nil();
    qs_status s = read_contents(m, &b, &x, &v);
    if (s == QS_OK) s = qobj_set(m->vm, o, qstr_name(qvm_ctx(m->vm), m->variable, n), v);
    return qval_release(m->vm, v), s;
}

/* The size of the matrix is known from its first 8 bytes. */
static qs_status read_compressed(Mat *m, const Element *e, Object *o) {
    uint8_t head[8];
    *m->variable = 0;
    TRY(qzlib_inflate(m->vm, m->path, e->data.p, e->data.n, false, head, sizeof head));
    ByteReader b = {head + 4, 4, e->data.swapped, false};
    size_t size = (size_t)qbytes_number(&b, 4) + sizeof head;
    if (size / 1032 > e->data.n + 1) return damaged(m, "an element claims an impossible size");
    uint8_t *raw = qmem_try(qvm_ctx(m->vm), size);
    if (!raw) return qs_fail(m->vm, QS_ENOMEM, "load: no memory for %zu bytes", size);
    qs_status s = qzlib_inflate(m->vm, m->path, e->data.p, e->data.n, false, raw, size);
    ByteReader all = {raw, size, e->data.swapped, false};
    Element inner;
    if (s == QS_OK) s = take_element(m, &all, &inner);
    if (s == QS_OK) s = read_variable(m, &inner, o);
    qmem_try_free(qvm_ctx(m->vm), raw, size);
    return s;
}

bool qmat_is(const char *path, const uint8_t *p, size_t n) {
    const char *dot = strrchr(path, '.');
    return (dot && !strcasecmp(dot, ".mat")) || (n >= 8 && !memcmp(p, "MATLAB ", 7)) || qhdf5_is(p, n);
}

qs_status qmat_load(qs_vm *vm, const qs_call_args *c, const char *path, const uint8_t *p, size_t n, Object *o) {
    Mat m = {.vm = vm, .path = path, .c = c};
    if (qhdf5_is(p, n)) return qhdf5_load(vm, c, path, o);
    bool big = n >= HEADER && !memcmp(p + 126, "MI", 2);
    if (!big && (n < HEADER || memcmp(p + 126, "IM", 2)))
        return qs_fail(vm, QS_EVALUE, "load: %s is no MAT-file of version 5 to 7", path);
    ByteReader b = {p + HEADER, n - HEADER, big, false};
    while (b.n) {
        Element e;
        *m.variable = 0;
        TRY(take_element(&m, &b, &e));
        TRY(e.type == MI_COMPRESSED ? read_compressed(&m, &e, o) : read_variable(&m, &e, o));
    }
    return QS_OK;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    const char *path, *variable;
    int depth;
    Text t;
} Writer;

static void put_element(Text *t, int type, const void *p, size_t n) {
    bool small = n >= 1 && n <= 4;
    if (small) qbytes_put_le(t, (uint64_t)n << 16 | (uint64_t)type, 4);
    else qbytes_put_le(t, (uint64_t)type, 4), qbytes_put_le(t, n, 4);
    if (n) qtext_add(t, p, n);
    qtext_pad(t, 0, small ? 4 - n : (8 - n % 8) % 8);
}

/* Begins a matrix and returns the position of its size, which end_matrix writes. */
static size_t begin_matrix(Writer *w, int class, unsigned flags, int rank, const int64_t *dims, const char *name) {
    Text *t = &w->t;
    qbytes_put_le(t, MI_MATRIX, 4), qbytes_put_le(t, 0, 4);
    size_t at = t->len;
    qbytes_put_le(t, MI_UINT32, 4), qbytes_put_le(t, 8, 4);
    qbytes_put_le(t, (unsigned)class | flags, 4), qbytes_put_le(t, 0, 4);
    qbytes_put_le(t, MI_INT32, 4), qbytes_put_le(t, (uint64_t)rank * 4, 4);
    for (int i = 0; i < rank; i++) qbytes_put_le(t, (uint64_t)dims[i], 4);
    qtext_pad(t, 0, rank % 2 ? 4 : 0);
    put_element(t, MI_INT8, name, strlen(name));
    return at;
}

static qs_status end_matrix(Writer *w, size_t at) {
    TRY(qtext_status(&w->t));
    size_t n = w->t.len - at;
    if (n > INT32_MAX)
        return qs_fail(w->vm, QS_EVALUE, "save: \"%.60s\" takes %zu bytes, and a .mat file holds 2 GiB; use .npy files",
                       w->variable, n);
    for (int i = 0; i < 4; i++) w->t.s[at - 4 + (size_t)i] = (char)(n >> 8 * i);
    return QS_OK;
}

/* Writes the shape of a vec or of a value with extents as MATLAB has it, with two extents at least. */
static qs_status matlab_shape(Writer *w, int rank, int64_t *dims) {
    if (rank == 0) dims[0] = 1;
    if (rank < 2) dims[1] = dims[0], dims[0] = 1;
    for (int i = 0; i < rank; i++)
        if (dims[i] > INT32_MAX)
            return qs_fail(w->vm, QS_EVALUE, "save: an extent of \"%.60s\" is too large for a .mat file", w->variable);
    return QS_OK;
}

static int data_type_of(qs_dtype d) {
    int type = 0;
    while (type < DATA_TYPES && (data_types[type] != d || !type)) type++;
    return type;
}

/* Writes the real or the imaginary parts of elements in column-major order. */
static void put_parts(Text *t, qs_dtype part, const char *p, size_t count, size_t step) {
    size_t size = qdtype_size(part), n = count * size;
    qbytes_put_le(t, (uint64_t)data_type_of(part), 4), qbytes_put_le(t, n, 4);
    if (step == size && n) qtext_add(t, p, n);
    for (size_t i = 0; step != size && i < count; i++) qtext_add(t, p + i * step, size);
    qtext_pad(t, 0, (8 - n % 8) % 8);
}

static qs_status put_elements(Writer *w, qs_dtype part, int rank, const int64_t *dims, Array *a) {
    int64_t from[QS_MAX_RANK], to[QS_MAX_RANK];
    const void *p;
    size_t size = qdtype_size((qs_dtype)a->dtype), bytes = qmem_size(a->count, size, 1);
    TRY(qarr_read(w->vm, a, &p));
    char *columns = qmem_try(qvm_ctx(w->vm), bytes);
    if (!columns) return qs_fail(w->vm, QS_ENOMEM, "save: no memory for %zu bytes", bytes);
    qarr_packed_strides(rank, dims, from), qnpy_column_strides(rank, dims, to);
    if (a->count) qmatrix_move(w->vm, columns, to, p, from, rank, dims, size);
    put_parts(&w->t, part, columns, a->count, size);
    if (qdtype_is_complex((qs_dtype)a->dtype)) put_parts(&w->t, part, columns + size / 2, a->count, size);
    qmem_try_free(qvm_ctx(w->vm), columns, bytes);
    return QS_OK;
}

static qs_status write_array(Writer *w, const char *name, Array *a, int rank, int64_t *dims) {
    qs_dtype d = (qs_dtype)a->dtype, part = qdtype_real_of(d);
    if (part == QS_F16 || part == QS_BF16) d = part = QS_F32;
    if (part == QS_B1) part = QS_U8;
    int class = 0;
    while (class_types[class] != part) class ++;
    Array *wide, *packed;
    TRY(matlab_shape(w, rank, dims));
    if (rank < 2) rank = 2;
    TRY(qarr_convert(w->vm, a, d, &wide));
    qs_status s = qarr_contiguous(w->vm, wide, &packed);
    qarr_release(w->vm, wide);
    TRY(s);
    unsigned flags = (d == QS_B1 ? LOGICAL : 0u) | (qdtype_is_complex(d) ? COMPLEX : 0u);
    size_t at = begin_matrix(w, class + CLASS_DOUBLE, flags, rank, dims, name);
    s = put_elements(w, part, rank, dims, packed);
    qarr_release(w->vm, packed);
    return s == QS_OK ? end_matrix(w, at) : s;
}

static qs_status write_number(Writer *w, const char *name, qs_value v) {
    qs_dtype d = v.kind == QS_BOOL ? QS_B1 : v.kind == QS_INT ? QS_I64 : v.kind == QS_NUM ? QS_F64 : QS_C128;
    int64_t dims[QS_MAX_RANK] = {1};
    Array *a;
    TRY(qarr_new(w->vm, d, 1, dims, true, &a));
    qs_status s = qarr_put(w->vm, a, 0, v);
    if (s == QS_OK) s = write_array(w, name, a, 1, dims);
    return qarr_release(w->vm, a), s;
}

/* MATLAB's characters are units of UTF-16.  It writes all as MI_UINT16, which SciPy takes for ASCII. */
static qs_status write_string(Writer *w, const char *name, qs_value v) {
    size_t n;
    const char *s = qs_to_string(v, &n), *end = s + n;
    bool ascii = true;
    Text units;
    qtext_init(&units, w->t.ctx);
    while (s < end) {
        uint32_t c = qutf8_next(&s, end);
        ascii &= c < 0x80;
        if (c >= 0x10000) qbytes_put_le(&units, 0xD800 | (c - 0x10000) >> 10, 2), c = 0xDC00 | (c & 0x3FF);
        qbytes_put_le(&units, c, 2);
    }
    int64_t count = (int64_t)(units.len / 2), dims[2] = {count != 0, count};
    size_t at = begin_matrix(w, CLASS_CHAR, 0, 2, dims, name);
    put_element(&w->t, ascii ? MI_UINT16 : MI_UTF16, units.s, units.len);
    qs_status status = qtext_status(&units);
    qtext_free(&units);
    return status == QS_OK ? end_matrix(w, at) : status;
}

static qs_status write_value(Writer *w, const char *name, qs_value v);

static qs_status write_cell(Writer *w, const char *name, const Cell *cell) {
    Matrix x = {.rank = cell->rank, .count = cell->count};
    memcpy(x.dims, cell->dims, sizeof x.dims);
    TRY(matlab_shape(w, x.rank, x.dims));
    if (x.rank < 2) x.rank = 2;
    size_t at = begin_matrix(w, CLASS_CELL, 0, x.rank, x.dims, name);
    for (size_t i = 0; i < cell->count; i++)
        TRY(write_value(w, "", cell->items[qmat_row_major_index(x.rank, x.dims, i)]));
    return end_matrix(w, at);
}

static qs_status check_name(const Writer *w, const char *name) {
    size_t n = strlen(name);
    bool good = n && n <= LONGEST_NAME && isalpha((unsigned char)*name);
    for (size_t i = 0; i < n; i++) good &= isalnum((unsigned char)name[i]) || name[i] == '_';
    if (good) return QS_OK;
    return qs_fail(w->vm, QS_EVALUE,
                   "save: \"%.70s\" is no name of MATLAB: a letter, then letters, digits and _, 63 at most", name);
}

static qs_status write_object(Writer *w, const char *name, const Object *o) {
    int64_t one[2] = {1, 1};
    uint32_t length = LONGEST_NAME + 1, n = qobj_count(o);
    Str *field;
    qs_value v;
    TRY(qobj_check_names(w->vm, o, "save"));
    size_t at = begin_matrix(w, CLASS_STRUCT, 0, 2, one, name);
    put_element(&w->t, MI_INT32, &length, 4);
    qbytes_put_le(&w->t, MI_INT8, 4), qbytes_put_le(&w->t, (uint64_t)n * length, 4);
    for (uint32_t i = 0; qobj_field(o, i, &field, &v); i++) {
        TRY(check_name(w, field->s));
        qtext_add(&w->t, field->s, field->len), qtext_pad(&w->t, 0, length - field->len);
    }
    for (uint32_t i = 0; qobj_field(o, i, &field, &v); i++) TRY(write_value(w, "", v));
    return end_matrix(w, at);
}

static qs_status write_nested(Writer *w, const char *name, qs_value v) {
    if (w->depth == DEEPEST)
        return qs_fail(w->vm, QS_EVALUE, "save: \"%.60s\" is nested more than %d times", w->variable, DEEPEST);
    w->depth++;
    qs_status s = v.kind == QS_CELL ? write_cell(w, name, v.u.p) : write_object(w, name, v.u.p);
    return w->depth--, s;
}

static qs_status write_value(Writer *w, const char *name, qs_value v) {
    int64_t dims[QS_MAX_RANK] = {0, 0};
    if (v.kind == QS_STRING) return write_string(w, name, v);
    if (v.kind == QS_CELL || v.kind == QS_OBJECT) return write_nested(w, name, v);
    if (qval_is_scalar(v)) return write_number(w, name, v);
    if (v.kind == QS_NIL) {
        size_t at = begin_matrix(w, CLASS_DOUBLE, 0, 2, dims, name);
        return put_parts(&w->t, QS_F64, "", 0, 8), end_matrix(w, at);
    }
    if (v.kind != QS_ARRAY)
        return qs_fail(w->vm, QS_ETYPE, "save: a .mat file holds no %s (in \"%.60s\")", qval_type_name(w->vm, v),
                       w->variable);
    int rank = qarr_shape(qval_array(v), dims, NULL);
    return write_array(w, name, qval_array(v), rank, dims);
}

static qs_status write_variable(void *ud, const char *name, qs_value v) {
    Writer *w = ud;
    w->variable = name;
    TRY(check_name(w, name));
    return write_value(w, name, v);
}

qs_status qmat_save(qs_vm *vm, const char *path, int n, const qs_value *in) {
    Writer w = {.vm = vm, .path = path};
    qtext_init(&w.t, qvm_ctx(vm));
    qtext_puts(&w.t, "MATLAB 5.0 MAT-file, written by Quasar");
    qtext_pad(&w.t, ' ', 116 - w.t.len), qtext_pad(&w.t, 0, 8);
    qbytes_put_le(&w.t, 0x100, 2), qtext_puts(&w.t, "IM");
    qs_status s = qnpy_variables(vm, "a .mat file", n, in, write_variable, &w);
    if (s == QS_OK) s = qtext_status(&w.t);
    if (s == QS_OK) s = qio_spill(vm, "save", path, w.t.s, w.t.len);
    qtext_free(&w.t);
    return s;
}
