#include "lang/emit.h"

#include "lang/rewrite.h"
#include "lang/scope.h"

#include <math.h>
#include <string.h>

static bool is_temp(const Emit *e, int reg) { return reg >= (int)e->chunk->ntemp; }

void qemit_move(Emit *e, int dst, int src) {
    if (dst != src) qemit_op(e, BC_MOVE, dst, src, 0);
}

/* -- types ------------------------------------------------------------------------------------------------------- */

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

/* A type meant by its name, as an expression of its own. */
static TypeExpr *named_type(Emit *e, const Node *n) {
    TypeExpr *t = qemit_alloc(e, sizeof *t);
    t->kind = TE_NAME;
    t->pos = n->pos;
    t->name = n->u.ident.name;
    return t;
}

/* -- names ------------------------------------------------------------------------------------------------------- */

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
    case SYM_TYPE: load_type(e, named_type(e, n), dst); break;
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

/* The left operand may be made in a temporary that is the destination anyway. */
static int left_operand(Emit *e, Node *n, int dst) {
    if (has_register(e, n) || !is_temp(e, dst) || qemit_leaf(e, n) >= 0) return qemit_any(e, n);
    qemit_to(e, n, dst);
    return dst;
}

/* -- literals ---------------------------------------------------------------------------------------------------- */

static void number_to(Emit *e, double x, int dst) {
    if (x == floor(x) && fabs(x) < 32768 && !(x == 0 && signbit(x))) qemit_opx(e, BC_LOADN, dst, (uint16_t)(int16_t)x);
    else qemit_opx(e, BC_LOADK, dst, qemit_number(e, x));
}

