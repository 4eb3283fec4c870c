/* code_expr.c -- compiles expressions: types, names, literals, elements; code.h lists the files for the other kinds. */
#include "lang/bytecode/code.h"
#include "lang/syntax/fold.h"
#include "lang/syntax/operators.h"

#include "lang/names/scope.h"

#include <math.h>

void qcode_move(Coder *e, int dst, int src) {
    if (dst != src) qcode_op(e, BC_MOVE, dst, src, 0);
}

/* -- types --------------------------------------------------------------------------------------------------------- */

const Type *qcode_known_type(Coder *e, TypeExpr *t) {
    const Type *type = NULL;
    qs_status s = e->status ? QS_OK : e->host->type(e->host->ud, t, e->func, &type);
    if (s) e->status = s;
    return type;
}

void qcode_coerce(Coder *e, int reg, TypeExpr *t, Str *name, bool param) {
    if (t->kind == TE_ANY) return;
    uint32_t type = qcode_type(e, t), what = name ? qcode_string(e, name) : 0xffff;
    if (type > 0xffff || what > 0xffff) qcode_full(e);
    qcode_op(e, BC_COERCE, reg, param, 0);
    qcode_word(e, type | what << 16);
}

static int type_param_register(const Coder *e, const Str *name) {
    for (int i = 0; i < e->func->ntyparams; i++)
        if (e->func->typarams[i] == name) return e->func->nlocals + i;
    return -1;
}

static void load_type(Coder *e, TypeExpr *t, int dst) {
    int reg = t->kind == TE_NAME ? type_param_register(e, t->name) : -1;
    if (reg >= 0) {
        qcode_move(e, dst, reg);
        return;
    }
    qcode_opx(e, qcode_known_type(e, t) ? BC_LOADK : BC_LOADTYPE, dst, qcode_type(e, t));
}

TypeExpr *qcode_named_type(Coder *e, const Node *n) {
    TypeExpr *t = qcode_alloc(e, sizeof *t);
    t->kind = TE_NAME;
    t->pos = n->pos;
    t->name = n->u.ident.name;
    return t;
}

/* -- names --------------------------------------------------------------------------------------------------------- */

static void check_set(Coder *e, const Sym *s) {
    int reg = qcode_register(e, s);
    if (e->set[reg]) return;
    if (s->kind == SYM_LOCAL) {
        qcode_opx(e, BC_CHECKSET, reg, qcode_string(e, s->name));
    } else {
        qcode_op(e, BC_FILL, reg, 0, 0);
        qcode_word(e, (uint32_t)s->index);
    }
    e->set[reg] = true;
}

static void closure(Coder *e, Func *f, int dst);

static uint32_t capture(CaptureFrom from, int number) {
    return (uint32_t)from << CAPTURE_SHIFT | ((uint32_t)number & CAPTURE_NUMBER);
}

static uint32_t capture_from(Coder *e, Sym *outer) {
    Sym *s = qscope_view(e->func, outer);
    if (!s) {
        qcode_fail(e, e->pos, "%s: %s is not known here", e->func->name->s, outer->name->s);
        return 0;
    }
    if (s == e->assigning) return capture(s->kind == SYM_GLOBAL ? CAP_UNSET : CAP_THIS, 0);
    switch (s->kind) {
    case SYM_LOCAL: return capture(CAP_LOCAL, s->index);
    case SYM_CAPTURE: return capture(CAP_CAPTURE, s->index);
    case SYM_NESTED: {
        if (s->func == e->func) return capture(CAP_SELF, 0);
        int t = qcode_temps(e, 1);
        closure(e, s->func, t);
        return capture(CAP_LOCAL, t);
    }
    default: return capture(CAP_GLOBAL, s->index);
    }
}

static void closure(Coder *e, Func *f, int dst) {
    if (f == e->func) {
        qcode_op(e, BC_SELF, dst, 0, 0);
        return;
    }
    int mark = e->top, n = f->ncaptures;
    uint32_t *from = qcode_alloc(e, qmem_size((size_t)n, sizeof *from, 1));
    for (int i = 0; i < n; i++) from[i] = capture_from(e, f->captures[i].outer);
    qcode_opx(e, BC_CLOSURE, dst, qcode_literal(e, (Literal){.kind = LIT_FUNC, .u.func = f}));
    for (int i = 0; i < n; i++) qcode_word(e, from[i]);
    if (e->top > mark) qcode_op(e, BC_CLEAR, mark, e->top - mark, 0);
    e->top = mark;
}

