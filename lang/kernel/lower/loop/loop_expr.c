/* loop_expr.c -- lowers expressions of a loop: choices, operators, lists, literals. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/loop/loop_internal.h"

#include <string.h>

static qs_status a_number(Loops *L, const Value *v, Number *out) {
    if (v->what != WHAT_NUMBER) return kloop_decline_value(L, v);
    return *out = v->num, QS_OK;
}

qs_status kloop_real_number(Loops *L, const Value *v, Number *out) {
    TRY(a_number(L, v, out));
    return out->kind == LOOP_COMPLEX ? kloop_decline(L, L->pos, "a complex number here") : QS_OK;
}

qs_status kloop_number(Loops *L, Node *n, Number *out) {
    Value v;
    TRY(kloop_expr(L, n, &v));
    L->pos = n->pos;
    return kloop_real_number(L, &v, out);
}

/* -- choices ------------------------------------------------------------------------------------------------------- */
static bool is_effect(const Node *n, void *ud) { return (void)ud, n->kind == N_INDEX || n->kind == N_CALL; }

/* Whether n reads no memory and calls nothing.  Int arithmetic may still fail, which shows only in its code. */
static bool is_plain(const Node *n) {
    Node *root = (Node *)(uintptr_t)n;
    return !kquery_node((NodeList){&root, 1}, true, is_effect, NULL);
}

typedef struct {
    uint32_t nins, nfaults, loose, loose_pos, assumed, rare, slips;
    bool *set;
} Mark;

static void *mark_code(Walk *w) {
    const Loops *L = (const Loops *)w;
    Mark *m = qarena_alloc(w->arena, sizeof *m);
    *m = (Mark){w->f->nins, L->nfaults, L->loose, L->loose_pos, L->assumed, L->rare, L->slips, kstmt_save(w)};
    return m;
}

/* Removes the code since the mark if it may fail, or warn; it is emitted again under a condition. */
static bool take_code_back(Walk *w, void *ud) {
    Loops *L = (Loops *)w;
    const Mark *m = ud;
    if (L->loose == m->loose && L->slips == m->slips) return false;
    kbuild_take_back(w, m->nins);
    kloop_forget_from(L, m->nins);
    L->nfaults = m->nfaults, L->loose = m->loose, L->loose_pos = m->loose_pos, L->assumed = m->assumed;
    L->rare = m->rare;
    kstmt_restore(w, m->set);
    return true;
}

static Value make_character(Loops *L, Number code) {
    return (Value){.what = WHAT_CHAR, .num = kloop_int(kloop_to_int(L, code).v, 0, 127)};
}

static qs_status select_rule(Walk *w, KRef c, Value *a, Value *b, Value *out) {
    Loops *L = (Loops *)w;
    Number x, y;
    if (a->what == WHAT_CHAR && b->what == WHAT_CHAR)
        return *out = make_character(L, kloop_choose(L, c, a->num, b->num)), QS_OK;
    TRY(a_number(L, a, &x));
    TRY(a_number(L, b, &y));
    if ((x.kind == LOOP_COMPLEX) != (y.kind == LOOP_COMPLEX) || x.maybe || y.maybe)
        return kloop_decline(L, L->pos, "a complex number or a real one");
    return *out = (Value){.what = WHAT_NUMBER, .num = kloop_choose(L, c, x, y)}, QS_OK;
}

/* A choice whose sides may fail, so only one is computed.  Either both sides are characters or none is. */
typedef struct {
    Join join;
    bool chars;
} Choice;

static void *choice(Walk *w, const Node *n, KRef cond) {
    Choice *s = qarena_alloc(w->arena, sizeof *s);
    (void)n, (void)cond;
    return *s = (Choice){.join = kloop_begin_join((Loops *)w)}, s;
}

