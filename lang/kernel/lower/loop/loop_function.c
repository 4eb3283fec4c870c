/* loop_function.c -- compiles functions that call themselves, and the functions that they call.
 *
 *     entry      a serial kernel: takes the arguments from parameters, calls function 0, stores its results
 *     functions  one for each function and kinds of its arguments (Spec); KFunc.callees
 *
 * The statements are lowered as in a loop.  A called function is inlined unless it is being lowered already.  Then it
 * becomes a CALL, which also covers recursion through several functions.  Array and function arguments must be the same
 * in all calls; they are part of the Spec.
 *
 * Repeated passes find the kinds of the results.  While the results of a function are unknown, a call of it ends its
 * statement, as an error would, so that the branches without recursion are known first (Walk.pending).
 *
 * The code ends if anything fails or a warning is due.  The VM then takes back what it has stored in arrays, and the
 * interpreter runs the same call again, so errors, their lines and the call stack do not differ from interpreted calls.
 * Argument 0 of each function is the number of frames that may still be opened.
 *
 * If an index, a remainder or a rounded quotient needs the twin of a parameter, all functions are compiled again, and
 * assume that this parameter is integral (Expected); each call tests it.  They also assume that a modulus is positive.
 * If an assumption fails, the VM compiles the function without assumptions.
 *
 * A loop that calls such a function has the functions as callees of its exact version, its only one.  If a call fails,
 * the loop ends and its stores are taken back.  Then it is compiled without assumptions, or the interpreter runs it. */
#include "lang/kernel/lower/loop/loop_internal.h"
#include "lang/kernel/passes/passes.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 12, SPECS = 24 };

#define EXPECTED_MOST 0x1p32 /* the magnitude of numbers that are passed as INTEGRAL */

/* How an argument is passed.  A number that is certainly integral is an INT for a parameter that converts it to one.
 * INTEGRAL: a number that is assumed to be integral; CHAR: the code of a character; MIXED: a number of several types,
 * as MIXED_SLOTS values; FIXED: a value that is the same in each call, such as an array. */
typedef enum { PASS_NUM, PASS_INTEGRAL, PASS_INT, PASS_BOOL, PASS_CHAR, PASS_MIXED, PASS_FIXED } Pass;

/* A LOOP_MIXED in arguments and results: the value as float64, the int64 if it is an int, and its type (LoopKind). */
enum { MIXED_SLOTS = 3 };
static const uint8_t mixed_dtypes[MIXED_SLOTS] = {QS_F64, QS_I64, QS_I64};

typedef struct Spec {
    struct Spec *next;
    Loops L; /* what its passes have learned */
    InlineFrame root;
    Func *func;
    int source, number, nargs, wanted;
    uint8_t pass[KIR_SLOTS];
    Value fixed[KIR_SLOTS];
    bool known; /* its results are */
    uint8_t result[LOOP_RESULTS];
    KFunc *made;
} Spec;

/* A global variable, or a field of an object, that a function reads. */
typedef struct {
    const Sym *sym;
    int object;
    const Str *field;
} OutsideRead;

/* The parameters of a function that are assumed to be integral, as bits. */
enum { EXPECTING = 16 };
typedef struct {
    const Func *func;
    uint64_t params;
} Expected;

struct LoopModule {
    Arena *arena;
    const LoopJob *job;
    LoopFunction *out;
    LoopResult report; /* receives the reason of a refusal */
    Spec *first, **last;
    int nspecs;
    bool again; /* another round is needed */
    Expected expected[EXPECTING];
    int nexpected;
    bool assumes; /* parameters are expected to be integral */
    bool restart; /* a parameter is expected to be integral, which existing functions do not know */
    KParam *params;
    LoopBind *binds;
    uint32_t nparams, cap_params, cap_binds;
    OutsideRead *reads;
    uint32_t nreads, cap_reads;
};

/* -- parameters, which all functions share ------------------------------------------------------------------------- */
static LoopModule *module_of(const Loops *L) { return L->module ? L->module : L->callees; }

static void sync_params(Loops *L) {
    const LoopModule *m = module_of(L);
    while (L->f->nparams < (int)m->nparams) kir_param(L->f, &m->params[L->f->nparams]);
}

static void add_param(Ctx *c, LoopModule *m, const KParam *p, LoopBind b) {
    qmem_grow(c, &m->params, &m->cap_params, m->nparams, sizeof *m->params);
    qmem_grow(c, &m->binds, &m->cap_binds, m->nparams, sizeof *m->binds);
    m->params[m->nparams] = *p, m->binds[m->nparams++] = b;
}

int kfunction_param(Loops *L, const KParam *p, LoopBind b) {
    LoopModule *m = module_of(L);
    sync_params(L);
    for (uint32_t i = 0; i < m->nparams; i++)
        if (m->binds[i].kind == b.kind && m->binds[i].index == b.index && m->params[i].dtype == p->dtype) return (int)i;
    add_param(L->c, m, p, b);
    return sync_params(L), (int)m->nparams - 1;
}

