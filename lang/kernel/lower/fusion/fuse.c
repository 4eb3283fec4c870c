/* fuse.c -- compiles elementwise array expressions to kernels: out[pos] = expression.
 *
 * common/common_expr.c walks the tree.  This file loads the leaves at the position, applies the types of host
 * arithmetic, and stores or reduces the value. */
#include "lang/kernel/lower/fusion/fuse.h"
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/common/common.h"
#include "lang/kernel/lower/common/reduce_element.h"
#include "lang/syntax/fold.h"
#include "lang/syntax/operators.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The functions that are not rows of elem.def. */
typedef enum { OTHER_NONE, OTHER_WHERE, OTHER_POW, OTHER_FLOAT } Other;
static Other find_other(const char *name, int nargs) {
    if (nargs == 3 && !strcmp(name, "where")) return OTHER_WHERE;
    if (nargs == 2 && !strcmp(name, "pow")) return OTHER_POW;
    return nargs == 1 && !strcmp(name, "float") ? OTHER_FLOAT : OTHER_NONE;
}

bool kfuse_function(const char *name, int nargs) {
    return kelem_find(name, nargs) != EL__COUNT || find_other(name, nargs) != OTHER_NONE;
}

/* Sums, means and extremes are fused. */
static Reduce find_reduction(const char *name) {
    Reduce k = qreduction_find(name);
    const ReduceInfo *r = &qreduction_info[k];
    bool added = r->combine == COMBINE_ADD && r->dim;
    return added || qreduction_is_extreme(k) ? k : RED_NONE;
}

/* A reduction with a centre needs all elements twice. */
Reduce kfuse_reduction(const char *name, int nargs) {
    Reduce k = nargs == 1 ? find_reduction(name) : RED_NONE;
    return qreduction_info[k].centre ? RED_NONE : k;
}

Reduce kfuse_along(const char *name, int nargs) {
    Reduce k = find_reduction(name);
    return k && qreduction_info[k].dim && nargs == qreduction_info[k].dim + 1 ? k : RED_NONE;
}

/* -- values under construction ------------------------------------------------------------------------------------- */
typedef struct Val {
    KRef ref, im;   /* ref 0: the expression is declined; im: imaginary part of a complex value */
    qs_dtype dtype; /* element type of an array as the host would store it; a number: float64, int64 or complex128 */
    bool array;
} Val;

typedef struct {
    union {
        Walk walk;
        struct {
#include "lang/kernel/lower/common/members.def"
        };
    };
    const FuseExpr *e;
    const FuseLeafType *types;
    Val *leaves; /* loaded values, in the order of e->leaves */
    int *params; /* first parameter of each leaf */
    bool flat;
    int rank;
    const char
        *why; /* why the expression was declined, at source position why_at; NULL: it was not, or for its types */
    uint32_t why_at;
    /* rows */
    KRef at[QS_MAX_RANK];                      /* the line, and in a loop the position in it */
    int loop, *loops;                          /* number of the loop; the loop in which each leaf was loaded last */
    struct KnownVal *before;                   /* what was computed before the loop */
    int nbefore, extent;                       /* extent: parameter */
    Val values[FUSE_ITEMS];                    /* the values of e->items; rows: in the loop `within` */
    int within[FUSE_ITEMS], tried[FUSE_ITEMS]; /* tried: the same for code that is discarded (trial) */
    int visible;                               /* how many of them the code that is lowered may read */
    bool trial, masked;                        /* masked: the value of x[mask] = value is lowered */
    struct Pending *sums;                      /* reductions that the next loop over a row computes */
    int nsums;
    uint32_t repeated;             /* bits of the items with functions that several loops over a row compute */
    uint32_t kept;                 /* bits of the items that the first loop stores and later loops load */
    const FuseKernel *before_kept; /* the types of the results, from an attempt that kept fewer items; NULL: none */
    int results[FUSE_ITEMS + 1];   /* rows: parameters of the results; -1: none */
} Fuse;

enum { KNOWN_MOST = 32 };
typedef struct KnownVal {
    const Node *n;
    Val v;
} KnownVal;

static const Val declined;

/* Declines the expression, for a reason that --explain reports. */
static Val decline(Fuse *z, const char *why) {
    if (!z->why) z->why = why, z->why_at = z->pos;
    return declined;
}

static KRef emit_op(Fuse *z, KOp k, KRef a, KRef b) {
    return kbuild_pure(&z->walk, (KMake){k, .own = (qs_dtype)z->f->ins[a].dtype, .a = a, .b = b});
}
static KRef emit_ins(Fuse *z, KMake i) { return kbuild_emit(&z->walk, i); }
static KRef emit_const(Fuse *z, qs_dtype d, double x) { return kbuild_const(&z->walk, d, x); }
static KRef cast_to(Fuse *z, KRef a, qs_dtype d) {
    return z->f->ins[a].dtype == d ? a : kbuild_pure(&z->walk, (KMake){K_CAST, .own = d, .a = a});
}

/* The dtype of arithmetic on elements of type d. half and bfloat16 are unsupported: they would have to be rounded at
 * every step. */
static qs_dtype compute_dtype(qs_dtype d) { return d < QS_I32 ? QS_I32 : d; }
static bool is_supported(qs_dtype d) { return d <= QS_U64 || d == QS_F32 || d == QS_F64 || qdtype_is_complex(d); }

static Term term_of(Val a) { return (Term){a.dtype, !a.array}; }
static qs_dtype common_dtype(Fuse *z, Val a, Val b, bool fraction) {
    return qdtype_meet(term_of(a), term_of(b), fraction, z->c->scalar_dtype);
}

static Val real_value(KRef ref, qs_dtype d, bool array) { return (Val){.ref = ref, .dtype = d, .array = array}; }
static Val complex_value(KPair p, qs_dtype d, bool array) {
    return (Val){.ref = p.re, .im = p.im, .dtype = d, .array = array};
}

/* The real and imaginary part, converted to the complex type d. */
static KPair pair_of(Fuse *z, Val a, qs_dtype d) {
    qs_dtype r = qdtype_real_of(d);
    return (KPair){cast_to(z, a.ref, r), a.im ? cast_to(z, a.im, r) : emit_const(z, r, 0)};
}

/* -- the rows of elem.def ------------------------------------------------------------------------------------------ */
enum { ROW_ARGS = 3 };

/* Applies a row of elem.def to arguments of one type d.  A row of precision ELEM_WIDE is computed in complex128 and
 * rounded if d is complex. */
static Val apply_row(Fuse *z, Elem e, const Val *a, qs_dtype d, bool array) {
    const ElemInfo *info = &kelem_info[e];
    bool complex = qdtype_is_complex(d);
    KInto into = {z->f, &z->pos, true};
    KPair x[ROW_ARGS], r;
    KRef refs[ROW_ARGS];
    qs_dtype c = compute_dtype(d);
    if (complex && info->precision == ELEM_WIDE) c = QS_C128;
    ElemGives gives = (ElemGives)(complex ? info->complex : info->real);
    if (gives == ELEM_NOTHING || !is_supported(d))
        return decline(z, "it has no kernel for elements of this type: convert them, as in float64(x)");
    for (int i = 0; i < info->nargs; i++) {
        if (complex) x[i] = pair_of(z, complex_value(pair_of(z, a[i], d), d, false), c);
        else refs[i] = cast_to(z, a[i].ref, c);
    }
    r = complex ? kelem_complex(kelem_into(&into), e, qdtype_real_of(c), x) : kelem_real(kelem_into(&into), e, c, refs);
    if (gives == ELEM_TRUTH) return real_value(r.re, QS_B1, array);
    if (gives == ELEM_NUMBER)
        return real_value(complex ? cast_to(z, r.re, qdtype_real_of(d)) : r.re, qdtype_real_of(d), array);
    d = qdtype_complex_of(d);
    return complex_value(pair_of(z, complex_value(r, d, array), d), d, array);
}

