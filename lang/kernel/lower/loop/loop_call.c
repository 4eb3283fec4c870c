/* loop_call.c -- lowers calls: numeric built-ins; functions of the program are inlined, with locals of their own. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/loop/loop_internal.h"
#include "vm/base/reduction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- built-ins of numbers ------------------------------------------------------------------------------------------ */
static KRef real_row(Loops *L, Elem e, const Number *a) {
    KRef x[LOOP_ROW_ARGS];
    for (int i = 0; i < kelem_info[e].nargs; i++) x[i] = kloop_real(L, a[i]);
    return kelem_real(kbuild_rows(&L->walk), e, QS_F64, x).re;
}

/* Computes the bounds of an integer row of elem.def.  All such rows are monotone in each argument except for kinks at
 * 0, so they are extreme where each argument is at a bound or 0. */
static void compute_bounds(Loops *L, Elem e, const Number *a, Number *out) {
    uint32_t before = L->f->nins;
    KInto into = {L->f, &L->pos, false};
    out->lo = INFINITY, out->hi = -INFINITY;
    int n = kelem_info[e].nargs, corners = n == 1 ? 3 : n == 2 ? 9 : 27;
    for (int corner = 0; corner < corners; corner++) {
        KRef x[LOOP_ROW_ARGS];
        double v;
        for (int i = 0, k = corner; i < n; i++, k /= 3) {
            double at = k % 3 == 0 ? a[i].lo : k % 3 == 1 ? a[i].hi : fmin(fmax(a[i].lo, 0), a[i].hi);
            x[i] = kloop_f64(L, at);
        }
        if (kir_is_const(L->f, kelem_real(kelem_into(&into), e, QS_F64, x).re, &v))
            out->lo = fmin(out->lo, v), out->hi = fmax(out->hi, v);
    }
    kbuild_take_back(&L->walk, before);
}

/* A row of integral arguments: if all are ints, the result is an int; otherwise the twin is computed as well, and the
 * value is the double. */
static bool whole_row(Loops *L, Elem e, const Number *a, Number *out) {
    KRef x[LOOP_ROW_ARGS];
    bool ints = true;
    for (int i = 0; i < kelem_info[e].nargs; i++) ints = ints && a[i].kind == LOOP_INT;
    for (int i = 0; i < kelem_info[e].nargs; i++)
        if (!(x[i] = ints ? a[i].v : kloop_twin(L, a[i]))) return false;
    *out = ints ? kloop_int(0, 0, 0) : kloop_num(real_row(L, e, a));
    compute_bounds(L, e, a, out);
    KRef v = kelem_real(kbuild_rows(&L->walk), e, QS_I64, x).re;
    return *(ints ? &out->v : &out->twin) = v, true;
}

static qs_status apply_row(Loops *L, Elem e, const Number *a, Number *out) {
    ElemIntegers rule = (ElemIntegers)kelem_info[e].integers;
    if (e == EL_floor && kloop_whole_quotient(L, true, *a, out)) return QS_OK;
    if (rule == ELEM_ITSELF && a->kind == LOOP_NUM && a->guess) return *out = *a, QS_OK;
    if (rule == ELEM_ITSELF && (a->kind == LOOP_INT || kloop_twin(L, *a)))
        return *out = a->kind == LOOP_BOOL ? kloop_to_num(L, *a) : *a, QS_OK;
    if (kelem_info[e].real == ELEM_TRUTH) return *out = kloop_bool(real_row(L, e, a)), QS_OK;
    bool monotone = rule == ELEM_SAME || rule == ELEM_INTEGERS;
    if (monotone && whole_row(L, e, a, out)) return QS_OK;
    if (rule == ELEM_ARITH) {
        for (int i = 0; i < kelem_info[e].nargs; i++)
            if (a[i].kind == LOOP_INT) return kloop_decline(L, L->pos, "%s of an int", kelem_info[e].name);
    }
    return *out = kloop_num(real_row(L, e, a)), QS_OK;
}

static qs_status operator_fn(Loops *L, int op, const Number *a, Number *out) {
    return kloop_binary(L, (Op)op, a[0], a[1], out);
}

static KRef real_mod(Loops *L, const Number *a) { return real_row(L, EL_mod, a); }

/* The remainder of positive integers is one machine instruction, unlike that of doubles.  A zero gets the sign of the
 * modulus. */
static KRef quick_mod(Loops *L, const Number *a, KRef x, KRef y) {
    KRef result = kbuild_local(&L->walk, kloop_f64(L, 0));
    kloop_flow(L, K_IF, kloop_op(L, K_LT, kloop_i64(L, 0), y));
    kbuild_set(&L->walk, result, kloop_cast(L, kloop_op(L, K_MOD, x, y), QS_F64));
    kloop_flow(L, K_ELSE, 0);
    kbuild_set(&L->walk, result, real_mod(L, a));
    kloop_flow(L, K_END, 0);
    return kbuild_get(&L->walk, result);
}

