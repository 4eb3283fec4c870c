/* typeexpr.c -- parses type expressions: vec, vec[mat](4), cube{:}, mat'circular, ^point, [?? -> ??], [vec|mat]. */
#include "lang/syntax/parser.h"
#include "vm/base/dtype.h"

#include <string.h>

TypeExpr *qtexpr_new(Parser *p, TypeExprKind k, uint32_t pos) {
    TypeExpr *t = qast_alloc(p->u, sizeof *t);
    t->kind = k;
    t->pos = pos;
    return t;
}

/* Creates a type that contains `base` and moves the modifiers to it, because they belong to the whole type:
 * vec'clamped(256) is a clamped vec(256). */
static TypeExpr *wrap_type(Parser *p, TypeExprKind k, TypeExpr *base) {
    TypeExpr *t = qtexpr_new(p, k, base->pos);
    t->base = base;
    t->mods = base->mods;
    base->mods = (TypeMods){0};
    return t;
}

/* A number has no index for which a mode would count.  The original language has int'checked for overflow. */
static void refuse_number(Parser *p, const TypeExpr *t, uint32_t pos, const char *mode) {
    qs_dtype d;
    if (t->kind != TE_NAME || !qdtype_from_name(t->name->s, &d)) return;
    bool overflow = t->mods.access == ACC_CHECKED && qdtype_is_int(d);
    qparse_fail(p, pos, "'%s says what an index outside of an array does, and %s is the type of a number%s", mode,
                t->name->s, overflow ? "; write assert(abs(float64(a) + b) < 2^31) to test for overflow" : "");
}

static void modifier(Parser *p, TypeExpr *t) {
    qparse_next(p);
    uint32_t pos = qparse_pos(p);
    if (p->k != T_IDENT) {
        qparse_fail(p, pos,
                    "expected an access mode after ', as in mat'circular (transposition is transpose(x); strings are "
                    "written in double quotes)");
        return;
    }
    Str *name = qparse_take_word(p);
    TypeMods before = t->mods;
    bool known = qaccess_from_name(name->s, &t->mods);
    if (known && before.access && t->mods.access != before.access)
        qparse_fail(p, pos, "a type has one access mode, and '%s is the second", name->s);
    if (!known && !strcmp(name->s, "sat"))
        qparse_fail(p, pos,
                    "there is no mode 'sat: stores into arrays of integers and conversions saturate without it, as in "
                    "uint8(a + b) and int(float64(a) + b), and int arithmetic wraps");
    else if (known && t->mods.access != before.access) refuse_number(p, t, pos, name->s);
    else if (!known)
        qparse_fail(p, pos,
                    "unknown access mode '%s: there are "
#define ACCESS(name, spelling, ...) spelling ", "
#include "vm/base/access.def"
                    "const; strings are written in double quotes",
                    name->s);
}

void qtexpr_refuse_mode(Parser *p, const TypeExpr *t, const char *what) {
    if (!t || (!t->mods.access && !t->mods.flags)) return;
    qparse_fail(p, t->pos, AST_MODE_REFUSED, what);
}

static TypeExpr **types(Parser *p, TypeExpr *first, TokenKind separator, int *n) {
    uint32_t mark = p->nscratch;
    if (first) qparse_push(p, &first, sizeof first);
    while (!first || qparse_accept(p, separator)) {
        first = qtexpr_type(p);
        qparse_push(p, &first, sizeof first);
    }
    return qparse_take(p, mark, sizeof(TypeExpr *), n);
}

static TypeExpr *parse_element(Parser *p, TypeExpr *base) { /* base[T] */
    uint32_t opener = p->i;
    qparse_next(p);
    TypeExpr *t = wrap_type(p, TE_ARRAY, base);
    t->args = types(p, NULL, T_COMMA, &t->nargs);
    for (int i = 0; i < t->nargs; i++) qtexpr_refuse_mode(p, t->args[i], "the type of elements");
    qparse_close(p, T_RBRACK, opener, "");
    return t;
}

static TypeExpr *parse_rank(Parser *p, TypeExpr *base) { /* base{:} or base{4} */
    uint32_t opener = p->i;
    qparse_next(p);
    TypeExpr *t = wrap_type(p, TE_RANK, base);
    t->rank = RANK_ANY;
    if (p->k == T_NUMBER) {
        bool imaginary, integer;
        const Token *n = qparse_at(p);
        double v = qlex_number(p->text + n->pos, n->end - n->pos, &imaginary, &integer);
        if (!integer || v < 1 || v > QS_MAX_RANK)
            qparse_fail(p, n->pos, "a rank is a number from 1 to %d", QS_MAX_RANK);
        else t->rank = (int)v;
        qparse_next(p);
    } else if (!qparse_accept(p, T_COLON)) {
        qparse_expected(p, "':' or a number of dimensions");
    }
    qparse_close(p, T_RBRACE, opener, "");
    return t;
}