/* -- operators ----------------------------------------------------------------------------------------------------- */
/* A power with a known exponent, computed as for host arrays; see contiguous.c. */
static Val apply_power(Fuse *z, const Val *a, qs_dtype d, bool array) {
    double n, im = 0;
    bool complex = qdtype_is_complex(d);
    KInto into = {z->f, &z->pos, true};
    qs_dtype c = complex ? qdtype_real_of(d) : compute_dtype(d);
    KPair r, x = complex ? pair_of(z, a[0], d) : (KPair){cast_to(z, a[0].ref, c), 0};
    bool known = kir_is_const(z->f, a[1].ref, &n) && (!a[1].im || (kir_is_const(z->f, a[1].im, &im) && im == 0));
    if (known && complex && n < 0 && kelem_power(kelem_into(&into), c, x, -n, &r)) {
        Val one = complex_value((KPair){emit_const(z, c, 1), emit_const(z, c, 0)}, d, true);
        return apply_row(z, EL_div, (Val[]){one, complex_value(r, d, true)}, d, array);
    }
    if (known && kelem_power(kelem_into(&into), c, x, n, &r))
        return complex ? complex_value(r, d, array) : real_value(r.re, d, array);
    if (complex && !known && im == 0) return declined; /* small integral exponents would be products */
    return apply_row(z, EL_pow, a, d, array);
}

static Val apply_arithmetic(Fuse *z, Op o, Val a, Val b) {
    Elem e = kelem_operator(o);
    bool array = a.array || b.array;
    if (o == OP_MUL && a.array && b.array)
        return decline(z, "it contains a matrix product: give the product a name before it, or write .* for elements");
    if (o == OP_POW && array) return decline(z, "^ is defined between numbers: write .^");
    if (o == OP_DIV && a.array && b.array && !z->flat) /* an error unless the shapes are equal */
        return decline(z, "/ of arrays that are stretched, or not contiguous, is no elementwise operator: write ./");
    if (a.array && b.array && kelem_is_mask(e, a.dtype, b.dtype))
        return real_value(emit_op(z, K_AND, a.ref, b.ref), QS_B1, true);
    qs_dtype d = common_dtype(z, a, b, kelem_info[e].integers == ELEM_FLOATS);
    if (d == QS_I64 && !array)
        return decline(z, "an int operation on numbers alone may overflow: give its result a name before it");
    Val args[] = {a, b};
    return e == EL_pow ? apply_power(z, args, d, array) : apply_row(z, e, args, d, array);
}

static Val apply_comparison(Fuse *z, Op o, Val a, Val b) {
    if (!a.array && !b.array) return decline(z, "a comparison of numbers is no array: give it a name before it");
    if (a.array && b.array && qdtype_mixes_signs(a.dtype, b.dtype)) {
        KInto into = {z->f, &z->pos, true};
        return real_value(kelem_compare_signs(kelem_into(&into), kelem_operator(o), a.ref, b.ref, b.dtype == QS_U64),
                          QS_B1, true);
    }
    return apply_row(z, kelem_operator(o), (Val[]){a, b}, common_dtype(z, a, b, false), true);
}

static Val apply_logical(Fuse *z, Op o, Val a, Val b) {
    if (!a.array || a.im || b.im)
        return decline(z, "the first operand of && or || is not a real array: a number may decide alone");
    return real_value(emit_op(z, o == OP_ANDAND ? K_AND : K_OR, cast_to(z, a.ref, QS_B1), cast_to(z, b.ref, QS_B1)),
                      QS_B1, true);
}

static Val apply_binary(Fuse *z, Op o, Val a, Val b) {
    switch (o) {
    case OP_ANDAND:
    case OP_OROR: return apply_logical(z, o, a, b);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_PWMUL:
    case OP_DIV:
    case OP_PWDIV:
    case OP_POW:
    case OP_PWPOW: return apply_arithmetic(z, o, a, b);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: return apply_comparison(z, o, a, b);
    default: return declined;
    }
}

static Val apply_unary(Fuse *z, Op o, Val a) {
    if (o == OP_PLUS) return a;
    if (o == OP_NOT && a.array && !a.im)
        return real_value(kbuild_pure(&z->walk, (KMake){K_NOT, .a = cast_to(z, a.ref, QS_B1)}), QS_B1, true);
    if (o != OP_NEG) return declined;
    qs_dtype d = !a.im && a.dtype < QS_I32 ? QS_I32 : a.dtype;
    if (!a.array && d == QS_I64) return declined;
    return apply_row(z, EL_neg, &a, d, a.array);
}

/* -- function calls ------------------------------------------------------------------------------------------------ */
/* Whether v has bits to operate on: arrays of integers, and known integral numbers, which become int64.  Any other
 * value may have a fraction, which is an error that the host reports. */
static bool has_bits(Fuse *z, Val *v) {
    double x;
    if (v->im || !is_supported(v->dtype)) return false;
    if (v->array) return v->dtype < QS_F16;
    if (!kir_is_const(z->f, v->ref, &x) || x != floor(x) || fabs(x) > 0x1p53) return false;
    return *v = real_value(kbuild_int(&z->walk, QS_I64, (int64_t)x), QS_I64, false), true;
}

static Val apply_shift(Fuse *z, Elem e, const Val *a) {
    Val v = a[0], n = a[1];
    bool whole = n.array || n.dtype == QS_I64; /* a number that is an int at run time */
    if (!v.array || !has_bits(z, &v) || n.im || (!whole && !has_bits(z, &n)) || n.dtype >= QS_F16) return declined;
    qs_dtype d = qdtype_promote(v.dtype, v.dtype), of_n = compute_dtype(n.dtype);
    KInto into = {z->f, &z->pos, true};
    KRef x = cast_to(z, v.ref, d), by = cast_to(z, n.ref, of_n);
    return real_value(kelem_shift(kelem_into(&into), e, d, x, by, of_n, false), d, true);
}

/* The common type of two operands of a bit operation: the type of the elements, if the number beside them fits into
 * it. */
static bool bits_meet(Val a, Val b, qs_dtype *d) {
    if (a.array && b.array) return *d = a.dtype == b.dtype ? a.dtype : qdtype_promote(a.dtype, b.dtype), *d < QS_F16;
    return *d = a.array ? a.dtype : b.dtype, *d != QS_B1;
}

static Val apply_bits(Fuse *z, Elem e, const Val *a) {
    int n = kelem_info[e].nargs;
    Val v[2] = {a[0], a[n - 1]};
    qs_dtype d;
    double x, lo, hi;
    for (int i = 0; i < n; i++)
        if (!has_bits(z, &v[i])) return declined;
    if ((!v[0].array && !v[n - 1].array) || !bits_meet(v[0], v[n - 1], &d)) return declined;
    for (int i = 0; i < n; i++) {
        if (v[i].array || !kir_is_const(z->f, v[i].ref, &x)) continue;
        qdtype_int_span(d, &lo, &hi);
        if (x < lo || x > hi) return declined;
    }
    if (e == EL_bitnot && d < QS_I32 && d != QS_B1) return declined; /* an int would have more bits */
    qs_dtype c = d == QS_B1 ? QS_B1 : compute_dtype(d);
    KInto into = {z->f, &z->pos, true};
    return real_value(
        kelem_real(kelem_into(&into), e, c, (KRef[]){cast_to(z, v[0].ref, c), cast_to(z, v[n - 1].ref, c)}).re, d,
        true);
}

/* Whether elements of this type keep all digits of an int.  The result beside a number then depends on whether the
 * number is integral at run time. */
static bool keeps_digits(Val a) { return a.array && (a.dtype == QS_I64 || a.dtype == QS_U64); }

/* Calls on numbers alone that give truth values, or take complex numbers, have other result types on the host and are
 * declined. */
static Val apply_call(Fuse *z, Elem e, const Val *a) {
    Term terms[ROW_ARGS];
    bool array = false, number = false;
    for (int i = 0; i < kelem_info[e].nargs; i++) {
        terms[i] = term_of(a[i]);
        array = array || a[i].array, number = number || !a[i].array;
    }
    if (!array && (a[0].im || kelem_info[e].real != ELEM_NUMBER)) return declined;
    if (kelem_info[e].integers == ELEM_FIRST) return apply_shift(z, e, a);
    if (e == EL_bitand || e == EL_bitor || e == EL_bitxor || e == EL_bitnot) return apply_bits(z, e, a);
    if (e == EL_mod && array && !number && qdtype_mixes_signs(a[0].dtype, a[1].dtype))
        return real_value(
            kelem_mod_signs(kelem_into(&(KInto){z->f, &z->pos, true}), a[0].ref, a[1].ref, a[1].dtype == QS_U64),
            QS_F64, true);
    bool choice = (kelem_info[e].integers == ELEM_SAME && kelem_info[e].nargs > 1) || e == EL_mod;
    for (int i = 0; choice && number && i < kelem_info[e].nargs; i++)
        if (keeps_digits(a[i])) return declined;
    qs_dtype d = kelem_meet(e, terms, z->c->scalar_dtype);
    /* an int that does not fit is an error, and the host saturates, which integer code does not */
    if ((d < QS_F16 && number) || (d < QS_I32 && kelem_info[e].integers == ELEM_INTEGERS))
        return decline(z, "this function of integers checks or saturates them: convert them, as in float(x)");
    if (kelem_is_itself(e, a[0].im) || (kelem_info[e].integers == ELEM_ITSELF && d < QS_F16)) return a[0];
    return apply_row(z, e, a, d, array);
}

