/* npy.c -- implements save and load, and NumPy's formats: .npy contains one array, .npz is a zip file of them.
 *
 * Sources: numpy.lib.format (version 1.0 and 2.0 of the npy format); PKWARE APPNOTE.TXT 6.3.9, sections 4.3 and 4.5.3.
 * Files are not trusted: extents are checked against the size of the file before memory is allocated. */
#include "stdlib/npy.h"
#include "stdlib/builtins.h"
#include "stdlib/bytes.h"
#include "vm/base/utf8.h"
#include "vm/program/python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- one array: writing -------------------------------------------------------------------------------------------- */
static const char kind_letter[] = {[DC_BOOL] = 'b', [DC_SINT] = 'i', [DC_UINT] = 'u', [DC_REAL] = 'f', [DC_CPLX] = 'c'};

static void npy_header(Text *t, const char *descr, int rank, const int64_t *dims) {
    Text h;
    qtext_init(&h, t->ctx);
    qtext_printf(&h, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < rank; i++) qtext_printf(&h, "%lld,%s", (long long)dims[i], i + 1 < rank ? " " : "");
    qtext_puts(&h, "), }");
    while ((10 + h.len + 1) % 64) qtext_putc(&h, ' ');
    qtext_putc(&h, '\n');
    qtext_add(t, "\x93NUMPY\1\0", 8);
    qbytes_put_le(t, h.len, 2);
    qtext_add(t, h.s, h.len);
    qtext_free(&h);
}

bool qnpy_begin(Text *t, qs_dtype d, int rank, const int64_t *dims) {
    char descr[8];
    snprintf(descr, sizeof descr, "%c%c%zu", qdtype_size(d) == 1 ? '|' : '<', kind_letter[qdtype_info[d].cls],
             qdtype_size(d));
    npy_header(t, descr, rank, dims);
    return *qdtype_info[d].numpy;
}

static qs_status npy_array(qs_vm *vm, Array *a, int rank, const int64_t *dims, Text *t) {
    Array *wide, *packed;
    const void *p;
    qs_dtype d = *qdtype_info[a->dtype].numpy ? (qs_dtype)a->dtype : QS_F32;
    TRY(qarr_convert(vm, a, d, &wide));
    qs_status s = qarr_contiguous(vm, wide, &packed);
    qarr_release(vm, wide);
    TRY(s);
    s = qarr_read(vm, packed, &p);
    if (s == QS_OK) qnpy_begin(t, d, rank, dims), qtext_add(t, p, packed->count * qdtype_size(d));
    qarr_release(vm, packed);
    return s;
}

/* Writes a string as a 0-d array of UTF-32. */
static void npy_string(const char *s, size_t n, Text *t) {
    Text u;
    char descr[32];
    qtext_init(&u, t->ctx);
    for (const char *end = s + n; s < end;) qbytes_put_le(&u, qutf8_next(&s, end), 4);
    snprintf(descr, sizeof descr, "<U%zu", u.len / 4);
    npy_header(t, descr, 0, NULL);
    if (u.len) qtext_add(t, u.s, u.len);
    qtext_free(&u);
}

static qs_status npy_value(qs_vm *vm, const char *fn, qs_value v, Text *t) {
    if (v.kind == QS_ARRAY) {
        int64_t dims[QS_MAX_RANK];
        return npy_array(vm, qval_array(v), qarr_shape(qval_array(v), dims, NULL), dims, t);
    }
    if (v.kind == QS_STRING) {
        size_t n;
        const char *s = qs_to_string(v, &n);
        return npy_string(s, n, t), QS_OK;
    }
    qs_dtype d = v.kind == QS_BOOL ? QS_B1 : v.kind == QS_INT ? QS_I64 : v.kind == QS_NUM ? QS_F64 : QS_C128;
    if (!qval_is_number(v) && v.kind != QS_COMPLEX)
        return qarg_wrong(vm, fn, "every value", "a number, an array or a string", v);
    Array *a;
    int64_t one = 1;
    TRY(qarr_new(vm, d, 1, &one, true, &a));
    qs_status s = qarr_put(vm, a, 0, v);
    if (s == QS_OK) s = npy_array(vm, a, 0, NULL, t);
    qarr_release(vm, a);
    return s;
}

/* -- one array: reading -------------------------------------------------------------------------------------------- */
typedef struct {
    const char *path;
    const uint8_t *p;
    size_t n;
} Bytes;