static qs_status mod_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    Number n = a[0], m = a[1];
    bool ints = n.kind == LOOP_INT && m.kind == LOOP_INT, positive = kloop_expect_positive(L, &m);
    double most = n.lo >= 0 ? fmin(n.hi, m.hi - 1) : m.hi - 1;
    if (ints) {
        KRef r = positive ? kloop_remainder(L, n.v, m.v)
                          : kelem_real(kbuild_rows(&L->walk), EL_mod, QS_I64, (KRef[]){n.v, m.v}).re;
        return *out = positive ? kloop_int(r, 0, most) : kloop_wide(L, r), QS_OK;
    }
    (void)kloop_expect_int(L, &n);
    KRef x = kloop_twin(L, n), y = kloop_twin(L, m);
    if (!x || !y) return *out = kloop_num(real_mod(L, a)), QS_OK;
    if (!positive) return *out = kloop_num(quick_mod(L, a, x, y)), QS_OK;
    most = n.lo >= 0 ? fmin(n.hi, m.hi - 1) : m.hi - 1;
    return *out = kloop_from_int(L, kloop_remainder(L, x, y), 0, most), QS_OK;
}

/* The integer whose bits are those of a; a number with a fraction is an error. */
static Number with_bits(Loops *L, Elem e, Number a) {
    char text[80];
    if (a.kind == LOOP_NUM) (void)kloop_expect_int(L, &a);
    if (a.kind != LOOP_NUM || kloop_twin(L, a)) return kloop_to_int(L, a);
    snprintf(text, sizeof text, "%s: " KELEM_NO_BITS "%%0", kelem_name(e));
    kloop_fail_unless(L, kelem_has_bits(kbuild_rows(&L->walk), a.v, QS_F64), QS_ETYPE, text, a.v, 0);
    return kloop_to_int(L, a);
}

/* Shifts an integral number; the result of shifting a float is a float.  A shift to the left by a known number is a
 * product. */
static qs_status shift_fn(Loops *L, int e, const Number *a, Number *out) {
    Number x = with_bits(L, (Elem)e, a[0]), n = with_bits(L, (Elem)e, a[1]);
    KRef r = kelem_shift(kbuild_rows(&L->walk), (Elem)e, QS_I64, x.v, n.v, QS_I64, n.lo >= 0);
    bool shrinks = e == EL_shr && n.lo >= 0;
    *out = shrinks ? kloop_int(r, fmin(x.lo, 0), fmax(x.hi, 0)) : kloop_wide(L, r);
    if (a[0].kind != LOOP_NUM) return QS_OK;
    if (kloop_is_exact(out->lo, out->hi)) return *out = kloop_from_int(L, r, out->lo, out->hi), QS_OK;
    double k;
    bool is_product = e == EL_shl && kloop_known(L, a[1], &k) && k >= 0 && k <= 52;
    *out = kloop_num(kloop_cast(L, r, QS_F64));
    if (is_product) kloop_guess_arith(L, K_MUL, a[0], kloop_const(L, ldexp(1, (int)k)), out);
    return QS_OK;
}

/* Bit operations on integral numbers of any type.  For ints that are not negative the result has no bit above
 * theirs. */
static qs_status bits_fn(Loops *L, int e, const Number *a, Number *out) {
    KRef x[2] = {0};
    double most = 1, least_mask = INFINITY;
    bool positive = true;
    for (int i = 0; i < kelem_info[e].nargs; i++) {
        if (a[i].kind == LOOP_BOOL) return kloop_decline(L, L->pos, "bits of a truth value");
        Number n = with_bits(L, (Elem)e, a[i]);
        x[i] = n.v;
        positive = positive && n.lo >= 0;
        if (n.lo >= 0) least_mask = fmin(least_mask, n.hi);
        while (most <= n.hi) most *= 2;
    }
    KRef r = kelem_real(kbuild_rows(&L->walk), (Elem)e, QS_I64, x).re;
    if (e == EL_bitand && least_mask <= 0x1p62) return *out = kloop_int(r, 0, least_mask), QS_OK;
    bool small = positive && e != EL_bitnot && most <= 0x1p62;
    return *out = small ? kloop_int(r, 0, most - 1) : kloop_wide(L, r), QS_OK;
}

static qs_status int_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    return *out = kloop_to_int(L, a[0]), QS_OK;
}

static qs_status float_fn(Loops *L, int imm, const Number *a, Number *out) {
    (void)imm;
    return *out = kloop_to_num(L, a[0]), QS_OK;
}

/* The reduction of a number, as of an array with one element. */
static qs_status reduce_number(Loops *L, int r, const Number *a, Number *out) {
    const ReduceInfo *of = &qreduction_info[r];
    bool kept =
        a->kind == LOOP_INT ? of->map == MAP_SELF && of->finish != FINISH_MEAN : qreduction_is_extreme((Reduce)r);
    if (of->map == MAP_TRUTH) return *out = kloop_bool(kloop_truth(L, *a)), QS_OK;
    return *out = kept ? *a : kloop_to_num(L, *a), QS_OK;
}