static void num_to(Emit *e, Node *n, int dst) {
    if (n->u.num.imaginary)
        qemit_opx(e, BC_LOADK, dst, qemit_literal(e, (Literal){.kind = LIT_COMPLEX, .u.num = {0, n->u.num.value}}));
    else number_to(e, n->u.num.value, dst);
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

/* -- operators --------------------------------------------------------------------------------------------------- */

static Opcode binary_code(Op op) {
    switch (op) {
    case OP_ADD: return BC_ADD;
    case OP_SUB: return BC_SUB;
    case OP_MUL: return BC_MUL;
    case OP_PWMUL: return BC_PWMUL;
    case OP_DIV: return BC_DIV;
    case OP_PWDIV: return BC_PWDIV;
    case OP_POW: return BC_POW;
    case OP_PWPOW: return BC_PWPOW;
    case OP_EQ: return BC_EQ;
    case OP_NE: return BC_NE;
    case OP_LT: return BC_LT;
    case OP_LE: return BC_LE;
    case OP_GT: return BC_GT;
    case OP_GE: return BC_GE;
    default: return BC_BINARY;
    }
}

/* The form with a number as its right (or, reversed, left) operand; with a number, .* is * and ./ is /. */
static bool constant_code(Op op, bool reversed, Opcode *out) {
    switch (op) {
    case OP_ADD: *out = BC_ADDK; return true;
    case OP_SUB: *out = reversed ? BC_RSUBK : BC_SUBK; return true;
    case OP_MUL: case OP_PWMUL: *out = BC_MULK; return true;
    case OP_DIV: case OP_PWDIV: *out = reversed ? BC_RDIVK : BC_DIVK; return true;
    default: return false;
    }
}

static bool small_number(Emit *e, Node *n, uint32_t *k) {
    double x;
    if (!qfold_number(n, &x)) return false;
    *k = qemit_number(e, x);
    return *k < 256;
}

static void short_circuit_to(Emit *e, Node *n, int dst) {
    int mark = e->top, end = 0, r = qemit_temps(e, 2);
    qemit_to(e, n->u.bin.a, r);
    qemit_at(e, n->pos);
    qemit_jump(e, n->op == OP_ANDAND ? BC_AND : BC_OR, r, 0, 0, &end);
    bool *before = qemit_state(e);
    qemit_to(e, n->u.bin.b, r + 1);
    qemit_restore(e, before);
    qemit_at(e, n->pos);
    qemit_op(e, BC_BINARY, r, r, r + 1);
    qemit_word(e, n->op);
    qemit_here(e, end);
    qemit_move(e, dst, r);
    e->top = mark;
}

/* "text" + a + b + …: joined in one go.  How many operands there are; 0: it is something else. */
static int concat_operands(const Emit *e, const Node *n) {
    int count = 1;
    while (n->kind == N_BINARY && n->op == OP_ADD) n = n->u.bin.a, count++;
    return n->kind == N_STR && count <= LIST_STEP && !e->host->nrules ? count : 0;
}

static void concat_to(Emit *e, Node *n, int count, int dst) {
    int mark = e->top, first = qemit_temps(e, count);
    Node *operand[LIST_STEP];
    uint32_t pos = n->pos;
    for (int i = count; i-- > 1; n = n->u.bin.a) operand[i] = n->u.bin.b;
    operand[0] = n;
    for (int i = 0; i < count; i++) qemit_to(e, operand[i], first + i);
    qemit_at(e, pos);
    qemit_op(e, BC_CONCAT, dst, first, count);
    e->top = mark;
}

static void binary_to(Emit *e, Node *n, int dst) {
    Node *a = n->u.bin.a, *b = n->u.bin.b;
    double folded;
    if (qfold_number(n, &folded)) {
        number_to(e, folded, dst);
        return;
    }
    if (n->op == OP_ANDAND || n->op == OP_OROR) {
        short_circuit_to(e, n, dst);
        return;
    }
    int mark = e->top, strings = concat_operands(e, n);
    uint32_t k;
    Opcode code;
    if (strings) {
        concat_to(e, n, strings, dst);
    } else if (constant_code(n->op, false, &code) && small_number(e, b, &k)) {
        int ra = left_operand(e, a, dst);
        qemit_at(e, n->pos);
        qemit_op(e, code, dst, ra, (int)k);
    } else if (constant_code(n->op, true, &code) && (code == BC_RSUBK || code == BC_RDIVK) && small_number(e, a, &k)) {
        int rb = left_operand(e, b, dst);
        qemit_at(e, n->pos);
        qemit_op(e, code, dst, rb, (int)k);
    } else {
        int ra = left_operand(e, a, dst), rb = qemit_any(e, b);
        qemit_at(e, n->pos);
        code = binary_code(n->op);
        qemit_op(e, code, dst, ra, rb);
        if (code == BC_BINARY) qemit_word(e, n->op);
    }
    e->top = mark;
}

static void unary_to(Emit *e, Node *n, int dst) {
    double folded;
    if (qfold_number(n, &folded)) {
        number_to(e, folded, dst);
        return;
    }
    int mark = e->top, ra = left_operand(e, n->u.bin.a, dst);
    qemit_at(e, n->pos);
    qemit_op(e, BC_UNARY, dst, ra, n->op);
    e->top = mark;
}

static void ternary_to(Emit *e, Node *n, int dst) {
    int mark = e->top, other = 0, end = 0, r = is_temp(e, dst) ? dst : qemit_temps(e, 1);
    qemit_jump_if(e, n->u.ternary.cond, false, &other);
    bool *before = qemit_state(e);
    qemit_to(e, n->u.ternary.then, r);
    qemit_jump(e, BC_JMP, 0, 0, 0, &end);
    qemit_here(e, other);
    qemit_restore(e, before);
    qemit_to(e, n->u.ternary.other, r);
    qemit_restore(e, before);
    qemit_here(e, end);
    qemit_move(e, dst, r);
    e->top = mark;
}

/* -- reductions -------------------------------------------------------------------------------------------------- */

bool qemit_could_rewrite(Emit *e, Node *n) {
    Rewrite rw;
    return qrewrite_find(e->func->unit, e->host->rules, e->host->nrules, n, e->rewriting, &rw);
}

static void compile_form(Emit *e, Node *n, int dst) {
    if (dst < 0) qemit_statement(e, n);
    else qemit_to(e, n, dst);
}

/* reduction x -> x.T = …: the variable whose field the pattern is. */
static bool owns_field(const Reduction *r, int i) {
    const Node *p = r->pattern, *base = p->kind == N_FIELD ? p->u.field.base : NULL;
    return base && base->kind == N_IDENT && base->u.ident.sym == r->params[i].sym;
}

static void guard_jump(Emit *e, int *otherwise) {
    qemit_word(e, (uint32_t)*otherwise);
    *otherwise = (int)qemit_pc(e) - 1;
}

static void test_guard(Emit *e, const Rewrite *rw, int i, int *otherwise) {
    TypeExpr *t = rw->rule->params[i].type;
    bool typed = t && t->kind != TE_ANY && rw->bound[i]->kind != N_TYPE, field = owns_field(rw->rule, i);
    if (!typed && !field) return;
    int mark = e->top, r = rw->temps[i] ? rw->temps[i]->index : qemit_any(e, rw->bound[i]);
    if (typed) {
        qemit_op(e, BC_JTYPE, r, 0, 0);
        qemit_word(e, qemit_type(e, t));
        guard_jump(e, otherwise);
    }
    if (field) {
        qemit_op(e, BC_JSPACE, r, 0, 0);
        guard_jump(e, otherwise);
    }
    if (e->top > mark) qemit_op(e, BC_CLEAR, mark, e->top - mark, 0);
    e->top = mark;
}

/* Jumps to `otherwise` when a guard of the rule does not hold for what it is applied to. */
static void test_guards(Emit *e, const Rewrite *rw, int *otherwise) {
    for (int i = 0; i < rw->n; i++) test_guard(e, rw, i, otherwise);
    if (rw->where) qemit_jump_if(e, rw->where, false, otherwise);
}

/* What the variables of the rule stand for is evaluated once; then the result of the rule, or the original, is made of
 * these values. */
bool qemit_rewritten(Emit *e, Node *n, int dst) {
    Rewrite rw;
    if (!qrewrite_find(e->func->unit, e->host->rules, e->host->nrules, n, e->rewriting, &rw)) return false;
    e->chunk->nrewritten++;
    const RewriteFrame *outer = e->rewriting;
    int mark = e->top, otherwise = 0, end = 0, result = dst < 0 || !is_temp(e, dst) ? dst : qemit_temps(e, 1);
    int first = e->top;
    for (int i = 0; i < rw.n; i++) {
        if (!rw.temps[i]) continue;
        int r = qemit_temps(e, 1);
        qemit_to(e, rw.bound[i], r);
        rw.temps[i]->index = r;
    }
    int count = e->top - first;
    test_guards(e, &rw, &otherwise);
    bool *before = qemit_state(e);
    e->rewriting = &rw.frame;
    compile_form(e, rw.replacement, result);
    if (otherwise) {
        qemit_jump(e, BC_JMP, 0, 0, 0, &end);
        qemit_here(e, otherwise);
        bool *after = qemit_state(e);
        qemit_restore(e, before);
        compile_form(e, rw.original, result);
        qemit_join(e, after);
        qemit_restore(e, after);
        qemit_here(e, end);
    }
    e->rewriting = outer;
    if (count) qemit_op(e, BC_CLEAR, first, count, 0);
    if (result >= 0) qemit_move(e, dst, result);
    e->top = mark;
    return true;
}

/* -- conditions -------------------------------------------------------------------------------------------------- */

static bool compare_code(Op op, Opcode *code, Opcode *constant, Opcode *swapped) {
    switch (op) {
    case OP_EQ: *code = BC_JEQ, *constant = BC_JEQK, *swapped = BC_JEQK; return true;
    case OP_NE: *code = BC_JNE, *constant = BC_JNEK, *swapped = BC_JNEK; return true;
    case OP_LT: *code = BC_JLT, *constant = BC_JLTK, *swapped = BC_JGTK; return true;
    case OP_LE: *code = BC_JLE, *constant = BC_JLEK, *swapped = BC_JGEK; return true;
    case OP_GT: *code = BC_JGT, *constant = BC_JGTK, *swapped = BC_JLTK; return true;
    case OP_GE: *code = BC_JGE, *constant = BC_JGEK, *swapped = BC_JLEK; return true;
    default: return false;
    }
}

static bool jump_if_compares(Emit *e, Node *n, bool sense, int *list) {
    Opcode code, constant, swapped;
    if (n->kind != N_BINARY || !compare_code(n->op, &code, &constant, &swapped)) return false;
    int mark = e->top;
    uint32_t k;
    if (small_number(e, n->u.bin.b, &k)) {
        int ra = qemit_any(e, n->u.bin.a);
        qemit_at(e, n->pos);
        qemit_jump(e, constant, ra, (int)k, sense, list);
    } else if (small_number(e, n->u.bin.a, &k)) {
        int rb = qemit_any(e, n->u.bin.b);
        qemit_at(e, n->pos);
        qemit_jump(e, swapped, rb, (int)k, sense, list);
    } else {
        int ra = qemit_any(e, n->u.bin.a), rb = qemit_any(e, n->u.bin.b);
        qemit_at(e, n->pos);
        qemit_jump(e, code, ra, rb, sense, list);
    }
    e->top = mark;
    return true;
}

/* Each operand of && and || counts as a condition of its own: an array holds when all its elements do. */
static void jump_if_both(Emit *e, Node *a, Node *b, bool sense_of_one, int *list) {
    qemit_jump_if(e, a, sense_of_one, list);
    bool *before = qemit_state(e);
    qemit_jump_if(e, b, sense_of_one, list);
    qemit_restore(e, before);
}

static void jump_if_either(Emit *e, Node *a, Node *b, bool sense_of_one, int *list) {
    int past = 0;
    qemit_jump_if(e, a, sense_of_one, &past);
    bool *before = qemit_state(e);
    qemit_jump_if(e, b, !sense_of_one, list);
    qemit_restore(e, before);
    qemit_here(e, past);
}

void qemit_jump_if(Emit *e, Node *n, bool sense, int *list) {
    double x;
    if (e->host->nrules && qemit_could_rewrite(e, n)) {
        int mark = e->top, r = qemit_temps(e, 1);
        qemit_to(e, n, r);
        qemit_jump(e, BC_JTEST, r, sense, 0, list);
        e->top = mark;
    } else if (n->kind == N_UNARY && n->op == OP_NOT) {
        qemit_jump_if(e, n->u.bin.a, !sense, list);
    } else if (n->kind == N_BINARY && (n->op == OP_ANDAND || n->op == OP_OROR)) {
        bool stops_at = n->op == OP_OROR; /* the operand truth that decides alone */
        if (sense == stops_at) jump_if_both(e, n->u.bin.a, n->u.bin.b, sense, list);
        else jump_if_either(e, n->u.bin.a, n->u.bin.b, !sense, list);
    } else if (qfold_number(n, &x)) {
        if ((x != 0) == sense) qemit_jump(e, BC_JMP, 0, 0, 0, list);
    } else if (!jump_if_compares(e, n, sense, list)) {
        int mark = e->top, r = qemit_any(e, n);
        qemit_at(e, n->pos);
        qemit_jump(e, BC_JTEST, r, sense, 0, list);
        e->top = mark;
    }
}

/* -- elements and fields ----------------------------------------------------------------------------------------- */

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
    int mark = e->top, base = left_operand(e, n->u.index.base, dst);
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
    int mark = e->top, base = left_operand(e, n->u.field.base, dst);
    qemit_at(e, n->pos);
    qemit_op(e, BC_GETFIELD, dst, base, 0);
    qemit_word(e, qemit_field_word(e, n->u.field.name));
    e->top = mark;
}

