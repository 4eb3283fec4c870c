/* api.c -- implements the public functions of quasar.h by calling the files that do the work. */
#include "lang/syntax/operators.h"
#include "vm/api/options.h"
#include "vm/array/index.h"
#include "vm/base/number.h"
#include "vm/base/parts.h"
#include "vm/base/warning.h"
#include "vm/interp/frame.h"
#include "vm/interp/interp.h"
#include "vm/launch/jit_hooks.h"
#include "vm/program/module.h"
#include "vm/program/names.h"
#include "vm/tape/tape.h"

#include "stdlib/stdlib.h"
#include "vm/launch/launch.h"
#include "vm/program/python.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- output -------------------------------------------------------------------------------------------------------- */

enum { OUT_PENDING = 32 * 1024 };

static void write_out(qs_vm *vm, int fd, const char *s, size_t n) {
    const qs_config *c = &qvm(vm)->config;
    Doing *d = &qvm_ctx(vm)->doing;
    if (qflag_is_up(&d->shown) || d->stands) d->ends(qvm_ctx(vm)); /* erases the progress line on the terminal */
    if (c->write) {
        c->write(c->ud, fd, s, n);
        return;
    }
    FILE *f = fd == 1 ? stdout : stderr;
    fwrite(s, 1, n, f);
    fflush(f);
}

void qvm_flush(qs_vm *vm) {
    Text *out = &qvm(vm)->out;
    if (out->len) write_out(vm, 1, out->s, out->len);
    out->len = 0;
}

void qvm_write(qs_vm *vm, const char *s, size_t n) {
    Machine *m = qvm(vm);
    qtext_add(&m->out, s, n);
    if (m->unbuffered || m->out.len >= OUT_PENDING || (m->line_buffered && n && memchr(s, '\n', n))) qvm_flush(vm);
}

void qvm_diagnostic(qs_vm *vm, const char *s, size_t n) {
    qvm_flush(vm);
    write_out(vm, 2, s, n);
}