/* Built-ins that are not rows of elem.def, or are faster for integral numbers. */
typedef qs_status BuiltinFn(Loops *, int imm, const Number *args, Number *out);
/* The type of the result: the same for all types of arguments, an int if all arguments are ints, or another rule. */
typedef enum { BY_NONE, BY_ALL, BY_SPLIT } BuiltinType;
typedef struct {
    const char *name;
    int nargs;
    BuiltinFn *fn;
    int imm;
    BuiltinType type;
} Builtin;
static const Builtin builtins[] = {{"int", 1, int_fn, 0, BY_NONE},
                                   {"float", 1, float_fn, 0, BY_NONE},
                                   {"pow", 2, operator_fn, OP_POW, BY_ALL},
                                   {"min", 2, operator_fn, OP_MINEQ, BY_ALL},
                                   {"max", 2, operator_fn, OP_MAXEQ, BY_ALL},
                                   {"mod", 2, mod_fn, 0, BY_ALL},
                                   {"periodize", 2, mod_fn, 0, BY_ALL},
                                   {"shl", 2, shift_fn, EL_shl, BY_SPLIT},
                                   {"shr", 2, shift_fn, EL_shr, BY_SPLIT},
                                   {"and", 2, bits_fn, EL_bitand, BY_SPLIT},
                                   {"or", 2, bits_fn, EL_bitor, BY_SPLIT},
                                   {"xor", 2, bits_fn, EL_bitxor, BY_SPLIT},
                                   {"not", 1, bits_fn, EL_bitnot, BY_SPLIT},
                                   {"sum", 1, reduce_number, RED_sum, BY_SPLIT},
                                   {"prod", 1, reduce_number, RED_prod, BY_SPLIT},
                                   {"mean", 1, reduce_number, RED_mean, BY_SPLIT},
                                   {"min", 1, reduce_number, RED_min, BY_SPLIT},
                                   {"max", 1, reduce_number, RED_max, BY_SPLIT},
                                   {"any", 1, reduce_number, RED_any, BY_SPLIT},
                                   {"all", 1, reduce_number, RED_all, BY_SPLIT}};

static qs_status real_builtin(Loops *L, const char *name, const Number *args, int nargs, Number *out);

static qs_status apply_builtin(Loops *L, const void *ud, const Number *args, int n, Number *out) {
    return real_builtin(L, ud, args, n, out);
}

/* The twins of integral numbers of several types give the twin of the result, which is an int if all of them are. */
static bool mixed_row(Loops *L, Elem e, const Number *a, Number *out) {
    Number plain[LOOP_ROW_ARGS];
    KRef is_int = kbuild_int(&L->walk, QS_B1, 1);
    for (int i = 0; i < kelem_info[e].nargs; i++) {
        if (!kloop_twin(L, a[i])) return false;
        plain[i] = kloop_to_num(L, a[i]);
        if (a[i].kind != LOOP_INT) is_int = is_int && a[i].is_int ? kloop_op(L, K_AND, is_int, a[i].is_int) : 0;
    }
    return whole_row(L, e, plain, out) && (*out = is_int ? kloop_int_if(L, *out, is_int) : *out, true);
}

/* A row of numbers of several types. */
static qs_status mixed_by_row(Loops *L, Elem e, const Number *args, const Number *plain, bool ints, Number *out) {
    ElemIntegers rule = (ElemIntegers)kelem_info[e].integers;
    if (kelem_info[e].real == ELEM_TRUTH || rule == ELEM_FLOATS || (!ints && rule == ELEM_ARITH))
        return apply_row(L, e, plain, out);
    if (rule == ELEM_ITSELF && kloop_is_integral(args[0])) return kloop_unary(L, OP_PLUS, args[0], out);
    if (rule == ELEM_ITSELF) {
        *out = args[0], out->is_bool = 0, out->v = real_row(L, e, args);
        return QS_OK;
    }
    if ((rule == ELEM_SAME || rule == ELEM_INTEGERS) && mixed_row(L, e, args, out)) return QS_OK;
    return kloop_split(L, apply_builtin, kelem_info[e].name, args, kelem_info[e].nargs, out);
}

static qs_status mixed_builtin(Loops *L, const Builtin *b, const char *name, const Number *args, int nargs,
                               Number *out) {
    Number plain[LOOP_ROW_ARGS];
    bool ints = true;
    for (int i = 0; i < nargs; i++) {
        ints = ints && kloop_may_be_int(args[i]);
        plain[i] = args[i].kind == LOOP_MIXED ? kloop_to_num(L, args[i]) : args[i];
    }
    if (!b) return mixed_by_row(L, kelem_find(name, nargs), args, plain, ints, out);
    if (nargs == 1 && b->type != BY_SPLIT) return b->fn(L, b->imm, args, out);
    if (!ints && b->type == BY_ALL) return b->fn(L, b->imm, plain, out);
    return kloop_split(L, apply_builtin, name, args, nargs, out);
}

static const Builtin *find_builtin(const char *name, int nargs) {
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (builtins[i].nargs == nargs && !strcmp(builtins[i].name, name)) return &builtins[i];
    return NULL;
}

static qs_status real_builtin(Loops *L, const char *name, const Number *args, int nargs, Number *out) {
    const Builtin *b = find_builtin(name, nargs);
    Elem e = kelem_find(name, nargs);
    if (!b && (e == EL__COUNT || kelem_info[e].real == ELEM_COMPLEX || kelem_info[e].real == ELEM_NOTHING))
        return kloop_decline(L, L->pos, "a call of %s; write it with operators, or call it before the loop", name);
    if (kloop_any_mixed(args, nargs)) return mixed_builtin(L, b, name, args, nargs, out);
    return b ? b->fn(L, b->imm, args, out) : apply_row(L, e, args, out);
}

qs_status kloop_bits(Loops *L, Op op, Number a, Number b, Number *out) {
    if (a.kind == LOOP_COMPLEX || b.kind == LOOP_COMPLEX) return kloop_decline(L, L->pos, "bits of a complex number");
    return real_builtin(L, kelem_name(kelem_operator(op)), (Number[]){a, b}, 2, out);
}