/* -- values from outside ------------------------------------------------------------------------------------------- */
void kfunction_reads(Loops *L, const Sym *sym, int object, const Str *field) {
    LoopModule *m = L->module;
    qmem_grow(L->c, &m->reads, &m->cap_reads, m->nreads, sizeof *m->reads);
    m->reads[m->nreads++] = (OutsideRead){sym, object, field};
}

/* A function would read the value that a variable or field had before the loop. */
static qs_status check_reads(Loops *L) {
    const LoopModule *m = L->callees;
    L->pos = L->job->loop->pos;
    for (uint32_t i = 0; i < m->nreads; i++) {
        const OutsideRead *r = &m->reads[i];
        const Var *v = r->field ? kloop_field_var(L, r->object, r->field) : kloop_find_var(L->root, r->sym);
        if (v) return kloop_decline(L, L->pos, "it sets %s, which a function reads that calls itself", v->sym->name->s);
    }
    return QS_OK;
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */
static bool is_expected(const LoopModule *m, const Func *f, int param) {
    for (int i = 0; i < m->nexpected; i++)
        if (m->expected[i].func == f) return m->expected[i].params >> param & 1;
    return false;
}

static int slots_of(uint8_t pass) { return pass == PASS_FIXED ? 0 : pass == PASS_MIXED ? MIXED_SLOTS : 1; }

void kfunction_expect_int(Loops *L, int slot) {
    LoopModule *m = L->module;
    const Spec *s = L->spec;
    int param = 0, k = 0;
    if (!m || !m->job->may_assume || !s || slot < 1) return;
    while (param < s->nargs && (k += slots_of(s->pass[param])) < slot) param++;
    if (param >= s->nargs || s->pass[param] != PASS_NUM || is_expected(m, s->func, param)) return;
    for (k = 0; k < m->nexpected && m->expected[k].func != s->func;) k++;
    if (k == EXPECTING) return;
    if (k == m->nexpected) m->expected[m->nexpected++] = (Expected){.func = s->func};
    m->expected[k].params |= (uint64_t)1 << param;
    m->restart = m->assumes = true;
}

static qs_dtype dtype_of(uint8_t pass) { return pass == PASS_NUM ? QS_F64 : pass == PASS_BOOL ? QS_B1 : QS_I64; }

static qs_dtype dtype_of_kind(uint8_t kind) { return kind == LOOP_NUM ? QS_F64 : kind == LOOP_BOOL ? QS_B1 : QS_I64; }

static bool is_integer_param(const Param *p, qs_dtype *d) {
    return p->type && p->type->kind == TE_NAME && qdtype_from_name(p->type->name->s, d) && qdtype_is_int(*d);
}

uint8_t kfunction_kind(const Func *f, int param, uint8_t kind, double v) {
    qs_dtype d;
    bool converts = kind == LOOP_NUM && fabs(v) <= LOOP_EXACT_MOST && v == floor(v);
    return converts && is_integer_param(&f->params[param], &d) ? LOOP_INT : kind;
}

static qs_status pass_of(Loops *L, const Func *f, int param, const Value *v, uint8_t *out) {
    const Param *p = &f->params[param];
    bool function = v->what == WHAT_FUNCTION && !v->caught;
    *out = v->what == WHAT_CHAR ? PASS_CHAR : PASS_FIXED;
    if (v->what == WHAT_ARRAY || v->what == WHAT_OBJECT || function) return QS_OK;
    if (v->what == WHAT_STRING || v->what == WHAT_CHAR) return QS_OK;
    if (v->what != WHAT_NUMBER || v->num.kind == LOOP_COMPLEX)
        return kloop_decline(L, L->pos, "a call of itself with an argument that is made in it and is no number");
    if (v->num.kind == LOOP_MIXED) return *out = PASS_MIXED, QS_OK;
    qs_dtype d;
    bool converts = v->num.kind == LOOP_NUM && kloop_twin(L, v->num) && is_integer_param(p, &d);
    *out = v->num.kind == LOOP_INT || converts ? PASS_INT : v->num.kind == LOOP_BOOL ? PASS_BOOL : PASS_NUM;
    if (*out == PASS_NUM && is_expected(module_of(L), f, param)) *out = PASS_INTEGRAL;
    return QS_OK;
}

/* The twin of a number that is assumed to be integral; *fits becomes false unless it is, and not -0. */
static KRef passed_integral(Loops *L, Number n, KRef *fits) {
    (void)kloop_expect_int(L, &n);
    KRef t = kloop_twin(L, n), x = kloop_real(L, n), zero = kloop_f64(L, 0),
         most = kloop_i64(L, (int64_t)EXPECTED_MOST);
    if (!t) {
        KRef size = kloop_op(L, K_ABS, x, 0);
        *fits = kloop_op(L, K_AND, *fits, kloop_op(L, K_LE, size, kloop_f64(L, EXPECTED_MOST)));
        t = kloop_cast(L, x, QS_I64);
        *fits = kloop_op(L, K_AND, *fits, kloop_op(L, K_EQ, kloop_cast(L, t, QS_F64), x));
    } else if (n.lo < -EXPECTED_MOST || n.hi > EXPECTED_MOST)
        *fits = kloop_op(L, K_AND, *fits, kloop_op(L, K_LE, kloop_op(L, K_ABS, t, 0), most));
    if (n.unsigned_zero) return t;
    KRef positive = kloop_op(L, K_LT, zero, kloop_op(L, K_DIV, kloop_f64(L, 1), x));
    *fits = kloop_op(L, K_AND, *fits, kloop_op(L, K_OR, kloop_op(L, K_NE, x, zero), positive));
    return t;
}

/* The parts of a number as mixed_dtypes has them. */
static void split_mixed(Loops *L, Number n, KRef *part) {
    Number m = kloop_mixed(L, n);
    KRef type = kloop_i64(L, LOOP_NUM);
    if (m.is_int)
        type = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = m.is_int, .b = kloop_i64(L, LOOP_INT), .c = type});
    if (m.is_bool)
        type = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = m.is_bool, .b = kloop_i64(L, LOOP_BOOL), .c = type});
    part[0] = m.v, part[1] = m.twin ? m.twin : kloop_i64(L, 0), part[2] = type;
}

