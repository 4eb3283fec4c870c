/* lower_builtin.c -- finds and calls the built-ins of kbuiltins.def, and lowers assert, error and launches. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/kernel/lower_builtin_table.h"
#include "vm/base/reduction.h"

#include <stdio.h>
#include <string.h>

qs_status klbuiltin_refuse(Lower *L, const BuiltinCall *c, const char *why) {
    return klower_error(L, QS_ETYPE, L->pos, "%s %s", c->name, why);
}

Num klbuiltin_binary(Lower *L, Op op, Num a, Num b) {
    Num r = a;
    if (klnum_binary(L, op, a, b, &r) != QS_OK) qerr_clear(L->c);
    return r;
}

/* -- checks and launches ------------------------------------------------------------------------------------------- */
/* Adds a message to the KFunc: a user's text and what follows it. %0 and %1 in messages stand for values and %p for the
 * position, so the % of the user's text is doubled. */
static int user_message(Lower *L, qs_status failure, const char *text, const char *after) {
    char safe[QERR_TEXT / 4];
    size_t k = 0, room = sizeof safe - strlen(after);
    for (; *text && k + 2 < room; text++) {
        if (*text == '%') safe[k++] = '%';
        safe[k++] = *text;
    }
    strcpy(safe + k, after);
    return kir_message(L->f, qsource_check_status(klower_where(L, L->pos).src, failure), safe);
}

/* Returns the comparison by which an assertion is decided, as it is written, with its operands; NULL: it is none. */
static const char *find_comparison(const Lower *L, const BuiltinCall *c, KRef holds, KRef operands[2]) {
    const Node *n = c->site && c->site->kind == N_CALL ? c->site->u.call.args.at[0].value : NULL;
    const KIns *i = &L->f->ins[holds];
    Op op = n && n->kind == N_BINARY ? (Op)n->op : OP__COUNT;
    bool swaps = op == OP_GT || op == OP_GE;
    bool same = (i->op == K_LT && (op == OP_LT || op == OP_GT)) || (i->op == K_LE && (op == OP_LE || op == OP_GE)) ||
                (i->op == K_EQ && op == OP_EQ) || (i->op == K_NE && op == OP_NE);
    if (!same) return NULL;
    operands[0] = swaps ? i->b : i->a, operands[1] = swaps ? i->a : i->b;
    return qop_text(op);
}

static qs_status message_text(Lower *L, const BuiltinCall *c, int i, const char *otherwise, const char **out) {
    *out = otherwise;
    if (i >= c->nargs) return QS_OK;
    if (c->args[i].kind != V_STRING)
        return klower_error(L, QS_ETYPE, L->pos, "%s: the message must be a string", c->name);
    return *out = c->args[i].u.str->s, QS_OK;
}

qs_status klbuiltin_assert(Lower *L, const BuiltinCall *c, Val *out) {
    KRef holds;
    int known;
    const char *text;
    *out = (Val){.kind = V_VOID};
    TRY(klval_truth(L, &c->args[0], &holds, &known));
    TRY(message_text(L, c, 1, "the assertion does not hold", &text));
    if (known == 1 || !holds) return QS_OK;
    if (c->nargs > 2)
        return klower_error(
            L, QS_EVALUE, L->pos,
            "assert: in a kernel the message is one string; the values of a comparison are added to it");
    KRef x[2] = {0, 0};
    const char *op = find_comparison(L, c, holds, x);
    char after[64] = " (at position %p)";
    if (op) snprintf(after, sizeof after, " (at position %%p: %%0 %s %%1 does not hold)", op);
    int message = user_message(L, QS_EASSERT, text, after);
    klnum_emit(L, (KMake){K_CHECK, .a = holds, .b = x[0], .c = x[1], .imm = (uint64_t)message});
    return QS_OK;
}

