/* safetensors.c -- loads and saves weights in the format that torch's and JAX's libraries share.
 *
 * A file is the length of a header (8 bytes), the header, JSON, and the elements: {"name": {"dtype": "F32", "shape":
 * [2,3], "data_offsets": [0,24]}, ..., "__metadata__": {"key": "text"}}.  Arrays are row-major and little-endian, and
 * fill the rest of the file without gaps.  Source: the description in huggingface/safetensors (README, "Format").
 * Files are not trusted: every extent is checked against the size of the file before memory is allocated. */
#include "stdlib/bytes.h"
#include "stdlib/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX = 8, LONGEST = 100 << 20 /* maximum bytes of a header that other libraries accept */ };
static const char metadata[] = "__metadata__";

static qs_status damaged(qs_vm *vm, const char *path, const char *name, const char *what) {
    if (!name) return qs_fail(vm, QS_EVALUE, "load: %s is damaged: %s", path, what);
    return qs_fail(vm, QS_EVALUE, "load: %s is damaged: %s of \"%.60s\"", path, what, name);
}

static bool type_of(const char *name, qs_dtype *out) {
    for (int d = 0; *name && d < QS_NDTYPES; d++)
        if (!strcmp(qdtype_info[d].safetensors, name)) return *out = (qs_dtype)d, true;
    return false;
}

/* -- reading ------------------------------------------------------------------------------------------------------- */
typedef struct {
    const char *name;
    qs_dtype d;
    int rank;
    int64_t dims[QS_MAX_RANK];
    uint64_t from, to;
} Tensor;

typedef struct {
    qs_vm *vm;
    const char *path;
    const uint8_t *data;
    uint64_t room;
    Tensor *tensors;
    size_t n; /* number of tensors read so far */
} File;

static bool field_of(const Object *o, const char *name, qs_value *v) {
    Str *key;
    for (uint32_t i = 0; qobj_field(o, i, &key, v); i++)
        if (!strcmp(key->s, name)) return true;
    return false;
}

/* Reads a JSON list of integers >= 0; returns how many, or -1. */
static int numbers_of(qs_vm *vm, qs_value v, int most, uint64_t *out) {
    if (v.kind == QS_CELL && ((Cell *)v.u.p)->count == 0) return 0;
    if (v.kind != QS_ARRAY) return -1;
    Array *a = qval_array(v);
    if (a->rank > 1 || a->ndim > 1 || a->count > (size_t)most || qdtype_is_complex((qs_dtype)a->dtype)) return -1;
    for (size_t i = 0; i < a->count; i++) {
        qs_value x;
        double k = -1;
        if (qarr_get(vm, a, i, &x) == QS_OK && qs_to_num(vm, x, &k) != QS_OK) return -1;
        if (!(k >= 0 && k <= 0x1p53 && k == floor(k))) return -1;
        out[i] = (uint64_t)k;
    }
    return (int)a->count;
}

static qs_status read_tensor(File *f, const char *name, size_t length, qs_value v) {
    Tensor *t = &f->tensors[f->n];
    uint64_t shape[QS_MAX_RANK], at[2], bytes;
    qs_value x;
    *t = (Tensor){.name = name};
    if (strlen(name) != length) return damaged(f->vm, f->path, name, "there is a NUL in the name");
    if (v.kind != QS_OBJECT) return damaged(f->vm, f->path, name, "there is no description");
    const Object *o = v.u.p;
    if (!field_of(o, "dtype", &x) || x.kind != QS_STRING)
        return damaged(f->vm, f->path, name, "there is no element type");
    if (!type_of(qs_to_string(x, NULL), &t->d))
        return qs_fail(f->vm, QS_EVALUE, "load: %s holds elements of type %.20s in \"%.60s\", which are not supported",
                       f->path, qs_to_string(x, NULL), name);
    if (!field_of(o, "shape", &x) || (t->rank = numbers_of(f->vm, x, QS_MAX_RANK, shape)) < 0)
        return damaged(f->vm, f->path, name, "there is no shape, or one of more than 8 dimensions,");
    if (!field_of(o, "data_offsets", &x) || numbers_of(f->vm, x, 2, at) != 2 || at[0] > at[1] || at[1] > f->room)
        return damaged(f->vm, f->path, name, "the place is not in the file");
    bytes = qdtype_size(t->d);
    for (int i = 0; i < t->rank; i++) {
        if (__builtin_mul_overflow(bytes, shape[i], &bytes) || shape[i] > INT64_MAX)
            return damaged(f->vm, f->path, name, "the shape is too large");
        t->dims[i] = (int64_t)shape[i];
    }
    t->from = at[0], t->to = at[1];
    if (bytes != at[1] - at[0]) return damaged(f->vm, f->path, name, "shape and place do not agree");
    return f->n++, QS_OK;
}