/* Implements Ctx.warn: calls the host's callback, or prints a text. */
static qs_status report_warning(Ctx *ctx, Where w, const char *sentence) {
    qs_vm *vm = (qs_vm *)ctx;
    const qs_config *c = &qvm(vm)->config;
    if (c->warn) {
        qs_where at = {.file = w.src ? w.src->path : NULL};
        if (w.src) qsource_line_col(w.src, w.pos, &at.line, &at.column);
        return c->warn(c->ud, &at, sentence);
    }
    Text t;
    qtext_init(&t, ctx);
    if (w.src) qsource_report(&t, w, "warning", sentence);
    else qtext_printf(&t, "warning: %s\n", sentence);
    if (t.s) qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
    return QS_OK;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
/* Implements Ctx.reserve_used: the interpreter's next safe point raises an error that programs can catch
 * (qvm_attend). */
static void call_attention(Ctx *ctx) { qflag_raise(&qvm((qs_vm *)ctx)->attention); }

/* Implements Ctx.cannot_go_on; must not allocate memory. */
static void write_last_words(Ctx *ctx) {
    qs_vm *vm = (qs_vm *)ctx;
    char text[512];
    Where w = qvm_here(vm);
    int line = 0, column = 0;
    if (w.src) qsource_line_col(w.src, w.pos, &line, &column);
    int n =
        w.src ? snprintf(text, sizeof text, "%s:%d:%d: error: not enough memory to go on\n", w.src->path, line, column)
              : snprintf(text, sizeof text, "error: not enough memory to go on\n");
    qvm_diagnostic(vm, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* -- lifetime ------------------------------------------------------------------------------------------------------ */

void qs_config_init(qs_config *c) {
    enum { UNSET };
    *c = (qs_config){
        .size = sizeof *c,
#define OPTION(name, type, standard, check, uses, environment, value, help) .name = standard,
#include "vm/options.def"
    };
}

static void keep_config(qs_vm *vm, const qs_config *c) {
    Machine *m = qvm(vm);
    m->config = *c;
    qoptions_copy_texts(&m->config, &m->base);
    m->line_buffered = !c->write && isatty(1);
    m->unbuffered = !c->write && c->unbuffered;
    bool never = c->loops && !strcmp(c->loops, "never"), always = c->loops && !strcmp(c->loops, "always");
    m->loop_least = never ? INT64_MAX : always ? 1 : LOOP_LEAST;
    m->loop_look = qloop_next_look(m->loop_least);
    m->fuse_least = never ? SIZE_MAX : always ? 1 : FUSE_LEAST;
}

static qs_status open_parts(qs_vm *vm) {
    qtape_open(vm);
    qlaunch_open(vm);
    TRY(qinterp_open(vm)); /* first, because qs_close() needs its hooks even if an option is refused */
    TRY(qoptions_check(qvm_ctx(vm), &qvm(vm)->config));
    TRY(qmod_open(vm));
    qlib_register(vm);
    const qs_config *c = &qvm(vm)->config;
    /* Otherwise the first kernel opens the devices. */
    return c->device || c->memory_limit ? qdevices_open(vm, c->device) : QS_OK;
}

qs_status qs_open(const qs_config *config, qs_vm **out) {
    qs_config c;
    *out = NULL;
    qs_config_init(&c);
    if (config) {
        if (config->size != sizeof c) return QS_EVALUE;
        c = *config;
    }
    Machine *m = calloc(1, sizeof *m);
    if (!m) return QS_ENOMEM;
    *out = (qs_vm *)m;
    qctx_init(&m->base, c.precision);
    qtext_init(&m->out, &m->base);
    qtext_init(&m->report, &m->base);
    keep_config(*out, &c);
    m->base.nthreads = c.threads;
    m->base.warn = report_warning;
    m->base.reserve_used = call_attention, m->base.cannot_go_on = write_last_words;
    m->base.llvmlite = m->config.llvmlite;
    m->base.no_warnings = c.no_warnings;
    return open_parts(*out);
}

void qs_close(qs_vm *vm) {
    if (!vm) return;
    Machine *m = qvm(vm);
    qs_error_clear(vm);
    if (m->python) m->python->close(vm);
    qvm_flush(vm);
    qframe_close(vm);
    qmod_close(vm);
    qloop_report_left(vm);
    qlib_close(vm);
    qlaunch_close(vm);
    if (m->python) m->python->closed(vm);
    qtext_free(&m->out);
    qtext_free(&m->report);
    qtape_close(vm);
    qctx_close(&m->base);
    free(m);
}

const char *qs_version(void) { return QUASAR_VERSION; }
void *qs_userdata(qs_vm *vm) { return qvm(vm)->config.ud; }

/* -- running ------------------------------------------------------------------------------------------------------- */

/* Shows pending output before control returns to the host program. */
static qs_status finish_call(qs_vm *vm, qs_status s) {
    if (qvm(vm)->depth == 0) {
        qs_status shown = qfigure_flush(vm); /* also after an error, which then takes precedence */
        s = s == QS_OK ? shown : s;
        qvm_flush(vm);
    }
    return s;
}

static qs_status load_text(qs_vm *vm, const char *name, const char *src, size_t n) {
    Module *m;
    TRY(qmod_load_text(vm, name, src, n, &m));
    if (!m->left) qmod_use(vm, qvm(vm)->session, m);
    return qmod_run(vm, m);
}

qs_status qs_load(qs_vm *vm, const char *name, const char *src, size_t n) {
    return finish_call(vm, load_text(vm, name, src, n));
}

qs_status qs_eval(qs_vm *vm, const char *src, qs_value *out) {
    qs_value v = qs_nil();
    qs_status s = qmod_eval(vm, src, strlen(src), &v);
    if (s == QS_OK && out) *out = v;
    else qval_release(vm, v);
    return finish_call(vm, s);
}

/* -- main: called in the file that is started, with the arguments of the command ----------------------------------- */

enum { MAIN_ARGS = 64 };

static int count_required(const Func *f) {
    int required = 0;
    for (int i = 0; i < f->nparams; i++)
        if (!f->params[i].variadic && !f->params[i].init) required = i + 1;
    return required;
}

static bool main_takes(const Func *f, int n) {
    int most = f->nparams && f->params[f->nparams - 1].variadic ? MAIN_ARGS : f->nparams;
    return f->qual == Q_HOST && n >= count_required(f) && n <= most && n <= MAIN_ARGS;
}

/* Finds main(…) in the file: the last definition that takes the given arguments, else one without parameters. */
static const Func *find_main(const Unit *u, int *nargs) {
    const Func *any = NULL;
    int given = *nargs;
    for (int pass = 0; pass < 2; pass++, *nargs = 0)
        for (int i = u->nfuncs; i-- > 0;) {
            const Func *f = u->funcs[i]->u.func;
            if (strcmp(f->name->s, "main") != 0) continue;
            if (main_takes(f, *nargs) && (pass == 0 || f->nparams == 0)) return f;
            any = f;
        }
    *nargs = given;
    return any;
}

static void find_name(void *ud, Node **child) {
    struct {
        const char *name;
        const Node *found;
    } *x = ud;
    if ((*child)->kind == N_IDENT && !strcmp((*child)->u.ident.name->s, x->name)) x->found = *child;
    else qast_children(*child, find_name, ud);
}

/* Returns the first mention of main in the statements of the file; NULL: none. */
static const Node *find_own_call(const Unit *u) {
    struct {
        const char *name;
        const Node *found;
    } x = {"main", NULL};
    for (int i = 0; i < u->main->body.n && !x.found; i++) find_name(&x, &u->main->body.at[i]);
    return x.found;
}

/* Converts an argument to a number or truth value if the parameter is declared so and the text is one; else passes the
 * text. */
static qs_status convert_argument(qs_vm *vm, const Func *f, int i, const char *text, qs_value *out) {
    const Type *t = i < f->nparams && f->params[i].type ? qvm_param_type(vm, f, i) : NULL;
    char *end;
    double x = qnum_read(text, &end);
    if (t && t->kind == TY_NUM && end != text && !*end) return *out = qs_num(x), QS_OK;
    if (t && t->kind == TY_NUM && t->dtype == QS_B1 && (!strcmp(text, "true") || !strcmp(text, "false")))
        return *out = qs_bool(*text == 't'), QS_OK;
    return qs_string(vm, text, strlen(text), out);
}

static qs_status call_with(qs_vm *vm, const Func *f, qs_value fn, int n) {
    qs_value in[MAIN_ARGS];
    int made = 0;
    qs_status s = QS_OK;
    for (; made < n && s == QS_OK; made += s == QS_OK)
        s = convert_argument(vm, f, made, qvm(vm)->config.argv[made], &in[made]);
    if (s == QS_OK) s = qvm_call(vm, fn, n, in, 0, NULL);
    while (made-- > 0) qval_release(vm, in[made]);
    return s;
}

static qs_status not_called(qs_vm *vm, Where at, const Func *f, int given) {
    int least = count_required(f), most = f->nparams;
    char range[32];
    if (most && f->params[most - 1].variadic) snprintf(range, sizeof range, "at least %d", least);
    else if (least < most) snprintf(range, sizeof range, "%d to %d", least, most);
    else snprintf(range, sizeof range, "%d", most);
    return qerr_at(qvm_ctx(vm), QS_EVALUE, at,
                   "main is not called: it takes %s argument%s, and behind the file there "
                   "%s %d",
                   range, least == most && most == 1 ? "" : "s", given == 1 ? "is" : "are", given);
}

/* Returns whether the statements of the file, which have run, have called main: a function is compiled at its first
 * call. */
static bool was_called(const Unit *u) {
    bool called = false;
    for (int i = 0; i < u->nfuncs; i++) {
        const Func *f = u->funcs[i]->u.func;
        called |= f->machine && !strcmp(f->name->s, "main");
    }
    return called;
}

/* The file has called main itself, so it does not run again.  Warns if main has no parameters, because the call is then
 * unnecessary. */
static qs_status called_already(qs_vm *vm, const Unit *u, const Func *f) {
    const Node *at = find_own_call(u);
    if (f->nparams || !at) return QS_OK;
    return qwarn_at(qvm_ctx(vm), qast_where(u, at->pos),
                    "main runs by itself when its file is started, and does so "
                    "once: this call is not needed");
}

static qs_status call_main(qs_vm *vm, const Module *m) {
    const Unit *u = m->units[0];
    uint64_t slot;
    int given = qvm(vm)->config.argc, n = given;
    const Func *f = find_main(u, &n);
    if (!f || !qmap_get(&m->names, f->name, &slot)) return QS_OK;
    if (was_called(u)) return called_already(vm, u, f);
    if (!main_takes(f, n)) {
        if (f->qual != Q_HOST) return QS_OK;
        return not_called(vm, qast_where(u, f->pos), f, given);
    }
    qs_value fn = qval_retain(*qvm_global(vm, (uint64_t)slot));
    qs_status s = fn.kind == QS_FUNCTION ? call_with(vm, f, fn, n) : QS_OK;
    qval_release(vm, fn);
    return s;
}

static qs_status run_file(qs_vm *vm, const char *path) {
    Module *m;
    TRY(qmod_load_file(vm, path, &m));
    qmod_use(vm, qvm(vm)->session, m);
    qvm(vm)->main_module = m;
    TRY(qmod_run(vm, m));
    return call_main(vm, m);
}

qs_status qs_run_file(qs_vm *vm, const char *path) { return finish_call(vm, run_file(vm, path)); }

qs_status qs_call(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nout, qs_value *out) {
    return finish_call(vm, qvm_call(vm, fn, nin, in, nout, out));
}

bool qs_has(const char *what) {
    int part = qparts_has(what);
    if (part >= 0) return part;
    int library = qlib_has(what); /* checked first, because Python modules may have the same names */
    return qdevices_has(what) || (library < 0 ? qpython_has(what) : library);
}

bool qs_exit_code(qs_vm *vm, int *code) {
    if (qvm(vm)->exiting && code) *code = qvm(vm)->exit_code;
    return qvm(vm)->exiting;
}

void qs_interrupt(qs_vm *vm) {
    qflag_raise(&qvm(vm)->interrupted);
    qflag_raise(&qvm(vm)->attention);
    if (qvm(vm)->python) qvm(vm)->python->interrupt();
}

bool qvm_take_interrupt(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (!qflag_is_up(&m->interrupted)) return false;
    qflag_lower(&m->interrupted);
    if (m->python) m->python->forget_interrupt(vm);
    return true;
}

bool qvm_is_stuck(qs_vm *vm, const char *what_follows) {
    static const char sentence[] = "interrupted: the driver cannot stop the kernel that it runs or compiles: ";
    enum { LONG = 200000000 }; /* ns; a shorter wait ends soon, or another interrupt follows */
    int64_t since = qsince_get(&qvm(vm)->waits);
    if (!since || (int64_t)qclock_ns() - since < LONG) return false;
    if (qsince_get(&qvm(vm)->reported) == since) return true;
    qsince_set(&qvm(vm)->reported, since);
    ssize_t reported = write(STDERR_FILENO, sentence, sizeof sentence - 1);
    if (reported > 0) reported = write(STDERR_FILENO, what_follows, strlen(what_follows));
    return false;
}

qs_status qvm_attend(qs_vm *vm) {
    Machine *m = qvm(vm);
    qflag_lower(&m->attention);
    if (m->base.short_of_memory) {
        m->base.short_of_memory = false;
        return qerr_set(&m->base, QS_ENOMEM, "not enough memory");
    }
    if (qvm_take_interrupt(vm)) return qerr_set(&m->base, QS_EINTERRUPT, "interrupted");
    if (m->windows) TRY(m->windows(vm));
    return m->python ? m->python->yield(vm) : QS_OK;
}

/* -- errors -------------------------------------------------------------------------------------------------------- */

qs_status qs_fail(qs_vm *vm, qs_status s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    qerr_vset(qvm_ctx(vm), s, (Where){NULL, 0}, fmt, ap);
    va_end(ap);
    return s;
}

/* Completes the message with a hint that is computed only when the error is read, because most Python errors are caught
 * without being read. */
static void complete_error(qs_vm *vm) {
    ErrorState *e = &qvm_ctx(vm)->err;
    const Python *python = qvm(vm)->python;
    qs_value hint;
    if (!python || e->payload.kind != QS_FOREIGN || python->hint(vm, e->payload, &hint) != QS_OK) return;
    const Str *s = hint.u.p;
    size_t n = strlen(e->text);
    bool there = n >= s->len && !strcmp(e->text + n - s->len, s->s);
    if (!there) qerr_more(qvm_ctx(vm), s->s);
    qval_release(vm, hint);
}

const char *qs_error(qs_vm *vm) {
    complete_error(vm);
    return qvm_ctx(vm)->err.status ? qvm_ctx(vm)->err.text : NULL;
}

/* Returns whether the call chain has only one frame, whose line is already shown. */
static bool is_plain(const ErrorState *e) {
    int at = 0, line = 0, col;
    Where w = e->frames[0].where;
    if (e->nframes != 1 || w.src != e->where.src) return e->nframes == 0;
    if (w.src) qsource_line_col(w.src, w.pos, &at, &col), qsource_line_col(w.src, e->where.pos, &line, &col);
    return at == line;
}

static void add_chain(const ErrorState *e, Text *t) {
    for (int i = 0; !is_plain(e) && i < e->nframes; i++) {
        int line = 0, col = 0;
        Where w = e->frames[i].where;
        if (w.src) qsource_line_col(w.src, w.pos, &line, &col);
        qtext_printf(t, "  in %s, %s:%d\n", e->frames[i].function->s, w.src ? w.src->path : "?", line);
    }
    if (e->nlost) qtext_printf(t, "  … and %d more calls\n", e->nlost);
}

/* Adds the call chain of eval below the report of a rejected text. */
void qvm_report_calls(qs_vm *vm) {
    ErrorState calls = {.nframes = 0};
    calls.nframes = qframe_chain(vm, calls.frames, &calls.nlost);
    if (qvm(vm)->refused) add_chain(&calls, &qvm(vm)->report);
}

static void add_foreign_report(qs_vm *vm, qs_value payload, Text *t) {
    qs_value text;
    const Foreign *f = payload.kind == QS_FOREIGN ? payload.u.p : NULL;
    if (!f || !f->ftype->report || f->ftype->report(vm, f->p, &text) != QS_OK) return;
    qtext_add(t, ((Str *)text.u.p)->s, ((Str *)text.u.p)->len);
    qval_release(vm, text);
}

const char *qs_error_report(qs_vm *vm) {
    Machine *m = qvm(vm);
    const ErrorState *e = &m->base.err;
    if (!e->status) return NULL;
    complete_error(vm);
    if (m->base.doing.stands) m->base.doing.ends(&m->base); /* erases the progress line */
    if (!m->refused) {
        qtext_clear(&m->report);
        if (e->where.src) qsource_report(&m->report, e->where, "error", e->text);
        else qtext_printf(&m->report, "error: %s\n", e->text);
        add_chain(e, &m->report);
        add_foreign_report(vm, e->payload, &m->report);
    }
    return m->report.lost ? e->text : m->report.s; /* the message alone needs no memory */
}

bool qs_error_frame(qs_vm *vm, int depth, qs_where *out) {
    const ErrorState *e = &qvm_ctx(vm)->err;
    if (!e->status || depth < 0 || (depth > 0 && depth >= e->nframes)) return false;
    Where w = e->nframes ? e->frames[depth].where : e->where;
    if (depth == 0) w = e->where;
    *out = (qs_where){w.src ? w.src->path : NULL, depth < e->nframes ? e->frames[depth].function->s : NULL, 0, 0};
    if (w.src) qsource_line_col(w.src, w.pos, &out->line, &out->column);
    return true;
}

void qs_error_clear(qs_vm *vm) {
    qval_release(vm, qvm_ctx(vm)->err.payload);
    qerr_clear(qvm_ctx(vm));
    qvm(vm)->refused = false;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

qs_value qs_retain(qs_value v) { return qval_retain(v); }
void qs_release(qs_vm *vm, qs_value v) { qval_release(vm, v); }
qs_status qs_complex(qs_vm *vm, double re, double im, qs_value *out) { return qval_complex(vm, re, im, out); }

qs_status qs_string(qs_vm *vm, const char *s, size_t n, qs_value *out) { return qval_string(vm, s, n, out); }

static qs_status not_a(qs_vm *vm, const char *wanted, qs_value v) {
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s is wanted, got %s", wanted, qval_type_name(vm, v));
}

qs_status qs_to_num(qs_vm *vm, qs_value v, double *out) {
    qs_value one;
    if (qval_is_number(v)) return *out = qval_number(v), QS_OK;
    if (v.kind != QS_ARRAY || qval_array(v)->count != 1) return not_a(vm, "a number", v);
    TRY(qarr_get(vm, v.u.p, 0, &one));
    bool ok = qval_is_number(one);
    if (ok) *out = qval_number(one);
    qval_release(vm, one);
    return ok ? QS_OK : not_a(vm, "a number", v);
}

qs_status qs_to_int(qs_vm *vm, qs_value v, int64_t *out) {
    double x;
    if (v.kind == QS_INT) return *out = v.u.i, QS_OK;
    TRY(qs_to_num(vm, v, &x));
    if (!(x >= -0x1p63 && x < 0x1p63) || x != trunc(x))
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "an integer is wanted, got %.15g", x);
    *out = (int64_t)x;
    return QS_OK;
}

qs_status qs_to_complex(qs_vm *vm, qs_value v, double out[2]) {
    out[1] = 0;
    if (v.kind != QS_COMPLEX) return qs_to_num(vm, v, &out[0]);
    out[0] = ((Complex *)v.u.p)->re;
    out[1] = ((Complex *)v.u.p)->im;
    return QS_OK;
}

const char *qs_to_string(qs_value v, size_t *n) {
    if (v.kind != QS_STRING) return NULL;
    if (n) *n = ((Str *)v.u.p)->len;
    return ((Str *)v.u.p)->s;
}

qs_status qs_format(qs_vm *vm, qs_value v, qs_value *out) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    return qval_text(vm, &t, qfmt_value(vm, v, &t), out);
}

const char *qs_type_name(qs_vm *vm, qs_value v) {
    if (v.kind != QS_FOREIGN) return qval_type_name(vm, v);
    const char *name = ((Foreign *)v.u.p)->ftype->name;
    return name ? name : qtype_name(qval_type(vm, v));
}

qs_status qs_binary(qs_vm *vm, const char *op, qs_value a, qs_value b, qs_value *out) {
    for (int i = 0; i < OP_NEG; i++)
        if (strcmp(qop_text((Op)i), op) == 0) return qops_binary(vm, (Op)i, a, b, out);
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "unknown operator %s", op);
}

/* -- arrays -------------------------------------------------------------------------------------------------------- */

qs_status qs_array(qs_vm *vm, qs_dtype d, int rank, const int64_t *dims, qs_value *out) {
    Array *a;
    TRY(qarr_new(vm, d, rank, dims, true, &a));
    *out = qarr_value(a);
    return QS_OK;
}

static qs_status device_of(qs_vm *vm, int index, Device **out) {
    *out = NULL;
    return index < 0 ? QS_OK /* host memory */ : qdevices_get(vm, index, out);
}

qs_status qs_array_wrap(qs_vm *vm, const qs_array_info *info, void *data, int device, void (*release)(void *),
                        void *owner, qs_value *out) {
    Array *a;
    Wrapped m = {.data = (uintptr_t)data, .release = release, .owner = owner};
    qs_status s = device_of(vm, device, &m.device);
    if (s != QS_OK && release) release(owner);
    TRY(s);
    TRY(qarr_wrap(vm, info, &m, &a));
    *out = qarr_value(a);
    return QS_OK;
}

bool qs_array_describe(qs_value v, qs_array_info *out) {
    if (v.kind != QS_ARRAY) return false;
    const Array *a = v.u.p;
    *out = (qs_array_info){.dtype = (qs_dtype)a->dtype,
                           .rank = a->ndim,
                           .readonly = a->buf->readonly,
                           .nbytes = a->count * qdtype_size((qs_dtype)a->dtype)};
    qarr_shape(a, out->dims, out->strides);
    return true;
}

static void give_back(qs_vm *vm, qs_value v, Device *d, qs_access mode) {
    (void)qbuf_unlock(qvm_ctx(vm), qval_array(v)->buf, d, mode);
}

/* The pointer is passed to code that does not use the VM's queue, so work queued on the device is completed first. */
qs_status qs_lock(qs_vm *vm, qs_value v, int device, qs_access mode, void **ptr) {
    Device host = {.memory = HOST_MEMORY, .named = "the host"}, *d;
    DevPtr p;
    if (v.kind != QS_ARRAY) return not_a(vm, "an array", v);
    if (qtape_forbids(vm, v.u.p)) return qtape_forbidden(vm);
    if (mode != QS_READ) TRY(qarr_touch(vm, v.u.p));
    TRY(device_of(vm, device, &d));
    if (!d) d = &host;
    qs_status s = qbuf_lock(qvm_ctx(vm), qval_array(v)->buf, d, mode, &p);
    if (s != QS_OK) return qarr_lock_failed(vm, qval_array(v), NULL, s);
    if (d->memory != HOST_MEMORY && (s = d->ops->sync(d)) != QS_OK) return give_back(vm, v, d, mode), s;
    *ptr = (void *)(uintptr_t)(p + qval_array(v)->offset * qdtype_size((qs_dtype)qval_array(v)->dtype));
    return QS_OK;
}

qs_status qs_unlock(qs_vm *vm, qs_value v, int device, qs_access mode) {
    Device host = {.memory = HOST_MEMORY, .named = "the host"}, *d;
    if (v.kind != QS_ARRAY) return not_a(vm, "an array", v);
    TRY(device_of(vm, device, &d));
    if (!d) d = &host;
    return qarr_lock_failed(vm, qval_array(v), NULL, qbuf_unlock(qvm_ctx(vm), qval_array(v)->buf, d, mode));
}

/* -- containers and globals ---------------------------------------------------------------------------------------- */

qs_status qs_cell(qs_vm *vm, int n, const qs_value *items, qs_value *out) {
    Cell *c;
    int64_t dims[1] = {n};
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, dims, &c));
    for (int i = 0; i < n; i++) c->items[i] = qval_retain(items[i]);
    *out = qval_object(QS_CELL, c);
    return QS_OK;
}

