/* io.c -- implements files and tables of text. */
#include "stdlib/builtins.h"
#include "vm/base/file.h"
#include "vm/base/number.h"
#include "vm/program/python.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* -- open files: foreign values, closed by fclose or with the last reference --------------------------------------- */
typedef struct {
    FILE *f;
    char *path;
    bool waits; /* a pipe, terminal or device, whose reads and writes may block */
    int users;  /* number of threads that are blocked; other uses of the file wait for them */
} File;

static void file_release(void *p) {
    File *file = p;
    if (file->users) return; /* a thread is still blocked: the process is ending */
    if (file->f) fclose(file->f);
    free(file->path);
    free(file);
}

static qs_status file_format(qs_vm *vm, void *p, qs_value *out) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "file(%s)", ((File *)p)->path);
    qs_status s = qs_string(vm, t.s, t.len, out);
    qtext_free(&t);
    return s;
}
static const qs_foreign_type file_type = {.name = "file", .release = file_release, .format = file_format};

static qs_status is_open(qs_vm *vm, const char *fn, const File *file) {
    return file->f ? QS_OK : qs_fail(vm, QS_EIO, "%s: %s is closed", fn, file->path);
}

static qs_status file_arg(qs_vm *vm, const char *fn, qs_value v, File **out) {
    *out = qs_foreign_ptr(v, &file_type);
    bool printed = v.kind == QS_STRING && !strcmp(fn, "fprintf"); /* as in MATLAB */
    if (!*out) return qarg_wrong(vm, fn, "f", printed ? "an open file (printf writes without one)" : "an open file", v);
    TRY(qthread_turn(vm, &(*out)->users));
    return is_open(vm, fn, *out);
}

/* Enclose reads and writes of the file: if these may block, other threads may use the VM meanwhile. */
static const Python *begin_wait(qs_vm *vm, File *file) {
    if (!file->waits) return NULL;
    file->users++;
    return qpython_release_vm(vm);
}

static void end_wait(File *file, const Python *python) {
    int error = errno;
    if (!file->waits) return;
    qpython_acquire_vm(python);
    file->users--, errno = error;
}

/* Checks the last transfer.  *again: it was interrupted by a signal other than Ctrl-C, whose handler may have closed
 * the file. */
static qs_status after_wait(qs_vm *vm, const char *fn, File *file, bool *again) {
    *again = ferror(file->f) && errno == EINTR;
    if (!*again) return QS_OK;
    clearerr(file->f);
    TRY(qthread_check(vm));
    return is_open(vm, fn, file);
}

static bool may_wait(FILE *f) {
    struct stat s;
    return fstat(fileno(f), &s) == 0 && !S_ISREG(s.st_mode);
}

/* Opens a file.  Opening a pipe blocks until the other end is opened.  Files for which writing may wait have no buffer,
 * because glibc discards the rest of a buffer when a signal interrupts the write. */
static qs_status open_file(qs_vm *vm, const char *path, const char *mode, FILE **out) {
    struct stat s;
    bool waits = stat(path, &s) == 0 && !S_ISREG(s.st_mode);
    do {
        const Python *python = waits ? qpython_release_vm(vm) : NULL;
        *out = fopen(path, mode);
        int error = errno;
        qpython_acquire_vm(python);
        errno = error;
        if (!*out && errno == EINTR) TRY(qthread_check(vm));
        errno = error;
    } while (!*out && errno == EINTR);
    if (*out && (*mode != 'r' || strchr(mode, '+')) && may_wait(*out)) setvbuf(*out, NULL, _IONBF, 0);
    return QS_OK;
}

qs_status qio_error(qs_vm *vm, const char *fn, const char *verb, const char *path) {
    return qs_fail(vm, QS_EIO, "%s: cannot %s %s: %s", fn, verb, path, qfile_error(errno));
}