/* -- calls ------------------------------------------------------------------------------------------------------- */

static int count_named(Emit *e, ArgList args) {
    int named = 0;
    for (int i = 0; i < args.n; i++) {
        if (args.at[i].name) named++;
        else if (named) qemit_fail(e, args.at[i].pos, "an argument without a name cannot follow a named one");
    }
    return named;
}

static uint32_t name_table(Emit *e, ArgList args, int named) {
    NameTable *t = qemit_alloc(e, sizeof *t);
    t->n = named;
    t->at = qemit_alloc(e, (size_t)named * sizeof *t->at);
    for (int i = 0; i < named; i++) t->at[i] = args.at[args.n - named + i].name;
    return qemit_literal(e, (Literal){.kind = LIT_NAMES, .u.names = t});
}

/* The arguments of a function, or (wide) of a conversion. */
static void arguments(Emit *e, ArgList args, bool wide) {
    for (int i = 0; i < args.n; i++) {
        int r = qemit_temps(e, 1);
        bool before = e->wide;
        e->wide = wide;
        qemit_to(e, args.at[i].value, r);
        e->wide = before;
        if (args.at[i].type) qemit_coerce(e, r, args.at[i].type, args.at[i].name, false);
    }
}

static void method(Emit *e, Node *n, int base, int want) {
    Node *field = n->u.call.callee;
    ArgList args = n->u.call.args;
    int named = count_named(e, args), self = qemit_temps(e, 1);
    qemit_to(e, field->u.field.base, self);
    arguments(e, args, false);
    qemit_at(e, n->pos);
    qemit_op(e, BC_METHOD, base, args.n, want);
    qemit_word(e, qemit_field_word(e, field->u.field.name));
    qemit_word(e, named ? name_table(e, args, named) : NO_NAMES);
}

