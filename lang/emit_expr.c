/* emit_expr.c -- expressions: types, names, literals, elements; the other kinds have files of their own. */
#include "lang/emit.h"

#include "lang/scope.h"

#include <math.h>

void qemit_move(Emit *e, int dst, int src) {
    if (dst != src) qemit_op(e, BC_MOVE, dst, src, 0);
}

/* -- types ------------------------------------------------------------------------------------------------------ */

const Type *qemit_known_type(Emit *e, TypeExpr *t) {
    const Type *type = NULL;
    qs_status s = e->status ? QS_OK : e->host->type(e->host->ud, t, e->func, &type);
    if (s) e->status = s;
    return type;
}

void qemit_coerce(Emit *e, int reg, TypeExpr *t, Str *name, bool param) {
    if (t->kind == TE_ANY) return;
    uint32_t type = qemit_type(e, t), what = name ? qemit_string(e, name) : 0xffff;
    if (type > 0xffff || what > 0xffff) qemit_full(e);
    qemit_op(e, BC_COERCE, reg, param, 0);
    qemit_word(e, type | what << 16);
}

static int type_param_register(const Emit *e, const Str *name) {
    for (int i = 0; i < e->func->ntyparams; i++)
        if (e->func->typarams[i] == name) return e->func->nlocals + i;
    return -1;
}

static void load_type(Emit *e, TypeExpr *t, int dst) {
    int reg = t->kind == TE_NAME ? type_param_register(e, t->name) : -1;
    if (reg >= 0) {
        qemit_move(e, dst, reg);
        return;
    }
    qemit_opx(e, qemit_known_type(e, t) ? BC_LOADK : BC_LOADTYPE, dst, qemit_type(e, t));
}

TypeExpr *qemit_named_type(Emit *e, const Node *n) {
    TypeExpr *t = qemit_alloc(e, sizeof *t);
    t->kind = TE_NAME;
    t->pos = n->pos;
    t->name = n->u.ident.name;
    return t;
}

/* -- names ------------------------------------------------------------------------------------------------------ */

static void check_set(Emit *e, const Sym *s) {
    int reg = qemit_register(e, s);
    if (e->set[reg]) return;
    if (s->kind == SYM_LOCAL) {
        qemit_opx(e, BC_CHECKSET, reg, qemit_string(e, s->name));
    } else {
        qemit_op(e, BC_FILL, reg, 0, 0);
        qemit_word(e, (uint32_t)s->index);
    }
    e->set[reg] = true;
}

static void closure(Emit *e, Func *f, int dst);

static uint32_t capture(CaptureFrom from, int number) {
    return (uint32_t)from << CAPTURE_SHIFT | ((uint32_t)number & CAPTURE_NUMBER);
}

static uint32_t capture_from(Emit *e, Sym *outer) {
    Sym *s = qscope_view(e->func, outer);
    if (!s) {
        qemit_fail(e, e->pos, "%s: %s is not known here", e->func->name->s, outer->name->s);
        return 0;
    }
    if (s == e->assigning) return capture(s->kind == SYM_GLOBAL ? CAP_UNSET : CAP_THIS, 0);
    switch (s->kind) {
    case SYM_LOCAL: return capture(CAP_LOCAL, s->index);
    case SYM_CAPTURE: return capture(CAP_CAPTURE, s->index);
    case SYM_NESTED: {
        if (s->func == e->func) return capture(CAP_SELF, 0);
        int t = qemit_temps(e, 1);
        closure(e, s->func, t);
        return capture(CAP_LOCAL, t);
    }
    default: return capture(CAP_GLOBAL, s->index);
    }
}

static void closure(Emit *e, Func *f, int dst) {
    if (f == e->func) {
        qemit_op(e, BC_SELF, dst, 0, 0);
        return;
    }
    int mark = e->top, n = f->ncaptures;
    uint32_t *from = qemit_alloc(e, (size_t)n * sizeof *from + 1);
    for (int i = 0; i < n; i++) from[i] = capture_from(e, f->captures[i].outer);
    qemit_opx(e, BC_CLOSURE, dst, qemit_literal(e, (Literal){.kind = LIT_FUNC, .u.func = f}));
    for (int i = 0; i < n; i++) qemit_word(e, from[i]);
    if (e->top > mark) qemit_op(e, BC_CLEAR, mark, e->top - mark, 0);
    e->top = mark;
}

static void ident_to(Emit *e, Node *n, int dst) {
    Sym *s = n->u.ident.sym;
    if (!s) {
        qemit_fail(e, n->pos, "%s has no meaning here", n->u.ident.name->s);
        return;
    }
    int reg = qemit_register(e, s);
    if (reg >= 0) {
        check_set(e, s);
        qemit_move(e, dst, reg);
        return;
    }
    switch (s->kind) {
    case SYM_CAPTURE: qemit_opx(e, BC_GETCAP, dst, (uint32_t)s->index); break;
    case SYM_GLOBAL:
        qemit_op(e, BC_GETGLOBAL, dst, 0, 0);
        qemit_word(e, (uint32_t)s->index);
        break;
    case SYM_LOCAL: break; /* has a register */
    case SYM_NESTED: closure(e, s->func, dst); break;
    case SYM_TYPE: load_type(e, qemit_named_type(e, n), dst); break;
    case SYM_TEMP: qemit_op(e, BC_COPY, dst, s->index, 0); break;
    }
}