static void ident_to(Coder *e, Node *n, int dst) {
    Sym *s = n->u.ident.sym;
    if (!s) {
        qcode_fail(e, n->pos, "%s has no meaning here", n->u.ident.name->s);
        return;
    }
    int reg = qcode_register(e, s);
    if (reg >= 0) {
        check_set(e, s);
        qcode_move(e, dst, reg);
        return;
    }
    switch (s->kind) {
    case SYM_CAPTURE: qcode_opx(e, BC_GETCAP, dst, (uint32_t)s->index); break;
    case SYM_GLOBAL:
        qcode_op(e, BC_GETGLOBAL, dst, 0, 0);
        qcode_word(e, (uint32_t)s->index);
        break;
    case SYM_LOCAL: break; /* has a register */
    case SYM_NESTED: closure(e, s->func, dst); break;
    case SYM_TYPE: load_type(e, qcode_named_type(e, n), dst); break;
    case SYM_TEMP: qcode_op(e, BC_COPY, dst, s->index, 0); break;
    }
}

static bool has_register(const Coder *e, const Node *n) {
    return n->kind == N_IDENT && n->u.ident.sym && qcode_register(e, n->u.ident.sym) >= 0;
}

int qcode_any(Coder *e, Node *n) {
    int leaf = qcode_leaf(e, n);
    if (leaf >= 0) return leaf;
    if (has_register(e, n)) {
        qcode_at(e, n->pos);
        check_set(e, n->u.ident.sym);
        return qcode_register(e, n->u.ident.sym);
    }
    int t = qcode_temps(e, 1);
    qcode_to(e, n, t);
    return t;
}

int qcode_left(Coder *e, Node *n, int dst) {
    if (has_register(e, n) || !qcode_is_temp(e, dst) || qcode_leaf(e, n) >= 0) return qcode_any(e, n);
    qcode_to(e, n, dst);
    return dst;
}

/* -- literals ------------------------------------------------------------------------------------------------------ */

void qcode_load_number(Coder *e, double x, int dst) {
    if (x == floor(x) && fabs(x) < 32768 && !(x == 0 && signbit(x))) qcode_opx(e, BC_LOADN, dst, (uint16_t)(int16_t)x);
    else qcode_opx(e, BC_LOADK, dst, qcode_number(e, x));
}

static void num_to(Coder *e, Node *n, int dst) {
    if (n->u.num.is_uint64) qcode_fail(e, n->pos, "%s", QFOLD_UINT64);
    else if (n->u.num.int_value)
        qcode_opx(e, BC_LOADK, dst, qcode_literal(e, (Literal){.kind = LIT_INT, .u.whole = n->u.num.int_value}));
    else if (n->u.num.imaginary)
        qcode_opx(e, BC_LOADK, dst, qcode_literal(e, (Literal){.kind = LIT_COMPLEX, .u.num = {0, n->u.num.value}}));
    else qcode_load_number(e, n->u.num.value, dst);
}

enum { LIST_STEP = 32 }; /* number of items of a long literal in registers at a time */

/* Compiles [a,b,…] and {a,b,…}: up to LIST_STEP items directly from registers, more items through a list. */
static void items_to(Coder *e, Node *n, Opcode direct, Opcode from_list, int dst) {
    NodeList l = n->u.items;
    int mark = e->top;
    if (l.n <= LIST_STEP) {
        int first = qcode_temps(e, l.n ? l.n : 1);
        for (int i = 0; i < l.n; i++) qcode_to(e, l.at[i], first + i);
        qcode_at(e, n->pos);
        qcode_op(e, direct, dst, first, l.n);
        e->top = mark;
        return;
    }
    int list = qcode_temps(e, 1);
    qcode_op(e, BC_LOADNIL, list, 0, 0);
    for (int i = 0; i < l.n; i += LIST_STEP) {
        int count = l.n - i < LIST_STEP ? l.n - i : LIST_STEP, first = qcode_temps(e, count);
        for (int k = 0; k < count; k++) qcode_to(e, l.at[i + k], first + k);
        qcode_op(e, BC_APPEND, list, first, count);
        e->top = list + 1;
    }
    qcode_at(e, n->pos);
    qcode_op(e, from_list, dst, list, 0);
    e->top = mark;
}