static qs_status corrupt(qs_vm *vm, const char *path, const char *what) {
    return qs_fail(vm, QS_EVALUE, "load: %s is damaged: %s", path, what);
}

static qs_status unsupported(qs_vm *vm, const char *path, const char *what) {
    return qs_fail(vm, QS_EVALUE, "load: %s holds %s, which is not supported", path, what);
}

typedef struct {
    bool swapped, fortran;
    char kind;
    size_t item;
    int rank;
    int64_t dims[QS_MAX_RANK];
    const uint8_t *data;
    size_t room;
} Npy;

static const char *after(const char *header, const char *key) {
    const char *s = strstr(header, key);
    s = s ? strchr(s + strlen(key), ':') : NULL;
    return s ? s + 1 + strspn(s + 1, " ") : NULL;
}

/* Parses the header, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
static qs_status npy_fields(qs_vm *vm, const char *path, const char *header, Npy *h) {
    const char *descr = after(header, "'descr'"), *order = after(header, "'fortran_order'"),
               *shape = after(header, "'shape'");
    if (!descr || !order || !shape || *shape != '(') return corrupt(vm, path, "the header lacks a field");
    if (*descr != '\'') return unsupported(vm, path, "an array of structures");
    if (strlen(descr) < 4) return corrupt(vm, path, "its element type is not understood");
    if (descr[1] == '|' && descr[2] == 'O') return unsupported(vm, path, "an array of Python's objects");
    char *end;
    h->swapped = descr[1] == '>', h->kind = descr[2], h->item = strtoul(descr + 3, &end, 10);
    if (*end != '\'' || h->item == 0 || h->item > 1 << 24) {
        if (!(h->kind == 'U' || h->kind == 'S') || h->item)
            return corrupt(vm, path, "its element type is not understood");
    }
    h->fortran = !strncmp(order, "True", 4);
    for (const char *s = shape + 1; *(s += strspn(s, " ,")) != ')'; s = end) {
        int64_t extent = strtoll(s, &end, 10);
        if (end == s || extent < 0) return corrupt(vm, path, "its shape is not understood");
        if (h->rank == QS_MAX_RANK)
            return qs_fail(vm, QS_EVALUE, "load: %s has more than %d dimensions", path, QS_MAX_RANK);
        h->dims[h->rank++] = extent;
    }
    return QS_OK;
}

static qs_status npy_open(qs_vm *vm, Bytes b, Npy *h) {
    memset(h, 0, sizeof *h);
    if (b.n < 12 || memcmp(b.p, "\x93NUMPY", 6)) return corrupt(vm, b.path, "it does not begin like an npy file");
    size_t at = b.p[6] == 1 ? 10 : 12, n = b.p[6] == 1 ? qbytes_le(b.p + 8, 2) : qbytes_le(b.p + 8, 4);
    if (b.p[6] < 1 || b.p[6] > 3 || n > b.n - at) return corrupt(vm, b.path, "its header does not fit");
    char *header = qmem_alloc(qvm_ctx(vm), n + 1);
    memcpy(header, b.p + at, n);
    qs_status s = npy_fields(vm, b.path, header, h);
    qmem_free(qvm_ctx(vm), header, n + 1);
    h->data = b.p + at + n, h->room = b.n - at - n;
    return s;
}

static bool npy_dtype(const Npy *h, qs_dtype *out) {
    for (int d = 0; d < QS_NDTYPES; d++)
        if (*qdtype_info[d].numpy && kind_letter[qdtype_info[d].cls] == h->kind && qdtype_info[d].size == h->item)
            return *out = (qs_dtype)d, true;
    return false;
}

static qs_status npy_text(qs_vm *vm, const Npy *h, const char *path, qs_value *out) {
    size_t unit = h->kind == 'U' ? 4 : 1;
    if (h->rank) return unsupported(vm, path, "an array of strings");
    if (h->item > h->room / unit) return corrupt(vm, path, "it ends before its last character");
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    for (size_t i = 0; i < h->item; i++) {
        const uint8_t *p = h->data + unit * i;
        uint32_t c = unit == 1 ? *p : (uint32_t)(h->swapped ? qbytes_be(p, 4) : qbytes_le(p, 4));
        if (!c) break;
        if (unit == 1) qtext_putc(&t, (char)c);
        else qutf8_add(&t, c);
    }
    return qval_text(vm, &t, QS_OK, out);
}

/* Copies the elements in file order to an array with these extents. */
static qs_status npy_elements(qs_vm *vm, const Npy *h, qs_dtype d, int rank, const int64_t *dims, size_t bytes,
                              Array **out) {
    void *p;
    TRY(qarr_make(vm, d, rank, dims, false, out, &p));
    if (bytes) memcpy(p, h->data, bytes);
    if (h->swapped) qbytes_swap(p, bytes, qdtype_is_complex(d) ? h->item / 2 : h->item);
    return QS_OK;
}