/* The key is a field name, an index, or a cell with one index per dimension. */
qs_status qs_get(qs_vm *vm, qs_value v, qs_value key, qs_value *out) {
    FieldCache none = {0};
    if (key.kind == QS_STRING) {
        Str *name = key.u.p;
        return qops_get_field(vm, v, qstr_name(qvm_ctx(vm), name->s, name->len), &none, out);
    }
    const Cell *c = key.kind == QS_CELL ? key.u.p : NULL;
    const Foreign *f = v.kind == QS_FOREIGN ? v.u.p : NULL;
    if (f && f->ftype->get_item) return f->ftype->get_item(vm, f->p, c ? (int)c->count : 1, c ? c->items : &key, out);
    if (f && f->ftype->get) return f->ftype->get(vm, f->p, key, out);
    return qidx_get(vm, v, &(Subscript){.n = c ? (int)c->count : 1, .at = c ? c->items : &key}, out);
}

qs_status qs_set(qs_vm *vm, qs_value v, qs_value key, qs_value x) {
    FieldCache none = {0};
    if (key.kind == QS_STRING) {
        Str *name = key.u.p;
        return qops_set_field(vm, v, qstr_name(qvm_ctx(vm), name->s, name->len), &none, x);
    }
    const Cell *c = key.kind == QS_CELL ? key.u.p : NULL;
    const Foreign *f = v.kind == QS_FOREIGN ? v.u.p : NULL;
    if (f && f->ftype->set_item) return f->ftype->set_item(vm, f->p, c ? (int)c->count : 1, c ? c->items : &key, x);
    if (f && f->ftype->set) return f->ftype->set(vm, f->p, key, x);
    return qidx_set(vm, v, &(Subscript){.n = c ? (int)c->count : 1, .at = c ? c->items : &key}, x);
}