static bool is_global(const Node *n) {
    return n->kind == N_IDENT && n->u.ident.sym && n->u.ident.sym->kind == SYM_GLOBAL;
}

static void global_call(Emit *e, Node *n, int slot, ArgList args, int base, int want) {
    arguments(e, args, slot == e->host->builtin(e->host->ud, "int"));
    qemit_at(e, n->pos);
    qemit_op(e, BC_CALLG, base, args.n, want);
    qemit_word(e, (uint32_t)slot);
}

int qemit_call(Emit *e, Node *n, int base, int want) {
    Node *callee = n->u.call.callee;
    ArgList args = n->u.call.args;
    int mark = e->top, named = count_named(e, args);
    if (callee->kind == N_FIELD) {
        method(e, n, base, want);
    } else if (is_global(callee) && !named) {
        global_call(e, n, callee->u.ident.sym->index, args, base, want);
    } else {
        qemit_to(e, callee, base);
        arguments(e, args, false);
        qemit_at(e, n->pos);
        qemit_op(e, named ? BC_CALLN : BC_CALL, base, args.n, want);
        if (named) qemit_word(e, name_table(e, args, named));
    }
    e->top = mark;
    return base;
}

/* float64([0.1,0.2]) has the numbers that are written, not those of a list of float32: literals and ranges that
 * elementwise arithmetic carries into a conversion are made of float64 if that holds more of its type's values than
 * float32. */