void qnpy_column_strides(int rank, const int64_t *dims, int64_t *strides) {
    uint64_t step = 1; /* unsigned, as in qarr_packed_strides */
    for (int i = 0; i < rank; i++) strides[i] = (int64_t)step, step *= (uint64_t)dims[i];
}

qs_status qnpy_from_columns(qs_vm *vm, Array *a, int rank, const int64_t *dims, Array **out) {
    int64_t from[QS_MAX_RANK], to[QS_MAX_RANK];
    const void *p;
    void *q;
    qnpy_column_strides(rank, dims, from), qarr_packed_strides(rank, dims, to);
    TRY(qarr_read(vm, a, &p));
    TRY(qarr_make(vm, (qs_dtype)a->dtype, rank, dims, false, out, &q));
    if (a->count) qmatrix_move(vm, q, to, p, from, rank, dims, qdtype_size((qs_dtype)a->dtype));
    return QS_OK;
}

/* Returns the dtype of the elements and their total size in bytes. */
static qs_status npy_extent(qs_vm *vm, const char *path, const Npy *h, qs_dtype *d, size_t *bytes) {
    if (!npy_dtype(h, d))
        return qs_fail(vm, QS_EVALUE, "load: %s holds elements of type %c%zu, which are not supported", path, h->kind,
                       h->item);
    *bytes = h->item;
    for (int i = 0; i < h->rank; i++)
        if (__builtin_mul_overflow(*bytes, (size_t)h->dims[i], bytes))
            return corrupt(vm, path, "its shape is too large");
    return *bytes > h->room ? corrupt(vm, path, "it ends before its last element") : QS_OK;
}

qs_status qnpy_header(qs_vm *vm, const char *path, int fd, NpyFile *out) {
    enum { MOST = 65536 + 12 }; /* only structures have longer headers, in version 2 of the format */
    uint8_t *head = qmem_alloc(qvm_ctx(vm), MOST);
    ssize_t n = pread(fd, head, MOST, 0);
    struct stat file;
    Npy h;
    size_t bytes;
    qs_status s = n < 0 || fstat(fd, &file) ? qio_error(vm, "load", "read", path) : QS_OK;
    if (s == QS_OK) s = npy_open(vm, (Bytes){path, head, (size_t)n}, &h);
    if (s == QS_OK) {
        out->offset = (uint64_t)(h.data - head), out->rank = h.rank;
        memcpy(out->dims, h.dims, sizeof out->dims);
        h.room = (size_t)file.st_size - out->offset;
        s = npy_extent(vm, path, &h, &out->dtype, &bytes);
    }
    qmem_free(qvm_ctx(vm), head, MOST);
    TRY(s);
    if (h.rank == 0) return unsupported(vm, path, "a number, of which there are no parts");
    if (h.fortran && h.rank > 1) return unsupported(vm, path, "elements with the first index fastest, in parts");
    return h.swapped ? unsupported(vm, path, "elements in another order of bytes, in parts") : QS_OK;
}

static qs_status npy_read(qs_vm *vm, Bytes b, qs_value *out) {
    Npy h;
    qs_dtype d;
    size_t bytes;
    TRY(npy_open(vm, b, &h));
    if (h.kind == 'U' || h.kind == 'S') return npy_text(vm, &h, b.path, out);
    TRY(npy_extent(vm, b.path, &h, &d, &bytes));
    Array *a, *r;
    if (h.rank && !h.fortran) {
        TRY(npy_elements(vm, &h, d, h.rank, h.dims, bytes, &a));
        return *out = qarr_value(a), QS_OK;
    }
    int64_t n = (int64_t)(bytes / h.item);
    TRY(npy_elements(vm, &h, d, 1, &n, bytes, &a));
    qs_status s = h.rank ? qnpy_from_columns(vm, a, h.rank, h.dims, &r) : qarr_get(vm, a, 0, out);
    qarr_release(vm, a);
    if (s == QS_OK && h.rank) *out = qarr_value(r);
    return s;
}