/* -- choices ------------------------------------------------------------------------------------------------------- */
/* The type of c ? a : b.  Returns false if it depends on run-time values of numbers. */
static bool choice_dtype(Fuse *z, Val a, Val b, qs_dtype *d) {
    double x = 0, y = 0;
    bool number = !a.array || !b.array, numbers = !a.array && !b.array;
    if (number && (keeps_digits(a) || keeps_digits(b))) return false;
    if (numbers && (a.im || b.im || !kir_is_const(z->f, a.ref, &x) || !kir_is_const(z->f, b.ref, &y))) return false;
    qs_dtype list = qdtype_rounds_integral(x) || qdtype_rounds_integral(y) ? QS_F64 : z->c->scalar_dtype;
    *d = qdtype_choose(term_of(a), term_of(b), list, common_dtype(z, a, b, false));
    return !number || *d >= QS_F16;
}

static Val apply_choice(Fuse *z, Val c, Val a, Val b) {
    qs_dtype d;
    if (c.im || !choice_dtype(z, a, b, &d) || !is_supported(d))
        return decline(z, "the type of this choice depends on numbers: convert both sides, as in float(x)");
    KRef truth = cast_to(z, c.ref, QS_B1);
    if (qdtype_is_complex(d)) {
        KPair x = pair_of(z, a, d), y = pair_of(z, b, d);
        return complex_value(
            (KPair){kbuild_select(&z->walk, truth, x.re, y.re), kbuild_select(&z->walk, truth, x.im, y.im)}, d, true);
    }
    qs_dtype as = d == QS_B1 ? QS_B1 : compute_dtype(d);
    return real_value(kbuild_select(&z->walk, truth, cast_to(z, a.ref, as), cast_to(z, b.ref, as)), d, true);
}

/* -- conversions --------------------------------------------------------------------------------------------------- */
/* Converts elements as qconv_run does: floats are truncated, and integers that do not fit saturate. */
static Val apply_cast(Fuse *z, qs_dtype d, Val a) {
    double lo, hi;
    if (!a.array || a.im || !is_supported(d)) /* a number becomes a number */
        return decline(z, "this conversion is not one of real arrays: give its result a name before it");
    if (a.dtype == d) return a;
    if (d >= QS_I32) return real_value(cast_to(z, a.ref, d), d, true);
    qdtype_int_span(d, &lo, &hi);
    KRef x = emit_op(z, K_MAX, cast_to(z, a.ref, QS_I32), kbuild_int(&z->walk, QS_I32, (int64_t)lo));
    return real_value(emit_op(z, K_MIN, x, kbuild_int(&z->walk, QS_I32, (int64_t)hi)), d, true);
}

static Val apply_other(Fuse *z, Other o, const Val *a) {
    if (o == OTHER_WHERE) return a[0].array ? apply_choice(z, a[0], a[1], a[2]) : declined;
    if (o == OTHER_POW) return apply_arithmetic(z, OP_PWPOW, a[0], a[1]);
    if (a[0].im) return declined;
    bool real = qdtype_is_real(a[0].dtype);
    return apply_cast(z, real ? a[0].dtype : qdtype_promote_scalar(a[0].dtype, false, z->c->scalar_dtype), a[0]);
}

/* -- the rules for common/common.h --------------------------------------------------------------------------------- */
static qs_status check_value(Val v, Val *out) { return *out = v, v.ref ? QS_OK : QS_EVALUE; }

static int leaf_number(const Fuse *z, const Node *n) {
    for (int i = 0; i < z->e->nleaves; i++)
        if (z->e->leaves[i] == n) return z->types[i].same ? z->types[i].same - 1 : i;
    return -1;
}

static Val *find_known(const Fuse *z, const Node *n);
static void load_in_loop(Fuse *z, int leaf);
static Val value_in_loop(Fuse *z, int i);

/* Returns the number of the statement that gives the variable n its value; -1: n is something else. */
static int value_number(const Fuse *z, const Node *n) { return qfuse_item_of(z->e->items, z->visible, n); }

static Val lower_elements(Fuse *z, const Node *n) {
    Val v = {0};
    return kexpr_lower(&z->walk, (Node *)(uintptr_t)n, &v) == QS_OK && v.array ? v : declined;
}

/* Above the leaves, only operators, functions and numbers are fused. */
static qs_status find_leaf(Walk *w, const Node *n, Val *out, bool *found) {
    Fuse *z = (Fuse *)w;
    int leaf = leaf_number(z, n), value = value_number(z, n);
    Val *known = z->e->rows ? find_known(z, n) : NULL;
    if (value >= 0) return *found = true, check_value(z->e->rows ? value_in_loop(z, value) : z->values[value], out);
    if ((z->e->mask || z->masked) && n->kind == N_INDEX) {
        n = n->u.index.base, leaf = leaf_number(z, n); /* at a position, x[mask] has the element of x */
        if (leaf < 0) return *found = true, check_value(lower_elements(z, n), out);
        if (!z->leaves[leaf].array) return QS_EVALUE;
    }
    if (leaf >= 0 && z->e->rows) load_in_loop(z, leaf);
    if (leaf >= 0 || known) *out = known ? *known : z->leaves[leaf], *found = true;
    bool inner =
        n->kind == N_NUM || n->kind == N_UNARY || n->kind == N_BINARY || n->kind == N_CALL || n->kind == N_TERNARY;
    return *found || inner ? QS_OK : QS_EVALUE;
}

static qs_status lower_literal(Walk *w, const Node *n, Val *out) {
    Fuse *z = (Fuse *)w;
    *out = real_value(emit_const(z, QS_F64, n->u.num.value), QS_F64, false);
    if (n->u.num.imaginary) *out = complex_value((KPair){emit_const(z, QS_F64, 0), out->ref}, QS_C128, false);
    return QS_OK;
}

static qs_status unary_rule(Walk *w, Op o, Val *a, Val *out) { return check_value(apply_unary((Fuse *)w, o, *a), out); }

static qs_status binary_rule(Walk *w, Op o, Val *a, Val *b, Val *out) {
    return check_value(apply_binary((Fuse *)w, o, *a, *b), out);
}

static qs_status find_callee(Walk *w, Called *c) { return (void)w, (void)c, QS_OK; }

static qs_status lower_call(Walk *w, Node *n, Val *fn, const Args *args, Val *outs, int wanted) {
    Fuse *z = (Fuse *)w;
    (void)fn, (void)wanted;
    for (int i = 0; i < z->e->ncasts; i++)
        if (z->e->casts[i] == n) return check_value(apply_cast(z, (qs_dtype)z->e->cast_dtypes[i], args->at[0]), outs);
    const char *name = n->u.call.callee->u.ident.name->s;
    Other other = find_other(name, args->n);
    if (other != OTHER_NONE) return check_value(apply_other(z, other, args->at), outs);
    Elem e = kelem_find(name, args->n);
    return e == EL__COUNT ? QS_EVALUE : check_value(apply_call(z, e, args->at), outs);
}

static bool is_array(const Val *v) { return v->array; }

static qs_status lower_choice(Walk *w, Val *c, Val *a, Val *b, Val *out) {
    return check_value(apply_choice((Fuse *)w, *c, *a, *b), out);
}

/* A scalar condition selects what is computed at all, so it is declined. */
static qs_status decline_truth(Walk *w, const Val *v, KRef *out, int *known) {
    return (void)w, (void)v, (void)out, (void)known, QS_EVALUE;
}

static const CallRules call_rules = {.callee = find_callee, .apply = lower_call};
static const ExprRules expr_rules = {.leaf = find_leaf,
                                     .literal = lower_literal,
                                     .unary = unary_rule,
                                     .binary = binary_rule,
                                     .elementwise = is_array,
                                     .many = is_array,
                                     .choose = lower_choice,
                                     .truth = decline_truth};
static const WalkRules rules = {.call = &call_rules, .expr = &expr_rules, .value_size = sizeof(Val)};

static Val lower_visible(Fuse *z, Node *n, int visible) {
    Val v = {0};
    int before = z->visible;
    z->visible = visible;
    if (kexpr_lower(&z->walk, n, &v) != QS_OK) v = declined;
    z->visible = before;
    return v;
}

