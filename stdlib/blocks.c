/* blocks.c -- reads and writes blocks of arrays that may be larger than memory, in arrays or .npy files.
 *
 *     read_block(x, from, count, mode)     `from` may be negative: elements outside follow the access mode
 *
 * A row, along the last dimension, consists of a few contiguous runs of x: usually one, more at the border of the
 * array. Mirrored elements of a row are copied from those already read. */
#include "stdlib/builtins.h"
#include "stdlib/npy.h"
#include "vm/array/select.h"
#include "vm/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- storage of the elements --------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    const char *fn, *path; /* path NULL: an array */
    int fd;
    uint8_t *memory;
    qs_dtype dtype;
    size_t size; /* bytes per element */
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK]; /* strides in elements */
    uint64_t offset;                                 /* position of the first element in the file, in bytes */
} Store;

static void pack_strides(Store *s) { qarr_packed_strides(s->rank, s->dims, s->strides); }

static qs_status open_file(Store *s, bool write) {
    NpyFile h;
    s->fd = qfile_open(AT_FDCWD, s->path, write ? O_RDWR : 0);
    if (s->fd < 0) return qio_error(s->vm, s->fn, "open", s->path);
    TRY(qnpy_header(s->vm, s->path, s->fd, &h));
    s->dtype = h.dtype, s->rank = h.rank, s->offset = h.offset;
    memcpy(s->dims, h.dims, sizeof s->dims);
    return pack_strides(s), QS_OK;
}

static qs_status open_array(Store *s, Array *a, bool write) {
    const void *p = NULL;
    void *q = NULL;
    TRY(write ? qarr_write(s->vm, a, &q) : qarr_read(s->vm, a, &p));
    s->memory = write ? q : (uint8_t *)(uintptr_t)p;
    s->dtype = (qs_dtype)a->dtype, s->rank = qarr_shape(a, s->dims, s->strides);
    return QS_OK;
}

static qs_status open_store(qs_vm *vm, const char *fn, qs_value x, bool write, Store *s) {
    *s = (Store){.vm = vm, .fn = fn, .fd = -1};
    if (x.kind == QS_ARRAY) TRY(open_array(s, x.u.p, write));
    else if (x.kind == QS_STRING) {
        TRY(qarg_string(vm, fn, "x", x, &s->path, NULL));
        TRY(open_file(s, write));
    } else return qarg_wrong(vm, fn, "x", "an array or the path of a .npy file", x);
    return s->size = qdtype_size(s->dtype), QS_OK;
}

static void close_store(Store *s) {
    if (s->fd >= 0) close(s->fd);
}

static qs_status cut_short(const Store *s) {
    return qs_fail(s->vm, QS_EIO, "%s: %s ends before its last element", s->fn, s->path);
}