qs_status klbuiltin_error(Lower *L, const BuiltinCall *c, Val *out) {
    const char *text;
    *out = (Val){.kind = V_VOID};
    if (c->nargs > 1)
        return klower_error(L, QS_EVALUE, L->pos,
                            "error: in a kernel the message is one string, without values for a format");
    TRY(message_text(L, c, 0, "", &text));
    klnum_emit(L, (KMake){K_CHECK, .a = klnum_int(L, QS_B1, 0), .imm = (uint64_t)user_message(L, QS_EUSER, text, "")});
    return QS_OK;
}

qs_status klbuiltin_launch(Lower *L, const BuiltinCall *c, Val *out) {
    *out = (Val){.kind = V_VOID};
    return klcall_launch(L, c->site, c->args, c->nargs);
}

qs_status klbuiltin_forbidden(Lower *L, const BuiltinCall *c, Val *out) {
    (void)out;
    return klbuiltin_refuse(L, c, "cannot be used in a kernel");
}

/* A call with an element as its first argument is lowered by klidx_fetch; this one is a method, or passed on. */
qs_status klbuiltin_atomic(Lower *L, const BuiltinCall *c, Val *out) {
    (void)out;
    return klbuiltin_refuse(L, c, "is called by its name, with the element that it updates: as in atomic_add(x[i], 1)");
}

/* -- the table ----------------------------------------------------------------------------------------------------- */
static const struct {
    const char *name;
    int8_t min, max;
    BuiltinHandler *handler;
    int imm;
} table[] = {
#define KBUILTIN(name, min, max, handler, imm) {#name, min, max, handler, imm},
#include "lang/kernel/lower/kernel/kbuiltins.def"
};

bool klbuiltin_find(const char *name, int *which) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name)) return *which = (int)i, true;
    return false;
}

bool klbuiltin_updates(const char *name, KAtomic *k) {
    int which;
    bool found = klbuiltin_find(name, &which) && table[which].handler == klbuiltin_atomic;
    if (found) *k = (KAtomic)table[which].imm;
    return found;
}

const char *klbuiltin_atomic_name(KAtomic k) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].handler == klbuiltin_atomic && table[i].imm == (int)k) return table[i].name;
    return NULL;
}

const Node *klbuiltin_updated(const Node *n) {
    KAtomic k;
    const Node *callee = n->kind == N_CALL ? n->u.call.callee : NULL;
    bool named = callee && callee->kind == N_IDENT && n->u.call.args.n;
    return named && klbuiltin_updates(callee->u.ident.name->s, &k) ? n->u.call.args.at[0].value : NULL;
}

bool klbuiltin_takes(int which, int nargs, int wanted) {
    bool several = wanted > 1 && table[which].handler == klmath_minmax;
    return nargs >= table[which].min && (table[which].max < 0 || nargs <= table[which].max) && !several;
}

static qs_status wrong_count(Lower *L, int which, int nargs) {
    int min = table[which].min, max = table[which].max;
    const char *plural = max == 1 || (max < 0 && min == 1) ? "" : "s";
    if (max < 0)
        return klower_error(L, QS_ETYPE, L->pos, "%s takes at least %d argument%s in a kernel, got %d",
                            table[which].name, min, plural, nargs);
    if (min < max)
        return klower_error(L, QS_ETYPE, L->pos, "%s takes %d to %d argument%s in a kernel, got %d", table[which].name,
                            min, max, plural, nargs);
    return klower_error(L, QS_ETYPE, L->pos, "%s takes %d argument%s in a kernel, got %d", table[which].name, min,
                        plural, nargs);
}

qs_status klbuiltin_call(Lower *L, int which, Node *site, const Val *args, int nargs, Val *out) {
    BuiltinCall c = {table[which].name, site, args, nargs, table[which].imm};
    if (nargs < table[which].min || (table[which].max >= 0 && nargs > table[which].max))
        return wrong_count(L, which, nargs);
    bool unknown = false;
    for (int i = 0; i < nargs; i++) unknown |= args[i].kind == V_UNKNOWN;
    if (unknown) return *out = (Val){0}, QS_OK;
    return table[which].handler(L, &c, out);
}