static Val assign_masked(Fuse *z, Val old, Val mask, Op op, Val v);

/* Lowers a statement; one that changes an array has the value of the whole array. */
static Val lower_value(Fuse *z, int i) {
    const FuseItem *s = &z->e->items[i];
    if (!s->mask) return lower_visible(z, s->root, i);
    int before = z->visible;
    z->visible = i;
    Val old = lower_elements(z, s->array), mask = lower_elements(z, s->mask), v = declined;
    z->masked = true;
    if (old.ref && mask.ref) v = lower_visible(z, s->root, i);
    z->visible = before, z->masked = false;
    return v.ref ? assign_masked(z, old, mask, (Op)s->op, v) : declined;
}

static bool lower_items(Fuse *z) {
    for (int i = 0; i < z->e->nitems; i++) {
        z->values[i] = lower_value(z, i);
        if (!z->values[i].ref) return false;
    }
    return true;
}

/* Lowers the statements in order, then the root. */
static Val lower_root(Fuse *z) { return lower_items(z) ? lower_visible(z, z->e->root, z->e->nitems) : declined; }

/* -- leaves -------------------------------------------------------------------------------------------------------- */
static void add_params(Fuse *z) {
    char name[16];
    for (int i = 0; i < z->e->nleaves; i++) {
        const FuseLeafType *t = &z->types[i];
        if (t->layout.beside) z->params[i] = z->params[t->layout.beside - 1];
        if (t->same || t->layout.beside) continue;
        snprintf(name, sizeof name, "x%d", i);
        KParam p = {.name = qstr_cname(z->c, name),
                    .kind = t->array ? KP_ARRAY : KP_NUM,
                    .dtype = t->array      ? t->dtype
                             : t->weak_int ? QS_I64
                                           : QS_F64,
                    .rank = (uint8_t)(z->rank + (t->layout.channels > 0)),
                    .contiguous = z->flat,
                    .unit_last = z->flat || t->layout.stride == 1 || t->layout.channels,
                    .read = true,
                    .written = z->e->mask && z->e->kind == RED_NONE && i == 0};
        z->params[i] = kir_param(z->f, &p);
        if (t->complex) kir_param(z->f, &p);
    }
}

static KRef load_part(Fuse *z, int leaf, KRef index, int part) {
    return kmemory_load(&z->walk, z->params[leaf], (qs_dtype)z->types[leaf].dtype, index, part, 0);
}

static KRef number_param(Fuse *z, int leaf, int part) {
    qs_dtype d = z->types[leaf].weak_int ? QS_I64 : QS_F64;
    return emit_ins(z, (KMake){K_PARAM, .own = d, .imm = (uint64_t)(z->params[leaf] + part)});
}

static void load_leaf(Fuse *z, int i, const KRef *at) {
    const FuseLeafType *t = &z->types[i];
    Val *v = &z->leaves[i];
    if (t->same) *v = z->leaves[t->same - 1];
    else if (t->array) {
        Layout a = {.param = z->params[i],
                    .rank = z->rank,
                    .contiguous = z->flat,
                    .unit_last = t->layout.stride == 1,
                    .last_stride = t->layout.stride,
                    .fixed = z->flat ? 0 : t->layout.fixed};
        KRef index = kmemory_linear(&z->walk, &a, at);
        if (t->layout.channel)
            index = kbuild_op(&z->walk, K_ADD, index, kbuild_int(&z->walk, QS_I64, t->layout.channel));
        *v = real_value(load_part(z, i, index, 0), (qs_dtype)t->dtype, true);
        if (qdtype_is_complex(v->dtype)) v->im = load_part(z, i, index, 1);
    } else {
        *v = real_value(number_param(z, i, 0), t->complex ? QS_C128 : t->weak_int ? QS_I64 : QS_F64, false);
        if (t->complex) v->im = number_param(z, i, 1);
    }
}

static void load_leaves(Fuse *z, const KRef *at) {
    for (int i = 0; i < z->e->nleaves; i++) load_leaf(z, i, at);
}

/* -- results ------------------------------------------------------------------------------------------------------- */
/* whole: the result is an array of its own, not a part of one. */
static int add_result(Fuse *z, qs_dtype d, bool flat, bool whole) {
    KParam p = {.name = qstr_cname(z->c, "y"),
                .kind = KP_ARRAY,
                .dtype = (uint8_t)d,
                .rank = flat ? 1 : (uint8_t)z->rank,
                .contiguous = !z->e->boxed && (whole || !z->e->strided),
                .unit_last = whole || !z->e->strided || z->e->unit,
                .written = true,
                .distinct = true};
    return kir_param(z->f, &p);
}

static void store_result(Fuse *z, const KRef *at, Val v, qs_dtype d, bool whole) {
    int result = add_result(z, d, z->flat, whole);
    bool strided = !whole && z->e->strided, unit = !strided || z->e->unit;
    Layout y = {.param = result, .rank = z->rank, .contiguous = !strided && !z->e->boxed, .unit_last = unit};
    KRef linear = kmemory_linear(&z->walk, &y, at);
    qs_dtype as = kir_value_dtype(d);
    kmemory_store(&z->walk, result, d, linear, 0, cast_to(z, v.ref, as), 0);
    if (!qdtype_is_complex(d)) return;
    kmemory_store(&z->walk, result, d, linear, 1, v.im ? cast_to(z, v.im, as) : emit_const(z, as, 0), 0);
}

static bool build_map(Fuse *z, FuseKernel *out) {
    KRef at[QS_MAX_RANK];
    for (int d = 0; d < z->rank; d++) at[d] = emit_ins(z, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)d});
    load_leaves(z, at);
    if (!lower_items(z)) return false;
    Val v = z->e->root ? lower_visible(z, z->e->root, z->e->nitems) : declined;
    if (z->e->root && (!v.ref || !v.array)) return false;
    for (int i = 0; i < z->e->nitems; i++) {
        if (!z->e->items[i].stored) continue;
        if (!z->values[i].array) return decline(z, "one of the statements computes a number"), false;
        store_result(z, at, z->values[i], out->value[i].dtype = z->values[i].dtype, true);
    }
    if (z->e->root) store_result(z, at, v, v.dtype, false);
    return out->dtype = v.dtype, true;
}

/* Converts a value to the elements of type d that it is assigned to.  Where the host checks the value, the expression
 * is declined. */
static Val convert_assigned(Fuse *z, qs_dtype d, Val v) {
    double x, lo, hi;
    bool is_float = d == QS_F32 || d == QS_F64, fits = false;
    if (v.array && v.dtype == d) return v;
    if (!v.array && qdtype_is_int(d) && !v.im && kir_is_const(z->f, v.ref, &x)) {
        qdtype_int_span(d, &lo, &hi);
        fits = x == floor(x) && x >= lo && x <= hi && fabs(x) <= 0x1p53;
    }
    if (!v.im && !qdtype_is_complex(v.dtype) && (is_float || fits))
        return real_value(cast_to(z, v.ref, kir_value_dtype(d)), d, true);
    if (v.array && !v.im && is_supported(v.dtype) && qdtype_is_int(d)) return apply_cast(z, d, v);
    return decline(z, "the value of this masked assignment has another type: convert it, as in int(x[mask])");
}

/* Returns the elements of y after y[mask] op= v, or y[mask] = v if op is OP__COUNT; those whose mask is false stay. */
static Val assign_masked(Fuse *z, Val old, Val mask, Op op, Val v) {
    if (!mask.ref || mask.dtype != QS_B1) return declined;
    if (op != OP__COUNT && keeps_digits(old) && (!v.array || v.dtype != old.dtype))
        return decline(z, "this masked assignment updates 64-bit integers by numbers of another type");
    if (op != OP__COUNT) v = apply_binary(z, op, old, v);
    if (v.ref) v = convert_assigned(z, old.dtype, v);
    if (!v.ref) return declined;
    qs_dtype as = kir_value_dtype(old.dtype), part = qdtype_is_complex(old.dtype) ? qdtype_real_of(old.dtype) : as;
    Val r = real_value(kbuild_select(&z->walk, mask.ref, cast_to(z, v.ref, part), old.ref), old.dtype, true);
    if (!old.im) return r;
    r.im = kbuild_select(&z->walk, mask.ref, v.im ? cast_to(z, v.im, part) : emit_const(z, part, 0), old.im);
    return r;
}