qs_status qio_fopen(qs_vm *vm, qs_call_args *c) {
    const char *path, *mode = "r";
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    if (c->nin > 1) TRY(qarg_string(vm, c->name, "mode", c->in[1], &mode, NULL));
    if (!*mode || !strchr("rwa", *mode))
        return qs_fail(vm, QS_EVALUE, "fopen: mode must begin with r, w or a, got \"%s\"", mode);
    FILE *f;
    TRY(open_file(vm, path, mode, &f));
    if (!f) return qio_error(vm, c->name, "open", path);
    File *file = malloc(sizeof *file);
    char *name = strdup(path);
    if (!file || !name) {
        free(file), free(name), fclose(f);
        return qs_fail(vm, QS_ENOMEM, "fopen: out of memory");
    }
    *file = (File){f, name, may_wait(f), 0};
    qs_status s = qs_foreign(vm, &file_type, file, &c->out[0]);
    if (s != QS_OK) file_release(file);
    return s;
}

qs_status qio_fclose(qs_vm *vm, qs_call_args *c) {
    File *file;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    FILE *f = file->f;
    file->f = NULL;
    const Python *python = file->waits ? qpython_release_vm(vm) : NULL;
    int bad = fclose(f), error = errno;
    qpython_acquire_vm(python);
    errno = error;
    return bad ? qio_error(vm, c->name, "finish", file->path) : QS_OK;
}

qs_status qio_feof(qs_vm *vm, qs_call_args *c) {
    File *file;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    int ch;
    bool again;
    do {
        FILE *f = file->f;
        const Python *python = begin_wait(vm, file);
        ch = getc(f);
        end_wait(file, python);
        TRY(after_wait(vm, c->name, file, &again));
    } while (again);
    if (ch != EOF) ungetc(ch, file->f);
    c->out[0] = qs_bool(ch == EOF);
    return QS_OK;
}

qs_status qio_fgetpos(qs_vm *vm, qs_call_args *c) {
    File *file;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    off_t at = ftello(file->f);
    if (at < 0) return qio_error(vm, c->name, "find the position in", file->path);
    c->out[0] = qs_num((double)at);
    return QS_OK;
}

qs_status qio_fsetpos(qs_vm *vm, qs_call_args *c) {
    File *file;
    int64_t at;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    TRY(qarg_count(vm, c->name, "position", c->in[1], &at));
    if (fseeko(file->f, (off_t)at, SEEK_SET) != 0) return qio_error(vm, c->name, "go to a position in", file->path);
    return QS_OK;
}

/* Reads the next line including its end; *any false: there is none.  A signal may interrupt the read within a line. */
static qs_status get_line(qs_vm *vm, File *file, Text *t, bool *any) {
    qs_status s = QS_OK;
    for (bool again = true; again && s == QS_OK;) {
        FILE *f = file->f;
        char *line = NULL;
        size_t cap = 0;
        const Python *python = begin_wait(vm, file);
        ssize_t n = getline(&line, &cap, f);
        end_wait(file, python);
        int error = errno;
        if (n > 0) qtext_add(t, line, (size_t)n);
        free(line);
        errno = error;
        /* Also when there is no memory for the line. */
        bool failed = n < 0 && !feof(f) && !(ferror(f) && errno == EINTR);
        if (failed) s = qio_error(vm, "fgets", "read", file->path);
        else s = after_wait(vm, "fgets", file, &again);
    }
    *any = t->len > 0;
    return s;
}

/* Returns the next line without its end; null at the end of the file. */
qs_status qio_fgets(qs_vm *vm, qs_call_args *c) {
    File *file;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    Text t;
    bool any;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = get_line(vm, file, &t, &any);
    size_t n = t.len;
    if (n > 0 && t.s[n - 1] == '\n') n--;
    if (n > 0 && t.s[n - 1] == '\r') n--;
    if (s == QS_OK && any) s = qtext_status(&t);
    if (s == QS_OK && any) s = qs_string(vm, t.s, n, &c->out[0]);
    qtext_free(&t);
    return s;
}