static qs_status choice_set(Walk *w, void *ud, Value *v) {
    Choice *s = ud;
    Number x = v->num;
    bool is_char = v->what == WHAT_CHAR, first = !s->join.any;
    if (!is_char || !(first || s->chars)) TRY(a_number((Loops *)w, v, &x));
    if (s->chars && !is_char) return kloop_decline((Loops *)w, w->pos, "a character or a number");
    if (first) s->chars = is_char;
    return kloop_join_add((Loops *)w, &s->join, x);
}

static void choice_get(Walk *w, void *ud, Value *out) {
    Loops *L = (Loops *)w;
    const Choice *s = ud;
    Number n = kloop_join_end(L, &s->join);
    *out = s->chars ? make_character(L, n) : (Value){.what = WHAT_NUMBER, .num = n};
}

static void boolean_value(Walk *w, KRef c, Value *out) {
    (void)w;
    *out = (Value){.what = WHAT_NUMBER, .num = kloop_bool(c)};
}

static qs_status truth_of(Walk *w, const Value *v, KRef *out, int *known) {
    Loops *L = (Loops *)w;
    Number x;
    double k;
    TRY(kloop_real_number(L, v, &x));
    *out = kloop_truth(L, x);
    return *known = kir_is_const(w->f, *out, &k) ? k != 0 : -1, QS_OK;
}

static bool is_elementwise(const Value *v) { return (void)v, false; }
static bool has_many(const Value *v) { return (v->what == WHAT_TRUTHS || v->what == WHAT_VECTOR) && v->n != 1; }

static qs_status choose_elements(Walk *w, Value *c, Value *a, Value *b, Value *out) {
    return kloop_vector_choose((Loops *)w, c, a, b, out);
}

/* -- strings ------------------------------------------------------------------------------------------------------- */
static bool is_text(const Value *v) { return v->what == WHAT_CHAR || v->what == WHAT_STRING; }

/* Compares characters.  A captured string of another length is no character. */
static qs_status compare_text(Loops *L, Op op, const Value *a, const Value *b, Value *out) {
    bool equality = op == OP_EQ || op == OP_NE, chars = a->what == WHAT_CHAR && b->what == WHAT_CHAR;
    if (!is_text(a) || !is_text(b)) return kloop_decline_value(L, is_text(a) ? a : b);
    if (chars ? op < OP_EQ || op > OP_GE : !equality)
        return kloop_decline(L, L->pos,
                             "an operator of strings other than comparisons; toascii gives their characters");
    bool same = a->what == WHAT_STRING && b->what == WHAT_STRING && kloop_same_text(L, a, b);
    *out = (Value){.what = WHAT_NUMBER, .num = kloop_bool(kbuild_int(&L->walk, QS_B1, same == (op == OP_EQ)))};
    return chars ? kloop_binary(L, op, a->num, b->num, &out->num) : QS_OK;
}

static qs_status lower_text(Loops *L, const Node *n, Value *out) {
    const Str *s = n->u.str;
    if (s->len != 1 || (unsigned char)s->s[0] > 127) return *out = (Value){.what = WHAT_STRING, .text = s}, QS_OK;
    *out = (Value){.what = WHAT_CHAR, .num = kloop_int(kloop_i64(L, s->s[0]), s->s[0], s->s[0])};
    return QS_OK;
}

/* -- expressions --------------------------------------------------------------------------------------------------- */
qs_status kloop_operator(Loops *L, Op op, const Value *x, const Value *y, Value *out) {
    Value r = {.what = WHAT_NUMBER}, a = *x, b = *y;
    if (is_text(&a) || is_text(&b)) return compare_text(L, op, &a, &b, out);
    if (a.what == WHAT_ROW || b.what == WHAT_ROW) return kloop_row_binary(L, op, &a, &b, out);
    kloop_short(L, &a);
    kloop_short(L, &b);
    if (kloop_is_row(L, &a) || kloop_is_row(L, &b)) return kloop_row_binary(L, op, &a, &b, out);
    if (kloop_is_vectorial(&a, &b)) return kloop_vector_binary(L, op, &a, &b, out);
    if (a.what != WHAT_NUMBER || b.what != WHAT_NUMBER) return kloop_decline_value(L, a.what != WHAT_NUMBER ? &a : &b);
    bool complex = a.num.kind == LOOP_COMPLEX || b.num.kind == LOOP_COMPLEX;
    TRY((complex ? kloop_complex_binary : kloop_binary)(L, op, a.num, b.num, &r.num));
    return *out = r, QS_OK;
}