static bool build_masked(Fuse *z, FuseKernel *out) {
    KRef at = emit_ins(z, (KMake){K_POS, .own = QS_I64});
    load_leaves(z, &at);
    Val old = z->leaves[0], mask = lower_elements(z, z->e->mask), v = mask.ref ? lower_root(z) : declined;
    if (v.ref) v = assign_masked(z, old, mask, z->e->updates ? (Op)z->e->op : OP__COUNT, v);
    if (!v.ref) return false;
    kmemory_store(&z->walk, z->params[0], old.dtype, at, 0, v.ref, 0);
    if (old.im) kmemory_store(&z->walk, z->params[0], old.dtype, at, 1, v.im, 0);
    return out->dtype = old.dtype, true;
}

/* The type in which a reduction accumulates: int64 for sums of integers, float64 for sums of floats and means, the
 * element type for minima and maxima. */
static qs_dtype lane_dtype(Reduce k, qs_dtype d) {
    if (qreduction_info[k].lanes == LANES_SAME) return d;
    return d >= QS_F16 || qreduction_info[k].lanes != LANES_WIDE ? QS_F64 : QS_I64;
}

static KRef merge_lanes(Fuse *z, Reduce kind, qs_dtype lane, unsigned flag, KRef a, KRef b) {
    KOp op = kbuild_combine((Combine)qreduction_info[kind].combine);
    return kbuild_emit(&z->walk, (KMake){op, .own = lane, .flag = flag, .a = a, .b = b});
}

/* A reduction under way, in LOCALs.  A minimum or maximum, which may give either zero, has two more.
 * `some`: 1 if there was a number, not only NaN; it is an int, because LLVM does not vectorize the loop with a bool.
 * `zeros`: the sum of the zeros, for a minimum of the negated ones.  A sum of zeros is -0 only if all are -0, so it has
 * the sign of their maximum; this is faster than to order the zeros in each step. */
typedef struct {
    Reduce kind;
    qs_dtype lane;
    double first;
    KRef acc, some, zeros, centre;
    KRef count; /* number of elements where the mask is true; 0: there is no mask */
} Total;

static Total begin_total(Fuse *z, Reduce kind, qs_dtype lane) {
    double first = qreduction_identity((Combine)qreduction_info[kind].combine);
    KRef start = lane == QS_I64 ? kbuild_int(&z->walk, lane, 0) : emit_const(z, lane, first);
    Total t = {kind, lane, first, emit_ins(z, (KMake){K_LOCAL, .a = start}), 0, 0, 0, 0};
    if (z->e->mask) t.count = emit_ins(z, (KMake){K_LOCAL, .a = kbuild_int(&z->walk, QS_I64, 0)});
    if (!qreduction_is_extreme(kind)) return t;
    t.some = emit_ins(z, (KMake){K_LOCAL, .a = kbuild_int(&z->walk, QS_I32, 0)});
    t.zeros = emit_ins(z, (KMake){K_LOCAL, .a = emit_const(z, lane, -0.0)});
    return t;
}

static KRef emit_directed(Fuse *z, const Total *t, KRef x) { return t->kind == RED_min ? emit_op(z, K_NEG, x, 0) : x; }

static void add_zero(Fuse *z, const Total *t, KRef x) {
    KRef none = emit_const(z, t->lane, -0.0), is_zero = kbuild_pure(&z->walk, (KMake){K_EQ, .a = x, .b = none});
    KRef old = emit_ins(z, (KMake){K_GET, .a = t->zeros}),
         more = kbuild_select(&z->walk, is_zero, emit_directed(z, t, x), none);
    emit_ins(z, (KMake){K_SET, .a = t->zeros, .b = merge_lanes(z, RED_sum, t->lane, KFLAG_REASSOC, old, more)});
}

/* Counts an element, and replaces it by one that changes nothing if the mask is false. */
static KRef add_masked(Fuse *z, const Total *t, KRef x) {
    KRef mask = lower_elements(z, z->e->mask).ref, old = emit_ins(z, (KMake){K_GET, .a = t->count});
    emit_ins(z, (KMake){K_SET, .a = t->count, .b = emit_op(z, K_ADD, old, cast_to(z, mask, QS_I64))});
    double none = qreduction_is_extreme(t->kind) ? NAN : -0.0;
    KRef unchanged = t->lane == QS_I64 ? kbuild_int(&z->walk, QS_I64, 0) : emit_const(z, t->lane, none);
    return kbuild_select(&z->walk, mask, x, unchanged);
}

static void add_to_total(Fuse *z, const Total *t, Val v) {
    KRef x = kreduce_map(&z->walk, (ReduceMap)qreduction_info[t->kind].map, cast_to(z, v.ref, t->lane), t->centre, 0);
    KRef old = emit_ins(z, (KMake){K_GET, .a = t->acc});
    if (t->count) x = add_masked(z, t, x);
    if (t->some) {
        KRef number = kbuild_pure(&z->walk, (KMake){K_EQ, .a = x, .b = x});
        KRef some = emit_ins(z, (KMake){K_GET, .a = t->some});
        emit_ins(z, (KMake){K_SET, .a = t->some, .b = emit_op(z, K_OR, some, cast_to(z, number, QS_I32))});
        add_zero(z, t, x);
        x = kbuild_select(&z->walk, number, x, emit_const(z, t->lane, t->first));
    }
    unsigned flag = z->e->ordered && !t->some ? 0 : KFLAG_REASSOC;
    emit_ins(z, (KMake){K_SET, .a = t->acc, .b = merge_lanes(z, t->kind, t->lane, flag, old, x)});
}

static KRef end_total(Fuse *z, const Total *t) {
    KRef x = emit_ins(z, (KMake){K_GET, .a = t->acc});
    if (!t->some) return x;
    KRef is_zero = kbuild_pure(&z->walk, (KMake){K_EQ, .a = x, .b = emit_const(z, t->lane, 0)});
    x = kbuild_select(&z->walk, is_zero, emit_directed(z, t, emit_ins(z, (KMake){K_GET, .a = t->zeros})), x);
    return kbuild_select(&z->walk, cast_to(z, emit_ins(z, (KMake){K_GET, .a = t->some}), QS_B1), x,
                         emit_const(z, t->lane, NAN));
}

/* Returns the extent of the domain, which is that of every array in it. */
static KRef domain_extent(Fuse *z, int d) {
    int i = 0;
    while (!z->types[i].array || z->types[i].same) i++;
    return kmemory_extent(&z->walk, &(Layout){.param = z->params[i]}, d);
}

/* Returns the reduction of the elements first, first+step … last, and with a mask their number.  In a domain of several
 * dimensions these are positions along the first one. */
static KPair accumulate(Fuse *z, qs_dtype lane, KRef first, KRef last, KRef step) {
    Total t = begin_total(z, z->e->kind, lane);
    KRef at[QS_MAX_RANK], zero = kbuild_int(&z->walk, QS_I64, 0), one = kbuild_int(&z->walk, QS_I64, 1);
    at[0] = emit_ins(z, (KMake){K_FOR, .own = QS_I64, .a = first, .b = last, .c = step});
    for (int d = 1; d < z->rank; d++) {
        KRef end = emit_op(z, K_SUB, domain_extent(z, d), one);
        at[d] = emit_ins(z, (KMake){K_FOR, .own = QS_I64, .a = zero, .b = end, .c = one});
    }
    load_leaves(z, at);
    bool counts = z->e->counts;
    add_to_total(z, &t, counts ? real_value(kbuild_int(&z->walk, lane, 1), lane, true) : lower_root(z));
    for (int d = 0; d < z->rank; d++) emit_ins(z, (KMake){.op = K_END});
    KRef count = t.count ? cast_to(z, emit_ins(z, (KMake){K_GET, .a = t.count}), lane) : 0;
    return (KPair){end_total(z, &t), count};
}

static KPair merge_parts(Walk *w, KPair a, KPair b) {
    Fuse *z = (Fuse *)w;
    unsigned flag = qreduction_is_extreme(z->e->kind) ? KFLAG_ZEROS : KFLAG_REASSOC;
    qs_dtype lane = (qs_dtype)w->f->ins[a.re].dtype;
    KRef count = a.im ? merge_lanes(z, RED_sum, lane, KFLAG_REASSOC, a.im, b.im) : 0;
    return (KPair){merge_lanes(z, z->e->kind, lane, flag, a.re, b.re), count};
}