static int rank_of(const Value *x) {
    if (x->what == WHAT_VECTOR) return x->cols ? 2 : 1;
    return x->what == WHAT_ROW ? kloop_row_rank(x->row) : x->host.rank;
}

/* The extent of an array along dimension d; a vec is 1xN. */
static Number extent_along(Loops *L, const Value *x, int d) {
    int rank = rank_of(x), axis = d - (rank == 1);
    if (axis < 0 || axis >= rank) return kloop_const(L, 1);
    if (x->what == WHAT_VECTOR) return kloop_const(L, x->cols && !axis ? x->n / x->cols : x->cols ? x->cols : x->n);
    bool small = x->what == WHAT_ARRAY && x->host.small;
    return kloop_from_int(L, kloop_extent(L, x, axis), 0, small ? LOOP_SMALL : 0x1p48);
}

static qs_status known_dimension(Loops *L, Number n, int *out) {
    double d;
    if (!kloop_known(L, n, &d) || d < 0 || d != floor(d))
        return kloop_decline(L, L->pos, "size of a dimension that is not known");
    return *out = (int)fmin(d, QS_MAX_RANK), QS_OK;
}

/* size(x), size(x,d) and size(x,[d,e]), as one value or several. */
static qs_status lower_size(Loops *L, const Value *args, int nargs, Value *outs, int wanted) {
    const Value *x = &args[0];
    int dims[LOOP_VECTOR_MAX], rank = rank_of(x), n = rank > 2 ? rank : 2;
    bool one = nargs == 2 && args[1].what == WHAT_NUMBER;
    if (nargs > 2 || (nargs == 2 && !one && args[1].what != WHAT_VECTOR)) return kloop_decline_value(L, &args[1]);
    if (nargs == 2) n = one ? 1 : args[1].n;
    if (n < wanted) return kloop_decline(L, L->pos, "more results than dimensions");
    for (int i = 0; i < n; i++) {
        dims[i] = i;
        if (nargs == 2) TRY(known_dimension(L, one ? args[1].num : args[1].at[i], &dims[i]));
    }
    if (one || wanted > 1) {
        for (int i = 0; i < (one ? 1 : wanted); i++)
            outs[i] = (Value){.what = WHAT_NUMBER, .num = extent_along(L, x, dims[i])};
        return QS_OK;
    }
    if (nargs == 1 && rank == 1) /* zeros(size(v)) has one dimension in Python */
        return kloop_decline(L, L->pos, "the size of a vec as an array; write [h, w] = size(x), or numel(x)");
    Value list[LOOP_VECTOR_MAX];
    for (int i = 0; i < n; i++) list[i] = (Value){.what = WHAT_NUMBER, .num = extent_along(L, x, dims[i])};
    return kloop_list(L, list, n, outs);
}

static qs_status lower_count(Loops *L, const Value *x, Value *out) {
    KRef n = kloop_i64(L, 1);
    for (int i = 0; i < x->host.rank; i++) n = kloop_op(L, K_MUL, n, kloop_extent(L, x, i));
    return *out = (Value){.what = WHAT_NUMBER, .num = kloop_from_int(L, n, 0, 0x1p48)}, QS_OK;
}

static qs_status call_numeric(Loops *L, const char *name, const Value *args, int nargs, Value *out) {
    enum { MOST = LOOP_ROW_ARGS };
    Number nums[MOST];
    bool found = false;
    for (int i = 0; i < nargs; i++) {
        bool text = args[i].what == WHAT_CHAR || args[i].what == WHAT_STRING;
        if (text) return kloop_decline(L, L->pos, "%s of a string", name);
        if (args[i].what != WHAT_NUMBER) return kloop_decline(L, L->pos, "%s of an array", name);
        if (i < MOST) nums[i] = args[i].num;
    }
    *out = (Value){.what = WHAT_NUMBER};
    if (nargs > MOST || !nargs)
        return kloop_decline(L, L->pos, "a call of %s; write it with operators, or call it before the loop", name);
    TRY(kloop_complex_call(L, name, nums, nargs, &found, &out->num));
    return found ? QS_OK : real_builtin(L, name, nums, nargs, &out->num);
}