/* -- zip: writing (entries are stored, not compressed) ------------------------------------------------------------- */
static uint32_t crc32_of(const uint8_t *p, size_t n) {
    uint32_t table[256], crc = ~0u;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
    }
    for (size_t i = 0; i < n; i++) crc = crc >> 8 ^ table[(crc ^ p[i]) & 255];
    return ~crc;
}

typedef struct {
    qs_vm *vm;
    Text file, central;
    int entries;
} Zip;

static void zip_entry_fields(Text *t, uint32_t crc, size_t size, size_t name) {
    qbytes_put_le(t, 20, 2), qbytes_put_le(t, 0x800, 2),
        qbytes_put_le(t, 0, 2); /* version needed, names are UTF-8, stored */
    /* 1980-01-01: the same contents always give the same file. */
    qbytes_put_le(t, 0, 2), qbytes_put_le(t, 0x21, 2);
    qbytes_put_le(t, crc, 4), qbytes_put_le(t, size, 4), qbytes_put_le(t, size, 4), qbytes_put_le(t, name, 2),
        qbytes_put_le(t, 0, 2);
}

static qs_status zip_add(qs_vm *vm, Zip *z, const char *name, const Text *data) {
    size_t at = z->file.len, n = strlen(name) + 4;
    if (data->len + at > UINT32_MAX - 65536)
        return qs_fail(vm, QS_EVALUE, "save: an .npz file may hold 4 GiB; use .npy files");
    if (z->entries == 65535 || n > 65535)
        return qs_fail(vm, QS_EVALUE,
                       "save: an .npz file holds at most 65535 arrays, with names of 65531 bytes; "
                       ".safetensors files have no such limit");
    uint32_t crc = crc32_of((const uint8_t *)data->s, data->len);
    qtext_add(&z->file, "PK\3\4", 4);
    zip_entry_fields(&z->file, crc, data->len, n);
    qtext_puts(&z->file, name), qtext_puts(&z->file, ".npy");
    qtext_add(&z->file, data->s, data->len);
    qtext_add(&z->central, "PK\1\2", 4);
    qbytes_put_le(&z->central, 20, 2);
    zip_entry_fields(&z->central, crc, data->len, n);
    qbytes_put_le(&z->central, 0, 8), qbytes_put_le(&z->central, 0, 2), qbytes_put_le(&z->central, at, 4);
    qtext_puts(&z->central, name), qtext_puts(&z->central, ".npy");
    z->entries++;
    return QS_OK;
}

static void zip_finish(Zip *z) {
    size_t at = z->file.len;
    if (z->central.len) qtext_add(&z->file, z->central.s, z->central.len);
    qtext_add(&z->file, "PK\5\6", 4);
    qbytes_put_le(&z->file, 0, 4);
    qbytes_put_le(&z->file, (uint64_t)z->entries, 2), qbytes_put_le(&z->file, (uint64_t)z->entries, 2);
    qbytes_put_le(&z->file, z->central.len, 4), qbytes_put_le(&z->file, at, 4), qbytes_put_le(&z->file, 0, 2);
}

static qs_status zip_value(void *ud, const char *name, qs_value v) {
    Zip *z = ud;
    Text t;
    qtext_init(&t, z->file.ctx);
    qs_status s = npy_value(z->vm, "save", v, &t);
    if (s == QS_OK) s = zip_add(z->vm, z, name, &t);
    qtext_free(&t);
    return s;
}

qs_status qnpy_variables(qs_vm *vm, const char *form, int n, const qs_value *in, SaveVariable *put, void *ud) {
    const char *name;
    qs_value key, v;
    if (n == 1 && in[0].kind == QS_OBJECT) {
        for (uint32_t i = 0; qobj_entry(in[0].u.p, i, &key, &v); i++) {
            TRY(qarg_string(vm, "save", "a name", key, &name, NULL));
            TRY(put(ud, name, v));
        }
        return QS_OK;
    }
    for (int i = 0; i < n; i += 2) {
        if (in[i].kind != QS_STRING || i + 1 == n)
            return qs_fail(vm, QS_ETYPE, "save: %s is made of an object, or of names, each with its value", form);
        TRY(qarg_string(vm, "save", "a name", in[i], &name, NULL));
        for (int j = 0; j < i; j += 2)
            if (!strcmp(name, qs_to_string(in[j], NULL)))
                return qs_fail(vm, QS_EVALUE, "save: \"%.60s\" stands there twice", name);
        TRY(put(ud, name, in[i + 1]));
    }
    return QS_OK;
}