static Number join_mixed(Loops *L, const KRef *part) {
    return (Number){.kind = LOOP_MIXED,
                    .v = part[0],
                    .twin = part[1],
                    .is_int = kloop_op(L, K_EQ, part[2], kloop_i64(L, LOOP_INT)),
                    .is_bool = kloop_op(L, K_EQ, part[2], kloop_i64(L, LOOP_BOOL)),
                    .lo = -0x1p63,
                    .hi = 0x1p63};
}

static KRef passed(Loops *L, uint8_t pass, Number n, KRef *fits) {
    if (pass == PASS_INTEGRAL) return passed_integral(L, n, fits);
    if (pass == PASS_INT && n.kind == LOOP_NUM) return kloop_twin(L, n);
    return pass == PASS_NUM ? kloop_real(L, n) : n.v;
}

static bool same_value(const Value *a, const Value *b) {
    bool same_text = a->text == b->text || (a->text && b->text && qstr_equal(a->text, b->text));
    return a->what == b->what && a->host.source == b->host.source && a->host.func == b->host.func &&
           a->mods.access == b->mods.access && same_text;
}

static bool is_same(const Spec *s, const Callee *f, const uint8_t *pass, const Value *args, int n, int wanted) {
    if (s->func != f->func || s->source != f->source || s->nargs != n || s->wanted != wanted) return false;
    for (int i = 0; i < n; i++)
        if (s->pass[i] != pass[i] || (pass[i] == PASS_FIXED && !same_value(&s->fixed[i], &args[i]))) return false;
    return true;
}

static Spec *new_spec(LoopModule *m, Ctx *c, const Callee *f, const uint8_t *pass, const Value *args, int n,
                      int wanted) {
    Spec *s = qarena_alloc(m->arena, sizeof *s);
    s->func = f->func, s->source = f->source, s->number = m->nspecs++, s->nargs = n, s->wanted = wanted;
    s->known = !wanted;
    s->root = (InlineFrame){.func = f->func, .source = -1, .return_depth = -1};
    s->L = (Loops){.walk = {.rules = &kloop_rules, .c = c, .keep = m->arena, .root = &s->root},
                   .keep_result = m->arena,
                   .job = m->job,
                   .out = &m->report,
                   .module = m};
    for (int i = 0; i < n; i++) {
        s->pass[i] = pass[i];
        if (pass[i] == PASS_FIXED) s->fixed[i] = args[i];
    }
    *m->last = s, m->last = &s->next;
    return m->again = true, s;
}