static qs_status lower_binary(Walk *w, Op op, Value *a, Value *b, Value *out) {
    return kloop_operator((Loops *)w, op, a, b, out);
}

static qs_status lower_unary(Walk *w, Op op, Value *a, Value *out) {
    Loops *L = (Loops *)w;
    Number x;
    kloop_short(L, a);
    if (a->what == WHAT_VECTOR) return kloop_vector_unary(L, op, a, out);
    if (a->what == WHAT_ROW) return kloop_row_unary(L, op, a, out);
    TRY(a_number(L, a, &x));
    out->what = WHAT_NUMBER;
    return (x.kind == LOOP_COMPLEX ? kloop_complex_unary : kloop_unary)(L, op, x, &out->num);
}

/* An item of a list.  On the host, a list is float64 if it contains an integral number that `scalar` rounds, and int64
 * if it contains an int that doubles may not represent.  *asks: whether the type depends on this item's value at run
 * time; never true for an element of an array and for a small number. */
static qs_status list_item(Loops *L, const Value *v, Number *out, bool *asks) {
    TRY(kloop_real_number(L, v, out));
    const KIns *made = &L->f->ins[out->v];
    bool element = made->op == K_CAST && L->f->ins[made->a].dtype == QS_F32;
    bool wide = kloop_may_be_int(*out) && !kloop_is_exact(out->lo, out->hi);
    if (wide && (made->op != K_CAST || L->f->ins[made->a].dtype != QS_F64))
        return kloop_decline(L, L->pos, "a list of ints of 64 bits");
    *out = kloop_to_num(L, *out);
    *asks = L->c->scalar_dtype == QS_F32 && !element && kloop_rounded(L, *out).v != out->v;
    return QS_OK;
}

static KRef magnitude(Loops *L, Number x) { return kbuild_pure(&L->walk, (KMake){K_ABS, .a = x.v}); }

static KRef is_lost(Loops *L, Number x) {
    KRef integral = kelem_real(kbuild_rows(&L->walk), EL_trunc, QS_F64, (KRef[]){x.v, 0}).re;
    KRef large = kloop_op(L, K_LT, magnitude(L, x), kloop_f64(L, 0x1p64));
    KRef lost = kloop_op(L, K_AND, kloop_op(L, K_NE, kloop_rounded(L, x).v, x.v), large);
    return kloop_op(L, K_AND, kloop_op(L, K_EQ, integral, x.v), lost);
}

/* Rounds the items of a list to its element type.  Integral numbers below 2^24 are never rounded, which is nearly
 * always the case; everything else is in a branch. */
static void hold_items(Loops *L, const bool *asks, Value *list) {
    KRef far = 0, again[LOOP_VECTOR_MAX], f64, lost = 0;
    Number given[LOOP_VECTOR_MAX];
    memcpy(given, list->at, (size_t)list->n * sizeof *given);
    for (int i = 0; i < list->n; i++) {
        if (asks[i]) far = kloop_or(L, far, kloop_op(L, K_LT, kloop_f64(L, 0x1p24), magnitude(L, given[i])));
        /* an integral one stays: see is_lost */
        if (!kloop_twin(L, given[i])) list->at[i] = kloop_rounded(L, given[i]);
    }
    if (!far) return;
    kloop_fork(L, list, again);
    f64 = kbuild_local(&L->walk, kbuild_int(&L->walk, QS_B1, 0));
    kloop_flow(L, K_IF, far);
    for (int i = 0; i < list->n; i++)
        if (asks[i]) lost = kloop_or(L, lost, is_lost(L, given[i]));
    kbuild_set(&L->walk, f64, lost);
    for (int i = 0; i < list->n; i++) kbuild_set(&L->walk, again[i], kloop_held(L, lost, given[i]).v);
    kloop_flow(L, K_END, 0);
    list->f64 = kbuild_get(&L->walk, f64);
    kloop_merge(L, list, again);
}