/* Adds the fields of an object; or "name", value, ...; or values, which are called arr_0, arr_1 ... as in
 * numpy.savez. */
static qs_status zip_values(qs_vm *vm, Zip *z, int n, const qs_value *in) {
    bool named = n % 2 == 0;
    for (int i = 0; i < n; i += 2) named &= in[i].kind == QS_STRING;
    if (named || (n == 1 && in[0].kind == QS_OBJECT)) return qnpy_variables(vm, "an .npz file", n, in, zip_value, z);
    for (int i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "arr_%d", i);
        TRY(zip_value(z, name, in[i]));
    }
    return QS_OK;
}

static bool ends_in(const char *path, const char *ending) {
    size_t n = strlen(path), k = strlen(ending);
    return n >= k && !strcasecmp(path + n - k, ending);
}

/* Recognizes extensions of other formats: a NumPy archive under such a name would be misleading. */
static bool is_of_others(const char *path) {
    static const char *const ends[] = {".csv", ".txt", ".json", ".png", ".jpg", ".tif", ".tiff"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcasecmp(dot, ends[i])) return true;
    return false;
}

qs_status qnpy_save(qs_vm *vm, qs_call_args *c) {
    const char *path;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    if (ends_in(path, ".safetensors")) return qsafetensors_save(vm, path, c->nin - 1, c->in + 1);
    if (ends_in(path, ".h5") || ends_in(path, ".hdf5")) return qhdf5_save(vm, path, c->nin - 1, c->in + 1);
    if (ends_in(path, ".mat")) return qmat_save(vm, path, c->nin - 1, c->in + 1);
    if (is_of_others(path))
        return qs_fail(vm, QS_EVALUE,
                       "save: files ending in %s are not written; .npy (one array), .npz, .mat, .h5 and "
                       ".safetensors are",
                       strrchr(path, '.'));
    bool single = ends_in(path, ".npy");
    if (single && c->nin != 2)
        return qs_fail(vm, QS_EVALUE, "save: an .npy file holds one value, got %d; use .npz", c->nin - 1);
    Zip z = {.vm = vm};
    qtext_init(&z.file, qvm_ctx(vm)), qtext_init(&z.central, qvm_ctx(vm));
    qs_status s = single ? npy_value(vm, c->name, c->in[1], &z.file) : zip_values(vm, &z, c->nin - 1, c->in + 1);
    if (!single) zip_finish(&z);
    if (s == QS_OK) s = qio_spill(vm, c->name, path, z.file.s, z.file.len);
    qtext_free(&z.file), qtext_free(&z.central);
    return s;
}

/* -- zip: reading -------------------------------------------------------------------------------------------------- */
typedef struct {
    const uint8_t *name;
    size_t nname;
    int method;
    uint64_t packed, size, at;
    uint32_t crc;
} Entry;

/* Reads sizes that exceed 32 bits from extra field 1, in this order. */
static void zip64_fields(const uint8_t *p, size_t n, Entry *e) {
    uint64_t *wide[] = {&e->size, &e->packed, &e->at};
    for (; n >= 4 && qbytes_le(p + 2, 2) + 4u <= n; n -= qbytes_le(p + 2, 2) + 4u, p += qbytes_le(p + 2, 2) + 4u) {
        if (qbytes_le(p, 2) != 1) continue;
        const uint8_t *q = p + 4, *end = q + qbytes_le(p + 2, 2);
        for (int i = 0; i < 3; i++)
            if (*wide[i] == UINT32_MAX && q + 8 <= end) *wide[i] = qbytes_le(q, 8), q += 8;
        return;
    }
}