/* Finds or makes the function for these arguments; captured names of a function without any need no source. */
static qs_status spec_for(Loops *L, const Callee *callee, const Args *args, int wanted, Spec **out) {
    LoopModule *m = module_of(L);
    uint8_t pass[KIR_SLOTS];
    Callee f = *callee;
    if (!f.func->ncaptures) f.source = -1;
    if (args->n != f.func->nparams || args->n >= KIR_SLOTS || wanted > LOOP_RESULTS)
        return kloop_decline(L, L->pos, "a call of itself with another number of arguments than parameters");
    int slots = 1;
    for (int i = 0; i < args->n; i++) {
        TRY(pass_of(L, f.func, i, &args->at[i], &pass[i]));
        if ((slots += slots_of(pass[i])) > KIR_SLOTS)
            return kloop_decline(L, L->pos, "a call of itself with many numbers of several types");
    }
    for (Spec *s = m->first; s; s = s->next)
        if (is_same(s, &f, pass, args->at, args->n, wanted)) return *out = s, QS_OK;
    if (m->nspecs == SPECS) return kloop_decline(L, L->pos, "calls of itself with many kinds of arguments");
    return *out = new_spec(m, L->c, &f, pass, args->at, args->n, wanted), QS_OK;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */
/* A loop inlines a function twice, so that one that calls another function with itself as its argument is inlined. */
bool kfunction_is_open(const Loops *L, const Func *f) {
    int open = 0;
    for (const InlineFrame *in = L->in; in; in = in->up) open += in->func == f && in->up;
    return open >= (L->module ? 1 : 2);
}

/* If a number is not integral, as was assumed, the function may open no frame, and so fails. */
static void emit_arguments(Loops *L, const Spec *s, KRef left, const Value *args) {
    KRef v[KIR_SLOTS * MIXED_SLOTS], fits = kbuild_int(&L->walk, QS_B1, 1);
    int n = 0;
    for (int i = 0; i < s->nargs; n += slots_of(s->pass[i++])) {
        if (s->pass[i] == PASS_MIXED) split_mixed(L, args[i].num, &v[n]);
        else if (s->pass[i] != PASS_FIXED) v[n] = passed(L, s->pass[i], args[i].num, &fits);
    }
    left = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = fits, .b = left, .c = kloop_i64(L, 0)});
    kloop_emit(L, (KMake){K_ARG, .a = left});
    for (int slot = 1; slot <= n; slot++) kloop_emit(L, (KMake){K_ARG, .a = v[slot - 1], .imm = (uint64_t)slot});
}

/* An int that was converted to a declared type is within its bounds. */
static Number result_number(Loops *L, const Spec *s, int i, KRef v) {
    uint8_t kind = s->result[i];
    double lo, hi;
    qs_dtype d;
    if (kind == LOOP_INT && i < s->func->nouts && is_integer_param(&s->func->outs[i], &d)) {
        qdtype_int_span(d, &lo, &hi);
        return kloop_int(v, lo, hi);
    }
    if (kind == LOOP_CHAR) return kloop_int(v, 0, 127);
    return kind == LOOP_INT ? kloop_wide(L, v) : kind == LOOP_BOOL ? kloop_bool(v) : kloop_num(v);
}

static void emit_results(Loops *L, const Spec *s, KRef call, Value *outs) {
    uint64_t slot = 1;
    for (int i = 0; i < s->wanted; i++) {
        if (s->result[i] == LOOP_MIXED) {
            KRef part[MIXED_SLOTS];
            for (int k = 0; k < MIXED_SLOTS; k++)
                part[k] = kloop_emit(L, (KMake){K_RESULT, .own = (qs_dtype)mixed_dtypes[k], .a = call, .imm = slot++});
            outs[i] = (Value){.what = WHAT_NUMBER, .num = join_mixed(L, part)};
            continue;
        }
        KRef v = kloop_emit(L, (KMake){K_RESULT, .own = dtype_of_kind(s->result[i]), .a = call, .imm = slot++});
        outs[i] =
            (Value){.what = s->result[i] == LOOP_CHAR ? WHAT_CHAR : WHAT_NUMBER, .num = result_number(L, s, i, v)};
    }
}

/* Makes the module of the functions that a loop calls; they share its parameters. */
static qs_status begin_callees(Loops *L) {
    if (L->callees) return QS_OK;
    if (L->mode != MODE_EXACT) return kloop_decline(L, L->pos, "a call of a function that calls itself");
    LoopModule *m = L->callees = qarena_alloc(L->keep, sizeof *m);
    *m = (LoopModule){.arena = L->keep_result, .job = L->job};
    m->last = &m->first;
    for (int i = 0; i < L->f->nparams; i++) add_param(L->c, m, &L->f->params[i], L->binds[i]);
    return L->changed = true, QS_OK;
}

static qs_status compile_rounds(LoopModule *m);

/* Compiles the functions that the loop calls, as far as they are not compiled yet. */
static qs_status compile_callees(Loops *L) {
    LoopModule *m = L->callees;
    bool made = !m->again;
    for (const Spec *s = m->first; s; s = s->next) made = made && s->made;
    if (made || compile_rounds(m) == QS_OK) return sync_params(L), QS_OK;
    L->out->why_pos = m->report.why_pos, L->out->src = m->report.src;
    memcpy(L->out->why, m->report.why, sizeof L->out->why);
    return QS_EVALUE;
}

static void free_lists(Loops *L) {
    qmem_free(L->c, L->binds, L->cap_binds * sizeof *L->binds);
    qmem_free(L->c, L->faults, L->cap_faults * sizeof *L->faults);
    qmem_free(L->c, L->checks, L->cap_checks * sizeof *L->checks);
    qmem_free(L->c, L->wide, L->cap_wide * sizeof *L->wide);
    qmem_free(L->c, L->touches, L->cap_touches * sizeof *L->touches);
    kbuild_free(&L->walk);
}

static void free_specs(LoopModule *m) {
    for (Spec *s = m->first; s; s = s->next) free_lists(&s->L);
    m->first = NULL, m->last = &m->first, m->nspecs = 0, m->restart = false;
}