static void store_partial(Fuse *z, qs_dtype lane, int result, KRef pos, KPair total) {
    KRef two = kbuild_int(&z->walk, QS_I64, 2), at = total.im ? emit_op(z, K_MUL, pos, two) : pos;
    kmemory_store(&z->walk, result, lane, at, 0, total.re, 0);
    if (!total.im) return;
    at = emit_op(z, K_ADD, at, kbuild_int(&z->walk, QS_I64, 1));
    kmemory_store(&z->walk, result, lane, at, 0, total.im, 0);
}

/* Merges the values of a block; its first position stores the result. */
static void merge_block(Fuse *z, qs_dtype lane, int result, KPair mine) {
    KPair all = kmemory_merge_group(&z->walk, &(Grouped){0, FUSE_GROUP, lane, merge_parts, NULL}, mine);
    KRef block = emit_ins(z, (KMake){K_BLKIDX, .own = QS_I32});
    store_partial(z, lane, result, cast_to(z, block, QS_I64), all);
    kbuild_end(&z->walk);
}

/* Determines the element type of the expression by building it and discarding the code. */
static bool element_dtype(Fuse *z, KRef index, qs_dtype *out) {
    uint32_t mark = z->f->nins;
    KRef at[QS_MAX_RANK];
    for (int d = 0; d < z->rank; d++) at[d] = index;
    load_leaves(z, at);
    Val v = lower_root(z), mask = z->e->mask ? lower_elements(z, z->e->mask) : v;
    kbuild_take_back(&z->walk, mark);
    *out = z->e->counts ? QS_B1 : v.dtype;
    return v.ref && v.array && mask.ref && (!z->e->mask || mask.dtype == QS_B1);
}

/* The last two parameters are chunk and n.  By chunks: partial[pos] is the reduction over [pos*chunk, min(n,
 * (pos+1)*chunk)).  Grouped: position pos takes elements pos, pos+chunk … below n, so that neighboring positions read
 * neighboring elements. */
static bool build_reduction(Fuse *z, FuseKernel *out) {
    Reduce kind = z->e->kind;
    KParam size = {.name = qstr_cname(z->c, "chunk"), .kind = KP_NUM, .dtype = QS_I64};
    qs_dtype d;
    KRef chunk = emit_ins(z, (KMake){K_PARAM, .own = QS_I64, .imm = (uint64_t)kir_param(z->f, &size)});
    size.name = qstr_cname(z->c, "n");
    KRef n = emit_ins(z, (KMake){K_PARAM, .own = QS_I64, .imm = (uint64_t)kir_param(z->f, &size)});
    KRef pos = emit_ins(z, (KMake){K_POS, .own = QS_I64}), one = kbuild_int(&z->walk, QS_I64, 1);
    if (!element_dtype(z, pos, &d) || qdtype_is_complex(d)) return false;
    if (qreduction_is_extreme(kind) && d < QS_F32) return false;
    qs_dtype lane = lane_dtype(kind, d);
    if (d >= QS_I64 && lane == QS_I64) return false; /* may overflow, which the host reports */
    int result = add_result(z, lane, true, true);
    if (z->e->grouped) {
        z->f->fixed_block = true, z->f->block[0] = FUSE_GROUP;
        merge_block(z, lane, result, accumulate(z, lane, pos, emit_op(z, K_SUB, n, one), chunk));
    } else {
        KRef first = emit_op(z, K_MUL, pos, chunk),
             last = emit_op(z, K_SUB, emit_op(z, K_MIN, emit_op(z, K_ADD, first, chunk), n), one);
        store_partial(z, lane, result, pos, accumulate(z, lane, first, last, one));
    }
    out->dtype = lane;
    out->integral = lane == QS_I64 && d != QS_B1; /* a number of elements is no int */
    return true;
}

static bool build_added(Fuse *z, FuseKernel *out) {
    KRef pos = emit_ins(z, (KMake){K_POS, .own = QS_I64});
    load_leaves(z, &pos);
    Val v = lower_root(z);
    if (!v.ref || !v.array || v.im || v.dtype < QS_F16) return false;
    KRef added = kreduce_map(&z->walk, (ReduceMap)qreduction_info[z->e->kind].map, cast_to(z, v.ref, QS_F64), 0, 0);
    int sum = add_result(z, QS_F64, true, true);
    kbuild_emit(&z->walk, (KMake){K_ATOMIC, .flag = KA_ADD, .a = kbuild_int(&z->walk, QS_I64, 0), .b = added,
                                  .imm = (uint64_t)sum});
    return out->dtype = QS_F64, true;
}

/* -- rows ---------------------------------------------------------------------------------------------------------- */
/* An expression with reductions along a dimension is computed line by line.  Along the last dimension, a line is a row.
 * Each reduction is a loop over the line, after those inside it.  Values that are the same for a whole line are
 * computed before the loop that needs them. */

static Node *operand(const Node *n, int i) {
    switch (n->kind) {
    case N_UNARY: return i == 0 ? n->u.bin.a : NULL;
    case N_BINARY: return i == 0 ? n->u.bin.a : i == 1 ? n->u.bin.b : NULL;
    case N_TERNARY: return i == 0 ? n->u.ternary.cond : i == 1 ? n->u.ternary.then : i == 2 ? n->u.ternary.other : NULL;
    case N_CALL: return i < n->u.call.args.n ? n->u.call.args.at[i].value : NULL;
    default: return NULL;
    }
}

static Reduce along_kind(const Fuse *z, const Node *n) {
    if (n->kind != N_CALL || n->u.call.callee->kind != N_IDENT || leaf_number(z, n) >= 0) return RED_NONE;
    return kfuse_along(n->u.call.callee->u.ident.name->s, n->u.call.args.n);
}

/* Returns whether two nodes have the same value in this expression. */
static bool are_same(const Fuse *z, const Node *a, const Node *b) {
    int x = leaf_number(z, a), y = leaf_number(z, b);
    if (a == b) return true;
    if (x >= 0 || y >= 0) return x == y || (x >= 0 && y >= 0 && qast_same_name(a, b));
    if (a->kind != b->kind || a->op != b->op) return false;
    if (a->kind == N_NUM) return a->u.num.value == b->u.num.value && a->u.num.imaginary == b->u.num.imaginary;
    if (a->kind == N_CALL &&
        (a->u.call.callee->kind != N_IDENT || b->u.call.callee->kind != N_IDENT ||
         a->u.call.callee->u.ident.name != b->u.call.callee->u.ident.name || a->u.call.args.n != b->u.call.args.n))
        return false;
    int n = along_kind(z, a) != RED_NONE ? 1 : 3;
    for (int i = 0; i < n && operand(a, i); i++)
        if (!operand(b, i) || !are_same(z, operand(a, i), operand(b, i))) return false;
    return operand(a, 0) != NULL;
}

static Val *find_known(const Fuse *z, const Node *n) {
    for (int i = 0; i < z->nbefore; i++)
        if (are_same(z, z->before[i].n, n)) return &z->before[i].v;
    return NULL;
}

static bool add_known(Fuse *z, const Node *n, Val v) {
    if (z->nbefore == KNOWN_MOST || !v.ref) return false;
    return z->before[z->nbefore++] = (KnownVal){n, v}, true;
}

static bool leaf_is_wide(const Fuse *z, int i) {
    return z->types[i].array && !(z->types[i].layout.fixed >> z->e->axis & 1);
}

static bool is_wide(Fuse *z, const Node *n);
static bool value_is_wide(Fuse *z, int i) {
    int before = z->visible;
    z->visible = i;
    bool wide = is_wide(z, z->e->items[i].root);
    return z->visible = before, wide;
}

/* Returns whether the value differs along a row. */
static bool is_wide(Fuse *z, const Node *n) {
    int leaf = leaf_number(z, n), value = value_number(z, n);
    bool wide = false;
    if (value >= 0) return value_is_wide(z, value);
    if (leaf >= 0) return leaf_is_wide(z, leaf);
    if (along_kind(z, n) != RED_NONE) return false;
    for (int i = 0; operand(n, i); i++) wide = wide || is_wide(z, operand(n, i));
    return wide;
}

static void load_in_loop(Fuse *z, int leaf) {
    int loop = leaf_is_wide(z, leaf) ? z->loop : 0;
    if (z->loops[leaf] == loop) return;
    load_leaf(z, leaf, z->at);
    z->loops[leaf] = loop;
}

static Val lower_part(Fuse *z, const Node *n) { return lower_visible(z, (Node *)(uintptr_t)n, z->visible); }

static bool store_row(Fuse *z, Val v, int result);

/* Returns the parameter whose row holds the elements of a kept item: its own result, or the last one, which is stored
 * after all others. */