static TypeExpr *fixed_size(Parser *p, TypeExpr *base) { /* base(d0, d1) */
    uint32_t opener = p->i;
    qparse_next(p);
    TypeExpr *t = wrap_type(p, TE_FIXED, base);
    uint32_t mark = p->nscratch;
    do {
        Node *d = qexpr_ternary(p);
        qparse_push(p, &d, sizeof d);
    } while (qparse_accept(p, T_COMMA));
    t->dims = qparse_take(p, mark, sizeof(Node *), &t->ndims);
    qparse_close(p, T_RPAREN, opener, "',' or ");
    return t;
}

TypeExpr *qtexpr_suffixes(Parser *p, TypeExpr *t, bool fixed) {
    for (;;) {
        switch (p->k) {
        case T_LBRACK: t = parse_element(p, t); break;
        case T_LBRACE: t = parse_rank(p, t); break;
        case T_QUOTE: modifier(p, t); break;
        case T_LPAREN:
            if (!fixed) return t;
            t = fixed_size(p, t);
            break;
        default: return t;
        }
    }
}

/* Parses one side of an arrow: T, () or (T, U). */
static TypeExpr **side(Parser *p, int *n) {
    uint32_t opener = p->i;
    if (!qparse_accept(p, T_LPAREN)) return types(p, qtexpr_type(p), T_EOF, n);
    TypeExpr **list = NULL;
    if (p->k != T_RPAREN) list = types(p, NULL, T_COMMA, n);
    qparse_close(p, T_RPAREN, opener, "',' or ");
    return list;
}

/* Parses [A -> B], [(A,B) -> ()], [__kernel__ () -> ()] or [A|B|C]. */
static TypeExpr *bracketed(Parser *p) {
    uint32_t opener = p->i;
    qparse_next(p);
    TypeExpr *t = qtexpr_new(p, TE_FN, p->tok[opener].pos);
    if (qparse_accept(p, T_KERNEL)) t->qual = Q_KERNEL;
    else if (qparse_accept(p, T_DEVICE)) t->qual = Q_DEVICE;
    else qparse_accept(p, T_HOST);
    t->args = side(p, &t->nargs);
    if (qparse_accept(p, T_ARROW)) {
        t->outs = side(p, &t->nouts);
    } else if (t->nargs == 1) {
        t->kind = TE_UNION;
        t->args = types(p, t->args[0], T_BAR, &t->nargs);
        for (int i = 0; i < t->nargs; i++) qtexpr_refuse_mode(p, t->args[i], "one of several types");
    }
    qparse_close(p, T_RBRACK, opener, "'->', '|' or ");
    return t;
}

static TypeExpr *pointer(Parser *p) {
    TypeExpr *t = qtexpr_new(p, TE_PTR, qparse_pos(p));
    qparse_next(p);
    t->base = qtexpr_type(p);
    return t;
}

static TypeExpr *named(Parser *p) {
    TypeExpr *t = qtexpr_new(p, TE_NAME, qparse_pos(p));
    t->name = qparse_name(p, "a type");
    if (p->k == T_DOT && qparse_peek(p, 1) == T_IDENT) { /* of a module imported as t->name */
        qparse_next(p);
        t->name = qast_member_name(p->u, t->name, qparse_take_word(p));
    }
    return t;
}

static TypeExpr *any(Parser *p) {
    TypeExpr *t = qtexpr_new(p, TE_ANY, qparse_pos(p));
    qparse_next(p);
    return t;
}

static TypeExpr *head(Parser *p) {
    switch (p->k) {
    case T_ANY:
    case T_ELLIPSIS: return any(p);
    case T_QUOTE: return qtexpr_new(p, TE_ANY, qparse_pos(p)); /* x : 'unchecked */
    case T_OP(OP_POW): return pointer(p);
    case T_LBRACK: return bracketed(p);
    default: return named(p);
    }
}

static TypeExpr *type(Parser *p, bool fixed) {
    TypeExpr *t = qparse_enter(p) ? head(p) : qtexpr_new(p, TE_ANY, qparse_pos(p));
    t = qtexpr_suffixes(p, t, fixed);
    qparse_leave(p);
    return t;
}

TypeExpr *qtexpr_type(Parser *p) { return type(p, true); }
TypeExpr *qtexpr_base(Parser *p) { return type(p, false); }

static bool all_builtin(Parser *p, TypeExpr *const *t, int n) {
    for (int i = 0; i < n; i++)
        if (!qtexpr_is_builtin(p, t[i])) return false;
    return true;
}

bool qtexpr_is_builtin(Parser *p, const TypeExpr *t) {
    if (t->kind == TE_NAME) return qtype_builtin(p->ctx, t->name->s) != NULL;
    return (!t->base || qtexpr_is_builtin(p, t->base)) && all_builtin(p, t->args, t->nargs) &&
           all_builtin(p, t->outs, t->nouts);
}