static qs_status call_builtin(Loops *L, const char *name, Value *args, int nargs, Value *outs, int wanted) {
    if (kloop_is_random(name, nargs) && (!nargs || args[0].what == WHAT_NUMBER)) {
        *outs = (Value){.what = WHAT_NUMBER};
        return kloop_random(L, name, nargs ? &args[0].num : NULL, &outs->num);
    }
    if (nargs && args[0].what == WHAT_CELL) return kloop_list_call(L, name, args, nargs, outs, wanted);
    if (nargs == 1 && args[0].what == WHAT_OBJECT && !strcmp(name, "copy")) return kobject_copy(L, args, outs);
    if (nargs && kloop_is_masked(&args[0])) return kloop_row_call(L, name, args, nargs, outs);
    bool array = nargs && (args[0].what == WHAT_ARRAY || args[0].what == WHAT_ROW || args[0].what == WHAT_VECTOR);
    if (array && !strcmp(name, "size")) return lower_size(L, args, nargs, outs, wanted);
    if (array && nargs == 1 && args[0].what == WHAT_ARRAY && !strcmp(name, "numel")) return lower_count(L, args, outs);
    bool length = nargs == 1 && (!strcmp(name, "strlen") || !strcmp(name, "numel"));
    if (length && (args[0].what == WHAT_STRING || args[0].what == WHAT_CHAR)) {
        *outs = (Value){.what = WHAT_NUMBER, .num = kloop_const(L, 1)};
        if (args[0].what == WHAT_STRING && !args[0].text && !args[0].host.contiguous)
            return kloop_decline(L, L->pos, "%s of a string with characters beyond ASCII", name);
        if (args[0].what == WHAT_STRING) outs->num = kloop_text_length(L, args);
        return QS_OK;
    }
    if (nargs == 1 && args[0].what == WHAT_CHAR && !strcmp(name, "ord"))
        return *outs = (Value){.what = WHAT_NUMBER, .num = kloop_from_int(L, args[0].num.v, 0, 127)}, QS_OK;
    bool made = false, largest = !strcmp(name, "max");
    if (wanted == 2 && nargs == 1 && (largest || !strcmp(name, "min"))) { /* [m, i] = max(x) */
        Value again = args[0];
        TRY(call_builtin(L, name, args, 1, outs, 1));
        return call_builtin(L, largest ? "argmax" : "argmin", &again, 1, &outs[1], 1);
    }
    TRY(kloop_made(L, name, args, nargs, &made, outs));
    if (made) return QS_OK;
    for (int i = 0; i < nargs; i++)
        if (args[i].what == WHAT_ROW) return kloop_row_call(L, name, args, nargs, outs);
    for (int i = 0; i < nargs; i++) kloop_short(L, &args[i]);
    for (int i = 0; i < nargs; i++)
        if (kloop_is_row(L, &args[i])) return kloop_row_call(L, name, args, nargs, outs);
    if (nargs == 1 && (args->what == WHAT_TRUTHS || args->what == WHAT_VECTOR)) {
        TRY(kloop_truths_call(L, name, args, &made, outs));
        if (made) return QS_OK;
    }
    for (int i = 0; i < nargs; i++)
        if (args[i].what == WHAT_VECTOR) return kloop_vector_call(L, name, args, nargs, outs);
    return call_numeric(L, name, args, nargs, outs);
}

/* -- functions of the program -------------------------------------------------------------------------------------- */
/* vec, vec2 …; mat2x2 …; mat, which a vec is as well */
bool kloop_has_shape(const char *name, const Value *v) {
    char exact[32];
    if (v->what != WHAT_VECTOR) return false;
    if (v->cols) snprintf(exact, sizeof exact, "mat%dx%d", v->n / v->cols, v->cols);
    else snprintf(exact, sizeof exact, "vec%d", v->n);
    return !strcmp(name, "mat") || !strcmp(name, exact) || (!v->cols && !strcmp(name, "vec"));
}

static bool is_type_parameter(const Func *f, const Str *name) {
    for (int i = 0; i < f->ntyparams; i++)
        if (qstr_equal(f->typarams[i], name)) return true;
    return false;
}

/* Converts a number to the parameter's type.  An array must be known to have the type. */
static qs_status accept_type(Loops *L, const Func *f, const Param *p, Value *v) {
    static const char *const ranks[] = {"scalar", "vec", "mat", "cube"};
    const TypeExpr *t = p->type;
    if (!t) return QS_OK;
    const Str *name = t->kind == TE_NAME ? t->name : NULL;
    bool given = p >= f->params && p < f->params + f->nparams;
    bool asks = given && v->what == WHAT_ARRAY;
    if (asks && L->job->takes(L->job->ud, &v->host, f, (int)(p - f->params))) return QS_OK;
    if (kobject_is_of(L, v, f, p->type)) return QS_OK;
    if (v->what == WHAT_NUMBER) return name && is_type_parameter(f, name) ? QS_OK : kloop_convert(L, name, &v->num);
    if (name && (kloop_has_shape(name->s, v) ||
                 ((v->what == WHAT_STRING || v->what == WHAT_CHAR) && !strcmp(name->s, "string"))))
        return QS_OK;
    bool real = v->what == WHAT_ARRAY && (v->host.dtype == L->c->scalar_dtype);
    bool fits = name && v->host.rank < 4 && !strcmp(name->s, ranks[v->host.rank]);
    if (real && (fits || (name && v->host.rank == 1 && !strcmp(name->s, "mat")))) return QS_OK;
    return kloop_decline(L, L->pos, "a call of %s, whose parameter %s has a type", f->name->s, p->name->s);
}

/* A type parameter stands for one type: all its arguments must be numbers of one type. */
static qs_status bind_types(Loops *L, const Func *f, const Args *given) {
    uint8_t kind = LOOP_UNSET;
    const Value *args = given->at;
    for (int p = 0; p < f->nparams; p++) {
        const TypeExpr *t = f->params[p].type;
        int i = kcall_find_argument(given, f, p);
        if (i < 0 || !t || t->kind != TE_NAME || !is_type_parameter(f, t->name)) continue;
        bool number = args[i].what == WHAT_NUMBER && (kind == LOOP_UNSET || kind == args[i].num.kind);
        number = number && args[i].num.kind != LOOP_MIXED;
        if (!number || f->ntyparams > 1) return kloop_decline(L, L->pos, "a call of %s, which is generic", f->name->s);
        kind = args[i].num.kind;
    }
    bool bound = !f->ntyparams || kind != LOOP_UNSET;
    return bound ? QS_OK : kloop_decline(L, L->pos, "a call of %s, which is generic", f->name->s);
}