static qs_status zip_read(qs_vm *vm, Bytes b, const Entry *e, qs_value *out) {
    if (e->at > b.n || b.n - e->at < 30 || memcmp(b.p + e->at, "PK\3\4", 4))
        return corrupt(vm, b.path, "an entry is not where it should be");
    uint64_t at = e->at + 30 + qbytes_le(b.p + e->at + 26, 2) + qbytes_le(b.p + e->at + 28, 2);
    if (at > b.n || e->packed > b.n - at) return corrupt(vm, b.path, "an entry ends beyond the file");
    Bytes data = {b.path, b.p + at, (size_t)e->packed};
    if (e->method == 0)
        return crc32_of(data.p, data.n) == e->crc ? npy_read(vm, data, out)
                                                  : corrupt(vm, b.path, "the checksum of an entry");
    if (e->method != 8)
        return qs_fail(vm, QS_EVALUE, "load: %s: compression method %d is not known", b.path, e->method);
    if (e->size / 1032 > e->packed + 1)
        return corrupt(vm, b.path, "an entry claims an impossible size"); /* the maximum ratio of deflate */
    uint8_t *raw = qmem_try(qvm_ctx(vm), (size_t)e->size + 1);
    if (!raw) return qs_fail(vm, QS_ENOMEM, "load: no memory for %llu bytes", (unsigned long long)e->size);
    qs_status s = qzlib_inflate(vm, b.path, data.p, data.n, true, raw, (size_t)e->size);
    if (s == QS_OK && crc32_of(raw, (size_t)e->size) != e->crc) s = corrupt(vm, b.path, "the checksum of an entry");
    if (s == QS_OK) s = npy_read(vm, (Bytes){b.path, raw, (size_t)e->size}, out);
    qmem_try_free(qvm_ctx(vm), raw, (size_t)e->size + 1);
    return s;
}

/* Finds the start of the central directory and the number of its entries. */
static bool zip_directory(Bytes b, uint64_t *at, uint64_t *entries) {
    for (size_t back = 22; back <= b.n && back < 22 + 65536; back++) {
        const uint8_t *p = b.p + b.n - back;
        if (memcmp(p, "PK\5\6", 4)) continue;
        *entries = qbytes_le(p + 10, 2), *at = qbytes_le(p + 16, 4);
        if (*at == UINT32_MAX && back + 20 <= b.n && !memcmp(p - 20, "PK\6\7", 4)) {
            uint64_t wide = qbytes_le(p - 20 + 8, 8);
            if (wide > b.n || b.n - wide < 56 || memcmp(b.p + wide, "PK\6\6", 4)) return false;
            *entries = qbytes_le(b.p + wide + 32, 8), *at = qbytes_le(b.p + wide + 48, 8);
        }
        return true;
    }
    return false;
}

bool qnpy_is_wanted(const qs_call_args *c, const char *name, size_t n) {
    bool wanted = c->nin < 2;
    for (int i = 1; i < c->nin && !wanted; i++) {
        size_t length;
        const char *s = qs_to_string(c->in[i], &length);
        wanted = length == n && !memcmp(s, name, n);
    }
    return wanted;
}

/* Checks that the file had all variables that were asked for. */
static qs_status check_found(qs_vm *vm, const qs_call_args *c, const char *path, const Object *o) {
    for (int i = 1; i < c->nin; i++) {
        size_t n;
        const char *s = qs_to_string(c->in[i], &n);
        if (!qobj_has(o, qstr_name(qvm_ctx(vm), s, n)))
            return qs_fail(vm, QS_ENAME, "load: %s has no variable \"%.60s\"", path, s);
    }
    return QS_OK;
}

static qs_status zip_load(qs_vm *vm, Bytes b, const qs_call_args *c, Object *o) {
    uint64_t at, entries;
    if (!zip_directory(b, &at, &entries)) return corrupt(vm, b.path, "it has no directory");
    for (uint64_t i = 0; i < entries; i++) {
        if (at > b.n || b.n - at < 46 || memcmp(b.p + at, "PK\1\2", 4)) return corrupt(vm, b.path, "its directory");
        const uint8_t *p = b.p + at;
        Entry e = {.name = p + 46,
                   .nname = qbytes_le(p + 28, 2),
                   .method = (int)qbytes_le(p + 10, 2),
                   .packed = qbytes_le(p + 20, 4),
                   .size = qbytes_le(p + 24, 4),
                   .at = qbytes_le(p + 42, 4),
                   .crc = (uint32_t)qbytes_le(p + 16, 4)};
        size_t extra = qbytes_le(p + 30, 2), whole = 46 + e.nname + extra + qbytes_le(p + 32, 2);
        if (whole > b.n - at) return corrupt(vm, b.path, "its directory");
        zip64_fields(p + 46 + e.nname, extra, &e);
        if (e.nname > 4 && !memcmp(e.name + e.nname - 4, ".npy", 4)) e.nname -= 4;
        at += whole;
        if (!qnpy_is_wanted(c, (const char *)e.name, e.nname)) continue;
        qs_value v = qs_nil();
        qs_status s = zip_read(vm, b, &e, &v);
        if (s == QS_OK) s = qobj_set(vm, o, qstr_name(qvm_ctx(vm), (const char *)e.name, e.nname), v);
        qval_release(vm, v);
        TRY(s);
    }
    return QS_OK;
}