static int keeper_of(const Fuse *z, int i) { return z->results[z->e->items[i].stored ? i : z->e->nitems]; }

static Val load_kept(Fuse *z, int i) {
    qs_dtype d = z->values[i].dtype;
    int param = keeper_of(z, i);
    KRef at = kmemory_linear(&z->walk, &(Layout){.param = param, .rank = z->rank, .contiguous = true}, z->at);
    return real_value(kmemory_load(&z->walk, param, d, at, 0, 0), d, true);
}

/* Lowers a statement once in each loop; one that is the same for the whole row was lowered before the loops (hoist).
 * The first loop stores a kept one, and later loops load it. */
static Val value_in_loop(Fuse *z, int i) {
    bool wide = value_is_wide(z, i), again = wide && z->e->items[i].calls && z->within[i] > 0, kept = z->kept >> i & 1;
    int *loop = z->trial && wide ? &z->tried[i] : &z->within[i];
    if (*loop == z->loop || (!wide && *loop >= 0)) return z->values[i];
    if (again && !z->trial) z->repeated |= 1u << i;
    z->values[i] = again && kept ? load_kept(z, i) : lower_value(z, i);
    if (kept && !again && !z->trial && !store_row(z, z->values[i], keeper_of(z, i))) return declined;
    return *loop = z->loop, z->values[i];
}

static bool hoist(Fuse *z, const Node *n);
static bool hoist_value(Fuse *z, int i) {
    int before = z->visible;
    z->visible = i;
    bool done = hoist(z, z->e->items[i].root);
    z->visible = before;
    return done && (value_is_wide(z, i) || value_in_loop(z, i).ref);
}

/* Computes what is the same for the whole row, so that the loop over it finds the values. */
static bool hoist(Fuse *z, const Node *n) {
    double number;
    int value = value_number(z, n);
    if (value >= 0) return hoist_value(z, value);
    if (leaf_number(z, n) >= 0 || find_known(z, n) || !operand(n, 0)) return true;
    if (!is_wide(z, n)) return qfold_number(n, &number) || add_known(z, n, lower_part(z, n));
    for (int i = 0; operand(n, i); i++)
        if (!hoist(z, operand(n, i))) return false;
    return true;
}

static KRef load_extent(Fuse *z) {
    if (z->e->extent) return kbuild_int(&z->walk, QS_I64, z->e->extent);
    return emit_ins(z, (KMake){K_PARAM, .own = QS_I64, .imm = (uint64_t)z->extent});
}

static void begin_row_loop(Fuse *z) {
    KRef zero = kbuild_int(&z->walk, QS_I64, 0), one = kbuild_int(&z->walk, QS_I64, 1), n = load_extent(z);
    z->at[z->e->axis] = emit_ins(z, (KMake){K_FOR, .own = QS_I64, .a = zero, .b = emit_op(z, K_SUB, n, one), .c = one});
    z->loop++;
}

/* Determines the type of a value in a loop by building its code and discarding it. */
static Val try_part(Fuse *z, const Node *n) {
    uint32_t mark = z->f->nins;
    z->at[z->e->axis] = z->at[!z->e->axis], z->loop++, z->trial = true;
    Val v = lower_part(z, n);
    kbuild_take_back(&z->walk, mark);
    return z->loop++, z->trial = false, v;
}

/* Returns the type of the elements of a result; QS_B1: the host must compute it. */
static qs_dtype total_dtype(const Fuse *z, Reduce kind, Val v) {
    qs_dtype scalar = z->c->scalar_dtype;
    if (!v.ref || !v.array || v.im || qdtype_is_complex(v.dtype)) return QS_B1;
    if (qreduction_is_extreme(kind)) return v.dtype < QS_F32 ? QS_B1 : v.dtype;
    if (v.dtype >= QS_F16 || qreduction_info[kind].lanes != LANES_WIDE)
        return qdtype_promote_scalar(v.dtype, false, scalar);
    return v.dtype == QS_B1 ? scalar : v.dtype >= QS_I64 ? QS_B1 : QS_I64; /* int64 may overflow */
}

/* A reduction along the row; those in a loop do not depend on each other. */
typedef struct Pending {
    const Node *n;
    Reduce kind;
    qs_dtype out;
    int visible;
    Total total;
} Pending;

static void add_in_loop(Fuse *z, const Pending *p) {
    add_to_total(z, &p->total, lower_visible(z, operand(p->n, 0), p->visible));
}

/* Computes reductions in one loop over the row. */
static void total_rows(Fuse *z, const Pending *p, int n) {
    begin_row_loop(z);
    for (int i = 0; i < n; i++) add_in_loop(z, &p[i]);
    emit_ins(z, (KMake){.op = K_END});
    z->loop++;
}

static bool finish_row(Fuse *z, const Pending *p) {
    const ReduceInfo *r = &qreduction_info[p->kind];
    KRef total = end_total(z, &p->total);
    total = kreduce_finish(&z->walk, r, total, r->finish == FINISH_MEAN ? load_extent(z) : 0, p->total.centre);
    return add_known(z, p->n, real_value(cast_to(z, total, kir_value_dtype(p->out)), p->out, true));
}

static bool reduce_pending(Fuse *z) {
    int n = z->nsums;
    z->nsums = 0;
    if (n) total_rows(z, z->sums, n);
    for (int i = 0; i < n; i++)
        if (!finish_row(z, &z->sums[i])) return false;
    return true;
}

/* Returns whether the value needs a reduction that is not computed yet. */
static bool awaits(Fuse *z, const Node *n) {
    int value = value_number(z, n), before = z->visible;
    bool found = false;
    for (int i = 0; i < z->nsums && !found; i++) found = are_same(z, z->sums[i].n, n);
    if (value >= 0) {
        z->visible = value;
        found = awaits(z, z->e->items[value].root);
        return z->visible = before, found;
    }
    if (found || leaf_number(z, n) >= 0 || find_known(z, n)) return found;
    for (int i = 0; i < (along_kind(z, n) != RED_NONE ? 1 : 3) && operand(n, i) && !found; i++)
        found = awaits(z, operand(n, i));
    return found;
}

static bool reduce_row(Fuse *z, const Node *n, Reduce kind) {
    Node *arg = operand(n, 0);
    if (!is_wide(z, arg)) return decline(z, "a reduction has rows of one element: leave it out"), false;
    if ((z->nsums == KNOWN_MOST || awaits(z, arg)) && !reduce_pending(z)) return false;
    if (!hoist(z, arg)) return false;
    Val v = try_part(z, arg);
    qs_dtype out = total_dtype(z, kind, v), lane = lane_dtype(kind, v.dtype);
    if (out == QS_B1)
        return decline(
                   z,
                   "this reduction of integers, or of complex numbers, is no kernel: convert them, as in float64(x)"),
               false;
    const ReduceInfo *r = &qreduction_info[kind];
    Reduce first = r->centre ? (Reduce)r->centre : kind;
    Pending p = {n, first, out, z->visible, begin_total(z, first, lane)};
    if (!r->centre) return z->sums[z->nsums++] = p, true;
    total_rows(z, &p, 1);
    KRef centre = kreduce_centre(&z->walk, (ReduceMap)r->map, end_total(z, &p.total));
    p.kind = kind, p.total = begin_total(z, kind, lane), p.total.centre = centre;
    return total_rows(z, &p, 1), finish_row(z, &p);
}

static bool reduce_rows(Fuse *z, const Node *n) {
    Reduce kind = along_kind(z, n);
    if (leaf_number(z, n) >= 0 || find_known(z, n)) return true;
    for (int i = 0; i < z->nsums; i++)
        if (are_same(z, z->sums[i].n, n)) return true;
    for (int i = 0; i < (kind == RED_NONE ? 3 : 1) && operand(n, i); i++)
        if (!reduce_rows(z, operand(n, i))) return false;
    return kind == RED_NONE || reduce_row(z, n, kind);
}

static bool store_row(Fuse *z, Val v, int result) {
    if (!v.ref || !v.array) return false;
    qs_dtype d = v.dtype, as = kir_value_dtype(d);
    KRef at = kmemory_linear(&z->walk, &(Layout){.param = result, .rank = z->rank, .contiguous = true}, z->at);
    kmemory_store(&z->walk, result, d, at, 0, cast_to(z, v.ref, as), 0);
    if (qdtype_is_complex(d))
        kmemory_store(&z->walk, result, d, at, 1, v.im ? cast_to(z, v.im, as) : emit_const(z, as, 0), 0);
    return true;
}