static bool integer_named(const TypeExpr *t, qs_dtype *d) {
    if (!t || t->kind != TE_NAME) return false;
    return qdtype_from_name(t->name->s, d) && qdtype_is_int(*d);
}

/* Emits a check that an integer parameter does not change its argument. */
static void pass_whole(Loops *L, const Param *p, Value *v) {
    qs_dtype d;
    double lo, hi;
    char text[240];
    if (v->what != WHAT_NUMBER || v->num.kind == LOOP_COMPLEX || !integer_named(p->type, &d)) return;
    qdtype_int_span(d, &lo, &hi);
    KRef twin = kloop_twin(L, v->num), x = kloop_real(L, v->num);
    if (twin && v->num.lo >= lo && v->num.hi <= hi) return;
    KRef above = twin ? kloop_op(L, K_LE, kloop_i64(L, (int64_t)lo), twin) : 0;
    KRef fits = twin && d != QS_I64 && d != QS_U64
                    ? kloop_op(L, K_AND, above, kloop_op(L, K_LE, twin, kloop_i64(L, (int64_t)hi)))
                    : kelem_holds(kbuild_rows(&L->walk), d, x, QS_F64, -INFINITY, INFINITY);
    if (v->num.is_int && v->num.lo >= lo && v->num.hi <= hi) fits = kloop_op(L, K_OR, fits, v->num.is_int);
    uint32_t pos = L->pos;
    L->pos = p->pos;
    char what[140];
    snprintf(what, sizeof what, "%.60s: argument %.60s", L->in->func->name->s, p->name->s);
    snprintf(text, sizeof text, QDTYPE_NOT_HELD, what, qdtype_info[d].name, "%0", qdtype_info[d].name);
    kloop_fail_unless(L, fits, QS_EVALUE, text, x, 0);
    if (twin) v->num.lo = fmax(v->num.lo, lo), v->num.hi = fmin(v->num.hi, hi);
    L->pos = pos;
}

static qs_status bind_param(Walk *w, const Param *p, Value *x) {
    Loops *L = (Loops *)w;
    Var *v = &L->in->vars[p->sym->index];
    pass_whole(L, p, x);
    TRY(accept_type(L, L->in->func, p, x));
    if (x->what == WHAT_NUMBER || x->what == WHAT_CHAR) return kloop_assign(L, v, x);
    if (x->what == WHAT_VECTOR && (v->assigned || v->kind == LOOP_VECTOR)) return kloop_assign(L, v, x);
    v->bound = v->set = true, v->val = *x;
    return QS_OK;
}

static qs_status read_result(Walk *w, const Param *p, Value *out) {
    Loops *L = (Loops *)w;
    if (!p) return QS_OK;
    TRY(kloop_read(L, p->sym, out));
    TRY(accept_type(L, L->in->func, p, out));
    return kloop_leave_behind(L, out), QS_OK;
}

static qs_status may_inline(Walk *w, const Func *f, const Args *args) {
    Loops *L = (Loops *)w;
    if (f->qual == Q_KERNEL) return kloop_decline(L, L->pos, "a call of %s", f->name->s);
    if (L->f->nins > LOOP_LONGEST) return kloop_decline(L, L->pos, "%s makes it too long", f->name->s);
    bool wrong = false; /* a called function that excludes fast math excludes it for the whole loop */
    for (int i = 0; i < f->nattrs; i++) L->f->fast = L->f->fast && qast_asks_fast(f->attrs[i], true, &wrong);
    TRY(bind_types(L, f, args));
    for (int i = 0; i < f->nparams; i++) { /* checked at the call, where the reason is reported */
        int k = kcall_find_argument(args, f, i);
        if (k < 0) continue;
        Value would_be = args->at[k];
        TRY(accept_type(L, f, &f->params[i], &would_be));
    }
    return QS_OK;
}

static void new_frame(Walk *w, InlineFrame *in) {
    const Func *f = in->func;
    in->vars = qarena_alloc(w->keep, qmem_size((size_t)f->nlocals, sizeof *in->vars, sizeof *in->vars));
    for (int k = 0; k < f->nlocals; k++) in->vars[k].sym = f->locals[k], in->vars[k].object = -1;
    w->changed = true; /* its variables are declared at the start of the next pass */
}

static void enter_function(Walk *w, InlineFrame *in) {
    for (int i = 0; i < in->nvars; i++) kloop_unset((Loops *)w, &in->vars[i]);
}

static void make_function(Walk *w, Func *f, Value *captures, Value *out) {
    (void)w;
    *out = (Value){.what = WHAT_FUNCTION, .host = {.kind = LOOP_FUNC, .func = f, .source = -1}, .caught = captures};
}