/* Reads an array from a regular file into its memory; *done false: the file is something else or needs a
 * conversion. */
static qs_status npy_direct(qs_vm *vm, const char *path, int fd, qs_value *out, bool *done) {
    enum { MOST = 4096 }; /* longest header that is read here */
    uint8_t head[MOST];
    struct stat file;
    Npy h;
    qs_dtype d;
    Array *a;
    void *p;
    size_t bytes, at = 0;
    ssize_t n = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) ? pread(fd, head, sizeof head, 0) : -1;
    *done = false;
    if (n < 12 || memcmp(head, "\x93NUMPY", 6) || head[6] < 1 || head[6] > 3) return QS_OK;
    if (head[6] == 1 ? 10 + (ssize_t)qbytes_le(head + 8, 2) > n : 12 + (ssize_t)qbytes_le(head + 8, 4) > n)
        return QS_OK;
    TRY(npy_open(vm, (Bytes){path, head, (size_t)n}, &h));
    if (h.kind == 'U' || h.kind == 'S' || !h.rank || h.fortran) return QS_OK;
    size_t offset = (size_t)(h.data - head);
    h.room = (size_t)file.st_size - offset;
    TRY(npy_extent(vm, path, &h, &d, &bytes));
    TRY(qarr_make(vm, d, h.rank, h.dims, false, &a, &p));
    qs_status s = QS_OK;
    while (s == QS_OK && at < bytes) {
        n = pread(fd, (char *)p + at, bytes - at, (off_t)(offset + at));
        if (n > 0) at += (size_t)n;
        else if (n == 0) s = corrupt(vm, path, "it ends before its last element");
        else if (errno == EINTR) s = qthread_check(vm);
        else s = qio_error(vm, "load", "read", path);
    }
    if (s != QS_OK) return qarr_release(vm, a), s;
    if (h.swapped) qbytes_swap(p, bytes, qdtype_is_complex(d) ? h.item / 2 : h.item);
    return *out = qarr_value(a), *done = true, QS_OK;
}

/* Reads a file of several variables to the fields of a new object. */
static qs_status load_variables(qs_vm *vm, qs_call_args *c, Bytes b) {
    Object *o;
    TRY(qobj_new(vm, NULL, &o));
    c->out[0] = qval_object(QS_OBJECT, o);
    TRY(qmat_is(b.path, b.p, b.n) ? qmat_load(vm, c, b.path, b.p, b.n, o) : zip_load(vm, b, c, o));
    return check_found(vm, c, b.path, o);
}

static qs_status load_bytes(qs_vm *vm, qs_call_args *c, Bytes b) {
    bool zip = b.n >= 4 && (!memcmp(b.p, "PK\3\4", 4) || !memcmp(b.p, "PK\5\6", 4));
    if (zip || qmat_is(b.path, b.p, b.n)) return load_variables(vm, c, b);
    if (c->nin > 1)
        return qs_fail(vm, QS_EVALUE, "load: names of variables are for .mat, .h5 and .npz files, %s is another one",
                       b.path);
    if (ends_in(b.path, ".safetensors") || qsafetensors_is(b.p, b.n))
        return qsafetensors_load(vm, b.path, b.p, b.n, &c->out[0]);
    return npy_read(vm, b, &c->out[0]);
}

/* load(path [, name, ...]) */
qs_status qnpy_load(qs_vm *vm, qs_call_args *c) {
    const char *path, *name;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    for (int i = 1; i < c->nin; i++) TRY(qarg_string(vm, c->name, "a name", c->in[i], &name, NULL));
    struct stat file;
    bool done = false;
    int fd = c->nin == 1 && stat(path, &file) == 0 && S_ISREG(file.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    qs_status s = fd >= 0 ? npy_direct(vm, path, fd, &c->out[0], &done) : QS_OK;
    if (fd >= 0) close(fd);
    if (s != QS_OK || done) return s;
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    s = qio_slurp(vm, c->name, path, &t);
    if (s == QS_OK) s = load_bytes(vm, c, (Bytes){path, (const uint8_t *)t.s, t.len});
    qtext_free(&t);
    return s;
}