static bool has_register(const Emit *e, const Node *n) {
    return n->kind == N_IDENT && n->u.ident.sym && qemit_register(e, n->u.ident.sym) >= 0;
}

int qemit_any(Emit *e, Node *n) {
    int leaf = qemit_leaf(e, n);
    if (leaf >= 0) return leaf;
    if (has_register(e, n)) {
        qemit_at(e, n->pos);
        check_set(e, n->u.ident.sym);
        return qemit_register(e, n->u.ident.sym);
    }
    int t = qemit_temps(e, 1);
    qemit_to(e, n, t);
    return t;
}

int qemit_left(Emit *e, Node *n, int dst) {
    if (has_register(e, n) || !qemit_is_temp(e, dst) || qemit_leaf(e, n) >= 0) return qemit_any(e, n);
    qemit_to(e, n, dst);
    return dst;
}

/* -- literals --------------------------------------------------------------------------------------------------- */

void qemit_load_number(Emit *e, double x, int dst) {
    if (x == floor(x) && fabs(x) < 32768 && !(x == 0 && signbit(x))) qemit_opx(e, BC_LOADN, dst, (uint16_t)(int16_t)x);
    else qemit_opx(e, BC_LOADK, dst, qemit_number(e, x));
}

static void num_to(Emit *e, Node *n, int dst) {
    if (n->u.num.imaginary)
        qemit_opx(e, BC_LOADK, dst, qemit_literal(e, (Literal){.kind = LIT_COMPLEX, .u.num = {0, n->u.num.value}}));
    else qemit_load_number(e, n->u.num.value, dst);
}

enum { LIST_STEP = 32 }; /* items of a long literal that are in registers at a time */

/* [a,b,…] and {a,b,…}: up to LIST_STEP items straight from registers, longer ones through a list. */
static void items_to(Emit *e, Node *n, Opcode direct, Opcode from_list, int dst) {
    NodeList l = n->u.items;
    int mark = e->top;
    if (l.n <= LIST_STEP) {
        int first = qemit_temps(e, l.n ? l.n : 1);
        for (int i = 0; i < l.n; i++) qemit_to(e, l.at[i], first + i);
        qemit_at(e, n->pos);
        qemit_op(e, direct, dst, first, l.n);
        e->top = mark;
        return;
    }
    int list = qemit_temps(e, 1);
    qemit_op(e, BC_LOADNIL, list, 0, 0);
    for (int i = 0; i < l.n; i += LIST_STEP) {
        int count = l.n - i < LIST_STEP ? l.n - i : LIST_STEP, first = qemit_temps(e, count);
        for (int k = 0; k < count; k++) qemit_to(e, l.at[i + k], first + k);
        qemit_op(e, BC_APPEND, list, first, count);
        e->top = list + 1;
    }
    qemit_at(e, n->pos);
    qemit_op(e, from_list, dst, list, 0);
    e->top = mark;
}

static void matrix_to(Emit *e, Node *n, int dst) {
    NumTable *t;
    if (!qfold_matrix(n, &e->chunk->arena, &t)) {
        items_to(e, n, e->wide ? BC_WIDEMATRIX : BC_MATRIX, e->wide ? BC_WIDEMATRIXOF : BC_MATRIXOF, dst);
        return;
    }
    t->wide = e->wide;
    qemit_opx(e, BC_ARRAYK, dst, qemit_literal(e, (Literal){.kind = LIT_ARRAY, .u.table = t}));
}

static void range_to(Emit *e, Node *n, int dst) {
    bool stepped = n->u.range.step != NULL;
    int mark = e->top, r = qemit_temps(e, 2 + stepped);
    qemit_to(e, n->u.range.lo, r);
    if (stepped) qemit_to(e, n->u.range.step, r + 1);
    qemit_to(e, n->u.range.hi, r + 1 + stepped);
    qemit_at(e, n->pos);
    qemit_op(e, e->wide ? BC_WIDERANGE : BC_RANGE, dst, r, stepped);
    e->top = mark;
}

/* -- elements and fields ---------------------------------------------------------------------------------------- */

uint32_t qemit_index_word(Emit *e, const Node *index) {
    const Node *base = index->u.index.base;
    uint32_t name = 0xffff;
    TypeMods mods = {0};
    if (base->kind == N_IDENT) {
        name = qemit_string(e, base->u.ident.name);
        if (base->u.ident.sym) mods = base->u.ident.sym->mods;
    } else if (base->kind == N_FIELD) {
        name = qemit_string(e, base->u.field.name);
    }
    if (name > 0xffff) name = 0xffff;
    return mods.access | (uint32_t)mods.flags << 8 | name << 16;
}