/* uint8(x), scalar(x) …; vec(3) and mat(2,2) are zeros */
static qs_status convert_type(Loops *L, const Str *type, const Value *args, int nargs, Value *out) {
    bool made = false, sized = !strcmp(type->s, "vec") ? nargs == 1 : !strcmp(type->s, "mat") && nargs == 2;
    for (int i = 0; i < nargs; i++) sized = sized && args[i].what == WHAT_NUMBER;
    if (sized) return kloop_made(L, "zeros", args, nargs, &made, out);
    if (nargs == 1 && args[0].what == WHAT_VECTOR && !strcmp(type->s, "float64"))
        return kloop_vector_float64(L, &args[0], out);
    if (nargs == 1 && kloop_is_row(L, &args[0]) && kloop_element_converts(type->s))
        return kloop_row_call(L, type->s, args, 1, out);
    if (nargs != 1 || args[0].what != WHAT_NUMBER) return kloop_decline(L, L->pos, "%s of an array", type->s);
    *out = (Value){.what = WHAT_NUMBER, .num = args[0].num};
    return kloop_convert(L, type, &out->num);
}

/* Whether the condition always evaluates n. */
static bool evaluates(const Node *condition, const Node *n) {
    bool lazy = condition->op == OP_ANDAND || condition->op == OP_OROR;
    if (qast_equal(condition, n)) return true;
    if (condition->kind == N_UNARY) return evaluates(condition->u.bin.a, n);
    if (condition->kind != N_BINARY) return false;
    return evaluates(condition->u.bin.a, n) || (!lazy && evaluates(condition->u.bin.b, n));
}

/* assert evaluates its message even if the condition holds; compiled code does not.  This is the same for messages that
 * have no effect and cannot fail: literals, variables, what the condition evaluates, and f-strings of them. */
static qs_status check_message(Loops *L, const Node *condition, Node *n) {
    Value v;
    bool format = qast_calls_builtin(n, "$format");
    if (n->kind == N_STR || n->kind == N_NUM || evaluates(condition, n)) return QS_OK;
    if (n->kind == N_IDENT) return kloop_expr(L, n, &v);
    for (int i = 0; format && i < n->u.call.args.n; i++) TRY(check_message(L, condition, n->u.call.args.at[i].value));
    if (format) return QS_OK;
    if (n->kind != N_BINARY || n->op != OP_ADD)
        return kloop_decline(L, n->pos,
                             "a message of assert that does more than show variables; write error(…) in an if");
    TRY(check_message(L, condition, n->u.bin.a));
    return check_message(L, condition, n->u.bin.b);
}

/* The interpreter executes the statement of an error whose message is made, and the condition again, which must give
 * the same then. */
static qs_status check_exit(Loops *L, const Node *n, bool always) {
    const ArgList *args = &n->u.call.args;
    NodeList condition = {&args->at[0].value, always ? 0 : 1};
    bool again = kquery_node(condition, true, kquery_is_call, NULL) || (!always && L->f->fast);
    for (int i = 1; !always && i < args->n; i++) TRY(check_message(L, args->at[0].value, args->at[i].value));
    bool serial = L->mode != MODE_PARALLEL || L->scans;
    if (serial && !L->module && L->in == L->root && !again) return QS_OK;
    return kloop_decline(L, n->pos, "an error message is made in %s; a constant text is compiled everywhere",
                         !serial      ? "a parallel loop"
                         : !again     ? "a function"
                         : L->f->fast ? "an assert under fast math"
                                      : "an assert with a call");
}

/* Lowers error("text") and assert(condition, "text"). */
static qs_status lower_failure(Loops *L, Node *n, bool always) {
    const ArgList *list = &n->u.call.args;
    Node *text = list->n == (always ? 1 : 2) ? list->at[list->n - 1].value : NULL;
    KRef holds = kbuild_int(&L->walk, QS_B1, 0);
    int known;
    Text message;
    bool makes = qast_makes_message(n);
    if ((!text || text->kind != N_STR) && !makes)
        return kloop_decline(L, n->pos, "%s without a condition or text", always ? "error" : "assert");
    if (makes) TRY(check_exit(L, n, always));
    if (!always) TRY(kexpr_cond(&L->walk, list->at[0].value, &holds, &known));
    L->pos = n->pos;
    if (L->scans) return kloop_reach_unless(L, holds), QS_OK;
    if (makes) return kloop_exit_unless(L, holds, n), QS_OK;
    if (L->library && (always || known != 1))
        return kloop_decline(L, n->pos, "a call that is an error: %s", text ? text->u.str->s : "assertion failed");
    qtext_init(&message, L->c);
    for (const char *p = text ? text->u.str->s : "assertion failed"; *p; p++)
        qtext_add(&message, *p == '%' ? "%%" : p, *p == '%' ? 2 : 1);
    const InlineFrame *at = L->in ? L->in : L->root;
    qs_status failure = qsource_check_status(at->func->unit->src, always ? QS_EUSER : QS_EASSERT);
    uint32_t before = L->loose;
    kloop_fail_unless(L, holds, failure, message.s ? message.s : "", 0, 0);
    L->rare += L->loose - before;
    qtext_free(&message);
    return QS_OK;
}

/* Whether fn is the built-in function, not one of the program with its name. */
static bool is_builtin_named(const Value *fn, const char *name) {
    return fn->what == WHAT_FUNCTION && fn->host.builtin && !strcmp(fn->host.builtin, name);
}