static bool is_wide(const Type *t) {
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
    e->wide = t && is_wide(qemit_known_type(e, t));
    qemit_to(e, n, dst);
    e->wide = before;
}

/* uint8(x), float64(x): a conversion of one number or array. */
static bool conversion_to(Emit *e, Node *n, int dst) {
    Node *callee = n->u.call.callee;
    ArgList args = n->u.call.args;
    bool by_name = callee->kind == N_IDENT && callee->u.ident.sym && callee->u.ident.sym->kind == SYM_TYPE;
    if ((!by_name && callee->kind != N_TYPE) || args.n != 1 || args.at[0].name || args.at[0].type) return false;
    TypeExpr *t = by_name ? named_type(e, callee) : callee->u.type;
    const Type *type = qemit_known_type(e, t);
    if (!type || type->kind != TY_NUM) return false;
    bool before = e->wide;
    e->wide = is_wide(type);
    int mark = e->top, r = qemit_any(e, args.at[0].value);
    e->wide = before;
    qemit_at(e, n->pos);
    qemit_op(e, BC_CONVERT, dst, r, 0);
    qemit_word(e, qemit_type(e, t));
    e->top = mark;
    return true;
}

static void call_to(Emit *e, Node *n, int dst) {
    if (conversion_to(e, n, dst)) return;
    int mark = e->top, base = dst == e->top - 1 && is_temp(e, dst) ? dst : qemit_temps(e, 1);
    qemit_call(e, n, base, 1);
    qemit_move(e, dst, base);
    e->top = mark;
}