int qemit_indices(Emit *e, NodeList at) {
    int first = qemit_temps(e, at.n ? at.n : 1);
    for (int i = 0; i < at.n; i++) qemit_to(e, at.at[i], first + i);
    return first;
}

static void index_to(Emit *e, Node *n, int dst) {
    NodeList at = n->u.index.at;
    int mark = e->top, base = qemit_left(e, n->u.index.base, dst);
    int first = at.n == 1 ? qemit_any(e, at.at[0]) : qemit_indices(e, at);
    qemit_at(e, n->pos);
    qemit_op(e, at.n == 1 ? BC_GETELEM1 : at.n == 2 ? BC_GETELEM2 : BC_GETELEM, dst, base, first);
    qemit_word(e, qemit_index_word(e, n));
    if (at.n != 1 && at.n != 2) qemit_word(e, (uint32_t)at.n);
    e->top = mark;
}

uint32_t qemit_field_word(Emit *e, Str *name) {
    uint32_t k = qemit_string(e, name), cache = e->chunk->ncaches++;
    if (k > 0xffff || cache > 0xffff) qemit_full(e);
    return k | cache << 16;
}

static void field_to(Emit *e, Node *n, int dst) {
    int mark = e->top, base = qemit_left(e, n->u.field.base, dst);
    qemit_at(e, n->pos);
    qemit_op(e, BC_GETFIELD, dst, base, 0);
    qemit_word(e, qemit_field_word(e, n->u.field.name));
    e->top = mark;
}

/* -- conversions ask for float64 -------------------------------------------------------------------------------- */

/* float64([0.1,0.2]) has the numbers that are written, not those of a list of float32: literals and ranges that
 * elementwise arithmetic carries into a conversion are made of float64 if that holds more of its type's values than
 * float32. */
bool qemit_is_wide(const Type *t) {
    while (t && t->kind == TY_ARRAY) t = t->inner;
    return t && t->kind == TY_NUM &&
           (t->dtype == QS_F64 || t->dtype == QS_C128 || (t->dtype >= QS_I32 && t->dtype <= QS_U64));
}

static bool carries_width(const Node *n) {
    if (n->kind == N_UNARY) return n->op != OP_NOT;
    if (n->kind != N_BINARY) return n->kind == N_MATRIX || n->kind == N_RANGE || n->kind == N_TERNARY;
    return n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL || n->op == OP_PWMUL || n->op == OP_DIV ||
           n->op == OP_PWDIV || n->op == OP_PWPOW;
}

void qemit_for(Emit *e, TypeExpr *t, Node *n, int dst) {
    bool before = e->wide;
    e->wide = t && qemit_is_wide(qemit_known_type(e, t));
    qemit_to(e, n, dst);
    e->wide = before;
}

/* -- any expression --------------------------------------------------------------------------------------------- */

static void value_to(Emit *e, Node *n, int dst) {
    int leaf = qemit_leaf(e, n);
    qemit_at(e, n->pos);
    if (leaf >= 0) {
        qemit_move(e, dst, leaf);
        return;
    }
    if (e->host->nrules && qemit_rewritten(e, n, dst)) return;
    if (qemit_fused(e, n, dst)) return;
    switch ((NodeKind)n->kind) {
    case N_NUM: num_to(e, n, dst); break;
    case N_STR: qemit_opx(e, BC_LOADK, dst, qemit_string(e, n->u.str)); break;
    case N_IDENT: ident_to(e, n, dst); break;
    case N_META: qemit_meta(e, n, dst); break;
    case N_UNARY: qemit_unary(e, n, dst); break;
    case N_BINARY: qemit_binary(e, n, dst); break;
    case N_TERNARY: qemit_ternary(e, n, dst); break;
    case N_RANGE: range_to(e, n, dst); break;
    case N_CALL: qemit_call_to(e, n, dst); break;
    case N_INDEX: index_to(e, n, dst); break;
    case N_FIELD: field_to(e, n, dst); break;
    case N_LAMBDA: closure(e, n->u.lambda.func, dst); break;
    case N_MATRIX: matrix_to(e, n, dst); break;
    case N_CELL: items_to(e, n, BC_CELL, BC_CELLOF, dst); break;
    case N_COLON: qemit_op(e, BC_LOADNIL, dst, 1, 0); break; /* NIL_COLON */
    case N_TYPE: load_type(e, n->u.type, dst); break;
    default: qemit_fail(e, n->pos, "this statement gives no value"); break;
    }
}

void qemit_to(Emit *e, Node *n, int dst) {
    bool wide = e->wide;
    e->wide = wide && carries_width(n);
    value_to(e, n, dst);
    e->wide = wide;
}