/* Finds the function for the arguments; for a loop it is compiled, and once more if a parameter is then expected to be
 * integral. */
static qs_status find_callee(Loops *L, const Callee *callee, const Args *args, int wanted, Spec **out) {
    if (L->module) return spec_for(L, callee, args, wanted, out);
    TRY(begin_callees(L));
    TRY(spec_for(L, callee, args, wanted, out));
    TRY(compile_callees(L));
    while (L->callees->restart) {
        free_specs(L->callees), L->changed = true;
        TRY(spec_for(L, callee, args, wanted, out));
        TRY(compile_callees(L));
    }
    return QS_OK;
}

qs_status kfunction_call(Loops *L, const Callee *callee, const Args *args, Value *outs, int wanted) {
    Spec *s;
    if (callee->captures) return kloop_decline(L, L->pos, "a function made in it that calls itself");
    for (int i = 0; i < args->n; i++)
        if (args->names[i]) return kloop_decline(L, L->pos, "a call of itself with named arguments");
    int have = callee->func->nouts ? callee->func->nouts : callee->func->expr ? 1 : 0;
    if (wanted > have) return kloop_decline(L, L->pos, "more results than %s has", callee->func->name->s);
    if (!L->module && L->out->apart)
        return kloop_decline(L, L->pos, "a function that calls itself, beside a slice of a length that is not known");
    TRY(find_callee(L, callee, args, wanted, &s));
    if (!s->known) {
        L->module->again = L->pending = true;
        return QS_EVALUE;
    }
    KRef frames = L->left_frames;
    if (!L->module) frames = kloop_number_param(L, qstr_cname(L->c, "frames"), QS_I64, (LoopBind){LOOP_FRAMES, 0});
    /* a call from inlined functions opens their frames, too */
    KRef left = kloop_op(L, K_SUB, frames, kloop_i64(L, L->calls));
    emit_arguments(L, s, left, args->at);
    KRef call = kloop_emit(L, (KMake){K_CALL, .imm = (uint64_t)s->number});
    if (L->module) kfunction_fail_unless(L, call);
    else kloop_leave_unless(L, call, QS_I32, -1);
    return emit_results(L, s, call, outs), QS_OK;
}

/* Ends the function, whose call the interpreter repeats. */
void kfunction_fail_unless(Loops *L, KRef cond) {
    double k;
    if (kir_is_const(L->f, cond, &k) && k != 0) return;
    if (!L->loose++) L->loose_pos = L->pos;
    kloop_leave_unless(L, cond, QS_B1, 1);
}

bool kfunction_assume(Loops *L, KRef cond) {
    if (!L->job->may_assume) return false;
    L->module->assumes = true;
    return kfunction_fail_unless(L, cond), true;
}

/* -- one function -------------------------------------------------------------------------------------------------- */
static void begin_function(Loops *L, const Spec *s, Arena *scratch) {
    kbuild_begin(&L->walk, kir_new(L->c, scratch, s->func->name, s->func->unit->src), scratch, s->func->pos);
    L->f->rank = 1, L->f->serial = L->f->strict = true;
    L->f->inputs[L->f->ninputs++] = QS_I64;
    for (int i = 0; i < s->nargs; i++)
        for (int k = 0; k < slots_of(s->pass[i]); k++)
            L->f->inputs[L->f->ninputs++] = s->pass[i] == PASS_MIXED ? mixed_dtypes[k] : (uint8_t)dtype_of(s->pass[i]);
    sync_params(L);
    L->mode = MODE_EXACT, L->in = L->root, L->exits = NULL, L->pending = false;
    L->nfaults = L->nchecks = L->nwide = L->cap_ranges = L->ntouches = L->loose = 0, L->nwraps = 0;
    kloop_declare_all(L);
    L->fault = kbuild_local(&L->walk, kbuild_int(&L->walk, QS_B1, 0));
}

static KRef get_input(Loops *L, int slot) {
    return kbuild_pure(&L->walk, (KMake){K_INPUT, .own = (qs_dtype)L->f->inputs[slot], .imm = (uint64_t)slot});
}

static void get_arguments(Loops *L, const Spec *s, Value *args) {
    for (int i = 0, slot = 1; i < s->nargs; i++) {
        args[i] = s->fixed[i];
        if (s->pass[i] == PASS_FIXED) continue;
        if (s->pass[i] == PASS_MIXED) {
            KRef part[MIXED_SLOTS];
            for (int k = 0; k < MIXED_SLOTS; k++) part[k] = get_input(L, slot++);
            args[i] = (Value){.what = WHAT_NUMBER, .name = s->func->params[i].name, .num = join_mixed(L, part)};
            continue;
        }
        KRef v = get_input(L, slot++);
        args[i] = (Value){.what = WHAT_NUMBER, .name = s->func->params[i].name};
        if (s->pass[i] == PASS_CHAR) args[i].what = WHAT_CHAR;
        args[i].num = s->pass[i] == PASS_CHAR       ? kloop_int(v, 0, 127)
                      : s->pass[i] == PASS_INTEGRAL ? kloop_from_int(L, v, -EXPECTED_MOST, EXPECTED_MOST)
                      : s->pass[i] == PASS_NUM      ? kloop_num(v)
                      : s->pass[i] == PASS_BOOL     ? kloop_bool(v)
                                                    : kloop_wide(L, v);
    }
}