static void matrix_to(Coder *e, Node *n, int dst) {
    NumTable *t;
    if (!qfold_matrix(n, &e->chunk->arena, &t)) {
        items_to(e, n, e->wide ? BC_WIDEMATRIX : BC_MATRIX, e->wide ? BC_WIDEMATRIXOF : BC_MATRIXOF, dst);
        return;
    }
    t->wide = e->wide;
    qcode_opx(e, BC_ARRAYK, dst, qcode_literal(e, (Literal){.kind = LIT_ARRAY, .u.table = t}));
}

static void range_to(Coder *e, Node *n, int dst) {
    bool stepped = n->u.range.step != NULL;
    int mark = e->top, r = qcode_temps(e, 2 + stepped);
    qcode_to(e, n->u.range.lo, r);
    if (stepped) qcode_to(e, n->u.range.step, r + 1);
    qcode_to(e, n->u.range.hi, r + 1 + stepped);
    qcode_at(e, n->pos);
    qcode_op(e, e->wide ? BC_WIDERANGE : BC_RANGE, dst, r, stepped);
    e->top = mark;
}

/* -- elements and fields ------------------------------------------------------------------------------------------- */

uint32_t qcode_index_word(Coder *e, const Node *index) {
    const Node *base = index->u.index.base;
    uint32_t name = 0xffff;
    TypeMods mods = {0};
    if (base->kind == N_IDENT) {
        name = qcode_string(e, base->u.ident.name);
        if (base->u.ident.sym) mods = base->u.ident.sym->mods;
    } else if (base->kind == N_FIELD) {
        name = qcode_string(e, base->u.field.name);
    }
    if (name > 0xffff) name = 0xffff;
    return mods.access | (uint32_t)qfold_is_list(index->u.index.at) << 7 | (uint32_t)mods.flags << 8 | name << 16;
}

/* Evaluates a range that is an index.  Its bounds stay in temporaries until the element access. */
static void span_to(Coder *e, Node *n, int dst) {
    bool stepped = n->u.range.step != NULL, wide = e->wide;
    int r = qcode_temps(e, 3);
    e->wide = false;
    qcode_to(e, n->u.range.lo, r);
    if (stepped) qcode_to(e, n->u.range.step, r + 1);
    qcode_to(e, n->u.range.hi, r + 1 + stepped);
    qcode_at(e, n->pos);
    qcode_op(e, BC_SPAN, dst, r, stepped);
    e->wide = wide;
}

static bool is_span(Coder *e, Node *n) { return n->kind == N_RANGE && !(e->host->nrules && qcode_could_rewrite(e, n)); }

int qcode_indices(Coder *e, NodeList at) {
    if (at.n == 1 && !is_span(e, at.at[0])) return qcode_any(e, at.at[0]);
    int first = qcode_temps(e, at.n ? at.n : 1);
    for (int i = 0; i < at.n; i++) {
        if (is_span(e, at.at[i])) span_to(e, at.at[i], first + i);
        else qcode_to(e, at.at[i], first + i);
    }
    return first;
}

bool qcode_is_part(const Node *n) {
    if (n->kind != N_INDEX || n->u.index.base->kind != N_IDENT) return false;
    NodeList at = n->u.index.at;
    for (int i = 0; i < at.n; i++)
        if (at.at[i]->kind == N_RANGE || at.at[i]->kind == N_COLON) return true;
    return false;
}

static void part_to(Coder *e, Node *n, int dst) {
    int mark = e->top, base = qcode_any(e, n->u.index.base), first = qcode_indices(e, n->u.index.at);
    qcode_at(e, n->pos);
    qcode_op(e, BC_GETPART, dst, base, first);
    qcode_word(e, qcode_index_word(e, n));
    qcode_word(e, (uint32_t)n->u.index.at.n);
    e->top = mark;
}

int qcode_part(Coder *e, Node *n) {
    int r = qcode_temps(e, 1);
    return part_to(e, n, r), r;
}

