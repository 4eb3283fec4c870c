/* report.c -- reports about launches: reasons (--explain), code (--dump), times (--profile), and the disk cache.
 *
 * A profile counts the work that a kernel has to do, not the work that the hardware does.  Each array that it reads
 * or writes is transferred once between memory and processor, with the extents of the launch.  Each addition,
 * product, size comparison or mathematical function on floats is one operation; all branches count, multiplied by the
 * iterations of the loops around them (a loop with a data-dependent iteration count makes the count unknown).  The
 * rates are therefore comparable with the device's limits, which two kernels measure at the end of the run. */
#include "devices/cache.h"
#include "lang/kernel/ir/kir.h"
#include "vm/base/clock.h"
#include "vm/launch/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Timing {
    struct Timing *next;
    uint64_t hash; /* hash of the code; 0: a library call */
    /* "file:line", stored because the source may be freed before the profile is printed; NULL: none */
    Str *name, *place;
    int64_t calls;
    double seconds, bytes, flops; /* flops NaN: unknown */
} Timing;

typedef struct Report {
    const char *stage; /* stage of --dump; NULL: no code is collected */
    Text shown;
    bool profile;
    Timing *timings; /* in order of the first launch */
} Report;

void qreport_begin(qs_vm *vm, const char *stage, bool profile) {
    Launches *k = qlaunch_state(vm);
    k->report = qmem_alloc(qvm_ctx(vm), sizeof *k->report);
    *k->report = (Report){.stage = stage, .profile = profile};
    qtext_init(&k->report->shown, qvm_ctx(vm));
}

void qreport_close(qs_vm *vm, Report *r) {
    if (!r) return;
    for (Timing *t = r->timings, *next; t; t = next) next = t->next, qmem_free(qvm_ctx(vm), t, sizeof *t);
    qtext_free(&r->shown);
    qmem_free(qvm_ctx(vm), r, sizeof *r);
}

/* -- --explain ----------------------------------------------------------------------------------------------------- */
void qreport_explain(qs_vm *vm, Where at, const char *fmt, ...) {
    char line[1024];
    int number, column;
    Text t;
    va_list ap;
    if (!qvm(vm)->config.explain) return;
    qtext_init(&t, qvm_ctx(vm));
    if (at.src) {
        qsource_line_col(at.src, at.pos, &number, &column);
        qtext_printf(&t, "%s:%d: ", at.src->path, number);
    }
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    qtext_printf(&t, "%s\n", line);
    qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

/* -- code ---------------------------------------------------------------------------------------------------------- */
void qreport_code(qs_vm *vm, const Code *code) {
    Report *r = qvm(vm)->launches->report;
    if (r && r->stage && !strcmp(r->stage, "ptx")) qtext_add(&r->shown, code->bytes, code->n);
}

qs_status qreport_show(qs_vm *vm, KCompiler *k, const KFunc *f, const Device *d) {
    Report *r = qvm(vm)->launches->report;
    Text text;
    if (!r || !r->stage) return QS_OK;
    if (qvm(vm)->config.compile_for && !strcmp(r->stage, "ptx")) return QS_OK; /* qreport_code prints it */
    if (!strcmp(r->stage, "kir")) return kir_print(f, &r->shown), QS_OK;
    qtext_init(&text, qvm_ctx(vm));
    qs_status s = kcompile_text(k, f, d, r->stage, &text);
    if (s == QS_OK) qtext_add(&r->shown, text.s, text.len);
    qtext_free(&text);
    return s;
}

void qreport_shown(qs_vm *vm, Text *out) {
    const Launches *k = qvm(vm)->launches;
    if (k && k->report && k->report->shown.len) qtext_add(out, k->report->shown.s, k->report->shown.len);
}

/* -- work of a launch ---------------------------------------------------------------------------------------------- */
enum { DEEP = 64 /* maximum depth of expressions for loop bounds, and of nested regions */ };

static double bytes_of(const KFunc *f, const DevArg *args) {
    double sum = 0;
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        if (p->kind != KP_ARRAY) continue;
        double n = (double)qdtype_size((qs_dtype)p->dtype);
        for (int d = 0; d < args[i].rank; d++)
            if (args[i].strides[d]) n *= (double)args[i].dims[d];
        sum += n * (p->read + p->written);
    }
    return sum;
}