static bool is_real(uint8_t kind) { return kind >= LOOP_NUM && kind <= LOOP_MIXED; }

/* Learns the kinds of the results.  Numbers of different types are LOOP_MIXED in all passes from then on. */
static qs_status learn_results(Loops *L, Spec *s, const Value *outs) {
    int slots = 1;
    for (int i = 0; i < s->wanted; i++) {
        What what = outs[i].what;
        uint8_t kind = what == WHAT_NUMBER ? outs[i].num.kind : what == WHAT_CHAR ? LOOP_CHAR : LOOP_OTHER;
        if (!is_real(kind) && kind != LOOP_CHAR)
            return kloop_decline(L, s->func->pos, "a result of %s is no real number", s->func->name->s);
        bool differs = s->known && s->result[i] != kind;
        if (differs && !(is_real(kind) && is_real(s->result[i])))
            return kloop_decline(L, s->func->pos, "a result of %s is of several kinds", s->func->name->s);
        if (differs && s->result[i] != LOOP_MIXED) L->changed = L->module->again = true;
        s->result[i] = differs ? LOOP_MIXED : kind;
    }
    for (int i = 0; i < s->wanted; i++) slots += s->result[i] == LOOP_MIXED ? MIXED_SLOTS : 1;
    if (slots > KIR_SLOTS) return kloop_decline(L, s->func->pos, "%s has many results", s->func->name->s);
    if (!s->known) s->known = L->changed = L->module->again = true;
    return QS_OK;
}

static qs_status lower_body(Loops *L, Spec *s, Value *outs) {
    static const Node site = {0};
    Str *names[KIR_SLOTS] = {NULL};
    Value args[KIR_SLOTS];
    Callee f = {.func = s->func, .source = s->source};
    get_arguments(L, s, args);
    for (int i = 0; i < s->wanted; i++) outs[i] = (Value){.what = WHAT_NOTHING};
    L->pos = s->func->pos;
    qs_status status = kcall_inline(&L->walk, &site, &f, &(Args){args, names, s->nargs}, outs, s->wanted);
    if (status != QS_OK && L->pending) { /* nothing ends without recursion, as far as is known */
        while (L->block->up->up) kbuild_end(&L->walk);
        L->in = L->root, L->calls = 0, L->pending = false, L->module->again = true;
        return QS_OK;
    }
    TRY(status);
    return learn_results(L, s, outs);
}

/* The LOCALs of the results, in the order of the outputs, and their types. */
typedef struct {
    KRef at[LOOP_RESULTS * MIXED_SLOTS];
    uint8_t kind[LOOP_RESULTS];
} Kept;

static void begin_results(Loops *L, const Spec *s, Kept *kept) {
    L->f->outputs[L->f->noutputs++] = QS_B1;
    for (int i = 0; s->known && i < s->wanted; i++) {
        bool mixed = (kept->kind[i] = s->result[i]) == LOOP_MIXED;
        for (int k = 0; k < (mixed ? MIXED_SLOTS : 1); k++) {
            qs_dtype d = mixed ? (qs_dtype)mixed_dtypes[k] : dtype_of_kind(s->result[i]);
            kept->at[L->f->noutputs - 1] = kbuild_local(&L->walk, kbuild_int(&L->walk, d, 0));
            L->f->outputs[L->f->noutputs++] = (uint8_t)d;
        }
    }
}

/* Sets the results whose types are as they were at the beginning of the pass. */
static void set_results(Loops *L, const Spec *s, const Kept *kept, const Value *outs) {
    for (int i = 0, slot = 0; i < s->wanted; i++) {
        KRef part[MIXED_SLOTS];
        bool mixed = kept->kind[i] == LOOP_MIXED, as_before = s->result[i] == kept->kind[i];
        if (as_before && mixed) split_mixed(L, outs[i].num, part);
        else part[0] = outs[i].num.v;
        for (int k = 0; k < (mixed ? MIXED_SLOTS : 1); k++, slot++)
            if (as_before) kbuild_set(&L->walk, kept->at[slot], part[k]);
    }
}