qs_status kloop_list(Loops *L, const Value *items, int n, Value *out) {
    bool asks[LOOP_VECTOR_MAX];
    *out = kloop_matrix(L, 1, n);
    for (int i = 0; i < n; i++) TRY(list_item(L, &items[i], &out->at[i], &asks[i]));
    if (L->walk.wide_lists) return out->f64 = kloop_width(L, QS_F64), QS_OK;
    return hold_items(L, asks, out), QS_OK;
}

/* [a,b,c], or a matrix of vectors as its rows */
static qs_status lower_matrix(Walk *w, Value *items, int n, Value *out) {
    Loops *L = (Loops *)w;
    bool nested = n && items[0].what == WHAT_VECTOR;
    int cols = nested ? items[0].n : n, rows = nested ? n : 1;
    if (!cols || cols > LOOP_VECTOR_MAX || rows > LOOP_VECTOR_MAX || rows * cols > LOOP_VECTOR_MAX)
        return kloop_decline(L, L->pos,
                             "an array of %s elements made in the loop; make it before the loop, and set its elements",
                             cols ? "many" : "no");
    if (!nested) return kloop_list(L, items, n, out);
    *out = kloop_matrix(L, rows, cols);
    for (int i = 0; i < n; i++) {
        bool fits = items[i].what == WHAT_VECTOR && items[i].n == cols && !items[i].cols;
        if (!fits) return kloop_decline(L, L->pos, "a matrix that is not made of rows of numbers");
        memcpy(out->at + i * cols, items[i].at, (size_t)cols * sizeof *out->at);
        out->f64 = kloop_or(L, out->f64, items[i].f64);
    }
    return QS_OK;
}

static qs_status lower_field(Walk *w, const Value *object, const Node *n, Value *out) {
    Loops *L = (Loops *)w;
    if (object->what != WHAT_OBJECT) return kloop_decline(L, n->pos, "a field of something that is no object");
    return kloop_field(L, object, n->u.field.name, out);
}

static qs_status lower_literal(Walk *w, const Node *n, Value *out) {
    Loops *L = (Loops *)w;
    if (n->u.num.is_uint64) return kloop_decline(L, n->pos, "an integer that only uint64 holds");
    int64_t integral = n->u.num.int_value;
    Number x = integral ? kloop_int(kloop_i64(L, integral), (double)integral, (double)integral)
                        : kloop_const(L, n->u.num.value);
    if (n->u.num.imaginary) x = kloop_complex(kloop_f64(L, 0), x.v);
    *out = (Value){.what = WHAT_NUMBER, .num = x};
    return QS_OK;
}

static qs_status lower_other(Walk *w, Node *n, Value *out) {
    Loops *L = (Loops *)w;
    switch ((NodeKind)n->kind) {
    case N_STR: return lower_text(L, n, out);
    case N_CELL: return kloop_list_literal(L, n, out);
    case N_RANGE: return kloop_range(L, n, out);
    case N_COLON: return kloop_decline(L, n->pos, "a slice as a value");
    default: return kloop_decline(L, n->pos, "an expression of this kind");
    }
}

const ExprRules kloop_expr_rules = {
    .literal = lower_literal,
    .unary = lower_unary,
    .binary = lower_binary,
    .boolean = boolean_value,
    .truth = truth_of,
    .elementwise = is_elementwise,
    .many = has_many,
    .choose = choose_elements,
    .is_number = kloop_is_number_name,
    .cheap = is_plain,
    .mark = mark_code,
    .take_back = take_code_back,
    .select = select_rule,
    .choice = choice,
    .choice_set = choice_set,
    .choice_get = choice_get,
    .matrix = lower_matrix,
    .field = lower_field,
    .index = kloop_load,
    .other = lower_other,
};