/* Returns the expression of a statement, or after them the root, and makes the statements before it visible. */
static const Node *row_root(Fuse *z, int i) {
    z->visible = i;
    return i < z->e->nitems ? z->e->items[i].root : z->e->root;
}

static void add_row_result(Fuse *z, int i, qs_dtype d) {
    if (z->results[i] < 0) z->results[i] = add_result(z, d, false, true);
}

static bool store_narrow(Fuse *z, const Node *root, int i, qs_dtype *d) {
    Val v = hoist(z, root) ? lower_part(z, root) : declined;
    if (!v.ref) return false;
    KRef along = z->at[z->e->axis];
    z->at[z->e->axis] = kbuild_int(&z->walk, QS_I64, 0);
    add_row_result(z, i, *d = v.dtype);
    bool stored = store_row(z, v, z->results[i]);
    return z->at[z->e->axis] = along, stored;
}

/* Stores the statements that are needed and the root: narrow ones at once, the others in one loop over the row. */
static bool store_rows(Fuse *z, FuseKernel *out) {
    int n = z->e->nitems;
    uint32_t wide = 0;
    for (int i = 0; i <= n; i++) {
        const Node *root = row_root(z, i);
        qs_dtype *d = i < n ? &out->value[i].dtype : &out->dtype;
        bool *narrow = i < n ? &out->value[i].narrow : &out->narrow;
        if (i < n && !z->e->items[i].stored) continue;
        if ((*narrow = !is_wide(z, root))) {
            if (!store_narrow(z, root, i, d)) return false;
            continue;
        }
        Val v = hoist(z, root) ? try_part(z, root) : declined;
        if (!v.ref || !v.array) return false;
        add_row_result(z, i, *d = v.dtype), wide |= 1u << i;
    }
    if (wide) begin_row_loop(z);
    for (int i = 0; i <= n; i++) {
        if (!(wide >> i & 1)) continue;
        Val v = lower_part(z, row_root(z, i));
        bool done = i < n && z->kept >> i & 1 && v.ref; /* it is in the result since it was computed */
        if (!done && !store_row(z, v, z->results[i])) return false;
    }
    if (wide) emit_ins(z, (KMake){.op = K_END});
    return true;
}

static qs_dtype type_of_item(const FuseKernel *k, int i, int n) { return i < n ? k->value[i].dtype : k->dtype; }

/* Makes the parameters of the results before any code, so that loops can keep items there. */
static void add_row_results(Fuse *z) {
    int n = z->e->nitems;
    for (int i = 0; i <= n; i++) z->results[i] = -1;
    for (int i = 0; i <= n && z->before_kept; i++)
        if (i == n || z->e->items[i].stored) add_row_result(z, i, type_of_item(z->before_kept, i, n));
}

static bool build_rows(Fuse *z, Arena *arena, FuseKernel *out) {
    KParam size = {.name = qstr_cname(z->c, "n"), .kind = KP_NUM, .dtype = QS_I64};
    z->extent = kir_param(z->f, &size);
    add_row_results(z);
    z->before = qarena_alloc(arena, sizeof *z->before * KNOWN_MOST);
    z->sums = qarena_alloc(arena, sizeof *z->sums * KNOWN_MOST);
    for (int i = 0; i < z->e->nitems; i++) z->within[i] = z->tried[i] = -1;
    z->loops = qarena_alloc(arena, qmem_size((size_t)z->e->nleaves, sizeof *z->loops, sizeof *z->loops));
    for (int d = 0, k = 0; d < z->rank; d++)
        if (d != z->e->axis) z->at[d] = emit_ins(z, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)k++});
    z->at[z->e->axis] = z->at[!z->e->axis];
    for (int i = 0; i < z->e->nleaves; i++) {
        z->loops[i] = 0;
        if (!leaf_is_wide(z, i)) load_leaf(z, i, z->at);
    }
    for (int i = 0; i <= z->e->nitems; i++)
        if (!reduce_rows(z, row_root(z, i))) return false;
    return reduce_pending(z) && store_rows(z, out);
}

/* Chooses another item that is stored when it is first computed, since several loops need it and it takes long to
 * compute: the last one, because the others may be needed by it alone.  Sets the bits of all kept items. */
static bool choose_kept(Fuse *z, const FuseKernel *k, uint32_t *kept) {
    int n = z->e->nitems, i = n - 1;
    uint32_t others = 0;
    while (!((z->repeated & ~*kept) >> i & 1)) i--;
    for (int j = 0; j < n; j++)
        if (*kept >> j & 1 && !z->e->items[j].stored) others |= 1u << j;
    bool fits = z->e->items[i].stored || (!others && !k->narrow && z->values[i].dtype == k->dtype);
    if (!fits || z->values[i].im) {
        z->why = "a value that takes long to compute would be computed in several loops over each row";
        return z->why_at = z->e->items[i].root->pos, false;
    }
    return *kept |= 1u << i, true;
}

static void begin_kernel(Fuse *z, Arena *arena, const char *name) {
    const FuseExpr *e = z->e;
    kbuild_begin(&z->walk, kir_new(z->c, arena, qstr_cname(z->c, name), e->src), arena, 0);
    z->leaves = qarena_alloc(arena, qmem_size((size_t)e->nleaves, sizeof *z->leaves, sizeof *z->leaves));
    z->params = qarena_alloc(arena, qmem_size((size_t)e->nleaves, sizeof *z->params, sizeof *z->params));
    z->f->rank = (uint8_t)(e->kind != RED_NONE ? 1
                           : e->rows           ? z->rank - 1
                                               : z->rank),
    z->f->fast = e->fast_math, z->f->rounds = true;
    add_params(z);
}

static qs_status end_kernel(Fuse *z, bool built, FuseKernel *out) {
    if (built) return kbuild_seal(&z->walk, &out->func);
    out->why = z->why, out->pos = z->why_at;
    return kbuild_free(&z->walk), QS_OK;
}

qs_status kfuse_build(Ctx *c, Arena *arena, const FuseExpr *e, const FuseLeafType *types, bool flat, int rank,
                      FuseKernel *out) {
    *out = (FuseKernel){0};
    for (int i = 0; i < e->nleaves; i++)
        if (types[i].array && !is_supported((qs_dtype)types[i].dtype)) return QS_OK;
    if (e->kind != RED_NONE && !flat && (e->grouped || e->adds || e->mask)) return QS_OK;
    const Fuse empty = {
        .walk = {.rules = &rules, .c = c}, .e = e, .types = types, .flat = flat, .rank = flat ? 1 : rank};
    Fuse z = empty;
    begin_kernel(&z, arena, "expression");
    bool assigns = e->mask && e->kind == RED_NONE;
    bool built = assigns               ? build_masked(&z, out)
                 : e->rows             ? build_rows(&z, arena, out)
                 : e->kind == RED_NONE ? build_map(&z, out)
                 : e->adds             ? build_added(&z, out)
                                       : build_reduction(&z, out);
    uint32_t kept = 0;
    FuseKernel before;
    while (built && z.repeated & ~kept) {
        before = *out;
        if (!choose_kept(&z, &before, &kept)) return end_kernel(&z, false, out);
        kbuild_free(&z.walk);
        z = empty, z.kept = kept, z.before_kept = &before;
        begin_kernel(&z, arena, "expression");
        built = build_rows(&z, arena, out);
    }
    return end_kernel(&z, built, out);
}

static bool build_row(Fuse *z, const FuseRow *r) {
    KRef at[QS_MAX_RANK];
    for (int i = 0; i < z->rank; i++) at[i] = emit_ins(z, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)i});
    load_leaves(z, at);
    if (r->known) z->leaves[1] = real_value(emit_const(z, QS_F64, r->exponent), QS_F64, false);
    Val v = r->known ? apply_power(z, z->leaves, r->compute, true) : apply_row(z, r->elem, z->leaves, r->compute, true);
    if (!v.ref) return false;
    store_result(z, at, v, r->result, false);
    return true;
}

qs_status kfuse_row(Ctx *c, Arena *arena, const FuseRow *r, FuseKernel *out) {
    const FuseExpr expr = {.nleaves = kelem_info[r->elem].nargs};
    Fuse z = {.walk = {.rules = &rules, .c = c},
              .e = &expr,
              .types = r->types,
              .flat = r->flat,
              .rank = r->flat ? 1 : r->rank};
    *out = (FuseKernel){.dtype = r->result};
    begin_kernel(&z, arena, kelem_name(r->elem));
    return end_kernel(&z, build_row(&z, r), out);
}
