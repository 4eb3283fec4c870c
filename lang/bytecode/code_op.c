/* code_op.c -- compiles operators, and conditions, which jump without computing a truth value. */
#include "lang/bytecode/code.h"
#include "lang/syntax/operators.h"

/* -- operators ----------------------------------------------------------------------------------------------------- */

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

/* Sets *out to the opcode with a number as its right operand, or as its left operand if reversed.  With a number, .*
 * and ./ are the same as * and /. */
static bool constant_code(Op op, bool reversed, Opcode *out) {
    switch (op) {
    case OP_ADD: *out = BC_ADDK; return true;
    case OP_SUB: *out = reversed ? BC_RSUBK : BC_SUBK; return true;
    case OP_MUL:
    case OP_PWMUL: *out = BC_MULK; return true;
    case OP_DIV:
    case OP_PWDIV: *out = reversed ? BC_RDIVK : BC_DIVK; return true;
    default: return false;
    }
}

static bool small_number(Coder *e, Node *n, uint32_t *k) {
    double x;
    if (!qfold_number(n, &x)) return false;
    *k = qcode_number(e, x);
    return *k < 256;
}

static void short_circuit_to(Coder *e, Node *n, int dst) {
    int mark = e->top, end = 0, r = qcode_temps(e, 2);
    qcode_to(e, n->u.bin.a, r);
    qcode_at(e, n->pos);
    qcode_jump(e, n->op == OP_ANDAND ? BC_AND : BC_OR, r, 0, 0, &end);
    bool *before = qcode_state(e);
    qcode_to(e, n->u.bin.b, r + 1);
    qcode_restore(e, before);
    qcode_at(e, n->pos);
    qcode_op(e, BC_BINARY, r, r, r + 1);
    qcode_word(e, n->op);
    qcode_here(e, end);
    qcode_move(e, dst, r);
    e->top = mark;
}

enum { CONCAT_MOST = 32 };

/* Returns the number of operands of "text" + a + b + …, which one instruction concatenates; 0: n has another form. */
static int concat_operands(const Coder *e, const Node *n) {
    int count = 1;
    while (n->kind == N_BINARY && n->op == OP_ADD) n = n->u.bin.a, count++;
    return n->kind == N_STR && count <= CONCAT_MOST && !e->host->nrules ? count : 0;
}

static void concat_to(Coder *e, Node *n, int count, int dst) {
    int mark = e->top, first = qcode_temps(e, count);
    Node *operand[CONCAT_MOST];
    uint32_t pos = n->pos;
    for (int i = count; i-- > 1; n = n->u.bin.a) operand[i] = n->u.bin.b;
    operand[0] = n;
    for (int i = 0; i < count; i++) qcode_to(e, operand[i], first + i);
    qcode_at(e, pos);
    qcode_op(e, BC_CONCAT, dst, first, count);
    e->top = mark;
}

static int code_transposed(Coder *e, const Node *call, int x, int other) {
    int t = qcode_temps(e, 1);
    qcode_at(e, call->pos);
    qcode_op(e, BC_TRANSPOSE, t, x, other);
    qcode_word(e, (uint32_t)call->u.call.callee->u.ident.sym->index);
    return t;
}

/* Compiles a matrix product with a transposed operand, which is read where it is; false: n is something else. */
static bool transposed_product_to(Coder *e, Node *n, int dst) {
    Node *a = n->u.bin.a, *b = n->u.bin.b, *x = qcode_transposed(e, n, a), *y = qcode_transposed(e, n, b);
    if (!x && !y) return false;
    int ra = qcode_any(e, x ? x : a), rb = qcode_any(e, y ? y : b), transposed = x ? code_transposed(e, a, ra, rb) : ra;
    if (y) rb = code_transposed(e, b, rb, transposed);
    qcode_at(e, n->pos);
    qcode_op(e, BC_MUL, dst, transposed, rb);
    return true;
}

void qcode_binary(Coder *e, Node *n, int dst) {
    Node *a = n->u.bin.a, *b = n->u.bin.b;
    double folded;
    if (qfold_number(n, &folded)) {
        qcode_load_number(e, folded, dst);
        return;
    }
    if (n->op == OP_ANDAND || n->op == OP_OROR) {
        short_circuit_to(e, n, dst);
        return;
    }
    int mark = e->top, strings = concat_operands(e, n);
    uint32_t k;
    Opcode code;
    if (transposed_product_to(e, n, dst)) {
        e->top = mark;
        return;
    }
    if (strings) {
        concat_to(e, n, strings, dst);
    } else if (constant_code(n->op, false, &code) && small_number(e, b, &k)) {
        int ra = qcode_left(e, a, dst);
        qcode_at(e, n->pos);
        qcode_op(e, code, dst, ra, (int)k);
    } else if (constant_code(n->op, true, &code) && (code == BC_RSUBK || code == BC_RDIVK) && small_number(e, a, &k)) {
        int rb = qcode_left(e, b, dst);
        qcode_at(e, n->pos);
        qcode_op(e, code, dst, rb, (int)k);
    } else {
        int ra = qcode_left(e, a, dst), rb = qcode_any(e, b);
        qcode_at(e, n->pos);
        code = binary_code(n->op);
        qcode_op(e, code, dst, ra, rb);
        if (code == BC_BINARY) qcode_word(e, n->op);
    }
    e->top = mark;
}