/* Returns up to n bytes (or all that are left) as a vec[uint8]. */
qs_status qio_fread(qs_vm *vm, qs_call_args *c) {
    File *file;
    int64_t most = INT64_MAX;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    if (c->nin > 1) TRY(qarg_count(vm, c->name, "n", c->in[1], &most));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    char part[4096];
    size_t got;
    while (!t.lost && (int64_t)t.len < most) {
        size_t want = (uint64_t)most - t.len < sizeof part ? (size_t)((uint64_t)most - t.len) : sizeof part;
        FILE *f = file->f;
        bool again;
        const Python *python = begin_wait(vm, file);
        got = fread(part, 1, want, f);
        end_wait(file, python);
        if (got) qtext_add(&t, part, got);
        qs_status ended = after_wait(vm, c->name, file, &again);
        if (ended != QS_OK) return qtext_free(&t), ended;
        if (!got && !again) break;
    }
    Array *a;
    void *p;
    int64_t n = (int64_t)t.len;
    qs_status s = ferror(file->f) ? qio_error(vm, c->name, "read", file->path) : qtext_status(&t);
    if (s == QS_OK) s = qarg_result(vm, c, 0, QS_U8, 1, &n, &a, &p);
    if (s == QS_OK && n) memcpy(p, t.s, t.len);
    qtext_free(&t);
    return s;
}

/* Writes to a pipe in pieces of PIPE_BUF bytes: a pipe takes such a piece as a whole, so a signal interrupts the wait
 * for room.  glibc would continue a larger write that has been done in part. */
static qs_status write_all(qs_vm *vm, const char *fn, File *file, const char *p, size_t n) {
    while (n > 0) {
        FILE *f = file->f;
        bool again;
        const Python *python = begin_wait(vm, file);
        size_t piece = file->waits && n > PIPE_BUF ? PIPE_BUF : n, written = fwrite(p, 1, piece, f);
        end_wait(file, python);
        p += written, n -= written;
        if (written == piece) continue;
        TRY(after_wait(vm, fn, file, &again));
        if (!again) return qio_error(vm, fn, "write to", file->path);
    }
    return QS_OK;
}

/* Writes a copy if the write may wait, because other threads may change an array or close the VM meanwhile. */
static qs_status write_bytes(qs_vm *vm, const char *fn, File *file, const void *p, size_t n) {
    if (!file->waits || n == 0) return write_all(vm, fn, file, p, n);
    char *copy = malloc(n);
    if (!copy) return qs_fail(vm, QS_ENOMEM, "%s: out of memory", fn);
    qs_status s = write_all(vm, fn, file, memcpy(copy, p, n), n);
    free(copy);
    return s;
}

/* Writes the bytes of a string, or of the elements of an array. */
qs_status qio_fwrite(qs_vm *vm, qs_call_args *c) {
    File *file;
    const void *p;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    if (c->in[1].kind == QS_STRING) {
        size_t n;
        const char *s = qs_to_string(c->in[1], &n);
        return write_bytes(vm, c->name, file, s, n);
    }
    Array *a;
    TRY(qarg_listed(vm, c, 1, "x", &a));
    TRY(qarg_packed(vm, c, 1, "x", (qs_dtype)a->dtype, &a, &p));
    return write_bytes(vm, c->name, file, p, a->count * qdtype_size((qs_dtype)a->dtype));
}

static qs_status put_text(qs_vm *vm, const char *fn, File *file, Text *t, qs_status s) {
    if (s == QS_OK) s = qtext_status(t);
    if (s == QS_OK) s = write_bytes(vm, fn, file, t->s ? t->s : "", t->len);
    qtext_free(t);
    return s;
}

qs_status qio_flush(qs_vm *vm, qs_call_args *c) {
    File *file;
    if (!qarg_given(c, 0)) return qvm_flush(vm), QS_OK;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    return fflush(file->f) ? qio_error(vm, c->name, "write to", file->path) : QS_OK;
}

qs_status qio_fprint(qs_vm *vm, qs_call_args *c) {
    File *file;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = QS_OK;
    for (int i = 1; i < c->nin && s == QS_OK; i++) s = qfmt_value(vm, c->in[i], &t);
    qtext_puts(&t, "\n");
    return put_text(vm, c->name, file, &t, s);
}

qs_status qio_fprintf(qs_vm *vm, qs_call_args *c) {
    File *file;
    const char *fmt;
    size_t n;
    TRY(file_arg(vm, c->name, c->in[0], &file));
    TRY(qarg_string(vm, c->name, "format", c->in[1], &fmt, &n));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    return put_text(vm, c->name, file, &t, qfmt_printf(vm, fmt, n, c->nin - 2, c->in + 2, &t));
}