static qs_status read_bytes(const Store *s, uint64_t at, uint8_t *to, size_t n) {
    while (n) {
        ssize_t got = pread(s->fd, to, n, (off_t)(s->offset + at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return qio_error(s->vm, s->fn, "read", s->path);
        if (got == 0) return cut_short(s);
        to += got, at += (uint64_t)got, n -= (size_t)got;
    }
    return QS_OK;
}

static qs_status write_bytes(const Store *s, uint64_t at, const uint8_t *from, size_t n) {
    while (n) {
        ssize_t put = pwrite(s->fd, from, n, (off_t)(s->offset + at));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return qio_error(s->vm, s->fn, "write to", s->path);
        from += put, at += (uint64_t)put, n -= (size_t)put;
    }
    return QS_OK;
}

/* Reads or writes n elements along the last dimension, of the row that begins at element `row`. */
static qs_status move_run(const Store *s, bool write, int64_t row, int64_t from, int64_t n, uint8_t *p) {
    int64_t step = s->strides[s->rank - 1], at = row + from * step;
    size_t size = s->size;
    if (s->path && write) return write_bytes(s, (uint64_t)at * size, p, (size_t)n * size);
    if (s->path) return read_bytes(s, (uint64_t)at * size, p, (size_t)n * size);
    if (n && step == 1)
        write ? memcpy(s->memory + at * (int64_t)size, p, (size_t)n * size)
              : memcpy(p, s->memory + at * (int64_t)size, (size_t)n * size);
    for (int64_t k = 0; step != 1 && k < n; k++) {
        uint8_t *x = s->memory + (at + k * step) * (int64_t)size, *y = p + k * (int64_t)size;
        write ? memcpy(x, y, size) : memcpy(y, x, size);
    }
    return QS_OK;
}

/* -- selection of elements ----------------------------------------------------------------------------------------- */
/* Reads one integer for each dimension from a vector argument. */
static qs_status read_positions(const Store *s, qs_call_args *c, int i, const char *what, int64_t least, int64_t *out) {
    Array *a;
    const void *p;
    TRY(qarg_packed(s->vm, c, i, what, QS_F64, &a, &p));
    if (a->count != (size_t)s->rank)
        return qs_fail(s->vm, QS_ESHAPE, "%s: %s must be %d numbers, one for each dimension, got %zu", s->fn, what,
                       s->rank, a->count);
    for (int d = 0; d < s->rank; d++) {
        double x = ((const double *)p)[d];
        if (!(x >= (double)least && x == floor(x) && fabs(x) < 0x1p52))
            return qs_fail(s->vm, QS_EVALUE, "%s: %s along dimension %d must be an integer%s, got %g", s->fn, what, d,
                           least == 0 ? " ≥ 0" : "", x);
        out[d] = (int64_t)x;
    }
    return QS_OK;
}

static qs_status fail_outside(const Store *s, int d, int64_t from, int64_t count) {
    return qs_fail(s->vm, QS_EINDEX, "%s: the block from %lld to %lld does not fit dimension %d, which has %lld%s",
                   s->fn, (long long)from, (long long)(from + count - 1), d, (long long)s->dims[d],
                   s->dims[d] == 1 ? " element" : " elements");
}

static qs_status check_inside(const Store *s, const int64_t *from, const int64_t *count) {
    for (int d = 0; d < s->rank; d++)
        if (from[d] < 0 || from[d] + count[d] > s->dims[d]) return fail_outside(s, d, from[d], count[d]);
    return QS_OK;
}

typedef struct {
    const Store *s;
    AccessMode mode;
    int64_t from[QS_MAX_RANK], count[QS_MAX_RANK];
    int64_t inner, ninner; /* elements along the last dimension that are inside x: first, number */
    uint8_t *out;
} Reading;

/* Reads elements k to k + n - 1 of the row, which are outside x. */
static qs_status read_border(const Reading *r, int64_t row, int64_t k, int64_t n, uint8_t *p) {
    const Store *s = r->s;
    int last = s->rank - 1;
    for (int64_t place; n > 0; n--, k++) {
        if (!qselect_bound(r->mode, r->from[last] + k, s->dims[last], &place)) continue; /* the element is 0 already */
        uint8_t *to = p + k * (int64_t)s->size;
        int64_t known = place - r->from[last] - r->inner;
        bool here = known >= 0 && known < r->ninner;
        if (here) memcpy(to, p + (r->inner + known) * (int64_t)s->size, s->size);
        else TRY(move_run(s, false, row, place, 1, to));
    }
    return QS_OK;
}

static qs_status read_row(const Reading *r, int64_t row, uint8_t *p) {
    const Store *s = r->s;
    int last = s->rank - 1;
    int64_t end = r->inner + r->ninner;
    TRY(move_run(s, false, row, r->from[last] + r->inner, r->ninner, p + r->inner * (int64_t)s->size));
    TRY(read_border(r, row, 0, r->inner, p));
    return read_border(r, row, end, r->count[last] - end, p);
}

/* Computes the element at which a row begins; false: the row is outside x and is 0. */
static bool row_of(const Reading *r, const int64_t *at, int64_t *row) {
    int64_t place;
    *row = 0;
    for (int d = 0; d < r->s->rank - 1; d++) {
        if (!qselect_bound(r->mode, r->from[d] + at[d], r->s->dims[d], &place)) return false;
        *row += place * r->s->strides[d];
    }
    return true;
}

static bool next_row(const int64_t *count, int rank, int64_t *at) {
    for (int d = rank - 2; d >= 0; d--) {
        if (++at[d] < count[d]) return true;
        at[d] = 0;
    }
    return false;
}

static void find_inner(Reading *r) {
    int last = r->s->rank - 1;
    int64_t from = r->from[last], n = r->s->dims[last], lo = from < 0 ? 0 : from, hi = from + r->count[last];
    if (hi > n) hi = n;
    r->inner = lo - from, r->ninner = hi > lo ? hi - lo : 0;
    if (!r->ninner) r->inner = r->count[last];
}

static qs_status read_rows(Reading *r) {
    int64_t at[QS_MAX_RANK] = {0}, row;
    size_t bytes = (size_t)r->count[r->s->rank - 1] * r->s->size;
    uint8_t *p = r->out;
    find_inner(r);
    do {
        if (row_of(r, at, &row)) TRY(read_row(r, row, p));
        p += bytes;
    } while (next_row(r->count, r->s->rank, at));
    return QS_OK;
}

static qs_status mode_arg(const Store *s, qs_call_args *c, int i, AccessMode *out) {
    const char *name;
    TypeMods mods = {0};
    if (!qarg_given(c, i)) return *out = ACC_CHECKED, QS_OK;
    TRY(qarg_string(s->vm, s->fn, "mode", c->in[i], &name, NULL));
    if (!qaccess_from_name(name, &mods) || mods.access == ACC_DEFAULT || mods.access == ACC_UNCHECKED)
        return qs_fail(s->vm, QS_EVALUE, "%s: mode must be safe, mirror, reflect, circular, clamped or checked, got %s",
                       s->fn, name);
    return *out = (AccessMode)mods.access, QS_OK;
}

static qs_status read_block(const Store *s, qs_call_args *c) {
    Reading r = {.s = s};
    size_t count = 1;
    void *p;
    Array *a;
    TRY(read_positions(s, c, 1, "from", INT64_MIN, r.from));
    TRY(read_positions(s, c, 2, "count", 0, r.count));
    TRY(mode_arg(s, c, 3, &r.mode));
    if (r.mode == ACC_CHECKED) TRY(check_inside(s, r.from, r.count));
    TRY(qarr_make(s->vm, s->dtype, s->rank, r.count, true, &a, &p));
    c->out[0] = qarr_value(a);
    for (int d = 0; d < s->rank; d++) count *= (size_t)r.count[d];
    return r.out = p, count ? read_rows(&r) : QS_OK;
}

qs_status qblocks_read(qs_vm *vm, qs_call_args *c) {
    Store s;
    qs_status status = open_store(vm, c->name, c->in[0], false, &s);
    if (status == QS_OK) status = read_block(&s, c);
    return close_store(&s), status;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
static qs_status check_block_fits(const Store *s, const Store *y, const int64_t *skip, const int64_t *count) {
    if (y->rank != s->rank || y->dtype != s->dtype)
        return qs_fail(s->vm, QS_ETYPE, "%s: x has %d dimensions of %s, the block %d of %s", s->fn, s->rank,
                       qdtype_info[s->dtype].name, y->rank, qdtype_info[y->dtype].name);
    for (int d = 0; d < y->rank; d++)
        if (skip[d] + count[d] > y->dims[d])
            return qs_fail(s->vm, QS_ESHAPE, "%s: the block has %lld elements along dimension %d, and %lld are wanted",
                           s->fn, (long long)y->dims[d], d, (long long)(skip[d] + count[d]));
    return QS_OK;
}

static int64_t row_at(const Store *s, const int64_t *from, const int64_t *at) {
    int64_t row = 0;
    for (int d = 0; d < s->rank - 1; d++) row += (from[d] + at[d]) * s->strides[d];
    return row;
}

static qs_status write_rows(const Store *s, const Store *y, const int64_t *from, const int64_t *skip,
                            const int64_t *count) {
    int64_t at[QS_MAX_RANK] = {0};
    int last = s->rank - 1;
    do {
        const uint8_t *p = y->memory + (row_at(y, skip, at) + skip[last]) * (int64_t)y->size;
        TRY(move_run(s, true, row_at(s, from, at), from[last], count[last], (uint8_t *)(uintptr_t)p));
    } while (next_row(count, s->rank, at));
    return QS_OK;
}

/* Opens an array with the number of dimensions of x: missing trailing dimensions have extent 1, and a vec is one
 * row. */
static qs_status open_part(const Store *s, Array *a, Store *y) {
    TRY(open_array(y, a, false));
    y->size = qdtype_size(y->dtype);
    if (y->rank == 1 && s->rank > 1) y->dims[1] = y->dims[0], y->dims[0] = 1, y->rank = 2;
    for (; y->rank < s->rank; y->rank++) y->dims[y->rank] = 1;
    return pack_strides(y), QS_OK;
}

static qs_status write_block(const Store *s, qs_call_args *c) {
    int64_t from[QS_MAX_RANK], skip[QS_MAX_RANK] = {0}, count[QS_MAX_RANK];
    Store y = {.vm = s->vm, .fn = s->fn, .fd = -1};
    Array *a;
    size_t n = 1;
    TRY(read_positions(s, c, 1, "from", 0, from));
    if (c->in[2].kind != QS_ARRAY) return qarg_wrong(s->vm, s->fn, "y", "an array", c->in[2]);
    TRY(qarr_contiguous(s->vm, c->in[2].u.p, &a));
    qs_release(s->vm, c->in[2]), c->in[2] = qarr_value(a);
    TRY(open_part(s, a, &y));
    memcpy(count, y.dims, sizeof count);
    if (qarg_given(c, 3)) TRY(read_positions(s, c, 3, "skip", 0, skip));
    if (qarg_given(c, 4)) TRY(read_positions(s, c, 4, "count", 0, count));
    else
        for (int d = 0; d < s->rank; d++) count[d] -= skip[d];
    TRY(check_block_fits(s, &y, skip, count));
    TRY(check_inside(s, from, count));
    for (int d = 0; d < s->rank; d++) n *= (size_t)count[d];
    return n ? write_rows(s, &y, from, skip, count) : QS_OK;
}

qs_status qblocks_write(qs_vm *vm, qs_call_args *c) {
    Store s;
    qs_status status = open_store(vm, c->name, c->in[0], true, &s);
    if (status == QS_OK) status = write_block(&s, c);
    return close_store(&s), status;
}

/* -- files --------------------------------------------------------------------------------------------------------- */
qs_status qblocks_size(qs_vm *vm, qs_call_args *c) {
    Store s;
    double x[QS_MAX_RANK];
    qs_status status = open_store(vm, c->name, c->in[0], false, &s);
    close_store(&s);
    TRY(status);
    int64_t n = s.rank;
    for (int d = 0; d < s.rank; d++) x[d] = (double)s.dims[d];
    TRY(qarg_exact(vm, x, 1, &n, &c->out[0]));
    const char *name = qdtype_info[s.dtype].name;
    return c->nout > 1 ? qs_string(vm, name, strlen(name), &c->out[1]) : QS_OK;
}

static qs_status make_file(qs_vm *vm, const char *path, const Text *head, uint64_t bytes) {
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return qio_error(vm, "npy_create", "make", path);
    ssize_t n = pwrite(fd, head->s, head->len, 0);
    bool bad = n != (ssize_t)head->len || ftruncate(fd, (off_t)(head->len + bytes));
    qs_status s = bad ? qio_error(vm, "npy_create", "write to", path) : QS_OK;
    return close(fd), s;
}

/* Creates a sparse file of zeros, which uses no disk space until it is written. */
qs_status qblocks_create(qs_vm *vm, qs_call_args *c) {
    const char *path, *name = "float32";
    qs_dtype d;
    int rank;
    int64_t dims[QS_MAX_RANK];
    Text head;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(qarr_shape_args(vm, c->name, 1, &c->in[1], &rank, dims));
    if (qarg_given(c, 2)) TRY(qarg_string(vm, c->name, "type", c->in[2], &name, NULL));
    if (!qdtype_from_name(name, &d))
        return qs_fail(vm, QS_EVALUE, "npy_create: type must be an element type such as float32, got %s", name);
    size_t bytes = qdtype_size(d);
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(bytes, (size_t)dims[i], &bytes) || bytes > INT64_MAX / 2)
            return qs_fail(vm, QS_EVALUE, "npy_create: %s would be too large", path);
    qtext_init(&head, qvm_ctx(vm));
    qs_status s = qnpy_begin(&head, d, rank, dims)
                      ? make_file(vm, path, &head, bytes)
                      : qs_fail(vm, QS_EVALUE, "npy_create: NumPy has no elements of type %s", name);
    return qtext_free(&head), s;
}