static qs_status function_pass(Walk *w, Arena *scratch) {
    Loops *L = (Loops *)w;
    Spec *s = L->spec;
    Value outs[LOOP_RESULTS];
    Kept kept;
    begin_function(L, s, scratch);
    bool known = s->known;
    L->f->noutputs = 0;
    begin_results(L, s, &kept);
    L->left_frames = get_input(L, 0);
    kbuild_once(w);
    kfunction_fail_unless(L, kloop_op(L, K_LT, kloop_i64(L, 0), L->left_frames));
    TRY(lower_body(L, s, outs));
    bool ends = !s->wanted || outs[0].what != WHAT_NOTHING;
    if (known && ends) set_results(L, s, &kept, outs);
    kloop_flow(L, K_BREAK, 0);
    kbuild_end(w);
    kloop_emit(L, (KMake){K_OUTPUT, .a = kloop_not(L, kbuild_get(w, L->fault))});
    for (int i = 1; i < L->f->noutputs; i++)
        kloop_emit(L, (KMake){K_OUTPUT, .a = kbuild_get(w, kept.at[i - 1]), .imm = (uint64_t)i});
    return QS_OK;
}

static qs_status keep_function(Walk *w, void *ud) {
    const LoopModule *m = ud;
    return ((Loops *)w)->spec->made = kbuild_keep(w, m->arena), QS_OK;
}

static qs_status compile_spec(LoopModule *m, Spec *s) {
    bool done;
    s->L.spec = s;
    TRY(kbuild_passes(&s->L.walk, LOOP_PASSES, function_pass, keep_function, m, &done));
    return done ? QS_OK : kloop_decline(&s->L, s->func->pos, "the types of its variables");
}

static qs_status compile_rounds(LoopModule *m) {
    for (int round = 0; round < ROUNDS; round++) {
        m->again = false;
        for (Spec *s = m->first; s; s = s->next) {
            qs_status status = compile_spec(m, s);
            if (m->restart && status == QS_EVALUE) return QS_OK; /* refused without the assumption */
            TRY(status);
            if (m->restart) return QS_OK;
        }
        if (m->again) continue;
        for (Spec *s = m->first; s; s = s->next)
            if (!s->known) return kloop_decline(&s->L, s->func->pos, "%s never ends", s->func->name->s);
        return QS_OK;
    }
    return kloop_decline(&m->first->L, m->first->func->pos, "the kinds of its results");
}

/* -- the entry ----------------------------------------------------------------------------------------------------- */
/* A number of the first call is a parameter of its kind, whatever its value is. */
static qs_status first_argument(Loops *L, const Param *p, int i, uint8_t kind, Value *out) {
    LoopBind b = {LOOP_ARGUMENT, i};
    *out = (Value){.what = WHAT_NUMBER, .name = p->name};
    if (kind == LOOP_NUM) return out->num = kloop_num(kloop_number_param(L, p->name, QS_F64, b)), QS_OK;
    if (kind == LOOP_INT) return out->num = kloop_wide(L, kloop_number_param(L, p->name, QS_I64, b)), QS_OK;
    if (kind == LOOP_BOOL) return out->num = kloop_bool(kloop_number_param(L, p->name, QS_B1, b)), QS_OK;
    return kloop_outside(&L->walk, p->sym, L->pos, out);
}

static qs_status first_arguments(Loops *L, const uint8_t *kinds, Value *args) {
    const Func *f = L->job->func;
    if (f->nparams >= KIR_SLOTS) return kloop_decline(L, f->pos, "many parameters");
    for (int i = 0; i < f->nparams; i++) TRY(first_argument(L, &f->params[i], i, kinds[i], &args[i]));
    return QS_OK;
}

static void store_result(Loops *L, LoopBindKind where, int slot, KRef v) {
    uint64_t param = (uint64_t)kloop_results_param(L, where);
    kloop_emit(L, (KMake){K_STORE, .a = kloop_i64(L, slot), .b = v, .imm = param});
}

static void begin_entry(Loops *L, Arena *arena) {
    const Func *f = L->job->func;
    kbuild_begin(&L->walk, kir_new(L->c, arena, f->name, f->unit->src), arena, f->pos);
    L->f->rank = 1, L->f->serial = L->f->strict = true, L->in = L->root;
    sync_params(L);
}

static void build_entry(Loops *L, const Spec *s, const Value *args) {
    LoopFunction *out = L->module->out;
    KRef left = kloop_number_param(L, qstr_cname(L->c, "frames"), QS_I64, (LoopBind){LOOP_FRAMES, 0});
    Value outs[LOOP_RESULTS];
    emit_arguments(L, s, left, args);
    KRef call = kloop_emit(L, (KMake){K_CALL, .imm = 0});
    emit_results(L, s, call, outs);
    store_result(L, LOOP_REALS, 0, kloop_cast(L, call, QS_F64));
    out->nresults = s->wanted;
    for (int i = 0; i < s->wanted; i++) {
        uint8_t kind = out->kind[i] = s->result[i];
        bool is_int = kind == LOOP_INT || kind == LOOP_CHAR;
        KRef part[MIXED_SLOTS] = {is_int ? 0 : kloop_cast(L, outs[i].num.v, QS_F64), outs[i].num.v};
        if (kind == LOOP_MIXED) split_mixed(L, outs[i].num, part);
        if (!is_int) store_result(L, LOOP_REALS, i + 1, part[0]);
        if (is_int || kind == LOOP_MIXED) store_result(L, LOOP_INTS, i + 1, part[1]);
        if (kind == LOOP_MIXED) store_result(L, LOOP_INTS, LOOP_RESULTS + i + 1, part[2]);
    }
}