static int by_place(const void *a, const void *b) {
    const Tensor *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to < y->to ? -1 : x->to > y->to;
}

/* Checks that the arrays fill the file without gaps or overlaps. */
static qs_status check_places(File *f) {
    uint64_t end = 0;
    if (f->n) qsort(f->tensors, f->n, sizeof *f->tensors, by_place);
    for (size_t i = 0; i < f->n; end = f->tensors[i++].to)
        if (f->tensors[i].from != end)
            return damaged(f->vm, f->path, f->tensors[i].name,
                           f->tensors[i].from < end ? "others share the elements"
                                                    : "bytes lie unused before the elements");
    return end == f->room ? QS_OK : damaged(f->vm, f->path, NULL, "bytes follow that belong to nothing");
}

static qs_status make_value(File *f, const Tensor *t, qs_value *out) {
    Array *a;
    void *p;
    int64_t one = 1;
    TRY(qarr_make(f->vm, t->d, t->rank ? t->rank : 1, t->rank ? t->dims : &one, false, &a, &p));
    if (t->to > t->from) memcpy(p, f->data + t->from, t->to - t->from);
    if (t->d == QS_B1)
        for (size_t i = 0; i < a->count; i++) ((uint8_t *)p)[i] = ((uint8_t *)p)[i] != 0;
    if (t->rank) return qarr_keep(a, t->rank), *out = qarr_value(a), QS_OK;
    qs_status s = qarr_get(f->vm, a, 0, out);
    return qarr_release(f->vm, a), s;
}

/* Creates the fields in the order of the positions in the file, not of the header. */
static qs_status make_fields(File *f, const Object *header, Object *o) {
    Str *name;
    qs_value v;
    for (size_t i = 0; i < f->n; i++) {
        qs_value x = qs_nil();
        qs_status s = make_value(f, &f->tensors[i], &x);
        const char *text = f->tensors[i].name;
        if (s == QS_OK) s = qobj_set(f->vm, o, qstr_name(qvm_ctx(f->vm), text, strlen(text)), x);
        qval_release(f->vm, x);
        TRY(s);
    }
    for (uint32_t i = 0; qobj_field(header, i, &name, &v); i++)
        if (!strcmp(name->s, metadata)) TRY(qobj_set(f->vm, o, name, v));
    return QS_OK;
}

static qs_status read_header(File *f, const Object *header, Object *o) {
    Str *name;
    qs_value v;
    for (uint32_t i = 0; qobj_field(header, i, &name, &v); i++) {
        if (strcmp(name->s, metadata)) TRY(read_tensor(f, name->s, name->len, v));
        else if (v.kind != QS_OBJECT) return damaged(f->vm, f->path, NULL, "its metadata are no object");
    }
    TRY(check_places(f));
    return make_fields(f, header, o);
}

bool qsafetensors_is(const uint8_t *p, size_t n) {
    return n > PREFIX && p[PREFIX] == '{' && qbytes_le(p, PREFIX) <= LONGEST;
}