void qcode_unary(Coder *e, Node *n, int dst) {
    double folded;
    if (qfold_number(n, &folded)) {
        qcode_load_number(e, folded, dst);
        return;
    }
    int mark = e->top, ra = qcode_left(e, n->u.bin.a, dst);
    qcode_at(e, n->pos);
    qcode_op(e, BC_UNARY, dst, ra, n->op);
    e->top = mark;
}

/* Compiles c ? a : b.  Both sides are evaluated if the condition has several elements.  The parts may contain regions
 * of their own, because a surrounding region runs as one kernel only in that case. */
void qcode_ternary(Coder *e, Node *n, int dst) {
    int mark = e->top, other = 0, end = 0, r = qcode_temps(e, 3);
    const FuseRegion *around = e->fuse;
    bool wide = e->wide;
    e->fuse = NULL, e->wide = false;
    qcode_to(e, n->u.ternary.cond, r);
    e->wide = wide;
    qcode_at(e, n->u.ternary.cond->pos);
    qcode_jump(e, BC_CHOICE, r, 0, 0, &other);
    bool *before = qcode_state(e);
    qcode_to(e, n->u.ternary.then, r + 1);
    qcode_jump(e, BC_CHOSEN, dst, r, 0, &end);
    qcode_here(e, other);
    qcode_restore(e, before);
    qcode_to(e, n->u.ternary.other, r + 2);
    qcode_restore(e, before);
    qcode_at(e, n->pos);
    qcode_op(e, BC_CHOOSE, dst, r, 0);
    qcode_here(e, end);
    e->fuse = around;
    e->top = mark;
}

/* -- conditions ---------------------------------------------------------------------------------------------------- */

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

static bool jump_if_compares(Coder *e, Node *n, bool sense, int *list) {
    Opcode code, constant, swapped;
    if (n->kind != N_BINARY || !compare_code(n->op, &code, &constant, &swapped)) return false;
    int mark = e->top;
    uint32_t k;
    if (small_number(e, n->u.bin.b, &k)) {
        int ra = qcode_any(e, n->u.bin.a);
        qcode_at(e, n->pos);
        qcode_jump(e, constant, ra, (int)k, sense, list);
    } else if (small_number(e, n->u.bin.a, &k)) {
        int rb = qcode_any(e, n->u.bin.b);
        qcode_at(e, n->pos);
        qcode_jump(e, swapped, rb, (int)k, sense, list);
    } else {
        int ra = qcode_any(e, n->u.bin.a), rb = qcode_any(e, n->u.bin.b);
        qcode_at(e, n->pos);
        qcode_jump(e, code, ra, rb, sense, list);
    }
    e->top = mark;
    return true;
}

/* Each operand of && and || is a condition of its own: an array is true if all its elements are. */
static void jump_if_both(Coder *e, Node *a, Node *b, bool sense_of_one, int *list) {
    qcode_jump_if(e, a, sense_of_one, list);
    bool *before = qcode_state(e);
    qcode_jump_if(e, b, sense_of_one, list);
    qcode_restore(e, before);
}

static void jump_if_either(Coder *e, Node *a, Node *b, bool sense_of_one, int *list) {
    int past = 0;
    qcode_jump_if(e, a, sense_of_one, &past);
    bool *before = qcode_state(e);
    qcode_jump_if(e, b, !sense_of_one, list);
    qcode_restore(e, before);
    qcode_here(e, past);
}

void qcode_jump_if(Coder *e, Node *n, bool sense, int *list) {
    double x;
    if (e->host->nrules && qcode_could_rewrite(e, n)) {
        int mark = e->top, r = qcode_temps(e, 1);
        qcode_to(e, n, r);
        qcode_jump(e, BC_JTEST, r, sense, 0, list);
        e->top = mark;
    } else if (n->kind == N_UNARY && n->op == OP_NOT) {
        qcode_jump_if(e, n->u.bin.a, !sense, list);
    } else if (n->kind == N_BINARY && (n->op == OP_ANDAND || n->op == OP_OROR)) {
        bool stops_at = n->op == OP_OROR; /* the truth of one operand that decides the result */
        if (sense == stops_at) jump_if_both(e, n->u.bin.a, n->u.bin.b, sense, list);
        else jump_if_either(e, n->u.bin.a, n->u.bin.b, !sense, list);
    } else if (qfold_number(n, &x)) {
        if ((x != 0) == sense) qcode_jump(e, BC_JMP, 0, 0, 0, list);
    } else if (!jump_if_compares(e, n, sense, list)) {
        int mark = e->top, r = qcode_any(e, n);
        qcode_at(e, n->pos);
        qcode_jump(e, BC_JTEST, r, sense, 0, list);
        e->top = mark;
    }
}