qs_status qs_global(qs_vm *vm, const char *name, qs_value *out) { return qvm_lookup(vm, name, out); }

qs_status qs_set_global(qs_vm *vm, const char *name, qs_value v) {
    int slot = qnames_slot(vm, qvm(vm)->session, qstr_cname(qvm_ctx(vm), name));
    qinterp_put(vm, qvm_global(vm, (uint64_t)slot), qval_retain(v));
    return QS_OK;
}

/* -- extending ----------------------------------------------------------------------------------------------------- */

qs_status qs_define(qs_vm *vm, const qs_native_def *defs, int n) {
    for (int i = 0; i < n; i++) qvm_builtin(vm, defs[i].name, qval_object(QS_FUNCTION, qfn_native(vm, &defs[i])));
    return QS_OK;
}

qs_status qs_foreign(qs_vm *vm, const qs_foreign_type *type, void *p, qs_value *out) {
    *out = qval_object(QS_FOREIGN, qobj_foreign(vm, type, p));
    return QS_OK;
}

void *qs_foreign_ptr(qs_value v, const qs_foreign_type *type) {
    return v.kind == QS_FOREIGN && ((Foreign *)v.u.p)->ftype == type ? ((Foreign *)v.u.p)->p : NULL;
}

/* -- devices ------------------------------------------------------------------------------------------------------- */

int qs_device_count(qs_vm *vm) {
    ErrorState kept = qvm_ctx(vm)->err;
    if (!qvm(vm)->devices && qdevices_open(vm, qvm(vm)->config.device)) qvm_ctx(vm)->err = kept;
    return qvm(vm)->ndevices;
}

bool qs_device(qs_vm *vm, int index, qs_device_info *out) {
    if (index < 0 || index >= qs_device_count(vm)) return false;
    Device *d = &qvm(vm)->devices[index];
    *out = (qs_device_info){qdev_name(d), d->ops->kind, index, d->total_memory, d == qvm(vm)->device};
    return true;
}

qs_status qs_sync(qs_vm *vm, int device) { return qdevices_sync(vm, device); }

qs_status qs_use_device(qs_vm *vm, const char *wanted) { return qdevices_use_named(vm, wanted); }