/* -- whole files --------------------------------------------------------------------------------------------------- */
qs_status qio_slurp(qs_vm *vm, const char *fn, const char *path, Text *out) {
    FILE *f;
    TRY(open_file(vm, path, "rb", &f));
    if (!f) return qio_error(vm, fn, "open", path);
    File file = {f, NULL, may_wait(f), 0};
    char part[65536];
    qs_status s = QS_OK;
    for (bool again = true; s == QS_OK && !out->lost && again;) {
        const Python *python = begin_wait(vm, &file);
        size_t got = fread(part, 1, sizeof part, f);
        end_wait(&file, python);
        qtext_add(out, part, got);
        s = after_wait(vm, fn, &file, &again);
        again |= got > 0;
    }
    bool bad = ferror(f);
    fclose(f);
    TRY(s);
    return bad ? qio_error(vm, fn, "read", path) : qtext_status(out);
}

qs_status qio_fileread(qs_vm *vm, qs_call_args *c) {
    const char *path;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = qio_slurp(vm, c->name, path, &t);
    return qval_text(vm, &t, s, &c->out[0]);
}

qs_status qio_spill(qs_vm *vm, const char *fn, const char *path, const char *s, size_t n) {
    FILE *f;
    TRY(open_file(vm, path, "wb", &f));
    if (!f) return qio_error(vm, fn, "create", path);
    File file = {f, (char *)(uintptr_t)path, may_wait(f), 0};
    qs_status written = write_bytes(vm, fn, &file, s, n);
    bool bad = fclose(f) != 0;
    TRY(written);
    return bad ? qio_error(vm, fn, "write to", path) : QS_OK;
}

qs_status qio_filewrite(qs_vm *vm, qs_call_args *c) {
    const char *path, *s;
    size_t n;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(qarg_string(vm, c->name, "text", c->in[1], &s, &n));
    return qio_spill(vm, c->name, path, s, n);
}

/* -- comma-separated values ---------------------------------------------------------------------------------------- */
typedef struct {
    double *x;
    uint32_t cap;
    size_t n, rows, cols;
    char sep; /* separator; ' ': any number of blanks */
    bool headed;
} Table;

static const char *past_blanks(const Table *t, const char *s, const char *end) {
    while (s < end && (*s == ' ' || (*s == '\t' && t->sep != '\t'))) s++;
    return s;
}

/* Reads the number at s, before `end`; NULL: there is none. */
static const char *past_number(const char *s, const char *end, double *x) {
    char *stop;
    *x = qnum_read(s, &stop);
    return stop == s || stop > end ? NULL : stop;
}

/* Returns whether a line has names and no number; a name may begin like a number (1st, nanometres). */
static bool is_heading(const Table *t, const char *s, const char *end) {
    bool names = false;
    double x;
    while (s < end) {
        const char *after = past_number(s, end, &x);
        if (after && (after == end || *after == t->sep || past_blanks(t, after, end) > after)) return false;
        names |= *s != t->sep;
        while (s < end && *s != t->sep) s++;
        s = past_blanks(t, s + (s < end), end);
    }
    return names;
}

static qs_status csv_wrong(qs_vm *vm, const char *path, size_t number, const char *s, const char *end) {
    return qs_fail(vm, QS_EVALUE, "csvread: %s, line %zu: \"%.*s\" is not a number", path, number,
                   (int)(end - s > 20 ? 20 : end - s), s);
}

/* Reads one line into the table; blank cells are nan, blank lines and lines that begin with # are skipped. */
static qs_status csv_line(qs_vm *vm, const char *path, size_t number, const char *s, const char *end, Table *t) {
    size_t cols = 0;
    while (end > s && (end[-1] == '\r' || past_blanks(t, end - 1, end) == end)) end--;
    s = past_blanks(t, s, end);
    if (s == end || *s == '#') return QS_OK;
    if (t->rows == 0 && !t->headed && is_heading(t, s, end)) return t->headed = true, QS_OK;
    for (;; s = past_blanks(t, s + (t->sep != ' '), end)) {
        double x = NAN;
        const char *after = s < end && *s != t->sep ? past_number(s, end, &x) : s;
        if (!after) return csv_wrong(vm, path, number, s, end);
        qmem_grow(qvm_ctx(vm), &t->x, &t->cap, (uint32_t)t->n, sizeof *t->x);
        t->x[t->n++] = x, cols++;
        s = t->sep == ' ' ? after : past_blanks(t, after, end);
        if (s == end) break;
        if (*s != t->sep && past_blanks(t, s, end) == s)
            return qs_fail(vm, QS_EVALUE, "csvread: %s, line %zu: unexpected \"%.*s\"", path, number,
                           (int)(end - s > 20 ? 20 : end - s), s);
    }
    if (t->rows++ == 0) t->cols = cols;
    if (cols != t->cols)
        return qs_fail(vm, QS_ESHAPE, "csvread: %s, line %zu has %zu numbers, the lines before have %zu", path, number,
                       cols, t->cols);
    return QS_OK;
}