int qcode_part_of_call(Coder *e, Node *call, const Node *part) {
    int r = qcode_temps(e, 1);
    e->in_place = part;
    qcode_to(e, call, r);
    return e->in_place = NULL, r;
}

static void index_to(Coder *e, Node *n, int dst) {
    if (n == e->in_place) {
        part_to(e, n, dst);
        return;
    }
    NodeList at = n->u.index.at;
    int mark = e->top, base = qcode_left(e, n->u.index.base, dst);
    int first = qcode_indices(e, at);
    qcode_at(e, n->pos);
    qcode_op(e, at.n == 1 ? BC_GETELEM1 : at.n == 2 ? BC_GETELEM2 : BC_GETELEM, dst, base, first);
    qcode_word(e, qcode_index_word(e, n));
    if (at.n != 1 && at.n != 2) qcode_word(e, (uint32_t)at.n);
    e->top = mark;
}

uint32_t qcode_field_word(Coder *e, Str *name) {
    uint32_t k = qcode_string(e, name), cache = e->chunk->ncaches++;
    if (k > 0xffff || cache > 0xffff) qcode_full(e);
    return k | cache << 16;
}

static void field_to(Coder *e, Node *n, int dst) {
    int mark = e->top, base = qcode_left(e, n->u.field.base, dst);
    qcode_at(e, n->pos);
    qcode_op(e, BC_GETFIELD, dst, base, 0);
    qcode_word(e, qcode_field_word(e, n->u.field.name));
    e->top = mark;
}

/* -- float64 literals for conversions ------------------------------------------------------------------------------ */

/* float64([0.1,0.2]) must contain the numbers as written, not rounded to float32.  Therefore literals and ranges that
 * reach a conversion or a typed variable through elementwise arithmetic (qast_carries_width) have float64 elements, if
 * the target type can represent more values than float32. */
bool qcode_is_wide(const Type *t) {
    while (t && t->kind == TY_ARRAY) t = t->inner;
    return t && t->kind == TY_NUM &&
           (t->dtype == QS_F64 || t->dtype == QS_C128 || (t->dtype >= QS_I32 && t->dtype <= QS_U64));
}

void qcode_for(Coder *e, TypeExpr *t, Node *n, int dst) {
    bool before = e->wide;
    e->wide = t && qcode_is_wide(qcode_known_type(e, t));
    qcode_to(e, n, dst);
    e->wide = before;
}

/* -- any expression ------------------------------------------------------------------------------------------------ */

static void value_to(Coder *e, Node *n, int dst) {
    int leaf = qcode_leaf(e, n);
    qcode_at(e, n->pos);
    if (leaf >= 0) {
        qcode_move(e, dst, leaf);
        return;
    }
    if (e->host->nrules && qcode_rewritten(e, n, dst)) return;
    if (qcode_fused(e, n, dst)) return;
    switch ((NodeKind)n->kind) {
    case N_NUM: num_to(e, n, dst); break;
    case N_STR: qcode_opx(e, BC_LOADK, dst, qcode_string(e, n->u.str)); break;
    case N_IDENT: ident_to(e, n, dst); break;
    case N_META: qcode_meta(e, n, dst); break;
    case N_UNARY: qcode_unary(e, n, dst); break;
    case N_BINARY: qcode_binary(e, n, dst); break;
    case N_TERNARY: qcode_ternary(e, n, dst); break;
    case N_RANGE: range_to(e, n, dst); break;
    case N_CALL: qcode_call_to(e, n, dst); break;
    case N_INDEX: index_to(e, n, dst); break;
    case N_FIELD: field_to(e, n, dst); break;
    case N_LAMBDA: closure(e, n->u.lambda.func, dst); break;
    case N_MATRIX: matrix_to(e, n, dst); break;
    case N_CELL: items_to(e, n, BC_CELL, BC_CELLOF, dst); break;
    case N_COLON: qcode_op(e, BC_LOADNIL, dst, 1, 0); break; /* NIL_COLON */
    case N_TYPE: load_type(e, n->u.type, dst); break;
    default: qcode_fail(e, n->pos, "this statement gives no value"); break;
    }
}

void qcode_to(Coder *e, Node *n, int dst) {
    bool wide = e->wide;
    e->wide = wide && qast_carries_width(n);
    value_to(e, n, dst);
    e->wide = wide;
}