qs_status qsafetensors_load(qs_vm *vm, const char *path, const uint8_t *p, size_t n, qs_value *out) {
    uint64_t length = n >= PREFIX ? qbytes_le(p, PREFIX) : 0;
    qs_value header = qs_nil();
    Object *o;
    if (n < PREFIX || length > n - PREFIX || length > LONGEST)
        return damaged(vm, path, NULL, "its header ends beyond the file");
    TRY(qjson_read(vm, "load", (const char *)p + PREFIX, (size_t)length, &header));
    if (header.kind != QS_OBJECT) return qval_release(vm, header), damaged(vm, path, NULL, "its header is no object");
    size_t count = qobj_count(header.u.p);
    File f = {.vm = vm,
              .path = path,
              .data = p + PREFIX + length,
              .room = n - PREFIX - length,
              .tensors = qmem_alloc(qvm_ctx(vm), qmem_size(count, sizeof(Tensor), sizeof(Tensor)))};
    qs_status s = qobj_new(vm, NULL, &o);
    if (s == QS_OK) *out = qval_object(QS_OBJECT, o), s = read_header(&f, header.u.p, o);
    qmem_free(qvm_ctx(vm), f.tensors, (count + 1) * sizeof(Tensor));
    return qval_release(vm, header), s;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
static qs_status array_of(qs_vm *vm, const char *name, qs_value v, int *rank, Array **out) {
    qs_dtype d = v.kind == QS_BOOL ? QS_B1 : v.kind == QS_INT ? QS_I64 : v.kind == QS_NUM ? QS_F64 : QS_C128;
    int64_t one = 1;
    if (v.kind == QS_ARRAY) {
        int64_t dims[QS_MAX_RANK];
        *rank = qarr_shape(qval_array(v), dims, NULL);
        return qarr_contiguous(vm, qval_array(v), out);
    }
    if (!qval_is_number(v) && v.kind != QS_COMPLEX)
        return qs_fail(vm, QS_ETYPE, "save: \"%.60s\" must be a number or an array, got %s", name,
                       qval_type_name(vm, v));
    *rank = 0;
    TRY(qarr_new(vm, d, 1, &one, true, out));
    return qarr_put(vm, *out, 0, v);
}

static qs_status write_tensor(qs_vm *vm, const char *name, size_t length, qs_value v, Text *header, Text *data) {
    Array *a = NULL;
    const void *p;
    int rank = 0;
    int64_t dims[QS_MAX_RANK];
    qs_status s = array_of(vm, name, v, &rank, &a);
    const char *type = s == QS_OK ? qdtype_info[a->dtype].safetensors : "";
    if (s == QS_OK && !*type)
        s = qs_fail(vm, QS_ETYPE, "save: safetensors has no %s (\"%.60s\")", qdtype_info[a->dtype].name, name);
    if (s == QS_OK) s = qarr_read(vm, a, &p);
    if (s == QS_OK) {
        size_t bytes = a->count * qdtype_size(a->dtype);
        qarr_shape(a, dims, NULL);
        qtext_putc(header, header->len > 1 ? ',' : ' ');
        qjson_put_string(vm, header, name, length);
        qtext_printf(header, ":{\"dtype\":\"%s\",\"shape\":[", type);
        for (int i = 0; i < rank; i++) qtext_printf(header, "%s%lld", i ? "," : "", (long long)dims[i]);
        qtext_printf(header, "],\"data_offsets\":[%zu,%zu]}", data->len, data->len + bytes);
        if (bytes) qtext_add(data, p, bytes);
    }
    if (a) qarr_release(vm, a);
    return s;
}

/* Writes the metadata; the format allows only strings. */
static qs_status write_metadata(qs_vm *vm, qs_value v, Text *header) {
    Str *name;
    qs_value x;
    if (v.kind != QS_OBJECT) return qarg_wrong(vm, "save", metadata, "an object of strings", v);
    TRY(qobj_check_names(vm, v.u.p, "save"));
    qtext_putc(header, header->len > 1 ? ',' : ' ');
    qtext_printf(header, "\"%s\":{", metadata);
    for (uint32_t i = 0; qobj_field(v.u.p, i, &name, &x); i++) {
        size_t n;
        if (x.kind != QS_STRING) return qarg_wrong(vm, "save", metadata, "an object of strings", v);
        const char *s = qs_to_string(x, &n);
        if (i) qtext_putc(header, ',');
        qjson_put_string(vm, header, name->s, strlen(name->s));
        qtext_putc(header, ':');
        qjson_put_string(vm, header, s, n);
    }
    qtext_putc(header, '}');
    return QS_OK;
}

typedef struct {
    qs_vm *vm;
    Text header, data;
} Output;

static qs_status write_value(void *ud, const char *name, qs_value v) {
    Output *o = ud;
    if (!strcmp(name, metadata)) return write_metadata(o->vm, v, &o->header);
    return write_tensor(o->vm, name, strlen(name), v, &o->header, &o->data);
}

qs_status qsafetensors_save(qs_vm *vm, const char *path, int n, const qs_value *in) {
    Output o = {.vm = vm};
    Text file;
    qtext_init(&o.header, qvm_ctx(vm)), qtext_init(&o.data, qvm_ctx(vm)), qtext_init(&file, qvm_ctx(vm));
    qtext_putc(&o.header, '{');
    qs_status s = qnpy_variables(vm, "a .safetensors file", n, in, write_value, &o);
    qtext_putc(&o.header, '}');
    while (o.header.len % PREFIX) qtext_putc(&o.header, ' '); /* elements begin at multiples of 8 */
    qbytes_put_le(&file, o.header.len, PREFIX);
    qtext_add(&file, o.header.s, o.header.len);
    if (o.data.len) qtext_add(&file, o.data.s, o.data.len);
    if (s == QS_OK) s = qio_spill(vm, "save", path, file.s, file.len);
    qtext_free(&o.header), qtext_free(&o.data), qtext_free(&file);
    return s;
}