static qs_status csv_read(qs_vm *vm, const char *path, Table *t, Text *text) {
    TRY(qio_slurp(vm, "csvread", path, text));
    const char *s = text->s ? text->s : "", *all = s + text->len;
    for (size_t number = 1; s < all; number++) {
        const char *end = memchr(s, '\n', (size_t)(all - s));
        if (!end) end = all;
        TRY(csv_line(vm, path, number, s, end, t));
        if (t->n > UINT32_MAX - 2) return qs_fail(vm, QS_EVALUE, "csvread: %s holds too many numbers", path);
        s = end + 1;
    }
    return QS_OK;
}

qs_status qio_separator(qs_vm *vm, qs_call_args *c, int i, const char *refused, char *sep) {
    const char *s;
    size_t n;
    if (!qarg_given(c, i)) return QS_OK;
    TRY(qarg_string(vm, c->name, "separator", c->in[i], &s, &n));
    if (n == 1 && !strchr(refused, *s)) return *sep = *s, QS_OK;
    return qs_fail(vm, QS_EVALUE, "%s: separator must be one character%s, got \"%s\"", c->name,
                   *refused ? ", and no quote or blank" : "", s);
}

qs_status qio_csvread(qs_vm *vm, qs_call_args *c) {
    const char *path;
    Table t = {.sep = ','};
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(qio_separator(vm, c, 1, "", &t.sep));
    Text text;
    Array *a;
    void *p;
    qtext_init(&text, qvm_ctx(vm));
    qs_status s = csv_read(vm, path, &t, &text);
    if (s == QS_OK) s = qarg_result(vm, c, 0, QS_F64, 2, (int64_t[]){(int64_t)t.rows, (int64_t)t.cols}, &a, &p);
    if (s == QS_OK && t.n) memcpy(p, t.x, t.n * sizeof *t.x);
    if (t.x) qmem_free(qvm_ctx(vm), t.x, t.cap * sizeof *t.x);
    qtext_free(&text);
    return s;
}

static void csv_cell(Text *t, qs_dtype d, const void *p) {
    if (d == QS_I64) qtext_printf(t, "%lld", (long long)*(const int64_t *)p);
    else if (d == QS_U64) qtext_printf(t, "%llu", (unsigned long long)*(const uint64_t *)p);
    /* 10 digits represent every 32-bit integer. */
    else qtext_printf(t, "%.*g", d == QS_F64 ? 17 : 10, qdtype_get(d, p));
}

qs_status qio_csvwrite(qs_vm *vm, qs_call_args *c) {
    const char *path;
    const void *p;
    char sep = ',';
    Array *a;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(qio_separator(vm, c, 2, "", &sep));
    TRY(qarg_array(vm, c, 1, "x", &a));
    if (a->rank > 2) return qs_fail(vm, QS_ESHAPE, "csvwrite: x must be a vec or a mat, got %d dimensions", a->rank);
    qs_dtype d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(d)) return qarg_wrong(vm, c->name, "x", "real", c->in[1]);
    TRY(qarg_packed(vm, c, 1, "x", d, &a, &p));
    size_t cols = (size_t)qarr_dim(a, a->rank - 1);
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    for (size_t i = 0; i < a->count; i++) {
        csv_cell(&t, d, (const char *)p + i * qdtype_size(d));
        qtext_add(&t, (i + 1) % cols ? &sep : "\n", 1);
    }
    qs_status s = qtext_status(&t);
    if (s == QS_OK) s = qio_spill(vm, c->name, path, t.s ? t.s : "", t.len);
    qtext_free(&t);
    return s;
}