/* -- $name(…) ---------------------------------------------------------------------------------------------------- */

static void builtin_to(Emit *e, Node *n, const char *name, int dst) {
    int mark = e->top, base = qemit_temps(e, 1);
    global_call(e, n, e->host->builtin(e->host->ud, name), n->u.meta.args, base, 1);
    qemit_move(e, dst, base);
    e->top = mark;
}

static bool meta_is(const Node *n, const char *name) { return strcmp(n->u.meta.name->s, name) == 0; }

static bool first_string_is(const Node *n, const char *text) {
    const Node *a = n->u.meta.args.n ? n->u.meta.args.at[0].value : NULL;
    return a && a->kind == N_STR && strcmp(a->u.str->s, text) == 0;
}

static int operands(const Node *n) {
    switch (n->kind) {
    case N_UNARY: return 1;
    case N_BINARY: return 2;
    case N_TERNARY: return 3;
    case N_CALL: return n->u.call.args.n;
    case N_MATRIX: case N_CELL: return n->u.items.n;
    default: return 0;
    }
}

/* The text of the argument, as it is written in the source. */
static void text_to(Emit *e, const Node *n, int dst) {
    const char *s = e->func->unit->src->text + n->pos, *start = strchr(s, '(');
    size_t len = 0;
    int depth = 0;
    bool quoted = false;
    for (const char *p = start; p && *p; p++) {
        if (*p == '"') quoted = !quoted;
        if (!quoted && strchr("([{", *p)) depth++;
        if (!quoted && strchr(")]}", *p) && --depth == 0) {
            len = (size_t)(p - start - 1);
            break;
        }
    }
    qemit_opx(e, BC_LOADK, dst, qemit_string(e, qstr_name(e->ctx, len ? start + 1 : "", len)));
}

/* Host code is asked what it is: a host function, on the cpu. */
static void meta_to(Emit *e, Node *n, int dst) {
    ArgList args = n->u.meta.args;
    if (meta_is(n, "ftype")) {
        qemit_op(e, BC_LOADBOOL, dst, first_string_is(n, e->func->qual == Q_DEVICE ? "__device__" : "__host__"), 0);
    } else if (meta_is(n, "target")) {
        qemit_op(e, BC_LOADBOOL, dst, first_string_is(n, "cpu"), 0);
    } else if (args.n == 0) {
        qemit_fail(e, n->pos, "$%s needs an argument", n->u.meta.name->s);
    } else if (meta_is(n, "type") || meta_is(n, "size")) {
        builtin_to(e, n, n->u.meta.name->s, dst);
    } else if (meta_is(n, "nops")) {
        number_to(e, operands(args.at[0].value), dst);
    } else if (meta_is(n, "str")) {
        text_to(e, n, dst);
    } else if (meta_is(n, "eval") || meta_is(n, "inline") || meta_is(n, "specialize") || meta_is(n, "value") ||
               meta_is(n, "check")) {
        qemit_to(e, args.at[0].value, dst);
    } else {
        qemit_fail(e, n->pos, "$%s is not known", n->u.meta.name->s);
    }
}

/* -- any expression ---------------------------------------------------------------------------------------------- */

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
    case N_META: meta_to(e, n, dst); break;
    case N_UNARY: unary_to(e, n, dst); break;
    case N_BINARY: binary_to(e, n, dst); break;
    case N_TERNARY: ternary_to(e, n, dst); break;
    case N_RANGE: range_to(e, n, dst); break;
    case N_CALL: call_to(e, n, dst); break;
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