/* Returns the value of an instruction if the arguments determine it; otherwise NaN. */
static double value_of(const KFunc *f, const DevArg *args, KRef r, int depth) {
    const KIns *i = &f->ins[r];
    KSlot s = {i->imm};
    double x;
    if (depth == DEEP) return NAN;
    if (kir_is_const(f, r, &x)) return x;
    if (i->op == K_PARAM) s.bits = args[i->imm].bits;
    if (i->op == K_PARAM) return i->dtype == QS_I64 ? (double)s.I64 : i->dtype == QS_I32 ? (double)s.I32 : NAN;
    if (i->op == K_DIM) return (double)args[i->imm >> 8].dims[i->imm & 255];
    if (i->op == K_CAST) return value_of(f, args, i->a, depth + 1);
    if (i->op == K_NEG) return -value_of(f, args, i->a, depth + 1);
    if (i->op != K_ADD && i->op != K_SUB && i->op != K_MUL) return NAN;
    double a = value_of(f, args, i->a, depth + 1), b = value_of(f, args, i->b, depth + 1);
    return i->op == K_ADD ? a + b : i->op == K_SUB ? a - b : a * b;
}

static double iterations_of(const KFunc *f, const DevArg *args, const KIns *i) {
    double from = value_of(f, args, i->a, 0), to = value_of(f, args, i->b, 0), step = value_of(f, args, i->c, 0);
    double iterations = floor((to - from) / step) + 1;
    return iterations < 0 ? 0 : iterations;
}

static bool computes(const KIns *i) {
    if (i->dtype != QS_F32 && i->dtype != QS_F64) return false;
    return i->op == K_ADD || i->op == K_SUB || i->op == K_MUL || i->op == K_DIV || i->op == K_MIN || i->op == K_MAX ||
           i->op == K_MATH;
}

static double flops_of(const KFunc *f, const DevArg *args, const Launch *l) {
    double times[DEEP] = {1}, sum = 0;
    int depth = 0;
    for (int a = 0; a < l->rank; a++) times[0] *= (double)l->domain[a];
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (i->op == K_END) depth--;
        else if (i->op == K_IF || i->op == K_FOR || i->op == K_LOOP) {
            if (++depth == DEEP) return NAN;
            times[depth] = times[depth - 1] * (i->op == K_IF ? 1 : i->op == K_LOOP ? NAN : iterations_of(f, args, i));
        } else if (computes(i)) sum += times[depth];
    }
    return sum;
}

/* -- times --------------------------------------------------------------------------------------------------------- */

Where qreport_location(const KFunc *f) {
    KRef r = 1;
    while (r + 1 < f->nins && !f->ins[r].pos) r++; /* parameters of an expression have no position */
    return (Where){f->src, f->ins[r].pos};
}

static Str *place_of(qs_vm *vm, Where at) {
    char text[96];
    int line, col;
    if (!at.src) return NULL;
    const char *slash = strrchr(at.src->path, '/');
    qsource_line_col(at.src, at.pos, &line, &col);
    snprintf(text, sizeof text, "%.64s:%d", slash ? slash + 1 : at.src->path, line);
    return qstr_cname(qvm_ctx(vm), text);
}

static bool same_row(const Timing *a, const Timing *b) {
    return a->hash == b->hash && a->name == b->name && a->place == b->place;
}

static void add_call(qs_vm *vm, Report *r, Timing call) {
    Timing **at = &r->timings;
    while (*at && !same_row(*at, &call)) at = &(*at)->next;
    if (!*at) {
        *at = qmem_alloc(qvm_ctx(vm), sizeof **at);
        **at = (Timing){.hash = call.hash, .name = call.name, .place = call.place};
    }
    (*at)->calls++, (*at)->seconds += call.seconds, (*at)->bytes += call.bytes, (*at)->flops += call.flops;
}

static Report *profiling(qs_vm *vm) {
    Report *r = qvm(vm)->launches ? qvm(vm)->launches->report : NULL;
    return r && r->profile ? r : NULL;
}

qs_status qreport_before(qs_vm *vm, Device *d, double *start) {
    *start = NAN;
    if (!profiling(vm)) return QS_OK;
    TRY(d->ops->sync(d));
    return *start = qclock_seconds(), QS_OK;
}

qs_status qreport_after(qs_vm *vm, Device *d, const char *name, double start, double bytes, double flops) {
    if (isnan(start)) return QS_OK;
    TRY(d->ops->sync(d));
    add_call(vm, profiling(vm),
             (Timing){.name = qstr_cname(qvm_ctx(vm), name),
                      .place = place_of(vm, qvm_here(vm)),
                      .seconds = qclock_seconds() - start,
                      .bytes = bytes,
                      .flops = flops});
    return QS_OK;
}