/* o.name(…) calls a function with o as its first argument. */
static qs_status method_of(Loops *L, const Node *callee, Value *self, Value *out) {
    const Str *name = callee->u.field.name;
    LoopValue v;
    TRY(kloop_expr(L, callee->u.field.base, self));
    L->pos = callee->pos;
    bool cell = self->what == WHAT_CELL;
    if (self->what != WHAT_OBJECT && !cell)
        return kloop_decline(L, callee->pos, "%s as a method of what is no object; arrays and a counter are compiled",
                             name->s);
    L->job->method(L->job->ud, L->in->func, &self->host, name, &v);
    if (v.kind != LOOP_FUNC && !(cell && v.kind == LOOP_BUILTIN))
        return kloop_decline(L, callee->pos, "the method %s is a field, or has several definitions", name->s);
    return *out = (Value){.what = WHAT_FUNCTION, .host = v}, QS_OK;
}

static qs_status callee_of(Walk *w, Called *c) {
    Loops *L = (Loops *)w;
    Node *callee = c->site->u.call.callee;
    bool named = callee->kind == N_IDENT && callee->u.ident.sym;
    *c->fn = (Value){.what = WHAT_NOTHING};
    if (callee->kind == N_FIELD) return c->self = true, method_of(L, callee, c->args, c->fn);
    if (named && callee->u.ident.sym->kind == SYM_TYPE)
        return c->wide_lists = !strcmp(callee->u.ident.sym->name->s, "float64"), QS_OK;
    TRY(kloop_expr(L, callee, c->fn));
    bool asserts = is_builtin_named(c->fn, "assert"), errs = is_builtin_named(c->fn, "error");
    c->done = !c->wanted && (asserts || errs);
    if (c->done) TRY(lower_failure(L, c->site, errs));
    if (c->done && errs) L->left = true;
    return QS_OK;
}

static qs_status no_names(Loops *L, const Args *args) {
    for (int i = 0; i < args->n; i++)
        if (args->names[i])
            return kloop_decline(L, L->pos, "a call with named arguments; numbers and arrays made before are compiled");
    return QS_OK;
}

/* Replaces a function with several definitions by the one that the call means. */
static qs_status choose_overload(Loops *L, const char *name, const Args *args, Value *fn) {
    LoopValue chosen;
    TRY(no_names(L, args));
    L->job->overload(L->job->ud, fn->host.source, args->n, &chosen);
    if (chosen.kind != LOOP_FUNC && chosen.kind != LOOP_BUILTIN)
        return kloop_decline(L, L->pos,
                             "a call of %s, whose definitions differ in types: give this one a name of its own", name);
    return fn->host = chosen, QS_OK;
}

static qs_status apply_callee(Walk *w, Node *n, Value *fn, const Args *args, Value *outs, int wanted) {
    Loops *L = (Loops *)w;
    Node *callee = n->u.call.callee;
    const char *name = callee->kind == N_IDENT ? callee->u.ident.name->s : "a function";
    bool made = false;
    if (fn->what == WHAT_NOTHING && wanted == 1) TRY(kobject_make(L, callee->u.ident.sym->type, args, outs, &made));
    if (made) return QS_OK;
    if (fn->what == WHAT_FUNCTION && fn->host.kind == LOOP_OVERLOADS) TRY(choose_overload(L, name, args, fn));
    Callee inlined = {.func = fn->host.func, .captures = fn->caught, .source = fn->host.source};
    for (int i = 0; i < wanted; i++) outs[i] = (Value){.what = WHAT_NOTHING};
    if (fn->what == WHAT_FUNCTION && fn->host.func && fn->host.func->constraints)
        return kloop_decline(L, n->pos, "%s has constraints of its type parameters, which only calls check", name);
    bool open = fn->what == WHAT_FUNCTION && fn->host.func && kfunction_is_open(L, fn->host.func);
    if (open) TRY(kfunction_call(L, &inlined, args, outs, wanted));
    else if (fn->what == WHAT_FUNCTION && fn->host.func) TRY(kcall_inline(w, n, &inlined, args, outs, wanted));
    else TRY(no_names(L, args));
    if (fn->what == WHAT_NOTHING) return convert_type(L, callee->u.ident.sym->name, args->at, args->n, outs);
    if (fn->what != WHAT_FUNCTION) return kloop_decline(L, n->pos, "a call of %s", name);
    bool found = false, one = !fn->host.func && wanted == 1;
    if (one) TRY(kloop_library_call(L, n, fn->host.builtin, args->at, args->n, outs, &found));
    if (!fn->host.func && !found) TRY(call_builtin(L, fn->host.builtin, args->at, args->n, outs, wanted));
    bool lacks = !fn->host.func && fn->host.several && wanted > 1 && outs[1].what == WHAT_NOTHING;
    if (lacks) return kloop_decline(L, n->pos, "several results of %s", name);
    w->unpacks = !fn->host.func && fn->host.unpacks;
    if (wanted && outs->what == WHAT_NOTHING) return kloop_decline(L, n->pos, "%s gives no value", name);
    return QS_OK;
}

static qs_status convert_argument(Walk *w, TypeExpr *type, const char *what, uint32_t pos, Value *v) {
    return (void)type, (void)what, (void)v, kloop_decline((Loops *)w, pos, "an argument with a type");
}

const CallRules kloop_call_rules = {
    .place = "a compiled loop",
    .most_calls = LOOP_CALLS,
    .variable = kloop_variable,
    .function = make_function,
    .outside = kloop_outside,
    .callee = callee_of,
    .apply = apply_callee,
    .convert = convert_argument,
    .may_inline = may_inline,
    .new_frame = new_frame,
    .enter = enter_function,
    .bind = bind_param,
    .result = read_result,
};
