/* print.c -- writes the lines that a kernel has printed: lang/kernel/lower/kernel/lower_print.c.
 *
 * Positions store their records in any order.  They are written in the order of positions, and those of one position in
 * the order of its statements.  If the log was full, the last line says how many are missing. */
#include "vm/array/array.h"
#include "vm/launch/kernel_internal.h"
#include "vm/value/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const double *at; /* the record: statement, position, numbers */
    int rank;
} Line;

static int compare_lines(const void *pa, const void *pb) {
    const Line *a = pa, *b = pb;
    for (int i = 1; i <= a->rank; i++)
        if (a->at[i] != b->at[i]) return a->at[i] < b->at[i] ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Reads one part of a number: an integer, or the bits of one above 2^63; *x moves on. */
static int64_t read_integer(qs_dtype d, const double **x) {
    if (d != QS_I64 && d != QS_U64) return (int64_t) * (*x)++;
    uint64_t high = d == QS_U64 ? (uint64_t)(*x)[0] : (uint64_t)(int64_t)(*x)[0];
    uint64_t all = high << 32 | (uint64_t)(*x)[1];
    *x += 2;
    return (int64_t)all;
}

static qs_status read_number(qs_vm *vm, qs_dtype d, const double **x, qs_value *out) {
    if (qdtype_is_complex(d)) return *x += 2, qval_complex(vm, (*x)[-2], (*x)[-1], out);
    if (qdtype_is_real(d)) return *out = qs_num(*(*x)++), QS_OK;
    int64_t i = read_integer(d, x);
    *out = d == QS_B1 ? qs_bool(i != 0) : d == QS_U64 && i < 0 ? qs_num((double)(uint64_t)i) : qs_int(i);
    return QS_OK;
}

static void store_element(Array *a, char *p, size_t i, const double **x) {
    qs_dtype d = (qs_dtype)a->dtype, part = qdtype_real_of(d);
    size_t size = qdtype_size(part);
    if (!qdtype_is_int(d)) {
        for (int k = 0, n = qdtype_is_complex(d) ? 2 : 1; k < n; k++)
            qdtype_put(part, p + ((size_t)n * i + (size_t)k) * size, *(*x)++);
        return;
    }
    int64_t v = read_integer(d, x);
    if (size == 8) memcpy(p + 8 * i, &v, 8);
    else qdtype_put(d, p + size * i, (double)v);
}

static qs_status read_array(qs_vm *vm, const KShown *s, const double **x, qs_value *out) {
    Array *a;
    void *p;
    TRY(qarr_make(vm, (qs_dtype)s->dtype, s->rank, s->dims, false, &a, &p));
    *out = qarr_value(a);
    for (size_t i = 0; i < a->count; i++) store_element(a, p, i, x);
    qs_status st = qarr_settle(vm, a);
    if (st != QS_OK) qval_release(vm, *out);
    return st;
}

static qs_status read_shown(qs_vm *vm, const KShown *s, const double **x, qs_value *out) {
    if (s->text) return *out = qval_retain(qval_object(QS_STRING, s->text)), QS_OK;
    return s->rank ? read_array(vm, s, x, out) : read_number(vm, (qs_dtype)s->dtype, x, out);
}

static qs_status format_line(qs_vm *vm, const KPrint *p, const qs_value *v, Text *t) {
    qs_status s = QS_OK;
    const Str *format = p->formats ? v[0].u.p : NULL;
    if (format) s = qfmt_printf(vm, format->s, format->len, p->nshown - 1, v + 1, t);
    for (int i = 0; !format && s == QS_OK && i < p->nshown; i++) s = qfmt_value(vm, v[i], t);
    if (s == QS_OK && (!t->len || t->s[t->len - 1] != '\n' || !format)) qtext_puts(t, "\n");
    return s;
}

static qs_status write_line(qs_vm *vm, const KPrint *p, const Line *line) {
    Text t;
    qs_value *v = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)p->nshown, sizeof *v, sizeof *v));
    const double *x = line->at + 1 + line->rank;
    qs_status s = QS_OK;
    int n = 0;
    qtext_init(&t, qvm_ctx(vm));
    while (s == QS_OK && n < p->nshown)
        if ((s = read_shown(vm, &p->shown[n], &x, &v[n])) == QS_OK) n++;
    if (s == QS_OK) s = format_line(vm, p, v, &t);
    if (s == QS_OK) s = qtext_status(&t);
    if (s == QS_OK) qlibrary_hooks(vm)->write(vm, t.s, t.len);
    qtext_free(&t);
    while (n--) qval_release(vm, v[n]);
    qmem_free(qvm_ctx(vm), v, qmem_size((size_t)p->nshown, sizeof *v, sizeof *v));
    return s;
}

/* Adds the source location of the statement to an error in its format. */
static qs_status locate_error(qs_vm *vm, const KPrint *p, qs_status s) {
    char text[QERR_TEXT];
    if (!p->formats || s == QS_ENOMEM || s == QS_EINTERRUPT) return s;
    snprintf(text, sizeof text, "%s", qvm_ctx(vm)->err.text);
    qerr_clear(qvm_ctx(vm));
    return qerr_at(qvm_ctx(vm), s, (Where){p->src, p->pos}, "%s", text);
}

/* Finds the records that were stored: those at the end for which there was no room have no statement. */
static int find_lines(const KernelSpecialization *s, const double *log, Line *out) {
    int n = 0;
    for (int64_t at = KLOG_FIRST; at < PRINT_ROOM && log[at] > 0;) {
        out[n++] = (Line){log + at, s->rank};
        at += 1 + s->rank + s->prints[(int)log[at] - 1].nnumbers;
    }
    return n;
}

static void report_dropped(qs_vm *vm, const KernelSpecialization *s, double count) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "(%.0f more line%s of kernel %s: one launch keeps %d numbers)\n", count, count > 1 ? "s" : "",
                 s->base.version[0].func->name->s, PRINT_ROOM - KLOG_FIRST);
    if (qtext_status(&t) == QS_OK) qlibrary_hooks(vm)->write(vm, t.s, t.len);
    qtext_free(&t);
}

qs_status qprint_write(qs_vm *vm, const KernelSpecialization *s, const double *log) {
    size_t size = qmem_size((size_t)log[KLOG_RECORDS] < PRINT_ROOM ? (size_t)log[KLOG_RECORDS] : PRINT_ROOM,
                            sizeof(Line), sizeof(Line));
    Line *lines = qmem_alloc(qvm_ctx(vm), size);
    int n = find_lines(s, log, lines);
    qs_status status = QS_OK;
    qsort(lines, (size_t)n, sizeof *lines, compare_lines);
    for (int i = 0; i < n && status == QS_OK; i++) {
        const KPrint *p = &s->prints[(int)lines[i].at[0] - 1];
        status = write_line(vm, p, &lines[i]);
        if (status != QS_OK) status = locate_error(vm, p, status);
    }
    if (status == QS_OK && n < log[KLOG_RECORDS]) report_dropped(vm, s, log[KLOG_RECORDS] - n);
    qmem_free(qvm_ctx(vm), lines, size);
    return status;
}