/* Python's lock may be released here, so the caller consumes an interrupt that ends the launch. */
qs_status qreport_launch(Run *r, Program *p) {
    const KFunc *f = qlaunch_func(r);
    Device *d = r->device;
    DevFault *fault = r->form->version[r->which].checks ? &r->fault : NULL;
    if (!profiling(r->vm)) return d->ops->launch(d, p, &r->launch, f->nparams, r->bound.arg, fault);
    TRY(d->ops->sync(d));
    double start = qclock_seconds();
    TRY(d->ops->launch(d, p, &r->launch, f->nparams, r->bound.arg, fault));
    TRY(d->ops->sync(d));
    Str *place = place_of(r->vm, f->src ? qreport_location(f) : qvm_here(r->vm));
    add_call(r->vm, profiling(r->vm),
             (Timing){.hash = f->hash,
                      .name = f->name,
                      .place = place,
                      .seconds = qclock_seconds() - start,
                      .bytes = bytes_of(f, r->bound.arg),
                      .flops = flops_of(f, r->bound.arg, &r->launch)});
    return QS_OK;
}

/* -- limits of the device ------------------------------------------------------------------------------------------ */
enum { STREAM = 1 << 24, POINTS = 1 << 18, ITERATIONS = 512, REPEATS = 5 };

static const char stream_text[] =
    "kernel \"stream\" rank 1 {\n"
    "  param \"a\" array float32 rank 1 contiguous unit_last\n  param \"b\" array float32 rank 1 contiguous unit_last\n"
    "  param \"c\" array float32 rank 1 contiguous unit_last\n"
    "  %1 = pos int64 0\n  %2 = load float32 b$1 %1\n  %3 = load float32 c$2 %1\n  %4 = const float32 0.5\n"
    "  %5 = mul float32 %3 %4\n  %6 = add float32 %2 %5\n  store a$0 %1 %6\n}\n";

/* Writes the kernel with eight chains of multiplications and additions per position. */
static void chains_text(Text *t) {
    enum { CHAINS = 8 };
    qtext_printf(t,
                 "kernel \"chains\" rank 1 {\n  param \"a\" array float32 rank 1 contiguous unit_last\n"
                 "  %%1 = pos int64 0\n  %%2 = const float32 0.5\n  %%3 = const int64 1\n  %%4 = const int64 %d\n",
                 ITERATIONS);
    int n = 5;
    for (int c = 0; c < CHAINS; c++) {
        qtext_printf(t, "  %%%d = const float32 %d\n  %%%d = local float32 %%%d\n", n, c + 1, n + 1, n);
        n += 2;
    }
    qtext_printf(t, "  %%%d = for int64 %%3 %%4 %%3\n", n++);
    for (int c = 0; c < CHAINS; c++, n += 3)
        qtext_printf(t,
                     "    %%%d = get float32 %%%d\n    %%%d = mul float32 %%%d %%2\n"
                     "    %%%d = add float32 %%%d %%2\n    set %%%d %%%d\n",
                     n, 6 + 2 * c, n + 1, n, n + 2, n + 1, 6 + 2 * c, n + 2);
    qtext_puts(t, "  end\n");
    for (int c = 0; c < CHAINS; c++, n += 2) {
        qtext_printf(t, "  %%%d = get float32 %%%d\n", n, 6 + 2 * c);
        if (c) qtext_printf(t, "  %%%d = add float32 %%%d %%%d\n", n + 1, n, n - 1);
        else qtext_printf(t, "  %%%d = add float32 %%%d %%2\n", n + 1, n);
    }
    qtext_printf(t, "  store a$0 %%1 %%%d\n}\n", n - 1);
}

typedef struct {
    double bytes, flops;
} Limits; /* per second */

static qs_status run_limit(Device *d, Program *p, const KFunc *f, int64_t n, const DevArg *args, double *seconds) {
    Launch l = {.rank = 1, .domain = {n}, .any_block = true};
    qdevices_block(d, 1, l.domain, l.block);
    *seconds = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        double start = qclock_seconds();
        TRY(d->ops->launch(d, p, &l, f->nparams, args, NULL));
        TRY(d->ops->sync(d));
        *seconds = fmin(*seconds, qclock_seconds() - start);
    }
    return QS_OK;
}

static qs_status time_kernel(qs_vm *vm, Device *d, const Text *text, int64_t n, double *bytes, double *flops) {
    Arena arena;
    KFunc *f;
    Program *p = NULL;
    DevArg args[3] = {{0}};
    double seconds = NAN;
    qarena_init(&arena, qvm_ctx(vm));
    qs_status s = kir_parse(qvm_ctx(vm), &arena, text->s, text->len, &f);
    if (s == QS_OK) s = qdevprog_get(vm, f, d, &p);
    for (int i = 0; s == QS_OK && i < f->nparams; i++) {
        args[i] = (DevArg){.is_array = true, .rank = 1, .dims = {n}, .strides = {1}};
        s = d->ops->alloc(d, (size_t)n * sizeof(float), &args[i].block);
    }
    if (s == QS_OK) s = run_limit(d, p, f, n, args, &seconds);
    if (s == QS_OK) *bytes = bytes_of(f, args) / seconds;
    if (s == QS_OK) *flops = flops_of(f, args, &(Launch){.rank = 1, .domain = {n}}) / seconds;
    for (int i = 0; i < 3; i++)
        if (args[i].block) d->ops->free(d, args[i].block);
    if (p) qdevprog_release(vm, p);
    qarena_free(&arena);
    return s;
}