static KFunc **list_callees(Ctx *c, const LoopModule *m, Arena *arena) {
    KFunc **list = qarena_alloc(arena, qmem_size((size_t)m->nspecs, sizeof *list, 0));
    for (const Spec *s = m->first; s; s = s->next) {
        list[s->number] = s->made;
        for (int i = s->made->nparams; i < (int)m->nparams; i++) kir_param(s->made, &m->params[i]);
    }
    ksharedcalls_find(c, arena, list, m->nspecs);
    return list;
}

/* Arrays that only the callees read or write are parameters of the entry, which is launched. */
static void note_accesses(KFunc *f) {
    for (int n = 0; n < f->ncallees; n++)
        for (int i = 0; i < f->nparams; i++) {
            const KParam *p = &f->callees[n]->params[i];
            f->params[i].read = f->params[i].read || p->read;
            f->params[i].written = f->params[i].written || p->written;
        }
}

void kfunction_begin_pass(Loops *L) { sync_params(L); }

qs_status kfunction_keep_callees(Loops *L, KFunc *f) {
    const LoopModule *m = L->callees;
    note_accesses(f);
    for (int i = 0; i < m->nspecs; i++) TRY(kir_verify(L->c, f->callees[i]));
    return QS_OK;
}

qs_status kfunction_add_callees(Loops *L, const LoopBind **binds) {
    TRY(check_reads(L));
    sync_params(L);
    L->f->callees = list_callees(L->c, L->callees, L->keep_result), L->f->ncallees = L->callees->nspecs;
    L->out->assumes = L->callees->assumes;
    return *binds = L->callees->binds, QS_OK;
}

static qs_status compile_module(LoopModule *m, Loops *L, Arena *scratch, const uint8_t *kinds, int wanted) {
    Value args[KIR_SLOTS];
    Str *names[KIR_SLOTS] = {NULL};
    Spec *s;
    Callee f = {.func = m->job->func, .source = -1};
    do {
        free_specs(m);
        begin_entry(L, scratch);
        TRY(first_arguments(L, kinds, args));
        TRY(spec_for(L, &f, &(Args){args, names, f.func->nparams}, wanted, &s));
        TRY(compile_rounds(m));
    } while (m->restart);
    begin_entry(L, scratch);
    TRY(first_arguments(L, kinds, args));
    build_entry(L, s, args);
    L->f->callees = list_callees(L->c, m, m->arena), L->f->ncallees = m->nspecs;
    KFunc *made = kbuild_keep(&L->walk, m->arena);
    note_accesses(made);
    for (int i = 0; i < m->nspecs; i++) TRY(kir_verify(L->c, made->callees[i]));
    TRY(kir_verify(L->c, made));
    LoopCode *code = &m->out->entry;
    code->binds = qarena_alloc(m->arena, qmem_size(m->nparams, sizeof *code->binds, sizeof *code->binds));
    memcpy(code->binds, m->binds, m->nparams * sizeof *code->binds);
    return code->func = made, QS_OK;
}

void kfunction_free_callees(Loops *L) {
    LoopModule *m = L->callees;
    if (!m) return;
    free_specs(m);
    qmem_free(L->c, m->params, m->cap_params * sizeof *m->params);
    qmem_free(L->c, m->binds, m->cap_binds * sizeof *m->binds);
    qmem_free(L->c, m->reads, m->cap_reads * sizeof *m->reads);
}

qs_status kfunction_compile(Ctx *c, Arena *arena, const LoopJob *job, const uint8_t *kinds, int wanted,
                            LoopFunction *out) {
    LoopModule m = {.arena = arena, .job = job, .out = out};
    Arena scratch;
    ErrorState before = c->err;
    *out = (LoopFunction){.assumes = false};
    m.last = &m.first;
    qarena_init(&scratch, c);
    InlineFrame root = {.func = job->func, .source = -1, .return_depth = -1};
    Loops L = {.walk = {.rules = &kloop_rules, .c = c, .keep = arena, .root = &root},
               .keep_result = arena,
               .job = job,
               .out = &m.report,
               .module = &m};
    if (compile_module(&m, &L, &scratch, kinds, wanted) != QS_OK) out->entry.func = NULL;
    c->err = before, out->assumes = m.assumes;
    memcpy(out->why, m.report.why, sizeof out->why);
    out->src = m.report.src, out->why_pos = m.report.why_pos;
    free_specs(&m);
    free_lists(&L);
    qmem_free(c, m.params, m.cap_params * sizeof *m.params);
    qmem_free(c, m.binds, m.cap_binds * sizeof *m.binds);
    qmem_free(c, m.reads, m.cap_reads * sizeof *m.reads);
    qarena_free(&scratch);
    return QS_OK;
}