static qs_status measure_limits(qs_vm *vm, Device *d, Limits *out) {
    Text t;
    double unused;
    qs_status s = QS_OK;
    *out = (Limits){NAN, NAN};
    if (d->ops->code == CODE_KIR) return QS_OK; /* the evaluator is no hardware */
    qtext_init(&t, qvm_ctx(vm));
    qtext_puts(&t, stream_text);
    s = time_kernel(vm, d, &t, STREAM, &out->bytes, &unused);
    t.len = 0;
    chains_text(&t);
    if (s == QS_OK) s = time_kernel(vm, d, &t, POINTS, &unused, &out->flops);
    qtext_free(&t);
    return s;
}

/* -- the table ----------------------------------------------------------------------------------------------------- */
static void put_cell(Text *out, int width, int digits, double x) {
    if (isfinite(x)) qtext_printf(out, "%*.*f", width, digits, x);
    else qtext_printf(out, "%*s", width, "-");
}

static int by_time(const void *a, const void *b) {
    const Timing *x = *(Timing *const *)a, *y = *(Timing *const *)b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void put_row(Text *out, const Timing *t, const Limits *most) {
    char name[160];
    snprintf(name, sizeof name, "%.64s %s", t->name->s, t->place ? t->place->s : "");
    double bytes = t->bytes / t->seconds, flops = t->flops / t->seconds;
    qtext_printf(out, "%-36s %9lld", name, (long long)t->calls);
    put_cell(out, 11, 3, t->seconds * 1e3), put_cell(out, 11, 2, t->seconds * 1e6 / (double)t->calls);
    put_cell(out, 10, 2, bytes * 1e-9), put_cell(out, 10, 2, flops * 1e-9);
    put_cell(out, 7, 0, 100 * fmax(bytes / most->bytes, flops / most->flops));
    qtext_puts(out, "\n");
}

qs_status qreport_profile(qs_vm *vm, Text *out) {
    Report *r = qvm(vm)->launches->report;
    Limits most;
    Device *d;
    size_t n = 0;
    for (const Timing *t = r->timings; t; t = t->next) n++;
    if (!n) return qtext_puts(out, "profile: no kernel, loop or expression was launched\n"), QS_OK;
    TRY(qdevices_current(vm, &d));
    r->profile = false;
    TRY(measure_limits(vm, d, &most));
    Timing **all = qmem_alloc(qvm_ctx(vm), qmem_size(n, sizeof *all, 0)), **end = all;
    for (Timing *t = r->timings; t; t = t->next) *end++ = t;
    qsort(all, n, sizeof *all, by_time);
    qtext_printf(out, "%-36s %9s%11s%11s%10s%10s%7s\n", "kernel", "calls", "total ms", "mean us", "GB/s", "GFLOP/s",
                 "%");
    for (size_t i = 0; i < n; i++) put_row(out, all[i], &most);
    qmem_free(qvm_ctx(vm), all, n * sizeof *all);
    qtext_printf(out, "%s:", qdev_name(d));
    put_cell(out, 8, 2, most.bytes * 1e-9), qtext_puts(out, " GB/s of a = b + s*c,");
    put_cell(out, 9, 2, most.flops * 1e-9), qtext_puts(out, " GFLOP/s of x = x*s + t; %: of the nearer limit\n");
    return QS_OK;
}

/* -- the disk cache ------------------------------------------------------------------------------------------------ */
qs_status qreport_cache(qs_vm *vm, const char *what, Text *out) {
    Cache *k = qcache_open(qvm_ctx(vm), qvm(vm)->config.cache_dir, 0);
    qs_status s = QS_OK;
    CacheSize size = {0, 0, 0};
    if (*qcache_why(k)) s = qerr_set(qvm_ctx(vm), QS_EIO, "there is no kernel cache: %s", qcache_why(k));
    else if (!strcmp(what, "clear")) qtext_printf(out, "%zu entries removed\n", qcache_clear(k));
    else {
        size = qcache_size(k);
        qtext_printf(out, "%s: %zu entries, %.1f of %.0f MiB\n", qcache_path(k), size.entries,
                     (double)size.bytes / 0x1p20, (double)size.bound / 0x1p20);
    }
    qcache_close(qvm_ctx(vm), k);
    return s;
}
